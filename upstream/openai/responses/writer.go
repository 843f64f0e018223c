package responses

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
// events. A free-form call at the end of the content waits for the next event, because the
// response may have been cut in it. Ping writes a comment. For an error End writes the events "error"
// and "response.failed", which both have its code and its message.
//
// r is the request that the client sent, as [DecodeRequest] returns it. It determines
// whether the client receives reasoning items, where state of vendors is carried, which tools
// may be called, the settings that the response repeats, the name of the model, and the ids of
// tool calls, which do not repeat those of the conversation. If r is nil, the client receives
// reasoning, state is carried in the ids of tool calls, and ids are unique in the response only.
func NewStreamWriter(w io.Writer, r *upstream.Request) upstream.StreamWriter {
	return handler.NewStreamWriter(w, r, new(dialect), newStream(r))
}

// NewEventWriter is NewStreamWriter for connections that carry messages, such as WebSockets.
// It calls send for each event of the stream with its type, such as
// "response.output_text.delta", and its data, which is one line of JSON. Ping sends nothing, and
// there is no "[DONE]" at the end.
//
// Calls of send do not overlap. If send returns an error, that is the error of Send or End, and
// send is not called again. It must not call methods of the writer.
func NewEventWriter(send func(name, data string) error, r *upstream.Request) upstream.StreamWriter {
	s := newStream(r)
	s.messages = true
	return handler.NewStreamWriter(handler.EventWriter(send), r, new(dialect), s)
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

// newStream returns the encoder of a streamed response to r, which may be nil.
func newStream(r *upstream.Request) *encoder {
	s := encoderFor(r)
	s.init(turnsOf(r))
	return s
}

// responseFor encodes a whole response to r, which may be nil.
func responseFor(r *upstream.Request, resp *upstream.Response) (*jsonwire.Writer, []content.Loss) {
	return newWhole(r).convertResponse(resp)
}

// newWhole returns the encoder of a whole response to r, which may be nil.
func newWhole(r *upstream.Request) *encoder {
	s := encoderFor(r)
	s.whole = true
	s.init(turnsOf(r))
	return s
}

// encoderFor returns an encoder for a response to r, which may be nil.
func encoderFor(r *upstream.Request) *encoder {
	now := time.Now
	s := &encoder{id: responsePrefix + rand.Text(), created: now().Unix(), now: now}
	if r != nil {
		s.model = r.Model
		s.expectation = expectationOf(r)
		s.settings = settingsOf(r)
		s.compacting = snapshot.Parsed[*Request](r).wantsSummaryItem()
	}
	return s
}

func turnsOf(r *upstream.Request) []content.Turn {
	if r == nil {
		return nil
	}
	return r.Turns
}

// responsePrefix is the prefix of the ids of responses.
const responsePrefix = "resp_"
