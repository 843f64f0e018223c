package crosstest

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/polywire/polywire/upstream"
)

// TestPathNames checks that names in paths are UTF-8 without control characters and of
// limited length, before an upstream, a report or a log gets them.
func TestPathNames(t *testing.T) {
	eachFormat(t, func(t *testing.T, s wireFormat) {
		paths := s.named
		for _, name := range []string{"a%ffb", "a%C3", "%00", "a%0Ab", "a%7F", "%C2%85", strings.Repeat("n", 5000)} {
			for _, p := range paths {
				method, path, _ := strings.Cut(strings.Replace(p, "@", name, 1), " ")
				m := &model{}
				o := newOperator(s, m, upstream.HandlerOptions{})
				r := httptest.NewRequest(method, path, strings.NewReader(s.modes[0].body))
				r.Header.Set("Content-Type", "application/json")
				r.Header.Set("Anthropic-Version", "2023-06-01")
				w := httptest.NewRecorder()
				o.handler.ServeHTTP(w, r)
				if w.Code != http.StatusBadRequest || m.calls.Load() != 0 {
					t.Errorf("%.80s: status %d, %d calls: %.300s", method+" "+path, w.Code, m.calls.Load(), w.Body)
				}
				report := o.report(t)
				for _, text := range []string{report.Path, report.Model, w.Body.String(), strings.ReplaceAll(o.log.String(), "\n", "")} {
					if !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) || len(text) > 8000 {
						t.Errorf("%.80s: reported as %q", method+" "+path, text)
					}
				}
			}
		}
		for _, long := range []string{strings.Repeat("n", 1024), strings.Repeat("n", 1025)} {
			if s.modelPath == "" {
				break
			}
			path := strings.Replace(s.modelPath, "@", long, 1)
			body := strings.Replace(s.modes[0].body, `"model":"m",`, `"anthropic_version":"vertex-2023-10-16",`, 1)
			want := http.StatusOK
			if len(long) > 1024 {
				want = http.StatusBadRequest
			}
			if code, answer, _ := post(t, s.handler(&model{}, upstream.HandlerOptions{}), path, body); code != want {
				t.Errorf("name of %d bytes: status %d %.200s", len(long), code, answer)
			}
		}
	})
}

// TestMethodInReport checks that a long method is cut in reports.
func TestMethodInReport(t *testing.T) {
	eachFormat(t, func(t *testing.T, s wireFormat) {
		o := newOperator(s, &model{}, upstream.HandlerOptions{})
		o.handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(strings.Repeat("M", 5000), s.path, nil))
		if got := o.report(t).Method; len(got) > 16 {
			t.Errorf("the method has %d bytes", len(got))
		}
	})
}
