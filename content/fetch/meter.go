package fetch

import (
	"io"

	"github.com/polywire/polywire/content"
)

// Metered returns a Resolver that does what f does, and tells arrived of every
// piece of a file as it comes: how many bytes there are more. A file is given up
// if arrived returns an error. It is called from the goroutine of the caller of
// Resolve. Check, and the bound of what is fetched at once, are f's.
func (f *Fetcher) Metered(arrived func(bytes int64) error) content.Resolver {
	m := *f
	m.arrived = arrived
	return &m
}

// meter returns body, or one that tells what comes of it.
func (f *Fetcher) meter(body io.Reader) io.Reader {
	if f.arrived == nil {
		return body
	}
	return &meteredReader{body, f.arrived}
}

type meteredReader struct {
	body    io.Reader
	arrived func(int64) error
}

func (r *meteredReader) Read(p []byte) (int, error) {
	n, err := r.body.Read(p)
	if n > 0 {
		if refused := r.arrived(int64(n)); refused != nil {
			return 0, refused
		}
	}
	return n, err
}
