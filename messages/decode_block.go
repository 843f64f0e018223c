package messages

import (
	"errors"
	"fmt"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/upstream"
)

// opened reads a block that begins, or a whole one, and opens it.
func (d *decoder) opened(index int, v jsonwire.Value) error {
	if v.Kind() != jsonwire.Object {
		return fmt.Errorf("messages: content block %d is no object", index)
	}
	for i := range d.open {
		if d.open[i].index == index {
			return fmt.Errorf("messages: content block %d began twice", index)
		}
	}
	if len(d.open) >= maxOpen {
		return errors.New("messages: too many content blocks are open at once")
	}
	p := d.block(index, v)
	if d.broken != nil {
		return d.broken
	}
	d.open = append(d.open, openBlock{index, kindOfBlock(p)})
	d.next = max(d.next, index+1)
	return nil
}

// closed closes the i-th of the open blocks.
func (d *decoder) closed(i int) {
	d.add(upstream.Event{Kind: upstream.EventClose, Block: d.open[i].index})
	d.open = append(d.open[:i], d.open[i+1:]...)
}

// block reads a block as the parser of requests does, and adds its event and
// what was lost.
func (d *decoder) block(index int, v jsonwire.Value) content.Part {
	d.parser.violations = content.ViolationList{}
	part := d.parser.block(v, true)
	at := len(d.events)
	d.add(upstream.Event{Kind: upstream.EventOpen, Block: index, Part: part})
	d.faults(index)
	switch p := part.(type) {
	case *content.Text:
		d.text(index, p.Text)
		p.Text = ""
	case *content.Thinking:
		d.text(index, p.Text)
		p.Text = ""
		// A format alone is no signature.
		if p.Signature.Data == "" {
			p.Signature = content.Signature{}
		}
		if p.Redacted.Data == "" {
			p.Redacted = content.Signature{}
		}
	case *content.ToolUse:
		p.Input = d.arguments(index, v)
	case *content.ServerToolUse:
		p.Input = d.arguments(index, v)
	}
	d.events[at].Part = part
	return part
}

// text adds the text of a block: see [upstream.EventKind].
func (d *decoder) text(index int, s string) {
	if s != "" {
		d.add(upstream.Event{Kind: upstream.EventText, Block: index, Text: s})
	}
}

// faults tells what the parser could not read. What is merely missing is not
// lost.
func (d *decoder) faults(index int) {
	if d.parser.violations.Len() == 0 {
		return
	}
	d.odd = true
	list, _ := content.Violations(d.parser.violations.Err())
	for _, f := range list {
		if f.Code == content.CodeType && neededOfBlock(f.Path) && d.broken == nil {
			d.broken = fmt.Errorf("messages: the %s of content block %d is of the wrong type", f.Path, index)
		}
	}
	for _, f := range list {
		if f.Code == content.CodeType && !strings.HasSuffix(f.Path, ".input") {
			d.lose(codec.ResponseWrongType, partPath(index))
			return
		}
	}
}

// neededOfBlock reports whether path is that of a member that a block or a
// citation is nothing without. Paths begin with the block's type; an empty one
// is that of the whole.
func neededOfBlock(path string) bool {
	if _, rest, ok := strings.Cut(path, "."); ok {
		path = rest
	}
	switch path {
	case "", "type", "text", "thinking", "data", "name", "id", "tool_use_id":
		return true
	}
	return false
}

// arguments returns the arguments of a call. None, and an empty object in any
// spelling, are what stands for those that come in deltas, or for none at all.
func (d *decoder) arguments(index int, v jsonwire.Value) string {
	x := v.Get("input")
	switch x.Kind() {
	case jsonwire.Object:
		if x.Len() == 0 {
			return ""
		}
		return x.Raw()
	case jsonwire.None, jsonwire.Null:
		d.odd = true
		return ""
	case jsonwire.String:
		d.odd = true
		s := x.Str()
		if s == "" {
			return ""
		}
		if jsonwire.ValidObject(s) {
			d.lose(codec.ResponseStringInput, partPath(index))
			return s
		}
	}
	// What clients are told of it is the same as if it came in deltas.
	d.odd = true
	d.add(upstream.Event{Kind: upstream.EventInput, Block: index, Text: x.Raw()})
	return ""
}

// find returns which of the open blocks an event is about. One without an
// index is about the block that began last.
func (d *decoder) find(index jsonwire.Value) (int, error) {
	if err := codec.Expect("messages: the index of an event", index, codec.Numbers|codec.Optional); err != nil {
		return 0, err
	}
	n, ok := index.Int()
	if !ok {
		d.odd = true
		if len(d.open) == 0 {
			return 0, errors.New("messages: an event for a content block, but none is open")
		}
		return len(d.open) - 1, nil
	}
	for i := len(d.open) - 1; i >= 0; i-- {
		if int64(d.open[i].index) == n {
			return i, nil
		}
	}
	return 0, fmt.Errorf("messages: an event for content block %d, which is not open", n)
}

// A deltaForm is how one kind of delta is told.
type deltaForm struct {
	tag   string
	value string // the member that holds it
	event upstream.EventKind
	names codec.Names
}

// The forms of deltas. The table is never changed.
var deltaForms = [...]deltaForm{
	{"text_delta", "text", upstream.EventText, codec.Names{Typed: []string{"type", "text"}}},
	{"input_json_delta", "partial_json", upstream.EventInput, codec.Names{Typed: []string{"type", "partial_json"}}},
	{"thinking_delta", "thinking", upstream.EventText,
		codec.Names{Typed: []string{"type", "thinking"}, Kept: []string{"estimated_tokens"}}},
	{"signature_delta", "signature", upstream.EventSignature, codec.Names{Typed: []string{"type", "signature"}}},
	{"citations_delta", "citation", upstream.EventCitation, codec.Names{Typed: []string{"type", "citation"}}},
}

// suits reports whether a delta of this form can be added to a block.
func (f *deltaForm) suits(k blockKind) bool {
	switch f.tag {
	case "text_delta", "citations_delta":
		return k == textBlock
	case "input_json_delta":
		return k == callBlock
	case "thinking_delta":
		return k == thinkingBlock
	}
	return true
}

// delta reads a content_block_delta.
func (d *decoder) delta(v jsonwire.Value) error {
	i, err := d.find(v.Get("index"))
	if err != nil {
		return err
	}
	b := d.open[i]
	x := v.Get("delta")
	if x.Kind() != jsonwire.Object {
		return fmt.Errorf("messages: the delta for content block %d is no object", b.index)
	}
	if err := codec.Expect("messages: the type of a delta", x.Get("type"), codec.Texts); err != nil {
		return err
	}
	form := deltaFormOf(x.Get("type"))
	if form == nil || b.kind == wholeBlock {
		// It cannot be added to anything, but is kept for clients of this
		// format.
		d.add(upstream.Event{Kind: upstream.EventBlockExtra, Block: b.index, Text: "content_block_delta",
			Extra: &content.Extra{Format: Format, JSON: v.Raw()}})
		return nil
	}
	if !form.suits(b.kind) {
		return fmt.Errorf("messages: a %s for content block %d, which has none", form.tag, b.index)
	}
	e := upstream.Event{Kind: form.event, Block: b.index}
	if err := d.deltaValue(&e, form, x.Get(form.value)); err != nil {
		return err
	}
	if x.Len() > 2 || v.Len() > 3 || d.odd {
		e.Extra = deltaRest(v, x, form)
	}
	d.add(e)
	return nil
}

func deltaFormOf(tag jsonwire.Value) *deltaForm {
	for i := range deltaForms {
		if tag.Is(deltaForms[i].tag) {
			return &deltaForms[i]
		}
	}
	return nil
}

// deltaValue reads what a delta adds.
func (d *decoder) deltaValue(e *upstream.Event, f *deltaForm, v jsonwire.Value) error {
	if f.event == upstream.EventCitation {
		e.Citation = d.citation(e.Block, v)
		return d.broken
	}
	if v.Kind() != jsonwire.String && v.Exists() {
		return fmt.Errorf("messages: the %s of a %s is not a string", f.value, f.tag)
	}
	d.odd = d.odd || !v.Exists()
	if f.event == upstream.EventSignature {
		e.Signature = &content.Signature{Format: Format, Data: v.Str()}
		return nil
	}
	e.Text = v.Str()
	return nil
}

func (d *decoder) citation(block int, v jsonwire.Value) *content.Citation {
	c := new(content.Citation)
	d.parser.violations = content.ViolationList{}
	d.parser.citation(c, v)
	d.faults(block)
	return c
}

// deltaRest returns the members of a delta that have no field, and those of
// the event around it, of which the delta's hide the ones of the same name.
func deltaRest(event, delta jsonwire.Value, f *deltaForm) *content.Extra {
	var r rest
	r.members(delta, &f.names)
	if !r.some {
		r.members(event, &deltaEventNames)
		return r.extra()
	}
	taken := map[string]bool{}
	for name := range delta.Members() {
		taken[name] = true
	}
	for name, x := range event.Members() {
		if !deltaEventNames.Has(name) && !taken[name] {
			r.add(name, x)
		}
	}
	return r.extra()
}

var deltaEventNames = codec.Names{Typed: []string{"type", "index", "delta"}}
