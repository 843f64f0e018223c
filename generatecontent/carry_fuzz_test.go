package generatecontent

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/formattest"
	"github.com/polywire/polywire/internal/lower"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
)

// FuzzCarried makes a response as the vendor of Messages sends them. However its
// events arrive, and whatever a client returns of it, the vendor gets its thinking
// again byte for byte and in order, at the start of the step that it belongs to,
// and never at the end of a turn.
func FuzzCarried(f *testing.F) {
	for how := range uint8(6) {
		f.Add([]byte("xtxscC"), "c2ln", how)
		f.Add([]byte("rtPxtTmXc"), "+/8=", how)
		f.Add([]byte("xctuxrwctXt nT"), "\"\n\\é", how)
		f.Add([]byte("txmtxmcmxtuxT"), "s", how)
	}
	f.Fuzz(func(t *testing.T, ops []byte, data string, how uint8) {
		if len(ops) > 40 || len(data) > 40 || data == "" {
			return
		}
		up := thinker(ops, strings.ToValidUTF8(data, "?"))
		reply, err := upstream.Collect(t.Context(), up, &upstream.Request{})
		if err != nil {
			t.Fatal(err)
		}
		want := spoken(reply.Parts)
		if n := int(how % 6); n > 0 {
			var all []upstream.Event
			for e := range upstream.Events(t.Context(), up, &upstream.Request{}) {
				all = append(all, e)
			}
			if n == 5 {
				n = len(all) + 1
			}
			stream, lost := encode(inEvents, all, n)
			h, err := receive(inEvents, stream)
			if err != nil {
				t.Fatal(err)
			}
			checkThoughts(t, want, partsOf(h), lost)
			return
		}
		res, lost := ResponseFromUpstream(reply)
		doc, err := res.AppendJSON(nil)
		if err != nil {
			t.Fatal(err)
		}
		m, err := formattest.DecodeObject(doc)
		if err != nil {
			t.Fatal(err)
		}
		checkThoughts(t, want, partsOf(&formattest.Chunks{List: []map[string]any{m}}), lost)
	})
}

// thinkerOps lists the operations of thinker. Other bytes are mapped to one of them.
const thinkerOps = "xXnrtuT cCPwm"

// thinker returns an upstream that runs ops. All of its thinking is signed.
func thinker(ops []byte, data string) upstream.Func {
	return func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		for i, op := range ops {
			if strings.IndexByte(thinkerOps, op) < 0 {
				op = thinkerOps[int(op)%len(thinkerOps)]
			}
			sig := otherSign(fmt.Sprint(i, data))
			id := fmt.Sprint("c", i)
			switch op {
			case 'x':
				_ = w.Thinking(fmt.Sprint("hm", i))
				_ = w.Thinking(" é" + data)
				_ = w.Signature(sig)
			case 'X':
				_ = w.Part(&content.Thinking{Signature: sig})
			case 'n':
				_ = w.Part(&content.Thinking{Text: "new", Signature: sig, Extra: &content.Extra{Format: other, JSON: `{"z":1,"a":[2]}`}})
			case 'r':
				_ = w.Part(&content.Thinking{Redacted: sig})
			case 't':
				_ = w.Text(fmt.Sprint("t", i))
			case 'u':
				_ = w.Text("é漢\U0001F600")
			case 'T':
				_ = w.Part(&content.Text{Text: fmt.Sprint("T", i)})
			case ' ':
				_ = w.Text("\n ")
			case 'c':
				c, d := w.ToolCall(id, "f"), w.ToolCall(id+"d", "f")
				_ = c.Input(`{"a":`)
				_ = d.Input(`{}`)
				_ = c.Input(`1}`)
				_ = c.Close()
				_ = d.Close()
			case 'C':
				c := w.ToolCall(id, "f")
				_ = c.Close()
			case 'P':
				_ = w.Part(&content.ToolUse{ID: id, Name: "f", Input: "{}"})
			case 'w':
				_ = w.Part(&content.ServerToolUse{Format: other, Kind: "server_tool_use", ID: id, Name: "web_search", Input: `{}`})
				_ = w.Part(&content.ServerToolResult{Format: other, Kind: "web_search_tool_result", ID: id, Content: `[]`})
			case 'm':
				_ = w.Part(&content.Image{Source: &content.Base64{MediaType: "image/png", Data: png}})
			}
		}
		return nil
	}
}

// spoken returns the thinking, calls and texts of a response in a form that does not depend
// on how texts are split. It omits white space, because the vendor rejects texts of only
// white space.
func spoken(parts []content.Part) (list []string) {
	text := ""
	flush := func() {
		if text != "" {
			list = append(list, "text "+text)
		}
		text = ""
	}
	for _, p := range parts {
		switch p := p.(type) {
		case *content.Text:
			text += strings.Join(strings.Fields(p.Text), "")
		case *content.Thinking:
			flush()
			extra := ""
			if p.Extra != nil {
				extra = p.Extra.JSON
			}
			list = append(list, fmt.Sprintf("thought %q %q %q %s", p.Text, p.Signature, p.Redacted, extra))
		case *content.ToolUse:
			flush()
			list = append(list, "call "+p.ID)
		}
	}
	flush()
	return list
}

// A keeper is a client that keeps some parts of a response.
type keeper struct {
	name  string
	turns bool // each chunk is a turn
	apart bool // drops signatures of texts, and thinking after the last call
	mute  bool // also drops texts
	keep  func(parts []map[string]any) []map[string]any
}

var keepers = []keeper{
	{name: "everything", keep: func(parts []map[string]any) []map[string]any { return parts }},
	{name: "pieces", turns: true, keep: func(parts []map[string]any) []map[string]any {
		return keepIf(parts, func(p map[string]any) bool {
			if p["text"] == "" {
				delete(p, "text")
			}
			return len(p) > 0
		})
	}},
	{name: "no thoughts", keep: withoutThoughts},
	{name: "texts joined", keep: joinTexts},
	{name: "texts joined, no thoughts", keep: func(parts []map[string]any) []map[string]any { return joinTexts(withoutThoughts(parts)) }},
	{name: "texts split", keep: splitTexts},
	{name: "texts split, in pieces", turns: true, keep: splitTexts},
	{name: "signed calls, texts joined", apart: true, keep: func(parts []map[string]any) []map[string]any { return joinTexts(unsigned(withoutThoughts(parts))) }},
	{name: "signed calls", apart: true, keep: unsigned},
	{name: "calls", apart: true, mute: true, keep: func(parts []map[string]any) []map[string]any {
		return keepIf(parts, func(p map[string]any) bool { return p["functionCall"] != nil })
	}},
	{name: "no images", keep: func(parts []map[string]any) []map[string]any {
		return keepIf(parts, func(p map[string]any) bool { return p["inlineData"] == nil })
	}},
}

func keepIf(parts []map[string]any, keep func(p map[string]any) bool) []map[string]any {
	return slices.DeleteFunc(parts, func(p map[string]any) bool { return !keep(p) })
}

func withoutThoughts(parts []map[string]any) []map[string]any {
	return keepIf(parts, func(p map[string]any) bool { return p["thought"] != true })
}

func unsigned(parts []map[string]any) []map[string]any {
	return keepIf(parts, func(p map[string]any) bool {
		if p["functionCall"] == nil {
			delete(p, "thoughtSignature")
		}
		return p["text"] != "" || p["thoughtSignature"] != nil
	})
}

// joinTexts joins consecutive texts up to a signed one.
func joinTexts(parts []map[string]any) (list []map[string]any) {
	for _, p := range parts {
		if n := len(list); n > 0 && p["text"] != nil {
			old := list[n-1]
			if old["text"] != nil && old["thought"] == p["thought"] && old["thoughtSignature"] == nil {
				p["text"] = old["text"].(string) + p["text"].(string)
				list[n-1] = p
				continue
			}
		}
		list = append(list, p)
	}
	return list
}

// splitTexts splits texts into parts of one letter. The last part keeps the members.
func splitTexts(parts []map[string]any) (list []map[string]any) {
	for _, p := range parts {
		if text, ok := p["text"].(string); ok && p["thought"] == nil {
			letters := strings.Split(text, "")
			for i := range len(letters) - 1 {
				list = append(list, map[string]any{"text": letters[i]})
			}
			if len(letters) > 0 {
				p["text"] = letters[len(letters)-1]
			}
		}
		list = append(list, p)
	}
	return list
}

// left returns the parts of a returned response that the vendor receives: the thinking of
// each step, then its texts, then the call. Thinking at the end of the turn is dropped.
func (k *keeper) left(want []string) (list []string) {
	last := -1
	for i, s := range want {
		if strings.HasPrefix(s, "call ") {
			last = i
		}
	}
	text := ""
	flush := func() {
		if text != "" {
			list = append(list, "text "+text)
		}
		text = ""
	}
	for i, s := range want {
		rest, isText := strings.CutPrefix(s, "text ")
		switch {
		case isText && k.mute, k.apart && i > last && strings.HasPrefix(s, "thought "):
		case isText:
			text += rest
		case strings.HasPrefix(s, "call "):
			flush()
			list = append(list, s)
		default:
			list = append(list, s)
		}
	}
	flush()
	for len(list) > 0 && strings.HasPrefix(list[len(list)-1], "thought ") {
		list = list[:len(list)-1]
	}
	return list
}

// otherLosses are losses of the responses in the tests that thinking does not cause.
var otherLosses = []string{lower.ResultMissing.Reason, lower.FileMoved.Reason}

// checkThoughts returns a response as each client does, and checks the thinking.
func checkThoughts(t *testing.T, want []string, pieces []any, lost []content.Loss) {
	t.Helper()
	for _, l := range lost {
		if strings.Contains(l.Reason, "signature") || strings.Contains(l.Reason, "thinking") {
			t.Errorf("%v", l)
		}
	}
	for _, k := range keepers {
		r, lost := returned(t, k.history(pieces), 1)
		for _, l := range lost {
			if l.Severity > content.LossHint && !slices.Contains(otherLosses, l.Reason) {
				t.Errorf("%s: %v", k.name, l)
			}
		}
		var got []content.Part
		for _, turn := range r.Messages {
			if turn.Role == content.RoleAssistant {
				got = append(got, turn.Parts...)
			}
		}
		if diff := cmp.Diff(k.left(want), spoken(got), cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("%s (-want +got):\n%s\n%v", k.name, diff, pieces)
		}
		checkPrefix(t, r, k.history(pieces))
	}
}

// history returns the contents that a client keeps of a response.
func (k *keeper) history(pieces []any) (contents []any) {
	var parts []map[string]any
	turn := func() {
		if parts = k.keep(parts); len(parts) > 0 {
			contents = append(contents, map[string]any{"role": "model", "parts": parts})
		}
		parts = nil
	}
	for _, list := range pieces {
		for _, p := range list.([]any) {
			parts = append(parts, maps.Clone(p.(map[string]any)))
		}
		if k.turns {
			turn()
		}
	}
	turn()
	return contents
}

// returned converts a conversation with repeated responses to a request of the vendor.
func returned(t *testing.T, answer []any, times int) (*messages.Request, []content.Loss) {
	t.Helper()
	user := map[string]any{"role": "user", "parts": []any{map[string]any{"text": "go"}}}
	contents := []any{user}
	for range times {
		contents = append(append(contents, answer...), user)
	}
	doc, err := json.Marshal(map[string]any{"contents": contents})
	if err != nil {
		t.Fatal(err)
	}
	r, err := ParseRequest(doc)
	if err != nil {
		t.Fatalf("%v\n%.2000s", err, doc)
	}
	n := r.Upstream()
	m, losses, err := messages.RequestFromUpstream(n)
	if err != nil {
		t.Fatal(err)
	}
	return m, losses
}

// checkPrefix checks that a converted conversation is a prefix of its continuation.
func checkPrefix(t *testing.T, r *messages.Request, answer []any) {
	t.Helper()
	longer, _ := returned(t, answer, 2)
	was, now := turnsOf(t, r), turnsOf(t, longer)
	if len(now) < len(was) || !slices.Equal(was, now[:len(was)]) {
		t.Fatalf("%s\nhas become\n%s", was, now)
	}
}

func turnsOf(t *testing.T, r *messages.Request) (turns []string) {
	t.Helper()
	doc, err := r.AppendJSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	var v struct{ Messages []json.RawMessage }
	if err := json.Unmarshal(doc, &v); err != nil {
		t.Fatal(err)
	}
	for _, m := range v.Messages {
		turns = append(turns, string(m))
	}
	return turns
}
