package generatecontent

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/violation"
)

// Format names the generateContent wire format in [content.Extra],
// signatures and frames.
const Format content.Format = "generatecontent"

// Request is the body of POST models/{model}:generateContent, with fields in the order of
// the vendor's documentation. [ParseRequest] parses a document into a Request; a program
// can also construct one. The vendor's documentation applies where a field has no comment.
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

	ToolConfig       *ToolConfig
	SafetySettings   []SafetySetting
	GenerationConfig *GenerationConfig
	CachedContent    string
	ServiceTier      string // "standard", "flex" or "priority"
	Store            *bool

	Extra *content.Extra

	origin *origin // nil for a request that was not parsed

	// Of the result of lowering a parsed request.
	jsonParsed bool               // its JSON texts are valid
	literals   []jsonwire.Literal // strings that Body does not escape again
}

// Instruction is the system instruction. Its role in a document has no meaning.
type Instruction struct {
	Parts []content.Part // texts
	Extra *content.Extra
}

// ToolConfig configures the use of tools.
type ToolConfig struct {
	FunctionCalling                  *FunctionCalling
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

// isReplaced reports whether adapters replace a member.
func isReplaced(name string) bool { return name == "model" }

// An origin holds what parsing learned about a document: also the indices of parts and tools, for
// paths. It is read-only and safe for concurrent use.
type origin struct {
	codec.Origin
	nested bool // the request is a member of the body of countTokens

	// responseSchema is the response schema if it satisfies the rules of Validate.
	responseSchema string

	dropped       []place // parts without data that were left out of turns
	droppedSystem []place // and of the system instruction
	inserted      []int   // turns whose only part is not in the document
	tools         []toolPlace
}

// A place is an index into a list of lists. The system instruction is turn -1.
type place struct{ outer, inner int }

// A toolPlace is the place of a tool: its tool object, and its index in the declarations.
// input and output are its schemas if they satisfy the rules of Validate.
type toolPlace struct {
	place
	input, output string
}

// builtIn is the inner index of a tool that is not a function declaration.
const builtIn = -1

// allViolations returns the violations that parsing found, unknown names and values
// if strict is set, and then those of the rules. Both are left out where parsing found
// a violation at the same path or around it.
func (o *origin) allViolations(rules *violation.List, strict bool) error {
	if o == nil || o.Violations == nil && !strict {
		return rules.Err()
	}
	var unknown error
	if strict {
		unknown = o.Unknown.Err()
	}
	return o.Violations.Join(o.Violations.Covers, unknown, rules.Err())
}

// parsedOrigin returns what parsing found: in the document of the request, or, for a request
// made by hand, in the document that it encodes to. It returns nil if the request cannot be
// encoded, which encoding reports.
func (r *Request) parsedOrigin() *origin {
	if r.origin != nil {
		return r.origin
	}
	var w jsonwire.Writer
	if err := r.write(&w); err != nil {
		return nil
	}
	parsed, _ := parseRequest(w.Text(), reading{limits: codec.UnlimitedRequest})
	if parsed == nil {
		return nil
	}
	return parsed.origin
}

// toolPlaces returns where each tool is in the document: where it was when the
// document was parsed, if Tools still has tools of the same kinds, or else where
// the encoder writes it.
func (r *Request) toolPlaces() []toolPlace {
	if o := r.origin; o != nil && len(o.tools) == len(r.Tools) {
		same := true
		for i, at := range o.tools {
			same = same && (at.inner == builtIn) == (r.Tools[i].Kind != "")
		}
		if same {
			return o.tools
		}
	}
	return canonicalPlaces(r.Tools)
}

// canonicalPlaces returns where the encoder writes each tool: adjacent functions
// are in one tool object, any other tool has an object to itself.
func canonicalPlaces(tools []content.Tool) []toolPlace {
	list := make([]toolPlace, len(tools))
	last := place{-1, builtIn}
	for i := range tools {
		switch {
		case tools[i].Kind != "":
			last = place{last.outer + 1, builtIn}
		case last.inner == builtIn:
			last = place{last.outer + 1, 0}
		default:
			last.inner++
		}
		list[i].place = last
	}
	return list
}
