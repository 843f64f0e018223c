package messages

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/upstream"
)

func FuzzStreamReader(f *testing.F) {
	for _, name := range []string{"E21", "E22", "E23", "E24", "E25"} {
		f.Add(example(f, name+".sse"), byte(7))
	}
	f.Add(long, byte(1))
	f.Add(changed(`"index":1,`, "", `"input":{}`, `"input":"{}"`, `"text":"hi"`, `"text":"\ud800"`), byte(3))
	f.Add(line(lineStart)+line(lineDelta)+line(lineDelta)+line(lineEnd), byte(0))
	f.Add(line(lineStart)+"data: {\"a\":1}\n\n"+line(lineEnd), byte(1))
	for _, s := range formattest.RecordedSeeds(f, "messages", (*formattest.Record).Stream) {
		f.Add(s, byte(16))
	}
	f.Fuzz(func(t *testing.T, stream string, size byte) {
		want, wantErr := decodeStream(strings.NewReader(stream))
		for name, src := range map[string]io.Reader{
			"bytes":  iotest.OneByteReader(strings.NewReader(stream)),
			"pieces": formattest.Pieces(strings.NewReader(stream), int(size)+1),
		} {
			got, err := decodeStream(src)
			if diff := cmp.Diff(want, got); diff != "" || formattest.Causes(err) != formattest.Causes(wantErr) {
				t.Fatalf("%s: error %v, want %v; events (-want +got):\n%s", name, err, wantErr, diff)
			}
		}
		var failed *upstream.Error
		if wantErr != io.EOF && !errors.As(wantErr, &failed) {
			t.Fatalf("the error is a %T", wantErr)
		}

		formattest.CheckFrames(t, NewStreamReader(strings.NewReader(stream), nil), func(f *upstream.Frame) {
			if f.Format == Format && (f.Name == "" || strings.ContainsAny(f.Name, "\r\n") || !json.Valid([]byte(f.Data))) {
				t.Errorf("a frame that cannot be sent: %q %q", f.Name, f.Data)
			}
		}, nil)
		if wantErr != io.EOF {
			return
		}

		// The encoder of the handler forwards its own stream unchanged.
		once, err := relay(t, stream)
		if err != nil {
			t.Fatal(err)
		}
		twice, err := relay(t, once)
		if diff := cmp.Diff(once, twice); diff != "" || err != nil {
			t.Errorf("relayed again: error %v (-once +twice):\n%s", err, diff)
		}
	})
}

func FuzzDecodeResponse(f *testing.F) {
	for _, name := range []string{"E02", "E04", "E07", "E10", "E12", "E17", "E18", "E19", "E26"} {
		f.Add(example(f, name+".json"))
	}
	f.Add(`{"content":"x"}`)
	for _, s := range formattest.RecordedSeeds(f, "messages", (*formattest.Record).Whole) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) {
		frame, err := DecodeFrame(body, content.Limits{})
		formattest.CheckWhole(t, frame, err)
	})
}
