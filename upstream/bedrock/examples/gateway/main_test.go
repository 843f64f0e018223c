package main

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/polywire/polywire/internal/test/leak"
	"github.com/polywire/polywire/upstream/echo"
)

func TestMain(m *testing.M) { os.Exit(leak.Main(m)) }

// TestRun starts the gateway, sends a request to each path and stops it.
func TestRun(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	out, in := io.Pipe()
	done := make(chan error)
	go func() { done <- run(ctx, []string{"-listen", "127.0.0.1:0"}, in, io.Discard) }()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	base := strings.TrimSpace(strings.TrimPrefix(line, "listening on "))
	const document = `"max_tokens":100,"messages":[{"role":"user","content":"Good morning."}]}`
	for path, body := range map[string]string{
		"/v1/messages":                                                        `{"model":"m",` + document,
		"/v1beta/models/m:generateContent":                                    `{"contents":[{"parts":[{"text":"Good morning."}]}]}`,
		"/model/eu.anthropic.claude-sonnet-4-5-v1%3A0/invoke":                 `{"anthropic_version":"bedrock-2023-05-31",` + document,
		"/model/m/invoke-with-response-stream":                                `{"anthropic_version":"bedrock-2023-05-31",` + document,
		"/v1/projects/p/locations/l/publishers/anthropic/models/m:rawPredict": `{"anthropic_version":"vertex-2023-10-16",` + document,
	} {
		r, err := http.NewRequest(http.MethodPost, base+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Anthropic-Version", "2023-06-01")
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil || res.StatusCode != 200 || len(text) < 50 {
			t.Errorf("%s: got %d %s, %v", path, res.StatusCode, text, err)
		}
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
	http.DefaultClient.CloseIdleConnections()
}

// TestUpstreams tests the upstreams of the flag.
func TestUpstreams(t *testing.T) {
	t.Setenv("AWS_BEARER_TOKEN_BEDROCK", "")
	for name, want := range map[string]string{"echo": "", "openai": "", "bedrock": "", "other": "unknown name"} {
		up, err := newUpstream(name, "", "eu-central-1", "")
		if (err == nil) != (want == "") || err == nil && up == nil || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, %v", name, up, err)
		}
	}
	if _, err := newUpstream("bedrock", "", "", ""); err == nil || !strings.Contains(err.Error(), "Region") {
		t.Errorf("no region: got %v", err)
	}
	if newHandler(echo.New(), slog.New(slog.DiscardHandler)) == nil {
		t.Error("no handler")
	}
}
