package codec

import (
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
)

// TrimBlank returns text without the white space of JSON around it.
func TrimBlank(text string) string { return strings.Trim(text, " \t\r\n") }

// Arguments returns the arguments of a tool call for a response: a JSON object, or
// "" if there are no arguments, which vendors also represent by white space or null.
// ok is false if input is anything else; clients should not run such a call.
func Arguments(input string) (object string, ok bool) {
	switch TrimBlank(input) {
	case "", "null":
		return "", true
	}
	return input, jsonwire.ValidObject(input)
}

// FreeformInput is the argument that has the input of a free-form tool, where a function
// replaces the tool.
const FreeformInput = "input"

// FreeformArguments returns the arguments of a function for the input of a free-form tool.
func FreeformArguments(text string) string {
	b := make([]byte, 0, len(text)+len(text)/8+16)
	return string(append(jsonwire.AppendString(append(b, `{"`+FreeformInput+`":`...), text), '}'))
}

// NotStarted reports whether p, the last part of a response, is a tool call that was
// cut before its arguments began. Only the stop reason distinguishes it from a call
// without arguments: a model that completes a call stops to wait for its result.
// Vendors that send whole calls always send arguments, at least an empty object.
func NotStarted(p content.Part, ended content.StopReason) bool {
	return HasNoInput(p) && CutsCalls(ended)
}

// HasNoInput reports whether p is a tool call without arguments: see [NotStarted].
func HasNoInput(p content.Part) bool {
	t, ok := p.(*content.ToolUse)
	return ok && t != nil && TrimBlank(t.Input) == "" && t.Text == ""
}

// CutsCalls reports whether a response that ended for a reason may have been cut in its
// last tool call.
func CutsCalls(ended content.StopReason) bool {
	switch ended {
	case "", content.StopEnd, content.StopToolUse, content.StopPause:
		return false
	}
	return true
}

// A Builder collects many small strings. What it has does not move when it grows, and it has room for
// about an eighth more, because many streams may keep their output for long.
type Builder struct {
	chunks []string // earlier ones
	last   strings.Builder
	n      int
}

// Add appends s.
func (p *Builder) Add(s string) {
	if p.last.Cap()-p.last.Len() < len(s) {
		if p.last.Len() > 0 {
			p.chunks = append(p.chunks, p.last.String())
			p.last.Reset()
		}
		p.last.Grow(max(len(s), 1<<10, p.n/8))
	}
	p.last.WriteString(s)
	p.n += len(s)
}

// Len returns the number of bytes.
func (p *Builder) Len() int { return p.n }

// String returns all strings as one, which replaces them.
func (p *Builder) String() string {
	switch {
	case p.chunks == nil:
		return p.last.String()
	case p.last.Len() > 0:
		p.chunks = []string{strings.Join(append(p.chunks, p.last.String()), "")}
		p.last.Reset()
	}
	return p.chunks[0]
}
