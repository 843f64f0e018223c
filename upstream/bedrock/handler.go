package bedrock

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"
	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream/eventstreamapi"
)

// Handler returns a handler that serves clients of the service with h, which must serve
// Messages as [github.com/polywire/polywire/messages.NewHandler] does. It serves POST
// …/model/{id}/invoke, …/invoke-with-response-stream and …/count-tokens under any prefix.
// The id is that of a model or of an inference profile, or an ARN, and may be escaped. h
// gets it as the name of the model. Every other request is passed to h unchanged.
//
// Handler does not check signatures: a host that relies on them must check them before.
// An API key of a client, such as that of AWS_BEARER_TOKEN_BEDROCK, is a bearer token, which
// h receives like any other: see Authenticate of
// [github.com/polywire/polywire/upstream.HandlerOptions]. Headers that select features of
// the service, such as its guardrails, have no effect unless h forwards them.
//
// h gets such a request at the path that Vertex AI has for it, whose body differs from that
// of Messages in the same way, so the body is not read before. The path in reports and logs
// of h is that path. An error of h becomes an exception of the service, also within a
// stream. A ping of h becomes a chunk or, before the first event of the message, an event
// of another type: SDKs of the vendor pass on the chunks, and require that the message
// begins with its first event.
func Handler(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		model, operation := parsePath(r.URL.Path)
		if operation == "" {
			h.ServeHTTP(w, r)
			return
		}
		inner := r.WithContext(r.Context())
		inner.URL = new(url.URL)
		*inner.URL = *r.URL
		switch r.Header.Get("Content-Type") {
		case "", "application/octet-stream": // the service's default, and that of the SDK for Go
			inner.Header = r.Header.Clone()
			inner.Header.Set("Content-Type", jsonType)
		}
		name, method := model, ":rawPredict"
		switch operation {
		case "invoke-with-response-stream":
			method = ":streamRawPredict"
		case "count-tokens":
			if !utf8.ValidString(model) || strings.ContainsFunc(model, unicode.IsControl) {
				break // h refuses the path; it would not refuse the body
			}
			name = operation
			if r.Body != nil {
				inner.Body = newCountBody(r.Body, model)
				if r.ContentLength <= maxCountBody { // else h refuses it unread
					inner.ContentLength = -1
				}
			}
		}
		const prefix = "/v1/projects/-/locations/-/publishers/anthropic/models/"
		inner.URL.Path, inner.URL.RawPath = prefix+name+method, prefix+url.PathEscape(name)+method
		out := &responseWriter{w: w, count: operation == "count-tokens"}
		h.ServeHTTP(out, inner)
		out.finish()
	})
}

// parsePath returns the id of the model in a path that is not escaped, and the operation.
// The operation is empty if the path is not one of the service.
func parsePath(path string) (model, operation string) {
	_, rest, _ := strings.Cut(path, "/model/")
	i := strings.LastIndexByte(rest, '/')
	if i <= 0 {
		return "", ""
	}
	switch operation := rest[i+1:]; operation {
	case "invoke", "invoke-with-response-stream", "count-tokens":
		return rest[:i], operation
	}
	return "", ""
}

// A responseWriter translates a response of Messages to one of the service.
type responseWriter struct {
	w        http.ResponseWriter
	count    bool // the response has a number of tokens
	status   int  // 0 before the header
	stream   bool
	whole    bool   // the document is translated once it is complete
	pending  []byte // of the document, or of an event
	encoder  *eventstream.Encoder
	frames   bytes.Buffer
	payload  []byte
	begun    bool // the stream has an event other than a ping
	finished bool // the document was written
}

func (o *responseWriter) Header() http.Header { return o.w.Header() }

// Unwrap lets an [http.ResponseController] set the deadlines of the connection.
func (o *responseWriter) Unwrap() http.ResponseWriter { return o.w }

// WriteHeader writes the header, except that of a document that is translated before.
func (o *responseWriter) WriteHeader(status int) {
	switch {
	case status < 200:
		o.w.WriteHeader(status)
		return
	case o.status != 0:
		return
	}
	o.status = status
	h := o.w.Header()
	if id := h.Get("Request-Id"); id != "" {
		h.Set("X-Amzn-Requestid", id)
	}
	if o.whole = status >= 400 || o.count; o.whole {
		return
	}
	if o.stream = strings.HasPrefix(h.Get("Content-Type"), "text/event-stream"); o.stream {
		h.Set("Content-Type", streamType)
		h.Set("X-Amzn-Bedrock-Content-Type", jsonType)
		o.encoder = eventstream.NewEncoder()
	}
	o.w.WriteHeader(status)
}

// Write writes the frames of complete events, or a part of a document.
func (o *responseWriter) Write(p []byte) (int, error) {
	if o.status == 0 {
		o.WriteHeader(http.StatusOK)
	}
	switch {
	case o.stream:
		return len(p), o.writeEvents(p)
	case !o.whole:
		return o.w.Write(p)
	}
	o.pending = append(o.pending, p...)
	if size, err := strconv.Atoi(o.w.Header().Get("Content-Length")); err == nil && len(o.pending) >= size && !o.finished {
		return len(p), o.writeDocument()
	}
	return len(p), nil
}

// FlushError implements the interface that [http.ResponseController] uses.
func (o *responseWriter) FlushError() error {
	if o.whole && !o.finished {
		return nil
	}
	return http.NewResponseController(o.w).Flush()
}

// Flush implements [http.Flusher].
func (o *responseWriter) Flush() { _ = o.FlushError() }

// finish writes a document without a Content-Length.
func (o *responseWriter) finish() {
	if o.whole && !o.finished {
		_ = o.writeDocument()
	}
}

// An errorObject is the error in a document of Messages.
type errorObject struct {
	Error struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	} `json:"error"`
}

// writeDocument writes an error, or a number of tokens, as the service does.
func (o *responseWriter) writeDocument() error {
	o.finished = true
	h := o.w.Header()
	var body []byte
	status := o.status
	var counted struct {
		Tokens *int64 `json:"input_tokens"`
	}
	if status < 400 && (json.Unmarshal(o.pending, &counted) != nil || counted.Tokens == nil) {
		status = http.StatusInternalServerError // the response is not one of Messages
	}
	if status < 400 {
		body = []byte(`{"inputTokens":` + strconv.FormatInt(*counted.Tokens, 10) + `}`)
	} else {
		var d errorObject
		_ = json.Unmarshal(o.pending, &d) // the status may be enough
		x := serviceError(d.Error.Type, status)
		h.Set("X-Amzn-Errortype", x.name)
		body, status = message(d.Error.Message), x.status
	}
	h.Set("Content-Type", jsonType)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	o.w.WriteHeader(status)
	return writeAll(o.w, body)
}

// writeAll writes b. Fewer bytes without an error are [io.ErrShortWrite].
func writeAll(w io.Writer, b []byte) error {
	n, err := w.Write(b)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	return err
}

// message returns the document of an error or an exception.
func message(text string) []byte {
	b, _ := json.Marshal(struct {
		Message string `json:"message"`
	}{text}) // a string can always be encoded
	return b
}

// serviceErrors are the errors of the service, by those of Messages. A refused prompt, whatever
// its status, is one that fails validation.
var serviceErrors = map[string]exception{
	"authentication_error":  {name: "UnrecognizedClientException", status: 403},
	"billing_error":         {name: "ServiceQuotaExceededException", status: 400},
	"invalid_request_error": {name: "ValidationException", status: 400},
	"not_found_error":       {name: "ResourceNotFoundException", status: 404},
	"overloaded_error":      {name: "ServiceUnavailableException", status: 503},
	"permission_error":      {name: "AccessDeniedException", status: 403},
	"rate_limit_error":      {name: "ThrottlingException", status: 429},
	"request_too_large":     {name: "ValidationException", status: 400},
	"conflict_error":        {name: "ValidationException", status: 400},
	"timeout_error":         {name: "ModelTimeoutException", status: 408},
}

// serviceError returns the error of the service for an error type of Messages.
func serviceError(kind string, status int) exception {
	if x, ok := serviceErrors[kind]; ok {
		return x
	}
	switch {
	case status == http.StatusServiceUnavailable:
		return exception{name: "ServiceUnavailableException", status: status}
	case status >= 400 && status < 500:
		return exception{name: "ValidationException", status: http.StatusBadRequest}
	}
	return exception{name: "InternalServerException", status: http.StatusInternalServerError}
}

// writeEvents writes a frame for each event that p completes.
func (o *responseWriter) writeEvents(p []byte) error {
	text := p
	if len(o.pending) > 0 {
		o.pending = append(o.pending, p...)
		text = o.pending
	}
	o.frames.Reset()
	for {
		event, rest, ok := bytes.Cut(text, []byte("\n\n"))
		if !ok {
			break
		}
		if err := o.encode(event); err != nil {
			return err
		}
		text = rest
	}
	o.pending = append(o.pending[:0], text...)
	if o.frames.Len() == 0 {
		return nil
	}
	return writeAll(o.w, o.frames.Bytes())
}

// encode appends the frame of an event to frames.
func (o *responseWriter) encode(event []byte) error {
	var name, data []byte
	for line := range bytes.SplitSeq(event, []byte("\n")) {
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "event":
			name = value
		case "data":
			if data != nil { // spans lines
				data = append(append(bytes.Clone(data), '\n'), value...)
			} else {
				data = value
			}
		}
	}
	switch {
	case len(data) == 0:
		return nil
	case string(name) == "ping" && !o.begun:
		return o.encoder.Encode(&o.frames, eventstream.Message{Headers: pingHeaders, Payload: data})
	case string(name) == "error":
		var d errorObject
		_ = json.Unmarshal(data, &d) // the type may be enough
		name := serviceError(d.Error.Type, 0).name
		return o.encoder.Encode(&o.frames, eventstream.Message{Payload: message(d.Error.Message), Headers: eventstream.Headers{
			{Name: eventstreamapi.ExceptionTypeHeader, Value: eventstream.StringValue(strings.ToLower(name[:1]) + name[1:])},
			{Name: eventstreamapi.ContentTypeHeader, Value: eventstream.StringValue(jsonType)},
			{Name: eventstreamapi.MessageTypeHeader, Value: eventstream.StringValue(eventstreamapi.ExceptionMessageType)},
		}})
	}
	o.begun = true
	o.payload = append(o.payload[:0], `{"bytes":"`...)
	o.payload = base64.StdEncoding.AppendEncode(o.payload, data)
	o.payload = append(o.payload, `"}`...)
	return o.encoder.Encode(&o.frames, eventstream.Message{Headers: chunkHeaders, Payload: o.payload})
}

// Headers of frames with an event of the message, and of pings before them.
var (
	chunkHeaders = eventHeaders("chunk")
	pingHeaders  = eventHeaders("ping")
)

func eventHeaders(kind string) eventstream.Headers {
	return eventstream.Headers{
		{Name: eventstreamapi.EventTypeHeader, Value: eventstream.StringValue(kind)},
		{Name: eventstreamapi.ContentTypeHeader, Value: eventstream.StringValue(jsonType)},
		{Name: eventstreamapi.MessageTypeHeader, Value: eventstream.StringValue(eventstreamapi.EventMessageType)},
	}
}
