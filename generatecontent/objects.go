package generatecontent

import (
	"slices"
	"strings"
	"sync"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/object"
)

// The objects of requests. These tables are the only place that knows which members an
// object has, in both spellings: the parser, the encoder and the checks of members without a
// Go field work by them. To add a member, add a field here.

// opt returns a member that a Go field holds. Empty values are not written.
func opt[T, F any](name string, v *object.Value, at func(*T) *F) object.Field {
	return object.In(kept(name, v), at)
}

// must is opt for a member that is written even if it is empty.
func must[T, F any](name string, v *object.Value, at func(*T) *F) object.Field {
	f := kept(name, v)
	f.Required = true
	return object.In(f, at)
}

// kept returns a member that is kept as JSON text.
func kept(name string, v *object.Value) object.Field {
	return object.Field{Name: name, Alias: snake(name), Value: v}
}

// tag returns a member that selects the Go type of its object.
func tag(name string, v *object.Value) object.Field {
	f := kept(name, v)
	f.IsTag = true
	return f
}

// formerly returns f as a former name of a member.
func formerly(f object.Field) object.Field {
	f.ReadOnly = true
	return f
}

// namesOnly returns an object whose members Polywire does not use. Only their names are
// known; the vendor checks the values.
func namesOnly(name, members string) *object.Value {
	var list []object.Field
	for _, s := range strings.Fields(members) {
		list = append(list, kept(s, anyValue))
	}
	return keptObject(name, list...)
}

func keptObject(name string, list ...object.Field) *object.Value {
	return one(object.Kept(name, list...))
}

func one(t *object.Type) *object.Value { return &object.Value{Kinds: object.Object, Object: t} }

func many(elem *object.Value) *object.Value { return &object.Value{Kinds: object.List, Elem: elem} }

// either accepts a list, or one element without brackets. Both are canonical.
func either(elem *object.Value) *object.Value {
	return &object.Value{Kinds: object.List | elem.Kinds, Elem: elem}
}

func enum(e *object.Enum) *object.Value { return &object.Value{Kinds: object.Text, Enum: e} }

// closed returns an enum that accepts only these names.
func closed(name string, v ...string) *object.Enum {
	return &object.Enum{Name: name, Values: v, Numbers: len(v), Closed: true}
}

// open returns an enum that also accepts other names, unless validation is strict.
func open(name string, v ...string) *object.Enum {
	return &object.Enum{Name: name, Values: v, Numbers: len(v)}
}

// numbered returns e with n values that can be written as numbers. The numbers of the
// others are not public.
func numbered(n int, e *object.Enum) *object.Enum {
	e.Numbers = n
	return e
}

// snake returns the snake_case name of a camelCase name.
func snake(camel string) string {
	var b strings.Builder
	for i := range len(camel) {
		if c := camel[i]; c >= 'A' && c <= 'Z' {
			b.WriteByte('_')
			b.WriteByte(c | 0x20)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// enumName returns the canonical form of a name, or "" if the enum does not accept it.
func enumName(e *object.Enum, name string) string {
	if slices.Contains(e.Values, name) { // bounded by Enum
		return name
	}
	for _, v := range e.Values {
		if len(v) <= len(name) && strings.EqualFold(v, name) { // a name that folds to v is not shorter
			return v
		}
	}
	if e.Closed {
		return ""
	}
	return name
}

// enumValue returns the canonical name of a value of an enum, or "" if it is not valid.
func enumValue(e *object.Enum, x jsonwire.Value) string {
	if x.Kind() == jsonwire.String {
		return enumName(e, x.Str())
	}
	if n, ok := x.Int(); ok && n >= 0 && n < int64(e.Numbers) {
		return e.Values[n]
	}
	return ""
}

// isUnset reports whether a canonical name means that no value is set.
func isUnset(e *object.Enum, name string) bool { return e.Numbers > 0 && name == e.Values[0] }

// unsetName is the first name of most enums.
func unsetName(prefix string) string { return prefix + "_UNSPECIFIED" }

// Values that many members accept. Numbers may be written as texts, and null is the same as
// a missing member.
var (
	anyText   = &object.Value{Kinds: object.Text}
	anyFlag   = &object.Value{Kinds: object.Flag}
	int32s    = &object.Value{Kinds: object.Integer, Form: object.Int32}
	int64s    = &object.Value{Kinds: object.Integer}
	number    = &object.Value{Kinds: object.Number}
	data      = &object.Value{Kinds: object.Text, Form: object.Base64}
	instant   = &object.Value{Kinds: object.Text, Form: object.Timestamp}
	anyTexts  = many(anyText)
	anyObject = &object.Value{Kinds: object.Object}
	anyValue  = &object.Value{}
)

var (
	harmCategory = numbered(12, open("HarmCategory",
		unsetName("HARM_CATEGORY"), "HARM_CATEGORY_DEROGATORY", "HARM_CATEGORY_TOXICITY", "HARM_CATEGORY_VIOLENCE",
		"HARM_CATEGORY_SEXUAL", "HARM_CATEGORY_MEDICAL", "HARM_CATEGORY_DANGEROUS", "HARM_CATEGORY_HARASSMENT",
		"HARM_CATEGORY_HATE_SPEECH", "HARM_CATEGORY_SEXUALLY_EXPLICIT", "HARM_CATEGORY_DANGEROUS_CONTENT",
		"HARM_CATEGORY_CIVIC_INTEGRITY", "HARM_CATEGORY_JAILBREAK", "HARM_CATEGORY_IMAGE_HATE",
		"HARM_CATEGORY_IMAGE_DANGEROUS_CONTENT", "HARM_CATEGORY_IMAGE_HARASSMENT", "HARM_CATEGORY_IMAGE_SEXUALLY_EXPLICIT"))
	harmThreshold = open("SafetySetting.HarmBlockThreshold", "HARM_BLOCK_THRESHOLD_UNSPECIFIED", "BLOCK_LOW_AND_ABOVE",
		"BLOCK_MEDIUM_AND_ABOVE", "BLOCK_ONLY_HIGH", "BLOCK_NONE", "OFF")
	callingMode = closed("FunctionCallingConfig.Mode", unsetName("MODE"), "AUTO", "ANY", "NONE", "VALIDATED")
	modality    = numbered(4, open("GenerationConfig.Modality", unsetName("MODALITY"), "TEXT", "IMAGE", "AUDIO", "VIDEO"))
	resolution  = open("GenerationConfig.MediaResolution", unsetName("MEDIA_RESOLUTION"), "MEDIA_RESOLUTION_LOW",
		"MEDIA_RESOLUTION_MEDIUM", "MEDIA_RESOLUTION_HIGH")
	thinkingLevel = numbered(1, closed("ThinkingConfig.ThinkingLevel", unsetName("THINKING_LEVEL"), "MINIMAL", "LOW", "MEDIUM", "HIGH"))
	serviceTier   = open("ServiceTier", "unspecified", "standard", "flex", "priority")
	textMime      = numbered(0, open("TextResponseFormat.MimeType", "APPLICATION_JSON", "TEXT_PLAIN"))
	schemaTypes   = closed("Type", unsetName("TYPE"), "STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL")

	language  = open("ExecutableCode.Language", unsetName("LANGUAGE"), "PYTHON")
	outcome   = open("CodeExecutionResult.Outcome", unsetName("OUTCOME"), "OUTCOME_OK", "OUTCOME_FAILED", "OUTCOME_DEADLINE_EXCEEDED")
	toolTypes = numbered(0, open("ToolType", "GOOGLE_SEARCH_WEB", "GOOGLE_SEARCH_IMAGE", "URL_CONTEXT", "GOOGLE_MAPS", "FILE_SEARCH",
		"MEDIA_PROCESSING"))
	level = numbered(4, open("MediaResolution.Level", unsetName("MEDIA_RESOLUTION"),
		"MEDIA_RESOLUTION_LOW", "MEDIA_RESOLUTION_MEDIUM", "MEDIA_RESOLUTION_HIGH", "MEDIA_RESOLUTION_ULTRA_HIGH"))
)

var requestType = object.New("GenerateContentRequest", func(r *Request) **content.Extra { return &r.Extra }, func() []object.Field {
	return []object.Field{
		opt("model", anyText, func(r *Request) *string { return &r.Model }),
		opt("contents", many(one(contentType)), func(r *Request) *[]content.Turn { return &r.Contents }),
		opt("systemInstruction", one(instructionType), func(r *Request) **Instruction { return &r.SystemInstruction }),
		opt("tools", many(one(toolType)), func(r *Request) *[]content.Tool { return &r.Tools }),
		opt("toolConfig", one(toolConfigType), func(r *Request) **ToolConfig { return &r.ToolConfig }),
		opt("safetySettings", many(one(safetyType)), func(r *Request) *[]SafetySetting { return &r.SafetySettings }),
		opt("generationConfig", one(configType), func(r *Request) **GenerationConfig { return &r.GenerationConfig }),
		opt("cachedContent", anyText, func(r *Request) *string { return &r.CachedContent }),
		opt("serviceTier", enum(serviceTier), func(r *Request) *string { return &r.ServiceTier }),
		opt("store", anyFlag, func(r *Request) **bool { return &r.Store }),
		kept("labels", labels), kept("continuationToken", data), kept("processingOptions", anyObject),
		kept("modelArmorConfig", anyObject), kept("outputConfig", anyObject),
		kept("generationOutputConfig", anyObject)}
})

// labels may have many members, which are counted: see codec.Quota.Members.
var labels = &object.Value{Kinds: object.Object}

// countType is the body of countTokens if it contains a whole request.
var countType = object.KeptLater("CountTokensRequest", func() []object.Field {
	return []object.Field{
		kept("contents", many(one(contentType))), kept("generateContentRequest", one(requestType))}
})

// The settings of a request.
var (
	toolConfigType = object.New("ToolConfig", func(c *ToolConfig) **content.Extra { return &c.Extra }, func() []object.Field {
		return []object.Field{
			opt("functionCallingConfig", one(callingType), func(c *ToolConfig) **FunctionCalling { return &c.FunctionCalling }),
			kept("retrievalConfig", keptObject("RetrievalConfig",
				kept("latLng", namesOnly("LatLng", "latitude longitude")), kept("languageCode", anyValue))),
			opt("includeServerSideToolInvocations", anyFlag, func(c *ToolConfig) *bool { return &c.IncludeServerSideToolInvocations })}
	})

	callingType = object.New("FunctionCallingConfig", func(f *FunctionCalling) **content.Extra { return &f.Extra }, func() []object.Field {
		return []object.Field{
			opt("mode", enum(callingMode), func(f *FunctionCalling) *string { return &f.Mode }),
			opt("allowedFunctionNames", anyTexts, func(f *FunctionCalling) *[]string { return &f.AllowedFunctionNames }),
			kept("streamFunctionCallArguments", anyValue)}
	})

	safetyType = object.New("SafetySetting", func(s *SafetySetting) **content.Extra { return &s.Extra }, func() []object.Field {
		return []object.Field{
			opt("category", enum(harmCategory), func(s *SafetySetting) *string { return &s.Category }),
			opt("threshold", enum(harmThreshold), func(s *SafetySetting) *string { return &s.Threshold }),
			kept("method", anyValue)}
	})

	configType = object.New("GenerationConfig", func(c *GenerationConfig) **content.Extra { return &c.Extra }, func() []object.Field {
		return []object.Field{
			opt("temperature", number, func(c *GenerationConfig) **float64 { return &c.Temperature }),
			opt("topP", number, func(c *GenerationConfig) **float64 { return &c.TopP }),
			opt("topK", int32s, func(c *GenerationConfig) **int64 { return &c.TopK }),
			opt("candidateCount", int32s, func(c *GenerationConfig) *int64 { return &c.CandidateCount }),
			opt("maxOutputTokens", int32s, func(c *GenerationConfig) **int64 { return &c.MaxOutputTokens }),
			opt("stopSequences", anyTexts, func(c *GenerationConfig) *[]string { return &c.StopSequences }),
			opt("presencePenalty", number, func(c *GenerationConfig) **float64 { return &c.PresencePenalty }),
			opt("frequencyPenalty", number, func(c *GenerationConfig) **float64 { return &c.FrequencyPenalty }),
			opt("seed", int32s, func(c *GenerationConfig) **int64 { return &c.Seed }),
			opt("responseLogprobs", anyFlag, func(c *GenerationConfig) *bool { return &c.ResponseLogprobs }),
			opt("logprobs", int32s, func(c *GenerationConfig) **int64 { return &c.Logprobs }),
			opt("responseMimeType", anyText, func(c *GenerationConfig) *string { return &c.ResponseMimeType }),
			opt("responseSchema", openAPI, func(c *GenerationConfig) *string { return &c.ResponseSchema }),
			opt("responseJsonSchema", jsonSchema, func(c *GenerationConfig) *string { return &c.ResponseJSONSchema }),
			opt("responseFormat", responseFormat(), func(c *GenerationConfig) *string { return &c.ResponseFormat }),
			opt("responseModalities", many(enum(modality)), func(c *GenerationConfig) *[]string { return &c.ResponseModalities }),
			opt("imageConfig", one(imageConfigType), func(c *GenerationConfig) **ImageConfig { return &c.ImageConfig }),
			opt("thinkingConfig", one(thinkingType), func(c *GenerationConfig) **ThinkingConfig { return &c.ThinkingConfig }),
			kept("speechConfig", speech()),
			opt("mediaResolution", enum(resolution), func(c *GenerationConfig) *string { return &c.MediaResolution }),
			formerly(opt("_responseJsonSchema", jsonSchema, func(c *GenerationConfig) *string { return &c.ResponseJSONSchema })),
			kept("audioTranscriptionConfig", namesOnly("AudioTranscriptionConfig",
				"languageCodes languageAuto languageHints customVocabulary adaptationPhrases diarization wordTimestamp mode")),
			kept("enableEnhancedCivicAnswers", anyValue), kept("enableAffectiveDialog", anyValue),
			kept("translationConfig", namesOnly("TranslationConfig", "targetLanguageCode echoTargetLanguage")),
			kept("routingConfig", anyObject), kept("modelConfig", anyObject), kept("audioTimestamp", anyValue)}
	})

	imageConfigType = object.New("ImageConfig", func(c *ImageConfig) **content.Extra { return &c.Extra }, func() []object.Field {
		return []object.Field{
			opt("aspectRatio", anyText, func(c *ImageConfig) *string { return &c.AspectRatio }),
			opt("imageSize", anyText, func(c *ImageConfig) *string { return &c.ImageSize }),
			kept("personGeneration", anyValue), kept("prominentPeople", anyValue),
			kept("outputMimeType", anyValue), kept("outputCompressionQuality", anyValue),
			kept("imageOutputOptions", namesOnly("ImageOutputOptions", "mimeType compressionQuality"))}
	}) // Vertex

	thinkingType = object.New("ThinkingConfig", func(t *ThinkingConfig) **content.Extra { return &t.Extra }, func() []object.Field {
		return []object.Field{
			opt("includeThoughts", anyFlag, func(t *ThinkingConfig) **bool { return &t.IncludeThoughts }),
			opt("thinkingBudget", int32s, func(t *ThinkingConfig) **int64 { return &t.ThinkingBudget }),
			opt("thinkingLevel", enum(thinkingLevel), func(t *ThinkingConfig) *string { return &t.ThinkingLevel })}
	})
)

// speech returns the settings of generated audio.
func speech() *object.Value {
	voice := keptObject("VoiceConfig",
		kept("prebuiltVoiceConfig", namesOnly("PrebuiltVoiceConfig", "voiceName")),
		kept("replicatedVoiceConfig", anyObject), kept("voice", anyValue))
	return keptObject("SpeechConfig",
		kept("voiceConfig", voice),
		kept("multiSpeakerVoiceConfig", keptObject("MultiSpeakerVoiceConfig",
			kept("speakerVoiceConfigs", many(keptObject("SpeakerVoiceConfig", kept("speaker", anyValue), kept("voiceConfig", voice)))))),
		kept("languageCode", anyValue))
}

// responseFormat returns the formats of a response.
func responseFormat() *object.Value {
	return withSchemas(either(keptObject("ResponseFormat",
		kept("text", keptObject("TextResponseFormat", kept("mimeType", enum(textMime)), kept("schema", anyValue))),
		kept("image", namesOnly("ImageResponseFormat", "mimeType aspectRatio imageSize delivery")),
		kept("audio", namesOnly("AudioResponseFormat", "mimeType sampleRate bitRate delivery")))))
}

// Schemas in the vendor's own dialect, which is closed, and JSON Schemas.
var (
	openAPI    = withSchemas(openAPISchema())
	jsonSchema = withSchemas(&object.Value{})
)

// withSchemas marks a value that contains schemas. The sizes of schemas are limited.
func withSchemas(v *object.Value) *object.Value {
	v.Schema = true
	return v
}

func openAPISchema() *object.Value {
	schema := &object.Value{Kinds: object.Object}
	schema.Object = object.KeptLater("Schema", func() []object.Field {
		return []object.Field{
			kept("type", enum(schemaTypes)), kept("format", anyText), kept("title", anyText), kept("description", anyText),
			kept("nullable", anyFlag), kept("enum", anyTexts), kept("items", schema), kept("maxItems", int64s), kept("minItems", int64s),
			kept("properties", &object.Value{Kinds: object.Object, Members: schema}), kept("required", anyTexts),
			kept("minProperties", int64s), kept("maxProperties", int64s), kept("minLength", int64s), kept("maxLength", int64s),
			kept("pattern", anyText), kept("minimum", number), kept("maximum", number), kept("anyOf", many(schema)),
			kept("propertyOrdering", anyTexts), kept("default", anyValue), kept("example", anyValue)}
	})
	return schema
}

// The turns. The role of the system instruction is checked and then ignored.
var (
	contentType = object.New("Content", func(t *content.Turn) **content.Extra { return &t.Extra }, func() []object.Field {
		return []object.Field{
			opt("role", anyText, func(t *content.Turn) *content.Role { return &t.Role }),
			opt("parts", many(part), func(t *content.Turn) *[]content.Part { return &t.Parts })}
	})

	instructionType = object.New("Content", func(s *Instruction) **content.Extra { return &s.Extra }, func() []object.Field {
		return []object.Field{
			opt("role", anyText, func(*Instruction) *ignored { return nil }),
			opt("parts", many(part), func(s *Instruction) *[]content.Part { return &s.Parts })}
	})
)

// ignored is the Go type of members that are not kept.
type ignored struct{}

// partFields returns the members of a part. A part has one of the tags, its data.
var partFields = sync.OnceValue(func() []object.Field {
	return []object.Field{
		tag("text", anyText), tag("inlineData", one(blobType)), tag("fileData", one(fileType)),
		tag("functionCall", one(callType)), tag("functionResponse", one(responseType)),
		tag("executableCode", one(codeType)), tag("codeExecutionResult", one(codeResultType)),
		tag("toolCall", one(serverCallType)), tag("toolResponse", one(serverResponseType)),
		kept("thought", thought), kept("thoughtSignature", signature),
		kept("partMetadata", anyObject), kept("videoMetadata", namesOnly("VideoMetadata", "startOffset endOffset fps")),
		kept("mediaResolution", keptObject("MediaResolution", kept("level", enum(level)), kept("numTokens", anyValue))),
		kept("mediaProcessing", anyValue), kept("speechMetadata", namesOnly("SpeechMetadata", "speaker style")),
		kept("audioTranscription", anyValue),
	}
})

var (
	thought   = &object.Value{Kinds: object.Flag}
	signature = &object.Value{Kinds: object.Text, Form: object.Base64}
	fileBytes = &object.Value{Kinds: object.Text, Form: object.Base64}

	// partType has all members of parts, and no Go fields.
	partType = object.KeptLater("Part", func() []object.Field { return slices.Clone(partFields()) })
	part     = one(partType)
)

// partOf returns the type of the parts that a T holds, of which held are the members that
// have a Go field.
func partOf[T any](extra func(*T) **content.Extra, held func() []object.Field) *object.Type {
	return object.New("Part", extra, func() []object.Field {
		list := slices.Clone(partFields())
		for _, f := range held() {
			list[slices.IndexFunc(list, func(o object.Field) bool { return o.Name == f.Name })] = f // bounded by Field
		}
		return list
	})
}

// whole returns the member of a part whose value holds several fields of a T.
func whole[T any](name string) object.Field {
	return object.In(tag(name, anyObject), func(p *T) *T { return p })
}

// signatureIn returns the member thoughtSignature.
func signatureIn[T any](at func(*T) *content.Signature) object.Field {
	return opt("thoughtSignature", signature, at)
}

// sourceIn returns the data of a file, which is inlineData or fileData.
func sourceIn[T any](at func(*T) *content.Source) object.Field {
	return object.In(tag("inlineData", one(blobType)), at)
}

// The parts.
var (
	textPart = partOf(func(t *content.Text) **content.Extra { return &t.Extra }, func() []object.Field {
		return []object.Field{
			must("text", anyText, func(t *content.Text) *string { return &t.Text }), tag("thought", thought),
			signatureIn(func(t *content.Text) *content.Signature { return &t.Signature })}
	})
	thinkingPart = partOf(func(t *content.Thinking) **content.Extra { return &t.Extra }, func() []object.Field {
		return []object.Field{
			must("text", anyText, func(t *content.Thinking) *string { return &t.Text }),
			object.In(tag("thought", thought), func(t *content.Thinking) *content.Thinking { return t }),
			signatureIn(func(t *content.Thinking) *content.Signature { return &t.Signature })}
	})
	imagePart = partOf(func(i *content.Image) **content.Extra { return &i.Extra }, func() []object.Field {
		return []object.Field{
			sourceIn(func(i *content.Image) *content.Source { return &i.Source }),
			signatureIn(func(i *content.Image) *content.Signature { return &i.Signature })}
	})
	documentPart = partOf(func(d *content.Document) **content.Extra { return &d.Extra }, func() []object.Field {
		return []object.Field{
			sourceIn(func(d *content.Document) *content.Source { return &d.Source }),
			signatureIn(func(d *content.Document) *content.Signature { return &d.Signature })}
	})
	mediaPart = partOf(func(m *content.Media) **content.Extra { return &m.Extra }, func() []object.Field {
		return []object.Field{
			sourceIn(func(m *content.Media) *content.Source { return &m.Source }),
			signatureIn(func(m *content.Media) *content.Signature { return &m.Signature })}
	})
	callPart = partOf(func(t *content.ToolUse) **content.Extra { return &t.Extra }, func() []object.Field {
		return []object.Field{
			whole[content.ToolUse]("functionCall"),
			signatureIn(func(t *content.ToolUse) *content.Signature { return &t.Signature })}
	})
	resultPart = partOf(func(t *content.ToolResult) **content.Extra { return &t.Extra }, func() []object.Field {
		return []object.Field{
			whole[content.ToolResult]("functionResponse")}
	})
	serverCallPart = partOf(func(t *content.ServerToolUse) **content.Extra { return &t.Extra }, func() []object.Field {
		return []object.Field{
			whole[content.ServerToolUse]("toolCall"), // or executableCode
			signatureIn(func(t *content.ServerToolUse) *content.Signature { return &t.Signature })}
	})
	serverResultPart = partOf(func(t *content.ServerToolResult) **content.Extra { return &t.Extra }, func() []object.Field {
		return []object.Field{
			whole[content.ServerToolResult]("toolResponse"), // or codeExecutionResult
			signatureIn(func(t *content.ServerToolResult) *content.Signature { return &t.Signature })}
	})
)

// The data of parts. Members of calls and results that have no Go field are in the Extra of
// the part, in an object of the same name.
var (
	blobType = object.New("Blob", func(s *content.Base64) **content.Extra { return &s.Extra }, func() []object.Field {
		return []object.Field{
			opt("mimeType", anyText, func(s *content.Base64) *string { return &s.MediaType }),
			must("data", fileBytes, func(s *content.Base64) *string { return &s.Data }),
			kept("displayName", anyText)}
	})
	fileType = fileData(func(s *content.File) **content.Extra { return &s.Extra },
		func(s *content.File) *string { return &s.MediaType }, func(s *content.File) *string { return &s.ID })
	linkType = fileData(func(s *content.URL) **content.Extra { return &s.Extra },
		func(s *content.URL) *string { return &s.MediaType }, func(s *content.URL) *string { return &s.URL })
	callType = object.New("FunctionCall", func(t *content.ToolUse) **content.Extra { return &t.Extra }, func() []object.Field {
		return []object.Field{
			opt("id", anyText, func(t *content.ToolUse) *string { return &t.ID }),
			opt("name", anyText, func(t *content.ToolUse) *string { return &t.Name }),
			opt("args", anyObject, func(t *content.ToolUse) *string { return &t.Input }),
			kept("partialArgs", anyValue), kept("willContinue", anyFlag)}
	})
	responseType = object.New("FunctionResponse", func(t *content.ToolResult) **content.Extra { return &t.Extra }, func() []object.Field {
		return []object.Field{
			opt("id", anyText, func(t *content.ToolResult) *string { return &t.ID }),
			opt("name", anyText, func(t *content.ToolResult) *string { return &t.Name }),
			opt("response", anyObject, func(t *content.ToolResult) *content.ToolResult { return t }), // Parts, Object and Error
			opt("parts", many(responsePart), func(t *content.ToolResult) *[]content.Part { return &t.Parts }),
			kept("willContinue", anyFlag), kept("scheduling", anyValue)}
	})
	responsePartType = object.KeptLater("FunctionResponsePart", func() []object.Field {
		return []object.Field{tag("inlineData", one(blobType)), tag("fileData", one(fileType)),
			kept("mediaProcessing", anyValue)}
	})
	responsePart = one(responsePartType)

	codeType = object.New("ExecutableCode", func(t *content.ServerToolUse) **content.Extra { return &t.Extra }, func() []object.Field {
		return []object.Field{
			opt("id", anyText, func(t *content.ServerToolUse) *string { return &t.ID }),
			kept("language", enum(language)), kept("code", anyText)}
	}) // in Input
	serverCallType = object.New("ToolCall", func(t *content.ServerToolUse) **content.Extra { return &t.Extra }, func() []object.Field {
		return []object.Field{
			opt("id", anyText, func(t *content.ServerToolUse) *string { return &t.ID }),
			opt("toolType", enum(toolTypes), func(t *content.ServerToolUse) *string { return &t.Name }),
			opt("args", anyObject, func(t *content.ServerToolUse) *string { return &t.Input }),
			kept("toolName", anyText)}
	})
	codeResultType = serverResult("CodeExecutionResult", func() []object.Field {
		return []object.Field{
			kept("outcome", enum(outcome)), kept("output", anyText)}
	})
	serverResponseType = serverResult("ToolResponse", func() []object.Field {
		return []object.Field{
			kept("toolType", enum(toolTypes)), kept("response", anyObject), kept("toolName", anyText)}
	})
)

// fileData returns the type of references to files.
func fileData[T any](extra func(*T) **content.Extra, mediaType, uri func(*T) *string) *object.Type {
	return object.New("FileData", extra, func() []object.Field {
		return []object.Field{opt("mimeType", anyText, mediaType), opt("fileUri", anyText, uri), kept("displayName", anyText)}
	})
}

// serverResult returns the type of the results of a built-in tool, whose members except the
// id are in Content.
func serverResult(name string, list func() []object.Field) *object.Type {
	return object.New(name, func(t *content.ServerToolResult) **content.Extra { return &t.Extra }, func() []object.Field {
		id := opt("id", anyText, func(t *content.ServerToolResult) *string { return &t.ID })
		return append([]object.Field{id}, list()...)
	})
}

// The tools. A tool object has one list of functions, and built-in tools by their names.
var (
	toolType = object.KeptLater("Tool", func() []object.Field {
		return []object.Field{
			kept("functionDeclarations", declarations),
			kept("googleSearch", keptObject("GoogleSearch",
				kept("searchTypes", keptObject("SearchTypes", kept("webSearch", anyObject), kept("imageSearch", anyObject))),
				kept("timeRangeFilter", namesOnly("Interval", "startTime endTime")),
				kept("excludeDomains", anyValue), kept("blockingConfidence", anyValue))),
			kept("googleSearchRetrieval", keptObject("GoogleSearchRetrieval",
				kept("dynamicRetrievalConfig", namesOnly("DynamicRetrievalConfig", "mode dynamicThreshold")))),
			kept("codeExecution", keptObject("CodeExecution")), kept("urlContext", keptObject("UrlContext")),
			kept("computerUse", namesOnly("ComputerUse",
				"environment excludedPredefinedFunctions enablePromptInjectionDetection disabledSafetyPolicies")),
			kept("fileSearch", namesOnly("FileSearch", "fileSearchStoreNames topK metadataFilter")),
			kept("googleMaps", keptObject("GoogleMaps",
				kept("enableWidget", anyValue), kept("groundingTypes", anyValue), kept("authConfig", anyObject))),
			kept("mcpServers", many(keptObject("McpServer", kept("name", anyValue), kept("streamableHttpTransport",
				namesOnly("StreamableHttpTransport", "url headers timeout sseReadTimeout terminateOnClose"))))),
			kept("retrieval", anyObject), kept("enterpriseWebSearch", anyObject),
			kept("parallelAiSearch", anyObject), kept("exaAiSearch", anyObject)}
	})

	declarations    = many(one(declarationType))
	declarationType = object.New("FunctionDeclaration", func(t *content.Tool) **content.Extra { return &t.Extra }, func() []object.Field {
		return []object.Field{
			opt("name", anyText, func(t *content.Tool) *string { return &t.Name }),
			opt("description", anyText, func(t *content.Tool) *string { return &t.Description }),
			opt("parameters", openAPI, func(t *content.Tool) *content.Schema { return &t.Input }),
			opt("parametersJsonSchema", jsonSchema, func(t *content.Tool) *content.Schema { return &t.Input }),
			opt("response", openAPI, func(t *content.Tool) *content.Schema { return &t.Output }),
			opt("responseJsonSchema", jsonSchema, func(t *content.Tool) *content.Schema { return &t.Output }),
			kept("behavior", anyValue)}
	})
)
