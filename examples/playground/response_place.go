package main

import (
	"strconv"
	"strings"
	"sync"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/examples/internal/format"
	"github.com/polywire/polywire/upstream"
)

// responsePlaces finds the parts of a response in a document that represents it. A part is
// where its text, its id or its data is.
type responsePlaces struct {
	src   *source
	path  func(string) string
	exact bool                    // paths name the place in the document, because it was decoded
	parts map[string]int32        // values by neutral path
	first func() map[string]int32 // first members by plainName
}

// newResponsePlaces returns the places of resp in the document of src. client is the format of
// the document. decoded reports that resp was decoded from the document.
func newResponsePlaces(src *source, client *format.Client, resp *upstream.Response, decoded bool) *responsePlaces {
	p := &responsePlaces{src: src, path: client.Path, exact: decoded, parts: map[string]int32{}}
	p.first = sync.OnceValue(func() map[string]int32 { return firstMembers(src.tree()) })
	p.add("parts.", resp.Parts)
	for i, c := range resp.MoreCandidates {
		p.add("candidates."+strconv.Itoa(i+1)+".parts.", c.Parts)
	}
	return p
}

// add finds parts.
func (p *responsePlaces) add(prefix string, parts []content.Part) {
	wanted := map[string][]string{} // neutral paths by what identifies the part
	for i, part := range parts {
		if key := partKey(part); key != "" {
			wanted[key] = append(wanted[key], prefix+strconv.Itoa(i))
		}
	}
	if len(wanted) == 0 {
		return
	}
	t := p.src.tree()
	for n := range int32(len(t.nodes)) {
		if t.kind(n) != '"' {
			continue
		}
		key := unquote(t.value(n))
		if paths := wanted[key]; len(paths) > 0 {
			p.parts[paths[0]] = t.element(n)
			wanted[key] = paths[1:]
		}
	}
}

// partKey returns a text that the document of a response contains if it contains the part.
func partKey(p content.Part) string {
	switch p := p.(type) { // other kinds are not in responses
	case *content.Text:
		return p.Text
	case *content.Thinking:
		if p.Text == "" {
			return p.Redacted.Data
		}
		return p.Text
	case *content.ToolUse:
		return p.ID
	case *content.ServerToolUse:
		return p.ID
	case *content.ServerToolResult:
		return p.Kind
	case *content.Image:
		return sourceKey(p.Source)
	case *content.Media:
		return sourceKey(p.Source)
	case *content.Document:
		return sourceKey(p.Source)
	case *content.Unknown:
		return p.Kind
	}
	return ""
}

// sourceKey is partKey for a file.
func sourceKey(s content.Source) string {
	switch s := s.(type) { // other kinds are not in responses
	case *content.Base64:
		return s.Data
	case *content.URL:
		return s.URL
	case *content.File:
		return s.ID
	}
	return ""
}

// element returns the innermost list element that contains a value. A member of a message
// is a part itself.
func (t *tree) element(n int32) int32 {
	if parent := t.nodes[n].parent; parent >= 0 && t.kind(parent) == '{' && t.member(parent, "role") >= 0 {
		return n
	}
	for at := n; at > 0; at = t.nodes[at].parent {
		if t.kind(t.nodes[at].parent) == '[' {
			return at
		}
	}
	return n
}

// find returns the place of a neutral path, or nil if it is not found.
func (p *responsePlaces) find(neutral string) *span {
	for path := neutral; path != ""; path = enclosing(path) {
		if n, ok := p.parts[path]; ok {
			place := p.src.span(n)
			return &place
		}
	}
	t := p.src.tree()
	if strings.Contains("."+neutral, ".parts") {
		if n, found := t.find(p.path(neutral)); found && p.exact {
			place := p.src.span(n)
			return &place
		}
		return nil // the document does not have the part
	}
	for _, path := range append([]string{p.path(neutral)}, memberPaths[neutral]...) {
		if n, found := t.find(path); found && n > 0 {
			place := p.src.span(n)
			return &place
		}
	}
	if n, ok := p.first()[plainName(neutral)]; ok {
		place := p.src.span(n)
		return &place
	}
	return nil
}

// memberPaths are other places of members in some formats.
var memberPaths = map[string][]string{
	"stop": {"choices.0.finish_reason", "incomplete_details", "status"},
}

// firstMembers returns the first member of each name in a document.
func firstMembers(t *tree) map[string]int32 {
	first := map[string]int32{}
	for n := range int32(len(t.nodes)) {
		name := plainName(t.name(n))
		if _, ok := first[name]; !ok && name != "" {
			first[name] = n
		}
	}
	return first
}
