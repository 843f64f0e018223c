package generatecontent

import (
	"context"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/test/lossplaces"
	"github.com/polywire/polywire/upstream"
)

// TestThoughts checks that clients receive thought parts only if they asked for them, and the
// state of omitted thinking all the same.
func TestThoughts(t *testing.T) {
	thinks := func(parts ...content.Part) upstream.Func {
		return func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
			for _, p := range parts {
				_ = w.Part(p)
			}
			return w.Usage(content.Usage{Input: 1, Output: 2, Thinking: 3})
		}
	}
	state := func(json string) string {
		s, _ := envelope.EncodeBase64(other, envelope.KindThinking, json)
		return `"thoughtSignature":"` + s + `"`
	}
	const (
		hidden  = "hint parts.0: the request did not ask for thinking; it was omitted"
		unknown = "degraded parts.0: the request did not ask for thinking, and no unsigned text or tool call follows that could carry its signature; the signature was dropped"
		thought = `{"text":"H","thought":true}`
		signedH = `{"text":"H","thought":true,"thoughtSignature":"AAAA"}`
		text    = `{"text":"4"}`
		call    = `{"functionCall":{"id":"a","name":"f","args":{}}`
	)
	unsigned, signed := &content.Thinking{Text: "H"}, &content.Thinking{Text: "H", Signature: otherSign("s")}
	own := &content.Thinking{Text: "H", Signature: content.Signature{Format: Format, Data: "AAAA"}}
	next := &content.Thinking{Text: "H", Signature: content.Signature{Format: Format, Data: "BBBB"}}
	redacted := &content.Thinking{Redacted: otherSign("r")}
	four, f := &content.Text{Text: "4"}, &content.ToolUse{ID: "a", Name: "f", Input: "{}"}
	stateOfText := `"thoughtSignature":"` + toResponseSignature(otherSign("t"), nil).Data + `"`
	for _, tt := range []struct {
		name   string
		up     upstream.Func
		asked  string   // parts for a client that asked
		silent string   // for one that did not
		lost   []string // of it
	}{
		{"unsigned", thinks(unsigned, four), thought + "," + text, text, []string{hidden}},
		{"unsigned before a call", thinks(unsigned, f), thought + "," + call + "}", call + "}", []string{hidden}},
		{"only thinking", thinks(unsigned), thought, "", []string{hidden}},
		{"signed before a call", thinks(signed, f), thought + "," + call + `,` + state(`[{"text":"H","signature":"s"}]`) + "}",
			call + "," + state(`[{"text":"H","signature":"s"}]`) + "}", nil},
		{"signed before a text", thinks(signed, four), thought + `,{"text":"4",` + state(`[{"text":"H","signature":"s"}]`) + "}",
			`{"text":"4",` + state(`[{"text":"H","signature":"s"}]`) + "}", nil},
		{"redacted", thinks(redacted, f), call + `,` + state(`[{"redacted":"r"}]`) + "}", call + `,` + state(`[{"redacted":"r"}]`) + "}", nil},
		{"signature of this format", thinks(own, four), signedH + "," + text, `{"text":"4","thoughtSignature":"AAAA"}`, []string{hidden}},
		{"before a call", thinks(own, f), signedH + "," + call + "}", call + `,"thoughtSignature":"AAAA"}`, []string{hidden}},
		{"before two parts", thinks(own, four, f), signedH + "," + text + "," + call + "}",
			`{"text":"4","thoughtSignature":"AAAA"},` + call + "}", []string{hidden}},
		{"before a signed text", thinks(own, &content.Text{Text: "4", Signature: otherSign("t")}),
			signedH + `,{"text":"4",` + stateOfText + "}", `{"text":"4",` + stateOfText + "}", []string{hidden, unknown}},
		{"before nothing", thinks(own), signedH, "", []string{hidden, unknown}},
		{"before other thinking", thinks(own, next, four), signedH + "," + strings.Replace(signedH, "AAAA", "BBBB", 1) + "," + text,
			`{"text":"4","thoughtSignature":"BBBB"}`, []string{hidden, strings.Replace(hidden, "0", "1", 1), unknown}},
		{"signed text", thinks(unsigned, &content.Text{Text: "4", Signature: otherSign("t")}), thought + `,{"text":"4",` + stateOfText + "}",
			`{"text":"4",` + stateOfText + "}", []string{hidden}},
	} {
		for config, asks := range map[string]bool{
			``: false, `,"generationConfig":{"thinkingConfig":{"thinkingBudget":99}}`: false,
			`,"generationConfig":{"thinkingConfig":{"includeThoughts":false}}`: false,
			`,"generationConfig":{"thinkingConfig":{"includeThoughts":true}}`:  true,
		} {
			for _, path := range []string{plainPath, eventsPath, arrayPath} {
				want := tt.silent
				if asks {
					want = tt.asked
				}
				if want == "" && path != plainPath {
					want = `{"text":""}` // every chunk has parts
				}
				name := fmt.Sprintf("%s, %s, %s", tt.name, config, path)
				var lost []string
				h := NewHandler(tt.up, &Options{HandlerOptions: upstream.HandlerOptions{OnLoss: func(_ context.Context, list []content.Loss) {
					for _, l := range lossplaces.Of(list) {
						lost = append(lost, fmt.Sprintf("%s %s: %s", l.Severity, l.Path, l.Reason))
					}
				}}})
				rec := httptest.NewRecorder()
				h.ServeHTTP(rec, post(path, `{"contents":[{"role":"user","parts":[{"text":"Hi"}]}]`+config+`}`))
				if got := partsOf(rec.Body.String()); got != want {
					t.Errorf("%s:\ngot  %s\nwant %s", name, got, want)
				}
				if !strings.Contains(rec.Body.String(), `"thoughtsTokenCount":3`) {
					t.Errorf("%s: the tokens of thinking are missing: %s", name, rec.Body)
				}
				expected := tt.lost
				if asks {
					expected = nil
				}
				slices.Sort(lost)
				slices.Sort(expected)
				if diff := cmp.Diff(expected, lost); diff != "" {
					t.Errorf("%s (-want +got):\n%s", name, diff)
				}
			}
		}
	}
}

// partsOf returns the parts of a response, in order, as they are written.
func partsOf(body string) string {
	var list []string
	for rest := body; ; {
		_, after, ok := strings.Cut(rest, `"parts":[`)
		if !ok {
			return strings.Join(list, ",")
		}
		var part string
		part, rest, _ = strings.Cut(after, "]")
		list = append(list, part)
	}
}

// TestOwnThoughts checks that the thinking of a server of this format passes: the server
// decides what it sends.
func TestOwnThoughts(t *testing.T) {
	const data = `{"candidates":[{"index":0,"content":{"parts":[{"text":"Hm","thought":true}]}}],"responseId":"r"}`
	s := newStream(inEvents, "r", "m")
	s.blocks.hideThinking = true
	events := []upstream.Event{
		{Kind: upstream.EventStart, Start: &upstream.Start{ID: "r"}},
		{Kind: upstream.EventOpen, Part: new(content.Thinking)}, {Kind: upstream.EventText, Text: "Hm"},
	}
	events[0].Frame = &upstream.Frame{Format: Format, Data: data, Events: events}
	if got := string(s.Events(nil, events)); got != "data: "+data+"\r\n\r\n" {
		t.Errorf("got %s", got)
	}
	got := string(s.Events(nil, []upstream.Event{{Kind: upstream.EventText, Text: "!?"}})) // of middleware
	if !strings.Contains(got, `{"text":"!","thought":true}`) {
		t.Errorf("got %s", got)
	}
}

// TestChunkUsage checks that every chunk has usageMetadata: an estimate of the prompt until the
// upstream reports usage.
func TestChunkUsage(t *testing.T) {
	const body = `{"contents":[{"role":"user","parts":[{"text":"How many?"}]}]}`
	req, _, err := DecodeRequest([]byte(body), nil)
	if err != nil {
		t.Fatal(err)
	}
	estimate := fmt.Sprintf(`{"promptTokenCount":%[1]d,"totalTokenCount":%[1]d}`, upstream.EstimateTokens(req))
	const counts = `{"promptTokenCount":70,"candidatesTokenCount":5,"totalTokenCount":75}`
	usage := content.Usage{Input: 70, Output: 5}
	for _, tt := range []struct {
		name string
		up   upstream.Func
		want []string // of each chunk
	}{
		{"no usage", func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
			_ = w.Text("a")
			return w.Text("bc")
		}, []string{estimate, estimate}},
		{"at the end", func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
			_ = w.Text("ab")
			return w.Usage(usage)
		}, []string{estimate, counts}},
		{"at the start", func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
			_ = w.Usage(usage)
			return w.Text("ab")
		}, []string{counts, counts}},
		{"zero", func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
			_ = w.Text("ab")
			return w.Usage(content.Usage{})
		}, []string{estimate, `{"promptTokenCount":0,"totalTokenCount":0}`}},
		{"no content", func(context.Context, *upstream.Request, *upstream.Writer) error { return nil }, []string{estimate}},
		{"stop with the last part", func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
			return w.Send([]upstream.Event{{Kind: upstream.EventOpen, Part: &content.Text{Text: "ab"}},
				{Kind: upstream.EventStop, Stop: &upstream.Stop{Reason: content.StopEnd}}})
		}, []string{estimate, estimate}},
	} {
		for _, f := range []framing{inEvents, inArray, inLines} {
			var out strings.Builder
			w := newStreamWriter(&out, f, req)
			if err := w.End(upstream.Run(t.Context(), tt.up, req, w)); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, chunk := range strings.Split(out.String(), `"candidates":`)[1:] {
				_, after, _ := strings.Cut(chunk, `"usageMetadata":`)
				u, _, _ := strings.Cut(after, "}")
				got = append(got, u+"}")
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s\n%s", tt.name, diff, out.String())
			}
		}
	}
}
