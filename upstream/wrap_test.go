package upstream_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

func TestEdit(t *testing.T) {
	v := &vendor{name: "v", models: []upstream.Model{{ID: "m"}}}
	u := upstream.Edit(v, func(_ context.Context, r *upstream.Request) (*upstream.Request, error) {
		switch r.Model {
		case "bad":
			return nil, &content.Violation{Code: content.CodeValue, Path: "model", Text: "is bad"}
		case "nil":
			return nil, nil
		}
		c := r.Clone()
		c.Model = "edited"
		return c, nil
	})
	ctx := t.Context()
	r := &upstream.Request{Model: "m"}
	if got := say(t, u, r); got != "v:edited" {
		t.Errorf("got %q", got)
	}
	if n, err := upstream.CountTokens(ctx, u, r); n.Tokens != 6 || err != nil {
		t.Errorf("CountTokens saw another request: %v, %v", n, err)
	}
	if l, err := upstream.Preflight(ctx, u, r); err != nil || l[0].Path != "edited" {
		t.Errorf("Preflight saw another request: %v, %v", l, err)
	}
	if l, err := upstream.Models(ctx, u); len(l) != 1 || err != nil {
		t.Errorf("Models: %v, %v", l, err)
	}
	for _, model := range []string{"bad", "nil"} {
		r := &upstream.Request{Model: model}
		_, err1 := upstream.Collect(ctx, u, r)
		_, err2 := upstream.CountTokens(ctx, u, r)
		_, err3 := upstream.Preflight(ctx, u, r)
		for _, err := range []error{err1, err2, err3} {
			if list, _ := content.Violations(err); err == nil || len(list) != 1 && model == "bad" {
				t.Errorf("%s: got %v", model, err)
			}
		}
	}
	// The estimate is of the changed request.
	long := []content.Part{&content.Text{Text: strings.Repeat("word ", 1000)}}
	plainEdit := upstream.Edit(plain, func(_ context.Context, r *upstream.Request) (*upstream.Request, error) {
		r = r.Clone()
		r.System = long
		return r, nil
	})
	if n, err := upstream.CountTokens(ctx, plainEdit, &upstream.Request{}); err != nil || !n.Estimated || n.Tokens < 1000 {
		t.Errorf("got %v, %v", n, err)
	}
}

// TestEditSetsRejectLoss checks that RejectLoss and the ids of the request that an Edit
// returns apply.
func TestEditSetsRejectLoss(t *testing.T) {
	lossy := upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		if err := w.Loss([]content.Loss{{Path: "top_k", Severity: content.LossHint}}); err != nil {
			return err
		}
		w.ToolCall("", "x")
		return nil
	})
	var refuse content.Severity
	u := upstream.Edit(lossy, func(_ context.Context, r *upstream.Request) (*upstream.Request, error) {
		c := r.Clone()
		c.RejectLoss = refuse
		c.Turns = []content.Turn{{Parts: []content.Part{&content.ToolUse{ID: "call_3"}}}}
		return c, nil
	})
	reply, err := upstream.Collect(t.Context(), u, &upstream.Request{RejectLoss: content.LossHint})
	if err != nil || reply.Parts[0].(*content.ToolUse).ID != "call_4" {
		t.Errorf("got %v", err)
	}
	refuse = content.LossHint
	if _, err := upstream.Collect(t.Context(), u, &upstream.Request{}); err == nil {
		t.Error("the loss was not refused")
	}
}

func TestTapAbilities(t *testing.T) {
	u := tap(func(events []upstream.Event, to upstream.Sink) error { return to.Send(events) })(&vendor{})
	if n, err := upstream.CountTokens(t.Context(), u, &upstream.Request{Model: "abc"}); n.Tokens != 3 || err != nil {
		t.Errorf("got %v, %v", n, err)
	}
}

// TestTapDropsAndFails checks that a Tap may drop everything, and that its error ends
// the response.
func TestTapDropsAndFails(t *testing.T) {
	none := tap(func([]upstream.Event, upstream.Sink) error { return nil })(adapter)
	if got, err := run(t, &upstream.Request{}, none.Generate); got != "stop:end" || err != nil {
		t.Errorf("got %s, %v", got, err)
	}
	errNo := errors.New("no")
	fails := tap(func(e []upstream.Event, to upstream.Sink) error {
		if e[0].Text != "" {
			return errNo
		}
		return to.Send(e)
	})(adapter)
	if _, err := run(t, &upstream.Request{}, fails.Generate); err != errNo {
		t.Errorf("got %v", err)
	}
	// A Tap that drops only the EventOpen of a block is an error.
	half := tap(func(e []upstream.Event, to upstream.Sink) error {
		if e[0].Kind == upstream.EventOpen {
			return nil
		}
		return to.Send(e)
	})(adapter)
	if _, err := run(t, &upstream.Request{}, half.Generate); err == nil {
		t.Error("deltas of a block that never opened went through")
	}
}
