package upstream_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/anthropic"
	"github.com/polywire/polywire/upstream/echo"
	"github.com/polywire/polywire/upstream/gemini"
	"github.com/polywire/polywire/upstream/openai"
)

func TestRequestKey(t *testing.T) {
	claude, err1 := anthropic.New(&anthropic.Options{Key: "k"})
	gem, err2 := gemini.New(&gemini.Options{Key: "k"})
	gpt, err3 := openai.New(&openai.Options{Key: "k"})
	if err := errors.Join(err1, err2, err3); err != nil {
		t.Fatal(err)
	}
	const base = `{"model":"gemini-3.1-pro-preview","max_tokens":64,"messages":[{"role":"user","content":"Hi"}]}`
	key := func(u upstream.Upstream, client, document string) string {
		t.Helper()
		r, _, err := messages.DecodeRequest([]byte(document), &messages.ValidateOptions{AllowFiles: true})
		if err != nil {
			t.Fatal(err)
		}
		k, err := upstream.RequestKey(upstream.WithClient(t.Context(), client), u, r)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	with := func(member string) string { return strings.Replace(base, "{", "{"+member+",", 1) }
	for _, tt := range []struct {
		name     string
		u        upstream.Upstream
		client   string
		document string
		equal    bool // to the key of base
	}{
		{"equal", gem, "a", base, true},
		{"spelling", gem, "a", strings.ReplaceAll(base, `"Hi"`, `[{"text":"H\u0069","type":"text"}]`), true},
		{"streamed", gem, "a", with(`"stream":true`), true},
		{"streamed in the vendor's format", claude, "a", with(`"stream":true`), true},
		{"other text", gem, "a", strings.Replace(base, "Hi", "Ho", 1), false},
		{"other model", gem, "a", strings.Replace(base, "3.1", "3.0", 1), false},
		{"other client", gem, "b", base, false},
		{"no client", gem, "", base, false},
		// The document for Gemini has no thread of what is dropped.
		{"loss", gem, "a", with(`"metadata":{"user_id":"u"}`), false},
		{"what is not lost", claude, "a", with(`"metadata":{"user_id":"u"}`), false},
	} {
		if got := key(tt.u, tt.client, tt.document) == key(tt.u, "a", base); got != tt.equal {
			t.Errorf("%s: the key is equal: %v", tt.name, got)
		}
	}
	if key(gem, "a", with(`"metadata":{"user_id":"u"}`)) != key(gem, "a", with(`"metadata":{"user_id":"v"}`)) {
		t.Error("the value of a loss changes the key")
	}
	if k := key(gem, "a", base); len(k) != 64 || k == key(claude, "a", base) {
		t.Errorf("key %q", k)
	}

	// A session determines the key of OpenAI's prompt cache and nothing of the response.
	session := func(s string) string {
		r := &upstream.Request{Model: "gpt-5.2", Session: s, Turns: []content.Turn{{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: "Hi"}}}}}
		k, err := upstream.RequestKey(t.Context(), gpt, r)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	if session("a") != session("b") {
		t.Error("the session changes the key")
	}

	link := strings.Replace(base, `"Hi"`, `[{"type":"image","source":{"type":"url","url":"https://files.example/a.png"}}]`, 1)
	if k := key(gem, "a", link); k != "" {
		t.Errorf("a request with a link has the key %q", k)
	}
	if _, err := upstream.RequestKey(t.Context(), echo.New(), &upstream.Request{}); !errors.Is(err, upstream.ErrUnsupported) {
		t.Errorf("echo: %v", err)
	}
}
