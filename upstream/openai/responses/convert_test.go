package responses

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/upstream"
)

// describe returns a conversation as one line for each turn: its role and its parts.
func describe(system []content.Part, turns []content.Turn) string {
	var s strings.Builder
	part := func(p content.Part) {
		switch p := p.(type) {
		case *content.Text:
			s.WriteString(" " + p.Text)
			if p.Refusal {
				s.WriteString("(refusal)")
			}
		case *content.Thinking:
			s.WriteString(" thinking(" + p.Text + ")")
		case *content.ToolUse:
			s.WriteString(" call(" + p.ID + ")")
		case *content.ToolResult:
			s.WriteString(" result(" + p.ID + ")")
		case *content.Unknown:
			s.WriteString(" " + p.Kind + "()")
		default:
			s.WriteString(" file")
		}
	}
	if len(system) > 0 {
		s.WriteString("system:")
		for _, p := range system {
			part(p)
		}
		s.WriteString("\n")
	}
	for i := range turns {
		s.WriteString(string(turns[i].Role) + ":")
		for _, p := range turns[i].Parts {
			part(p)
		}
		s.WriteString("\n")
	}
	return s.String()
}

// TestTurns checks how items become turns.
func TestTurns(t *testing.T) {
	const call, output = `{"type":"function_call","call_id":"a","name":"f","arguments":"{}"}`, `{"type":"function_call_output","call_id":"a","output":"x"}`
	for _, tt := range []struct{ name, items, want string }{
		{"leading system and developer", `{"role":"system","content":"s"},{"role":"developer","content":[{"type":"input_text","text":"d"}]},` + userHi, "system: s d\nuser: hi\n"},
		{"developer in between", userHi + `,{"role":"developer","content":"d"},{"role":"user","content":"more"}`, "user: hi\nsystem: d\nuser: more\n"},
		{"parallel calls", userHi + `,{"role":"assistant","content":"t"},` + call + `,{"type":"custom_tool_call","call_id":"b","name":"g","input":"i"},` + output +
			`,{"type":"custom_tool_call_output","call_id":"b","output":"y"},{"role":"user","content":"go on"}`,
			"user: hi\nassistant: t call(a) call(b)\nuser: result(a) result(b) go on\n"},
		{"tools do not divide turns", userHi + `,` + call + `,{"type":"additional_tools","role":"developer","tools":[]},` + call + `,` + output,
			"user: hi\nassistant: call(a) call(a)\nuser: result(a)\n"},
		{"tools before the system", `{"type":"additional_tools","role":"developer","tools":[]},{"role":"developer","content":"d"},` + userHi, "system: d\nuser: hi\n"},
		{"refusal", userHi + `,{"type":"message","role":"assistant","content":[{"type":"refusal","refusal":"no"}]},` + userHi, "user: hi\nassistant: no(refusal)\nuser: hi\n"},
		{"empty messages", `{"role":"user","content":""},{"role":"assistant","content":""},` + userHi, "user:\nassistant:\nuser: hi\n"},
		{"reasoning without state", userHi + `,{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"s"}],"encrypted_content":null},{"role":"assistant","content":"t"},` + userHi,
			"user: hi\nassistant: thinking(s) t\nuser: hi\n"},
		{"raw reasoning", userHi + `,{"type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"r"}]},{"role":"assistant","content":"t"},` + userHi,
			"user: hi\nassistant: thinking(r) t\nuser: hi\n"},
		{"hosted tools", userHi + `,{"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","query":"q"}},{"type":"computer_call","call_id":"c"},` +
			`{"type":"computer_call_output","call_id":"c","output":{}},{"type":"acme:item","id":"x"}`,
			"user: hi\nassistant: web_search_call() computer_call() computer_call_output() acme:item()\n"},
		{"compaction of the vendor", `{"type":"compaction","encrypted_content":"gAAA"},` + userHi, "assistant: compaction()\nuser: hi\n"},
		{"compaction of this module", `{"type":"compaction","id":"cmp_1","encrypted_content":"` + ourSummary + `"},` + userHi, "user: Summary of the conversation so far:\n\nWe met. hi\n"},
		{"request for a compaction", userHi + `,{"type":"compaction_trigger"}`, "user: hi " + textSummarize + "\n"},
	} {
		n, losses, err := DecodeRequest([]byte(withInput(tt.items)), nil)
		if err != nil || len(losses) > 0 {
			t.Errorf("%s: %v, %v", tt.name, err, losses)
			continue
		}
		if diff := cmp.Diff(tt.want, describe(n.System, n.Turns)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
	n, _, err := DecodeRequest([]byte(`{"model":"m","instructions":"i","input":"hi"}`), nil)
	if err != nil || describe(n.System, n.Turns) != "system: i\nuser: hi\n" {
		t.Errorf("instructions: %v, %s", err, describe(n.System, n.Turns))
	}
}

var ourSummary, _ = encodeCompaction("We met.")

// TestForeignItems checks what other formats do with items that only this one has.
func TestForeignItems(t *testing.T) {
	if !foreign.IsState(&content.Unknown{Format: Format, Kind: "compaction", Raw: `{"type":"compaction","encrypted_content":"gAAA"}`}) {
		t.Error("a compaction of the vendor would be left out")
	}
}

// TestParts checks the neutral form of parts.
func TestParts(t *testing.T) {
	extra := func(json string) *content.Extra { return &content.Extra{Format: Format, JSON: json} }
	for json, want := range map[string]content.Part{
		`{"type":"input_text","text":"x","prompt_cache_breakpoint":{"mode":"explicit","ttl":"30m"}}`: &content.Text{Text: "x", Cache: &content.Cache{TTL: "30m"}},
		`{"type":"input_image","image_url":"https://a.example/x.png","detail":"low"}`:                &content.Image{Source: &content.URL{URL: "https://a.example/x.png"}, Extra: extra(`{"detail":"low"}`)},
		`{"type":"input_image","image_url":null,"file_id":"file-1","detail":null}`:                   &content.Image{Source: &content.File{ID: "file-1"}},
		`{"type":"input_file","file_url":"https://a.example/x.pdf"}`:                                 &content.Document{Source: &content.URL{URL: "https://a.example/x.pdf"}},
		`{"type":"input_file","file_data":"data:application/pdf;base64,JVBERi0xLjQK","filename":"a.pdf"}`: &content.Document{
			Title: "a.pdf", Source: &content.Base64{MediaType: "application/pdf", Data: "JVBERi0xLjQK"}},
		`{"type":"input_file","filename":"a.txt","file_data":"aGk="}`: &content.Document{Title: "a.txt", Source: &content.Base64{MediaType: "text/plain", Data: "aGk="}},
		`{"type":"input_audio","input_audio":{"data":"UklGRiQAAABXQVZFZm10IA==","format":"wav"}}`: &content.Media{
			Source: &content.Base64{MediaType: "audio/wav", Data: "UklGRiQAAABXQVZFZm10IA=="}},
		`{"type":"input_new","x":1}`: &content.Unknown{Format: Format, Kind: "input_new", Raw: `{"type":"input_new","x":1}`},
	} {
		n, _, err := DecodeRequest([]byte(withInput(`{"role":"user","content":[`+json+`]}`)), nil)
		if err != nil {
			t.Errorf("%s: %v", json, err)
			continue
		}
		if diff := cmp.Diff([]content.Part{want}, n.Turns[0].Parts); diff != "" {
			t.Errorf("%s (-want +got):\n%s", json, diff)
		}
	}
}

// TestCitations checks the citations of earlier responses.
func TestCitations(t *testing.T) {
	const other = `{"type":"file_citation","file_id":"f","filename":"a.pdf","index":3}`
	n, _, err := DecodeRequest([]byte(withInput(userHi+`,{"role":"assistant","content":[{"type":"output_text","text":"abc","annotations":[`+
		`{"type":"url_citation","start_index":0,"end_index":2,"url":"https://a.example","title":"A"},`+other+`],"logprobs":[]}]},`+userHi)), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []content.Part{&content.Text{Text: "abc", Citations: []content.Citation{
		{Kind: content.CiteWeb, Title: "A", URL: "https://a.example", End: 2},
		{Title: "a.pdf", FileID: "f", Extra: &content.Extra{Format: Format, JSON: other}},
	}}}
	if diff := cmp.Diff(want, n.Turns[1].Parts); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// state returns the encrypted_content for thinking of another vendor.
func state(t *content.Thinking, f content.Format) string {
	s, _ := envelope.Encode(f, envelope.KindThinking, envelope.EncodeThinking([]*content.Thinking{t}))
	return s
}

// TestState checks that the state of other vendors comes back byte for byte.
func TestState(t *testing.T) {
	signed := content.Signature{Format: "messages", Data: "c2ln"}
	id, _ := envelope.EncodeID("fc-1", envelope.Envelope{Format: "generatecontent", Kind: envelope.KindPart, Data: "Ci=="})
	item := func(summary, encrypted string) string {
		return userHi + `,{"type":"reasoning","id":"rs_1","summary":[` + summary + `],"encrypted_content":"` + encrypted + `"},{"role":"assistant","content":"t"},` + userHi
	}
	escaped := func(s string) string { return strings.ReplaceAll(s, `"`, `\"`) }
	const summary = `{"type":"summary_text","text":"I think."}`
	for _, tt := range []struct {
		name, items string
		want        content.Part
		losses      int
	}{
		{"signed thinking", item(summary, escaped(state(&content.Thinking{Signature: signed}, "messages"))), &content.Thinking{Text: "I think.", Signature: signed}, 0},
		{"unsigned", item(summary, envelope.Unsigned), &content.Thinking{Text: "I think."}, 0},
		{"hidden text", item("", escaped(state(&content.Thinking{Text: "Hm.", Signature: signed}, "messages"))), &content.Thinking{Text: "Hm.", Signature: signed}, 0},
		{"redacted", item("", escaped(state(&content.Thinking{Redacted: signed}, "messages"))), &content.Thinking{Redacted: signed}, 0},
		{"damaged", item(summary, "pw1.messages.0000000000000000.t[]"), &content.Thinking{Text: "I think.", Signature: content.Signature{Data: "pw1.messages.0000000000000000.t[]"}}, 1},
		{"of the vendor", item(summary, "gAAA"), &content.Thinking{Text: "I think.", Signature: content.Signature{Format: Format,
			Data: `{"type":"reasoning","id":"rs_1","summary":[` + summary + `],"encrypted_content":"gAAA"}`}}, 0},
		{"call", userHi + `,{"type":"function_call","call_id":"` + id + `","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"` + id + `","output":"x"}`,
			&content.ToolUse{ID: "fc-1", Name: "f", Input: "{}", Signature: content.Signature{Format: "generatecontent", Data: "Ci=="}}, 0},
	} {
		body := strings.Replace(withInput(tt.items), "{", "{", 1)
		if tt.name == "of the vendor" {
			body = strings.Replace(body, `{"role":"assistant","content":"t"}`, `{"type":"message","id":"msg_1","role":"assistant","content":"t"}`, 1)
		}
		n, losses, err := DecodeRequest([]byte(body), nil)
		if err != nil || len(losses) != tt.losses {
			t.Errorf("%s: %v, losses %v", tt.name, err, losses)
			continue
		}
		if diff := cmp.Diff(tt.want, n.Turns[1].Parts[0]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
		if _, ok := upstream.WireOf(n, Format); ok != (tt.name == "of the vendor") {
			t.Errorf("%s: the document is sent: %t", tt.name, ok)
		}
		if tt.losses > 0 && n.Path(losses[0].Path) != "input[1].encrypted_content" {
			t.Errorf("%s: the loss is at %s", tt.name, n.Path(losses[0].Path))
		}
		if result, ok := n.LastParts()[0].(*content.ToolResult); ok && result.ID != "fc-1" {
			t.Errorf("%s: the result is of %s", tt.name, result.ID)
		}
	}
}

// TestPaths checks that neutral paths become those of the document.
func TestPaths(t *testing.T) {
	const body = `{"model":"m","instructions":"i","tools":[{"type":"web_search"},{"type":"namespace","name":"n","tools":[{"type":"function","name":"f"}]},{"type":"function","name":"g"}],"input":[` +
		`{"role":"developer","content":"d"},` + // 0
		userHi + `,` + // 1
		`{"role":"user","content":[{"type":"input_text","text":"a"},{"type":"input_image","file_id":"f"}]},` + // 2
		`{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"s"}]},` + // 3
		`{"role":"assistant","content":""},` + // 4
		`{"type":"function_call","call_id":"a","name":"f","arguments":"{}"},` + // 5
		`{"type":"custom_tool_call","call_id":"b","name":"g","input":"x"},` + // 6
		`{"type":"function_call_output","call_id":"a","output":"x"},` + // 7
		`{"type":"custom_tool_call_output","call_id":"b","output":[{"type":"input_text","text":"x"},{"type":"input_file","file_url":"https://a.example/x"}]}]}` // 8
	n, _, err := DecodeRequest([]byte(body), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ neutral, want string }{
		{"model", "model"},
		{"system.0", "instructions"},
		{"system.1", "input[0].content"},
		{"turns.0.parts.0", "input[1].content"},
		{"turns.0.parts.1.text", "input[2].content[0].text"},
		{"turns.0.parts.2.source", "input[2].content[1].file_id"},
		{"turns.0.parts.2.cache", "input[2].content[1].prompt_cache_breakpoint"},
		{"turns.0.parts.2.extra.detail", "input[2].content[1].detail"},
		{"turns.0", "input[1]"},
		{"turns.1.parts.0", "input[3]"},
		{"turns.1.parts.0.signature", "input[3].encrypted_content"},
		{"turns.1.parts.0.text", "input[3].summary"},
		{"turns.1.parts.1.input", "input[5].arguments"},
		{"turns.1.parts.1.id", "input[5].call_id"},
		{"turns.1.parts.2.text", "input[6].input"},
		{"turns.2.parts.0.parts.0", "input[7].output"},
		{"turns.2.parts.1.parts.1.source", "input[8].output[1].file_url"},
		{"turns.2.parts.1.name", "input[8].name"},
		{"tools.0", "tools[0]"},
		{"tools.1.description", "tools[1].tools[0].description"},
		{"tools.2.input", "tools[2].parameters"},
		{"thinking.effort", "reasoning.effort"},
		{"thinking.display", "reasoning.summary"},
		{"choice.names", "tool_choice"},
		{"output.schema.properties.a", "text.format.schema.properties.a"},
		{"max_tokens", "max_output_tokens"},
		{"extra.metadata", "metadata"},
		{"extra.reasoning.context", "reasoning.context"},
		{"candidates.0.parts.2", "output[2]"},
		{"parts.2.signature", "output[2].signature"},
		{"stop", "incomplete_details.reason"},
		{"turns.9.parts.9", "input"},
	} {
		if got := n.Path(tt.neutral); got != tt.want && !(strings.HasPrefix(tt.neutral, "turns.9") && strings.HasPrefix(got, tt.want)) {
			t.Errorf("%s is %s, want %s", tt.neutral, got, tt.want)
		}
	}
	n, _, err = DecodeRequest([]byte(`{"model":"m","input":"hi"}`), nil)
	if err != nil || n.Path("turns.0.parts.0") != "input" {
		t.Errorf("a string: %v, %s", err, n.Path("turns.0.parts.0"))
	}
	n, _, err = DecodeRequest([]byte(withInput(`{"role":"developer","content":"a"},{"role":"system","content":"b"},{"type":"additional_tools","tools":[]},{"role":"developer","content":"c"},`+userHi)), nil)
	if err != nil {
		t.Fatal(err)
	}
	for neutral, want := range map[string]string{"system.0": "input[0].content", "system.1": "input[1].content", "system.2": "input[3].content", "turns.0.parts.0": "input[4].content"} {
		if got := n.Path(neutral); got != want {
			t.Errorf("%s is %s, want %s", neutral, got, want)
		}
	}
	r, err := ParseRequest([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range r.referencedFiles(nil) {
		got = append(got, f.Path)
	}
	if diff := cmp.Diff([]string{"input[2].content[1].file_id", "input[8].output[1].file_url"}, got); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

// TestWireOf checks when the document is sent as it is.
func TestWireOf(t *testing.T) {
	n, _, err := DecodeRequest([]byte(codexKnownModel), nil)
	if err != nil {
		t.Fatal(err)
	}
	if s, ok := upstream.WireOf(n.WithModel("other"), Format); !ok || s != codexKnownModel {
		t.Error("another model has no document")
	}
	if _, ok := upstream.WireOf(n.Clone(), Format); ok {
		t.Error("a clone has the document")
	}
	n.Turns[0].Parts[0].(*content.Text).Text = "changed"
	if _, ok := upstream.WireOf(n, Format); ok {
		t.Error("a changed request has the document")
	}
}
