package lower

import (
	"cmp"
	"slices"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/response"
	"github.com/polywire/polywire/upstream"
)

// A Restorer changes the tool calls of one response back to those of the tools that the
// request has: their names and namespaces, and the input of free-form tools. The input arrives
// in one event when the call is complete. A nil Restorer changes nothing.
type Restorer struct {
	names  *Names
	calls  map[blockID]*freeformCall // open calls of free-form tools
	kept   int                       // bytes of their arguments
	opened map[int]int               // number of parts by candidate
}

// A blockID is the number of a block in a candidate.
type blockID struct{ candidate, block int }

// A freeformCall is a call whose arguments arrive.
type freeformCall struct {
	part      int    // its index among the parts of its candidate
	input     string // of the EventOpen, which deltas replace
	arguments codec.Builder
}

// maxFreeform is the most bytes of arguments of open calls that are kept. Longer ones are the
// input as they are.
const maxFreeform = 32 << 20

// NewRestorer returns a Restorer for the response to a lowered request.
func NewRestorer(n *Names) *Restorer {
	if n == nil {
		return nil
	}
	return &Restorer{names: n}
}

// Restore changes the tool calls in a frame. A frame that it changes is no longer the
// vendor's.
func (r *Restorer) Restore(f *upstream.Frame) {
	if r == nil {
		return
	}
	from, to, moved := f.Events, f.Events[:0], false
	insert := func(e upstream.Event) {
		if !moved { // the events that follow are not overwritten
			moved, to = true, append(make([]upstream.Event, 0, len(from)+2), to...)
		}
		to = append(to, e)
	}
	for i := range from {
		e := from[i]
		switch id := (blockID{e.Candidate, e.Block}); e.Kind {
		case upstream.EventOpen:
			if q := r.open(id, e.Part); q != nil {
				e.Part, f.Format = q, ""
			}
		case upstream.EventInput:
			c := r.calls[id]
			if c == nil {
				break
			}
			f.Format = ""
			c.arguments.Add(e.Text)
			r.kept += len(e.Text)
			e.Text = ""
			if r.kept > maxFreeform {
				e.Text = c.arguments.String()
				r.forget(id, c)
				insert(c.lost(codec.ResponseFreeform, e.Candidate))
			}
			if e.Text == "" && e.Extra == nil {
				continue
			}
		case upstream.EventClose:
			c := r.calls[id]
			if c == nil {
				break
			}
			f.Format = ""
			r.finish(id, c, insert)
		case upstream.EventStop:
			// A server may leave the last call open.
			if e.Stop.Reason != "" && len(r.calls) > 0 {
				f.Format = ""
				for _, id := range r.openCalls(e.Candidate) {
					r.finish(id, r.calls[id], insert)
				}
			}
		}
		to = append(to, e)
	}
	f.Events = to
}

// open returns the restored part of an EventOpen, or nil if the part stays as it is.
func (r *Restorer) open(id blockID, p content.Part) content.Part {
	if r.opened == nil {
		r.opened = make(map[int]int)
	}
	part := r.opened[id.candidate]
	r.opened[id.candidate]++
	u, ok := p.(*content.ToolUse)
	if !ok || u == nil {
		return nil
	}
	sent := toolID{u.Namespace, u.Name}
	original, renamed := r.names.original[sent]
	freeform := r.names.freeform[sent] && !u.Freeform
	if !renamed && !freeform {
		return nil
	}
	q := *u
	if renamed {
		q.Namespace, q.Name = original.namespace, original.name
	}
	if freeform {
		if r.calls == nil {
			r.calls = make(map[blockID]*freeformCall)
		}
		r.calls[id] = &freeformCall{part: part, input: u.Input}
		q.Freeform, q.Input = true, ""
	}
	return &q
}

// finish adds the input of a call, and its loss.
func (r *Restorer) finish(id blockID, c *freeformCall, add func(upstream.Event)) {
	r.forget(id, c)
	text, rule := c.text()
	if rule != nil {
		add(c.lost(rule, id.candidate))
	}
	if text != "" {
		add(upstream.Event{Kind: upstream.EventInput, Candidate: id.candidate, Block: id.block, Text: text})
	}
}

// openCalls returns the open calls of a candidate in their order.
func (r *Restorer) openCalls(candidate int) []blockID {
	var list []blockID
	for id := range r.calls {
		if id.candidate == candidate {
			list = append(list, id)
		}
	}
	slices.SortFunc(list, func(a, b blockID) int { return cmp.Compare(r.calls[a].part, r.calls[b].part) })
	return list
}

// forget removes an open call.
func (r *Restorer) forget(id blockID, c *freeformCall) {
	delete(r.calls, id)
	r.kept -= c.arguments.Len()
}

// text returns the input of a call whose arguments are complete, and the rule of its loss if
// the arguments are not those of the function.
func (c *freeformCall) text() (text string, r *loss.Rule) {
	arguments := c.input
	if c.arguments.Len() > 0 {
		arguments = c.arguments.String()
	}
	if codec.TrimBlank(arguments) == "" {
		return "", nil
	}
	doc, err := jsonwire.Parse(arguments, jsonwire.Limits{AllowInvalidUTF8: true})
	if err != nil {
		return arguments, codec.ResponseFreeform
	}
	defer doc.Close()
	input := doc.Root().Get(codec.FreeformInput)
	if input.Kind() != jsonwire.String {
		return arguments, codec.ResponseFreeform
	}
	for name := range doc.Root().Members() {
		if name != codec.FreeformInput {
			r = codec.ResponseFreeformMembers
		}
	}
	return strings.Clone(input.Str()), r
}

// lost returns the event of a loss of a call.
func (c *freeformCall) lost(r *loss.Rule, candidate int) upstream.Event {
	return upstream.Event{Kind: upstream.EventLoss, Loss: new(r.At(response.PartPath(candidate, c.part)))}
}
