package otelwire_test

import (
	"context"
	"os"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/test/leak"
	"github.com/polywire/polywire/upstream"
	otelwire "github.com/polywire/polywire/upstream/otel"
)

func TestMain(m *testing.M) { os.Exit(leak.Main(m)) }

// A recorder keeps what a wrapper records.
type recorder struct {
	spans  *tracetest.SpanRecorder
	reader *sdkmetric.ManualReader
	tracer *sdktrace.TracerProvider
	meter  *sdkmetric.MeterProvider
}

func newRecorder(options ...sdkmetric.Option) *recorder {
	r := &recorder{spans: tracetest.NewSpanRecorder(), reader: sdkmetric.NewManualReader()}
	r.tracer = sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(r.spans))
	r.meter = sdkmetric.NewMeterProvider(append(options, sdkmetric.WithReader(r.reader))...)
	return r
}

// wrap returns a wrapper of up with the providers of r.
func (r *recorder) wrap(up upstream.Upstream, o otelwire.Options) upstream.Upstream {
	o.TracerProvider, o.MeterProvider = r.tracer, r.meter
	return otelwire.Wrap(up, &o)
}

// span returns the ended span with the given name, which must be the only one.
func (r *recorder) span(t *testing.T, name string) sdktrace.ReadOnlySpan {
	t.Helper()
	var found []sdktrace.ReadOnlySpan
	for _, s := range r.spans.Ended() {
		if s.Name() == name {
			found = append(found, s)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d ended spans have the name %q, want 1", len(found), name)
	}
	return found[0]
}

// A point is a data point of a metric: a sum of values and how many there are.
type point struct {
	Sum   float64
	Count uint64
}

// points returns the data points of a metric. The keys are their attributes, in order
// and without the constant gen_ai.operation.name.
func (r *recorder) points(t *testing.T, name string) map[string]point {
	t.Helper()
	var data metricdata.ResourceMetrics
	if err := r.reader.Collect(context.Background(), &data); err != nil {
		t.Fatal(err)
	}
	found := map[string]point{}
	key := func(set attribute.Set) string {
		if v, ok := set.Value("gen_ai.operation.name"); ok && v.AsString() != "chat" {
			t.Errorf("%s: gen_ai.operation.name is %q, want chat", name, v.AsString())
		}
		set, _ = set.Filter(func(kv attribute.KeyValue) bool { return kv.Key != "gen_ai.operation.name" })
		return set.Encoded(attribute.DefaultEncoder())
	}
	for _, scope := range data.ScopeMetrics {
		for _, m := range scope.Metrics {
			if m.Name != name {
				continue
			}
			switch d := m.Data.(type) {
			case metricdata.Histogram[int64]:
				for _, p := range d.DataPoints {
					found[key(p.Attributes)] = point{float64(p.Sum), p.Count}
				}
			case metricdata.Histogram[float64]:
				for _, p := range d.DataPoints {
					found[key(p.Attributes)] = point{p.Sum, p.Count}
				}
			case metricdata.Sum[int64]:
				for _, p := range d.DataPoints {
					found[key(p.Attributes)] = point{float64(p.Value), 1}
				}
			default:
				t.Errorf("%s has data of the type %T", name, d)
			}
		}
	}
	return found
}

// attributes returns attributes as a map of their values.
func attributes(list []attribute.KeyValue) map[string]any {
	m := map[string]any{}
	for _, kv := range list {
		m[string(kv.Key)] = kv.Value.AsInterface()
	}
	return m
}

// prompt returns a streamed request to the model "demo".
func prompt(text string) *upstream.Request {
	return &upstream.Request{
		Model: "demo", Stream: true,
		Turns: []content.Turn{{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: text}}}},
	}
}

// discard is a Sink that keeps nothing.
var discard = upstream.SinkFunc(func([]upstream.Event) error { return nil })

func value[T any](v T) *T { return &v }
