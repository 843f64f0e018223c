package openai

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/openaiformat"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
)

// keySent returns the key that a client sends.
func keySent(t *testing.T, o Options, n *upstream.Request) string {
	t.Helper()
	chat, r := bothClients(t, o)
	key := gjson.Get(documentOf(t, chat.plan(n)), openaiformat.CacheKeyName).Str
	if k := gjson.Get(documentOf(t, r.plan(n)), openaiformat.CacheKeyName).Str; k != key {
		t.Errorf("Chat Completions gets the key %q, Responses %q", key, k)
	}
	return key
}

// TestConversationKey checks which requests have the same key.
func TestConversationKey(t *testing.T) {
	base := func() *upstream.Request {
		return &upstream.Request{
			Model:  "gpt-5.2",
			System: partsOf(textOf("x-anthropic-billing-header: cc_version=2.1.197.90a; cch=00001;"), textOf("You are an agent.")),
			Turns:  []content.Turn{turnOf(content.RoleUser, textOf("q"), png)},
		}
	}
	const (
		session = `{"device_id":"d","account_uuid":"a","session_id":"b55682d6-5eea-4793-98bb-f1fe50d518ab"}`
		earlier = "user_0123_account_4567_session_b55682d6-5eea-4793-98bb-f1fe50d518ab"
	)
	of := func(change func(*upstream.Request)) string {
		n := base()
		change(n)
		return keySent(t, Options{}, n)
	}
	same := func(*upstream.Request) {}
	beginning, inSession := of(same), of(func(n *upstream.Request) { n.UserID = session })
	if len(beginning) != 32 || len(inSession) != 32 || beginning == inSession {
		t.Errorf("keys %q and %q, want two of 32 digits", beginning, inSession)
	}
	others := map[string]string{}
	for _, tt := range []struct {
		name   string
		want   string // "" means a key that no other row has
		change func(*upstream.Request)
	}{
		{"later turns", beginning, func(n *upstream.Request) {
			n.Turns = append(n.Turns, turnOf(content.RoleAssistant, textOf("a")), turnOf(content.RoleUser, textOf("more")))
		}},
		{"another attribution line", beginning, func(n *upstream.Request) {
			n.System[0] = textOf("x-anthropic-billing-header: cc_version=2.1.197.90a; cch=00002;")
		}},
		{"cache marks", beginning, func(n *upstream.Request) {
			n.System[1] = &content.Text{Text: "You are an agent.", Cache: new(content.Cache)}
			n.Turns[0].Parts[0] = &content.Text{Text: "q", Cache: &content.Cache{TTL: "1h"}}
		}},
		{"settings", beginning, func(n *upstream.Request) {
			n.MaxTokens, n.Stream, n.Tools, n.UserID = number[int64](7), true, []content.Tool{plainTool}, "someone"
		}},
		{"other system text", "", func(n *upstream.Request) { n.System[1] = textOf("You are a poet.") }},
		{"other question", "", func(n *upstream.Request) { n.Turns[0].Parts[0] = textOf("p") }},
		{"other file", beginning, func(n *upstream.Request) {
			n.ForwardLinks = true
			n.Turns[0].Parts[1] = &content.Image{Source: &content.URL{URL: "https://a.example/b.png"}}
		}},
		{"texts divided in another place", "", func(n *upstream.Request) { n.System = partsOf(textOf("You are"), textOf(" an agent.")) }},

		{"session and other turns", inSession, func(n *upstream.Request) {
			n.UserID, n.Turns = session, []content.Turn{turnOf(content.RoleUser, textOf("p"))}
		}},
		{"session and other system text", "", func(n *upstream.Request) { n.UserID, n.System = session, partsOf(textOf("You are a poet.")) }},
		{"end of a long system text", "", func(n *upstream.Request) { n.System[1] = textOf(strings.Repeat("a", 5000) + "b") }},
		{"long system text", "", func(n *upstream.Request) { n.System[1] = textOf(strings.Repeat("a", 5000) + "c") }},
		{"session in the earlier form", inSession, func(n *upstream.Request) { n.UserID = earlier }},
		{"object without a session", beginning, func(n *upstream.Request) { n.UserID = `{"device_id":"d"}` }},
		{"invalid object", beginning, func(n *upstream.Request) { n.UserID = `{"session_id":"s"` }},
		{"user id with the word", beginning, func(n *upstream.Request) { n.UserID = "x_session_y" }},
	} {
		key := of(tt.change)
		if tt.want == "" && others[key] != "" {
			t.Errorf("%s and %s have the same key", tt.name, others[key])
		}
		others[key] = tt.name
		switch {
		case tt.want == "" && (key == beginning || key == inSession || key == ""):
			t.Errorf("%s: the key %q is that of another conversation", tt.name, key)
		case tt.want != "" && key != tt.want:
			t.Errorf("%s: got the key %q, want %q", tt.name, key, tt.want)
		}
	}
	if strings.Contains(inSession, "b55682d6") {
		t.Errorf("the key %q has the session", inSession)
	}
}

// TestCacheKeyClients checks that clients have different keys for the same conversation, also
// if a client of the handler is identified by its key alone, and that the keys do not change
// between processes.
func TestCacheKeyClients(t *testing.T) {
	keys := func(h upstream.HandlerOptions, clients ...string) (list []string) {
		c, err := New(&Options{HTTPClient: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			b, _ := io.ReadAll(r.Body)
			list = append(list, gjson.GetBytes(b, openaiformat.CacheKeyName).Str)
			return nil, errors.New("not sent")
		})}})
		if err != nil {
			t.Fatal(err)
		}
		for _, client := range clients {
			r := httptest.NewRequest(http.MethodPost, "/v1/messages", strings.NewReader(`{"model":"gpt-5.2","max_tokens":9,"system":"s","messages":[{"role":"user","content":"q"}]}`))
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Anthropic-Version", "2023-06-01")
			r.Header.Set("X-Api-Key", client)
			h.Logger = slog.New(slog.DiscardHandler)
			messages.NewHandler(c, &messages.Options{HandlerOptions: h}).ServeHTTP(httptest.NewRecorder(), r)
		}
		return list
	}
	tenants := func(ctx context.Context, _ *http.Request, key string) (context.Context, error) {
		return upstream.WithClient(ctx, key[:1]), nil
	}
	one := func(ctx context.Context, _ *http.Request, key string) (context.Context, error) {
		return upstream.WithClient(ctx, ""), nil
	}
	byKey := keys(upstream.HandlerOptions{Authenticate: upstream.Keys("a1", "a2", "b1")}, "a1", "a2", "b1", "a1")
	byTenant := keys(upstream.HandlerOptions{Authenticate: tenants}, "a1", "a2", "b1", "a1")
	none := keys(upstream.HandlerOptions{}, "a1", "b1")
	single := keys(upstream.HandlerOptions{Authenticate: one}, "a1", "b1")
	all := map[string]string{}
	order := func(list []string) string { // the first list with a key, by letter
		s := ""
		for _, k := range list {
			if all[k] == "" {
				all[k] = string(rune('A' + len(all)))
			}
			s += all[k]
		}
		return s
	}
	if got := order(byKey) + " " + order(byTenant) + " " + order(none) + " " + order(single); got != "ABCA DDED FF FF" {
		t.Errorf("got the keys %s: %v", got, all)
	}
	if len(byKey[0]) != 32 || byKey[0] != keys(upstream.HandlerOptions{Authenticate: upstream.Keys("a1")}, "a1")[0] {
		t.Errorf("got the key %q", byKey[0])
	}
}

// roundTrip is a transport.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestCacheKeyOption checks keys of the caller.
func TestCacheKeyOption(t *testing.T) {
	fixed := func(key string) func(context.Context, *upstream.Request) string {
		return func(_ context.Context, n *upstream.Request) string { return key + n.UserID }
	}
	long := strings.Repeat("k", maxCacheKey+1)
	own := func(f content.Format, json string) *content.Extra { return &content.Extra{Format: f, JSON: json} }
	for _, tt := range []struct {
		name  string
		o     Options
		extra *content.Extra
		want  string // "-" means any key of another value
	}{
		{"caller's", Options{CacheKey: fixed("k/")}, nil, "k/u"},
		{"caller's at another server", Options{BaseURL: "http://localhost/v1", CacheKey: fixed("k/")}, nil, "k/u"},
		{"none", Options{CacheKey: noKey}, nil, ""},
		{"long one", Options{CacheKey: fixed(long)}, nil, "-"},
		{"other server", Options{BaseURL: "http://localhost/v1"}, nil, ""},
		{"own member", Options{CacheKey: fixed("k/")}, own("", `{"prompt_cache_key":"mine"}`), "mine"},
		{"no key as own member", Options{}, own("", `{"prompt_cache_key":null}`), ""},
		{"member of another format", Options{CacheKey: fixed("k/")}, own("messages", `{"prompt_cache_key":"mine"}`), "k/u"},
	} {
		n := &upstream.Request{Model: "gpt-5.2", UserID: "u", Turns: []content.Turn{q}, Extra: tt.extra}
		got := keySent(t, tt.o, n)
		if tt.want == "-" && (got == "" || len(got) > maxCacheKey) || tt.want != "-" && got != tt.want {
			t.Errorf("%s: got the key %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestCacheKeyServers checks which formats of other servers have the member.
func TestCacheKeyServers(t *testing.T) {
	n := &upstream.Request{Model: "m", Turns: []content.Turn{q}}
	for base, want := range map[string][2]bool{ // in Chat Completions, in Responses
		"https://r.openai.azure.com/openai/v1": {true, true},
		"https://api.mistral.ai/v1":            {true, false},
		"https://api.x.ai/v1":                  {false, true},
		"https://api.deepseek.com":             {false, false},
	} {
		chat, responses := bothClients(t, Options{BaseURL: base})
		if got := [2]bool{chat.cacheKey(t.Context(), n) != "", responses.cacheKey(t.Context(), n) != ""}; got != want {
			t.Errorf("%s: got keys %v, want %v", base, got, want)
		}
	}
}

// TestCacheKeySession checks that the session in a client's header determines the key, and
// that the server does not receive the header.
func TestCacheKeySession(t *testing.T) {
	keys := map[string]string{} // by the text of the request
	c, err := New(&Options{HTTPClient: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		b, _ := io.ReadAll(r.Body)
		if h := fmt.Sprint(r.Header, string(b)); strings.Contains(h, "the-session") {
			t.Errorf("the server receives the session: %s", h)
		}
		keys[gjson.GetBytes(b, "messages.0.content").Str] = gjson.GetBytes(b, openaiformat.CacheKeyName).Str
		return nil, errors.New("not sent")
	})}})
	if err != nil {
		t.Fatal(err)
	}
	h := messages.NewHandler(c, &messages.Options{HandlerOptions: upstream.HandlerOptions{Logger: slog.New(slog.DiscardHandler)}})
	send := func(session, text string) string {
		r := httptest.NewRequest(http.MethodPost, "/v1/messages", strings.NewReader(`{"model":"gpt-5.2","max_tokens":9,"messages":[{"role":"user","content":"`+text+`"}]}`))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Anthropic-Version", "2023-06-01")
		r.Header.Set("X-Claude-Code-Session-Id", session)
		h.ServeHTTP(httptest.NewRecorder(), r)
		return keys[text]
	}
	if a, b, other := send("the-session", "a"), send("the-session", "b"), send("the-session-2", "c"); a == "" || a != b || a == other {
		t.Errorf("got the keys %q, %q and %q; want two equal ones and another", a, b, other)
	}
}
