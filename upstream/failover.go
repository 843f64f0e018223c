package upstream

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/polywire/polywire/content"
)

// FailoverOptions configures [Failover]. The zero value contains the defaults.
type FailoverOptions struct {
	// Codes are the codes of the errors after which Failover makes another attempt. Nil
	// means CodeOverloaded, CodeRateLimit, CodeUnavailable, CodeTimeout and
	// CodeBadGateway. An error that is neither an [*Error] nor a [*content.Violation]
	// has CodeInternal.
	Codes []Code

	// RefusedKeys also makes another attempt after an error with [Error.KeyRefused].
	// The refused Upstream is not called again for the request.
	RefusedKeys bool

	// Retries is the number of attempts, in all, with an Upstream that was already
	// called for the request. 0 means 2; a negative number means none.
	Retries int

	// FirstContent is how long an attempt for a streamed response may take until its
	// first content. It then fails with CodeTimeout. 0 means no limit.
	FirstContent time.Duration

	// Hedge is how long an attempt for a streamed response may take until its first
	// content before Failover calls the next Upstream beside it. The first of the two
	// that sends content is used, and the other one is canceled. The tokens of both are
	// paid for. 0 means never.
	Hedge time.Duration

	// Order returns the upstreams to call for a request, as indexes into the list, in
	// the order of attempts. Upstreams without an index are not called. An index may be
	// repeated: see Retries. If there is no index, the request fails with
	// CodeUnavailable. An invalid index is an internal error. Order must be safe for
	// concurrent use. Nil means the order of the list.
	Order func(ctx context.Context, r *Request) []int
}

// Failover returns an Upstream that calls the upstreams in list one after the other
// until one of them responds:
//
//	up := upstream.Failover([]upstream.Upstream{claude, claudeOnBedrock, gemini}, nil)
//
// If an attempt fails, Failover calls the next Upstream, but never after the client has
// received a part of a response.
//
// Failover panics if list is empty or contains nil, or if an option is negative that
// must not be.
func Failover(list []Upstream, opts *FailoverOptions) Upstream {
	if len(list) == 0 || slices.Contains(list, nil) {
		panic("upstream: Failover: no Upstream or a nil Upstream")
	}
	f := &failover{list: slices.Clone(list)}
	if opts != nil {
		f.opts = *opts
	}
	if f.opts.FirstContent < 0 || f.opts.Hedge < 0 {
		panic("upstream: Failover: negative FirstContent or Hedge")
	}
	if f.opts.Codes == nil {
		f.opts.Codes = []Code{CodeOverloaded, CodeRateLimit, CodeUnavailable, CodeTimeout, CodeBadGateway}
	}
	f.opts.Codes = slices.Clone(f.opts.Codes)
	return f
}

type failover struct {
	list []Upstream
	opts FailoverOptions
}

// order returns the indexes of the upstreams for r.
func (f *failover) order(ctx context.Context, r *Request) ([]int, error) {
	if f.opts.Order == nil {
		all := make([]int, len(f.list))
		for i := range all {
			all[i] = i
		}
		return all, nil
	}
	order := f.opts.Order(ctx, r)
	for _, i := range order {
		if i < 0 || i >= len(f.list) {
			return nil, fmt.Errorf("upstream: FailoverOptions.Order returned the index %d for a list of %d upstreams", i, len(f.list))
		}
	}
	if len(order) == 0 {
		return nil, &Error{Code: CodeUnavailable, Err: errors.New("FailoverOptions.Order returned no Upstream")}
	}
	return order, nil
}

// codeOf returns the code with which handlers report err.
func codeOf(err error) Code {
	var e *Error
	switch list, _ := content.Violations(err); {
	case err == nil:
		return ""
	case errors.As(err, &e):
		return e.Code
	case len(list) > 0:
		return CodeInvalid
	case errors.Is(err, context.DeadlineExceeded):
		return CodeTimeout
	}
	return CodeInternal
}

// goesOn reports whether another attempt may be made after err.
func (f *failover) goesOn(err error) bool {
	var e *Error
	if errors.As(err, &e) && e.KeyRefused {
		return f.opts.RefusedKeys
	}
	return slices.Contains(f.opts.Codes, codeOf(err))
}

func (f *failover) Generate(ctx context.Context, r *Request, w *Writer) error {
	order, err := f.order(ctx, r)
	if err != nil {
		return err
	}
	for _, i := range order {
		var committed bool
		committed, err = f.attempt(ctx, i, r, w)
		if err == nil || committed || ctx.Err() != nil || !f.goesOn(err) {
			break
		}
	}
	return err
}

// attempt calls an Upstream once.
func (f *failover) attempt(ctx context.Context, i int, r *Request, w *Writer) (committed bool, err error) {
	t := tracerFrom(ctx)
	h := &hold{to: w, a: Attempt{Index: i, Start: time.Now()}}
	ctx = t.start(ctx, h.a)
	err = Run(ctx, f.list[i], r, h)
	if err == nil && !h.a.Chosen {
		err = h.commit()
	}
	h.a.Duration = time.Since(h.a.Start)
	h.a.Code, h.a.Err = codeOf(err), err
	t.done(ctx, h.a)
	return h.a.Chosen, err
}

// A hold is the Sink of an attempt. It keeps events until the first content.
type hold struct {
	to   *Writer
	a    Attempt
	held [][]Event
}

func (h *hold) Send(events []Event) error {
	if h.a.Chosen {
		return h.to.Send(events)
	}
	content := false
	for i := range events {
		e := &events[i]
		switch e.Kind {
		case EventStart:
			h.a.Upstream, h.a.UpstreamID = e.Start.Upstream, e.Start.UpstreamID
		case EventUsage:
			h.a.Usage = *e.Usage
		}
		content = content || isContent(e)
	}
	if !content {
		h.held = append(h.held, copyEvents(events))
		return nil
	}
	h.a.FirstContent = time.Since(h.a.Start)
	if err := h.commit(); err != nil {
		return err
	}
	return h.to.Send(events)
}

// commit sends the held events.
func (h *hold) commit() error {
	h.a.Chosen = true
	for _, events := range h.held {
		if err := h.to.Send(events); err != nil {
			return err
		}
	}
	h.held = nil
	return nil
}

// copyEvents returns a copy of events that may be kept, with a copy of their frame.
func copyEvents(events []Event) []Event {
	events = slices.Clone(events)
	if f := events[0].Frame; f != nil {
		c := *f
		c.Preceding, c.Events = slices.Clone(f.Preceding), slices.Clone(f.Events)
		events[0].Frame = &c
		if len(c.Events) > 0 {
			c.Events[0].Frame = &c
		}
	}
	return events
}

// isContent reports whether a client that has received e has received a part of the
// response.
func isContent(e *Event) bool {
	switch e.Kind {
	case EventText, EventInput:
		return e.Text != ""
	case EventCitation, EventSignature:
		return true
	case EventOpen:
		switch p := e.Part.(type) {
		case *content.Text:
			return len(p.Citations) > 0
		case *content.Thinking:
			return p.Redacted.Data != ""
		}
		return true
	}
	return false
}

// CountTokens counts with the first Upstream of the order.
func (f *failover) CountTokens(ctx context.Context, r *Request) (TokenCount, error) {
	order, err := f.order(ctx, r)
	if err != nil {
		return TokenCount{}, err
	}
	return CountTokens(ctx, f.list[order[0]], r)
}

// Preflight returns the losses of the first Upstream of the order.
func (f *failover) Preflight(ctx context.Context, r *Request) ([]content.Loss, error) {
	order, err := f.order(ctx, r)
	if err != nil {
		return nil, err
	}
	return Preflight(ctx, f.list[order[0]], r)
}

// FormatOf returns the format of the first Upstream of the order.
func (f *failover) FormatOf(ctx context.Context, r *Request) (content.Format, error) {
	order, err := f.order(ctx, r)
	if err != nil {
		return "", err
	}
	return FormatOf(ctx, f.list[order[0]], r)
}

// Models returns the list of the first Upstream that has one.
func (f *failover) Models(ctx context.Context) ([]Model, error) { return firstModels(ctx, f.list) }
