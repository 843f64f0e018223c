// Genkit runs Genkit Go: it reads one call as a line of JSON from standard
// input and writes one reply as a line of JSON to standard output. It is a
// separate module because Genkit and the newest SDKs need different versions of
// the same packages.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"log/slog"
	"os"
	"sync"

	antsdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/firebase/genkit/go/ai"
	"github.com/firebase/genkit/go/core/api"
	"github.com/firebase/genkit/go/genkit"
	"github.com/firebase/genkit/go/plugins/anthropic"
	"github.com/firebase/genkit/go/plugins/googlegenai"
	"google.golang.org/genai"
)

// A call is one request. The members are those of ts/libraries.mjs.
type call struct {
	Format    string `json:"format"`
	BaseURL   string `json:"base_url"`
	Key       string `json:"key"`
	Prompt    string `json:"prompt"`
	Image     string `json:"image"`
	Stream    bool   `json:"stream"`
	Think     bool   `json:"think"`
	Level     bool   `json:"level"`
	Tools     bool   `json:"tools"`
	Object    bool   `json:"object"`
	MaxTokens int64  `json:"max_tokens"`
}

// A reply is the response as Genkit reads it.
type reply struct {
	Text     string   `json:"text"`
	Thinking string   `json:"thinking"`
	Calls    []string `json:"calls"`
	Object   any      `json:"object"`
	Input    int      `json:"input"`
	Output   int      `json:"output"`
	Error    string   `json:"error,omitempty"`

	mu sync.Mutex
}

func main() {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 64<<20)
	out := json.NewEncoder(os.Stdout)
	for in.Scan() {
		var c call
		if err := json.Unmarshal(in.Bytes(), &c); err != nil {
			log.Fatal(err)
		}
		r := &reply{Calls: []string{}}
		if err := c.run(r); err != nil {
			r.Error = err.Error()
		}
		if err := out.Encode(r); err != nil {
			log.Fatal(err)
		}
	}
	if err := in.Err(); err != nil {
		log.Fatal(err)
	}
}

// run makes a call.
func (c call) run(r *reply) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	model, plugin, config := c.model()
	g := genkit.Init(ctx, genkit.WithPlugins(plugin))
	if google, ok := plugin.(*googlegenai.GoogleAI); ok {
		supports := &ai.ModelSupports{Multiturn: true, Tools: true, ToolChoice: true, SystemRole: true, Media: true}
		if _, err := google.DefineModel(g, googleModel, &ai.ModelOptions{Supports: supports}); err != nil {
			return err
		}
	}
	parts := []*ai.Part{ai.NewTextPart(c.Prompt)}
	if c.Image != "" {
		parts = append(parts, ai.NewMediaPart("image/png", "data:image/png;base64,"+c.Image))
	}
	options := []ai.GenerateOption{ai.WithModelName(model), ai.WithMessages(ai.NewUserMessage(parts...)), ai.WithConfig(config)}
	if c.Tools {
		options = append(options, ai.WithTools(r.tools(g)...), ai.WithMaxTurns(8))
	}
	if c.Object {
		options = append(options, ai.WithOutputType(answer{}))
	}
	if c.Stream {
		options = append(options, ai.WithStreaming(func(context.Context, *ai.ModelResponseChunk) error { return nil }))
	}
	response, err := genkit.Generate(ctx, g, options...)
	if err != nil {
		return err
	}
	if c.Object {
		var a answer
		if err := response.Output(&a); err != nil {
			return err
		}
		r.Object = a
	}
	r.Text, r.Thinking = response.Text(), response.Reasoning()
	if u := response.Usage; u != nil {
		r.Input, r.Output = u.InputTokens, u.OutputTokens
	}
	return nil
}

// An answer is the object that a call asks for.
type answer struct {
	City string `json:"city"`
	Days []int  `json:"days"`
}

const googleModel = "gemini-3-pro-preview"

// model returns the name of the model, its plugin and the settings of the call.
func (c call) model() (name string, plugin api.Plugin, config any) {
	if c.Format == "google" {
		genai.SetDefaultBaseURLs(genai.BaseURLParameters{GeminiURL: c.BaseURL})
		settings := &genai.GenerateContentConfig{}
		switch {
		case c.Level:
			settings.ThinkingConfig = &genai.ThinkingConfig{IncludeThoughts: true, ThinkingLevel: genai.ThinkingLevelHigh}
		case c.Think:
			settings.ThinkingConfig = &genai.ThinkingConfig{IncludeThoughts: true, ThinkingBudget: genai.Ptr[int32](2048)}
		}
		return "googleai/" + googleModel, &googlegenai.GoogleAI{APIKey: c.Key}, settings
	}
	settings := &antsdk.MessageNewParams{MaxTokens: c.MaxTokens}
	if settings.MaxTokens == 0 {
		settings.MaxTokens = 4096
	}
	if c.Think {
		settings.Thinking = antsdk.ThinkingConfigParamOfEnabled(2048)
	}
	return "anthropic/claude-sonnet-4-5", &anthropic.Anthropic{APIKey: c.Key, BaseURL: c.BaseURL}, settings
}

// tools defines the two tools of a call. Genkit may run them at the same time.
func (r *reply) tools(g *genkit.Genkit) []ai.ToolRef {
	run := func(name, args string) (string, error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.Calls = append(r.Calls, name+" "+args)
		return fmt.Sprintf("result %d of %s", len(r.Calls), name), nil
	}
	type city struct {
		City string `json:"city"`
	}
	type zone struct {
		Zone string `json:"tz"`
	}
	return []ai.ToolRef{
		genkit.DefineTool(g, "weather", "Does it.", func(_ *ai.ToolContext, in city) (string, error) {
			return run("weather", fmt.Sprintf(`{"city":%q}`, in.City))
		}),
		genkit.DefineTool(g, "time", "Does it.", func(_ *ai.ToolContext, in zone) (string, error) {
			return run("time", fmt.Sprintf(`{"tz":%q}`, in.Zone))
		}),
	}
}
