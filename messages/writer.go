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

// A StreamWriter is an [upstream.Sink] that writes a response as the server-sent events of
// this format, without HTTP. Pass it to [upstream.Run], and then the error of Run to End:
//
//	w := messages.NewStreamWriter(out, req)
//	err := w.End(upstream.Run(ctx, up, req, w))
//
// It writes the bytes that a [Handler] sends. Its methods may be called by several
// goroutines at once, except that Send and End must not overlap.
type StreamWriter struct{ writer *handler.StreamWriter }

// NewStreamWriter returns a StreamWriter that writes the response to r to w.
//
// r is the request that the client sent, as [DecodeRequest] returns it. It determines
// whether the client receives thinking, where state of other vendors is carried, the name
// of the model, the ids of tool calls, which do not repeat those of the conversation, and
// the estimate of the prompt's tokens. If r is nil, the client receives thinking, state is
// carried in ids, and ids are unique in the response only.
func NewStreamWriter(w io.Writer, r *upstream.Request) *StreamWriter {
	return &StreamWriter{handler.NewStreamWriter(w, r, new(dialect), streamFor(handler.NewRequestID(), r))}
}

// NewEventWriter is NewStreamWriter for connections that carry messages, such as WebSockets.
// It calls send for each event of the stream with its name, such as "content_block_delta",
// and its data, which is one line of JSON. Ping sends an event, too.
//
// Calls of send do not overlap. If send returns an error, that is the error of Send, Ping or
// End, and send is not called again. It must not call methods of the StreamWriter.
func NewEventWriter(send func(name, data string) error, r *upstream.Request) *StreamWriter {
	return NewStreamWriter(handler.EventWriter(send), r)
}

// Send implements [upstream.Sink]. It writes all events of the format that it can complete,
// in at most one call of Write, and keeps no bytes for the next Send. The Write has one or
// more whole events, each ended by an empty line. After an error, which may be that of the
// io.Writer, it does nothing and returns the same error.
func (w *StreamWriter) Send(events []upstream.Event) error { return w.writer.Send(events) }

// Ping writes an event that keeps the connection open. Clients ignore it. It returns an
// error after End or after a failed Write.
func (w *StreamWriter) Ping() error { return w.writer.Ping() }

// End writes the end of the response in one call of Write: the normal end if err is nil, and
// otherwise the error event for err, as [EncodeError] encodes it. It must be called once. It
// returns err or, if that is nil, the first error of Send or of writing.
func (w *StreamWriter) End(err error) error { return w.writer.End(err) }

// Losses returns the losses so far, with neutral paths: those that arrived as events, which
// include all losses that the upstream reported, and those of this format. Each loss is in the
// list once. It has at most 1,000 losses, of which the most severe are kept.
func (w *StreamWriter) Losses() []content.Loss { return w.writer.Losses() }

// EncodeResponse returns the document for a response that is not streamed, and the losses of
// this format, with neutral paths. They do not include resp.Losses. r is the request that the
// client sent, or nil: see [NewStreamWriter]. Unlike a [Handler], EncodeResponse always
// encodes resp anew. It estimates the usage if r is not nil and servers of other formats
// reported none: see NoUsageFrom of [upstream.Response].
func EncodeResponse(r *upstream.Request, resp *upstream.Response) ([]byte, []content.Loss) {
	return handler.EncodeResponse(Format, r, resp, responseFor)
}

// EncodeError returns the response to a request that failed with err, which must not be
// nil: the HTTP status, the headers and the document. It encodes err as a [Handler] does if Generate
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
	res.write(w, nil)
	return w, losses
}

// newMessageID returns the id of a message for which the upstream has none. It is not that
// of the request, which a proxy may set and repeat.
func newMessageID() string { return "msg_" + rand.Text() }
