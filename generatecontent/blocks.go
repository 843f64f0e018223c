package generatecontent

import (
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/partfield"
	"github.com/polywire/polywire/internal/response"
	"github.com/polywire/polywire/upstream"
)

// A responseEncoder has what a streamed and a whole response share. Both implement
// [response.Format].
type responseEncoder struct {
	response.Engine[sentState]
	to partWriter

	expectation

	members response.Members // of the response
	states  []sentCandidate  // parallel to Candidates
}

// An expectation is what the client expects of a response, as its request shows. The zero
// expectation is for responses without a known request.
type expectation struct {
	hideThinking bool // the request did not ask for thought parts: none is sent
	expectSigned bool // the client expects a signature on the first tool call
}

// expectationOf returns the expectation of the client that sent r, which may be nil.
func expectationOf(r *upstream.Request) expectation {
	if r == nil {
		return expectation{}
	}
	show := r.Thinking.Display
	return expectation{hideThinking: show == "" || show == "omitted", expectSigned: signsCalls(r.Model)}
}

// A sentCandidate is what a [responseEncoder] keeps of a candidate.
type sentCandidate struct {
	members   response.Members
	grounding groundingState
	logprobs  logprobs
	hidden    hiddenSignature
}

// A sentBlock is a block of a response for a client.
type sentBlock = response.Block[sentState]

// A sentState is what a [responseEncoder] keeps of it.
type sentState struct {
	extra            *content.Extra // of a text: written with its first piece
	signature        content.Signature
	citations        []content.Citation
	citationBytes    int     // size of citations
	citationsDropped bool    // citations were dropped
	span             segment // of a text
}

// A partWriter writes what the client receives.
type partWriter interface {
	addPart(b *sentBlock, p content.Part)     // the complete part of a block
	carry(k int, signature content.Signature) // state of other vendors, of candidate k
}

// init sets up s for a number of candidates, whose blocks f writes. stream is nil for a whole
// response.
func (s *responseEncoder) init(f response.Format[sentState], stream response.Stream[sentState], to partWriter, candidates int) {
	s.Init(f, stream, Format, candidates, envelope.MaxSize, response.Rules{EventMembers: lossEventMembers, Sequential: true})
	s.to = to
}

// candidate returns the state of a candidate. k is its position in Candidates.
func (s *responseEncoder) candidate(k int) *sentCandidate {
	for len(s.states) <= k {
		s.states = append(s.states, sentCandidate{})
	}
	return &s.states[k]
}

// forget reports the thinking of a block that no vendor has signed: see [response.Format].
func (s *responseEncoder) forget(b *sentBlock) {
	if n, ok := s.State(b).DropIfUnsigned(b.Number, &s.Room); ok && s.hidesThinking() {
		s.LoseAt(s.Path(b.Candidate, n), response.LossHiddenThinking)
	}
}

// endPart writes the part of a block that was not written as text.
func (s *responseEncoder) endPart(b *sentBlock) {
	p := complete(b)
	if h := foreign.HostedIn(p, "", Format); h != nil {
		if x := partfield.ExtraOf(p); x != nil {
			foreign.ResponseMembersOfPart(x, s.LossesOf(b))
		}
		if p = s.hosted(b, h); p == nil {
			b.Begun = false
			return
		}
	}
	p = toResponsePart(p, s.LossesOf(b))
	if p == nil {
		b.Begun = false // a late signature is dropped with the part
		return
	}
	switch t := p.(type) {
	case *content.Text:
		if t.Signature.Data == "" && t.Text != "" {
			p = partfield.WithSignature(p, s.takeHidden(b.Candidate))
		}
	case *content.ToolUse: // a copy
		if t.Signature.Data == "" {
			t.Signature = s.signatureOfCall(b.Candidate)
		} else {
			s.carryState(b.Candidate)
		}
	}
	s.to.addPart(b, p)
}

// complete returns the part of a block with the signature and arguments that followed it.
func complete(b *sentBlock) content.Part {
	p := b.Part
	if b.State.signature.Data != "" {
		p = partfield.WithSignature(p, b.State.signature)
	}
	switch t := p.(type) {
	case *content.ToolUse: // a copy
		if t.Input = b.Arguments(); t.Input == "" {
			t.Input = "{}"
		}
	case *content.ServerToolUse:
		c := *t
		c.Input = b.Arguments()
		return &c
	}
	return p
}

// addMembers adds the members in x to the response or to candidate k.
func (s *responseEncoder) addMembers(x *content.Extra, k int) {
	var all response.Members
	x = s.takeLogprobs(k, x)
	c, index := s.candidate(k), s.Candidates[k].Index
	s.reportForeign(all.Add(x, Format), x, response.CandidatePath(index, ""))
	for _, m := range all {
		switch m.Name {
		case "promptFeedback", "modelStatus", "createTime", "turnToken":
			s.members.Set(m.Name, m.JSON)
		case "content", "finishMessage", "responseId", "modelVersion": // set elsewhere
			s.LoseAt(response.CandidatePath(index, m.Name), response.LossMemberPlace)
		default:
			c.members.Set(m.Name, m.JSON)
		}
	}
}

// reportForeign reports the losses of dropping x if it is of another format.
func (s *responseEncoder) reportForeign(isForeign bool, x *content.Extra, path string) {
	if !isForeign {
		return
	}
	for at, r := range foreign.ResponseMembers(x, path) {
		s.LoseAt(at, r)
	}
}

// takeFeedback adds the promptFeedback in the details of a stop. Blocked prompts have it.
func (s *responseEncoder) takeFeedback(stop *upstream.Stop) {
	if stop.Format != Format || !strings.Contains(stop.Details, "promptFeedback") {
		return
	}
	var m response.Members
	m.Add(&content.Extra{Format: Format, JSON: stop.Details}, Format)
	if json := m.Take("promptFeedback"); json != "" {
		s.members.Set("promptFeedback", json)
	}
}

// endCandidate sets the members of to that follow the parts of candidate k.
func (s *responseEncoder) endCandidate(k int, to *writtenCandidate) {
	c, from := s.candidate(k), &s.Candidates[k]
	path := response.CandidatePath(from.Index, "stop")
	to.Index = from.Index
	to.FinishReason, to.FinishMessage = finishReason(from, func(r *loss.Rule) { s.LoseAt(path, r) })
	s.reportForeign(c.members.Add(from.Stop.Extra, Format), from.Stop.Extra, response.CandidatePath(from.Index, ""))
	if from.Stop.Format == Format {
		c.members.Add(&content.Extra{Format: Format, JSON: from.Stop.Details}, Format)
	}
	c.members.Take("finishMessage")
	c.members.Take("promptFeedback")
	s.setLogprobs(c)
	if avg := c.logprobs.average(); avg != "" {
		c.members.Set(averageMember, avg)
	}
	s.flushGrounding(k)
	to.Extra = c.members.Extra(Format)
}

// setLogprobs adds the log probabilities that wait to the members of a candidate.
func (s *responseEncoder) setLogprobs(c *sentCandidate) {
	if json := c.logprobs.take(); json != "" {
		c.members.Set(scoresMember, json)
	}
}

// takeLogprobs is [response.Engine.TakeLogprobs] for x of another format.
func (s *responseEncoder) takeLogprobs(k int, x *content.Extra) *content.Extra {
	if x == nil || x.Format == Format {
		return x
	}
	return s.TakeLogprobs(k, x)
}

// endResponse sets the members of to that are not in candidates.
func (s *responseEncoder) endResponse(to *writtenResponse) {
	to.Usage, to.ModelVersion, to.ResponseID = s.Usage, s.Start.Model, s.Start.ID
	s.reportCounts()
	to.Extra = s.members.Extra(Format)
}

// reportCounts reports a loss if the usage has counts without a member in this format.
func (s *responseEncoder) reportCounts() {
	u := &s.Usage
	if u.CacheWrite != 0 || u.CacheWrite1h != 0 || codec.HasCounts(u.Extra, Format) {
		s.LoseAt("usage", lossUsageCounts)
	}
}
