package upstream

import (
	"math"

	"github.com/polywire/polywire/content"
)

// A snapshot remembers what a request said: every string that is not empty and
// every number that is not zero, each with its place in the order of a walk.
// Strings that nobody changed share memory with what is remembered, which
// makes comparing them a matter of two words.
type snapshot struct {
	texts   []seenText
	numbers []seenNumber
}

type seenText struct {
	place uint32
	text  string
}

type seenNumber struct {
	place  uint32
	number uint64
}

// take remembers r.
func (s *snapshot) take(r *Request) {
	w := walk{do: counting}
	w.request(r)
	w = walk{do: taking, snapshot: snapshot{
		texts:   make([]seenText, 0, w.t),
		numbers: make([]seenNumber, 0, w.n),
	}}
	w.request(r)
	*s = w.snapshot
}

// same reports whether r still says what was remembered.
func (s *snapshot) same(r *Request) bool {
	w := walk{do: comparing, snapshot: *s}
	w.request(r)
	return !w.differs && w.t == len(s.texts) && w.n == len(s.numbers)
}

// A walk goes through everything that a request says, always in one order. It
// calls text and number for each field, and number for each length, presence
// and kind, so that two walks agree about a place as long as nothing differs.
type walk struct {
	do       task
	differs  bool
	place    uint32
	t, n     int // how many texts and numbers there were so far
	snapshot snapshot
}

type task uint8

const (
	counting task = iota
	taking
	comparing
)

func (w *walk) text(s string) {
	w.place++
	if s != "" {
		w.someText(s)
	}
}

func (w *walk) someText(s string) {
	switch w.do {
	case taking:
		w.snapshot.texts = append(w.snapshot.texts, seenText{w.place, s})
	case comparing:
		if w.t >= len(w.snapshot.texts) || w.snapshot.texts[w.t] != (seenText{w.place, s}) {
			w.differs = true
		}
	}
	w.t++
}

func (w *walk) number(n uint64) {
	w.place++
	if n != 0 {
		w.someNumber(n)
	}
}

func (w *walk) someNumber(n uint64) {
	switch w.do {
	case taking:
		w.snapshot.numbers = append(w.snapshot.numbers, seenNumber{w.place, n})
	case comparing:
		if w.n >= len(w.snapshot.numbers) || w.snapshot.numbers[w.n] != (seenNumber{w.place, n}) {
			w.differs = true
		}
	}
	w.n++
}

func (w *walk) bool(b bool) {
	n := uint64(0)
	if b {
		n = 1
	}
	w.number(n)
}

// list begins a list. It reports whether to go on: after a difference there is
// no point, and a list may have become very long.
func (w *walk) list(n int) bool {
	w.number(uint64(n))
	return !w.differs
}

func (w *walk) strings(list []string) {
	if w.list(len(list)) {
		for _, s := range list {
			w.text(s)
		}
	}
}

func (w *walk) whole(p *int64) {
	w.bool(p != nil)
	if p != nil {
		w.number(uint64(*p))
	}
}

func (w *walk) float(p *float64) {
	w.bool(p != nil)
	if p != nil {
		w.number(math.Float64bits(*p))
	}
}

func (w *walk) extra(x *content.Extra) {
	w.bool(x != nil)
	if x != nil {
		w.text(string(x.Format))
		w.text(x.JSON)
	}
}

func (w *walk) cache(c *content.Cache) {
	w.bool(c != nil)
	if c != nil {
		w.text(c.TTL)
		w.extra(c.Extra)
	}
}

func (w *walk) signature(s *content.Signature) {
	w.text(string(s.Format))
	w.text(s.Data)
}

func (w *walk) schema(s *content.Schema) {
	w.text(s.JSON)
	w.bool(s.OpenAPI)
}

// request leaves out Model, Stream, Resolver, ForwardLinks, RejectLoss and Wire: see
// [WireOf].
func (w *walk) request(r *Request) {
	w.parts(r.System)
	if w.list(len(r.Turns)) {
		for i := range r.Turns {
			t := &r.Turns[i]
			w.text(string(t.Role))
			w.parts(t.Parts)
			w.extra(t.Extra)
		}
	}
	if w.list(len(r.Tools)) {
		for i := range r.Tools {
			w.tool(&r.Tools[i])
		}
	}
	w.text(string(r.Choice.Mode))
	w.strings(r.Choice.Names)
	w.bool(r.Choice.NoParallel)
	w.extra(r.Choice.Extra)

	w.whole(r.MaxTokens)
	w.float(r.Temperature)
	w.float(r.TopP)
	w.whole(r.TopK)
	w.whole(r.Seed)
	w.float(r.PresencePenalty)
	w.float(r.FrequencyPenalty)
	w.strings(r.StopSequences)
	w.number(uint64(r.Candidates))

	w.text(string(r.Thinking.Mode))
	w.whole(r.Thinking.Budget)
	w.text(r.Thinking.Effort)
	w.text(r.Thinking.Display)
	w.extra(r.Thinking.Extra)

	w.strings(r.Output.Modalities)
	w.text(r.Output.MediaType)
	w.schema(&r.Output.Schema)
	w.text(r.Output.AspectRatio)
	w.text(r.Output.ImageSize)
	w.extra(r.Output.Extra)

	w.text(r.UserID)
	w.text(r.ServiceTier)
	if w.list(len(r.Header)) {
		for i := range r.Header {
			w.text(r.Header[i].Name)
			w.text(r.Header[i].Value)
		}
	}
	w.extra(r.Extra)
}

func (w *walk) tool(t *content.Tool) {
	w.text(t.Name)
	w.text(t.Description)
	w.schema(&t.Input)
	w.schema(&t.Output)
	w.bool(t.Strict)
	w.text(t.Kind)
	w.text(string(t.Format))
	w.text(t.Raw)
	w.cache(t.Cache)
	w.extra(t.Extra)
}
