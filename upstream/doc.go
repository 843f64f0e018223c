// Package upstream defines the interface that a program implements to serve a model
// with Polywire. The program that mounts the handlers is called the host.
//
// An [Upstream] generates the response to a request. One method serves all formats, for
// streamed and whole responses:
//
//	var hello = upstream.Func(func(ctx context.Context, req *upstream.Request, w *upstream.Writer) error {
//		return w.Text("Hello!")
//	})
//
//	http.Handle("/v1/", messages.NewHandler(hello, nil))
//
// The handlers of packages messages, generatecontent, openai/chatcompletions and
// openai/responses parse the requests of their format, call the Upstream and encode its
// response. [HandlerOptions] configures them: API keys, timeouts, limits, files and logs.
// [Handlers] serves several of them on one port.
//
// Packages anthropic, gemini and openai below this one contain adapters, which are
// upstreams that call the servers of vendors. Package echo contains an Upstream that
// needs no model and describes the request that it received.
//
// # Generate
//
// Generate writes the response with the methods of a [Writer] in the order in which the
// model produces them: [Writer.Text], [Writer.Thinking], [Writer.ToolCall],
// [Writer.Part]. The Writer opens and closes blocks as needed. Each method returns
// after its output was sent to the client. [Writer.Usage] reports tokens, and
// [Writer.Stop] a stop reason other than the default.
//
// If Generate returns nil, the response is complete. If a method of the Writer returns
// an error, Generate should return it. Package upstreamtest tests that an Upstream
// follows these rules.
//
// # Recorded responses
//
// [Replay] returns an Upstream that responds with frames that were recorded or decoded. A
// response of a server in one format becomes one in another with the StreamReader of the
// first and the StreamWriter of the second.
//
// # Errors
//
// Generate reports a failure by returning an error:
//
//   - an [*Error] has a [Code] and a text; the client receives both in the error format
//     of its API, with the HTTP status for the Code;
//   - a [*content.Violation] reports that a part of the request is invalid;
//   - any other error is logged; the client receives an internal error without its
//     text.
//
// Before the first byte of the response the client receives an HTTP error status. After
// it, the client receives the error in the stream.
//
// # Losses
//
// An Upstream that sends requests in another format reports what that format cannot
// represent with [Writer.Loss], before it sends anything. Writer.Loss returns an error if
// the request does not allow the loss: see HandlerOptions.RejectLoss. [Preflight] returns
// the losses of a request without sending it. The page docs/losses.md in the repository
// of this module lists all losses between the formats.
//
// # Optional methods
//
// An Upstream may also count tokens ([TokenCounter]), list its models ([ModelLister]),
// report losses in advance ([Preflighter]), encode requests without sending them
// ([RequestEncoder]) and report its wire format ([FormatReporter]). Call these methods
// through [CountTokens], [Models], [Preflight], [EncodeRequest] and [FormatOf], which find
// them in wrapped upstreams too. [CacheBreak] compares encoded requests.
//
// # Combining upstreams
//
// [Edit] changes requests before an Upstream receives them. [Tap] reads or changes
// responses. [Mux] selects an Upstream by the name of the model, [First] the first one
// of a list that can represent the request, and [Failover] the next one of a list if an
// Upstream fails. These return upstreams, so they can be nested.
//
// A type of the host that wraps an Upstream has these methods:
//
//	type wrapper struct{ next upstream.Upstream }
//
//	func (w wrapper) Generate(ctx context.Context, r *upstream.Request, to *upstream.Writer) error {
//		return w.next.Generate(ctx, r, to)
//	}
//
//	func (w wrapper) Unwrap() upstream.Upstream { return w.next }
//
// Unwrap gives it the optional methods of the wrapped Upstream. A wrapper that changes
// requests or that selects an Upstream needs optional methods of its own, which call the
// functions of the same name; Edit and Mux have them. A wrapper that also reads events
// is a Tap, or calls [Run] with its own Sink instead of Generate.
//
// # Calling an upstream
//
// [Collect] returns a whole response, and [Events] an iterator over its events. Both
// use [Run], which sends events to a [Sink]. Do not call Generate directly: only these
// functions create a Writer.
package upstream
