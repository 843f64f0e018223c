package e2e

import (
	"encoding/json"
	"strings"
)

// A client keeps the history of a conversation and sends it back as a real
// client does.
type client interface {
	format() string
	mode() mode
	say(text string)           // adds a turn of the user
	results(list []outcome)    // adds the results of all tool calls of the last response
	keep(a *response)          // adds a response
	members(think bool) string // returns the document to send, without model and stream
}

// An outcome is the result of a tool call.
type outcome struct {
	call   element
	text   string
	failed bool
	pdf    string // base64 of a file in the result, if any
}

// The tools of the conversations in each format.
const (
	messagesToolbox = `"tools":[{"name":"get_weather","description":"Weather","input_schema":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}},
		{"name":"get_time","input_schema":{"type":"object","properties":{"tz":{"type":"string"}}}},
		{"name":"read_file","input_schema":{"type":"object","properties":{"path":{"type":"string"}}}}]`
	generateToolbox = `"tools":[{"functionDeclarations":[{"name":"get_weather","description":"Weather","parametersJsonSchema":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}},
		{"name":"get_time","parametersJsonSchema":{"type":"object","properties":{"tz":{"type":"string"}}}},
		{"name":"read_file","parametersJsonSchema":{"type":"object","properties":{"path":{"type":"string"}}}}]}]`
)

// A messagesClient returns assistant turns unchanged and puts tool results
// first, as coding agents do.
type messagesClient struct {
	how              mode
	dropsThinking    bool // drops thinking, like clients that compact their history
	dropsOtherModels bool // drops signed thinking of models that it did not request
	history          []string
}

func (c *messagesClient) format() string { return "messages" }
func (c *messagesClient) mode() mode     { return c.how }

func (c *messagesClient) user(content string) {
	c.history = append(c.history, `{"role":"user","content":`+content+`}`)
}

func (c *messagesClient) say(text string) { c.user(`[{"type":"text","text":` + quote(text) + `}]`) }

func (c *messagesClient) results(list []outcome) {
	var blocks, files []string
	for _, o := range list {
		b := `{"type":"tool_result","tool_use_id":` + quote(o.call.ID) + `,"content":` + quote(o.text)
		if o.failed {
			b += `,"is_error":true`
		}
		blocks = append(blocks, b+"}")
		if o.pdf != "" {
			files = append(files, `{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"`+o.pdf+`"}}`)
		}
	}
	c.user("[" + strings.Join(append(blocks, files...), ",") + "]")
}

func (c *messagesClient) keep(a *response) {
	var blocks []string
	for _, raw := range a.Turn {
		var b messagesBlock
		_ = json.Unmarshal(raw, &b)
		// Coding agents drop the thinking of a model other than the one they
		// requested.
		other := c.dropsOtherModels && a.Model != a.Report.Model && (b.Signature != "" || b.Data != "")
		if (c.dropsThinking || other) && strings.Contains(b.Type, "thinking") {
			continue
		}
		blocks = append(blocks, string(raw))
	}
	c.history = append(c.history, `{"role":"assistant","content":[`+strings.Join(blocks, ",")+`]}`)
}

func (c *messagesClient) members(think bool) string {
	s := `"system":[{"type":"text","text":"You help."}],` + messagesToolbox + `,"messages":[` + strings.Join(c.history, ",") + `]`
	if think {
		s += `,"thinking":{"type":"enabled","budget_tokens":2048}`
	}
	return s
}

// A generateClient uses generateContent like one of the existing clients.
type generateClient struct {
	how       mode
	keepTurns func(chunks []json.RawMessage) []string // returns contents for the history
	contents  []string
}

func (c *generateClient) format() string { return "generatecontent" }
func (c *generateClient) mode() mode     { return c.how }

func (c *generateClient) user(parts ...string) {
	c.contents = append(c.contents, `{"role":"user","parts":[`+strings.Join(parts, ",")+`]}`)
}

func (c *generateClient) say(text string) { c.user(`{"text":` + quote(text) + `}`) }

func (c *generateClient) results(list []outcome) {
	var parts, files []string
	for _, o := range list {
		member := "output"
		if o.failed {
			member = "error"
		}
		id := ""
		if o.call.ID != "" {
			id = `"id":` + quote(o.call.ID) + `,`
		}
		parts = append(parts, `{"functionResponse":{`+id+`"name":`+quote(o.call.Name)+`,"response":{"`+member+`":`+quote(o.text)+`}}}`)
		if o.pdf != "" {
			files = append(files, `{"inlineData":{"mimeType":"application/pdf","data":"`+o.pdf+`"}}`)
		}
	}
	c.user(append(parts, files...)...)
}

func (c *generateClient) keep(a *response) { c.contents = append(c.contents, c.keepTurns(a.Turn)...) }

func (c *generateClient) members(think bool) string {
	s := `"systemInstruction":{"role":"user","parts":[{"text":"You help."}]},` + generateToolbox + `,"contents":[` + strings.Join(c.contents, ",") + `]`
	if think {
		s += `,"generationConfig":{"thinkingConfig":{"includeThoughts":true,"thinkingBudget":2048}}`
	}
	return s
}

type anyPart map[string]json.RawMessage

func partsOf(chunks []json.RawMessage) (list []anyPart) {
	for _, raw := range chunks {
		var c struct{ Parts []anyPart }
		_ = json.Unmarshal(raw, &c)
		list = append(list, c.Parts...)
	}
	return list
}

func modelTurn(parts []anyPart) string {
	b, _ := json.Marshal(parts)
	return `{"role":"model","parts":` + string(b) + `}`
}

// keepAsCLI keeps what the command-line agent keeps: tool calls unchanged,
// texts joined without signatures, no thinking.
func keepAsCLI(chunks []json.RawMessage) []string {
	var kept []anyPart
	for _, p := range partsOf(chunks) {
		if p["functionCall"] != nil {
			kept = append(kept, p)
			continue
		}
		text := ""
		_ = json.Unmarshal(p["text"], &text)
		if string(p["thought"]) == "true" || text == "" {
			continue
		}
		if n := len(kept); n > 0 && kept[n-1]["text"] != nil {
			before := ""
			_ = json.Unmarshal(kept[n-1]["text"], &before)
			kept[n-1] = anyPart{"text": json.RawMessage(quote(before + text))}
			continue
		}
		kept = append(kept, anyPart{"text": json.RawMessage(quote(text))})
	}
	return []string{modelTurn(kept)}
}

// keepAsGoChat keeps each chunk as a separate turn. It drops the text
// member if it is empty, since Go omits empty values.
func keepAsGoChat(chunks []json.RawMessage) (turns []string) {
	for _, raw := range chunks {
		parts := partsOf([]json.RawMessage{raw})
		for _, p := range parts {
			if string(p["text"]) == `""` {
				delete(p, "text")
			}
		}
		if len(parts) > 0 {
			turns = append(turns, modelTurn(parts))
		}
	}
	return turns
}

// keepAsTSChat keeps each chunk that has parts, unchanged.
func keepAsTSChat(chunks []json.RawMessage) (turns []string) {
	for _, raw := range chunks {
		var c struct{ Parts []json.RawMessage }
		if err := json.Unmarshal(raw, &c); err == nil && len(c.Parts) == 0 {
			continue
		}
		turns = append(turns, string(raw))
	}
	return turns
}

// keepAsTextOnly drops thinking and signatures.
func keepAsTextOnly(chunks []json.RawMessage) []string {
	var kept []anyPart
	for _, p := range partsOf(chunks) {
		if string(p["thought"]) == "true" || string(p["text"]) == `""` {
			continue
		}
		delete(p, "thoughtSignature")
		kept = append(kept, p)
	}
	return []string{modelTurn(kept)}
}
