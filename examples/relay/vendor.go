package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A response is a kind of response. The end of the model's name selects it.
type response struct {
	suffix string
	events int           // of a stream; 0 if the response is whole
	pause  time.Duration // after each event
}

var (
	whole = response{suffix: "-whole"}
	flood = response{suffix: "-flood", events: 1000}
	paced = response{suffix: "-paced", events: 100, pause: 5 * time.Millisecond}
)

// A wire has the responses of a format.
type wire struct {
	whole string                          // a response of 2 KB
	begin []string                        // frames before the events of a stream
	event func(n int, text string) string // the event n, from 1
	end   []string                        // frames after the events
}

// wires are the formats of the server, by the beginning of the path.
var wires = map[string]wire{
	"/v1/messages": {
		whole: `{"id":"msg_1","type":"message","role":"assistant","model":"claude-whole",` +
			`"content":[{"type":"text","text":"` + prose + `"}],"stop_reason":"end_turn","stop_sequence":null,` +
			`"usage":{"input_tokens":10,"output_tokens":400}}`,
		begin: []string{
			named("message_start", `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant",`+
				`"model":"claude-x","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":10,"output_tokens":1}}}`),
			named("content_block_start", `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`),
		},
		event: func(_ int, text string) string {
			return named("content_block_delta", `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"`+text+`"}}`)
		},
		end: []string{
			named("content_block_stop", `{"type":"content_block_stop","index":0}`),
			named("message_delta", `{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":400}}`),
			named("message_stop", `{"type":"message_stop"}`),
		},
	},
	"/v1beta/models/": {
		whole: generated(prose, `"STOP"`, 400),
		event: func(n int, text string) string { return data(generated(text, "", n)) },
		end:   []string{data(generated("", `"STOP"`, 1001))},
	},
	"/v1/chat/completions": {
		whole: `{"id":"chatcmpl-1","object":"chat.completion","created":1760000000,"model":"gpt-whole",` +
			`"choices":[{"index":0,"message":{"role":"assistant","content":"` + prose + `","refusal":null},"logprobs":null,"finish_reason":"stop"}],` +
			`"usage":{"prompt_tokens":10,"completion_tokens":400,"total_tokens":410}}`,
		begin: []string{data(chunk(`[{"index":0,"delta":{"role":"assistant","content":"","refusal":null},"logprobs":null,"finish_reason":null}]`, "null"))},
		event: func(_ int, text string) string {
			return data(chunk(`[{"index":0,"delta":{"content":"`+text+`"},"logprobs":null,"finish_reason":null}]`, "null"))
		},
		end: []string{
			data(chunk(`[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}]`, "null")),
			data(chunk(`[]`, `{"prompt_tokens":10,"completion_tokens":400,"total_tokens":410}`)),
			data("[DONE]"),
		},
	},
}

// prose is the text of whole responses.
var prose = strings.Repeat("All work and no play. ", 90)

// named returns a frame of a stream with the name of an event.
func named(name, text string) string { return "event: " + name + "\n" + data(text) }

// data returns a frame of a stream.
func data(text string) string { return "data: " + text + "\n\n" }

// generated returns a response of generateContent, or a part of it. finish is the JSON of its
// reason, or empty.
func generated(text, finish string, tokens int) string {
	if finish != "" {
		finish = `,"finishReason":` + finish
	}
	count := strconv.Itoa(tokens)
	return `{"candidates":[{"content":{"parts":[{"text":"` + text + `"}],"role":"model"}` + finish + `,"index":0}],` +
		`"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":` + count + `,"totalTokenCount":` + strconv.Itoa(10+tokens) +
		`},"modelVersion":"gemini-x","responseId":"r1"}`
}

// chunk returns a part of a streamed response of Chat Completions.
func chunk(choices, usage string) string {
	return `{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1760000000,"model":"gpt-x",` +
		`"system_fingerprint":null,"choices":` + choices + `,"usage":` + usage + `}`
}

// A vendor is a server of all formats.
type vendor struct {
	*httptest.Server
	kept *strings.Builder // if not nil, gets the body of the request
}

func startVendor() *vendor {
	v, mux := new(vendor), http.NewServeMux()
	for path, format := range wires {
		mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) {
			if v.kept != nil {
				r.Body = io.NopCloser(io.TeeReader(r.Body, v.kept))
			}
			format.ServeHTTP(w, r)
		})
	}
	v.Server = httptest.NewServer(mux)
	return v
}

// lost sends one request of a load through a relay and returns a string of it that does not arrive,
// or "".
func (v *vendor) lost(ctx context.Context, l *load, p *process) (string, error) {
	v.kept = new(strings.Builder)
	defer func() { v.kept = nil }()
	if _, err := l.once(ctx, http.DefaultClient, p.url); err != nil {
		return "", err
	}
	var sent, received any
	if err := errors.Join(json.Unmarshal([]byte(l.body), &sent), json.Unmarshal([]byte(v.kept.String()), &received)); err != nil {
		return "", err
	}
	want, got := map[string]bool{}, map[string]bool{}
	collect(want, sent)
	collect(got, received)
	for s := range want {
		if !got[s] {
			return s, nil
		}
	}
	return "", nil
}

// formatWords are members whose strings are words of the format, or reasoning that the server did not
// write.
var formatWords = []string{"type", "role", "model", "tool_choice", "reasoning_effort", "reasoning_content"}

// collect adds the strings of a document, apart from formatWords. A string that has an object or a
// list counts as that: the arguments of calls are strings in one format only.
func collect(set map[string]bool, v any) {
	switch v := v.(type) {
	case string:
		var inner any
		if json.Unmarshal([]byte(v), &inner) == nil && (strings.HasPrefix(v, "{") || strings.HasPrefix(v, "[")) {
			collect(set, inner)
			return
		}
		set[v] = true
	case []any:
		for _, item := range v {
			collect(set, item)
		}
	case map[string]any:
		for name, value := range v {
			if !slices.Contains(formatWords, name) {
				collect(set, value)
			}
		}
	}
}

// ServeHTTP reads a request and writes the response of its model.
func (f wire) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := make([]byte, 1<<10) // contains the model, unless the path does
	n, _ := io.ReadFull(r.Body, start)
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return
	}
	_, rest, _ := strings.Cut(string(start[:n]), `"model":"`)
	model, _, _ := strings.Cut(rest, `"`)
	if _, rest, ok := strings.Cut(r.URL.Path, "/models/"); ok {
		model, _, _ = strings.Cut(rest, ":")
	}
	for _, stream := range []response{flood, paced} {
		if strings.HasSuffix(model, stream.suffix) {
			f.stream(w, stream)
			return
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, f.whole)
}

// stream writes events, each with the time of writing in its text.
func (f wire) stream(w http.ResponseWriter, r response) {
	w.Header().Set("Content-Type", "text/event-stream")
	rc := http.NewResponseController(w)
	send := func(frames ...string) {
		for _, frame := range frames {
			_, _ = io.WriteString(w, frame)
			_ = rc.Flush()
		}
	}
	send(f.begin...)
	for n := range r.events {
		send(f.event(n+1, mark+strconv.FormatInt(time.Now().UnixNano(), 10)+"."))
		if r.pause > 0 {
			time.Sleep(r.pause)
		}
	}
	send(f.end...)
}

// mark precedes the time in an event. A full stop follows, because a relay may hold the last character of
// a text back.
const mark = "written at "
