package generatecontent

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/object"
	"github.com/polywire/polywire/upstream"
)

// The objects of responses, except contents and parts, which are those of requests. The
// decoder reads by these tables the members that have a Go field. It keeps the others as JSON
// text. Fields of the type [jsonwire.Value] are read in another order than that of the
// document, or only in part.

type responseValues struct{ candidates, usage, model, id, feedback jsonwire.Value }

var generateResponseType = object.KeptLater("GenerateContentResponse", func() []object.Field {
	return []object.Field{
		opt("candidates", many(one(candidateType)), func(r *responseValues) *jsonwire.Value { return &r.candidates }),
		opt("usageMetadata", one(usageType), func(r *responseValues) *jsonwire.Value { return &r.usage }),
		opt("modelVersion", anyText, func(r *responseValues) *jsonwire.Value { return &r.model }),
		opt("responseId", anyText, func(r *responseValues) *jsonwire.Value { return &r.id }),
		opt("promptFeedback", one(feedbackType), func(r *responseValues) *jsonwire.Value { return &r.feedback }),
		kept("modelStatus", anyValue), kept("createTime", instant), kept("turnToken", anyText),
		kept("error", anyValue)}
}) // of an envelope in place of a response

// isResponseMember reports whether [writtenResponse] has a field for a member.
var isResponseMember = generateResponseType.Holds

type candidateValues struct{ content, reason, index, message, ratings jsonwire.Value }

var candidateType = object.KeptLater("Candidate", func() []object.Field {
	return []object.Field{
		opt("content", one(contentType), func(c *candidateValues) *jsonwire.Value { return &c.content }),
		opt("finishReason", enum(finishReasons), func(c *candidateValues) *jsonwire.Value { return &c.reason }),
		opt("index", int32s, func(c *candidateValues) *jsonwire.Value { return &c.index }),
		opt("finishMessage", anyText, func(c *candidateValues) *jsonwire.Value { return &c.message }),
		opt("safetyRatings", anyValue, func(c *candidateValues) *jsonwire.Value { return &c.ratings }),
		kept("citationMetadata", anyValue), kept("groundingMetadata", anyValue), kept("urlContextMetadata", anyValue),
		kept("avgLogprobs", number), kept("logprobsResult", anyValue), kept("tokenCount", int32s),
		kept("groundingAttributions", anyValue), kept("continuationToken", data)}
})

// isCandidateMember reports whether [writtenCandidate] has a field for a member.
func isCandidateMember(name string) bool { return candidateType.Holds(name) && name != "safetyRatings" }

var feedbackType = object.KeptLater("PromptFeedback", func() []object.Field { return []object.Field{opt("blockReason", enum(blockReasons), itself)} })

// itself is for types of which only one member has a Go field.
func itself(v *jsonwire.Value) *jsonwire.Value { return v }

// The enums of responses in the order of the numbers that servers send on request.
// Numbers of finish reasons above 5 are those of the Gemini API.
var (
	finishReasons = closed("FinishReason", "FINISH_REASON_UNSPECIFIED", "STOP", "MAX_TOKENS", "SAFETY", "RECITATION", "OTHER",
		"LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MALFORMED_FUNCTION_CALL", "IMAGE_SAFETY", "UNEXPECTED_TOOL_CALL",
		"TOO_MANY_TOOL_CALLS")
	blockReasons = closed("BlockReason", "BLOCK_REASON_UNSPECIFIED", "SAFETY", "OTHER", "BLOCKLIST", "PROHIBITED_CONTENT", "IMAGE_SAFETY")
	modalities   = open("Modality", "MODALITY_UNSPECIFIED", "TEXT", "IMAGE", "VIDEO", "AUDIO", "DOCUMENT")
)

var usageType = object.KeptLater("UsageMetadata", func() []object.Field {
	return append(detailFields(),
		opt("promptTokenCount", int32s, func(c *counts) *int64 { return &c.prompt }),
		opt("cachedContentTokenCount", int32s, func(c *counts) *int64 { return &c.cached }),
		opt("candidatesTokenCount", int32s, func(c *counts) *int64 { return &c.candidates }),
		opt("thoughtsTokenCount", int32s, func(c *counts) *int64 { return &c.thoughts }),
		opt("toolUsePromptTokenCount", int32s, func(c *counts) *int64 { return &c.tool }),
		opt("totalTokenCount", int32s, func(*counts) *ignored { return nil }),
		kept("serviceTier", anyText), kept("trafficType", anyText))
})

// modalityLists are the members of usageMetadata with the counts by modality, and the neutral
// kinds of these counts.
var modalityLists = [...]struct{ of, name string }{
	{"prompt", "promptTokensDetails"}, {"cache", "cacheTokensDetails"},
	{"output", "candidatesTokensDetails"}, {"tool", "toolUsePromptTokensDetails"},
}

func detailFields() (list []object.Field) {
	for i, l := range modalityLists {
		list = append(list, opt(l.name, anyValue, func(c *counts) *jsonwire.Value { return &c.details[i].value }))
	}
	return list
}

// Responses of other endpoints.
var (
	countedType = object.KeptLater("CountTokensResponse", func() []object.Field {
		return []object.Field{
			opt("totalTokens", int32s, func(c *countedValues) *jsonwire.Value { return &c.total }),
			opt("cachedContentTokenCount", int32s, func(c *countedValues) *jsonwire.Value { return &c.cached }),
			kept("promptTokensDetails", anyValue), kept("cacheTokensDetails", anyValue)}
	})

	pageType = object.KeptLater("ListModelsResponse", func() []object.Field {
		return []object.Field{
			opt("models", many(one(modelType)), func(p *pageValues) *jsonwire.Value { return &p.models }),
			opt("tunedModels", many(one(modelType)), func(p *pageValues) *jsonwire.Value { return &p.tuned }),
			opt("publisherModels", many(one(modelType)), func(p *pageValues) *jsonwire.Value { return &p.published }), // Vertex
			opt("nextPageToken", anyText, func(p *pageValues) *jsonwire.Value { return &p.next })}
	})

	modelType = object.New("Model", func(m *upstream.Model) **content.Extra { return &m.Extra }, func() []object.Field {
		return []object.Field{
			opt("name", anyText, func(m *upstream.Model) *string { return &m.ID }),
			opt("displayName", anyText, func(m *upstream.Model) *string { return &m.Name }),
			opt("description", anyText, func(m *upstream.Model) *string { return &m.Description }),
			opt("inputTokenLimit", int32s, func(m *upstream.Model) *int64 { return &m.MaxInput }),
			opt("outputTokenLimit", int32s, func(m *upstream.Model) *int64 { return &m.MaxOutput }),
			opt("thinking", anyFlag, func(m *upstream.Model) *bool { return &m.Thinking }),
			kept("baseModelId", anyText), kept("version", anyText), kept("supportedGenerationMethods", anyValue),
			kept("temperature", number), kept("maxTemperature", number), kept("topP", number), kept("topK", int32s)}
	})
)

type (
	countedValues struct{ total, cached jsonwire.Value }
	pageValues    struct{ models, tuned, published, next jsonwire.Value }
)

// members reads the members of v, an object of type t, that the struct at to has fields for.
// It reports whether v has other members. It ignores null.
func (d *decoder) members(v jsonwire.Value, t *object.Type, to any) (more bool) {
	var seen object.Members
	for name, x := range v.Members() {
		f, again := seen.Field(t, name)
		switch {
		case f == nil:
			more = true
			continue
		case x.Kind() == jsonwire.Null:
			continue
		case !f.Typed():
			more = true
			continue
		case again:
			d.deviates = true // the field occurs in both spellings
			continue
		}
		d.deviates = d.deviates || name != f.Name // clients know only camelCase
		switch to := f.At(to).(type) {
		case *jsonwire.Value:
			*to = x
		case *int64:
			d.count(to, x)
		case *string:
			*to = x.Str()
		case *bool:
			*to, _ = x.Bool()
		}
	}
	return more
}

// maxTokenCount limits a count, so that sums of counts cannot overflow.
const maxTokenCount = 1 << 53

// count reads a number of tokens. It leaves the count if v is not a number.
func (d *decoder) count(to *int64, v jsonwire.Value) {
	n, ok := v.Int()
	if !ok {
		d.deviates = true
		if n, ok = object.Int(v, object.AnyForm); !ok {
			d.lose(lossTokenCount, "usage")
			return
		}
	}
	*to = min(max(n, 0), maxTokenCount)
}
