// Gateway serves clients of Messages, Gemini, Amazon Bedrock and Vertex AI on one port,
// with a model behind any of three adapters.
//
//	go run ./examples/gateway
//	go run ./examples/gateway -upstream bedrock -region eu-central-1
//	go run ./examples/gateway -upstream openai -url http://127.0.0.1:8000/v1 -model local
//
// The upstream echo, the default, is built in. The upstream bedrock reads the API key of
// the service from AWS_BEARER_TOKEN_BEDROCK, or credentials from AWS_ACCESS_KEY_ID,
// AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN. The upstream openai reads its key from
// OPENAI_API_KEY. Clients need no key, so the default address is one of this machine.
//
// Claude Code, as a client of Bedrock:
//
//	CLAUDE_CODE_USE_BEDROCK=1 CLAUDE_CODE_SKIP_BEDROCK_AUTH=1 AWS_REGION=eu-central-1 \
//	ANTHROPIC_BEDROCK_BASE_URL=http://127.0.0.1:8082 claude
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/bedrock"
	"github.com/polywire/polywire/upstream/echo"
	"github.com/polywire/polywire/upstream/openai"
)

func main() {
	// A closed terminal or a closed standard output or error does not end the process.
	signal.Ignore(syscall.SIGHUP, syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "gateway:", err)
		os.Exit(1)
	}
}

// run serves until ctx ends.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	f := flag.NewFlagSet("gateway", flag.ContinueOnError)
	f.SetOutput(stderr)
	listen := f.String("listen", "127.0.0.1:8082", "`address` to serve on; port 0 picks a free one")
	name := f.String("upstream", "echo", "`name` of the upstream: echo, bedrock or openai")
	url := f.String("url", "", "base `URL` of the upstream, if not the vendor's")
	region := f.String("region", os.Getenv("AWS_REGION"), "`region` of the upstream bedrock")
	model := f.String("model", "", "`name` of the model to use instead of the one that the client names")
	if err := f.Parse(args); err != nil {
		return err
	}
	up, err := newUpstream(*name, *url, *region, *model)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", *listen)
	if err != nil {
		return err
	}
	server := &http.Server{
		Handler:           newHandler(up, slog.New(slog.NewTextHandler(stderr, nil))),
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
	}
	fmt.Fprintf(stdout, "listening on http://%s\n", listener.Addr())
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	return server.Shutdown(end)
}

// newUpstream returns the upstream with a name.
func newUpstream(name, url, region, model string) (upstream.Upstream, error) {
	var mapModel func(string) string
	if model != "" {
		mapModel = func(string) string { return model }
	}
	switch name {
	case "echo":
		return echo.New(), nil
	case "openai":
		return openai.New(&openai.Options{BaseURL: url, Key: os.Getenv("OPENAI_API_KEY"), MapModel: mapModel})
	case "bedrock":
		o := &bedrock.Options{Region: region, BaseURL: url, MapModel: mapModel, Key: os.Getenv("AWS_BEARER_TOKEN_BEDROCK")}
		if o.Key == "" {
			// Package config of the cloud's SDK also finds other credentials.
			o.Credentials = aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
				c := aws.Credentials{
					AccessKeyID: os.Getenv("AWS_ACCESS_KEY_ID"), SecretAccessKey: os.Getenv("AWS_SECRET_ACCESS_KEY"), SessionToken: os.Getenv("AWS_SESSION_TOKEN"),
				}
				if !c.HasKeys() {
					return c, errors.New("neither AWS_BEARER_TOKEN_BEDROCK nor AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are set")
				}
				return c, nil
			})
		}
		return bedrock.New(o)
	}
	return nil, fmt.Errorf("-upstream: unknown name %q; want echo, bedrock or openai", name)
}

// newHandler returns a handler of all formats.
func newHandler(up upstream.Upstream, logger *slog.Logger) http.Handler {
	options := upstream.HandlerOptions{Logger: logger, OnDone: func(ctx context.Context, r *upstream.Report) {
		logger.InfoContext(ctx, "request", "id", r.ID, "path", r.Path, "mode", r.Mode, "status", r.Status, "error", r.Code, "duration", r.Duration)
	}}
	return bedrock.Handler(upstream.Handlers(
		generatecontent.NewHandler(up, &generatecontent.Options{HandlerOptions: options}),
		messages.NewHandler(up, &messages.Options{HandlerOptions: options}),
	))
}
