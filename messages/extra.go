package messages

import (
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
)

// extra returns the members of v that have no field, in their order and with the
// bytes of their values; nil if there are none. Requests drop known members that
// have their default value. Names that a lenient reader would take for known ones
// are violations.
func (p *parser) extra(v jsonwire.Value, n *codec.Names) *content.Extra {
	return p.extraCiting(v, n, jsonwire.Value{})
}

// extraCiting is extra for an object whose member "citations", odd, has unknown
// members. They become a member "citations" of the Extra.
func (p *parser) extraCiting(v jsonwire.Value, n *codec.Names, odd jsonwire.Value) *content.Extra {
	if !p.quota.Members(v.Len()) {
		return nil
	}
	b, names := p.extras.Begin(), n.Index()
	var long strings.Builder
	for name, x := range v.Members() {
		known, typed := names.Find(name)
		switch {
		case known == name && !typed && isDefault(name, x) && (p.origin != nil || name == "caller"):
			// Responses always have a caller, and the encoder of responses writes it.
		case known != name || !typed:
			p.lookAlike(name, known)
			b = codec.AppendMember(b, name, x.Raw())
		case name == "citations" && odd.Exists():
			b = append(codec.AppendName(b, name), '{')
			for name, x := range odd.Members() {
				if !citationsNames.Has(name) {
					b = codec.AppendMember(b, name, x.Raw())
				}
			}
			b = append(b, '}')
		}
		if len(b) > longExtra {
			if long.Len() == 0 {
				long.Grow(spread(v))
			}
			// What has been written last decides about the next comma.
			last := len(b) - 1
			long.Write(b[:last])
			b = append(b[:0], b[last])
		}
	}
	if long.Len() > 0 {
		long.Write(append(b, '}'))
		return p.extras.New(Format, long.String())
	}
	if json := p.extras.End(b); json != "" {
		return p.extras.New(Format, json)
	}
	return nil
}

// longExtra is the length from which on an Extra gets memory of its own.
const longExtra = 8 << 10

// spread returns how long an Extra of v can become, not counting the long
// values in it, of which most are in fields.
func spread(v jsonwire.Value) int {
	n := v.End() - v.Offset()
	for _, x := range v.Members() {
		if size := x.End() - x.Offset(); size > longExtra {
			n -= size
		}
	}
	return n
}

// isDefault reports whether a member that is known but has no field says no
// more than if it were not there. Clients write such members into every block
// that they send back, and to formats that do not have them they are no loss.
func isDefault(name string, v jsonwire.Value) bool {
	switch v.Kind() {
	case jsonwire.Null:
		switch name {
		case "caller", "toolset_name", "clear_at", "output_config", "block_binding", "task_budget", "transformations",
			"allowed_callers", "defer_loading", "input_examples", "eager_input_streaming":
			return true
		}
	case jsonwire.False:
		return name == "defer_loading" || name == "is_error"
	case jsonwire.Object:
		return name == "caller" && v.Len() == 1 && v.Get("type").Is("direct")
	case jsonwire.Array:
		if name == "allowed_callers" && v.Len() == 1 {
			for _, x := range v.Elems() {
				return x.Is("direct")
			}
		}
		return name == "input_examples" && v.Len() == 0
	}
	return false
}

// lookAlikes reports names that are not known and that a laxer reader would
// take for known ones.
func (p *parser) lookAlikes(v jsonwire.Value, n *codec.Names) {
	names := n.Index()
	for name := range v.Members() {
		known, _ := names.Find(name)
		p.lookAlike(name, known)
	}
}

// lookAlike reports a name that is not the known one that it could be taken
// for.
func (p *parser) lookAlike(name, known string) {
	switch {
	case known == "", known == name:
	case p.violations.Len() >= content.MaxViolations:
		p.violations.Add(content.CodeUnknown, "", "") // is only counted
	default:
		p.violation(content.CodeUnknown, codec.Clip(name), textExtra+": did you mean '"+known+"'?")
	}
}
