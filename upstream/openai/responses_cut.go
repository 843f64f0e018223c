package openai

import (
	"io"
	"slices"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/adapter"
	"github.com/polywire/polywire/upstream"
)

// A cutter ends an answer at a stop sequence, which the format cannot be told.
// What may be the beginning of one is held back until more is known. Nil cuts
// nothing.
type cutter struct {
	stops []string
	from  adapter.Frames

	text   int   // the block that is looked at, -1 for none
	open   []int // all that are
	held   string
	over   bool // a stop sequence was met
	events []upstream.Event
}

func newCutter(stops []string) *cutter {
	list := slices.DeleteFunc(slices.Clone(stops), func(s string) bool { return s == "" })
	if len(list) == 0 {
		return nil
	}
	return &cutter{stops: list, text: -1}
}

// frames returns from with its end where a stop sequence is met.
func (c *cutter) frames(from adapter.Frames) adapter.Frames {
	if c == nil {
		return from
	}
	c.from = from
	return c
}

// Next implements [adapter.Frames].
func (c *cutter) Next() (*upstream.Frame, error) {
	for !c.over {
		f, err := c.from.Next()
		if err != nil {
			return nil, err
		}
		c.cut(f)
		if c.over {
			l := resCut.At("usage")
			f.Events = append(f.Events, upstream.Event{Kind: upstream.EventLoss, Loss: &l})
		}
		if len(f.Events) > 0 {
			return f, nil
		}
	}
	return nil, io.EOF
}

// Buffered implements [adapter.Frames].
func (c *cutter) Buffered() bool { return c.over }

// frame cuts a whole answer, whose usage is known.
func (c *cutter) frame(f *upstream.Frame) {
	if c != nil {
		c.cut(f)
	}
}

// cut gives a frame the events that are left of its own.
func (c *cutter) cut(f *upstream.Frame) {
	clear(c.events)
	c.events = c.events[:0]
	for i := range f.Events {
		e := &f.Events[i]
		if c.over {
			if e.Kind == upstream.EventUsage || e.Kind == upstream.EventLoss {
				c.events = append(c.events, *e)
			}
			continue
		}
		switch e.Kind {
		case upstream.EventOpen:
			c.open = append(c.open, e.Block)
			if _, ok := e.Part.(*content.Text); ok {
				c.text = e.Block
			}
		case upstream.EventText:
			if e.Block == c.text {
				c.look(e)
				continue
			}
		case upstream.EventClose:
			c.closes(e.Block)
		}
		c.events = append(c.events, *e)
	}
	f.Events = c.events
}

// closes tells what was held back of a block.
func (c *cutter) closes(block int) {
	c.open = slices.DeleteFunc(c.open, func(n int) bool { return n == block })
	if block != c.text {
		return
	}
	if c.held != "" {
		c.events = append(c.events, upstream.Event{Kind: upstream.EventText, Block: block, Text: c.held})
	}
	c.text, c.held = -1, ""
}

// look adds a piece of text as far as it is in front of any stop sequence.
func (c *cutter) look(e *upstream.Event) {
	s := c.held + e.Text
	at, stop := -1, ""
	for _, x := range c.stops {
		if i := strings.Index(s, x); i >= 0 && (at < 0 || i < at) {
			at, stop = i, x
		}
	}
	if at < 0 {
		keep := len(s) - c.begun(s)
		c.held = s[keep:]
		c.tell(e, s[:keep])
		return
	}
	c.tell(e, s[:at])
	c.held = ""
	for _, n := range c.open {
		c.events = append(c.events, upstream.Event{Kind: upstream.EventClose, Block: n})
	}
	c.over = true
	c.events = append(c.events, upstream.Event{Kind: upstream.EventStop, Stop: &upstream.Stop{
		Reason: content.StopSequence, Sequence: stop, Format: ResponsesFormat, RawReason: "stop_sequence",
	}})
}

func (c *cutter) tell(e *upstream.Event, s string) {
	if s != "" {
		n := *e
		n.Text = s
		c.events = append(c.events, n)
	}
}

// begun returns how long the end of s is that a stop sequence may begin with.
func (c *cutter) begun(s string) int {
	longest := 0
	for _, x := range c.stops {
		for n := min(len(x)-1, len(s)); n > longest; n-- {
			if strings.HasSuffix(s, x[:n]) {
				longest = n
				break
			}
		}
	}
	return longest
}
