package foreign

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
)

// openAI returns the data of both formats of the vendor, which share most members.
func openAI() *format {
	return &format{
		names:  []content.Format{"openai-chat", "openai-responses"},
		number: 3,

		session: "prompt_cache_key",

		response: map[string]*loss.Rule{"logprobs": LogprobsLoss},
		logprobs: openAILogprobs,
		hosted:   hostedInItems,

		// Items of reasoning hold their summary.
		holdsText: func(s content.Signature) bool {
			return s.Format == "openai-responses" && len(s.Data) > 0 && s.Data[0] == '{'
		},

		members: [kinds]table{
			Request: {
				"metadata": {rule: MembersLoss}, "store": {rule: MembersLoss, isExempt: isFalse}, "user": {rule: MembersLoss}, "safety_identifier": {rule: MembersLoss},
				"prompt_cache_key": {rule: MembersLoss}, "prompt_cache_options": {rule: MembersLoss}, "prompt_cache_retention": {rule: MembersLoss},
				"prediction": {rule: MembersLoss}, "service_tier": {rule: MembersLoss}, "stream_options": {rule: MembersLoss},
				"background": {rule: MembersLoss, isExempt: isFalse}, "include": {rule: MembersLoss}, "access_programs": {rule: MembersLoss},
				"client_metadata": {rule: MembersLoss},

				"verbosity": {rule: InfluenceLoss}, "truncation": {rule: InfluenceLoss}, "moderation": {rule: SafetyLoss},
				"previous_response_id": {rule: StateLoss}, "conversation": {rule: StateLoss}, "prompt": {rule: StateLoss},

				"logprobs": {rule: SettingLoss}, "top_logprobs": {rule: SettingLoss}, "logit_bias": {rule: SettingLoss},
				"modalities": {rule: SettingLoss}, "audio": {rule: SettingLoss}, "web_search_options": {rule: SettingLoss},
				"max_tool_calls": {rule: SettingLoss}, "context_management": {rule: SettingLoss},
				"reasoning": {members: table{
					"context": {rule: InfluenceLoss, isExempt: usesAllReasoning}, "mode": {rule: SettingLoss},
					"effort": thinks, "enabled": thinks, "max_tokens": thinks, "exclude": hides,
				}},
				"text": {members: table{"format": {members: table{}}}}, "n": {rule: SettingLoss}, "image": {rule: SettingLoss},

				"response_format": {members: table{"json_schema": {members: table{}}}},
				"max_tokens":      {rule: MembersLoss}, // beside max_completion_tokens

				// Of other servers of Chat Completions: the handler reads usage, and see ThinkingOf.
				"usage":                {members: table{"include": {}}},
				"enable_thinking":      thinks,
				"thinking_budget":      thinks,
				"thinking":             {members: table{"type": thinks, "budget_tokens": thinks, "clear_thinking": {rule: MembersLoss}}},
				"reasoning_format":     hides,
				"include_reasoning":    shows,
				"safe_prompt":          {rule: SafetyLoss},
				"cache_control":        {rule: MembersLoss},
				"clear_thinking":       {rule: MembersLoss},
				"chat_template_kwargs": {members: table{"enable_thinking": thinks, "thinking": thinks}},
			},
			// The role "developer" has the meaning of "system". Earlier audio of the model is part of
			// the conversation. "arguments" are those of a tool call that are not a JSON object.
			Turn: {"role": {}, "audio": {rule: InfluenceLoss}},
			// "execution" is that of a search for tools.
			Part: {"role": {}, "arguments": {rule: ArgumentsLoss}, "execution": {}},
			Tool: {
				"defer_loading": {}, "async": {rule: InfluenceLoss}, "allowed_callers": {rule: InfluenceLoss},
				"namespace": {members: table{"description": {rule: InfluenceLoss}}},
			},
		},
		blocks: map[string]block{
			"compaction":         {isState: hasEncrypted},
			"tool_search_output": {text: foundNothing, rule: ReferenceAsText},
		},
		memberTools:   map[string]func(gjson.Result, []content.Tool) []content.Tool{"web_search_options": searchOfOptions},
		searchesTools: func(t *content.Tool) bool { return t.Kind == "tool_search" && !isClientSearch(t) },
		clientSearch:  isClientSearch,
		references: map[string]func(string) gjson.Result{
			"tool_search_output": func(raw string) gjson.Result { return gjson.Get(raw, "tools") },
		},
	}
}

// An AskedThinking is what a request asks of thinking by members of its Extra.
type AskedThinking struct {
	Mode   string // an upstream.ThinkingMode, or "" if it only has an effort or nothing
	Effort string // not checked
	Budget int64  // of tokens, with the mode "budget"
	Hidden bool   // responses are without it
	At     string // one of the members, or "" if there are none
}

// ThinkingOf returns what the members x of a request, which may be nil, ask of thinking in the ways of servers that
// resemble the vendor's: OpenRouter's, DeepSeek's and GLM's, Qwen's, Groq's, vLLM's.
func ThinkingOf(x *content.Extra) AskedThinking {
	if x == nil || !strings.Contains(x.JSON, "thinking") && !strings.Contains(x.JSON, "reasoning") {
		return AskedThinking{}
	}
	t := new(AskedThinking)
	t.add(gjson.Parse(x.JSON), dataOf(x.Format).members[Request], "")
	switch {
	case t.Mode == "off":
		t = &AskedThinking{Mode: "off", At: t.At}
	case t.Budget > 0:
		t.Mode = "budget"
	case t.Effort != "":
		t.Mode = ""
	}
	return *t
}

// add adds what the members of an object at a path ask. The path ends with a dot if it is not empty.
func (t *AskedThinking) add(object gjson.Result, members table, path string) {
	object.ForEach(func(name, v gjson.Result) bool {
		switch m := members[name.Str]; {
		case m.asks != nil:
			if m.asks(t, v) && t.At == "" {
				t.At = path + name.Str
			}
		case m.members != nil && v.IsObject():
			t.add(v, m.members, path+name.Str+".")
		}
		return true
	})
}

// thinks are members that turn thinking on or off, or state how much; hides and shows say whether responses have it.
var (
	thinks = member{rule: SettingLoss, asks: func(t *AskedThinking, v gjson.Result) bool {
		switch {
		case v.Type == gjson.False, v.Str == "disabled", v.Str == "none", v.Type == gjson.Number && v.Num == 0:
			t.Mode = "off"
		case t.Mode == "off":
		case v.Type == gjson.Number && v.Num > 0:
			t.Budget = v.Int()
		case v.Type == gjson.True, v.Type == gjson.Number, v.Str == "enabled", v.Str == "adaptive", v.Str == "auto":
			t.Mode = "auto"
		default:
			t.Effort = v.Str
		}
		return v.Type != gjson.JSON && v.Raw != `""`
	}}
	hides = hiding(gjson.True)
	shows = hiding(gjson.False)
)

// hiding returns the member that hides thinking if its value is of a type, or "hidden".
func hiding(by gjson.Type) member {
	return member{rule: InfluenceLoss, asks: func(t *AskedThinking, v gjson.Result) bool {
		t.Hidden = t.Hidden || v.Type == by || v.Str == "hidden"
		return v.IsBool() || v.Str == "hidden" || v.Str == "parsed"
	}}
}

// searchOfOptions returns the tool of Responses for the web search of Chat Completions.
func searchOfOptions(options gjson.Result, _ []content.Tool) []content.Tool {
	if !options.IsObject() {
		return nil
	}
	var w jsonwire.Writer
	w.BeginObject()
	w.Member("type", "web_search")
	options.ForEach(func(name, v gjson.Result) bool {
		switch at := v.Get("approximate"); {
		case name.Str == "type":
		case name.Str != "user_location" || !at.IsObject():
			w.RawMember(name.Str, v.Raw)
		default:
			w.Object(name.Str)
			w.Member("type", v.Get("type").Str)
			_ = w.MembersExcept(at.Raw, func(s string) bool { return s == "type" }) // was parsed before
			w.EndObject()
		}
		return true
	})
	w.EndObject()
	return []content.Tool{{Kind: "web_search", Format: "openai-responses", Raw: w.Text()}}
}

// usesAllReasoning reports whether reasoning.context asks for what other vendors do: they use all
// reasoning that the client returns.
func usesAllReasoning(v, _ jsonwire.Value) bool { return v.Is("all_turns") || v.Is("auto") }

// foundNothing is the text of a search for tools that the client has run, if it found none.
func foundNothing(raw string) string {
	if gjson.Get(raw, "execution").Str != "client" {
		return ""
	}
	return "No tools were found."
}

// isClientSearch reports whether a tool is a search for tools that the client runs.
func isClientSearch(t *content.Tool) bool {
	return t.Kind == "tool_search" && gjson.Get(t.Raw, "execution").Str == "client"
}

// hasEncrypted reports whether an item has state that only its vendor can read.
func hasEncrypted(raw string) bool { return gjson.Get(raw, "encrypted_content").Str != "" }
