package main

import (
	"context"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/polywire/polywire"
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/echo"
	"github.com/polywire/polywire/upstream/script"
	"github.com/polywire/polywire/upstream/upstreamtest"
)

// post sends a request to a model with the search.
func post(t *testing.T, model upstream.Upstream, path, body string) string {
	t.Helper()
	w, r := httptest.NewRecorder(), httptest.NewRequest("POST", path, strings.NewReader(body))
	if path == "/v1/messages" {
		r.Header.Set("Anthropic-Version", "2023-06-01")
	}
	polywire.NewHandler(&searcher{model, find}, nil).ServeHTTP(w, r)
	if w.Code != 200 {
		t.Errorf("%s: %d %s", path, w.Code, w.Body)
	}
	return w.Body.String()
}

// TestFormats checks that clients of all formats get a response that used the search.
func TestFormats(t *testing.T) {
	for path, tt := range map[string]struct {
		body string
		want []string
	}{
		"/v1/messages": {`{"model":"m","max_tokens":99,"tools":[{"type":"web_search_20250305","name":"web_search"}],"messages":[{"role":"user","content":"a"}]}`,
			[]string{`"type":"server_tool_use","id":"srvtoolu_`, `"query":"go"`, `"type":"web_search_tool_result"`, `"url":"https://go.dev"`}},
		"/v1/responses": {`{"model":"m","tools":[{"type":"web_search"}],"input":"a"}`,
			[]string{`"type":"web_search_call"`, `"id":"ws_`, `"query":"go"`}},
		"/v1/chat/completions": {`{"model":"m","web_search_options":{},"messages":[{"role":"user","content":"a"}]}`, nil},
		"/v1beta/models/m:generateContent": {`{"tools":[{"googleSearch":{}}],"contents":[{"role":"user","parts":[{"text":"a"}]}]}`,
			[]string{`"webSearchQueries":["go"]`}},
	} {
		for _, stream := range []bool{false, true} {
			path, body := path, tt.body
			switch {
			case stream && strings.Contains(path, ":"):
				path = strings.Replace(path, ":generateContent", ":streamGenerateContent", 1) + "?alt=sse"
			case stream:
				body = `{"stream":true,` + body[1:]
			}
			model := script.New(
				script.Reply{script.Say("Let me look. "), script.Call("web_search", `{"query":"go"}`)},
				script.Reply{script.Expect(func(r *upstream.Request) error {
					last, ok := r.LastParts()[0].(*content.ToolResult)
					if !ok || len(r.Tools) != 1 || r.Tools[0].Name != function || !strings.Contains(last.Parts[0].(*content.Text).Text, "Results for go.") {
						return errors.New("the model has no result")
					}
					return nil
				}), script.Say("Found it.")},
			)
			got := post(t, model, path, body)
			for _, want := range append(tt.want, "look", "Found") {
				if !strings.Contains(strings.ReplaceAll(got, `\"`, `"`), want) {
					t.Errorf("%s: no %s in %s", path, want, got)
				}
			}
			if strings.Contains(got, `"tool_use"`) || strings.Contains(got, "functionCall") || strings.Contains(got, `"tool_calls"`) {
				t.Errorf("%s: the client received the call: %s", path, got)
			}
			if err := model.Verify(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestTurns checks that the blocks that a client returns are searches for the model, beside a call for the
// client.
func TestTurns(t *testing.T) {
	const head = `{"model":"m","max_tokens":99,"tools":[{"type":"web_search_20250305","name":"web_search"},{"name":"f","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"a"}`
	first := post(t, script.New(script.Reply{script.Say("Look."), script.Call("web_search", `{"query":"go"}`), script.Call("f", `{}`)}), "/v1/messages", head+`]}`)
	if gjson.Get(first, "stop_reason").Str != "tool_use" {
		t.Errorf("got %s", first)
	}
	id := gjson.Get(first, `content.#(type=="tool_use").id`).Str
	var seen *upstream.Request
	model := script.NewFunc(func(_ int, r *upstream.Request) script.Reply {
		seen = r
		return script.Reply{script.Say("Done.")}
	})
	post(t, model, "/v1/messages", head+`,{"role":"assistant","content":`+gjson.Get(first, "content").Raw+`},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"`+id+`","content":"r"}]}]}`)
	calls, results := map[string]bool{}, 0
	for _, turn := range seen.Turns {
		for _, p := range turn.Parts {
			switch p := p.(type) { // other kinds are not of interest
			case *content.ToolUse:
				calls[p.ID] = true
			case *content.ToolResult:
				if results++; !calls[p.ID] || turn.Role != content.RoleUser {
					t.Errorf("a result of %s without its call", p.ID)
				}
			case *content.ServerToolUse, *content.ServerToolResult:
				t.Errorf("the model received a %T", p)
			}
		}
	}
	if len(calls) != 2 || results != 2 {
		t.Errorf("%d calls, %d results in %v", len(calls), results, seen.Turns)
	}
}

func TestEndless(t *testing.T) {
	up := &searcher{script.NewFunc(func(int, *upstream.Request) script.Reply {
		return script.Reply{script.Call("web_search", `{"query":"go"}`)}
	}), find}
	_, err := upstream.Collect(t.Context(), up, &upstream.Request{Model: "m", Tools: []content.Tool{{Kind: "googleSearch", Format: "generatecontent"}}})
	if err == nil {
		t.Error("no error")
	}
	up.find = func(context.Context, string) (string, error) { return "", errors.New("no network") }
	var failed *upstream.Error
	if _, err := upstream.Collect(t.Context(), up, &upstream.Request{Model: "m", Tools: []content.Tool{{Kind: "googleSearch", Format: "generatecontent"}}}); !errors.As(err, &failed) || failed.Code != upstream.CodeBadGateway {
		t.Errorf("got %v", err)
	}
}

func TestUpstream(t *testing.T) {
	upstreamtest.Run(t, &searcher{echo.New(), find}, &upstreamtest.Options{Model: "demo", Deterministic: true})
}
