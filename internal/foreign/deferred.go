package foreign

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/partfield"
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
	part := partfield.VendorOf(p)
	get := dataOf(part.Format).references[part.Kind]
	if get == nil {
		return nil
	}
	for _, v := range get(part.Raw).Array() {
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

// IsToolSearch reports whether a part is a search for deferred tools that a vendor has run, or what it found.
func IsToolSearch(p content.Part) bool {
	name := partfield.VendorOf(p).Kind
	if use, ok := p.(*content.ServerToolUse); ok && use != nil {
		name = use.Name
	}
	return strings.HasPrefix(name, "tool_search_") // of all vendors
}
