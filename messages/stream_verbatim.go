package messages

import (
	"slices"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/handler"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/upstream"
)

// fits reports whether a vendor's own frame says here what its events say: if
// it is of this format and a piece of a stream, and if numbers agree.
func (s *stream) fits(f *upstream.Frame, events []upstream.Event) bool {
	if f.Format != Format || f.Complete || len(f.Preceding) > 0 || f.Name == "" || strings.ContainsAny(f.Name, "\r\n") {
		return false
	}
	next := s.next
	for i := range events {
		e := &events[i]
		if e.Candidate != 0 {
			return false
		}
		switch e.Kind {
		case upstream.EventStart:
			if s.begun {
				return false
			}
		case upstream.EventStop:
			if len(s.open) > 0 || s.broken {
				return false // blocks end before the message does, and it with a reason of ours
			}
		case upstream.EventOpen:
			if t, ok := e.Part.(*content.ToolUse); e.Block != next || ok && t.ID == "" || s.blockToCarry() != nil || len(s.held.list) > 0 ||
				slices.ContainsFunc(s.open, func(b streamed) bool { return b.waiting() }) {
				return false
			}
			next++
		case upstream.EventText, upstream.EventInput, upstream.EventCitation, upstream.EventSignature,
			upstream.EventBlockExtra, upstream.EventClose:
			b := s.at(e.Block)
			if b == nil || b.out != e.Block || e.Kind == upstream.EventSignature && e.Signature.Format != Format {
				return false
			}
			if !b.tail.Empty() || e.Kind == upstream.EventClose && (b.call != nil || b.beside.Data != "" || b.signature != "" && !b.signed) {
				return false // something of ours has to be said first, or the call to be judged
			}
		}
	}
	return true
}

// verbatim appends a frame that fits.
func (s *stream) verbatim(dst []byte, f *upstream.Frame, events []upstream.Event) []byte {
	start := false
	for i := range events {
		start = start || events[i].Kind == upstream.EventStart
	}
	if !start && !s.begun {
		dst = s.begin(dst)
	}
	dst = s.stopThinking(dst)
	for i := range events {
		s.follow(&events[i])
	}
	switch f.Name {
	case "ping", "error", "message_stop": // these are ours to say
		return dst
	}
	dst = append(dst, "event: "...)
	dst = append(dst, f.Name...)
	dst = append(dst, "\ndata: "...)
	if strings.ContainsAny(f.Data, "\r\n") {
		dst = jsonwire.AppendCompact(dst, f.Data)
	} else {
		dst = append(dst, f.Data...)
	}
	return append(dst, "\n\n"...)
}

// follow keeps the state in step with an event that was written verbatim.
func (s *stream) follow(e *upstream.Event) {
	switch e.Kind {
	case upstream.EventStart:
		s.start, s.begun = *e.Start, true
	case upstream.EventUsage:
		s.usage = *e.Usage
	case upstream.EventStop:
		s.stop, s.said = *e.Stop, true
	case upstream.EventOpen:
		b := streamed{in: e.Block, out: s.next, kind: kindOfBlock(e.Part), raw: true}
		s.last, s.endsText = b, b.kind == textBlock
		s.next++
		if t, ok := e.Part.(*content.ToolUse); ok {
			s.calls++
			s.ids.seeID(t.ID)
		}
		s.open = append(s.open, b)
	case upstream.EventText, upstream.EventInput, upstream.EventSignature:
		if b := s.at(e.Block); b != nil {
			b.thought = b.thought || e.Kind == upstream.EventText
			b.says = b.says || e.Kind == upstream.EventText && !mayBeDropped(e.Text)
			b.signed = b.signed || e.Kind == upstream.EventSignature
			if b.call != nil && s.keep(b.call, e.Text) {
				b.call.said = true
			}
			b.tail = handler.PartialRune{}
		}
	case upstream.EventClose:
		if b := s.at(e.Block); b != nil && s.last.in == b.in {
			s.last.says = b.says
		}
		s.forget(e.Block)
	}
}
