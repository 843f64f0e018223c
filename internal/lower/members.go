package lower

import (
	"slices"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/upstream"
)

// MemberRules describes what becomes of headers, and of members that have no field.
type MemberRules struct {
	// Fields lists the members that fields of the request represent. An own member of
	// such a name is dropped, unless it is merged. That is a loss unless its value is null or false.
	Fields []string

	// State lists the own members that refer to a conversation at the vendor, or that change
	// how a response is returned, and that requests cannot have. A request that has one is
	// refused, unless its value is null or false.
	State []string

	// Merged lists the members of which fields represent a part.
	Merged []Merged

	// Foreign lists the members of other formats that the target has in another form.
	Foreign []ForeignMember

	Headers bool // headers of the client are sent
	NoUsage bool // the server rejects the request for token counts in streams
}

// A Merged is an own member of which fields represent a part.
type Merged struct {
	Name   string
	First  byte     // of its value, '{' or '['; other values are not merged
	Fields []string // the members of the value that fields represent
}

// A ForeignMember is a member of another format that the target has in another form.
type ForeignMember struct {
	Name string // with the names of the objects that it is in, joined by dots

	// From is the format of the member; empty means any.
	From content.Format

	// Set changes the request, whose Extra is of the target's format or nil, to one with the
	// member, of which value is the JSON. It reports whether the target has the value.
	Set func(r *upstream.Request, value string) bool

	// Detail returns the own members of files for the members of x, as a JSON object, or
	// "" if there are none.
	Detail func(x *content.Extra) string

	Mark bool // the member asks for a cache mark at the end of the conversation
}

// members lowers headers and the members of the request that have no field.
func (l *lowering) members() {
	if !l.t.Members.Headers {
		for _, f := range l.n.Header {
			if !foreign.IsVersionHeader(f.Name) { // see there
				l.lose(HeaderNotSent, HeaderPath(f.Name))
			}
		}
		l.to.Header = nil
	}
	if l.t.Members.NoUsage && l.n.Stream {
		l.lose(UsageNotSent, At("stream"))
	}
	switch x := l.n.Extra; {
	case x == nil:
	case codec.Own(x, l.t.Format) != nil:
		l.to.Extra = l.ownMembers(x)
	default:
		l.to.Extra = nil
		l.foreignMembers(x)
	}
}

// ownMembers returns x without the members that fields represent.
func (l *lowering) ownMembers(x *content.Extra) *content.Extra {
	rules := &l.t.Members
	if len(rules.Fields)+len(rules.State) == 0 || x.JSON == "" {
		return x
	}
	doc, err := jsonwire.Parse(x.JSON, codec.UnlimitedJSON)
	if err != nil {
		l.refuse(content.CodeSyntax, At("extra"), "must be valid JSON")
		return nil
	}
	defer doc.Close()
	if doc.Root().Kind() != jsonwire.Object {
		l.refuse(content.CodeType, At("extra"), "the extra members must be a JSON object")
		return nil
	}
	var w jsonwire.Writer
	w.BeginObject()
	changed := false
	for name, v := range doc.Root().Members() {
		// bounded by Merged
		i := slices.IndexFunc(rules.Merged, func(m Merged) bool { return m.Name == name && v.Raw()[0] == m.First })
		switch {
		case i >= 0:
			raw := v.Raw()
			if rest, other := l.without(v, rules.Merged[i].Fields, "extra."+name); other {
				raw, changed = rest, true
			}
			w.RawMember(name, raw)
		case slices.Contains(rules.State, name): // bounded by Target
			changed = true
			if codec.IsOn(v) {
				l.refuse(content.CodeUnsupported, At("extra."+name),
					"is not supported: a request contains its whole conversation and waits for the response; remove the member")
			}
		case slices.Contains(rules.Fields, name): // bounded by Target
			if codec.IsOn(v) {
				l.lose(MemberReplaced, At("extra."+name))
			}
			changed = true
		default:
			w.RawMember(name, v.Raw())
		}
	}
	w.EndObject()
	if !changed {
		return x
	}
	return &content.Extra{Format: x.Format, JSON: w.Text()}
}

// without returns the object v without some members, and reports them at a path.
func (l *lowering) without(v jsonwire.Value, names []string, path string) (object string, changed bool) {
	var w jsonwire.Writer
	w.BeginObject()
	for name, m := range v.Members() {
		if slices.Contains(names, name) { // bounded by Merged
			l.lose(MemberReplaced, At(path+"."+name))
			changed = true
			continue
		}
		w.RawMember(name, m.Raw())
	}
	w.EndObject()
	return w.Text(), changed
}

// replaceMember drops an own member that a field represents in this request.
func (l *lowering) replaceMember(name string) {
	x := codec.Own(l.to.Extra, l.t.Format)
	if json, _ := x.Get(name); json == "" {
		return
	}
	l.lose(MemberReplaced, At("extra."+name))
	l.to.Extra = withMember(x, name, "")
}

// withMember returns a copy of x with another value of a member, or without it if value is
// empty.
func withMember(x *content.Extra, name, value string) *content.Extra {
	var w jsonwire.Writer
	w.BeginObject()
	_ = w.MembersExcept(x.JSON, func(s string) bool { return s == name }) // was parsed before
	w.OptRawMember(name, value)
	w.EndObject()
	return &content.Extra{Format: x.Format, JSON: w.Text()}
}

// hasMember reports whether the request has an own member of a name that is not empty.
func (l *lowering) hasMember(name string) bool {
	if name == "" || l.to.Extra == nil {
		return false
	}
	json, _ := l.to.Extra.Get(name)
	return json != "" && json != "null"
}

// setMembers changes the own members of the request.
func (l *lowering) setMembers(change func(members string) string) {
	x := content.Extra{Format: l.t.Format}
	if l.to.Extra != nil {
		x = *l.to.Extra
	}
	x.JSON = change(x.JSON)
	l.to.Extra = &x
}

// hasTool reports whether the target has a built-in tool, or one for the same purpose.
func (l *lowering) hasTool(t *content.Tool) bool {
	if l.t.Tools.Vendor == nil {
		return false
	}
	own, _ := l.t.Tools.Vendor(t)
	return own.Kind != "" || t.Format == l.t.Format
}

// foreignMembers reports the members of another format, and uses those that the target
// has in another form.
func (l *lowering) foreignMembers(x *content.Extra) {
	for tail, r := range foreign.Members(x, foreign.Request) {
		at := At("extra").Member(tail)
		// bounded by ForeignMember
		i := slices.IndexFunc(l.t.Members.Foreign, func(m ForeignMember) bool { return m.Name == tail && (m.From == "" || m.From == x.Format) })
		if list := foreign.MemberTools(x, tail, l.n.Tools); len(list) > 0 && l.hasTool(&list[0]) {
			l.memberTools, l.memberAt = list, at
			continue
		}
		switch {
		case r == foreign.StateLoss:
			l.lose(r, at)
			l.refuse(content.CodeUnsupported, at, r.Reason)
		case foreign.IsLogprobs(x.Format, tail):
			l.pending = append(l.pending, Loss{Rule: r, Path: at})
		case i < 0:
			l.lose(r, at)
		case l.t.Members.Foreign[i].Set != nil:
			if value, _ := x.Get(tail); !l.t.Members.Foreign[i].Set(&l.to.Request, value) {
				l.lose(r, at)
			}
		case l.t.Members.Foreign[i].Mark:
			l.atEnd = newLastMark(x, tail, r, at)
		default:
			json := l.t.Members.Foreign[i].Detail(x)
			if json == "" {
				l.lose(FileDetail, at)
				continue
			}
			l.defaultDetail = &content.Extra{Format: l.t.Format, JSON: json}
		}
	}
}
