package generatecontent

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/loss"
)

func oneTurn(parts string) string {
	return `{"contents":[{"role":"user","parts":[` + parts + `]}]}`
}

const (
	callTurn   = question + `,{"role":"model","parts":[{"functionCall":{"id":"1","name":"f","args":{"a":1}}}]},{"role":"user","parts":[`
	inlinePNG  = `{"inlineData":{"mimeType":"image/png","data":"AAAA"}}`
	resultOpen = `{"functionResponse":{"id":"1","name":"f","response":`
)

// How parts become parts.
var partMappings = []mapping{
	{name: "what stands beside a text", from: says(&content.Text{Text: "a", Citations: []content.Citation{{Kind: content.CiteWeb}},
		Signature: content.Signature{Format: elsewhere, Data: "x"}, Cache: &content.Cache{}, Extra: elsewheres(`{"x":1}`)}),
		want: oneTurn(`{"text":"a"}`), lost: []string{"hint turns.0.parts.0.signature", "hint turns.0.parts.0.cache", "hint turns.0.parts.0.extra", "hint turns.0.parts.0.citations"},
		rules: []*loss.Rule{codec.ForeignSignature, cacheMark, codec.ForeignMembers, earlierCitations}},
	{name: "links", from: says(&content.Image{Source: &content.URL{URL: "https://a.example/x.PNG?q=1"}}, &content.Document{Source: &content.URL{URL: "https://a.example/x.png"}},
		&content.Image{Source: &content.URL{URL: "https://a.example/x", MediaType: "image/webp"}}),
		want: oneTurn(`{"fileData":{"mimeType":"image/png","fileUri":"https://a.example/x.PNG?q=1"}},{"fileData":{"mimeType":"application/pdf","fileUri":"https://a.example/x.png"}},` +
			`{"fileData":{"mimeType":"image/webp","fileUri":"https://a.example/x"}}`),
		lost: []string{"degraded turns.0.parts.0.source.media_type"}, rules: []*loss.Rule{guessedType}},
	{name: "links that are fetched", target: Target{FilesInlined: true}, from: says(&content.Image{Source: &content.URL{URL: "https://a.example/x"}}, &content.Image{Source: &content.File{ID: "file_1"}}),
		want: oneTurn(`{"fileData":{"fileUri":"https://a.example/x"}},{"fileData":{"fileUri":"file_1"}}`)},
	{name: "files", from: says(&content.Image{Source: &content.File{ID: "file_1"}}, &content.Document{Source: &content.File{ID: "https://generativelanguage.googleapis.com/v1beta/files/x"}}, plainText("q")),
		want: oneTurn(`{"fileData":{"fileUri":"https://generativelanguage.googleapis.com/v1beta/files/x"}},{"text":"q"}`),
		lost: []string{"dropped turns.0.parts.0.source"}, rules: []*loss.Rule{foreignFile}},
	{name: "a file that only its bytes tell", from: says(&content.Media{Source: &content.Base64{Data: pngData}}, &content.Image{Source: &content.Base64{Data: pngData}}),
		want: oneTurn(`{"inlineData":{"mimeType":"image/png","data":"` + pngData + `"}},{"inlineData":{"mimeType":"image/png","data":"` + pngData + `"}}`),
		lost: []string{"hint turns.0.parts.0.source.media_type", "hint turns.0.parts.1.source.media_type"}, rules: []*loss.Rule{detectedType, detectedType}},
	{name: "documents", from: says(
		&content.Document{Title: "T", Context: "C", Citations: true, Source: &content.PlainText{Text: "hi"}},
		&content.Document{Source: &content.Parts{Parts: []content.Part{plainText("one"), &content.Image{Source: picture}}}},
		&content.Document{Source: &content.PlainText{}}),
		want:  oneTurn(`{"text":"T\nC"},{"inlineData":{"mimeType":"text/plain","data":"aGk="}},{"text":"one"},` + inlinePNG),
		lost:  []string{"dropped turns.0.parts.0.citations", "degraded turns.0.parts.0", "degraded turns.0.parts.1.source", "hint turns.0.parts.2"},
		rules: []*loss.Rule{documentCitations, documentTitle, documentParts, emptyText}},
	{name: "search results", from: says(&content.SearchResult{Title: "t", Source: "src", Citations: true, Parts: []content.Part{plainText("found")}}, &content.SearchResult{Parts: []content.Part{plainText("x")}}),
		want: oneTurn(`{"text":"t\nsrc"},{"text":"found"},{"text":"x"}`),
		lost: []string{"degraded turns.0.parts.0", "dropped turns.0.parts.0.citations", "degraded turns.0.parts.1"}, rules: []*loss.Rule{searchResult, documentCitations, searchResult}},
	{name: "parts of other vendors", from: says(plainText("q"), &content.ServerToolUse{Format: elsewhere, Kind: "server_tool_use"},
		&content.ServerToolResult{Format: elsewhere, Kind: "web_search_tool_result"}, &content.Unknown{Format: elsewhere, Kind: "x", Raw: `{}`}),
		want: oneTurn(`{"text":"q"}`), lost: []string{"dropped turns.0.parts.1", "dropped turns.0.parts.2", "dropped turns.0.parts.3"},
		rules: []*loss.Rule{codec.ForeignPart, codec.ForeignPart, codec.ForeignPart}},

	{name: "a result of several parts", from: said(asked, replies(aCall), asks(&content.ToolResult{ID: "1", Parts: []content.Part{&content.Image{Source: picture}, plainText("a"), plainText("b")}})),
		want: callTurn + resultOpen + `{"output":"a\nb"},"parts":[` + inlinePNG + `]}}]}]}`,
		lost: []string{"degraded turns.2.parts.0.parts"}, rules: []*loss.Rule{resultTextsJoined}},
	{name: "files beside results", target: Target{FilesAfterResults: true}, from: said(asked, replies(aCall),
		asks(&content.ToolResult{ID: "1", Parts: []content.Part{plainText("a"), &content.Image{Source: picture}, &content.Document{Source: picture}}}, plainText("go on"))),
		want: callTurn + resultOpen + `{"output":"a"}}},` + inlinePNG + `,` + inlinePNG + `,{"text":"go on"}]}]}`,
		lost: []string{"degraded turns.2.parts.0.parts"}, rules: []*loss.Rule{resultFiles}},
	{name: "a failed tool", from: said(asked, replies(aCall), asks(&content.ToolResult{ID: "1", Error: true, Parts: []content.Part{plainText("no")}, Cache: &content.Cache{}})),
		want: callTurn + resultOpen + `{"error":"no"}}}]}]}`, lost: []string{"hint turns.2.parts.0.cache"}},
	{name: "a failed tool that says nothing", from: said(asked, replies(aCall), asks(&content.ToolResult{ID: "1", Error: true})),
		want: callTurn + resultOpen + `{"error":""}}}]}]}`},
	{name: "an object", from: said(asked, replies(aCall), asks(&content.ToolResult{ID: "1", Object: `{"b": [1.0]}`})),
		want: callTurn + resultOpen + `{"b": [1.0]}}}]}]}`},
	{name: "a document in a result", from: said(asked, replies(aCall), asks(&content.ToolResult{ID: "1", Parts: []content.Part{plainText("a"),
		&content.Document{Title: "T", Source: &content.Base64{MediaType: "application/pdf", Data: "AAAA"}}}})),
		want: callTurn + resultOpen + `{"output":"a\nT"},"parts":[{"inlineData":{"mimeType":"application/pdf","data":"AAAA"}}]}}]}]}`,
		lost: []string{"degraded turns.2.parts.0.parts.1", "degraded turns.2.parts.0.parts"}, rules: []*loss.Rule{documentTitle, resultTextsJoined}},
}
