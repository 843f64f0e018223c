package main

import (
	goformat "go/format"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/examples/internal/format"
)

// firstRequests are a request of each format. The texts cannot be in a raw string as they are.
var firstRequests = map[string]string{
	"messages":         "{\"model\":\"m\",\"max_tokens\":9,\r\n\"messages\":[{\"role\":\"user\",\"content\":\"Hi.\"}]}",
	"generatecontent":  "{\"contents\":[{\"parts\":[{\"text\":\"`a` \u2028\"}]}]}",
	"openai":           `{"model":"m","messages":[{"role":"user","content":"$HOME"}],"stream":true}`,
	"openai-responses": "{\"model\":\"m\",\"input\":\"\ufeffHi.\"}",
}

// A command has the address, the headers and the document of the vendor's own reference.
func TestCurl(t *testing.T) {
	want := map[string]string{
		"messages": `curl -N 'https://api.anthropic.com/v1/messages' \
  -H "anthropic-version: 2023-06-01" \
  -H "content-type: application/json" \
  -H "x-api-key: $ANTHROPIC_API_KEY" \
`,
		"generatecontent": `curl -N 'https://generativelanguage.googleapis.com/v1beta/models/gemini-3.1-pro-preview:streamGenerateContent?alt=sse' \
  -H "content-type: application/json" \
  -H "x-goog-api-key: $GEMINI_API_KEY" \
`,
		"openai": `curl -N 'https://api.openai.com/v1/chat/completions' \
  -H "authorization: Bearer $OPENAI_API_KEY" \
  -H "content-type: application/json" \
`,
		"openai-responses": `curl -N 'https://api.openai.com/v1/responses' \
  -H "authorization: Bearer $OPENAI_API_KEY" \
  -H "content-type: application/json" \
`,
	}
	for _, f := range format.All {
		body := taskBody(t, "openai", firstRequests["openai"], f.Name)
		var got document
		answer(t, "/api/curl", body, &got)
		head, rest, _ := strings.Cut(got.Text, "  -d @- <<'END'\n")
		if diff := cmp.Diff(want[f.Name], head); diff != "" {
			t.Errorf("%s (-want +got):\n%s", f.Name, diff)
		}
		var shown requestResult
		answer(t, "/api/request", body, &shown)
		if diff := cmp.Diff(shown.Outputs[0].Text+"\nEND\n", rest); diff != "" {
			t.Errorf("%s: document (-want +got):\n%s", f.Name, diff)
		}
	}
}

// Programs from and to each format compile.
func TestPrograms(t *testing.T) {
	for i, from := range format.All {
		t.Run(from.Name, func(t *testing.T) {
			to := format.All[(i+1)%len(format.All)]
			var got document
			answer(t, "/api/program", taskBody(t, from.Name, firstRequests[from.Name], to.Name), &got)
			file := filepath.Join(t.TempDir(), "main.go")
			if err := os.WriteFile(file, []byte(got.Text), 0o600); err != nil {
				t.Fatal(err)
			}
			if out, err := exec.Command("go", "vet", file).CombinedOutput(); err != nil {
				t.Errorf("%s\n%s", out, got.Text)
			}
			if formatted, err := goformat.Source([]byte(got.Text)); err != nil || string(formatted) != got.Text {
				t.Errorf("not formatted (%v):\n%s", err, got.Text)
			}
		})
	}
}

// What echo responds is an input of the page.
func TestEcho(t *testing.T) {
	for _, f := range format.All {
		var got document
		answer(t, "/api/echo", taskBody(t, f.Name, firstRequests[f.Name], f.Name), &got)
		want := recognized{"response", f.Name}
		if f.Name == "openai" {
			want.Kind = "stream"
		}
		if is := recognize(got.Text); is != want || (recognized{got.Kind, got.Format}) != want || !strings.Contains(got.Text, "turns.0") {
			t.Errorf("got %+v, want %+v: %+v", is, want, got)
		}
	}
}

func TestNoDocument(t *testing.T) {
	file := `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[{"type":"document","source":{"type":"file","file_id":"f"}}]}]}`
	tests := []struct{ name, path, text, target, want string }{
		{"invalid", "/api/echo", "{}", "messages", "messages"},
		{"file", "/api/curl", file, "openai", "file"},
	}
	for _, tt := range tests {
		w := call(t, newHandler(true), tt.path, taskBody(t, "messages", tt.text, tt.target))
		if w.Code != 400 || !strings.Contains(w.Body.String(), tt.want) {
			t.Errorf("%s: status %d: %s", tt.name, w.Code, w.Body)
		}
	}
}

// Each loss of the samples is on the page of losses, at its line.
func TestLossLines(t *testing.T) {
	lines := strings.Split(losses, "\n")
	n := 0
	check := func(list []loss) {
		for _, l := range list {
			n++
			if l.Line == 0 || !strings.Contains(lines[l.Line-1], "| "+l.Severity+" | "+l.Reason+" |") {
				t.Errorf("line %d of %+v", l.Line, l)
			}
		}
	}
	for _, s := range samples {
		body := taskBody(t, s.Format, s.Text, format.Names()...)
		switch s.Kind {
		case "request":
			var r requestResult
			answer(t, "/api/request", body, &r)
			check(r.Losses)
			for _, out := range r.Outputs {
				check(out.Losses)
			}
		case "response":
			var r responseResult
			answer(t, "/api/response", body, &r)
			check(r.Losses)
			for _, out := range r.Outputs {
				check(out.Losses)
			}
		}
	}
	if n < 20 {
		t.Errorf("the samples have %d losses", n)
	}
	if page := lossPage; !strings.Contains(page, `<div id="L300">`) || strings.Contains(page, "<1") {
		t.Error("the page of losses is not complete, or not escaped")
	}
}
