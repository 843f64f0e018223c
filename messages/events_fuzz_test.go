package messages

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/handler"
	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/internal/test/lossplaces"
	"github.com/polywire/polywire/upstream"
)

// FuzzEvents makes responses of any valid order of events, and divides them into batches. The
// stream follows the grammar, and neither the division nor frames of the format that are
// forwarded change what the client receives. A whole response has the same content.
func FuzzEvents(f *testing.F) {
	r := rand.New(rand.NewPCG(3, 4))
	for how := range uint8(8) {
		f.Add(formattest.RandomBytes(r), formattest.RandomBytes(r), how)
	}
	f.Fuzz(func(t *testing.T, response, division []byte, how uint8) {
		if len(response) <= 400 {
			checkEvents(t, response, division, how)
		}
	})
}

// TestEvents is FuzzEvents with the same responses each time.
func TestEvents(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 3000 {
		if checkEvents(t, formattest.RandomBytes(r), formattest.RandomBytes(r), uint8(n)); t.Failed() {
			return
		}
	}
}

// checkEvents checks the response that bytes describe.
func checkEvents(t *testing.T, made, division []byte, how uint8) {
	t.Helper()
	events := formattest.Events(made)
	where := placement{hideThinking: how%3 == 1, returnsBlocks: how%3 == 2, omitText: how%6 >= 4}
	noThinking := where.hideThinking || where.omitText
	receive := func(name string, batches [][]upstream.Event) received {
		t.Helper()
		s := newStream("req_1", "msg_1", "m", nil)
		s.blocks.placement = where
		var out []byte
		for _, b := range batches {
			out = s.Events(out, b)
		}
		failed := s.End(slices.Clone(out), &handler.Failure{Code: upstream.CodeOverloaded})
		if a, err := formattest.ReadMessage(string(failed)); err != nil || a.Failure == nil {
			t.Fatalf("%s, failed: %v\n%s", name, err, failed)
		}
		out = s.End(out, nil)
		a, err := formattest.ReadMessage(string(out))
		if err != nil {
			t.Fatalf("%s: %v\n%s\n%s", name, err, out, formattest.DescribeEvents(batches))
		}
		got := receivedFrom(a.ValidBlocks(), s.Losses())
		if dup := firstTwice(got.ids); dup != "" {
			t.Fatalf("%s: two tool calls have the id %s\n%s", name, dup, formattest.DescribeEvents(batches))
		}
		return got
	}
	want := receive("at once", formattest.Divide(events, nil, nil))
	compare := func(name string, want, got received, batches [][]upstream.Event) {
		t.Helper()
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(received{}), cmp.FilterPath(func(p cmp.Path) bool {
			return p.String() == "ids" || p.String() == "thinking" && noThinking
		}, cmp.Ignore())); diff != "" {
			t.Fatalf("%s (-at once +divided):\n%s\n%s", name, diff, formattest.DescribeEvents(batches))
		}
	}
	var frame func([]upstream.Event) *upstream.Frame
	if !noThinking { // which is sent if the vendor is of this format
		frame = framesOf(events)
	}
	for name, batches := range formattest.Divisions(events, division, frame) {
		compare(name, want, receive(name, batches), batches)
	}

	var c upstream.Collector
	if err := c.Send(slices.Clone(events)); err != nil {
		t.Fatal(err)
	}
	res, lost := convertResponse(c.Response(), nil, where)
	doc, err := res.AppendJSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := formattest.DecodeObject(doc)
	if err != nil {
		t.Fatalf("%v\n%s", err, doc)
	}
	compare("whole", want, receivedFrom(m["content"].([]any), lost), [][]upstream.Event{events})
}

// A received response is what a client has of it, whatever its division was.
type received struct {
	texts, thinking []string // that are not empty, in order
	calls           []string // sorted: calls that may be broken begin later
	others          []string // sorted
	lost            []string // sorted paths of parts that were dropped or are broken
	ids             []string // of tool calls
}

func receivedFrom(blocks []any, lost []content.Loss) (r received) {
	for _, b := range blocks {
		b := b.(map[string]any)
		switch kind := fmt.Sprint(b["type"]); kind {
		case "text":
			if b["text"] != "" {
				r.texts = append(r.texts, b["text"].(string))
			}
		case "thinking":
			if b["thinking"] != "" {
				r.thinking = append(r.thinking, b["thinking"].(string))
			}
		case "redacted_thinking": // may carry a signature
		case "tool_use":
			r.ids = append(r.ids, b["id"].(string))
			r.calls = append(r.calls, fmt.Sprint(b["name"], b["input"]))
		default:
			r.others = append(r.others, fmt.Sprint(kind, b["input"], b["content"]))
		}
	}
	for _, l := range lossplaces.Of(lost) {
		members := l.Reason == foreign.LogprobsLoss.Reason || l.Reason == foreign.SourcesLoss.Reason || l.Reason == foreign.ResumeLoss.Reason
		if l.Severity == content.LossDropped && strings.HasPrefix(l.Path, "parts.") && !members {
			r.lost = append(r.lost, l.Path)
		}
	}
	slices.Sort(r.lost)
	r.lost = slices.Compact(r.lost)
	slices.Sort(r.calls)
	slices.Sort(r.others)
	return r
}

// firstTwice returns a string that is in list twice, or "".
func firstTwice(list []string) string {
	for i, s := range list {
		if slices.Contains(list[:i], s) {
			return s
		}
	}
	return ""
}

// framesOf returns a function that returns the frame of this format for an event, or nil if the
// vendor sends none: a call begins with an empty piece of arguments, thinking ends with one
// signature, and texts have whole characters.
func framesOf(events []upstream.Event) func([]upstream.Event) *upstream.Frame {
	parts := map[int]content.Part{}
	last := map[int]*content.Signature{} // the last event of thinking, if it is a signature
	for i := range events {
		switch e := &events[i]; e.Kind {
		case upstream.EventOpen:
			parts[e.Block] = e.Part
		case upstream.EventText, upstream.EventSignature:
			last[e.Block] = e.Signature
		}
	}
	return func(batch []upstream.Event) *upstream.Frame {
		e := &batch[0]
		if len(batch) > 1 || e.Extra != nil || e.Candidate != 0 || !utf8.ValidString(e.Text) {
			return nil
		}
		_, thinking := parts[e.Block].(*content.Thinking)
		delta := func(kind, member, text string) *upstream.Frame {
			b, _ := json.Marshal(text)
			return &upstream.Frame{Format: Format, Name: "content_block_delta", Data: fmt.Sprintf(
				`{"type":"content_block_delta","index":%d,"delta":{"type":%q,%q:%s}}`, e.Block, kind, member, b)}
		}
		switch e.Kind {
		case upstream.EventStart:
			return &upstream.Frame{Format: Format, Name: "message_start",
				Data: `{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","content":[],"stop_reason":null,"usage":{"output_tokens":1}}}`}
		case upstream.EventOpen:
			block := ""
			switch {
			case cmp.Equal(e.Part, content.Part(new(content.Text))):
				block = `{"type":"text","text":""}`
			case cmp.Equal(e.Part, content.Part(new(content.Thinking))):
				block = `{"type":"thinking","thinking":"","signature":""}`
			default:
				return nil
			}
			return &upstream.Frame{Format: Format, Name: "content_block_start",
				Data: fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":%s}`, e.Block, block)}
		case upstream.EventText:
			if thinking {
				return delta("thinking_delta", "thinking", e.Text)
			}
			return delta("text_delta", "text", e.Text)
		case upstream.EventInput:
			return delta("input_json_delta", "partial_json", e.Text)
		case upstream.EventSignature:
			if thinking && e.Signature.Format == Format && last[e.Block] == e.Signature {
				return delta("signature_delta", "signature", e.Signature.Data)
			}
		case upstream.EventClose:
			if !thinking {
				return &upstream.Frame{Format: Format, Name: "content_block_stop",
					Data: fmt.Sprintf(`{"type":"content_block_stop","index":%d}`, e.Block)}
			}
		}
		return nil
	}
}
