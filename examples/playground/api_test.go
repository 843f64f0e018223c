package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A server that others reach accepts less. The error states what would be accepted.
func TestBodyLimits(t *testing.T) {
	for _, tt := range []struct {
		name     string
		loopback bool
		size     int
		want     string // error, or empty
	}{
		{"loopback, largest", true, 32 << 20, ""},
		{"loopback, larger", true, 32<<20 + 1, `{"error":"the input and its settings have more than 32 MiB, as JSON"}`},
		{"public, largest", false, 1 << 20, ""},
		{"public, larger", false, 1<<20 + 1, `{"error":"the input and its settings have more than 1 MiB, as JSON; on a loopback address the playground accepts 32 MiB"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			const task = `{"format":"messages"}`
			w := httptest.NewRecorder()
			newHandler(tt.loopback).ServeHTTP(w, httptest.NewRequest("POST", "http://127.0.0.1/api/request", strings.NewReader(task+strings.Repeat(" ", tt.size-len(task)))))
			status := http.StatusOK
			if tt.want != "" {
				status = http.StatusRequestEntityTooLarge
			}
			if got := strings.TrimSpace(w.Body.String()); w.Code != status || tt.want != "" && got != tt.want {
				t.Errorf("%d %.200s, want %d %s", w.Code, got, status, tt.want)
			}
		})
	}
}

// A request beyond the limits of concurrent ones gets an error. Those of the page itself,
// which translate nothing, are served.
func TestBusy(t *testing.T) {
	a := newAPI(true)
	a.maxWait = 0
	mux := http.NewServeMux()
	a.serve(mux)
	for _, tt := range []struct {
		name   string
		full   chan struct{}
		url    string
		status int
		want   string
	}{
		{"free", nil, "/api/request", 200, `"outputs"`},
		{"translations", a.running, "/api/stream", 503, `{"error":"the server is busy: it translates 4 documents at the same time; try again later"}`},
		{"requests", a.open, "/api/places", 503, `{"error":"the server is busy: it accepts 64 requests at the same time; try again later"}`},
		{"formats", a.open, "/api/formats", 200, `"formats"`},
		{"free again", nil, "/api/request", 200, `"outputs"`},
	} {
		for range cap(tt.full) {
			tt.full <- struct{}{}
		}
		method, body := "POST", `{"format":"messages","text":"{\"model\":\"m\",\"max_tokens\":1,\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}","targets":[{"format":"openai"}]}`
		if tt.url == "/api/formats" {
			method, body = "GET", ""
		}
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, httptest.NewRequest(method, "http://127.0.0.1"+tt.url, strings.NewReader(body)))
		if retry := w.Header().Get("Retry-After"); w.Code != tt.status || !strings.Contains(w.Body.String(), tt.want) || (retry != "") != (tt.status == 503) {
			t.Errorf("%s: %d, Retry-After %q: %.300s; want %d %s", tt.name, w.Code, retry, w.Body, tt.status, tt.want)
		}
		for range cap(tt.full) {
			<-tt.full
		}
	}
	if len(a.open)+len(a.running) != 0 {
		t.Errorf("%d open, %d running, want none", len(a.open), len(a.running))
	}
}
