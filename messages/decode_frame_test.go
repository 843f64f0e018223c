package messages

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/upstream"
)

// relay reads a stream, passes its frames through Run and writes them with the encoder of the
// handler, as a gateway between clients and a vendor of the same format does.
func relay(t testing.TB, stream string, taps ...func(*upstream.Event)) (string, error) {
	t.Helper()
	enc := newStream("req_1", "msg_1", "m", nil)
	var out []byte
	u := replay(stream)
	sink := upstream.SinkFunc(func(events []upstream.Event) error {
		for _, tap := range taps {
			for i := range events {
				tap(&events[i])
			}
		}
		out = enc.Events(out, events)
		return nil
	})
	err := upstream.Run(t.Context(), u, &upstream.Request{}, sink)
	if err == nil {
		out = enc.End(out, nil)
	}
	return string(out), err
}

func withoutPings(stream string) string {
	return strings.ReplaceAll(stream, "event: ping\ndata: {\"type\":\"ping\"}\n\n", "")
}

// long is a stream with unknown members, events and deltas.
var long = changed(
	line(lineText0), line(lineText0)+
		line(`content_block_delta {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"é\n😀","x_new":[1, 2]},"y_new":{"a":null}}`)+
		line(`content_block_delta {"type":"content_block_delta","index":0,"delta":{"type":"mood_delta","mood":"good"}}`)+
		line(`news {"type":"news","of":{"the":"day"}}`),
	line(lineStop0), line(`content_block_stop {"type":"content_block_stop","index":0,"z":1}`),
	`"usage":{"output_tokens":9}`, `"context_management":null,"w":"w","usage":{"output_tokens":9,"v":{"u":1}}`,
)

func TestFramesForwarded(t *testing.T) {
	streams := map[string]string{"long": long, "correct": changed()}
	for _, name := range []string{"E21", "E22", "E23", "E25"} {
		streams[name] = example(t, name+".sse")
	}
	for name, stream := range streams {
		t.Run(name, func(t *testing.T) {
			got, err := relay(t, stream)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(withoutPings(stream), got); diff != "" {
				t.Errorf("(-sent +relayed):\n%s", diff)
			}
		})
	}
}

// A stream that is encoded anew has the same meaning.
func TestEventsEqualFrames(t *testing.T) {
	streams := map[string]string{}
	for _, name := range []string{"E21", "E22", "E23", "E25"} {
		streams[name] = example(t, name+".sse")
	}
	for name, stream := range streams {
		t.Run(name, func(t *testing.T) {
			anew, err := relay(t, stream, func(e *upstream.Event) { e.Frame = nil })
			if err != nil {
				t.Fatal(err)
			}
			want, err := upstream.Collect(t.Context(), replay(stream), &upstream.Request{})
			if err != nil {
				t.Fatal(err)
			}
			got, err := upstream.Collect(t.Context(), replay(anew), &upstream.Request{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-frames +events):\n%s", diff)
			}
		})
	}
}

// Frames that deviate from the format are not forwarded.
func TestDeviatingFramesNotForwarded(t *testing.T) {
	for name, stream := range map[string]string{
		"no index":      changed(`"index":1,`, ""),
		"no text":       changed(`,"text":"hi"`, ``),
		"no usage":      changed(`,"usage":{"output_tokens":9}`, ""),
		"no content":    changed(`"content":[],`, ""),
		"input as text": changed(`"input":{}`, `"input":""`),
		"no tool input": changed(`,"input":{}`, ``),
		"message_delta without the earlier reason": changed(line(lineEnd), line(`message_delta {"type":"message_delta","delta":{},"usage":{"output_tokens":11}}`)+line(lineEnd)),
	} {
		t.Run(name, func(t *testing.T) {
			want, err := upstream.Collect(t.Context(), replay(stream), &upstream.Request{})
			if err != nil {
				t.Fatal(err)
			}
			out, err := relay(t, stream)
			if err != nil {
				t.Fatal(err)
			}
			r := NewStreamReader(strings.NewReader(out), nil)
			for {
				f, err := r.Next()
				if err != nil {
					break
				}
				if f.Format != Format {
					t.Errorf("still deviates: %s", f.Data)
				}
			}
			got, err := upstream.Collect(t.Context(), replay(out), &upstream.Request{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(summary(want), summary(got)); diff != "" {
				t.Errorf("(-sent +relayed):\n%s", diff)
			}
		})
	}
}

func TestStreamReaderUnknownMembers(t *testing.T) {
	want := []upstream.Event{
		evStart("m", "x", ""), evUsage(content.Usage{Input: 5, Output: 1}, ""),
		evOpen(0, &content.Text{}), evText(0, "hi"), evText(0, "é\n😀"),
		evWhole(upstream.EventBlockExtra, "content_block_delta", `{"type":"content_block_delta","index":0,"delta":{"type":"mood_delta","mood":"good"}}`),
		evWhole(upstream.EventExtra, "news", `{"type":"news","of":{"the":"day"}}`),
		evClose(0),
		evOpen(1, &content.ToolUse{ID: "t", Name: "f"}), evInput(1, `{"a":1}`), evClose(1),
		evUsage(content.Usage{Input: 5, Output: 9}, `{"v":{"u":1}}`),
		evStop(content.StopToolUse, "tool_use"),
		evWhole(upstream.EventExtra, "", `{"w":"w"}`),
	}
	want[4].Extra = mkExtra(`{"x_new":[1, 2],"y_new":{"a":null}}`)
	want[7].Extra = mkExtra(`{"z":1}`)
	got, err := decodeStream(strings.NewReader(long))
	if diff := cmp.Diff(want, got); diff != "" || err != io.EOF {
		t.Errorf("error %v; events (-want +got):\n%s", err, diff)
	}

	start := changed(`"role":"assistant"`, `"role":"assistant","diagnostics":{"cache_miss_reason":null},"container":null,"n":[0]`, `{"type":"message_start"`, `{"o":1,"type":"message_start"`)
	got, _ = decodeStream(strings.NewReader(start))
	first := evStart("m", "x", `{"diagnostics":{"cache_miss_reason":null},"n":[0]}`)
	first.Extra = mkExtra(`{"o":1}`)
	if diff := cmp.Diff(first, got[0]); diff != "" {
		t.Errorf("start (-want +got):\n%s", diff)
	}
}

// TestOpenBlocksLimit checks that the number of open blocks is limited.
func TestOpenBlocksLimit(t *testing.T) {
	var open strings.Builder
	for i := range maxOpen + 1 {
		open.WriteString(line(strings.Replace(lineOpen0, `"index":0`, fmt.Sprintf(`"index":%d`, i), 1)))
	}
	_, err := decodeStream(strings.NewReader(line(lineStart) + open.String()))
	if err == io.EOF || !strings.Contains(errors.Unwrap(err).Error(), "content blocks are open") {
		t.Errorf("over the number of open blocks: %v", err)
	}
}

func TestStreamReaderUsage(t *testing.T) {
	type uses []string
	tests := []struct {
		name  string
		start string
		later uses
		want  content.Usage
	}{
		{"all", `{"input_tokens":1,"output_tokens":20,"cache_creation_input_tokens":7,"cache_read_input_tokens":3,"cache_creation":{"ephemeral_5m_input_tokens":4,"ephemeral_1h_input_tokens":3},"output_tokens_details":{"thinking_tokens":5}}`, nil,
			content.Usage{Input: 1, CacheRead: 3, CacheWrite: 4, CacheWrite1h: 3, Output: 15, Thinking: 5}},
		{"nulls", `{"input_tokens":1,"output_tokens":2,"cache_creation_input_tokens":null,"cache_read_input_tokens":null,"cache_creation":null,"output_tokens_details":null,"service_tier":null}`, nil,
			content.Usage{Input: 1, Output: 2}},
		{"overwritten", `{"input_tokens":1,"output_tokens":2,"cache_read_input_tokens":3}`, uses{`{"input_tokens":10,"output_tokens":20}`, `{"output_tokens":30,"cache_read_input_tokens":null}`},
			content.Usage{Input: 10, Output: 30, CacheRead: 3}},
		{"flat write only", `{"cache_creation_input_tokens":7}`, nil, content.Usage{CacheWrite: 7}},
		{"split write only", `{"cache_creation":{"ephemeral_5m_input_tokens":4,"ephemeral_1h_input_tokens":3}}`, nil, content.Usage{CacheWrite: 4, CacheWrite1h: 3}},
		{"flat write over its parts", `{"cache_creation_input_tokens":9,"cache_creation":{"ephemeral_5m_input_tokens":4,"ephemeral_1h_input_tokens":3}}`, nil, content.Usage{CacheWrite: 6, CacheWrite1h: 3}},
		{"flat write under its parts", `{"cache_creation_input_tokens":2,"cache_creation":{"ephemeral_5m_input_tokens":4,"ephemeral_1h_input_tokens":3}}`, nil, content.Usage{CacheWrite: 4, CacheWrite1h: 3}},
		{"flat write later", `{"cache_creation_input_tokens":0,"cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":0}}`, uses{`{"cache_creation_input_tokens":8}`}, content.Usage{CacheWrite: 8}},
		{"flat write later and less", `{"cache_creation":{"ephemeral_5m_input_tokens":5,"ephemeral_1h_input_tokens":5}}`, uses{`{"cache_creation_input_tokens":4}`}, content.Usage{CacheWrite1h: 4}},
		{"thinking over output", `{"output_tokens":3,"output_tokens_details":{"thinking_tokens":5}}`, nil, content.Usage{Thinking: 3}},
		{"negative", `{"input_tokens":-1,"output_tokens":-2,"cache_read_input_tokens":-3,"cache_creation":{"ephemeral_1h_input_tokens":-3},"output_tokens_details":{"thinking_tokens":-5}}`, nil, content.Usage{}},
		{"enormous", `{"input_tokens":9223372036854775807,"output_tokens":9223372036854775807,"cache_read_input_tokens":9223372036854775807}`, nil,
			content.Usage{Input: maxTokenCount, Output: maxTokenCount, CacheRead: maxTokenCount}},
		{"invalid numbers", `{"input_tokens":1.0,"output_tokens":"2","cache_read_input_tokens":1.5}`, nil, content.Usage{Input: 1}},
		{"members", `{"input_tokens":1,"service_tier":"standard","speed":"fast","output_tokens_details":{"x":1}}`, uses{`{"output_tokens":2,"speed":null,"service_tier":"batch","new":[1]}`},
			content.Usage{Input: 1, Output: 2, Extra: mkExtra(`{"service_tier":"batch","speed":"fast","output_tokens_details":{"x":1},"new":[1]}`)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := strings.Replace(line(lineStart), `{"input_tokens":5,"output_tokens":1}`, tt.start, 1)
			for _, u := range tt.later {
				in += line(`message_delta {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":` + u + `}`)
			}
			events, err := decodeStream(strings.NewReader(in + line(lineEnd)))
			if err != io.EOF {
				t.Fatal(err)
			}
			var got *content.Usage
			for _, e := range events {
				if e.Usage != nil {
					got = e.Usage
				}
			}
			if diff := cmp.Diff(&tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if got.Prompt() < 0 || got.Completion() < 0 {
				t.Error("a sum is negative")
			}
		})
	}
	var apart, together strings.Builder
	for i := range 200 {
		fmt.Fprintf(&apart, "event: message_delta\ndata: {\"usage\":{\"m%d\":%d}}\n\n", i, i)
		fmt.Fprintf(&together, ",\"m%d\":%d", i, i)
	}
	checkCrowded(t, apart.String())
	checkCrowded(t, line(`message_delta {"usage":{"output_tokens":3`+together.String()+`}}`))
	checkCrowded(t, line(`message_delta {"usage":{"large":"`+strings.Repeat("x", 100_000)+`"}}`))
}

// checkCrowded checks that the stored members of usage are limited.
func checkCrowded(t *testing.T, deltas string) {
	t.Helper()
	events, err := decodeStream(strings.NewReader(line(lineStart) + deltas + line(lineEnd)))
	losses, last := 0, ""
	for _, e := range events {
		if e.Loss != nil && e.Loss.Path == "usage" {
			losses++
		}
		if e.Usage != nil && e.Usage.Extra != nil {
			last = e.Usage.Extra.JSON
		}
	}
	if err != io.EOF || losses != 1 || len(last) > 1000 {
		t.Errorf("too many members: error %v, %d losses, %d bytes kept", err, losses, len(last))
	}
}

func TestStopReasons(t *testing.T) {
	for word, want := range map[string]content.StopReason{
		"end_turn": content.StopEnd, "max_tokens": content.StopMaxTokens, "stop_sequence": content.StopSequence,
		"tool_use": content.StopToolUse, "pause_turn": content.StopPause, "refusal": content.StopRefusal,
		"model_context_window_exceeded": content.StopContext, "compaction": content.StopCompaction,
		"something_new": content.StopOther, "": content.StopOther,
	} {
		if got := toStopReason(word); got != want {
			t.Errorf("%q is %q, want %q", word, got, want)
		}
	}
}

// Deltas in the vendor's spelling are read by readFast, others by event. Both must
// have the same result.
func TestFastDeltas(t *testing.T) {
	for _, text := range []string{
		`""`, `"hi"`, `"a\"b"`, `"\u00e9\n\ud83d\ude00"`, `"}}"`, `"\"}}"`, `"\\"`, `"\ud800"`, "\"\xff\"", `"a","b":"c"`,
		`"a","text":"c"`, `5`, `null`, `"a`, `a"`, `"a"}`, `"a" `, ` "a"`, `"a","b":{"c":"d"}`, `"a" "b"`, `"\x"`, "\"\t\"",
	} {
		for i, form := range []string{`text_delta","text`, `input_json_delta","partial_json`, `thinking_delta","thinking`, `text_delta","thinking`} {
			for _, index := range []string{"0", "1", "2", "00", "-0", "1.0", "1e0", "12345678901", `"0"`, "null"} {
				if i > 0 && len(index) > 1 {
					continue
				}
				for _, end := range []string{"}}", "}  } ", "} }", "}", "}}}", `},"x":1}`} {
					head := `{"type":"content_block_delta","index":` + index
					tail := `,"delta":{"type":"` + form + `":` + text + end
					open := line(lineStart) + line(lineOpen0) + line(lineOpen1)
					quick, quickErr := decodeStream(strings.NewReader(open + line("content_block_delta "+head+tail)))
					slow, slowErr := decodeStream(strings.NewReader(open + line("content_block_delta "+head+" "+tail)))
					if diff := cmp.Diff(slow, quick); diff != "" {
						t.Errorf("%s%s: events (-slow +fast):\n%s", head, tail, diff)
					}
					// Paths in the document differ by the space.
					if a, b := errorKind(quickErr), errorKind(slowErr); a != b {
						t.Errorf("%s%s: got the error %s, want %s", head, tail, a, b)
					}
				}
			}
		}
	}
}

func errorKind(err error) string {
	var broken *jsonwire.SyntaxError
	if errors.As(err, &broken) {
		return broken.Text
	}
	return formattest.Causes(err)
}
