package generatecontent

import (
	"slices"
	"strconv"

	"github.com/polywire/polywire/content"
)

const textNoContents = "contents is not specified"

const textNoData = "required oneof field 'data' must have one initialized field"

// contents checks every turn by itself, then what they are together.
func (v *validator) contents() {
	turns := v.r.Contents
	if len(turns) == 0 {
		v.fault(content.CodeMissing, textNoContents, "contents")
		return
	}
	v.path.Push("contents")
	for i := range turns {
		v.path.PushIndex(i)
		v.turn(i, &turns[i])
		v.path.Pop()
	}
	if v.files > v.rules.Limits.Files {
		v.fault(content.CodeLimit, "too many files in the request: "+strconv.Itoa(v.files)+", the limit is "+
			strconv.Itoa(v.rules.Limits.Files))
	}
	if !v.rules.Count && !v.unclear() {
		v.pairing()
	}
	v.path.Pop()
}

// unclear reports whether something could not be read in what the path is at,
// with more names behind it: what depends on it cannot be judged, such as how
// many calls and results there are.
func (v *validator) unclear(names ...string) bool {
	f := v.r.Form
	if f == nil || f.wrong == nil {
		return false
	}
	at := v.path.At(names...)
	for _, e := range f.wrong.list {
		if within(e.Path, at) {
			return true
		}
	}
	return f.wrong.more > 0
}

func (v *validator) turn(i int, t *content.Turn) {
	if t.Role != content.RoleUser && t.Role != content.RoleAssistant {
		v.fault(content.CodeValue, "Please use a valid role: user, model.", "role")
	}
	if len(t.Parts) == 0 {
		v.fault(content.CodeMissing, "contents.parts must not be empty", "parts")
		return
	}
	role := t.Role
	if v.complained("role") {
		role = "" // it says nothing about what may stand here
	}
	v.path.Push("parts")
	for k, p := range t.Parts {
		v.path.PushIndex(v.r.original(i, k))
		v.part(p, role)
		v.path.Pop()
	}
	// The vendor accepts an empty text, but no part without data. The model may
	// have said nothing, which Go's SDK writes as such a part.
	if role == content.RoleUser && v.r.nothing(i) && silent(t.Parts) && !v.unclear() {
		v.path.PushIndex(v.r.original(i, 0))
		v.fault(content.CodeMissing, textNoData, "data")
		v.path.Pop()
	}
	v.path.Pop()
}

// nothing reports whether the document had no data in any part of a turn.
func (r *Request) nothing(turn int) bool {
	if r.Form == nil {
		return false
	}
	_, found := slices.BinarySearch(r.Form.nothing, turn)
	return found
}

// silent reports whether parts are empty texts without a signature.
func silent(parts []content.Part) bool {
	for _, p := range parts {
		if t, ok := p.(*content.Text); !ok || t == nil || t.Text != "" || t.Signature.Data != "" {
			return false
		}
	}
	return true
}

// system checks the system instruction, which holds texts.
func (v *validator) system() {
	s := v.r.SystemInstruction
	if s == nil {
		return
	}
	v.path.Push("system_instruction")
	v.path.Push("parts")
	for i, p := range s.Parts {
		if _, ok := p.(*content.Text); !ok || content.IsNil(p) {
			v.path.PushIndex(v.r.original(-1, i))
			if !v.complained() {
				v.fault(content.CodeValue, "system_instruction supports only text content")
			}
			v.path.Pop()
		}
	}
	v.path.Pop()
	v.path.Pop()
}

// part checks one part of a turn.
func (v *validator) part(p content.Part, role content.Role) {
	if content.IsNil(p) {
		v.fault(content.CodeMissing, textNoData, "data")
		return
	}
	switch q := p.(type) {
	case *content.Image:
		v.source(q.Source)
		v.video(q.Extra)
	case *content.Document:
		v.source(q.Source)
		v.video(q.Extra)
	case *content.Media:
		v.source(q.Source)
		v.video(q.Extra)
	case *content.ToolUse:
		if role == content.RoleUser {
			v.fault(content.CodeOrder, "function calls are made by the model", "function_call")
		}
		v.called(q.Name, "function_call")
	case *content.ToolResult:
		if role == content.RoleAssistant {
			v.fault(content.CodeOrder, "function responses are given by the user", "function_response")
		}
		v.path.Push("function_response")
		v.called(q.Name)
		v.response(q)
		v.path.Pop()
	case *content.Unknown:
		if q.Kind == "" && v.r.Form == nil {
			v.fault(content.CodeMissing, textNoData, "data")
		}
	case *content.Text, *content.Thinking, *content.ServerToolUse, *content.ServerToolResult:
	default:
		v.fault(content.CodeUnsupported, "a part of this kind cannot be said in this format")
	}
}

// called checks the name of a function that was called.
func (v *validator) called(name string, names ...string) {
	if name == "" {
		v.fault(content.CodeMissing, "Name cannot be empty.", append(names, "name")...)
	}
}

// response checks the files of a result.
func (v *validator) response(r *content.ToolResult) {
	n := 0
	for _, p := range r.Parts {
		if _, ok := p.(*content.Text); ok && !content.IsNil(p) {
			continue
		}
		v.path.Push("parts")
		v.path.PushIndex(n)
		n++
		switch s, _ := sourceOf(p); p.(type) {
		case *content.Unknown:
		case *content.Image, *content.Document, *content.Media:
			v.source(s)
		default:
			v.fault(content.CodeUnsupported, "a function response holds texts and files")
		}
		v.path.Pop()
		v.path.Pop()
	}
}

// pairing checks that the calls of the model are answered in the next turn, all
// of them and nothing else. What the model says in several turns is one. So is
// what the user says, but for Strict: the vendor wants all results in one turn,
// and clients send each in a turn of its own.
func (v *validator) pairing() {
	turns := v.r.Contents
	var calls []*content.ToolUse
	first := 0 // the turn of the first of the calls
	for i := 0; i < len(turns); i++ {
		if turns[i].Role == content.RoleAssistant {
			for _, p := range turns[i].Parts {
				if c, ok := p.(*content.ToolUse); ok && c != nil {
					if len(calls) == 0 {
						first = i
					}
					calls = append(calls, c)
				}
			}
			if i == 0 && len(calls) > 0 {
				v.at(i, content.CodeOrder, "Please ensure that function call turn comes immediately after a user turn "+
					"or after a function response turn.")
			}
			continue
		}
		from := i
		for !v.rules.Strict && i+1 < len(turns) && turns[i+1].Role != content.RoleAssistant {
			i++
		}
		v.answers(from, i+1, calls)
		calls = calls[:0]
	}
	if len(calls) > 0 {
		v.at(first, content.CodePairing, textCount)
	}
}

const textCount = "Please ensure that the number of function response parts is equal to the number of function call parts " +
	"of the function call turn."

// at notes a fault of a turn.
func (v *validator) at(turn int, code content.Code, text string) {
	v.path.PushIndex(turn)
	v.fault(code, text)
	v.path.Pop()
}

// answers checks the results in the user's turns from first up to end against the
// calls before them.
func (v *validator) answers(first, end int, calls []*content.ToolUse) {
	n, at := 0, first // the results, and the turn of the first of them
	for i := first; i < end; i++ {
		for _, p := range v.r.Contents[i].Parts {
			if r, ok := p.(*content.ToolResult); ok && r != nil {
				if n++; n == 1 {
					at = i
				}
			}
		}
	}
	switch {
	case n == 0 && len(calls) == 0:
		return
	case len(calls) == 0:
		v.at(at, content.CodeOrder, "Please ensure that function response turn comes immediately after a function call turn.")
		return
	case n != len(calls):
		v.at(at, content.CodePairing, textCount)
		return
	}
	v.pairs.Open(calls)
	for i := at; i < end; i++ {
		parts := v.r.Contents[i].Parts
		for k, to := range v.pairs.Pair(parts) {
			r, ok := parts[k].(*content.ToolResult)
			if !ok || r == nil || r.Name == "" || to >= 0 { // a name that is missing was told
				continue
			}
			v.path.PushIndex(i)
			v.path.Push("parts")
			v.path.PushIndex(v.r.original(i, k))
			v.fault(content.CodePairing, "the function call turn before has no open call of this function", "function_response", "name")
			v.path.Pop()
			v.path.Pop()
			v.path.Pop()
		}
	}
	v.pairs.Reset()
}
