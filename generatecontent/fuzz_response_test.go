package generatecontent

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/upstream"
)

// FuzzResponse makes a response from bytes. It checks that the stream is valid in both
// framings, and that the response that is not a stream is equal.
func FuzzResponse(f *testing.F) {
	f.Add([]byte("tab\xf0tt\x9fxy"), "}")
	f.Add([]byte("ciIicIqpPs"), `{"a":"\`)
	f.Add([]byte("tysgecyIqmMuvxb"), "c2ln")
	f.Add([]byte("cZ"), " ")
	f.Add([]byte("cqZ"), " ")
	f.Add([]byte("ciqcZ"), "{}")
	f.Add([]byte("cqIvxb"), "c22\xf2\xf2") // a stop reason before the last parts
	f.Fuzz(func(t *testing.T, ops []byte, text string) {
		if len(ops) > 60 || len(text) > 60 {
			return
		}
		up := scripted(ops, text)
		reply, err := upstream.Collect(t.Context(), up, &upstream.Request{})
		if err != nil {
			t.Fatal(err)
		}
		res, _ := convertResponse(reply, expectation{})
		if res.ModelVersion == "" {
			res.ResponseID, res.ModelVersion = "r-1", "asked"
		}
		doc, err := res.AppendJSON(nil)
		if err != nil {
			t.Fatal(err)
		}
		want, err := formattest.DecodeObject(doc)
		if err != nil {
			t.Fatalf("%v\n%s", err, doc)
		}
		formattest.NormalResponse(grounded(want))
		for _, f := range []framing{inEvents, inArray} {
			stream, _ := drive(t, f, up)
			_, got := mustHear(t, f, stream)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-reply +stream):\n%s\n%s", diff, stream)
			}
			checkSlowly(t, f, up)
		}
	})
}

// scripted returns an upstream that runs ops. It closes calls before it writes another
// part, and signs only texts, because a stream cannot change parts that the client has
// received.
func scripted(ops []byte, text string) upstream.Func {
	return func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		var calls []*upstream.ToolCallWriter
		texts := false
		finish := func() {
			for _, c := range calls {
				_ = c.Close()
			}
			calls = nil
		}
		for i, op := range ops {
			some := text[min(len(text), i):]
			if !strings.ContainsRune("iIcyuvg", rune(op)) {
				finish()
			}
			switch op {
			case 'x':
				texts = texts || some != ""
				_ = w.Thinking(some)
			case 'y':
				if texts { // once: a stream cannot change earlier output
					texts = false
					_ = w.Signature(content.Signature{Format: Format, Data: text})
				}
			case 'c':
				texts = false
				calls = append(calls, w.ToolCall("", "n"+text))
			case 'i', 'I':
				if len(calls) > 0 {
					_ = calls[len(calls)*int(op)%len(calls)].Input(some)
				}
			case 'q':
			case 'Z':
				return w.Stop(upstream.Stop{Reason: content.StopMaxTokens})
			case 'p':
				texts = false
				_ = w.Part(&content.ToolUse{Name: "n", Input: some})
			case 'P':
				texts = false
				_ = w.Part(&content.Unknown{Format: Format, Kind: "k", Raw: some})
			case 'm':
				texts = false
				_ = w.Part(&content.Image{Source: &content.Base64{MediaType: "image/png", Data: some}, Signature: signed(some)})
			case 'M':
				texts = false
				_ = w.Part(&content.ServerToolResult{Format: Format, Kind: "codeExecutionResult", Content: some})
			case 'b':
				texts = false
				_ = w.Part(&content.Text{Text: some, Extra: extra(text)})
			case 's':
				texts = true
				_ = w.Cite(content.Citation{Kind: content.CiteChars, Text: some})
			case 'u':
				_ = w.Usage(content.Usage{Input: int64(i), Output: int64(len(text)), Extra: extra(some)})
			case 'v':
				_ = w.Stop(upstream.Stop{Reason: content.StopReason(some)})
			case 'g':
				_ = w.Send([]upstream.Event{{Kind: upstream.EventExtra, Extra: extra(some)}})
			default:
				texts = true
				_ = w.Text(string(ops[i:i+1]) + some)
			}
		}
		finish()
		return nil
	}
}
