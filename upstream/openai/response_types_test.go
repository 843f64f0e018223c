package openai

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
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

// TestResponsesWrongTypes checks that a known event or complete response with a
// required member of the wrong type is an error.
func TestResponsesWrongTypes(t *testing.T) {
	const (
		optional = "null string"
		json     = "null string array object number" // a value where the format has a text
		index    = "null number"
		textDone = `{"type":"response.output_text.done","output_index":0,"content_index":0,"text":"hi"}`
		cite     = `{"type":"response.output_text.annotation.added","output_index":0,"content_index":0,"annotation_index":0,"annotation":{"type":"url_citation","url":"https://a.example/"}}`
		refusal  = `{"type":"response.refusal.delta","output_index":2,"content_index":0,"delta":"No"}`
		refused  = `{"type":"response.refusal.done","output_index":2,"content_index":0,"refusal":"No"}`
		think    = `{"type":"response.reasoning_summary_text.delta","output_index":3,"summary_index":0,"delta":"hm"}`
		thought  = `{"type":"response.reasoning_summary_text.done","output_index":3,"summary_index":0,"text":"hm"}`
		raw      = `{"type":"response.reasoning_text.delta","output_index":4,"content_index":0,"delta":"hm"}`
		rawDone  = `{"type":"response.reasoning_text.done","output_index":4,"content_index":0,"text":"hm"}`
		item     = `{"type":"response.output_item.done","output_index":5,"item":{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"a"}]}}`
		progress = `{"type":"response.in_progress","response":{"id":"resp_1","status":"in_progress"}}`
		end      = `{"type":"response.completed","response":{"status":"completed","output":[],"usage":{"input_tokens":1,"output_tokens":1},"incomplete_details":null}}`
		body     = `{"id":"r","status":"completed","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"hi"},{"type":"refusal","refusal":"No"}]},` +
			`{"type":"function_call","call_id":"c","name":"f","arguments":"{}"},{"type":"reasoning","summary":[{"type":"summary_text","text":"a"}],"content":null}],` +
			`"usage":{"input_tokens":1,"output_tokens":1},"incomplete_details":null}`
	)
	addCall, argument, callDone := another(resAddCall), another(resArg), another(resArgsDone)
	stream := []string{resCreated, progress, resAddMsg, resHi, cite, textDone, resMsgDone, addCall, argument, another(resArgs), callDone,
		another(resCallDone), refusal, refused, think, thought, raw, rawDone, item, end}
	if _, err := readResponses(t, strings.NewReader(events(stream...))); err != nil {
		t.Fatal(err)
	}
	var list []formattest.Needed
	for _, s := range []string{resHi, argument, refusal, think, raw} {
		list = append(list, formattest.Needed{s, "delta", "string array object number"}, formattest.Needed{s, "output_index", index})
	}
	for _, s := range []string{textDone, thought, rawDone} {
		list = append(list, formattest.Needed{s, "text", "string array object number"})
	}
	list = append(list,
		formattest.Needed{resHi, "content_index", index}, formattest.Needed{think, "summary_index", index},
		formattest.Needed{refused, "refusal", "string array object number"}, formattest.Needed{cite, "annotation", "object"},
		formattest.Needed{callDone, "arguments", json},
		formattest.Needed{resCreated, "response", "object"}, formattest.Needed{progress, "response", "object"},
		formattest.Needed{resAddMsg, "item", "object"}, formattest.Needed{resMsgDone, "item", "object"},
		formattest.Needed{resMsgDone, "item.type", optional},
		formattest.Needed{resMsgDone, "item.content", json}, formattest.Needed{resMsgDone, "item.content.0", "object"},
		formattest.Needed{resMsgDone, "item.content.0.text", json},
		formattest.Needed{addCall, "item.name", "null string number"},
		formattest.Needed{item, "item.summary", "null array"}, formattest.Needed{item, "item.summary.0.text", json},
		formattest.Needed{end, "response", "object"}, formattest.Needed{end, "response.output", "null array"},
		formattest.Needed{end, "response.usage", "null object"}, formattest.Needed{end, "response.status", optional},
		formattest.Needed{end, "response.incomplete_details", "null object"},
	)
	formattest.WrongKinds(t, list, func(t *testing.T, n formattest.Needed, broken string) {
		i := slices.Index(stream, n[0])
		_, err := readResponses(t, strings.NewReader(events(slices.Replace(slices.Clone(stream), i, i+1, broken)...)))
		wantBadGateway(t, err, broken)
	})
	for _, s := range stream {
		_, name, _ := strings.Cut(s, `"type":"`)
		name, _, _ = strings.Cut(name, `"`)
		for _, data := range []string{"null", "7", `"x"`, "[1]"} {
			broken := "event: " + name + "\ndata: " + data + "\n\n"
			_, err := readResponses(t, strings.NewReader(strings.Replace(events(stream...), "data: "+s+"\n\n", broken, 1)))
			wantBadGateway(t, err, broken)
		}
	}
	_, err := readResponses(t, strings.NewReader(events(resHi, "null", resEnd)))
	wantBadGateway(t, err, "data: null")
	if _, err := completeResponses(t, body); err != nil {
		t.Fatal(err)
	}
	formattest.WrongKinds(t, []formattest.Needed{
		{body, "", "object array"}, {body, "output", "null array"}, {body, "output.0", "object"},
		{body, "output.0.content", json}, {body, "output.0.content.0", "object"},
		{body, "output.0.content.0.text", json}, {body, "output.0.content.1.refusal", json},
		{body, "output.0.role", optional}, {body, "output.1.name", "null string number"},
		{body, "output.2.summary", "null array"},
		{body, "status", optional}, {body, "usage", "null object"},
	}, func(t *testing.T, _ formattest.Needed, broken string) {
		_, err := completeResponses(t, broken)
		wantBadGateway(t, err, broken)
	})
}

// TestJSONTexts checks that a JSON value where the format has a text becomes its JSON, with a
// hint. Cloudflare Workers AI responds so to every request with a schema.
func TestJSONTexts(t *testing.T) {
	apples := partsOf(textOf(`{"title":"Apples"}`))
	hint := []content.Loss{lossJSONText.At("parts")}
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
		{"refusal", `{"refusal":{"title":"Apples"}}`, apples, hint},
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
	for _, message := range []string{
		`{"type":"message","role":"assistant","content":{"title":"Apples"}}`,
		`{"type":"message","role":"assistant","content":[{"type":"output_text","text":{"title":"Apples"}}]}`,
	} {
		whole, err1 := completeResponses(t, `{"id":"r","status":"completed","output":[`+message+`]}`)
		stream, err2 := readResponses(t, strings.NewReader(events(resCreated, `{"type":"response.output_item.done","output_index":0,"item":`+message+`}`, resEnd)))
		if err := errors.Join(err1, err2); err != nil {
			t.Errorf("%s: %v", message, err)
			continue
		}
		for _, got := range []*upstream.Response{whole, stream} {
			if diff := cmp.Diff(apples, got.Parts); diff != "" || len(got.Losses) != 1 || got.Losses[0].Reason != lossJSONText.Reason {
				t.Errorf("%s: losses %v (-want +got):\n%s", message, got.Losses, diff)
			}
		}
	}
}
