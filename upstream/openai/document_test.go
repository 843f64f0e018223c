package openai

import (
	stdcmp "cmp"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	fakeopenai "github.com/polywire/polywire/internal/test/fake/openai"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/openai/chatcompletions"
	"github.com/polywire/polywire/upstream/openai/responses"
)

// OpenAI's server gets the document of a client of its format byte for byte, except for the model
// and the usage of a stream. Other servers get documents that are written for them.
func TestDocumentsPass(t *testing.T) {
	const chat = `{ "messages":[{"role":"user","content":"Hi","x":1.50}],"model" : "m","unknown":[null,1e2]}`
	const input = `{ "input":[{"role":"user","content":"Hi","x":1.50}],"model" : "m","store":true,"unknown":[null,1e2]}`
	openAI := Dialect{Kind: ServerOpenAI}
	mapped := func(string) string { return "n" }
	for _, tt := range []struct {
		name       string
		o          Options
		body, want string // an empty want means that the document is encoded
		edit       func(*upstream.Request)
	}{
		{name: "chat", body: chat, want: chat},
		{name: "kind", o: Options{BaseURL: "http://a.example/v1", Dialect: openAI}, body: chat, want: chat},
		{name: "another model", o: Options{MapModel: mapped}, body: chat, want: strings.Replace(chat, `"m"`, `"n"`, 1)},
		{name: "model in the path", o: Options{MapModel: mapped}, body: `{"messages":[{"role":"user","content":"Hi"}]}`, want: `{"model":"n","messages":[{"role":"user","content":"Hi"}]}`},
		// A model that the host has chosen follows other rules than the one that the client named.
		{name: "limit of another model", o: Options{MapModel: func(string) string { return "gpt-5.2" }}, body: `{"max_tokens": 5,` + chat[1:],
			want: `{"max_completion_tokens":5,` + strings.Replace(chat, `"m"`, `"gpt-5.2"`, 1)[1:]},
		{name: "limit of the client's model", body: `{"max_tokens":5,` + strings.Replace(chat, `"m"`, `"gpt-5.2"`, 1)[1:], want: `{"max_tokens":5,` + strings.Replace(chat, `"m"`, `"gpt-5.2"`, 1)[1:]},
		{name: "rules of another model", o: Options{MapModel: func(string) string { return "gpt-5" }}, body: `{"temperature":0.5,` + chat[1:]},
		{name: "rules of another model, responses", o: Options{MapModel: func(string) string { return "gpt-5" }}, body: `{"temperature":0.5,` + input[1:]},
		{name: "a deployment of the client's model", o: Options{BaseURL: "https://a.openai.azure.com/openai/v1", Deployments: map[string]string{"gpt-4o": "prod"}}, body: `{"temperature":0.5,` + strings.Replace(input, `"m"`, `"gpt-4o"`, 1)[1:],
			want: `{"temperature":0.5,` + strings.Replace(input, `"m"`, `"prod"`, 1)[1:]},
		{name: "a deployment of another model", o: Options{BaseURL: "https://a.openai.azure.com/openai/v1", MapModel: func(string) string { return "gpt-5" }, Deployments: map[string]string{"gpt-5": "prod"}},
			body: `{"temperature":0.5,` + strings.Replace(input, `"m"`, `"gpt-4o"`, 1)[1:]},
		{name: "rules of the client's model", body: `{"temperature":0.5,` + strings.Replace(input, `"m"`, `"gpt-5"`, 1)[1:], want: `{"temperature":0.5,` + strings.Replace(input, `"m"`, `"gpt-5"`, 1)[1:]},
		{name: "usage of a stream", body: `{"stream":true,` + chat[1:], want: `{"stream_options":{"include_usage":true},"stream":true,` + chat[1:]},
		{name: "usage of a stream with options", body: `{"stream":true,"stream_options":{"include_obfuscation":false},` + chat[1:],
			want: `{"stream":true,"stream_options":{"include_obfuscation":false,"include_usage":true},` + chat[1:]},
		{name: "usage of a stream with null", body: `{"stream_options":null,"stream":true,` + chat[1:], want: `{"stream_options":{"include_usage":true},"stream":true,` + chat[1:]},
		{name: "usage that the client asks for", body: `{"stream":true,"stream_options": {"include_usage": true},` + chat[1:], want: `{"stream":true,"stream_options": {"include_usage": true},` + chat[1:]},
		{name: "a whole response in place of a stream", body: `{"stream":true,"stream_options":{},` + chat[1:], want: `{"stream":false,` + chat[1:],
			edit: func(r *upstream.Request) { r.Stream = false }},
		{name: "a stream in place of a whole response", body: chat, want: `{"stream":true,"stream_options":{"include_usage":true},` + chat[1:],
			edit: func(r *upstream.Request) { r.Stream = true }},
		{name: "responses", body: input, want: input},
		{name: "streamed responses", body: `{"stream":true,` + input[1:], want: `{"stream":true,` + input[1:]},
		{name: "whole responses in place of streamed ones", body: `{"stream":true,"stream_options":{"include_obfuscation":false},` + input[1:], want: `{"stream":false,` + input[1:],
			edit: func(r *upstream.Request) { r.Stream = false }},
		{name: "cache key of the host", o: Options{CacheKey: func(context.Context, *upstream.Request) string { return "k1" }}, body: input, want: `{"prompt_cache_key":"k1",` + input[1:]},
		{name: "cache key of the client", o: Options{CacheKey: func(context.Context, *upstream.Request) string { return "k1" }}, body: `{"prompt_cache_key":"k2",` + input[1:], want: `{"prompt_cache_key":"k2",` + input[1:]},
		{name: "a changed text", body: chat, edit: func(r *upstream.Request) { r.Turns[0].Parts[0].(*content.Text).Text = "Ho" }},
		{name: "a compatible server", o: Options{BaseURL: "http://a.example/v1"}, body: chat},
		{name: "a dialect", o: Options{Dialect: Dialect{TextOnly: true}}, body: chat},
		{name: "Azure", o: Options{BaseURL: "https://a.openai.azure.com/openai/v1"}, body: input, want: input},
		{name: "a deployment of Azure", o: Options{BaseURL: "https://a.openai.azure.com/openai/v1", Deployments: map[string]string{"m": "d"}},
			body: chat, want: strings.Replace(chat, `"m"`, `"d"`, 1)},
		{name: "a dated version of Azure", o: Options{BaseURL: "https://a.openai.azure.com", APIVersion: "2024-10-21"}, body: input},
		{name: "a dated version in the URL", o: Options{BaseURL: "https://a.openai.azure.com/openai/v1?api-version=preview"}, body: input},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var up upstream.Upstream
			var n *upstream.Request
			var err, failed error
			if tt.o.Key = "k"; strings.Contains(tt.body, `"input"`) {
				up, err = NewResponses(&tt.o)
				n, _, failed = responses.DecodeRequest([]byte(tt.body), nil)
			} else {
				up, err = New(&tt.o)
				n, _, failed = chatcompletions.DecodeRequest([]byte(tt.body), &chatcompletions.ValidateOptions{Model: stdcmp.Or(gjson.Get(tt.body, "model").Str, "m")})
			}
			if err != nil || failed != nil {
				t.Fatal(err, failed)
			}
			if tt.edit != nil {
				tt.edit(n)
			}
			got, err := upstream.EncodeRequest(t.Context(), up, n)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got.Document); diff != "" && (tt.want != "" || strings.Contains(got.Document, "1.50")) {
				t.Errorf("(-want +got):\n%s", diff)
			}
			losses, err := upstream.Preflight(t.Context(), up, n)
			if err != nil || (len(losses) > 0) != (tt.want == "") {
				t.Errorf("losses %v, error %v", losses, err)
			}
		})
	}
}

// TestStrictOfEdited checks that requests which the host has changed keep the settings of their tools
// and of their output. An absent one means the default of the vendor, which differs between the formats:
// Responses makes functions strict, and requests of other formats do not want that.
func TestStrictOfEdited(t *testing.T) {
	const schema = `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`
	input := func(tool, output string) string {
		return `{"model":"gpt-5.2","input":"Hi","tools":[{"type":"function","name":"f","parameters":` + schema + tool + `}],` +
			`"text":{"format":{"type":"json_schema","name":"n","schema":` + schema + output + `}}}`
	}
	chat := func(tool, output string) string {
		return `{"model":"gpt-5.2","messages":[{"role":"user","content":"Hi"}],"tools":[{"type":"function","function":{"name":"f","parameters":` + schema + tool + `}}],` +
			`"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":` + schema + output + `}}}`
	}
	const isTrue, isFalse, isNull = `,"strict":true`, `,"strict":false`, `,"strict":null`
	for _, tt := range []struct {
		name, body      string
		responses, chat [2]string // of the function and the output; empty if absent
	}{
		{"Responses, absent", input("", ""), [2]string{}, [2]string{}},
		{"Responses, null", input(isNull, isNull), [2]string{}, [2]string{}},
		{"Responses, false", input(isFalse, isFalse), [2]string{"false", "false"}, [2]string{"", "false"}},
		{"Responses, true", input(isTrue, isTrue), [2]string{"true", "true"}, [2]string{"true", "true"}},
		{"Chat Completions, absent", chat("", ""), [2]string{"false", ""}, [2]string{}},
		{"Chat Completions, null", chat(isNull, isNull), [2]string{"false", ""}, [2]string{}},
		{"Chat Completions, false", chat(isFalse, isFalse), [2]string{"false", "false"}, [2]string{"", "false"}},
		{"Chat Completions, true", chat(isTrue, isTrue), [2]string{"true", "true"}, [2]string{"true", "true"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n, _, err := responses.DecodeRequest([]byte(tt.body), nil)
			if strings.Contains(tt.body, "messages") {
				n, _, err = chatcompletions.DecodeRequest([]byte(tt.body), nil)
			}
			if err != nil {
				t.Fatal(err)
			}
			n.Turns[0].Parts[0].(*content.Text).Text = "Ho"
			own, err := NewResponses(&Options{Key: "k"})
			if err != nil {
				t.Fatal(err)
			}
			other, err := New(&Options{Key: "k"})
			if err != nil {
				t.Fatal(err)
			}
			for _, server := range []struct {
				up           upstream.Upstream
				tool, output string
				want         [2]string
			}{
				{own, "tools.0.strict", "text.format.strict", tt.responses},
				{other, "tools.0.function.strict", "response_format.json_schema.strict", tt.chat},
			} {
				got, err := upstream.EncodeRequest(t.Context(), server.up, n)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(server.want, [2]string{gjson.Get(got.Document, server.tool).Raw, gjson.Get(got.Document, server.output).Raw}); diff != "" {
					t.Errorf("%s (-want +got):\n%s", server.tool, diff)
				}
			}
		})
	}
}

// TestResponsesPass checks that a client of Responses receives the whole response of OpenAI's
// server byte for byte, with the model that it requested, and that of other servers encoded anew.
func TestResponsesPass(t *testing.T) {
	const doc = `{ "id":"resp_1","object":"response","created_at":1,"status":"completed","model": "m-2026","x":[1.50],` +
		`"output":[{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gAAA"},{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"Hi","annotations":[]}]}],` +
		`"usage":{"input_tokens":4,"output_tokens":2,"total_tokens":6}}`
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, doc)
	}))
	defer server.Close()
	for kind, want := range map[ServerKind]string{ServerOpenAI: strings.Replace(doc, `"m-2026"`, `"m"`, 1), ServerCompatible: ""} {
		var report *upstream.Report
		up, err := NewResponses(&Options{BaseURL: server.URL + "/v1", Key: "k", Dialect: Dialect{Kind: kind}})
		if err != nil {
			t.Fatal(err)
		}
		h := responses.NewHandler(up, &responses.Options{HandlerOptions: upstream.HandlerOptions{
			OnDone: func(_ context.Context, r *upstream.Report) { report = r }}})
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("POST", "/v1/responses", strings.NewReader(`{"model":"m","input":"Hi"}`)))
		if got := w.Body.String(); got != want && (want != "" || strings.Contains(got, "1.50")) {
			t.Errorf("%d: got %s\nwant %s", kind, got, want)
		}
		if report == nil || report.Usage.Prompt() != 4 || report.Usage.Completion() != 2 {
			t.Errorf("report = %+v", report)
		}
	}
}

// TestStoredRequests checks that OpenAI's server stores nothing if the host stores responses: it does
// not know the ids that the client receives.
func TestStoredRequests(t *testing.T) {
	var sent string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		sent = string(body)
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	defer server.Close()
	up, err := NewResponses(&Options{BaseURL: server.URL + "/v1", Key: "k", Dialect: Dialect{Kind: ServerOpenAI}})
	if err != nil {
		t.Fatal(err)
	}
	for want, store := range map[string]responses.Store{
		`{"model":"m",  "input":"Hi"}`: nil,
		`"store":false`:                responses.NewMemoryStore(1 << 20),
	} {
		h := responses.NewHandler(up, &responses.Options{Store: store})
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("POST", "/v1/responses", strings.NewReader(`{"model":"m",  "input":"Hi"}`)))
		if !strings.Contains(sent, want) {
			t.Errorf("sent %s, want %s", sent, want)
		}
	}
}

// TestUnstoredResponses checks that a client receives the response of OpenAI's server as it is, unless
// the host stores it, or the client refers to one that the host has.
func TestUnstoredResponses(t *testing.T) {
	fake := fakeopenai.New(t, fakeopenai.Options{})
	up, err := NewResponses(&Options{BaseURL: fake.URL + "/v1", Key: "k", Dialect: Dialect{Kind: ServerOpenAI}})
	if err != nil {
		t.Fatal(err)
	}
	h := responses.NewHandler(up, &responses.Options{Store: responses.NewMemoryStore(1 << 20)})
	first := ""
	for _, tt := range []struct {
		members string
		passes  bool
	}{
		{`"store":true`, false},
		{`"store":false`, true},
		{`"store":false,"stream":true`, true},
		{`"store":false,"previous_response_id":"%"`, false},
		{`"store":false,"stream":true,"previous_response_id":"%"`, false},
	} {
		w := httptest.NewRecorder()
		members := strings.Replace(tt.members, "%", first, 1)
		h.ServeHTTP(w, httptest.NewRequest("POST", "/v1/responses", strings.NewReader(`{"model":"m","input":"Hi",`+members+`}`)))
		body := w.Body.String()
		if _, data, ok := strings.Cut(body, "event: response.completed\ndata: "); ok {
			body = gjson.Get(data, "response").Raw
		}
		id := gjson.Get(body, "id").Str
		if first == "" {
			first = id
		}
		if passes := strings.HasPrefix(id, "resp_0"); id == "" || passes != tt.passes {
			t.Errorf("%s: the id is %q in %s", members, id, w.Body)
		}
		if refers := strings.Contains(tt.members, "previous"); refers && gjson.Get(body, "previous_response_id").Str != first {
			t.Errorf("%s: no previous response in %s", members, w.Body)
		}
	}
}

// TestLongTexts checks that a long text has the escapes of the client's document, unless the host
// has changed it.
func TestLongTexts(t *testing.T) {
	long := strings.Repeat("x", 1000)
	document := `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":[
		{"type":"text","text":"\u003ca>` + long + `"},{"type":"text","text":"\u003csecret>` + long + `"},{"type":"text","text":"\u003cb>` + long + `"}]}]}`
	n, _, err := messages.DecodeRequest([]byte(document), nil)
	if err != nil {
		t.Fatal(err)
	}
	n.Turns[0].Parts[1].(*content.Text).Text = "<hidden>" + long
	chat, err := New(nil)
	if err != nil {
		t.Fatal(err)
	}
	responses, err := NewResponses(nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]upstream.Upstream{"chat": chat, "responses": responses} {
		sent, err := upstream.EncodeRequest(t.Context(), c, n)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{`"\u003ca>` + long, `"<hidden>` + long, `"\u003cb>` + long} {
			if !strings.Contains(sent.Document, text) {
				t.Errorf("%s: no text %.20s", name, text)
			}
		}
	}
}

// TestCompactionPasses checks that OpenAI's server gets the item that asks for a compaction, and the
// client the item that it makes, byte for byte. Other servers are asked for a summary in words.
func TestCompactionPasses(t *testing.T) {
	const body = `{"model":"m","input":[{"role":"user","content":"Hi"},{"type":"compaction_trigger"}],"store":false`
	const own = `{"id":"cmp_9","type":"compaction","encrypted_content":"gAAA","x":1.50}`
	const text = `{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"They said hi.","annotations":[]}]}`
	for kind, item := range map[ServerKind]string{ServerOpenAI: own, ServerCompatible: text} {
		for _, streamed := range []bool{false, true} {
			var got string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				b, _ := io.ReadAll(r.Body)
				got = string(b)
				response := `{"id":"resp_1","object":"response","created_at":1,"status":"completed","model":"m","output":[` + item + `],"usage":{"input_tokens":4,"output_tokens":2,"total_tokens":6}}`
				if w.Header().Set("Content-Type", "application/json"); streamed {
					w.Header().Set("Content-Type", "text/event-stream")
					for i, event := range []string{`"response.created","response":` + strings.Replace(response, item, "", 1), `"response.output_item.added","output_index":0,"item":` + item,
						`"response.output_item.done","output_index":0,"item":` + item, `"response.completed","response":` + response} {
						_, _ = io.WriteString(w, "data: {\"sequence_number\":"+strconv.Itoa(i)+`,"type":`+event+"}\n\n")
					}
					return
				}
				_, _ = io.WriteString(w, response)
			}))
			up, err := NewResponses(&Options{BaseURL: server.URL + "/v1", Key: "k", Dialect: Dialect{Kind: kind}})
			if err != nil {
				t.Fatal(err)
			}
			sent := body + "}"
			if streamed {
				sent = body + `,"stream":true}`
			}
			w := httptest.NewRecorder()
			responses.NewHandler(up, nil).ServeHTTP(w, httptest.NewRequest("POST", "/v1/responses", strings.NewReader(sent)))
			server.Close()
			if passes := kind == ServerOpenAI; (got == sent) != passes || strings.Contains(got, "compaction_trigger") != passes || strings.Contains(w.Body.String(), own) != passes {
				t.Errorf("%v: sent %s\nreceived %s", kind, got, w.Body)
			}
			if n := strings.Count(w.Body.String(), `"encrypted_content"`); w.Code != 200 || n == 0 || !streamed && n != 1 || strings.Contains(w.Body.String(), `"type":"message"`) {
				t.Errorf("%v: %d %s", kind, w.Code, w.Body)
			}
		}
	}
}
