package upstreamtest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/upstreamtest"
)

// A fake responds as the text of the user instructs. It follows all rules but
// one, if it has a flaw.
type fake struct {
	flaw string
	end  chan struct{} // ends leaked goroutines
	mu   sync.Mutex
	last string // last verb
	text string // last text
}

func user(text string) *upstream.Request {
	max, k := int64(100), int64(4)
	return &upstream.Request{
		Model: "fake", MaxTokens: &max, TopK: &k, UserID: "user-1",
		System: []content.Part{&content.Text{Text: "You are a fake."}},
		Turns:  []content.Turn{{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: text}}}},
	}
}

func withTool(r *upstream.Request) *upstream.Request {
	r.Tools = []content.Tool{{Name: "look", Input: content.Schema{JSON: `{"type":"object"}`}}}
	return r
}

// allOptions returns the Options for a fake.
func allOptions() *upstreamtest.Options {
	return &upstreamtest.Options{
		Model:         "fake",
		Text:          user("say hello"),
		Long:          user("count"),
		Silent:        user("wait"),
		Call:          withTool(user("call")),
		Think:         user("think"),
		Lossy:         user("say less"),
		Invalid:       []*upstream.Request{user("bad")},
		Fail:          []*upstream.Request{user("fail")},
		Marked:        func(mark string) *upstream.Request { return user("say " + mark) },
		Deterministic: true,
		Secrets:       []string{"s3cret"},
	}
}

func (f *fake) Generate(ctx context.Context, r *upstream.Request, w *upstream.Writer) error {
	if f.before(ctx, r) {
		return nil
	}
	verb, rest, err := f.prompt(r)
	if err != nil {
		return err
	}
	f.mu.Lock()
	f.last = verb
	f.mu.Unlock()
	if err := f.reportLosses(r, w); err != nil {
		return err
	}
	if err := f.start(w); err != nil {
		return err
	}
	switch verb {
	case "say":
		err = f.say(ctx, r, w, rest)
	case "count":
		err = f.count(ctx, w)
	case "wait":
		if f.flaw == "ignores its context" {
			<-f.end
		}
		if f.flaw != "responds to the silent request" {
			<-ctx.Done()
		}
		err = context.Cause(ctx)
	case "call":
		err = f.call(w)
	case "think":
		err = f.think(w)
	case "fail":
		err = f.fail()
	}
	if err != nil {
		return f.failed(ctx, err)
	}
	return f.finish(r, w, verb)
}

// before runs the flaws that come first. It reports whether the response ends.
func (f *fake) before(ctx context.Context, r *upstream.Request) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch f.flaw {
	case "nil for an ended context":
		return ctx.Err() != nil
	case "changes the user id":
		r.UserID = ""
	case "appends to the system parts":
		_ = append(r.System, &content.Text{Text: "more"})
	case "leaves a goroutine":
		go func() { <-f.end }()
	case "panics without turns":
		_ = r.Turns[len(r.Turns)-1]
	}
	return false
}

func (f *fake) prompt(r *upstream.Request) (verb, rest string, err error) {
	at, parts := len(r.Turns)-1, r.LastParts()
	for i, p := range parts {
		path := fmt.Sprintf("turns.%d.parts.%d", at, i)
		switch p := p.(type) {
		case *content.Text:
			if i == 0 {
				verb, rest, _ = strings.Cut(p.Text, " ")
			}
		case nil, *content.ToolResult, *content.Image, *content.Document:
		default:
			switch f.flaw {
			case "drops parts silently":
			case "error without a path":
				return "", "", &content.Violation{Code: content.CodeUnsupported, Text: "is not text"}
			case "untyped error for a part":
				return "", "", errors.New("not text: " + path)
			default:
				return "", "", &content.Violation{Code: content.CodeUnsupported, Path: path, Text: "is not text"}
			}
		}
	}
	if verb == "bad" {
		return "", "", f.bad()
	}
	return verb, rest, nil
}

func (f *fake) bad() error {
	switch f.flaw {
	case "internal error":
		return &upstream.Error{Code: upstream.CodeInternal}
	case "violation without a text":
		return &content.Violation{Code: content.CodeValue, Path: "turns.0.parts.0"}
	}
	return &content.Violation{Code: content.CodeValue, Path: "turns.0.parts.0", Text: "is bad"}
}

func (f *fake) fail() error {
	switch f.flaw {
	case "text of a Go error":
		return &upstream.Error{Code: upstream.CodeUnavailable, Text: "dial tcp 10.1.2.3:443: connect: connection refused"}
	case "unknown code":
		return &upstream.Error{Code: "oops"}
	case "untyped error":
		return errors.New("something broke")
	case "secret in an error":
		return &upstream.Error{Code: upstream.CodeUnavailable, Text: "the model with the key s3cret is not available"}
	}
	return &upstream.Error{Code: upstream.CodeOverloaded, Text: "too much to do", RetryAfter: time.Second}
}

// failed returns the error of Generate for an error.
func (f *fake) failed(ctx context.Context, err error) error {
	gone := ctx.Err() != nil
	switch f.flaw {
	case "nil for a failed write":
		if !gone && !errors.As(err, new(*upstream.Error)) {
			return nil
		}
	case "replaces the error of the Writer":
		if !gone && !errors.As(err, new(*upstream.Error)) {
			return errors.New("could not write")
		}
	case "nil for a blocked write":
		if gone && f.counting() && !errors.Is(err, context.Canceled) {
			return nil
		}
	case "nil for a context that ends midway":
		if f.counting() && errors.Is(err, context.Canceled) {
			return nil
		}
	}
	return err
}

func (f *fake) counting() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.last == "count"
}

// losses returns the losses of a request.
func (f *fake) losses(r *upstream.Request) (list []content.Loss) {
	if r.TopK != nil {
		list = append(list, content.Loss{Path: "top_k", Severity: content.LossDegraded, Reason: "the fake has no top_k; it was dropped"})
	}
	ignore := func(path, what string) {
		if f.flaw != "drops "+what {
			list = append(list, content.Loss{Path: path, Severity: content.LossHint, Reason: "the fake ignores " + what})
		}
	}
	for i := range r.System {
		ignore(fmt.Sprintf("system.%d", i), "system texts")
	}
	for i := range len(r.Turns) - 1 {
		ignore(fmt.Sprintf("turns.%d", i), "earlier turns")
	}
	for i := range r.Tools {
		if r.Tools[i].Name != "look" {
			ignore(fmt.Sprintf("tools.%d", i), "tools")
		}
	}
	if f.flaw == "loss without severity" && len(list) > 0 {
		list[0].Severity = 0
	}
	return list
}

func (f *fake) reportLosses(r *upstream.Request, w *upstream.Writer) error {
	list := f.losses(r)
	switch f.flaw {
	case "one loss at a time":
		for _, l := range list {
			if err := w.Loss([]content.Loss{l}); err != nil {
				return err
			}
		}
		return nil
	case "replaces the error of Writer.Loss":
		err := w.Loss(list)
		if err != nil && r.RejectLoss != 0 {
			return errors.New("not like this")
		}
		return err
	}
	return w.Loss(list)
}

func (f *fake) CountTokens(ctx context.Context, r *upstream.Request) (upstream.TokenCount, error) {
	n := upstream.EstimateTokens(r)
	switch f.flaw {
	case "zero tokens":
		n = 0
	case "constant tokens":
		n = 12
	case "generates to count":
		_, _ = upstream.Collect(ctx, upstream.Func(f.Generate), r)
	}
	return upstream.TokenCount{Tokens: n}, nil
}

func (f *fake) Models(context.Context) ([]upstream.Model, error) {
	switch f.flaw {
	case "model without an id":
		return []upstream.Model{{ID: "fake"}, {Name: "Fake"}}, nil
	case "duplicate model":
		return []upstream.Model{{ID: "fake"}, {ID: "fake"}}, nil
	}
	return []upstream.Model{{ID: "fake"}}, nil
}

func (f *fake) Preflight(ctx context.Context, r *upstream.Request) ([]content.Loss, error) {
	switch f.flaw {
	case "no losses":
		return nil, nil
	case "generates in Preflight":
		_, _ = upstream.Collect(ctx, upstream.Func(f.Generate), r)
	}
	return f.losses(r), nil
}
