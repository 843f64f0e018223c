package upstream_test

import (
	"context"
	"fmt"

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
