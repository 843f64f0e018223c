package generatecontent

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
)

var (
	mimeTypes    = []string{"text/plain", "application/json", "application/xml", "application/yaml", "text/x.enum"}
	aspectRatios = []string{"1:1", "1:4", "4:1", "1:8", "8:1", "2:3", "3:2", "3:4", "4:3", "4:5", "5:4", "9:16", "16:9", "21:9"}
	imageSizes   = []string{"512", "1K", "2K", "4K"}
)

const (
	maxStops   = 5
	maxBudget  = 65535
	maxLogprob = 20
)

// config checks how to answer.
func (v *validator) config() {
	c := v.r.GenerationConfig
	if c == nil {
		return
	}
	v.path.Push("generation_config")
	defer v.path.Pop()
	v.between(c.Temperature, 0, 2, "temperature")
	v.between(c.TopP, 0, 1, "top_p")
	v.between(c.PresencePenalty, -2, 2, "presence_penalty")
	v.between(c.FrequencyPenalty, -2, 2, "frequency_penalty")
	v.atLeast(c.TopK, 1, "top_k")
	v.atLeast(c.MaxOutputTokens, 1, "max_output_tokens")
	v.atLeast(&c.CandidateCount, 0, "candidate_count")
	if len(c.StopSequences) > maxStops {
		v.fault(content.CodeLimit, "the number of stop_sequences must not exceed 5", "stop_sequences")
	}
	if n := c.Logprobs; n != nil {
		switch {
		case *n < 0 || *n > maxLogprob:
			v.fault(content.CodeRange, "logprobs must be in the range [0, 20]", "logprobs")
		case !c.ResponseLogprobs && !v.complained("response_logprobs"):
			v.fault(content.CodeConflict, "logprobs needs response_logprobs to be true", "logprobs")
		}
	}
	v.modalities(c.ResponseModalities)
	v.oneOf(c.MediaResolution, resolution.values[1:], "media_resolution")
	if i := c.ImageConfig; i != nil {
		v.oneOf(i.AspectRatio, aspectRatios, "image_config", "aspect_ratio")
		v.oneOf(i.ImageSize, imageSizes, "image_config", "image_size")
	}
	v.format(c)
	v.thinking(c.ThinkingConfig)
	v.speech(c.SpeechConfig)
}

func (v *validator) modalities(list []string) {
	v.path.Push("response_modalities")
	for i, m := range list {
		v.path.PushIndex(i)
		if m == "" {
			v.oneOf("?", modality.values[1:])
		} else if !modality.unset(m) {
			v.oneOf(m, modality.values[1:])
		}
		v.path.Pop()
	}
	v.path.Pop()
}

// format checks what form the answer should have.
func (v *validator) format(c *GenerationConfig) {
	v.oneOf(c.ResponseMimeType, mimeTypes, "response_mime_type")
	structured := c.ResponseMimeType == "application/json" || c.ResponseMimeType == "text/x.enum" || v.complained("response_mime_type")
	switch {
	case c.ResponseSchema != "" && c.ResponseJSONSchema != "":
		v.fault(content.CodeConflict, "response_schema and response_json_schema must not both be set", "response_json_schema")
	case c.ResponseSchema != "" && !structured:
		v.fault(content.CodeConflict, "a schema needs response_mime_type 'application/json' or 'text/x.enum'", "response_schema")
	case c.ResponseJSONSchema != "" && !structured:
		v.fault(content.CodeConflict, "a schema needs response_mime_type 'application/json' or 'text/x.enum'", "response_json_schema")
	}
	v.schema(content.Schema{JSON: c.ResponseSchema, OpenAPI: true}, "response_schema", false)
}

func (v *validator) thinking(t *ThinkingConfig) {
	if t == nil {
		return
	}
	v.path.Push("thinking_config")
	v.oneOf(t.ThinkingLevel, thinkingLevel.values[1:], "thinking_level")
	if b := t.ThinkingBudget; b != nil {
		if t.ThinkingLevel != "" {
			v.fault(content.CodeConflict, "You can only set only one of thinking budget and thinking level.")
		}
		if *b < -1 || *b > maxBudget {
			v.fault(content.CodeRange, "thinking_budget must be in the range [-1, 65535]", "thinking_budget")
		}
	}
	v.path.Pop()
}

// speech checks that there is one way of choosing voices.
func (v *validator) speech(config string) {
	if config == "" {
		return
	}
	doc, err := jsonwire.Parse(config, codec.UnlimitedJSON)
	if err != nil {
		v.fault(content.CodeSyntax, "speech_config is not JSON", "speech_config")
		return
	}
	defer doc.Close()
	one, many := doc.Root().Get("voiceConfig"), doc.Root().Get("multiSpeakerVoiceConfig")
	if one.Exists() && many.Exists() {
		v.fault(content.CodeConflict, "voice_config and multi_speaker_voice_config must not both be set", "speech_config")
	}
}
