package generatecontent

import (
	"errors"
	"strconv"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/handler"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/upstream"
)

// A framing is how the pieces of a stream are told from each other.
type framing bool

const (
	inEvents framing = true  // server-sent events, of data lines only
	inArray  framing = false // a JSON array
)

// A stream turns the events of one answer into pieces of the wire, each a
// response of its own that holds what is new. It does no I/O and allocates
// nothing for a text.
//
// Texts go out as they come. Calls go out when they are whole, since the format
// has no halves of one. Why the answer ends is said at the end, unless it comes
// together with a part: an error wins over it.
//
// Clients keep what they get as a conversation, and some drop an answer that
// has a piece without parts. So every piece of an answer that says anything has
// one, if need be an empty text.
type stream struct {
	framing
	limit int64 // of bodies, for errors
	answer

	tail    []byte     // of every piece
	begun   bool       // a piece is written
	early   bool       // a keep-alive has written the beginning of the next event
	own     bool       // the vendor's own frames say which answer this is
	spoken  bool       // a part is written
	blocked bool       // the vendor's own frames say that the prompt was
	unsaid  bool       // usage is not written as it is now
	recount bool       // counts are not usage as it is now
	framed  bool       // events come from a server
	counts  []byte     // usageMetadata, with its name; empty as long as it is unknown
	said    []progress // of each candidate

	open   []streamed
	closed [4]streamed // the last ones
	held   int         // bytes of arguments
	kept   int         // bytes of members that were not said, at most
	room   int         // bytes of thoughts that may be kept besides
	err    error

	at      int // the candidate whose piece is being written; -1
	scratch jsonwire.Writer
	lost    []content.Loss
}

// A progress is what a client was told of a candidate.
type progress struct {
	parts  int       // blocks that were opened
	newest int       // the number of the last of them
	text   segment   // that was written last, as clients join texts
	kind   blockKind // what the last part is; none if nothing is joined to it
	told   int       // parts, joined
	fresh  bool      // the stop came with these events
	word   string    // why it ended; empty: nothing yet

	thoughts envelope.Pending
}

// newStream returns a stream. id and model are used where the upstream says
// nothing about them.
func newStream(f framing, id, model string, limit int64) *stream {
	s := &stream{framing: f, limit: limit, at: -1, room: envelope.MaxSize}
	s.start.ID, s.start.Model = id, model
	for i := range s.closed {
		s.closed[i].in = -1
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
	case s.early:
		return append(dst, ' ')
	case s.begun && s.ended():
		return dst
	}
	s.early = true
	return append(dst, "data: "...)
}

// ended reports whether the prompt was blocked, or every candidate that has begun has
// its finishReason. Otherwise an event follows, at the latest from finish.
func (s *stream) ended() bool {
	if s.blocked {
		return true
	}
	for k := range s.said {
		if s.said[k].word == "" {
			return false
		}
	}
	return len(s.said) > 0
}

func (s *stream) Losses() []content.Loss {
	l := s.lost
	s.lost = nil
	return l
}

// Err implements [handler.FallibleEncoder].
func (s *stream) Err() error { return s.err }

func (s *stream) Events(dst []byte, events []upstream.Event) []byte {
	from := len(dst)
	f := upstream.FrameOf(events)
	s.signs = s.signs && (f == nil || f.Format != Format)
	s.framed = s.framed || len(events) > 0 && events[0].Frame != nil
	if f != nil && s.fits(f, events) {
		return s.oneLine(s.verbatim(dst, f, events), from)
	}
	for i := range events {
		dst = s.event(dst, &events[i])
	}
	dst = s.endPiece(dst)
	for k := range s.said {
		s.said[k].fresh = false
	}
	return s.oneLine(dst, from)
}

// End appends how the answer ends. In events a failure is a bare object and a blank
// line: in a read of its own the vendor's older TypeScript SDKs, LangChain and Genkit
// JS recognize only this form. [stream.Repeat] appends the other one. If a keep-alive
// has begun an event, the failure first completes it, and the bare object comes from
// Repeat: clients that ignore a failure in an event read on, and the others need no
// event that has nothing to report.
func (s *stream) End(dst []byte, f *handler.Failure) []byte {
	if f == nil {
		dst = s.oneLine(s.finish(dst), len(dst))
		if s.framing == inArray {
			dst = append(dst, ']')
		}
		return dst
	}
	if s.framing == inEvents {
		return append(appendError(dst, f, s.limit), "\r\n\r\n"...)
	}
	return append(appendError(s.beginElement(dst), f, s.limit), ']')
}

// Repeat implements [handler.ErrorRepeater]: the failure once more, in the form that End did
// not use; usually as an event. AI SDK reads data lines only. Clients that have read
// both in one piece do not take the end of the body for the end of the answer.
func (s *stream) Repeat(dst []byte, f *handler.Failure) []byte {
	if s.framing == inArray {
		return dst
	}
	if !s.early {
		dst = append(dst, "data: "...)
	}
	return append(appendError(dst, f, s.limit), "\r\n\r\n"...)
}

// beginElement appends what stands before an element of the array.
func (s *stream) beginElement(dst []byte) []byte {
	if s.begun {
		return append(dst, ",\r\n"...)
	}
	return append(dst, '[')
}

func (s *stream) note(path string, r *loss.Rule) {
	s.lost = append(s.lost, r.At(path))
}

func (s *stream) lose(b *streamed, r *loss.Rule) {
	s.note(answerPath(s.candidates[b.k].index, b.n), r)
}

// place returns the place of the candidate with an index.
func (s *stream) place(index int) int {
	k := s.answer.at(index)
	for len(s.said) <= k {
		s.said = append(s.said, progress{thoughts: envelope.Pending{ClientFormat: Format}})
	}
	return k
}

// event appends one event.
func (s *stream) event(dst []byte, e *upstream.Event) []byte {
	if e.Candidate >= maxCandidates {
		s.err = errCandidates
		return dst
	}
	if e.Extra != nil || e.Kind == upstream.EventBlockExtra {
		s.besides(e)
	}
	switch e.Kind {
	case upstream.EventText:
		return s.text(dst, e)
	case upstream.EventOpen:
		dst = s.opened(dst, e)
	case upstream.EventInput:
		s.input(e)
	case upstream.EventClose:
		dst = s.closes(dst, e.Block)
	case upstream.EventSignature:
		dst = s.signature(dst, e)
	case upstream.EventCitation:
		if b := s.find(e.Block); b != nil {
			s.cite(b, e.Citation)
		}
	default:
		return s.other(dst, e)
	}
	return dst
}

// besides tells what is lost of an event about a part: its members, but for those
// of a text.
func (s *stream) besides(e *upstream.Event) {
	var rule *loss.Rule
	switch e.Kind {
	case upstream.EventBlockExtra:
		rule = unsaidAbout
	case upstream.EventOpen, upstream.EventInput, upstream.EventClose, upstream.EventSignature, upstream.EventCitation:
		rule = unsaidEventMembers
	default:
		return
	}
	path := "parts" // of one that was closed long ago
	if b := s.find(e.Block); b != nil {
		path = answerPath(s.candidates[b.k].index, b.n)
	} else if e.Kind == upstream.EventOpen {
		path = answerPath(e.Candidate, s.said[s.place(e.Candidate)].parts)
	}
	s.note(path, rule)
}

// other takes what is said together with the next part, or at the end.
func (s *stream) other(dst []byte, e *upstream.Event) []byte {
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
		s.answer.unsaid(s.members.Add(e.Start.Extra, Format), e.Start.Extra, "", s.note)
	case upstream.EventUsage:
		s.usage, s.unsaid, s.recount = *e.Usage, counted(e.Usage), true
	case upstream.EventStop:
		k := s.place(e.Candidate)
		s.candidates[k].stop = *e.Stop
		s.said[k].fresh, s.said[k].word = true, ""
		s.answer.feedback(e.Stop)
		dst = s.lastCall(dst, k, e.Stop.Reason)
	case upstream.EventBlockExtra:
		return dst
	}
	switch {
	case e.Kind == upstream.EventExtra && e.Text != "":
		s.note(loss.EventPath(e.Text), unsaidEvent)
	case e.Extra != nil:
		dst = s.say(dst, e)
	}
	return dst
}

// say takes members of the answer. What a client is still to be told is not
// overwritten: lists of sources, for one, hold only what is new.
func (s *stream) say(dst []byte, e *upstream.Event) []byte {
	k := s.place(e.Candidate)
	full := s.kept > maxKept
	x := s.candidates[k].likely.own(e.Extra)
	var more handler.Members
	more.Add(x, Format)
	for _, m := range more {
		full = full || s.candidates[k].members.Get(m.Name) != ""
	}
	if full {
		dst = s.endPiece(s.emptyText(dst, k))
		s.kept = 0
	}
	s.kept += len(x.JSON)
	s.extra(x, k, s.note)
	return dst
}

// part begins a part of the candidate at a place; it is for the caller to
// append it.
func (s *stream) part(dst []byte, k int) []byte {
	s.spoken = true
	if s.at == k {
		return append(dst, ',')
	}
	dst = s.endPiece(dst)
	dst = s.beginPiece(dst)
	s.at = k
	return append(dst, `{"candidates":[{"content":{"role":"model","parts":[`...)
}

func (s *stream) emptyText(dst []byte, k int) []byte {
	if s.at == k {
		return dst // there is a part already
	}
	return append(s.part(dst, k), `{"text":""}`...)
}

func (s *stream) beginPiece(dst []byte) []byte {
	switch {
	case s.framing == inArray:
		dst = s.beginElement(dst)
	case s.early:
		s.early = false
	default:
		dst = append(dst, "data: "...)
	}
	if !s.begun {
		s.begun = true
		s.tail = append(s.tail, `,"modelVersion":`...)
		s.tail = jsonwire.AppendString(s.tail, s.start.Model)
		s.tail = append(s.tail, `,"responseId":`...)
		s.tail = jsonwire.AppendString(s.tail, s.start.ID)
		s.tail = append(s.tail, '}')
	}
	return dst
}

// endPiece ends the piece that is being written, if there is one.
func (s *stream) endPiece(dst []byte) []byte {
	if s.at < 0 {
		return dst
	}
	k := s.at
	if s.candidates[k].callless() {
		s.said[k].fresh = false // a call may come yet
	}
	// Without counts of a server the candidate ends in a chunk of its own: an
	// estimate may follow, and no chunk may follow its finishReason.
	ends := s.said[k].fresh && (!s.framed || counted(&s.usage))
	if ends {
		dst = s.appendCarrier(dst, k)
	}
	s.at = -1
	dst = append(dst, "]}"...)
	if ends {
		dst = s.appendStop(dst, k)
	}
	dst = append(s.appendIndex(dst, k), "}]"...)
	return s.appendRest(dst)
}

// appendStop appends why a candidate ends.
func (s *stream) appendStop(dst []byte, k int) []byte {
	var to Candidate
	s.end(k, &to, s.note)
	s.said[k].fresh, s.said[k].word = false, to.FinishReason
	dst = jsonwire.AppendString(append(dst, `,"finishReason":`...), to.FinishReason)
	if to.FinishMessage != "" {
		dst = jsonwire.AppendString(append(dst, `,"finishMessage":`...), to.FinishMessage)
	}
	return dst
}

// appendIndex appends which candidate it was, and what was held back for it.
func (s *stream) appendIndex(dst []byte, k int) []byte {
	c := &s.candidates[k]
	c.ground(s.note)
	dst = jsonwire.AppendInt(append(dst, `,"index":`...), int64(c.index))
	dst = appendHeld(dst, c.members, candidateMember)
	c.members = c.members[:0]
	return dst
}

// appendRest appends what a piece has beside its candidates.
func (s *stream) appendRest(dst []byte) []byte {
	dst = appendHeld(dst, s.members, func(name string) bool { return name != "promptFeedback" && responseMember(name) })
	s.members = s.members[:0]
	if s.unsaid = false; s.recount {
		s.recount = false
		if s.counts = s.counts[:0]; counted(&s.usage) {
			s.counts = appendUsage(append(s.counts, `,"usageMetadata":`...), &s.usage)
		}
	}
	// In every chunk, as the vendor does: some clients add the latest once more
	// for each chunk without.
	dst = append(dst, s.counts...)
	dst = append(dst, s.tail...)
	if s.framing == inEvents {
		dst = append(dst, "\r\n\r\n"...)
	}
	return dst
}

func appendHeld(dst []byte, list handler.Members, skip func(string) bool) []byte {
	for i := range list {
		if m := &list[i]; !skip(m.Name) {
			dst = append(jsonwire.AppendString(append(dst, ','), m.Name), ':')
			dst = jsonwire.AppendCompact(dst, m.JSON)
		}
	}
	return dst
}

// finish appends what has not been said yet.
func (s *stream) finish(dst []byte) []byte {
	s.lostCounts(s.note)
	s.place(0) // of an answer that says nothing
	for k := range s.said {
		dst = s.lastCall(dst, k, s.candidates[k].stop.Reason)
	}
	dst = s.endPiece(dst)
	if !s.spoken && (s.blocked || blocked(s.members.Get("promptFeedback"))) {
		return s.appendBlocked(dst)
	}
	if !s.due() {
		return dst
	}
	dst = append(s.beginPiece(dst), `{"candidates":[`...)
	some := false
	for k := range s.said {
		if s.dueOf(k) {
			dst = s.appendEnd(dst, k, some)
			some = true
		}
	}
	if !some { // only usage is due
		dst = s.appendEnd(dst, 0, false)
	}
	return s.appendRest(append(dst, ']'))
}

// due reports whether anything is left to be said.
func (s *stream) due() bool {
	due := s.unsaid || len(s.members) > 0
	for k := range s.said {
		due = due || s.dueOf(k)
	}
	return due
}

// dueOf reports whether anything is left to be said of a candidate.
func (s *stream) dueOf(k int) bool {
	c := &s.candidates[k]
	return s.said[k].word == "" || len(c.members) > 0 || c.grounds.pending() > 0 || s.said[k].thoughts.NeedsCarrier()
}

// appendEnd appends how a candidate ends.
func (s *stream) appendEnd(dst []byte, k int, comma bool) []byte {
	if comma {
		dst = append(dst, ',')
	}
	if sig := s.takeCarried(k); sig.Data != "" {
		dst = append(dst, `{"content":{"role":"model","parts":[{"text":"","thoughtSignature":`...)
		dst = append(jsonwire.AppendString(dst, sig.Data), "}]}"...)
	} else if s.spoken {
		dst = append(dst, `{"content":{"role":"model","parts":[{"text":""}]}`...)
	} else {
		dst = append(dst, `{"content":{"role":"model"}`...)
	}
	return append(s.appendIndex(s.appendStop(dst, k), k), '}')
}

// appendBlocked appends an answer to a prompt that was blocked.
func (s *stream) appendBlocked(dst []byte) []byte {
	if s.blocked && !s.unsaid {
		return dst
	}
	dst = append(s.beginPiece(dst), '{')
	from := len(dst)
	dst = s.appendRest(dst)
	// There is always something behind the comma.
	return append(dst[:from], dst[from+1:]...)
}

const (
	maxHeld       = 32 << 20 // bytes of the arguments of calls that are not whole yet
	maxKept       = 16 << 10 // bytes of members, which then go out with an empty text
	maxCandidates = 1000
)

var errCandidates = &upstream.Error{Code: upstream.CodeBadGateway, Err: errors.New("generatecontent: too many candidates")}

var errHeld = &upstream.Error{Code: upstream.CodeBadGateway,
	Err: errors.New("generatecontent: the arguments of calls are over " + strconv.Itoa(maxHeld>>20) + " MiB")}
