package gemini_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/gemini"
)

// The base URL has no version. The default is the vendor's own API.
func ExampleNew() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Println(r.URL.Path, r.Header.Get("X-Goog-Api-Key"))
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"candidates":[{"content":{"role":"model","parts":[{"text":"Hello!"}]},
			"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":8,"candidatesTokenCount":3,"totalTokenCount":11}}`)
	}))
	defer server.Close()

	up, err := gemini.New(&gemini.Options{BaseURL: server.URL, Key: "k-host"})
	if err != nil {
		panic(err)
	}
	reply, err := upstream.Collect(context.Background(), up, &upstream.Request{
		Model: "gemini-3.5-pro",
		Turns: []content.Turn{{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: "Hi"}}}},
	})
	if err != nil {
		panic(err)
	}
	fmt.Println(reply.Parts[0].(*content.Text).Text, reply.Usage.Prompt(), reply.Usage.Completion())
	// Output:
	// /v1beta/models/gemini-3.5-pro:generateContent k-host
	// Hello! 8 3
}

// Preflight returns the losses of a request without sending it.
func ExampleClient_Preflight() {
	up, err := gemini.New(nil)
	if err != nil {
		panic(err)
	}
	losses, err := up.Preflight(context.Background(), &upstream.Request{
		Model: "gemini-3.5-pro",
		System: []content.Part{
			&content.Text{Text: "You help.", Cache: &content.Cache{}},
		},
		Turns:  []content.Turn{{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: "Hi"}}}},
		Tools:  []content.Tool{{Name: "weather", Input: content.Schema{JSON: `{"type":"object"}`}}},
		Choice: content.ToolChoice{NoParallel: true},
	})
	if err != nil {
		panic(err)
	}
	for _, l := range losses {
		fmt.Println(l)
	}
	// Output:
	// degraded choice.no_parallel: the server cannot forbid parallel tool calls; the model may call tools in parallel
	// hint system.0.cache: the server accepts no cache mark at this place; the mark was omitted, and the server decides what it caches
}
