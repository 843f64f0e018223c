package content

import (
	"context"
)

// A Source says where the bytes of a file are: a [*Base64], [*URL], [*File],
// [*PlainText] or [*Parts]. Later versions may add kinds, so a switch over a
// Source needs a default case.
type Source interface{ source() }

// Base64 is a file inside the document.
type Base64 struct {
	MediaType string

	// Data is still encoded, exactly as it came. [Base64.Bytes] decodes it.
	Data string

	Extra *Extra
}

// URL is a file somewhere on the web.
type URL struct {
	URL       string
	MediaType string // empty where the format does not say
	Extra     *Extra
}

// File is a file that was uploaded before.
type File struct {
	ID        string // an id or a URI, in the words of the service that keeps it
	MediaType string // empty where the format does not say
	Extra     *Extra
}

// PlainText is a document given as text.
type PlainText struct {
	Text      string
	MediaType string // empty means text/plain
	Extra     *Extra
}

// Parts is a document given as a list of texts and images.
type Parts struct {
	Parts []Part
	Extra *Extra
}

func (*Base64) source()    {}
func (*URL) source()       {}
func (*File) source()      {}
func (*PlainText) source() {}
func (*Parts) source()     {}

// A Blob is the bytes of a file.
type Blob struct {
	MediaType string // empty if unknown
	Data      []byte // read-only
}

// A Resolver finds the bytes behind a source that does not hold them itself,
// a [*URL] or a [*File]. A host brings one to serve its own files. It must be
// safe for concurrent use, and heed ctx.
//
// An [*Violation] from it is told to the client as a fault of the request, under
// the path of the source, so it needs none; any other error is not told.
// [ErrUnresolved] says that the source is not the Resolver's to find.
type Resolver interface {
	Resolve(ctx context.Context, s Source) (Blob, error)
}

// ErrUnresolved is what a [Resolver] returns, wrapped or not, for a source that
// it does not know about. It is then as if there were no Resolver: the source
// reaches the upstream as it is, and one that cannot use it refuses the request
// with this error, which is an [*Violation].
var ErrUnresolved error = &Violation{Code: CodeUnsupported, Text: "files are not kept here; send the file as base64"}

// Type returns the media type, text/plain if none was said.
func (s *PlainText) Type() string {
	if s.MediaType == "" {
		return "text/plain"
	}
	return s.MediaType
}
