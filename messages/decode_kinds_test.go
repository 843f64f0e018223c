package messages

import (
	"errors"
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/formattest"
	"github.com/polywire/polywire/upstream"
)

// wantBadGateway checks that a response is an error of the upstream.
func wantBadGateway(t *testing.T, err error, document string) {
	t.Helper()
	var e *upstream.Error
	if !errors.As(err, &e) || e.Code != upstream.CodeBadGateway {
		t.Errorf("got the error %v, want %s, of %s", err, upstream.CodeBadGateway, document)
	}
}

// TestStreamWrongKinds checks that an event of a known type is an error if a
// member that it needs has a value of the wrong kind.
func TestStreamWrongKinds(t *testing.T) {
	const (
		cite     = `content_block_delta {"type":"content_block_delta","index":0,"delta":{"type":"citations_delta","citation":{"type":"char_location","cited_text":"a","document_index":0,"start_char_index":0,"end_char_index":1}}}`
		think    = `content_block_start {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`
		thought  = `content_block_delta {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}`
		sign     = `content_block_delta {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"s"}}`
		optional = "null string"
		object   = "null object"
	)
	text := []string{lineStart, lineOpen0, lineText0, cite, lineStop0, lineOpen1, lineIn1, lineStop1, lineDelta, lineEnd}
	thinking := []string{lineStart, think, thought, sign, lineStop0, lineDelta, lineEnd}
	for _, tt := range []struct {
		lines  []string
		needed []formattest.Needed
	}{
		{text, []formattest.Needed{
			{lineStart, "", "object"}, {lineStart, "message", "object"}, {lineStart, "message.content", "null array string"},
			{lineStart, "message.role", optional}, {lineStart, "message.usage", object}, {lineStart, "message.stop_reason", optional},
			{lineOpen0, "", "object"}, {lineOpen0, "index", "null number"}, {lineOpen0, "content_block", "object"},
			{lineOpen0, "content_block.type", "null string"}, {lineOpen0, "content_block.text", optional},
			{lineText0, "", "object"}, {lineText0, "index", "null number"}, {lineText0, "delta", "object"},
			{lineText0, "delta.type", "string"}, {lineText0, "delta.text", "string"},
			{cite, "delta.citation", "object"},
			{lineStop0, "", "object"}, {lineStop0, "index", "null number"},
			{lineOpen1, "content_block.name", optional}, {lineOpen1, "content_block.id", optional},
			{lineIn1, "delta.partial_json", "string"},
			{lineDelta, "", "object"}, {lineDelta, "delta", object}, {lineDelta, "delta.stop_reason", optional}, {lineDelta, "usage", object},
			{lineEnd, "", "object"},
		}},
		{thinking, []formattest.Needed{
			{think, "content_block.thinking", optional}, {thought, "delta.thinking", "string"}, {sign, "delta.signature", "string"},
		}},
	} {
		if _, err := upstream.Collect(t.Context(), replay(sseOf(strings.Join(tt.lines, "\n")+"\n")), &upstream.Request{}); err != nil {
			t.Fatal(err)
		}
		for i, n := range tt.needed {
			_, tt.needed[i][0], _ = strings.Cut(n[0], " ")
		}
		formattest.WrongKinds(t, tt.needed, func(t *testing.T, n formattest.Needed, broken string) {
			stream := strings.Replace(sseOf(strings.Join(tt.lines, "\n")+"\n"), n[0], broken, 1)
			_, err := upstream.Collect(t.Context(), replay(stream), &upstream.Request{})
			wantBadGateway(t, err, broken)
		})
	}
	for _, data := range []string{"null", "7", `"x"`, "[1]"} {
		stream := changed(line(lineText0), "data: "+data+"\n\n")
		_, err := upstream.Collect(t.Context(), replay(stream), &upstream.Request{})
		wantBadGateway(t, err, data)
	}
}

// TestReplyWrongKinds checks the same of a whole response.
func TestReplyWrongKinds(t *testing.T) {
	const body = `{"id":"m","type":"message","role":"assistant","model":"x","content":[{"type":"text","text":"hi"},` +
		`{"type":"tool_use","id":"t","name":"f","input":{}}],"stop_reason":"tool_use","usage":{"input_tokens":5,"output_tokens":1}}`
	list := []formattest.Needed{
		{body, "", "object"}, {body, "content", "array string"}, {body, "content.0", "object"}, {body, "content.0.text", "null string"},
		{body, "content.1.name", "null string"}, {body, "content.1.id", "null string"},
		{body, "role", "null string"}, {body, "stop_reason", "null string"}, {body, "usage", "null object"},
	}
	if _, err := DecodeResponse(body, content.Limits{}); err != nil {
		t.Fatal(err)
	}
	formattest.WrongKinds(t, list, func(t *testing.T, _ formattest.Needed, broken string) {
		_, err := DecodeResponse(broken, content.Limits{})
		wantBadGateway(t, err, broken)
	})
}
