package openai

import "github.com/polywire/polywire/content"

// Constructors of parts.
func textOf(s string) *content.Text { return &content.Text{Text: s} }

func useOf(id, name, input string) *content.ToolUse {
	return &content.ToolUse{ID: id, Name: name, Input: input}
}

func partsOf(p ...content.Part) []content.Part { return p }

func thinkingPart(s, data string) *content.Thinking {
	p := &content.Thinking{Text: s}
	if data != "" {
		p.Signature = content.Signature{Format: ChatFormat, Data: data}
	}
	return p
}

func itemSignature(json string) content.Signature {
	return content.Signature{Format: ResponsesFormat, Data: json}
}

func redactedPart(json string) *content.Thinking {
	return &content.Thinking{Redacted: itemSignature(json)}
}
