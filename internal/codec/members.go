package codec

import (
	"iter"
	"strings"
	"sync"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
)

// Rules for members that only another format has. The severity depends on the effect
// of the member, because hosts reject requests by it: a member that changes the
// response, or where it may be processed, is more than a hint.
var (
	ForeignMembers = &loss.Rule{Feature: loss.Members, Severity: content.LossHint,
		Reason: "members that exist only in another format were dropped"}
	ForeignInfluence = &loss.Rule{Feature: loss.Members, Severity: content.LossDegraded,
		Reason: "the member influences the response but exists only in another format; it was dropped"}
	ForeignSafety = &loss.Rule{Feature: loss.Members, Severity: content.LossDegraded,
		Reason: "the safety settings are for another vendor; the defaults of this vendor apply"}
	ForeignSetting = &loss.Rule{Feature: loss.Members, Severity: content.LossDropped,
		Reason: "the member changes the response but exists only in another format; it was dropped"}
	ForeignLocation = &loss.Rule{Feature: loss.Members, Severity: content.LossDropped,
		Reason: "the member restricts where the request is processed but exists only in another format; it was dropped"}
	// Codecs drop the member; adapters refuse the request.
	ForeignState = &loss.Rule{Feature: loss.Members, Severity: content.LossDropped,
		Reason: "the member refers to conversation state at another vendor, which is not available here"}
	ForeignUnknown = &loss.Rule{Feature: loss.Members, Severity: content.LossDropped,
		Reason: "the member is unknown and may change the response; it was dropped"}
)

// ForeignRules are the rules by which [LostMembers] reports. The table of every codec
// includes them.
var ForeignRules = []*loss.Rule{ForeignMembers, ForeignInfluence, ForeignSafety, ForeignSetting, ForeignLocation, ForeignState, ForeignUnknown}

var (
	noLoss = &loss.Rule{} // the neutral request has a field for it
	nested = &loss.Rule{} // an object whose members are in the table
)

// foreign has the members of each format for which the neutral request has no field,
// with the rules by which the other formats lose them. The names are those in an
// Extra, prefixed with "tools.", "turns.", "parts.", "choice.", "thinking." or
// "output." if they are not members of the request itself.
//
// Members that are not in the table are unknown. Unknown settings of a request are
// dropped, not a hint: agents send only settings that are listed here, and a host that
// rejects dropped settings must not receive wrong responses because of a new one.
// Unknown members of turns and parts are a hint: clients return what a response had.
var foreign = map[content.Format]map[string]*loss.Rule{
	"messages": {
		"inference_geo": ForeignLocation, "speed": ForeignMembers, "cache_control": ForeignMembers,
		"diagnostics": ForeignMembers, "fallback_credit_token": ForeignMembers, "billing_policy": ForeignMembers,
		"metadata": ForeignMembers,

		"fallbacks": ForeignInfluence, "thread": ForeignState, "container": ForeignSetting, "mcp_servers": ForeignSetting,
		"context_management": ForeignSetting, "compaction": ForeignSetting,
		"output_format": ForeignSetting, "output_config": nested, "output_config.format": ForeignSetting,
		"output_config.task_budget": ForeignSetting,
		"thinking":                  ForeignSetting, "tool_choice": ForeignSetting, // of an unknown type

		"thinking.block_binding": ForeignMembers,

		"tools.defer_loading": ForeignMembers, "tools.eager_input_streaming": ForeignMembers,
		"tools.allowed_callers": ForeignInfluence, "tools.input_examples": ForeignInfluence,

		"turns.clear_at": ForeignMembers, "turns.output_config": ForeignSetting,
	},
	"generatecontent": {
		"store": ForeignMembers, "labels": ForeignMembers, "processingOptions": ForeignMembers,

		"safetySettings": ForeignSafety, "modelArmorConfig": ForeignSafety,
		"cachedContent": ForeignState, "continuationToken": ForeignState, "generationOutputConfig": ForeignSetting,

		"systemInstruction": nested,
		"toolConfig":        nested, "toolConfig.includeServerSideToolInvocations": ForeignMembers,
		"toolConfig.retrievalConfig": ForeignSetting,

		"generationConfig": nested, "generationConfig.mediaResolution": ForeignMembers,
		"generationConfig.responseLogprobs": ForeignSetting, "generationConfig.logprobs": ForeignSetting,
		"generationConfig.speechConfig": ForeignSetting, "generationConfig.audioTranscriptionConfig": ForeignSetting,
		"generationConfig.audioTimestamp": ForeignSetting, "generationConfig.translationConfig": ForeignSetting,
		"generationConfig.enableAffectiveDialog":      ForeignSetting,
		"generationConfig.enableEnhancedCivicAnswers": ForeignInfluence,
		"generationConfig.routingConfig":              ForeignSetting, "generationConfig.modelConfig": ForeignSetting,
		"generationConfig.responseSchema": ForeignSetting, "generationConfig.responseMimeType": noLoss,
		"generationConfig.responseModalities": noLoss, "generationConfig.thinkingConfig": noLoss,
		"generationConfig.responseFormat": nested, "generationConfig.responseFormat.text": ForeignSetting,
		"generationConfig.responseFormat.image": ForeignSetting, "generationConfig.responseFormat.audio": ForeignSetting,
		"generationConfig.imageConfig": ForeignSetting,

		"choice.streamFunctionCallArguments": ForeignMembers,
		"tools.behavior":                     ForeignMembers,

		"parts.functionCall": nested, "parts.functionCall.partialArgs": ForeignSetting, "parts.videoMetadata": ForeignSetting,
	},
	"openai-chat":      openAI,
	"openai-responses": openAI,
}

// openAI is for both formats of the vendor, which share most members.
var openAI = map[string]*loss.Rule{
	"metadata": ForeignMembers, "store": ForeignMembers, "user": ForeignMembers, "safety_identifier": ForeignMembers,
	"prompt_cache_key": ForeignMembers, "prompt_cache_options": ForeignMembers, "prompt_cache_retention": ForeignMembers,
	"prediction": ForeignMembers, "service_tier": ForeignMembers, "stream_options": ForeignMembers,
	"background": ForeignMembers, "include": ForeignMembers, "access_programs": ForeignMembers,

	"verbosity": ForeignInfluence, "truncation": ForeignInfluence, "moderation": ForeignSafety,
	"previous_response_id": ForeignState, "conversation": ForeignState, "prompt": ForeignState,

	"logprobs": ForeignSetting, "top_logprobs": ForeignSetting, "logit_bias": ForeignSetting,
	"modalities": ForeignSetting, "audio": ForeignSetting, "web_search_options": ForeignSetting,
	"max_tool_calls": ForeignSetting, "context_management": ForeignSetting, "reasoning": ForeignSetting,
	"text": ForeignSetting, "n": ForeignSetting, "image": ForeignSetting,
}

// LostMembers yields the path and the rule of each loss in x, an Extra of another
// format at a neutral path. Members of the request, at "extra", are reported one by
// one. Elsewhere the members without an effect are one loss at path.
//
// [Losses.Foreign] adds these losses. A codec that uses some of the members skips
// them.
func LostMembers(x *content.Extra, path string) iter.Seq2[string, *loss.Rule] {
	return func(yield func(string, *loss.Rule) bool) {
		if x == nil || x.JSON == "" {
			return
		}
		w := memberWalker{table: foreign[x.Format], prefix: tablePrefix(path), top: path, yield: yield}
		// A request may have many Extras: reuse the parser.
		doc := extraDocs.Get().(*jsonwire.Doc)
		defer extraDocs.Put(doc)
		if doc.Parse(x.JSON, UnlimitedJSON) != nil || doc.Root().Kind() != jsonwire.Object {
			doc.Close()
			yield(path, w.unknown())
			return
		}
		defer doc.Close()
		w.root = doc.Root()
		if w.members(w.root, w.prefix, path) && w.idle {
			yield(path, ForeignMembers)
		}
	}
}

var extraDocs = sync.Pool{New: func() any { return new(jsonwire.Doc) }}

// tablePrefix returns the prefix of names in the table for members at a path.
func tablePrefix(path string) string {
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

// A memberWalker yields the losses of the members of an Extra.
type memberWalker struct {
	table       map[string]*loss.Rule
	root        jsonwire.Value
	prefix, top string
	n           int
	idle        bool // there are members without an effect, which are reported together
	yield       func(string, *loss.Rule) bool
}

// members yields the losses of the members of v. key is the prefix of their names in
// the table. It returns false if the caller stops.
func (w *memberWalker) members(v jsonwire.Value, key, path string) bool {
	unnamed := false
	for name, x := range v.Members() {
		if w.n++; w.n > maxReported || !isPlain(name) {
			unnamed = true
			continue
		}
		if !w.member(x, key+name, path+"."+name) {
			return false
		}
	}
	return !unnamed || w.report(w.unknown(), path)
}

func (w *memberWalker) member(v jsonwire.Value, key, path string) bool {
	switch r := w.rule(v, key); {
	case r == noLoss:
		return true
	case r == nested && v.Kind() == jsonwire.Object:
		return w.members(v, key+".", path)
	case r == nested && v.Kind() == jsonwire.Array:
		for _, x := range v.Elems() {
			if !w.members(x, key+".", path) {
				return false
			}
		}
		return true
	case r == nested:
		return w.report(w.unknown(), path)
	default:
		return w.report(r, path)
	}
}

func (w *memberWalker) report(r *loss.Rule, path string) bool {
	if r == ForeignMembers && w.prefix != "" {
		w.idle = true
		return true
	}
	return w.yield(path, r)
}

// unknown returns the rule for a member that is not in the table.
func (w *memberWalker) unknown() *loss.Rule {
	if w.prefix == "turns." || w.prefix == "parts." {
		return ForeignMembers
	}
	return ForeignUnknown
}

// rule returns the rule for a member, by its name and value. An empty value has no
// effect.
func (w *memberWalker) rule(v jsonwire.Value, key string) *loss.Rule {
	r := w.table[key]
	switch {
	case r == noLoss, r == nested && v.Kind() != jsonwire.Null:
		return r
	case v.Kind() == jsonwire.Null, r != nil && isIdle(v):
		return ForeignMembers
	case r == nil:
		return w.unknown()
	}
	switch key {
	case "turns.clear_at":
		if v.Is("never") || v.Is("next_user_message") {
			return noLoss // every codec follows it
		}
	case "inference_geo":
		if v.Is("global") {
			return ForeignMembers // anywhere
		}
	case "context_management":
		if clearsThinking(v) {
			return ForeignMembers
		}
	case "output_format", "output_config.format":
		if v.Get("type").Is("json_schema") {
			return noLoss // the schema of the response
		}
	case "generationConfig.responseFormat.text":
		kind := v.Get("mimeType")
		known := kind.Is("APPLICATION_JSON") || kind.Is("TEXT_PLAIN")
		if known && !w.root.Get("generationConfig").Get("responseMimeType").Exists() {
			return noLoss // the media type and the schema of the response
		}
	}
	return r
}

// isIdle reports whether a member has no effect: it is false or empty.
func isIdle(v jsonwire.Value) bool {
	switch v.Kind() {
	case jsonwire.False:
		return true
	case jsonwire.Object, jsonwire.Array:
		return v.Len() == 0
	}
	return v.Is("")
}

// clearsThinking reports whether context_management only clears or keeps earlier
// thinking. Some agents send that with every request. It has no effect at other
// vendors, since they do not receive the thinking.
func clearsThinking(v jsonwire.Value) bool {
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

// OnlyDirect reports whether only the model may call a tool, which is the case for all
// tools of other formats. callers is the member "allowed_callers" of Messages.
func OnlyDirect(callers jsonwire.Value) bool {
	for _, x := range callers.Elems() {
		if !x.Is("direct") {
			return false
		}
	}
	return true
}
