package gemini

import (
	"cmp"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/internal/document"
	"github.com/polywire/polywire/internal/test/lossplaces"
	"github.com/polywire/polywire/upstream"
)

// TestVertexURL checks URLs and keys of Google Cloud.
func TestVertexURL(t *testing.T) {
	const at = "projects/p-1/locations/europe-west4/"
	token := func(context.Context) (string, error) { return "t", nil }
	tests := []struct {
		name    string
		o       Options
		model   string
		want    string // the URL
		asToken bool
	}{
		{"region", Options{Project: "p-1", Location: "europe-west4", KeyFunc: token}, "gemini-x",
			"https://europe-west4-aiplatform.googleapis.com/v1beta1/" + at + "publishers/google/models/gemini-x:generateContent", true},
		{"global", Options{Project: "p-1", Location: "global", KeyFunc: token}, "gemini-x",
			"https://aiplatform.googleapis.com/v1beta1/projects/p-1/locations/global/publishers/google/models/gemini-x:generateContent", true},
		{"several regions", Options{Project: "p-1", Location: "eu", KeyFunc: token, Version: "v1"}, "gemini-x",
			"https://aiplatform.eu.rep.googleapis.com/v1/projects/p-1/locations/eu/publishers/google/models/gemini-x:generateContent", true},
		{"express", Options{Location: "global", Key: "t"}, "gemini-x",
			"https://aiplatform.googleapis.com/v1beta1/publishers/google/models/gemini-x:generateContent", false},
		{"key with a project", Options{Project: "p-1", Location: "europe-west4", Key: "t"}, "gemini-x",
			"https://europe-west4-aiplatform.googleapis.com/v1beta1/" + at + "publishers/google/models/gemini-x:generateContent", false},
		{"other host", Options{Project: "p-1", Location: "europe-west4", KeyFunc: token, BaseURL: "https://h.example/v1"}, "gemini-x",
			"https://h.example/v1/" + at + "publishers/google/models/gemini-x:generateContent", true},
		{"publisher and model", Options{Project: "p-1", Location: "europe-west4", KeyFunc: token}, "meta/llama",
			"https://europe-west4-aiplatform.googleapis.com/v1beta1/" + at + "publishers/meta/models/llama:generateContent", true},
		{"name of the other service", Options{Project: "p-1", Location: "europe-west4", KeyFunc: token}, "models/gemini-x",
			"https://europe-west4-aiplatform.googleapis.com/v1beta1/" + at + "publishers/google/models/gemini-x:generateContent", true},
		{"publisher's resource", Options{Project: "p-1", Location: "europe-west4", KeyFunc: token}, "publishers/google/models/m:1",
			"https://europe-west4-aiplatform.googleapis.com/v1beta1/" + at + "publishers/google/models/m%3A1:generateContent", true},
		{"endpoint", Options{Project: "p-1", Location: "europe-west4", KeyFunc: token}, "endpoints/42",
			"https://europe-west4-aiplatform.googleapis.com/v1beta1/" + at + "endpoints/42:generateContent", true},
		{"whole resource", Options{Project: "p-1", Location: "europe-west4", KeyFunc: token}, "projects/q/locations/l/endpoints/1",
			"https://europe-west4-aiplatform.googleapis.com/v1beta1/projects/q/locations/l/endpoints/1:generateContent", true},
		{"without a project", Options{Key: "t"}, "publishers/google/models/gemini-x",
			"https://generativelanguage.googleapis.com/v1beta/publishers/google/models/gemini-x:generateContent", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got *http.Request
			tt.o.HTTPClient = &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
				got = r
				return respond(`{"candidates":[{"content":{"role":"model","parts":[{"text":"Hi"}]},"finishReason":"STOP"}]}`), nil
			})}
			c, err := New(&tt.o)
			if err != nil {
				t.Fatal(err)
			}
			n := withParts(&content.Text{Text: "hi"})
			n.Model = tt.model
			if _, err := upstream.Collect(t.Context(), c, n); err != nil {
				t.Fatal(err)
			}
			if got.URL.String() != tt.want {
				t.Errorf("URL %s, want %s", got.URL, tt.want)
			}
			header, value := "X-Goog-Api-Key", "t"
			if tt.asToken {
				header, value = "Authorization", "Bearer t"
			}
			if got.Header.Get(header) != value || got.Header.Get("Authorization") != "" && got.Header.Get("X-Goog-Api-Key") != "" {
				t.Errorf("headers %v, want %s: %s", got.Header, header, value)
			}
		})
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// respond returns a response with a JSON body.
func respond(body string) *http.Response {
	w := httptest.NewRecorder()
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, body)
	return w.Result()
}

func TestVertexOptions(t *testing.T) {
	for _, tt := range []struct {
		o    Options
		want string
	}{
		{Options{Project: "p", Location: "x y"}, `gemini: Location: "x y" must consist of lower-case letters, digits and hyphens`},
		{Options{Project: "p"}, `gemini: Location: must be set with Project, for example to "global"`},
		{Options{Location: "us-central1"}, "gemini: Project: must be set with a Location other than global"},
		{Options{Project: "a/b", Location: "../x"}, `gemini: Project: "a/b" is not the id or number of a project; ` +
			`Location: "../x" must consist of lower-case letters, digits and hyphens`},
		{Options{Project: "..", Location: ".."}, `gemini: Project: ".." is not the id or number of a project; Location: ".." must consist of lower-case letters, digits and hyphens`},
		{Options{Project: "example.com:p", Location: "us"}, ""},
	} {
		if _, err := New(&tt.o); tt.want == "" && err != nil || tt.want != "" && (err == nil || err.Error() != tt.want) {
			t.Errorf("%v, want %s", err, tt.want)
		}
	}
}

// vertexClient returns a client for Google Cloud that is not called.
func vertexClient(t *testing.T) *Client {
	t.Helper()
	c, err := New(&Options{Project: "p", Location: "global"})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// sent returns the document that the client would send for a document, and the losses.
func sent(t *testing.T, c *Client, body string, count bool) (string, []string) {
	t.Helper()
	n, _, err := generatecontent.DecodeRequest([]byte(body), &generatecontent.ValidateOptions{Count: count})
	if err != nil {
		t.Fatal(err)
	}
	n.Model, document.Of(n.Wire).Model = "gemini-3.8-flash", "gemini-3.8-flash" // the client asked for it
	p := c.plan(n)
	if p.Err != nil {
		t.Fatal(p.Err)
	}
	encode := p.body
	if count {
		encode = p.countBody
	} else if _, err := p.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	b, err := encode()
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(b.Reader())
	if err != nil {
		t.Fatal(err)
	}
	var losses []string
	losses = append(losses, lossplaces.Names(p.Losses)...)
	return string(text), losses
}

// TestVertexDocuments checks which documents of the format are sent unchanged, and what
// becomes of those that Google Cloud does not accept.
func TestVertexDocuments(t *testing.T) {
	const hi = `{"role":"user","parts":[{"text":"hi"}]}`
	const links = `{"role":"user","parts":[{"fileData":{"mimeType":"image/png","fileUri":"https://a.example/x.png"}},{"fileData":{"mimeType":"application/pdf","fileUri":"gs://b/c.pdf"}}]}`
	calls := `{"role":"model","parts":[{"functionCall":{"id":"1","name":"f","args":{}}}]},` +
		`{"role":"user","parts":[{"functionResponse":{"id":"1","name":"f","response":{"willContinue":true}}}]}`
	tests := []struct {
		name, body string
		want       string // empty: the same bytes
		losses     []string
	}{
		{"plain", `{ "contents":[` + hi + `], "labels":{"a_b":"c"} }`, "", nil},
		{"links, calls without signatures, high limit", `{"contents":[` + links + `,` + calls + `], "generationConfig":{"maxOutputTokens":1000000}}`, "", nil},
		{"snake_case as data", `{"contents": [` + hi + `], "tools":[{"functionDeclarations":[{"name":"f_g","parametersJsonSchema":{"type":"object","properties":{"file_path":{"type":"string"}}}}]}]}`, "", nil},
		{"built-in tools", `{"contents": [` + hi + `], "tools":[{"googleSearch":{"excludeDomains":["a"]}},{"urlContext":{}},{"retrieval":{}}]}`, "", nil},
		{"no role", `{"contents": [{"parts":[{"text":"hi"}]}]}`, `{"contents":[` + hi + `]}`, nil},
		{"null", `{"contents":[{"role":"user","parts":[{"text":"hi","partMetadata":null}]}], "store":null,"toolConfig":{"includeServerSideToolInvocations":null}}`, `{"contents":[` + hi + `]}`, nil},
		{"empty role", `{"contents": [{"role":"","parts":[{"text":"hi"}]}]}`, `{"contents":[` + hi + `]}`, nil},
		{"snake_case", `{"contents": [` + strings.ReplaceAll(links, "fileUri", "file_uri") + `], "generation_config":{"top_k":3}}`, "", nil},
		{"no role beside a link", `{"contents":[` + links + `,{"parts":[{"text":"hi"}]}], "service_tier":"flex"}`, `{"contents":[` + links + `,` + hi + `],"serviceTier":"flex"}`, nil},
		{"members", `{"contents":[{"role":"user","parts":[{"text":"hi","partMetadata":{"a":1}}]}], "store":false, "toolConfig":{"includeServerSideToolInvocations":true},
			"generationConfig":{"enableEnhancedCivicAnswers":true,"seed":1}}`,
			`{"contents":[` + hi + `],"generationConfig":{"seed":1}}`,
			[]string{"hint extra.toolConfig.includeServerSideToolInvocations", "hint extra.store", "degraded extra.generationConfig.enableEnhancedCivicAnswers", "hint turns.0.parts.0.extra.partMetadata"}},
		{"built-in tool", `{"contents": [` + hi + `], "tools":[{"fileSearch":{"fileSearchStoreNames":["s"]}},{"googleSearch":{}}]}`,
			`{"contents":[` + hi + `],"tools":[{"googleSearch":{}}]}`, []string{"dropped tools.0"}},
		{"part", `{"contents": [{"role":"model","parts":[{"text":"a"},{"toolCall":{"toolType":"GOOGLE_SEARCH_WEB","args":{},"id":"1"}},{"toolResponse":{"toolType":"GOOGLE_SEARCH_WEB","response":{},"id":"1"}}]},` + hi + `]}`,
			`{"contents":[{"role":"model","parts":[{"text":"a"}]},` + hi + `]}`, []string{"dropped turns.0.parts.1", "dropped turns.0.parts.2"}},
		{"function response", `{"contents":[` + hi + `,` + strings.Replace(calls, `"response":{"willContinue":true}`, `"response":{},"willContinue":true`, 1) + `]}`,
			`{"contents":[` + hi + `,` + strings.Replace(calls, `{"willContinue":true}`, `{}`, 1) + `]}`, []string{"dropped turns.2.parts.0.extra.functionResponse.willContinue"}},
	}
	c := vertexClient(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, losses := sent(t, c, tt.body, false)
			if got != cmp.Or(tt.want, tt.body) {
				t.Errorf("sent %s\nfor  %s\nwant %s", got, tt.body, tt.want)
			}
			if diff := gocmp.Diff(tt.losses, losses); diff != "" {
				t.Errorf("losses (-want +got):\n%s", diff)
			}
			if again, losses := sent(t, c, got, false); again != got || len(losses) > 0 {
				t.Errorf("the sent document is sent as %s, with losses %v", again, losses)
			}
		})
	}
}

// TestVertexModel checks that a document that names its model gets the resource name.
func TestVertexModel(t *testing.T) {
	const body = `{"model":"models/gemini-3.8-flash", "contents":[{"role":"user","parts":[{"text":"hi"}]}]}`
	want := strings.Replace(body, "models/gemini-3.8-flash", "projects/p/locations/global/publishers/google/models/gemini-3.8-flash", 1)
	if got, losses := sent(t, vertexClient(t), body, false); got != want || len(losses) > 0 {
		t.Errorf("%s %v, want %s", got, losses, want)
	}
}

// TestVertexStoredFile checks that a file of the vendor's own file storage is loaded: Google
// Cloud cannot read it.
func TestVertexStoredFile(t *testing.T) {
	body := `{"contents":[{"role":"user","parts":[{"fileData":{"mimeType":"image/png","fileUri":"files/a"}}]}]}`
	n, _, err := generatecontent.DecodeRequest([]byte(body), nil)
	if err != nil {
		t.Fatal(err)
	}
	n.Model = "gemini-3.8-flash"
	p := vertexClient(t).plan(n)
	if p.Document != nil || !p.Request.Load {
		t.Error("the document would be sent")
	}
	if _, err := p.Load(t.Context()); err == nil {
		t.Error("a file without a resolver was loaded")
	}
}

// TestVertexCount checks that only members that Google Cloud counts are sent.
func TestVertexCount(t *testing.T) {
	const hi = `{"role":"user","parts":[{"text":"hi"}]}`
	c := vertexClient(t)
	for _, tt := range []struct{ body, want string }{
		{`{"contents":[` + hi + `], "systemInstruction":` + hi + `, "generationConfig":{"topK":1}}`, ""},
		{`{"contents":[` + hi + `], "safetySettings":[{"category":"HARM_CATEGORY_HARASSMENT","threshold":"OFF"}], "generationConfig":{"topK":1}}`,
			`{"contents":[` + hi + `],"generationConfig":{"topK":1}}`},
		{`{"generateContentRequest":{"contents":[` + hi + `],"store":true}}`, `{"contents":[` + hi + `]}`},
	} {
		want := cmp.Or(tt.want, tt.body)
		if got, _ := sent(t, c, tt.body, true); got != want {
			t.Errorf("sent %s, want %s", got, want)
		}
	}
}

// TestVertexOtherFormat checks what requests of other formats lose only at Google Cloud.
func TestVertexOtherFormat(t *testing.T) {
	n := withParts(&content.Text{Text: "hi"})
	n.Tools = []content.Tool{{Name: "f"}, {Kind: "web_search_20250305", Name: "web_search", Format: "messages", Raw: `{"type":"web_search_20250305","name":"web_search"}`}}
	vertex, studio := vertexClient(t).plan(n), (&Client{client: vertexClient(t).client}).plan(n)
	if vertex.Request.Extra != nil || studio.Request.Extra == nil {
		t.Errorf("members %+v at Google Cloud, %+v elsewhere", vertex.Request.Extra, studio.Request.Extra)
	}
	if kinds := func(p *plan) (list []string) {
		for _, x := range p.Request.Tools {
			list = append(list, x.Name+x.Kind)
		}
		return list
	}; !slices.Equal(kinds(vertex), []string{"f"}) || !slices.Equal(kinds(studio), []string{"f", "googleSearch"}) {
		t.Errorf("tools %v at Google Cloud, %v elsewhere", kinds(vertex), kinds(studio))
	}
}

func TestVertexModels(t *testing.T) {
	var paths []string
	client := &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		paths = append(paths, r.URL.RequestURI())
		if r.URL.Query().Get("pageToken") == "" {
			return respond(`{"publisherModels":[{"name":"publishers/google/models/gemini-a","versionId":"1"}],"nextPageToken":"x"}`), nil
		}
		return respond(`{"publisherModels":[{"name":"publishers/google/models/gemini-b"}]}`), nil
	})}
	c, err := New(&Options{Project: "p", Location: "global", HTTPClient: client})
	if err != nil {
		t.Fatal(err)
	}
	list, err := c.Models(t.Context())
	if err != nil || len(list) != 2 || list[0].ID != "gemini-a" || list[1].ID != "gemini-b" {
		t.Errorf("%+v, %v", list, err)
	}
	want := []string{"/v1beta1/publishers/google/models?pageSize=100", "/v1beta1/publishers/google/models?pageSize=100&pageToken=x"}
	if diff := gocmp.Diff(want, paths); diff != "" {
		t.Errorf("paths (-want +got):\n%s", diff)
	}
}
