package upstreamtest

import (
	"cmp"
	"context"
	"time"

	"github.com/polywire/polywire/upstream"
)

// Options configures the requests of the suite. The zero value is ready to use. The
// suite does not change the requests. For a nil request, it uses the default or skips
// the checks that need it.
type Options struct {
	// Model is the model of the default requests. The default is the first
	// model that the Upstream lists, or "test" if it lists none.
	Model string

	// Text is a request whose response contains text. The default asks for a short
	// sentence.
	Text *upstream.Request

	// Long is a request whose response contains text in many pieces. The default asks
	// to count to 200.
	Long *upstream.Request

	// Silent is a request to which the Upstream writes nothing until the context ends.
	// It has no default.
	Silent *upstream.Request

	// Call is a request with tools whose response contains a tool call. Think is a
	// request whose response contains thinking. They have no default.
	Call, Think *upstream.Request

	// Lossy is a request that the Upstream cannot represent without a loss. The default
	// uses many features; for some upstreams it has no loss.
	Lossy *upstream.Request

	// Invalid contains requests that the Upstream must reject as invalid. Fail contains
	// requests that fail for another reason, such as an overloaded model. They have no
	// default.
	Invalid, Fail []*upstream.Request

	// Marked returns a request whose response contains the word mark, and not the mark
	// of any other request. If Marked is nil, concurrent responses are compared only if
	// Deterministic is set.
	Marked func(mark string) *upstream.Request

	// Deterministic declares that equal requests have equal responses, streamed or not,
	// and that a change of any text, turn, part or tool that is sent to the model changes the
	// response. Without it the suite skips the checks that compare two responses, among them
	// whether a system text, an earlier turn or a tool is dropped silently. Whether settings are
	// read is not checked: see [upstream.Reads].
	Deterministic bool

	// Brief reduces the number of responses to about six, and skips the checks that
	// need more.
	Brief bool

	// Secrets lists texts that no event and no error may contain, such as keys, host
	// names and paths.
	Secrets []string

	// Skip lists the names of checks to skip.
	Skip []string

	// Grace is how long the Upstream may take to return after its context has
	// ended or the Writer has failed. The default is 5 s. Handlers wait 1 s by
	// default.
	Grace time.Duration

	// Timeout limits one response. The default is 2 minutes.
	Timeout time.Duration

	// Buffer is how many bytes the heap may grow while a write of the response
	// to Long blocks. The default is 8 MiB.
	Buffer int64
}

// withDefaults returns a copy with all defaults set.
func (o *Options) withDefaults(ctx context.Context, u upstream.Upstream) Options {
	var f Options
	if o != nil {
		f = *o
	}
	f.Grace = cmp.Or(f.Grace, 5*time.Second)
	f.Timeout = cmp.Or(f.Timeout, 2*time.Minute)
	f.Buffer = cmp.Or(f.Buffer, 8<<20)
	if f.Model == "" {
		f.Model = firstModel(ctx, u, f.Grace)
	}
	if f.Text == nil {
		f.Text = textRequest(f.Model, "Say hello in one short sentence.")
	}
	if f.Long == nil {
		f.Long = textRequest(f.Model, "Count from 1 to 200, each number on a line of its own, and write nothing else.")
	}
	return f
}

func firstModel(ctx context.Context, u upstream.Upstream, d time.Duration) string {
	list, err := within(ctx, d, func(ctx context.Context) ([]upstream.Model, error) {
		return upstream.Models(ctx, u)
	})
	if err != nil || len(list) == 0 || list[0].ID == "" {
		return "test" // the models check reports the problem
	}
	return list[0].ID
}
