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

// A compatible server is asked by its base URL, with its version segment.
func ExampleNew() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"choices":[{"message":{"reasoning":"A greeting.","content":"Hello!"},"finish_reason":"stop"}]}`)
	}))
	defer server.Close()

	up, err := openai.New(openai.Options{BaseURL: server.URL + "/v1"})
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
			fmt.Println("thought:", p.Text)
		case *content.Text:
			fmt.Println("said:", p.Text)
		}
	}
	// Output:
	// thought: A greeting.
	// said: Hello!
}
