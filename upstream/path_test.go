package upstream_test

import (
	"testing"

	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
)

func TestRequestPath(t *testing.T) {
	older, _, err := messages.DecodeRequest([]byte(`{"model":"m","max_tokens":9,"output_format":{"type":"json_schema","schema":{"type":"object"}},
		"messages":[{"role":"user","content":"Hi"}]}`), &messages.ValidateOptions{Betas: []string{"structured-outputs-2025-11-13"}})
	if err != nil {
		t.Fatal(err)
	}
	// An empty text is not a part of the neutral request.
	withEmpty, _, err := generatecontent.DecodeRequest([]byte(`{"contents":[{"parts":[{"text":""},{"text":"Hi"}]}]}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	withLink, _, err := messages.DecodeRequest([]byte(`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[
		{"type":"text","text":"Hi","cache_control":{"type":"ephemeral"}},{"type":"image","source":{"type":"url","url":"https://a.example/gif"}}]}]}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	withLink.Resolver = resolver(shelf)
	inlined, err := withLink.Inline(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, sent := upstream.WireOf(inlined, messages.Format); sent {
		t.Fatal("the inlined request has a document to send")
	}
	for _, tt := range []struct {
		r             *upstream.Request
		neutral, want string
	}{
		{older, "turns.0.parts.0", "messages.0.content.0"},
		{older, "output.schema", "output_format.schema"},
		{older, "parts.1", "content.1"},
		{older, "", ""},
		{older.WithModel("x"), "output.schema", "output_format.schema"},
		{older.Clone(), "turns.0.parts.0", "turns.0.parts.0"},
		{withEmpty, "turns.0.parts.0", "contents[0].parts[1]"},
		{withLink, "turns.0.parts.0.cache", "messages.0.content.0.cache_control"},
		{inlined, "turns.0.parts.0.cache", "messages.0.content.0.cache_control"},
		{inlined, "turns.0.parts.1.source", "messages.0.content.1.source"},
		{inlined.WithModel("x"), "turns.0.parts.0.cache", "messages.0.content.0.cache_control"},
		{inlined.Clone(), "turns.0.parts.0.cache", "turns.0.parts.0.cache"},
		{new(upstream.Request), "turns.0", "turns.0"},
	} {
		if got := tt.r.Path(tt.neutral); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.neutral, got, tt.want)
		}
	}
}
