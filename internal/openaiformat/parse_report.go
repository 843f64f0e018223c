package openaiformat

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/object"
)

// A Reporter collects the violations of a request with the vendor's texts and codes. The parsers
// and validators of both formats embed it. With its own Value, Member and Extra, a parser is an
// [object.Format]; a Reporter alone is an [object.Reporter].
//
// Its texts contain the path, as those of the vendor do: "Invalid type for 'messages[0].content':
// …". Path must have the style [codec.Bracketed].
type Reporter struct{ object.Log }

// The vendor's codes of violations. Violations without one have the code that follows from
// their [content.Code].
const (
	vendorIntegerBelow = "integer_below_min_value"
	vendorIntegerAbove = "integer_above_max_value"
	vendorDecimalBelow = "decimal_below_min_value"
	vendorDecimalAbove = "decimal_above_max_value"
	vendorEmptyString  = "empty_string"
	vendorStringAbove  = "string_above_max_length"
	vendorEmptyArray   = "empty_array"
	vendorArrayBelow   = "array_below_min_length"
	vendorArrayAbove   = "array_above_max_length"
	vendorObjectAbove  = "object_above_max_properties"
	vendorInvalidType  = "invalid_type"
	vendorInvalidValue = "invalid_value"
	vendorMissing      = "missing_required_parameter"
	vendorUnknown      = "unknown_parameter"
	vendorInvalidImage = "invalid_image_url"
	vendorImageFormat  = "invalid_image_format"
)

// Invalid reports a value that is not accepted, with its path: "Invalid 'x': why". An empty
// vendor means "invalid_value".
func (r *Reporter) Invalid(code content.Code, vendor, name, why string) {
	if r.Full(code) {
		return
	}
	vendor = cmp.Or(vendor, vendorInvalidValue)
	r.ViolationAs(code, vendor, name, "Invalid '"+r.At(name)+"': "+why)
}

// WrongType reports a value of a kind that is not accepted. expected is a phrase such as "a
// string".
func (r *Reporter) WrongType(name, expected string, x jsonwire.Value) {
	if r.Full(content.CodeType) {
		return
	}
	r.ViolationAs(content.CodeType, vendorInvalidType, name,
		"Invalid type for '"+r.At(name)+"': expected "+expected+", but got "+kindOf(x)+" instead.")
}

// kindOf returns the vendor's phrase for the kind of a value.
func kindOf(x jsonwire.Value) string {
	switch k := object.KindOf(x); {
	case k == object.Text:
		return "a string"
	case k&object.Integer != 0:
		return "an integer"
	case k&object.Number != 0:
		return "a decimal"
	case k == object.Flag:
		return "a boolean"
	case k == object.List:
		return "an array"
	case k == object.Object:
		return "an object"
	}
	return "null"
}

// expected returns the vendor's phrase for the values that v accepts.
func expected(v *object.Value) string {
	if v == nil {
		return "a value"
	}
	list := "array"
	if v.Elem != nil && v.Elem.Kinds != object.Any {
		switch {
		case v.Elem.Accepts(object.Object):
			list = "array of objects"
		case v.Elem.Accepts(object.Text):
			list = "array of strings"
		}
	}
	var kinds []string
	for _, k := range [...]struct {
		kind object.Kinds
		name string
	}{
		{object.Text, "string"}, {object.Integer, "integer"}, {object.Number, "decimal"}, {object.Flag, "boolean"},
		{object.List, list}, {object.Object, "object"},
	} {
		if v.Kinds&k.kind != 0 {
			kinds = append(kinds, k.name)
		}
	}
	switch len(kinds) {
	case 0:
		return "null"
	case 1:
		if strings.IndexByte("aeiou", kinds[0][0]) >= 0 {
			return "an " + kinds[0]
		}
		return "a " + kinds[0]
	}
	last := len(kinds) - 1
	return "one of a " + strings.Join(kinds[:last], ", ") + " or " + kinds[last]
}

// Kind reports a value of a kind that is not accepted.
func (r *Reporter) Kind(v *object.Value, x jsonwire.Value) { r.kind(v, "", x) }

func (r *Reporter) kind(v *object.Value, name string, x jsonwire.Value) {
	r.WrongType(name, expected(v), x)
}

// Mismatch reports a member whose value is not accepted. The empty text is not if the Go field
// would mean that the member is missing.
func (r *Reporter) Mismatch(f *object.Field, name string, x jsonwire.Value) {
	switch v := f.Value; {
	case x.Is("") && v.Enum != nil:
		r.NotOneOf(content.CodeValue, name, "", v.Enum.Values)
	case x.Is("") && v.Accepts(object.Text):
		r.Empty(name)
	case x.Kind() == jsonwire.Number && v.Accepts(object.Number):
		r.Invalid(content.CodeRange, "", name, "the number is out of range.")
	default:
		r.kind(v, name, x)
	}
}

// Range reports a length or an integer that is out of range.
func (r *Reporter) Range(v *object.Value, k object.Kinds, n int64) {
	low := n < v.Min
	switch {
	case k == object.Integer && low:
		r.Below("", v.Min, n)
	case k == object.Integer:
		r.Above("", v.Max, n)
	case k == object.List && low:
		r.Short("", v.Min, n)
	case k == object.List:
		r.Long("", v.Max, n)
	case low:
		r.Empty("")
	default:
		r.LongText("", v.Max, n)
	}
}

// Below reports an integer below its minimum.
func (r *Reporter) Below(name string, low, n int64) {
	r.Invalid(content.CodeRange, vendorIntegerBelow, name,
		"integer below minimum value. Expected a value >= "+number(low)+", but got "+number(n)+" instead.")
}

// Above reports an integer above its maximum.
func (r *Reporter) Above(name string, high, n int64) {
	r.Invalid(content.CodeRange, vendorIntegerAbove, name,
		"integer above maximum value. Expected a value <= "+number(high)+", but got "+number(n)+" instead.")
}

// Between reports a number that is not within its bounds, or not a finite number.
func (r *Reporter) Between(name string, low, high float64, n *float64) {
	switch {
	case n == nil, *n >= low && *n <= high:
	case *n < low:
		r.Invalid(content.CodeRange, vendorDecimalBelow, name,
			"decimal below minimum value. Expected a value >= "+decimal(low)+", but got "+decimal(*n)+" instead.")
	case *n > high:
		r.Invalid(content.CodeRange, vendorDecimalAbove, name,
			"decimal above maximum value. Expected a value <= "+decimal(high)+", but got "+decimal(*n)+" instead.")
	default:
		r.Invalid(content.CodeRange, "", name, "the number is not finite.")
	}
}

// Short reports a list with less than its minimum of elements, which is 1 if the list is empty.
func (r *Reporter) Short(name string, low, n int64) {
	if n == 0 {
		r.Invalid(content.CodeRange, vendorEmptyArray, name, textEmptyArray)
		return
	}
	r.Invalid(content.CodeRange, vendorArrayBelow, name,
		"array too short. Expected an array with minimum length "+number(low)+", but got an array with length "+number(n)+" instead.")
}

const textEmptyArray = "empty array. Expected an array with minimum length 1, but got an empty array instead."

// TextEmptyArray returns the vendor's text for an empty list at a path.
func TextEmptyArray(path string) string { return "Invalid '" + path + "': " + textEmptyArray }

// Long reports a list with more than its maximum of elements.
func (r *Reporter) Long(name string, high, n int64) {
	r.Invalid(content.CodeLimit, vendorArrayAbove, name,
		"array too long. Expected an array with maximum length "+number(high)+", but got an array with length "+number(n)+" instead.")
}

// Many reports an object with more than its maximum of members.
func (r *Reporter) Many(name string, high, n int64) {
	r.Invalid(content.CodeLimit, vendorObjectAbove, name,
		"object has too many properties. Expected an object with at most "+number(high)+" properties, but got an object with "+number(n)+" properties instead.")
}

// Empty reports an empty text.
func (r *Reporter) Empty(name string) {
	r.Invalid(content.CodeRange, vendorEmptyString, name,
		"empty string. Expected a string with minimum length 1, but got an empty string instead.")
}

// LongText reports a text with more than its maximum of characters.
func (r *Reporter) LongText(name string, high, n int64) {
	r.Invalid(content.CodeRange, vendorStringAbove, name,
		"string too long. Expected a string with maximum length "+number(high)+", but got a string with length "+number(n)+" instead.")
}

// Pattern reports a text that does not match a regular expression.
func (r *Reporter) Pattern(name, pattern string) {
	r.Invalid(content.CodeValue, "", name,
		"string does not match pattern. Expected a string that matches the pattern '"+pattern+"'.")
}

// NotOneOf reports a text that is not one of the supported values.
func (r *Reporter) NotOneOf(code content.Code, name, got string, supported []string) {
	if !r.Full(code) {
		r.ViolationAs(code, vendorInvalidValue, name, TextOneOf(got, supported))
	}
}

// TextOneOf returns the vendor's text for a value that is not one of the supported values.
func TextOneOf(got string, supported []string) string {
	text := "Invalid value: '" + codec.Clip(got) + "'."
	switch n := len(supported); n {
	case 0:
		return text
	case 1:
		return text + " Value must be '" + supported[0] + "'."
	case 2:
		return text + " Supported values are: '" + supported[0] + "' and '" + supported[1] + "'."
	default:
		return text + " Supported values are: '" + strings.Join(supported[:n-1], "', '") + "', and '" + supported[n-1] + "'."
	}
}

// Choice reports a text that is not a known one.
func (r *Reporter) Choice(v *object.Value, x jsonwire.Value) {
	if v.Enum.Closed {
		r.NotOneOf(content.CodeValue, "", x.Str(), v.Enum.Values)
	} else {
		r.AddStrict(content.CodeValue, "", func() string { return TextOneOf(x.Str(), v.Enum.Values) })
	}
}

// Tag reports a "type" that is missing or not a known one. If v is nil, each but the empty one is.
func (r *Reporter) Tag(v *object.Value, tag jsonwire.Value) {
	switch {
	case !tag.Exists():
		r.MissingMember("type")
	case tag.Kind() != jsonwire.String:
		r.WrongType("type", "a string", tag)
	case v == nil:
		r.Empty("type")
	default:
		names := make([]string, len(v.Tags))
		for i := range v.Tags {
			names[i] = v.Tags[i].Name
		}
		r.NotOneOf(content.CodeValue, "type", tag.Str(), names)
	}
}

// Missing reports a required member that is missing.
func (r *Reporter) Missing(f *object.Field) { r.MissingMember(f.Name) }

// MissingMember reports that the object at the path does not have a required member.
func (r *Reporter) MissingMember(name string) {
	if !r.Full(content.CodeMissing) {
		r.ViolationAs(content.CodeMissing, vendorMissing, name, "Missing required parameter: '"+r.At(name)+"'.")
	}
}

// UnknownMember reports a member that the object at the path must not have.
func (r *Reporter) UnknownMember(name string) {
	if !r.Full(content.CodeUnknown) {
		r.ViolationAs(content.CodeUnknown, vendorUnknown, codec.Clip(name), r.textUnknown(name))
	}
}

// Unknown reports a name that a lenient parser would read as a known one. It records other
// names that are unknown, or that do not belong into an Extra, for strict validation.
func (r *Reporter) Unknown(t *object.Type, name string) {
	switch known := t.Similar(name); {
	case known != "" && known != name:
		if !r.Full(content.CodeUnknown) {
			r.ViolationAs(content.CodeUnknown, vendorUnknown, codec.Clip(name), r.textUnknown(name)+" Did you mean '"+known+"'?")
		}
	case !t.Lenient:
		r.AddStrict(content.CodeUnknown, codec.Clip(name), func() string { return r.textUnknown(name) })
	}
}

func (r *Reporter) textUnknown(name string) string {
	return "Unknown parameter: '" + r.At(codec.Clip(name)) + "'."
}

func number(n int64) string { return strconv.FormatInt(n, 10) }

func decimal(n float64) string { return strconv.FormatFloat(n, 'g', -1, 64) }

// SyntaxError returns the violation for a body that is not valid JSON.
func SyntaxError(err error) *content.Violation {
	return codec.SyntaxViolation("We could not parse the JSON body of your request: ", err)
}
