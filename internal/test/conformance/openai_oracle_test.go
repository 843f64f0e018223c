package conformance

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	openaisdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"

	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/internal/test/fake"
	fakeopenai "github.com/polywire/polywire/internal/test/fake/openai"
	"github.com/polywire/polywire/internal/test/workload"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/openai"
)

// An sdkAdapter is an adapter and the vendor SDK's type of its requests.
type sdkAdapter struct {
	models []string
	make   func(openai.Options) (upstream.Upstream, error)
	params func() any
}

var sdkAdapters = map[string]sdkAdapter{
	"chat": {
		[]string{"gpt-4.1", "o3", "gpt-5.6-sol"},
		func(o openai.Options) (upstream.Upstream, error) { return openai.New(&o) },
		func() any { return new(openaisdk.ChatCompletionNewParams) },
	},
	"responses": {
		[]string{"gpt-4.1", "gpt-5.6-sol", "gpt-6.2-sol"},
		func(o openai.Options) (upstream.Upstream, error) { return openai.NewResponses(&o) },
		func() any { return new(responses.ResponseNewParams) },
	},
}

// A vendorServer is the vendor's server behind a handler.
type vendorServer struct {
	*fakeopenai.Server
	front http.Handler
}

func newVendorServer(t *testing.T, b sdkAdapter, front, model string) *vendorServer {
	t.Helper()
	tr := &http.Transport{}
	t.Cleanup(tr.CloseIdleConnections)
	v := &vendorServer{Server: fakeopenai.New(t, fakeopenai.Options{})}
	up, err := b.make(openai.Options{BaseURL: v.Base(), Key: "k", HTTPClient: &http.Client{Transport: tr},
		MapModel: func(string) string { return model }, Dialect: openai.Dialect{Kind: openai.ServerOpenAI}})
	if err != nil {
		t.Fatal(err)
	}
	if v.front = http.Handler(messages.NewHandler(up, nil)); front != "messages" {
		v.front = generatecontent.NewHandler(up, nil)
	}
	return v
}

// ask sends a request and returns the response. The vendor must have accepted
// its request.
func (v *vendorServer) ask(t *testing.T, path, body string) string {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("Anthropic-Version", "2023-06-01")
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	v.front.ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		t.Fatalf("status %d %.500s", w.Code, w.Body)
	}
	return w.Body.String()
}

// TestOpenAIBodies decodes what the adapters send into the types of the
// vendor's SDK: they must know every member and encode the same document.
func TestOpenAIBodies(t *testing.T) {
	for name, b := range sdkAdapters {
		for _, model := range b.models {
			for front, bodies := range oracleBodies() {
				t.Run(fmt.Sprintf("%s→%s/%s", front, name, model), func(t *testing.T) {
					v := newVendorServer(t, b, front, model)
					for _, body := range bodies {
						v.Say(fake.Text("fine"))
						v.ask(t, oraclePaths[front], body)
						checkParams(t, b.params(), v.Last().Body)
					}
				})
			}
		}
	}
}

var oraclePaths = map[string]string{
	"messages":        "/v1/messages",
	"generatecontent": "/v1beta/models/m:generateContent",
}

func oracleBodies() map[string][]string {
	return map[string][]string{
		"messages":        {workload.Small(), workload.Chat(), workload.Intl(), workload.Agent(), workload.Image(), fullMessagesRequest},
		"generatecontent": {workload.GenerateSmall(), workload.GenerateChat(), workload.GenerateIntl(), workload.GenerateAgent(), workload.GenerateImage(), fullGenerateRequest},
	}
}

// TestOpenAIReturnedResponse does the same with a returned response: thinking, tool
// calls and their results.
func TestOpenAIReturnedResponse(t *testing.T) {
	const head = `{"model":"m","max_tokens":2000,"thinking":{"type":"enabled","budget_tokens":1024},"tools":[{"name":"f","input_schema":` +
		oracleSchema + `}],"messages":[{"role":"user","content":"go"}`
	for name, model := range map[string]string{"chat": "gpt-4.1", "responses": "gpt-6.2-sol"} {
		t.Run(name, func(t *testing.T) {
			b := sdkAdapters[name]
			v := newVendorServer(t, b, "messages", model)
			v.Say(fake.Thinking("Two calls."), fake.Text("Now."), fake.Call("f", `{"n":1}`), fake.Call("f", `{"n":2}`))
			v.Say(fake.Text("Done."))
			var first struct {
				Content []json.RawMessage
			}
			if err := json.Unmarshal([]byte(v.ask(t, oraclePaths["messages"], head+"]}")), &first); err != nil {
				t.Fatal(err)
			}
			var blocks, given []string
			for _, block := range first.Content {
				blocks = append(blocks, string(block))
				var call struct{ Type, ID string }
				if err := json.Unmarshal(block, &call); err == nil && call.Type == "tool_use" {
					given = append(given, `{"type":"tool_result","tool_use_id":"`+call.ID+`","content":"ok"}`)
				}
			}
			v.ask(t, oraclePaths["messages"], head+`,{"role":"assistant","content":[`+strings.Join(blocks, ",")+
				`]},{"role":"user","content":[`+strings.Join(given, ",")+`]}]}`)
			body := string(v.Last().Body)
			if len(given) != 2 || strings.Contains(body, `"encrypted_content":"`) != (name == "responses") {
				t.Errorf("%d results in %s", len(given), body)
			}
			checkParams(t, b.params(), []byte(body))
		})
	}
}

// TestOpenAIUnknownMembers checks that members that the SDK does not know are
// found.
func TestOpenAIUnknownMembers(t *testing.T) {
	for name, body := range map[string]string{
		"chat":      `{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"a","odd":1}]}]}`,
		"responses": `{"model":"m","input":[{"role":"user","content":[{"type":"input_text","text":"a","odd":1}]}]}`,
	} {
		if diff, err := paramsDifference(sdkAdapters[name].params(), []byte(body)); err != nil || !strings.Contains(diff, `"odd"`) {
			t.Errorf("%s: %v, found %s", name, err, diff)
		}
	}
}

func checkParams(t *testing.T, params any, body []byte) {
	t.Helper()
	diff, err := paramsDifference(params, body)
	if err != nil || diff != "" {
		t.Errorf("%v (-sent +written by the SDK):\n%.3000s", err, diff)
	}
}

// paramsDifference decodes a body into params, a type of the vendor's SDK, and
// returns the difference to what params encodes. The types drop unknown
// members.
func paramsDifference(params any, body []byte) (string, error) {
	var got, want map[string]any
	if err := json.Unmarshal(body, &want); err != nil {
		return "", err
	}
	toSDKForm(want)
	plain, err := json.Marshal(want)
	if err != nil {
		return "", err
	}
	if err := json.Unmarshal(plain, params); err != nil {
		return "", err
	}
	again, err := json.Marshal(params)
	if err != nil {
		return "", err
	}
	err = json.Unmarshal(again, &got)
	return cmp.Diff(want, got), err
}

// toSDKForm changes a body to the form of the SDK's types: streaming is not a
// member but a method of the client, null content is omitted, and the optional
// type of a message is set, since the types identify items by it.
func toSDKForm(body map[string]any) {
	delete(body, "stream")
	list, _ := body["messages"].([]any)
	for _, m := range list {
		if m, ok := m.(map[string]any); ok && m["content"] == nil {
			delete(m, "content")
		}
	}
	list, _ = body["input"].([]any)
	for _, m := range list {
		if m, ok := m.(map[string]any); ok && m["type"] == nil {
			m["type"] = "message"
		}
	}
}
