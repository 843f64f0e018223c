package main

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

func TestRun(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`{"sum":42}`, "a and b must be numbers"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in:\n%s", want, &out)
		}
	}
}

func TestCallOfOtherTool(t *testing.T) {
	requests := 0
	model := withTools(upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		requests++
		w.ToolCall("1", "add").Close()
		return w.ToolCall("2", "open_door").Close()
	}), map[string]tool{"add": add})
	response, err := upstream.Collect(t.Context(), model, &upstream.Request{})
	if err != nil || requests != 1 || response.Stop.Reason != content.StopToolUse || len(response.Parts) != 2 {
		t.Errorf("after %d requests: got %+v, %v", requests, response, err)
	}
}

func TestTooManyCalls(t *testing.T) {
	model := withTools(upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		return w.ToolCall("", "add").Close()
	}), map[string]tool{"add": add})
	if _, err := upstream.Collect(t.Context(), model, &upstream.Request{}); err == nil {
		t.Error("got no error")
	}
}

// The tokens of all requests are added count by count: those of caches have another price.
func TestUsage(t *testing.T) {
	requests := 0
	model := withTools(upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		requests++
		if err := w.Usage(content.Usage{Input: 10, CacheRead: 1000, Output: 5, Thinking: 3}); err != nil {
			return err
		}
		if requests == 2 {
			return w.Text("done")
		}
		return w.ToolCall("1", "add").Close()
	}), map[string]tool{"add": add})
	response, err := upstream.Collect(t.Context(), model, &upstream.Request{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(content.Usage{Input: 20, CacheRead: 2000, Output: 10, Thinking: 6}, response.Usage); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
