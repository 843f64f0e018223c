package codec

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
)

// Extras makes the [content.Extra] values of one document. They share a few
// allocations. The zero Extras is ready; it is for one goroutine at a time.
type Extras struct {
	nodes   Chunk[content.Extra]
	arena   jsonwire.Arena
	scratch []byte
}

// Begin returns the beginning of an object, for members to be appended to with
// [AppendMember]. [Extras.End] takes what became of it.
func (x *Extras) Begin() []byte { return append(x.scratch[:0], '{') }

// End ends an object that Begin began and returns it; "" if it has no members.
func (x *Extras) End(b []byte) string {
	b = append(b, '}')
	x.scratch = b[:0]
	if cap(b) > maxScratch {
		x.scratch = nil
	}
	if len(b) == len("{}") {
		return ""
	}
	return x.arena.Bytes(b)
}

// maxScratch bounds how much memory is kept for the next object.
const maxScratch = 64 << 10

// New returns an Extra with the members of json.
func (x *Extras) New(f content.Format, json string) *content.Extra {
	e := x.nodes.New(1)
	e.Format, e.JSON = f, json
	return e
}

// AppendName appends the name of the next member of an object, with a comma
// before it where one is due.
func AppendName(dst []byte, name string) []byte {
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	return append(jsonwire.AppendString(dst, name), ':')
}

// AppendMember appends a member of an object whose value is JSON text.
func AppendMember(dst []byte, name, json string) []byte {
	return append(AppendName(dst, name), json...)
}

// UnlimitedJSON lets pass what a host's own limits have let pass.
var UnlimitedJSON = jsonwire.Limits{Depth: 1 << 30, Values: 1 << 30}

// UnlimitedRequest is AnyDocument for a whole request.
var UnlimitedRequest = content.Limits{Depth: UnlimitedJSON.Depth, Values: UnlimitedJSON.Values, Parts: 1 << 30, Tools: 1 << 30, Schemas: 1 << 30}

// Append appends the document that w holds to dst.
func Append(dst []byte, w *jsonwire.Writer) ([]byte, error) {
	a := appender{dst}
	_, err := w.WriteTo(&a)
	return a.b, err
}

// An appender collects what is written to it.
type appender struct{ b []byte }

func (a *appender) Write(p []byte) (int, error) {
	a.b = append(a.b, p...)
	return len(p), nil
}

func (a *appender) WriteString(s string) (int, error) {
	a.b = append(a.b, s...)
	return len(s), nil
}

// ViolationsError makes one error of faults that are in order already. more is how
// many there were besides.
func ViolationsError(list []*content.Violation, more int) error {
	var all content.ViolationList
	for _, e := range list {
		all.Add(e.Code, e.Path, e.Text)
	}
	if len(list) >= content.MaxViolations {
		for range more {
			all.Add("", "", "") // is only counted
		}
	}
	return all.Err()
}

// FileName returns the name that a format gives to the file in a part, by which
// the object of a result can point at it; "" if there is none. alone reports
// whether the format says nothing else of the file.
func FileName(p content.Part) (name string, alone bool) {
	var s content.Source
	switch p := p.(type) {
	case *content.Image:
		s = p.Source
	case *content.Document:
		s = p.Source
	case *content.Media:
		s = p.Source
	}
	var x *content.Extra
	switch s := s.(type) {
	case *content.Base64:
		if s != nil {
			x = s.Extra
		}
	case *content.PlainText:
		if s != nil {
			x = s.Extra
		}
	case *content.URL:
		if s != nil {
			x = s.Extra
		}
	case *content.File:
		if s != nil {
			x = s.Extra
		}
	}
	if x == nil {
		return "", false
	}
	doc := Open(x, x.Format)
	if doc == nil {
		return "", false
	}
	defer doc.Close()
	return doc.Root().Get("displayName").Str(), doc.Root().Len() == 1
}
