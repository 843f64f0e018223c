package adapter

import (
	"io"
	"slices"
	"strings"

	"github.com/polywire/polywire/upstream"
)

// A Body is a document to send. Each call of Reader begins it anew.
type Body interface {
	Len() int64
	Reader() io.ReadCloser
}

// A Member is a top-level member to write into a document, its value as JSON
// text.
type Member struct{ Name, Value string }

// Splice returns the document of w with some members replaced. Those that it
// does not have are put in front; there is no other copy of it.
func Splice(w *upstream.Wire, members ...Member) Body {
	var front strings.Builder
	spans := slices.SortedFunc(slices.Values(w.Spans), func(a, b upstream.Span) int { return a.From - b.From })
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
			front.WriteString(`"` + m.Name + `":` + m.Value + `,`)
		}
	}
	head := front.String()
	if head != "" && empty(w.Body[open:]) {
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

// empty reports whether what follows an opening brace closes it.
func empty(rest string) bool { return strings.HasPrefix(strings.TrimLeft(rest, " \t\r\n"), "}") }

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
