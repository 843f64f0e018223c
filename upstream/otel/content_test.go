package otelwire_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
	otelwire "github.com/polywire/polywire/upstream/otel"
)

// secret marks content, bytes marks the contents of files, and detail the texts of a
// vendor that may contain such bytes.
const (
	secret = "SECRET"
	bytes  = "Qllu"
)

// conversation returns a request and an upstream whose every text contains secret, and
// whose every file contains bytes.
func conversation() (*upstream.Request, upstream.Upstream) {
	file := func() content.Source { return &content.Base64{MediaType: "image/png", Data: bytes} }
	r := &upstream.Request{
		Model:  "demo",
		System: []content.Part{&content.Text{Text: "SECRET rules"}},
		Tools: []content.Tool{
			{Name: "look", Description: "SECRET <tool>", Input: content.Schema{JSON: `{"type": "object", "description": "SECRET"}`}},
			{Kind: "web_search", Name: "search", Raw: `{"secret":"SECRET"}`},
		},
		Turns: []content.Turn{
			{Role: content.RoleUser, Parts: []content.Part{
				&content.Text{Text: "SECRET question"},
				&content.Image{Source: file()},
				&content.Document{Title: "SECRET title", Source: &content.Base64{MediaType: "application/pdf", Data: bytes}},
				&content.Document{Source: &content.PlainText{Text: "SECRET notes"}},
				&content.Document{Source: &content.Parts{Parts: []content.Part{&content.Text{Text: "SECRET part"}, &content.Image{Source: file()}}}},
				&content.Media{Source: &content.Base64{MediaType: "audio/wav", Data: bytes}},
				&content.Image{Source: &content.URL{URL: "https://example.com/SECRET.png"}},
				&content.Image{Source: &content.URL{URL: "data:image/png;base64," + bytes}},
				&content.Media{Source: &content.File{ID: "SECRET_file", MediaType: "video/mp4"}},
				&content.SearchResult{Source: "https://example.com/SECRET", Title: "SECRET result", Parts: []content.Part{&content.Text{Text: "SECRET found"}}},
				&content.Unknown{Kind: "hologram", Raw: `{"data":"` + bytes + `"}`},
				nil, (*content.Text)(nil),
			}},
			{Role: content.RoleAssistant, Parts: []content.Part{
				&content.Thinking{Text: "SECRET thinking", Signature: content.Signature{Data: "signature"}},
				&content.ToolUse{ID: "c1", Name: "look", Input: `{"at": "SECRET"}`},
				&content.ToolUse{ID: "c2", Name: "look"},
				&content.ToolUse{ID: "c3", Name: "look", Input: `{"cut": "SEC`},
				&content.ServerToolUse{ID: "s1", Kind: "server_tool_use", Name: "search", Input: `{"query":"SECRET"}`},
				&content.ServerToolResult{ID: "s1", Kind: "web_search_tool_result", Content: `{"data":"` + bytes + `"}`},
			}},
			{Role: content.RoleUser, Parts: []content.Part{
				&content.ToolResult{ID: "c1", Parts: []content.Part{&content.Text{Text: "SECRET seen"}}, Object: `{"data":"` + bytes + `"}`},
				&content.ToolResult{ID: "c2", Parts: []content.Part{&content.Text{Text: "SECRET view"}, &content.Image{Source: file()}}},
				&content.ToolResult{ID: "c3"},
			}},
		},
	}
	up := upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		_ = w.Thinking("SECRET idea")
		_ = w.Text("SECRET ")
		_ = w.Text("reply")
		_ = w.Part(&content.Image{Source: file()})
		_ = w.Part(&content.ServerToolResult{ID: "s2", Kind: "code_result", Content: `{"data":"` + bytes + `"}`})
		_ = w.Part(&content.Unknown{Kind: "hologram", Raw: `{"data":"` + bytes + `"}`})
		c := w.ToolCall("c4", "look")
		_ = c.Input(`{"at":`)
		return c.Input(`"SECRET"}`)
	})
	return r, up
}

// TestNoContent checks that nothing that was sent or received is recorded by default.
func TestNoContent(t *testing.T) {
	rec := newRecorder()
	r, up := conversation()
	if err := upstream.Run(t.Context(), rec.wrap(up, otelwire.Options{}), r, discard); err != nil {
		t.Fatal(err)
	}
	s := rec.span(t, "chat demo")
	if all := fmt.Sprint(s.Attributes(), s.Events(), s.Status()); strings.Contains(all, secret) || strings.Contains(all, bytes) {
		t.Errorf("the span contains content: %s", all)
	}
}

func TestContent(t *testing.T) {
	rec := newRecorder()
	r, up := conversation()
	if err := upstream.Run(t.Context(), rec.wrap(up, otelwire.Options{Content: true}), r, discard); err != nil {
		t.Fatal(err)
	}
	got := attributes(rec.span(t, "chat demo").Attributes())
	for key, want := range map[string]string{
		"gen_ai.system_instructions": `[{"type":"text","content":"SECRET rules"}]`,
		"gen_ai.tool.definitions": `[
			{"type":"function","name":"look","description":"SECRET <tool>","parameters":{"type":"object","description":"SECRET"}},
			{"type":"web_search","name":"search"}
		]`,
		"gen_ai.input.messages": `[
			{"role":"user","parts":[
				{"type":"text","content":"SECRET question"},
				{"type":"blob","modality":"image","mime_type":"image/png"},
				{"type":"blob","modality":"document","mime_type":"application/pdf","title":"SECRET title"},
				{"type":"document","modality":"document","mime_type":"text/plain","content":"SECRET notes"},
				{"type":"document","modality":"document","parts":[{"type":"text","content":"SECRET part"},{"type":"blob","modality":"image","mime_type":"image/png"}]},
				{"type":"blob","modality":"audio","mime_type":"audio/wav"},
				{"type":"uri","modality":"image","uri":"https://example.com/SECRET.png"},
				{"type":"uri","modality":"image"},
				{"type":"file","modality":"video","mime_type":"video/mp4","file_id":"SECRET_file"},
				{"type":"search_result","uri":"https://example.com/SECRET","title":"SECRET result","parts":[{"type":"text","content":"SECRET found"}]},
				{"type":"hologram"}
			]},
			{"role":"assistant","parts":[
				{"type":"reasoning","content":"SECRET thinking"},
				{"type":"tool_call","id":"c1","name":"look","arguments":{"at":"SECRET"}},
				{"type":"tool_call","id":"c2","name":"look","arguments":{}},
				{"type":"tool_call","id":"c3","name":"look","arguments":"{\"cut\": \"SEC"},
				{"type":"server_tool_call","id":"s1","name":"search","server_tool_call":{"type":"server_tool_use","arguments":{"query":"SECRET"}}},
				{"type":"server_tool_call_response","id":"s1","server_tool_call_response":{"type":"web_search_tool_result"}}
			]},
			{"role":"tool","parts":[
				{"type":"tool_call_response","id":"c1","response":"SECRET seen"},
				{"type":"tool_call_response","id":"c2","response":[{"type":"text","content":"SECRET view"},{"type":"blob","modality":"image","mime_type":"image/png"}]},
				{"type":"tool_call_response","id":"c3","response":""}
			]}
		]`,
		"gen_ai.output.messages": `[{"role":"assistant","finish_reason":"tool_call","parts":[
			{"type":"reasoning","content":"SECRET idea"},
			{"type":"text","content":"SECRET reply"},
			{"type":"blob","modality":"image","mime_type":"image/png"},
			{"type":"server_tool_call_response","id":"s2","server_tool_call_response":{"type":"code_result"}},
			{"type":"hologram"},
			{"type":"tool_call","id":"c4","name":"look","arguments":{"at":"SECRET"}}
		]}]`,
	} {
		text, _ := got[key].(string)
		if diff := cmp.Diff(parse(t, want), parse(t, text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", key, diff)
		}
		if strings.Contains(text, bytes) {
			t.Errorf("%s contains the bytes of a file: %s", key, text)
		}
	}
	if text, _ := got["gen_ai.tool.definitions"].(string); !strings.Contains(text, "SECRET <tool>") {
		t.Errorf("gen_ai.tool.definitions escapes characters that JSON does not: %s", text)
	}
	if v, ok := got["polywire.content.truncated"]; ok {
		t.Errorf("polywire.content.truncated is %v, want none", v)
	}
}

func parse(t *testing.T, text string) (v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v
}

// TestLongContent checks that attributes are bounded, that the last turns are kept, and
// that the JSON stays valid.
func TestLongContent(t *testing.T) {
	const limit = 256 << 10
	long := strings.Repeat("é", 100<<10) // 200 KiB
	rec := newRecorder()
	r := prompt("first")
	for range 3 {
		r.Turns = append(r.Turns, content.Turn{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: long}}})
	}
	r.Turns = append(r.Turns, content.Turn{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: "last"}}})
	r.Tools = []content.Tool{{Name: "look", Input: content.Schema{JSON: `{"description":"` + long + long + `"}`}}}
	up := upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		for range 10_000 {
			if err := w.Text(strings.Repeat("x", 100)); err != nil {
				return err
			}
		}
		return nil
	})
	n := 0
	if err := upstream.Run(t.Context(), rec.wrap(up, otelwire.Options{Content: true}), r, upstream.SinkFunc(func(events []upstream.Event) error {
		for i := range events {
			n += len(events[i].Text)
		}
		return nil
	})); err != nil {
		t.Fatal(err)
	}
	if n != 1_000_000 {
		t.Errorf("the client received %d bytes of text, want 1000000", n)
	}
	got := attributes(rec.span(t, "chat demo").Attributes())
	if got["polywire.content.truncated"] != true {
		t.Error("polywire.content.truncated is not set")
	}
	for _, key := range []string{"gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.tool.definitions"} {
		text, _ := got[key].(string)
		if len(text) > limit+1<<10 || len(text) < limit/2 {
			t.Errorf("%s has %d bytes, want about %d", key, len(text), limit)
		}
		list := parse(t, text).([]any)
		if key == "gen_ai.input.messages" {
			last := list[len(list)-1].(map[string]any)["parts"].([]any)[0].(map[string]any)["content"]
			if last != "last" || len(list) != 3 {
				t.Errorf("%d messages, the last one is %v; want 3 and the last of the request", len(list), last)
			}
		}
	}
}

// TestLargeFile checks that a file in the response leaves space for the text after it.
func TestLargeFile(t *testing.T) {
	rec := newRecorder()
	w := rec.wrap(upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		_ = w.Part(&content.Image{Source: &content.Base64{MediaType: "image/png", Data: strings.Repeat(bytes, 1<<20)}})
		return w.Text("after")
	}), otelwire.Options{Content: true})
	if err := upstream.Run(t.Context(), w, prompt("Hi"), discard); err != nil {
		t.Fatal(err)
	}
	got := attributes(rec.span(t, "chat demo").Attributes())
	want := `[{"role":"assistant","parts":[{"type":"blob","modality":"image","mime_type":"image/png"},{"type":"text","content":"after"}],"finish_reason":"stop"}]`
	if got["gen_ai.output.messages"] != want || got["polywire.content.truncated"] != nil {
		t.Errorf("gen_ai.output.messages is %v, want %s", got["gen_ai.output.messages"], want)
	}
}
