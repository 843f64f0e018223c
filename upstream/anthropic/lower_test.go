package anthropic

import (
	"testing"

	"github.com/polywire/polywire/internal/test/lowertest"
	"github.com/polywire/polywire/upstream"
)

// TestLowerTwice checks that lowering what was lowered for a model loses nothing.
func TestLowerTwice(t *testing.T) {
	plain, err := New(nil)
	if err != nil {
		t.Fatal(err)
	}
	bedrock, err := New(&Options{Platform: PlatformBedrock, BaseURL: "http://localhost"})
	if err != nil {
		t.Fatal(err)
	}
	models := []string{"claude-opus-4-8", "claude-sonnet-4-5", "claude-3-5-haiku", "claude-fable-5", "house"}
	lowertest.Requests(t, "../..", func(name string, n *upstream.Request) {
		for _, model := range models {
			t.Run(name+"/"+model, func(t *testing.T) { lowertest.Twice(t, n, plain.target(model, n)) })
		}
		t.Run(name+"/bedrock", func(t *testing.T) { lowertest.Twice(t, n, bedrock.target("claude-sonnet-4-5", n)) })
	})
}
