package generatecontent

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/upstream"
)

var streamFiles = []string{"S01.sse", "S02.sse", "S03.sse", "S04.sse", "S05.sse", "S07.array", "S08.sse"}

// TestStreamErrorForms checks errors in a stream, in all forms that servers send, and
// truncations of each.
func TestStreamErrorForms(t *testing.T) {
	const (
		once    = `{"candidates":[{"content":{"parts":[{"text":"Once"}],"role":"model"},"index":0}]}`
		done    = `{"candidates":[{"content":{"parts":[{"text":"Once"}]},"finishReason":"STOP"}]}`
		failure = `{"error":{"code":503,"message":"The model is overloaded. Please try again later.","status":"UNAVAILABLE"}}`
		pretty  = "{\r\n  \"error\": {\r\n    \"code\": 503,\r\n    \"message\": \"x\",\r\n    \"status\": \"UNAVAILABLE\"\r\n  }\r\n}\r\n"
		event   = "data: " + once + "\r\n\r\n"
	)
	tests := []struct {
		name, stream string
		frames       int
	}{
		{"A", event + "data: " + failure + "\n\n", 1},
		{"A first", "data: " + failure + "\n\n", 0},
		{"A in a list", event + "data: [" + failure + "]\n\n", 1},
		{"A and more", event + "data: " + failure + "\n\n" + event, 1},
		{"A behind the end", "data: " + done + "\n\ndata: " + failure + "\n\n", 1},
		{"B", event + failure, 1},
		{"B and A", event + failure + "\r\n\r\ndata: " + failure + "\r\n\r\n", 1},
		{"B and A first", failure + "\r\n\r\ndata: " + failure + "\r\n\r\n", 0},
		{"B behind the end", "data: " + done + "\n\n" + failure, 1},
		{"B first", failure, 0},
		{"B with a byte order mark", "\uFEFF" + failure, 0},
		{"B with spaces", " \r\n\t" + failure, 0},
		{"B pretty", event + pretty, 1},
		{"B pretty, first", pretty, 0},
		{"C", "data: " + once + "\n\n" + failure, 1},
		{"D", event + failure + "\r\n\r\n", 1},
		{"D and more", event + failure + "\r\n\r\n" + event, 1},
		{"missing blank line", "data: " + once + "\n" + failure, 0},
		{"list", "[" + failure + "]", 0},
		{"list, pretty", "[" + pretty + "]\r\n", 0},
		{"bare list", event + "[" + failure + "]", 1},
		{"last of an array", "[" + once + ",\r\n" + failure + "]", 1},
		{"last of an unclosed array", "[" + once + ",\r\n" + failure, 1},
		{"in an array without a comma", "[" + once + "\r\n" + failure, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for name, src := range map[string]io.Reader{
				"whole": strings.NewReader(tt.stream), "bytes": iotest.OneByteReader(strings.NewReader(tt.stream)),
			} {
				frames, err := readFrames(src)
				var failed *upstream.Error
				if !errors.As(err, &failed) || failed.Code != upstream.CodeOverloaded || failed.Text != "" || len(frames) != tt.frames {
					t.Errorf("%s: %d frames, error %v", name, len(frames), err)
				}
			}
			end := strings.LastIndexByte(tt.stream, '}')
			for cut := strings.Index(tt.stream, `{"error"`); cut > 0 && cut < end && !strings.Contains(tt.name, "behind"); cut++ {
				if _, err := readFrames(strings.NewReader(tt.stream[:cut])); err == io.EOF {
					t.Fatalf("cut at %d: no error", cut)
				}
			}
		})
	}
	for _, text := range []string{once, "[" + once + "]", "{", `{"a":1}`, "[1]", "<html>", `{"error":null}`, `[{"error":"x"}]`} {
		for _, before := range []string{"", event, "data: " + done + "\n\n"} {
			if before == "" && text == "["+once+"]" || strings.Contains(before, "STOP") && text == "<html>" {
				continue
			}
			_, err := readEvents(strings.NewReader(before + text))
			var failed *upstream.Error
			if !errors.As(err, &failed) || failed.Code != upstream.CodeBadGateway {
				t.Errorf("%q behind %q: %v", text, before, err)
			}
		}
	}
}

// TestStreamPassesVerbatim checks that unchanged events reach a sink with the vendor's
// bytes.
func TestStreamPassesVerbatim(t *testing.T) {
	for _, name := range streamFiles {
		stream := answerFile(t, name)
		var sent []string
		err := upstream.Run(t.Context(), replay(stream), &upstream.Request{}, upstream.SinkFunc(func(events []upstream.Event) error {
			f := upstream.FrameOf(events)
			if f == nil {
				t.Errorf("%s: events without their frame: %v", name, events)
				return nil
			}
			if f.Format != Format {
				t.Errorf("%s: this deviates: %s", name, f.Data)
			}
			sent = append(append(sent, f.Preceding...), f.Data)
			return nil
		}))
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		for _, s := range strings.Split(strings.Trim(stream, "[]"), "\r\n") {
			s = strings.TrimPrefix(strings.TrimPrefix(s, "data: "), ",")
			if s != "" {
				want = append(want, s)
			}
		}
		if diff := cmp.Diff(want, sent); diff != "" {
			t.Errorf("%s (-want +sent):\n%s", name, diff)
		}
	}
}

// TestWholeResponseEqualsStream checks that a response and a stream of one chunk have the
// same meaning.
func TestWholeResponseEqualsStream(t *testing.T) {
	for _, name := range []string{"A01", "A06", "A13", "A14", "A15", "A15b", "A16", "A17", "A18", "A19", "A20", "A21", "A22", "A23", "A24", "A25"} {
		body := answerFile(t, name+".json")
		f, err := DecodeFrame(body, content.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		want, err := upstream.Collect(t.Context(), formattest.Frames(f), &upstream.Request{})
		if err != nil {
			t.Fatal(err)
		}
		for form, stream := range map[string]string{"events": "data: " + body + "\n\n", "array": "[" + body + "]"} {
			got, err := upstream.Collect(t.Context(), replay(stream), &upstream.Request{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s as %s (-reply +stream):\n%s", name, form, diff)
			}
		}
	}
}

// replay returns an upstream that writes the frames of a stream, as an adapter does.
func replay(stream string) upstream.Upstream {
	return formattest.Replay(NewStreamReader(strings.NewReader(stream), nil))
}

// TestCandidateIndexLimit checks that the index of a candidate is limited.
func TestCandidateIndexLimit(t *testing.T) {
	for _, frame := range []string{"data: %s\n\n", "[%s]"} {
		for _, index := range []string{"128", "-1", "99999999999", `"x"`} {
			_, err := readEvents(strings.NewReader(fmt.Sprintf(frame, `{"candidates":[{"index":`+index+`}]}`)))
			if err == io.EOF || !strings.Contains(errors.Unwrap(err).Error(), "index") {
				t.Errorf("index %s: %v", index, err)
			}
		}
	}
}
