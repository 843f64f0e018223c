package messages

import (
	"cmp"
	"slices"
	"unicode/utf8"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/object"
	"github.com/polywire/polywire/internal/response"
	"github.com/polywire/polywire/upstream"
)

// A writtenResponse is the body of a response that is not streamed. The constant members "type"
// and "role" have no field.
type writtenResponse struct {
	ID    string
	Model string // that generated the response

	// Content holds the blocks of the response. JSON text in it must be valid.
	Content []content.Part

	StopReason   string // a value of the wire; empty: null
	StopSequence string // empty: null
	StopDetails  string // JSON text of an object; empty: null
	Container    string // JSON text of an object; empty: absent
	Diagnostics  string // JSON text of an object; empty: absent

	// Usage counts each token once. The totals in the document are sums of its fields.
	Usage content.Usage

	Extra *content.Extra
}

// convertResponse converts a response to the conversation in turns, and returns the losses, with
// neutral paths. Ids that it makes differ from those in turns; where defines where state is
// carried. It does not change r; the result may share its parts, and has no ID and Model if r has
// none. A nil r is an empty response.
func convertResponse(r *upstream.Response, turns []content.Turn, where placement) (*writtenResponse, []content.Loss) {
	if r == nil {
		r = new(upstream.Response)
	}
	w := &wholeResponse{list: make([]content.Part, 0, len(r.Parts))}
	s := &w.blocks
	s.init(w, nil, turns)
	s.placement = where
	s.Start, s.Usage, s.Own = r.Start, r.Usage, r.Stop.Format == Format
	s.Candidates[0].Stop = r.Stop
	s.addMembers(r.Extra)
	s.Parts(0, r.Parts)
	if len(r.MoreCandidates) > 0 {
		s.LoseAt("candidates", lossResponseCandidates)
	}
	s.finish()
	info := s.info()
	res := info.toResponse(s.LoseAt)
	res.Content = w.list
	return res, s.Losses()
}

// A wholeResponse collects the blocks of a response that is not streamed.
type wholeResponse struct {
	blocks responseEncoder
	list   []content.Part
}

func (w *wholeResponse) startMessage() {}

func (w *wholeResponse) startBlock(_ *sentBlock, p content.Part) { w.list = append(w.list, p) }

func (w *wholeResponse) stopBlock(*sentBlock) {}

// writeText sets the arguments of a tool call. Other parts have their text at the start.
func (w *wholeResponse) writeText(b *sentBlock, text string, _ *content.Extra) {
	switch p := w.list[b.State.out].(type) {
	case *content.ToolUse: // a copy
		p.Input = text
	case *content.ServerToolUse: // a copy
		p.Input = text
	}
}

func (w *wholeResponse) writeCitation(*sentBlock, *content.Citation, *content.Extra) {}

// writeSignature sets the signature of thinking.
func (w *wholeResponse) writeSignature(b *sentBlock, data string) {
	t := w.list[b.State.out].(*content.Thinking) // a copy
	t.Signature = content.Signature{Format: Format, Data: data}
}

// write writes the members that the vendor writes: stop_sequence and stop_details are null if they
// are unknown, others absent. omits is that of [writeUsage].
func (r *writtenResponse) write(w *jsonwire.Writer, omits func(name, json string) bool) {
	w.BeginObject()
	w.Member("id", r.ID)
	w.Member("type", "message")
	w.Member("role", "assistant")
	w.Member("model", r.Model)
	w.Array("content")
	for _, p := range r.Content {
		writeBlock(w, p, false)
	}
	w.EndArray()
	r.writeStop(w)
	w.OptRawMember("container", r.Container)
	w.OptRawMember("diagnostics", r.Diagnostics)
	w.Name("usage")
	writeUsage(w, &r.Usage, omits)
	if r.Extra != nil && r.Extra.Format == Format {
		_ = w.MembersExcept(r.Extra.JSON, isMessageMember)
	}
	w.EndObject()
}

func (r *writtenResponse) writeStop(w *jsonwire.Writer) {
	w.NullableMember("stop_reason", r.StopReason)
	w.NullableMember("stop_sequence", r.StopSequence)
	w.RawMember("stop_details", cmp.Or(r.StopDetails, "null"))
}

// A responseInfo collects everything about a response except its blocks.
type responseInfo struct {
	start   upstream.Start
	stop    upstream.Stop
	usage   content.Usage
	members response.Members // members without a field

	sources  foreign.Sources
	searches int  // of a server of another format
	calls    int  // number of tool call blocks
	broken   bool // a tool call is incomplete, whether or not it was dropped
}

// toResponse returns the response without its blocks.
func (a *responseInfo) toResponse(report func(path string, r *loss.Rule)) *writtenResponse {
	r := &writtenResponse{ID: a.start.ID, Model: a.start.Model, Usage: a.usage}
	r.StopReason, r.StopSequence, r.StopDetails = a.stopFields(report)
	if codec.HasCounts(a.usage.Extra, Format) || slices.ContainsFunc(a.usage.Modalities, isSeparateCount) { // one pass
		report("usage", lossCounts)
	}
	if a.searches > 0 {
		r.Usage.Extra = searchCount(a.searches)
	}
	for path, r := range a.sources.Lost() {
		report(path, r)
	}
	var m response.Members
	for _, x := range [...]*content.Extra{a.start.Extra, a.members.Extra(Format), a.stop.Extra} {
		if m.Add(x, Format) {
			reportMembers(x, report)
		}
	}
	r.Container, r.Diagnostics = m.Take("container"), m.Take("diagnostics")
	r.Extra = extraMembers(m)
	return r
}

// reportMembers reports the members of another format.
func reportMembers(x *content.Extra, report func(path string, r *loss.Rule)) {
	for path, r := range foreign.ResponseMembers(x, "") {
		report(path, r)
	}
}

// extraMembers returns the members without a field.
func extraMembers(m response.Members) *content.Extra {
	return slices.DeleteFunc(m, func(x response.Member) bool { return isMessageMember(x.Name) }).Extra(Format)
}

// isSeparateCount reports whether m adds to the total. A count of text usually
// repeats the total.
func isSeparateCount(m content.ModalityCount) bool { return m.Tokens != 0 && m.Modality != "text" }

// A lossFunc reports a loss of one part. The function has the path of the part.
type lossFunc func(r *loss.Rule)

// toBlock returns p as a block of a response, or nil if Messages cannot represent it. It
// changes copies only, and tool calls, which are copies.
func toBlock(p content.Part, report lossFunc) content.Part {
	if content.IsNil(p) {
		report(lossOfPart(nil))
		return nil
	}
	switch p := p.(type) { // other kinds are not in responses
	case *content.Text:
		return toTextBlock(p, report)
	case *content.Thinking:
		return toThinkingBlock(p, report)
	case *content.ToolUse:
		return toCallBlock(p, report)
	case *content.ServerToolUse:
		if p.Format != Format {
			break
		}
		dropHints(&p.Cache, &p.Extra, &p.Signature, report)
		p.Kind = cmp.Or(p.Kind, "server_tool_use")
		return returnable(p, report)
	case *content.ServerToolResult:
		if p.Format != Format || p.Kind == "" {
			break
		}
		if p.Content != "" && jsonwire.Valid(p.Content, jsonwire.Limits{}) != nil {
			report(lossServerResult)
			return nil
		}
		c := *p
		dropHints(&c.Cache, &c.Extra, &c.Signature, report)
		return returnable(&c, report)
	case *content.Unknown:
		if p.Format == Format && jsonwire.ValidObject(p.Raw) {
			return returnable(p, report)
		}
	}
	report(lossOfPart(p))
	return nil
}

// returnable returns p if the handler accepts its block in the next request, to which clients
// add the response, as a part of the same kind. Otherwise it returns nil. Parts of a host
// may have no id or name, or be a block of another kind.
func returnable(p content.Part, report lossFunc) content.Part {
	var w jsonwire.Writer
	writeBlock(&w, p, true)
	r, err := decodeRequest(`{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[`+w.Text()+`]}]}`, &defaultOptions, nil)
	if err == nil && !codec.IsModelPart(r.Messages[1].Parts[0]) {
		return p
	}
	report(lossUnreturnable)
	return nil
}

// toTextBlock returns p itself if it contains text only.
func toTextBlock(p *content.Text, report lossFunc) content.Part {
	if p.Cache == nil && p.Extra == nil && p.Signature == (content.Signature{}) && len(p.Citations) == 0 {
		return p
	}
	c := *p
	dropHints(&c.Cache, &c.Extra, &c.Signature, report)
	c.Citations = nil
	for i := range p.Citations {
		if acceptCitation(&p.Citations[i], report) {
			c.Citations = append(c.Citations, p.Citations[i])
		}
	}
	return &c
}

func toThinkingBlock(p *content.Thinking, report lossFunc) content.Part {
	c := *p
	var none content.Signature
	dropHints(nil, &c.Extra, &none, report)
	if p.Redacted.Data != "" {
		c.Signature = none
		if isOptional(p.Redacted) { // the vendor has no redacted thinking
			report(envelope.UnknownFormat)
			return nil
		}
		if isForeign(p.Redacted) {
			c.Redacted = content.Signature{Format: Format, Data: encodeEnvelope(p.Redacted, envelope.KindPart, report)}
		} else if p.Redacted.Format != Format {
			report(envelope.UnknownFormat)
			return nil
		}
		if c.Redacted.Data == "" {
			return nil
		}
		return &c
	}
	if isForeign(p.Signature) {
		c.Signature = content.Signature{Format: Format, Data: encodeEnvelope(p.Signature, envelope.KindPart, report)}
	} else if p.Signature.Format != Format {
		dropHints(nil, nil, &c.Signature, report)
	}
	return &c
}

// dropHints removes optional members that a response cannot contain, and reports them. The
// caller carries the signatures of other formats.
func dropHints(cache **content.Cache, extra **content.Extra, sig *content.Signature, report lossFunc) {
	if cache != nil && *cache != nil {
		*cache = nil
		report(lossResponseCache)
	}
	if extra != nil && *extra != nil && (*extra).Format != Format {
		foreign.ResponseMembersOfPart(*extra, report)
		*extra = nil
	}
	if sig != nil && sig.Data != "" && !isForeign(*sig) {
		report(envelope.UnknownFormat)
	}
	if sig != nil {
		*sig = content.Signature{}
	}
}

// toCallBlock changes and returns a tool call, which is a copy, or returns nil if it has no
// valid name. Clients would fail. Its arguments are checked when it is complete.
func toCallBlock(p *content.ToolUse, report lossFunc) content.Part {
	dropHints(&p.Cache, &p.Extra, &p.Signature, report)
	if p.Name == "" {
		report(response.LossCallName)
		return nil
	}
	if utf8.RuneCountInString(p.Name) > maxToolUseName { // no tool has such a name
		report(lossUnreturnable)
		return nil
	}
	return p
}

func acceptCitation(c *content.Citation, report lossFunc) bool {
	if citationFormOf("", c.Kind) != nil {
		if response.HasPlace(c) {
			report(response.LossCitedPlace)
		}
		if c.Extra != nil && c.Extra.Format != Format {
			report(foreign.ResponseLoss)
		}
		return true
	}
	if c.Kind == "" && c.Extra != nil && c.Extra.Format == Format && jsonwire.ValidObject(c.Extra.JSON) {
		return true // a kind that this version does not know
	}
	report(lossResponseCitation)
	return false
}

// writeBlock writes a block of a response. At the start of a streamed block it omits
// text, citations, arguments and the signature, which follow in deltas.
//
// Blocks of responses are not written by the tables of requests: they have members that
// requests omit, with a default, in another order, and empty at the start.
func writeBlock(w *jsonwire.Writer, p content.Part, start bool) {
	switch p := p.(type) { // other kinds are not in responses
	case *content.Unknown:
		w.Raw(p.Raw)
	case *content.Text:
		writeText(w, p, start)
	case *content.Thinking:
		writeThinking(w, p, start)
	case *content.ToolUse:
		writeCall(w, "tool_use", p.ID, p.Name, omitAtStart(start, p.Input), p.Extra)
	case *content.ServerToolUse:
		writeCall(w, p.Kind, p.ID, p.Name, omitAtStart(start, p.Input), p.Extra)
	case *content.ServerToolResult:
		beginBlock(w, p.Kind)
		w.Member("tool_use_id", p.ID)
		w.OptRawMember("content", p.Content)
		endBlock(w, p.Extra, serverToolResultType)
	}
}

func writeText(w *jsonwire.Writer, p *content.Text, start bool) {
	beginBlock(w, "text")
	w.Member("text", omitAtStart(start, p.Text))
	if !start && len(p.Citations) > 0 { // clients refuse null
		w.Array("citations")
		for i := range p.Citations {
			writeCitation(w, &p.Citations[i])
		}
		w.EndArray()
	}
	endBlock(w, p.Extra, textType)
}

func writeThinking(w *jsonwire.Writer, p *content.Thinking, start bool) {
	if p.Redacted.Data != "" {
		beginBlock(w, "redacted_thinking")
		w.Member("data", p.Redacted.Data)
		endBlock(w, p.Extra, redactedType)
		return
	}
	beginBlock(w, "thinking")
	w.Member("thinking", omitAtStart(start, p.Text))
	w.Member("signature", omitAtStart(start, p.Signature.Data))
	endBlock(w, p.Extra, thinkingBlockType)
}

func omitAtStart(start bool, s string) string {
	if start {
		return ""
	}
	return s
}

func writeCall(w *jsonwire.Writer, kind, id, name, input string, extra *content.Extra) {
	beginBlock(w, kind)
	w.Member("id", id)
	w.Member("name", name)
	w.Name("input")
	if input == "" {
		input = "{}" // exactly this spelling: clients accept no other at the start of a block
	}
	w.Raw(input)
	if _, ok := extra.Get("caller"); !ok && kind != "mcp_tool_use" {
		w.RawMember("caller", `{"type":"direct"}`)
	}
	endBlock(w, extra, toolUseType)
}

func beginBlock(w *jsonwire.Writer, kind string) {
	w.BeginObject()
	w.Member("type", kind)
}

func endBlock(w *jsonwire.Writer, extra *content.Extra, t *object.Type) {
	if extra != nil {
		_ = w.MembersExcept(extra.JSON, t.Holds) // text that is not valid JSON has no members
	}
	w.EndObject()
}

// writeCitation writes a citation that [acceptCitation] has accepted. Web citations always
// have a title and an encrypted_index, because clients require them.
func writeCitation(w *jsonwire.Writer, c *content.Citation) {
	f := citationFormOf("", c.Kind)
	if f == nil {
		w.Raw(c.Extra.JSON)
		return
	}
	beginBlock(w, f.tag)
	w.Member("cited_text", c.Text)
	if f.url != "" {
		w.Member(f.url, c.URL)
	}
	if f.file {
		writeIndex(w, f.index, c.Index)
	}
	if f.kind == content.CiteWeb {
		w.Member(f.title, cmp.Or(c.Title, c.URL))
	} else {
		w.NullableMember(f.title, c.Title)
	}
	switch {
	case !f.file:
		writeIndex(w, f.index, c.Index)
	case c.FileID != "":
		w.Member("file_id", c.FileID)
	}
	writeIndex(w, f.start, c.Start)
	writeIndex(w, f.end, c.End)
	extra := c.Extra
	if extra != nil && extra.Format != Format {
		extra = nil
	}
	if f.kind == content.CiteWeb {
		if _, ok := extra.Get("encrypted_index"); !ok {
			w.Member("encrypted_index", "")
		}
	}
	endBlock(w, extra, f.of)
}

func writeIndex(w *jsonwire.Writer, name string, n int64) {
	if name != "" {
		w.IntMember(name, n)
	}
}

// stopFields returns the members that state why the response ends. A stop reason of this
// format is kept. Others are converted as follows. Only the first two are ever sent
// as an ordinary end.
//
//	end             end_turn
//	tool_use        tool_use
//	max_tokens      max_tokens
//	stop_sequence   stop_sequence
//	context_window  model_context_window_exceeded
//	pause           pause_turn
//	refusal         refusal
//	safety          refusal, with an explanation if the vendor sent none
//	recitation      refusal, with an explanation if the vendor sent none
//	compaction      compaction
//	malformed_call  max_tokens
//	anything else   max_tokens
//
// Some clients accept only the values that the vendor defines. An ordinary end after a broken tool call
// becomes malformed_call; so does tool_use without a tool call. A tool call that was
// cut is not broken: the response keeps the reason that cut it.
func (a *responseInfo) stopFields(report func(path string, r *loss.Rule)) (wire, sequence, details string) {
	s := &a.stop
	sequence = s.Sequence
	if s.Format == Format {
		if jsonwire.ValidObject(s.Details) {
			details = s.Details
		}
		ordinary := s.Reason == content.StopToolUse || s.Reason == content.StopEnd
		if s.RawReason != "" && !(a.broken && ordinary) {
			return s.RawReason, sequence, details
		}
	}
	reason := s.Reason
	switch {
	case reason == "" && a.calls > 0:
		reason = content.StopToolUse
	case reason == "":
		reason = content.StopEnd
	}
	if a.broken && (reason == content.StopToolUse || reason == content.StopEnd) || reason == content.StopToolUse && a.calls == 0 {
		reason = content.StopMalformedCall
	}
	wire, reasonText := fromStopReason(reason)
	explanation := ""
	if wire == "refusal" && details == "" {
		explanation = s.Message
		details = refusalDetails(cmp.Or(explanation, reasonText))
	}
	if s.Format != Format && (s.Message != explanation || codec.HasMoreThan(s, explanation)) {
		report("stop", response.LossStopDetails)
	}
	if wire == "max_tokens" && reason != content.StopMaxTokens {
		report("stop", lossStopReason)
	}
	return wire, sequence, details
}

// stopReasons are the values of the wire for stop reasons, with an explanation for a reason that
// is not a refusal in the other format. Of several reasons with a value, it means the first. Other
// reasons are sent as max_tokens.
var stopReasons = [...]struct {
	reason            content.StopReason
	wire, explanation string
}{
	{content.StopEnd, "end_turn", ""},
	{content.StopToolUse, "tool_use", ""},
	{content.StopMaxTokens, "max_tokens", ""},
	{content.StopSequence, "stop_sequence", ""},
	{content.StopContext, "model_context_window_exceeded", ""},
	{content.StopPause, "pause_turn", ""},
	{content.StopRefusal, "refusal", ""},
	{content.StopSafety, "refusal", "A content filter stopped the response."},
	{content.StopRecitation, "refusal", "The response repeated protected text."},
	{content.StopCompaction, "compaction", ""},
}

// fromStopReason returns the wire value and the explanation of a stop reason.
func fromStopReason(r content.StopReason) (wire, explanation string) {
	for i := range stopReasons {
		if s := &stopReasons[i]; s.reason == r {
			return s.wire, s.explanation
		}
	}
	return "max_tokens", ""
}

func refusalDetails(explanation string) string {
	b := []byte(`{"type":"refusal","category":null,"explanation":`)
	if explanation == "" {
		return string(append(b, "null}"...))
	}
	return string(append(jsonwire.AppendString(b, explanation), '}'))
}

// writeUsage writes usage. omits reports members that are left out; nil means none.
func writeUsage(w *jsonwire.Writer, u *content.Usage, omits func(name, json string) bool) {
	var more response.Members
	more.Add(u.Extra, Format)
	if tier := codec.Tier(u.Extra); tier != "" && more.Get("service_tier") == "" {
		more.Set("service_tier", `"`+tier+`"`)
	}
	t := tokensOf(u)
	w.BeginObject()
	for i := range usageType.Fields() {
		f := &usageType.Fields()[i]
		switch rest := more.Take(f.Name); {
		case omits != nil && omits(f.Name, rest):
		case f.Kept():
			w.OptRawMember(f.Name, rest)
		case f.Value.Object != nil:
			w.Object(f.Name)
			for i := range f.Value.Object.Fields() {
				f := &f.Value.Object.Fields()[i]
				w.IntMember(f.Name, *f.At(t).(*int64))
			}
			if rest != "" {
				_ = w.MembersExcept(rest, f.Value.Object.Holds) // a part of a document that was parsed
			}
			w.EndObject()
		default:
			w.IntMember(f.Name, *f.At(t).(*int64))
		}
	}
	for _, m := range more {
		if omits == nil || !omits(m.Name, m.JSON) {
			w.RawMember(m.Name, m.JSON)
		}
	}
	w.EndObject()
}

// tokensOf returns usage as on the wire.
func tokensOf(u *content.Usage) *tokens {
	return &tokens{
		input: u.Input + u.ToolPrompt, read: u.CacheRead, output: u.Completion(), thinking: u.Thinking,
		write: u.CacheWrite + u.CacheWrite1h, write5m: u.CacheWrite, write1h: u.CacheWrite1h,
	}
}
