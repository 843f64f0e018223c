package responses

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/handler"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/upstream"
)

// A forwarder keeps what a stream needs to continue after events of the vendor that were forwarded:
// with the events of an error, or because a middleware has changed an event. From then on all events
// are encoded anew, under the vendor's ids.
type forwarder struct {
	forwarding bool   // all events so far were forwarded
	ended      bool   // the last event was forwarded
	last       string // event that was forwarded last

	vendorModel string // if the client receives another
	open        *item  // that was forwarded last and is not complete
}

// CanForward implements [response.Stream]. Events are forwarded from the first one on, or not at all.
func (s *encoder) CanForward(f *upstream.Frame, events []upstream.Event) bool {
	begins := !s.begun && s.number == 0 && s.next == 0 && events[0].Kind == upstream.EventStart
	if f.Data == "" || s.settings.openResponses || s.compacting || s.session != nil || s.messages || !s.forwarding && !begins {
		return false
	}
	for i := range events {
		if t, ok := events[i].Part.(*content.ToolUse); ok && events[i].Kind == upstream.EventOpen && (t.ID == "" || envelope.IsReservedID(t.ID)) {
			return false
		}
	}
	return true
}

// Forward implements [response.Stream].
func (s *encoder) Forward(f *upstream.Frame, events []upstream.Event) {
	s.begun, s.forwarding = true, true
	for _, data := range f.Preceding {
		s.forward(data)
	}
	s.forward(f.Data)
	s.Track(events)
}

// forward writes an event of the vendor.
func (s *encoder) forward(data string) {
	kind := gjson.Get(data, "type").Str
	s.last = data
	if at := gjson.Get(data, "output_index"); at.Exists() && kind != "response.output_item.added" {
		s.open = s.itemAt(int(at.Int()))
	}
	s.dst = append(append(append(s.dst, "event: "...), kind...), "\ndata: "...)
	switch kind {
	case "response.created", "response.queued", "response.in_progress", "response.completed", "response.incomplete":
		data = s.forwardResponse(data)
		s.ended = kind == "response.completed" || kind == "response.incomplete"
	case "response.output_item.added":
		s.forwardItem(data)
	case "response.content_part.added":
		if it := s.open; it != nil {
			it.count++
			it.isRefusal = gjson.Get(data, "part.type").Str == "refusal"
		}
	case "response.content_part.done":
		if it := s.open; it != nil {
			if len(it.parts) > 0 {
				it.parts = append(it.parts, ',')
			}
			part := gjson.Get(data, "part").Raw
			it.parts = append(it.parts, part...)
			s.keep(len(part) - it.text.Len())
			it.text = codec.Builder{}
			it.delta = nil
		}
	case "response.output_item.done":
		if it := s.open; it != nil {
			it.json = append([]byte(nil), gjson.Get(data, "item").Raw...)
			s.keep(len(it.json) - it.text.Len() - len(it.parts))
			it.text = codec.Builder{}
			it.parts, it.delta, s.open = nil, nil, nil
			if s.dropped {
				it.json = nil
			}
		}
	}
	s.dst = append(append(s.dst, data...), "\n\n"...)
}

// itemAt returns the item with an index, or nil if it is complete or not kept.
func (s *encoder) itemAt(index int) *item {
	if it := s.open; it != nil && it.index == index {
		return it
	}
	if index >= 0 && index < len(s.items) && s.items[index].index == index && s.items[index].json == nil {
		return s.items[index]
	}
	return nil
}

// forwardResponse returns an event with the model that the client requested.
func (s *encoder) forwardResponse(data string) string {
	doc, err := jsonwire.Parse(data, jsonwire.Limits{})
	if err != nil {
		return data
	}
	defer doc.Close()
	r := doc.Root().Get("response")
	if id := r.Get("id"); id.Str() != "" {
		s.id = strings.Clone(id.Str())
	}
	if n, ok := r.Get("created_at").Int(); ok {
		s.created = n
	}
	if at := r.Get("model"); s.model != "" && s.vendorModel != "" && at.Is(s.vendorModel) {
		return data[:at.Offset()] + string(jsonwire.AppendString(nil, s.model)) + data[at.End():]
	}
	return data
}

// forwardItem keeps the beginning of an item of the vendor.
func (s *encoder) forwardItem(data string) {
	s.next = int(gjson.Get(data, "output_index").Int())
	v := gjson.Get(data, "item")
	k := otherItem
	if i := slices.Index(itemNames[:searchItem], v.Get("type").Str); i >= 0 { // bounded by itemNames
		k = itemType(i)
	}
	it := &item{index: s.next, kind: k, id: v.Get("id").Str, callID: v.Get("call_id").Str, name: v.Get("name").Str, namespace: v.Get("namespace").Str}
	s.open = it
	s.begin(it)
}

// Tracked implements [response.Stream].
func (s *encoder) Tracked(b *sentBlock, e *upstream.Event) {
	switch e.Kind {
	case upstream.EventOpen:
		b.State.item = s.open
		s.newestOpen = b.Number
		if t, ok := e.Part.(*content.ToolUse); ok {
			s.ids.Notice(t.ID)
		}
	case upstream.EventText, upstream.EventInput:
		if b == nil || b.State.item == nil || b.State.item.json != nil || s.open != b.State.item {
			return
		}
		it := b.State.item
		it.text.Add(e.Text)
		s.keep(len(e.Text))
		if it.delta == nil {
			s.prepareDeltas(it)
		}
	}
}

// stopForwarding ends the forwarding of events: the next one follows the last that was forwarded.
func (s *encoder) stopForwarding() {
	s.forwarding = false
	s.number = gjson.Get(s.last, "sequence_number").Int() + 1
	if gjson.Get(s.last, "type").Str == "response.created" { // the next one has no content, so it was waiting
		s.responseEvent("response.in_progress", "in_progress", nil)
	}
}

// forwards reports whether the events of a call are forwarded.
func (s *encoder) forwards(events []upstream.Event) bool {
	f := upstream.FrameOf(events)
	return f != nil && f.Format == Format && !f.Complete && s.CanForward(f, events)
}

// renamed notes the model of the vendor if the client receives the one that it requested.
func (s *encoder) renamed(events []upstream.Event) {
	if model := handler.AsReceived(events); model != "" {
		s.vendorModel = model
	}
}
