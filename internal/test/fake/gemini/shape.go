package gemini

import (
	"encoding/base64"
	"slices"
	"strings"

	"github.com/polywire/polywire/internal/test/fake"
)

// Prefixes of Want for which the vendor names a proto type.
const (
	enumOf    = "enum "
	messageOf = "message "
	oneofOf   = "oneof "
)

var (
	text  = fake.Str(0, 0)
	flag  = fake.Flag
	whole = fake.Int(-fake.Inf, fake.Inf)
	float = fake.Num(-fake.Inf, fake.Inf)
	texts = fake.List(text, 0, 0)
)

// enum accepts the names of a proto enum.
func enum(proto string, names ...string) fake.Shape {
	return func(c *fake.Checker, at fake.Path, n *fake.Node) {
		known := n.Kind == fake.Number || n.Kind == fake.String && slices.ContainsFunc(names, func(v string) bool {
			return strings.EqualFold(v, n.Str)
		})
		switch {
		case n.Kind == fake.Array:
			c.Report(at, fake.Repeated, "", n)
		case !known:
			c.Report(at, fake.BadValue, enumOf+proto, n)
		}
	}
}

// message accepts a proto message.
func message(proto string, fields fake.Fields) fake.Shape {
	obj := fake.Obj(fields)
	return func(c *fake.Checker, at fake.Path, n *fake.Node) {
		switch n.Kind {
		case fake.Object:
			obj(c, at, n)
		case fake.Array:
			c.Report(at, fake.Repeated, "", n)
		default:
			c.Report(at, fake.BadValue, messageOf+proto, n)
		}
	}
}

// bytes accepts canonical base64 in either alphabet, padded or not.
func bytes(c *fake.Checker, at fake.Path, n *fake.Node) {
	text(c, at, n)
	if n.Kind != fake.String {
		return
	}
	if _, err := decode(n.Str); err != nil {
		c.Report(at, fake.BadValue, "bytes", n)
	}
}

// decode decodes base64 like the vendor, generatecontent.md §2 rule 7.
func decode(s string) ([]byte, error) {
	s = strings.TrimRight(strings.NewReplacer("-", "+", "_", "/").Replace(s), "=")
	return base64.RawStdEncoding.Strict().DecodeString(s)
}

// mapOf accepts a proto map. Each entry has its own path.
func mapOf(s fake.Shape) fake.Shape {
	return func(c *fake.Checker, at fake.Path, n *fake.Node) {
		if n.Kind != fake.Object {
			c.Report(at, fake.WrongType, "object", n)
			return
		}
		for i := range n.Keys {
			s(c, at.At(i).Key("value"), n.Items[i])
		}
	}
}

// request is generatecontent.md §3.1.
func request() fake.Shape {
	return message("GenerateContentRequest", fake.Fields{
		"model": text, "contents": fake.List(content(), 0, 0), "systemInstruction": content(),
		"tools": fake.List(tool(), 0, 0), "toolConfig": toolConfig(),
		"safetySettings": fake.List(safety(), 0, 0), "generationConfig": generationConfig(),
		"cachedContent": text, "serviceTier": enum("ServiceTier", "unspecified", "standard", "flex", "priority"),
		"store@studio": flag, "labels": mapOf(text), "continuationToken": bytes, "processingOptions@studio": fake.FreeObject,
		"modelArmorConfig@vertex": fake.FreeObject, "outputConfig@vertex": fake.FreeObject,
	})
}

// countRequest is generatecontent.md §1.6.
func countRequest() fake.Shape {
	return message("CountTokensRequest", fake.Fields{
		"contents": fake.List(content(), 0, 0), "generateContentRequest@studio": request(),
		"model@vertex": text, "systemInstruction@vertex": content(), "tools@vertex": fake.List(tool(), 0, 0),
		"generationConfig@vertex": generationConfig(),
	})
}

func content() fake.Shape {
	return message("Content", fake.Fields{"role": text, "parts": fake.List(part, 0, 0)})
}

// dataMembers are the members of which a part has exactly one,
// generatecontent.md §3.2.
var dataMembers = []string{
	"text", "inlineData", "fileData", "functionCall", "functionResponse",
	"executableCode", "codeExecutionResult", "toolCall", "toolResponse",
}

// part is the shape of a part; a second data member is a parser error.
func part(c *fake.Checker, at fake.Path, n *fake.Node) {
	partMessage(c, at, n)
	if n.Kind != fake.Object {
		return
	}
	set := false
	for i, k := range n.Keys {
		if n.Items[i].Kind == fake.Null || !slices.Contains(dataMembers, camel(k)) {
			continue
		}
		if set {
			c.Report(at, fake.BadValue, oneofOf+snake(k), n)
			return
		}
		set = true
	}
}

var partMessage = message("Part", fake.Fields{
	"text": text, "inlineData": blob, "fileData": fileData, "functionCall": functionCall,
	"functionResponse": message("FunctionResponse", fake.Fields{
		"name": text, "response": fake.FreeObject, "id": text, "willContinue@studio": flag,
		"scheduling": enum("FunctionResponse.Scheduling", "SILENT", "WHEN_IDLE", "INTERRUPT"),
		"parts": fake.List(message("FunctionResponsePart", fake.Fields{
			"inlineData": blob, "fileData": fileData, "mediaProcessing@studio": enum("Part.MediaProcessing", "STATIC", "AGENTIC")}), 0, 0),
	}),
	"executableCode":      message("ExecutableCode", fake.Fields{"language": enum("ExecutableCode.Language", "PYTHON"), "code": text, "id": text}),
	"codeExecutionResult": message("CodeExecutionResult", fake.Fields{"outcome": enum("CodeExecutionResult.Outcome", "OUTCOME_OK", "OUTCOME_FAILED", "OUTCOME_DEADLINE_EXCEEDED"), "output": text, "id": text}),
	"toolCall@studio":     message("ToolCall", fake.Fields{"toolType": toolType, "args": fake.FreeObject, "id": text, "toolName": text}),
	"toolResponse@studio": message("ToolResponse", fake.Fields{"toolType": toolType, "response": fake.FreeObject, "id": text}),

	"thought": flag, "thoughtSignature": fake.Shape(bytes), "partMetadata@studio": fake.FreeObject,
	"videoMetadata": message("VideoMetadata", fake.Fields{"startOffset": text, "endOffset": text, "fps": float}),
	"mediaResolution": message("Part.MediaResolution", fake.Fields{"numTokens": whole, "level": enum("Part.MediaResolution.Level",
		"MEDIA_RESOLUTION_LOW", "MEDIA_RESOLUTION_MEDIUM", "MEDIA_RESOLUTION_HIGH", "MEDIA_RESOLUTION_ULTRA_HIGH")}),
	"mediaProcessing@studio": enum("Part.MediaProcessing", "STATIC", "AGENTIC"),
	"speechMetadata@studio":  message("SpeechMetadata", fake.Fields{"speaker": text, "style": text}),
	"audioTranscription":     fake.FreeObject,
})

var (
	blob         = message("Blob", fake.Fields{"mimeType": text, "data": fake.Shape(bytes), "displayName": text})
	fileData     = message("FileData", fake.Fields{"mimeType": text, "fileUri": text, "displayName": text})
	functionCall = message("FunctionCall", fake.Fields{"name": text, "args": fake.FreeObject, "id": text})
	toolType     = enum("ToolType", "GOOGLE_SEARCH_WEB", "GOOGLE_SEARCH_IMAGE", "URL_CONTEXT", "GOOGLE_MAPS", "FILE_SEARCH", "MEDIA_PROCESSING")
)

// camel returns the declared name of a member, generatecontent.md §2 rule 1.
func camel(name string) string {
	if strings.HasPrefix(name, "_") {
		return name
	}
	words := strings.Split(name, "_")
	for i := 1; i < len(words); i++ {
		if words[i] == "" {
			return name
		}
		words[i] = strings.ToUpper(words[i][:1]) + words[i][1:]
	}
	return strings.Join(words, "")
}

// snake returns the spelling in error texts.
func snake(name string) string {
	var b strings.Builder
	for _, r := range name {
		if r >= 'A' && r <= 'Z' {
			b.WriteByte('_')
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}
