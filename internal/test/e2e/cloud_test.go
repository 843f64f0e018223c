package e2e

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/polywire/polywire/internal/test/fake"
	vendoranthropic "github.com/polywire/polywire/internal/test/fake/anthropic"
	vendorgemini "github.com/polywire/polywire/internal/test/fake/gemini"
	vendoropenai "github.com/polywire/polywire/internal/test/fake/openai"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/anthropic"
	"github.com/polywire/polywire/upstream/gemini"
	"github.com/polywire/polywire/upstream/openai"
)

// clouds are adapters of vendors' models at clouds. They differ from those of the vendors in
// paths, keys, and what the cloud does not accept.
var clouds = map[string]adapter{
	"vertex claude":          {"anthropic", "messages", "claude-sonnet-4-5@20250929", startClaude(vendoranthropic.Vertex), claudeAt(anthropic.PlatformVertex), 0},
	"bedrock claude":         {"anthropic", "messages", "eu.anthropic.claude-sonnet-4-5-20250929-v1:0", startClaude(vendoranthropic.Bedrock), claudeAt(anthropic.PlatformBedrock), 0},
	"foundry claude":         {"anthropic", "messages", "claude-sonnet-4-5", startClaude(vendoranthropic.Foundry), claudeAt(anthropic.PlatformFoundry), 0},
	"vertex gemini":          {toGemini, "generatecontent", "gemini-3.8-flash", startVertexGemini, vertexGeminiAt, 3},
	"azure chat":             {toChat, "chatcompletions", "gpt-4.1", startAzure("v1"), azureChatAt("v1"), 3},
	"azure chat, dated":      {toChat, "", "gpt-4.1", startAzure("2024-10-21"), azureChatAt("2024-10-21"), 3},
	"azure responses":        {toResp, "responses", "gpt-5.6", startAzureResponses("v1"), azureResponsesAt("v1"), 3},
	"azure responses, dated": {toResp, "", "gpt-5.6", startAzureResponses("2025-04-01-preview"), azureResponsesAt("2025-04-01-preview"), 3},
}

// hostToken returns hostKey as a token.
func hostToken(context.Context) (string, error) { return hostKey, nil }

func startClaude(p vendoranthropic.Platform) func(testing.TB, vendor) (upstream.Upstream, *fake.Server) {
	return func(t testing.TB, v vendor) (upstream.Upstream, *fake.Server) {
		f := vendoranthropic.New(t, vendoranthropic.Options{
			Key: hostKey, Forbid: v.forbid, TrustSignatures: v.trust, KeepThinking: v.keep, Platform: p,
		})
		return claudeAt(anthropic.Platform(p))(t, f.URL, httpClient(t)), f.Server
	}
}

func claudeAt(p anthropic.Platform) func(testing.TB, string, *http.Client) upstream.Upstream {
	return func(t testing.TB, url string, c *http.Client) upstream.Upstream {
		o := anthropic.Options{BaseURL: url, Key: hostKey, HTTPClient: c, Platform: p}
		switch p {
		case anthropic.PlatformVertex:
			o.Project, o.Location, o.Key, o.KeyFunc = "my-project", "europe-west1", "", hostToken
		case anthropic.PlatformFoundry:
			o.BaseURL += "/anthropic"
		}
		up, err := anthropic.New(&o)
		if err != nil {
			t.Fatal(err)
		}
		return up
	}
}

func startVertexGemini(t testing.TB, v vendor) (upstream.Upstream, *fake.Server) {
	f := vendorgemini.New(t, vendorgemini.Options{
		Key: hostKey, Forbid: v.forbid, TrustSignatures: v.trust, KeepSignatures: v.keep, NoDummies: v.keep && !v.mixed,
		Vertex: "p/locations/global",
	})
	return vertexGeminiAt(t, f.URL, httpClient(t)), f.Server
}

func vertexGeminiAt(t testing.TB, url string, c *http.Client) upstream.Upstream {
	up, err := gemini.New(&gemini.Options{BaseURL: url, Project: "p", Location: "global", KeyFunc: hostToken, HTTPClient: c})
	if err != nil {
		t.Fatal(err)
	}
	return up
}

// azureFake starts a fake with two deployments that have names of their own, and others with
// the names of their models.
func azureFake(t testing.TB, v vendor, version string) *vendoropenai.Server {
	models := map[string]string{"prod-chat": "gpt-4.1", "prod-audio": "gpt-audio", "prod": "gpt-5.6"}
	for _, list := range families {
		for _, name := range list {
			models[name] = name
		}
	}
	return vendoropenai.New(t, vendoropenai.Options{
		Key: hostKey, Forbid: v.forbid, TrustSignatures: v.trust, Azure: version, Deployments: models,
	})
}

// azureOptions returns options for a version of the API at the vendor's URL, with a key for
// v1 and a token for the others.
func azureOptions(url, version string, c *http.Client) *openai.Options {
	url = strings.TrimSuffix(url, "/v1")
	if version == "v1" {
		url += "/openai/v1"
	}
	o := &openai.Options{BaseURL: url, Key: hostKey, HTTPClient: c, Dialect: openai.Dialect{Kind: openai.ServerAzure},
		Deployments: map[string]string{"gpt-4.1": "prod-chat", "gpt-audio": "prod-audio", "gpt-5.6": "prod"}}
	if version != "v1" {
		o.APIVersion, o.Key, o.KeyFunc = version, "", hostToken
	}
	return o
}

func startAzure(version string) func(testing.TB, vendor) (upstream.Upstream, *fake.Server) {
	return func(t testing.TB, v vendor) (upstream.Upstream, *fake.Server) {
		f := azureFake(t, v, version)
		return azureChatAt(version)(t, f.URL, httpClient(t)), f.Server
	}
}

func startAzureResponses(version string) func(testing.TB, vendor) (upstream.Upstream, *fake.Server) {
	return func(t testing.TB, v vendor) (upstream.Upstream, *fake.Server) {
		f := azureFake(t, v, version)
		return azureResponsesAt(version)(t, f.URL, httpClient(t)), f.Server
	}
}

func azureChatAt(version string) func(testing.TB, string, *http.Client) upstream.Upstream {
	return func(t testing.TB, url string, c *http.Client) upstream.Upstream {
		up, err := openai.New(azureOptions(url, version, c))
		if err != nil {
			t.Fatal(err)
		}
		return up
	}
}

func azureResponsesAt(version string) func(testing.TB, string, *http.Client) upstream.Upstream {
	return func(t testing.TB, url string, c *http.Client) upstream.Upstream {
		up, err := openai.NewResponses(azureOptions(url, version, c))
		if err != nil {
			t.Fatal(err)
		}
		return up
	}
}
