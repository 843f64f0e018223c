package openai

import (
	"slices"
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/adapter"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/schema"
	"github.com/polywire/polywire/upstream"
)

// A chatTarget is whom a request goes to.
type chatTarget struct {
	model   string
	vendor  bool
	family  family
	dialect Dialect
	refused refusals // what it is known to refuse
	most    int64    // tokens of a response; 0: no limit is known
}

// efforts returns the efforts that may be sent, from what is known.
func (t *chatTarget) efforts() []string {
	switch {
	case t.refused.has(fieldEffort):
		return nil
	case t.dialect.Efforts != nil:
		return t.dialect.Efforts
	case t.family.known:
		return t.family.efforts
	case t.vendor:
		return nil // a fine-tuned or renamed model: nobody knows
	}
	return unknownEfforts
}

// links reports whether images may go as links.
func (t *chatTarget) links() bool { return t.vendor || t.dialect.Links }

// files reports whether PDFs may go.
func (t *chatTarget) files() bool { return t.vendor || t.dialect.Files }

// thinks returns the member that turns thinking on and off, empty if there is
// none.
func (t *chatTarget) thinks() string {
	if name := t.dialect.Thinking; !t.vendor && name != "-" {
		return name
	}
	return ""
}

// An encoder has what the encoders of both formats share. Nothing in it calls
// what only one of them has, unless that is handed in.
type encoder struct {
	w       *jsonwire.Writer
	n       *upstream.Request
	to      *chatTarget
	own     content.Format // that is written
	rules   *partRules     // of that format
	log     loss.Log
	schemas schema.Spare

	faults content.ViolationList

	loaded bool // files that are not in the request by now never will be
	load   bool // there are files to be loaded
	others bool // some of them are not images

	system string   // what goes behind the system text
	noted  textSet  // places of files that the model is only told of
	merged []string // members of the request's Extra that are written with others
	closer string   // how closely images are looked at, if they do not say so themselves
	user   []piece
	first  int  // the turn in which what the user says last begins
	end    int  // behind it; the same if there is none
	asked  bool // something of it is told
	refs   bool // the object of the result at hand points at files by their names
	texts  []string
	effort string
	sent   field // what could be left out, and is in the document

	builtIns []pick // that are told
}

// foreign notes members that are not sent: those of other formats and, since the
// vendor refuses what it does not know, those of the own format where they do
// not stand on the request itself.
func (e *encoder) foreign(x *content.Extra, path string) {
	switch {
	case x == nil || x.JSON == "" || x.JSON == "{}":
	case codec.Own(x, e.own) != nil:
		e.log.Add(lostOwn, path)
	default:
		for at, rule := range codec.LostMembers(x, path) {
			e.log.Add(rule, at)
		}
	}
}

// more writes the request's members of the own format, but for those that are
// written from elsewhere.
func (e *encoder) more(x *content.Extra, written func(name string) bool) {
	if codec.Own(x, e.own) == nil || x.JSON == "" {
		return
	}
	skip := func(name string) bool {
		if !written(name) {
			return false
		}
		if !slices.Contains(e.merged, name) {
			e.log.Add(lostWritten, codec.Below("extra", name))
		}
		return true
	}
	if err := e.w.MembersExcept(x.JSON, skip); err != nil {
		e.faults.Add(content.CodeSyntax, "extra", "the extra members are not valid JSON")
	}
}

// foreignMembers notes the request's members of another format, one by one.
func (e *encoder) foreignMembers(x *content.Extra) {
	if x == nil || codec.Own(x, e.own) != nil {
		return
	}
	for at, rule := range codec.LostMembers(x, "extra") {
		switch {
		case e.own == ChatFormat && isLogprobs(at): // see chatEncoder.logprobs
		case at != "extra.generationConfig.mediaResolution":
			e.log.Add(rule, at)
		case !e.closely(x):
			e.log.Add(lostDetail, at)
		}
	}
}

// role returns the role of system text.
func (e *encoder) role() string {
	if e.to.vendor && e.to.family.developer && !e.to.refused.has(fieldDeveloper) {
		e.sent |= fieldDeveloper
		return "developer"
	}
	return "system"
}

// extra notes those of a part. Paths are made where they are needed only.
func (e *encoder) extra(x *content.Extra, at place) {
	if x != nil {
		e.foreign(x, at.String()+".extra")
	}
}

// turnExtra notes those of a turn.
func (e *encoder) turnExtra(x *content.Extra, turn int) {
	if x != nil {
		e.foreign(x, place{turn: turn}.turnPath()+".extra")
	}
}

// held stands in an earlier turn of which nothing is left, so that the model
// knows that something was said, and that vendors find something at all.
const held = "[Here was something that you cannot be shown.]"

// emptied deals with a turn of which nothing is told. told is how many losses
// there were before it. What the user says last is looked at by question.
func (e *encoder) emptied(turn, told int) {
	switch {
	case len(e.n.Turns[turn].Parts) == 0:
		e.log.Add(lostEmptyTurn, place{turn: turn}.turnPath())
	case turn >= e.first:
	case slices.ContainsFunc(e.log.Losses[told:], func(l content.Loss) bool { return l.Severity == content.LossDropped }):
		e.log.Add(lostHeldTurn, place{turn: turn}.turnPath())
		e.user = append(e.user, piece{text: held})
	}
}

// question looks at what the user says last, in the end. What was dropped
// altogether is a fault, since the model would answer something else. A question
// of nothing is sent as a sentence, since many servers refuse empty texts. told says
// whether anything of the conversation is told.
func (e *encoder) question(told bool) {
	first, end, none := e.first, e.end, e.first == e.end
	switch {
	case e.asked, len(e.n.Turns) == 0, none && told:
		return
	case none:
		first, end = 0, len(e.n.Turns)
	}
	dropped, fault := adapter.Unasked(e.log.Losses, first, end)
	switch {
	case dropped, none:
		e.faults.Add(fault.Code, fault.Path, fault.Text)
	case len(e.user) == 0:
		e.log.Add(codec.EmptyMessage, place{turn: end - 1}.turnPath())
		e.user = append(e.user, piece{text: codec.EmptyMessageText})
	}
}

// A place is where a part stands: in a turn, in the system text, or in a list
// inside another part.
type place struct {
	list string // empty: that of a turn
	turn int
	part int
}

func (p place) String() string {
	if p.list != "" {
		return p.list + "." + strconv.Itoa(p.part)
	}
	var b [64]byte // for a single allocation
	path := append(strconv.AppendInt(append(b[:0], "turns."...), int64(p.turn), 10), ".parts."...)
	return string(strconv.AppendInt(path, int64(p.part), 10))
}

func (p place) turnPath() string { return strings.TrimSuffix(p.String(), ".parts.0") }

// in returns a place in a list inside the part.
func (p place) in(list string, i int) place { return place{list: p.String() + list, part: i} }

func (e *encoder) lose(r *loss.Rule, at place) { e.log.Add(r, at.String()) }

func (e *encoder) fault(code content.Code, at place, name, text string) {
	e.faults.Add(code, at.String()+name, text)
}

// signature notes one that is of no use.
func (e *encoder) signature(s content.Signature, at place) {
	if s.Format != e.own && s.Data != "" {
		e.lose(lostSignature, at)
	}
}

// marked reports whether a part ends a prefix to be cached, and can say so.
func (e *encoder) marked(c *content.Cache, at place) bool {
	switch {
	case c == nil:
		return false
	case !e.to.vendor || !e.to.family.marks:
		e.lose(lostCache, at)
		return false
	case c.TTL != "", c.Extra != nil:
		e.lose(lostCacheTime, at)
	}
	return true
}

// member writes a member that is a string.
func (e *encoder) member(name, value string) {
	e.w.Name(name)
	e.w.String(value)
}

// noChoice notes a choice among no tools.
func (e *encoder) noChoice() {
	if c := &e.n.Choice; c.Mode != "" && c.Mode != content.ChoiceAuto && c.Mode != content.ChoiceNone {
		e.log.Add(lostChoice, "choice.mode")
	}
}

// ownMember returns a member of the own format that the request's Extra has and
// that is written together with what the request says itself; empty if there is
// none of the kind.
func (e *encoder) ownMember(name string, kind jsonwire.Kind) string {
	x := codec.Own(e.n.Extra, e.own)
	if x == nil {
		return ""
	}
	doc := codec.Open(x, x.Format)
	if doc == nil {
		return ""
	}
	defer doc.Close()
	v := doc.Root().Get(name)
	if v.Kind() != kind {
		return ""
	}
	e.merged = append(e.merged, name)
	return v.Raw()
}

// ownObject is ownMember for objects.
func (e *encoder) ownObject(name string) string { return e.ownMember(name, jsonwire.Object) }

// rest writes the members of such an object but for those that the request says
// itself.
func (e *encoder) rest(of, object string, written ...string) {
	if object == "" {
		return
	}
	_ = e.w.MembersExcept(object, func(name string) bool { // it has been parsed
		if !slices.Contains(written, name) {
			return false
		}
		e.log.Add(lostWritten, codec.Below("extra."+of, name))
		return true
	})
}
