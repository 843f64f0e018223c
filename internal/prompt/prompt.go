// Package prompt compares the prompts of two request documents as the caches of vendors
// do: from the beginning, up to the first difference.
package prompt

import (
	"slices"
	"strconv"
	"strings"

	"github.com/polywire/polywire/internal/jsonwire"
)

// A Prompt is the part of a request document that a vendor caches, in pieces and in the
// order of the cache. A text has one form, whether it is a string or a block in a list.
// Cache marks and members with a default value are left out, because a document may be sent
// as it is in one turn and encoded anew in the next. The order of members does not matter,
// except in values that the model receives as JSON text, such as schemas.
type Prompt struct {
	members []string
	pieces  []piece
	size    int64
}

// A piece is a text, a block, or what a turn has beside its blocks.
type piece struct {
	text string
	kind kind

	// The place: an index of members, an index in a list or -1, and a member of that
	// element, also with an index or -1.
	member, item int
	list         string
	part         int
}

type kind uint8

const (
	jsonPiece kind = iota
	textPiece
)

// limits accept what the parsers of formats accept, and what encoders make of it.
var limits = jsonwire.Limits{Depth: 1000, Values: 1<<24 - 1, AllowInvalidUTF8: true, AllowDuplicateNames: true}

// Parse returns the prompt of a JSON document. members are the paths of its members, with
// dots, in the order of the cache. Members that the document does not have are left out.
func Parse(document string, members []string) (*Prompt, error) {
	doc, err := jsonwire.Parse(document, limits)
	if err != nil {
		return nil, err
	}
	defer doc.Close()
	p := &Prompt{members: members}
	for i, path := range members {
		v, name := doc.Root(), ""
		for name = range strings.SplitSeq(path, ".") {
			v = v.Get(name)
		}
		at := piece{member: i, item: -1, part: -1}
		switch v.Kind() {
		case jsonwire.None, jsonwire.Null:
		case jsonwire.Array:
			for at.item, v = range v.Elems() {
				p.addElement(at, v, "")
			}
		default:
			p.addElement(at, v, name)
		}
	}
	return p, nil
}

// addElement adds an element of a list, or the value of the member name.
func (p *Prompt) addElement(at piece, v jsonwire.Value, name string) {
	var list jsonwire.Value
	for name, m := range v.Members() {
		if isList(name) && (m.Kind() == jsonwire.String || m.Kind() == jsonwire.Array) {
			at.list, list = name, m
		}
	}
	if !list.Exists() {
		p.addBlock(at, v, name)
		return
	}
	beside := at
	beside.list = ""
	p.add(beside, jsonPiece, string(appendObject(nil, v, at.list)))
	if list.Kind() == jsonwire.String {
		p.addBlock(at, list, "")
		return
	}
	for at.part, v = range list.Elems() {
		p.addBlock(at, v, "")
	}
}

// isList reports whether a member of an element of a list contains blocks.
func isList(name string) bool {
	switch name {
	case "content", "parts", "functionDeclarations", "function_declarations":
		return true
	}
	return false
}

// addBlock adds a block, or the value of the member name.
func (p *Prompt) addBlock(at piece, v jsonwire.Value, name string) {
	if text, ok := textOf(v); ok {
		if text != "" {
			p.add(at, textPiece, text)
		}
		return
	}
	p.add(at, jsonPiece, string(appendValue(nil, v, isRendered(name))))
}

// textOf returns the text of a string, or of a block that has nothing else.
func textOf(v jsonwire.Value) (string, bool) {
	if v.Kind() == jsonwire.String {
		return v.Str(), true
	}
	text, found := "", false
	for name, m := range v.Members() {
		switch {
		case name == "text" && m.Kind() == jsonwire.String:
			text, found = m.Str(), true
		case name == "type", isLeftOut(name, m):
		default:
			return "", false
		}
	}
	return text, found
}

func (p *Prompt) add(at piece, k kind, text string) {
	at.kind, at.text = k, text
	p.pieces = append(p.pieces, at)
	p.size += int64(len(text))
}

// isMark reports whether a member is a cache mark.
func isMark(name string) bool { return name == "cache_control" || name == "prompt_cache_breakpoint" }

// isLeftOut reports whether a member of a block or of a tool is a cache mark, or has the
// value that it has without being there.
func isLeftOut(name string, v jsonwire.Value) bool {
	if isMark(name) {
		return true
	}
	if isRendered(name) {
		return v.Kind() == jsonwire.Null
	}
	switch v.Kind() {
	case jsonwire.Null, jsonwire.False:
		return true
	case jsonwire.String:
		return v.Is("") || name == "type" && v.Is("custom")
	case jsonwire.Array:
		return v.Len() == 0
	case jsonwire.Object:
		switch name {
		case "citations":
			v = v.Get("enabled")
			return !v.Exists() || isLeftOut("", v)
		case "caller":
			return v.Get("type").Is("direct")
		}
		return v.Len() == 0
	}
	return false
}

// isRendered reports whether the model receives the value of a member as JSON text, so that
// the order of its members matters.
func isRendered(name string) bool {
	switch name {
	case "input_schema", "input", "parameters", "schema", "args", "response",
		"parametersJsonSchema", "parameters_json_schema", "responseJsonSchema", "response_json_schema",
		"responseSchema", "response_schema":
		return true
	}
	return false
}

// appendValue appends a value without white space. If rendered is false, members are
// sorted, and those of isLeftOut are left out.
func appendValue(b []byte, v jsonwire.Value, rendered bool) []byte {
	switch v.Kind() {
	case jsonwire.String:
		return jsonwire.AppendString(b, v.Str())
	case jsonwire.Array:
		b = append(b, '[')
		for i, e := range v.Elems() {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendValue(b, e, rendered)
		}
		return append(b, ']')
	case jsonwire.Object:
		if !rendered {
			return appendObject(b, v, "")
		}
		b = append(b, '{')
		separator := ""
		for name, m := range v.Members() {
			b = jsonwire.AppendString(append(b, separator...), name)
			b = appendValue(append(b, ':'), m, true)
			separator = ","
		}
		return append(b, '}')
	}
	return append(b, v.Raw()...)
}

// appendObject appends an object with sorted members, without the member except and those
// of isLeftOut. Content that is a text is a list with one block, as in results of tools.
func appendObject(b []byte, v jsonwire.Value, except string) []byte {
	type member struct {
		name  string
		value jsonwire.Value
	}
	var members []member
	for name, m := range v.Members() {
		if !isLeftOut(name, m) && (except == "" || name != except) {
			members = append(members, member{name, m})
		}
	}
	slices.SortStableFunc(members, func(a, b member) int { return strings.Compare(a.name, b.name) })
	b = append(b, '{')
	for i, m := range members {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(jsonwire.AppendString(b, m.name), ':')
		if m.name == "content" && m.value.Kind() == jsonwire.String {
			b = append(jsonwire.AppendString(append(b, `[{"text":`...), m.value.Str()), `,"type":"text"}]`...)
			continue
		}
		b = appendValue(b, m.value, isRendered(m.name))
	}
	return append(b, '}')
}

// Size returns the length of all pieces in bytes.
func (p *Prompt) Size() int64 { return p.size }

// Compare returns how many bytes of p are at the beginning of next. If that is not all of p,
// it also returns the place of the first difference in the document of next or, if next ends
// there, in that of p. The last text of p may be longer in next.
func (p *Prompt) Compare(next *Prompt) (shared int64, path string) {
	for i := range p.pieces {
		a := &p.pieces[i]
		if i == len(next.pieces) {
			return shared, p.path(a)
		}
		b := &next.pieces[i]
		same := a.member == b.member && a.kind == b.kind
		switch {
		case same && a.text == b.text:
		case same && a.kind == textPiece && i == len(p.pieces)-1 && strings.HasPrefix(b.text, a.text):
		case same:
			return shared + commonPrefix(a.text, b.text), next.path(b)
		default:
			return shared, next.path(b)
		}
		shared += int64(len(a.text))
	}
	return shared, ""
}

// commonPrefix returns the length of the common prefix of two texts.
func commonPrefix(a, b string) int64 {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return int64(i)
		}
	}
	return int64(n)
}

// path returns the place of a piece, such as "messages.3.content.1".
func (p *Prompt) path(at *piece) string {
	path := p.members[at.member]
	if at.item >= 0 {
		path += "." + strconv.Itoa(at.item)
	}
	if at.list != "" {
		path += "." + at.list
	}
	if at.part >= 0 {
		path += "." + strconv.Itoa(at.part)
	}
	return path
}
