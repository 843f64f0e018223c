package generatecontent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/upstream"
)

// of returns an upstream that lists n models, m1 to mn.
func of(n int) *formattest.Able {
	list := make([]upstream.Model, n)
	for i := range list {
		list[i] = upstream.Model{ID: fmt.Sprint("m", i+1)}
	}
	return &formattest.Able{List: func(context.Context) ([]upstream.Model, error) { return list, nil }}
}

func serve(up upstream.Upstream, method, path, body string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	r := post(path, body)
	r.Method = method
	NewHandler(up, nil).ServeHTTP(w, r)
	return w
}

// TestModelPages pages through lists by the token alone, as clients do.
func TestModelPages(t *testing.T) {
	for _, tt := range []struct {
		n     int
		query string
		want  []int // models on each page
	}{
		{0, "", []int{0}}, {1, "", []int{1}}, {50, "", []int{50}}, {51, "", []int{50, 1}}, {5, "pageSize=2", []int{2, 2, 1}},
		{4, "page_size=2", []int{2, 2}}, {60, "pageSize=0", []int{50, 10}}, {1001, "pageSize=5000", []int{1000, 1}},
	} {
		token, seen := "", 0
		for _, want := range tt.want {
			w := serve(of(tt.n), "GET", "/v1beta/models?"+tt.query+"&pageToken="+url.QueryEscape(token), "")
			var page struct {
				Models        []struct{ Name string }
				NextPageToken string
			}
			if err := json.Unmarshal(w.Body.Bytes(), &page); err != nil || w.Code != 200 || len(page.Models) != want {
				t.Fatalf("%+v: %d models of %d, %v", tt, len(page.Models), want, err)
			}
			for _, m := range page.Models {
				if seen++; m.Name != fmt.Sprint("models/m", seen) {
					t.Errorf("%+v: %s is number %d", tt, m.Name, seen)
				}
			}
			token = page.NextPageToken
		}
		if token != "" || seen != tt.n {
			t.Errorf("%+v: %d models, token %q", tt, seen, token)
		}
	}
}

func TestModel(t *testing.T) {
	list := []upstream.Model{
		{ID: "a/b"},
		{ID: "g", Name: "G", Description: "d", MaxInput: 10, MaxOutput: 5, Thinking: true,
			Extra: extra(`{"name":"no","supportedGenerationMethods":["embedContent"],"topK":64}`)},
		{ID: "tunedModels/t", Extra: &content.Extra{Format: "other", JSON: `{"x":1}`}},
	}
	up := &formattest.Able{List: func(context.Context) ([]upstream.Model, error) { return list, nil }}
	const methods = `"supportedGenerationMethods":["generateContent","streamGenerateContent","countTokens"]`
	for path, want := range map[string]string{
		"/gw/v1/models/a/b": `{"name":"models/a/b","displayName":"a/b",` + methods + `}`,
		"/v1beta/models/g": `{"name":"models/g","displayName":"G","description":"d","inputTokenLimit":10,"outputTokenLimit":5,` +
			`"thinking":true,"supportedGenerationMethods":["embedContent"],"topK":64}`,
		"/v1beta/tunedModels/t":                 `{"name":"tunedModels/t","displayName":"tunedModels/t",` + methods + `}`,
		"/v1beta1/publishers/google/models/a/b": `{"name":"publishers/google/models/a/b","displayName":"a/b",` + methods + `}`,
	} {
		w := serve(up, "GET", path, "")
		if diff := cmp.Diff(want, w.Body.String()); diff != "" || w.Code != 200 {
			t.Errorf("%s: %d (-want +got):\n%s", path, w.Code, diff)
		}
	}
}

func TestDecodeCount(t *testing.T) {
	tests := []struct {
		name, body string
		want       upstream.TokenCount
		bad        bool
	}{
		{"C03", answerFile(t, "C03.json"), upstream.TokenCount{Tokens: 11, Extra: extraWith(`{"promptTokensDetails":[{"modality":"TEXT","tokenCount":11}]}`)}, false},
		{"cached", `{"totalTokens":11,"cachedContentTokenCount":4,"contentTokens":1}`, upstream.TokenCount{Tokens: 11, Cached: 4, Extra: extraWith(`{"contentTokens":1}`)}, false},
		{"more cached tokens than tokens", `{"totalTokens":3,"cachedContentTokenCount":4}`, upstream.TokenCount{Tokens: 3, Cached: 3}, false},
		{"string", `{"totalTokens":"11"}`, upstream.TokenCount{Tokens: 11}, false},
		{"snake_case", `{"total_tokens":11}`, upstream.TokenCount{Tokens: 11}, false},
		{"none", `{}`, upstream.TokenCount{}, true},
		{"negative", `{"totalTokens":-1}`, upstream.TokenCount{}, true},
		{"fraction", `{"totalTokens":1.5}`, upstream.TokenCount{}, true},
		{"list", `[{"totalTokens":1}]`, upstream.TokenCount{}, true},
		{"HTML", markup, upstream.TokenCount{}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := DecodeCount([]byte(tt.body))
			var e *upstream.Error
			if tt.bad != errors.As(err, &e) || tt.bad && (e.Code != upstream.CodeBadGateway || e.Text != "") {
				t.Errorf("got the error %v", err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestDecodeModels(t *testing.T) {
	one := upstream.Model{ID: "gemini-3.8-flash", Name: "Gemini 3.8 Flash", Description: "General model", MaxInput: 1048576, MaxOutput: 65536, Thinking: true,
		Extra: extraWith(`{"baseModelId":"gemini-3.8-flash","version":"3.0","supportedGenerationMethods":["generateContent","countTokens","batchGenerateContent"],"temperature":1,"topP":0.95,"topK":64,"maxTemperature":2}`)}
	tests := []struct {
		name, body string
		want       []upstream.Model
		next       string
		bad        bool
	}{
		{"M01", answerFile(t, "M01.json"), []upstream.Model{one}, "Ch1tb2RlbHM", false},
		{"last page", `{"models":[{"name":"models/a"},{"name":"b","outputTokenLimit":-5}]}`, []upstream.Model{{ID: "a"}, {ID: "b"}}, "", false},
		{"tuned", `{"tunedModels":[{"name":"tunedModels/a","display_name":"A"}],"nextPageToken":""}`, []upstream.Model{{ID: "tunedModels/a", Name: "A"}}, "", false},
		{"nothing", `{}`, []upstream.Model{}, "", false},
		{"an empty page", `{"nextPageToken":"x"}`, []upstream.Model{}, "x", false},
		{"another document", `{"data":[]}`, nil, "", true},
		{"models is an object", `{"models":{"name":"a"}}`, nil, "", true},
		{"no name", `{"models":[{"name":"models/a"},{"displayName":"b"}]}`, nil, "", true},
		{"model is a number", `{"models":[5]}`, nil, "", true},
		{"list", `[{"name":"models/a"}]`, nil, "", true},
		{"HTML", markup, nil, "", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, next, err := DecodeModels([]byte(tt.body))
			var e *upstream.Error
			if tt.bad != errors.As(err, &e) || tt.bad && (e.Code != upstream.CodeBadGateway || e.Text != "") {
				t.Errorf("got the error %v", err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || next != tt.next {
				t.Errorf("next %q (-want +got):\n%s", next, diff)
			}
		})
	}
}
