package codec

import (
	"iter"
	"strings"
	"sync"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
)

// By these rules a member is lost that only another format has. They say what
// the answer is like without it, since a host that refuses what is dropped
// relies on that: a member that changes the answer, or where it may be made, is no hint.
var (
	ForeignMembers = &loss.Rule{Feature: loss.Members, Severity: content.LossHint,
		Reason: "members that only another format has are left out"}
	ForeignNuance = &loss.Rule{Feature: loss.Members, Severity: content.LossDegraded,
		Reason: "the member bears on how the answer is made, and only another format has it"}
	ForeignSafety = &loss.Rule{Feature: loss.Members, Severity: content.LossDegraded,
		Reason: "the safety settings are another vendor's: this vendor's own hold"}
	ForeignSetting = &loss.Rule{Feature: loss.Members, Severity: content.LossDropped,
		Reason: "the member changes the answer, and only another format has it"}
	ForeignPlace = &loss.Rule{Feature: loss.Members, Severity: content.LossDropped,
		Reason: "where the request may be processed cannot be said: only another format has it"}
	// A codec drops the member; adapters refuse the request: see backend.Kept.
	ForeignKept = &loss.Rule{Feature: loss.Members, Severity: content.LossDropped,
		Reason: "the member names state of the conversation that another vendor keeps; it is not kept here"}
	ForeignUnknown = &loss.Rule{Feature: loss.Members, Severity: content.LossDropped,
		Reason: "the member is not known, and may change the answer: it is left out"}
)

// ForeignRules are the rules by which [LostMembers] loses members. Every codec's table
// has them.
var ForeignRules = []*loss.Rule{ForeignMembers, ForeignNuance, ForeignSafety, ForeignSetting, ForeignPlace, ForeignKept, ForeignUnknown}

var (
	told   = &loss.Rule{} // the neutral request says it too, so nothing is lost
	inside = &loss.Rule{} // an object whose members stand in the table
)

// foreign is what each format's members are that the neutral request has no
// field for: this is the one place that says so, for all codecs. The names are
// those of an Extra, with "tools.", "turns.", "parts.", "choice.", "thinking."
// or "output." in front of those that do not stand on the request itself.
//
// What is not in it, nobody knows. Among the settings of a request that is
// dropped, not a hint: agents send none but those that are listed here, so that
// the rule raises no false alarm, and a host that refuses what is dropped is not
// to learn of a new setting by wrong answers. In turns and parts it is a hint:
// clients send back what an answer had, and that has done its work.
var foreign = map[content.Format]map[string]*loss.Rule{
	"messages": {
		"inference_geo": ForeignPlace, "speed": ForeignMembers, "cache_control": ForeignMembers,
		"diagnostics": ForeignMembers, "fallback_credit_token": ForeignMembers, "billing_policy": ForeignMembers,
		"metadata": ForeignMembers,

		"fallbacks": ForeignNuance, "thread": ForeignKept, "container": ForeignSetting, "mcp_servers": ForeignSetting,
		"context_management": ForeignSetting, "compaction": ForeignSetting,
		"output_format": ForeignSetting, "output_config": inside, "output_config.format": ForeignSetting,
		"output_config.task_budget": ForeignSetting,
		"thinking":                  ForeignSetting, "tool_choice": ForeignSetting, // of a type that is not known

		"thinking.block_binding": ForeignMembers,

		"tools.defer_loading": ForeignMembers, "tools.eager_input_streaming": ForeignMembers,
		"tools.allowed_callers": ForeignNuance, "tools.input_examples": ForeignNuance,

		"turns.clear_at": ForeignMembers, "turns.output_config": ForeignSetting,
	},
	"generatecontent": {
		"store": ForeignMembers, "labels": ForeignMembers, "processingOptions": ForeignMembers,

		"safetySettings": ForeignSafety, "modelArmorConfig": ForeignSafety,
		"cachedContent": ForeignKept, "continuationToken": ForeignKept, "generationOutputConfig": ForeignSetting,

		"systemInstruction": inside,
		"toolConfig":        inside, "toolConfig.includeServerSideToolInvocations": ForeignMembers,
		"toolConfig.retrievalConfig": ForeignSetting,

		"generationConfig": inside, "generationConfig.mediaResolution": ForeignMembers,
		"generationConfig.responseLogprobs": ForeignSetting, "generationConfig.logprobs": ForeignSetting,
		"generationConfig.speechConfig": ForeignSetting, "generationConfig.audioTranscriptionConfig": ForeignSetting,
		"generationConfig.audioTimestamp": ForeignSetting, "generationConfig.translationConfig": ForeignSetting,
		"generationConfig.enableAffectiveDialog":      ForeignSetting,
		"generationConfig.enableEnhancedCivicAnswers": ForeignNuance,
		"generationConfig.routingConfig":              ForeignSetting, "generationConfig.modelConfig": ForeignSetting,
		"generationConfig.responseSchema": ForeignSetting, "generationConfig.responseMimeType": told,
		"generationConfig.responseModalities": told, "generationConfig.thinkingConfig": told,
		"generationConfig.responseFormat": inside, "generationConfig.responseFormat.text": ForeignSetting,
		"generationConfig.responseFormat.image": ForeignSetting, "generationConfig.responseFormat.audio": ForeignSetting,
		"generationConfig.imageConfig": ForeignSetting,

		"choice.streamFunctionCallArguments": ForeignMembers,
		"tools.behavior":                     ForeignMembers,

		"parts.functionCall": inside, "parts.functionCall.partialArgs": ForeignSetting, "parts.videoMetadata": ForeignSetting,
	},
	"openai-chat":      openAI,
	"openai-responses": openAI,
}

// openAI is of both of that vendor's formats, which share most members.
var openAI = map[string]*loss.Rule{
	"metadata": ForeignMembers, "store": ForeignMembers, "user": ForeignMembers, "safety_identifier": ForeignMembers,
	"prompt_cache_key": ForeignMembers, "prompt_cache_options": ForeignMembers, "prompt_cache_retention": ForeignMembers,
	"prediction": ForeignMembers, "service_tier": ForeignMembers, "stream_options": ForeignMembers,
	"background": ForeignMembers, "include": ForeignMembers, "access_programs": ForeignMembers,

	"verbosity": ForeignNuance, "truncation": ForeignNuance, "moderation": ForeignSafety,
	"previous_response_id": ForeignKept, "conversation": ForeignKept, "prompt": ForeignKept,

	"logprobs": ForeignSetting, "top_logprobs": ForeignSetting, "logit_bias": ForeignSetting,
	"modalities": ForeignSetting, "audio": ForeignSetting, "web_search_options": ForeignSetting,
	"max_tool_calls": ForeignSetting, "context_management": ForeignSetting, "reasoning": ForeignSetting,
	"text": ForeignSetting, "n": ForeignSetting, "image": ForeignSetting,
}

// LostMembers yields the losses of an Extra that stands at a neutral path and is of
// another format than the one that the request is to be said in: where they are,
// and by which of [ForeignRules]. That of a request, at "extra", is told member by
// member; elsewhere the members without an effect are one loss at path.
//
// A codec makes its reports of it, as they are:
//
//	for at, rule := range codec.LostMembers(x, "tools.2.extra") {
//		log.Add(rule, at)
//	}
//
// and leaves out those at which it does find a use for the member.
// [Losses.Foreign] does just that.
func LostMembers(x *content.Extra, path string) iter.Seq2[string, *loss.Rule] {
	return func(yield func(string, *loss.Rule) bool) {
		if x == nil || x.JSON == "" {
			return
		}
		w := loser{table: foreign[x.Format], place: place(path), top: path, yield: yield}
		// A request may have very many of these, so they share what reads them.
		doc := extraDocs.Get().(*jsonwire.Doc)
		defer extraDocs.Put(doc)
		if doc.Parse(x.JSON, UnlimitedJSON) != nil || doc.Root().Kind() != jsonwire.Object {
			doc.Close()
			yield(path, w.unknown())
			return
		}
		defer doc.Close()
		w.root = doc.Root()
		if w.members(w.root, w.place, path) && w.harmless {
			yield(path, ForeignMembers)
		}
	}
}

var extraDocs = sync.Pool{New: func() any { return new(jsonwire.Doc) }}

// place returns what stands in front of the names of members at a path, in the
// table.
func place(path string) string {
	first, rest, _ := strings.Cut(path, ".")
	switch {
	case first == "extra":
		return ""
	case first == "turns" && strings.Count(rest, ".") == 1: // turns.3.extra
		return "turns."
	case first == "turns", first == "system":
		return "parts."
	}
	return first + "."
}

// A loser walks through the members of an Extra.
type loser struct {
	table      map[string]*loss.Rule
	root       jsonwire.Value
	place, top string
	n          int
	harmless   bool // there are some without an effect, which are told together
	yield      func(string, *loss.Rule) bool
}

// members tells what is lost of the members of v. key is what stands in front
// of their names in the table. It reports whether the caller wants more.
func (w *loser) members(v jsonwire.Value, key, path string) bool {
	unnamed := false
	for name, x := range v.Members() {
		if w.n++; w.n > mostTold || !plainWord(name) {
			unnamed = true
			continue
		}
		if !w.member(x, key+name, path+"."+name) {
			return false
		}
	}
	return !unnamed || w.tell(w.unknown(), path)
}

func (w *loser) member(v jsonwire.Value, key, path string) bool {
	switch r := w.rule(v, key); {
	case r == told:
		return true
	case r == inside && v.Kind() == jsonwire.Object:
		return w.members(v, key+".", path)
	case r == inside && v.Kind() == jsonwire.Array:
		for _, x := range v.Elems() {
			if !w.members(x, key+".", path) {
				return false
			}
		}
		return true
	case r == inside:
		return w.tell(w.unknown(), path)
	default:
		return w.tell(r, path)
	}
}

func (w *loser) tell(r *loss.Rule, path string) bool {
	if r == ForeignMembers && w.place != "" {
		w.harmless = true
		return true
	}
	return w.yield(path, r)
}

// unknown is the rule for a member that is not in the table.
func (w *loser) unknown() *loss.Rule {
	if w.place == "turns." || w.place == "parts." {
		return ForeignMembers
	}
	return ForeignUnknown
}

// rule returns the rule for a member by its value, too: one that says nothing
// changes nothing.
func (w *loser) rule(v jsonwire.Value, key string) *loss.Rule {
	r := w.table[key]
	switch {
	case r == told, r == inside && v.Kind() != jsonwire.Null:
		return r
	case v.Kind() == jsonwire.Null, r != nil && idle(v):
		return ForeignMembers
	case r == nil:
		return w.unknown()
	}
	switch key {
	case "turns.clear_at":
		if v.Is("never") || v.Is("next_user_message") {
			return told // every codec goes by it: see [Clearing]
		}
	case "inference_geo":
		if v.Is("global") {
			return ForeignMembers // anywhere
		}
	case "context_management":
		if clearsThoughts(v) {
			return ForeignMembers
		}
	case "output_format", "output_config.format":
		if v.Get("type").Is("json_schema") {
			return told // as the schema of the answer
		}
	case "generationConfig.responseFormat.text":
		kind := v.Get("mimeType")
		known := kind.Is("APPLICATION_JSON") || kind.Is("TEXT_PLAIN")
		if known && !w.root.Get("generationConfig").Get("responseMimeType").Exists() {
			return told // as the media type and the schema of the answer
		}
	}
	return r
}

// idle reports whether a member says no more than if it were not there.
func idle(v jsonwire.Value) bool {
	switch v.Kind() {
	case jsonwire.False:
		return true
	case jsonwire.Object, jsonwire.Array:
		return v.Len() == 0
	}
	return v.Is("")
}

// clearsThoughts reports whether the settings of a context do no more than to
// clear earlier thoughts, or to keep them. Some agents send that with every
// request. It changes nothing elsewhere, since thoughts are their vendor's own.
func clearsThoughts(v jsonwire.Value) bool {
	for name := range v.Members() {
		if name != "edits" {
			return false
		}
	}
	for _, x := range v.Get("edits").Elems() {
		if !strings.HasPrefix(x.Get("type").Str(), "clear_thinking_") {
			return false
		}
	}
	return true
}

// Direct reports whether only the model itself may call a tool, as it may call
// tools in formats that do not say who may. callers are the "allowed_callers" of
// Messages.
func Direct(callers jsonwire.Value) bool {
	for _, x := range callers.Elems() {
		if !x.Is("direct") {
			return false
		}
	}
	return true
}
