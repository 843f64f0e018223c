package handler

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/document"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/upstream"
)

// An Encoder encodes one streamed response. It does no I/O, reads no clock, and is
// used by one goroutine at a time.
type Encoder interface {
	// ContentType returns the media type of the stream.
	ContentType() string

	// Events appends the wire form of events. If it appends nothing before the first
	// byte, no headers are sent yet.
	Events(dst []byte, events []upstream.Event) []byte

	// Ping appends a keep-alive. It is called only between calls of the other
	// methods. If it appends nothing, the handler may flush only the headers.
	Ping(dst []byte) []byte

	// End appends the end of the response: a normal end if f is nil, or else the
	// format's error after the first byte. It is the last call, but for an
	// [ErrorRepeater].
	End(dst []byte, f *Failure) []byte

	// Losses returns the losses found since the last call, with neutral paths.
	Losses() []content.Loss
}

// A FallibleEncoder is an Encoder that can fail, such as at a limit. The handler
// calls Err after each call of Events, and writes the appended bytes in any case.
type FallibleEncoder interface{ Err() error }

// A KeepingEncoder is an Encoder that keeps what it has written until the end of the response.
// The handler counts the bytes that Kept returns against the budget. If there is no room for
// them, the response fails.
type KeepingEncoder interface{ Kept() int64 }

// A HoldingEncoder is an Encoder that holds back the end of the content, because what it
// writes depends on what follows. If the response fails after its first byte, the handler calls
// Flush, and writes the bytes, before it calls End.
type HoldingEncoder interface{ Flush(dst []byte) []byte }

// An ErrorRepeater is an Encoder that writes an error in two forms, because each
// client of its format recognizes only one of them. The handler calls Repeat right
// after End, and writes the bytes Operation.ErrorPause later.
type ErrorRepeater interface {
	Repeat(dst []byte, f *Failure) []byte
}

// A Protocol is the HTTP side of one format: its routes, keys, headers and errors.
// It must be safe for concurrent use.
type Protocol interface {
	// Format returns the name of the format.
	Format() content.Format

	// Route returns the route of a request. The error is a [*Failure].
	Route(r *http.Request) (*Route, error)

	// Owns reports whether a request for a path that several formats have is one of this format.
	Owns(r *http.Request) bool

	// Resembles reports whether a request looks like one of a client of this format: see
	// [upstream.FormatHandler].
	Resembles(r *http.Request) bool

	// Keys returns all keys in a request, from every place that the format allows.
	Keys(r *http.Request) []string

	// SetHeader sets the headers of every response.
	SetHeader(h http.Header, id string)

	// ForwardsHeader reports whether the format sends a header of the upstream's
	// vendor to clients. The name is in canonical form.
	ForwardsHeader(name string) bool

	// Error returns the response for a failure before the first byte.
	Error(id string, f *Failure) (status int, body []byte)

	// WirePath converts a neutral path, such as "turns.3.parts.1", to the format's
	// own style. It is for requests without a document, which has a Path of its own.
	WirePath(neutral string) string
}

// wirePath converts a neutral path of a request or its response to the style of p. r is
// the request, or nil if it is unknown.
func wirePath(p Protocol, r *upstream.Request, neutral string) string {
	if r != nil {
		if d := document.Of(r.Wire); d != nil && d.In == p.Format() && d.Parsed != nil {
			return r.Path(neutral)
		}
	}
	return p.WirePath(neutral)
}

// A Route is one endpoint of a format.
type Route struct {
	// Method is the allowed HTTP method. A POST has a JSON body.
	Method string

	// Shared reports that other formats have the path, too.
	Shared bool

	// CheckHeader validates the headers before the body is read. Nil accepts all.
	CheckHeader func(r *http.Request) error

	// Context makes the request that Parse receives have the context that Authenticate returned.
	Context bool

	// Parse returns the operation for a body. The error may be a list of
	// [*content.Violation] with wire paths. id is the id of the request.
	Parse func(id string, r *http.Request, body string) (*Operation, error)

	// Error, if not nil, replaces Protocol.Error for this route.
	Error func(id string, f *Failure) (status int, body []byte)
}

// An Operation is a parsed and validated request.
type Operation struct {
	// Request is the request for the upstream. It is nil if Run needs none.
	Request *upstream.Request

	// Memory is the memory that the parsed request takes besides its body, in bytes.
	// It counts against the budget.
	Memory int64

	// Losses are the losses that the handler itself found in the request, with
	// neutral paths. RejectLoss applies to them as to those of an upstream.
	Losses []content.Loss

	// Files are the files that the request references, in document order. They are
	// loaded before the upstream is called.
	Files []File

	// Run, if not nil, replaces the call of Generate. Mode names the operation in
	// reports.
	Run  func(ctx context.Context, up upstream.Upstream) (*jsonwire.Writer, error)
	Mode string

	// RunLosses are the losses that Run found. Run sets them before it returns.
	RunLosses []content.Loss

	// Upstream and UpstreamID name the upstream that responded to Run: see
	// [upstream.TokenCount]. Run sets them before it returns.
	Upstream, UpstreamID string

	// Stream encodes a streamed response. It is nil if the client wants a whole
	// response.
	Stream Encoder

	// Response encodes a whole response to r, which is Request, and returns the losses. It is
	// used if Stream is nil.
	Response func(r *upstream.Request, resp *upstream.Response) (*jsonwire.Writer, []content.Loss)

	// EncodeAnew makes the handler encode a whole response that came as a document of the
	// client's format, instead of sending that document.
	EncodeAnew bool

	// WithModel returns such a document with another name of the model, or "" if it has none. If
	// it is nil, the handler encodes the response anew for another name.
	WithModel func(doc, model string) string

	// Timeout, if not zero, is how long the client waits, counted from the start of
	// the request.
	Timeout time.Duration

	// ErrorPause, if not zero, is the pause before each form of an error in a
	// stream. Some clients recognize an error only if they read it separately.
	ErrorPause time.Duration

	// BreakPause, if not zero, is the pause between an error in a stream that has content
	// and the break of the connection: see [exchange.breakConnection].
	BreakPause time.Duration
}

// CountTokens makes c an operation that counts the tokens of its request. write
// writes the format's members of a count. The members that the upstream added to the
// count follow, except those for which taken returns true.
func (c *Operation) CountTokens(f content.Format, taken func(name string) bool, write func(*jsonwire.Writer, upstream.TokenCount)) {
	c.Mode = "count"
	c.Run = func(ctx context.Context, up upstream.Upstream) (*jsonwire.Writer, error) {
		n, err := upstream.CountTokens(ctx, up, c.Request)
		if err != nil {
			return nil, err
		}
		c.RunLosses, c.Upstream, c.UpstreamID = n.Losses, n.Upstream, n.UpstreamID
		w := new(jsonwire.Writer)
		w.BeginObject()
		write(w, n)
		if n.Extra != nil && n.Extra.Format == f {
			if err := w.MembersExcept(n.Extra.JSON, taken); err != nil {
				return nil, err
			}
		}
		w.EndObject()
		return w, nil
	}
}

// ListModels returns an operation that responds with what write makes of the upstream's
// models. unsupported is the text of the error if the upstream does not list its models.
func ListModels(unsupported string, write func(list []upstream.Model) (*jsonwire.Writer, error)) *Operation {
	return &Operation{Mode: "models", Run: func(ctx context.Context, up upstream.Upstream) (*jsonwire.Writer, error) {
		list, err := upstream.Models(ctx, up)
		switch {
		case errors.Is(err, upstream.ErrUnsupported):
			return nil, &Failure{Code: upstream.CodeNotFound, Text: unsupported, Err: err}
		case err != nil:
			return nil, err
		}
		return write(list)
	}}
}

// HeaderKeys returns the values of the header own, and the bearer tokens of
// Authorization.
func HeaderKeys(h http.Header, own string) []string {
	keys := slices.Clone(h.Values(own))
	for _, line := range h.Values("Authorization") {
		scheme, token, _ := strings.Cut(line, " ")
		if strings.EqualFold(scheme, "Bearer") {
			keys = append(keys, strings.TrimSpace(token))
		}
	}
	return keys
}
