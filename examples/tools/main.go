// Tools is a service that runs its tools itself: the client asks, the model
// calls, the service answers the calls, and the client sees only the end.
//
//	go run ./examples/tools
//
// It asks the embedded model twice, once through a call of "add" and once
// through a call that fails, and prints what comes back.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/echo"
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer) error {
	model := withTools(echo.New(), map[string]tool{"add": add})
	for _, ask := range []string{`echo: call add {"a":19,"b":23}`, `echo: call add {"a":"many","b":1}`} {
		reply, err := upstream.Collect(ctx, model, &upstream.Request{
			Model: "demo",
			Tools: []content.Tool{{Name: "add", Input: content.Schema{JSON: `{"type":"object"}`}}},
			Turns: []content.Turn{{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: ask}}}},
		})
		if err != nil {
			return err
		}
		for _, p := range reply.Parts {
			if t, ok := p.(*content.Text); ok {
				fmt.Fprintf(out, "%s\n", t.Text)
			}
		}
	}
	return nil
}

// A tool takes its arguments as a JSON object and returns its result as one.
type tool func(ctx context.Context, input string) (result string, err error)

// add shows what gjson and sjson are for: a few members of a small document.
func add(_ context.Context, input string) (string, error) {
	a, b := gjson.Get(input, "a"), gjson.Get(input, "b")
	if a.Type != gjson.Number || b.Type != gjson.Number {
		return "", errors.New("a and b must be numbers")
	}
	return sjson.Set("", "sum", a.Num+b.Num)
}

// maxRounds bounds how often the model is asked before it has to have an answer.
const maxRounds = 8

// withTools returns an upstream that answers calls of these tools by itself.
// Calls of any other tool are the client's, and end the answer as usual.
func withTools(next upstream.Upstream, tools map[string]tool) upstream.Upstream {
	return upstream.Func(func(ctx context.Context, req *upstream.Request, w *upstream.Writer) error {
		var used content.Usage
		for range maxRounds {
			reply, err := upstream.Collect(ctx, next, req)
			if err != nil {
				return err
			}
			used.Input, used.Output = used.Input+reply.Usage.Prompt(), used.Output+reply.Usage.Answer()
			results, all := answer(ctx, tools, reply.Parts)
			if len(results) == 0 || !all {
				return tell(reply, used, w)
			}
			req = req.Clone()
			req.Turns = append(req.Turns,
				content.Turn{Role: content.RoleAssistant, Parts: reply.Parts},
				content.Turn{Role: content.RoleUser, Parts: results})
		}
		return &upstream.Error{Code: upstream.CodeInternal, Err: fmt.Errorf("no answer after %d rounds of calls", maxRounds)}
	})
}

// answer runs the calls among parts. all is false if one is of another's tool.
func answer(ctx context.Context, tools map[string]tool, parts []content.Part) (results []content.Part, all bool) {
	all = true
	for _, p := range parts {
		call, ok := p.(*content.ToolUse)
		if !ok {
			continue
		}
		run := tools[call.Name]
		if run == nil {
			all = false
			continue
		}
		result := &content.ToolResult{ID: call.ID, Name: call.Name}
		text, err := run(ctx, call.Input)
		if err != nil {
			text, result.Error = err.Error(), true
		}
		result.Parts = []content.Part{&content.Text{Text: text}}
		results = append(results, result)
	}
	return results, all
}

// tell passes a whole reply on, with what all rounds have used.
func tell(reply *upstream.Response, used content.Usage, w *upstream.Writer) error {
	if err := w.Loss(reply.Losses); err != nil {
		return err
	}
	if err := w.Start(reply.Start); err != nil {
		return err
	}
	for _, p := range reply.Parts {
		if err := w.Part(p); err != nil {
			return err
		}
	}
	if err := w.Usage(used); err != nil {
		return err
	}
	return w.Stop(reply.Stop)
}
