package generatecontent

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/schema"
	"github.com/polywire/polywire/internal/snapshot"
	"github.com/polywire/polywire/upstream"
)

// DecodeRequest parses and validates a request document and returns the neutral request
// with the document. A client of this format, such as package upstream/gemini, sends the
// bytes of body unless the request is changed: see [WireOf]. Programs without a
// [Handler], such as batch workers, keep the vendor's prompt caches valid that way.
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
func DecodeRequest(body []byte, opts *ValidateOptions) (*upstream.Request, []content.Loss, error) {
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

// WireOf returns the document from which r was parsed if it is a generateContent document
// and r still represents it. An adapter sends it instead of encoding r, with another value
// of the member "model" if it has one, and with r.Header. WireOf returns false if r is a
// copy other than one of [upstream.Request.WithModel], or if a field or part of r has
// changed. It ignores changes of Model, Stream, Resolver, ForwardLinks and RejectLoss,
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

// withDocument returns the neutral request with the document that r was parsed from, and
// the losses of carried signatures. Except for Model, r must be unchanged since parsing.
func (r *Request) withDocument(header []upstream.HeaderField) (*upstream.Request, []content.Loss) {
	n := new(upstream.Request)
	r.toNeutral(n)
	turns, changed, losses := decodeState(n.Turns)
	n.Turns, n.Header = turns, header
	if !changed && !r.origin.nested {
		snapshot.Attach(n, r.origin.wire())
	}
	return n, losses
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
		both := t.ThinkingBudget != nil && t.ThinkingLevel != "" // invalid, but Upstream converts any request
		if both || t.IncludeThoughts == nil && t.toNeutral().Display != "" {
			f.ThinkingConfig, some = t, true
		}
	}
	if c.hasTwoFormats() {
		f.ResponseMimeType = c.ResponseMimeType // shows other formats which one takes precedence
	}
	if slices.ContainsFunc(c.ResponseModalities, isUnsetModality) {
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

	// FilesInlined is set if the caller calls [upstream.Request.Inline] before it sends the
	// request. Losses of linked and stored files are then not reported.
	FilesInlined bool
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
func RequestFromUpstream(n *upstream.Request) (*Request, []content.Loss) {
	return RequestForTarget(n, nil)
}

// RequestForTarget is RequestFromUpstream for a server that does not support the whole
// format. A nil target supports it.
func RequestForTarget(n *upstream.Request, target *Target) (*Request, []content.Loss) {
	if target == nil {
		target = new(Target)
	}
	c := converter{Losses: codec.Losses{Format: Format}, target: target, from: n, to: requestFromExtra(n.Extra)}
	r := c.to
	c.Foreign(n.Extra, foreign.Request, "extra")
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
		c.Report(lossUnsupportedUserID, "user_id")
	}
	return r, loss.Unique(c.Losses.Losses)
}

// requestFromExtra parses the result of unmappedMembers. Invalid members of an Extra that
// a caller made are left zero.
func requestFromExtra(x *content.Extra) *Request {
	w := &parsedRequest{}
	if doc := codec.Open(x, Format); doc != nil {
		defer doc.Close()
		var p parser
		p.begin(w)
		if doc.Root().Kind() == jsonwire.Object {
			p.members(doc.Root(), requestType, &w.request)
		}
	}
	return &w.request
}

type converter struct {
	codec.Losses
	target         *Target
	schemas        schema.ExpansionLimit
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
func (c *converter) reportForeign(x *content.Extra, in foreign.Kind) {
	if x != nil && x.Format != Format {
		c.Foreign(x, in, c.path.At("extra"))
	}
}

// reportCache reports a cache mark, which the format does not have.
func (c *converter) reportCache(m *content.Cache) {
	if m != nil {
		c.reportHere(lossCacheMark, "cache")
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

func (c *converter) config() {
	g := c.to.GenerationConfig
	if g == nil {
		g = &GenerationConfig{}
	}
	g.CandidateCount = int64(c.from.Candidates)
	c.sampling(g)
	c.stopSequences(g)
	c.output(g)
	if g.ThinkingConfig == nil || !g.ThinkingConfig.equalsNeutral(&c.from.Thinking) {
		g.ThinkingConfig = c.thinking()
	}
	if c.to.GenerationConfig == nil && g.isSet() {
		c.to.GenerationConfig = g
	}
}

// isSet reports whether RequestFromUpstream has set a field.
func (c *GenerationConfig) isSet() bool {
	return c.MaxOutputTokens != nil || c.Temperature != nil || c.TopP != nil || c.TopK != nil || c.Seed != nil ||
		c.PresencePenalty != nil || c.FrequencyPenalty != nil || len(c.StopSequences) > 0 || c.CandidateCount != 0 ||
		c.ResponseMimeType != "" || c.ResponseSchema != "" || c.ResponseJSONSchema != "" ||
		len(c.ResponseModalities) > 0 || c.ImageConfig != nil || c.ThinkingConfig != nil
}

// sampling sets the sampling parameters. Those out of range are dropped, not replaced.
func (c *converter) sampling(g *GenerationConfig) {
	const low, high = -1 << 31, 1<<31 - 1
	below2 := math.Nextafter(2, 0) // the vendor excludes 2
	n := c.from
	g.MaxOutputTokens = inRange(c, n.MaxTokens, low, high, lossMaxTokensRange, "max_tokens")
	g.Temperature = inRange(c, n.Temperature, 0, 2, lossTemperatureRange, "temperature")
	g.TopP = inRange(c, n.TopP, 0, 1, lossTopPRange, "top_p")
	g.TopK = inRange(c, n.TopK, 1, high, lossTopKRange, "top_k")
	g.Seed = inRange(c, n.Seed, low, high, lossSeedRange, "seed")
	g.PresencePenalty = inRange(c, n.PresencePenalty, -2, below2, lossPenaltyRange, "presence_penalty")
	g.FrequencyPenalty = inRange(c, n.FrequencyPenalty, -2, below2, lossPenaltyRange, "frequency_penalty")
}

// inRange returns n if it is in range, and otherwise nil.
func inRange[T int64 | float64](c *converter, n *T, low, high T, r *loss.Rule, path string) *T {
	if n == nil || *n >= low && *n <= high {
		return n
	}
	c.Report(r, path)
	return nil
}

func (c *converter) stopSequences(g *GenerationConfig) {
	list := c.from.StopSequences
	if slices.Contains(list, "") {
		c.Report(lossStopEmpty, "stop_sequences")
		list = slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s == "" })
	}
	if len(list) > maxStops {
		c.Report(lossStopsOverLimit, "stop_sequences")
		list = list[:maxStops:maxStops]
	}
	g.StopSequences = list
}

// tiers maps the service tiers of other formats to this one's.
var tiers = map[string]string{"standard_only": "standard", "default": "standard"}

func (c *converter) tier() {
	t := c.from.ServiceTier
	if own := tiers[t]; own != "" {
		t = own
	}
	if t == "auto" { // the same as no tier
		return
	}
	if t != "" && !slices.Contains(serviceTier.Values, t) {
		c.Report(lossTierUnknown, "service_tier")
		return
	}
	c.to.ServiceTier = t
}

func (c *converter) output(g *GenerationConfig) {
	o := &c.from.Output
	c.Foreign(o.Extra, foreign.Output, "output.extra")
	g.ResponseModalities = c.modalities(g)
	c.image(g)
	if mediaType, schema := textFormat(g.ResponseFormat); mediaType != "" {
		if o.MediaType == mediaType && o.Schema == (content.Schema{JSON: schema}) {
			return // responseFormat already specifies it
		}
		if o.MediaType == "" && o.Schema.JSON == "" {
			g.ResponseFormat = ""
			return
		}
	}
	if g.ResponseMimeType = o.MediaType; o.MediaType != "" && !slices.Contains(mimeTypes, o.MediaType) {
		c.Report(lossOutputType, "output.media_type")
		g.ResponseMimeType = ""
	}
	c.responseSchema(g)
}

// responseSchema sets the schema of the response.
func (c *converter) responseSchema(g *GenerationConfig) {
	o := &c.from.Output
	if o.Schema.JSON == "" {
		return
	}
	if g.ResponseMimeType == "" {
		g.ResponseMimeType = "application/json"
		c.Report(lossImpliedType, "output.media_type")
	}
	s, losses := c.schemas.Output(c.dialect(o.Schema), o.Schema)
	schema.AddLosses(&c.Log, "output.schema", losses)
	if c.isOpenAPI(o.Schema) {
		g.ResponseSchema = s
	} else {
		g.ResponseJSONSchema = s
	}
}

// isOpenAPI reports whether a schema is sent in the vendor's own dialect.
func (c *converter) isOpenAPI(s content.Schema) bool { return s.OpenAPI || c.target.ClosedSchemas }

func (c *converter) dialect(s content.Schema) schema.Dialect {
	if c.isOpenAPI(s) {
		return schema.GeminiSchema
	}
	return schema.GeminiJSON
}

func (c *converter) image(g *GenerationConfig) {
	o := &c.from.Output
	if o.AspectRatio == "" && o.ImageSize == "" {
		return
	}
	var is ImageConfig
	if g.ImageConfig != nil {
		is = *g.ImageConfig
	}
	if is.AspectRatio = o.AspectRatio; o.AspectRatio != "" && !slices.Contains(aspectRatios, o.AspectRatio) {
		c.Report(lossOutputImage, "output.aspect_ratio")
		is.AspectRatio = ""
	}
	if is.ImageSize = o.ImageSize; o.ImageSize != "" && !slices.Contains(imageSizes, o.ImageSize) {
		c.Report(lossOutputImage, "output.image_size")
		is.ImageSize = ""
	}
	if is != (ImageConfig{}) {
		g.ImageConfig = &is
	}
}

func (c *converter) modalities(g *GenerationConfig) []string {
	var list []string
	for _, m := range c.from.Output.Modalities {
		if word := enumName(modality, m); slices.Contains(modality.Values, word) {
			list = append(list, word)
		} else {
			c.Report(lossOutputModality, "output.modalities")
		}
	}
	if slices.Equal(list, slices.DeleteFunc(slices.Clone(g.ResponseModalities), isUnsetModality)) {
		return g.ResponseModalities // has unset values too
	}
	return list
}

func (c *converter) thinking() *ThinkingConfig {
	n := &c.from.Thinking
	c.Foreign(n.Extra, foreign.Thinking, "thinking.extra")
	t := &ThinkingConfig{Extra: c.Own(n.Extra)}
	switch n.Mode {
	case "":
		if n.Budget != nil {
			c.Report(lossBudgetWithoutMode, "thinking.budget")
		}
		c.setEffort(t)
	case upstream.ThinkingOff:
		t.ThinkingBudget = new(int64)
		c.reportEffort(lossEffortOff)
	case upstream.ThinkingBudget:
		if t.ThinkingBudget = n.Budget; n.Budget == nil {
			t.ThinkingBudget = autoBudget()
			c.Report(lossMissingBudget, "thinking.budget")
		}
		c.reportEffort(lossEffortBesideBudget)
	case upstream.ThinkingAuto, upstream.ThinkingBetweenTools:
		if c.setEffort(t); t.ThinkingLevel == "" {
			t.ThinkingBudget = autoBudget()
		}
		if n.Mode == upstream.ThinkingBetweenTools {
			c.Report(lossThinkingBetween, "thinking.mode")
		}
	default:
		c.Report(lossThinkingMode, "thinking.mode")
		c.setEffort(t)
	}
	c.display(t)
	if *t == (ThinkingConfig{}) {
		return nil
	}
	return t
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

// setEffort sets the thinking level.
func (c *converter) setEffort(t *ThinkingConfig) {
	switch e := c.from.Thinking.Effort; e {
	case "":
	case "minimal", "low", "medium", "high":
		t.ThinkingLevel = strings.ToUpper(e)
	case "xhigh", "max":
		c.Report(lossEffortHighest, "thinking.effort")
		t.ThinkingLevel = "HIGH"
	default:
		c.Report(lossEffortUnknown, "thinking.effort")
	}
}

// reportEffort reports that an effort was omitted.
func (c *converter) reportEffort(r *loss.Rule) {
	if c.from.Thinking.Effort != "" {
		c.Report(r, "thinking.effort")
	}
}

func (c *converter) display(t *ThinkingConfig) {
	show := true
	switch c.from.Thinking.Display {
	case "":
		return
	case "omitted":
		show = false
	case "summarized":
	case "full", "updates":
		c.Report(lossDisplaySummary, "thinking.display")
	default:
		c.Report(lossDisplayUnknown, "thinking.display")
		return
	}
	t.IncludeThoughts = &show
}

// tools converts the tools. Built-in tools of other vendors are replaced by similar
// ones of this vendor, if there are any.
func (c *converter) tools(tools []content.Tool) []content.Tool {
	c.inspectTools(tools)
	var mapped []content.Tool     // go after the functions, which stay adjacent
	var kinds map[string]struct{} // of the tools so far and of their replacements
	list, _ := codec.Rewrite(tools, func(i int, t content.Tool) (content.Tool, bool, bool) {
		if t.Kind == "" {
			changed := c.function(&t, i)
			return t, changed, true
		}
		own, keep := c.builtIn(&tools[i], i)
		other := own.Kind != t.Kind || own.Format != t.Format
		if kinds == nil {
			kinds = make(map[string]struct{})
		}
		if keep && other {
			if _, twice := kinds[own.Kind]; !twice {
				mapped = append(mapped, own)
			}
			kinds[own.Kind], keep = struct{}{}, false
		}
		kinds[t.Kind] = struct{}{}
		return t, false, keep
	})
	list = append(list[:len(list):len(list)], mapped...)
	c.hasSubstitutes = len(mapped) > 0
	if c.hasSubstitutes && slices.ContainsFunc(list, isFunctionTool) {
		if c.to.ToolConfig == nil {
			c.to.ToolConfig = &ToolConfig{}
		}
		c.to.ToolConfig.IncludeServerSideToolInvocations = true
	}
	return list
}

func isFunctionTool(t content.Tool) bool { return t.Kind == "" }

// inspectTools sets the fields of c that depend on all tools.
func (c *converter) inspectTools(tools []content.Tool) {
	c.hasFunctions = slices.ContainsFunc(tools, isFunctionTool)
	if names := c.from.Choice.Names; len(names) > 0 {
		c.chosen = make(map[string]bool, len(names))
		for _, name := range names {
			c.chosen[name] = true
		}
		c.choosesTool = slices.ContainsFunc(tools, func(t content.Tool) bool { return c.chosen[toolName(&t)] })
	}
}

// function converts a function in place and reports whether it changed.
func (c *converter) function(t *content.Tool, i int) (changed bool) {
	path := "tools." + strconv.Itoa(i)
	c.Foreign(t.Extra, foreign.Tool, path+".extra")
	if t.Cache != nil {
		c.Report(lossCacheMark, path+".cache")
	}
	if t.Strict {
		c.Report(lossStrictTool, path+".strict")
	}
	input, losses := c.schemas.Input(c.dialect(t.Input), t.Input)
	schema.AddLosses(&c.Log, path+".input", losses)
	output, losses := c.schemas.Output(c.dialect(t.Output), t.Output)
	schema.AddLosses(&c.Log, path+".output", losses)
	in, out := c.toSchema(t.Input, input), c.toSchema(t.Output, output)
	changed = in != t.Input || out != t.Output
	t.Input, t.Output = in, out
	return changed
}

// toSchema returns the converted form of a schema.
func (c *converter) toSchema(was content.Schema, text string) content.Schema {
	if text == "" {
		return content.Schema{}
	}
	return content.Schema{JSON: text, OpenAPI: c.isOpenAPI(was)}
}

// A substitute is a built-in tool of this vendor that replaces one of another.
type substitute struct {
	prefix string // of the other tool's kind; a version follows
	kind   string
}

var substitutes = [...]substitute{
	{"web_search", "googleSearch"}, {"web_fetch", "urlContext"},
	{"code_execution", "codeExecution"}, {"code_interpreter", "codeExecution"},
}

// substituteOf returns the index of the substitute for a kind, or -1.
func substituteOf(kind string) int {
	return slices.IndexFunc(substitutes[:], func(s substitute) bool { return strings.HasPrefix(kind, s.prefix) })
}

// toolMemberLosses are the members of a built-in tool that do not restrict what it may
// do. A nil rule means that the member has no meaning here.
var toolMemberLosses = map[string]*loss.Rule{
	"type": nil, "name": nil, "cache_control": nil, "container": nil, "defer_loading": nil, "strict": nil,
	"user_location": lossMappedToolSettings, "search_context_size": lossMappedToolSettings, "response_inclusion": lossMappedToolSettings,
	"citations": lossMappedToolSettings, "use_cache": lossMappedToolSettings, "allowed_callers": lossMappedToolSettings,
}

// builtIn returns the replacement of a built-in tool, and whether it is sent.
func (c *converter) builtIn(t *content.Tool, i int) (own content.Tool, keep bool) {
	path := "tools." + strconv.Itoa(i)
	if t.Format == Format {
		return *t, true
	}
	n := substituteOf(t.Kind)
	if n < 0 {
		return *t, c.KeepTool(t, path)
	}
	if c.isExcluded(t) {
		return *t, false // the choice excludes the tool, but here it would apply to functions only
	}
	kind := substitutes[n].kind
	if c.target.NoMixedTools && c.hasFunctions {
		c.Report(lossToolBesideFunctions, path)
		return *t, false
	}
	c.Report(lossMappedTool, path)
	c.reportToolMembers(t.Raw, path)
	if t.Cache != nil {
		c.Report(lossCacheMark, path+".cache")
	}
	return content.Tool{Kind: kind, Format: Format, Raw: "{}"}, true
}

// isExcluded reports whether the tool choice excludes another vendor's tool. A list of
// names that matches no tool excludes nothing.
func (c *converter) isExcluded(t *content.Tool) bool {
	switch c.from.Choice.Mode {
	case content.ChoiceNone:
		return true
	case "", content.ChoiceAuto, content.ChoiceAny, content.ChoiceValidated:
		return c.choosesTool && !c.chosen[toolName(t)]
	}
	return false
}

// toolName returns the name of a tool in a tool choice. For a built-in tool without a
// name it is the kind.
func toolName(t *content.Tool) string {
	if t.Name == "" {
		return t.Kind
	}
	return t.Name
}

// substitutedNames returns the names of the tools that were replaced.
func (c *converter) substitutedNames() map[string]bool {
	if !c.hasSubstitutes {
		return nil
	}
	names := make(map[string]bool)
	for i := range c.from.Tools {
		if t := &c.from.Tools[i]; t.Kind != "" && t.Format != Format && substituteOf(t.Kind) >= 0 {
			names[toolName(t)] = true
		}
	}
	return names
}

// reportToolMembers reports the settings of a tool that was replaced.
func (c *converter) reportToolMembers(raw, path string) {
	doc, err := jsonwire.Parse(raw, codec.UnlimitedJSON)
	if err != nil {
		return
	}
	defer doc.Close()
	for name, x := range doc.Root().Members() {
		r, known := toolMemberLosses[name]
		switch {
		case !known:
			r = lossMappedToolBounds
		case name == "allowed_callers" && foreign.OnlyDirect(x):
			r = nil
		}
		if r != nil && x.Kind() != jsonwire.Null {
			c.Report(r, path)
		}
	}
}

func (c *converter) choice() {
	n := &c.from.Choice
	c.Foreign(n.Extra, foreign.Choice, "choice.extra")
	functions := slices.ContainsFunc(c.to.Tools, isFunctionTool)
	if n.NoParallel && functions {
		c.Report(lossChoiceParallel, "choice.no_parallel")
	}
	f := FunctionCalling{AllowedFunctionNames: n.Names, Extra: c.Own(n.Extra)}
	switch n.Mode {
	case "":
		if len(n.Names) == 0 && f.Extra == nil {
			return
		}
	case content.ChoiceAuto, content.ChoiceAny, content.ChoiceNone, content.ChoiceValidated:
		f.Mode = strings.ToUpper(string(n.Mode))
	default:
		c.Report(lossChoiceMode, "choice.mode")
		return
	}
	if !c.fitChoice(&f, functions) {
		return
	}
	if c.to.ToolConfig == nil {
		c.to.ToolConfig = &ToolConfig{}
	}
	c.to.ToolConfig.FunctionCalling = &f
}

// fitChoice changes a tool choice to one that the vendor accepts, and reports whether
// to send it.
func (c *converter) fitChoice(f *FunctionCalling, functions bool) bool {
	demands := f.Mode == "ANY"
	switch {
	case !functions && demands && len(c.to.Tools) > 0:
		c.Report(lossChoiceForced, "choice.mode")
		return false
	case len(c.to.Tools) == 0 && f.Mode == "NONE" && len(c.from.Tools) > 0:
		return f.Extra != nil // the tools were not sent
	case !functions:
		c.Report(lossChoiceNoTools, "choice.mode")
		return f.Extra != nil && !demands && f.Mode != "VALIDATED"
	case len(f.AllowedFunctionNames) == 0:
		if demands && c.hasSubstitutes {
			c.Report(lossChoiceForced, "choice.mode") // a built-in tool does not satisfy it
		}
		return true
	case f.Mode == "NONE":
		c.Report(lossChoiceNoneNames, "choice.names")
		f.AllowedFunctionNames = nil
		return true
	}
	return c.fitNames(f, demands)
}

// fitNames removes all names but those of functions from a choice. The model may always
// use built-in tools, but cannot be required to.
func (c *converter) fitNames(f *FunctionCalling, demands bool) bool {
	functions, substituted := make(map[string]bool, len(c.to.Tools)), c.substitutedNames()
	for i := range c.to.Tools {
		if t := &c.to.Tools[i]; t.Kind == "" {
			functions[t.Name] = true
		}
	}
	others, unknown := false, false
	declared, _ := codec.Rewrite(f.AllowedFunctionNames, func(_ int, name string) (string, bool, bool) {
		if !functions[name] {
			other := substituted[name]
			others, unknown = others || other, unknown || !other
		}
		return name, false, functions[name]
	})
	if unknown {
		c.Report(lossChoiceNames, "choice.names")
	}
	if others && demands {
		c.Report(lossChoiceForced, "choice.mode")
	}
	f.AllowedFunctionNames = declared
	switch {
	case len(declared) == 0 && others: // only built-in tools may be used
		f.Mode = "NONE"
	case len(declared) == 0 && demands: // no function can be required
		return false
	case len(declared) == 0:
	case f.Mode == "" || f.Mode == "AUTO":
		c.Report(lossChoiceValidated, "choice.mode")
		f.Mode = "VALIDATED"
	}
	return true
}
