package lower

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
)

func callsOf(list ...*content.ToolUse) []*content.ToolUse { return list }

func TestPairing(t *testing.T) {
	text := &content.Text{Text: "t"}
	tests := []struct {
		name  string
		steps [][]*content.ToolUse
		turns [][]content.Part // user turns: one after each step, more after the last
		want  [][]int
	}{
		{"ids in another order", [][]*content.ToolUse{callsOf(useOf("1", "f"), useOf("2", "f"))},
			[][]content.Part{partsOf(text, resultOf("2", "f"), resultOf("1", "f"))}, [][]int{{-1, 1, 0}}},
		{"an id is preferred to an earlier name", [][]*content.ToolUse{callsOf(useOf("1", "f"), useOf("2", "f"))},
			[][]content.Part{partsOf(resultOf("", "f"), resultOf("1", "f"))}, [][]int{{1, 0}}},
		{"an id is preferred to another name", [][]*content.ToolUse{callsOf(useOf("1", "f"), useOf("2", "g"))},
			[][]content.Part{partsOf(resultOf("2", "f"), resultOf("1", "g"))}, [][]int{{1, 0}}},
		{"a name is preferred to a position", [][]*content.ToolUse{callsOf(useOf("1", "f"), useOf("2", "g"))},
			[][]content.Part{partsOf(resultOf("", ""), resultOf("", "f"))}, [][]int{{1, 0}}},
		{"more results than calls", [][]*content.ToolUse{callsOf(useOf("1", "f"))},
			[][]content.Part{partsOf(resultOf("", "f"), resultOf("", "f"), resultOf("1", "f"), resultOf("", ""))}, [][]int{{-1, -1, 0, -1}}},
		{"an unknown id without a name", [][]*content.ToolUse{callsOf(useOf("1", "f"))},
			[][]content.Part{partsOf(resultOf("9", ""))}, [][]int{{-1}}},
		{"a call without a name", [][]*content.ToolUse{callsOf(useOf("", ""))},
			[][]content.Part{partsOf(resultOf("", ""))}, [][]int{{0}}},
		{"results in two turns", [][]*content.ToolUse{callsOf(useOf("1", "f"), useOf("2", "f"))},
			[][]content.Part{partsOf(resultOf("", "f")), partsOf(resultOf("", "f"))}, [][]int{{0}, {1}}},
		{"steps", [][]*content.ToolUse{callsOf(useOf("1", "f"), useOf("2", "g")), callsOf(useOf("1", "f"), useOf("3", "h"))},
			[][]content.Part{partsOf(resultOf("", "f")), partsOf(resultOf("", "g"), resultOf("2", "g"), resultOf("1", "f"), resultOf("", ""))},
			[][]int{{0}, {-1, 1, 2, 3}}},
		{"no results", [][]*content.ToolUse{callsOf(useOf("1", "f"))},
			[][]content.Part{partsOf(text, nil, (*content.ToolResult)(nil))}, [][]int{{-1, -1, -1}}},
	}
	var p Pairing // shared by all cases: Reset must clear it
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p.Reset()
			var got [][]int
			for i, turn := range test.turns {
				if i < len(test.steps) {
					p.Open(test.steps[i])
				}
				got = append(got, append([]int(nil), p.Pair(turn)...))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("calls of the parts (-want +got):\n%s", diff)
			}
		})
	}
}
