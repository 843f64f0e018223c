package bedrock

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
)

// The body of CountTokens has that of InvokeModel in base64, as its only member.
var (
	countStart = spaced(`^ \{ "input" : \{ "invokeModel" : \{ "body" : "`)
	countEnd   = spaced(`^ \} \} \} $`)
)

// spaced compiles an expression in which a space is any white space of JSON.
func spaced(e string) *regexp.Regexp {
	return regexp.MustCompile(strings.ReplaceAll(e, " ", `[ \t\r\n]*`))
}

const (
	// maxAround bounds the bytes of a body of CountTokens before and after the base64.
	maxAround = 1 << 10

	// maxCountBody bounds the bytes of a body of CountTokens, whatever they decode to: those
	// of a body of 32 MiB in base64.
	maxCountBody = 32<<20/3*4 + 2*maxAround
)

var errCountBody = errors.New(`bedrock: the body of CountTokens is not {"input":{"invokeModel":{"body":"…"}}} with a JSON object in base64`)

// A countBody is the body of InvokeModel in one of CountTokens, with the model inserted. It
// is decoded while it is read.
type countBody struct {
	body  io.Closer
	in    *bufio.Reader // of the body of CountTokens
	model string
	text  io.Reader // nil before the first read
	ended bool      // the base64 was read
}

// newCountBody reads at most maxCountBody bytes. Then the body is too large.
func newCountBody(body io.ReadCloser, model string) io.ReadCloser {
	body = http.MaxBytesReader(nil, body, maxCountBody)
	return &countBody{body: body, in: bufio.NewReaderSize(body, 16<<10), model: model}
}

func (b *countBody) Close() error { return b.body.Close() }

func (b *countBody) Read(p []byte) (int, error) {
	if b.text == nil {
		if err := b.begin(); err != nil {
			return 0, err
		}
	}
	return b.text.Read(p)
}

// begin reads what is before the members of the inner object.
func (b *countBody) begin() error {
	start, err := b.in.Peek(maxAround)
	n := len(countStart.Find(start))
	if n == 0 {
		return wrongBody(err)
	}
	_, _ = b.in.Discard(n)
	decoded := bufio.NewReader(base64.NewDecoder(base64.StdEncoding, (*base64Text)(b)))
	for {
		c, err := decoded.ReadByte()
		if err == nil && bytes.IndexByte([]byte(" \t\r\n"), c) >= 0 {
			continue
		}
		if err != nil || c != '{' {
			return wrongBody(err)
		}
		break
	}
	model, _ := json.Marshal(b.model) // a string can always be encoded
	b.text = io.MultiReader(bytes.NewReader([]byte(`{"model":`)), bytes.NewReader(model), bytes.NewReader([]byte(",")), decoded)
	return nil
}

// wrongBody returns the error for a body of another form, unless it could not be read.
func wrongBody(err error) error {
	var corrupt base64.CorruptInputError
	if err == nil || err == io.EOF || err == io.ErrUnexpectedEOF || errors.As(err, &corrupt) {
		return errCountBody
	}
	return err
}

// A base64Text reads the base64 of a countBody, until the quote behind it.
type base64Text countBody

func (b *base64Text) Read(p []byte) (n int, err error) {
	if b.ended {
		return 0, io.EOF
	}
	for n < len(p) {
		c, err := b.in.ReadByte()
		switch {
		case err != nil:
			return n, wrongBody(err)
		case c == '"':
			b.ended = true
			if end, err := b.in.Peek(maxAround); err != io.EOF || !countEnd.Match(end) {
				return n, wrongBody(err)
			}
			_, _ = b.in.Discard(b.in.Buffered())
			return n, io.EOF
		case c == '\\':
			if c, err = b.escaped(); err != nil {
				return n, err
			}
		}
		p[n] = c
		n++
		if b.in.Buffered() == 0 {
			break
		}
	}
	return n, nil
}

// escaped reads the rest of an escape sequence of JSON. Some encoders of JSON escape the
// characters of base64 that are not letters or digits.
func (b *base64Text) escaped() (byte, error) {
	c, err := b.in.ReadByte()
	switch {
	case err != nil:
		return 0, wrongBody(err)
	case c == '/':
		return c, nil
	case c == 'n', c == 'r':
		return '\n', nil // decoders of base64 ignore it
	case c != 'u':
		return 0, errCountBody
	}
	var digits [4]byte
	if _, err := io.ReadFull(b.in, digits[:]); err != nil {
		return 0, wrongBody(err)
	}
	n, err := strconv.ParseUint(string(digits[:]), 16, 7)
	if err != nil {
		return 0, errCountBody
	}
	return byte(n), nil
}
