package generatecontent

import (
	"slices"
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/partfield"
)

// State of other vendors is sent as thoughtSignature; see [envelope]. Every client
// returns the signature of a tool call, and some return no other part of the thinking.
// Therefore the next tool call carries all thinking before it. In a response without a
// later tool call, the last text carries it; see [envelope.State]. The client also receives
// the thinking as thought parts. The signature of a text is in its own thoughtSignature,
// with a copy in the signature of the next tool call.

// isForeign reports whether a signature is of another format and must be carried.
func isForeign(s content.Signature) bool { return envelope.IsForeign(s, Format) }

// encodeSignature returns the signature that carries a signature of another format, or
// the zero Signature if that is too large.
func encodeSignature(s content.Signature, report lossFunc) content.Signature {
	data, ok := envelope.EncodeBase64(s.Format, envelope.KindPart, s.Data)
	if !ok {
		report(envelope.TooLarge)
		return content.Signature{}
	}
	return content.Signature{Format: Format, Data: data}
}

// openThinking opens a thinking block.
func (s *stream) openThinking(dst []byte, b *openBlock, p *content.Thinking) []byte {
	report := func(r *loss.Rule) { s.reportBlock(b, r) }
	if p.Redacted.Data != "" && !isForeign(p.Redacted) {
		report(envelope.UnknownFormat)
		return dst
	}
	s.progress[b.slot].state.Open(b.number, b.index, p, &s.stateBudget)
	if p.Redacted.Data != "" {
		return dst
	}
	b.kind = thinkingBlock
	c := *p
	visibleOnly(&c, report)
	b.extra, b.signature = c.Extra, c.Signature
	return s.appendText(dst, b, c.Text, nil)
}

// visibleOnly removes the parts of thinking that this format cannot represent.
func visibleOnly(p *content.Thinking, report lossFunc) {
	if isForeign(p.Signature) {
		p.Signature = content.Signature{}
		if p.Extra != nil && p.Extra.Format != Format {
			p.Extra = nil // carried with the signature
		}
	}
	dropHints(p, report)
}

// appendThinking stores text of a thinking block.
func (s *stream) appendThinking(b *openBlock, text string) {
	s.progress[b.slot].state.AppendText(b.number, text, &s.stateBudget)
}

// signThinking stores the signature of a thinking block. It reports whether the
// signature is of another format, and thus complete.
func (s *stream) signThinking(b *openBlock, sig content.Signature) bool {
	if !s.progress[b.slot].state.Sign(b.number, sig, &s.stateBudget) && isForeign(sig) {
		s.report(responsePartPath(s.candidates[b.slot].index, b.index), envelope.TooLate)
	}
	return isForeign(sig)
}

// encodeState returns the signature that carries the pending state of a candidate, or
// the zero Signature if there is none.
func encodeState(t *envelope.Pending, room *int, report func(n int, r *loss.Rule)) content.Signature {
	encode := func(f content.Format, data string) (string, bool) {
		return envelope.EncodeBase64(f, envelope.KindThinking, data)
	}
	if data := t.Take(room, encode, report); data != "" {
		return content.Signature{Format: Format, Data: data}
	}
	return content.Signature{}
}

// signsCalls reports whether the vendor signs the first tool call of every response of a
// model. Clients treat such a response without the signature as an error.
func signsCalls(model string) bool {
	version, ok := strings.CutPrefix(strings.ToLower(model[strings.LastIndexByte(model, '/')+1:]), "gemini-")
	n := 0
	for n < len(version) && version[n] >= '0' && version[n] <= '9' {
		n++
	}
	if n == 0 { // such as gemini-flash-latest
		return ok && strings.HasSuffix(version, "-latest")
	}
	major, err := strconv.Atoi(version[:n])
	return ok && err == nil && major >= 3
}

// unsignedCall returns the signature of a tool call that no vendor has signed: an empty
// envelope if clients expect a signature, otherwise the zero Signature.
func (a *responseBuilder) unsignedCall(k int) content.Signature {
	if !a.expectSigned || a.candidates[k].calls != 1 {
		return content.Signature{}
	}
	return content.Signature{Format: Format, Data: envelope.UnsignedBase64}
}

// takeState returns the signature that carries the state before a part.
func (s *stream) takeState(k int) content.Signature {
	return encodeState(&s.progress[k].state, &s.stateBudget, func(n int, r *loss.Rule) {
		s.report(responsePartPath(s.candidates[k].index, n), r)
	})
}

// appendCarrier appends an empty text that carries the state before it, if there is
// any.
func (s *stream) appendCarrier(dst []byte, k int) []byte {
	if !s.progress[k].state.NeedsCarrier() {
		return dst
	}
	sig := s.takeState(k)
	if sig.Data == "" {
		return dst
	}
	dst = append(s.beginPart(dst, k), `{"text":"","thoughtSignature":`...)
	s.progress[k].parts++
	s.progress[k].kind = droppedBlock
	return append(jsonwire.AppendString(dst, sig.Data), '}')
}

// decodeState decodes the state of other vendors in turns. It returns turns itself if
// there is none.
func decodeState(turns []content.Turn) (list []content.Turn, changed bool, losses []content.Loss) {
	return envelope.DecodeTurns(turns, func(_ int, p content.Part) (content.Part, bool) {
		sig := partfield.SignatureOf(p)
		if sig.Format != Format || !envelope.IsEnvelopeBase64(sig.Data) {
			return p, false
		}
		e, ok := envelope.DecodeBase64(sig.Data)
		if !ok || e.Kind != envelope.KindPart && e.Kind != envelope.KindThinking {
			return partfield.WithSignature(p, envelope.WithoutFormat(sig)), true
		}
		if e.Format == envelope.UnsignedFormat {
			return partfield.WithSignature(p, content.Signature{}), false
		}
		return partfield.WithSignature(p, content.Signature{Format: e.Format, Data: e.Data}), false
	})
}

// measuredMembers is the number of members from which the size of an object is
// computed before its members are collected.
const measuredMembers = 100

// keptJSON validates a member that is carried as JSON text, and returns the text in canonical
// form. It returns "" for null.
func (p *parser) keptJSON(x jsonwire.Value, m *message, i int, name string) string {
	if p.check(x, m, i, name) {
		return x.Raw()
	}
	if x.Kind() == jsonwire.Null {
		return ""
	}
	b := p.extras.Begin()
	b = rewrite(codec.AppendName(b, ""), x, m, i)
	const head = `{"":`
	object := p.extras.End(b)
	return object[len(head) : len(object)-1]
}

// extra returns the unknown members of v and those from the typed-th field on, in
// their order.
func (p *parser) extra(v jsonwire.Value, m *message, typed int) *content.Extra {
	return p.extraWithout(v, m, 1<<typed-1)
}

// extraWithout is extra for all members except those of a set of fields.
func (p *parser) extraWithout(v jsonwire.Value, m *message, omit uint64) *content.Extra {
	if !p.quota.Members(v.Len()) {
		return nil
	}
	b := p.extras.Begin()
	if v.Len() > measuredMembers {
		size := 0
		for name, x := range v.Members() {
			if i := m.find(name); i < 0 || omit&(1<<i) == 0 {
				size += len(name) + len(x.Raw()) + len(`,"":`)
			}
		}
		b = slices.Grow(b, size)
	}
	return p.newExtra(p.appendExtra(b, v, m, omit))
}

func (p *parser) newExtra(b []byte) *content.Extra {
	if s := p.extras.End(b); s != "" {
		return p.extras.New(Format, s)
	}
	return nil
}

// appendExtra appends the members of extraWithout.
func (p *parser) appendExtra(b []byte, v jsonwire.Value, m *message, omit uint64) []byte {
	for name, x := range v.Members() {
		switch i := m.find(name); {
		case i < 0:
			b = codec.AppendMember(b, name, x.Raw())
		case omit&(1<<i) != 0:
		case p.check(x, m, i, name):
			b = codec.AppendMember(b, m.camel[i], x.Raw())
		case x.Kind() != jsonwire.Null:
			b = rewrite(codec.AppendName(b, m.camel[i]), x, m, i)
		}
	}
	return b
}

// check records the violations of a member, and reports whether it is in canonical form.
// The path is that of the object.
func (p *parser) check(x jsonwire.Value, m *message, i int, name string) (canonical bool) {
	f := &m.fields[i]
	switch {
	case f.kind == kValue && !f.list:
		return true
	case x.Kind() == jsonwire.Null:
		return false
	case x.Kind() == jsonwire.Array && !f.list:
		p.mismatch(x, m, i, name)
		return true
	}
	p.path.Push(m.snake[i])
	defer p.path.Pop()
	if !f.list {
		return p.checkOne(x, f, m)
	}
	if x.Kind() != jsonwire.Array {
		p.path.PushIndex(0)
		defer p.path.Pop()
		return p.checkOne(x, f, m) && f.either
	}
	canonical = true
	for k, e := range x.Elems() {
		p.path.PushIndex(k)
		canonical = p.checkOne(e, f, m) && canonical
		p.path.Pop()
	}
	return canonical
}

// checkOne is check for one value. The path is that of the value.
func (p *parser) checkOne(x jsonwire.Value, f *field, m *message) (canonical bool) {
	kind, ok := x.Kind(), true
	switch f.kind {
	case kString:
		ok = kind == jsonwire.String
	case kBool:
		_, ok = x.Bool()
	case kInt32:
		_, ok = wholeNumber(x, 32)
		canonical = kind == jsonwire.Number && strings.IndexByte(x.Raw(), '.') < 0
	case kInt64: // the vendor writes strings
		_, ok = wholeNumber(x, 64)
		canonical = strings.IndexByte(x.Raw(), '.') < 0
	case kFloat:
		_, ok = decimal(x)
		canonical = kind == jsonwire.Number
	case kBytes:
		if _, _, e := x.LenientBase64(); e > jsonwire.Base64Empty {
			p.invalid(f, m, "Base64 decoding failed for \""+codec.Clip(x.Str())+"\"")
			return true
		}
		ok = kind == jsonwire.String
	case kTime:
		ok = kind == jsonwire.String && x.Str() != ""
	case kEnum:
		s := f.enum.read(x)
		ok, canonical = s != "", x.Is(s)
	case kStruct:
		ok = kind == jsonwire.Object
	case kMessage:
		return p.checkMessage(x, f.of)
	case kSelf:
		return p.checkMessage(x, m)
	case kSelfMap:
		return p.checkMap(x, f, m)
	}
	if !ok {
		p.wrongKind(x, f, m)
		return true
	}
	switch f.kind {
	case kInt32, kInt64, kFloat, kEnum:
		return canonical
	}
	return true
}

func (p *parser) checkMessage(x jsonwire.Value, m *message) (canonical bool) {
	if !p.isObject(x, m) {
		return true
	}
	o := openObject{m: m}
	canonical = true
	for name, y := range x.Members() {
		if i := p.field(&o, name); i >= 0 {
			canonical = p.check(y, m, i, name) && name == m.camel[i] && canonical
		}
	}
	return canonical
}

// checkMap checks an object with free names. Like the vendor's, the paths of its members
// have their indices.
func (p *parser) checkMap(x jsonwire.Value, f *field, m *message) (canonical bool) {
	if x.Kind() != jsonwire.Object {
		p.wrongKind(x, f, m)
		return true
	}
	canonical = true
	k := 0
	for _, y := range x.Members() {
		p.path.PushIndex(k)
		p.path.Push("value")
		canonical = p.checkMessage(y, m) && canonical
		p.path.Pop()
		p.path.Pop()
		k++
	}
	return canonical
}

// rewrite appends a member's value in canonical form.
func rewrite(b []byte, x jsonwire.Value, m *message, i int) []byte {
	f := &m.fields[i]
	if !f.list || f.either && x.Kind() != jsonwire.Array {
		return rewriteOne(b, x, f, m)
	}
	b = append(b, '[')
	if x.Kind() != jsonwire.Array {
		return append(rewriteOne(b, x, f, m), ']')
	}
	for k, e := range x.Elems() {
		if k > 0 {
			b = append(b, ',')
		}
		b = rewriteOne(b, e, f, m)
	}
	return append(b, ']')
}

// rewriteOne appends one value. Invalid values are copied.
func rewriteOne(b []byte, x jsonwire.Value, f *field, m *message) []byte {
	switch f.kind {
	case kInt32, kInt64:
		if n, ok := wholeNumber(x, 64); ok && (f.kind == kInt32 || x.Kind() == jsonwire.Number) {
			return jsonwire.AppendInt(b, n)
		} else if ok {
			return append(strconv.AppendInt(append(b, '"'), n, 10), '"')
		}
	case kFloat:
		if x.Kind() == jsonwire.String {
			if _, ok := decimal(x); ok {
				return append(b, x.Str()...)
			}
		}
	case kEnum:
		if s := f.enum.read(x); s != "" {
			return jsonwire.AppendString(b, s)
		}
	case kMessage:
		return rewriteMessage(b, x, f.of)
	case kSelf:
		return rewriteMessage(b, x, m)
	case kSelfMap:
		if x.Kind() == jsonwire.Object {
			b = append(b, '{')
			for name, y := range x.Members() {
				b = rewriteMessage(codec.AppendName(b, name), y, m)
			}
			return append(b, '}')
		}
	}
	return append(b, x.Raw()...)
}

func rewriteMessage(b []byte, x jsonwire.Value, m *message) []byte {
	if x.Kind() != jsonwire.Object {
		return append(b, x.Raw()...)
	}
	b = append(b, '{')
	for name, y := range x.Members() {
		switch i := m.find(name); {
		case i < 0:
			b = codec.AppendMember(b, name, y.Raw())
		case y.Kind() == jsonwire.Null && m.fields[i].kind != kValue:
		default:
			b = rewrite(codec.AppendName(b, m.camel[i]), y, m, i)
		}
	}
	return append(b, '}')
}
