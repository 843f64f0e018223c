package handler

import (
	"context"
	"errors"
	"io"
	"maps"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/upstream"
)

// finishResponse completes a successful response.
func (x *exchange) finishResponse(ctx context.Context, s *sink) {
	if s.op.Stream != nil {
		s.buf = s.end(s.pending())
		s.flush()
		if s.err != nil {
			x.recordError(ctx, x.endError(ctx, s.err))
		}
	} else if err := x.writeResponse(s); err != nil {
		x.recordError(ctx, x.endError(ctx, err))
	}
	x.callOnLoss(ctx, s.newLosses)
}

// writeResponse writes a whole response.
func (x *exchange) writeResponse(s *sink) error {
	var from io.WriterTo
	var size int
	if s.wholeBody != "" {
		from, size = strings.NewReader(s.wholeBody), len(s.wholeBody)
	} else {
		reply := s.collect.Response()
		s.addLosses(reply.Losses[s.collectedLosses:]) // found by the Collector
		doc, losses := s.op.Response(s.op.Request, reply)
		s.addLosses(losses)
		from, size = doc, doc.Len()
	}
	return x.writeDocument(from, size)
}

// writeDocument writes a JSON document as the whole response.
func (x *exchange) writeDocument(from io.WriterTo, size int) error {
	h := x.w.Header()
	x.s.protocol.SetHeader(h, x.id)
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(size))
	x.setLossHeader(h)
	x.header(http.StatusOK)
	n, err := from.WriteTo(&pieceWriter{x})
	x.report.BytesOut += n
	x.noteWriteError(err)
	if err != nil {
		return &writeError{err}
	}
	return nil
}

// A pieceWriter writes in pieces, each with its own write deadline. A slow client
// may read a long response as long as it makes progress.
type pieceWriter struct{ x *exchange }

const writeSize = 64 << 10

func (p *pieceWriter) Write(b []byte) (n int, err error) {
	for n < len(b) && err == nil {
		p.x.setWriteDeadline(time.Now().Add(p.x.s.options.Timeouts.Write))
		var k int
		k, err = writeAll(p.x.w, b[n:min(len(b), n+writeSize)])
		n += k
	}
	return n, err
}

func (p *pieceWriter) WriteString(s string) (n int, err error) {
	for n < len(s) && err == nil {
		p.x.setWriteDeadline(time.Now().Add(p.x.s.options.Timeouts.Write))
		piece := s[n:min(len(s), n+writeSize)]
		var k int
		if k, err = io.WriteString(p.x.w, piece); err == nil && k < len(piece) {
			err = io.ErrShortWrite
		}
		n += k
	}
	return n, err
}

// writeFailure writes a failure as the whole response.
func (x *exchange) writeFailure(f *Failure) {
	encode := x.s.protocol.Error
	if x.route != nil && x.route.Error != nil {
		encode = x.route.Error
	}
	status, body := encode(x.id, f)
	h := x.w.Header()
	x.s.protocol.SetHeader(h, x.id)
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	if f.Allow != "" {
		h.Set("Allow", f.Allow)
	}
	x.setFailureHeader(f)
	if f.Code == upstream.CodeQuota && h.Get("X-Should-Retry") == "" && (f.Status == 0 || f.Details.Format != x.s.protocol.Format()) {
		h.Set("X-Should-Retry", "false") // without it, SDKs that know the header retry because of the status
	}
	x.header(status)
	x.setWriteDeadline(time.Now().Add(x.s.options.Timeouts.Write))
	n, err := writeAll(x.w, body)
	x.report.BytesOut += int64(n)
	x.noteWriteError(err)
}

// noteWriteError corrects the status in the report if a write failed with
// http.ErrHandlerTimeout.
func (x *exchange) noteWriteError(err error) {
	if errors.Is(err, http.ErrHandlerTimeout) {
		x.report.Status = http.StatusServiceUnavailable // http.TimeoutHandler has sent this status
	}
}

// setFailureHeader sets the headers of f that clients know, and Retry-After:
//
//	Retry-After, Retry-After-Ms      as they are, unless f.RetryAfter differs: then that
//	X-Should-Retry                   always
//	rate limits of the own format    always: see Protocol.ForwardsHeader
//	X-Ratelimit-…, Ratelimit…        unless f.Details are of another format
//	any other                        never
func (x *exchange) setFailureHeader(f *Failure) {
	h := x.w.Header()
	foreign := f.Details != nil && f.Details.Format != x.s.protocol.Format()
	wait := make(http.Header)
	for _, field := range f.Header {
		switch name := http.CanonicalHeaderKey(field.Name); {
		case name == "Retry-After", name == "Retry-After-Ms":
			wait.Add(name, field.Value)
		case name == "X-Should-Retry", x.s.protocol.ForwardsHeader(name) && name != "Request-Id", !foreign && isRateLimitHeader(name):
			h[name] = append(h[name], field.Value)
		}
	}
	if d := codec.RetryAfter(wait); f.RetryAfter > 0 && (d == 0 || (d-f.RetryAfter).Abs() > maxRounding) {
		wait = http.Header{"Retry-After": {strconv.FormatInt(int64(math.Ceil(f.RetryAfter.Seconds())), 10)}}
	}
	maps.Copy(h, wait)
}

// maxRounding is the largest difference at which Retry-After of a vendor and
// Failure.RetryAfter are regarded as equal. A date has whole seconds, and time passes
// after it was parsed.
const maxRounding = 2 * time.Second

// isRateLimitHeader reports whether a header describes rate limits in a form that several
// vendors share.
func isRateLimitHeader(name string) bool {
	return strings.HasPrefix(name, "X-Ratelimit-") || strings.HasPrefix(name, "Ratelimit")
}

// header writes the response headers with the status. If the body is unread, it drains the body or closes the
// connection after the response.
func (x *exchange) header(status int) {
	if x.bodyUnread && x.r.ProtoMajor == 1 && !x.drain() {
		x.w.Header().Set("Connection", "close")
		x.lingering = true
	}
	x.headerSent = true
	x.report.FirstByte = time.Since(x.start)
	if x.report.Status == 0 {
		x.report.Status = status
	}
	x.w.WriteHeader(status)
}

// setWriteDeadline sets the write deadline. It has no effect on a ResponseWriter
// without deadlines.
func (x *exchange) setWriteDeadline(t time.Time) { _ = x.rc.SetWriteDeadline(t) }
