package openai

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// TestHosts checks what hosts are known for, and that who says otherwise is
// heard.
func TestHosts(t *testing.T) {
	for _, tt := range []struct {
		name, base string
		says, want Dialect
	}{
		{"nobody's", "http://localhost:8000/v1", Dialect{}, Dialect{}},
		{"DeepSeek's", "https://api.deepseek.com/v1", Dialect{}, Dialect{Thinking: "thinking", Efforts: []string{"none", "low", "high", "max"}}},
		{"DeepSeek's, otherwise", "https://api.deepseek.com", Dialect{Thinking: "-", Efforts: []string{}}, Dialect{Thinking: "-", Efforts: []string{}}},
		{"one that is called alike", "https://api.deepseek.com.example/v1", Dialect{}, Dialect{}},
		{"Mistral's", "https://API.mistral.ai/v1", Dialect{}, Dialect{ShortIDs: true}},
	} {
		c, err := New(Options{BaseURL: tt.base, Dialect: tt.says})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, c.dialect); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
	if _, err := New(Options{Dialect: Dialect{Thinking: "temperature"}}); err == nil {
		t.Error("a member that is no switch is taken for one")
	}
}

// TestQuiet checks that a conversation with a compatible server, whose models
// think with or without a name for it, loses nothing that matters, and that what
// it lacks is told once, not again for each call.
func TestQuiet(t *testing.T) {
	var turns []content.Turn
	for _, id := range []string{"a", "b", "c"} {
		turns = append(turns, q, turnOf(content.RoleAssistant, thoughtOf("hm", ""), useOf(id, "f", "{}")), turnOf(content.RoleUser, resultOf(id)), turnOf(content.RoleAssistant, thoughtOf("so", "reasoning"), sayText("a")))
	}
	bare := slices.Clone(turns)
	for i := range bare {
		bare[i].Parts = slices.DeleteFunc(slices.Clone(bare[i].Parts), func(p content.Part) bool { _, ok := p.(*content.Thinking); return ok })
	}
	for name, tt := range map[string]struct {
		says  Dialect
		turns []content.Turn
		most  int
	}{
		"thoughts that it does not take":          {Dialect{}, turns, 6},
		"thoughts that the host wants to go back": {Dialect{Reasoning: "reasoning"}, turns, 3}, // those of the answers
		"no thoughts, though they are wanted":     {Dialect{Reasoning: "reasoning"}, bare, 1},
		"no thoughts":                             {Dialect{}, bare, 0},
	} {
		c, err := New(Options{BaseURL: "http://localhost/v1", Dialect: tt.says})
		if err != nil {
			t.Fatal(err)
		}
		p := c.plan(&upstream.Request{Model: "m", Turns: append(slices.Clone(tt.turns), q)}, false)
		loud := slices.ContainsFunc(p.losses, func(l content.Loss) bool { return l.Severity > content.LossHint })
		if len(p.losses) != tt.most || loud || p.fault != nil {
			t.Errorf("%s: %d losses, want %d hints: %v %v", name, len(p.losses), tt.most, p.losses, p.fault)
		}
	}
}

// found is a resolver that has one file.
type found content.Blob

func (f found) Resolve(context.Context, content.Source) (content.Blob, error) {
	return content.Blob(f), nil
}

// TestNote checks that a file that the server does not take is told of, or
// refuses the request where it shows too late to be reported.
func TestNote(t *testing.T) {
	away := &content.Image{Source: &content.URL{URL: "https://a.example/a.png"}}
	tests := []struct {
		name string
		part content.Part
		says Dialect
		path string // of the fault
		lost bool
	}{
		{"a PDF", &content.Document{Source: pdf}, Dialect{DescribeUnreadable: true}, "", true},
		{"a PDF, by default", &content.Document{Source: pdf}, Dialect{}, "turns.0.parts.0.source", false},
		{"a PDF that is taken", &content.Document{Source: pdf}, Dialect{DescribeUnreadable: true, Files: true}, "", false},
		{"moving pictures", &content.Media{Source: &content.Base64{MediaType: "video/mp4", Data: "AAAA"}}, Dialect{DescribeUnreadable: true}, "", true},
		{"an archive", &content.Document{Source: &content.Base64{MediaType: "application/zip", Data: "AAAA"}}, Dialect{DescribeUnreadable: true}, "", true},
		{"an image for a model that reads text", png, Dialect{DescribeUnreadable: true, TextOnly: true}, "", true},
		{"a text for one", &content.Document{Source: &content.Base64{MediaType: "text/plain", Data: "YQ=="}}, Dialect{DescribeUnreadable: true, TextOnly: true}, "", false},
		{"what is no base64 of a text", &content.Document{Source: &content.Base64{MediaType: "text/plain", Data: "/w=="}}, Dialect{DescribeUnreadable: true}, "turns.0.parts.0.source.data", false},
		{"an image that turns out to be another", away, Dialect{DescribeUnreadable: true}, "turns.0.parts.0.source.media_type", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for format, plan := range map[content.Format]func(*upstream.Request) ([]content.Loss, error){
				ChatFormat: func(r *upstream.Request) ([]content.Loss, error) {
					c, err := New(Options{BaseURL: "http://localhost/v1", Dialect: tt.says})
					if err != nil {
						t.Fatal(err)
					}
					p := c.plan(r, false)
					_, err = p.body(t.Context())
					return p.losses, err
				},
				ResponsesFormat: func(r *upstream.Request) ([]content.Loss, error) {
					p := planWith(t, r, tt.says, 0)
					_, err := p.body(t.Context())
					return p.losses, err
				},
			} {
				r := asked("m", tt.part)
				r.Resolver = found{MediaType: "application/zip", Data: []byte("x")}
				losses, err := plan(r)
				path := ""
				var e *content.Violation
				if errors.As(err, &e) {
					path = e.Path
				}
				if path != tt.path || slices.Contains(losses, lostUnread.At("turns.0.parts.0")) != tt.lost {
					t.Errorf("%s: %v, losses %v", format, err, losses)
				}
			}
		})
	}
}
