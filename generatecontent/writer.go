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

// A StreamWriter is an [upstream.Sink] that writes a response as a stream of this format,
// without HTTP. Pass it to [upstream.Run], and then the error of Run to End:
//
//	w := generatecontent.NewStreamWriter(out, req)
//	err := w.End(upstream.Run(ctx, up, req, w))
//
// It writes the bytes that a [Handler] sends. Its methods may be called by several
// goroutines at once, except that Send and End must not overlap.
type StreamWriter struct{ writer *handler.StreamWriter }

// NewStreamWriter returns a StreamWriter that writes the response to r to w as server-sent
// events, as for alt=sse.
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
func NewStreamWriter(w io.Writer, r *upstream.Request) *StreamWriter {
	return newStreamWriter(w, inEvents, r)
}

// NewArrayWriter is NewStreamWriter for clients that read the stream as one JSON array, as
// for alt=json. Each element of the array is a response.
func NewArrayWriter(w io.Writer, r *upstream.Request) *StreamWriter {
	return newStreamWriter(w, inArray, r)
}

// NewEventWriter is NewStreamWriter for connections that carry messages, such as WebSockets.
// It calls send for each response of the stream, and for the error object at the end, with
// one line of JSON. name is always empty. Ping sends nothing.
//
// Calls of send do not overlap. If send returns an error, that is the error of Send or End,
// and send is not called again. It must not call methods of the StreamWriter.
func NewEventWriter(send func(name, data string) error, r *upstream.Request) *StreamWriter {
	return newStreamWriter(handler.EventWriter(send), inLines, r)
}

func newStreamWriter(w io.Writer, f framing, r *upstream.Request) *StreamWriter {
	return &StreamWriter{handler.NewStreamWriter(w, r, new(dialect), streamFor(f, r))}
}

// Send implements [upstream.Sink]. It writes all responses of the stream that it can
// complete, in at most one call of Write. It holds back the last part, of a text the last
// character, because the last response of the stream has a part and the finishReason. The
// Write has one or more whole events, each ended by an empty line, or elements of the array.
// After an error, which may be that of the io.Writer, it does nothing and returns the same error.
func (w *StreamWriter) Send(events []upstream.Event) error { return w.writer.Send(events) }

// Ping writes white space that keeps the connection open. Among events it is within the
// next event, of which the first Ping writes the beginning: see [Handler]. It returns an
// error after End or after a failed Write.
func (w *StreamWriter) Ping() error { return w.writer.Ping() }

// End writes the end of the response: the normal end if err is nil, in at most one call of
// Write. Otherwise it writes, in a call of its own, what Send has held back, and then the error
// object for err, as [EncodeError] encodes it. A writer of
// [NewStreamWriter] writes the error twice, in two calls of Write: first as a bare object,
// then as an event. If a Ping has begun an event, the first completes that event, and the
// second is the bare object. Some clients read only one of the two, and those that read the
// bare object need it in a read of its own; a [Handler] pauses between the two. The others
// write it once. End must be called once. It returns err or, if that is nil, the first error
// of Send or of writing.
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
	_ = res.write(w) // a converted response can always be encoded
	return w, losses
}

// newResponseID returns the id of a response for which the upstream has none. It is not that
// of the request, which a proxy may set and repeat.
func newResponseID() string { return rand.Text() }
