package crosstest

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/openai"
	"github.com/polywire/polywire/upstream/openai/chatcompletions"
	"github.com/polywire/polywire/upstream/openai/responses"
)

// hostedParts are what servers of three formats report about a run of code and a search. Arguments are
// streamed.
var hostedParts = map[content.Format][]content.Part{
	messages.Format: {
		&content.ServerToolUse{Kind: "server_tool_use", ID: "srvtoolu_1", Name: "code_execution", Input: `{"code":"print(1)"}`},
		&content.ServerToolResult{Kind: "code_execution_tool_result", ID: "srvtoolu_1", Content: `{"type":"code_execution_result","stdout":"1\n","stderr":"","return_code":0,"content":[]}`},
		&content.ServerToolUse{Kind: "server_tool_use", ID: "srvtoolu_2", Name: "web_search", Input: `{"query":"q"}`},
		&content.ServerToolResult{Kind: "web_search_tool_result", ID: "srvtoolu_2", Content: `[{"type":"web_search_result","url":"https://e.org/","title":"e","encrypted_content":"x","page_age":null}]`},
	},
	generatecontent.Format: {
		&content.ServerToolUse{Kind: "executableCode", Name: "codeExecution", Input: `{"language":"PYTHON","code":"print(1)"}`},
		&content.ServerToolResult{Kind: "codeExecutionResult", Content: `{"outcome":"OUTCOME_OK","output":"1\n"}`},
	},
	responses.Format: {
		&content.ServerToolUse{Kind: "code_interpreter_call", ID: "ci_1", Name: "code_interpreter", Input: `{"code":"print(1)"}`},
		&content.ServerToolResult{Kind: "code_interpreter_call", ID: "ci_1", Content: `[{"type":"logs","logs":"1\n"}]`},
		&content.ServerToolUse{Kind: "web_search_call", ID: "ws_1", Name: "web_search", Input: `{"type":"search","query":"q"}`},
	},
}

// groundings is a search that a server of generateContent reports in members of the response.
const groundings = `{"groundingMetadata":{"webSearchQueries":["q"],"groundingChunks":[{"web":{"uri":"https://e.org/","title":"e"}}]}}`

// hostedModel writes them, and then a text.
func hostedModel(f content.Format) upstream.Func {
	return func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		for i, p := range hostedParts[f] {
			input := ""
			switch q := p.(type) {
			case *content.ServerToolUse:
				c := *q
				input, c.Input, c.Format = q.Input, "", f
				p = &c
			case *content.ServerToolResult:
				c := *q
				c.Format = f
				p = &c
			}
			events := []upstream.Event{{Kind: upstream.EventOpen, Block: i, Part: p}}
			for _, piece := range strings.SplitAfter(input, ":") {
				if piece != "" {
					events = append(events, upstream.Event{Kind: upstream.EventInput, Block: i, Text: piece})
				}
			}
			if err := w.Send(append(events, upstream.Event{Kind: upstream.EventClose, Block: i})); err != nil {
				return err
			}
		}
		if err := w.Text("One"); err != nil || f != generatecontent.Format {
			return err
		}
		return w.Send([]upstream.Event{{Kind: upstream.EventExtra, Extra: &content.Extra{Format: f, JSON: groundings}}})
	}
}

// jsonOf returns a document as text.
func jsonOf(t *testing.T, v any) string {
	doc, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(doc)
}

// hostedRequests are requests for both, and what a client of the format reads.
var hostedRequests = map[content.Format]struct {
	body, turn string
	read       func(v gjson.Result) (list []string)
}{
	messages.Format: {
		`{"model":"m","max_tokens":99,"tools":[{"type":"code_execution_20250825","name":"code_execution"},{"type":"web_search_20250305","name":"web_search"}],"messages":[{"role":"user","content":"a"}]}`,
		"content",
		func(v gjson.Result) (list []string) {
			for _, b := range v.Get("content").Array() {
				list = append(list, b.Get("type").Str+" "+b.Get("input").Raw+b.Get("content.stdout").Raw+b.Get("content.#.url").Raw)
			}
			return append(list, "searches "+v.Get("usage.server_tool_use.web_search_requests").Raw)
		},
	},
	generatecontent.Format: {
		`{"contents":[{"role":"user","parts":[{"text":"a"}]}],"tools":[{"codeExecution":{}},{"googleSearch":{}}]}`,
		"candidates.0.content.parts",
		func(v gjson.Result) (list []string) {
			for _, p := range v.Get("candidates.0.content.parts").Array() {
				list = append(list, p.Get("executableCode.code").Str+p.Get("codeExecutionResult.output").Str+p.Get("text").Str)
			}
			g := v.Get("candidates.0.groundingMetadata")
			return append(list, "searches "+g.Get("webSearchQueries").Raw+g.Get("groundingChunks.#.web.uri").Raw)
		},
	},
	responses.Format: {
		`{"model":"m","store":false,"input":[{"role":"user","content":"a"}],"tools":[{"type":"code_interpreter","container":{"type":"auto"}},{"type":"web_search"}]}`,
		"output",
		func(v gjson.Result) (list []string) {
			for _, item := range v.Get("output").Array() {
				list = append(list, item.Get("type").Str+" "+item.Get("code").Str+item.Get("outputs.#.logs").Raw+item.Get("action.query").Str+item.Get("action.sources.#.url").Raw)
			}
			return list
		},
	},
	chatcompletions.Format: {
		`{"model":"m","messages":[{"role":"user","content":"a"}]}`, "",
		func(v gjson.Result) []string { return []string{v.Get("choices.0.message.content").Str} },
	},
}

// TestHosted lets clients of each format read what servers of the other formats report about code that
// they have run, and about their searches, and return it.
func TestHosted(t *testing.T) {
	want := map[content.Format]map[content.Format][]string{
		messages.Format: {
			generatecontent.Format: {`server_tool_use {"code":"print(1)"}`, `code_execution_tool_result "1\n"`, "text ", `server_tool_use {"query":"q"}`, `web_search_tool_result ["https://e.org/"]`, "searches 1"},
			responses.Format:       {`server_tool_use {"code":"print(1)"}`, `code_execution_tool_result "1\n"`, `server_tool_use {"query":"q"}`, "web_search_tool_result []", "text ", "searches 1"},
		},
		generatecontent.Format: {
			messages.Format:  {"print(1)", "1\n", "One", `searches ["q"]["https://e.org/"]`},
			responses.Format: {"print(1)", "1\n", "One", `searches ["q"]`},
		},
		responses.Format: {
			messages.Format:        {`code_interpreter_call print(1)["1\n"]`, `web_search_call q["https://e.org/"]`, "message "},
			generatecontent.Format: {`web_search_call q["https://e.org/"]`, `code_interpreter_call print(1)["1\n"]`, "message "},
		},
		chatcompletions.Format: {
			messages.Format: {"One"}, generatecontent.Format: {"One"}, responses.Format: {"One"},
		},
	}
	chat, err := openai.New(&openai.Options{BaseURL: "http://127.0.0.1:9/v1", Key: "k"})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range wireFormats {
		req := hostedRequests[s.format]
		for f, lines := range want[s.format] {
			var losses []content.Loss
			var sent *upstream.Request
			model := hostedModel(f)
			up := upstream.Func(func(ctx context.Context, r *upstream.Request, w *upstream.Writer) error {
				sent = r
				return model(ctx, r, w)
			})
			h := s.handler(up, upstream.HandlerOptions{OnLoss: func(_ context.Context, l []content.Loss) { losses = append(losses, l...) }})
			ask := func(mode int, body string) string {
				m := s.modes[mode]
				if m.stream && strings.HasPrefix(m.path, "/v1/") {
					body = strings.Replace(body, "{", `{"stream":true,`, 1)
				}
				rec := httptest.NewRecorder()
				r := httptest.NewRequest(http.MethodPost, m.path, strings.NewReader(body))
				r.Header.Set("Content-Type", "application/json")
				r.Header.Set("Anthropic-Version", "2023-06-01")
				h.ServeHTTP(rec, r)
				out, _ := io.ReadAll(rec.Body)
				return string(out)
			}
			whole := ""
			for i := range 2 {
				losses = nil
				doc, failed, _, err := s.modes[i].read(ask(i, req.body))
				if err != nil || failed != nil {
					t.Fatal(s.name, f, err, failed)
				}
				got := req.read(gjson.Parse(jsonOf(t, doc)))
				expected := lines
				if i == 0 {
					whole = jsonOf(t, doc)
				} else if f == generatecontent.Format && s.format == responses.Format {
					expected = []string{lines[1], lines[2], lines[0]} // the server reports its searches at the end
				}
				if diff := cmp.Diff(expected, got); diff != "" {
					t.Errorf("%s from %s, %s (-want +got):\n%s", s.name, f, s.modes[i].name, diff)
				}
				for _, l := range losses {
					if l.Severity > content.LossHint && s.format != chatcompletions.Format {
						t.Errorf("%s from %s: %s %s: %s", s.name, f, l.Severity, l.Path, l.Reason)
					}
				}
			}
			if req.turn == "" {
				continue
			}
			turn := gjson.Get(whole, req.turn).Raw
			next := map[content.Format][2]string{
				messages.Format:        {`}]}`, `},{"role":"assistant","content":` + turn + `},{"role":"user","content":"b"}]}`},
				generatecontent.Format: {`}],"tools"`, `},{"role":"model","parts":` + turn + `},{"role":"user","parts":[{"text":"b"}]}],"tools"`},
				responses.Format:       {`}],"tools"`, `},` + strings.Trim(turn, "[]") + `,{"role":"user","content":"b"}],"tools"`},
			}[s.format]
			if got := ask(0, strings.Replace(req.body, next[0], next[1], 1)); len(sent.Turns) != 3 {
				t.Fatalf("%s from %s: %s", s.name, f, got)
			}
			out, err := upstream.EncodeRequest(t.Context(), chat, sent)
			if err != nil {
				t.Fatal(err)
			}
			doc := out.Document
			const text = `Code that the server has run:\n\nprint(1)`
			if !strings.Contains(doc, text) || !strings.Contains(doc, `Output of the code:\n\n1`) || strings.Contains(doc, `"q"`) {
				t.Errorf("%s from %s: another vendor gets\n%s", s.name, f, doc)
			}
		}
	}
}

// TestFailedRun checks that clients of each format see that code of another vendor's server has failed,
// and that another vendor reads that.
func TestFailedRun(t *testing.T) {
	failed := map[content.Format]string{
		messages.Format:        `{"type":"code_execution_result","stdout":"","stderr":"boom","return_code":1,"content":[]}`,
		generatecontent.Format: `{"outcome":"OUTCOME_FAILED","output":"boom"}`,
		responses.Format:       `{"status":"failed","outputs":[{"type":"logs","logs":"boom"}]}`,
	}
	for to, f := range map[content.Format]struct {
		encode func(*upstream.Request, *upstream.Response) ([]byte, []content.Loss)
		want   string
	}{
		messages.Format:        {messages.EncodeResponse, `"stdout":"","stderr":"boom","return_code":1`},
		generatecontent.Format: {generatecontent.EncodeResponse, `"outcome":"OUTCOME_FAILED","output":"boom"}`},
		responses.Format:       {responses.EncodeResponse, `"status":"failed","code":"print(1)","container_id":"","outputs":[{"type":"logs","logs":"boom"}]`},
	} {
		for from, result := range failed {
			if from == to {
				continue
			}
			call, end := *hostedParts[from][0].(*content.ServerToolUse), *hostedParts[from][1].(*content.ServerToolResult)
			call.Format, end.Format, end.Content = from, from, result
			doc, losses := f.encode(nil, &upstream.Response{Parts: []content.Part{&call, &end, &content.Text{Text: "No."}}, Stop: upstream.Stop{Reason: content.StopEnd}})
			if !strings.Contains(string(doc), f.want) || len(losses) > 0 {
				t.Errorf("from %s, %v: %s", from, losses, doc)
			}
		}
	}
}

// TestFailedSearch checks that a client of Messages sees that a search of OpenAI's server has failed.
func TestFailedSearch(t *testing.T) {
	vendor := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"id":"resp_1","object":"response","status":"completed","model":"m","output":[`+
			`{"id":"ws_1","type":"web_search_call","status":"failed","action":{"type":"search","query":"q"}},`+
			`{"id":"ws_2","type":"web_search_call","status":"completed","action":{"type":"search","query":"r"}},`+
			`{"id":"msg_1","type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"No.","annotations":[]}]}]}`)
	}))
	defer vendor.Close()
	up, err := openai.NewResponses(&openai.Options{BaseURL: vendor.URL, Key: "k"})
	if err != nil {
		t.Fatal(err)
	}
	rec := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodPost, "/v1/messages", strings.NewReader(hostedRequests[messages.Format].body))
	r.Header.Set("Anthropic-Version", "2023-06-01")
	messages.NewHandler(up, nil).ServeHTTP(rec, r)
	var got []string
	for _, b := range gjson.Get(rec.Body.String(), "content").Array() {
		got = append(got, b.Get("type").Str+" "+b.Get("input").Raw+b.Get("content").Raw+b.Get("text").Str)
	}
	want := []string{
		`server_tool_use {"query":"q"}`, `web_search_tool_result {"type":"web_search_tool_result_error","error_code":"unavailable"}`,
		`server_tool_use {"query":"r"}`, `web_search_tool_result []`, "text No.",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s\n%s", diff, rec.Body)
	}
}
