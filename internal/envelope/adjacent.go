package envelope

import (
	"slices"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/partfield"
)

// AdjacentSignature returns the redacted data of a thinking block that holds the
// signature of the part after it (KindNextText, KindNextCall) or before it
// (KindPreviousText, KindPreviousCall). Neutral requests have such blocks;
// [AttachSignatures] replaces them.
func AdjacentSignature(f content.Format, k Kind, data string) content.Signature {
	return content.Signature{Format: f, Data: string(rune(k)) + data}
}

// ParseAdjacentSignature parses the result of [AdjacentSignature].
func ParseAdjacentSignature(redacted content.Signature) (k Kind, data string, ok bool) {
	if redacted.Data == "" || !Kind(redacted.Data[0]).IsAdjacent() {
		return 0, "", false
	}
	return Kind(redacted.Data[0]), redacted.Data[1:], true
}

// IsAdjacent reports whether state of the kind is the signature of an adjacent
// part.
func (k Kind) IsAdjacent() bool { return strings.IndexByte("npNP", byte(k)) >= 0 }

// isNext reports whether the adjacent part is the next one.
func (k Kind) isNext() bool { return k == KindNextText || k == KindNextCall }

// canSign reports whether a part can have a signature of the kind.
func (k Kind) canSign(p content.Part) bool {
	if content.IsNil(p) {
		return false
	}
	switch p.(type) {
	case *content.Text:
		return k == KindNextText || k == KindPreviousText
	case *content.ToolUse:
		return k == KindNextCall || k == KindPreviousCall
	}
	return false
}

// Removed replaces a thinking block whose signature [AttachSignatures] attached to
// an adjacent part. Encoders skip it.
var Removed content.Part = new(content.Thinking)

// AttachSignatures returns turns in which the signatures of adjacent parts that have
// the format f are attached to their parts. It treats consecutive turns of the
// assistant as one turn. If the text or tool call is gone, the signature is attached to
// an empty text, which replaces the thinking block. AttachSignatures does not change
// turns: it copies what it changes. Every part keeps its index.
func AttachSignatures(f content.Format, turns []content.Turn) []content.Turn {
	a := attacher{format: f, from: turns, to: turns}
	for i := range turns {
		if turns[i].Role != content.RoleAssistant {
			continue
		}
		if i == 0 || turns[i-1].Role != content.RoleAssistant {
			a.last = partIndex{-1, 0}
		}
		for k, p := range turns[i].Parts {
			a.part(p, partIndex{i, k})
		}
		if i+1 == len(turns) || turns[i+1].Role != content.RoleAssistant {
			a.flush()
		}
	}
	return a.to
}

// An attacher attaches signatures in turns of the assistant.
type attacher struct {
	format   content.Format
	from, to []content.Turn
	copied   bool      // to is a copy
	last     partIndex // the last part that is not an adjacent signature
	waiting  partIndex // a signature of the part that comes next
	kind     Kind      // of that signature; 0 if none is waiting
	data     string    // of that signature
}

// A partIndex is the index of a part; the turn is negative if there is no part.
type partIndex struct{ turn, part int }

// part handles the next part.
func (a *attacher) part(p content.Part, at partIndex) {
	kind, data, ok := a.parse(p)
	if !ok {
		if a.kind != 0 && a.sign(at, a.kind, a.data) {
			a.replace(a.waiting, Removed)
			a.kind = 0
		}
		a.flush()
		a.last = at
		return
	}
	a.flush()
	switch {
	case kind.isNext():
		a.waiting, a.kind, a.data = at, kind, data
	case a.last.turn >= 0 && a.sign(a.last, kind, data):
		a.replace(at, Removed)
	default:
		a.replace(at, a.emptyText(data))
	}
}

// parse returns the adjacent signature that a part holds.
func (a *attacher) parse(p content.Part) (k Kind, data string, ok bool) {
	t, ok := p.(*content.Thinking)
	if !ok || t == nil || t.Redacted.Format != a.format {
		return 0, "", false
	}
	return ParseAdjacentSignature(t.Redacted)
}

// flush attaches the signature that is waiting to an empty text.
func (a *attacher) flush() {
	if a.kind != 0 {
		a.replace(a.waiting, a.emptyText(a.data))
		a.kind = 0
	}
}

func (a *attacher) emptyText(data string) content.Part {
	return &content.Text{Signature: content.Signature{Format: a.format, Data: data}}
}

// sign attaches a signature to a part. It returns false if the part cannot have a
// signature of the kind, or already has one.
func (a *attacher) sign(at partIndex, k Kind, data string) bool {
	p := a.to[at.turn].Parts[at.part]
	if !k.canSign(p) {
		return false
	}
	if s := partfield.SignatureOf(p); s.Format == a.format && s.Data != "" {
		return false
	}
	a.replace(at, partfield.WithSignature(p, content.Signature{Format: a.format, Data: data}))
	return true
}

// replace replaces a part.
func (a *attacher) replace(at partIndex, p content.Part) {
	if !a.copied {
		a.copied, a.to = true, slices.Clone(a.from)
	}
	parts := &a.to[at.turn].Parts
	if &(*parts)[0] == &a.from[at.turn].Parts[0] {
		*parts = slices.Clone(*parts)
	}
	(*parts)[at.part] = p
}
