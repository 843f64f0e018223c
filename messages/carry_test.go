package messages

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/upstream"
)

const theirs = content.Format("generatecontent")

func theirSign(data string) content.Signature { return content.Signature{Format: theirs, Data: data} }

// carried are answers of another vendor, and what is lost of their signatures.
var carried = []struct {
	name   string
	up     upstream.Func
	losses []string
}{
	{name: "thought and call", up: func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		_ = w.Thinking("Let me")
		_ = w.Thinking(" see.")
		_ = w.Part(&content.ToolUse{ID: "a", Name: "look", Input: `{"k":1}`, Signature: theirSign("CiQBc2lnLWE=")})
		return w.Part(&content.ToolUse{ID: "b", Name: "look", Input: `{}`})
	}},
	{name: "every part signed", up: func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		_ = w.Thinking("é漢\n")
		_ = w.Signature(theirSign("_-8"))
		_ = w.Text("Hello")
		_ = w.Text(", you")
		_ = w.Signature(theirSign("+/8="))
		_ = w.Part(&content.Thinking{Signature: theirSign("b21pdHRlZA==")})
		_ = w.Part(&content.Thinking{Redacted: theirSign("b3BhcXVl")})
		_ = w.Part(&content.Text{Signature: theirSign("ZW1wdHk=")})
		c := w.ToolCall("a", "look")
		_ = w.Signature(theirSign("in\"quotes\n"))
		_ = c.Input(`{"q":`)
		_ = c.Input(`"x"}`)
		return c.Close()
	}, losses: []string{"hint parts.1", "hint parts.3", "hint parts.4"}},
	{name: "signed after the end", up: func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		return w.Send([]upstream.Event{
			{Kind: upstream.EventOpen, Block: 0, Part: &content.Thinking{}},
			{Kind: upstream.EventText, Block: 0, Text: "Hm"},
			{Kind: upstream.EventClose, Block: 0},
			{Kind: upstream.EventSignature, Block: 0, Signature: new(theirSign("bGF0ZQ=="))},
			{Kind: upstream.EventOpen, Block: 1, Part: &content.ToolUse{ID: "a", Name: "f"}},
			{Kind: upstream.EventClose, Block: 1},
			{Kind: upstream.EventOpen, Block: 2, Part: &content.Text{}},
			{Kind: upstream.EventText, Block: 2, Text: "Done"},
			{Kind: upstream.EventClose, Block: 2},
			{Kind: upstream.EventSignature, Block: 2, Signature: new(theirSign("dGV4dA=="))},
			{Kind: upstream.EventOpen, Block: 3, Part: &content.ToolUse{ID: "b", Name: "f"}},
			{Kind: upstream.EventClose, Block: 3},
		})
	}, losses: []string{"hint parts.2"}},
	{name: "side by side", up: func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		return w.Send([]upstream.Event{
			{Kind: upstream.EventOpen, Block: 0, Part: &content.ToolUse{ID: "a", Name: "f"}},
			{Kind: upstream.EventSignature, Block: 0, Signature: new(theirSign("Zmlyc3Q="))},
			{Kind: upstream.EventOpen, Block: 1, Part: &content.ToolUse{ID: "b", Name: "f", Signature: theirSign("b3Blbg==")}},
			{Kind: upstream.EventInput, Block: 0, Text: "{}"}, {Kind: upstream.EventInput, Block: 1, Text: `{"a":1}`},
			{Kind: upstream.EventClose, Block: 0}, {Kind: upstream.EventClose, Block: 1},
		})
	}},
	{name: "long", up: func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		_ = w.Part(&content.ToolUse{ID: "a", Name: "f", Signature: theirSign(strings.Repeat("QUJD", 16_000))})
		return w.Text("x")
	}},
	{name: "too long", up: func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		_ = w.Part(&content.Thinking{Text: "a", Signature: theirSign(strings.Repeat("Q", envelope.MaxSize+1))})
		_ = w.Part(&content.Thinking{Redacted: theirSign(strings.Repeat("Q", envelope.MaxSize+1))})
		_ = w.Part(&content.ToolUse{ID: "a", Name: "f", Signature: theirSign(strings.Repeat("Q", envelope.MaxSize+1))})
		return w.Text("x")
	}, losses: []string{"degraded parts.0", "degraded parts.2", "hint parts.1"}},
	{name: "of nobody", up: func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		_ = w.Part(&content.ToolUse{ID: "a", Name: "f", Signature: content.Signature{Data: "x"}})
		_ = w.Part(&content.Text{Text: "t", Signature: content.Signature{Format: Format, Data: "x"}})
		return w.Part(&content.Thinking{Redacted: content.Signature{Data: "x"}})
	}, losses: []string{"hint parts.0", "hint parts.1", "hint parts.2"}},
	{name: "an image that is dropped", up: func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		_ = w.Part(&content.Image{Source: &content.URL{URL: "https://a.example"}, Signature: theirSign("aW1n")})
		_ = w.Part(&content.ToolUse{ID: "a", Name: "f", Signature: theirSign("Zg==")})
		return nil
	}, losses: []string{"dropped parts.0"}},
}

// divisions are ways in which the events of an answer may arrive together.
var divisions = []struct {
	name string
	cut  func(all []upstream.Event) [][]upstream.Event
}{
	{"one by one", func(all []upstream.Event) (list [][]upstream.Event) {
		for i := range all {
			list = append(list, slices.Clone(all[i:i+1]))
		}
		return list
	}},
	{"by threes", func(all []upstream.Event) (list [][]upstream.Event) {
		for batch := range slices.Chunk(all, 3) {
			list = append(list, slices.Clone(batch))
		}
		return list
	}},
	{"all at once", func(all []upstream.Event) [][]upstream.Event { return [][]upstream.Event{slices.Clone(all)} }},
}

func eventsOf(t *testing.T, up upstream.Func) (all []upstream.Event) {
	t.Helper()
	for e, err := range upstream.Events(t.Context(), up, &upstream.Request{}) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

// encode streams events that arrive in batches.
func encode(batches [][]upstream.Event) (stream string, lost []content.Loss) {
	return encodeIn(placement{}, batches)
}

func encodeIn(where placement, batches [][]upstream.Event) (stream string, lost []content.Loss) {
	s := newStream("req_1", "msg_1", "asked", nil)
	s.placement = where
	var out []byte
	for _, batch := range batches {
		out = s.Events(out, batch)
		lost = append(lost, s.Losses()...)
	}
	out = s.End(out, nil)
	return string(out), append(lost, s.Losses()...)
}

// given returns the parts of an assistant's turn in neutral words, from the
// blocks that a client gives back.
func given(t *testing.T, blocks any) []content.Part {
	t.Helper()
	list, err := json.Marshal(blocks)
	if err != nil {
		t.Fatal(err)
	}
	r, err := ParseRequestString(fmt.Sprintf(`{"model":"m","max_tokens":9,"messages":[{"role":"assistant","content":%s}]}`, list))
	if err != nil {
		t.Fatalf("%v\n%s", err, list)
	}
	return r.Upstream().Turns[0].Parts
}

// restored puts signatures where their vendor wants them, as its adapter does. It
// leaves out empty texts that nobody signed, which vendors refuse.
func restored(t *testing.T, parts []content.Part) (list []content.Part) {
	t.Helper()
	next := content.Signature{}
	for _, p := range parts {
		if th, ok := p.(*content.Thinking); ok && th.Redacted.Format == theirs {
			if k, data, ok := envelope.ParseAdjacentSignature(th.Redacted); ok {
				sig := theirSign(data)
				if k == envelope.KindNextText || k == envelope.KindNextCall {
					next = sig
				} else if last := len(list) - 1; last < 0 {
					t.Error("a signature of nothing")
				} else {
					list[last] = envelope.WithSignature(list[last], sig)
				}
				continue
			}
		}
		if next.Data != "" {
			p, next = envelope.WithSignature(p, next), content.Signature{}
		}
		if text, ok := p.(*content.Text); ok && text.Text == "" && text.Signature.Data == "" {
			continue
		}
		list = append(list, p)
	}
	if next.Data != "" {
		t.Error("a signature of nothing")
	}
	return list
}

// signs says what parts are and who signed them.
func signs(parts []content.Part, skip func(i int) bool) (list []string) {
	for i, p := range parts {
		if skip != nil && skip(i) {
			continue
		}
		text, sig := "", envelope.SignatureOf(p)
		switch p := p.(type) {
		case *content.Text:
			text = p.Text
		case *content.Thinking:
			if text = p.Text; p.Redacted.Data != "" {
				text, sig = "redacted", p.Redacted
			}
		case *content.ToolUse:
			text = p.ID
		}
		if sig.Data == "" {
			sig = content.Signature{}
		}
		list = append(list, fmt.Sprintf("%T %q %s %q", p, text, sig.Format, sig.Data))
	}
	return list
}

// saysNothingAt reports whether a part is nothing but its signature.
func saysNothingAt(p content.Part) bool {
	t, ok := p.(*content.Text)
	return ok && isEmptyText(t)
}

func TestCarried(t *testing.T) {
	for _, tt := range carried {
		t.Run(tt.name, func(t *testing.T) {
			reply, err := upstream.Collect(t.Context(), tt.up, &upstream.Request{})
			if err != nil {
				t.Fatal(err)
			}
			want := signs(reply.Parts, nil)
			for _, l := range tt.losses {
				var at int
				severity, path, _ := strings.Cut(l, " ")
				_, _ = fmt.Sscanf(path, "parts.%d", &at)
				th, thought := reply.Parts[at].(*content.Thinking)
				if want[at] = signs([]content.Part{envelope.WithSignature(reply.Parts[at], content.Signature{})}, nil)[0]; severity == "dropped" || thought && th.Redacted.Data != "" || saysNothingAt(reply.Parts[at]) {
					want[at] = ""
				}
			}
			want = slices.DeleteFunc(want, func(s string) bool { return s == "" })
			res, lost := ResponseFromUpstream(reply)
			doc, err := res.AppendJSON(nil)
			if err != nil {
				t.Fatal(err)
			}
			whole, err := decode(doc)
			if err != nil {
				t.Fatal(err)
			}
			check := func(t *testing.T, blocks any, lost []content.Loss) {
				t.Helper()
				if diff := cmp.Diff(want, signs(restored(t, given(t, blocks)), nil)); diff != "" {
					t.Errorf("(-want +got):\n%s\n%.2000v", diff, blocks)
				}
				if diff := cmp.Diff(tt.losses, lossNames(lost)); diff != "" {
					t.Errorf("losses (-want +got):\n%s", diff)
				}
			}
			check(t, whole["content"], lost)
			all := eventsOf(t, tt.up)
			for _, d := range divisions {
				t.Run(d.name, func(t *testing.T) {
					stream, lost := encode(d.cut(all))
					a, err := accumulate(stream)
					if err != nil {
						t.Fatalf("%v\n%.3000s", err, stream)
					}
					check(t, a.message["content"], lost)
				})
			}
		})
	}
}

// TestCarriedBytes pins where a stream carries what.
func TestCarriedBytes(t *testing.T) {
	up := upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		_ = w.Thinking("Hm")
		_ = w.Part(&content.ToolUse{ID: "a", Name: "f", Signature: theirSign("Yg==")})
		_ = w.Part(&content.ToolUse{ID: "c", Name: "f", Signature: theirSign("ZA==")})
		_ = w.Text("Bye")
		_ = w.Signature(theirSign("Yw=="))
		return w.ToolCall("b", "f").Close()
	})
	encoded := func(id, data string) string {
		s, _ := envelope.EncodeID(id, envelope.Envelope{Format: theirs, Kind: envelope.KindPart, Data: data})
		return s
	}
	thinking := func(signature string) any {
		return map[string]any{"type": "thinking", "thinking": "Hm", "signature": signature}
	}
	call := func(id string) any {
		return map[string]any{"type": "tool_use", "id": id, "name": "f", "input": map[string]any{}, "caller": map[string]any{"type": "direct"}}
	}
	inBlock, _ := envelope.EncodeCall(theirSign("Yg=="), "a")
	text := map[string]any{"type": "text", "text": "Bye", "citations": nil}
	for where, want := range map[placement][]any{
		{}:                    {thinking(envelope.Unsigned), call(encoded("a", "Yg==")), call(encoded("c", "ZA==")), text, call("b")},
		{returnsBlocks: true}: {thinking(inBlock), call("toolu_pwblk_a"), call(encoded("c", "ZA==")), text, call("b")},
		{hideThinking: true}:  {call(encoded("a", "Yg==")), call(encoded("c", "ZA==")), text, call("b")},
	} {
		stream, lost := encodeIn(where, batchesOf(t, up))
		a, err := accumulate(stream)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, a.message["content"]); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", where, diff)
		}
		if n := strings.Count(stream, "signature_delta"); n > 1 {
			t.Errorf("%d signature deltas", n)
		}
		reply, err := upstream.Collect(t.Context(), up, &upstream.Request{})
		if err != nil {
			t.Fatal(err)
		}
		res, wholeLost := responseOf(reply, nil, where)
		doc, _ := res.AppendJSON(nil)
		m, err := decode(doc)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, m["content"]); diff != "" {
			t.Errorf("%+v, whole (-want +got):\n%s", where, diff)
		}
		wantLost := []string{"hint parts.3"}
		if where.hideThinking {
			wantLost = []string{"hint parts.0", "hint parts.3"}
		}
		if diff := cmp.Diff([][]string{wantLost, wantLost}, [][]string{lossNames(lost), lossNames(wholeLost)}); diff != "" {
			t.Errorf("%+v: losses (-want +got):\n%s", where, diff)
		}
	}
}

// TestCarriedConversation lets a client give everything back through the
// handler, and looks at what the upstream is asked then.
func TestCarriedConversation(t *testing.T) {
	for _, late := range []bool{false, true} {
		for _, strict := range []bool{false, true} {
			testConversation(t, late, strict)
		}
	}
}

func testConversation(t *testing.T, late, strict bool) {
	var asked *upstream.Request
	up := upstream.Func(func(_ context.Context, r *upstream.Request, w *upstream.Writer) error {
		asked = r
		if !strict { // or it would have to be signed
			_ = w.Thinking("Let me see.")
		}
		_ = w.Text("Both.")
		id := fmt.Sprint("a", len(r.Turns)/2)
		if late { // before the arguments
			c := w.ToolCall(id, "f")
			_ = w.Signature(theirSign("c2ln"))
			_ = c.Input(`{"x":1}`)
			_ = c.Close()
		} else {
			_ = w.Part(&content.ToolUse{ID: id, Name: "f", Input: `{"x":1}`, Signature: theirSign("c2ln")})
		}
		return w.Part(&content.ToolUse{ID: fmt.Sprint("b", len(r.Turns)/2), Name: "f", Input: `{}`})
	})
	h := NewHandler(up, &Options{HandlerOptions: upstream.HandlerOptions{Strict: strict}})
	turns := []string{`{"role":"user","content":"go"}`}
	for n := range 4 {
		stream := n%2 == 0
		w := httptest.NewRecorder()
		h.ServeHTTP(w, post(fmt.Sprintf(`{"model":"m","max_tokens":9000,"thinking":{"type":"adaptive"},"stream":%v,"tools":[{"name":"f","input_schema":{"type":"object"}}],"messages":[%s]}`,
			stream, strings.Join(turns, ","))))
		if w.Code != 200 || w.Header().Get("Polywire-Loss") != "" {
			t.Fatalf("%d %q %s", w.Code, w.Header(), w.Body)
		}
		if n > 0 && upstream.WireOf(asked, Format) != nil {
			t.Error("a document with envelopes is passed on")
		}
		for i, turn := range asked.Turns {
			if turn.Role != content.RoleAssistant {
				continue
			}
			want := []string{`*content.Thinking "Let me see."  ""`}
			if strict {
				want = nil
			}
			want = append(want, `*content.Text "Both."  ""`,
				`*content.ToolUse "a`+fmt.Sprint(i/2)+`" generatecontent "c2ln"`, `*content.ToolUse "b`+fmt.Sprint(i/2)+`"  ""`)
			if diff := cmp.Diff(want, signs(restored(t, turn.Parts), nil)); diff != "" {
				t.Errorf("turn %d (-want +got):\n%s", i, diff)
			}
		}
		said, ids := replayed(t, stream, w.Body.String())
		turns = append(turns, said, fmt.Sprintf(`{"role":"user","content":[`+
			`{"type":"tool_result","tool_use_id":%q,"content":"1"},{"type":"tool_result","tool_use_id":%q,"content":"2"}]}`, ids[0], ids[1]))
	}
}

// replayed returns the assistant's turn that a client makes of an answer, and the
// ids of its calls.
func replayed(t *testing.T, stream bool, body string) (turn string, ids []string) {
	t.Helper()
	var message map[string]any
	if stream {
		a, err := accumulate(body)
		if err != nil {
			t.Fatal(err)
		}
		message = a.message
	} else {
		m, err := decode([]byte(body))
		if err != nil {
			t.Fatal(err)
		}
		message = m
	}
	for _, b := range message["content"].([]any) {
		if b := b.(map[string]any); b["type"] == "tool_use" {
			ids = append(ids, fmt.Sprint(b["id"]))
			delete(b, "caller")
		} else if b["type"] == "text" {
			delete(b, "citations")
		}
	}
	doc, err := json.Marshal(map[string]any{"role": "assistant", "content": message["content"]})
	if err != nil {
		t.Fatal(err)
	}
	return string(doc), ids
}

// damage is a conversation whose envelopes did not all come back as they were.
func damage(t *testing.T) string {
	t.Helper()
	good, _ := envelope.Encode(theirs, envelope.KindPart, "Z29vZA==")
	wrong, _ := envelope.Encode(theirs, envelope.KindThinking, "[]")
	own, _ := envelope.Encode(Format, envelope.KindPart, "b3du")
	return fmt.Sprintf(`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[`+
		`{"type":"thinking","thinking":"1","signature":%q},{"type":"thinking","thinking":"2","signature":%q},`+
		`{"type":"redacted_thinking","data":%q},{"type":"thinking","thinking":"3","signature":%q},`+
		`{"type":"thinking","thinking":"4","signature":"plain"},{"type":"thinking","thinking":"5","signature":%q},{"type":"text","text":"b"}]},`+
		`{"role":"user","content":"c"}]}`, good, good[:len(good)-1], strings.Replace(good, ".s", ".n", 1), wrong, own)
}

func TestDamagedEnvelopes(t *testing.T) {
	r, err := ParseRequestString(damage(t))
	if err != nil {
		t.Fatal(err)
	}
	n := r.Upstream()
	var got []content.Signature
	for _, p := range n.Turns[1].Parts[:6] {
		th := p.(*content.Thinking)
		if got = append(got, th.Signature); th.Redacted.Data != "" {
			got[len(got)-1] = content.Signature{Format: th.Redacted.Format, Data: "redacted"}
		}
	}
	for i := range got {
		if got[i].Format == "" && got[i].Data != "redacted" {
			got[i].Data = "damaged"
		}
	}
	want := []content.Signature{theirSign("Z29vZA=="), {Data: "damaged"}, {Data: "redacted"}, {Data: "damaged"},
		{Format: Format, Data: "plain"}, {Format: Format, Data: "b3du"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if upstream.WireOf(n, Format) != nil {
		t.Error("the document is passed on")
	}
	if n.Turns[1].Parts[6] != r.Messages[1].Parts[6] || n.Turns[1].Parts[4] != r.Messages[1].Parts[4] || &n.Turns[0].Parts[0] != &r.Messages[0].Parts[0] {
		t.Error("more was copied than had to be")
	}
	if sig := r.Messages[1].Parts[0].(*content.Thinking).Signature; sig.Format != Format || !envelope.IsEnvelope(sig.Data) {
		t.Errorf("the request itself was changed: %v", sig)
	}
}

func TestDamagedEnvelopesTold(t *testing.T) {
	wantLosses := []content.Loss{envelope.Damaged.At("turns.1.parts.1.signature"), envelope.Damaged.At("turns.1.parts.2.signature"),
		envelope.Damaged.At("turns.1.parts.3.signature")}
	body := damage(t)
	calls := 0
	up := upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		calls++
		return w.Text("x")
	})
	for _, refuse := range []content.Severity{0, content.LossHint, content.LossDropped} {
		for _, stream := range []string{"false", "true"} {
			var report *upstream.Report
			var heard []content.Loss
			h := NewHandler(up, &Options{HandlerOptions: upstream.HandlerOptions{RejectLoss: refuse,
				OnDone: func(_ context.Context, r *upstream.Report) { report = r },
				OnLoss: func(_ context.Context, l []content.Loss) { heard = append(heard, l...) }}})
			w := httptest.NewRecorder()
			calls = 0
			h.ServeHTTP(w, post(strings.Replace(body, `{"model"`, `{"stream":`+stream+`,"model"`, 1)))
			if diff := cmp.Diff(wantLosses, report.Losses); diff != "" {
				t.Errorf("report (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(wantLosses, heard); diff != "" {
				t.Errorf("OnLoss (-want +got):\n%s", diff)
			}
			if refuse != 0 {
				if w.Code != 400 || calls != 0 || !strings.Contains(w.Body.String(), "messages.1.content.1.") {
					t.Errorf("refusing %v: %d calls, %d %s", refuse, calls, w.Code, w.Body)
				}
			} else if w.Code != 200 || !strings.HasPrefix(w.Header().Get("Polywire-Loss"), "dropped messages.1.content.1") {
				t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
			}
		}
	}
}

func TestDamagedEnvelopesCounted(t *testing.T) {
	var heard []content.Loss
	h := NewHandler(upstream.Func(func(context.Context, *upstream.Request, *upstream.Writer) error { return nil }),
		&Options{HandlerOptions: upstream.HandlerOptions{OnLoss: func(_ context.Context, l []content.Loss) { heard = append(heard, l...) }}})
	r := post(strings.Replace(damage(t), `"max_tokens":9,`, "", 1))
	r.URL.Path += "/count_tokens"
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code != 200 || len(heard) != 3 || w.Header().Get("Polywire-Loss") == "" {
		t.Errorf("%d %v %v %s", w.Code, heard, w.Header(), w.Body)
	}
}
