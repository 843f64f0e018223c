package generatecontent

import (
	"bytes"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/handler"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/response"
	"github.com/polywire/polywire/upstream"
)

// A framing is the way in which the chunks of a stream are separated.
type framing bool

const (
	inEvents framing = true  // server-sent events with data lines only
	inArray  framing = false // a JSON array
)

// A stream encodes the events of a response as chunks. Each chunk is a response with the
// new parts. The stream does no I/O and does not allocate for texts.
//
// Before a part begins, everything pending for earlier parts is written, in order. Text is
// written when it arrives. A tool call is written when it is complete, because the format
// has no partial parts. The finishReason is written at the end, so that an error can
// replace it, unless it arrives with a part.
//
// Some clients drop a response that has a chunk without parts. Therefore every chunk of a
// response with parts has a part, which is an empty text if necessary.
type stream struct {
	framing
	responseBuilder

	suffix        []byte     // the end of every chunk
	begun         bool       // a chunk was written
	pingOpen      bool       // a keep-alive has written the start of the next event
	verbatimStart bool       // verbatim frames have identified the response
	hasParts      bool       // a part was written
	blocked       bool       // verbatim frames have reported a blocked prompt
	usagePending  bool       // usage has changed since it was written
	countsStale   bool       // usage has changed since counts was encoded
	hasFrames     bool       // the events come from a server
	counts        []byte     // usageMetadata with its name; empty if unknown
	progress      []progress // of each candidate, by slot

	open          []openBlock
	closed        [8]openBlock // the blocks that closed last
	heldArguments int          // bytes of arguments in open blocks
	heldMembers   int          // maximum bytes of members that are not written yet
	stateBudget   int          // remaining bytes for carried state
	err           error

	current int // the slot of the candidate whose chunk is being written, or -1
	scratch jsonwire.Writer
	losses  []content.Loss
}

// A progress records what was written of a candidate.
type progress struct {
	blocks       int       // number of blocks that were opened
	newest       int       // number of the block that opened last
	span         segment   // of the last text, as clients join texts
	kind         blockKind // of the last part; droppedBlock if no text can be joined to it
	parts        int       // number of parts after clients join texts
	stopPending  bool      // the stop arrived with the current events
	finishReason string    // that was written, or empty

	state envelope.Pending
}

// newStream returns a stream. id and model are the defaults if the upstream does not
// report them.
func newStream(f framing, id, model string) *stream {
	s := &stream{framing: f, current: -1, stateBudget: envelope.MaxSize}
	s.start.ID, s.start.Model = id, model
	for i := range s.closed {
		s.closed[i].number = -1
	}
	return s
}

// ContentType implements [handler.Encoder], as the other methods do.
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
	case s.begun && s.ended():
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
	for k := range s.progress {
		if s.progress[k].finishReason == "" {
			return false
		}
	}
	return len(s.progress) > 0
}

func (s *stream) Losses() []content.Loss {
	l := s.losses
	s.losses = nil
	return l
}

// Err implements [handler.FallibleEncoder].
func (s *stream) Err() error { return s.err }

func (s *stream) Events(dst []byte, events []upstream.Event) []byte {
	from := len(dst)
	f := upstream.FrameOf(events)
	s.expectSigned = s.expectSigned && (f == nil || f.Format != Format)
	s.hasFrames = s.hasFrames || len(events) > 0 && events[0].Frame != nil
	if f != nil && s.canPassFrame(f, events) {
		return s.escapeSeparators(s.appendVerbatim(dst, f, events), from)
	}
	for i := range events {
		dst = s.event(dst, &events[i])
	}
	dst = s.endChunk(dst)
	for k := range s.progress {
		s.progress[k].stopPending = false
	}
	return s.escapeSeparators(dst, from)
}

// End appends the end of the response, or a failure. Among events, a failure is a bare
// object followed by an empty line: the vendor's older TypeScript SDKs, LangChain and
// Genkit JS recognize only this form, and only in a separate read. [stream.Repeat] appends
// the failure as an event. If a keep-alive has started an event, End completes it with
// the failure, and Repeat appends the bare object.
func (s *stream) End(dst []byte, f *handler.Failure) []byte {
	if f == nil {
		dst = s.escapeSeparators(s.finish(dst), len(dst))
		if s.framing == inArray {
			dst = append(dst, ']')
		}
		return dst
	}
	if s.framing == inEvents {
		return append(appendError(dst, f), "\r\n\r\n"...)
	}
	return append(appendError(s.beginElement(dst), f), ']')
}

// Repeat implements [handler.ErrorRepeater]. It appends the failure in the form that End
// did not use, usually as an event, because AI SDK reads only data lines.
func (s *stream) Repeat(dst []byte, f *handler.Failure) []byte {
	if s.framing == inArray {
		return dst
	}
	if !s.pingOpen {
		dst = append(dst, "data: "...)
	}
	return append(appendError(dst, f), "\r\n\r\n"...)
}

// beginElement appends the bracket or comma before an element of the array.
func (s *stream) beginElement(dst []byte) []byte {
	if s.begun {
		return append(dst, ",\r\n"...)
	}
	return append(dst, '[')
}

// report adds a loss at a neutral path.
func (s *stream) report(path string, r *loss.Rule) {
	s.losses = append(s.losses, r.At(path))
}

// reportBlock adds a loss of a block.
func (s *stream) reportBlock(b *openBlock, r *loss.Rule) {
	s.report(responsePartPath(s.candidates[b.slot].index, b.index), r)
}

// slotFor returns the slot of the candidate with an index.
func (s *stream) slotFor(index int) int {
	k := s.slot(index)
	for len(s.progress) <= k {
		s.progress = append(s.progress, progress{state: envelope.Pending{ClientFormat: Format}})
	}
	return k
}

// event appends one event.
func (s *stream) event(dst []byte, e *upstream.Event) []byte {
	if e.Candidate >= maxCandidates {
		s.err = errTooManyCandidates
		return dst
	}
	if e.Extra != nil || e.Kind == upstream.EventBlockExtra {
		s.reportEventMembers(e)
	}
	switch e.Kind {
	case upstream.EventText:
		return s.textEvent(dst, e)
	case upstream.EventOpen:
		dst = s.openEvent(dst, e)
	case upstream.EventInput:
		s.inputEvent(e)
	case upstream.EventClose:
		dst = s.closeEvent(dst, e.Block)
	case upstream.EventSignature:
		dst = s.signatureEvent(dst, e)
	case upstream.EventCitation:
		if b := s.find(e.Block); b != nil {
			s.addCitation(b, e.Citation)
		}
	default:
		return s.otherEvent(dst, e)
	}
	return dst
}

// reportEventMembers reports that the extra members of an event about a part are dropped.
// Text events keep theirs.
func (s *stream) reportEventMembers(e *upstream.Event) {
	var rule *loss.Rule
	switch e.Kind {
	case upstream.EventBlockExtra:
		rule = lossBlockExtra
	case upstream.EventOpen, upstream.EventInput, upstream.EventClose, upstream.EventSignature, upstream.EventCitation:
		rule = lossEventMembers
	default:
		return
	}
	path := "parts" // of a block that closed earlier
	if b := s.find(e.Block); b != nil {
		path = responsePartPath(s.candidates[b.slot].index, b.index)
	} else if e.Kind == upstream.EventOpen {
		path = responsePartPath(e.Candidate, s.progress[s.slotFor(e.Candidate)].blocks)
	} else {
		for i := range s.closed {
			if b := &s.closed[i]; b.number == e.Block {
				path = responsePartPath(s.candidates[b.slot].index, b.index)
			}
		}
	}
	s.report(path, rule)
}

// otherEvent handles events that are written with the next part or at the end.
func (s *stream) otherEvent(dst []byte, e *upstream.Event) []byte {
	switch e.Kind {
	case upstream.EventStart:
		id, model := s.start.ID, s.start.Model
		s.start = *e.Start
		if s.start.ID == "" {
			s.start.ID = id
		}
		if s.start.Model == "" {
			s.start.Model = model
		}
		s.reportForeign(s.members.Add(e.Start.Extra, Format), e.Start.Extra, "", s.report)
	case upstream.EventUsage:
		s.usage, s.usagePending, s.countsStale = *e.Usage, hasUsage(e.Usage), true
	case upstream.EventStop:
		k := s.slotFor(e.Candidate)
		s.candidates[k].stop = *e.Stop
		s.progress[k].stopPending, s.progress[k].finishReason = true, ""
		s.takeFeedback(e.Stop)
		// After any other reason a part may follow, which shows that the call is complete.
		if !codec.CutsCalls(e.Stop.Reason) {
			dst = s.flushWaiting(dst, k, e.Stop.Reason)
		}
	case upstream.EventBlockExtra:
		return dst
	}
	switch {
	case e.Kind == upstream.EventExtra && e.Text != "":
		s.report(loss.EventPath(e.Text), lossVendorEvent)
	case e.Extra != nil:
		dst = s.holdMembers(dst, e)
	}
	return dst
}

// holdMembers stores members until the next chunk. It first writes stored members with the
// same names, because a member such as a list of sources has only new elements.
func (s *stream) holdMembers(dst []byte, e *upstream.Event) []byte {
	k := s.slotFor(e.Candidate)
	full := s.heldMembers > maxHeldMembers
	x := s.candidates[k].logprobs.convert(e.Extra)
	var more response.Members
	more.Add(x, Format)
	for _, m := range more {
		full = full || s.candidates[k].members.Get(m.Name) != ""
	}
	if full {
		dst = s.endChunk(s.ensurePart(dst, k))
		s.heldMembers = 0
	}
	s.heldMembers += len(x.JSON)
	s.addMembers(x, k, s.report)
	return dst
}

// beginPart appends everything before a part of candidate k. The caller appends the part.
func (s *stream) beginPart(dst []byte, k int) []byte {
	s.hasParts = true
	if s.current == k {
		return append(dst, ',')
	}
	dst = s.endChunk(dst)
	dst = s.beginChunk(dst)
	s.current = k
	return append(dst, `{"candidates":[{"content":{"role":"model","parts":[`...)
}

// ensurePart appends an empty text to candidate k unless the chunk has a part.
func (s *stream) ensurePart(dst []byte, k int) []byte {
	if s.current == k {
		return dst
	}
	return append(s.beginPart(dst, k), `{"text":""}`...)
}

// beginChunk appends the start of a chunk.
func (s *stream) beginChunk(dst []byte) []byte {
	switch {
	case s.framing == inArray:
		dst = s.beginElement(dst)
	case s.pingOpen:
		s.pingOpen = false
	default:
		dst = append(dst, "data: "...)
	}
	if !s.begun {
		s.begun = true
		s.suffix = append(s.suffix, `,"modelVersion":`...)
		s.suffix = jsonwire.AppendString(s.suffix, s.start.Model)
		s.suffix = append(s.suffix, `,"responseId":`...)
		s.suffix = jsonwire.AppendString(s.suffix, s.start.ID)
		s.suffix = append(s.suffix, '}')
	}
	return dst
}

// endChunk ends the chunk that is being written, if there is one.
func (s *stream) endChunk(dst []byte) []byte {
	if s.current < 0 {
		return dst
	}
	k := s.current
	if s.candidates[k].isMissingCalls() {
		s.progress[k].stopPending = false // a tool call may follow
	}
	// If the server has not sent usage, the candidate ends in a separate chunk: an
	// estimate may follow, and no chunk may follow the finishReason.
	ends := s.progress[k].stopPending && (!s.hasFrames || hasUsage(&s.usage))
	if ends {
		dst = s.appendCarrier(dst, k)
	}
	s.current = -1
	dst = append(dst, "]}"...)
	if ends {
		dst = s.appendStop(dst, k)
	}
	dst = append(s.appendIndex(dst, k), "}]"...)
	return s.appendRest(dst)
}

// appendStop appends the finishReason and finishMessage of a candidate.
func (s *stream) appendStop(dst []byte, k int) []byte {
	var to Candidate
	s.endCandidate(k, &to, s.report)
	s.progress[k].stopPending, s.progress[k].finishReason = false, to.FinishReason
	dst = jsonwire.AppendString(append(dst, `,"finishReason":`...), to.FinishReason)
	if to.FinishMessage != "" {
		dst = jsonwire.AppendString(append(dst, `,"finishMessage":`...), to.FinishMessage)
	}
	return dst
}

// appendIndex appends the index of a candidate and its stored members.
func (s *stream) appendIndex(dst []byte, k int) []byte {
	c := &s.candidates[k]
	c.flushGrounding(s.report)
	dst = jsonwire.AppendInt(append(dst, `,"index":`...), int64(c.index))
	dst = appendHeldMembers(dst, c.members, isCandidateMember)
	c.members = c.members[:0]
	return dst
}

// appendRest appends the members of a chunk after its candidates.
func (s *stream) appendRest(dst []byte) []byte {
	dst = appendHeldMembers(dst, s.members, func(name string) bool { return name != "promptFeedback" && isResponseMember(name) })
	s.members = s.members[:0]
	if s.usagePending = false; s.countsStale {
		s.countsStale = false
		if s.counts = s.counts[:0]; hasUsage(&s.usage) {
			s.counts = appendUsage(append(s.counts, `,"usageMetadata":`...), &s.usage)
		}
	}
	// Every chunk has usageMetadata, as the vendor's do: some clients add the latest
	// usage again for each chunk without it.
	dst = append(dst, s.counts...)
	dst = append(dst, s.suffix...)
	if s.framing == inEvents {
		dst = append(dst, "\r\n\r\n"...)
	}
	return dst
}

// appendHeldMembers appends the members for which skip is false.
func appendHeldMembers(dst []byte, list response.Members, skip func(string) bool) []byte {
	for i := range list {
		if m := &list[i]; !skip(m.Name) {
			dst = append(jsonwire.AppendString(append(dst, ','), m.Name), ':')
			dst = jsonwire.AppendCompact(dst, m.JSON)
		}
	}
	return dst
}

// finish appends everything that is pending at the end of the response.
func (s *stream) finish(dst []byte) []byte {
	s.reportCounts(s.report)
	s.slotFor(0) // a response without events has one candidate
	for k := range s.progress {
		dst = s.flushWaiting(dst, k, s.candidates[k].stop.Reason)
	}
	dst = s.endChunk(dst)
	if !s.hasParts && (s.blocked || isBlocked(s.members.Get("promptFeedback"))) {
		return s.appendBlocked(dst)
	}
	if !s.hasPending() {
		return dst
	}
	dst = append(s.beginChunk(dst), `{"candidates":[`...)
	some := false
	for k := range s.progress {
		if s.candidatePending(k) {
			dst = s.appendEnd(dst, k, some)
			some = true
		}
	}
	if !some { // only usage is pending
		dst = s.appendEnd(dst, 0, false)
	}
	return s.appendRest(append(dst, ']'))
}

// hasPending reports whether anything is pending.
func (s *stream) hasPending() bool {
	due := s.usagePending || len(s.members) > 0
	for k := range s.progress {
		due = due || s.candidatePending(k)
	}
	return due
}

// candidatePending reports whether anything is pending for a candidate.
func (s *stream) candidatePending(k int) bool {
	c := &s.candidates[k]
	return s.progress[k].finishReason == "" || len(c.members) > 0 || c.grounding.pending() > 0 || s.progress[k].state.NeedsCarrier()
}

// appendEnd appends the end of a candidate.
func (s *stream) appendEnd(dst []byte, k int, comma bool) []byte {
	if comma {
		dst = append(dst, ',')
	}
	if sig := s.takeState(k); sig.Data != "" {
		dst = append(dst, `{"content":{"role":"model","parts":[{"text":"","thoughtSignature":`...)
		dst = append(jsonwire.AppendString(dst, sig.Data), "}]}"...)
	} else if s.hasParts {
		dst = append(dst, `{"content":{"role":"model","parts":[{"text":""}]}`...)
	} else {
		dst = append(dst, `{"content":{"role":"model"}`...)
	}
	return append(s.appendIndex(s.appendStop(dst, k), k), '}')
}

// appendBlocked appends the chunk for a blocked prompt, which has no candidates.
func (s *stream) appendBlocked(dst []byte) []byte {
	if s.blocked && !s.usagePending {
		return dst
	}
	dst = append(s.beginChunk(dst), '{')
	from := len(dst)
	dst = s.appendRest(dst)
	// appendRest begins with a comma.
	return append(dst[:from], dst[from+1:]...)
}

const (
	maxHeldArguments = 32 << 20 // bytes of arguments of incomplete tool calls
	maxHeldMembers   = 16 << 10 // bytes of members; more are written with an empty text
	maxCandidates    = 1000
)

var errTooManyCandidates = &upstream.Error{Code: upstream.CodeBadGateway, Err: errors.New("generatecontent: the response has too many candidates")}

var errArgumentsTooLarge = &upstream.Error{Code: upstream.CodeBadGateway,
	Err: errors.New("generatecontent: the tool arguments exceed " + strconv.Itoa(maxHeldArguments>>20) + " MiB")}

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

// canPassFrame reports whether a frame can be written verbatim in place of its events. The
// frame must be a chunk of this format and belong to the response that the client
// receives, and nothing may be pending before it.
func (s *stream) canPassFrame(f *upstream.Frame, events []upstream.Event) bool {
	if f.Format != Format || f.Complete {
		return false
	}
	own := s.verbatimStart
	for k := range s.progress {
		if s.progress[k].state.NeedsCarrier() {
			return false
		}
	}
	for i := range s.open {
		b := &s.open[i]
		if !b.verbatim && (b.kind == wholeBlock || b.extra != nil || b.signature.Data != "") || !b.tail.Empty() {
			return false
		}
	}
	for i := range events {
		if events[i].Candidate >= maxCandidates {
			return false
		}
		switch e := &events[i]; e.Kind {
		case upstream.EventStart:
			if s.begun {
				return false
			}
			own = true
		case upstream.EventText, upstream.EventClose:
			own = own && (s.find(e.Block) != nil || opensIn(events[:i], e.Block))
		case upstream.EventInput:
			b := s.find(e.Block)
			own = own && (b != nil && b.verbatim || opensIn(events[:i], e.Block))
		case upstream.EventStop:
			own = own && !s.candidates[s.slotFor(e.Candidate)].broken // otherwise finishReason replaces the reason
		}
	}
	return own
}

// opensIn reports whether one of the events opens a block.
func opensIn(events []upstream.Event, block int) bool {
	for i := range events {
		if events[i].Kind == upstream.EventOpen && events[i].Block == block {
			return true
		}
	}
	return false
}

// appendVerbatim appends a frame and updates the state.
func (s *stream) appendVerbatim(dst []byte, f *upstream.Frame, events []upstream.Event) []byte {
	for i := range events {
		s.track(&events[i])
	}
	for _, data := range f.Preceding {
		dst = s.appendFrame(dst, data)
	}
	return s.appendFrame(dst, f.Data)
}

// appendFrame appends a chunk of the vendor.
func (s *stream) appendFrame(dst []byte, data string) []byte {
	dst = s.beginChunk(dst)
	if strings.ContainsAny(data, "\r\n") {
		dst = jsonwire.AppendCompact(dst, data)
	} else {
		dst = append(dst, data...)
	}
	if s.framing == inEvents {
		dst = append(dst, "\r\n\r\n"...)
	}
	return dst
}

// track updates the state for an event whose frame is written verbatim.
func (s *stream) track(e *upstream.Event) {
	switch e.Kind {
	case upstream.EventStart:
		id, model := s.start.ID, s.start.Model
		s.start, s.verbatimStart = *e.Start, true
		if s.start.ID == "" {
			s.start.ID = id
		}
		if s.start.Model == "" {
			s.start.Model = model
		}
	case upstream.EventUsage:
		s.usage, s.usagePending, s.countsStale = *e.Usage, false, true
	case upstream.EventStop:
		k := s.slotFor(e.Candidate)
		s.candidates[k].stop = *e.Stop
		s.progress[k].finishReason, _ = s.candidates[k].finishReason(func(*loss.Rule) {})
		s.blocked = s.blocked || strings.Contains(e.Stop.Details, "promptFeedback")
	case upstream.EventOpen:
		b := s.addBlock(e)
		b.verbatim, s.hasParts = true, true
		switch e.Part.(type) {
		case *content.ToolUse:
			s.candidates[b.slot].calls++
			b.kind = wholeBlock
		case *content.Text:
			b.kind = textBlock
		case *content.Thinking:
			b.kind = thinkingBlock
		default:
			b.kind = wholeBlock
		}
	case upstream.EventClose:
		s.removeBlock(e.Block)
	}
}
