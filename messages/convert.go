package messages

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
	dialects "github.com/polywire/polywire/internal/schema"
	"github.com/polywire/polywire/internal/snapshot"
	"github.com/polywire/polywire/upstream"
)

// DecodeRequest parses and validates a request document. It returns the neutral request
// with the document. A client of this format, such as package upstream/anthropic, sends the
// bytes of body unless the request is changed: see [WireOf]. Programs without a
// [Handler], such as batch workers, keep the vendor's prompt caches valid that way.
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
func DecodeRequest(body []byte, opts *ValidateOptions) (*upstream.Request, []content.Loss, error) {
	if opts == nil {
		opts = &defaultOptions
	}
	r, err := decodeRequest(string(body), opts)
	if err != nil {
		return nil, nil, err
	}
	n, _, losses := r.withDocument(opts.header())
	return n, losses, nil
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
	n.Turns, _, _, _ = decodeState(n.Turns)
	return n
}

// WireOf returns the document from which r was parsed if it is a Messages document and
// r still represents it. An adapter sends it instead of encoding r, with another value of
// the members "model" and "stream" if needed, and with r.Header. WireOf returns false if
// r is a copy other than one of [upstream.Request.WithModel], or if a field or part of r
// has changed. It ignores changes of Model, Stream, Resolver, ForwardLinks and RejectLoss,
// which the document does not contain or the adapter replaces. It also ignores the
// replacement of a part by an equal one, and of a nil list by an empty one.
//
// WireOf does not allocate.
func WireOf(r *upstream.Request) (document string, ok bool) {
	if d := snapshot.DocumentOf(r, Format); d != nil {
		return d.Body, true
	}
	return "", false
}

// withDocument returns the neutral form of a request that was parsed and not changed
// since, with its document and the headers that belong to it. It also returns
// where the response carries state, and what was dropped from the request.
func (r *Request) withDocument(header []upstream.HeaderField) (*upstream.Request, placement, []content.Loss) {
	n := new(upstream.Request)
	r.neutral(n)
	turns, changed, dropped, losses := decodeState(n.Turns)
	n.Turns, n.Header = turns, header
	if !changed && !unsigned(turns) && !r.isDense() {
		snapshot.Attach(n, r.origin.document())
	}
	return n, placementOf(n, dropped), losses
}

// isDense reports whether the request has so many small parts that the positions of the
// parts need more memory than the request itself. Only hostile requests are dense.
func (r *Request) isDense() bool {
	const many, each = 20_000, 200
	n := len(r.Tools) + len(r.StopSequences)
	for i := range r.Messages {
		n += 1 + len(r.Messages[i].Parts)
	}
	return n > many && len(r.origin.body) < n*each
}

// neutral sets n to the neutral form of the request.
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
// its model. Names and ids are not changed.
//
// MaxTokens is nil if n has none, although the format requires it, because a useful
// value depends on the model.
func RequestFromUpstream(n *upstream.Request) (*Request, []content.Loss) {
	c := converter{Losses: codec.Losses{Format: Format}, from: n, to: fromExtra(n.Extra)}
	r := c.to
	c.Foreign(n.Extra, foreign.Request, "extra")
	r.Model, r.MaxTokens, r.Stream = n.Model, n.MaxTokens, n.Stream
	c.sampling()
	r.System = c.system(n.System)
	r.Messages = c.turns(n.Turns)
	r.Tools = c.tools(n.Tools)
	r.ToolChoice = c.choice()
	r.Thinking = c.thinking()
	c.output()
	c.userID()
	c.tier()
	c.unsupported()
	return r, loss.Unique(c.Losses.Losses)
}

// fromExtra parses the members that leftover has written. Callers can set any Extra; members
// that are not valid remain zero.
func fromExtra(x *content.Extra) *Request {
	var r Request
	if doc := codec.Open(x, Format); doc != nil {
		defer doc.Close()
		p := &parser{size: 1}
		p.members(doc.Root(), requestType, &r)
	}
	return &r
}

type converter struct {
	codec.Losses
	from *upstream.Request
	to   *Request
	turnState
	schemas   dialects.ExpansionLimit
	mapped    []content.Tool  // tools of other vendors that were replaced
	toolNames map[string]bool // names of functions and of this vendor's tools; nil until needed
}

// sampling converts the sampling parameters.
func (c *converter) sampling() {
	n, r := c.from, c.to
	r.Temperature, r.TopP, r.TopK = n.Temperature, n.TopP, n.TopK
	if t := n.Temperature; t != nil && (*t > 1 || *t < 0) {
		within := max(0, min(1, *t))
		r.Temperature = &within
		c.lose(lossTemperature, "temperature")
	}
	if p := n.TopP; p != nil && (*p > 1 || *p < 0) {
		r.TopP = nil
		c.lose(lossTopP, "top_p")
	}
	if k := n.TopK; k != nil && *k < 0 {
		r.TopK = nil
		c.lose(lossTopK, "top_k")
	}
	r.StopSequences = n.StopSequences
	if slices.ContainsFunc(n.StopSequences, isBlank) {
		r.StopSequences = slices.DeleteFunc(slices.Clone(n.StopSequences), isBlank)
		c.lose(lossStop, "stop_sequences")
	}
}

// unsupported reports parameters that the format does not have.
func (c *converter) unsupported() {
	n := c.from
	for _, x := range [...]struct {
		set  bool
		path string
		rule int
	}{
		{n.Seed != nil, "seed", lossSeed},
		{isNonzero(n.PresencePenalty), "presence_penalty", lossPresence},
		{isNonzero(n.FrequencyPenalty), "frequency_penalty", lossFrequency},
		{n.Candidates > 1, "candidates", lossCandidates},
		{n.Output.AspectRatio != "", "output.aspect_ratio", lossImageOutput},
		{n.Output.ImageSize != "", "output.image_size", lossImageOutput},
		{slices.ContainsFunc(n.Output.Modalities, func(m string) bool { return m != "text" }), "output.modalities", lossModalities},
	} {
		if x.set {
			c.lose(x.rule, x.path)
		}
	}
}

// isNonzero reports whether a penalty has an effect.
func isNonzero(penalty *float64) bool { return penalty != nil && *penalty != 0 }

func (c *converter) thinking() *Thinking {
	n := &c.from.Thinking
	c.Foreign(n.Extra, foreign.Thinking, "thinking.extra")
	t := &Thinking{BudgetTokens: n.Budget, Display: n.Display, Extra: c.Own(n.Extra)}
	switch n.Mode {
	case upstream.ThinkingBudget:
		t.Type = "enabled"
	case upstream.ThinkingAuto:
		t.Type = "adaptive"
	case upstream.ThinkingOff:
		t.Type = "disabled"
	case upstream.ThinkingBetweenTools:
		t.Type = "between_tools"
	case "":
		if old := c.to.Thinking; old != nil {
			return old
		}
		if n.Budget != nil {
			c.lose(lossBudget, "thinking.budget")
		}
		c.reportDisplay(false)
		return nil
	default:
		c.lose(lossMode, "thinking.mode")
		return nil
	}
	switch {
	case n.Display == "full":
		t.Display = "summarized"
		c.lose(lossFullDisplay, "thinking.display")
	case !hasDisplay(t.Type):
		t.Display = ""
		c.reportDisplay(t.Type == "between_tools")
	}
	return t
}

// reportDisplay reports a thinking display that is not sent. Hiding thinking is not a loss
// if the model does not think.
func (c *converter) reportDisplay(thinks bool) {
	if d := c.from.Thinking.Display; d != "" && (thinks || d != "omitted") {
		c.lose(lossDisplay, "thinking.display")
	}
}

// hasDisplay reports whether a thinking mode accepts a display.
func hasDisplay(mode string) bool { return mode == "enabled" || mode == "adaptive" }

func (c *converter) effort() string {
	switch e := c.from.Thinking.Effort; e {
	case "", "low", "medium", "high", "xhigh", "max":
		return e
	case "minimal":
		c.lose(lossMinimalEffort, "thinking.effort")
		return "low"
	}
	c.lose(lossEffort, "thinking.effort")
	return ""
}

// maxUserID limits a user id, in characters.
const maxUserID = 512

func (c *converter) userID() {
	id := c.from.UserID
	if id == "" {
		return
	}
	if len(id) > maxUserID && utf8.RuneCountInString(id) > maxUserID {
		sum := sha256.Sum256([]byte(id))
		id = "sha256-" + hex.EncodeToString(sum[:])
		c.lose(lossUserID, "user_id")
	}
	if c.to.Metadata == nil {
		c.to.Metadata = &Metadata{}
	}
	c.to.Metadata.UserID = id
}

func (c *converter) tier() {
	switch t := c.from.ServiceTier; t {
	case "", "auto", "standard_only":
		c.to.ServiceTier = t
	case "unspecified": // the default
	default:
		c.lose(lossTier, "service_tier")
	}
}

// tools converts the tools. If only some functions may be called, it returns only these
// functions.
func (c *converter) tools(tools []content.Tool) []content.Tool {
	only, limited := c.allowedFunctions()
	list, _ := codec.Rewrite(tools, func(i int, t content.Tool) (content.Tool, bool, bool) {
		if limited && t.Kind == "" && !only[t.Name] {
			return t, false, false
		}
		return c.tool(t, "tools."+strconv.Itoa(i))
	})
	if len(list) == 0 {
		return nil
	}
	return list
}

// allowedFunctions returns the names of the functions that are sent, if limited is true.
func (c *converter) allowedFunctions() (names map[string]bool, limited bool) {
	n := &c.from.Choice
	if len(n.Names) > 0 {
		names = make(map[string]bool, len(n.Names))
		for _, name := range n.Names {
			names[name] = true
		}
	}
	known, others := false, false
	for _, t := range c.from.Tools {
		if t.Kind == "" {
			named := names[t.Name]
			known, others = known || named, others || !named
		}
	}
	switch {
	case n.Mode == content.ChoiceNone:
		if (known || others) && c.hasFreeTools() {
			c.lose(lossChoiceNone, "choice.mode")
			return nil, true
		}
	case !others, len(n.Names) == 0, n.Mode == content.ChoiceAny && len(n.Names) == 1:
	default:
		c.lose(lossChoiceNames, "choice.names")
		return names, known // without a known name the vendor reports the error
	}
	return nil, false
}

// hasFreeTools reports whether there are tools that the choice of their own vendor does not
// limit, but that of Messages does.
func (c *converter) hasFreeTools() bool {
	return slices.ContainsFunc(c.from.Tools, func(t content.Tool) bool {
		return slices.ContainsFunc(toolMappings[:], func(mapping toolMapping) bool { return mapping.foreignKind == t.Kind && mapping.ignoresChoice })
	})
}

// tool converts a tool and reports its losses.
func (c *converter) tool(t content.Tool, path string) (left content.Tool, changed, keep bool) {
	if t.Kind != "" {
		return c.vendorTool(t, path)
	}
	c.foreignExtra(t.Extra, foreign.Tool, path)
	if t.Output.JSON != "" {
		c.lose(lossToolOutput, path+".output")
	}
	if t.Input.JSON == "" {
		return t, false, true
	}
	dialect := dialects.JSONSchema
	if t.Strict {
		dialect = dialects.MessagesStrict
	}
	text, lost := c.schemas.Input(dialect, t.Input)
	dialects.AddLosses(&c.Log, path+".input", lost)
	if len(lost) == 0 && !t.Input.OpenAPI {
		if text == t.Input.JSON || isUnchanged(dialect, t.Input.JSON) {
			return t, false, true
		}
		c.lose(lossInputDialect, path+".input")
	}
	t.Input = content.Schema{JSON: text}
	return t, true, true
}

// isUnchanged reports whether the only change to a schema would be a list of properties,
// which this format does not require.
func isUnchanged(d dialects.Dialect, schema string) bool {
	end := strings.LastIndexByte(schema, '}')
	return end > 0 && dialects.Fits(d, content.Schema{JSON: schema[:end] + `,"properties":{}}`})
}

// A toolMapping maps a built-in tool of another vendor to the tool of this vendor for the
// same purpose.
type toolMapping struct {
	foreignKind, kind, name string
	ignoresChoice           bool // the choice of the other vendor does not limit the tool
}

var toolMappings = [...]toolMapping{
	{"googleSearch", "web_search_20250305", "web_search", true},
	{"web_search", "web_search_20250305", "web_search", false},
	{"web_search_2025_08_26", "web_search_20250305", "web_search", false},
	{"web_search_preview", "web_search_20250305", "web_search", false},
	{"codeExecution", "code_execution_20250825", "code_execution", true},
	{"code_interpreter", "code_execution_20250825", "code_execution", false},
	{"urlContext", "web_fetch_20250910", "web_fetch", true},
}

// vendorTool replaces a built-in tool of another vendor, if this vendor has one for the same
// purpose.
func (c *converter) vendorTool(t content.Tool, path string) (left content.Tool, changed, keep bool) {
	if t.Format == Format {
		return t, false, true
	}
	for _, mapping := range toolMappings {
		if mapping.foreignKind != t.Kind {
			continue
		}
		switch {
		case slices.ContainsFunc(c.mapped, func(o content.Tool) bool { return o.Kind == t.Kind && o.Raw == t.Raw }):
			c.lose(lossToolDuplicate, path)
			return t, false, false
		case c.isNameTaken(mapping.name):
			c.lose(lossToolConflict, path)
			return t, false, false
		}
		c.mapped = append(c.mapped, t)
		c.lose(lossToolMapped, path)
		return content.Tool{Kind: mapping.kind, Format: Format, Name: mapping.name, Raw: mappedTool(mapping.kind, mapping.name, t.Raw)}, true, true
	}
	c.KeepTool(&t, path)
	return t, false, false
}

// isNameTaken reports whether another tool has the name of a built-in tool.
func (c *converter) isNameTaken(name string) bool {
	if c.toolNames == nil {
		c.toolNames = make(map[string]bool, len(c.from.Tools))
		for _, t := range c.from.Tools {
			if t.Kind == "" || t.Format == Format {
				c.toolNames[t.Name] = true
			}
		}
	}
	if c.toolNames[name] {
		return true
	}
	for _, t := range c.mapped {
		for _, mapping := range toolMappings {
			if mapping.foreignKind == t.Kind && mapping.name == name {
				return true
			}
		}
	}
	return false
}

// mappedTool returns the definition of a tool, with the settings of another vendor's tool
// that have the same meaning.
func mappedTool(kind, name, theirs string) string {
	var w jsonwire.Writer
	w.BeginObject()
	w.Name("type")
	w.String(kind)
	w.Name("name")
	w.String(name)
	if name == "web_search" && gjson.Valid(theirs) {
		if domains := gjson.Get(theirs, "filters.allowed_domains"); domains.Get("0").Exists() {
			w.Name("allowed_domains")
			w.Raw(domains.Raw)
		}
		if where := gjson.Get(theirs, "user_location"); where.Get("type").Str == "approximate" {
			w.Name("user_location")
			w.Raw(where.Raw)
		}
	}
	w.EndObject()
	return w.Text()
}

// choice converts the tool choice. The tools must have been converted.
func (c *converter) choice() *ToolChoice {
	n := &c.from.Choice
	c.Foreign(n.Extra, foreign.Choice, "choice.extra")
	if t := c.to.ToolChoice; t != nil && n.Mode == t.neutral().Mode && len(n.Names) == 0 &&
		n.NoParallel == t.DisableParallelToolUse {
		return t
	}
	t := &ToolChoice{DisableParallelToolUse: n.NoParallel, Extra: c.Own(n.Extra)}
	if n.Mode == "" && !n.NoParallel && t.Extra == nil && len(n.Names) == 0 {
		return nil
	}
	if len(c.to.Tools) == 0 && !c.to.has("mcp_servers") {
		c.lose(lossChoiceNoTools, "choice")
		return nil
	}
	t.Type = "auto"
	switch n.Mode {
	case "", content.ChoiceAuto:
	case content.ChoiceNone:
		t.DisableParallelToolUse = false
		if !c.hasFreeTools() {
			t.Type = "none"
		}
	case content.ChoiceAny:
		c.forceCall(t)
	case content.ChoiceValidated:
		c.lose(lossChoiceValidated, "choice.mode")
	default:
		c.lose(lossChoice, "choice.mode")
	}
	return t
}

// forceCall makes t require the call of a function.
func (c *converter) forceCall(t *ToolChoice) {
	names := c.from.Choice.Names
	if len(names) != 1 && c.hasFreeTools() {
		names = nil
		for _, tool := range c.to.Tools {
			if tool.Kind == "" {
				names = append(names, tool.Name)
			}
		}
		switch len(names) {
		case 0:
			c.lose(lossChoiceNoTools, "choice")
			return
		case 1:
		default:
			c.lose(lossChoiceAny, "choice.mode")
		}
	}
	if t.Type = "any"; len(names) == 1 {
		t.Type, t.Name = "tool", names[0]
	}
}

// output sets OutputConfig and OutputFormat. Before, these hold the members that the neutral
// request has no field for.
func (c *converter) output() {
	n, r := &c.from.Output, c.to
	c.Foreign(n.Extra, foreign.Output, "output.extra")
	wanted := c.schema()
	if wanted != "" && !hasSchema(wanted, r.OutputConfig.format(), r.OutputFormat) {
		text, lost := dialects.Output(dialects.MessagesStrict, n.Schema)
		dialects.AddLosses(&c.Log, "output.schema", lost)
		switch text {
		case "true": // any JSON value
			text = "{}"
		case "false": // no value
			text = ""
			c.lose(lossJSONMode, "output.schema")
		}
		if text != "" && len(lost) == 0 && !n.Schema.OpenAPI && text != wanted {
			c.lose(lossOutputDialect, "output.schema")
		}
		wanted = text
	}
	cfg := r.OutputConfig
	if cfg == nil {
		cfg = &OutputConfig{}
	}
	cfg.Effort = c.effort()
	if !hasSchema(wanted, cfg.Format, r.OutputFormat) {
		if r.OutputFormat.schema() != "" {
			r.OutputFormat = nil
		}
		cfg.Format = cfg.Format.withSchema(wanted)
	}
	if r.OutputConfig == nil && (cfg.Effort != "" || cfg.Format != nil) {
		r.OutputConfig = cfg
	}
	switch t := n.MediaType; {
	case t == "", t == plainType, t == jsonType && n.Schema.JSON != "":
	case t == jsonType:
		c.lose(lossJSONMode, "output.media_type")
	default:
		words := codec.EnumPrompt(t, n.Schema.JSON)
		if words == "" {
			c.lose(lossMediaType, "output.media_type")
			break
		}
		c.lose(lossOutputEnum, "output.media_type")
		r.System = append(slices.Clip(r.System), &content.Text{Text: words})
	}
}

// schema returns the schema of the response, or an empty string if the response is of a type
// that Messages cannot limit by a schema.
func (c *converter) schema() string {
	switch o := &c.from.Output; o.MediaType {
	case "", plainType, jsonType:
		return o.Schema.JSON
	}
	return ""
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
