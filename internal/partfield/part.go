// Package partfield accesses the fields of parts and sources. [Of], [OfSource] and their names
// are the only tables of all kinds: copies, comparisons, sizes, walks, recordings and descriptions
// follow from them.
package partfield

import "github.com/polywire/polywire/content"

// A Kind is a kind of part or of source.
type Kind uint8

// The kinds. Nil is that of a nil part or source, and of a nil pointer in one. Other is that of
// types that this package does not know.
const (
	Nil Kind = iota
	Text
	Image
	Document
	Media
	Thinking
	ToolUse
	ToolResult
	SearchResult
	ServerToolUse
	ServerToolResult
	Unknown
	Base64
	URL
	File
	PlainText
	Parts
	Other
)

// Part points to the fields of a part. A pointer is nil if the part has no such field.
type Part struct {
	Kind      Kind
	On        *bool     // the switch of the kind
	Strings   [5]String // the fields that are strings; the rest is zero
	Citations *[]content.Citation
	Source    *content.Source
	Parts     *[]content.Part
	Signature *content.Signature
	Redacted  *content.Signature
	Cache     **content.Cache
	Extra     **content.Extra
}

// A String is a field that is a string.
type String struct {
	At   *string
	Role Role
}

// A Role is what a String has.
type Role uint8

const (
	Written  Role = iota // text that the model reads and that an EventText continues; only Strings[0]
	Argument             // JSON text that the model reads and that an EventInput continues; only Strings[0]
	Title                // other text that the model reads
	JSON                 // other JSON text; if there are Parts, these have the same content
	ID                   // of a tool call
	Label                // name that the model does not read
)

// Names are the name of a kind and those of its fields, as recordings and the echo write them.
type Names[T any] struct {
	Kind    string
	Zero    T         // an empty value
	Strings [5]string // of Part.Strings, or of Source.Data
	On      string    // of Part.On
}

// PartNames has the names of each kind of part.
var PartNames = [...]Names[content.Part]{
	Text:             {"text", &content.Text{}, [5]string{"text"}, "refusal"},
	Image:            {"image", &content.Image{}, [5]string{}, ""},
	Document:         {"document", &content.Document{}, [5]string{"title", "context"}, "citations"},
	Media:            {"media", &content.Media{}, [5]string{}, ""},
	Thinking:         {"thinking", &content.Thinking{}, [5]string{"text"}, ""},
	ToolUse:          {"tool_use", &content.ToolUse{}, [5]string{"input", "id", "name", "other", "namespace"}, "freeform"},
	ToolResult:       {"tool_result", &content.ToolResult{}, [5]string{"id", "name", "object"}, "error"},
	SearchResult:     {"search_result", &content.SearchResult{}, [5]string{"source", "title"}, "citations"},
	ServerToolUse:    {"server_tool_use", &content.ServerToolUse{}, [5]string{"input", "id", "name", "format", "kind"}, ""},
	ServerToolResult: {"server_tool_result", &content.ServerToolResult{}, [5]string{"id", "content", "format", "kind"}, ""},
	Unknown:          {"unknown", &content.Unknown{}, [5]string{"raw", "format", "kind"}, ""},
}

// Of returns the fields of p. A nil part, a nil pointer and a part of an unknown kind
// have none.
func Of(p content.Part) (f Part) {
	f.read(p, false)
	return f
}

// Read is [Of] without a copy of the result. f must be zero.
func (f *Part) Read(p content.Part) { f.read(p, false) }

// Copy returns a shallow copy of p and the fields of the copy. It returns p itself if p is nil,
// contains a nil pointer or is of an unknown kind.
func Copy(p content.Part) (q content.Part, f Part) {
	q = f.read(p, true)
	return q, f
}

// read sets the fields of p, or of a copy of p, which it returns.
func (f *Part) read(p content.Part, copy bool) content.Part {
	if content.IsNil(p) {
		return p
	}
	s := &f.Strings
	switch p := p.(type) {
	case *content.Text:
		p = own(p, copy)
		s[0] = String{&p.Text, Written}
		f.Kind, f.On, f.Citations, f.Signature, f.Cache, f.Extra = Text, &p.Refusal, &p.Citations, &p.Signature, &p.Cache, &p.Extra
		return p
	case *content.Image:
		p = own(p, copy)
		f.Kind, f.Source, f.Signature, f.Cache, f.Extra = Image, &p.Source, &p.Signature, &p.Cache, &p.Extra
		return p
	case *content.Document:
		p = own(p, copy)
		s[0], s[1] = String{&p.Title, Title}, String{&p.Context, Title}
		f.Kind, f.On, f.Source, f.Signature, f.Cache, f.Extra = Document, &p.Citations, &p.Source, &p.Signature, &p.Cache, &p.Extra
		return p
	case *content.Media:
		p = own(p, copy)
		f.Kind, f.Source, f.Signature, f.Cache, f.Extra = Media, &p.Source, &p.Signature, &p.Cache, &p.Extra
		return p
	case *content.Thinking:
		p = own(p, copy)
		s[0] = String{&p.Text, Written}
		f.Kind, f.Signature, f.Redacted, f.Extra = Thinking, &p.Signature, &p.Redacted, &p.Extra
		return p
	case *content.ToolUse:
		p = own(p, copy)
		s[0], s[1], s[2] = String{&p.Input, Argument}, String{&p.ID, ID}, String{&p.Name, Title}
		s[3], s[4] = String{&p.Text, Title}, String{&p.Namespace, Title}
		if p.Freeform {
			s[0].At, s[3].At = s[3].At, s[0].At
		}
		f.Kind, f.On, f.Signature, f.Cache, f.Extra = ToolUse, &p.Freeform, &p.Signature, &p.Cache, &p.Extra
		return p
	case *content.ToolResult:
		p = own(p, copy)
		s[0], s[1], s[2] = String{&p.ID, ID}, String{&p.Name, Label}, String{&p.Object, JSON}
		f.Kind, f.On, f.Parts, f.Cache, f.Extra = ToolResult, &p.Error, &p.Parts, &p.Cache, &p.Extra
		return p
	case *content.SearchResult:
		p = own(p, copy)
		s[0], s[1] = String{&p.Source, Title}, String{&p.Title, Title}
		f.Kind, f.On, f.Parts, f.Cache, f.Extra = SearchResult, &p.Citations, &p.Parts, &p.Cache, &p.Extra
		return p
	case *content.ServerToolUse:
		p = own(p, copy)
		s[0], s[1], s[2] = String{&p.Input, Argument}, String{&p.ID, ID}, String{&p.Name, Title}
		s[3], s[4] = String{(*string)(&p.Format), Label}, String{&p.Kind, Label}
		f.Kind, f.Signature, f.Cache, f.Extra = ServerToolUse, &p.Signature, &p.Cache, &p.Extra
		return p
	case *content.ServerToolResult:
		p = own(p, copy)
		s[0], s[1] = String{&p.ID, ID}, String{&p.Content, JSON}
		s[2], s[3] = String{(*string)(&p.Format), Label}, String{&p.Kind, Label}
		f.Kind, f.Signature, f.Cache, f.Extra = ServerToolResult, &p.Signature, &p.Cache, &p.Extra
		return p
	case *content.Unknown:
		p = own(p, copy)
		s[0] = String{&p.Raw, JSON}
		s[1], s[2] = String{(*string)(&p.Format), Label}, String{&p.Kind, Label}
		f.Kind = Unknown
		return p
	}
	f.Kind = Other
	return p
}

// A Vendor identifies a part that only one vendor can read.
type Vendor struct {
	Format content.Format
	Kind   string // its type in that format
	ID     string // of a call of a tool that the vendor runs
	Raw    string // its JSON text, or that of what the tool got or returned
}

// VendorOf returns that of p, or the zero Vendor for parts that all vendors have.
func VendorOf(p content.Part) (v Vendor) {
	if content.IsNil(p) {
		return v
	}
	switch p := p.(type) { // other kinds are of all vendors
	case *content.ServerToolUse:
		return Vendor{p.Format, p.Kind, p.ID, p.Input}
	case *content.ServerToolResult:
		return Vendor{p.Format, p.Kind, p.ID, p.Content}
	case *content.Unknown:
		return Vendor{p.Format, p.Kind, "", p.Raw}
	}
	return v
}

// own returns p, or a copy of it.
func own[T any](p *T, copy bool) *T {
	if !copy {
		return p
	}
	c := *p
	return &c
}

// Written returns the text that an EventText continues, or nil.
func (f *Part) Written() *string { return f.first(Written) }

// Argument returns the arguments that an EventInput continues, or nil.
func (f *Part) Argument() *string { return f.first(Argument) }

func (f *Part) first(r Role) *string {
	if s := &f.Strings[0]; s.Role == r {
		return s.At
	}
	return nil
}

// SourceOf returns the source of p, or nil if p is not a file.
func SourceOf(p content.Part) content.Source { return Value(Of(p).Source) }

// SignatureOf returns the signature of p, or the zero Signature if p has none.
func SignatureOf(p content.Part) content.Signature { return Value(Of(p).Signature) }

// CacheOf returns the cache mark of p, or nil if p has none.
func CacheOf(p content.Part) *content.Cache { return Value(Of(p).Cache) }

// ExtraOf returns the members of p that have no field, or nil if p has none.
func ExtraOf(p content.Part) *content.Extra { return Value(Of(p).Extra) }

// Value returns the value of a field, or the zero value if there is no such field.
func Value[T any](field *T) (v T) {
	if field != nil {
		v = *field
	}
	return v
}

// WithSource returns a copy of p, which is a file, with another source.
func WithSource(p content.Part, s content.Source) content.Part {
	p, f := Copy(p)
	*f.Source = s
	return p
}

// WithSignature returns a copy of p with another signature. It returns p itself if
// parts of its kind have no signature.
func WithSignature(p content.Part, s content.Signature) content.Part {
	if Of(p).Signature == nil {
		return p
	}
	p, f := Copy(p)
	*f.Signature = s
	return p
}
