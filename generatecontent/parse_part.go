package generatecontent

import (
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
)

// parts reads the parts of a turn. Those that say nothing are left out, unless
// nothing else remains: then the first of them stays, as an empty text.
func (p *parser) parts(node any, v jsonwire.Value) []content.Part {
	n := size(v)
	if n == 0 {
		p.noteEmpty(node, v, "parts")
		return nil
	}
	if !p.quota.Parts(n) {
		return nil
	}
	list := p.lists.List(n, p.size)
	dropped := &p.form.dropped
	if p.turn < 0 {
		dropped = &p.form.droppedSystem
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
			p.form.nothing = append(p.form.nothing, p.turn)
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

// part reads one part. It returns nil for one that says nothing; what is no
// part keeps its place as an Unknown without a kind.
func (p *parser) part(v jsonwire.Value) content.Part {
	if !p.isObject(v, partFields) {
		return p.other("", v)
	}
	o, data, side := opened{m: partFields}, member{field: -1}, sideMembers{part: v}
	for name, x := range v.Members() {
		switch i := p.field(&o, name); {
		case i >= 0 && x.Kind() == jsonwire.Null:
		case i < 0:
			side.more = true
			if side.odd.name == "" && x.Kind() == jsonwire.Object {
				side.odd = member{-1, name, x}
			}
		case i < partData && data.field >= 0:
			p.fault(content.CodeType, "Invalid value at '"+p.path.At()+
				"' (oneof), oneof field 'data' is already set. Cannot set '"+partFields.camel[i]+"'")
		case i < partData:
			data = member{i, name, x}
		case i == fThought:
			side.thought, side.said = p.optFlag(x, partFields, i, name), true
		case i == fSignature:
			side.signature.Data, side.signed = p.signature(x, name), true
		default:
			side.more = true
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

// other keeps a part as it is.
func (p *parser) other(kind string, v jsonwire.Value) content.Part {
	u := p.others.New(1)
	u.Format, u.Kind, u.Raw = Format, kind, v.Raw()
	return u
}

// sideMembers are what a part has besides its data.
type sideMembers struct {
	part      jsonwire.Value
	said      bool // thought is there
	thought   *bool
	signed    bool // a signature is there
	signature content.Signature
	more      bool   // there are others
	odd       member // the first object of a name that is not known
}

// signature reads a signature, which stays as it is.
func (p *parser) signature(x jsonwire.Value, name string) string {
	return p.bytes(nil, x, partFields, fSignature, name)
}

// textPart reads a text or a thought.
func (p *parser) textPart(data member, side *sideMembers) content.Part {
	s := ""
	if data.value.Exists() {
		if data.value.Kind() != jsonwire.String {
			p.mismatch(data.value, partFields, fText, data.name)
		}
		s = data.value.Str()
	}
	if s == "" && side.signature.Data == "" && !side.more {
		p.emptyText = p.emptyText || data.value.Exists()
		return nil
	}
	if side.thought != nil && *side.thought {
		t := p.thoughts.New(p.size)
		t.Text, t.Signature, t.Extra = s, side.signature, p.partExtra(side, 1<<fThought|1<<fSignature)
		p.noteNoText(t, data)
		return t
	}
	t := p.texts.New(p.size)
	t.Text, t.Signature, t.Extra = s, side.signature, p.partExtra(side, 1<<fThought|1<<fSignature)
	if side.thought != nil {
		p.note(t, "thought", "false")
	}
	p.noteNoText(t, data)
	return t
}

// noteNoText notes that a part is a text because it has no data.
func (p *parser) noteNoText(t any, data member) {
	if !data.value.Exists() {
		p.note(t, "text", codec.Absent)
	}
}

// partExtra returns the side members of a part that have no Go field. but are
// those that have one.
func (p *parser) partExtra(side *sideMembers, but uint64) *content.Extra {
	if !side.more && (but&(1<<fThought) != 0 || !side.said) && (but&(1<<fSignature) != 0 || !side.signed) {
		return nil
	}
	return p.extraBut(side.part, partFields, but|(1<<partData-1))
}

// innerExtra is partExtra for a part whose data is an object with members of
// its own that have no Go field. They stand in an object of the same name.
func (p *parser) innerExtra(side *sideMembers, but uint64, data member, m *message, typed int, more bool) *content.Extra {
	if !more {
		return p.partExtra(side, but)
	}
	b := codec.AppendName(p.extras.Begin(), partFields.camel[data.field])
	b = append(p.appendExtra(append(b, '{'), data.value, m, 1<<typed-1), '}')
	if strings.HasSuffix(string(b), `:{}`) { // there were only nulls
		return p.partExtra(side, but)
	}
	return p.newExtra(p.appendExtra(b, side.part, partFields, but|(1<<partData-1)))
}

// dataPart reads a part that is no text.
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
	if side.odd.name != "" {
		return p.other(side.odd.name, side.part)
	}
	return p.textPart(data, side)
}

// source reads inline data or a file elsewhere. It never returns nil.
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
	o, more, uri, notes := opened{m: m}, false, "", len(p.form.notes)
	for name, x := range data.value.Members() {
		switch i := p.field(&o, name); {
		case i == fBlobType:
			s.MediaType = p.text(s, x, m, i, name)
		case i == fBlobData && inline:
			s.Data = p.inlineData(x, name)
		case i == fFileURI:
			uri = p.text(s, x, m, i, name)
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
	var elsewhere content.Source = &content.File{ID: uri, MediaType: s.MediaType, Extra: s.Extra}
	if isLink(uri) {
		elsewhere = &content.URL{URL: uri, MediaType: s.MediaType, Extra: s.Extra}
	}
	for i := notes; i < len(p.form.notes); i++ {
		p.form.notes[i].Node = elsewhere
	}
	return elsewhere
}

// inlineData reads the data of a file, in the standard alphabet and padded.
func (p *parser) inlineData(x jsonwire.Value, name string) string {
	s, standard, e := x.Base64Any()
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
	if len(s) >= soundSize {
		p.form.sound = append(p.form.sound, s)
	}
	return s
}

// standardBase64 returns good base64 in the standard alphabet, padded.
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

// file makes the part that a file's media type makes of it.
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

// mediaTypeOf returns what a source says of its type.
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
