package handler

import (
	"context"
	"net/http"
	"time"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/upstream"
)

// An Encoder turns one streamed answer into bytes. It does no I/O, knows no
// clock, and is used by one goroutine at a time.
type Encoder interface {
	// ContentType is the stream's.
	ContentType() string

	// Events appends what events look like to the client. Appending nothing
	// means that there is nothing to say yet: no headers go out for it.
	Events(dst []byte, events []upstream.Event) []byte

	// Ping appends a sign of life. It is only called between two calls of the
	// others. Appending nothing means that only headers may be flushed now.
	Ping(dst []byte) []byte

	// End appends how the answer ends: well, if f is nil, else as the format
	// tells a failure after the first byte. Nothing comes after it.
	End(dst []byte, f *Failure) []byte

	// Lost returns what could not be said, as far as it was found since the
	// last call. Paths are neutral.
	Lost() []content.Loss
}

// A Failer is an Encoder that can fail: at a limit of its own. Err is asked
// after each call of Events; what was appended still goes out.
type Failer interface{ Err() error }

// A Repeater is an Encoder that reports a failure in two forms, because its
// clients each know only one of them. Repeat appends the second form. It is
// called right after End, and its bytes are written Call.Apart after those of
// End.
type Repeater interface {
	Repeat(dst []byte, f *Failure) []byte
}

// A Dialect is what one format says about everything around an answer. It must
// be safe for concurrent use.
type Dialect interface {
	// Format is the format's name.
	Format() content.Format

	// Route finds out from the path what a request wants. The error is a
	// [*Failure].
	Route(r *http.Request) (*Route, error)

	// Keys returns every key that the request carries, from all the places
	// that the format allows.
	Keys(r *http.Request) []string

	// Header sets what stands on every answer.
	Header(h http.Header, id string)

	// Forward reports whether a header of the upstream's vendor is for the
	// client. The name is in canonical form.
	Forward(name string) bool

	// Error tells a failure before the first byte.
	Error(id string, f *Failure) (status int, body []byte)

	// Path tells a neutral path, such as "turns.3.parts.1", in the format's
	// own words.
	Path(neutral string) string
}

// A Route is one thing that a format serves.
type Route struct {
	// Method is the one that is allowed. A POST has a body of JSON.
	Method string

	// Head judges the headers before the body is read.
	Head func(r *http.Request) error

	// Call makes a call of the body. The error may be a list of
	// [*content.Violation] in the format's own paths. id is the request's.
	Call func(id string, r *http.Request, body string) (*Call, error)

	// Error, if not nil, is used in place of the dialect's, from when the route
	// is known.
	Error func(id string, f *Failure) (status int, body []byte)
}

// A Call is a request that is ready to be answered.
type Call struct {
	// Request is what the upstream is asked; nil where Ask needs none.
	Request *upstream.Request

	// Cost is how many bytes of memory the request takes besides its body. They
	// are taken from the budget.
	Cost int64

	// Losses is what the front itself could not say of the request, in neutral
	// paths. Like the losses that an upstream tells first, it may be refused.
	Losses []content.Loss

	// Own, if not nil, is the error of a request that can only be answered by an
	// upstream that sends it in the dialect's own format: it depends on what that
	// format's vendor keeps. Fault is what is wrong with it for such an upstream.
	Own, Fault error

	// Files are those that the request names and does not hold, in the order of
	// the document. They are found before the upstream generates.
	Files []File

	// Ask, if not nil, finds the answer in another way than by generating it,
	// and Mode is what reports call that. The upstream is the server's.
	Ask  func(ctx context.Context, up upstream.Upstream) (*jsonwire.Writer, error)
	Mode string

	// Found are losses that Ask found, which sets them before it returns.
	Found []content.Loss

	// Upstream and UpstreamID are those of what Ask found, which sets them before it
	// returns: see [upstream.TokenCount].
	Upstream, UpstreamID string

	// Stream encodes a streamed answer; nil if the client wants it whole.
	Stream Encoder

	// Response writes a whole answer and says what could not be said.
	Response func(r *upstream.Response) (*jsonwire.Writer, []content.Loss)

	// Path, if not nil, is used in place of the dialect's: one that knows the
	// document.
	Path func(neutral string) string

	// Within, if not zero, is how long the client will wait, from when its
	// request came.
	Within time.Duration

	// Apart, if not zero, is how long a stream pauses before each form of a
	// failure, for clients that recognize it only in a read of its own.
	Apart time.Duration
}
