package messages

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/seal"
	"github.com/polywire/polywire/upstream"
)

// TestCarriedOps makes answers of bytes. However their events arrive, a client
// that gives back what it got brings every signature to its part again, or the
// loss of it was told.
func TestCarriedOps(t *testing.T) {
	for _, tt := range []struct{ ops, data string }{
		{"xxstsPsciIsqt", "c2ln"},
		{"cciSIqsqsTrxslt", "+/8="},
		{"cSSlxlTlPltl", "\"\n\\"},
	} {
		ops, data := []byte(tt.ops), tt.data
		up := signer(ops, data)
		reply, err := upstream.Collect(t.Context(), up, &upstream.Request{})
		if err != nil {
			t.Fatal(err)
		}
		res, lost := ResponseOf(reply)
		doc, err := res.AppendJSON(nil)
		if err != nil {
			t.Fatal(err)
		}
		m, err := decode(doc)
		if err != nil {
			t.Fatal(err)
		}
		checkCarried(t, reply.Parts, m["content"], lost)
		all := eventsOf(t, up)
		for _, d := range divisions {
			stream, lost := encode(d.cut(all))
			a, err := accumulate(stream)
			if err != nil {
				t.Fatalf("%s: %v\n%s", d.name, err, stream)
			}
			checkCarried(t, reply.Parts, a.message["content"], lost)
		}
	}
}

// checkCarried checks that blocks bring back the signatures of parts, but for
// those that are told to be lost.
func checkCarried(t *testing.T, parts []content.Part, blocks any, lost []content.Loss) {
	t.Helper()
	told := func(i int) bool {
		return slices.ContainsFunc(lost, func(l content.Loss) bool { return l.Path == fmt.Sprint("parts.", i) })
	}
	dropped := func(i int) bool { _, image := parts[i].(*content.Image); return image }
	got := signs(restored(t, given(t, blocks)), nil)
	n := 0
	for i, p := range parts {
		if dropped(i) {
			continue
		}
		want := signs([]content.Part{p}, nil)[0]
		// Of several signatures a stream may have said another one.
		same := strings.TrimSuffix(signs([]content.Part{seal.With(p, content.Signature{})}, nil)[0], ` ""`)
		if n >= len(got) || got[n] != want && (!strings.HasPrefix(got[n], same) || !told(i)) {
			t.Fatalf("part %d is %s, want %s\n%v\n%v", i, got[min(n, len(got)):], want, blocks, lost)
		}
		n++
	}
	if n != len(got) {
		t.Errorf("more than there was: %v", got[n:])
	}
}

// signerOps are what a signer can do. Other bytes mean one of them.
const signerOps = "xsSciqPTrmlt"

// signer is an upstream that does what ops say.
func signer(ops []byte, data string) upstream.Func {
	return func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		var calls []*upstream.Call
		n := 0
		sig := func() content.Signature { n++; return theirSign(fmt.Sprint(n, data)) }
		for i, op := range ops {
			if strings.IndexByte(signerOps, op) < 0 {
				op = signerOps[int(op)%len(signerOps)]
			}
			switch op {
			case 'x':
				_ = w.Thinking(fmt.Sprint("hm", i))
			case 's':
				_ = w.Signature(sig())
			case 'S':
				calls = append(calls, w.ToolCall("", "f"))
				_ = w.Signature(sig())
			case 'c':
				calls = append(calls, w.ToolCall("", "f"))
			case 'i', 'I':
				if len(calls) > 0 {
					_ = calls[len(calls)-1].Input([]string{"{", "}"}[i%2])
				}
			case 'q':
				if len(calls) > 0 {
					_ = calls[0].Close()
					calls = calls[1:]
				}
			case 'P':
				_ = w.Part(&content.ToolUse{Name: "f", Input: "{}", Signature: sig()})
			case 'T':
				_ = w.Part(&content.Text{Signature: sig()})
			case 'r':
				_ = w.Part(&content.Thinking{Redacted: sig()})
			case 'm':
				_ = w.Part(&content.Image{Source: &content.URL{URL: "https://a.example"}, Signature: sig()})
			case 'l':
				_ = w.Send([]upstream.Event{{Kind: upstream.EventOpen, Block: i, Part: &content.Text{}}, {Kind: upstream.EventText, Block: i, Text: "l"},
					{Kind: upstream.EventClose, Block: i}, {Kind: upstream.EventSignature, Block: i, Signature: new(sig())}})
			default:
				_ = w.Text(string(rune('a' + op%26)))
			}
		}
		return nil
	}
}
