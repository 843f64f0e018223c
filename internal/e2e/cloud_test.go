package e2e

import (
	"context"
	"testing"

	"github.com/polywire/polywire/internal/fake"
	vendoranthropic "github.com/polywire/polywire/internal/fake/anthropic"
	vendorgemini "github.com/polywire/polywire/internal/fake/gemini"
	vendoropenai "github.com/polywire/polywire/internal/fake/openai"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/anthropic"
	"github.com/polywire/polywire/upstream/gemini"
	"github.com/polywire/polywire/upstream/openai"
)

// clouds are adapters of vendors' models at clouds. They differ from those of the vendors in
// paths, keys, and what the cloud does not accept.
var clouds = map[string]adapter{
	"vertex claude":          {toClaude, "messages", "claude-sonnet-4-5@20250929", startClaude(vendoranthropic.Vertex), nil},
	"bedrock claude":         {toClaude, "messages", "eu.anthropic.claude-sonnet-4-5-20250929-v1:0", startClaude(vendoranthropic.Bedrock), nil},
	"foundry claude":         {toClaude, "messages", "claude-sonnet-4-5", startClaude(vendoranthropic.Foundry), nil},
	"vertex gemini":          {toGemini, "generatecontent", "gemini-3.8-flash", startVertexGemini, nil},
	"azure chat":             {toChat, "", "gpt-4.1", azureChat("v1"), nil},
	"azure chat, dated":      {toChat, "", "gpt-4.1", azureChat("2024-10-21"), nil},
	"azure responses":        {toResp, "", "gpt-5.6", azureResponses("v1"), nil},
	"azure responses, dated": {toResp, "", "gpt-5.6", azureResponses("2025-04-01-preview"), nil},
}

// deployments are the models of the deployments at Azure.
var deployments = map[string]string{"prod-chat": "gpt-4.1", "prod": "gpt-5.6"}

// azure starts a fake of Azure and returns it with the options of its client.
func azure(t testing.TB, v vendor, version string) (*vendoropenai.Server, *openai.Options) {
	f := vendoropenai.New(t, vendoropenai.Options{
		Key: hostKey, Forbid: v.forbid, TrustSignatures: v.trust, Azure: version, Deployments: deployments,
	})
	o := &openai.Options{BaseURL: f.Base(), Key: hostKey, HTTPClient: httpClient(t), Dialect: openai.Dialect{Kind: openai.ServerAzure},
		Deployments: map[string]string{"gpt-4.1": "prod-chat", "gpt-5.6": "prod"}}
	if version != "v1" {
		o.APIVersion, o.Key, o.KeyFunc = version, "", hostToken
	}
	return f, o
}

func azureChat(version string) func(testing.TB, vendor) (upstream.Upstream, *fake.Server) {
	return func(t testing.TB, v vendor) (upstream.Upstream, *fake.Server) {
		f, o := azure(t, v, version)
		up, err := openai.New(o)
		if err != nil {
			t.Fatal(err)
		}
		return up, f.Server
	}
}

func azureResponses(version string) func(testing.TB, vendor) (upstream.Upstream, *fake.Server) {
	return func(t testing.TB, v vendor) (upstream.Upstream, *fake.Server) {
		f, o := azure(t, v, version)
		up, err := openai.NewResponses(o)
		if err != nil {
			t.Fatal(err)
		}
		return up, f.Server
	}
}

func startClaude(p vendoranthropic.Platform) func(t testing.TB, v vendor) (upstream.Upstream, *fake.Server) {
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

func startVertexGemini(t testing.TB, v vendor) (upstream.Upstream, *fake.Server) {
	f := vendorgemini.New(t, vendorgemini.Options{
		Key: hostKey, Forbid: v.forbid, TrustSignatures: v.trust, KeepSignatures: v.keep, NoDummies: v.keep && !v.mixed,
		Vertex: "p/locations/global",
	})
	up, err := gemini.New(&gemini.Options{BaseURL: f.URL, Project: "p", Location: "global", KeyFunc: hostToken, HTTPClient: httpClient(t)})
	if err != nil {
		t.Fatal(err)
	}
	return up, f.Server
}

// hostToken returns hostKey as a token.
func hostToken(context.Context) (string, error) { return hostKey, nil }
