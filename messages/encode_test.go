package messages

import (
	"bytes"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/internal/test/workload"
)

// requestBodies returns documents that parse without violations: the examples in
// testdata and one for each variant of members, blocks and documents.
func requestBodies(t testing.TB) []string {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	var bodies []string
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		bodies = append(bodies, string(b))
	}
	for _, m := range memberVariants {
		bodies = append(bodies, `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"x"}],`+m+`}`)
	}
	for _, b := range blockVariants {
		bodies = append(bodies, `{"model":"m","max_tokens":9,"messages":[{"role":"assistant","content":[`+b+`]}]}`)
	}
	return append(bodies, documentVariants...)
}

var memberVariants = []string{
	`"stream":false`, `"stream":null`, `"stream":true`, `"system":""`, `"system":[]`, `"system":null`, `"system":"s"`,
	`"system":[{"type":"text","text":"s","cache_control":null}]`, `"metadata":null`, `"metadata":{}`,
	`"metadata":{"user_id":null}`, `"metadata":{"user_id":""}`, `"metadata":{"user_id":"u","x":[1, 2]}`,
	`"stop_sequences":[]`, `"stop_sequences":null`, `"stop_sequences":["a","\u00e9"]`,
	`"temperature":1.0`, `"temperature":1e-1`, `"temperature":null`, `"temperature":0`, `"top_p":0.99`, `"top_p":-0`,
	`"top_k":5.0`, `"top_k":null`, `"top_k":0`, `"tools":[]`, `"tools":null`,
	`"tools":[{"type":"custom","name":"a","input_schema":{"z":1,"a":1.50},"description":"","strict":false}]`,
	`"tools":[{"type":null,"name":"a","input_schema":{"type":"object"},"description":null,"strict":null,` +
		`"cache_control":null,"defer_loading":true,"input_examples":[{"b":1,"a":2}],"allowed_callers":["direct"]}]`,
	`"tools":[{"name":"web_search","max_uses":2,"type":"web_search_20250305","cache_control":{"type":"ephemeral"}}]`,
	`"tool_choice":null`, `"tool_choice":{"type":"any","disable_parallel_tool_use":false}`,
	`"tool_choice":{"name":"a","type":"tool","x":1}`, `"tool_choice":{"type":"none"}`,
	`"tool_choice":{"type":"auto","name":"a"}`, `"tool_choice":{"type":"odd","y":2}`,
	`"thinking":null`, `"thinking":{"type":"disabled"}`, `"thinking":{"type":"between_tools"}`,
	`"thinking":{"type":"adaptive","display":null,"block_binding":{"prefix_mismatch_behavior":"error"}}`,
	`"thinking":{"budget_tokens":2048.0,"type":"enabled","display":"omitted"}`,
	`"thinking":{"type":"odd","budget_tokens":null}`,
	`"output_config":null`, `"output_config":{}`, `"output_config":{"effort":null,"format":null}`,
	`"output_config":{"effort":"low","task_budget":{"type":"tokens","total":20000}}`,
	`"output_config":{"format":{"type":"json_schema","schema":{"b":1,"a":2},"name":"n"}}`,
	`"output_config":{"effort":"max","format":{"type":"odd","schema":{}}}`,
	`"output_format":{"type":"json_schema","schema":{"b":1,"a":2}}`, `"output_format":null`,
	`"output_format":{"type":"json_schema","schema":{"a":1}},"output_config":{"format":{"type":"json_schema","schema":{"a":2}}}`,
	`"output_format":{"type":"json_schema","schema":{"a":1}},"output_config":{"effort":"low","format":{"type":"odd","schema":{}}}`,
	`"service_tier":"auto"`, `"service_tier":null`, `"inference_geo":"eu"`, `"inference_geo":null`, `"inference_geo":""`,
	`"speed":"fast"`, `"speed":null`, `"cache_control":null`, `"cache_control":{"ttl":"1h","type":"ephemeral","x":1}`,
	`"cache_control":{"type":"ephemeral","ttl":null}`, `"container":"c"`, `"container":null`,
	`"container":{"skills":[{"type":"custom","skill_id":"s"}],"id":null}`, `"diagnostics":{"previous_message_id":null}`,
	`"diagnostics":null`, `"mcp_servers":[]`, `"mcp_servers":null`, `"context_management":{"edits":[ ]}`,
	`"compaction":{"type":"summarize"}`, `"thread":{"type":"create"}`, `"fallbacks":"default"`,
	`"fallbacks":[{"model":"n"}]`, `"fallback_credit_token":"t"`, `"fallback_credit_token":{"token":"t"}`,
	`"billing_policy":{"type":"billing_policy","bill_to":"self"}`, `"x_new":{"b":1.0,"a":[ ]},"y\n\"":"\u00e9"`,
}

var blockVariants = []string{
	`{"text":"a","citations":null,"cache_control":null,"type":"text"}`, `{"type":"text","text":"a","citations":[]}`,
	`{"type":"text","text":"a","x":{"b":1,"a":2}}`,
	`{"type":"text","text":"a","citations":[{"type":"char_location","cited_text":"c","document_index":0,"document_title":null,"start_char_index":0,"end_char_index":1.0}]}`,
	`{"type":"text","text":"a","citations":[{"type":"page_location","cited_text":"c","document_index":1,"document_title":"t","file_id":null,"start_page_number":1,"end_page_number":2,"x":1}]}`,
	`{"type":"text","text":"a","citations":[{"type":"content_block_location","cited_text":"c","document_index":1,"document_title":"","file_id":"f","start_block_index":0,"end_block_index":2}]}`,
	`{"type":"text","text":"a","citations":[{"type":"search_result_location","cited_text":"c","source":"s","search_result_index":0,"start_block_index":0,"end_block_index":2}]}`,
	`{"type":"text","text":"a","citations":[{"type":"web_search_result_location","cited_text":"c","url":"https://a.example","title":"t","encrypted_index":"e"}]}`,
	`{"type":"text","text":"a","citations":[{"type":"new_location","cited_text":"c","":1}]}`,
	`{"type":"thinking","thinking":"","signature":"U0ln"}`, `{"type":"thinking","thinking":"t","signature":"","x":1}`,
	`{"type":"redacted_thinking","data":"T1BB"}`, `{"type":"redacted_thinking","data":"","x":1}`,
	`{"type":"tool_use","id":"t","name":"n","input":{"b":1.0,"a":[{}]},"caller":{"type":"direct"},"toolset_name":null}`,
	`{"type":"tool_result","tool_use_id":"t"}`, `{"type":"tool_result","tool_use_id":"t","content":null,"is_error":null}`,
	`{"type":"tool_result","tool_use_id":"t","content":"","is_error":false}`,
	`{"type":"tool_result","tool_use_id":"t","content":[],"is_error":true,"toolset_name":"s"}`,
	`{"type":"tool_result","tool_use_id":"t","content":[{"type":"tool_reference","tool_name":"n"},{"type":"text","text":"x"}]}`,
	`{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"q"},"caller":{"type":"direct"}}`,
	`{"type":"mcp_tool_use","id":"m","name":"n","server_name":"s","input":{}}`,
	`{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[{"type":"web_search_result","page_age":null}],"cache_control":null}`,
	`{"type":"mcp_tool_result","tool_use_id":"m","is_error":false}`,
	`{"type":"mcp_tool_result","tool_use_id":"m","content":null}`,
	`{"type":"container_upload","file_id":"f"}`, `{"type":"compaction","content":null}`, `{"type":"not_known_yet","a":{"z":1,"b":2}}`,
}

var documentVariants = []string{
	`{"messages":[],"model":"m"}`,
	`{"messages":[],"model":"m","tool_choice":{"type":"tool","name":null}}`, `{"messages":[],"model":"m","tool_choice":{"type":"tool","name":"","x":1}}`,
	`{"model":"m","messages":[{"content":"","role":"user","name":"n"},{"role":"user","content":[]}]}`,
	`{"model":"m","messages":[{"role":"user","content":[{"type":"document","source":{"type":"content","content":"c"},` +
		`"title":null,"context":"","citations":{"enabled":false}},{"type":"document","source":{"content":[],"type":"content","x":1},` +
		`"citations":{"enabled":true,"x":{"b":1}}},{"type":"document","source":{"type":"url","url":"https://a.example/","y":null},"citations":{"x":1}},` +
		`{"type":"document","source":{"type":"file","file_id":"f"},"citations":null},{"type":"document","source":{"type":"text",` +
		`"media_type":"text/plain","data":""},"citations":{}},{"type":"search_result","source":"s","title":"t","content":[],` +
		`"citations":{"enabled":true}},{"type":"image","source":{"data":"AA==","media_type":"image/png","type":"base64","z":0},` +
		`"transformations":{"oversized_image":"downsize"},"cache_control":{"type":"ephemeral","ttl":"5m"}}]}]}`,
}

// sameJSON returns the difference of two documents as values. Numbers are compared
// as text.
func sameJSON(t *testing.T, a, b string) string {
	t.Helper()
	return cmp.Diff(formattest.Value(t, a), formattest.Value(t, b))
}

// The encoding of a parsed request is canonical, and parsing it returns an equal
// request.
func TestEncodeParsed(t *testing.T) {
	bodies := append(requestBodies(t), workload.Small(), workload.Chat(), workload.Agent(), workload.Intl(), workload.Image())
	for _, body := range bodies {
		r, err := ParseRequest([]byte(body))
		if err != nil {
			t.Errorf("%.300s: %v", body, err)
			continue
		}
		got, err := r.AppendJSON([]byte("head"))
		if err != nil {
			t.Errorf("%.300s: %v", body, err)
			continue
		}
		got, ok := bytes.CutPrefix(got, []byte("head"))
		if !ok {
			t.Error("AppendJSON overwrote the bytes in dst")
		}
		again, err := ParseRequest(got)
		if err != nil {
			t.Errorf("%.300s: %v in %s", body, err, got)
			continue
		}
		if diff := cmp.Diff(r, again, ignoreOrigin); diff != "" {
			t.Errorf("%.300s (-want +got):\n%s", body, diff)
		}
		if second, err := again.AppendJSON(nil); err != nil || !bytes.Equal(second, got) {
			t.Errorf("%.300s: second encoding (-want +got):\n%s, %v", body, cmp.Diff(string(got), string(second)), err)
		}
	}
}

// Values that may be any JSON keep their bytes: the order of members, white space
// and digits.
func TestEncodeFreeJSON(t *testing.T) {
	free := `{ "z":1.50,"a" : [1e3, "\u0041"],"m":{"y":0,"b":-0.0} }`
	body := `{"model":"m","max_tokens":1,"tools":[{"name":"n","input_schema":` + free + `,"input_examples":[` + free + `]},` +
		`{"type":"bash_20250124","name":"bash","x":` + free + `}],"output_config":{"format":{"type":"json_schema","schema":` + free + `}},` +
		`"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"i","name":"n","input":` + free + `},` +
		`{"type":"new_block","x":` + free + `}],"x":` + free + `}],"container":` + free + `}`
	r, err := ParseRequest([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	got, err := r.AppendJSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.Count(body, free); strings.Count(string(got), free) != want {
		t.Errorf("want the free JSON %d times unchanged, got %s", want, got)
	}
}

// The encoding of a parsed request includes later changes.
func TestEncodeChanged(t *testing.T) {
	r, err := ParseRequest([]byte(`{"model":"m","max_tokens":1.0,"temperature":1.0,"stream":false,"system":"s",` +
		`"messages":[{"role":"user","content":"a"},{"role":"user","content":"b"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	*r.MaxTokens, *r.Temperature, r.Stream, r.Model = 2, 0.5, true, "n"
	r.System = nil
	r.Messages[0].Parts[0].(*content.Text).Text = "c"
	r.Messages[1].Parts = append(r.Messages[1].Parts, &content.Text{Text: "d", Cache: &content.Cache{}})
	got, err := r.AppendJSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"model":"n","max_tokens":2,"stream":true,"temperature":0.5,"messages":[{"role":"user","content":[{"type":"text","text":"c"}]},` +
		`{"role":"user","content":[{"type":"text","text":"b"},{"type":"text","text":"d","cache_control":{"type":"ephemeral"}}]}]}`
	if diff := sameJSON(t, want, string(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestEncodeExtraOmitsKnownNames(t *testing.T) {
	r := &Request{Model: "m", Messages: []content.Turn{{Role: content.RoleUser,
		Parts: []content.Part{
			&content.Text{Text: "t", Extra: &content.Extra{Format: Format, JSON: `{"x":1,"text":"u"}`}},
			&content.Document{Source: &content.File{ID: "f"}, Citations: true,
				Extra: &content.Extra{Format: Format, JSON: `{"citations":{"enabled":false,"x":1}}`}}},
		Extra: &content.Extra{Format: "other", JSON: `{"y":1}`}}},
		Extra: &content.Extra{Format: Format, JSON: `{"model":"n","messages":[],"z":{"b":1}}`}}
	got, err := r.AppendJSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"t","x":1},` +
		`{"type":"document","source":{"type":"file","file_id":"f"},"citations":{"enabled":true,"x":1}}]}],"z":{"b":1}}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	// Of these, the names that the document has are violations, in strict validation only.
	limit := int64(1)
	r.MaxTokens = &limit
	if err := r.Validate(&ValidateOptions{AllowFiles: true}); err != nil {
		t.Error(err)
	}
	if list, _ := content.Violations(r.Validate(&ValidateOptions{AllowFiles: true, Strict: true})); len(list) != 3 {
		t.Errorf("strict: got %v, want 3 violations", list)
	}
}

func TestEncodeErrors(t *testing.T) {
	nan := math.NaN()
	one := func(p content.Part) *Request {
		return &Request{Model: "m", Messages: []content.Turn{{Role: content.RoleUser, Parts: []content.Part{p}}}}
	}
	tests := []struct {
		name string
		r    *Request
		code content.Code
		path string
	}{
		{"nil part", one(nil), content.CodeMissing, "messages.0.content.0"},
		{"nil pointer", one((*content.Image)(nil)), content.CodeMissing, "messages.0.content.0"},
		{"nil source", one(&content.Image{}), content.CodeMissing, "messages.0.content.0.image.source"},
		{"nil source pointer", one(&content.Document{Source: (*content.URL)(nil)}), content.CodeMissing,
			"messages.0.content.0.document.source"},
		{"part of another format", one(&content.Media{}), content.CodeUnsupported, "messages.0.content.0"},
		{"unknown part of another format", one(&content.Unknown{Format: "f", Kind: "k", Raw: "{}"}), content.CodeUnsupported,
			"messages.0.content.0"},
		{"signature of another format", one(&content.Thinking{Signature: content.Signature{Format: "f", Data: "d"}}),
			content.CodeUnsupported, "messages.0.content.0.thinking.signature"},
		{"invalid input", one(&content.ToolUse{ID: "i", Name: "n", Input: `{"a":1},"role":"x"`}), content.CodeSyntax,
			"messages.0.content.0.tool_use.input"},
		{"input not an object", one(&content.ToolUse{ID: "i", Name: "n", Input: `[1]`}), content.CodeType,
			"messages.0.content.0.tool_use.input"},
		{"invalid unknown part", one(&content.Unknown{Format: Format, Kind: "k", Raw: `{"type":"k"`}), content.CodeSyntax,
			"messages.0.content.0"},
		{"invalid extra", one(&content.Text{Extra: &content.Extra{Format: Format, JSON: `{"a"}`}}), content.CodeSyntax,
			"messages.0.content.0.text"},
		{"invalid extra of the request", &Request{Extra: &content.Extra{Format: Format, JSON: `{"container":"a}`}}, content.CodeSyntax, ""},
		{"temperature not a number", &Request{Temperature: &nan}, content.CodeRange, "temperature"},
		{"OpenAPI schema", &Request{Tools: []content.Tool{{Name: "n", Input: content.Schema{JSON: "{}", OpenAPI: true}}}},
			content.CodeUnsupported, "tools.0.custom.input_schema"},
		{"unknown citation kind", one(&content.Text{Citations: []content.Citation{{Kind: "odd"}}}), content.CodeUnsupported,
			"messages.0.content.0.text.citations.0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dst, err := tt.r.AppendJSON(nil)
			var got *content.Violation
			if !errors.As(err, &got) || got.Code != tt.code || got.Path != tt.path {
				t.Errorf("got %+v, want %s at %q", got, tt.code, tt.path)
			}
			if len(dst) > 0 {
				t.Errorf("AppendJSON appended %s despite the error", dst)
			}
			if _, err := tt.r.Body(); err == nil {
				t.Error("Body does not fail")
			}
		})
	}
}

func TestBody(t *testing.T) {
	r, err := ParseRequest([]byte(workload.Image()))
	if err != nil {
		t.Fatal(err)
	}
	want, err := r.AppendJSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := r.Body()
	if err != nil {
		t.Fatal(err)
	}
	if b.Len() != int64(len(want)) {
		t.Errorf("Len is %d, want %d", b.Len(), len(want))
	}
	for range 2 { // like GetBody
		got, err := io.ReadAll(b.Reader())
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("a reader returned %d bytes and %v", len(got), err)
		}
	}
}

// A tally counts the bytes that a document copied and the bytes to which it refers.
type tally struct{ copied, referenced int }

func (c *tally) Write(b []byte) (int, error)       { c.copied += len(b); return len(b), nil }
func (c *tally) WriteString(s string) (int, error) { c.referenced += len(s); return len(s), nil }

// TestInitialSize checks the estimated size of the initial buffer for a request that
// was not parsed.
func TestInitialSize(t *testing.T) {
	for name, body := range map[string]string{"agent": workload.Agent(), "chat": workload.Chat(), "image": workload.Image()} {
		r, _, _ := RequestFromUpstream(mustParse(t, body).Upstream().Clone())
		b, err := r.Body()
		if err != nil {
			t.Fatal(err)
		}
		var c tally
		if _, err := b.w.WriteTo(&c); err != nil {
			t.Fatal(err)
		}
		if size := codec.DocumentSize(r.System, r.Messages, r.Tools); size < min(c.copied, 64<<10) || size > 2*c.copied+1024 {
			t.Errorf("%s: estimate is %d bytes, want at least %d, or 64 KB", name, size, c.copied)
		}
	}
}

// TestEncodeWithoutModel checks the form of documents for clouds, which have the model in
// the URL.
func TestEncodeWithoutModel(t *testing.T) {
	r := &Request{Model: "m", Messages: []content.Turn{{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: "hi"}}}}}
	b, err := r.BodyWithoutModel()
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(b.Reader())
	const want = `{"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}]}`
	if err != nil || string(got) != want {
		t.Errorf("%s %v, want %s", got, err, want)
	}
}
