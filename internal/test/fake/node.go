package fake

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Kind is the kind of a JSON value.
type Kind string

// The kinds of JSON values.
const (
	Null   Kind = "null"
	Bool   Kind = "boolean"
	Number Kind = "number"
	String Kind = "string"
	Array  Kind = "array"
	Object Kind = "object"
)

// A Node is a JSON value that keeps the order of its members. A nil Node is an
// absent value: its methods find nothing.
type Node struct {
	Kind  Kind
	Str   string // a string's text, a number as written, "true" or "false"
	Items []*Node
	Keys  []string // names of the members; Items holds their values
}

// Parse parses a JSON document. A duplicate key is an error.
func Parse(body []byte) (*Node, error) {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	n, err := parse(d)
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("data after the document")
	}
	return n, nil
}

func parse(d *json.Decoder) (*Node, error) {
	tok, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch tok := tok.(type) {
	case json.Delim:
		return parseNested(d, tok)
	case string:
		return &Node{Kind: String, Str: tok}, nil
	case json.Number:
		return &Node{Kind: Number, Str: tok.String()}, nil
	case bool:
		return &Node{Kind: Bool, Str: strconv.FormatBool(tok)}, nil
	default:
		return &Node{Kind: Null}, nil
	}
}

func parseNested(d *json.Decoder, open json.Delim) (*Node, error) {
	n := &Node{Kind: Array}
	if open == '{' {
		n.Kind = Object
	}
	for d.More() {
		if n.Kind == Object {
			tok, err := d.Token()
			if err != nil {
				return nil, err
			}
			key, _ := tok.(string)
			if n.Has(key) {
				return nil, fmt.Errorf("duplicate key %q", key)
			}
			n.Keys = append(n.Keys, key)
		}
		v, err := parse(d)
		if err != nil {
			return nil, err
		}
		n.Items = append(n.Items, v)
	}
	_, err := d.Token()
	return n, err
}

// Get returns the first of the named members that exists and is not null, or
// nil.
func (n *Node) Get(names ...string) *Node {
	if n == nil || n.Kind != Object {
		return nil
	}
	for _, name := range names {
		for i, k := range n.Keys {
			if k == name && n.Items[i].Kind != Null {
				return n.Items[i]
			}
		}
	}
	return nil
}

// Has reports whether an object has the member, null included.
func (n *Node) Has(name string) bool {
	if n == nil || n.Kind != Object {
		return false
	}
	for _, k := range n.Keys {
		if k == name {
			return true
		}
	}
	return false
}

// Text returns the value of a string member, or "".
func (n *Node) Text(names ...string) string {
	if v := n.Get(names...); v != nil && v.Kind == String {
		return v.Str
	}
	return ""
}

// True reports whether a member is true.
func (n *Node) True(names ...string) bool {
	v := n.Get(names...)
	return v != nil && v.Kind == Bool && v.Str == "true"
}

// Num returns the value of a number member; ok is false if there is none.
func (n *Node) Num(names ...string) (f float64, ok bool) {
	v := n.Get(names...)
	if v == nil || (v.Kind != Number && v.Kind != String) {
		return 0, false
	}
	f, err := strconv.ParseFloat(v.Str, 64)
	return f, err == nil
}

// List returns the items of an array, a list of the value itself if it is
// neither an array nor null, or nil.
func (n *Node) List(names ...string) []*Node {
	v := n.Get(names...)
	switch {
	case v == nil:
		return nil
	case v.Kind == Array:
		return v.Items
	default:
		return []*Node{v}
	}
}

// Blank reports whether a string contains only white space.
func Blank(s string) bool { return strings.TrimSpace(s) == "" }
