package fetch

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
)

func TestMetered(t *testing.T) {
	const size = 300_000
	w := newWorld(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/moved" {
			http.Redirect(rw, r, "/", http.StatusFound)
			return
		}
		_, _ = rw.Write([]byte(strings.Repeat("x", size)))
	}))
	f := w.fetcher(nil)
	for _, tt := range []struct {
		path string
		most int64
	}{{"/", size}, {"/moved", size}, {"/", size - 1}, {"/", 0}} {
		var bytes int64
		full := errors.New("that is enough")
		m := f.Metered(func(n int64) error {
			if bytes += n; bytes > tt.most {
				return full
			}
			return nil
		})
		b, err := m.Resolve(t.Context(), &content.URL{URL: "https://files.example.com" + tt.path})
		if tt.most == size && (err != nil || len(b.Data) != size || bytes != size) {
			t.Errorf("%s: %d bytes, %d were told: %v", tt.path, len(b.Data), bytes, err)
		}
		if tt.most < size && (err == nil || len(b.Data) != 0) {
			t.Errorf("at most %d: %d bytes, %v", tt.most, len(b.Data), err)
		}
	}
	if c, ok := f.Metered(nil).(interface{ Check(string) error }); !ok || c.Check("https://localhost") == nil {
		t.Error("it has another Check")
	}
}
