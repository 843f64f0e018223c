package messages

import (
	"cmp"
	"slices"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/callid"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/partfield"
	"github.com/polywire/polywire/internal/response"
	"github.com/polywire/polywire/upstream"
)

// A responseEncoder encodes the blocks of a response, streamed or whole. It implements
// [response.Format]. It numbers the blocks anew, because the client does not receive all of
// them, and other blocks carry state.
type responseEncoder struct {
	response.Engine[sentState]
	placement
	to    blockWriter
	whole bool // a block can change after later blocks have begun

	members  response.Members // members without a field
	sources  foreign.Sources
	search   foreign.Search            // of a server of another format; see search.go
	searches int                       // in calls of such a server
	result   *content.ServerToolResult // of the last run of code, until it is written
	ids      callid.Namer

	turns    int        // of the conversation
	next     int        // index of the next block
	last     int        // number of the block that began last, or was dropped when it opened
	free     *sentBlock // unsigned thinking that can carry the signature of the next call
	inBlocks bool       // blocks before the next tool call carry state
	omitted  int        // bytes of thinking that the client has not received
}

// idPrefix is the prefix of the ids that a response has in place of missing and repeated ones.
// Ids of the vendor have other letters after the first underscore.
const idPrefix = "toolu_pw"

// A sentBlock is a block of a response for a client.
type sentBlock = response.Block[sentState]

// A sentState is what a [responseEncoder] keeps of it.
type sentState struct {
	out       int               // index on the wire, once it has begun
	signed    bool              // a signature is written
	hasText   bool              // thinking with text
	hidden    bool              // thinking that is not sent
	vendor    *content.Thinking // thinking as it opened, until it begins
	named     bool              // a tool call with its final id
	frame     string            // of a text: the vendor's start of the block, until it begins
	signature string            // of thinking, written at the end of the block
	toCarry   content.Signature // another vendor's, of a tool call or of omitted thinking
	omits     bool              // thinking whose text the client does not receive
	omitted   []byte            // that text
	hosted    bool              // a call of another vendor's tool, or its result: see search.go
}

// A blockWriter writes what the client receives.
type blockWriter interface {
	startMessage() // the start of the response, if it is not written

	// startBlock writes the start of a block. Arguments and signatures follow.
	startBlock(b *sentBlock, p content.Part)
	writeText(b *sentBlock, text string, x *content.Extra) // text, thinking or arguments
	writeCitation(b *sentBlock, c *content.Citation, x *content.Extra)
	writeSignature(b *sentBlock, data string)
	stopBlock(b *sentBlock)
}

// init sets up s for a response to the conversation in turns. stream is nil for a whole
// response.
func (s *responseEncoder) init(to blockWriter, stream response.Stream[sentState], turns []content.Turn) {
	s.Init(s, stream, Format, 1, envelope.MaxIDSize, response.Rules{
		Candidates: lossResponseCandidates, EventMembers: lossEventMembers, SentCall: response.LossSentCall})
	s.Candidates[s.Candidate(0)].State.OmitText = true
	s.to, s.whole, s.turns, s.ids, s.last = to, stream == nil, len(turns), callid.NewNamer(idPrefix, turns), -1
}

// info returns everything about the response except its blocks.
func (s *responseEncoder) info() responseInfo {
	c := &s.Candidates[0]
	return responseInfo{start: s.Start, stop: c.Stop, usage: s.Usage, members: s.members, sources: s.sources, searches: len(s.search.Queries) + s.searches, calls: c.Calls, broken: c.Broken}
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
	s.to.startMessage()
	s.DropUnsigned(0, s.hideThinking)
	thinking, _ := b.Part.(*content.Thinking)
	if s.hidesThinking(b.Part) || s.isOnlyState(b.Part) {
		b.Kind, b.State.hidden = response.Thinking, true
		if x := thinking.Extra; x != nil && x.Format != Format {
			foreign.ResponseMembersOfPart(x, s.LossesOf(b))
		}
		s.Collect(b, thinking)
		return response.Never
	}
	if h := foreign.HostedIn(b.Part, "", Format); h != nil {
		return s.openHosted(b, h)
	}
	b.State.vendor = thinking
	report := s.LossesOf(b)
	opened := partfield.SignatureOf(b.Part)
	p := toBlock(b.Part, report)
	switch {
	case b.Kind == response.Call:
		b.State.toCarry = s.TakeSignature(b, opened, rest)
	case b.Kind == response.Text && isForeign(opened):
		report(lossTextSignature)
	}
	if p == nil {
		if _, ok := b.Part.(*content.ToolUse); ok {
			s.MarkBroken(b)
		}
		return response.Never
	}
	b.Part = p
	t, isText := p.(*content.Text)
	switch {
	case b.Kind == response.Call:
		return response.Runnable
	case isText && t.Text == "":
		return response.Filled
	}
	return response.Now
}

// BeginBlock first writes the signature of a call into the thinking before it, and the ends of
// thinking, which was open to late signatures.
func (s *responseEncoder) BeginBlock(b *sentBlock) {
	if b.Kind == response.Call {
		s.carryInBlock(b)
	}
	if !s.whole {
		s.FinishClosed()
	}
	if b.State.hosted {
		s.writeHosted(b)
		return
	}
	s.writeResult()
	st := &b.State
	if p, ok := b.Part.(*content.ToolUse); ok { // a copy
		s.nameCall(b)
		s.DropUnsigned(0, s.hideThinking)
		s.CarryInID(b, p, st.toCarry, s.returnsBlocks && s.inBlocks)
		st.toCarry, s.inBlocks = content.Signature{}, false
	}
	switch p := b.Part.(type) {
	case *content.Text:
		for i := range p.Citations {
			s.sources.Cite(&p.Citations[i])
		}
	case *content.Thinking:
		st.hasText, st.signature = p.Text != "", p.Signature.Data // none if it is redacted
	}
	if t := st.vendor; t != nil {
		st.vendor = nil
		s.beginThinking(b, t)
	}
	st.out, s.last = s.next, b.Number
	s.next++
	s.to.startBlock(b, b.Part)
}

func (s *responseEncoder) WriteText(b *sentBlock, text string, e *upstream.Event) {
	if e == nil {
		s.to.writeText(b, text, nil)
		return
	}
	if b.Kind == response.Thinking {
		b.State.hasText = b.State.hasText || e.Text != ""
	}
	switch {
	case b.State.omits:
		s.omit(b, text)
		if e.Extra != nil {
			s.Lose(b, lossEventMembers)
		}
		return
	case text == "" && e.Text != "":
		return // part of a character
	}
	s.to.writeText(b, text, e.Extra)
}

func (s *responseEncoder) Cite(b *sentBlock, e *upstream.Event) {
	if b.Kind != response.Text || !acceptCitation(e.Citation, s.LossesOf(b)) {
		return
	}
	if !b.Begun { // it is written with the start of the block
		t := *b.Part.(*content.Text)
		t.Citations = append(slices.Clip(t.Citations), *e.Citation)
		b.Part = &t
		if e.Extra != nil {
			s.Lose(b, lossEventMembers)
		}
		return
	}
	s.sources.Cite(e.Citation)
	s.to.writeCitation(b, e.Citation, e.Extra)
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
	switch {
	case st.hosted:
		return
	case !b.Begun:
		s.endEmpty(b)
		return
	}
	switch {
	case st.omits:
		s.omit(b, rest)
		s.signOmitted(b)
	case rest != "":
		s.to.writeText(b, rest, nil)
	}
	if b.Kind == response.Thinking {
		if !st.signed {
			st.signature = cmp.Or(st.signature, envelope.Unsigned)
			s.to.writeSignature(b, st.signature)
		}
		if s.free == b {
			s.free = nil
		}
	}
	s.to.stopBlock(b)
}

// endEmpty drops a text without text. The vendor and the handler refuse it in the next
// request, also with citations.
func (s *responseEncoder) endEmpty(b *sentBlock) {
	t := b.Part.(*content.Text)
	if len(t.Citations) > 0 {
		s.Lose(b, lossEmptyText)
	}
	if t.Extra != nil {
		s.Lose(b, lossEventMembers)
	}
	s.last = b.Number
}

func (s *responseEncoder) Forget(*sentBlock) {}

// owes reports whether something must be written before next begins, or before a block that
// opens if next is nil.
func (s *responseEncoder) owes(next *sentBlock) bool {
	for _, b := range s.Blocks() {
		if b != next && b.IsWaiting() {
			return true
		}
	}
	return false
}

// finish writes everything owed at the end of the response.
func (s *responseEncoder) finish() {
	s.FinishQueued(0)
	s.FinishLastCall(0, s.Candidates[0].Stop.Reason)
	s.FinishClosed()
	s.DropUnsigned(0, s.hideThinking)
	s.DropPending(0, s.hideThinking, nil)
	s.writeResult()
	s.writeSearch()
}

// addMembers adds members without a field, and reports those of another format.
func (s *responseEncoder) addMembers(x *content.Extra) {
	if s.members.Add(x, Format) {
		s.sources.Name(x)
		s.addSearch(x)
		reportMembers(x, func(path string, r *loss.Rule) {
			if r != foreign.QueriesLoss || !s.knowsSearch {
				s.LoseAt(path, r)
			}
		})
	}
}
