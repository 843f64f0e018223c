package messages

import (
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/object"
)

// A reporter collects violations with the vendor's texts. The parser embeds it. It is the
// [object.Reporter] for values that are kept as JSON text.
//
// Its paths have the vendor's style: "messages.2.content.0.image.source.base64.data". After the
// index or name of a member of a union follows its tag. Unions are the blocks of a message,
// sources, citations, tools ("custom" for a tool without a type), thinking and tool_choice. The
// texts of system and of search results are not a union and have no tag. The path of a violation
// at the tag does not include the tag: "messages.0.content.1.type".
type reporter struct{ object.Log }

// Kind reports a value of a kind that is not accepted.
func (r *reporter) Kind(v *object.Value, _ jsonwire.Value) {
	r.Violation(content.CodeType, "", textKind(v))
}

// Mismatch reports a member whose value is not accepted. The empty text is not if the Go field
// would mean that the member is missing.
func (r *reporter) Mismatch(f *object.Field, name string, x jsonwire.Value) {
	switch v := f.Value; {
	case x.Is("") && v.Enum != nil:
		r.Violation(content.CodeValue, name, textOneOf(v.Enum.Values))
	case x.Is("") && v.Accepts(object.Text):
		r.Violation(content.CodeRange, name, textNotEmpty)
	case x.Kind() == jsonwire.Number && v.Accepts(object.Number):
		r.Violation(content.CodeRange, name, textFinite)
	case v.Kinds == object.Object && v.Object == nil:
		r.Violation(content.CodeType, name, textNotObject)
	default:
		r.Violation(content.CodeType, name, textKind(v))
	}
}

// textKind returns the error text for a value whose kind v does not accept.
func textKind(v *object.Value) string {
	if v.Enum != nil && v.Kinds&^object.Null == object.Text {
		return textOneOf(v.Enum.Values)
	}
	return textKinds(v.Kinds)
}

// textKinds returns the error text for a value that has none of the kinds.
func textKinds(k object.Kinds) string {
	switch {
	case k&object.Text != 0 && k&object.Object != 0:
		return "Input should be a valid string or an object"
	case k&object.Text != 0 && k&object.List != 0:
		return "Input should be a valid string or list"
	case k&object.Text != 0:
		return textString
	case k&object.Integer != 0:
		return textInteger
	case k&object.Number != 0:
		return textNumber
	case k&object.Flag != 0:
		return textBoolean
	case k&object.List != 0:
		return textList
	}
	return textObject
}

// Range reports a length or an integer that is out of range.
func (r *reporter) Range(v *object.Value, k object.Kinds, n int64) {
	low := n < v.Min
	switch {
	case k == object.Integer && low:
		r.Violation(content.CodeRange, "", textAtLeast(v.Min))
	case k == object.Integer:
		r.Violation(content.CodeRange, "", textUpTo(v.Max))
	case k == object.List && low:
		r.Violation(content.CodeRange, "", "List should have at least "+counted(int(v.Min), "item"))
	case k == object.List:
		r.Violation(content.CodeLimit, "", textItems(int(v.Max), int(n)))
	case low:
		r.Violation(content.CodeRange, "", textNotEmpty)
	default:
		r.Violation(content.CodeRange, "", textAtMost(int(v.Max), "character"))
	}
}

// Choice reports a text that is not a known one.
func (r *reporter) Choice(v *object.Value, _ jsonwire.Value) {
	text := func() string { return textOneOf(v.Enum.Values) }
	if v.Enum.Closed {
		r.Violation(content.CodeValue, "", text())
	} else {
		r.AddStrict(content.CodeValue, "", text)
	}
}

// Tag reports a "type" that is missing or not a known one. If v is nil, each but the empty one is.
func (r *reporter) Tag(v *object.Value, tag jsonwire.Value) {
	switch {
	case !tag.Exists():
		r.Violation(content.CodeMissing, "type", textRequired)
	case tag.Kind() != jsonwire.String:
		r.Violation(content.CodeType, "type", textString)
	case v == nil:
		r.Violation(content.CodeValue, "type", textNotEmpty)
	default:
		names := make([]string, len(v.Tags))
		for i := range v.Tags {
			names[i] = v.Tags[i].Name
		}
		r.Violation(content.CodeValue, "", quoteTag(tag.Str(), quoteTags(names)))
	}
}

// Missing reports a required member that is missing.
func (r *reporter) Missing(f *object.Field) { r.Violation(content.CodeMissing, f.Name, textRequired) }

// Unknown reports a name that a lenient parser would read as a known one. It records other
// names that are unknown, or that do not belong in an Extra, for strict validation.
func (r *reporter) Unknown(t *object.Type, name string) {
	if known := t.Similar(name); known != "" && known != name {
		if !r.Full(content.CodeUnknown) {
			r.Violation(content.CodeUnknown, codec.Clip(name), textExtra+": did you mean '"+known+"'?")
		}
	} else if !t.Lenient {
		r.AddStrict(content.CodeUnknown, codec.Clip(name), func() string { return textExtra })
	}
}

// quoteTags lists the tags of a union.
func quoteTags(tags []string) string { return "'" + strings.Join(tags, "', '") + "'" }
