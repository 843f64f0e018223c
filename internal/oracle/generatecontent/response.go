package generatecontent

import (
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/media"
	"github.com/polywire/polywire/internal/partfield"
	"github.com/polywire/polywire/internal/response"
	"github.com/polywire/polywire/upstream"
)

// A Response is the body of a response, or one chunk of a stream. Empty members are omitted
// from the JSON, as the vendor does.
type Response struct {
	// Candidates usually has one element. It is empty if the prompt was blocked.
	Candidates []Candidate

	PromptFeedback string // JSON of an object, or empty

	// Usage counts each token once. The totals in usageMetadata are sums of its fields.
	Usage content.Usage

	ModelVersion string // the model that generated the response
	ResponseID   string

	Extra *content.Extra
}

// A Candidate is one of the alternatives in a response.
type Candidate struct {
	// Parts is the content of the candidate. JSON in it must be valid.
	Parts []content.Part

	FinishReason  string // such as STOP or MAX_TOKENS
	FinishMessage string // a message for people
	Index         int

	// Extra holds the other members, such as "groundingMetadata".
	Extra *content.Extra
}

// ResponseFromUpstream converts r to this format. It returns the response and the losses,
// with neutral paths. It does not modify r; the response may share its parts.
//
// The ResponseID and ModelVersion are empty if r does not have them; the caller sets them.
// Empty texts are omitted. Base64 in another alphabet or without padding is converted to
// standard base64.
//
// A tool call without a name, or with arguments that are not a JSON object, is dropped, and
// the loss reported. Then STOP becomes MALFORMED_FUNCTION_CALL. Arguments that are null or
// white space are an empty object. A tool call without arguments is also dropped if it is
// the last part of a truncated response.
//
// The members promptFeedback, modelStatus, createTime and turnToken of r.Extra become
// members of the response, and all others become members of the first candidate. If
// promptFeedback has a blockReason and r has no parts, the response has no candidates.
func ResponseFromUpstream(r *upstream.Response) (*Response, []content.Loss) {
	return convertResponse(r, false)
}

// convertResponse implements ResponseFromUpstream. If signs is true, the client expects a
// signature on the first tool call.
func convertResponse(r *upstream.Response, signs bool) (*Response, []content.Loss) {
	var losses []content.Loss
	report := func(path string, r *loss.Rule) {
		losses = append(losses, r.At(path))
	}
	a := responseBuilder{start: r.Start, usage: r.Usage, expectSigned: signs && r.Stop.Format != Format}
	a.reportForeign(a.members.Add(r.Start.Extra, Format), r.Start.Extra, "", report)
	all := append([]upstream.Candidate{{Parts: r.Parts, Stop: r.Stop, Extra: r.Extra}}, r.MoreCandidates...)
	list := make([]Candidate, len(all))
	some := false
	for i := range all {
		k := a.slot(i)
		some = some || len(all[i].Parts) > 0
		list[i].Parts = a.convertParts(all[i].Parts, all[i].Stop.Reason, k, report)
		a.addMembers(all[i].Extra, k, report)
		a.candidates[k].stop = all[i].Stop
		a.takeFeedback(&all[i].Stop)
	}
	res := &Response{PromptFeedback: a.members.Take("promptFeedback")}
	if some || !isBlocked(res.PromptFeedback) {
		for i := range list {
			a.endCandidate(i, &list[i], report)
		}
		res.Candidates = list
	}
	a.endResponse(res, report)
	return res, loss.Unique(losses)
}

// convertParts converts the parts of candidate k. ended is its stop reason.
func (a *responseBuilder) convertParts(parts []content.Part, ended content.StopReason, k int, report pathLossFunc) []content.Part {
	var list []content.Part
	thoughts := envelope.Pending{ClientFormat: Format}
	room := envelope.MaxSize
	carried := func() content.Signature {
		return encodeState(&thoughts, &room, func(n int, r *loss.Rule) {
			report(responsePartPath(a.candidates[k].index, n), r)
		})
	}
	for i, p := range parts {
		if t, ok := p.(*content.Thinking); ok && t != nil {
			thoughts.Add(i, t, &room)
		}
		path := responsePartPath(a.candidates[k].index, i)
		if t, ok := p.(*content.ToolUse); ok && t != nil {
			c := *t
			dropHints(&c, func(r *loss.Rule) { report(path, r) })
			p = &c
		}
		if i == len(parts)-1 && codec.NotStarted(p, ended) {
			report(path, lossCutCall)
			break
		}
		p = toResponsePart(p, func(r *loss.Rule) {
			report(path, r)
			a.candidates[k].broken = a.candidates[k].broken || isBrokenCall(r)
		})
		switch q := p.(type) {
		case nil:
		case *content.Text:
			thoughts.CopyTextSignature(i, partfield.SignatureOf(parts[i]), &room)
		case *content.ToolUse: // a copy
			a.candidates[k].calls++
			if q.Signature.Data == "" {
				if q.Signature = carried(); q.Signature.Data == "" {
					q.Signature = a.unsignedCall(k)
				}
			} else {
				list = attachState(list, &thoughts, carried)
				thoughts.DropCopies(&room)
			}
		}
		if p != nil {
			list = append(list, p)
		}
		if t, ok := parts[i].(*content.Text); ok && t != nil && len(t.Citations) > 0 {
			reportOnce := oncePerRule(func(r *loss.Rule) { report(path, r) })
			a.candidates[k].grounding.addCitations(t.Citations, segment{len(list) - 1, 0, encodedLen(t.Text)}, t.Text, reportOnce)
		}
	}
	return attachState(list, &thoughts, carried)
}

// attachState attaches pending state to the last text, as the vendor signs responses. If
// the last part is not a text, or is signed, attachState appends an empty text. It avoids
// empty texts, because some clients drop a turn with an empty text from their history.
func attachState(list []content.Part, thoughts *envelope.Pending, carried func() content.Signature) []content.Part {
	if !thoughts.NeedsCarrier() {
		return list
	}
	sig := carried()
	if sig.Data == "" {
		return list
	}
	i := len(list) - 1
	for i >= 0 && isThinking(list[i]) {
		i--
	}
	if i >= 0 {
		if t, ok := list[i].(*content.Text); ok && t.Signature.Data == "" {
			signed := *t
			signed.Signature = sig
			list[i] = &signed
			return list
		}
	}
	return append(list, &content.Text{Signature: sig})
}

func isThinking(p content.Part) bool {
	_, ok := p.(*content.Thinking)
	return ok
}

// responsePartPath returns the neutral path of a part.
func responsePartPath(candidate, part int) string {
	return responseCandidatePath(candidate, "parts."+strconv.Itoa(part))
}

// responseCandidatePath returns the neutral path of a member of a candidate.
func responseCandidatePath(candidate int, path string) string {
	if candidate > 0 {
		path = strings.TrimSuffix("candidates."+strconv.Itoa(candidate)+"."+path, ".")
	}
	return path
}

// A pathLossFunc reports a loss at a neutral path.
type pathLossFunc func(path string, r *loss.Rule)

// A responseBuilder holds the state of a response, without the parts.
type responseBuilder struct {
	start        upstream.Start
	usage        content.Usage
	members      response.Members // of the response
	candidates   []candidate      // in order of arrival
	expectSigned bool             // clients expect a signature on the first tool call, and the vendor is another one
}

// A candidate is the state of a candidate, without its parts.
type candidate struct {
	index int
	ending
	members   response.Members
	grounding groundingState
	logprobs  logprobs
}

// slot returns the position in candidates of the candidate with an index. It appends a
// missing candidate.
func (a *responseBuilder) slot(index int) int {
	for k := range a.candidates {
		if a.candidates[k].index == index {
			return k
		}
	}
	a.candidates = append(a.candidates, candidate{index: index})
	return len(a.candidates) - 1
}

// addMembers adds the members in x to the response or to candidate k.
func (a *responseBuilder) addMembers(x *content.Extra, k int, report pathLossFunc) {
	var all response.Members
	index := a.candidates[k].index
	x = a.candidates[k].logprobs.convert(x)
	a.reportForeign(all.Add(x, Format), x, responseCandidatePath(index, ""), report)
	for _, m := range all {
		switch m.Name {
		case "promptFeedback", "modelStatus", "createTime", "turnToken":
			a.members.Set(m.Name, m.JSON)
		case "content", "finishMessage", "responseId", "modelVersion": // set elsewhere
			report(responseCandidatePath(index, m.Name), lossMemberPlace)
		default:
			a.candidates[k].members.Set(m.Name, m.JSON)
		}
	}
}

// reportForeign reports the losses of dropping x if foreign is true.
func (a *responseBuilder) reportForeign(foreign bool, x *content.Extra, path string, report pathLossFunc) {
	if !foreign {
		return
	}
	for at, r := range codec.Unsupported(x, path) {
		report(at, r)
	}
}

// takeFeedback adds the promptFeedback in the details of a stop. Blocked prompts have it.
func (a *responseBuilder) takeFeedback(s *upstream.Stop) {
	if s.Format != Format || !strings.Contains(s.Details, "promptFeedback") {
		return
	}
	var m response.Members
	m.Add(&content.Extra{Format: Format, JSON: s.Details}, Format)
	if json := m.Take("promptFeedback"); json != "" {
		a.members.Set("promptFeedback", json)
	}
}

// endCandidate sets the members of to that follow the parts of candidate k.
func (a *responseBuilder) endCandidate(k int, to *Candidate, report pathLossFunc) {
	from := &a.candidates[k]
	path := responseCandidatePath(from.index, "stop")
	to.Index = from.index
	to.FinishReason, to.FinishMessage = from.finishReason(func(r *loss.Rule) { report(path, r) })
	a.reportForeign(from.members.Add(from.stop.Extra, Format), from.stop.Extra, responseCandidatePath(from.index, ""), report)
	if from.stop.Format == Format {
		from.members.Add(&content.Extra{Format: Format, JSON: from.stop.Details}, Format)
	}
	from.members.Take("finishMessage")
	from.members.Take("promptFeedback")
	if s := from.logprobs.average(); s != "" {
		from.members.Set("avgLogprobs", s)
	}
	from.flushGrounding(report)
	to.Extra = from.members.Extra(Format)
}

// endResponse sets the members of to that are not in candidates.
func (a *responseBuilder) endResponse(to *Response, report pathLossFunc) {
	to.Usage, to.ModelVersion, to.ResponseID = a.usage, a.start.Model, a.start.ID
	a.reportCounts(report)
	to.Extra = a.members.Extra(Format)
}

// reportCounts reports a loss if the usage has counts without a member in this format.
func (a *responseBuilder) reportCounts(report pathLossFunc) {
	u := &a.usage
	if u.CacheWrite != 0 || u.CacheWrite1h != 0 || codec.HasCounts(u.Extra, Format) {
		report("usage", lossUsageCounts)
	}
}

// isBlocked reports whether promptFeedback has a blockReason.
func isBlocked(feedback string) bool { return gjson.Get(feedback, "blockReason").Str != "" }

// AppendJSON appends the JSON of the response to dst. It returns a [*content.Violation] if
// a part is nil or cannot be in a response. It does not fail for responses of
// [ResponseFromUpstream].
func (r *Response) AppendJSON(dst []byte) ([]byte, error) {
	var w jsonwire.Writer
	if err := r.write(&w); err != nil {
		return dst, err
	}
	return codec.Append(dst, &w)
}

// write writes the response to w.
func (r *Response) write(w *jsonwire.Writer) error {
	e := newEncoder(w)
	w.BeginObject()
	if len(r.Candidates) > 0 {
		w.Name("candidates")
		w.BeginArray()
		e.Path.Push("candidates")
		for i := range r.Candidates {
			e.Path.PushIndex(i)
			e.candidate(&r.Candidates[i])
			e.Path.Pop()
		}
		e.Path.Pop()
		w.EndArray()
	}
	if r.PromptFeedback != "" {
		e.Raw("promptFeedback", r.PromptFeedback)
	}
	if hasUsage(&r.Usage) {
		w.Name("usageMetadata")
		w.Raw(string(appendUsage(nil, &r.Usage)))
	}
	if r.ModelVersion != "" {
		e.Must("modelVersion", r.ModelVersion)
	}
	if r.ResponseID != "" {
		e.Must("responseId", r.ResponseID)
	}
	e.Encoder.Extra(r.Extra, Format, isResponseMember)
	w.EndObject()
	return e.Violations.Err()
}

// candidate writes a candidate.
func (e *encoder) candidate(c *Candidate) {
	e.W.BeginObject()
	e.Begin("content")
	e.parts("parts", c.Parts)
	e.Must("role", "model")
	e.End()
	if c.FinishReason != "" {
		e.Must("finishReason", c.FinishReason)
	}
	if c.FinishMessage != "" {
		e.Must("finishMessage", c.FinishMessage)
	}
	e.W.Name("index")
	e.W.Int(int64(c.Index))
	e.Encoder.Extra(c.Extra, Format, isCandidateMember)
	e.W.EndObject()
}

// A lossFunc reports a loss at a fixed path.
type lossFunc func(r *loss.Rule)

// toResponsePart converts p to a part of a response. It returns nil if p was dropped. It
// does not modify p. The encoder can write the result.
func toResponsePart(p content.Part, report lossFunc) content.Part {
	if content.IsNil(p) {
		report(unsupportedPartLoss(nil))
		return nil
	}
	switch p := p.(type) {
	case *content.Text:
		return toResponseText(p, report)
	case *content.Thinking:
		return toResponseThinking(p, report)
	case *content.ToolUse:
		return toResponseToolUse(p, report)
	case *content.Image, *content.Document, *content.Media:
		return toResponseFile(p, report)
	case *content.ServerToolUse:
		if p.Format == Format {
			return checkWritable(withoutHints(p, report), report)
		}
	case *content.ServerToolResult:
		if p.Format == Format {
			return checkWritable(withoutHints(p, report), report)
		}
	case *content.Unknown:
		if p.Format == Format {
			return checkWritable(p, report)
		}
	}
	report(unsupportedPartLoss(p))
	return nil
}

// checkWritable returns p if the encoder can write it, and nil otherwise.
func checkWritable(p content.Part, report lossFunc) content.Part {
	var w jsonwire.Writer
	e := newEncoder(&w)
	e.part(p)
	if e.Violations.Len() > 0 {
		report(lossInvalidPart)
		return nil
	}
	return p
}

// toResponseText returns p itself if it has only text, and nil if it is empty.
func toResponseText(p *content.Text, report lossFunc) content.Part {
	if p.Cache == nil && p.Extra == nil && p.Signature == (content.Signature{}) && len(p.Citations) == 0 {
		if p.Text == "" {
			return nil
		}
		return p
	}
	c := *p
	dropHints(&c, report)
	c.Citations = nil // in groundingMetadata
	if c.Text == "" && c.Extra == nil && c.Signature.Data == "" {
		return nil
	}
	return &c
}

// toResponseThinking returns nil if the thinking is empty. The caller carries signatures
// of other formats.
func toResponseThinking(p *content.Thinking, report lossFunc) content.Part {
	if p.Redacted.Data != "" {
		if !isForeign(p.Redacted) {
			report(envelope.UnknownFormat)
		}
		return nil
	}
	c := *p
	c.Redacted = content.Signature{} // it has a format but no data
	visibleOnly(&c, report)
	if c.Text == "" && c.Extra == nil && c.Signature.Data == "" {
		return nil
	}
	return &c
}

// toResponseToolUse returns a copy of the tool call, or nil if it is broken; see
// [isBrokenCall].
func toResponseToolUse(p *content.ToolUse, report lossFunc) content.Part {
	c := *p
	dropHints(&c, report)
	input, ok := codec.Arguments(p.Input)
	switch {
	case p.Name == "":
		report(lossCallName)
		return nil
	case !ok:
		report(lossCallArguments)
		return nil
	}
	if c.Input = input; input == "" {
		c.Input = "{}"
	}
	return &c
}

// isBrokenCall reports whether r is the loss of a tool call without a name or with
// arguments that are not an object.
func isBrokenCall(r *loss.Rule) bool { return r == lossCallName || r == lossCallArguments }

// toResponseFile returns a copy of a file, of a document without its title. It returns
// nil if the file was dropped.
func toResponseFile(p content.Part, report lossFunc) content.Part {
	p = withoutHints(p, report)
	if d, ok := p.(*content.Document); ok && (d.Title != "" || d.Context != "" || d.Citations) {
		d.Title, d.Context, d.Citations = "", "", false
		report(lossResponseDocumentTitle)
	}
	source := partfield.Of(p).Source
	if *source = toResponseSource(*source, report); *source == nil {
		return nil
	}
	return checkWritable(p, report)
}

// withoutHints returns a copy of p without what dropHints drops.
func withoutHints(p content.Part, report lossFunc) content.Part {
	p = partfield.Copy(p)
	dropHints(p, report)
	return p
}

// toResponseSource returns a source that clients accept, or nil. Data is standard base64
// with a media type.
func toResponseSource(s content.Source, report lossFunc) content.Source {
	switch s := s.(type) {
	case *content.Base64:
		if s == nil {
			break
		}
		return toResponseData(s, report)
	case *content.PlainText:
		if s != nil {
			return s
		}
	case *content.URL:
		if s != nil && s.URL != "" {
			return s
		}
	case *content.File:
		if s != nil && strings.Contains(s.ID, "://") {
			return s
		}
	}
	report(lossFileSource)
	return nil
}

// toResponseData normalizes base64 data. It returns nil if the data is invalid.
func toResponseData(s *content.Base64, report lossFunc) content.Source {
	c := *s
	if c.Extra != nil && (c.Extra.Format != Format || !jsonwire.ValidObject(c.Extra.JSON)) {
		codec.UnsupportedOfPart(c.Extra, report)
		c.Extra = nil
	}
	if jsonwire.CheckBase64(c.Data) != 0 {
		if jsonwire.CheckLenientBase64(c.Data) != 0 {
			report(lossFileData)
			return nil
		}
		c.Data = standardBase64(c.Data)
	}
	if c.MediaType == "" {
		c.MediaType = media.File{Data: c.Data}.Detect()
		if c.MediaType == "" {
			report(lossFileType)
			return nil
		}
		report(lossFileTypeDetected)
	}
	return &c
}

// dropHints drops the cache mark of p, and the extra members and signature that clients
// cannot receive.
func dropHints(p content.Part, report lossFunc) {
	f := partfield.Of(p)
	if f.Cache != nil && *f.Cache != nil {
		*f.Cache = nil
		report(lossResponseCacheMark)
	}
	if x := *f.Extra; x != nil && (x.Format != Format || !jsonwire.ValidObject(x.JSON)) {
		codec.UnsupportedOfPart(x, report)
		*f.Extra = nil
	}
	*f.Signature = toResponseSignature(*f.Signature, report)
}

// toResponseSignature converts a signature. A signature of another format is encoded as an
// envelope.
func toResponseSignature(sig content.Signature, report lossFunc) content.Signature {
	switch {
	case sig.Data == "":
	case isForeign(sig):
		return encodeSignature(sig, report)
	case sig.Format != Format:
		report(envelope.UnknownFormat)
	case jsonwire.CheckBase64(sig.Data) == 0:
		return sig
	case jsonwire.CheckLenientBase64(sig.Data) == 0:
		sig.Data = standardBase64(sig.Data)
		return sig
	default:
		report(lossSignatureData)
	}
	return content.Signature{}
}

// appendMembers appends the members of x, except those of text parts.
func appendMembers(dst []byte, scratch *jsonwire.Writer, x *content.Extra) []byte {
	if x == nil || x.Format != Format {
		return dst
	}
	scratch.Reset()
	scratch.BeginObject()
	_ = scratch.MembersExcept(x.JSON, isTextMember) // invalid JSON has no members
	scratch.EndObject()
	if b := scratch.Bytes(); len(b) > len("{}") {
		from := len(dst)
		dst = appendOneLine(dst, b)
		dst[from] = ','
		dst = dst[:len(dst)-1]
	}
	return dst
}

// isTextMember reports whether a text part has a field for the member or cannot have it.
var isTextMember = textPart.Holds

// appendOneLine appends JSON without line breaks.
func appendOneLine(dst, json []byte) []byte {
	for _, c := range json {
		if c == '\n' || c == '\r' {
			return jsonwire.AppendCompact(dst, string(json))
		}
	}
	return append(dst, json...)
}

const finishReasonStop = "STOP"

// An ending is the stop of a candidate with the facts that affect its finishReason.
type ending struct {
	stop   upstream.Stop
	calls  int  // tool calls
	broken bool // a tool call was dropped
}

// isMissingCalls reports whether the stop reason is tool_use but the candidate has no tool
// calls. It returns false for a vendor's own finishReason.
func (e *ending) isMissingCalls() bool {
	return e.stop.Reason == content.StopToolUse && e.calls == 0 && (e.stop.Format != Format || e.stop.RawReason == "")
}

// finishReason returns the finishReason and finishMessage. A finishReason of the vendor is
// returned unchanged. Other reasons are converted as follows:
//
//	end             STOP
//	tool_use        STOP
//	stop_sequence   STOP
//	max_tokens      MAX_TOKENS
//	context_window  MAX_TOKENS, with a default message
//	refusal         SAFETY, with a default message
//	safety          SAFETY
//	recitation      RECITATION
//	malformed_call  MALFORMED_FUNCTION_CALL
//	pause           OTHER, with a default message
//	compaction      OTHER, with a default message
//	anything else   OTHER
//
// The first three become MALFORMED_FUNCTION_CALL if a broken tool call was dropped, or if
// tool_use has no tool call. A tool call that was cut is not broken: then the reason is
// that of the cut.
func (e *ending) finishReason(report func(r *loss.Rule)) (reason, message string) {
	s := &e.stop
	if s.Format != Format && codec.HasMoreThan(s, s.Message) {
		report(lossStopDetails)
	}
	if s.Sequence != "" {
		report(lossStopSequence)
	}
	message = e.message()
	if s.Format == Format && s.RawReason != "" {
		if e.broken && s.RawReason == finishReasonStop {
			return toFinishReason(content.StopMalformedCall)
		}
		return s.RawReason, message
	}
	neutral := s.Reason
	if e.broken || e.isMissingCalls() {
		switch neutral {
		case "", content.StopEnd, content.StopToolUse, content.StopSequence:
			neutral = content.StopMalformedCall
		}
	}
	reason, defaultMessage := toFinishReason(neutral)
	if message == "" {
		message = defaultMessage
	}
	switch neutral {
	case content.StopContext, content.StopRefusal:
		report(lossStopReasonNearest)
	default:
		if reason == "OTHER" {
			report(lossStopReason)
		}
	}
	return reason, message
}

// toFinishReason returns the finishReason for a neutral reason, and a default message.
func toFinishReason(r content.StopReason) (reason, message string) {
	switch r {
	case "", content.StopEnd, content.StopToolUse, content.StopSequence:
		return finishReasonStop, ""
	case content.StopMaxTokens:
		return "MAX_TOKENS", ""
	case content.StopContext:
		return "MAX_TOKENS", "The context of the model is full."
	case content.StopRefusal:
		return "SAFETY", "The model declined to answer."
	case content.StopSafety:
		return "SAFETY", ""
	case content.StopRecitation:
		return "RECITATION", ""
	case content.StopMalformedCall:
		return "MALFORMED_FUNCTION_CALL", "The model wrote a function call that cannot be read."
	case content.StopPause:
		return "OTHER", "The model paused in a long turn."
	case content.StopCompaction:
		return "OTHER", "The response is a summary of the conversation."
	}
	return "OTHER", ""
}

// message returns the vendor's finishMessage, or "".
func (e *ending) message() string {
	s := &e.stop
	if s.Message != "" {
		return s.Message
	}
	if s.Format == Format {
		if v := gjson.Get(s.Details, "finishMessage"); v.Exists() {
			return v.Str
		}
	}
	if s.Extra != nil && s.Extra.Format == Format {
		return gjson.Get(s.Extra.JSON, "finishMessage").Str
	}
	return ""
}

// hasUsage reports whether u has any counts or members.
func hasUsage(u *content.Usage) bool {
	return u.Prompt() != 0 || u.Completion() != 0 || len(u.Modalities) > 0 || u.Extra != nil
}

// appendUsage appends usageMetadata. The count of the prompt includes tokens read from and
// written to caches. The count of the candidates does not include thinking. Like the
// vendor, it omits optional counts that are zero.
func appendUsage(dst []byte, u *content.Usage) []byte {
	dst = appendCount(dst, `{"promptTokenCount":`, u.Prompt()-u.ToolPrompt, true)
	dst = appendCount(dst, `,"cachedContentTokenCount":`, u.CacheRead, false)
	dst = appendCount(dst, `,"candidatesTokenCount":`, u.Output, true)
	dst = appendCount(dst, `,"thoughtsTokenCount":`, u.Thinking, false)
	dst = appendCount(dst, `,"toolUsePromptTokenCount":`, u.ToolPrompt, false)
	dst = appendCount(dst, `,"totalTokenCount":`, u.Prompt()+u.Completion(), true)
	for i := range modalityLists {
		dst = appendModalities(dst, u.Modalities, modalityLists[i].of, modalityLists[i].name)
	}
	var more response.Members
	more.Add(u.Extra, Format)
	if tier := codec.Tier(u.Extra); tier != "" && more.Get("serviceTier") == "" {
		more.Set("serviceTier", `"`+tier+`"`)
	}
	for _, m := range more {
		if !usageType.Holds(m.Name) {
			dst = append(jsonwire.AppendString(append(dst, ','), m.Name), ':')
			dst = jsonwire.AppendCompact(dst, m.JSON)
		}
	}
	return append(dst, '}')
}

// appendCount appends a count unless it is zero and always is false.
func appendCount(dst []byte, name string, n int64, always bool) []byte {
	if n == 0 && !always {
		return dst
	}
	return jsonwire.AppendInt(append(dst, name...), n)
}

// appendModalities appends a member with the counts of a kind.
func appendModalities(dst []byte, counts []content.ModalityCount, of, name string) []byte {
	some := false
	for i := range counts {
		c := &counts[i]
		if c.Kind != of {
			continue
		}
		if some {
			dst = append(dst, ',')
		} else {
			dst = append(append(append(dst, `,"`...), name...), `":[`...)
		}
		some = true
		dst = jsonwire.AppendString(append(dst, `{"modality":`...), strings.ToUpper(c.Modality))
		dst = append(jsonwire.AppendInt(append(dst, `,"tokenCount":`...), c.Tokens), '}')
	}
	if some {
		dst = append(dst, ']')
	}
	return dst
}
