package upstream_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/echo"
	"github.com/polywire/polywire/upstream/gemini"
	"github.com/polywire/polywire/upstream/upstreamtest"
)

func TestSelect(t *testing.T) {
	gem, err := gemini.New(&gemini.Options{Key: "k"})
	if err != nil {
		t.Fatal(err)
	}
	refused := &upstream.Error{Code: upstream.CodePermission}
	up := upstream.Select(func(_ context.Context, r *upstream.Request) (upstream.Upstream, error) {
		switch r.UserID {
		case "gemini":
			return gem, nil
		case "refused":
			return nil, refused
		case "nothing":
			return nil, nil
		}
		return echo.New(), nil
	})
	upstreamtest.Run(t, up, &upstreamtest.Options{Model: "demo", Deterministic: true})

	request := func(user string) *upstream.Request {
		return &upstream.Request{Model: "gemini-3.1-pro-preview", UserID: user, Turns: []content.Turn{
			{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: "a", Cache: &content.Cache{}}}}}}
	}
	ctx := t.Context()
	losses, err := upstream.Preflight(ctx, up, request("gemini"))
	if err != nil || len(losses) == 0 {
		t.Errorf("Preflight: %v, %v", losses, err)
	}
	if e, err := upstream.EncodeRequest(ctx, up, request("gemini")); err != nil || !strings.Contains(e.Document, `"contents"`) {
		t.Errorf("EncodeRequest: %v, %v", e, err)
	}
	if f, err := upstream.FormatOf(ctx, up, request("gemini")); err != nil || f != generatecontent.Format {
		t.Errorf("FormatOf: %q, %v", f, err)
	}
	if n, err := upstream.CountTokens(ctx, up, request("echo")); err != nil || n.Tokens == 0 {
		t.Errorf("CountTokens: %v, %v", n, err)
	}
	if list, err := upstream.Models(ctx, up); err != nil || len(list) == 0 { // those of echo
		t.Errorf("Models: %v, %v", list, err)
	}
	for user, want := range map[string]error{"refused": refused, "nothing": nil} {
		_, err1 := upstream.Collect(ctx, up, request(user))
		_, err2 := upstream.CountTokens(ctx, up, request(user))
		_, err3 := upstream.Preflight(ctx, up, request(user))
		_, err4 := upstream.EncodeRequest(ctx, up, request(user))
		_, err5 := upstream.FormatOf(ctx, up, request(user))
		for i, err := range []error{err1, err2, err3, err4, err5} {
			if err == nil || want != nil && !errors.Is(err, want) {
				t.Errorf("%s: %d: %v", user, i, err)
			}
		}
	}
}

// TestSwap checks that a request keeps its Upstream, and that later ones have the new one, in all
// operations.
func TestSwap(t *testing.T) {
	var s upstream.Swap
	r := new(upstream.Request)
	_, err1 := upstream.Collect(t.Context(), &s, r)
	_, err2 := upstream.CountTokens(t.Context(), &s, r)
	_, err3 := upstream.Preflight(t.Context(), &s, r)
	_, err4 := upstream.EncodeRequest(t.Context(), &s, r)
	_, err5 := upstream.FormatOf(t.Context(), &s, r)
	for i, err := range []error{err1, err2, err3, err4, err5} {
		if failed := new(upstream.Error); !errors.As(err, &failed) || failed.Code != upstream.CodeUnavailable {
			t.Errorf("%d: without an Upstream: %v", i, err)
		}
	}
	if failed := new(upstream.Error); !errors.As(models(t.Context(), &s), &failed) || failed.Code != upstream.CodeUnavailable {
		t.Errorf("models without an Upstream: %v", failed)
	}
	begun, swapped := make(chan struct{}), make(chan struct{})
	s.Store(upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		close(begun)
		<-swapped
		return w.Text("old")
	}))
	text := func() string {
		r, err := upstream.Collect(t.Context(), &s, &upstream.Request{Model: "demo"})
		if err != nil || len(r.Parts) != 1 {
			t.Errorf("%v, %v", r.Parts, err)
			return ""
		}
		return r.Parts[0].(*content.Text).Text
	}
	var wait sync.WaitGroup
	wait.Go(func() {
		if got := text(); got != "old" {
			t.Errorf("a request that had begun received %q", got)
		}
	})
	<-begun
	s.Store(echo.New())
	close(swapped)
	if got := text(); !strings.HasPrefix(got, "echo of demo") {
		t.Errorf("got %q", got)
	}
	wait.Wait()
	if list, err := upstream.Models(t.Context(), &s); err != nil || len(list) == 0 {
		t.Errorf("models: %v, %v", list, err)
	}
	upstreamtest.Run(t, &s, &upstreamtest.Options{Model: "demo", Deterministic: true})
}

func TestReportLogValue(t *testing.T) {
	log := func(r *upstream.Report) string {
		var b strings.Builder
		slog.New(slog.NewTextHandler(&b, &slog.HandlerOptions{ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
			if len(groups) == 0 {
				return slog.Attr{}
			}
			return a
		}})).Info("", "r", r)
		return strings.TrimSpace(b.String())
	}
	full := &upstream.Report{
		ID: "req_1", Format: "messages", Method: "POST", Path: "/v1/messages", Mode: "stream", Model: strings.Repeat("m", 200), ResponseModel: "qwen", Upstream: "claude",
		UpstreamID: "id", Status: 200, Usage: content.Usage{Input: 1, CacheRead: 2, Output: 3}, Code: upstream.CodeOverloaded, Err: errors.New("secret"),
		Duration: time.Second,
		Losses:   []content.Loss{{Severity: content.LossHint}, {Severity: content.LossHint}, {Severity: content.LossDropped}},
		Attempts: []upstream.Attempt{{Index: 0, Code: upstream.CodeOverloaded, Duration: 1200 * time.Millisecond}, {Index: 1, Upstream: "gemini", Duration: time.Second}},
	}
	want := `r.request=req_1 r.format=messages r.method=POST r.path=/v1/messages r.mode=stream r.status=200 r.duration=1s r.input_tokens=3 r.output_tokens=3 r.model=` +
		strings.Repeat("m", 100) + ` r.response_model=qwen r.upstream=claude r.upstream_request=id r.error=overloaded r.attempts="upstream 1: overloaded after 1.2s; gemini: ok after 1s"` +
		` r.losses_dropped=1 r.losses_hint=2`
	if diff := cmp.Diff(want, log(full)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	want = `r.status=0 r.duration=0s r.input_tokens=0 r.output_tokens=0`
	if diff := cmp.Diff(want, log(&upstream.Report{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func models(ctx context.Context, u upstream.Upstream) error {
	_, err := upstream.Models(ctx, u)
	return err
}
