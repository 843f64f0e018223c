package handler

import (
	"cmp"
	"context"
	"errors"
	"io"
	"maps"
	"math"
	"net/http"
	"slices"
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
	x.callOnLoss(ctx, s.newLosses.All)
}

// writeResponse writes a whole response.
func (x *exchange) writeResponse(s *sink) error {
	var from io.WriterTo
	var size int
	if s.wholeBody != "" {
		from, size = strings.NewReader(s.wholeBody), len(s.wholeBody)
	} else {
		reply := s.collect.Response()
		s.addLosses(reply.Losses) // also those that the Collector found
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

// EncodeError returns the response to a request that failed with err: see EncodeError of the
// formats. encode is Error of p or of a Route. r may be nil.
func EncodeError(p Protocol, encode func(id string, f *Failure) (int, []byte), r *upstream.Request, err error) (status int, header http.Header, body []byte) {
	id, f := NewRequestID(), FailureFor(p, r, err)
	status, body = encode(id, f)
	header = make(http.Header)
	setFailureHeader(header, p, id, f, nil)
	return status, header, body
}

// writeFailure writes a failure as the whole response.
func (x *exchange) writeFailure(f *Failure) {
	encode := x.s.protocol.Error
	if x.route != nil && x.route.Error != nil {
		encode = x.route.Error
	}
	status, body := encode(x.id, f)
	h := x.w.Header()
	setFailureHeader(h, x.s.protocol, x.id, f, x.s.options.ResponseHeaders)
	h.Set("Content-Length", strconv.Itoa(len(body)))
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

// setFailureHeader sets the headers of the response that is the document of f: the id of the
// request, the type, the allowed methods, and of f.Header those that clients know or that the
// host lists in sent:
//
//	Retry-After, Retry-After-Ms      as they are, unless f.RetryAfter differs: then that
//	X-Should-Retry                   always
//	rate limits of the own format    always: see Protocol.ForwardsHeader
//	X-Ratelimit-…, Ratelimit…        unless f.Details are of another format
//	any other                        if it is in sent
func setFailureHeader(h http.Header, p Protocol, id string, f *Failure, sent []string) {
	p.SetHeader(h, id)
	h.Set("Content-Type", "application/json")
	if f.Allow != "" {
		h.Set("Allow", f.Allow)
	}
	foreign := f.Details != nil && f.Details.Format != p.Format()
	wait := make(http.Header)
	for _, field := range f.Header {
		switch name := http.CanonicalHeaderKey(field.Name); {
		case name == "Retry-After", name == "Retry-After-Ms":
			wait.Add(name, field.Value)
		case name == "X-Should-Retry", p.ForwardsHeader(name) && name != "Request-Id", !foreign && isRateLimitHeader(name), isListed(sent, name):
			h[name] = append(h[name], field.Value)
		}
	}
	if d := codec.RetryAfter(wait); f.RetryAfter > 0 && (d == 0 || (d-f.RetryAfter).Abs() > maxRounding) {
		wait = http.Header{"Retry-After": {strconv.FormatInt(int64(math.Ceil(f.RetryAfter.Seconds())), 10)}}
	}
	maps.Copy(h, wait)
	if f.Code == upstream.CodeQuota && h.Get("X-Should-Retry") == "" && (f.Status == 0 || foreign) {
		h.Set("X-Should-Retry", "false") // without it, SDKs that know the header retry because of the status
	}
}

// isListed reports whether the host's list has the header with a canonical name.
func isListed(list []string, name string) bool {
	return slices.ContainsFunc(list, func(s string) bool { return strings.EqualFold(s, name) }) // bounded by the host
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
	x.report.Status = cmp.Or(x.report.Status, status)
	x.w.WriteHeader(status)
}

// setWriteDeadline sets the write deadline. It has no effect on a ResponseWriter
// without deadlines.
func (x *exchange) setWriteDeadline(t time.Time) { _ = x.rc.SetWriteDeadline(t) }
