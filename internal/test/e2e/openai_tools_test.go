package e2e

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/internal/test/fake"
	"github.com/polywire/polywire/upstream"
)

// patch is the input of a free-form tool, with characters that JSON escapes.
const patch = "*** Begin Patch\n+ a \"quoted\" \\ line ☃\t\n*** End Patch\n"

// freeformTools are the tools of a client: a free-form tool with a grammar, and in Responses a
// namespace.
var freeformTools = map[string]string{
	"chatcompletions": `"tools":[{"type":"custom","custom":{"name":"apply_patch","description":"DE1","format":{"type":"grammar","grammar":{"syntax":"lark","definition":"start: GR1"}}}}]`,
	"responses": `"tools":[{"type":"custom","name":"apply_patch","description":"DE1","format":{"type":"grammar","syntax":"lark","definition":"start: GR1"}},
		{"type":"namespace","name":"clock","description":"DE2","tools":[{"type":"function","name":"now","description":"DE3","parameters":{"type":"object","properties":{"tz":{"type":"string"}}}}]}]`,
}

// toolNames returns the names of the tools that a vendor received.
func toolNames(body string) (list []string) {
	for _, path := range []string{"tools.#.name", "tools.#.functionDeclarations.#.name|@flatten", "tools.#.function.name", "tools.#.custom.name", "tools.#.tools.#.name|@flatten"} {
		for _, v := range gjson.Get(body, path).Array() {
			list = append(list, v.Str)
		}
	}
	return list
}

// freeformCall returns a call of the free-form tool by a vendor that has such tools, or by one that
// has it as a function.
func freeformCall(b adapter, isFunction bool, m mode) fake.Piece {
	in, _ := json.Marshal(patch)
	switch {
	case isFunction:
		return fake.ToolCall{ID: "call_p", Name: "apply_patch", Args: `{"input":` + string(in) + `}`}
	case b.name == toChat && m == whole:
		return fake.Raw(`{"id":"call_p","type":"custom","custom":{"name":"apply_patch","input":` + string(in) + `}}`)
	case b.name == toChat:
		return fake.Raw(`{"index":0,"id":"call_p","type":"custom","custom":{"name":"apply_patch","input":` + string(in) + `}}`)
	}
	return fake.Raw(`{"id":"ctc_1","type":"custom_tool_call","status":"completed","call_id":"call_p","name":"apply_patch","input":` + string(in) + `}`)
}

// TestFreeformTools has clients with free-form tools and namespaces. Vendors without them get
// functions, and the clients get their own calls back, with the raw text.
func TestFreeformTools(t *testing.T) {
	for _, f := range openAIEndpoints {
		for _, b := range append(slices.Clone(adapters), adapter{toChat, "chatcompletions", "gpt-5.1", startChat, chatAt, 3}) {
			t.Run(f.name+"→"+b.name+" "+b.model, func(t *testing.T) {
				t.Parallel()
				if b.format == f.name && b.model == "gpt-4.1" {
					t.Skip("the bytes are forwarded")
				}
				up, vendor := b.start(t, vendor{trust: true})
				g := newGateway(f, up, upstream.HandlerOptions{})
				for _, m := range f.modes {
					freeformStory(t, f, b, g, vendor, m)
				}
			})
		}
	}
}

func freeformStory(t *testing.T, f endpoint, b adapter, g *gateway, vendor *fake.Server, m mode) {
	ask := func(history ...string) *response {
		list := "[" + strings.Join(history, ",") + "]"
		members := freeformTools[f.name] + `,"store":false,"include":["reasoning.encrypted_content"],"input":` + list
		if f.name == "chatcompletions" {
			members = freeformTools[f.name] + `,"messages":` + list
		}
		a := g.ask(b.model, members, m)
		if a.Status != http.StatusOK || a.Broken != "" || !a.Whole {
			t.Fatalf("%s: status %d, broken %q: %s\nsent %s", m, a.Status, a.Broken, clip(a.Body), clip(string(vendor.Last().Body)))
		}
		return a
	}
	vendor.Say(fake.Text("ready"))
	ask(`{"role":"user","content":"T1"}`)
	body := string(vendor.Last().Body)
	for _, token := range []string{"DE1", "GR1"} {
		if !strings.Contains(body, token) {
			t.Errorf("%s: the vendor did not get %s: %s", m, token, clip(body))
		}
	}
	names := toolNames(body)
	now := names[slices.IndexFunc(names, func(s string) bool { return strings.HasSuffix(s, "now") || f.name == "chatcompletions" })]
	isFunction := !strings.Contains(body, `"custom"`)
	pieces := []fake.Piece{freeformCall(b, isFunction, m)}
	want := []element{{Kind: "custom", Name: "apply_patch", Text: patch}}
	if f.name == "responses" {
		want = append(want, element{Kind: "call", Name: "now", Text: "clock", Args: `{"tz":"CET"}`})
		if b.name == toResp {
			pieces = append(pieces, fake.Raw(`{"id":"fc_1","type":"function_call","status":"completed","call_id":"call_n","name":"now","namespace":"clock","arguments":"{\"tz\":\"CET\"}"}`))
		} else {
			pieces = append(pieces, fake.ToolCall{ID: "call_n", Name: now, Args: `{"tz":"CET"}`})
		}
	}
	vendor.Say(pieces...)
	a := ask(`{"role":"user","content":"T1"}`)
	var ids []string
	got := slices.Clone(a.Elements)
	for i := range got {
		ids = append(ids, got[i].ID)
		got[i].ID = ""
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("%s: calls (-want +got):\n%s\n%s", m, diff, clip(a.Body))
	}
	history := []string{`{"role":"user","content":"T1"}`}
	for _, raw := range a.Turn {
		history = append(history, string(raw))
	}
	switch f.name {
	case "chatcompletions":
		history = append(history, `{"role":"tool","tool_call_id":`+quote(ids[0])+`,"content":"RE1"}`)
	default:
		history = append(history, `{"type":"custom_tool_call_output","call_id":`+quote(ids[0])+`,"output":"RE1"}`,
			`{"type":"function_call_output","call_id":`+quote(ids[1])+`,"output":"RE2"}`)
	}
	vendor.Say(fake.Text("done"))
	if a := ask(history...); a.text("text") != "done" {
		t.Errorf("%s: %s", m, clip(a.Body))
	}
	flat := flatten(string(vendor.Last().Body))
	for _, token := range []string{"RE1", "call_p"} {
		if !strings.Contains(flat, token) {
			t.Errorf("%s: the vendor did not get %s: %s", m, token, clip(string(vendor.Last().Body)))
		}
	}
	in, _ := json.Marshal(patch)
	if twice, _ := json.Marshal(`{"input":` + string(in) + `}`); !strings.Contains(flat, patch) && !strings.Contains(string(vendor.Last().Body), string(twice)) {
		t.Errorf("%s: the vendor did not get its call back: %s", m, clip(string(vendor.Last().Body)))
	}
}

// TestSeveralChoices asks for two candidates.
func TestSeveralChoices(t *testing.T) {
	const two = `{"id":"x","object":"chat.completion","created":1,"model":"gpt-4.1","choices":[` +
		`{"index":0,"message":{"role":"assistant","content":"A","refusal":null},"logprobs":{"content":[{"token":"A","logprob":-0.5,"bytes":[65],"top_logprobs":[]}],"refusal":null},"finish_reason":"stop"},` +
		`{"index":1,"message":{"role":"assistant","content":"B","refusal":null},"logprobs":null,"finish_reason":"length"}],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}`
	var streamed strings.Builder
	for _, chunk := range []string{`{"index":0,"delta":{"role":"assistant","content":"","refusal":null},"logprobs":null,"finish_reason":null}`,
		`{"index":0,"delta":{"content":"A"},"logprobs":{"content":[{"token":"A","logprob":-0.5,"bytes":[65],"top_logprobs":[]}],"refusal":null},"finish_reason":null}`,
		`{"index":1,"delta":{"role":"assistant","content":"","refusal":null},"logprobs":null,"finish_reason":null}`,
		`{"index":1,"delta":{"content":"B"},"logprobs":null,"finish_reason":null}`,
		`{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}`, `{"index":1,"delta":{},"logprobs":null,"finish_reason":"length"}`} {
		streamed.WriteString(`data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"gpt-4.1","choices":[` + chunk + "],\"usage\":null}\n\n")
	}
	streamed.WriteString("data: {\"id\":\"x\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"gpt-4.1\",\"choices\":[],\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":2,\"total_tokens\":3}}\n\ndata: [DONE]\n\n")
	f := endpointNamed("chatcompletions")
	ask := func(up upstream.Upstream, model string, m mode) *response {
		return newGateway(f, up, upstream.HandlerOptions{}).ask(model, `"n":2,"logprobs":true,"messages":[{"role":"user","content":"Hi"}]`, m)
	}
	for _, m := range f.modes {
		net := &wire{kind: "application/json", bytes: []byte(two)}
		if m == sse {
			net = &wire{kind: "text/event-stream", bytes: []byte(streamed.String())}
		}
		net.end = io.EOF
		b := adapterNamed(t, toChat)
		for _, host := range []func(upstream.Upstream) upstream.Upstream{
			func(u upstream.Upstream) upstream.Upstream { return u },
			func(u upstream.Upstream) upstream.Upstream { return upstream.Failover([]upstream.Upstream{u}, nil) },
		} {
			a := ask(host(b.at(t, "http://vendor.example/v1", &http.Client{Transport: net})), b.model, m)
			if !a.Whole || a.text("text") != "AB" || !strings.Contains(a.Body, `"index":1`) || !strings.Contains(a.Body, `"logprob":-0.5`) {
				t.Errorf("chat, %s: status %d, broken %q, losses %v: %s", m, a.Status, a.Broken, a.losses(), a.Body)
			}
		}
	}
	// Others send one, and report that.
	for _, b := range adapters {
		if b.name == toChat {
			continue
		}
		up, vendor := b.start(t, vendor{trust: true})
		for _, m := range f.modes {
			vendor.Say(fake.Text("Done."))
			a := ask(up, b.model, m)
			sent := string(vendor.Last().Body)
			if b.name == toGemini { // has candidates, but not of this model
				if a.Status != http.StatusBadRequest || !strings.Contains(a.Err.Message, "candidates") || !strings.Contains(sent, `"candidateCount":2`) {
					t.Errorf("gemini, %s: status %d %s\nsent %s", m, a.Status, clip(a.Body), clip(sent))
				}
				continue
			}
			if !a.Whole || a.text("text") != "Done." {
				t.Errorf("%s, %s: status %d, broken %q: %s", b.name, m, a.Status, a.Broken, clip(a.Body))
			}
			if !reported(a, "candidates") && !reported(a, "candidate_count") {
				t.Errorf("%s, %s: losses %v, sent %s", b.name, m, a.losses(), clip(sent))
			}
			if !strings.Contains(sent, "message.output_text.logprobs") && !reported(a, "extra.logprobs") {
				t.Errorf("%s, %s: the logprobs are dropped silently: losses %v, sent %s", b.name, m, a.losses(), clip(sent))
			}
		}
	}
}

// TestSchemas asks for a response with a schema.
func TestSchemas(t *testing.T) {
	const schema = `{"type":"object","properties":{"a":{"type":"string","description":"DE1"}},"required":["a"],"additionalProperties":false}`
	formats := map[string]string{
		"chatcompletions": `"response_format":{"type":"json_schema","json_schema":{"name":"NA1","strict":true,"schema":` + schema + `}},"messages":[{"role":"user","content":"Hi"}]`,
		"responses":       `"text":{"format":{"type":"json_schema","name":"NA1","strict":true,"schema":` + schema + `}},"input":"Hi"`,
	}
	paths := map[string]string{
		toClaude: "output_config.format.schema", toGemini: "generationConfig.responseJsonSchema",
		toChat: "response_format.json_schema.schema", toResp: "text.format.schema",
	}
	eachOpenAI(t, func(t *testing.T, f endpoint, b adapter) {
		up, vendor := b.start(t, vendor{trust: true})
		g := newGateway(f, up, upstream.HandlerOptions{})
		for _, m := range f.modes {
			vendor.Say(fake.Text(`{"a":"x"}`))
			a := g.ask(b.model, formats[f.name], m)
			sent := string(vendor.Last().Body)
			if !a.Whole || a.text("text") != `{"a":"x"}` {
				t.Errorf("%s: status %d, broken %q: %s", m, a.Status, a.Broken, clip(a.Body))
			}
			if got := gjson.Get(sent, paths[b.name]).Raw; got == "" || canonical([]byte(got)) != canonical([]byte(schema)) {
				t.Errorf("%s: the vendor got the schema %s in %s", m, got, clip(sent))
			}
			if b.name == toChat || b.name == toResp {
				if !strings.Contains(sent, `"name":"NA1"`) || !strings.Contains(sent, `"strict":true`) || len(a.losses()) > 0 {
					t.Errorf("%s: losses %v, sent %s", m, a.losses(), clip(sent))
				}
			}
		}
	})
}
