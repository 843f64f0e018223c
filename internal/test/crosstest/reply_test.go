package crosstest

import (
	"context"
	"encoding/base64"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/internal/test/lossplaces"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
)

// A replyCase is one neutral response and its documents in both formats,
// written from the references. Of a Message, it has content, stop_reason,
// stop_sequence and stop_details unless they are null; of a
// GenerateContentResponse, the candidates or promptFeedback; usage only where
// given.
type replyCase struct {
	name               string
	up                 upstream.Func
	messages, generate string
	// The losses as "severity path".
	messagesLost, generateLost []string
	// The streamed Message, if it differs: arguments are sent from their first
	// brace on, so errors in them are found after they were sent.
	messagesStreamed string
}

func generate(w func(w *upstream.Writer) error) upstream.Func {
	return func(_ context.Context, _ *upstream.Request, to *upstream.Writer) error { return w(to) }
}

func ends(s upstream.Stop) upstream.Func {
	return generate(func(w *upstream.Writer) error {
		_ = w.Text("a")
		return w.Stop(s)
	})
}

const (
	textM = `"content":[{"type":"text","text":"a"}]`
	textG = `"content":{"role":"model","parts":[{"text":"a"}]}`
)

// unreadable is a response with only a malformed tool call.
const unreadable = `{"candidates":[{"content":{"role":"model"},"finishReason":"MALFORMED_FUNCTION_CALL",` +
	`"finishMessage":"The model wrote a function call that cannot be read.","index":0}]}`

// stopped is the response "a" with a stop reason.
func stopped(name string, s upstream.Stop, m, g string, lost ...string) replyCase {
	r := replyCase{name: name, up: ends(s), messages: `{` + textM + `,` + m + `}`, generate: `{"candidates":[{` + textG + `,"index":0,` + g + `}]}`}
	for _, l := range lost {
		if l, ok := strings.CutPrefix(l, "m:"); ok {
			r.messagesLost = append(r.messagesLost, l)
		} else {
			r.generateLost = append(r.generateLost, l)
		}
	}
	return r
}

var replies = append([]replyCase{
	{name: "text", up: generate(func(w *upstream.Writer) error {
		_ = w.Text("one, ")
		return w.Text("\"two\"\n")
	}),
		messages: `{"content":[{"type":"text","text":"one, \"two\"\n"}],"stop_reason":"end_turn"}`,
		generate: `{"candidates":[{"content":{"role":"model","parts":[{"text":"one, \"two\"\n"}]},"finishReason":"STOP","index":0}]}`},
	{name: "nothing", up: generate(func(*upstream.Writer) error { return nil }),
		messages: `{"content":[],"stop_reason":"end_turn"}`,
		generate: `{"candidates":[{"content":{"role":"model"},"finishReason":"STOP","index":0}]}`},
	{name: "citations", up: generate(func(w *upstream.Writer) error {
		_ = w.Text("They nest early")
		_ = w.Cite(content.Citation{Kind: content.CiteChars, Text: "Herons nest early.", Title: "Notes", End: 18})
		_ = w.Part(&content.ToolUse{ID: "t1", Name: "f", Input: `{}`})
		return w.Part(&content.Text{Text: "é and eat", Citations: []content.Citation{
			{Kind: content.CiteWeb, URL: "https://a.example/h", Title: "Herons"},
			{Kind: content.CiteSearchResult, URL: "wiki/herons", Title: "Herons", Text: "Herons eat fish.", End: 1}}})
	}),
		messages: `{"content":[{"type":"text","text":"They nest early","citations":[{"type":"char_location","cited_text":"Herons nest early.",` +
			`"document_index":0,"document_title":"Notes","start_char_index":0,"end_char_index":18}]},` +
			`{"type":"tool_use","id":"t1","name":"f","input":{},"caller":{"type":"direct"}},` +
			`{"type":"text","text":"é and eat","citations":[{"type":"web_search_result_location","cited_text":"","url":"https://a.example/h","title":"Herons","encrypted_index":""},` +
			`{"type":"search_result_location","cited_text":"Herons eat fish.","source":"wiki/herons","title":"Herons","search_result_index":0,"start_block_index":0,"end_block_index":1}]}],` +
			`"stop_reason":"tool_use"}`,
		generate: `{"candidates":[{"content":{"role":"model","parts":[{"text":"They nest early"},{"functionCall":{"id":"t1","name":"f","args":{}}},{"text":"é and eat"}]},` +
			`"finishReason":"STOP","index":0,"groundingMetadata":{"groundingChunks":[{"retrievedContext":{"title":"Notes","text":"Herons nest early."}},` +
			`{"web":{"uri":"https://a.example/h","title":"Herons"}},{"retrievedContext":{"uri":"wiki/herons","title":"Herons","text":"Herons eat fish."}}],` +
			`"groundingSupports":[{"segment":{"startIndex":0,"endIndex":15},"groundingChunkIndices":[0]},` +
			`{"segment":{"partIndex":2,"startIndex":0,"endIndex":10},"groundingChunkIndices":[1,2]}]}}]}`,
		generateLost: []string{"degraded parts.0", "degraded parts.2"}},
	{name: "thinking signed in Messages", up: generate(func(w *upstream.Writer) error {
		_ = w.Thinking("Hm, ")
		_ = w.Thinking("yes")
		_ = w.Signature(content.Signature{Format: messages.Format, Data: "EqQBc2ln"})
		_ = w.Part(&content.Thinking{Redacted: content.Signature{Format: messages.Format, Data: "b3BhcXVl"}})
		return w.Text("391")
	}),
		messages: `{"content":[{"type":"thinking","thinking":"Hm, yes","signature":"EqQBc2ln"},{"type":"redacted_thinking","data":"b3BhcXVl"},` +
			`{"type":"text","text":"391"}],"stop_reason":"end_turn"}`,
		generate: `{"candidates":[{"content":{"role":"model","parts":[{"text":"391","thoughtSignature":"` + // the request does not ask for thoughts
			base64.StdEncoding.EncodeToString([]byte(envelopeOf(messages.Format, envelope.KindThinking,
				`[{"text":"Hm, yes","signature":"EqQBc2ln"},{"redacted":"b3BhcXVl"}]`))) +
			`"}]},"finishReason":"STOP","index":0}]}`},
	{name: "signed in generateContent", up: generate(func(w *upstream.Writer) error {
		_ = w.Thinking("Split it.")
		_ = w.Text("391")
		_ = w.Signature(content.Signature{Format: generatecontent.Format, Data: "CiQBc2lnLWM="})
		return w.Part(&content.ToolUse{ID: "fc-1", Name: "f", Input: `{"b":1.0,"a":12345678901234567890}`,
			Signature: content.Signature{Format: generatecontent.Format, Data: "CiQBc2lnLWE="}})
	}),
		messages: `{"content":[{"type":"text","text":"391"},` +
			`{"type":"tool_use","id":"` + signedID("fc-1", "CiQBc2lnLWE=") + `","name":"f","input":{"b":1.0,"a":12345678901234567890},"caller":{"type":"direct"}}],"stop_reason":"tool_use"}`,
		messagesLost: []string{"hint parts.0", "hint parts.1"}, // the request does not enable thinking
		generate: `{"candidates":[{"content":{"role":"model","parts":[{"text":"391","thoughtSignature":"CiQBc2lnLWM="},` +
			`{"functionCall":{"id":"fc-1","name":"f","args":{"b":1.0,"a":12345678901234567890}},"thoughtSignature":"CiQBc2lnLWE="}]},"finishReason":"STOP","index":0}]}`,
		generateLost: []string{"hint parts.0"}},
	{name: "parallel tool calls", up: generate(func(w *upstream.Writer) error {
		_ = w.Text("Both.")
		a, b := w.ToolCall("fc-1", "one"), w.ToolCall("fc-2", "two")
		_ = a.Input(`{"city":`)
		_ = b.Input(`{}`)
		_ = a.Input(`"Lima"}`)
		_ = a.Close()
		return b.Close()
	}),
		messages: `{"content":[{"type":"text","text":"Both."},{"type":"tool_use","id":"fc-1","name":"one","input":{"city":"Lima"},"caller":{"type":"direct"}},` +
			`{"type":"tool_use","id":"fc-2","name":"two","input":{},"caller":{"type":"direct"}}],"stop_reason":"tool_use"}`,
		generate: `{"candidates":[{"content":{"role":"model","parts":[{"text":"Both."},{"functionCall":{"id":"fc-1","name":"one","args":{"city":"Lima"}}},` +
			`{"functionCall":{"id":"fc-2","name":"two","args":{}}}]},"finishReason":"STOP","index":0}]}`},
	{name: "image", up: generate(func(w *upstream.Writer) error {
		_ = w.Text("Here:")
		return w.Part(&content.Image{Source: &content.Base64{MediaType: "image/png", Data: "iVBORw0KGgo="}})
	}),
		messages:     `{"content":[{"type":"text","text":"Here:"}],"stop_reason":"end_turn"}`,
		generate:     `{"candidates":[{"content":{"role":"model","parts":[{"text":"Here:"},{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgo="}}]},"finishReason":"STOP","index":0}]}`,
		messagesLost: []string{"dropped parts.1"}},
	{name: "usage", up: generate(func(w *upstream.Writer) error {
		_ = w.Text("a")
		return w.Usage(content.Usage{Input: 10, CacheRead: 100, CacheWrite: 20, CacheWrite1h: 5, ToolPrompt: 3, Output: 7, Thinking: 40})
	}),
		messages: `{` + textM + `,"stop_reason":"end_turn","usage":{"input_tokens":13,"cache_creation_input_tokens":25,"cache_read_input_tokens":100,` +
			`"cache_creation":{"ephemeral_5m_input_tokens":20,"ephemeral_1h_input_tokens":5},"output_tokens":47,"output_tokens_details":{"thinking_tokens":40}}}`,
		generate: `{"candidates":[{` + textG + `,"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":135,"cachedContentTokenCount":100,` +
			`"candidatesTokenCount":7,"thoughtsTokenCount":40,"toolUsePromptTokenCount":3,"totalTokenCount":185}}`,
		generateLost: []string{"hint usage"}},
	{name: "malformed tool call", up: generate(func(w *upstream.Writer) error { return w.ToolCall("fc-1", "f").Input(`[1]`) }),
		messages: `{"content":[],"stop_reason":"max_tokens"}`, generate: unreadable,
		messagesLost: []string{"dropped parts.0", "degraded stop"}, generateLost: []string{"dropped parts.0"}},
	{name: "tool call without a name", up: generate(func(w *upstream.Writer) error {
		return w.Send([]upstream.Event{{Kind: upstream.EventOpen, Part: &content.ToolUse{ID: "fc-1"}}, {Kind: upstream.EventInput, Text: "{}"}})
	}),
		messages: `{"content":[],"stop_reason":"max_tokens"}`, generate: unreadable,
		messagesLost: []string{"dropped parts.0", "degraded stop"}, generateLost: []string{"dropped parts.0"}},
	{name: "tool call with an invalid value", up: generate(func(w *upstream.Writer) error { return w.ToolCall("fc-1", "f").Input(`{"a":x}`) }),
		messages: `{"content":[],"stop_reason":"max_tokens"}`, generate: unreadable,
		messagesStreamed: `{"content":[{"type":"tool_use","id":"fc-1","name":"f","input":"{\"a\":x}","caller":{"type":"direct"}}],"stop_reason":"max_tokens"}`,
		messagesLost:     []string{"dropped parts.0", "degraded stop"}, generateLost: []string{"dropped parts.0"}},
	{name: "truncated tool call", up: generate(func(w *upstream.Writer) error {
		_ = w.ToolCall("fc-1", "f").Input(`{"a":`)
		return w.Stop(upstream.Stop{Reason: content.StopMaxTokens})
	}),
		messages: `{"content":[],"stop_reason":"max_tokens"}`, generate: `{"candidates":[{"content":{"role":"model"},"finishReason":"MAX_TOKENS","index":0}]}`,
		messagesStreamed: `{"content":[{"type":"tool_use","id":"fc-1","name":"f","input":"{\"a\":","caller":{"type":"direct"}}],"stop_reason":"max_tokens"}`,
		messagesLost:     []string{"dropped parts.0"}, generateLost: []string{"dropped parts.0"}},
	{name: "tool calls without arguments", up: generate(func(w *upstream.Writer) error {
		for i, args := range []string{"", "null", " \n"} {
			_ = w.ToolCall("fc-"+strconv.Itoa(i), "f").Input(args)
		}
		return nil
	}),
		messages: `{"content":[{"type":"tool_use","id":"fc-0","name":"f","input":{},"caller":{"type":"direct"}},` +
			`{"type":"tool_use","id":"fc-1","name":"f","input":{},"caller":{"type":"direct"}},` +
			`{"type":"tool_use","id":"fc-2","name":"f","input":{},"caller":{"type":"direct"}}],"stop_reason":"tool_use"}`,
		generate: `{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"id":"fc-0","name":"f","args":{}}},` +
			`{"functionCall":{"id":"fc-1","name":"f","args":{}}},{"functionCall":{"id":"fc-2","name":"f","args":{}}}]},"finishReason":"STOP","index":0}]}`},
	{name: "tool use stop without a call", up: generate(func(w *upstream.Writer) error {
		_ = w.Text("a")
		return w.Stop(upstream.Stop{Reason: content.StopToolUse, Format: "other", RawReason: "tool_calls"})
	}),
		messages:     `{` + textM + `,"stop_reason":"max_tokens"}`,
		generate:     `{"candidates":[{` + textG + `,"index":0,"finishReason":"MALFORMED_FUNCTION_CALL","finishMessage":"The model wrote a function call that cannot be read."}]}`,
		messagesLost: []string{"degraded stop"}},
	{name: "blocked prompt", up: generate(func(w *upstream.Writer) error {
		return w.Stop(upstream.Stop{Reason: content.StopSafety, Format: generatecontent.Format, RawReason: "PROHIBITED_CONTENT",
			Details: `{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"}}`})
	}),
		messages: `{"content":[],"stop_reason":"refusal","stop_details":{"type":"refusal","category":null,"explanation":"A content filter stopped the response."}}`,
		generate: `{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"}}`, messagesLost: []string{"hint stop"}},
}, stops...)

// envelopeOf returns the envelope in which a handler of format f carries state
// of the other format's vendor.
func envelopeOf(f content.Format, k envelope.Kind, data string) string {
	s, _ := envelope.Encode(f, k, data)
	return s
}

// signedID returns the id of a tool call that carries the call's signature.
func signedID(id, data string) string {
	s, _ := envelope.EncodeID(id, envelope.Envelope{Format: generatecontent.Format, Kind: envelope.KindPart, Data: data})
	return s
}

const refusalStop = `"stop_reason":"refusal","stop_details":{"type":"refusal","category":null,"explanation":`

var stops = []replyCase{
	stopped("end", upstream.Stop{Reason: content.StopEnd}, `"stop_reason":"end_turn"`, `"finishReason":"STOP"`),
	stopped("max_tokens", upstream.Stop{Reason: content.StopMaxTokens}, `"stop_reason":"max_tokens"`, `"finishReason":"MAX_TOKENS"`),
	stopped("stop_sequence", upstream.Stop{Reason: content.StopSequence, Sequence: "END"}, `"stop_reason":"stop_sequence","stop_sequence":"END"`,
		`"finishReason":"STOP"`, "hint stop"),
	stopped("context", upstream.Stop{Reason: content.StopContext}, `"stop_reason":"model_context_window_exceeded"`,
		`"finishReason":"MAX_TOKENS","finishMessage":"The context of the model is full."`, "degraded stop"),
	stopped("pause", upstream.Stop{Reason: content.StopPause}, `"stop_reason":"pause_turn"`,
		`"finishReason":"OTHER","finishMessage":"The model paused in a long turn."`, "degraded stop"),
	stopped("refusal", upstream.Stop{Reason: content.StopRefusal}, refusalStop+`null}`,
		`"finishReason":"SAFETY","finishMessage":"The model declined to answer."`, "degraded stop"),
	stopped("safety", upstream.Stop{Reason: content.StopSafety}, refusalStop+`"A content filter stopped the response."}`, `"finishReason":"SAFETY"`),
	stopped("recitation", upstream.Stop{Reason: content.StopRecitation}, refusalStop+`"The response repeated protected text."}`, `"finishReason":"RECITATION"`),
	stopped("malformed call", upstream.Stop{Reason: content.StopMalformedCall}, `"stop_reason":"max_tokens"`,
		`"finishReason":"MALFORMED_FUNCTION_CALL","finishMessage":"The model wrote a function call that cannot be read."`, "m:degraded stop"),
	stopped("compaction", upstream.Stop{Reason: content.StopCompaction}, `"stop_reason":"compaction"`,
		`"finishReason":"OTHER","finishMessage":"The response is a summary of the conversation."`, "degraded stop"),
	stopped("other", upstream.Stop{Reason: content.StopOther}, `"stop_reason":"max_tokens"`, `"finishReason":"OTHER"`, "m:degraded stop", "degraded stop"),
}

// TestReplies checks the documents of one neutral response in both formats, whole and
// streamed.
func TestReplies(t *testing.T) {
	for _, tt := range replies {
		eachMode(t, func(t *testing.T, s wireFormat, m mode) {
			t.Run(tt.name, func(t *testing.T) {
				want, streamed, lost := s.reply(&tt)
				if m.stream {
					want = streamed
				}
				var report *upstream.Report
				a := s.ask(t, s.handler(tt.up, upstream.HandlerOptions{OnDone: func(_ context.Context, r *upstream.Report) { report = r }}), m)
				if a.word != "" {
					t.Fatalf("%d %s", a.status, a.body)
				}
				wanted, got := object(t, want), s.tested(a.document)
				if wanted["usage"] == nil && wanted["usageMetadata"] == nil {
					delete(got, "usage")
					delete(got, "usageMetadata")
				}
				if diff := cmp.Diff(wanted, got); diff != "" {
					t.Errorf("(-want +got):\n%s\n%s", diff, a.body)
				}
				if diff := cmp.Diff(sorted(lost), lossesOf(report)); diff != "" {
					t.Errorf("losses (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// testedMessage keeps the tested members of a Message that are not null.
func testedMessage(m map[string]any) map[string]any {
	kept := map[string]any{}
	for _, name := range []string{"content", "stop_reason", "stop_sequence", "stop_details", "usage"} {
		if m[name] != nil {
			kept[name] = m[name]
		}
	}
	return kept
}

// testedGeneration keeps the tested members of a response in normal form, without the texts of
// segments, which a stream does not have.
func testedGeneration(m map[string]any) map[string]any {
	delete(m, "modelVersion")
	delete(m, "responseId")
	m = formattest.NormalResponse(m)
	list, _ := m["candidates"].([]any)
	for _, c := range list {
		g, _ := c.(map[string]any)["groundingMetadata"].(map[string]any)
		supports, _ := g["groundingSupports"].([]any)
		for _, s := range supports {
			delete(s.(map[string]any)["segment"].(map[string]any), "text")
		}
	}
	return m
}

func lossesOf(r *upstream.Report) []string {
	var all []string
	all = append(all, lossplaces.Names(r.Losses)...)
	return sorted(all)
}

func sorted(list []string) []string {
	list = slices.Clone(list)
	slices.Sort(list)
	return slices.Compact(list)
}

func object(t *testing.T, doc string) map[string]any {
	t.Helper()
	m, err := formattest.DecodeObject([]byte(doc))
	if err != nil {
		t.Fatalf("%v\n%s", err, doc)
	}
	return m
}
