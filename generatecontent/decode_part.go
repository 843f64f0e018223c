package generatecontent

import (
	"fmt"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/object"
	"github.com/polywire/polywire/internal/partfield"
	"github.com/polywire/polywire/internal/response"
	"github.com/polywire/polywire/internal/violation"
	"github.com/polywire/polywire/upstream"
)

// A textPiece is a piece of text or thinking.
type textPiece struct {
	text      string
	thought   bool
	signature string
}

// plainPart decodes a part of text or thinking without other members. Nearly all parts of
// a stream are such parts, and this is several times faster than the parser. ok is false
// for all other parts.
func (d *decoder) plainPart(v jsonwire.Value) (t textPiece, ok bool) {
	for name, x := range v.Members() {
		if x.Kind() == jsonwire.Null {
			continue
		}
		switch name {
		case "text":
			if x.Kind() != jsonwire.String {
				return t, false
			}
			t.text, ok = x.Str(), true
			d.plainText = x
		case "thought":
			b, is := x.Bool()
			if !is {
				return t, false
			}
			t.thought = b
		case "thoughtSignature":
			s, standard, e := x.LenientBase64()
			if e != 0 && e != jsonwire.Base64Empty {
				return t, false
			}
			t.signature = s
			d.deviates = d.deviates || e == 0 && !standard
		default:
			return t, false
		}
	}
	return t, ok
}

// part decodes a part of a candidate.
func (d *decoder) part(i int, v jsonwire.Value) error {
	d.partCount++
	if t, ok := d.plainPart(v); ok {
		d.addText(i, t, nil)
		return nil
	}
	if err := checkPart(v); err != nil {
		return err
	}
	n := d.states[i].blocks // the index of the part in the response
	part := d.parser.part(v)
	var list []*content.Violation
	if d.parser.Violations.Len() > 0 {
		list, _ = content.Violations(d.parser.Violations.Err())
	}
	d.resetParser()
	var signature string
	switch q := part.(type) {
	case nil:
	case *content.Text:
		d.addText(i, textPiece{q.Text, false, q.Signature.Data}, q.Extra)
		n = max(d.states[i].blocks-1, 0)
		signature = q.Signature.Data
	case *content.Thinking:
		d.addText(i, textPiece{q.Text, true, q.Signature.Data}, q.Extra)
		n = max(d.states[i].blocks-1, 0)
		signature = q.Signature.Data
	case *content.ToolUse:
		// Members of partial tool calls have no field: they are in Extra.
		if (q.Extra != nil || d.states[i].call != nil) && d.callPiece(i, v) {
			d.deviates = d.deviates || len(list) > 0 || !d.parser.isCanonical(partType, v)
			d.resetParser()
			return nil
		}
		bad := ""
		if q.Input != "" && q.Input[0] != '{' {
			q.Input, bad = d.arguments(response.PartPath(i, n), v)
		}
		if q.Input == "" && bad == "" {
			q.Input = "{}" // the tool call is complete, even if the response was cut
		}
		d.states[i].hasCalls = true
		signature = q.Signature.Data
		d.addWholeBlock(i, q)
		if bad != "" { // as an EventInput, like streamed arguments
			last := len(d.events) - 1
			closing := d.events[last]
			d.events[last] = upstream.Event{Kind: upstream.EventInput, Block: closing.Block, Candidate: i, Text: bad}
			d.add(closing)
		}
	default:
		d.addWholeBlock(i, part)
		signature = v.Get("thoughtSignature").Str()
	}
	d.deviations(response.PartPath(i, n), v, list)
	d.deviates = d.deviates || signature != "" && jsonwire.CheckBase64(signature) != 0 || !isStandardData(part, v)
	return nil
}

// checkPart returns an error if a part is not an object, or if its data or the name of a
// tool call has the wrong type.
func checkPart(v jsonwire.Value) error {
	if err := codec.Expect("generatecontent: a part", v, codec.Objects); err != nil {
		return err
	}
	for name, x := range v.Members() {
		f := partType.Find(name)
		if f == nil || !f.IsTag {
			continue
		}
		want := codec.Objects
		if f.Value == anyText {
			want = codec.Texts
		}
		if !(want | codec.Optional).Has(x.Kind()) {
			return fmt.Errorf("generatecontent: the %s of a part has the wrong type: %s", f.Name, x.Kind())
		}
		if f.Value.Object == callType {
			if err := codec.Expect("generatecontent: the name of a functionCall", x.Get("name"), codec.Texts|codec.Optional); err != nil {
				return err
			}
		}
	}
	return nil
}

// isStandardData reports whether the data of a file is standard base64 in the document.
// The parser has normalized it.
func isStandardData(p content.Part, v jsonwire.Value) bool {
	if _, inline := partfield.SourceOf(p).(*content.Base64); !inline {
		return true
	}
	_, standard, e := memberOf(memberOf(v, partType, "inlineData"), blobType, "data").LenientBase64()
	return e != 0 || standard // the parser reports invalid data
}

// resetParser removes the parser's state of a part.
func (d *decoder) resetParser() {
	d.parser.Violations = violation.List{}
	d.origin = origin{Origin: codec.Origin{Found: codec.Found{Unknown: d.origin.Unknown}}} // the limit of unknown applies to the response
}

// deviations reports the violations in a part as losses, and sets d.deviates if clients
// must not receive the part.
func (d *decoder) deviations(path string, v jsonwire.Value, list []*content.Violation) {
	for _, f := range list {
		if isOpenEnum(f.Path) {
			continue // kept; clients accept it
		}
		d.deviates = true
		if f.Code == content.CodeType && !hasInvalidArguments(v) {
			d.lose(codec.ResponseWrongType, path)
			return
		}
	}
	if d.deviates {
		return
	}
	d.deviates = !d.parser.isCanonical(partType, v)
	d.resetParser()
}

// isOpenEnum reports whether a path is that of an enum to which the vendor may add values.
func isOpenEnum(path string) bool {
	switch path[strings.LastIndexByte(path, '.')+1:] {
	case "outcome", "language", "level", "scheduling":
		return true
	}
	return false
}

// arguments returns the arguments of a tool call that are not an object: good if they are
// a string that encodes an object, otherwise bad with their JSON.
func (d *decoder) arguments(path string, v jsonwire.Value) (good, bad string) {
	d.deviates = true
	x := argumentsOf(v)
	if x.Kind() == jsonwire.String {
		s := x.Str()
		if s == "" {
			return "", ""
		}
		if jsonwire.Valid(s, d.limits) == nil && jsonwire.IsObject(s) {
			d.lose(codec.ResponseStringInput, path)
			return s, ""
		}
	}
	return "", x.Raw()
}

// hasInvalidArguments reports whether the arguments of a tool call are not an object. The
// encoder of the client's format reports this loss.
func hasInvalidArguments(v jsonwire.Value) bool {
	switch argumentsOf(v).Kind() {
	case jsonwire.Object, jsonwire.None, jsonwire.Null:
		return false
	}
	return true
}

// argumentsOf returns the arguments of a tool call.
func argumentsOf(v jsonwire.Value) jsonwire.Value {
	return memberOf(memberOf(v, partType, "functionCall"), callType, "args")
}

// memberOf returns a member of v, an object of type t, in either spelling.
func memberOf(v jsonwire.Value, t *object.Type, name string) jsonwire.Value {
	if x := v.Get(name); x.Exists() {
		return x
	}
	return v.Get(t.Find(name).Alias)
}

// addText adds text or thinking. In a stream it continues the open block if that is of
// the same kind. A signed block is closed, because clients must return signed parts
// unchanged.
func (d *decoder) addText(i int, t textPiece, x *content.Extra) {
	if t.text == "" && x == nil {
		if t.signature != "" {
			d.signEmptyText(i, t)
		}
		return
	}
	c := &d.states[i]
	if d.whole {
		d.addWholeText(i, t, x)
		return
	}
	d.endCall(i, true)
	c.finished = false
	if c.openText < 0 || c.lastIsThinking != t.thought {
		d.closeText(i)
		if !t.thought {
			c.beginText()
			c.textAt.only = c.textAt.start == 0
		}
		c.openText = d.open(i, textPiece{thought: t.thought}.part(nil))
		c.lastIsText, c.lastIsThinking = true, t.thought
	}
	if !t.thought {
		if c.textAt.size += len(t.text); c.textAt.size <= maxPassageText {
			c.keepText(t.text)
		}
		if len(c.pending) > 0 {
			c.addPiece(t.text)
		}
	}
	d.add(upstream.Event{Kind: upstream.EventText, Block: c.openText, Candidate: i, Text: t.text, Extra: x})
	if t.signature != "" {
		d.signature(i, t.signature)
	}
}

// addWholeText adds text or thinking of a response that is not a stream, as a separate
// block.
func (d *decoder) addWholeText(i int, t textPiece, x *content.Extra) {
	text := t.text
	t.text = ""
	d.endCall(i, true)
	d.closeText(i)
	var p content.Part
	if t.thought || t.signature != "" {
		p = t.part(x)
	} else { // from the arena: there may be very many
		plain := d.parser.texts.New(1)
		plain.Extra = x
		p = plain
	}
	n := d.open(i, p)
	if text != "" {
		d.add(upstream.Event{Kind: upstream.EventText, Block: n, Candidate: i, Text: text})
	}
	c := &d.states[i]
	if !t.thought {
		c.beginText()
		c.textAt.size = len(text)
		if len(text) <= maxPassageText {
			c.textAt.text = text
		}
		d.cite(i, n)
	}
	d.close(i, n)
	c.lastIsText, c.lastIsThinking = true, t.thought
}

// keepText appends to the copy of the open text. The buffer grows fourfold up to
// maxPassageText, so a stream allocates at most three times for it.
func (c *candidateState) keepText(text string) {
	if n := len(c.keptText) + len(text); n > cap(c.keptText) {
		c.keptText = append(make([]byte, 0, max(n, 4*cap(c.keptText), maxPassageText>>4)), c.keptText...)
	}
	c.keptText = append(c.keptText, text...)
}

// beginText records the place of a text that begins.
func (c *candidateState) beginText() {
	c.textAt, c.keptText = textPlace{part: c.position, start: c.textAt.start + c.textAt.size}, c.keptText[:0]
	c.textPieces = c.textPieces[:0]
}

// part returns a part with the text and the signature.
func (t textPiece) part(x *content.Extra) content.Part {
	var s content.Signature
	if t.signature != "" {
		s = content.Signature{Format: Format, Data: t.signature}
	}
	if t.thought {
		return &content.Thinking{Text: t.text, Signature: s, Extra: x}
	}
	return &content.Text{Text: t.text, Signature: s, Extra: x}
}

// signEmptyText adds the signature of an empty text. It signs the block of text or
// thinking before it, unless that has a signature. Otherwise the empty text is a separate
// block.
func (d *decoder) signEmptyText(i int, t textPiece) {
	c := &d.states[i]
	within := c.openText >= 0 || d.closedCount-c.closedAt <= maxClosedSince
	if c.lastBlock >= 0 && c.lastIsText && !c.lastIsSigned && within && (c.lastIsThinking || !t.thought) {
		d.signature(i, t.signature)
		return
	}
	finished := c.finished
	d.addWholeBlock(i, t.part(nil))
	c.lastIsText, c.lastIsThinking, c.finished = true, t.thought, finished
}

// signature signs the last block and closes it if it is open.
func (d *decoder) signature(i int, data string) {
	c := &d.states[i]
	d.citeOpenText(i)
	d.add(upstream.Event{Kind: upstream.EventSignature, Block: c.lastBlock, Candidate: i,
		Signature: &content.Signature{Format: Format, Data: data}})
	c.lastIsSigned = true
	d.closeText(i)
}

// addWholeBlock opens and closes a block.
func (d *decoder) addWholeBlock(i int, p content.Part) {
	d.endCall(i, true)
	d.closeText(i)
	d.close(i, d.open(i, p))
}

// open opens a block and returns its number.
func (d *decoder) open(i int, p content.Part) int {
	c, n := &d.states[i], d.blockCount
	d.blockCount++
	c.blocks++
	if !d.whole {
		c.position++
	}
	c.lastBlock, c.lastIsText, c.lastIsSigned, c.finished = n, false, isSigned(p), false
	d.add(upstream.Event{Kind: upstream.EventOpen, Block: n, Candidate: i, Part: p})
	return n
}

func (d *decoder) close(i, n int) {
	d.closedCount++
	c := &d.states[i]
	c.closedAt = d.closedCount
	d.add(upstream.Event{Kind: upstream.EventClose, Block: n, Candidate: i})
}

func (d *decoder) closeText(i int) {
	if c := &d.states[i]; c.openText >= 0 {
		d.citeOpenText(i)
		d.close(i, c.openText)
		c.openText = -1
	}
}

// isSigned reports whether text or thinking has a signature.
func isSigned(p content.Part) bool {
	switch p := p.(type) {
	case *content.Text:
		return p.Signature.Data != ""
	case *content.Thinking:
		return p.Signature.Data != ""
	}
	return false
}
