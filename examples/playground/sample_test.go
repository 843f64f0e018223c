package main

import (
	"strings"
	"testing"

	"github.com/polywire/polywire/examples/internal/format"
)

// Every sample can be translated to every format, except the invalid one.
func TestSamples(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range samples {
		t.Run(s.ID, func(t *testing.T) {
			if seen[s.ID] || s.Title == "" {
				t.Errorf("the id is not unique, or there is no title: %+v", s)
			}
			seen[s.ID] = true
			targets := format.Names()
			body := taskBody(t, s.Format, s.Text, targets...)
			switch s.Kind {
			case "request":
				var r requestResult
				answer(t, "/api/request", body, &r)
				if s.ID == "invalid" {
					if len(r.Violations) != 2 || len(r.Outputs) != 0 {
						t.Errorf("want two violations: %+v", r)
					}
					return
				}
				if len(r.Violations) > 0 || r.Tokens == nil || *r.Tokens == 0 || len(r.Outputs) != len(targets) {
					t.Fatalf("got %+v", r)
				}
				for _, out := range r.Outputs {
					if out.Error != "" || !strings.HasPrefix(out.Text, "{\n  ") || (len(out.Losses) > 0) == (out.Format == s.Format) {
						t.Errorf("got %+v", out)
					}
				}
			case "response":
				var r responseResult
				answer(t, "/api/response", body, &r)
				if len(r.Violations) > 0 || len(r.Events) == 0 || len(r.Outputs) != len(targets) {
					t.Fatalf("got %+v", r)
				}
				for _, out := range r.Outputs {
					if out.Error != "" || !strings.HasPrefix(out.Text, "{\n  ") {
						t.Errorf("got %+v", out)
					}
				}
			case "stream":
				var r streamResult
				answer(t, "/api/stream", body, &r)
				if r.Error != "" || len(r.Steps) < 3 || len(r.End) != len(targets) {
					t.Errorf("got %+v", r)
				}
			default:
				t.Errorf("unknown kind %q", s.Kind)
			}
		})
	}
}
