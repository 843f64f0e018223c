package otelwire_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
	otelwire "github.com/polywire/polywire/upstream/otel"
)

// TestAttempts checks the spans and metrics of a request whose first attempt fails after
// it has used tokens.
func TestAttempts(t *testing.T) {
	var contexts []trace.SpanContext // that the upstreams got
	failing := upstream.Func(func(ctx context.Context, _ *upstream.Request, w *upstream.Writer) error {
		contexts = append(contexts, trace.SpanContextFromContext(ctx))
		time.Sleep(time.Second)
		_ = w.Start(upstream.Start{Upstream: "gemini", UpstreamID: "g1"})
		_ = w.Usage(content.Usage{Input: 30, CacheRead: 4})
		return &upstream.Error{Code: upstream.CodeOverloaded, Text: "SECRET", Upstream: "gemini", UpstreamID: "g1", Err: errors.New("status 503")}
	})
	healthy := upstream.Func(func(ctx context.Context, _ *upstream.Request, w *upstream.Writer) error {
		contexts = append(contexts, trace.SpanContextFromContext(ctx))
		_ = w.Start(upstream.Start{Upstream: "europe", UpstreamID: "a1"})
		time.Sleep(2 * time.Second)
		_ = w.Text("Hello")
		return w.Usage(content.Usage{Input: 33, Output: 5})
	})
	synctest.Test(t, func(t *testing.T) {
		rec := newRecorder()
		w := rec.wrap(upstream.Failover([]upstream.Upstream{failing, healthy}, nil), otelwire.Options{
			Providers: map[string]string{"europe": "anthropic"},
			Models:    []string{"demo"},
			Attributes: func(context.Context, *upstream.Request) []attribute.KeyValue {
				return []attribute.KeyValue{attribute.String("tenant", "ada")}
			},
		})
		if err := upstream.Run(t.Context(), w, prompt("Hi"), discard); err != nil {
			t.Fatal(err)
		}
		parent := rec.span(t, "chat demo")
		if a := attributes(parent.Attributes()); a["polywire.attempts"] != int64(2) || a["polywire.upstream"] != "europe" || a["error.type"] != nil {
			t.Errorf("attributes of the request: %v, want 2 attempts, the upstream europe and no error", a)
		}
		var attempts []sdktrace.ReadOnlySpan
		for _, s := range rec.spans.Ended() {
			if s.Name() == "attempt" {
				attempts = append(attempts, s)
			}
		}
		want := []map[string]any{{
			"tenant": "ada", "polywire.attempt.index": int64(0), "polywire.attempt.chosen": false,
			"gen_ai.provider.name": "gcp.gemini", "gen_ai.request.model": "demo", "polywire.upstream": "gemini", "polywire.upstream.request.id": "g1",
			"error.type": "overloaded", "gen_ai.usage.input_tokens": int64(34), "gen_ai.usage.cache_read.input_tokens": int64(4),
		}, {
			"tenant": "ada", "polywire.attempt.index": int64(1), "polywire.attempt.chosen": true,
			"gen_ai.provider.name": "anthropic", "gen_ai.request.model": "demo", "polywire.upstream": "europe", "polywire.upstream.request.id": "a1",
			"polywire.attempt.time_to_first_content": 2.0,
		}}
		if len(attempts) != len(want) {
			t.Fatalf("%d attempts have spans, want %d", len(attempts), len(want))
		}
		for i, s := range attempts {
			if diff := cmp.Diff(want[i], attributes(s.Attributes())); diff != "" {
				t.Errorf("attempt %d (-want +got):\n%s", i, diff)
			}
			if s.Parent().SpanID() != parent.SpanContext().SpanID() {
				t.Errorf("attempt %d is not a child of the request", i)
			}
			if got := s.EndTime().Sub(s.StartTime()); got != time.Duration(i+1)*time.Second {
				t.Errorf("attempt %d took %v, want %d s", i, got, i+1)
			}
			if contexts[i].SpanID() != s.SpanContext().SpanID() {
				t.Errorf("the context of upstream %d has another span than that of its attempt", i)
			}
		}
		if s := attempts[0].Status(); s.Code != codes.Error || s.Description != "upstream: overloaded: status 503" {
			t.Errorf("status of the failed attempt: %v %q", s.Code, s.Description)
		}
		if s := attempts[1].Status(); s.Code != codes.Unset {
			t.Errorf("status of the chosen attempt: %v", s.Code)
		}

		// The tokens of the dropped response are in a metric of their own.
		for metric, want := range map[string]map[string]point{
			"gen_ai.client.token.usage": {
				"gen_ai.provider.name=anthropic,gen_ai.request.model=demo,gen_ai.token.type=input,polywire.upstream=europe,tenant=ada":  {33, 1},
				"gen_ai.provider.name=anthropic,gen_ai.request.model=demo,gen_ai.token.type=output,polywire.upstream=europe,tenant=ada": {5, 1},
			},
			"polywire.attempt.dropped_tokens": {
				"gen_ai.provider.name=gcp.gemini,gen_ai.request.model=demo,gen_ai.token.type=cache_read,polywire.attempt.index=0,polywire.upstream=gemini,tenant=ada": {4, 1},
				"gen_ai.provider.name=gcp.gemini,gen_ai.request.model=demo,gen_ai.token.type=input,polywire.attempt.index=0,polywire.upstream=gemini,tenant=ada":      {30, 1},
			},
			"polywire.attempt.duration": {
				"error.type=overloaded,gen_ai.provider.name=gcp.gemini,gen_ai.request.model=demo,polywire.attempt.chosen=false,polywire.attempt.index=0,polywire.upstream=gemini,tenant=ada": {1, 1},
				"gen_ai.provider.name=anthropic,gen_ai.request.model=demo,polywire.attempt.chosen=true,polywire.attempt.index=1,polywire.upstream=europe,tenant=ada":                         {2, 1},
			},
		} {
			if diff := cmp.Diff(want, rec.points(t, metric)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", metric, diff)
			}
		}
	})
}

// TestOtherTrace checks that the trace of a host is called too, and that its context does
// not confuse the wrapper.
func TestOtherTrace(t *testing.T) {
	rec, outer := newRecorder(), newRecorder()
	up := upstream.Failover([]upstream.Upstream{upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		return w.Text("Hello")
	})}, nil)
	done := 0
	ctx := upstream.WithTrace(t.Context(), &upstream.Trace{
		AttemptStart: func(ctx context.Context, _ upstream.Attempt) context.Context {
			ctx, _ = outer.tracer.Tracer("host").Start(ctx, "host")
			return ctx
		},
		AttemptDone: func(ctx context.Context, _ upstream.Attempt) {
			trace.SpanFromContext(ctx).End()
			done++
		},
	})
	if err := upstream.Run(ctx, rec.wrap(up, otelwire.Options{}), prompt("Hi"), discard); err != nil {
		t.Fatal(err)
	}
	rec.span(t, "attempt")
	outer.span(t, "host")
	if done != 1 {
		t.Errorf("AttemptDone of the host was called %d times, want once", done)
	}
}

// TestHedge checks the attempt that loses: it is canceled, which is not an error, and its
// tokens are recorded as dropped.
func TestHedge(t *testing.T) {
	slow := upstream.Func(func(ctx context.Context, _ *upstream.Request, w *upstream.Writer) error {
		_ = w.Start(upstream.Start{Upstream: "slow", Usage: &content.Usage{Input: 30}})
		<-ctx.Done()
		return ctx.Err()
	})
	fast := upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		_ = w.Start(upstream.Start{Upstream: "fast"})
		return w.Text("Hello")
	})
	synctest.Test(t, func(t *testing.T) {
		rec := newRecorder()
		w := rec.wrap(upstream.Failover([]upstream.Upstream{slow, fast}, &upstream.FailoverOptions{Hedge: time.Second}), otelwire.Options{})
		if err := upstream.Run(t.Context(), w, prompt("Hi"), discard); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		codeOf := map[any]any{}
		for _, s := range rec.spans.Ended() {
			if s.Name() == "attempt" {
				a := attributes(s.Attributes())
				codeOf[a["polywire.upstream"]] = a["error.type"]
				if s.Status().Code != codes.Unset {
					t.Errorf("status of the attempt with %v: %v, want Unset", a["polywire.upstream"], s.Status())
				}
			}
		}
		if diff := cmp.Diff(map[any]any{"slow": "canceled", "fast": nil}, codeOf); diff != "" {
			t.Errorf("error.type by upstream (-want +got):\n%s", diff)
		}
		want := map[string]point{
			"gen_ai.provider.name=slow,gen_ai.request.model=demo,gen_ai.token.type=input,polywire.attempt.index=0,polywire.upstream=slow": {30, 1},
		}
		if diff := cmp.Diff(want, rec.points(t, "polywire.attempt.dropped_tokens")); diff != "" {
			t.Errorf("dropped tokens (-want +got):\n%s", diff)
		}
		if got := attributes(rec.span(t, "chat demo").Attributes())["polywire.attempts"]; got != int64(2) {
			t.Errorf("polywire.attempts is %v, want 2", got)
		}
	})
}
