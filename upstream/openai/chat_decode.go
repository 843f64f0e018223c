package openai

import (
	"cmp"
	"errors"
	"io"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/upstream"
)

// A chatDecoder turns chunks into events. A whole response is read as one chunk.
type chatDecoder struct {
	whole    bool // the chunk is a whole response
	logprobs bool // the request asks for them; else they are not reported
	doc      jsonwire.Doc
	lim      jsonwire.Limits
	tags     ThinkTags
	events   []upstream.Event
	mould    mould

	started   bool
	id, model string
	next      int // the number of the next block
	answers   []chatAnswer
	usage     content.Usage
	usages    codec.Chunk[content.Usage]
	counted   bool // there was a usage, and no substitute
	lost      map[*loss.Rule]bool
	newID     func() string
}

// A chatAnswer is one of the choices.
type chatAnswer struct {
	index  int
	open   blockKind
	block  int
	said   bool // there was something that is not a thought
	mused  bool // there was a thought
	pieces bool // there was a delta
	tagged tagged
	thought
	calls    []chatCall
	images   []string
	finish   string
	ended    bool // there was a finish_reason
	nameless bool // there was a call that cannot be told
	refused  bool
	filtered bool // a filter of the host's took something out
	sequence string
}

type blockKind uint8

const (
	blockNone blockKind = iota
	blockText
	blockThinking
)

const (
	mostAnswers = 128
	mostCalls   = 1024
	mostImages  = 256
)

func (d *chatDecoder) init(lim content.Limits, tags ThinkTags) {
	d.lim = jsonwire.Limits{Depth: lim.Depth, Values: lim.Values, Lenient: true}
	d.tags, d.newID = tags, newCallID
}

// begin forgets the events of the last chunk.
func (d *chatDecoder) begin() {
	clear(d.events)
	d.events = d.events[:0]
}

// add adds an event. The first of all says what is known of the answer.
func (d *chatDecoder) add(e upstream.Event) {
	if !d.started {
		d.started = true
		d.events = append(d.events, upstream.Event{Kind: upstream.EventStart, Start: &upstream.Start{ID: d.id, Model: d.model}})
	}
	d.events = append(d.events, e)
}

// lose reports a loss, once in an answer.
func (d *chatDecoder) lose(r *loss.Rule, path string) {
	if d.lost[r] {
		return
	}
	if d.lost == nil {
		d.lost = make(map[*loss.Rule]bool)
	}
	d.lost[r] = true
	l := r.At(path)
	d.add(upstream.Event{Kind: upstream.EventLoss, Loss: &l})
}

// chunk reads one chunk, or a whole answer.
func (d *chatDecoder) chunk(data string, failed bool) error {
	if err := d.doc.Parse(data, d.lim); err != nil {
		return codec.BadGateway(err)
	}
	defer d.doc.Close()
	root := d.doc.Root()
	if root.Kind() != jsonwire.Object {
		if root.Kind() == jsonwire.Array && root.Len() > 0 {
			return failure(root)
		}
		return codec.BadGateway(errors.New("openai: a chunk is no object"))
	}
	var choices, usage, substitute jsonwire.Value
	for name, v := range root.Members() {
		switch name {
		case "error":
			failed = failed || v.Kind() > jsonwire.False
		case "id":
			d.name(&d.id, v)
		case "model":
			d.name(&d.model, v)
		case "choices":
			choices = v
		case "usage":
			usage = v
		case "x_groq":
			substitute = v.Get("usage")
		case "timings":
			substitute = v
		}
	}
	if failed {
		return failure(root)
	}
	if root.Get("object").Is("error") {
		return failure(root)
	}
	if err := cmp.Or(
		codec.Expect("openai: choices", choices, codec.Lists|codec.Optional),
		codec.Expect("openai: usage", usage, codec.Objects|codec.Optional),
	); err != nil {
		return codec.BadGateway(err)
	}
	if d.doc.Replaced() > 0 {
		d.lose(lostCharacters, "parts")
	}
	for _, v := range choices.Elems() {
		if err := d.choice(v); err != nil {
			return err
		}
	}
	d.count(usage, substitute)
	d.learn(data, choices)
	return nil
}

// name takes the id or the model, from the first chunk that says it.
func (d *chatDecoder) name(to *string, v jsonwire.Value) {
	if *to != "" || d.started {
		return
	}
	switch v.Kind() {
	case jsonwire.String:
		*to = strings.Clone(v.Str())
	case jsonwire.Number:
		*to = strings.Clone(v.Raw())
	}
}

// count takes what was used so far.
func (d *chatDecoder) count(usage, substitute jsonwire.Value) {
	u, ok := usageOf(usage)
	switch {
	case ok:
		d.counted = true
	case d.counted:
		return
	default:
		if u, ok = usageOf(substitute); !ok || u.Prompt()+u.Answer() == 0 {
			u, ok = timingsOf(substitute)
		}
	}
	if !ok || same(u, d.usage) {
		return
	}
	d.usage = u
	to := d.usages.New(1)
	*to = u
	d.add(upstream.Event{Kind: upstream.EventUsage, Usage: to})
}

func same(a, b content.Usage) bool {
	return a.Input == b.Input && a.CacheRead == b.CacheRead && a.CacheWrite == b.CacheWrite && a.Output == b.Output && a.Thinking == b.Thinking
}

// answer returns the answer with the index of a choice.
func (d *chatDecoder) answer(index int) (*chatAnswer, error) {
	for i := range d.answers {
		if d.answers[i].index == index {
			return &d.answers[i], nil
		}
	}
	if len(d.answers) >= mostAnswers || index >= mostAnswers {
		return nil, codec.BadGateway(errors.New("openai: too many choices"))
	}
	d.answers = append(d.answers, chatAnswer{index: index, tagged: tagged{kind: d.tags}})
	return &d.answers[len(d.answers)-1], nil
}

// finished reports whether an answer said why it ended.
func (d *chatDecoder) finished() bool {
	for i := range d.answers {
		if d.answers[i].ended {
			return true
		}
	}
	return false
}

// finish ends the answers. The error is [io.EOF] if they are whole.
func (d *chatDecoder) finish() error {
	empty, mused := true, false
	for i := range d.answers {
		a := &d.answers[i]
		d.flushTags(a)
		d.closeText(a)
		d.closeCalls(a, true)
		d.flushThought(a)
		reason, failed := a.reason()
		if failed {
			return &upstream.Error{Code: upstream.CodeUnavailable, Err: errors.New("openai: the answer ended with " + codec.Clip(a.finish))}
		}
		mused = mused || a.mused
		empty = empty && !a.said && reason == content.StopEnd
		d.add(upstream.Event{Kind: upstream.EventStop, Candidate: a.index, Stop: &upstream.Stop{
			Reason: reason, Sequence: a.sequence, Format: ChatFormat, RawReason: a.finish,
		}})
	}
	if empty {
		if d.usage.Answer() == 0 && !mused {
			return codec.BadGateway(errors.New("openai: there is nothing in the answer"))
		}
		d.lose(lostEmpty, "parts")
	}
	return io.EOF
}

// reason returns why an answer ended.
func (a *chatAnswer) reason() (reason content.StopReason, failed bool) {
	reason, failed = stopReason(a.finish)
	n, _ := a.told("")
	called := n > 0
	switch {
	case reason == content.StopEnd && called:
		reason = content.StopToolUse
	case reason == content.StopToolUse && !called:
		reason = content.StopEnd
	}
	switch {
	case reason == content.StopEnd && a.filtered:
		reason = content.StopSafety
	case reason == content.StopEnd && a.refused:
		reason = content.StopRefusal
	case a.nameless && (reason == content.StopEnd || reason == content.StopToolUse): // whatever stands beside it
		reason = content.StopMalformedCall
	case reason == content.StopEnd && a.sequence != "":
		reason = content.StopSequence
	}
	return reason, failed
}
