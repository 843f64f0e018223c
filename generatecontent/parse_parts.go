package generatecontent

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/object"
	"github.com/polywire/polywire/internal/partfield"
)

// parts parses the parts of a turn. It drops parts without data. If no other part
// remains, the first of them becomes an empty text.
func (p *parser) parts(f *object.Field, v jsonwire.Value) []content.Part {
	n := size(v)
	if n == 0 || !p.Quota.Parts(n) {
		return nil
	}
	list := p.lists.List(n, p.Size)
	dropped := &p.origin.dropped
	if p.turn < 0 {
		dropped = &p.origin.droppedSystem
	}
	before := len(*dropped)
	p.emptyText = false
	p.Each(f, v, func(k int, x jsonwire.Value) {
		if part := p.part(x); part != nil {
			list = append(list, part)
		} else {
			*dropped = append(*dropped, place{p.turn, k})
		}
	})
	if len(list) == 0 {
		*dropped = append((*dropped)[:before], (*dropped)[before+1:]...)
		list = append(list, p.texts.New(p.Size))
		if !p.emptyText {
			p.origin.inserted = append(p.origin.inserted, p.turn)
		}
	}
	return list
}

// A member is a member of an object: its field, its name in the document, and its value.
type member struct {
	field *object.Field
	name  string
	value jsonwire.Value
}

// part parses one part. It returns nil for a part without data. A value that is not a
// part becomes an Unknown without a kind, which keeps the indices of later parts.
func (p *parser) part(v jsonwire.Value) content.Part {
	if !p.isObject(v, part) {
		return p.BadPart(v, p.IsOver())
	}
	var seen object.Members
	var data member
	side := sideMembers{part: v}
	for name, x := range v.Members() {
		f, _ := p.field(&seen, partType, name)
		switch {
		case f == nil:
			side.hasMore = true
			if side.unknown == "" && x.Kind() == jsonwire.Object {
				side.unknown = name
			}
		case x.Kind() == jsonwire.Null:
		case f.IsTag:
			p.oneOf(&data, member{f, name, x})
		case f.Value == thought:
			side.thought, side.hasThought = p.Flag(f, name, x), true
		case f.Value == signature:
			side.signature.Data, side.hasSignature = p.bytes(f, name, x), true
			p.countState(side.signature.Data)
		default:
			side.hasMore = true
		}
	}
	if side.signature.Data != "" {
		side.signature.Format = Format
	}
	switch {
	case data.field == nil && side.unknown != "":
		return p.Other(side.unknown, v)
	case data.field == nil, data.field.Value == anyText:
		return p.textPart(data, &side)
	}
	return p.dataPart(data, &side)
}

// countState counts the state of another vendor that a signature carries.
func (p *parser) countState(sig string) {
	if p.into == nil || p.Quota.Exceeded() || !envelope.IsEnvelopeBase64(sig) {
		return
	}
	e, _ := envelope.DecodeBase64(sig)
	p.Quota.State(e.States(p.Quota.PartsLeft()), len(sig))
}

// oneOf sets the data of a part, or records a violation: a part has only one.
func (p *parser) oneOf(data *member, next member) {
	if data.field != nil {
		p.secondData(next.field)
		return
	}
	*data = next
}

func (p *parser) secondData(f *object.Field) {
	p.Violation(content.CodeType, "", "Invalid value at '"+p.Path.At()+
		"' (oneof), oneof field 'data' is already set. Cannot set '"+f.Name+"'")
}

// sideMembers are the members of a part besides its data, such as thought.
type sideMembers struct {
	part         jsonwire.Value
	hasThought   bool // the part has thought
	thought      bool
	hasSignature bool // the part has a signature
	signature    content.Signature
	hasMore      bool   // the part has other members
	unknown      string // the name of the first object with an unknown name
}

// textPart parses text or thinking.
func (p *parser) textPart(data member, side *sideMembers) content.Part {
	s := ""
	if data.value.Exists() {
		if data.value.Kind() != jsonwire.String {
			p.Mismatch(data.field, data.name, data.value)
		}
		s = data.value.Str()
	}
	if s == "" && side.signature.Data == "" && !side.hasMore {
		p.emptyText = p.emptyText || data.value.Exists()
		return nil
	}
	if side.thought {
		t := p.thoughts.New(p.Size)
		t.Text, t.Signature, t.Extra = s, side.signature, p.partExtra(side, thinkingPart)
		return t
	}
	t := p.texts.New(p.Size)
	t.Text, t.Signature, t.Extra = s, side.signature, p.partExtra(side, textPart)
	return t
}

// partExtra returns the members of a part of type t that are kept as JSON text.
func (p *parser) partExtra(side *sideMembers, t *object.Type) *content.Extra {
	if !side.hasMore && !(side.hasThought && !t.Holds("thought")) && !(side.hasSignature && !t.Holds("thoughtSignature")) {
		return nil
	}
	return p.Extra(side.part, t)
}

// innerExtra is partExtra for a part whose data is an object. If more is set, it includes
// the members of the object that are kept as JSON text, in an object of the same name.
func (p *parser) innerExtra(side *sideMembers, t *object.Type, data member, more bool) *content.Extra {
	if !more {
		return p.partExtra(side, t)
	}
	b := codec.AppendName(p.Extras.Begin(), data.field.Name)
	p.Path.Push(data.field.Alias)
	b = append(p.appendKept(append(b, '{'), data.value, data.field.Value.Object), '}')
	p.Path.Pop()
	if bytes.HasSuffix(b, []byte(`:{}`)) { // all of them were null
		return p.partExtra(side, t)
	}
	return p.newExtra(p.appendKept(b, side.part, t))
}

// dataPart parses a part other than text.
func (p *parser) dataPart(data member, side *sideMembers) content.Part {
	switch data.field.Value.Object {
	case blobType, fileType:
		extra := p.partExtra(side, mediaPart) // the types of files keep the same members
		return p.file(p.source(data), side.signature, extra)
	case callType:
		return p.call(data, side)
	case responseType:
		return p.functionResponse(data, side)
	case codeType, serverCallType:
		return p.serverCall(data, side)
	}
	return p.serverResult(data, side)
}

// source parses inline data or a file reference. It never returns nil.
func (p *parser) source(data member) content.Source {
	inline := data.field.Value.Object == blobType
	if !p.Enter(data.field, data.name, data.value) {
		if inline {
			return p.base64s.New(1)
		}
		return new(content.File)
	}
	defer p.Path.Pop()
	if inline {
		s := p.base64s.New(1)
		p.Read(data.value, blobType, s)
		return s
	}
	s := new(content.File)
	p.Read(data.value, fileType, s)
	if isLink(s.ID) {
		return &content.URL{URL: s.ID, MediaType: s.MediaType, Extra: s.Extra}
	}
	return s
}

// inlineData parses the data of a file. The result is padded, in the standard alphabet.
func (p *parser) inlineData(f *object.Field, name string, x jsonwire.Value) string {
	s, standard, e := x.LenientBase64()
	switch {
	case e == jsonwire.Base64Empty, x.Kind() == jsonwire.Null:
		return ""
	case e == jsonwire.Base64NotString:
		p.Mismatch(f, name, x)
		return ""
	case e != 0:
		p.Path.Push(f.Alias)
		p.notBase64(f.Value, x)
		p.Path.Pop()
		return ""
	case !standard:
		s = standardBase64(s)
	}
	p.origin.KeepBase64(s)
	return s
}

// standardBase64 converts valid base64 to the standard alphabet with padding.
func standardBase64(s string) string {
	b := make([]byte, len(s), len(s)+2)
	for i := range len(s) {
		switch c := s[i]; c {
		case '-':
			b[i] = '+'
		case '_':
			b[i] = '/'
		default:
			b[i] = c
		}
	}
	for len(b)%4 != 0 {
		b = append(b, '=')
	}
	return string(b)
}

// file returns the part for a file, which depends on the media type.
func (p *parser) file(s content.Source, sig content.Signature, x *content.Extra) content.Part {
	t := partfield.MediaTypeOf(s)
	switch {
	case strings.HasPrefix(t, "image/"):
		i := p.images.New(1)
		i.Source, i.Signature, i.Extra = s, sig, x
		return i
	case strings.HasPrefix(t, "audio/"), strings.HasPrefix(t, "video/"):
		return &content.Media{Source: s, Signature: sig, Extra: x}
	}
	if b, ok := s.(*content.Base64); ok && t != "application/pdf" {
		p.Quota.Bytes(len(b.Data)) // other formats get the text
	}
	return &content.Document{Source: s, Signature: sig, Extra: x}
}

// call parses a function call.
func (p *parser) call(data member, side *sideMembers) content.Part {
	t := p.calls.New(p.Size)
	t.Signature = side.signature
	if p.Enter(data.field, data.name, data.value) {
		more := p.ReadFields(data.value, callType, t)
		p.Path.Pop()
		t.Extra = p.innerExtra(side, callPart, data, more)
	}
	return t
}

// functionResponse parses a function response.
func (p *parser) functionResponse(data member, side *sideMembers) content.Part {
	t := p.results.New(p.Size)
	if !p.Enter(data.field, data.name, data.value) {
		return t
	}
	p.response, p.files = jsonwire.Value{}, jsonwire.Value{}
	more := p.ReadFields(data.value, responseType, t)
	text, texts := p.resultText(t, p.response)
	files := size(p.files)
	if !p.Quota.Parts(texts + files) {
		return t
	}
	if texts+files > 0 {
		t.Parts = p.lists.List(texts+files, p.Size)
	}
	if texts > 0 {
		s := p.texts.New(p.Size)
		s.Text = text
		t.Parts = append(t.Parts, s)
	}
	if files > 0 {
		f := responseType.Find("parts")
		p.Each(f, p.files, func(_ int, x jsonwire.Value) { t.Parts = append(t.Parts, p.responsePart(x)) })
	}
	p.Path.Pop()
	t.Extra = p.innerExtra(side, resultPart, data, more)
	return t
}

// resultText sets t.Error, and t.Object if the text does not contain the whole response
// object. It returns the text of the result; n is the number of texts, 0 or 1.
func (p *parser) resultText(t *content.ToolResult, v jsonwire.Value) (text string, n int) {
	if v.Len() == 0 {
		return "", 0
	}
	text, t.Error, n = resultText(v)
	if only, name := v.Len() == 1, "output"; only {
		if t.Error {
			name = "error"
		}
		if x := v.Get(name); x.Kind() == jsonwire.String {
			return text, n
		}
	}
	t.Object = v.Raw()
	return text, n
}

// resultText returns the text of a response object, and whether the function failed. n
// is 1.
func resultText(v jsonwire.Value) (text string, failed bool, n int) {
	e := v.Get("error")
	failed = e.Exists() && e.Kind() != jsonwire.Null
	if v.Len() == 1 {
		for name, x := range v.Members() {
			switch name {
			case "output", "result", "error":
				if x.Kind() == jsonwire.String {
					return x.Str(), failed, 1
				}
				return x.Raw(), failed, 1
			}
		}
	}
	return v.Raw(), failed, 1
}

// responsePart parses a file in a function response.
func (p *parser) responsePart(v jsonwire.Value) content.Part {
	if !p.isObject(v, responsePart) {
		return p.BadPart(v, p.IsOver())
	}
	var seen object.Members
	var data member
	unknown, more := "", false
	for name, x := range v.Members() {
		switch f, _ := p.field(&seen, responsePartType, name); {
		case f == nil:
			unknown, more = name, true
		case x.Kind() == jsonwire.Null:
		case !f.IsTag:
			more = true
		default:
			p.oneOf(&data, member{f, name, x})
		}
	}
	if data.field == nil {
		return p.Other(unknown, v)
	}
	var extra *content.Extra
	if more {
		extra = p.Extra(v, responsePartType)
	}
	return p.file(p.source(data), content.Signature{}, extra)
}

// serverCall parses a call of a built-in tool.
func (p *parser) serverCall(data member, side *sideMembers) content.Part {
	t := &content.ServerToolUse{Format: Format, Kind: data.field.Name, Signature: side.signature}
	if !p.Enter(data.field, data.name, data.value) {
		return t
	}
	of := data.field.Value.Object
	more := p.ReadFields(data.value, of, t)
	if of == codeType {
		t.Name, t.Input = "codeExecution", p.keptObject(data.value, of)
		more = false
	}
	p.Path.Pop()
	t.Extra = p.innerExtra(side, serverCallPart, data, more)
	return t
}

// serverResult parses the result of a built-in tool.
func (p *parser) serverResult(data member, side *sideMembers) content.Part {
	t := &content.ServerToolResult{Format: Format, Kind: data.field.Name, Signature: side.signature}
	if p.Enter(data.field, data.name, data.value) {
		of := data.field.Value.Object
		p.ReadFields(data.value, of, t)
		t.Content = p.keptObject(data.value, of)
		p.Path.Pop()
		t.Extra = p.partExtra(side, serverResultPart)
	}
	return t
}

// size returns the length of a list. A single value is a list of one.
func size(v jsonwire.Value) int {
	switch v.Kind() {
	case jsonwire.Array:
		return v.Len()
	case jsonwire.Null, jsonwire.None:
		return 0
	}
	return 1
}

// string parses an enum, base64, or a value that is kept as JSON text. old is the text of the Go
// field, which another member may have set.
func (p *parser) string(f *object.Field, name string, x jsonwire.Value, old string) string {
	v := f.Value
	switch {
	case v.Kinds == object.Any:
		switch {
		case x.Kind() == jsonwire.Null, v.Schema && !p.Quota.Schema(x.Size()):
			return old
		case old != "":
			p.Violation(content.CodeUnknown, "", p.unknownNameText(name, "The field is already set in another spelling."))
		}
		return x.Raw()
	case v.Schema && !p.Quota.Schema(x.Size()):
		return ""
	case v.Enum != nil:
		return p.choice(f, name, x)
	case v == fileBytes:
		return p.inlineData(f, name, x)
	}
	text := p.keptJSON(f, name, x)
	if v == openAPI && p.validSchema {
		p.origin.responseSchema = text
	}
	return text
}

// enums parses a list of enums.
func (p *parser) enums(f *object.Field, v jsonwire.Value) []string {
	n := size(v)
	if n == 0 {
		return nil
	}
	list := make([]string, n)
	p.Each(f, v, func(k int, x jsonwire.Value) { list[k] = p.enumAt(f.Value.Elem, x) })
	return list
}

// choice parses an enum. It returns "" for a value that is not set.
func (p *parser) choice(f *object.Field, name string, x jsonwire.Value) string {
	if x.Kind() == jsonwire.Null {
		return ""
	}
	e := f.Value.Enum
	s := enumValue(e, x)
	switch {
	case s == "":
		p.Mismatch(f, name, x)
	case isUnset(e, s):
		return ""
	case !slices.Contains(e.Values, s): // bounded by Enum
		p.Path.Push(f.Alias)
		p.unknownValue(f.Value, x)
		p.Path.Pop()
	}
	return s
}

// enumAt parses the enum at the path.
func (p *parser) enumAt(v *object.Value, x jsonwire.Value) string {
	s := enumValue(v.Enum, x)
	if s == "" {
		p.Kind(v, x)
	} else if !slices.Contains(v.Enum.Values, s) { // bounded by Enum
		p.unknownValue(v, x)
	}
	return s
}

// bytes parses base64. It returns the text of the document, in either alphabet.
func (p *parser) bytes(f *object.Field, name string, x jsonwire.Value) string {
	if x.Kind() == jsonwire.Null {
		return ""
	}
	s, _, e := x.LenientBase64()
	switch e {
	case 0:
		return s
	case jsonwire.Base64Empty:
	case jsonwire.Base64NotString:
		p.Mismatch(f, name, x)
	default:
		p.Path.Push(f.Alias)
		p.notBase64(f.Value, x)
		p.Path.Pop()
	}
	return ""
}

// syntaxViolation returns the violation for a document that is not valid JSON.
func syntaxViolation(err error) *content.Violation {
	const head = "Invalid JSON payload received. "
	e, ok := err.(*jsonwire.SyntaxError)
	if !ok {
		return &content.Violation{Code: content.CodeSyntax, Text: head + err.Error()}
	}
	code := content.CodeSyntax
	switch e.Reason {
	case jsonwire.Empty: // the vendor treats an empty body as one without members
		return &content.Violation{Code: content.CodeMissing, Path: "contents", Text: textNoContents}
	case jsonwire.TooDeep, jsonwire.TooManyValues, jsonwire.TooLong:
		code = content.CodeLimit
	}
	return &content.Violation{Code: code, Text: head + strings.ToUpper(e.Text[:1]) + e.Text[1:] +
		" at line " + strconv.Itoa(e.Line) + ", column " + strconv.Itoa(e.Column)}
}
