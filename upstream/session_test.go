package upstream_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// TestSessionKey checks which session counts, and that a key belongs to one client. Package
// upstream/openai has the test of what else is in a key.
func TestSessionKey(t *testing.T) {
	extra := func(f content.Format, json string) *content.Extra { return &content.Extra{Format: f, JSON: json} }
	const claude = `{"device_id":"d","session_id":"of-user"}`
	key := func(client string, change func(*upstream.Request)) string {
		r := user("q")
		change(r)
		return upstream.SessionKey(upstream.WithClient(t.Context(), client), r)
	}
	named := func(s string) func(*upstream.Request) { return func(r *upstream.Request) { r.Session = s } }
	for _, tt := range []struct {
		name   string
		change func(*upstream.Request)
		same   string // the session that gives the same key
	}{
		{"field before user id", func(r *upstream.Request) { r.Session, r.UserID = "of-header", claude }, "of-header"},
		{"user id before own member", func(r *upstream.Request) {
			r.UserID, r.Extra = claude, extra("openai-chat", `{"prompt_cache_key":"own"}`)
		}, "of-user"},
		{"own member", func(r *upstream.Request) { r.Extra = extra("openai-responses", `{"prompt_cache_key":"own"}`) }, "own"},
		{"own member of another format", func(r *upstream.Request) { r.Extra = extra("messages", `{"prompt_cache_key":"own"}`) }, ""},
		{"own member that is a number", func(r *upstream.Request) { r.Extra = extra("openai-chat", `{"prompt_cache_key":7}`) }, ""},
		{"other text", func(r *upstream.Request) { r.Session, r.Turns = "s", user("p").Turns }, "s"},
		{"no text", func(r *upstream.Request) { r.Session, r.Turns = "s", nil }, "s"},
	} {
		if got, want := key("ada", tt.change), key("ada", named(tt.same)); got != want || len(got) != 32 {
			t.Errorf("%s: got the key %q, want %q of 32 digits", tt.name, got, want)
		}
		if got := key("bob", tt.change); got == key("ada", tt.change) {
			t.Errorf("%s: two clients have the key %s", tt.name, got)
		}
	}
	if got := upstream.SessionKey(t.Context(), &upstream.Request{Model: "m"}); got != "" {
		t.Errorf("a request without texts has the key %q", got)
	}
	if c := (&upstream.Request{Session: "s"}).Clone(); c.Session != "s" {
		t.Error("the clone has no session")
	}
}

// TestSessionOrder checks that conversations are spread evenly, and that only those move that
// an upstream gets or had.
func TestSessionOrder(t *testing.T) {
	const conversations = 600
	ctx := context.Background()
	all, fewer := upstream.SessionOrder("a", "b", "c"), upstream.SessionOrder("c", "a")
	count := [3]int{}
	for i := range conversations {
		r := &upstream.Request{Session: fmt.Sprint(i)}
		order := all(ctx, r)
		count[order[0]]++
		if !slices.Equal(slices.Sorted(slices.Values(order)), []int{0, 1, 2}) || !slices.Equal(all(ctx, r), order) {
			t.Fatalf("conversation %d: the order %v is not one of three, or changes", i, order)
		}
		without := slices.DeleteFunc(slices.Clone(order), func(i int) bool { return i == 1 })
		left := fewer(ctx, r)
		for k := range left {
			left[k] = []int{2, 0}[left[k]]
		}
		if !slices.Equal(left, without) {
			t.Errorf("conversation %d: without b the order is %v, want %v", i, left, without)
		}
	}
	for i, n := range count {
		if n < conversations/4 {
			t.Errorf("upstream %d has %d of %d conversations", i, n, conversations)
		}
	}
	if order := all(ctx, &upstream.Request{}); !slices.Equal(order, []int{0, 1, 2}) {
		t.Errorf("without a key: got the order %v", order)
	}
	defer func() {
		if v := recover(); v == nil || !strings.Contains(fmt.Sprint(v), "repeated") {
			t.Errorf("repeated names: got the panic %v", v)
		}
	}()
	upstream.SessionOrder("a", "b", "a")
}
