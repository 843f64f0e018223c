package responses

import (
	"cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/openaiformat"
	"github.com/polywire/polywire/internal/response"
	"github.com/polywire/polywire/upstream"
)

// settings are what responses repeat of a request, as JSON texts. Empty ones are the defaults.
type settings struct {
	openResponses bool // in the form that Open Responses specifies
	store         bool

	echoes                             [len(echoes)]string
	effort, summary, format, verbosity string
}

// echoes are the members of a response that repeat those of the request, with their defaults. of
// returns the value of a member with a field; others are in the Extra of the request.
var echoes = [...]struct {
	name, otherwise string
	of              func(*Request) string
}{
	{"instructions", "null", func(r *Request) string { return textJSON(r.Instructions) }},
	{previousName, "null", func(*Request) string { return "" }}, // a store sets it
	{"max_output_tokens", "null", func(r *Request) string { return intJSON(r.MaxOutputTokens) }},
	{"max_tool_calls", "null", nil},
	{"top_logprobs", "0", nil},
	{"temperature", "1", func(r *Request) string { return numberJSON(r.Temperature) }},
	{"top_p", "1", func(r *Request) string { return numberJSON(r.TopP) }},
	{"presence_penalty", "0", nil},
	{"frequency_penalty", "0", nil},
	{"parallel_tool_calls", "true", func(r *Request) string {
		if p := r.ParallelToolCalls; p != nil && !*p {
			return "false"
		}
		return ""
	}},
	{"tool_choice", `"auto"`, func(r *Request) string { return choiceJSON(r.ToolChoice) }},
	{"truncation", `"disabled"`, nil},
	{tierName, `"default"`, func(r *Request) string { return textJSON(r.ServiceTier) }},
	{"metadata", "{}", nil},
	{"user", "null", func(r *Request) string { return textJSON(r.User) }},
	{"safety_identifier", "null", func(r *Request) string { return textJSON(r.SafetyIdentifier) }},
	{"prompt_cache_key", "null", nil},
}

const (
	previousName = "previous_response_id"
	tierName     = "service_tier"
)

// set sets what responses repeat of a member.
func (s *settings) set(name, json string) {
	for i := range echoes {
		if echoes[i].name == name {
			s.echoes[i] = json
		}
	}
}

// appendResponse appends the response object with all members that the vendor's SDKs or Open
// Responses require. failed is the error of a failed response, or nil.
func (s *encoder) appendResponse(dst []byte, status string, failed *openaiformat.ServerError) []byte {
	done := status != "in_progress"
	dst = jsonwire.AppendString(append(dst, `{"id":`...), s.id)
	dst = jsonwire.AppendInt(append(dst, `,"object":"response","created_at":`...), s.created)
	dst = append(append(append(dst, `,"status":"`...), status...), `","background":false,"completed_at":`...)
	if status == "completed" {
		dst = jsonwire.AppendInt(dst, s.now().Unix())
	} else {
		dst = append(dst, "null"...)
	}
	dst = append(dst, `,"error":`...)
	if failed != nil {
		dst = jsonwire.AppendString(append(dst, `{"code":`...), failed.Code)
		dst = append(jsonwire.AppendString(append(dst, `,"message":`...), failed.Message), '}')
	} else {
		dst = append(dst, "null"...)
	}
	dst = append(dst, `,"incomplete_details":`...)
	if status == "incomplete" {
		_, reason := s.status()
		dst = append(jsonwire.AppendString(append(dst, `{"reason":`...), reason), '}')
	} else {
		dst = append(dst, "null"...)
	}
	model := cmp.Or(s.Start.Model, s.model)
	dst = jsonwire.AppendString(append(dst, `,"model":`...), model)
	dst = append(dst, `,"output":[`...)
	if done {
		dst = s.appendOutput(dst)
	}
	dst = append(dst, ']')
	e := &s.settings
	for i, m := range echoes {
		value := e.echoes[i]
		if m.name == tierName {
			value = serviceTier(cmp.Or(s.tier, openaiformat.ServiceTier(&s.Usage)), value)
		}
		dst = append(append(append(dst, `,"`...), m.name...), `":`...)
		if value == "" || value == "null" {
			dst = append(dst, m.otherwise...)
		} else {
			dst = jsonwire.AppendCompact(dst, value)
		}
	}
	dst = append(append(dst, `,"reasoning":{"effort":`...), orNull(e.effort)...)
	dst = append(append(dst, `,"summary":`...), orNull(e.summary)...)
	dst = append(dst, `},"text":{"format":`...)
	if e.format == "" {
		dst = append(dst, `{"type":"text"}`...)
	} else {
		dst = jsonwire.AppendCompact(dst, e.format)
	}
	if orNull(e.verbosity) != "null" {
		dst = append(append(dst, `,"verbosity":`...), e.verbosity...)
	}
	dst = append(dst, `},"tools":[],"store":`...)
	if e.store {
		dst = append(dst, "true"...)
	} else {
		dst = append(dst, "false"...)
	}
	dst = append(dst, `,"usage":`...)
	if done && (s.counted || failed == nil) {
		dst = appendUsage(dst, &s.Usage)
	} else {
		dst = append(dst, "null"...)
	}
	return append(dst, '}')
}

// serviceTier returns the tier of the response, else that of the request unless it leaves the
// choice to the server.
func serviceTier(used, requested string) string {
	switch {
	case used != "":
		return used
	case requested == `"auto"`:
		return ""
	}
	return requested
}

func orNull(json string) string {
	if json == "" {
		return "null"
	}
	return json
}

// appendNullable appends a string, or null for an empty one.
func appendNullable(dst []byte, s string) []byte {
	if s == "" {
		return append(dst, "null"...)
	}
	return jsonwire.AppendString(dst, s)
}

// appendOutput appends the complete items, each but the first after a comma.
func (s *encoder) appendOutput(dst []byte) []byte {
	comma := false
	for _, it := range s.items {
		if it.json == nil {
			continue // not complete, in a response that failed
		}
		if comma {
			dst = append(dst, ',')
		}
		comma = true
		dst = append(dst, it.json...)
	}
	return dst
}

// appendUsage appends the usage. The counts of OpenAI are sums.
func appendUsage(dst []byte, u *content.Usage) []byte {
	dst = jsonwire.AppendInt(append(dst, `{"input_tokens":`...), u.Prompt())
	dst = jsonwire.AppendInt(append(dst, `,"input_tokens_details":{"cached_tokens":`...), u.CacheRead)
	if n := u.CacheWrite + u.CacheWrite1h; n > 0 {
		dst = jsonwire.AppendInt(append(dst, `,"cache_write_tokens":`...), n)
	}
	dst = jsonwire.AppendInt(append(dst, `},"output_tokens":`...), u.Completion())
	dst = jsonwire.AppendInt(append(dst, `,"output_tokens_details":{"reasoning_tokens":`...), u.Thinking)
	dst = jsonwire.AppendInt(append(dst, `},"total_tokens":`...), u.Prompt()+u.Completion())
	return append(dst, '}')
}

// appendItem appends an item. If full is false, it is the beginning of the item, without text.
func appendItem(dst []byte, it *item, status string, full bool) []byte {
	text := ""
	if full {
		text = it.text.String()
	}
	dst = jsonwire.AppendString(append(dst, `{"id":`...), it.id)
	dst = append(append(dst, `,"type":"`...), itemNames[it.kind]...)
	dst = append(append(append(dst, `","status":"`...), status...), '"')
	switch it.kind { // others are calls
	case messageItem:
		dst = append(dst, `,"role":"assistant","content":[`...)
		if full {
			dst = append(dst, it.parts...)
		}
		return append(dst, `]}`...)
	case reasoningItem:
		dst = append(dst, `,"summary":[`...)
		if text != "" {
			dst = append(jsonwire.AppendString(append(dst, `{"type":"summary_text","text":`...), text), '}')
		}
		dst = append(dst, ']')
		if full && it.extra != "" {
			dst = jsonwire.AppendString(append(dst, `,"encrypted_content":`...), it.extra)
		}
		return append(dst, '}')
	case searchItem:
		dst = append(dst, `,"execution":"client"`...)
	}
	dst = jsonwire.AppendString(append(dst, `,"call_id":`...), it.callID)
	if it.kind == searchItem {
		dst = append(dst, `,"arguments":`...)
		switch {
		case !full:
			dst = append(dst, "{}"...)
		case jsonwire.ValidObject(text):
			dst = jsonwire.AppendCompact(dst, text)
		default:
			dst = jsonwire.AppendString(dst, text)
		}
		return append(dst, '}')
	}
	dst = jsonwire.AppendString(append(dst, `,"name":`...), it.name)
	if it.namespace != "" {
		dst = jsonwire.AppendString(append(dst, `,"namespace":`...), it.namespace)
	}
	dst = append(dst, it.extra...)
	if it.kind == customItem {
		dst = append(dst, `,"input":`...)
	} else {
		dst = append(dst, `,"arguments":`...)
	}
	return append(jsonwire.AppendString(dst, text), '}')
}

// appendPart appends the open part of a message with a text.
func appendPart(dst []byte, it *item, text string) []byte {
	if it.isRefusal {
		return append(jsonwire.AppendString(append(dst, `{"type":"refusal","refusal":`...), text), '}')
	}
	dst = jsonwire.AppendString(append(dst, `{"type":"output_text","text":`...), text)
	dst = append(append(dst, `,"annotations":[`...), it.annotations...)
	return append(append(append(dst, `],"logprobs":[`...), it.logprobs...), `]}`...)
}

// status returns the status of the complete response and, if it is incomplete, the reason.
func (s *encoder) status() (status, reason string) {
	c := &s.Candidates[0]
	stop := &c.Stop
	if stop.Format == Format && stop.Details != "" && stop.RawReason != "" {
		return "incomplete", stop.RawReason
	}
	switch stop.Reason {
	case content.StopMaxTokens, content.StopContext, content.StopMalformedCall:
		return "incomplete", "max_output_tokens"
	case content.StopSafety, content.StopRecitation:
		return "incomplete", "content_filter"
	case content.StopRefusal:
		if !s.refused && stop.Format != Format {
			return "incomplete", "content_filter"
		}
	}
	ended := stop.Format == Format // an item or the details have the reason
	switch stop.Reason {
	case "", content.StopEnd, content.StopToolUse, content.StopSequence, content.StopRefusal, content.StopCompaction:
		ended = true
	}
	if c.Broken || s.lacksCall() || !ended {
		return "incomplete", "max_output_tokens"
	}
	return "completed", ""
}

// lacksCall reports whether the model stopped for a tool call that is not in the response: it could
// not be read.
func (s *encoder) lacksCall() bool {
	c := &s.Candidates[0]
	return c.Stop.Reason == content.StopToolUse && c.Stop.Format != Format && c.Calls == 0 && !c.Broken && !s.denied
}

// reportEnd reports what the end of the response drops.
func (s *encoder) reportEnd() {
	stop := &s.Candidates[0].Stop
	switch stop.Reason {
	case "", content.StopEnd, content.StopToolUse, content.StopMaxTokens, content.StopContext, content.StopSafety, content.StopRecitation, content.StopRefusal:
	case content.StopSequence:
		if stop.Format != Format {
			s.LoseAt("stop", lossSentSequence)
		}
	default:
		if stop.Format != Format {
			s.LoseAt("stop", lossSentStop)
		}
	}
	if s.lacksCall() {
		s.LoseAt("stop", lossSentStop)
	}
	if stop.Format != Format && (stop.Message != "" || codec.HasMoreThan(stop, "")) {
		s.LoseAt("stop", response.LossStopDetails)
	}
	s.addMembers(stop.Extra)
	if openaiformat.HasOtherCounts(&s.Usage, Format, false) {
		s.LoseAt("usage", lossSentCounts)
	}
	for path, r := range s.sources.Lost() {
		s.LoseAt(path, r)
	}
}

// convertResponse encodes a whole response with s.
func (s *encoder) convertResponse(r *upstream.Response) (*jsonwire.Writer, []content.Loss) {
	if r == nil {
		r = new(upstream.Response)
	}
	s.Start, s.Usage, s.counted = r.Start, r.Usage, true
	s.Candidates[0].Stop = r.Stop
	s.addMembers(r.Start.Extra)
	s.addMembers(r.Extra)
	s.Parts(0, r.Parts)
	if len(r.MoreCandidates) > 0 {
		s.LoseAt("candidates", lossSentCandidates)
	}
	s.finish()
	s.reportEnd()
	status, _ := s.status()
	var failed *openaiformat.ServerError
	if s.compacting {
		if f := s.endSummary(); f != nil {
			e := openaiformat.NewServerError(Format, f)
			status, failed = "failed", &e
		}
	}
	if failed == nil {
		s.saveResponse(status)
	}
	w := new(jsonwire.Writer)
	w.Raw(string(s.appendResponse(make([]byte, 0, 2<<10), status, failed)))
	return w, s.Losses()
}
