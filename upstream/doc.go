// Package upstream defines the interface between Polywire and the models of a host.
//
// An [Upstream] generates the response to a request. The handlers of packages
// messages and generatecontent parse the requests of their format, call an Upstream
// and encode its response, streamed or whole. An Upstream therefore serves all
// formats and both modes with one method:
//
//	var hello = upstream.Func(func(ctx context.Context, req *upstream.Request, w *upstream.Writer) error {
//		return w.Text("Hello!")
//	})
//
//	http.Handle("/v1/", messages.NewHandler(hello, nil))
//
// The packages below this one are ready-made upstreams: anthropic, gemini and openai
// call the servers of vendors, and echo describes the request that it received.
//
// # Generate
//
// Generate writes the response with the methods of a [Writer] in the order in which
// the model produces it: [Writer.Text], [Writer.Thinking], [Writer.ToolCall],
// [Writer.Part]. The Writer opens and closes blocks as needed. Each method returns
// after its output was sent to the client. [Writer.Usage] reports tokens, and
// [Writer.Stop] a stop reason other than the default.
//
// If Generate returns nil the response is complete. If a method of the Writer returns
// an error, Generate should return it. Package upstreamtest tests that an Upstream
// follows these rules.
//
// # Errors
//
// Generate reports a failure by returning an error:
//
//   - an [*Error] has a [Code] and a text for the client, who receives both in the
//     error format of the wire format, with the matching HTTP status;
//   - a [*content.Violation] is an error of the request, at a path;
//   - any other error is an internal error; its text is logged and not sent.
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
// report losses in advance ([Preflighter]) and report its wire format
// ([FormatReporter]). Call these methods through [CountTokens], [Models], [Preflight]
// and [FormatOf], which find them in wrapped upstreams too.
//
// # Combining upstreams
//
// [Edit] changes requests before an Upstream receives them. [Tap] reads or changes
// responses. [Mux] selects an Upstream by the name of the model, and [First] the first
// one of a list that can represent the request.
//
// # Calling an upstream
//
// [Collect] returns a whole response, and [Events] an iterator over its events. Both
// use [Run], which sends events to a [Sink]. Do not call Generate directly: only these
// functions create a Writer.
package upstream
