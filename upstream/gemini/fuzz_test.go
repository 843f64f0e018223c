package gemini

import (
	"io"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/messages"
)

// FuzzPlan checks that any Messages request becomes a document that the format's
// parser accepts, or a violation, and that the result is deterministic.
func FuzzPlan(f *testing.F) {
	for _, body := range []string{
		`{"model":"gemini-3.8-flash","max_tokens":9,"system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":"q"}]}`,
		`{"model":"gemini-2.5-pro","max_tokens":9,"thinking":{"type":"adaptive"},"output_config":{"effort":"max"},"tools":[{"name":"a.b","input_schema":{"type":"object","properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{"const":1}}}},` +
			`{"type":"web_search_20250305","name":"web_search"}],"tool_choice":{"type":"any","disable_parallel_tool_use":true},"messages":[{"role":"user","content":"q"},` +
			`{"role":"assistant","content":[{"type":"thinking","thinking":"","signature":"x"},{"type":"tool_use","id":"1","name":"a.b","input":{}}]},` +
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","is_error":true,"content":[{"type":"image","source":{"type":"base64","media_type":"image/gif","data":"R0lGODlhAQABAAAAACw="}}]},{"type":"text","text":"go on"}]},` +
			`{"role":"system","content":"brief"}]}`,
		`{"model":"x","messages":[{"role":"assistant","content":[{"type":"redacted_thinking","data":"pw1."}]},{"role":"user","content":[]}]}`,
	} {
		f.Add(body)
	}
	c, err := New(nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body string) {
		r, err := messages.ParseRequest([]byte(body))
		if err != nil || r.Validate(&messages.ValidateOptions{}) != nil {
			return
		}
		n := r.Upstream()
		n.Wire = nil
		write := func() string {
			p := c.plan(n)
			if p.Err != nil {
				return ""
			}
			b, err := p.body()
			if err != nil {
				if list, _ := content.Violations(err); len(list) == 0 {
					t.Errorf("%v is not a violation of the request", err)
				}
				return ""
			}
			text, err := io.ReadAll(b.Reader())
			if err != nil || int64(len(text)) != b.Len() {
				t.Fatalf("%d bytes of %d: %v", len(text), b.Len(), err)
			}
			return string(text)
		}
		doc := write()
		if doc == "" {
			return
		}
		if _, err := generatecontent.ParseRequest([]byte(doc)); err != nil {
			t.Errorf("%v in\n%s", err, doc)
		}
		if again := write(); again != doc {
			t.Errorf("once\n%s\nand then\n%s", doc, again)
		}
	})
}
