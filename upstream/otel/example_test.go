package otelwire_test

import (
	"context"
	"fmt"

	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/echo"
	otelwire "github.com/polywire/polywire/upstream/otel"
)

// The tokens of each tenant. A service reads them with an exporter instead of a
// ManualReader.
func ExampleWrap() {
	type tenantKey struct{}
	reader := sdkmetric.NewManualReader()
	up := otelwire.Wrap(echo.New(), &otelwire.Options{
		MeterProvider: sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)),
		Attributes: func(ctx context.Context, _ *upstream.Request) []attribute.KeyValue {
			name, _ := ctx.Value(tenantKey{}).(string)
			return []attribute.KeyValue{attribute.String("tenant", name)}
		},
	})

	// The function HandlerOptions.Authenticate usually puts the tenant into the context.
	ctx := context.WithValue(context.Background(), tenantKey{}, "ada")
	_, err := upstream.Collect(ctx, up, &upstream.Request{
		Model: "demo",
		Turns: []content.Turn{{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: "echo: say one two three"}}}},
	})
	if err != nil {
		fmt.Println(err)
	}

	var data metricdata.ResourceMetrics
	if err := reader.Collect(ctx, &data); err != nil {
		fmt.Println(err)
	}
	for _, m := range data.ScopeMetrics[0].Metrics {
		if m.Name != "gen_ai.client.token.usage" {
			continue
		}
		for _, p := range m.Data.(metricdata.Histogram[int64]).DataPoints {
			tenant, _ := p.Attributes.Value("tenant")
			if kind, _ := p.Attributes.Value("gen_ai.token.type"); kind.AsString() == "output" {
				fmt.Println(tenant.AsString(), p.Sum)
			}
		}
	}
	// Output:
	// ada 4
}
