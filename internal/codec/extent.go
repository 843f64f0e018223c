package codec

import (
	"github.com/polywire/polywire/internal/document"
	"github.com/polywire/polywire/internal/jsonwire"
)

// An Extent is the position of the value of a top-level member in a document, in
// bytes. The zero Extent means that the member is missing. Documents are shorter than
// 2 GiB.
type Extent struct{ From, To int32 }

// ExtentOf returns the extent of v.
func ExtentOf(v jsonwire.Value) Extent { return Extent{int32(v.Offset()), int32(v.End())} }

// Span returns the extent as a span with a name.
func (e Extent) Span(name string) document.Span {
	return document.Span{Name: name, From: int(e.From), To: int(e.To)}
}
