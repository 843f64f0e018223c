package upstream

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/polywire/polywire/content"
)

// HandlerOptions says how a host serves an Upstream, in whatever format. Each
// format's Options embed it. The zero value holds the defaults.
//
// If the context of a request ends because of a deadline of the host's, the client
// receives CodeTimeout. If the host cancels the context with a cause, also that of
// the server's BaseContext, the client receives the cause if it is an [*Error],
// and CodeUnavailable otherwise; after the first byte in the stream. A context
// that is canceled without a cause means that the client has left.
type HandlerOptions struct {
	// Limits bounds documents. Each format has its own defaults.
	Limits content.Limits

	// Timeouts bounds waiting.
	Timeouts Timeouts

	// Authenticate judges a request by the key that it carries, in whichever
	// place the format allows; key is empty if there is none. It returns the
	// context that reaches the Upstream, so that this knows who asks, or an
	// error: an [*Error] with CodeUnauthenticated or CodePermission is told in
	// the format's own way, and so is any other [*Error]; an error of another
	// type is an internal one. A nil context with no error stands for ctx.
	//
	// It is called before the body is read, and must not read it; it must be
	// safe for concurrent use. A request with two keys that differ is refused
	// without it. Nil lets everybody in. See [Keys].
	Authenticate func(ctx context.Context, r *http.Request, key string) (context.Context, error)

	// RequestID, if not nil, returns the id of a request, such as the one that an
	// edge has put into a header. The id is 1 to 128 bytes of visible ASCII; if
	// the function returns anything else, the empty string included, the handler
	// makes an id. It must be safe for concurrent use. See [RequestID].
	RequestID func(r *http.Request) string

	// Resolver finds the files that requests name by id or, in the words of a
	// vendor's store, by URI: every [*content.File]. It is asked once for each
	// file of a request, before the Upstream is called, and what it finds is
	// checked like a file in the request. Nil, and [content.ErrUnresolved] from
	// it, leave ids to the Upstream as they are. See [content.Files].
	Resolver content.Resolver

	// Links finds the files that requests name by a link: every [*content.URL].
	// Nil fetches them from their origin, with all the guards and limits of
	// package content/fetch. A host brings a Fetcher with other Options, or a
	// Resolver of its own; fetch.Off refuses all links.
	//
	// All links of a request are fetched, and what they bring is checked like a
	// file in the request, once nothing else is wrong with it and before the
	// Upstream is called, each once, several at a time. Nothing is fetched to
	// count tokens. The parts stay as they were, and [Request.Load] answers at
	// once. A Resolver that has a method Check(url string) error is asked about
	// the text of every link before any is fetched. One that has, as a Fetcher
	// has, Metered(arrived func(bytes int64) error) content.Resolver is bounded
	// by FileLimits and Budget while files come, others when they are there.
	Links content.Resolver

	// ForwardLinks leaves links to Upstreams that take them natively: none is
	// fetched before the Upstream asks for it with [Request.Load]. What the
	// text of a link shows to be forbidden is refused all the same.
	ForwardLinks bool

	// FileLimits bounds what Resolver and Links may do.
	FileLimits FileLimits

	// RejectLoss is the mildest loss that makes a request fail, before anything is
	// sent upstream; but what an adapter learns only from a server's refusal, of a
	// field that server does not take, fails it after that. Zero refuses none.
	RejectLoss content.Severity

	// OnLoss, if not nil, hears of losses as they happen. It must not block.
	OnLoss func(ctx context.Context, losses []content.Loss)

	// OnDone, if not nil, is called once for each request, those that middleware
	// answers with the handler's WriteError included, after the last byte
	// of the answer, with the values of the context that reached the Upstream
	// (or of the request's, if it did not get that far). That context has no
	// deadline and is not cancelled, whatever became of the request: what is
	// due then, such as a bill, is due although the client has left. So OnDone
	// bounds its own work. The handler waits for it. r is OnDone's to keep.
	OnDone func(ctx context.Context, r *Report)

	// Logger hears of what goes wrong, with causes that clients are not told,
	// but never a key or content: of panics, with the stack, and of failures of
	// the Upstream and of the host at LevelError or LevelWarn, of what clients
	// do wrong, and that they leave, at LevelDebug. Nil stands for
	// [slog.Default]; slog.New(slog.DiscardHandler) is silent.
	Logger *slog.Logger

	// Budget bounds what is in flight. Handlers that are given the same Budget
	// share it; nil gives each handler one of its own, with 512 MiB.
	Budget *Budget

	// ForwardHeaders names headers of clients, in any case, that go on to a vendor
	// of the same format, and never to another: adapters send them unless their own
	// Header has the name. Nil is the default of the format, in Messages
	// "anthropic-workspace-id" and "anthropic-user-profile-id", in content
	// generation none; an empty list that is not nil forwards none. Versions and
	// betas of a format go on in any case. A header that is not sent is reported as a
	// loss. Handlers refuse names of credentials, and of headers that belong to the
	// connection or the body, when they are built.
	ForwardHeaders []string

	// Strict refuses members and kinds that the format does not know. The
	// default is to keep them and pass them on.
	Strict bool
}

// FileLimits bounds the finding of files that are not in a request. A zero field
// stands for the default. Each file has limits besides: those of the format, and
// the Resolver's own.
type FileLimits struct {
	PerRequest int           // files of a request at a time: 8
	PerHandler int           // files of all requests of a handler at a time: 64
	Bytes      int64         // of all files of a request: 64 MiB
	Time       time.Duration // for all files of a request, before the Upstream is called: 60 s
}

// Timeouts bounds waiting. A zero field stands for the default.
type Timeouts struct {
	Body      time.Duration // for reading the body, from the headers on: 60 s
	FirstByte time.Duration // for the Upstream's first event, files included: 10 min
	Silence   time.Duration // between two events of the Upstream: 5 min
	Total     time.Duration // for one call of the Upstream: 60 min
	Write     time.Duration // for one write to the client: 30 s
	KeepAlive time.Duration // of silence in a stream before a keep-alive is sent: 15 s
	Grace     time.Duration // for an Upstream to return when it is told to: 1 s
}

// Report says how one request went: the base of logs, bills and metrics.
type Report struct {
	ID            string         // the request's id, as in the response's headers: see [RequestID]
	Format        content.Format // the front's
	Method        string         // HTTP method
	Path          string         // URL path, without the query
	Mode          string         // "stream", "plain", "count", "models", or empty if it did not get that far
	Model         string         // as asked
	ResponseModel string         // the model that answered, if it said so
	Upstream      string         // the name of the adapter that answered, failed, or was asked and has not answered in time; empty where unknown
	Status        int            // HTTP status; 499 if the client left before there was one
	Usage         content.Usage  // what the Upstream had reported by the end; if it reported nothing, an estimate with Estimated set
	Stop          Stop
	Losses        []content.Loss // each once, the first 1,000; further ones take the places of less severe ones
	Code          Code           // how it failed, CodeCanceled if the client left; empty if it did not fail
	Err           error          // why it failed, not for clients: its text has the cause, errors.As finds what the Upstream returned

	// UpstreamID is the id that the server behind the Upstream gave the exchange,
	// as in the response's header Upstream-Request-Id. It is empty where unknown.
	UpstreamID string

	Start     time.Time
	FirstByte time.Duration // until the first byte of the answer; 0 if there was none
	Duration  time.Duration
	BytesIn   int64
	BytesOut  int64
}

// Keys returns a function for HandlerOptions.Authenticate that lets in who has one of
// the given keys, compared in constant time. It panics if there is no key, or
// an empty one: that would let everybody in.
func Keys(keys ...string) func(context.Context, *http.Request, string) (context.Context, error) {
	if len(keys) == 0 {
		panic("upstream: Keys: no key")
	}
	digests := make([][sha256.Size]byte, len(keys))
	for i, k := range keys {
		if k == "" {
			panic("upstream: Keys: empty key")
		}
		digests[i] = sha256.Sum256([]byte(k))
	}
	return func(ctx context.Context, _ *http.Request, key string) (context.Context, error) {
		if key == "" {
			return nil, ErrNoKey
		}
		got := sha256.Sum256([]byte(key))
		ok := 0
		for i := range digests {
			ok |= subtle.ConstantTimeCompare(got[:], digests[i][:])
		}
		if ok == 0 {
			return nil, ErrBadKey
		}
		return ctx, nil
	}
}

// What Keys answers, told by each format in its own words.
var (
	ErrNoKey  error = &Error{Code: CodeUnauthenticated, Text: "no key"}
	ErrBadKey error = &Error{Code: CodeUnauthenticated, Text: "wrong key"}
)

// A Budget bounds the bytes of request bodies, and of the files that were found
// for them, and the requests that are in flight at once. A request of thousands of
// parts, or of hundreds of tools, takes more bytes than its body has: about 512 for each
// part, 2,048 for each tool and 128 for each value of a schema, but for the first MiB. A body whose length was
// promised counts as a whole once its beginning has come, since memory is taken
// for it then. A Budget is safe for concurrent use, and may be shared by
// handlers. The zero Budget allows 512 MiB and any number of requests.
type Budget struct {
	Bytes    int64 // of bodies and files; 0 means 512 MiB
	Requests int   // at once; 0 means no limit

	mu       sync.Mutex
	bytes    int64
	requests int
}

const defaultBudget = 512 << 20

// Enter takes the place of one request. It reports whether there was one.
// Leave gives it back.
func (b *Budget) Enter() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.Requests > 0 && b.requests >= b.Requests {
		return false
	}
	b.requests++
	return true
}

// Take takes n bytes. It reports whether there were so many.
func (b *Budget) Take(n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	limit := b.Bytes
	if limit == 0 {
		limit = defaultBudget
	}
	if n > limit-b.bytes {
		return false
	}
	b.bytes += n
	return true
}

// Leave gives back the place of one request and the bytes it took.
func (b *Budget) Leave(bytes int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.requests--
	b.bytes -= bytes
}

// InFlight returns what is taken now.
func (b *Budget) InFlight() (requests int, bytes int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.requests, b.bytes
}
