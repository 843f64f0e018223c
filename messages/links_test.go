package messages

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestReferencedFiles checks the order and the paths of the files to which a request refers.
// The paths are those of the violations that the vendor reports there.
func TestReferencedFiles(t *testing.T) {
	const link, stored = `{"type":"url","url":"https://a.example/x"}`, `{"type":"file","file_id":"f"}`
	image := func(source string) string { return `{"type":"image","source":` + source + `}` }
	document := func(source string) string { return `{"type":"document","source":` + source + `}` }
	several := document(`{"type":"content","content":[{"type":"text","text":"a"},` + image(stored) + `]}`)
	inline := image(`{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}`)
	r, err := ParseRequest([]byte(`{"model":"m","max_tokens":9,"system":[{"type":"text","text":"s"}],"messages":[
		{"role":"user","content":[{"type":"text","text":"a"},` + image(link) + `,` + inline + `,` + several + `]},
		{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"x"},` +
		document(stored) + `,` + several + `]},` + document(link) + `]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, f := range new(dialect).referencedFiles(r) {
		paths = append(paths, f.Path)
	}
	if diff := cmp.Diff([]string{
		"messages.0.content.1.image.source.url.url",
		"messages.0.content.3.document.source.content.content.1.image.source.file.file_id",
		"messages.2.content.0.tool_result.content.1.document.source.file.file_id",
		"messages.2.content.0.tool_result.content.2.document.source.content.content.1.image.source.file.file_id",
		"messages.2.content.1.document.source.url.url",
	}, paths); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
