package generatecontent

import (
	"slices"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
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

// readRequest parses and validates a document. version is that of [reading].
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

// withDocument returns the neutral request with the document that r was parsed
// from, and what was lost of carried signatures. r must not have been changed
// since, except for Model.
func (r *Request) withDocument(header []upstream.Field) (*upstream.Request, []content.Loss) {
	n := new(upstream.Request)
	r.neutral(n)
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
	r.neutral(n)
	n.Turns, _, _ = decodeState(n.Turns)
	return n
}

// neutral says the request in neutral words.
func (r *Request) neutral(n *upstream.Request) {
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
		n.Choice = c.FunctionCalling.neutral()
	}
	if c := r.GenerationConfig; c != nil {
		c.neutral(n)
	}
	n.Extra = r.leftover()
}

func (f *FunctionCalling) neutral() content.ToolChoice {
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

func (c *GenerationConfig) neutral(n *upstream.Request) {
	n.MaxTokens, n.Temperature, n.TopP, n.TopK, n.Seed = c.MaxOutputTokens, c.Temperature, c.TopP, c.TopK, c.Seed
	n.PresencePenalty, n.FrequencyPenalty = c.PresencePenalty, c.FrequencyPenalty
	n.StopSequences, n.Candidates = c.StopSequences, int(c.CandidateCount)
	if t := c.ThinkingConfig; t != nil {
		n.Thinking = t.neutral()
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

// The media types of texts, and what the newer responseFormat calls them.
var textTypes = [...][2]string{{"APPLICATION_JSON", "application/json"}, {"TEXT_PLAIN", "text/plain"}}

// textFormat returns what a responseFormat says of texts.
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

// twoFormats reports whether a responseFormat says something else of texts than
// the older members, which count.
func (c *GenerationConfig) twoFormats() bool {
	mediaType, schema := textFormat(c.ResponseFormat)
	return c.ResponseMimeType != "" && mediaType != "" &&
		(mediaType != c.ResponseMimeType || schema != "" && schema != c.ResponseJSONSchema)
}

// thinkingLevels are the levels, and what they are in neutral words.
var thinkingLevels = map[string]string{"MINIMAL": "minimal", "LOW": "low", "MEDIUM": "medium", "HIGH": "high"}

func (t *ThinkingConfig) neutral() upstream.Thinking {
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
		n.Display = "omitted" // thoughts come only if they are asked for
	}
	return n
}

// leftover returns the members that the neutral request has no field for, as
// a fragment of a document, or nil.
func (r *Request) leftover() *content.Extra {
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
	f.GenerationConfig = r.GenerationConfig.leftover()
	some := len(f.SafetySettings) > 0 || f.CachedContent != "" || f.Store != nil || f.Labels != "" ||
		f.ContinuationToken != "" || f.ProcessingOptions != "" || f.SystemInstruction != nil ||
		f.ToolConfig != nil || f.GenerationConfig != nil
	if !some {
		return r.Extra
	}
	// What a host made and is no JSON is left out here; an encoder of the
	// request itself tells.
	var w jsonwire.Writer
	e := newEncoder(&w)
	w.BeginObject()
	e.rest(&f)
	e.extra(r.Extra, requestFields, requestTyped)
	w.EndObject()
	return &content.Extra{Format: Format, JSON: w.Text()}
}

// leftover returns what the neutral request has no field for, or nil.
func (c *GenerationConfig) leftover() *GenerationConfig {
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
		both := t.ThinkingBudget != nil && t.ThinkingLevel != "" // which the format itself refuses
		if both || t.IncludeThoughts == nil && t.neutral().Display != "" {
			f.ThinkingConfig, some = t, true
		}
	}
	if c.twoFormats() {
		f.ResponseMimeType = c.ResponseMimeType // so that others see which one counts
	}
	if slices.ContainsFunc(c.ResponseModalities, modality.unset) {
		f.ResponseModalities, some = c.ResponseModalities, true
	}
	if !some {
		return nil
	}
	return f
}
