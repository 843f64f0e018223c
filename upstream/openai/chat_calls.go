package openai

import (
	"cmp"
	"crypto/rand"
	"errors"
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/upstream"
)

// A chatCall is a call that comes in fragments. It is told once its id, its name
// and the first of its arguments are there; servers leave out any of them, or
// send them late.
type chatCall struct {
	index    int
	id, name string // as the server says them
	given    string // the id that it is told by
	block    int    // negative until it is told
	again    bool   // it was named after its arguments were whole
	closed   bool
	input    span
	held     strings.Builder // arguments that came before it was told
}

// newCallID makes an id for a call that has none.
func newCallID() string { return "call_" + strings.ToLower(rand.Text()[:24]) }

// fragment takes a piece of a call, or a whole one. v is the element of
// tool_calls, f its function.
func (d *chatDecoder) fragment(a *chatAnswer, v, f jsonwire.Value, whole bool) error {
	if err := cmp.Or(
		codec.Expect("openai: a call", v, codec.Objects|codec.Missing),
		codec.Expect("openai: the function of a call", f, codec.Objects|codec.Optional),
		codec.Expect("openai: the name of a call", f.Get("name"), codec.Texts|codec.Optional),
	); err != nil {
		return codec.BadGateway(err)
	}
	if f.Kind() != jsonwire.Object {
		if v.Get("custom").Kind() == jsonwire.Object {
			d.lose(lostCustom, "parts")
		}
		return nil
	}
	id, name, args, index := v.Get("id").Str(), f.Get("name").Str(), arguments(f.Get("arguments")), 0
	if n, ok := v.Get("index").Int(); ok && n > 0 {
		index = int(min(n, 1<<30))
	}
	c := a.at(index)
	if whole || c == nil || c.another(id, name, args) {
		if id == "" && name == "" && args == "" {
			return nil
		}
		if len(a.calls) >= mostCalls {
			return codec.BadGateway(errors.New("openai: too many calls in one answer"))
		}
		if !whole && c != nil && c.again && name == "" && (id == "" || id == c.id) {
			id, name = c.id, c.name // it was named before its arguments came
		}
		d.closeText(a)
		if c != nil {
			d.closeCall(a, c)
		}
		d.closeCalls(a, false)
		d.flushThought(a)
		a.calls = append(a.calls, chatCall{index: index, block: -1})
		c = &a.calls[len(a.calls)-1]
	}
	c.called(id, name)
	d.input(a, c, args)
	if whole {
		d.closeCall(a, c)
	}
	return nil
}

// at returns the last call with an index, or nil.
func (a *chatAnswer) at(index int) *chatCall {
	for i := len(a.calls) - 1; i >= 0; i-- {
		if a.calls[i].index == index {
			return &a.calls[i]
		}
	}
	return nil
}

// another reports whether a fragment begins a call other than c, which has the
// same index: some servers give the same to all, and the same id. Others name a
// call in each of its fragments, so a name that c has begins another call only
// with arguments beside those of c that are whole.
func (c *chatCall) another(id, name, args string) bool {
	switch {
	case id != "" && c.id != "" && id != c.id:
		return true
	case name != "" && !strings.HasPrefix(name, c.name):
		return true
	case !c.input.whole():
		return false
	case name != "" && c.name != "" && (id == "" || c.id == "" || name != c.name):
		return true
	}
	return (name != "" || c.again) && strings.TrimSpace(args) != ""
}

// called takes the id and the name, which may come late, again, or longer.
func (c *chatCall) called(id, name string) {
	c.again = c.again || name != "" && c.input.whole()
	if c.id == "" && id != "" {
		c.id = strings.Clone(id)
	}
	if c.block < 0 && len(name) > len(c.name) && strings.HasPrefix(name, c.name) {
		c.name = strings.Clone(name)
	}
}

// arguments returns a piece of arguments. They should be a string of JSON, but
// may be the JSON itself.
func arguments(v jsonwire.Value) string {
	switch v.Kind() {
	case jsonwire.String:
		return v.Str()
	case jsonwire.None, jsonwire.Null:
		return ""
	}
	return string(jsonwire.AppendCompact(nil, v.Raw()))
}

// input adds arguments to a call.
func (d *chatDecoder) input(a *chatAnswer, c *chatCall, s string) {
	if s == "" {
		return
	}
	if c.closed {
		if strings.TrimSpace(s) != "" {
			d.lose(lostInput, "parts")
		}
		return
	}
	c.input.read(s)
	if c.block < 0 {
		c.held.WriteString(s)
		if c.id != "" && c.name != "" {
			d.tell(a, c)
		}
		return
	}
	d.add(upstream.Event{Kind: upstream.EventInput, Block: c.block, Candidate: a.index, Text: s})
}

// tell opens the block of a call.
func (d *chatDecoder) tell(a *chatAnswer, c *chatCall) {
	if c.given = c.id; c.id == "" {
		c.given = d.newID()
	}
	c.given = d.unique(a, c.given)
	a.said = true
	c.block = d.opened(a, &content.ToolUse{ID: c.given, Name: c.name})
	if c.held.Len() > 0 {
		d.add(upstream.Event{Kind: upstream.EventInput, Block: c.block, Candidate: a.index, Text: c.held.String()})
		c.held.Reset()
	}
}

// unique returns the id of a call, or another one if a call before it has it.
func (d *chatDecoder) unique(a *chatAnswer, id string) string {
	n, taken := a.told(id)
	if taken {
		id += "_" + strconv.Itoa(n+1)
		if _, taken = a.told(id); taken {
			id = d.newID()
		}
	}
	return id
}

// told returns how many calls have been told, and whether one has an id.
func (a *chatAnswer) told(id string) (n int, taken bool) {
	for i := range a.calls {
		if c := &a.calls[i]; c.block >= 0 {
			n++
			taken = taken || c.given == id
		}
	}
	return n, taken
}

// closeCalls closes the calls whose arguments are whole, or all of them.
func (d *chatDecoder) closeCalls(a *chatAnswer, all bool) {
	for i := range a.calls {
		if c := &a.calls[i]; !c.closed && (all || c.input.whole()) {
			d.closeCall(a, c)
		}
	}
}

// closeCall closes a call. One that has no name cannot be told.
func (d *chatDecoder) closeCall(a *chatAnswer, c *chatCall) {
	if c.closed {
		return
	}
	c.closed = true
	if c.name == "" {
		a.nameless = true
		d.lose(lostNameless, "parts."+strconv.Itoa(d.next))
		return
	}
	if c.block < 0 {
		d.tell(a, c)
	}
	d.add(upstream.Event{Kind: upstream.EventClose, Block: c.block, Candidate: a.index})
}

// A span follows JSON that comes in pieces, as far as to tell whether an object
// or a list is whole.
type span struct {
	depth             int
	begun             bool
	quoted, backslash bool
}

func (s *span) whole() bool { return s.begun && s.depth <= 0 && !s.quoted }

func (s *span) read(text string) {
	for i := range len(text) {
		c := text[i]
		switch {
		case s.backslash:
			s.backslash = false
		case s.quoted:
			s.quoted, s.backslash = c != '"', c == '\\'
		case c == '"':
			s.quoted = true
		case c == '{' || c == '[':
			s.begun = true
			s.depth++
		case c == '}' || c == ']':
			s.depth--
		}
	}
}
