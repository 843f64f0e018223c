package messages

import (
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
// The error is that of [ParseRequest] or [Request.Validate] and lists all
// violations, those of parsing first. opts may be nil. The limits in opts apply to
// parsing too. The version and the betas in opts become headers of the request.
//
// The request has no document if it carries signatures for another vendor, which
// are opened as [Request.Upstream] describes, or content that the vendor refuses:
// thinking with an empty signature, web citations with an empty index, texts in
// base64. Nor has a request of tens of thousands of tiny parts.
func DecodeRequest(body []byte, opts *ValidateOptions) (*upstream.Request, error) {
	if opts == nil {
		opts = &defaultOptions
	}
	r, err := decodeRequest(string(body), opts)
	if err != nil {
		return nil, err
	}
	n, _, _ := r.withDocument(opts.header())
	return n, nil
}

// decodeRequest parses and validates a request document. The request is nil if the
// body is not a JSON document or is beyond a limit.
func decodeRequest(body string, opts *ValidateOptions) (*Request, error) {
	r, err := parseRequest(body, opts.Limits)
	if r == nil {
		return nil, err
	}
	return r, r.Validate(opts) // includes the violations of parsing
}

// Upstream returns the neutral form of the request. Its turns and parts are those
// of r, one for each of the document. Members without a neutral field are in its
// Extra, under their wire names.
//
// Signatures of other vendors that a response has carried are opened: turns and
// parts that hold them are replaced by copies in which signatures and ids are those
// of the vendor. A damaged signature has no Format, so that every format treats it
// as another vendor's. Thinking without a signature has no Format either.
//
// The neutral request has no document: an adapter of this format encodes it again.
// [DecodeRequest] keeps the document.
func (r *Request) Upstream() *upstream.Request {
	n := new(upstream.Request)
	r.neutral(n)
	n.Turns, _, _, _ = decodeState(n.Turns)
	return n
}

// withDocument returns the neutral form of a request that was parsed and not changed
// since, with its document and the headers that belong to it. It also returns
// where the response carries state, and what was dropped from the request.
func (r *Request) withDocument(header []upstream.Field) (*upstream.Request, placement, []content.Loss) {
	n := new(upstream.Request)
	r.neutral(n)
	turns, changed, dropped, losses := decodeState(n.Turns)
	n.Turns, n.Header = turns, header
	if !changed && !unsigned(turns) && !r.isDense() {
		n.SetWire(r.origin.document(header))
	}
	return n, placementOf(n, dropped), losses
}

// isDense reports whether the request has so many parts, and so little in each,
// that remembering them would take more memory than the request itself. Only
// hostile requests are dense.
func (r *Request) isDense() bool {
	const many, each = 20_000, 200
	n := len(r.Tools) + len(r.StopSequences)
	for i := range r.Messages {
		n += 1 + len(r.Messages[i].Parts)
	}
	return n > many && len(r.origin.body) < n*each
}

// neutral says the request in neutral words.
func (r *Request) neutral(n *upstream.Request) {
	*n = upstream.Request{
		Model:         r.Model,
		System:        r.System,
		Turns:         r.Messages,
		Tools:         r.Tools,
		MaxTokens:     r.MaxTokens,
		Temperature:   r.Temperature,
		TopP:          r.TopP,
		TopK:          r.TopK,
		StopSequences: r.StopSequences,
		ServiceTier:   r.ServiceTier,
		Stream:        r.Stream,
	}
	if r.Metadata != nil {
		n.UserID = r.Metadata.UserID
	}
	if r.ToolChoice != nil {
		n.Choice = r.ToolChoice.neutral()
	}
	if r.Thinking != nil {
		n.Thinking = r.Thinking.neutral()
	}
	format := r.OutputFormat
	if c := r.OutputConfig; c != nil {
		n.Thinking.Effort = c.Effort
		if c.Format.schema() != "" {
			format = c.Format
		}
	}
	if s := format.schema(); s != "" {
		n.Output.MediaType, n.Output.Schema.JSON = jsonType, s
	}
	n.Extra = r.leftover()
}

// schema returns the schema that the answer must satisfy, if f says that.
func (f *OutputFormat) schema() string {
	if f == nil || f.Type != jsonSchema {
		return ""
	}
	return f.Schema
}

const (
	jsonSchema = "json_schema"
	jsonType   = "application/json"
)

func (c *ToolChoice) neutral() content.ToolChoice {
	n := content.ToolChoice{NoParallel: c.DisableParallelToolUse, Extra: c.Extra}
	switch c.Type {
	case "auto":
		n.Mode = content.ChoiceAuto
	case "any":
		n.Mode = content.ChoiceAny
	case "tool":
		n.Mode, n.Names = content.ChoiceAny, []string{c.Name}
	case "none":
		n.Mode = content.ChoiceNone
	}
	return n
}

func (t *Thinking) neutral() upstream.Thinking {
	n := upstream.Thinking{Budget: t.BudgetTokens, Display: t.Display, Extra: t.Extra}
	switch t.Type {
	case "enabled":
		n.Mode = upstream.ThinkingBudget
	case "adaptive":
		n.Mode = upstream.ThinkingAuto
	case "disabled":
		n.Mode = upstream.ThinkingOff
	case "between_tools":
		n.Mode = upstream.ThinkingBetweenTools
	}
	return n
}

// leftover returns the members that the neutral request has no field for, as
// a fragment of a document, or nil.
func (r *Request) leftover() *content.Extra {
	f := Request{
		InferenceGeo: r.InferenceGeo, Speed: r.Speed, CacheControl: r.CacheControl, Container: r.Container,
		Diagnostics: r.Diagnostics, MCPServers: r.MCPServers, ContextManagement: r.ContextManagement,
		Compaction: r.Compaction, OutputFormat: r.OutputFormat, Thread: r.Thread, Fallbacks: r.Fallbacks,
		FallbackCreditToken: r.FallbackCreditToken, BillingPolicy: r.BillingPolicy,
	}
	if m := r.Metadata; m != nil && m.Extra != nil {
		f.Metadata = &Metadata{Extra: m.Extra}
	}
	if c := r.ToolChoice; c != nil && !c.known() {
		f.ToolChoice = c
	}
	if t := r.Thinking; t != nil && t.neutral().Mode == "" {
		f.Thinking = t
	}
	f.OutputConfig = r.OutputConfig.leftover(r.OutputFormat != nil)
	some := f.InferenceGeo != "" || f.Speed != "" || f.CacheControl != nil || f.Container != "" ||
		f.Diagnostics != "" || f.MCPServers != "" || f.ContextManagement != "" || f.Compaction != "" ||
		f.OutputFormat != nil || f.Thread != "" || f.Fallbacks != "" || f.FallbackCreditToken != "" ||
		f.BillingPolicy != "" || f.Metadata != nil || f.ToolChoice != nil || f.Thinking != nil || f.OutputConfig != nil
	if !some {
		return r.Extra
	}
	// What a host made and is no JSON is left out here; an encoder of the
	// request itself tells.
	var w jsonwire.Writer
	e := encoder{codec.Encoder{W: &w}}
	w.BeginObject()
	e.rest(&f)
	e.extra(r.Extra, &requestNames)
	w.EndObject()
	return &content.Extra{Format: Format, JSON: w.Text()}
}

// known reports whether the neutral choice says all of c.
func (c *ToolChoice) known() bool {
	switch c.Type {
	case "tool":
		return true
	case "auto", "any", "none":
		return c.Name == ""
	}
	return false
}

// leftover returns what the neutral request has no field for. twice says that
// there is an output_format too, and that the neutral schema does not tell
// whose it is.
func (c *OutputConfig) leftover(twice bool) *OutputConfig {
	if c == nil {
		return nil
	}
	rest := &OutputConfig{Extra: c.Extra}
	switch f := c.Format; {
	case f == nil:
		if c.Extra == nil {
			return nil
		}
	case twice || f.schema() == "":
		rest.Format = f
	case f.Extra != nil:
		rest.Format = &OutputFormat{Extra: f.Extra}
	case c.Extra == nil:
		return nil
	}
	return rest
}
