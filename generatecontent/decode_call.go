package generatecontent

import (
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/upstream"
)

// Some servers stream the arguments of a call in pieces, each with its path in
// the arguments. The events have the arguments once they are whole. Arguments
// that were cut, or that lack a piece, have no closing brace: they are not a valid
// object, so no client runs the call.
//
// A stream is held from the first piece of a call to the last: the frame of the
// last one has the Data and the events of all. A sink of this format can then
// write every piece as it came, and only if the call is whole and no event was
// changed.

// pieces is a call whose arguments are coming.
type pieces struct {
	block int
	place int // among the parts of its candidate
	args  argument
	size  int64 // of the arguments so far, about
	lost  bool  // a piece could not be read
	open  bool  // the last piece is of a text that goes on
	split bool  // its first pieces are in an earlier frame
}

// An argument is a value in the arguments of a call, or all of them.
type argument struct {
	kind  jsonwire.Kind // None, String, Array, Object; True for what is in json
	text  strings.Builder
	json  string
	names []string
	items []*argument
	index map[string]int // of names, once there are many
}

const (
	deepestArgument = 128
	manyNames       = 16
)

// callPiece reads a part that is a piece of such a call, and reports whether it
// is one.
func (d *decoder) callPiece(i int, v jsonwire.Value) bool {
	call := spelled(v, partFields, fCall)
	list, c := call.Get("partialArgs"), &d.answers[i]
	more, _ := call.Get("willContinue").Bool()
	name := call.Get("name").Str()
	if name != "" {
		d.endCall(i, true)
	}
	if spelled(call, callFields, fCallArgs).Kind() == jsonwire.Object ||
		c.call == nil && !more && list.Kind() != jsonwire.Array {
		return false
	}
	d.odd = d.odd || d.whole || c.call != nil && c.call.split
	signature, _, _ := v.Get("thoughtSignature").LenientBase64()
	if c.call == nil {
		t := &content.ToolUse{ID: call.Get("id").Str(), Name: name}
		if signature != "" {
			t.Signature, signature = content.Signature{Format: Format, Data: signature}, ""
		}
		d.closeText(i)
		c.calls, c.call = true, &pieces{block: d.open(i, t), place: c.blocks - 1}
	}
	if signature != "" {
		d.signature(i, signature)
	}
	for _, x := range list.Elems() {
		if !c.call.add(x) {
			c.call.lost = true
		}
	}
	if !more {
		d.endCall(i, true)
	}
	return true
}

// endCall ends the call whose arguments are coming, if there is one. It is not
// whole if something cut it, and neither is it within a text.
func (d *decoder) endCall(i int, whole bool) {
	c := &d.answers[i]
	call := c.call
	if call == nil {
		return
	}
	c.call = nil
	whole = whole && !call.open
	d.odd = d.odd || call.split || call.lost || !whole
	d.add(upstream.Event{Kind: upstream.EventInput, Block: call.block, Candidate: i, Text: call.json(whole && !call.lost)})
	switch {
	case call.lost:
		d.lose(readLostPiece, answerPath(i, call.place))
	case !whole:
		d.lose(readCutCall, answerPath(i, call.place))
	}
	d.close(i, call.block)
}

// json returns the arguments. Those that are not whole lack their end.
func (c *pieces) json(whole bool) string {
	b := []byte("{}")
	if c.args.kind != jsonwire.None {
		b = c.args.append(b[:0])
	}
	if !whole {
		b = b[:len(b)-1]
	}
	return string(b)
}

// add puts a piece in its place and reports whether it could.
func (c *pieces) add(v jsonwire.Value) bool {
	if c.size += int64(len(v.Raw())); c.size > mostInput {
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
	if to.kind == jsonwire.None { // nothing that is known
		to.kind, to.json = jsonwire.True, "null"
		return false
	}
	return true
}

// find returns the value at a path such as $.a.b[0]['c d'], which is made if it
// is not there yet. It returns nil for a path that cannot be read or does not
// fit.
func (a *argument) find(path string) *argument {
	rest, ok := strings.CutPrefix(path, "$")
	if !ok || rest == "" {
		return nil
	}
	for depth := 0; rest != ""; depth++ {
		if depth == deepestArgument {
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

// pathStep takes the first step off a path.
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

// item returns an element of a list: one that is there, or the next.
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

func (a *argument) member(name string) *argument {
	if a.kind != jsonwire.None && a.kind != jsonwire.Object {
		return nil
	}
	a.kind = jsonwire.Object
	if k := len(a.names) - 1; k >= 0 && a.names[k] == name { // mostly
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
	if len(a.names) < manyNames {
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

// append appends the value. It does not go deeper than find does.
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
