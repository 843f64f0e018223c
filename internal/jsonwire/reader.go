package jsonwire

import (
	"errors"
	"io"
)

// A Reader reads the document of a [Writer]. Several Readers may read one document
// at the same time while the Writer is not used. It implements [io.ReadSeekCloser]
// and [io.WriterTo], and can be the body of an HTTP request.
type Reader struct {
	full [][]byte // these fields are the Writer's
	buf  []byte
	refs []ref
	size int64
	pos  int64

	// The reader has passed i refs. The bytes after them begin at index from of
	// buffer number chunk, and at offset base of the document. The fields advance
	// with pos, so that reading takes linear time.
	i, chunk, from int
	base           int64
}

// Reader returns a new reader of the current document. It is valid until the Writer
// is reset.
func (w *Writer) Reader() *Reader {
	return &Reader{full: w.full, buf: w.buf, refs: w.refs, size: int64(w.Len())}
}

// Len returns the number of unread bytes.
func (r *Reader) Len() int { return int(max(0, r.size-r.pos)) }

// segment returns the bytes at the reader's position: a part of the buffer or a
// text, one of which is empty. At the end both are.
func (r *Reader) segment() (owned []byte, text string) {
	for ; r.i < len(r.refs); r.i++ {
		next := r.refs[r.i]
		at := next.at
		if at < 0 {
			at = ^at
		}
		textStart := r.base + int64(at-r.from) // where the text begins
		if r.pos < textStart {
			buf := r.buf
			if r.chunk < len(r.full) {
				buf = r.full[r.chunk]
			}
			return buf[r.from+int(r.pos-r.base) : at], ""
		}
		if next.at < 0 {
			r.chunk, r.from, r.base = r.chunk+1, 0, textStart
			continue
		}
		if k := r.pos - textStart; k < int64(len(next.text)) {
			return nil, next.text[k:]
		}
		r.from = next.at
		r.base = textStart + int64(len(next.text))
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

// copyBuffer is the size in which a long text is written to a writer without
// WriteString.
const copyBuffer = 32 << 10

// WriteTo implements [io.WriterTo]. It writes a long text as one string if dst is an
// [io.StringWriter], and otherwise in pieces. It never copies a long text as a
// whole.
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

// Close implements [io.Closer]. It does nothing.
func (r *Reader) Close() error { return nil }
