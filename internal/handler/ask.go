package handler

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/upstream"
)

var errAsked = &upstream.Error{Code: upstream.CodeTimeout, Err: errors.New("the upstream took too long to answer")}

// ask answers a request that needs no generating, under the same protection: a
// goroutine of its own, its panics caught, and no longer than the first byte
// of an answer may take.
func (x *exchange) ask(ctx context.Context, call *Call) {
	x.find(ctx, call.Losses)
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(errDone)
	var doc *jsonwire.Writer // to be looked at once done has said something
	done := x.aside(func() (err error) {
		if err = x.reachable(inner, call); err != nil {
			return err
		}
		doc, err = call.Ask(inner, x.s.up)
		return err
	})
	times := &x.s.serving.Timeouts
	late := time.NewTimer(min(times.FirstByte, times.Total))
	defer late.Stop()
	var err error
	returned := false
	select {
	case err = <-done:
		returned = true
	case <-x.r.Context().Done():
		err = x.ended(ctx)
	case <-ctx.Done(): // of Authenticate
		err = x.ended(ctx)
	case <-late.C:
		err = errAsked
	}
	cancel(err)
	if returned {
		x.find(ctx, call.Found)
		x.findHoles(ctx)
		x.answeredBy(call.Upstream, call.UpstreamID)
	}
	x.deadline(time.Now().Add(times.Write))
	if err = x.left(ctx, err); err == nil {
		if err := x.document(doc, doc.Len()); err != nil {
			x.explain(ctx, x.left(ctx, err))
		}
	} else {
		x.write(x.explain(ctx, err))
	}
	if !returned {
		x.abandon(ctx, done)
	}
}

// find tells losses that were found without an answer being generated.
func (x *exchange) find(ctx context.Context, losses []content.Loss) {
	var news []content.Loss
	for _, l := range losses {
		if x.lose(l) {
			news = append(news, l)
		}
	}
	x.hearLoss(ctx, news)
}

// A hole is a loss of a list of models, and its cause.
type hole struct {
	loss  content.Loss
	cause error
}

// maxHoles bounds the holes of one request.
const maxHoles = 100

// hole keeps a hole until the handler's goroutine looks. It is safe for concurrent
// use.
func (x *exchange) hole(l content.Loss, cause error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.holes) < maxHoles {
		x.holes = append(x.holes, hole{l, cause})
	}
}

// findHoles logs the holes that were kept, and reports them as losses.
func (x *exchange) findHoles(ctx context.Context) {
	x.mu.Lock()
	list := x.holes
	x.holes = nil
	x.mu.Unlock()
	for _, h := range list {
		f := x.settled(h.cause)
		x.say(ctx, slog.LevelWarn, "the list of models has a hole",
			slog.String("code", string(f.Code)), slog.String("cause", cause(f)), slog.String("upstream", f.Upstream))
		x.find(ctx, []content.Loss{h.loss})
	}
}
