package openai

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/legal"
)

// A call is one that the model made.
type call struct {
	part *content.ToolUse
	at   place
}

// A result is what belongs to a call.
type result struct {
	part *content.ToolResult
	at   place
	told bool
}

// An echo is what a server wants back of the thoughts that led to calls.
type echo struct {
	member string // that the text goes into; empty: none
	text   []string
	lists  [2][]string // elements of echoLists, as they came
	sealed []string    // pieces of one text, which goes with the text
	direct bool        // some came back as they are, and calls bring no others
	going  bool        // the last of the texts is of a thought that may go on
}

// An answer is one of the assistant's, told in turns that follow one another.
type answer struct {
	echo
	calls bool   // it makes some
	apart bool   // a call stands in front of the next text: an empty line is due
	shown string // what is left of the texts of thoughts that its signatures bring
}

// assistant writes the turns from i to end, all of the assistant's, as one
// message, and the results of its calls behind it. What follows one another is
// one answer: clients keep each piece of a stream as a turn of its own.
func (e *chatEncoder) assistant(i, end int) {
	e.say()
	e.calls, e.texts = e.calls[:0], e.texts[:0]
	run := e.n.Turns[i:end]
	a := answer{calls: slices.ContainsFunc(run, hasCall)}
	if a.calls {
		a.shown = carriedText(run)
	}
	for k := range run {
		e.turnExtra(run[k].Extra, i+k)
		if len(run[k].Parts) == 0 {
			e.emptied(i+k, 0)
		}
		e.assistantParts(run[k].Parts, i+k, &a)
	}
	if len(e.texts) == 0 && len(e.calls) == 0 {
		return
	}
	w := e.w
	w.BeginObject()
	e.member("role", "assistant")
	w.Name("content")
	if len(e.texts) > 0 {
		w.Joined(e.texts...)
	} else {
		w.Null()
	}
	if len(e.calls) > 0 {
		e.back(&a.echo)
		w.Name("tool_calls")
		w.BeginArray()
		for k := range e.calls {
			e.call(&e.calls[k])
		}
		w.EndArray()
	}
	w.EndObject()
	if len(e.calls) > 0 {
		e.collect(end)
		e.answers()
	}
}

// assistantParts sorts the parts of a turn: texts, calls, and thoughts to be
// sent back with these.
func (e *chatEncoder) assistantParts(parts []content.Part, turn int, a *answer) {
	for j, p := range parts {
		at := place{turn: turn, part: j}
		if content.IsNil(p) {
			e.fault(content.CodeValue, at, "", "there is no part")
			continue
		}
		if _, ok := p.(*content.Thinking); !ok {
			a.going = false
		}
		switch p := p.(type) {
		case *content.Text:
			if e.said(p, at, a.apart) {
				a.apart = false
			}
			if a.calls {
				e.recall(p.Signature, at, &a.echo)
			}
		case *content.ToolUse:
			e.extra(p.Extra, at)
			if p.Cache != nil {
				e.lose(lostCache, at)
			}
			e.signature(p.Signature, at)
			e.recall(p.Signature, at, &a.echo)
			e.calls = append(e.calls, call{p, at})
			a.apart = len(e.texts) > 0
		case *content.Thinking:
			e.extra(p.Extra, at)
			if a.calls && e.thought(p, &a.echo) {
				a.direct = true
				continue
			}
			if rest, ok := strings.CutPrefix(a.shown, p.Text); ok && p.Text != "" && p.Signature.Data == "" {
				a.shown = rest // it comes back sealed
				continue
			}
			e.lose(lostThought, at)
		case *content.Image, *content.Document, *content.Media:
			e.lose(lostByAssistant, at)
		default:
			e.vendors(p, at)
		}
	}
}

func hasCall(t content.Turn) bool {
	return slices.ContainsFunc(t.Parts, func(p content.Part) bool {
		_, ok := p.(*content.ToolUse)
		return ok
	})
}

// said adds a text of the assistant's, and reports whether there is any.
func (e *chatEncoder) said(p *content.Text, at place, apart bool) bool {
	e.extra(p.Extra, at)
	e.signature(p.Signature, at)
	if len(p.Citations) > 0 {
		e.lose(lostCitations, at)
	}
	if p.Cache != nil {
		e.lose(lostCache, at)
	}
	if p.Text == "" {
		if p.Signature.Data == "" {
			e.lose(lostEmptyText, at)
		}
		return false
	}
	if len(e.calls) > 0 {
		e.lose(lostCallOrder, at)
	}
	if apart {
		e.texts = append(e.texts, "\n\n")
	}
	e.texts = append(e.texts, p.Text)
	return true
}

// recall takes the thoughts that a signature brings along.
func (e *chatEncoder) recall(s content.Signature, at place, back *echo) {
	if s.Format != ChatFormat || s.Data == "" || back.direct {
		return
	}
	list, _ := envelope.Split(ChatFormat, s.Data)
	for _, t := range list {
		if !e.thought(t.Thinking, back) {
			e.lose(lostThought, at)
		}
	}
}

// carriedText returns the texts of the thoughts that the signatures of turns
// bring along.
func carriedText(run []content.Turn) string {
	var b strings.Builder
	for k := range run {
		for _, p := range run[k].Parts {
			if s := envelope.Of(p); s.Format == ChatFormat {
				list, _ := envelope.Split(ChatFormat, s.Data)
				for _, t := range list {
					b.WriteString(t.Text)
				}
			}
		}
	}
	return b.String()
}

// thought keeps one that the server made, in the form that it wants back. Its
// signature says where the thought stood: the name of a member, or an object of
// members to be sent as they are. It reports false if the thought is of no use.
func (e *chatEncoder) thought(p *content.Thinking, back *echo) bool {
	s := p.Signature
	if s.Data == "" {
		s = p.Redacted
	}
	forced := e.echoed()
	switch {
	case e.to.vendor && forced == "" || forced == "-" || e.to.refused.has(fieldReasoning):
		return false
	case s.Format != ChatFormat:
		if forced == "" || p.Text == "" {
			return false
		}
	case forced == "" && strings.HasPrefix(s.Data, "{"):
		some, whole := back.add(s.Data)
		if whole || !some {
			return some
		}
		back.member = "reasoning_content"
	case forced == "" && echoable(s.Data):
		back.member = s.Data
	case forced == "":
		return false
	}
	if p.Text != "" {
		if len(back.text) > 0 && !back.going {
			back.text = append(back.text, "\n\n")
		}
		back.text, back.going = append(back.text, p.Text), s.Data == "" // what is signed is whole
	}
	return true
}

// echoed returns the member that messages with calls must have, "-" for none,
// empty if that depends on the thought.
func (e *chatEncoder) echoed() string {
	if name := e.to.dialect.Reasoning; name != "" {
		return name
	}
	return e.to.refused.echo
}

// back writes what goes back.
func (e *chatEncoder) back(b *echo) {
	name := b.member
	if forced := e.echoed(); forced != "" && forced != "-" {
		name = forced
		if len(b.text) == 0 {
			e.thoughtless(e.calls[0].at)
		}
	}
	if name != "" && !e.to.refused.has(fieldReasoning) {
		e.sent |= fieldReasoning
		e.w.Name(name)
		e.w.Joined(b.text...)
	}
	if len(b.sealed) > 0 && !e.to.refused.has(fieldReasoning) {
		e.sent |= fieldReasoning
		e.w.Name(sealedName)
		e.w.Joined(b.sealed...)
	}
	for i, list := range b.lists {
		if len(list) > 0 && !e.to.refused.has(fieldReasoning) {
			e.sent |= fieldReasoning
			e.w.Name(echoLists[i])
			e.w.BeginArray()
			for _, element := range list {
				e.w.Raw(element)
			}
			e.w.EndArray()
		}
	}
}

// thoughtless notes, once for the whole conversation, that there is no thought
// to go back. Whether there ever was one shows only where the server says so:
// models call without a thought, too.
func (e *chatEncoder) thoughtless(at place) {
	r := lostThoughtless
	if e.to.refused.echo != "" {
		r = lostThoughtGone
	}
	if !e.empty {
		e.empty = true
		e.lose(r, at)
	}
}

// echoable reports whether thoughts may go back in a member. The name comes
// from a client, and must not be that of any other.
func echoable(name string) bool {
	switch name {
	case "reasoning_content", "reasoning", "reasoning_text":
		return true
	}
	return false
}

// echoLists are the lists of thoughts that may go back.
var echoLists = [2]string{detailsName, blocksName}

// add takes thoughts out of an object, and reports whether that holds any, and
// whether the text is among them. What comes from a client must not be any other
// member.
func (b *echo) add(object string) (some, whole bool) {
	doc, err := jsonwire.Parse(object, jsonwire.Limits{})
	if err != nil {
		return false, false
	}
	defer doc.Close()
	whole = true
	if s := doc.Root().Get(sealedName).Str(); s != "" {
		b.sealed, some, whole = append(b.sealed, s), true, false
	}
	for i, name := range echoLists {
		for _, v := range doc.Root().Get(name).Elems() {
			b.lists[i] = append(b.lists[i], v.Raw())
			some = true
		}
	}
	return some, whole
}

// callID returns the id that a call is told by.
func (e *chatEncoder) callID(c *call) string {
	id := c.part.ID
	if !e.to.dialect.ShortIDs && !e.to.refused.shortIDs || len(id) == shortID && wordRule.Valid(id) {
		return id
	}
	if !e.renamed {
		e.renamed = true
		e.log.Add(legal.RenamedCall, c.at.String()+".id")
	}
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:])[:shortID]
}

// shortID is how many letters and digits some servers want ids to have.
const shortID = 9

var wordRule = legal.Rule{}

// call writes a call.
func (e *chatEncoder) call(c *call) {
	w, p := e.w, c.part
	w.BeginObject()
	e.member("id", e.callID(c))
	e.member("type", "function")
	w.Name("function")
	w.BeginObject()
	e.member("name", p.Name)
	e.member("arguments", e.callInput(p.Input, c.at))
	w.EndObject()
	w.EndObject()
}
