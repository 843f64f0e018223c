package chatcompletions

import (
	"cmp"
	"errors"
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/openaiformat"
	"github.com/polywire/polywire/upstream"
)

// A decodedCall is a tool call that is received in fragments. Its block opens once the id,
// the name and the first arguments are known. Servers omit any of them, or send them
// late.
type decodedCall struct {
	index     int
	id, name  string // as received
	sentID    string // of the opened block
	block     int    // negative until it is open
	freeform  bool   // the input is any text
	namedLate bool   // a fragment named it after its arguments were complete
	closed    bool
	input     jsonSpan
	pending   strings.Builder // arguments received before the block is open
}

// addFragment reads a tool call or a fragment of one. v is the element of tool_calls, f
// its function. An element may have a custom tool in place of the function.
func (d *responseDecoder) addFragment(cand *decodedChoice, v, f jsonwire.Value, complete bool) error {
	input, freeform := "arguments", false
	if custom := v.Get("custom"); f.Kind() != jsonwire.Object && custom.Kind() == jsonwire.Object {
		f, input, freeform = custom, "input", true
	}
	if err := cmp.Or(
		codec.Expect("openai: a tool call", v, codec.Objects|codec.Missing),
		codec.Expect("openai: the function of a tool call", f, codec.Objects|codec.Optional),
		codec.Expect("openai: the name of a tool call", f.Get("name"), codec.Texts|codec.Numbers|codec.Optional),
	); err != nil {
		return codec.BadGateway(err)
	}
	if f.Kind() != jsonwire.Object {
		return nil
	}
	id, name, args, index := openaiformat.Scalar(v.Get("id")), openaiformat.Scalar(f.Get("name")), openaiformat.Text(f.Get(input)), 0
	if n, ok := v.Get("index").Int(); ok && n > 0 {
		index = int(min(n, 1<<30))
	}
	if a := f.Get(input); a.Kind() != jsonwire.String && codec.IsSet(a) {
		d.altered = true
	}
	c := cand.callAt(index)
	d.altered = d.altered || c != nil && !complete && c.startsAnother(id, name, args)
	if complete || c == nil || c.startsAnother(id, name, args) {
		if id == "" && name == "" && args == "" {
			return nil
		}
		if len(cand.calls) >= maxDecodedCalls {
			return codec.BadGateway(errors.New("openai: the response has too many tool calls"))
		}
		if !complete && c != nil && c.namedLate && name == "" && (id == "" || id == c.id) {
			id, name = c.id, c.name // named before its arguments arrived
		}
		d.closeBlock(cand)
		if c != nil {
			d.closeCall(cand, c)
		}
		d.closeCalls(cand, false)
		d.flushThinking(cand)
		c = &decodedCall{index: index, block: -1, freeform: freeform}
		cand.calls = append(cand.calls, c)
	}
	c.setName(id, name)
	d.addInput(cand, c, args)
	if complete {
		d.closeCall(cand, c)
	}
	return nil
}

// callAt returns the last call with an index, or nil.
func (cand *decodedChoice) callAt(index int) *decodedCall {
	for i := len(cand.calls) - 1; i >= 0; i-- {
		if cand.calls[i].index == index {
			return cand.calls[i]
		}
	}
	return nil
}

// startsAnother reports whether a fragment with the index of c begins another call.
// Some servers give all calls the same index and id. Others repeat the name in each
// fragment. So a repeated name begins another call only if the arguments of c are
// complete and the fragment has more.
func (c *decodedCall) startsAnother(id, name, args string) bool {
	switch {
	case id != "" && c.id != "" && id != c.id:
		return true
	case name != "" && !strings.HasPrefix(name, c.name):
		return true
	case !c.input.isComplete():
		return false
	case name != "" && c.name != "" && (id == "" || c.id == "" || name != c.name):
		return true
	}
	return (name != "" || c.namedLate) && strings.TrimSpace(args) != ""
}

// setName sets the id and the name, which may arrive late, repeatedly, or extended.
func (c *decodedCall) setName(id, name string) {
	c.namedLate = c.namedLate || name != "" && c.input.isComplete()
	if c.id == "" && id != "" {
		c.id = strings.Clone(id)
	}
	if c.block < 0 && len(name) > len(c.name) && strings.HasPrefix(name, c.name) {
		c.name = strings.Clone(name)
	}
}

// addInput adds arguments to a tool call.
func (d *responseDecoder) addInput(cand *decodedChoice, c *decodedCall, s string) {
	if s == "" {
		return
	}
	if c.closed {
		if strings.TrimSpace(s) != "" {
			d.addLoss(lossDecodedInput, "parts")
		}
		return
	}
	if !c.freeform {
		c.input.add(s)
	}
	if c.block < 0 {
		c.pending.WriteString(s)
		if c.id != "" && c.name != "" {
			d.openCall(cand, c)
		}
		return
	}
	d.add(upstream.Event{Kind: upstream.EventInput, Block: c.block, Candidate: cand.index, Text: s})
}

// openCall opens the block of a tool call.
func (d *responseDecoder) openCall(cand *decodedChoice, c *decodedCall) {
	if c.sentID = c.id; c.id == "" {
		c.sentID = d.newID()
	}
	c.sentID = d.uniqueID(cand, c.sentID)
	d.altered = d.altered || c.sentID != c.id
	cand.hasContent = true
	c.block = d.openPart(cand, &content.ToolUse{ID: c.sentID, Name: c.name, Freeform: c.freeform})
	if c.pending.Len() > 0 {
		d.add(upstream.Event{Kind: upstream.EventInput, Block: c.block, Candidate: cand.index, Text: c.pending.String()})
		c.pending.Reset()
	}
}

// uniqueID returns id, or another id if a previous tool call has it.
func (d *responseDecoder) uniqueID(cand *decodedChoice, id string) string {
	n, taken := cand.countCalls(id)
	if taken {
		id += "_" + strconv.Itoa(n+1)
		if _, taken = cand.countCalls(id); taken {
			id = d.newID()
		}
	}
	return id
}

// countCalls returns the number of open and closed blocks of tool calls, and whether
// one has an id.
func (cand *decodedChoice) countCalls(id string) (n int, taken bool) {
	for _, c := range cand.calls {
		if c.block >= 0 {
			n++
			taken = taken || c.sentID == id
		}
	}
	return n, taken
}

// closeCalls closes the tool calls whose arguments are complete, or all. Only what follows shows
// that the input of a free-form call is complete.
func (d *responseDecoder) closeCalls(cand *decodedChoice, all bool) {
	for _, c := range cand.calls {
		if !c.closed && (all || c.freeform || c.input.isComplete()) {
			d.closeCall(cand, c)
		}
	}
}

// closeCall closes a tool call. A call without a name is dropped.
func (d *responseDecoder) closeCall(cand *decodedChoice, c *decodedCall) {
	if c.closed {
		return
	}
	c.closed = true
	if c.name == "" {
		cand.namelessCall = true
		d.addLoss(openaiformat.LossNamelessCall, "parts."+strconv.Itoa(d.next))
		return
	}
	if c.block < 0 {
		d.openCall(cand, c)
	}
	d.add(upstream.Event{Kind: upstream.EventClose, Block: c.block, Candidate: cand.index})
}

// A jsonSpan scans JSON in fragments to find the end of an object or array.
type jsonSpan struct {
	depth             int
	started           bool
	quoted, backslash bool
}

func (s *jsonSpan) isComplete() bool { return s.started && s.depth <= 0 && !s.quoted }

func (s *jsonSpan) add(text string) {
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
			s.started = true
			s.depth++
		case c == '}' || c == ']':
			s.depth--
		}
	}
}
