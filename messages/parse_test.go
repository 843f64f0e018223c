package messages

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/race"
	"github.com/polywire/polywire/internal/workload"
)

func TestParseWhole(t *testing.T) {
	maxTokens, budget, heat := int64(512), int64(2048), 0.2
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
		Model: "claude-opus-5-5", MaxTokens: &maxTokens, Temperature: &heat, StopSequences: []string{"</a>"},
		System:     []content.Part{&content.Text{Text: "You grade.", Cache: &content.Cache{TTL: "1h"}}},
		Thinking:   &Thinking{Type: "enabled", BudgetTokens: &budget},
		ToolChoice: &ToolChoice{Type: "auto", DisableParallelToolUse: true},
		Tools: []content.Tool{
			{Name: "n", Description: "d", Input: content.Schema{JSON: `{"type":"object"}`}, Strict: true,
				Extra: extra(`{"eager_input_streaming":true}`)},
			{Name: "web_search", Kind: "web_search_20250305", Format: Format,
				Raw: `{"type":"web_search_20250305","name":"web_search","max_uses":2}`}},
		OutputConfig: &OutputConfig{Effort: "high", Format: &OutputFormat{Type: "json_schema", Schema: `{"b":1}`}},
		Container:    `{"id":"c"}`, Fallbacks: `"default"`, InferenceGeo: "eu", Extra: extra(`{"x":[1]}`),
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

// What stops the parser: no request, one error.
func TestParseRefused(t *testing.T) {
	tests := []struct {
		name, body string
		code       content.Code
		text       string // what comes behind the head
	}{
		{"empty", "", content.CodeSyntax, " at line 1, column 1"},
		{"cut", "{\"model\":\n\"m\"", content.CodeSyntax, " at line 2, column 4"},
		{"twice", `{"model":"m","mod\u0065l":"n"}`, content.CodeSyntax, `duplicate member name "model" at line 1, column 14`},
		{"twice in free JSON", `{"tools":[{"input_schema":{"a":1,"a":2}}]}`, content.CodeSyntax, `duplicate member name "a" at line 1, column 34`},
		{"behind", `{} {}`, content.CodeSyntax, " at line 1, column 4"},
		{"byte order mark", "\xEF\xBB\xBF{}", content.CodeSyntax, " at line 1, column 1"},
		{"half a pair", `{"model":"\ud800"}`, content.CodeSyntax, " at line 1, column 11"},
		{"not UTF-8", "{\"model\":\"\xff\"}", content.CodeSyntax, " at line 1, column 11"},
		{"deep", strings.Repeat("[", 257) + strings.Repeat("]", 257), content.CodeLimit, " at line 1, column 257"},
		{"many", "[" + strings.Repeat("0,", 1_000_000) + "0]", content.CodeLimit, ""},
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
	if _, err := parseRequest(`{"x":[[]]}`, content.Limits{Depth: 2}); err == nil {
		t.Error("a lower limit of depth has no effect")
	}
	if _, err := parseRequest(`{"x":[1,2]}`, content.Limits{Values: 3}); err == nil {
		t.Error("a lower limit of values has no effect")
	}
}

func TestParseAllocations(t *testing.T) {
	if race.Enabled {
		t.Skip("pools forget under the race detector")
	}
	for _, tt := range []struct {
		name, body string
		allocs     float64
	}{
		{"small", workload.Small(), 12},
		{"agent", workload.Agent(), 300},
		{"pdf", workload.PDF(), 20},
	} {
		t.Run(tt.name, func(t *testing.T) {
			body := []byte(tt.body)
			if n := testing.AllocsPerRun(5, func() {
				if _, err := ParseRequest(body); err != nil {
					t.Fatal(err)
				}
			}); n > tt.allocs {
				t.Errorf("%v allocations, want at most %v", n, tt.allocs)
			}
		})
	}
}

func TestParseBytes(t *testing.T) {
	bytesOf := func(body string) int64 {
		return testing.Benchmark(func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := ParseRequestString(body); err != nil {
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

// A part that is appended to a list does not reach the next one.
func TestParseListsApart(t *testing.T) {
	r, err := ParseRequest([]byte(`{"model":"m","messages":[{"role":"user","content":"a"},{"role":"user","content":"b"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	_ = append(r.Messages[0].Parts, &content.Image{})
	if _, ok := r.Messages[1].Parts[0].(*content.Text); !ok {
		t.Error("appending to one message changed the next")
	}
}
