package envelope

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
)

func TestNeighbour(t *testing.T) {
	for _, k := range []Kind{Next, Last, NextCall, LastCall} {
		sig := Neighbour("generatecontent", k, "c2ln")
		if got, data, ok := OfNeighbour(sig); !ok || got != k || data != "c2ln" {
			t.Errorf("%c became %c %q %v", k, got, data, ok)
		}
	}
	for _, data := range []string{"", "xyz", "sig", "\x00"} {
		if _, _, ok := OfNeighbour(content.Signature{Data: data}); ok {
			t.Errorf("%q is a neighbour's", data)
		}
	}
}

// turnsOf makes turns of words: "user" is a turn of the user, "|" begins another one
// of the assistant's, "<n:1" is the neighbour's signature "1" of the kind n, all
// else is of stretchOf.
func turnsOf(words string) (turns []content.Turn) {
	for _, turn := range strings.Split(words, "|") {
		if turn == "user" {
			turns = append(turns, content.Turn{Role: content.RoleUser, Parts: stretchOf("q")})
			continue
		}
		t := content.Turn{Role: content.RoleAssistant}
		for _, w := range strings.Split(turn, ",") {
			if sig, ok := strings.CutPrefix(w, "<"); ok {
				t.Parts = append(t.Parts, &content.Thinking{Redacted: Neighbour("f", Kind(sig[0]), sig[2:])})
				continue
			}
			t.Parts = append(t.Parts, stretchOf(w)...)
		}
		turns = append(turns, t)
	}
	return turns
}

// signedWords says what turns have become: behind each part is its signature.
func signedWords(turns []content.Turn) string {
	var list []string
	for _, t := range turns {
		var words []string
		for _, p := range t.Parts {
			switch w := wordsOf([]content.Part{p}); {
			case p == Taken:
				words = append(words, "-")
			case Of(p).Data != "":
				words = append(words, w+">"+Of(p).Data)
			default:
				words = append(words, w)
			}
		}
		list = append(list, strings.Join(words, ","))
	}
	return strings.Join(list, "|")
}

func TestRejoin(t *testing.T) {
	tests := []struct{ name, turns, want string }{
		{"nothing", "a,call", "a,call"},
		{"in front and behind", "<n:1,a,<N:2,call,call,<P:3,b,<p:4", "-,a>1,-,call>2,call>3,-,b>4,-"},
		{"in turns of their own", "<n:1|a|<N:2|call|b|<p:3", "-|a>1|-|call>2|b>3|-"},
		{"not past the user", "user|a|user|<p:1|user|<n:2|user|b", "q|a|q|>1|q|>2|q|b"},
		{"the text is gone, a call follows", "<n:1,call,<N:2,call", ">1,call,-,call>2"},
		{"the call is gone, a text follows", "<N:1,a", ">1,a"},
		{"the text is gone behind a call", "call,<p:1", "call,>1"},
		{"the call is gone behind a text", "a,<P:1,b", "a,>1,b"},
		{"all is gone", "<n:1,<N:2,<p:3", ">1,>2,>3"},
		{"never on a file or a thought", "<n:1,img,<p:2,<n:3,hm,<p:4", ">1,img,>2,>3,hm,>4"},
		{"never twice", "<n:1,a,<p:2", "-,a>1,>2"},
		{"no part", "<n:1,nil,<p:2", ">1,nil,>2"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			from := turnsOf(tt.turns)
			if diff := cmp.Diff(tt.want, signedWords(Rejoin("f", from))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(turnsOf(tt.turns), from); diff != "" {
				t.Errorf("the turns themselves changed:\n%s", diff)
			}
			if got := Rejoin("g", from); &got[0] != &from[0] {
				t.Error("another vendor's were copied")
			}
		})
	}
}
