package responses

import (
	"cmp"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/lower"
	"github.com/polywire/polywire/internal/openaiformat"
)

// encodedMembers are the members that the encoder writes. Extra members do not
// replace them.
var encodedMembers = []string{
	"model", "instructions", "input", "tools", "tool_choice", "parallel_tool_calls", "reasoning", "text",
	"max_output_tokens", "temperature", "top_p", "store", "include", "safety_identifier", "service_tier", "stream",
	"stream_options",
}

// encodedState are the members without which the model would not see the conversation, or
// with which the server would not return the response. Nothing is stored: see the package.
var encodedState = []string{"previous_response_id", "conversation", "background"}

// mergedMembers are the members of which fields represent a part.
var mergedMembers = []lower.Merged{
	{Name: "reasoning", First: '{', Fields: []string{"effort", "summary"}},
	{Name: "text", First: '{', Fields: []string{"format"}},
	{Name: "include", First: '['},
}

// minTokens is OpenAI's smallest limit of output tokens.
const minTokens = 16

// fileName returns the name of a document, with the extension of its type.
func fileName(title, mediaType string) string {
	title = cmp.Or(title, "document")
	if suffix := openaiformat.Extension(mediaType); !strings.HasSuffix(strings.ToLower(title), suffix) {
		title += suffix
	}
	return title
}

// For adapters of this module.
//
// OwnTool returns the vendor's built-in tool for the purpose of another vendor's tool, with the
// settings that exist here too.
func OwnTool(t *content.Tool) (own content.Tool, losses []lower.MemberLoss) {
	kind := builtInKind(t.Kind)
	if kind == "" {
		return own, nil
	}
	var w jsonwire.Writer
	w.BeginObject()
	w.Member("type", kind)
	if kind == codeInterpreter {
		w.RawMember("container", `{"type":"auto"}`)
	}
	if doc, err := jsonwire.Parse(t.Raw, codec.UnlimitedJSON); err == nil {
		defer doc.Close()
		for name, x := range doc.Root().Members() {
			switch {
			case x.Kind() == jsonwire.Null:
			case kind == webSearch && name == "allowed_domains" && x.Len() > 0:
				w.Object("filters")
				w.RawMember(name, x.Raw())
				w.EndObject()
			case kind == webSearch && name == "user_location" && x.Get("type").Is("approximate"):
				w.RawMember(name, x.Raw())
			default:
				if r := foreign.ToolMember(name, x); r != nil {
					losses = append(losses, lower.MemberLoss{Name: name, Rule: r})
				}
			}
		}
	}
	w.EndObject()
	return content.Tool{Name: t.Name, Kind: kind, Format: Format, Raw: w.Text()}, losses
}

// builtInKind returns OpenAI's built-in tool for the purpose of another vendor's tool,
// or "". The kinds of other vendors have a version at the end.
func builtInKind(kind string) string {
	for _, b := range []struct{ prefix, kind string }{
		{"web_search", webSearch}, {"googleSearch", webSearch},
		{"code_execution", codeInterpreter}, {"codeExecution", codeInterpreter}, {"tool_search_tool_", ToolSearch},
	} {
		if strings.HasPrefix(kind, b.prefix) {
			return b.kind
		}
	}
	return ""
}

// isWebSearch reports whether t is this vendor's tool for web search.
func isWebSearch(t content.Tool) bool {
	return t.Format == Format && strings.HasPrefix(t.Kind, webSearch)
}

const (
	webSearch       = "web_search"
	codeInterpreter = "code_interpreter"

	// For adapters of this module.
	//
	// ToolSearch is the kind of the tool with which the vendor searches deferred tools.
	ToolSearch = "tool_search"
)

// includeLogprobs is the value of include that asks for log probabilities.
const includeLogprobs = "message.output_text.logprobs"

// askLogprobs returns the members that ask for log probabilities.
func askLogprobs(top int64) string {
	var w jsonwire.Writer
	w.BeginObject()
	w.RawMember("include", `["`+includeLogprobs+`"]`)
	if top > 0 {
		w.IntMember("top_logprobs", top)
	}
	w.EndObject()
	return w.Text()
}
