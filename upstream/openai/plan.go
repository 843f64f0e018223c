package openai

import (
	"cmp"
	"context"
	"io"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/adapter"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/legal"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/upstream"
)

// A client is what the clients of both formats share.
type client struct {
	own     content.Format
	path    string // that answers are asked for at
	server  *adapter.Server
	vendor  bool
	dialect Dialect
	limits  adapter.OutputLimits
	memory  memory
}

// mostAttempts bounds how often one request is sent.
const mostAttempts = 5

// An answerer decodes what the server says, in the form that it comes in.
type answerer func(context.Context, *adapter.Response, *plan, *upstream.Writer) error

// generate asks the server.
func (c *client) generate(ctx context.Context, req *upstream.Request, w *upstream.Writer, answer answerer) error {
	p := c.plan(req, false)
	if err := w.Loss(p.losses); err != nil {
		return err
	}
	a, err := c.exchange(ctx, p, w)
	if err != nil {
		return c.filtered(w, err)
	}
	defer a.Close()
	return c.filtered(w, answer(ctx, a, p, w))
}

// FormatOf implements [upstream.FormatReporter].
func (c *client) FormatOf(context.Context, *upstream.Request) (content.Format, error) {
	return c.own, nil
}

// Preflight tells what would be lost. Nothing is sent or fetched. The error is
// that of a request that cannot be told at all.
func (c *client) Preflight(_ context.Context, req *upstream.Request) ([]content.Loss, error) {
	p := c.plan(req, false)
	return p.losses, p.fault
}

// exchange sends a request, and again without what the server refuses.
func (c *client) exchange(ctx context.Context, p *plan, w *upstream.Writer) (*adapter.Response, error) {
	for attempt := 1; ; attempt++ {
		body, err := p.body(ctx)
		if err != nil {
			return nil, err
		}
		a, err := c.server.Do(ctx, &adapter.Exchange{Path: c.path, Body: body, Stream: p.from.Stream})
		if err == nil {
			return a, nil
		}
		if attempt == mostAttempts || !c.learned(p, err) {
			return nil, err
		}
		if err := w.Loss(p.again()); err != nil {
			return nil, err
		}
	}
}

// learned takes in why a request was refused, for others of its model too, and
// reports whether there is something to be said otherwise.
func (c *client) learned(p *plan, err error) bool {
	again, keep := p.learn(err)
	if again && keep {
		c.memory.add(p.to.model, p.to.refused)
	}
	return again
}

// A plan is a request on its way: what is sent, and what is lost by that.
// Nothing is fetched or written until its body is asked for.
type plan struct {
	own      content.Format
	from     *upstream.Request // with legal names and ids
	names    *legal.Names
	to       chatTarget
	counting bool // over responses only, and so is strange
	strange  bool // the vendor cannot read the thoughts that come back
	off      bool // the server is told not to think, over chat completions
	losses   []content.Loss
	fault    error

	doc    *jsonwire.Writer
	sent   field
	noted  textSet // places of files that the model is only told of
	load   bool    // files are missing in the document
	others bool    // some of them are not images
}

// plan says a request in the format, and finds what it loses.
func (c *client) plan(n *upstream.Request, counting bool) *plan {
	model := c.server.Model(n.Model)
	rules, known := chatRules, familyOf(model)
	if c.own == ResponsesFormat {
		rules, known = responsesRules, resFamily(model)
	}
	if !c.vendor {
		rules = compatibleRules
	}
	p := &plan{own: c.own, counting: counting, to: chatTarget{
		model: model, vendor: c.vendor, family: known, dialect: c.dialect, refused: c.memory.get(model), most: c.most(model),
	}}
	var log loss.Log
	legal.Headers(n, &log)
	p.from, p.names = legal.Rename(legal.Portable(n, p.own, &log), rules, &log)
	p.losses = loss.Bound(append(log.Losses, p.encode(p.from, false)...))
	return p
}

// encode writes n, and returns what is lost by that.
func (p *plan) encode(n *upstream.Request, loaded bool) []content.Loss {
	begun := encoder{w: new(jsonwire.Writer), n: n, to: &p.to, own: p.own, loaded: loaded, noted: p.noted}
	begun.w.Grow(sizeOf(n))
	var e *encoder
	if p.own == ResponsesFormat {
		begun.rules = &resParts
		res := resEncoder{encoder: begun, counting: p.counting, strange: p.strange}
		res.encode()
		e = &res.encoder
	} else {
		begun.rules = &chatParts
		chat := chatEncoder{encoder: begun}
		chat.encode()
		e = &chat.encoder
		p.off = chat.turn == "disabled" || chat.effort == "none"
	}
	p.doc, p.fault, p.sent = e.w, cmp.Or(e.faults.Err(), adapter.Answers(n), adapter.Kept(n, p.own)), e.sent
	if !loaded {
		p.load, p.others, p.noted = e.load, e.others, e.noted
	}
	return loss.Bound(loss.Unique(e.log.Losses))
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

// learn takes in why the request was refused, and reports whether there is
// something to be said otherwise. keep says that the model always refuses it.
func (p *plan) learn(err error) (again, keep bool) {
	if p.own == ResponsesFormat {
		return p.learnResponses(err)
	}
	again = p.to.refused.learn(err, p.sent)
	return again, again
}

// again writes the request anew, with what has been learned, and returns what
// is lost by that besides.
func (p *plan) again() []content.Loss {
	more := loss.New(loss.Bound(p.encode(p.from, false)), p.losses)
	p.losses = append(p.losses, more...)
	return more
}

// body returns the document. Files that it names are loaded.
func (p *plan) body(ctx context.Context) (adapter.Body, error) {
	if p.fault != nil {
		return nil, p.fault
	}
	if p.load {
		// Chat completions has links of images only.
		links := p.to.links() && !p.others || p.to.vendor && p.own == ResponsesFormat
		n, err := p.from.Inline(ctx, links)
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

func (p *plan) restore(events []upstream.Event) bool { return p.names.Restore(events) }

// A document is a [adapter.Body] of what a Writer has written.
type document struct{ w *jsonwire.Writer }

// Len implements [adapter.Body].
func (d document) Len() int64 { return int64(d.w.Len()) }

// Reader implements [adapter.Body].
func (d document) Reader() io.ReadCloser { return d.w.Reader() }
