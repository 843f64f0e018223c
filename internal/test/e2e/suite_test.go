package e2e

import (
	"testing"

	"github.com/polywire/polywire/internal/test/fake"
	fakeanthropic "github.com/polywire/polywire/internal/test/fake/anthropic"
	fakegemini "github.com/polywire/polywire/internal/test/fake/gemini"
	fakeopenai "github.com/polywire/polywire/internal/test/fake/openai"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/anthropic"
	"github.com/polywire/polywire/upstream/gemini"
	"github.com/polywire/polywire/upstream/openai"
	"github.com/polywire/polywire/upstream/upstreamtest"
)

// The suite for upstreams passes over every adapter with only a model, which is the first
// thing that a host tries.
func TestSuiteWithoutOptions(t *testing.T) {
	pieces := []fake.Piece{fake.Text("Hello there, how are you?")}
	for name, open := range map[string]func() (upstream.Upstream, error){
		"anthropic": func() (upstream.Upstream, error) {
			f := fakeanthropic.New(t, fakeanthropic.Options{Key: "k", Models: []string{"m"}})
			f.Always(pieces...)
			return anthropic.New(&anthropic.Options{BaseURL: f.URL, Key: "k"})
		},
		"gemini": func() (upstream.Upstream, error) {
			f := fakegemini.New(t, fakegemini.Options{Key: "k", Models: []string{"m"}})
			f.Always(pieces...)
			return gemini.New(&gemini.Options{BaseURL: f.URL, Key: "k"})
		},
		"openai": func() (upstream.Upstream, error) {
			f := fakeopenai.New(t, fakeopenai.Options{Key: "k", Models: []string{"m"}})
			f.Always(pieces...)
			return openai.New(&openai.Options{BaseURL: f.Base(), Key: "k"})
		},
		"openai-responses": func() (upstream.Upstream, error) {
			f := fakeopenai.New(t, fakeopenai.Options{Key: "k", Models: []string{"m"}})
			f.Always(pieces...)
			return openai.NewResponses(&openai.Options{BaseURL: f.Base(), Key: "k"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			u, err := open()
			if err != nil {
				t.Fatal(err)
			}
			// The fakes count the same number for every request.
			upstreamtest.Run(t, u, &upstreamtest.Options{Model: "m", Skip: []string{"count"}})
		})
	}
}
