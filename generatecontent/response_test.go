package generatecontent

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/response"
	"github.com/polywire/polywire/internal/test/lossplaces"
	"github.com/polywire/polywire/upstream"
)

func TestAnswerPath(t *testing.T) {
	d := new(dialect)
	for neutral, want := range map[string]string{
		"":                     "",
		"parts.2":              "candidates[0].content.parts[2]",
		"candidates.1.parts.2": "candidates[1].content.parts[2]",
		"candidates.3.stop":    "candidates[3].finish_reason",
		"stop":                 "candidates[0].finish_reason",
		"usage":                "usage_metadata",
		"candidates":           "generation_config.candidate_count", // of the request
		"turns.3.parts.1":      "contents[3].parts[1]",
		"top_k":                "generation_config.top_k",
	} {
		if got := d.WirePath(neutral); got != want {
			t.Errorf("%q: got %q, want %q", neutral, got, want)
		}
	}
}

// TestResponseViolations checks that AppendJSON returns the path of an invalid part.
func TestResponseViolations(t *testing.T) {
	for _, tt := range []struct {
		name string
		res  writtenResponse
		path string
	}{
		{"nil part", writtenResponse{Candidates: []writtenCandidate{{}, {Parts: []content.Part{&content.Text{Text: "a"}, nil}}}}, "candidates[1].content.parts[1]"},
		{"nil pointer", writtenResponse{Candidates: []writtenCandidate{{Parts: []content.Part{(*content.Text)(nil)}}}}, "candidates[0].content.parts[0]"},
		{"foreign", writtenResponse{Candidates: []writtenCandidate{{Parts: []content.Part{&content.Unknown{Format: "other", Raw: "{}"}}}}}, "candidates[0].content.parts[0]"},
		{"arguments", writtenResponse{Candidates: []writtenCandidate{{Parts: []content.Part{&content.ToolUse{Name: "f", Input: "[]"}}}}}, "candidates[0].content.parts[0].function_call.args"},
		{"feedback", writtenResponse{PromptFeedback: "{"}, "prompt_feedback"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			doc, err := tt.res.AppendJSON([]byte("x"))
			var violation *content.Violation
			if !errors.As(err, &violation) || violation.Path != tt.path || string(doc) != "x" {
				t.Errorf("got %v %s, want a violation at %s", err, doc, tt.path)
			}
		})
	}
}

// TestResponseExamples compares responses with those of the wire reference, ignoring the
// order of members.
func TestResponseExamples(t *testing.T) {
	const usage = `"usageMetadata":{"promptTokenCount":14,"totalTokenCount":14}`
	counts := content.Usage{Input: 14}
	for _, tt := range []struct {
		name  string
		reply upstream.Response
		want  string
	}{
		{"blocked prompt with details", upstream.Response{Usage: counts, Start: upstream.Start{ID: "r", Model: "m"},
			Stop: upstream.Stop{Reason: content.StopSafety, Format: Format, RawReason: "SAFETY", Details: `{"promptFeedback":{"blockReason":"SAFETY"}}`}},
			`{"promptFeedback":{"blockReason":"SAFETY"},` + usage + `,"modelVersion":"m","responseId":"r"}`},
		{"blocked candidate", upstream.Response{Usage: counts, Stop: upstream.Stop{Reason: content.StopSafety, Format: Format, RawReason: "SAFETY",
			Details: `{"safetyRatings":[{"category":"HARM_CATEGORY_DANGEROUS_CONTENT","probability":"HIGH","blocked":true}]}`}},
			`{"candidates":[{"content":{"role":"model"},"finishReason":"SAFETY","index":0,"safetyRatings":` +
				`[{"category":"HARM_CATEGORY_DANGEROUS_CONTENT","probability":"HIGH","blocked":true}]}],` + usage + `}`},
		{"feedback with a candidate", upstream.Response{Parts: []content.Part{&content.Text{Text: "a"}}, Extra: extra(`{"promptFeedback":{"safetyRatings":[]}}`)},
			`{"candidates":[{"content":{"role":"model","parts":[{"text":"a"}]},"finishReason":"STOP","index":0}],"promptFeedback":{"safetyRatings":[]}}`},
		{"another vendor's block", upstream.Response{Stop: upstream.Stop{Reason: content.StopSafety}},
			`{"candidates":[{"content":{"role":"model"},"finishReason":"SAFETY","index":0}]}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res, _ := convertResponse(&tt.reply, expectation{})
			doc, err := res.AppendJSON(nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := sameJSON(t, tt.want, string(doc)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestConvertResponseInput checks that convertResponse does not modify its input.
func TestConvertResponseInput(t *testing.T) {
	for _, tt := range testResponses {
		reply, err := upstream.Collect(t.Context(), tt.up, &upstream.Request{})
		if err != nil {
			t.Fatal(err)
		}
		first, lost := convertResponse(reply, expectation{})
		again, lost2 := convertResponse(reply, expectation{})
		if diff := cmp.Diff(first, again) + cmp.Diff(lost, lost2); diff != "" {
			t.Errorf("%s (-first +second):\n%s", tt.name, diff)
		}
	}
}

// TestNamelessCall checks that only a call without a name is dropped and reported.
func TestNamelessCall(t *testing.T) {
	r := &upstream.Response{Parts: []content.Part{&content.ToolUse{ID: "a"}, &content.ToolUse{ID: "b", Name: "f"}}}
	res, losses := convertResponse(r, expectation{})
	want := []content.Loss{response.LossCallName.At("parts.0")}
	if diff := cmp.Diff(want, losses); diff != "" {
		t.Errorf("losses (-want +got):\n%s", diff)
	}
	parts := res.Candidates[0].Parts
	if len(parts) != 1 || parts[0].(*content.ToolUse).Name != "f" {
		t.Errorf("got parts %v", parts)
	}
}

// TestCallWithoutArgumentsWaits checks that a call without arguments is written with the next
// part or at the end, and is dropped if the response is cut after it.
func TestCallWithoutArgumentsWaits(t *testing.T) {
	open := func(block, candidate int, p content.Part) upstream.Event {
		return upstream.Event{Kind: upstream.EventOpen, Block: block, Candidate: candidate, Part: p}
	}
	shut := upstream.Event{Kind: upstream.EventClose}
	argue := func(s string) upstream.Event { return upstream.Event{Kind: upstream.EventInput, Text: s} }
	stop := func(r content.StopReason) upstream.Event {
		return upstream.Event{Kind: upstream.EventStop, Stop: &upstream.Stop{Reason: r}}
	}
	call, other, cut := &content.ToolUse{Name: "f"}, &content.ToolUse{Name: "g"}, []content.Loss{response.LossCutCall.At("parts.0")}
	for name, tt := range map[string]struct {
		batches [][]upstream.Event
		out     int // the batch that writes it; len(batches) is the end; -1 if it is dropped
		losses  []content.Loss
	}{
		"the end":                  {[][]upstream.Event{{open(0, 0, call)}, {shut}, {stop(content.StopToolUse)}}, 3, nil},
		"an end without a reason":  {[][]upstream.Event{{open(0, 0, call), shut}}, 1, nil},
		"another call":             {[][]upstream.Event{{open(0, 0, call), shut}, {open(1, 0, other)}, {stop(content.StopMaxTokens)}}, 3, nil},
		"an empty text":            {[][]upstream.Event{{open(0, 0, call), shut}, {open(1, 0, &content.Text{})}, {stop(content.StopMaxTokens)}}, 3, nil},
		"a text":                   {[][]upstream.Event{{open(0, 0, call), shut}, {open(1, 0, &content.Text{Text: "a"})}, {stop(content.StopMaxTokens)}}, 1, nil},
		"a text before its close":  {[][]upstream.Event{{open(0, 0, call)}, {open(1, 0, &content.Text{Text: "a"})}, {shut}, {stop(content.StopMaxTokens)}}, 2, nil},
		"an empty object":          {[][]upstream.Event{{open(0, 0, call), argue("{}")}, {shut}, {stop(content.StopMaxTokens)}}, 3, nil},
		"another candidate's text": {[][]upstream.Event{{open(0, 0, call), shut}, {open(1, 1, &content.Text{Text: "a"})}, {stop(content.StopToolUse)}}, 3, nil},
		"a cut":                    {[][]upstream.Event{{open(0, 0, call)}, {shut}, {stop(content.StopMaxTokens)}}, -1, cut},
		"a cut behind white space": {[][]upstream.Event{{open(0, 0, call), argue(" ")}, {shut}, {stop(content.StopContext)}}, -1, cut},
		"a cut, all at once":       {[][]upstream.Event{{open(0, 0, call), shut, stop(content.StopSafety)}}, -1, cut},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStream(inEvents, "r", "m")
			out, all := -1, ""
			for i, batch := range append(tt.batches, nil) {
				var b []byte
				if b = s.Events(b, batch); i == len(tt.batches) {
					b = s.End(b, nil)
				}
				if all += string(b); strings.Contains(string(b), `"name":"f"`) {
					out = i
				}
			}
			mustHear(t, inEvents, all)
			if out != tt.out {
				t.Errorf("it goes out with batch %d, want %d\n%s", out, tt.out, all)
			}
			lost := slices.DeleteFunc(lossplaces.Of(s.Losses()), func(l content.Loss) bool { return l.Path == "stop" })
			if diff := cmp.Diff(tt.losses, lost, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("losses (-want +got):\n%s", diff)
			}
		})
	}
}

const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII="

// testResponses lists upstreams with all kinds of events, and the losses: severity and
// path.
var testResponses = []struct {
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
	{name: "members without a field", up: func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		_ = w.Start(upstream.Start{ID: "i", Model: "m", Extra: extra(`{"modelStatus":{"modelStage":"STABLE"},"x_start":1}`)})
		_ = w.Part(&content.Text{Text: "a", Extra: extra(`{"partMetadata":{"b": 1},"text":"no"}`)})
		return w.Send([]upstream.Event{
			{Kind: upstream.EventExtra, Extra: extra("{\"groundingMetadata\":{\"webSearchQueries\":\n[\"q\"]},\"turnToken\":\"t\"}")},
			{Kind: upstream.EventStop, Stop: &upstream.Stop{Format: Format, RawReason: "BLOCKLIST", Reason: content.StopSafety,
				Details: `{"finishMessage":"No.","safetyRatings":[{"category":"HARM_CATEGORY_HARASSMENT","probability":"HIGH"}]}`,
				Extra:   extra(`{"avgLogprobs":-0.5}`)}},
		})
	}},
	{name: "members of another format", up: func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
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

func TestStopWords(t *testing.T) {
	const malformed = "The model wrote a function call that cannot be read."
	for _, tt := range []struct {
		stop          upstream.Stop
		calls         int
		broken        bool
		word, message string
		losses        []string
	}{
		{stop: upstream.Stop{Reason: content.StopEnd}, word: "STOP"},
		{stop: upstream.Stop{}, word: "STOP"},
		{stop: upstream.Stop{Reason: content.StopToolUse}, calls: 1, word: "STOP"},
		{stop: upstream.Stop{Reason: content.StopToolUse}, word: "MALFORMED_FUNCTION_CALL", message: malformed},
		{stop: upstream.Stop{Reason: content.StopToolUse, Format: "other", RawReason: "tool_calls"}, word: "MALFORMED_FUNCTION_CALL", message: malformed},
		{stop: upstream.Stop{Reason: content.StopToolUse, Format: Format, RawReason: "STOP"}, word: "STOP"},
		{stop: upstream.Stop{Reason: content.StopSequence}, word: "STOP"},
		{stop: upstream.Stop{Reason: content.StopSequence, Sequence: "x"}, word: "STOP", losses: []string{"hint "}},
		{stop: upstream.Stop{Reason: content.StopMaxTokens}, word: "MAX_TOKENS"},
		{stop: upstream.Stop{Reason: content.StopContext}, word: "MAX_TOKENS", message: "The context of the model is full.", losses: []string{"degraded "}},
		{stop: upstream.Stop{Reason: content.StopSafety}, word: "SAFETY"},
		{stop: upstream.Stop{Reason: content.StopRefusal, Format: "other", RawReason: "refusal", Details: `{"type":"refusal","category":null,"explanation":null}`}, word: "SAFETY",
			message: "The model declined to answer.", losses: []string{"degraded "}},
		{stop: upstream.Stop{Reason: content.StopRefusal, Format: "other", RawReason: "refusal", Message: "No.", Details: `{"type":"refusal","category":null,"explanation":"No."}`},
			word: "SAFETY", message: "No.", losses: []string{"degraded "}},
		{stop: upstream.Stop{Reason: content.StopRefusal, Format: "other", RawReason: "refusal", Message: "No.", Details: `{"type":"refusal","category":"bio","explanation":"No."}`},
			word: "SAFETY", message: "No.", losses: []string{"degraded ", "hint "}},
		{stop: upstream.Stop{Reason: content.StopRecitation}, word: "RECITATION"},
		{stop: upstream.Stop{Reason: content.StopMalformedCall}, word: "MALFORMED_FUNCTION_CALL", message: malformed},
		{stop: upstream.Stop{Reason: content.StopPause}, word: "OTHER", message: "The model paused in a long turn.", losses: []string{"degraded "}},
		{stop: upstream.Stop{Reason: content.StopCompaction}, word: "OTHER", message: "The response is a summary of the conversation.", losses: []string{"degraded "}},
		{stop: upstream.Stop{Reason: content.StopOther, Format: "other", RawReason: "STOP"}, word: "OTHER", losses: []string{"degraded "}},
		{stop: upstream.Stop{Reason: "of a later version"}, word: "OTHER", losses: []string{"degraded "}},
		{stop: upstream.Stop{Reason: content.StopOther, Format: Format, RawReason: "LANGUAGE", Details: `{"finishMessage":"No \"x\"."}`}, word: "LANGUAGE", message: `No "x".`},
		{stop: upstream.Stop{Reason: content.StopEnd, Format: Format, RawReason: "STOP", Details: `{"finishMessage":null}`}, word: "STOP"},

		{stop: upstream.Stop{Reason: content.StopEnd}, broken: true, word: "MALFORMED_FUNCTION_CALL", message: malformed},
		{stop: upstream.Stop{Reason: content.StopToolUse}, broken: true, word: "MALFORMED_FUNCTION_CALL", message: malformed},
		{stop: upstream.Stop{Reason: content.StopToolUse}, calls: 1, broken: true, word: "MALFORMED_FUNCTION_CALL", message: malformed},
		{stop: upstream.Stop{Reason: content.StopEnd, Format: Format, RawReason: "STOP"}, broken: true, word: "MALFORMED_FUNCTION_CALL", message: malformed},
		{stop: upstream.Stop{Reason: content.StopMaxTokens}, broken: true, word: "MAX_TOKENS"},
		{stop: upstream.Stop{Reason: content.StopSafety, Format: Format, RawReason: "SPII"}, broken: true, word: "SPII"},
	} {
		c := response.Candidate{Stop: tt.stop, Calls: tt.calls, Broken: tt.broken}
		var lost []content.Loss
		word, message := finishReason(&c, func(r *loss.Rule) {
			lost = append(lost, r.At(""))
		})
		if word != tt.word || message != tt.message {
			t.Errorf("%+v: got %s %q, want %s %q", tt.stop, word, message, tt.word, tt.message)
		}
		checkLosses(t, tt.losses, lost)
	}
}

func TestUsageMembers(t *testing.T) {
	for _, tt := range []struct {
		usage content.Usage
		want  string
	}{
		{content.Usage{}, `{"promptTokenCount":0,"totalTokenCount":0}`},
		// Neutral counts are disjoint. On the wire, the count of the prompt includes
		// cached tokens but not those of tool results; the total includes everything.
		{content.Usage{Input: 1, CacheRead: 2, CacheWrite: 4, CacheWrite1h: 8, ToolPrompt: 16, Output: 32, Thinking: 64},
			`{"promptTokenCount":15,"cachedContentTokenCount":2,"candidatesTokenCount":32,"thoughtsTokenCount":64,` +
				`"toolUsePromptTokenCount":16,"totalTokenCount":127}`},
		{content.Usage{Input: 3, Output: 4, Extra: extra(`{"trafficType":"ON_DEMAND","totalTokenCount":99,"cacheTokensDetails":[]}`),
			Modalities: []content.ModalityCount{{Kind: "tool", Modality: "text", Tokens: 1}, {Kind: "prompt", Modality: "TEXT", Tokens: 2},
				{Kind: "odd", Modality: "TEXT", Tokens: 9}, {Kind: "prompt", Modality: "IMAGE", Tokens: 1}, {Kind: "cache", Modality: "AUDIO", Tokens: 5},
				{Kind: "output", Modality: "DOCUMENT", Tokens: 4}}},
			`{"promptTokenCount":3,"candidatesTokenCount":4,"totalTokenCount":7,` +
				`"promptTokensDetails":[{"modality":"TEXT","tokenCount":2},{"modality":"IMAGE","tokenCount":1}],` +
				`"cacheTokensDetails":[{"modality":"AUDIO","tokenCount":5}],"candidatesTokensDetails":[{"modality":"DOCUMENT","tokenCount":4}],` +
				`"toolUsePromptTokensDetails":[{"modality":"TEXT","tokenCount":1}],"trafficType":"ON_DEMAND"}`},
	} {
		if diff := cmp.Diff(tt.want, string(appendUsage(nil, &tt.usage))); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// TestManyCandidates checks that a whole response has all its candidates. The limit of
// streams is for events.
func TestManyCandidates(t *testing.T) {
	r := new(upstream.Response)
	for range maxCandidates {
		r.MoreCandidates = append(r.MoreCandidates, upstream.Candidate{Parts: []content.Part{&content.Text{Text: "x"}}})
	}
	res, lost := convertResponse(r, expectation{})
	if last := res.Candidates[maxCandidates]; len(last.Parts) != 1 || len(lost) > 0 {
		t.Errorf("the last candidate is %+v, losses %v", last, lost)
	}
}
