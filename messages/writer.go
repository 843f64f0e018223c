package messages

import (
	"cmp"
	"crypto/rand"
	"io"
	"net/http"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/handler"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/upstream"
)

// NewStreamWriter returns a writer of the response to r, which it writes to w as server-sent
// events. It keeps no bytes for the next Send. Ping writes an event, and so does End for an error.
//
// r is the request that the client sent, as [DecodeRequest] returns it. It determines
// whether the client receives thinking, where state of other vendors is carried, the name
// of the model, the ids of tool calls, which do not repeat those of the conversation, and
// the estimate of the prompt's tokens. If r is nil, the client receives thinking, state is
// carried in ids, and ids are unique in the response only.
func NewStreamWriter(w io.Writer, r *upstream.Request) upstream.StreamWriter {
	return handler.NewStreamWriter(w, r, new(dialect), streamFor(handler.NewRequestID(), r))
}

// NewEventWriter is NewStreamWriter for connections that carry messages, such as WebSockets.
// It calls send for each event of the stream with its name, such as "content_block_delta",
// and its data, which is one line of JSON. Ping sends an event, too.
//
// Calls of send do not overlap. If send returns an error, that is the error of Send, Ping or
// End, and send is not called again. It must not call methods of the writer.
func NewEventWriter(send func(name, data string) error, r *upstream.Request) upstream.StreamWriter {
	return NewStreamWriter(handler.EventWriter(send), r)
}

// EncodeResponse returns the document for a response that is not streamed, and the losses of
// this format, with neutral paths. They do not include resp.Losses. r is the request that the
// client sent, or nil: see [NewStreamWriter]. Unlike the handler, EncodeResponse always
// encodes resp anew. It estimates the usage if r is not nil and servers of other formats
// reported none: see NoUsageFrom of [upstream.Response].
func EncodeResponse(r *upstream.Request, resp *upstream.Response) ([]byte, []content.Loss) {
	return handler.EncodeResponse(Format, r, resp, responseFor)
}

// EncodeError returns the response to a request that failed with err, which must not be
// nil: the HTTP status, the headers and the document. It encodes err as the handler does if Generate
// returns it: see [upstream.Error] and [content.Violation]. The deadline of a context is a
// timeout. Any other error, such as [context.Canceled], is an internal error.
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

// streamFor returns the encoder of a streamed response to r, which may be nil. id is the id
// of the request.
func streamFor(id string, r *upstream.Request) *stream {
	if r == nil {
		return newStream(id, newMessageID(), "", nil)
	}
	s := newStream(id, newMessageID(), r.Model, r.Turns)
	s.prompt = func() int64 { return upstream.EstimateTokens(r) }
	s.blocks.placement = placementOf(r)
	return s
}

// responseFor encodes a whole response to r, which may be nil.
func responseFor(r *upstream.Request, resp *upstream.Response) (*jsonwire.Writer, []content.Loss) {
	var model string
	var turns []content.Turn
	if r != nil {
		model, turns = r.Model, r.Turns
	}
	res, losses := convertResponse(resp, turns, placementOf(r))
	if res.ID == "" {
		res.ID = newMessageID()
	}
	res.Model = cmp.Or(res.Model, model)
	w := new(jsonwire.Writer)
	w.Grow(1 << 10)
	res.write(w, nil)
	return w, losses
}

// newMessageID returns the id of a message for which the upstream has none. It is not that
// of the request, which a proxy may set and repeat.
func newMessageID() string { return "msg_" + rand.Text() }
