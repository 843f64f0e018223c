package response

import (
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/upstream"
)

// Clients cannot undo a tool call. Some run every call that they have received, for any
// stop reason, and treat arguments that are not valid JSON as empty. So the block of
// a call begins when its arguments begin with a brace, or when the call is complete. A
// call that is known to be broken by then has no block, as in a whole response.
//
// If arguments turn out to be broken later, they have been sent. Their block ends there, as
// with the vendor when a response is truncated, and the stop reason reports it. An error
// instead would take the whole response from clients that repeat requests.
//
// A tool call without arguments at the end of a response may have been truncated. It waits
// until another block follows or the response ends.
//
// The input of a free-form tool is any text, so that such a call is never broken: it begins
// with its text. A format without free-form tools gets it as the argument "input" of a call
// that begins when it is complete.

// Rules of losses of tool calls.
var (
	LossCallName        = loss.Dropped(loss.ResponseCall, "a tool call without a name was dropped")
	LossCallArguments   = loss.Dropped(loss.ResponseArguments, "the arguments are not a JSON object; the tool call was dropped")
	LossCutCall         = loss.Dropped(loss.ResponseArguments, "the response was cut before the arguments began; the tool call was dropped")
	LossServerArguments = loss.Dropped(loss.ResponseArguments, "the arguments of a built-in tool are not a JSON object; they were dropped")
	LossFreeform        = loss.Degraded(loss.ResponseCall, "the format has no calls of free-form tools; the text is the argument input of the tool call")
	LossNamespace       = loss.Degraded(loss.ResponseCall, "the format has no namespaces of tools; that of the tool call was omitted")
)

// A call is the state of the arguments of a tool call.
type call struct {
	input       string        // those of the EventOpen, which deltas replace; then those of the complete call
	args        codec.Builder // arguments in deltas, unless complete
	first       byte          // first byte that is not white space; 0: none yet
	complete    bool          // the batch that opened the call has all arguments
	maybeBroken bool          // input is not valid so far
	broken      bool          // known not to be an object, and not begun
	written     bool          // arguments were written
	freeform    bool          // the input is any text
	wrapped     bool          // the input is any text, for a format that has arguments only
}

// splitCall returns a copy of a tool call without its arguments, and the arguments. It returns other
// parts unchanged.
func splitCall(p content.Part) (part content.Part, input string) {
	switch p := p.(type) {
	case *content.ToolUse:
		c := *p
		c.Input, c.Text = "", ""
		if p.Freeform {
			return &c, p.Text
		}
		return &c, p.Input
	case *content.ServerToolUse:
		c := *p
		c.Input = ""
		return &c, p.Input
	}
	return p, ""
}

// Arguments returns the arguments that were received. In Format.EndBlock of a [content.ToolUse]
// that begins [AtEnd], they are a JSON object, or "". It returns no pieces of a call that was
// complete when it opened.
func (b *Block[S]) Arguments() string {
	if b.args.Len() > 0 {
		return b.args.String()
	}
	return b.input
}

// plainCall changes a tool call to one that the format has. Its name stays: a client without
// namespaces has declared the tool without one. Members of the vendor may carry the namespace.
func (e *Engine[S]) plainCall(b *Block[S]) {
	t, ok := b.Part.(*content.ToolUse) // a copy: see splitCall
	if !ok {
		return
	}
	if t.Namespace != "" && !e.rules.Namespaces {
		if carried, _ := t.Extra.Get("namespace"); carried == "" {
			e.Lose(b, LossNamespace)
		}
		t.Namespace = ""
	}
	b.freeform = t.Freeform && e.rules.Freeform
	if b.wrapped = t.Freeform && !e.rules.Freeform; b.wrapped {
		e.Lose(b, LossFreeform)
		t.Freeform = false
	}
}

// openCall begins a tool call at once if it is complete and valid.
func (e *Engine[S]) openCall(b *Block[S], rest []upstream.Event) {
	input, whole := inputAhead(b.Number, b.input, rest)
	switch {
	case b.wrapped:
		b.maybeBroken = true // it waits for its end
		return
	case b.freeform:
		if b.complete = whole && input != ""; b.complete {
			e.Begin(b)
		}
		return
	}
	object, ok := codec.Arguments(input)
	b.complete = ok && whole && object != ""
	b.maybeBroken = !ok
	if b.complete {
		e.Begin(b)
	}
}

// inputAhead returns the arguments of a call that ends within events: the deltas, or input if
// there are none. For other calls it returns input.
func inputAhead(block int, input string, events []upstream.Event) (all string, whole bool) {
	var pieces []string
	for i := range events {
		switch e := &events[i]; {
		case e.Block != block:
		case e.Kind == upstream.EventInput && e.Text != "":
			pieces = append(pieces, e.Text)
		case e.Kind == upstream.EventClose:
			if len(pieces) > 0 {
				input = strings.Join(pieces, "")
			}
			return input, true
		}
	}
	return input, false
}

// input handles a piece of arguments. rest are the following events.
func (e *Engine[S]) input(ev *upstream.Event, rest []upstream.Event) {
	b := e.At(ev.Block)
	switch {
	case b == nil || b.Kind != Call:
		return
	case b.Forwarded:
		e.writeArguments(b, ev.Text, ev)
		return
	case b.when == Never:
		return
	case !e.store(b, ev.Text):
		return
	case b.when != Runnable:
		e.loseMembers(ev)
		return
	}
	if b.freeform {
		if b.args.Len() == 0 && !b.complete {
			e.loseMembers(ev)
			return
		}
	} else if !b.Begun && b.first == '{' && !b.broken {
		if more, whole := inputAhead(b.Number, "", rest); whole {
			_, ok := codec.Arguments(b.args.String() + more)
			b.broken = !ok
		}
	}
	if b.wrapped || b.broken || b.first != '{' && !b.complete && !b.freeform {
		if ev.Extra != nil {
			e.Lose(b, e.rules.EventMembers)
		}
		return
	}
	if !b.Begun {
		e.Begin(b)
	}
	text := ev.Text
	if !b.written && !b.complete {
		b.written = true
		text = b.args.String()
	}
	b.written = b.written || ev.Text != ""
	e.writeArguments(b, text, ev)
}

// TakeSignature returns the signature of a tool call that opens with the signature opened, for the
// id of the call, if ids carry its format. Events of the batch may sign the call, before another
// block opens. Such events are consumed.
func (e *Engine[S]) TakeSignature(b *Block[S], opened content.Signature, events []upstream.Event) (sig content.Signature) {
	client, closed := e.State(b).ClientFormat, false
	if envelope.IsForeign(opened, client) {
		sig = opened
	}
	for i := range events {
		ev := &events[i]
		if closed && ev.Kind == upstream.EventOpen {
			break // a whole response may have many blocks
		}
		if ev.Block != b.Number {
			continue
		}
		closed = closed || ev.Kind == upstream.EventClose
		if ev.Kind == upstream.EventSignature && envelope.IsForeign(*ev.Signature, client) && ev.Extra == nil {
			sig = *ev.Signature
			*ev = upstream.Event{} // consumed
		}
	}
	return sig
}

// writeArguments writes a piece of arguments.
func (e *Engine[S]) writeArguments(b *Block[S], text string, ev *upstream.Event) {
	e.format.WriteText(b, b.tail.Join(text), ev)
}

// store stores arguments until they are checked at the end of the call. It reports whether
// they are within the limit.
func (e *Engine[S]) store(b *Block[S], piece string) bool {
	if b.complete {
		return true
	}
	if e.arguments+len(piece) > maxArguments {
		e.err = errArgumentsTooLarge
		return false
	}
	e.arguments += len(piece)
	b.args.Add(piece)
	if b.first == 0 {
		if piece = codec.TrimBlank(piece); piece != "" {
			b.first = piece[0]
		}
	}
	return true
}

// mayBeCut reports whether the response may have been truncated before the arguments of a
// closing tool call.
func (e *Engine[S]) mayBeCut(b *Block[S]) bool {
	return b.when != Never && !b.Begun && e.isNewest(b) && codec.HasNoInput(b.Part) && b.hasNoArguments()
}

// hasNoArguments reports whether no arguments were received. White space is the input of a
// free-form tool.
func (b *Block[S]) hasNoArguments() bool {
	if b.freeform || b.wrapped {
		return b.Arguments() == ""
	}
	return codec.TrimBlank(b.Arguments()) == ""
}

// awaitsNext reports whether a block is a tool call that may have been cut: it ends when another
// block follows.
func (e *Engine[S]) awaitsNext(b *Block[S]) bool { return b.Closed && b.Kind == Call }

// endCall checks the arguments of a complete tool call. It returns false if the call is
// dropped, and true for other blocks.
func (e *Engine[S]) endCall(b *Block[S]) bool {
	t, own := b.Part.(*content.ToolUse)
	if b.when != Runnable && !(own && b.when == AtEnd) {
		return true
	}
	if own && t.Name == "" {
		e.drop(b, LossCallName)
		return false
	}
	ok := true
	if !b.complete {
		switch b.input = b.Arguments(); {
		case b.wrapped:
			b.input = codec.FreeformArguments(b.input)
		case !b.freeform:
			b.input, ok = codec.Arguments(b.input)
		}
		e.arguments -= b.args.Len()
		b.args = codec.Builder{}
	}
	switch {
	case b.Begun && !ok:
		e.Lose(b, e.rules.SentCall)
		if own {
			e.MarkBroken(b)
		}
	case own && !ok:
		e.drop(b, LossCallArguments)
		return false
	case !ok:
		e.Lose(b, LossServerArguments)
		b.input = ""
	}
	return true
}

// drop drops a tool call that the model did not complete.
func (e *Engine[S]) drop(b *Block[S], r *loss.Rule) {
	e.Lose(b, r)
	e.MarkBroken(b)
}

// MarkBroken records that the model did not complete a tool call.
func (e *Engine[S]) MarkBroken(b *Block[S]) {
	e.Candidates[b.Candidate].Broken = true
	if e.stream != nil {
		e.stream.Broken(b)
	}
}
