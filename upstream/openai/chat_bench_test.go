package openai

import (
	"testing"

	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/internal/test/floor"
	"github.com/polywire/polywire/internal/test/workload"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
)

// BenchmarkChatRequest compares the translation of a request with that to the handler's
// other format, as "of-other".
func BenchmarkChatRequest(b *testing.B) {
	for name, body := range map[string]string{"agent": workload.Agent(), "chat": workload.Chat(), "pdf": workload.PDF()} {
		r, err := messages.ParseRequest([]byte(body))
		if err != nil {
			b.Fatal(err)
		}
		n := r.Upstream()
		n.Wire = nil
		b.Run(name, func(b *testing.B) {
			c, err := New(nil)
			if err != nil {
				b.Fatal(err)
			}
			to := n.WithModel("gpt-4.1")
			own := func() {
				if p := c.plan(to); p.Err != nil {
					b.Fatal(p.Err)
				}
			}
			floor.Run(b, body, own)
			floor.Against(b, "of-other", func() { encodeAs(b, n) }, func() {}, own)
		})
	}
}

func encodeAs(b *testing.B, n *upstream.Request) {
	r, _, err := generatecontent.RequestFromUpstream(n)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := r.Body(); err != nil {
		b.Fatal(err)
	}
}
