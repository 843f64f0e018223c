package jsonwire

import (
	"errors"
	"io"
)

// A Reader reads what a [Writer] has written. Several can read one document at
// the same time, while the Writer is left alone. It is an [io.ReadSeekCloser]
// and an [io.WriterTo], good for the body of an HTTP request.
type Reader struct {
	full [][]byte // of the Writer, like buf, refs and size
	buf  []byte
	refs []ref
	size int64
	pos  int64

	// The reader has passed i refs; what is behind them begins at from in the
	// buffer with the number chunk, and has the place base in the document. This
	// goes on with pos, so that a document is read in linear time.
	i, chunk, from int
	base           int64
}

// Reader returns a new reader of the document as it is now. It is good until
// the Writer is reset.
func (w *Writer) Reader() *Reader {
	return &Reader{full: w.full, buf: w.buf, refs: w.refs, size: int64(w.Len())}
}

// Len returns the number of bytes that are still to be read.
func (r *Reader) Len() int { return int(max(0, r.size-r.pos)) }

// segment returns what begins at the reader's position: bytes of the buffer or
// a text, one of which is empty. Both are at the end.
func (r *Reader) segment() (owned []byte, text string) {
	for ; r.i < len(r.refs); r.i++ {
		next := r.refs[r.i]
		at := next.at
		if at < 0 {
			at = ^at
		}
		behind := r.base + int64(at-r.from) // where the text begins
		if r.pos < behind {
			buf := r.buf
			if r.chunk < len(r.full) {
				buf = r.full[r.chunk]
			}
			return buf[r.from+int(r.pos-r.base) : at], ""
		}
		if next.at < 0 {
			r.chunk, r.from, r.base = r.chunk+1, 0, behind
			continue
		}
		if k := r.pos - behind; k < int64(len(next.text)) {
			return nil, next.text[k:]
		}
		r.from = next.at
		r.base = behind + int64(len(next.text))
	}
	if r.pos >= r.size {
		return nil, ""
	}
	return r.buf[r.from+int(r.pos-r.base):], ""
}

// Read implements [io.Reader].
func (r *Reader) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		owned, text := r.segment()
		k := copy(p[n:], owned)
		k += copy(p[n+k:], text)
		if k == 0 {
			break
		}
		n += k
		r.pos += int64(k)
	}
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

// copyBuffer is the size of the pieces in which a long text goes to a writer
// that takes no strings.
const copyBuffer = 32 << 10

// WriteTo implements [io.WriterTo]. A long text goes out as one string if dst
// takes strings, else in pieces, and is never copied as a whole.
func (r *Reader) WriteTo(dst io.Writer) (int64, error) {
	var total int64
	var piece []byte
	strs, _ := dst.(io.StringWriter)
	for {
		owned, text := r.segment()
		var n, want int
		var err error
		switch {
		case len(owned) > 0:
			want = len(owned)
			n, err = dst.Write(owned)
		case text == "":
			return total, nil
		case strs != nil:
			want = len(text)
			n, err = strs.WriteString(text)
		default:
			if piece == nil {
				piece = make([]byte, min(copyBuffer, len(text)))
			}
			want = copy(piece, text)
			n, err = dst.Write(piece[:want])
		}
		total += int64(n)
		r.pos += int64(n)
		if err == nil && n < want {
			err = io.ErrShortWrite
		}
		if err != nil {
			return total, err
		}
	}
}

// Seek implements [io.Seeker].
func (r *Reader) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekStart:
	case io.SeekCurrent:
		offset += r.pos
	case io.SeekEnd:
		offset += r.size
	default:
		return 0, errors.New("jsonwire: invalid whence")
	}
	if offset < 0 {
		return 0, errors.New("jsonwire: seek before the start")
	}
	r.pos = offset
	r.i, r.chunk, r.from, r.base = 0, 0, 0, 0
	return offset, nil
}

// Close does nothing. It makes the Reader a body.
func (r *Reader) Close() error { return nil }
