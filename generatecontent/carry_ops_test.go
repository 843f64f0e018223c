package generatecontent

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// TestCarriedOps makes answers of bytes. However their events arrive, and
// whatever client gives them back, the upstream gets its signatures and thoughts
// again, where they were. It is no fuzz target: in answers that no vendor gives,
// such as signed calls and images among signed thoughts, or several texts with
// late signatures, a thought may come back one part away from its place.
func TestCarriedOps(t *testing.T) {
	for _, tt := range []struct{ ops, data string }{
		{"xxstxscicIqtxs", "c2ln"},
		{"rtPxsPtTmls", "+/8="},
		{"ocxsbtuxsccIv", "\"\n\\é"},
	} {
		ops, data := []byte(tt.ops), tt.data
		up := signer(ops, strings.ToValidUTF8(data, "?"))
		reply, err := upstream.Collect(t.Context(), up, &upstream.Request{})
		if err != nil {
			t.Fatal(err)
		}
		want := recalled(reply.Parts)
		res, lost := ResponseOf(reply)
		doc, err := res.AppendJSON(nil)
		if err != nil {
			t.Fatal(err)
		}
		m, err := decodeObject(doc)
		if err != nil {
			t.Fatal(err)
		}
		checkCarried(t, want, (&heard{pieces: []map[string]any{m}}).parts(), lost)
		var all []upstream.Event
		for e := range upstream.Events(t.Context(), up, &upstream.Request{}) {
			all = append(all, e)
		}
		for _, n := range []int{1, 2, 5, len(all)} {
			stream, lost := encode(inEvents, all, n)
			h, err := hear(inEvents, stream)
			if err != nil {
				t.Fatal(err)
			}
			checkCarried(t, want, h.parts(), lost)
		}
	}
}

func checkCarried(t *testing.T, want []string, pieces []any, lost []content.Loss) {
	t.Helper()
	for _, client := range clients {
		want := want
		if client.calls {
			want = onlyCalls(want)
		}
		got := recalled(given(t, client.turns(pieces)))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s\n%v", client.name, diff, pieces)
		}
	}
	if len(lost) > 0 {
		t.Errorf("losses: %v", lost)
	}
}

// signerOps are what a signer can do. Other bytes mean one of them.
const signerOps = "xXsscCiPTromlvt"

// signer is an upstream that does what ops say. It signs each block once, before
// it is over.
func signer(ops []byte, data string) upstream.Func {
	return func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		var calls []*upstream.Call
		n, open := 0, false
		sig := func() content.Signature { n++; return otherSign(fmt.Sprint(n, data)) }
		for i, op := range ops {
			if strings.IndexByte(signerOps, op) < 0 {
				op = signerOps[int(op)%len(signerOps)]
			}
			if !slices.Contains([]byte("cCiI"), op) {
				for _, c := range calls {
					_ = c.Close()
				}
				calls = nil
			}
			signs := open
			open = false
			switch op {
			case 'x', 'X':
				_ = w.Thinking(fmt.Sprint("hm", i))
				open = true
			case 's':
				if signs {
					_ = w.Signature(sig())
				}
			case 'c':
				calls = append(calls, w.ToolCall("", "f"))
			case 'C':
				calls = append(calls, w.ToolCall("", "f"))
				_ = w.Signature(sig())
			case 'i', 'I':
				if len(calls) > 0 {
					_ = calls[i%len(calls)].Input("")
				}
			case 'P':
				_ = w.Part(&content.ToolUse{Name: "f", Input: "{}"})
			case 'T':
				_ = w.Part(&content.Text{Text: "T", Signature: sig()})
			case 'r':
				_ = w.Part(&content.Thinking{Redacted: sig()})
			case 'o':
				_ = w.Part(&content.Thinking{Text: "own", Signature: signed("c2ln")})
			case 'm':
				_ = w.Part(&content.Image{Source: &content.Base64{MediaType: "image/png", Data: png}, Signature: sig()})
			case 'l':
				late := sig()
				_ = w.Send([]upstream.Event{{Kind: upstream.EventOpen, Block: i, Part: &content.Thinking{}}, {Kind: upstream.EventText, Block: i, Text: "l"},
					{Kind: upstream.EventClose, Block: i}, {Kind: upstream.EventSignature, Block: i, Signature: &late}})
			case 'v':
				_ = w.Stop(upstream.Stop{Reason: content.StopEnd})
			default:
				_ = w.Text(string(rune('a' + op%26)))
				open = true
			}
		}
		for _, c := range calls {
			_ = c.Close()
		}
		return nil
	}
}
