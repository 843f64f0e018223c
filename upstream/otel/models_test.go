package otelwire_test

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
	otelwire "github.com/polywire/polywire/upstream/otel"
)

// Clients choose names of models, and some servers return them. Neither uses up the time
// series of another tenant.
func TestModelNames(t *testing.T) {
	type tenantKey struct{}
	for _, tt := range []struct {
		name string
		// model returns the model of a response, or "fail" for an error before the response.
		model          func(requested string) string
		ada, bob       int    // different pairs of models of ada, who invents names; of bob, who does not
		bobs           string // attributes of bob's tokens
		listed, failed bool
	}{
		{name: "server that returns the name", model: func(m string) string { return m }, ada: 21, bob: 1, bobs: "gen_ai.request.model=claude,gen_ai.response.model=claude"},
		{name: "listed", listed: true, model: func(m string) string { return m }, ada: 21, bob: 1, bobs: "gen_ai.request.model=claude,gen_ai.response.model=claude"},
		{name: "server with its own name", model: func(string) string { return "m" }, ada: 1, bob: 1, bobs: "gen_ai.request.model=other,gen_ai.response.model=m"},
		{name: "server with its own name, listed", listed: true, model: func(string) string { return "m" }, ada: 1, bob: 1, bobs: "gen_ai.request.model=claude,gen_ai.response.model=m"},
		{name: "server without a name", model: func(string) string { return "" }, ada: 21, bob: 1, bobs: "gen_ai.request.model=claude"},
		{name: "server that is down", model: func(string) string { return "fail" }, failed: true, ada: 1, bob: 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			up := upstream.Func(func(_ context.Context, r *upstream.Request, w *upstream.Writer) error {
				model := tt.model(r.Model)
				if model == "fail" {
					return &upstream.Error{Code: upstream.CodeUnavailable}
				}
				return cmp.Or(w.Start(upstream.Start{Model: model}), w.Text("x"), w.Usage(content.Usage{Input: 1}))
			})
			var models []string
			if tt.listed {
				models = []string{"claude"}
			}
			rec := newRecorder()
			w := rec.wrap(upstream.Failover([]upstream.Upstream{up}, &upstream.FailoverOptions{Retries: -1}), otelwire.Options{
				Models: models,
				Attributes: func(ctx context.Context, _ *upstream.Request) []attribute.KeyValue {
					return []attribute.KeyValue{attribute.String("tenant", ctx.Value(tenantKey{}).(string))}
				},
			})
			generate := func(tenant, model string) {
				r := prompt("Hi")
				r.Model = model
				_ = upstream.Run(context.WithValue(t.Context(), tenantKey{}, tenant), w, r, discard)
			}
			for i := range 2500 {
				generate("ada", fmt.Sprint("invented-", i))
			}
			generate("bob", "claude")
			for _, metric := range []string{"gen_ai.client.operation.duration", "polywire.attempt.duration", "gen_ai.client.token.usage"} {
				count := map[string]int{}
				var bobs string
				for attrs := range rec.points(t, metric) {
					tenant := attrs[strings.LastIndex(attrs, "=")+1:]
					count[tenant]++
					if tenant == "bob" {
						bobs = attrs
					}
				}
				if tt.failed && metric == "gen_ai.client.token.usage" {
					tt.ada, tt.bob = 0, 0
				}
				if count["ada"] > tt.ada || count["bob"] != tt.bob {
					t.Errorf("%s: %d series of ada and %d of bob, want at most %d and %d", metric, count["ada"], count["bob"], tt.ada, tt.bob)
				}
				if metric == "gen_ai.client.token.usage" && !strings.Contains(bobs, tt.bobs) {
					t.Errorf("%s: bob has %s, want %s", metric, bobs, tt.bobs)
				}
			}
			found := false
			for _, s := range rec.spans.Ended() {
				found = found || attributes(s.Attributes())["gen_ai.request.model"] == "invented-2499"
			}
			if !found {
				t.Error("no span has the name that the client sent")
			}
		})
	}
}
