package messages

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/response"
	"github.com/polywire/polywire/upstream"
)

// A responseEncoder encodes the blocks of a response, streamed or whole. It numbers them anew,
// because the client does not receive all of them, and other blocks carry state.
type responseEncoder struct {
	response.Engine[sentState]
	placement
	to    blockWriter
	whole bool // a block can change after later blocks have begun

	members response.Members // members without a field
	sources codec.Sources
	ids     idMaker

	next       int           // index of the next block
	last       int           // number of the block that began last, or was dropped when it opened
	endsText   bool          // the last written block is a text
	endWritten bool          // the current stop reason and usage are written
	held       heldEnvelopes // signatures of texts, written before the next block
	free       *sentBlock    // unsigned thinking that can carry the signature of the next call
	carried    bool          // blocks before the next tool call carry state
}

// A sentBlock is a block of a response for a client.
type sentBlock = response.Block[sentState]

// A sentState is what a [responseEncoder] keeps of it.
type sentState struct {
	out             int               // index on the wire, once it has begun
	thinkingWritten bool              // a thinking_delta is written
	signed          bool              // a signature is written
	hasText         bool              // a text that clients keep, or thinking with text
	hasTextAhead    bool              // text that arrived with the start of the block
	hidden          bool              // thinking that is not sent
	vendor          *content.Thinking // thinking as it opened, until it begins
	named           bool              // a tool call with its final id
	signature       string            // of thinking, written at the end of the block
	carried         content.Signature // another vendor's: of a text, carried after the block; of a call, in its id
}

// A blockWriter writes what the client receives.
type blockWriter interface {
	begin() // the start of the response, if it is not written

	// startBlock writes the start of a block, without its text, citations, arguments and
	// signature. These follow.
	startBlock(index int, p content.Part)
	writeText(b *sentBlock, text string, x *content.Extra) // text, thinking or arguments
	writeCitation(b *sentBlock, c *content.Citation, x *content.Extra)
	writeSignature(b *sentBlock, data string)
	stopBlock(index int)
}

// init sets up s for a response to the conversation in turns. f is the type that s is
// embedded in.
func (s *responseEncoder) init(f response.Format[sentState], to blockWriter, turns []content.Turn) {
	s.Init(f, Format, 1, envelope.MaxIDSize, response.Rules{
		Candidates: lossResponseCandidates, EventMembers: lossEventMembers, SentCall: lossSentCall})
	s.Candidates[s.Candidate(0)].State.OmitText = true
	s.to, s.ids, s.last = to, idMaker{turns: turns}, -1
}

// state returns the state for the id of the next tool call.
func (s *responseEncoder) state() *envelope.Pending { return &s.Candidates[0].State }

// info returns everything about the response except its blocks.
func (s *responseEncoder) info() responseInfo {
	c := &s.Candidates[0]
	return responseInfo{start: s.Start, stop: c.Stop, usage: s.Usage, members: s.members, sources: s.sources, calls: c.Calls, broken: c.Broken}
}

// OpenBlock implements [response.Format], as the other exported methods do.
func (s *responseEncoder) OpenBlock(b *sentBlock, rest []upstream.Event) response.When {
	when := s.prepare(b, rest)
	if when == response.Never {
		s.last = b.Number
	}
	return when
}

// prepare prepares a block that opens: see [response.Format].
func (s *responseEncoder) prepare(b *sentBlock, rest []upstream.Event) response.When {
	s.to.begin()
	s.dropUnsigned()
	thinking, _ := b.Part.(*content.Thinking)
	if s.hidesThinking(b.Part) || s.isOnlyState(b.Part) {
		b.Kind, b.State.hidden = response.Thinking, true
		if x := thinking.Extra; x != nil && x.Format != Format {
			codec.UnsupportedOfPart(x, s.LossesOf(b))
		}
		s.collect(b, thinking)
		return response.Never
	}
	b.State.vendor = thinking
	report := s.LossesOf(b)
	p := toBlock(b.Part, func(r *loss.Rule) {
		report(r)
		if r == response.LossCallName {
			s.MarkBroken(b)
		}
	})
	sig, hasText, empty := s.lookAhead(b, p, rest)
	_, isText := b.Part.(*content.Text)
	switch {
	case isText && isOptional(sig):
		report(lossTextSignature)
		sig = content.Signature{}
		if empty {
			p = nil
		}
	case empty && sig.Data != "":
		s.BeginWaiting(b)
		s.carryText(b, sig, envelope.KindEmptyText)
		p = nil
	}
	if p == nil {
		return response.Never
	}
	b.Part, b.State.carried, b.State.hasTextAhead = p, sig, hasText
	if b.Kind == response.Call {
		return response.Runnable
	}
	return response.Now
}

// BeforeBlock writes the signature of a call into the thinking before it, the ends of
// thinking and the envelopes with signatures of texts.
func (s *responseEncoder) BeforeBlock(b *sentBlock) {
	if b.Kind == response.Call {
		s.carryInBlock(b)
	}
	s.writeOwed(b)
}

func (s *responseEncoder) BeginBlock(b *sentBlock) {
	s.endWritten = false // the written end was not the last one
	st := &b.State
	switch p := b.Part.(type) {
	case *content.ToolUse: // a copy
		s.nameCall(b)
		s.dropUnsigned()
		lose := func(n int, r *loss.Rule) { s.LoseAt(s.Path(0, n), r) }
		p.ID = callID(p.ID, st.carried, s.returnsBlocks && s.carried, s.state(), &s.Room, lose, s.LossesOf(b))
		st.carried, s.carried = content.Signature{}, false
	case *content.Text:
		if st.carried.Data != "" && st.hasTextAhead && s.returnsBlocks {
			s.writeCarrier(encodeEnvelope(st.carried, envelope.KindNextText, s.LossesOf(b)))
			st.signed, st.carried = true, content.Signature{}
		}
	}
	if t := st.vendor; t != nil {
		st.vendor = nil
		foreign := isForeign(t.Redacted) || isForeign(t.Signature)
		s.carried = s.carried || foreign
		if !s.returnsBlocks && (!s.Own || foreign && !isOptional(t.Signature)) && t.Signature.Format != Format && t.Redacted.Format != Format {
			s.collect(b, t)
		}
	}
	s.endsText = b.Kind == response.Text
	s.start(b)
	s.writeInitial(b)
}

// start writes the start of a block.
func (s *responseEncoder) start(b *sentBlock) {
	b.State.out, s.last = s.next, b.Number
	s.next++
	s.to.startBlock(b.State.out, b.Part)
}

// writeInitial writes the content of a part that opened with it.
func (s *responseEncoder) writeInitial(b *sentBlock) {
	switch p := b.Part.(type) {
	case *content.Text:
		if p.Text != "" {
			b.State.hasText = !mayBeDropped(p.Text)
			s.to.writeText(b, p.Text, nil)
		}
		for i := range p.Citations {
			s.cite(b, &p.Citations[i], nil)
		}
	case *content.Thinking:
		if b.Kind == response.Thinking && p.Text != "" {
			b.State.thinkingWritten, b.State.hasText = true, true
			s.to.writeText(b, p.Text, nil)
		}
		b.State.signature = p.Signature.Data // empty for redacted thinking
	}
}

func (s *responseEncoder) WriteText(b *sentBlock, text string, e *upstream.Event) {
	if e == nil {
		s.to.writeText(b, text, nil)
		return
	}
	switch b.Kind {
	case response.Text:
		b.State.hasText = b.State.hasText || !mayBeDropped(e.Text)
	case response.Thinking:
		b.State.thinkingWritten, b.State.hasText = true, b.State.hasText || e.Text != ""
	}
	if text == "" && e.Text != "" {
		return // part of a character
	}
	s.to.writeText(b, text, e.Extra)
}

func (s *responseEncoder) Cite(b *sentBlock, e *upstream.Event) {
	if b.Begun && b.Kind == response.Text && acceptCitation(e.Citation, s.LossesOf(b)) {
		s.cite(b, e.Citation, e.Extra)
	}
}

func (s *responseEncoder) cite(b *sentBlock, c *content.Citation, x *content.Extra) {
	s.sources.Cite(c)
	s.to.writeCitation(b, c, x)
}

// CloseBlock keeps thinking open that has no signature yet: in a stream until the next block
// begins, and in a whole response until other thinking follows.
func (s *responseEncoder) CloseBlock(b *sentBlock) (later bool) {
	st := &b.State
	if !b.Begun || b.Kind != response.Thinking || st.signature != "" || st.signed {
		return false
	}
	switch {
	case s.whole && !st.hasText:
		return false
	case s.whole:
		s.FinishClosed() // only the last one can carry a signature
		s.free = b
	case st.hasText && st.out == s.next-1:
		s.free = b
	}
	return true
}

// EndBlock writes the end of a block. Thinking always ends with one signature, because some
// clients append signatures and others replace them. It is never empty: clients do not
// return an empty one, or the vendor rejects it.
func (s *responseEncoder) EndBlock(b *sentBlock, rest string) {
	st := &b.State
	if rest != "" {
		s.to.writeText(b, rest, nil)
	}
	if b.Kind == response.Thinking {
		if !st.thinkingWritten && !st.signed {
			s.to.writeText(b, "", nil)
		}
		if !st.signed {
			if st.signature == "" {
				st.signature = envelope.Unsigned
			}
			s.to.writeSignature(b, st.signature)
		}
		if s.free == b {
			s.free = nil
		}
	}
	s.to.stopBlock(st.out)
	if b.Kind == response.Text && st.carried.Data != "" {
		s.carryAfter(b, st.carried)
	}
}

// Broken makes the stream write the end again, because the stop reason changes.
func (s *responseEncoder) Broken(*sentBlock) { s.endWritten = false }

func (s *responseEncoder) Forget(*sentBlock) {}

// owes reports whether something must be written before a block begins.
func (s *responseEncoder) owes() bool {
	if len(s.held.list) > 0 || s.textToCarry(nil) != nil {
		return true
	}
	for _, b := range s.Blocks() {
		if b.IsWaiting() {
			return true
		}
	}
	return false
}

// finish writes everything owed at the end of the response.
func (s *responseEncoder) finish() {
	s.FinishCut(0, s.Candidates[0].Stop.Reason)
	s.FinishClosed()
	if s.endsText {
		s.dropHeld()
	}
	s.writeOwed(nil)
	s.dropUnsigned()
	s.placement.dropPending(s.state(), func(n int, r *loss.Rule) { s.LoseAt(s.Path(0, n), r) })
}

// addMembers adds members without a field, and reports those of another format.
func (s *responseEncoder) addMembers(x *content.Extra) {
	if s.members.Add(x, Format) {
		s.sources.Name(x)
		reportMembers(x, s.LoseAt)
	}
}
