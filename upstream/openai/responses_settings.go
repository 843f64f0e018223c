package openai

import (
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
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
	more := e.ownObject("reasoning")
	if e.effort == "" && summary == "" && more == "" {
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
	e.rest("reasoning", more, "effort", "summary")
	w.EndObject()
}

// summary returns the kind of summaries to ask for, empty for none.
func (e *resEncoder) summary(t *upstream.Thinking) string {
	switch {
	case t.Display == "omitted", t.Display == "" && !t.Enabled(), e.effort == "none",
		t.Mode == upstream.ThinkingOff && e.to.mute(): // others may think nevertheless
		return ""
	case e.to.mute():
		if t.Display != "" {
			e.log.Add(resMute, "thinking.display")
		}
		return ""
	case e.to.refused.has(fieldSummary):
		e.log.Add(resSummary, "thinking.display")
		return ""
	case t.Display == "full":
		e.log.Add(resFullDisplay, "thinking.display")
		return "detailed"
	case t.Display != "" && t.Display != "summarized":
		e.log.Add(resFullDisplay, "thinking.display")
	}
	return "auto"
}

// mute reports whether a model is known not to reason.
func (t *chatTarget) mute() bool { return t.family.known && t.family.byDefault == "" }

// outputLosses notes what form of answer cannot be asked for.
func (e *resEncoder) outputLosses() {
	e.imageForm(resOutputImage)
	for _, m := range e.n.Output.Modalities {
		if m != "text" {
			e.log.Add(resModalities, "output.modalities")
			break
		}
	}
	e.formLosses(resOutputType)
}

// format writes the form of the answer.
func (e *resEncoder) format() {
	o := &e.n.Output
	w := e.w
	more := e.ownObject("text")
	form := e.form()
	if more == "" && form != formObject && form != formSchema {
		return
	}
	w.Name("text")
	w.BeginObject()
	switch {
	case form == formSchema:
		strict, text := e.answerSchema(o.Schema)
		e.jsonSchema(text, strict)
	case form != formObject:
	case e.to.refused.has(fieldJSONObject):
		e.jsonSchema(`{"type":"object"}`, false)
	default:
		e.sent |= fieldJSONObject
		w.Name("format")
		w.Raw(`{"type":"json_object"}`)
	}
	e.rest("text", more, "format")
	w.EndObject()
}

func (e *resEncoder) jsonSchema(text string, strict bool) {
	w := e.w
	w.Name("format")
	w.BeginObject()
	e.member("type", "json_schema")
	e.member("name", "answer")
	w.Name("schema")
	w.Raw(text)
	w.Name("strict")
	w.Bool(strict)
	w.EndObject()
}

// leastTokens is the least limit of an answer that the vendor takes.
const leastTokens = 16

// settings writes what only an answer needs.
func (e *resEncoder) settings() {
	w, n := e.w, e.n
	if limit := e.limit(); limit != nil {
		most := *limit
		if 0 < most && most < leastTokens { // fewer is no limit, and refused
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
	}
	e.include()
	e.identity()
	if n.Stream {
		w.Name("stream")
		w.Bool(true)
		if e.to.vendor && !e.to.refused.has(fieldPadding) {
			w.Name("stream_options")
			w.BeginObject()
			e.noPadding()
			w.EndObject()
		}
	}
}

// encrypted is how thoughts are asked for.
const encrypted = "reasoning.encrypted_content"

// include writes what an answer is to hold besides: thoughts, and what members
// of the own format ask for.
func (e *resEncoder) include() {
	more := e.ownMember("include", jsonwire.Array)
	if e.sent&fieldReasoning == 0 && more == "" {
		return
	}
	w := e.w
	w.Name("include")
	w.BeginArray()
	if e.sent&fieldReasoning != 0 {
		w.String(encrypted)
	}
	if doc, err := jsonwire.Parse(more, codec.UnlimitedJSON); err == nil {
		defer doc.Close()
		for _, v := range doc.Root().Elems() {
			if !v.Is(encrypted) {
				w.Raw(v.Raw())
			}
		}
	}
	w.EndArray()
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
