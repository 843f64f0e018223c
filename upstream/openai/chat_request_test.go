package openai

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/adapter"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/upstream"
)

// send returns the document of a plan as it is sent, and all losses.
func send(t testing.TB, p *plan) (doc string, losses []content.Loss, err error) {
	t.Helper()
	sender := upstream.Func(func(ctx context.Context, _ *upstream.Request, w *upstream.Writer) error {
		if err := w.Loss(p.Losses); err != nil {
			return err
		}
		if p.Err != nil {
			return p.Err
		}
		news, err := p.Load(ctx)
		if err := w.Loss(news); err != nil {
			return err
		}
		if err != nil {
			return err
		}
		body := adapter.Written{Writer: p.write(t.Context())}
		r := body.Reader()
		defer r.Close()
		text, err := io.ReadAll(r)
		if doc = string(text); int64(len(text)) != body.Len() || !json.Valid(text) {
			t.Errorf("%d of %d bytes: %s", len(text), body.Len(), text)
		}
		return err
	})
	response, err := upstream.Collect(t.Context(), sender, p.Source)
	return doc, response.Losses, err
}

// bothClients returns the clients for Chat Completions and Responses.
func bothClients(t testing.TB, o Options) (*Client, *Responses) {
	t.Helper()
	chat, err := New(&o)
	if err != nil {
		t.Fatal(err)
	}
	responses, err := NewResponses(&o)
	if err != nil {
		t.Fatal(err)
	}
	return chat, responses
}

// documentOf returns the document of a plan.
func documentOf(t testing.TB, p *plan) string {
	t.Helper()
	doc, _, err := send(t, p)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

var q = turnOf(content.RoleUser, textOf("q"))

// messageCases are requests and their messages.
var messageCases = []struct {
	name     string
	local    bool
	model    string
	known    refusals
	dialect  Dialect
	change   func(*upstream.Request)
	messages string // the array
}{
	{name: "system text", change: func(r *upstream.Request) { r.System = partsOf(textOf("a"), textOf("b")) },
		messages: `{"role":"system","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]},{"role":"user","content":"q"}`},
	{name: "system text for a reasoning model", model: "gpt-5", change: func(r *upstream.Request) { r.System = partsOf(textOf("a")) },
		messages: `{"role":"developer","content":"a"},{"role":"user","content":"q"}`},
	{name: "system text for compatible server", local: true, change: func(r *upstream.Request) { r.System = partsOf(textOf("a"), textOf("b")) },
		messages: `{"role":"system","content":"a\n\nb"},{"role":"user","content":"q"}`},
	{name: "cache marks", model: "gpt-5.6-sol", change: func(r *upstream.Request) {
		r.System = partsOf(&content.Text{Text: "a", Cache: &content.Cache{}})
	},
		messages: `{"role":"developer","content":[{"type":"text","text":"a","prompt_cache_breakpoint":{"mode":"explicit"}}]},{"role":"user","content":"q"}`},
	{name: "system turn", change: withTurns(q, turnOf(content.RoleAssistant, textOf("a")), turnOf(content.RoleSystem, textOf("s")), q),
		messages: `{"role":"user","content":"q"},{"role":"assistant","content":"a"},{"role":"system","content":"s"},{"role":"user","content":"q"}`},
	{name: "system turn for compatible server", local: true, change: withTurns(q, turnOf(content.RoleAssistant, textOf("a")), turnOf(content.RoleSystem, textOf("s")), q),
		messages: `{"role":"user","content":"q"},{"role":"assistant","content":"a"},{"role":"user","content":"s\n\nq"}`},
	{name: "consecutive user turns", change: withTurns(q, q, turnOf(content.RoleAssistant, textOf("a")), turnOf(content.RoleAssistant, textOf("b"))),
		messages: `{"role":"user","content":"q"},{"role":"user","content":"q"},{"role":"assistant","content":"ab"}`},
	{name: "texts around a search of another vendor", change: withTurns(q, turnOf(content.RoleAssistant, textOf("I search."),
		&content.ServerToolUse{Format: "messages", Kind: "server_tool_use", ID: "srvtoolu_1", Name: "web_search", Input: `{"query":"x"}`}, textOf("I have "), textOf("found it.")), q),
		messages: `{"role":"user","content":"q"},{"role":"assistant","content":"I search.\n\nI have found it."},{"role":"user","content":"q"}`},
	{name: "consecutive user turns, compatible server", local: true, change: withTurns(q, q), messages: `{"role":"user","content":"q\n\nq"}`},
	{name: "images", change: withUserParts(png), messages: `{"role":"user","content":[{"type":"text","text":"q"},{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}}]}`},
	{name: "image with high detail", change: withUserParts(&content.Image{Source: png.Source, Extra: resolution("MEDIA_RESOLUTION_HIGH")}),
		messages: `{"role":"user","content":[{"type":"text","text":"q"},{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo=","detail":"high"}}]}`},
	{name: "detail of own format, compatible server", local: true, change: withUserParts(&content.Image{Source: png.Source, Extra: &content.Extra{Format: ChatFormat, JSON: `{"detail":"original"}`}}),
		messages: `{"role":"user","content":[{"type":"text","text":"q"},{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo=","detail":"original"}}]}`},
	{name: "detail of generateContent", local: true, change: withUserParts(&content.Image{Source: png.Source, Extra: resolution("MEDIA_RESOLUTION_HIGH")}),
		messages: `{"role":"user","content":[{"type":"text","text":"q"},{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}}]}`},
	{name: "default detail for all images but one", change: func(r *upstream.Request) {
		withMembers(`{"generationConfig":{"mediaResolution":"MEDIA_RESOLUTION_LOW"}}`)(r)
		withUserParts(png, &content.Image{Source: png.Source, Extra: resolution("MEDIA_RESOLUTION_HIGH")})(r)
	}, messages: `{"role":"user","content":[{"type":"text","text":"q"},{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo=","detail":"low"}},{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo=","detail":"high"}}]}`},
	{name: "PDF for server without files", local: true, dialect: Dialect{DescribeUnreadable: true}, change: withUserParts(&content.Document{Source: pdf, Title: "plan.pdf"}),
		messages: `{"role":"user","content":"q\n\n[Here is a file that you cannot read: application/pdf, \"plan.pdf\".]"}`},
	{name: "remote PDF for server without files", local: true, dialect: Dialect{DescribeUnreadable: true}, change: withUserParts(&content.Document{Source: &content.URL{URL: "https://a.example/a.pdf"}}),
		messages: `{"role":"user","content":"q\n\n[Here is a file that you cannot read: application/pdf.]"}`},
	{name: "files for text-only model", local: true, dialect: Dialect{DescribeUnreadable: true, TextOnly: true}, change: withCall(resultOf("c1", textOf("r"), png)),
		messages: `{"role":"user","content":"q"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"r\n\n[Here is a file that you cannot read: an image.]"}`},
	{name: "short ids", local: true, dialect: Dialect{ShortIDs: true}, change: withTurns(q, turnOf(content.RoleAssistant, useOf("toolu_01", "f", "{}"), useOf("aB3dE6gH9", "f", "{}")), turnOf(content.RoleUser, resultOf("aB3dE6gH9", textOf("b")), resultOf("toolu_01", textOf("a")))),
		messages: `{"role":"user","content":"q"},{"role":"assistant","content":null,"tool_calls":[{"id":"` + shortIDOf("toolu_01") + `","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"aB3dE6gH9","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"` + shortIDOf("toolu_01") + `","content":"a"},{"role":"tool","tool_call_id":"aB3dE6gH9","content":"b"}`},
	{name: "encrypted thinking with text", local: true, change: withTurns(q, turnOf(content.RoleAssistant, thinkingPart("hm", `{"encrypted_content":"s"}`), useOf("c1", "f", "")), turnOf(content.RoleUser, resultOf("c1"))),
		messages: `{"role":"user","content":"q"},{"role":"assistant","content":null,"reasoning_content":"hm","encrypted_content":"s","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":""}`},
	{name: "rejected thinking", local: true, known: refusals{fields: fieldReasoning}, change: withTurns(q, turnOf(content.RoleAssistant, thinkingPart("hm", "reasoning"), useOf("c1", "f", "")), turnOf(content.RoleUser, resultOf("c1"))),
		messages: `{"role":"user","content":"q"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":""}`},
	{name: "only an empty text", change: withTurns(turnOf(content.RoleUser, textOf(""))), messages: `{"role":"user","content":"` + emptyMessageText + `"}`},
	{name: "a PDF", change: withUserParts(&content.Document{Source: pdf, Title: "T"}),
		messages: `{"role":"user","content":[{"type":"text","text":"q"},{"type":"file","file":{"filename":"T","file_data":"data:application/pdf;base64,JVBERi0="}}]}`},
	{name: "text document", local: true, change: withUserParts(&content.Document{Source: &content.Base64{MediaType: "text/markdown", Data: "IyBI"}, Title: "T", Context: "C"}),
		messages: `{"role":"user","content":"q\n\nDocument: T\nAbout the document: C\n\n# H"}`},
	{name: "sound", model: "gpt-4o-audio-preview", change: withUserParts(&content.Media{Source: &content.Base64{MediaType: "audio/mpeg", Data: "SUQz"}}),
		messages: `{"role":"user","content":[{"type":"text","text":"q"},{"type":"input_audio","input_audio":{"data":"SUQz","format":"mp3"}}]}`},
	{name: "empty texts", change: withUserParts(textOf(""), textOf("b")), messages: `{"role":"user","content":[{"type":"text","text":"q"},{"type":"text","text":"b"}]}`},
	{name: "tool call and result", change: withCall(resultOf("c1", textOf("r")), textOf("x")),
		messages: `{"role":"user","content":"q"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"r"},{"role":"user","content":"x"}`},
	{name: "results in other order and place", change: withTurns(q, turnOf(content.RoleAssistant, textOf("t"), useOf("a", "f", ""), useOf("b", "g", `{"x":"\n"}`)),
		turnOf(content.RoleUser, textOf("x"), resultOf("b", textOf("B"))), turnOf(content.RoleUser, resultOf("a", textOf("A")))),
		messages: `{"role":"user","content":"q"},{"role":"assistant","content":"t","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"b","type":"function","function":{"name":"g","arguments":"{\"x\":\"\\n\"}"}}]},{"role":"tool","tool_call_id":"a","content":"A"},{"role":"tool","tool_call_id":"b","content":"B"},{"role":"user","content":"x"}`},
	{name: "missing result and orphan result", change: withCall(resultOf("gone", textOf("r"))),
		messages: `{"role":"user","content":"q"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"There is no result of this call."},{"role":"user","content":[{"type":"text","text":"Result of a tool:"},{"type":"text","text":"r"}]}`},
	{name: "calls in last turn", change: withTurns(q, turnOf(content.RoleAssistant, useOf("c1", "f", ""))),
		messages: `{"role":"user","content":"q"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"There is no result of this call."}`},
	{name: "results with all kinds of parts", local: true, change: withCall(&content.ToolResult{ID: "c1", Error: true, Parts: partsOf(textOf("no"), png)}, textOf("x")),
		messages: `{"role":"user","content":"q"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"Error: no"},{"role":"user","content":[{"type":"text","text":"Files of the result of the call c1 of f:"},{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}},{"type":"text","text":"x"}]}`},
	{name: "object as result", change: withCall(&content.ToolResult{ID: "c1", Object: `{"a":1}`, Parts: partsOf(textOf("1"))}),
		messages: `{"role":"user","content":"q"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"{\"a\":1}"}`},
	{name: "failed result without text", change: withCall(&content.ToolResult{ID: "c1", Error: true}),
		messages: `{"role":"user","content":"q"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"Error"}`},
	{name: "empty result", change: withCall(resultOf("c1")),
		messages: `{"role":"user","content":"q"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":""}`},
	{name: "thinking returned in its member", local: true, change: withTurns(q, turnOf(content.RoleAssistant, thinkingPart("hm", "reasoning"), useOf("c1", "f", "")), turnOf(content.RoleUser, resultOf("c1"))),
		messages: `{"role":"user","content":"q"},{"role":"assistant","content":null,"reasoning":"hm","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":""}`},
	{name: "thinking whose text the client returned", local: true, change: withThought,
		messages: `{"role":"user","content":"q"},{"role":"assistant","content":null,"reasoning_content":"a","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":""}`},
	{name: "rejected thinking whose text the client returned", local: true, known: refusals{fields: fieldReasoning}, change: withThought,
		messages: `{"role":"user","content":"q"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":""}`},
	{name: "no thinking to OpenAI whose text the client returned", change: withThought,
		messages: `{"role":"user","content":"q"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":""}`},
	{name: "no thinking to OpenAI", change: withTurns(q, turnOf(content.RoleAssistant, thinkingPart("hm", "reasoning"), useOf("c1", "f", "")), turnOf(content.RoleUser, resultOf("c1"))),
		messages: `{"role":"user","content":"q"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":""}`},
	{name: "thinking lists", local: true, change: withTurns(q, turnOf(content.RoleAssistant, thinkingPart("hm", `{"reasoning_details":[{"a":1}],"role":"system"}`),
		&content.Thinking{Redacted: content.Signature{Format: ChatFormat, Data: `{"reasoning_details":[{"b":2}]}`}}, useOf("c1", "f", "")), turnOf(content.RoleUser, resultOf("c1"))),
		messages: `{"role":"user","content":"q"},{"role":"assistant","content":null,"reasoning_details":[{"a":1},{"b":2}],"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":""}`},
	{name: "unrelated member as signature", local: true, change: withTurns(q, turnOf(content.RoleAssistant, thinkingPart("hm", "role"), useOf("c1", "f", "")), turnOf(content.RoleUser, resultOf("c1"))),
		messages: `{"role":"user","content":"q"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":""}`},
	{name: "thinking carried by call", local: true, change: withTurns(q, turnOf(content.RoleAssistant, &content.ToolUse{ID: "c1", Name: "f", Signature: content.Signature{Format: ChatFormat,
		Data: envelope.EncodeThinking([]*content.Thinking{thinkingPart("hm", "reasoning_content")})}}), turnOf(content.RoleUser, resultOf("c1"))),
		messages: `{"role":"user","content":"q"},{"role":"assistant","content":null,"reasoning_content":"hm","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":""}`},
	{name: "thinking carried by two calls and text", local: true, change: withTurns(q, turnOf(content.RoleAssistant, carryingCall("c1", thinkingPart("h", `{"reasoning_details":[{"a":1}]}`)),
		carryingCall("c2", thinkingPart("m", `{"reasoning_details":[{"b":2}]}`)), &content.Text{Text: "x", Signature: carriedSignature(thinkingPart("!", `{"reasoning_details":[{"c":3}]}`))}), turnOf(content.RoleUser, resultOf("c1"), resultOf("c2"))),
		messages: `{"role":"user","content":"q"},{"role":"assistant","content":"x","reasoning_details":[{"a":1},{"b":2},{"c":3}],"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"c2","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":""},{"role":"tool","tool_call_id":"c2","content":""}`},
	{name: "thinking returned twice", local: true, change: withTurns(q, turnOf(content.RoleAssistant, thinkingPart("hm", "reasoning"), carryingCall("c1", thinkingPart("hm", "reasoning"))), turnOf(content.RoleUser, resultOf("c1"))),
		messages: `{"role":"user","content":"q"},{"role":"assistant","content":null,"reasoning":"hm","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":""}`},
	{name: "server that requires thinking", local: true, known: refusals{thinkingMember: "reasoning_content"}, change: withCall(resultOf("c1")),
		messages: `{"role":"user","content":"q"},{"role":"assistant","content":null,"reasoning_content":"","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":""}`},
}

// carriedSignature returns a signature that carries thinking; carryingCall returns a
// tool call with it.
func carriedSignature(t *content.Thinking) content.Signature {
	return content.Signature{Format: ChatFormat, Data: envelope.EncodeThinking([]*content.Thinking{t})}
}

func carryingCall(id string, t *content.Thinking) *content.ToolUse {
	return &content.ToolUse{ID: id, Name: "f", Signature: carriedSignature(t)}
}

// shortIDOf returns an id of nine letters and digits.
func shortIDOf(id string) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:])[:9]
}

func TestMessages(t *testing.T) {
	for _, test := range messageCases {
		t.Run(test.name, func(t *testing.T) {
			x := lossCase{compatible: test.local, model: test.model, refusals: test.known, dialect: test.dialect, change: test.change}
			doc := documentOf(t, x.plan(t))
			_, got, _ := strings.Cut(doc, `"messages":[`)
			if i := strings.LastIndex(got, "]"); i >= 0 {
				got = got[:i]
			}
			if diff := cmp.Diff(test.messages, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// settingCases are requests and the members after messages.
var settingCases = []struct {
	name    string
	local   bool
	model   string
	dialect Dialect
	known   refusals
	change  func(*upstream.Request)
	want    string // after messages
}{
	{name: "stream", change: func(r *upstream.Request) { r.Stream = true }, want: `,"stream":true,"stream_options":{"include_usage":true,"include_obfuscation":false}`},
	{name: "stream, compatible", local: true, change: func(r *upstream.Request) { r.Stream = true }, want: `,"stream":true,"stream_options":{"include_usage":true}`},
	{name: "limit", change: func(r *upstream.Request) { r.MaxTokens = &seven }, want: `,"max_completion_tokens":7`},
	{name: "limit, compatible", local: true, change: func(r *upstream.Request) { r.MaxTokens = &seven }, want: `,"max_tokens":7`},
	{name: "sampling", change: func(r *upstream.Request) {
		r.Temperature, r.TopP, r.PresencePenalty, r.FrequencyPenalty, r.Seed, r.Candidates = &half, &half, &half, &half, &seven, 2
		r.StopSequences = []string{"a", "b"}
	}, want: `,"n":2,"temperature":0.5,"top_p":0.5,"presence_penalty":0.5,"frequency_penalty":0.5,"seed":7,"stop":["a","b"]`},
	{name: "sampling without thinking", model: "gpt-5.1", change: func(r *upstream.Request) { r.Temperature = &half }, want: `,"temperature":0.5`},
	{name: "top_k, compatible", local: true, change: func(r *upstream.Request) { r.TopK = &seven }, want: `,"top_k":7`},
	{name: "effort", model: "gpt-5", change: thinkingOf(upstream.Thinking{Effort: "high"}), want: `,"reasoning_effort":"high"`},
	{name: "thinking off", model: "gpt-5.1", change: thinkingOf(upstream.Thinking{Mode: upstream.ThinkingOff}), want: `,"reasoning_effort":"none"`},
	{name: "lowest effort", model: "o3", change: thinkingOf(upstream.Thinking{Mode: upstream.ThinkingOff}), want: `,"reasoning_effort":"low"`},
	{name: "budget", model: "gpt-6.2-sol", change: func(r *upstream.Request) {
		n := int64(60000)
		r.Thinking = upstream.Thinking{Mode: upstream.ThinkingBudget, Budget: &n}
	}, want: `,"reasoning_effort":"xhigh"`},
	{name: "effort of other vendor", local: true, change: thinkingOf(upstream.Thinking{Effort: "max"}), want: `,"reasoning_effort":"high"`},
	{name: "tools without thinking", model: "gpt-5.6-sol", change: withTool(plainTool),
		want: `,"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{}}}}],"reasoning_effort":"none"`},
	{name: "tools of all kinds", change: func(r *upstream.Request) {
		r.Tools = []content.Tool{{Name: "f", Description: "d", Strict: new(true), Input: content.Schema{JSON: `{"type":"object","properties":{},"required":[],"additionalProperties":false}`}}, {Name: "g"}}
		r.Choice = content.ToolChoice{Mode: content.ChoiceAny, NoParallel: true}
	}, want: `,"tools":[{"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object","properties":{},"required":[],"additionalProperties":false},"strict":true}},{"type":"function","function":{"name":"g","parameters":{"type":"object","properties":{}}}}],"tool_choice":"required","parallel_tool_calls":false`},
	{name: "one name", change: func(r *upstream.Request) {
		r.Tools, r.Choice = []content.Tool{plainTool}, content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"f"}}
	}, want: `,"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{}}}}],"tool_choice":{"type":"function","function":{"name":"f"}}`},
	{name: "several names", change: func(r *upstream.Request) {
		r.Tools = []content.Tool{plainTool, {Name: "g", Input: plainTool.Input}, {Name: "h"}}
		r.Choice = content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"f", "g"}}
	}, want: `,"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{}}}},{"type":"function","function":{"name":"g","parameters":{"type":"object","properties":{}}}},{"type":"function","function":{"name":"h","parameters":{"type":"object","properties":{}}}}],"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"required","tools":[{"type":"function","function":{"name":"f"}},{"type":"function","function":{"name":"g"}}]}}`},
	{name: "choice without tools", change: func(r *upstream.Request) { r.Choice.Mode = content.ChoiceAny }, want: ``},
	{name: "strict schema", change: func(r *upstream.Request) {
		r.Output.Schema.JSON = `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`
	}, want: `,"response_format":{"type":"json_schema","json_schema":{"name":"answer","schema":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false},"strict":true}}`},
	{name: "JSON", change: func(r *upstream.Request) {
		r.Output.MediaType, r.Turns[0].Parts = "application/json", partsOf(textOf("Some JSON, please."))
	}, want: `,"response_format":{"type":"json_object"}`},
	{name: "JSON schema", local: true, known: refusals{fields: fieldJSONObject}, change: func(r *upstream.Request) {
		r.Output.MediaType, r.Turns[0].Parts = "application/json", partsOf(textOf("Some JSON, please."))
	}, want: `,"response_format":{"type":"json_schema","json_schema":{"name":"answer","schema":{"type":"object"}}}`},
	{name: "thinking switch off", local: true, dialect: Dialect{Thinking: "thinking"}, change: func(r *upstream.Request) {
		r.Thinking.Mode, r.Temperature = upstream.ThinkingOff, &half
	}, want: `,"thinking":{"type":"disabled"},"temperature":0.5`},
	{name: "thinking switch on", local: true, dialect: Dialect{Thinking: "thinking", Efforts: []string{"low", "high", "max"}}, change: func(r *upstream.Request) {
		r.Thinking, r.Temperature = upstream.Thinking{Effort: "max"}, &half
	}, want: `,"reasoning_effort":"max","thinking":{"type":"enabled"}`},
	{name: "thinking switch on without effort", local: true, dialect: Dialect{Thinking: "thinking"}, change: thinkingOf(upstream.Thinking{Mode: upstream.ThinkingAuto}), want: `,"thinking":{"type":"enabled"}`},
	{name: "chat_template_kwargs", local: true, dialect: Dialect{Thinking: "chat_template_kwargs"}, change: func(r *upstream.Request) {
		r.Thinking.Mode, r.Temperature = upstream.ThinkingOff, &half
	}, want: `,"chat_template_kwargs":{"enable_thinking":false,"thinking":false},"temperature":0.5`},
	{name: "thinking switch not requested", local: true, dialect: Dialect{Thinking: "chat_template_kwargs"}, change: func(*upstream.Request) {}, want: ``},
	{name: "thinking switch for OpenAI", model: "gpt-5.1", dialect: Dialect{Thinking: "thinking"}, change: thinkingOf(upstream.Thinking{Mode: upstream.ThinkingOff}), want: `,"reasoning_effort":"none"`},
	{name: "verbosity", model: "gpt-5", change: func(r *upstream.Request) { r.Extra = &content.Extra{Format: ChatFormat, JSON: `{"verbosity":"low"}`} }, want: `,"verbosity":"low"`},
	{name: "one name, rejected choice", known: refusals{fields: fieldToolChoice}, change: func(r *upstream.Request) {
		r.Tools, r.Choice = []content.Tool{plainTool}, content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"f"}}
	}, want: `,"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{}}}}],"tool_choice":"required"`},
	{name: "user id", change: func(r *upstream.Request) { r.UserID, r.ServiceTier = "u", "standard_only" }, want: `,"safety_identifier":"u","service_tier":"default"`},
}

// TestSettings checks all members but messages.
func TestSettings(t *testing.T) {
	for _, test := range settingCases {
		t.Run(test.name, func(t *testing.T) {
			x := lossCase{compatible: test.local, model: test.model, dialect: test.dialect, refusals: test.known, change: test.change}
			p := x.plan(t)
			_, got, _ := strings.Cut(documentOf(t, p), `"}]`)
			got = strings.TrimSuffix(got, "}")
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("losses %v (-want +got):\n%s", p.Losses, diff)
			}
		})
	}
}

// TestChatViolations checks requests that cannot be represented.
func TestChatViolations(t *testing.T) {
	video := &content.Media{Source: &content.Base64{MediaType: "video/mp4", Data: "AAAA"}}
	for _, test := range []struct {
		name   string
		local  bool
		model  string
		change func(*upstream.Request)
		path   string
		code   content.Code
	}{
		{"video", false, "gpt-audio", withUserParts(video), "turns.0.parts.1.source.media_type", content.CodeUnsupported},
		{"sound for a model that hears none", false, "gpt-4.1", withUserParts(&content.Media{Source: &content.Base64{MediaType: "audio/mpeg", Data: "SUQz"}}), "turns.0.parts.1", content.CodeUnsupported},
		{"image of unsupported type", false, "", withUserParts(&content.Image{Source: &content.Base64{MediaType: "image/tiff", Data: "AAAA"}}), "turns.0.parts.1.source.media_type", content.CodeMedia},
		{"PDF for compatible server", true, "", withUserParts(&content.Document{Source: pdf}), "turns.0.parts.1.source", content.CodeUnsupported},
		{"spreadsheet", false, "", withUserParts(&content.Document{Source: &content.Base64{MediaType: "application/vnd.ms-excel", Data: "AAAA"}}), "turns.0.parts.1.source.media_type", content.CodeUnsupported},
		{"unavailable file", false, "", withUserParts(&content.Image{Source: &content.File{ID: "file_1"}}), "turns.0.parts.1.source", content.CodeUnsupported},
		{"link without resolver", false, "", withUserParts(&content.Document{Source: &content.URL{URL: "https://a.example/a.pdf"}}), "turns.0.parts.1.source", content.CodeUnsupported},
		{"video in result", false, "gpt-audio", withCall(resultOf("c1", video)), "turns.2.parts.0.parts.0.source.media_type", content.CodeUnsupported},
		{"arguments that are not an object", false, "", withTurns(turnOf(content.RoleAssistant, useOf("c1", "f", "1"))), "turns.0.parts.0.input", content.CodeType},
		{"nil part", false, "", withUserParts(nil), "turns.0.parts.1", content.CodeValue},
		{"tools only over Responses", false, "gpt-6.2-sol", withTool(plainTool), "tools", content.CodeUnsupported},
	} {
		t.Run(test.name, func(t *testing.T) {
			x := lossCase{compatible: test.local, model: test.model, change: test.change}
			_, _, err := send(t, x.plan(t))
			var e *content.Violation
			if !errors.As(err, &e) || e.Path != test.path || e.Code != test.code {
				t.Errorf("%v, want %s at %s", err, test.code, test.path)
			}
		})
	}
}

// TestTextOnly checks that files are violations with TextOnly.
func TestTextOnly(t *testing.T) {
	c, err := New(&Options{BaseURL: "http://localhost/v1", Dialect: Dialect{TextOnly: true}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Preflight(t.Context(), &upstream.Request{Model: "m", Turns: []content.Turn{turnOf(content.RoleUser, png)}})
	var e *content.Violation
	if !errors.As(err, &e) || e.Path != "turns.0.parts.0" {
		t.Error(err)
	}
}

// TestPrefix checks that the messages of a conversation are a prefix of those after the
// next turn, as prompt caches require.
func TestPrefix(t *testing.T) {
	turns := []content.Turn{
		turnOf(content.RoleUser, textOf("q"), png), turnOf(content.RoleAssistant, textOf("a"), useOf("", "f", "{}"), useOf("x y", "g", "{}")),
		turnOf(content.RoleUser, &content.ToolResult{Name: "f", Parts: partsOf(png)}, resultOf("x y", textOf("r")), textOf("more")),
		turnOf(content.RoleAssistant, textOf("done")), turnOf(content.RoleUser, textOf("again")),
	}
	for _, local := range []bool{false, true} {
		last := ""
		for i := 1; i <= len(turns); i += 2 {
			x := lossCase{compatible: local, change: withTurns(turns[:i]...)}
			doc := strings.TrimSuffix(documentOf(t, x.plan(t)), "]}")
			if !strings.HasPrefix(doc, last) {
				t.Errorf("after %d turns\n%s\ndoes not begin with\n%s", i, doc, last)
			}
			last = doc
		}
	}
}
