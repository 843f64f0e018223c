package messages

import (
	"errors"
	"io"
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

// TestStreamWrongKinds checks that an event of a known type is an error if a required member
// has the wrong type.
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

// TestResponseWrongKinds is TestStreamWrongKinds for whole responses.
func TestResponseWrongKinds(t *testing.T) {
	const body = `{"id":"m","type":"message","role":"assistant","model":"x","content":[{"type":"text","text":"hi"},` +
		`{"type":"tool_use","id":"t","name":"f","input":{}}],"stop_reason":"tool_use","usage":{"input_tokens":5,"output_tokens":1}}`
	list := []formattest.Needed{
		{body, "", "object"}, {body, "content", "array string"}, {body, "content.0", "object"}, {body, "content.0.text", "null string"},
		{body, "content.1.name", "null string"}, {body, "content.1.id", "null string"},
		{body, "role", "null string"}, {body, "stop_reason", "null string"}, {body, "usage", "null object"},
	}
	if _, err := DecodeFrame(body, content.Limits{}); err != nil {
		t.Fatal(err)
	}
	formattest.WrongKinds(t, list, func(t *testing.T, _ formattest.Needed, broken string) {
		_, err := DecodeFrame(broken, content.Limits{})
		wantBadGateway(t, err, broken)
	})
}

// replay responds with the frames of a stream, as an adapter does.
func replay(stream string) upstream.Upstream {
	return formattest.Replay(NewStreamReader(strings.NewReader(stream), nil))
}

// An outcome is the result of a stream.
type outcome struct {
	Text, Input string
	Stop        content.StopReason
	Usage       content.Usage
	Losses      int
}

// Lines of a valid stream, which tests change.
const (
	lineStart = `message_start {"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"x","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":5,"output_tokens":1}}}`
	lineOpen0 = `content_block_start {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`
	lineText0 = `content_block_delta {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hi"}}`
	lineStop0 = `content_block_stop {"type":"content_block_stop","index":0}`
	lineOpen1 = `content_block_start {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t","name":"f","input":{}}}`
	lineIn1   = `content_block_delta {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"a\":1}"}}`
	lineStop1 = `content_block_stop {"type":"content_block_stop","index":1}`
	lineDelta = `message_delta {"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":9}}`
	lineEnd   = `message_stop {"type":"message_stop"}`
)

var correct = []string{lineStart, lineOpen0, lineText0, lineStop0, lineOpen1, lineIn1, lineStop1, lineDelta, lineEnd}

// changed returns the valid stream with some lines replaced. "" omits a line.
func changed(pairs ...string) string {
	return strings.NewReplacer(pairs...).Replace(sseOf(strings.Join(correct, "\n") + "\n"))
}

func line(s string) string { return sseOf(s + "\n") }

func TestStreamReaderDeviations(t *testing.T) {
	const call, hi = `{"a":1}`, "hi"
	usage := content.Usage{Input: 5, Output: 9}
	ok := outcome{hi, call, content.StopToolUse, usage, 0}
	with := func(f func(*outcome)) outcome {
		x := ok
		f(&x)
		return x
	}
	start := func(input string) string {
		return line(strings.Replace(lineOpen1, `,"input":{}`, input, 1))
	}
	tests := []struct {
		name, stream string
		want         outcome
		code         upstream.Code // of the error; empty for io.EOF
	}{
		{"none", changed(), ok, ""},
		{"no event lines", changed("event: content_block_delta\n", "", "event: message_start\n", "", "event: message_stop\n", ""), ok, ""},
		{"other event names", changed("event: content_block_delta\n", "event: chunk\n"), ok, ""},
		{"no type in the JSON", changed(`"type":"content_block_delta",`, "", `"type":"message_stop"`, "", `"type":"message_start",`, ""), ok, ""},
		{"JSON instead of a stream", `{"type":"message","content":[]}`, outcome{}, upstream.CodeBadGateway},
		{"empty", "", outcome{}, upstream.CodeBadGateway},
		{"no message_start", changed(line(lineStart), ""), with(func(x *outcome) { x.Usage.Input = 0 }), ""},
		{"two message_start", changed(line(lineStart), line(lineStart)+line(lineStart)), outcome{Usage: content.Usage{Input: 5, Output: 1}}, upstream.CodeBadGateway},
		{"no message_stop", changed(line(lineEnd), ""), ok, upstream.CodeBadGateway},
		{"no blank line at the end", strings.TrimSuffix(changed(), "\n"), ok, upstream.CodeBadGateway},
		{"no message_delta", changed(line(lineDelta), ""), outcome{hi, call, content.StopToolUse, content.Usage{Input: 5, Output: 1}, 1}, ""},
		{"message_delta without delta", changed(`"delta":{"stop_reason":"tool_use","stop_sequence":null},`, ""), with(func(x *outcome) { x.Losses = 1 }), ""},
		{"message_delta without usage", changed(`,"usage":{"output_tokens":9}`, ""), with(func(x *outcome) { x.Usage.Output = 1 }), ""},
		{"message_start without usage", changed(`,"usage":{"input_tokens":5,"output_tokens":1}`, ""), with(func(x *outcome) { x.Usage.Input = 0 }), ""},
		{"message_start without content", changed(`"content":[],`, ""), ok, ""},
		{"message_start with null content", changed(`"content":[],`, `"content":null,`), ok, ""},
		{"no index on the second block", changed(`"index":1,`, ""), ok, ""},
		{"null index", changed(`"index":1`, `"index":null`), ok, ""},
		{"first index 1", changed(`"index":1`, `"index":7`, `"index":0`, `"index":1`), ok, ""},
		{"no index on the stop of the second block", changed(`stop","index":1`, `stop"`), ok, ""},
		{"negative index", changed(`"index":0`, `"index":-1`), outcome{Usage: content.Usage{Input: 5, Output: 1}}, upstream.CodeBadGateway},
		{"huge index", changed(`"index":0`, `"index":99999999999`), outcome{Usage: content.Usage{Input: 5, Output: 1}}, upstream.CodeBadGateway},
		{"delta without start", changed(line(lineOpen0), ""), outcome{Usage: content.Usage{Input: 5, Output: 1}}, upstream.CodeBadGateway},
		{"stop without start", changed(line(lineOpen0)+line(lineText0), ""), outcome{Usage: content.Usage{Input: 5, Output: 1}}, upstream.CodeBadGateway},
		{"delta after the stop", changed(line(lineText0)+line(lineStop0), line(lineStop0)+line(lineText0)), outcome{Usage: content.Usage{Input: 5, Output: 1}}, upstream.CodeBadGateway},
		{"two starts of one block", changed(line(lineText0), line(lineOpen0)), outcome{Usage: content.Usage{Input: 5, Output: 1}}, upstream.CodeBadGateway},
		{"index used again", changed(line(lineOpen1)+line(lineIn1)+line(lineStop1), strings.ReplaceAll(line(lineOpen1)+line(lineIn1)+line(lineStop1), `"index":1`, `"index":0`)), ok, ""},
		{"no content_block_stop", changed(line(lineStop0), "", line(lineStop1), ""), ok, ""},
		{"delta of another kind of block", changed(`"text_delta","text"`, `"input_json_delta","partial_json"`), outcome{Usage: content.Usage{Input: 5, Output: 1}}, upstream.CodeBadGateway},
		{"tool start without input", changed(line(lineOpen1), start("")), ok, ""},
		{"tool start with empty input text", changed(line(lineOpen1), start(`,"input":""`)), ok, ""},
		{"tool start with null input", changed(line(lineOpen1), start(`,"input":null`)), ok, ""},
		{"tool start with a space in the input", changed(line(lineOpen1), start(`,"input":{ }`)), ok, ""},
		{"tool start with input and no delta", changed(line(lineOpen1), start(`,"input":{"a":1}`), line(lineIn1), ""), ok, ""},
		{"tool start with input as text", changed(line(lineOpen1), start(`,"input":"{\"a\":1}"`), line(lineIn1), ""), with(func(x *outcome) { x.Losses = 1 }), ""},
		{"tool start with input that is a list", changed(line(lineOpen1), start(`,"input":[1]`), line(lineIn1), ""), with(func(x *outcome) { x.Input = "[1]" }), ""}, // clients receive it as deltas
		{"tool start with input and deltas", changed(line(lineOpen1), start(`,"input":{"b":2}`)), ok, ""},
		{"tool without arguments", changed(line(lineIn1), ""), with(func(x *outcome) { x.Input = "" }), ""},
		{"tool JSON cut", changed(`{\"a\":1}`, `{\"a\":`), with(func(x *outcome) { x.Input = `{"a":` }), ""},
		{"text null", changed(`"text":"hi"`, `"text":null`), outcome{Usage: content.Usage{Input: 5, Output: 1}}, upstream.CodeBadGateway},
		{"text missing", changed(`,"text":"hi"`, ``), with(func(x *outcome) { x.Text = "" }), ""},
		{"text a number", changed(`"text":"hi"`, `"text":5`), outcome{Usage: content.Usage{Input: 5, Output: 1}}, upstream.CodeBadGateway},
		{"no text in a text start", changed(`"text","text":""`, `"text"`), ok, ""},
		{"text in a text start", changed(`"text","text":""`, `"text","text":"oh "`), with(func(x *outcome) { x.Text = "oh hi" }), ""},
		{"unknown event", changed(line(lineText0), line(`news {"type":"news","a":[1]}`)+line(lineText0)), with(func(x *outcome) { x.Losses = 1 }), ""},
		{"unknown event that is not an object", changed(line(lineText0), line(`news [1]`)+line(lineText0)), with(func(x *outcome) { x.Losses = 1 }), ""},
		{"event without name and type", changed(line(lineText0), "data: {\"a\":1}\n\n"+line(lineText0)), with(func(x *outcome) { x.Losses = 1 }), ""},
		{"type with a line break", changed(line(lineText0), "data: {\"type\":\"a\\nb\"}\n\n"+line(lineText0)), with(func(x *outcome) { x.Losses = 1 }), ""},
		{"unknown event before the start", changed(line(lineStart), line(`news {"type":"news"}`)+line(lineStart)), with(func(x *outcome) { x.Losses = 1 }), ""},
		{"unknown delta", changed(line(lineText0), line(lineText0)+line(strings.Replace(lineText0, "text_delta", "mood_delta", 1))), with(func(x *outcome) { x.Losses = 1 }), ""},
		{"unknown delta of a block with a gap in indices", changed(`"index":1`, `"index":4`, line(lineStop1), line(`content_block_delta {"type":"content_block_delta","index":4,"delta":{"type":"mood_delta"}}`)+strings.Replace(line(lineStop1), "1", "4", 1)), with(func(x *outcome) { x.Losses = 1 }), ""},
		{"unknown block", changed(line(lineOpen0)+line(lineText0), line(strings.Replace(lineOpen0, `"type":"text"`, `"type":"mood"`, 1))+line(lineText0)), with(func(x *outcome) { x.Text, x.Losses = "", 1 }), ""},
		{"unknown block without type", changed(line(lineOpen0)+line(lineText0), line(strings.Replace(lineOpen0, `"type":"text",`, ``, 1))), with(func(x *outcome) { x.Text = "" }), ""},
		{"content block that is not an object", changed(`"content_block":{"type":"text","text":""}`, `"content_block":null`), outcome{Usage: content.Usage{Input: 5, Output: 1}}, upstream.CodeBadGateway},
		{"delta that is not an object", changed(`"delta":{"type":"text_delta","text":"hi"}`, `"delta":3`), outcome{Usage: content.Usage{Input: 5, Output: 1}}, upstream.CodeBadGateway},
		{"later message_delta with an empty delta", changed(line(lineEnd), line(`message_delta {"type":"message_delta","delta":{},"usage":{"output_tokens":11}}`)+line(lineEnd)), with(func(x *outcome) { x.Usage.Output = 11 }), ""},
		{"later message_delta with another reason", changed(line(lineEnd), line(`message_delta {"type":"message_delta","delta":{"stop_reason":"max_tokens"},"usage":{"output_tokens":11}}`)+line(lineEnd)), with(func(x *outcome) { x.Usage.Output, x.Stop = 11, content.StopMaxTokens }), ""},
		{"earlier message_delta with usage only", changed(line(lineText0), line(`message_delta {"type":"message_delta","usage":{"input_tokens":6,"output_tokens":null}}`)+line(lineText0)), with(func(x *outcome) { x.Usage.Input = 6 }), ""},
		{"unknown stop reason", changed(`"tool_use","stop`, `"bored","stop`), with(func(x *outcome) { x.Stop = content.StopOther }), ""},
		{"pings and empty data", changed(line(lineText0), line(`ping {"type":"ping"}`)+"event: x\ndata:\n\n"+line(`x {"type":"ping"}`)+line(lineText0)+line("ping nonsense")), ok, ""},
		{"[DONE]", changed(line(lineEnd), "data: [DONE]\n\n"+line(lineEnd)+"data: [DONE]\n\n"), ok, ""},
		{"[DONE] in place of the end", changed(line(lineEnd), "data: [DONE]\n\n"), ok, upstream.CodeBadGateway},
		{"broken JSON", changed(line(lineStop0), "event: content_block_stop\ndata: {\"type\":\n\n"), outcome{Text: hi, Usage: content.Usage{Input: 5, Output: 1}}, upstream.CodeBadGateway},
		{"JSON over two lines", changed(`"delta":{"type":"text_delta"`, "\ndata: \"delta\":{\"type\":\"text_delta\""), ok, ""},
		{"duplicate member", changed(`"text":"hi"`, `"text":"hi","text":"ho"`), outcome{Usage: content.Usage{Input: 5, Output: 1}}, upstream.CodeBadGateway},
		{"nesting over the limit", changed(`"text":"hi"`, `"text":"hi","x":`+strings.Repeat("[", 300)+strings.Repeat("]", 300)), outcome{Usage: content.Usage{Input: 5, Output: 1}}, upstream.CodeBadGateway},
		{"unpaired surrogate", changed(`"text":"hi"`, `"text":"h\ud83di"`), with(func(x *outcome) { x.Text, x.Losses = "h\uFFFDi", 1 }), ""},
		{"invalid UTF-8", changed(`"text":"hi"`, "\"text\":\"h\xffi\""), with(func(x *outcome) { x.Text, x.Losses = "h\uFFFDi", 1 }), ""},
		{"members of message_stop", changed(line(lineEnd), line(`message_stop {"type":"message_stop","metrics":1}`)), with(func(x *outcome) { x.Losses = 1 }), ""},
		{"error without a type in the JSON", changed(line(lineText0), line(`error {"error":{"type":"timeout_error"}}`)), outcome{Usage: content.Usage{Input: 5, Output: 1}}, upstream.CodeTimeout},
		{"error in the JSON only", changed(line(lineText0), line(`oops {"type":"error","error":{"type":"api_error"}}`)), outcome{Usage: content.Usage{Input: 5, Output: 1}}, upstream.CodeUnavailable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.name != "none" && tt.stream == changed() {
				t.Fatal("the stream has no deviation")
			}
			reply, err := upstream.Collect(t.Context(), replay(tt.stream), &upstream.Request{})
			if diff := cmp.Diff(tt.want, summary(reply)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			var failed *upstream.Error
			switch {
			case tt.code == "" && err == nil:
			case !errors.As(err, &failed) || failed.Code != tt.code:
				t.Errorf("got the error %v, want %q", err, tt.code)
			case failed.Text != "":
				t.Errorf("the error has the text %q", failed.Text)
			}
			if strings.HasPrefix(tt.name, "no message_stop") && !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("io.ErrUnexpectedEOF is not in the chain of %v", err)
			}
		})
	}
}

func summary(r *upstream.Response) outcome {
	x := outcome{Stop: r.Stop.Reason, Usage: r.Usage, Losses: len(r.Losses)}
	for _, p := range r.Parts {
		switch p := p.(type) {
		case *content.Text:
			x.Text += p.Text
		case *content.ToolUse:
			x.Input += p.Input
		}
	}
	return x
}
