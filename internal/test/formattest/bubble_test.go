package formattest

import (
	"io"
	"net/http"
	"testing"
	"time"
)

// TestBubbleEndsEarly checks that a test that ends in the middle of a response
// leaves no goroutine, which would be a panic of the whole process.
func TestBubbleEndsEarly(t *testing.T) {
	over := false
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() { over = true }()
		_, _ = io.WriteString(w, "a")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	t.Run("", func(t *testing.T) {
		Bubble(t, h, func(t *testing.T, s *Server) {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://pipe/", nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Do(r); err != nil {
				t.Error(err)
			}
			t.SkipNow()
		})
	})
	if !over {
		t.Error("the handler has not returned")
	}
}

func TestBubble(t *testing.T) {
	start := time.Now()
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := Sleep(r.Context(), time.Hour); err != nil {
			t.Error(err)
		}
		_, _ = io.WriteString(w, r.URL.Path)
	})
	Bubble(t, h, func(t *testing.T, s *Server) {
		begin := time.Now()
		res, err := s.Get("http://any.example/path")
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if b, err := io.ReadAll(res.Body); err != nil || string(b) != "/path" {
			t.Errorf("got %q, %v", b, err)
		}
		Took(t, "an hour", time.Since(begin), time.Hour, time.Second)
	})
	if time.Since(start) > time.Minute {
		t.Error("time was not fake")
	}
}
