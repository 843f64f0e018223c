package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"io"
	"net/http"
	"strings"
	"testing"
)

// The program serves until its context ends.
func TestRun(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	out, in := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- run(ctx, []string{"-listen", "127.0.0.1:0"}, in, io.Discard) }()
	line, err := bufio.NewReader(out).ReadString('\n')
	url, found := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if err != nil || !found {
		t.Fatalf("got %q, %v", line, err)
	}
	r, err := http.Get(url + "/api/formats")
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(r.Body)
	r.Body.Close()
	if err != nil || r.StatusCode != http.StatusOK || !strings.Contains(string(body), `"openai-responses"`) {
		t.Errorf("status %d, %v: %s", r.StatusCode, err, body)
	}
	http.DefaultClient.CloseIdleConnections()
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestUsage(t *testing.T) {
	for args, want := range map[string]error{"-help": flag.ErrHelp, "-other": errUsage, "argument": errUsage} {
		var log strings.Builder
		if err := run(t.Context(), []string{args}, io.Discard, &log); !errors.Is(err, want) || log.Len() == 0 {
			t.Errorf("%s: got %v, %q, want %v", args, err, log.String(), want)
		}
	}
	if err := run(t.Context(), []string{"-listen", "127.0.0.1:-1"}, io.Discard, io.Discard); err == nil {
		t.Error("an invalid address is accepted")
	}
}
