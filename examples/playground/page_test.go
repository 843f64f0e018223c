package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Every response has the headers, errors included.
func TestHeaders(t *testing.T) {
	policy := []string{"default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "img-src 'self' data:",
		"base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"}
	tests := []struct {
		name, method, url, body string
		header                  [2]string
		status                  int
		mediaType               string
	}{
		{"page", "GET", "http://127.0.0.1:8090/", "", [2]string{}, 200, "text/html; charset=utf-8"},
		{"file", "GET", "http://127.0.0.1:8090/index.html", "", [2]string{}, 200, "text/html; charset=utf-8"},
		{"head", "HEAD", "http://127.0.0.1:8090/", "", [2]string{}, 200, "text/html; charset=utf-8"},
		{"unknown file", "GET", "http://127.0.0.1:8090/other.html", "", [2]string{}, 404, "application/json"},
		{"directory", "GET", "http://127.0.0.1:8090/page", "", [2]string{}, 404, "application/json"},
		{"file outside of the page", "GET", "http://127.0.0.1:8090/x/../../samples/agent.json", "", [2]string{}, 404, ""},
		{"post of the page", "POST", "http://127.0.0.1:8090/", "", [2]string{}, 405, "application/json"},
		{"formats", "GET", "http://127.0.0.1:8090/api/formats", "", [2]string{}, 200, "application/json"},
		{"samples", "GET", "http://127.0.0.1:8090/api/samples", "", [2]string{}, 200, "application/json"},
		{"post of samples", "POST", "http://127.0.0.1:8090/api/samples", "", [2]string{}, 405, "application/json"},
		{"get of a task", "GET", "http://127.0.0.1:8090/api/request", "", [2]string{}, 405, "application/json"},
		{"unknown path of the API", "POST", "http://127.0.0.1:8090/api/other", "{}", [2]string{}, 404, "application/json"},
		{"task", "POST", "http://127.0.0.1:8090/api/request", `{"format":"messages"}`, [2]string{}, 200, "application/json"},
		{"empty body", "POST", "http://127.0.0.1:8090/api/request", "", [2]string{}, 400, "application/json"},
		{"body that is not JSON", "POST", "http://127.0.0.1:8090/api/stream", "format", [2]string{}, 400, "application/json"},
		{"unknown format", "POST", "http://127.0.0.1:8090/api/request", `{"format":"xml"}`, [2]string{}, 400, "application/json"},
		{"request of Chat Completions", "POST", "http://127.0.0.1:8090/api/request", `{"format":"openai"}`, [2]string{}, 200, "application/json"},
		{"unknown target", "POST", "http://127.0.0.1:8090/api/request", `{"format":"messages","targets":[{"format":"xml"}]}`, [2]string{}, 400, "application/json"},
		{"response in an unknown format", "POST", "http://127.0.0.1:8090/api/response", `{"format":"openai","targets":[{"format":"xml"}]}`, [2]string{}, 400, "application/json"},
		{"many targets", "POST", "http://127.0.0.1:8090/api/request", `{"format":"messages","targets":[{},{},{},{},{},{},{},{},{}]}`, [2]string{}, 400, "application/json"},
		{"places of two targets", "POST", "http://127.0.0.1:8090/api/places", `{"format":"messages","targets":[{"format":"openai"},{"format":"openai"}]}`, [2]string{}, 400, "application/json"},
		{"large body", "POST", "http://127.0.0.1:8090/api/request", strings.Repeat(" ", maxBody+1), [2]string{}, 413, "application/json"},
		{"other origin", "POST", "http://127.0.0.1:8090/api/request", "{}", [2]string{"Origin", "https://example.com"}, 403, "application/json"},
		{"other site", "POST", "http://127.0.0.1:8090/api/request", "{}", [2]string{"Sec-Fetch-Site", "cross-site"}, 403, "application/json"},
		{"same origin", "POST", "http://127.0.0.1:8090/api/request", `{"format":"messages"}`, [2]string{"Origin", "http://127.0.0.1:8090"}, 200, "application/json"},
		{"other host", "GET", "http://example.com:8090/", "", [2]string{}, 421, "application/json"},
		{"other address", "GET", "http://192.0.2.1:8090/", "", [2]string{}, 421, "application/json"},
		{"host that begins like this machine", "GET", "http://localhost.example.com/", "", [2]string{}, 421, "application/json"},
		{"localhost", "GET", "http://LocalHost:8090/", "", [2]string{}, 200, "text/html; charset=utf-8"},
		{"IPv6", "GET", "http://[::1]:8090/", "", [2]string{}, 200, "text/html; charset=utf-8"},
		{"IPv6 without a port", "GET", "http://[::1]/", "", [2]string{}, 200, "text/html; charset=utf-8"},
	}
	h := newHandler(true)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := httptest.NewRequest(tt.method, tt.url, strings.NewReader(tt.body))
			if tt.header[0] != "" {
				r.Header.Set(tt.header[0], tt.header[1])
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			got := w.Header()
			if w.Code != tt.status && tt.mediaType != "" || w.Code == 200 && tt.mediaType == "" {
				t.Errorf("status %d, want %d: %s", w.Code, tt.status, w.Body)
			}
			if tt.mediaType != "" && got.Get("Content-Type") != tt.mediaType {
				t.Errorf("Content-Type %q, want %q", got.Get("Content-Type"), tt.mediaType)
			}
			if tt.status >= 400 && tt.mediaType != "" && !strings.Contains(w.Body.String(), `{"error":"`) {
				t.Errorf("no error: %s", w.Body)
			}
			for _, directive := range policy {
				if !strings.Contains(got.Get("Content-Security-Policy")+";", directive+";") {
					t.Errorf("Content-Security-Policy lacks %q: %s", directive, got.Get("Content-Security-Policy"))
				}
			}
			for name, value := range map[string]string{"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
				"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin"} {
				if got.Get(name) != value {
					t.Errorf("%s: %q, want %q", name, got.Get(name), value)
				}
			}
		})
	}
}

// A server for other machines has names that it does not know.
func TestAnyHost(t *testing.T) {
	w := httptest.NewRecorder()
	newHandler(false).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://tools.example.com/", nil))
	if w.Code != http.StatusOK {
		t.Errorf("status %d", w.Code)
	}
}
