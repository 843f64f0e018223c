package front

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/polywire/polywire/upstream"
)

const (
	bodyPiece = 32 << 10 // what one read may bring
	bodyTrust = 1 << 20  // what must have come before Content-Length is believed,
	bodyShare = 8        // or the share of it, if that is less
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
		return "", &Failure{Code: upstream.CodeTooLarge}
	}
	if x.r.Body == nil {
		return "", nil
	}
	_ = x.rc.SetReadDeadline(x.start.Add(x.s.serving.Times.Body)) // where there is no deadline, there is none
	body, err := x.read(http.MaxBytesReader(x.w, x.r.Body, limit))
	x.report.BytesIn = x.taken
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

// read reads all of r into a string without a second copy, and takes the bytes
// from the budget as they come.
func (x *exchange) read(r io.Reader) (string, error) {
	piece := x.s.scratch.Get().(*[bodyPiece]byte)
	defer x.s.scratch.Put(piece)
	var b strings.Builder
	promised := x.r.ContentLength // -1 if nothing is
	b.Grow(int(min(max(promised, 0), bodyPiece)))
	believed := promised <= bodyPiece
	for {
		n, err := r.Read(piece[:])
		if n > 0 {
			if !x.s.serving.Budget.Take(int64(n)) {
				return "", overloaded()
			}
			x.taken += int64(n)
			if !believed && x.taken >= min(bodyTrust, promised/bodyShare) {
				// A new Builder, since growing one doubles it.
				believed = true
				before := b.String()
				b = strings.Builder{}
				b.Grow(int(promised))
				b.WriteString(before)
			}
			b.Write(piece[:n])
		}
		if err == io.EOF {
			return b.String(), nil
		}
		if err != nil {
			return "", err
		}
	}
}

// unreadable says what it means that reading the body failed.
func (x *exchange) unreadable(err error) error {
	var f *Failure
	var tooLarge *http.MaxBytesError
	var broken *net.OpError
	switch {
	case errors.As(err, &f):
		return f
	case errors.As(err, &tooLarge):
		return &Failure{Code: upstream.CodeTooLarge, Err: err}
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
