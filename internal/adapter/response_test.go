package adapter_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/adapter"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
)

// A piece is one text of a stream, and whether the next one is ready.
type piece struct {
	text string
	more bool
	wait time.Duration // before it comes
}

// A script is a stream of texts, each in its own block.
type script struct {
	pieces []piece
	at     int
	err    error // at the end
}

func (s *script) Next() (*upstream.Frame, error) {
	if s.at == len(s.pieces) {
		return nil, s.err
	}
	p := s.pieces[s.at]
	s.at++
	time.Sleep(p.wait)
	return &upstream.Frame{Events: []upstream.Event{
		{Kind: upstream.EventOpen, Block: s.at, Part: &content.Text{}},
		{Kind: upstream.EventText, Block: s.at, Text: p.text},
		{Kind: upstream.EventClose, Block: s.at},
	}}, nil
}

func (s *script) Buffered() bool { return s.pieces[s.at-1].more }

// flushes records what was written up to each flush.
type flushes struct {
	*httptest.ResponseRecorder
	written []string
	from    int
}

func (f *flushes) Flush() {
	f.written = append(f.written, f.Body.String()[f.from:])
	f.from = f.Body.Len()
}

// relayed relays a stream through a handler and returns the flushed parts.
func relayed(t *testing.T, s *script) []string {
	t.Helper()
	up := upstream.Func(func(ctx context.Context, _ *upstream.Request, w *upstream.Writer) error {
		if err := w.Text("begin"); err != nil {
			return err
		}
		return adapter.Relay(ctx, w, s, adapter.StartInfo{}, nil)
	})
	r := httptest.NewRequest(http.MethodPost, "/v1/messages",
		strings.NewReader(`{"model":"m","max_tokens":9,"stream":true,"messages":[{"role":"user","content":"hi"}]}`))
	r.Header.Set("Anthropic-Version", "2023-06-01")
	w := &flushes{ResponseRecorder: httptest.NewRecorder()}
	messages.NewHandler(up, nil).ServeHTTP(w, r)
	var list []string
	for _, s := range w.written {
		var words []string
		for word := range strings.SplitSeq(s, `"text":"`) {
			if text, _, ok := strings.Cut(word, `"}`); ok && len(text) == 1 {
				words = append(words, text)
			}
		}
		list = append(list, strings.Join(words, ""))
	}
	return list[1:] // without the beginning; a normal end has two events
}

// TestRelayMore checks that frames that arrive together are flushed together, and
// that nothing waits longer.
func TestRelayMore(t *testing.T) {
	tests := []struct {
		name   string
		pieces []piece
		err    error
		want   []string
	}{
		{"single frames", []piece{{"a", false, 0}, {"b", false, 0}}, io.EOF, []string{"a", "b", "", ""}},
		{"together", []piece{{"a", true, 0}, {"b", true, 0}, {"c", false, 0}, {"d", true, 0}}, io.EOF, []string{"abc", "d", ""}},
		{"end", []piece{{"a", true, 0}}, io.EOF, []string{"a", ""}},
		{"failure", []piece{{"a", true, 0}}, io.ErrUnexpectedEOF, []string{"a"}},
		{"announced frame that does not come", []piece{{"a", true, 0}, {"b", false, time.Minute}}, io.EOF, []string{"a", "", "", "", "b", "", ""}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				got := relayed(t, &script{pieces: test.pieces, err: test.err})
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Errorf("flushed (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// frames is a stream of ready frames.
type frames [][]upstream.Event

func (f *frames) Next() (*upstream.Frame, error) {
	if len(*f) == 0 {
		return nil, io.EOF
	}
	events := (*f)[0]
	*f = (*f)[1:]
	return &upstream.Frame{Events: events}, nil
}

func (f *frames) Buffered() bool { return false }

// TestRelayStart checks that the start of a response has the server's name and
// id, wherever it is in the stream, and that a start is added to a response
// without one.
func TestRelayStart(t *testing.T) {
	loss := upstream.Event{Kind: upstream.EventLoss, Loss: &content.Loss{Path: "p", Severity: content.LossHint}}
	start := func() upstream.Event {
		return upstream.Event{Kind: upstream.EventStart, Start: &upstream.Start{Model: "m"}}
	}
	text := []upstream.Event{
		{Kind: upstream.EventOpen, Part: &content.Text{}}, {Kind: upstream.EventText, Text: "t"}, {Kind: upstream.EventClose},
	}
	for name, tt := range map[string]struct {
		from frames
		want upstream.Start
	}{
		"first":              {frames{{start()}, text}, upstream.Start{Model: "m", Upstream: "acme", UpstreamID: "i"}},
		"behind a ping":      {frames{nil, {start()}, text}, upstream.Start{Model: "m", Upstream: "acme", UpstreamID: "i"}},
		"behind a loss":      {frames{{loss}, {start()}, text}, upstream.Start{Model: "m", Upstream: "acme", UpstreamID: "i"}},
		"none":               {frames{nil, {loss}, text}, upstream.Start{Upstream: "acme", UpstreamID: "i"}},
		"in the same pieces": {frames{append([]upstream.Event{loss, start()}, text...)}, upstream.Start{Model: "m", Upstream: "acme", UpstreamID: "i"}},
	} {
		up := upstream.Func(func(ctx context.Context, _ *upstream.Request, w *upstream.Writer) error {
			return adapter.Relay(ctx, w, &tt.from, adapter.StartInfo{Upstream: "acme", UpstreamID: "i"}, nil)
		})
		reply, err := upstream.Collect(t.Context(), up, &upstream.Request{Model: "m"})
		if err != nil || len(reply.Parts) != 1 {
			t.Errorf("%s: %v, %d parts", name, err, len(reply.Parts))
		}
		if diff := cmp.Diff(tt.want, reply.Start); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
