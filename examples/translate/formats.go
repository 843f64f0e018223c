package main

import (
	"io"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/anthropic"
	"github.com/polywire/polywire/upstream/gemini"
	"github.com/polywire/polywire/upstream/openai"
)

// A clientFormat is a format that clients use.
type clientFormat struct {
	// decodeRequest returns the neutral form of a request, and the losses of decoding it.
	decodeRequest func(body []byte) (*upstream.Request, []content.Loss, error)

	encodeResponse  func(*upstream.Request, *upstream.Response) ([]byte, []content.Loss)
	newStreamWriter func(io.Writer, *upstream.Request) streamWriter
	encodeError     func(*upstream.Request, error) (status int, body []byte)
	path            func(neutral string) string // of responses
}

// A streamWriter writes a streamed response.
type streamWriter interface {
	upstream.Sink
	End(error) error
	Losses() []content.Loss
}

var clientFormats = map[string]clientFormat{
	"messages": {
		decodeRequest:   decodeMessages,
		encodeResponse:  messages.EncodeResponse,
		newStreamWriter: func(w io.Writer, r *upstream.Request) streamWriter { return messages.NewStreamWriter(w, r) },
		encodeError:     messages.EncodeError,
		path:            new(messages.Request).Path,
	},
	"generatecontent": {
		decodeRequest:   decodeGenerateContent,
		encodeResponse:  generatecontent.EncodeResponse,
		newStreamWriter: func(w io.Writer, r *upstream.Request) streamWriter { return generatecontent.NewStreamWriter(w, r) },
		encodeError:     generatecontent.EncodeError,
		path:            new(generatecontent.Request).Path,
	},
}

// decodeMessages implements clientFormat.decodeRequest.
func decodeMessages(body []byte) (*upstream.Request, []content.Loss, error) {
	return messages.DecodeRequest(body, &messages.ValidateOptions{AllowFiles: true})
}

// decodeGenerateContent implements clientFormat.decodeRequest.
func decodeGenerateContent(body []byte) (*upstream.Request, []content.Loss, error) {
	return generatecontent.DecodeRequest(body, nil)
}

// A serverFormat is a format that servers use.
type serverFormat struct {
	// newUpstream returns an upstream that encodes requests for the server at a URL.
	newUpstream func(url string) (upstream.Upstream, error)

	decodeResponse  func(body string) (*upstream.Frame, error)
	newStreamReader func(io.Reader) upstream.FrameReader
}

var serverFormats = map[string]serverFormat{
	"messages": {
		newUpstream: func(url string) (upstream.Upstream, error) {
			return anthropic.New(&anthropic.Options{BaseURL: url})
		},
		decodeResponse: func(body string) (*upstream.Frame, error) {
			return messages.DecodeResponse(body, content.Limits{})
		},
		newStreamReader: func(r io.Reader) upstream.FrameReader {
			return messages.NewStreamReader(r, content.Limits{})
		},
	},
	"generatecontent": {
		newUpstream: func(url string) (upstream.Upstream, error) {
			return gemini.New(&gemini.Options{BaseURL: url})
		},
		decodeResponse: func(body string) (*upstream.Frame, error) {
			return generatecontent.DecodeResponse(body, content.Limits{})
		},
		newStreamReader: func(r io.Reader) upstream.FrameReader {
			return generatecontent.NewStreamReader(r, content.Limits{})
		},
	},
	"openai": {
		newUpstream: func(url string) (upstream.Upstream, error) {
			return openai.New(&openai.Options{BaseURL: url})
		},
		decodeResponse: func(body string) (*upstream.Frame, error) {
			return chat.DecodeResponse(nil, body)
		},
		newStreamReader: func(r io.Reader) upstream.FrameReader {
			return chat.NewStreamReader(nil, r)
		},
	},
	"openai-responses": {
		newUpstream: func(url string) (upstream.Upstream, error) {
			return openai.NewResponses(&openai.Options{BaseURL: url})
		},
		decodeResponse: func(body string) (*upstream.Frame, error) {
			return responses.DecodeResponse(nil, body)
		},
		newStreamReader: func(r io.Reader) upstream.FrameReader {
			return responses.NewStreamReader(nil, r)
		},
	},
}

// The decoders of both formats, for a server without deviations.
var (
	chat, _      = openai.New(nil) // the defaults are valid
	responses, _ = openai.NewResponses(nil)
)
