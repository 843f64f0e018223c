package messages

import (
	"slices"
	"sync"
	"time"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/object"
	"github.com/polywire/polywire/upstream"
)

// The objects of responses, except blocks and citations, which are those of requests. The
// decoder reads by these tables the members that have a Go field. It keeps the others as JSON
// text, without null for those that are named here.

// read returns a member that a Go field holds. Its value is any, because servers deviate from
// the format: the decoder checks what it needs.
func read[T, F any](name string, at func(*T) *F) object.Field { return object.Opt(name, anyValue, at) }

// messageValues are the members of a message, or of the delta of a message_delta. They are
// read in another order than that of the document.
type messageValues struct {
	kind, id, role, model, content, usage, reason, sequence, details jsonwire.Value

	end [3]jsonwire.Value // of endNames
}

// endNames are the members of a whole message that a stream has in message_delta: the first in
// its delta, the others beside it.
var endNames = [...]string{"container", "context_management", "input_transformations"}

var (
	responseType = object.KeptLater("", func() []object.Field {
		return fields(messageFields(), endFields()...)
	})
	startType = object.KeptLater("", func() []object.Field {
		return fields(messageFields(), object.Named(endNames[:]...)...)
	})
	stopType = object.KeptLater("", func() []object.Field {
		return fields(stopFields(), object.Named(endNames[0])...)
	})
)

func stopFields() []object.Field {
	return []object.Field{
		read("stop_reason", func(m *messageValues) *jsonwire.Value { return &m.reason }),
		read("stop_sequence", func(m *messageValues) *jsonwire.Value { return &m.sequence }),
		read("stop_details", func(m *messageValues) *jsonwire.Value { return &m.details }),
	}
}

func messageFields() []object.Field {
	return fields(fields(stopFields(), object.Named("diagnostics")...),
		read("type", func(m *messageValues) *jsonwire.Value { return &m.kind }),
		read("id", func(m *messageValues) *jsonwire.Value { return &m.id }),
		read("role", func(m *messageValues) *jsonwire.Value { return &m.role }),
		read("model", func(m *messageValues) *jsonwire.Value { return &m.model }),
		read("content", func(m *messageValues) *jsonwire.Value { return &m.content }),
		read("usage", func(m *messageValues) *jsonwire.Value { return &m.usage }))
}

func endFields() (list []object.Field) {
	for i, name := range endNames {
		list = append(list, read(name, func(m *messageValues) *jsonwire.Value { return &m.end[i] }))
	}
	return list
}

// isMessageMember reports whether [writtenResponse] has a field for a member.
func isMessageMember(name string) bool {
	return startType.Holds(name) || name == "container" || name == "diagnostics"
}

// eventValues are the members of an event of a stream.
type eventValues struct{ index, block, delta, message, usage jsonwire.Value }

// eventTypes returns the events of a stream.
var eventTypes = sync.OnceValue(func() []object.Tag {
	index := read("index", func(e *eventValues) *jsonwire.Value { return &e.index })
	delta := read("delta", func(e *eventValues) *jsonwire.Value { return &e.delta })
	return []object.Tag{
		object.KeptTag("content_block_delta", index, delta),
		object.KeptTag("content_block_start", index,
			read("content_block", func(e *eventValues) *jsonwire.Value { return &e.block })),
		object.KeptTag("content_block_stop", index),
		object.KeptTag("message_start", read("message", func(e *eventValues) *jsonwire.Value { return &e.message })),
		object.KeptTag("message_delta", fields(object.Named(endNames[1:]...), delta,
			read("usage", func(e *eventValues) *jsonwire.Value { return &e.usage }))...),
		object.KeptTag("message_stop"),
	}
})

func isKnownEvent(kind string) bool { return typeOfTag(eventTypes(), kind) != nil }

// A deltaForm describes a kind of delta.
type deltaForm struct {
	tag   string
	value string // the member with the value
	event upstream.EventKind
	of    *object.Type
}

// deltaForms returns the kinds of deltas, which are never changed.
var deltaForms = sync.OnceValue(func() []deltaForm {
	return []deltaForm{
		newDelta("text_delta", "text", upstream.EventText),
		newDelta("input_json_delta", "partial_json", upstream.EventInput),
		newDelta("thinking_delta", "thinking", upstream.EventText, object.Named("estimated_tokens")...),
		newDelta("signature_delta", "signature", upstream.EventSignature),
		newDelta("citations_delta", "citation", upstream.EventCitation),
	}
})

func newDelta(tag, value string, event upstream.EventKind, kept ...object.Field) deltaForm {
	return deltaForm{tag, value, event, object.KeptTag(tag, fields(kept, read(value, itself))...).Type}
}

// itself is for types of which only one member has a Go field.
func itself(v *jsonwire.Value) *jsonwire.Value { return v }

// isDeltaMember reports whether a Go field holds a member of any kind of delta.
func isDeltaMember(name string) bool { return anyDelta.Holds(name) }

var anyDelta = object.KeptLater("", func() []object.Field {
	list := []object.Field{object.TagField}
	for _, f := range deltaForms() {
		list = append(list, read(f.value, itself))
	}
	return list
})

// tokens are the counts of a usage object, as on the wire.
type tokens struct {
	input, read int64
	output      int64 // including thinking
	thinking    int64
	write       int64 // the total
	write5m     int64
	write1h     int64
}

// usageType has the members in the order in which responses have them.
var usageType = object.KeptLater("", func() []object.Field {
	return fields([]object.Field{
		read("input_tokens", func(t *tokens) *int64 { return &t.input }),
		read("cache_creation_input_tokens", func(t *tokens) *int64 { return &t.write }),
		read("cache_read_input_tokens", func(t *tokens) *int64 { return &t.read }),
		within("cache_creation",
			read("ephemeral_5m_input_tokens", func(t *tokens) *int64 { return &t.write5m }),
			read("ephemeral_1h_input_tokens", func(t *tokens) *int64 { return &t.write1h })),
		read("output_tokens", func(t *tokens) *int64 { return &t.output }),
		within("output_tokens_details", read("thinking_tokens", func(t *tokens) *int64 { return &t.thinking })),
	}, object.Named("server_tool_use", "service_tier", "inference_geo", "speed")...)
})

// within returns a member of usage that is an object of further counts.
func within(name string, list ...object.Field) object.Field {
	return object.Opt(name, object.KeptObject(list...), func(t *tokens) *tokens { return t })
}

// Responses of other endpoints.
var (
	countType = object.KeptLater("", func() []object.Field {
		return []object.Field{read("input_tokens", itself), object.OptKept("context_management", anyValue)}
	})

	modelType = object.New("", func(m *upstream.Model) **content.Extra { return &m.Extra }, func() []object.Field {
		return []object.Field{
			object.TagField,
			read("id", func(m *upstream.Model) *string { return &m.ID }),
			read("display_name", func(m *upstream.Model) *string { return &m.Name }),
			read("created_at", func(m *upstream.Model) *time.Time { return &m.Created }),
			read("max_input_tokens", func(m *upstream.Model) *int64 { return &m.MaxInput }),
			read("max_tokens", func(m *upstream.Model) *int64 { return &m.MaxOutput }),
			object.OptKept("lifecycle", anyValue), object.OptKept("line", anyValue), object.OptKept("deprecated_at", anyValue),
			object.OptKept("retires_at", anyValue), object.OptKept("capabilities", anyValue), object.OptKept("allowed_fallback_models", anyValue)}
	})
)

// members reads the members of an object of type t that the struct at to has fields for. A
// value of the wrong type leaves its field.
func members(v jsonwire.Value, t *object.Type, to any) {
	for name, x := range v.Members() {
		f := t.Find(name)
		if f == nil || !f.Typed() {
			continue
		}
		switch to := f.At(to).(type) {
		case *jsonwire.Value:
			*to = x
		case *string:
			*to = x.Str()
		case *int64:
			count(to, x)
		case *time.Time:
			*to, _ = time.Parse(time.RFC3339, x.Str())
		default: // an object whose members have fields in the same struct
			members(x, f.Value.Object, to)
		}
	}
}

// maxTokenCount limits a count, so that sums of counts cannot overflow.
const maxTokenCount = 1 << 53

// count reads a number of tokens and reports whether v is one.
func count(to *int64, v jsonwire.Value) bool {
	n, ok := v.Int()
	if ok {
		*to = min(max(n, 0), maxTokenCount)
	}
	return ok
}

// isKept reports whether a member of an object of type t is kept as JSON text.
func isKept(t *object.Type, name string, x jsonwire.Value) bool {
	f := t.Find(name)
	return f == nil || f.Kept() && x.Kind() != jsonwire.Null
}

// appendKept appends the members of v that are kept as JSON text.
func appendKept(b []byte, v jsonwire.Value, t *object.Type) []byte {
	if v.Len() > measuredMembers {
		size := 0
		for name, x := range v.Members() {
			if isKept(t, name, x) {
				size += len(name) + len(x.Raw()) + len(`,"":`)
			}
		}
		b = slices.Grow(b, size)
	}
	for name, x := range v.Members() {
		if isKept(t, name, x) {
			b = codec.AppendMember(b, name, x.Raw())
		}
	}
	return b
}

// measuredMembers is the number of members from which the size of an object is
// computed before its members are collected.
const measuredMembers = 100
