package codec

import (
	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
)

// Extras allocates the [content.Extra] values of one document in few allocations.
// The zero Extras is ready to use. It must not be used concurrently.
type Extras struct {
	nodes   Chunk[content.Extra]
	arena   jsonwire.Arena
	scratch []byte
}

// Begin returns the beginning of an object. The caller appends members with
// [AppendMember] and passes the result to [Extras.End].
func (x *Extras) Begin() []byte { return append(x.scratch[:0], '{') }

// End returns the object that Begin began, or "" if it has no members.
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

// maxScratch is the maximum memory that is kept for the next object.
const maxScratch = 64 << 10

// New returns an Extra with the members of json.
func (x *Extras) New(f content.Format, json string) *content.Extra {
	e := x.nodes.New(1)
	e.Format, e.JSON = f, json
	return e
}

// AppendName appends the name of the next member of an object, after a comma if it is
// not the first.
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

// AppendNext appends a comma and a member of an object whose value is JSON text, without the line
// breaks between its tokens.
func AppendNext(dst []byte, name, json string) []byte {
	dst = append(jsonwire.AppendString(append(dst, ','), name), ':')
	return jsonwire.AppendCompact(dst, json)
}

// UnlimitedJSON is for documents that have passed the limits of the host.
var UnlimitedJSON = jsonwire.Limits{Depth: 1 << 30, Values: 1 << 30}

// UnlimitedRequest is for requests that have passed the limits of the host.
var UnlimitedRequest = content.Limits{Depth: UnlimitedJSON.Depth, Values: UnlimitedJSON.Values, Parts: 1 << 30, Tools: 1 << 30, Schemas: 1 << 30}

// Append appends the document in w to dst.
func Append(dst []byte, w *jsonwire.Writer) ([]byte, error) {
	a := appender{dst}
	_, err := w.WriteTo(&a)
	return a.b, err
}

// An appender is a writer that appends to b.
type appender struct{ b []byte }

func (a *appender) Write(p []byte) (int, error) {
	a.b = append(a.b, p...)
	return len(p), nil
}

func (a *appender) WriteString(s string) (int, error) {
	a.b = append(a.b, s...)
	return len(s), nil
}

// MemberCount returns the number of members of a JSON object.
func MemberCount(object string) (n int) {
	gjson.Parse(object).ForEach(func(_, _ gjson.Result) bool {
		n++
		return true
	})
	return n
}

// Own returns x if its members are of the format f or of no particular format,
// otherwise nil.
func Own(x *content.Extra, f content.Format) *content.Extra {
	if x != nil && (x.Format == f || x.Format == "") {
		return x
	}
	return nil
}

// Open parses the members of x. The caller must close the document. Open returns nil
// if they are of another format than f or not valid JSON.
func Open(x *content.Extra, f content.Format) *jsonwire.Doc {
	if x = Own(x, f); x == nil {
		return nil
	}
	doc, err := jsonwire.Parse(x.JSON, UnlimitedJSON)
	if err != nil {
		return nil
	}
	return doc
}
