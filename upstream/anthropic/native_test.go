package anthropic_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	fakes "github.com/polywire/polywire/internal/test/fake/anthropic"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/anthropic"
)

// TestEdited checks that an edited request of this format keeps its form, version
// and betas, and is not fitted to the model.
func TestEdited(t *testing.T) {
	const body = `{"model":"claude-sonnet-5","max_tokens":100,"x_new":{"b":1},"thinking":{"type":"enabled","budget_tokens":50},
		"temperature":0.5,"output_config":{"effort":"low","task_budget":{"type":"tokens","total":20000}},"messages":[{"role":"user","content":"hi"},
		{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"s"},{"type":"text","text":"yo"}]},{"role":"user","content":"hi"},{"role":"system","content":"be brief"}]}`
	c, got := vendor(t, "application/json", reply, anthropic.Options{})
	edit := upstream.Func(func(ctx context.Context, r *upstream.Request, w *upstream.Writer) error {
		r = r.Clone()
		r.Turns[0].Parts[0].(*content.Text).Text = "edited"
		return c.Generate(ctx, r, w)
	})
	h := messages.NewHandler(edit, nil)
	code, answer := ask2(h, body, http.Header{"Anthropic-Version": {"2026-10-21"}, "Anthropic-Beta": {"one", "two,one"}})
	if code != http.StatusBadRequest { // the newer version has no temperature: the handler reports it
		t.Fatal(code, answer)
	}
	code, answer = ask2(h, strings.Replace(strings.Replace(body, `"temperature":0.5,`, "", 1), `50}`, `2000},"z":1`, 1), http.Header{
		"Anthropic-Version": {"2026-10-21"}, "Anthropic-Beta": {"one", "two,one", "interleaved-thinking-2025-05-14"}, "X-Api-Key": {"client-key"}})
	if code != http.StatusOK {
		t.Fatal(code, answer)
	}
	head := seen{Path: "/v1/messages", Query: "beta=true", Version: "2026-10-21", Beta: []string{"one,two,interleaved-thinking-2025-05-14"}}
	sent := *got
	sent.Body = ""
	if diff := cmp.Diff(head, sent); diff != "" {
		t.Errorf("sent (-want +got):\n%s", diff)
	}
	for _, want := range []string{`"x_new":{"b":1}`, `"z":1`, `"thinking":{"type":"enabled","budget_tokens":2000}`, `"role":"system"`,
		`"signature":"s"`, `"text":"edited"`, `"task_budget":{"type":"tokens","total":20000}`} {
		if !strings.Contains(got.Body, want) {
			t.Errorf("%s is not in %s", want, got.Body)
		}
	}
}

// TestRulesOfRenamed checks that a document is sent to a model that the host chose as this model
// accepts it, with the client's version and betas, and otherwise as it is.
func TestRulesOfRenamed(t *testing.T) {
	body := func(model, members string) string {
		return `{"model":"` + model + `","max_tokens":9000,` + members + `"messages":[{"role":"user","content":"hi"}], "x_new":{"b":1}}`
	}
	const adaptive, budget, samplers = `"thinking":{"type":"adaptive"},`, `"thinking":{"type":"enabled","budget_tokens":2000},`, `"temperature":0.5,"top_p":0.5,`
	for _, tt := range []struct{ name, asked, sent, members, want, losses string }{
		{"model of the client", "claude-sonnet-4-5", "claude-sonnet-4-5", adaptive, "", ""},
		{"same rules", "claude-opus-4-8", "claude-opus-4-7", adaptive, "", ""},
		{"nothing to change", "claude-opus-4-8", "claude-sonnet-4-5", `"temperature":0.5,`, "", ""},
		{"a model without automatic thinking", "claude-opus-4-8", "claude-sonnet-4-5", adaptive, `"thinking":{"type":"enabled","budget_tokens":`, "degraded thinking.type"},
		{"a model without budgets", "claude-sonnet-4-5", "claude-opus-4-8", budget, `"thinking":{"type":"adaptive"}`, "degraded thinking.budget_tokens"},
		{"an alias of the host", "fast", "claude-sonnet-4-5", samplers, `"temperature":0.5,`, "dropped top_p"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, got := vendor(t, "application/json", reply, anthropic.Options{MapModel: func(string) string { return tt.sent }})
			r := newAsk(body(tt.asked, tt.members))
			r.Header.Set("Anthropic-Version", "2023-06-01")
			r.Header.Set("Anthropic-Beta", "one")
			w := served(messages.NewHandler(c, nil), r)
			if w.Code != http.StatusOK || !slices.Equal(got.Beta, []string{"one"}) {
				t.Fatal(w.Code, w.Body, got.Beta)
			}
			if tt.want == "" {
				if diff := cmp.Diff(body(tt.sent, tt.members), got.Body); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			} else if !strings.Contains(got.Body, tt.want) || !strings.Contains(got.Body, `"x_new":{"b":1}`) || strings.Contains(got.Body, "top_p") {
				t.Errorf("sent %s, want %s", got.Body, tt.want)
			}
			if diff := cmp.Diff(tt.losses, w.Header().Get("Polywire-Loss")); diff != "" {
				t.Errorf("losses (-want +got):\n%s", diff)
			}
			if tt.want == "" {
				return
			}
			edited := upstream.Edit(c, func(_ context.Context, r *upstream.Request) (*upstream.Request, error) {
				r.System = append(r.System, &content.Text{Text: "Be brief."})
				return r, nil
			})
			r.Body = io.NopCloser(strings.NewReader(body(tt.asked, tt.members)))
			w = served(messages.NewHandler(edited, nil), r)
			if losses := w.Header().Get("Polywire-Loss"); !strings.Contains(got.Body, tt.want) || !strings.Contains(got.Body, "Be brief.") || losses != tt.losses {
				t.Errorf("edited: sent %s, losses %s", got.Body, losses)
			}
		})
	}
}

func ask2(h http.Handler, body string, header http.Header) (code int, answer string) {
	r := newAsk(body)
	for name, v := range header {
		r.Header[name] = v
	}
	w := served(h, r)
	return w.Code, w.Body.String()
}

// files resolves only one link, to a text.
type files struct{ asked []string }

func (f *files) Resolve(_ context.Context, s content.Source) (content.Blob, error) {
	switch s := s.(type) {
	case *content.URL:
		f.asked = append(f.asked, s.URL)
		if strings.HasSuffix(s.URL, ".txt") {
			return content.Blob{MediaType: "text/plain", Data: []byte("hello")}, nil
		}
		return content.Blob{MediaType: "image/gif", Data: []byte("GIF89a\x01\x00\x01\x00\x00\x00\x00;")}, nil
	case *content.File:
		f.asked = append(f.asked, s.ID)
	}
	return content.Blob{}, content.ErrUnresolved
}

// TestFiles checks how files are sent: links are inlined unless they may be
// forwarded, ids of the vendor are sent, and other ids are refused.
func TestFiles(t *testing.T) {
	image := func(s content.Source) content.Part { return &content.Image{Source: s} }
	document := func(s content.Source) content.Part { return &content.Document{Source: s} }
	tests := []struct {
		name      string
		part      content.Part
		pass      bool
		want      string // in the body
		violation string // its path
	}{
		{"link", image(&content.URL{URL: "https://a.example/x.jpg"}), false, `"source":{"type":"base64","media_type":"image/gif","data":"R0lGODlhAQABAAAAADs="}`, ""},
		{"forwarded link", image(&content.URL{URL: "https://a.example/x.jpg"}), true, `"source":{"type":"url","url":"https://a.example/x.jpg"}`, ""},
		{"forwarded link that the vendor cannot fetch", image(&content.URL{URL: "gs://a/x.jpg"}), true, `"source":{"type":"base64","media_type":"image/gif","data":"R0lGODlhAQABAAAAADs="}`, ""},
		{"text file", document(&content.URL{URL: "https://a.example/x.txt"}), false, `"source":{"type":"text","media_type":"text/plain","data":"hello"}`, ""},
		{"id of the vendor", document(&content.File{ID: "file_011CNha8iCJcU1wXNR6q4V8w"}), false, `"source":{"type":"file","file_id":"file_011CNha8iCJcU1wXNR6q4V8w"}`, ""},
		{"id of another vendor", document(&content.File{ID: "file-abc"}), false, "", "turns.0.parts.0.source"},
		{"URI of another vendor", image(&content.File{ID: "https://vendor.example/v1beta/files/abc"}), false, "", "turns.0.parts.0.source"},
		{"sound", &content.Media{Source: &content.Base64{MediaType: "audio/mpeg"}}, false, "", "turns.0.parts.0"},
		{"office document", document(&content.Base64{MediaType: "application/vnd.ms-excel", Data: "aGk="}), false, "", "turns.0.parts.0.source.media_type"},
		{"bitmap in a tool result", &content.ToolResult{ID: "i", Parts: parts(image(&content.Base64{MediaType: "image/bmp", Data: "aGk="}))}, false, "", "turns.0.parts.0.parts.0.source.media_type"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, f := strict(t, anthropic.Options{}, fakes.Options{})
			n := &upstream.Request{Model: "claude-sonnet-5", Turns: []content.Turn{{Role: content.RoleUser, Parts: parts(tt.part, text("hi"))}},
				Resolver: &files{}, ForwardLinks: tt.pass}
			_, err := upstream.Collect(t.Context(), c, n)
			var e *content.Violation
			if errors.As(err, &e) != (tt.violation != "") || e != nil && e.Path != tt.violation || e == nil && err != nil {
				t.Errorf("error %v, want one at %q", err, tt.violation)
			}
			if body := string(f.Last().Body); !strings.Contains(body, tt.want) || (tt.violation != "") != (body == "") {
				t.Errorf("sent %s, want %s", body, tt.want)
			}
		})
	}
}

// TestLinksOfTheFormat checks that links in a document of this format are sent only
// if they may be forwarded, and that nothing is fetched to count.
func TestLinksOfTheFormat(t *testing.T) {
	const body = `{"model":"claude-sonnet-5","max_tokens":100,"messages":[{"role":"user","content":[{"type":"image","source":{"type":"url","url":"https://a.example.com/x.jpg"}}]}]}`
	for _, pass := range []bool{false, true} {
		c, got := vendor(t, "application/json", reply, anthropic.Options{})
		found := &files{}
		h := messages.NewHandler(c, &messages.Options{HandlerOptions: upstream.HandlerOptions{ForwardLinks: pass, Links: found}})
		if code, answer := ask2(h, body, nil); code != http.StatusOK {
			t.Fatal(code, answer)
		}
		if strings.Contains(got.Body, "a.example.com") != pass || len(found.asked) == 0 != pass {
			t.Errorf("passing links on is %v: sent %s", pass, got.Body)
		}
	}
}

// TestLookalike checks responses of servers that resemble the vendor.
func TestLookalike(t *testing.T) {
	plain := `{"content":[{"type":"text","text":"Hi","odd":1}],"stop_reason":"stop","extra":[]}`
	events := "data: {\"type\":\"message_start\",\"message\":{}}\n\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\"}}\n\n" +
		"data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Hi\"}}\n\ndata: {\"type\":\"odd\"}\n\n" +
		"data: {\"type\":\"content_block_stop\",\"index\":0}\n\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}\n\ndata: {\"type\":\"message_stop\"}\n\n"
	for _, tt := range []struct{ name, kind, answer string }{
		{"little", "application/json", plain},
		{"JSON as text", "text/plain; charset=utf-8", plain},
		{"JSON of no type", "", plain},
		{"events", "text/event-stream", events},
	} {
		for _, stream := range []bool{false, true} {
			if tt.kind != "application/json" && stream && !strings.HasPrefix(tt.kind, "text/event") {
				continue // what has no type is taken to be what was asked for
			}
			c, _ := vendor(t, tt.kind, tt.answer, anthropic.Options{})
			n := &upstream.Request{Model: "local", Stream: stream, Turns: []content.Turn{{Role: content.RoleUser, Parts: parts(text("hi"))}}}
			r, err := upstream.Collect(t.Context(), c, n)
			if err != nil {
				t.Errorf("%s, streamed %v: %v", tt.name, stream, err)
				continue
			}
			if got, ok := r.Parts[0].(*content.Text); !ok || got.Text != "Hi" {
				t.Errorf("%s, streamed %v: %v", tt.name, stream, r.Parts)
			}
		}
	}
}
