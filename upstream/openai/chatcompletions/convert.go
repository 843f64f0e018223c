package chatcompletions

import (
	"cmp"
	"slices"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/absent"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/openaiformat"
	"github.com/polywire/polywire/internal/snapshot"
	"github.com/polywire/polywire/upstream"
)

// DecodeRequest parses and validates a request document. It returns the neutral request with the
// document. A client of this format, such as package upstream/openai, may send the bytes of body
// unless the request is changed: see [upstream.WireOf].
//
// The losses are carried signatures that the client did not return as they were sent. Formats
// drop them. The caller reports the losses together with those of the upstream.
//
// The error is that of [ParseRequest] or [Request.Validate]. It lists all violations, those of
// parsing first. opts may be nil. The limits in opts apply to parsing too.
//
// The request has no document if it carries signatures for another vendor, which are decoded as
// [Request.Upstream] describes. To save memory, a request of more than 20,000 very small parts
// has no document.
func DecodeRequest[T ~string | ~[]byte](body T, opts *ValidateOptions) (*upstream.Request, []content.Loss, error) {
	opts = cmp.Or(opts, &defaultOptions)
	r, err := decodeRequest(string(body), opts)
	if err != nil {
		return nil, nil, err
	}
	n, losses := r.withDocument(nil)
	return n, losses, nil
}

// decodeRequest parses and validates a request document. The request is nil if the body is not a
// JSON document or is beyond a limit.
func decodeRequest(body string, opts *ValidateOptions) (*Request, error) {
	r, err := parseRequest(body, opts.Limits)
	if r == nil {
		return nil, err
	}
	if opts.Model != "" && r.Model == "" && !r.found().Within("model") {
		r.Model = opts.Model
	}
	return r, r.Validate(opts) // includes the violations of parsing
}

// Upstream returns the neutral form of the request. Its turns and parts are those of r, in the
// same order. Members without a neutral field are in its Extra, under their wire names.
//
// If a response carried signatures of another vendor in the ids of tool calls, Upstream decodes
// them. It replaces the turns and parts with such ids by copies that have the signatures and ids
// of that vendor. The signature of a damaged id is omitted; [DecodeRequest] also reports it.
//
// The neutral request has no document. [DecodeRequest] keeps it.
func (r *Request) Upstream() *upstream.Request {
	n := new(upstream.Request)
	r.neutral(n)
	n.Turns = decodeState(n.Turns).Turns
	return n
}

// withDocument returns the neutral form of a request that was parsed and not changed since, with
// its document and the headers that belong to it. It also returns what was dropped from the
// request.
func (r *Request) withDocument(header []upstream.HeaderField) (*upstream.Request, []content.Loss) {
	n := new(upstream.Request)
	r.neutral(n)
	decoded := decodeState(n.Turns)
	n.Turns, n.Header = decoded.Turns, header
	d := r.origin.Document(Format)
	d.Parsed, d.Model = r, r.Model
	snapshot.Keep(n, d, !decoded.Changed)
	return n, decoded.Losses
}

// neutral sets n to the neutral form of the request.
func (r *Request) neutral(n *upstream.Request) {
	*n = upstream.Request{
		Model:            r.Model,
		Defaults:         absent.ForGPT(Format),
		System:           r.System,
		Turns:            r.Messages,
		Tools:            r.Tools,
		MaxTokens:        r.MaxCompletionTokens,
		Temperature:      r.Temperature,
		TopP:             r.TopP,
		TopK:             r.TopK,
		Seed:             r.Seed,
		PresencePenalty:  r.PresencePenalty,
		FrequencyPenalty: r.FrequencyPenalty,
		StopSequences:    r.Stop,
		UserID:           r.SafetyIdentifier,
		ServiceTier:      r.ServiceTier,
		Stream:           r.Stream,
	}
	if n.MaxTokens == nil {
		n.MaxTokens = r.MaxTokens
	}
	n.UserID = cmp.Or(n.UserID, r.User)
	if r.N != nil && *r.N > 1 {
		n.Candidates = int(*r.N)
	}
	if len(r.Functions) > 0 {
		n.Tools = slices.Concat(r.Tools, r.Functions)
	}
	choice := r.ToolChoice
	if choice == nil {
		choice = r.FunctionCall
	}
	if choice != nil {
		n.Choice = choice.neutral()
	}
	if r.ParallelToolCalls != nil {
		n.Choice.NoParallel = !*r.ParallelToolCalls
	}
	n.Output = r.output()
	n.Extra = r.leftover()
	n.Thinking = r.thinking(foreign.ThinkingOf(n.Extra))
}

// thinking returns the neutral form of reasoning_effort and of what other members ask.
func (r *Request) thinking(asked foreign.AskedThinking) (t upstream.Thinking) {
	t.Mode, t.Effort = upstream.ThinkingMode(asked.Mode), cmp.Or(r.ReasoningEffort, asked.Effort)
	switch {
	case t.Effort == "none":
		t.Mode, t.Effort = upstream.ThinkingOff, ""
	case asked.Budget > 0:
		t.Budget = &asked.Budget
	case t.Effort != "" && t.Mode == upstream.ThinkingAuto:
		t.Mode = ""
	}
	switch {
	case t.Mode == upstream.ThinkingOff, t == upstream.Thinking{} && !asked.Hidden:
	case asked.Hidden:
		t.Display = "omitted"
	case r.origin == nil || !r.origin.hidesReasoning:
		t.Display = "auto" // as reasoning_content
	}
	return t
}

// neutral returns the neutral form of a tool choice. The form of an unknown type is in the Extra of
// the request.
func (c *ToolChoice) neutral() content.ToolChoice {
	n := content.ToolChoice{Extra: c.Extra, Names: c.Names}
	switch c.Type {
	case "auto":
		n.Mode = content.ChoiceAuto
	case "required", "any": // some servers have "any"
		n.Mode = content.ChoiceAny
	case "none":
		n.Mode = content.ChoiceNone
	case "function", "custom":
		n.Mode = content.ChoiceAny
	case "allowed_tools":
		if n.Mode = content.ChoiceAuto; c.Mode == "required" {
			n.Mode = content.ChoiceAny
		}
	}
	return n
}

const jsonType = "application/json"

// output returns the neutral form of the response.
func (r *Request) output() (o upstream.Output) {
	o.Modalities, o.Verbosity = r.Modalities, r.Verbosity
	if f := r.ResponseFormat; f != nil && (f.Type == "json_object" || f.Type == "json_schema") {
		o.MediaType = jsonType
		if s := f.Schema; s != nil && f.Type == "json_schema" {
			o.Schema.JSON, o.Name, o.Description, o.Strict = s.Schema, s.Name, s.Description, s.Strict
		}
	}
	return o
}

// leftover returns the members without a neutral field, or nil.
func (r *Request) leftover() *content.Extra {
	w := new(jsonwire.Writer)
	if r.MaxCompletionTokens != nil && r.MaxTokens != nil && *r.MaxCompletionTokens != *r.MaxTokens {
		openaiformat.BeginLeftover(w, "max_tokens").Int(*r.MaxTokens)
	}
	if r.SafetyIdentifier != "" && r.User != "" && r.SafetyIdentifier != r.User {
		openaiformat.BeginLeftover(w, "user").String(r.User)
	}
	if r.ToolChoice != nil && r.FunctionCall != nil {
		openaiformat.BeginLeftover(w, "function_call").String(r.FunctionCall.Type)
	}
	if f := r.ResponseFormat; f != nil && (f.Extra != nil || f.Schema != nil && f.Schema.Extra != nil) {
		openaiformat.BeginLeftover(w, "response_format").BeginObject()
		if f.Schema != nil && f.Schema.Extra != nil {
			w.RawMember("json_schema", f.Schema.Extra.JSON)
		}
		openaiformat.WriteMembers(w, formatType, f.Extra)
		w.EndObject()
	}
	if o := r.StreamOptions; o != nil && o.Extra != nil {
		openaiformat.BeginLeftover(w, "stream_options").Raw(o.Extra.JSON)
	}
	return openaiformat.EndLeftover(w, requestType, r.Extra, Format)
}
