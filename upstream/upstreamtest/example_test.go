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

// This Upstream reads the texts of the last turn only. Alone it drops everything else silently.
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
	o := &upstreamtest.Options{Deterministic: true}
	fmt.Println(upstreamtest.Check(context.Background(), u, o))
	fmt.Println(upstreamtest.Check(context.Background(), upstream.Reads(u), o))
	// Output:
	// unsupported: a part of an unknown kind at turns.0.parts.1 was dropped silently; use upstream.Reads, call Writer.Loss or return a *content.Violation
	// unsupported: a system text at system.0 was dropped silently; use upstream.Reads, call Writer.Loss or return a *content.Violation
	// unsupported: an earlier turn at turns.0 was dropped silently; use upstream.Reads, call Writer.Loss or return a *content.Violation
	// unsupported: a tool at tools.0 was dropped silently; use upstream.Reads, call Writer.Loss or return a *content.Violation
	// <nil>
}
