// Tools wraps a model and runs its tools: the client sends a request, the model
// calls tools, the wrapper sends their results to the model, and the client
// receives only the last response.
//
//	go run ./examples/tools
//
// It sends two requests to the built-in model, one for a call of "add" and one
// for a call that fails, and prints the responses.
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
	for _, text := range []string{`echo: call add {"a":19,"b":23}`, `echo: call add {"a":"many","b":1}`} {
		response, err := upstream.Collect(ctx, model, &upstream.Request{
			Model: "demo",
			Tools: []content.Tool{{Name: "add", Input: content.Schema{JSON: `{"type":"object"}`}}},
			Turns: []content.Turn{{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: text}}}},
		})
		if err != nil {
			return err
		}
		for _, p := range response.Parts {
			if t, ok := p.(*content.Text); ok {
				fmt.Fprintf(out, "%s\n", t.Text)
			}
		}
	}
	return nil
}

// A tool accepts arguments and returns a result, both as JSON objects.
type tool func(ctx context.Context, input string) (result string, err error)

// add uses gjson and sjson, which are convenient for small documents.
func add(_ context.Context, input string) (string, error) {
	a, b := gjson.Get(input, "a"), gjson.Get(input, "b")
	if a.Type != gjson.Number || b.Type != gjson.Number {
		return "", errors.New("a and b must be numbers")
	}
	return sjson.Set("", "sum", a.Num+b.Num)
}

// maxRounds limits the requests to the model for one request of the client.
const maxRounds = 8

// withTools returns an Upstream that runs calls of the given tools. A call of
// another tool is for the client and ends the response.
func withTools(next upstream.Upstream, tools map[string]tool) upstream.Upstream {
	return upstream.Func(func(ctx context.Context, req *upstream.Request, w *upstream.Writer) error {
		var used content.Usage
		for range maxRounds {
			response, err := upstream.Collect(ctx, next, req)
			if err != nil {
				return err
			}
			used = used.Add(response.Usage)
			results, all := runTools(ctx, tools, response.Parts)
			if len(results) == 0 || !all {
				return write(response, used, w)
			}
			req = req.Clone()
			req.Turns = append(req.Turns,
				content.Turn{Role: content.RoleAssistant, Parts: response.Parts},
				content.Turn{Role: content.RoleUser, Parts: results})
		}
		return &upstream.Error{Code: upstream.CodeInternal, Err: fmt.Errorf("the model still calls tools after %d requests", maxRounds)}
	})
}

// runTools runs the calls in parts. all is false if one calls another tool.
func runTools(ctx context.Context, tools map[string]tool, parts []content.Part) (results []content.Part, all bool) {
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

// write writes a response, with the tokens of all requests.
func write(r *upstream.Response, used content.Usage, w *upstream.Writer) error {
	if err := w.Loss(r.Losses); err != nil {
		return err
	}
	if err := w.Start(r.Start); err != nil {
		return err
	}
	for _, p := range r.Parts {
		if err := w.Part(p); err != nil {
			return err
		}
	}
	if err := w.Usage(used); err != nil {
		return err
	}
	return w.Stop(r.Stop)
}
