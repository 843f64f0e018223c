package conformance

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/echo"
)

// shelf is echo with many model names.
type shelf struct {
	*echo.Upstream
	list []upstream.Model
}

func (s shelf) Models(context.Context) ([]upstream.Model, error) { return s.list, nil }

func newShelf(n int) (s shelf, want []model) {
	day := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	s.Upstream = echo.New()
	for i := range n {
		m := upstream.Model{ID: fmt.Sprintf("demo-%02d", i), Name: fmt.Sprint("Demo ", i), Created: day.AddDate(0, 0, -i)}
		s.list = append(s.list, m)
		want = append(want, model{m.ID, m.Name, m.Created.Format(time.RFC3339)})
	}
	return s, want
}

// TestModels checks that paging lists each model once, newest first, for any
// page size.
func TestModels(t *testing.T) {
	each(t, func(t *testing.T, c sdk) {
		up, want := newShelf(45)
		s := serveModel(t, up, nil)
		for _, limit := range []int64{1, 20, 45, 1000} {
			got, err := c.models(t.Context(), call{BaseURL: s.url, Key: key, Limit: limit})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("models, %d to a page (-want +got):\n%s", limit, diff)
			}
			for range (45 + limit - 1) / limit {
				s.report(t) // one for each page
			}
		}
		got, err := c.model(t.Context(), call{BaseURL: s.url, Key: key, Name: "demo-07"})
		if err != nil || got != want[7] {
			t.Errorf("model: got %v, %v, want %v", got, err, want[7])
		}
		s.report(t)
		_, err = c.model(t.Context(), call{BaseURL: s.url, Key: key, Name: "absent"})
		wantFailure(t, s, err, http.StatusNotFound, "not_found_error", "model: absent")
	})
}

func TestCount(t *testing.T) {
	each(t, func(t *testing.T, c sdk) {
		s := serve(t, nil)
		count := func(params obj) int64 {
			t.Helper()
			n, err := c.count(t.Context(), call{BaseURL: s.url, Key: key, Params: params})
			if err != nil {
				t.Fatal(err)
			}
			s.report(t)
			return n
		}
		params := func(text string) obj { return obj{"model": "m", "messages": arr{user(text)}} }
		few, many := count(params("Hi.")), count(params(strings.Repeat("A longer question. ", 50)))
		if few <= 0 || many < 10*few {
			t.Errorf("counted %d and %d tokens", few, many)
		}
		with := params("Hi.")
		with["tools"], with["system"] = arr{weather}, "Be brief."
		if n := count(with); n <= few {
			t.Errorf("counted %d tokens with tools and a system text, %d without", n, few)
		}
		_, err := c.count(t.Context(), call{BaseURL: s.url, Key: key, Params: params("")})
		wantFailure(t, s, err, http.StatusBadRequest, "invalid_request_error", "messages")
	})
}
