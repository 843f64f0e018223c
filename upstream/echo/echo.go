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
	if err := w.Loss(losses(r)); err != nil {
		return err
	}
	d, err := describe(ctx, r)
	if err != nil {
		return err
	}
	s, err := newScript(d)
	if err != nil {
		return err
	}
	return respond(ctx, r, w, s)
}

// losses lists the output that a request wants and echo does not have.
func losses(r *upstream.Request) (list []content.Loss) {
	// one pass
	if slices.ContainsFunc(r.Output.Modalities, func(m string) bool { return m != "text" && m != "image" }) {
		list = append(list, content.Loss{Path: "output.modalities", Severity: content.LossDropped,
			Reason: "echo generates only texts and images; the other modalities were dropped"})
	}
	if r.Output.ImageSize != "" && wants(r, "image") {
		list = append(list, content.Loss{Path: "output.image_size", Severity: content.LossDegraded,
			Reason: "echo draws images of at most 64 by 64 pixels; the image size was ignored"})
	}
	if r.Candidates > 1 {
		list = append(list, content.Loss{Path: "candidates", Severity: content.LossDropped,
			Reason: "echo generates a single candidate; the others were dropped"})
	}
	return list
}

// Preflight returns the losses of r.
func (*Upstream) Preflight(_ context.Context, r *upstream.Request) ([]content.Loss, error) {
	return losses(r), nil
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
func (s *script) complete(d *description) error {
	r := d.req
	if !s.has(stepText, stepCall, stepImage) {
		s.respond(d)
	}
	if wants(r, "image") && s.stop.Reason != content.StopRefusal && !s.has(stepCall, stepImage) {
		size, err := imageSize(r.Output.AspectRatio)
		if err != nil {
			return &content.Violation{Code: content.CodeValue, Path: "output.aspect_ratio", Text: err.Error()}
		}
		s.add(step{kind: stepImage, size: size})
	}
	t := &r.Thinking
	thinks := t.Enabled() || t.Mode == "" && (t.Display == "full" || t.Display == "summarized")
	if thinks && !s.has(stepThink) {
		s.steps = slices.Insert(s.steps, 0, step{kind: stepThink, text: "I look at what arrived: " +
			count(len(r.Turns), "turn") + ", " + count(len(r.Tools), "tool") + ", " + count(d.files, "file") + "."})
	}
	return nil
}

// respond adds the response to a request without instructions.
func (s *script) respond(d *description) {
	r, results := d.req, d.results.String()
	texts := !wants(r, "image") || wants(r, "text")
	tool := forcedTool(r)
	switch {
	case texts && r.Output.Schema.JSON != "":
		s.add(step{text: instance(r.Output.Schema.JSON)})
	case texts && r.Output.MediaType == "application/json":
		s.add(step{text: string(jsonwire.AppendString([]byte(`{"echo":`), d.text)) + "}"})
	case texts && results != "":
		s.add(step{text: results + "\n" + d.text})
	case tool >= 0 && results == "":
		s.add(step{kind: stepCall, calls: []call{{r.Tools[tool].Name, arguments(&r.Tools[tool])}}})
	case texts:
		s.add(step{text: d.text})
	}
}

// wants reports whether the request asks for a modality.
func wants(r *upstream.Request, modality string) bool {
	return slices.Contains(r.Output.Modalities, modality) // one pass
}

// forcedTool returns the index of the tool that must be called, or -1.
func forcedTool(r *upstream.Request) int {
	c := &r.Choice
	named := make(map[string]bool, len(c.Names))
	for _, name := range c.Names {
		named[name] = true
	}
	return slices.IndexFunc(r.Tools, func(t content.Tool) bool { // one pass
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
