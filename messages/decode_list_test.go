package messages

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/upstream"
)

func TestDecodeCount(t *testing.T) {
	tests := []struct {
		body string
		want upstream.TokenCount
		ok   bool
	}{
		{`{"input_tokens":57}`, upstream.TokenCount{Tokens: 57}, true},
		{example(t, "E30.json"), upstream.TokenCount{Tokens: 57, Extra: mkExtra(`{"context_management":{"original_input_tokens":57}}`)}, true},
		{`{"input_tokens":0,"context_management":null}`, upstream.TokenCount{}, true},
		{`{}`, upstream.TokenCount{}, false},
		{`{"input_tokens":-1}`, upstream.TokenCount{}, false},
		{`{"input_tokens":"5"}`, upstream.TokenCount{}, false},
		{`[]`, upstream.TokenCount{}, false},
		{``, upstream.TokenCount{}, false},
	}
	for _, tt := range tests {
		got, err := DecodeCount([]byte(tt.body))
		if diff := cmp.Diff(tt.want, got); diff != "" || (err == nil) != tt.ok {
			t.Errorf("%s: error %v (-want +got):\n%s", tt.body, err, diff)
		}
		var e *upstream.Error
		if err != nil && (!errors.As(err, &e) || e.Code != upstream.CodeBadGateway || e.Text != "") {
			t.Errorf("%s: got the error %v", tt.body, err)
		}
	}
}

func TestDecodeModels(t *testing.T) {
	opus := upstream.Model{
		ID: "claude-opus-5-5", Name: "Claude Opus 5.5", Created: time.Date(2026, 9, 1, 0, 0, 0, 0, time.UTC),
		MaxInput: 1000000, MaxOutput: 128000, Extra: mkExtra(`{"lifecycle":"active","line":"opus"}`),
	}
	tests := []struct {
		name, body string
		want       []upstream.Model
		more       bool
		last       string
		ok         bool
	}{
		{"page", example(t, "E31.json"), []upstream.Model{opus}, false, "", true},
		{"empty", `{"data":[],"has_more":false,"first_id":null,"last_id":null}`, []upstream.Model{}, false, "", true},
		{"more", `{"data":[{"id":"a"}],"has_more":true,"last_id":"a"}`, []upstream.Model{{ID: "a"}}, true, "a", true},
		{"more without last", `{"data":[{"id":"a"}],"has_more":true,"last_id":null}`, []upstream.Model{{ID: "a"}}, false, "", true},
		{"no has_more", `{"data":[{"id":"a"}],"last_id":"a"}`, []upstream.Model{{ID: "a"}}, false, "", true},
		{"thinking", `{"data":[{"id":"a","created_at":"x","max_tokens":null,"capabilities":{"thinking":{"supported":true}}}]}`,
			[]upstream.Model{{ID: "a", Thinking: true, Extra: mkExtra(`{"capabilities":{"thinking":{"supported":true}}}`)}}, false, "", true},
		{"no id", `{"data":[{"display_name":"a"}]}`, nil, false, "", false},
		{"no list", `{"data":{}}`, nil, false, "", false},
		{"no JSON", `<html>`, nil, false, "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, more, last, err := DecodeModels([]byte(tt.body))
			if diff := cmp.Diff(tt.want, got); diff != "" || (err == nil) != tt.ok || more != tt.more || last != tt.last {
				t.Errorf("error %v, more %v, last %q (-want +got):\n%s", err, more, last, diff)
			}
			var e *upstream.Error
			if err != nil && (!errors.As(err, &e) || e.Code != upstream.CodeBadGateway) {
				t.Errorf("got the error %v", err)
			}
		})
	}
}
