// Cache repeats the responses to equal requests of a client, whole and streamed, in all formats.
//
//	go run ./examples/cache -url http://127.0.0.1:8081
//
// It serves http://127.0.0.1:8080 over a server of the Messages format, by default the vendor's. The
// key of the server is in UPSTREAM_API_KEY. A response from the cache has the header X-Cache.
package main

import (
	"context"
	"flag"
	"log"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/polywire/polywire"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/anthropic"
)

func main() {
	url := flag.String("url", "", "base `URL` of the server")
	flag.Parse()
	up, err := anthropic.New(&anthropic.Options{BaseURL: *url, Key: os.Getenv("UPSTREAM_API_KEY")})
	if err != nil {
		log.Fatal(err)
	}
	server := &http.Server{Addr: "127.0.0.1:8080", Handler: handler(newCache(up, 1000)), ReadHeaderTimeout: 10 * time.Second}
	log.Fatal(server.ListenAndServe())
}

// handler serves up to clients with any key. The key is their identity, so each has a cache of its own.
func handler(up upstream.Upstream) http.Handler {
	return polywire.NewHandler(up, &upstream.HandlerOptions{
		ResponseHeaders: []string{"X-Cache"},
		Authenticate: func(ctx context.Context, _ *http.Request, key string) (context.Context, error) {
			if key == "" {
				return nil, upstream.ErrNoKey
			}
			return ctx, nil
		},
	})
}

// A cache is an Upstream that repeats the events of complete responses. Use newCache.
type cache struct {
	next upstream.Upstream
	max  int // responses

	mu        sync.Mutex
	responses map[string][][]upstream.Event // in the batches in which they arrived
}

func newCache(next upstream.Upstream, max int) *cache {
	return &cache{next: next, max: max, responses: map[string][][]upstream.Event{}}
}

func (c *cache) Unwrap() upstream.Upstream { return c.next }

func (c *cache) Generate(ctx context.Context, r *upstream.Request, w *upstream.Writer) error {
	key, err := upstream.RequestKey(ctx, c.next, r)
	if err != nil || key == "" { // Generate reports the error; a request with files is not cached
		return c.next.Generate(ctx, r, w)
	}
	c.mu.Lock()
	batches, hit := c.responses[key]
	c.mu.Unlock()
	if hit {
		return replay(ctx, batches, w)
	}
	err = upstream.Run(ctx, c.next, r, upstream.SinkFunc(func(events []upstream.Event) error {
		batches = append(batches, slices.Clone(events)) // Send changes the slice
		return w.Send(events)
	}))
	if err == nil {
		c.store(key, batches)
	}
	return err
}

// replay sends a response again. The losses of its request are events at its beginning, to which
// RejectLoss of the new request applies.
func replay(ctx context.Context, batches [][]upstream.Event, w *upstream.Writer) error {
	for _, events := range batches {
		if err := context.Cause(ctx); err != nil {
			return err // the client has left
		}
		if err := w.Send(slices.Clone(events)); err != nil {
			return err
		}
	}
	return nil
}

// store keeps a response.
func (c *cache) store(key string, batches [][]upstream.Event) {
	for _, events := range batches {
		for i := range events {
			events[i].Frame = nil // valid only during Send
			if s := events[i].Start; s != nil {
				start := *s
				start.Header = append(slices.Clip(s.Header), upstream.HeaderField{Name: "X-Cache", Value: "hit"})
				events[i].Start = &start
			}
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for old := range c.responses {
		if len(c.responses) < c.max {
			break
		}
		delete(c.responses, old)
	}
	c.responses[key] = batches
}
