package e2e

import (
	"net/http"
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

// hostKey is the key that the host sends to vendors. No client may receive it.
const hostKey = "sk-host-5e11d00r"

// An adapter is an adapter over the fake of its vendor.
type adapter struct {
	name   string
	format string // the client format that is the vendor's own, if it gets the documents of clients
	model  string
	start  func(t testing.TB, v vendor) (upstream.Upstream, *fake.Server)
	at     func(t testing.TB, url string, c *http.Client) upstream.Upstream
	models int // that the fake lists
}

// A vendor configures how strict a fake is.
type vendor struct {
	forbid []string // strings that must not reach it
	trust  bool     // accept signatures of any origin
	keep   bool     // require everything that it signed
	mixed  bool     // accept placeholder signatures, since other vendors responded in between
}

var adapters = []adapter{
	{"anthropic", "messages", "claude-sonnet-4-5", startAnthropic, anthropicAt, 3},
	{"gemini", "generatecontent", "gemini-3.8-flash", startGemini, geminiAt, 3},
	{"chat", "chatcompletions", "gpt-4.1", startChat, chatAt, 3},
	{"responses", "responses", "gpt-5.6", startResponses, responsesAt, 3},
}

func adapterNamed(t testing.TB, name string) adapter {
	t.Helper()
	for _, b := range adapters {
		if b.name == name {
			return b
		}
	}
	t.Skipf("no adapter %s", name)
	return adapter{}
}

func startAnthropic(t testing.TB, v vendor) (upstream.Upstream, *fake.Server) {
	f := vendoranthropic.New(t, vendoranthropic.Options{
		Key: hostKey, Forbid: v.forbid, TrustSignatures: v.trust, KeepThinking: v.keep,
	})
	return anthropicAt(t, f.URL, httpClient(t)), f.Server
}

func anthropicAt(t testing.TB, url string, c *http.Client) upstream.Upstream {
	up, err := anthropic.New(&anthropic.Options{BaseURL: url, Key: hostKey, HTTPClient: c})
	if err != nil {
		t.Fatal(err)
	}
	return up
}

func startGemini(t testing.TB, v vendor) (upstream.Upstream, *fake.Server) {
	f := vendorgemini.New(t, vendorgemini.Options{
		Key: hostKey, Forbid: v.forbid, TrustSignatures: v.trust, KeepSignatures: v.keep, NoDummies: v.keep && !v.mixed,
	})
	return geminiAt(t, f.URL, httpClient(t)), f.Server
}

func geminiAt(t testing.TB, url string, c *http.Client) upstream.Upstream {
	up, err := gemini.New(&gemini.Options{BaseURL: url, Key: hostKey, HTTPClient: c})
	if err != nil {
		t.Fatal(err)
	}
	return up
}

func startChat(t testing.TB, v vendor) (upstream.Upstream, *fake.Server) {
	f := vendoropenai.New(t, vendoropenai.Options{Key: hostKey, Forbid: v.forbid, TrustSignatures: v.trust})
	return chatAt(t, f.Base(), httpClient(t)), f.Server
}

func chatAt(t testing.TB, url string, c *http.Client) upstream.Upstream {
	up, err := openai.New(&openai.Options{BaseURL: url, Key: hostKey, HTTPClient: c, Dialect: openai.Dialect{Kind: openai.ServerOpenAI}})
	if err != nil {
		t.Fatal(err)
	}
	return up
}

func startResponses(t testing.TB, v vendor) (upstream.Upstream, *fake.Server) {
	f := vendoropenai.New(t, vendoropenai.Options{Key: hostKey, Forbid: v.forbid, TrustSignatures: v.trust})
	return responsesAt(t, f.Base(), httpClient(t)), f.Server
}

func responsesAt(t testing.TB, url string, c *http.Client) upstream.Upstream {
	up, err := openai.NewResponses(&openai.Options{BaseURL: url, Key: hostKey, HTTPClient: c, Dialect: openai.Dialect{Kind: openai.ServerOpenAI}})
	if err != nil {
		t.Fatal(err)
	}
	return up
}

// httpClient returns a client whose idle connections are closed at the end of
// the test.
func httpClient(t testing.TB) *http.Client {
	tr := &http.Transport{}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}
