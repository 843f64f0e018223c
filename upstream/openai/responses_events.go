package openai

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/upstream"
)

// aboutPart returns the item that a piece of text is for, which part of it, and
// whether the text is a thought itself. An item that did not begin begins here.
func (d *resDecoder) aboutPart(kind string, v jsonwire.Value) (it *resItem, part int64, err error) {
	k, at := resMessage, "content_index"
	switch kind[:10] {
	case "reasoning_":
		k = resReasoning
		if kind[10] == 's' {
			at = "summary_index"
		}
	case "function_c":
		k = resCall
	}
	output := resIndex(v.Get("output_index"))
	if it = d.find(output, k); it == nil && k != resCall {
		it, err = d.begin(output, k)
	}
	return it, max(resIndex(v.Get(at)), 0), err
}

// delta reads a piece of a text or of arguments.
func (d *resDecoder) delta(kind string, v jsonwire.Value) error {
	piece := v.Get("delta").Str()
	if piece == "" {
		return nil
	}
	it, part, err := d.aboutPart(kind, v)
	if err != nil || it == nil {
		return err // arguments of a call that is told when it is whole
	}
	switch kind {
	case "function_call_arguments.delta":
		d.argument(it, piece)
	case "reasoning_text.delta", "reasoning_summary_text.delta":
		raw := kind == "reasoning_text.delta"
		if it.some && it.raw != raw {
			return nil // one of the two will do
		}
		it.raw = raw
		d.text(it, part, piece)
	default:
		d.refused = d.refused || kind == "refusal.delta"
		d.text(it, part, piece)
	}
	d.replaced()
	return nil
}

// argument adds to the arguments of a call whose block is open.
func (d *resDecoder) argument(it *resItem, piece string) {
	if it.block >= 0 {
		it.size += len(piece)
		it.sum = resDigest(it.sum, piece)
		d.add(upstream.Event{Kind: upstream.EventInput, Block: it.block, Text: piece})
	}
}

// done reads a text or arguments that are whole. The item itself, which is told
// whole as well, says more, so nothing is closed here.
func (d *resDecoder) done(kind string, v jsonwire.Value) error {
	member := "text"
	switch kind {
	case "refusal.done":
		member = "refusal"
	case "function_call_arguments.done":
		if it := d.find(resIndex(v.Get("output_index")), resCall); it != nil && it.block >= 0 {
			d.input(it, resArguments(v.Get("arguments")))
		}
		d.replaced()
		return nil
	}
	whole := v.Get(member).Str()
	if whole == "" {
		return nil
	}
	if d.find(resIndex(v.Get("output_index")), resMessage) == nil && kind[:10] != "reasoning_" && d.late(v) {
		return nil
	}
	it, part, err := d.aboutPart(kind, v)
	if err != nil {
		return err
	}
	raw := kind == "reasoning_text.done"
	if it.kind == resReasoning && it.some && it.raw != raw {
		return nil
	}
	it.raw = raw
	d.refused = d.refused || member == "refusal"
	d.reconcile(it, part, whole)
	d.replaced()
	return nil
}

// late reports whether the message that v is about is over.
func (d *resDecoder) late(v jsonwire.Value) bool {
	output := resIndex(v.Get("output_index"))
	for i := range d.items {
		if it := &d.items[i]; it.over && it.kind == resMessage && it.output == output {
			return true
		}
	}
	return false
}

// annotation reads a citation.
func (d *resDecoder) annotation(v jsonwire.Value) {
	it := d.find(resIndex(v.Get("output_index")), resMessage)
	if it == nil {
		return
	}
	// One that has been told has an index below; without an index it is new.
	if n := resIndex(v.Get("annotation_index")); n >= 0 && n < int64(it.cites) {
		return
	}
	it.cites++
	d.cite(it, v.Get("annotation"))
	d.replaced()
}

// terminal reads the end of an answer. kind says which end it is, if the event
// does.
func (d *resDecoder) terminal(kind string, response jsonwire.Value) error {
	if err := cmp.Or(
		codec.Expect("openai: the response", response, codec.Objects),
		codec.Expect("openai: status", response.Get("status"), codec.Texts|codec.Optional),
		codec.Expect("openai: output", response.Get("output"), codec.Lists|codec.Optional),
		codec.Expect("openai: usage", response.Get("usage"), codec.Objects|codec.Optional),
		codec.Expect("openai: incomplete_details", response.Get("incomplete_details"), codec.Objects|codec.Optional),
	); err != nil {
		return codec.BadGateway(err)
	}
	d.start(response)
	if s := response.Get("status").Str(); s != "" {
		kind = s
	}
	failed := response.Get("error")
	switch {
	case kind == "failed", kind == "cancelled", failed.Kind() > jsonwire.False:
		switch failed.Kind() {
		case jsonwire.Object:
			return resFailure(failed)
		case jsonwire.String:
			return resFailure(response)
		}
		return &upstream.Error{Code: upstream.CodeUnavailable, Err: fmt.Errorf("openai: the answer is %s", codec.Clip(kind))}
	case kind == "in_progress", kind == "queued":
		return codec.BadGateway(errors.New("openai: the answer is not whole"))
	}
	if err := d.rest(response.Get("output")); err != nil {
		return err
	}
	for i := range d.items {
		if !d.items[i].over {
			d.end(&d.items[i])
		}
	}
	if u, ok := usageOf(response.Get("usage")); ok {
		d.add(upstream.Event{Kind: upstream.EventUsage, Usage: &u})
	}
	stop := d.stop(kind, response.Get("incomplete_details"))
	if !d.visible && stop.Reason == content.StopEnd {
		d.lose(lostEmpty, "parts")
	}
	d.add(upstream.Event{Kind: upstream.EventStop, Stop: stop})
	d.replaced()
	return endOfAnswer
}

// rest tells the items of a whole answer that were not told before. Items are
// matched in their order, kind by kind, since indices cannot be relied on.
func (d *resDecoder) rest(output jsonwire.Value) error {
	for i, item := range output.Elems() {
		it := d.match(resKindOf(item), item)
		if it != nil {
			it.met = true
			if it.over {
				continue
			}
		}
		if err := d.whole(it, int64(i), item); err != nil {
			return err
		}
		if it == nil {
			d.items[len(d.items)-1].met = true
		}
	}
	return nil
}

// match returns the item that an item of the whole answer is: the first of its
// kind that is no other's, for a call one with its id. It returns nil if there is
// none.
func (d *resDecoder) match(k resKind, item jsonwire.Value) *resItem {
	call := uint64(0)
	if k == resCall {
		call = resDigestOf(item.Get("call_id").Str())
	}
	for i := range d.items {
		it := &d.items[i]
		if it.kind == k && !it.met && (call == 0 || it.call == 0 || it.call == call) {
			return it
		}
	}
	return nil
}

// stop says why the answer ends.
func (d *resDecoder) stop(kind string, details jsonwire.Value) *upstream.Stop {
	s := &upstream.Stop{Reason: content.StopEnd, Format: ResponsesFormat, RawReason: kind}
	if kind == "incomplete" {
		s.RawReason = details.Get("reason").Str()
		if details.Kind() == jsonwire.Object {
			s.Details = details.Raw()
		}
		switch s.RawReason {
		case "max_output_tokens", "max_tokens":
			s.Reason = content.StopMaxTokens
		case "content_filter":
			s.Reason = content.StopSafety
		default:
			s.Reason = content.StopOther
		}
		return s
	}
	switch {
	case d.called && !d.nameless:
		s.Reason = content.StopToolUse
	case d.refused:
		s.Reason, s.RawReason = content.StopRefusal, "refusal"
	case d.nameless:
		s.Reason = content.StopMalformedCall
	}
	return s
}
