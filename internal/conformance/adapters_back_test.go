package conformance

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/polywire/polywire/internal/fake"
	fakeanthropic "github.com/polywire/polywire/internal/fake/anthropic"
	fakegemini "github.com/polywire/polywire/internal/fake/gemini"
	fakeopenai "github.com/polywire/polywire/internal/fake/openai"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/anthropic"
	"github.com/polywire/polywire/upstream/gemini"
	"github.com/polywire/polywire/upstream/openai"
)

// vendorKey is what adapters show to vendors.
const vendorKey = "k-vendor"

// A vendor is a strict fake behind its adapter.
type vendor struct {
	name  string
	model string
	// mark matches once for each signed thinking that a request brings back, and
	// signed is how many of the whole story have to be in its last request.
	mark   *regexp.Regexp
	signed int
	start  func(t *testing.T) (upstream.Upstream, *fake.Server)
}

var vendors = []vendor{
	{"anthropic", "claude-sonnet-4-5", regexp.MustCompile(`"type":"(?:redacted_)?thinking"`), 5, startAnthropic},
	{"gemini", "gemini-3.8-flash", regexp.MustCompile(`"thoughtSignature":`), 6, startGemini},
	{"chat", "gpt-4.1", nil, 0, startChat},
	{"responses", "gpt-5.6", regexp.MustCompile(`"encrypted_content":`), 5, startResponses},
	{"local", "qwen-local", nil, 0, startLocal},
}

// everyVendor runs a scenario with every vendor.
func everyVendor(t *testing.T, f func(t *testing.T, v vendor)) {
	t.Helper()
	for _, v := range vendors {
		t.Run(v.name, func(t *testing.T) { f(t, v) })
	}
}

// lone returns a client that leaves no connection behind.
func lone(t *testing.T) *http.Client {
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// made fails the test if an adapter's options are no good.
func made[T any](t *testing.T, up T, err error) T {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return up
}

func startAnthropic(t *testing.T) (upstream.Upstream, *fake.Server) {
	f := fakeanthropic.New(t, fakeanthropic.Options{Key: vendorKey, Forbid: []string{key}, KeepThinking: true})
	up, err := anthropic.New(anthropic.Options{BaseURL: f.URL, Key: vendorKey, HTTPClient: lone(t)})
	return made(t, up, err), f.Server
}

func startGemini(t *testing.T) (upstream.Upstream, *fake.Server) {
	f := fakegemini.New(t, fakegemini.Options{Key: vendorKey, Forbid: []string{key}, KeepSignatures: true, NoDummies: true})
	up, err := gemini.New(gemini.Options{BaseURL: f.URL, Key: vendorKey, HTTPClient: lone(t)})
	return made(t, up, err), f.Server
}

// startLenientGemini starts a vendor that accepts what released clients send to it:
// in its own format a request goes out as it came.
func startLenientGemini(t *testing.T) (upstream.Upstream, *fake.Server) {
	f := fakegemini.New(t, fakegemini.Options{Key: vendorKey, Forbid: []string{key}, KeepSignatures: true, NoDummies: true, Lenient: true})
	up, err := gemini.New(gemini.Options{BaseURL: f.URL, Key: vendorKey, HTTPClient: lone(t)})
	return made(t, up, err), f.Server
}

func startChat(t *testing.T) (upstream.Upstream, *fake.Server) {
	f := fakeopenai.New(t, fakeopenai.Options{Key: vendorKey, Forbid: []string{key}})
	up, err := openai.New(openai.Options{
		BaseURL: f.Base(), Key: vendorKey, HTTPClient: lone(t), Dialect: openai.Dialect{Kind: openai.ServerOpenAI},
	})
	return made(t, up, err), f.Server
}

func startResponses(t *testing.T) (upstream.Upstream, *fake.Server) {
	f := fakeopenai.New(t, fakeopenai.Options{Key: vendorKey, Forbid: []string{key}})
	up, err := openai.NewResponses(openai.Options{
		BaseURL: f.Base(), Key: vendorKey, HTTPClient: lone(t), Dialect: openai.Dialect{Kind: openai.ServerOpenAI},
	})
	return made(t, up, err), f.Server
}

// startLocal starts a server that resembles chat completions: it wants its
// reasoning back, its calls all claim index 0 and end with "stop", and its
// streams have comments in them, and no [DONE].
func startLocal(t *testing.T) (upstream.Upstream, *fake.Server) {
	f := fakeopenai.New(t, fakeopenai.Options{
		Key: vendorKey, Forbid: []string{key}, Local: true, EchoReasoning: "reasoning_content",
		Quirks: fakeopenai.Quirks{
			Reasoning: "reasoning_content", IndexZero: true, FinishStop: true, Comments: true, NoDone: true,
		},
	})
	up, err := openai.New(openai.Options{
		BaseURL: f.Base(), Key: vendorKey, HTTPClient: lone(t),
		Dialect: openai.Dialect{Reasoning: "reasoning_content", Files: true},
	})
	return made(t, up, err), f.Server
}

// sound checks what the vendor makes of a whole story: nothing was refused,
// everything was told, and what it signed came back to it.
func (v vendor) sound(t *testing.T, f *fake.Server) {
	t.Helper()
	for _, r := range f.Refused() {
		t.Errorf("%s refused a request by its rule %s: %s", v.name, r.Rule, r.Message)
	}
	if n := f.Left(); n != 0 {
		t.Errorf("%s has %d answers that nobody asked for", v.name, n)
	}
	body := string(f.Last().Body)
	if v.mark != nil {
		if n := len(v.mark.FindAllString(body, -1)); n < v.signed {
			t.Errorf("the last request brings %d signed thoughts back, want %d or more: %.3000s", n, v.signed, body)
		}
	}
	if !strings.Contains(body, pdf64) {
		t.Errorf("the last request has no PDF: %.3000s", body)
	}
	if strings.Contains(body, "pw1.") || strings.Contains(body, "cHcxL") {
		t.Errorf("the vendor got an envelope: %.3000s", body)
	}
}
