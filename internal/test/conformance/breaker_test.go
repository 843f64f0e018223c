package conformance

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sony/gobreaker/v2"

	"github.com/polywire/polywire/upstream"
)

// A breaker wraps an Upstream with a circuit breaker.
type breaker struct {
	next    upstream.Upstream
	circuit *gobreaker.CircuitBreaker[struct{}]
}

func newBreaker(next upstream.Upstream) *breaker {
	return &breaker{next, gobreaker.NewCircuitBreaker[struct{}](gobreaker.Settings{
		Timeout:     30 * time.Second, // until one request is sent to see whether the server works again
		ReadyToTrip: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= 3 },
		IsExcluded:  func(err error) bool { return err != nil && !isDown(err) },
	})}
}

// isDown reports whether an error means that the server does not work. Errors of
// requests, and clients that leave, do not.
func isDown(err error) bool {
	var e *upstream.Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Code {
	case upstream.CodeUnavailable, upstream.CodeOverloaded, upstream.CodeTimeout, upstream.CodeBadGateway:
		return true
	}
	return false
}

func (b *breaker) Generate(ctx context.Context, r *upstream.Request, w *upstream.Writer) error {
	_, err := b.circuit.Execute(func() (struct{}, error) { return struct{}{}, b.next.Generate(ctx, r, w) })
	if errors.Is(err, gobreaker.ErrOpenState) || errors.Is(err, gobreaker.ErrTooManyRequests) {
		return &upstream.Error{Code: upstream.CodeUnavailable, Err: err}
	}
	return err
}

// Unwrap keeps the optional methods of the Upstream: counting tokens, models and others.
func (b *breaker) Unwrap() upstream.Upstream { return b.next }

// Upstreams with circuit breakers. A Failover does not call those whose circuit is open.
func Example_circuitBreaker() {
	down := upstream.Func(func(context.Context, *upstream.Request, *upstream.Writer) error {
		return &upstream.Error{Code: upstream.CodeUnavailable}
	})
	works := upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		return w.Text("Hello!")
	})
	breakers := []*breaker{newBreaker(down), newBreaker(works)}
	list := []upstream.Upstream{breakers[0], breakers[1]}
	up := upstream.Failover(list, &upstream.FailoverOptions{
		Order: func(context.Context, *upstream.Request) []int {
			var closed []int
			for i, b := range breakers {
				if b.circuit.State() != gobreaker.StateOpen {
					closed = append(closed, i)
				}
			}
			return closed // if it is empty, the request fails with CodeUnavailable
		},
	})

	for n := range 5 {
		attempts := 0
		ctx := upstream.WithTrace(context.Background(), &upstream.Trace{
			AttemptDone: func(context.Context, upstream.Attempt) { attempts++ },
		})
		_, err := upstream.Collect(ctx, up, &upstream.Request{})
		fmt.Printf("request %d: %d attempts, error: %v\n", n+1, attempts, err)
	}
	// Output:
	// request 1: 2 attempts, error: <nil>
	// request 2: 2 attempts, error: <nil>
	// request 3: 2 attempts, error: <nil>
	// request 4: 1 attempts, error: <nil>
	// request 5: 1 attempts, error: <nil>
}
