package otelwire

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/polywire/polywire/upstream"
)

// scope is the name of the instrumentation scope.
const scope = "github.com/polywire/polywire/upstream/otel"

// Options configures [Wrap]. The zero value contains the defaults.
type Options struct {
	// TracerProvider and MeterProvider receive spans and measurements. Nil means the
	// global ones: see [otel.SetTracerProvider] and [otel.SetMeterProvider].
	TracerProvider trace.TracerProvider
	MeterProvider  metric.MeterProvider

	// Providers maps the names of adapters to values of gen_ai.provider.name, such as
	// "azure.ai.openai" or "gcp.vertex_ai". It is for adapters with an Options.Name of
	// the host, and for servers other than the vendor's own. The default names of this
	// module's adapters need no entry. The value is the name itself if it has no entry,
	// and "_OTHER" if it is empty, because the upstream reported none.
	Providers map[string]string

	// Attributes returns attributes of a request, such as its tenant, for its span and
	// all its measurements. It is called before the request begins, must be safe for
	// concurrent use, and must not change r. Attributes that the package sets itself
	// have precedence.
	//
	// Each combination of values is a time series of every metric: never use a value
	// that a client chooses. Beyond 2,000 combinations in a metric, the SDK records
	// further ones without their attributes, unless the host sets another limit with
	// WithCardinalityLimit. A tenant's tokens would then be missing in its bill.
	Attributes func(ctx context.Context, r *upstream.Request) []attribute.KeyValue

	// Models lists names of models that measurements always have as gen_ai.request.model
	// and gen_ai.response.model. Clients choose the name in a request, and some servers
	// return it. A name that is not listed is recorded only if a response had it, and
	// at most 20 such names for each combination of Attributes. Otherwise the value is
	// "other". Spans have the names in any case.
	Models []string

	// Content adds the prompt and the response to spans, as the attributes
	// gen_ai.system_instructions, gen_ai.input.messages, gen_ai.output.messages and
	// gen_ai.tool.definitions. Their values are JSON texts of at most 256 KiB: of longer
	// conversations the last messages are kept, and longer texts are cut. The span has
	// the attribute polywire.content.truncated if something is missing. Files are
	// included as their type, link or id, without their bytes.
	Content bool
}

// Wrap returns an Upstream that records the requests to up. opts may be nil; it is
// copied. The other abilities of up are kept: the returned Upstream has a method Unwrap.
//
// Wrap panics if up is nil. If a provider returns an error, Wrap passes it to
// [otel.Handle] and omits the metric.
func Wrap(up upstream.Upstream, opts *Options) upstream.Upstream {
	if up == nil {
		panic("otelwire: Wrap: nil Upstream")
	}
	u := &wrapper{next: up}
	if opts != nil {
		u.opts = *opts
		u.names.listed = map[string]bool{}
		for _, name := range opts.Models {
			u.names.listed[name] = true
		}
	}
	if u.opts.TracerProvider == nil {
		u.opts.TracerProvider = otel.GetTracerProvider()
	}
	if u.opts.MeterProvider == nil {
		u.opts.MeterProvider = otel.GetMeterProvider()
	}
	u.tracer = u.opts.TracerProvider.Tracer(scope, trace.WithSchemaURL(semconv.SchemaURL))
	u.meters = newMeters(u.opts.MeterProvider.Meter(scope, metric.WithSchemaURL(semconv.SchemaURL)))
	return u
}

type wrapper struct {
	next   upstream.Upstream
	opts   Options
	tracer trace.Tracer
	meters meters
	names  modelNames
}

func (u *wrapper) Unwrap() upstream.Upstream { return u.next }

// errPanic is the error of a call of Generate that did not return.
var errPanic = errors.New("otelwire: Generate did not return")

func (u *wrapper) Generate(ctx context.Context, r *upstream.Request, w *upstream.Writer) error {
	c := &call{wrapper: u}
	ctx = c.begin(ctx, r)
	err := errPanic
	defer func() { c.end(ctx, err) }()
	err = upstream.Run(ctx, u.next, r, upstream.SinkFunc(func(events []upstream.Event) error {
		c.observe(ctx, events)
		return w.Send(events)
	}))
	return err
}

// provider returns the gen_ai.provider.name for the name of an adapter.
func (u *wrapper) provider(name string) string {
	if p := u.opts.Providers[name]; p != "" {
		return p
	}
	switch name {
	case "":
		return "_OTHER"
	case "anthropic":
		return semconv.GenAIProviderNameAnthropic.Value.AsString()
	case "gemini":
		return semconv.GenAIProviderNameGCPGemini.Value.AsString()
	case "openai chat", "openai responses":
		return semconv.GenAIProviderNameOpenAI.Value.AsString()
	}
	return name
}
