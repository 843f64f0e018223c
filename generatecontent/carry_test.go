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
	"github.com/polywire/polywire/upstream"
)

const other = content.Format("messages")

func otherSign(data string) content.Signature { return content.Signature{Format: other, Data: data} }

// TestCarriedBytes checks the bytes of a stream with carried state.
func TestCarriedBytes(t *testing.T) {
	stream, _ := drive(t, inEvents, func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		_ = w.Thinking("Hm")
		_ = w.Signature(otherSign("s1"))
		_ = w.Text("Hi")
		_ = w.Part(&content.ToolUse{ID: "a", Name: "f", Input: `{}`})
		_ = w.Part(&content.ToolUse{ID: "b", Name: "f", Input: `{}`})
		_ = w.Part(&content.Thinking{Redacted: otherSign("s2")})
		return w.Text("é")
	})
	sealed := func(data string) string {
		s, _ := envelope.EncodeBase64(other, envelope.KindThinking, data)
		return s
	}
	piece := func(parts, stop string) string {
		return `data: {"candidates":[{"content":{"role":"model","parts":[` + parts + `]}` + stop + `,"index":0}],"modelVersion":"asked","responseId":"r-1"}` + "\r\n\r\n"
	}
	want := piece(`{"text":"H","thought":true}`, "") + piece(`{"text":"m","thought":true}`, "") + piece(`{"text":"H"}`, "") + piece(`{"text":"i"}`, "") +
		piece(`{"functionCall":{"id":"a","name":"f","args":{}},"thoughtSignature":"`+sealed(`[{"text":"Hm","signature":"s1"}]`)+`"}`, "") +
		piece(`{"functionCall":{"id":"b","name":"f","args":{}}}`, "") +
		piece(`{"text":"é","thoughtSignature":"`+sealed(`[{"redacted":"s2"}]`)+`"}`, `,"finishReason":"STOP"`)
	if diff := cmp.Diff(want, stream); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestUnsignedCalls checks that the first call of a response is signed if clients expect a
// signature because of the model's name, and that such a signature is removed when it is
// returned.
func TestUnsignedCalls(t *testing.T) {
	for model, signs := range map[string]bool{
		"gemini-3-pro-preview": true, "gemini-3.1-flash": true, "Gemini-10-pro": true, "google/gemini-3-flash": true, "gemini-flash-latest": true,
		"gemini-2.5-pro": false, "gemini-pro": false, "gpt-6.2": false, "my-gemini-3": false,
	} {
		for _, method := range []string{"generateContent", "streamGenerateContent?alt=sse", "streamGenerateContent"} {
			for _, vendor := range []content.Format{"openai-chat", Format} {
				var asked *upstream.Request
				h := NewHandler(upstream.Func(func(_ context.Context, r *upstream.Request, w *upstream.Writer) error {
					asked = r
					for _, id := range []string{"a", "b"} {
						events := []upstream.Event{{Kind: upstream.EventOpen, Part: &content.ToolUse{ID: id, Name: "f", Input: "{}"}}, {Kind: upstream.EventClose}}
						if err := w.Frame(&upstream.Frame{Format: vendor, Events: events}); err != nil {
							return err
						}
					}
					return w.Stop(upstream.Stop{Reason: content.StopToolUse, Format: vendor, RawReason: "STOP"})
				}), nil)
				ask := func(body string) string {
					w := httptest.NewRecorder()
					r := httptest.NewRequest("POST", "/v1beta/models/"+model+":"+method, strings.NewReader(body))
					r.Header.Set("Content-Type", "application/json")
					h.ServeHTTP(w, r)
					if w.Code != 200 {
						t.Fatalf("%d %s", w.Code, w.Body)
					}
					return w.Body.String()
				}
				const tools = `"tools":[{"functionDeclarations":[{"name":"f"}]}],`
				got := ask(`{` + tools + `"contents":[{"role":"user","parts":[{"text":"a"}]}]}`)
				want := 0
				if signs && vendor != Format {
					want = 1
				}
				first, _, _ := strings.Cut(got, `"id":"b"`)
				if strings.Count(got, "thoughtSignature") != want || strings.Count(first, `"thoughtSignature":"`+envelope.UnsignedBase64+`"`) != want {
					t.Errorf("%s %s over %s: %s", model, method, vendor, got)
				}
				ask(fmt.Sprintf(`{%s"contents":[{"role":"user","parts":[{"text":"a"}]},{"role":"model","parts":[{"functionCall":{"id":"a","name":"f"},"thoughtSignature":%q}]},`+
					`{"role":"user","parts":[{"functionResponse":{"id":"a","name":"f","response":{}}}]}]}`, tools, envelope.UnsignedBase64))
				if sig := asked.Turns[1].Parts[0].(*content.ToolUse).Signature; sig != (content.Signature{}) {
					t.Errorf("the signature came back as %v", sig)
				}
			}
		}
	}
}

// TestCarriedMemory checks that the memory for thinking is limited.
func TestCarriedMemory(t *testing.T) {
	s := newStream(inEvents, "r-1", "m")
	var out []byte
	text := strings.Repeat("x", 1<<10)
	for n := range 20_000 {
		out = s.Events(out[:0], []upstream.Event{{Kind: upstream.EventOpen, Block: n, Part: &content.Thinking{}}})
		out = s.Events(out[:0], []upstream.Event{{Kind: upstream.EventText, Block: n, Text: text}})
		out = s.Events(out[:0], []upstream.Event{{Kind: upstream.EventClose, Block: n}})
		if k, _ := s.blocks.Candidates[0].State.Size(); k > 9 {
			t.Fatalf("%d thoughts are kept", k)
		}
	}
	if s.blocks.Room < envelope.MaxSize-16<<10 {
		t.Errorf("there is room for %d bytes more", s.blocks.Room)
	}
}

// TestSignedMemory checks that the memory for signed thinking is limited if no call
// carries it, and that the limit is reported.
func TestSignedMemory(t *testing.T) {
	for size, many := range map[int]int{1: 20_000, 1 << 10: 10_000, 1 << 20: 20} {
		for _, p := range []*content.Thinking{
			{Signature: otherSign(strings.Repeat("s", size))},
			{Redacted: otherSign(strings.Repeat("s", size))},
		} {
			s := newStream(inEvents, "r-1", "m")
			var out []byte
			for n := range many {
				out = s.Events(out[:0], []upstream.Event{
					{Kind: upstream.EventOpen, Block: n, Part: &content.Thinking{Redacted: p.Redacted, Extra: p.Extra}},
					{Kind: upstream.EventText, Block: n, Text: "t"},
					{Kind: upstream.EventSignature, Block: n, Signature: &p.Signature},
					{Kind: upstream.EventClose, Block: n}})
				if n%500 != 0 && many > 20 {
					continue
				}
				if _, kept := s.blocks.Candidates[0].State.Size(); kept > envelope.MaxSize+size || s.blocks.Room < 0 || s.blocks.Room > envelope.MaxSize {
					t.Fatalf("%d thoughts of %d bytes: %d bytes are kept, with room for %d more", n, size, kept, s.blocks.Room)
				}
			}
			_ = s.Losses()
			_ = s.Events(out[:0], []upstream.Event{
				{Kind: upstream.EventOpen, Block: many, Part: &content.ToolUse{ID: "c", Name: "f", Input: "{}"}},
				{Kind: upstream.EventClose, Block: many}})
			lost := s.Losses()
			if !slices.ContainsFunc(lost, func(l content.Loss) bool { return l.Reason == envelope.TooLarge.Reason }) {
				t.Errorf("thoughts of %d bytes: %v", size, lost)
			}
			if s.blocks.Room != envelope.MaxSize || s.blocks.Candidates[0].State.NeedsCarrier() {
				t.Errorf("thoughts of %d bytes: room for %d bytes behind the call", size, s.blocks.Room)
			}
		}
	}
}
