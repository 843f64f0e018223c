package generatecontent

import (
	"slices"
	"strconv"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/legal"
)

// ValidateOptions is what a host has to say to a validator. The zero value, like nil,
// holds the defaults.
type ValidateOptions struct {
	// Strict refuses names that the format does not know, all of them at every
	// depth, in the vendor's words. The default lets them pass, because clients
	// send what is newer than this package. Free JSON has no such names: schemas
	// in JSON Schema, arguments and responses of functions, metadata, labels, and
	// the few objects whose members the vendor does not publish. A parsed request
	// is judged by its document, one made by hand by the document that it makes.
	// Query parameters are not judged. Strict also refuses results of one step in
	// several turns, and the role "tool", which the vendor refuses and clients send.
	Strict bool

	// Count judges the body of countTokens: calls need no results, and nothing
	// but contents is needed.
	Count bool

	// MediaTypes are types of files that are welcome besides the usual ones:
	// images, sound, moving pictures, texts, PDF, JSON, RTF.
	MediaTypes []string

	// Limits bounds files and images: 100 files of 75 MiB each (decoded), and
	// images of 24,000 by 24,000 and 100,000,000 pixels, unless told otherwise.
	// Depth and values are ParseRequest's.
	Limits content.Limits
}

// Validate reports everything that is wrong with the request, what parsing it
// has found included: nil, or an error whose faults [content.Violations] lists.
// Faults of reading come first, as the vendor has it, then names that are not
// known if the rules are strict, then all others. What could not be read is told
// once: what depends on it is not judged, nor is a schema with a fault of reading
// in it. How paths and texts make the vendor's message is told in the package
// comment.
//
// rules may be nil. The request is not changed, and may be validated from
// several goroutines at once. Validate does no I/O. Its time is linear in the
// size of the request, and base64 data is not decoded but for image headers and
// texts.
//
// Rules that depend on a model are the upstream's: whether it thinks, sees,
// signs, or takes built-in tools besides functions. In a request made by hand,
// nil parts and sources are faults too; free JSON is judged by the encoder.
func (r *Request) Validate(rules *ValidateOptions) error {
	v := validator{r: r}
	if rules != nil {
		v.rules = *rules
	}
	v.rules.Limits = fileLimits(v.rules.Limits)
	v.path.Style = codec.Bracketed
	if r.Form != nil && r.Form.nested {
		v.path.Push("generate_content_request")
	}
	v.model()
	v.contents()
	v.system()
	v.tools()
	v.toolConfig()
	v.safety()
	v.config()
	v.cached()
	return r.faults(&v.faults, v.rules.Strict)
}

func orDefault[T int | int64](n, def T) T {
	if n == 0 {
		return def
	}
	return n
}

// A validator walks over one request.
type validator struct {
	r      *Request
	rules  ValidateOptions
	path   codec.Path
	faults content.ViolationList

	sound int // how many of Form.sound are behind
	files int
	pairs legal.Pairing // of the calls of the latest turn of the model
}

// fault notes a fault at the path, with more names behind it.
func (v *validator) fault(code content.Code, text string, names ...string) {
	if v.faults.Len() >= content.MaxViolations {
		v.faults.Add(code, "", "") // is only counted
		return
	}
	v.faults.Add(code, v.path.At(names...), text)
}

// complained reports whether parsing found a fault at the path, with more names
// behind it, or around that.
func (v *validator) complained(names ...string) bool {
	f := v.r.Form
	return f != nil && f.wrong != nil && f.complained(v.path.At(names...))
}

// oneOf reports a string that is none of the allowed ones; empty means absent.
func (v *validator) oneOf(s string, allowed []string, names ...string) {
	if s == "" || slices.Contains(allowed, s) {
		return
	}
	text := "allowed values are "
	for i, a := range allowed {
		if i > 0 {
			text += ", "
		}
		text += "'" + a + "'"
	}
	v.fault(content.CodeValue, "'"+codec.Clip(s)+"' is not supported: "+text, names...)
}

// between reports a number out of bounds.
func (v *validator) between(f *float64, low, high float64, name string) {
	if f != nil && !(*f >= low && *f <= high) {
		v.fault(content.CodeRange, name+" must be in the range ["+bound(low)+", "+bound(high)+"]", name)
	}
}

func bound(f float64) string { return strconv.FormatFloat(f, 'f', 1, 64) }

// atLeast reports a whole number that is too small.
func (v *validator) atLeast(n *int64, low int64, name string) {
	if n != nil && *n < low {
		v.fault(content.CodeRange, name+" must be at least "+strconv.FormatInt(low, 10), name)
	}
}

// model checks the name in the body. Most requests have none there.
func (v *validator) model() {
	switch s := v.r.Model; {
	case len(s) > codec.MaxModelName:
		v.fault(content.CodeLimit, textModelName, "model")
	case s != "" && !isModel(s):
		v.fault(content.CodeValue, "unexpected model name format", "model")
	}
}

var textModelName = "a model name must not be longer than " + strconv.Itoa(codec.MaxModelName) + " bytes"

// isModel reports whether s could be the name of a model: what a URL could not
// hold is none.
func isModel(s string) bool {
	if s[0] == '/' || s[len(s)-1] == '/' {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case c <= ' ', c == 0x7F, c == '?', c == '&', c == '#', c == '%', c == '\\':
			return false
		case c == '.' && i > 0 && s[i-1] == '.', c == '/' && s[i-1] == '/':
			return false
		}
	}
	return true
}

// cached checks that what a cache brings along does not stand in the request.
func (v *validator) cached() {
	r := v.r
	if r.CachedContent != "" && (r.SystemInstruction != nil && len(r.SystemInstruction.Parts) > 0 ||
		len(r.Tools) > 0 || r.ToolConfig != nil) {
		v.fault(content.CodeConflict, "CachedContent can not be used with GenerateContent request setting "+
			"system_instruction, tools or tool_config.", "cached_content")
	}
}

// safety checks the filters.
func (v *validator) safety() {
	list := v.r.SafetySettings
	for i := range list {
		s := &list[i]
		v.path.Push("safety_settings")
		v.path.PushIndex(i)
		if v.complained("category") {
			// it is none, or nobody knows which
		} else if !slices.Contains(safetyCategories, s.Category) {
			text := "element predicate failed: $.category in ("
			for k, c := range safetyCategories {
				if k > 0 {
					text += ", "
				}
				text += c
			}
			v.fault(content.CodeValue, text+")")
		} else if slices.ContainsFunc(list[:i], func(o SafetySetting) bool { return o.Category == s.Category }) {
			v.fault(content.CodeConflict, "there is more than one setting for "+s.Category, "category")
		}
		v.path.Pop()
		v.path.Pop()
		if v.faults.Len() > content.MaxViolations {
			return // very many settings would be compared with each other
		}
	}
}

// safetyCategories are the categories that have filters: those behind the older
// ones, which only parse.
var safetyCategories = harmCategory.values[7:]
