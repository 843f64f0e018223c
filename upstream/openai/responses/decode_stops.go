package responses

import (
	"io"
	"slices"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// A stopCutter ends a response at a stop sequence, since the Responses API has no such member.
// It holds back text that may begin a stop sequence. A nil stopCutter changes nothing.
type stopCutter struct {
	stops []string

	block      int // the open text block, or -1
	openBlocks []int
	pending    string
	done       bool // a stop sequence was found
	events     []upstream.Event
}

func newStopCutter(stops []string) *stopCutter {
	list := slices.DeleteFunc(slices.Clone(stops), func(s string) bool { return s == "" })
	if len(list) == 0 {
		return nil
	}
	return &stopCutter{stops: list, block: -1}
}

// next returns the next frame of r. The frames end at a stop sequence.
func (c *stopCutter) next(r *StreamReader) (*upstream.Frame, error) {
	for !c.done {
		f, err := r.next()
		if err != nil {
			return nil, err
		}
		c.cut(f)
		if c.done {
			f.Events = append(f.Events, upstream.Event{Kind: upstream.EventLoss, Loss: new(lossCutUsage.At("usage"))})
		}
		if len(f.Events) > 0 {
			return f, nil
		}
	}
	return nil, io.EOF
}

// cutFrame cuts a complete response. Its usage remains.
func (c *stopCutter) cutFrame(f *upstream.Frame) {
	if c != nil {
		c.cut(f)
	}
}

// cut removes the events of f after the stop sequence.
func (c *stopCutter) cut(f *upstream.Frame) {
	clear(c.events)
	c.events = c.events[:0]
	for i := range f.Events {
		e := &f.Events[i]
		if c.done {
			if e.Kind == upstream.EventUsage || e.Kind == upstream.EventLoss {
				c.events = append(c.events, *e)
			}
			continue
		}
		switch e.Kind {
		case upstream.EventOpen:
			c.openBlocks = append(c.openBlocks, e.Block)
			if _, ok := e.Part.(*content.Text); ok {
				c.block = e.Block
			}
		case upstream.EventText:
			if e.Block == c.block {
				c.addText(e)
				continue
			}
		case upstream.EventClose:
			c.closeBlock(e.Block)
		}
		c.events = append(c.events, *e)
	}
	f.Format, f.Name, f.Data, f.Events = "", "", "", c.events // the data is not cut
}

// closeBlock closes a block and adds the text that was held back.
func (c *stopCutter) closeBlock(block int) {
	c.openBlocks = slices.DeleteFunc(c.openBlocks, func(n int) bool { return n == block })
	if block != c.block {
		return
	}
	if c.pending != "" {
		c.events = append(c.events, upstream.Event{Kind: upstream.EventText, Block: block, Text: c.pending})
	}
	c.block, c.pending = -1, ""
}

// addText adds the text before a stop sequence.
func (c *stopCutter) addText(e *upstream.Event) {
	s := c.pending + e.Text
	at, stop := -1, ""
	for _, x := range c.stops {
		if i := strings.Index(s, x); i >= 0 && (at < 0 || i < at) {
			at, stop = i, x
		}
	}
	if at < 0 {
		keep := len(s) - c.partialStop(s)
		c.pending = s[keep:]
		c.emit(e, s[:keep])
		return
	}
	c.emit(e, s[:at])
	c.pending = ""
	for _, n := range c.openBlocks {
		c.events = append(c.events, upstream.Event{Kind: upstream.EventClose, Block: n})
	}
	c.done = true
	c.events = append(c.events, upstream.Event{Kind: upstream.EventStop, Stop: &upstream.Stop{
		Reason: content.StopSequence, Sequence: stop, Format: Format, RawReason: "stop_sequence",
	}})
}

func (c *stopCutter) emit(e *upstream.Event, s string) {
	if s != "" {
		n := *e
		n.Text = s
		c.events = append(c.events, n)
	}
}

// partialStop returns the length of the longest suffix of s that may begin a stop
// sequence.
func (c *stopCutter) partialStop(s string) int {
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
