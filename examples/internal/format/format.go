// Package format lists the wire formats of this module by name, for the example programs. It
// uses exported names of the module only.
package format

import (
	"io"
	"net/http"
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

// A Format is a wire format. Clients and servers use every format.
type Format struct {
	Name   string // of the format, such as "messages"
	Title  string // for people
	Short  string // a title of at most 16 characters
	Model  string // a usual model of servers
	Client Client
	Server
}

// A Client has the functions for the side of clients.
type Client struct {
	// DecodeRequest returns the neutral form of a request, and the losses of decoding it.
	DecodeRequest func(body []byte) (*upstream.Request, []content.Loss, error)

	EncodeResponse  func(*upstream.Request, *upstream.Response) ([]byte, []content.Loss)
	NewStreamWriter func(io.Writer, *upstream.Request) upstream.StreamWriter
	EncodeError     func(*upstream.Request, error) (status int, header http.Header, body []byte)
	Path            func(neutral string) string // of responses

	// everything is a request that asks for parts of a response which have no neutral field.
	everything string
}

// A Server has the functions for the side of servers.
type Server struct {
	// NewUpstream returns an upstream that encodes requests for the server at a URL. An
	// empty URL means the vendor's server. client may be nil.
	NewUpstream func(url, key string, client *http.Client) (upstream.Upstream, error)

	DecodeResponse  func(body []byte, lim *content.Limits) (*upstream.Response, error)
	NewStreamReader func(io.Reader) upstream.FrameReader
}

// AnyRequest returns the request for a response to clients of f whose own request is unknown.
// It asks for everything that a response can contain. Without thinking in the request, the
// response would contain none: Messages needs the mode, the others the display. model may be
// empty.
func (f *Format) AnyRequest(model string) *upstream.Request {
	r := new(upstream.Request)
	if f.Client.everything != "" {
		var err error
		if r, _, err = f.Client.DecodeRequest([]byte(f.Client.everything)); err != nil {
			panic(err) // a mistake in All
		}
	}
	r.Model = model
	r.Thinking = upstream.Thinking{Mode: upstream.ThinkingAuto, Display: "summarized"}
	return r
}

// ByName returns the format with a name, or nil.
func ByName(name string) *Format {
	i := slices.IndexFunc(All, func(f *Format) bool { return f.Name == name })
	if i < 0 {
		return nil
	}
	return All[i]
}

// Names returns the names of all formats, in alphabetical order.
func Names() (names []string) {
	for _, f := range All {
		names = append(names, f.Name)
	}
	slices.Sort(names)
	return names
}

// All lists the formats in the order in which programs show them.
var All = []*Format{
	{
		Name: "messages", Title: "Anthropic Messages", Short: "Messages", Model: "claude-sonnet-5",
		Client: Client{
			DecodeRequest:   decodeMessages,
			EncodeResponse:  messages.EncodeResponse,
			NewStreamWriter: messages.NewStreamWriter,
			EncodeError:     messages.EncodeError,
			Path:            new(messages.Request).Path,
		},
		Server: Server{
			NewUpstream: func(url, key string, client *http.Client) (upstream.Upstream, error) {
				return anthropic.New(&anthropic.Options{BaseURL: url, Key: key, HTTPClient: client})
			},
			DecodeResponse: messages.DecodeResponse,
			NewStreamReader: func(r io.Reader) upstream.FrameReader {
				return messages.NewStreamReader(r, nil)
			},
		},
	},
	{
		Name: "generatecontent", Title: "Gemini generateContent", Short: "Gemini", Model: "gemini-3.1-pro-preview",
		Client: Client{
			DecodeRequest:   decodeGenerateContent,
			EncodeResponse:  generatecontent.EncodeResponse,
			NewStreamWriter: generatecontent.NewStreamWriter,
			EncodeError:     generatecontent.EncodeError,
			Path:            new(generatecontent.Request).Path,
		},
		Server: Server{
			NewUpstream: func(url, key string, client *http.Client) (upstream.Upstream, error) {
				return gemini.New(&gemini.Options{BaseURL: url, Key: key, HTTPClient: client})
			},
			DecodeResponse: generatecontent.DecodeResponse,
			NewStreamReader: func(r io.Reader) upstream.FrameReader {
				return generatecontent.NewStreamReader(r, nil)
			},
		},
	},
	{
		Name: "openai", Title: "OpenAI Chat Completions", Short: "Chat Completions", Model: "gpt-5.2",
		Client: Client{
			DecodeRequest:   decodeChatCompletions,
			EncodeResponse:  chatcompletions.EncodeResponse,
			NewStreamWriter: chatcompletions.NewStreamWriter,
			EncodeError:     chatcompletions.EncodeError,
			Path:            new(chatcompletions.Request).Path,
			everything:      `{"model":"m","messages":[{"role":"user","content":"Hello."}],"stream":true,"stream_options":{"include_usage":true}}`,
		},
		Server: Server{
			NewUpstream: func(url, key string, client *http.Client) (upstream.Upstream, error) {
				return openai.New(&openai.Options{BaseURL: url, Key: key, HTTPClient: client})
			},
			DecodeResponse: chatcompletions.DecodeResponse,
			NewStreamReader: func(r io.Reader) upstream.FrameReader {
				return chatcompletions.NewStreamReader(r, nil)
			},
		},
	},
	{
		Name: "openai-responses", Title: "OpenAI Responses", Short: "Responses", Model: "gpt-5.2",
		Client: Client{
			DecodeRequest:   decodeResponses,
			EncodeResponse:  responses.EncodeResponse,
			NewStreamWriter: responses.NewStreamWriter,
			EncodeError:     responses.EncodeError,
			Path:            new(responses.Request).Path,
			everything:      `{"model":"m","input":"Hello.","store":false,"include":["reasoning.encrypted_content"],"reasoning":{"summary":"auto"}}`,
		},
		Server: Server{
			NewUpstream: func(url, key string, client *http.Client) (upstream.Upstream, error) {
				return openai.NewResponses(&openai.Options{BaseURL: url, Key: key, HTTPClient: client})
			},
			DecodeResponse: responses.DecodeResponse,
			NewStreamReader: func(r io.Reader) upstream.FrameReader {
				return responses.NewStreamReader(r, nil)
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
