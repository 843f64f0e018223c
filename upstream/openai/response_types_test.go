package openai

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/polywire/polywire/internal/formattest"
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
		delta    = `{"choices":[{"index":0,"delta":{"role":"assistant","content":"hi","refusal":null,"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},"finish_reason":null}],"usage":null}`
		message  = `{"choices":[{"index":0,"message":{"role":"assistant","content":"hi","refusal":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":3}}`
		parts    = `{"choices":[{"index":0,"message":{"content":[{"type":"text","text":"hi"}]},"finish_reason":"stop"}]}`
	)
	list := func(document, name string) []formattest.Needed {
		at := "choices.0." + name
		return []formattest.Needed{
			{document, "", "object array"}, {document, "choices", "null array"}, {document, "choices.0", "object"},
			{document, at, "null object"}, {document, at + ".role", optional}, {document, at + ".content", "null string array"},
			{document, at + ".refusal", optional}, {document, at + ".tool_calls", "null array"},
			{document, at + ".tool_calls.0", "object"}, {document, at + ".tool_calls.0.function", "null object"},
			{document, at + ".tool_calls.0.function.name", optional}, {document, at + ".function_call", "null object"},
			{document, "choices.0.finish_reason", optional}, {document, "usage", "null object"},
		}
	}
	formattest.WrongKinds(t, list(delta, "delta"), func(t *testing.T, _ formattest.Needed, broken string) {
		_, err := collectChat(t, strings.NewReader(events(hi, broken, toolStop, done)), ThinkTagsOff)
		wantBadGateway(t, err, broken)
	})
	whole := append(list(message, "message"),
		formattest.Needed{parts, "choices.0.message.content.0", "string object"},
		formattest.Needed{parts, "choices.0.message.content.0.text", optional})
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
		list = append(list, formattest.Needed{s, "delta", "string"}, formattest.Needed{s, "output_index", index})
	}
	for _, s := range []string{textDone, thought, rawDone} {
		list = append(list, formattest.Needed{s, "text", "string"})
	}
	list = append(list,
		formattest.Needed{resHi, "content_index", index}, formattest.Needed{think, "summary_index", index},
		formattest.Needed{refused, "refusal", "string"}, formattest.Needed{cite, "annotation", "object"},
		formattest.Needed{callDone, "arguments", "null string array object"},
		formattest.Needed{resCreated, "response", "object"}, formattest.Needed{progress, "response", "object"},
		formattest.Needed{resAddMsg, "item", "object"}, formattest.Needed{resMsgDone, "item", "object"},
		formattest.Needed{resMsgDone, "item.type", optional},
		formattest.Needed{resMsgDone, "item.content", "null string array"}, formattest.Needed{resMsgDone, "item.content.0", "object"},
		formattest.Needed{resMsgDone, "item.content.0.text", optional},
		formattest.Needed{addCall, "item.name", optional},
		formattest.Needed{item, "item.summary", "null array"}, formattest.Needed{item, "item.summary.0.text", optional},
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
		{body, "output.0.content", "null string array"}, {body, "output.0.content.0", "object"},
		{body, "output.0.content.0.text", optional}, {body, "output.0.content.1.refusal", optional},
		{body, "output.0.role", optional}, {body, "output.1.name", optional},
		{body, "output.2.summary", "null array"},
		{body, "status", optional}, {body, "usage", "null object"},
	}, func(t *testing.T, _ formattest.Needed, broken string) {
		_, err := completeResponses(t, broken)
		wantBadGateway(t, err, broken)
	})
}
