package echo

import (
	"context"
	"slices"
	"time"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

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
	steps, err := respond(d)
	if err != nil {
		return err
	}
	return steps.Generate(ctx, r, w)
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

// Models lists one name. Generate also accepts all other names.
func (*Upstream) Models(context.Context) ([]upstream.Model, error) {
	created := time.Date(2026, time.November, 2, 0, 0, 0, 0, time.UTC)
	return []upstream.Model{{ID: "echo", Name: "Echo", Created: created, MaxInput: 1_000_000, MaxOutput: 128_000}}, nil
}

// wants reports whether the request asks for a modality.
func wants(r *upstream.Request, modality string) bool {
	return slices.Contains(r.Output.Modalities, modality) // one pass
}
