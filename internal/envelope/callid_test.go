package envelope

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/loss"
)

// TestCallID checks where the state of a call and of the thinking before it is, for a client
// that returns nothing but ids.
func TestCallID(t *testing.T) {
	signature := content.Signature{Format: "vendor", Data: "c2ln"}
	thinking := func(p *Pending, room *int) {
		p.Open(1, 1, &content.Thinking{Signature: signature}, room)
		p.AppendText(1, "Hm", room)
		p.Close(1)
	}
	tooLarge := content.Signature{Format: "vendor", Data: strings.Repeat("~", MaxIDSize)}
	encoded := func(id string, e Envelope) string {
		s, ok := EncodeID(id, e)
		if !ok {
			t.Fatalf("%q cannot be encoded", id)
		}
		return s
	}
	list := EncodeThinking([]*content.Thinking{{Text: "Hm", Signature: signature}})
	for name, tt := range map[string]struct {
		id       string
		own      content.Signature
		pending  func(p *Pending, room *int)
		inBlocks bool
		want     string
		lost     []content.Loss
	}{
		"no state":                  {id: "a", want: "a"},
		"its signature":             {id: "a", own: signature, want: encoded("a", Envelope{Format: "vendor", Kind: KindPart, Data: "c2ln"})},
		"thinking":                  {id: "a", pending: thinking, want: encoded("a", Envelope{Format: "vendor", Kind: KindThinking, Data: list})},
		"state in blocks":           {id: "a", inBlocks: true, want: "toolu_pwblk_a"},
		"state in blocks, long id":  {id: strings.Repeat("a", 60), inBlocks: true, want: strings.Repeat("a", 60)},
		"reserved":                  {id: "toolu_pwsig_x", want: encoded("toolu_pwsig_x", Envelope{Kind: KindIDOnly})},
		"reserved and unusual":      {id: "toolu_pwsig_\x00", want: HashedID("toolu_pwsig_\x00")},
		"a signature too large":     {id: "a", own: tooLarge, want: "a", lost: []content.Loss{TooLarge.At("7")}},
		"thinking, unusual call id": {id: "a\x00", pending: thinking, want: "a\x00", lost: []content.Loss{TooLarge.At("1")}},
	} {
		var p Pending
		var lost []content.Loss
		room := 1 << 20
		if tt.pending != nil {
			tt.pending(&p, &room)
		}
		got := p.CallID(7, tt.id, tt.own, tt.inBlocks, &room, func(n int, r *loss.Rule) { lost = append(lost, r.At(string(rune('0'+n)))) })
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(tt.lost, lost); diff != "" {
			t.Errorf("%s: losses (-want +got):\n%s", name, diff)
		}
		if room != 1<<20 {
			t.Errorf("%s: %d bytes of room are still used", name, 1<<20-room)
		}
	}
}

// TestDecodeIDs checks that the ids of a request stay distinct, whatever a client does to
// them, and that a call and its result still match.
func TestDecodeIDs(t *testing.T) {
	encode := func(id string, k Kind, f content.Format, data string) string {
		s, _ := EncodeID(id, Envelope{Format: f, Kind: k, Data: data})
		return s
	}
	a, again := encode("a", KindPart, "vendor", "QQ=="), encode("a", KindPart, "vendor", "WA==")
	thinking := encode("t", KindThinking, "vendor", "[]")
	cut := strings.Repeat("toolu_pwsig_", 5)
	for name, tt := range map[string]struct {
		ids     []string
		want    []string // id and signature
		damaged []int
	}{
		"plain":                   {[]string{"a", "b"}, []string{"a ", "b "}, nil},
		"state of a call":         {[]string{a, "b"}, []string{"a QQ==", "b "}, nil},
		"state of thinking":       {[]string{thinking}, []string{"t []"}, nil},
		"marked":                  {[]string{"toolu_pwblk_m"}, []string{"m "}, nil},
		"marked, altered":         {[]string{"toolu_pwblk_a.b"}, []string{"toolu_pwblk_a.b "}, []int{0}},
		"cut":                     {[]string{cut}, []string{HashedID(cut) + " "}, []int{0}},
		"two encodings of one id": {[]string{a, again}, []string{"a QQ==", HashedID(again) + " "}, []int{1}},
		"the id of another call":  {[]string{a, "a"}, []string{HashedID(a) + " ", "a "}, []int{0}},
		"the hash is taken":       {[]string{HashedID(a), a, "a"}, []string{HashedID(a) + " ", HashedID(HashedID(a)) + " ", "a "}, []int{1}},
	} {
		turns := make([]content.Turn, 2)
		for _, id := range tt.ids {
			turns[0].Parts = append(turns[0].Parts, &content.ToolUse{ID: id})
			turns[1].Parts = append(turns[1].Parts, &content.ToolResult{ID: id})
		}
		ids := DecodeIDs(turns)
		var got, results []string
		var damaged []int
		for i, p := range turns[0].Parts {
			q, r := ids.Decode(p)
			if r == Damaged {
				damaged = append(damaged, i)
			}
			c := q.(*content.ToolUse)
			result, _ := ids.Decode(turns[1].Parts[i])
			got = append(got, c.ID+" "+c.Signature.Data)
			results = append(results, result.(*content.ToolResult).ID+" "+c.Signature.Data)
		}
		if diff := cmp.Diff([][]string{tt.want, tt.want}, [][]string{got, results}); diff != "" {
			t.Errorf("%s: calls, results (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(tt.damaged, damaged); diff != "" {
			t.Errorf("%s: damaged (-want +got):\n%s", name, diff)
		}
	}
	for _, p := range []content.Part{nil, (*content.ToolUse)(nil), (*content.ToolResult)(nil), &content.Text{}} {
		if q, r := (CallIDs{}).Decode(p); q != p || r != nil {
			t.Errorf("%T became %v, %v", p, q, r)
		}
	}
}
