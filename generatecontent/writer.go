package generatecontent

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
// events, as for alt=sse.
//
// Send holds back the last part, of a text the last character, because the last response of the
// stream has a part and the finishReason. Ping writes white space within the next event, of which
// the first Ping writes the beginning: see [NewHandler].
//
// For an error, End writes in a call of its own what Send has held back, and then the error object
// twice, in two calls of Write: first as a bare object, then as an event. If a Ping has begun an
// event, the first completes that event, and the second is the bare object. Some clients read only
// one of the two, and those that read the bare object need it in a read of its own; the handler
// pauses between the two. The writers of [NewArrayWriter] and [NewEventWriter] write it once.
//
// r is the request that the client sent, as [DecodeRequest] returns it, with the Model that
// it asked for. It determines the name of the model, the estimates of the tokens, whether
// the client receives thinking, and whether it expects a signature on tool calls. r may be
// nil: then the client receives thinking, and no estimate.
//
// A client receives the thinking of servers of other formats, and of an Upstream of the
// host, only if its request asks for it: if the Display of r.Thinking is neither empty nor
// "omitted", such as "summarized" for includeThoughts. The state of omitted thinking is in
// the thoughtSignature of later parts.
func NewStreamWriter(w io.Writer, r *upstream.Request) upstream.StreamWriter {
	return newStreamWriter(w, inEvents, r)
}

// NewArrayWriter is NewStreamWriter for clients that read the stream as one JSON array, as
// for alt=json. Each element of the array is a response.
func NewArrayWriter(w io.Writer, r *upstream.Request) upstream.StreamWriter {
	return newStreamWriter(w, inArray, r)
}

// NewEventWriter is NewStreamWriter for connections that carry messages, such as WebSockets.
// It calls send for each response of the stream, and for the error object at the end, with
// one line of JSON. name is always empty. Ping sends nothing.
//
// Calls of send do not overlap. If send returns an error, that is the error of Send or End,
// and send is not called again. It must not call methods of the writer.
func NewEventWriter(send func(name, data string) error, r *upstream.Request) upstream.StreamWriter {
	return newStreamWriter(handler.EventWriter(send), inLines, r)
}

func newStreamWriter(w io.Writer, f framing, r *upstream.Request) upstream.StreamWriter {
	return handler.NewStreamWriter(w, r, new(dialect), streamFor(f, r))
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
// r is the request, which converts the paths of violations and names the model. It is nil if
// [DecodeRequest] has returned the error.
//
// header has the id of the request, the type of the document, and of an upstream.Error the
// RetryAfter and the Header, as a handler without ResponseHeaders sends them.
func EncodeError(r *upstream.Request, err error) (status int, header http.Header, body []byte) {
	d, t := new(dialect), new(target)
	if r != nil && r.Model != "" {
		t.name, t.method = "models/"+r.Model, "generateContent"
		if r.Stream {
			t.method = "streamGenerateContent"
		}
	}
	return handler.EncodeError(d, d.errorOf(t, false), r, err)
}

// streamFor returns the encoder of a streamed response to r, which may be nil.
func streamFor(f framing, r *upstream.Request) *stream {
	if r == nil {
		return newStream(f, newResponseID(), "")
	}
	s := newStream(f, newResponseID(), r.Model)
	s.blocks.expectation = expectationOf(r)
	s.prompt = func() int64 { return upstream.EstimateTokens(r) }
	return s
}

// responseFor encodes a whole response to r, which may be nil.
func responseFor(r *upstream.Request, resp *upstream.Response) (*jsonwire.Writer, []content.Loss) {
	model := ""
	if r != nil {
		model = r.Model
	}
	res, losses := convertResponse(resp, expectationOf(r))
	if res.ResponseID == "" {
		res.ResponseID = newResponseID()
	}
	res.ModelVersion = cmp.Or(res.ModelVersion, model)
	w := new(jsonwire.Writer)
	w.Grow(1 << 10)
	_ = res.write(w) // a converted response can always be encoded
	return w, losses
}

// newResponseID returns the id of a response for which the upstream has none. It is not that
// of the request, which a proxy may set and repeat.
func newResponseID() string { return rand.Text() }
