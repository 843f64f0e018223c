package upstream

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/partfield"
)

// A Response is a whole response.
type Response struct {
	Start  Start
	Parts  []content.Part
	Stop   Stop
	Usage  content.Usage
	Losses []content.Loss

	// NoUsageFrom lists the wire formats of the servers that sent the response without
	// usage, or "" for pieces that were changed. It is nil if usage was reported, or if no
	// server sent the response. With it, formats estimate the usage for their clients.
	NoUsageFrom []content.Format

	// MoreCandidates holds the candidates after the first.
	MoreCandidates []Candidate

	// Extra holds the vendor's members of the response that have no field here.
	Extra *content.Extra

	// Frame is the document that a DecodeResponse function has decoded to this response, for
	// [Writer.Frame], or nil. Changes of the response are not in it.
	Frame *Frame
}

// A Candidate is one of several alternative responses.
type Candidate struct {
	Parts []content.Part
	Stop  Stop
	Extra *content.Extra
}

// Collect calls u and returns the whole response. If u fails, Collect returns the error
// and the part of the response that it received before. The Response is never nil.
func Collect(ctx context.Context, u Upstream, req *Request) (*Response, error) {
	var c Collector
	err := Run(ctx, u, req, &c)
	return c.Response(), err
}

// Events calls u and returns an iterator over the events of the response. It starts no
// goroutine: u runs between the steps of the loop, and leaving the loop makes the
// Writer of u fail. If u fails, the last pair is a zero Event and the error. Each use
// of the iterator calls u again. The Frame of the events is nil.
func Events(ctx context.Context, u Upstream, req *Request) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		left := false
		err := Run(ctx, u, req, SinkFunc(func(events []Event) error {
			for i := range events {
				e := events[i]
				e.Frame = nil // valid only during Send
				if !yield(e, nil) {
					left = true
					return errLoopLeft
				}
			}
			return nil
		}))
		if err != nil && !left {
			yield(Event{}, err)
		}
	}
}

var errLoopLeft = errors.New("upstream: loop ended early")

// A Collector is a [Sink] that builds a [Response]. The zero value is ready to use. A
// Collector is for one response and must not be used by several goroutines at once.
//
// Some events have no place in a whole response, such as events that only one vendor
// defines. The Collector omits them and adds a loss to the Losses of the Response,
// after those that it received.
type Collector struct {
	// Limit is the maximum size of the response in bytes. If it is exceeded, Send
	// returns an error. 0 means no limit.
	Limit int64

	size     int64
	resp     Response
	blocks   []*collectedBlock
	started  bool               // events other than losses were received
	hasUsage bool               // usage was reported, even if all counts are zero
	extras   [][]*content.Extra // members of the response, by candidate
	losses   loss.List          // that were received
	found    loss.List          // found by the Collector
}

// A collectedBlock is a block that is being collected.
type collectedBlock struct {
	candidate int
	part      content.Part
	text      strings.Builder
	extras    []*content.Extra
}

const (
	maxCandidates = 1000
	entryOverhead = 64 // approximate memory of a value in addition to its text, in bytes
)

var (
	errTooLarge          = &Error{Code: CodeBadGateway, Text: "the response is too large"}
	errTooManyCandidates = &Error{Code: CodeBadGateway, Err: errors.New("upstream: more than 1000 candidates")}
)

// Send adds events to the response. It returns an error if the response is larger than
// Limit or has more than 1,000 candidates, or if [Event.Check] does for an event.
func (c *Collector) Send(events []Event) error {
	// bounded by the host
	if len(events) > 0 && events[0].Frame != nil && !slices.Contains(c.resp.NoUsageFrom, events[0].Frame.Format) {
		c.resp.NoUsageFrom = append(c.resp.NoUsageFrom, events[0].Frame.Format)
	}
	for i := range events {
		if err := c.add(&events[i]); err != nil {
			return err
		}
	}
	return nil
}

func (c *Collector) add(e *Event) error {
	if err := e.Check(); err != nil {
		return err
	}
	if e.Candidate >= maxCandidates {
		return errTooManyCandidates
	}
	if c.size += eventSize(e); c.Limit > 0 && c.size > c.Limit {
		return errTooLarge
	}
	c.started = c.started || e.Kind != EventLoss
	switch e.Kind {
	case EventStart:
		c.resp.Start = *e.Start
	case EventOpen:
		c.blocks = append(c.blocks, &collectedBlock{candidate: e.Candidate, part: clonePart(e.Part)})
	case EventUsage:
		c.resp.Usage, c.hasUsage = *e.Usage, true
	case EventStop:
		c.candidateAt(e.Candidate).Stop = *e.Stop
	case EventLoss:
		c.losses.Add(*e.Loss)
	}
	b := c.blockOf(e)
	if b != nil {
		b.add(e)
	}
	c.addExtra(e, b)
	return nil
}

// eventSize returns the approximate number of bytes that are kept of an event.
func eventSize(e *Event) int64 {
	n := int64(len(e.Text)) + partSize(e.Part)
	if e.Extra != nil {
		n += int64(len(e.Extra.JSON)) + entryOverhead
	}
	switch e.Kind {
	case EventOpen:
		n += entryOverhead
	case EventCitation:
		n += citationSize(e.Citation)
	case EventLoss:
		n += int64(len(e.Loss.Reason)) + entryOverhead
		for path := range e.Loss.Places() {
			n += int64(len(path)) + 16
		}
	}
	return n
}

// addExtra adds the members of e to the part or candidate to which they belong.
func (c *Collector) addExtra(e *Event, b *collectedBlock) {
	whole := (e.Kind == EventExtra || e.Kind == EventBlockExtra) && e.Text != ""
	switch {
	case e.Extra == nil && !whole:
	case whole && b == nil:
		c.addLoss(lossVendorEvent, loss.EventPath(e.Text))
	case whole:
		c.addLoss(lossVendorBlockEvent, partPath(e.Block))
	case b == nil:
		for len(c.extras) <= e.Candidate {
			c.extras = append(c.extras, nil)
		}
		c.extras[e.Candidate] = append(c.extras[e.Candidate], e.Extra)
	case partfield.Of(b.part).Extra == nil:
		c.addLoss(lossEventMembers, partPath(e.Block))
	default:
		b.extras = append(b.extras, e.Extra)
	}
}

func (c *Collector) addLoss(r *loss.Rule, path string) {
	c.found.Add(r.At(path))
}

func partPath(n int) string { return "parts." + strconv.Itoa(n) }

// add adds an event to the block.
func (b *collectedBlock) add(e *Event) {
	switch e.Kind {
	case EventText, EventInput:
		b.text.WriteString(e.Text)
	case EventCitation:
		if list := partfield.Of(b.part).Citations; list != nil {
			*list = append(*list, *e.Citation)
		}
	case EventSignature:
		if s := partfield.Of(b.part).Signature; s != nil {
			*s = *e.Signature
		}
	}
}

// blockOf returns the block of an event, or nil.
func (c *Collector) blockOf(e *Event) *collectedBlock {
	switch e.Kind {
	case EventOpen, EventText, EventInput, EventCitation, EventSignature, EventBlockExtra, EventClose:
		if e.Block >= 0 && e.Block < len(c.blocks) {
			return c.blocks[e.Block]
		}
	}
	return nil
}

// candidateAt returns candidate i. The first candidate is kept in MoreCandidates[0]
// until Response moves it.
func (c *Collector) candidateAt(i int) *Candidate {
	for len(c.resp.MoreCandidates) <= i {
		c.resp.MoreCandidates = append(c.resp.MoreCandidates, Candidate{})
	}
	return &c.resp.MoreCandidates[i]
}

// Response returns the collected response. The Collector must not be used afterwards.
func (c *Collector) Response() *Response {
	for _, b := range c.blocks {
		addText(b.part, b.text.String())
		if x := partfield.Of(b.part).Extra; x != nil && len(b.extras) > 0 {
			*x = joinExtras(append([]*content.Extra{*x}, b.extras...))
		}
		to := c.candidateAt(b.candidate)
		to.Parts = append(to.Parts, b.part)
	}
	for i, list := range c.extras {
		c.candidateAt(i).Extra = joinExtras(list)
	}
	c.losses.AddAll(c.found.All)
	c.resp.Losses = c.losses.All
	if c.hasUsage || !c.started {
		c.resp.NoUsageFrom = nil
	}
	first := c.candidateAt(0)
	c.resp.Parts, c.resp.Stop, c.resp.Extra = first.Parts, first.Stop, first.Extra
	c.resp.MoreCandidates = c.resp.MoreCandidates[1:]
	if len(c.resp.MoreCandidates) == 0 {
		c.resp.MoreCandidates = nil
	}
	return &c.resp
}

// addText appends the text of a block to its part.
func addText(p content.Part, s string) {
	f := partfield.Of(p)
	if text := f.Written(); text != nil {
		*text += s
	} else if input := f.Argument(); input != nil && s != "" {
		*input = s // streamed arguments replace those of the EventOpen
	}
}

// joinExtras returns the members of all elements of list. Of several members with one
// name the last is kept, except of log probabilities, which are those of all. If the formats differ, only elements of the last format are
// kept. Elements that are nil or not valid JSON are skipped. The result is nil if list
// has no other elements.
func joinExtras(list []*content.Extra) *content.Extra {
	list = slices.DeleteFunc(slices.Clone(list), func(x *content.Extra) bool { return x == nil })
	if len(list) == 0 {
		return nil
	}
	format := list[len(list)-1].Format
	list = slices.DeleteFunc(list, func(x *content.Extra) bool { return x.Format != format })
	if len(list) == 1 {
		return clonePtr(list[0])
	}
	last := map[string]int{} // index of the last element with a name
	scores, all := foreign.LogprobsMember(format), []string(nil)
	for i, x := range list {
		doc, err := jsonwire.Parse(x.JSON, jsonwire.Limits{})
		if err != nil {
			continue
		}
		for name, v := range doc.Root().Members() {
			if last[name] = i; name == scores && name != "" {
				all = append(all, v.Raw())
			}
		}
		doc.Close()
	}
	joined := foreign.JoinLogprobs(all)
	var w jsonwire.Writer
	w.BeginObject()
	for i, x := range list {
		_ = w.MembersExcept(x.JSON, func(name string) bool { return last[name] != i || joined != "" && name == scores })
	}
	w.OptRawMember(scores, joined)
	w.EndObject()
	return &content.Extra{Format: format, JSON: w.Text()}
}

// partsSize returns the approximate number of bytes in parts.
func partsSize(ps []content.Part) (n int64) {
	for _, p := range ps {
		n += entryOverhead + partSize(p)
	}
	return n
}

func partSize(p content.Part) (n int64) {
	f := partfield.Of(p)
	for _, s := range f.Strings {
		n += textSize(s.At)
	}
	if f.Citations != nil {
		for i := range *f.Citations {
			n += citationSize(&(*f.Citations)[i])
		}
	}
	if f.Source != nil {
		n += sourceSize(*f.Source)
	}
	if f.Parts != nil {
		n += partsSize(*f.Parts)
	}
	for _, s := range [...]*content.Signature{f.Signature, f.Redacted} {
		if s != nil {
			n += textSize(&s.Data)
		}
	}
	if f.Extra != nil {
		n += extraSize(*f.Extra)
	}
	return n
}

func citationSize(c *content.Citation) int64 {
	return entryOverhead + int64(len(c.Text)+len(c.Title)+len(c.URL)+len(c.FileID)) + extraSize(c.Extra)
}

func sourceSize(s content.Source) (n int64) {
	f := partfield.OfSource(s)
	n = textSize(f.Data) + textSize(f.MediaType)
	if f.Parts != nil {
		n += partsSize(*f.Parts)
	}
	if f.Extra != nil {
		n += extraSize(*f.Extra)
	}
	return n
}

func extraSize(x *content.Extra) int64 {
	if x == nil {
		return 0
	}
	return int64(len(x.JSON))
}

func textSize(s *string) int64 {
	if s == nil {
		return 0
	}
	return int64(len(*s))
}

// Losses of responses of every vendor.
var (
	lossOmittedBlock     = loss.Hint(loss.ResponseMembers, "a vendor's members of an omitted block were omitted")
	lossVendorEvent      = loss.Hint(loss.ResponseMembers, "a whole response cannot contain events that only the vendor defines; the event was omitted")
	lossVendorBlockEvent = loss.Hint(loss.ResponseMembers, "a part of a whole response cannot contain deltas that only the vendor defines; the delta was omitted")
	lossEventMembers     = loss.Hint(loss.ResponseMembers, "the part cannot contain a vendor's members of the event; they were omitted")
)
