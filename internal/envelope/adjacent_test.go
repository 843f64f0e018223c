package envelope

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/partfield"
)

func TestAdjacentSignature(t *testing.T) {
	for _, k := range []Kind{KindNextText, KindPreviousText, KindNextCall, KindPreviousCall} {
		sig := AdjacentSignature("generatecontent", k, "c2ln")
		if got, data, ok := ParseAdjacentSignature(sig); !ok || got != k || data != "c2ln" {
			t.Errorf("%c parsed as %c %q %v", k, got, data, ok)
		}
	}
	for _, data := range []string{"", "xyz", "sig", "\x00"} {
		if _, _, ok := ParseAdjacentSignature(content.Signature{Data: data}); ok {
			t.Errorf("%q parsed", data)
		}
	}
}

// partsOf returns the parts that a list describes: "img" is an image, "call" a
// tool call, "hm" thinking without a signature, "nil" a nil part, and anything
// else a text.
func partsOf(words string) (parts []content.Part) {
	for _, w := range strings.Split(words, ",") {
		switch w {
		case "img":
			parts = append(parts, &content.Image{})
		case "call":
			parts = append(parts, &content.ToolUse{})
		case "hm":
			parts = append(parts, &content.Thinking{Text: "hm"})
		case "nil":
			parts = append(parts, (*content.Text)(nil))
		default:
			parts = append(parts, &content.Text{Text: w})
		}
	}
	return parts
}

// describe is the reverse of partsOf. It puts redacted data in brackets.
func describe(parts []content.Part) string {
	var words []string
	for _, p := range parts {
		switch p := p.(type) {
		case *content.Image:
			words = append(words, "img")
		case *content.ToolUse:
			words = append(words, "call")
		case *content.Thinking:
			if p.Redacted.Data != "" {
				words = append(words, "["+p.Redacted.Data+"]")
			} else {
				words = append(words, p.Text)
			}
		case *content.Text:
			if p == nil {
				words = append(words, "nil")
			} else {
				words = append(words, p.Text)
			}
		}
	}
	return strings.Join(words, ",")
}

// turnsOf returns the turns that a list describes: "user" is a user turn, "|"
// begins another turn, "<n:1" is the adjacent signature "1" of the kind n, and
// anything else is a part of partsOf.
func turnsOf(words string) (turns []content.Turn) {
	for _, turn := range strings.Split(words, "|") {
		if turn == "user" {
			turns = append(turns, content.Turn{Role: content.RoleUser, Parts: partsOf("q")})
			continue
		}
		t := content.Turn{Role: content.RoleAssistant}
		for _, w := range strings.Split(turn, ",") {
			if sig, ok := strings.CutPrefix(w, "<"); ok {
				t.Parts = append(t.Parts, &content.Thinking{Redacted: AdjacentSignature("f", Kind(sig[0]), sig[2:])})
				continue
			}
			t.Parts = append(t.Parts, partsOf(w)...)
		}
		turns = append(turns, t)
	}
	return turns
}

// describeTurns is the reverse of turnsOf. It appends ">" and the signature to a
// part, and describes Removed as "-".
func describeTurns(turns []content.Turn) string {
	var list []string
	for _, t := range turns {
		var words []string
		for _, p := range t.Parts {
			switch w := describe([]content.Part{p}); {
			case p == Removed:
				words = append(words, "-")
			case partfield.SignatureOf(p).Data != "":
				words = append(words, w+">"+partfield.SignatureOf(p).Data)
			default:
				words = append(words, w)
			}
		}
		list = append(list, strings.Join(words, ","))
	}
	return strings.Join(list, "|")
}

func TestAttachSignatures(t *testing.T) {
	tests := []struct{ name, turns, want string }{
		{"no signatures", "a,call", "a,call"},
		{"before and after their parts", "<n:1,a,<N:2,call,call,<P:3,b,<p:4", "-,a>1,-,call>2,call>3,-,b>4,-"},
		{"in separate turns", "<n:1|a|<N:2|call|b|<p:3", "-|a>1|-|call>2|b>3|-"},
		{"not across user turns", "user|a|user|<p:1|user|<n:2|user|b", "q|a|q|>1|q|>2|q|b"},
		{"call in place of the text", "<n:1,call,<N:2,call", ">1,call,-,call>2"},
		{"text in place of the call", "<N:1,a", ">1,a"},
		{"missing text after a call", "call,<p:1", "call,>1"},
		{"missing call after a text", "a,<P:1,b", "a,>1,b"},
		{"no other parts", "<n:1,<N:2,<p:3", ">1,>2,>3"},
		{"not on an image or thinking", "<n:1,img,<p:2,<n:3,hm,<p:4", ">1,img,>2,>3,hm,>4"},
		{"not twice on a part", "<n:1,a,<p:2", "-,a>1,>2"},
		{"nil part", "<n:1,nil,<p:2", ">1,nil,>2"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			from := turnsOf(tt.turns)
			if diff := cmp.Diff(tt.want, describeTurns(AttachSignatures("f", from))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(turnsOf(tt.turns), from); diff != "" {
				t.Errorf("the argument was modified:\n%s", diff)
			}
			if got := AttachSignatures("g", from); &got[0] != &from[0] {
				t.Error("turns without signatures of the format were copied")
			}
		})
	}
}
