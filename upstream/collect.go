package upstream

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
)

// A Response is a whole answer.
type Response struct {
	Start  Start
	Parts  []content.Part
	Stop   Stop
	Usage  content.Usage
	Losses []content.Loss

	// MoreCandidates holds the answers beyond the first, from vendors that give several.
	MoreCandidates []Candidate

	// Extra holds the vendor's members of the whole reply that have no field
	// here. Those of parts are in the parts.
	Extra *content.Extra
}

// A Candidate is one of several answers.
type Candidate struct {
	Parts []content.Part
	Stop  Stop
	Extra *content.Extra
}

// Collect calls u and returns the whole answer, never nil. If it fails midway,
// the Reply holds what had come until then.
func Collect(ctx context.Context, u Upstream, req *Request) (*Response, error) {
	var c Collector
	err := Run(ctx, u, req, &c)
	return c.Response(), err
}

// Events calls u and iterates over its answer. No goroutine is started: u runs
// between the steps of the loop, and leaving the loop ends it. An error comes
// at most once, last, with a zero Event; there is none after leaving. The
// sequence is meant to be used once: each use calls u again.
func Events(ctx context.Context, u Upstream, req *Request) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		left := false
		err := Run(ctx, u, req, SinkFunc(func(events []Event) error {
			for i := range events {
				e := events[i]
				e.Frame = nil // not valid for longer than the Send
				if !yield(e, nil) {
					left = true
					return errLeft
				}
			}
			return nil
		}))
		if err != nil && !left {
			yield(Event{}, err)
		}
	}
}

var errLeft = errors.New("upstream: the caller left the loop")

// A Collector is a [Sink] that puts a whole answer together. The zero value is
// ready to use. It is for one answer, and for one goroutine at a time.
//
// What can only be told piece by piece, such as an event of a kind that a
// vendor alone knows, is no part of a whole answer: the Reply's Losses name it,
// behind those that were sent.
type Collector struct {
	// Limit bounds the bytes that are collected; zero means no limit. Send
	// fails beyond it.
	Limit int64

	size   int64
	reply  Response
	blocks []*collected
	extras [][]*content.Extra // of the answer, by candidate
	lost   []content.Loss     // that were found here
	told   loss.Reported      // the same
}

// collected is a block of which deltas may still come.
type collected struct {
	candidate int
	part      content.Part
	text      strings.Builder
	extras    []*content.Extra
}

const (
	maxCandidates = 1000
	maxCollected  = 1000 // losses that were found here
	keptCost      = 64   // bytes that everything costs beside its text, about
)

var (
	errReplySize  = &Error{Code: CodeBadGateway, Text: "the answer is too large"}
	errCandidates = &Error{Code: CodeBadGateway, Err: errors.New("upstream: too many candidates")}
)

// Send takes events. See [Sink].
func (c *Collector) Send(events []Event) error {
	for i := range events {
		if err := c.event(&events[i]); err != nil {
			return err
		}
	}
	return nil
}

func (c *Collector) event(e *Event) error {
	if e.Candidate >= maxCandidates {
		return errCandidates
	}
	if c.size += eventSize(e); c.Limit > 0 && c.size > c.Limit {
		return errReplySize
	}
	switch e.Kind {
	case EventStart:
		c.reply.Start = *e.Start
	case EventOpen:
		c.blocks = append(c.blocks, &collected{candidate: e.Candidate, part: clonePart(e.Part)})
	case EventUsage:
		c.reply.Usage = *e.Usage
	case EventStop:
		c.candidate(e.Candidate).Stop = *e.Stop
	case EventLoss:
		c.reply.Losses = append(c.reply.Losses, *e.Loss)
	}
	b := c.block(e)
	if b != nil {
		b.event(e)
	}
	c.extra(e, b)
	return nil
}

// eventSize returns about how many bytes of an event are kept.
func eventSize(e *Event) int64 {
	n := int64(len(e.Text)) + partSize(e.Part)
	if e.Extra != nil {
		n += int64(len(e.Extra.JSON)) + keptCost
	}
	switch e.Kind {
	case EventOpen:
		n += keptCost
	case EventCitation:
		n += citationSize(e.Citation)
	case EventLoss:
		n += int64(len(e.Loss.Path)+len(e.Loss.Reason)) + keptCost
	}
	return n
}

// extra keeps members that have no field where they belong.
func (c *Collector) extra(e *Event, b *collected) {
	whole := (e.Kind == EventExtra || e.Kind == EventBlockExtra) && e.Text != ""
	switch {
	case e.Extra == nil && !whole:
	case whole && b == nil:
		c.lose(lostEvent, loss.EventPath(e.Text))
	case whole:
		c.lose(lostPiece, partPath(e.Block))
	case b == nil:
		for len(c.extras) <= e.Candidate {
			c.extras = append(c.extras, nil)
		}
		c.extras[e.Candidate] = append(c.extras[e.Candidate], e.Extra)
	case extraOf(b.part) == nil:
		c.lose(lostMembers, partPath(e.Block))
	default:
		b.extras = append(b.extras, e.Extra)
	}
}

func (c *Collector) lose(r *loss.Rule, path string) {
	if l := c.told.New(r, path); l != nil && len(c.lost) < maxCollected {
		c.lost = append(c.lost, *l)
	}
}

func partPath(n int) string { return "parts." + strconv.Itoa(n) }

// event takes what concerns a block.
func (b *collected) event(e *Event) {
	switch e.Kind {
	case EventText, EventInput:
		b.text.WriteString(e.Text)
	case EventCitation:
		if t, ok := b.part.(*content.Text); ok {
			t.Citations = append(t.Citations, *e.Citation)
		}
	case EventSignature:
		sign(b.part, *e.Signature)
	}
}

// block returns the block that an event is about, or nil.
func (c *Collector) block(e *Event) *collected {
	switch e.Kind {
	case EventOpen, EventText, EventInput, EventCitation, EventSignature, EventBlockExtra, EventClose:
		if e.Block >= 0 && e.Block < len(c.blocks) {
			return c.blocks[e.Block]
		}
	}
	return nil
}

// candidate returns the given answer, of which the first is kept in More[0]
// until Reply moves it to its place.
func (c *Collector) candidate(n int) *Candidate {
	for len(c.reply.MoreCandidates) <= n {
		c.reply.MoreCandidates = append(c.reply.MoreCandidates, Candidate{})
	}
	return &c.reply.MoreCandidates[n]
}

// Response returns what was collected. The Collector must not be used after it.
func (c *Collector) Response() *Response {
	for _, b := range c.blocks {
		addText(b.part, b.text.String())
		if x := extraOf(b.part); x != nil && len(b.extras) > 0 {
			*x = joinExtras(append([]*content.Extra{*x}, b.extras...))
		}
		to := c.candidate(b.candidate)
		to.Parts = append(to.Parts, b.part)
	}
	for i, list := range c.extras {
		c.candidate(i).Extra = joinExtras(list)
	}
	c.reply.Losses = append(c.reply.Losses, c.lost...)
	first := c.candidate(0)
	c.reply.Parts, c.reply.Stop, c.reply.Extra = first.Parts, first.Stop, first.Extra
	c.reply.MoreCandidates = c.reply.MoreCandidates[1:]
	if len(c.reply.MoreCandidates) == 0 {
		c.reply.MoreCandidates = nil
	}
	return &c.reply
}

// addText appends the deltas of a block to what it opened with.
func addText(p content.Part, s string) {
	if s == "" {
		return
	}
	switch p := p.(type) {
	case *content.Text:
		p.Text += s
	case *content.Thinking:
		p.Text += s
	case *content.ToolUse:
		p.Input = s // a call that opens with arguments and then streams them means the latter
	case *content.ServerToolUse:
		p.Input = s
	}
}

func sign(p content.Part, s content.Signature) {
	switch p := p.(type) {
	case *content.Text:
		p.Signature = s
	case *content.Image:
		p.Signature = s
	case *content.Document:
		p.Signature = s
	case *content.Media:
		p.Signature = s
	case *content.Thinking:
		p.Signature = s
	case *content.ToolUse:
		p.Signature = s
	case *content.ServerToolUse:
		p.Signature = s
	case *content.ServerToolResult:
		p.Signature = s
	}
}

// extraOf returns where a part keeps its Extra, or nil if it has none.
func extraOf(p content.Part) **content.Extra {
	switch p := p.(type) {
	case *content.Text:
		return &p.Extra
	case *content.Image:
		return &p.Extra
	case *content.Document:
		return &p.Extra
	case *content.Media:
		return &p.Extra
	case *content.Thinking:
		return &p.Extra
	case *content.ToolUse:
		return &p.Extra
	case *content.ToolResult:
		return &p.Extra
	case *content.SearchResult:
		return &p.Extra
	case *content.ServerToolUse:
		return &p.Extra
	case *content.ServerToolResult:
		return &p.Extra
	}
	return nil
}

// joinExtras returns the members of all, each name once: of several values the
// last counts. Extras of two formats cannot be joined: the last format counts.
// What is no object has no members. Nil entries are skipped; the result is nil
// if there is nothing else.
func joinExtras(list []*content.Extra) *content.Extra {
	list = slices.DeleteFunc(slices.Clone(list), func(x *content.Extra) bool { return x == nil })
	if len(list) == 0 {
		return nil
	}
	format := list[len(list)-1].Format
	list = slices.DeleteFunc(list, func(x *content.Extra) bool { return x.Format != format })
	if len(list) == 1 {
		return ptr(list[0])
	}
	last := map[string]int{} // where the value is that counts
	for i, x := range list {
		doc, err := jsonwire.Parse(x.JSON, jsonwire.Limits{})
		if err != nil {
			continue
		}
		for name := range doc.Root().Members() {
			last[name] = i
		}
		doc.Close()
	}
	var w jsonwire.Writer
	w.BeginObject()
	for i, x := range list {
		_ = w.MembersExcept(x.JSON, func(name string) bool { return last[name] != i })
	}
	w.EndObject()
	return &content.Extra{Format: format, JSON: w.Text()}
}
