package e2e

import (
	"context"
	"testing"

	"github.com/polywire/polywire/internal/fake"
	vendorgemini "github.com/polywire/polywire/internal/fake/gemini"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/gemini"
)

// clouds are adapters of vendors' models at clouds. They differ from those of the vendors in
// paths, keys, and what the cloud does not accept.
var clouds = map[string]adapter{
	"vertex gemini": {toGemini, "generatecontent", "gemini-3.8-flash", startVertexGemini, nil},
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
