package adapter_test

import (
	"context"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/adapter"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
)

// files is a resolver: the link of a file is its name.
type files map[string]content.Blob

func (f files) Resolve(_ context.Context, s content.Source) (content.Blob, error) {
	return f[s.(*content.URL).URL], nil
}

// TestLoad checks that the losses that only the bytes of files show are reported, even if
// the bytes also show that the request cannot be sent.
func TestLoad(t *testing.T) {
	image := func(name string) content.Part { return &content.Image{Source: &content.URL{URL: name}} }
	n := &upstream.Request{
		Turns:    []content.Turn{{Role: content.RoleUser, Parts: []content.Part{image("png"), image("zip")}}},
		Resolver: files{"png": {Data: []byte("\x89PNG\r\n\x1a\n....")}, "zip": {MediaType: "application/zip", Data: []byte("PK")}},
	}
	target := messages.BaseTarget(n)
	target.Files.Keep = false
	p := adapter.Plan{Source: n, Model: "m", Target: &target}
	if p.Lower(); len(p.Losses) > 0 || p.Err != nil || p.Request.Model != "m" {
		t.Fatalf("before loading: %+v, %v", p.Losses, p.Err)
	}
	news, err := p.Load(t.Context())
	list, _ := content.Violations(err)
	if len(list) != 1 || list[0].Path != "turns.0.parts.1.source.media_type" {
		t.Errorf("got %v, want a violation at the second image", err)
	}
	if len(news) != 1 || news[0].Path != "turns.0.parts.0.source.media_type" || len(p.Losses) != 1 {
		t.Errorf("got %+v, want the media type of the first image", news)
	}
	if more := p.Lower(); len(more) > 0 || len(p.Losses) != 1 {
		t.Errorf("reported again: %+v", more)
	}
}
