// Package losscases has small requests with one feature each, and what the adapters make of
// them. docs/losses.md is generated from them. Only tests use it.
//
// A [Feature] is a row of the page. Its first case is the usual one; the others are
// conditions under which the result can differ. Every case runs at every [Server] through
// Preflight, so that the page has what the adapters do, and nothing is sent.
package losscases

import (
	"slices"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/anthropic"
	"github.com/polywire/polywire/upstream/openai"
)

// A Group is a table of the page.
type Group struct {
	Title    string
	Features []Feature
}

// A Feature is a row of a table.
type Feature struct {
	Name  string           // a constant of package loss
	Row   string           // the text of the row, if it is not the name
	Also  string           // another feature under which some servers report it
	From  []content.Format // the formats of clients that have the feature; nil: all, or too many for a column without it
	Cases []Case
}

// A Case is a request.
type Case struct {
	When string           // the condition; empty for the usual case
	From []content.Format // as in Feature, for this case
	To   []Server         // nil: all
	Set  func(r *upstream.Request)

	// Unlisted cases are not on the page. They meet a rule of which the page has only the
	// reason.
	Unlisted bool

	Model   string // if it is not that of the server
	Dialect openai.Dialect
	Host    string // the address of [OtherChat], if it has rules of its own

	Platform anthropic.Platform // of [Messages]

	// Rejects are members that the server has rejected before, each as its name or, if the
	// server names it in another way, as its name, a colon and the server's sentence.
	Rejects []string
}

// Groups returns the cases.
func Groups() []Group {
	return []Group{
		{"Conversation", conversation},
		{"Files", files},
		{"Tool calls and results", results},
		{"Tools", tools},
		{"Thinking", thinking},
		{"Sampling", sampling},
		{"Output and other settings", settings},
		{"Members that only one format has", foreignMembers},
	}
}

// isFrom reports whether clients of a format other than the server's can send the case.
func (c *Case) isFrom(f *Feature, s Server) bool {
	from := c.From
	if from == nil {
		from = f.From
	}
	return from == nil || slices.ContainsFunc(from, func(f content.Format) bool { return f != s.Format() })
}

// by returns formats of clients.
func by(formats ...content.Format) []content.Format { return formats }

// isTo reports whether the case is for a server.
func (c *Case) isTo(s Server) bool { return c.To == nil || slices.Contains(c.To, s) }

const (
	m = messages.Format
	g = generatecontent.Format

	chat      = openai.ChatFormat
	responses = openai.ResponsesFormat

	// alien is a format that no package has.
	alien = content.Format("alien")
)

// Parts of requests.

const (
	pngData  = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
	jpegData = "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAgGBgcGBQgHBwcJCQgKDBQNDAsLDBkSEw8UHRofHh0aHBwgJC4nICIsIxwcKDcpLDAxNDQ0Hyc5PTgyPC4zNDL/"
	pdfData  = "JVBERi0xLjQK"
	wavData  = "UklGRiQAAABXQVZFZm10IA=="
)

func base64(mediaType, data string) *content.Base64 {
	return &content.Base64{MediaType: mediaType, Data: data}
}

func text(s string) *content.Text { return &content.Text{Text: s} }

func image(s content.Source) *content.Image       { return &content.Image{Source: s} }
func document(s content.Source) *content.Document { return &content.Document{Source: s} }
func audio(s content.Source) *content.Media       { return &content.Media{Source: s} }

var (
	hello = text("Hello.")
	png   = image(base64("image/png", pngData))
	pdf   = document(base64("application/pdf", pdfData))
)

func call(id, name string) *content.ToolUse {
	return &content.ToolUse{ID: id, Name: name, Input: `{}`}
}

func result(id string, parts ...content.Part) *content.ToolResult {
	return &content.ToolResult{ID: id, Name: "f", Parts: parts}
}

func extra(f content.Format, json string) *content.Extra {
	return &content.Extra{Format: f, JSON: json}
}

func signed(f content.Format, data string) content.Signature {
	return content.Signature{Format: f, Data: data}
}

// Turns.

func user(parts ...content.Part) content.Turn {
	return content.Turn{Role: content.RoleUser, Parts: parts}
}

func assistant(parts ...content.Part) content.Turn {
	return content.Turn{Role: content.RoleAssistant, Parts: parts}
}

func system(parts ...content.Part) content.Turn {
	return content.Turn{Role: content.RoleSystem, Parts: parts}
}

// Changes of a request, which has one user turn.

type change = func(r *upstream.Request)

func all(list ...change) change {
	return func(r *upstream.Request) {
		for _, f := range list {
			f(r)
		}
	}
}

func turns(list ...content.Turn) change {
	return func(r *upstream.Request) { r.Turns = list }
}

// parts adds parts to the user turn.
func parts(list ...content.Part) change {
	return func(r *upstream.Request) { r.Turns[0].Parts = append(slices.Clone(r.Turns[0].Parts), list...) }
}

// earlier is a conversation in which the assistant has sent parts.
func earlier(list ...content.Part) change {
	return turns(user(hello), assistant(list...), user(hello))
}

// called is a conversation in which the user returns parts after a tool call.
func called(list ...content.Part) change {
	return all(declared(function("f")), turns(user(hello), assistant(call("call_1", "f")), user(list...)))
}

func function(name string) content.Tool {
	return content.Tool{Name: name, Description: "A function.", Input: content.Schema{JSON: simpleSchema}}
}

const (
	simpleSchema = `{"type":"object","properties":{"a":{"type":"string"}}}`
	strictSchema = `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`
	openSchema   = `{"type":"object","properties":{"a":{"type":"string"}},"patternProperties":{"^b":{"type":"string"}}}`
)

func declared(list ...content.Tool) change {
	return func(r *upstream.Request) { r.Tools = append(slices.Clone(r.Tools), list...) }
}

func choice(c content.ToolChoice) change {
	return func(r *upstream.Request) { r.Choice = c }
}

// chosen sets a choice of tools, which are functions.
func chosen(c content.ToolChoice, names ...string) change {
	return func(r *upstream.Request) {
		r.Choice = c
		for _, name := range names {
			r.Tools = append(r.Tools, function(name))
		}
	}
}

func builtIn(f content.Format, kind, raw string) content.Tool {
	t := content.Tool{Format: f, Kind: kind, Raw: raw}
	if f == m {
		t.Name = nameOf[kind]
	}
	return t
}

// nameOf has the names of the tools of Messages.
var nameOf = map[string]string{
	"web_search_20250305": "web_search", "code_execution_20250825": "code_execution", "bash_20250124": "bash", "memory_20250818": "memory",
	"web_fetch_20250910": "web_fetch", "tool_search_tool_regex_20251119": "tool_search_tool_regex",
}

var (
	webSearch    = builtIn(m, "web_search_20250305", `{"type":"web_search_20250305","name":"web_search"}`)
	googleSearch = builtIn(g, "googleSearch", `{}`)
	openAISearch = builtIn(responses, "web_search", `{"type":"web_search"}`)
)

func thinks(t upstream.Thinking) change {
	return func(r *upstream.Request) { r.Thinking = t }
}

// auto lets the model think.
var auto = thinks(upstream.Thinking{Mode: upstream.ThinkingAuto})

func limit(tokens int64) change {
	return func(r *upstream.Request) { r.MaxTokens = &tokens }
}

func output(o upstream.Output) change {
	return func(r *upstream.Request) { r.Output = o }
}

func members(f content.Format, json string) change {
	return func(r *upstream.Request) { r.Extra = extra(f, json) }
}

func ptr[T any](v T) *T { return &v }
