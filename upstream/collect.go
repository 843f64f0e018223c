package upstream

import (
	"context"
	"errors"
	"iter"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
)

// A Reply is a whole answer.
type Reply struct {
	Start  Start
	Parts  []content.Part
	Stop   Stop
	Usage  content.Usage
	Losses []content.Loss

	// More holds the answers beyond the first, from vendors that give several.
	More []Candidate

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
func Collect(ctx context.Context, u Upstream, req *Request) (*Reply, error) {
	var c Collector
	err := Run(ctx, u, req, &c)
	return c.Reply(), err
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
type Collector struct {
	// Limit bounds the bytes that are collected; zero means no limit. Send
	// fails beyond it.
	Limit int64

	size   int64
	reply  Reply
	blocks []*collected
}

// collected is a block of which deltas may still come.
type collected struct {
	candidate int
	part      content.Part
	text      strings.Builder
}

var errReplySize = &Error{Code: CodeBadGateway, Text: "the answer is too large"}

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
	c.size += int64(len(e.Text)) + partSize(e.Part)
	if e.Extra != nil {
		c.size += int64(len(e.Extra.JSON))
	}
	if c.Limit > 0 && c.size > c.Limit {
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
	if b := c.block(e); b != nil {
		b.event(e)
	} else if e.Extra != nil {
		to := c.candidate(e.Candidate)
		to.Extra = joinExtra(to.Extra, e.Extra)
	}
	return nil
}

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
	if e.Extra == nil {
		return
	}
	if x := extraOf(b.part); x != nil {
		*x = joinExtra(*x, e.Extra)
	}
}

// block returns the block that an event is about, or nil.
func (c *Collector) block(e *Event) *collected {
	switch e.Kind {
	case EventOpen, EventText, EventInput, EventCitation, EventSignature, EventClose:
		if e.Block >= 0 && e.Block < len(c.blocks) {
			return c.blocks[e.Block]
		}
	}
	return nil
}

// candidate returns the given answer, of which the first is kept in More[0]
// until Reply moves it to its place.
func (c *Collector) candidate(n int) *Candidate {
	for len(c.reply.More) <= n {
		c.reply.More = append(c.reply.More, Candidate{})
	}
	return &c.reply.More[n]
}

// Reply returns what was collected. The Collector must not be used after it.
func (c *Collector) Reply() *Reply {
	for _, b := range c.blocks {
		addText(b.part, b.text.String())
		to := c.candidate(b.candidate)
		to.Parts = append(to.Parts, b.part)
	}
	first := c.candidate(0)
	c.reply.Parts, c.reply.Stop, c.reply.Extra = first.Parts, first.Stop, first.Extra
	c.reply.More = c.reply.More[1:]
	if len(c.reply.More) == 0 {
		c.reply.More = nil
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

// partSize returns about how many bytes a part holds that opens a block.
func partSize(p content.Part) int64 {
	switch p := p.(type) {
	case *content.Text:
		return int64(len(p.Text))
	case *content.Thinking:
		return int64(len(p.Text) + len(p.Redacted.Data))
	case *content.Image:
		return sourceSize(p.Source)
	case *content.Document:
		return sourceSize(p.Source)
	case *content.Media:
		return sourceSize(p.Source)
	case *content.ToolUse:
		return int64(len(p.Input))
	case *content.ServerToolUse:
		return int64(len(p.Input))
	case *content.ServerToolResult:
		return int64(len(p.Content))
	case *content.Unknown:
		return int64(len(p.Raw))
	}
	return 0
}

func sourceSize(s content.Source) int64 {
	switch s := s.(type) {
	case *content.Base64:
		return int64(len(s.Data))
	case *content.PlainText:
		return int64(len(s.Text))
	}
	return 0
}

// joinExtra adds the members of b to those of a. Of two that have the same
// name, b's counts. Extras of two formats cannot be joined: b's counts.
func joinExtra(a, b *content.Extra) *content.Extra {
	if a == nil || b == nil || a.Format != b.Format {
		if b == nil {
			return a
		}
		return ptr(b)
	}
	doc, err := jsonwire.Parse(b.JSON, jsonwire.Limits{})
	if err != nil {
		return a
	}
	defer doc.Close()
	var w jsonwire.Writer
	w.BeginObject()
	err = w.MembersExcept(a.JSON, func(name string) bool { return doc.Root().Get(name).Exists() })
	if err != nil {
		return ptr(b)
	}
	w.Members(b.JSON)
	w.EndObject()
	return &content.Extra{Format: a.Format, JSON: w.Text()}
}
