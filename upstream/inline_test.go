package upstream_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/document"
	"github.com/polywire/polywire/internal/snapshot"
	"github.com/polywire/polywire/upstream"
)

var errStore = errors.New("the store is on fire")

// shelf resolves links and ids by their ending.
func shelf(s content.Source) (content.Blob, error) {
	name := ""
	switch s := s.(type) {
	case *content.URL:
		name = s.URL[strings.LastIndexByte(s.URL, '/')+1:]
	case *content.File:
		name = s.ID
	}
	switch name {
	case "gif":
		return content.Blob{MediaType: "image/gif", Data: []byte("GIF89a")}, nil
	case "text":
		return content.Blob{MediaType: "text/plain", Data: []byte("a\n")}, nil
	case "sound":
		return content.Blob{MediaType: "audio/mp3", Data: make([]byte, 10_000)}, nil
	case "broken":
		return content.Blob{}, errStore
	case "foreign":
		return content.Blob{}, content.ErrUnresolved
	}
	return content.Blob{}, &content.Violation{Code: content.CodeValue, Text: "not there"}
}

func withSources(sources ...content.Source) *upstream.Request {
	r := &upstream.Request{Turns: []content.Turn{{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: "q"}}}}}
	for _, s := range sources {
		r.Turns[0].Parts = append(r.Turns[0].Parts, &content.Document{Source: s, Title: "t"})
	}
	r.Resolver = resolver(shelf)
	snapshot.Attach(r, &document.Document{In: "f"})
	return r
}

func TestInline(t *testing.T) {
	extra := &content.Extra{Format: "f", JSON: "{}"}
	link := &content.URL{URL: "https://a.example/gif", Extra: extra}
	picture := &content.Base64{MediaType: "image/gif", Data: "R0lGODlh"}
	file := &content.File{ID: "foreign"}
	r := withSources(link, &content.File{ID: "text"}, file, &content.Parts{Parts: []content.Part{&content.Image{Source: &content.File{ID: "gif"}}}}, picture)
	r.Turns = append(r.Turns, content.Turn{Role: content.RoleUser, Parts: []content.Part{
		&content.ToolResult{ID: "1", Parts: []content.Part{&content.Text{Text: "x"}, &content.Image{Source: link}}},
		&content.Media{Source: &content.URL{URL: "https://a.example/sound"}}, nil,
	}})
	before := r.Clone()
	got, err := r.Inline(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	withExtra := &content.Base64{MediaType: "image/gif", Data: "R0lGODlh", Extra: extra}
	want := []content.Turn{
		{Role: content.RoleUser, Parts: []content.Part{
			&content.Text{Text: "q"},
			&content.Document{Title: "t", Source: withExtra},
			&content.Document{Title: "t", Source: &content.PlainText{Text: "a\n", MediaType: "text/plain"}},
			&content.Document{Title: "t", Source: file},
			&content.Document{Title: "t", Source: &content.Parts{Parts: []content.Part{&content.Image{Source: picture}}}},
			&content.Document{Title: "t", Source: picture},
		}},
		{Role: content.RoleUser, Parts: []content.Part{
			&content.ToolResult{ID: "1", Parts: []content.Part{&content.Text{Text: "x"}, &content.Image{Source: withExtra}}},
			&content.Media{Source: &content.Base64{MediaType: "audio/mp3", Data: strings.Repeat("A", 13334) + "=="}}, nil,
		}},
	}
	if diff := cmp.Diff(want, got.Turns); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before.Turns, r.Turns); diff != "" {
		t.Errorf("the request itself has changed:\n%s", diff)
	}
	if snapshot.DocumentOf(got, "f") != nil {
		t.Error("the copy has the Wire of what it is no more")
	}
}

func TestInlineStays(t *testing.T) {
	link := &content.URL{URL: "https://a.example/gif"}
	for _, tt := range []struct {
		name       string
		source     content.Source
		pass, take bool
		stays      bool
	}{
		{"a link", link, false, false, false},
		{"link, the vendor fetches links", link, false, true, false},
		{"link with ForwardLinks, the vendor does not fetch links", link, true, false, false},
		{"link with ForwardLinks, the vendor fetches links", link, true, true, true},
		{"a file", &content.File{ID: "gif"}, true, true, false},
		{"unknown file", &content.File{ID: "foreign"}, false, false, true},
		{"base64", &content.Base64{Data: "QQ=="}, false, false, true},
		{"nil", nil, false, false, true},
		{"no link", (*content.URL)(nil), false, false, true},
		{"no file", (*content.File)(nil), false, false, true},
		{"no parts", (*content.Parts)(nil), false, false, true},
	} {
		r := withSources(tt.source)
		r.ForwardLinks = tt.pass
		got, err := r.Inline(t.Context(), func(p content.Part, u *content.URL) bool {
			if d, ok := p.(*content.Document); !ok || d.Source != u {
				t.Errorf("%s: asked for %#v of %#v", tt.name, u, p)
			}
			return tt.take
		})
		if err != nil || (got == r) != tt.stays {
			t.Errorf("%s: the same request: %v, want %v; %v", tt.name, got == r, tt.stays, err)
		}
	}
}

func TestInlineFails(t *testing.T) {
	bad := &content.File{ID: "?"}
	r := withSources(&content.File{ID: "broken"}, bad, &content.Parts{Parts: []content.Part{&content.Image{Source: bad}}})
	_, err := r.Inline(t.Context(), nil)
	list, _ := content.Violations(err)
	want := []*content.Violation{
		{Code: content.CodeValue, Path: "turns.0.parts.2.source", Text: "not there"},
		{Code: content.CodeValue, Path: "turns.0.parts.3.source.parts.0.source", Text: "not there"},
	}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := withSources(&content.File{ID: "broken"}).Inline(t.Context(), nil); !errors.Is(err, errStore) {
		t.Errorf("got %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := withSources(&content.File{ID: "gif"}).Inline(ended, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
}
