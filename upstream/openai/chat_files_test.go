package openai_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/fake"
	fakeopenai "github.com/polywire/polywire/internal/fake/openai"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/openai"
)

// shelf resolves every link to a file of the type that its name says.
type shelf struct{ asked int }

func (s *shelf) Resolve(_ context.Context, src content.Source) (content.Blob, error) {
	s.asked++
	u, ok := src.(*content.URL)
	switch {
	case !ok:
		return content.Blob{}, content.ErrUnresolved
	case strings.HasSuffix(u.URL, ".pdf"):
		return content.Blob{MediaType: "application/pdf", Data: []byte("%PDF-1.7\n")}, nil
	case strings.HasSuffix(u.URL, ".txt"):
		return content.Blob{MediaType: "text/plain", Data: []byte("plain words")}, nil
	}
	return content.Blob{MediaType: "image/png", Data: []byte("\x89PNG\r\n\x1a\n")}, nil
}

// TestFiles checks which files go as links, and which are loaded first.
func TestFiles(t *testing.T) {
	image := &content.Image{Source: &content.URL{URL: "https://a.example/a.png"}}
	document := func(name string) *content.Document {
		return &content.Document{Source: &content.URL{URL: "https://a.example/" + name}}
	}
	const loaded = `"url":"data:image/png;base64,iVBORw0KGgo="`
	for _, test := range []struct {
		name    string
		local   bool
		links   bool // are passed
		dialect openai.Dialect
		parts   []content.Part
		want    []string
		asked   int
	}{
		{"a link", false, true, openai.Dialect{}, []content.Part{image}, []string{`"url":"https://a.example/a.png"`}, 0},
		{"a link that is not passed", false, false, openai.Dialect{}, []content.Part{image}, []string{loaded}, 1},
		{"a link beside a document", false, true, openai.Dialect{}, []content.Part{image, document("a.pdf")}, []string{loaded, `"file_data":"data:application/pdf;base64,JVBERi0xLjcK"`}, 2},
		{"a text", true, true, openai.Dialect{}, []content.Part{document("a.txt")}, []string{`plain words`}, 1},
		{"a compatible server", true, true, openai.Dialect{}, []content.Part{image}, []string{loaded}, 1},
		{"one that fetches", true, true, openai.Dialect{Links: true}, []content.Part{image}, []string{`"url":"https://a.example/a.png"`}, 0},
		{"one that reads PDFs", true, true, openai.Dialect{Files: true}, []content.Part{document("a.pdf")}, []string{`"filename":"document.pdf"`}, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, s := client(t, fakeopenai.Options{Local: test.local}, openai.Options{Dialect: test.dialect})
			from := new(shelf)
			req := simple("gpt-4.1", "look")
			req.Turns[0].Parts = append(req.Turns[0].Parts, test.parts...)
			req.Resolver, req.ForwardLinks = from, test.links
			if _, err := upstream.Collect(t.Context(), c, req); err != nil {
				t.Fatal(err)
			}
			for _, want := range test.want {
				if body := string(s.Last().Body); !strings.Contains(body, want) {
					t.Errorf("there is no %s in %s", want, body)
				}
			}
			if from.asked != test.asked {
				t.Errorf("%d files were loaded, want %d", from.asked, test.asked)
			}
		})
	}
}

// TestRename checks that the model is told legal names, and that the client
// hears its own.
func TestRename(t *testing.T) {
	c, s := client(t, fakeopenai.Options{}, openai.Options{})
	s.Answer(func(r fake.Request) []fake.Piece {
		doc, err := fake.Parse(r.Body)
		if err != nil {
			return []fake.Piece{fake.Status{Code: 500}}
		}
		return []fake.Piece{fake.Call(doc.List("tools")[0].Get("function").Text("name"), "{}")}
	})
	req := simple("gpt-4.1", "call")
	req.Tools = []content.Tool{weather[0]}
	req.Tools[0].Name = "mcp:weather.of/the city"
	for _, req.Stream = range []bool{false, true} {
		reply, err := upstream.Collect(t.Context(), c, req)
		if err != nil {
			t.Fatal(err)
		}
		if use, ok := reply.Parts[0].(*content.ToolUse); !ok || use.Name != req.Tools[0].Name {
			t.Errorf("stream %v: %v", req.Stream, reply.Parts)
		}
		if body := string(s.Last().Body); strings.Contains(body, "mcp:") {
			t.Errorf("sent %s", body)
		}
	}
}

// TestHeaders checks how a host shows who it is, and that nothing else goes
// along.
func TestHeaders(t *testing.T) {
	for name, test := range map[string]struct {
		options openai.Options
		want    map[string]string
	}{
		"bearer": {openai.Options{Key: "k", Organization: "o", Project: "p", Header: http.Header{"X-Host": {"h"}}},
			map[string]string{"Authorization": "Bearer k", "Openai-Organization": "o", "Openai-Project": "p", "X-Host": "h"}},
		"azure":   {openai.Options{Key: "k", KeyHeader: "api-key"}, map[string]string{"Api-Key": "k"}},
		"a func":  {openai.Options{KeyFunc: func(context.Context) (string, error) { return "later", nil }}, map[string]string{"Authorization": "Bearer later"}},
		"nothing": {openai.Options{}, map[string]string{}},
	} {
		t.Run(name, func(t *testing.T) {
			got := map[string]string{}
			ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				for _, n := range []string{"Authorization", "Api-Key", "Openai-Organization", "Openai-Project", "X-Host", "X-Api-Key", "Anthropic-Version"} {
					if v := r.Header.Get(n); v != "" {
						got[n] = v
					}
				}
				w.Header().Set("X-Request-Id", "req_1")
				_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}`)
			}))
			defer ts.Close()
			test.options.BaseURL = ts.URL
			c, err := openai.New(test.options)
			if err != nil {
				t.Fatal(err)
			}
			reply, err := upstream.Collect(t.Context(), c, simple("m", "q"))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if s := reply.Start; s.UpstreamID != "req_1" || s.Upstream != "openai chat" || s.Header != nil {
				t.Errorf("start: %+v", s)
			}
		})
	}
}

// TestModels checks the list, and that counting is an estimate.
func TestModels(t *testing.T) {
	c, _ := client(t, fakeopenai.Options{Models: []string{"a", "b"}}, openai.Options{})
	list, err := c.Models(t.Context())
	if err != nil || len(list) != 2 || list[1].ID != "b" {
		t.Errorf("%v %v", list, err)
	}
	n, err := c.CountTokens(t.Context(), simple("a", "some words"))
	if err != nil || !n.Estimated || n.Tokens == 0 {
		t.Errorf("%v %v", n, err)
	}
}
