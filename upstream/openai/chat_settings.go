package openai

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
)

// limits writes how long an answer may be, and how many there are.
func (e *chatEncoder) limits() {
	if n := e.limit(); n != nil {
		name := "max_tokens"
		if (e.to.vendor || e.to.family.noLimit) != e.to.refused.has(fieldLimit) {
			name = "max_completion_tokens"
		}
		e.sent |= fieldLimit
		e.w.Name(name)
		e.w.Int(*n)
	}
	if e.n.Candidates > 1 {
		e.w.Name("n")
		e.w.Int(int64(e.n.Candidates))
	}
}

// sampling writes sampling parameters and stop sequences, as far as the model
// takes them.
func (e *chatEncoder) sampling() {
	n, f := e.n, &e.to.family
	free := f.sampling == sampleAlways ||
		f.sampling == sampleWithNone && (e.effort == "none" || e.effort == "" && f.byDefault == "none")
	if e.to.thinks() == switchThinking {
		free = free && (e.turn == "disabled" || e.effort == "none") // else the server takes no notice
	}
	e.number("temperature", n.Temperature, 1, free, fieldTemperature, lostTemperature)
	e.number("top_p", n.TopP, 1, free, fieldTopP, lostTopP)
	e.number("presence_penalty", n.PresencePenalty, 0, free, fieldPresence, lostPenalties)
	e.number("frequency_penalty", n.FrequencyPenalty, 0, free, fieldFrequency, lostPenalties)
	if n.TopK != nil {
		if e.to.vendor || e.to.refused.has(fieldTopK) {
			e.log.Add(lostTopK, "top_k")
		} else {
			e.sent |= fieldTopK
			e.w.Name("top_k")
			e.w.Int(*n.TopK)
		}
	}
	if n.Seed != nil {
		if e.to.refused.has(fieldSeed) {
			e.log.Add(lostSeed, "seed")
		} else {
			e.sent |= fieldSeed
			e.w.Name("seed")
			e.w.Int(*n.Seed)
		}
	}
	e.logprobs(free)
	e.stops()
}

// maxTopLogprobs is the limit of top_logprobs.
const maxTopLogprobs = 20

// isLogprobs reports whether a path is that of a member of content generation
// that asks for log probabilities.
func isLogprobs(path string) bool {
	return path == "extra.generationConfig.responseLogprobs" || path == "extra.generationConfig.logprobs"
}

// logprobs asks for log probabilities if a request of content generation does, and
// reports a loss if the model or the server does not have them.
func (e *chatEncoder) logprobs(free bool) {
	x := e.n.Extra
	if x == nil || x.Format != "generatecontent" || !strings.Contains(x.JSON, "ogprobs") {
		return
	}
	doc := codec.Open(x, x.Format)
	if doc == nil {
		return // which is reported elsewhere
	}
	defer doc.Close()
	config := doc.Root().Get("generationConfig")
	on, _ := config.Get("responseLogprobs").Bool()
	top := config.Get("logprobs")
	n, isInt := top.Int()
	valid := on && (isInt && n >= 0 && n <= maxTopLogprobs || top.Kind() <= jsonwire.Null)
	if !valid || !free || e.to.refused.has(fieldLogprobs) {
		for at, rule := range codec.LostMembers(x, "extra") {
			if isLogprobs(at) {
				e.log.Add(rule, at)
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

// number writes a parameter. One that a model refuses is no loss if it says
// what the model does anyway.
func (e *encoder) number(name string, v *float64, usual float64, free bool, f field, r *loss.Rule) {
	switch {
	case v == nil:
	case free && !e.to.refused.has(f):
		e.sent |= f
		e.w.Name(name)
		e.w.Float(*v)
	case *v != usual || !e.to.vendor && !e.to.family.known: // what is usual there, nobody knows
		e.log.Add(r, name)
	}
}

// mostStops is how many stop sequences the format takes.
const mostStops = 4

func (e *chatEncoder) stops() {
	list := e.n.StopSequences
	if len(list) == 0 {
		return
	}
	if e.to.family.noStop || e.to.refused.has(fieldStop) {
		e.log.Add(lostStop, "stop_sequences")
		return
	}
	if len(list) > mostStops {
		e.log.Add(lostStops, "stop_sequences")
		list = list[:mostStops]
	}
	e.sent |= fieldStop
	e.w.Name("stop")
	e.w.BeginArray()
	for _, s := range list {
		e.w.String(s)
	}
	e.w.EndArray()
}

// output notes what form of answer cannot be asked for.
func (e *chatEncoder) output() {
	e.imageForm(lostOutputImage)
	e.formLosses(lostOutputType)
}

// imageForm notes the shape and the size of images, which nobody here is told.
func (e *encoder) imageForm(r *loss.Rule) {
	if e.n.Output.AspectRatio != "" {
		e.log.Add(r, "output.aspect_ratio")
	}
	if e.n.Output.ImageSize != "" {
		e.log.Add(r, "output.image_size")
	}
}

// format writes the form of the answer.
func (e *chatEncoder) format() {
	o := &e.n.Output
	e.modalities()
	switch {
	case e.form() == formSchema:
		e.schema(o.Schema)
	case e.form() != formObject:
	case e.to.refused.has(fieldJSONObject):
		e.w.Name("response_format")
		e.w.Raw(`{"type":"json_schema","json_schema":{"name":"answer","schema":{"type":"object"}}}`)
	default:
		e.sent |= fieldJSONObject
		e.w.Name("response_format")
		e.w.Raw(`{"type":"json_object"}`)
	}
}

func (e *chatEncoder) schema(s content.Schema) {
	strict, text := e.answerSchema(s)
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

// modalities asks for more than text, which some compatible servers know.
func (e *chatEncoder) modalities() {
	list := e.n.Output.Modalities
	if len(list) == 0 || len(list) == 1 && list[0] == "text" {
		return
	}
	for _, m := range list {
		if m != "text" && (e.to.vendor || m != "image") {
			e.log.Add(lostModalities, "output.modalities")
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

// longestUser is how long a safety_identifier may be, in bytes.
const longestUser = 128

// identity writes who the user is and how to be served.
func (e *encoder) identity() {
	if id := e.n.UserID; id != "" {
		switch {
		case !e.to.vendor || e.to.refused.has(fieldUser):
			e.log.Add(lostUser, "user_id")
		case len(id) > longestUser:
			e.log.Add(lostUserDigest, "user_id")
			sum := sha256.Sum256([]byte(id))
			e.sent |= fieldUser
			e.member("safety_identifier", hex.EncodeToString(sum[:]))
		default:
			e.sent |= fieldUser
			e.member("safety_identifier", id)
		}
	}
	switch tier := e.n.ServiceTier; {
	case tier == "", tier == "unspecified", tier == "auto" && !e.to.vendor: // left to the server
	case e.to.vendor && (tier == "auto" || tier == "default" || tier == "flex" || tier == "scale" || tier == "priority" || tier == "fast"):
		e.member("service_tier", tier)
	case e.to.vendor && (tier == "standard_only" || tier == "standard"):
		e.member("service_tier", "default")
	default:
		e.log.Add(lostTier, "service_tier")
	}
}
