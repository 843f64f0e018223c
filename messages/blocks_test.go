package messages

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/response"
	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/upstream"
)

func openEvent(block int, p content.Part) upstream.Event {
	return upstream.Event{Kind: upstream.EventOpen, Block: block, Part: p}
}

func namedCall(name string) *content.ToolUse { return &content.ToolUse{ID: name, Name: name} }

func inputEvent(block int, piece string) upstream.Event {
	return upstream.Event{Kind: upstream.EventInput, Block: block, Text: piece}
}

func closeEvent(block int) upstream.Event {
	return upstream.Event{Kind: upstream.EventClose, Block: block}
}

func stopEvent(why content.StopReason) upstream.Event {
	return upstream.Event{Kind: upstream.EventStop, Stop: &upstream.Stop{Reason: why}}
}

// TestCallStart checks which events begin the block of a tool call, and which write its
// arguments.
func TestCallStart(t *testing.T) {
	const begins, ends = "begins", "ends"
	for name, tt := range map[string]struct {
		batches [][]upstream.Event
		want    []string // for each batch and for the end: block start, deltas, block stop
	}{
		"with the first brace": {[][]upstream.Event{{openEvent(0, namedCall("f"))}, {inputEvent(0, " ")}, {inputEvent(0, "\n{\"a\"")}, {inputEvent(0, ":1}")}, {closeEvent(0)}},
			[]string{"", "", begins + "|| \n{\"a\"", ":1}", ends, ""}},
		"at its end": {[][]upstream.Event{{openEvent(0, namedCall("f"))}, {inputEvent(0, "nu")}, {inputEvent(0, "ll")}, {closeEvent(0)}}, []string{"", "", "", begins + "||" + ends, ""}},
		"null":       {[][]upstream.Event{{openEvent(0, namedCall("f"))}, {inputEvent(0, "nu"), inputEvent(0, "ll")}, {closeEvent(0)}}, []string{"", "", begins + "||" + ends, ""}},
		"at once": {[][]upstream.Event{{openEvent(0, &content.ToolUse{Name: "f", Input: `{"a":1}`}), closeEvent(0)}},
			[]string{begins + "||{\"a\":1}|" + ends, ""}},
		"at once, in pieces": {[][]upstream.Event{{openEvent(0, &content.ToolUse{Name: "f", Input: `[1]`}), inputEvent(0, "{"), inputEvent(0, "}"), closeEvent(0)}},
			[]string{begins + "||{|}|" + ends, ""}},
		"at once, pieces of white space": {[][]upstream.Event{{openEvent(0, namedCall("f")), inputEvent(0, " "), inputEvent(0, "{}"), closeEvent(0)}}, []string{begins + "|| |{}|" + ends, ""}},
		"at once, broken":                {[][]upstream.Event{{openEvent(0, namedCall("f")), inputEvent(0, "{"), inputEvent(0, "x}"), closeEvent(0)}}, []string{"", ""}},
		"broken after the start":         {[][]upstream.Event{{openEvent(0, namedCall("f"))}, {inputEvent(0, "{")}, {inputEvent(0, "x}"), closeEvent(0)}}, []string{"", begins + "||{", "x}|" + ends, ""}},
		"arguments at once, broken":      {[][]upstream.Event{{openEvent(0, namedCall("f"))}, {inputEvent(0, " ")}, {inputEvent(0, "{"), inputEvent(0, "x}"), closeEvent(0)}}, []string{"", "", "", ""}},
		"arguments at once":              {[][]upstream.Event{{openEvent(0, namedCall("f"))}, {inputEvent(0, " ")}, {inputEvent(0, "{"), inputEvent(0, "}"), closeEvent(0)}}, []string{"", "", begins + "|| {|}|" + ends, ""}},
		"never":                          {[][]upstream.Event{{openEvent(0, namedCall("f"))}, {inputEvent(0, "[")}, {inputEvent(0, "{}]")}, {closeEvent(0)}}, []string{"", "", "", "", ""}},
		"before another block": {[][]upstream.Event{{openEvent(0, namedCall("f"))}, {openEvent(1, &content.Thinking{})}, {inputEvent(0, "{}")}, {closeEvent(0)}},
			[]string{"", begins + "||" + begins, "{}", ends, ""}},
		"before another block, and broken": {[][]upstream.Event{{openEvent(0, namedCall("f"))}, {openEvent(1, &content.Thinking{})}, {inputEvent(0, "[1]")}, {closeEvent(0)}},
			[]string{"", begins + "||" + begins, "", "[1]|" + ends, ""}},
		"before another call": {[][]upstream.Event{{openEvent(0, namedCall("f"))}, {openEvent(1, namedCall("g"))}, {inputEvent(1, "{}")}, {closeEvent(1)}, {closeEvent(0)}},
			[]string{"", "", begins + "||" + begins + "||{}", ends, ends, ""}},
		"before another call, and broken": {[][]upstream.Event{{openEvent(0, namedCall("f"))}, {inputEvent(0, "17")}, {openEvent(1, namedCall("g")), inputEvent(1, "{}"), closeEvent(1)}, {closeEvent(0)}},
			[]string{"", "", "", begins + "||{}|" + ends, ""}},
		"with the end of the response": {[][]upstream.Event{{openEvent(0, namedCall("f")), closeEvent(0)}, {stopEvent(content.StopToolUse)}}, []string{"", "", begins + "||" + ends}},
		"with the next block": {[][]upstream.Event{{openEvent(0, namedCall("f"))}, {inputEvent(0, " ")}, {closeEvent(0)}, {openEvent(1, namedCall("g"))}, {stopEvent(content.StopMaxTokens)}},
			[]string{"", "", "", begins + "||" + ends, "", ""}},
		"not if the response is cut": {[][]upstream.Event{{openEvent(0, namedCall("f"))}, {inputEvent(0, " ")}, {closeEvent(0)}, {stopEvent(content.StopMaxTokens)}}, []string{"", "", "", "", ""}},
		"with another part cut": {[][]upstream.Event{{openEvent(0, namedCall("f"))}, {openEvent(1, &content.Thinking{})}, {closeEvent(0)}, {stopEvent(content.StopMaxTokens)}},
			[]string{"", begins + "||" + begins, ends, "", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStream("req_1", "msg_1", "m", nil)
			var got []string
			for i := range len(tt.batches) + 1 {
				var out []byte
				if i < len(tt.batches) {
					out = s.Events(out, tt.batches[i])
				} else {
					out = s.End(out, nil)
				}
				events, err := formattest.ReadMessageEvents(string(out))
				if err != nil {
					t.Fatal(err)
				}
				var steps []string
				for _, e := range events {
					switch e["type"] {
					case "content_block_start":
						steps = append(steps, begins)
					case "content_block_delta":
						steps = append(steps, fmt.Sprint(e["delta"].(map[string]any)["partial_json"]))
					case "content_block_stop":
						steps = append(steps, ends)
					}
				}
				got = append(got, strings.Join(steps, "|"))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestSignedCallWaits checks that a signature before the block of a call is in the id of the
// call, and is dropped with the call.
func TestSignedCallWaits(t *testing.T) {
	sign := upstream.Event{Kind: upstream.EventSignature, Block: 0, Signature: new(vendorSignature("MQ=="))}
	id, _ := envelope.EncodeID("f", envelope.Envelope{Format: theirs, Kind: envelope.KindPart, Data: "MQ=="})
	for args, want := range map[string][]any{
		"{}": {
			map[string]any{"type": "tool_use", "id": id, "name": "f", "input": map[string]any{}, "caller": map[string]any{"type": "direct"}},
		},
		"17": {},
	} {
		stream, lost := encode([][]upstream.Event{{openEvent(0, namedCall("f"))}, {sign}, {inputEvent(0, args)}, {closeEvent(0)}, {sign}})
		a, err := formattest.ReadMessage(stream)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, a.Object["content"]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", args, diff)
		}
		if args == "{}" {
			continue
		}
		if diff := cmp.Diff([]string{"degraded stop", "dropped parts.0"}, lossNames(lost)); diff != "" {
			t.Errorf("losses (-want +got):\n%s", diff)
		}
	}
}

// TestBrokenServerInput checks that broken arguments of a built-in tool are dropped without the
// call, which a result may follow, and that the stop reason stays the same: clients do not
// run built-in tools.
func TestBrokenServerInput(t *testing.T) {
	up := upstream.Func(func(_ ctx, _ *upstream.Request, w *upstream.Writer) error {
		_ = w.Part(&content.ServerToolUse{Format: Format, Kind: "server_tool_use", ID: "s", Name: "web_search", Input: "[1]"})
		return w.Stop(upstream.Stop{Reason: content.StopEnd})
	})
	stream, lost := drive(t, up)
	a, err := formattest.ReadMessage(stream)
	if err != nil {
		t.Fatal(err)
	}
	reply, err := upstream.Collect(t.Context(), up, &upstream.Request{})
	if err != nil {
		t.Fatal(err)
	}
	res, whole := convertResponse(reply, nil, placement{})
	want := []content.Loss{response.LossServerArguments.At("parts.0")}
	if diff := cmp.Diff([][]content.Loss{want, want}, [][]content.Loss{lost, whole}); diff != "" {
		t.Errorf("losses, streamed and whole (-want +got):\n%s", diff)
	}
	block := a.Object["content"].([]any)[0].(map[string]any)
	if len(block["input"].(map[string]any)) > 0 || a.Object["stop_reason"] != "end_turn" {
		t.Errorf("streamed: %v", a.Object)
	}
	if q := res.Content[0].(*content.ServerToolUse); q.Input != "" || res.StopReason != "end_turn" {
		t.Errorf("whole: %+v, %s", q, res.StopReason)
	}
}

// TestForwardedCallValidated checks that a tool call without an id is encoded and validated while
// the other frames are forwarded, and that the stop reason reports broken arguments.
func TestForwardedCallValidated(t *testing.T) {
	frame := func(name, data string, e upstream.Event) *upstream.Frame {
		return &upstream.Frame{Format: Format, Name: name, Data: data, Events: []upstream.Event{e}}
	}
	start := func(block int, p content.Part) *upstream.Frame {
		return frame("content_block_start", fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":{"type":"any"}}`, block), openEvent(block, p))
	}
	piece := func(s string) *upstream.Frame {
		return frame("content_block_delta", fmt.Sprintf(`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":%q}}`, s), inputEvent(0, s))
	}
	over := func(block int) *upstream.Frame {
		return frame("content_block_stop", fmt.Sprintf(`{"type":"content_block_stop","index":%d}`, block), closeEvent(block))
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
		"dropped":      {[]*upstream.Frame{unnamed, piece(`[`), piece(`1]`), over(0), end}, "", "max_tokens", broken},
		"broken, sent": {[]*upstream.Frame{unnamed, piece(`{"a":`), piece(`x}`), over(0), end}, `{"a":x}`, "max_tokens", broken},
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

// TestEmptyDeltaOfInput checks that an empty delta does not replace the arguments that
// a call opened with.
func TestEmptyDeltaOfInput(t *testing.T) {
	open := openEvent(0, &content.ToolUse{ID: "a", Name: "f", Input: `{"a":1}`})
	for name, batches := range map[string][][]upstream.Event{
		"at once":       {{open, inputEvent(0, ""), closeEvent(0)}},
		"one by one":    {{open}, {inputEvent(0, "")}, {closeEvent(0)}},
		"while waiting": {{open}, {openEvent(1, &content.Thinking{})}, {inputEvent(0, "")}, {closeEvent(0)}},
	} {
		stream, _ := encode(batches)
		if args, _ := argumentsIn(t, stream); args != `{"a":1}` {
			t.Errorf("%s: arguments %q", name, args)
		}
	}
}

// TestSignatureFrameAfterThinking checks that a frame with a signature is not forwarded if its
// thinking has closed and ends when it is signed. Clients reject deltas after the end of a block.
func TestSignatureFrameAfterThinking(t *testing.T) {
	sig := content.Signature{Format: Format, Data: "c2ln"}
	signed := []upstream.Event{{Kind: upstream.EventSignature, Signature: &sig}}
	signed[0].Frame = &upstream.Frame{Format: Format, Name: "content_block_delta", Events: signed,
		Data: `{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2ln"}}`}
	stream, lost := encode([][]upstream.Event{
		{{Kind: upstream.EventStart, Start: new(upstream.Start)}},
		{openEvent(0, &content.Thinking{Text: "hm"})},
		{closeEvent(0)},
		signed,
	})
	a, err := formattest.ReadMessage(stream)
	if err != nil || len(lost) > 0 {
		t.Fatalf("%v, losses %v\n%s", err, lost, stream)
	}
	want := []any{map[string]any{"type": "thinking", "thinking": "hm", "signature": "c2ln"}}
	if diff := cmp.Diff(want, a.Object["content"]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestUnsignedThinkingOfWholeResponse checks that a whole response does not keep all thinking
// open: each block would search all others.
func TestUnsignedThinkingOfWholeResponse(t *testing.T) {
	var w wholeResponse
	s := &w.blocks
	s.init(&w, nil, nil)
	s.placement = placement{returnsBlocks: true}
	parts := []content.Part{
		&content.Thinking{Text: "carries the signature"}, &content.Thinking{},
		&content.ToolUse{ID: "a", Name: "f", Signature: vendorSignature("MQ==")},
		&content.Thinking{}, &content.Text{Text: "t"}, &content.Thinking{Text: "unsigned"},
	}
	for range 100 {
		s.Parts(0, parts)
		if n := len(s.Blocks()); n > 2 {
			t.Fatalf("%d blocks are open", n)
		}
	}
	s.finish()
	for i, p := range w.list {
		th, ok := p.(*content.Thinking)
		if ok && (th.Signature.Data == envelope.Unsigned) != (th.Text != "carries the signature") {
			t.Fatalf("block %d is %+v", i, th)
		}
	}
	if lost := s.Losses(); len(lost) > 100 { // the ids that are equal
		t.Errorf("losses %v", lost)
	}
}

// argumentsIn returns the joined deltas of arguments in a stream, and the last stop reason.
func argumentsIn(t *testing.T, stream string) (args, stop string) {
	t.Helper()
	events, err := formattest.ReadMessageEvents(stream)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		d, _ := e["delta"].(map[string]any)
		piece, _ := d["partial_json"].(string)
		args += piece
		if word, ok := d["stop_reason"].(string); ok {
			stop = word
		}
	}
	return args, stop
}

// TestManyBlocksAtOnce encodes a response of very many blocks, which would take minutes if each
// block searched all events. A signature after its block is carried before the block.
func TestManyBlocksAtOnce(t *testing.T) {
	const n = 100_000
	var batch []upstream.Event
	for i := range n {
		batch = append(batch, openEvent(i, &content.Text{Text: "a"}), closeEvent(i))
	}
	batch = append(batch, openEvent(n, namedCall("f")), inputEvent(n, "{}"), closeEvent(n),
		upstream.Event{Kind: upstream.EventSignature, Block: n, Signature: new(vendorSignature("MQ=="))})
	stream, lost := encode([][]upstream.Event{batch})
	events, err := formattest.ReadMessageEvents(stream)
	if err != nil || len(lost) > 0 {
		t.Fatal(err, lost)
	}
	var kinds []any
	var id string
	for _, e := range events {
		if b, ok := e["content_block"].(map[string]any); ok {
			kinds = append(kinds, b["type"])
			id, _ = b["id"].(string)
		}
	}
	if len(kinds) != n+1 || kinds[n] != "tool_use" || !envelope.IsReservedID(id) {
		t.Errorf("%d blocks, the last of them %v", len(kinds), kinds[max(0, len(kinds)-2):])
	}
}
