package messages

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/upstream"
)

// TestRelayedCallJudged checks that a call is told and judged whole though the
// vendor's own frames go out around it: what they said of its beginning did not,
// here since it has no id. The reason why the answer ends is ours then.
func TestRelayedCallJudged(t *testing.T) {
	frame := func(name, data string, e upstream.Event) *upstream.Frame {
		return &upstream.Frame{Format: Format, Name: name, Data: data, Events: []upstream.Event{e}}
	}
	start := func(block int, p content.Part) *upstream.Frame {
		return frame("content_block_start", fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":{"type":"any"}}`, block), opens(block, p))
	}
	piece := func(s string) *upstream.Frame {
		return frame("content_block_delta", fmt.Sprintf(`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":%q}}`, s), argues(0, s))
	}
	over := func(block int) *upstream.Frame {
		return frame("content_block_stop", fmt.Sprintf(`{"type":"content_block_stop","index":%d}`, block), closes(block))
	}
	end := frame("message_delta", `{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":5}}`,
		upstream.Event{Kind: upstream.EventStop, Stop: &upstream.Stop{Reason: content.StopToolUse, Format: Format, RawReason: "tool_use"}})
	unnamed := start(0, &content.ToolUse{Name: "f"})
	broken := []string{"degraded stop", "dropped parts.0"}
	for name, tt := range map[string]struct {
		frames     []*upstream.Frame
		args, stop string
		lost       []string
	}{
		"whole":        {[]*upstream.Frame{unnamed, piece(`{"a":`), piece(`1}`), over(0), end}, `{"a":1}`, "tool_use", nil},
		"left out":     {[]*upstream.Frame{unnamed, piece(`[`), piece(`1]`), over(0), end}, "", "malformed_tool_use", broken},
		"broken, sent": {[]*upstream.Frame{unnamed, piece(`{"a":`), piece(`x}`), over(0), end}, `{"a":x}`, "malformed_tool_use", broken},
		"with its start": {[]*upstream.Frame{start(0, &content.ToolUse{Name: "f", Input: `{"a":1}`}), start(1, &content.Text{}), over(0), over(1), end},
			`{"a":1}`, "tool_use", nil},
	} {
		t.Run(name, func(t *testing.T) {
			stream, lost := drive(t, func(_ ctx, _ *upstream.Request, w *upstream.Writer) error {
				for _, f := range tt.frames {
					if err := w.Frame(f); err != nil {
						return err
					}
				}
				return nil
			})
			args, stop := argumentsIn(t, stream)
			if args != tt.args || stop != tt.stop {
				t.Errorf("arguments %s, stop %s, want %s, %s in\n%s", args, stop, tt.args, tt.stop, stream)
			}
			if diff := cmp.Diff(tt.lost, lossNames(lost)); diff != "" {
				t.Errorf("losses (-want +got):\n%s", diff)
			}
		})
	}
}

// TestEmptyPieceReplacesNothing checks that a piece of nothing does not stand for
// the arguments that a call opened with.
func TestEmptyPieceReplacesNothing(t *testing.T) {
	open := opens(0, &content.ToolUse{ID: "a", Name: "f", Input: `{"a":1}`})
	for name, batches := range map[string][][]upstream.Event{
		"at once":        {{open, argues(0, ""), closes(0)}},
		"one by one":     {{open}, {argues(0, "")}, {closes(0)}},
		"while it waits": {{open}, {opens(1, &content.Text{})}, {argues(0, "")}, {closes(0)}},
	} {
		stream, _ := encode(batches)
		if args, _ := argumentsIn(t, stream); args != `{"a":1}` {
			t.Errorf("%s: arguments %q", name, args)
		}
	}
}

// argumentsIn returns the pieces of arguments of a stream, joined, and the last
// reason why it ends.
func argumentsIn(t *testing.T, stream string) (args, stop string) {
	t.Helper()
	events, err := readStream(stream)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		d, _ := e.data["delta"].(map[string]any)
		piece, _ := d["partial_json"].(string)
		args += piece
		if word, ok := d["stop_reason"].(string); ok {
			stop = word
		}
	}
	return args, stop
}

// TestManyBlocksAtOnce has a whole answer of so many blocks that looking through
// all events for each would take minutes. A signature behind its block is still
// found, and stands in front of it.
func TestManyBlocksAtOnce(t *testing.T) {
	const n = 100_000
	var batch []upstream.Event
	for i := range n {
		batch = append(batch, opens(i, &content.Text{Text: "a"}), closes(i))
	}
	batch = append(batch, opens(n, callNamed("f")), argues(n, "{}"), closes(n),
		upstream.Event{Kind: upstream.EventSignature, Block: n, Signature: new(theirSign("MQ=="))})
	stream, lost := encode([][]upstream.Event{batch})
	events, err := readStream(stream)
	if err != nil || len(lost) > 0 {
		t.Fatal(err, lost)
	}
	var kinds []any
	var id string
	for _, e := range events {
		if b, ok := e.data["content_block"].(map[string]any); ok {
			kinds = append(kinds, b["type"])
			id, _ = b["id"].(string)
		}
	}
	if len(kinds) != n+1 || kinds[n] != "tool_use" || !envelope.IsEncodedID(id) {
		t.Errorf("%d blocks, the last of them %v", len(kinds), kinds[max(0, len(kinds)-2):])
	}
}
