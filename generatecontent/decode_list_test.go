package generatecontent

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/upstream"
)

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
