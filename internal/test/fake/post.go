package fake

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Post sends a POST request with a body to a fake without a network. header is
// a list of names and values. Later headers replace earlier ones, and an empty
// value removes a header.
func Post(h http.Handler, path, body string, header ...string) *http.Response {
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(header); i += 2 {
		if header[i+1] == "" {
			r.Header.Del(header[i])
			continue
		}
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

// Accepts checks that a fake accepts the documents that match a pattern. send
// makes a new fake for each document and sends it. Accepts fails if there are
// fewer than least documents.
func Accepts(t *testing.T, pattern string, least int, send func(name, body string) (*Server, *http.Response)) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) < least {
		t.Fatalf("got only %d examples: %v", len(files), err)
	}
	for _, f := range files {
		t.Run(filepath.Base(f), func(t *testing.T) {
			body, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			s, res := send(filepath.Base(f), string(body))
			got, text := s.Last(), Read(t, res)
			if res.StatusCode != http.StatusOK || !got.Accepted() {
				t.Errorf("status %d, rule %q: %s", res.StatusCode, got.Rule, text)
			}
			if string(got.Body) != string(body) || got.End != Whole {
				t.Error("the recorded request differs from the one sent")
			}
		})
	}
}

// Read returns the body of a response.
func Read(t testing.TB, res *http.Response) string {
	t.Helper()
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
