package upstream_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/upstream"
)

func TestCollect(t *testing.T) {
	x := func(json string) *content.Extra { return &content.Extra{Format: "f", JSON: json} }
	cite := content.Citation{Kind: content.CitePages, Text: "p"}
	image := &content.Image{Source: &content.URL{URL: "u"}}
	u := upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		w.Loss([]content.Loss{{Path: "top_k", Severity: content.LossDropped}})
		w.Start(upstream.Start{ID: "id", Model: "m", Header: []upstream.HeaderField{{Name: "a", Value: "b"}}})
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
		return w.Stop(upstream.Stop{Reason: content.StopEnd, RawReason: "end_turn"})
	})
	want := &upstream.Response{
		Start: upstream.Start{ID: "id", Model: "m", Header: []upstream.HeaderField{{Name: "a", Value: "b"}}},
		Parts: []content.Part{
			&content.Thinking{Text: "one two", Signature: content.Signature{Format: "f", Data: "s"}},
			&content.Text{Text: "text", Citations: []content.Citation{cite}},
			image,
			&content.ToolUse{ID: "a", Name: "x", Input: `{"n":1}`},
			&content.ToolUse{ID: "b", Name: "y", Input: `{}`},
			&content.ToolUse{ID: "c", Name: "z", Input: `{}`},
			&content.Text{Text: "more", Extra: x(`{"q":2,"p":3}`)},
		},
		Stop:   upstream.Stop{Reason: content.StopEnd, RawReason: "end_turn"},
		Usage:  content.Usage{Output: 3},
		Losses: []content.Loss{{Path: "top_k", Severity: content.LossDropped}},
		MoreCandidates: []upstream.Candidate{{Parts: []content.Part{&content.Text{Text: "another: answer"}},
			Stop: upstream.Stop{Reason: content.StopSafety}, Extra: x(`{"only":1}`)}},
		Extra: x(`{"r":[1 ],"s":1}`),
	}
	got, err := upstream.Collect(t.Context(), u, &upstream.Request{})
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	// The caller owns the collected parts.
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
		"empty blocks": func(w *upstream.Writer) error { return w.Part(&content.Text{}) },
		"citations":    func(w *upstream.Writer) error { return w.Cite(content.Citation{Text: "0123456789"}) },
		"losses":       func(w *upstream.Writer) error { return w.Loss([]content.Loss{{Path: "x"}}) },
		"candidates": func(w *upstream.Writer) error {
			return w.Send([]upstream.Event{{Kind: upstream.EventStop, Candidate: 1 << 30, Stop: &upstream.Stop{}}})
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
		if !errors.As(err, &e) || e.Code != upstream.CodeBadGateway || n > 100 {
			t.Errorf("%s: got %v after %d", name, err, n)
		}
	}
}

// TestCollectPieces checks events that have no place in a whole response.
func TestCollectPieces(t *testing.T) {
	x := func(json string) *content.Extra { return &content.Extra{Format: "f", JSON: json} }
	u := upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		return w.Send([]upstream.Event{
			{Kind: upstream.EventExtra, Text: "news", Extra: x(`{"type":"news","a":1}`)},
			{Kind: upstream.EventOpen, Part: &content.Text{}},
			{Kind: upstream.EventBlockExtra, Text: "delta", Extra: x(`{"type":"delta","b":1}`)},
			{Kind: upstream.EventBlockExtra, Extra: x(`{"c":1}`)},
			{Kind: upstream.EventClose},
			{Kind: upstream.EventOpen, Block: 1, Part: &content.Unknown{Raw: "{}"}, Extra: x(`{"d":1}`)},
			{Kind: upstream.EventLoss, Loss: &content.Loss{Path: "sent"}},
		})
	})
	got, err := upstream.Collect(t.Context(), u, &upstream.Request{})
	want := &upstream.Response{
		Parts: []content.Part{&content.Text{Extra: x(`{"c":1}`)}, &content.Unknown{Raw: "{}"}},
		Stop:  upstream.Stop{Reason: content.StopEnd},
		Losses: []content.Loss{
			{Path: "sent"},
			{Path: "news", Severity: content.LossHint, Reason: "a whole response cannot contain events that only the vendor defines; the event was omitted"},
			{Path: "parts.0", Severity: content.LossHint, Reason: "a part of a whole response cannot contain deltas that only the vendor defines; the delta was omitted"},
			{Path: "parts.1", Severity: content.LossHint, Reason: "the part cannot contain a vendor's members of the event; they were omitted"},
		},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// TestCollectManyExtras checks that collecting members takes linear time. With quadratic
// time it takes minutes.
func TestCollectManyExtras(t *testing.T) {
	const n = 100_000
	u := upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		if err := w.Send([]upstream.Event{{Kind: upstream.EventOpen, Part: &content.Text{}}}); err != nil {
			return err
		}
		for i := range n {
			x := &content.Extra{Format: "f", JSON: fmt.Sprintf(`{"m%d":%d}`, i, i)}
			if err := w.Send([]upstream.Event{
				{Kind: upstream.EventExtra, Extra: x}, {Kind: upstream.EventText, Extra: x},
			}); err != nil {
				return err
			}
		}
		return nil
	})
	got, err := upstream.Collect(t.Context(), u, &upstream.Request{})
	if err != nil {
		t.Fatal(err)
	}
	for what, x := range map[string]*content.Extra{"answer": got.Extra, "part": got.Parts[0].(*content.Text).Extra} {
		if members := strings.Count(x.JSON, `"m`); members != n {
			t.Errorf("%s: %d members, want %d", what, members, n)
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

// TestCollectorLimitDepth checks that nested parts count toward Limit.
func TestCollectorLimitDepth(t *testing.T) {
	big := strings.Repeat("x", 1000)
	text := &content.Text{Text: big}
	for name, p := range map[string]content.Part{
		"text":            text,
		"citation":        &content.Text{Citations: []content.Citation{{Text: big}}},
		"thinking":        &content.Thinking{Redacted: content.Signature{Data: big}},
		"image":           &content.Image{Source: &content.Base64{Data: big}},
		"image by link":   &content.Image{Source: &content.URL{URL: big}},
		"document":        &content.Document{Source: &content.PlainText{Text: big}},
		"document, parts": &content.Document{Source: &content.Parts{Parts: []content.Part{text}}},
		"media":           &content.Media{Source: &content.File{ID: big}},
		"call":            &content.ToolUse{Name: "x", Input: `"` + big + `"`},
		"result":          &content.ToolResult{Parts: []content.Part{text}},
		"search result":   &content.SearchResult{Parts: []content.Part{text}},
		"server call":     &content.ServerToolUse{Input: big},
		"server result":   &content.ServerToolResult{Content: big},
		"unknown":         &content.Unknown{Raw: big},
		"extra":           &content.Text{Extra: &content.Extra{JSON: big}},
	} {
		up := upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error { return w.Part(p) })
		var e *upstream.Error
		if err := upstream.Run(t.Context(), up, &upstream.Request{}, &upstream.Collector{Limit: 999}); !errors.As(err, &e) || e.Code != upstream.CodeBadGateway {
			t.Errorf("%s: %v", name, err)
		}
		if err := upstream.Run(t.Context(), up, &upstream.Request{}, &upstream.Collector{Limit: 4000}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestCollectorLimitFields checks that every text of every kind of part and source counts toward
// Limit.
func TestCollectorLimitFields(t *testing.T) {
	check := func(v reflect.Value, p content.Part) {
		for i := range v.NumField() {
			f := v.Field(i)
			if f.Kind() == reflect.Struct { // a signature
				f = f.FieldByName("Data")
			}
			if f.Kind() != reflect.String {
				continue
			}
			f.SetString(strings.Repeat("a", 1000))
			c := upstream.Collector{Limit: 1000}
			if c.Send([]upstream.Event{{Kind: upstream.EventOpen, Part: p}}) == nil {
				t.Errorf("%s of %s does not count", v.Type().Field(i).Name, v.Type())
			}
			f.SetString("")
		}
	}
	for _, p := range formattest.PartKinds {
		v := reflect.New(reflect.TypeOf(p).Elem())
		check(v.Elem(), v.Interface().(content.Part))
	}
	for _, s := range formattest.SourceKinds {
		v := reflect.New(reflect.TypeOf(s).Elem())
		check(v.Elem(), &content.Document{Source: v.Interface().(content.Source)})
	}
}
