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
)

// A client of one tenant.
type client struct{ url, key string }

func (c client) ask(t *testing.T, body string) (status int, answer string) {
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

// A locked buffer: handlers write to it, the test reads it.
type locked struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func TestService(t *testing.T) {
	var lines locked
	s := httptest.NewServer(service(
		map[string]string{"k-ada": "ada", "k-bob": "bob"},
		slog.New(slog.NewTextHandler(&lines, nil)),
	))
	ada, bob, eve := client{s.URL, "k-ada"}, client{s.URL, "k-bob"}, client{s.URL, "k-eve"}
	const plain = `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"come home now"}]}`
	const streamed = `{"model":"m","max_tokens":9,"stream":true,"messages":[{"role":"user","content":"hush1 hush1"}]}`

	status, answer := ada.ask(t, plain)
	if status != http.StatusOK || !strings.Contains(answer, `"COME HOME NOW "`) {
		t.Errorf("plain: %d %s", status, answer)
	}
	for range 2 {
		status, answer = bob.ask(t, streamed)
		if status != http.StatusOK || strings.Count(answer, `"text":"HUSH1 "`) != 2 || !strings.Contains(answer, "event: message_stop\n") {
			t.Errorf("streamed: %d %s", status, answer)
		}
	}
	status, answer = eve.ask(t, plain)
	if status != http.StatusUnauthorized || !strings.Contains(answer, "authentication_error") {
		t.Errorf("a stranger: %d %s", status, answer)
	}
	s.Close() // every request has been accounted for by now

	rec := httptest.NewRecorder()
	s.Config.Handler.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/bill", nil))
	if got, want := rec.Body.String(), "ada owes for 6 tokens\nbob owes for 8 tokens\n"; got != want {
		t.Errorf("bill: got %q, want %q", got, want)
	}
	log := lines.b.String()
	for _, want := range []string{
		"tenant=ada mode=plain status=200", "read=3 written=3",
		"tenant=bob mode=stream status=200", `status=401 error=unauthenticated`,
	} {
		if !strings.Contains(log, want) {
			t.Errorf("no %q in the log:\n%s", want, log)
		}
	}
	// The model's words have a digit that no random id has.
	for _, secret := range []string{"k-ada", "k-bob", "k-eve", "home", "HUSH1"} {
		if strings.Contains(log, secret) {
			t.Errorf("%q is in the log:\n%s", secret, log)
		}
	}
}
