package generatecontent

import (
	"fmt"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/upstream"
)

// A piece is a text or a thought, or more of one.
type piece struct {
	text      string
	thought   bool
	signature string
}

// plain reads a part that is nothing but a text, as nearly all of a stream are.
// It is what the parser would do, several times cheaper.
func (d *decoder) plain(v jsonwire.Value) (t piece, ok bool) {
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
			d.odd = d.odd || e == 0 && !standard
		default:
			return t, false
		}
	}
	return t, ok
}

// part reads a part of a candidate.
func (d *decoder) part(i int, v jsonwire.Value) error {
	d.parts++
	if t, ok := d.plain(v); ok {
		d.text(i, t, nil)
		return nil
	}
	if err := checkPart(v); err != nil {
		return err
	}
	n := d.answers[i].blocks // what of the answer's parts it becomes
	part := d.parser.part(v)
	var list []*content.Violation
	if d.parser.violations.Len() > 0 {
		list, _ = content.Violations(d.parser.violations.Err())
	}
	d.forget()
	var signature string
	switch q := part.(type) {
	case nil:
	case *content.Text:
		d.text(i, piece{q.Text, false, q.Signature.Data}, q.Extra)
		n = max(d.answers[i].blocks-1, 0)
		signature = q.Signature.Data
	case *content.Thinking:
		d.text(i, piece{q.Text, true, q.Signature.Data}, q.Extra)
		n = max(d.answers[i].blocks-1, 0)
		signature = q.Signature.Data
	case *content.ToolUse:
		// What tells of pieces has no field.
		if (q.Extra != nil || d.answers[i].call != nil) && d.callPiece(i, v) {
			d.odd = d.odd || len(list) > 0 || !d.parser.checkMessage(v, partFields)
			d.forget()
			return nil
		}
		bad := ""
		if q.Input != "" && q.Input[0] != '{' {
			q.Input, bad = d.arguments(answerPath(i, n), v)
		}
		if q.Input == "" && bad == "" {
			q.Input = "{}" // the call is whole, whatever ends the answer
		}
		d.answers[i].calls = true
		signature = q.Signature.Data
		d.opened(i, q)
		if bad != "" { // as it comes from vendors that stream arguments
			last := len(d.events) - 1
			closing := d.events[last]
			d.events[last] = upstream.Event{Kind: upstream.EventInput, Block: closing.Block, Candidate: i, Text: bad}
			d.add(closing)
		}
	default:
		d.opened(i, part)
		signature = v.Get(partFields.camel[fSignature]).Str()
	}
	d.deviations(answerPath(i, n), v, list)
	d.odd = d.odd || signature != "" && jsonwire.CheckBase64(signature) != 0 || !standardData(part, v)
	return nil
}

// checkPart returns an error if a part is not an object, or if its data or the
// name of a call is of the wrong type: nothing else could be read instead.
func checkPart(v jsonwire.Value) error {
	if err := codec.Expect("generatecontent: a part", v, codec.Objects); err != nil {
		return err
	}
	for name, x := range v.Members() {
		i := partFields.find(name)
		if i < 0 || i >= partData {
			continue
		}
		want := codec.Objects
		if i == fText {
			want = codec.Texts
		}
		if !(want | codec.Optional).Has(x.Kind()) {
			return fmt.Errorf("generatecontent: the %s of a part is of the wrong type: %s", partFields.camel[i], x.Kind())
		}
		if i == fCall {
			if err := codec.Expect("generatecontent: a call's name", x.Get("name"), codec.Texts|codec.Optional); err != nil {
				return err
			}
		}
	}
	return nil
}

// standardData reports whether a file has the base64 that clients read. The
// parser has rewritten it.
func standardData(p content.Part, v jsonwire.Value) bool {
	source, _ := sourceOf(p)
	if _, inline := source.(*content.Base64); !inline {
		return true
	}
	_, standard, e := spelled(spelled(v, partFields, fInline), blobFields, fBlobData).LenientBase64()
	return e != 0 || standard // what is none was told
}

// forget drops what the parser recorded about a part, such as large files.
func (d *decoder) forget() {
	d.parser.violations = content.ViolationList{}
	d.origin = origin{unknown: d.origin.unknown} // which is bounded: beyond that, names cost nothing
}

// deviations tells what the parser could not read of a part, and finds out
// whether clients can.
func (d *decoder) deviations(path string, v jsonwire.Value, list []*content.Violation) {
	for _, f := range list {
		if isOpenEnum(f.Path) {
			continue // it is kept as it came, and clients bear it
		}
		d.odd = true
		if f.Code == content.CodeType && !badArguments(v) {
			d.lose(codec.ResponseWrongType, path)
			return
		}
	}
	if d.odd {
		return
	}
	d.odd = !d.parser.checkMessage(v, partFields)
	d.forget()
}

// isOpenEnum reports whether a path is that of an enum to which the vendor adds
// names.
func isOpenEnum(path string) bool {
	switch path[strings.LastIndexByte(path, '.')+1:] {
	case "outcome", "language", "level", "scheduling":
		return true
	}
	return false
}

// arguments returns the arguments of a call whose arguments are no object: those
// that they spell, or else what they are.
func (d *decoder) arguments(path string, v jsonwire.Value) (good, bad string) {
	d.odd = true
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

// badArguments reports whether the arguments of a call are no object, which is
// told by whoever leaves them out.
func badArguments(v jsonwire.Value) bool {
	switch argumentsOf(v).Kind() {
	case jsonwire.Object, jsonwire.None, jsonwire.Null:
		return false
	}
	return true
}

func argumentsOf(v jsonwire.Value) jsonwire.Value {
	return spelled(spelled(v, partFields, fCall), callFields, fCallArgs)
}

// spelled returns a member of v in whatever spelling it has.
func spelled(v jsonwire.Value, m *message, i int) jsonwire.Value {
	if x := v.Get(m.camel[i]); x.Exists() {
		return x
	}
	return v.Get(m.snake[i])
}

// text tells a text or a thought. In a stream it goes on where the last piece
// ended, if that was of its kind and is not signed: signed pieces must come
// back as they were.
func (d *decoder) text(i int, t piece, x *content.Extra) {
	if t.text == "" && x == nil {
		if t.signature != "" {
			d.sign(i, t)
		}
		return
	}
	c := &d.answers[i]
	if d.whole {
		d.wholeText(i, t, x)
		return
	}
	d.endCall(i, true)
	c.finished = false
	if c.open < 0 || c.thought != t.thought {
		d.closeText(i)
		if !t.thought {
			c.begins()
			c.at.only = c.at.start == 0
		}
		c.open = d.open(i, piece{thought: t.thought}.part(nil))
		c.text, c.thought = true, t.thought
	}
	if !t.thought {
		if c.at.size += len(t.text); c.at.size <= mostText {
			c.keep(t.text)
		}
		if len(c.pending) > 0 {
			c.piece(t.text)
		}
	}
	d.add(upstream.Event{Kind: upstream.EventText, Block: c.open, Candidate: i, Text: t.text, Extra: x})
	if t.signature != "" {
		d.signature(i, t.signature)
	}
}

// wholeText tells a text or a thought of a whole reply, which is a block of its
// own.
func (d *decoder) wholeText(i int, t piece, x *content.Extra) {
	text := t.text
	t.text = ""
	d.endCall(i, true)
	d.closeText(i)
	var p content.Part
	if t.thought || t.signature != "" {
		p = t.part(x)
	} else { // there may be very many
		plain := d.parser.texts.New(1)
		plain.Extra = x
		p = plain
	}
	n := d.open(i, p)
	if text != "" {
		d.add(upstream.Event{Kind: upstream.EventText, Block: n, Candidate: i, Text: text})
	}
	c := &d.answers[i]
	if !t.thought {
		c.begins()
		c.at.size = len(text)
		if len(text) <= mostText {
			c.at.text = text
		}
		d.cite(i, n)
	}
	d.close(i, n)
	c.text, c.thought = true, t.thought
}

// keep keeps more of the text that is open. Its memory grows fourfold up to
// mostText, so that a stream allocates three times for it at most.
func (c *answered) keep(text string) {
	if n := len(c.kept) + len(text); n > cap(c.kept) {
		c.kept = append(make([]byte, 0, max(n, 4*cap(c.kept), mostText>>4)), c.kept...)
	}
	c.kept = append(c.kept, text...)
}

// begins notes the place of a text that begins.
func (c *answered) begins() {
	c.at, c.kept = textPlace{part: c.said, start: c.at.start + c.at.size}, c.kept[:0]
	c.pieces = c.pieces[:0]
}

// part returns a whole part.
func (t piece) part(x *content.Extra) content.Part {
	var s content.Signature
	if t.signature != "" {
		s = content.Signature{Format: Format, Data: t.signature}
	}
	if t.thought {
		return &content.Thinking{Text: t.text, Signature: s, Extra: x}
	}
	return &content.Text{Text: t.text, Signature: s, Extra: x}
}

// sign tells a signature that stands on an empty text. It belongs to the text or
// thought before it, if that has none. Else it stays where it is.
func (d *decoder) sign(i int, t piece) {
	c := &d.answers[i]
	within := c.open >= 0 || d.closings-c.closedAt <= mostClosed
	if c.last >= 0 && c.text && !c.signed && within && (c.thought || !t.thought) {
		d.signature(i, t.signature)
		return
	}
	finished := c.finished
	d.opened(i, t.part(nil))
	c.text, c.thought, c.finished = true, t.thought, finished
}

// signature signs the last block, which then is over.
func (d *decoder) signature(i int, data string) {
	c := &d.answers[i]
	d.citeOpen(i)
	d.add(upstream.Event{Kind: upstream.EventSignature, Block: c.last, Candidate: i,
		Signature: &content.Signature{Format: Format, Data: data}})
	c.signed = true
	d.closeText(i)
}

// opened opens a block that is whole, and closes it.
func (d *decoder) opened(i int, p content.Part) {
	d.endCall(i, true)
	d.closeText(i)
	d.close(i, d.open(i, p))
}

// open opens a block and returns its number.
func (d *decoder) open(i int, p content.Part) int {
	c, n := &d.answers[i], d.opens
	d.opens++
	c.blocks++
	if !d.whole {
		c.said++
	}
	c.last, c.text, c.signed, c.finished = n, false, isSigned(p), false
	d.add(upstream.Event{Kind: upstream.EventOpen, Block: n, Candidate: i, Part: p})
	return n
}

func (d *decoder) close(i, n int) {
	d.closings++
	c := &d.answers[i]
	c.closedAt = d.closings
	d.add(upstream.Event{Kind: upstream.EventClose, Block: n, Candidate: i})
}

func (d *decoder) closeText(i int) {
	if c := &d.answers[i]; c.open >= 0 {
		d.citeOpen(i)
		d.close(i, c.open)
		c.open = -1
	}
}

// isSigned reports whether a text or a thought has a signature. With others it
// does not matter.
func isSigned(p content.Part) bool {
	switch p := p.(type) {
	case *content.Text:
		return p.Signature.Data != ""
	case *content.Thinking:
		return p.Signature.Data != ""
	}
	return false
}
