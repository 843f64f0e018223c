package crosstest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/openai/chatcompletions"
	"github.com/polywire/polywire/upstream/openai/responses"
)

// invalidEvents are events without the value that their kind needs, and others that no
// Writer sends.
var invalidEvents = map[string]upstream.Event{
	"start":              {Kind: upstream.EventStart},
	"open":               {Kind: upstream.EventOpen},
	"open, typed nil":    {Kind: upstream.EventOpen, Part: (*content.ToolUse)(nil)},
	"citation":           {Kind: upstream.EventCitation},
	"signature":          {Kind: upstream.EventSignature},
	"usage":              {Kind: upstream.EventUsage},
	"stop":               {Kind: upstream.EventStop},
	"loss":               {Kind: upstream.EventLoss},
	"no kind":            {},
	"undefined kind":     {Kind: 99},
	"negative candidate": {Kind: upstream.EventStop, Stop: &upstream.Stop{}, Candidate: -1},
}

// TestInvalidEvents checks that every sink refuses events without their value with an error,
// and writes nothing of the batch.
func TestInvalidEvents(t *testing.T) {
	var out bytes.Buffer
	discard := func(string, string) error { out.WriteByte('x'); return nil }
	sinks := map[string]func() upstream.Sink{
		"collector": func() upstream.Sink { return new(upstream.Collector) },
		"messages events": func() upstream.Sink {
			return messages.NewEventWriter(discard, nil)
		},
		"generatecontent events": func() upstream.Sink { return generatecontent.NewEventWriter(discard, nil) },
		"responses events":       func() upstream.Sink { return responses.NewEventWriter(discard, nil) },
		"responses":              func() upstream.Sink { return responses.NewStreamWriter(&out, nil) },
		"chatcompletions":        func() upstream.Sink { return chatcompletions.NewStreamWriter(&out, nil) },
		"tap": func() upstream.Sink {
			return upstream.SinkFunc(func(events []upstream.Event) error {
				tap := upstream.Tap(sends(opened(0, &content.Text{})), func(_ context.Context, _ *upstream.Request, to upstream.Sink) (upstream.Sink, func(error)) {
					return upstream.SinkFunc(func([]upstream.Event) error { return to.Send(events) }), nil
				})
				_, err := upstream.Collect(t.Context(), tap, nil)
				return err
			})
		},
		"frame": func() upstream.Sink {
			return upstream.SinkFunc(func(events []upstream.Event) error {
				_, err := (&upstream.Frame{Events: events}).Response()
				return err
			})
		},
	}
	for _, c := range codecClients() {
		if c.streamed {
			sinks[c.name] = func() upstream.Sink { return c.writer(&out, nil) }
		}
	}
	for name, sink := range sinks {
		for event, e := range invalidEvents {
			s := sink()
			if err := s.Send([]upstream.Event{opened(0, &content.Text{}), delta(0, "a"), e}); err == nil || out.Len() > 0 {
				t.Errorf("%s, %s: error %v, output %q", name, event, err, &out)
			}
			out.Reset()
			if w, ok := s.(upstream.StreamWriter); ok {
				if err := w.End(nil); err == nil || !strings.Contains(out.String()+"error", "error") {
					t.Errorf("%s, %s: End returned %v and wrote %q", name, event, err, &out)
				}
			}
			out.Reset()
		}
	}
}

// TestNilResponses checks that exported functions accept or refuse nil frames, readers,
// responses and parts without a panic.
func TestNilResponses(t *testing.T) {
	if _, err := (*upstream.Frame)(nil).Response(); err == nil {
		t.Error("Response of a nil Frame returned no error")
	}
	for name, r := range map[string]upstream.FrameReader{"reader": nil, "frame": nilFrames{}} {
		if _, err := upstream.Collect(t.Context(), upstream.Replay(r), nil); err == nil {
			t.Errorf("Replay of a nil %s returned no error", name)
		}
	}
	parts := []content.Part{nil, (*content.Text)(nil), &content.Image{}, &content.Document{Source: (*content.Base64)(nil)}, &content.ToolResult{}}
	for _, c := range codecClients() {
		if c.streamed {
			continue
		}
		r, _, err := c.decode(c.body)
		if err != nil {
			t.Fatal(err)
		}
		for _, resp := range []*upstream.Response{nil, {Parts: parts}} {
			if body, _ := c.response(r, resp); !strings.HasPrefix(string(body), "{") {
				t.Errorf("%s: %q", c.name, body)
			}
		}
	}
}

type nilFrames struct{}

func (nilFrames) Next() (*upstream.Frame, error) { return nil, nil }
func (nilFrames) Buffered() bool                 { return true }

// TestShortWrites checks that an io.Writer that writes less without an error ends the
// response with io.ErrShortWrite.
func TestShortWrites(t *testing.T) {
	up := generate(func(w *upstream.Writer) error { return w.Text("ab") })
	for _, c := range codecClients() {
		if !c.streamed {
			continue
		}
		var calls int
		short := writerFunc(func(b []byte) (int, error) { calls++; return len(b) / 2, nil })
		w := c.writer(short, nil)
		err := upstream.Run(t.Context(), up, &upstream.Request{}, w)
		if err != io.ErrShortWrite || w.End(err) != io.ErrShortWrite || calls != 1 {
			t.Errorf("%s: Run returned %v after %d writes", c.name, err, calls)
		}
		w = c.writer(short, nil)
		if err := w.End(nil); err != io.ErrShortWrite {
			t.Errorf("%s: End returned %v", c.name, err)
		}
	}
	eachMode(t, func(t *testing.T, s wireFormat, m mode) {
		var report *upstream.Report
		h := s.handler(up, upstream.HandlerOptions{OnDone: func(_ context.Context, r *upstream.Report) { report = r }})
		h.ServeHTTP(&partialWriter{ResponseRecorder: httptest.NewRecorder()}, m.request())
		if !errors.Is(report.Err, io.ErrShortWrite) || report.Code != upstream.CodeCanceled {
			t.Errorf("the report has the error %v and the code %q", report.Err, report.Code)
		}
	})
}

// A partialWriter is an http.ResponseWriter that writes less without an error.
type partialWriter struct{ *httptest.ResponseRecorder }

func (w *partialWriter) Write(b []byte) (int, error) { return w.ResponseRecorder.Write(b[:len(b)/2]) }
func (w *partialWriter) WriteString(s string) (int, error) {
	return w.ResponseRecorder.WriteString(s[:len(s)/2])
}

// TestBusyWriter checks that a response goes on if the upstream's write or log line takes
// longer than Timeouts.Grace and then succeeds: its client is still there.
func TestBusyWriter(t *testing.T) {
	eachMode(t, func(t *testing.T, s wireFormat, m mode) {
		if !m.stream {
			return
		}
		synctest.Test(t, func(t *testing.T) {
			var report *upstream.Report
			h := s.handler(upstream.Func(func(ctx context.Context, _ *upstream.Request, w *upstream.Writer) error {
				_ = w.Text("a")
				<-ctx.Done()
				return ctx.Err()
			}), upstream.HandlerOptions{
				Timeouts: upstream.Timeouts{Total: time.Second, Grace: 10 * time.Millisecond},
				OnDone:   func(_ context.Context, r *upstream.Report) { report = r },
			})
			w := &slowWriter{ResponseRecorder: httptest.NewRecorder()}
			h.ServeHTTP(w, m.request())
			a := s.receive(t, m, w.Result())
			if a.wants(t, s.failure(upstream.CodeTimeout), ""); report.Code != upstream.CodeTimeout {
				t.Errorf("the report has %q", report.Code)
			}
		})
	})
}

// A slowWriter is an http.ResponseWriter whose first Write takes five seconds.
type slowWriter struct {
	*httptest.ResponseRecorder
	late bool
}

func (w *slowWriter) Write(b []byte) (int, error) {
	if !w.late {
		w.late = true
		time.Sleep(5 * time.Second)
	}
	return w.ResponseRecorder.Write(b)
}
