// Package partfield accesses the fields that kinds of parts have in common, and those that
// kinds of sources have in common. A type switch over all kinds is needed only here.
package partfield

import "github.com/polywire/polywire/content"

// Part points to the fields of a part. A pointer is nil if the part has no such field.
type Part struct {
	Source    *content.Source
	Parts     *[]content.Part
	Signature *content.Signature
	Cache     **content.Cache
	Extra     **content.Extra
}

// Of returns the fields of p. A nil part, a nil pointer and a part of an unknown kind
// have none.
func Of(p content.Part) Part {
	if content.IsNil(p) {
		return Part{}
	}
	switch p := p.(type) {
	case *content.Text:
		return Part{nil, nil, &p.Signature, &p.Cache, &p.Extra}
	case *content.Image:
		return Part{&p.Source, nil, &p.Signature, &p.Cache, &p.Extra}
	case *content.Document:
		return Part{&p.Source, nil, &p.Signature, &p.Cache, &p.Extra}
	case *content.Media:
		return Part{&p.Source, nil, &p.Signature, &p.Cache, &p.Extra}
	case *content.Thinking:
		return Part{nil, nil, &p.Signature, nil, &p.Extra}
	case *content.ToolUse:
		return Part{nil, nil, &p.Signature, &p.Cache, &p.Extra}
	case *content.ToolResult:
		return Part{nil, &p.Parts, nil, &p.Cache, &p.Extra}
	case *content.SearchResult:
		return Part{nil, &p.Parts, nil, &p.Cache, &p.Extra}
	case *content.ServerToolUse:
		return Part{nil, nil, &p.Signature, &p.Cache, &p.Extra}
	case *content.ServerToolResult:
		return Part{nil, nil, &p.Signature, &p.Cache, &p.Extra}
	}
	return Part{}
}

// SourceOf returns the source of p, or nil if p is not a file.
func SourceOf(p content.Part) content.Source { return value(Of(p).Source) }

// SignatureOf returns the signature of p, or the zero Signature if p has none.
func SignatureOf(p content.Part) content.Signature { return value(Of(p).Signature) }

// CacheOf returns the cache mark of p, or nil if p has none.
func CacheOf(p content.Part) *content.Cache { return value(Of(p).Cache) }

// ExtraOf returns the members of p that have no field, or nil if p has none.
func ExtraOf(p content.Part) *content.Extra { return value(Of(p).Extra) }

// value returns the value of a field, or the zero value if there is no such field.
func value[T any](field *T) (v T) {
	if field != nil {
		v = *field
	}
	return v
}

// Copy returns a shallow copy of p. It returns p itself if p is nil, contains a nil
// pointer or is of an unknown kind.
func Copy(p content.Part) content.Part {
	if content.IsNil(p) {
		return p
	}
	switch p := p.(type) {
	case *content.Text:
		return clone(p)
	case *content.Image:
		return clone(p)
	case *content.Document:
		return clone(p)
	case *content.Media:
		return clone(p)
	case *content.Thinking:
		return clone(p)
	case *content.ToolUse:
		return clone(p)
	case *content.ToolResult:
		return clone(p)
	case *content.SearchResult:
		return clone(p)
	case *content.ServerToolUse:
		return clone(p)
	case *content.ServerToolResult:
		return clone(p)
	case *content.Unknown:
		return clone(p)
	}
	return p
}

func clone[T any](p *T) *T {
	c := *p
	return &c
}

// WithSource returns a copy of p, which is a file, with another source.
func WithSource(p content.Part, s content.Source) content.Part {
	p = Copy(p)
	*Of(p).Source = s
	return p
}

// WithSignature returns a copy of p with another signature. It returns p itself if
// parts of its kind have no signature.
func WithSignature(p content.Part, s content.Signature) content.Part {
	if Of(p).Signature == nil {
		return p
	}
	p = Copy(p)
	*Of(p).Signature = s
	return p
}
