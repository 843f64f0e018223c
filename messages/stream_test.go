package messages

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/handler"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/test/floor"
	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/internal/test/lossplaces"
	"github.com/polywire/polywire/upstream"
)

// drive runs an upstream into a stream encoder, as a handler does.
func drive(t *testing.T, up upstream.Func) (stream string, lost []content.Loss) {
	t.Helper()
	s := newStream("req_1", "msg_1", "asked", nil)
	var out []byte
	err := upstream.Run(t.Context(), up, &upstream.Request{}, upstream.SinkFunc(func(events []upstream.Event) error {
		out = s.Events(out, events)
		lost = append(lost, s.Losses()...)
		return nil
	}))
	var f *handler.Failure
	if err != nil {
		f = handler.FailureOf(err)
	}
	out = s.End(out, f)
	return string(out), append(lost, s.Losses()...)
}

// responseCases are upstreams that use every kind of content. A whole response to each is equal to
// the message that a client accumulates from the stream, except for tool calls that were
// sent before their arguments broke.
var responseCases = []struct {
	name   string
	up     upstream.Func
	losses []string // severity and path
}{
	{name: "nothing", up: func(context.Context, *upstream.Request, *upstream.Writer) error { return nil }},
	{name: "text", up: func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		_ = w.Start(upstream.Start{ID: "msg_up", Model: "up-1"})
		_ = w.Usage(content.Usage{Input: 12})
		_ = w.Text("A \"quoted\"\nline\u2028 and \x00\xff")
		_ = w.Text(" more")
		_ = w.Usage(content.Usage{Input: 12, CacheRead: 3, CacheWrite: 4, CacheWrite1h: 5, Output: 6, Thinking: 7, ToolPrompt: 8})
		return w.Stop(upstream.Stop{Reason: content.StopSequence, Sequence: "END"})
	}},
	{name: "thinking", up: func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		_ = w.Thinking("Let me ")
		_ = w.Thinking("see.")
		_ = w.Signature(content.Signature{Format: Format, Data: "c2ln"})
		_ = w.Part(&content.Thinking{Redacted: content.Signature{Format: Format, Data: "b3BhcXVl"}})
		_ = w.Part(&content.Thinking{Signature: content.Signature{Format: Format, Data: "omitted"}})
		_ = w.Thinking("unsigned")
		return w.Text("Yes.")
	}},
	{name: "signatures of other formats", up: func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		_ = w.Thinking("Hm")
		_ = w.Signature(content.Signature{Format: "other", Data: "x"})
		_ = w.Part(&content.Thinking{Redacted: content.Signature{Format: "other", Data: "y"}})
		return w.Text("a")
	}, losses: []string{"degraded parts.1"}},
	{name: "calls", up: func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		_ = w.Text("Both.")
		a, b := w.ToolCall("toolu_a", "one"), w.ToolCall("toolu_b", "two")
		_ = a.Input(`{"n":1.0,`)
		_ = b.Input("{ }")
		_ = a.Input("\n\"k\": 12345678901234567890}")
		_ = b.Close()
		_ = a.Close()
		_ = w.ToolCall("toolu_c", "none").Close()
		return w.Part(&content.ToolUse{Name: "whole", Input: `{"a":[1,{"b":null}]}`,
			Extra: &content.Extra{Format: Format, JSON: `{"caller":{"type":"code_execution_20250825","tool_id":"s"},"toolset_name":"t"}`}})
	}},
	{name: "broken calls", up: func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		_ = w.ToolCall("toolu_a", "cut").Input(`{"a":"b`)
		_ = w.ToolCall("toolu_b", "list").Input(`[1]`)
		return w.Part(&content.ToolUse{ID: "toolu_c", Name: "whole", Input: `{"a"`})
	}, losses: []string{"degraded stop", "dropped parts.0", "dropped parts.1", "dropped parts.2"}},
	{name: "cut at max_tokens", up: func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		_ = w.ToolCall("toolu_a", "cut").Input(`{"a":"b`)
		return w.Stop(upstream.Stop{Reason: content.StopMaxTokens})
	}, losses: []string{"dropped parts.0"}},
	{name: "citations", up: func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		_ = w.Text("They nest early")
		_ = w.Cite(content.Citation{Kind: content.CiteChars, Text: "Herons", Title: "Notes", End: 18, FileID: "file_1"})
		_ = w.Part(&content.Text{Text: "!", Citations: []content.Citation{
			{Kind: content.CiteWeb, Text: "x", URL: "https://a.example", Extra: &content.Extra{Format: Format, JSON: `{"encrypted_index":"RQ"}`}},
			{Kind: content.CiteSearchResult, Text: "x", URL: "wiki", Title: "W", Index: 1, Start: 2, End: 3},
			{Extra: &content.Extra{Format: Format, JSON: "{\"type\":\"new\",\n\"x\":1}"}},
		}})
		return w.Part(&content.Text{Text: "?", Citations: []content.Citation{{Kind: "odd", Text: "x"}}})
	}, losses: []string{"dropped parts.2"}},
	{name: "built-in tools", up: func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		_ = w.Part(&content.ServerToolUse{Format: Format, Kind: "server_tool_use", ID: "srvtoolu_1", Name: "web_search", Input: `{"query":"q"}`})
		_ = w.Part(&content.ServerToolResult{Format: Format, Kind: "web_search_tool_result", ID: "srvtoolu_1",
			Content: "[\n {\"type\":\"web_search_result\",\"url\":\"u\"}\r\n]", Extra: &content.Extra{Format: Format, JSON: `{"caller":{"type":"direct"}}`}})
		_ = w.Part(&content.ServerToolUse{Format: Format, Kind: "mcp_tool_use", ID: "mcptoolu_1", Name: "free",
			Extra: &content.Extra{Format: Format, JSON: `{"server_name":"cal"}`}})
		_ = w.Part(&content.Unknown{Format: Format, Kind: "container_upload", Raw: "{\"type\":\"container_upload\",\n\"file_id\":\"f\"}"})
		_ = w.Part(&content.ServerToolUse{Format: "other", Kind: "exec", ID: "1"})
		_ = w.Part(&content.Unknown{Format: "other", Kind: "x", Raw: "{}"})
		_ = w.Part(&content.Image{Source: &content.URL{URL: "https://a.example"}})
		_ = w.Text("after")
		return w.Stop(upstream.Stop{Reason: content.StopPause, Extra: &content.Extra{Format: Format, JSON: `{"container":{"id":"c","expires_at":"t","skills":null}}`}})
	}, losses: []string{"dropped parts.4", "dropped parts.5", "dropped parts.6"}},
	{name: "unmodelled members", up: func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		_ = w.Send([]upstream.Event{
			{Kind: upstream.EventStart, Start: &upstream.Start{ID: "i", Model: "m", Extra: &content.Extra{Format: Format, JSON: `{"diagnostics":{"cache_miss_reason":null},"x_start":1}`}}},
			{Kind: upstream.EventUsage, Usage: &content.Usage{Input: 1, Extra: &content.Extra{Format: Format, JSON: `{"service_tier":"standard","iterations":[]}`}}},
		})
		_ = w.Text("a")
		return w.Send([]upstream.Event{
			{Kind: upstream.EventExtra, Extra: &content.Extra{Format: Format, JSON: `{"x_new":1}`}},
			{Kind: upstream.EventStop, Stop: &upstream.Stop{Format: Format, RawReason: "end_turn",
				Extra: &content.Extra{Format: Format, JSON: `{"context_management":{"applied_edits":[]}}`}}},
		})
	}},
	{name: "members of another format", up: func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		_ = w.Text("a")
		return w.Send([]upstream.Event{
			{Kind: upstream.EventExtra, Extra: &content.Extra{Format: "other", JSON: `{"x":1}`}},
			{Kind: upstream.EventUsage, Usage: &content.Usage{Output: 1, Modalities: []content.ModalityCount{{Kind: "output", Modality: "audio", Tokens: 1}}}},
		})
	}, losses: []string{"hint usage", "hint x"}},
	{name: "counts that only repeat others", up: func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		_ = w.Text("a")
		return w.Usage(content.Usage{Output: 1,
			Modalities: []content.ModalityCount{{Kind: "output", Modality: "text", Tokens: 1}, {Kind: "prompt", Modality: "image"}},
			Extra:      &content.Extra{Format: "other", JSON: `{"tier":"standard","made":{"a":0,"b":null},"list":[]}`}})
	}},
	{name: "counts of another format", up: func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		_ = w.Text("a")
		return w.Usage(content.Usage{Output: 1, Extra: &content.Extra{Format: "other", JSON: `{"made":{"a":0,"b":2}}`}})
	}, losses: []string{"hint usage"}},
	{name: "cut within characters", up: func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		text := "a😀é漢"
		for i := range len(text) {
			_ = w.Text(text[i : i+1])
		}
		_ = w.Thinking("\xf0\x9f")
		_ = w.Text("\xe6")
		c := w.ToolCall("toolu_a", "n")
		_ = c.Input("{\"a\":\"\xc3")
		_ = c.Input("\xa9\"}")
		return w.Text(strings.Repeat("漢", 1<<19))
	}},
	{name: "refusal", up: func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		_ = w.Text("No")
		return w.Stop(upstream.Stop{Reason: content.StopRefusal, Format: Format, RawReason: "refusal",
			Details: `{"type":"refusal","category":"cyber","explanation":"Declined."}`})
	}},
}

// TestResponseIsStream checks that a whole response is equal to the accumulated stream.
func TestResponseIsStream(t *testing.T) {
	for _, tt := range responseCases {
		t.Run(tt.name, func(t *testing.T) {
			stream, lost := drive(t, tt.up)
			a, err := formattest.ReadMessage(stream)
			if err != nil {
				t.Fatalf("%v\n%s", err, stream)
			}
			if a.Failure != nil {
				t.Fatalf("failed: %v", a.Failure)
			}
			reply, err := upstream.Collect(t.Context(), tt.up, &upstream.Request{})
			if err != nil {
				t.Fatal(err)
			}
			res, lost2 := convertResponse(reply, nil, placement{})
			if res.ID == "" {
				res.ID, res.Model = "msg_1", "asked"
			}
			doc, err := res.AppendJSON(nil)
			if err != nil {
				t.Fatal(err)
			}
			got, err := formattest.DecodeObject(doc)
			if err != nil {
				t.Fatalf("%v\n%s", err, doc)
			}
			a.Object["content"] = a.ValidBlocks()
			if diff := cmp.Diff(a.Object, got); diff != "" {
				t.Errorf("whole response differs from the stream (-stream +whole):\n%s", diff)
			}
			for _, lost := range [][]content.Loss{lost, lost2} {
				if diff := cmp.Diff(tt.losses, lossNames(lost)); diff != "" {
					t.Errorf("losses (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// lossNames returns severities and paths, sorted and without duplicates.
func lossNames(lost []content.Loss) []string {
	var names []string
	names = append(names, lossplaces.Names(lost)...)
	return sortedSet(names)
}

func sortedSet(names []string) []string {
	var set []string
	for _, n := range names {
		i := 0
		for i < len(set) && set[i] < n {
			i++
		}
		if i == len(set) || set[i] != n {
			set = append(set[:i], append([]string{n}, set[i:]...)...)
		}
	}
	return set
}

// TestStreamBytes pins the bytes of a small stream.
func TestStreamBytes(t *testing.T) {
	stream, _ := drive(t, func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		_ = w.Send([]upstream.Event{
			{Kind: upstream.EventStart, Start: &upstream.Start{ID: "msg_9", Model: "m"}},
			{Kind: upstream.EventUsage, Usage: &content.Usage{Input: 2, CacheRead: 3}},
		})
		_ = w.Text("Hi\n")
		return w.Usage(content.Usage{Input: 2, CacheRead: 3, Output: 4, Thinking: 5})
	})
	const usage = `"input_tokens":2,"cache_creation_input_tokens":0,"cache_read_input_tokens":3,`
	want := `event: message_start
data: {"type":"message_start","message":{"id":"msg_9","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"stop_details":null,"usage":{` + usage + `"cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":0},"output_tokens":0}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi\n"}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null,"stop_details":null},"usage":{` + usage + `"output_tokens":9,"output_tokens_details":{"thinking_tokens":5}}}

event: message_stop
data: {"type":"message_stop"}

`
	if diff := cmp.Diff(want, stream); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestStreamFailure(t *testing.T) {
	for _, tt := range []struct {
		name string
		up   upstream.Func
		kind string
		text string
	}{
		{"before the start", func(context.Context, *upstream.Request, *upstream.Writer) error {
			return &upstream.Error{Code: upstream.CodeRateLimit, Text: "slow\ndown"}
		}, "rate_limit_error", "slow down"},
		{"midway", func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
			_ = w.Text("Well")
			return &upstream.Error{Code: upstream.CodeOverloaded, Err: errors.New("secret")}
		}, "overloaded_error", "Overloaded"},
		{"after the stop", func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
			_ = w.Stop(upstream.Stop{Reason: content.StopEnd})
			return errors.New("secret")
		}, "api_error", "Internal server error"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			stream, _ := drive(t, tt.up)
			a, err := formattest.ReadMessage(stream)
			if err != nil {
				t.Fatalf("%v\n%s", err, stream)
			}
			want := map[string]any{"type": "error", "request_id": "req_1",
				"error": map[string]any{"type": tt.kind, "message": tt.text}}
			if diff := cmp.Diff(want, a.Failure); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if strings.Contains(stream, "secret") {
				t.Error("the client receives the cause")
			}
		})
	}
}

func TestStopFields(t *testing.T) {
	explained := func(s string) string { return `{"type":"refusal","category":null,"explanation":` + s + `}` }
	for _, tt := range []struct {
		stop          upstream.Stop
		word, details string
	}{
		{upstream.Stop{Reason: content.StopEnd}, "end_turn", ""},
		{upstream.Stop{}, "end_turn", ""},
		{upstream.Stop{Reason: content.StopToolUse}, "tool_use", ""},
		{upstream.Stop{Reason: content.StopMaxTokens}, "max_tokens", ""},
		{upstream.Stop{Reason: content.StopSequence}, "stop_sequence", ""},
		{upstream.Stop{Reason: content.StopContext}, "model_context_window_exceeded", ""},
		{upstream.Stop{Reason: content.StopPause}, "pause_turn", ""},
		{upstream.Stop{Reason: content.StopCompaction}, "compaction", ""},
		{upstream.Stop{Reason: content.StopRefusal}, "refusal", explained("null")},
		{upstream.Stop{Reason: content.StopSafety, Format: "other", RawReason: "SAFETY", Details: "{}"}, "refusal", explained(`"A content filter stopped the response."`)},
		{upstream.Stop{Reason: content.StopRecitation}, "refusal", explained(`"The response repeated protected text."`)},
		{upstream.Stop{Reason: content.StopMalformedCall}, "max_tokens", ""},
		{upstream.Stop{Reason: content.StopOther, Format: "other", RawReason: "STOP"}, "max_tokens", ""},
		{upstream.Stop{Reason: "of a later version"}, "max_tokens", ""},
		{upstream.Stop{Reason: content.StopOther, Format: Format, RawReason: "brand_new", Details: `{"a":1}`}, "brand_new", `{"a":1}`},
	} {
		a := responseInfo{stop: tt.stop}
		if tt.stop.Reason == content.StopToolUse {
			a.calls = 1
		}
		word, _, details := a.stopFields(func(string, *loss.Rule) {})
		if word != tt.word || details != tt.details {
			t.Errorf("%+v: got %s %s, want %s %s", tt.stop, word, details, tt.word, tt.details)
		}
	}
}

func TestStreamAllocates(t *testing.T) {
	s := newStream("req_1", "msg_1", "m", nil)
	out := s.Events(nil, blocksOpen())
	usage := content.Usage{Output: 3}
	batch := []upstream.Event{
		{Kind: upstream.EventText, Block: 0, Text: "some \"text\" in Größe\n"},
		{Kind: upstream.EventText, Block: 2, Text: "a thought"},
		{Kind: upstream.EventInput, Block: 1, Text: `{"a":"b"`},
		{Kind: upstream.EventUsage, Usage: &usage},
	}
	for i := range batch {
		one := batch[i : i+1]
		out = s.Events(out[:0], one)
		if n := testing.AllocsPerRun(1000, func() { out = s.Events(out[:0], one) }); n != 0 {
			t.Errorf("event of kind %d: %v allocations", one[0].Kind, n)
		}
	}
}

// blocksOpen opens a text, a tool call and thinking.
func blocksOpen() []upstream.Event {
	return []upstream.Event{
		{Kind: upstream.EventOpen, Block: 0, Part: &content.Text{}},
		{Kind: upstream.EventOpen, Block: 1, Part: &content.ToolUse{ID: "i", Name: "n"}},
		{Kind: upstream.EventOpen, Block: 2, Part: &content.Thinking{}},
	}
}

// TestStartUsage checks the tokens of the prompt in message_start: the count of the upstream
// so far, or else an estimate. The end has the final counts.
func TestStartUsage(t *testing.T) {
	counted := content.Usage{Input: 20, CacheRead: 7, Output: 3}
	for _, tt := range []struct {
		name  string
		first *content.Usage
		want  string // of message_start; empty: the estimate
	}{
		{"counted at the end", nil, ""},
		{"counted as zero at first", &content.Usage{}, ""},
		{"counted at first", &content.Usage{Input: 19}, `"input_tokens":19,`},
		{"cached", &content.Usage{CacheRead: 19}, `"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":19,`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			want := tt.want
			up := upstream.Func(func(_ context.Context, r *upstream.Request, w *upstream.Writer) error {
				if want == "" {
					want = `"input_tokens":` + strconv.FormatInt(upstream.EstimateTokens(r), 10) + ","
				}
				_ = w.Start(upstream.Start{Usage: tt.first})
				_ = w.Text("a")
				return w.Usage(counted)
			})
			w := httptest.NewRecorder()
			NewHandler(up, nil).ServeHTTP(w, post(streamBody))
			start, rest, _ := strings.Cut(w.Body.String(), "\n\n")
			_, end, _ := strings.Cut(rest, "event: message_delta")
			if !strings.Contains(start, want) {
				t.Errorf("message_start does not contain %s: %s", want, start)
			}
			const total = `"usage":{"input_tokens":20,"cache_creation_input_tokens":0,"cache_read_input_tokens":7,`
			if !strings.Contains(end, total) {
				t.Errorf("message_delta does not contain %s: %s", total, end)
			}
		})
	}
}

// pieces are events of a vendor. Two of them are unknown in this format: one between blocks
// and one about a block.
func pieces() []*upstream.Frame {
	list := vendorFrames()[:1]
	for _, f := range []*upstream.Frame{
		{Name: "content_block_start", Data: `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"","citations":null}}`,
			Events: []upstream.Event{{Kind: upstream.EventOpen, Part: &content.Text{}}}},
		{Name: "content_block_delta", Data: `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}`,
			Events: []upstream.Event{{Kind: upstream.EventText, Text: "a"}}},
		{Name: "content_block_delta", Data: moodData,
			Events: []upstream.Event{{Kind: upstream.EventBlockExtra, Text: "content_block_delta", Extra: mkExtra(moodData)}}},
		{Name: "news", Data: newsData, Events: []upstream.Event{{Kind: upstream.EventExtra, Text: "news", Extra: mkExtra(newsData)}}},
		{Name: "content_block_stop", Data: `{"type":"content_block_stop","index":0}`,
			Events: []upstream.Event{{Kind: upstream.EventClose}}},
	} {
		f.Format = Format
		list = append(list, f)
	}
	return list
}

const (
	moodData = `{"type":"content_block_delta", "index":0,"delta":{"type":"mood_delta","mood":"good"},"at":1.50}`
	newsData = `{"type":"news", "of":{"the":"day"},"index":0}`
)

// sendPieces sends the pieces through middleware, which may open a block before the first one.
func sendPieces(frames []*upstream.Frame, first bool) upstream.Func {
	return func(_ ctx, _ *upstream.Request, w *upstream.Writer) error {
		for _, f := range frames {
			if f.Name == "content_block_start" && first {
				if err := w.Part(&content.Text{Text: "first"}); err != nil {
					return err
				}
			}
			if err := w.Frame(f); err != nil {
				return err
			}
		}
		return nil
	}
}

// TestUnknownDeltaOfMovedBlock checks that an unknown delta gets the index of its block on the
// wire if an earlier block is not sent.
func TestUnknownDeltaOfMovedBlock(t *testing.T) {
	stream, lost := drive(t, func(_ ctx, _ *upstream.Request, w *upstream.Writer) error {
		_ = w.Part(&content.Image{Source: &content.URL{URL: "https://a.example"}})
		for _, f := range pieces()[1:] {
			f.Data = strings.Replace(f.Data, `"index":0`, `"index":1`, 1)
			for i := range f.Events {
				f.Events[i].Block = 1
			}
			if err := w.Frame(f); err != nil {
				return err
			}
		}
		return nil
	})
	if _, err := formattest.ReadMessage(stream); err != nil || len(lost) != 1 || !strings.Contains(stream, `"index":0,"delta":{"type":"mood_delta"`) {
		t.Errorf("%v, lost %v\n%s", err, lost, stream)
	}
}

// TestUnknownEvents checks that unknown events and deltas reach the client unchanged, except
// for the index of the block. An unknown event never changes the message.
func TestUnknownEvents(t *testing.T) {
	unframed := pieces()
	for _, f := range unframed {
		f.Format = "" // as for a deviating frame
	}
	for _, tt := range []struct {
		name       string
		up         upstream.Func
		mood, news string
	}{
		{"untouched", sendPieces(pieces(), false), moodData, newsData},
		{"encoded", sendPieces(unframed, false), strings.ReplaceAll(moodData, " ", ""), strings.ReplaceAll(newsData, " ", "")},
		{"after another block", sendPieces(pieces(), true),
			strings.ReplaceAll(strings.Replace(moodData, `"index":0`, `"index":1`, 1), " ", ""), newsData},
	} {
		t.Run(tt.name, func(t *testing.T) {
			stream, lost := drive(t, tt.up)
			a, err := formattest.ReadMessage(stream)
			if err != nil || len(lost) > 0 {
				t.Fatalf("%v, lost %v\n%s", err, lost, stream)
			}
			for _, want := range []string{"event: content_block_delta\ndata: " + tt.mood + "\n\n", "event: news\ndata: " + tt.news + "\n\n"} {
				if !strings.Contains(stream, want) {
					t.Errorf("want %s in\n%s", want, stream)
				}
			}
			_, delta, _ := strings.Cut(stream, "event: message_delta")
			if strings.Contains(delta, "the") || strings.Contains(delta, "mood") || a.Object["of"] != nil {
				t.Errorf("the message contains it:\n%s", delta)
			}
		})
	}
}

// TestInvalidEvents checks that events that would break the stream are dropped and reported.
func TestInvalidEvents(t *testing.T) {
	for name, e := range map[string]upstream.Event{
		"line break":            {Kind: upstream.EventExtra, Text: "a\nb", Extra: mkExtra(`{"type":"a"}`)},
		"known":                 {Kind: upstream.EventExtra, Text: "message_stop", Extra: mkExtra(`{"type":"message_stop"}`)},
		"ping":                  {Kind: upstream.EventExtra, Text: "ping", Extra: mkExtra(`{"type":"ping"}`)},
		"not an object":         {Kind: upstream.EventExtra, Text: "news", Extra: mkExtra(`[1]`)},
		"invalid JSON":          {Kind: upstream.EventExtra, Text: "news", Extra: mkExtra("{\"a\":\n\n")},
		"nothing":               {Kind: upstream.EventExtra, Text: "news"},
		"another format":        {Kind: upstream.EventExtra, Text: "news", Extra: &content.Extra{Format: "other", JSON: "{}"}},
		"delta, invalid JSON":   {Kind: upstream.EventBlockExtra, Text: "content_block_delta", Extra: mkExtra("{\"a\":\n\n")},
		"delta, other":          {Kind: upstream.EventBlockExtra, Text: "content_block_delta", Extra: &content.Extra{Format: "other", JSON: "{}"}},
		"delta, members":        {Kind: upstream.EventBlockExtra, Extra: mkExtra(`{"a":1}`)},
		"delta, no delta":       {Kind: upstream.EventBlockExtra, Text: "message_delta", Extra: mkExtra(`{"a":1}`)},
		"delta without a block": {Kind: upstream.EventBlockExtra, Block: 8, Text: "content_block_delta", Extra: mkExtra(`{"a":1}`)},
	} {
		t.Run(name, func(t *testing.T) {
			stream, lost := drive(t, func(_ ctx, _ *upstream.Request, w *upstream.Writer) error {
				_ = w.Send([]upstream.Event{{Kind: upstream.EventOpen, Part: &content.Text{}}})
				return w.Send([]upstream.Event{e})
			})
			if _, err := formattest.ReadMessage(stream); err != nil {
				t.Fatalf("%v\n%s", err, stream)
			}
			plain, _ := drive(t, func(_ ctx, _ *upstream.Request, w *upstream.Writer) error {
				return w.Send([]upstream.Event{{Kind: upstream.EventOpen, Part: &content.Text{}}})
			})
			reported := len(lost) == 1 || e.Block == 8 // the loss of the Writer is not that of the encoder
			if !reported || stream != plain {
				t.Errorf("lost %v\n%s", lost, stream)
			}
		})
	}
}

// TestUsageMembers checks that members without a field in the inner objects of usage are kept in
// their places.
func TestUsageMembers(t *testing.T) {
	const usage = `{"input_tokens":1,"cache_creation_input_tokens":5,"cache_read_input_tokens":0,` +
		`"cache_creation":{"ephemeral_5m_input_tokens":2,"ephemeral_1h_input_tokens":3,"ephemeral_1d_input_tokens":4},` +
		`"output_tokens":7,"output_tokens_details":{"thinking_tokens":6,"drawing_tokens":1},` +
		`"service_tier":"standard","thinking_tokens":99}`
	body := `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":"end_turn",` +
		`"stop_sequence":null,"stop_details":null,"usage":` + usage + `}`
	f, err := DecodeFrame(body, content.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	send := upstream.Func(func(_ ctx, _ *upstream.Request, w *upstream.Writer) error { return w.Send(f.Events) })
	reply, err := upstream.Collect(t.Context(), send, &upstream.Request{})
	if err != nil {
		t.Fatal(err)
	}
	res, _ := convertResponse(reply, nil, placement{})
	doc, err := res.AppendJSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	want, _ := formattest.DecodeObject([]byte(usage))
	got, err := formattest.DecodeObject(doc)
	if diff := cmp.Diff(any(want), got["usage"]); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// TestCallIDs checks that tool calls without an id always get the same unique id, and that
// nonstandard ids are kept.
func TestCallIDs(t *testing.T) {
	turns := []content.Turn{
		{Role: content.RoleAssistant, Parts: []content.Part{&content.ToolUse{ID: "toolu_pw3"}, &content.ToolUse{ID: "toolu_pw99999999999999999999"}}},
		{Role: content.RoleUser, Parts: []content.Part{(*content.ToolResult)(nil), &content.ToolResult{ID: "toolu_pw4"}}},
	}
	up := upstream.Func(func(_ ctx, _ *upstream.Request, w *upstream.Writer) error {
		for i, id := range []string{"", "functions.get:0", "toolu_pw7", ""} {
			f := &upstream.Frame{Format: Format, Name: "content_block_start", Data: `{"verbatim":true}`,
				Events: []upstream.Event{{Kind: upstream.EventOpen, Block: i, Part: &content.ToolUse{ID: id, Name: "n"}}}}
			if id != "" {
				f.Format = ""
			}
			if err := w.Frame(f); err != nil {
				return err
			}
			_ = w.Send([]upstream.Event{{Kind: upstream.EventClose, Block: i}})
		}
		return nil
	})
	want := []string{"toolu_pw5", "functions.get:0", "toolu_pw7", "toolu_pw8"}
	s := newStream("req_1", "msg_1", "m", turns)
	var out []byte
	sink := upstream.SinkFunc(func(es []upstream.Event) error { out = s.Events(out, es); return nil })
	if err := upstream.Run(t.Context(), up, &upstream.Request{}, sink); err != nil {
		t.Fatal(err)
	}
	a, err := formattest.ReadMessage(string(s.End(out, nil)))
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var streamed, plain []string
	for _, b := range a.Object["content"].([]any) {
		streamed = append(streamed, fmt.Sprint(b.(map[string]any)["id"]))
	}
	reply, err := upstream.Collect(t.Context(), up, &upstream.Request{})
	if err != nil {
		t.Fatal(err)
	}
	res, _ := convertResponse(reply, turns, placement{})
	for _, p := range res.Content {
		plain = append(plain, p.(*content.ToolUse).ID)
	}
	if diff := cmp.Diff([][]string{want, want}, [][]string{streamed, plain}); diff != "" {
		t.Errorf("streamed and whole (-want +got):\n%s", diff)
	}
}

// wideExtra returns n members.
func wideExtra(n int, name string) *content.Extra {
	b := []byte("{")
	for i := range n {
		b = codec.AppendName(b, fmt.Sprintf("%s%d", name, i))
		b = append(b, '1')
	}
	return mkExtra(string(append(b, '}')))
}

// wideResponse has n unknown members at every place that accepts them.
func wideResponse(n int) upstream.Func {
	start, usage, stop, delta := wideExtra(n, "a"), wideExtra(n, "b"), wideExtra(n, "c"), wideExtra(n, "d")
	return func(_ ctx, _ *upstream.Request, w *upstream.Writer) error {
		return w.Send([]upstream.Event{
			{Kind: upstream.EventStart, Start: &upstream.Start{Extra: start}},
			{Kind: upstream.EventUsage, Usage: &content.Usage{Extra: usage}},
			{Kind: upstream.EventOpen, Part: &content.Text{Extra: start}},
			{Kind: upstream.EventText, Text: "a", Extra: delta},
			{Kind: upstream.EventStop, Stop: &upstream.Stop{Reason: content.StopEnd, Extra: stop}},
		})
	}
}

// TestManyMembers checks that very many unknown members are sent. It takes minutes if the
// members are compared with one another.
func TestManyMembers(t *testing.T) {
	const n = 50_000
	stream, _ := drive(t, wideResponse(n))
	for _, name := range []string{`"a1`, `"b1`, `"c1`, `"d1`} {
		if got := strings.Count(stream, name); got < n/10 {
			t.Errorf("%d members that begin with %s", got, name)
		}
	}
	reply, err := upstream.Collect(t.Context(), wideResponse(n), &upstream.Request{})
	if err != nil {
		t.Fatal(err)
	}
	res, _ := convertResponse(reply, nil, placement{})
	doc, err := res.AppendJSON(nil)
	if got := strings.Count(string(doc), "1,"); err != nil || got < 4*n-10 {
		t.Errorf("%d members in the response, %v", got, err)
	}
}

// TestManyExtras checks that the time for each of many single members, and their memory, is
// limited.
func TestManyExtras(t *testing.T) {
	const n = 100_000
	stream, lost := drive(t, func(_ ctx, _ *upstream.Request, w *upstream.Writer) error {
		for i := range n {
			e := upstream.Event{Kind: upstream.EventExtra, Extra: mkExtra(fmt.Sprintf(`{"member_%d":1}`, i))}
			if err := w.Send([]upstream.Event{e}); err != nil {
				return err
			}
		}
		return nil
	})
	got := strings.Count(stream, `"member_`)
	if got < 1000 || len(stream) > 3<<20 || len(lost) != 1 {
		t.Errorf("%d members, %d bytes, lost %v", got, len(stream), lost)
	}
}

// BenchmarkManyMembers reports V of the encoded document.
func BenchmarkManyMembers(b *testing.B) {
	for _, n := range []int{1000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			up := wideResponse(n)
			run := func() []byte {
				s := newStream("req_1", "msg_1", "m", nil)
				var out []byte
				sink := upstream.SinkFunc(func(es []upstream.Event) error { out = s.Events(out, es); return nil })
				if err := upstream.Run(b.Context(), up, &upstream.Request{}, sink); err != nil {
					b.Fatal(err)
				}
				return s.End(out, nil)
			}
			var doc strings.Builder
			doc.WriteByte('[')
			for line := range strings.SplitSeq(string(run()), "\n") {
				if data, ok := strings.CutPrefix(line, "data: "); ok {
					doc.WriteString(data + ",")
				}
			}
			floor.Run(b, strings.TrimSuffix(doc.String(), ",")+"]", func() { run() })
		})
	}
}
