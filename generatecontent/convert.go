package generatecontent

import (
	"slices"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/schema"
	"github.com/polywire/polywire/upstream"
)

// DecodeRequest parses and validates a request document and returns the neutral
// request with the document. An adapter of this format sends the bytes of body
// unless the request is changed: see [upstream.WireOf]. Batch workers and bridges
// keep the vendor's prompt caches that way. [Handler] calls the same code.
//
// The URL of a request names the model and selects streaming. The caller sets
// Model and Stream of the result; the document remains valid. Model is that of the
// document, and usually empty.
//
// The error is that of [ParseRequest] or [Request.Validate] and lists all
// violations, those of parsing first. opts may be nil. The limits in opts apply to
// parsing too. If opts.Count is set, body is that of countTokens.
//
// The request has no document if it carries signatures for another vendor, which
// are opened as [Request.Upstream] describes, or if body is that of countTokens
// with a generateContentRequest in it.
func DecodeRequest(body []byte, opts *ValidateOptions) (*upstream.Request, error) {
	r, err := readRequest(string(body), "", opts)
	if err != nil {
		return nil, err
	}
	n, _ := r.withDocument(nil)
	return n, nil
}

// readRequest parses and validates a document. version is the API version of the URL.
func readRequest(body, version string, opts *ValidateOptions) (*Request, error) {
	how := reading{version: version}
	if opts != nil {
		how.limits, how.count = opts.Limits, opts.Count
	}
	r, err := parseRequest(body, how)
	if r == nil {
		return nil, err
	}
	if err := r.Validate(opts); err != nil { // includes the violations of parsing
		return nil, err
	}
	return r, nil
}

// withDocument returns the neutral request with the document that r was parsed from, and
// the losses of carried signatures. Except for Model, r must be unchanged since parsing.
func (r *Request) withDocument(header []upstream.Field) (*upstream.Request, []content.Loss) {
	n := new(upstream.Request)
	r.toNeutral(n)
	turns, changed, losses := decodeState(n.Turns)
	n.Turns, n.Header = turns, header
	if !changed && !r.origin.nested {
		w := r.origin.wire()
		n.SetWire(&w)
	}
	return n, losses
}

// Upstream returns the neutral request. Turns and parts are shared with r and
// correspond one to one to those of Contents. Members without a neutral field are
// in Extra, under their wire names. The result has no document; use
// [DecodeRequest] to send a document on as it is.
//
// Signatures that a response carried for another vendor are opened: in copies of
// the turns and parts they are plain again, with that vendor's Format. A carried
// signature that is damaged has no Format, and no format accepts it.
func (r *Request) Upstream() *upstream.Request {
	n := new(upstream.Request)
	r.toNeutral(n)
	n.Turns, _, _ = decodeState(n.Turns)
	return n
}

// toNeutral sets n to the neutral form of the request.
func (r *Request) toNeutral(n *upstream.Request) {
	*n = upstream.Request{
		Model:       r.Model,
		Turns:       r.Contents,
		Tools:       r.Tools,
		ServiceTier: r.ServiceTier,
	}
	if s := r.SystemInstruction; s != nil {
		n.System = s.Parts
	}
	if c := r.ToolConfig; c != nil && c.FunctionCalling != nil {
		n.Choice = c.FunctionCalling.toNeutral()
	}
	if c := r.GenerationConfig; c != nil {
		c.toNeutral(n)
	}
	n.Extra = r.unmappedMembers()
}

func (f *FunctionCalling) toNeutral() content.ToolChoice {
	n := content.ToolChoice{Names: f.AllowedFunctionNames, Extra: f.Extra}
	switch f.Mode {
	case "AUTO":
		n.Mode = content.ChoiceAuto
	case "ANY":
		n.Mode = content.ChoiceAny
	case "NONE":
		n.Mode = content.ChoiceNone
	case "VALIDATED":
		n.Mode = content.ChoiceValidated
	}
	return n
}

func (c *GenerationConfig) toNeutral(n *upstream.Request) {
	n.MaxTokens, n.Temperature, n.TopP, n.TopK, n.Seed = c.MaxOutputTokens, c.Temperature, c.TopP, c.TopK, c.Seed
	n.PresencePenalty, n.FrequencyPenalty = c.PresencePenalty, c.FrequencyPenalty
	n.StopSequences, n.Candidates = c.StopSequences, int(c.CandidateCount)
	if t := c.ThinkingConfig; t != nil {
		n.Thinking = t.toNeutral()
	}
	o := &n.Output
	for _, m := range c.ResponseModalities {
		if !modality.unset(m) {
			o.Modalities = append(o.Modalities, strings.ToLower(m))
		}
	}
	if i := c.ImageConfig; i != nil {
		o.AspectRatio, o.ImageSize = i.AspectRatio, i.ImageSize
	}
	o.MediaType = c.ResponseMimeType
	switch {
	case c.ResponseJSONSchema != "":
		o.Schema.JSON = c.ResponseJSONSchema
	case c.ResponseSchema != "":
		o.Schema = content.Schema{JSON: c.ResponseSchema, OpenAPI: true}
	case o.MediaType == "":
		o.MediaType, o.Schema.JSON = textFormat(c.ResponseFormat)
	}
}

// textTypes maps the media types of responseFormat to the usual ones.
var textTypes = [...][2]string{{"APPLICATION_JSON", "application/json"}, {"TEXT_PLAIN", "text/plain"}}

// textFormat returns the media type and the schema of texts in a responseFormat.
func textFormat(format string) (mediaType, schema string) {
	if format == "" {
		return "", ""
	}
	doc, err := jsonwire.Parse(format, codec.UnlimitedJSON)
	if err != nil {
		return "", ""
	}
	defer doc.Close()
	text := doc.Root().Get("text")
	for _, x := range doc.Root().Elems() {
		if !text.Exists() {
			text = x.Get("text")
		}
	}
	for _, t := range textTypes {
		if text.Get("mimeType").Is(t[0]) {
			mediaType = t[1]
		}
	}
	if s := text.Get("schema"); s.Kind() != jsonwire.Null && mediaType != "" {
		schema = s.Raw()
	}
	return mediaType, schema
}

// hasTwoFormats reports whether responseFormat differs from the older members for
// texts. The older members take precedence.
func (c *GenerationConfig) hasTwoFormats() bool {
	mediaType, schema := textFormat(c.ResponseFormat)
	return c.ResponseMimeType != "" && mediaType != "" &&
		(mediaType != c.ResponseMimeType || schema != "" && schema != c.ResponseJSONSchema)
}

// thinkingLevels maps thinking levels to neutral efforts.
var thinkingLevels = map[string]string{"MINIMAL": "minimal", "LOW": "low", "MEDIUM": "medium", "HIGH": "high"}

func (t *ThinkingConfig) toNeutral() upstream.Thinking {
	n := upstream.Thinking{Effort: thinkingLevels[t.ThinkingLevel], Extra: t.Extra}
	switch b := t.ThinkingBudget; {
	case b == nil:
	case *b == -1:
		n.Mode = upstream.ThinkingAuto
	case *b == 0:
		n.Mode = upstream.ThinkingOff
	default:
		n.Mode, n.Budget = upstream.ThinkingBudget, b
	}
	switch show := t.IncludeThoughts; {
	case show != nil && *show:
		n.Display = "summarized"
	case show != nil, n.Mode != "" && n.Mode != upstream.ThinkingOff, n.Effort != "":
		n.Display = "omitted" // the vendor's default
	}
	return n
}

// unmappedMembers returns the members without a neutral field as part of a document, or
// nil.
func (r *Request) unmappedMembers() *content.Extra {
	f := Request{
		SafetySettings: r.SafetySettings, CachedContent: r.CachedContent, Store: r.Store, Labels: r.Labels,
		ContinuationToken: r.ContinuationToken, ProcessingOptions: r.ProcessingOptions,
	}
	if s := r.SystemInstruction; s != nil && s.Extra != nil {
		f.SystemInstruction = &Instruction{Extra: s.Extra}
	}
	if c := r.ToolConfig; c != nil && (c.RetrievalConfig != "" || c.IncludeServerSideToolInvocations || c.Extra != nil) {
		f.ToolConfig = &ToolConfig{RetrievalConfig: c.RetrievalConfig,
			IncludeServerSideToolInvocations: c.IncludeServerSideToolInvocations, Extra: c.Extra}
	}
	f.GenerationConfig = r.GenerationConfig.unmappedMembers()
	some := len(f.SafetySettings) > 0 || f.CachedContent != "" || f.Store != nil || f.Labels != "" ||
		f.ContinuationToken != "" || f.ProcessingOptions != "" || f.SystemInstruction != nil ||
		f.ToolConfig != nil || f.GenerationConfig != nil
	if !some {
		return r.Extra
	}
	// Free JSON of a caller that is not valid is omitted here. Encoding the request itself
	// reports it.
	var w jsonwire.Writer
	e := newEncoder(&w)
	w.BeginObject()
	e.rest(&f)
	e.extra(r.Extra, requestFields, requestTyped)
	w.EndObject()
	return &content.Extra{Format: Format, JSON: w.Text()}
}

// unmappedMembers returns the members without a neutral field, or nil.
func (c *GenerationConfig) unmappedMembers() *GenerationConfig {
	if c == nil {
		return nil
	}
	f := &GenerationConfig{
		ResponseLogprobs: c.ResponseLogprobs, Logprobs: c.Logprobs, ResponseFormat: c.ResponseFormat,
		SpeechConfig: c.SpeechConfig, MediaResolution: c.MediaResolution, Extra: c.Extra,
	}
	some := f.ResponseLogprobs || f.Logprobs != nil || f.ResponseFormat != "" || f.SpeechConfig != "" ||
		f.MediaResolution != "" || f.Extra != nil
	if c.ResponseSchema != "" && c.ResponseJSONSchema != "" {
		f.ResponseSchema, some = c.ResponseSchema, true
	}
	if i := c.ImageConfig; i != nil && i.Extra != nil {
		f.ImageConfig, some = &ImageConfig{Extra: i.Extra}, true
	}
	if t := c.ThinkingConfig; t != nil {
		both := t.ThinkingBudget != nil && t.ThinkingLevel != "" // invalid, but Upstream converts any request
		if both || t.IncludeThoughts == nil && t.toNeutral().Display != "" {
			f.ThinkingConfig, some = t, true
		}
	}
	if c.hasTwoFormats() {
		f.ResponseMimeType = c.ResponseMimeType // shows other formats which one takes precedence
	}
	if slices.ContainsFunc(c.ResponseModalities, modality.unset) {
		f.ResponseModalities, some = c.ResponseModalities, true
	}
	if !some {
		return nil
	}
	return f
}

// A Target describes the server that a request is sent to, as far as servers and models
// of this format differ. The zero value is a server that supports the whole format.
type Target struct {
	// ClosedSchemas sends schemas in the vendor's own closed dialect: "parameters" instead
	// of "parametersJsonSchema".
	ClosedSchemas bool

	// FilesAfterResults sends the files of a tool result after the result, in the same turn.
	FilesAfterResults bool

	// SignedCalls sends a signature with the first tool call of each step. If there is none,
	// the vendor's placeholder is sent.
	SignedCalls bool

	// NoMixedTools drops built-in tools of other vendors if the request has functions.
	// Built-in tools of this format are not dropped.
	NoMixedTools bool

	// FilesInlined states that [upstream.Request.Inline] is called before the request is
	// sent. Limitations of linked and stored files are then not reported.
	FilesInlined bool
}

// RequestFromUpstream converts a neutral request to this format and reports the losses.
// The result shares parts and lists with n; those that must be changed are copied first.
// Without losses, converting a [Request] to its neutral form and back gives an equal
// request, except for empty configurations and the spelling of schemas.
//
// Tool names and tool call ids are not changed. [Request.Validate] checks them; adapters
// map those that the format does not accept.
//
// The result of a turn does not depend on later turns. The beginning of a conversation
// therefore stays equal, which vendors' caches require. A system text that applies only
// until the next user message is omitted after it, which is not a loss.
func RequestFromUpstream(n *upstream.Request) (*Request, []content.Loss) {
	return RequestForTarget(n, Target{})
}

// RequestForTarget is RequestFromUpstream for a server that does not support the whole
// format.
func RequestForTarget(n *upstream.Request, t Target) (*Request, []content.Loss) {
	c := converter{Losses: codec.Losses{Format: Format}, target: t, from: n, to: requestFromExtra(n.Extra)}
	r := c.to
	c.Foreign(n.Extra, "extra")
	r.Model = n.Model
	c.system()
	c.path.Push("turns")
	r.Contents = c.turns(n.Turns)
	c.path.Pop()
	r.Tools = c.tools(n.Tools)
	c.choice()
	c.config()
	c.tier()
	if n.UserID != "" {
		c.Report(unsupportedUserID, "user_id")
	}
	return r, loss.Unique(c.Losses.Losses)
}

// requestFromExtra parses the result of unmappedMembers. Invalid members of an Extra that
// a caller made are left zero.
func requestFromExtra(x *content.Extra) *Request {
	w := &parsedRequest{}
	if doc := codec.Open(x, Format); doc != nil {
		defer doc.Close()
		p := parser{origin: &w.origin, size: 1}
		if doc.Root().Kind() == jsonwire.Object {
			p.request(doc.Root(), w)
		}
	}
	return &w.request
}

type converter struct {
	codec.Losses
	target         Target
	schemas        schema.Spare
	hasSubstitutes bool            // whether a tool of this vendor replaces one of another
	chosen         map[string]bool // the names in the tool choice
	choosesTool    bool            // whether one of them is the name of a tool
	hasFunctions   bool            // whether the request has functions
	from           *upstream.Request
	to             *Request
	path           codec.Path

	emptyTurn     bool               // whether the turn has only empty texts, of which the first is kept
	calls         []*content.ToolUse // the tool calls of the latest step
	results       int                // the number of their results so far
	namesByID     map[string]string  // their names by id; nil until needed
	turnIndex     int                // the index of the turn
	earlierNames  map[string]string  // the names of all earlier tool calls by id; nil until needed
	indexedTurns  int                // the number of turns that earlierNames includes
	currentTurn   int                // where the vendor's current turn begins: see currentTurn
	lastAssistant int                // the index of the last assistant turn, or -1
	runEnd        int                // the end of the run of assistant turns
	runHasCall    bool               // whether the run has a tool call
}

// reportHere reports a loss at the path followed by names.
func (c *converter) reportHere(r *loss.Rule, names ...string) { c.Report(r, c.path.At(names...)) }

// reportForeign reports members of another format.
func (c *converter) reportForeign(x *content.Extra) {
	if x != nil && x.Format != Format {
		c.Foreign(x, c.path.At("extra"))
	}
}

// reportCache reports a cache mark, which the format does not have.
func (c *converter) reportCache(m *content.Cache) {
	if m != nil {
		c.reportHere(cacheMark, "cache")
	}
}

// system converts the system parts to texts.
func (c *converter) system() {
	c.path.Push("system")
	parts, _ := c.parts(c.from.System, content.RoleSystem)
	c.path.Pop()
	if s := c.to.SystemInstruction; s != nil {
		s.Parts = parts
	} else if len(parts) > 0 {
		c.to.SystemInstruction = &Instruction{Parts: parts}
	}
}
