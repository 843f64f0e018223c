package foreign

import (
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
)

// toolMembers are the members of vendors' tools that do not restrict what a tool may do,
// with the rule for those that a replacement does not have. A nil rule means that the
// member has no meaning for the replacement.
var toolMembers = map[string]*loss.Rule{
	"type": nil, "name": nil, "cache_control": nil, "container": nil, "defer_loading": nil, "strict": nil, "execution": nil,
	"user_location": ToolSettings, "search_context_size": ToolSettings, "response_inclusion": ToolSettings,
	"search_content_types": ToolSettings,
	"citations":            ToolSettings, "use_cache": ToolSettings, "allowed_callers": ToolSettings,
}

// ToolMember returns the rule for a member of a vendor's tool that the tool of another
// vendor for the same purpose does not have, or nil if that loses nothing.
func ToolMember(name string, v jsonwire.Value) *loss.Rule {
	r, known := toolMembers[name]
	switch {
	case v.Kind() == jsonwire.Null, name == "allowed_callers" && onlyDirect(v), name == "external_web_access" && v.Kind() == jsonwire.True:
		return nil
	case !known:
		return ToolRestrictions
	}
	return r
}

// onlyDirect reports whether only the model may call a tool, which is the case for all
// tools of other formats. callers is the member "allowed_callers" of Messages.
func onlyDirect(callers jsonwire.Value) bool {
	for _, x := range callers.Elems() {
		if !x.Is("direct") {
			return false
		}
	}
	return true
}
