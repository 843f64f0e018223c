package generatecontent

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/upstream"
)

// TestLockstep checks that the handler sends everything as soon as possible: the upstream
// continues only after the client has read what it wrote before. The last character of a text,
// and other parts, are sent when the next part begins.
func TestLockstep(t *testing.T) {
	steps := []struct {
		write func(w *upstream.Writer) error
		want  string
	}{
		{func(w *upstream.Writer) error { return w.Thinking("hm") }, `{"text":"h","thought":true}`},
		{func(w *upstream.Writer) error { return w.Text("a") }, `{"text":"m","thought":true}`},
		{func(w *upstream.Writer) error { return w.Text("b") }, `{"text":"a"}`},
		{func(w *upstream.Writer) error { return w.Text("cde") }, `{"text":"bcd"}`},
		{func(w *upstream.Writer) error {
			return w.Part(&content.ToolUse{ID: "1", Name: "f", Input: "{}"})
		}, `{"text":"e"}`},
		{func(w *upstream.Writer) error {
			_ = w.ToolCall("2", "g").Close()
			return w.Part(&content.ToolUse{ID: "3", Name: "h", Input: "{}"})
		}, `"name":"f"`},
		{func(w *upstream.Writer) error {
			return w.Part(&content.Image{Source: &content.Base64{MediaType: "image/png", Data: png}})
		}, `"name":"h"`},
		{func(w *upstream.Writer) error { return w.Text("c") }, `"inlineData"`},
	}
	for _, path := range []string{eventsPath, arrayPath} {
		read := make(chan bool)
		up := upstream.Func(func(ctx context.Context, _ *upstream.Request, w *upstream.Writer) error {
			for _, s := range steps {
				if err := s.write(w); err != nil {
					return err
				}
				select {
				case <-read:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			return nil
		})
		inBubble(t, up, Options{}, func(t *testing.T, p *pipeServer) {
			start := time.Now()
			res := p.send(t.Context(), t, path, asksForThoughts)
			defer res.Body.Close()
			buf := make([]byte, 4096)
			for _, s := range steps {
				n, err := res.Body.Read(buf)
				if err != nil || !strings.Contains(string(buf[:n]), s.want) {
					t.Fatalf("%v, %q; want %s", err, buf[:n], s.want)
				}
				read <- true
			}
			formattest.Took(t, "everything", time.Since(start), 0, 0)
			if rest := joinedReads(reads(t, res, start)); !strings.Contains(rest, `{"text":"c"}]},"finishReason":"STOP"`) {
				t.Errorf("the end is %q", rest)
			}
		})
	}
}
