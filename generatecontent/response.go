package generatecontent

import (
	"cmp"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/media"
	"github.com/polywire/polywire/internal/partfield"
	"github.com/polywire/polywire/internal/response"
	"github.com/polywire/polywire/upstream"
)

// A writtenResponse is the body of a response that is not streamed. Empty members are omitted
// from the JSON, as the vendor does.
type writtenResponse struct {
	// Candidates usually has one element. It is empty if the prompt was blocked.
	Candidates []writtenCandidate

	PromptFeedback string // JSON of an object, or empty

	// Usage counts each token once. The totals in usageMetadata are sums of its fields.
	Usage content.Usage

	ModelVersion string // the model that generated the response
	ResponseID   string

	Extra *content.Extra
}

// A writtenCandidate is one of the alternatives in a response.
type writtenCandidate struct {
	// Parts is the content of the candidate. JSON in it must be valid.
	Parts []content.Part

	FinishReason  string // such as STOP or MAX_TOKENS
	FinishMessage string // a message for people
	Index         int

	// Extra holds the other members, such as "groundingMetadata".
	Extra *content.Extra
}

// convertResponse converts a response for a client with an expectation, and returns the losses, with
// neutral paths. It does not change r; the result may share its parts, and has no ResponseID and
// ModelVersion if r has none. A nil r is an empty response.
//
// The members promptFeedback, modelStatus, createTime and turnToken of r.Extra become
// members of the response, and all others become members of the first candidate. If
// promptFeedback has a blockReason and r has no parts, the response has no candidates.
func convertResponse(r *upstream.Response, client expectation) (*writtenResponse, []content.Loss) {
	if r == nil {
		r = new(upstream.Response)
	}
	w := new(wholeResponse)
	s := &w.blocks
	all := append([]upstream.Candidate{{Parts: r.Parts, Stop: r.Stop, Extra: r.Extra}}, r.MoreCandidates...)
	s.init(w, nil, w, len(all))
	s.Start, s.Usage, s.Own, s.expectation = r.Start, r.Usage, r.Stop.Format == Format, client
	s.reportForeign(s.members.Add(r.Start.Extra, Format), r.Start.Extra, "")
	some := false
	for i := range all {
		k := s.Candidate(i)
		w.list = append(w.list, writtenCandidate{})
		some = some || len(all[i].Parts) > 0
		s.Room = envelope.MaxSize
		s.Parts(i, all[i].Parts)
		s.FinishLastCall(k, all[i].Stop.Reason)
		s.carryState(k)
		s.DropUnsigned(k, s.hidesThinking())
		s.dropHidden(k)
		s.addMembers(all[i].Extra, k)
		s.Candidates[k].Stop = all[i].Stop
		s.takeFeedback(&all[i].Stop)
	}
	res := &writtenResponse{PromptFeedback: s.members.Take("promptFeedback")}
	if some || !isBlocked(res.PromptFeedback) {
		for k := range w.list {
			s.endCandidate(k, &w.list[k])
		}
		res.Candidates = w.list
	}
	s.endResponse(res)
	return res, s.Losses()
}

// A wholeResponse collects the parts of a response that is not streamed.
type wholeResponse struct {
	blocks responseEncoder
	list   []writtenCandidate
}

// OpenBlock implements [response.Format]. Blocks are complete when they open.
func (w *wholeResponse) OpenBlock(b *sentBlock, _ []upstream.Event) response.When {
	switch p := b.Part.(type) {
	case *content.Text:
		if p.Extra != nil {
			c := *p
			c.Extra = w.blocks.takeLogprobs(b.Candidate, c.Extra)
			b.Part = &c
		}
	case *content.Thinking:
		received := w.blocks.openThinking(b, p)
		w.blocks.State(b).AppendText(b.Number, p.Text, &w.blocks.Room)
		if !received {
			return response.Never
		}
	case *content.ToolUse: // a copy
		dropHints(p, w.blocks.LossesOf(b))
	}
	return response.AtEnd
}

// EndBlock implements [response.Format].
func (w *wholeResponse) EndBlock(b *sentBlock, _ string) {
	w.blocks.endPart(b)
	t, ok := b.Part.(*content.Text)
	if ok && len(t.Citations) > 0 {
		at := segment{len(w.list[b.Candidate].Parts) - 1, 0, encodedLen(t.Text)}
		w.blocks.candidate(b.Candidate).grounding.addCitations(t.Citations, at, t.Text, oncePerRule(w.blocks.LossesOf(b)))
	}
}

// addPart implements [partWriter].
func (w *wholeResponse) addPart(b *sentBlock, p content.Part) {
	w.list[b.Candidate].Parts = append(w.list[b.Candidate].Parts, p)
}

// carry implements [partWriter]. It attaches the state to the last text, as the vendor signs
// responses. If the last part is not a text, or is signed, it appends an empty text. It avoids
// empty texts, because some clients drop a turn with an empty text from their history.
func (w *wholeResponse) carry(k int, sig content.Signature) {
	list := w.list[k].Parts
	i := len(list) - 1
	for i >= 0 && isThinking(list[i]) {
		i--
	}
	if i >= 0 {
		if t, ok := list[i].(*content.Text); ok && t.Signature.Data == "" {
			signed := *t
			signed.Signature = sig
			list[i] = &signed
			return
		}
	}
	w.list[k].Parts = append(list, &content.Text{Signature: sig})
}

// AddLogprobs implements [response.LogprobFormat].
func (w *wholeResponse) AddLogprobs(k int, list []foreign.Logprob) {
	w.blocks.candidate(k).logprobs.add(list)
}

// The parts of a whole response have no other events.
func (w *wholeResponse) WriteText(*sentBlock, string, *upstream.Event) {}
func (w *wholeResponse) Cite(*sentBlock, *upstream.Event)              {}
func (w *wholeResponse) CloseBlock(*sentBlock) (later bool)            { return false }
func (w *wholeResponse) Forget(b *sentBlock)                           { w.blocks.forget(b) }
func (w *wholeResponse) Sign(*sentBlock, content.Signature, bool)      {}
func (w *wholeResponse) BeginBlock(*sentBlock)                         {}

func isThinking(p content.Part) bool {
	_, ok := p.(*content.Thinking)
	return ok
}

// isBlocked reports whether promptFeedback has a blockReason.
func isBlocked(feedback string) bool { return gjson.Get(feedback, "blockReason").Str != "" }

// write writes the response to w.
func (r *writtenResponse) write(w *jsonwire.Writer) error {
	e := newEncoder(w)
	w.BeginObject()
	if len(r.Candidates) > 0 {
		e.List("candidates", len(r.Candidates), func(i int) { e.candidate(&r.Candidates[i]) })
	}
	if r.PromptFeedback != "" {
		e.Raw("promptFeedback", r.PromptFeedback)
	}
	if hasUsage(&r.Usage) {
		w.RawMember("usageMetadata", string(appendUsage(nil, &r.Usage)))
	}
	e.W.OptMember("modelVersion", r.ModelVersion)
	e.W.OptMember("responseId", r.ResponseID)
	e.Encoder.Extra(r.Extra, Format, isResponseMember)
	w.EndObject()
	return e.Violations.Err()
}

// candidate writes a candidate.
func (e *encoder) candidate(c *writtenCandidate) {
	e.W.BeginObject()
	e.Begin("content")
	e.parts("parts", c.Parts)
	e.W.Member("role", "model")
	e.End()
	e.W.OptMember("finishReason", c.FinishReason)
	e.W.OptMember("finishMessage", c.FinishMessage)
	e.W.IntMember("index", int64(c.Index))
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
	switch p := p.(type) { // other kinds are not in responses
	case *content.Text:
		return toResponseText(p, report)
	case *content.Thinking:
		return toResponseThinking(p, report)
	case *content.ToolUse: // without what dropHints drops
		return p
	case *content.Image, *content.Document, *content.Media:
		return toResponseFile(p, report)
	case *content.ServerToolUse:
		if p.Format == Format {
			return returnable(withoutHints(p, report), report)
		}
	case *content.ServerToolResult:
		if p.Format == Format {
			return returnable(withoutHints(p, report), report)
		}
	case *content.Unknown:
		if p.Format == Format {
			return returnable(p, report)
		}
	}
	report(unsupportedPartLoss(p))
	return nil
}

// encodedPart returns the JSON of p, and whether the encoder can write it.
func encodedPart(p content.Part) (json string, ok bool) {
	var w jsonwire.Writer
	e := newEncoder(&w)
	e.part(p)
	return w.Text(), e.Violations.Len() == 0
}

// returnable returns p if the encoder can write it and the handler accepts it in the next
// request, to which clients add the response. Otherwise it returns nil.
func returnable(p content.Part, report lossFunc) content.Part {
	if json, ok := encodedPart(p); ok {
		r, err := readRequest(`{"contents":[{"role":"user","parts":[{"text":"a"}]},{"role":"model","parts":[`+json+`]}]}`, "", nil)
		if err == nil && !codec.IsModelPart(r.Contents[1].Parts[0]) {
			return p
		}
	}
	report(lossInvalidPart)
	return nil
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
	if _, ok := encodedPart(p); !ok {
		report(lossInvalidPart)
		return nil
	}
	return p
}

// withoutHints returns a copy of p without what dropHints drops.
func withoutHints(p content.Part, report lossFunc) content.Part {
	p, _ = partfield.Copy(p)
	dropHints(p, report)
	return p
}

// toResponseSource returns a source that clients accept, or nil. Data is standard base64
// with a media type.
func toResponseSource(s content.Source, report lossFunc) content.Source {
	switch s := s.(type) { // other kinds have no wire form
	case *content.Base64:
		if s == nil {
			break
		}
		return toResponseData(s, report)
	case *content.PlainText:
		switch {
		case s == nil:
		case s.Text == "":
			report(lossFileData)
			return nil
		default:
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
		foreign.ResponseMembersOfPart(c.Extra, report)
		c.Extra = nil
	}
	if c.Data == "" {
		report(lossFileData)
		return nil
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
		foreign.ResponseMembersOfPart(x, report)
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

// isMissingCalls reports whether the stop reason is tool_use but the candidate has no tool
// calls. It returns false for a vendor's own finishReason.
func isMissingCalls(c *response.Candidate) bool {
	return c.Stop.Reason == content.StopToolUse && c.Calls == 0 && (c.Stop.Format != Format || c.Stop.RawReason == "")
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
func finishReason(c *response.Candidate, report lossFunc) (reason, message string) {
	s := &c.Stop
	if s.Format != Format && codec.HasMoreThan(s, s.Message) {
		report(response.LossStopDetails)
	}
	if s.Sequence != "" {
		report(lossStopSequence)
	}
	message = finishMessage(s)
	if s.Format == Format && s.RawReason != "" {
		if c.Broken && s.RawReason == finishReasonStop {
			return toFinishReason(content.StopMalformedCall)
		}
		return s.RawReason, message
	}
	neutral := s.Reason
	if c.Broken || isMissingCalls(c) {
		switch neutral {
		case "", content.StopEnd, content.StopToolUse, content.StopSequence:
			neutral = content.StopMalformedCall
		}
	}
	reason, defaultMessage := toFinishReason(neutral)
	message = cmp.Or(message, defaultMessage)
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

// finishMessage returns the vendor's finishMessage, or "".
func finishMessage(s *upstream.Stop) string {
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
	dst = appendCount(dst, `,"candidatesTokenCount":`, u.Output, false)
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
			dst = codec.AppendNext(dst, m.Name, m.JSON)
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
