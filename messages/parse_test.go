package messages

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/internal/test/workload"
	"github.com/polywire/polywire/internal/violation"
)

func TestParseWhole(t *testing.T) {
	maxTokens, budget, temperature := int64(512), int64(2048), 0.2
	body := `{"model":"claude-opus-5-5","max_tokens":512,"temperature":0.2,"stop_sequences":["</a>"],
	 "system":[{"type":"text","text":"You grade.","cache_control":{"type":"ephemeral","ttl":"1h"}}],
	 "thinking":{"budget_tokens":2048,"type":"enabled"},"tool_choice":{"disable_parallel_tool_use":true,"type":"auto"},
	 "tools":[{"name":"n","description":"d","input_schema":{"type":"object"},"strict":true,"eager_input_streaming":true},
	  {"type":"web_search_20250305","name":"web_search","max_uses":2}],
	 "output_config":{"effort":"high","format":{"schema":{"b":1},"type":"json_schema"}},
	 "container":{"id":"c"},"fallbacks":"default","inference_geo":"eu","x":[1],
	 "messages":[
	  {"role":"user","content":[
	   {"source":{"data":"AA==","media_type":"image/png","type":"base64"},"type":"image","transformations":{"oversized_image":"error"}},
	   {"type":"document","title":"T","context":"C","source":{"type":"content","content":[{"type":"text","text":"one"}]},"citations":{"enabled":true}},
	   {"type":"document","source":{"type":"text","media_type":"text/plain","data":"p"}},
	   {"type":"image","source":{"type":"url","url":"https://img.example/a"}},
	   {"type":"document","source":{"type":"file","file_id":"f"}},
	   {"type":"search_result","source":"s","title":"t","content":[{"type":"text","text":"r"}]},
	   {"type":"container_upload","file_id":"f"}]},
	  {"role":"assistant","content":[
	   {"type":"thinking","thinking":"h","signature":"U0ln"},{"type":"redacted_thinking","data":"T1BB"},
	   {"type":"text","text":"c\u00e9","citations":[{"type":"page_location","cited_text":"q","document_index":1,"document_title":"T","start_page_number":2,"end_page_number":3}]},
	   {"type":"tool_use","id":"i","name":"n","input":{"b":1,"a":2},"caller":{"type":"direct"}},
	   {"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}},
	   {"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[ ]}]},
	  {"role":"user","content":[{"type":"tool_result","tool_use_id":"i","is_error":true,"content":"bad"}]},
	  {"role":"system","content":"Be brief.","clear_at":"never"}]}`
	extra := func(json string) *content.Extra { return &content.Extra{Format: Format, JSON: json} }
	text := func(s string) *content.Text { return &content.Text{Text: s} }
	want := &Request{
		Model: "claude-opus-5-5", MaxTokens: &maxTokens, Temperature: &temperature, StopSequences: []string{"</a>"},
		System:     []content.Part{&content.Text{Text: "You grade.", Cache: &content.Cache{TTL: "1h"}}},
		Thinking:   &Thinking{Type: "enabled", BudgetTokens: &budget},
		ToolChoice: &ToolChoice{Type: "auto", DisableParallelToolUse: true},
		Tools: []content.Tool{
			{Name: "n", Description: "d", Input: content.Schema{JSON: `{"type":"object"}`}, Strict: new(true),
				Extra: extra(`{"eager_input_streaming":true}`)},
			{Name: "web_search", Kind: "web_search_20250305", Format: Format,
				Raw: `{"type":"web_search_20250305","name":"web_search","max_uses":2}`}},
		OutputConfig: &OutputConfig{Effort: "high", Format: &OutputFormat{Type: "json_schema", Schema: `{"b":1}`}},
		InferenceGeo: "eu", Extra: extra(`{"container":{"id":"c"},"fallbacks":"default","x":[1]}`),
		Messages: []content.Turn{
			{Role: content.RoleUser, Parts: []content.Part{
				&content.Image{Source: &content.Base64{MediaType: "image/png", Data: "AA=="},
					Extra: extra(`{"transformations":{"oversized_image":"error"}}`)},
				&content.Document{Title: "T", Context: "C", Citations: true,
					Source: &content.Parts{Parts: []content.Part{text("one")}}},
				&content.Document{Source: &content.PlainText{Text: "p", MediaType: "text/plain"}},
				&content.Image{Source: &content.URL{URL: "https://img.example/a"}},
				&content.Document{Source: &content.File{ID: "f"}},
				&content.SearchResult{Source: "s", Title: "t", Parts: []content.Part{text("r")}},
				&content.Unknown{Format: Format, Kind: "container_upload", Raw: `{"type":"container_upload","file_id":"f"}`}}},
			{Role: content.RoleAssistant, Parts: []content.Part{
				&content.Thinking{Text: "h", Signature: content.Signature{Format: Format, Data: "U0ln"}},
				&content.Thinking{Redacted: content.Signature{Format: Format, Data: "T1BB"}},
				&content.Text{Text: "cé", Citations: []content.Citation{{Kind: content.CitePages, Text: "q", Index: 1,
					Title: "T", Start: 2, End: 3}}},
				&content.ToolUse{ID: "i", Name: "n", Input: `{"b":1,"a":2}`},
				&content.ServerToolUse{Format: Format, Kind: "server_tool_use", ID: "srvtoolu_1", Name: "web_search", Input: "{}"},
				&content.ServerToolResult{Format: Format, Kind: "web_search_tool_result", ID: "srvtoolu_1", Content: "[ ]"}}},
			{Role: content.RoleUser, Parts: []content.Part{
				&content.ToolResult{ID: "i", Error: true, Parts: []content.Part{text("bad")}}}},
			{Role: content.RoleSystem, Parts: []content.Part{text("Be brief.")}, Extra: extra(`{"clear_at":"never"}`)},
		},
	}
	got, err := ParseRequest([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, ignoreOrigin); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Some errors stop the parser. It then returns no request and one error.
func TestParseRefused(t *testing.T) {
	tests := []struct {
		name, body string
		code       content.Code
		text       string // suffix of the text
	}{
		{"empty", "", content.CodeSyntax, " at line 1, column 1"},
		{"truncated", "{\"model\":\n\"m\"", content.CodeSyntax, " at line 2, column 4"},
		{"duplicate name", `{"model":"m","mod\u0065l":"n"}`, content.CodeSyntax, `duplicate member name "model" at line 1, column 14`},
		{"duplicate name in free JSON", `{"tools":[{"input_schema":{"a":1,"a":2}}]}`, content.CodeSyntax, `duplicate member name "a" at line 1, column 34`},
		{"second value", `{} {}`, content.CodeSyntax, " at line 1, column 4"},
		{"byte order mark", "\xEF\xBB\xBF{}", content.CodeSyntax, " at line 1, column 1"},
		{"unpaired surrogate", `{"model":"\ud800"}`, content.CodeSyntax, " at line 1, column 11"},
		{"not UTF-8", "{\"model\":\"\xff\"}", content.CodeSyntax, " at line 1, column 11"},
		{"too deep", strings.Repeat("[", 257) + strings.Repeat("]", 257), content.CodeLimit, " at line 1, column 257"},
		{"too many values", "[" + strings.Repeat("0,", 1_000_000) + "0]", content.CodeLimit, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := ParseRequest([]byte(tt.body))
			var got *content.Violation
			if r != nil || !errors.As(err, &got) {
				t.Fatalf("got %v, %v", r, err)
			}
			if got.Code != tt.code || got.Path != "" || !strings.HasPrefix(got.Text, "The request body is not valid JSON: ") ||
				!strings.HasSuffix(got.Text, tt.text) {
				t.Errorf("got %q %q %q, want %q …%q", got.Code, got.Path, got.Text, tt.code, tt.text)
			}
		})
	}
	if _, err := parseRequest(`{"x":[[]]}`, content.Limits{Depth: 2}, nil); err == nil {
		t.Error("a lower limit of depth has no effect")
	}
	if _, err := parseRequest(`{"x":[1,2]}`, content.Limits{Values: 3}, nil); err == nil {
		t.Error("a lower limit of values has no effect")
	}
}

func TestParseBytes(t *testing.T) {
	bytesOf := func(body string) int64 {
		return testing.Benchmark(func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := parseRequest(body, content.Limits{}, nil); err != nil {
					b.Fatal(err)
				}
			}
		}).AllocedBytesPerOp()
	}
	if testing.Short() {
		t.Skip("takes seconds")
	}
	body := workload.Agent()
	if n := bytesOf(body); float64(n) > 1.5*float64(len(body)) {
		t.Errorf("agent: %d bytes for a body of %d", n, len(body))
	}
	if n := bytesOf(workload.PDF()); n > 128<<10 {
		t.Errorf("pdf: %d bytes", n)
	}
}

// Appending to the parts of one message does not change another message.
func TestParseListsAreSeparate(t *testing.T) {
	r, err := ParseRequest([]byte(`{"model":"m","messages":[{"role":"user","content":"a"},{"role":"user","content":"b"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	_ = append(r.Messages[0].Parts, &content.Image{})
	if _, ok := r.Messages[1].Parts[0].(*content.Text); !ok {
		t.Error("appending to one message changed the next")
	}
}

// violationTests have one row for each violation text and each place. B is
// the path of a block.
var violationTests = []struct {
	body string
	want []string
}{
	{`[]`, []string{"type : The request body must be a JSON object"}},
	{`{}`, []string{"missing model: Field required", "missing messages: Field required"}},
	{`{"model":null,"messages":{}}`, []string{"type model: Input should be a valid string", "type messages: Input should be a valid list"}},
	{`{"model":"m","messages":[7,{"role":"user"},{"content":"x"},{"role":1,"content":null},{"role":"user","content":1}]}`, []string{
		"type messages.0: Input should be an object", "missing messages.1.content: Field required",
		"missing messages.2.role: Field required", "type messages.3.role: Input should be a valid string",
		"type messages.3.content: Input should be a valid list", "type messages.4.content: Input should be a valid list"}},
	{top(`"max_tokens":"9"`), []string{"type max_tokens: Input should be a valid integer"}},
	{top(`"max_tokens":1.5`), []string{"type max_tokens: Input should be a valid integer"}},
	{top(`"max_tokens":1e2`), []string{"type max_tokens: Input should be a valid integer"}},
	{top(`"max_tokens":9223372036854775808`), []string{"type max_tokens: Input should be a valid integer"}},
	{top(`"temperature":"1"`), []string{"type temperature: Input should be a valid number"}},
	{top(`"temperature":1e999`), []string{"range temperature: Input should be a finite number"}},
	{top(`"stream":1`), []string{"type stream: Input should be a valid boolean"}},
	{top(`"system":{}`), []string{"type system: Input should be a valid list"}},
	{top(`"system":[{"type":"text"}]`), []string{"missing system.0.text: Field required"}},
	{top(`"stop_sequences":"a"`), []string{"type stop_sequences: Input should be a valid list"}},
	{top(`"stop_sequences":["a",1]`), []string{"type stop_sequences.1: Input should be a valid string"}},
	{top(`"metadata":[]`), []string{"type metadata: Input should be an object"}},
	{top(`"metadata":{"user_id":1}`), []string{"type metadata.user_id: Input should be a valid string"}},
	{top(`"service_tier":""`), []string{"value service_tier: Input should be 'auto' or 'standard_only'"}},
	{top(`"speed":""`), []string{"value speed: Input should be 'standard' or 'fast'"}},
	{top(`"container":1`), []string{"type container: Input should be a valid string or an object"}},
	{top(`"fallbacks":{}`), []string{"type fallbacks: Input should be a valid string or list"}},
	{top(`"mcp_servers":{}`), []string{"type mcp_servers: Input should be a valid list"}},
	{top(`"thread":[]`), []string{"type thread: Input should be an object"}},
	{top(`"Max_Tokens":9`), []string{"unknown Max_Tokens: Extra inputs are not permitted: did you mean 'max_tokens'?"}},
	{top(`"top_\u212a":9`), []string{"unknown top_\u212a: Extra inputs are not permitted: did you mean 'top_k'?"}},
	{top(`"top_k\u0000x":9`), []string{"unknown top_k\x00x: Extra inputs are not permitted: did you mean 'top_k'?"}},
	{top(`"cache_control":{}`), []string{"missing cache_control.type: Field required"}},
	{top(`"cache_control":{"type":"odd","ttl":""}`), []string{"value cache_control.type: Input should be 'ephemeral'",
		"value cache_control.ttl: Input should be '5m' or '1h'"}},
	{top(`"thinking":{"type":"enabled","budget_tokens":"7","display":""}`), []string{
		"type thinking.enabled.budget_tokens: Input should be a valid integer",
		"value thinking.enabled.display: Input should be 'summarized', 'omitted' or 'updates'"}},
	{top(`"thinking":{}`), []string{"missing thinking.type: Field required"}},
	{top(`"thinking":{"type":""}`), []string{"value thinking.type: String should have at least 1 character"}},
	{top(`"tool_choice":{"type":5}`), []string{"type tool_choice.type: Input should be a valid string"}},
	{top(`"tool_choice":{"type":"tool"}`), []string{"missing tool_choice.tool.name: Field required"}},
	{top(`"output_config":{"effort":"","format":{}}`), []string{
		"value output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max'",
		"missing output_config.format.type: Field required", "missing output_config.format.schema: Field required"}},
	{top(`"output_format":{"type":"json_schema","schema":[]}`), []string{"type output_format.schema: Input should be a valid dictionary"}},
	{top(`"tools":[1,{},{"type":1},{"type":""},{"type":"bash_20250124","name":1},{"name":"n","input_schema":true,"strict":"x","description":1,"Strict":1}]`), []string{
		"type tools.0: Input should be an object", "missing tools.1.custom.name: Field required",
		"missing tools.1.custom.input_schema: Field required", "type tools.2.type: Input should be a valid string",
		"value tools.3.type: String should have at least 1 character", "type tools.4.bash_20250124.name: Input should be 'bash'",
		"type tools.5.custom.input_schema: Input should be a valid dictionary",
		"type tools.5.custom.strict: Input should be a valid boolean", "type tools.5.custom.description: Input should be a valid string",
		"unknown tools.5.custom.Strict: Extra inputs are not permitted: did you mean 'strict'?"}},
	{`5`, []string{"type : The request body must be a JSON object"}},
	{block(`7`), []string{"type B: Input should be an object"}},
	{block(`{"Type":"text","text":"t"}`), []string{"missing B.type: Field required"}},
	{block(`{"type":null}`), []string{"type B.type: Input should be a valid string"}},
	{block(`{"type":""}`), []string{"value B.type: String should have at least 1 character"}},
	{block(`{"type":"text","text":1,"citations":{}}`), []string{"type B.text.text: Input should be a valid string",
		"type B.text.citations: Input should be a valid list"}},
	{block(`{"type":"text","text":"t","citations":[{"type":"char_location","start_char_index":0.5}]}`), []string{
		"type B.text.citations.0.char_location.start_char_index: Input should be a valid integer",
		"missing B.text.citations.0.char_location.cited_text: Field required",
		"missing B.text.citations.0.char_location.document_index: Field required",
		"missing B.text.citations.0.char_location.end_char_index: Field required"}},
	{block(`{"type":"text","text":"t","citations":[{"type":"web_search_result_location","cited_text":"c"}]}`), []string{
		"missing B.text.citations.0.web_search_result_location.url: Field required",
		"missing B.text.citations.0.web_search_result_location.encrypted_index: Field required"}},
	{block(`{"type":"thinking"}`), []string{"missing B.thinking.thinking: Field required"}},
	{block(`{"type":"redacted_thinking"}`), []string{"missing B.redacted_thinking.data: Field required"}},
	{block(`{"type":"tool_use","input":"{}"}`), []string{"type B.tool_use.input: Input should be a valid dictionary",
		"missing B.tool_use.id: Field required", "missing B.tool_use.name: Field required"}},
	{block(`{"type":"server_tool_use","id":"i","name":"n"}`), []string{"missing B.server_tool_use.input: Field required"}},
	{block(`{"type":"tool_result","content":1,"is_error":"no"}`), []string{
		"type B.tool_result.content: Input should be a valid list", "type B.tool_result.is_error: Input should be a valid boolean",
		"missing B.tool_result.tool_use_id: Field required"}},
	{block(`{"type":"web_fetch_tool_result","tool_use_id":"i"}`), []string{"missing B.web_fetch_tool_result.content: Field required"}},
	{block(`{"type":"search_result","content":"x"}`), []string{"type B.search_result.content: Input should be a valid list",
		"missing B.search_result.source: Field required", "missing B.search_result.title: Field required"}},
	{block(`{"type":"image"}`), []string{"missing B.image.source: Field required"}},
	{block(`{"type":"image","source":{"type":"base64","data":5}}`), []string{
		"type B.image.source.base64.data: Input should be a valid string", "missing B.image.source.base64.media_type: Field required"}},
	{block(`{"type":"image","source":{}}`), []string{"missing B.image.source.type: Field required"}},
	{block(`{"type":"image","source":"x"}`), []string{"type B.image.source: Input should be an object"}},
	{block(`{"type":"image","source":{"type":"ftp"}}`), []string{
		"value B.image.source: Input tag 'ftp' found using 'type' does not match any of the expected tags: 'base64', 'url', 'file'"}},
	{block(`{"type":"image","source":{"type":"text","media_type":"text/plain","data":"d"}}`), []string{
		"value B.image.source: Input tag 'text' found using 'type' does not match any of the expected tags: 'base64', 'url', 'file'"}},
	{block(`{"type":"document","source":{"type":"ftp"},"title":"","citations":{"enabled":1,"Enabled":true}}`), []string{
		"value B.document.source: Input tag 'ftp' found using 'type' does not match any of the expected tags: 'base64', 'text', 'content', 'url', 'file'",
		"range B.document.title: String should have at least 1 character",
		"type B.document.citations.enabled: Input should be a valid boolean",
		"unknown B.document.citations.Enabled: Extra inputs are not permitted: did you mean 'enabled'?"}},
	{block(`{"type":"document","source":{"type":"text","media_type":""}}`), []string{
		"value B.document.source.text.media_type: Input should be 'text/plain'", "missing B.document.source.text.data: Field required"}},
	{block(`{"type":"document","source":{"type":"url"}}`), []string{"missing B.document.source.url.url: Field required"}},
	{block(`{"type":"document","source":{"type":"file"}}`), []string{"missing B.document.source.file.file_id: Field required"}},
	{block(`{"type":"document","source":{"type":"content"}}`), []string{"missing B.document.source.content.content: Field required"}},
	{block(`{"type":"document","source":{"type":"content","content":[{"type":"text"}]}}`), []string{
		"missing B.document.source.content.content.0.text.text: Field required"}},
	{block(`{"type":"tool_reference","tool_name":"n","Tool_Name":"n"}`), []string{
		"unknown B.tool_reference.Tool_Name: Extra inputs are not permitted: did you mean 'tool_name'?"}},
	// Names in values that may be any JSON are not checked.
	{block(`{"type":"tool_use","id":"i","name":"n","input":{"Type":1,"TYPE":2,"id\u0000":3}}`), nil},
	{block(`{"type":"not_known","Type":1}`), nil},
}

func top(member string) string {
	return `{"model":"m","messages":[{"role":"user","content":"x"}],` + member + `}`
}

func block(b string) string {
	return `{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"x"},` + b + `]}]}`
}

func TestParseViolations(t *testing.T) {
	for _, tt := range violationTests {
		r, err := ParseRequest([]byte(tt.body))
		if r == nil {
			t.Errorf("%s: no request", tt.body)
		}
		want := tt.want
		for i, w := range want {
			want[i] = strings.Replace(w, " B", " messages.0.content.1", 1)
		}
		if diff := cmp.Diff(want, formattest.Violations(err)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.body, diff)
		}
	}
}

// Invalid parts keep their index, and the parts after them are read.
func TestParseContinuesAfterViolation(t *testing.T) {
	r, err := ParseRequest([]byte(`{"model":"m","max_tokens":"x","messages":[3,{"role":"user","content":[{},{"type":"text","text":"t"}]}],"top_k":4}`))
	if err == nil || len(r.Messages) != 2 || len(r.Messages[1].Parts) != 2 || r.TopK == nil {
		t.Fatalf("got %+v, %v", r, err)
	}
	want := []content.Part{&content.Unknown{Format: Format, Raw: "{}"}, &content.Text{Text: "t"}}
	if diff := cmp.Diff(want, r.Messages[1].Parts); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestParseManyViolations(t *testing.T) {
	const n = 5000
	_, err := ParseRequest([]byte(`{"model":"m","messages":[` + strings.Repeat("1,", n-1) + `1]}`))
	list, more := content.Violations(err)
	if len(list) != content.MaxViolations || more != n-content.MaxViolations {
		t.Errorf("%d violations and %d more", len(list), more)
	}
	if last := list[len(list)-1].Path; last != "messages."+strconv.Itoa(content.MaxViolations-1) {
		t.Errorf("the last violation is at %s", last)
	}
}

// Violations quote only a limited part of the document.
func TestParseShortViolations(t *testing.T) {
	long := strings.Repeat("é", 1<<20)
	for _, body := range []string{block(`{"type":"image","source":{"type":"` + long + `"}}`), top(`"model\u0000` + long + `":1`),
		block(`{"type":"` + long + `"}`), top(`"tools":[{"type":"` + long + `","name":1}]`), top(`"thinking":{"type":"` + long + `","display":1}`)} {
		_, err := ParseRequest([]byte(body))
		for _, s := range formattest.Violations(err) {
			if len(s) > 600 {
				t.Errorf("%d bytes: %.100s…", len(s), s)
			}
		}
	}
}

func TestMergeViolations(t *testing.T) {
	r, err := ParseRequest([]byte(`{"tools":[{"name":"n","input_schema":5}],"messages":[{"content":[{"type":"image","source":5},` +
		`{"type":"text","cache_control":{"type":"ephemeral","ttl":"2h"},"text":"t"},{}]}],"model":"m","max_tokens":-1}`))
	if err == nil {
		t.Fatal("no violations")
	}
	var later violation.List
	for _, p := range []string{"max_tokens", "messages.0.role", "messages.0.content.1.text.cache_control.ttl", "messages.0.content.2",
		"messages.0.content.0.image.source.base64.data", "tools.0.custom.input_schema.type", "tools.0.custom.name", "messages", "seed"} {
		later.Add(content.CodeValue, p, "later")
	}
	want := []string{
		"type tools.0.custom.input_schema: Input should be a valid dictionary",
		"type messages.0.content.0.image.source: Input should be an object",
		"missing messages.0.content.2.type: Field required",
		"missing messages.0.role: Field required",
		"value max_tokens: later",
		"value messages.0.content.1.text.cache_control.ttl: later",
		"value tools.0.custom.name: later",
		"value messages: later",
		"value seed: later",
	}
	if diff := cmp.Diff(want, formattest.Violations(r.origin.found().Merge(&later, false))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := (*origin)(nil).found().Merge(&violation.List{}, false); err != nil {
		t.Errorf("no violations, but %v", err)
	}
}
