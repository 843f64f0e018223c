package generatecontent

import "github.com/polywire/polywire/content"

// Format names the content generation wire format in [content.Extra],
// signatures and frames.
const Format content.Format = "generatecontent"

// Request is the body of POST models/{model}:generateContent, with fields in the
// order of the vendor's documentation. [ParseRequest] makes one of a document, and a
// caller may make one by hand. The vendor's documentation applies where a field has no
// comment.
//
// Enum values are the vendor's names, in the vendor's case; an "unspecified" value is
// empty. Members without a field are in Extra, at every depth: known members in
// camelCase and canonical form, unknown members as the client wrote them.
//
// A parsed request also records the places of its parts and tools in the document and
// the violations that parsing found, for [Request.Validate] and [Request.Path]. Compare
// requests with cmpopts.IgnoreUnexported.
type Request struct {
	// Model is the model in the body, such as "models/x". Most requests name it only in the
	// URL and leave it empty.
	Model string

	// Contents are the turns. The role "model" is [content.RoleAssistant]; "function", "tool"
	// and a missing role are [content.RoleUser].
	Contents []content.Turn

	SystemInstruction *Instruction

	// Tools are the tools of all tool objects, in order. A function declaration is a tool
	// without a Kind: its "parameters" and "response" are OpenAPI schemas, and its
	// "parametersJsonSchema" and "responseJsonSchema" are JSON Schemas. Every other member of
	// a tool object is a tool whose Kind is the member's name, such as "googleSearch", and
	// whose Raw is its value.
	Tools []content.Tool

	ToolConfig        *ToolConfig
	SafetySettings    []SafetySetting
	GenerationConfig  *GenerationConfig
	CachedContent     string
	ServiceTier       string // "standard", "flex" or "priority"
	Store             *bool
	Labels            string // JSON text of an object; empty: none
	ContinuationToken string // base64
	ProcessingOptions string // JSON text of an object; empty: none

	Extra *content.Extra

	origin *origin // nil for a request that was not parsed
}

// Instruction is the system instruction. Its role in a document has no meaning.
type Instruction struct {
	Parts []content.Part // texts
	Extra *content.Extra
}

// ToolConfig configures the use of tools.
type ToolConfig struct {
	FunctionCalling                  *FunctionCalling
	RetrievalConfig                  string // JSON text; empty: none
	IncludeServerSideToolInvocations bool
	Extra                            *content.Extra
}

// FunctionCalling selects the functions that the model may or must call.
type FunctionCalling struct {
	Mode                 string // "AUTO", "ANY", "NONE" or "VALIDATED"; empty: AUTO
	AllowedFunctionNames []string
	Extra                *content.Extra
}

// SafetySetting configures one safety filter.
type SafetySetting struct {
	Category  string
	Threshold string
	Extra     *content.Extra
}

// GenerationConfig configures the response. Nil and empty fields mean the model's default.
type GenerationConfig struct {
	Temperature        *float64
	TopP               *float64
	TopK               *int64
	CandidateCount     int64 // 0: 1
	MaxOutputTokens    *int64
	StopSequences      []string
	PresencePenalty    *float64
	FrequencyPenalty   *float64
	Seed               *int64
	ResponseLogprobs   bool
	Logprobs           *int64
	ResponseMimeType   string
	ResponseSchema     string   // JSON text in the vendor's own dialect, in canonical form
	ResponseJSONSchema string   // JSON text
	ResponseFormat     string   // JSON text of an object or a list of objects
	ResponseModalities []string // "TEXT", "IMAGE", "AUDIO", "VIDEO"
	ImageConfig        *ImageConfig
	ThinkingConfig     *ThinkingConfig
	SpeechConfig       string // JSON text; empty: none
	MediaResolution    string
	Extra              *content.Extra
}

// ImageConfig configures generated images.
type ImageConfig struct {
	AspectRatio string // such as "16:9"
	ImageSize   string // such as "2K"
	Extra       *content.Extra
}

// ThinkingConfig configures thinking.
type ThinkingConfig struct {
	IncludeThoughts *bool
	ThinkingBudget  *int64 // tokens; -1: the model decides, 0: off
	ThinkingLevel   string // "MINIMAL", "LOW", "MEDIUM" or "HIGH"
	Extra           *content.Extra
}
