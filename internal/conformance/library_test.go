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

	"github.com/polywire/polywire/internal/fake"
	fakeanthropic "github.com/polywire/polywire/internal/fake/anthropic"
	"github.com/polywire/polywire/upstream"
)

// A library is a client that builds on a format, or a tool runner of an
// official SDK, which runs tool loops itself.
type library struct {
	name   string
	format string // of the handler: "messages" or "google"
	levels bool   // has a thinking level beside the budget
	limit  bool   // sends the limit that it knows for the model if none is set
	thread bool   // uses a thread for a loop
	run    func(t *testing.T, c libraryCall) (*libraryReply, error)
}

// A libraryCall is a prompt and how to send it.
type libraryCall struct {
	Library   string `json:"library"`
	Format    string `json:"format"`
	BaseURL   string `json:"base_url"`
	Key       string `json:"key"`
	Prompt    string `json:"prompt"`
	Image     string `json:"image"` // a PNG in base64
	Stream    bool   `json:"stream"`
	Think     bool   `json:"think"` // with a budget
	Level     bool   `json:"level"` // with a level instead of the budget
	Tools     bool   `json:"tools"` // weather(city) and time(tz)
	MaxTokens int64  `json:"max_tokens"`
}

// A libraryReply is what the library returned.
type libraryReply struct {
	Text     string   `json:"text"`     // of the last response
	Thinking string   `json:"thinking"` // of the last response
	Calls    []string `json:"calls"`    // name and arguments of each call that was run
	Warnings []string `json:"warnings"`
	Input    int64    `json:"input"`  // tokens of the last request
	Output   int64    `json:"output"` // tokens of the last response
	Status   int      `json:"status"` // of the failure, if the library has it
	Error    string   `json:"error"`

	mu sync.Mutex // of Calls
}

var libraries = []library{
	{name: "typescript-runner", format: "messages", thread: true, run: inNode("runner", "messages")},
	{name: "go-runner", format: "messages", thread: true, run: goRunner},
	{name: "ai-sdk-messages", format: "messages", limit: true, run: inNode("ai", "messages")},
	{name: "ai-sdk-google", format: "google", levels: true, run: inNode("ai", "google")},
	{name: "langchain-messages", format: "messages", run: inNode("langchain", "messages")},
	{name: "langchain-google", format: "google", levels: true, run: inNode("langchain", "google")},
	{name: "genkit-messages", format: "messages", run: inGenkit("messages")},
	{name: "genkit-google", format: "google", levels: true, run: inGenkit("google")},
}

var libraryNode = sync.OnceValues(func() (*node, error) {
	return startNode("libraries.mjs", "@anthropic-ai/sdk", "ai", "@ai-sdk/anthropic", "@ai-sdk/google", "@langchain/anthropic", "@langchain/google-genai")
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

func inNode(name, format string) func(*testing.T, libraryCall) (*libraryReply, error) {
	return func(t *testing.T, c libraryCall) (*libraryReply, error) {
		t.Helper()
		c.Library, c.Format = name, format
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
	if l.format == "messages" {
		return "anthropic"
	}
	return "gemini"
}

// serve starts the library's handler over a vendor. The vendor receives its own
// model name, whatever the library requests.
func (l library) serve(t *testing.T, v vendor) (*server, *fake.Server) {
	t.Helper()
	start := v.start
	switch {
	case v.name != l.own():
	case l.thread:
		start = func(t *testing.T) (upstream.Upstream, *fake.Server) {
			f := fakeanthropic.NewHandler(fakeanthropic.Options{Key: vendorKey, Forbid: []string{key}, KeepThinking: true})
			return (&threadVendor{fake: f}).start(t), f.Server
		}
	case v.name == "gemini":
		start = startLenientGemini
	}
	up, f := start(t)
	up = upstream.Edit(up, func(_ context.Context, r *upstream.Request) (*upstream.Request, error) {
		return r.WithModel(v.model), nil
	})
	if l.format == "messages" {
		return serveModel(t, up, nil), f
	}
	return serveGoogle(t, nil, up).server, f
}
