package openai_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/openai"
)

// The base URL of a compatible server includes the version segment.
func ExampleNew() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"choices":[{"message":{"reasoning":"A greeting.","content":"Hello!"},"finish_reason":"stop"}]}`)
	}))
	defer server.Close()

	up, err := openai.New(&openai.Options{BaseURL: server.URL + "/v1"})
	if err != nil {
		panic(err)
	}
	reply, err := upstream.Collect(context.Background(), up, &upstream.Request{
		Model: "qwen3:8b",
		Turns: []content.Turn{{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: "Hi"}}}},
	})
	if err != nil {
		panic(err)
	}
	for _, p := range reply.Parts {
		switch p := p.(type) {
		case *content.Thinking:
			fmt.Println("thinking:", p.Text)
		case *content.Text:
			fmt.Println("text:", p.Text)
		}
	}
	// Output:
	// thinking: A greeting.
	// text: Hello!
}

// A request of the Responses API, as the server receives it.
func ExampleNewResponses() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Printf("%s %s\n", r.URL.Path, body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"status":"completed","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Hello."}]}]}`)
	}))
	defer server.Close()

	up, err := openai.NewResponses(&openai.Options{BaseURL: server.URL + "/v1", HTTPClient: server.Client()})
	if err != nil {
		fmt.Println(err)
		return
	}
	reply, err := upstream.Collect(context.Background(), up, &upstream.Request{
		Model: "gpt-oss",
		Turns: []content.Turn{{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: "Hi"}}}},
	})
	fmt.Println(reply.Parts[0].(*content.Text).Text, reply.Stop.Reason, err)
	// Output:
	// /v1/responses {"model":"gpt-oss","input":[{"role":"user","content":"Hi"}],"store":false,"include":["reasoning.encrypted_content"]}
	// Hello. end <nil>
}
