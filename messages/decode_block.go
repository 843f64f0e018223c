package messages

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/object"
	"github.com/polywire/polywire/internal/response"
	"github.com/polywire/polywire/internal/violation"
	"github.com/polywire/polywire/upstream"
)

// openBlock reads the start of a block, or a whole block, and opens it.
func (d *decoder) openBlock(index int, v jsonwire.Value) error {
	if v.Kind() != jsonwire.Object {
		return fmt.Errorf("messages: content block %d is not an object", index)
	}
	for i := range d.open {
		if d.open[i].index == index {
			return fmt.Errorf("messages: content block %d is already open", index)
		}
	}
	if len(d.open) >= maxOpen {
		return fmt.Errorf("messages: more than %d content blocks are open", maxOpen)
	}
	p := d.block(index, v)
	if d.blockErr != nil {
		return d.blockErr
	}
	d.open = append(d.open, openBlock{index, response.KindOf(p)})
	d.next = max(d.next, index+1)
	return nil
}

// closeBlock closes the i-th open block.
func (d *decoder) closeBlock(i int) {
	d.add(upstream.Event{Kind: upstream.EventClose, Block: d.open[i].index})
	d.open = append(d.open[:i], d.open[i+1:]...)
}

// block parses a block in the same way as blocks of requests. It adds an event and losses.
func (d *decoder) block(index int, v jsonwire.Value) content.Part {
	d.parser.Violations = violation.List{}
	part := d.parser.block(v, true)
	at := len(d.events)
	d.add(upstream.Event{Kind: upstream.EventOpen, Block: index, Part: part})
	d.reportViolations(index)
	switch p := part.(type) { // other kinds have no deltas
	case *content.Text:
		d.text(index, p.Text)
		p.Text = ""
	case *content.Thinking:
		d.text(index, p.Text)
		p.Text = ""
		// A format without data is not a signature.
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

// reportViolations reports members that the parser could not read. Missing members are not
// losses.
func (d *decoder) reportViolations(index int) {
	if d.parser.Violations.Len() == 0 {
		return
	}
	d.nonstandard = true
	list, _ := content.Violations(d.parser.Violations.Err())
	for _, f := range list {
		if f.Code == content.CodeType && isRequired(f.Path) && d.blockErr == nil {
			d.blockErr = fmt.Errorf("messages: the %s of content block %d is of the wrong type", f.Path, index)
		}
	}
	for _, f := range list {
		if f.Code == content.CodeType && !strings.HasSuffix(f.Path, ".input") {
			d.lose(codec.ResponseWrongType, partPath(index))
			return
		}
	}
}

// isRequired reports whether path is a required member of a block or a citation. A path begins
// with the type of the block; the empty path is that of the block itself.
func isRequired(path string) bool {
	if _, rest, ok := strings.Cut(path, "."); ok {
		path = rest
	}
	switch path {
	case "", "type", "text", "thinking", "data", "name", "id", "tool_use_id":
		return true
	}
	return false
}

// arguments returns the arguments of a tool call. It returns an empty string if there are
// none, or an empty object, which deltas may replace.
func (d *decoder) arguments(index int, v jsonwire.Value) string {
	x := v.Get("input")
	switch x.Kind() {
	case jsonwire.Object:
		if x.Len() == 0 {
			return ""
		}
		return x.Raw()
	case jsonwire.None, jsonwire.Null:
		d.nonstandard = true
		return ""
	case jsonwire.String:
		d.nonstandard = true
		s := x.Str()
		if s == "" {
			return ""
		}
		if jsonwire.ValidObject(s) {
			d.lose(codec.ResponseStringInput, partPath(index))
			return s
		}
	}
	// Clients receive the same as for arguments in deltas.
	d.nonstandard = true
	d.add(upstream.Event{Kind: upstream.EventInput, Block: index, Text: x.Raw()})
	return ""
}

// find returns the position of the open block with an index. The default is the block that
// began last.
func (d *decoder) find(index jsonwire.Value) (int, error) {
	if err := codec.Expect("messages: the index of an event", index, codec.Numbers|codec.Optional); err != nil {
		return 0, err
	}
	n, ok := index.Int()
	if !ok {
		d.nonstandard = true
		if len(d.open) == 0 {
			return 0, errors.New("messages: an event for a content block, but no block is open")
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

// accepts reports whether a block can have deltas of this form.
func (f *deltaForm) accepts(k response.Kind) bool {
	switch f.tag {
	case "text_delta", "citations_delta":
		return k == response.Text
	case "input_json_delta":
		return k == response.Call
	case "thinking_delta":
		return k == response.Thinking
	}
	return true
}

// delta reads a content_block_delta.
func (d *decoder) delta(v jsonwire.Value, t *object.Type) error {
	i, err := d.find(d.eventValues.index)
	if err != nil {
		return err
	}
	b, x := d.open[i], d.eventValues.delta
	if x.Kind() != jsonwire.Object {
		return fmt.Errorf("messages: the delta for content block %d is not an object", b.index)
	}
	if err := codec.Expect("messages: the type of a delta", x.Get("type"), codec.Texts); err != nil {
		return err
	}
	form := deltaFormOf(x.Get("type"))
	if form == nil || b.kind == response.Other {
		// It cannot be part of a block, but clients of this format receive it.
		d.add(upstream.Event{Kind: upstream.EventBlockExtra, Block: b.index, Text: "content_block_delta",
			Extra: &content.Extra{Format: Format, JSON: v.Raw()}})
		return nil
	}
	if !form.accepts(b.kind) {
		return fmt.Errorf("messages: content block %d cannot have a %s", b.index, form.tag)
	}
	e := upstream.Event{Kind: form.event, Block: b.index}
	if err := d.deltaValue(&e, form, x.Get(form.value)); err != nil {
		return err
	}
	if x.Len() > 2 || v.Len() > 3 || d.nonstandard {
		e.Extra = d.deltaRest(v, t, x, form)
	}
	d.add(e)
	return nil
}

func deltaFormOf(tag jsonwire.Value) *deltaForm {
	forms := deltaForms()
	for i := range forms {
		if tag.Is(forms[i].tag) {
			return &forms[i]
		}
	}
	return nil
}

// deltaValue reads the value of a delta.
func (d *decoder) deltaValue(e *upstream.Event, f *deltaForm, v jsonwire.Value) error {
	if f.event == upstream.EventCitation {
		e.Citation = d.citation(e.Block, v)
		return d.blockErr
	}
	if v.Kind() != jsonwire.String && v.Exists() {
		return fmt.Errorf("messages: the %s of a %s is not a string", f.value, f.tag)
	}
	d.nonstandard = d.nonstandard || !v.Exists()
	if f.event == upstream.EventSignature {
		e.Signature = &content.Signature{Format: Format, Data: v.Str()}
		return nil
	}
	e.Text = v.Str()
	return nil
}

func (d *decoder) citation(block int, v jsonwire.Value) *content.Citation {
	c := new(content.Citation)
	d.parser.Violations = violation.List{}
	d.parser.citation(c, v)
	d.reportViolations(block)
	return c
}

// deltaRest returns the members of a delta, and of the event of type t around it, that have
// no field. Those of the delta take precedence.
func (d *decoder) deltaRest(event jsonwire.Value, t *object.Type, delta jsonwire.Value, f *deltaForm) *content.Extra {
	b := appendKept(d.parser.Extras.Begin(), delta, f.of)
	if len(b) == len("{") {
		return d.rest(event, t)
	}
	taken := map[string]bool{}
	for name := range delta.Members() {
		taken[name] = true
	}
	for name, x := range event.Members() {
		if isKept(t, name, x) && !taken[name] {
			b = codec.AppendMember(b, name, x.Raw())
		}
	}
	return d.newExtra(b)
}

// event reads the data of an event of a stream. kind is its type and name its name, which may
// be empty.
func (d *decoder) event(kind, name string, v jsonwire.Value) error {
	t := typeOfTag(eventTypes(), kind)
	switch {
	case v.Kind() != jsonwire.Object && (t != nil || name == ""):
		return fmt.Errorf("messages: the data of an event (%s) is not an object", codec.Clip(kind))
	case t == nil:
		d.unknown(name, v)
		return nil
	}
	d.eventValues = eventValues{}
	members(v, t, &d.eventValues)
	var err error
	switch kind {
	case "content_block_delta":
		return d.delta(v, t)
	case "message_delta":
		return d.messageDelta(v, t)
	case "message_stop":
		d.messageStop(v, t)
		return nil
	case "content_block_start":
		err = d.blockStart()
	case "content_block_stop":
		var i int
		if i, err = d.find(d.eventValues.index); err == nil {
			d.closeBlock(i)
		}
	case "message_start":
		err = d.messageStart()
	}
	if err == nil {
		d.events[0].Extra = d.rest(v, t)
	}
	return err
}

func (d *decoder) messageStart() error {
	if d.begun {
		return errors.New("messages: a second message_start")
	}
	d.begun = true
	return d.message(d.eventValues.message, false)
}

func (d *decoder) blockStart() error {
	index, x := d.next, d.eventValues.index
	if err := codec.Expect("messages: the index of a content block", x, codec.Numbers|codec.Optional); err != nil {
		return err
	}
	if x.Kind() == jsonwire.Number {
		n, ok := x.Int()
		if !ok || n < 0 || n > math.MaxInt32 {
			return fmt.Errorf("messages: the index of a content block is %s, which is not from 0 to 2147483647", codec.Clip(x.Raw()))
		}
		index = int(n)
	} else {
		d.nonstandard = true
	}
	return d.openBlock(index, d.eventValues.block)
}

// messageDelta reads a message_delta. It adds no event if there is nothing new.
func (d *decoder) messageDelta(v jsonwire.Value, t *object.Type) error {
	delta, usage := d.eventValues.delta, d.eventValues.usage
	m := d.values(delta, stopType)
	if err := cmp.Or(
		codec.Expect("messages: the delta of a message_delta", delta, codec.Objects|codec.Optional),
		codec.Expect("messages: usage", usage, codec.Objects|codec.Optional),
		codec.Expect("messages: stop_reason", m.reason, codec.Texts|codec.Optional),
	); err != nil {
		return err
	}
	if usage.Kind() == jsonwire.Object {
		d.usage(usage)
	} else {
		d.nonstandard = true
	}
	// Known members belong to the stop; unknown members belong to the event.
	b := appendKept(d.parser.Extras.Begin(), delta, stopType)
	for name, x := range v.Members() {
		if t.Find(name) != nil && isKept(t, name, x) && !delta.Get(name).Exists() {
			b = codec.AppendMember(b, name, x.Raw())
		}
	}
	extra, stopped := d.newExtra(b), d.stopped
	if !d.stop(m, extra) {
		// Clients would forget the earlier stop reason.
		d.nonstandard = d.nonstandard || stopped || delta.Kind() != jsonwire.Object
		if extra != nil {
			d.add(upstream.Event{Kind: upstream.EventExtra, Extra: extra})
		}
	}
	b = d.parser.Extras.Begin()
	for name, x := range v.Members() {
		if t.Find(name) == nil {
			b = codec.AppendMember(b, name, x.Raw())
		}
	}
	if x := d.newExtra(b); x != nil {
		d.add(upstream.Event{Kind: upstream.EventExtra, Extra: x})
	}
	return nil
}

// messageStop ends the stream. It adds no event, because encoders write the end themselves.
func (d *decoder) messageStop(v jsonwire.Value, t *object.Type) {
	d.ended, d.nonstandard = true, true
	if d.rest(v, t) != nil {
		d.lose(lossStopMembers, "message_stop")
	}
	if !d.stopped {
		d.lose(codec.ResponseNoReason, "stop")
	}
}

// unknown stores an unknown event.
func (d *decoder) unknown(name string, v jsonwire.Value) {
	if !d.begun || name == "" {
		// Clients reject events before message_start, and events without a name.
		d.nonstandard = true
		d.lose(lossMisplacedEvent, loss.EventPath(name))
		return
	}
	e := upstream.Event{Kind: upstream.EventExtra, Text: name}
	if v.Kind() == jsonwire.Object {
		e.Extra = &content.Extra{Format: Format, JSON: v.Raw()}
	}
	d.add(e)
}

// Prefixes of the deltas that make up most of a stream, as the vendor writes them.
const (
	fastHead = `{"type":"content_block_delta","index":`
	fastMid  = `,"delta":{"type":"`
)

// readFast reads such a delta and adds its event. It is several times faster than event,
// because it parses only the text. It returns false for any other data, and for invalid
// data, which event must read.
func (d *decoder) readFast(data string) bool {
	rest, ok := strings.CutPrefix(data, fastHead)
	if !ok {
		return false
	}
	index, rest := fastIndex(rest)
	if rest, ok = strings.CutPrefix(rest, fastMid); !ok {
		return false
	}
	form, rest := fastForm(rest)
	if form == nil {
		return false
	}
	// The vendor adds spaces before the braces of some events.
	for range 2 {
		if rest, ok = strings.CutSuffix(strings.TrimRight(rest, " "), "}"); !ok {
			return false
		}
	}
	if len(rest) == 0 || rest[0] != '"' || !d.acceptsFast(index, form) {
		return false
	}
	// If rest is a string, data is valid JSON without other members.
	if d.doc.Parse(rest, jsonwire.Limits{}) != nil {
		return false
	}
	d.nonstandard = false
	if len(d.events) == 1 && d.events[0].Extra == nil &&
		(d.events[0].Kind == upstream.EventText || d.events[0].Kind == upstream.EventInput) {
		// The previous event was such a delta too. Events are large and full of pointers:
		// setting some fields is faster than writing the whole event.
		e := &d.events[0]
		e.Kind, e.Block, e.Text, e.Frame = form.event, index, d.doc.Root().Str(), nil
		return true
	}
	clear(d.events)
	d.events = append(d.events[:0], upstream.Event{Kind: form.event, Block: index, Text: d.doc.Root().Str()})
	return true
}

// acceptsFast reports whether the block with an index is open and can have deltas of a form.
func (d *decoder) acceptsFast(index int, f *deltaForm) bool {
	for i := len(d.open) - 1; i >= 0; i-- {
		if d.open[i].index == index {
			return f.accepts(d.open[i].kind)
		}
	}
	return false
}

// fastIndex parses an index of a few digits. It returns -1 for any other.
func fastIndex(s string) (int, string) {
	n, i := 0, 0
	for i < len(s) && i < 9 && s[i]-'0' < 10 {
		n = 10*n + int(s[i]-'0')
		i++
	}
	if i == 0 || i > 1 && s[0] == '0' {
		return -1, s
	}
	return n, s[i:]
}

// fastForm parses the type of a delta and the name of its value.
func fastForm(s string) (*deltaForm, string) {
	forms := deltaForms()
	for i := range forms {
		f := &forms[i]
		if f.event != upstream.EventText && f.event != upstream.EventInput {
			continue
		}
		rest, ok := strings.CutPrefix(s, f.tag)
		if !ok {
			continue
		}
		if rest, ok = strings.CutPrefix(rest, `","`); ok {
			if rest, ok = strings.CutPrefix(rest, f.value); ok {
				if rest, ok = strings.CutPrefix(rest, `":`); ok {
					return f, rest
				}
			}
		}
	}
	return nil, s
}
