package content

import (
	"context"
)

// A Source is where the bytes of a file are: a [*Base64], [*URL], [*File], [*PlainText]
// or [*Parts]. Later versions may add kinds, so a type switch over a Source needs a
// default case.
type Source interface{ source() }

// Base64 is a file in the document, encoded as base64.
type Base64 struct {
	MediaType string

	// Data is the encoded file, unchanged. [Base64.Bytes] decodes it.
	Data string

	Extra *Extra
}

// URL is a link to a file.
type URL struct {
	URL       string
	MediaType string // empty if the format has none
	Extra     *Extra
}

// File is a file that was uploaded before.
type File struct {
	ID        string // an id or URI, as the service that stores the file defines it
	MediaType string // empty if the format has none
	Extra     *Extra
}

// PlainText is the text of a document.
type PlainText struct {
	Text      string
	MediaType string // empty means text/plain
	Extra     *Extra
}

// Parts is a document given as texts and images.
type Parts struct {
	Parts []Part
	Extra *Extra
}

func (*Base64) source()    {}
func (*URL) source()       {}
func (*File) source()      {}
func (*PlainText) source() {}
func (*Parts) source()     {}

// A Blob is the contents of a file.
type Blob struct {
	MediaType string // empty if unknown
	Data      []byte // read-only
}

// A Resolver loads the file of a source that does not contain it: a [*URL] or a
// [*File]. Hosts implement it to serve their own files. It must be safe for concurrent
// use and must return soon after ctx is done.
//
// If Resolve returns a [*Violation], the client receives it as an error of the request,
// with the path of the source. Its own path should be empty. Resolve returns
// [ErrUnresolved] for a source that the Resolver does not know. The text of any other
// error is not sent to the client.
//
// The caller must not change Blob.Data.
type Resolver interface {
	Resolve(ctx context.Context, s Source) (Blob, error)
}

// ErrUnresolved is the error that a [Resolver] returns, wrapped or not, for a source
// that it does not know. The upstream then receives the source unchanged. An upstream
// that cannot use the source returns ErrUnresolved, which is a [*Violation].
var ErrUnresolved error = &Violation{Code: CodeUnsupported, Text: "this server does not store files; send the file as base64"}

// Type returns the media type, text/plain by default.
func (s *PlainText) Type() string {
	if s.MediaType == "" {
		return "text/plain"
	}
	return s.MediaType
}
