package openai

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/upstream"
)

// bodyOf returns the document of a request.
func bodyOf(t testing.TB, n *upstream.Request, kind ServerKind) string {
	t.Helper()
	return documentOf(t, newPlan(t, n, kind, 0))
}

// inputOf returns the items of a request.
func inputOf(t testing.TB, n *upstream.Request, kind ServerKind) string {
	t.Helper()
	var doc struct{ Input json.RawMessage }
	if err := json.Unmarshal([]byte(bodyOf(t, n, kind)), &doc); err != nil {
		t.Fatal(err)
	}
	return string(doc.Input)
}

const (
	resTail = `,"store":false,"include":["reasoning.encrypted_content"]}`
	itemA   = `{"role":"user","content":"a"}`
	itemB   = `{"role":"user","content":"b"}`
	fParams = `"parameters":{"type":"object","properties":{"a":{"type":"string"}}},"strict":false`
)

// A bodyCase is a request and its document.
type bodyCase struct {
	name string
	kind ServerKind
	req  *upstream.Request
	want string
}

// bodyRequest returns a request with the text "a" and a change.
func bodyRequest(model string, change func(*upstream.Request)) *upstream.Request {
	return with(newRequest(model, textOf("a")), change)
}

// settingBodies are about members other than input.
func settingBodies() []bodyCase {
	return []bodyCase{
		{"minimum", ServerOpenAI, newRequest("gpt-5.2", textOf("a")), `{"model":"gpt-5.2","input":[` + itemA + `]` + resTail},
		{"model without thinking", ServerOpenAI, newRequest("gpt-4.1", textOf("a")), `{"model":"gpt-4.1","input":[` + itemA + `],"store":false}`},
		{"instructions, a stream and a limit", ServerOpenAI, bodyRequest("gpt-5.2", func(r *upstream.Request) {
			r.System = partsOf(textOf("x"), textOf("y"))
			r.Stream, r.MaxTokens, r.UserID = true, number(int64(100)), "u1"
		}), `{"model":"gpt-5.2","instructions":"x\n\ny","input":[` + itemA + `],"max_output_tokens":100` + strings.TrimSuffix(resTail, "}") + `,"safety_identifier":"u1","stream":true,"stream_options":{"include_obfuscation":false}}`},
		{"cached instructions", ServerOpenAI, bodyRequest("gpt-6.2-sol", func(r *upstream.Request) {
			r.System = partsOf(&content.Text{Text: "x", Cache: &content.Cache{}}, textOf("y"))
		}), `{"model":"gpt-6.2-sol","input":[{"role":"developer","content":[{"type":"input_text","text":"x","prompt_cache_breakpoint":{"mode":"explicit"}},{"type":"input_text","text":"y"}]},` + itemA + `]` + resTail},
		{"sampling without thinking", ServerOpenAI, bodyRequest("gpt-5.2", func(r *upstream.Request) { r.Temperature, r.TopP = number(0.5), number(0.9) }),
			`{"model":"gpt-5.2","input":[` + itemA + `],"temperature":0.5,"top_p":0.9` + resTail},
		{"service tier", ServerOpenAI, bodyRequest("gpt-5.2", func(r *upstream.Request) { r.ServiceTier = "flex" }),
			`{"model":"gpt-5.2","input":[` + itemA + `]` + strings.TrimSuffix(resTail, "}") + `,"service_tier":"flex"}`},
		{"default service tier", ServerOpenAI, bodyRequest("gpt-5.2", func(r *upstream.Request) { r.ServiceTier = "standard" }),
			`{"model":"gpt-5.2","input":[` + itemA + `]` + strings.TrimSuffix(resTail, "}") + `,"service_tier":"default"}`},
	}
}

// toolBodies are about thinking and tools.
func toolBodies() []bodyCase {
	return []bodyCase{
		{"effort", ServerOpenAI, bodyRequest("gpt-6.1-sol", func(r *upstream.Request) {
			r.Thinking = upstream.Thinking{Mode: upstream.ThinkingAuto, Effort: "max"}
		}), `{"model":"gpt-6.1-sol","input":[` + itemA + `],"reasoning":{"effort":"max","summary":"auto"}` + resTail},
		{"budget", ServerOpenAI, bodyRequest("gpt-6.2-sol", func(r *upstream.Request) {
			r.Thinking = upstream.Thinking{Mode: upstream.ThinkingBudget, Budget: number(int64(9000)), Display: "omitted"}
		}), `{"model":"gpt-6.2-sol","input":[` + itemA + `],"reasoning":{"effort":"high"}` + resTail},
		{"thinking off", ServerOpenAI, bodyRequest("gpt-5.6-sol", func(r *upstream.Request) { r.Thinking.Mode = upstream.ThinkingOff }),
			`{"model":"gpt-5.6-sol","input":[` + itemA + `],"reasoning":{"effort":"none"}` + resTail},
		{"tools", ServerOpenAI, bodyRequest("gpt-5.2", func(r *upstream.Request) {
			r.Tools = []content.Tool{fTool}
			r.Choice = content.ToolChoice{Mode: content.ChoiceAuto, NoParallel: true}
		}), `{"model":"gpt-5.2","input":[` + itemA + `],"tools":[{"type":"function","name":"f",` + fParams + `}],"tool_choice":"auto","parallel_tool_calls":false` + resTail},
		{"strict tool", ServerOpenAI, bodyRequest("gpt-5.2", func(r *upstream.Request) {
			r.Tools = []content.Tool{{Name: "f", Description: "d", Strict: new(true), Input: content.Schema{JSON: `{"type":"object","properties":{},"required":[],"additionalProperties":false}`}}}
			r.Choice.Mode = content.ChoiceNone
		}), `{"model":"gpt-5.2","input":[` + itemA + `],"tools":[{"type":"function","name":"f","description":"d","parameters":{"type":"object","properties":{},"required":[],"additionalProperties":false},"strict":true}],"tool_choice":"none"` + resTail},
		{"one tool", ServerOpenAI, bodyRequest("gpt-5.2", func(r *upstream.Request) {
			r.Tools = []content.Tool{fTool}
			r.Choice = content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"f"}}
		}), `{"model":"gpt-5.2","input":[` + itemA + `],"tools":[{"type":"function","name":"f",` + fParams + `}],"tool_choice":{"type":"function","name":"f"}` + resTail},
		{"some tools", ServerOpenAI, bodyRequest("gpt-5.2", func(r *upstream.Request) {
			r.Tools = []content.Tool{fTool, {Name: "g"}, {Name: "h"}}
			r.Choice = content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"f", "g"}}
		}), `{"model":"gpt-5.2","input":[` + itemA + `],"tools":[{"type":"function","name":"f",` + fParams + `},{"type":"function","name":"g","parameters":{"type":"object","properties":{}},"strict":false},{"type":"function","name":"h","parameters":{"type":"object","properties":{}},"strict":false}],` +
			`"tool_choice":{"type":"allowed_tools","mode":"required","tools":[{"type":"function","name":"f"},{"type":"function","name":"g"}]}` + resTail},
		{"built-in tools", ServerOpenAI, bodyRequest("gpt-5.2", func(r *upstream.Request) {
			r.Tools = []content.Tool{
				{Kind: "web_search_20250305", Format: "messages", Raw: `{"type":"web_search_20250305","name":"web_search","allowed_domains":["a.example"],"user_location":{"type":"approximate","city":"Oslo"}}`},
				{Kind: "codeExecution", Format: "generatecontent", Raw: `{}`}, {Kind: "mcp", Format: ResponsesFormat, Raw: `{"type":"mcp","server_label":"x"}`},
			}
		}), `{"model":"gpt-5.2","input":[` + itemA + `],"tools":[{"type":"web_search","filters":{"allowed_domains":["a.example"]},"user_location":{"type":"approximate","city":"Oslo"}},{"type":"code_interpreter","container":{"type":"auto"}},{"type":"mcp","server_label":"x"}]` + resTail},
	}
}

// outputBodies are about the form of responses, and other members.
func outputBodies() []bodyCase {
	return []bodyCase{
		{"schema", ServerOpenAI, bodyRequest("gpt-5.2", func(r *upstream.Request) {
			r.Output = upstream.Output{MediaType: jsonType, Schema: content.Schema{JSON: `{"type":"object","properties":{},"required":[],"additionalProperties":false}`}}
		}), `{"model":"gpt-5.2","input":[` + itemA + `],"text":{"format":{"type":"json_schema","name":"answer","schema":{"type":"object","properties":{},"required":[],"additionalProperties":false},"strict":true}}` + resTail},
		{"JSON object", ServerOpenAI, bodyRequest("gpt-5.2", func(r *upstream.Request) { r.Output.MediaType = jsonType }),
			`{"model":"gpt-5.2","input":[{"role":"developer","content":"Answer in JSON."},` + itemA + `],"text":{"format":{"type":"json_object"}}` + resTail},
		{"JSON object, compatible server", ServerCompatible, bodyRequest("m", func(r *upstream.Request) { r.Output.MediaType = jsonType }),
			`{"model":"m","instructions":"Answer in JSON.","input":[` + itemA + `],"text":{"format":{"type":"json_object"}}` + resTail},
		{"merged own members", ServerOpenAI, bodyRequest("gpt-5.2", func(r *upstream.Request) {
			r.Extra = &content.Extra{Format: ResponsesFormat, JSON: `{"text":{"verbosity":"low","format":{"type":"text"}},"reasoning":{"context":"all_turns","effort":"max"},"include":["reasoning.encrypted_content","message.output_text.logprobs"]}`}
			r.Thinking.Effort = "low"
		}), `{"model":"gpt-5.2","input":[` + itemA + `],"reasoning":{"effort":"low","context":"all_turns"},"text":{"verbosity":"low"},"store":false,"include":["reasoning.encrypted_content","message.output_text.logprobs"]}`},
		{"tool output schema", ServerOpenAI, bodyRequest("gpt-5.2", func(r *upstream.Request) {
			r.Tools = []content.Tool{{Name: "f", Input: content.Schema{JSON: openSchema}, Output: content.Schema{JSON: openSchema}}}
		}), `{"model":"gpt-5.2","input":[` + itemA + `],"tools":[{"type":"function","name":"f",` + fParams + `,"output_schema":` + openSchema + `}]` + resTail},
		{"own members", ServerOpenAI, bodyRequest("gpt-5.2", func(r *upstream.Request) {
			r.Extra = &content.Extra{Format: ResponsesFormat, JSON: `{"metadata":{"a":"b"},"store":true,"truncation":"auto"}`}
		}), `{"model":"gpt-5.2","input":[` + itemA + `]` + strings.TrimSuffix(resTail, "}") + `,"metadata":{"a":"b"},"truncation":"auto"}`},
		{"instructions and response", ServerOpenAI, with(newConversation(textOf("x")), func(r *upstream.Request) {
			r.System = partsOf(textOf("s"), textOf("t"))
		}), `{"model":"gpt-6.2-sol","instructions":"s\n\nt","input":[` + itemA + `,{"type":"message","role":"assistant","content":"x","phase":"final_answer"},` + itemB + `]` + resTail},
		{"system turn", ServerOpenAI, with(newConversation(textOf("x")), func(r *upstream.Request) {
			r.Turns[2].Role = content.RoleSystem
		}), `{"model":"gpt-6.2-sol","input":[` + itemA + `,{"type":"message","role":"assistant","content":"x","phase":"final_answer"},{"role":"developer","content":"b"}]` + resTail},
	}
}

// TestResponsesBodies checks complete documents.
func TestResponsesBodies(t *testing.T) {
	for _, tt := range slices.Concat(settingBodies(), toolBodies(), outputBodies()) {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, bodyOf(t, tt.req, tt.kind)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestResponsesParts checks parts of the user and of tool results.
func TestResponsesParts(t *testing.T) {
	png := &content.Image{Source: &content.Base64{MediaType: "image/png", Data: "iVBORw0KGgo"}}
	const image = `{"type":"input_image","image_url":"data:image/png;base64,iVBORw0KGgo="}`
	pdf := &content.Base64{MediaType: "application/pdf", Data: "JVBERi0xLjQK"}
	result := func(p ...content.Part) []content.Part { return partsOf(&content.ToolResult{ID: "c1", Parts: p}) }
	output := func(s string) string {
		return `{"type":"function_call_output","call_id":"c1","output":` + s + `}`
	}
	text := func(s string) string { return output(`[{"type":"input_text","text":` + s + `}]`) }
	tests := []struct {
		name  string
		parts []content.Part
		want  string
	}{
		{"texts", partsOf(textOf("a"), textOf("b")), `{"role":"user","content":[{"type":"input_text","text":"a"},{"type":"input_text","text":"b"}]}`},
		{"image", partsOf(png), `{"role":"user","content":[` + image + `]}`},
		{"link", partsOf(&content.Image{Source: &content.URL{URL: "https://a.example/b"}}), `{"role":"user","content":[{"type":"input_image","image_url":"https://a.example/b"}]}`},
		{"an id", partsOf(&content.Image{Source: &content.File{ID: "file-1"}}), `{"role":"user","content":[{"type":"input_image","file_id":"file-1"}]}`},
		{"file with title", partsOf(&content.Document{Title: "Plan", Source: pdf}), `{"role":"user","content":[{"type":"input_file","filename":"Plan.pdf","file_data":"data:application/pdf;base64,JVBERi0xLjQK"}]}`},
		{"file by link", partsOf(&content.Document{Source: &content.URL{URL: "https://a.example/b"}}), `{"role":"user","content":[{"type":"input_file","file_url":"https://a.example/b"}]}`},
		{"file by id", partsOf(&content.Document{Source: &content.File{ID: "file-1"}}), `{"role":"user","content":[{"type":"input_file","file_id":"file-1"}]}`},
		{"text file", partsOf(&content.Document{Title: "T", Context: "C", Source: &content.Base64{MediaType: "text/plain", Data: "aGk="}}),
			`{"role":"user","content":[{"type":"input_text","text":"Document: T\nAbout the document: C"},{"type":"input_text","text":"hi"}]}`},
		{"result", result(textOf("r")), text(`"r"`)},
		{"result of texts", result(textOf("r"), textOf("s")), output(`[{"type":"input_text","text":"r"},{"type":"input_text","text":"s"}]`)},
		{"result with image", result(textOf("r"), png), output(`[{"type":"input_text","text":"r"},` + image + `]`)},
		{"result with file", result(&content.Document{Source: pdf}), output(`[{"type":"input_file","filename":"document.pdf","file_data":"data:application/pdf;base64,JVBERi0xLjQK"}]`)},
		{"empty result", result(), output(`""`)},
		{"object", partsOf(&content.ToolResult{ID: "c1", Object: `{"x":1}`, Parts: partsOf(textOf(`1`))}), text(`"{\"x\":1}"`)},
		{"failed tool call", partsOf(&content.ToolResult{ID: "c1", Error: true, Parts: partsOf(textOf("r"))}), text(`"Error: r"`)},
		{"failed tool call with image", partsOf(&content.ToolResult{ID: "c1", Error: true, Parts: partsOf(png)}), output(`[{"type":"input_text","text":"Error"},` + image + `]`)},
		{"result without a call", partsOf(textOf("x"), resultOf("gone", textOf("r"))),
			`{"role":"user","content":[{"type":"input_text","text":"x"},{"type":"input_text","text":"Result of a tool:"},{"type":"input_text","text":"r"}]}`},
		{"text, result and text", append(append(partsOf(textOf("x")), result(textOf("r"))...), textOf("y")),
			text(`"r"`) + `,{"role":"user","content":[{"type":"input_text","text":"x"},{"type":"input_text","text":"y"}]}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := newConversation(useOf("c1", "f", ""))
			n.ForwardLinks = true
			n.Turns[2].Parts = tt.parts
			want := tt.want
			if !strings.Contains(want, "function_call_output") {
				want = text(`"There is no result of this call."`) + `,` + want
			}
			want = `[` + itemA + `,{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"},` + want + `]`
			if diff := cmp.Diff(want, inputOf(t, n, ServerOpenAI)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestPhases checks the phase of each message of the assistant: the last one of a turn is the
// final answer unless the client runs a call of the turn, for models that have phases.
func TestPhases(t *testing.T) {
	const search = `{"id":"ws_1","type":"web_search_call","status":"completed","action":{"type":"search"}}`
	computer := &content.Unknown{Format: ResponsesFormat, Kind: "computer_call", Raw: `{"type":"computer_call","id":"cu_1"}`}
	assistant := func(parts ...content.Part) content.Turn { return turnOf(content.RoleAssistant, parts...) }
	for _, tt := range []struct {
		name  string
		model string // empty: one with phases
		host  string // empty: OpenAI's
		turns []content.Turn
		want  string // the phases, in order
	}{
		{"one message", "", "", []content.Turn{assistant(textOf("a"))}, "final_answer"},
		{"message before a call", "", "", []content.Turn{assistant(textOf("a"), useOf("c", "f", "{}"))}, "commentary"},
		{"message after a call", "", "", []content.Turn{assistant(useOf("c", "f", "{}"), textOf("a"))}, "commentary"},
		{"call in a turn of its own", "", "", []content.Turn{assistant(textOf("a")), assistant(useOf("c", "f", "{}"))}, "commentary"},
		{"messages between thinking", "", "", []content.Turn{assistant(redactedPart(think1), textOf("a"), redactedPart(think1), textOf("b"))}, "commentary final_answer"},
		{"call that the server ran", "", "", []content.Turn{assistant(textOf("a"), redactedPart(search), textOf("b"), textOf("c"), redactedPart(search))}, "commentary final_answer"},
		{"item of a call that the client runs", "", "", []content.Turn{assistant(textOf("a"), computer)}, "commentary"},
		{"empty text at the end", "", "", []content.Turn{assistant(textOf("a"), redactedPart(search), textOf(""))}, "final_answer"},
		{"chunks", "", "", []content.Turn{assistant(textOf("a"), textOf("b")), assistant(textOf("c"))}, "final_answer"},
		{"each turn", "", "", []content.Turn{assistant(textOf("a"), useOf("c", "f", "{}")), turnOf(content.RoleUser, resultOf("c")), assistant(textOf("b")), q, assistant(textOf("c"))},
			"commentary final_answer final_answer"},
		{"first model with phases", "gpt-5.3-codex", "", []content.Turn{assistant(textOf("a"))}, "final_answer"},
		{"gateway", "openai/gpt-5.4", "https://gateway.example/v1", []content.Turn{assistant(textOf("a"))}, "final_answer"},
		{"unknown model of OpenAI", "gpt-7", "", []content.Turn{assistant(textOf("a"))}, "final_answer"},
		{"earlier model", "gpt-4.1", "", []content.Turn{assistant(textOf("a"))}, ""},
		{"server without phases", "grok-4.5", "https://api.x.ai/v1", []content.Turn{assistant(textOf("a"))}, ""},
		{"DeepSeek", "deepseek-v4-flash", "https://api.deepseek.com/v1", []content.Turn{assistant(textOf("a"))}, "final_answer"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.model == "" {
				tt.model = "gpt-5.4"
			}
			c, err := NewResponses(&Options{BaseURL: tt.host})
			if err != nil {
				t.Fatal(err)
			}
			n := &upstream.Request{Model: tt.model, Turns: slices.Concat([]content.Turn{q}, tt.turns, []content.Turn{q})}
			var phases []string
			for _, x := range gjson.Get(documentOf(t, c.plan(n)), "input.#.phase").Array() {
				phases = append(phases, x.Str)
			}
			if got := strings.Join(phases, " "); got != tt.want {
				t.Errorf("phases %q, want %q", got, tt.want)
			}
		})
	}
}

// TestResponsesCarried checks turns with carried items.
func TestResponsesCarried(t *testing.T) {
	const (
		think2 = `{"type":"reasoning","id":"rs_2","summary":[],"encrypted_content":"y"}`
		search = `{"id":"ws_1","type":"web_search_call","status":"completed","action":{"type":"search"}}`
		callC  = `{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c1","output":[{"type":"input_text","text":"There is no result of this call."}]}`
	)
	message := func(s, phase string) string {
		return `{"type":"message","role":"assistant","content":"` + s + `","phase":"` + phase + `"}`
	}
	commentary := func(s string) string { return message(s, "commentary") }
	answer := func(s string) string { return message(s, "final_answer") }
	join := func(list ...*content.Thinking) content.Signature { return itemSignature(envelope.EncodeThinking(list)) }
	state := redactedPart
	signed := func(s content.Signature) *content.ToolUse {
		return &content.ToolUse{ID: "c1", Name: "f", Signature: s}
	}
	tests := []struct {
		name  string
		parts []content.Part
		want  string
	}{
		{"in order", partsOf(&content.Thinking{Text: "hm", Signature: itemSignature(think1)}, textOf("x"), redactedPart(think2), useOf("c1", "f", "")), think1 + "," + commentary("x") + "," + think2 + "," + callC},
		{"built-in tool", partsOf(redactedPart(think1), &content.ServerToolUse{Format: ResponsesFormat, ID: "ws_1"}, redactedPart(search), textOf("x")), think1 + "," + search + "," + answer("x")},
		{"built-in tool as unknown part", partsOf(redactedPart(search), &content.Unknown{Format: ResponsesFormat, Raw: search}, textOf("x")), search + "," + answer("x")},
		{"carried by call", partsOf(textOf("x"), signed(join(state(think1), state(think2)))), think1 + "," + think2 + "," + commentary("x") + "," + callC},
		{"carried by call, one block returned", partsOf(textOf("x"), redactedPart(think1), textOf("y"), signed(join(state(search), state(think1), state(think2)))),
			search + "," + commentary("x") + "," + think1 + "," + think2 + "," + commentary("y") + "," + callC},
		{"carried by call, all blocks returned", partsOf(redactedPart(think1), signed(join(state(think1)))), think1 + "," + callC},
		{"carried by empty text", partsOf(textOf("x"), &content.Text{Signature: join(state(think1))}), think1 + "," + answer("x")},
		{"carried by empty text only", partsOf(&content.Text{Signature: join(state(think1))}), ""},
		{"carried by call, unsigned block", partsOf(&content.Thinking{Text: "hm"}, signed(join(&content.Thinking{Text: "hm", Signature: itemSignature(think1)}))), think1 + "," + callC},
		{"image", partsOf(redactedPart(think1), &content.Image{Source: &content.Base64{MediaType: "image/png", Data: "iVBORw0KGgo="}, Signature: itemSignature(`{"type":"image_generation_call","id":"ig_1"}`)}),
			think1 + `,{"type":"image_generation_call","id":"ig_1","status":"completed","result":"iVBORw0KGgo="}`},
		{"call with namespace", partsOf(&content.ToolUse{ID: "c1", Name: "f", Extra: &content.Extra{Format: ResponsesFormat, JSON: `{"namespace":"n","name":"x"}`}}), strings.Replace(callC, `"arguments":"{}"`, `"arguments":"{}","namespace":"n"`, 1)},
		{"no encrypted content", partsOf(redactedPart(`{"type":"reasoning","id":"rs_1","summary":[]}`), textOf("x")), answer("x")},
		{"invalid item", partsOf(redactedPart(`{"type":"message","role":"system","content":"x"}`), textOf("x")), answer("x")},
		{"broken", partsOf(redactedPart(`{"type":`), textOf("x")), answer("x")},
		{"no following item", partsOf(textOf("x"), redactedPart(think1)), answer("x")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want := `[` + strings.ReplaceAll(itemA+`,`+tt.want+`,`+itemB, ",,", ",") + `]`
			if diff := cmp.Diff(want, inputOf(t, newConversation(tt.parts...), ServerOpenAI)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A shelf is a resolver with one file.
type shelf struct{ blob content.Blob }

func (s shelf) Resolve(context.Context, content.Source) (content.Blob, error) { return s.blob, nil }

// TestResponsesLoaded checks that files behind links and ids are fetched and sent,
// unless ForwardLinks allows links.
func TestResponsesLoaded(t *testing.T) {
	const loaded = `{"role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,iVBORw0KGgo="}]}`
	const passed = `{"role":"user","content":[{"type":"input_image","image_url":"https://a.example/b"}]}`
	link, id := &content.URL{URL: "https://a.example/b"}, &content.File{ID: "file_011"}
	for _, tt := range []struct {
		source content.Source
		pass   bool
		kind   ServerKind
		want   string
	}{
		{link, false, ServerOpenAI, loaded}, {link, true, ServerOpenAI, passed}, {link, true, ServerCompatible, loaded},
		{id, false, ServerOpenAI, loaded}, {id, true, ServerOpenAI, loaded},
	} {
		n := newRequest("gpt-5.2", &content.Image{Source: tt.source})
		n.ForwardLinks = tt.pass
		n.Resolver = shelf{content.Blob{MediaType: "image/png", Data: []byte("\x89PNG\r\n\x1a\n")}}
		if got := inputOf(t, n, tt.kind); got != "["+tt.want+"]" {
			t.Errorf("%T, forwarded %v, kind %d: %s", tt.source, tt.pass, tt.kind, got)
		}
	}
}

// FuzzResponsesCarried encodes carried state that clients have changed in any way.
func FuzzResponsesCarried(f *testing.F) {
	f.Add(think1, `[{"redacted":"{}"}]`, "text")
	f.Add(`{"type":"web_search_call"}`, `[{"signature":"`+`{\"type\":\"reasoning\"}`+`"}]`, "é")
	f.Fuzz(func(t *testing.T, item, list, text string) {
		n := newConversation(redactedPart(item), textOf(text), &content.Thinking{Text: text, Signature: itemSignature(item)},
			&content.ToolUse{ID: "c", Name: "f", Signature: itemSignature(list)}, &content.Text{Text: text, Signature: itemSignature(list)},
			&content.Image{Source: &content.Base64{MediaType: "image/png", Data: "iVBORw0KGgo="}, Signature: itemSignature(item)})
		bodyOf(t, n, ServerOpenAI) // fails unless it is JSON
	})
}
