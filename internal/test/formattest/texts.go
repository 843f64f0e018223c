package formattest

import (
	"iter"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/partfield"
	"github.com/polywire/polywire/upstream"
)

// CheckTexts checks that Texts or Files of a request has each text that a client may choose in
// documents: it replaces every string and every name of a member. decode returns nil for a document
// that is not valid. exempt are the last names of the members that neither has, such as ids.
func CheckTexts(t *testing.T, documents iter.Seq[string], decode func(document string) (*upstream.Request, error), exempt ...string) {
	t.Helper()
	used, valid := map[string]bool{}, 0
	for document := range documents {
		for path, document := range marked(t, document) {
			r, err := decode(document)
			if err != nil {
				continue
			}
			valid++
			member := path[strings.LastIndexByte(path, '.')+1:]
			if hasText(r, marker) {
				continue
			}
			if used[member] = true; !slices.Contains(exempt, member) {
				t.Errorf("neither Texts nor Files has %s of …%s", path, document[max(0, strings.Index(document, marker)-60):])
			}
		}
	}
	if valid < 50 || len(used) != len(exempt) {
		t.Errorf("%d documents; exempt and used: %v", valid, slices.Sorted(maps.Keys(used)))
	}
}

// marker replaces a text.
const marker = "quartz7"

// marked returns copies of a document in which one string or one name is the marker, with its path.
func marked(t *testing.T, document string) iter.Seq2[string, string] {
	doc, err := jsonwire.Parse(document, jsonwire.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return func(yield func(string, string) bool) {
		defer doc.Close()
		var visit func(path string, v jsonwire.Value)
		visit = func(path string, v jsonwire.Value) {
			switch v.Kind() {
			case jsonwire.Object:
				for name, m := range v.Members() {
					visit(path+"."+name, m)
					end := strings.LastIndexByte(document[:strings.LastIndexByte(document[:m.Offset()], ':')], '"')
					yield(path+"."+name, document[:strings.LastIndexByte(document[:end], '"')+1]+marker+document[end:])
				}
			case jsonwire.Array:
				for _, e := range v.Elems() {
					visit(path, e)
				}
			case jsonwire.String:
				yield(path, document[:v.Offset()+1]+marker+document[v.End()-1:])
			}
		}
		visit("", doc.Root())
	}
}

// hasText reports whether a text or a file of r has a word.
func hasText(r *upstream.Request, word string) bool {
	for _, text := range r.Texts() {
		if strings.Contains(text, word) {
			return true
		}
	}
	for _, s := range r.Files() {
		if f := partfield.OfSource(s); f.Data != nil && strings.Contains(*f.Data, word) {
			return true
		}
	}
	return false
}
