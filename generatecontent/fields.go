package generatecontent

import (
	"slices"
	"strings"

	"github.com/polywire/polywire/internal/codec"
)

// A message is an object of the API: its fields, in both spellings, and their types. The
// tables of messages are never changed. The first fields of a message have a Go field; all
// others are kept as JSON text.
type message struct {
	name   string // for errors, such as "GenerationConfig"
	camel  []string
	snake  []string
	fields []field

	// byLen are the fields by the length of their names, both spellings.
	byLen [maxNameLength + 1][]spelling
}

// maxNameLength is the length of the longest field name.
const maxNameLength = 40

// A spelling is one of the two names of a field.
type spelling struct {
	name  string
	field int
}

// A field is one field of a message.
type field struct {
	kind kind
	list bool
	// either accepts a list of one element without brackets. Both forms are canonical.
	either bool
	of     *message
	enum   *enum
}

// A kind is the type of a field.
type kind uint8

const (
	kString kind = iota
	kBool
	kInt32
	kInt64
	kFloat
	kBytes
	kTime
	kEnum
	kMessage
	kStruct  // any object, its names are free
	kValue   // any value
	kSelf    // the message that the field is in
	kSelfMap // names are free, values are the message that the field is in
)

// An enum is a set of names. The index of the first ones is their number; the
// numbers of the others are not public.
type enum struct {
	name     string
	values   []string
	numbered int
	open     bool // other strings are accepted; Strict refuses them
}

// A fieldEntry is an entry of a table.
type fieldEntry struct {
	name string
	field
}

// object makes a message from a table.
func object(name string, fields ...fieldEntry) *message {
	m := &message{name: name}
	for _, f := range fields {
		m.camel = append(m.camel, f.name)
		m.snake = append(m.snake, snake(f.name))
		m.fields = append(m.fields, f.field)
	}
	for _, names := range [...][]string{m.camel, m.snake} {
		for i, s := range names {
			if m.find(s) < 0 {
				m.byLen[len(s)] = append(m.byLen[len(s)], spelling{s, i})
			}
		}
	}
	return m
}

// namesOnly makes a message whose members Polywire does not use. Only their names are
// known; the vendor checks the values.
func namesOnly(name, members string) *message {
	var fields []fieldEntry
	for _, s := range strings.Fields(members) {
		fields = append(fields, value(s))
	}
	return object(name, fields...)
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

func text(name string) fieldEntry            { return fieldEntry{name, field{kind: kString}} }
func flag(name string) fieldEntry            { return fieldEntry{name, field{kind: kBool}} }
func int32s(name string) fieldEntry          { return fieldEntry{name, field{kind: kInt32}} }
func int64s(name string) fieldEntry          { return fieldEntry{name, field{kind: kInt64}} }
func number(name string) fieldEntry          { return fieldEntry{name, field{kind: kFloat}} }
func data(name string) fieldEntry            { return fieldEntry{name, field{kind: kBytes}} }
func instant(name string) fieldEntry         { return fieldEntry{name, field{kind: kTime}} }
func free(name string) fieldEntry            { return fieldEntry{name, field{kind: kStruct}} }
func value(name string) fieldEntry           { return fieldEntry{name, field{kind: kValue}} }
func texts(name string) fieldEntry           { return fieldEntry{name, field{kind: kString, list: true}} }
func one(name string, m *message) fieldEntry { return fieldEntry{name, field{kind: kMessage, of: m}} }
func many(name string, m *message) fieldEntry {
	return fieldEntry{name, field{kind: kMessage, of: m, list: true}}
}
func either(name string, m *message) fieldEntry {
	return fieldEntry{name, field{kind: kMessage, of: m, list: true, either: true}}
}
func choice(name string, e *enum) fieldEntry { return fieldEntry{name, field{kind: kEnum, enum: e}} }
func choices(name string, e *enum) fieldEntry {
	return fieldEntry{name, field{kind: kEnum, enum: e, list: true}}
}
func itself(name string, k kind) fieldEntry { return fieldEntry{name, field{kind: k}} }
func itselfs(name string) fieldEntry        { return fieldEntry{name, field{kind: kSelf, list: true}} }

// closed makes an enum that accepts only these names.
func closed(name string, v ...string) *enum { return &enum{name: name, values: v, numbered: len(v)} }

// open makes an enum that also accepts other names.
func open(name string, v ...string) *enum {
	return &enum{name: name, values: v, numbered: len(v), open: true}
}

// unnumbered makes an open enum whose numbers are not public.
func unnumbered(name string, v ...string) *enum { return &enum{name: name, values: v, open: true} }

// find returns the field of a name in either spelling, or -1.
func (m *message) find(name string) int {
	if len(name) <= maxNameLength {
		for _, s := range m.byLen[len(name)] {
			if s.name == name {
				return s.field
			}
		}
	}
	return -1
}

// similar returns the known name that a more lenient parser would read for an unknown
// name, or "".
func (m *message) similar(name string) string {
	if i := strings.IndexByte(name, 0); i >= 0 {
		name = name[:i]
	}
	if !isASCII(name) { // some letters fold to others of another length
		if s := codec.SimilarName(name, m.camel); s != "" {
			return s
		}
		return codec.SimilarName(name, m.snake)
	}
	if len(name) <= maxNameLength {
		for _, s := range m.byLen[len(name)] {
			if strings.EqualFold(s.name, name) {
				return s.name
			}
		}
	}
	return ""
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// find returns the canonical form of a name, or "" if the enum does not accept it.
func (e *enum) find(name string) string {
	for _, v := range e.values {
		if strings.EqualFold(v, name) {
			return v
		}
	}
	if e.open {
		return name
	}
	return ""
}

// has reports whether a canonical name is one of the vendor's names.
func (e *enum) has(name string) bool { return slices.Contains(e.values, name) }

// unset reports whether a canonical name means that no value is set.
func (e *enum) unset(name string) bool { return e.numbered > 0 && name == e.values[0] }

// typeName returns the vendor's name of a field's type.
func (p *parser) typeName(f *field, m *message) string {
	const known = "type.googleapis.com/google.protobuf."
	switch f.kind {
	case kString:
		return "TYPE_STRING"
	case kBool:
		return "TYPE_BOOL"
	case kInt32:
		return "TYPE_INT32"
	case kInt64:
		return "TYPE_INT64"
	case kFloat:
		return "TYPE_FLOAT"
	case kBytes:
		return "TYPE_BYTES"
	case kTime:
		return known + "Timestamp"
	case kStruct:
		return known + "Struct"
	case kValue:
		return known + "Value"
	case kEnum:
		return p.vendorType(f.enum.name)
	case kMessage:
		return p.vendorType(f.of.name)
	}
	return p.vendorType(m.name)
}

func (p *parser) vendorType(name string) string {
	return "type.googleapis.com/google.ai.generativelanguage." + p.version + "." + name
}

// The fields of a request that have a Go field, in the order of the tables.
const (
	fModel = iota
	fContents
	fSystem
	fTools
	fToolConfig
	fSafety
	fGenConfig
	fCached
	fTier
	fStore
	fLabels
	fContinuation
	fProcessing
	requestTyped
)

const (
	fRole = iota
	fParts
	contentTyped
)

const (
	fTemperature = iota
	fTopP
	fTopK
	fCandidates
	fMaxTokens
	fStop
	fPresence
	fFrequency
	fSeed
	fLogprobsOn
	fLogprobs
	fMimeType
	fSchema
	fJSONSchema
	fFormat
	fModalities
	fImage
	fThinking
	fSpeech
	fResolution
	configTyped
)

const (
	fAspectRatio = iota
	fImageSize
	imageTyped
)

const (
	fIncludeThoughts = iota
	fBudget
	fLevel
	thinkingTyped
)

const (
	fCalling = iota
	fRetrieval
	fServerSide
	toolConfigTyped
)

const (
	fMode = iota
	fAllowed
	callingTyped
)

const (
	fCategory = iota
	fThreshold
	safetyTyped
)

const (
	fCountContents = iota
	fCountRequest
	countTyped
)

// unsetName is the first name of most enums.
func unsetName(prefix string) string { return prefix + "_UNSPECIFIED" }

var (
	harmCategory = &enum{name: "HarmCategory", open: true, numbered: 12, values: []string{
		unsetName("HARM_CATEGORY"), "HARM_CATEGORY_DEROGATORY", "HARM_CATEGORY_TOXICITY", "HARM_CATEGORY_VIOLENCE",
		"HARM_CATEGORY_SEXUAL", "HARM_CATEGORY_MEDICAL", "HARM_CATEGORY_DANGEROUS", "HARM_CATEGORY_HARASSMENT",
		"HARM_CATEGORY_HATE_SPEECH", "HARM_CATEGORY_SEXUALLY_EXPLICIT", "HARM_CATEGORY_DANGEROUS_CONTENT",
		"HARM_CATEGORY_CIVIC_INTEGRITY", "HARM_CATEGORY_JAILBREAK", "HARM_CATEGORY_IMAGE_HATE",
		"HARM_CATEGORY_IMAGE_DANGEROUS_CONTENT", "HARM_CATEGORY_IMAGE_HARASSMENT", "HARM_CATEGORY_IMAGE_SEXUALLY_EXPLICIT",
	}}
	harmThreshold = open("SafetySetting.HarmBlockThreshold", "HARM_BLOCK_THRESHOLD_UNSPECIFIED", "BLOCK_LOW_AND_ABOVE",
		"BLOCK_MEDIUM_AND_ABOVE", "BLOCK_ONLY_HIGH", "BLOCK_NONE", "OFF")
	callingMode = closed("FunctionCallingConfig.Mode", unsetName("MODE"), "AUTO", "ANY", "NONE", "VALIDATED")
	modality    = &enum{name: "GenerationConfig.Modality", open: true, numbered: 4,
		values: []string{unsetName("MODALITY"), "TEXT", "IMAGE", "AUDIO", "VIDEO"}}
	resolution = open("GenerationConfig.MediaResolution", unsetName("MEDIA_RESOLUTION"), "MEDIA_RESOLUTION_LOW",
		"MEDIA_RESOLUTION_MEDIUM", "MEDIA_RESOLUTION_HIGH")
	thinkingLevel = &enum{name: "ThinkingConfig.ThinkingLevel", numbered: 1,
		values: []string{unsetName("THINKING_LEVEL"), "MINIMAL", "LOW", "MEDIUM", "HIGH"}}
	serviceTier = open("ServiceTier", "unspecified", "standard", "flex", "priority")
	textMime    = unnumbered("TextResponseFormat.MimeType", "APPLICATION_JSON", "TEXT_PLAIN")
	schemaType  = closed("Type", unsetName("TYPE"), "STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL")
)

var requestFields = object("GenerateContentRequest",
	text("model"), many("contents", contentFields), one("systemInstruction", contentFields), many("tools", toolFields),
	one("toolConfig", toolConfigFields), many("safetySettings", safetyFields), one("generationConfig", configFields),
	text("cachedContent"), choice("serviceTier", serviceTier), flag("store"), free("labels"), data("continuationToken"),
	free("processingOptions"),
	free("modelArmorConfig"), free("generationOutputConfig"),
)

var countFields = object("CountTokensRequest",
	many("contents", contentFields), one("generateContentRequest", requestFields),
)

var contentFields = object("Content", text("role"), many("parts", partFields))

var safetyFields = object("SafetySetting",
	choice("category", harmCategory), choice("threshold", harmThreshold), value("method"))

var configFields = object("GenerationConfig",
	number("temperature"), number("topP"), int32s("topK"), int32s("candidateCount"), int32s("maxOutputTokens"),
	texts("stopSequences"), number("presencePenalty"), number("frequencyPenalty"), int32s("seed"),
	flag("responseLogprobs"), int32s("logprobs"), text("responseMimeType"), one("responseSchema", schemaFields),
	value("responseJsonSchema"), either("responseFormat", formatFields), choices("responseModalities", modality),
	one("imageConfig", imageFields), one("thinkingConfig", thinkingFields), one("speechConfig", speechFields),
	choice("mediaResolution", resolution),
	value("_responseJsonSchema"),
	one("audioTranscriptionConfig", namesOnly("AudioTranscriptionConfig", "languageCodes customVocabulary diarization wordTimestamp mode")),
	value("enableEnhancedCivicAnswers"), value("enableAffectiveDialog"),
	one("translationConfig", namesOnly("TranslationConfig", "targetLanguageCode echoTargetLanguage")),
	free("routingConfig"), free("modelConfig"), value("audioTimestamp"),
)

// fOlderSchema is the second name of responseJsonSchema. It is the first field without
// a Go field.
const fOlderSchema = configTyped

var imageFields = object("ImageConfig", text("aspectRatio"), text("imageSize"),
	value("personGeneration"), value("prominentPeople"), value("outputMimeType"), value("outputCompressionQuality"),
	one("imageOutputOptions", namesOnly("ImageOutputOptions", "mimeType compressionQuality"))) // Vertex

var thinkingFields = object("ThinkingConfig",
	flag("includeThoughts"), int32s("thinkingBudget"), choice("thinkingLevel", thinkingLevel))

var voiceFields = object("VoiceConfig",
	one("prebuiltVoiceConfig", namesOnly("PrebuiltVoiceConfig", "voiceName")), free("replicatedVoiceConfig"), value("voice"))

var speechFields = object("SpeechConfig",
	one("voiceConfig", voiceFields),
	one("multiSpeakerVoiceConfig", object("MultiSpeakerVoiceConfig",
		many("speakerVoiceConfigs", object("SpeakerVoiceConfig", value("speaker"), one("voiceConfig", voiceFields))))),
	value("languageCode"))

var formatFields = object("ResponseFormat",
	one("text", object("TextResponseFormat", choice("mimeType", textMime), value("schema"))),
	one("image", namesOnly("ImageResponseFormat", "mimeType aspectRatio imageSize delivery")),
	one("audio", namesOnly("AudioResponseFormat", "mimeType sampleRate bitRate delivery")))

var toolConfigFields = object("ToolConfig",
	one("functionCallingConfig", callingFields),
	one("retrievalConfig", object("RetrievalConfig",
		one("latLng", namesOnly("LatLng", "latitude longitude")), value("languageCode"))),
	flag("includeServerSideToolInvocations"))

var callingFields = object("FunctionCallingConfig",
	choice("mode", callingMode), texts("allowedFunctionNames"), value("streamFunctionCallArguments"))

// schemaFields is the closed set of the vendor's own schema dialect.
var schemaFields = object("Schema",
	choice("type", schemaType), text("format"), text("title"), text("description"), flag("nullable"), texts("enum"),
	itself("items", kSelf), int64s("maxItems"), int64s("minItems"), itself("properties", kSelfMap), texts("required"),
	int64s("minProperties"), int64s("maxProperties"), int64s("minLength"), int64s("maxLength"), text("pattern"),
	number("minimum"), number("maximum"), itselfs("anyOf"), texts("propertyOrdering"), value("default"), value("example"))

// The fields of a part. Those before partData are its data members, of which a
// part has one.
const (
	fText = iota
	fInline
	fFile
	fCall
	fResponse
	fCode
	fCodeResult
	fServerCall
	fServerResponse
	partData
)

const (
	fThought = partData + iota
	fSignature
)

const (
	fBlobType = iota
	fBlobData
	blobTyped
)

const (
	fFileType = iota
	fFileURI
	fileTyped
)

const (
	fCallID = iota
	fCallName
	fCallArgs
	callTyped
)

const (
	fRespID = iota
	fRespName
	fRespObject
	fRespParts
	responseTyped
)

// The fields of calls and results of built-in tools: their id, and then those that
// identify the tool.
const (
	fServerID = iota
	fServerType
	fServerObject
)

const fDeclarations = 0

const (
	fDeclName = iota
	fDeclText
	fDeclParams
	fDeclParamsJSON
	fDeclResponse
	fDeclResponseJSON
	declTyped
)

var (
	language = open("ExecutableCode.Language", unsetName("LANGUAGE"), "PYTHON")
	outcome  = open("CodeExecutionResult.Outcome", unsetName("OUTCOME"), "OUTCOME_OK", "OUTCOME_FAILED", "OUTCOME_DEADLINE_EXCEEDED")
	toolType = unnumbered("ToolType", "GOOGLE_SEARCH_WEB", "GOOGLE_SEARCH_IMAGE", "URL_CONTEXT", "GOOGLE_MAPS", "FILE_SEARCH", "MEDIA_PROCESSING")
	level    = &enum{name: "MediaResolution.Level", open: true, numbered: 4, values: []string{unsetName("MEDIA_RESOLUTION"),
		"MEDIA_RESOLUTION_LOW", "MEDIA_RESOLUTION_MEDIUM", "MEDIA_RESOLUTION_HIGH", "MEDIA_RESOLUTION_ULTRA_HIGH"}}
)

var partFields = object("Part",
	text("text"), one("inlineData", blobFields), one("fileData", fileFields), one("functionCall", callFields),
	one("functionResponse", responseFields), one("executableCode", codeFields), one("codeExecutionResult", codeResultFields),
	one("toolCall", serverCallFields), one("toolResponse", serverResponseFields),
	flag("thought"), data("thoughtSignature"),
	free("partMetadata"), one("videoMetadata", namesOnly("VideoMetadata", "startOffset endOffset fps")),
	one("mediaResolution", object("MediaResolution", choice("level", level), value("numTokens"))),
	value("mediaProcessing"), one("speechMetadata", namesOnly("SpeechMetadata", "speaker style")),
	value("audioTranscription"),
)

var (
	blobFields = object("Blob", text("mimeType"), data("data"), text("displayName"))
	fileFields = object("FileData", text("mimeType"), text("fileUri"), text("displayName"))
	callFields = object("FunctionCall", text("id"), text("name"), free("args"),
		value("partialArgs"), flag("willContinue"))
	responseFields = object("FunctionResponse", text("id"), text("name"), free("response"), many("parts", responsePartFields),
		flag("willContinue"), value("scheduling"))
	responsePartFields   = object("FunctionResponsePart", one("inlineData", blobFields), one("fileData", fileFields))
	codeFields           = object("ExecutableCode", text("id"), choice("language", language), text("code"))
	codeResultFields     = object("CodeExecutionResult", text("id"), choice("outcome", outcome), text("output"))
	serverCallFields     = object("ToolCall", text("id"), choice("toolType", toolType), free("args"), text("toolName"))
	serverResponseFields = object("ToolResponse", text("id"), choice("toolType", toolType), free("response"), text("toolName"))
)

const (
	fRespInline = iota
	fRespFile
)

var toolFields = object("Tool",
	many("functionDeclarations", declFields),
	one("googleSearch", searchFields), one("googleSearchRetrieval", object("GoogleSearchRetrieval",
		one("dynamicRetrievalConfig", namesOnly("DynamicRetrievalConfig", "mode dynamicThreshold")))),
	one("codeExecution", object("CodeExecution")), one("urlContext", object("UrlContext")),
	one("computerUse", namesOnly("ComputerUse",
		"environment excludedPredefinedFunctions enablePromptInjectionDetection disabledSafetyPolicies")),
	one("fileSearch", namesOnly("FileSearch", "fileSearchStoreNames topK metadataFilter")),
	one("googleMaps", object("GoogleMaps", value("enableWidget"), value("groundingTypes"), free("authConfig"))),
	many("mcpServers", object("McpServer", value("name"), one("streamableHttpTransport",
		namesOnly("StreamableHttpTransport", "url headers timeout sseReadTimeout terminateOnClose")))),
	free("retrieval"), free("enterpriseWebSearch"), free("parallelAiSearch"), free("exaAiSearch"),
)

var searchFields = object("GoogleSearch",
	one("searchTypes", object("SearchTypes", free("webSearch"), free("imageSearch"))),
	one("timeRangeFilter", namesOnly("Interval", "startTime endTime")),
	value("excludeDomains"), value("blockingConfidence"))

var declFields = object("FunctionDeclaration",
	text("name"), text("description"), one("parameters", schemaFields), value("parametersJsonSchema"),
	one("response", schemaFields), value("responseJsonSchema"), value("behavior"))
