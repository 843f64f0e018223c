package openai

import (
	"strings"

	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/upstream"
)

// A mould is what chunks have in common that say no more than one piece of
// text, of a thought, or of a call's arguments: all but that. Nearly all chunks
// are so, and the next is most likely made in the mould of the last.
type mould struct {
	head, tail string // before the text and behind; head is empty if there is none
	answer     int    // its place in the list of answers
	name       string // the member that holds the text, for thoughts
	call       int    // its place in the list of calls, for arguments
	kind       mouldKind
}

type mouldKind uint8

const (
	mouldText mouldKind = iota
	mouldThought
	mouldInput
)

// Longer chunks are not worth it.
const longestMould = 4 << 10

// learn makes a mould of the document at hand, if it says just one piece that
// goes on with what is open, and nothing else.
func (d *chatDecoder) learn(data string, choices jsonwire.Value) {
	if len(d.events) != 1 || len(data) > longestMould || d.doc.Replaced() > 0 || choices.Len() != 1 || d.tags != ThinkTagsOff {
		return
	}
	e := &d.events[0]
	var choice, delta, at jsonwire.Value
	for _, v := range choices.Elems() {
		choice = v
	}
	// Whatever else is in the chunk is the same in the next, and said nothing.
	if delta = choice.Get("delta"); delta.Kind() != jsonwire.Object || choice.Get("finish_reason").Str() != "" {
		return
	}
	m := mould{}
	for i := range d.answers {
		if d.answers[i].index == e.Candidate {
			m.answer = i
		}
	}
	switch a := &d.answers[m.answer]; {
	case e.Kind == upstream.EventText && a.open == blockText:
		at = delta.Get("content")
	case e.Kind == upstream.EventText && a.open == blockThinking:
		m.kind = mouldThought
		for _, name := range reasoningNames {
			if v := delta.Get(name); v.Str() != "" && !at.Exists() {
				at, m.name = v, name
			}
		}
	case e.Kind == upstream.EventInput:
		m.kind = mouldInput
		at, m.call = d.inputAt(a, delta, e.Block)
	}
	if at.Kind() != jsonwire.String || at.Str() != e.Text || strings.Count(data, at.Raw()) != 1 {
		return // something else said it, or a second one could be what differs next time
	}
	if delta.Get(detailsName).Len()+delta.Get(blocksName).Len()+len(delta.Get(sealedName).Str()) > 0 {
		return // these add up, even where they are the same
	}
	m.head, m.tail = data[:at.Offset()], data[at.End():]
	d.mould = m
}

// inputAt returns where the arguments of a delta stand, and which call of the
// list they belong to.
func (d *chatDecoder) inputAt(a *chatAnswer, delta jsonwire.Value, block int) (at jsonwire.Value, call int) {
	list := delta.Get("tool_calls")
	if list.Len() != 1 {
		return at, 0
	}
	for _, v := range list.Elems() {
		f := v.Get("function")
		if v.Get("id").Str() == "" && f.Get("name").Str() == "" {
			at = f.Get("arguments")
		}
	}
	for i := range a.calls {
		if a.calls[i].block == block {
			call = i
		}
	}
	return at, call
}

// quick reads a chunk that is made in the mould, and reports whether it is one.
// It says what the whole way would say, several times cheaper: all that is left
// to be looked at is the text. If that is one string, all of data is JSON, and
// says nothing else. Anything that is not just so is left to the whole way.
func (d *chatDecoder) quick(data string) bool {
	m := &d.mould
	rest, ok := strings.CutPrefix(data, m.head)
	if !ok || m.head == "" {
		return false
	}
	if rest, ok = strings.CutSuffix(rest, m.tail); !ok || len(rest) < 2 || rest[0] != '"' {
		return false
	}
	a := &d.answers[m.answer]
	if !a.continues(m) || d.doc.Parse(rest, jsonwire.Limits{}) != nil {
		return false
	}
	s := d.doc.Root().Str()
	if s == "" {
		return false // another member may say something instead
	}
	switch m.kind {
	case mouldInput:
		d.input(a, &a.calls[m.call], s)
	case mouldThought:
		d.delta(a, blockThinking, s)
	default:
		d.delta(a, blockText, s)
	}
	return true
}

// suits reports whether a chunk looks as if it were made in the mould, and had
// something to say.
func (d *chatDecoder) suits(data string) bool {
	m := &d.mould
	return m.head != "" && len(data) > len(m.head)+len(m.tail)+2 && strings.HasPrefix(data, m.head) &&
		strings.HasSuffix(data, m.tail) && d.answers[m.answer].continues(m)
}

// continues reports whether what a mould is for is still open.
func (a *chatAnswer) continues(m *mould) bool {
	switch m.kind {
	case mouldInput:
		// Only the last call with an index takes arguments.
		c := &a.calls[m.call]
		return !c.closed && !c.again && c.block >= 0 && a.at(c.index) == c
	case mouldThought:
		return a.open == blockThinking && a.member == m.name
	}
	return a.open == blockText
}
