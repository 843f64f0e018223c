package generatecontent

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/object"
	"github.com/polywire/polywire/upstream"
)

const maxPartialArguments = 32 << 20 // bytes of the arguments of a partial tool call

// DecodeResponse decodes the body of a successful response that is not a stream. The
// response has its Frame, which is Complete, contains all events, and can be passed to
// [upstream.Writer.Frame]. The events are those of [StreamReader.Next], except that each
// part is a separate block.
//
// DecodeResponse uses three limits of lim, or of the defaults if lim is nil: Body (default 64 MiB), Depth and Values. The
// rules of [ParseRequest] for documents apply with two exceptions: unpaired surrogates
// and invalid UTF-8 become U+FFFD, which is reported as a loss, and common deviations
// from the format are accepted.
//
// The error is an [*upstream.Error]. It is the error of the body if that is an error
// envelope, which some servers send with status 200. Otherwise its code is
// [upstream.CodeBadGateway].
func DecodeResponse(body []byte, lim *content.Limits) (*upstream.Response, error) {
	f, err := DecodeFrame(string(body), codec.LimitsOf(lim))
	if err != nil {
		return nil, err
	}
	return f.Response()
}

// A decoder converts a response, or the chunks of a stream, to events. It holds the
// state between chunks.
type decoder struct {
	doc         jsonwire.Doc
	limits      jsonwire.Limits
	parser      parser // parses parts; its violations are reset for each part
	origin      origin
	usageLimits jsonwire.Limits // for a usage object parsed alone
	whole       bool            // the response is not a stream

	source      string           // the current document
	events      []upstream.Event // of the current document
	deviates    bool             // the document deviates from the format; clients must not receive it
	partCount   int              // of the current document
	plainText   jsonwire.Value   // the last text of the current document
	template    template
	begun       bool             // an EventStart was returned
	blocked     bool             // the prompt was blocked
	states      []candidateState // of candidates, by index
	blockCount  int              // blocks that were opened
	closedCount int              // blocks that were closed
	counts      counts
	known       []knownMember
	reported    loss.List

	// Members of the objects that are being read.
	responseValues  responseValues
	candidateValues candidateValues
}

// A knownMember is a member of the response that was already reported. Vendors repeat
// such members in each chunk.
type knownMember struct{ name, raw string }

const (
	maxKnownMembers    = 32
	maxKnownMemberSize = 1 << 10
)

const (
	// maxDecodedCandidates limits candidates; vendors send at most 8.
	maxDecodedCandidates = 128
	// maxClosedSince limits the blocks that closed after a block that can still be
	// signed. The Writer remembers the last four.
	maxClosedSince = 3
)

func newDecoder(lim content.Limits) *decoder {
	const depth = 256 // the default
	return &decoder{
		limits:      jsonwire.Limits{Depth: lim.Depth, Values: lim.Values, AllowInvalidUTF8: true},
		usageLimits: jsonwire.Limits{Depth: cmp.Or(max(lim.Depth, 0), depth) - 1, Values: lim.Values},
		counts:      counts{prompt: -1},
	}
}

// read decodes one document, a response or a chunk of one, and sets d.events.
func (d *decoder) read(data string) error {
	if d.readTemplate(data) {
		return nil
	}
	clear(d.events)
	d.events, d.deviates, d.partCount, d.plainText = d.events[:0], false, 0, jsonwire.Value{}
	if err := d.parse(data); err != nil {
		return err
	}
	root := d.doc.Root()
	d.source = d.doc.Source()
	if root.Kind() == jsonwire.Array { // an error in place of a stream is an array
		for _, v := range root.Elems() {
			root = v
			break
		}
		if root.Get("error").Kind() != jsonwire.Object {
			return codec.BadGateway(errors.New("generatecontent: the response is an array, not an object"))
		}
	}
	if root.Kind() != jsonwire.Object {
		return codec.BadGateway(errors.New("generatecontent: the response is not an object"))
	}
	if codec.IsSet(root.Get("error")) {
		return envelopeError(root)
	}
	if err := d.response(root); err != nil {
		return codec.BadGateway(err)
	}
	d.learnTemplate(data, d.responseValues.usage)
	return nil
}

// parse parses a document.
func (d *decoder) parse(data string) error {
	d.parser.begin(&d.origin)
	if err := d.doc.Parse(data, d.limits); err != nil {
		return codec.BadGateway(fmt.Errorf("generatecontent: the response is not valid JSON: %w", err))
	}
	return nil
}

// response decodes a response or a chunk of one.
func (d *decoder) response(root jsonwire.Value) error {
	d.responseValues = responseValues{}
	m := &d.responseValues
	more := d.members(root, generateResponseType, m)
	if err := cmp.Or(
		codec.Expect("generatecontent: usageMetadata", m.usage, codec.Objects|codec.Optional),
		codec.Expect("generatecontent: promptFeedback", m.feedback, codec.Objects|codec.Optional),
	); err != nil {
		return err
	}
	first := !d.begun
	if first && root.Len() == 0 {
		return nil
	}
	reason := d.blockReason(m.feedback)
	if first {
		d.begun = true
		s := &upstream.Start{ID: d.str(m.id), Model: d.str(m.model)}
		d.add(upstream.Event{Kind: upstream.EventStart, Start: s})
		s.Extra = d.newMembers(root, reason == "", true)
		d.addUsage(m.usage)
	}
	if err := d.candidates(m.candidates); err != nil {
		return err
	}
	if reason != "" {
		d.blockEvent(reason, m.feedback)
	}
	if first {
		return nil
	}
	if more || d.changed("responseId", m.id) || d.changed("modelVersion", m.model) || m.feedback.Exists() {
		if x := d.newMembers(root, reason == "", false); x != nil {
			d.add(upstream.Event{Kind: upstream.EventExtra, Extra: x})
		}
	}
	d.addUsage(m.usage)
	return nil
}

// newMembers returns the members of the response that have no field and were not
// reported before.
func (d *decoder) newMembers(root jsonwire.Value, feedback, first bool) *content.Extra {
	m := &d.responseValues
	b := d.parser.Extras.Begin()
	for name, x := range root.Members() {
		f := generateResponseType.Find(name)
		if f != nil {
			name = f.Name
		}
		typed := false
		switch {
		case f != nil && x.Kind() == jsonwire.Null:
			continue
		case x == m.id, x == m.model:
			typed = first
		case x == m.feedback && feedback:
		case f != nil && f.Typed():
			continue
		}
		if d.isNew(name, x.Raw()) && !typed {
			b = codec.AppendMember(b, name, x.Raw())
		}
	}
	return d.parser.newExtra(b)
}

// isNew reports whether a member of the response is new or changed, and remembers it.
func (d *decoder) isNew(name, raw string) bool {
	for i := range d.known {
		if t := &d.known[i]; t.name == name {
			same := t.raw == raw
			if t.raw = raw; len(raw) > maxKnownMemberSize {
				t.raw = "" // not JSON, so that the member is new next time
			}
			return !same
		}
	}
	if len(d.known) < maxKnownMembers && len(raw) <= maxKnownMemberSize && len(name) <= maxKnownMemberSize {
		d.known = append(d.known, knownMember{name, raw})
	}
	return true
}

// changed reports whether a member exists and was not reported before.
func (d *decoder) changed(name string, v jsonwire.Value) bool {
	if !v.Exists() {
		return false
	}
	for i := range d.known {
		if d.known[i].name == name {
			return d.known[i].raw != v.Raw()
		}
	}
	return true
}

// str returns an optional string.
func (d *decoder) str(v jsonwire.Value) string {
	switch v.Kind() {
	case jsonwire.String, jsonwire.None:
	default:
		d.deviates = true
	}
	return v.Str()
}

// fill sets f to the current document and its events.
func (d *decoder) fill(f *upstream.Frame) {
	if d.doc.Replacements() > 0 {
		d.lose(codec.ResponseNotUnicode, "parts")
	}
	f.Format, f.Data, f.Events = Format, d.source, d.events
	if d.deviates {
		f.Format = ""
	}
}

func (d *decoder) add(e upstream.Event) { d.events = append(d.events, e) }

// lose reports a loss at path, unless it was reported before.
func (d *decoder) lose(r *loss.Rule, path string) {
	if l := d.reported.New(r, path); l != nil {
		d.add(upstream.Event{Kind: upstream.EventLoss, Loss: l})
	}
}

// extra returns an Extra for b, an object without its closing brace. It returns last if
// that is equal.
func (d *decoder) extra(b []byte, last *content.Extra) *content.Extra {
	if last != nil && len(last.JSON) == len(b)+1 && last.JSON[:len(b)] == string(b) {
		return last
	}
	return d.parser.newExtra(b)
}

// A candidateState is the state of one candidate between chunks.
type candidateState struct {
	openText       int  // the open block of text or thinking, or -1
	lastBlock      int  // the block that opened last, or -1
	lastIsText     bool // lastBlock is text or thinking
	lastIsThinking bool // lastBlock is thinking
	lastIsSigned   bool // lastBlock has a signature
	closedAt       int  // decoder.closedCount when lastBlock closed
	blocks         int  // blocks that were opened

	call     *partialCall // the tool call whose arguments are incomplete
	hasCalls bool         // the candidate has tool calls
	finished bool         // a finishReason was read, and no part after it
	extra    *content.Extra

	sources    sources
	textAt     textPlace   // of the text that is open or was last
	position   int         // in a stream, blocks that were opened; otherwise the index of the current part
	pending    []support   // supports of the current document
	firstChunk bool        // in a stream: no chunk before the current one had parts
	partIndex  int         // index of the part in the current document
	textPieces []textPlace // in a stream: parts of the current document in the open text, if pending is not empty
	keptText   []byte      // in a stream: the open text, up to maxPassageText
}

// candidates decodes the candidates of a response or of a chunk.
func (d *decoder) candidates(v jsonwire.Value) error {
	switch v.Kind() {
	case jsonwire.Array:
		if d.whole {
			d.growEvents(v)
		}
		for i, x := range v.Elems() {
			if err := d.candidate(i, x, v.Len() > 1); err != nil {
				return err
			}
		}
	case jsonwire.Object: // in place of an array
		d.deviates = true
		return d.candidate(0, v, false)
	case jsonwire.None:
	default:
		return fmt.Errorf("generatecontent: candidates must be an array; it is a %s", v.Kind())
	}
	return nil
}

// growEvents makes room for the events of a response that is not a stream.
func (d *decoder) growEvents(v jsonwire.Value) {
	n := 8
	for _, x := range v.Elems() {
		n += 3*x.Get("content").Get("parts").Len() + 4
	}
	d.events = append(make([]upstream.Event, 0, n), d.events...)
}

// candidate decodes the element at a position of a list of candidates.
func (d *decoder) candidate(place int, v jsonwire.Value, several bool) error {
	if v.Kind() != jsonwire.Object {
		return fmt.Errorf("generatecontent: candidate %d is not an object", place)
	}
	d.candidateValues = candidateValues{}
	m := &d.candidateValues
	more := d.members(v, candidateType, m)
	if err := codec.Expect("generatecontent: finishReason", m.reason, codec.Texts|codec.Numbers|codec.Optional); err != nil {
		return err
	}
	i, err := d.index(m.index, place, several)
	if err != nil {
		return err
	}
	var supports []support
	if more {
		supports = d.readGrounding(i, memberOf(v, candidateType, "groundingMetadata"))
	}
	c := &d.states[i]
	scored := more && d.logprobs(i, v)
	c.pending = supports
	c.firstChunk, c.partIndex = !d.whole && c.blocks == 0, 0
	inner, err := d.content(i, m.content)
	if err != nil {
		return err
	}
	d.citeOpenText(i)
	c.pending, c.textPieces = nil, nil // do not retain the document
	reason := d.finishReason(m.reason)
	if reason != "" {
		d.endCall(i, reason == "STOP")
		d.closeText(i)
	}
	unended := reason == "" && (m.message.Exists() || m.ratings.Exists())
	if more || inner || unended {
		d.candidateMembers(i, v, reason == "", scored)
	}
	if reason != "" {
		d.stopEvent(i, reason, m)
	}
	return nil
}

// index returns the index of a candidate. The default is 0, or the position in a list of
// several.
func (d *decoder) index(v jsonwire.Value, place int, several bool) (int, error) {
	i := 0
	if v.Exists() {
		n, ok := object.Int(v, object.Int32)
		if !ok || n < 0 || n >= maxDecodedCandidates {
			return 0, fmt.Errorf("generatecontent: the index of a candidate is %s; it must be an integer from 0 to %d",
				codec.Clip(v.Raw()), maxDecodedCandidates-1)
		}
		d.deviates = d.deviates || v.Kind() != jsonwire.Number
		i = int(n)
	} else if several && place > 0 {
		d.deviates = true // clients would use index 0
		i = place
	}
	if i >= maxDecodedCandidates {
		return 0, fmt.Errorf("generatecontent: the response has more than %d candidates", maxDecodedCandidates)
	}
	for len(d.states) <= i {
		d.states = append(d.states, candidateState{openText: -1, lastBlock: -1, finished: len(d.states) < i})
	}
	return i, nil
}

// content decodes the content of a candidate. It reports whether the content has unknown
// members.
func (d *decoder) content(i int, v jsonwire.Value) (more bool, err error) {
	switch v.Kind() {
	case jsonwire.Object:
	case jsonwire.None:
		return false, nil
	default:
		return false, fmt.Errorf("generatecontent: the content of candidate %d is not an object", i)
	}
	for name, x := range v.Members() {
		switch f := contentType.Find(name); {
		case f == nil:
			more = true
		case name != f.Name: // role and parts have one spelling
		case x.Kind() == jsonwire.Null:
		case f.Name == "role":
			if err := codec.Expect("generatecontent: role", x, codec.Texts); err != nil {
				return false, err
			}
		case x.Kind() == jsonwire.Array:
			for k, y := range x.Elems() {
				d.states[i].partIndex = k
				if d.whole {
					d.states[i].position = k
				}
				if err := d.part(i, y); err != nil {
					return false, err
				}
			}
		default: // a part in place of an array
			d.deviates = true
			if err := d.part(i, x); err != nil {
				return false, err
			}
		}
	}
	return more, nil
}

const scoresMember, averageMember = "logprobsResult", "avgLogprobs"

// logprobs reports the log probabilities of a candidate, if there are any, before its parts: in other
// formats they are with their text.
func (d *decoder) logprobs(i int, v jsonwire.Value) bool {
	scores, average := memberOf(v, candidateType, scoresMember), memberOf(v, candidateType, averageMember)
	if scores.Get("chosenCandidates").Len() == 0 {
		return false
	}
	b := codec.AppendMember(d.parser.Extras.Begin(), scoresMember, scores.Raw())
	if codec.IsSet(average) {
		b = codec.AppendMember(b, averageMember, average.Raw())
	}
	d.add(upstream.Event{Kind: upstream.EventExtra, Candidate: i, Extra: d.parser.newExtra(b)})
	return true
}

// candidateMembers reports the members of a candidate without a field. Without a
// finishReason (unended), these include finishMessage and safetyRatings. If scored is true, logprobs
// has reported log probabilities.
func (d *decoder) candidateMembers(i int, v jsonwire.Value, unended, scored bool) {
	m := &d.candidateValues
	b := d.parser.Extras.Begin()
	for name, x := range v.Members() {
		f := candidateType.Find(name)
		if f != nil {
			name = f.Name
		}
		switch {
		case f != nil && x.Kind() == jsonwire.Null, scored && (name == scoresMember || name == averageMember):
		case f == nil, f.Kept(), unended && (x == m.message || x == m.ratings):
			b = codec.AppendMember(b, name, x.Raw())
		case x == m.content:
			b = appendInner(b, x)
		}
	}
	if len(b) == 1 {
		return
	}
	c := &d.states[i]
	c.extra = d.extra(b, c.extra)
	d.add(upstream.Event{Kind: upstream.EventExtra, Candidate: i, Extra: c.extra})
}

// appendInner appends the unknown members of a content as an object "content".
func appendInner(b []byte, v jsonwire.Value) []byte {
	some := false
	for name, x := range v.Members() {
		if contentType.Find(name) != nil {
			continue
		}
		if !some {
			some = true
			b = append(codec.AppendName(b, "content"), '{')
		}
		b = codec.AppendMember(b, name, x.Raw())
	}
	if some {
		b = append(b, '}')
	}
	return b
}

// finishReason returns the finishReason of a candidate, or "".
func (d *decoder) finishReason(v jsonwire.Value) string {
	if !v.Exists() {
		return ""
	}
	reason := v.Str()
	if v.Kind() != jsonwire.String {
		if reason = enumValue(finishReasons, v); reason == "" {
			d.deviates = true
			reason = codec.Clip(v.Raw()) // unknown, but the candidate has ended
		}
	}
	if upper := strings.ToUpper(reason); upper != reason {
		d.deviates = true
		reason = upper
	}
	if reason == "FINISH_REASON_UNSPECIFIED" {
		return ""
	}
	return reason
}

// stopEvent adds the stop of a candidate.
func (d *decoder) stopEvent(i int, reason string, m *candidateValues) {
	c := &d.states[i]
	c.finished = true
	s := &upstream.Stop{Reason: fromFinishReason(reason), Format: Format, RawReason: reason}
	if s.Reason == content.StopEnd && c.hasCalls {
		s.Reason = content.StopToolUse // the format has no such finishReason
	}
	usual := s.Reason == content.StopToolUse && m.message.Is(callMessage)
	b := d.parser.Extras.Begin()
	if m.message.Exists() && !usual {
		b = codec.AppendMember(b, "finishMessage", m.message.Raw())
	}
	if m.ratings.Exists() {
		b = codec.AppendMember(b, "safetyRatings", m.ratings.Raw())
	}
	if x := d.parser.newExtra(b); x != nil {
		s.Details = x.JSON
	}
	if !usual {
		s.Message = m.message.Str()
	}
	d.add(upstream.Event{Kind: upstream.EventStop, Candidate: i, Stop: s})
}

// callMessage is the vendor's finishMessage of every response with tool calls. It is
// omitted because the stop reason has the same information.
const callMessage = "Model generated function call(s)."

// fromFinishReason returns the neutral stop reason for a finishReason. It is
// [content.StopOther] for OTHER, ESCALATION, MISSING_THOUGHT_SIGNATURE and unknown
// values.
func fromFinishReason(reason string) content.StopReason {
	switch reason {
	case "STOP":
		return content.StopEnd
	case "MAX_TOKENS":
		return content.StopMaxTokens
	case "SAFETY", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MODEL_ARMOR", "JAILBREAK", "PUP_LIMITED_DISABLED",
		"IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT":
		return content.StopSafety
	case "LANGUAGE", "NO_IMAGE", "IMAGE_OTHER":
		return content.StopRefusal // the model did not produce the requested output
	case "RECITATION", "IMAGE_RECITATION":
		return content.StopRecitation
	case "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "MALFORMED_RESPONSE":
		return content.StopMalformedCall
	case "CONTINUATION", "TOO_MANY_TOOL_CALLS": // the client may continue with the response so far
		return content.StopPause
	}
	return content.StopOther
}

// blockReason returns the blockReason of a prompt that was blocked, or "".
func (d *decoder) blockReason(v jsonwire.Value) string {
	if v.Kind() != jsonwire.Object {
		return ""
	}
	var x jsonwire.Value
	d.members(v, feedbackType, &x)
	reason := x.Str()
	if x.Exists() && x.Kind() != jsonwire.String {
		if reason = enumValue(blockReasons, x); reason == "" {
			d.deviates = true
			reason = codec.Clip(x.Raw())
		}
	}
	if strings.EqualFold(reason, "BLOCK_REASON_UNSPECIFIED") || strings.EqualFold(reason, "BLOCKED_REASON_UNSPECIFIED") {
		return ""
	}
	return reason
}

// blockEvent adds the stop of a blocked prompt.
func (d *decoder) blockEvent(reason string, feedback jsonwire.Value) {
	d.blocked = true
	b := codec.AppendMember(d.parser.Extras.Begin(), "promptFeedback", feedback.Raw())
	d.add(upstream.Event{Kind: upstream.EventStop, Stop: &upstream.Stop{
		Reason: content.StopSafety, Format: Format, RawReason: reason, Details: d.parser.newExtra(b).JSON,
		Message: feedback.Get("blockReasonMessage").Str(),
	}})
}

// counts holds the counts of usageMetadata in wire form. A chunk of a stream replaces the
// counts that it has.
type counts struct {
	prompt, cached, candidates, thoughts, tool int64 // prompt is negative until there is one

	details    [len(modalityLists)]details
	modalities []content.ModalityCount // of all details
	extra      *content.Extra
	last       *content.Usage // the last usage that was added

	usages codec.Chunk[content.Usage]
	lists  codec.Chunk[content.ModalityCount]
}

// details are the counts by modality of one kind.
type details struct {
	value jsonwire.Value // in the current document
	raw   string         // the last value, to detect changes
	list  []content.ModalityCount
}

const (
	// maxUsageDetails limits the details of one count.
	maxUsageDetails = 64
	// maxUsageExtra limits the bytes of other members.
	maxUsageExtra = 64 << 10
	// usagesAhead is the size of the first allocation of usages.
	usagesAhead = 64
)

// addUsage decodes usageMetadata and adds an EventUsage.
func (d *decoder) addUsage(v jsonwire.Value) {
	if v.Kind() != jsonwire.Object {
		return // absent
	}
	c := &d.counts
	for i := range c.details {
		c.details[i].value = jsonwire.Value{}
	}
	more := d.members(v, usageType, c)
	changed := false
	for i := range c.details {
		if l := &c.details[i]; l.value.Exists() && l.value.Raw() != l.raw {
			if l.raw = l.value.Raw(); len(l.raw) > maxKnownMemberSize {
				l.raw = "" // do not retain it
			}
			d.details(l, modalityLists[i].of)
			changed = true
		}
	}
	if changed {
		c.joinDetails()
	}
	if more {
		d.usageExtra(v)
	}
	u := c.usage()
	if c.last == nil || !equalUsage(c.last, &u) {
		c.last = c.usages.New(usagesAhead)
		*c.last = u
	}
	d.add(upstream.Event{Kind: upstream.EventUsage, Usage: c.last})
}

// details decodes counts by modality.
func (d *decoder) details(l *details, kind string) {
	l.list = l.list[:0]
	if l.value.Kind() != jsonwire.Array {
		d.deviates = true
	}
	for k, x := range l.value.Elems() {
		if k == maxUsageDetails {
			d.lose(codec.ResponseManyCounts, "usage")
			break
		}
		one := content.ModalityCount{Kind: kind, Modality: fromModality(enumValue(modalities, x.Get("modality")))}
		if n, ok := object.Int(x.Get("tokenCount"), object.AnyForm); ok {
			one.Tokens = min(max(n, 0), maxTokenCount)
		}
		l.list = append(l.list, one)
	}
}

// fromModality returns the neutral form of a modality.
func fromModality(s string) string {
	for _, known := range [...][2]string{{"TEXT", "text"}, {"IMAGE", "image"}, {"AUDIO", "audio"}, {"VIDEO", "video"}, {"DOCUMENT", "document"}} {
		if s == known[0] {
			return known[1]
		}
	}
	return strings.ToLower(s)
}

// joinDetails sets modalities to the details of all counts.
func (c *counts) joinDetails() {
	n := 0
	for i := range c.details {
		n += len(c.details[i].list)
	}
	c.modalities = nil
	if n > 0 {
		c.modalities = c.lists.List(n, 16)
		for i := range c.details {
			c.modalities = append(c.modalities, c.details[i].list...)
		}
	}
}

// usageExtra sets extra to the members that have no field.
func (d *decoder) usageExtra(v jsonwire.Value) {
	b := d.parser.Extras.Begin()
	for name, x := range v.Members() {
		f := usageType.Find(name)
		switch {
		case f == nil:
		case f.Typed(), x.Kind() == jsonwire.Null:
			continue
		default:
			name = f.Name
		}
		if len(b)+len(name)+len(x.Raw()) > maxUsageExtra {
			d.lose(codec.ResponseManyCounts, "usage")
			continue
		}
		b = codec.AppendMember(b, name, x.Raw())
	}
	if len(b) > 1 {
		d.counts.extra = d.extra(b, d.counts.extra)
	}
}

// usage returns the counts in neutral form, where no count includes another. On the wire
// the count of the prompt includes cached tokens, and the count of the candidates does not
// include thinking.
func (c *counts) usage() content.Usage {
	u := content.Usage{
		Input:      max(c.prompt, 0),
		CacheRead:  c.cached,
		ToolPrompt: c.tool,
		Output:     c.candidates,
		Thinking:   c.thoughts,
		Modalities: c.modalities,
		Extra:      c.extra,
	}
	if c.prompt >= 0 {
		u.CacheRead = min(u.CacheRead, u.Input)
		u.Input -= u.CacheRead
	}
	return u
}

// equalUsage reports whether two usages are equal. It compares pointers of Extras, because
// they are allocated only when they change.
func equalUsage(a, b *content.Usage) bool {
	return a.Input == b.Input && a.CacheRead == b.CacheRead && a.ToolPrompt == b.ToolPrompt &&
		a.Output == b.Output && a.Thinking == b.Thinking && a.Extra == b.Extra && slices.Equal(a.Modalities, b.Modalities)
}
