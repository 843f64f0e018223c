package upstream_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// A lossy is an Upstream with losses for every request, or with an error. It records the
// calls of its methods.
type lossy struct {
	name   string
	losses []content.Loss
	err    error // of Preflight and Generate
	asked  []string
}

func (l *lossy) Generate(_ context.Context, r *upstream.Request, w *upstream.Writer) error {
	l.asked = append(l.asked, "generate")
	if l.err != nil {
		return l.err
	}
	if err := w.Loss(l.losses); err != nil {
		return err
	}
	return w.Text(l.name + ":" + r.Model)
}

func (l *lossy) Preflight(context.Context, *upstream.Request) ([]content.Loss, error) {
	l.asked = append(l.asked, "preflight")
	return l.losses, l.err
}

func (l *lossy) CountTokens(context.Context, *upstream.Request) (upstream.TokenCount, error) {
	l.asked = append(l.asked, "count")
	return upstream.TokenCount{Tokens: int64(len(l.name))}, nil
}

func loses(name string, s ...content.Severity) *lossy {
	l := &lossy{name: name}
	for _, s := range s {
		l.losses = append(l.losses, content.Loss{Path: "top_k", Severity: s, Reason: name + " does not have it"})
	}
	return l
}

func fails(name string, err error) *lossy { return &lossy{name: name, err: err} }

func TestFirst(t *testing.T) {
	const hint, degraded, dropped = content.LossHint, content.LossDegraded, content.LossDropped
	violation := &content.Violation{Code: content.CodeValue, Path: "turns.0.parts.0", Text: "is sound"}
	var other upstream.Mux
	other.Handle("other", loses("other"))
	tests := []struct {
		name   string
		ups    []upstream.Upstream
		refuse content.Severity
		want   string
	}{
		{"all losses allowed", []upstream.Upstream{loses("a", dropped), loses("bb")}, 0, "a:m"},
		{"first is allowed", []upstream.Upstream{loses("a", hint, degraded), loses("bb")}, dropped, "a:m"},
		{"first is not allowed", []upstream.Upstream{loses("a", hint, dropped), loses("bb", degraded)}, dropped, "bb:m"},
		{"no losses allowed", []upstream.Upstream{loses("a", hint), loses("bb", degraded), loses("ccc")}, hint, "ccc:m"},
		{"order", []upstream.Upstream{loses("a", dropped), loses("bb", hint), loses("ccc")}, degraded, "bb:m"},
		{"no upstream is allowed", []upstream.Upstream{loses("a", degraded), loses("bb", dropped)}, degraded, "top_k: the request is rejected because of a loss: a does not have it"},
		{"first fails", []upstream.Upstream{fails("a", violation), loses("bb", dropped)}, 0, "bb:m"},
		{"first fails, second is not allowed", []upstream.Upstream{fails("a", violation), loses("bb", dropped)}, dropped, violation.Error()},
		{"unknown model", []upstream.Upstream{&other, loses("bb")}, 0, "bb:m"},
		{"no Preflight", []upstream.Upstream{loses("a", hint), plain, loses("ccc")}, hint, "plain:m"},
		{"nested", []upstream.Upstream{upstream.First(loses("a", dropped), loses("bb", degraded)), loses("ccc", hint)}, degraded, "ccc:m"},
		{"single upstream", []upstream.Upstream{loses("a", hint)}, hint, "top_k: the request is rejected because of a loss: a does not have it"},
	}
	for _, tt := range tests {
		var m upstream.Mux
		m.Handle("*", upstream.First(tt.ups...))
		r := &upstream.Request{Model: "m", RejectLoss: tt.refuse}
		if got := say(t, &m, r); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestFirstAbilities checks that CountTokens and Preflight use the Upstream that would be
// selected, and that Generate is not called.
func TestFirstAbilities(t *testing.T) {
	a, b := loses("a", content.LossDropped), loses("bb", content.LossHint)
	u := upstream.First(a, b)
	for _, tt := range []struct {
		refuse content.Severity
		tokens int64
		losses []content.Loss
	}{
		{0, 1, a.losses},
		{content.LossDegraded, 2, b.losses},
		{content.LossHint, 1, a.losses}, // no upstream is allowed: the first reports it
	} {
		r := &upstream.Request{RejectLoss: tt.refuse}
		if n, err := upstream.CountTokens(t.Context(), u, r); n.Tokens != tt.tokens || err != nil {
			t.Errorf("refusing %d: CountTokens: %v, %v", tt.refuse, n, err)
		}
		got, err := upstream.Preflight(t.Context(), u, r)
		if diff := cmp.Diff(tt.losses, got); err != nil || diff != "" {
			t.Errorf("refusing %d: Preflight: %v (-want +got):\n%s", tt.refuse, err, diff)
		}
	}
	for _, asked := range append(a.asked, b.asked...) {
		if asked == "generate" {
			t.Error("Generate was called")
		}
	}
	if _, err := upstream.Preflight(t.Context(), upstream.First(plain, a), &upstream.Request{}); !errors.Is(err, upstream.ErrUnsupported) {
		t.Errorf("Preflight of an upstream without Preflight: %v", err)
	}
	n, err := upstream.CountTokens(t.Context(), upstream.First(plain, a), user("Hi."))
	if !n.Estimated || err != nil {
		t.Errorf("CountTokens of an upstream without CountTokens: %v, %v", n, err)
	}
}

func TestFirstAsksNoMoreThanNeeded(t *testing.T) {
	a, b, c := loses("a", content.LossDropped), loses("bb"), loses("ccc")
	if got := say(t, upstream.First(a, b, c), &upstream.Request{RejectLoss: content.LossDropped}); got != "bb:" {
		t.Errorf("got %q", got)
	}
	want := [][]string{{"preflight"}, {"preflight", "generate"}, nil}
	if diff := cmp.Diff(want, [][]string{a.asked, b.asked, c.asked}); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
}

func TestFirstModels(t *testing.T) {
	a, b := &vendor{models: []upstream.Model{{ID: "a"}}}, &vendor{models: []upstream.Model{{ID: "b"}}}
	got, err := upstream.Models(t.Context(), upstream.First(plain, a, b))
	if diff := cmp.Diff(a.models, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	a.err = errors.New("down")
	if got, err := upstream.Models(t.Context(), upstream.First(a, b)); err != nil || cmp.Diff(b.models, got) != "" {
		t.Errorf("the first is down: %v, %v", got, err)
	}
	b.err = errors.New("down, too")
	if _, err := upstream.Models(t.Context(), upstream.First(plain, a, b)); !errors.Is(err, a.err) || !errors.Is(err, b.err) {
		t.Errorf("got %v", err)
	}
	if _, err := upstream.Models(t.Context(), upstream.First(plain, plain)); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("got %v", err)
	}
}

func TestFirstEnds(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	left := errors.New("the client left")
	cancel(left)
	a := loses("a")
	u := upstream.First(fails("x", context.Canceled), a)
	_, err := upstream.Preflight(ctx, u, &upstream.Request{})
	_, err2 := upstream.CountTokens(ctx, u, &upstream.Request{})
	_, err3 := upstream.Collect(ctx, u, &upstream.Request{})
	for _, err := range []error{err, err2, err3} {
		if !errors.Is(err, left) {
			t.Errorf("got %v", err)
		}
	}
	if a.asked != nil {
		t.Errorf("the next was asked: %q", a.asked)
	}
}

func TestFirstPanics(t *testing.T) {
	for name, ups := range map[string][]upstream.Upstream{"none": nil, "nil": {plain, nil}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			upstream.First(ups...)
		}()
	}
}

// Two models with one name: the cheap one receives the requests that it can represent,
// the expensive one all others.
func ExampleFirst() {
	answer := func(who string) upstream.Upstream {
		return upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error { return w.Text(who) })
	}
	var models upstream.Mux
	models.Handle("smart", upstream.First(seedless{answer("cheap")}, answer("expensive")))

	ask := func(r *upstream.Request) {
		r.Model = "smart"
		r.RejectLoss = content.LossDropped // handlers set it from HandlerOptions
		reply, err := upstream.Collect(context.Background(), &models, r)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(reply.Parts[0].(*content.Text).Text)
	}
	seed := int64(7)
	ask(&upstream.Request{})
	ask(&upstream.Request{Seed: &seed})
	// Output:
	// cheap
	// expensive
}

// A seedless Upstream does not support seeds.
type seedless struct{ upstream.Upstream }

func (seedless) Preflight(_ context.Context, r *upstream.Request) ([]content.Loss, error) {
	if r.Seed == nil {
		return nil, nil
	}
	return []content.Loss{{Path: "seed", Severity: content.LossDropped, Reason: "seeds are not supported; the seed was dropped"}}, nil
}
