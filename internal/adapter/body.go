package adapter

import (
	"io"
	"slices"
	"strings"

	"github.com/polywire/polywire/internal/document"
	"github.com/polywire/polywire/internal/jsonwire"
)

// A Body is a document to send. Each call of Reader starts at the beginning.
type Body interface {
	Len() int64
	Reader() io.ReadCloser
}

// Text returns the whole document b. It returns err if that is not nil.
func Text(b Body, err error) (string, error) {
	if err != nil {
		return "", err
	}
	r := b.Reader()
	defer r.Close()
	var text strings.Builder
	text.Grow(int(b.Len()))
	_, err = io.Copy(&text, r)
	return text.String(), err
}

// A Member is a top-level member of a document, its value as JSON text. An empty value
// means that the document does not have the member.
type Member struct{ Name, Value string }

// Splice returns the document of w with members replaced or removed. Members that are not
// in its spans are inserted at the front. The document is not copied.
func Splice(w *document.Document, members ...Member) Body {
	open := strings.IndexByte(w.Body, '{') + 1
	spans := slices.SortedFunc(slices.Values(w.Spans), func(a, b document.Span) int { return a.From - b.From })
	var inserted strings.Builder
	for _, m := range members {
		isKnown := slices.ContainsFunc(spans, func(s document.Span) bool { return s.Name == m.Name }) // bounded by Span
		if !isKnown && m.Value != "" {
			inserted.WriteString(`"` + m.Name + `":` + m.Value + `,`)
		}
	}
	edits := make([]document.Edit, 0, len(spans))
	for _, s := range spans {
		i := slices.IndexFunc(members, func(m Member) bool { return m.Name == s.Name }) // bounded by Member
		switch {
		case i < 0:
		case members[i].Value != "":
			edits = append(edits, document.Edit{From: s.From, To: s.To, Text: members[i].Value})
		default:
			edits = appendRemoval(edits, w.Body, s)
		}
	}
	pieces := make([]string, 0, 2*len(edits)+3)
	pieces = append(pieces, w.Body[:open], inserted.String())
	at := open
	for _, e := range edits {
		pieces = append(pieces, w.Body[at:e.From], e.Text)
		at = e.To
	}
	pieces = append(pieces, w.Body[at:])
	if head := pieces[1]; head != "" && isEmptyObject(pieces[2:]) {
		pieces[1] = head[:len(head)-1]
	}
	b := new(jsonwire.Writer)
	b.Verbatim(pieces...)
	return Written{b}
}

// appendRemoval appends the edit that removes the member at s with one comma: the one after
// it or, for the last member, the one before it. edits are those before s.
func appendRemoval(edits []document.Edit, body string, s document.Span) []document.Edit {
	e := document.Edit{From: s.From, To: s.To}
	// The name has no quote in it, not even an escaped one.
	name := strings.LastIndexByte(body[:e.From], '"')
	e.From = strings.LastIndexByte(body[:name], '"')
	rest := strings.TrimLeft(body[e.To:], whiteSpace)
	if strings.HasPrefix(rest, ",") {
		e.To = len(body) - len(rest) + 1
		return append(edits, e)
	}
	for { // before the last member there may be others that were removed with their comma
		e.From = len(strings.TrimRight(body[:e.From], whiteSpace))
		n := len(edits) - 1
		if n < 0 || edits[n].To != e.From {
			break
		}
		e.From, edits = edits[n].From, edits[:n]
	}
	if body[e.From-1] == ',' {
		e.From--
	}
	return append(edits, e)
}

const whiteSpace = " \t\r\n"

// isEmptyObject reports whether the pieces after an opening brace close the object.
func isEmptyObject(pieces []string) bool {
	for _, p := range pieces {
		if rest := strings.TrimLeft(p, whiteSpace); rest != "" {
			return rest[0] == '}'
		}
	}
	return false
}

// A Written is the document of a Writer as a Body.
type Written struct{ *jsonwire.Writer }

// Len returns the length of the document in bytes.
func (b Written) Len() int64 { return int64(b.Writer.Len()) }

// Reader returns a reader of the whole document.
func (b Written) Reader() io.ReadCloser { return b.Writer.Reader() }
