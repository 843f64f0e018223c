package generatecontent

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
)

// call reads the call of a function.
func (p *parser) call(data member, side *sideMembers) content.Part {
	t := p.calls.New(p.size)
	t.Signature = side.signature
	if !p.enter(data.value, partFields, fCall, data.name) {
		return t
	}
	m, o, more := callFields, opened{m: callFields}, false
	for name, x := range data.value.Members() {
		switch i := p.field(&o, name); i {
		case fCallID:
			t.ID = p.text(t, x, m, i, name)
		case fCallName:
			t.Name = p.text(t, x, m, i, name)
		case fCallArgs:
			t.Input = p.kept(x, m, i, name)
		default:
			more = true
		}
	}
	t.Extra = p.innerExtra(side, 1<<fSignature, data, m, callTyped, more)
	p.path.Pop()
	return t
}

// response reads what a function gave back.
func (p *parser) response(data member, side *sideMembers) content.Part {
	t := p.results.New(p.size)
	if !p.enter(data.value, partFields, fResponse, data.name) {
		return t
	}
	m, o, more := responseFields, opened{m: responseFields}, false
	var object, files jsonwire.Value
	for name, x := range data.value.Members() {
		switch i := p.field(&o, name); i {
		case fRespID:
			t.ID = p.text(t, x, m, i, name)
		case fRespName:
			t.Name = p.text(t, x, m, i, name)
		case fRespObject:
			if p.kept(x, m, i, name) != "" {
				object = x
			}
		case fRespParts:
			files = x
		default:
			more = true
		}
	}
	if object.Kind() != jsonwire.Object {
		p.note(t, "response", codec.Absent)
	}
	text, what := p.said(t, object)
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
	} else if files.Exists() {
		p.noteEmpty(t, files, "parts")
	}
	if len(t.Parts) == 0 {
		t.Parts = nil
	}
	t.Extra = p.innerExtra(side, 0, data, m, responseTyped, more)
	p.path.Pop()
	return t
}

// said sets what the response of a function says: whether it failed, and the
// object if the text does not tell all of it. The text counts if n is 1.
func (p *parser) said(t *content.ToolResult, v jsonwire.Value) (text string, n int) {
	if v.Len() == 0 {
		return "", 0
	}
	text, t.Error, n = tell(v)
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

// tell returns the text of a response, and whether it tells of a failure.
func tell(v jsonwire.Value) (text string, failed bool, n int) {
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

// responsePart reads a file in the response of a function.
func (p *parser) responsePart(v jsonwire.Value) content.Part {
	if !p.isObject(v, responsePartFields) {
		return p.other("", v)
	}
	o, data, odd, more := opened{m: responsePartFields}, member{field: -1}, "", false
	for name, x := range v.Members() {
		switch i := p.field(&o, name); {
		case i < 0:
			odd, more = name, true
		case x.Kind() == jsonwire.Null:
		case data.field >= 0:
			p.fault(content.CodeType, "Invalid value at '"+p.path.At()+
				"' (oneof), oneof field 'data' is already set. Cannot set '"+responsePartFields.camel[i]+"'")
		default:
			data = member{i, name, x}
		}
	}
	if data.field < 0 {
		return p.other(odd, v)
	}
	var extra *content.Extra
	if more {
		extra = p.extraBut(v, responsePartFields, 1<<fRespInline|1<<fRespFile)
	}
	return p.file(p.source(data, responsePartFields), content.Signature{}, extra)
}

// serverCall reads the call of one of the vendor's own tools.
func (p *parser) serverCall(data member, side *sideMembers) content.Part {
	t := &content.ServerToolUse{Format: Format, Kind: partFields.camel[data.field], Signature: side.signature}
	if !p.enter(data.value, partFields, data.field, data.name) {
		return t
	}
	m := partFields.fields[data.field].of
	if data.field == fCode {
		t.Name = "codeExecution"
		t.ID, t.Input = p.withoutID(t, data.value, m)
		t.Extra = p.partExtra(side, 1<<fSignature)
		p.path.Pop()
		return t
	}
	o, more := opened{m: m}, false
	for name, x := range data.value.Members() {
		switch i := p.field(&o, name); i {
		case fServerID:
			t.ID = p.text(t, x, m, i, name)
		case fServerType:
			t.Name = p.choice(t, x, m, i, name)
		case fServerObject:
			t.Input = p.kept(x, m, i, name)
		default:
			more = true
		}
	}
	t.Extra = p.innerExtra(side, 1<<fSignature, data, m, callTyped, more)
	p.path.Pop()
	return t
}

// serverResponse reads what one of the vendor's own tools gave back.
func (p *parser) serverResponse(data member, side *sideMembers) content.Part {
	t := &content.ServerToolResult{Format: Format, Kind: partFields.camel[data.field], Signature: side.signature}
	if p.enter(data.value, partFields, data.field, data.name) {
		t.ID, t.Content = p.withoutID(t, data.value, partFields.fields[data.field].of)
		t.Extra = p.partExtra(side, 1<<fSignature)
		p.path.Pop()
	}
	return t
}

// withoutID returns the id of a call or result of the vendor's, and all its
// other members.
func (p *parser) withoutID(node any, v jsonwire.Value, m *message) (id, rest string) {
	canonical := p.checkMessage(v, m)
	for name, x := range v.Members() {
		if m.find(name) == fServerID {
			if x.Kind() == jsonwire.String {
				id = x.Str()
			}
			if x.Is("") {
				p.note(node, "id", `""`)
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
