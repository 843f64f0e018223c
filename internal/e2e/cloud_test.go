package e2e

import (
	"testing"

	"github.com/polywire/polywire/internal/fake"
	vendoranthropic "github.com/polywire/polywire/internal/fake/anthropic"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/anthropic"
)

// clouds returns adapters for the vendor's models on platforms.
func clouds() []adapter {
	return []adapter{
		{name: "vertex", format: "messages", model: "claude-sonnet-4-5@20250929", start: startCloud(vendoranthropic.Vertex)},
		{name: "bedrock", format: "messages", model: "eu.anthropic.claude-sonnet-4-5-20250929-v1:0", start: startCloud(vendoranthropic.Bedrock)},
		{name: "foundry", format: "messages", model: "claude-sonnet-4-5", start: startCloud(vendoranthropic.Foundry)},
	}
}

func startCloud(p vendoranthropic.Platform) func(t testing.TB, v vendor) (upstream.Upstream, *fake.Server) {
	return func(t testing.TB, v vendor) (upstream.Upstream, *fake.Server) {
		f := vendoranthropic.New(t, vendoranthropic.Options{Key: hostKey, Forbid: v.forbid, KeepThinking: v.keep, Platform: p})
		o := anthropic.Options{BaseURL: f.URL, Key: hostKey, HTTPClient: httpClient(t), Platform: anthropic.Platform(p)}
		switch p {
		case vendoranthropic.Vertex:
			o.Project, o.Location = "my-project", "europe-west1"
		case vendoranthropic.Foundry:
			o.BaseURL += "/anthropic"
		}
		up, err := anthropic.New(&o)
		if err != nil {
			t.Fatal(err)
		}
		return up, f.Server
	}
}

// TestClouds runs each client against the platforms.
func TestClouds(t *testing.T) {
	for _, b := range clouds() {
		for name, newClient := range clients() {
			t.Run(b.name+"/"+name, func(t *testing.T) {
				t.Parallel()
				up, f := b.start(t, vendor{forbid: secrets, keep: true})
				c := newClient()
				g := newGateway(endpointNamed(c.format()), up, upstream.HandlerOptions{})
				k := session{client: c, think: true, ids: true, via: func(int) (*gateway, adapter, *fake.Server) { return g, b, f }}
				k.run(t, conversation())
				checkPrefixes(t, f.Requests())
			})
		}
	}
}
