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
	bodyPiece = 32 << 10  // what one read may bring
	bodyTrust = 256 << 10 // what must have come before Content-Length is believed,
	bodyShare = 8         // or the share of it, if that is less, but a piece at least
)

// body reads the request's body. What is refused unread closes the connection,
// and keeps its deadline.
func (x *exchange) body() (string, error) {
	ascii, err := mediaType(x.r.Header)
	if err != nil {
		return "", err
	}
	if !identity(x.r.Header) {
		return "", &Failure{Code: upstream.CodeInvalid, Detail: DetailEncoding}
	}
	limit := x.s.serving.Limits.Body
	if x.r.ContentLength > limit {
		return "", &Failure{Code: upstream.CodeTooLarge, Reason: fmt.Sprintf("the Content-Length is %d, more than Limits.Body, %d", x.r.ContentLength, limit)}
	}
	if x.r.Body == nil {
		return "", nil
	}
	_ = x.rc.SetReadDeadline(x.start.Add(x.s.serving.Timeouts.Body)) // where there is no deadline, there is none
	defer x.interruptible()()
	body, err := x.read(http.MaxBytesReader(nil, x.r.Body, limit))
	x.report.BytesIn = x.came
	if err != nil {
		return "", x.unreadable(err)
	}
	x.unread = false
	// From here on the server reads only to see whether the client leaves.
	_ = x.rc.SetReadDeadline(time.Time{})
	if ascii && !isASCII(body) {
		return "", &Failure{Code: upstream.CodeInvalid, Detail: DetailCharset}
	}
	return body, nil
}

// interruptible lets the end of the request's context end reading: a deadline or
// the host, since the server does not look for clients that leave until the body
// is read. The function it returns must be called when reading is over.
func (x *exchange) interruptible() (over func()) {
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

// read reads all of r into a string without a second copy, and takes the bytes
// from the budget as they come. What comes before Content-Length is believed
// waits in pieces that are used again, so that nothing is allocated but the
// string. From then on the budget has all that was promised, since memory is
// taken for that: a body that does not fit is refused before, not half-way.
func (x *exchange) read(r io.Reader) (string, error) {
	first := pieceList{pool: &x.s.scratch}
	defer first.free()
	promised := x.r.ContentLength // -1 if nothing is
	trust := int64(bodyTrust)
	if promised >= 0 {
		trust = min(trust, max(promised/bodyShare, bodyPiece))
	}
	for x.came < trust {
		n, err := x.readPiece(r, first.room())
		first.took(n)
		if err == io.EOF {
			return first.text(x.came), nil
		}
		if err != nil {
			return "", err
		}
	}
	if !x.reserve(promised) {
		return "", overloaded()
	}
	var b strings.Builder
	b.Grow(int(max(promised, 2*x.came)))
	first.writeTo(&b)
	first.free()
	for piece := first.room(); ; {
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

// readPiece reads once, and takes what came from the budget.
func (x *exchange) readPiece(r io.Reader, p []byte) (int, error) {
	n, err := r.Read(p)
	x.came += int64(n)
	if !x.reserve(x.came) {
		return 0, overloaded()
	}
	return n, err
}

// reserve takes n bytes of the budget in all. It reports whether there were so
// many.
func (x *exchange) reserve(n int64) bool {
	more := n - x.taken
	if more <= 0 {
		return true
	}
	if !x.s.serving.Budget.Take(more) {
		return false
	}
	x.taken = n
	return true
}

// These bound how long a connection stays open behind an answer to a client
// that is still sending, and how many bytes are thrown away meanwhile.
const (
	lingerTime  = 2 * time.Second
	lingerBytes = 256 << 20
)

// These bound what is left of a body that is read only to keep the connection, and
// the time for it.
const (
	drainBytes = 256 << 10
	drainTime  = 2 * time.Second
)

// drain reads what is left of a body that is not wanted, if it is little and comes
// soon. It reports whether all of it has come, so that the connection can serve
// the next request.
func (x *exchange) drain() bool {
	switch left := x.r.ContentLength - x.came; {
	case x.r.ContentLength >= 0 && left > drainBytes:
		return false
	case x.came == 0 && x.r.Header.Get("Expect") != "": // it sends when it is asked to
		return false
	case x.cut || x.r.Context().Err() != nil:
		return false
	}
	if x.rc.SetReadDeadline(time.Now().Add(drainTime)) != nil {
		return false // reading could take forever
	}
	n, err := io.CopyN(io.Discard, x.r.Body, drainBytes+1)
	x.came += n
	if err != io.EOF {
		return false
	}
	x.unread = false
	_ = x.rc.SetReadDeadline(time.Time{})
	return true
}

// linger lets a client whose body was not read come to the answer. A connection
// that is closed with bytes on the way is reset, and that takes the answer away
// from under the client: many look at it only when they have sent everything.
// Afterwards nothing is read any more, or the server would go on for as long as
// the client likes.
func (x *exchange) linger() {
	if !x.lingers {
		return
	}
	_ = x.rc.Flush()                                         // what cannot be flushed goes out in the end
	idle := x.came == 0 && x.r.Header.Get("Expect") != ""    // it sends when it is told to
	late := time.Since(x.start) >= x.s.serving.Timeouts.Body // it had its time
	if !idle && !late && x.rc.SetReadDeadline(time.Now().Add(lingerTime)) == nil {
		_, _ = io.CopyN(io.Discard, x.r.Body, lingerBytes)
	}
	_ = x.rc.SetReadDeadline(time.Unix(1, 0))
}

// A pieceList holds what has come so far, in pieces of a pool. All but the last
// are full.
type pieceList struct {
	pool *sync.Pool // of *[bodyPiece]byte
	list []*[bodyPiece]byte
	last int // bytes in the last piece
}

// room returns where to read to.
func (p *pieceList) room() []byte {
	if len(p.list) == 0 || p.last == bodyPiece {
		p.list = append(p.list, p.pool.Get().(*[bodyPiece]byte))
		p.last = 0
	}
	return p.list[len(p.list)-1][p.last:]
}

func (p *pieceList) took(n int) { p.last += n }

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

// free gives the pieces back.
func (p *pieceList) free() {
	for _, piece := range p.list {
		p.pool.Put(piece)
	}
	p.list, p.last = nil, 0
}

// unreadable says what it means that reading the body failed.
func (x *exchange) unreadable(err error) error {
	var f *Failure
	var tooLarge *http.MaxBytesError
	x.cut = !errors.As(err, &f) && !errors.As(err, &tooLarge) // nothing more can be read
	var broken *net.OpError
	switch {
	case errors.As(err, &f):
		return f
	case errors.As(err, &tooLarge):
		return &Failure{Code: upstream.CodeTooLarge, Err: err}
	case errors.As(x.ended(x.r.Context()), &f):
		return f
	case errors.Is(err, os.ErrDeadlineExceeded):
		return &Failure{Code: upstream.CodeInvalid, Detail: DetailBodyTime, Err: err}
	case errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, &broken), x.r.Context().Err() != nil:
		x.report.Status = statusGone // what is written all the same is for one who only stopped sending
	}
	return &Failure{
		Code: upstream.CodeInvalid, Text: "The request body could not be read to its end",
		Err: fmt.Errorf("reading the body: %w", err),
	}
}

// mediaType checks that the body is said to be JSON, or nothing is said. ascii
// reports that it is in a charset that is only understood as far as it is
// ASCII.
func mediaType(h http.Header) (ascii bool, err error) {
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

// identity reports whether the body is not compressed.
func identity(h http.Header) bool {
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
