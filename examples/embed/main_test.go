package main

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/upstreamtest"
)

func TestModel(t *testing.T) {
	upstreamtest.Run(t, upstream.Reads(upstream.Func(shout)), &upstreamtest.Options{Model: "demo", Deterministic: true})
}

// A client of one tenant.
type client struct{ url, key string }

func (c client) send(t *testing.T, body string) (status int, response string) {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, c.url+"/ai/v1/messages", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("anthropic-version", "2023-06-01")
	req.Header.Set("x-api-key", c.key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

// A lockedBuffer is a buffer for several goroutines.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func TestService(t *testing.T) {
	var lines lockedBuffer
	s := httptest.NewServer(service(
		map[string]string{"k-ada": "ada", "k-bob": "bob"},
		slog.New(slog.NewTextHandler(&lines, nil)),
	))
	ada, bob, eve := client{s.URL, "k-ada"}, client{s.URL, "k-bob"}, client{s.URL, "k-eve"}
	const plain = `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"come home now"}]}`
	const streamed = `{"model":"m","max_tokens":9,"stream":true,"messages":[{"role":"user","content":"hush1 hush1"}]}`

	status, response := ada.send(t, plain)
	if status != http.StatusOK || !strings.Contains(response, `"COME HOME NOW "`) {
		t.Errorf("plain: got %d %s", status, response)
	}
	for range 2 {
		status, response = bob.send(t, streamed)
		if status != http.StatusOK || strings.Count(response, `"text":"HUSH1 "`) != 2 || !strings.Contains(response, "event: message_stop\n") {
			t.Errorf("streamed: got %d %s", status, response)
		}
	}
	status, response = eve.send(t, plain)
	if status != http.StatusUnauthorized || !strings.Contains(response, "authentication_error") {
		t.Errorf("unknown key: got %d %s", status, response)
	}
	s.Close() // waits for OnDone of every request

	rec := httptest.NewRecorder()
	s.Config.Handler.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/bill", nil))
	if got, want := rec.Body.String(), "ada owes for 6 tokens\nbob owes for 8 tokens\n"; got != want {
		t.Errorf("bill: got %q, want %q", got, want)
	}
	log := lines.b.String()
	for _, want := range []string{
		"tenant=ada", "mode=plain", "input_tokens=3 report.output_tokens=3", "tenant=bob", "mode=stream", "status=401", "error=unauthenticated",
	} {
		if !strings.Contains(log, want) {
			t.Errorf("no %q in the log:\n%s", want, log)
		}
	}
	// The streamed words have a digit, so that no random id contains them.
	for _, secret := range []string{"k-ada", "k-bob", "k-eve", "home", "HUSH1"} {
		if strings.Contains(log, secret) {
			t.Errorf("%q is in the log:\n%s", secret, log)
		}
	}
}
