package anthropic_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/anthropic"
)

// The base URL has no version. The default is the vendor's own API.
func ExampleNew() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Println(r.URL.Path, r.Header.Get("X-Api-Key"))
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-5",
			"content":[{"type":"text","text":"Hello!"}],"stop_reason":"end_turn","stop_sequence":null,
			"usage":{"input_tokens":8,"output_tokens":3}}`)
	}))
	defer server.Close()

	up, err := anthropic.New(&anthropic.Options{
		BaseURL:  server.URL,
		Key:      "k-host",
		MapModel: func(string) string { return "claude-sonnet-5" }, // whatever clients name
	})
	if err != nil {
		panic(err)
	}
	reply, err := upstream.Collect(context.Background(), up, &upstream.Request{
		Model: "smart",
		Turns: []content.Turn{{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: "Hi"}}}},
	})
	if err != nil {
		panic(err)
	}
	fmt.Println(reply.Parts[0].(*content.Text).Text, reply.Usage.Prompt(), reply.Usage.Completion())
	// Output:
	// /v1/messages k-host
	// Hello! 8 3
}
