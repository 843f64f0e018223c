// Package format lists the wire formats of this module by name, for the example programs. It
// uses exported names of the module only.
package format

import (
	"io"
	"slices"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/anthropic"
	"github.com/polywire/polywire/upstream/gemini"
	"github.com/polywire/polywire/upstream/openai"
	"github.com/polywire/polywire/upstream/openai/chatcompletions"
	"github.com/polywire/polywire/upstream/openai/responses"
)

// A Format is a wire format. Servers use every format.
type Format struct {
	Name   string // of the format, such as "messages"
	Title  string // for people
	Short  string // a title of at most 16 characters
	Model  string // a usual model of servers
	Client *Client
	Server
}

// A Client has the functions for a format that clients use. It is nil if Polywire does not
// serve the format.
type Client struct {
	// DecodeRequest returns the neutral form of a request, and the losses of decoding it.
	DecodeRequest func(body []byte) (*upstream.Request, []content.Loss, error)

	EncodeResponse  func(*upstream.Request, *upstream.Response) ([]byte, []content.Loss)
	NewStreamWriter func(io.Writer, *upstream.Request) StreamWriter
	EncodeError     func(*upstream.Request, error) (status int, body []byte)
	Path            func(neutral string) string // of responses
}

// A StreamWriter writes a streamed response.
type StreamWriter interface {
	upstream.Sink
	End(error) error
	Losses() []content.Loss
}

// A Server has the functions for a format that servers use.
type Server struct {
	// NewUpstream returns an upstream that encodes requests for the server at a URL. An
	// empty URL means the vendor's server.
	NewUpstream func(url string) (upstream.Upstream, error)

	DecodeResponse  func(body string) (*upstream.Frame, error)
	NewStreamReader func(io.Reader) upstream.FrameReader
}

// AnyRequest returns the request for a response whose own request is unknown. It shows
// everything that is in the response. Without thinking in the request, the response would
// contain none: Messages needs the mode, and generateContent the display. model may be empty.
func AnyRequest(model string) *upstream.Request {
	return &upstream.Request{Model: model, Thinking: upstream.Thinking{Mode: upstream.ThinkingAuto, Display: "summarized"}}
}

// ByName returns the format with a name, or nil.
func ByName(name string) *Format {
	i := slices.IndexFunc(All, func(f *Format) bool { return f.Name == name })
	if i < 0 {
		return nil
	}
	return All[i]
}

// Names returns the names of all formats, in alphabetical order. If clients is true, these are
// only the formats that clients use.
func Names(clients bool) (names []string) {
	for _, f := range All {
		if f.Client != nil || !clients {
			names = append(names, f.Name)
		}
	}
	slices.Sort(names)
	return names
}

// All lists the formats in the order in which programs show them.
var All = []*Format{
	{
		Name: "messages", Title: "Anthropic Messages", Short: "Messages", Model: "claude-sonnet-5",
		Client: &Client{
			DecodeRequest:   decodeMessages,
			EncodeResponse:  messages.EncodeResponse,
			NewStreamWriter: func(w io.Writer, r *upstream.Request) StreamWriter { return messages.NewStreamWriter(w, r) },
			EncodeError:     messages.EncodeError,
			Path:            new(messages.Request).Path,
		},
		Server: Server{
			NewUpstream: func(url string) (upstream.Upstream, error) {
				return anthropic.New(&anthropic.Options{BaseURL: url})
			},
			DecodeResponse: func(body string) (*upstream.Frame, error) {
				return messages.DecodeResponse(body, content.Limits{})
			},
			NewStreamReader: func(r io.Reader) upstream.FrameReader {
				return messages.NewStreamReader(r, content.Limits{})
			},
		},
	},
	{
		Name: "generatecontent", Title: "Gemini generateContent", Short: "Gemini", Model: "gemini-3.1-pro-preview",
		Client: &Client{
			DecodeRequest:   decodeGenerateContent,
			EncodeResponse:  generatecontent.EncodeResponse,
			NewStreamWriter: func(w io.Writer, r *upstream.Request) StreamWriter { return generatecontent.NewStreamWriter(w, r) },
			EncodeError:     generatecontent.EncodeError,
			Path:            new(generatecontent.Request).Path,
		},
		Server: Server{
			NewUpstream: func(url string) (upstream.Upstream, error) {
				return gemini.New(&gemini.Options{BaseURL: url})
			},
			DecodeResponse: func(body string) (*upstream.Frame, error) {
				return generatecontent.DecodeResponse(body, content.Limits{})
			},
			NewStreamReader: func(r io.Reader) upstream.FrameReader {
				return generatecontent.NewStreamReader(r, content.Limits{})
			},
		},
	},
	{
		Name: "openai", Title: "OpenAI Chat Completions", Short: "Chat Completions", Model: "gpt-5.2",
		Client: &Client{
			DecodeRequest:   decodeChatCompletions,
			EncodeResponse:  chatcompletions.EncodeResponse,
			NewStreamWriter: func(w io.Writer, r *upstream.Request) StreamWriter { return chatcompletions.NewStreamWriter(w, r) },
			EncodeError:     chatcompletions.EncodeError,
			Path:            new(chatcompletions.Request).Path,
		},
		Server: Server{
			NewUpstream: func(url string) (upstream.Upstream, error) {
				return openai.New(&openai.Options{BaseURL: url})
			},
			DecodeResponse: func(body string) (*upstream.Frame, error) {
				return chatcompletions.DecodeResponse(body, content.Limits{})
			},
			NewStreamReader: func(r io.Reader) upstream.FrameReader {
				return chatcompletions.NewStreamReader(r, content.Limits{})
			},
		},
	},
	{
		Name: "openai-responses", Title: "OpenAI Responses", Short: "Responses", Model: "gpt-5.2",
		Client: &Client{
			DecodeRequest:   decodeResponses,
			EncodeResponse:  responses.EncodeResponse,
			NewStreamWriter: func(w io.Writer, r *upstream.Request) StreamWriter { return responses.NewStreamWriter(w, r) },
			EncodeError:     responses.EncodeError,
			Path:            new(responses.Request).Path,
		},
		Server: Server{
			NewUpstream: func(url string) (upstream.Upstream, error) {
				return openai.NewResponses(&openai.Options{BaseURL: url})
			},
			DecodeResponse: func(body string) (*upstream.Frame, error) {
				return responses.DecodeResponse(body, content.Limits{})
			},
			NewStreamReader: func(r io.Reader) upstream.FrameReader {
				return responses.NewStreamReader(r, content.Limits{})
			},
		},
	},
}

// decodeMessages implements Client.DecodeRequest.
func decodeMessages(body []byte) (*upstream.Request, []content.Loss, error) {
	return messages.DecodeRequest(body, &messages.ValidateOptions{AllowFiles: true})
}

// decodeGenerateContent implements Client.DecodeRequest.
func decodeGenerateContent(body []byte) (*upstream.Request, []content.Loss, error) {
	return generatecontent.DecodeRequest(body, nil)
}

// decodeChatCompletions implements Client.DecodeRequest.
func decodeChatCompletions(body []byte) (*upstream.Request, []content.Loss, error) {
	return chatcompletions.DecodeRequest(body, nil)
}

// decodeResponses implements Client.DecodeRequest.
func decodeResponses(body []byte) (*upstream.Request, []content.Loss, error) {
	return responses.DecodeRequest(body, nil)
}
