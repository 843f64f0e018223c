package responses

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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
// hint.
func TestJSONTexts(t *testing.T) {
	apples := partsOf(textOf(`{"title":"Apples"}`))
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
			if diff := cmp.Diff(apples, got.Parts); diff != "" || len(got.Losses) != 1 || got.Losses[0].Reason != openaiformat.LossJSONText.Reason {
				t.Errorf("%s: losses %v (-want +got):\n%s", message, got.Losses, diff)
			}
		}
	}
}
