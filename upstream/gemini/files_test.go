package gemini

import (
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

func TestAbsent(t *testing.T) {
	link, id := &content.URL{URL: "https://example.com/a"}, &content.File{ID: "file-1"}
	tests := []struct {
		name string
		part content.Part
		pass bool
		want bool
	}{
		{"link", &content.Image{Source: link}, false, true},
		{"forwarded link", &content.Image{Source: link}, true, false},
		{"id of another vendor", &content.Document{Source: id}, true, true},
		{"id of the vendor", &content.Media{Source: &content.File{ID: "https://generativelanguage.googleapis.com/v1beta/files/a"}}, false, false},
		{"in a result", &content.ToolResult{Parts: []content.Part{&content.Image{Source: id}}}, false, true},
		{"in a document", &content.Document{Source: &content.Parts{Parts: []content.Part{&content.Image{Source: link}}}}, false, true},
		{"bytes", &content.Image{Source: &content.Base64{Data: "AAAA"}}, false, false},
		{"none", (*content.Image)(nil), false, false},
	}
	for _, tt := range tests {
		n := &upstream.Request{ForwardLinks: tt.pass, Turns: []content.Turn{{Parts: []content.Part{tt.part}}}}
		if got := hasExternalFiles(n); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}
