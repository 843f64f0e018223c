package openai

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/schema"
	"github.com/polywire/polywire/upstream"
)

// reasoning writes how hard the model thinks, and what is shown of it.
func (e *resEncoder) reasoning() {
	t := &e.n.Thinking
	e.foreign(t.Extra, "thinking.extra")
	if want := e.wanted(); want != "" {
		e.effort = e.allowed(want)
	}
	summary := e.summary(t)
	if e.effort == "" && summary == "" {
		return
	}
	w := e.w
	w.Name("reasoning")
	w.BeginObject()
	if e.effort != "" {
		e.sent |= fieldEffort
		e.member("effort", e.effort)
	}
	if summary != "" {
		e.sent |= fieldSummary
		e.member("summary", summary)
	}
	w.EndObject()
}

// summary returns the kind of summaries to ask for, empty for none.
func (e *resEncoder) summary(t *upstream.Thinking) string {
	switch {
	case t.Display == "omitted", t.Display == "" && !t.On(), t.Mode == upstream.ThinkingOff,
		e.effort == "none", e.to.mute():
		return ""
	case e.to.refused.has(fieldSummary):
		e.log.Add(resSummary, "thinking.display")
		return ""
	case t.Display == "full":
		e.log.Add(resFullDisplay, "thinking.display")
		return "detailed"
	}
	return "auto"
}

// mute reports whether a model is known not to reason.
func (t *chatTarget) mute() bool { return t.family.known && t.family.byDefault == "" }

// outputLosses notes what form of answer cannot be asked for.
func (e *resEncoder) outputLosses() {
	o := &e.n.Output
	e.foreign(o.Extra, "output.extra")
	if o.AspectRatio != "" || o.ImageSize != "" {
		e.log.Add(resOutputImage, "output")
	}
	for _, m := range o.Modalities {
		if m != "text" {
			e.log.Add(resModalities, "output.modalities")
			break
		}
	}
	switch {
	case o.Schema.JSON != "", o.MediaType == "", o.MediaType == "text/plain":
	case o.MediaType != jsonType:
		e.log.Add(resOutputType, "output.media_type")
	default:
		// The vendor looks for the word among the items only, and these must
		// stay the same from turn to turn.
		e.log.Add(resJSONObject, "output.media_type")
		e.system = askJSON
	}
}

// format writes the form of the answer.
func (e *resEncoder) format() {
	o := &e.n.Output
	w := e.w
	switch {
	case o.Schema.JSON != "":
		strict, text := e.answerSchema(o.Schema)
		w.Name("text")
		w.BeginObject()
		w.Name("format")
		w.BeginObject()
		e.member("type", "json_schema")
		e.member("name", "answer")
		w.Name("schema")
		w.Raw(text)
		w.Name("strict")
		w.Bool(strict)
		w.EndObject()
		w.EndObject()
	case o.MediaType == jsonType:
		w.Name("text")
		w.Raw(`{"format":{"type":"json_object"}}`)
	}
}

// answerSchema returns the schema of an answer, strict if that says the same.
func (e *resEncoder) answerSchema(s content.Schema) (strict bool, text string) {
	text, losses := schema.Output(schema.OpenAIStrict, s)
	if len(losses) == 0 && text != "" {
		return true, text
	}
	e.log.Add(lostSchemaStrict, "output.schema")
	text, losses = schema.Output(schema.JSONSchema, s)
	e.schemaLosses(losses, "output.schema")
	return false, text
}

// leastTokens is the least limit of an answer that the vendor takes.
const leastTokens = 16

// settings writes what only an answer needs.
func (e *resEncoder) settings() {
	w, n := e.w, e.n
	if n.MaxTokens != nil {
		most := *n.MaxTokens
		if most < leastTokens && most > 0 {
			e.log.Add(resFewTokens, "max_tokens")
			most = leastTokens
		}
		w.Name("max_output_tokens")
		w.Int(most)
	}
	e.samples()
	w.Name("store")
	w.Bool(false)
	switch {
	case e.to.mute():
	case e.to.refused.has(fieldReasoning):
		e.log.Add(resThoughtless, "thinking")
	default:
		e.sent |= fieldReasoning
		w.Name("include")
		w.Raw(`["reasoning.encrypted_content"]`)
	}
	e.identity()
	if n.Stream {
		w.Name("stream")
		w.Bool(true)
		if e.to.vendor {
			// Padding of events helps nobody here, and hides that they are alike.
			w.Name("stream_options")
			w.Raw(`{"include_obfuscation":false}`)
		}
	}
}

// samples writes sampling parameters, as far as the model takes them.
func (e *resEncoder) samples() {
	n, f := e.n, &e.to.family
	free := f.sampling == sampleAlways ||
		f.sampling == sampleWithNone && (e.effort == "none" || e.effort == "" && f.byDefault == "none")
	e.number("temperature", n.Temperature, 1, free, fieldTemperature, lostTemperature)
	e.number("top_p", n.TopP, 1, free, fieldTopP, lostTopP)
	for _, x := range []struct {
		set  bool
		rule *loss.Rule
		path string
	}{
		{n.TopK != nil, resTopK, "top_k"},
		{n.Seed != nil, resSeed, "seed"},
		{n.PresencePenalty != nil && *n.PresencePenalty != 0, resPenalties, "presence_penalty"},
		{n.FrequencyPenalty != nil && *n.FrequencyPenalty != 0, resPenalties, "frequency_penalty"},
		{len(n.StopSequences) > 0, resStops, "stop_sequences"},
		{n.Candidates > 1, resCandidates, "candidates"},
	} {
		if x.set {
			e.log.Add(x.rule, x.path)
		}
	}
}
