package envelope

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
)

// stretchOf makes parts of words: "img" is an image, "call" a call, "hm" a thought
// that has no signature, "" an empty text, all else a text.
func stretchOf(words string) (parts []content.Part) {
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

// wordsOf is stretchOf the other way round; a thought is its redacted data in
// brackets.
func wordsOf(parts []content.Part) string {
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

func TestPlaces(t *testing.T) {
	one := func(name string, back, past int, first bool) Thought {
		return Thought{&content.Thinking{Redacted: content.Signature{Data: name}}, back, past, first, false}
	}
	tests := []struct {
		name, stretch string
		list          []Thought
		want          string
		moved         bool
	}{
		{"at the end", "ab", []Thought{one("1", 0, 0, false)}, "ab,[1]", false},
		{"between texts", "ab,cd", []Thought{one("1", 2, 0, false)}, "ab,[1],cd", false},
		{"in joined texts", "abcd", []Thought{one("1", 4, 0, true), one("2", 2, 0, false), one("3", 2, 0, false), one("4", 1, 0, false)},
			"[1],ab,[2],[3],c,[4],d", false},
		{"in split texts", "a,b,,c,d", []Thought{one("1", 2, 0, false)}, "a,b,,[1],c,d", false},
		{"thoughts beside do not count", "ab,hm,cd,hm", []Thought{one("1", 4, 0, true), one("2", 2, 0, false)}, "[1],ab,hm,[2],cd,hm", false},
		{"behind an image", "ab,img,cd", []Thought{one("1", 2, 0, false)}, "ab,img,[1],cd", false},
		{"in front of an image", "ab,img,cd", []Thought{one("1", 2, 1, false)}, "ab,[1],img,cd", false},
		{"the image is gone", "ab,cd", []Thought{one("0", 4, 2, false), one("1", 2, 1, false), one("2", 2, 0, false)}, "[0],ab,[1],[2],cd", false},
		{"the image is gone, an empty text stays in front", "ab,,cd", []Thought{one("1", 2, 1, false)}, "ab,,[1],cd", false},
		{"the image is gone, an empty text in front of it", "ab,,cd", []Thought{one("0", 4, 1, true), one("1", 2, 1, false), one("2", 2, 0, false)}, "[0],ab,,[1],[2],cd", false},
		{"the image is gone between empty texts", "ab,,,cd", []Thought{one("1", 2, 1, false)}, "ab,,,[1],cd", false},
		{"the first image is gone, behind an empty text", "ab,,img,cd", []Thought{one("1", 2, 2, false)}, "ab,,[1],img,cd", false},
		{"the texts are gone", "img", []Thought{one("1", 9, 1, true), one("2", 5, 1, false), one("3", 2, 0, false)}, "[1],[2],img,[3]", false},
		{"all is gone but a call", "call", []Thought{one("1", 9, 1, true), one("2", 5, 1, false)}, "call,[1],[2]", false},
		{"not past a call", "ab,call,cd", []Thought{one("1", 2, 0, true)}, "ab,call,[1],cd", false},
		{"not past nothing", "ab,nil,cd", []Thought{one("1", 4, 0, true)}, "ab,nil,[1],cd", true},
		{"shorter texts", "ab,call,c", []Thought{one("1", 2, 0, true), one("2", 1, 0, false)}, "ab,call,[1],[2],c", true},
		{"shorter texts, in order", "ab", []Thought{one("1", 9, 0, false), one("2", 5, 0, false), one("3", 1, 0, false)}, "[1],[2],a,[3],b", true},
		{"longer texts", "xab", []Thought{one("1", 2, 0, true), one("2", 1, 0, false)}, "[1],xa,[2],b", true},
		{"two answers in a row", "xy,ab", []Thought{one("1", 2, 0, true)}, "xy,[1],ab", false},
		{"amid a letter", "aé", []Thought{one("1", 1, 0, false)}, "a,[1],é", true},
		{"amid the first letter", "é", []Thought{one("1", 1, 0, false)}, "[1],é", true},
		{"out of order", "abcd", []Thought{one("1", 1, 0, false), one("2", 3, 0, false)}, "a,[1],[2],bcd", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			parts := stretchOf(tt.stretch)
			places, moved := Places(tt.list, len(parts), func(i int) content.Part { return parts[i] })
			got := Weave(nil, parts, places, func(k int) content.Part { return tt.list[k].Thinking }, func(p content.Part, from, to int) content.Part {
				text := p.(*content.Text).Text
				if to < 0 {
					to = len(text)
				}
				return &content.Text{Text: text[from:to]}
			})
			if diff := cmp.Diff(tt.want, wordsOf(got)); diff != "" || moved != tt.moved {
				t.Errorf("moved: %v (-want +got):\n%s", moved, diff)
			}
			if diff := cmp.Diff(tt.stretch, wordsOf(parts)); diff != "" {
				t.Errorf("the parts themselves changed:\n%s", diff)
			}
		})
	}
}

// TestPlacesLinear checks that no part is looked at again for each thought.
func TestPlacesLinear(t *testing.T) {
	parts := slices.Repeat(stretchOf("ab,img"), 1000)
	list := make([]Thought, 1000)
	for i := range list {
		list[i] = Thought{&content.Thinking{}, 1 + i%5*1000, i, i%2 == 0, false}
	}
	slices.Reverse(list)
	looks := 0
	Places(list, len(parts), func(i int) content.Part { looks++; return parts[i] })
	if most := 3 * (len(parts) + len(list)); looks > most {
		t.Errorf("%d looks, want %d at most", looks, most)
	}
}
