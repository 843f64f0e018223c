package messages

import (
	"context"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/upstream"
)

func ownID(t testing.TB, id, data string) string {
	t.Helper()
	s, ok := envelope.EncodeID(id, envelope.Envelope{Format: theirs, Kind: envelope.KindPart, Data: data})
	if !ok {
		t.Fatalf("%q cannot be encoded", id)
	}
	return s
}

// TestDecodedIDs checks what becomes of the ids of calls and results on the way
// in: those inside, different from each other whatever the client has made of
// them, and never longer than 40 bytes where they are damaged.
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
		"as they were":                          {[]string{a, b, "c"}, []string{"a QQ==", "b Qg==", "c "}, nil},
		"cut":                                   {[]string{long[:64], long[:40]}, []string{envelope.HashedID(long[:64]) + " ", long[:40] + " "}, []int{0, 1}},
		"in lower case":                         {[]string{strings.ToLower(long)}, []string{envelope.HashedID(strings.ToLower(long)) + " "}, []int{0}},
		"one id inside of two":                  {[]string{a, forged}, []string{"a QQ==", envelope.HashedID(forged) + " "}, []int{1}},
		"inside is the id of another":           {[]string{plain, "p"}, []string{envelope.HashedID(plain) + " ", "p "}, []int{0}},
		"the hash is the id of another":         {[]string{envelope.HashedID(plain), plain, "p"}, []string{envelope.HashedID(plain) + " ", envelope.HashedID(envelope.HashedID(plain)) + " ", "p "}, []int{1}},
		"marked, its block is gone":             {[]string{"toolu_pwblk_m"}, []string{"m "}, nil},
		"marked, and forged":                    {[]string{"toolu_pwblk_", "toolu_pwblk_a.b", "toolu_pwblk_" + strings.Repeat("x", 60)}, []string{"toolu_pwblk_ ", "toolu_pwblk_a.b ", envelope.HashedID("toolu_pwblk_"+strings.Repeat("x", 60)) + " "}, []int{0, 1, 2}},
		"thoughts of a vendor that signs calls": {[]string{thoughts}, []string{envelope.DamagedID(thoughts) + " "}, []int{0}},
	} {
		t.Run(name, func(t *testing.T) {
			var calls, results []string
			for _, id := range tt.ids {
				calls = append(calls, fmt.Sprintf(`{"type":"tool_use","id":%q,"name":"f","input":{}}`, id))
				results = append(results, fmt.Sprintf(`{"type":"tool_result","tool_use_id":%q}`, id))
			}
			r, err := ParseRequestString(fmt.Sprintf(`{"model":"m","max_tokens":9,"tools":[{"name":"f","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[%s]},{"role":"user","content":[%s]}]}`,
				strings.Join(calls, ","), strings.Join(results, ",")))
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Validate(nil); err != nil {
				t.Fatal(err)
			}
			n, _, lost := r.withDocument(nil)
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
			for _, i := range tt.damaged {
				want = append(want, envelope.Damaged.At(fmt.Sprintf("turns.1.parts.%d.signature", i)))
				if path := r.Path(want[len(want)-1].Path); path != fmt.Sprintf("messages.1.content.%d.id", i) && envelope.IsEncodedID(tt.ids[i]) {
					t.Errorf("the loss is at %s", path)
				}
			}
			if diff := cmp.Diff(want, lost); diff != "" {
				t.Errorf("losses (-want +got):\n%s", diff)
			}
		})
	}
}

// TestWhereStateGoes checks which requests have the state of a call in its id, and
// which in the thinking before it.
func TestWhereStateGoes(t *testing.T) {
	kept, _ := envelope.EncodeCall(theirSign("QQ=="), "a")
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
		"not asked":                           {"", "", placement{hideThinking: true}},
		"switched off":                        {`"thinking":{"type":"disabled"},`, "", placement{hideThinking: true}},
		"asked":                               {asks, "", placement{returnsBlocks: true}},
		"asked, and the block came back":      {asks, history(block(kept)), placement{returnsBlocks: true}},
		"asked, and the block is gone":        {asks, history(""), placement{}},
		"asked, and the signature is gone":    {asks, history(unsigned), placement{}},
		"asked, and the signature is empty":   {asks, history(block("")), placement{}},
		"asked, and the signature is damaged": {asks, history(block(kept[:len(kept)-1])), placement{}},
		"asked, and thinking came back":       {asks, history(block(own)), placement{returnsBlocks: true}},
		"asked, and one of two is gone":       {asks, history(block(kept)) + `,{"role":"assistant","content":[` + strings.ReplaceAll(call, "_a", "_b") + `]},` + strings.ReplaceAll(result, "_a", "_b"), placement{}},
		"asked, and the call has another id":  {asks, strings.ReplaceAll(history(block(kept)), "toolu_pwblk_a", "toolu_1"), placement{returnsBlocks: true}},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := ParseRequestString(`{"model":"m","max_tokens":9,` + tt.members + `"messages":[{"role":"user","content":"a"}` + tt.history + `]}`)
			if err != nil {
				t.Fatal(err)
			}
			if _, got, _ := r.withDocument(nil); got != tt.want {
				t.Errorf("%+v, want %+v", got, tt.want)
			}
		})
	}
}

// TestUnsignedThinking checks that thinking without a signature passes to the same
// format with its document, and is dropped with a hint where a signature is needed.
func TestUnsignedThinking(t *testing.T) {
	for name, tt := range map[string]struct {
		signature string
		passes    bool
	}{
		"none": {``, true},
		"what was sent for thinking that no vendor signed": {`,"signature":"` + envelope.Unsigned + `"`, false},
		"empty": {`,"signature":""`, false},
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
			if passes := upstream.WireOf(asked, Format) != nil; passes != tt.passes {
				t.Errorf("the document passes: %v", passes)
			}
			to, lost := RequestFromUpstream(asked)
			if len(to.Messages[1].Parts) != 1 {
				t.Errorf("parts of the request: %v", to.Messages[1].Parts)
			}
			if diff := cmp.Diff([]content.Loss{requestLosses[lostThought].At("turns.1.parts.0")}, lost); diff != "" {
				t.Errorf("losses (-want +got):\n%s", diff)
			}
		})
	}
}

// TestOldCarriers checks that what earlier versions have carried in blocks of
// redacted_thinking still opens, and that a signature which comes back twice is
// sent once.
func TestOldCarriers(t *testing.T) {
	for _, k := range []envelope.Kind{envelope.KindNextText, envelope.KindPreviousText, envelope.KindNextCall, envelope.KindPreviousCall, envelope.KindEmptyText, envelope.KindPart} {
		data, _ := envelope.Encode(theirs, k, "QQ==")
		r, err := ParseRequestString(fmt.Sprintf(`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[`+
			`{"type":"redacted_thinking","data":%q},{"type":"tool_use","id":"a","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}]}]}`, data))
		if err != nil {
			t.Fatal(err)
		}
		n, _, lost := r.withDocument(nil)
		if len(lost) > 0 {
			t.Errorf("%c: losses %v", k, lost)
		}
		switch p := n.Turns[1].Parts[0].(type) {
		case *content.Thinking:
			if p.Redacted.Format != theirs {
				t.Errorf("%c became %+v", k, p)
			}
		case *content.Text:
			if p.Signature != theirSign("QQ==") {
				t.Errorf("%c became %+v", k, p)
			}
		default:
			t.Errorf("%c became %+v", k, p)
		}
	}
}

// FuzzIDs has clients do anything to the ids of calls and to the signature of the
// thinking before them: a request whose calls and results match is never refused,
// and ids stay different.
func FuzzIDs(f *testing.F) {
	kept, _ := envelope.EncodeCall(theirSign("QQ=="), "a")
	for _, id := range []string{ownID(f, "a", "QQ=="), ownID(f, "a", strings.Repeat("QUJD", 100)), "toolu_pwblk_a", "toolu_pwcut_a", "a"} {
		f.Add(id, id+"x", kept)
		f.Add(id[:len(id)/2], strings.ToLower(id), kept[:len(kept)/2])
	}
	f.Fuzz(func(t *testing.T, one, two, signature string) {
		r, err := ParseRequestString(fmt.Sprintf(`{"model":"m","max_tokens":9,"tools":[{"name":"f","input_schema":{"type":"object"}}],"thinking":{"type":"adaptive"},"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[`+
			`{"type":"thinking","thinking":"Hm","signature":%[3]s},{"type":"tool_use","id":%[1]s,"name":"f","input":{}},{"type":"tool_use","id":%[2]s,"name":"f","input":{}}]},`+
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":%[1]s},{"type":"tool_result","tool_use_id":%[2]s}]}]}`, quoted(one), quoted(two), quoted(signature)))
		if err != nil || r.Validate(nil) != nil {
			return // such as the same id twice
		}
		n, _, _ := r.withDocument(nil)
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
