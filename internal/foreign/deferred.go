package foreign

import (
	"github.com/tidwall/gjson"

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

// A ToolReference names a tool.
type ToolReference struct{ Namespace, Name string }

// ToolReferences returns the tools that a part loads.
func ToolReferences(p content.Part) (list []ToolReference) {
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
	get := dataOf(f).references[kind]
	if get == nil {
		return nil
	}
	for _, v := range get(raw).Array() {
		switch {
		case v.Type == gjson.String:
			list = append(list, ToolReference{Name: v.Str})
		case v.Get("type").Str == "namespace":
			for _, inner := range v.Get("tools").Array() {
				list = append(list, ToolReference{v.Get("name").Str, inner.Get("name").Str})
			}
		default:
			list = append(list, ToolReference{Name: v.Get("name").Str})
		}
	}
	return list
}

// LoadsTools reports whether a part is of a kind that loads tools.
func LoadsTools(u *content.Unknown) bool { return dataOf(u.Format).references[u.Kind] != nil }
