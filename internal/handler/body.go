package handler

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/polywire/polywire/upstream"
)

const (
	pieceSize  = 32 << 10  // size of one read
	trustAfter = 256 << 10 // bytes that must arrive before Content-Length is trusted,
	trustShare = 8         // or this share of Content-Length if that is less, but at least one piece
)

// readBody reads the request body. If it refuses the body unread, the connection closes
// and its deadline stays.
func (x *exchange) readBody() (string, error) {
	ascii, err := checkContentType(x.r.Header)
	if err != nil {
		return "", err
	}
	if !isIdentity(x.r.Header) {
		return "", &Failure{Code: upstream.CodeInvalid, Detail: DetailContentEncoding}
	}
	limit := x.s.options.Limits.Body
	if x.r.ContentLength > limit {
		return "", &Failure{
			Code: upstream.CodeTooLarge, Limit: limit,
			Reason: fmt.Sprintf("the Content-Length is %d; Limits.Body is %d", x.r.ContentLength, limit),
		}
	}
	if x.r.Body == nil {
		return "", nil
	}
	_ = x.rc.SetReadDeadline(x.start.Add(x.s.options.Timeouts.Body)) // not every connection has deadlines
	defer x.interruptReads()()
	body, err := x.readAll(http.MaxBytesReader(nil, x.r.Body, limit))
	x.report.BytesIn = x.bytesRead
	if err != nil {
		return "", x.bodyError(err)
	}
	x.bodyUnread = false
	// From here on the server reads only to notice that the client leaves.
	_ = x.rc.SetReadDeadline(time.Time{})
	if ascii && !isASCII(body) {
		return "", &Failure{Code: upstream.CodeInvalid, Detail: DetailCharset}
	}
	return body, nil
}

// interruptReads makes the end of the request's context interrupt reads. The server
// notices clients that leave only after the body is read, but the host may cancel
// the context before. The caller must call over when it is done reading.
func (x *exchange) interruptReads() (over func()) {
	done := make(chan struct{})
	stop := context.AfterFunc(x.r.Context(), func() {
		_ = x.rc.SetReadDeadline(time.Unix(1, 0))
		close(done)
	})
	return func() {
		if !stop() {
			<-done
		}
	}
}

// readAll reads r into a string without a second copy, and reserves the bytes in the
// budget. The first bytes are read into pooled pieces, so that only the string is
// allocated. Once enough of them have arrived, the whole Content-Length is allocated
// and reserved: a body that exceeds the budget is refused early.
func (x *exchange) readAll(r io.Reader) (string, error) {
	first := pieceList{pool: &x.s.pieces}
	defer first.release()
	promised := x.r.ContentLength // -1 if unknown
	trust := int64(trustAfter)
	if promised >= 0 {
		trust = min(trust, max(promised/trustShare, pieceSize))
	}
	for x.bytesRead < trust {
		n, err := x.readPiece(r, first.free())
		first.advance(n)
		if err == io.EOF {
			return first.text(x.bytesRead), nil
		}
		if err != nil {
			return "", err
		}
	}
	if !x.reserve(promised) {
		return "", overloaded()
	}
	var b strings.Builder
	b.Grow(int(max(promised, 2*x.bytesRead)))
	first.writeTo(&b)
	first.release()
	for piece := first.free(); ; {
		n, err := x.readPiece(r, piece)
		b.Write(piece[:n])
		if err == io.EOF {
			return b.String(), nil
		}
		if err != nil {
			return "", err
		}
	}
}

// readPiece reads once and reserves the bytes.
func (x *exchange) readPiece(r io.Reader, p []byte) (int, error) {
	n, err := r.Read(p)
	x.bytesRead += int64(n)
	if !x.reserve(x.bytesRead) {
		return 0, overloaded()
	}
	return n, err
}

// reserve raises the bytes reserved in the budget to n and reports whether it could.
func (x *exchange) reserve(n int64) bool {
	more := n - x.reserved
	if more <= 0 {
		return true
	}
	if !x.s.options.Budget.Reserve(more) {
		return false
	}
	x.reserved = n
	return true
}

// The handler reads and discards the rest of an unread body: before the response
// to keep the connection, or after it so that the client can read the response.
const (
	discardTime = 2 * time.Second
	drainBytes  = 256 << 10 // before the response
	lingerBytes = 256 << 20 // after it
)

// drain reads and discards the rest of the body if it is short and arrives soon. It
// reports whether the body was read to its end, so that the connection can serve the
// next request.
func (x *exchange) drain() bool {
	switch remaining := x.r.ContentLength - x.bytesRead; {
	case x.r.ContentLength >= 0 && remaining > drainBytes:
		return false
	case x.bytesRead == 0 && x.r.Header.Get("Expect") != "": // the client sends after "100 Continue"
		return false
	case x.readFailed || x.r.Context().Err() != nil:
		return false
	}
	if x.rc.SetReadDeadline(time.Now().Add(discardTime)) != nil {
		return false // a read without a deadline might not return
	}
	n, err := io.CopyN(io.Discard, x.r.Body, drainBytes+1)
	x.bytesRead += n
	if err != io.EOF {
		return false
	}
	x.bodyUnread = false
	_ = x.rc.SetReadDeadline(time.Time{})
	return true
}

// linger reads and discards the data that the client is still sending, so that it can
// read the response. Closing a connection with unread bytes resets it, and a client
// that reads only after sending would lose the response. Afterwards the connection
// reads nothing more, or the server would drain it without a limit.
func (x *exchange) linger() {
	if !x.lingering {
		return
	}
	_ = x.rc.Flush()                                           // without Flush, the server sends it in the end
	idle := x.bytesRead == 0 && x.r.Header.Get("Expect") != "" // the client sends after "100 Continue"
	late := time.Since(x.start) >= x.s.options.Timeouts.Body   // the time for the body is over
	if !idle && !late && x.rc.SetReadDeadline(time.Now().Add(discardTime)) == nil {
		_, _ = io.CopyN(io.Discard, x.r.Body, lingerBytes)
	}
	_ = x.rc.SetReadDeadline(time.Unix(1, 0))
}

// A pieceList holds the first bytes of a body in pooled pieces. All but the last
// piece are full.
type pieceList struct {
	pool *sync.Pool // of *[pieceSize]byte
	list []*[pieceSize]byte
	last int // bytes in the last piece
}

// free returns the free part of the last piece.
func (p *pieceList) free() []byte {
	if len(p.list) == 0 || p.last == pieceSize {
		p.list = append(p.list, p.pool.Get().(*[pieceSize]byte))
		p.last = 0
	}
	return p.list[len(p.list)-1][p.last:]
}

func (p *pieceList) advance(n int) { p.last += n }

func (p *pieceList) writeTo(b *strings.Builder) {
	for i, piece := range p.list {
		if i < len(p.list)-1 {
			b.Write(piece[:])
		} else {
			b.Write(piece[:p.last])
		}
	}
}

func (p *pieceList) text(size int64) string {
	var b strings.Builder
	b.Grow(int(size))
	p.writeTo(&b)
	return b.String()
}

// release returns the pieces to the pool.
func (p *pieceList) release() {
	for _, piece := range p.list {
		p.pool.Put(piece)
	}
	p.list, p.last = nil, 0
}

// bodyError returns the error for a body that could not be read.
func (x *exchange) bodyError(err error) error {
	var f *Failure
	var tooLarge *http.MaxBytesError
	x.readFailed = !errors.As(err, &f) && !errors.As(err, &tooLarge) // no more bytes can be read
	var broken *net.OpError
	switch {
	case errors.As(err, &f):
		return f
	case errors.As(err, &tooLarge):
		return &Failure{Code: upstream.CodeTooLarge, Limit: tooLarge.Limit, Err: err}
	case errors.As(x.contextError(x.r.Context()), &f):
		return f
	case errors.Is(err, os.ErrDeadlineExceeded):
		return &Failure{Code: upstream.CodeInvalid, Detail: DetailBodyTimeout, Err: err}
	case errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, &broken), x.r.Context().Err() != nil:
		x.report.Status = statusClientClosed // the response is for clients that only stopped sending
	}
	return &Failure{
		Code: upstream.CodeInvalid, Text: "The request body could not be read completely",
		Err: fmt.Errorf("reading the body: %w", err),
	}
}

// checkContentType checks that the Content-Type is absent or JSON. ascii reports
// that the declared charset agrees with UTF-8 only for ASCII.
func checkContentType(h http.Header) (ascii bool, err error) {
	lines := h.Values("Content-Type")
	if len(lines) == 0 {
		return false, nil
	}
	kind, params, err := mime.ParseMediaType(lines[0])
	if err != nil || kind != "application/json" || len(lines) > 1 {
		return false, &Failure{Code: upstream.CodeInvalid, Detail: DetailMediaType}
	}
	switch strings.ToLower(params["charset"]) {
	case "", "utf-8", "utf8":
		return false, nil
	case "us-ascii", "ascii", "iso-8859-1":
		return true, nil
	}
	return false, &Failure{Code: upstream.CodeInvalid, Detail: DetailCharset}
}

// isIdentity reports whether the body has no content coding.
func isIdentity(h http.Header) bool {
	for _, line := range h.Values("Content-Encoding") {
		for coding := range strings.SplitSeq(line, ",") {
			if c := strings.TrimSpace(coding); c != "" && !strings.EqualFold(c, "identity") {
				return false
			}
		}
	}
	return true
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
