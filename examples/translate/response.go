package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/polywire/polywire/upstream"
)

// response translates a recorded response. A handler serves it from an adapter whose
// transport replays the recording.
func (t *task) response(ctx context.Context) error {
	client := clientFormats[t.to]
	in, out := t.in, t.out
	var copied bytes.Buffer
	if t.from == t.to { // check it, then write it unchanged
		in, out = io.TeeReader(t.in, &copied), io.Discard
	}
	up, err := adapters[t.from]("", &replay{body: in, stream: t.stream})
	if err != nil {
		return err
	}
	up = upstream.Tap(up, keepModel)

	var report *upstream.Report
	opts := upstream.HandlerOptions{OnDone: func(_ context.Context, r *upstream.Report) { report = r }}
	path, body, err := client.prompt(t.name(""), t.stream)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Anthropic-Version", "2023-06-01") // required by Messages, ignored by others
	w := &writer{header: make(http.Header), Writer: out}
	client.handler(up, opts).ServeHTTP(w, req)

	t.printLosses(report.Losses, client.clientPath)
	if !t.stream {
		_, _ = io.WriteString(w, "\n") // w keeps the error
	}
	switch {
	case w.err != nil:
		return w.err
	case report.Err != nil:
		return report.Err // the output contains the error for the client
	}
	_, err = copied.WriteTo(t.out)
	return err
}

// A replay is a transport that returns a recording once.
type replay struct {
	body   io.Reader
	stream bool
}

func (p *replay) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		r.Body.Close()
	}
	if p.body == nil {
		return nil, errors.New("the recording was already read")
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

// A writer is an [http.ResponseWriter] that writes the body to Writer and keeps its first
// error.
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

// Flush implements [http.Flusher]. A writer has no buffer.
func (w *writer) Flush() {}

// keepModel keeps the recorded name of the model in the response. A handler would replace
// it by the name in the request.
func keepModel(_ context.Context, _ *upstream.Request, to upstream.Sink) (upstream.Sink, func(error)) {
	return upstream.SinkFunc(func(events []upstream.Event) error {
		for i := range events {
			if s := events[i].Start; s != nil && s.ModelAsRequested {
				c := *s
				c.ModelAsRequested = false
				events[i].Start = &c
			}
		}
		return to.Send(events)
	}), nil
}
