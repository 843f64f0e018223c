package openai

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/polywire/polywire/internal/test/fake"
)

// A rule is a check beyond the shape of the body.
type rule struct {
	name, ref string // ref is the section of openai.md
	vendor    bool   // compatible servers do not check it
	check     func(*ask) *refusal
}

var commonRules = []rule{
	{"effort", "§2.2", true, effortRule},
	{"sampling", "§2.2", true, samplingRule},
	{"parallel", "§2.1 [report]", true, func(a *ask) *refusal {
		if a.doc.Has("parallel_tool_calls") && len(a.doc.List("tools")) == 0 && !a.addsTools() && !a.server.opts.Lenient {
			return no("parallel_tool_calls", "", "Invalid value for 'parallel_tool_calls': 'parallel_tool_calls' is only allowed when 'tools' are specified.")
		}
		if a.doc.Has("parallel_tool_calls") && a.model.o {
			return no("parallel_tool_calls", "unsupported_parameter", "Unsupported parameter: 'parallel_tool_calls' is not supported with this model.")
		}
		return nil
	}},
	{"tool-choice", "§2.4", true, choiceRule},
	{"tool-names", "§2.4", true, func(a *ask) *refusal {
		names := a.toolNames()
		for i, n := range names {
			if n != "" && slices.Contains(names[:i], n) {
				return no("tools", "invalid_value", "Duplicate tool name: '%s'.", n)
			}
		}
		return nil
	}},
	{"strict", "§2.4 [docs][report]", true, strictRule},
	{"metadata", "§2.1", true, func(a *ask) *refusal {
		m := a.doc.Get("metadata")
		if m == nil {
			return nil
		}
		if len(m.Keys) > 16 || slices.ContainsFunc(m.Keys, func(k string) bool { return len(k) > 64 }) {
			return no("metadata", "invalid_value", "Invalid 'metadata': at most 16 pairs with keys of at most 64 characters.")
		}
		return nil
	}},
}

var chatRules = []rule{
	{"no-chat", "§2.2 [report]", true, func(a *ask) *refusal {
		if a.model.responsesOnly() {
			return &refusal{status: 404, param: "model", message: "This is not a chat model and thus not supported in the v1/chat/completions endpoint."}
		}
		return nil
	}},
	{"max_tokens", "§2.1 [report]", true, func(a *ask) *refusal {
		if a.doc.Get("max_tokens") != nil && a.model.reasons() {
			return no("max_tokens", "unsupported_parameter", "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.")
		}
		return nil
	}},
	{"max-both", "§2.1 [inferred]", false, func(a *ask) *refusal {
		if a.doc.Get("max_tokens") != nil && a.doc.Get("max_completion_tokens") != nil {
			return no("max_tokens", "invalid_value", "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.")
		}
		return nil
	}},
	{"stop", "§2.1 [sdk][report]", true, func(a *ask) *refusal {
		if a.doc.Get("stop") != nil && a.model.reasons() {
			return no("stop", "unsupported_parameter", "Unsupported parameter: 'stop' is not supported with this model.")
		}
		return nil
	}},
	{"top_logprobs", "§2.1", true, func(a *ask) *refusal {
		if a.doc.Get("top_logprobs") != nil && !a.doc.True("logprobs") {
			return no("top_logprobs", "invalid_value", "'top_logprobs' needs 'logprobs' to be true.")
		}
		return nil
	}},
	{"stream_options", "§2.1", true, func(a *ask) *refusal {
		if a.doc.Get("stream_options") != nil && !a.doc.True("stream") {
			return no("stream_options", "", "The 'stream_options' parameter is only allowed when 'stream' is enabled.")
		}
		return nil
	}},
	{"tool-effort", "§2.2 [docs][report]", true, toolEffortRule},
	{"json", "§2.5 [report]", true, func(a *ask) *refusal {
		if a.doc.Get("response_format").Text("type") != "json_object" {
			return nil
		}
		for _, m := range a.doc.List("messages") {
			b, _ := json.Marshal(m)
			if strings.Contains(strings.ToLower(string(b)), "json") {
				return nil
			}
		}
		return no("messages", "", "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.")
	}},
	{"system", "§2.3", true, func(a *ask) *refusal {
		roles := a.roles()
		if slices.Contains(roles, "system") && slices.Contains(roles, "developer") {
			return no("messages", "", "Only one of the roles 'system' and 'developer' may be used.")
		}
		return nil
	}},
	{"local-system", "§2.3 [report]", false, func(a *ask) *refusal {
		if !a.server.opts.Local {
			return nil
		}
		for i, r := range a.roles() {
			if r == "developer" || r == "system" && i > 0 {
				return &refusal{kind: "BadRequestError", message: "System message must be at the beginning."}
			}
		}
		return nil
	}},
	{"local-max", "§2.1 [sdk][report]", false, func(a *ask) *refusal {
		if a.server.opts.Local && a.doc.Get("max_completion_tokens") != nil {
			return &refusal{kind: "BadRequestError", message: "fake: this server knows max_tokens only"}
		}
		return nil
	}},
	{"echo", "§2.3 [docs][report]", false, func(a *ask) *refusal {
		for _, m := range a.doc.List("messages") {
			if field := a.server.opts.EchoReasoning; field != "" && m.Get("tool_calls") != nil && m.Get(field) == nil {
				return no("", "invalid_request_error", "The %s in the thinking mode must be passed back to the API.", field)
			}
		}
		return nil
	}},
	{"no-stream-options", "§2.1 [inferred]", false, func(a *ask) *refusal {
		if a.server.opts.NoStreamOptions && a.doc.Has("stream_options") {
			return no("stream_options", "", "Unrecognized request argument supplied: stream_options")
		}
		return nil
	}},
	{"short-ids", "§3.4 [report]", false, shortIDRule},
	{"strict-roles", "[report]", false, strictRoleRule},
	{"content", "§2.3", false, func(a *ask) *refusal {
		for i, m := range a.doc.List("messages") {
			if m.Text("role") == "assistant" && m.Get("content") == nil && m.Get("tool_calls") == nil && m.Get("refusal") == nil {
				return no("messages", "", "Invalid value for 'messages[%d].content': expected a string, got null.", i)
			}
		}
		return nil
	}},
	{"arguments", "§2.3 [sdk]", false, func(a *ask) *refusal {
		for i, m := range a.doc.List("messages") {
			for k, c := range m.List("tool_calls") {
				f := c.Get("function")
				if f == nil {
					continue
				}
				if v, err := fake.Parse([]byte(f.Text("arguments"))); err != nil || v.Kind != fake.Object {
					return no("messages", "", "invalid tool call arguments in messages[%d].tool_calls[%d]", i, k)
				}
			}
		}
		return nil
	}},
	{"file", "§2.3 [docs]", true, func(a *ask) *refusal {
		for i, m := range a.doc.List("messages") {
			for _, p := range m.List("content") {
				f := p.Get("file")
				if f != nil && f.Get("file_id") == nil && (f.Get("file_data") == nil || f.Get("filename") == nil) {
					return no("messages", "missing_required_parameter", "Missing required parameter: 'messages[%d].content.file': file_data with filename, or file_id.", i)
				}
			}
		}
		return nil
	}},
	{"pairs", "§2.3 [report]", false, pairRule},
}

// shortIDRule checks the ids of tool calls as Mistral does.
func shortIDRule(a *ask) *refusal {
	if !a.server.opts.ShortIDs {
		return nil
	}
	for _, m := range a.doc.List("messages") {
		ids := []string{m.Text("tool_call_id")}
		for _, c := range m.List("tool_calls") {
			ids = append(ids, c.Text("id"))
		}
		for _, id := range ids {
			if id != "" && (len(id) != 9 || strings.Trim(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") != "") {
				return no("", "invalid_request_error", "Tool call id was %s but must be a-z, A-Z, 0-9, with a length of 9.", id)
			}
		}
	}
	return nil
}

// strictRoleRule checks the order of roles as chat templates of Mistral's models do.
func strictRoleRule(a *ask) *refusal {
	if !a.server.opts.StrictRoles {
		return nil
	}
	before := "system"
	for i, role := range a.roles() {
		switch {
		case role == "system" && i > 0, role == before && role != "tool" && role != "system",
			before == "system" && role != "system" && role != "user", before == "tool" && role == "user":
			return no("messages", "", "Unexpected role '%s' after role '%s'", role, before)
		}
		before = role
	}
	return nil
}

func (a *ask) roles() []string {
	var out []string
	for _, m := range a.doc.List("messages") {
		out = append(out, m.Text("role"))
	}
	return out
}

// effortOf returns the effort in the request and its parameter.
func (a *ask) effortOf() (value, param string) {
	if a.chat {
		return a.doc.Text("reasoning_effort"), "reasoning_effort"
	}
	return a.doc.Get("reasoning").Text("effort"), "reasoning.effort"
}

func effortRule(a *ask) *refusal {
	value, param := a.effortOf()
	allowed := a.model.efforts(a.chat)
	if value == "" || allowed == nil || slices.Contains(allowed, value) {
		return nil
	}
	if allowed[0] == "" {
		return no(param, "unsupported_parameter", "Unsupported parameter: '%s' is not supported with this model.", param)
	}
	return no(param, "unsupported_value", "Unsupported value: '%s' does not support '%s' with this model. Supported values are: %s.", param, value, supported(strings.Join(allowed, ", ")))
}

func samplingRule(a *ask) *refusal {
	value, _ := a.effortOf()
	if a.model.acceptsSampling(value) {
		return nil
	}
	for _, name := range []string{"temperature", "top_p", "presence_penalty", "frequency_penalty"} {
		v, set := a.doc.Num(name)
		neutral := 0.0
		if name == "temperature" || name == "top_p" {
			neutral = 1
		}
		if set && (v != neutral || a.model.is(6.2)) {
			return no(name, "unsupported_value", "Unsupported value: '%s' does not support %v with this model. Only the default (%v) value is supported.", name, v, neutral)
		}
	}
	for _, name := range []string{"logprobs", "top_logprobs", "logit_bias"} {
		if a.doc.Get(name) != nil {
			return no(name, "unsupported_parameter", "Unsupported parameter: '%s' is not supported with this model.", name)
		}
	}
	return nil
}

// toolEffortRule checks tools on newer models in Chat.
func toolEffortRule(a *ask) *refusal {
	value, _ := a.effortOf()
	how := a.model.chatTools()
	refused := how == "never" || how == "explicit" && value != "none" || how == "none" && value != "none" && value != ""
	if len(a.doc.List("tools")) == 0 || !refused {
		return nil
	}
	return no("reasoning_effort", "", "Function tools with reasoning_effort are not supported for %s in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.", a.model.name)
}

// toolNames returns the names of the tools, "" for those without one.
func (a *ask) toolNames() []string {
	var names []string
	for _, t := range a.doc.List("tools") {
		name := t.Text("name")
		for _, kind := range []string{"function", "custom"} {
			if v := t.Get(kind).Text("name"); v != "" {
				name = v
			}
		}
		names = append(names, name)
	}
	return names
}

func choiceRule(a *ask) *refusal {
	choice := a.doc.Get("tool_choice")
	if choice == nil {
		return nil
	}
	names := a.toolNames()
	if len(names) == 0 && !a.addsTools() && !(a.server.opts.Lenient && a.doc.Text("tool_choice") == "auto") {
		return no("tool_choice", "", "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.")
	}
	kind := choice.Text("type")
	wanted := []*fake.Node{choice}
	if kind == "allowed_tools" {
		wanted = append(choice.List("tools"), choice.Get("allowed_tools").List("tools")...)
	}
	for _, w := range wanted {
		name := w.Text("name") + w.Get("function").Text("name") + w.Get("custom").Text("name")
		if name != "" && !slices.Contains(names, name) {
			return no("tool_choice", "invalid_value", "Invalid value for 'tool_choice': tool '%s' not found in 'tools'.", name)
		}
	}
	return nil
}

// pairRule checks that exactly the results of the calls follow them.
func pairRule(a *ask) *refusal {
	var open []string
	for i, m := range a.doc.List("messages") {
		id := m.Text("tool_call_id")
		switch {
		case m.Text("role") == "tool" && !slices.Contains(open, id):
			return no("messages.["+dotted(fake.Path{}.At(i))+"].role", "", "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.")
		case m.Text("role") == "tool":
			open = slices.DeleteFunc(open, func(s string) bool { return s == id })
			continue
		case len(open) > 0:
			return unanswered(open)
		}
		for _, c := range m.List("tool_calls") {
			if slices.Contains(open, c.Text("id")) {
				return no("messages", "invalid_value", "Duplicate value for 'tool_call_id' of '%s'.", c.Text("id"))
			}
			open = append(open, c.Text("id"))
		}
	}
	if len(open) > 0 {
		return unanswered(open)
	}
	return nil
}

func unanswered(ids []string) *refusal {
	return no("messages", "", "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: %s", strings.Join(ids, ", "))
}

// strictRule checks strict schemas, openai.md §2.4.
func strictRule(a *ask) *refusal {
	for i, t := range a.doc.List("tools") {
		f := t
		if v := t.Get("function"); v != nil {
			f = v
		}
		if !f.True("strict") {
			continue
		}
		if why := strictSchema(f.Get("parameters"), true, 0); why != "" {
			return no(dotted(fake.Path{}.Key("tools").At(i)), "invalid_function_parameters", "Invalid schema for function '%s': In context=(), %s", f.Text("name"), why)
		}
	}
	for _, f := range []*fake.Node{a.doc.Get("response_format").Get("json_schema"), a.doc.Get("text").Get("format")} {
		if f.True("strict") {
			if why := strictSchema(f.Get("schema"), true, 0); why != "" {
				return no("response_format", "invalid_json_schema", "Invalid schema for response_format '%s': In context=(), %s", f.Text("name"), why)
			}
		}
	}
	return nil
}

// strictFormats are the formats that strict schemas support.
var strictFormats = []string{"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}

func strictSchema(n *fake.Node, root bool, depth int) string {
	if root && (n.Text("type") != "object" || n.Get("anyOf") != nil) {
		return "schema must be a JSON Schema of 'type: \"object\"'."
	}
	if n == nil || n.Kind != fake.Object || depth > 10 {
		return ""
	}
	for _, word := range []string{"allOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas", "patternProperties", "default"} {
		if n.Has(word) {
			return "'" + word + "' is not permitted."
		}
	}
	if f := n.Get("format"); f != nil && !slices.Contains(strictFormats, f.Str) {
		return "'" + f.Str + "' is not a valid format."
	}
	if !root && !slices.ContainsFunc([]string{"type", "enum", "const", "anyOf", "$ref"}, n.Has) {
		return "schema must have a 'type' key."
	}
	properties := n.Get("properties")
	if n.Text("type") == "object" || properties != nil {
		if v := n.Get("additionalProperties"); v == nil || v.Kind != fake.Bool || v.Str != "false" {
			return "'additionalProperties' is required to be supplied and to be false."
		}
		var required []string
		for _, r := range n.List("required") {
			required = append(required, r.Str)
		}
		if properties != nil {
			for _, k := range properties.Keys {
				if !slices.Contains(required, k) {
					return "'required' is required to be supplied and to be an array including every key in properties. Missing '" + k + "'."
				}
			}
		}
	}
	var inner []*fake.Node
	for _, holder := range []string{"properties", "$defs"} {
		if m := n.Get(holder); m != nil {
			inner = append(inner, m.Items...)
		}
	}
	for _, s := range append(inner, append(n.List("items"), n.List("anyOf")...)...) {
		if why := strictSchema(s, false, depth+1); why != "" {
			return why
		}
	}
	return ""
}
