package generatecontent

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/formattest"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/sse"
	"github.com/polywire/polywire/upstream"
)

var streamFiles = []string{"S01.sse", "S02.sse", "S03.sse", "S04.sse", "S05.sse", "S07.array", "S08.sse"}

// outline returns a summary of frames.
func outline(frames [][]upstream.Event) string {
	var b []byte
	for _, f := range frames {
		b = append(b, '|')
		for _, e := range f {
			b = append(b, byte('a'+e.Kind), byte('0'+e.Block))
			b = append(b, e.Text...)
			if e.Usage != nil {
				b = fmt.Append(b, e.Usage.Prompt(), e.Usage.Completion())
			}
		}
	}
	return string(b)
}

// TestStreamCutAnywhere checks that a truncated stream is never complete, and that a
// stream that arrives in small reads is decoded equally.
func TestStreamCutAnywhere(t *testing.T) {
	for _, name := range streamFiles {
		for _, ending := range []string{"\r\n", "\n"} {
			stream := strings.ReplaceAll(answerFile(t, name), "\r\n", ending)
			whole, err := readFrames(strings.NewReader(stream))
			if err != io.EOF {
				t.Fatal(name, err)
			}
			last := len(stream)
			if ending == "\r\n" && strings.HasSuffix(name, ".sse") {
				last-- // a CR also ends the last event
			}
			for cut := range last {
				for _, src := range []io.Reader{
					strings.NewReader(stream[:cut]),
					io.MultiReader(strings.NewReader(stream[:cut]), iotest.ErrReader(errors.New("reset"))),
				} {
					frames, err := readFrames(src)
					var failed *upstream.Error
					if !errors.As(err, &failed) || failed.Code != upstream.CodeBadGateway || failed.Text != "" {
						t.Fatalf("%s cut at %d: got the error %v", name, cut, err)
					}
					// A truncated tool call has its first pieces; other frames are complete.
					same := strings.HasPrefix(outline(whole), outline(frames))
					if len(frames) > len(whole) || !same || name != "S08.sse" && outline(frames) != outline(whole[:len(frames)]) {
						t.Fatalf("%s cut at %d: other frames", name, cut)
					}
				}
				got, err := readFrames(io.MultiReader(strings.NewReader(stream[:cut]), strings.NewReader(stream[cut:])))
				if err != io.EOF || outline(got) != outline(whole) {
					t.Fatalf("%s split at %d: other frames, error %v", name, cut, err)
				}
			}
			got, err := readFrames(iotest.OneByteReader(strings.NewReader(stream)))
			if err != io.EOF || !cmp.Equal(got, whole) {
				t.Errorf("%s by bytes: other frames, error %v", name, err)
			}
		}
	}
	// An array that is not closed is truncated, even if its candidates have ended.
	if _, err := readEvents(strings.NewReader(`[{"candidates":[{"finishReason":"STOP"}]}`)); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("an array without its end: %v", err)
	}
}

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

func TestStreamReaderLimits(t *testing.T) {
	chunk := func(text, more string) string {
		return `{"candidates":[{"content":{"parts":[{"text":"` + text + `"}]},"finishReason":"STOP"` + more + `}]}`
	}
	read := func(stream string, lim content.Limits) error {
		r := NewStreamReader(strings.NewReader(stream), lim)
		for {
			if _, err := r.Next(); err != nil {
				if _, again := r.Next(); again != err {
					t.Errorf("Next again: %v, want %v", again, err)
				}
				return err
			}
		}
	}
	for name, frame := range map[string]string{"events": "data: %s\n\n", "array": "[%s]"} {
		t.Run(name, func(t *testing.T) {
			in := func(s string) string { return fmt.Sprintf(frame, s) }
			large := in(chunk(strings.Repeat("x", 100_000), ""))
			if err := read(large, content.Limits{Body: 101_000}); err != io.EOF {
				t.Errorf("within the limit: %v", err)
			}
			if err := read(large, content.Limits{Body: 100_000}); !errors.Is(err, sse.ErrTooLarge) {
				t.Errorf("over the limit: %v", err)
			}
			if err := read(large[:90_000], content.Limits{Body: 50_000}); !errors.Is(err, sse.ErrTooLarge) {
				t.Errorf("over the limit and cut: %v", err)
			}
			deep := in(chunk("x", `,"y":[[[[]]]]`))
			if err := read(deep, content.Limits{Depth: 7}); err != io.EOF {
				t.Errorf("within the depth: %v", err)
			}
			var broken *jsonwire.SyntaxError
			if err := read(deep, content.Limits{Depth: 6}); !errors.As(err, &broken) || broken.Reason != jsonwire.TooDeep {
				t.Errorf("over the depth: %v", err)
			}
			if err := read(deep, content.Limits{Values: 9}); !errors.As(err, &broken) || broken.Reason != jsonwire.TooManyValues {
				t.Errorf("over the number of values: %v", err)
			}
			if err := read(in(`{"a":1,"a":2}`), content.Limits{}); !errors.As(err, &broken) || broken.Reason != jsonwire.DuplicateName {
				t.Errorf("a name that comes twice: %v", err)
			}
			for _, index := range []string{"128", "-1", "99999999999", `"x"`} {
				if err := read(in(`{"candidates":[{"index":`+index+`}]}`), content.Limits{}); err == io.EOF || !strings.Contains(errors.Unwrap(err).Error(), "index") {
					t.Errorf("index %s: %v", index, err)
				}
			}
		})
	}
	var failed *upstream.Error
	for _, before := range []string{"", "data: x", "[", "[{", "{"} {
		r := NewStreamReader(io.MultiReader(strings.NewReader(before), iotest.ErrReader(os.ErrDeadlineExceeded)), content.Limits{})
		if _, err := r.Next(); !errors.As(err, &failed) || failed.Code != upstream.CodeTimeout {
			t.Errorf("a time-out behind %q: %v", before, err)
		}
		r = NewStreamReader(io.MultiReader(strings.NewReader(before), noProgress{}), content.Limits{})
		if _, err := r.Next(); !errors.Is(err, io.ErrNoProgress) {
			t.Errorf("a source without progress after %q: %v", before, err)
		}
	}
}

type noProgress struct{}

func (noProgress) Read([]byte) (int, error) { return 0, nil }

func TestStreamReaderBuffered(t *testing.T) {
	text := func(s, more string) string {
		return `{"candidates":[{"content":{"parts":[{"text":"` + s + `"}]}` + more + `}]}`
	}
	streams := map[string][2]string{
		"events": {"data: " + text("a", "") + "\n\ndata: " + text("b", "") + "\n\ndata: " + text("", "") + "\n\ndata: [DONE]\n\n",
			"data: " + text("c", "") + "\n\ndata: " + text("d", `,"finishReason":"STOP"`) + "\n\n"},
		"array": {"[" + text("a", "") + "," + text("b", "") + "," + text("", "") + ",", text("c", "") + "," + text("d", `,"finishReason":"STOP"`) + "]"},
	}
	for name, parts := range streams {
		t.Run(name, func(t *testing.T) {
			src, w := io.Pipe()
			defer src.Close()
			go func() {
				defer w.Close()
				io.WriteString(w, parts[0])
				io.WriteString(w, parts[1])
			}()
			r := NewStreamReader(src, content.Limits{})
			var got []string
			for {
				f, err := r.Next()
				if err != nil {
					break
				}
				for _, e := range f.Events {
					if e.Kind == upstream.EventText {
						got = append(got, fmt.Sprint(e.Text, " ", r.Buffered()))
					}
				}
			}
			// Only an array marks its end.
			want := []string{"a true", "b false", "c true", fmt.Sprint("d ", name == "array")}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
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
		f, err := DecodeResponse(body, content.Limits{})
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
	return formattest.Replay(NewStreamReader(strings.NewReader(stream), content.Limits{}))
}
