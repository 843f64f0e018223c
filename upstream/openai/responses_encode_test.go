package openai

import (
	"context"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/upstream"
)

// bodyOf returns the document that a request becomes.
func bodyOf(t testing.TB, n *upstream.Request, kind ServerKind) string {
	t.Helper()
	body, err := planOf(t, n, kind, 0).body(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r := body.Reader()
	defer r.Close()
	text, err := io.ReadAll(r)
	if err != nil || int64(len(text)) != body.Len() || !json.Valid(text) {
		t.Fatalf("%v, %d of %d bytes: %s", err, len(text), body.Len(), text)
	}
	return string(text)
}

// inputOf returns the items of a conversation.
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

// A resBody is a request and the document that it becomes.
type resBody struct {
	name string
	kind ServerKind
	req  *upstream.Request
	want string
}

// set is a request of the text a, with a change.
func set(model string, change func(*upstream.Request)) *upstream.Request {
	return with(asked(model, sayText("a")), change)
}

// resPlainBodies are about what stands around a conversation.
func resPlainBodies() []resBody {
	return []resBody{
		{"the least", KindVendor, asked("gpt-5.2", sayText("a")), `{"model":"gpt-5.2","input":[` + itemA + `]` + resTail},
		{"a model that does not reason", KindVendor, asked("gpt-4.1", sayText("a")), `{"model":"gpt-4.1","input":[` + itemA + `],"store":false}`},
		{"instructions, a stream and a limit", KindVendor, set("gpt-5.2", func(r *upstream.Request) {
			r.System = partsOf(sayText("x"), sayText("y"))
			r.Stream, r.MaxTokens, r.UserID = true, number(int64(100)), "u1"
		}), `{"model":"gpt-5.2","instructions":"x\n\ny","input":[` + itemA + `],"max_output_tokens":100` + strings.TrimSuffix(resTail, "}") + `,"safety_identifier":"u1","stream":true,"stream_options":{"include_obfuscation":false}}`},
		{"instructions to be cached", KindVendor, set("gpt-6.2-sol", func(r *upstream.Request) {
			r.System = partsOf(&content.Text{Text: "x", Cache: &content.Cache{}}, sayText("y"))
		}), `{"model":"gpt-6.2-sol","input":[{"role":"developer","content":[{"type":"input_text","text":"x","prompt_cache_breakpoint":{"mode":"explicit"}},{"type":"input_text","text":"y"}]},` + itemA + `]` + resTail},
		{"sampling where it is taken", KindVendor, set("gpt-5.2", func(r *upstream.Request) { r.Temperature, r.TopP = number(0.5), number(0.9) }),
			`{"model":"gpt-5.2","input":[` + itemA + `],"temperature":0.5,"top_p":0.9` + resTail},
		{"a service tier", KindVendor, set("gpt-5.2", func(r *upstream.Request) { r.ServiceTier = "flex" }),
			`{"model":"gpt-5.2","input":[` + itemA + `]` + strings.TrimSuffix(resTail, "}") + `,"service_tier":"flex"}`},
		{"the usual service tier", KindVendor, set("gpt-5.2", func(r *upstream.Request) { r.ServiceTier = "standard" }),
			`{"model":"gpt-5.2","input":[` + itemA + `]` + strings.TrimSuffix(resTail, "}") + `,"service_tier":"default"}`},
	}
}

// resToolBodies are about thinking and tools.
func resToolBodies() []resBody {
	return []resBody{
		{"an effort", KindVendor, set("gpt-6.1-sol", func(r *upstream.Request) {
			r.Thinking = upstream.Thinking{Mode: upstream.ThinkingAuto, Effort: "max"}
		}), `{"model":"gpt-6.1-sol","input":[` + itemA + `],"reasoning":{"effort":"max","summary":"auto"}` + resTail},
		{"a budget", KindVendor, set("gpt-6.2-sol", func(r *upstream.Request) {
			r.Thinking = upstream.Thinking{Mode: upstream.ThinkingBudget, Budget: number(int64(9000)), Display: "omitted"}
		}), `{"model":"gpt-6.2-sol","input":[` + itemA + `],"reasoning":{"effort":"high"}` + resTail},
		{"thinking off", KindVendor, set("gpt-5.6-sol", func(r *upstream.Request) { r.Thinking.Mode = upstream.ThinkingOff }),
			`{"model":"gpt-5.6-sol","input":[` + itemA + `],"reasoning":{"effort":"none"}` + resTail},
		{"tools", KindVendor, set("gpt-5.2", func(r *upstream.Request) {
			r.Tools = []content.Tool{fTool}
			r.Choice = content.ToolChoice{Mode: content.ChoiceAuto, NoParallel: true}
		}), `{"model":"gpt-5.2","input":[` + itemA + `],"tools":[{"type":"function","name":"f",` + fParams + `}],"tool_choice":"auto","parallel_tool_calls":false` + resTail},
		{"a tool that is strict", KindVendor, set("gpt-5.2", func(r *upstream.Request) {
			r.Tools = []content.Tool{{Name: "f", Description: "d", Strict: true, Input: content.Schema{JSON: `{"type":"object","properties":{},"required":[],"additionalProperties":false}`}}}
			r.Choice.Mode = content.ChoiceNone
		}), `{"model":"gpt-5.2","input":[` + itemA + `],"tools":[{"type":"function","name":"f","description":"d","parameters":{"type":"object","properties":{},"required":[],"additionalProperties":false},"strict":true}],"tool_choice":"none"` + resTail},
		{"one tool", KindVendor, set("gpt-5.2", func(r *upstream.Request) {
			r.Tools = []content.Tool{fTool}
			r.Choice = content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"f"}}
		}), `{"model":"gpt-5.2","input":[` + itemA + `],"tools":[{"type":"function","name":"f",` + fParams + `}],"tool_choice":{"type":"function","name":"f"}` + resTail},
		{"some tools", KindVendor, set("gpt-5.2", func(r *upstream.Request) {
			r.Tools = []content.Tool{fTool, {Name: "g"}, {Name: "h"}}
			r.Choice = content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"f", "g"}}
		}), `{"model":"gpt-5.2","input":[` + itemA + `],"tools":[{"type":"function","name":"f",` + fParams + `},{"type":"function","name":"g","parameters":{"type":"object","properties":{}},"strict":false},{"type":"function","name":"h","parameters":{"type":"object","properties":{}},"strict":false}],` +
			`"tool_choice":{"type":"allowed_tools","mode":"required","tools":[{"type":"function","name":"f"},{"type":"function","name":"g"}]}` + resTail},
		{"built-in tools", KindVendor, set("gpt-5.2", func(r *upstream.Request) {
			r.Tools = []content.Tool{
				{Kind: "web_search_20250305", Format: "messages", Raw: `{"type":"web_search_20250305","name":"web_search","allowed_domains":["a.example"],"user_location":{"type":"approximate","city":"Oslo"}}`},
				{Kind: "codeExecution", Format: "generatecontent", Raw: `{}`}, {Kind: "mcp", Format: ResponsesFormat, Raw: `{"type":"mcp","server_label":"x"}`},
			}
		}), `{"model":"gpt-5.2","input":[` + itemA + `],"tools":[{"type":"web_search","filters":{"allowed_domains":["a.example"]},"user_location":{"type":"approximate","city":"Oslo"}},{"type":"code_interpreter","container":{"type":"auto"}},{"type":"mcp","server_label":"x"}]` + resTail},
	}
}

// resOtherBodies are about the form of answers, and what is left.
func resOtherBodies() []resBody {
	return []resBody{
		{"a schema", KindVendor, set("gpt-5.2", func(r *upstream.Request) {
			r.Output = upstream.Output{MediaType: jsonType, Schema: content.Schema{JSON: `{"type":"object","properties":{},"required":[],"additionalProperties":false}`}}
		}), `{"model":"gpt-5.2","input":[` + itemA + `],"text":{"format":{"type":"json_schema","name":"answer","schema":{"type":"object","properties":{},"required":[],"additionalProperties":false},"strict":true}}` + resTail},
		{"JSON of any kind", KindVendor, set("gpt-5.2", func(r *upstream.Request) { r.Output.MediaType = jsonType }),
			`{"model":"gpt-5.2","input":[{"role":"developer","content":"Answer in JSON."},` + itemA + `],"text":{"format":{"type":"json_object"}}` + resTail},
		{"JSON, elsewhere", KindCompatible, set("m", func(r *upstream.Request) { r.Output.MediaType = jsonType }),
			`{"model":"m","instructions":"Answer in JSON.","input":[` + itemA + `],"text":{"format":{"type":"json_object"}}` + resTail},
		{"members that stand beside its own", KindVendor, set("gpt-5.2", func(r *upstream.Request) {
			r.Extra = &content.Extra{Format: ResponsesFormat, JSON: `{"text":{"verbosity":"low","format":{"type":"text"}},"reasoning":{"context":"all_turns","effort":"max"},"include":["reasoning.encrypted_content","message.output_text.logprobs"]}`}
			r.Thinking.Effort = "low"
		}), `{"model":"gpt-5.2","input":[` + itemA + `],"reasoning":{"effort":"low","context":"all_turns"},"text":{"verbosity":"low"},"store":false,"include":["reasoning.encrypted_content","message.output_text.logprobs"]}`},
		{"the schema of results", KindVendor, set("gpt-5.2", func(r *upstream.Request) {
			r.Tools = []content.Tool{{Name: "f", Input: content.Schema{JSON: openSchema}, Output: content.Schema{JSON: openSchema}}}
		}), `{"model":"gpt-5.2","input":[` + itemA + `],"tools":[{"type":"function","name":"f",` + fParams + `,"output_schema":` + openSchema + `}]` + resTail},
		{"members of its own", KindVendor, set("gpt-5.2", func(r *upstream.Request) {
			r.Extra = &content.Extra{Format: ResponsesFormat, JSON: `{"metadata":{"a":"b"},"store":true,"truncation":"auto"}`}
		}), `{"model":"gpt-5.2","input":[` + itemA + `]` + strings.TrimSuffix(resTail, "}") + `,"metadata":{"a":"b"},"truncation":"auto"}`},
		{"instructions and an answer", KindVendor, with(answered(sayText("x")), func(r *upstream.Request) {
			r.System = partsOf(sayText("s"), sayText("t"))
		}), `{"model":"gpt-6.2-sol","instructions":"s\n\nt","input":[` + itemA + `,{"type":"message","role":"assistant","content":"x"},` + itemB + `]` + resTail},
		{"system text amid a conversation", KindVendor, with(answered(sayText("x")), func(r *upstream.Request) {
			r.Turns[2].Role = content.RoleSystem
		}), `{"model":"gpt-6.2-sol","input":[` + itemA + `,{"type":"message","role":"assistant","content":"x"},{"role":"developer","content":"b"}]` + resTail},
	}
}

// TestResponsesBodies writes whole documents.
func TestResponsesBodies(t *testing.T) {
	for _, tt := range slices.Concat(resPlainBodies(), resToolBodies(), resOtherBodies()) {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, bodyOf(t, tt.req, tt.kind)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestResponsesParts writes what the user gives, and what tools give back.
func TestResponsesParts(t *testing.T) {
	png := &content.Image{Source: &content.Base64{MediaType: "image/png", Data: "iVBORw0KGgo"}}
	const image = `{"type":"input_image","image_url":"data:image/png;base64,iVBORw0KGgo="}`
	pdf := &content.Base64{MediaType: "application/pdf", Data: "JVBERi0xLjQK"}
	result := func(p ...content.Part) []content.Part { return partsOf(&content.ToolResult{ID: "c1", Parts: p}) }
	output := func(s string) string {
		return `{"type":"function_call_output","call_id":"c1","output":` + s + `}`
	}
	tests := []struct {
		name  string
		parts []content.Part
		want  string
	}{
		{"texts", partsOf(sayText("a"), sayText("b")), `{"role":"user","content":[{"type":"input_text","text":"a"},{"type":"input_text","text":"b"}]}`},
		{"an image", partsOf(png), `{"role":"user","content":[` + image + `]}`},
		{"a link", partsOf(&content.Image{Source: &content.URL{URL: "https://a.example/b"}}), `{"role":"user","content":[{"type":"input_image","image_url":"https://a.example/b"}]}`},
		{"an id", partsOf(&content.Image{Source: &content.File{ID: "file-1"}}), `{"role":"user","content":[{"type":"input_image","file_id":"file-1"}]}`},
		{"a file with a title", partsOf(&content.Document{Title: "Plan", Source: pdf}), `{"role":"user","content":[{"type":"input_file","filename":"Plan.pdf","file_data":"data:application/pdf;base64,JVBERi0xLjQK"}]}`},
		{"a file by link", partsOf(&content.Document{Source: &content.URL{URL: "https://a.example/b"}}), `{"role":"user","content":[{"type":"input_file","file_url":"https://a.example/b"}]}`},
		{"a file by id", partsOf(&content.Document{Source: &content.File{ID: "file-1"}}), `{"role":"user","content":[{"type":"input_file","file_id":"file-1"}]}`},
		{"a text as a file", partsOf(&content.Document{Title: "T", Context: "C", Source: &content.Base64{MediaType: "text/plain", Data: "aGk="}}),
			`{"role":"user","content":[{"type":"input_text","text":"Document: T\nAbout the document: C"},{"type":"input_text","text":"hi"}]}`},
		{"a result", result(sayText("r")), output(`"r"`)},
		{"a result of texts", result(sayText("r"), sayText("s")), output(`[{"type":"input_text","text":"r"},{"type":"input_text","text":"s"}]`)},
		{"a result with an image", result(sayText("r"), png), output(`[{"type":"input_text","text":"r"},` + image + `]`)},
		{"a result with a file", result(&content.Document{Source: pdf}), output(`[{"type":"input_file","filename":"document.pdf","file_data":"data:application/pdf;base64,JVBERi0xLjQK"}]`)},
		{"a result of nothing", result(), output(`""`)},
		{"an object", partsOf(&content.ToolResult{ID: "c1", Object: `{"x":1}`, Parts: partsOf(sayText(`1`))}), output(`"{\"x\":1}"`)},
		{"a failure", partsOf(&content.ToolResult{ID: "c1", Error: true, Parts: partsOf(sayText("r"))}), output(`"Error: r"`)},
		{"a failure with an image", partsOf(&content.ToolResult{ID: "c1", Error: true, Parts: partsOf(png)}), output(`[{"type":"input_text","text":"Error"},` + image + `]`)},
		{"a text, a result and a text", append(append(partsOf(sayText("x")), result(sayText("r"))...), sayText("y")),
			`{"role":"user","content":"x"},` + output(`"r"`) + `,{"role":"user","content":"y"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := answered(useOf("c1", "f", ""))
			n.ForwardLinks = true
			n.Turns[2].Parts = tt.parts
			want := `[` + itemA + `,{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"},` + tt.want
			if !strings.Contains(tt.want, "function_call_output") {
				want += `,` + output(`"There is no result of this call."`)
			}
			if diff := cmp.Diff(want+`]`, inputOf(t, n, KindVendor)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestResponsesCarried writes answers with what the vendor wants back.
func TestResponsesCarried(t *testing.T) {
	const (
		think2 = `{"type":"reasoning","id":"rs_2","summary":[],"encrypted_content":"y"}`
		search = `{"id":"ws_1","type":"web_search_call","status":"completed","action":{"type":"search"}}`
		callC  = `{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c1","output":"There is no result of this call."}`
	)
	said := func(s string) string { return `{"type":"message","role":"assistant","content":"` + s + `"}` }
	join := func(list ...envelope.Thought) content.Signature { return itemSignature(envelope.Join(list)) }
	at := func(item string, back int) envelope.Thought {
		return envelope.Thought{Thinking: hidden(item), Back: back}
	}
	signed := func(s content.Signature) *content.ToolUse {
		return &content.ToolUse{ID: "c1", Name: "f", Signature: s}
	}
	tests := []struct {
		name  string
		parts []content.Part
		want  string
	}{
		{"in place", partsOf(&content.Thinking{Text: "hm", Signature: itemSignature(think1)}, sayText("x"), hidden(think2), useOf("c1", "f", "")), think1 + "," + said("x") + "," + think2 + "," + callC},
		{"a built-in tool", partsOf(hidden(think1), &content.ServerToolUse{Format: ResponsesFormat, ID: "ws_1"}, hidden(search), sayText("x")), think1 + "," + search + "," + said("x")},
		{"the same as an unknown part", partsOf(hidden(search), &content.Unknown{Format: ResponsesFormat, Raw: search}, sayText("x")), search + "," + said("x")},
		{"by a call", partsOf(sayText("x"), signed(join(at(think1, 1), at(think2, 0)))), think1 + "," + said("x") + "," + think2 + "," + callC},
		{"by a call, amid a text", partsOf(sayText("xyz"), signed(join(at(think1, 2)))), said("x") + "," + think1 + "," + said("yz") + "," + callC},
		{"by a call, of texts that were altered", partsOf(sayText("x"), signed(join(at(think1, 100)))), think1 + "," + said("x") + "," + callC},
		{"by a call, and kept", partsOf(hidden(think1), signed(join(at(think1, 0)))), think1 + "," + callC},
		{"by an empty text", partsOf(sayText("x"), &content.Text{Signature: join(at(think1, 1))}), think1 + "," + said("x")},
		{"with the unsigned thought beside", partsOf(&content.Thinking{Text: "hm"}, signed(join(envelope.Thought{Thinking: &content.Thinking{Text: "hm", Signature: itemSignature(think1)}}))), think1 + "," + callC},
		{"phases", partsOf(phased("x", "commentary"), phased("y", "commentary"), phased("z", "final_answer")),
			`{"type":"message","role":"assistant","content":"xy","phase":"commentary"},{"type":"message","role":"assistant","content":"z","phase":"final_answer"}`},
		{"a phase beside its text", partsOf(&content.Thinking{Redacted: envelope.Neighbour(ResponsesFormat, envelope.Next, `{"phase":"commentary"}`)}, sayText("x")),
			`{"type":"message","role":"assistant","content":"x","phase":"commentary"}`},
		{"a phase behind its text", partsOf(sayText("w"), sayText("x"), &content.Thinking{Redacted: envelope.Neighbour(ResponsesFormat, envelope.Last, `{"phase":"commentary"}`)}),
			said("w") + `,{"type":"message","role":"assistant","content":"x","phase":"commentary"}`},
		{"a phase whose text is gone", partsOf(&content.Thinking{Redacted: envelope.Neighbour(ResponsesFormat, envelope.Next, `{"phase":"commentary"}`)}, hidden(search), sayText("x")), search + "," + said("x")},
		{"a phase behind one that is blank", partsOf(phased("x", "commentary"), phased("", "final_answer")), `{"type":"message","role":"assistant","content":"x","phase":"commentary"}`},
		{"a phase behind the pieces of a stream", partsOf(sayText("w"), sayText("x"), phased("", "commentary"), sayText("y"), phased("", "final_answer")),
			`{"type":"message","role":"assistant","content":"wx","phase":"commentary"},{"type":"message","role":"assistant","content":"y","phase":"final_answer"}`},
		{"an image", partsOf(hidden(think1), &content.Image{Source: &content.Base64{MediaType: "image/png", Data: "iVBORw0KGgo="}, Signature: itemSignature(`{"type":"image_generation_call","id":"ig_1"}`)}),
			think1 + `,{"type":"image_generation_call","id":"ig_1","status":"completed","result":"iVBORw0KGgo="}`},
		{"an image of another's", partsOf(sayText("x"), &content.Image{Source: &content.Base64{MediaType: "image/png", Data: "iVBORw0KGgo="}}),
			said("x") + `,{"role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,iVBORw0KGgo="}]}`},
		{"a call in a namespace", partsOf(&content.ToolUse{ID: "c1", Name: "f", Extra: &content.Extra{Format: ResponsesFormat, JSON: `{"namespace":"n","name":"x"}`}}), strings.Replace(callC, `"arguments":"{}"`, `"arguments":"{}","namespace":"n"`, 1)},
		{"no secret", partsOf(hidden(`{"type":"reasoning","id":"rs_1","summary":[]}`), sayText("x")), said("x")},
		{"no item to be sent", partsOf(hidden(`{"type":"message","role":"system","content":"x"}`), sayText("x")), said("x")},
		{"broken", partsOf(hidden(`{"type":`), sayText("x")), said("x")},
		{"nothing behind it", partsOf(sayText("x"), hidden(think1)), said("x")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want := strings.Replace(`[`+itemA+`,`+tt.want+`,`+itemB+`]`, `},{"type":"function_call_output","call_id":"c1","output":"There is no result of this call."},`+itemB, `},`+itemB+`,{"type":"function_call_output","call_id":"c1","output":"There is no result of this call."}`, 1)
			if diff := cmp.Diff(want, inputOf(t, answered(tt.parts...), KindVendor)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A shelf is a resolver of one file.
type shelf struct{ blob content.Blob }

func (s shelf) Resolve(context.Context, content.Source) (content.Blob, error) { return s.blob, nil }

// TestResponsesLoaded checks that links and ids which are known here are sent as
// what they lead to, unless links may be passed on.
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
		{link, false, KindVendor, loaded}, {link, true, KindVendor, passed}, {link, true, KindCompatible, loaded},
		{id, false, KindVendor, loaded}, {id, true, KindVendor, loaded},
	} {
		n := asked("gpt-5.2", &content.Image{Source: tt.source})
		n.ForwardLinks = tt.pass
		n.Resolver = shelf{content.Blob{MediaType: "image/png", Data: []byte("\x89PNG\r\n\x1a\n")}}
		if got := inputOf(t, n, tt.kind); got != "["+tt.want+"]" {
			t.Errorf("%T, passed on %v, kind %d: %s", tt.source, tt.pass, tt.kind, got)
		}
	}
}
