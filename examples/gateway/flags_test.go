package main

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/polywire/polywire/internal/fake"
	"github.com/polywire/polywire/internal/fake/anthropic"
)

// The key that clients must send comes from a variable or a file, without the
// line break at its end.
func TestKeyPlaces(t *testing.T) {
	t.Setenv("CLIENTS_KEY", "k-env")
	dir := t.TempDir()
	for name, text := range map[string]string{"key": "k-file\r\n", "empty": "\n", "two": "k-secret\nk-other\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for place, key := range map[string]string{"env:CLIENTS_KEY": "k-env", "file:" + filepath.Join(dir, "key"): "k-file"} {
		g := start(t, "-key", place, "-log", "off")
		for sent, status := range map[string]int{key: http.StatusOK, "k-other": http.StatusUnauthorized} {
			if got, text := asks(t, g.url+"/v1/messages", sent, plain); got != status {
				t.Errorf("%s, with %s: %d %s", place, sent, got, text)
			}
		}
		g.stop(t)
	}
	for name, fault := range map[string]string{"empty": "there is nothing at file:", "two": "there is more than one line at file:"} {
		var stderr strings.Builder
		err := run(t.Context(), []string{"-key", "file:" + filepath.Join(dir, name)}, io.Discard, &stderr)
		if err == nil || !strings.Contains(stderr.String(), fault) || strings.Contains(stderr.String(), "k-secret") {
			t.Errorf("%s: %v: %s", name, err, &stderr)
		}
	}
}

// A request that loses as much as the flag says fails, and the vendor does not see
// it.
func TestRefuse(t *testing.T) {
	const (
		whole    = `{"contents":[{"parts":[{"text":"Hi."}]}]}`
		degraded = `{"contents":[{"parts":[{"text":"Hi."}]}],"generationConfig":{"temperature":2}}`
		dropped  = `{"contents":[{"parts":[{"text":"Hi."}]}],"generationConfig":{"seed":7}}`
	)
	t.Setenv(keyVariable, "k")
	for _, tt := range []struct {
		flags                    []string
		whole, degraded, dropped int
	}{
		{nil, 200, 200, 200},
		{[]string{"-refuse", "never"}, 200, 200, 200},
		{[]string{"-refuse", "dropped"}, 200, 200, 400},
		{[]string{"-refuse", "degraded"}, 200, 400, 400},
	} {
		for body, status := range map[string]int{whole: tt.whole, degraded: tt.degraded, dropped: tt.dropped} {
			f := anthropic.New(t, anthropic.Options{Key: "k", Models: []string{"claude-sonnet-4-5"}})
			f.Always(fake.Text("Ahoy there."))
			g := start(t, append([]string{"-upstream", "anthropic", "-upstream-url", f.URL, "-model", "claude-sonnet-4-5", "-log", "off"}, tt.flags...)...)
			got, text := asks(t, g.url+"/v1beta/models/m:generateContent", "any", body)
			if got != status || (status == http.StatusOK) != (len(f.Requests()) > 0) {
				t.Errorf("%v: %s: %d %s, %d requests; want %d", tt.flags, body, got, text, len(f.Requests()), status)
			}
			g.stop(t)
		}
	}
}
