package messages

import (
	"cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/absent"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/lower"
	"github.com/polywire/polywire/internal/snapshot"
	"github.com/polywire/polywire/upstream"
)

// DecodeRequest parses and validates a request document. It returns the neutral request
// with the document. A client of this format, such as package upstream/anthropic, sends the
// bytes of body unless the request is changed: see [upstream.WireOf]. Programs without a
// handler, such as batch workers, keep the vendor's prompt caches valid that way.
//
// The losses are carried signatures that the client did not return as they were sent.
// Formats drop them. The caller reports the losses together with those of the upstream.
//
// The error is that of [ParseRequest] or [Request.Validate]. It lists all violations,
// those of parsing first. opts may be nil. The limits in opts apply to parsing too. The
// version and the betas in opts become headers of the request.
//
// The request has no document if it carries signatures for another vendor, which are
// decoded as [Request.Upstream] describes. It has none either if it contains content that
// the vendor rejects: thinking with an empty signature, web citations with an empty index,
// or base64 texts. To save memory, a request of more than 20,000 very small parts has no
// document.
func DecodeRequest[T ~string | ~[]byte](body T, opts *ValidateOptions) (*upstream.Request, []content.Loss, error) {
	opts = cmp.Or(opts, &defaultOptions)
	r, err := decodeRequest(string(body), opts, nil)
	if err != nil {
		return nil, nil, err
	}
	n, losses := r.withDocument(opts.header())
	return n, losses, nil
}

// decodeRequest parses and validates a request document. The request is nil if the
// body is not a JSON document or is beyond a limit. at is the path of the request if it
// may have the model, or nil: then decodeRequest sets the version in opts.
func decodeRequest(body string, opts *ValidateOptions, at *vertexPath) (*Request, error) {
	r, err := parseRequest(body, opts.Limits, at)
	if r == nil {
		return nil, err
	}
	if at != nil {
		c := r.origin.cloud
		opts.Version, opts.Betas = c.version, codec.HeaderList(append(opts.Betas, c.betas...)...)
	}
	return r, r.Validate(opts) // includes the violations of parsing
}

// Upstream returns the neutral form of the request. Its turns and parts are those of r, in
// the same order. Members without a neutral field are in its Extra, under their wire names.
//
// If a response carried signatures of another vendor, Upstream decodes them. It replaces
// the turns and parts with such signatures by copies that have the signatures and ids of
// that vendor. A damaged signature has no Format, so every format drops it as a signature
// of another vendor; [DecodeRequest] also reports it as damaged. Thinking without a
// signature has no Format either.
//
// The neutral request has no document: a client of this format encodes it again.
// [DecodeRequest] keeps the document.
func (r *Request) Upstream() *upstream.Request {
	n := new(upstream.Request)
	r.neutral(n)
	decoded, _ := decodeState(n.Turns)
	n.Turns = decoded.Turns
	return n
}

// withDocument returns the neutral form of a request that was parsed and not changed
// since, with its document and the headers that belong to it. It also returns what was
// dropped from the request.
func (r *Request) withDocument(header []upstream.HeaderField) (*upstream.Request, []content.Loss) {
	n := new(upstream.Request)
	r.neutral(n)
	decoded, dropped := decodeState(n.Turns)
	n.Turns, n.Header = decoded.Turns, header
	d := r.origin.document(r.has("thread"))
	d.Parsed, d.Model, d.StateDropped = r, r.Model, dropped
	d.Partial = d.Member(versionMember) != "" || d.Member(betaMember) != ""
	snapshot.Keep(n, d, !decoded.Changed && !unsigned(n.Turns) && !r.origin.isWhole())
	return n, decoded.Losses
}

// neutral sets n to the neutral form of the request.
func (r *Request) neutral(n *upstream.Request) {
	*n = upstream.Request{
		Model:         r.Model,
		Defaults:      absent.ParseClaude(r.Model).Defaults(Format),
		System:        r.System,
		Turns:         r.Messages,
		Tools:         r.Tools,
		MaxTokens:     r.MaxTokens,
		Temperature:   r.Temperature,
		TopP:          ifSet(r.TopP),
		TopK:          ifSet(r.TopK),
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
		if n.Thinking = r.Thinking.neutral(); n.Thinking.Mode == "" { // it has another mode
			n.Defaults.Thinking = ""
		}
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

// notSet is the value of top_p and top_k by which older clients mark them as not set.
const notSet = -1

// isSet reports whether a parameter of sampling has a value.
func isSet[T int64 | float64](n *T) bool { return n != nil && *n != notSet }

// ifSet returns n, or nil if it is not set.
func ifSet[T int64 | float64](n *T) *T {
	if isSet(n) {
		return n
	}
	return nil
}

// schema returns the schema of the response, or an empty string.
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

// leftover returns the members without a neutral field, as a document, or nil.
func (r *Request) leftover() *content.Extra {
	f := Request{
		InferenceGeo: r.InferenceGeo, Speed: r.Speed, CacheControl: r.CacheControl, OutputFormat: r.OutputFormat,
	}
	if m := r.Metadata; m != nil && m.Extra != nil {
		f.Metadata = &Metadata{Extra: m.Extra}
	}
	if c := r.ToolChoice; c != nil && !c.isNeutral() {
		f.ToolChoice = c
	}
	if t := r.Thinking; t != nil && t.neutral().Mode == "" {
		f.Thinking = t
	}
	f.OutputConfig = r.OutputConfig.leftover(r.OutputFormat != nil)
	if f.InferenceGeo == "" && f.Speed == "" && f.CacheControl == nil && f.OutputFormat == nil &&
		f.Metadata == nil && f.ToolChoice == nil && f.Thinking == nil && f.OutputConfig == nil {
		return r.Extra
	}
	f.Extra = r.Extra
	// Free JSON that a host has set, and that is not valid, is dropped here. Encoding
	// the request itself reports it.
	var w jsonwire.Writer
	e := newEncoder(&w)
	w.BeginObject()
	for m := range requestType.Written(&f) {
		if !m.Required && !e.Member(m, &f) {
			e.special(m, &f, m.At(&f))
		}
	}
	e.Rest(requestType, f.Extra)
	w.EndObject()
	return &content.Extra{Format: Format, JSON: w.Text()}
}

// isNeutral reports whether the neutral choice represents all of c.
func (c *ToolChoice) isNeutral() bool {
	switch c.Type {
	case "tool":
		return true
	case "auto", "any", "none":
		return c.Name == ""
	}
	return false
}

// leftover returns the members without a neutral field, or nil. ambiguous reports that the
// request has an output_format too, so that the neutral schema is ambiguous.
func (c *OutputConfig) leftover(ambiguous bool) *OutputConfig {
	if c == nil {
		return nil
	}
	rest := &OutputConfig{Extra: c.Extra}
	switch f := c.Format; {
	case f == nil:
		if c.Extra == nil {
			return nil
		}
	case ambiguous || f.schema() == "":
		rest.Format = f
	case f.Extra != nil:
		rest.Format = &OutputFormat{Extra: f.Extra}
	case c.Extra == nil:
		return nil
	}
	return rest
}

// RequestFromUpstream converts n to the Messages format. It returns a loss for each part or
// setting that the format cannot represent, or can represent only in another form. The
// request shares the parts of n, except those that are converted. If there are no losses,
// converting a [Request] to its neutral form and back returns an equal request.
//
// The request satisfies the rules that hold for all models. Tool results are at the
// beginning of the turn after their calls. There are no empty texts, schemas are in the
// dialect of the format, and thinking that a signature carries is restored. Consecutive
// turns of a role are joined if they contain tool calls, results or thinking. A tool call
// without a result gets a result that states this. The request may still violate rules of
// its model. Names, ids and links are not changed.
//
// MaxTokens is nil if n has none, although the format requires it, because a useful
// value depends on the model.
//
// The error lists a [content.Violation] for all content that cannot be represented and without
// which the response would be wrong, such as a file of a type that the format does not accept.
// The request and the losses are returned even with an error.
func RequestFromUpstream(n *upstream.Request) (*Request, []content.Loss, error) {
	t := BaseTarget(n)
	to, losses, err := lower.Lower(n, &t, false)
	to.Parsed = false // the caller may change the result
	return LoweredRequest(to), lower.Losses(losses), err
}

// toolChoiceOf returns the member for a neutral tool choice. own is a choice without a
// neutral form, or nil.
func toolChoiceOf(c *content.ToolChoice, own *ToolChoice) *ToolChoice {
	if own != nil && c.Mode == own.neutral().Mode && len(c.Names) == 0 && c.NoParallel == own.DisableParallelToolUse {
		return own
	}
	if c.Mode == "" && !c.NoParallel && c.Extra == nil {
		return nil
	}
	t := &ToolChoice{Type: "auto", DisableParallelToolUse: c.NoParallel, Extra: c.Extra}
	switch {
	case c.Mode == content.ChoiceNone:
		t.Type = "none"
	case c.Mode == content.ChoiceAny && len(c.Names) == 1:
		t.Type, t.Name = "tool", c.Names[0]
	case c.Mode == content.ChoiceAny:
		t.Type = "any"
	}
	return t
}

// thinkingOf returns the member for neutral thinking. own is a mode without a neutral form,
// or nil.
func thinkingOf(n *upstream.Thinking, own *Thinking) *Thinking {
	t := &Thinking{BudgetTokens: n.Budget, Display: n.Display, Extra: n.Extra}
	switch n.Mode {
	case upstream.ThinkingBudget:
		t.Type = "enabled"
	case upstream.ThinkingAuto:
		t.Type = "adaptive"
	case upstream.ThinkingOff:
		t.Type = "disabled"
	case upstream.ThinkingBetweenTools:
		t.Type = "between_tools"
	default:
		return own
	}
	return t
}

// setOutput sets OutputConfig and OutputFormat. Before, these hold the members that the
// neutral request has no field for.
func (r *Request) setOutput(schema, effort string) {
	cfg := r.OutputConfig
	if cfg == nil {
		cfg = &OutputConfig{}
	}
	cfg.Effort = effort
	if !hasSchema(schema, cfg.Format, r.OutputFormat) {
		if r.OutputFormat.schema() != "" {
			r.OutputFormat = nil
		}
		cfg.Format = cfg.Format.withSchema(schema)
	}
	if cfg.Effort != "" || cfg.Format != nil {
		r.OutputConfig = cfg
	}
}

// fromExtra parses the members that leftover has written. Callers can set any Extra; members
// that are not valid remain zero.
func fromExtra(x *content.Extra) *Request {
	var r Request
	if doc := codec.Open(x, Format); doc != nil {
		defer doc.Close()
		p := newParser()
		defer p.close()
		p.Response = true // nothing is checked, and nothing is left out
		p.Read(doc.Root(), requestType, &r)
	}
	return &r
}

func (c *OutputConfig) format() *OutputFormat {
	if c == nil {
		return nil
	}
	return c.Format
}

// hasSchema reports whether the format, or only its older form, has the schema.
func hasSchema(schema string, format, older *OutputFormat) bool {
	if f := format.schema(); f != "" {
		return f == schema
	}
	return older.schema() == schema && (format == nil || format.Type != "")
}

// withSchema returns f with another schema, without the other members for the old schema.
func (f *OutputFormat) withSchema(schema string) *OutputFormat {
	switch {
	case schema == "" && f != nil && f.Type != "" && f.Type != jsonSchema:
		return f
	case schema == "":
		return nil
	case f == nil:
		f = &OutputFormat{}
	}
	f.Type, f.Schema = jsonSchema, schema
	return f
}
