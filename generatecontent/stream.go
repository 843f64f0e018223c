package generatecontent

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/handler"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/response"
	"github.com/polywire/polywire/upstream"
)

// A framing is the way in which the chunks of a stream are separated.
type framing uint8

const (
	inEvents framing = iota // server-sent events with data lines only
	inArray                 // a JSON array
	inLines                 // a line for each, without keep-alives
)

// A stream encodes the events of a response as chunks. Each chunk is a response with the
// new parts. The stream does no I/O and does not allocate for texts.
//
// Text is written when it arrives, except its last character: see [held]. A tool call is
// written when it is complete, because the format has no partial parts, and the next part has
// begun. The finishReason is written at the end, so that an error can replace it, with what is
// held.
//
// Every chunk with a candidate has usageMetadata, as the vendor's do: some clients drop a
// chunk without it, or add the latest usage again for each. Until the upstream reports
// usage, it has an estimate of the tokens of the prompt, as message_start of Messages, if
// the request is known. Chunks of the vendor pass as they are.
type stream struct {
	framing
	blocks responseEncoder

	id, model string       // if the upstream does not report them
	prompt    func() int64 // estimates the tokens of the prompt; may be nil

	suffix        []byte     // the end of every chunk
	begun         bool       // a chunk was written
	pingOpen      bool       // a keep-alive has written the start of the next event
	verbatimStart bool       // forwarded frames have identified the response
	hasParts      bool       // there was a part
	blocked       bool       // forwarded frames have reported a blocked prompt
	usageReported bool       // the upstream has reported usage
	usagePending  bool       // usage has changed since it was written
	countsStale   bool       // usage has changed since counts was encoded
	counts        []byte     // usageMetadata with its name; empty before the first chunk, or if unknown
	progress      []progress // parallel to Candidates
	heldMembers   int        // maximum bytes of members that are not written yet

	current int // the position of the candidate whose chunk is being written, or -1
	dst     []byte
	scratch jsonwire.Writer
}

// A progress records what was written of a candidate, and what is held.
type progress struct {
	span         segment       // of the last text, as clients join texts
	kind         response.Kind // of the last part; Other if no text can be joined to it
	parts        int           // number of parts after clients join texts
	held         held
	finishReason string // that was written, or empty
}

// newStream returns a stream. id and model are the defaults if the upstream does not
// report them.
func newStream(f framing, id, model string) *stream {
	s := &stream{framing: f, current: -1, id: id, model: model}
	s.blocks.init(s, s, s, maxCandidates)
	return s
}

// Losses implements [handler.Encoder], as ContentType, Ping, Events and End do.
func (s *stream) Losses() []content.Loss { return s.blocks.Losses() }

// Err implements [handler.FallibleEncoder].
func (s *stream) Err() error { return s.blocks.Err() }

func (s *stream) ContentType() string {
	if s.framing == inEvents {
		return "text/event-stream"
	}
	return "application/json"
}

// Ping appends a keep-alive. In an array it is white space. In events it is the
// beginning of the next event: first its field name, "data: ", then one blank each
// time. The JSON of the event follows on the same line, and JSON allows white space
// before it. So clients read only complete events that have data.
//
// Other keep-alives break clients. LangChain JS (google-genai), Genkit JS and the
// vendor's older TypeScript SDK fail with "Failed to parse stream" on an empty pair
// of lines (CRLF CRLF), before the first event and between events. The vendor's Go and
// Python SDKs fail on comments.
//
// When every candidate has its finishReason, Ping appends nothing, because no event
// may be left that completes the line. Each way to complete it without one breaks
// something: the chats of the vendor's TypeScript SDK drop a response that ends with
// an event without candidates, and LangChain JS joins a repeated finishReason to
// "STOPSTOP".
func (s *stream) Ping(dst []byte) []byte {
	switch {
	case s.framing == inArray:
		return append(dst, "\r\n\r\n"...)
	case s.pingOpen:
		return append(dst, ' ')
	case s.framing == inLines, s.begun && s.ended():
		return dst
	}
	s.pingOpen = true
	return append(dst, "data: "...)
}

// ended reports whether the prompt was blocked, or every candidate that has begun has
// its finishReason. Otherwise an event follows, at the latest from finish.
func (s *stream) ended() bool {
	if s.blocked {
		return true
	}
	for k := range s.blocks.Candidates {
		if s.written(k).finishReason == "" {
			return false
		}
	}
	return len(s.blocks.Candidates) > 0
}

func (s *stream) Events(dst []byte, events []upstream.Event) []byte {
	from := len(dst)
	s.dst = dst
	s.blocks.Events(events)
	s.endChunk()
	return s.take(from)
}

// take returns the bytes of the current call.
func (s *stream) take(from int) []byte {
	dst := s.dst
	s.dst = nil
	return s.escapeSeparators(dst, from)
}

// End appends the end of the response, or a failure. Among events, a failure is a bare
// object followed by an empty line: the vendor's older TypeScript SDKs, LangChain and
// Genkit JS recognize only this form, and only in a separate read. [stream.Repeat] appends
// the failure as an event. If a keep-alive has started an event, End completes it with
// the failure, and Repeat appends the bare object. [stream.Flush] appends what is held, which
// belongs before a failure.
func (s *stream) End(dst []byte, f *handler.Failure) []byte {
	if f == nil {
		from := len(dst)
		s.dst = dst
		s.finish()
		dst = s.take(from)
		if s.framing == inArray {
			dst = append(dst, ']')
		}
		return dst
	}
	if s.framing == inArray {
		return append(appendError(s.beginElement(dst), f), ']')
	}
	return append(appendError(dst, f), s.separator()...)
}

// Repeat implements [handler.ErrorRepeater]. It appends the failure in the form that End
// did not use, usually as an event, because AI SDK reads only data lines.
func (s *stream) Repeat(dst []byte, f *handler.Failure) []byte {
	if s.framing != inEvents {
		return dst
	}
	if !s.pingOpen {
		dst = append(dst, "data: "...)
	}
	return append(appendError(dst, f), "\r\n\r\n"...)
}

// separator returns the bytes after each chunk.
func (f framing) separator() string {
	switch f {
	case inEvents:
		return "\r\n\r\n"
	case inLines:
		return "\n"
	}
	return ""
}

// beginElement appends the bracket or comma before an element of the array.
func (s *stream) beginElement(dst []byte) []byte {
	if s.begun {
		return append(dst, ",\r\n"...)
	}
	return append(dst, '[')
}

// written returns what was written of a candidate. k is its position in Candidates.
func (s *stream) written(k int) *progress {
	for len(s.progress) <= k {
		s.progress = append(s.progress, progress{})
	}
	return &s.progress[k]
}

// OpenBlock implements [response.Format], as the other exported methods below do.
func (s *stream) OpenBlock(b *sentBlock, _ []upstream.Event) response.When {
	switch p := b.Part.(type) {
	case *content.Text:
		c := *p
		c.Extra = s.blocks.takeLogprobs(b.Candidate, c.Extra)
		dropHints(&c, s.blocks.LossesOf(b))
		b.Part, b.State.extra, b.State.signature = &c, c.Extra, c.Signature
		for i := range p.Citations {
			s.addCitation(b, &p.Citations[i])
		}
		return response.Now
	case *content.Thinking:
		if !s.blocks.openThinking(b, p) {
			return response.Never
		}
		c := *p
		visibleOnly(&c, s.blocks.LossesOf(b))
		b.Part, b.State.extra, b.State.signature = &c, c.Extra, c.Signature
		return response.Now
	case *content.ToolUse: // a copy
		dropHints(p, s.blocks.LossesOf(b))
	}
	return response.AtEnd
}

// BeginBlock writes the text that opened with a block. Other parts are written at their end.
func (s *stream) BeginBlock(b *sentBlock) {
	switch p := b.Part.(type) {
	case *content.Text:
		s.writeText(b, p.Text, nil)
	case *content.Thinking:
		s.writeText(b, p.Text, nil)
	}
}

func (s *stream) WriteText(b *sentBlock, text string, e *upstream.Event) {
	x := e.Extra
	switch {
	case b.Kind == response.Call: // other calls are written when they are complete
		if e.Text != "" {
			s.blocks.Lose(b, lossForwardedArguments)
		}
		if x != nil {
			s.blocks.Lose(b, lossEventMembers)
		}
		return
	case x != nil && (x.Format != Format || !jsonwire.ValidObject(x.JSON)):
		if x = s.blocks.takeLogprobs(b.Candidate, x); x != nil {
			foreign.ResponseMembersOfPart(x, s.blocks.LossesOf(b))
		}
		x = nil
	}
	s.writeText(b, text, x)
}

// writeText adds a piece of text with the members of x, unless both are empty.
func (s *stream) writeText(b *sentBlock, text string, x *content.Extra) {
	switch {
	case x != nil || text != "" && b.State.extra != nil:
		s.addPiece(b, text, x)
	case text != "":
		s.addText(b, text)
	}
}

func (s *stream) Cite(b *sentBlock, e *upstream.Event) {
	s.addCitation(b, e.Citation)
	if e.Extra != nil {
		s.blocks.Lose(b, lossEventMembers)
	}
}

// Sign stores the signature of an open block. It adds the signature of a block that has
// ended to what is held of it, or writes it on an empty text.
func (s *stream) Sign(b *sentBlock, sig content.Signature, late bool) {
	if b.Kind == response.Thinking {
		switch foreign := s.blocks.signThinking(b, sig); {
		case foreign:
			return
		case !b.Begun:
			s.blocks.signHidden(b, sig)
			return
		}
	}
	own := toResponseSignature(sig, s.blocks.LossesOf(b))
	switch {
	case late && (own.Data == "" || !b.Begun):
		return
	case !late && !b.Forwarded:
		b.State.signature = own
		return
	case b.Kind != response.Text && b.Kind != response.Thinking && !s.canSign(b):
		s.blocks.Lose(b, lossLateSignature)
	}
	s.addSignature(b, own)
}

func (s *stream) CloseBlock(*sentBlock) (later bool) { return false }

func (s *stream) Forget(b *sentBlock) { s.blocks.forget(b) }

func (s *stream) EndBlock(b *sentBlock, rest string) {
	switch {
	case b.Kind == response.Text || b.Kind == response.Thinking:
		s.endText(b, rest)
	case !b.Forwarded:
		s.blocks.endPart(b)
	}
	if len(b.State.citations) > 0 {
		s.endChunk() // they belong to the chunk with the end of the text
		s.flushCitations(b)
	}
	b.State.signature = content.Signature{}
}

// endText adds the end of a text, and its signature.
func (s *stream) endText(b *sentBlock, rest string) {
	s.writeText(b, rest, nil)
	if b.State.extra != nil {
		s.addPiece(b, "", nil)
	}
	sig := b.State.signature
	if sig.Data == "" && b.Kind == response.Text && s.canSign(b) {
		sig = s.blocks.takeHidden(b.Candidate)
	}
	if sig.Data != "" {
		s.addSignature(b, sig)
	}
}

// Broken makes the stream write the finishReason again, because it changes.
func (s *stream) Broken(b *sentBlock) { s.written(b.Candidate).finishReason = "" }

func (s *stream) Other(b *sentBlock, e *upstream.Event) {
	switch e.Kind {
	case upstream.EventBlockExtra:
		if b != nil {
			s.blocks.Lose(b, lossBlockExtra)
		}
		return
	case upstream.EventStart:
		s.blocks.reportForeign(s.blocks.members.Add(e.Start.Extra, Format), e.Start.Extra, "")
	case upstream.EventUsage:
		s.usagePending, s.countsStale, s.usageReported = hasUsage(e.Usage), true, true
	case upstream.EventStop:
		k := s.blocks.Candidate(e.Candidate)
		s.written(k).finishReason = ""
		s.blocks.takeFeedback(e.Stop)
		// After any other reason a part may follow, which shows that the call is complete.
		if !codec.CutsCalls(e.Stop.Reason) {
			s.blocks.FinishLastCall(k, e.Stop.Reason)
		}
	}
	switch {
	case e.Kind == upstream.EventExtra && e.Text != "":
		s.blocks.LoseAt(loss.EventPath(e.Text), response.LossVendorEvent)
	case e.Extra != nil:
		s.holdMembers(e)
	}
}

// holdMembers stores members until the next chunk, because they may refer to what is held. It
// first writes stored members with the same names, because a member such as a list of sources
// has only new elements.
func (s *stream) holdMembers(e *upstream.Event) {
	k := s.blocks.Candidate(e.Candidate)
	s.endChunk()
	full := s.heldMembers > maxHeldMembers
	x := s.blocks.takeLogprobs(k, e.Extra)
	if x == nil {
		return
	}
	var more response.Members
	more.Add(x, Format)
	for _, m := range more {
		full = full || s.blocks.candidate(k).members.Get(m.Name) != ""
	}
	if full {
		s.flushMembers(k)
		s.heldMembers = 0
	}
	s.heldMembers += len(x.JSON)
	s.blocks.addMembers(x, k)
}

// AddLogprobs implements [response.LogprobFormat].
func (s *stream) AddLogprobs(k int, list []foreign.Logprob) {
	s.endChunk()
	l := &s.blocks.candidate(k).logprobs
	if l.add(list); len(l.chosen)+len(l.top) > maxHeldMembers {
		s.flushMembers(k)
	}
}

// beginPart begins a chunk for a part of candidate k. The caller writes the part.
func (s *stream) beginPart(k int) {
	s.endChunk()
	s.beginChunk()
	s.current = k
	s.dst = append(s.dst, `{"candidates":[`+beginContent...)
}

// flushMembers writes the stored members of candidate k, with what is held of it.
func (s *stream) flushMembers(k int) {
	s.beginChunk()
	s.dst = append(s.dst, `{"candidates":[`...)
	s.writeContent(k)
	s.writeIndex(k)
	s.dst = append(s.dst, "}]"...)
	s.writeRest()
}

const beginContent = `{"content":{"role":"model","parts":[`

// beginChunk writes the start of a chunk.
func (s *stream) beginChunk() {
	switch {
	case s.framing == inArray:
		s.dst = s.beginElement(s.dst)
	case s.pingOpen:
		s.pingOpen = false
	case s.framing == inEvents:
		s.dst = append(s.dst, "data: "...)
	}
	if !s.begun {
		s.begun = true
		s.suffix = append(s.suffix, `,"modelVersion":`...)
		s.suffix = jsonwire.AppendString(s.suffix, cmp.Or(s.blocks.Start.Model, s.model))
		s.suffix = append(s.suffix, `,"responseId":`...)
		s.suffix = jsonwire.AppendString(s.suffix, cmp.Or(s.blocks.Start.ID, s.id))
		s.suffix = append(s.suffix, '}')
	}
}

// endChunk ends the chunk that is being written, if there is one.
func (s *stream) endChunk() {
	if s.current < 0 {
		return
	}
	s.dst = append(s.dst, "]}"...)
	s.writeIndex(s.current)
	s.current = -1
	s.dst = append(s.dst, "}]"...)
	s.writeRest()
}

// writeStop writes the finishReason and finishMessage of a candidate.
func (s *stream) writeStop(k int) {
	var to writtenCandidate
	s.blocks.endCandidate(k, &to)
	s.written(k).finishReason = to.FinishReason
	s.dst = jsonwire.AppendString(append(s.dst, `,"finishReason":`...), to.FinishReason)
	if to.FinishMessage != "" {
		s.dst = jsonwire.AppendString(append(s.dst, `,"finishMessage":`...), to.FinishMessage)
	}
}

// writeIndex writes the index of a candidate and its stored members.
func (s *stream) writeIndex(k int) {
	s.blocks.flushGrounding(k)
	c := s.blocks.candidate(k)
	s.dst = jsonwire.AppendInt(append(s.dst, `,"index":`...), int64(s.blocks.Candidates[k].Index))
	s.blocks.setLogprobs(c)
	s.dst = appendHeldMembers(s.dst, c.members, isCandidateMember)
	c.members = c.members[:0]
}

// writeRest writes the members of a chunk after its candidates.
func (s *stream) writeRest() {
	dst := appendHeldMembers(s.dst, s.blocks.members, func(name string) bool { return name != "promptFeedback" && isResponseMember(name) })
	s.blocks.members = s.blocks.members[:0]
	s.usagePending = false
	switch {
	case s.usageReported && s.countsStale:
		s.encodeUsage(&s.blocks.Usage)
	case !s.usageReported && s.prompt != nil && len(s.counts) == 0:
		if n := s.prompt(); n > 0 { // 0: a request without content is not the one that was sent
			s.encodeUsage(&content.Usage{Input: n})
		}
	}
	s.countsStale = false
	dst = append(append(dst, s.counts...), s.suffix...)
	s.dst = append(dst, s.separator()...)
}

// encodeUsage encodes the usage of the following chunks.
func (s *stream) encodeUsage(u *content.Usage) {
	s.counts = appendUsage(append(s.counts[:0], `,"usageMetadata":`...), u)
}

// appendHeldMembers appends the members for which skip is false.
func appendHeldMembers(dst []byte, list response.Members, skip func(string) bool) []byte {
	for i := range list {
		if m := &list[i]; !skip(m.Name) {
			dst = codec.AppendNext(dst, m.Name, m.JSON)
		}
	}
	return dst
}

// finish writes everything that is pending at the end of the response.
func (s *stream) finish() {
	s.blocks.reportCounts()
	s.blocks.Candidate(0) // a response without events has one candidate
	for k := range s.blocks.Candidates {
		s.blocks.FinishQueued(k)
		s.blocks.FinishLastCall(k, s.blocks.Candidates[k].Stop.Reason)
		s.blocks.carryState(k)
		s.blocks.DropUnsigned(k, s.blocks.hidesThinking())
		s.blocks.dropHidden(k)
		if s.written(k).finishReason != "" {
			s.release(k)
		}
	}
	s.endChunk()
	if !s.hasParts && (s.blocked || isBlocked(s.blocks.members.Get("promptFeedback"))) {
		s.writeBlocked()
		return
	}
	if !s.hasPending() {
		return
	}
	s.beginChunk()
	s.dst = append(s.dst, `{"candidates":[`...)
	some := false
	for k := range s.blocks.Candidates {
		if s.candidatePending(k) {
			s.writeEnd(k, some)
			some = true
		}
	}
	if !some { // only usage is pending
		s.writeEnd(0, false)
	}
	s.dst = append(s.dst, ']')
	s.writeRest()
}

// hasPending reports whether anything is pending.
func (s *stream) hasPending() bool {
	due := s.usagePending || len(s.blocks.members) > 0
	for k := range s.blocks.Candidates {
		due = due || s.candidatePending(k)
	}
	return due
}

// candidatePending reports whether anything is pending for a candidate.
func (s *stream) candidatePending(k int) bool {
	c := s.blocks.candidate(k)
	return s.written(k).finishReason == "" || len(c.members)+len(c.logprobs.chosen) > 0 || c.grounding.pending() > 0
}

// writeEnd writes the end of a candidate, with what is held of it.
func (s *stream) writeEnd(k int, comma bool) {
	if comma {
		s.dst = append(s.dst, ',')
	}
	s.writeContent(k)
	s.writeStop(k)
	s.writeIndex(k)
	s.dst = append(s.dst, '}')
}

// writeContent writes the content of a candidate: what is held, or an empty text.
func (s *stream) writeContent(k int) {
	s.dst = append(s.dst, beginContent...)
	if h := &s.written(k).held; len(h.json) > 0 {
		s.dst = h.take(s.dst)
	} else {
		s.dst = append(s.dst, `{"text":""}`...)
	}
	s.dst = append(s.dst, "]}"...)
}

// writeBlocked writes the chunk for a blocked prompt, which has no candidates.
func (s *stream) writeBlocked() {
	if s.blocked && !s.usagePending {
		return
	}
	s.beginChunk()
	s.dst = append(s.dst, '{')
	from := len(s.dst)
	s.writeRest()
	// writeRest begins with a comma.
	s.dst = append(s.dst[:from], s.dst[from+1:]...)
}

const (
	maxHeldMembers = 16 << 10 // bytes of members; more are written in a chunk of their own
	maxCandidates  = 1000
)

// U+2028 and U+2029 in UTF-8 begin with separatorPrefix. Their last bytes differ in one
// bit.
const (
	separatorPrefix = "\xe2\x80"
	lineSeparator   = 0xa8
)

// escapeSeparators escapes U+2028 and U+2029 in dst[from:]. JSON allows them, but the
// parser in some agents ends a line at them and then fails.
func (s *stream) escapeSeparators(dst []byte, from int) []byte {
	if s.framing != inEvents {
		return dst
	}
	count := 0
	for rest := dst[from:]; ; {
		i := bytes.Index(rest, []byte(separatorPrefix))
		if i < 0 {
			break
		}
		rest = rest[i+len(separatorPrefix):]
		if len(rest) > 0 && rest[0]&^1 == lineSeparator {
			count++
		}
	}
	if count == 0 {
		return dst
	}
	// Working backward moves each byte once.
	i, to := len(dst), len(dst)+3*count
	dst = slices.Grow(dst, 3*count)[:to]
	for i < to {
		if i-3 >= from && string(dst[i-3:i-1]) == separatorPrefix && dst[i-1]&^1 == lineSeparator {
			digit := '8' + dst[i-1]&1
			i, to = i-3, to-6
			copy(dst[to:], `\u202`)
			dst[to+5] = digit
			continue
		}
		i, to = i-1, to-1
		dst[to] = dst[i]
	}
	return dst
}

// CanForward implements [response.Format]. The frame must belong to the response that the
// client receives, and nothing may be pending before it.
func (s *stream) CanForward(_ *upstream.Frame, events []upstream.Event) bool {
	own := s.verbatimStart
	for k := range s.blocks.Candidates {
		if s.blocks.Candidates[k].State.NeedsCarrier() || s.blocks.Candidates[k].HasQueued() {
			return false
		}
	}
	for _, b := range s.blocks.Blocks() {
		if !b.Forwarded && (b.IsWaiting() || b.State.extra != nil || b.State.signature.Data != "") || b.EndsInRune() {
			return false
		}
	}
	if s.overlaps(events) {
		return false
	}
	for i := range events {
		if events[i].Candidate >= maxCandidates {
			return false
		}
		switch e := &events[i]; e.Kind {
		case upstream.EventStart:
			if s.begun || s.hasParts {
				return false
			}
			own = true
		case upstream.EventText, upstream.EventClose:
			own = own && (s.blocks.At(e.Block) != nil || response.Opens(events[:i], e.Block))
		case upstream.EventInput:
			b := s.blocks.At(e.Block)
			own = own && (b != nil && b.Forwarded || response.Opens(events[:i], e.Block))
		case upstream.EventStop:
			own = own && !s.blocks.Candidates[s.blocks.Candidate(e.Candidate)].Broken // otherwise finishReason replaces the reason
		}
	}
	return own
}

// overlaps reports whether a block opens while another one of its candidate is open: it has
// to wait.
func (s *stream) overlaps(events []upstream.Event) bool {
	if !slices.ContainsFunc(events, func(e upstream.Event) bool { return e.Kind == upstream.EventOpen }) { // one pass
		return false
	}
	type block struct{ candidate, number int }
	var first [8]block
	open := first[:0]
	for _, b := range s.blocks.Blocks() {
		if !b.Closed {
			open = append(open, block{s.blocks.Candidates[b.Candidate].Index, b.Number})
		}
	}
	for i := range events {
		switch e := &events[i]; e.Kind {
		case upstream.EventOpen:
			if slices.ContainsFunc(open, func(b block) bool { return b.candidate == e.Candidate }) { // bounded by maxOpenBlocks
				return true
			}
			open = append(open, block{e.Candidate, e.Block})
		case upstream.EventClose:
			open = slices.DeleteFunc(open, func(b block) bool { return b.number == e.Block })
		}
	}
	return false
}

// Forward implements [response.Format].
func (s *stream) Forward(f *upstream.Frame, events []upstream.Event) {
	s.releaseAll()
	s.blocks.Track(events)
	for _, data := range f.Preceding {
		s.writeFrame(data)
	}
	s.writeFrame(f.Data)
}

// writeFrame writes a chunk of the vendor.
func (s *stream) writeFrame(data string) {
	s.beginChunk()
	if strings.IndexByte(data, '\n') >= 0 || strings.IndexByte(data, '\r') >= 0 {
		s.dst = jsonwire.AppendCompact(s.dst, data)
	} else {
		s.dst = append(s.dst, data...)
	}
	s.dst = append(s.dst, s.separator()...)
}

// Tracked implements [response.Format].
func (s *stream) Tracked(_ *sentBlock, e *upstream.Event) {
	switch e.Kind {
	case upstream.EventStart:
		s.verbatimStart = true
	case upstream.EventUsage:
		s.usagePending, s.countsStale, s.usageReported = false, true, true
	case upstream.EventStop:
		k := s.blocks.Candidate(e.Candidate)
		s.written(k).finishReason, _ = finishReason(&s.blocks.Candidates[k], func(*loss.Rule) {})
		s.blocked = s.blocked || strings.Contains(e.Stop.Details, "promptFeedback")
	case upstream.EventOpen:
		s.hasParts = true
	}
}
