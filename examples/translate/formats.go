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

// A front is a format that clients speak.
type front struct {
	// parse reads a request and returns it in neutral words, with a function
	// that says neutral paths in the format's.
	parse func(body []byte) (*upstream.Request, func(string) string, error)

	// ask makes some request that an answer could be for.
	ask func(model string, stream bool) (path string, body []byte, err error)

	handler func(upstream.Upstream, upstream.HandlerOptions) http.Handler
	path    func(neutral string) string // of answers
}

var fronts = map[string]front{
	"messages": {
		parse: parseMessages,
		ask:   askMessages,
		path:  new(messages.Request).Path,
		handler: func(up upstream.Upstream, s upstream.HandlerOptions) http.Handler {
			return messages.NewHandler(up, &messages.Options{HandlerOptions: s})
		},
	},
	"generatecontent": {
		parse: parseGenerateContent,
		ask:   askGenerateContent,
		path:  new(generatecontent.Request).Path,
		handler: func(up upstream.Upstream, s upstream.HandlerOptions) http.Handler {
			return generatecontent.NewHandler(up, &generatecontent.Options{HandlerOptions: s})
		},
	},
}

// vendors make the upstream that speaks a format, over a transport.
var vendors = map[string]func(base string, over http.RoundTripper) (upstream.Upstream, error){
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

func parseMessages(body []byte) (*upstream.Request, func(string) string, error) {
	r, err := messages.ParseRequest(body)
	if r == nil {
		return nil, nil, err // no JSON, so there is nothing to look at
	}
	if err := r.Validate(&messages.ValidateOptions{AllowFiles: true}); err != nil { // tells what parsing found, too
		return nil, nil, err
	}
	return r.Upstream(), r.Path, nil
}

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

// question is what the answer to be translated is said to be for.
var question = []content.Turn{{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: "?"}}}}

// askMessages asks for thinking: without, none of it would be in the answer.
func askMessages(model string, stream bool) (string, []byte, error) {
	most := int64(1 << 20)
	r := messages.Request{Model: model, MaxTokens: &most, Messages: question, Stream: stream, Thinking: &messages.Thinking{Type: "adaptive"}}
	body, err := r.AppendJSON(nil)
	return "/v1/messages", body, err
}

func askGenerateContent(model string, stream bool) (string, []byte, error) {
	r := generatecontent.Request{Contents: question}
	body, err := r.AppendJSON(nil)
	path := "/v1beta/models/" + url.PathEscape(model)
	if stream {
		return path + ":streamGenerateContent?alt=sse", body, err
	}
	return path + ":generateContent", body, err
}
