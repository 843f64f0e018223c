package otelwire_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
	otelwire "github.com/polywire/polywire/upstream/otel"
	"github.com/polywire/polywire/upstream/script"
	"github.com/polywire/polywire/upstream/upstreamtest"
)

func TestSuite(t *testing.T) {
	ask := func(text string) *upstream.Request {
		r := prompt(text)
		r.Stream = false
		return r
	}
	call := ask("call")
	call.Tools = []content.Tool{{Name: "look", Input: content.Schema{JSON: `{"type":"object"}`}}}
	replies := map[string]script.Reply{
		"silent": {script.Wait(time.Hour)}, "call": {script.Call("look", `{"at":"it"}`), script.Call("look", "")},
		"think": {script.Think("Hm. "), script.Say("Yes.")}, "cut": {script.Say("One"), script.Cut()},
		"fail":    {script.Fail(&upstream.Error{Code: upstream.CodeOverloaded})},
		"invalid": {script.Fail(&content.Violation{Code: content.CodeValue, Path: "turns.0", Text: "no"})},
	}
	for range 300 {
		replies["long"] = append(replies["long"], script.Say("wörd "))
	}
	model := script.NewFunc(func(_ int, r *upstream.Request) script.Reply {
		text := ""
		for _, p := range r.LastParts() {
			if t, ok := p.(*content.Text); ok && t != nil {
				text += t.Text
			}
		}
		if reply := replies[text]; reply != nil {
			return reply
		}
		return script.Reply{script.Say("so, " + text)}
	})
	for name, up := range map[string]upstream.Upstream{
		"plain":    newRecorder().wrap(model, otelwire.Options{}),
		"content":  newRecorder().wrap(model, otelwire.Options{Content: true}),
		"failover": newRecorder().wrap(upstream.Failover([]upstream.Upstream{model}, nil), otelwire.Options{}),
	} {
		t.Run(name, func(t *testing.T) {
			upstreamtest.Run(t, up, &upstreamtest.Options{
				Text: ask("Hello!"), Long: ask("long"), Silent: ask("silent"), Call: call, Think: ask("think"),
				Invalid: []*upstream.Request{ask("invalid")},
				Fail:    []*upstream.Request{ask("fail"), ask("cut")},
				Marked:  ask,
			})
		})
	}
}

// TestSpan compares all attributes of the span of a request with every setting.
func TestSpan(t *testing.T) {
	up := upstream.Func(func(ctx context.Context, r *upstream.Request, w *upstream.Writer) error {
		_ = w.Start(upstream.Start{ID: "msg_1", Model: "demo-20260101", Upstream: "gemini", UpstreamID: "req_1"})
		time.Sleep(time.Second)
		_ = w.Text("Hello")
		_ = w.Usage(content.Usage{Input: 1, CacheRead: 20, CacheWrite: 300, CacheWrite1h: 4000, ToolPrompt: 50_000, Output: 6, Thinking: 70})
		return w.Stop(upstream.Stop{Reason: content.StopMaxTokens})
	})
	synctest.Test(t, func(t *testing.T) {
		rec := newRecorder()
		r := prompt("Hi")
		r.MaxTokens, r.Seed, r.TopK = value(int64(100)), value(int64(7)), value(int64(40))
		r.Temperature, r.TopP, r.PresencePenalty, r.FrequencyPenalty = value(0.5), value(0.25), value(0.125), value(1.5)
		r.StopSequences, r.Candidates = []string{"END"}, 2
		r.Output = upstream.Output{MediaType: "application/json"}
		w := rec.wrap(up, otelwire.Options{
			Attributes: func(_ context.Context, r *upstream.Request) []attribute.KeyValue {
				return []attribute.KeyValue{attribute.String("tenant", "ada"), attribute.String("gen_ai.request.model", "other")}
			},
		})
		start := time.Now()
		if err := upstream.Run(t.Context(), w, r, discard); err != nil {
			t.Fatal(err)
		}
		s := rec.span(t, "chat demo")
		want := map[string]any{
			"tenant":                                   "ada",
			"gen_ai.operation.name":                    "chat",
			"gen_ai.provider.name":                     "gcp.gemini",
			"gen_ai.request.model":                     "demo",
			"gen_ai.request.stream":                    true,
			"gen_ai.request.max_tokens":                int64(100),
			"gen_ai.request.seed":                      int64(7),
			"gen_ai.request.top_k":                     40.0,
			"gen_ai.request.temperature":               0.5,
			"gen_ai.request.top_p":                     0.25,
			"gen_ai.request.presence_penalty":          0.125,
			"gen_ai.request.frequency_penalty":         1.5,
			"gen_ai.request.stop_sequences":            []string{"END"},
			"gen_ai.request.choice.count":              int64(2),
			"gen_ai.output.type":                       "json",
			"gen_ai.response.id":                       "msg_1",
			"gen_ai.response.model":                    "demo-20260101",
			"gen_ai.response.finish_reasons":           []string{"length"},
			"gen_ai.response.time_to_first_chunk":      1.0,
			"gen_ai.usage.input_tokens":                int64(54321), // with those of caches
			"gen_ai.usage.cache_read.input_tokens":     int64(20),
			"gen_ai.usage.cache_creation.input_tokens": int64(4300),
			"gen_ai.usage.output_tokens":               int64(76), // with thinking
			"gen_ai.usage.reasoning.output_tokens":     int64(70),
			"polywire.upstream":                        "gemini",
			"polywire.upstream.request.id":             "req_1",
		}
		if diff := cmp.Diff(want, attributes(s.Attributes())); diff != "" {
			t.Errorf("attributes (-want +got):\n%s", diff)
		}
		if s.SpanKind() != trace.SpanKindClient || s.Status().Code != codes.Unset {
			t.Errorf("kind %v, status %v, want client and Unset", s.SpanKind(), s.Status().Code)
		}
		if !s.StartTime().Equal(start) || s.EndTime().Sub(s.StartTime()) != time.Second {
			t.Errorf("the span began after %v and took %v, want 0s and 1s", s.StartTime().Sub(start), s.EndTime().Sub(s.StartTime()))
		}
		if got := s.InstrumentationScope().SchemaURL; got != "https://opentelemetry.io/schemas/1.41.0" {
			t.Errorf("schema URL %s", got)
		}
	})
}

// TestTokens checks that each token is in one type, so that prices can be applied.
func TestTokens(t *testing.T) {
	usage := content.Usage{Input: 1, CacheRead: 20, CacheWrite: 300, CacheWrite1h: 4000, ToolPrompt: 50_000, Output: 600_000, Thinking: 7_000_000}
	for _, tt := range []struct {
		name  string
		usage *content.Usage
		want  map[string]point
	}{
		{"all types", &usage, map[string]point{
			"gen_ai.provider.name=_OTHER,gen_ai.request.model=demo,gen_ai.token.type=input":             {50_001, 1},
			"gen_ai.provider.name=_OTHER,gen_ai.request.model=demo,gen_ai.token.type=cache_read":        {20, 1},
			"gen_ai.provider.name=_OTHER,gen_ai.request.model=demo,gen_ai.token.type=cache_creation":    {300, 1},
			"gen_ai.provider.name=_OTHER,gen_ai.request.model=demo,gen_ai.token.type=cache_creation_1h": {4000, 1},
			"gen_ai.provider.name=_OTHER,gen_ai.request.model=demo,gen_ai.token.type=output":            {7_600_000, 1},
		}},
		{"estimate", &content.Usage{Input: 5, Estimated: true}, map[string]point{
			"gen_ai.provider.name=_OTHER,gen_ai.request.model=demo,gen_ai.token.type=input,polywire.usage.estimated=true": {5, 1},
		}},
		{"no report", nil, map[string]point{}},
	} {
		rec := newRecorder()
		w := rec.wrap(upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
			if tt.usage == nil {
				return nil
			}
			_ = w.Usage(content.Usage{Input: 99, Output: 99, Estimated: true}) // replaced by the next report
			return w.Usage(*tt.usage)
		}), otelwire.Options{})
		if err := upstream.Run(t.Context(), w, prompt("Hi"), discard); err != nil {
			t.Fatal(err)
		}
		got := rec.points(t, "gen_ai.client.token.usage")
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
		total := 0.0
		for _, p := range got {
			total += p.Sum
		}
		if u := tt.usage; u != nil && total != float64(u.Prompt()+u.Completion()) {
			t.Errorf("%s: the sum of all types is %v, want %d", tt.name, total, u.Prompt()+u.Completion())
		}
	}
}

// TestTimes checks the times of chunks: only those of a streamed response, and only
// those that contain output.
func TestTimes(t *testing.T) {
	up := upstream.Func(func(_ context.Context, r *upstream.Request, w *upstream.Writer) error {
		time.Sleep(time.Second)
		_ = w.Start(upstream.Start{Model: "m", Upstream: "anthropic"})
		time.Sleep(time.Second)
		_ = w.Thinking("Hm")
		time.Sleep(3 * time.Second)
		_ = w.Signature(content.Signature{Data: "s"})
		_ = w.Text("Hello")
		time.Sleep(5 * time.Second)
		_ = w.ToolCall("", "look").Close()
		time.Sleep(7 * time.Second)
		return nil
	})
	synctest.Test(t, func(t *testing.T) {
		rec := newRecorder()
		w := rec.wrap(up, otelwire.Options{})
		for _, stream := range []bool{true, false} {
			r := prompt("Hi")
			r.Stream = stream
			if err := upstream.Run(t.Context(), w, r, discard); err != nil {
				t.Fatal(err)
			}
		}
		const dims = "gen_ai.provider.name=anthropic,gen_ai.request.model=other,gen_ai.response.model=m,polywire.upstream=anthropic"
		for name, want := range map[string]point{
			"gen_ai.client.operation.time_to_first_chunk":   {2, 1},
			"gen_ai.client.operation.time_per_output_chunk": {8, 2},
			"gen_ai.client.operation.duration":              {34, 2},
		} {
			if diff := cmp.Diff(map[string]point{dims: want}, rec.points(t, name)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		}
	})
}

// TestErrors checks the code, the status and the requested model of failed requests.
func TestErrors(t *testing.T) {
	vendor := &upstream.Error{Code: upstream.CodeOverloaded, Text: "too many requests like SECRET", Upstream: "anthropic", Err: errors.New("status 529")}
	for _, tt := range []struct {
		name                   string
		err                    error
		after                  string // output before the error
		code, describe, points string
	}{
		{"before the first byte", vendor, "", "overloaded", "upstream: overloaded: status 529",
			"error.type=overloaded,gen_ai.provider.name=anthropic,gen_ai.request.model=other,polywire.upstream=anthropic"},
		{"in the stream", vendor, "Hello", "overloaded", "upstream: overloaded: status 529",
			"error.type=overloaded,gen_ai.provider.name=anthropic,gen_ai.request.model=demo,polywire.upstream=anthropic"},
		{"model that the client invented", &upstream.Error{Code: upstream.CodeNotFound, Text: "no model demo"}, "", "not_found", "upstream: not_found",
			"error.type=not_found,gen_ai.provider.name=_OTHER,gen_ai.request.model=other"},
		{"violation", fmt.Errorf("in a wrapper: %w", &content.Violation{Code: content.CodeValue, Path: "turns.0", Text: "SECRET is not allowed"}), "",
			"invalid", "upstream: invalid: at turns.0", "error.type=invalid,gen_ai.provider.name=_OTHER,gen_ai.request.model=other"},
		{"other error", errors.New("disk full"), "", "internal", "upstream: internal: disk full",
			"error.type=internal,gen_ai.provider.name=_OTHER,gen_ai.request.model=other"},
		{"unknown code", &upstream.Error{Code: "tuesday"}, "", "internal", "upstream: internal",
			"error.type=internal,gen_ai.provider.name=_OTHER,gen_ai.request.model=other"},
		{"error without a code", &upstream.Error{}, "", "internal", "upstream: internal",
			"error.type=internal,gen_ai.provider.name=_OTHER,gen_ai.request.model=other"},
		{"deadline of the upstream", context.DeadlineExceeded, "", "timeout", "upstream: timeout: context deadline exceeded",
			"error.type=timeout,gen_ai.provider.name=_OTHER,gen_ai.request.model=other"},
	} {
		rec := newRecorder()
		w := rec.wrap(upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
			if tt.after != "" {
				_ = w.Text(tt.after)
				_ = w.Usage(content.Usage{Output: 3})
			}
			return tt.err
		}), otelwire.Options{})
		if err := upstream.Run(t.Context(), w, prompt("Hi"), discard); err != tt.err {
			t.Errorf("%s: Generate returned %v, want the same error", tt.name, err)
		}
		s := rec.span(t, "chat demo")
		if got := attributes(s.Attributes())["error.type"]; got != tt.code {
			t.Errorf("%s: error.type is %v, want %s", tt.name, got, tt.code)
		}
		if s.Status().Code != codes.Error || s.Status().Description != tt.describe {
			t.Errorf("%s: status %v %q, want Error %q", tt.name, s.Status().Code, s.Status().Description, tt.describe)
		}
		got := rec.points(t, "gen_ai.client.operation.duration")
		if _, ok := got[tt.points]; !ok || len(got) != 1 {
			t.Errorf("%s: durations %v, want one with %s", tt.name, got, tt.points)
		}
		tokens := rec.points(t, "gen_ai.client.token.usage")
		if (len(tokens) == 1) != (tt.after != "") {
			t.Errorf("%s: tokens %v, want those before the error", tt.name, tokens)
		}
	}
}

// TestEndOfContext checks requests whose context ends.
func TestEndOfContext(t *testing.T) {
	for _, tt := range []struct {
		name   string
		end    func(context.Context) (context.Context, context.CancelFunc)
		err    func(context.Context) error // of the upstream
		code   string
		status codes.Code
	}{
		{"client left", canceled(nil), context.Context.Err, "canceled", codes.Unset},
		{"client left, another error follows", canceled(nil), func(context.Context) error { return errors.New("broken pipe") }, "canceled", codes.Unset},
		{"cause of the handler", canceled(errors.New("the client left")), context.Cause, "canceled", codes.Unset},
		{"cause of the host", canceled(&upstream.Error{Code: upstream.CodeUnavailable}), context.Context.Err, "unavailable", codes.Error},
		{"error that wraps the cause", canceled(nil), func(ctx context.Context) error {
			return &upstream.Error{Code: upstream.CodeUnavailable, Err: ctx.Err()}
		}, "canceled", codes.Unset},
		{"deadline", func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, time.Second)
		}, context.Context.Err, "timeout", codes.Error},
		{"vendor's error at the same time", canceled(nil), func(context.Context) error {
			return &upstream.Error{Code: upstream.CodeOverloaded}
		}, "overloaded", codes.Error},
	} {
		synctest.Test(t, func(t *testing.T) {
			rec := newRecorder()
			w := rec.wrap(upstream.Func(func(ctx context.Context, _ *upstream.Request, w *upstream.Writer) error {
				_ = w.Usage(content.Usage{Input: 8})
				<-ctx.Done()
				return tt.err(ctx)
			}), otelwire.Options{})
			ctx, cancel := tt.end(t.Context())
			defer cancel()
			_ = upstream.Run(ctx, w, prompt("Hi"), discard)
			s := rec.span(t, "chat demo")
			if got := attributes(s.Attributes())["error.type"]; got != tt.code || s.Status().Code != tt.status {
				t.Errorf("%s: error.type %v and status %v, want %s and %v", tt.name, got, s.Status().Code, tt.code, tt.status)
			}
			if got := rec.points(t, "gen_ai.client.token.usage"); len(got) != 1 {
				t.Errorf("%s: tokens %v, want those of the prompt", tt.name, got)
			}
		})
	}
}

// TestCanceledModel checks that a client cannot create time series with names of models
// that it invents.
func TestCanceledModel(t *testing.T) {
	for _, begun := range []bool{false, true} {
		rec := newRecorder()
		ctx, cancel := context.WithCancel(t.Context())
		w := rec.wrap(upstream.Func(func(ctx context.Context, _ *upstream.Request, w *upstream.Writer) error {
			_ = w.Loss([]content.Loss{{Path: "top_k", Severity: content.LossHint, Reason: "r"}})
			if begun {
				_ = w.Start(upstream.Start{})
			}
			cancel()
			return ctx.Err()
		}), otelwire.Options{})
		_ = upstream.Run(ctx, w, prompt("Hi"), discard)
		want := "error.type=canceled,gen_ai.provider.name=_OTHER,gen_ai.request.model=other"
		if begun {
			want = "error.type=canceled,gen_ai.provider.name=_OTHER,gen_ai.request.model=demo"
		}
		if got := rec.points(t, "gen_ai.client.operation.duration"); len(got) != 1 || got[want].Count != 1 {
			t.Errorf("begun %t: durations %v, want one with %s", begun, got, want)
		}
	}
}

// canceled returns a function that returns a context that is soon canceled.
func canceled(cause error) func(context.Context) (context.Context, context.CancelFunc) {
	return func(ctx context.Context) (context.Context, context.CancelFunc) {
		ctx, cancel := context.WithCancelCause(ctx)
		time.AfterFunc(time.Second, func() { cancel(cause) })
		return ctx, func() { cancel(nil) }
	}
}

func TestPanic(t *testing.T) {
	rec := newRecorder()
	w := rec.wrap(upstream.Func(func(context.Context, *upstream.Request, *upstream.Writer) error { panic("oh") }), otelwire.Options{})
	func() {
		defer func() {
			if v := recover(); v != "oh" {
				t.Errorf("recovered %v, want the panic of the upstream", v)
			}
		}()
		_ = upstream.Run(t.Context(), w, prompt("Hi"), discard)
	}()
	if s := rec.span(t, "chat demo"); s.Status().Code != codes.Error {
		t.Errorf("status %v, want Error", s.Status().Code)
	}
}

// TestLosses checks that losses are events of the span, also those that reject a request.
func TestLosses(t *testing.T) {
	rec := newRecorder()
	w := rec.wrap(upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		return w.Loss([]content.Loss{
			{Path: "top_k", Severity: content.LossDropped, Reason: "the server does not support it"},
			{Path: "turns.0", Severity: content.LossHint, Reason: "it is written in another form", More: 200},
			{Path: "turns.1", Severity: content.LossHint, Reason: "it is beyond the limit"},
		})
	}), otelwire.Options{})
	r := prompt("Hi")
	r.RejectLoss = content.LossDropped
	if err := upstream.Run(t.Context(), w, r, discard); err == nil {
		t.Error("Generate returned no error for a loss that is not allowed")
	}
	s := rec.span(t, "chat demo")
	var got []map[string]any
	for _, e := range s.Events() {
		if e.Name == "polywire.loss" {
			got = append(got, attributes(e.Attributes))
		}
	}
	want := []map[string]any{
		{"polywire.loss.severity": "dropped", "polywire.loss.path": "top_k", "polywire.loss.reason": "the server does not support it"},
		{"polywire.loss.severity": "hint", "polywire.loss.path": "turns.0", "polywire.loss.reason": "it is written in another form", "polywire.loss.more": int64(200)},
		{"polywire.loss.severity": "hint", "polywire.loss.path": "turns.1", "polywire.loss.reason": "it is beyond the limit"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if n := attributes(s.Attributes())["polywire.losses"]; n != int64(203) {
		t.Errorf("polywire.losses is %v, want 203", n)
	}
}

// TestManyLosses checks that the events of losses are bounded.
func TestManyLosses(t *testing.T) {
	rec := newRecorder()
	w := rec.wrap(upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		list := make([]content.Loss, 1000)
		for i := range list {
			list[i] = content.Loss{Path: fmt.Sprint("turns.", i), Severity: content.LossHint, Reason: "r"}
		}
		return w.Loss(list)
	}), otelwire.Options{})
	_ = upstream.Run(t.Context(), w, prompt("Hi"), discard)
	s := rec.span(t, "chat demo")
	if len(s.Events()) != 100 || s.DroppedEvents() != 0 || attributes(s.Events()[0].Attributes)["polywire.loss.path"] != "turns.0" {
		t.Errorf("%d events, %d dropped by the SDK, want the first 100", len(s.Events()), s.DroppedEvents())
	}
	if n := attributes(s.Attributes())["polywire.losses"]; n != int64(1000) {
		t.Errorf("polywire.losses is %v, want 1000", n)
	}
}

// TestFrames checks that a frame of a vendor arrives as the same frame, so that a handler
// of its format sends its bytes.
func TestFrames(t *testing.T) {
	frames := []*upstream.Frame{
		{Format: "f", Data: `{"start":1}`, Events: []upstream.Event{{Kind: upstream.EventStart, Start: &upstream.Start{Model: "m"}}}},
		{Format: "f", Data: `{"text":1}`, Events: []upstream.Event{
			{Kind: upstream.EventOpen, Part: &content.Text{}}, {Kind: upstream.EventText, Text: "Hello"}}},
		{Format: "f", Data: `{"end":1}`, Events: []upstream.Event{
			{Kind: upstream.EventClose}, {Kind: upstream.EventStop, Stop: &upstream.Stop{Reason: content.StopEnd}}}},
	}
	for _, withContent := range []bool{false, true} {
		w := newRecorder().wrap(upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
			for _, f := range frames {
				if err := w.Frame(f); err != nil {
					return err
				}
			}
			return nil
		}), otelwire.Options{Content: withContent})
		var got []*upstream.Frame
		err := upstream.Run(t.Context(), w, prompt("Hi"), upstream.SinkFunc(func(events []upstream.Event) error {
			got = append(got, upstream.FrameOf(events))
			return nil
		}))
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != len(frames) {
			t.Fatalf("content %t: %d frames, want %d", withContent, len(got), len(frames))
		}
		for i := range frames {
			if got[i] != frames[i] {
				t.Errorf("content %t: frame %d is not the frame of the upstream", withContent, i)
			}
		}
	}
}

// TestAbilities checks that the abilities of the wrapped upstream are kept.
func TestAbilities(t *testing.T) {
	w := otelwire.Wrap(able{}, nil)
	if n, err := upstream.CountTokens(t.Context(), w, prompt("Hi")); n.Tokens != 42 || n.Estimated || err != nil {
		t.Errorf("CountTokens: %v, %v, want 42", n, err)
	}
	if l, err := upstream.Models(t.Context(), w); len(l) != 1 || err != nil {
		t.Errorf("Models: %v, %v, want one", l, err)
	}
	if f, err := upstream.FormatOf(t.Context(), w, prompt("Hi")); f != "f" || err != nil {
		t.Errorf("FormatOf: %q, %v, want f", f, err)
	}
	if l, err := upstream.Preflight(t.Context(), w, prompt("Hi")); len(l) != 1 || err != nil {
		t.Errorf("Preflight: %v, %v, want one loss", l, err)
	}
}

// able is an upstream with all abilities.
type able struct{}

func (able) Generate(context.Context, *upstream.Request, *upstream.Writer) error { return nil }

func (able) CountTokens(context.Context, *upstream.Request) (upstream.TokenCount, error) {
	return upstream.TokenCount{Tokens: 42}, nil
}

func (able) Models(context.Context) ([]upstream.Model, error) {
	return []upstream.Model{{ID: "m"}}, nil
}

func (able) FormatOf(context.Context, *upstream.Request) (content.Format, error) { return "f", nil }

func (able) Preflight(context.Context, *upstream.Request) ([]content.Loss, error) {
	return []content.Loss{{Path: "top_k", Severity: content.LossHint, Reason: "r"}}, nil
}

func TestProviders(t *testing.T) {
	for _, tt := range []struct{ adapter, want string }{
		{"anthropic", "anthropic"}, {"gemini", "gcp.gemini"}, {"openai chat", "openai"}, {"openai responses", "openai"},
		{"", "_OTHER"}, {"local", "local"}, {"europe", "azure.ai.openai"},
	} {
		rec := newRecorder()
		w := rec.wrap(upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
			return w.Start(upstream.Start{Upstream: tt.adapter})
		}), otelwire.Options{Providers: map[string]string{"europe": "azure.ai.openai"}})
		_ = upstream.Run(t.Context(), w, prompt("Hi"), discard)
		if got := attributes(rec.span(t, "chat demo").Attributes())["gen_ai.provider.name"]; got != tt.want {
			t.Errorf("adapter %q: provider %v, want %s", tt.adapter, got, tt.want)
		}
	}
}

// TestCardinality checks what the documentation of Options.Attributes states of the SDK.
func TestCardinality(t *testing.T) {
	for _, limited := range []bool{true, false} {
		rec := newRecorder()
		if !limited {
			rec = newRecorder(sdkmetric.WithCardinalityLimit(0))
		}
		tenant := 0
		w := rec.wrap(upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
			return w.Usage(content.Usage{Input: 1})
		}), otelwire.Options{Attributes: func(context.Context, *upstream.Request) []attribute.KeyValue {
			tenant++
			return []attribute.KeyValue{attribute.Int("tenant", tenant)}
		}})
		for range 2100 {
			_ = upstream.Run(t.Context(), w, prompt("Hi"), discard)
		}
		got := rec.points(t, "gen_ai.client.token.usage")
		_, overflow := got["otel.metric.overflow=true"]
		if overflow != limited || !limited && len(got) != 2100 {
			t.Errorf("limit %t: %d time series, overflow %t", limited, len(got), overflow)
		}
	}
}

// TestAllocs checks that a delta costs no allocation, neither with a sampled span nor
// without telemetry.
func TestAllocs(t *testing.T) {
	rec := newRecorder()
	for name, w := range map[string]func(upstream.Upstream) upstream.Upstream{
		"bare":         func(up upstream.Upstream) upstream.Upstream { return up },
		"no providers": func(up upstream.Upstream) upstream.Upstream { return otelwire.Wrap(up, nil) },
		"SDK":          func(up upstream.Upstream) upstream.Upstream { return rec.wrap(up, otelwire.Options{}) },
	} {
		var allocs float64
		up := w(upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
			_ = w.Text("the first")
			_ = w.Text("the second")
			allocs = testing.AllocsPerRun(1000, func() { _ = w.Text("more") })
			return nil
		}))
		if err := upstream.Run(t.Context(), up, prompt("Hi"), discard); err != nil {
			t.Fatal(err)
		}
		if allocs != 0 {
			t.Errorf("%s: %v allocations per delta, want 0", name, allocs)
		}
	}
}

// BenchmarkStream measures a response of 1,000 deltas.
func BenchmarkStream(b *testing.B) {
	up := upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		for range 1000 {
			if err := w.Text("word "); err != nil {
				return err
			}
		}
		return w.Usage(content.Usage{Input: 10, Output: 1000})
	})
	rec := newRecorder()
	for _, bb := range []struct {
		name string
		up   upstream.Upstream
	}{
		{"bare", up}, {"no providers", otelwire.Wrap(up, nil)}, {"SDK", otelwire.Wrap(up, &otelwire.Options{MeterProvider: rec.meter})},
	} {
		b.Run(strings.ReplaceAll(bb.name, " ", "_"), func(b *testing.B) {
			b.ReportAllocs()
			r := prompt("Hi")
			for b.Loop() {
				if err := upstream.Run(context.Background(), bb.up, r, discard); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func TestWrapPanics(t *testing.T) {
	defer func() {
		if v := recover(); v != "otelwire: Wrap: nil Upstream" {
			t.Errorf("recovered %v", v)
		}
	}()
	otelwire.Wrap(nil, nil)
}
