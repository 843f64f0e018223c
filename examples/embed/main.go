// Embed serves its own model in all formats. It authenticates tenants,
// logs every request and bills for its tokens.
//
//	go run ./examples/embed
//
// The model returns the last message in capitals, word by word. There are two
// tenants, ada (key k-ada) and bob (key k-bob). GET /bill returns their bills.
package main

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/polywire/polywire"
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

func main() {
	signal.Ignore(syscall.SIGPIPE) // writing to a closed standard output or error would end the process
	tenants := map[string]string{"k-ada": "ada", "k-bob": "bob"}
	logger := slog.New(slog.NewTextHandler(os.Stderr, nil))
	server := &http.Server{
		Addr:              "127.0.0.1:8081",
		Handler:           service(tenants, logger),
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    1 << 20,
	}
	fmt.Println("listening on http://" + server.Addr)
	log.Fatal(server.ListenAndServe())
}

// service returns a handler with the model under /ai/ and the bills at /bill.
func service(tenants map[string]string, logger *slog.Logger) http.Handler {
	var owed bill
	mux := http.NewServeMux()
	mux.Handle("/ai/", polywire.NewHandler(upstream.Reads(upstream.Func(shout)), &upstream.HandlerOptions{
		Authenticate: authenticate(tenants),
		OnDone:       account(&owed, logger),
		Logger:       logger,
	}))
	mux.HandleFunc("GET /bill", owed.serve)
	return mux
}

// shout is an upstream.Func, the model. What it does not read, Reads reports to clients.
func shout(ctx context.Context, req *upstream.Request, w *upstream.Writer) error {
	var words int64
	for _, p := range req.LastParts() {
		t, ok := p.(*content.Text)
		if !ok {
			continue
		}
		for word := range strings.FieldsSeq(t.Text) {
			if err := w.Text(strings.ToUpper(word) + " "); err != nil {
				return err // the client has disconnected
			}
			words++
		}
	}
	return w.Usage(content.Usage{Input: words, Output: words})
}

// tenantKey is the context key of the name of the tenant.
type tenantKey struct{}

// tenant returns the name of the tenant, or "" for a request without a valid key.
func tenant(ctx context.Context) string {
	name, _ := ctx.Value(tenantKey{}).(string)
	return name
}

// authenticate accepts requests with a key of tenants, and puts the name of the
// tenant into the context.
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

// account logs every request and adds its tokens to the bill.
func account(b *bill, logger *slog.Logger) func(context.Context, *upstream.Report) {
	return func(ctx context.Context, r *upstream.Report) {
		logger.InfoContext(ctx, "done", "tenant", tenant(ctx), "report", r)
		b.add(tenant(ctx), r.Usage)
	}
}

// A bill counts the tokens of each tenant.
type bill struct {
	mu     sync.Mutex
	tokens map[string]int64
}

func (b *bill) add(name string, u content.Usage) {
	if name == "" {
		return // the key was invalid
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.tokens == nil {
		b.tokens = map[string]int64{}
	}
	b.tokens[name] += u.Prompt() + u.Completion()
}

func (b *bill) serve(w http.ResponseWriter, _ *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(b.tokens)) {
		fmt.Fprintf(w, "%s owes for %d tokens\n", name, b.tokens[name])
	}
}
