package gemini

import (
	"io"
	"testing"

	"github.com/polywire/polywire/internal/test/floor"
	"github.com/polywire/polywire/internal/test/workload"
	"github.com/polywire/polywire/messages"
)

// BenchmarkTranslate parses and validates a Messages request as a handler does, converts it and writes the document.
func BenchmarkTranslate(b *testing.B) {
	c, err := New(nil)
	if err != nil {
		b.Fatal(err)
	}
	for _, w := range []struct {
		name, body string
	}{{"small", workload.Small()}, {"chat", workload.Chat()}, {"agent", workload.Agent()}} {
		for _, parse := range []bool{true, false} {
			name := w.name
			if !parse {
				name += "/translation"
			}
			b.Run(name, func(b *testing.B) {
				n, _, err := messages.DecodeRequest(w.body, nil)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportAllocs()
				floor.Run(b, w.body, func() {
					if parse {
						if n, _, err = messages.DecodeRequest(w.body, nil); err != nil {
							b.Fatal(err)
						}
					}
					p := c.plan(n.WithModel("gemini-3.8-flash"))
					if p.Err != nil {
						b.Fatal(p.Err)
					}
					body, err := p.body()
					if err != nil {
						b.Fatal(err)
					}
					if _, err := io.Copy(io.Discard, body.Reader()); err != nil {
						b.Fatal(err)
					}
				})
			})
		}
	}
}
