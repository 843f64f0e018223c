package upstream_test

import (
	"context"
	"fmt"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/openai"
)

// An agent puts the time into its system prompt, so no turn can use the cache of the turn
// before.
func ExampleCacheBreak() {
	turn := func(time, more string) *upstream.Request {
		r, _, err := messages.DecodeRequest([]byte(`{"model": "gpt-5.2", "max_tokens": 1024,
			"system": [{"type": "text", "text": "You are a coding agent."}, {"type": "text", "text": "It is `+time+`."}],
			"messages": [{"role": "user", "content": "Fix the bug."}`+more+`]}`), nil)
		if err != nil {
			panic(err)
		}
		return r
	}
	first := turn("10:41", "")
	second := turn("10:42", `, {"role": "assistant", "content": "Where is it?"}, {"role": "user", "content": "In main.go."}`)

	up, err := openai.NewResponses(nil)
	if err != nil {
		panic(err)
	}
	d, err := upstream.CacheBreak(context.Background(), up, first, second)
	if err != nil {
		panic(err)
	}
	fmt.Println(d)
	fmt.Println("broken:", d.Broken, "at:", d.Path, "and in the document sent:", d.WirePath)
	// Output:
	// broken at system.1: 35 of 64 bytes shared
	// broken: true at: system.1 and in the document sent: instructions
}

// A gateway sets a cache mark at the end of the conversation for clients that set none. The
// rest of the document is sent as the client wrote it.
func ExampleRequest_WithCache() {
	mark := func(_ context.Context, r *upstream.Request) (*upstream.Request, error) {
		turn, part := len(r.Turns)-1, len(r.LastParts())-1
		return r.WithCache(turn, part, &content.Cache{TTL: "1h"})
	}
	r, _, err := messages.DecodeRequest([]byte(`{"model":"claude-sonnet-4-5","max_tokens":1024,"messages":[{"role":"user","content":"Hello!"}]}`), nil)
	if err != nil {
		panic(err)
	}
	if r, err = mark(context.Background(), r); err != nil {
		panic(err)
	}
	document, ok := upstream.WireOf(r, messages.Format)
	fmt.Println(ok, document)
	// Output: true {"model":"claude-sonnet-4-5","max_tokens":1024,"messages":[{"role":"user","content":[{"type":"text","text":"Hello!","cache_control":{"type":"ephemeral","ttl":"1h"}}]}]}
}
