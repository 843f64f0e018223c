package responses

import (
	"cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/absent"
	"github.com/polywire/polywire/internal/codec"
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
// The request has no document if it carries state for another vendor, which is decoded as
// [Request.Upstream] describes. To save memory, a request of more than 20,000 very small parts
// has no document.
func DecodeRequest[T ~string | ~[]byte](body T, opts *ValidateOptions) (*upstream.Request, []content.Loss, error) {
	r, err := decodeRequest(string(body), opts)
	if err != nil {
		return nil, nil, err
	}
	n, losses := r.withDocument(nil)
	return n, losses, nil
}

// decodeRequest parses and validates a request document. The request is nil if the body is not a
// JSON document or is beyond a limit. opts may be nil.
func decodeRequest(body string, opts *ValidateOptions) (*Request, error) {
	opts = cmp.Or(opts, &defaultOptions)
	r, err := parseRequest(body, opts.Limits)
	if r == nil {
		return nil, err
	}
	return r, r.Validate(opts) // includes the violations of parsing
}

// Upstream returns the neutral form of the request. Items of one side in a row are one turn: of the
// assistant, of the user with the outputs of tool calls, or of the system. Instructions, and the
// messages of the system and the developer before all others, are the system text; the Extra of
// a text has the role "developer". Parts are those of r. Members without a neutral field are in the
// Extra, under their wire names. The ids and statuses of items have no meaning for a server that
// stores nothing; the phase of messages follows from their places.
//
// If items or ids of calls carry the state of another vendor, Upstream decodes it: it replaces their
// parts by copies that have the signatures and ids of that vendor. A damaged signature has no
// Format, so every format drops it; [DecodeRequest] also reports it. A compaction item that a
// handler of this package has made becomes a text.
//
// The neutral request has no document: [DecodeRequest] keeps it.
func (r *Request) Upstream() *upstream.Request {
	n := new(upstream.Request)
	r.neutral(n)
	decoded, _ := decodeState(n.Turns)
	n.Turns = decoded.Turns
	return n
}

// withDocument returns the neutral form of a request that was parsed and not changed since, with
// its document and the headers that belong to it. It is called once. It also returns what was dropped from the
// request.
func (r *Request) withDocument(header []upstream.HeaderField) (*upstream.Request, []content.Loss) {
	return r.neutralWith(header, true)
}

// neutralWith is withDocument. If keep is false, no adapter sends the document.
func (r *Request) neutralWith(header []upstream.HeaderField, keep bool) (*upstream.Request, []content.Loss) {
	n := new(upstream.Request)
	r.origin.places = r.neutral(n)
	decoded, dropped := decodeState(n.Turns)
	n.Turns, n.Header = decoded.Turns, header
	if r.wantsSummaryItem() {
		summarize(n)
	}
	d := r.origin.Document(Format)
	d.Parsed, d.Model, d.StateDropped = r, r.Model, dropped
	snapshot.Keep(n, d, keep && !decoded.Changed)
	return n, decoded.Losses
}

// neutral sets n to the neutral form of the request. It returns the places of the items.
func (r *Request) neutral(n *upstream.Request) []itemPlace {
	*n = upstream.Request{
		Model:       r.Model,
		Defaults:    absent.ForGPT(Format),
		Tools:       r.allTools(),
		MaxTokens:   r.MaxOutputTokens,
		Temperature: r.Temperature,
		TopP:        r.TopP,

		PresencePenalty:  r.PresencePenalty,
		FrequencyPenalty: r.FrequencyPenalty,

		UserID:      r.SafetyIdentifier,
		ServiceTier: r.ServiceTier,
		Stream:      r.Stream,
	}
	n.UserID = cmp.Or(n.UserID, r.User)
	if r.ToolChoice != nil {
		n.Choice = r.ToolChoice.neutral()
	}
	n.Choice.NoParallel = r.ParallelToolCalls != nil && !*r.ParallelToolCalls
	if r.Reasoning != nil {
		n.Thinking = r.Reasoning.neutral()
	}
	if r.Text != nil {
		n.Output = r.Text.neutral()
	}
	n.Extra = r.leftover()
	return r.conversation(n)
}

// allTools returns the tools of the request, followed by those of items.
func (r *Request) allTools() []content.Tool {
	more := 0
	for i := range r.Input {
		more += len(r.Input[i].Tools)
	}
	if more == 0 {
		return r.Tools
	}
	list := append(make([]content.Tool, 0, len(r.Tools)+more), r.Tools...)
	for i := range r.Input {
		list = append(list, r.Input[i].Tools...)
	}
	return list
}

// An itemPlace is where the parts of an item are in the neutral request.
type itemPlace struct {
	turn int // -1 for the system text, and for an item without parts before the first turn
	part int // index of its first part
}

// conversation sets the system text and the turns of n.
func (r *Request) conversation(n *upstream.Request) []itemPlace {
	total := 1
	for i := range r.Input {
		total += len(r.Input[i].Parts)
	}
	all := make([]content.Part, 0, total) // of all turns, one after the other
	places := make([]itemPlace, len(r.Input))
	if r.Instructions != "" {
		n.System = append(n.System, &content.Text{Text: r.Instructions})
	}
	current, turns, start := noSide, 0, 0
	for i := range r.Input {
		if s := sideOf(&r.Input[i]); s != noSide && s != current {
			if s != systemSide || turns > 0 {
				turns++
			}
			current = s
		}
	}
	n.Turns = make([]content.Turn, 0, turns)
	current = noSide
	var extras []*content.Extra // of the turn
	endTurn := func() {
		if len(extras) > 0 {
			n.Turns[len(n.Turns)-1].Extra = merged(extras...)
			extras = extras[:0]
		}
	}
	for i := range r.Input {
		item := &r.Input[i]
		s := sideOf(item)
		switch last := len(n.Turns) - 1; {
		case s == noSide && last < 0:
			places[i] = itemPlace{-1, len(n.System)}
			continue
		case s == noSide:
			places[i] = itemPlace{last, len(all) - start}
			continue
		case s == systemSide && last < 0:
			places[i] = itemPlace{-1, len(n.System)}
			n.System = appendSystem(n.System, item)
			continue
		case s != current:
			endTurn()
			start, current = len(all), s
			n.Turns = append(n.Turns, content.Turn{Role: roleOf(s)})
		}
		t := &n.Turns[len(n.Turns)-1]
		places[i] = itemPlace{len(n.Turns) - 1, len(all) - start}
		all = append(all, item.Parts...)
		t.Parts = all[start:len(all):len(all)]
		if s == systemSide && item.Role == roleDeveloper && len(extras) == 0 {
			extras = append(extras, developer())
		}
		if item.Extra != nil {
			extras = append(extras, item.Extra)
		}
	}
	endTurn()
	return places
}

func roleOf(s side) content.Role {
	switch s {
	case userSide:
		return content.RoleUser
	case systemSide:
		return content.RoleSystem
	}
	return content.RoleAssistant
}

// developer returns the role of a system text that is not "system".
func developer() *content.Extra {
	return &content.Extra{Format: Format, JSON: `{"role":"developer"}`}
}

// appendSystem appends the texts of a message to the system text.
func appendSystem(list []content.Part, m *Item) []content.Part {
	for i, p := range m.Parts {
		t, ok := p.(*content.Text)
		if ok && t != nil && (m.Role == roleDeveloper || i == 0 && m.Extra != nil) {
			c := *t
			var extras []*content.Extra
			if m.Role == roleDeveloper {
				extras = append(extras, developer())
			}
			if i == 0 && m.Extra != nil {
				extras = append(extras, m.Extra)
			}
			if c.Extra != nil {
				extras = append(extras, c.Extra)
			}
			c.Extra = merged(extras...)
			p = &c
		}
		list = append(list, p)
	}
	return list
}

// merged returns the members of all extras. Of members of one name it has the first.
func merged(extras ...*content.Extra) *content.Extra {
	if len(extras) == 1 {
		return extras[0]
	}
	b, seen := []byte{'{'}, make(map[string]bool)
	for _, x := range extras {
		doc := codec.Open(x, Format)
		if doc == nil {
			continue
		}
		for name, v := range doc.Root().Members() {
			if !seen[name] {
				seen[name] = true
				b = codec.AppendMember(b, name, v.Raw())
			}
		}
		doc.Close()
	}
	return &content.Extra{Format: Format, JSON: string(append(b, '}'))}
}

func (c *ToolChoice) neutral() content.ToolChoice {
	n := content.ToolChoice{Extra: c.Extra}
	switch c.Type {
	case "auto":
		n.Mode = content.ChoiceAuto
	case "none":
		n.Mode = content.ChoiceNone
	case "required":
		n.Mode = content.ChoiceAny
	case "function", "custom":
		n.Mode, n.Names = content.ChoiceAny, []string{c.Name}
	case typeAllowedTools:
		switch n.Mode = content.ChoiceAuto; c.Mode {
		case "required":
			n.Mode = content.ChoiceAny
		case "none":
			return content.ToolChoice{Mode: content.ChoiceNone, Extra: c.Extra}
		}
		for i := range c.Tools {
			n.Names = append(n.Names, c.Tools[i].name())
		}
	default:
		n.Mode, n.Names = content.ChoiceAny, []string{c.Type}
	}
	return n
}

const typeAllowedTools = "allowed_tools"

// name returns the name of a tool in a neutral choice: that of the tool, or the type of a tool of
// the vendor.
func (t *ToolRef) name() string {
	switch t.Type {
	case "function", "custom":
		return t.Name
	}
	return t.Type
}

func (c *Reasoning) neutral() upstream.Thinking {
	n := upstream.Thinking{Effort: c.Effort, Display: c.summary()}
	switch {
	case c.Effort == "none":
		return upstream.Thinking{Mode: upstream.ThinkingOff}
	case n.Display != "":
		n.Mode = upstream.ThinkingAuto // the client asks to see it
	case n.Effort != "":
		n.Display = "omitted" // the vendor's default
	}
	if n.Display == "auto" {
		n.Display = "summarized"
	}
	return n
}

func (c *Text) neutral() upstream.Output {
	n := upstream.Output{Verbosity: c.Verbosity}
	switch f := c.Format; {
	case f == nil:
	case f.Type == "json_object":
		n.MediaType = jsonType
	case f.Type == "json_schema":
		n.MediaType, n.Schema.JSON = jsonType, f.Schema
		n.Name, n.Description, n.Strict = f.Name, f.Description, f.Strict
	}
	return n
}

const jsonType = "application/json"

// leftover returns the members without a neutral field, as a document, or nil.
func (r *Request) leftover() *content.Extra {
	w := new(jsonwire.Writer)
	if c := r.Reasoning; c != nil && c.Extra != nil {
		openaiformat.BeginLeftover(w, "reasoning").Raw(c.Extra.JSON)
	}
	if c := r.Text; c != nil {
		f := c.Format
		if f != nil && f.Extra == nil {
			f = nil
		}
		if f != nil || c.Extra != nil {
			openaiformat.BeginLeftover(w, "text").BeginObject()
			if f != nil {
				w.RawMember("format", f.Extra.JSON)
			}
			openaiformat.WriteMembers(w, textConfigType, c.Extra)
			w.EndObject()
		}
	}
	if n := len(r.Include); n > 1 || n == 1 && !r.wantsState() {
		openaiformat.BeginLeftover(w, "include").BeginArray()
		for _, s := range r.Include {
			w.String(s)
		}
		w.EndArray()
	}
	if r.Store != nil && *r.Store {
		openaiformat.BeginLeftover(w, "store").Bool(true)
	}
	if r.User != "" && r.SafetyIdentifier != "" {
		openaiformat.BeginLeftover(w, "user").String(r.User)
	}
	return openaiformat.EndLeftover(w, requestType, r.Extra, Format)
}
