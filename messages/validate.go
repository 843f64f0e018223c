package messages

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/media"
	"github.com/polywire/polywire/internal/object"
	"github.com/polywire/polywire/internal/partfield"
	"github.com/polywire/polywire/internal/violation"
)

// Values of the header anthropic-version whose rules differ.
const (
	version2023 = "2023-06-01"
	version2026 = "2026-10-21"
)

// versions are those of the API.
var versions = []string{"2023-01-01", version2023, version2026}

// Betas that change what is valid.
const (
	betaFiles       = "files-api-2025-04-14"
	betaInterleaved = "interleaved-thinking-2025-05-14"
)

// ValidateOptions configures [Request.Validate] and [DecodeRequest]. A handler sets
// it from the HTTP headers and its [Options]. The zero value and nil mean the
// defaults.
type ValidateOptions struct {
	// Version is the header anthropic-version; empty means 2023-06-01. Only the
	// rules of 2026-10-21 differ: it does not have temperature, top_p and top_k,
	// documents in assistant messages outside of tool results, or citations in text
	// of user messages. Validate does not check that the version exists.
	Version string

	// Betas are the values of the header anthropic-beta. Validate uses two:
	// files-api-2025-04-14 allows file sources, which 2026-10-21 always allows (see
	// AllowFiles). interleaved-thinking-2025-05-14 lets budget_tokens exceed
	// max_tokens.
	Betas []string

	// AllowFiles allows file sources without their beta.
	AllowFiles bool

	// Strict applies the vendor's contract exactly. It refuses members, block types,
	// tool types and citation types that the format does not define. It refuses
	// undefined values of settings such as service_tier, speed, effort and ttl, and
	// tool call ids that do not match the vendor's patterns. It also refuses
	// thinking without a signature, unknown names in calls of the vendor's tools,
	// and document titles that are too long. In the body of count_tokens it refuses
	// members that only the body of messages may have.
	//
	// Strict also applies rules that are known only from reports of errors, or that
	// older models have:
	//
	//   - A tool result follows its tool call, a call has one result, and ids of open
	//     calls are unique.
	//   - A tool_choice needs tools, and names one of them. It does not force a call
	//     while thinking is enabled.
	//   - With thinking, temperature is 1, top_p at least 0.95, and top_k not set.
	//   - top_k and top_p are not -1, by which older clients mark them as not set.
	//   - Texts of users and system messages, and stop sequences, are not blank. The
	//     text that the model continues does not end in white space.
	//   - A cache_control with a ttl of 1h does not follow one of 5m.
	//
	// By default Validate accepts all of these. Clients may be newer than this
	// package, and may return content that other upstreams produced.
	Strict bool

	// Count applies the rules of count_tokens, which does not need max_tokens.
	Count bool

	// MediaTypes are additional media types that base64 documents may have. PDF is
	// always accepted, and text/plain unless Strict is set.
	MediaTypes []string

	// Limits bounds files and images. The defaults are 100 files of 32 MiB each
	// (decoded) and images of 8000 by 8000 pixels; ImagePixels has no default.
	// [DecodeRequest] also applies the limits of parsing.
	Limits content.Limits
}

// Validate returns an error that holds all violations of the request, or nil.
// [content.Violations] lists them. The violations that parsing found come first.
// Those of the vendor's rules follow in the order in which the vendor evaluates
// them: tools, system, messages, then the other settings. Paths and texts are the
// vendor's if they are known. Validate omits violations that follow from one that
// parsing found. Of some kinds of violations, such as empty texts, it reports only
// the first, as the vendor does.
//
// opts may be nil. Validate does not change the request, may be called by several
// goroutines, and does no I/O. Its time is linear in the size of the request. It
// decodes base64 data only for the headers of images.
//
// Validate does not check rules that depend on the model, the name of the model, or
// signatures. Without Strict it checks only the "type" of schemas. Members of a beta
// do not need the beta header, except file sources.
//
// In a constructed request, nil parts and sources are violations too. Validate encodes
// such a request, and also reports the violations of [Request.AppendJSON] or, if there
// are none, those that parsing the document finds. Of a parsed request whose fields were
// changed since, types, lengths and ranges are those of the document.
func (r *Request) Validate(opts *ValidateOptions) error {
	opts = cmp.Or(opts, &defaultOptions)
	var v validator
	v.r, v.opts, v.origin = r, opts, r.parsedOrigin()
	v.found = v.origin.found()
	v.requiredMembers()
	v.tools()
	v.system()
	v.messages()
	v.allBreakpoints()
	v.settings()
	return v.found.Merge(&v.violations, opts.Strict)
}

// defaultOptions replaces nil options. It is never changed.
var defaultOptions ValidateOptions

// parsedOrigin returns what parsing found in the document of the request, or, for a request made
// by hand, in the document that it encodes to.
func (r *Request) parsedOrigin() *origin {
	if r.origin != nil {
		return r.origin
	}
	var w jsonwire.Writer
	if err := r.write(&w); err != nil {
		return &origin{Origin: codec.Origin{Found: codec.Found{Violations: codec.NewParseViolations(err, codec.Dotted)}}}
	}
	parsed, _ := parseRequest(w.Text(), codec.UnlimitedRequest, nil)
	if parsed == nil {
		return nil
	}
	return parsed.origin
}

// A validator validates one request, in the order in which the vendor evaluates it:
// tools, system, messages, then rules that depend on them.
type validator struct {
	r          *Request
	opts       *ValidateOptions
	origin     *origin // what parsing found in the document of the request, or nil
	found      *codec.Found
	path       codec.Path
	violations violation.List

	once        [onceCount]bool
	breakpoints int  // number of cache_control members so far
	hasShortTTL bool // one of them had a ttl of 5 minutes

	nextBase64        int // the number of recorded texts before the next
	files             int
	citationsEnabled  bool                  // a document or search result enables citations
	firstSearchResult *content.SearchResult // whose citations all others must have
	addsTool          bool                  // a system message defines a tool

	doc *jsonwire.Doc // reused for each JSON text; allocated on first use
}

// Violations that are reported once for the whole request.
const (
	onceEmptyText = iota
	onceBlankText
	onceToolNames
	onceCount
)

// violation adds a violation at the current path, extended by names.
func (v *validator) violation(code content.Code, text string, names ...string) {
	if v.violations.Len() >= content.MaxViolations {
		v.violations.Add(code, "", "") // counted, not stored
		return
	}
	v.violations.Add(code, v.path.At(names...), text)
}

// violationAt adds a violation at path. It ignores the current path.
func (v *validator) violationAt(code content.Code, path, text string) {
	v.violations.Add(code, path, text)
}

// violationOnce is violationAt for a violation that is reported only once.
func (v *validator) violationOnce(which int, code content.Code, path, text string) {
	if !v.once[which] {
		v.once[which] = true
		v.violationAt(code, path, text)
	}
}

// isUnread reports whether parsing found, or may have found, a violation in a member of the
// object at the path. Its Go field is empty then.
func (v *validator) isUnread(name string) bool {
	o := v.origin
	return o != nil && o.Violations != nil && (o.Violations.Incomplete() || o.Violations.CoversPath(&v.path, name))
}

// require reports a required string that is empty. In a parsed request the member is
// present, or the parser has reported it.
func (v *validator) require(s string, names ...string) bool {
	if s == "" {
		v.violation(content.CodeRange, textNotEmpty, names...)
	}
	return s != ""
}

// atMost reports a string with more than n characters.
func (v *validator) atMost(s string, n int, names ...string) {
	if len(s) > n && utf8.RuneCountInString(s) > n {
		v.violation(content.CodeRange, textAtMost(n, "character"), names...)
	}
}

// oneOf reports a string that is not one of the known values, if Strict is set. An
// empty string means that the member is absent.
func (v *validator) oneOf(s string, known []string, names ...string) {
	if v.opts.Strict && s != "" && !slices.Contains(known, s) { // bounded by knownServerTools
		v.violation(content.CodeValue, textOneOf(known), names...)
	}
}

// hasBeta reports whether Betas contains name.
func (v *validator) hasBeta(name string) bool { return slices.Contains(v.opts.Betas, name) } // bounded by maxHeaderValues

// is2026 reports whether the rules of version 2026-10-21 apply.
func (v *validator) is2026() bool { return v.opts.Version == version2026 }

// textModelName is the error for the name of a model that is too long.
func textModelName(name string) string {
	return "String should have at most " + strconv.Itoa(codec.MaxModelName) + " bytes, not " + strconv.Itoa(len(name))
}

// requiredMembers validates the members that every request needs.
func (v *validator) requiredMembers() {
	r := v.r
	v.require(r.Model, "model")
	if len(r.Model) > codec.MaxModelName {
		v.violationAt(content.CodeLimit, "model", textModelName(r.Model))
	}
	switch {
	case r.MaxTokens == nil:
		if !v.opts.Count {
			v.violationAt(content.CodeMissing, "max_tokens", textRequired)
		}
	case *r.MaxTokens < 0:
		v.violationAt(content.CodeRange, "max_tokens", textAtLeast(0))
	case *r.MaxTokens == 0:
		v.prewarm()
	}
	switch n := len(r.Messages); {
	case n == 0 && !v.r.continues():
		v.violationAt(content.CodeRange, "messages", "at least one message is required")
	case n > maxMessages:
		v.violationAt(content.CodeLimit, "messages", textItems(maxMessages, n))
	}
}

// prewarm validates a request that only fills caches.
func (v *validator) prewarm() {
	r := v.r
	with := func(conflict bool, what string) {
		if conflict {
			v.violationAt(content.CodeConflict, "max_tokens", "`max_tokens` may not be 0 with "+what)
		}
	}
	with(r.Stream, "`stream`")
	with(r.Thinking != nil && r.Thinking.Type == "enabled", "`thinking.enabled`")
	with(r.format() != nil, "`output_config.format`")
	with(r.forcesToolUse(), "a `tool_choice` that forces tool use")
}

// format returns the format of output_config, or else output_format.
func (r *Request) format() *OutputFormat {
	if r.OutputConfig != nil && r.OutputConfig.Format != nil {
		return r.OutputConfig.Format
	}
	return r.OutputFormat
}

// forcesToolUse reports whether the tool choice forces a tool call.
func (r *Request) forcesToolUse() bool {
	return r.ToolChoice != nil && (r.ToolChoice.Type == "any" || r.ToolChoice.Type == "tool")
}

// settings validates the top level except tools, system and messages.
func (v *validator) settings() {
	r := v.r
	if m := r.Metadata; m != nil {
		v.atMost(m.UserID, 512, "metadata", "user_id")
	}
	for i, s := range r.StopSequences {
		if v.opts.Strict && isBlank(s) && !v.found.Repeats("stop_sequences."+strconv.Itoa(i)) {
			v.violationAt(content.CodeValue, "stop_sequences", "each stop sequence must contain non-whitespace")
			break
		}
	}
	v.sampling()
	v.toolChoice()
	v.thinking()
	v.outputConfig()
	if r.Extra != nil {
		v.exclusive("compaction", "context_management")
		v.exclusive("fallback_credit_token", "fallbacks")
	}
	if v.opts.Count && v.opts.Strict && !v.origin.isWhole() {
		v.countOnly()
	}
}

// exclusive reports a member that must not be given together with another.
func (v *validator) exclusive(name, other string) {
	if v.r.has(name) && v.r.has(other) {
		v.violationAt(content.CodeConflict, name, "`"+name+"` may not be given together with `"+other+"`")
	}
}

// countOnly reports members that count_tokens does not accept.
func (v *validator) countOnly() {
	r := v.r
	for _, m := range []struct {
		name string
		has  bool
	}{
		{"max_tokens", r.MaxTokens != nil}, {"stream", r.Stream}, {"metadata", r.Metadata != nil},
		{"stop_sequences", len(r.StopSequences) > 0}, {"temperature", r.Temperature != nil},
		{"top_p", r.TopP != nil}, {"top_k", r.TopK != nil}, {"service_tier", r.ServiceTier != ""},
		{"inference_geo", r.InferenceGeo != ""}, {"container", r.has("container")},
		{"diagnostics", r.has("diagnostics")}, {"thread", r.has("thread")}, {"fallbacks", r.has("fallbacks")},
		{"fallback_credit_token", r.has("fallback_credit_token")},
	} {
		if m.has {
			v.violationAt(content.CodeUnknown, m.name, textExtra)
		}
	}
}

func (v *validator) sampling() {
	r := v.r
	if v.is2026() {
		for _, m := range []struct {
			name string
			has  bool
		}{{"temperature", r.Temperature != nil}, {"top_p", r.TopP != nil}, {"top_k", r.TopK != nil}} {
			if m.has {
				v.violationAt(content.CodeUnknown, m.name, textExtra)
			}
		}
		return
	}
	strict := v.opts.Strict
	v.fraction(r.Temperature, "temperature")
	if strict || isSet(r.TopP) {
		v.fraction(r.TopP, "top_p")
	}
	if k := r.TopK; k != nil && *k < 0 && (strict || isSet(k)) {
		v.violationAt(content.CodeRange, "top_k", textAtLeast(0))
	}
	if t := r.Thinking; !strict || t == nil || t.Type != "enabled" && t.Type != "adaptive" {
		return
	}
	if t := r.Temperature; t != nil && *t != 1 {
		v.violationAt(content.CodeConflict, "", "`temperature` may only be set to 1 when thinking is enabled or in adaptive mode")
	}
	if p := r.TopP; isSet(p) && !(*p >= 0.95) { // older models accept such values
		v.violationAt(content.CodeConflict, "", "`top_p` must be unset when thinking is enabled.")
	}
	if isSet(r.TopK) {
		v.violationAt(content.CodeConflict, "", "`top_k` must be unset when thinking is enabled.")
	}
}

// fraction validates a number from 0 to 1.
func (v *validator) fraction(f *float64, name string) {
	switch {
	case f == nil:
	case math.IsNaN(*f), math.IsInf(*f, 0):
		v.violationAt(content.CodeRange, name, textFinite)
	case *f < 0:
		v.violationAt(content.CodeRange, name, textAtLeast(0))
	case *f > 1:
		v.violationAt(content.CodeRange, name, textUpTo(1))
	}
}

func (v *validator) toolChoice() {
	c := v.r.ToolChoice
	if c == nil {
		return
	}
	v.path.Push("tool_choice")
	defer v.path.Truncate(0)
	if !v.unionTag(c.Type, choiceTypes) {
		return
	}
	v.path.Push(c.Type)
	switch {
	case c.Type == "tool":
		if v.require(c.Name, "name") && v.opts.Strict && v.hasTools("") && !v.hasTools(c.Name) {
			v.violation(content.CodeValue, "Tool '"+codec.Clip(c.Name)+"' not found in provided tools", "name")
		}
	case c.Name != "":
		v.violation(content.CodeUnknown, textExtra, "name")
	}
	if c.Type == "none" && c.DisableParallelToolUse {
		v.violation(content.CodeUnknown, textExtra, "disable_parallel_tool_use")
	}
	if !v.opts.Strict {
		return
	}
	if !v.hasTools("") {
		v.violationAt(content.CodeConflict, "", "tool_choice may only be specified while providing tools.")
	}
	if t := v.r.Thinking; t != nil && t.Type == "enabled" && v.r.forcesToolUse() {
		v.violationAt(content.CodeConflict, "", "Thinking may not be enabled when tool_choice forces tool use.")
	}
}

// unionTag validates the tag of the object at the path.
func (v *validator) unionTag(tag string, known []string) bool {
	if tag == "" {
		v.violation(content.CodeMissing, textRequired, "type")
		return false
	}
	for _, k := range known {
		if k == tag {
			return true
		}
	}
	v.violation(content.CodeValue, quoteTag(tag, quoteTags(known)))
	return false
}

func (v *validator) thinking() {
	t := v.r.Thinking
	if t == nil {
		return
	}
	v.path.Push("thinking")
	defer v.path.Truncate(0)
	if !v.unionTag(t.Type, thinkingTypes) {
		return
	}
	v.path.Push(t.Type)
	if t.Type == "enabled" {
		v.budget(t.BudgetTokens)
	} else if t.BudgetTokens != nil {
		v.violation(content.CodeUnknown, textExtra, "budget_tokens")
	}
	if t.Display != "" && t.Type != "enabled" && t.Type != "adaptive" {
		v.violation(content.CodeUnknown, textExtra, "display")
	}
}

func (v *validator) budget(n *int64) {
	switch limit := v.r.MaxTokens; {
	case n == nil:
		v.violation(content.CodeMissing, textRequired, "budget_tokens")
	case *n < 1024:
		v.violation(content.CodeRange, textAtLeast(1024), "budget_tokens")
	case limit != nil && *limit > 0 && *n >= *limit && !v.hasBeta(betaInterleaved):
		v.violationAt(content.CodeConflict, "", "`max_tokens` must be greater than `thinking.budget_tokens`.")
	}
}

func (v *validator) outputConfig() {
	r := v.r
	if f := r.OutputFormat; f != nil {
		v.path.Push("output_format")
		v.outputFormat(f)
		v.path.Truncate(0)
	}
	c := r.OutputConfig
	if c != nil {
		v.path.Push("output_config")
		if c.Format != nil {
			v.path.Push("format")
			v.outputFormat(c.Format)
			v.path.Pop()
		}
		v.path.Truncate(0)
	}
	if r.OutputFormat != nil && c != nil && c.Format != nil {
		v.violationAt(content.CodeConflict, "output_format", "`output_format` may not be given together with `output_config.format`")
	}
	if r.format() != nil && v.citationsEnabled {
		path := "output_config.format"
		if c == nil || c.Format == nil {
			path = "output_format"
		}
		v.violationAt(content.CodeConflict, path, "Citations may not be enabled together with an output format")
	}
}

func (v *validator) outputFormat(f *OutputFormat) {
	if f.Type == "" {
		v.violation(content.CodeMissing, textRequired, "type")
	} else if f.Type != "json_schema" {
		v.violation(content.CodeValue, "Input should be 'json_schema'", "type")
	}
	if f.Schema == "" {
		v.violation(content.CodeMissing, textRequired, "schema")
	} else {
		v.closedSchema(f.Schema, "schema")
	}
}

const (
	idPattern         = "^[a-zA-Z0-9_-]+$"
	serverIDPattern   = "^srvtoolu_[a-zA-Z0-9_]+$"
	textUserCitations = "citations are not permitted on text blocks of user messages in this version"
)

// messagePath returns the path of the current message.
func (v *validator) messagePath() string {
	outer := v.path
	outer.Truncate(2)
	return outer.At()
}

// kindAndPlaces returns the type of the block that represents p, and the places where it is
// allowed.
func (v *validator) kindAndPlaces(p content.Part) (kind string, where places) {
	switch p := p.(type) { // other kinds are found by their type in blockForms
	case *content.ServerToolUse, *content.ServerToolResult:
		return partfield.VendorOf(p).Kind, inAssistant
	case *content.Media:
		return "media", 0
	case *content.Unknown:
		if f := untypedBlockOf(p.Kind); f != nil {
			return p.Kind, f.where
		}
		return p.Kind, inUser | inAssistant | inSystem | inResult | inContent
	}
	kind, _ = typeOf(p)
	f := blockFormOf(kind)
	if f == nil {
		return "unknown", 0
	}
	if where = f.where; f.of == documentType && !v.is2026() {
		where |= inAssistant
	}
	return kind, where
}

// untypedBlockOf returns the form of a block that has no Go type, or nil.
func untypedBlockOf(kind string) *blockForm {
	if f := blockFormOf(kind); f != nil && !f.of.HasStruct() {
		return f
	}
	return nil
}

// part validates one block at the path, which does not include its tag.
func (v *validator) part(p content.Part, where places) {
	if content.IsNil(p) {
		v.violation(content.CodeMissing, textObject)
		return
	}
	kind, allowed := v.kindAndPlaces(p)
	if u, ok := p.(*content.Unknown); ok && kind == "" && u.Raw != "" {
		return // the parser has reported it
	}
	_, raw := p.(*content.Unknown)
	switch f := partfield.VendorOf(p).Format; {
	case kind == "" || allowed == 0 || f != "" && f != Format:
		v.misplacedBlock(content.CodeUnsupported, kind, where)
		return
	case allowed&where == 0:
		v.misplacedBlock(content.CodeOrder, kind, where)
		return
	case raw && v.opts.Strict && untypedBlockOf(kind) == nil:
		v.misplacedBlock(content.CodeUnknown, kind, where)
		return
	}
	v.path.Push(kind)
	v.block(p, where)
	v.path.Pop()
}

// misplacedBlock reports a block that is not allowed at the path.
func (v *validator) misplacedBlock(code content.Code, kind string, where places) {
	text := ""
	if v.violations.Len() < content.MaxViolations { // else the text is not used
		text = quoteTag(kind, tagsIn(where))
	}
	v.violation(code, text)
}

// block validates a block that is allowed at the path.
func (v *validator) block(p content.Part, where places) {
	f := partfield.Of(p)
	if f.Source != nil {
		_, t := typeOf(p)
		v.source(*f.Source, fileFormOf(t))
	}
	switch p := p.(type) { // other kinds have nothing but a source
	case *content.Text:
		v.text(p, where)
	case *content.Document:
		v.document(p)
	case *content.SearchResult:
		v.searchResult(p)
	case *content.Thinking:
		v.thinkingBlock(p)
	case *content.ToolUse:
		if v.require(p.ID, "id") && v.opts.Strict && !codec.IsName(p.ID) {
			v.violation(content.CodeValue, textPattern(idPattern), "id")
		}
		v.require(p.Name, "name")
	case *content.ToolResult:
		v.toolResult(p)
	case *content.ServerToolUse:
		v.serverToolUse(p)
	case *content.ServerToolResult:
		v.serverToolResult(p)
	case *content.Unknown:
		v.untypedBlock(p)
		return // untypedBlock has validated its cache_control
	}
	v.breakpoint(partfield.Value(f.Cache))
}

func (v *validator) text(t *content.Text, where places) {
	if t.Text == "" {
		if (t.Cache != nil || !v.once[onceEmptyText]) && !v.isUnread("text") {
			v.violationOnce(onceEmptyText, content.CodeRange, "messages", "text content blocks must be non-empty")
			v.emptyBreakpoint(t)
		}
	} else if v.opts.Strict && where&(inResult|inContent) == 0 && where != inAssistant && isBlank(t.Text) { // the vendor's responses contain blank texts
		v.violationOnce(onceBlankText, content.CodeValue, "messages", "text content blocks must contain non-whitespace text")
	}
	if where == inUser && v.is2026() && len(t.Citations) > 0 {
		v.violation(content.CodeUnsupported, textUserCitations, "citations")
	}
	v.citations(t)
}

func (v *validator) searchResult(s *content.SearchResult) {
	v.path.Push("content")
	v.texts(s.Parts, false)
	v.path.Pop()
	v.citationsEnabled = v.citationsEnabled || s.Citations
	if first := v.firstSearchResult; first == nil {
		v.firstSearchResult = s
	} else if first.Citations != s.Citations {
		v.violation(content.CodeConflict, "citations must be enabled for all search results or for none", "citations")
	}
}

func (v *validator) thinkingBlock(t *content.Thinking) {
	switch {
	case t.Redacted != (content.Signature{}):
		v.require(t.Redacted.Data, "data")
		if t.Text != "" {
			v.violation(content.CodeUnknown, textExtra, "thinking")
		}
	case t.Signature == (content.Signature{}) && v.opts.Strict:
		v.violation(content.CodeMissing, textRequired, "signature")
	case t.Signature.Data == "" && v.opts.Strict && !v.isUnread("signature"):
		v.path.Pop()
		v.violation(content.CodeValue, "Invalid `signature` in `thinking` block")
		v.path.Push("thinking")
	}
	if text, found := t.Extra.Get(cacheName); found && text != "null" && !v.opts.Strict {
		v.violation(content.CodeUnknown, textExtra, cacheName)
	}
}

func (v *validator) toolResult(t *content.ToolResult) {
	v.require(t.ID, "tool_use_id")
	if len(t.Parts) > 0 {
		v.path.Push("content")
		for i, p := range t.Parts {
			v.path.PushIndex(i)
			v.part(p, inResult)
			v.path.Pop()
		}
		v.path.Pop()
	}
}

var knownServerTools = []string{"web_search", "web_fetch", "code_execution", "bash_code_execution",
	"text_editor_code_execution", regexTool, bm25Tool, "advisor"}

func (v *validator) serverToolUse(t *content.ServerToolUse) {
	id := v.require(t.ID, "id")
	v.require(t.Name, "name")
	switch {
	case t.Kind == "mcp_tool_use":
	case t.Kind != "server_tool_use":
		v.unknownKind(t.Kind)
	case v.opts.Strict:
		if id && !isServerID(t.ID) {
			v.violation(content.CodeValue, textPattern(serverIDPattern), "id")
		}
		v.oneOf(t.Name, knownServerTools, "name")
	}
}

// isServerID reports whether an id matches serverIDPattern.
func isServerID(id string) bool {
	rest, ok := strings.CutPrefix(id, foreign.ServerPrefix)
	return ok && codec.IsName(rest) && !strings.Contains(rest, "-")
}

// unknownKind reports an unknown kind of tool call or result, if Strict is set.
func (v *validator) unknownKind(kind string) {
	if !v.opts.Strict {
		return
	}
	v.path.Pop()
	v.misplacedBlock(content.CodeUnknown, kind, inAssistant)
	v.path.Push(kind)
}

func (v *validator) serverToolResult(t *content.ServerToolResult) {
	v.require(t.ID, "tool_use_id")
	mcp := t.Kind == "mcp_tool_result"
	if !isServerToolResult(t.Kind) {
		v.unknownKind(t.Kind)
	}
	switch {
	case t.Content == "":
		if !mcp {
			v.violation(content.CodeMissing, textRequired, "content")
		}
	case mcp && strings.IndexByte(`"[`, t.Content[0]) < 0:
		v.violation(content.CodeType, textKinds(object.Text|object.List), "content")
	case !mcp && strings.IndexByte("{[", t.Content[0]) < 0:
		v.violation(content.CodeType, textKinds(object.List|object.Object), "content")
	}
}

// untypedBlock validates a block that has no Go type.
func (v *validator) untypedBlock(u *content.Unknown) {
	if u.Kind != toolAddition && !strings.Contains(u.Raw, cacheName) && strings.IndexByte(u.Raw, '\\') < 0 {
		return
	}
	doc := v.open(u.Raw)
	defer doc.Close()
	x := doc.Root()
	v.addsTool = v.addsTool || u.Kind == toolAddition && x.Get("tool").Get("type").Is("tool_definition")
	if c := x.Get(cacheName); c.Kind() == jsonwire.Object {
		v.rawBreakpoint(c)
	}
}

const maxURL = 8 << 10 // bytes

// source validates the source of a file.
func (v *validator) source(s content.Source, files *fileForm) {
	v.path.Push("source")
	defer v.path.Pop()
	kind, known := sourceTag(s)
	switch {
	case kind == "":
		// If the parser could not read the source, it has reported a violation at
		// this path.
		v.violation(content.CodeMissing, textRequired)
		return
	case !known || !slices.Contains(files.tags, kind): // bounded by fileForm
		v.violation(content.CodeValue, quoteTag(kind, quoteTags(files.tags)))
		return
	case kind == "file" && !v.opts.AllowFiles && !v.is2026() && !v.hasBeta(betaFiles):
		without := strings.TrimSuffix(quoteTags(files.tags), ", 'file'")
		v.violation(content.CodeUnsupported, quoteTag(kind, without)+
			" (a file source requires the value "+betaFiles+" in the header anthropic-beta)")
		return
	}
	v.path.Push(kind)
	defer v.path.Pop()
	switch s := s.(type) {
	case *content.Base64:
		v.files++
		v.base64(s, files)
	case *content.URL:
		v.files++
		v.url(s)
	case *content.File:
		v.files++
		v.require(s.ID, "file_id")
	case *content.PlainText:
		v.plainText(s)
	case *content.Parts:
		v.parts(s)
	}
}

// sourceTag returns the tag of a source, or "" for nil.
func sourceTag(s content.Source) (tag string, known bool) {
	kind := partfield.OfSource(s).Kind
	for i, k := range sourceKinds {
		if k == kind {
			return sourceTypes[i].Name, true
		}
	}
	if kind == partfield.Nil {
		return "", true
	}
	return "unknown", false
}

// base64 validates a base64 source against its media type and the limits.
func (v *validator) base64(s *content.Base64, files *fileForm) {
	types := files.accepted(v.opts.Strict, v.opts.MediaTypes)
	if !v.require(s.MediaType, "media_type") {
		return
	}
	accepted := slices.Contains(types, media.Canonical(s.MediaType)) // bounded by the host
	if !accepted {
		v.violation(content.CodeValue, textOneOf(types), "media_type")
	}
	if !v.require(s.Data, "data") {
		return
	}
	lim := fileLimits(&v.opts.Limits)
	r := media.File{MediaType: s.MediaType, Data: s.Data}.Check(v.base64Rule(s.Data), codec.MediaLimits(lim))
	switch r.Violation {
	case 0:
	case media.FileType, media.FileNotText:
		if accepted {
			v.mismatch(files.block, s.MediaType, r.Actual)
		}
	default:
		code, text := fileText(files.block, &r, lim)
		v.violation(code, text, "data")
	}
}

// base64Rule returns how to validate base64 data.
func (v *validator) base64Rule(data string) media.Base64Rule {
	if v.origin == nil {
		return media.Base64Strict
	}
	return v.origin.Base64Rule(data, &v.nextBase64, media.Base64Strict)
}

// mismatch reports data that does not match its declared media type.
func (v *validator) mismatch(kind, declared, actual string) {
	if kind == "image" && strings.HasPrefix(actual, "image/") { // the vendor's text and path
		v.violation(content.CodeMedia, "The image was specified using the "+codec.Clip(declared)+" media type, but the image appears to be a "+actual+" image")
		return
	}
	text := strings.ToUpper(kind[:1]) + kind[1:] + " does not match the provided media type " + codec.Clip(declared)
	if actual != "" {
		text += ": it is " + actual
	}
	member := "media_type"
	if kind == "image" {
		member = "data"
	}
	v.violation(content.CodeMedia, text, member)
}

func megabytes(n int64) string {
	if n >= 1<<20 && n%(1<<20) == 0 {
		return strconv.FormatInt(n>>20, 10) + " MB"
	}
	return "the"
}

// url validates the syntax of a URL. The component that fetches the URL decides
// whether to allow it.
func (v *validator) url(s *content.URL) {
	if !v.require(s.URL, "url") {
		return
	}
	switch text, host := "", hostOf(s.URL); {
	case len(s.URL) > maxURL:
		v.violation(content.CodeRange, "URL should have at most "+strconv.Itoa(maxURL)+" characters", "url")
	case host == "":
		text = "Input should be a valid URL with the scheme http or https and a host"
		fallthrough
	case strings.ContainsFunc(s.URL, func(r rune) bool { return r <= ' ' || r == 0x7F || r == '\\' }):
		text = cmp.Or(text, "Input should be a valid URL without spaces, control characters and backslashes")
		v.violation(content.CodeValue, text, "url")
	}
}

// hostOf returns the host and port of an http or https URL, or "" if url is not
// such a URL.
func hostOf(url string) string {
	scheme, rest, found := strings.Cut(url, "://")
	if !found || !strings.EqualFold(scheme, "http") && !strings.EqualFold(scheme, "https") {
		return ""
	}
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		rest = rest[:i]
	}
	rest = rest[strings.LastIndexByte(rest, '@')+1:]
	if strings.HasPrefix(rest, ":") {
		return ""
	}
	return rest
}

func (v *validator) plainText(s *content.PlainText) {
	n := min(len(s.Text), media.SniffLen)
	var lead [media.SniffLen]byte
	copy(lead[:], s.Text[:n])
	if actual := media.Detect(lead[:n]); actual != "" {
		v.mismatch("document", "text/plain", actual)
	}
	if limit := fileLimits(&v.opts.Limits).FileBytes; int64(len(s.Text)) > limit {
		v.violation(content.CodeLimit, "document exceeds "+megabytes(limit)+" maximum", "data")
	}
}

// parts validates a document that consists of texts and images.
func (v *validator) parts(s *content.Parts) {
	if len(s.Parts) > 0 {
		v.path.Push("content")
		for i, p := range s.Parts {
			v.path.PushIndex(i)
			v.part(p, inContent)
			v.path.Pop()
		}
		v.path.Pop()
	}
}

func (v *validator) document(d *content.Document) {
	if v.opts.Strict {
		v.atMost(d.Title, 500, "title")
	}
	v.citationsEnabled = v.citationsEnabled || d.Citations
}

// citations validates the citations of a text.
func (v *validator) citations(t *content.Text) {
	if len(t.Citations) == 0 {
		return
	}
	v.path.Push("citations")
	for i := range t.Citations {
		v.path.PushIndex(i)
		v.citation(&t.Citations[i])
		v.path.Pop()
	}
	v.path.Pop()
}

func (v *validator) citation(c *content.Citation) {
	f := citationFormOf("", c.Kind)
	if f == nil {
		if c.Kind != "" {
			v.violation(content.CodeValue, quoteTag(string(c.Kind), citationTags()))
		} else if v.opts.Strict && c.Extra != nil {
			v.violation(content.CodeUnknown, quoteTag(gjson.Get(c.Extra.JSON, "type").Str, citationTags()))
		}
		return
	}
	v.path.Push(f.tag)
	if f.index != "" {
		first := int64(0)
		if c.Kind == content.CitePages {
			first = 1
		}
		v.atLeast(c.Index, 0, f.index)
		v.atLeast(c.Start, first, f.start)
		v.atLeast(c.End, max(first, c.Start), f.end)
	}
	if c.Kind == content.CiteWeb {
		v.atMost(c.Title, 512, f.title)
	}
	v.path.Pop()
}

func (v *validator) atLeast(n, least int64, name string) {
	if n < least {
		v.violation(content.CodeRange, textAtLeast(least), name)
	}
}

func citationTags() string {
	var tags []string
	for _, f := range citationForms() {
		tags = append(tags, f.tag)
	}
	return quoteTags(tags)
}

// The vendor's error texts for values that are out of range.

func textAtLeast(n int64) string {
	return "Input should be greater than or equal to " + strconv.FormatInt(n, 10)
}

func textUpTo(n int64) string {
	return "Input should be less than or equal to " + strconv.FormatInt(n, 10)
}

func textAtMost(n int, unit string) string {
	return "String should have at most " + counted(n, unit)
}

func textItems(limit, n int) string {
	return "List should have at most " + counted(limit, "item") + " after validation, not " + strconv.Itoa(n)
}

func counted(n int, unit string) string {
	if n != 1 {
		unit += "s"
	}
	return strconv.Itoa(n) + " " + unit
}

func textPattern(pattern string) string { return "String should match pattern '" + pattern + "'" }

// textOneOf lists the values of a closed set.
func textOneOf(allowed []string) string {
	var b strings.Builder
	b.WriteString("Input should be ")
	for i, s := range allowed {
		switch {
		case i == 0:
		case i == len(allowed)-1:
			b.WriteString(" or ")
		default:
			b.WriteString(", ")
		}
		b.WriteString("'" + s + "'")
	}
	return b.String()
}

// isBlank reports whether s contains only white space.
func isBlank(s string) bool {
	if s != "" && s[0] > ' ' && s[0] < utf8.RuneSelf {
		return false
	}
	return strings.TrimSpace(s) == ""
}

// open parses JSON text, which is valid unless another violation is reported.
func (v *validator) open(text string) *jsonwire.Doc {
	lim := codec.UnlimitedJSON
	lim.AllowDuplicateNames = true
	if v.doc == nil || v.doc.Root().Exists() { // missing, or still in use
		v.doc = new(jsonwire.Doc)
	}
	_ = v.doc.Parse(text, lim)
	return v.doc
}
