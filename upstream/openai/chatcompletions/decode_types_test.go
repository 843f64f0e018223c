package chatcompletions

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/openaiformat"
	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/upstream"
)

// wantBadGateway checks that err is an error of the upstream.
func wantBadGateway(t *testing.T, err error, document string) {
	t.Helper()
	var e *upstream.Error
	if !errors.As(err, &e) || e.Code != upstream.CodeBadGateway {
		t.Errorf("got the error %v, want %s, of %s", err, upstream.CodeBadGateway, document)
	}
}

// TestChatWrongTypes checks that a chunk or complete response with a required member of
// the wrong type is an error.
func TestChatWrongTypes(t *testing.T) {
	const (
		optional = "null string"
		json     = "null string array object number" // a value where the format has a text
		delta    = `{"choices":[{"index":0,"delta":{"role":"assistant","content":"hi","refusal":null,"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},"finish_reason":null}],"usage":null}`
		message  = `{"choices":[{"index":0,"message":{"role":"assistant","content":"hi","refusal":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":3}}`
		parts    = `{"choices":[{"index":0,"message":{"content":[{"type":"text","text":"hi"}]},"finish_reason":"stop"}]}`
	)
	list := func(document, name string) []formattest.Needed {
		at := "choices.0." + name
		return []formattest.Needed{
			{document, "", "object array"}, {document, "choices", "null array"}, {document, "choices.0", "object"},
			{document, at, "null object"}, {document, at + ".role", optional}, {document, at + ".content", json},
			{document, at + ".refusal", json}, {document, at + ".tool_calls", "null array"},
			{document, at + ".tool_calls.0", "object"}, {document, at + ".tool_calls.0.function", "null object"},
			{document, at + ".tool_calls.0.function.name", "null string number"}, {document, at + ".function_call", "null object"},
			{document, "choices.0.finish_reason", "null string number"}, {document, "usage", "null object"},
		}
	}
	formattest.WrongKinds(t, list(delta, "delta"), func(t *testing.T, _ formattest.Needed, broken string) {
		_, err := collectChat(t, strings.NewReader(events(hi, broken, toolStop, done)), ThinkTagsOff)
		wantBadGateway(t, err, broken)
	})
	whole := append(list(message, "message"),
		formattest.Needed{parts, "choices.0.message.content.0.text", json})
	formattest.WrongKinds(t, whole, func(t *testing.T, _ formattest.Needed, broken string) {
		_, err := completeChat(t, broken, ThinkTagsOff)
		wantBadGateway(t, err, broken)
	})
	for _, good := range []string{delta, message} {
		if _, err := collectChat(t, strings.NewReader(events(good, toolStop, done)), ThinkTagsOff); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
}

// TestJSONTexts checks that a JSON value where the format has a text becomes its JSON, with a
// hint. Cloudflare Workers AI responds so to every request with a schema.
func TestJSONTexts(t *testing.T) {
	apples := partsOf(textOf(`{"title":"Apples"}`))
	hint := []content.Loss{openaiformat.LossJSONText.At("parts")}
	for _, tt := range []struct {
		name, message string
		want          []content.Part
		losses        []content.Loss
	}{
		{"object", `{"content":{ "title": "Apples" }}`, apples, hint},
		{"list", `{"content":[{"title":"Apples"}]}`, partsOf(textOf(`[{"title":"Apples"}]`)), hint},
		{"list of numbers", `{"content":[1, 2.50]}`, partsOf(textOf(`[1,2.50]`)), hint},
		{"number", `{"content":7}`, partsOf(textOf("7")), hint},
		{"text of a part", `{"content":[{"type":"text","text":{"title":"Apples"}}]}`, apples, hint},
		{"parts", `{"content":[{"type":"text","text":"a"},"b",{"text":"c"}]}`, partsOf(textOf("abc")), nil},
		{"refusal", `{"refusal":{"title":"Apples"}}`, partsOf(&content.Text{Text: `{"title":"Apples"}`, Refusal: true}), hint},
		{"thinking", `{"reasoning_content":{"title":"Apples"},"content":"a"}`, partsOf(&content.Thinking{Text: `{"title":"Apples"}`}, textOf("a")), hint},
		{"id and name of a call", `{"tool_calls":[{"index":0,"id":5,"type":"function","function":{"name":7,"arguments":{"a":1}}}]}`,
			partsOf(&content.ToolUse{ID: "5", Name: "7", Input: `{"a":1}`}), nil},
	} {
		whole, err := completeChat(t, `{"choices":[{"index":0,"message":`+tt.message+`,"finish_reason":"stop"}]}`, ThinkTagsLeading)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		stream, err := collectChat(t, strings.NewReader(events(`{"choices":[{"index":0,"delta":`+tt.message+`}]}`, stopped, done)), ThinkTagsLeading)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		for _, got := range []*upstream.Response{whole, stream} {
			if diff := cmp.Diff(tt.want, got.Parts); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.name, diff)
			}
			if diff := cmp.Diff(tt.losses, got.Losses); diff != "" {
				t.Errorf("%s: losses (-want +got):\n%s", tt.name, diff)
			}
		}
	}
}
