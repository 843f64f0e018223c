package gemini

import (
	"fmt"
	"slices"
	"strings"
)

// bound returns a rule for a number in generationConfig.
func bound(name, member, complaint string, ok func(float64) bool) rule {
	return rule{name, "§3.7", false, func(c *call) string {
		if v, set := num(c.config, member); set && !ok(v) {
			return complaint
		}
		return ""
	}}
}

func within(low, high float64) func(float64) bool {
	return func(v float64) bool { return v >= low && v <= high }
}

const invalidArgument = "Request contains an invalid argument."

var configRules = []rule{
	bound("temperature", "temperature", "* GenerateContentRequest.generation_config.temperature: temperature must be in the range [0.0, 2.0]\n", within(0, 2)),
	bound("topP", "topP", "* GenerateContentRequest.generation_config.top_p: top_p must be in the range [0.0, 1.0]\n", within(0, 1)),
	bound("topK", "topK", "* GenerateContentRequest.generation_config.top_k: top_k must be positive\n", within(1, 1<<30)),
	bound("candidateCount", "candidateCount", "Multiple candidates is not enabled for this model", within(0, 1)),
	bound("maxOutputTokens", "maxOutputTokens", invalidArgument, within(1, 1<<30)),
	bound("presencePenalty", "presencePenalty", invalidArgument, func(v float64) bool { return v >= -2 && v < 2 }),
	bound("frequencyPenalty", "frequencyPenalty", invalidArgument, func(v float64) bool { return v >= -2 && v < 2 }),
	{"stopSequences", "§3.7", false, func(c *call) string {
		if len(list(c.config, "stopSequences")) > 5 {
			return ".generation_config.stop_sequences: the number of stop_sequences must not exceed 5"
		}
		return ""
	}},
	{"logprobs", "§3.7", false, func(c *call) string {
		n, set := num(c.config, "logprobs")
		if set && (n < 0 || n > 20 || !c.config.True("responseLogprobs", "response_logprobs")) {
			return ".generation_config.logprobs: needs response_logprobs and a value in [0, 20]"
		}
		return ""
	}},
	{"responseMimeType", "§3.7", false, func(c *call) string {
		allowed := []string{"", "text/plain", "application/json", "application/xml", "application/yaml", "text/x.enum"}
		if !slices.Contains(allowed, str(c.config, "responseMimeType")) {
			return ".generation_config.response_mime_type: allowed mimetypes are `text/plain`, `application/json`, `application/xml`, `application/yaml` and `text/x.enum`."
		}
		return ""
	}},
	{"responseSchema", "§3.7", false, responseSchemaRule},
	{"responseTools", "§3.3", false, func(c *call) string {
		if str(c.config, "responseMimeType") == "application/json" && len(c.declarations()) > 0 && !c.family.signsCalls() {
			return "Function calling with a response mime type: 'application/json' is unsupported"
		}
		return ""
	}},
	{"thinking", "§3.7", false, thinkingRule},
	{"jsonSchema", "§3.9", false, func(c *call) string {
		for _, d := range c.declarations() {
			for _, member := range []string{"parametersJsonSchema", "responseJsonSchema"} {
				if complaint := refSiblings(get(d, member), true); complaint != "" {
					return complaint
				}
			}
		}
		return refSiblings(get(c.config, "responseJsonSchema"), true)
	}},
	{"speech", "§3.7", false, func(c *call) string {
		s := get(c.config, "speechConfig")
		if get(s, "voiceConfig") != nil && get(s, "multiSpeakerVoiceConfig") != nil {
			return ".generation_config.speech_config: only one of voice_config and multi_speaker_voice_config can be set"
		}
		return ""
	}},
	{"image", "§3.7", false, func(c *call) string {
		image := get(c.config, "imageConfig")
		ratios := strings.Fields("1:1 1:4 4:1 1:8 8:1 2:3 3:2 3:4 4:3 4:5 5:4 9:16 16:9 21:9")
		if r := str(image, "aspectRatio"); r != "" && !slices.Contains(ratios, r) {
			return ".generation_config.image_config.aspect_ratio: unknown aspect ratio"
		}
		if r := str(image, "imageSize"); r != "" && !slices.Contains([]string{"512", "1K", "2K", "4K"}, r) {
			return ".generation_config.image_config.image_size: unknown image size"
		}
		return ""
	}},
}

func responseSchemaRule(c *call) string {
	schema, free := get(c.config, "responseSchema"), get(c.config, "responseJsonSchema")
	if free == nil {
		free = c.config.Get("_responseJsonSchema")
	}
	mime := str(c.config, "responseMimeType")
	switch {
	case schema != nil && free != nil:
		return ".generation_config: only one of response_schema and response_json_schema can be set"
	case (schema != nil || free != nil) && mime != "application/json" && mime != "text/x.enum":
		return ".generation_config.response_mime_type: when response_schema is set, response_mime_type must be application/json or text/x.enum"
	case schema != nil:
		return schemaComplaint(".generation_config.response_schema", schema, c.family)
	}
	return ""
}

// thinkingRule is the thinkingConfig row of generatecontent.md §3.7.
func thinkingRule(c *call) string {
	budget, budgetSet := num(c.thought, "thinkingBudget")
	level := strings.ToUpper(str(c.thought, "thinkingLevel"))
	f := c.family
	switch {
	case budgetSet && level != "":
		return "You can only set only one of thinking budget and thinking level."
	case level != "" && !f.signsCalls():
		return "Thinking level is not supported for this model."
	case level == "MINIMAL" && f.kind == "pro":
		return "Thinking level MINIMAL is not supported for this model. Please retry with other thinking level."
	case !budgetSet || budget == -1:
		return ""
	case budget == 0 && f.kind == "pro":
		return "Budget 0 is invalid. This model only works in thinking mode."
	}
	low, high := 0.0, 65535.0
	switch {
	case f.version == 2.5 && f.kind == "pro":
		low, high = 128, 32768
	case f.version == 2.5 && f.kind == "flash":
		high = 24576
	case f.version == 2.5 && f.kind == "flash-lite":
		low, high = 512, 24576
	}
	if budget != 0 && budget < low || budget < 0 || budget > high {
		return fmt.Sprintf("The thinking budget %d is invalid. Please choose a value between %d and %d.", int(budget), int(low), int(high))
	}
	return ""
}
