package upstreamtest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/echo"
	"github.com/polywire/polywire/upstream/upstreamtest"
)

// A host tests its Upstream with requests that the fake vendor behind it
// understands.
func Example() {
	TestUpstream := func(t *testing.T) {
		upstreamtest.Run(t, echo.New(), &upstreamtest.Options{
			Long:          prompt("echo: say " + strings.Repeat("word ", 300)),
			Invalid:       []*upstream.Request{prompt("echo: sing")},
			Fail:          []*upstream.Request{prompt("echo: cut")},
			Marked:        func(mark string) *upstream.Request { return prompt("echo: say " + mark) },
			Deterministic: true,
		})
	}
	_ = TestUpstream
}

// This Upstream ignores all parts but texts, without reporting a loss.
func ExampleCheck() {
	u := upstream.Func(func(_ context.Context, req *upstream.Request, w *upstream.Writer) error {
		for _, p := range req.LastParts() {
			if t, ok := p.(*content.Text); ok {
				if err := w.Text(t.Text); err != nil {
					return err
				}
			}
		}
		return nil
	})
	fmt.Println(upstreamtest.Check(context.Background(), u, &upstreamtest.Options{Deterministic: true}))
	// Output: unsupported: a part of an unknown kind at turns.0.parts.1 was dropped silently; return a *content.Violation or call Writer.Loss
}
