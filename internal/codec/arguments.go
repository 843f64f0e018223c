package codec

import (
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
)

// TrimBlank returns text without the white space of JSON around it.
func TrimBlank(text string) string { return strings.Trim(text, " \t\r\n") }

// Arguments returns the arguments of a call as an answer may tell them: the
// object that they are, or empty where there are none, which vendors also tell
// by white space or null. It reports whether they are one of the two. All others
// are broken: nobody should run a call with them.
func Arguments(input string) (object string, ok bool) {
	switch TrimBlank(input) {
	case "", "null":
		return "", true
	}
	return input, jsonwire.ValidObject(input)
}

// NotStarted reports whether p, the last part of an answer, is a call that was cut
// before its arguments began. It looks like one without arguments, but for why
// the answer ended: a model that is done with a call waits for its result. Vendors
// that always tell whole calls tell arguments, if only an empty object.
func NotStarted(p content.Part, ended content.StopReason) bool {
	t, ok := p.(*content.ToolUse)
	if !ok || t == nil || TrimBlank(t.Input) != "" {
		return false
	}
	switch ended {
	case "", content.StopEnd, content.StopToolUse, content.StopPause:
		return false
	}
	return true
}

// A Pieces is a text that comes in many small pieces. It allocates seldom.
type Pieces struct{ strings.Builder }

// Add appends a piece.
func (p *Pieces) Add(piece string) {
	if p.Cap()-p.Len() < len(piece) {
		p.Grow(max(len(piece), 1<<10)) // which doubles it besides
	}
	p.WriteString(piece)
}
