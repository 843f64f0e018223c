package openai

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/adapter"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/openaiformat"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/openai/chatcompletions"
	"github.com/polywire/polywire/upstream/openai/responses"
)

// DecodeResponse decodes the body of a successful response that is not streamed, without
// HTTP. Its Frame is for [upstream.Writer.Frame].
//
// req is the request, which [upstream.EncodeRequest] has encoded. With it the response has
// the names of tools and the thinking that Generate would write, and in the Responses API
// ends at its stop sequences. If req is nil, the response is that of an empty request. The
// start of the response has the fields that Generate sets, except those from HTTP headers.
//
// The limits are those of Options. If a filter rejected the prompt, the response has only a
// stop with [content.StopSafety]. The error is an [*upstream.Error]: the error in the body,
// or else one with [upstream.CodeBadGateway].
func (c *client) DecodeResponse(req *upstream.Request, body []byte) (*upstream.Response, error) {
	p := c.planOf(req)
	limits := c.server.ResponseLimits()
	if int64(len(body)) > limits.Body {
		return nil, codec.BadGateway(fmt.Errorf("openai: the response has %d bytes; the limit is %d", len(body), limits.Body))
	}
	f, err := p.decodeText(string(body), limits)
	if f := openaiformat.Filtered(c.format, err); f != nil {
		return f.Response()
	}
	if err != nil {
		return nil, err
	}
	adapter.AddStart(f, c.startInfo())
	p.Restore(f)
	return f.Response()
}

// startInfo returns what the start of a response without HTTP has.
func (c *client) startInfo() adapter.StartInfo {
	return adapter.StartInfo{ModelAsRequested: true, Upstream: c.server.Name()}
}

// DecodeError decodes a response with a status other than 2xx, from its header and body,
// without HTTP. The body may be truncated, empty, or not JSON.
//
// The Code depends on the status and on the code and type of the error. It is
// [upstream.CodeBadGateway] for errors that concern the program's account, such as a
// rejected key, and [upstream.CodeQuota] for used-up credit, which clients do not retry.
// For invalid requests and rate limits, the Text is the server's message on one line
// without secrets. Generate writes a response with [content.StopSafety] in place of some of
// these errors: those of filters.
func (c *client) DecodeError(status int, header http.Header, body []byte) *upstream.Error {
	return openaiformat.DecodeError(c.format, status, header, body)
}

// A StreamReader reads the streamed response of a server, as a [Client] or [Responses] does.
// It must not be used by several goroutines at once.
type StreamReader struct {
	plan  *plan
	from  adapter.FrameReader
	begun bool // the start is done
	err   error
}

// NewStreamReader returns a reader of src, which the caller closes. req is the request, or
// nil: see DecodeResponse. The limits are those of Options.
func (c *client) NewStreamReader(req *upstream.Request, src io.Reader) *StreamReader {
	p := c.planOf(req)
	return &StreamReader{plan: p, from: p.newReader(src)}
}

// Next returns the next events of the stream, as a frame for [upstream.Writer.Frame]. The
// frame and its Events are valid until the next call; their strings and pointers remain
// valid. The error is [io.EOF] after a complete response, and otherwise an
// [*upstream.Error]. If a filter stops the response, the last frame has only a stop with
// [content.StopSafety].
func (r *StreamReader) Next() (*upstream.Frame, error) {
	if r.err != nil {
		return nil, r.err
	}
	f, err := r.from.Next()
	if stopped := openaiformat.Filtered(r.plan.client.format, err); stopped != nil {
		r.err = io.EOF
		return stopped, nil
	}
	if r.err = err; err != nil {
		return nil, err
	}
	if !r.begun {
		r.begun = adapter.AddStart(f, r.plan.client.startInfo())
	}
	r.plan.Restore(f)
	return f, nil
}

// Buffered reports whether Next returns without reading from the source. It may return
// false although Next would.
func (r *StreamReader) Buffered() bool { return r.err != nil || r.from.Buffered() }

// planOf returns the plan of a request, or of an empty one if req is nil.
func (c *client) planOf(req *upstream.Request) *plan {
	if req == nil {
		req = new(upstream.Request)
	}
	return c.plan(req)
}

// generate sends the request, decodes the response, streamed or not, and writes it to w.
func (p *plan) generate(ctx context.Context, w *upstream.Writer) error {
	resp, err := p.client.exchange(ctx, p, w)
	if err != nil {
		return err
	}
	defer resp.Close()
	if isStream(resp.Buffer(), resp.Stream) {
		return adapter.Relay(ctx, w, p.newReader(resp), resp.StartInfo(true), p.Restore)
	}
	f, err := resp.Decode(p.decodeText)
	if err != nil {
		return err
	}
	return adapter.WriteResponse(w, f, resp.StartInfo(true), p.Restore)
}

// newReader returns a reader of the streamed response to the request.
func (p *plan) newReader(src io.Reader) adapter.FrameReader {
	limits := *p.client.server.Limits()
	if p.client.format == ResponsesFormat {
		return responses.NewStreamReaderWith(src, limits, p.responsesOptions())
	}
	return chatcompletions.NewStreamReaderWith(src, limits, p.chatOptions())
}

// decodeText decodes the whole response to the request.
func (p *plan) decodeText(text string, limits content.Limits) (*upstream.Frame, error) {
	if p.client.format == ResponsesFormat {
		return responses.DecodeFrame(text, limits, p.responsesOptions())
	}
	return chatcompletions.DecodeFrame(text, limits, p.chatOptions())
}

// responsesOptions returns what a response in Responses depends on. A document of a client has no
// stop sequences.
func (p *plan) responsesOptions() responses.DecodeOptions {
	o := responses.DecodeOptions{Verbatim: p.client.isOpenAI} // others may lack members that clients need
	if p.Document == nil {
		o.Stops = p.Request.Cut
	}
	return o
}

// chatOptions returns what a response in Chat Completions depends on.
func (p *plan) chatOptions() chatcompletions.DecodeOptions {
	return chatcompletions.DecodeOptions{ThinkTags: p.thinkTags(), Logprobs: p.asksLogprobs(), ApartThinking: p.client.known.apart,
		Verbatim: p.client.isOpenAI}
}

// thinkTags returns how the response marks thinking in its text.
func (p *plan) thinkTags() ThinkTags {
	tags := p.client.dialect.ThinkTags
	if tags == ThinkTagsOpen && p.isThinkingOff() {
		tags = ThinkTagsLeading // the template closes the tag that it opens
	}
	return tags
}
