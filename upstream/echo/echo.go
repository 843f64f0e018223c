package echo

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/upstream"
)

// Format is the format of signatures that answer requests of no format.
const Format content.Format = "echo"

// Upstream is the model that this package is about. The zero value is ready to
// use, and all of them are alike. It is safe for concurrent use.
type Upstream struct{}

// New returns an Upstream that describes what it is sent.
func New() *Upstream { return &Upstream{} }

// Generate answers r as the package comment says.
func (*Upstream) Generate(ctx context.Context, r *upstream.Request, w *upstream.Writer) error {
	s, err := parseScript(r)
	if err != nil {
		return err
	}
	if err := w.Loss(losses(r)); err != nil {
		return err
	}
	d, err := describe(ctx, r)
	if err != nil {
		return err
	}
	if err := s.complete(r, d); err != nil {
		return err
	}
	return speak(ctx, r, w, s, upstream.EstimateTokens(r))
}

// CountTokens says what Generate would report as the prompt's tokens. It loads
// no file.
func (*Upstream) CountTokens(_ context.Context, r *upstream.Request) (upstream.TokenCount, error) {
	return upstream.TokenCount{Tokens: upstream.EstimateTokens(r), Estimated: true}, nil
}

// models are what Models lists: one for each thing that can be tried. Any other
// name is answered in the same way.
var models = []upstream.Model{
	{ID: "echo-thinking", Name: "Echo, as if it thought", MaxInput: 1_000_000, MaxOutput: 128_000, Thinking: true},
	{ID: "echo", Name: "Echo", MaxInput: 1_000_000, MaxOutput: 128_000},
}

// Models lists two names, newest first. Every other name works as well.
func (*Upstream) Models(context.Context) ([]upstream.Model, error) {
	list := slices.Clone(models)
	for i := range list {
		list[i].Created = time.Date(2026, time.November, 1+len(list)-i, 0, 0, 0, 0, time.UTC)
	}
	return list, nil
}

// complete adds to the script what the request asks for by itself.
func (s *script) complete(r *upstream.Request, d *description) error {
	for i := range s.steps {
		switch t := &s.steps[i]; t.kind {
		case stepDescribe:
			t.kind, t.text = stepText, d.text()
		case stepImage:
			t.text = d.text()
		}
	}
	if !s.answers() {
		steps, err := answer(r, d)
		if err != nil {
			return err
		}
		s.steps = append(s.steps, steps...)
	}
	if err := s.addImage(r, d); err != nil {
		return err
	}
	if wantsThought(r) && !s.thinks() {
		s.steps = append([]step{{kind: stepThink, text: d.thought(), times: 1}}, s.steps...)
	}
	return nil
}

// wantsThought reports whether the request asks for thinking, or leaves that to
// the model and wants to see what it thought.
func wantsThought(r *upstream.Request) bool {
	t := &r.Thinking
	return t.Enabled() || t.Mode == "" && (t.Display == "full" || t.Display == "summarized")
}

// answer is what is said without instructions.
func answer(r *upstream.Request, d *description) ([]step, error) {
	text := ""
	switch {
	case !wantsText(r):
		if d.results.Len() > 0 {
			return nil, nil
		}
		c, ok, err := forced(r)
		if !ok {
			return nil, err
		}
		return []step{{kind: stepCall, calls: []call{c}}}, err
	case r.Output.Schema.JSON != "":
		json, err := instance(r.Output.Schema.JSON, false)
		if err != nil {
			return nil, content.AtPath(err, "output.schema")
		}
		text = json
	case r.Output.MediaType == "application/json":
		text = string(append(jsonwire.AppendString([]byte(`{"echo":`), d.text()), '}'))
	case d.results.Len() > 0:
		text = d.results.String() + "\n" + d.text()
	default:
		if c, ok, err := forced(r); ok || err != nil {
			return []step{{kind: stepCall, calls: []call{c}}}, err
		}
		text = d.text()
	}
	return []step{{kind: stepText, text: text, times: 1}}, nil
}

// forced returns the call that the tool choice forces, if it does.
func forced(r *upstream.Request) (c call, ok bool, err error) {
	if r.Choice.Mode != content.ChoiceAny {
		return c, false, nil
	}
	for i := range r.Tools {
		t := &r.Tools[i]
		if t.Kind == "" && t.Name != "" && allowed(r, t.Name) {
			c.name = t.Name
			c.input, err = arguments(r, i)
			return c, true, err
		}
	}
	return c, false, nil
}

func allowed(r *upstream.Request, tool string) bool {
	for _, name := range r.Choice.Names {
		if name == tool {
			return true
		}
	}
	return len(r.Choice.Names) == 0
}

// arguments makes arguments for the tool at index i.
func arguments(r *upstream.Request, i int) (string, error) {
	schema := r.Tools[i].Input.JSON
	if schema == "" {
		return "{}", nil
	}
	json, err := instance(schema, true)
	if err != nil {
		return "", content.AtPath(err, at("tools", i)+".input")
	}
	return json, nil
}

// lastUser returns the index of the user's last turn, or -1.
func lastUser(r *upstream.Request) int {
	for i := len(r.Turns) - 1; i >= 0; i-- {
		if r.Turns[i].Role == content.RoleUser {
			return i
		}
	}
	return -1
}

// clip returns the beginning of s, on one line, for people.
func clip(s string, runes int) string {
	n := 0
	for i := range s {
		if n == runes {
			return strings.ToValidUTF8(s[:i], "\uFFFD") + "…"
		}
		n++
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}
