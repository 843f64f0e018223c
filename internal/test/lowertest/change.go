package lowertest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
)

// Choices are bytes that select changes of a request, for fuzzing. Every sequence of
// bytes is valid; when it ends, the first of all alternatives is chosen.
type choices struct {
	bytes string
	calls int // tool calls added so far
}

// below returns a number from 0 to n-1.
func (c *choices) below(n int) int {
	if c.bytes == "" {
		return 0
	}
	b := int(c.bytes[0])
	c.bytes = c.bytes[1:]
	return b % n
}

// choose returns one of a list.
func choose[T any](c *choices, list ...T) T { return list[c.below(len(list))] }

// wireFormats are those of signatures, and of members and parts of one vendor. No adapter
// has the last but one.
var wireFormats = []content.Format{"", messages.Format, generatecontent.Format, "openai-chat", "openai-responses", "other", ""}

func (c *choices) text() string {
	return choose(c, "A text.", "", " ", "\n", "naïve ✓", "<think>a</think>b", strings.Repeat("long ", 300),
		"x-anthropic-billing-header: cc_version=2.1;", "x-anthropic-billing-header: cc_version=2.1;\n\nA text.")
}

func (c *choices) signature() content.Signature {
	return content.Signature{Format: choose(c, wireFormats...), Data: choose(c, "c2lnbmF0dXJl", "not base64", "",
		`{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"e"}`,
		`{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"A text.","annotations":[]}]}`,
		`{"type":"reasoning.text","text":"t","index":0}`)}
}

func (c *choices) cache() *content.Cache {
	return choose(c, nil, nil, &content.Cache{}, &content.Cache{TTL: "1h"})
}

func (c *choices) extra() *content.Extra {
	if c.below(3) > 0 {
		return nil
	}
	return &content.Extra{Format: choose(c, wireFormats...), JSON: choose(c, `{"unknown":1}`, `{"detail":"low"}`, `{"name":"n"}`, `{"phase":"commentary"}`,
		`{"mediaResolution":{"level":"MEDIA_RESOLUTION_LOW"}}`, `{"videoMetadata":{"fps":2}}`, `{"eager_input_streaming":true}`, `{"caller":{"type":"direct"}}`)}
}

func (c *choices) source() content.Source {
	const png, pdf = "iVBORw0KGgo=", "JVBERi0xLjQK"
	switch c.below(8) {
	case 0:
		return &content.Base64{MediaType: "image/png", Data: png}
	case 1:
		return &content.Base64{MediaType: "application/pdf", Data: pdf}
	case 2:
		return choose(c, &content.URL{URL: "https://example.com/a.png"}, &content.URL{URL: "https://example.com/a.pdf"},
			&content.URL{URL: "https://example.com/a.txt"}, &content.URL{URL: "https://example.com/a.gone"},
			&content.URL{URL: "gs://b/a.png", MediaType: "image/png"}, &content.URL{URL: "gs://b/a.pdf", MediaType: "application/pdf"})
	case 3:
		return &content.File{ID: choose(c, "file-1", "file-10", "file.gone"), MediaType: choose(c, "", "image/png")}
	case 4:
		return &content.PlainText{Text: c.text(), MediaType: choose(c, "", "text/csv")}
	case 5:
		return &content.Parts{Parts: []content.Part{&content.Text{Text: "Within."}, &content.Image{Source: &content.Base64{MediaType: "image/png", Data: png}}}}
	case 6:
		return &content.Base64{MediaType: choose(c, "audio/wav", "video/mp4", "text/plain", "image/svg+xml", "", "application/json"), Data: png}
	}
	return &content.Base64{MediaType: "image/jpeg", Data: choose(c, png, "", "%")}
}

// part returns a part. depth is the number of parts around it.
func (c *choices) part(depth int) content.Part {
	id := func() string { return choose(c, "t1", "t2", "", "an id", strings.Repeat("i", 70)) }
	switch c.below(14) {
	case 0:
		return &content.Text{Text: c.text(), Refusal: c.below(4) == 3, Signature: c.signature(), Cache: c.cache(), Extra: c.extra()}
	case 1:
		return &content.Thinking{Text: c.text(), Signature: c.signature(), Extra: c.extra()}
	case 2:
		return &content.Thinking{Redacted: c.signature()}
	case 3:
		return &content.ToolUse{ID: id(), Name: choose(c, "f", "a name", "", strings.Repeat("n", 70)), Input: choose(c, "", `{"a": 1.0}`), Freeform: c.below(4) == 3, Text: choose(c, "", "a \"b\"\n"), Namespace: choose(c, "", "", "n", "a space"), Signature: c.signature(), Cache: c.cache(), Extra: c.extra()}
	case 4:
		p := &content.ToolResult{ID: id(), Name: choose(c, "", "f"), Object: choose(c, "", `{"x":1}`), Error: c.below(2) == 1, Cache: c.cache(), Extra: c.extra()}
		for range c.below(3) {
			if depth < 2 {
				p.Parts = append(p.Parts, c.part(depth+1))
			}
		}
		return p
	case 5, 6:
		return &content.Image{Source: c.source(), Signature: c.signature(), Cache: c.cache(), Extra: c.extra()}
	case 7, 8:
		return &content.Document{Source: c.source(), Title: choose(c, "", "a.pdf"), Context: choose(c, "", "Of 1999."), Citations: c.below(2) == 1, Cache: c.cache(), Extra: c.extra()}
	case 9:
		return &content.Media{Source: c.source(), Signature: c.signature(), Extra: c.extra()}
	case 10:
		return &content.SearchResult{Source: "https://example.com", Title: "S", Parts: []content.Part{&content.Text{Text: c.text()}}, Citations: c.below(2) == 1, Extra: c.extra()}
	case 11:
		return &content.ServerToolUse{Format: choose(c, wireFormats...), Kind: choose(c, "server_tool_use", "executableCode"), ID: id(), Name: "web_search", Input: "{}", Signature: c.signature()}
	case 12:
		return &content.ServerToolResult{Format: choose(c, wireFormats...), Kind: choose(c, "web_search_tool_result", "codeExecutionResult"), ID: id(), Content: choose(c, "[]", `{"outcome":"OUTCOME_OK"}`)}
	}
	return &content.Unknown{Format: choose(c, wireFormats...), Kind: "new_kind", Raw: choose(c, `{"type":"new_kind"}`, `{"type":"compaction","content":"A summary."}`)}
}

func (c *choices) role() content.Role {
	return choose(c, content.RoleUser, content.RoleAssistant, content.RoleSystem)
}

// pointer returns nil or a pointer to one of a list.
func pointer[T any](c *choices, list ...T) *T {
	if i := c.below(len(list) + 1); i > 0 {
		return &list[i-1]
	}
	return nil
}

// Change returns a request that a host could have made of n. The bytes of selection choose
// what is changed; n itself is not.
func Change(n *upstream.Request, selection string) *upstream.Request {
	c := &choices{bytes: selection}
	n = n.Clone()
	n.Turns = slices.Clip(n.Turns)
	for c.bytes != "" {
		c.step(n)
	}
	return n
}

func (c *choices) step(n *upstream.Request) {
	turn := new(content.Turn)
	if len(n.Turns) > 0 {
		turn = &n.Turns[c.below(len(n.Turns))]
	}
	switch c.below(16) {
	case 0, 1, 2:
		turn.Parts = slices.Insert(turn.Parts, c.below(len(turn.Parts)+1), c.part(0))
	case 3:
		n.System = slices.Insert(n.System, c.below(len(n.System)+1), c.part(0))
	case 4:
		if i := len(turn.Parts); i > 0 {
			i = c.below(i)
			turn.Parts = slices.Delete(turn.Parts, i, i+1)
		}
	case 5:
		turn.Role = c.role()
	case 6:
		n.Turns = slices.Insert(n.Turns, c.below(len(n.Turns)+1), content.Turn{Role: c.role(), Parts: []content.Part{c.part(0), c.part(0)}, Extra: c.extra()})
	case 7:
		if i := len(n.Turns); i > 1 {
			i = c.below(i)
			n.Turns = slices.Delete(n.Turns, i, i+1)
		}
	case 8: // a step of an agent
		c.calls++
		id, name := fmt.Sprint("call", c.calls), choose(c, "f", "a name")
		n.Tools = append(n.Tools, content.Tool{Name: name, Input: content.Schema{JSON: `{"type":"object"}`}})
		n.Turns = append(n.Turns,
			content.Turn{Role: content.RoleAssistant, Parts: []content.Part{&content.Thinking{Text: "So.", Signature: c.signature()}, &content.ToolUse{ID: id, Name: name, Signature: c.signature()}}},
			content.Turn{Role: content.RoleUser, Parts: []content.Part{&content.ToolResult{ID: id, Parts: []content.Part{c.part(1)}, Error: c.below(2) == 1}}})
	case 9:
		n.Temperature, n.TopP, n.TopK = pointer(c, 0, 0.5, 1.5, -1), pointer(c, 0, 0.5, 2), pointer[int64](c, 0, 40, -1)
	case 10:
		n.Seed, n.PresencePenalty, n.FrequencyPenalty = pointer[int64](c, 7, 1<<40), pointer(c, 0.5, 3), pointer(c, -0.5, 3)
		n.Candidates = choose(c, 0, 1, 2)
		n.StopSequences = choose(c, nil, []string{"a"}, []string{"", " "}, []string{"a", "b", "c", "d", "e", "f"})
	case 11:
		n.Thinking = upstream.Thinking{Mode: choose(c, "", upstream.ThinkingOff, upstream.ThinkingAuto, upstream.ThinkingBudget, upstream.ThinkingBetweenTools),
			Budget: pointer[int64](c, 0, 500, 4096, 100_000), Effort: choose(c, "", "minimal", "low", "high", "max", "unknown"), Display: choose(c, "", "full", "summarized", "omitted")}
	case 12:
		n.Output = upstream.Output{Modalities: choose(c, nil, []string{"text", "image"}, []string{"audio"}), MediaType: choose(c, "", "application/json", "text/x.enum"),
			Schema: content.Schema{JSON: choose(c, "", `{"type":"object","properties":{"a":{"type":"string"}}}`, `{"type":"string"}`)}, AspectRatio: choose(c, "", "16:9"),
			Name: choose(c, "", "n", "a name"), Description: choose(c, "", "d"), Strict: choose(c, nil, new(true), new(false)), Verbosity: choose(c, "", "low")}
	case 13:
		n.Choice = content.ToolChoice{Mode: choose(c, "", content.ChoiceAuto, content.ChoiceAny, content.ChoiceNone, content.ChoiceValidated),
			Names: choose(c, nil, []string{"f"}, []string{"f", "a name"}), NoParallel: c.below(2) == 1, Extra: c.extra()}
	case 14:
		n.Tools = append(n.Tools, choose(c,
			content.Tool{Name: choose(c, "f", "a name", "g"), Description: choose(c, "", strings.Repeat("d", 1200)), Strict: choose(c, nil, new(true), new(false)), Cache: c.cache(), Extra: c.extra(),
				Input: content.Schema{JSON: choose(c, "", `{"type":"object","properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{"type":"string"}}}`, `true`)}},
			content.Tool{Name: choose(c, "f", "a name", "g"), Namespace: choose(c, "", "n", "a space"), Freeform: c.below(2) == 1, Grammar: choose(c, nil, &content.Grammar{Syntax: "regex", Definition: "a+"})},
			content.Tool{Kind: "web_search_20250305", Name: "web_search", Format: messages.Format, Raw: `{"type":"web_search_20250305","name":"web_search"}`},
			content.Tool{Kind: "googleSearch", Format: generatecontent.Format, Raw: `{"googleSearch":{}}`},
			content.Tool{Kind: "bash_20250124", Name: "bash", Format: messages.Format, Raw: `{"type":"bash_20250124","name":"bash"}`}))
	case 15:
		n.MaxTokens = pointer[int64](c, 0, 1, 4096, 10_000_000)
		n.UserID, n.ServiceTier, n.Stream = choose(c, "", "u", strings.Repeat("u", 600)), choose(c, "", "auto", "flex", "unknown"), c.below(2) == 1
		n.ForwardLinks = c.below(2) == 1
		n.Extra = c.extra()
	}
}
