package messages

import (
	"context"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/lower"
	"github.com/polywire/polywire/internal/snapshot"
	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/internal/test/lossplaces"
	"github.com/polywire/polywire/upstream"
)

const theirs = content.Format("generatecontent")

func vendorSignature(data string) content.Signature {
	return content.Signature{Format: theirs, Data: data}
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

// responses is the format of a third vendor.
const responses = content.Format("openai-responses")

// encode streams batches of events.
func encode(batches [][]upstream.Event) (stream string, lost []content.Loss) {
	return encodeIn(placement{}, batches)
}

func encodeIn(where placement, batches [][]upstream.Event) (stream string, lost []content.Loss) {
	s := newStream("req_1", "msg_1", "asked", nil)
	s.blocks.placement = where
	var out []byte
	for _, batch := range batches {
		out = s.Events(out, batch)
		lost = append(lost, s.Losses()...)
	}
	out = s.End(out, nil)
	return string(out), append(lost, s.Losses()...)
}

// TestCarriedBytes pins the places where a stream carries state.
func TestCarriedBytes(t *testing.T) {
	up := upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		_ = w.Thinking("Hm")
		_ = w.Part(&content.ToolUse{ID: "a", Name: "f", Signature: vendorSignature("Yg==")})
		_ = w.Part(&content.ToolUse{ID: "c", Name: "f", Signature: vendorSignature("ZA==")})
		_ = w.Text("Bye")
		_ = w.Signature(vendorSignature("Yw=="))
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
	inBlock, _ := envelope.EncodeCall(vendorSignature("Yg=="), "a")
	text := map[string]any{"type": "text", "text": "Bye"}
	for where, want := range map[placement][]any{
		{}:                    {thinking(envelope.Unsigned), call(encoded("a", "Yg==")), call(encoded("c", "ZA==")), text, call("b")},
		{returnsBlocks: true}: {thinking(inBlock), call("toolu_pwblk_a"), call(encoded("c", "ZA==")), text, call("b")},
		{hideThinking: true}:  {call(encoded("a", "Yg==")), call(encoded("c", "ZA==")), text, call("b")},
	} {
		stream, lost := encodeIn(where, batchesOf(t, up))
		a, err := formattest.ReadMessage(stream)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, a.Object["content"]); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", where, diff)
		}
		if n := strings.Count(stream, "signature_delta"); n > 1 {
			t.Errorf("%d signature deltas", n)
		}
		reply, err := upstream.Collect(t.Context(), up, &upstream.Request{})
		if err != nil {
			t.Fatal(err)
		}
		res, wholeLost := convertResponse(reply, nil, where)
		doc, _ := res.AppendJSON(nil)
		m, err := formattest.DecodeObject(doc)
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

func ownID(t testing.TB, id, data string) string {
	t.Helper()
	s, ok := envelope.EncodeID(id, envelope.Envelope{Format: theirs, Kind: envelope.KindPart, Data: data})
	if !ok {
		t.Fatalf("%q cannot be encoded", id)
	}
	return s
}

// TestDecodedIDs checks that decoded ids of tool calls and results are distinct, for every
// change by a client, and at most 40 bytes long if they are damaged.
func TestDecodedIDs(t *testing.T) {
	a, b, plain := ownID(t, "a", "QQ=="), ownID(t, "b", "Qg=="), ownID(t, "p", "UA==")
	long := ownID(t, "l", strings.Repeat("QUJD", 100))
	forged, _ := envelope.EncodeID("a", envelope.Envelope{Format: theirs, Kind: envelope.KindPart, Data: "WA=="})
	thoughts, _ := envelope.EncodeID("t", envelope.Envelope{Format: theirs, Kind: envelope.KindThinking, Data: "[]"})
	for name, tt := range map[string]struct {
		ids     []string
		want    []string // id and signature
		damaged []int
	}{
		"unchanged":                             {[]string{a, b, "c"}, []string{"a QQ==", "b Qg==", "c "}, nil},
		"cut":                                   {[]string{long[:64], long[:40]}, []string{envelope.HashedID(long[:64]) + " ", long[:40] + " "}, []int{0, 1}},
		"in lower case":                         {[]string{strings.ToLower(long)}, []string{envelope.HashedID(strings.ToLower(long)) + " "}, []int{0}},
		"two encodings of one id":               {[]string{a, forged}, []string{"a QQ==", envelope.HashedID(forged) + " "}, []int{1}},
		"contains the id of another call":       {[]string{plain, "p"}, []string{envelope.HashedID(plain) + " ", "p "}, []int{0}},
		"the hash is the id of another":         {[]string{envelope.HashedID(plain), plain, "p"}, []string{envelope.HashedID(plain) + " ", envelope.HashedID(envelope.HashedID(plain)) + " ", "p "}, []int{1}},
		"marked, block dropped":                 {[]string{"toolu_pwblk_m"}, []string{"m "}, nil},
		"marked, forged":                        {[]string{"toolu_pwblk_", "toolu_pwblk_a.b", "toolu_pwblk_" + strings.Repeat("x", 60)}, []string{"toolu_pwblk_ ", "toolu_pwblk_a.b ", envelope.HashedID("toolu_pwblk_"+strings.Repeat("x", 60)) + " "}, []int{0, 1, 2}},
		"thinking of a vendor that signs calls": {[]string{thoughts}, []string{envelope.DamagedID(thoughts) + " "}, []int{0}},
	} {
		t.Run(name, func(t *testing.T) {
			var calls, results []string
			for _, id := range tt.ids {
				calls = append(calls, fmt.Sprintf(`{"type":"tool_use","id":%q,"name":"f","input":{}}`, id))
				results = append(results, fmt.Sprintf(`{"type":"tool_result","tool_use_id":%q}`, id))
			}
			r, err := ParseRequest([]byte(fmt.Sprintf(`{"model":"m","max_tokens":9,"tools":[{"name":"f","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[%s]},{"role":"user","content":[%s]}]}`,
				strings.Join(calls, ","), strings.Join(results, ","))))
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Validate(nil); err != nil {
				t.Fatal(err)
			}
			n, lost := r.withDocument(nil)
			var got, paired []string
			for i, p := range n.Turns[1].Parts {
				c := p.(*content.ToolUse)
				got = append(got, c.ID+" "+c.Signature.Data)
				paired = append(paired, n.Turns[2].Parts[i].(*content.ToolResult).ID+" "+c.Signature.Data)
			}
			if diff := cmp.Diff([][]string{tt.want, tt.want}, [][]string{got, paired}); diff != "" {
				t.Errorf("calls, results (-want +got):\n%s", diff)
			}
			var want []content.Loss
			if name == "marked, block dropped" {
				want = append(want, envelope.NotReturned.At("turns.1.parts.0.signature"))
			}
			for _, i := range tt.damaged {
				want = append(want, envelope.Damaged.At(fmt.Sprintf("turns.1.parts.%d.signature", i)))
				if path := r.Path(want[len(want)-1].Path); path != fmt.Sprintf("messages.1.content.%d.id", i) && envelope.IsReservedID(tt.ids[i]) {
					t.Errorf("the loss is at %s", path)
				}
			}
			if diff := cmp.Diff(want, lossplaces.Of(lost)); diff != "" {
				t.Errorf("losses (-want +got):\n%s", diff)
			}
		})
	}
}

// TestPlacementOf checks for which requests the state of a tool call is in its id, and for
// which in the thinking before it.
func TestPlacementOf(t *testing.T) {
	kept, _ := envelope.EncodeCall(vendorSignature("QQ=="), "a")
	block := func(signature string) string {
		return fmt.Sprintf(`{"type":"thinking","thinking":"Hm","signature":%q},`, signature)
	}
	unsigned := `{"type":"thinking","thinking":"Hm"},`
	call := `{"type":"tool_use","id":"toolu_pwblk_a","name":"f","input":{}}`
	result := `{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_pwblk_a"}]}`
	history := func(before string) string {
		return `,{"role":"assistant","content":[` + before + call + `]},` + result
	}
	own, _ := envelope.Encode(responses, envelope.KindPart, "{}")
	const asks = `"thinking":{"type":"adaptive"},`
	for name, tt := range map[string]struct {
		members, history string
		want             placement
	}{
		"thinking not requested":    {"", "", placement{hideThinking: true}},
		"thinking off":              {`"thinking":{"type":"disabled"},`, "", placement{hideThinking: true}},
		"asked":                     {asks, "", placement{returnsBlocks: true}},
		"text omitted":              {`"thinking":{"type":"adaptive","display":"omitted"},`, "", placement{returnsBlocks: true, omitText: true}},
		"block returned":            {asks, history(block(kept)), placement{returnsBlocks: true}},
		"block dropped":             {asks, history(""), placement{}},
		"signature dropped":         {asks, history(unsigned), placement{}},
		"signature empty":           {asks, history(block("")), placement{}},
		"signature damaged":         {asks, history(block(kept[:len(kept)-1])), placement{}},
		"thinking returned":         {asks, history(block(own)), placement{returnsBlocks: true}},
		"one of two blocks dropped": {asks, history(block(kept)) + `,{"role":"assistant","content":[` + strings.ReplaceAll(call, "_a", "_b") + `]},` + strings.ReplaceAll(result, "_a", "_b"), placement{}},
		"id of the call replaced":   {asks, strings.ReplaceAll(history(block(kept)), "toolu_pwblk_a", "toolu_1"), placement{returnsBlocks: true}},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := ParseRequest([]byte(`{"model":"m","max_tokens":9,` + tt.members + `"messages":[{"role":"user","content":"a"}` + tt.history + `]}`))
			if err != nil {
				t.Fatal(err)
			}
			n, _ := r.withDocument(nil)
			if got := placementOf(n); got != tt.want {
				t.Errorf("%+v, want %+v", got, tt.want)
			}
		})
	}
}

// TestUnsignedThinking checks that thinking without a signature passes to the same format with
// its document, and is dropped with a hint where a signature is required.
func TestUnsignedThinking(t *testing.T) {
	for name, tt := range map[string]struct {
		signature string
		passes    bool
	}{
		"none":                             {``, true},
		"block sent for unsigned thinking": {`,"signature":"` + envelope.Unsigned + `"`, false},
		"empty":                            {`,"signature":""`, false},
	} {
		t.Run(name, func(t *testing.T) {
			var asked *upstream.Request
			h := NewHandler(upstream.Func(func(_ context.Context, r *upstream.Request, w *upstream.Writer) error {
				asked = r
				return w.Text("a")
			}), nil)
			w := httptest.NewRecorder()
			h.ServeHTTP(w, post(`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"thinking","thinking":"Hm"`+
				tt.signature+`},{"type":"text","text":"b"}]},{"role":"user","content":"c"}]}`))
			if w.Code != 200 || w.Header().Get("Polywire-Loss") != "" {
				t.Fatalf("%d %s %s", w.Code, w.Header().Get("Polywire-Loss"), w.Body)
			}
			if passes := snapshot.DocumentOf(asked, Format) != nil; passes != tt.passes {
				t.Errorf("the document passes: %v", passes)
			}
			to, lost, _ := RequestFromUpstream(asked)
			if len(to.Messages[1].Parts) != 1 {
				t.Errorf("parts of the request: %v", to.Messages[1].Parts)
			}
			if diff := cmp.Diff([]content.Loss{lower.Thinking.At("turns.1.parts.0")}, lost); diff != "" {
				t.Errorf("losses (-want +got):\n%s", diff)
			}
		})
	}
}

// FuzzIDs alters the ids of tool calls and the signature of the thinking before them. A request
// with matching calls and results is never rejected, and ids that are distinct remain so.
func FuzzIDs(f *testing.F) {
	kept, _ := envelope.EncodeCall(vendorSignature("QQ=="), "a")
	for _, id := range []string{ownID(f, "a", "QQ=="), ownID(f, "a", strings.Repeat("QUJD", 100)), "toolu_pwblk_a", "toolu_pwcut_a", "a"} {
		f.Add(id, id+"x", kept)
		f.Add(id[:len(id)/2], strings.ToLower(id), kept[:len(kept)/2])
	}
	f.Fuzz(func(t *testing.T, one, two, signature string) {
		if quoted(one) == quoted(two) {
			return // only strict validation refuses equal ids
		}
		r, err := ParseRequest([]byte(fmt.Sprintf(`{"model":"m","max_tokens":9,"tools":[{"name":"f","input_schema":{"type":"object"}}],"thinking":{"type":"adaptive"},"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[`+
			`{"type":"thinking","thinking":"Hm","signature":%[3]s},{"type":"tool_use","id":%[1]s,"name":"f","input":{}},{"type":"tool_use","id":%[2]s,"name":"f","input":{}}]},`+
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":%[1]s},{"type":"tool_result","tool_use_id":%[2]s}]}]}`, quoted(one), quoted(two), quoted(signature))))
		if err != nil || r.Validate(nil) != nil {
			return
		}
		n, _ := r.withDocument(nil)
		calls, results := n.Turns[1].Parts, n.Turns[2].Parts
		seen := map[string]bool{}
		for i, p := range results {
			id := calls[i+1].(*content.ToolUse).ID
			if got := p.(*content.ToolResult).ID; got != id || seen[id] || id == "" {
				t.Errorf("%q %q: call %q, result %q", one, two, id, got)
			}
			seen[id] = true
			if came := r.Messages[1].Parts[i+1].(*content.ToolUse).ID; envelope.IsReservedID(came) && len(id) > max(36, len(came)) {
				t.Errorf("%q became %q", came, id)
			}
		}
	})
}

func quoted(s string) string {
	b := []byte{'"'}
	for _, r := range s {
		b = fmt.Appendf(b, `\u%04x`, min(r, 0xD7FF))
	}
	return string(append(b, '"'))
}

// keeps is the placement for a client that asked for thinking and returns blocks.
var keeps = placement{returnsBlocks: true}

// theirSignature returns a signature of another vendor.
func theirSignature(data string) content.Signature {
	return content.Signature{Format: responses, Data: data}
}

// TestTextSignature checks that the signature of a text of another vendor is reported and adds no
// block, whole or streamed, whenever it arrives: agents print the last block.
func TestTextSignature(t *testing.T) {
	signature := theirSignature("dGV4dA==")
	opens := func(n int, s content.Signature) upstream.Event {
		return upstream.Event{Kind: upstream.EventOpen, Block: n, Part: &content.Text{Signature: s}}
	}
	done := upstream.Event{Kind: upstream.EventText, Text: "Done"}
	signs := upstream.Event{Kind: upstream.EventSignature, Signature: &signature}
	closes := func(n int) upstream.Event { return upstream.Event{Kind: upstream.EventClose, Block: n} }
	none := content.Signature{}
	tests := map[string][]upstream.Event{
		"signed at its start": {opens(0, signature), done, closes(0)},
		"signed while open":   {opens(0, none), done, signs, closes(0)},
		"signed late":         {opens(0, none), done, closes(0), signs},
		"signed without text": {opens(0, none), signs, done, closes(0)},
		"empty text after it": {opens(0, none), done, closes(0), opens(1, signature), closes(1)},
	}
	want := []any{map[string]any{"type": "text", "text": "Done"}}
	for name, events := range tests {
		var single [][]upstream.Event
		for i := range events {
			single = append(single, events[i:i+1])
		}
		path := "parts.0"
		if name == "empty text after it" {
			path = "parts.1"
		}
		for way, batches := range map[string][][]upstream.Event{"event by event": single, "at once": {events}} {
			t.Run(name+", "+way, func(t *testing.T) {
				stream, lost := encodeIn(keeps, slices.Clone(batches))
				a, err := formattest.ReadMessage(stream)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, a.Object["content"]); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				if diff := cmp.Diff([]content.Loss{lossTextSignature.At(path)}, lost); diff != "" {
					t.Errorf("losses (-want +got):\n%s", diff)
				}
			})
		}
	}
	res, lost := convertResponse(&upstream.Response{Parts: []content.Part{
		&content.Text{Text: "Done", Signature: signature}, &content.Text{Signature: signature},
	}}, nil, keeps)
	if diff := cmp.Diff([]content.Part{&content.Text{Text: "Done"}}, res.Content); diff != "" {
		t.Errorf("whole (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]content.Loss{lossTextSignature.At("parts.0"), lossTextSignature.At("parts.1")}, lossplaces.Of(lost)); diff != "" {
		t.Errorf("losses of a whole response (-want +got):\n%s", diff)
	}
}

// TestLateSignature checks that thinking may be signed until the next block.
func TestLateSignature(t *testing.T) {
	stream, lost := encodeIn(keeps, [][]upstream.Event{
		{{Kind: upstream.EventOpen, Block: 0, Part: &content.Thinking{}}, {Kind: upstream.EventText, Block: 0, Text: "Hm"}, {Kind: upstream.EventClose, Block: 0}},
		{{Kind: upstream.EventSignature, Block: 0, Signature: new(theirSignature("MQ=="))}},
		{{Kind: upstream.EventOpen, Block: 1, Part: &content.ToolUse{ID: "a", Name: "f"}}},
		{{Kind: upstream.EventInput, Block: 1, Text: "{}"}}, // its block begins
		{{Kind: upstream.EventSignature, Block: 0, Signature: new(theirSignature("Mg=="))}},
		{{Kind: upstream.EventClose, Block: 1}},
		{{Kind: upstream.EventSignature, Block: 1, Signature: new(theirSignature("Mw=="))}},
		{{Kind: upstream.EventSignature, Block: 1, Signature: new(theirSignature("NA=="))}},
	})
	a, err := formattest.ReadMessage(stream)
	if err != nil {
		t.Fatal(err)
	}
	own, _ := envelope.Encode(responses, envelope.KindPart, "MQ==")
	want := []any{
		map[string]any{"type": "thinking", "thinking": "Hm", "signature": own},
		map[string]any{"type": "tool_use", "id": "toolu_pwblk_a", "name": "f", "input": map[string]any{}, "caller": map[string]any{"type": "direct"}},
	}
	if diff := cmp.Diff(want, a.Object["content"]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]content.Loss{envelope.TooLate.At("parts.0"), envelope.TooLate.At("parts.1"), envelope.TooLate.At("parts.1")}, lost); diff != "" {
		t.Errorf("losses (-want +got):\n%s", diff)
	}
}
