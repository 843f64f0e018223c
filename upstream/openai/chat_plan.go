package openai

import (
	"cmp"
	"context"
	"io"
	"slices"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/backend"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/legal"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/upstream"
)

// A chatPlan is a request on its way: what is sent, and what is lost by that.
// Nothing is fetched or written until its body is asked for.
type chatPlan struct {
	from   *upstream.Request // with legal names and ids
	names  *legal.Names
	to     chatTarget
	losses []content.Loss
	fault  error

	doc    *jsonwire.Writer
	sent   field
	noted  []string // places of files that the model is only told of
	load   bool     // files are missing in the document
	others bool     // some of them are not images
}

// plan says a request in the format, and finds what it loses.
func (c *Client) plan(n *upstream.Request) *chatPlan {
	model := c.model(n.Model)
	p := &chatPlan{to: chatTarget{
		model: model, vendor: c.vendor, family: familyOf(model), dialect: c.dialect, refused: c.memory.get(model),
	}}
	rules := compatibleRules
	if c.vendor {
		rules = chatRules
	}
	var log loss.Log
	p.from, p.names = legal.Make(n, rules, &log)
	p.losses = append(log.Losses, p.encode(p.from, false)...)
	return p
}

// encode writes n, and returns what is lost by that.
func (p *chatPlan) encode(n *upstream.Request, loaded bool) []content.Loss {
	e := chatEncoder{encoder: encoder{w: new(jsonwire.Writer), n: n, to: &p.to, own: ChatFormat, loaded: loaded, noted: p.noted}}
	e.w.Grow(sizeOf(n))
	e.encode()
	p.doc, p.fault, p.sent = e.w, cmp.Or(e.faults.Err(), backend.Answers(n)), e.sent
	if !loaded {
		p.load, p.others, p.noted = e.load, e.others, e.noted
	}
	return loss.Once(e.log.Losses)
}

// sizeOf returns about how many bytes a request takes, up to a limit: long
// texts are not copied.
func sizeOf(n *upstream.Request) int {
	size := 1 << 10
	for i := range n.Turns {
		for _, p := range n.Turns[i].Parts {
			switch p := p.(type) {
			case *content.Text:
				if p != nil && len(p.Text) < 4<<10 {
					size += len(p.Text)
				}
			case *content.ToolUse:
				if p != nil && len(p.Input) < 4<<10 {
					size += len(p.Input)
				}
			case *content.ToolResult:
				size += resultSize(p)
			}
			size += 64
		}
	}
	for i := range n.Tools {
		size += 128 + len(n.Tools[i].Description) + len(n.Tools[i].Input.JSON)
	}
	return min(size+size/8, 1<<20)
}

func resultSize(p *content.ToolResult) int {
	size := 128
	if p == nil {
		return size
	}
	for _, q := range p.Parts {
		if t, ok := q.(*content.Text); ok && t != nil && len(t.Text) < 4<<10 {
			size += len(t.Text)
		}
	}
	return size
}

// again writes the request anew, with what has been learned, and returns what
// is lost by that besides.
func (p *chatPlan) again() []content.Loss {
	more := slices.DeleteFunc(p.encode(p.from, false), func(l content.Loss) bool { return slices.Contains(p.losses, l) })
	p.losses = append(p.losses, more...)
	return more
}

// body returns the document. Files that it names are loaded.
func (p *chatPlan) body(ctx context.Context) (backend.Body, error) {
	if p.fault != nil {
		return nil, p.fault
	}
	if p.load {
		// The format has links of images only.
		n, err := p.from.Inline(ctx, p.to.links() && !p.others)
		if err != nil {
			return nil, err
		}
		p.encode(n, true)
		if p.fault != nil {
			return nil, p.fault
		}
	}
	return document{p.doc}, nil
}

func (p *chatPlan) restore(events []upstream.Event) bool { return p.names.Restore(events) }

// A document is a [backend.Body] of what a Writer has written.
type document struct{ w *jsonwire.Writer }

// Len implements [backend.Body].
func (d document) Len() int64 { return int64(d.w.Len()) }

// Reader implements [backend.Body].
func (d document) Reader() io.ReadCloser { return d.w.Reader() }
