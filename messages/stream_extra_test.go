package messages

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/floor"
	"github.com/polywire/polywire/upstream"
)

// pieces are a vendor's events of which this format has no name for two: one
// between blocks and one about a block.
func pieces() []*upstream.Frame {
	list := vendorFrames()[:1]
	for _, f := range []*upstream.Frame{
		{Name: "content_block_start", Data: `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"","citations":null}}`,
			Events: []upstream.Event{{Kind: upstream.EventOpen, Part: &content.Text{}}}},
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

// sendPieces sends them through middleware that opens a block before the first
// one, if it is told to.
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

// TestUnknownPieceOfMovedBlock checks that a delta that nobody knows gets its
// block's number where this format has no block for the one before.
func TestUnknownPieceOfMovedBlock(t *testing.T) {
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
	if _, err := accumulate(stream); err != nil || len(lost) != 1 || !strings.Contains(stream, `"index":0,"delta":{"type":"mood_delta"`) {
		t.Errorf("%v, lost %v\n%s", err, lost, stream)
	}
}

// TestUnknownPieces checks that events and deltas that nobody knows reach the
// client as they came, or with their block's new number, and never the message.
func TestUnknownPieces(t *testing.T) {
	unframed := pieces()
	for _, f := range unframed {
		f.Format = "" // as if it deviated
	}
	for _, tt := range []struct {
		name       string
		up         upstream.Func
		mood, news string
	}{
		{"untouched", sendPieces(pieces(), false), moodData, newsData},
		{"encoded", sendPieces(unframed, false), strings.ReplaceAll(moodData, " ", ""), strings.ReplaceAll(newsData, " ", "")},
		{"behind another block", sendPieces(pieces(), true),
			strings.ReplaceAll(strings.Replace(moodData, `"index":0`, `"index":1`, 1), " ", ""), newsData},
	} {
		t.Run(tt.name, func(t *testing.T) {
			stream, lost := drive(t, tt.up)
			a, err := accumulate(stream)
			if err != nil || len(lost) > 0 {
				t.Fatalf("%v, lost %v\n%s", err, lost, stream)
			}
			for _, want := range []string{"event: content_block_delta\ndata: " + tt.mood + "\n\n", "event: news\ndata: " + tt.news + "\n\n"} {
				if !strings.Contains(stream, want) {
					t.Errorf("want %s in\n%s", want, stream)
				}
			}
			_, delta, _ := strings.Cut(stream, "event: message_delta")
			if strings.Contains(delta, "the") || strings.Contains(delta, "mood") || a.message["of"] != nil {
				t.Errorf("the message tells it:\n%s", delta)
			}
		})
	}
}

// TestUnsayablePieces checks that what would break the stream is dropped and
// reported.
func TestUnsayablePieces(t *testing.T) {
	for name, e := range map[string]upstream.Event{
		"line break":       {Kind: upstream.EventExtra, Text: "a\nb", Extra: mkExtra(`{"type":"a"}`)},
		"known":            {Kind: upstream.EventExtra, Text: "message_stop", Extra: mkExtra(`{"type":"message_stop"}`)},
		"ping":             {Kind: upstream.EventExtra, Text: "ping", Extra: mkExtra(`{"type":"ping"}`)},
		"no object":        {Kind: upstream.EventExtra, Text: "news", Extra: mkExtra(`[1]`)},
		"no JSON":          {Kind: upstream.EventExtra, Text: "news", Extra: mkExtra("{\"a\":\n\n")},
		"nothing":          {Kind: upstream.EventExtra, Text: "news"},
		"another format":   {Kind: upstream.EventExtra, Text: "news", Extra: &content.Extra{Format: "other", JSON: "{}"}},
		"delta, no JSON":   {Kind: upstream.EventBlockExtra, Text: "content_block_delta", Extra: mkExtra("{\"a\":\n\n")},
		"delta, other":     {Kind: upstream.EventBlockExtra, Text: "content_block_delta", Extra: &content.Extra{Format: "other", JSON: "{}"}},
		"delta, members":   {Kind: upstream.EventBlockExtra, Extra: mkExtra(`{"a":1}`)},
		"delta, no delta":  {Kind: upstream.EventBlockExtra, Text: "message_delta", Extra: mkExtra(`{"a":1}`)},
		"delta of nothing": {Kind: upstream.EventBlockExtra, Block: 8, Text: "content_block_delta", Extra: mkExtra(`{"a":1}`)},
	} {
		t.Run(name, func(t *testing.T) {
			stream, lost := drive(t, func(_ ctx, _ *upstream.Request, w *upstream.Writer) error {
				_ = w.Send([]upstream.Event{{Kind: upstream.EventOpen, Part: &content.Text{}}})
				return w.Send([]upstream.Event{e})
			})
			if _, err := accumulate(stream); err != nil {
				t.Fatalf("%v\n%s", err, stream)
			}
			plain, _ := drive(t, func(_ ctx, _ *upstream.Request, w *upstream.Writer) error {
				return w.Send([]upstream.Event{{Kind: upstream.EventOpen, Part: &content.Text{}}})
			})
			told := len(lost) == 1 || e.Block == 8 // the Writer's own loss is not the encoder's
			if !told || stream != plain {
				t.Errorf("lost %v\n%s", lost, stream)
			}
		})
	}
}

// TestUsageMembers checks that members inside the inner objects of usage, which
// have no field, get out again in their place.
func TestUsageMembers(t *testing.T) {
	const usage = `{"input_tokens":1,"cache_creation_input_tokens":5,"cache_read_input_tokens":0,` +
		`"cache_creation":{"ephemeral_5m_input_tokens":2,"ephemeral_1h_input_tokens":3,"ephemeral_1d_input_tokens":4},` +
		`"output_tokens":7,"output_tokens_details":{"thinking_tokens":6,"drawing_tokens":1},` +
		`"server_tool_use":null,"service_tier":"standard","inference_geo":null,"speed":null,"thinking_tokens":99}`
	body := `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":"end_turn",` +
		`"stop_sequence":null,"stop_details":null,"usage":` + usage + `}`
	f, err := DecodeResponse(body, content.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	send := upstream.Func(func(_ ctx, _ *upstream.Request, w *upstream.Writer) error { return w.Send(f.Events) })
	reply, err := upstream.Collect(t.Context(), send, &upstream.Request{})
	if err != nil {
		t.Fatal(err)
	}
	res, _ := ResponseFromUpstream(reply)
	doc, err := res.AppendJSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	want, _ := decode([]byte(usage))
	got, err := decode(doc)
	if diff := cmp.Diff(any(want), got["usage"]); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// TestCallIDs checks that calls without an id get one that no other call of
// the conversation has, always the same, and that odd ids are left alone.
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
	a, err := accumulate(string(s.End(out, nil)))
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var streamed, plain []string
	for _, b := range a.message["content"].([]any) {
		streamed = append(streamed, fmt.Sprint(b.(map[string]any)["id"]))
	}
	reply, err := upstream.Collect(t.Context(), up, &upstream.Request{})
	if err != nil {
		t.Fatal(err)
	}
	res, _ := responseOf(reply, turns, placement{})
	for _, p := range res.Content {
		plain = append(plain, p.(*content.ToolUse).ID)
	}
	if diff := cmp.Diff([][]string{want, want}, [][]string{streamed, plain}); diff != "" {
		t.Errorf("streamed and plain (-want +got):\n%s", diff)
	}
}

// wideExtra has n members.
func wideExtra(n int, name string) *content.Extra {
	b := []byte("{")
	for i := range n {
		b = codec.AppendName(b, fmt.Sprintf("%s%d", name, i))
		b = append(b, '1')
	}
	return mkExtra(string(append(b, '}')))
}

// wideAnswer has n members that nobody knows wherever there is room for them.
func wideAnswer(n int) upstream.Func {
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

// TestManyMembers checks that very many unknown members get through. It takes
// minutes if they are compared with one another.
func TestManyMembers(t *testing.T) {
	const n = 50_000
	stream, _ := drive(t, wideAnswer(n))
	for _, name := range []string{`"a1`, `"b1`, `"c1`, `"d1`} {
		if got := strings.Count(stream, name); got < n/10 {
			t.Errorf("%d members that begin with %s", got, name)
		}
	}
	reply, err := upstream.Collect(t.Context(), wideAnswer(n), &upstream.Request{})
	if err != nil {
		t.Fatal(err)
	}
	res, _ := ResponseFromUpstream(reply)
	doc, err := res.AppendJSON(nil)
	if got := strings.Count(string(doc), "1,"); err != nil || got < 4*n-10 {
		t.Errorf("%d members in the reply, %v", got, err)
	}
}

// TestManyExtras checks that members that come one by one neither cost more
// the more there are, nor fill the memory.
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

// BenchmarkManyMembers reports V of the document that comes out.
func BenchmarkManyMembers(b *testing.B) {
	for _, n := range []int{1000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			up := wideAnswer(n)
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
