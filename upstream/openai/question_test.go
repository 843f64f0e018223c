package openai

import (
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
)

// TestQuestion checks what becomes of what the user says last, if there is
// nothing in it, or nothing is left of it: no other words stand for it.
func TestQuestion(t *testing.T) {
	user := func(p ...content.Part) content.Turn { return turnOf(content.RoleUser, p...) }
	hi, yes := user(sayText("hi")), turnOf(content.RoleAssistant, sayText("yes?"))
	system := turnOf(content.RoleSystem, sayText("S"))
	const last = `{"role":"user","content":"` + codec.EmptyMessageText + `"}]`
	for _, tt := range []struct {
		name  string
		turns []content.Turn
		fault string // its path
		has   string // of the document
	}{
		{"an empty text", []content.Turn{user(sayText(""))}, "", `[` + last},
		{"white space", []content.Turn{hi, yes, user(sayText(" \n"))}, "", `{"role":"user","content":" \n"}]`},
		{"an empty text at the end", []content.Turn{hi, yes, user(sayText(""))}, "", last},
		{"an empty turn at the end", []content.Turn{hi, yes, user()}, "", last},
		{"system text behind it", []content.Turn{hi, yes, user(sayText("")), system}, "", last},
		{"an empty text behind words", []content.Turn{yes, hi, user(sayText(""))}, "", `{"role":"user","content":"hi"}]`},
		{"a part that is dropped", []content.Turn{user(upload)}, "turns.0.parts.0", ""},
		{"a part that is dropped at the end", []content.Turn{hi, yes, user(sayText(""), upload)}, "turns.2.parts.1", ""},
		{"in several turns", []content.Turn{hi, yes, user(sayText("")), user(upload), system}, "turns.3.parts.0", ""},
		{"words in front of it", []content.Turn{yes, hi, user(upload)}, "", `{"role":"user","content":"hi"}]`},
		{"words behind it", []content.Turn{hi, yes, user(upload), hi}, "", `{"role":"user","content":"hi"}]`},
		{"only an answer, of nothing", []content.Turn{turnOf(content.RoleAssistant, sayText(""))}, "turns.0", ""},
		{"only an answer that is dropped", []content.Turn{turnOf(content.RoleAssistant, upload)}, "turns.0.parts.0", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			x := lossCase{change: says(tt.turns...)}
			for _, p := range []*plan{x.plan(t), planOf(t, setting(x.change), KindVendor, 0)} {
				if list, _ := content.Violations(p.fault); tt.fault != "" {
					if len(list) != 1 || list[0].Path != tt.fault || list[0].Code != content.CodeUnsupported {
						t.Errorf("%s: got %v, want a fault at %s", p.own, p.fault, tt.fault)
					}
				} else if doc := p.doc.Text(); p.fault != nil || !strings.Contains(doc, tt.has) {
					t.Errorf("%s: got %v, %s; want %s", p.own, p.fault, doc, tt.has)
				}
				if doc := p.doc.Text(); strings.Contains(doc, held) {
					t.Errorf("%s: other words stand in the place of the question: %s", p.own, doc)
				}
			}
		})
	}
}
