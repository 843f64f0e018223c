package messages

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/upstream"
)

// Upstream returns the request in neutral words. Turns and parts are the
// request's own and stand one to one for those of the document. What the
// neutral request has no field for is in its Extra, under the names of the
// wire.
//
// Signatures that an answer has carried for another vendor are opened: they are
// plain, and of that vendor's format, in copies of the turns and parts that hold
// them; the ids of calls and results are those of the vendor. Such a request
// brings no document along. A signature that did not come back whole has no
// Format, so that every format takes it for another's. A thought without a
// signature has no Format either. Nor does a request bring its document along in
// which a thought has an empty signature, which Messages would refuse.
//
// A request that [ParseRequest] made, and that nobody has changed since but
// for Model and Stream, brings its document along: see [upstream.WireOf]. To
// find out costs little, but for small documents and those of very many tiny
// parts, which are parsed again.
func (r *Request) Upstream() *upstream.Request {
	n := new(upstream.Request)
	r.neutral(n)
	turns, changed, _, _ := unseal(n.Turns)
	switch f := r.Form; {
	case changed:
		n.Turns = turns
	case unsigned(n.Turns):
	case f == nil || f.wrong != nil:
	case f.sealed == nil:
		if same := f.again(n); same != nil {
			return same
		}
	case f.sealed.Same(n):
		w := f.document(nil)
		n.Remember(&w)
	}
	return n
}

// passOn is Upstream for the handler, which knows that the request is as it
// was parsed, and which headers belong to the document. A dense request leaves
// its document behind. It also returns where the response carries state, and what
// was lost of the request.
func (r *Request) passOn(header []upstream.Field) (*upstream.Request, carriage, []content.Loss) {
	n := new(upstream.Request)
	r.neutral(n)
	turns, changed, dropped, lost := unseal(n.Turns)
	n.Turns, n.Header = turns, header
	if r.Form != nil && !changed && !unsigned(turns) && !r.dense() {
		w := r.Form.document(header)
		n.Remember(&w)
	}
	return n, carriageOf(n, dropped), lost
}

// dense reports whether there are so many parts, and so little in each, that
// remembering them would take more memory than the request itself. Nobody
// sends such requests but to do harm.
func (r *Request) dense() bool {
	const many, each = 20_000, 200
	n := len(r.Tools) + len(r.StopSequences)
	for i := range r.Messages {
		n += 1 + len(r.Messages[i].Parts)
	}
	return n > many && len(r.Form.body) < n*each
}

// seal remembers what the request says, so that Upstream can tell whether it
// still does.
func (r *Request) seal() {
	f := r.Form
	if len(f.body) < codec.SealFrom || r.dense() {
		return
	}
	var n upstream.Request
	r.neutral(&n)
	f.sealed = codec.Seal(&n, f.document(nil))
}

// again parses the document again. If it says what n says, but for Model and
// Stream, it returns a copy of n that has the document, else nil.
func (f *Form) again(n *upstream.Request) *upstream.Request {
	q, err := parseRequest(f.body, codec.UnlimitedRequest)
	if err != nil {
		return nil
	}
	was := new(upstream.Request)
	q.neutral(was)
	w := f.document(nil)
	was.Remember(&w)
	// Now it says what n says, and upstream tells whether that is the same.
	*was = *n
	was.Wire = &w
	if upstream.WireOf(was, Format) == nil {
		return nil
	}
	return was
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
	if m := r.Metadata; m != nil && (m.Extra != nil || m.UserID == "") {
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
	e := encoder{Encoder: codec.Encoder{W: &w}}
	w.BeginObject()
	e.rest(&f)
	e.extra(r, r.Extra, &requestNames)
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
		if c.Extra == nil && c.Effort != "" {
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
