package generatecontent

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

// The calls and results of the vendor's own tools have their id first, then
// what they are called by.
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
	language   = closed("ExecutableCode.Language", unsetName("LANGUAGE"), "PYTHON")
	outcome    = closed("CodeExecutionResult.Outcome", unsetName("OUTCOME"), "OUTCOME_OK", "OUTCOME_FAILED", "OUTCOME_DEADLINE_EXCEEDED")
	scheduling = closed("FunctionResponse.Scheduling", unsetName("SCHEDULING"), "SILENT", "WHEN_IDLE", "INTERRUPT")
	behavior   = closed("FunctionDeclaration.Behavior", "UNSPECIFIED", "BLOCKING", "NON_BLOCKING")
	toolType   = open("ToolType", "GOOGLE_SEARCH_WEB", "GOOGLE_SEARCH_IMAGE", "URL_CONTEXT", "GOOGLE_MAPS", "FILE_SEARCH", "MEDIA_PROCESSING")
	level      = &enum{name: "MediaResolution.Level", numbered: 4, values: []string{unsetName("MEDIA_RESOLUTION"),
		"MEDIA_RESOLUTION_LOW", "MEDIA_RESOLUTION_MEDIUM", "MEDIA_RESOLUTION_HIGH", "MEDIA_RESOLUTION_ULTRA_HIGH"}}
	processing  = open("MediaProcessing", "STATIC", "AGENTIC")
	environment = open("ComputerUse.Environment", "ENVIRONMENT_BROWSER", "ENVIRONMENT_MOBILE", "ENVIRONMENT_DESKTOP")
)

var partFields = object("Part",
	text("text"), one("inlineData", blobFields), one("fileData", fileFields), one("functionCall", callFields),
	one("functionResponse", responseFields), one("executableCode", codeFields), one("codeExecutionResult", codeResultFields),
	one("toolCall", serverCallFields), one("toolResponse", serverResponseFields),
	flag("thought"), data("thoughtSignature"),
	free("partMetadata"), one("videoMetadata", object("VideoMetadata",
		duration("startOffset"), duration("endOffset"), number("fps"))),
	one("mediaResolution", object("MediaResolution", choice("level", level), int32s("numTokens"))),
	choice("mediaProcessing", processing), one("speechMetadata", object("SpeechMetadata", text("speaker"), text("style"))),
	value("audioTranscription"),
)

var (
	blobFields = object("Blob", text("mimeType"), data("data"), text("displayName"))
	fileFields = object("FileData", text("mimeType"), text("fileUri"), text("displayName"))
	callFields = object("FunctionCall", text("id"), text("name"), free("args"),
		value("partialArgs"), flag("willContinue"))
	responseFields = object("FunctionResponse", text("id"), text("name"), free("response"), many("parts", responsePartFields),
		flag("willContinue"), choice("scheduling", scheduling))
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
		one("dynamicRetrievalConfig", object("DynamicRetrievalConfig", choice("mode", dynamicMode), number("dynamicThreshold"))))),
	one("codeExecution", object("CodeExecution")), one("urlContext", object("UrlContext")),
	one("computerUse", object("ComputerUse", choice("environment", environment), texts("excludedPredefinedFunctions"),
		flag("enablePromptInjectionDetection"), texts("disabledSafetyPolicies"))),
	one("fileSearch", object("FileSearch", texts("fileSearchStoreNames"), int32s("topK"), text("metadataFilter"))),
	one("googleMaps", object("GoogleMaps", flag("enableWidget"), value("groundingTypes"), free("authConfig"))),
	many("mcpServers", object("McpServer", text("name"), one("streamableHttpTransport", object("StreamableHttpTransport",
		text("url"), textMap("headers"), duration("timeout"), duration("sseReadTimeout"), flag("terminateOnClose"))))),
	free("retrieval"), free("enterpriseWebSearch"), free("parallelAiSearch"), free("exaAiSearch"),
)

var searchFields = object("GoogleSearch",
	one("searchTypes", object("SearchTypes", free("webSearch"), free("imageSearch"))),
	one("timeRangeFilter", object("Interval", instant("startTime"), instant("endTime"))),
	texts("excludeDomains"), text("blockingConfidence"))

var declFields = object("FunctionDeclaration",
	text("name"), text("description"), one("parameters", schemaFields), value("parametersJsonSchema"),
	one("response", schemaFields), value("responseJsonSchema"), choice("behavior", behavior))
