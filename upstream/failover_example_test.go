package upstream_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// named returns an Upstream that responds with its name.
func named(name string) upstream.Upstream {
	return upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		return w.Text(name)
	})
}

// A model with a second server.
func ExampleFailover() {
	busy := upstream.Func(func(context.Context, *upstream.Request, *upstream.Writer) error {
		return &upstream.Error{Code: upstream.CodeOverloaded, Upstream: "first server"}
	})
	up := upstream.Failover([]upstream.Upstream{busy, named("second server")}, nil)

	ctx := upstream.WithTrace(context.Background(), &upstream.Trace{
		AttemptDone: func(_ context.Context, a upstream.Attempt) {
			if a.Err != nil {
				fmt.Println(a.Upstream, "failed:", a.Code)
			}
		},
	})
	reply, err := upstream.Collect(ctx, up, user("Hello!"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(reply.Parts[0].(*content.Text).Text)
	// Output:
	// first server failed: overloaded
	// second server
}

// Conversations stay at the account whose prompt cache is warm.
func ExampleFailoverOptions_order() {
	accounts := []upstream.Upstream{named("account A"), named("account B"), named("account C")}
	up := upstream.Failover(accounts, &upstream.FailoverOptions{Order: upstream.SessionOrder("A", "B", "C")})

	for _, first := range []string{"Fix the test.", "Why is the sky blue?", "Write a poem."} {
		r := user(first)
		for turn := range 2 {
			reply, err := upstream.Collect(context.Background(), up, r)
			if err != nil {
				fmt.Println(err)
				return
			}
			fmt.Printf("%q, turn %d: %s\n", first, turn+1, reply.Parts[0].(*content.Text).Text)
			r.Turns = append(r.Turns, content.Turn{Role: content.RoleAssistant, Parts: reply.Parts}, user("Go on.").Turns[0])
		}
	}
	// Output:
	// "Fix the test.", turn 1: account A
	// "Fix the test.", turn 2: account A
	// "Why is the sky blue?", turn 1: account B
	// "Why is the sky blue?", turn 2: account B
	// "Write a poem.", turn 1: account C
	// "Write a poem.", turn 2: account C
}

// A limiter is a wrapper of a host. It refuses requests if too many are running. Because
// of Unwrap, it counts tokens and lists models like the wrapped Upstream.
type limiter struct {
	next    upstream.Upstream
	max     int64
	running atomic.Int64
}

func (l *limiter) Generate(ctx context.Context, r *upstream.Request, w *upstream.Writer) error {
	defer l.running.Add(-1)
	if l.running.Add(1) > l.max {
		return &upstream.Error{Code: upstream.CodeOverloaded}
	}
	return l.next.Generate(ctx, r, w)
}

func (l *limiter) Unwrap() upstream.Upstream { return l.next }

// A wrapper keeps the optional methods of the Upstream that it wraps. A Failover goes on
// after its errors.
func ExampleUpstream_wrapper() {
	model := &vendor{name: "model", models: []upstream.Model{{ID: "small"}, {ID: "large"}}}
	full := &limiter{next: model, max: 0}
	up := upstream.Failover([]upstream.Upstream{full, named("another model")}, nil)

	models, err := upstream.Models(context.Background(), full)
	fmt.Println(len(models), err)
	reply, err := upstream.Collect(context.Background(), up, user("Hello!"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(reply.Parts[0].(*content.Text).Text)
	// Output:
	// 2 <nil>
	// another model
}

// Middleware that counts the events of a response, and learns how it ended.
func ExampleTap_end() {
	counted := func(next upstream.Upstream) upstream.Upstream {
		return upstream.Tap(next, func(_ context.Context, r *upstream.Request, to upstream.Sink) (upstream.Sink, func(error)) {
			n := 0
			count := upstream.SinkFunc(func(events []upstream.Event) error {
				n += len(events)
				return to.Send(events)
			})
			return count, func(err error) { fmt.Println(n, "events, error:", err) }
		})
	}
	broken := upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		if err := w.Text("Once "); err != nil {
			return err
		}
		return errors.New("the model is gone")
	})
	for _, up := range []upstream.Upstream{parrot, broken} {
		_, _ = upstream.Collect(context.Background(), counted(up), user("Hello!"))
	}
	// Output:
	// 4 events, error: <nil>
	// 2 events, error: the model is gone
}
