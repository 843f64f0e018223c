package main

import (
	"fmt"
	"slices"
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

// A loss is listed at each of its places, and the first has the number of those that are not listed.
func TestPlaces(t *testing.T) {
	const n = 1003
	place := `"exclusiveMinimum":0`
	var tools []string
	for i := range n {
		tools = append(tools, fmt.Sprintf(`{"name":"f%d","input_schema":{"type":"object","properties":{"a":{"type":"number",%s}}}}`, i, place))
	}
	text := `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"Hi."}],"tools":[` + strings.Join(tools, ",") + `]}`
	var r requestResult
	answer(t, "/api/request", taskBody(t, "messages", text, "generatecontent"), &r)
	losses := slices.DeleteFunc(r.Outputs[0].Losses, func(l loss) bool { return !strings.HasSuffix(l.Path, "exclusiveMinimum") })
	if len(losses) != 1000 || losses[0].More != n-1000 {
		t.Fatalf("got %d places, %+v", len(losses), losses[0])
	}
	for i, l := range losses {
		if i > 0 && (l.More != 0 || l.Input.From <= losses[i-1].Input.From) || l.Reason != losses[0].Reason || cutText(text, *l.Input) != place {
			t.Fatalf("place %d: %+v", i, l)
		}
	}
}
