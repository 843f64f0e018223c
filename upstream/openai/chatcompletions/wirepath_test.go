package chatcompletions

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/document"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/upstream"
)

// conversation has a message of each kind. Its first messages are system texts.
const conversation = `{"model":"m","max_completion_tokens":9,"messages":[
{"role":"system","content":""},
{"role":"system","content":"a"},
{"role":"developer","name":"n","content":[{"type":"text","text":"b"},{"type":"text","text":"c"}]},
{"role":"user","name":"u","content":"d"},
{"role":"user","content":[{"type":"text","text":"e"},{"type":"image_url","image_url":{"url":"https://example.com/a.png","detail":"low"}},{"type":"file","file":{"filename":"f","file_id":"1"}},{"type":"input_audio","input_audio":{"data":"AAAA","format":"wav"}}]},
{"role":"assistant","reasoning":"r","content":[{"type":"text","text":"f"}],"refusal":"g","tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"2","type":"custom","custom":{"name":"g","input":"x"}}]},
{"role":"tool","tool_call_id":"1","content":"x"},
{"role":"tool","tool_call_id":"2","content":[{"type":"text","text":"y"},{"type":"text","text":"z"}]},
{"role":"assistant","content":"h","function_call":{"name":"f","arguments":"{}"}},
{"role":"function","name":"f","content":"i"},
{"role":"user","content":"j"}],
"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}},{"type":"custom","custom":{"name":"g"}},{"type":"web"}],
"functions":[{"name":"f"}]}`

func TestPath(t *testing.T) {
	r := parsed(t, conversation)
	if err := r.Validate(nil); err != nil {
		t.Fatal(err)
	}
	for _, tt := range [][2]string{
		{"model", "model"},
		{"system", "messages"},
		{"system.0", "messages[1].content"},
		{"system.0.text", "messages[1].content"},
		{"system.1", "messages[2].content[0]"},
		{"system.2.extra.name", "messages[2].name"},
		{"turns", "messages"},
		{"turns.0", "messages[3]"},
		{"turns.0.extra.name", "messages[3].name"},
		{"turns.0.parts", "messages[3].content"},
		{"turns.0.parts.0", "messages[3].content"},
		{"turns.1.parts.0.text", "messages[4].content[0].text"},
		{"turns.1.parts.1.source", "messages[4].content[1].image_url.url"},
		{"turns.1.parts.1.extra.detail", "messages[4].content[1].image_url.detail"},
		{"turns.1.parts.2.source", "messages[4].content[2].file.file_id"},
		{"turns.1.parts.2.title", "messages[4].content[2].file.filename"},
		{"turns.1.parts.3", "messages[4].content[3]"},
		{"turns.1.parts.3.source", "messages[4].content[3].input_audio.data"},
		{"turns.2.parts.0", "messages[5].reasoning"},
		{"turns.2.parts.1", "messages[5].content[0]"},
		{"turns.2.parts.2", "messages[5].refusal"},
		{"turns.2.parts.3", "messages[5].tool_calls[0]"},
		{"turns.2.parts.3.input", "messages[5].tool_calls[0].function.arguments"},
		{"turns.2.parts.4.name", "messages[5].tool_calls[1].custom.name"},
		{"turns.2.parts.4.text", "messages[5].tool_calls[1].custom.input"},
		{"turns.3", "messages[6]"},
		{"turns.3.parts.0", "messages[6]"},
		{"turns.3.parts.0.parts.0", "messages[6].content"},
		{"turns.3.parts.1.id", "messages[7].tool_call_id"},
		{"turns.3.parts.1.parts.1.text", "messages[7].content[1].text"},
		{"turns.4.parts.0", "messages[8].content"},
		{"turns.4.parts.1.name", "messages[8].function_call.name"},
		{"turns.5.parts.0", "messages[9]"},
		{"turns.6.parts.0", "messages[10].content"},
		{"turns.99.parts.1", "messages[99].content[1]"},
		{"tools.0.input.properties", "tools[0].function.parameters.properties"},
		{"tools.0.extra.x", "tools[0].x"},
		{"tools.1.grammar", "tools[1].custom.format.grammar"},
		{"tools.2", "tools[2]"},
		{"tools.3.description", "functions[0].description"},
		{"max_tokens", "max_completion_tokens"},
		{"stop_sequences.1", "stop[1]"},
		{"candidates", "n"},
		{"user_id", "user"},
		{"thinking.effort", "reasoning_effort"},
		{"choice.mode", "tool_choice"},
		{"choice.no_parallel", "parallel_tool_calls"},
		{"output.schema.properties", "response_format.json_schema.schema.properties"},
		{"output.verbosity", "verbosity"},
		{"extra.logit_bias", "logit_bias"},
		{"extra.response_format.x", "response_format.x"},
		{"parts.1", "choices[0].message"},
		{"stop", "choices[0].finish_reason"},
		{"candidates.1.parts.0", "choices[1].message"},
		{"candidates.1.stop", "choices[1].finish_reason"},
		{"candidates.1.groundingMetadata", "choices[1].groundingMetadata"},
		{"candidates.1", "choices[1]"},
	} {
		if got := r.Path(tt[0]); got != tt[1] {
			t.Errorf("%s: got %s, want %s", tt[0], got, tt[1])
		}
	}
	r = &Request{Extra: own(`{"reasoning":{"max_tokens":2000,"exclude":true}}`)}
	if got := r.Path("thinking.budget"); got != "reasoning.max_tokens" {
		t.Errorf("the amount of thinking is at %s", got)
	}
}

// Clients return ids unaltered, and in them the state of other vendors.
func TestReturnedState(t *testing.T) {
	sig := content.Signature{Format: "generatecontent", Data: "c2lnbmF0dXJl"}
	id, ok := envelope.EncodeID("1", envelope.Envelope{Format: sig.Format, Kind: envelope.KindPart, Data: sig.Data})
	if !ok {
		t.Fatal("no id")
	}
	body := func(id string) string {
		return `{"model":"m","messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b","tool_calls":[{"id":"` + id +
			`","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"` + id + `","content":"x"}]}`
	}
	n, losses, err := DecodeRequest([]byte(body(id)), nil)
	if err != nil || len(losses) > 0 {
		t.Fatal(err, losses)
	}
	want := []content.Part{&content.Text{Text: "b"}, &content.ToolUse{ID: "1", Name: "f", Input: "{}", Signature: sig}}
	if diff := cmp.Diff(want, n.Turns[1].Parts); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := n.Turns[2].Parts[0].(*content.ToolResult).ID; got != "1" {
		t.Errorf("the result has the id %s", got)
	}
	if _, ok := upstream.WireOf(n, Format); ok {
		t.Error("a document with foreign state would be sent as it is")
	}
	if got := n.Path("turns.1.parts.1.signature"); got != "messages[1].tool_calls[0].id" {
		t.Errorf("the path of the signature is %s", got)
	}
	_, losses, err = DecodeRequest([]byte(body(id[:len(id)-1])), nil)
	if err != nil || len(losses) != 1 || losses[0].Path != "turns.1.parts.1.signature" {
		t.Errorf("a damaged id: %v, %v", losses, err)
	}
}

func TestReferencedFiles(t *testing.T) {
	r := parsed(t, conversation)
	var got []string
	for _, f := range referencedFiles(r, &ValidateOptions{}) {
		got = append(got, f.Path)
		pdf := content.Blob{MediaType: "application/pdf", Data: []byte("%PDF-1.4\n")}
		if err := f.Check(pdf); (err == nil) != (f.Path == "messages[4].content[2].file.file_id") {
			t.Errorf("%s: a PDF: %v", f.Path, err)
		}
	}
	if diff := cmp.Diff([]string{"messages[4].content[1].image_url.url", "messages[4].content[2].file.file_id"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A loaded file is accepted where the same file within the request is.
func TestLoadedText(t *testing.T) {
	const file = `{"type":"file","file":{"file_data":"data:text/plain;base64,YQ=="}}`
	r := parsed(t, withParts(`{"type":"file","file":{"file_id":"f"}},`+file))
	for _, strict := range []bool{false, true} {
		opts := &ValidateOptions{Strict: strict}
		loaded := referencedFiles(r, opts)[0].Check(content.Blob{MediaType: "text/plain", Data: []byte("a")})
		if inline := r.Validate(opts); (inline == nil) == strict || (loaded == nil) != (inline == nil) {
			t.Errorf("strict %v: loaded: %v, within the request: %v", strict, loaded, inline)
		}
	}
}

func TestWireOf(t *testing.T) {
	n, _, err := DecodeRequest([]byte(conversation), nil)
	if err != nil {
		t.Fatal(err)
	}
	if text, ok := upstream.WireOf(n, Format); !ok || text != conversation {
		t.Error("the document of an unchanged request is not available")
	}
	if text, ok := upstream.WireOf(n.WithModel("x"), Format); !ok || text != conversation {
		t.Error("the document of a request with another model is not available")
	}
	var spans []string
	for _, s := range document.Of(n.Wire).Spans {
		spans = append(spans, s.Name+" "+conversation[s.From:s.To])
	}
	if diff := cmp.Diff([]string{`model "m"`}, spans); diff != "" {
		t.Errorf("spans (-want +got):\n%s", diff)
	}
	for name, change := range map[string]func(n *upstream.Request){
		"system": func(n *upstream.Request) { n.System[0].(*content.Text).Text = "x" },
		"call":   func(n *upstream.Request) { n.Turns[2].Parts[4].(*content.ToolUse).Text = "y" },
		"result": func(n *upstream.Request) { n.Turns[3].Parts[0].(*content.ToolResult).ID = "x" },
		"seed":   func(n *upstream.Request) { n.Seed = ptr(int64(1)) },
	} {
		n, _, _ := DecodeRequest([]byte(conversation), nil)
		change(n)
		if _, ok := upstream.WireOf(n, Format); ok {
			t.Errorf("%s: the document of a changed request is available", name)
		}
	}
}
