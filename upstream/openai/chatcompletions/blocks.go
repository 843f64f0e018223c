package chatcompletions

import (
	"unicode/utf8"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/callid"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/openaiformat"
	"github.com/polywire/polywire/internal/partfield"
	"github.com/polywire/polywire/internal/response"
	"github.com/polywire/polywire/upstream"
)

// A responseEncoder encodes the blocks of a response, streamed or whole. It implements
// [response.Format].
//
// The message of a choice has one content, one refusal, one reasoning_content and a list of
// tool calls, so the blocks of a kind are joined. Parts of other kinds have no place in it.
type responseEncoder struct {
	response.Engine[sentState]
	expectation
	to messageWriter

	members response.Members // of the response, without a field
	sources foreign.Sources
	choices []sentChoice // parallel to Candidates
	ids     callid.Namer
}

// idPrefix is the prefix of the ids that a response has in place of missing and repeated ones.
const idPrefix = "call_pw"

// maxChoices limits the choices of a response. It is the vendor's limit.
const maxChoices = 128

// An expectation is what the client expects of a response. The zero expectation is for
// responses without a known request.
type expectation struct {
	hideReasoning bool // the client does not receive thinking
	functions     bool // the client expects function_call in place of tool_calls
	reasoning     bool // the client expects reasoning in place of reasoning_content
}

// encodesAnew reports whether the client does not receive the documents of servers of this format
// as they are.
func (e *expectation) encodesAnew() bool { return e.hideReasoning || e.functions }

// A sentChoice is what a [responseEncoder] keeps of a choice.
type sentChoice struct {
	calls    int   // tool calls that have begun
	length   int64 // of the content, in characters
	hasCalls bool  // a block after a tool call may be out of order
}

// A sentBlock is a block of a response for a client.
type sentBlock = response.Block[sentState]

// A sentState is what a [responseEncoder] keeps of it.
type sentState struct {
	call      int  // index of a tool call, once it has begun
	written   bool // arguments were written
	refusal   bool // of a text
	hidden    bool // thinking that is not sent
	toCarry   content.Signature
	own       string // JSON of the members in which the vendor gets thinking back
	start     int64  // of a text in the content, in characters
	citations []content.Citation
	cited     int // bytes of citations
}

// Limits of the citations of a text, which wait for its end.
const (
	maxCitations     = 1000
	maxCitationBytes = 1 << 20
)

// A textField is a member of the message to which pieces of text are appended.
type textField uint8

const (
	fieldContent textField = iota
	fieldRefusal
	fieldReasoning
)

// A messageWriter writes what the client receives. k is the position of a choice in
// Candidates.
type messageWriter interface {
	writeText(k int, f textField, text string)
	startCall(k, call int, t *content.ToolUse)                // without its arguments
	writeInput(k, call int, freeform bool, text string)       // of the call that has begun
	writeCitation(k int, c *content.Citation, from, to int64) // of characters of the content
	writeImage(k int, url string)
	writeMembers(k int, json string) // further members of the message
	writeLogprobs(k int, json string)
	addLogprobs(k int, tokens []byte) // of a content, as elements of a list
}

// init sets up s for a response to the conversation in turns. stream is nil for a whole
// response.
func (s *responseEncoder) init(to messageWriter, stream response.Stream[sentState], turns []content.Turn) {
	s.Init(s, stream, Format, maxChoices, envelope.MaxIDSize, response.Rules{Candidates: lossManyChoices, EventMembers: lossEventMembers, SentCall: response.LossSentCall,
		Sequential: true, // a message has one content, and the vendor's tool calls follow one another
		Freeform:   true, Refusals: true})
	s.to, s.ids = to, callid.NewNamer(idPrefix, turns)
	s.choice(s.Candidate(0))
}

// choice returns the state of a choice. k is its position in Candidates.
func (s *responseEncoder) choice(k int) *sentChoice {
	for len(s.choices) <= k {
		s.Candidates[len(s.choices)].State.OmitText = true
		s.choices = append(s.choices, sentChoice{})
	}
	return &s.choices[k]
}

// OpenBlock implements [response.Format], as the other exported methods do.
func (s *responseEncoder) OpenBlock(b *sentBlock, rest []upstream.Event) response.When {
	s.choice(b.Candidate)
	switch p := b.Part.(type) { // other kinds are not in responses
	case *content.Text:
		return s.openText(b, p)
	case *content.Thinking:
		return s.openThinking(b, p)
	case *content.ToolUse: // a copy
		return s.openCall(b, p, rest)
	case *content.Image:
		if url := imageURL(p.Source); url != "" {
			if s.dropHints(b, p); !s.Own {
				s.Lose(b, lossImageMember)
			}
			b.Part = &content.Image{Source: &content.URL{URL: url}}
			return response.Now
		}
	}
	rule := lossOfPart(b.Part)
	if h := foreign.HostedIn(b.Part, b.Arguments(), Format); h != nil && h.Search {
		s.sources.AddFound(h.Found)
		rule = foreign.QueriesLoss
	}
	s.Lose(b, rule)
	return response.Never
}

// dropHints reports the members of a part that the message has no place for.
func (s *responseEncoder) dropHints(b *sentBlock, p content.Part) {
	if x := partfield.ExtraOf(p); x != nil {
		s.loseMembers(b, x)
	}
	if partfield.CacheOf(p) != nil {
		s.Lose(b, lossResponseCache)
	}
}

// loseMembers reports members of a part or of an event.
func (s *responseEncoder) loseMembers(b *sentBlock, x *content.Extra) {
	switch x = s.TakeLogprobs(b.Candidate, x); {
	case x == nil:
	case x.Format == Format:
		s.Lose(b, lossEventMembers)
	default:
		foreign.ResponseMembersOfPart(x, s.LossesOf(b))
	}
}

// AddLogprobs implements [response.LogprobFormat].
func (s *responseEncoder) AddLogprobs(k int, list []foreign.Logprob) {
	s.to.addLogprobs(k, openaiformat.AppendLogprobs(nil, list))
}

func (s *responseEncoder) openText(b *sentBlock, p *content.Text) response.When {
	s.dropHints(b, p)
	switch {
	case isForeign(p.Signature):
		s.Lose(b, lossTextSignature)
	case p.Signature.Data != "":
		s.Lose(b, envelope.UnknownFormat)
	}
	b.State.refusal = p.Refusal
	for i := range p.Citations {
		s.addCitation(b, &p.Citations[i])
	}
	return response.Now
}

func (s *responseEncoder) openCall(b *sentBlock, p *content.ToolUse, rest []upstream.Event) response.When {
	s.dropHints(b, p)
	if p.Signature.Data != "" && !isForeign(p.Signature) {
		s.Lose(b, envelope.UnknownFormat)
	}
	b.State.toCarry = s.TakeSignature(b, p.Signature, rest)
	p.Signature, p.Cache, p.Extra = content.Signature{}, nil, nil
	if p.Name == "" {
		s.Lose(b, response.LossCallName)
		s.MarkBroken(b)
		return response.Never
	}
	if s.functions && s.choice(b.Candidate).hasCalls {
		s.Lose(b, lossManyFunctions)
		return response.Never
	}
	s.choice(b.Candidate).hasCalls = true
	return response.Runnable
}

// BeginBlock writes the part of a block that was known when it opened.
func (s *responseEncoder) BeginBlock(b *sentBlock) {
	c, st := s.choice(b.Candidate), &b.State
	switch p := b.Part.(type) { // other kinds are not in responses
	case *content.Text:
		if st.start = c.length; p.Text != "" {
			s.WriteText(b, p.Text, nil)
		}
		if c.calls > 0 {
			s.Lose(b, lossTextOrder)
		}
	case *content.Thinking:
		if p.Text != "" {
			s.WriteText(b, p.Text, nil)
		}
	case *content.ToolUse: // a copy
		s.nameCall(b, p)
		st.call = c.calls
		c.calls++
		s.to.startCall(b.Candidate, st.call, p)
	case *content.Image:
		s.to.writeImage(b.Candidate, p.Source.(*content.URL).URL)
	}
}

func (s *responseEncoder) WriteText(b *sentBlock, text string, e *upstream.Event) {
	if e != nil && e.Extra != nil {
		s.loseMembers(b, e.Extra)
	}
	if text == "" {
		return // part of a character
	}
	k := b.Candidate
	switch b.Kind {
	case response.Text:
		if b.State.refusal {
			s.to.writeText(k, fieldRefusal, text)
			return
		}
		s.choice(k).length += int64(utf8.RuneCountInString(text))
		s.to.writeText(k, fieldContent, text)
	case response.Thinking:
		s.to.writeText(k, fieldReasoning, text)
	case response.Call:
		b.State.written = true
		t, _ := b.Part.(*content.ToolUse)
		s.to.writeInput(k, b.State.call, t != nil && t.Freeform, text)
	}
}

func (s *responseEncoder) Cite(b *sentBlock, e *upstream.Event) {
	if e.Extra != nil {
		s.loseMembers(b, e.Extra)
	}
	if b.Kind == response.Text {
		s.addCitation(b, e.Citation)
	}
}

// addCitation stores a citation until the text ends: only then its bounds are known.
func (s *responseEncoder) addCitation(b *sentBlock, c *content.Citation) {
	st := &b.State
	switch {
	case c.URL == "" || c.Kind != content.CiteWeb && !openaiformat.IsWebURL(c.URL) || st.refusal:
		s.Lose(b, lossResponseCitation)
		return
	case c.Kind != content.CiteWeb || c.Text != "":
		s.Lose(b, lossCitedPassage)
	case c.Extra != nil && c.Extra.Format != Format:
		s.Lose(b, foreign.ResponseLoss)
	}
	if st.cited += len(c.URL) + len(c.Title); len(st.citations) == maxCitations || st.cited > maxCitationBytes {
		s.Lose(b, lossManyCitations)
		return
	}
	st.citations = append(st.citations, *c)
	s.sources.Cite(c)
}

func (s *responseEncoder) CloseBlock(*sentBlock) (later bool) { return false }

func (s *responseEncoder) EndBlock(b *sentBlock, rest string) {
	if !b.Begun {
		return
	}
	if rest != "" {
		s.WriteText(b, rest, nil)
	}
	k, st := b.Candidate, &b.State
	switch p := b.Part.(type) { // other kinds have no end
	case *content.Text:
		for i := range st.citations {
			c := &st.citations[i]
			from, to := st.start, s.choice(k).length
			if c.Kind == content.CiteWeb && 0 <= c.Start && c.Start < c.End && c.End <= to-from {
				from, to = from+c.Start, from+c.End
			}
			s.to.writeCitation(k, c, from, to)
		}
		st.citations = nil
	case *content.Thinking:
		s.writeOwnState(b)
	case *content.ToolUse:
		if !st.written && !p.Freeform && !b.Forwarded { // some clients cannot parse empty arguments
			s.WriteText(b, "{}", nil)
		}
	}
}

func (s *responseEncoder) Forget(*sentBlock) {}

// finish writes everything owed at the end of the response. The choices are those of all
// indices up to the largest one.
func (s *responseEncoder) finish() {
	last := 0
	for k := range s.Candidates {
		last = max(last, s.Candidates[k].Index)
	}
	for i := range last {
		s.Candidate(i)
	}
	for k := range s.Candidates {
		s.choice(k)
		s.FinishQueued(k)
		s.FinishLastCall(k, s.Candidates[k].Stop.Reason)
	}
	s.FinishClosed()
	for k := range s.Candidates {
		s.DropPending(k, true, nil) // shown texts have no signature
	}
	for path, r := range s.sources.Lost() {
		s.LoseAt(path, r)
	}
	if tier := openaiformat.ServiceTier(&s.Usage); tier != "" && s.members.Get("service_tier") == "" {
		s.members.Set("service_tier", tier)
	}
}

// addMembers adds members without a field, of the response or of choice k.
func (s *responseEncoder) addMembers(x *content.Extra, k int) {
	if x != nil && x.Format != Format {
		x = s.TakeLogprobs(k, x)
	}
	if x == nil {
		return
	}
	index := s.Candidates[k].Index
	var all response.Members
	if all.Add(x, Format) {
		s.sources.Name(x)
		for path, r := range foreign.ResponseMembers(x, response.CandidatePath(index, "")) {
			s.LoseAt(path, r)
		}
		return
	}
	for _, m := range all {
		switch {
		case m.Name == "logprobs":
			s.to.writeLogprobs(k, m.JSON)
		case isChunkMember(m.Name):
			s.LoseAt(response.CandidatePath(index, m.Name), response.LossMemberPlace)
		default:
			s.members.Set(m.Name, m.JSON)
		}
	}
}

// isChunkMember reports whether a member of a response or a choice has a field.
func isChunkMember(name string) bool {
	switch name {
	case "id", "object", "created", "model", "choices", "usage", "index", "message", "delta", "finish_reason":
		return true
	}
	return false
}

// imageURL returns the URL of an image, or "" if it has none.
func imageURL(s content.Source) string {
	switch s := s.(type) { // other kinds are not in responses
	case *content.URL:
		if s != nil {
			return s.URL
		}
	case *content.Base64:
		if s != nil && s.MediaType != "" {
			return "data:" + s.MediaType + ";base64," + s.Data
		}
	}
	return ""
}

// finishReason returns the finish_reason of a choice, and reports what it does not represent.
func (s *responseEncoder) finishReason(k int) string {
	c := &s.Candidates[k]
	stop := &c.Stop
	lose := func(r *loss.Rule) { s.LoseAt(response.CandidatePath(c.Index, "stop"), r) }
	if stop.Format != Format && (stop.Message != "" || codec.HasMoreThan(stop, "")) {
		lose(response.LossStopDetails)
	}
	if stop.Extra != nil {
		s.addMembers(stop.Extra, k)
	}
	switch stop.Reason {
	case content.StopMaxTokens, content.StopContext:
		return "length"
	case content.StopSafety, content.StopRecitation:
		return "content_filter"
	case content.StopRefusal:
		if stop.Format == Format && stop.RawReason == "stop" { // the refusal is in the message
			return "stop"
		}
		return "content_filter"
	}
	switch {
	case c.Broken:
		return "length"
	case stop.Format == Format && (stop.RawReason == "stop" || stop.RawReason == "tool_calls" && c.Calls > 0 && !s.functions):
		return stop.RawReason
	case stop.Reason == content.StopMalformedCall, stop.Reason == content.StopToolUse && c.Calls == 0:
		lose(lossStopReason)
		return "length"
	case c.Calls > 0 && s.functions:
		return "function_call"
	case c.Calls > 0:
		return "tool_calls"
	}
	switch stop.Reason {
	case "", content.StopEnd, content.StopToolUse:
	case content.StopSequence:
		lose(lossStopSequence)
	case content.StopCompaction: // the response is complete
		lose(lossStopReason)
	default:
		lose(lossStopReason)
		return "length"
	}
	return "stop"
}
