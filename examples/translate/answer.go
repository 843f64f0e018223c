package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/polywire/polywire/upstream"
)

// answer translates a recorded answer: a front asks an upstream, which is played
// the recording.
func (t *task) answer(ctx context.Context) error {
	as := fronts[t.to]
	in, out := t.in, t.out
	var copied bytes.Buffer
	if t.from == t.to { // checked first, then written as it came
		in, out = io.TeeReader(t.in, &copied), io.Discard
	}
	up, err := vendors[t.from]("", &player{body: in, stream: t.stream})
	up = upstream.Tap(up, named)
	if err != nil {
		return err
	}

	var report *upstream.Report
	serving := upstream.HandlerOptions{OnDone: func(_ context.Context, r *upstream.Report) { report = r }}
	path, body, err := as.ask(t.name(""), t.stream)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Anthropic-Version", "2023-06-01") // only one format has versions
	w := &writer{header: make(http.Header), Writer: out}
	as.handler(up, serving).ServeHTTP(w, req)

	t.tell(report.Losses, as.path)
	if !t.stream {
		_, _ = io.WriteString(w, "\n") // w knows
	}
	switch {
	case w.err != nil:
		return w.err
	case report.Err != nil:
		return report.Err // what was written says so to a client
	}
	_, err = copied.WriteTo(t.out)
	return err
}

// A player is a transport that answers with a recording.
type player struct {
	body   io.Reader
	stream bool
}

func (p *player) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		r.Body.Close()
	}
	if p.body == nil {
		return nil, errors.New("the recording was played")
	}
	kind := "application/json"
	if p.stream {
		kind = "text/event-stream"
	}
	res := &http.Response{
		StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, ContentLength: -1,
		Header: http.Header{"Content-Type": {kind}}, Body: io.NopCloser(p.body), Request: r,
	}
	p.body = nil
	return res, nil
}

// A writer is an [http.ResponseWriter] that writes bodies somewhere else.
type writer struct {
	io.Writer
	header http.Header
	err    error
}

func (w *writer) Header() http.Header { return w.header }

func (w *writer) WriteHeader(int) {}

func (w *writer) Write(b []byte) (int, error) {
	n, err := w.Writer.Write(b)
	if w.err == nil {
		w.err = err
	}
	return n, err
}

// Flush implements [http.Flusher]: nothing is held back.
func (w *writer) Flush() {}

// named has an answer keep the name of the model that it was recorded from,
// since nobody has asked for it by another.
func named(_ context.Context, _ *upstream.Request, to upstream.Sink) upstream.Sink {
	return upstream.SinkFunc(func(events []upstream.Event) error {
		for i := range events {
			if s := events[i].Start; s != nil && s.ModelAsRequested {
				c := *s
				c.ModelAsRequested = false
				events[i].Start = &c
			}
		}
		return to.Send(events)
	})
}
