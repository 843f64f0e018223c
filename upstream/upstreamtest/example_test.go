package upstreamtest_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/echo"
	"github.com/polywire/polywire/upstream/upstreamtest"
)

// A host tests its own Upstream, a fake vendor behind it, with requests that
// the fake knows how to answer.
func Example() {
	TestUpstream := func(t *testing.T) {
		upstreamtest.Run(t, echo.New(), &upstreamtest.Options{
			Long:          tell("echo: repeat 300 word "),
			Silent:        tell("echo: stall 1h"),
			Bad:           []*upstream.Request{tell("echo: sing")},
			Fail:          []*upstream.Request{tell("echo: fail overloaded")},
			Marked:        func(mark string) *upstream.Request { return tell("echo: say " + mark) },
			Deterministic: true,
		})
	}
	_ = TestUpstream
}

// An Upstream that looks at texts only, and tells nobody about the rest.
func ExampleCheck() {
	u := upstream.Func(func(_ context.Context, req *upstream.Request, w *upstream.Writer) error {
		for _, p := range req.Last() {
			if t, ok := p.(*content.Text); ok {
				if err := w.Text(t.Text); err != nil {
					return err
				}
			}
		}
		return nil
	})
	fmt.Println(upstreamtest.Check(context.Background(), u, nil))
	// Output: unsupported: a part of an unknown kind at turns.0.parts.1 was dropped in silence: refuse it with a *content.Violation, or tell Writer.Loss
}
