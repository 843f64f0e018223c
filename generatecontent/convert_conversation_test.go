package generatecontent

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/lower"
	"github.com/polywire/polywire/upstream"
)

const question = `{"contents":[{"role":"user","parts":[{"text":"q"}]}`

var asked = userTurn(plainText("q"))

// clearedSystemTurn returns a system text of Messages that applies until the next user
// message.
func clearedSystemTurn(text string) content.Turn {
	return content.Turn{Role: content.RoleSystem, Parts: []content.Part{plainText(text)}, Extra: foreignExtra(`{"clear_at":"next_user_message"}`)}
}

// turnMappings convert turns.
var turnMappings = []mapping{
	{name: "system text", from: &upstream.Request{System: []content.Part{plainText("a"), &content.Text{Text: "b", Cache: &content.Cache{}}, plainText("")}},
		want: `,"systemInstruction":{"parts":[{"text":"a"},{"text":"b"}]}`, lost: []string{"hint system.1.cache", "hint system.2"}},
	{name: "file in system text", from: &upstream.Request{System: []content.Part{&content.Image{Source: picture}}},
		lost: []string{"dropped system.0"}, rules: []*loss.Rule{lower.SystemFile}},
	{name: "system turn", from: requestOf(asked, content.Turn{Role: content.RoleSystem, Parts: []content.Part{plainText("s")}}, replies(plainText("a"))),
		want: question + `,{"role":"user","parts":[{"text":"s"}]},{"role":"model","parts":[{"text":"a"}]}]}`,
		lost: []string{"degraded turns.1"}, rules: []*loss.Rule{lower.SystemTurn}},
	{name: "system text until the next user message", from: requestOf(asked, clearedSystemTurn("gone"), replies(plainText("a")), asked, clearedSystemTurn("now")),
		want: question + `,{"role":"model","parts":[{"text":"a"}]},{"role":"user","parts":[{"text":"q"}]},{"role":"user","parts":[{"text":"now"}]}]}`,
		lost: []string{"degraded turns.4"}, rules: []*loss.Rule{lower.SystemTurn}},
	{name: "system text until the next user message, after tool results", target: signedCalls,
		from: requestOf(asked, replies(aCall), userTurn(&content.ToolResult{ID: "1"}), clearedSystemTurn("gone"), replies(another), userTurn(&content.ToolResult{ID: "2"})),
		want: question + `,{"role":"model","parts":[{"functionCall":{"id":"1","name":"f","args":{"a":1}},"thoughtSignature":"` + PlaceholderSignature + `"}]},{"role":"user","parts":[{"functionResponse":{"id":"1","name":"f","response":{}}}]},` +
			`{"role":"model","parts":[{"functionCall":{"id":"2","name":"g"},"thoughtSignature":"` + PlaceholderSignature + `"}]},{"role":"user","parts":[{"functionResponse":{"id":"2","name":"g","response":{}}}]}]}`,
		lost: []string{"degraded turns.1.parts.0.signature", "degraded turns.4.parts.0.signature"}},
	{name: "empty system turns", from: requestOf(asked, content.Turn{Role: content.RoleSystem, Extra: foreignExtra(`{"output_config":{"effort":"low"}}`)},
		content.Turn{Role: content.RoleSystem, Parts: []content.Part{&content.Unknown{Format: foreignFormat, Kind: "tool_addition", Raw: `{}`}}}),
		want: question + `]}`, lost: []string{"dropped turns.1.extra.output_config", "degraded turns.2", "dropped turns.2.parts.0"},
		rules: []*loss.Rule{foreign.SettingLoss, lower.SystemTurn, lower.SystemFile}},
	{name: "user turn without parts that can be represented", from: requestOf(userTurn(plainText(""), &content.Unknown{Format: foreignFormat, Kind: "container_upload", Raw: `{}`}), replies(aCall), userTurn(&content.ToolResult{ID: "1"})),
		want: `{"contents":[{"role":"user","parts":[{"text":"[Here was something that you cannot be shown.]"}]},{"role":"model","parts":[{"functionCall":{"id":"1","name":"f","args":{"a":1}}}]},` +
			`{"role":"user","parts":[{"functionResponse":{"id":"1","name":"f","response":{}}}]}]}`,
		lost: []string{"degraded turns.0", "hint turns.0.parts.0", "dropped turns.0.parts.1"}, rules: []*loss.Rule{lower.TurnPlaceholder, lower.EmptyText, lower.UnknownPart}},
	{name: "user turn without parts that can be represented, after another", from: requestOf(asked, userTurn(&content.Unknown{Format: foreignFormat, Kind: "container_upload", Raw: `{}`})),
		want: question + `]}`, lost: []string{"dropped turns.1.parts.0"}, rules: []*loss.Rule{lower.UnknownPart}},
	{name: "results in several turns", from: requestOf(asked, replies(aCall, another),
		userTurn(&content.ToolResult{ID: "2", Parts: []content.Part{plainText("b")}}), userTurn(&content.ToolResult{ID: "1", Parts: []content.Part{plainText("a")}}), userTurn(plainText("go on"))),
		want: question + `,{"role":"model","parts":[{"functionCall":{"id":"1","name":"f","args":{"a":1}}},{"functionCall":{"id":"2","name":"g"}}]},` +
			`{"role":"user","parts":[{"functionResponse":{"id":"2","name":"g","response":{"output":"b"}}},{"functionResponse":{"id":"1","name":"f","response":{"output":"a"}}}]},` +
			`{"role":"user","parts":[{"text":"go on"}]}]}`},
	{name: "tool calls with equal ids", from: requestOf(asked, replies(&content.ToolUse{ID: "1", Name: "f"}, &content.ToolUse{ID: "1", Name: "g"}),
		userTurn(&content.ToolResult{ID: "1"}, &content.ToolResult{ID: "1"}, &content.ToolResult{ID: "1"})),
		want: question + `,{"role":"model","parts":[{"functionCall":{"id":"1","name":"f"}},{"functionCall":{"id":"1","name":"g"}}]},` +
			`{"role":"user","parts":[{"functionResponse":{"id":"1","name":"f","response":{}}},{"functionResponse":{"id":"1","name":"g","response":{}}},` +
			`{"text":"Result of a tool:"}]}]}`, lost: []string{"degraded turns.2.parts.2"}, rules: []*loss.Rule{lower.ResultOrphan}},
	{name: "step in several turns", from: requestOf(asked, replies(plainText("a")), content.Turn{Role: content.RoleAssistant, Parts: []content.Part{aCall}, Extra: extra(`{"x":1}`)},
		userTurn(&content.ToolResult{ID: "1"})),
		want: question + `,{"role":"model","parts":[{"text":"a"},{"functionCall":{"id":"1","name":"f","args":{"a":1}}}],"x":1},` +
			`{"role":"user","parts":[{"functionResponse":{"id":"1","name":"f","response":{}}}]}]}`,
		lost: []string{"hint turns.2"}, rules: []*loss.Rule{lower.TurnsJoined}},
	{name: "response in pieces", from: requestOf(asked, replies(plainText("a")), content.Turn{Role: content.RoleAssistant, Parts: []content.Part{plainText(" ")}, Extra: foreignExtra(`{"x":1}`)},
		replies(plainText("b"))),
		want: question + `,{"role":"model","parts":[{"text":"a"},{"text":" "},{"text":"b"}]}]}`,
		lost: []string{"hint turns.2.extra"}, rules: []*loss.Rule{foreign.MembersLoss}},
	{name: "assistant turns with extra members", from: requestOf(asked, content.Turn{Role: content.RoleAssistant, Parts: []content.Part{plainText("a")}, Extra: extra(`{"x":1}`)},
		content.Turn{Role: content.RoleAssistant, Parts: []content.Part{plainText("b")}, Extra: extra(`{"y":1}`)}),
		want: question + `,{"role":"model","parts":[{"text":"a"},{"text":"b"}],"x":1}]}`, lost: []string{"dropped turns.2.extra"}, rules: []*loss.Rule{lower.TurnMembers}},
	{name: "empty texts and turns", from: requestOf(asked, replies(plainText("")), userTurn(plainText(""), plainText(" "))),
		want: question + `,{"role":"user","parts":[{"text":" "}]}]}`, lost: []string{"hint turns.1.parts.0", "hint turns.2.parts.0"},
		rules: []*loss.Rule{lower.EmptyText, lower.EmptyText}},
	{name: "missing ids", from: requestOf(asked, replies(&content.ToolUse{Name: "f"}, &content.ToolUse{Name: "g"}), userTurn(&content.ToolResult{}, &content.ToolResult{})),
		want: question + `,{"role":"model","parts":[{"functionCall":{"name":"f"}},{"functionCall":{"name":"g"}}]},` +
			`{"role":"user","parts":[{"functionResponse":{"name":"f","response":{}}},{"functionResponse":{"name":"g","response":{}}}]}]}`},
	{name: "equal ids in two steps", from: requestOf(asked, replies(aCall), userTurn(&content.ToolResult{ID: "1"}),
		replies(&content.ToolUse{ID: "1", Name: "g"}), userTurn(&content.ToolResult{ID: "1"})),
		want: question + `,{"role":"model","parts":[{"functionCall":{"id":"1","name":"f","args":{"a":1}}}]},{"role":"user","parts":[{"functionResponse":{"id":"1","name":"f","response":{}}}]},` +
			`{"role":"model","parts":[{"functionCall":{"id":"1","name":"g"}}]},{"role":"user","parts":[{"functionResponse":{"id":"1","name":"g","response":{}}}]}]}`},
	{name: "result far from its tool call", from: requestOf(asked, replies(aCall), asked, replies(plainText("a")), userTurn(&content.ToolResult{ID: "1"})),
		want: question + `,{"role":"model","parts":[{"functionCall":{"id":"1","name":"f","args":{"a":1}}}]},` +
			`{"role":"user","parts":[{"functionResponse":{"id":"1","name":"f","response":{"error":"There is no result of this call."}}}]},{"role":"user","parts":[{"text":"q"}]},` +
			`{"role":"model","parts":[{"text":"a"}]},{"role":"user","parts":[{"text":"Result of a tool:"}]}]}`,
		lost: []string{"degraded turns.1.parts.0", "degraded turns.4.parts.0"}, rules: []*loss.Rule{lower.ResultMissing, lower.ResultOrphan}},

	{name: "thinking", from: requestOf(asked, replies(
		&content.Thinking{Text: "own", Signature: ownMark("YQ==")}, &content.Thinking{Text: "unsigned"},
		&content.Thinking{Signature: ownMark("Yg==")}, &content.Thinking{}, &content.Thinking{Text: "x", Signature: content.Signature{Format: foreignFormat, Data: "c"}},
		&content.Thinking{Redacted: content.Signature{Format: foreignFormat, Data: "d"}}, plainText("a"))),
		want: question + `,{"role":"model","parts":[{"text":"own","thought":true,"thoughtSignature":"YQ=="},{"text":"unsigned","thought":true},` +
			`{"text":"","thought":true,"thoughtSignature":"Yg=="},{"text":"a"}]}]}`,
		lost: []string{"hint turns.1.parts.3", "hint turns.1.parts.4", "hint turns.1.parts.5"}, rules: []*loss.Rule{lower.Thinking, lower.Thinking, lower.Thinking}},
	{name: "signature of another vendor", from: requestOf(asked, replies(&content.ToolUse{ID: "1", Name: "f", Signature: content.Signature{Format: foreignFormat, Data: "x"}}), userTurn(&content.ToolResult{ID: "1"})),
		want: question + `,{"role":"model","parts":[{"functionCall":{"id":"1","name":"f"}}]},{"role":"user","parts":[{"functionResponse":{"id":"1","name":"f","response":{}}}]}]}`,
		lost: []string{"hint turns.1.parts.0.signature"}},
	{name: "tool calls without signatures", target: signedCalls, from: requestOf(asked, replies(aCall), userTurn(&content.ToolResult{ID: "1"}), replies(plainText("a")), asked,
		replies(plainText("b"), &content.ToolUse{ID: "1", Name: "f"}, another), userTurn(&content.ToolResult{ID: "1"}, &content.ToolResult{ID: "2"}),
		replies(&content.ToolUse{ID: "1", Name: "f", Signature: ownMark("YQ==")}), userTurn(&content.ToolResult{ID: "1"})),
		want: question + `,{"role":"model","parts":[{"functionCall":{"id":"1","name":"f","args":{"a":1}},"thoughtSignature":"` + PlaceholderSignature + `"}]},` +
			`{"role":"user","parts":[{"functionResponse":{"id":"1","name":"f","response":{}}}]},{"role":"model","parts":[{"text":"a"}]},{"role":"user","parts":[{"text":"q"}]},` +
			`{"role":"model","parts":[{"text":"b"},{"functionCall":{"id":"1","name":"f"},"thoughtSignature":"` + PlaceholderSignature + `"},{"functionCall":{"id":"2","name":"g"}}]},` +
			`{"role":"user","parts":[{"functionResponse":{"id":"1","name":"f","response":{}}},{"functionResponse":{"id":"2","name":"g","response":{}}}]},` +
			`{"role":"model","parts":[{"functionCall":{"id":"1","name":"f"},"thoughtSignature":"YQ=="}]},{"role":"user","parts":[{"functionResponse":{"id":"1","name":"f","response":{}}}]}]}`,
		lost: []string{"hint turns.1.parts.0.signature", "degraded turns.5.parts.1.signature"}, rules: []*loss.Rule{lower.CallSignatureEarlier, lower.CallSignature}},
	{name: "call of another vendor's model, which has not thought", target: signedCalls, from: ofMessages(requestOf(asked, replies(aCall), userTurn(&content.ToolResult{ID: "1"}))),
		want: question + `,{"role":"model","parts":[{"functionCall":{"id":"1","name":"f","args":{"a":1}},"thoughtSignature":"` + PlaceholderSignature + `"}]},` +
			`{"role":"user","parts":[{"functionResponse":{"id":"1","name":"f","response":{}}}]}]}`,
		lost: []string{"hint turns.1.parts.0.signature"}, rules: []*loss.Rule{lower.CallSignatureEarlier}},
	{name: "call of another vendor's model, which has thought", target: signedCalls, from: ofMessages(requestOf(asked, replies(&content.Thinking{Text: "a"}, aCall), userTurn(&content.ToolResult{ID: "1"}))),
		want: question + `,{"role":"model","parts":[{"text":"a","thought":true},{"functionCall":{"id":"1","name":"f","args":{"a":1}},"thoughtSignature":"` + PlaceholderSignature + `"}]},` +
			`{"role":"user","parts":[{"functionResponse":{"id":"1","name":"f","response":{}}}]}]}`,
		lost: []string{"degraded turns.1.parts.1.signature"}, rules: []*loss.Rule{lower.CallSignature}},
}

// ofMessages returns a request as of a Messages client.
func ofMessages(n *upstream.Request) *upstream.Request {
	n.Defaults.Format = foreignFormat
	return n
}

func oneTurn(parts string) string {
	return `{"contents":[{"role":"user","parts":[` + parts + `]}]}`
}

const (
	callTurn   = question + `,{"role":"model","parts":[{"functionCall":{"id":"1","name":"f","args":{"a":1}}}]},{"role":"user","parts":[`
	inlinePNG  = `{"inlineData":{"mimeType":"image/png","data":"AAAA"}}`
	resultOpen = `{"functionResponse":{"id":"1","name":"f","response":`
)

// partMappings convert parts.
var partMappings = []mapping{
	{name: "text with signature, cache mark and extra members", from: userRequest(&content.Text{Text: "a", Citations: []content.Citation{{Kind: content.CiteWeb}},
		Signature: content.Signature{Format: foreignFormat, Data: "x"}, Cache: &content.Cache{}, Extra: foreignExtra(`{"x":1}`)}),
		want: oneTurn(`{"text":"a"}`), lost: []string{"hint turns.0.parts.0.extra", "hint turns.0.parts.0.signature", "hint turns.0.parts.0.citations", "hint turns.0.parts.0.cache"},
		rules: []*loss.Rule{foreign.MembersLoss, lower.Signature, lower.TextCitations, lower.CacheMark}},
	{name: "links", from: userRequest(&content.Image{Source: &content.URL{URL: "https://a.example/x.PNG?q=1"}}, &content.Document{Source: &content.URL{URL: "https://a.example/x.png"}},
		&content.Image{Source: &content.URL{URL: "https://a.example/x", MediaType: "image/webp"}}),
		want: oneTurn(`{"fileData":{"mimeType":"image/png","fileUri":"https://a.example/x.PNG?q=1"}},{"fileData":{"mimeType":"application/pdf","fileUri":"https://a.example/x.png"}},` +
			`{"fileData":{"mimeType":"image/webp","fileUri":"https://a.example/x"}}`),
		lost: []string{"degraded turns.0.parts.0.source.media_type"}, rules: []*loss.Rule{lower.LinkType}},
	{name: "links that are inlined", target: filesLoaded, from: userRequest(&content.Image{Source: &content.URL{URL: "https://a.example/x"}}, &content.Image{Source: &content.File{ID: "file_1"}}),
		want: oneTurn(`{"fileData":{"fileUri":"https://a.example/x"}},{"fileData":{"fileUri":"file_1"}}`)},
	{name: "files", from: userRequest(&content.Image{Source: &content.File{ID: "file_1"}}, &content.Document{Source: &content.File{ID: "https://generativelanguage.googleapis.com/v1beta/files/x"}}, plainText("q")),
		want: oneTurn(`{"fileData":{"fileUri":"https://generativelanguage.googleapis.com/v1beta/files/x"}},{"text":"q"}`),
		lost: []string{"dropped turns.0.parts.0.source"}, rules: []*loss.Rule{lower.FileStored}},
	{name: "file without media type", from: userRequest(&content.Media{Source: &content.Base64{Data: pngData}}, &content.Image{Source: &content.Base64{Data: pngData}}),
		want: oneTurn(`{"inlineData":{"mimeType":"image/png","data":"` + pngData + `"}},{"inlineData":{"mimeType":"image/png","data":"` + pngData + `"}}`),
		lost: []string{"hint turns.0.parts.0.source.media_type", "hint turns.0.parts.1.source.media_type"}, rules: []*loss.Rule{lower.FileType, lower.FileType}},
	{name: "documents", from: userRequest(
		&content.Document{Title: "T", Context: "C", Citations: true, Source: &content.PlainText{Text: "hi"}},
		&content.Document{Source: &content.Parts{Parts: []content.Part{plainText("one"), &content.Image{Source: picture}}}},
		&content.Document{Source: &content.PlainText{}}),
		want:  oneTurn(`{"text":"Document: T\nAbout the document: C"},{"inlineData":{"mimeType":"text/plain","data":"aGk="}},{"text":"one"},` + inlinePNG),
		lost:  []string{"dropped turns.0.parts.0.citations", "degraded turns.0.parts.0", "degraded turns.0.parts.1.source", "hint turns.0.parts.2"},
		rules: []*loss.Rule{lower.DocumentCitations, lower.DocumentTitle, lower.DocumentParts, lower.EmptyText}},
	{name: "search results", from: userRequest(&content.SearchResult{Title: "t", Source: "src", Citations: true, Parts: []content.Part{plainText("found")}}, &content.SearchResult{Parts: []content.Part{plainText("x")}}),
		want: oneTurn(`{"text":"Search result: t\nSource: src"},{"text":"found"},{"text":"Search result: "},{"text":"x"}`),
		lost: []string{"dropped turns.0.parts.0.citations", "degraded turns.0.parts.0", "degraded turns.0.parts.1"}, rules: []*loss.Rule{lower.DocumentCitations, lower.SearchResult, lower.SearchResult}},
	{name: "blocks of another vendor with a text form", from: userRequest(&content.Unknown{Format: foreignFormat, Kind: "compaction", Raw: `{"type":"compaction","content":"s"}`},
		&content.Unknown{Format: foreignFormat, Kind: "tool_reference", Raw: `{"type":"tool_reference","tool_name":"f"}`}),
		want: oneTurn(`{"text":"Summary of the conversation so far:\n\ns"},{"text":"Loaded tool: f"}`), lost: []string{"degraded turns.0.parts.0", "hint turns.0.parts.1"},
		rules: []*loss.Rule{foreign.SummaryAsText, foreign.ReferenceAsText}},
	{name: "parts of other vendors", from: userRequest(plainText("q"), &content.ServerToolUse{Format: foreignFormat, Kind: "server_tool_use"},
		&content.ServerToolResult{Format: foreignFormat, Kind: "web_search_tool_result"}, &content.Unknown{Format: foreignFormat, Kind: "x", Raw: `{}`}),
		want: oneTurn(`{"text":"q"}`), lost: []string{"dropped turns.0.parts.1", "dropped turns.0.parts.2", "dropped turns.0.parts.3"},
		rules: []*loss.Rule{lower.VendorPart, lower.VendorPart, lower.UnknownPart}},

	{name: "result of several parts", from: requestOf(asked, replies(aCall), userTurn(&content.ToolResult{ID: "1", Parts: []content.Part{&content.Image{Source: picture}, plainText("a"), plainText("b")}})),
		want: callTurn + resultOpen + `{"output":"a\n\nb"},"parts":[` + inlinePNG + `]}}]}]}`,
		lost: []string{"hint turns.2.parts.0"}, rules: []*loss.Rule{lower.ResultParts}},
	{name: "files after results", target: filesApart, from: requestOf(asked, replies(aCall),
		userTurn(&content.ToolResult{ID: "1", Parts: []content.Part{plainText("a"), &content.Image{Source: picture}, &content.Document{Source: picture}}}, plainText("go on"))),
		want: callTurn + resultOpen + `{"output":"a"}}},{"text":"Files of the result of the call 1 of f:"},` + inlinePNG + `,` + inlinePNG + `,{"text":"go on"}]}]}`,
		lost: []string{"degraded turns.2.parts.0.parts.1", "degraded turns.2.parts.0.parts.2"}, rules: []*loss.Rule{lower.ResultImage, lower.ResultFile}},
	{name: "failed tool call", from: requestOf(asked, replies(aCall), userTurn(&content.ToolResult{ID: "1", Error: true, Parts: []content.Part{plainText("no")}, Cache: &content.Cache{}})),
		want: callTurn + resultOpen + `{"error":"no"}}}]}]}`, lost: []string{"hint turns.2.parts.0.cache"}},
	{name: "failed tool call without text", from: requestOf(asked, replies(aCall), userTurn(&content.ToolResult{ID: "1", Error: true})),
		want: callTurn + resultOpen + `{"error":""}}}]}]}`},
	{name: "result object", from: requestOf(asked, replies(aCall), userTurn(&content.ToolResult{ID: "1", Object: `{"b": [1.0]}`})),
		want: callTurn + resultOpen + `{"b": [1.0]}}}]}]}`},
	{name: "document in a result", from: requestOf(asked, replies(aCall), userTurn(&content.ToolResult{ID: "1", Parts: []content.Part{plainText("a"),
		&content.Document{Title: "T", Source: &content.Base64{MediaType: "application/pdf", Data: "AAAA"}}}})),
		want: callTurn + resultOpen + `{"output":"a\n\nDocument: T"},"parts":[{"inlineData":{"mimeType":"application/pdf","data":"AAAA"}}]}}]}]}`,
		lost: []string{"hint turns.2.parts.0", "degraded turns.2.parts.0.parts.1"}, rules: []*loss.Rule{lower.ResultParts, lower.DocumentTitle}},
}
