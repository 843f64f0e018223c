package adapter

import (
	"context"
	"slices"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/document"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/lower"
	"github.com/polywire/polywire/upstream"
)

// A Plan is a request on its way to a server: its original document, or the request as the
// target accepts it, with the losses. Only [Plan.Load] fetches anything.
type Plan struct {
	Source *upstream.Request // with its files once [Plan.Load] has loaded them
	Model  string            // the server's name of it
	Target *lower.Target     // what the model accepts; nil for a document of which the server reads all files itself

	Document *document.Document // sent as it is; nil if Request is sent
	Request  *lower.Request

	Losses []content.Loss // that were reported so far
	Err    error          // what cannot be represented; the losses are complete even so

	loaded   bool
	reports  []lower.Report // those of Losses
	restorer *lower.Restorer
}

// Lower makes the request representable in the target. It may be called again with another
// target. It adds the losses that are new to those of the plan, and returns them.
func (p *Plan) Lower() []content.Loss {
	var reports []lower.Report
	p.Request, reports, p.Err = lower.Lower(p.Source, p.Target, p.loaded)
	p.Request.Model, p.Document = p.Model, nil
	p.restorer = lower.NewRestorer(p.Request.Names)
	reports = lower.News(reports, p.reports)
	p.reports = append(p.reports, reports...)
	news := lower.Losses(reports)
	known := loss.List{All: p.Losses}
	known.AddAll(news)
	p.Losses = known.All
	return news
}

// Fit lowers the request of a document whose client named another model than the one that gets it, and
// so followed other rules, if the target of this model loses something that the target of the named
// model keeps. Otherwise the document is sent, and if the request cannot be represented.
func (p *Plan) Fit(target func(model string) *lower.Target) {
	if p.Document == nil || p.Document.Model == "" || p.Document.Model == p.Model {
		return
	}
	t, named := target(p.Model), target(p.Document.Model)
	if t == named { // adapters keep the targets of model families
		return
	}
	_, reports, err := lower.Lower(p.Source, t, false)
	if err != nil || len(reports) == 0 {
		return
	}
	_, known, _ := lower.Lower(p.Source, named, false)
	if len(lower.News(reports, known)) > 0 {
		p.Target = t
		p.Lower()
	}
}

// Load fetches the files that the server cannot fetch, and those that may be stored
// elsewhere under an id of its vendor. If there are any, it lowers the request with them. It
// returns the losses that only their bytes show, and Err.
func (p *Plan) Load(ctx context.Context) (news []content.Loss, err error) {
	if p.Target == nil || p.Document == nil && !p.Request.Load && !p.Request.Stored {
		return nil, nil
	}
	n, err := p.Source.Inline(ctx, p.Target.KeepsLink)
	if err != nil || p.Document != nil && n == p.Source {
		return nil, err
	}
	p.Source, p.loaded = n, true
	news = p.Lower()
	return news, p.Err
}

// Encode adds to e what [upstream.EncodeRequest] returns of the plan. document returns the
// document to send.
func (p *Plan) Encode(ctx context.Context, e upstream.EncodedRequest, document func() (string, error)) (upstream.EncodedRequest, error) {
	e.Model, e.Losses = p.Model, slices.Clone(p.Losses)
	err := p.Err
	if err == nil {
		err = p.loadPlaceholders(ctx, &e.Placeholders)
	}
	if err == nil {
		e.Document, err = document()
	}
	return e, err
}

// loadPlaceholders is Load without fetching anything: each file that Load would fetch is
// replaced by a short one that is made from its link or id. The list has these files.
func (p *Plan) loadPlaceholders(ctx context.Context, list *[]content.Source) error {
	n, guessed := *p.Source, false
	n.Resolver = placeholders{list, &guessed}
	p.Source = &n
	if p.Document == nil && !p.Request.Load {
		return p.Err
	}
	_, err := p.Load(ctx)
	if violations, _ := content.Violations(err); guessed {
		for _, v := range violations {
			if at, ok := strings.CutSuffix(v.Path, ".media_type"); ok { // of the placeholder
				v.Path, v.Text = at, "the file is not available here, so its type is unknown; send it as base64"
			}
		}
	}
	return err
}

// placeholders is a [content.Resolver] that fetches nothing. It lists the files, and notes whether
// the type of one was guessed.
type placeholders struct {
	files   *[]content.Source
	guessed *bool
}

// Resolve returns a file with the first bytes of its kind, and with the link or id.
func (r placeholders) Resolve(_ context.Context, s content.Source) (content.Blob, error) {
	var b content.Blob
	name := ""
	switch s := s.(type) {
	case *content.URL:
		name, b.MediaType = s.URL, s.MediaType
	case *content.File:
		name, b.MediaType = s.ID, s.MediaType
	default:
		return b, content.ErrUnresolved
	}
	*r.files = append(*r.files, s)
	switch {
	case b.MediaType != "":
	case strings.HasSuffix(name, ".pdf"):
		b.MediaType = "application/pdf"
	case strings.HasSuffix(name, ".txt"):
		b.MediaType = "text/plain"
	default:
		b.MediaType, *r.guessed = "image/png", true
	}
	switch b.MediaType {
	case "application/pdf":
		name = "%PDF-1.4\n" + name
	case "image/png":
		name = "\x89PNG\r\n\x1a\n" + name
	}
	b.Data = []byte(name)
	return b, nil
}

// Estimate returns an estimate of the tokens, for a server that cannot count them.
func (p *Plan) Estimate() upstream.TokenCount {
	return upstream.TokenCount{Tokens: upstream.EstimateTokens(p.Source), Estimated: true, Losses: p.Losses}
}

// Restore restores what tool calls of the response have lost in Lower: see
// [lower.Restorer]. It is called with each frame in order.
func (p *Plan) Restore(f *upstream.Frame) { p.restorer.Restore(f) }
