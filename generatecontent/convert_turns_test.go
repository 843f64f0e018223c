package generatecontent

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/upstream"
)

const question = `{"contents":[{"role":"user","parts":[{"text":"q"}]}`

var asked = asks(plainText("q"))

// briefly is a system text that Messages tells the model until the user speaks
// again.
func briefly(text string) content.Turn {
	return content.Turn{Role: content.RoleSystem, Parts: []content.Part{plainText(text)}, Extra: elsewheres(`{"clear_at":"next_user_message"}`)}
}

// How turns become contents.
var turnMappings = []mapping{
	{name: "system text", from: &upstream.Request{System: []content.Part{plainText("a"), &content.Text{Text: "b", Cache: &content.Cache{}}, plainText("")}},
		want: `,"systemInstruction":{"parts":[{"text":"a"},{"text":"b"}]}`, lost: []string{"hint system.1.cache", "hint system.2"}},
	{name: "a file in the system text", from: &upstream.Request{System: []content.Part{&content.Image{Source: picture}}},
		lost: []string{"dropped system.0"}, rules: []*loss.Rule{systemFile}},
	{name: "a system turn", from: said(asked, content.Turn{Role: content.RoleSystem, Parts: []content.Part{plainText("s")}}, replies(plainText("a"))),
		want: question + `,{"role":"user","parts":[{"text":"s"}]},{"role":"model","parts":[{"text":"a"}]}]}`,
		lost: []string{"degraded turns.1"}, rules: []*loss.Rule{systemTurn}},
	{name: "a system text that holds until the user speaks again", from: said(asked, briefly("gone"), replies(plainText("a")), asked, briefly("now")),
		want: question + `,{"role":"model","parts":[{"text":"a"}]},{"role":"user","parts":[{"text":"q"}]},{"role":"user","parts":[{"text":"now"}]}]}`,
		lost: []string{"degraded turns.4"}, rules: []*loss.Rule{systemTurn}},
	{name: "it ends with the results, and begins no turn of the conversation", target: Target{SignedCalls: true},
		from: said(asked, replies(aCall), asks(&content.ToolResult{ID: "1"}), briefly("gone"), replies(another), asks(&content.ToolResult{ID: "2"})),
		want: question + `,{"role":"model","parts":[{"functionCall":{"id":"1","name":"f","args":{"a":1}},"thoughtSignature":"` + bypass + `"}]},{"role":"user","parts":[{"functionResponse":{"id":"1","name":"f","response":{}}}]},` +
			`{"role":"model","parts":[{"functionCall":{"id":"2","name":"g"},"thoughtSignature":"` + bypass + `"}]},{"role":"user","parts":[{"functionResponse":{"id":"2","name":"g","response":{}}}]}]}`,
		lost: []string{"degraded turns.1.parts.0.signature", "degraded turns.4.parts.0.signature"}},
	{name: "system turns of which nothing is left", from: said(asked, content.Turn{Role: content.RoleSystem, Extra: elsewheres(`{"output_config":{"effort":"low"}}`)},
		content.Turn{Role: content.RoleSystem, Parts: []content.Part{&content.Unknown{Format: elsewhere, Kind: "tool_addition", Raw: `{}`}}}),
		want: question + `]}`, lost: []string{"dropped turns.1.extra.output_config", "hint turns.1", "dropped turns.2.parts.0", "hint turns.2"},
		rules: []*loss.Rule{codec.ForeignSetting, emptyTurn, codec.ForeignPart, emptyTurn}},
	{name: "a turn of the user of which nothing is left", from: said(asks(plainText(""), &content.Unknown{Format: elsewhere, Kind: "container_upload", Raw: `{}`}), replies(aCall), asks(&content.ToolResult{ID: "1"})),
		want: `{"contents":[{"role":"user","parts":[{"text":"[Here was something that you cannot be shown.]"}]},{"role":"model","parts":[{"functionCall":{"id":"1","name":"f","args":{"a":1}}}]},` +
			`{"role":"user","parts":[{"functionResponse":{"id":"1","name":"f","response":{}}}]}]}`,
		lost: []string{"hint turns.0.parts.0", "dropped turns.0.parts.1", "degraded turns.0"}, rules: []*loss.Rule{emptyText, codec.ForeignPart, heldTurn}},
	{name: "a turn of the user of which nothing is left, behind another", from: said(asked, asks(&content.Unknown{Format: elsewhere, Kind: "container_upload", Raw: `{}`})),
		want: question + `]}`, lost: []string{"dropped turns.1.parts.0", "hint turns.1"}, rules: []*loss.Rule{codec.ForeignPart, emptyTurn}},
	{name: "results in several turns", from: said(asked, replies(aCall, another),
		asks(&content.ToolResult{ID: "2", Parts: []content.Part{plainText("b")}}), asks(&content.ToolResult{ID: "1", Parts: []content.Part{plainText("a")}}), asks(plainText("go on"))),
		want: question + `,{"role":"model","parts":[{"functionCall":{"id":"1","name":"f","args":{"a":1}}},{"functionCall":{"id":"2","name":"g"}}]},` +
			`{"role":"user","parts":[{"functionResponse":{"id":"2","name":"g","response":{"output":"b"}}},{"functionResponse":{"id":"1","name":"f","response":{"output":"a"}}}]},` +
			`{"role":"user","parts":[{"text":"go on"}]}]}`,
		lost: []string{"hint turns.3"}, rules: []*loss.Rule{joinedResults}},
	{name: "calls of one id", from: said(asked, replies(&content.ToolUse{ID: "1", Name: "f"}, &content.ToolUse{ID: "1", Name: "g"}),
		asks(&content.ToolResult{ID: "1"}, &content.ToolResult{ID: "1"}, &content.ToolResult{ID: "1"})),
		want: question + `,{"role":"model","parts":[{"functionCall":{"id":"1","name":"f"}},{"functionCall":{"id":"1","name":"g"}}]},` +
			`{"role":"user","parts":[{"functionResponse":{"id":"1","name":"f","response":{}}},{"functionResponse":{"id":"1","name":"g","response":{}}},` +
			`{"functionResponse":{"id":"1","name":"f","response":{}}}]}]}`},
	{name: "a step in several turns", from: said(asked, replies(plainText("a")), content.Turn{Role: content.RoleAssistant, Parts: []content.Part{aCall}, Extra: extra(`{"x":1}`)},
		asks(&content.ToolResult{ID: "1"})),
		want: question + `,{"role":"model","parts":[{"text":"a"},{"functionCall":{"id":"1","name":"f","args":{"a":1}}}]},` +
			`{"role":"user","parts":[{"functionResponse":{"id":"1","name":"f","response":{}}}]}]}`,
		lost: []string{"hint turns.2", "dropped turns.2.extra"}, rules: []*loss.Rule{joinedCalls, joinedMembers}},
	{name: "an answer in pieces", from: said(asked, replies(plainText("a")), content.Turn{Role: content.RoleAssistant, Parts: []content.Part{plainText(" ")}, Extra: elsewheres(`{"x":1}`)},
		replies(plainText("b"))),
		want: question + `,{"role":"model","parts":[{"text":"a"},{"text":" "},{"text":"b"}]}]}`,
		lost: []string{"hint turns.2.extra"}, rules: []*loss.Rule{codec.ForeignMembers}},
	{name: "answers with members of their own", from: said(asked, replies(plainText("a")), content.Turn{Role: content.RoleAssistant, Parts: []content.Part{plainText("b")}, Extra: extra(`{"x":1}`)}),
		want: question + `,{"role":"model","parts":[{"text":"a"}]},{"role":"model","parts":[{"text":"b"}],"x":1}]}`},
	{name: "empty texts and turns", from: said(asked, replies(plainText("")), asks(plainText(""), plainText(" "))),
		want: question + `,{"role":"user","parts":[{"text":" "}]}]}`, lost: []string{"hint turns.1.parts.0", "hint turns.1", "hint turns.2.parts.0"},
		rules: []*loss.Rule{emptyText, emptyTurn, emptyText}},
	{name: "ids that are missing", from: said(asked, replies(&content.ToolUse{Name: "f"}, &content.ToolUse{Name: "g"}), asks(&content.ToolResult{}, &content.ToolResult{})),
		want: question + `,{"role":"model","parts":[{"functionCall":{"name":"f"}},{"functionCall":{"name":"g"}}]},` +
			`{"role":"user","parts":[{"functionResponse":{"name":"f","response":{}}},{"functionResponse":{"name":"g","response":{}}}]}]}`},
	{name: "an id that two steps have", from: said(asked, replies(aCall), asks(&content.ToolResult{ID: "1"}),
		replies(&content.ToolUse{ID: "1", Name: "g"}), asks(&content.ToolResult{ID: "1"})),
		want: question + `,{"role":"model","parts":[{"functionCall":{"id":"1","name":"f","args":{"a":1}}}]},{"role":"user","parts":[{"functionResponse":{"id":"1","name":"f","response":{}}}]},` +
			`{"role":"model","parts":[{"functionCall":{"id":"1","name":"g"}}]},{"role":"user","parts":[{"functionResponse":{"id":"1","name":"g","response":{}}}]}]}`},
	{name: "the call of a result is in another place", from: said(asked, replies(aCall), asked, replies(plainText("a")), asks(&content.ToolResult{ID: "1"})),
		want: question + `,{"role":"model","parts":[{"functionCall":{"id":"1","name":"f","args":{"a":1}}}]},{"role":"user","parts":[{"text":"q"}]},` +
			`{"role":"model","parts":[{"text":"a"}]},{"role":"user","parts":[{"functionResponse":{"id":"1","name":"f","response":{}}}]}]}`},

	{name: "thoughts", from: said(asked, replies(
		&content.Thinking{Text: "own", Signature: ownMark("YQ==")}, &content.Thinking{Text: "nobody's"},
		&content.Thinking{Signature: ownMark("Yg==")}, &content.Thinking{}, &content.Thinking{Text: "x", Signature: content.Signature{Format: elsewhere, Data: "c"}},
		&content.Thinking{Redacted: content.Signature{Format: elsewhere, Data: "d"}}, plainText("a"))),
		want: question + `,{"role":"model","parts":[{"text":"own","thought":true,"thoughtSignature":"YQ=="},{"text":"nobody's","thought":true},` +
			`{"text":"","thought":true,"thoughtSignature":"Yg=="},{"text":"a"}]}]}`,
		lost: []string{"hint turns.1.parts.3", "hint turns.1.parts.4", "hint turns.1.parts.5"}, rules: []*loss.Rule{emptyText, foreignThought, foreignThought}},
	{name: "carried signatures", from: said(asked, replies(
		neighbour(envelope.KindNextText, "YQ=="), plainText("a"), neighbour(envelope.KindPreviousText, "Yg=="), neighbour(envelope.KindNextCall, "Yw=="), aCall, neighbour(envelope.KindNextText, "ZA=="), &content.Image{Source: picture},
		neighbour(envelope.KindNextText, "ZQ==")), asks(&content.ToolResult{ID: "1"})),
		want: question + `,{"role":"model","parts":[{"text":"a","thoughtSignature":"YQ=="},{"text":"","thoughtSignature":"Yg=="},{"functionCall":{"id":"1","name":"f","args":{"a":1}},"thoughtSignature":"Yw=="},` +
			`{"text":"","thoughtSignature":"ZA=="},{"inlineData":{"mimeType":"image/png","data":"AAAA"}},{"text":"","thoughtSignature":"ZQ=="}]},` +
			`{"role":"user","parts":[{"functionResponse":{"id":"1","name":"f","response":{}}}]}]}`},
	{name: "a signature behind its part", from: said(asked, replies(plainText("a"), neighbour(envelope.KindPreviousText, "YQ=="))),
		want: question + `,{"role":"model","parts":[{"text":"a","thoughtSignature":"YQ=="}]}]}`},
	{name: "a signature of nothing", from: said(asked, replies(neighbour(envelope.KindPreviousText, "YQ=="))),
		want: question + `,{"role":"model","parts":[{"text":"","thoughtSignature":"YQ=="}]}]}`},
	{name: "signatures in turns of their own", target: Target{SignedCalls: true}, from: said(asked, replies(neighbour(envelope.KindNextCall, "YQ==")), replies(aCall),
		replies(&content.Text{Text: "a"}), replies(neighbour(envelope.KindPreviousText, "Yg==")), asks(&content.ToolResult{ID: "1"}),
		replies(another), replies(neighbour(envelope.KindPreviousCall, "Yw==")), asks(&content.ToolResult{ID: "2"})),
		want: question + `,{"role":"model","parts":[{"functionCall":{"id":"1","name":"f","args":{"a":1}},"thoughtSignature":"YQ=="},{"text":"a","thoughtSignature":"Yg=="}]},` +
			`{"role":"user","parts":[{"functionResponse":{"id":"1","name":"f","response":{}}}]},{"role":"model","parts":[{"functionCall":{"id":"2","name":"g"},"thoughtSignature":"Yw=="}]},` +
			`{"role":"user","parts":[{"functionResponse":{"id":"2","name":"g","response":{}}}]}]}`,
		lost: []string{"hint turns.3"}, rules: []*loss.Rule{joinedCalls}},
	{name: "a signature of a text that is gone, before a call", from: said(asked, replies(neighbour(envelope.KindNextText, "YQ=="), aCall, neighbour(envelope.KindPreviousText, "Yg==")), asks(&content.ToolResult{ID: "1"})),
		want: question + `,{"role":"model","parts":[{"text":"","thoughtSignature":"YQ=="},{"functionCall":{"id":"1","name":"f","args":{"a":1}}},{"text":"","thoughtSignature":"Yg=="}]},` +
			`{"role":"user","parts":[{"functionResponse":{"id":"1","name":"f","response":{}}}]}]}`},
	{name: "signatures whose parts are gone", from: said(asked, replies(neighbour(envelope.KindNextText, "YQ=="), &content.Thinking{Text: "b"}, neighbour(envelope.KindPreviousText, "Yg=="), neighbour(envelope.KindNextCall, "Yw=="), neighbour(envelope.KindNextCall, "ZA=="), aCall),
		asks(&content.ToolResult{ID: "1"}, neighbour(envelope.KindPreviousText, "ZQ==")), replies(neighbour(envelope.KindPreviousText, "Zg=="))),
		want: question + `,{"role":"model","parts":[{"text":"","thoughtSignature":"YQ=="},{"text":"b","thought":true},{"text":"","thoughtSignature":"Yg=="},{"text":"","thoughtSignature":"Yw=="},` +
			`{"functionCall":{"id":"1","name":"f","args":{"a":1}},"thoughtSignature":"ZA=="}]},{"role":"user","parts":[{"functionResponse":{"id":"1","name":"f","response":{}}}]},` +
			`{"role":"model","parts":[{"text":"","thoughtSignature":"Zg=="}]}]}`,
		lost: []string{"hint turns.2.parts.1"}, rules: []*loss.Rule{foreignThought}},
	{name: "a signature of another vendor", from: said(asked, replies(&content.ToolUse{ID: "1", Name: "f", Signature: content.Signature{Format: elsewhere, Data: "x"}}), asks(&content.ToolResult{ID: "1"})),
		want: question + `,{"role":"model","parts":[{"functionCall":{"id":"1","name":"f"}}]},{"role":"user","parts":[{"functionResponse":{"id":"1","name":"f","response":{}}}]}]}`,
		lost: []string{"hint turns.1.parts.0.signature"}},
	{name: "calls without a signature", target: Target{SignedCalls: true}, from: said(asked, replies(aCall), asks(&content.ToolResult{ID: "1"}), replies(plainText("a")), asked,
		replies(plainText("b"), &content.ToolUse{ID: "1", Name: "f"}, another), asks(&content.ToolResult{ID: "1"}, &content.ToolResult{ID: "2"}),
		replies(&content.ToolUse{ID: "1", Name: "f", Signature: ownMark("YQ==")}), asks(&content.ToolResult{ID: "1"})),
		want: question + `,{"role":"model","parts":[{"functionCall":{"id":"1","name":"f","args":{"a":1}},"thoughtSignature":"` + bypass + `"}]},` +
			`{"role":"user","parts":[{"functionResponse":{"id":"1","name":"f","response":{}}}]},{"role":"model","parts":[{"text":"a"}]},{"role":"user","parts":[{"text":"q"}]},` +
			`{"role":"model","parts":[{"text":"b"},{"functionCall":{"id":"1","name":"f"},"thoughtSignature":"` + bypass + `"},{"functionCall":{"id":"2","name":"g"}}]},` +
			`{"role":"user","parts":[{"functionResponse":{"id":"1","name":"f","response":{}}},{"functionResponse":{"id":"2","name":"g","response":{}}}]},` +
			`{"role":"model","parts":[{"functionCall":{"id":"1","name":"f"},"thoughtSignature":"YQ=="}]},{"role":"user","parts":[{"functionResponse":{"id":"1","name":"f","response":{}}}]}]}`,
		lost: []string{"hint turns.1.parts.0.signature", "degraded turns.5.parts.1.signature"}, rules: []*loss.Rule{lostEarlier, lostThought}},
}
