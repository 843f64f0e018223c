package envelope

import (
	"math"
	"unicode/utf8"

	"github.com/polywire/polywire/content"
)

// A Place is where a thought belongs among parts: in front of the part at
// Index or, where Cut is not 0, behind the first Cut bytes of that text.
type Place struct{ Index, Cut int }

// Places returns where thoughts belong, in their order, that the end of a
// stretch of n parts carries: a call behind the stretch, or a text that is its
// last part. It looks no further back than to a call.
//
// What the client has left out is not waited for. moved is true if texts came
// back altered so that the places are a guess. The guess keeps thoughts in order and on
// their side of every call, and what came first stays first.
func Places(list []Thought, n int, part func(i int) content.Part) (places []Place, moved bool) {
	w := walk{i: n, part: part}
	places = make([]Place, len(list))
	for k := len(list) - 1; k >= 0; k-- {
		t := &list[k]
		w.to(t.Back, t.Past)
		short := w.back < t.Back
		moved = moved || short && w.back > 0
		if t.First && (short || w.used > 0) {
			moved = moved || w.used > 0
			w.to(math.MaxInt, math.MaxInt)
		}
		var broken bool
		places[k], broken = w.place()
		moved = moved || broken
	}
	return places, moved
}

// A walk goes backwards over parts.
type walk struct {
	i    int // parts in front
	used int // bytes at the end of the last of these, a text, that are behind
	back int // bytes of text that are behind
	past int // files that are
	part func(i int) content.Part
}

// to goes on until so many bytes and files are behind, or no more can be.
func (w *walk) to(back, past int) {
	found := w.back + w.past
	enough := w.i // parts in front when all that was found was behind
	defer func() {
		if w.back >= back && w.used == 0 {
			w.i = enough // what says nothing stays in front
		}
	}()
	for w.i > 0 && (w.back < back || w.past < past) {
		p := w.part(w.i - 1)
		if content.IsNil(p) {
			return
		}
		switch p := p.(type) {
		case *content.Text:
			left := len(p.Text) - w.used
			if left > 0 && w.back >= back {
				return // the files are gone
			}
			if left > back-w.back {
				w.used += back - w.back
				w.back = back
				continue
			}
			w.back += left
		case *content.Thinking:
		case *content.ToolUse, *content.ToolResult:
			return
		default:
			if w.past >= past {
				return
			}
			w.past++
		}
		said := w.back + w.past
		w.i, w.used = w.i-1, 0
		if said != found {
			enough, found = w.i, said
		}
	}
}

// place returns where the walk is. broken is true if that is amid a letter, so
// that the place is the one in front of it.
func (w *walk) place() (p Place, broken bool) {
	if w.used == 0 {
		return Place{Index: w.i}, false
	}
	text := w.part(w.i - 1).(*content.Text).Text // nothing else is behind by halves
	cut := len(text) - w.used
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut, broken = cut-1, true
	}
	return Place{Index: w.i - 1, Cut: cut}, broken
}

// Weave appends a stretch of parts with thoughts in their places among them.
// thought makes a part of the one with an index, piece one of the bytes of a
// text from one place to another.
func Weave[P any](dst, stretch []P, places []Place, thought func(k int) P, piece func(p P, from, to int) P) []P {
	i, from := 0, 0
	rest := func(to int) {
		for ; i < to; i++ {
			p := stretch[i]
			if from > 0 {
				p, from = piece(p, from, -1), 0
			}
			dst = append(dst, p)
		}
	}
	for k, at := range places {
		rest(at.Index)
		if at.Cut > from {
			dst = append(dst, piece(stretch[i], from, at.Cut))
			from = at.Cut
		}
		dst = append(dst, thought(k))
	}
	rest(len(stretch))
	return dst
}
