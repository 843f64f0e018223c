package generatecontent

import (
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/upstream"
)

// fits reports whether a vendor's own frame says here what its events say: if
// it is of this format and a piece of a stream, if it belongs to the answer
// that the client knows of, and if nothing is held back that comes before it.
func (s *stream) fits(f *upstream.Frame, events []upstream.Event) bool {
	if f.Format != Format || f.Complete {
		return false
	}
	own := s.own
	for k := range s.said {
		if s.said[k].thoughts.NeedsCarrier() {
			return false
		}
	}
	for i := range s.open {
		b := &s.open[i]
		if !b.raw && (b.kind == wholeBlock || b.extra != nil || b.signature.Data != "" || !b.tail.Empty()) {
			return false
		}
	}
	for i := range events {
		if events[i].Candidate >= maxCandidates {
			return false
		}
		switch e := &events[i]; e.Kind {
		case upstream.EventStart:
			if s.begun {
				return false
			}
			own = true
		case upstream.EventText, upstream.EventClose:
			own = own && (s.find(e.Block) != nil || opensIn(events[:i], e.Block))
		case upstream.EventInput:
			b := s.find(e.Block)
			own = own && (b != nil && b.raw || opensIn(events[:i], e.Block))
		case upstream.EventStop:
			own = own && !s.candidates[s.place(e.Candidate)].broken // else the reason is ours
		}
	}
	return own
}

func opensIn(events []upstream.Event, block int) bool {
	for i := range events {
		if events[i].Kind == upstream.EventOpen && events[i].Block == block {
			return true
		}
	}
	return false
}

// verbatim appends a frame that fits.
func (s *stream) verbatim(dst []byte, f *upstream.Frame, events []upstream.Event) []byte {
	for i := range events {
		s.follow(&events[i])
	}
	for _, data := range f.Preceding {
		dst = s.appendFrame(dst, data)
	}
	return s.appendFrame(dst, f.Data)
}

// appendFrame appends a piece that the vendor sent.
func (s *stream) appendFrame(dst []byte, data string) []byte {
	dst = s.beginPiece(dst)
	if strings.ContainsAny(data, "\r\n") {
		dst = jsonwire.AppendCompact(dst, data)
	} else {
		dst = append(dst, data...)
	}
	if s.framing == inEvents {
		dst = append(dst, "\r\n\r\n"...)
	}
	return dst
}

// follow keeps the state in step with an event that is written verbatim.
func (s *stream) follow(e *upstream.Event) {
	switch e.Kind {
	case upstream.EventStart:
		id, model := s.start.ID, s.start.Model
		s.start, s.own = *e.Start, true
		if s.start.ID == "" {
			s.start.ID = id
		}
		if s.start.Model == "" {
			s.start.Model = model
		}
	case upstream.EventUsage:
		s.usage, s.unsaid, s.recount = *e.Usage, false, true
	case upstream.EventStop:
		k := s.place(e.Candidate)
		s.candidates[k].stop = *e.Stop
		s.said[k].word, _ = s.candidates[k].words(func(*loss.Rule) {})
		s.blocked = s.blocked || strings.Contains(e.Stop.Details, "promptFeedback")
	case upstream.EventOpen:
		b := s.begins(e)
		b.raw, s.spoken = true, true
		switch e.Part.(type) {
		case *content.ToolUse:
			s.candidates[b.k].calls++
			b.kind = wholeBlock
		case *content.Text:
			b.kind = textBlock
		case *content.Thinking:
			b.kind = thoughtBlock
		default:
			b.kind = wholeBlock
		}
	case upstream.EventClose:
		s.forget(e.Block)
	}
}
