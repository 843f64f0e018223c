package generatecontent

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// TestStreamBounded floods a stream with what it cannot say at once, and checks
// that it keeps little of that.
func TestStreamBounded(t *testing.T) {
	for name, flood := range map[string]func(w *upstream.Writer, i int) error{
		"members": func(w *upstream.Writer, i int) error {
			return w.Send([]upstream.Event{{Kind: upstream.EventExtra, Extra: extra(fmt.Sprintf(`{"m%d":1}`, i))}})
		},
		"members of one name": func(w *upstream.Writer, i int) error {
			return w.Send([]upstream.Event{{Kind: upstream.EventExtra, Extra: extra(fmt.Sprintf(`{"m":%d}`, i))}})
		},
		"stops": func(w *upstream.Writer, i int) error {
			return w.Stop(upstream.Stop{Reason: content.StopEnd, Extra: extra(`{"m":1}`)})
		},
		"blocks":     func(w *upstream.Writer, i int) error { return w.Part(&content.Text{Text: "a"}) },
		"signatures": func(w *upstream.Writer, i int) error { return w.Signature(signed("c2ln")) },
		"citations": func(w *upstream.Writer, i int) error {
			return w.Cite(content.Citation{Kind: content.CiteWeb, URL: fmt.Sprint("https://a.example/", i)})
		},
		"cited texts": func(w *upstream.Writer, i int) error {
			return w.Part(&content.Text{Text: "a", Citations: []content.Citation{{Title: fmt.Sprint(i)}}})
		},
		"usage": func(w *upstream.Writer, i int) error { return w.Usage(content.Usage{Input: int64(i)}) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newStream(inEvents, "r", "m", maxBody)
			var out []byte
			most := 0
			err := upstream.Run(t.Context(), upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
				for i := range 20_000 {
					if err := flood(w, i); err != nil {
						return err
					}
				}
				return nil
			}), &upstream.Request{}, upstream.SinkFunc(func(events []upstream.Event) error {
				out = s.Events(out[:0], events)
				s.Losses()
				n := len(s.open) + len(s.said) + len(s.members)
				for k := range s.candidates {
					n += len(s.candidates[k].members) + len(s.candidates[k].grounds.known)
				}
				for k := range s.open {
					n += len(s.open[k].cites)
				}
				most = max(most, n)
				return s.Err()
			}))
			out = s.End(out[:0], nil)
			if err != nil || most > 3000 || len(out) > 1<<20 {
				t.Errorf("%v; %d things were kept, and %d bytes said at the end", err, most, len(out))
			}
		})
	}
}

// TestStreamFails checks that what is too much ends the answer with an error.
func TestStreamFails(t *testing.T) {
	for name, up := range map[string]upstream.Func{
		"candidates": func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
			return w.Send([]upstream.Event{{Kind: upstream.EventStop, Candidate: 1 << 30, Stop: &upstream.Stop{}}})
		},
		"arguments": func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
			a, b := w.ToolCall("", "f"), w.ToolCall("", "g")
			piece := strings.Repeat(" ", 1<<20)
			for range 17 {
				_ = a.Input(piece)
				if err := b.Input(piece); err != nil {
					return nil // whatever the upstream makes of it
				}
			}
			return w.Text("not reached")
		},
	} {
		for _, path := range []string{eventsPath, plainPath} {
			if name == "arguments" && path == plainPath {
				continue // bounded as any whole answer is
			}
			w := serve(up, "POST", path, smallBody)
			checkError(t, w, 502, "UNAVAILABLE", "The upstream gave no usable answer.")
		}
	}
}
