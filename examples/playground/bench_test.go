package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/polywire/polywire/internal/test/workload"
)

// call sends a task to the handler, as the page does, and returns the answer.
func call(t testing.TB, h http.Handler, path string, body []byte) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1:8090"+path, bytes.NewReader(body))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// taskBody returns the body of a task.
func taskBody(t testing.TB, format, text string, targets ...string) []byte {
	t.Helper()
	task := task{Format: format, Text: text}
	for _, name := range targets {
		task.Targets = append(task.Targets, target{Format: name})
	}
	body, err := json.Marshal(task)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// The request of a coding agent, 350 KB with 40 tools and 60 turns.
func BenchmarkAgent(b *testing.B) {
	h := newHandler(true)
	run := func(name, path string, targets ...string) {
		b.Run(name, func(b *testing.B) {
			body := taskBody(b, "messages", workload.Agent(), targets...)
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				if w := call(b, h, path, body); w.Code != http.StatusOK {
					b.Fatalf("status %d: %s", w.Code, w.Body)
				}
			}
		})
	}
	run("three targets", "/api/request", "generatecontent", "openai", "openai-responses")
	for _, to := range []string{"generatecontent", "openai", "openai-responses"} {
		run("places in "+to, "/api/places", to)
	}
}
