package upstream

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"log/slog"
	"net/http"
	"time"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/reqctx"
)

// HandlerOptions configures a handler of any format. The Options of each format embed
// it. The zero value contains the defaults.
//
// If the context of a request ends because of a deadline of the host, the client
// receives CodeTimeout. If the host cancels the context with a cause, for example
// through the BaseContext of the server, the client receives the cause if it is an
// [*Error], and CodeUnavailable otherwise. After the first byte of the response these
// errors are sent in the stream. If the context is canceled without a cause, handlers
// assume that the client left.
type HandlerOptions struct {
	// Limits bounds request documents. Each format has its own defaults.
	Limits content.Limits

	// Timeouts bounds the time of each step of a request.
	Timeouts Timeouts

	// Authenticate checks the API key of a request. key is the key from any of the
	// places that the format allows, or empty. It returns the context for the Upstream,
	// which may identify the client, or an error. An [*Error], usually with
	// CodeUnauthenticated or CodePermission, is sent in the format's error form; any
	// other error is sent as an internal error. A nil context means ctx. A context beside
	// an error is that of the log and of OnDone: a host can return it for a client that
	// it knows and refuses, such as one above its limit.
	//
	// It is called before the body is read, must not read the body, and must be safe
	// for concurrent use. A request with two different keys is refused without calling
	// it. Nil accepts all requests. See [Keys].
	Authenticate func(ctx context.Context, r *http.Request, key string) (context.Context, error)

	// RequestID, if not nil, returns the id of a request, such as one that a proxy set
	// in a header. The id must be 1 to 128 bytes of visible ASCII; if it is not, or is
	// empty, the handler generates an id. It must be safe for concurrent use. See the
	// function [RequestID].
	RequestID func(r *http.Request) string

	// Resolver loads files that requests refer to by id or by a URI of a vendor's file
	// store: every [*content.File]. It is called once for each file of a request,
	// before the Upstream is called. The result is validated like a file in the
	// request. If Resolver is nil or returns [content.ErrUnresolved], the Upstream
	// receives the id. See [content.Files].
	Resolver content.Resolver

	// Links loads files that requests refer to by link: every [*content.URL]. Nil
	// fetches them from their origin with the restrictions and limits of package
	// content/fetch. Use a fetch.Fetcher with other Options to change these, fetch.Off
	// to refuse links, or any other Resolver.
	//
	// All links of a request are fetched before the Upstream is called, if the request
	// is otherwise valid. Each is fetched once, several at a time, and the results are
	// validated like files in the request. The parts of the request keep their links,
	// and [Request.Load] returns the files. Links are not fetched to count tokens.
	//
	// If Links has a method Check(url string) error, it is called for all links before
	// any is fetched. If Links has the method Metered(arrived func(bytes int64) error)
	// content.Resolver, as a Fetcher has, FileLimits and Budget are checked while a
	// file is received; otherwise when it is complete.
	Links content.Resolver

	// ForwardLinks allows an Upstream to send links to a vendor that fetches them. A
	// link is then fetched only when the Upstream calls [Request.Load] for it. Links
	// that the method Check of Links does not allow are still refused.
	ForwardLinks bool

	// FileLimits bounds the loading of files by Resolver and Links.
	FileLimits FileLimits

	// RejectLoss is the least severe loss that makes a request fail. The request fails
	// before anything is sent to a server, unless the loss is found only when a server
	// refuses a field. 0 allows all losses.
	RejectLoss content.Severity

	// OnLoss, if not nil, is called when losses are found. It must not block, and must
	// be safe for concurrent use.
	OnLoss func(ctx context.Context, losses []content.Loss)

	// OnDone, if not nil, is called once for each request, after the last byte of the
	// response. That includes requests for which middleware calls WriteError of the
	// handler. ctx has the values of the context that the Upstream received, or of the
	// request's context if the Upstream was not called. It has no deadline and is never
	// canceled, so that work such as billing is done even if the client left. The
	// handler waits for OnDone, so OnDone should bound its own time. OnDone may keep r.
	// It must be safe for concurrent use.
	OnDone func(ctx context.Context, r *Report)

	// Logger receives errors with their causes, but no keys and no content. Panics,
	// with the stack, and failures of the Upstream and of the host are logged at
	// LevelError or LevelWarn; errors of clients, and clients that leave, at
	// LevelDebug. Nil means [slog.Default]; slog.New(slog.DiscardHandler) disables the
	// log.
	Logger *slog.Logger

	// Budget bounds the requests and bytes in flight. Handlers with the same Budget
	// share it. Nil means a Budget of 512 MiB for this handler alone.
	Budget *Budget

	// ForwardHeaders lists headers of clients that upstreams of the same format send to
	// their server. The names are case-insensitive. If the Header of an adapter
	// contains the name, that value is sent instead. Versions and betas of a format are
	// always sent.
	//
	// Nil means the default of the format: "anthropic-workspace-id" and
	// "anthropic-user-profile-id" for Messages, no header for the other formats. An
	// empty list that is not nil forwards no header. A listed header that is not sent
	// is reported as a loss. Names of credentials, and of headers of the connection or
	// body, are not allowed: NewHandler panics.
	ForwardHeaders []string

	// ResponseHeaders lists headers of the Upstream that responses have: those of the Header of
	// a [Start] and of an [Error]. The names are case-insensitive. Headers about waiting and
	// rate limits that clients of the format know need no entry. Names that the connection, the
	// body or the handler use are not allowed: NewHandler panics.
	ResponseHeaders []string

	// Strict makes the handler refuse requests with members and kinds that the format
	// does not define, and apply rules that are known only from reports of errors. The
	// ValidateOptions of the format list them. By default such requests are sent to the
	// Upstream.
	Strict bool
}

// FileLimits bounds the loading of the files that a request refers to. A zero field
// means the default. Each file is also subject to the limits of the format and of the
// Resolver.
type FileLimits struct {
	PerRequest int           // concurrent files of a request; default 8
	PerHandler int           // concurrent files of all requests of a handler; default 64
	Bytes      int64         // of all files of a request; default 64 MiB
	Time       time.Duration // for all files of a request, before the Upstream is called; default 60 s
}

// Timeouts bounds the time of each step of a request. A zero field means the default.
type Timeouts struct {
	Body      time.Duration // to read the body after the headers; default 60 s
	FirstByte time.Duration // until the first event of the Upstream, including loading of files; default 10 min
	Idle      time.Duration // between two events of the Upstream; default 5 min
	Total     time.Duration // for a call of the Upstream; default 60 min
	Write     time.Duration // for a write to the client; default 30 s
	KeepAlive time.Duration // without output in a stream until a keep-alive is sent; default 15 s
	Grace     time.Duration // for the Upstream to return after its context is done; default 1 s
}

// A Report describes a request that is done, for logs, billing and metrics.
type Report struct {
	ID            string         // id of the request: see [RequestID]
	Format        content.Format // wire format of the handler
	Method        string         // HTTP method
	Path          string         // URL path, without the query, as UTF-8 without control characters; at most 4,096 bytes
	Mode          string         // "stream", "plain", "count" or "models"; empty if the request failed before that was known
	Model         string         // as requested
	ResponseModel string         // as the Upstream reported it; empty if unknown
	Upstream      string         // name of the adapter that responded, failed or timed out; empty if unknown
	Status        int            // HTTP status; 499 if the client left before a status was sent
	Usage         content.Usage  // last report of the Upstream; if it reported nothing, an estimate with Estimated set
	Stop          Stop
	Losses        []content.Loss // one for each reason, at most 1,000; later losses replace less severe ones
	Code          Code           // empty if the request succeeded; CodeCanceled if the client left
	Err           error          // nil if the request succeeded; contains causes, so not for clients; wraps the error of the Upstream

	// Attempts are the calls of upstreams by [Failover], in the order in which they
	// began. It is nil without a Failover. Upstream, Usage, Losses and the other fields
	// describe the chosen one only.
	Attempts []Attempt

	// UpstreamID is the id that the server of the Upstream gave the exchange, as sent
	// in the header Upstream-Request-Id. It is empty if unknown.
	UpstreamID string

	Start     time.Time
	FirstByte time.Duration // from Start to the first byte of the response; 0 if no byte was sent
	Duration  time.Duration // from Start to the end
	BytesIn   int64         // bytes of the request body
	BytesOut  int64         // bytes of the response body
}

// Keys returns a function for HandlerOptions.Authenticate that accepts requests that
// carry one of keys. It compares keys in constant time and returns [ErrNoKey] or
// [ErrBadKey] for other requests. Keys panics if keys is empty or contains an empty
// key, because that would accept all requests.
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

// ErrNoKey and ErrBadKey are the errors of the function that [Keys] returns. If Authenticate
// returns one of them, handlers send the status and the text that their format defines for it.
var (
	ErrNoKey  error = &Error{Code: CodeUnauthenticated, Text: "missing API key"}
	ErrBadKey error = &Error{Code: CodeUnauthenticated, Text: "invalid API key"}
)

// RequestID returns the id of the HTTP request that ctx belongs to. It returns "" if
// ctx does not come from a handler.
//
// The id is 1 to 128 bytes of visible ASCII. HandlerOptions.RequestID can provide it.
// The handler sends it to the client (Messages: header request-id, and request_id in
// errors; the other formats: header x-request-id), logs it as "request" and sets it in
// the [Report]. Every context that a handler passes on contains it: to Authenticate,
// upstreams, resolvers, OnLoss, OnDone and the Logger.
func RequestID(ctx context.Context) string { return reqctx.From(ctx).ID }

// ClientPath returns the place in the client's document of a neutral path, such as that of a
// [content.Loss] in OnLoss or in a [Report], as the client receives it. ctx is that of OnLoss or
// OnDone; with one that does not come from a handler the path is unchanged. See [Request.Path].
func ClientPath(ctx context.Context, neutral string) string {
	if f := reqctx.From(ctx).Path; f != nil {
		return f(neutral)
	}
	return neutral
}

// WithClient returns a context that identifies the client of a request to upstreams, for use in
// HandlerOptions.Authenticate. Clients with the same id share what a vendor keeps for them:
// [SessionKey], which [github.com/polywire/polywire/upstream/openai] sends as the key of a prompt
// cache, includes a digest of the id. The id itself is sent to no vendor.
//
// If Authenticate does not call it, the key of the request identifies the client. Call it if
// the keys of a tenant change often, such as tokens that expire, or if a tenant has several.
// With an empty id, and without Authenticate, all requests are those of one client.
func WithClient(ctx context.Context, id string) context.Context { return reqctx.WithClient(ctx, id) }
