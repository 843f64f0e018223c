package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	otelprometheus "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/exporters/stdout/stdouttrace"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
)

// A telemetry is the SDK of OpenTelemetry with its exporters.
type telemetry struct {
	tracer   *trace.TracerProvider
	meter    *metric.MeterProvider
	registry *prometheus.Registry
}

// newTelemetry configures the SDK. The SDK reads further settings from the environment,
// such as OTEL_SERVICE_NAME and OTEL_TRACES_SAMPLER. ctx is for the setup only.
func newTelemetry(ctx context.Context, stdout io.Writer) (*telemetry, error) {
	name := semconv.ServiceName(cmp.Or(os.Getenv("OTEL_SERVICE_NAME"), "observed"))
	res, err := resource.Merge(resource.Default(), resource.NewSchemaless(name))
	if err != nil {
		return nil, err
	}
	t := &telemetry{registry: prometheus.NewRegistry()}
	scraped, err := otelprometheus.New(otelprometheus.WithRegisterer(t.registry))
	if err != nil {
		return nil, err
	}
	meter := append(views(), metric.WithResource(res), metric.WithReader(scraped))

	var spans trace.TracerProviderOption
	if os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") == "" {
		e, err := stdouttrace.New(stdouttrace.WithWriter(stdout))
		if err != nil {
			return nil, err
		}
		spans = trace.WithSyncer(e)
	} else {
		e, err := otlptracehttp.New(ctx)
		if err != nil {
			return nil, err
		}
		pushed, err := otlpmetrichttp.New(ctx)
		if err != nil {
			return nil, err
		}
		spans = trace.WithBatcher(e)
		meter = append(meter, metric.WithReader(metric.NewPeriodicReader(pushed)))
	}
	t.tracer = trace.NewTracerProvider(trace.WithResource(res), spans)
	t.meter = metric.NewMeterProvider(meter...)
	return t, nil
}

// views returns the options that adapt the metrics to many tenants.
func views() []metric.Option {
	return []metric.Option{
		// Beyond the limit, tokens would be recorded without their tenant.
		metric.WithCardinalityLimit(100_000),
		// Clients choose the Host header.
		metric.WithView(metric.NewView(
			metric.Instrument{Name: "http.server.*"},
			metric.Stream{AttributeFilter: attribute.NewDenyKeysFilter("server.address", "server.port")},
		)),
		// Chunks need no time series for each tenant.
		metric.WithView(metric.NewView(
			metric.Instrument{Name: "gen_ai.client.operation.time_*"},
			metric.Stream{AttributeFilter: attribute.NewDenyKeysFilter("tenant")},
		)),
		// Tokens need no buckets: a bill is made of sums.
		metric.WithView(metric.NewView(
			metric.Instrument{Name: "gen_ai.client.token.usage"},
			metric.Stream{Aggregation: metric.AggregationSum{}},
		)),
	}
}

// shutdown sends what is left.
func (t *telemetry) shutdown(ctx context.Context) error {
	return errors.Join(t.tracer.Shutdown(ctx), t.meter.Shutdown(ctx))
}
