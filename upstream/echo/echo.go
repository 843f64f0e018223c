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

// format is the format of signatures in responses to requests that were not parsed from
// a document.
const format content.Format = "echo"

// An Upstream responds as the package comment describes. The zero value is ready to
// use. It is safe for concurrent use.
type Upstream struct{}

// New returns an Upstream.
func New() *Upstream { return &Upstream{} }

// Generate responds to r as the package comment describes.
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
	return respond(ctx, r, w, s, d.text())
}

// CountTokens returns the number of tokens that Generate reports for the
// prompt. It loads no files.
func (*Upstream) CountTokens(_ context.Context, r *upstream.Request) (upstream.TokenCount, error) {
	return upstream.TokenCount{Tokens: upstream.EstimateTokens(r), Estimated: true}, nil
}

// Models lists two names, newest first. Generate also accepts all other names.
func (*Upstream) Models(context.Context) ([]upstream.Model, error) {
	day := func(n int) time.Time { return time.Date(2026, time.November, n, 0, 0, 0, 0, time.UTC) }
	return []upstream.Model{
		{ID: "echo-thinking", Name: "Echo with thinking", Created: day(3), MaxInput: 1_000_000, MaxOutput: 128_000, Thinking: true},
		{ID: "echo", Name: "Echo", Created: day(2), MaxInput: 1_000_000, MaxOutput: 128_000},
	}, nil
}

// complete adds the steps that the request asks for without instructions.
func (s *script) complete(r *upstream.Request, d *description) error {
	if !slices.ContainsFunc(s.steps, func(t step) bool { return t.kind != stepThink }) {
		s.steps = append(s.steps, steps(r, d)...)
	}
	if wantsImage(r) && s.stop != content.StopRefusal && !s.has(stepCall) && !s.has(stepImage) {
		ratio, err := parseRatio(r.Output.AspectRatio)
		if err != nil {
			return &content.Violation{Code: content.CodeValue, Path: "output.aspect_ratio", Text: err.Error()}
		}
		s.steps = append(s.steps, step{kind: stepImage, ratio: ratio})
	}
	if wantsThinking(&r.Thinking) && !s.has(stepThink) {
		s.steps = slices.Insert(s.steps, 0, step{kind: stepThink, text: d.thinking()})
	}
	return nil
}

func (s *script) has(kind stepKind) bool {
	return slices.ContainsFunc(s.steps, func(t step) bool { return t.kind == kind })
}

// wantsThinking reports whether the response should contain thinking.
func wantsThinking(t *upstream.Thinking) bool {
	return t.Enabled() || t.Mode == "" && (t.Display == "full" || t.Display == "summarized")
}

// wantsText reports whether the response should contain text. It should unless the
// request wants images and no text.
func wantsText(r *upstream.Request) bool {
	return !wantsImage(r) || slices.Contains(r.Output.Modalities, "text")
}

// steps returns the response to a request without instructions.
func steps(r *upstream.Request, d *description) []step {
	results := d.results.String()
	if wantsText(r) {
		switch {
		case r.Output.Schema.JSON != "":
			return []step{{kind: stepText, text: instance(r.Output.Schema.JSON), times: 1}}
		case r.Output.MediaType == "application/json":
			text := append(jsonwire.AppendString([]byte(`{"echo":`), d.text()), '}')
			return []step{{kind: stepText, text: string(text), times: 1}}
		case results != "":
			return []step{{kind: stepText, text: results + "\n" + d.text(), times: 1}}
		}
	}
	switch c, ok := forcedCall(r); {
	case ok && results == "":
		return []step{{kind: stepCall, calls: []call{c}}}
	case wantsText(r):
		return []step{{kind: stepDescribe, times: 1}}
	}
	return nil
}

// forcedCall returns the tool call that the tool choice requires, if it requires one.
func forcedCall(r *upstream.Request) (c call, ok bool) {
	if r.Choice.Mode != content.ChoiceAny {
		return c, false
	}
	for i := range r.Tools {
		t := &r.Tools[i]
		allowed := len(r.Choice.Names) == 0 || slices.Contains(r.Choice.Names, t.Name)
		if t.Kind == "" && t.Name != "" && allowed {
			return call{t.Name, arguments(t)}, true
		}
	}
	return c, false
}

// arguments returns arguments for a tool.
func arguments(t *content.Tool) string {
	if input := instance(t.Input.JSON); strings.HasPrefix(input, "{") {
		return input
	}
	return "{}"
}
