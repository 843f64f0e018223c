package generatecontent

import (
	"context"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII="

// answers are upstreams that say everything there is, and what is lost of it:
// severity and path.
var answers = []struct {
	name   string
	up     upstream.Func
	losses []string
}{
	{name: "nothing", up: func(context.Context, *upstream.Request, *upstream.Writer) error { return nil }},
	{name: "text", up: func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		_ = w.Start(upstream.Start{ID: "r-up", Model: "up-1"})
		_ = w.Usage(content.Usage{Input: 12})
		_ = w.Text("A \"quoted\"\nline\u2028 and \x00\xff")
		_ = w.Text(" more")
		_ = w.Usage(content.Usage{Input: 12, CacheRead: 3, Output: 6, Thinking: 7, ToolPrompt: 8, Modalities: []content.ModalityCount{
			{Kind: "prompt", Modality: "TEXT", Tokens: 11}, {Kind: "output", Modality: "image", Tokens: 6}, {Kind: "prompt", Modality: "IMAGE", Tokens: 1}},
			Extra: extra(`{"serviceTier":"flex"}`)})
		return w.Stop(upstream.Stop{Reason: content.StopSequence, Sequence: "END"})
	}, losses: []string{"hint stop"}},
	{name: "thinking", up: func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		_ = w.Thinking("Let me ")
		_ = w.Thinking("see.")
		_ = w.Signature(signed("c2ln"))
		_ = w.Part(&content.Thinking{Signature: signed("b21pdHRlZA")})
		_ = w.Part(&content.Thinking{})
		_ = w.Thinking("unsigned")
		_ = w.Text("Yes.")
		return w.Signature(signed("_-8="))
	}},
	{name: "foreign signatures", up: func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		_ = w.Thinking("Hm")
		_ = w.Signature(content.Signature{Format: "other", Data: "x"})
		_ = w.Part(&content.Thinking{Redacted: content.Signature{Format: "other", Data: "y"}})
		_ = w.Part(&content.Text{Text: "b", Signature: signed("not base64")})
		return w.Text("a")
	}, losses: []string{"dropped parts.2"}},
	{name: "calls", up: func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		_ = w.Text("Both.")
		a, b := w.ToolCall("fc-a", "one"), w.ToolCall("fc-b", "two")
		_ = a.Input(`{"n":1.0,`)
		_ = b.Input("{ }")
		_ = a.Input("\n\"k\": 12345678901234567890}")
		_ = a.Close()
		_ = b.Close()
		_ = w.ToolCall("fc-c", "none").Close()
		return w.Part(&content.ToolUse{ID: "fc-d", Name: "whole", Input: `{"a":[1,{"b":null}]}`, Signature: signed("c2ln"),
			Extra: extra(`{"functionCall":{"future":1},"partMetadata":{"k":2}}`)})
	}},
	{name: "broken calls", up: func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		_ = w.ToolCall("fc-a", "cut").Input(`{"a":"b`)
		_ = w.ToolCall("fc-b", "list").Input(`[1]`)
		return w.Part(&content.ToolUse{ID: "fc-c", Name: "whole", Input: `{"a"`})
	}, losses: []string{"dropped parts.0", "dropped parts.1", "dropped parts.2"}},
	{name: "cut at max_tokens", up: func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		_ = w.ToolCall("fc-a", "cut").Input(`{"a":"b`)
		return w.Stop(upstream.Stop{Reason: content.StopMaxTokens})
	}, losses: []string{"dropped parts.0"}},
	{name: "a broken call after a stop", up: func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		c := w.ToolCall("fc-a", "cut")
		_ = c.Input(`{"a":"b`)
		_ = w.Send([]upstream.Event{{Kind: upstream.EventOpen, Block: 7, Part: &content.Text{Text: "t"}}, {Kind: upstream.EventClose, Block: 7},
			{Kind: upstream.EventStop, Stop: &upstream.Stop{Reason: content.StopToolUse}}})
		return c.Close()
	}, losses: []string{"dropped parts.0"}},
	{name: "files", up: func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		_ = w.Text("Here:")
		_ = w.Part(&content.Image{Source: &content.Base64{MediaType: "image/png", Data: png}, Signature: signed("c2ln")})
		_ = w.Part(&content.Image{Source: &content.Base64{Data: png[:len(png)-1]}})
		_ = w.Part(&content.Media{Source: &content.Base64{MediaType: "audio/L16;rate=24000", Data: "_-8"}})
		_ = w.Part(&content.Document{Source: &content.PlainText{Text: "é"}, Title: "T"})
		_ = w.Part(&content.Image{Source: &content.URL{URL: "https://a.example/i.png", MediaType: "image/png"}})
		_ = w.Part(&content.Document{Source: &content.File{ID: "https://files.example/1", MediaType: "application/pdf"}})
		_ = w.Part(&content.Image{Source: &content.Base64{MediaType: "image/png", Data: "no base64"}})
		_ = w.Part(&content.Image{Source: &content.File{ID: "file_1"}})
		_ = w.Part(&content.Image{})
		return w.Part(&content.Media{Source: &content.Base64{Data: "AAAA"}})
	}, losses: []string{"degraded parts.2", "degraded parts.4", "dropped parts.7", "dropped parts.8", "dropped parts.9", "dropped parts.10"}},
	{name: "the vendor's tools", up: func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		_ = w.Part(&content.ServerToolUse{Format: Format, Kind: "executableCode", ID: "e1", Name: "codeExecution",
			Input: `{"language":"PYTHON","code":"print(1)"}`})
		_ = w.Part(&content.ServerToolResult{Format: Format, Kind: "codeExecutionResult", ID: "e1", Content: "{\"outcome\":\"OUTCOME_OK\",\r\n\"output\":\"1\\n\"}"})
		_ = w.Part(&content.ServerToolUse{Format: Format, Kind: "toolCall", ID: "t1", Name: "GOOGLE_SEARCH_WEB",
			Input: `{"queries":["q"]}`, Signature: signed("c2ln")})
		_ = w.Part(&content.ServerToolResult{Format: Format, Kind: "toolResponse", ID: "t1", Content: `{"toolType":"GOOGLE_SEARCH_WEB","response":{}}`})
		_ = w.Part(&content.Unknown{Format: Format, Kind: "newPart", Raw: "{\"newPart\":\n{\"a\":1}}"})
		_ = w.Part(&content.ServerToolUse{Format: "other", Kind: "exec", ID: "1"})
		_ = w.Part(&content.ServerToolUse{Format: Format, Kind: "odd", ID: "1"})
		_ = w.Part(&content.ServerToolResult{Format: Format, Kind: "toolResponse", Content: "{"})
		_ = w.Part(&content.Unknown{Format: "other", Kind: "x", Raw: "{}"})
		_ = w.Part(&content.ToolResult{ID: "1"})
		return w.Text("after")
	}, losses: []string{"dropped parts.5", "dropped parts.6", "dropped parts.7", "dropped parts.8", "dropped parts.9"}},
	{name: "citations", up: func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		_ = w.Text("They nest early")
		_ = w.Cite(content.Citation{Kind: content.CiteChars, Text: "Herons"})
		return w.Part(&content.Text{Text: "!", Citations: []content.Citation{{Kind: content.CiteWeb, URL: "https://a.example"}}})
	}, losses: []string{"degraded parts.0"}},
	{name: "citations everywhere", up: func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		page := content.Citation{Kind: content.CiteWeb, URL: "https://a.example/\"q\"", Title: "A"}
		_ = w.Thinking("Hm")
		_ = w.Text("é one")
		_ = w.Cite(page)
		_ = w.Text(" and two")
		_ = w.Part(&content.Text{Text: " none"})
		_ = w.Part(&content.Text{Text: " three", Citations: []content.Citation{page,
			{Kind: content.CitePages, Title: "T", Text: "p", Start: 3, End: 4}}})
		_ = w.ToolCall("c", "f").Close()
		_ = w.Part(&content.Text{Text: "four", Citations: []content.Citation{page}, Signature: signed("c2ln")})
		_ = w.Part(&content.Text{Text: "five", Citations: []content.Citation{{Kind: content.CiteChars}, page}})
		return w.Part(&content.Text{Citations: []content.Citation{page}})
	}, losses: []string{"degraded parts.3", "dropped parts.6", "dropped parts.7"}},
	{name: "citations beside the vendor's own", up: func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		_ = w.Send([]upstream.Event{{Kind: upstream.EventOpen, Part: &content.Text{Text: "a",
			Citations: []content.Citation{{Kind: content.CiteWeb, URL: "https://a.example"}}}}, {Kind: upstream.EventClose},
			{Kind: upstream.EventExtra, Extra: extra(`{"groundingMetadata":{"webSearchQueries":["q"]}}`)}})
		return nil
	}, losses: []string{"dropped groundingMetadata"}},
	{name: "unmodelled members", up: func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		_ = w.Start(upstream.Start{ID: "i", Model: "m", Extra: extra(`{"modelStatus":{"modelStage":"STABLE"},"x_start":1}`)})
		_ = w.Part(&content.Text{Text: "a", Extra: extra(`{"partMetadata":{"b": 1},"text":"no"}`)})
		return w.Send([]upstream.Event{
			{Kind: upstream.EventExtra, Extra: extra("{\"groundingMetadata\":{\"webSearchQueries\":\n[\"q\"]},\"turnToken\":\"t\"}")},
			{Kind: upstream.EventStop, Stop: &upstream.Stop{Format: Format, RawReason: "BLOCKLIST", Reason: content.StopSafety,
				Details: `{"finishMessage":"No.","safetyRatings":[{"category":"HARM_CATEGORY_HARASSMENT","probability":"HIGH"}]}`,
				Extra:   extra(`{"avgLogprobs":-0.5}`)}},
		})
	}},
	{name: "another format's", up: func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		_ = w.Part(&content.Text{Text: "a", Cache: &content.Cache{}, Extra: &content.Extra{Format: "other", JSON: `{"x":1}`}})
		return w.Send([]upstream.Event{
			{Kind: upstream.EventExtra, Extra: &content.Extra{Format: "other", JSON: `{"x":1}`}},
			{Kind: upstream.EventUsage, Usage: &content.Usage{Input: 1, CacheWrite: 2, CacheWrite1h: 3, Output: 1}},
			{Kind: upstream.EventStop, Stop: &upstream.Stop{Reason: content.StopRefusal, Format: "other", RawReason: "refusal", Details: `{"a":1}`}},
		})
	}, losses: []string{"hint x", "hint parts.0", "hint usage", "hint stop", "degraded stop"}},
	{name: "two candidates", up: func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		return w.Send([]upstream.Event{
			{Kind: upstream.EventOpen, Block: 0, Part: &content.Text{Text: "a"}},
			{Kind: upstream.EventOpen, Block: 1, Candidate: 1, Part: &content.Text{Text: "b"}},
			{Kind: upstream.EventText, Block: 0, Text: "aa"}, {Kind: upstream.EventText, Block: 1, Candidate: 1, Text: "bb"},
			{Kind: upstream.EventOpen, Block: 2, Candidate: 1, Part: &content.SearchResult{}}, {Kind: upstream.EventClose, Block: 2, Candidate: 1},
			{Kind: upstream.EventExtra, Candidate: 1, Extra: extra(`{"tokenCount":3}`)},
			{Kind: upstream.EventStop, Candidate: 1, Stop: &upstream.Stop{Reason: content.StopMaxTokens}},
		})
	}, losses: []string{"dropped candidates.1.parts.1"}},
	{name: "a blocked prompt", up: func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		_ = w.Start(upstream.Start{ID: "r-22", Model: "m", Usage: &content.Usage{Input: 14}})
		return w.Stop(upstream.Stop{Reason: content.StopSafety, Format: Format, RawReason: "PROHIBITED_CONTENT",
			Details: `{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"}}`})
	}},
	{name: "cut within characters", up: func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		text := "a😀é漢"
		for i := range len(text) {
			_ = w.Text(text[i : i+1])
		}
		_ = w.Thinking("\xf0\x9f")
		_ = w.Text("\xe6")
		c := w.ToolCall("fc-a", "n")
		_ = c.Input("{\"a\":\"\xc3")
		_ = c.Input("\xa9\"}")
		_ = c.Close()
		return w.Text("end")
	}},
	{name: "signed calls", up: func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		c := w.ToolCall("fc-a", "n")
		_ = w.Signature(signed("c2ln"))
		_ = c.Input("{}")
		return c.Close()
	}},
}
