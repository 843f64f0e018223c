package generatecontent

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/polywire/polywire/upstream"
)

// relayed passes a stream through the encoder, with or without the vendor's frames, and
// returns the output.
func relayed(t *testing.T, f framing, stream string, frames bool) string {
	t.Helper()
	enc := newStream(f, "id", "m")
	var out []byte
	err := upstream.Run(t.Context(), replay(stream), &upstream.Request{}, upstream.SinkFunc(func(events []upstream.Event) error {
		if !frames {
			events[0].Frame = nil
		}
		out = enc.Events(out, events)
		return nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	return string(enc.End(out, nil))
}

// TestRelay checks that the encoder writes a decoded stream verbatim if no event was
// changed, and otherwise as an equivalent stream.
func TestRelay(t *testing.T) {
	streams := map[string]string{}
	for _, name := range streamFiles {
		streams[name] = answerFile(t, name)
	}
	for _, name := range []string{"A01", "A06", "A13", "A14", "A15", "A15b", "A16", "A17", "A18", "A19", "A20", "A21", "A22", "A23", "A24", "A25"} {
		streams[name] = "data: " + answerFile(t, name+".json") + "\r\n\r\n"
	}
	for name, stream := range streams {
		f := inEvents
		if strings.HasPrefix(stream, "[") {
			f = inArray
		}
		if name != "S08.sse" && name != "S07.array" {
			if diff := cmp.Diff(stream, relayed(t, f, stream, true)); diff != "" {
				t.Errorf("%s verbatim (-want +sent):\n%s", name, diff)
			}
		}
		want, err := upstream.Collect(t.Context(), replay(stream), &upstream.Request{})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range []framing{inEvents, inArray} {
			for _, frames := range []bool{true, false} {
				sent := relayed(t, f, stream, frames)
				got, err := upstream.Collect(t.Context(), replay(sent), &upstream.Request{})
				if err != nil {
					t.Fatalf("%s: %v in %s", name, err, sent)
				}
				if diff := cmp.Diff(want, got, sameAnswer); diff != "" {
					t.Errorf("%s in other words, frames %v (-want +got):\n%s\nof %s", name, frames, diff, sent)
				}
			}
		}
	}
}

// sameAnswer removes the identity of the response: a server may add one.
var sameAnswer = cmpopts.IgnoreFields(upstream.Start{}, "ID", "Model")
