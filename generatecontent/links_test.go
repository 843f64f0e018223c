package generatecontent

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestLinkedFiles checks the order and the paths of the files that a request links to. The
// indices are those of the document, in which parts without content count, too.
func TestLinkedFiles(t *testing.T) {
	const contents = `"contents":[
		{"role":"user","parts":[{},{"text":"a"},{"fileData":{"mimeType":"image/png","fileUri":"https://a.example/x"}},{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgo="}}]},
		{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]},
		{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"x"},"parts":[
			{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgo="}},{"fileData":{"mimeType":"image/png","fileUri":"files/f"}}]}},
			{"fileData":{"mimeType":"video/mp4","fileUri":"gs://b/v"}}]}]`
	want := []string{"contents[0].parts[2].file_data.file_uri", "contents[2].parts[0].function_response.parts[1].file_data.file_uri",
		"contents[2].parts[1].file_data.file_uri"}
	for prefix, body := range map[string]string{
		"":                          `{` + contents + `}`,
		"generate_content_request.": `{"generateContentRequest":{"model":"models/m",` + contents + `}}`,
	} {
		r, err := ParseCountRequest([]byte(body))
		if err != nil {
			t.Fatal(err)
		}
		var got, wanted []string
		for _, f := range new(dialect).linkedFiles(r) {
			got = append(got, f.Path)
		}
		for _, path := range want {
			wanted = append(wanted, prefix+path)
		}
		if diff := cmp.Diff(wanted, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", prefix, diff)
		}
	}
}
