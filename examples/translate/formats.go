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
	// parseRequest returns the neutral form of a request, and a function that
	// converts neutral paths to those of the format.
	parseRequest func(body []byte) (*upstream.Request, func(string) string, error)

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
		return anthropic.New(anthropic.Options{BaseURL: base, HTTPClient: &http.Client{Transport: over}})
	},
	"generatecontent": func(base string, over http.RoundTripper) (upstream.Upstream, error) {
		return gemini.New(gemini.Options{BaseURL: base, HTTPClient: &http.Client{Transport: over}})
	},
	"openai": func(base string, over http.RoundTripper) (upstream.Upstream, error) {
		return openai.New(openai.Options{BaseURL: base, HTTPClient: &http.Client{Transport: over}})
	},
	"openai-responses": func(base string, over http.RoundTripper) (upstream.Upstream, error) {
		return openai.NewResponses(openai.Options{BaseURL: base, HTTPClient: &http.Client{Transport: over}})
	},
}

// parseMessages implements clientFormat.parseRequest.
func parseMessages(body []byte) (*upstream.Request, func(string) string, error) {
	n, err := messages.DecodeRequest(body, &messages.ValidateOptions{AllowFiles: true})
	return n, new(messages.Request).Path, err
}

// parseGenerateContent implements clientFormat.parseRequest.
func parseGenerateContent(body []byte) (*upstream.Request, func(string) string, error) {
	r, err := generatecontent.ParseRequest(body)
	if r == nil {
		return nil, nil, err
	}
	if err := r.Validate(nil); err != nil {
		return nil, nil, err
	}
	return r.Upstream(), r.Path, nil
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
