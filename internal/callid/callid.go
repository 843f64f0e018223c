// Package callid makes ids of tool calls.
package callid

import (
	"iter"
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
)

// All yields the ids of the tool calls and results in turns, except empty ones.
func All(turns []content.Turn) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range turns {
			for _, p := range turns[i].Parts {
				id := ""
				switch p := p.(type) {
				case *content.ToolUse:
					if p != nil {
						id = p.ID
					}
				case *content.ToolResult:
					if p != nil {
						id = p.ID
					}
				}
				if id != "" && !yield(id) {
					return
				}
			}
		}
	}
}

// A Maker makes ids: a prefix and a number that is greater than those of all ids that it has
// seen. So ids are unique, and the same conversation always gets the same ids.
type Maker struct {
	Prefix string
	next   int
}

// maxNumber is greater than the number of any id that a Maker makes.
const maxNumber = 1 << 30

// See makes later ids differ from id.
func (m *Maker) See(id string) {
	if digits, ok := strings.CutPrefix(id, m.Prefix); ok {
		if n, err := strconv.Atoi(digits); err == nil && n >= m.next && n < maxNumber {
			m.next = n + 1
		}
	}
}

// Make returns an id. It returns the same one until it is seen.
func (m *Maker) Make() string { return m.Prefix + strconv.Itoa(m.next) }
