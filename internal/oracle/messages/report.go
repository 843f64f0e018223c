package messages

import (
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/object"
	"github.com/polywire/polywire/internal/violation"
)

// A reporter collects violations with the vendor's texts. The parser embeds it. It is the
// [object.Reporter] for values that are kept as JSON text.
type reporter struct {
	// path has the vendor's style:
	// "messages.2.content.0.image.source.base64.data". After the index or name of
	// a member of a union follows its tag. Unions are the blocks of a message,
	// sources, citations, tools ("custom" for a tool without a type), thinking and
	// tool_choice. The texts of system and of search results are not a union and
	// have no tag. The path of a violation at the tag does not include the tag:
	// "messages.0.content.1.type".
	path       codec.Path
	violations violation.List
	origin     *origin   // collects unknown names; nil for fragments of requests and for responses
	spare      *reporter // see check
}

// check has find check values at the path. The checker works on a copy, because it would
// move the parser to the heap.
func (r *reporter) check(find func(c *object.Checker)) {
	s := r.spare
	if s == nil {
		s = new(reporter)
		r.spare = s
	}
	*s = *r
	find(&object.Checker{Path: &s.path, Report: s})
	*r = *s
}

// violation adds a violation at a member of the object at the path. An empty name
// means the object itself.
func (r *reporter) violation(code content.Code, name, text string) {
	if r.violations.Len() >= content.MaxViolations {
		r.violations.Add(code, "", "") // is only counted
		return
	}
	if name == "" {
		r.violations.Add(code, r.path.At(), text)
		return
	}
	r.violations.Add(code, r.path.At(name), text)
}

// Kind reports a value of a kind that is not accepted.
func (r *reporter) Kind(v *object.Value) { r.violation(content.CodeType, "", textKind(v)) }

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
		r.violation(content.CodeRange, "", textAtLeast(v.Min))
	case k == object.Integer:
		r.violation(content.CodeRange, "", textUpTo(v.Max))
	case k == object.List && low:
		r.violation(content.CodeRange, "", "List should have at least "+counted(int(v.Min), "item"))
	case k == object.List:
		r.violation(content.CodeLimit, "", textItems(int(v.Max), int(n)))
	case low:
		r.violation(content.CodeRange, "", textNotEmpty)
	default:
		r.violation(content.CodeRange, "", textAtMost(int(v.Max), "character"))
	}
}

// Choice reports a text that is not a known one.
func (r *reporter) Choice(v *object.Value, _ jsonwire.Value) {
	if v.Enum.Closed {
		r.violation(content.CodeValue, "", textOneOf(v.Enum.Values))
	} else if r.countsUnknown(content.CodeValue) {
		r.origin.unknown.Add(content.CodeValue, r.path.At(), textOneOf(v.Enum.Values))
	}
}

// Tag reports a "type" that is missing or not a known one.
func (r *reporter) Tag(v *object.Value, tag jsonwire.Value) {
	switch tag.Kind() {
	case jsonwire.None:
		r.violation(content.CodeMissing, "type", textRequired)
	case jsonwire.String:
		names := make([]string, len(v.Tags))
		for i := range v.Tags {
			names[i] = v.Tags[i].Name
		}
		r.violation(content.CodeValue, "", quoteTag(tag.Str(), quoteTags(names)))
	default:
		r.violation(content.CodeType, "type", textString)
	}
}

// Missing reports a required member that is missing.
func (r *reporter) Missing(f *object.Field) { r.violation(content.CodeMissing, f.Name, textRequired) }

// Unknown reports a name that a lenient parser would read as a known one. It records other
// names that are unknown, or that do not belong into an Extra, for strict validation.
func (r *reporter) Unknown(t *object.Type, name string) {
	if known := t.Similar(name); known != "" && known != name {
		text := ""
		if r.violations.Len() < content.MaxViolations { // else it is only counted
			text = textExtra + ": did you mean '" + known + "'?"
		}
		r.violation(content.CodeUnknown, codec.Clip(name), text)
	} else if !t.Lenient && r.countsUnknown(content.CodeUnknown) {
		r.origin.unknown.Add(content.CodeUnknown, r.path.At(codec.Clip(name)), textExtra)
	}
}

// countsUnknown reports whether the next unknown name or value is recorded with its path
// and text. If there are many, it only counts it.
func (r *reporter) countsUnknown(code content.Code) bool {
	if r.origin == nil {
		return false
	}
	if list := &r.origin.unknown; list.Len() >= content.MaxViolations {
		list.Add(code, "", "")
		return false
	}
	return true
}

// quoteTags lists the tags of a union.
func quoteTags(tags []string) string { return "'" + strings.Join(tags, "', '") + "'" }
