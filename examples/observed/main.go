// Observed is a service with traces and metrics of OpenTelemetry. It is a module of its
// own:
//
//	cd examples/observed && go run .
//
// The service responds as package echo does, in the Messages format. There are two
// tenants, ada (key k-ada) and bob (key k-bob). GET /metrics returns the metrics for
// Prometheus, with the tokens of each tenant. Traces are written to standard output.
//
// If the environment sets OTEL_EXPORTER_OTLP_ENDPOINT, such as http://localhost:4318,
// traces and metrics are also sent there, and traces not to standard output.
//
// With -upstream URL the service calls a server of the Messages format, with the key in
// UPSTREAM_KEY, and sends it the trace context. If the flag is repeated, the service
// calls the next server when one fails.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"

	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/anthropic"
	"github.com/polywire/polywire/upstream/echo"
	otelwire "github.com/polywire/polywire/upstream/otel"
)

func main() {
	// A closed terminal or a closed standard output or error does not end the process.
	signal.Ignore(syscall.SIGHUP, syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// run serves until ctx is done.
func run(ctx context.Context, args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("observed", flag.ContinueOnError)
	listen := flags.String("listen", "127.0.0.1:8083", "`address` to listen on")
	var urls []string
	flags.Func("upstream", "base `URL` of a server in the Messages format; may be repeated", func(s string) error {
		urls = append(urls, s)
		return nil
	})
	if err := flags.Parse(args); err != nil {
		return err
	}
	l, err := net.Listen("tcp", *listen)
	if err != nil {
		return err
	}
	defer l.Close()
	fmt.Fprintf(stdout, "listening on http://%s\n", l.Addr())

	t, err := newTelemetry(ctx, stdout)
	if err != nil {
		return err
	}
	h, err := t.service(urls)
	if err == nil {
		err = serve(ctx, l, h)
	}
	// ctx has ended: sending what is left needs a new one.
	flush, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return errors.Join(err, t.shutdown(flush))
}

// serve serves h until ctx is done.
func serve(ctx context.Context, l net.Listener, h http.Handler) error {
	server := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    1 << 20,
	}
	done := make(chan error, 1)
	go func() { done <- server.Serve(l) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	shutdown, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	err := server.Shutdown(shutdown)
	if served := <-done; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}

// service returns the handler of the service. urls are the upstream servers.
func (t *telemetry) service(urls []string) (http.Handler, error) {
	up, err := t.upstream(urls)
	if err != nil {
		return nil, err
	}
	up = otelwire.Wrap(up, &otelwire.Options{
		TracerProvider: t.tracer,
		MeterProvider:  t.meter,
		Models:         []string{"demo"},
		Attributes: func(ctx context.Context, _ *upstream.Request) []attribute.KeyValue {
			return []attribute.KeyValue{attribute.String("tenant", tenant(ctx))}
		},
	})
	h := messages.NewHandler(up, &messages.Options{HandlerOptions: upstream.HandlerOptions{
		Authenticate: authenticate(map[string]string{"k-ada": "ada", "k-bob": "bob"}),
		Logger:       slog.New(slog.NewTextHandler(os.Stderr, nil)),
	}})
	mux := http.NewServeMux()
	mux.Handle("/v1/", onlyUTF8(h, otelhttp.NewHandler(h, "messages",
		otelhttp.WithTracerProvider(t.tracer), otelhttp.WithMeterProvider(t.meter),
		// A service on the internet adds otelhttp.WithPublicEndpointFn, so that clients
		// cannot decide which requests are traced.
		otelhttp.WithPropagators(propagation.TraceContext{}),
	)))
	mux.Handle("GET /metrics", promhttp.HandlerFor(t.registry, promhttp.HandlerOpts{}))
	return mux, nil
}

// onlyUTF8 refuses requests with a path or header that is not UTF-8, before next makes
// attributes of them: an exporter loses a whole batch because of one such attribute.
func onlyUTF8(h upstream.FormatHandler, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, s := range [...]string{r.URL.Path, r.UserAgent(), r.Header.Get("X-Forwarded-For")} {
			if !utf8.ValidString(s) {
				h.WriteError(w, r, &upstream.Error{Code: upstream.CodeInvalid, Text: "the path and the headers of the request must be UTF-8"})
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// upstream returns adapters for the servers with the given base URLs, or package echo if
// there are none.
func (t *telemetry) upstream(urls []string) (upstream.Upstream, error) {
	var list []upstream.Upstream
	for i, u := range urls {
		client := t.httpClient()
		up, err := anthropic.New(&anthropic.Options{
			Name: fmt.Sprintf("upstream-%d", i), BaseURL: u, Key: os.Getenv("UPSTREAM_KEY"), HTTPClient: client,
		})
		if err != nil {
			return nil, err
		}
		list = append(list, up)
	}
	switch len(list) {
	case 0:
		return echo.New(), nil
	case 1:
		return list[0], nil
	}
	return upstream.Failover(list, nil), nil
}

// httpClient returns a client that sends the trace context to a vendor, and records its
// requests.
func (t *telemetry) httpClient() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 64
	transport.DisableCompression = true         // it delays the events of a stream
	transport.MaxResponseHeaderBytes = 64 << 10 // the default is 10 MiB
	return &http.Client{Transport: otelhttp.NewTransport(transport,
		otelhttp.WithTracerProvider(t.tracer), otelhttp.WithMeterProvider(t.meter),
		otelhttp.WithPropagators(propagation.TraceContext{}), // without baggage, which is the host's own
	)}
}

// tenantKey is the context key of the name of the tenant.
type tenantKey struct{}

// tenant returns the name of the tenant, which authenticate has set.
func tenant(ctx context.Context) string {
	name, _ := ctx.Value(tenantKey{}).(string)
	return name
}

// authenticate accepts requests with a key of tenants, and puts the name of the tenant
// into the context.
func authenticate(tenants map[string]string) func(context.Context, *http.Request, string) (context.Context, error) {
	hasKey := upstream.Keys(slices.Collect(maps.Keys(tenants))...) // compares in constant time
	return func(ctx context.Context, r *http.Request, key string) (context.Context, error) {
		ctx, err := hasKey(ctx, r, key)
		if err != nil {
			return nil, err
		}
		return context.WithValue(ctx, tenantKey{}, tenants[key]), nil
	}
}
