// Package upstreamtest checks that an [upstream.Upstream] keeps the promises
// that handlers and clients rely on. A host runs it on its own:
//
//	func TestUpstream(t *testing.T) {
//		upstreamtest.Run(t, mymodel.New(), &upstreamtest.Options{
//			Model: "my-model",
//			Call:  weatherRequest, // a request that is answered with a call
//		})
//	}
//
// Outside of tests [Check] does the same, and returns what is wrong.
//
// # What is asked
//
// With nil Options the requests are simple ones in plain English, which a real
// model can answer as well as a fake. The suite cannot know how to make an
// Upstream think, call a tool, wait or fail: who can do it says with which
// request in the [Options], and checks that lack theirs are skipped. A fake
// that is scripted by the text of its prompt can fill in all of them. A model
// that costs money is asked with Brief set: then some six answers are
// begun, most of which are cut off at once.
//
// # The checks
//
// Each is a subtest of Run, and the Check of a [Failure].
//
//	answer                 requests are answered, without an error
//	sequence               events come in the order that upstream.EventKind describes
//	stop                   the answer says why it ended, and that fits what is in it
//	text                   texts and arguments are UTF-8 when put together
//	usage                  counts are not negative, do not shrink, and the last one is whole
//	calls                  calls have ids that differ, names of tools that the request has, and whole arguments
//	thinking               thoughts come as such, and signatures are not empty
//	stream                 plain and streamed answers say the same
//	cancellation/before    a context that ended before the call
//	cancellation/silent    one that ends before anything was written
//	cancellation/midway    one that ends between two pieces
//	cancellation/blocked   one that ends while the client takes nothing
//	writer                 an error of the Writer ends the answer and is returned
//	backpressure           a client that takes nothing does not fill the memory
//	late                   nothing is written after Generate returned
//	leaks                  no goroutine is left by a call, be it whole, cancelled or failed
//	unsupported            a part of an unknown kind is not dropped in silence
//	losses                 losses have a severity, a reason and a place; the request's come first, and Request.RejectLoss is heeded
//	refusals               faults of a request are told as such
//	failures               failures have a Code, and no text of Go's or of the inside
//	readonly               the request is what it was
//	concurrency            answers at the same time do not mix
//	odd                    odd requests do not make it panic
//	count                  counting tokens counts, and does not generate
//	models                 listed models have ids that differ
//	preflight              Preflight tells the losses that Generate reports, and sends nothing
//	secrets                nothing marked as secret is in anything that clients see
//
// A panic in Generate is a failure of the check that met it. A panic in a
// goroutine that the Upstream starts ends the process, as it does everywhere.
//
// # Time and goroutines
//
// Nothing is timed but what would not end otherwise: an Upstream is to return
// within Options.Grace of being told to. An Upstream that does not is left
// behind, and its goroutine with it. Goroutines are told apart by a profiler
// label that they inherit, so other tests may run at the same time; only for
// backpressure, which looks at the size of the heap, they had better not.
// The suite runs in a testing/synctest bubble if the Upstream does.
package upstreamtest
