package lower

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// TestAttribution checks which system texts lose the line of a coding agent.
func TestAttribution(t *testing.T) {
	const line = "x-anthropic-billing-header: cc_version=2.1.197.90a; cc_entrypoint=cli; cch=71fea;"
	marked := func(s string) *content.Text { return &content.Text{Text: s, Cache: new(content.Cache)} }
	omitted := Attribution.At("system.0")
	for _, tt := range []struct {
		name         string
		system, want []content.Part
		losses       []content.Loss
	}{
		{"block", []content.Part{text(line), text("s")}, []content.Part{text("s")}, []content.Loss{omitted}},
		{"block with line break", []content.Part{text(line + "\n"), text("s")}, []content.Part{text("s")}, []content.Loss{omitted}},
		{"only block", []content.Part{text(line)}, nil, []content.Loss{omitted}},
		{"line of a text", []content.Part{text(line + "\n\nYou are an agent.\nx")}, []content.Part{text("You are an agent.\nx")}, []content.Loss{omitted}},
		{"line of a text with carriage returns", []content.Part{text(line + "\r\n\r\ns")}, []content.Part{text("s")}, []content.Loss{omitted}},
		{"two lines", []content.Part{text(line + "\n" + line + "\ns")}, []content.Part{text("s")}, []content.Loss{omitted}},
		{"block with cache mark", []content.Part{marked(line), text("s")}, []content.Part{text("s")}, []content.Loss{omitted, EmptyMark.At("system.0.cache")}},
		{"text with cache mark", []content.Part{marked(line + "\ns")}, []content.Part{marked("s")}, []content.Loss{omitted}},
		{"second block", []content.Part{text("s"), text(line)}, []content.Part{text("s")}, []content.Loss{Attribution.At("system.1")}},
		{"within a text", []content.Part{text("See " + line), text(" " + line), text("s\n" + line)}, []content.Part{text("See " + line), text(" " + line), text("s\n" + line)}, nil},
		{"other header", []content.Part{text("x-anthropic-billing: a\ns")}, []content.Part{text("x-anthropic-billing: a\ns")}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			target := with(func(t *Target) { t.Marks.System = true })
			n := &upstream.Request{System: tt.system, Turns: []content.Turn{user(text(line))}}
			to, losses, err := Lower(n, target, false)
			if diff := cmp.Diff(tt.want, to.System); diff != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
			if diff := cmp.Diff(tt.losses, Losses(losses)); diff != "" {
				t.Errorf("losses (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(n.Turns, to.Turns); diff != "" {
				t.Errorf("the user's text was changed (-want +got):\n%s", diff)
			}
			if _, losses, _ := Lower(&to.Request, target, false); len(losses) > 0 {
				t.Errorf("lowered again: %v", reports(losses))
			}
			keeps := with(func(t *Target) { t.Conversation.Attribution, t.Marks.System = true, true })
			if to, losses, _ := Lower(n, keeps, false); !cmp.Equal(to.System, tt.system) || len(losses) > 0 {
				t.Errorf("a target that keeps the line got %v, losses %v", to.System, reports(losses))
			}
		})
	}
}
