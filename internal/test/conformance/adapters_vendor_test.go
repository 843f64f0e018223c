package conformance

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/polywire/polywire/internal/test/fake"
	fakeanthropic "github.com/polywire/polywire/internal/test/fake/anthropic"
	fakegemini "github.com/polywire/polywire/internal/test/fake/gemini"
	fakeopenai "github.com/polywire/polywire/internal/test/fake/openai"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/anthropic"
	"github.com/polywire/polywire/upstream/gemini"
	"github.com/polywire/polywire/upstream/openai"
)

// vendorKey is the key that adapters send to vendors.
const vendorKey = "k-vendor"

// A vendor is an adapter over a strict fake.
type vendor struct {
	name  string
	model string
	// mark matches once for each signed thinking part in a request; signed is
	// how many of them the last request of the story must have.
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

// everyVendor runs a scenario with each vendor.
func everyVendor(t *testing.T, f func(t *testing.T, v vendor)) {
	t.Helper()
	for _, v := range vendors {
		t.Run(v.name, func(t *testing.T) { f(t, v) })
	}
}

// testClient returns a client whose idle connections are closed at the end of the
// test.
func testClient(t *testing.T) *http.Client {
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// made returns up, or fails the test if err is not nil.
func made[T any](t *testing.T, up T, err error) T {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return up
}

func startAnthropic(t *testing.T) (upstream.Upstream, *fake.Server) {
	return startAnthropicWith(t, fakeanthropic.Options{Key: vendorKey, Forbid: []string{key}, KeepThinking: true})
}

func startAnthropicWith(t *testing.T, opts fakeanthropic.Options) (upstream.Upstream, *fake.Server) {
	f := fakeanthropic.New(t, opts)
	up, err := anthropic.New(&anthropic.Options{BaseURL: f.URL, Key: vendorKey, HTTPClient: testClient(t)})
	return made(t, up, err), f.Server
}

func startGemini(t *testing.T) (upstream.Upstream, *fake.Server) {
	return startGeminiWith(t, fakegemini.Options{Key: vendorKey, Forbid: []string{key}, KeepSignatures: true, NoDummies: true})
}

func startGeminiWith(t *testing.T, opts fakegemini.Options) (upstream.Upstream, *fake.Server) {
	f := fakegemini.New(t, opts)
	up, err := gemini.New(&gemini.Options{BaseURL: f.URL, Key: vendorKey, HTTPClient: testClient(t)})
	return made(t, up, err), f.Server
}

// startLenientGemini starts a vendor that accepts what released clients send to
// it: in its own format, requests are forwarded unchanged.
func startLenientGemini(t *testing.T) (upstream.Upstream, *fake.Server) {
	return startGeminiWith(t, fakegemini.Options{Key: vendorKey, Forbid: []string{key}, KeepSignatures: true, NoDummies: true, Lenient: true})
}

func startChat(t *testing.T) (upstream.Upstream, *fake.Server) {
	return startChatWith(t, fakeopenai.Options{Key: vendorKey, Forbid: []string{key}})
}

func startChatWith(t *testing.T, opts fakeopenai.Options) (upstream.Upstream, *fake.Server) {
	f := fakeopenai.New(t, opts)
	up, err := openai.New(&openai.Options{
		BaseURL: f.Base(), Key: vendorKey, HTTPClient: testClient(t), Dialect: openai.Dialect{Kind: openai.ServerOpenAI},
	})
	return made(t, up, err), f.Server
}

func startResponses(t *testing.T) (upstream.Upstream, *fake.Server) {
	return startResponsesWith(t, fakeopenai.Options{Key: vendorKey, Forbid: []string{key}})
}

func startResponsesWith(t *testing.T, opts fakeopenai.Options) (upstream.Upstream, *fake.Server) {
	f := fakeopenai.New(t, opts)
	up, err := openai.NewResponses(&openai.Options{
		BaseURL: f.Base(), Key: vendorKey, HTTPClient: testClient(t), Dialect: openai.Dialect{Kind: openai.ServerOpenAI},
	})
	return made(t, up, err), f.Server
}

// startLocal starts a server that resembles Chat Completions. It requires its
// reasoning in later requests. All its calls have index 0 and end with "stop",
// and its streams have comments and no [DONE].
func startLocal(t *testing.T) (upstream.Upstream, *fake.Server) {
	f := fakeopenai.New(t, fakeopenai.Options{
		Key: vendorKey, Forbid: []string{key}, Local: true, EchoReasoning: "reasoning_content",
		Quirks: fakeopenai.Quirks{
			Reasoning: "reasoning_content", IndexZero: true, FinishStop: true, Comments: true, NoDone: true,
		},
	})
	up, err := openai.New(&openai.Options{
		BaseURL: f.Base(), Key: vendorKey, HTTPClient: testClient(t),
		Dialect: openai.Dialect{Reasoning: "reasoning_content", Files: true},
	})
	return made(t, up, err), f.Server
}

// checkStory checks a whole story at the vendor: no request was rejected, no
// response is left, and everything that it signed was returned.
func (v vendor) checkStory(t *testing.T, f *fake.Server) {
	t.Helper()
	for _, r := range f.Refused() {
		t.Errorf("%s rejected a request by rule %s: %s", v.name, r.Rule, r.Message)
	}
	if n := f.Left(); n != 0 {
		t.Errorf("%s has %d unused responses", v.name, n)
	}
	body := string(f.Last().Body)
	if v.mark != nil {
		if n := len(v.mark.FindAllString(body, -1)); n < v.signed {
			t.Errorf("the last request has %d signed thinking parts, want at least %d: %.3000s", n, v.signed, body)
		}
	}
	if !strings.Contains(body, pdf64) {
		t.Errorf("the last request has no PDF: %.3000s", body)
	}
	if strings.Contains(body, "pw1.") || strings.Contains(body, "cHcxL") {
		t.Errorf("the vendor received an envelope: %.3000s", body)
	}
}
