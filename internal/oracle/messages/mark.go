package messages

import (
	"errors"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/document"
	"github.com/polywire/polywire/internal/jsonwire"
)

var errNoPlace = errors.New("messages: the document does not have the part of the cache mark")

// markCache returns the edit that sets the cache mark at a place of a valid document, or
// removes it if c is nil.
func markCache(body string, at document.Place, c *content.Cache) (document.Edit, error) {
	var none document.Edit
	mark, err := encodeCache(c)
	if err != nil {
		return none, err
	}
	doc, err := jsonwire.Parse(body, codec.UnlimitedJSON)
	if err != nil {
		return none, err
	}
	defer doc.Close()
	list, i := doc.Root().Get(at.List), at.Item
	if at.List == "turns" {
		list, i = element(doc.Root().Get("messages"), at.Item).Get("content"), at.Part
	}
	if list.Kind() == jsonwire.String && i == 0 {
		if mark == "" {
			return none, nil
		}
		return document.Edit{From: list.Offset(), To: list.End(), Text: `[{"type":"text","text":` + list.Raw() + `,"cache_control":` + mark + `}]`}, nil
	}
	block := element(list, i)
	if block.Kind() != jsonwire.Object {
		return none, errNoPlace
	}
	return markBlock(body, block, mark), nil
}

// encodeCache returns the value of cache_control, or "" if c is nil.
func encodeCache(c *content.Cache) (string, error) {
	if c == nil {
		return "", nil
	}
	var w jsonwire.Writer
	e := newEncoder(&w)
	w.BeginObject()
	e.members(cacheType, c)
	w.EndObject()
	return w.Text(), e.Violations.Err()
}

// element returns an element of a list, or no value.
func element(list jsonwire.Value, i int) jsonwire.Value {
	for k, v := range list.Elems() {
		if k == i {
			return v
		}
	}
	return jsonwire.Value{}
}

// markBlock returns the edit that sets the cache mark of a block, which is an object with
// other members, or removes it if mark is empty.
func markBlock(body string, block jsonwire.Value, mark string) document.Edit {
	end := block.Offset() + 1 // of the member before
	first := true
	for name, v := range block.Members() {
		if name != "cache_control" {
			end, first = v.End(), false
			continue
		}
		switch {
		case mark != "":
			return document.Edit{From: v.Offset(), To: v.End(), Text: mark}
		case v.Kind() == jsonwire.Null:
			return document.Edit{}
		case !first: // with the comma before it
			return document.Edit{From: end, To: v.End()}
		}
		to := v.End()
		if block.Len() > 1 {
			to += strings.IndexByte(body[to:], ',') + 1 // only white space is before the comma
		}
		return document.Edit{From: end, To: to}
	}
	if mark == "" {
		return document.Edit{}
	}
	return document.Edit{From: end, To: end, Text: `,"cache_control":` + mark}
}
