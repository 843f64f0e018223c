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

// A Builder is a [strings.Builder] for many small strings. It grows in large steps.
type Builder struct{ strings.Builder }

// Add appends s.
func (p *Builder) Add(s string) {
	if p.Cap()-p.Len() < len(s) {
		p.Grow(max(len(s), 1<<10)) // Grow at least doubles the capacity
	}
	p.WriteString(s)
}
