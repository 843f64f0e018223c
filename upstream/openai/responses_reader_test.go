package openai

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/adapter"
	"github.com/polywire/polywire/upstream"
)

// readResponses reads a stream into a reply, as a host would see it.
func readResponses(t *testing.T, src io.Reader, stops ...string) (*upstream.Response, error) {
	t.Helper()
	up := upstream.Func(func(ctx context.Context, _ *upstream.Request, w *upstream.Writer) error {
		r := newResReader(src, content.Limits{})
		r.newID = func() string { return "made" }
		return adapter.Relay(ctx, w, newCutter(stops).frames(r), adapter.Head{}, nil)
	})
	return upstream.Collect(t.Context(), up, &upstream.Request{Model: "m"})
}

// wholeResponses reads a whole answer.
func wholeResponses(t *testing.T, text string, stops ...string) (*upstream.Response, error) {
	t.Helper()
	up := upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		f, err := decodeResponses(text, content.Limits{})
		if err != nil {
			return err
		}
		newCutter(stops).frame(f)
		return adapter.WriteResponse(w, f, adapter.Head{}, nil)
	})
	return upstream.Collect(t.Context(), up, &upstream.Request{Model: "m"})
}

// What answers are made of in these tests.
func itemSignature(json string) content.Signature {
	return content.Signature{Format: ResponsesFormat, Data: json}
}

func hidden(json string) *content.Thinking { return &content.Thinking{Redacted: itemSignature(json)} }

func phased(text, phase string) *content.Text {
	return &content.Text{Text: text, Signature: itemSignature(`{"phase":"` + phase + `"}`)}
}

func tideCitation() content.Citation {
	return content.Citation{Kind: content.CiteWeb, URL: "https://tides.example/oslo", Title: "Oslo tides"}
}

// Searches of the examples.
const (
	search4  = `{"id":"ws_04","type":"web_search_call","status":"completed","action":{"type":"search","query":"tide Oslo","queries":["tide Oslo"],"sources":[{"type":"url","url":"https://tides.example/oslo"}]}}`
	search11 = `{"id":"ws_11","type":"web_search_call","status":"completed","action":{"type":"search","query":"tide Oslo","queries":["tide Oslo"]}}`
)

// resExamples are the examples of the wire reference.
var resExamples = []struct {
	file string
	want upstream.Response
}{
	{"E20.json", upstream.Response{
		Start: upstream.Start{ID: "resp_01", Model: "gpt-6.2-sol"},
		Parts: []content.Part{
			&content.Thinking{Text: "**Looking up B7**\n\nThe tool knows.", Signature: itemSignature(
				`{"type":"reasoning","id":"rs_02","summary":[{"type":"summary_text","text":"**Looking up B7**\n\nThe tool knows."}],"encrypted_content":"gAAAAABqX1b"}`)},
			phased("Checking.", "commentary"),
			&content.ToolUse{ID: "call_f1", Name: "depth_at", Input: `{"buoy":"B7"}`},
		},
		Stop:  upstream.Stop{Reason: content.StopToolUse, Format: ResponsesFormat, RawReason: "completed"},
		Usage: content.Usage{Input: 172, CacheRead: 128, Output: 40, Thinking: 80},
	}},
	{"E21.json", upstream.Response{
		Start: upstream.Start{ID: "resp_02", Model: "gpt-6.1-sol"},
		Parts: []content.Part{hidden(`{"type":"reasoning","id":"rs_03","summary":[],"encrypted_content":"gAAA"}`)},
		Stop:  upstream.Stop{Reason: content.StopMaxTokens, Format: ResponsesFormat, RawReason: "max_output_tokens", Details: `{"reason":"max_output_tokens"}`},
		Usage: content.Usage{Input: 20, Thinking: 64},
	}},
	{"E23.json", upstream.Response{
		Start: upstream.Start{ID: "resp_04", Model: "gpt-6.1-sol"},
		Parts: []content.Part{
			&content.ServerToolUse{Format: ResponsesFormat, Kind: "web_search_call", ID: "ws_04", Name: "web_search",
				Input: `{"type":"search","query":"tide Oslo","queries":["tide Oslo"],"sources":[{"type":"url","url":"https://tides.example/oslo"}]}`},
			hidden(search4),
			&content.Image{Source: &content.Base64{MediaType: "image/png", Data: "iVBORw0KGgo="},
				Signature: itemSignature(`{"type":"image_generation_call","id":"ig_04"}`)},
			&content.Text{Text: "High tide is at 14:10 (tides.example).", Citations: []content.Citation{tideCitation()}},
		},
		Stop:  upstream.Stop{Reason: content.StopEnd, Format: ResponsesFormat, RawReason: "completed"},
		Usage: content.Usage{Input: 2000, Output: 50, Thinking: 10},
	}},
	{"E24.sse", upstream.Response{
		Start: upstream.Start{ID: "resp_10", Model: "gpt-6.2-sol"},
		Parts: []content.Part{
			&content.Thinking{Text: "Need the depth.", Signature: itemSignature(
				`{"type":"reasoning","id":"rs_10","summary":[{"type":"summary_text","text":"Need the depth."}],"encrypted_content":"gAAAfull"}`)},
			phased("Checking.", "commentary"),
			&content.ToolUse{ID: "call_g1", Name: "depth_at", Input: `{"buoy":"B7"}`},
		},
		Stop:  upstream.Stop{Reason: content.StopToolUse, Format: ResponsesFormat, RawReason: "completed"},
		Usage: content.Usage{Input: 50, Output: 20, Thinking: 20},
	}},
	{"E25.sse", upstream.Response{
		Start: upstream.Start{ID: "resp_11", Model: "gpt-6.1-sol"},
		Parts: []content.Part{
			&content.ServerToolUse{Format: ResponsesFormat, Kind: "web_search_call", ID: "ws_11", Name: "web_search",
				Input: `{"type":"search","query":"tide Oslo","queries":["tide Oslo"]}`},
			hidden(search11),
			&content.Text{Text: "High tide is at 14:10.", Citations: []content.Citation{tideCitation()}},
		},
		Stop:  upstream.Stop{Reason: content.StopEnd, Format: ResponsesFormat, RawReason: "completed"},
		Usage: content.Usage{Input: 900, Output: 12},
	}},
}

// TestResponsesExamples reads the examples of the wire reference.
func TestResponsesExamples(t *testing.T) {
	for _, tt := range resExamples {
		t.Run(tt.file, func(t *testing.T) {
			var got *upstream.Response
			var err error
			if text := example(t, tt.file); strings.HasSuffix(tt.file, ".sse") {
				got, err = readResponses(t, strings.NewReader(text))
			} else {
				got, err = wholeResponses(t, text)
			}
			if diff := cmp.Diff(&tt.want, got); diff != "" || err != nil {
				t.Errorf("error %v (-want +got):\n%s", err, diff)
			}
		})
	}
}

// TestResponsesStreamIsWhole checks that what a stream tells piece by piece, its
// last event alone tells as well, and so does a whole answer.
func TestResponsesStreamIsWhole(t *testing.T) {
	stream := example(t, "E24.sse")
	want, err := readResponses(t, strings.NewReader(stream))
	if err != nil {
		t.Fatal(err)
	}
	last := stream[strings.Index(stream, "event: response.completed"):]
	got, err := readResponses(t, strings.NewReader(last))
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("the last event: error %v (-want +got):\n%s", err, diff)
	}
	_, doc, _ := strings.Cut(last, `"response":`)
	doc = strings.TrimSuffix(strings.TrimSpace(doc), "}")
	if got, err = wholeResponses(t, doc); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("whole (-want +got):\n%s", diff)
	}
}

// TestResponsesFraming says one answer in every framing that there is.
func TestResponsesFraming(t *testing.T) {
	stream := example(t, "E24.sse")
	want, err := readResponses(t, strings.NewReader(stream))
	if err != nil {
		t.Fatal(err)
	}
	unnamed := ""
	for _, line := range strings.SplitAfter(stream, "\n") {
		if !strings.HasPrefix(line, "event:") {
			unnamed += line
		}
	}
	for name, s := range map[string]string{
		"CRLF":                     strings.ReplaceAll(stream, "\n", "\r\n"),
		"CR":                       strings.ReplaceAll(stream, "\n", "\r"),
		"no names":                 unnamed,
		"no blank line at the end": strings.TrimRight(stream, "\n"),
		"an end mark":              stream + "data: [DONE]\n\n",
		"end marks amid":           strings.Replace(stream, "event: response.completed", "data: [DONE] \n\nevent: response.completed", 1),
		"comments":                 ": hello\n\n" + strings.ReplaceAll(stream, "\n\n", "\n\n: keep-alive\n\n"),
		"no blanks":                strings.ReplaceAll(stream, "data: ", "data:"),
	} {
		got, err := readResponses(t, strings.NewReader(s))
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: error %v (-want +got):\n%s", name, err, diff)
		}
	}
	got, err := readResponses(t, iotest.OneByteReader(strings.NewReader(stream)))
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("byte by byte: error %v (-want +got):\n%s", err, diff)
	}
}

// TestResponsesCut cuts a stream at every byte. What is left never looks whole.
func TestResponsesCut(t *testing.T) {
	stream := example(t, "E24.sse")
	end := len(strings.TrimRight(stream, "\n"))
	for i := range end {
		_, err := readResponses(t, strings.NewReader(stream[:i]))
		var e *upstream.Error
		if !errors.As(err, &e) || e.Code != upstream.CodeBadGateway {
			t.Fatalf("cut at %d of %d: %v", i, end, err)
		}
	}
}
