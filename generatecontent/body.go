package generatecontent

import (
	"io"

	"github.com/polywire/polywire/internal/jsonwire"
)

// A Body is a request as a document, ready to be sent: large files in it are
// referenced and not copied. It does not change when the request does, and
// several goroutines may read it at the same time.
type Body struct{ w jsonwire.Writer }

// Body writes the request as a document. It fails as [Request.AppendJSON]
// does. Len is the Content-Length; a new Reader for each attempt is what GetBody
// of an HTTP request wants.
func (r *Request) Body() (*Body, error) {
	b := &Body{}
	if err := r.write(&b.w); err != nil {
		return nil, err
	}
	return b, nil
}

// Len returns the length of the document in bytes.
func (b *Body) Len() int64 { return int64(b.w.Len()) }

// Reader returns a new reader of the whole document. It is an [io.WriterTo]
// and an [io.Seeker] too.
func (b *Body) Reader() io.ReadCloser { return b.w.Reader() }
