package foreign

import (
	"iter"
	"sync"

	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
)

// The rules for members that only another format has. The severity depends on the effect
// of the member, because hosts reject requests by it: a member that changes the
// response, or where it may be processed, is more than a hint.
var (
	MembersLoss   = loss.Hint(loss.Members, "members that only another format has, and that are not known to change the response, were dropped")
	InfluenceLoss = loss.Degraded(loss.Members, "the member influences the response but exists only in another format; it was dropped")
	ArgumentsLoss = loss.Degraded(loss.Members, "the arguments of the tool call are not a JSON object; an object with their text was sent")
	SafetyLoss    = loss.Degraded(loss.Members, "the safety settings are for another vendor; the defaults of this vendor apply")
	SettingLoss   = loss.Dropped(loss.Members, "the member changes the response but exists only in another format; it was dropped")
	LocationLoss  = loss.Dropped(loss.Members, "the member restricts where the request is processed but exists only in another format; it was dropped")
	// The request is refused, too.
	StateLoss   = loss.Dropped(loss.Members, "the member refers to conversation state at another vendor, which is not available here")
	UnknownLoss = loss.Dropped(loss.Members, "the member is unknown and may change the response; it was dropped")
)

// A Kind is the kind of neutral object that an Extra is in.
type Kind uint8

const (
	Request  Kind = iota
	Turn          // a turn
	Part          // a part, or a source or a citation in it
	Tool          // the definition of a tool
	Choice        // the choice of tools
	Thinking      // the settings of thinking
	Output        // the form of the response

	kinds = int(Output) + 1
)

// A table has the members of an object, by name. A name that it lacks is unknown.
//
// Unknown settings of a request are dropped, not a hint: agents send only settings that
// the tables have, and a host that rejects dropped settings must not receive wrong
// responses because of a new one. Unknown members of turns and parts are a hint: clients
// return what a response had.
type table map[string]member

// A member is the treatment of a member in other formats. The zero member is represented
// by a field of the neutral request.
type member struct {
	rule *loss.Rule // reports that the member is dropped

	// members is set for an object, or a list of objects, whose members are reported one
	// by one.
	members table

	// The rule exempt, or none if it is nil, reports values for which isExempt returns
	// true. extra is the object that the table is for.
	isExempt func(v, extra jsonwire.Value) bool
	exempt   *loss.Rule

	// asks adds to t what a value asks of thinking, and reports whether it means something. Nothing is lost
	// then, because the neutral request has it: see [ThinkingOf]. Nil for other members.
	asks func(t *AskedThinking, v gjson.Result) bool
}

// Members yields the losses of x, an Extra of another format in an object of the given
// kind. Each has a tail: the names of members that lead from x to the place, joined by
// dots, or "" for x itself. Members of the request are reported one by one. Elsewhere the
// members without an effect are one loss of x.
func Members(x *content.Extra, in Kind) iter.Seq2[string, *loss.Rule] {
	return func(yield func(string, *loss.Rule) bool) { yieldMembers(x, in, yield) }
}

func yieldMembers(x *content.Extra, in Kind, yield func(string, *loss.Rule) bool) {
	if x == nil || x.JSON == "" {
		return
	}
	w := memberWalker{kind: in, yield: yield}
	// A request may have many Extras: reuse the parser.
	doc := extraDocs.Get().(*jsonwire.Doc)
	defer extraDocs.Put(doc)
	if doc.Parse(x.JSON, unlimited) != nil || doc.Root().Kind() != jsonwire.Object {
		doc.Close()
		yield("", w.unknown())
		return
	}
	defer doc.Close()
	root := doc.Root()
	if w.members(root, root, dataOf(x.Format).members[in], "") && w.idle {
		yield("", MembersLoss)
	}
}

// IsRepresented reports whether fields of the neutral request represent all members of x, an Extra
// in an object of the given kind.
func IsRepresented(x *content.Extra, in Kind) bool {
	table := dataOf(x.Format).members[in]
	is := len(table) > 0
	if is {
		gjson.Parse(x.JSON).ForEach(func(name, _ gjson.Result) bool {
			m, known := table[name.Str]
			is = known && m.rule == nil && m.members == nil
			return is
		})
	}
	return is
}

var extraDocs = sync.Pool{New: func() any { return new(jsonwire.Doc) }}

// A memberWalker yields the losses of the members of an Extra. The Extra is a parameter of
// its methods: as a field, it would cause an allocation.
type memberWalker struct {
	kind  Kind
	n     int
	idle  bool // there are members without an effect, which are reported together
	yield func(string, *loss.Rule) bool
}

// members yields the losses of the members of v, whose tail is tail. It returns false if
// the caller stops.
func (w *memberWalker) members(v, extra jsonwire.Value, t table, tail string) bool {
	unnamed := false
	for name, x := range v.Members() {
		if w.n++; w.n > loss.MaxNames || !loss.IsPlainName(name) {
			unnamed = true
			continue
		}
		at := name
		if tail != "" {
			at = tail + "." + name
		}
		m, known := t[name]
		if !w.member(x, extra, &m, known, at) {
			return false
		}
	}
	return !unnamed || w.report(w.unknown(), tail)
}

func (w *memberWalker) member(v, extra jsonwire.Value, m *member, known bool, tail string) bool {
	switch {
	case known && m.rule == nil && m.members == nil:
		return true
	case v.Kind() == jsonwire.Null:
		return w.report(MembersLoss, tail)
	case !known:
		return w.report(w.unknown(), tail)
	case m.members != nil:
		return w.object(v, extra, m.members, tail)
	case m.isExempt != nil && m.isExempt(v, extra):
		return m.exempt == nil || w.report(m.exempt, tail)
	case m.asks != nil && m.asks(new(AskedThinking), gjson.Parse(v.Raw())):
		return true
	case IsIdle(v):
		return w.report(MembersLoss, tail)
	}
	return w.report(m.rule, tail)
}

// object yields the losses of a value that should be an object or a list of objects.
func (w *memberWalker) object(v, extra jsonwire.Value, t table, tail string) bool {
	switch v.Kind() {
	case jsonwire.Object:
		return w.members(v, extra, t, tail)
	case jsonwire.Array:
		for _, x := range v.Elems() {
			if !w.members(x, extra, t, tail) {
				return false
			}
		}
		return true
	}
	return w.report(w.unknown(), tail)
}

func (w *memberWalker) report(r *loss.Rule, tail string) bool {
	if r == MembersLoss && w.kind != Request {
		w.idle = true
		return true
	}
	return w.yield(tail, r)
}

// unknown returns the rule for a member that is not in the table.
func (w *memberWalker) unknown() *loss.Rule {
	if w.kind == Turn || w.kind == Part {
		return MembersLoss
	}
	return UnknownLoss
}

// IsIdle reports whether a member has no effect: it is false or empty.
func IsIdle(v jsonwire.Value) bool {
	switch v.Kind() {
	case jsonwire.False:
		return true
	case jsonwire.Object, jsonwire.Array:
		return v.Len() == 0
	}
	return v.Is("")
}
