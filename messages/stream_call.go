package messages

import (
	"errors"
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/upstream"
)

// A client cannot unsee a call: some run each one that they have got, whatever the
// answer ends with, and take arguments that are no JSON for none. So the block of
// a call begins with the brace that its arguments begin with, or with its end
// where the upstream gives the call at once or there are no arguments. A call that
// is known to be broken by then has no block, as in a whole answer.
//
// Arguments that turn out to be broken later have gone out. Their block ends as it
// is, as the vendor's own do when an answer is cut, and the answer says why it
// ends. An error in place of that would take the whole answer from clients that
// have the model try again.
//
// A call without arguments that is the last of the answer may have been cut before
// they began. It waits until something follows it, or until the answer ends.

// A streamedCall is what is known of a call whose block is not the vendor's own.
type streamedCall struct {
	part      content.Part      // a copy, without arguments
	input     string            // that it opened with; pieces replace them
	doubtful  bool              // that is broken
	args      codec.Builder     // unless it is known
	first     byte              // of what they are beside white space; 0: nothing yet
	known     bool              // as it has come with its beginning
	broken    bool              // as is known
	said      bool              // of the pieces some are written
	named     bool              // the part has the id by which its vendor knows it
	signature content.Signature // another vendor's, to be carried in the id
}

// maxHeld bounds the arguments of all calls that are open.
const maxHeld = 32 << 20

var errHeld = &upstream.Error{Code: upstream.CodeBadGateway,
	Err: errors.New("messages: the arguments of calls are over " + strconv.Itoa(maxHeld>>20) + " MiB")}

// Err implements [handler.FallibleEncoder].
func (s *stream) Err() error { return s.err }

// split returns a call without its arguments, and what they are. Other parts it
// returns as they are.
func split(p content.Part) (part content.Part, input string, call bool) {
	switch p := p.(type) {
	case *content.ToolUse:
		c := *p
		c.Input = ""
		return &c, p.Input, true
	case *content.ServerToolUse:
		c := *p
		c.Input = ""
		return &c, p.Input, true
	}
	return p, "", false
}

// openCall notes a call that opens. Its block begins now if the call is whole and
// good.
func (s *stream) openCall(dst []byte, e *upstream.Event, c *streamedCall, rest []upstream.Event) []byte {
	s.open = append(s.open, streamed{in: e.Block, out: -1, kind: callBlock, call: c})
	input, whole := inputAhead(e.Block, c.input, rest)
	_, ok := codec.Arguments(input)
	c.known = whole && codec.TrimBlank(input) != ""
	c.doubtful, c.broken = !ok, !ok && whole
	if ok && c.known {
		dst, _ = s.beginCall(dst, e.Block)
	}
	return dst
}

// inputAhead returns the arguments of a call whose end is among events, where
// pieces of them replace those that it opened with; of another call the latter.
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

// waiting reports whether it is a call whose block has not begun.
func (b *streamed) waiting() bool { return b.call != nil && b.out < 0 }

// input appends more of a call's arguments. rest are the events behind it that
// came with it.
func (s *stream) input(dst []byte, e *upstream.Event, rest []upstream.Event) []byte {
	b := s.at(e.Block)
	if b == nil || b.kind != callBlock || b.out < 0 && b.call == nil {
		return dst
	}
	c := b.call
	if c == nil {
		return s.deltas(dst, b, inputDelta, e)
	}
	if !s.keep(c, e.Text) {
		return dst
	}
	if b.waiting() && c.first == '{' && !c.broken {
		if more, whole := inputAhead(e.Block, "", rest); whole {
			_, ok := codec.Arguments(c.args.String() + more)
			c.broken = !ok
		}
	}
	if c.broken || c.first != '{' && !c.said && !c.known {
		if e.Extra != nil {
			s.lose(e.Block, unsaidEventMembers)
		}
		return dst
	}
	if b.waiting() {
		dst, b = s.beginCall(dst, e.Block)
	}
	if !c.said && !c.known {
		c.said = true
		all := *e
		all.Text = c.args.String()
		return s.deltas(dst, b, inputDelta, &all)
	}
	c.said = c.said || e.Text != ""
	return s.deltas(dst, b, inputDelta, e)
}

// keep keeps a piece of arguments, all of which are judged at their end unless
// they were before, and reports whether there is room.
func (s *stream) keep(c *streamedCall, piece string) bool {
	if c.known {
		return true
	}
	if s.size += len(piece); s.size > maxHeld {
		s.err = errHeld
		return false
	}
	c.args.Add(piece)
	if c.first == 0 {
		if piece = codec.TrimBlank(piece); piece != "" {
			c.first = piece[0]
		}
	}
	return true
}

// all returns the arguments as they are known now.
func (c *streamedCall) all() string {
	if c.args.Len() > 0 {
		return c.args.String()
	}
	return c.input
}

// breaks notes that the model did not fully make a call.
func (s *stream) breaks() { s.broken, s.said = true, false }

// release begins the blocks of calls that opened before a block that begins, so
// that the order stays. Those that may be broken wait on.
func (s *stream) release(dst []byte, block int) []byte {
	ready := false
	for i := 0; i < len(s.open) && s.open[i].in != block; i++ {
		b := &s.open[i]
		switch {
		case !b.waiting() || b.call.first != 0 || b.call.doubtful:
		case ready:
			dst = s.startCall(dst, b)
		default:
			ready = true
			s.carryInBlock(b)
			dst = s.writeOwed(dst)
			i = -1 // blocks that were over are gone
		}
	}
	return dst
}

// beginCall appends the beginning of the block of a call that waits.
func (s *stream) beginCall(dst []byte, block int) ([]byte, *streamed) {
	dst = s.release(dst, block)
	s.carryInBlock(s.at(block))
	dst = s.writeOwed(dst)
	b := s.at(block)
	return s.startCall(dst, b), b
}

// startCall appends the same where nothing has to be said before it.
func (s *stream) startCall(dst []byte, b *streamed) []byte {
	c := b.call
	s.said = false // an end that was written already was none
	b.out = s.next
	s.next++
	s.last, s.endsText = streamed{in: b.in, out: b.out, kind: callBlock}, false
	s.nameCall(b)
	if t, ok := c.part.(*content.ToolUse); ok { // a copy of our own
		s.dropUnsigned()
		t.ID = callID(t.ID, c.signature, s.returnsBlocks && s.carried, &s.pending, &s.room, s.lose, s.loser(b.in))
		s.carried = false
	}
	dst = s.startBlock(dst, b.out, c.part)
	return s.delta(dst, b, inputDelta, "", nil)
}

// unbegun reports whether a call of a block that closes may have been cut before
// its arguments began.
func (s *stream) unbegun(b *streamed) bool {
	return b.call != nil && b.in == s.newest && b.waiting() && codec.TrimBlank(b.call.all()) == "" &&
		!b.call.known && codec.NotStarted(b.call.part, content.StopMaxTokens)
}

// lastCall appends the call that waits for what follows it, if there is one.
// It is left out if the answer was cut.
func (s *stream) lastCall(dst []byte, ended content.StopReason) []byte {
	b := s.at(s.newest)
	if b == nil || b.call == nil || !b.over {
		return dst
	}
	b.over = false
	if codec.NotStarted(b.call.part, ended) {
		s.lose(b.in, unsaidCut)
		s.last = streamed{in: b.in, out: -1}
		s.forget(b.in)
		return dst
	}
	return s.stopped(dst, b)
}

// endCall judges a call that is over. One that waits is written now, or left
// out.
func (s *stream) endCall(dst []byte, block int) ([]byte, *streamed) {
	b := s.at(block)
	c := b.call
	input, ok := c.input, !c.broken
	if !c.known {
		input, ok = codec.Arguments(c.all())
	}
	_, own := c.part.(*content.ToolUse)
	if own && !ok {
		s.breaks()
	}
	switch {
	case !b.waiting() && !ok:
		s.lose(block, unsaidSent)
	case own && !ok:
		s.lose(block, unsaidInput)
		s.last = streamed{in: block, out: -1}
		return dst, b
	case !ok:
		s.lose(block, unsaidQuery)
		input = ""
	}
	if b.waiting() {
		dst, b = s.beginCall(dst, block)
	}
	if !c.said && input != "" { // also what is broken, for clients to see
		dst = s.deltas(dst, b, inputDelta, &upstream.Event{Text: input})
	}
	return dst, b
}
