package messages

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/response"
	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/internal/test/lossplaces"
	"github.com/polywire/polywire/upstream"
)

// FuzzAnswer makes responses from bytes. For all events of an upstream, the stream follows the
// grammar, and a whole response has the same blocks.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte("tab\xf0tt\x9fxy"), "}")
	f.Add([]byte("ciIicIqpPs"), `{"a":"\`)
	f.Add([]byte("tcq"), " ")
	f.Add([]byte("cqm"), " ")
	f.Add([]byte("ciqcm"), "{}")
	f.Fuzz(func(t *testing.T, ops []byte, text string) {
		if len(ops) > 100 || len(text) > 100 {
			return
		}
		up := upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
			var calls []*upstream.ToolCallWriter
			for i, op := range ops {
				some := text[min(len(text), i):]
				switch op {
				case 'x':
					_ = w.Thinking(some)
				case 'y':
					_ = w.Signature(content.Signature{Format: Format, Data: text})
				case 'c':
					calls = append(calls, w.ToolCall("", "n"+text))
				case 'i', 'I':
					if len(calls) > 0 {
						_ = calls[len(calls)*int(op)%len(calls)].Input(some)
					}
				case 'q':
					if len(calls) > 0 {
						_ = calls[0].Close()
						calls = calls[1:] // more input would be an error of the test
					}
				case 'm':
					return w.Stop(upstream.Stop{Reason: content.StopMaxTokens})
				case 'p':
					_ = w.Part(&content.ToolUse{Name: "n", Input: some})
				case 'P':
					_ = w.Part(&content.Unknown{Format: Format, Kind: "k", Raw: some})
				case 's':
					_ = w.Cite(content.Citation{Kind: content.CiteChars, Text: some})
				default:
					_ = w.Text(string(ops[i:i+1]) + some)
				}
			}
			return nil
		})
		stream, sent := drive(t, up)
		a, err := formattest.ReadMessage(stream)
		if err != nil {
			t.Fatalf("%v\n%s", err, stream)
		}
		reply, err := upstream.Collect(t.Context(), up, &upstream.Request{})
		if err != nil {
			t.Fatal(err)
		}
		res, lost := convertResponse(reply, nil, placement{})
		doc, err := res.AppendJSON(nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := formattest.DecodeObject(doc)
		if err != nil {
			t.Fatalf("%v\n%s", err, doc)
		}
		sentBroken := false // a broken call was sent
		for i, l := range sent {
			if l.Reason == response.LossSentCall.Reason {
				sentBroken, sent[i].Reason = true, response.LossCallArguments.Reason
			}
		}
		if diff := cmp.Diff(lostCalls(lost), lostCalls(sent)); diff != "" {
			t.Errorf("broken calls (-whole +stream):\n%s", diff)
		}
		if sentBroken {
			return // clients may interpret such arguments in another way
		}
		if diff := cmp.Diff(a.Object["content"], got["content"]); diff != "" {
			t.Errorf("(-stream +reply):\n%s", diff)
		}
	})
}

// lostCalls returns the positions of broken calls.
func lostCalls(lost []content.Loss) (paths []string) {
	for _, l := range lossplaces.Of(lost) {
		if l.Reason == response.LossCallArguments.Reason || l.Reason == response.LossCallName.Reason {
			paths = append(paths, l.Path)
		}
	}
	slices.Sort(paths)
	return paths
}
