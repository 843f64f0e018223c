package upstream

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/partfield"
)

// HoldText returns an Upstream that passes the text of a response through a function of the host
// before it is sent: a guard after the model, also for streams. For each call of Generate, f returns
// that function.
//
// The function receives a block, of which only the kind and the name are meaningful, and its next
// piece: of a [content.Text] or [content.Thinking] whole sentences, or, if size bytes or more have
// arrived without one, whole words; of a tool call each name, string and number of the arguments, however
// it is escaped, as in [Request.MapTexts], or all of a free-form input. It returns the text to send,
// which may be empty, or an error, with which Generate fails. Pieces of a text follow each other without
// gaps, and a text that is complete is one piece. At most about size bytes of a text are held back, and
// all bytes of arguments.
//
// If a piece is changed, the signature of its block is not sent, nor are members such as log
// probabilities. A response of the client's format of which nothing is changed passes byte for byte
// if each of its pieces is complete, as a whole response is. What is held when a response fails is
// not sent. Files, citations, and results of the vendor's tools are not passed to the function: see
// [Tap].
//
// f must be safe for concurrent use and must not return nil. The functions that it returns need not be
// safe for concurrent use. HoldText panics if next
// or f is nil, or if size is less than 1.
func HoldText(next Upstream, size int, f func(ctx context.Context, r *Request) func(block content.Part, text string) (string, error)) Upstream {
	if next == nil || f == nil || size < 1 {
		panic("upstream: HoldText: nil Upstream or function, or a size less than 1")
	}
	return Tap(next, func(ctx context.Context, r *Request, to Sink) (Sink, func(error)) {
		return &holder{to: to, size: size, check: f(ctx, r), blocks: map[int]*heldBlock{}}, nil
	})
}

// A holder is the sink of one response.
type holder struct {
	to     Sink
	size   int
	check  func(block content.Part, text string) (string, error)
	blocks map[int]*heldBlock // texts and tool calls, also closed ones
	out    []Event
}

// A heldBlock is a text or a tool call.
type heldBlock struct {
	part      content.Part
	arguments bool
	text      string  // held back
	later     []Event // follow text
	changed   bool
}

// Send implements [Sink].
func (h *holder) Send(events []Event) (err error) {
	h.out = h.out[:0]
	for i := 0; i < len(events) && err == nil; i++ {
		e := &events[i]
		ends := i+1 < len(events) && events[i+1].Kind == EventClose && events[i+1].Block == e.Block
		err = h.add(e, ends)
	}
	if len(h.out) > 0 {
		if failed := h.to.Send(h.out); err == nil {
			err = failed
		}
	}
	return err
}

// add handles an event. ends reports that it is the last one of its block.
func (h *holder) add(e *Event, ends bool) error {
	if e.Kind == EventOpen {
		return h.open(e)
	}
	b := h.blocks[e.Block]
	switch e.Kind {
	case EventCitation, EventSignature, EventBlockExtra: // may follow held text
		if b != nil && b.text != "" {
			later := *e
			later.Frame = nil // not valid after Send
			b.later = append(b.later, later)
			return nil
		}
	case EventText, EventInput:
		if b.text == "" && ends {
			return h.send(b, e.Text, e)
		}
		b.text += e.Text
		n := 0
		switch {
		case ends:
			n = len(b.text)
		case !b.arguments:
			n = cut(b.text, h.size)
		}
		return h.release(b, n, e)
	case EventClose:
		if b != nil {
			if err := h.release(b, len(b.text), e); err != nil {
				return err
			}
		}
	}
	h.pass(b, e)
	return nil
}

// open handles the beginning of a block, which may have the arguments of a tool call.
func (h *holder) open(e *Event) error {
	f := partfield.Of(e.Part)
	arguments := f.Argument()
	if f.Written() == nil && arguments == nil {
		h.out = append(h.out, *e)
		return nil
	}
	b := &heldBlock{part: e.Part, arguments: arguments != nil}
	h.blocks[e.Block] = b
	o := *e
	if arguments != nil && *arguments != "" {
		text, err := h.checked(b, *arguments)
		if err != nil {
			return err
		}
		if text != *arguments {
			b.changed = true
			o.Part, f = partfield.Copy(o.Part)
			*f.Argument(), *f.Signature = text, content.Signature{}
		}
	}
	h.out = append(h.out, o)
	return nil
}

// release sends the first n bytes of the held text, and what waits if no text is left. e is an event
// of the block.
func (h *holder) release(b *heldBlock, n int, e *Event) error {
	if n > 0 {
		text := b.text[:n]
		b.text = b.text[n:]
		kind := EventText
		if b.arguments {
			kind = EventInput
		}
		if err := h.send(b, text, &Event{Kind: kind, Block: e.Block, Candidate: e.Candidate, Text: text}); err != nil {
			return err
		}
	}
	if b.text == "" {
		for i := range b.later {
			h.pass(b, &b.later[i])
		}
		b.later = b.later[:0]
	}
	return nil
}

// send checks a text, which is that of e, and sends the result.
func (h *holder) send(b *heldBlock, text string, e *Event) error {
	to, err := h.checked(b, text)
	if err != nil {
		return err
	}
	o := *e
	if to != text {
		b.changed = true
		o.Text = to
	}
	if to != "" {
		h.out = append(h.out, o)
	}
	return nil
}

// checked returns what replaces a piece of a block. JSON in which nothing is replaced stays as it is.
func (h *holder) checked(b *heldBlock, text string) (string, error) {
	if f := partfield.Of(b.part); !b.arguments || f.Kind == partfield.ToolUse && *f.On {
		return h.check(b.part, text)
	}
	var failed error
	var w textWalk
	w.text = func(_, s string) string {
		to, err := h.check(b.part, s)
		failed, w.done = err, err != nil
		return to
	}
	w.json("", &text)
	return text, failed
}

// pass sends an event that is not text. b is nil if it belongs to no text and no tool call.
func (h *holder) pass(b *heldBlock, e *Event) {
	if b != nil && b.changed && (e.Kind == EventSignature || e.Kind == EventBlockExtra) {
		return
	}
	h.out = append(h.out, *e)
}

// cut returns how many bytes of a text are whole sentences. If there are none, and size bytes have
// arrived, it returns those of whole words or at least of whole characters.
func cut(text string, size int) int {
	for i := len(text); i > 0; {
		r, n := utf8.DecodeLastRuneInString(text[:i])
		switch r {
		case '\n', '。', '！', '？', '؟', '।':
			return i
		case ' ', '\t':
			if before := strings.TrimRight(text[:i-n], `"')]*_”’»`); before != "" && strings.IndexByte(".!?:", before[len(before)-1]) >= 0 {
				return i
			}
		}
		i -= n
	}
	if len(text) < size {
		return 0
	}
	if i := strings.LastIndexByte(text, ' '); i > 0 {
		return i + 1
	}
	for n := len(text); n > len(text)-utf8.UTFMax && n > 0; n-- {
		if r, _ := utf8.DecodeLastRuneInString(text[:n]); r != utf8.RuneError {
			return n
		}
	}
	return len(text)
}
