package handler

import (
	"bytes"
	"io"
	"slices"
	"sync"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/upstream"
)

// A StreamWriter is the [upstream.StreamWriter] of all formats.
type StreamWriter struct {
	mu sync.Mutex
	w  io.Writer
	p  Protocol
	encoding
	losses loss.List
	buf    []byte // reused
	err    error  // the first error, or errClosed after the end
	gone   bool   // a write has failed
	ended  bool
}

// NewStreamWriter returns a StreamWriter that writes the response to r with e. r may be nil.
func NewStreamWriter(w io.Writer, r *upstream.Request, p Protocol, e Encoder) *StreamWriter {
	s := &StreamWriter{w: w, p: p, encoding: encoding{request: r, stream: e}}
	s.tally.format = p.Format()
	s.addLosses = s.losses.AddAll
	return s
}

// Send implements [upstream.StreamWriter], as Ping, End and Losses do.
func (s *StreamWriter) Send(events []upstream.Event) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	for i := range events {
		if s.err = events[i].Check(); s.err != nil {
			return s.err
		}
	}
	s.record(events)
	b, err := s.events(s.buf[:0], events)
	s.write(b)
	if s.err == nil {
		s.err = err
	}
	return s.err
}

func (s *StreamWriter) Ping() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.write(s.stream.Ping(s.buf[:0]))
	}
	return s.err
}

func (s *StreamWriter) End(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return errClosed
	}
	s.ended = true
	cause := s.err // of err, usually
	if cause == nil {
		cause = err
	}
	switch {
	case s.gone: // no further write can succeed
	case cause == nil:
		b := s.buf[:0]
		if _, events := s.estimate(true); events != nil {
			b, _ = s.events(b, events)
		}
		s.write(s.end(b))
	default:
		f := FailureFor(s.p, s.request, cause)
		if h, ok := s.stream.(HoldingEncoder); ok {
			s.write(h.Flush(s.buf[:0]))
		}
		if !s.gone {
			s.write(s.stream.End(s.buf[:0], f))
		}
		if r, ok := s.stream.(ErrorRepeater); ok && !s.gone {
			s.write(r.Repeat(s.buf[:0], f))
		}
	}
	if err == nil {
		err = s.err
	}
	s.err = errClosed
	return err
}

func (s *StreamWriter) Losses() []content.Loss {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.losses.All)
}

// write writes b, which then is the buffer.
func (s *StreamWriter) write(b []byte) {
	if s.buf = b; cap(b) > maxIdleBuffer {
		s.buf = nil
	}
	if len(b) == 0 {
		return
	}
	if _, err := writeAll(s.w, b); err != nil {
		s.gone = true
		if s.err == nil {
			s.err = err
		}
	}
}

// writeAll writes b. Fewer bytes without an error are [io.ErrShortWrite]: some writers break
// the contract of [io.Writer].
func writeAll(w io.Writer, b []byte) (n int, err error) {
	n, err = w.Write(b)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	return n, err
}

// EventWriter returns an io.Writer that calls send for each event that a [StreamWriter]
// writes. An event is an optional line "event: NAME" and a line of JSON, which may begin with
// "data: ".
func EventWriter(send func(name, data string) error) io.Writer { return &eventWriter{send: send} }

type eventWriter struct {
	send func(name, data string) error
	name string // of the last event
}

// Write implements [io.Writer]. b has whole events.
func (w *eventWriter) Write(b []byte) (int, error) {
	for line := range bytes.Lines(b) {
		line = bytes.TrimRight(line, "\r\n")
		if name, ok := bytes.CutPrefix(line, []byte("event: ")); ok {
			if string(name) != w.name { // deltas have the same name, which is not copied
				w.name = string(name)
			}
		} else if len(line) > 0 {
			if err := w.send(w.name, string(bytes.TrimPrefix(line, []byte("data: ")))); err != nil {
				return 0, err
			}
		}
	}
	return len(b), nil
}
