package anthropic

import (
	"cmp"
	"strconv"

	"github.com/polywire/polywire/internal/test/fake"
)

// stream returns the response as events, messages.md §5.
func (s *Server) stream(a *ask, id uint32, turn []fake.Piece) []fake.Step {
	w := writer{reply: s.reply(a, id, turn), request: id}
	for i, p := range w.reply.parts {
		if w.failed {
			break
		}
		if p.other != nil {
			w.other(p.other)
			continue
		}
		w.open()
		w.group(p.blocks, i == 0)
	}
	if !w.failed {
		w.open()
		w.finish()
	}
	return w.steps
}

type writer struct {
	reply           *reply
	request         uint32
	steps           []fake.Step
	index           int
	started, failed bool
}

func (w *writer) event(name string, members ...string) {
	data := fake.Join(append([]string{"type", fake.Quote(name)}, members...)...)
	w.steps = append(w.steps, fake.Frame(fake.SSE(name, data)))
}

// open sends message_start once.
func (w *writer) open() {
	if w.started {
		return
	}
	w.started = true
	w.event("message_start", "message", w.reply.document("[]", "null", "null", "null", w.reply.usageJSON(startUsage)))
}

// group sends blocks with interleaved deltas.
func (w *writer) group(blocks []rendered, ping bool) {
	first := w.index
	w.index += len(blocks)
	longest := 0
	for i, b := range blocks {
		w.event("content_block_start", "index", strconv.Itoa(first+i), "content_block", b.start)
		longest = max(longest, len(b.deltas))
	}
	if ping {
		w.event("ping")
	}
	for k := range longest {
		for i, b := range blocks {
			if k < len(b.deltas) {
				w.event("content_block_delta", "index", strconv.Itoa(first+i), "delta", b.deltas[k])
			}
		}
	}
	for i := range blocks {
		w.event("content_block_stop", "index", strconv.Itoa(first+i))
	}
}

// other handles pieces that are not content: events of the script, and
// disruptions.
func (w *writer) other(p fake.Piece) {
	switch p := p.(type) {
	case fake.Ping:
		w.event("ping")
	case fake.Event:
		w.steps = append(w.steps, fake.Frame(fake.SSE(p.Name, p.Data)))
	case fake.Wire:
		w.steps = append(w.steps, fake.Frame(string(p)))
	case fake.Status:
		w.steps = append(w.steps, fake.Frame(fake.SSE("error", string(envelope(w.request, statusRefusal(p))))))
		w.failed = true
	case fake.Disruption:
		w.steps = append(w.steps, fake.Step{Disruption: p})
	}
}

func (w *writer) finish() {
	r := w.reply
	delta := fake.Join(
		"stop_reason", fake.QuoteOr(r.reason, "null"), "stop_sequence", fake.QuoteOr(r.sequence, "null"),
		"stop_details", cmp.Or(r.details, "null"),
	)
	members := []string{"delta", delta, "usage", r.usageJSON(endUsage)}
	w.event("message_delta", fake.With(members, r.delta)...)
	w.event("message_stop")
}
