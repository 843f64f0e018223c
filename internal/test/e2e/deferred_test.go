package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/anthropic"
	"github.com/polywire/polywire/upstream/gemini"
	"github.com/polywire/polywire/upstream/openai"
	openairesponses "github.com/polywire/polywire/upstream/openai/responses"
)

// deferredSession returns a request of an agent that has 60 deferred tools of servers of MCP and
// searches them itself, as Claude Code does with its ToolSearch: after a search and a call of one
// of the three tools that it found.
func deferredSession(deferred bool) string {
	flag := ""
	if deferred {
		flag = `,"defer_loading":true`
	}
	var b strings.Builder
	b.WriteString(`{"model":"m","max_tokens":32000,"system":"` + strings.Repeat("You are an agent. ", 200) + `","tools":[`)
	for _, name := range []string{"Bash", "Edit", "Read", "ToolSearch"} {
		fmt.Fprintf(&b, `{"name":%q,"description":%q,"input_schema":{"type":"object","properties":{"a":{"type":"string"}}}},`, name, strings.Repeat("How to use it. ", 100))
	}
	for i := range 60 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"name":"mcp__server%d__tool%d","description":%q,"input_schema":{"type":"object","properties":{"owner":{"type":"string","description":%q},`+
			`"state":{"type":"string","enum":["open","closed","all"]},"page":{"type":"integer","minimum":1}},"required":["owner"]}%s}`,
			i/15, i, strings.Repeat("Lists what a repository has. ", 30), strings.Repeat("Owner of it. ", 20), flag)
	}
	b.WriteString(`],"messages":[{"role":"user","content":"Which issues are open?"},` +
		`{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"ToolSearch","input":{"a":"issues"}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"tool_reference","tool_name":"mcp__server2__tool40"},` +
		`{"type":"tool_reference","tool_name":"mcp__server0__tool3"},{"type":"tool_reference","tool_name":"mcp__server1__tool17"}]}]},` +
		`{"role":"assistant","content":[{"type":"tool_use","id":"t2","name":"mcp__server0__tool3","input":{"owner":"o"}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t2","content":"none"}]}]}`)
	return b.String()
}

// TestDeferredSession checks that such a session is at most a third of the size that it has with
// all tools, that the loaded tools follow the others in the order in which they were loaded, and
// that the vendor of the client gets the request as it is.
func TestDeferredSession(t *testing.T) {
	claude, err := anthropic.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	vertex, err := gemini.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	chat, err := openai.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	responses, err := openai.NewResponses(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, model, tools string
		up                 upstream.Upstream
	}{
		{"generateContent", "gemini-3.1-pro-preview", "tools.0.functionDeclarations.#.name", vertex},
		{"Chat Completions", "gpt-5.2", "tools.#.function.name", chat},
		{"Responses", "gpt-5.2", "tools.#.name", responses},
	} {
		document := func(deferred bool) string {
			r, _, err := messages.DecodeRequest([]byte(deferredSession(deferred)), nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Model = tt.model
			e, err := upstream.EncodeRequest(t.Context(), tt.up, r)
			if err != nil {
				t.Fatal(err)
			}
			return e.Document
		}
		all, sent := document(false), document(true)
		t.Logf("%s: %d bytes with all tools, %d with the loaded ones", tt.name, len(all), len(sent))
		if len(sent) > len(all)/3 {
			t.Errorf("%s: %d bytes are more than a third of %d", tt.name, len(sent), len(all))
		}
		const want = `["Bash","Edit","Read","ToolSearch","mcp__server2__tool40","mcp__server0__tool3","mcp__server1__tool17"]`
		if got := gjson.Get(sent, tt.tools).Raw; got != want {
			t.Errorf("%s: got the tools %s, want %s", tt.name, got, want)
		}
		if !strings.Contains(sent, "Loaded tool: mcp__server1__tool17") {
			t.Errorf("%s: the result of the search does not name the tools", tt.name)
		}
	}
	r, _, err := messages.DecodeRequest([]byte(deferredSession(true)), nil)
	if err != nil {
		t.Fatal(err)
	}

	// Conversations of GPT-5.4 and later add the tools, so what the server has cached stays.
	r.Model = "gpt-5.6"
	e, err := upstream.EncodeRequest(t.Context(), responses, r)
	if err != nil {
		t.Fatal(err)
	}
	const want = `["Bash","Edit","Read","ToolSearch"] ["function_call","function_call_output","additional_tools","function_call","function_call_output"] ` +
		`["mcp__server2__tool40","mcp__server0__tool3","mcp__server1__tool17"]`
	if got := gjson.Get(e.Document, "tools.#.name").Raw + " " + gjson.Get(e.Document, "input.#.type").Raw + " " + gjson.Get(e.Document, "input.3.tools.#.name").Raw; got != want {
		t.Errorf("Responses, GPT-5.6: got %s, want %s", got, want)
	}
	begin := *r
	begin.Turns, begin.Wire = r.Turns[:1], nil
	if diff, err := upstream.CacheBreak(t.Context(), responses, &begin, r); err != nil || diff.Broken {
		t.Errorf("Responses, GPT-5.6: %v, %v", diff, err)
	}

	for _, r := range []*upstream.Request{r, r.Clone()} {
		r.Model = "claude-opus-4-8"
		e, err := upstream.EncodeRequest(t.Context(), claude, r)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(e.Document, `"defer_loading":true`); n != 60 {
			t.Errorf("Messages: %d tools are deferred, want 60", n)
		}
	}
}

// TestToolSearch checks that the searches of the vendors are each other's translation.
func TestToolSearch(t *testing.T) {
	claude, err := anthropic.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	responses, err := openai.NewResponses(nil)
	if err != nil {
		t.Fatal(err)
	}
	const own = `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"q"}],"tools":[{"type":"tool_search_tool_bm25_20251119","name":"tool_search_tool_bm25"},` +
		`{"name":"f","input_schema":{"type":"object"},"defer_loading":true}]}`
	r, _, err := messages.DecodeRequest([]byte(own), nil)
	if err != nil {
		t.Fatal(err)
	}
	for model, want := range map[string]string{
		"gpt-5.4": `[{"type":"tool_search"},{"type":"function","name":"f","parameters":{"type":"object","properties":{}},"strict":false,"defer_loading":true}]`,
		"gpt-5.2": `[{"type":"function","name":"f","parameters":{"type":"object","properties":{}},"strict":false}]`,
	} {
		e, err := upstream.EncodeRequest(t.Context(), responses, r.WithModel(model))
		if err != nil {
			t.Fatal(err)
		}
		if got := gjson.Get(e.Document, "tools").Raw; got != want {
			t.Errorf("%s: got the tools %s, want %s", model, got, want)
		}
		n, _, err := openairesponses.DecodeRequest([]byte(e.Document), nil)
		if err != nil {
			t.Fatal(err)
		}
		e, err = upstream.EncodeRequest(t.Context(), claude, n.WithModel("claude-opus-4-8"))
		if err != nil {
			t.Fatal(err)
		}
		if back := gjson.Get(e.Document, "tools.#.defer_loading").Raw; model == "gpt-5.4" != (back == "[true]") {
			t.Errorf("%s: back in Messages, the tools are %s", model, gjson.Get(e.Document, "tools").Raw)
		}
	}
}

// clientSearch is a request of an agent of Responses that searches tools itself, as Codex does, after a
// search.
const clientSearch = `{"model":"m","store":false,"include":["reasoning.encrypted_content"],"input":[{"role":"user","content":"q"},` +
	`{"type":"tool_search_call","call_id":"call_1","execution":"client","arguments":{"query":"agents"},"status":"completed"},` +
	`{"type":"tool_search_output","id":"tso_1","call_id":"call_1","execution":"client","status":"completed","tools":[` +
	`{"type":"namespace","name":"team","description":"d","tools":[{"type":"function","name":"spawn","description":"d","strict":false,"defer_loading":true,"parameters":{"type":"object"}}]},` +
	`{"type":"function","name":"f","strict":false,"parameters":{"type":"object"}}]}],"tools":[{"type":"function","name":"f","strict":false,"parameters":{"type":"object"}},` +
	`{"type":"tool_search","execution":"client","description":"Finds tools.","parameters":{"type":"object","properties":{"query":{"type":"string"}}}}]}`

// TestClientSearch checks that a search for tools that the client runs is a function of other vendors,
// that these get the tools that it found, and that OpenAI gets its items back.
func TestClientSearch(t *testing.T) {
	claude, err1 := anthropic.New(nil)
	vertex, err2 := gemini.New(nil)
	chat, err3 := openai.New(nil)
	responses, err4 := openai.NewResponses(nil)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		up                         upstream.Upstream
		model, tools, call, result string // paths
	}{
		{claude, "claude-sonnet-5", "tools.#.name", "messages.1.content.0.name", "messages.2.content.0.content.0.text"},
		{vertex, "gemini-3.5-flash", "tools.0.functionDeclarations.#.name", "contents.1.parts.0.functionCall.name", "contents.2.parts.0.functionResponse.response.output"},
		{chat, "gpt-5.2", "tools.#.function.name", "messages.1.tool_calls.0.function.name", "messages.2.content"},
	} {
		r, _, err := openairesponses.DecodeRequest([]byte(clientSearch), nil)
		if err != nil {
			t.Fatal(err)
		}
		e, err := upstream.EncodeRequest(t.Context(), tt.up, r.WithModel(tt.model))
		if err != nil {
			t.Fatal(err)
		}
		get := func(path string) string { return gjson.Get(e.Document, path).String() }
		got := get(tt.tools) + " " + get(tt.call) + " " + get(tt.result)
		const want = `["f","tool_search","team__spawn"] tool_search Loaded tool: team__spawn` + "\nLoaded tool: f"
		if got != want {
			t.Errorf("%s: got %s, want %s\n%s", tt.model, got, want, e.Document)
		}
		losses, err := upstream.Preflight(t.Context(), tt.up, r.WithModel(tt.model))
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range losses {
			if l.Severity > content.LossHint && !strings.Contains(l.Path, "namespace") && !strings.HasSuffix(l.Path, "signature") {
				t.Errorf("%s: %v", tt.model, l)
			}
		}
	}
	r, _, err := openairesponses.DecodeRequest([]byte(clientSearch), nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Temperature = new(1.0) // so that the document is written anew
	e, err := upstream.EncodeRequest(t.Context(), responses, r.WithModel("gpt-5.5"))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"tools.#.type": `["tool_search"]`, "input.1": `{"type":"tool_search_call","execution":"client","call_id":"call_1","arguments":{"query":"agents"}}`,
		"input.2.type": `"tool_search_output"`, "input.2.call_id": `"call_1"`, "input.2.tools.#.name": `["team","f"]`,
	} {
		if got := gjson.Get(e.Document, path).Raw; got != want {
			t.Errorf("%s is %s, want %s\n%s", path, got, want, e.Document)
		}
	}
}

// TestClientSearchCall checks that a call of such a search reaches the client as one, and that the state
// of the model's vendor returns with it.
func TestClientSearchCall(t *testing.T) {
	var got content.Part
	h := openairesponses.NewHandler(upstream.Func(func(_ context.Context, r *upstream.Request, w *upstream.Writer) error {
		if last := r.Turns[len(r.Turns)-1]; len(r.Turns) > 1 {
			got = r.Turns[len(r.Turns)-2].Parts[0]
			return w.Text(string(last.Role))
		}
		return w.Part(&content.ToolUse{Name: "tool_search", Input: `{"query": "agents"}`, Signature: content.Signature{Format: "generatecontent", Data: "c2lnbmVk"}})
	}), nil)
	const first = `{"model":"m","store":false,"input":[{"role":"user","content":"q"}%s],"tools":[{"type":"tool_search","execution":"client","parameters":{"type":"object"}}]%s}`
	ask := func(body string) string {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("POST", "/v1/responses", strings.NewReader(body)))
		return w.Body.String()
	}
	whole := gjson.Get(ask(fmt.Sprintf(first, "", "")), "output.0")
	stream, err := formattest.ReadResponses(ask(fmt.Sprintf(first, "", `,"stream":true`)))
	if err != nil {
		t.Fatal(err)
	}
	for _, call := range []gjson.Result{whole, stream.Final.Get("output.0")} {
		ask(fmt.Sprintf(first, ","+call.Raw+`,{"type":"tool_search_output","call_id":`+call.Get("call_id").Raw+`,"execution":"client","tools":[]}`, ""))
		p, ok := got.(*content.ToolUse)
		if call.Get("type").Str != "tool_search_call" || call.Get("execution").Str != "client" || call.Get("arguments").Raw != `{"query":"agents"}` ||
			!ok || p.Signature.Data != "c2lnbmVk" || p.Name != "tool_search" || p.Input != `{"query":"agents"}` {
			t.Errorf("got the call %s, and back %+v", call.Raw, got)
		}
	}
}
