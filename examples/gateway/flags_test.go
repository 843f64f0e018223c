package main

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/polywire/polywire/internal/test/fake"
	"github.com/polywire/polywire/internal/test/fake/anthropic"
)

// The key that clients must send comes from an environment variable or a file, without
// the line break at its end.
func TestKeySources(t *testing.T) {
	t.Setenv("CLIENTS_KEY", "k-env")
	dir := t.TempDir()
	for name, text := range map[string]string{"key": "k-file\r\n", "empty": "\n", "two": "k-secret\nk-other\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for source, key := range map[string]string{"env:CLIENTS_KEY": "k-env", "file:" + filepath.Join(dir, "key"): "k-file"} {
		g := start(t, "-key", source, "-log", "off")
		for sent, status := range map[string]int{key: http.StatusOK, "k-other": http.StatusUnauthorized} {
			if got, text := send(t, g.url+"/v1/messages", sent, plain); got != status {
				t.Errorf("%s, with %s: %d %s", source, sent, got, text)
			}
		}
		g.stop(t)
	}
	for name, text := range map[string]string{"empty": "is empty", "two": "has more than one line"} {
		var stderr strings.Builder
		err := run(t.Context(), nil, []string{"-key", "file:" + filepath.Join(dir, name)}, io.Discard, &stderr)
		if err == nil || !strings.Contains(stderr.String(), text) || strings.Contains(stderr.String(), "k-secret") {
			t.Errorf("%s: %v: %s", name, err, &stderr)
		}
	}
}

// A request with a loss of the severity in -refuse fails, and the vendor does not
// receive it.
func TestRefuse(t *testing.T) {
	const (
		lossless = `{"contents":[{"parts":[{"text":"Hi."}]}]}`
		degraded = `{"contents":[{"parts":[{"text":"Hi."}]}],"generationConfig":{"temperature":2}}`
		dropped  = `{"contents":[{"parts":[{"text":"Hi."}]}],"generationConfig":{"seed":7}}`
	)
	t.Setenv(keyVariable, "k")
	for _, tt := range []struct {
		flags                       []string
		lossless, degraded, dropped int
	}{
		{nil, 200, 200, 200},
		{[]string{"-refuse", "never"}, 200, 200, 200},
		{[]string{"-refuse", "dropped"}, 200, 200, 400},
		{[]string{"-refuse", "degraded"}, 200, 400, 400},
	} {
		for body, status := range map[string]int{lossless: tt.lossless, degraded: tt.degraded, dropped: tt.dropped} {
			f := anthropic.New(t, anthropic.Options{Key: "k", Models: []string{"claude-sonnet-4-5"}})
			f.Always(fake.Text("Ahoy there."))
			g := start(t, append([]string{"-upstream", "anthropic", "-upstream-url", f.URL, "-model", "claude-sonnet-4-5", "-log", "off"}, tt.flags...)...)
			got, text := send(t, g.url+"/v1beta/models/m:generateContent", "any", body)
			if got != status || (status == http.StatusOK) != (len(f.Requests()) > 0) {
				t.Errorf("%v: %s: %d %s, %d requests; want %d", tt.flags, body, got, text, len(f.Requests()), status)
			}
			g.stop(t)
		}
	}
}

// The log of a request that was rejected because of its losses reports that: nothing was
// dropped.
func TestRejectedLosses(t *testing.T) {
	const dropped = `{"contents":[{"parts":[{"text":"Hi."}]}],"generationConfig":{"seed":7}}`
	t.Setenv(keyVariable, "k")
	f := anthropic.New(t, anthropic.Options{Key: "k", Models: []string{"claude-sonnet-4-5"}})
	f.Always(fake.Text("Ahoy there."))
	for severity, tt := range map[string]struct{ want, unwanted []string }{
		"never": {
			[]string{`losses="dropped seed"`, "msg=loss "},
			[]string{"rejected"},
		},
		"dropped": {
			[]string{` rejected_losses="dropped seed"`, `msg="loss of a rejected request" `},
			[]string{" losses=", "msg=loss "},
		},
	} {
		g := start(t, "-upstream", "anthropic", "-upstream-url", f.URL, "-model", "claude-sonnet-4-5", "-reasons", "-refuse", severity)
		send(t, g.url+"/v1beta/models/m:generateContent", "any", dropped)
		g.stop(t)
		log := g.stderr.String()
		want(t, severity, log, tt.want...)
		for _, text := range tt.unwanted {
			if strings.Contains(log, text) {
				t.Errorf("%s: %q in:\n%s", severity, text, log)
			}
		}
	}
}

// A request with a document of a type in -media-types is accepted. Types are
// case-insensitive.
func TestMediaTypes(t *testing.T) {
	const body = `{"contents":[{"parts":[{"inlineData":{"mimeType":"application/x-own","data":"QUJD"}}]}]}`
	for flag, status := range map[string]int{"application/x-own": 200, "text/x-a, Application/X-Own": 200, "application/x-other": 400} {
		g := start(t, "-media-types", flag)
		if got, text := send(t, g.url+"/v1beta/models/m:generateContent", "any", body); got != status {
			t.Errorf("%s: %d %s, want %d", flag, got, text, status)
		}
		g.stop(t)
	}
}
