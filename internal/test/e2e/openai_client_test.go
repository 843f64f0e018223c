package e2e

import (
	"encoding/json"
	"slices"
	"strings"
)

// The tools of the conversations in OpenAI's formats.
const (
	chatToolbox = `"tools":[{"type":"function","function":{"name":"get_weather","description":"Weather","parameters":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}},
		{"type":"function","function":{"name":"get_time","parameters":{"type":"object","properties":{"tz":{"type":"string"}}}}},
		{"type":"function","function":{"name":"read_file","parameters":{"type":"object","properties":{"path":{"type":"string"}}}}}]`
	responsesToolbox = `"tools":[{"type":"function","name":"get_weather","description":"Weather","strict":false,"parameters":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}},
		{"type":"function","name":"get_time","strict":false,"parameters":{"type":"object","properties":{"tz":{"type":"string"}}}},
		{"type":"function","name":"read_file","strict":false,"parameters":{"type":"object","properties":{"path":{"type":"string"}}}}]`
)

// next returns the mode after how: a client with both modes alternates between them.
func next(how []mode, turns int) mode { return how[turns%len(how)] }

// A chatClient uses Chat Completions and returns what an unmodified client returns: content, tool
// calls and tool messages.
type chatClient struct {
	how     []mode // of its requests in turn
	image   bool   // its first text has an image
	turns   int
	history []string
}

func (c *chatClient) format() string { return "chatcompletions" }
func (c *chatClient) mode() mode     { return next(c.how, c.turns) }

func (c *chatClient) user(content string) {
	c.history = append(c.history, `{"role":"user","content":`+content+`}`)
}

func (c *chatClient) say(text string) {
	if c.image && len(c.history) == 0 {
		c.user(`[{"type":"text","text":` + quote(text) + `},{"type":"image_url","image_url":{"url":"data:image/png;base64,` + testPNG + `","detail":"low"}}]`)
		return
	}
	c.user(quote(text))
}

func (c *chatClient) results(list []outcome) {
	pdf := ""
	for _, o := range list {
		text := o.text
		if o.failed { // the format has no member for it
			text = "Error: " + text
		}
		c.history = append(c.history, `{"role":"tool","tool_call_id":`+quote(o.call.ID)+`,"content":`+quote(text)+`}`)
		pdf += o.pdf
	}
	if pdf != "" {
		c.user(`[{"type":"text","text":"Here is the file."},{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,` + pdf + `"}}]`)
	}
}

func (c *chatClient) keep(a *response) {
	c.turns++
	for _, raw := range a.Turn {
		c.history = append(c.history, string(raw))
	}
}

func (c *chatClient) members(think bool) string {
	s := chatToolbox + `,"messages":[{"role":"developer","content":"You help."},` + strings.Join(c.history, ",") + `]`
	if think {
		s += `,"reasoning_effort":"medium"`
	}
	return s
}

// A responsesClient uses Responses without a store and returns all items of the output.
type responsesClient struct {
	how     []mode // of its requests in turn
	include bool   // it asks for encrypted reasoning
	image   bool   // its first text has an image
	drops   string // a type of items that it does not return
	stored  bool   // it leaves store out
	turns   int
	input   []string
}

func (c *responsesClient) format() string { return "responses" }
func (c *responsesClient) mode() mode     { return next(c.how, c.turns) }

func (c *responsesClient) say(text string) {
	parts := `{"type":"input_text","text":` + quote(text) + `}`
	if c.image && len(c.input) == 0 {
		parts += `,{"type":"input_image","image_url":"data:image/png;base64,` + testPNG + `","detail":"auto"}`
	}
	c.input = append(c.input, `{"role":"user","content":[`+parts+`]}`)
}

func (c *responsesClient) results(list []outcome) {
	for _, o := range list {
		output := quote(o.text)
		if o.pdf != "" {
			output = `[{"type":"input_text","text":` + output + `},{"type":"input_file","filename":"a.pdf","file_data":"data:application/pdf;base64,` + o.pdf + `"}]`
		}
		c.input = append(c.input, `{"type":"function_call_output","call_id":`+quote(o.call.ID)+`,"output":`+output+`}`)
	}
}

func (c *responsesClient) keep(a *response) {
	c.turns++
	for _, raw := range a.Turn {
		var i responsesItem
		_ = json.Unmarshal(raw, &i)
		if c.drops == "" || i.Type != c.drops {
			c.input = append(c.input, string(raw))
		}
	}
}

func (c *responsesClient) members(think bool) string {
	s := `"instructions":"You help.",` + responsesToolbox + `,"input":[` + strings.Join(c.input, ",") + `]`
	if !c.stored {
		s += `,"store":false`
	}
	if think {
		s += `,"reasoning":{"effort":"medium","summary":"auto"}`
	}
	if c.include {
		s += `,"include":["reasoning.encrypted_content"]`
	}
	return s
}

// openAIClients are clients of OpenAI's formats.
func openAIClients() map[string]func() client {
	both := []mode{whole, sse}
	return map[string]func() client{
		"chat whole":                func() client { return &chatClient{how: []mode{whole}, image: true} },
		"chat streamed":             func() client { return &chatClient{how: []mode{sse}} },
		"chat alternating":          func() client { return &chatClient{how: both} },
		"responses":                 func() client { return &responsesClient{how: []mode{sse}, include: true, image: true} },
		"responses alternating":     func() client { return &responsesClient{how: both, include: true} },
		"responses without include": func() client { return &responsesClient{how: both} },
	}
}

// isOpenAIClient reports whether a client uses one of OpenAI's formats.
func isOpenAIClient(c client) bool {
	return slices.Contains([]string{"chatcompletions", "responses"}, c.format())
}
