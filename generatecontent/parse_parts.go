package generatecontent

import (
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
)

// parts parses the parts of a turn. It drops parts without data. If no other part
// remains, the first of them becomes an empty text.
func (p *parser) parts(v jsonwire.Value) []content.Part {
	n := size(v)
	if n == 0 {
		return nil
	}
	if !p.quota.Parts(n) {
		return nil
	}
	list := p.lists.List(n, p.size)
	dropped := &p.origin.dropped
	if p.turn < 0 {
		dropped = &p.origin.droppedSystem
	}
	before := len(*dropped)
	p.emptyText = false
	p.each(v, contentFields, fParts, func(k int, x jsonwire.Value) {
		if part := p.part(x); part != nil {
			list = append(list, part)
		} else {
			*dropped = append(*dropped, place{p.turn, k})
		}
	})
	if len(list) == 0 {
		*dropped = append((*dropped)[:before], (*dropped)[before+1:]...)
		list = append(list, p.texts.New(p.size))
		if !p.emptyText {
			p.origin.inserted = append(p.origin.inserted, p.turn)
		}
	}
	return list
}

// A member is a member of an object: its field, its name in the document, and its value.
type member struct {
	field int
	name  string
	value jsonwire.Value
}

// part parses one part. It returns nil for a part without data. A value that is not a
// part becomes an Unknown without a kind, which keeps the indices of later parts.
func (p *parser) part(v jsonwire.Value) content.Part {
	if !p.isObject(v, partFields) {
		return p.otherPart("", v)
	}
	o, data, side := openObject{m: partFields}, member{field: -1}, sideMembers{part: v}
	for name, x := range v.Members() {
		switch i := p.field(&o, name); {
		case i >= 0 && x.Kind() == jsonwire.Null:
		case i < 0:
			side.hasMore = true
			if side.unknown.name == "" && x.Kind() == jsonwire.Object {
				side.unknown = member{-1, name, x}
			}
		case i < partData && data.field >= 0:
			p.violation(content.CodeType, "Invalid value at '"+p.path.At()+
				"' (oneof), oneof field 'data' is already set. Cannot set '"+partFields.camel[i]+"'")
		case i < partData:
			data = member{i, name, x}
		case i == fThought:
			side.thought, side.hasThought = p.optFlag(x, partFields, i, name), true
		case i == fSignature:
			side.signature.Data, side.hasSignature = p.signature(x, name), true
		default:
			side.hasMore = true
		}
	}
	if side.signature.Data != "" {
		side.signature.Format = Format
	}
	if data.field == fText {
		return p.textPart(data, &side)
	}
	return p.dataPart(data, &side)
}

// otherPart returns a part as an Unknown.
func (p *parser) otherPart(kind string, v jsonwire.Value) content.Part {
	u := p.others.New(1)
	u.Format, u.Kind, u.Raw = Format, kind, v.Raw()
	return u
}

// sideMembers are the members of a part besides its data, such as thought.
type sideMembers struct {
	part         jsonwire.Value
	hasThought   bool // the part has thought
	thought      *bool
	hasSignature bool // the part has a signature
	signature    content.Signature
	hasMore      bool   // the part has other members
	unknown      member // the first object with an unknown name
}

// signature parses a signature.
func (p *parser) signature(x jsonwire.Value, name string) string {
	return p.bytes(x, partFields, fSignature, name)
}

// textPart parses text or thinking.
func (p *parser) textPart(data member, side *sideMembers) content.Part {
	s := ""
	if data.value.Exists() {
		if data.value.Kind() != jsonwire.String {
			p.mismatch(data.value, partFields, fText, data.name)
		}
		s = data.value.Str()
	}
	if s == "" && side.signature.Data == "" && !side.hasMore {
		p.emptyText = p.emptyText || data.value.Exists()
		return nil
	}
	if side.thought != nil && *side.thought {
		t := p.thoughts.New(p.size)
		t.Text, t.Signature, t.Extra = s, side.signature, p.partExtra(side, 1<<fThought|1<<fSignature)
		return t
	}
	t := p.texts.New(p.size)
	t.Text, t.Signature, t.Extra = s, side.signature, p.partExtra(side, 1<<fThought|1<<fSignature)
	return t
}

// partExtra returns the side members of a part that have no Go field. typed is the set
// of those that have one.
func (p *parser) partExtra(side *sideMembers, typed uint64) *content.Extra {
	if !side.hasMore && (typed&(1<<fThought) != 0 || !side.hasThought) && (typed&(1<<fSignature) != 0 || !side.hasSignature) {
		return nil
	}
	return p.extraWithout(side.part, partFields, typed|(1<<partData-1))
}

// innerExtra is partExtra for a part whose data is an object. It includes the members of
// the object that have no Go field, in an object of the same name.
func (p *parser) innerExtra(side *sideMembers, but uint64, data member, m *message, typed int, more bool) *content.Extra {
	if !more {
		return p.partExtra(side, but)
	}
	b := codec.AppendName(p.extras.Begin(), partFields.camel[data.field])
	b = append(p.appendExtra(append(b, '{'), data.value, m, 1<<typed-1), '}')
	if strings.HasSuffix(string(b), `:{}`) { // all of them were null
		return p.partExtra(side, but)
	}
	return p.newExtra(p.appendExtra(b, side.part, partFields, but|(1<<partData-1)))
}

// dataPart parses a part other than text.
func (p *parser) dataPart(data member, side *sideMembers) content.Part {
	switch data.field {
	case fInline, fFile:
		extra := p.partExtra(side, 1<<fSignature)
		return p.file(p.source(data, partFields), side.signature, extra)
	case fCall:
		return p.call(data, side)
	case fResponse:
		return p.response(data, side)
	case fCode, fServerCall:
		return p.serverCall(data, side)
	case fCodeResult, fServerResponse:
		return p.serverResponse(data, side)
	}
	if side.unknown.name != "" {
		return p.otherPart(side.unknown.name, side.part)
	}
	return p.textPart(data, side)
}

// source parses inline data or a file reference. It never returns nil.
func (p *parser) source(data member, in *message) content.Source {
	m := in.fields[data.field].of
	inline := m == blobFields
	s := p.base64s.New(1)
	if !p.enter(data.value, in, data.field, data.name) {
		if !inline {
			return new(content.File)
		}
		return s
	}
	o, more, uri := openObject{m: m}, false, ""
	for name, x := range data.value.Members() {
		switch i := p.field(&o, name); {
		case i == fBlobType:
			s.MediaType = p.text(x, m, i, name)
		case i == fBlobData && inline:
			s.Data = p.inlineData(x, name)
		case i == fFileURI:
			uri = p.text(x, m, i, name)
		default:
			more = true
		}
	}
	if more {
		s.Extra = p.extra(data.value, m, blobTyped)
	}
	p.path.Pop()
	if inline {
		return s
	}
	if isLink(uri) {
		return &content.URL{URL: uri, MediaType: s.MediaType, Extra: s.Extra}
	}
	return &content.File{ID: uri, MediaType: s.MediaType, Extra: s.Extra}
}

// inlineData parses the data of a file. The result is padded, in the standard alphabet.
func (p *parser) inlineData(x jsonwire.Value, name string) string {
	s, standard, e := x.LenientBase64()
	switch {
	case e == jsonwire.Base64Empty, x.Kind() == jsonwire.Null:
		return ""
	case e == jsonwire.Base64NotString:
		p.mismatch(x, blobFields, fBlobData, name)
		return ""
	case e != 0:
		p.path.Push("data")
		p.notBase64(x, blobFields, fBlobData)
		p.path.Pop()
		return ""
	case !standard:
		s = standardBase64(s)
	}
	if len(s) >= minValidated {
		p.origin.base64 = append(p.origin.base64, s)
	}
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
	t := mediaTypeOf(s)
	switch {
	case strings.HasPrefix(t, "image/"):
		i := p.images.New(1)
		i.Source, i.Signature, i.Extra = s, sig, x
		return i
	case strings.HasPrefix(t, "audio/"), strings.HasPrefix(t, "video/"):
		return &content.Media{Source: s, Signature: sig, Extra: x}
	}
	return &content.Document{Source: s, Signature: sig, Extra: x}
}

// mediaTypeOf returns the media type of a source.
func mediaTypeOf(s content.Source) string {
	switch s := s.(type) {
	case *content.Base64:
		if s != nil {
			return s.MediaType
		}
	case *content.URL:
		if s != nil {
			return s.MediaType
		}
	case *content.File:
		if s != nil {
			return s.MediaType
		}
	}
	return ""
}

// call parses a function call.
func (p *parser) call(data member, side *sideMembers) content.Part {
	t := p.calls.New(p.size)
	t.Signature = side.signature
	if !p.enter(data.value, partFields, fCall, data.name) {
		return t
	}
	m, o, more := callFields, openObject{m: callFields}, false
	for name, x := range data.value.Members() {
		switch i := p.field(&o, name); i {
		case fCallID:
			t.ID = p.text(x, m, i, name)
		case fCallName:
			t.Name = p.text(x, m, i, name)
		case fCallArgs:
			t.Input = p.keptJSON(x, m, i, name)
		default:
			more = true
		}
	}
	t.Extra = p.innerExtra(side, 1<<fSignature, data, m, callTyped, more)
	p.path.Pop()
	return t
}

// response parses a function response.
func (p *parser) response(data member, side *sideMembers) content.Part {
	t := p.results.New(p.size)
	if !p.enter(data.value, partFields, fResponse, data.name) {
		return t
	}
	m, o, more := responseFields, openObject{m: responseFields}, false
	var object, files jsonwire.Value
	for name, x := range data.value.Members() {
		switch i := p.field(&o, name); i {
		case fRespID:
			t.ID = p.text(x, m, i, name)
		case fRespName:
			t.Name = p.text(x, m, i, name)
		case fRespObject:
			if p.keptJSON(x, m, i, name) != "" {
				object = x
			}
		case fRespParts:
			files = x
		default:
			more = true
		}
	}
	text, texts := p.resultText(t, object)
	if !p.quota.Parts(texts + size(files)) {
		return t
	}
	t.Parts = p.lists.List(texts+size(files), p.size)
	if texts > 0 {
		s := p.texts.New(p.size)
		s.Text = text
		t.Parts = append(t.Parts, s)
	}
	if n := size(files); n > 0 {
		p.each(files, m, fRespParts, func(_ int, x jsonwire.Value) { t.Parts = append(t.Parts, p.responsePart(x)) })
	}
	if len(t.Parts) == 0 {
		t.Parts = nil
	}
	t.Extra = p.innerExtra(side, 0, data, m, responseTyped, more)
	p.path.Pop()
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
	if !p.isObject(v, responsePartFields) {
		return p.otherPart("", v)
	}
	o, data, unknown, more := openObject{m: responsePartFields}, member{field: -1}, "", false
	for name, x := range v.Members() {
		switch i := p.field(&o, name); {
		case i < 0:
			unknown, more = name, true
		case x.Kind() == jsonwire.Null:
		case data.field >= 0:
			p.violation(content.CodeType, "Invalid value at '"+p.path.At()+
				"' (oneof), oneof field 'data' is already set. Cannot set '"+responsePartFields.camel[i]+"'")
		default:
			data = member{i, name, x}
		}
	}
	if data.field < 0 {
		return p.otherPart(unknown, v)
	}
	var extra *content.Extra
	if more {
		extra = p.extraWithout(v, responsePartFields, 1<<fRespInline|1<<fRespFile)
	}
	return p.file(p.source(data, responsePartFields), content.Signature{}, extra)
}

// serverCall parses a call of a built-in tool.
func (p *parser) serverCall(data member, side *sideMembers) content.Part {
	t := &content.ServerToolUse{Format: Format, Kind: partFields.camel[data.field], Signature: side.signature}
	if !p.enter(data.value, partFields, data.field, data.name) {
		return t
	}
	m := partFields.fields[data.field].of
	if data.field == fCode {
		t.Name = "codeExecution"
		t.ID, t.Input = p.withoutID(data.value, m)
		t.Extra = p.partExtra(side, 1<<fSignature)
		p.path.Pop()
		return t
	}
	o, more := openObject{m: m}, false
	for name, x := range data.value.Members() {
		switch i := p.field(&o, name); i {
		case fServerID:
			t.ID = p.text(x, m, i, name)
		case fServerType:
			t.Name = p.choice(x, m, i, name)
		case fServerObject:
			t.Input = p.keptJSON(x, m, i, name)
		default:
			more = true
		}
	}
	t.Extra = p.innerExtra(side, 1<<fSignature, data, m, callTyped, more)
	p.path.Pop()
	return t
}

// serverResponse parses the result of a built-in tool.
func (p *parser) serverResponse(data member, side *sideMembers) content.Part {
	t := &content.ServerToolResult{Format: Format, Kind: partFields.camel[data.field], Signature: side.signature}
	if p.enter(data.value, partFields, data.field, data.name) {
		t.ID, t.Content = p.withoutID(data.value, partFields.fields[data.field].of)
		t.Extra = p.partExtra(side, 1<<fSignature)
		p.path.Pop()
	}
	return t
}

// withoutID returns the id of a built-in tool's call or result, and all other members.
func (p *parser) withoutID(v jsonwire.Value, m *message) (id, rest string) {
	canonical := p.checkMessage(v, m)
	for name, x := range v.Members() {
		if m.find(name) == fServerID {
			if x.Kind() == jsonwire.String {
				id = x.Str()
			}
			canonical = false
		}
	}
	if canonical {
		return "", v.Raw()
	}
	b := p.extras.Begin()
	for name, x := range v.Members() {
		switch i := m.find(name); {
		case i < 0:
			b = codec.AppendMember(b, name, x.Raw())
		case i != fServerID && x.Kind() != jsonwire.Null:
			b = rewrite(codec.AppendName(b, m.camel[i]), x, m, i)
		}
	}
	if rest = p.extras.End(b); rest == "" {
		rest = "{}"
	}
	return id, rest
}

// violation records a violation at the path.
func (p *parser) violation(code content.Code, text string) {
	if !p.full(code) {
		p.violations.Add(code, p.path.At(), text)
	}
}

// unknownNameText returns the vendor's text for a member that the object at the path
// must not have.
func (p *parser) unknownNameText(name, why string) string {
	text := "Invalid JSON payload received. Unknown name \"" + codec.Clip(name) + "\""
	if at := p.path.At(); at != "" {
		text += " at '" + at + "'"
	}
	return text + ": " + why
}

// unknownName records an unknown name. It is a violation if a lenient parser could
// confuse it with a known name, and otherwise only if Strict is set.
func (p *parser) unknownName(m *message, name string) {
	if known := m.similar(name); known != "" {
		if p.full(content.CodeUnknown) {
			return
		}
		p.violation(content.CodeUnknown, p.unknownNameText(name, "Cannot find field. Did you mean \""+known+"\"?"))
		return
	}
	unknown := &p.origin.unknown
	if unknown.Len() >= content.MaxViolations {
		unknown.Add(content.CodeUnknown, "", "") // counted, not stored
		return
	}
	unknown.Add(content.CodeUnknown, p.path.At(), p.unknownNameText(name, "Cannot find field."))
}

// unknownValue records the unknown value of an open enum at the path. It is a violation
// if Strict is set.
func (p *parser) unknownValue(x jsonwire.Value, f *field, m *message) {
	list := &p.origin.unknown
	if list.Len() >= content.MaxViolations {
		list.Add(content.CodeType, "", "") // counted, not stored
		return
	}
	list.Add(content.CodeType, p.path.At(), p.invalidValueText(f, m, quoted(x)))
}

// full reports whether the list of violations is full. If so, it counts the next
// violation, for which no text is then needed.
func (p *parser) full(code content.Code) bool {
	if p.violations.Len() < content.MaxViolations {
		return false
	}
	p.violations.Add(code, "", "")
	return true
}

// invalid records that the value at the path does not have a field's type.
func (p *parser) invalid(f *field, m *message, why string) {
	if p.full(content.CodeType) {
		return
	}
	p.violation(content.CodeType, p.invalidValueText(f, m, why))
}

func (p *parser) invalidValueText(f *field, m *message, why string) string {
	return "Invalid value at '" + p.path.At() + "' (" + p.typeName(f, m) + "), " + why
}

// quoted returns a value as error texts quote it.
func quoted(x jsonwire.Value) string {
	if x.Kind() == jsonwire.String && len(x.Raw()) > 64 {
		return "\"" + codec.Clip(x.Str()) + "\""
	}
	return codec.Clip(x.Raw())
}

// mismatch records a value of the wrong kind for a field of the object at the path.
// name is the client's spelling of the field.
func (p *parser) mismatch(x jsonwire.Value, m *message, i int, name string) {
	if p.full(content.CodeType) {
		return
	}
	if x.Kind() == jsonwire.Array {
		p.violation(content.CodeType, p.unknownNameText(name, "Proto field is not repeating, cannot start list."))
		return
	}
	p.path.Push(m.snake[i])
	p.wrongKind(x, &m.fields[i], m)
	p.path.Pop()
}

// wrongKind is mismatch for the value at the path.
func (p *parser) wrongKind(x jsonwire.Value, f *field, m *message) {
	switch {
	case x.Kind() == jsonwire.Object && !f.isMessage():
		p.invalid(f, m, "Starting an object on a scalar field")
	case x.Kind() == jsonwire.Array:
		p.invalid(f, m, "Proto field is not repeating, cannot start list.")
	default:
		p.invalid(f, m, quoted(x))
	}
}

func (f *field) isMessage() bool {
	switch f.kind {
	case kMessage, kStruct, kSelf, kSelfMap:
		return true
	}
	return false
}

// isObject reports whether v, the value at the path, is an object, and records a
// violation if not.
func (p *parser) isObject(v jsonwire.Value, m *message) bool {
	if v.Kind() == jsonwire.Object {
		return true
	}
	if p.full(content.CodeType) {
		return false
	}
	p.wrongKind(v, &field{kind: kMessage, of: m}, m)
	return false
}

// enter moves the path to a member and returns true if the member is an object.
// Otherwise it returns false, and records a violation unless the value is null.
func (p *parser) enter(x jsonwire.Value, m *message, i int, name string) bool {
	switch x.Kind() {
	case jsonwire.Object:
		p.path.Push(m.snake[i])
		return true
	case jsonwire.Null:
	default:
		p.mismatch(x, m, i, name)
	}
	return false
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

// each calls read for the elements of a list, or for a single value.
func (p *parser) each(v jsonwire.Value, m *message, i int, read func(k int, x jsonwire.Value)) {
	p.path.Push(m.snake[i])
	if v.Kind() == jsonwire.Array {
		for k, x := range v.Elems() {
			p.path.PushIndex(k)
			read(k, x)
			p.path.Pop()
		}
	} else {
		p.path.PushIndex(0)
		read(0, v)
		p.path.Pop()
	}
	p.path.Pop()
}

// text parses a string. It returns "" for null.
func (p *parser) text(x jsonwire.Value, m *message, i int, name string) string {
	switch x.Kind() {
	case jsonwire.String:
		return x.Str()
	case jsonwire.Null:
	default:
		p.mismatch(x, m, i, name)
	}
	return ""
}

// strings parses a list of strings.
func (p *parser) strings(v jsonwire.Value, m *message, i int) []string {
	n := size(v)
	if n == 0 {
		return nil
	}
	list := make([]string, n)
	p.each(v, m, i, func(k int, x jsonwire.Value) {
		if x.Kind() == jsonwire.String {
			list[k] = x.Str()
		} else {
			p.wrongKind(x, &m.fields[i], m)
		}
	})
	return list
}

// flag parses a boolean.
func (p *parser) flag(x jsonwire.Value, m *message, i int, name string) bool {
	b := p.optFlag(x, m, i, name)
	return b != nil && *b
}

// optFlag parses a boolean. It returns nil for null.
func (p *parser) optFlag(x jsonwire.Value, m *message, i int, name string) *bool {
	b, ok := x.Bool()
	if !ok {
		if x.Kind() != jsonwire.Null {
			p.mismatch(x, m, i, name)
		}
		return nil
	}
	return &b
}

// wholeNumber returns an integer of the given number of bits, which may be written as
// a string.
func wholeNumber(x jsonwire.Value, bits int) (int64, bool) {
	n, ok := x.Int()
	if s := x.Str(); x.Kind() == jsonwire.String && isNumber(s) {
		digits, fraction, _ := strings.Cut(s, ".")
		var err error
		n, err = strconv.ParseInt(digits, 10, 64)
		ok = err == nil && strings.Trim(fraction, "0") == ""
	}
	return n, ok && (bits == 64 || n == int64(int32(n)))
}

// isNumber reports whether s is a JSON number of at most 64 bytes.
func isNumber(s string) bool {
	if s == "" || len(s) > 64 || s[0] != '-' && (s[0] < '0' || s[0] > '9') || s[len(s)-1] < '0' || s[len(s)-1] > '9' {
		return false
	}
	return jsonwire.Valid(s, jsonwire.Limits{}) == nil
}

// integer parses an integer into to. It returns nil for null and invalid values.
func (p *parser) integer(x jsonwire.Value, m *message, i int, name string, to *int64) *int64 {
	if x.Kind() == jsonwire.Null {
		return nil
	}
	n, ok := wholeNumber(x, 32)
	if !ok {
		p.mismatch(x, m, i, name)
		return nil
	}
	*to = n
	return to
}

// number is integer for any number.
func (p *parser) number(x jsonwire.Value, m *message, i int, name string, to *float64) *float64 {
	if x.Kind() == jsonwire.Null {
		return nil
	}
	f, ok := decimal(x)
	if !ok {
		p.mismatch(x, m, i, name)
		return nil
	}
	*to = f
	return to
}

// decimal returns a number, which may be written as a string.
func decimal(x jsonwire.Value) (float64, bool) {
	if x.Kind() != jsonwire.String {
		return x.Float()
	}
	if s := x.Str(); isNumber(s) {
		f, err := strconv.ParseFloat(s, 64)
		return f, err == nil
	}
	return 0, false
}

// choice parses an enum. It returns "" for a value that is not set.
func (p *parser) choice(x jsonwire.Value, m *message, i int, name string) string {
	if x.Kind() == jsonwire.Null {
		return ""
	}
	e := m.fields[i].enum
	s := e.read(x)
	switch {
	case s == "":
		p.mismatch(x, m, i, name)
	case e.unset(s):
		return ""
	case !e.has(s):
		p.path.Push(m.snake[i])
		p.unknownValue(x, &m.fields[i], m)
		p.path.Pop()
	}
	return s
}

// read returns the canonical name of a value of an enum, or "" if it is not valid.
func (e *enum) read(x jsonwire.Value) string {
	if x.Kind() == jsonwire.String {
		return e.find(x.Str())
	}
	if n, ok := x.Int(); ok && n >= 0 && n < int64(e.numbered) {
		return e.values[n]
	}
	return ""
}

// bytes parses base64. It returns the text of the document, in either alphabet.
func (p *parser) bytes(x jsonwire.Value, m *message, i int, name string) string {
	if x.Kind() == jsonwire.Null {
		return ""
	}
	s, _, e := x.LenientBase64()
	switch e {
	case 0:
		return s
	case jsonwire.Base64Empty:
	case jsonwire.Base64NotString:
		p.mismatch(x, m, i, name)
	default:
		p.path.Push(m.snake[i])
		p.notBase64(x, m, i)
		p.path.Pop()
	}
	return ""
}

// notBase64 records that the string at the path is not base64.
func (p *parser) notBase64(x jsonwire.Value, m *message, i int) {
	p.invalid(&m.fields[i], m, "Base64 decoding failed for \""+codec.Clip(x.Str())+"\"")
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
