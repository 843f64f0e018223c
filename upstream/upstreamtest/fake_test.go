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

// A fake does as the last word of the user says, and keeps every promise but
// for its flaw.
type fake struct {
	flaw string
	end  chan struct{} // ends what leaks
	mu   sync.Mutex
	last string // what was asked last
	said string // what was to be said last
}

func user(text string) *upstream.Request {
	max, k := int64(100), int64(4)
	return &upstream.Request{
		Model: "fake", MaxTokens: &max, TopK: &k, UserID: "somebody",
		System: []content.Part{&content.Text{Text: "You are a fake."}},
		Turns:  []content.Turn{{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: text}}}},
	}
}

func withTool(r *upstream.Request) *upstream.Request {
	r.Tools = []content.Tool{{Name: "look", Input: content.Schema{JSON: `{"type":"object"}`}}}
	return r
}

// all is what a scripted fake fills in.
func all() *upstreamtest.Options {
	return &upstreamtest.Options{
		Model:         "fake",
		Text:          user("say hello"),
		Long:          user("count"),
		Silent:        user("wait"),
		Call:          withTool(user("call")),
		Think:         user("think"),
		Lossy:         user("say less"),
		Bad:           []*upstream.Request{user("bad")},
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
	if err := f.lose(r, w); err != nil {
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
		if f.flaw == "sleeps" {
			<-f.end
		}
		if f.flaw != "talks in silence" {
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

// before does what is done first. It reports whether the answer is over.
func (f *fake) before(ctx context.Context, r *upstream.Request) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch f.flaw {
	case "nil if it is over":
		return ctx.Err() != nil
	case "forgets the user":
		r.UserID = ""
	case "appends to the system text":
		_ = append(r.System, &content.Text{Text: "more"})
	case "leaks":
		go func() { <-f.end }()
	case "no turns":
		_ = r.Turns[len(r.Turns)-1]
	}
	return false
}

func (f *fake) prompt(r *upstream.Request) (verb, rest string, err error) {
	at, parts := len(r.Turns)-1, r.Last()
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
			case "drops parts":
			case "does not say where":
				return "", "", &content.Violation{Code: content.CodeUnsupported, Text: "is not text"}
			case "plain refusal":
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
	case "refuses as internal":
		return &upstream.Error{Code: upstream.CodeInternal}
	case "refuses without a text":
		return &content.Violation{Code: content.CodeValue, Path: "turns.0.parts.0"}
	}
	return &content.Violation{Code: content.CodeValue, Path: "turns.0.parts.0", Text: "is bad"}
}

func (f *fake) fail() error {
	switch f.flaw {
	case "tells Go's text":
		return &upstream.Error{Code: upstream.CodeUnavailable, Text: "dial tcp 10.1.2.3:443: connect: connection refused"}
	case "own code":
		return &upstream.Error{Code: "oops"}
	case "untyped failure":
		return errors.New("something broke")
	case "tells a secret in an error":
		return &upstream.Error{Code: upstream.CodeUnavailable, Text: "the model with the key s3cret is away"}
	}
	return &upstream.Error{Code: upstream.CodeOverloaded, Text: "too much to do", RetryAfter: time.Second}
}

// failed makes what Generate returns for an error of the Writer, or another.
func (f *fake) failed(ctx context.Context, err error) error {
	gone := ctx.Err() != nil
	switch f.flaw {
	case "nil when the write failed":
		if !gone && !errors.As(err, new(*upstream.Error)) {
			return nil
		}
	case "another error":
		if !gone && !errors.As(err, new(*upstream.Error)) {
			return errors.New("could not write")
		}
	case "nil when blocked":
		if gone && f.counting() && !errors.Is(err, context.Canceled) {
			return nil
		}
	case "nil midway":
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

// lost is what a fake cannot say.
func (f *fake) lost(r *upstream.Request) (list []content.Loss) {
	if r.TopK != nil {
		list = append(list, content.Loss{Path: "top_k", Severity: content.LossDegraded, Reason: "it has no such parameter"})
	}
	if len(r.System) > 0 {
		list = append(list, content.Loss{Path: "system.0", Severity: content.LossHint, Reason: "it does as it likes"})
	}
	if f.flaw == "loss without severity" && len(list) > 0 {
		list[0].Severity = 0
	}
	return list
}

func (f *fake) lose(r *upstream.Request, w *upstream.Writer) error {
	list := f.lost(r)
	switch f.flaw {
	case "one loss at a time":
		for _, l := range list {
			if err := w.Loss([]content.Loss{l}); err != nil {
				return err
			}
		}
		return nil
	case "own words for refused losses":
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
	case "counts nothing":
		n = 0
	case "counts everything alike":
		n = 12
	case "generates to count":
		_, _ = upstream.Collect(ctx, upstream.Func(f.Generate), r)
	}
	return upstream.TokenCount{Tokens: n}, nil
}

func (f *fake) Models(context.Context) ([]upstream.Model, error) {
	switch f.flaw {
	case "a model without an id":
		return []upstream.Model{{ID: "fake"}, {Name: "Fake"}}, nil
	case "a model twice":
		return []upstream.Model{{ID: "fake"}, {ID: "fake"}}, nil
	}
	return []upstream.Model{{ID: "fake"}}, nil
}

func (f *fake) Preflight(ctx context.Context, r *upstream.Request) ([]content.Loss, error) {
	switch f.flaw {
	case "foresees nothing":
		return nil, nil
	case "generates to foresee":
		_, _ = upstream.Collect(ctx, upstream.Func(f.Generate), r)
	}
	return f.lost(r), nil
}
