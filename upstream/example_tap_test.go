package upstream_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

const secret = "swordfish"

// A mask keeps a word from getting out, also where a piece of text ends within
// it: the end of a block's text that may be the word's beginning is held back.
type mask struct {
	to   upstream.Sink
	held map[int]string // by block
}

func (m *mask) Send(events []upstream.Event) error {
	var out []upstream.Event
	for _, e := range events {
		switch e.Kind {
		case upstream.EventText:
			text := strings.ReplaceAll(m.held[e.Block]+e.Text, secret, "*********")
			n := len(text) - half(text)
			m.held[e.Block], e.Text = text[n:], text[:n]
		case upstream.EventClose:
			out = append(out, upstream.Event{
				Kind: upstream.EventText, Block: e.Block, Candidate: e.Candidate, Text: m.held[e.Block],
			})
			delete(m.held, e.Block)
		}
		out = append(out, e)
	}
	return m.to.Send(out)
}

// half returns how many bytes at the end of a text may begin the secret.
func half(text string) int {
	for n := min(len(text), len(secret)-1); n > 0; n-- {
		if strings.HasSuffix(text, secret[:n]) {
			return n
		}
	}
	return 0
}

// A middleware that keeps a word from getting out, however it comes in pieces.
func ExampleTap_pieces() {
	slow := upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		for _, piece := range []string{"The password is sw", "ordf", "ish, not swor", "d."} {
			if err := w.Text(piece); err != nil {
				return err
			}
		}
		return nil
	})
	masked := upstream.Tap(slow, func(_ context.Context, _ *upstream.Request, to upstream.Sink) upstream.Sink {
		return &mask{to: to, held: map[int]string{}}
	})
	reply, err := upstream.Collect(context.Background(), masked, user("Tell me."))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(reply.Parts[0].(*content.Text).Text)
	// Output: The password is *********, not sword.
}
