package crosstest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
)

// conversations are documents of both formats that parse to equal neutral
// requests.
var conversations = []struct{ name, messages, generate string }{
	{"single user turn",
		`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a\n"}]}`,
		`{"model":"m","contents":[{"role":"user","parts":[{"text":"a\u000a"}]}],"generationConfig":{"maxOutputTokens":9}}`},
	{"snake_case and single objects",
		`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[{"type":"text","text":"a"}]}]}`,
		`{"model":"m","contents":{"parts":{"text":"a"}},"generation_config":{"max_output_tokens":"9"}}`},
	{"history with system text and sampling",
		`{"model":"m","max_tokens":9,"system":"s","temperature":0.5,"top_p":0.25,"top_k":40,"stop_sequences":["e"],` +
			`"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":[{"type":"text","text":"c"},{"type":"text","text":"d"}]}]}`,
		`{"model":"m","system_instruction":{"role":"user","parts":{"text":"s"}},"contents":[{"role":"user","parts":[{"text":"a"}]},` +
			`{"role":"model","parts":[{"text":"b"}]},{"parts":[{"text":"c"},{},{"text":"d"}]}],` +
			`"generationConfig":{"maxOutputTokens":9,"temperature":0.5,"topP":0.25,"topK":40.0,"stopSequences":["e"]}}`},
	{"files",
		`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"+/+/Zg=="}},` +
			`{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"JVBERi0xLjc="}}]}]}`,
		`{"model":"m","contents":[{"parts":[{"inlineData":{"mimeType":"image/png","data":"-_-_Zg"}},` +
			`{"inline_data":{"mime_type":"application/pdf","data":"JVBERi0xLjc"}}]}],"generationConfig":{"maxOutputTokens":9}}`},
	{"tools, tool calls and results",
		`{"model":"m","max_tokens":9,"tools":[{"name":"f","description":"d","input_schema":{"type":"object","properties":{"b":{},"a":{}}}},{"name":"g","input_schema":{"type":"object"}}],` +
			`"tool_choice":{"type":"tool","name":"f"},"messages":[{"role":"user","content":"a"},` +
			`{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"f","input":{"b":1.0,"a":2}},{"type":"tool_use","id":"2","name":"g","input":{}}]},` +
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"ok"},{"type":"tool_result","tool_use_id":"2","is_error":true,"content":"no"}]}]}`,
		`{"model":"m","tools":[{"functionDeclarations":[{"name":"f","description":"d","parametersJsonSchema":{"type":"object","properties":{"b":{},"a":{}}}}]},` +
			`{"functionDeclarations":{"name":"g","parameters_json_schema":{"type":"object"}}}],"toolConfig":{"functionCallingConfig":{"mode":"any","allowedFunctionNames":["f"]}},` +
			`"contents":[{"parts":[{"text":"a"}]},{"role":"model","parts":[{"functionCall":{"id":"1","name":"f","args":{"b":1.0,"a":2}}},{"functionCall":{"id":"2","name":"g","args":{}}}]},` +
			`{"role":"function","parts":[{"functionResponse":{"id":"1","name":"f","response":{"output":"ok"}}},{"functionResponse":{"id":"2","name":"g","response":{"error":"no"}}}]}],` +
			`"generationConfig":{"maxOutputTokens":9}}`},
	{"thinking",
		`{"model":"m","max_tokens":9999,"thinking":{"type":"enabled","budget_tokens":2048,"display":"summarized"},"messages":[{"role":"user","content":"a"}]}`,
		`{"model":"m","contents":[{"parts":[{"text":"a"}]}],"generationConfig":{"maxOutputTokens":9999,"thinkingConfig":{"includeThoughts":true,"thinkingBudget":2048}}}`},
	{"no thinking",
		`{"model":"m","max_tokens":9,"thinking":{"type":"disabled"},"messages":[{"role":"user","content":"a"}]}`,
		`{"model":"m","contents":[{"parts":[{"text":"a"}]}],"generationConfig":{"maxOutputTokens":9,"thinkingConfig":{"thinkingBudget":0}}}`},
	// The defaults differ: generateContent shows thinking on request, Messages
	// by model.
	{"hidden thinking",
		`{"model":"m","max_tokens":9999,"thinking":{"type":"enabled","budget_tokens":2048,"display":"omitted"},"messages":[{"role":"user","content":"a"}]}`,
		`{"model":"m","contents":[{"parts":[{"text":"a"}]}],"generationConfig":{"maxOutputTokens":9999,"thinkingConfig":{"includeThoughts":false,"thinkingBudget":2048}}}`},
	{"output schema",
		`{"model":"m","max_tokens":9,"output_config":{"format":{"type":"json_schema","schema":{"b":1,"a":2}}},"messages":[{"role":"user","content":"a"}]}`,
		`{"model":"m","contents":[{"parts":[{"text":"a"}]}],"generationConfig":{"maxOutputTokens":9,"responseMimeType":"application/json","responseJsonSchema":{"b":1,"a":2}}}`},
}

func TestEqualRequests(t *testing.T) {
	for _, tt := range conversations {
		t.Run(tt.name, func(t *testing.T) {
			a, b := neutral(t, tt.messages, tt.generate)
			if diff := cmp.Diff(a, b, comparisonOptions); diff != "" {
				t.Errorf("(-messages +generatecontent):\n%s", diff)
			}
		})
	}
}

// comparisonOptions ignores what only one format represents: generateContent
// names the tool in a result, Messages only in the call. A function without
// arguments has no schema in generateContent, and an empty one in Messages. What absent settings
// mean is that of the format.
var comparisonOptions = cmp.Options{
	cmpopts.IgnoreFields(upstream.Request{}, "Defaults"),
	cmp.Comparer(func(a, b *content.ToolResult) bool {
		x, y := *a, *b
		x.Name, y.Name = "", ""
		return cmp.Equal(x, y)
	}),
	cmp.Transformer("arguments", func(s content.Schema) string {
		switch {
		case s.JSON == `{"type":"object"}`:
			return ""
		case s.OpenAPI:
			return "closed schema: " + s.JSON
		}
		return s.JSON
	}),
}

// TestRoundTrip checks that each conversation, converted to the other format
// and back, is the same again.
func TestRoundTrip(t *testing.T) {
	for _, tt := range conversations {
		t.Run(tt.name, func(t *testing.T) {
			a, b := neutral(t, tt.messages, tt.generate)
			g, lost, err := generatecontent.RequestFromUpstream(a)
			if diff := cmp.Diff(b, g.Upstream(), comparisonOptions); diff != "" || lost != nil || err != nil {
				t.Errorf("from messages: %v, %v (-want +got):\n%s", lost, err, diff)
			}
			m, lost, _ := messages.RequestFromUpstream(b)
			if diff := cmp.Diff(a, m.Upstream(), comparisonOptions); diff != "" || lost != nil {
				t.Errorf("from generatecontent: %v (-want +got):\n%s", lost, diff)
			}
		})
	}
}

func neutral(t *testing.T, inMessages, inGenerate string) (a, b *upstream.Request) {
	t.Helper()
	m, err := messages.ParseRequest([]byte(inMessages))
	if err != nil {
		t.Fatal(err)
	}
	g, err := generatecontent.ParseRequest([]byte(inGenerate))
	if err != nil {
		t.Fatal(err)
	}
	return m.Upstream(), g.Upstream()
}
