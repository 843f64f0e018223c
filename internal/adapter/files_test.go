package adapter_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/adapter"
	"github.com/polywire/polywire/upstream"
)

// TestFiles checks that Files returns every file in order with its path.
func TestFiles(t *testing.T) {
	file := func(id string) content.Source { return &content.File{ID: id} }
	image := func(id string) content.Part { return &content.Image{Source: file(id)} }
	text := &content.Text{Text: "t"}
	inside := &content.Document{Source: &content.Parts{Parts: []content.Part{text, image("e")}}}
	n := &upstream.Request{System: []content.Part{text, image("a")}, Turns: []content.Turn{
		{Parts: []content.Part{(*content.Image)(nil), &content.Document{Source: file("b")}, &content.Image{}}},
		{Parts: []content.Part{
			&content.ToolResult{Parts: []content.Part{text, &content.Media{Source: file("c")}, image("d"), inside}},
			image("f"),
		}},
	}}
	want := [][2]string{
		{"system.1.source", "a"},
		{"turns.0.parts.1.source", "b"},
		{"turns.0.parts.2.source", "none"},
		{"turns.1.parts.0.parts.1.source", "c"},
		{"turns.1.parts.0.parts.2.source", "d"},
		{"turns.1.parts.0.parts.3.source.parts.1.source", "e"},
		{"turns.1.parts.1.source", "f"},
	}
	for count := 1; count <= len(want); count++ { // stopping there
		var got [][2]string
		for f := range adapter.Files(n) {
			id := "none"
			if s, ok := f.Source.(*content.File); ok {
				id = s.ID
			}
			if got = append(got, [2]string{f.Path(), id}); len(got) == count {
				break
			}
		}
		if diff := cmp.Diff(want[:count], got); diff != "" {
			t.Errorf("the first %d (-want +got):\n%s", count, diff)
		}
	}
}
