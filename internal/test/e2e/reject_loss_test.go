package e2e

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// A spy keeps the last request that it forwards.
type spy struct {
	upstream.Upstream
	last *upstream.Request
}

func (s *spy) Generate(ctx context.Context, r *upstream.Request, w *upstream.Writer) error {
	s.last = r
	return s.Upstream.Generate(ctx, r, w)
}

func (s *spy) Unwrap() upstream.Upstream { return s.Upstream }

// TestRejectLoss has a host that rejects degraded and dropped content. Each
// feature with such a loss fails with a 400 before the vendor is called; the
// others are forwarded. Preflight predicts the losses of the response.
func TestRejectLoss(t *testing.T) {
	features := map[string][]feature{
		"messages":        slices.Concat(messagesTexts, messagesFiles, messagesTools, messagesSettings),
		"generatecontent": slices.Concat(generateTexts, generateFiles, generateTools, generateSettings),
	}
	each(t, func(t *testing.T, f endpoint, b adapter) {
		if b.format == f.name {
			t.Skip("a request in the vendor's own format has no losses")
		}
		up, vendor := b.start(t, vendor{trust: true})
		s := &spy{Upstream: up}
		open := newGateway(f, s, upstream.HandlerOptions{Resolver: stored{}, Links: stored{}})
		strict := newGateway(f, up, upstream.HandlerOptions{Resolver: stored{}, Links: stored{}, RejectLoss: content.LossDegraded})
		for _, c := range features[f.name] {
			if c.fails[b.name] != "" || c.links {
				continue
			}
			t.Run(c.name, func(t *testing.T) {
				model := b.model
				if m := c.model[b.name]; m != "" {
					model = m
				}
				lost := slices.DeleteFunc(open.ask(model, c.body, whole).losses(), isResponseLoss)
				before, err := upstream.Preflight(context.Background(), up, s.last)
				if err != nil {
					t.Fatal(err)
				}
				ahead := (&response{Report: &upstream.Report{Losses: before}}).losses()
				if !slices.Equal(ahead, lost) {
					t.Errorf("preflight reports %q, the response %q", ahead, lost)
				}
				n := len(vendor.Requests())
				a := strict.ask(model, c.body, whole)
				bad := slices.ContainsFunc(lost, func(l string) bool { return !strings.HasPrefix(l, "hint ") })
				asked := len(vendor.Requests()) > n
				if bad && (a.Status != http.StatusBadRequest || asked) || !bad && (a.Status != http.StatusOK || !asked) {
					t.Errorf("status %d, vendor called: %v; losses %q: %s", a.Status, asked, lost, clip(a.Body))
				}
			})
		}
	})
}
