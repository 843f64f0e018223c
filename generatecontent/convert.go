package generatecontent

import (
	"bytes"
	"slices"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/upstream"
)

// Upstream returns the request in neutral words. Turns and parts are the
// request's own and stand one to one for those of Contents. What the neutral
// request has no field for is in its Extra, under the names of the wire.
//
// Signatures that an answer has carried for another vendor are opened: they are
// plain, and of that vendor's format, in copies of the turns and parts that hold
// them. Such a request brings no document along. A signature that did not come
// back whole has no Format, so that every format takes it for another's.
//
// A request that [ParseRequest] made, and that nobody has changed since but
// for Model, brings its document along: see [upstream.WireOf].
func (r *Request) Upstream() *upstream.Request {
	n := new(upstream.Request)
	r.neutral(n)
	if turns, changed, _ := unseal(n.Turns); changed {
		n.Turns = turns
	} else if r.unchanged(n) {
		w := r.Form.document()
		n.Remember(&w)
	}
	return n
}

// passOn is Upstream for the handler, which knows that the request is as it
// was parsed but for Model, which it has from the URL. It also returns what was
// lost of the request.
func (r *Request) passOn(header []upstream.Field) (*upstream.Request, []content.Loss) {
	n := new(upstream.Request)
	r.neutral(n)
	turns, changed, lost := unseal(n.Turns)
	n.Turns, n.Header = turns, header
	if r.Form != nil && !changed && !r.Form.nested {
		w := r.Form.document()
		n.Remember(&w)
	}
	return n, lost
}

// seal remembers what the request says, so that unchanged can tell.
func (r *Request) seal() {
	if f := r.Form; len(f.body) >= codec.SealFrom && !f.nested {
		var n upstream.Request
		r.neutral(&n)
		f.sealed = codec.Seal(&n, f.document())
	}
}

// unchanged reports whether the request, which is n in neutral words, still
// says what it said when it was parsed, but for Model.
func (r *Request) unchanged(n *upstream.Request) bool {
	switch f := r.Form; {
	case f == nil || f.nested:
		return false
	case f.sealed != nil:
		return f.sealed.Same(n)
	case len(f.body) >= codec.SealFrom:
		return false
	}
	q, err := parseRequest(r.Form.body, reading{limits: codec.UnlimitedRequest})
	if err != nil {
		return false
	}
	q.Model = r.Model
	was, err := q.AppendJSON(nil)
	if err != nil {
		return false
	}
	is, err := r.AppendJSON(nil)
	return err == nil && bytes.Equal(was, is)
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
	e := newEncoder(&w, nil)
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
