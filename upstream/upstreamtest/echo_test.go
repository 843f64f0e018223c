package upstreamtest_test

import (
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
	call := prompt("echo: weave look, look {\"at\":\"it\"}\n")
	call.Tools = []content.Tool{{Name: "look", Input: content.Schema{JSON: `{"type":"object"}`}}}
	think := prompt("Well?")
	think.Thinking.Mode = upstream.ThinkingAuto
	return &upstreamtest.Options{
		Text:          prompt("Hello!"),
		Long:          prompt("echo: repeat 300 wörd "),
		Silent:        prompt("echo: stall 1h"),
		Call:          call,
		Think:         think,
		Invalid:       []*upstream.Request{prompt("echo: sing"), prompt("echo: stop nowhere")},
		Fail:          []*upstream.Request{prompt("echo: fail overloaded"), prompt("echo: cut after 1")},
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
	t.Run("brief", func(t *testing.T) {
		o := echoOptions()
		o.Brief = true
		upstreamtest.Run(t, echo.New(), o)
	})
}
