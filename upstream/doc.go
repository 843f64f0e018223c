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
//	http.Handle("/", polywire.NewHandler(hello, nil))
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
// If Generate returns nil, the response is complete. A failure is an error: an [*Error] has
// a [Code] and a text, which the client receives in the error format of its API; a
// [*content.Violation] reports an invalid part of the request; any other error is logged, and
// the client receives an internal error without its text. After the first byte of the response
// the client receives the error in the stream. If a method of the Writer returns an error,
// Generate should return it. Package upstreamtest tests that an Upstream follows these rules.
//
// An Upstream that sends requests in another format reports what that format cannot
// represent with [Writer.Loss], before it sends anything. Writer.Loss returns an error if
// the request does not allow the loss: see HandlerOptions.RejectLoss. [Reads] does this for a
// model that does not read all of a request.
//
// # Optional methods
//
// An Upstream may also count tokens ([TokenCounter]), list its models ([ModelLister]),
// report losses in advance ([Preflighter]), encode requests without sending them
// ([RequestEncoder]) and report its wire format ([FormatReporter]). Call these methods
// through [CountTokens], [Models], [Preflight], [EncodeRequest] and [FormatOf], which find
// them in wrapped upstreams too. A type of the host that wraps an Upstream gets them by a
// method Unwrap() Upstream. If it changes requests or selects an Upstream, it needs optional
// methods of its own, which call the functions of the same name, as those of Edit and Mux do.
//
// # Combining upstreams
//
// These are upstreams that call others, so they can be nested: [Edit] changes requests before
// an Upstream receives them, [Tap] reads or changes the events of responses, [HoldText] their
// text in whole sentences. [Mux] selects by the name of the model, [First] by losses, [Failover]
// by errors, [Select] by a function of the host. A [Swap] is replaced while it is used.
//
// # Calling an upstream
//
// [Collect] returns a whole response, and [Events] an iterator over its events. Both use
// [Run], which sends events to a [Sink]. [Replay] makes an Upstream of a recorded or decoded
// response. Do not call Generate directly: only Run creates a Writer.
package upstream
