package record

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/redact"
	"github.com/polywire/polywire/upstream"
)

// NewRecorder returns an Upstream that passes requests to next and writes each exchange to w when
// it ends, in one call of Write. Calls of Write do not overlap. An exchange whose client leaves is not
// written.
//
// The client receives the response of next unchanged. If an exchange cannot be written, Generate
// returns an error. NewRecorder panics if next or w is nil.
func NewRecorder(next upstream.Upstream, w io.Writer) upstream.Upstream {
	if next == nil || w == nil {
		panic("record: NewRecorder with a nil Upstream or Writer")
	}
	return &recorder{next: next, w: w}
}

type recorder struct {
	next upstream.Upstream

	mu sync.Mutex
	w  io.Writer
}

func (c *recorder) Unwrap() upstream.Upstream { return c.next }

// Generate implements [upstream.Upstream].
func (c *recorder) Generate(ctx context.Context, r *upstream.Request, w *upstream.Writer) error {
	lines, err := requestLines(r)
	if err != nil {
		return fmt.Errorf("record: %w", err)
	}
	format := ""
	if r.Wire != nil {
		format = string(r.Wire.Format())
	}
	var e encoder
	e.line(func(f *fields) { f.kind("request", &format) })
	for _, l := range lines {
		e.line(func(f *fields) { f.put(l.path, l.json) })
	}
	began := time.Now()
	err = upstream.Run(ctx, c.next, r, upstream.SinkFunc(func(events []upstream.Event) error {
		for _, event := range events {
			milliseconds := time.Since(began).Milliseconds()
			e.line(func(f *fields) { f.event(&event); f.number("ms", &milliseconds) })
		}
		return w.Send(events)
	}))
	if ctx.Err() != nil {
		return err
	}
	e.line(func(f *fields) { f.end(failure(err)) })
	failed := e.err
	if failed == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		_, failed = c.w.Write(e.text)
	}
	if failed != nil {
		return errors.Join(err, fmt.Errorf("record: %w", failed))
	}
	return err
}

// failure returns what is recorded of an error of Generate. It is zero for nil.
func failure(err error) *upstream.Error {
	var e *upstream.Error
	violations, _ := content.Violations(err)
	switch {
	case err == nil:
		return new(upstream.Error)
	case errors.As(err, &e):
		return &upstream.Error{Code: cmp.Or(e.Code, upstream.CodeInternal), Text: redact.Text(e.Text), RetryAfter: e.RetryAfter}
	case len(violations) > 0:
		return &upstream.Error{Code: upstream.CodeInvalid, Text: redact.Text(err.Error())}
	}
	return &upstream.Error{Code: upstream.CodeInternal}
}

// An encoder writes the lines of an exchange.
type encoder struct {
	text []byte
	err  error
}

// line writes an object. members writes its members.
func (e *encoder) line(members func(f *fields)) {
	e.text = append(e.text, '{')
	start := len(e.text)
	f := &fields{put: func(path, json string) {
		if len(e.text) > start {
			e.text = append(e.text, ',')
		}
		e.text = append(append(jsonwire.AppendString(e.text, path), ':'), json...)
	}}
	members(f)
	e.text = append(e.text, "}\n"...)
	e.err = cmp.Or(e.err, f.err)
}
