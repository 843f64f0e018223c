package main

import (
	"net/http"
	"strings"

	"github.com/tidwall/gjson"
)

// A recognized document is the answer for /api/recognize. Both members are empty if the document
// is not recognized.
type recognized struct {
	Kind   string `json:"kind"` // request, response or stream
	Format string `json:"format"`
}

// recognizeText finds out what the text of a task is. It does not use its format.
func recognizeText(_ *http.Request, t *task) (recognized, error) {
	return recognize(t.Text), nil
}

// maxLines is the maximum number of lines with data that recognize reads of a stream.
const maxLines = 20

// recognize returns what a text is by the members that only one format has. The text need not be
// valid.
func recognize(text string) recognized {
	text = strings.TrimSpace(strings.TrimPrefix(text, "\ufeff"))
	if strings.HasPrefix(text, "{") {
		return recognizeDocument(gjson.Parse(text))
	}
	lines := 0
	for line := range strings.Lines(text) {
		data, ok := strings.CutPrefix(line, "data:")
		if !ok {
			continue
		}
		if f := streamFormat(gjson.Parse(data)); f != "" {
			return recognized{"stream", f}
		}
		if lines++; lines == maxLines {
			break
		}
	}
	return recognized{}
}

// streamFormat returns the format of a stream that has an event, or "".
func streamFormat(event gjson.Result) string {
	if !event.IsObject() {
		return ""
	}
	kind := event.Get("type").String()
	switch {
	case strings.HasPrefix(kind, "response."):
		return "openai-responses"
	case strings.HasPrefix(kind, "message_"), strings.HasPrefix(kind, "content_block_"):
		return "messages"
	case event.Get("object").String() == "chat.completion.chunk", event.Get("choices").IsArray():
		return "openai"
	case event.Get("candidates").IsArray(), event.Get("usageMetadata").IsObject():
		return "generatecontent"
	}
	return ""
}

// recognizeDocument returns what an object is.
func recognizeDocument(doc gjson.Result) recognized {
	has := map[string]gjson.Result{}
	doc.ForEach(func(name, value gjson.Result) bool {
		has[name.String()] = value
		return true
	})
	failure := has["error"]
	switch {
	case has["contents"].Exists():
		return recognized{"request", "generatecontent"}
	case has["candidates"].Exists(), has["promptFeedback"].Exists(), failure.Get("status").Exists():
		return recognized{"response", "generatecontent"}
	case has["object"].String() == "response", has["output"].IsArray():
		return recognized{"response", "openai-responses"}
	case has["object"].String() == "chat.completion", has["choices"].IsArray():
		return recognized{"response", "openai"}
	case has["type"].String() == "message" && has["role"].Exists(), has["type"].String() == "error":
		return recognized{"response", "messages"}
	case failure.Get("message").Exists():
		return recognized{"response", "openai"}
	case has["messages"].IsArray():
		return recognized{"request", messagesFormat(has)}
	case has["input"].Exists(), has["previous_response_id"].Exists(), has["prompt"].IsObject():
		return recognized{"request", "openai-responses"}
	}
	return recognized{}
}

// Names that only one of Messages and Chat Completions has.
var (
	chatMembers = []string{"max_completion_tokens", "response_format", "stream_options", "reasoning_effort", "parallel_tool_calls",
		"functions", "function_call", "frequency_penalty", "presence_penalty", "logprobs", "logit_bias", "modalities", "seed", "stop", "n"}
	messagesMembers = []string{"system", "stop_sequences", "anthropic_version", "output_config", "context_management", "mcp_servers", "container"}

	// fieldFormats are formats by a member of a message, or by the type of a part.
	fieldFormats = map[string]string{
		"tool_calls": "openai", "tool_call_id": "openai", "refusal": "openai", "reasoning_content": "openai",
		"image_url": "openai", "input_audio": "openai", "file": "openai",
		"tool_use": "messages", "tool_result": "messages", "thinking": "messages", "redacted_thinking": "messages",
		"image": "messages", "document": "messages",
	}
	roleFormats = map[string]string{"developer": "openai", "tool": "openai", "function": "openai"}
)

// messagesFormat returns the format of a request with a list of messages.
func messagesFormat(has map[string]gjson.Result) (format string) {
	for _, name := range chatMembers {
		if has[name].Exists() {
			return "openai"
		}
	}
	for _, name := range messagesMembers {
		if has[name].Exists() {
			return "messages"
		}
	}
	has["tools"].ForEach(func(_, tool gjson.Result) bool {
		switch {
		case tool.Get("function").Exists():
			format = "openai"
		case tool.Get("input_schema").Exists():
			format = "messages"
		}
		return format == ""
	})
	if format != "" {
		return format
	}
	system := false // a message of that role is at the beginning
	has["messages"].ForEach(func(i, m gjson.Result) bool {
		format = roleFormats[m.Get("role").String()]
		m.ForEach(func(name, value gjson.Result) bool {
			if format == "" {
				format = fieldFormats[name.String()]
			}
			return format == ""
		})
		m.Get("content").ForEach(func(_, part gjson.Result) bool {
			if format == "" {
				format = fieldFormats[part.Get("type").String()]
			}
			return format == ""
		})
		system = system || i.Int() == 0 && m.Get("role").String() == "system"
		return format == ""
	})
	switch {
	case format != "":
		return format
	case has["max_tokens"].Exists() && !system:
		return "messages" // which requires it
	}
	return "openai"
}
