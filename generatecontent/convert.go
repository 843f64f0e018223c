package generatecontent

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/absent"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/lower"
	"github.com/polywire/polywire/internal/snapshot"
	"github.com/polywire/polywire/upstream"
)

// DecodeRequest parses and validates a request document and returns the neutral request
// with the document. A client of this format, such as package upstream/gemini, sends the
// bytes of body unless the request is changed: see [upstream.WireOf]. Programs without a
// handler, such as batch workers, keep the vendor's prompt caches valid that way.
//
// The URL of a request names the model and selects streaming. The caller sets
// Model and Stream of the result; the document remains valid. Model is that of the
// document, and usually empty.
//
// The losses are carried signatures that the client did not return as they were sent.
// Formats drop them. The caller reports the losses together with those of the upstream.
//
// The error is that of [ParseRequest] or [Request.Validate] and lists all
// violations, those of parsing first. opts may be nil. The limits in opts apply to
// parsing too. If opts.Count is set, body is that of countTokens.
//
// The request has no document if it carries signatures for another vendor, which are
// decoded as [Request.Upstream] describes, or if body is that of countTokens with a
// generateContentRequest in it.
func DecodeRequest[T ~string | ~[]byte](body T, opts *ValidateOptions) (*upstream.Request, []content.Loss, error) {
	r, err := readRequest(string(body), "", opts)
	if err != nil {
		return nil, nil, err
	}
	n, losses := r.withDocument(nil)
	return n, losses, nil
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
func (r *Request) withDocument(header []upstream.HeaderField) (*upstream.Request, []content.Loss) {
	n := new(upstream.Request)
	r.toNeutral(n)
	decoded := decodeState(n.Turns)
	n.Turns, n.Header = decoded.Turns, header
	d := r.origin.Document(Format)
	d.Parsed, d.Model = r, r.Model
	if decoded.Changed || r.origin.nested {
		n.Wire = d.Paths()
	} else {
		snapshot.Attach(n, d)
	}
	return n, decoded.Losses
}

// Upstream returns the neutral request. Turns and parts are shared with r and correspond
// one to one to those of Contents. Members without a neutral field are in Extra, under
// their wire names. The result has no document; use [DecodeRequest] to forward a document
// unchanged.
//
// If a response carried signatures of another vendor, Upstream decodes them. It replaces
// the turns and parts with such signatures by copies that have the signatures of that
// vendor. A damaged signature has no Format, so every format drops it as a signature of
// another vendor; [DecodeRequest] also reports it as damaged.
func (r *Request) Upstream() *upstream.Request {
	n := new(upstream.Request)
	r.toNeutral(n)
	n.Turns = decodeState(n.Turns).Turns
	return n
}

// toNeutral sets n to the neutral form of the request.
func (r *Request) toNeutral(n *upstream.Request) {
	*n = upstream.Request{
		Model:       r.Model,
		Defaults:    absent.ForGemini(Format),
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
		if !isUnsetModality(m) {
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

func isUnsetModality(m string) bool { return isUnset(modality, m) }

// textTypes maps the media types of responseFormat to the usual ones.
var textTypes = [...][2]string{{"APPLICATION_JSON", "application/json"}, {"TEXT_PLAIN", "text/plain"}}

// textFormat returns the media type and the schema of texts in a responseFormat.
func textFormat(format string) (mediaType, schema string) {
	root := gjson.Parse(format)
	text := root.Get("text")
	if root.IsArray() {
		root.ForEach(func(_, x gjson.Result) bool {
			text = x.Get("text")
			return !text.Exists()
		})
	}
	for _, t := range textTypes {
		if text.Get("mimeType").Str == t[0] {
			mediaType = t[1]
		}
	}
	if s := text.Get("schema"); s.Type != gjson.Null && mediaType != "" {
		schema = s.Raw
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
		if n.Mode == "" && n.Effort == "" {
			n.Mode = upstream.ThinkingAuto // the default of the vendor's models
		}
	case show != nil, n.Mode != "" && n.Mode != upstream.ThinkingOff, n.Effort != "":
		n.Display = "omitted" // the vendor's default
	}
	return n
}

// unmappedMembers returns the members without a neutral field as part of a document, or
// nil.
func (r *Request) unmappedMembers() *content.Extra {
	f := Request{SafetySettings: r.SafetySettings, CachedContent: r.CachedContent, Store: r.Store, Extra: r.Extra}
	if s := r.SystemInstruction; s != nil && s.Extra != nil {
		f.SystemInstruction = &Instruction{Extra: s.Extra}
	}
	if c := r.ToolConfig; c != nil && (c.IncludeServerSideToolInvocations || c.Extra != nil) {
		f.ToolConfig = &ToolConfig{IncludeServerSideToolInvocations: c.IncludeServerSideToolInvocations, Extra: c.Extra}
	}
	f.GenerationConfig = r.GenerationConfig.unmappedMembers()
	some := len(f.SafetySettings) > 0 || f.CachedContent != "" || f.Store != nil || f.SystemInstruction != nil ||
		f.ToolConfig != nil || f.GenerationConfig != nil
	if !some {
		return r.Extra
	}
	// Invalid JSON text in a field that the caller has set is omitted here. Encoding the
	// request itself reports it.
	var w jsonwire.Writer
	w.BeginObject()
	newEncoder(&w).members(requestType, &f)
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
		MediaResolution: c.MediaResolution, Extra: c.Extra,
	}
	some := f.ResponseLogprobs || f.Logprobs != nil || f.ResponseFormat != "" || f.MediaResolution != "" || f.Extra != nil
	if c.ResponseSchema != "" && c.ResponseJSONSchema != "" {
		f.ResponseSchema, some = c.ResponseSchema, true
	}
	if i := c.ImageConfig; i != nil && i.Extra != nil {
		f.ImageConfig, some = &ImageConfig{Extra: i.Extra}, true
	}
	if t := c.ThinkingConfig; t != nil {
		hasBoth := t.ThinkingBudget != nil && t.ThinkingLevel != "" // invalid, but Upstream converts any request
		n := t.toNeutral()
		hasDefault := t.IncludeThoughts == nil && n.Display != "" || t.ThinkingBudget == nil && n.Mode != ""
		if hasBoth || hasDefault {
			f.ThinkingConfig, some = t, true
		}
	}
	if c.hasTwoFormats() {
		f.ResponseMimeType = c.ResponseMimeType // shows other formats which one takes precedence
	}
	if slices.ContainsFunc(c.ResponseModalities, isUnsetModality) { // one pass
		f.ResponseModalities, some = c.ResponseModalities, true
	}
	if !some {
		return nil
	}
	return f
}

// RequestFromUpstream converts a neutral request to this format and reports the losses.
// The result shares parts and lists with n; those that must be changed are copied first.
// Without losses, converting a [Request] to its neutral form and back gives an equal
// request, except for empty configurations and the spelling of schemas.
//
// Tool names and tool call ids are not changed. [Request.Validate] checks them; the clients
// in the packages below upstream replace those that the format does not accept.
//
// The conversion of a turn does not depend on later turns. The beginning of a conversation
// therefore stays equal, which vendors' caches require. A system text that applies only
// until the next user message is omitted after it, which is not a loss.
//
// The error lists violations: content that cannot be represented, and without which the
// response would be wrong. The request and the losses are returned even with an error.
func RequestFromUpstream(n *upstream.Request) (*Request, []content.Loss, error) {
	lowered, losses, err := lower.Lower(n, &baseTarget, false)
	lowered.Parsed = false // the caller may change the result
	return LoweredRequest(lowered), lower.Losses(losses), err
}

// requestFromExtra parses the result of unmappedMembers. Invalid members of an Extra that
// a caller made are left zero.
func requestFromExtra(x *content.Extra) *Request {
	w := &parsedRequest{}
	if doc := codec.Open(x, Format); doc != nil {
		defer doc.Close()
		p := newParser(w)
		defer p.close()
		if doc.Root().Kind() == jsonwire.Object {
			p.Read(doc.Root(), requestType, &w.request)
		}
	}
	return &w.request
}

// fromNeutral sets the members with a neutral field.
func (c *GenerationConfig) fromNeutral(n *upstream.Request) {
	c.MaxOutputTokens, c.Temperature, c.TopP, c.TopK, c.Seed = n.MaxTokens, n.Temperature, n.TopP, n.TopK, n.Seed
	c.PresencePenalty, c.FrequencyPenalty = n.PresencePenalty, n.FrequencyPenalty
	c.StopSequences, c.CandidateCount = n.StopSequences, int64(n.Candidates)
	if t := c.ThinkingConfig; t == nil || !t.equalsNeutral(&n.Thinking) {
		c.ThinkingConfig = t.fromNeutral(&n.Thinking)
	}
	o := &n.Output
	var modalities []string
	for _, m := range o.Modalities {
		modalities = append(modalities, enumName(modality, m))
	}
	if !slices.Equal(modalities, slices.DeleteFunc(slices.Clone(c.ResponseModalities), isUnsetModality)) { // it has unset values too
		c.ResponseModalities = modalities
	}
	if o.AspectRatio != "" || o.ImageSize != "" {
		var image ImageConfig
		if c.ImageConfig != nil {
			image = *c.ImageConfig
		}
		image.AspectRatio, image.ImageSize = o.AspectRatio, o.ImageSize
		c.ImageConfig = &image
	}
	switch mediaType, schema := textFormat(c.ResponseFormat); {
	case mediaType == "":
	case o.MediaType == mediaType && o.Schema == (content.Schema{JSON: schema}):
		return // responseFormat already specifies it
	case o.MediaType == "" && o.Schema.JSON == "":
		c.ResponseFormat = ""
		return
	}
	c.ResponseMimeType = o.MediaType
	if o.Schema.OpenAPI {
		c.ResponseSchema = o.Schema.JSON
	} else {
		c.ResponseJSONSchema = o.Schema.JSON
	}
}

// isSet reports whether a member with a neutral field is set.
func (c *GenerationConfig) isSet() bool {
	return c.MaxOutputTokens != nil || c.Temperature != nil || c.TopP != nil || c.TopK != nil || c.Seed != nil ||
		c.PresencePenalty != nil || c.FrequencyPenalty != nil || len(c.StopSequences) > 0 || c.CandidateCount != 0 ||
		c.ResponseMimeType != "" || c.ResponseSchema != "" || c.ResponseJSONSchema != "" ||
		len(c.ResponseModalities) > 0 || c.ImageConfig != nil || c.ThinkingConfig != nil
}

// equalsNeutral reports whether n is the neutral form of t.
func (t *ThinkingConfig) equalsNeutral(n *upstream.Thinking) bool {
	m := t.toNeutral()
	return m.Mode == n.Mode && m.Effort == n.Effort && m.Display == n.Display && (m.Budget == nil) == (n.Budget == nil) &&
		(m.Budget == nil || *m.Budget == *n.Budget) && (m.Extra == nil) == (n.Extra == nil) &&
		(m.Extra == nil || *m.Extra == *n.Extra)
}

// autoBudget returns the budget that lets the model decide.
func autoBudget() *int64 {
	n := int64(-1)
	return &n
}

// fromNeutral returns the configuration for n, or nil if it is empty. t is the configuration
// of another request, or nil: if both show thinking alike, the result has its member for that.
func (t *ThinkingConfig) fromNeutral(n *upstream.Thinking) *ThinkingConfig {
	to := ThinkingConfig{ThinkingLevel: strings.ToUpper(n.Effort), Extra: n.Extra}
	switch n.Mode {
	case upstream.ThinkingOff:
		to.ThinkingBudget = new(int64)
	case upstream.ThinkingBudget:
		to.ThinkingBudget = n.Budget
	case upstream.ThinkingAuto:
		if n.Effort == "" {
			to.ThinkingBudget = autoBudget()
		}
	}
	if t != nil && t.toNeutral().Display == n.Display {
		to.IncludeThoughts = t.IncludeThoughts
	} else if n.Display != "" {
		show := n.Display != "omitted"
		to.IncludeThoughts = &show
	}
	if to == (ThinkingConfig{}) {
		return nil
	}
	return &to
}
