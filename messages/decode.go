package messages

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/upstream"
)

// defaultReply is how many bytes a whole reply may have.
const defaultReply = 64 << 20

// DecodeResponse reads the body of a successful answer that is no stream. The
// frame is Whole and holds the events that say what the answer says: its
// start, the usage, each block opened and closed, the reason to stop, and
// losses. It is ready for [upstream.Writer.Frame].
//
// Of lim count Body (0 means 64 MiB), Depth and Values; see [ParseRequest] for
// what a document must be. Unlike there, half surrogate pairs and bytes that
// are not UTF-8 become U+FFFD, which is a loss, and what deviates from the
// format is read as far as it makes sense: see [StreamReader].
//
// The error is an [*upstream.Error]: the body's own if it is an error
// envelope, else one with [upstream.CodeBadGateway].
func DecodeResponse(body string, lim content.Limits) (*upstream.Frame, error) {
	if most := cmp.Or(max(lim.Body, 0), defaultReply); int64(len(body)) > most {
		return nil, codec.BadGateway(fmt.Errorf("messages: the answer has %d bytes, %d are allowed", len(body), most))
	}
	d := newDecoder(lim)
	defer d.doc.Close()
	if err := d.parse(body); err != nil {
		return nil, codec.BadGateway(err)
	}
	root := d.doc.Root()
	switch m := answerMembersOf(root); {
	case m.kind.Is("error"):
		return nil, d.failure(root)
	case !m.content.Exists():
		return nil, codec.BadGateway(errors.New("messages: the answer is no message"))
	}
	if err := d.message(root, true); err != nil {
		return nil, codec.BadGateway(err)
	}
	if !d.stopped {
		d.odd = true // clients need one
		d.lose(codec.ResponseNoReason, "stop")
	}
	f := &upstream.Frame{Complete: true}
	d.finish(f)
	return f, nil
}

// A decoder turns documents of an answer into events. It holds what is known
// from one event of a stream to the next.
type decoder struct {
	doc    jsonwire.Doc
	limits jsonwire.Limits
	parser parser // reads blocks; its violations are looked at block by block

	events  []upstream.Event // of the document at hand
	odd     bool             // it deviates from the format: clients should not see it as it is
	broken  error            // a block lacks what it is nothing without
	begun   bool             // there was a message_start
	stopped bool             // there was a reason to stop
	over    bool             // there was a message_stop
	counts  counts
	open    []openBlock
	next    int // the index that a block without one has
	told    loss.Reported
}

// An openBlock is a block of which deltas may come.
type openBlock struct {
	index int
	kind  blockKind
}

// maxOpen bounds the blocks that are open at once, of which real answers have
// one.
const maxOpen = 1024

func newDecoder(lim content.Limits) *decoder {
	d := new(decoder)
	d.init(lim)
	return d
}

func (d *decoder) init(lim content.Limits) {
	d.limits = jsonwire.Limits{Depth: lim.Depth, Values: lim.Values, AllowInvalidUTF8: true}
}

// parse begins a new document.
func (d *decoder) parse(data string) error {
	clear(d.events)
	d.events, d.odd = d.events[:0], false
	if err := d.doc.Parse(data, d.limits); err != nil {
		return fmt.Errorf("messages: the answer is not JSON as it should be: %w", err)
	}
	return nil
}

// finish fills f with the document at hand and its events.
func (d *decoder) finish(f *upstream.Frame) {
	if d.doc.Replacements() > 0 {
		d.lose(codec.ResponseNotUnicode, "parts")
	}
	f.Format, f.Data, f.Events = Format, d.doc.Source(), d.events
	if d.odd {
		f.Format = ""
	}
}

func (d *decoder) add(e upstream.Event) { d.events = append(d.events, e) }

// lose tells what a rule has met at path.
func (d *decoder) lose(r *loss.Rule, path string) {
	if l := d.told.New(r, path); l != nil {
		d.add(upstream.Event{Kind: upstream.EventLoss, Loss: l})
	}
}

// The members of an answer and of its pieces. What is null in a kept member is
// the same as nothing.
var (
	startNames = codec.Names{
		Typed: []string{"id", "type", "role", "model", "content", "stop_reason", "stop_sequence", "stop_details", "usage"},
		Kept:  []string{"container", "diagnostics", "context_management", "input_transformations"},
	}
	// wholeNames are those of a whole reply, whose end is told by the stop.
	wholeNames = codec.Names{
		Typed: append(slices.Clip(startNames.Typed), "container", "context_management", "input_transformations"),
		Kept:  []string{"diagnostics"},
	}
	stopNames = codec.Names{Typed: []string{"stop_reason", "stop_sequence", "stop_details"}, Kept: []string{"container"}}
)

// endNames are the members of a whole reply that a stream has in its
// message_delta.
var endNames = [...]string{"container", "context_management", "input_transformations"}

// answerMembers are the values of a message's members, and of those of the end of one.
type answerMembers struct {
	kind, id, role, model, content, usage, reason, sequence, details jsonwire.Value
}

// answerMembersOf reads them in one go, since there may be very many others.
func answerMembersOf(v jsonwire.Value) (f answerMembers) {
	for name, x := range v.Members() {
		switch name {
		case "type":
			f.kind = x
		case "id":
			f.id = x
		case "role":
			f.role = x
		case "model":
			f.model = x
		case "content":
			f.content = x
		case "usage":
			f.usage = x
		case "stop_reason":
			f.reason = x
		case "stop_sequence":
			f.sequence = x
		case "stop_details":
			f.details = x
		}
	}
	return f
}

// check returns an error if a member that the response cannot do without is of
// the wrong type. Servers leave members out, or set them to null, but a whole
// message needs its content.
func (f *answerMembers) check(whole bool) error {
	list := codec.Lists | codec.Texts // a string, as in requests
	if !whole {
		list |= codec.Optional
	}
	return cmp.Or(
		codec.Expect("messages: content", f.content, list),
		codec.Expect("messages: role", f.role, codec.Texts|codec.Optional),
		codec.Expect("messages: usage", f.usage, codec.Objects|codec.Optional),
		codec.Expect("messages: stop_reason", f.reason, codec.Texts|codec.Optional),
	)
}

// message reads a message, a whole one or the beginning of one.
func (d *decoder) message(v jsonwire.Value, whole bool) error {
	if v.Kind() != jsonwire.Object {
		return errors.New("messages: a message is no object")
	}
	m := answerMembersOf(v)
	if err := m.check(whole); err != nil {
		return err
	}
	start := &upstream.Start{ID: d.word(m.id), Model: d.word(m.model)}
	d.add(upstream.Event{Kind: upstream.EventStart, Start: start})
	if m.usage.Kind() == jsonwire.Object {
		d.usage(m.usage)
	} else {
		d.odd = true
	}
	if err := d.content(m.content); err != nil {
		return err
	}
	if !whole {
		start.Extra = d.rest(v, &startNames)
		d.stop(&m, nil)
		return nil
	}
	start.Extra = d.rest(v, &wholeNames)
	var end rest
	for _, name := range endNames {
		if x := v.Get(name); x.Exists() && x.Kind() != jsonwire.Null {
			end.add(name, x)
		}
	}
	d.stop(&m, end.extra())
	return nil
}

// content reads the blocks of a whole message.
func (d *decoder) content(v jsonwire.Value) error {
	switch v.Kind() {
	case jsonwire.Array:
		// For all blocks, and some more: there may be very many.
		d.events = slices.Grow(d.events, 2*v.Len()+4)
		for i, x := range v.Elems() {
			if err := d.opened(i, x); err != nil {
				return err
			}
			d.closed(len(d.open) - 1)
		}
	case jsonwire.String: // as in requests
		d.odd = true
		n := d.next
		d.next++
		d.add(upstream.Event{Kind: upstream.EventOpen, Block: n, Part: &content.Text{}})
		d.text(n, v.Str())
		d.add(upstream.Event{Kind: upstream.EventClose, Block: n})
	default: // of the beginning of a message
		d.odd = true
	}
	return nil
}

// stop reads why an answer ends, if m says so, and reports whether it does.
func (d *decoder) stop(m *answerMembers, extra *content.Extra) bool {
	if m.reason.Kind() != jsonwire.String {
		return false
	}
	word := m.reason.Str()
	s := &upstream.Stop{
		Reason: stopReason(word), Sequence: d.word(m.sequence), Format: Format, RawReason: word, Extra: extra,
	}
	if m.details.Kind() == jsonwire.Object {
		s.Details, s.Message = m.details.Raw(), m.details.Get("explanation").Str()
	}
	d.stopped = true
	d.add(upstream.Event{Kind: upstream.EventStop, Stop: s})
	return true
}

// stopReason is the way back of [stopWord].
func stopReason(word string) content.StopReason {
	for _, r := range [...]content.StopReason{
		content.StopEnd, content.StopToolUse, content.StopMaxTokens, content.StopSequence, content.StopContext,
		content.StopPause, content.StopRefusal, content.StopCompaction, content.StopMalformedCall,
	} {
		if w, _ := stopWord(r); w == word {
			return r
		}
	}
	return content.StopOther
}

// word reads a string that may be missing.
func (d *decoder) word(v jsonwire.Value) string {
	switch v.Kind() {
	case jsonwire.String, jsonwire.None, jsonwire.Null:
	default:
		d.odd = true
	}
	return v.Str()
}

// rest returns the members of v that n has not, or nil.
func (d *decoder) rest(v jsonwire.Value, n *codec.Names) *content.Extra {
	var r rest
	r.members(v, n)
	return r.extra()
}

// A rest is an object of members that have no field. The zero rest has none.
type rest struct {
	w    jsonwire.Writer
	some bool
}

// add adds a member, whose name must be new.
func (r *rest) add(name string, v jsonwire.Value) {
	if !r.some {
		r.some = true
		r.w.BeginObject()
	}
	r.w.Name(name)
	r.w.Raw(v.Raw())
}

// members adds the members of v that n has not.
func (r *rest) members(v jsonwire.Value, n *codec.Names) {
	for name, x := range v.Members() {
		if !n.Has(name) && (x.Kind() != jsonwire.Null || !slices.Contains(n.Kept, name)) {
			r.add(name, x)
		}
	}
}

// extra returns the members, nil if there are none.
func (r *rest) extra() *content.Extra {
	if !r.some {
		return nil
	}
	r.w.EndObject()
	return &content.Extra{Format: Format, JSON: r.w.Text()}
}

// partPath is the neutral path of a part of the answer.
func partPath(n int) string { return "parts." + strconv.Itoa(n) }
