package chatcompletions

import (
	"crypto/rand"
	"io"
	"net/http"
	"time"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/handler"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/snapshot"
	"github.com/polywire/polywire/upstream"
)

// NewStreamWriter returns a writer of the response to r, which it writes to w as server-sent
// events. It keeps no bytes for the next Send. Ping writes a comment. End writes the finish_reason
// of each choice, the usage if the request asks for it, and "data: [DONE]", or else one event with
// the error.
//
// r is the request that the client sent, as [DecodeRequest] returns it. It determines the name
// of the model, the ids of tool calls, which do not repeat those of the conversation, whether
// the stream has the usage, and whether it has function_call in place of tool_calls. If r is nil,
// the stream has no usage, and ids are unique in the response only.
func NewStreamWriter(w io.Writer, r *upstream.Request) upstream.StreamWriter {
	d := new(dialect)
	return handler.NewStreamWriter(w, r, d, d.streamFor(r))
}

// EncodeResponse returns the document for a response that is not streamed, and the losses of
// this format, with neutral paths. They do not include resp.Losses. r is the request that the
// client sent, or nil: see [NewStreamWriter]. Unlike the handler, EncodeResponse always encodes
// resp anew. It estimates the usage if r is not nil and servers of other formats reported none:
// see NoUsageFrom of [upstream.Response].
func EncodeResponse(r *upstream.Request, resp *upstream.Response) ([]byte, []content.Loss) {
	return handler.EncodeResponse(Format, r, resp, new(dialect).responseFor)
}

// EncodeError returns the response to a request that failed with err, which must not be nil:
// the HTTP status, the headers and the document. It encodes err as the handler does if Generate returns it:
// see [upstream.Error] and [content.Violation]. The deadline of a context is a timeout. Any
// other error, such as [context.Canceled], is an internal error.
//
// r is the request, which converts the paths of violations. It is nil if [DecodeRequest] has
// returned the error.
//
// header has the id of the request, the type of the document, and of an upstream.Error the
// RetryAfter and the Header, as a handler without ResponseHeaders sends them.
func EncodeError(r *upstream.Request, err error) (status int, header http.Header, body []byte) {
	d := new(dialect)
	return handler.EncodeError(d, d.Error, r, err)
}

// streamFor returns the encoder of a streamed response to r, which may be nil.
func (d *dialect) streamFor(r *upstream.Request) *stream {
	var model string
	var turns []content.Turn
	if r != nil {
		model, turns = r.Model, r.Turns
	}
	s := newStream(newResponseID(), model, time.Now().Unix(), turns)
	s.blocks.expectation = d.expectationOf(r)
	if sent := snapshot.Parsed[*Request](r); sent != nil {
		s.includeUsage = sent.includesUsage()
	}
	return s
}

// responseFor encodes a whole response to r, which may be nil.
func (d *dialect) responseFor(r *upstream.Request, resp *upstream.Response) (*jsonwire.Writer, []content.Loss) {
	head := responseHead{id: newResponseID(), created: time.Now().Unix()}
	var turns []content.Turn
	if r != nil {
		head.model, turns = r.Model, r.Turns
	}
	return convertResponse(resp, turns, d.expectationOf(r), head)
}

// expectationOf returns what the client that sent r, which may be nil, expects of the response.
func (d *dialect) expectationOf(r *upstream.Request) expectation {
	e := expectation{hideReasoning: d.HideReasoning}
	if sent := snapshot.Parsed[*Request](r); sent != nil {
		e.functions, e.reasoning = sent.usesFunctions(), sent.readsReasoning()
	}
	return e
}

// newResponseID returns the id of a response for which the upstream has none. It is not that of
// the request, which a proxy may set and repeat.
func newResponseID() string { return "chatcmpl-" + rand.Text() }
