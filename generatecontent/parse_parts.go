package generatecontent

import (
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
)

// parts parses the parts of a turn. It drops parts without data. If nothing else
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
			p.origin.madeUp = append(p.origin.madeUp, p.turn)
		}
	}
	return list
}

// A member is one member of an object: its field, the name it was given, and
// its value.
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

// sideMembers are the members of a part other than its data.
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

// textPart parses a text or thinking.
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

// partExtra returns the side members of a part that have no Go field. but is the set of
// those that have one.
func (p *parser) partExtra(side *sideMembers, but uint64) *content.Extra {
	if !side.hasMore && (but&(1<<fThought) != 0 || !side.hasThought) && (but&(1<<fSignature) != 0 || !side.hasSignature) {
		return nil
	}
	return p.extraWithout(side.part, partFields, but|(1<<partData-1))
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
	text, what := p.resultText(t, object)
	if !p.quota.Parts(what + size(files)) {
		return t
	}
	t.Parts = p.lists.List(what+size(files), p.size)
	if what > 0 {
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

// resultText sets whether a function failed, and the response object if the text does
// not hold all of it. The text is valid if n is 1.
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

// resultText returns the text of a response object, and whether it is an error.
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
	o, data, odd, more := openObject{m: responsePartFields}, member{field: -1}, "", false
	for name, x := range v.Members() {
		switch i := p.field(&o, name); {
		case i < 0:
			odd, more = name, true
		case x.Kind() == jsonwire.Null:
		case data.field >= 0:
			p.violation(content.CodeType, "Invalid value at '"+p.path.At()+
				"' (oneof), oneof field 'data' is already set. Cannot set '"+responsePartFields.camel[i]+"'")
		default:
			data = member{i, name, x}
		}
	}
	if data.field < 0 {
		return p.otherPart(odd, v)
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
