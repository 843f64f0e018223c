package messages

import (
	"testing"

	"github.com/polywire/polywire/internal/workload"
)

// A tally counts what a document has of its own, and what it refers to.
type tally struct{ own, other int }

func (c *tally) Write(b []byte) (int, error)       { c.own += len(b); return len(b), nil }
func (c *tally) WriteString(s string) (int, error) { c.other += len(s); return len(s), nil }

// TestSizeAhead checks that the buffer of a document that was not parsed is made
// once: it is set aside in about the right size.
func TestSizeAhead(t *testing.T) {
	for name, body := range map[string]string{"agent": workload.Agent(), "chat": workload.Chat(), "image": workload.Image()} {
		r, _ := RequestFromUpstream(mustParse(t, body).Upstream().Clone())
		b, err := r.Body()
		if err != nil {
			t.Fatal(err)
		}
		var c tally
		if _, err := b.w.WriteTo(&c); err != nil {
			t.Fatal(err)
		}
		if ahead := r.size(); ahead < c.own || ahead > 2*c.own+1024 {
			t.Errorf("%s: %d bytes are set aside for %d", name, ahead, c.own)
		}
	}
}
