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
		{new(upstream.Request), "turns.0", "turns.0"},
	} {
		if got := tt.r.Path(tt.neutral); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.neutral, got, tt.want)
		}
	}
}
