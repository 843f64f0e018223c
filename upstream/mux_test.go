package upstream_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/document"
	"github.com/polywire/polywire/internal/snapshot"
	"github.com/polywire/polywire/upstream"
)

// A vendor has all optional methods. Its response contains its name and the model.
type vendor struct {
	name   string
	models []upstream.Model
	err    error
	listed int
}

func (v *vendor) Generate(_ context.Context, r *upstream.Request, w *upstream.Writer) error {
	kept := ""
	if snapshot.DocumentOf(r, format) != nil {
		kept = " with its Wire"
	}
	return w.Text(v.name + ":" + r.Model + kept)
}

func (v *vendor) CountTokens(_ context.Context, r *upstream.Request) (upstream.TokenCount, error) {
	return upstream.TokenCount{Tokens: int64(len(r.Model))}, v.err
}

func (v *vendor) Preflight(_ context.Context, r *upstream.Request) ([]content.Loss, error) {
	return []content.Loss{{Path: r.Model, Reason: v.name}}, v.err
}

func (v *vendor) Models(context.Context) ([]upstream.Model, error) {
	v.listed++
	return v.models, v.err
}

var plain = upstream.Func(func(_ context.Context, r *upstream.Request, w *upstream.Writer) error {
	return w.Text("plain:" + r.Model)
})

func say(t *testing.T, u upstream.Upstream, r *upstream.Request) string {
	t.Helper()
	reply, err := upstream.Collect(t.Context(), u, r)
	if err != nil {
		return err.Error()
	}
	return reply.Parts[0].(*content.Text).Text
}

const format content.Format = "format"

func TestMux(t *testing.T) {
	a, b := &vendor{name: "a"}, &vendor{name: "b"}
	var m upstream.Mux
	m.Handle("exact", a)
	m.Handle("pre*", plain)
	m.Handle("prefix-long*", b)
	m.HandleAs("fast", b, "b-mini")
	m.HandleAs("b/*", b, "*")
	m.HandleAs("old-*", a, "new-*")
	m.HandleAs("all*", a, "one")
	tests := []struct{ model, want string }{
		{"exact", "a:exact with its Wire"},
		{"exactly", "upstream: not_found: model: exactly"},
		{"pre", "plain:pre"},
		{"prefix-short", "plain:prefix-short"},
		{"prefix-longer", "b:prefix-longer with its Wire"},
		{"fast", "b:b-mini with its Wire"},
		{"b/x/y", "b:x/y with its Wire"},
		{"old-7", "a:new-7 with its Wire"},
		{"all-of-them", "a:one with its Wire"},
		{"", "upstream: not_found: model:"},
	}
	for _, tt := range tests {
		r := &upstream.Request{Model: tt.model}
		snapshot.Attach(r, &document.Document{In: format})
		if got := say(t, &m, r); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.model, got, tt.want)
		}
		if r.Model != tt.model || snapshot.DocumentOf(r, format) == nil {
			t.Errorf("%q: the client's request was changed", tt.model)
		}
	}
	_, err := upstream.Collect(t.Context(), &m, &upstream.Request{Model: "none"})
	var e *upstream.Error
	if !errors.As(err, &e) || e.Code != upstream.CodeNotFound || e.Text != "model: none" {
		t.Errorf("got %#v", err)
	}
	m.Handle("*", plain)
	if got := say(t, &m, &upstream.Request{Model: "none"}); got != "plain:none" {
		t.Errorf("got %q", got)
	}
	if got := say(t, &upstream.Mux{}, &upstream.Request{Model: "x"}); got != "upstream: not_found: model: x" {
		t.Errorf("the zero Mux: got %q", got)
	}
}

func TestMuxAbilities(t *testing.T) {
	var m upstream.Mux
	m.HandleAs("v/*", &vendor{name: "v"}, "*")
	m.Handle("plain", plain)
	pass := func(_ context.Context, _ *upstream.Request, to upstream.Sink) (upstream.Sink, func(error)) {
		return to, nil
	}
	same := func(_ context.Context, r *upstream.Request) (*upstream.Request, error) { return r, nil }
	var outer upstream.Mux
	outer.Handle("*", upstream.Edit(upstream.Tap(&m, pass), same))
	ctx, r := t.Context(), &upstream.Request{Model: "v/abc"}
	if n, err := upstream.CountTokens(ctx, &outer, r); n.Tokens != 3 || err != nil {
		t.Errorf("CountTokens: %v, %v", n, err)
	}
	if l, err := upstream.Preflight(ctx, &outer, r); err != nil || len(l) != 1 || l[0].Path != "abc" {
		t.Errorf("Preflight: %v, %v", l, err)
	}
	plain, none := &upstream.Request{Model: "plain"}, &upstream.Request{Model: "none"}
	if n, err := upstream.CountTokens(ctx, &outer, plain); err != nil || !n.Estimated {
		t.Errorf("plain: %v, %v", n, err)
	}
	if _, err := upstream.Preflight(ctx, &outer, plain); !errors.Is(err, upstream.ErrUnsupported) || !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("plain: got %v", err)
	}
	_, err1 := upstream.CountTokens(ctx, &outer, none)
	_, err2 := upstream.Preflight(ctx, &outer, none)
	for _, err := range []error{err1, err2} {
		var e *upstream.Error
		if !errors.As(err, &e) || e.Code != upstream.CodeNotFound {
			t.Errorf("none: got %v", err)
		}
	}
}

func TestMuxModels(t *testing.T) {
	created := time.Unix(1700000000, 0)
	a := &vendor{models: []upstream.Model{{ID: "a-1", Name: "A one", Created: created}, {ID: "a-2"}, {ID: "a-2"}, {ID: "z"}}}
	b := &vendor{models: []upstream.Model{{ID: "a-9"}, {ID: "b-1"}, {ID: "exact"}}}
	var m upstream.Mux
	m.Handle("a-*", a)
	m.HandleAs("fast", a, "a-1")
	m.HandleAs("vendor/*", a, "*")
	m.HandleAs("all*", b, "b-1")
	m.Handle("exact", plain)
	m.Handle("*", b)
	want := []upstream.Model{
		{ID: "a-1", Name: "A one", Created: created}, {ID: "a-2"},
		{ID: "fast", Name: "A one", Created: created},
		{ID: "vendor/a-1", Name: "A one", Created: created}, {ID: "vendor/a-2"}, {ID: "vendor/z"},
		{ID: "exact"},
		{ID: "b-1"}, // other patterns match a-9 and exact
	}
	got, err := upstream.Models(t.Context(), &m)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if a.listed != 1 {
		t.Errorf("one upstream was asked %d times", a.listed)
	}

	b.err = errors.New("down")
	want = want[:len(want)-1] // without the models that only b lists
	got, err = upstream.Models(t.Context(), &m)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("one is down: %v (-want +got):\n%s", err, diff)
	}
	a.err = errors.New("down, too")
	got, err = upstream.Models(t.Context(), &m)
	if diff := cmp.Diff([]upstream.Model{{ID: "fast"}, {ID: "exact"}}, got); err != nil || diff != "" {
		t.Errorf("all are down: %v (-want +got):\n%s", err, diff)
	}
	var stars, one upstream.Mux
	stars.Handle("a-*", a)
	stars.Handle("*", b)
	if _, err := upstream.Models(t.Context(), &stars); !errors.Is(err, a.err) || !errors.Is(err, b.err) {
		t.Errorf("all are down, and there are no full names: %v", err)
	}
	one.Handle("*", b)
	if _, err := upstream.Models(t.Context(), &one); err != b.err {
		t.Errorf("got %v", err)
	}
	ended, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("gone"))
	if _, err := upstream.Models(ended, &m); err != context.Cause(ended) {
		t.Errorf("the context has ended: %v", err)
	}
	var none upstream.Mux
	none.Handle("*", plain)
	if _, err := upstream.Models(t.Context(), &none); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("got %v", err)
	}
}

func TestMuxPanics(t *testing.T) {
	for want, f := range map[string]func(m *upstream.Mux){
		`nil Upstream for pattern "a"`:       func(m *upstream.Mux) { m.Handle("a", nil) },
		`invalid pattern ""`:                 func(m *upstream.Mux) { m.Handle("", plain) },
		`invalid pattern "a*b"`:              func(m *upstream.Mux) { m.Handle("a*b", plain) },
		`pattern "a*" is already registered`: func(m *upstream.Mux) { m.Handle("a*", plain); m.Handle("a*", plain) },
		`invalid model "" for pattern "a"`:   func(m *upstream.Mux) { m.HandleAs("a", plain, "") },
		`invalid model "b*" for pattern "a"`: func(m *upstream.Mux) { m.HandleAs("a", plain, "b*") },
	} {
		func() {
			defer func() {
				if got := recover(); got != "upstream: Mux: "+want {
					t.Errorf("panic %v, want %q", got, want)
				}
			}()
			f(&upstream.Mux{})
		}()
	}
	var m upstream.Mux // patterns with and without a star are different
	m.Handle("a", plain)
	m.Handle("a*", plain)
}
