package generatecontent

import (
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/response"
	"github.com/polywire/polywire/upstream"
)

// Some servers stream the arguments of a tool call in pieces, each with its path in the
// arguments. There is one EventInput when the arguments are complete. If they were cut, or
// a piece is invalid, the closing brace is missing. Then they are not a valid object, so no
// client runs the tool call.
//
// The reader holds the chunks from the first piece of a tool call to the last. The frame
// of the last chunk has the Data and the events of all of them. Therefore a handler of
// this format passes the chunks on unchanged only if the tool call is complete and no event
// was changed.

// A partialCall is a tool call whose arguments are incomplete.
type partialCall struct {
	block      int
	part       int // index among the parts of the candidate
	args       argument
	size       int64 // approximate bytes of the arguments so far
	incomplete bool  // a piece was invalid or too large
	open       bool  // the last piece is of a string that continues
	split      bool  // an earlier frame has the first pieces
}

// An argument is a value in the arguments of a tool call, or the whole arguments.
type argument struct {
	kind  jsonwire.Kind // None, String, Array, Object; True if the value is in json
	text  strings.Builder
	json  string
	names []string
	items []*argument
	index map[string]int // by name, if there are at least minIndexedNames
}

const (
	maxArgumentDepth = 128
	minIndexedNames  = 16
)

// callPiece decodes a part that is a piece of a partial tool call. It reports whether the
// part is one.
func (d *decoder) callPiece(i int, v jsonwire.Value) bool {
	call := memberOf(v, partType, "functionCall")
	list, c := call.Get("partialArgs"), &d.states[i]
	more, _ := call.Get("willContinue").Bool()
	name := call.Get("name").Str()
	if name != "" {
		d.endCall(i, true)
	}
	if memberOf(call, callType, "args").Kind() == jsonwire.Object ||
		c.call == nil && !more && list.Kind() != jsonwire.Array {
		return false
	}
	d.deviates = d.deviates || d.whole || c.call != nil && c.call.split
	signature, _, _ := v.Get("thoughtSignature").LenientBase64()
	if c.call == nil {
		t := &content.ToolUse{ID: call.Get("id").Str(), Name: name}
		if signature != "" {
			t.Signature, signature = content.Signature{Format: Format, Data: signature}, ""
		}
		d.closeText(i)
		c.hasCalls, c.call = true, &partialCall{block: d.open(i, t), part: c.blocks - 1}
	}
	if signature != "" {
		d.signature(i, signature)
	}
	for _, x := range list.Elems() {
		if !c.call.add(x) {
			c.call.incomplete = true
		}
	}
	if !more {
		d.endCall(i, true)
	}
	return true
}

// endCall ends the partial tool call of a candidate, if there is one. whole reports
// whether no more pieces are expected. The arguments are incomplete within a string.
func (d *decoder) endCall(i int, whole bool) {
	c := &d.states[i]
	call := c.call
	if call == nil {
		return
	}
	c.call = nil
	whole = whole && !call.open
	d.deviates = d.deviates || call.split || call.incomplete || !whole
	d.add(upstream.Event{Kind: upstream.EventInput, Block: call.block, Candidate: i, Text: call.json(whole && !call.incomplete)})
	switch {
	case call.incomplete:
		d.lose(lossArgumentPiece, response.PartPath(i, call.part))
	case !whole:
		d.lose(lossCutArguments, response.PartPath(i, call.part))
	}
	d.close(i, call.block)
}

// json returns the arguments, without the closing brace if they are incomplete.
func (c *partialCall) json(whole bool) string {
	b := []byte("{}")
	if c.args.kind != jsonwire.None {
		b = c.args.append(b[:0])
	}
	if !whole {
		b = b[:len(b)-1]
	}
	return string(b)
}

// add stores a piece at its path. It returns false if the piece is invalid or too large.
func (c *partialCall) add(v jsonwire.Value) bool {
	if c.size += int64(len(v.Raw())); c.size > maxPartialArguments {
		return false
	}
	to := c.args.find(v.Get("jsonPath").Str())
	if to == nil || to.kind == jsonwire.Array || to.kind == jsonwire.Object {
		return false
	}
	c.open = false
	for name, x := range v.Members() {
		switch {
		case name == "stringValue" && x.Kind() == jsonwire.String && to.kind != jsonwire.True:
			to.kind = jsonwire.String
			to.text.WriteString(x.Str())
			c.open, _ = v.Get("willContinue").Bool()
		case name == "numberValue" && x.Kind() == jsonwire.Number:
			to.kind, to.json = jsonwire.True, strings.Clone(x.Raw())
		case name == "boolValue" && (x.Kind() == jsonwire.True || x.Kind() == jsonwire.False):
			to.kind, to.json = jsonwire.True, strings.Clone(x.Raw())
		case name == "nullValue":
			to.kind, to.json = jsonwire.True, "null"
		}
	}
	if to.kind == jsonwire.None { // no known member
		to.kind, to.json = jsonwire.True, "null"
		return false
	}
	return true
}

// find returns the value at a path such as $.a.b[0]['c d']. It creates missing values. It
// returns nil if the path is invalid or contradicts an earlier path.
func (a *argument) find(path string) *argument {
	rest, ok := strings.CutPrefix(path, "$")
	if !ok || rest == "" {
		return nil
	}
	for depth := 0; rest != ""; depth++ {
		if depth == maxArgumentDepth {
			return nil
		}
		var name string
		var isIndex bool
		if name, isIndex, rest, ok = pathStep(rest); !ok {
			return nil
		}
		if isIndex {
			a = a.item(name)
		} else {
			a = a.member(name)
		}
		if a == nil {
			return nil
		}
	}
	return a
}

// pathStep splits the first step off a path.
func pathStep(s string) (name string, isIndex bool, rest string, ok bool) {
	if s[0] == '.' {
		n := strings.IndexAny(s[1:], ".[")
		if n < 0 {
			n = len(s) - 1
		}
		return s[1 : 1+n], false, s[1+n:], n > 0
	}
	if s[0] != '[' || len(s) < 2 {
		return "", false, "", false
	}
	if q := s[1]; q == '\'' || q == '"' {
		n := strings.Index(s[2:], string(q)+"]")
		if n < 0 {
			return "", false, "", false
		}
		return s[2 : 2+n], false, s[2+n+2:], true
	}
	n := strings.IndexByte(s, ']')
	if n < 2 {
		return "", false, "", false
	}
	return s[1:n], true, s[n+1:], true
}

// item returns an element of an array, or appends one if number is the length.
func (a *argument) item(number string) *argument {
	n, err := strconv.Atoi(number)
	if err != nil || n < 0 || n > len(a.items) || a.kind != jsonwire.None && a.kind != jsonwire.Array {
		return nil
	}
	a.kind = jsonwire.Array
	if n == len(a.items) {
		a.items = append(a.items, new(argument))
	}
	return a.items[n]
}

// member returns a member of an object. It creates a missing member.
func (a *argument) member(name string) *argument {
	if a.kind != jsonwire.None && a.kind != jsonwire.Object {
		return nil
	}
	a.kind = jsonwire.Object
	if k := len(a.names) - 1; k >= 0 && a.names[k] == name { // the usual case
		return a.items[k]
	}
	if k, ok := a.lookUp(name); ok {
		return a.items[k]
	}
	x := new(argument)
	name = strings.Clone(name)
	a.names, a.items = append(a.names, name), append(a.items, x)
	if a.index != nil {
		a.index[name] = len(a.names) - 1
	}
	return x
}

func (a *argument) lookUp(name string) (int, bool) {
	if len(a.names) < minIndexedNames {
		for k, s := range a.names {
			if s == name {
				return k, true
			}
		}
		return 0, false
	}
	if a.index == nil {
		a.index = make(map[string]int, 2*len(a.names))
		for k, s := range a.names {
			a.index[s] = k
		}
	}
	k, ok := a.index[name]
	return k, ok
}

// append appends the JSON of the value. Its depth is limited by find.
func (a *argument) append(dst []byte) []byte {
	switch a.kind {
	case jsonwire.String:
		return jsonwire.AppendString(dst, a.text.String())
	case jsonwire.Array:
		dst = append(dst, '[')
		for k, x := range a.items {
			if k > 0 {
				dst = append(dst, ',')
			}
			dst = x.append(dst)
		}
		return append(dst, ']')
	case jsonwire.Object:
		dst = append(dst, '{')
		for k, x := range a.items {
			dst = x.append(codec.AppendName(dst, a.names[k]))
		}
		return append(dst, '}')
	case jsonwire.True:
		return append(dst, a.json...)
	}
	return append(dst, "null"...)
}

// A template is a chunk of a stream without its text and usage. Nearly all chunks contain
// only a text, or a text and the usage, and differ in nothing else.
type template struct {
	head, mid, tail string // before the text, between text and usage, and after them; head is empty if there is no template
	counted         bool   // there is usage
	candidate       int
	thought         bool
}

// Longer chunks are not worth the search.
const (
	maxTemplateSize  = 4 << 10
	maxTemplateUsage = 1 << 10
)

// learnTemplate makes a template of the current document if the document does not
// deviate from the format, has one part, and continues an open text.
func (d *decoder) learnTemplate(data string, usage jsonwire.Value) {
	if d.whole || d.deviates || d.partCount != 1 || len(data) > maxTemplateSize || d.doc.Replacements() > 0 || !d.plainText.Exists() {
		return
	}
	n := len(d.events)
	if n == 0 || n > 2 || d.events[0].Kind != upstream.EventText || n == 2 && d.events[1].Kind != upstream.EventUsage ||
		usage.Exists() != (n == 2) {
		return
	}
	from, to := d.plainText.Offset(), d.plainText.End()
	m := template{head: data[:from], tail: data[to:], candidate: d.events[0].Candidate}
	m.thought = d.states[m.candidate].lastIsThinking
	if usage.Exists() {
		if usage.Offset() < to {
			return
		}
		m.counted, m.mid, m.tail = true, data[to:usage.Offset()], data[usage.End():]
	}
	d.template = m
}

// readTemplate decodes a chunk that matches the template, and reports whether it does. It
// parses only the text and the usage, which is several times faster than parsing the
// whole chunk. If both are valid JSON, so is the chunk.
func (d *decoder) readTemplate(data string) bool {
	m := &d.template
	rest, ok := strings.CutPrefix(data, m.head)
	if !ok || m.head == "" {
		return false
	}
	if rest, ok = strings.CutSuffix(rest, m.tail); !ok {
		return false
	}
	text, usage := rest, ""
	if m.counted {
		// mid contains an unescaped quote, which cannot occur within the text.
		if text, usage, ok = strings.Cut(rest, m.mid); !ok || len(usage) > maxTemplateUsage {
			return false
		}
	}
	if len(text) == 0 || text[0] != '"' || d.doc.Parse(text, jsonwire.Limits{}) != nil {
		return false
	}
	s := d.doc.Root().Str()
	if m.counted {
		if len(usage) == 0 || usage[0] != '{' || d.doc.Parse(usage, d.usageLimits) != nil {
			return false
		}
	}
	clear(d.events)
	d.events, d.deviates, d.source = d.events[:0], false, data
	d.addText(m.candidate, textPiece{text: s, thought: m.thought}, nil)
	if m.counted {
		d.addUsage(d.doc.Root())
	}
	return true
}

// heldPieces is a run of chunks that the reader holds because of an incomplete tool call.
type heldPieces struct {
	data     []string
	events   []upstream.Event
	size     int  // bytes of data
	deviates bool // a chunk deviates from the format
}

// maxHeldPieces limits the data of a run, in bytes.
const maxHeldPieces = 16 << 20

// add adds the current document of d. It returns false if the run would be too large.
func (h *heldPieces) add(d *decoder) bool {
	if h.size+len(d.source) > maxHeldPieces {
		return false
	}
	if d.doc.Replacements() > 0 {
		d.lose(codec.ResponseNotUnicode, "parts")
	}
	h.size += len(d.source)
	h.data = append(h.data, d.source)
	h.events = append(h.events, d.events...)
	h.deviates = h.deviates || d.deviates
	return true
}

// release inserts the run before the data and events of f, and resets h.
func (h *heldPieces) release(f *upstream.Frame) {
	f.Preceding = h.data
	if len(h.data) == 0 {
		return
	}
	f.Events = append(h.events, f.Events...)
	if h.deviates {
		f.Format = ""
	}
	*h = heldPieces{}
}

// inCall reports whether a tool call is incomplete and no incomplete tool call is split
// between frames.
func (d *decoder) inCall() bool {
	open := false
	for i := range d.states {
		if c := d.states[i].call; c != nil {
			if c.split {
				return false
			}
			open = true
		}
	}
	return open
}

// splitCall reports whether the current frame ends within a tool call. It marks the tool
// call as split, so that handlers do not pass its chunks on unchanged.
func (d *decoder) splitCall() bool {
	open := false
	for i := range d.states {
		if c := d.states[i].call; c != nil {
			open, c.split = true, true
		}
	}
	return open
}
