package messages

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/formattest"
	"github.com/polywire/polywire/internal/partfield"
	"github.com/polywire/polywire/upstream"
)

// FuzzCarried makes responses from bytes, as from a vendor of generateContent. It signs
// thinking, texts, tool calls, images and parts of built-in tools, each once, at any
// time before the next part. Thinking of a Responses vendor may be between them. For
// every encoding, placement and client, the vendor receives the signature of each tool
// call again, except those that are reported as too late.
func FuzzCarried(f *testing.F) {
	for _, ops := range []string{"xxstspCdisqt", "ccSdqsqsTryLst", "cCdLstLeLt", "xsm tsCSm", "t eLs", "tsmp", "e", "ye", "Ce", "tske", "dtsqs", "ns", "ystsys", "rRdsRtsr", "d s", "t s tsC",
		"xC", "xdsiq", "xCC", "xtC", "rcRC", "rtRc", "xrCc"} {
		f.Add([]byte(ops), "c2ln\"\n\\")
	}
	f.Fuzz(func(t *testing.T, ops []byte, data string) { checkCarried(t, ops, data) })
}

func checkCarried(t *testing.T, ops []byte, data string) {
	if len(ops) > 40 || len(data) > 40 {
		return
	}
	up := signer(ops, data)
	reply, err := upstream.Collect(t.Context(), up, &upstream.Request{})
	if err != nil {
		t.Fatal(err)
	}
	for _, where := range []placement{{}, {returnsBlocks: true}, {hideThinking: true}} {
		res, lost := convertResponse(reply, nil, where)
		doc, err := res.AppendJSON(nil)
		if err != nil {
			t.Fatal(err)
		}
		m, err := formattest.DecodeObject(doc)
		if err != nil {
			t.Fatal(err)
		}
		a := carriedResponse{fmt.Sprintf("whole %+v", where), where, reply.Parts, m["content"].([]any), lost}
		a.check(t, true)
		all := eventsOf(t, up)
		cuts := [][][]upstream.Event{batchesOf(t, up)}
		for _, d := range divisions {
			cuts = append(cuts, d.cut(all))
		}
		for i, cut := range cuts {
			stream, lost := encodeIn(where, cut)
			acc, err := formattest.ReadMessage(stream)
			if err != nil {
				t.Fatalf("%v\n%s", err, stream)
			}
			blocks, _ := acc.Object["content"].([]any)
			a := carriedResponse{fmt.Sprintf("streamed %d %+v", i, where), where, reply.Parts, blocks, lost}
			a.check(t, false)
		}
	}
}

// A carriedResponse is one way in which a response reaches a client.
type carriedResponse struct {
	name   string
	where  placement
	parts  []content.Part // of the vendor
	blocks []any          // of the client
	lost   []content.Loss
}

// check checks the guarantees for carried signatures. In a whole response all signatures
// are in time.
func (a carriedResponse) check(t *testing.T, whole bool) {
	t.Helper()
	var want, wantOthers []string
	rest := slices.Clone(a.lost)
	take := func(l content.Loss) bool {
		i := slices.Index(rest, l)
		if i >= 0 {
			rest = slices.Delete(rest, i, i+1)
		}
		return i >= 0
	}
	for i, p := range a.parts {
		path := fmt.Sprint("parts.", i)
		if !hasBlock(p) {
			if !take(lossOfPart(p).At(path)) {
				t.Errorf("%s: the loss of part %d is not reported: %v", a.name, i, a.lost)
			}
			continue
		}
		switch q := p.(type) {
		case *content.Text:
			if q.Signature.Data != "" && !take(lossTextSignature.At(path)) {
				t.Errorf("%s: the loss of the signature of part %d is not reported: %v", a.name, i, a.lost)
			}
			p = partfield.WithSignature(p, content.Signature{})
		case *content.ToolUse:
			if late := take(envelope.TooLate.At(path)); late && (whole || q.Signature.Data == "") {
				t.Errorf("%s: part %d is reported as too late", a.name, i)
			} else if late {
				p = partfield.WithSignature(p, content.Signature{})
			}
		case *content.Thinking:
			if o := foreignThinking(p); o != "" {
				if reported := take(lossUncarriedState.At(path)); reported && a.where.returnsBlocks {
					t.Errorf("%s: part %d is reported as lost: %v", a.name, i, a.lost)
				}
				wantOthers = append(wantOthers, o)
				continue
			}
			if a.where.hideThinking {
				if !take(lossHiddenThinking.At(path)) {
					t.Errorf("%s: the loss of part %d is not reported: %v", a.name, i, a.lost)
				}
				continue
			}
		}
		want = append(want, signedAs(p)...)
	}
	if len(rest) > 0 {
		t.Errorf("%s: losses %v", a.name, rest)
	}
	for _, b := range a.blocks {
		b := b.(map[string]any)
		if kind := b["type"]; a.where.hideThinking && kind != "text" && kind != "tool_use" || !a.where.returnsBlocks && kind == "redacted_thinking" {
			t.Errorf("%s: a block of %v", a.name, kind)
		}
		if id, ok := b["id"].(string); ok && !envelope.IsPlainID(id) || b["signature"] == "" {
			t.Errorf("%s: %v", a.name, b)
		}
	}
	for _, c := range returningClients {
		got, gotOthers := vendorGets(t, c.turns(a.blocks))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s, %s (-want +got):\n%s\n%v\n%v", a.name, c.name, diff, a.blocks, a.lost)
		}
		if diff := cmp.Diff(wantOthers, gotOthers); diff != "" && a.where.returnsBlocks {
			t.Errorf("%s, %s, thinking (-want +got):\n%s\n%v", a.name, c.name, diff, a.blocks)
		}
	}
}

func hasBlock(p content.Part) bool {
	switch p.(type) {
	case *content.Text, *content.Thinking, *content.ToolUse:
		return true
	}
	return false
}

// signedAs describes a part and its signature. Only the signature of a blank text counts.
func signedAs(p content.Part) []string {
	text, sig := "", partfield.SignatureOf(p)
	switch p := p.(type) {
	case *content.Text:
		if text = p.Text; mayBeDropped(text) {
			text = ""
		}
		if text == "" && sig.Data == "" {
			return nil
		}
	case *content.Thinking:
		text = p.Text
	case *content.ToolUse:
		if text = p.ID; sig.Format == responses {
			sig = content.Signature{} // it carries thinking
		}
	}
	if sig.Data == "" {
		sig.Format = ""
	}
	return []string{fmt.Sprintf("%T %q %s %q", p, text, sig.Format, sig.Data)}
}

const responses = content.Format("openai-responses")

// foreignThinking describes thinking of a Responses vendor. It returns an empty string for other parts.
func foreignThinking(p content.Part) string {
	th, ok := p.(*content.Thinking)
	if !ok || th.Signature.Format != responses && th.Redacted.Format != responses {
		return ""
	}
	return fmt.Sprintf("%q %q %q", th.Text, th.Signature.Data, th.Redacted.Data)
}

// returningClients are clients that return all blocks in order.
var returningClients = []struct {
	name  string
	turns func(blocks []any) (turns [][]any)
}{
	{"returns all", func(blocks []any) [][]any { return [][]any{blocks} }},
	{"omits blank texts", func(blocks []any) [][]any {
		return [][]any{slices.DeleteFunc(slices.Clone(blocks), func(b any) bool {
			text, ok := b.(map[string]any)["text"].(string)
			return ok && mayBeDropped(text)
		})}
	}},
	{"returns each block in a turn", func(blocks []any) (turns [][]any) {
		for _, b := range blocks {
			turns = append(turns, []any{b})
		}
		return turns
	}},
}

// vendorGets returns what the vendor receives of assistant turns that a client returns twice
// in a conversation. It must not change as the conversation continues.
func vendorGets(t *testing.T, turns [][]any) (spoken, thoughts []string) {
	t.Helper()
	spoken, thoughts, before := sentBack(t, turns, 1)
	twice, _, after := sentBack(t, turns, 2)
	if !strings.HasPrefix(after, before) {
		t.Errorf("the conversation begins anew:\n%s\n%s", before, after)
	}
	if diff := cmp.Diff(slices.Concat(spoken, spoken), twice); diff != "" {
		t.Errorf("twice (-want +got):\n%s", diff)
	}
	return spoken, thoughts
}

func sentBack(t *testing.T, turns [][]any, times int) (spoken, thoughts []string, sent string) {
	t.Helper()
	const user = `{"role":"user","content":"go"}`
	list := []string{user}
	for range times {
		for _, turn := range turns {
			b, err := json.Marshal(map[string]any{"role": "assistant", "content": turn})
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, string(b))
		}
		list = append(list, user)
	}
	r, err := ParseRequestString(`{"model":"m","max_tokens":9,"messages":[` + strings.Join(list, ",") + `]}`)
	if err != nil {
		t.Fatalf("%v\n%s", err, list)
	}
	n := r.Upstream()
	for _, turn := range n.Turns {
		for _, p := range turn.Parts {
			if o := foreignThinking(p); o != "" {
				thoughts = append(thoughts, o)
			}
		}
	}
	to, _, _ := generatecontent.RequestFromUpstream(n)
	for _, turn := range to.Contents {
		if turn.Role == content.RoleAssistant {
			for _, p := range turn.Parts {
				spoken = append(spoken, signedAs(p)...)
			}
		}
	}
	b, err := (&generatecontent.Request{Contents: to.Contents}).AppendJSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	return spoken, thoughts, string(bytes.TrimSuffix(b, []byte("]}")))
}

// batchesOf returns the batches of events of a response.
func batchesOf(t *testing.T, up upstream.Upstream) (list [][]upstream.Event) {
	t.Helper()
	err := upstream.Run(t.Context(), up, &upstream.Request{}, upstream.SinkFunc(func(events []upstream.Event) error {
		list = append(list, slices.Clone(events))
		return nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// signerOps are the operations of a signer. Other bytes select one of them.
const signerOps = "xySt LeclkmnrRCdiqspuT"

// signer is an upstream that runs ops. It signs each part once, before the next part opens.
func signer(ops []byte, data string) upstream.Func {
	return func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		s := &signing{w: w, data: data}
		for i, op := range ops {
			if strings.IndexByte(signerOps, op) < 0 {
				op = signerOps[int(op)%len(signerOps)]
			}
			s.do(op, i)
		}
		return nil
	}
}

// A signing is a response of a signer.
type signing struct {
	w     *upstream.Writer
	data  string
	n     int
	calls []*upstream.ToolCallWriter
	fed   *upstream.ToolCallWriter // has arguments
	kind  byte                     // kind of the last block, for its deltas
	some  bool                     // a block is open
	last  bool                     // the block is signed
}

func (s *signing) sig() content.Signature {
	s.n++
	return vendorSignature(base64.StdEncoding.EncodeToString(fmt.Append(nil, s.n, s.data)))
}

// part writes a whole part.
func (s *signing) part(p content.Part, signed bool) {
	if signed {
		p = partfield.WithSignature(p, s.sig())
	}
	_ = s.w.Part(p)
	s.kind, s.some, s.last = 0, true, signed
}

// piece writes a piece of a text or of thinking.
func (s *signing) piece(kind byte) {
	if s.kind != kind {
		s.kind, s.some, s.last = kind, true, false
	}
}

func (s *signing) do(op byte, i int) {
	switch op {
	case 'x':
		_ = s.w.Thinking(fmt.Sprint("hm", i))
		s.piece('x')
	case 't', ' ':
		_ = s.w.Text(map[byte]string{'t': fmt.Sprint("t", i), ' ': " \n"}[op])
		s.piece('t')
	case 'y', 'S':
		s.part(&content.Thinking{Text: "y"}, op == 'S')
	case 'r':
		_ = s.w.Part(&content.Thinking{Redacted: content.Signature{Format: responses, Data: s.sig().Data}})
		s.kind, s.some, s.last = 0, true, true
	case 'R':
		_ = s.w.Part(&content.Thinking{Text: "R", Signature: content.Signature{Format: responses, Data: s.sig().Data}})
		s.kind, s.some, s.last = 0, true, true
	case 'L', 'l', 'T':
		s.part(&content.Text{Text: map[byte]string{'L': "l", 'l': "\t", 'T': "T"}[op]}, op == 'T')
	case 'e':
		s.part(&content.Text{}, true)
	case 'c', 'C':
		s.part(&content.ToolUse{Name: "f", Input: "{}"}, op == 'C')
	case 'k':
		s.part(&content.ServerToolUse{ID: "k", Name: "code", Format: theirs}, false)
	case 'm', 'n':
		s.part(&content.Image{Source: &content.URL{URL: "https://a.example"}}, op == 'm')
	case 'd':
		s.calls = append(s.calls, s.w.ToolCall("", "f"))
		s.kind, s.some, s.last = 'd', true, false
	case 'i':
		if n := len(s.calls); n > 0 && s.fed != s.calls[n-1] {
			s.fed = s.calls[n-1]
			_ = s.fed.Input("{}")
		}
	case 'q':
		if len(s.calls) > 0 {
			_ = s.calls[0].Close() // later calls receive their arguments afterwards
			s.calls = s.calls[1:]
		}
	case 's':
		if s.some && !s.last {
			_ = s.w.Signature(s.sig())
			s.last = true
			if s.kind == 'x' {
				s.kind = 0
			}
		}
	case 'p':
		_ = s.w.Stop(upstream.Stop{Reason: content.StopEnd})
	case 'u':
		_ = s.w.Usage(content.Usage{Output: int64(i)})
	}
}
