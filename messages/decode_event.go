package messages

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/upstream"
)

// event reads the data of one event of a stream, whose kind is its type. name
// is what it goes by, if that can be said.
func (d *decoder) event(kind, name string, v jsonwire.Value) error {
	if v.Kind() != jsonwire.Object && (knownEvent(kind) || name == "") {
		return fmt.Errorf("messages: the data of an event (%s) is not an object", codec.Clip(kind))
	}
	switch kind {
	case "content_block_delta":
		return d.delta(v)
	case "content_block_start":
		return d.blockStart(v)
	case "content_block_stop":
		i, err := d.find(v.Get("index"))
		if err != nil {
			return err
		}
		d.closed(i)
		d.attach(v, &blockStopNames)
	case "message_start":
		return d.messageStart(v)
	case "message_delta":
		return d.messageDelta(v)
	case "message_stop":
		d.messageStop(v)
	default:
		d.unknown(name, v)
	}
	return nil
}

func knownEvent(kind string) bool {
	switch kind {
	case "content_block_delta", "content_block_start", "content_block_stop",
		"message_start", "message_delta", "message_stop":
		return true
	}
	return false
}

// The members of events.
var (
	messageStartNames = codec.Names{Typed: []string{"type", "message"}}
	blockStartNames   = codec.Names{Typed: []string{"type", "index", "content_block"}}
	blockStopNames    = codec.Names{Typed: []string{"type", "index"}}
	messageDeltaNames = codec.Names{Typed: []string{"type", "delta", "usage"}}
	messageStopNames  = codec.Names{Typed: []string{"type"}}
)

// attach gives the members of v that n has not to the first event.
func (d *decoder) attach(v jsonwire.Value, n *codec.Names) {
	d.events[0].Extra = d.rest(v, n)
}

func (d *decoder) messageStart(v jsonwire.Value) error {
	if d.begun {
		return errors.New("messages: a second message_start")
	}
	d.begun = true
	if err := d.message(v.Get("message"), false); err != nil {
		return err
	}
	d.attach(v, &messageStartNames)
	return nil
}

func (d *decoder) blockStart(v jsonwire.Value) error {
	index := d.next
	x := v.Get("index")
	if err := codec.Expect("messages: the index of a content block", x, codec.Numbers|codec.Optional); err != nil {
		return err
	}
	if x.Kind() == jsonwire.Number {
		n, ok := x.Int()
		if !ok || n < 0 || n > math.MaxInt32 {
			return fmt.Errorf("messages: a content block has the index %s", codec.Clip(x.Raw()))
		}
		index = int(n)
	} else {
		d.odd = true
	}
	if err := d.opened(index, v.Get("content_block")); err != nil {
		return err
	}
	d.attach(v, &blockStartNames)
	return nil
}

// messageDelta reads the end of a message, or what is known of it by now. One
// that tells nothing becomes no event.
func (d *decoder) messageDelta(v jsonwire.Value) error {
	delta, usage := v.Get("delta"), v.Get("usage")
	if err := cmp.Or(
		codec.Expect("messages: the delta of a message_delta", delta, codec.Objects|codec.Optional),
		codec.Expect("messages: usage", usage, codec.Objects|codec.Optional),
		codec.Expect("messages: stop_reason", delta.Get("stop_reason"), codec.Texts|codec.Optional),
	); err != nil {
		return err
	}
	if usage.Kind() == jsonwire.Object {
		d.usage(usage)
	} else {
		d.odd = true
	}
	// context_management and the like belong to the end, and are lost with
	// nobody there; what nobody knows is the event's.
	var end, other rest
	end.members(delta, &stopNames)
	for name, x := range v.Members() {
		switch {
		case messageDeltaNames.Has(name):
		case name == "context_management", name == "input_transformations":
			if x.Kind() != jsonwire.Null && !delta.Get(name).Exists() {
				end.add(name, x)
			}
		default:
			other.add(name, x)
		}
	}
	extra, stopped := end.extra(), d.stopped
	if m := answerMembersOf(delta); !d.stop(&m, extra) {
		// Clients would forget the reason that they were told before.
		d.odd = d.odd || stopped || delta.Kind() != jsonwire.Object
		if extra != nil {
			d.add(upstream.Event{Kind: upstream.EventExtra, Extra: extra})
		}
	}
	if x := other.extra(); x != nil {
		d.add(upstream.Event{Kind: upstream.EventExtra, Extra: x})
	}
	return nil
}

// messageStop ends the stream. It is no event: those who write streams say it
// themselves.
func (d *decoder) messageStop(v jsonwire.Value) {
	d.over, d.odd = true, true
	if x := d.rest(v, &messageStopNames); x != nil {
		d.lose(readStopMembers, "message_stop")
	}
	if !d.stopped {
		d.lose(codec.ResponseNoReason, "stop")
	}
}

// unknown keeps an event that is not known.
func (d *decoder) unknown(name string, v jsonwire.Value) {
	if !d.begun || name == "" {
		// Clients take nothing before the start, and nothing without a name.
		d.odd = true
		d.lose(readNowhere, loss.EventPath(name))
		return
	}
	e := upstream.Event{Kind: upstream.EventExtra, Text: name}
	if v.Kind() == jsonwire.Object {
		e.Extra = &content.Extra{Format: Format, JSON: v.Raw()}
	}
	d.add(e)
}
