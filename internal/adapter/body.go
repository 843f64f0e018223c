package adapter

import (
	"io"
	"slices"
	"strings"

	"github.com/polywire/polywire/internal/document"
)

// A Body is a document to send. Each call of Reader starts at the beginning.
type Body interface {
	Len() int64
	Reader() io.ReadCloser
}

// Text returns the whole document.
func Text(b Body) (string, error) {
	r := b.Reader()
	defer r.Close()
	var text strings.Builder
	text.Grow(int(b.Len()))
	_, err := io.Copy(&text, r)
	return text.String(), err
}

// A Member is a top-level member of a document, its value as JSON text.
type Member struct{ Name, Value string }

// Splice returns the document of w with members replaced. Members that are not in
// its spans are inserted at the front. The document is not copied.
func Splice(w *document.Document, members ...Member) Body {
	var inserted strings.Builder
	spans := slices.SortedFunc(slices.Values(w.Spans), func(a, b document.Span) int { return a.From - b.From })
	b := spliced{make([]string, 0, 2*len(spans)+3)}
	open := strings.IndexByte(w.Body, '{') + 1
	cuts := make([]string, len(spans))
	for i, s := range spans {
		cuts[i] = w.Body[s.From:s.To]
	}
	for _, m := range members {
		found := false
		for i, s := range spans {
			if s.Name == m.Name {
				cuts[i], found = m.Value, true
			}
		}
		if !found {
			inserted.WriteString(`"` + m.Name + `":` + m.Value + `,`)
		}
	}
	head := inserted.String()
	if head != "" && isEmptyObject(w.Body[open:]) {
		head = head[:len(head)-1]
	}
	b.pieces = append(b.pieces, w.Body[:open], head)
	at := open
	for i, s := range spans {
		b.pieces = append(b.pieces, w.Body[at:s.From], cuts[i])
		at = s.To
	}
	b.pieces = append(b.pieces, w.Body[at:])
	return &b
}

// isEmptyObject reports whether the text after an opening brace closes the object.
func isEmptyObject(rest string) bool {
	return strings.HasPrefix(strings.TrimLeft(rest, " \t\r\n"), "}")
}

type spliced struct{ pieces []string }

// Len returns the length of the document in bytes.
func (b *spliced) Len() int64 {
	var n int64
	for _, p := range b.pieces {
		n += int64(len(p))
	}
	return n
}

// Reader returns a reader of the whole document.
func (b *spliced) Reader() io.ReadCloser {
	readers := make([]io.Reader, 0, len(b.pieces))
	for _, p := range b.pieces {
		if p != "" {
			readers = append(readers, strings.NewReader(p))
		}
	}
	return io.NopCloser(io.MultiReader(readers...))
}
