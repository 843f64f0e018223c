package messages

import "github.com/polywire/polywire/internal/jsonwire"

// AppendJSON appends the document, which never fails.
func (r *writtenResponse) AppendJSON(dst []byte) ([]byte, error) {
	var w jsonwire.Writer
	r.write(&w, nil)
	return append(dst, w.Bytes()...), nil
}
