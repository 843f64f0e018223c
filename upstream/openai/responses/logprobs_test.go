package responses

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// TestLogprobs sends the log probabilities of servers of the vendor's two formats: with the text to which
// they belong, with all members that clients require.
func TestLogprobs(t *testing.T) {
	const (
		hi   = `{"token":"Hi","logprob":-0.5,"bytes":[72,105],"top_logprobs":[{"token":"Hi","logprob":-0.5,"bytes":[72,105]}]}`
		mark = `{"token":"é","logprob":-0.25,"bytes":[195,169],"top_logprobs":[]}`
	)
	chat := func(list string) upstream.Event {
		return upstream.Event{Kind: upstream.EventExtra, Extra: &content.Extra{Format: "openai-chat", JSON: `{"logprobs":{"content":[` + list + `],"refusal":null}}`}}
	}
	own := func(text, list string) upstream.Event {
		e := evText(0, text)
		e.Extra = &content.Extra{Format: Format, JSON: `{"logprobs":[` + list + `]}`}
		return e
	}
	for _, tt := range []struct {
		name   string
		events []upstream.Event
	}{
		{"Chat Completions", []upstream.Event{evStart, chat(`{"token":"Hi","logprob":-0.5,"bytes":[72,105],"top_logprobs":[{"token":"Hi","logprob":-0.5,"bytes":null}]}`),
			evOpen(0, &content.Text{}), evText(0, "Hi"), chat(`{"token":"é","logprob":-0.25}`), evText(0, "é"), evClose(0), evStop(content.StopEnd)}},
		{"Responses", []upstream.Event{evStart, evOpen(0, &content.Text{}), own("Hi", hi), own("é", mark), evClose(0), evStop(content.StopEnd)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			want := "[" + hi + "," + mark + "]"
			r, losses := sendStream(t, asked, tt.events)
			if got := r.Final.Get("output.0.content.0.logprobs").Raw; got != want || losses != nil {
				t.Errorf("streamed: %s %q", got, losses)
			}
		})
	}
	t.Run("without a text", func(t *testing.T) {
		_, losses := sendStream(t, asked, []upstream.Event{evStart, chat(hi), evOpen(0, toolCall("c", "f")), evInput(0, "{}"), evClose(0), evStop(content.StopToolUse)})
		if len(losses) != 1 {
			t.Errorf("losses %q", losses)
		}
	})
	t.Run("whole document", func(t *testing.T) {
		f, err := DecodeFrame(`{"id":"resp_1","status":"completed","output":[{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[
			{"type":"output_text","text":"Hi","annotations":[],"logprobs":[`+hi+`]},{"type":"output_text","text":"é","annotations":[],"logprobs":[`+mark+`]}]}]}`, content.Limits{}, DecodeOptions{Verbatim: true})
		if err != nil {
			t.Fatal(err)
		}
		list, _ := collect(t, f)
		if diff := cmp.Diff([]string{"[" + hi + "]", "[" + mark + "]"}, list); diff != "" {
			t.Error(diff)
		}
	})
}

// collect encodes the whole response in a frame and returns the log probabilities of its parts.
func collect(t *testing.T, f *upstream.Frame) (list []string, doc gjson.Result) {
	t.Helper()
	u := upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error { return w.Send(f.Events) })
	resp, err := upstream.Collect(t.Context(), u, &upstream.Request{Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	w, _ := newWhole(nil).convertResponse(resp)
	doc = gjson.Parse(w.Text())
	for _, x := range doc.Get("output.0.content.#.logprobs").Array() {
		list = append(list, x.Raw)
	}
	return list, doc
}
