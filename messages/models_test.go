package messages

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/upstream"
)

// modelLister returns an upstream with the models m1 to mn, oldest first. m2 is
// retired.
func modelLister(n int) *formattest.Able {
	list := make([]upstream.Model, n)
	for i := range list {
		list[i] = upstream.Model{ID: fmt.Sprint("m", i+1), Created: time.Unix(int64(1000*i), 0)}
		if i == 1 {
			list[i].Extra = &content.Extra{Format: Format, JSON: `{"lifecycle":"retired","line":"opus"}`}
		}
	}
	return &formattest.Able{List: func(context.Context) ([]upstream.Model, error) { return list, nil }}
}

func get(path string) *http.Request {
	r := httptest.NewRequest("GET", path, nil)
	r.Header.Set("anthropic-version", "2023-06-01")
	return r
}

func serve(up upstream.Upstream, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	NewHandler(up, nil).ServeHTTP(w, r)
	return w
}

func TestModelPages(t *testing.T) {
	for _, tt := range []struct{ query, want string }{
		{"", "m5 m4 m3 m1 |"},
		{"?limit=2", "m5 m4 | more"},
		{"?limit=2&after_id=m4", "m3 m1 |"},
		{"?limit=1&after_id=m4", "m3 | more"},
		{"?after_id=m1", "|"},
		{"?limit=2&before_id=m3", "m5 m4 |"},
		{"?limit=1&before_id=m3", "m4 | more"},
		{"?lifecycle%5B%5D=retired", "m2 |"},
		{"?lifecycle[]=active&lifecycle[]=retired&limit=4", "m5 m4 m3 m2 | more"},
		{"?beta=true&unknown=1", "m5 m4 m3 m1 |"},
	} {
		w := serve(modelLister(5), get("/v1/models"+tt.query))
		var page struct {
			Data    []struct{ ID string }
			HasMore *bool   `json:"has_more"`
			FirstID *string `json:"first_id"`
			LastID  *string `json:"last_id"`
		}
		if err := json.Unmarshal(w.Body.Bytes(), &page); err != nil || w.Code != 200 || page.HasMore == nil {
			t.Fatalf("%q: %d %s", tt.query, w.Code, w.Body)
		}
		got := ""
		for _, m := range page.Data {
			got += m.ID + " "
		}
		got += "|"
		if *page.HasMore {
			got += " more"
		}
		if got != tt.want {
			t.Errorf("%q: got %s, want %s", tt.query, got, tt.want)
		}
		if n := len(page.Data); n == 0 {
			if page.FirstID != nil || page.LastID != nil {
				t.Errorf("%q: ids of an empty page: %s", tt.query, w.Body)
			}
		} else if *page.FirstID != page.Data[0].ID || *page.LastID != page.Data[n-1].ID {
			t.Errorf("%q: first and last: %s", tt.query, w.Body)
		}
	}
}

func TestModel(t *testing.T) {
	w := serve(modelLister(2), get("/any/v1/models/m2"))
	want := `{"type":"model","id":"m2","display_name":"m2","created_at":"1970-01-01T00:16:40Z",` +
		`"max_input_tokens":null,"max_tokens":null,"capabilities":null,"lifecycle":"retired","line":"opus"}`
	if diff := cmp.Diff(want, w.Body.String()); diff != "" || w.Code != 200 {
		t.Errorf("%d (-want +got):\n%s", w.Code, diff)
	}
	slashes := &formattest.Able{List: func(context.Context) ([]upstream.Model, error) {
		return []upstream.Model{{ID: "a/b", MaxInput: 10, MaxOutput: 5, Name: "A"}}, nil
	}}
	w = serve(slashes, get("/v1/models/a/b"))
	if !strings.Contains(w.Body.String(), `"display_name":"A","created_at":"1970-01-01T00:00:00Z","max_input_tokens":10,"max_tokens":5,`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
