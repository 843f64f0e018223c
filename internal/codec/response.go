package codec

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/upstream"
)

// Rules that every codec reports by when it reads a response.
var (
	ResponseNotUnicode  = loss.Degraded(loss.ResponseText, "text that is not valid Unicode was replaced by U+FFFD")
	ResponseNoReason    = loss.Degraded(loss.ResponseStop, "the response has no stop reason; a normal end was assumed")
	ResponseStringInput = loss.Degraded(loss.ResponseArguments, "the tool arguments are a string; the object that it encodes is used")
	ResponseWrongType   = loss.Dropped(loss.ResponseBroken, "a member of the part has the wrong type and was dropped")
	ResponseManyCounts  = loss.Hint(loss.ResponseUsage, "the usage has too many members; the rest was dropped")
)

// Rules for calls of functions that replace free-form tools, in responses of every server.
var (
	ResponseFreeform        = loss.Degraded(loss.ResponseArguments, "the arguments of a function that replaces a free-form tool are not an object with one text; they are the input as they are")
	ResponseFreeformMembers = loss.Degraded(loss.ResponseArguments, "the arguments of a function that replaces a free-form tool have other members than its input; they were dropped")
)

// HasMoreThan reports whether the details of a stop have more content than words and
// the raw reason.
func HasMoreThan(s *upstream.Stop, words string) bool {
	if s.Details == "" {
		return false
	}
	doc, err := jsonwire.Parse(s.Details, UnlimitedJSON)
	if err != nil {
		return true
	}
	defer doc.Close()
	known := func(v jsonwire.Value) bool { return v.Is(words) }
	if doc.Root().Kind() != jsonwire.Object {
		return hasContent(doc.Root(), known, 0)
	}
	for _, v := range doc.Root().Members() {
		if !v.Is(s.RawReason) && hasContent(v, known, 1) {
			return true
		}
	}
	return false
}

// IsModelPart reports whether a part is of a kind that handlers treat in a way of its own in
// responses. Parts that pass as they are must not be in disguise of one.
func IsModelPart(p content.Part) bool {
	switch p.(type) { // other kinds have no treatment of their own
	case *content.Text, *content.Thinking, *content.ToolUse, *content.ToolResult:
		return true
	}
	return false
}
