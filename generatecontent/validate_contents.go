package generatecontent

import (
	"slices"
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/geminifile"
	"github.com/polywire/polywire/internal/media"
	"github.com/polywire/polywire/internal/partfield"
)

const textNoContents = "contents is not specified"

const textNoData = "required oneof field 'data' must have one initialized field"

// contents checks each turn, and then the order of tool calls and results.
func (v *validator) contents() {
	turns := v.r.Contents
	if len(turns) == 0 {
		v.violation(content.CodeMissing, textNoContents, "contents")
		return
	}
	v.path.Push("contents")
	for i := range turns {
		v.path.PushIndex(i)
		v.turn(i, &turns[i])
		v.path.Pop()
	}
	if v.files > 0 {
		if limit := fileLimits(&v.opts.Limits).Files; v.files > limit {
			v.violation(content.CodeLimit, "too many files in the request: "+strconv.Itoa(v.files)+", the limit is "+
				strconv.Itoa(limit))
		}
	}
	if !v.opts.Count && !v.isUnclear() {
		v.pairing()
	}
	v.path.Pop()
}

// isUnclear reports whether parsing found a violation at the path, followed by names,
// or below it. Rules about the whole value, such as the number of tool calls, do not
// apply then.
func (v *validator) isUnclear(names ...string) bool {
	o := v.parsed
	return o != nil && o.Violations.WithinPath(&v.path, names...)
}

func (v *validator) turn(i int, t *content.Turn) {
	switch {
	case t.Role == content.RoleUser, t.Role == content.RoleAssistant:
	case t.Role == "" && v.r.origin != nil: // parsing reported it
	default:
		v.violation(content.CodeValue, "Please use a valid role: user, model.", "role")
	}
	if len(t.Parts) == 0 {
		v.violation(content.CodeMissing, "contents.parts must not be empty", "parts")
		return
	}
	v.path.Push("parts")
	dropped, n := v.r.droppedFrom(i), 0
	for k, p := range t.Parts {
		for n < len(dropped) && dropped[n].inner-n <= k {
			n++
		}
		v.path.PushIndex(k + n)
		v.part(p, t.Role)
		v.path.Pop()
	}
	// The vendor accepts an empty text, but not a part without data. Google's Go SDK writes
	// an empty response of the model as such a part.
	if t.Role == content.RoleUser && v.r.isMadeUp(i) && isSilent(t.Parts) && !v.isUnclear() {
		v.path.PushIndex(v.r.original(i, 0))
		v.violation(content.CodeMissing, textNoData, "data")
		v.path.Pop()
	}
	v.path.Pop()
}

// isMadeUp reports whether the document had no part with data in a turn.
func (r *Request) isMadeUp(turn int) bool {
	if r.origin == nil {
		return false
	}
	_, found := slices.BinarySearch(r.origin.inserted, turn)
	return found
}

// isSilent reports whether all parts are empty texts without a signature.
func isSilent(parts []content.Part) bool {
	for _, p := range parts {
		if t, ok := p.(*content.Text); !ok || t == nil || t.Text != "" || t.Signature.Data != "" {
			return false
		}
	}
	return true
}

// system checks the system instruction, which contains only texts.
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
			if !v.parsingReported() {
				v.violation(content.CodeValue, "system_instruction supports only text content")
			}
			v.path.Pop()
		}
	}
	v.path.Pop()
	v.path.Pop()
}

// part checks one part of a turn. Parts of a turn without a valid role may be of any
// kind.
func (v *validator) part(p content.Part, role content.Role) {
	if content.IsNil(p) {
		v.violation(content.CodeMissing, textNoData, "data")
		return
	}
	switch q := p.(type) {
	case *content.Image, *content.Document, *content.Media:
		v.source(partfield.SourceOf(p))
	case *content.ToolUse:
		if role == content.RoleUser {
			v.violation(content.CodeOrder, "only the model can make function calls", "function_call")
		}
		v.functionName(q.Name, "function_call")
	case *content.ToolResult:
		if role == content.RoleAssistant {
			v.violation(content.CodeOrder, "only the user can send function responses", "function_response")
		}
		v.path.Push("function_response")
		v.functionName(q.Name)
		v.response(q)
		v.path.Pop()
	case *content.Unknown:
		if q.Kind == "" && v.r.origin == nil {
			v.violation(content.CodeMissing, textNoData, "data")
		}
	case *content.Text, *content.Thinking, *content.ServerToolUse, *content.ServerToolResult:
	default: // other kinds are refused
		v.violation(content.CodeUnsupported, "a request in this format cannot contain a part of this kind")
	}
}

// functionName checks the name in a function call or response.
func (v *validator) functionName(name string, names ...string) {
	if name == "" {
		v.violation(content.CodeMissing, "Name cannot be empty.", append(names, "name")...)
	}
}

// response checks the files of a function response.
func (v *validator) response(r *content.ToolResult) {
	n := 0
	for _, p := range r.Parts {
		if _, ok := p.(*content.Text); ok && !content.IsNil(p) {
			continue
		}
		v.path.Push("parts")
		v.path.PushIndex(n)
		n++
		switch p.(type) {
		case *content.Unknown:
		case *content.Image, *content.Document, *content.Media:
			v.source(partfield.SourceOf(p))
		default: // other kinds are not files
			v.violation(content.CodeUnsupported, "a function response contains only texts and files")
		}
		v.path.Pop()
		v.path.Pop()
	}
}

// pairing checks that the turn after function calls has exactly one response for each.
// Adjacent turns of the model count as one turn. So do adjacent user turns, except under
// Strict: the vendor requires all responses in one turn, but clients send several.
func (v *validator) pairing() {
	turns := v.r.Contents
	var calls []*content.ToolUse
	first := 0 // the turn of the first call
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
				v.turnViolation(i, content.CodeOrder, "Please ensure that function call turn comes immediately after a user turn "+
					"or after a function response turn.")
			}
			continue
		}
		from := i
		for !v.opts.Strict && i+1 < len(turns) && turns[i+1].Role != content.RoleAssistant {
			i++
		}
		v.results(from, i+1, calls)
		calls = calls[:0]
	}
	if len(calls) > 0 {
		v.turnViolation(first, content.CodePairing, textResultCount)
	}
}

const textResultCount = "Please ensure that the number of function response parts is equal to the number of function call parts " +
	"of the function call turn."

// turnViolation records a violation of a turn.
func (v *validator) turnViolation(turn int, code content.Code, text string) {
	v.path.PushIndex(turn)
	v.violation(code, text)
	v.path.Pop()
}

// results checks the results in the user turns from first up to end against the calls
// before them.
func (v *validator) results(first, end int, calls []*content.ToolUse) {
	n, at := 0, first // the number of results, and the turn of the first
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
		v.turnViolation(at, content.CodeOrder, "Please ensure that function response turn comes immediately after a function call turn.")
		return
	case n != len(calls):
		v.turnViolation(at, content.CodePairing, textResultCount)
		return
	}
	v.pairs.Open(calls)
	for i := at; i < end; i++ {
		parts := v.r.Contents[i].Parts
		for k, to := range v.pairs.Pair(parts) {
			r, ok := parts[k].(*content.ToolResult)
			if !ok || r == nil || r.Name == "" || to >= 0 { // a missing name has been reported
				continue
			}
			v.path.PushIndex(i)
			v.path.Push("parts")
			v.path.PushIndex(v.r.original(i, k))
			v.violation(content.CodePairing, "the previous function call turn has no call of this function without a response", "function_response", "name")
			v.path.Pop()
			v.path.Pop()
			v.path.Pop()
		}
	}
	v.pairs.Reset()
}

const maxURI = 8 << 10

// source checks the source of a file.
func (v *validator) source(s content.Source) {
	v.files++
	switch s := s.(type) { // other kinds have no wire form
	case *content.Base64:
		if s != nil {
			v.path.Push("inline_data")
			v.inline(s)
			v.path.Pop()
			return
		}
	case *content.PlainText:
		if s != nil {
			return
		}
	case *content.URL:
		if s != nil {
			v.fileData(s.URL, s.MediaType)
			return
		}
	case *content.File:
		if s != nil {
			v.fileData(s.ID, s.MediaType)
			return
		}
	}
	v.violation(content.CodeMissing, textNoData, "data")
}

// fileData checks a file reference. It does not check that the file exists or may be
// fetched.
func (v *validator) fileData(uri, mediaType string) {
	v.path.Push("file_data")
	defer v.path.Pop()
	v.mediaType(mediaType)
	switch {
	case uri == "":
		v.violation(content.CodeMissing, "file_uri must be set", "file_uri")
	case len(uri) > maxURI:
		v.violation(content.CodeRange, "file_uri should have at most "+strconv.Itoa(maxURI)+" characters", "file_uri")
	case strings.ContainsFunc(uri, func(r rune) bool { return r <= ' ' || r == 0x7F || r == '\\' }):
		v.violation(content.CodeValue, "Invalid or unsupported file uri: it has white space, control characters or backslashes", "file_uri")
	case !isLink(uri) && !geminifile.IsID(uri):
		// The URI is not repeated: it may hold a password or a signature.
		v.violation(content.CodeValue, "Invalid or unsupported file uri; accepted are URLs of http and https, files/… and gs://…", "file_uri")
	}
}

// mediaType checks that a media type is set and supported.
func (v *validator) mediaType(t string) bool {
	switch {
	case t == "":
		v.violation(content.CodeMissing, "mime_type must be set", "mime_type")
	case !geminifile.IsMediaType(t) && !slices.Contains(v.opts.MediaTypes, t): // bounded by the host
		v.violation(content.CodeValue, "Unsupported MIME type: "+codec.Clip(t), "mime_type")
	default:
		return true
	}
	return false
}

// inline checks inline data against its media type and the limits.
func (v *validator) inline(s *content.Base64) {
	good := v.mediaType(s.MediaType)
	if s.Data == "" {
		if !v.parsingReported("data") {
			v.violation(content.CodeMissing, "data must be set", "data")
		}
		return
	}
	lim := fileLimits(&v.opts.Limits)
	r := media.File{MediaType: s.MediaType, Data: s.Data}.Check(v.ruleFor(s.Data), codec.MediaLimits(lim))
	if text, code := fileText(&r, lim); text != "" && (good || r.Violation != media.FileType) {
		name := "data"
		if r.Violation == media.FileType {
			name = "mime_type"
		}
		v.violation(code, text, name)
	}
}

// fileText returns the text and code of a violation of a file.
func fileText(r *media.FileReport, lim content.Limits) (string, content.Code) {
	switch r.Violation {
	case 0:
		return "", ""
	case media.FileTooLarge:
		return "the file has " + strconv.FormatInt(r.Size, 10) + " bytes, the limit is " +
			strconv.FormatInt(lim.FileBytes, 10), content.CodeLimit
	case media.FileEncoding:
		return "Base64 decoding failed: the data " + r.Detail, content.CodeMedia
	case media.FileType:
		if r.Actual == "" {
			return "the bytes are not those of a file of type " + codec.Clip(r.Declared), content.CodeMedia
		}
		return "the bytes are not of type " + codec.Clip(r.Declared) + " but " + r.Actual, content.CodeMedia
	case media.FileSide:
		return "Unable to process input image: it may have at most " + strconv.Itoa(lim.ImageSide) +
			" pixels in width and height", content.CodeLimit
	case media.FilePixels:
		return "Unable to process input image: it may have at most " + strconv.FormatInt(lim.ImagePixels, 10) +
			" pixels", content.CodeLimit
	case media.FileHeader:
		return "Unable to process input image: the file " + r.Violation.String(), content.CodeMedia
	}
	return "the file " + r.Violation.String(), content.CodeMedia
}

// ruleFor returns how to check base64 data.
func (v *validator) ruleFor(data string) media.Base64Rule {
	if v.r.origin == nil {
		return media.Base64Any
	}
	return v.r.origin.Base64Rule(data, &v.base64, media.Base64Any)
}
