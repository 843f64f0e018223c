package messages_test

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
)

func ExampleParseRequest() {
	body := []byte(`{"model":"claude-sonnet-5","max_tokens":"many","messages":[{"role":"user","content":[
		{"type":"image","source":{"type":"base64","media_type":"image/png"}},
		{"type":"text","text":"What is this?"}]}]}`)
	r, err := messages.ParseRequest(body)
	violations, _ := content.Violations(err)
	for _, v := range violations {
		fmt.Println(v)
	}
	fmt.Println(r.Messages[0].Parts[1].(*content.Text).Text)
	// Output:
	// max_tokens: Input should be a valid integer
	// messages.0.content.0.image.source.base64.data: Field required
	// What is this?
}

func ExampleRequest_Upstream() {
	r, err := messages.ParseRequest([]byte(`{"model":"claude-sonnet-5","max_tokens":64,"system":"Be brief.",
		"messages":[{"role":"user","content":"Hello!"}],"thinking":{"type":"enabled","budget_tokens":1024}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	n := r.Upstream()
	fmt.Println(n.Model, *n.MaxTokens, n.Turns[0].Role, n.Thinking.Mode, *n.Thinking.Budget)
	// Output: claude-sonnet-5 64 user budget 1024
}

func ExampleRequestFromUpstream() {
	r, err := messages.ParseRequest([]byte(`{"model":"claude-sonnet-5","max_tokens":64,
		"messages":[{"role":"user","content":"Hello!"}]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	n := r.Upstream().Clone()
	seed := int64(7)
	n.Seed = &seed
	back, losses, err := messages.RequestFromUpstream(n)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, l := range losses {
		fmt.Println(l.Severity, l.Path, l.Reason)
	}
	doc, err := back.AppendJSON(nil)
	fmt.Println(string(doc), err)
	// Output:
	// dropped seed the server does not accept this seed, or any; equal requests may have different responses
	// {"model":"claude-sonnet-5","max_tokens":64,"messages":[{"role":"user","content":[{"type":"text","text":"Hello!"}]}]} <nil>
}

func ExampleRequest_Body() {
	r, err := messages.ParseRequest([]byte(`{"model":"claude-sonnet-5","max_tokens":64,
		"messages":[{"role":"user","content":"Hello!"}]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	body, err := r.Body()
	if err != nil {
		fmt.Println(err)
		return
	}
	req, err := http.NewRequest("POST", "http://localhost/v1/messages", body.Reader())
	if err != nil {
		fmt.Println(err)
		return
	}
	req.ContentLength = body.Len()
	var b strings.Builder
	_ = req.Write(&b)
	fmt.Println(strings.Contains(b.String(), "Content-Length: 116"), strings.HasSuffix(b.String(), `"Hello!"}]}]}`))
	// Output: true true
}

// A batch worker decodes request documents and calls an upstream without HTTP. An
// adapter of the same format sends the bytes of the document, in which white space
// and the order of members are those that the vendor has cached.
func ExampleDecodeRequest() {
	body := []byte(`{"model": "claude-sonnet-5", "max_tokens": 64, "messages": [{"role": "user", "content": "Hello!"}]}`)
	n, losses, err := messages.DecodeRequest(body, &messages.ValidateOptions{Version: "2023-06-01"})
	if err != nil {
		fmt.Println(err)
		return
	}
	document, ok := upstream.WireOf(n, messages.Format)
	fmt.Println(ok, document == string(body), losses)

	_, _, err = messages.DecodeRequest([]byte(`{"model": "claude-sonnet-5", "max_tokens": -1}`), nil)
	violations, _ := content.Violations(err)
	for _, v := range violations {
		fmt.Println(v)
	}
	// Output:
	// true true []
	// messages: Field required
	// max_tokens: Input should be greater than or equal to 0
}
