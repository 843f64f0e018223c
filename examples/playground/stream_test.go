package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/polywire/polywire/examples/internal/format"
	"github.com/polywire/polywire/upstream"
)

// recording returns a recorded stream or response of examples/translate.
func recording(t testing.TB, kind, format, extension string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "translate", "testdata", kind, format+extension))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The steps of a stream are its events, and their outputs together are the whole output.
func TestStream(t *testing.T) {
	for _, f := range format.All {
		t.Run(f.Name, func(t *testing.T) {
			text := recording(t, "stream", f.Name, ".txt")
			var r streamResult
			answer(t, "/api/stream", taskBody(t, f.Name, text, "messages", "generatecontent"), &r)
			if r.Error != "" || len(r.End) != 2 {
				t.Fatalf("got %+v", r)
			}
			at, events := 0, 0
			outputs := make([]strings.Builder, 2)
			for i, st := range r.Steps {
				if st.From != at || st.To <= st.From {
					t.Fatalf("step %d does not begin at %d: %+v", i, at, st)
				}
				at = st.To
				if n := strings.Count(text[st.From:st.To], "data:"); n != 1 {
					t.Errorf("step %d has %d events: %s", i, n, text[st.From:st.To])
				}
				events += len(st.Events)
				for k, piece := range st.Outputs {
					outputs[k].WriteString(piece)
				}
			}
			if at != len(text) || events == 0 {
				t.Errorf("%d of %d bytes, %d events", at, len(text), events)
			}
			for k, to := range []string{"messages", "generatecontent"} {
				if got, want := outputs[k].String()+r.End[k], translated(t, f, text, to); got != want {
					t.Errorf("%s: got\n%s\nwant\n%s", to, got, want)
				}
			}
		})
	}
}

// translated returns a stream as one writer writes it.
func translated(t *testing.T, f *format.Format, text, to string) string {
	var b strings.Builder
	req := format.ByName(to).AnyRequest("")
	w := format.ByName(to).Client.NewStreamWriter(&b, req)
	if err := w.End(upstream.Run(t.Context(), upstream.Replay(f.NewStreamReader(strings.NewReader(text))), req, w)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The neutral events and the output of an event of the vendor are in its step.
func TestStreamSteps(t *testing.T) {
	text := recording(t, "stream", "openai", ".txt")
	var r streamResult
	answer(t, "/api/stream", taskBody(t, "openai", text, "messages"), &r)
	for _, st := range r.Steps {
		in := text[st.From:st.To]
		for _, piece := range []string{"Look it ", "up.", "Check", "ing."} {
			if got := fmt.Sprint(st.Events, st.Outputs); strings.Contains(in, `"`+piece+`"`) != strings.Contains(got, piece) {
				t.Errorf("%s\nhas %s", in, got)
			}
		}
	}
}

// A loss of a stream is at the step of its event, once for each target that has it. Those of
// decoding belong to no target.
func TestStreamLosses(t *testing.T) {
	first := `data: {"candidates":[{"content":{"parts":[{"text":"Hi \ud800."}]}}]}` + "\r\n\r\n"
	image := `data: {"candidates":[{"content":{"parts":[{"inlineData":{"mimeType":"image/png","data":"` + pixel + `"}}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":4}}` + "\r\n\r\n"
	var r streamResult
	answer(t, "/api/stream", taskBody(t, "generatecontent", first+image, "generatecontent", "messages"), &r)
	if len(r.Steps) != 2 || len(r.Steps[0].Losses) != 1 || len(r.Steps[1].Losses) != 1 {
		t.Fatalf("got %+v, %+v", r.Steps[0], r.Steps[len(r.Steps)-1])
	}
	if l := r.Steps[0].Losses[0]; l.Target != -1 || l.Input == nil || l.Input.From != 0 {
		t.Errorf("loss of decoding: got %+v", l)
	}
	if l := r.Steps[1].Losses[0]; l.Target != 1 || l.Severity != "dropped" || l.Path != "content.1" || l.Neutral != "parts.1" || l.Input == nil || l.Input.From != len(first) {
		t.Errorf("loss of a target: got %+v", l)
	}
}

func TestBrokenStreams(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"empty", "", "EOF"},
		{"white space", "\n\n\n", "EOF"},
		{"not a stream", `{"a":1}`, "empty"},
		{"cut off", `data: {"choices":[{"index":0,"delta":{"content":"Hi"}}]}` + "\n\n", "EOF"},
		{"invalid event", "data: {\n\n", "line 1"},
		{"error of the vendor", `data: {"error":{"message":"later","type":"server_error"}}` + "\n\n", "later"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var r streamResult
			answer(t, "/api/stream", taskBody(t, "openai", tt.text, "messages"), &r)
			if !strings.Contains(r.Error, tt.want) || len(r.End) != 1 || !strings.Contains(r.End[0], "event: error") {
				t.Errorf("want an error with %q, got %+v", tt.want, r)
			}
		})
	}
}

func TestEventLen(t *testing.T) {
	tests := []struct {
		text string
		want []string
	}{
		{"data: 1\n\ndata: 2\n\n", []string{"data: 1\n\n", "data: 2\n\n"}},
		{"data: 1\r\n\r\ndata: 2", []string{"data: 1\r\n\r\n", "data: 2"}},
		{"data: 1\r\rdata: 2\r\r", []string{"data: 1\r\r", "data: 2\r\r"}},
		{"\n\nevent: a\ndata: 1\n\n\n\n: comment\n\n", []string{"\n\nevent: a\ndata: 1\n\n\n\n", ": comment\n\n"}},
		{"\n", []string{"\n"}},
	}
	for _, tt := range tests {
		var got []string
		for text := tt.text; text != ""; {
			n := eventLen(text)
			got = append(got, text[:n])
			text = text[n:]
		}
		if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", tt.want) {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

// A stream of too many events is refused.
func TestManySteps(t *testing.T) {
	w := call(t, newHandler(true), "/api/stream", taskBody(t, "openai", strings.Repeat("data: 1\n\n", maxSteps+1)))
	if w.Code != 400 || !strings.Contains(w.Body.String(), "more than 10000 events") {
		t.Errorf("status %d: %s", w.Code, w.Body)
	}
}
