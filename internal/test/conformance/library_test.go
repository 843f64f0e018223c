package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/polywire/polywire/internal/test/fake"
	fakeanthropic "github.com/polywire/polywire/internal/test/fake/anthropic"
	fakegemini "github.com/polywire/polywire/internal/test/fake/gemini"
	fakeopenai "github.com/polywire/polywire/internal/test/fake/openai"
	"github.com/polywire/polywire/upstream"
	openairesponses "github.com/polywire/polywire/upstream/openai/responses"
)

// A library is a client that builds on a format, an official SDK with a tool
// loop around it, or its tool runner.
type library struct {
	name     string
	format   string // of the handler: "messages" or "google"
	levels   bool   // has a thinking level beside the budget
	limit    bool   // sends the limit that it knows for the model if none is set
	thread   bool   // uses a thread for a loop
	mute     bool   // knows no thinking
	hides    bool   // does not show thinking
	unsigned bool   // returns tool calls without their signatures
	stored   bool   // needs a store of responses
	answer   string // the tool by whose call it asks for an object; empty: by a schema
	run      func(t *testing.T, c libraryCall) (*libraryReply, error)
}

// A libraryCall is a prompt and how to send it.
type libraryCall struct {
	Library   string   `json:"library"`
	Major     string   `json:"major"` // the folder in ts/majors
	Format    string   `json:"format"`
	BaseURL   string   `json:"base_url"`
	Key       string   `json:"key"`
	Prompt    string   `json:"prompt"`
	Model     string   `json:"model,omitempty"` // of the Agents SDK, in place of its own
	More      []string `json:"more,omitempty"`  // further prompts of the Agents SDK, streamed and whole in turn
	Image     string   `json:"image"`           // a PNG in base64
	Stream    bool     `json:"stream"`
	Think     bool     `json:"think"`  // with a budget
	Level     bool     `json:"level"`  // with a level instead of the budget
	Tools     bool     `json:"tools"`  // weather(city) and time(tz)
	Object    bool     `json:"object"` // an object with a city and a list of days
	MaxTokens int64    `json:"max_tokens"`
}

// A libraryReply is what the library returned.
type libraryReply struct {
	Text     string   `json:"text"`     // of the last response
	Thinking string   `json:"thinking"` // of the last response
	Calls    []string `json:"calls"`    // name and arguments of each call that was run
	Warnings []string `json:"warnings"`
	Object   any      `json:"object"` // as the library parsed it
	Input    int64    `json:"input"`  // tokens of the last request
	Output   int64    `json:"output"` // tokens of the last response
	Status   int      `json:"status"` // of the failure, if the library has it
	Error    string   `json:"error"`

	mu sync.Mutex // of Calls
}

// libraries are named by their major version and the year in which the tested
// version was published. The tests of threads use the first two.
var libraries = []library{
	{name: "typescript-runner", format: "messages", thread: true, run: inNode("runner", "anthropic-1", "messages")},
	{name: "go-runner", format: "messages", thread: true, run: goRunner},

	{name: "ai-sdk-4-of-2025-messages", format: "messages", answer: "json", run: inNode("ai", "ai-4", "messages")},
	{name: "ai-sdk-4-of-2025-google", format: "google", unsigned: true, run: inNode("ai", "ai-4", "google")},
	{name: "ai-sdk-5-of-2026-messages", format: "messages", limit: true, run: inNode("ai", "ai-5", "messages")},
	{name: "ai-sdk-5-of-2026-google", format: "google", levels: true, run: inNode("ai", "ai-5", "google")},
	{name: "ai-sdk-6-of-2026-messages", format: "messages", limit: true, run: inNode("ai", "ai-6", "messages")},
	{name: "ai-sdk-6-of-2026-google", format: "google", levels: true, run: inNode("ai", "ai-6", "google")},
	{name: "ai-sdk-7-of-2026-messages", format: "messages", limit: true, run: inNode("ai", "ai-7", "messages")},
	{name: "ai-sdk-7-of-2026-google", format: "google", levels: true, run: inNode("ai", "ai-7", "google")},

	{name: "langchain-0.3-of-2025-messages", format: "messages", answer: "extract", run: inNode("langchain", "langchain-0.3", "messages")},
	{name: "langchain-0.3-of-2025-google", format: "google", mute: true, unsigned: true, run: inNode("langchain", "langchain-0.3", "google")},
	{name: "langchain-1-of-2026-messages", format: "messages", answer: "extract", run: inNode("langchain", "langchain-1", "messages")},
	{name: "langchain-1-of-2026-google", format: "google", levels: true, run: inNode("langchain", "langchain-1", "google")},

	{name: "anthropic-sdk-0.39-of-2025", format: "messages", answer: "answer", run: inNode("anthropic", "anthropic-0.39", "messages")},
	{name: "anthropic-sdk-0.69-of-2025", format: "messages", run: inNode("anthropic", "anthropic-0.69", "messages")},
	{name: "anthropic-sdk-1-of-2026", format: "messages", run: inNode("anthropic", "anthropic-1", "messages")},
	{name: "generative-ai-0.24-of-2025", format: "google", mute: true, run: inNode("generative-ai", "generative-ai-0.24", "google")},
	{name: "genai-0.15-of-2025", format: "google", unsigned: true, run: inNode("genai", "genai-0.15", "google")},
	{name: "genai-1-of-2025", format: "google", levels: true, run: inNode("genai", "genai-1", "google")},
	{name: "genai-3-of-2026", format: "google", levels: true, run: inNode("genai", "genai-3", "google")},

	{name: "openai-sdk-4-of-2025-chat", format: "chat", run: inNode("chat", "openai-4", "chat")},
	{name: "openai-sdk-4-of-2025-responses", format: "responses", run: inNode("responses", "openai-4", "responses")},
	{name: "openai-sdk-6-of-2026-chat", format: "chat", run: inNode("chat", "openai-6", "chat")},
	{name: "openai-sdk-6-of-2026-responses", format: "responses", run: inNode("responses", "openai-6", "responses")},
	{name: "openai-sdk-7-of-2026-chat", format: "chat", run: inNode("chat", "openai-7", "chat")},
	{name: "openai-sdk-7-of-2026-responses", format: "responses", run: inNode("responses", "openai-7", "responses")},
	{name: "openai-runner-chat", format: "chat", hides: true, run: inNode("chat-runner", "openai-7", "chat")},
	{name: "openai-runner-responses", format: "responses", run: inNode("responses-runner", "openai-7", "responses")},
	{name: "go-openai-1-of-2026", format: "chat", run: goChatLoop(communityChat)},
	{name: "openai-go-1-of-2025", format: "chat", run: goChatLoop(openAIGoV1)},
	{name: "agents-sdk-0.8-of-2026-chat", format: "chat", hides: true, run: inNode("agents", "agents-0.8", "chat")},
	{name: "agents-sdk-0.8-of-2026-responses", format: "responses", run: inNode("agents", "agents-0.8", "responses")},
	{name: "agents-sdk-0.20-of-2026-chat", format: "chat", hides: true, run: inNode("agents", "agents-0.20", "chat")},
	{name: "agents-sdk-0.20-of-2026-responses", format: "responses", run: inNode("agents", "agents-0.20", "responses")},
	{name: "ai-sdk-4-of-2025-chat", format: "chat", hides: true, run: inNode("ai", "ai-4", "chat")},
	{name: "ai-sdk-5-of-2026-chat", format: "chat", hides: true, run: inNode("ai", "ai-5", "chat")},
	{name: "ai-sdk-5-of-2026-responses", format: "responses", run: inNode("ai", "ai-5", "responses")},
	{name: "ai-sdk-6-of-2026-chat", format: "chat", hides: true, run: inNode("ai", "ai-6", "chat")},
	{name: "ai-sdk-6-of-2026-responses", format: "responses", run: inNode("ai", "ai-6", "responses")},
	{name: "ai-sdk-7-of-2026-chat", format: "chat", hides: true, run: inNode("ai", "ai-7", "chat")},
	{name: "ai-sdk-7-of-2026-compatible", format: "chat", run: inNode("ai", "ai-7", "compatible")},
	{name: "ai-sdk-7-of-2026-responses", format: "responses", run: inNode("ai", "ai-7", "responses")},
	{name: "ai-sdk-7-of-2026-stored", stored: true, format: "responses", run: inNode("ai", "ai-7", "stored")},
	{name: "langchain-0.3-of-2025-chat", format: "chat", hides: true, run: inNode("langchain", "langchain-0.3", "chat")},
	{name: "langchain-0.3-of-2025-responses", format: "responses", run: inNode("langchain", "langchain-0.3", "responses")},
	{name: "langchain-1-of-2026-chat", format: "chat", run: inNode("langchain", "langchain-1", "chat")},
	{name: "langchain-1-of-2026-responses", format: "responses", run: inNode("langchain", "langchain-1", "responses")},

	{name: "genkit-messages", format: "messages", run: inGenkit("messages")},
	{name: "genkit-google", format: "google", levels: true, run: inGenkit("google")},
}

var libraryNode = sync.OnceValues(func() (*node, error) {
	return startNode("libraries.mjs", "ai", "@anthropic-ai/sdk", "@google/genai", "@langchain/anthropic", "@langchain/openai", "@openai/agents", "openai", "major-ai-4/node_modules/ai")
})

// genkitDriver builds and starts the driver of Genkit Go, which is a separate
// module.
var genkitDriver = sync.OnceValues(func() (*node, error) {
	dir, err := os.MkdirTemp("", "conformance")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "genkit")
	build := exec.Command("go", "build", "-buildvcs=false", "-o", path, ".")
	build.Dir = "genkit"
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build: %w: %s", err, out)
	}
	return startDriver("genkit", path)
})

func inNode(name, major, format string) func(*testing.T, libraryCall) (*libraryReply, error) {
	return func(t *testing.T, c libraryCall) (*libraryReply, error) {
		t.Helper()
		c.Library, c.Major, c.Format = name, major, format
		return needNode(t, libraryNode).library(c)
	}
}

func inGenkit(format string) func(*testing.T, libraryCall) (*libraryReply, error) {
	return func(t *testing.T, c libraryCall) (*libraryReply, error) {
		t.Helper()
		n, err := genkitDriver()
		if err != nil {
			t.Fatal(err)
		}
		c.Format = format
		return n.library(c)
	}
}

// library makes a call of a library. It returns the error that the library
// reports.
func (n *node) library(c libraryCall) (*libraryReply, error) {
	line, err := n.roundTrip(c)
	if err != nil {
		return nil, err
	}
	var r libraryReply
	if err := json.Unmarshal(line, &r); err != nil {
		return nil, fmt.Errorf("%.500s: %w", line, err)
	}
	if r.Error != "" {
		return &r, errors.New(r.Error)
	}
	return &r, nil
}

// own returns the name of the vendor whose format the library uses.
func (l library) own() string {
	switch l.format {
	case "messages":
		return "anthropic"
	case "google":
		return "gemini"
	}
	return l.format
}

// gemini returns the options of the library's own vendor.
func (l library) gemini() fakegemini.Options {
	return fakegemini.Options{Key: vendorKey, Forbid: []string{key}, KeepSignatures: true, NoDummies: !l.unsigned, Lenient: true}
}

// openai returns the options of the library's own vendor.
func (l library) openai() fakeopenai.Options {
	return fakeopenai.Options{Key: vendorKey, Forbid: []string{key}, Lenient: true}
}

// vendor starts the vendor of the library's format without an adapter.
func (l library) vendor(t *testing.T) *fake.Server {
	switch l.format {
	case "messages":
		return fakeanthropic.New(t, fakeanthropic.Options{Key: vendorKey, KeepThinking: true}).Server
	case "google":
		return fakegemini.New(t, l.gemini()).Server
	}
	return fakeopenai.New(t, l.openai()).Server
}

// serve starts the library's handler over a vendor. The vendor receives its own
// model name, whatever the library requests.
func (l library) serve(t *testing.T, v vendor) (*server, *fake.Server) {
	t.Helper()
	start := v.start
	switch {
	case v.name == "anthropic" && l.unsigned:
		start = func(t *testing.T) (upstream.Upstream, *fake.Server) {
			return startAnthropicWith(t, fakeanthropic.Options{Key: vendorKey, Forbid: []string{key}})
		}
	case v.name != l.own():
	case l.format == chatFormat:
		start = func(t *testing.T) (upstream.Upstream, *fake.Server) { return startChatWith(t, l.openai()) }
	case l.format == responsesFormat:
		start = func(t *testing.T) (upstream.Upstream, *fake.Server) { return startResponsesWith(t, l.openai()) }
	case l.thread:
		start = func(t *testing.T) (upstream.Upstream, *fake.Server) {
			f := fakeanthropic.NewHandler(fakeanthropic.Options{Key: vendorKey, Forbid: []string{key}, KeepThinking: true})
			return (&threadVendor{fake: f}).start(t), f.Server
		}
	case v.name == "gemini":
		start = func(t *testing.T) (upstream.Upstream, *fake.Server) { return startGeminiWith(t, l.gemini()) }
	}
	up, f := start(t)
	// Libraries of OpenAI's formats request a model of the vendor that their members suit.
	if v.name != l.own() || l.format == "messages" || l.format == "google" {
		up = upstream.Edit(up, func(_ context.Context, r *upstream.Request) (*upstream.Request, error) {
			return r.WithModel(v.model), nil
		})
	}
	switch l.format {
	case "messages":
		return serveModel(t, up, nil), f
	case "google":
		return serveGoogle(t, nil, up).server, f
	}
	if l.stored {
		return serveResponses(t, up, &openairesponses.Options{Store: openairesponses.NewMemoryStore(1 << 20)}), f
	}
	return serveOpenAI(t, l.format, up), f
}
