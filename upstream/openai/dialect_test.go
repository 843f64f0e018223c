package openai

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/lower"
	"github.com/polywire/polywire/internal/test/lossplaces"
	"github.com/polywire/polywire/upstream"
)

// TestHostDefaults checks the defaults of known hosts, and that options override them.
func TestHostDefaults(t *testing.T) {
	for _, tt := range []struct {
		name, base    string
		dialect, want Dialect
	}{
		{"unknown host", "http://localhost:8000/v1", Dialect{}, Dialect{}},
		{"DeepSeek's", "https://api.deepseek.com/v1", Dialect{}, Dialect{Thinking: "thinking", Efforts: []string{"none", "low", "high", "max"}}},
		{"DeepSeek with options", "https://api.deepseek.com", Dialect{Thinking: "-", Efforts: []string{}}, Dialect{Thinking: "-", Efforts: []string{}}},
		{"host with similar name", "https://api.deepseek.com.example/v1", Dialect{}, Dialect{}},
		{"Mistral's", "https://API.mistral.ai/v1", Dialect{}, Dialect{ShortIDs: true, Efforts: []string{"none", "high"}}},
	} {
		c, err := New(&Options{BaseURL: tt.base, Dialect: tt.dialect})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, c.dialect); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
	if _, err := New(&Options{Dialect: Dialect{Thinking: "temperature"}}); err == nil {
		t.Error("an invalid thinking switch was accepted")
	}
}

// TestCompatibleLosses checks that a conversation with a compatible server has no
// losses but hints, and that each is reported once, not for each tool call.
func TestCompatibleLosses(t *testing.T) {
	var turns []content.Turn
	for _, id := range []string{"a", "b", "c"} {
		turns = append(turns, q, turnOf(content.RoleAssistant, thinkingPart("hm", ""), useOf(id, "f", "{}")), turnOf(content.RoleUser, resultOf(id)), turnOf(content.RoleAssistant, thinkingPart("so", "reasoning"), textOf("a")))
	}
	bare := slices.Clone(turns)
	for i := range bare {
		bare[i].Parts = slices.DeleteFunc(slices.Clone(bare[i].Parts), func(p content.Part) bool { _, ok := p.(*content.Thinking); return ok })
	}
	for name, tt := range map[string]struct {
		dialect Dialect
		turns   []content.Turn
		losses  int
	}{
		"thinking it does not accept":         {Dialect{Reasoning: "-"}, turns, 6},
		"thinking of its clients":             {Dialect{}, turns, 3},
		"thinking returned in reasoning":      {Dialect{Reasoning: "reasoning"}, turns, 3}, // the thinking of the responses
		"missing thinking with Reasoning set": {Dialect{Reasoning: "reasoning"}, bare, 1},
		"no thinking":                         {Dialect{}, bare, 0},
	} {
		c, err := New(&Options{BaseURL: "http://localhost/v1", Dialect: tt.dialect})
		if err != nil {
			t.Fatal(err)
		}
		p := c.plan(&upstream.Request{Model: "m", Turns: append(slices.Clone(tt.turns), q)})
		degraded := slices.ContainsFunc(p.Losses, func(l content.Loss) bool { return l.Severity > content.LossHint })
		if n := len(lossplaces.Of(p.Losses)); n != tt.losses || degraded || p.Err != nil {
			t.Errorf("%s: %d losses, want %d hints: %v %v", name, n, tt.losses, p.Losses, p.Err)
		}
	}
}

// foundFile is a resolver with one file.
type foundFile content.Blob

func (f foundFile) Resolve(context.Context, content.Source) (content.Blob, error) {
	return content.Blob(f), nil
}

// TestDescribeUnreadable checks that a file that the server does not accept is
// described, also if only its bytes show that, or is a violation.
func TestDescribeUnreadable(t *testing.T) {
	remote := &content.Image{Source: &content.URL{URL: "https://a.example/a.png"}}
	tests := []struct {
		name    string
		part    content.Part
		dialect Dialect
		path    string // of the violation
		lost    bool
	}{
		{"a PDF", &content.Document{Source: pdf}, Dialect{DescribeUnreadable: true}, "", true},
		{"PDF by default", &content.Document{Source: pdf}, Dialect{}, "turns.0.parts.0.source", false},
		{"accepted PDF", &content.Document{Source: pdf}, Dialect{DescribeUnreadable: true, Files: true}, "", false},
		{"video", &content.Media{Source: &content.Base64{MediaType: "video/mp4", Data: "AAAA"}}, Dialect{DescribeUnreadable: true}, "", true},
		{"archive", &content.Document{Source: &content.Base64{MediaType: "application/zip", Data: "AAAA"}}, Dialect{DescribeUnreadable: true}, "", true},
		{"image for text-only model", png, Dialect{DescribeUnreadable: true, TextOnly: true}, "", true},
		{"text for text-only model", &content.Document{Source: &content.Base64{MediaType: "text/plain", Data: "YQ=="}}, Dialect{DescribeUnreadable: true, TextOnly: true}, "", false},
		{"invalid base64 text", &content.Document{Source: &content.Base64{MediaType: "text/plain", Data: "/w=="}}, Dialect{DescribeUnreadable: true}, "turns.0.parts.0.source.data", false},
		{"image of another type than declared", remote, Dialect{DescribeUnreadable: true}, "", true},
		{"image of another type than declared, by default", remote, Dialect{}, "turns.0.parts.0.source.media_type", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for format, plan := range map[content.Format]func(*upstream.Request) ([]content.Loss, error){
				ChatFormat: func(r *upstream.Request) ([]content.Loss, error) {
					c, err := New(&Options{BaseURL: "http://localhost/v1", Dialect: tt.dialect})
					if err != nil {
						t.Fatal(err)
					}
					_, losses, err := send(t, c.plan(r))
					return losses, err
				},
				ResponsesFormat: func(r *upstream.Request) ([]content.Loss, error) {
					_, losses, err := send(t, newPlanWith(t, r, tt.dialect, 0))
					return losses, err
				},
			} {
				r := newRequest("m", tt.part)
				r.Resolver = foundFile{MediaType: "application/zip", Data: []byte("x")}
				losses, err := plan(r)
				path := ""
				var e *content.Violation
				if errors.As(err, &e) {
					path = e.Path
				}
				if path != tt.path || lossplaces.Has(losses, lower.FileUnreadable.At("turns.0.parts.0")) != tt.lost {
					t.Errorf("%s: %v, losses %v", format, err, losses)
				}
			}
		})
	}
}

// TestIsOpenAI checks which hosts follow OpenAI's rules.
func TestIsOpenAI(t *testing.T) {
	for base, vendor := range map[string]bool{
		"": true, "https://api.openai.com/v1": true, "https://eu.api.openai.com/v1": true, "https://x.openai.azure.com/openai/v1": true,
		"https://x.services.ai.azure.com/openai/v1": true, "https://x.cognitiveservices.azure.com/openai/v1": true,
		"http://localhost:8000/v1": false, "https://api.openai.com.example/v1": false, "https://openrouter.ai/api/v1": false,
	} {
		if got := (Options{BaseURL: base}).isOpenAI(); got != vendor {
			t.Errorf("%q: %v", base, got)
		}
	}
}

func TestFamilies(t *testing.T) {
	for model, want := range map[string][]string{
		"gpt-4.1": nil, "gpt-4o-mini": nil, "gpt-5.2-chat-latest": nil, "gpt-5.5-chat-latest": nil, "openai/gpt-6-chat-latest": nil, "o3": lowToHigh, "openai/o4-mini": lowToHigh,
		"gpt-5": minToHigh, "gpt-5-mini-2025-08-07": minToHigh, "gpt-5.1": noneToHigh, "gpt-5.4": noneToXHigh, "gpt-5.6-terra": noneToMax, "gpt-6-sol": noneToMax, "gpt-6.1-terra": noneToMax,
		"gpt-6.2-sol": lowToXHigh, "GPT-6.1-sol": lowToXHigh,
	} {
		f := familyOf(model)
		if diff := cmp.Diff(want, f.efforts); diff != "" || !f.known {
			t.Errorf("%s (-want +got):\n%s", model, diff)
		}
	}
	for model, want := range map[string][]string{"gpt-5-pro": {"high"}, "gpt-6.1-sol": effortRange("low", "max"), "gpt-6.2-sol": effortRange("low", "max"), "gpt-5": minToHigh} {
		if diff := cmp.Diff(want, responsesFamilyOf(model).efforts); diff != "" {
			t.Errorf("%s in the Responses API (-want +got):\n%s", model, diff)
		}
	}
	for _, model := range []string{"gpt-oss-120b", "qwen3:8b", "o30", "", "gpt-50"} {
		if familyOf(model).known {
			t.Errorf("%q is taken for OpenAI", model)
		}
	}
}
