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
	"github.com/polywire/polywire/internal/object"
	"github.com/polywire/polywire/internal/response"
	"github.com/polywire/polywire/upstream"
)

// DecodeResponse decodes the body of a successful response that is not streamed. The
// response has its Frame, which is Complete, contains all events, and can be passed to
// [upstream.Writer.Frame].
//
// DecodeResponse uses three limits of lim, or of the defaults if lim is nil: Body (default 64 MiB), Depth and Values. The
// rules of [ParseRequest] for documents apply, with two exceptions. Unpaired surrogates and
// invalid UTF-8 become U+FFFD, which is reported as a loss. The deviations that
// [StreamReader] describes are accepted.
//
// The error is an [*upstream.Error]: the error in the body, or else one with
// [upstream.CodeBadGateway].
func DecodeResponse(body []byte, lim *content.Limits) (*upstream.Response, error) {
	f, err := DecodeFrame(string(body), codec.LimitsOf(lim))
	if err != nil {
		return nil, err
	}
	return f.Response()
}

// A decoder converts documents of a response to events. It keeps the state between the
// events of a stream.
type decoder struct {
	doc    jsonwire.Doc
	limits jsonwire.Limits
	parser parser // parses blocks; its violations are read after each block

	events      []upstream.Event // of the current document
	nonstandard bool             // it deviates from the format; clients must not see it unchanged
	blockErr    error            // a required member of a block is invalid
	begun       bool             // a message_start was read
	stopped     bool             // a stop reason was read
	ended       bool             // a message_stop was read
	counts      counts
	open        []openBlock
	next        int // the default index of a block
	reported    loss.List

	// Members of the object that is being read.
	messageValues messageValues
	eventValues   eventValues
}

// An openBlock is a block that can have deltas.
type openBlock struct {
	index int
	kind  response.Kind
}

// maxOpen limits the blocks that are open at once. Real responses have one.
const maxOpen = 1024

func newDecoder(lim content.Limits) *decoder {
	d := new(decoder)
	d.init(lim)
	return d
}

func (d *decoder) init(lim content.Limits) {
	d.parser.begin()
	d.parser.Response = true
	d.limits = jsonwire.Limits{Depth: lim.Depth, Values: lim.Values, AllowInvalidUTF8: true}
}

// parse parses the next document.
func (d *decoder) parse(data string) error {
	clear(d.events)
	d.events, d.nonstandard = d.events[:0], false
	if err := d.doc.Parse(data, d.limits); err != nil {
		return fmt.Errorf("messages: parsing the response: %w", err)
	}
	return nil
}

// finish sets f to the current document and its events.
func (d *decoder) finish(f *upstream.Frame) {
	if d.doc.Replacements() > 0 {
		d.lose(codec.ResponseNotUnicode, "parts")
	}
	f.Format, f.Data, f.Events = Format, d.doc.Source(), d.events
	if d.nonstandard {
		f.Format = ""
	}
}

func (d *decoder) add(e upstream.Event) { d.events = append(d.events, e) }

// lose reports a loss at path, once.
func (d *decoder) lose(r *loss.Rule, path string) {
	if l := d.reported.New(r, path); l != nil {
		d.add(upstream.Event{Kind: upstream.EventLoss, Loss: l})
	}
}

// check returns an error if a required member has the wrong type. Servers omit members or set
// them to null, but a whole message must have content.
func (f *messageValues) check(whole bool) error {
	list := codec.Lists | codec.Texts // a string is accepted, as in requests
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

// message reads a whole message, or the message of a message_start.
func (d *decoder) message(v jsonwire.Value, whole bool) error {
	if v.Kind() != jsonwire.Object {
		return errors.New("messages: the message is not an object")
	}
	t := startType
	if whole {
		t = responseType
	}
	m := d.values(v, t)
	if err := m.check(whole); err != nil {
		return err
	}
	start := &upstream.Start{ID: d.optionalString(m.id), Model: d.optionalString(m.model)}
	d.add(upstream.Event{Kind: upstream.EventStart, Start: start})
	if m.usage.Kind() == jsonwire.Object {
		d.usage(m.usage)
	} else {
		d.nonstandard = true
	}
	if err := d.content(m.content); err != nil {
		return err
	}
	start.Extra = d.rest(v, t)
	b := d.parser.Extras.Begin()
	for i, x := range m.end {
		if codec.IsSet(x) {
			b = codec.AppendMember(b, endNames[i], x.Raw())
		}
	}
	d.stop(m, d.newExtra(b))
	return nil
}

// values reads the members of a message, or of the delta of a message_delta.
func (d *decoder) values(v jsonwire.Value, t *object.Type) *messageValues {
	d.messageValues = messageValues{}
	members(v, t, &d.messageValues)
	return &d.messageValues
}

// content reads the blocks of a whole message.
func (d *decoder) content(v jsonwire.Value) error {
	switch v.Kind() {
	case jsonwire.Array:
		// Two events for each block, and a reserve.
		d.events = slices.Grow(d.events, 2*v.Len()+4)
		for i, x := range v.Elems() {
			if err := d.openBlock(i, x); err != nil {
				return err
			}
			d.closeBlock(len(d.open) - 1)
		}
	case jsonwire.String: // accepted, as in requests
		d.nonstandard = true
		n := d.next
		d.next++
		d.add(upstream.Event{Kind: upstream.EventOpen, Block: n, Part: &content.Text{}})
		d.text(n, v.Str())
		d.add(upstream.Event{Kind: upstream.EventClose, Block: n})
	default: // a message_start without content
		d.nonstandard = true
	}
	return nil
}

// stop reads the stop reason, and reports whether m has one.
func (d *decoder) stop(m *messageValues, extra *content.Extra) bool {
	if m.reason.Kind() != jsonwire.String {
		return false
	}
	reason := m.reason.Str()
	s := &upstream.Stop{
		Reason: toStopReason(reason), Sequence: d.optionalString(m.sequence), Format: Format, RawReason: reason, Extra: extra,
	}
	if m.details.Kind() == jsonwire.Object {
		s.Details, s.Message = m.details.Raw(), m.details.Get("explanation").Str()
	}
	d.stopped = true
	d.add(upstream.Event{Kind: upstream.EventStop, Stop: s})
	return true
}

// toStopReason is the inverse of [fromStopReason].
func toStopReason(wire string) content.StopReason {
	for i := range stopReasons {
		if stopReasons[i].wire == wire {
			return stopReasons[i].reason
		}
	}
	return content.StopOther
}

// optionalString returns a string that may be missing.
func (d *decoder) optionalString(v jsonwire.Value) string {
	switch v.Kind() {
	case jsonwire.String, jsonwire.None, jsonwire.Null:
	default:
		d.nonstandard = true
	}
	return v.Str()
}

// rest returns the members of an object of type t that are kept as JSON text, or nil.
func (d *decoder) rest(v jsonwire.Value, t *object.Type) *content.Extra {
	return d.newExtra(appendKept(d.parser.Extras.Begin(), v, t))
}

// newExtra returns an Extra of the object that Begin began, or nil if it has no members.
func (d *decoder) newExtra(b []byte) *content.Extra {
	if json := d.parser.Extras.End(b); json != "" {
		return d.parser.Extras.New(Format, json)
	}
	return nil
}

// partPath returns the neutral path of a part of the response.
func partPath(n int) string { return "parts." + strconv.Itoa(n) }

// counts holds the usage so far. Each usage object replaces the members that it contains.
type counts struct {
	tokens
	members     response.Members
	memberBytes int // size of members
	tooMany     bool
}

// Limits of the members without a field in all usage objects of a stream.
const (
	maxUsageMembers = 64
	maxUsageBytes   = 64 << 10
)

// usage reads a usage object and adds its event.
func (d *decoder) usage(v jsonwire.Value) {
	c := &d.counts
	c.update(v)
	crowded := v.Len() > 2*maxUsageMembers // too many to search for each name
	if crowded {
		c.members, c.memberBytes, c.tooMany = nil, 0, true
	}
	for name, x := range v.Members() {
		switch f := usageType.Find(name); {
		case f == nil, f.Kept():
			if !crowded {
				c.keep(name, x.Kind(), x.Raw())
			}
		case f.Value.Object != nil:
			if rest := d.parser.Extras.End(appendKept(d.parser.Extras.Begin(), x, f.Value.Object)); rest != "" {
				c.keep(name, jsonwire.Object, rest)
			}
		}
	}
	u := c.usage()
	d.add(upstream.Event{Kind: upstream.EventUsage, Usage: &u})
	if c.tooMany {
		d.lose(codec.ResponseManyCounts, "usage")
	}
}

// update reads the counts of a usage object. Those that are missing or null stay the same.
func (t *tokens) update(v jsonwire.Value) {
	before := *t
	t.write, t.write5m, t.write1h = -1, -1, -1
	members(v, usageType, t)
	flat, split := t.write >= 0, t.write5m >= 0 || t.write1h >= 0
	if !flat {
		t.write = before.write
	}
	if t.write5m < 0 {
		t.write5m = before.write5m
	}
	if t.write1h < 0 {
		t.write1h = before.write1h
	}
	switch sum := t.write5m + t.write1h; {
	case split:
		t.write = max(t.write, sum) // the rest of the total has the default lifetime
		if !flat {
			t.write = sum
		}
	case flat && sum > t.write: // the parts are of an earlier object
		t.write1h = min(t.write1h, t.write)
	}
	t.write5m = max(t.write-t.write1h, 0)
}

// keep stores a member without a field.
func (c *counts) keep(name string, k jsonwire.Kind, raw string) {
	if k == jsonwire.Null {
		return
	}
	for _, m := range c.members {
		if m.Name == name {
			c.memberBytes -= len(m.JSON) + len(m.Name)
		}
	}
	if size := c.memberBytes + len(name) + len(raw); size <= maxUsageBytes && len(c.members) < maxUsageMembers {
		c.members.Set(name, raw)
		c.memberBytes = size
		return
	}
	c.members.Take(name) // the previous value is obsolete
	c.tooMany = true
}

// usage returns the neutral form, which counts each token once. Thinking beyond the output is
// ignored, so that totals stay the same.
func (c *counts) usage() content.Usage {
	u := content.Usage{
		Input:        c.input,
		CacheRead:    c.read,
		CacheWrite:   c.write5m,
		CacheWrite1h: c.write1h,
		Thinking:     min(c.thinking, c.output),
	}
	u.Output = c.output - u.Thinking
	u.Extra = c.members.Extra(Format)
	return u
}
