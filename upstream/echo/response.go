package echo

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/violation"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/script"
)

const (
	prefix     = "echo: "
	tokenBytes = 4 // of texts and arguments, as package script estimates them
)

// A response is the response to a request as a script.
type response struct {
	*description
	steps  script.Reply
	isText bool  // the last step is a text
	called bool  // a tool
	room   int64 // bytes until MaxTokens
	ended  bool  // by MaxTokens or a stop sequence
}

// respond returns the response to a request: that of the commands in the texts of the user's
// last turn, or else what the request asks for.
func respond(d *description) (script.Reply, error) {
	p := &response{description: d, room: math.MaxInt64}
	if n := d.req.MaxTokens; n != nil && *n < math.MaxInt64/tokenBytes {
		p.room = max(*n, 0) * tokenBytes
	}
	var violations violation.List
	commands := false
	for i, part := range d.last {
		t, ok := part.(*content.Text)
		if !ok || !strings.Contains(t.Text, prefix) {
			continue
		}
		for line := range strings.Lines(t.Text) {
			if line, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), prefix); ok {
				commands = true
				if err := p.execute(line); err != nil {
					violations.Add(content.CodeValue, at(d.lastPath, i), "echo: "+err.Error())
				}
			}
		}
	}
	if err := violations.Err(); err != nil {
		return nil, err
	}
	if !commands {
		p.complete()
	}
	return p.steps, p.illustrate()
}

// execute adds the step of a command.
func (p *response) execute(line string) error {
	verb, rest, _ := strings.Cut(line, " ")
	switch verb {
	case "say":
		p.say(rest)
	case "call":
		name, input, _ := strings.Cut(strings.TrimSpace(rest), " ")
		i := slices.IndexFunc(p.req.Tools, func(t content.Tool) bool { return t.Kind == "" && t.Name == name }) // one pass
		switch {
		case i < 0 || name == "":
			return fmt.Errorf("call: the request has no tool %q", clip(name, 64))
		case p.req.Choice.Mode == content.ChoiceNone:
			return errors.New("call: the tool choice of the request does not allow tool calls")
		case input == "":
			input = arguments(&p.req.Tools[i])
		case !p.req.Tools[i].Freeform && !jsonwire.ValidObject(input):
			return errors.New("call: the arguments must be a JSON object")
		}
		p.call(name, input)
	case "cut":
		p.add(script.Cut())
	default:
		return fmt.Errorf("%q is not a command; the commands are call, cut and say", clip(verb, 32))
	}
	return nil
}

// complete adds the texts or the tool call of a response without commands.
func (p *response) complete() {
	r, results := p.req, p.results.String()
	texts := !wants(r, "image") || wants(r, "text")
	tool := p.forcedTool()
	switch {
	case texts && r.Output.Schema.JSON != "":
		p.say(instance(r.Output.Schema.JSON))
	case texts && r.Output.MediaType == "application/json":
		p.say(string(jsonwire.AppendString([]byte(`{"echo":`), p.text)) + "}")
	case texts && results != "":
		p.say(results + "\n" + p.text)
	case tool >= 0 && results == "":
		p.call(r.Tools[tool].Name, arguments(&r.Tools[tool]))
	case texts:
		p.say(p.text)
	}
}

// illustrate adds an image if the request wants one and the response has no tool call.
func (p *response) illustrate() error {
	if !wants(p.req, "image") || p.called {
		return nil
	}
	picture, err := draw(p.req.Output.AspectRatio, p.text)
	if err != nil {
		return &content.Violation{Code: content.CodeValue, Path: "output.aspect_ratio", Text: err.Error()}
	}
	p.add(script.Part(picture))
	return nil
}

// add adds a step unless the response has ended.
func (p *response) add(s script.Step) {
	if !p.ended {
		p.steps, p.isText = append(p.steps, s), false
	}
}

// end ends the response.
func (p *response) end(s upstream.Stop) {
	p.add(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error { return w.Stop(s) })
	p.ended = true
}

// say adds a text, up to the first stop sequence or MaxTokens. A line break separates it from
// another text before it.
func (p *response) say(text string) {
	if p.ended {
		return
	}
	if p.isText {
		text = "\n" + text
	}
	end, stop := len(text), upstream.Stop{}
	for _, s := range p.req.StopSequences {
		if i := strings.Index(text[:end], s); i >= 0 && s != "" {
			end, stop = i, upstream.Stop{Reason: content.StopSequence, Sequence: s}
		}
	}
	if int64(end) > p.room {
		stop = upstream.Stop{Reason: content.StopMaxTokens}
		for end = int(p.room); end > 0 && !utf8.RuneStart(text[end]); {
			end--
		}
	}
	p.room -= int64(end)
	p.add(script.Say(text[:end]))
	if p.isText = true; stop.Reason != "" {
		p.end(stop)
	}
}

// call adds a tool call if MaxTokens has room for its arguments.
func (p *response) call(name, input string) {
	p.called = true
	if int64(len(input)) > p.room {
		p.end(upstream.Stop{Reason: content.StopMaxTokens})
		return
	}
	p.room -= int64(len(input))
	p.add(script.Call(name, input))
}

// forcedTool returns the index of the tool that must be called, or -1.
func (p *response) forcedTool() int {
	c := &p.req.Choice
	named := make(map[string]bool, len(c.Names))
	for _, name := range c.Names {
		named[name] = true
	}
	return slices.IndexFunc(p.req.Tools, func(t content.Tool) bool { // one pass
		allowed := len(c.Names) == 0 || named[t.Name]
		return c.Mode == content.ChoiceAny && allowed && t.Kind == "" && t.Name != ""
	})
}

// arguments returns arguments for a tool.
func arguments(t *content.Tool) string {
	if t.Freeform {
		return "echo"
	}
	if input := instance(t.Input.JSON); strings.HasPrefix(input, "{") {
		return input
	}
	return "{}"
}
