package foreign

import (
	"github.com/polywire/polywire/content"
)

// SearchesTools reports whether a tool is one with which a vendor searches deferred tools, and
// loads what it finds.
func SearchesTools(t *content.Tool) bool {
	if t.Kind == "" {
		return false
	}
	is := dataOf(t.Format).searchesTools
	return is != nil && is(t)
}

// ToolReferences returns the names of the tools that a part loads.
func ToolReferences(p content.Part) (names []string) {
	var f content.Format
	kind, raw := "", ""
	switch p := p.(type) { // other kinds load no tools
	case *content.Unknown:
		if p != nil {
			f, kind, raw = p.Format, p.Kind, p.Raw
		}
	case *content.ServerToolResult:
		if p != nil {
			f, kind, raw = p.Format, p.Kind, p.Content
		}
	}
	if get := dataOf(f).references[kind]; get != nil {
		for _, v := range get(raw).Array() {
			names = append(names, v.Str)
		}
	}
	return names
}
