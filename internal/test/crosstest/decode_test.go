package crosstest

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/sse"
	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/openai/chatcompletions"
	"github.com/polywire/polywire/upstream/openai/responses"
)

// vendorStreams are streams of the vendors, from the wire references.
var vendorStreams = map[string][]string{
	"messages":        {"E21.sse", "E22.sse", "E23.sse", "E25.sse"},
	"generatecontent": {"S01.sse", "S02.sse", "S03.sse", "S04.sse", "S05.sse", "S07.array", "S08.sse"},
}

// framesOf reads a stream to its end.
func (s wireFormat) framesOf(src io.Reader, limits content.Limits) (frames [][]upstream.Event, err error) {
	r := s.reader(src, limits)
	for {
		f, err := r.Next()
		if err != nil {
			return frames, err
		}
		frames = append(frames, slices.Clone(f.Events))
	}
}

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
	isBad := func(err error) bool {
		var e *upstream.Error
		return errors.As(err, &e) && e.Code == upstream.CodeBadGateway && e.Text == ""
	}
	eachFormat(t, func(t *testing.T, s wireFormat) {
		read := func(src io.Reader) ([][]upstream.Event, error) { return s.framesOf(src, content.Limits{}) }
		for _, name := range vendorStreams[s.name] {
			for _, ending := range []string{"\r\n", "\n"} {
				stream := strings.ReplaceAll(formattest.File(t, "../../../"+s.name+"/testdata/decode/"+name), "\r\n", "\n")
				stream = strings.ReplaceAll(stream, "\n", ending)
				whole, err := read(strings.NewReader(stream))
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
						frames, err := read(src)
						if !isBad(err) {
							t.Fatalf("%s cut at %d: got the error %v", name, cut, err)
						}
						// A truncated tool call has its first pieces; other frames are complete.
						same := strings.HasPrefix(outline(whole), outline(frames))
						if len(frames) > len(whole) || !same || name != "S08.sse" && outline(frames) != outline(whole[:len(frames)]) {
							t.Fatalf("%s cut at %d: other frames", name, cut)
						}
					}
					got, err := read(io.MultiReader(strings.NewReader(stream[:cut]), strings.NewReader(stream[cut:])))
					if err != io.EOF || outline(got) != outline(whole) {
						t.Fatalf("%s split at %d: other frames, error %v", name, cut, err)
					}
				}
				got, err := read(iotest.OneByteReader(strings.NewReader(stream)))
				if err != io.EOF || !cmp.Equal(got, whole) {
					t.Errorf("%s by bytes: other frames, error %v", name, err)
				}
			}
		}
	})
	// An array that is not closed is truncated, even if its candidates have ended.
	if _, err := formatOf(generatecontent.Format).framesOf(strings.NewReader(`[{"candidates":[{"finishReason":"STOP"}]}`), content.Limits{}); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("an array without its end: %v", err)
	}
}

// A framing makes the stream of a vendor, with further members in one of its objects.
type framing struct {
	name   string
	format wireFormat
	stream func(text, members string) string
	begun  []string // beginnings of streams
}

func framings() []framing {
	chunk := func(text, members string) string {
		return `{"candidates":[{"content":{"parts":[{"text":"` + text + `"}]},"finishReason":"STOP"` + members + `}]}`
	}
	return []framing{
		{"messages", formatOf(messages.Format), func(text, members string) string {
			return events(block(`{"type":"text","text":""}`, `{"type":"text_delta","text":"`+text+`"`+members+`}`), endTurn, "")
		}, []string{"", "event: x", "event: x\ndata: {"}},
		{"events", formatOf(generatecontent.Format), func(text, members string) string { return "data: " + chunk(text, members) + "\n\n" }, []string{"", "data: x"}},
		{"array", formatOf(generatecontent.Format), func(text, members string) string { return "[" + chunk(text, members) + "]" }, []string{"[", "[{", "{"}},
		{"chat", formatOf(chatcompletions.Format), func(text, members string) string {
			return `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"` + text + `"` + members +
				`},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"
		}, []string{"", "data: {", ": keep-alive"}},
		{"responses", formatOf(responses.Format), responsesEvents, []string{"", "event: x", "event: x\ndata: {"}},
	}
}

// responsesEvents returns a stream of Responses with a text, with members in the event of its delta.
func responsesEvents(text, members string) string {
	const at = `"item_id":"msg_1","output_index":0,"content_index":0,`
	item := func(status, parts string) string {
		return `{"id":"msg_1","type":"message","role":"assistant","status":"` + status + `","content":[` + parts + `]}`
	}
	part := func(text string) string { return `{"type":"output_text","text":"` + text + `"}` }
	n, all := 0, ""
	add := func(name, members string) {
		all += fmt.Sprintf("event: response.%[1]s\ndata: {\"type\":\"response.%[1]s\",\"sequence_number\":%[2]d,%[3]s}\n\n", name, n, members)
		n++
	}
	add("created", `"response":{"id":"resp_1","object":"response","status":"in_progress","model":"m","output":[]}`)
	add("output_item.added", `"output_index":0,"item":`+item("in_progress", ""))
	add("content_part.added", at+`"part":`+part(""))
	add("output_text.delta", at+`"delta":"`+text+`"`+members)
	add("output_text.done", at+`"text":"`+text+`"`)
	add("content_part.done", at+`"part":`+part(text))
	add("output_item.done", `"output_index":0,"item":`+item("completed", part(text)))
	add("completed", `"response":{"id":"resp_1","object":"response","status":"completed","model":"m","output":[`+item("completed", part(text))+`]}`)
	return all
}

// TestStreamReaderLimits checks the limits of an event or element of a stream, and the
// errors of its source. An error is returned again.
func TestStreamReaderLimits(t *testing.T) {
	for _, f := range framings() {
		t.Run(f.name, func(t *testing.T) {
			from := func(src io.Reader, limits content.Limits) error {
				r := f.format.reader(src, limits)
				for {
					if _, err := r.Next(); err != nil {
						if _, again := r.Next(); again != err {
							t.Errorf("Next again: %v, want %v", again, err)
						}
						return err
					}
				}
			}
			read := func(stream string, limits content.Limits) error { return from(strings.NewReader(stream), limits) }
			large := f.stream(strings.Repeat("x", 100_000), "")
			if err := read(large, content.Limits{Body: 101_000}); err != io.EOF {
				t.Errorf("within the limit: %v", err)
			}
			if err := read(large, content.Limits{Body: 100_000}); !errors.Is(err, sse.ErrTooLarge) {
				t.Errorf("over the limit: %v", err)
			}
			if err := read(large[:90_000], content.Limits{Body: 50_000}); !errors.Is(err, sse.ErrTooLarge) {
				t.Errorf("over the limit and cut: %v", err)
			}
			deep := f.stream("x", `,"y":`+f.format.nesting)
			if err := read(deep, content.Limits{Depth: 7}); err != io.EOF {
				t.Errorf("within the depth: %v", err)
			}
			for name, tt := range map[string]struct {
				stream string
				limits content.Limits
				want   jsonwire.Reason
			}{
				"over the depth":            {deep, content.Limits{Depth: 6}, jsonwire.TooDeep},
				"over the number of values": {deep, content.Limits{Values: 9}, jsonwire.TooManyValues},
				"a name that comes twice":   {f.stream("x", `,"a":1,"a":2`), content.Limits{}, jsonwire.DuplicateName},
			} {
				var broken *jsonwire.SyntaxError
				if err := read(tt.stream, tt.limits); !errors.As(err, &broken) || broken.Reason != tt.want {
					t.Errorf("%s: %v", name, err)
				}
			}
			var failed *upstream.Error
			if err := from(iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader(deep))), content.Limits{}); !errors.As(err, &failed) || failed.Code != upstream.CodeBadGateway {
				t.Errorf("an error of the source: %v", err)
			}
			for _, begun := range f.begun {
				err := from(io.MultiReader(strings.NewReader(begun), iotest.ErrReader(os.ErrDeadlineExceeded)), content.Limits{})
				if !errors.As(err, &failed) || failed.Code != upstream.CodeTimeout {
					t.Errorf("a timeout after %q: %v", begun, err)
				}
				if err := from(io.MultiReader(strings.NewReader(begun), noProgress{}), content.Limits{}); !errors.Is(err, io.ErrNoProgress) {
					t.Errorf("a source without progress after %q: %v", begun, err)
				}
			}
		})
	}
}

type noProgress struct{}

func (noProgress) Read([]byte) (int, error) { return 0, nil }

// TestStreamReaderBuffered checks that a reader knows whether the next event with content has
// arrived, for a stream that arrives in two pieces.
func TestStreamReaderBuffered(t *testing.T) {
	text := func(s, more string) string {
		return `{"candidates":[{"content":{"parts":[{"text":"` + s + `"}]}` + more + `}]}`
	}
	word := func(s string) string {
		return event("content_block_delta", `"index":0,"delta":{"type":"text_delta","text":"`+s+`"}`)
	}
	ofMessages := events(event("content_block_start", `"index":0,"content_block":{"type":"text","text":""}`)+word("a")+word("b")+event("ping", "")+"SPLIT"+
		word("c")+word("d")+event("content_block_stop", `"index":0`), endTurn, "")
	for name, tt := range map[string]struct {
		format wireFormat
		stream string
		last   bool // of the last text: only some streams mark their end
	}{
		"messages": {formatOf(messages.Format), ofMessages, true},
		"events": {formatOf(generatecontent.Format), "data: " + text("a", "") + "\n\ndata: " + text("b", "") + "\n\ndata: " + text("", "") + "\n\ndata: [DONE]\n\nSPLIT" +
			"data: " + text("c", "") + "\n\ndata: " + text("d", `,"finishReason":"STOP"`) + "\n\n", false},
		"array": {formatOf(generatecontent.Format), "[" + text("a", "") + "," + text("b", "") + "," + text("", "") + ",SPLIT" + text("c", "") + "," + text("d", `,"finishReason":"STOP"`) + "]", true},
	} {
		t.Run(name, func(t *testing.T) {
			src, w := io.Pipe()
			defer src.Close()
			go func() {
				defer w.Close()
				for piece := range strings.SplitSeq(tt.stream, "SPLIT") {
					_, _ = io.WriteString(w, piece)
				}
			}()
			r := tt.format.reader(src, content.Limits{})
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
			want := []string{"a true", "b false", "c true", fmt.Sprint("d ", tt.last)}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// FuzzDecodeError checks that errors of vendors have short texts and causes of one line.
func FuzzDecodeError(f *testing.F) {
	f.Add(400, "5", `{"type":"error","error":{"type":"invalid_request_error","message":"x"}}`)
	for _, name := range []string{"E01.json", "E07.json"} {
		f.Add(429, "1e9", formattest.File(f, "../../../generatecontent/testdata/decode/"+name))
	}
	f.Add(0, "", `[{"error":{"code":14,"message":"Please retry in 1h"}}]`)
	f.Add(429, "7200", `{"error":{"message":"Please retry in 2h28m8s"}}`)
	f.Add(429, "7200", "<html>")
	f.Fuzz(func(t *testing.T, status int, after, body string) {
		header := map[string][]string{"Retry-After": {after}, "Request-Id": {after}}
		for _, e := range []*upstream.Error{messages.DecodeError(status, header, []byte(body)), generatecontent.DecodeError(status, header, []byte(body)),
			chatcompletions.DecodeError(status, header, []byte(body)), responses.DecodeError(status, header, []byte(body))} {
			if len(e.Text) > 2<<10 || strings.ContainsAny(e.Text, "\r\n") || e.RetryAfter < 0 {
				t.Errorf("got %q, %v", e.Text, e.RetryAfter)
			}
			if cause := e.Err.Error(); strings.ContainsAny(cause, "\r\n") {
				t.Errorf("the cause has several lines: %q", cause)
			}
		}
	})
}
