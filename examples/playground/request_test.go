package main

import (
	"strings"
	"testing"
)

// The output keeps the bytes of numbers and strings.
func TestNumbers(t *testing.T) {
	text := `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"f","input":{"a":1.50,"b":1e2,"c":"\u0061/\/"}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"b"}]}]}`
	var r requestResult
	answer(t, "/api/request", taskBody(t, "messages", text, "generatecontent", "messages"), &r)
	for _, out := range r.Outputs {
		for _, want := range []string{`"a": 1.50`, `"b": 1e2`, `"c": "\u0061/\/"`} {
			if !strings.Contains(out.Text, want) {
				t.Errorf("%s lacks %s:\n%s", out.Format, want, out.Text)
			}
		}
	}
}

// The model and the server of a target are those of the task.
func TestTargets(t *testing.T) {
	text := `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"Hi."}]}`
	body := []byte(`{"format":"messages","text":` + quote(t, text) + `,"targets":[{"format":"openai","model":"other"},
		{"format":"openai","model":"qwen3","url":"http://localhost:1/v1"},{"format":"openai","url":"::"},{"format":"messages"}]}`)
	var r requestResult
	answer(t, "/api/request", body, &r)
	if len(r.Outputs) != 4 || r.Tokens == nil {
		t.Fatalf("got %+v", r)
	}
	for i, want := range []string{`"model": "other"`, `"max_tokens": 9`, "", `"model": "m"`} {
		if out := r.Outputs[i]; !strings.Contains(out.Text, want) || (out.Error != "") != (want == "") || (out.Text == "") != (want == "") {
			t.Errorf("output %d: want %q: %+v", i, want, out)
		}
	}
}

// A target that cannot represent a request has an error with its place.
func TestUnsupported(t *testing.T) {
	audio := `{"inlineData":{"mimeType":"audio/wav","data":"UklGRgAAAABXQVZF"}}`
	text := `{"contents":[{"parts":[{"text":"Hi."},` + audio + `]}]}`
	var r requestResult
	body := strings.Replace(string(taskBody(t, "generatecontent", text, "messages", "openai")), `"format":"openai","model":""`, `"format":"openai","model":"gpt-audio"`, 1)
	answer(t, "/api/request", []byte(body), &r)
	out := r.Outputs[0]
	if out.Error == "" || out.Text != "" || len(out.Violations) != 1 || out.Violations[0].Path != "contents[0].parts[1]" || cutText(text, out.Violations[0].span) != audio {
		t.Errorf("got %+v", out)
	}
	if r.Outputs[1].Error != "" {
		t.Errorf("got %+v", r.Outputs[1])
	}
}

// Files that an adapter would load are listed.
func TestFiles(t *testing.T) {
	text := `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[{"type":"document","source":{"type":"url","url":"https://example.com/a.pdf"}},{"type":"document","source":{"type":"file","file_id":"file_1"}}]}]}`
	var r requestResult
	answer(t, "/api/request", taskBody(t, "messages", text, "openai"), &r)
	if got := strings.Join(r.Outputs[0].Files, ", "); got != "link https://example.com/a.pdf, file id file_1" {
		t.Errorf("got %q in %+v", got, r.Outputs[0])
	}
}

// Hints that a list for people shows as one refer to the first of them.
func TestFoldedHints(t *testing.T) {
	marked := `{"role":"user","content":[{"type":"text","text":"Hi.","cache_control":{"type":"ephemeral"}}]},`
	text := `{"model":"m","max_tokens":9,"messages":[` + strings.TrimSuffix(strings.Repeat(marked, 3), ",") + `]}`
	var r requestResult
	answer(t, "/api/request", taskBody(t, "messages", text, "openai"), &r)
	losses := r.Outputs[0].Losses
	if len(losses) != 3 || losses[0].FoldedInto != nil {
		t.Fatalf("got %+v", losses)
	}
	for i, l := range losses {
		if i > 0 && (l.FoldedInto == nil || *l.FoldedInto != 0) {
			t.Errorf("loss %d is not folded: %+v", i, l)
		}
		if l.Input == nil || cutText(text, *l.Input) != `"cache_control":{"type":"ephemeral"}` || i > 0 && l.Input.From <= losses[i-1].Input.From {
			t.Errorf("place of loss %d: %+v", i, l.Input)
		}
	}
}
