package upstream_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

func TestCollect(t *testing.T) {
	x := func(json string) *content.Extra { return &content.Extra{Format: "f", JSON: json} }
	cite := content.Citation{Kind: content.CitePages, Text: "p"}
	image := &content.Image{Source: &content.URL{URL: "u"}}
	u := upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		w.Loss([]content.Loss{{Path: "top_k", Severity: content.LossDropped}})
		w.Start(upstream.Start{ID: "id", Model: "m", Header: []upstream.Field{{Name: "a", Value: "b"}}})
		w.Thinking("one ")
		w.Thinking("two")
		w.Signature(content.Signature{Format: "f", Data: "s"})
		w.Text("text")
		w.Cite(cite)
		w.Part(image)
		a, b, c := w.ToolCall("a", "x"), w.ToolCall("b", "y"), w.ToolCall("c", "z")
		a.Input(`{"n"`)
		b.Input(`{`)
		c.Input(`{}`)
		b.Input(`}`)
		a.Input(`:1}`)
		w.Usage(content.Usage{Output: 1})
		w.Usage(content.Usage{Output: 2})
		w.Send([]upstream.Event{
			{Kind: upstream.EventOpen, Block: 0, Part: &content.Text{Extra: x(`{"p":1}`)}, Extra: x(`{"q":2}`)},
			{Kind: upstream.EventText, Block: 0, Text: "more", Extra: x(`{"p":3}`)},
			{Kind: upstream.EventOpen, Block: 0, Candidate: 1, Part: &content.Text{Text: "another: "}},
			{Kind: upstream.EventText, Block: 0, Candidate: 1, Text: "answer"},
			{Kind: upstream.EventStop, Candidate: 1, Stop: &upstream.Stop{Reason: content.StopSafety}},
			{Kind: upstream.EventExtra, Extra: x(`{"r":[1 ],"s":0}`)},
			{Kind: upstream.EventUsage, Usage: &content.Usage{Output: 3}, Extra: x(`{ }`)},
			{Kind: upstream.EventExtra, Candidate: 1, Extra: x(`{"only":1}`)},
			{Kind: upstream.EventExtra, Extra: x(`{"s":1}`)},
			{Kind: upstream.EventExtra},
		})
		return w.Stop(upstream.Stop{Reason: content.StopEnd, Word: "end_turn"})
	})
	want := &upstream.Reply{
		Start: upstream.Start{ID: "id", Model: "m", Header: []upstream.Field{{Name: "a", Value: "b"}}},
		Parts: []content.Part{
			&content.Thinking{Text: "one two", Signature: content.Signature{Format: "f", Data: "s"}},
			&content.Text{Text: "text", Citations: []content.Citation{cite}},
			image,
			&content.ToolUse{ID: "a", Name: "x", Input: `{"n":1}`},
			&content.ToolUse{ID: "b", Name: "y", Input: `{}`},
			&content.ToolUse{ID: "c", Name: "z", Input: `{}`},
			&content.Text{Text: "more", Extra: x(`{"q":2,"p":3}`)},
		},
		Stop:   upstream.Stop{Reason: content.StopEnd, Word: "end_turn"},
		Usage:  content.Usage{Output: 3},
		Losses: []content.Loss{{Path: "top_k", Severity: content.LossDropped}},
		More: []upstream.Candidate{{Parts: []content.Part{&content.Text{Text: "another: answer"}},
			Stop: upstream.Stop{Reason: content.StopSafety}, Extra: x(`{"only":1}`)}},
		Extra: x(`{"r":[1 ],"s":1}`),
	}
	got, err := upstream.Collect(t.Context(), u, &upstream.Request{})
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	// What was collected belongs to the caller.
	got.Parts[2].(*content.Image).Source.(*content.URL).URL = "changed"
	if image.Source.(*content.URL).URL != "u" {
		t.Error("the upstream's own part was changed")
	}
}

func TestCollectFailure(t *testing.T) {
	errCut := errors.New("cut")
	got, err := upstream.Collect(t.Context(), upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		w.Text("so far")
		return errCut
	}), &upstream.Request{})
	if diff := cmp.Diff([]content.Part{&content.Text{Text: "so far"}}, got.Parts); err != errCut || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
}

func TestCollectorLimit(t *testing.T) {
	flood := map[string]func(w *upstream.Writer) error{
		"text": func(w *upstream.Writer) error { return w.Text("0123456789") },
		"files": func(w *upstream.Writer) error {
			return w.Part(&content.Image{Source: &content.Base64{Data: "0123456789"}})
		},
		"extras": func(w *upstream.Writer) error {
			return w.Send([]upstream.Event{{Kind: upstream.EventExtra, Extra: &content.Extra{JSON: `{"x":1234}`}}})
		},
	}
	for name, f := range flood {
		c := upstream.Collector{Limit: 1000}
		n := 0
		err := upstream.Run(t.Context(), upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
			for {
				if err := f(w); err != nil {
					return err
				}
				n++
			}
		}), &upstream.Request{}, &c)
		var e *upstream.Error
		if !errors.As(err, &e) || e.Code != upstream.CodeBadGateway || n != 100 {
			t.Errorf("%s: got %v after %d", name, err, n)
		}
	}
}

func TestEvents(t *testing.T) {
	errBad := errors.New("bad")
	wrote := 0
	u := upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		for range 3 {
			if err := w.Text("a"); err != nil {
				return err
			}
			wrote++
		}
		return errBad
	})
	var words []string
	for e, err := range upstream.Events(t.Context(), u, &upstream.Request{}) {
		if err != nil {
			words = append(words, err.Error())
		} else {
			words = append(words, word(&e))
		}
	}
	if got, want := strings.Join(words, " "), "0(text 0:a 0:a 0:a bad"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	wrote = 0
	for e, err := range upstream.Events(t.Context(), u, &upstream.Request{}) {
		if err != nil {
			t.Errorf("after leaving: %v", err)
		}
		if e.Kind == upstream.EventText {
			break
		}
	}
	if wrote != 0 {
		t.Errorf("%d pieces were written after the loop was left", wrote)
	}
	for e, err := range upstream.Events(t.Context(), adapter, &upstream.Request{}) {
		if e.Frame != nil || err != nil {
			t.Errorf("got %+v, %v", e, err)
		}
	}
}
