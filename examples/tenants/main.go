// Tenants is a service in which each tenant has its own paths, key, token quota and
// rules.
//
//	go run ./examples/tenants
//
// The tenant ada (key k-ada) may use 1,000 tokens a minute. The tenant bob (key
// k-bob) may use 100,000, and its requests are validated strictly: members that the
// format does not define are violations. The address of ada is
// http://127.0.0.1:8082/ada, that of bob http://127.0.0.1:8082/bob.
package main

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/echo"
)

func main() {
	signal.Ignore(syscall.SIGPIPE) // writing to a closed standard output or error would end the process
	tenants := []tenant{
		{name: "ada", key: "k-ada", tokens: 1_000},
		{name: "bob", key: "k-bob", tokens: 100_000, strict: true},
	}
	server := &http.Server{
		Addr:              "127.0.0.1:8082",
		Handler:           service(echo.New(), tenants, slog.New(slog.NewTextHandler(os.Stderr, nil))),
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    1 << 20,
	}
	fmt.Println("listening on http://" + server.Addr)
	log.Fatal(server.ListenAndServe())
}

// A tenant is a customer of the service.
type tenant struct {
	name   string // first element of the tenant's paths
	key    string
	tokens int64 // quota for a window of time
	strict bool  // refuse members that the format does not define
}

// service returns a handler that serves up to the clients of all tenants.
func service(up upstream.Upstream, tenants []tenant, logger *slog.Logger) http.Handler {
	budget := &upstream.Budget{Bytes: 256 << 20, Requests: 100} // of all tenants together
	mux := http.NewServeMux()
	for _, t := range tenants {
		q := &quota{tokens: t.tokens}
		h := messages.NewHandler(up, &messages.Options{HandlerOptions: upstream.HandlerOptions{
			Authenticate: upstream.Keys(t.key),
			Budget:       budget,
			Logger:       logger.With("tenant", t.name),
			OnDone: func(_ context.Context, r *upstream.Report) {
				q.spend(r.Usage.Prompt()+r.Usage.Completion(), time.Now())
			},
			Strict: t.strict,
		}})
		mux.Handle("/"+t.name+"/", q.guard(h))
	}
	return mux
}

// window is the time after which a quota starts again.
const window = time.Minute

// A quota bounds the tokens of a tenant. It is safe for concurrent use.
type quota struct {
	tokens int64

	mu    sync.Mutex
	start time.Time // of the current window
	used  int64     // tokens in it
}

// guard returns a handler that passes requests to h as long as the quota lasts. The
// tokens of a request are known when it is done, so the last request of a window may
// exceed the quota.
func (q *quota) guard(h upstream.FormatHandler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if wait := q.wait(time.Now()); wait > 0 {
			h.WriteError(w, r, &upstream.Error{
				Code: upstream.CodeRateLimit, Text: "The token quota of this key is used up.", RetryAfter: wait,
			})
			return
		}
		h.ServeHTTP(w, r)
	})
}

// wait returns the time until the next window if the quota is used up, or else 0.
func (q *quota) wait(now time.Time) time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.renew(now)
	if q.used < q.tokens {
		return 0
	}
	return q.start.Add(window).Sub(now)
}

// spend adds the tokens of a request.
func (q *quota) spend(tokens int64, now time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.renew(now)
	q.used += tokens
}

// renew begins a new window if the current one is over.
func (q *quota) renew(now time.Time) {
	if now.Sub(q.start) >= window {
		q.start, q.used = now, 0
	}
}
