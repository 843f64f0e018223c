package script

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// A Model is an Upstream that plays a script and keeps the requests that it receives. It is
// safe for concurrent use; requests are numbered in the order in which they arrive.
type Model struct {
	choose  func(n int, r *upstream.Request) Reply
	replies int // of New, or -1

	mu       sync.Mutex
	requests []*upstream.Request
	errs     []error // of expectations
}

// New returns a Model that responds to the n-th request with the n-th reply. A further request
// fails with status 400, which SDKs do not repeat, and so does a request whose reply is empty.
func New(replies ...Reply) *Model {
	return &Model{replies: len(replies), choose: func(n int, _ *upstream.Request) Reply {
		if n < len(replies) {
			return replies[n]
		}
		return nil
	}}
}

// NewFunc returns a Model that responds to request n, counted from 0, with the result of reply.
// It is for scripts that depend on the contents of a request, or on which of several agents
// sends it. A request fails with status 400 if its reply is empty. reply must be safe for
// concurrent use, and must not change or keep r. NewFunc panics if reply is nil.
func NewFunc(reply func(n int, r *upstream.Request) Reply) *Model {
	if reply == nil {
		panic("script: NewFunc with a nil function")
	}
	return &Model{replies: -1, choose: reply}
}

// Generate plays the reply to r.
func (m *Model) Generate(ctx context.Context, r *upstream.Request, w *upstream.Writer) error {
	m.mu.Lock()
	n := len(m.requests)
	m.requests = append(m.requests, r.Clone())
	m.mu.Unlock()
	reply := m.choose(n, r)
	err := error(&unexpected{errors.New("the script has no reply to it")})
	if len(reply) > 0 {
		err = reply.Generate(ctx, r, w)
	}
	var u *unexpected
	if !errors.As(err, &u) {
		return err
	}
	err = fmt.Errorf("script: request %d: %w", n+1, u.err)
	m.mu.Lock()
	m.errs = append(m.errs, err)
	m.mu.Unlock()
	return &upstream.Error{Code: upstream.CodeInvalid, Text: err.Error(), Err: err}
}

// Requests returns copies of the requests so far, in the order in which they arrived. The caller
// owns the slice; the requests are read-only.
func (m *Model) Requests() []*upstream.Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]*upstream.Request(nil), m.requests...)
}

// Verify returns nil if every reply of the script was requested, no request was without a reply,
// and no [Expect] failed. Otherwise it returns all of these errors, joined.
func (m *Model) Verify() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	err := errors.Join(m.errs...)
	if n := len(m.requests); n < m.replies {
		err = errors.Join(err, fmt.Errorf("script: the model received %d of %d requests", n, m.replies))
	}
	return err
}

// An unexpected is the error of a request that the script does not expect.
type unexpected struct{ err error }

func (u *unexpected) Error() string { return u.err.Error() }
func (u *unexpected) Unwrap() error { return u.err }

// A Reply is the response to one request: its steps, in order. Several calls of tools in one
// Reply are parallel calls. It is itself an Upstream, which responds to every request in this
// way.
type Reply []Step

// Generate executes the steps until one fails. It reports estimates of the tokens, unless a step
// reports the usage. The response begins with its first output, so a failure before that has the
// HTTP status of the error.
func (p Reply) Generate(ctx context.Context, r *upstream.Request, w *upstream.Writer) error {
	var size, thinking int64 // bytes
	var started, counted bool
	blocks := map[int]bool{} // whether they are thinking
	usage := content.Usage{Input: upstream.EstimateTokens(r), Estimated: true}
	count := func(events []upstream.Event) error {
		for i := range events {
			switch e := &events[i]; e.Kind {
			case upstream.EventStart:
				started = true
			case upstream.EventUsage:
				counted = true
			case upstream.EventOpen:
				_, blocks[e.Block] = e.Part.(*content.Thinking)
			case upstream.EventText, upstream.EventInput:
				size += int64(len(e.Text))
				if blocks[e.Block] {
					thinking += int64(len(e.Text))
				}
			}
		}
		if !started && events[0].Kind != upstream.EventLoss {
			started = true
			if err := w.Start(upstream.Start{Model: r.Model, Usage: &usage}); err != nil {
				return err
			}
		}
		return w.Send(events)
	}
	steps := func(ctx context.Context, r *upstream.Request, w *upstream.Writer) error {
		for _, step := range p {
			if err := step(ctx, r, w); err != nil {
				return err
			}
		}
		if counted {
			return nil
		}
		total := usage
		total.Output, total.Thinking = tokens(size-thinking), tokens(thinking)
		return w.Usage(total)
	}
	return upstream.Run(ctx, upstream.Func(steps), r, upstream.SinkFunc(count))
}

// tokens estimates the number of tokens in a text.
func tokens(bytes int64) int64 { return (bytes + 3) / 4 }
