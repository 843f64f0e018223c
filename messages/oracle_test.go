package messages

import (
	"math/rand/v2"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/handler"
	"github.com/polywire/polywire/internal/oracle"
	was "github.com/polywire/polywire/internal/oracle/messages"
	"github.com/polywire/polywire/upstream"
)

var oracleTurns = []content.Turn{{Role: content.RoleAssistant, Parts: []content.Part{&content.ToolUse{ID: "toolu_pw4", Name: "f"}}}}

func compareOracle(t *testing.T, b []byte) {
	batches := oracle.Batches(b)
	if hasOtherFrames(batches) {
		return
	}
	for _, w := range []placement{{}, {true, false}, {false, true}} {
		for _, end := range []*handler.Failure{nil, {Code: upstream.CodeOverloaded}} {
			s := newStream("req", "msg_1", "model", oracleTurns)
			s.placement = w
			if d := oracle.Streams(was.NewOracle(oracleTurns, w.hideThinking, w.returnsBlocks), s, batches, end, 3); d != "" {
				t.Fatalf("%+v: %s\n%q", w, d, b)
			}
		}
		var a, c upstream.Collector
		for _, events := range batches {
			_ = a.Send(events)
			_ = c.Send(events)
		}
		r1, l1 := was.Whole(a.Response(), oracleTurns, w.hideThinking, w.returnsBlocks)
		res, l2 := convertResponse(c.Response(), oracleTurns, w)
		r2, err := res.AppendJSON(nil)
		if err != nil {
			t.Fatal(err)
		}
		if r1 != string(r2) {
			t.Fatalf("%+v: whole:\nwas %s\nis  %s\n%s%q", w, r1, r2, oracle.Describe(batches), b)
		}
		if d := oracle.Losses(l1, l2); d != "" {
			t.Fatalf("%+v: whole %s%s\n%q", w, d, oracle.Describe(batches), b)
		}
	}
}

// hasOtherFrames reports whether a response has frames of this format that the encoder no
// longer forwards, or after which it writes something else: signatures and arguments.
func hasOtherFrames(batches [][]upstream.Event) bool {
	for _, events := range batches {
		f := upstream.FrameOf(events)
		for _, e := range events {
			if f != nil && f.Format == Format && (e.Kind == upstream.EventInput || e.Kind == upstream.EventSignature) {
				return true
			}
		}
	}
	return false
}

func TestOracle(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 30000 {
		b := make([]byte, r.IntN(160))
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		compareOracle(t, b)
	}
}

func FuzzOracle(f *testing.F) {
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) < 400 {
			compareOracle(t, b)
		}
	})
}
