package anthropic_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/anthropic"
)

// TestCountOfEditedRequest checks that a count omits members that an Edit adds to
// all requests if a count does not accept them: the vendor refuses such a count.
func TestCountOfEditedRequest(t *testing.T) {
	c, got := vendor(t, "application/json", `{"input_tokens":3}`, anthropic.Options{Key: "k"})
	up := upstream.Edit(c, func(_ context.Context, r *upstream.Request) (*upstream.Request, error) {
		edited, limit := r.Clone(), int64(77)
		edited.MaxTokens, edited.StopSequences = &limit, []string{"END"}
		return edited, nil
	})
	r := httptest.NewRequest(http.MethodPost, "/v1/messages/count_tokens", strings.NewReader(`{"model":"m","messages":[{"role":"user","content":"hi"}]}`))
	r.Header.Set("Anthropic-Version", "2023-06-01")
	w := httptest.NewRecorder()
	messages.NewHandler(up, nil).ServeHTTP(w, r)
	if w.Code != http.StatusOK || got.Path != "/v1/messages/count_tokens" {
		t.Errorf("%d %s, sent to %q", w.Code, w.Body, got.Path)
	}
	if want := `{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}]}`; got.Body != want {
		t.Errorf("sent %s\nwant %s", got.Body, want)
	}
}

// TestCountOfLinks checks that the vendor counts a request whose links it fetches, and that
// files are not fetched for a count.
func TestCountOfLinks(t *testing.T) {
	c, got := vendor(t, "application/json", `{"input_tokens":3}`, anthropic.Options{Key: "k"})
	r := &upstream.Request{Model: "claude-sonnet-4-5", Turns: []content.Turn{{Role: content.RoleUser, Parts: []content.Part{
		&content.Image{Source: &content.URL{URL: "https://files.example/a.png"}}, &content.Text{Text: "?"},
	}}}}
	n, err := c.CountTokens(t.Context(), r)
	if err != nil || !n.Estimated || got.Path != "" {
		t.Errorf("got %+v, %v, sent to %q", n, err, got.Path)
	}
	r.ForwardLinks = true
	n, err = c.CountTokens(t.Context(), r)
	if err != nil || n.Estimated || n.Tokens != 3 || !strings.Contains(got.Body, `"url":"https://files.example/a.png"`) {
		t.Errorf("got %+v, %v for %s", n, err, got.Body)
	}
}

// TestCountOfChosenTool checks that a count does not choose a built-in tool, which it omits:
// the vendor rejects the name of a tool that is not declared.
func TestCountOfChosenTool(t *testing.T) {
	c, got := vendor(t, "application/json", `{"input_tokens":3}`, anthropic.Options{Key: "k"})
	r := &upstream.Request{
		Model: "claude-sonnet-4-5",
		Turns: []content.Turn{{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: "?"}}}},
		Tools: []content.Tool{{Name: "f"}, {Kind: "web_search_20250305", Format: messages.Format, Name: "web_search",
			Raw: `{"type":"web_search_20250305","name":"web_search"}`}},
		Choice: content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"web_search"}},
	}
	if _, err := c.CountTokens(t.Context(), r); err != nil || strings.Contains(got.Body, "web_search") || !strings.Contains(got.Body, `"name":"f"`) {
		t.Errorf("sent %s, %v", got.Body, err)
	}
	r.Choice.Names = []string{"f"}
	if _, err := c.CountTokens(t.Context(), r); err != nil || !strings.Contains(got.Body, `"tool_choice":{"type":"tool","name":"f"}`) {
		t.Errorf("sent %s, %v", got.Body, err)
	}
}
