package main

import (
	"net/http"
	"net/url"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/anthropic"
	"github.com/polywire/polywire/upstream/gemini"
	"github.com/polywire/polywire/upstream/openai"
)

// A clientFormat is a format that handlers serve.
type clientFormat struct {
	// parseRequest returns the neutral form of a request, the losses of decoding it, and
	// a function that converts neutral paths to those of the format.
	parseRequest func(body []byte) (*upstream.Request, []content.Loss, func(string) string, error)

	// prompt returns the path and body of a request to which a response can belong.
	prompt func(model string, stream bool) (path string, body []byte, err error)

	handler    func(upstream.Upstream, upstream.HandlerOptions) http.Handler
	clientPath func(neutral string) string // of responses
}

var clientFormats = map[string]clientFormat{
	"messages": {
		parseRequest: parseMessages,
		prompt:       messagesRequest,
		clientPath:   new(messages.Request).Path,
		handler: func(up upstream.Upstream, s upstream.HandlerOptions) http.Handler {
			return messages.NewHandler(up, &messages.Options{HandlerOptions: s})
		},
	},
	"generatecontent": {
		parseRequest: parseGenerateContent,
		prompt:       generateContentRequest,
		clientPath:   new(generatecontent.Request).Path,
		handler: func(up upstream.Upstream, s upstream.HandlerOptions) http.Handler {
			return generatecontent.NewHandler(up, &generatecontent.Options{HandlerOptions: s})
		},
	},
}

// adapters build the upstream for a format over a transport.
var adapters = map[string]func(base string, over http.RoundTripper) (upstream.Upstream, error){
	"messages": func(base string, over http.RoundTripper) (upstream.Upstream, error) {
		return anthropic.New(&anthropic.Options{BaseURL: base, HTTPClient: &http.Client{Transport: over}})
	},
	"generatecontent": func(base string, over http.RoundTripper) (upstream.Upstream, error) {
		return gemini.New(&gemini.Options{BaseURL: base, HTTPClient: &http.Client{Transport: over}})
	},
	"openai": func(base string, over http.RoundTripper) (upstream.Upstream, error) {
		return openai.New(&openai.Options{BaseURL: base, HTTPClient: &http.Client{Transport: over}})
	},
	"openai-responses": func(base string, over http.RoundTripper) (upstream.Upstream, error) {
		return openai.NewResponses(&openai.Options{BaseURL: base, HTTPClient: &http.Client{Transport: over}})
	},
}

// parseMessages implements clientFormat.parseRequest.
func parseMessages(body []byte) (*upstream.Request, []content.Loss, func(string) string, error) {
	n, losses, err := messages.DecodeRequest(body, &messages.ValidateOptions{AllowFiles: true})
	return n, losses, new(messages.Request).Path, err
}

// parseGenerateContent implements clientFormat.parseRequest.
func parseGenerateContent(body []byte) (*upstream.Request, []content.Loss, func(string) string, error) {
	n, losses, err := generatecontent.DecodeRequest(body, nil)
	if err != nil {
		return nil, nil, nil, err
	}
	r, err := generatecontent.ParseRequest(body) // for Path, which depends on the document
	return n, losses, r.Path, err
}

// prompt is the conversation before the response.
var prompt = []content.Turn{{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: "?"}}}}

// messagesRequest returns a request with thinking enabled. Without it, responses contain no
// thinking.
func messagesRequest(model string, stream bool) (string, []byte, error) {
	maxTokens := int64(1 << 20)
	r := messages.Request{Model: model, MaxTokens: &maxTokens, Messages: prompt, Stream: stream, Thinking: &messages.Thinking{Type: "adaptive"}}
	body, err := r.AppendJSON(nil)
	return "/v1/messages", body, err
}

// generateContentRequest returns the path and body of a request.
func generateContentRequest(model string, stream bool) (string, []byte, error) {
	r := generatecontent.Request{Contents: prompt}
	body, err := r.AppendJSON(nil)
	path := "/v1beta/models/" + url.PathEscape(model)
	if stream {
		return path + ":streamGenerateContent?alt=sse", body, err
	}
	return path + ":generateContent", body, err
}
