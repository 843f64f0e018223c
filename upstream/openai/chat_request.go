package openai

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/foreign"
)

// chatMembers are the members that the encoder writes. Extra members do not replace
// them.
var chatMembers = []string{
	"model", "messages", "stream", "stream_options", "tools", "tool_choice", "parallel_tool_calls", "functions",
	"function_call", "reasoning_effort", "max_tokens", "max_completion_tokens", "n", "temperature", "top_p", "top_k",
	"presence_penalty", "frequency_penalty", "seed", "stop", "response_format", "modalities", "safety_identifier",
	"service_tier", "store",
}

// logprobsMembers are written for requests of other formats that require them.
// Otherwise they are extra members.
var logprobsMembers = []string{"logprobs", "top_logprobs"}

// writesMember reports whether the encoder writes a member itself.
func (e *chatEncoder) writesMember(name string) bool {
	return slices.Contains(chatMembers, name) || e.sent&fieldLogprobs != 0 && slices.Contains(logprobsMembers, name) || e.thinkingMode != "" && name == e.target.thinkingMember()
}

// A chatEncoder writes a Chat Completions request in one pass and collects the losses.
type chatEncoder struct {
	encoder
	results         map[string]*toolResult
	calls           []toolCall
	thinkingMode    string // "enabled", "disabled", or "" to leave thinking to the server
	idsRenamed      bool   // the loss has been added
	missingReported bool   // the loss of missing thinking has been added
}

// encode writes the document.
func (e *chatEncoder) encode() {
	w, n := e.w, e.req
	w.BeginObject()
	w.Name("model")
	w.String(e.target.model)
	e.checkRequestExtra(n.Extra)
	e.effort = e.thinkingEffort()
	e.outputLosses()
	w.Name("messages")
	w.BeginArray()
	e.messages()
	w.EndArray()
	if n.Stream {
		w.Name("stream")
		w.Bool(true)
		e.streamOptions()
	}
	if e.tools() {
		e.toolChoice()
	} else {
		e.noChoice()
	}
	if e.effort != "" {
		e.sent |= fieldEffort
		w.Name("reasoning_effort")
		w.String(e.effort)
	}
	e.thinkingSwitch()
	e.tokenLimits()
	e.sampling()
	e.responseFormat()
	e.identity()
	e.writeExtra(n.Extra, e.writesMember)
	w.EndObject()
}

func (e *chatEncoder) streamOptions() {
	if e.target.refusals.has(fieldStreamOptions) {
		e.log.Add(lossUsage, "stream")
		return
	}
	e.sent |= fieldStreamOptions
	e.w.Name("stream_options")
	e.w.BeginObject()
	e.w.Name("include_usage")
	e.w.Bool(true)
	e.noObfuscation()
	e.w.EndObject()
}

// noObfuscation turns off the padding of stream events. Padding makes equal events
// differ, which makes them slower to decode. Some servers reject the member.
func (e *encoder) noObfuscation() {
	if e.target.isOpenAI && !e.target.refusals.has(fieldObfuscation) {
		e.sent |= fieldObfuscation
		e.w.Name("include_obfuscation")
		e.w.Bool(false)
	}
}

// tokenLimits writes the limit of output tokens and the number of candidates.
func (e *chatEncoder) tokenLimits() {
	if n := e.maxTokens(); n != nil {
		name := "max_tokens"
		if (e.target.isOpenAI || e.target.family.noMaxTokens) != e.target.refusals.has(fieldMaxTokens) {
			name = "max_completion_tokens"
		}
		e.sent |= fieldMaxTokens
		e.w.Name(name)
		e.w.Int(*n)
	}
	if e.req.Candidates > 1 {
		e.w.Name("n")
		e.w.Int(int64(e.req.Candidates))
	}
}

// sampling writes the sampling parameters and stop sequences that the model accepts.
func (e *chatEncoder) sampling() {
	n, f := e.req, &e.target.family
	accepted := f.sampling == sampleAlways ||
		f.sampling == sampleWithNone && (e.effort == "none" || e.effort == "" && f.defaultEffort == "none")
	if e.target.thinkingMember() == thinkingObject {
		accepted = accepted && (e.thinkingMode == "disabled" || e.effort == "none") // the server ignores them while the model thinks
	}
	e.samplingNumber("temperature", n.Temperature, 1, accepted, fieldTemperature, lossTemperature)
	e.samplingNumber("top_p", n.TopP, 1, accepted, fieldTopP, lossTopP)
	e.samplingNumber("presence_penalty", n.PresencePenalty, 0, accepted, fieldPresencePenalty, lossPenalties)
	e.samplingNumber("frequency_penalty", n.FrequencyPenalty, 0, accepted, fieldFrequencyPenalty, lossPenalties)
	if n.TopK != nil {
		if e.target.isOpenAI || e.target.refusals.has(fieldTopK) {
			e.log.Add(lossTopK, "top_k")
		} else {
			e.sent |= fieldTopK
			e.w.Name("top_k")
			e.w.Int(*n.TopK)
		}
	}
	if n.Seed != nil {
		if e.target.refusals.has(fieldSeed) {
			e.log.Add(lossSeed, "seed")
		} else {
			e.sent |= fieldSeed
			e.w.Name("seed")
			e.w.Int(*n.Seed)
		}
	}
	e.logprobs(accepted)
	e.stops()
}

// maxTopLogprobs is the limit of top_logprobs.
const maxTopLogprobs = 20

// isLogprobs reports whether tail is that of a member of generateContent that requests
// log probabilities: see [foreign.Members].
func isLogprobs(tail string) bool {
	return tail == "generationConfig.responseLogprobs" || tail == "generationConfig.logprobs"
}

// logprobs requests log probabilities if a generateContent request does. It adds losses
// if the model or the server does not support them.
func (e *chatEncoder) logprobs(accepted bool) {
	x := e.req.Extra
	if x == nil || x.Format != "generatecontent" || !strings.Contains(x.JSON, "ogprobs") {
		return
	}
	top := gjson.Get(x.JSON, "generationConfig.logprobs")
	n := int64(top.Num)
	valid := gjson.Get(x.JSON, "generationConfig.responseLogprobs").Type == gjson.True &&
		(top.Type == gjson.Null || top.Type == gjson.Number && float64(n) == top.Num && n >= 0 && n <= maxTopLogprobs)
	if !valid || !accepted || e.target.refusals.has(fieldLogprobs) {
		for tail, rule := range foreign.Members(x, foreign.Request) {
			if isLogprobs(tail) {
				e.log.Add(rule, codec.Below("extra", tail))
			}
		}
		return
	}
	e.sent |= fieldLogprobs
	e.w.Name("logprobs")
	e.w.Bool(true)
	if n > 0 {
		e.w.Name("top_logprobs")
		e.w.Int(n)
	}
}

// maxStops is the limit of stop sequences.
const maxStops = 4

func (e *chatEncoder) stops() {
	list := e.req.StopSequences
	if len(list) == 0 {
		return
	}
	if e.target.family.noStop || e.target.refusals.has(fieldStop) {
		e.log.Add(lossStop, "stop_sequences")
		return
	}
	if len(list) > maxStops {
		e.log.Add(lossStopsOverLimit, "stop_sequences")
		list = list[:maxStops]
	}
	e.sent |= fieldStop
	e.w.Name("stop")
	e.w.BeginArray()
	for _, s := range list {
		e.w.String(s)
	}
	e.w.EndArray()
}

// outputLosses adds the losses of the response's form.
func (e *chatEncoder) outputLosses() {
	e.checkImageOptions(lossOutputImage)
	e.checkOutputForm(lossOutputType)
}

// responseFormat writes the form of the response.
func (e *chatEncoder) responseFormat() {
	o := &e.req.Output
	e.modalities()
	switch {
	case e.outputForm() == formSchema:
		e.schema(o.Schema)
	case e.outputForm() != formObject:
	case e.target.refusals.has(fieldJSONObject):
		e.w.Name("response_format")
		e.w.Raw(`{"type":"json_schema","json_schema":{"name":"answer","schema":{"type":"object"}}}`)
	default:
		e.sent |= fieldJSONObject
		e.w.Name("response_format")
		e.w.Raw(`{"type":"json_object"}`)
	}
}

func (e *chatEncoder) schema(s content.Schema) {
	strict, text := e.outputSchema(s)
	w := e.w
	w.Name("response_format")
	w.BeginObject()
	e.member("type", "json_schema")
	w.Name("json_schema")
	w.BeginObject()
	e.member("name", "answer")
	w.Name("schema")
	w.Raw(text)
	w.Name("strict")
	w.Bool(strict)
	w.EndObject()
	w.EndObject()
}

// modalities requests images in addition to text, which some compatible servers
// support.
func (e *chatEncoder) modalities() {
	list := e.req.Output.Modalities
	if len(list) == 0 || len(list) == 1 && list[0] == "text" {
		return
	}
	for _, m := range list {
		if m != "text" && (e.target.isOpenAI || m != "image") {
			e.log.Add(lossModalities, "output.modalities")
			return
		}
	}
	e.w.Name("modalities")
	e.w.BeginArray()
	for _, m := range list {
		e.w.String(m)
	}
	e.w.EndArray()
}
