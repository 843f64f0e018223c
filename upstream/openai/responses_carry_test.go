package openai

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/upstream"
)

// FuzzResponsesItems makes an answer of items. However it goes through the front
// of generateContent, and whatever client gives it back, the vendor gets its items
// again as they were and where they were, among what the client has kept.
func FuzzResponsesItems(f *testing.F) {
	f.Add([]byte("rmcRmrc"), uint8(0))
	f.Add([]byte("rpRficwrmRwif"), uint8(1))
	f.Add([]byte("rirmwRcrmirm"), uint8(2))
	f.Add([]byte("mRirimwi"), uint8(13))
	f.Fuzz(func(t *testing.T, ops []byte, how uint8) {
		if len(ops) > 30 || len(ops) == 0 {
			return
		}
		items, want := itemsOf(ops, how&1 == 1)
		for _, size := range []int{0, 1, 2 + int(how/2)%9} {
			pieces := throughFront(t, items, size)
			for i := range itemClients {
				c := &itemClients[i]
				if c.apart && slices.ContainsFunc(want, func(s item) bool { return s.kind == 'i' }) {
					continue // its items are signatures
				}
				checkItems(t, c, c.left(want), pieces)
			}
		}
	})
}

// An item is one of an answer as it is to be sent back.
type item struct {
	kind        byte // m(essage), r(easoning), w(eb search), i(mage), c(all)
	json        string
	text, phase string // of messages
}

// itemsOf returns the items that ops say, and what is to be sent back.
func itemsOf(ops []byte, phases bool) (items []string, want []item) {
	const kinds = "rRmpcwi"
	for i, op := range ops {
		if strings.IndexByte(kinds, op) < 0 {
			op = kinds[int(op)%len(kinds)]
		}
		var s string
		switch op {
		case 'r', 'R':
			summary := ""
			if op == 'r' {
				summary = fmt.Sprintf(`{"type":"summary_text","text":"hm%d é"}`, i)
			}
			s = fmt.Sprintf(`{"type":"reasoning","id":"rs_%d","summary":[%s],"encrypted_content":"gAAA%d"}`, i, summary, i)
			want = append(want, item{kind: 'r', json: s})
		case 'm', 'p':
			text, phase := fmt.Sprintf("t%d漢", i), ""
			s = fmt.Sprintf(`{"type":"message","id":"msg_%d","role":"assistant","status":"completed","content":[{"type":"output_text","text":"%s","annotations":[]}]`, i, text)
			if phases {
				phase = map[byte]string{'m': "final_answer", 'p': "commentary"}[op]
				s += `,"phase":"` + phase + `"`
			}
			s += "}"
			want = append(want, item{kind: 'm', text: text, phase: phase})
		case 'c':
			s = fmt.Sprintf(`{"type":"function_call","id":"fc_%d","call_id":"call_%d","name":"f","arguments":"{\"a\":%d}","status":"completed"}`, i, i, i)
			want = append(want, item{kind: 'c', json: fmt.Sprintf(`{"type":"function_call","call_id":"call_%d","name":"f","arguments":"{\"a\":%d}"}`, i, i)})
		case 'w':
			s = fmt.Sprintf(`{"type":"web_search_call","id":"ws_%d","status":"completed","action":{"type":"search","query":"q"}}`, i)
			want = append(want, item{kind: 'w', json: s})
		case 'i':
			s = fmt.Sprintf(`{"type":"image_generation_call","id":"ig_%d","status":"completed","result":"iVBORw0KGgo="}`, i)
			want = append(want, item{kind: 'i', json: s})
		}
		items = append(items, s)
	}
	return items, want
}

// throughFront answers with items and returns the parts of the pieces that a
// client gets: of a whole answer, or of a stream of so many events at a time.
func throughFront(t *testing.T, items []string, size int) (pieces [][]map[string]any) {
	t.Helper()
	doc := `{"id":"resp_1","object":"response","status":"completed","model":"m","output":[` + strings.Join(items, ",") + `]}`
	h := generatecontent.NewHandler(upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		f, err := decodeResponses(doc, content.Limits{})
		if err != nil {
			return err
		}
		for batch := range slices.Chunk(f.Events, max(size, 1)) {
			if err := w.Send(batch); err != nil {
				return err
			}
		}
		return nil
	}), nil)
	path := "/v1beta/models/m:generateContent"
	if size > 0 {
		path = "/v1beta/models/m:streamGenerateContent?alt=sse"
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("POST", path, strings.NewReader(`{"contents":[{"role":"user","parts":[{"text":"q"}]}]}`)))
	if w.Code != 200 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	answers := []string{w.Body.String()}
	if size > 0 {
		answers = nil
		for line := range strings.Lines(w.Body.String()) {
			if data, ok := strings.CutPrefix(strings.TrimSpace(line), "data: "); ok {
				answers = append(answers, data)
			}
		}
	}
	for _, text := range answers {
		var a struct {
			Candidates []struct {
				Content struct{ Parts []map[string]any }
			}
		}
		if err := json.Unmarshal([]byte(text), &a); err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		for _, c := range a.Candidates {
			pieces = append(pieces, c.Content.Parts)
		}
	}
	return pieces
}

// An itemClient is a client of the front, by what it keeps of the parts of an
// answer.
type itemClient struct {
	name  string
	turns bool // each piece is a turn
	apart bool // the signatures of all but calls are gone
	drop  func(p map[string]any) bool
	join  bool // texts that follow each other, up to one that is signed
}

func noThought(p map[string]any) bool { return p["thought"] == true }

var itemClients = []itemClient{
	{name: "everything", drop: func(map[string]any) bool { return false }},
	{name: "pieces", turns: true, drop: func(p map[string]any) bool {
		return p["text"] == "" && p["thoughtSignature"] == nil
	}},
	{name: "no thoughts", drop: noThought},
	{name: "texts joined", join: true, drop: noThought},
	{name: "no images", drop: func(p map[string]any) bool { return p["inlineData"] != nil }},
	{name: "signed calls, texts joined", apart: true, join: true, drop: noThought},
	{name: "calls", apart: true, drop: func(p map[string]any) bool { return p["functionCall"] == nil }},
}

// history returns the contents that the client keeps.
func (c *itemClient) history(pieces [][]map[string]any) (contents []any) {
	var parts []map[string]any
	turn := func() {
		if len(parts) > 0 {
			contents = append(contents, map[string]any{"role": "model", "parts": parts})
		}
		parts = nil
	}
	for _, piece := range pieces {
		for _, p := range piece {
			p = maps.Clone(p)
			if c.apart && p["functionCall"] == nil {
				delete(p, "thoughtSignature")
			}
			if c.drop(p) || c.apart && p["text"] == "" {
				continue
			}
			if n := len(parts); c.join && n > 0 && p["text"] != nil && parts[n-1]["text"] != nil && parts[n-1]["thoughtSignature"] == nil {
				p["text"] = parts[n-1]["text"].(string) + p["text"].(string)
				parts = parts[:n-1]
			}
			parts = append(parts, p)
		}
		if c.turns {
			turn()
		}
	}
	turn()
	return contents
}

// left says what is left of items. Thoughts that nothing follows are not sent.
func (c *itemClient) left(want []item) (list []string) {
	last := len(want)
	for c.apart && last > 0 && want[last-1].kind != 'c' {
		last--
	}
	var kept []item
	for i, it := range want {
		switch {
		case it.kind == 'm' && c.drop(map[string]any{"text": it.text}), it.kind == 'i' && c.drop(map[string]any{"inlineData": it.json}), i >= last && it.kind != 'm':
			continue
		case c.apart && i >= last: // those before are in the signature of a call
			it.phase = ""
		}
		kept = append(kept, it)
	}
	for len(kept) > 0 && kept[len(kept)-1].kind == 'r' {
		kept = kept[:len(kept)-1]
	}
	return lines(kept)
}

// lines says items, each message with those that follow it in the same phase.
func lines(items []item) (list []string) {
	text, phase := "", ""
	flush := func() {
		if text != "" {
			list = append(list, "message "+phase+" "+text)
		}
		text = ""
	}
	for _, it := range items {
		if it.kind != 'm' || it.phase != phase {
			flush()
		}
		if it.kind != 'm' {
			list = append(list, it.json)
			continue
		}
		text, phase = text+it.text, it.phase
	}
	flush()
	return list
}

// checkItems gives an answer back and looks at what is sent to the vendor: the
// items, and that they stay as they are when the conversation goes on.
func checkItems(t *testing.T, c *itemClient, want []string, pieces [][]map[string]any) {
	t.Helper()
	answer := c.history(pieces)
	all := sentBack(t, answer, 1)
	var got []item
	for _, s := range all {
		var m struct{ Type, Role, Content, Phase string }
		switch _ = json.Unmarshal([]byte(s), &m); {
		case m.Role == "user", m.Type == "function_call_output":
		case m.Type == "message":
			got = append(got, item{kind: 'm', text: m.Content, phase: m.Phase})
		default:
			got = append(got, item{json: s})
		}
	}
	if diff := cmp.Diff(want, lines(got)); diff != "" {
		t.Fatalf("%s (-want +got):\n%s\n%v", c.name, diff, pieces)
	}
	if longer := sentBack(t, answer, 2); len(longer) < len(all) || !slices.Equal(all, longer[:len(all)]) {
		t.Fatalf("%s: %s\nhas become\n%s", c.name, all, longer)
	}
}

// sentBack returns the items that the vendor gets of a conversation in which the
// same was answered some times.
func sentBack(t *testing.T, answer []any, times int) (items []string) {
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
	r, err := generatecontent.ParseRequest(doc)
	if err != nil {
		t.Fatalf("%v\n%.2000s", err, doc)
	}
	n := r.Upstream()
	n.Model = "gpt-6.2-sol"
	p := planOf(t, n, KindVendor, 0)
	if p.fault != nil {
		t.Fatal(p.fault)
	}
	for _, l := range p.losses {
		if l.Severity > content.LossHint && strings.Contains(l.Reason, "thoughts") {
			t.Errorf("%v", l)
		}
	}
	var body struct{ Input []json.RawMessage }
	if err := json.Unmarshal([]byte(p.doc.Text()), &body); err != nil {
		t.Fatal(err)
	}
	for _, i := range body.Input {
		items = append(items, string(i))
	}
	return items
}
