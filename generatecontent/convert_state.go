package generatecontent

import (
	"slices"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/seal"
)

// A partList is a list of parts that is being converted. It is the beginning of
// the list that it comes from while nothing has changed.
type partList struct {
	from, to []content.Part
	own      bool
	next     string // a signature of the part that comes next
}

// keep notes that the part at i is as it was.
func (l *partList) keep(i int) {
	if !l.own {
		l.to = l.from[:i+1]
		return
	}
	l.to = append(l.to, l.from[i])
}

// change makes the list one of its own.
func (l *partList) change() {
	if !l.own {
		l.own = true
		l.to = append(make([]content.Part, 0, len(l.from)+1), l.to...)
	}
}

// add adds parts that were not in the list before.
func (l *partList) add(parts ...content.Part) {
	l.change()
	l.to = append(l.to, parts...)
}

// neighbour takes a signature that stood in a part of its own, because the
// client's format has no other place for it, and reports whether p was that.
func (l *partList) neighbour(p content.Part) bool {
	t, ok := p.(*content.Thinking)
	if !ok || t == nil || t.Redacted.Format != Format {
		return false
	}
	kind, data, ok := seal.OfNeighbour(t.Redacted)
	if !ok {
		return false
	}
	l.change()
	if kind == seal.Next {
		l.flush()
		l.next = data
		return true
	}
	if n := len(l.to); n > 0 {
		if q := sign(l.to[n-1], data); q != nil {
			l.to[n-1] = q
			return true
		}
	}
	l.add(onlySigned(data))
	return true
}

// take returns p with the signature that waits for it.
func (l *partList) take(p content.Part) content.Part {
	if l.next == "" {
		return p
	}
	q := sign(p, l.next)
	if q == nil {
		l.flush()
		return p
	}
	l.next = ""
	return q
}

// flush tells a signature whose part is gone.
func (l *partList) flush() {
	if l.next != "" {
		l.add(onlySigned(l.next))
		l.next = ""
	}
}

// onlySigned is a signature with nothing that it is of, as the vendor itself sends
// them at the end of an answer.
func onlySigned(data string) content.Part {
	return &content.Text{Signature: content.Signature{Format: Format, Data: data}}
}

// sign returns p with a signature of this format, or nil if it has one already
// or cannot have one.
func sign(p content.Part, data string) content.Part {
	s := content.Signature{Format: Format, Data: data}
	free := func(old content.Signature) bool { return old.Format != Format || old.Data == "" }
	switch p := p.(type) {
	case *content.Text:
		if p != nil && free(p.Signature) {
			q := *p
			q.Signature = s
			return &q
		}
	case *content.ToolUse:
		if p != nil && free(p.Signature) {
			q := *p
			q.Signature = s
			return &q
		}
	case *content.Image:
		if p != nil && free(p.Signature) {
			q := *p
			q.Signature = s
			return &q
		}
	case *content.Document:
		if p != nil && free(p.Signature) {
			q := *p
			q.Signature = s
			return &q
		}
	case *content.Media:
		if p != nil && free(p.Signature) {
			q := *p
			q.Signature = s
			return &q
		}
	}
	return nil
}

// list returns what the list has become, and whether it is another now.
func (l *partList) list() ([]content.Part, bool) {
	l.flush()
	if !l.own {
		return l.from, false
	}
	return slices.Clip(l.to), true
}
