package main

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/polywire/polywire/internal/test/fake"
	"github.com/polywire/polywire/internal/test/fake/anthropic"
	"github.com/polywire/polywire/internal/test/fake/gemini"
	"github.com/polywire/polywire/internal/test/fake/openai"
)

// Every adapter serves the clients of both formats, with the host's key and the model of
// -model.
func TestVendors(t *testing.T) {
	const key, clientKey = "host-key", "client-key"
	always := []fake.Piece{fake.Text("Ahoy there.")}
	tests := map[string]func(*testing.T) string{
		"anthropic": func(t *testing.T) string {
			f := anthropic.New(t, anthropic.Options{Key: key, Forbid: []string{clientKey}, Models: []string{"m"}})
			f.Always(always...)
			return f.URL
		},
		"gemini": func(t *testing.T) string {
			f := gemini.New(t, gemini.Options{Key: key, Forbid: []string{clientKey}, Models: []string{"m"}})
			f.Always(always...)
			return f.URL
		},
		"openai": func(t *testing.T) string {
			f := openai.New(t, openai.Options{Key: key, Forbid: []string{clientKey}, Models: []string{"m"}})
			f.Always(always...)
			return f.Base()
		},
		"openai-responses": func(t *testing.T) string {
			f := openai.New(t, openai.Options{Key: key, Forbid: []string{clientKey}, Models: []string{"m"}})
			f.Always(always...)
			return f.Base()
		},
	}
	t.Setenv(keyVariable, key)
	for name, vendor := range tests {
		t.Run(name, func(t *testing.T) {
			g := start(t, "-upstream", name, "-upstream-url", vendor(t), "-model", "m", "-log", "off")
			defer g.stop(t)
			for path, body := range map[string]string{
				"/v1/messages": `{"model":"x","max_tokens":99,"messages":[{"role":"user","content":"Hi."}]}`,
				"/v1beta/models/x:streamGenerateContent?alt=sse": `{"contents":[{"parts":[{"text":"Hi."}]}]}`,
			} {
				status, text := send(t, g.url+path, clientKey, body)
				if status != http.StatusOK || !strings.Contains(text, "Ahoy there") {
					t.Errorf("%s: %d %s", path, status, text)
				}
			}
		})
	}
}

// A request with a PDF fails for a server that reads no PDFs, naming the block, unless
// -reads or -unread allows it.
func TestReads(t *testing.T) {
	const pdf = "JVBERi0xLjQK"
	body := `{"model":"x","max_tokens":99,"messages":[{"role":"user","content":[{"type":"document","title":"plan.pdf","source":{"type":"base64","media_type":"application/pdf","data":"` + pdf + `"}},{"type":"text","text":"Hi."}]}]}`
	for _, tt := range []struct {
		name   string
		flags  []string
		status int
		want   string // in the request to the server or, if there is none, in the response
	}{
		{"default", nil, http.StatusBadRequest, "messages.0.content.0"},
		{"note", []string{"-unread", "note"}, http.StatusOK, `[Here is a file that you cannot read: application/pdf, \"plan.pdf\".]`},
		{"server that reads PDFs", []string{"-reads", "pdf"}, http.StatusOK, "data:application/pdf;base64," + pdf},
		{"text only", []string{"-reads", "text"}, http.StatusBadRequest, "messages.0.content.0"},
	} {
		for _, name := range []string{"openai", "openai-responses"} {
			t.Run(tt.name+"/"+name, func(t *testing.T) {
				f := openai.New(t, openai.Options{Local: true, Models: []string{"m"}})
				f.Always(fake.Text("Ahoy there."))
				g := start(t, append([]string{"-upstream", name, "-upstream-url", f.Base(), "-model", "m", "-log", "off"}, tt.flags...)...)
				defer g.stop(t)
				status, got := send(t, g.url+"/v1/messages", "any", body)
				if sent := f.Requests(); len(sent) > 0 {
					got = string(sent[0].Body)
				}
				if status != tt.status || !strings.Contains(got, tt.want) {
					t.Errorf("%d %s, want %d and %s", status, got, tt.status, tt.want)
				}
			})
		}
	}
}

// -think-tags converts thinking in texts.
func TestThinkTags(t *testing.T) {
	const body = `{"model":"x","max_tokens":99,"thinking":{"type":"enabled","budget_tokens":2000},"messages":[{"role":"user","content":"Hi."}]}`
	for _, tt := range []struct{ flag, response, want string }{
		{"off", "<think>Hm.</think>Ahoy.", `"type":"text","text":"<think>Hm.</think>Ahoy."`},
		{"leading", "<think>Hm.</think>Ahoy.", `"thinking":"Hm."`},
		{"open", "Hm.</think>Ahoy.", `"thinking":"Hm."`},
	} {
		f := openai.New(t, openai.Options{Local: true, Models: []string{"m"}})
		f.Always(fake.Text(tt.response))
		g := start(t, "-upstream", "openai", "-upstream-url", f.Base(), "-model", "m", "-log", "off", "-think-tags", tt.flag)
		if status, text := send(t, g.url+"/v1/messages", "any", strings.Replace(body, "99", "9999", 1)); status != http.StatusOK || !strings.Contains(text, tt.want) {
			t.Errorf("%s: %d %s, want %s", tt.flag, status, text, tt.want)
		}
		g.stop(t)
	}
}

// The log has the URL that the upstream requests, and a warning if it is probably wrong.
func TestEndpointLog(t *testing.T) {
	t.Setenv(keyVariable, "k-secret")
	for _, tt := range []struct {
		flags, url string
		warns      bool
	}{
		{"-upstream anthropic", "https://api.anthropic.com/v1/messages", false},
		{"-upstream anthropic -upstream-url http://h:1/v1?key=k-query", "http://h:1/v1/messages", false},
		{"-upstream gemini", "https://generativelanguage.googleapis.com/v1beta/models/MODEL:generateContent", false},
		{"-upstream gemini -upstream-url http://h/v1", "http://h/v1/models/MODEL:generateContent", false},
		{"-upstream openai", "https://api.openai.com/v1/chat/completions", false},
		{"-upstream openai -upstream-url http://h:1/v1", "http://h:1/v1/chat/completions", false},
		{"-upstream openai -upstream-url http://h:1", "http://h:1/chat/completions", true},
		{"-upstream openai-responses -upstream-url http://h:1/", "http://h:1/responses", true},
		{"-upstream openai-responses -upstream-url http://h:1/api -model m", "http://h:1/api/responses", false},
	} {
		g := start(t, strings.Fields(tt.flags)...)
		g.stop(t)
		log := g.stderr.String()
		if !strings.Contains(log, " url="+tt.url+"\n") || strings.Contains(log, "no path") != tt.warns || strings.Contains(log, "k-") {
			t.Errorf("%s: want url=%s, warning %v:\n%s", tt.flags, tt.url, tt.warns, log)
		}
	}
}

// send posts body like a client of the format of url, and returns the status and body of
// the response.
func send(t *testing.T, url, key, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if strings.HasSuffix(req.URL.Path, "/messages") {
		req.Header.Set("Anthropic-Version", "2023-06-01")
		req.Header.Set("X-Api-Key", key)
	} else {
		req.Header.Set("X-Goog-Api-Key", key)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(text)
}
