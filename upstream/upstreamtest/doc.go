// Package upstreamtest tests that an implementation of [upstream.Upstream] follows the
// rules on which handlers and clients rely.
//
//	func TestUpstream(t *testing.T) {
//		upstreamtest.Run(t, mymodel.New(), &upstreamtest.Options{
//			Model: "my-model",
//			Call:  weatherRequest, // its response contains a tool call
//		})
//	}
//
// Outside of tests, [Check] runs the same checks and returns an error.
// [CheckPrefixes] checks that the turns of a conversation can use the prompt cache of a
// vendor.
//
// # Requests
//
// With nil Options, the requests are short English prompts. [Options] has fields for
// requests that make the Upstream think, call a tool, wait or fail. A check whose field
// is nil is skipped. A test with a fake model can usually set all fields.
//
// For a model that costs money, set Options.Brief: the suite then requests about six
// responses and cancels most of them early.
//
// # Checks
//
// Each check is a subtest of [Run]. The field Check of a [Failure] contains its name.
// Options.Skip lists the names of checks to skip.
//
//	response               responses contain text, and there is no error
//	sequence               events have the order that upstream.EventKind documents
//	stop                   a response has a stop reason that fits its parts
//	text                   joined texts and arguments are valid UTF-8
//	usage                  counts are totals: not negative, never smaller than before
//	calls                  tool calls have unique ids, tools of the request, complete arguments
//	thinking               thinking is in thinking blocks; signatures are not empty
//	stream                 plain and streamed responses have the same content
//	cancellation/before    the context ends before Generate is called
//	cancellation/silent    the context ends before anything is written
//	cancellation/midway    the context ends between two writes
//	cancellation/blocked   the context ends while a write blocks
//	writer                 Generate stops and returns the error when the Writer fails
//	backpressure           memory does not grow while a write blocks
//	late                   nothing is written after Generate has returned
//	leaks                  calls leave no goroutines, whether complete, canceled or failed
//	unsupported            a part of an unknown kind, a system text, an earlier turn or a tool is not dropped without a loss or an error
//	losses                 losses have a severity, a reason and a path; those of the request come first and respect Request.RejectLoss
//	invalid                the error for an invalid request is one of the request, not of the server
//	failures               other errors have a Code and a text for clients
//	readonly               the request is not changed
//	concurrency            concurrent responses do not mix
//	malformed              malformed requests cause no panic
//	count                  CountTokens returns a plausible number and generates nothing
//	models                 listed models have unique ids
//	preflight              Preflight and EncodeRequest report the losses that Generate reports, and Preflight sends nothing
//	secrets                events and errors contain none of Options.Secrets
//
// A panic in Generate fails the check that called it. A panic in a goroutine
// that the Upstream has started ends the process.
//
// # Time and goroutines
//
// An Upstream must return within Options.Grace after its context has ended or the
// Writer has failed. If it does not, the check fails and the goroutine of the call is
// left running. No other check depends on time. Other tests may run in parallel: the
// suite recognizes the goroutines of a call by a profiler label that they inherit. Only
// backpressure measures the whole process, namely its heap. Run and Check work in a
// bubble of testing/synctest if the Upstream does.
package upstreamtest
