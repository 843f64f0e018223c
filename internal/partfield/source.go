package partfield

import "github.com/polywire/polywire/content"

// Source points to the fields of a source. A pointer is nil if the source has no such
// field.
type Source struct {
	Kind      Kind
	Data      *string // the contents, or where they are
	MediaType *string
	Parts     *[]content.Part
	Extra     **content.Extra
}

// SourceNames has the names of each kind of source.
var SourceNames = [...]Names[content.Source]{
	Base64:    {"base64", &content.Base64{}, [5]string{"data"}, ""},
	URL:       {"url", &content.URL{}, [5]string{"url"}, ""},
	File:      {"file", &content.File{}, [5]string{"id"}, ""},
	PlainText: {"plain_text", &content.PlainText{}, [5]string{"text"}, ""},
	Parts:     {"parts", &content.Parts{}, [5]string{}, ""},
}

// OfSource returns the fields of s. A nil source, a nil pointer and a source of an
// unknown kind have none.
func OfSource(s content.Source) Source {
	_, f := sourceFields(s, false)
	return f
}

// CopySource returns a shallow copy of s and the fields of the copy. It returns s itself if s is
// nil, contains a nil pointer or is of an unknown kind.
func CopySource(s content.Source) (content.Source, Source) { return sourceFields(s, true) }

// sourceFields returns s, or a copy of it, and its fields.
func sourceFields(s content.Source, copy bool) (content.Source, Source) {
	switch s := s.(type) {
	case *content.Base64:
		if s != nil {
			s = own(s, copy)
			return s, Source{Base64, &s.Data, &s.MediaType, nil, &s.Extra}
		}
	case *content.URL:
		if s != nil {
			s = own(s, copy)
			return s, Source{URL, &s.URL, &s.MediaType, nil, &s.Extra}
		}
	case *content.File:
		if s != nil {
			s = own(s, copy)
			return s, Source{File, &s.ID, &s.MediaType, nil, &s.Extra}
		}
	case *content.PlainText:
		if s != nil {
			s = own(s, copy)
			return s, Source{PlainText, &s.Text, &s.MediaType, nil, &s.Extra}
		}
	case *content.Parts:
		if s != nil {
			s = own(s, copy)
			return s, Source{Parts, nil, nil, &s.Parts, &s.Extra}
		}
	case nil:
	default:
		return s, Source{Kind: Other}
	}
	return s, Source{}
}

// MediaTypeOf returns the media type of s, or "" if s has none.
func MediaTypeOf(s content.Source) string { return Value(OfSource(s).MediaType) }

// SourceExtra returns the extra members of s, or nil if s has none.
func SourceExtra(s content.Source) *content.Extra { return Value(OfSource(s).Extra) }
