package openai

import (
	"io"
	"testing"

	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/internal/adapter"
	"github.com/polywire/polywire/internal/test/floor"
	"github.com/polywire/polywire/internal/test/workload"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
)

// BenchmarkResponsesRequest compares the translation of a request with that to the
// handler's other format, as "of-other".
func BenchmarkResponsesRequest(b *testing.B) {
	c, err := NewResponses(&Options{BaseURL: "http://localhost:1/v1", Dialect: Dialect{Kind: ServerOpenAI}})
	if err != nil {
		b.Fatal(err)
	}
	for name, body := range map[string]string{"agent": workload.Agent(), "chat": workload.Chat(), "pdf": workload.PDF()} {
		b.Run(name, func(b *testing.B) {
			parsed := func() *upstream.Request {
				r, err := messages.ParseRequest([]byte(body))
				if err != nil {
					b.Fatal(err)
				}
				return r.Upstream()
			}
			n := parsed()
			own := func() { drainBody(b, c, n) }
			other := func() {
				r, _, err := generatecontent.RequestFromUpstream(n)
				if err != nil {
					b.Fatal(err)
				}
				doc, err := r.Body()
				if err != nil {
					b.Fatal(err)
				}
				src := doc.Reader()
				if _, err := io.Copy(io.Discard, src); err != nil {
					b.Fatal(err)
				}
			}
			floor.Run(b, body, own)
			floor.Against(b, "of-other", other, func() {}, own)
		})
	}
}

func drainBody(b *testing.B, c *Responses, n *upstream.Request) {
	p := c.plan(n)
	if _, err := p.Load(b.Context()); err != nil {
		b.Fatal(err)
	}
	doc := adapter.Written{Writer: p.write(b.Context())}
	if _, err := io.Copy(io.Discard, doc.Reader()); err != nil {
		b.Fatal(err)
	}
}
