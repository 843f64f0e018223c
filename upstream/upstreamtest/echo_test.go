package upstreamtest_test

import (
	"context"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/echo"
	"github.com/polywire/polywire/upstream/upstreamtest"
)

func prompt(text string) *upstream.Request {
	return &upstream.Request{
		Model: "echo",
		Turns: []content.Turn{{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: text}}}},
	}
}

func echoOptions() *upstreamtest.Options {
	call := prompt("echo: call look\necho: call look {\"at\":\"it\"}\n")
	call.Tools = []content.Tool{{Name: "look", Input: content.Schema{JSON: `{"type":"object"}`}}}
	return &upstreamtest.Options{
		Text:          prompt("Hello!"),
		Long:          prompt("echo: say " + strings.Repeat("wörd ", 300)),
		Call:          call,
		Invalid:       []*upstream.Request{prompt("echo: sing"), prompt("echo: call nothing")},
		Fail:          []*upstream.Request{prompt("echo: cut"), prompt("echo: say a\necho: cut")},
		Marked:        func(mark string) *upstream.Request { return prompt("echo: say so, " + mark) },
		Deterministic: true,
	}
}

func TestEcho(t *testing.T) {
	for name, u := range wrapped(echo.New()) {
		t.Run(name, func(t *testing.T) { upstreamtest.Run(t, u, echoOptions()) })
	}
	t.Run("without options", func(t *testing.T) {
		upstreamtest.Run(t, echo.New(), &upstreamtest.Options{Deterministic: true})
	})
	for name, u := range wrapped(echo.New()) {
		t.Run("only a model, "+name, func(t *testing.T) { upstreamtest.Run(t, u, &upstreamtest.Options{Model: "demo"}) })
	}
	t.Run("nil", func(t *testing.T) { upstreamtest.Run(t, echo.New(), nil) })
	t.Run("brief", func(t *testing.T) {
		o := echoOptions()
		o.Brief = true
		upstreamtest.Run(t, echo.New(), o)
	})
}

// The suite passes without options for a simple model, whose responses may differ.
func TestFuncWithoutOptions(t *testing.T) {
	var calls atomic.Int64
	shout := upstream.Func(func(_ context.Context, r *upstream.Request, w *upstream.Writer) error {
		for _, p := range r.LastParts() {
			if t, ok := p.(*content.Text); ok {
				for word := range strings.FieldsSeq(t.Text) {
					if err := w.Text(strings.ToUpper(word) + " "); err != nil {
						return err
					}
				}
			}
		}
		return w.Text(strconv.FormatInt(calls.Add(1), 10))
	})
	for name, u := range wrapped(shout) {
		t.Run(name, func(t *testing.T) { upstreamtest.Run(t, u, nil) })
	}
}
