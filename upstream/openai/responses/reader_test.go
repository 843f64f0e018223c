package responses

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/adapter"
	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/upstream"
)

// readResponses collects a stream into a response.
func readResponses(t *testing.T, src io.Reader, stops ...string) (*upstream.Response, error) {
	t.Helper()
	up := upstream.Func(func(ctx context.Context, _ *upstream.Request, w *upstream.Writer) error {
		r := NewStreamReaderWith(src, content.Limits{}, DecodeOptions{Stops: stops})
		r.newID = func() string { return "made" }
		return adapter.Relay(ctx, w, r, adapter.StartInfo{}, nil)
	})
	return upstream.Collect(t.Context(), up, &upstream.Request{Model: "m"})
}

// completeResponses decodes a complete response.
func completeResponses(t *testing.T, text string, stops ...string) (*upstream.Response, error) {
	t.Helper()
	up := upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		f, err := DecodeFrame(text, content.Limits{}, DecodeOptions{Stops: stops})
		if err != nil {
			return err
		}
		return adapter.WriteResponse(w, f, adapter.StartInfo{}, nil)
	})
	return upstream.Collect(t.Context(), up, &upstream.Request{Model: "m"})
}

// events returns a stream of events.
func events(chunks ...string) string {
	var b strings.Builder
	for _, c := range chunks {
		b.WriteString("data: " + c + "\n\n")
	}
	return b.String()
}

// Constructors for expected responses.
func textOf(s string) *content.Text { return &content.Text{Text: s} }

func useOf(id, name, input string) *content.ToolUse {
	return &content.ToolUse{ID: id, Name: name, Input: input}
}

func partsOf(p ...content.Part) []content.Part { return p }

func itemSignature(json string) content.Signature {
	return content.Signature{Format: Format, Data: json}
}

func redactedPart(json string) *content.Thinking {
	return &content.Thinking{Redacted: itemSignature(json)}
}

// example returns a document under testdata.
func example(t testing.TB, name string) string {
	t.Helper()
	return formattest.File(t, "testdata/"+name)
}

func tideCitation(start, end int64) content.Citation {
	return content.Citation{Kind: content.CiteWeb, URL: "https://tides.example/oslo", Title: "Oslo tides", Start: start, End: end}
}

// Searches of the examples.
const (
	search4  = `{"id":"ws_04","type":"web_search_call","status":"completed","action":{"type":"search","query":"tide Oslo","queries":["tide Oslo"],"sources":[{"type":"url","url":"https://tides.example/oslo"}]}}`
	search11 = `{"id":"ws_11","type":"web_search_call","status":"completed","action":{"type":"search","query":"tide Oslo","queries":["tide Oslo"]}}`
)

// responsesExamples are the documents under testdata and their responses.
var responsesExamples = []struct {
	file string
	want upstream.Response
}{
	{"E20.json", upstream.Response{
		Start: upstream.Start{ID: "resp_01", Model: "gpt-6.2-sol"},
		Parts: []content.Part{
			&content.Thinking{Text: "**Looking up B7**\n\nThe tool knows.", Signature: itemSignature(
				`{"type":"reasoning","id":"rs_02","summary":[{"type":"summary_text","text":"**Looking up B7**\n\nThe tool knows."}],"encrypted_content":"gAAAAABqX1b"}`)},
			textOf("Checking."),
			&content.ToolUse{ID: "call_f1", Name: "depth_at", Input: `{"buoy":"B7"}`},
		},
		Stop:  upstream.Stop{Reason: content.StopToolUse, Format: Format, RawReason: "completed"},
		Usage: content.Usage{Input: 172, CacheRead: 128, Output: 40, Thinking: 80},
	}},
	{"E21.json", upstream.Response{
		Start: upstream.Start{ID: "resp_02", Model: "gpt-6.1-sol"},
		Parts: []content.Part{redactedPart(`{"type":"reasoning","id":"rs_03","summary":[],"encrypted_content":"gAAA"}`)},
		Stop:  upstream.Stop{Reason: content.StopMaxTokens, Format: Format, RawReason: "max_output_tokens", Details: `{"reason":"max_output_tokens"}`},
		Usage: content.Usage{Input: 20, Thinking: 64},
	}},
	{"E23.json", upstream.Response{
		Start: upstream.Start{ID: "resp_04", Model: "gpt-6.1-sol"},
		Parts: []content.Part{
			&content.ServerToolUse{Format: Format, Kind: "web_search_call", ID: "ws_04", Name: "web_search",
				Input: `{"type":"search","query":"tide Oslo","queries":["tide Oslo"],"sources":[{"type":"url","url":"https://tides.example/oslo"}]}`},
			redactedPart(search4),
			&content.Image{Source: &content.Base64{MediaType: "image/png", Data: "iVBORw0KGgo="},
				Signature: itemSignature(`{"type":"image_generation_call","id":"ig_04"}`)},
			&content.Text{Text: "High tide is at 14:10 (tides.example).", Citations: []content.Citation{tideCitation(22, 37)}},
		},
		Stop:  upstream.Stop{Reason: content.StopEnd, Format: Format, RawReason: "completed"},
		Usage: content.Usage{Input: 2000, Output: 50, Thinking: 10},
	}},
	{"E24.sse", upstream.Response{
		Start: upstream.Start{ID: "resp_10", Model: "gpt-6.2-sol"},
		Parts: []content.Part{
			&content.Thinking{Text: "Need the depth.", Signature: itemSignature(
				`{"type":"reasoning","id":"rs_10","summary":[{"type":"summary_text","text":"Need the depth."}],"encrypted_content":"gAAAfull"}`)},
			textOf("Checking."),
			&content.ToolUse{ID: "call_g1", Name: "depth_at", Input: `{"buoy":"B7"}`},
		},
		Stop:  upstream.Stop{Reason: content.StopToolUse, Format: Format, RawReason: "completed"},
		Usage: content.Usage{Input: 50, Output: 20, Thinking: 20},
	}},
	{"E25.sse", upstream.Response{
		Start: upstream.Start{ID: "resp_11", Model: "gpt-6.1-sol"},
		Parts: []content.Part{
			&content.ServerToolUse{Format: Format, Kind: "web_search_call", ID: "ws_11", Name: "web_search",
				Input: `{"type":"search","query":"tide Oslo","queries":["tide Oslo"]}`},
			redactedPart(search11),
			&content.Text{Text: "High tide is at 14:10.", Citations: []content.Citation{tideCitation(0, 22)}},
		},
		Stop:  upstream.Stop{Reason: content.StopEnd, Format: Format, RawReason: "completed"},
		Usage: content.Usage{Input: 900, Output: 12},
	}},
}

// TestResponsesExamples decodes the documents under testdata.
func TestResponsesExamples(t *testing.T) {
	for _, tt := range responsesExamples {
		t.Run(tt.file, func(t *testing.T) {
			var got *upstream.Response
			var err error
			if text := example(t, tt.file); strings.HasSuffix(tt.file, ".sse") {
				got, err = readResponses(t, strings.NewReader(text))
			} else {
				got, err = completeResponses(t, text)
			}
			if diff := cmp.Diff(&tt.want, got); diff != "" || err != nil {
				t.Errorf("error %v (-want +got):\n%s", err, diff)
			}
		})
	}
}

// TestResponsesStreamIsComplete checks that a stream, its last event alone, and the
// complete response have the same result.
func TestResponsesStreamIsComplete(t *testing.T) {
	stream := example(t, "E24.sse")
	want, err := readResponses(t, strings.NewReader(stream))
	if err != nil {
		t.Fatal(err)
	}
	last := stream[strings.Index(stream, "event: response.completed"):]
	got, err := readResponses(t, strings.NewReader(last))
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("last event: error %v (-want +got):\n%s", err, diff)
	}
	_, doc, _ := strings.Cut(last, `"response":`)
	doc = strings.TrimSuffix(strings.TrimSpace(doc), "}")
	if got, err = completeResponses(t, doc); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("complete (-want +got):\n%s", diff)
	}
}

// TestResponsesFraming sends one response in all framings.
func TestResponsesFraming(t *testing.T) {
	stream := example(t, "E24.sse")
	want, err := readResponses(t, strings.NewReader(stream))
	if err != nil {
		t.Fatal(err)
	}
	untyped := ""
	for _, line := range strings.SplitAfter(stream, "\n") {
		if !strings.HasPrefix(line, "event:") {
			untyped += line
		}
	}
	for name, s := range map[string]string{
		"CRLF":                     strings.ReplaceAll(stream, "\n", "\r\n"),
		"CR":                       strings.ReplaceAll(stream, "\n", "\r"),
		"no names":                 untyped,
		"no blank line at the end": strings.TrimRight(stream, "\n"),
		"[DONE]":                   stream + "data: [DONE]\n\n",
		"[DONE] between events":    strings.Replace(stream, "event: response.completed", "data: [DONE] \n\nevent: response.completed", 1),
		"comments":                 ": hello\n\n" + strings.ReplaceAll(stream, "\n\n", "\n\n: keep-alive\n\n"),
		"no spaces":                strings.ReplaceAll(stream, "data: ", "data:"),
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

// TestResponsesCut cuts a stream at every byte. The rest never looks complete.
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

// stopCases are texts in chunks, and the text before the stop sequence.
var stopCases = []struct {
	name   string
	pieces []string
	stops  []string
	parts  []content.Part
	stop   string
}{
	{"one chunk", []string{"a STOP b"}, []string{"STOP"}, partsOf(textOf("a ")), "STOP"},
	{"two chunks", []string{"a ST", "OP b"}, []string{"STOP"}, partsOf(textOf("a ")), "STOP"},
	{"many chunks", []string{"a ", "S", "T", "O", "P", " b"}, []string{"STOP"}, partsOf(textOf("a ")), "STOP"},
	{"false beginning", []string{"a ST", "ART"}, []string{"STOP"}, partsOf(textOf("a START")), ""},
	{"beginning at end", []string{"a STO"}, []string{"STOP"}, partsOf(textOf("a STO")), ""},
	{"repeated beginning", []string{"aab", "aabaac"}, []string{"aabaac"}, partsOf(textOf("aab")), "aabaac"},
	{"first of two", []string{"one two"}, []string{"two", "one"}, nil, "one"},
	{"none", []string{"a"}, []string{""}, partsOf(textOf("a")), ""},
	{"not in later part", []string{"a", "STOP", "b"}, []string{"STOP"}, partsOf(textOf("a")), "STOP"},
}

// TestResponsesStops checks stop sequences that are split at any place.
func TestResponsesStops(t *testing.T) {
	for _, tt := range stopCases {
		t.Run(tt.name, func(t *testing.T) {
			want := content.StopEnd
			if tt.stop != "" {
				want = content.StopSequence
			}
			check := func(form string, r *upstream.Response, err error) {
				if err != nil {
					t.Fatalf("%s: %v", form, err)
				}
				got := slices.DeleteFunc(r.Parts, func(p content.Part) bool { x, ok := p.(*content.Text); return ok && x.Text == "" })
				if diff := cmp.Diff(tt.parts, append([]content.Part(nil), got...)); diff != "" || r.Stop.Reason != want || r.Stop.Sequence != tt.stop {
					t.Errorf("%s: %s %q (-want +got):\n%s", form, r.Stop.Reason, r.Stop.Sequence, diff)
				}
			}
			list := []string{resCreated, resAddMsg}
			for _, s := range tt.pieces {
				list = append(list, strings.Replace(resHi, `"hi"`, `"`+s+`"`, 1))
			}
			r, err := readResponses(t, strings.NewReader(events(append(list, resEnd)...)), tt.stops...)
			check("stream", r, err)

			const call = `{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}`
			r, err = completeResponses(t, `{"status":"completed","usage":{"input_tokens":3,"output_tokens":4},"output":[{"type":"message","content":[{"type":"output_text","text":"`+
				strings.Join(tt.pieces, "")+`"}]},`+call+`]}`, tt.stops...)
			if err == nil && r.Usage.Output != 4 {
				t.Errorf("usage %+v", r.Usage)
			}
			if err == nil && tt.stop == "" { // including the tool call after the text
				if n := len(r.Parts) - 1; r.Stop.Reason != content.StopToolUse || n < 0 || !cmp.Equal(r.Parts[n], content.Part(useOf("c", "f", "{}"))) {
					t.Errorf("%s with %v", r.Stop.Reason, r.Parts)
				} else {
					r.Parts, r.Stop.Reason = r.Parts[:n], content.StopEnd
				}
			}
			check("whole", r, err)
		})
	}
}

// TestReadDeltaFast checks that fast decoding has the same result.
func TestReadDeltaFast(t *testing.T) {
	for _, s := range []string{example(t, "E24.sse"), example(t, "E25.sse"), responsesStream(3, resAddMsg, resTextDelta), responsesStream(3, resAddCall, resInputDelta), responsesStream(3, resCreated, resSlowDelta)} {
		want, err := readResponses(t, strings.NewReader(strings.ReplaceAll(s, `{"type":"response.`, `{ "type":"response.`)))
		if err != nil {
			t.Fatal(err)
		}
		got, err := readResponses(t, strings.NewReader(s))
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	}
	for data, want := range map[string]bool{
		resTextDelta: true,
		strings.Replace(resTextDelta, `\n`, `\"\\\\`, 1):                           true,
		strings.Replace(resTextDelta, `"logprobs":[]`, `"logprobs":[1]`, 1):        false,
		strings.Replace(resTextDelta, `"logprobs":[]`, `"delta":"x"`, 1):           false,
		strings.Replace(resTextDelta, `"logprobs":[]`, `"x":1`, 1):                 false,
		strings.Replace(resTextDelta, `\n`, `\x`, 1):                               false,
		strings.Replace(resTextDelta, `"output_index":0`, `"output_index":1`, 1):   false,
		strings.Replace(resTextDelta, `"output_index":0`, `"output_index":01`, 1):  false,
		strings.Replace(resTextDelta, `"content_index":0`, `"content_index":1`, 1): false,
		strings.Replace(resTextDelta, `"xY2k"`, `"x\u0000"`, 1):                    false,
		strings.TrimSuffix(resTextDelta, "}"):                                      false,
		resTextDelta + " ":                                                         false,
		strings.Replace(resTextDelta, `,"delta":" word and\n more"`, ``, 1):        false,
		strings.Replace(resTextDelta, `" word and\n more"`, `" word`, 1):           false,
	} {
		var d responseDecoder
		d.init(content.Limits{})
		d.items = []decodedItem{{kind: decodedMessage, index: 0, part: 0, block: 0, size: 1, sum: digestSeed}}
		if got := d.readDeltaFast(data); got != want {
			t.Errorf("quick(%s) = %v", data, got)
		}
	}
}

// responsesEvents decodes a stream to its end.
func responsesEvents(src io.Reader) (list []upstream.Event, err error) {
	r := NewStreamReader(src, nil)
	r.newID = func() string { return "made" }
	for {
		f, err := r.Next()
		if err != nil {
			return list, err
		}
		list = append(list, f.Events...)
	}
}

func FuzzResponsesReader(f *testing.F) {
	for _, name := range []string{"E24.sse", "E25.sse", "E26.sse"} {
		f.Add(example(f, name), 7)
	}
	f.Add(events(resCreated, resAddMsg, resHi, resAddCall, resArg, resArgs, resCallDone, thinkingDelta("hm"), resMsgDone, resEnd), 3)
	f.Add(events(another(resAddCall), resAddCall, another(resArg), resArgsDone, completedWith(`{"type":"image_generation_call","id":"i","result":"AAAA"}`)), 1)
	for _, s := range formattest.RecordedSeeds(f, "openai-responses", (*formattest.Record).Stream) {
		f.Add(s, 15)
	}
	f.Fuzz(func(t *testing.T, stream string, size int) {
		want, wantErr := responsesEvents(strings.NewReader(stream))
		for name, src := range map[string]io.Reader{
			"bytes":  iotest.OneByteReader(strings.NewReader(stream)),
			"pieces": formattest.Pieces(strings.NewReader(stream), size&63+1),
		} {
			got, err := responsesEvents(src)
			if diff := cmp.Diff(want, got); diff != "" || wantErr.Error() != err.Error() {
				t.Fatalf("%s: error %v, want %v; events (-want +got):\n%s", name, err, wantErr, diff)
			}
		}
		var failed *upstream.Error
		if wantErr != io.EOF && !errors.As(wantErr, &failed) {
			t.Fatalf("got an error of type %T", wantErr)
		}
		formattest.CheckFrames(t, NewStreamReader(strings.NewReader(stream), nil), nil, nil)
	})
}

func FuzzResponsesReply(f *testing.F) {
	for _, name := range []string{"E20.json", "E21.json", "E22.json", "E23.json"} {
		f.Add(example(f, name))
	}
	for _, s := range formattest.RecordedSeeds(f, "openai-responses", (*formattest.Record).Whole) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		frame, err := DecodeFrame(text, content.Limits{}, DecodeOptions{Verbatim: true})
		formattest.CheckWhole(t, frame, err)
	})
}
