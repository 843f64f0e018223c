package messages

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/lower"
	"github.com/polywire/polywire/internal/test/lossplaces"
	"github.com/polywire/polywire/upstream"
)

// encodedMember returns a member of the document that a request is encoded as.
func encodedMember(t *testing.T, n *upstream.Request, member string) any {
	t.Helper()
	r, _, err := RequestFromUpstream(n)
	if err != nil {
		t.Fatal(err)
	}
	b, err := r.AppendJSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(b, &doc); err != nil {
		t.Fatal(err)
	}
	return doc[member]
}

func asValue(t *testing.T, text string) any {
	t.Helper()
	if text == "" {
		return nil
	}
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v
}

// carrierOf returns the signature of a part that carries thinking.
func carrierOf(list ...*content.Thinking) content.Signature {
	return content.Signature{Format: Format, Data: envelope.EncodeThinking(list)}
}

func signedThinking(text, signature string) *content.Thinking {
	return &content.Thinking{Text: text, Signature: content.Signature{Format: Format, Data: signature}}
}

func TestRequestFromUpstreamTurns(t *testing.T) {
	text := func(s string) *content.Text { return &content.Text{Text: s} }
	call := func(id string) *content.ToolUse { return &content.ToolUse{ID: id, Name: "n"} }
	result := func(id, s string) *content.ToolResult { return &content.ToolResult{ID: id, Parts: partsOf(text(s))} }
	turn := func(r content.Role, p ...content.Part) content.Turn { return content.Turn{Role: r, Parts: p} }
	const u, a, s = content.RoleUser, content.RoleAssistant, content.RoleSystem
	jpeg := &content.Image{Source: &content.Base64{MediaType: "image/jpeg", Data: "/9j/4AAQSkZJRgAB"}}
	const image = `{"type":"image","source":{"type":"base64","media_type":"image/jpeg","data":"/9j/4AAQSkZJRgAB"}}`
	shot := func(name string) *content.Image {
		s := *jpeg.Source.(*content.Base64)
		s.Extra = &content.Extra{Format: "generatecontent", JSON: `{"displayName":"` + name + `"}`}
		return &content.Image{Source: &s}
	}
	sheet := func(name, kind string) *content.Document {
		return &content.Document{Source: &content.Base64{MediaType: kind, Data: "aGk=",
			Extra: &content.Extra{Format: "generatecontent", JSON: `{"displayName":"` + name + `"}`}}}
	}
	const pointing = `{"a":{"$ref":"one.jpg"},"b":{"$ref":"two.jpg"}}`
	carrying := call("1")
	carrying.Signature = carrierOf(signedThinking("first", "s1"), signedThinking("", "s2"))
	tests := []struct {
		name  string
		turns []content.Turn
		want  string // with ' for "
	}{
		{"calls of one step in separate turns", []content.Turn{turn(u, text("q")), turn(a, text("Let ")), turn(a, text("me see")),
			turn(a, call("1")), turn(a, call("2")), turn(u, result("2", "b")), turn(u, result("1", "a")), turn(u, text("go on"))},
			`[{'role':'user','content':[{'type':'text','text':'q'}]},
			{'role':'assistant','content':[{'type':'text','text':'Let '},{'type':'text','text':'me see'},
			{'type':'tool_use','id':'1','name':'n','input':{}},{'type':'tool_use','id':'2','name':'n','input':{}}]},
			{'role':'user','content':[{'type':'tool_result','tool_use_id':'2','content':[{'type':'text','text':'b'}]},
			{'type':'tool_result','tool_use_id':'1','content':[{'type':'text','text':'a'}]},{'type':'text','text':'go on'}]}]`},
		{"result after text, with media", []content.Turn{turn(u, text("q")), turn(a, call("1")),
			turn(u, jpeg, result("1", "a"), text("this"))},
			`[{'role':'user','content':[{'type':'text','text':'q'}]},{'role':'assistant','content':[{'type':'tool_use','id':'1','name':'n','input':{}}]},
			{'role':'user','content':[{'type':'tool_result','tool_use_id':'1','content':[{'type':'text','text':'a'}]},` + image + `,{'type':'text','text':'this'}]}]`},
		{"call without result and result without call", []content.Turn{turn(u, text("q")), turn(a, call("1"), call("2")),
			turn(u, result("9", "odd"), result("2", "b"))},
			`[{'role':'user','content':[{'type':'text','text':'q'}]},
			{'role':'assistant','content':[{'type':'tool_use','id':'1','name':'n','input':{}},{'type':'tool_use','id':'2','name':'n','input':{}}]},
			{'role':'user','content':[{'type':'tool_result','tool_use_id':'2','content':[{'type':'text','text':'b'}]},
			{'type':'tool_result','tool_use_id':'1','content':[{'type':'text','text':'There is no result of this call.'}],'is_error':true},
			{'type':'text','text':'Result of a tool:'},{'type':'text','text':'odd'}]}]`},
		{"result that refers to files", []content.Turn{turn(u, text("q")), turn(a, call("1")),
			turn(u, &content.ToolResult{ID: "1", Object: pointing, Parts: []content.Part{text(pointing), shot("one.jpg"), jpeg, shot("two.jpg")}})},
			`[{'role':'user','content':[{'type':'text','text':'q'}]},{'role':'assistant','content':[{'type':'tool_use','id':'1','name':'n','input':{}}]},
			{'role':'user','content':[{'type':'tool_result','tool_use_id':'1','content':[{'type':'text','text':'{\"a\":{\"$ref\":\"one.jpg\"},\"b\":{\"$ref\":\"two.jpg\"}}'},
			{'type':'text','text':'one.jpg:'},` + image + `,` + image + `,{'type':'text','text':'two.jpg:'},` + image + `]}]}]`},
		{"result that refers to a text", []content.Turn{turn(u, text("q")), turn(a, call("1")),
			turn(u, &content.ToolResult{ID: "1", Object: `{"$ref":"one.csv"}`, Parts: []content.Part{sheet("one.csv", "text/csv")}})},
			`[{'role':'user','content':[{'type':'text','text':'q'}]},{'role':'assistant','content':[{'type':'tool_use','id':'1','name':'n','input':{}}]},
			{'role':'user','content':[{'type':'tool_result','tool_use_id':'1','content':[{'type':'text','text':'{\"$ref\":\"one.csv\"}'},{'type':'text','text':'one.csv:'},
			{'type':'document','source':{'type':'text','media_type':'text/plain','data':'hi'}}]}]}]`},
		{"two results of one call", []content.Turn{turn(u, text("q")), turn(a, call("1")), turn(u, result("1", "a"), result("1", "b"))},
			`[{'role':'user','content':[{'type':'text','text':'q'}]},{'role':'assistant','content':[{'type':'tool_use','id':'1','name':'n','input':{}}]},
			{'role':'user','content':[{'type':'tool_result','tool_use_id':'1','content':[{'type':'text','text':'a'}]},{'type':'text','text':'Result of a tool:'},{'type':'text','text':'b'}]}]`},
		{"system turn between call and result", []content.Turn{turn(u, text("q")), turn(a, call("1")), turn(s, text("be brief")),
			turn(u, result("1", "a"))},
			`[{'role':'user','content':[{'type':'text','text':'q'}]},{'role':'assistant','content':[{'type':'tool_use','id':'1','name':'n','input':{}}]},
			{'role':'user','content':[{'type':'tool_result','tool_use_id':'1','content':[{'type':'text','text':'a'}]},{'type':'text','text':'be brief'}]}]`},
		{"image of the assistant", []content.Turn{turn(u, text("q")), turn(a, text("here"), jpeg), turn(u, text("more"))},
			`[{'role':'user','content':[{'type':'text','text':'q'}]},{'role':'assistant','content':[{'type':'text','text':'here'}]},
			{'role':'user','content':[` + image + `,{'type':'text','text':'more'}]}]`},
		{"response in several turns", []content.Turn{turn(u, text("q")), turn(a, text("A")), turn(a, text(" ")), turn(a, text("\n")), turn(a, text("b")), turn(u, text("more"))},
			`[{'role':'user','content':[{'type':'text','text':'q'}]},{'role':'assistant','content':[{'type':'text','text':'A \n'},{'type':'text','text':'b'}]},
			{'role':'user','content':[{'type':'text','text':'more'}]}]`},
		{"empty turn", []content.Turn{turn(u, text("q")), turn(a, text(" ")), turn(u, text("more"))},
			`[{'role':'user','content':[{'type':'text','text':'q'}]},{'role':'user','content':[{'type':'text','text':'more'}]}]`},
		{"consecutive blank texts", []content.Turn{turn(u, text(" "), text("a"), text(" "), text(""), text("\n"), text("b"), text("  "), text("\t"))},
			`[{'role':'user','content':[{'type':'text','text':'a \n'},{'type':'text','text':'b  \t'}]}]`},
		{"blank text between texts", []content.Turn{turn(u, text("a"), text(" "), text("b"), text("\n"))},
			`[{'role':'user','content':[{'type':'text','text':'a '},{'type':'text','text':'b\n'}]}]`},
		{"response to be continued", []content.Turn{turn(u, text("q")), turn(a, text("So: "))},
			`[{'role':'user','content':[{'type':'text','text':'q'}]},{'role':'assistant','content':[{'type':'text','text':'So:'}]}]`},
		{"assistant turn first", []content.Turn{turn(a, text("Hello")), turn(u, text("q"))},
			`[{'role':'assistant','content':[{'type':'text','text':'Hello'}]},{'role':'user','content':[{'type':'text','text':'q'}]}]`},
		{"assistant turn with an image first", []content.Turn{turn(a, text("Look"), jpeg), turn(u, text("q"))},
			`[{'role':'assistant','content':[{'type':'text','text':'Look'}]},{'role':'user','content':[` + image + `,{'type':'text','text':'q'}]}]`},
		{"dropped assistant turn first", []content.Turn{turn(a, &content.ServerToolUse{Format: "alien"}), turn(u, text("q"))},
			`[{'role':'user','content':[{'type':'text','text':'q'}]}]`},
		{"thinking carried by a call", []content.Turn{turn(u, text("q")), turn(a, &content.Thinking{Text: "first"}), turn(a, text("So, now ")),
			turn(a, text("then:")), turn(a, carrying), turn(u, result("1", "a"))},
			`[{'role':'user','content':[{'type':'text','text':'q'}]},
			{'role':'assistant','content':[{'type':'thinking','thinking':'first','signature':'s1'},{'type':'thinking','thinking':'','signature':'s2'},
			{'type':'text','text':'So, now '},{'type':'text','text':'then:'},{'type':'tool_use','id':'1','name':'n','input':{}}]},
			{'role':'user','content':[{'type':'tool_result','tool_use_id':'1','content':[{'type':'text','text':'a'}]}]}]`},
		{"carried thinking and a returned block", []content.Turn{turn(u, text("q")), turn(a, signedThinking("first", "s1"), carrying), turn(u, result("1", "a"))},
			`[{'role':'user','content':[{'type':'text','text':'q'}]},
			{'role':'assistant','content':[{'type':'thinking','thinking':'first','signature':'s1'},{'type':'thinking','thinking':'','signature':'s2'},
			{'type':'tool_use','id':'1','name':'n','input':{}}]},
			{'role':'user','content':[{'type':'tool_result','tool_use_id':'1','content':[{'type':'text','text':'a'}]}]}]`},
		{"thinking between a text and a returned block", []content.Turn{turn(u, text("q")),
			turn(a, text("A"), signedThinking("", "s2"), text("B")), turn(a, carrying), turn(u, result("1", "a"))},
			`[{'role':'user','content':[{'type':'text','text':'q'}]},
			{'role':'assistant','content':[{'type':'thinking','thinking':'first','signature':'s1'},{'type':'text','text':'A'},
			{'type':'thinking','thinking':'','signature':'s2'},{'type':'text','text':'B'},{'type':'tool_use','id':'1','name':'n','input':{}}]},
			{'role':'user','content':[{'type':'tool_result','tool_use_id':'1','content':[{'type':'text','text':'a'}]}]}]`},
		{"thinking of the second of two calls", []content.Turn{turn(u, text("q")), turn(a, text("A"), call("2"), text("B"), carrying),
			turn(u, result("2", "b"), result("1", "a"))},
			`[{'role':'user','content':[{'type':'text','text':'q'}]},
			{'role':'assistant','content':[{'type':'text','text':'A'},{'type':'tool_use','id':'2','name':'n','input':{}},
			{'type':'thinking','thinking':'first','signature':'s1'},{'type':'thinking','thinking':'','signature':'s2'},
			{'type':'text','text':'B'},{'type':'tool_use','id':'1','name':'n','input':{}}]},
			{'role':'user','content':[{'type':'tool_result','tool_use_id':'2','content':[{'type':'text','text':'b'}]},
			{'type':'tool_result','tool_use_id':'1','content':[{'type':'text','text':'a'}]}]}]`},
		{"thinking at the end of a turn", []content.Turn{turn(u, text("q")), turn(a, call("2"),
			&content.Text{Text: " ", Signature: carrierOf(signedThinking("why", "s"))}), turn(u, result("2", "b"))},
			`[{'role':'user','content':[{'type':'text','text':'q'}]},
			{'role':'assistant','content':[{'type':'tool_use','id':'2','name':'n','input':{}}]},
			{'role':'user','content':[{'type':'tool_result','tool_use_id':'2','content':[{'type':'text','text':'b'}]}]}]`},
		{"turn with thinking only", []content.Turn{turn(u, text("q")), turn(a,
			&content.Text{Signature: carrierOf(signedThinking("why", "s"))}), turn(u, text("more"))},
			`[{'role':'user','content':[{'type':'text','text':'q'}]},{'role':'user','content':[{'type':'text','text':'more'}]}]`},
		{"thinking of a response without tool calls", []content.Turn{turn(u, text("q")), turn(a, text("Answer"),
			&content.Text{Signature: carrierOf(signedThinking("why", "s"))}), turn(u, text("more"))},
			`[{'role':'user','content':[{'type':'text','text':'q'}]},
			{'role':'assistant','content':[{'type':'thinking','thinking':'why','signature':'s'},{'type':'text','text':'Answer'}]},
			{'role':'user','content':[{'type':'text','text':'more'}]}]`},
		{"thinking of the last text of a response", []content.Turn{turn(u, text("q")), turn(a,
			text("A"), &content.Text{Text: "B", Signature: carrierOf(signedThinking("why", "s"), signedThinking("so", "s2"))}), turn(u, text("more"))},
			`[{'role':'user','content':[{'type':'text','text':'q'}]},
			{'role':'assistant','content':[{'type':'thinking','thinking':'why','signature':'s'},{'type':'thinking','thinking':'so','signature':'s2'},
			{'type':'text','text':'A'},{'type':'text','text':'B'}]},
			{'role':'user','content':[{'type':'text','text':'more'}]}]`},
		{"redacted thinking", []content.Turn{turn(u, text("q")), turn(a, &content.ToolUse{ID: "1", Name: "n", Signature: carrierOf(
			&content.Thinking{Redacted: content.Signature{Format: Format, Data: "opaque"}})}), turn(u, result("1", "a"))},
			`[{'role':'user','content':[{'type':'text','text':'q'}]},
			{'role':'assistant','content':[{'type':'redacted_thinking','data':'opaque'},{'type':'tool_use','id':'1','name':'n','input':{}}]},
			{'role':'user','content':[{'type':'tool_result','tool_use_id':'1','content':[{'type':'text','text':'a'}]}]}]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want := asValue(t, strings.ReplaceAll(tt.want, "'", `"`))
			if diff := cmp.Diff(want, encodedMember(t, &upstream.Request{Turns: tt.turns}, "messages")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestRequestFromUpstreamSettings(t *testing.T) {
	budget := int64(2048)
	tools := func(t ...content.Tool) upstream.Request { return upstream.Request{Tools: t} }
	openAPI := func(s string) content.Schema { return content.Schema{JSON: s, OpenAPI: true} }
	named := []content.Tool{{Name: "a"}, {Name: "b"}, {Name: "c"}, {Kind: "googleSearch", Format: "alien", Raw: "{}"}}
	tests := []struct {
		name, member string
		n            upstream.Request
		want         string
	}{
		{"tool without properties", "tools", tools(content.Tool{Name: "n", Description: "d"}),
			`[{"name":"n","description":"d","input_schema":{"type":"object"}}]`},
		{"OpenAPI", "tools", tools(content.Tool{Name: "n", Input: openAPI(`{"type":"OBJECT","properties":{"q":{"type":"STRING","nullable":true}}}`)}),
			`[{"name":"n","input_schema":{"type":"object","properties":{"q":{"type":["string","null"]}}}}]`},
		{"search with settings of another vendor", "tools", tools(content.Tool{Kind: "web_search", Format: "alien",
			Raw: `{"type":"web_search","filters":{"allowed_domains":["w.example"]},"user_location":{"type":"approximate","city":"Oslo"}}`}),
			`[{"type":"web_search_20250305","name":"web_search","allowed_domains":["w.example"],"user_location":{"type":"approximate","city":"Oslo"}}]`},
		{"code execution and URL context", "tools", tools(content.Tool{Kind: "codeExecution", Format: "alien", Raw: "{}"}, content.Tool{Kind: "urlContext", Format: "alien", Raw: "{}"}),
			`[{"type":"code_execution_20250825","name":"code_execution"},{"type":"web_fetch_20250910","name":"web_fetch"}]`},
		{"two of three tools", "tools", upstream.Request{Tools: named, Choice: content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"c", "a"}}},
			`[{"name":"a","input_schema":{"type":"object"}},{"name":"c","input_schema":{"type":"object"}},{"type":"web_search_20250305","name":"web_search"}]`},
		{"required call of two functions", "tool_choice", upstream.Request{Tools: named, Choice: content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"c", "a"}}},
			`{"type":"any"}`},
		{"required call of one function", "tool_choice", upstream.Request{Tools: named, Choice: content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"c"}, NoParallel: true}},
			`{"type":"tool","name":"c","disable_parallel_tool_use":true}`},
		{"no calls, not parallel", "tool_choice", upstream.Request{Tools: named[:3], Choice: content.ToolChoice{Mode: content.ChoiceNone, NoParallel: true}},
			`{"type":"none"}`},
		{"no functions, not parallel", "tool_choice", upstream.Request{Tools: named, Choice: content.ToolChoice{Mode: content.ChoiceNone, NoParallel: true}},
			`{"type":"auto"}`},
		{"not parallel", "tool_choice", upstream.Request{Tools: named, Choice: content.ToolChoice{NoParallel: true}},
			`{"type":"auto","disable_parallel_tool_use":true}`},
		{"choice without tools", "tool_choice", upstream.Request{Choice: content.ToolChoice{Mode: content.ChoiceAny}}, ""},
		{"empty list of tools", "tools", upstream.Request{Tools: []content.Tool{}}, ""},
		{"schema of the response", "output_config", upstream.Request{Output: upstream.Output{MediaType: "application/json",
			Schema: openAPI(`{"type":"OBJECT","properties":{"a":{"type":"INTEGER"}},"required":["a"]}`)}, Thinking: upstream.Thinking{Effort: "low"}},
			`{"effort":"low","format":{"type":"json_schema","schema":{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"],"additionalProperties":false}}}`},
		{"thinking with a budget", "thinking", upstream.Request{Thinking: upstream.Thinking{Mode: upstream.ThinkingBudget, Budget: &budget, Display: "full"}},
			`{"type":"enabled","budget_tokens":2048,"display":"summarized"}`},
		{"no thinking", "thinking", upstream.Request{Thinking: upstream.Thinking{Mode: upstream.ThinkingOff, Display: "omitted"}}, `{"type":"disabled"}`},
		{"stop sequences", "stop_sequences", upstream.Request{StopSequences: []string{" \n", "END", ""}}, `["END"]`},
		{"user id over the limit", "metadata", upstream.Request{UserID: strings.Repeat("x", 513)},
			""},
		{"system text", "system", upstream.Request{System: partsOf(&content.Text{Text: " "}, &content.Text{Text: "s", Cache: &content.Cache{TTL: "1h"}})},
			`[{"type":"text","text":"s","cache_control":{"type":"ephemeral","ttl":"1h"}}]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := encodedMember(t, &tt.n, tt.member)
			if tt.member == "metadata" {
				id := got.(map[string]any)["user_id"].(string)
				if len(id) != len("sha256-")+64 || !strings.HasPrefix(id, "sha256-") || id == encodedMember(t, &upstream.Request{UserID: strings.Repeat("y", 513)}, "metadata").(map[string]any)["user_id"] {
					t.Errorf("the user id is %q", id)
				}
				return
			}
			if diff := cmp.Diff(asValue(t, tt.want), got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestRequestFromUpstreamEnum checks that an enum is requested by an instruction after the system text,
// and not as JSON.
func TestRequestFromUpstreamEnum(t *testing.T) {
	n := &upstream.Request{
		System: []content.Part{&content.Text{Text: "Be kind."}},
		Turns:  []content.Turn{{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: "q"}}}},
		Output: upstream.Output{MediaType: "text/x.enum", Schema: content.Schema{JSON: `{"type":"STRING","enum":["a","b c"]}`, OpenAPI: true}},
	}
	want := asValue(t, `[{"type":"text","text":"Be kind."},{"type":"text","text":"Answer with one of these lines and nothing else:\na\nb c"}]`)
	if diff := cmp.Diff(want, encodedMember(t, n, "system")); diff != "" {
		t.Errorf("system (-want +got):\n%s", diff)
	}
	if got := encodedMember(t, n, "output_config"); got != nil {
		t.Errorf("output_config: %v", got)
	}
}

// TestRequestFromUpstreamOrphans checks that each result without a tool call is reported at a different
// path, for every id, and that other results keep their calls.
func TestRequestFromUpstreamOrphans(t *testing.T) {
	text := func(s string) *content.Text { return &content.Text{Text: s} }
	result := func(id, s string) *content.ToolResult {
		return &content.ToolResult{ID: id, Parts: []content.Part{text(s)}}
	}
	n := &upstream.Request{Turns: []content.Turn{
		{Role: content.RoleUser, Parts: []content.Part{text("q")}},
		{Role: content.RoleAssistant, Parts: []content.Part{&content.ToolUse{ID: "c1", Name: "n"}, &content.ToolUse{ID: "c2", Name: "n"}}},
		{Role: content.RoleUser, Parts: []content.Part{text(" "), result("", "a"), result("c2", "two"), result("", "b")}},
		{Role: content.RoleUser, Parts: []content.Part{result("x", "c"), result("c1", "one"), result("x", "d"), result("c1", "again")}},
	}}
	r, losses, _ := RequestFromUpstream(n)
	var orphans []string
	for _, l := range lossplaces.Of(losses) {
		if lower.ResultOrphan.Of(l) {
			orphans = append(orphans, l.Path)
		}
	}
	want := []string{"turns.2.parts.1", "turns.2.parts.3", "turns.3.parts.0", "turns.3.parts.2", "turns.3.parts.3"}
	if diff := cmp.Diff(want, orphans); diff != "" {
		t.Errorf("paths (-want +got):\n%s", diff)
	}
	parts := []content.Part{result("c2", "two"), result("c1", "one")}
	for _, s := range []string{"a", "b", "c", "d", "again"} {
		parts = append(parts, text("Result of a tool:"), text(s))
	}
	if diff := cmp.Diff(parts, r.Messages[len(r.Messages)-1].Parts); diff != "" {
		t.Errorf("parts (-want +got):\n%s", diff)
	}
}

// TestRequestFromUpstreamNilFiles checks that a result that refers to files may have nil files.
func TestRequestFromUpstreamNilFiles(t *testing.T) {
	var none *content.Base64
	n := &upstream.Request{Turns: []content.Turn{
		{Role: content.RoleAssistant, Parts: []content.Part{&content.ToolUse{ID: "1", Name: "n"}}},
		{Role: content.RoleUser, Parts: []content.Part{&content.ToolResult{ID: "1", Object: `{"$ref":"f"}`,
			Parts: []content.Part{nil, (*content.Image)(nil), &content.Image{Source: none}, &content.Document{}}}}},
	}}
	if _, _, err := RequestFromUpstream(n); err == nil {
		t.Error("no error")
	}
}
