package envelope

import (
	"slices"
	"strings"

	"github.com/polywire/polywire/content"
)

// Neighbour returns the redacted thought that holds a signature of the part
// behind it (Next, NextCall) or in front of it (Last, LastCall).
func Neighbour(f content.Format, k Kind, data string) content.Signature {
	return content.Signature{Format: f, Data: string(rune(k)) + data}
}

// OfNeighbour reads what Neighbour made.
func OfNeighbour(redacted content.Signature) (k Kind, data string, ok bool) {
	if redacted.Data == "" || !Kind(redacted.Data[0]).Beside() {
		return 0, "", false
	}
	return Kind(redacted.Data[0]), redacted.Data[1:], true
}

// Beside reports whether a kind is that of another part's signature.
func (k Kind) Beside() bool { return strings.IndexByte("npNP", byte(k)) >= 0 }

// ahead reports whether that part is the one behind.
func (k Kind) ahead() bool { return k == Next || k == NextCall }

// fits reports whether a part is one that a signature of the kind can be of.
func (k Kind) fits(p content.Part) bool {
	if content.IsNil(p) {
		return false
	}
	switch p.(type) {
	case *content.Text:
		return k == Next || k == Last
	case *content.ToolUse:
		return k == NextCall || k == LastCall
	}
	return false
}

// Taken stands in the place of a neighbour's signature that is back on its part.
// It is to be left out.
var Taken content.Part = new(content.Thinking)

// Rejoin returns turns in which the neighbours' signatures of the format f are
// back on their parts, also where the assistant's turns are pieces of an answer.
// Where the text or the call is gone, the signature stands on an empty text in
// its place, as vendors sign late. Turns and lists are copied before they change;
// parts keep their places.
func Rejoin(f content.Format, turns []content.Turn) []content.Turn {
	j := joiner{format: f, from: turns, to: turns}
	for i := range turns {
		if turns[i].Role != content.RoleAssistant {
			continue
		}
		if i == 0 || turns[i-1].Role != content.RoleAssistant {
			j.last = partAt{-1, 0}
		}
		for k, p := range turns[i].Parts {
			j.part(p, partAt{i, k})
		}
		if i+1 == len(turns) || turns[i+1].Role != content.RoleAssistant {
			j.loose()
		}
	}
	return j.to
}

// A joiner puts signatures back, in what the assistant says in a row.
type joiner struct {
	format   content.Format
	from, to []content.Turn
	own      bool   // to is a copy
	last     partAt // the last part that is none of these signatures
	wait     partAt // a signature of the part that comes next
	kind     Kind   // of that signature, 0 if there is none
	data     string
}

// A partAt is the place of a part; a negative turn is none.
type partAt struct{ turn, part int }

// part takes the next part.
func (j *joiner) part(p content.Part, at partAt) {
	kind, data, ok := j.neighbour(p)
	if !ok {
		if j.kind != 0 && j.sign(at, j.kind, j.data) {
			j.set(j.wait, Taken)
			j.kind = 0
		}
		j.loose()
		j.last = at
		return
	}
	j.loose()
	switch {
	case kind.ahead():
		j.wait, j.kind, j.data = at, kind, data
	case j.last.turn >= 0 && j.sign(j.last, kind, data):
		j.set(at, Taken)
	default:
		j.set(at, j.alone(data))
	}
}

// neighbour returns the signature that a part is.
func (j *joiner) neighbour(p content.Part) (k Kind, data string, ok bool) {
	t, ok := p.(*content.Thinking)
	if !ok || t == nil || t.Redacted.Format != j.format {
		return 0, "", false
	}
	return OfNeighbour(t.Redacted)
}

// loose puts a signature whose part did not come on an empty text.
func (j *joiner) loose() {
	if j.kind != 0 {
		j.set(j.wait, j.alone(j.data))
		j.kind = 0
	}
}

func (j *joiner) alone(data string) content.Part {
	return &content.Text{Signature: content.Signature{Format: j.format, Data: data}}
}

// sign signs a part, and reports whether it could: once, and only what is of
// the kind.
func (j *joiner) sign(at partAt, k Kind, data string) bool {
	p := j.to[at.turn].Parts[at.part]
	if !k.fits(p) {
		return false
	}
	if s := Of(p); s.Format == j.format && s.Data != "" {
		return false
	}
	j.set(at, With(p, content.Signature{Format: j.format, Data: data}))
	return true
}

// set puts another part in a place.
func (j *joiner) set(at partAt, p content.Part) {
	if !j.own {
		j.own, j.to = true, slices.Clone(j.from)
	}
	parts := &j.to[at.turn].Parts
	if &(*parts)[0] == &j.from[at.turn].Parts[0] {
		*parts = slices.Clone(*parts)
	}
	(*parts)[at.part] = p
}
