package lower

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/partfield"
	"github.com/polywire/polywire/upstream"
)

// A Cloud describes what a service with the models of a vendor does not accept of the
// vendor's own format. The zero Cloud accepts everything.
type Cloud struct {
	Format content.Format

	// Members are the own members of a request that it does not accept, and the rules that
	// report them. A member of a member has both names, joined by a dot.
	Members map[string]*loss.Rule

	// ToolMembers, PartMembers and MarkMembers are the same for functions, parts and cache marks.
	ToolMembers, PartMembers, MarkMembers map[string]*loss.Rule

	// Tools are the beginnings of the kinds of built-in tools that it does not accept, and
	// Calls those of the names and kinds of their calls and results in the conversation.
	Tools, Calls []string

	// Edits are the kinds of edits of context_management that it does not accept.
	Edits []string

	// NoAutoCache says that it has no cache mark of the request as a whole, the member
	// cache_control. The last part gets the mark, which has the same effect.
	NoAutoCache bool

	NoTiers bool // no service tiers
	NoFiles bool // no files that the vendor stores, but those for which Stores returns true
	NoLinks bool // no links to files
	Stores  func(id string) bool
}

// HasTool reports whether the service has a built-in tool.
func (c *Cloud) HasTool(kind string) bool { return c == nil || !hasPrefix(kind, c.Tools) }

func hasPrefix(s string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(s, p) }) // bounded by Cloud
}

// Accepts reports whether the service accepts all of n, and files in the form in which n has
// them.
func (c *Cloud) Accepts(n *upstream.Request) bool {
	if c == nil {
		return true
	}
	r := restriction{cloud: c, to: *n}
	r.run()
	return !r.changed && !r.files
}

// restricted returns n without what the service does not accept, and the losses. It does not
// change n, and returns it if nothing is removed.
func (c *Cloud) restricted(n *upstream.Request) (*upstream.Request, []Loss) {
	r := restriction{cloud: c, to: *n}
	if r.run(); !r.changed {
		return n, nil
	}
	return &r.to, r.losses
}

// A restriction is one run of [Cloud.restricted].
type restriction struct {
	cloud   *Cloud
	to      upstream.Request // shares unchanged lists and parts with the original
	losses  []Loss
	changed bool
	files   bool // there are links or stored files that it does not accept
}

// lose reports that something is removed.
func (r *restriction) lose(rule *loss.Rule, at Path) {
	r.losses, r.changed = append(r.losses, Loss{Rule: rule, Path: at}), true
}

func (r *restriction) run() {
	n := &r.to
	n.Extra = r.members(n.Extra, r.cloud.Members, Path{})
	r.edits()
	r.autoCache()
	if r.cloud.NoTiers && n.ServiceTier != "" {
		r.lose(ServiceTier, At("service_tier"))
		n.ServiceTier = ""
	}
	n.System, _ = r.parts(n.System, Path{}, System)
	n.Turns, _ = partfield.MapTurns(n.Turns, func(i int, parts []content.Part) ([]content.Part, bool) {
		return r.parts(parts, In(Turns, i), Parts)
	})
	r.tools()
}

// edits removes edits of context_management.
func (r *restriction) edits() {
	const member = "context_management"
	x := codec.Own(r.to.Extra, r.cloud.Format)
	if x == nil || len(r.cloud.Edits) == 0 {
		return
	}
	json, _ := x.Get(member)
	edits := gjson.Get(json, "edits")
	var kept []string
	for _, e := range edits.Array() {
		if !slices.Contains(r.cloud.Edits, e.Get("type").Str) { // bounded by Cloud
			kept = append(kept, e.Raw)
		}
	}
	if !edits.IsArray() || len(kept) == len(edits.Array()) {
		return
	}
	r.lose(CloudEdit, At("extra."+member))
	var w jsonwire.Writer
	if len(kept) > 0 {
		w.BeginObject()
		_ = w.MembersExcept(json, func(name string) bool { return name == "edits" }) // was parsed before
		w.RawMember("edits", "["+strings.Join(kept, ",")+"]")
		w.EndObject()
	}
	r.setMember(member, w.Text())
}

// setMember replaces an own member of the request. An empty value removes it.
func (r *restriction) setMember(name, value string) {
	r.to.Extra, r.changed = withMember(r.to.Extra, name, value), true
}

// autoCache moves the cache mark of the request to its last part that can have one. If that
// has a mark already, the request has the same effect without its own.
func (r *restriction) autoCache() {
	const member = "cache_control"
	n := &r.to
	x := codec.Own(n.Extra, r.cloud.Format)
	if x == nil || !r.cloud.NoAutoCache {
		return
	}
	json, _ := x.Get(member)
	mark := cacheOf(json, x.Format)
	if mark == nil {
		return
	}
	r.setMember(member, "")
	for i := len(n.Turns) - 1; i >= 0; i-- {
		for k := len(n.Turns[i].Parts) - 1; k >= 0; k-- {
			p := n.Turns[i].Parts[k]
			f := partfield.Of(p)
			if t, ok := p.(*content.Text); f.Cache == nil || ok && t.Text == "" {
				continue
			}
			if *f.Cache != nil {
				return
			}
			p, f = partfield.Copy(p)
			*f.Cache = mark
			n.Turns = slices.Clone(n.Turns)
			n.Turns[i].Parts = slices.Clone(n.Turns[i].Parts)
			n.Turns[i].Parts[k] = p
			return
		}
	}
	r.lose(CloudMark, At("extra."+member))
}

// tools removes built-in tools, and members of functions.
func (r *restriction) tools() {
	tools := r.to.Tools
	own := false
	for i := range tools {
		t, at := tools[i], In(Tools, i)
		keep := t.Kind == "" || t.Format != r.cloud.Format || r.cloud.HasTool(t.Kind)
		if !keep {
			r.lose(CloudTool, at)
		}
		x, mark := r.members(t.Extra, r.cloud.ToolMembers, at), r.mark(t.Cache, at)
		if (!keep || x != t.Extra || mark != t.Cache) && !own {
			r.to.Tools, own = append(make([]content.Tool, 0, len(tools)), tools[:i]...), true
		}
		if own && keep {
			t.Extra, t.Cache = x, mark
			r.to.Tools = append(r.to.Tools, t)
		}
	}
}

// parts returns a list of parts without those that the service does not accept, and whether
// it is a changed copy.
func (r *restriction) parts(parts []content.Part, at Path, l List) (list []content.Part, changed bool) {
	return partfield.Map(parts, func(i int, p content.Part) content.Part { return r.part(p, at.In(l, i)) })
}

// part returns p, a changed copy, or nil if the service does not accept it.
func (r *restriction) part(p content.Part, at Path) content.Part {
	if content.IsNil(p) {
		return p // a later pass refuses it
	}
	name := partfield.VendorOf(p).Kind
	if u, ok := p.(*content.ServerToolUse); ok && name == "server_tool_use" {
		name = u.Name
	}
	if name != "" && hasPrefix(name, r.cloud.Calls) {
		r.lose(CloudCall, at)
		return nil
	}
	f := partfield.Of(p)
	if f.Cache != nil {
		if c := r.mark(*f.Cache, at); c != *f.Cache {
			p, f = partfield.Copy(p)
			*f.Cache = c
		}
	}
	if f.Extra != nil {
		if x := r.members(*f.Extra, r.cloud.PartMembers, at); x != *f.Extra {
			p, f = partfield.Copy(p)
			*f.Extra = x
		}
	}
	if f.Parts != nil {
		if list, changed := r.parts(*f.Parts, at, Parts); changed {
			p, f = partfield.Copy(p)
			*f.Parts = list
		}
	}
	if f.Source == nil {
		return p
	}
	switch s := (*f.Source).(type) { // other kinds contain their data
	case *content.File:
		r.files = r.files || s != nil && r.cloud.NoFiles && (r.cloud.Stores == nil || !r.cloud.Stores(s.ID))
	case *content.URL:
		r.files = r.files || r.cloud.NoLinks
	case *content.Parts:
		if s == nil {
			return p
		}
		if list, changed := r.parts(s.Parts, at, SourceParts); changed {
			p = partfield.WithSource(p, &content.Parts{Parts: list, Extra: s.Extra})
		}
	}
	return p
}

// mark returns a cache mark without the members that the service does not accept.
func (r *restriction) mark(c *content.Cache, at Path) *content.Cache {
	if c == nil {
		return nil
	}
	x := r.members(c.Extra, r.cloud.MarkMembers, at.Member("cache"))
	if x == c.Extra {
		return c
	}
	return &content.Cache{TTL: c.TTL, Extra: x}
}

// members returns x, own members of the object at a path, without those of a table. It
// returns nil if none are left.
func (r *restriction) members(x *content.Extra, table map[string]*loss.Rule, at Path) *content.Extra {
	if len(table) == 0 || codec.Own(x, r.cloud.Format) == nil || !mentions(x.JSON, table) {
		return x
	}
	doc, err := jsonwire.Parse(x.JSON, codec.UnlimitedJSON)
	if err != nil || doc.Root().Kind() != jsonwire.Object {
		return x // encoding reports it
	}
	defer doc.Close()
	var w jsonwire.Writer
	if !r.object(&w, doc.Root(), table, "", at.Member("extra")) {
		return x
	}
	r.changed = true
	if w.Text() == "{}" {
		return nil
	}
	return &content.Extra{Format: x.Format, JSON: w.Text()}
}

// mentions reports whether a JSON text has a name of a table in it.
func mentions(json string, table map[string]*loss.Rule) bool {
	for name := range table {
		if first, _, _ := strings.Cut(name, "."); strings.Contains(json, first) {
			return true
		}
	}
	return false
}

// object writes an object without the members of a table, which has them with a prefix, and
// without objects that are empty then. It reports whether it has left out any.
func (r *restriction) object(w *jsonwire.Writer, v jsonwire.Value, table map[string]*loss.Rule, prefix string, at Path) (changed bool) {
	w.BeginObject()
	for name, m := range v.Members() {
		if rule := table[prefix+name]; rule != nil {
			changed = true
			switch {
			case m.Kind() == jsonwire.Null: // means the same as nothing
			case foreign.IsIdle(m), rule == CloudLocation && m.Is("global"):
				r.lose(CloudHint, at.Member(name))
			default:
				r.lose(rule, at.Member(name))
			}
			continue
		}
		text := m.Raw()
		if prefix == "" && m.Kind() == jsonwire.Object {
			var inner jsonwire.Writer
			if r.object(&inner, m, table, name+".", at.Member(name)) {
				text, changed = inner.Text(), true
			}
			if text == "{}" && m.Len() > 0 {
				continue
			}
		}
		w.RawMember(name, text)
	}
	w.EndObject()
	return changed
}
