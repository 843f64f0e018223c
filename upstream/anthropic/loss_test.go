package anthropic_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	fakes "github.com/polywire/polywire/internal/test/fake/anthropic"
	"github.com/polywire/polywire/internal/test/lossplaces"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/anthropic"
)

// TestUnsignedThought checks that unsigned thinking is not sent to the vendor,
// which would refuse it. Clients of Messages may return it after a response of
// another vendor.
func TestUnsignedThought(t *testing.T) {
	const thought = `{"type":"thinking","thinking":"hm","signature":""},`
	body := `{"model":"claude-sonnet-4-5","max_tokens":100,"messages":[{"role":"user","content":"hi"},
		{"role":"assistant","content":[` + thought + `{"type":"text","text":"yo"}]},{"role":"user","content":"again"}]}`
	c, f := strict(t, anthropic.Options{}, fakes.Options{})
	var reported []string
	h := messages.NewHandler(c, &messages.Options{HandlerOptions: upstream.HandlerOptions{OnLoss: func(_ context.Context, losses []content.Loss) {
		reported = append(reported, lossplaces.Names(losses)...)
	}}})
	if code, answer := ask2(h, body, nil); code != http.StatusOK {
		t.Fatal(code, answer, refusals(f))
	}
	if sent := string(f.Last().Body); strings.Contains(sent, "thinking") || !strings.Contains(sent, `"yo"`) {
		t.Errorf("sent %s", sent)
	}
	if diff := cmp.Diff([]string{"hint turns.1.parts.0"}, reported); diff != "" {
		t.Errorf("losses (-want +got):\n%s", diff)
	}
	if code, answer := ask2(h, strings.Replace(body, thought, "", 1), nil); code != http.StatusOK {
		t.Fatal(code, answer)
	}
	if sent := string(f.Last().Body); !strings.Contains(sent, "\n\t\t{") {
		t.Errorf("without the thought the document is not passed on: %s", sent)
	}
}

// TestLinkTypes checks that the media type of a link is a loss only if the link
// itself is sent.
func TestLinkTypes(t *testing.T) {
	const file = "file_011CNha8iCJcU1wXNR6q4V8w"
	for _, tt := range []struct {
		name   string
		source content.Source
		pass   bool
		want   []string
	}{
		{"fetched link", &content.URL{URL: "https://a.example/x.gif", MediaType: "image/gif"}, false, nil},
		{"forwarded link", &content.URL{URL: "https://a.example/x.gif", MediaType: "image/gif"}, true,
			[]string{"hint turns.0.parts.0.source.media_type"}},
		{"file id", &content.File{ID: file, MediaType: "image/gif"}, false,
			[]string{"hint turns.0.parts.0.source.media_type"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, _ := strict(t, anthropic.Options{}, fakes.Options{})
			n := &upstream.Request{Model: "claude-sonnet-5", Resolver: &files{}, ForwardLinks: tt.pass,
				Turns: []content.Turn{{Role: content.RoleUser, Parts: parts(&content.Image{Source: tt.source}, text("hi"))}}}
			reply, err := upstream.Collect(t.Context(), c, n)
			if err != nil {
				t.Fatal(err)
			}
			var losses []string
			losses = append(losses, lossplaces.Names(reply.Losses)...)
			if diff := cmp.Diff(tt.want, losses); diff != "" {
				t.Errorf("losses (-want +got):\n%s", diff)
			}
		})
	}
}

// TestCountElsewhere checks that the count of a request of another format with
// external files is an estimate: files are not fetched to count their tokens.
func TestCountElsewhere(t *testing.T) {
	link := &content.Image{Source: &content.URL{URL: "https://a.example/x.gif"}}
	for name, n := range map[string]*upstream.Request{
		"a link":               {Turns: []content.Turn{{Role: content.RoleUser, Parts: parts(link, text("hi"))}}},
		"an id":                {Turns: []content.Turn{{Role: content.RoleUser, Parts: parts(&content.Document{Source: &content.File{ID: "x"}}, text("hi"))}}},
		"a link of the system": {System: parts(link), Turns: []content.Turn{{Role: content.RoleUser, Parts: parts(text("hi"))}}},
	} {
		found := &files{}
		n.Model, n.Resolver = "claude-sonnet-5", found
		c, f := strict(t, anthropic.Options{}, fakes.Options{})
		count, err := c.CountTokens(t.Context(), n)
		if err != nil || !count.Estimated || count.Tokens <= 0 {
			t.Errorf("%s: %+v, %v", name, count, err)
		}
		if len(found.asked) > 0 || len(f.Last().Body) > 0 {
			t.Errorf("%s: fetched %v, sent %s", name, found.asked, f.Last().Body)
		}
	}
}
