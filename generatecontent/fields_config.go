package generatecontent

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
	harmCategory = &enum{name: "HarmCategory", numbered: 12, values: []string{
		unsetName("HARM_CATEGORY"), "HARM_CATEGORY_DEROGATORY", "HARM_CATEGORY_TOXICITY", "HARM_CATEGORY_VIOLENCE",
		"HARM_CATEGORY_SEXUAL", "HARM_CATEGORY_MEDICAL", "HARM_CATEGORY_DANGEROUS", "HARM_CATEGORY_HARASSMENT",
		"HARM_CATEGORY_HATE_SPEECH", "HARM_CATEGORY_SEXUALLY_EXPLICIT", "HARM_CATEGORY_DANGEROUS_CONTENT",
		"HARM_CATEGORY_CIVIC_INTEGRITY", "HARM_CATEGORY_JAILBREAK", "HARM_CATEGORY_IMAGE_HATE",
		"HARM_CATEGORY_IMAGE_DANGEROUS_CONTENT", "HARM_CATEGORY_IMAGE_HARASSMENT", "HARM_CATEGORY_IMAGE_SEXUALLY_EXPLICIT",
	}}
	harmThreshold = closed("SafetySetting.HarmBlockThreshold", "HARM_BLOCK_THRESHOLD_UNSPECIFIED", "BLOCK_LOW_AND_ABOVE",
		"BLOCK_MEDIUM_AND_ABOVE", "BLOCK_ONLY_HIGH", "BLOCK_NONE", "OFF")
	callingMode = closed("FunctionCallingConfig.Mode", unsetName("MODE"), "AUTO", "ANY", "NONE", "VALIDATED")
	modality    = &enum{name: "GenerationConfig.Modality", numbered: 4,
		values: []string{unsetName("MODALITY"), "TEXT", "IMAGE", "AUDIO", "VIDEO"}}
	resolution = closed("GenerationConfig.MediaResolution", unsetName("MEDIA_RESOLUTION"), "MEDIA_RESOLUTION_LOW",
		"MEDIA_RESOLUTION_MEDIUM", "MEDIA_RESOLUTION_HIGH")
	thinkingLevel = &enum{name: "ThinkingConfig.ThinkingLevel", numbered: 1,
		values: []string{unsetName("THINKING_LEVEL"), "MINIMAL", "LOW", "MEDIUM", "HIGH"}}
	serviceTier = closed("ServiceTier", "unspecified", "standard", "flex", "priority")
	audioMode   = unnumbered("AudioTranscriptionConfig.Mode", "VERBATIM SMART")
	textMime    = open("TextResponseFormat.MimeType", "APPLICATION_JSON", "TEXT_PLAIN")
	imageMime   = open("ImageResponseFormat.MimeType", "IMAGE_JPEG")
	audioMime   = open("AudioResponseFormat.MimeType", "AUDIO_MP3", "AUDIO_OGG_OPUS", "AUDIO_L16", "AUDIO_WAV", "AUDIO_ALAW", "AUDIO_MULAW")
	ratioName   = open("ImageResponseFormat.AspectRatio", "ASPECT_RATIO_SIXTEEN_BY_NINE")
	sizeName    = open("ImageResponseFormat.ImageSize", "IMAGE_SIZE_TWO_K")
	delivery    = open("ResponseFormat.Delivery", "INLINE", "URI")
	dynamicMode = closed("DynamicRetrievalConfig.Mode", unsetName("MODE"), "MODE_DYNAMIC")
	schemaType  = closed("Type", unsetName("TYPE"), "STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL")
)

var requestFields = object("GenerateContentRequest",
	text("model"), many("contents", contentFields), one("systemInstruction", contentFields), many("tools", toolFields),
	one("toolConfig", toolConfigFields), many("safetySettings", safetyFields), one("generationConfig", configFields),
	text("cachedContent"), choice("serviceTier", serviceTier), flag("store"), textMap("labels"), data("continuationToken"),
	free("processingOptions"),
	free("modelArmorConfig"), free("generationOutputConfig"),
)

var countFields = object("CountTokensRequest",
	many("contents", contentFields), one("generateContentRequest", requestFields),
)

var contentFields = object("Content", text("role"), many("parts", partFields))

var safetyFields = object("SafetySetting",
	choice("category", harmCategory), choice("threshold", harmThreshold), text("method"))

var configFields = object("GenerationConfig",
	number("temperature"), number("topP"), int32s("topK"), int32s("candidateCount"), int32s("maxOutputTokens"),
	texts("stopSequences"), number("presencePenalty"), number("frequencyPenalty"), int32s("seed"),
	flag("responseLogprobs"), int32s("logprobs"), text("responseMimeType"), one("responseSchema", schemaFields),
	value("responseJsonSchema"), either("responseFormat", formatFields), choices("responseModalities", modality),
	one("imageConfig", imageFields), one("thinkingConfig", thinkingFields), one("speechConfig", speechFields),
	choice("mediaResolution", resolution),
	value("_responseJsonSchema"),
	one("audioTranscriptionConfig", transcriptionFields), flag("enableEnhancedCivicAnswers"),
	flag("enableAffectiveDialog"), one("translationConfig", object("TranslationConfig",
		text("targetLanguageCode"), flag("echoTargetLanguage"))),
	free("routingConfig"), free("modelConfig"), flag("audioTimestamp"),
)

// fOlderSchema is the second name of responseJsonSchema, the first of the
// fields without a Go field.
const fOlderSchema = configTyped

var imageFields = object("ImageConfig", text("aspectRatio"), text("imageSize"),
	text("personGeneration"), text("prominentPeople"), text("outputMimeType"), int32s("outputCompressionQuality"),
	one("imageOutputOptions", object("ImageOutputOptions", text("mimeType"), int32s("compressionQuality")))) // Vertex

var thinkingFields = object("ThinkingConfig",
	flag("includeThoughts"), int32s("thinkingBudget"), choice("thinkingLevel", thinkingLevel))

var voiceFields = object("VoiceConfig",
	one("prebuiltVoiceConfig", object("PrebuiltVoiceConfig", text("voiceName"))), free("replicatedVoiceConfig"), value("voice"))

var speechFields = object("SpeechConfig",
	one("voiceConfig", voiceFields),
	one("multiSpeakerVoiceConfig", object("MultiSpeakerVoiceConfig",
		many("speakerVoiceConfigs", object("SpeakerVoiceConfig", text("speaker"), one("voiceConfig", voiceFields))))),
	text("languageCode"))

var transcriptionFields = object("AudioTranscriptionConfig",
	texts("languageCodes"), value("customVocabulary"), value("diarization"), value("wordTimestamp"), choice("mode", audioMode))

var formatFields = object("ResponseFormat",
	one("text", object("TextResponseFormat", choice("mimeType", textMime), value("schema"))),
	one("image", object("ImageResponseFormat", choice("mimeType", imageMime), choice("aspectRatio", ratioName),
		choice("imageSize", sizeName), choice("delivery", delivery))),
	one("audio", object("AudioResponseFormat", choice("mimeType", audioMime), int32s("sampleRate"), int32s("bitRate"),
		choice("delivery", delivery))))

var toolConfigFields = object("ToolConfig",
	one("functionCallingConfig", callingFields),
	one("retrievalConfig", object("RetrievalConfig",
		one("latLng", object("LatLng", number("latitude"), number("longitude"))), text("languageCode"))),
	flag("includeServerSideToolInvocations"))

var callingFields = object("FunctionCallingConfig",
	choice("mode", callingMode), texts("allowedFunctionNames"), flag("streamFunctionCallArguments"))

// schemaFields is the closed set of the vendor's own schema dialect.
var schemaFields = object("Schema",
	choice("type", schemaType), text("format"), text("title"), text("description"), flag("nullable"), texts("enum"),
	itself("items", kSelf), int64s("maxItems"), int64s("minItems"), itself("properties", kSelfMap), texts("required"),
	int64s("minProperties"), int64s("maxProperties"), int64s("minLength"), int64s("maxLength"), text("pattern"),
	number("minimum"), number("maximum"), itselfs("anyOf"), texts("propertyOrdering"), value("default"), value("example"))
