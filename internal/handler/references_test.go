package handler

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
)

// TestFiles checks that every link and id is found once, with its neutral path and the parts
// that contain it, and that missing parts and sources are not.
func TestFiles(t *testing.T) {
	link, stored := &content.URL{URL: "https://a.example/"}, &content.File{ID: "f"}
	document := &content.Document{Source: &content.Parts{Parts: []content.Part{&content.Text{}, &content.Image{Source: stored}}}}
	turns := []content.Turn{
		{Parts: []content.Part{nil, (*content.Image)(nil), (*content.ToolResult)(nil), &content.Image{}, &content.Image{Source: (*content.URL)(nil)},
			&content.Image{Source: (*content.File)(nil)}, &content.Document{Source: (*content.Parts)(nil)}, &content.Image{Source: &content.Base64{}}}},
		{Parts: []content.Part{&content.Media{Source: link}, &content.ToolResult{Parts: []content.Part{&content.Image{Source: link}, document}}}},
	}
	var got []string
	files := Files([]content.Part{&content.Document{Source: link}}, turns, func(r *Reference) File {
		line := fmt.Sprintf("%s %T", r.Path, r.Source)
		for _, p := range r.In {
			line += fmt.Sprintf(" %T", p)
		}
		got = append(got, line)
		return File{Source: r.Source, Path: r.Path}
	})
	want := []string{
		"system.0.source *content.URL *content.Document",
		"turns.1.parts.0.source *content.URL *content.Media",
		"turns.1.parts.1.parts.0.source *content.URL *content.ToolResult *content.Image",
		"turns.1.parts.1.parts.1.source.parts.1.source *content.File *content.ToolResult *content.Document *content.Image",
	}
	if diff := cmp.Diff(want, got); diff != "" || len(files) != len(want) {
		t.Errorf("%d files (-want +got):\n%s", len(files), diff)
	}
}
