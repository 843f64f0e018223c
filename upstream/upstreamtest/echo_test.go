package upstreamtest_test

import (
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/echo"
	"github.com/polywire/polywire/upstream/upstreamtest"
)

func tell(text string) *upstream.Request {
	return &upstream.Request{
		Model: "echo",
		Turns: []content.Turn{{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: text}}}},
	}
}

func echoOptions() *upstreamtest.Options {
	call := tell("echo: weave look, look {\"at\":\"it\"}\n")
	call.Tools = []content.Tool{{Name: "look", Input: content.Schema{JSON: `{"type":"object"}`}}}
	think := tell("Well?")
	think.Thinking.Mode = upstream.ThinkingAuto
	return &upstreamtest.Options{
		Text:          tell("Hello!"),
		Long:          tell("echo: repeat 300 wörd "),
		Silent:        tell("echo: stall 1h"),
		Call:          call,
		Think:         think,
		Bad:           []*upstream.Request{tell("echo: sing"), tell("echo: stop nowhere")},
		Fail:          []*upstream.Request{tell("echo: fail overloaded"), tell("echo: cut after 1")},
		Marked:        func(mark string) *upstream.Request { return tell("echo: say so, " + mark) },
		Deterministic: true,
	}
}

func TestEcho(t *testing.T) {
	for name, u := range wrapped(echo.New()) {
		t.Run(name, func(t *testing.T) { upstreamtest.Run(t, u, echoOptions()) })
	}
	t.Run("without options", func(t *testing.T) {
		// What reaches echo shows in its answers.
		upstreamtest.Run(t, echo.New(), &upstreamtest.Options{Deterministic: true})
	})
	t.Run("brief", func(t *testing.T) {
		o := echoOptions()
		o.Brief = true
		upstreamtest.Run(t, echo.New(), o)
	})
}
