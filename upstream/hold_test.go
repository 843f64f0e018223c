package upstream_test

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/echo"
	"github.com/polywire/polywire/upstream/upstreamtest"
)

// held returns the pieces of a response that a HoldText of a size checks, and what it sends.
func held(t *testing.T, size int, check func(string) (string, error), generate func(w *upstream.Writer) error) (pieces, sent []string, err error) {
	t.Helper()
	up := upstream.HoldText(upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error { return generate(w) }), size,
		func(context.Context, *upstream.Request) func(content.Part, string) (string, error) {
			return func(_ content.Part, text string) (string, error) {
				pieces = append(pieces, text)
				if check == nil {
					return text, nil
				}
				return check(text)
			}
		})
	for e, failed := range upstream.Events(t.Context(), up, &upstream.Request{}) {
		if err = failed; err != nil {
			break
		}
		switch e.Kind {
		case upstream.EventText, upstream.EventInput:
			sent = append(sent, fmt.Sprintf("%d %s", e.Block, e.Text))
		case upstream.EventOpen:
			s := fmt.Sprintf("%d open %T", e.Block, e.Part)
			if call, ok := e.Part.(*content.ToolUse); ok {
				s += " " + call.Input
			}
			sent = append(sent, s)
		default:
			sent = append(sent, fmt.Sprintf("%d %v", e.Block, e.Kind))
		}
	}
	return pieces, sent, err
}

func TestHoldTextPieces(t *testing.T) {
	for _, tt := range []struct {
		name   string
		size   int
		deltas []string
		want   []string
	}{
		{"sentences", 100, []string{"One", ". Tw", "o! Thr", "ee? ", "Four"}, []string{"One. ", "Two! ", "Three? ", "Four"}},
		{"two sentences in a delta", 100, []string{"One. Two. Three"}, []string{"One. Two. ", "Three"}},
		{"lines", 100, []string{"- a\n- b", "\n"}, []string{"- a\n", "- b\n"}},
		{"quotes", 100, []string{`He said "no." `, "Then"}, []string{`He said "no." `, "Then"}},
		{"numbers", 100, []string{"3.14 is ", "pi"}, []string{"3.14 is pi"}},
		{"without spaces", 100, []string{"一。二", "。三"}, []string{"一。", "二。", "三"}},
		{"words", 10, []string{"aaaa bbbb ", "cccc dddd"}, []string{"aaaa bbbb ", "cccc dddd"}},
		{"a long word", 10, []string{"aaaaaaaaaaaaé", "b"}, []string{"aaaaaaaaaaaaé", "b"}},
		{"part of a character", 10, []string{"aaaaaaaaaa\xc3", "\xa9"}, []string{"aaaaaaaaaa", "é"}},
		{"bytes", 1, []string{"ab", "cd"}, []string{"ab", "cd"}},
	} {
		pieces, _, err := held(t, tt.size, nil, func(w *upstream.Writer) error {
			for _, d := range tt.deltas {
				if err := w.Text(d); err != nil {
					return err
				}
			}
			return nil
		})
		if diff := cmp.Diff(tt.want, pieces); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", tt.name, err, diff)
		}
	}
}

// TestHoldText checks the order of events, and what is omitted of changed texts.
func TestHoldText(t *testing.T) {
	redact := func(text string) (string, error) { return strings.ReplaceAll(text, "secret", "[redacted]"), nil }
	generate := func(w *upstream.Writer) error {
		_ = w.Thinking("a se")
		_ = w.Thinking("cret")
		_ = w.Signature(content.Signature{Format: "f", Data: "signs a secret"})
		_ = w.Text("plain")
		_ = w.Cite(content.Citation{URL: "https://a.example"})
		_ = w.Signature(content.Signature{Format: "f", Data: "signs plain"})
		_ = w.Part(&content.ToolUse{ID: "1", Name: "f", Input: `{"a":"secret"}`})
		c := w.ToolCall("2", "f")
		_ = c.Input(`{"a": "x. s\u00`)
		_ = c.Input(`65cret", "b": [1.50, "\u0041"]}`)
		return c.Close()
	}
	_, sent, err := held(t, 1000, redact, generate)
	want := []string{
		"0 open *content.Thinking", "0 a [redacted]", "0 EventClose",
		"1 open *content.Text", "1 plain", "1 EventCitation", "1 EventSignature", "1 EventClose",
		`2 open *content.ToolUse {"a":"[redacted]"}`, "2 EventClose",
		"3 open *content.ToolUse ", `3 {"a":"x. [redacted]","b":[1.50,"A"]}`, "3 EventClose", "0 EventStop",
	}
	if diff := cmp.Diff(want, sent); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}

	pieces, sent, err := held(t, 1000, nil, func(w *upstream.Writer) error {
		c := w.ToolCall("1", "f")
		_ = c.Input(`{"a": "\u0041", "b": 1.0}`)
		return c.Close()
	})
	if diff := cmp.Diff([]string{"a", "A", "b", "1.0"}, pieces); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if want := `0 {"a": "\u0041", "b": 1.0}`; !slices.Contains(sent, want) {
		t.Errorf("arguments that are not changed: got %q, want %q", sent, want)
	}

	refuse := &upstream.Error{Code: upstream.CodePermission, Text: "refused"}
	_, sent, err = held(t, 1000, func(text string) (string, error) {
		if strings.Contains(text, "secret") {
			return "", refuse
		}
		return text, nil
	}, func(w *upstream.Writer) error {
		_ = w.Text("First. ")
		return w.Text("The secret.\n")
	})
	if diff := cmp.Diff([]string{"0 open *content.Text", "0 First. "}, sent); diff != "" || !errors.Is(err, refuse) {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}

	_, sent, err = held(t, 1000, nil, func(w *upstream.Writer) error {
		_ = w.Text("Not complete")
		return refuse
	})
	if diff := cmp.Diff([]string{"0 open *content.Text"}, sent); diff != "" || !errors.Is(err, refuse) {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// TestHoldTextForwards checks that a whole response that is not changed passes byte for byte.
func TestHoldTextForwards(t *testing.T) {
	const document = `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"One. Two"}], "x_new":1,` +
		`"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":2}}`
	up := upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		r, err := messages.DecodeResponse([]byte(document), nil)
		if err != nil {
			return err
		}
		return w.Frame(r.Frame)
	})
	for _, suffix := range []string{"", "!"} {
		guarded := upstream.HoldText(up, 100, func(context.Context, *upstream.Request) func(content.Part, string) (string, error) {
			return func(_ content.Part, text string) (string, error) { return text + suffix, nil }
		})
		w, r := httptest.NewRecorder(), httptest.NewRequest("POST", "/v1/messages", strings.NewReader(`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"}]}`))
		r.Header.Set("Anthropic-Version", "2023-06-01")
		messages.NewHandler(guarded, nil).ServeHTTP(w, r)
		if got := w.Body.String(); suffix == "" && got != document || suffix != "" && !strings.Contains(got, `"One. Two!"`) {
			t.Errorf("%q: got %s", suffix, got)
		}
	}
}

func TestHoldTextIsUpstream(t *testing.T) {
	upstreamtest.Run(t, upstream.HoldText(echo.New(), 1, func(context.Context, *upstream.Request) func(content.Part, string) (string, error) {
		return func(_ content.Part, text string) (string, error) { return text, nil }
	}), &upstreamtest.Options{Model: "demo", Deterministic: true})
}
