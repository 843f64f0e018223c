package partfield

import "github.com/polywire/polywire/content"

// Source points to the fields of a source. A pointer is nil if the source has no such
// field.
type Source struct {
	MediaType *string
	Parts     *[]content.Part
	Extra     **content.Extra
}

// OfSource returns the fields of s. A nil source, a nil pointer and a source of an
// unknown kind have none.
func OfSource(s content.Source) Source {
	switch s := s.(type) {
	case *content.Base64:
		if s != nil {
			return Source{&s.MediaType, nil, &s.Extra}
		}
	case *content.URL:
		if s != nil {
			return Source{&s.MediaType, nil, &s.Extra}
		}
	case *content.File:
		if s != nil {
			return Source{&s.MediaType, nil, &s.Extra}
		}
	case *content.PlainText:
		if s != nil {
			return Source{&s.MediaType, nil, &s.Extra}
		}
	case *content.Parts:
		if s != nil {
			return Source{nil, &s.Parts, &s.Extra}
		}
	}
	return Source{}
}

// MediaTypeOf returns the media type of s, or "" if s has none.
func MediaTypeOf(s content.Source) string { return value(OfSource(s).MediaType) }

// SourceExtra returns the extra members of s, or nil if s has none.
func SourceExtra(s content.Source) *content.Extra { return value(OfSource(s).Extra) }

// CopySource returns a shallow copy of s. It returns s itself if s is nil, contains a
// nil pointer or is of an unknown kind.
func CopySource(s content.Source) content.Source {
	if OfSource(s).Extra == nil {
		return s
	}
	switch s := s.(type) {
	case *content.Base64:
		return clone(s)
	case *content.URL:
		return clone(s)
	case *content.File:
		return clone(s)
	case *content.PlainText:
		return clone(s)
	case *content.Parts:
		return clone(s)
	}
	return s
}
