// Embed is a small service with a model of its own behind the Messages format:
// what it takes to know who asks, to log every request and to bill for it.
//
//	go run ./examples/embed
//
// The model shouts: it answers the last message in capitals, word by word.
// There are two tenants, ada (key k-ada) and bob (key k-bob); GET /bill tells
// what they owe.
package main

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
)

func main() {
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

// service is the whole service: the model under /ai/, and the bill.
func service(tenants map[string]string, logger *slog.Logger) http.Handler {
	var owed bill
	mux := http.NewServeMux()
	mux.Handle("/ai/", messages.NewHandler(upstream.Func(shout), &messages.Options{
		HandlerOptions: upstream.HandlerOptions{
			Authenticate: authenticate(tenants),
			OnDone:       account(&owed, logger),
			Logger:       logger,
		},
	}))
	mux.HandleFunc("GET /bill", owed.serve)
	return mux
}

// shout is the model.
func shout(ctx context.Context, req *upstream.Request, w *upstream.Writer) error {
	var said int64
	for _, p := range req.Last() {
		if t, ok := p.(*content.Text); ok {
			for word := range strings.FieldsSeq(t.Text) {
				if err := w.Text(strings.ToUpper(word) + " "); err != nil {
					return err // nobody is listening any more
				}
				said++
			}
		}
	}
	return w.Usage(content.Usage{Input: said, Output: said})
}

// tenantKey is what the tenant's name has in a context.
type tenantKey struct{}

// tenant says who asks; also the model may want to know.
func tenant(ctx context.Context) string {
	name, _ := ctx.Value(tenantKey{}).(string)
	return name
}

// authenticate finds out whose key a request has and puts the name into the
// context.
func authenticate(tenants map[string]string) func(context.Context, *http.Request, string) (context.Context, error) {
	known := upstream.Keys(slices.Collect(maps.Keys(tenants))...) // in constant time, whatever the key
	return func(ctx context.Context, r *http.Request, key string) (context.Context, error) {
		ctx, err := known(ctx, r, key)
		if err != nil {
			return nil, err
		}
		return context.WithValue(ctx, tenantKey{}, tenants[key]), nil
	}
}

// account writes a line for every request, and its tokens onto the bill.
func account(owed *bill, logger *slog.Logger) func(context.Context, *upstream.Report) {
	return func(ctx context.Context, r *upstream.Report) {
		logger.InfoContext(ctx, "request", "id", r.ID, "tenant", tenant(ctx),
			"mode", r.Mode, "status", r.Status, "error", r.Code, "took", r.Duration,
			"read", r.Usage.Prompt(), "written", r.Usage.Answer())
		owed.add(tenant(ctx), r.Usage)
	}
}

// A bill says how many tokens every tenant owes for.
type bill struct {
	mu     sync.Mutex
	tokens map[string]int64
}

func (b *bill) add(name string, u content.Usage) {
	if name == "" {
		return // a stranger was refused
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.tokens == nil {
		b.tokens = map[string]int64{}
	}
	b.tokens[name] += u.Prompt() + u.Answer()
}

func (b *bill) serve(w http.ResponseWriter, _ *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(b.tokens)) {
		fmt.Fprintf(w, "%s owes for %d tokens\n", name, b.tokens[name])
	}
}
