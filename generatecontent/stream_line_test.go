package generatecontent

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/upstream"
)

// TestLineSeparators checks that events hold Unicode's separators of lines in
// escaped form only, at their edges too, and that nothing else changes.
func TestLineSeparators(t *testing.T) {
	const plain = "\u2028\u2028a\u2029 \u2027\u202aé世"
	for _, tt := range []struct {
		framing framing
		want    string
	}{
		{inEvents, `\u2028\u2028a\u2029 ` + "\u2027\u202aé世"},
		{inArray, "\u2028\u2028a\u2029 \u2027\u202aé世"},
	} {
		s := newStream(tt.framing, "id", "m", 1<<20)
		var out []byte
		sink := upstream.SinkFunc(func(events []upstream.Event) error {
			out = s.Events(out, events)
			return nil
		})
		err := upstream.Run(t.Context(), upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
			return w.Text(plain)
		}), &upstream.Request{}, sink)
		if err != nil {
			t.Fatal(err)
		}
		_, text, _ := strings.Cut(string(out), `"text":"`)
		text, _, _ = strings.Cut(text, `"`)
		if diff := cmp.Diff(tt.want, text); diff != "" {
			t.Errorf("text (-want +got):\n%s", diff)
		}
	}

	s := newStream(inEvents, "id", "m", 1<<20)
	before := "data: \u2028"
	got := string(s.oneLine([]byte(before+"\u2029x\u2028"), len(before)))
	if want := before + `\u2029x\u2028`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
