package adapter

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// OutputLimits maps model names, or the beginnings of names that end at "-",
// ".", ":" or "@", to the most tokens that a response of these models has. Names
// are in lower case. 0 means that no limit is known.
type OutputLimits map[string]int64

// NewOutputLimits returns a copy of a host's table with its names in lower case,
// and what is wrong with it.
func NewOutputLimits(table map[string]int64) (OutputLimits, []string) {
	limits := make(OutputLimits, len(table))
	var faults []string
	for _, name := range slices.Sorted(maps.Keys(table)) {
		if table[name] < 0 {
			faults = append(faults, fmt.Sprintf("limit OutputLimits[%q]: it is negative", name))
		}
		limits[strings.ToLower(name)] = table[name]
	}
	return limits, faults
}

// Of returns the limit of a model: that of the longest name that fits, with or
// without what is in front of the model's last slash. It reports false if there
// is none.
func (l OutputLimits) Of(model string) (tokens int64, ok bool) {
	model = strings.ToLower(model)
	last := model[strings.LastIndexByte(model, '/')+1:]
	longest := -1
	for name, n := range l {
		if len(name) > longest && (begins(model, name) || begins(last, name)) {
			longest, tokens = len(name), n
		}
	}
	return tokens, longest >= 0
}

func begins(model, name string) bool {
	rest, ok := strings.CutPrefix(model, name)
	return ok && (rest == "" || strings.IndexByte("-.:@", rest[0]) >= 0)
}

// Lower returns n, or the limit if n is above it. lowered reports the latter.
func Lower(n *int64, limit int64) (low *int64, lowered bool) {
	if n == nil || limit == 0 || *n <= limit {
		return n, false
	}
	return &limit, true
}
