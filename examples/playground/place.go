package main

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// A span is a range of a text. Its offsets count UTF-16 code units, as JavaScript does. In a
// tree they count bytes.
type span struct {
	From int `json:"from"`
	To   int `json:"to"`
}

// utf16Step is the number of bytes between the offsets that a utf16Offsets holds.
const utf16Step = 256

// utf16Offsets converts offsets of a text from bytes to UTF-16 code units.
type utf16Offsets struct {
	text string
	at   []int // offsets of each byte whose offset is a multiple of utf16Step; nil for ASCII
}

func newUTF16Offsets(text string) utf16Offsets {
	o := utf16Offsets{text: text}
	if strings.IndexFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 {
		return o
	}
	for from, n := 0, 0; from <= len(text); from += utf16Step {
		o.at = append(o.at, n)
		n += utf16Len(text[from:min(from+utf16Step, len(text))])
	}
	return o
}

// utf16Len returns the number of code units of the characters that begin in s.
func utf16Len(s string) (n int) {
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 0xF0: // begins a character beyond U+FFFF
			n += 2
		case c < 0x80 || c >= 0xC0:
			n++
		}
	}
	return n
}

// span converts a span of bytes.
func (o utf16Offsets) span(s span) span { return span{o.offset(s.From), o.offset(s.To)} }

func (o utf16Offsets) offset(b int) int {
	if o.at == nil {
		return b
	}
	k := b / utf16Step
	return o.at[k] + utf16Len(o.text[k*utf16Step:b])
}

// A node is a JSON value in the text of a document.
type node struct {
	from, to  int32 // bytes of the value
	name      int32 // begin of the name of a member, or -1
	nameEnd   int32
	kids, len int32 // elements or members: tree.kids[kids:kids+len]
	parent    int32 // -1 for the root
}

// A tree holds the places of all values of a JSON document, in the order of the document. The
// root has the number 0.
type tree struct {
	text  string
	nodes []node
	kids  []int32
	large map[int32]names // objects with many members
}

// names finds the members of an object by name.
type names struct {
	exact, plain map[string]int32 // by name and by plainName
}

// manyMembers is the least number of members for which an object is in tree.large.
const manyMembers = 64

// newTree scans a document once. A tree of a text that is not valid JSON has places within
// the text, but of no certain meaning.
func newTree(text string) *tree {
	t := &tree{text: text, nodes: make([]node, 0, 16+len(text)/64), kids: make([]int32, 0, 16+len(text)/64)}
	var open, waiting []int32 // containers; values whose container is open
	starts := []int32{}       // index in waiting of the first value of each open container
	name, nameEnd := int32(-1), int32(0)
	add := func(from, to int) int32 {
		parent := int32(-1)
		if len(open) > 0 {
			parent = open[len(open)-1]
		}
		t.nodes = append(t.nodes, node{from: int32(from), to: int32(to), name: name, nameEnd: nameEnd, parent: parent})
		name = -1
		n := int32(len(t.nodes) - 1)
		waiting = append(waiting, n)
		return n
	}
	closeLast := func(end int) {
		last := len(open) - 1
		n, start := &t.nodes[open[last]], starts[last]
		n.to, n.kids, n.len = int32(end), int32(len(t.kids)), int32(len(waiting))-start
		t.kids = append(t.kids, waiting[start:]...)
		if n.len >= manyMembers && text[n.from] == '{' {
			t.addLarge(open[last])
		}
		waiting = waiting[:start]
		open, starts = open[:last], starts[:last]
		name = -1
	}
	i := 0
	for i < len(text) && (len(t.nodes) == 0 || len(open) > 0) {
		switch text[i] {
		case ' ', '\t', '\n', '\r', ',', ':':
			i++
		case '{', '[':
			n := add(i, len(text))
			open, starts = append(open, n), append(starts, int32(len(waiting)))
			i++
		case '}', ']':
			i++
			if len(open) > 0 {
				closeLast(i)
			}
		case '"':
			end := stringEnd(text, i)
			if len(open) > 0 && text[t.nodes[open[len(open)-1]].from] == '{' && name < 0 {
				name, nameEnd = int32(i), int32(end)
			} else {
				add(i, end)
			}
			i = end
		default:
			end := i + 1
			for end < len(text) && !strings.ContainsRune(" \t\n\r,:{}[]\"", rune(text[end])) {
				end++
			}
			add(i, end)
			i = end
		}
	}
	for len(open) > 0 {
		closeLast(len(text))
	}
	if len(t.nodes) == 0 {
		name = -1
		add(len(text), len(text))
	}
	return t
}

// addLarge adds an object to t.large. Of members with similar names it adds the first one.
func (t *tree) addLarge(object int32) {
	n := names{map[string]int32{}, map[string]int32{}}
	for _, kid := range slices.Backward(t.children(object)) {
		name := t.name(kid)
		n.exact[name], n.plain[plainName(name)] = kid, kid
	}
	if t.large == nil {
		t.large = map[int32]names{}
	}
	t.large[object] = n
}

// stringEnd returns the end of the string that begins at i.
func stringEnd(text string, i int) int {
	for i++; i < len(text); i++ {
		k := strings.IndexByte(text[i:], '"')
		if k < 0 {
			break
		}
		i += k
		slashes := 0
		for text[i-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return i + 1
		}
	}
	return len(text)
}

// kind returns the first byte of a value, such as '{'.
func (t *tree) kind(n int32) byte {
	if v := t.nodes[n]; v.from < v.to {
		return t.text[v.from]
	}
	return 0
}

// children returns the elements or members of a value.
func (t *tree) children(n int32) []int32 {
	v := t.nodes[n]
	return t.kids[v.kids : v.kids+v.len]
}

// contains reports whether a value is or contains another one.
func (t *tree) contains(outer, inner int32) bool {
	return t.nodes[outer].from <= t.nodes[inner].from && t.nodes[inner].to <= t.nodes[outer].to
}

// value returns the text of a value.
func (t *tree) value(n int32) string { return t.text[t.nodes[n].from:t.nodes[n].to] }

// name returns the name of a member, or "" for other values.
func (t *tree) name(n int32) string {
	v := t.nodes[n]
	if v.name < 0 {
		return ""
	}
	return unquote(t.text[v.name:v.nameEnd])
}

// unquote returns the value of a JSON string.
func unquote(raw string) (s string) {
	if len(raw) >= 2 && strings.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1]
	}
	if json.Unmarshal([]byte(raw), &s) != nil {
		return ""
	}
	return s
}

// place returns the bytes of a value, with its name if it is a member. A whole document is
// marked at its first character.
func (t *tree) place(n int32) span {
	v := t.nodes[n]
	switch {
	case n == 0:
		return span{int(v.from), min(int(v.from)+1, int(v.to))}
	case v.name >= 0:
		return span{int(v.name), int(v.to)}
	}
	return span{int(v.from), int(v.to)}
}

// member returns the member of an object with a name, or -1. The spelling may differ as
// topK and top_k do.
func (t *tree) member(object int32, name string) int32 {
	if n, ok := t.large[object]; ok {
		kid, found := n.exact[name]
		if !found {
			kid, found = n.plain[plainName(name)]
		}
		if !found {
			kid = -1
		}
		return kid
	}
	similar := int32(-1)
	for _, kid := range t.children(object) {
		switch found := t.name(kid); {
		case found == name:
			return kid
		case similar < 0 && sameName(found, name):
			similar = kid
		}
	}
	return similar
}

// plainName returns a name in lower case and without underscores. It is equal for names that
// differ only in spelling, as topK and top_k do.
func plainName(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

// sameName reports whether two names differ only in spelling.
func sameName(a, b string) bool { return plainName(a) == plainName(b) }

// find returns the value at a path such as "messages.3.content.1" or
// "contents[3].parts[1]". If there is none, found is false, and find returns the innermost
// value that contains the place.
//
// Paths of violations in Messages contain the types of blocks and sources, such as
// "messages.0.content.0.image.source", which are not names of members.
func (t *tree) find(path string) (at int32, found bool) {
	steps := pathSteps(path)
	for len(steps) > 0 {
		step := steps[0]
		index, err := strconv.Atoi(step)
		switch t.kind(at) {
		case '[':
			kids := t.children(at)
			if err != nil || index < 0 || index >= len(kids) {
				return at, false
			}
			at, steps = kids[index], steps[1:]
		case '{':
			n, used := t.longestMember(at, steps)
			switch {
			case n >= 0:
				at, steps = n, steps[used:]
			case t.isTag(at, step) || err == nil && index == 0: // or an object in place of a list
				steps = steps[1:]
			default:
				return at, false
			}
		default:
			return at, false
		}
	}
	return at, true
}

// maxNameSteps is the maximum number of steps of a path that are tried as one name with dots.
const maxNameSteps = 8

// longestMember returns the member of an object that the first steps name, and their
// number. Names may contain dots.
func (t *tree) longestMember(object int32, steps []string) (n int32, used int) {
	name := ""
	for i, s := range steps[:min(len(steps), maxNameSteps)] {
		if i > 0 {
			name += "."
		}
		name += s
		if n := t.member(object, name); n >= 0 {
			return n, i + 1
		}
	}
	return -1, 0
}

// isTag reports whether a step of a path is the type of an object.
func (t *tree) isTag(object int32, step string) bool {
	kind := t.member(object, "type")
	if kind < 0 {
		return step == "custom" // a tool
	}
	return unquote(t.value(kind)) == step
}

// pathSteps returns the steps of a path.
func pathSteps(path string) (steps []string) {
	if path == "" {
		return nil
	}
	for _, s := range strings.Split(path, ".") {
		name, indexes, bracketed := strings.Cut(s, "[")
		if !bracketed || !strings.HasSuffix(indexes, "]") {
			steps = append(steps, s)
			continue
		}
		if name != "" {
			steps = append(steps, name)
		}
		steps = append(steps, strings.Split(strings.TrimSuffix(indexes, "]"), "][")...)
	}
	return steps
}

// A source is a document of the page with what is needed to find places in it.
type source struct {
	text  string
	tree  func() *tree // scans the text once; not called for texts that are not valid JSON
	utf16 utf16Offsets
}

func newSource(text string) *source {
	return &source{text, sync.OnceValue(func() *tree { return newTree(text) }), newUTF16Offsets(text)}
}

// at returns the place of a path, or nil if the document has no part of it.
func (s *source) at(path string) *span {
	n, _ := s.tree().find(path)
	if n == 0 {
		return nil
	}
	place := s.span(n)
	return &place
}

// span returns the place of a value.
func (s *source) span(n int32) span { return s.utf16.span(s.tree().place(n)) }

// Forms of texts of violations that contain a place.
var (
	linePattern = regexp.MustCompile(`(?:at |\()line (\d+), column (\d+)\)?$`)
	namePattern = regexp.MustCompile(`Unknown name ("(?:[^"\\]|\\.)*")`)
)

// violation returns the place of a violation. That of the whole document is its first
// character.
func (s *source) violation(path, text string) span {
	name := namePattern.FindStringSubmatch(text)
	if path == "" && name == nil {
		line, column := 1, 1+len(s.text)-len(strings.TrimLeft(s.text, " \t\r\n"))
		if m := linePattern.FindStringSubmatch(text); m != nil {
			line, _ = strconv.Atoi(m[1])
			column, _ = strconv.Atoi(m[2])
		}
		return s.utf16.span(character(s.text, line, column))
	}
	t := s.tree()
	n, _ := t.find(path)
	if name != nil && t.kind(n) == '{' {
		if member := t.member(n, unquote(name[1])); member >= 0 {
			n = member
		}
	}
	return s.span(n)
}

// character returns the bytes of the character in a line and column, or of the last
// character that is not white space if the text ends before.
func character(text string, line, column int) span {
	at := 0
	for ; line > 1; line-- {
		k := strings.IndexByte(text[at:], '\n')
		if k < 0 {
			break
		}
		at += k + 1
	}
	for ; column > 1 && at < len(text); column-- {
		_, n := utf8.DecodeRuneInString(text[at:])
		at += n
	}
	if at == len(text) {
		at = len(strings.TrimRight(text, " \t\r\n"))
		_, n := utf8.DecodeLastRuneInString(text[:at])
		at -= n
	}
	_, n := utf8.DecodeRuneInString(text[at:])
	return span{at, at + n}
}
