package openai

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/legal"
	"github.com/polywire/polywire/internal/seal"
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
	lists  [2]string // elements of echoLists, as they came
	sealed string    // goes with the text
}

// assistant writes the turns from i to end, all of the assistant's, as one
// message, and the results of its calls behind it.
func (e *chatEncoder) assistant(i, end int) {
	e.say()
	e.calls, e.texts = e.calls[:0], e.texts[:0]
	var back echo
	for k := i; k < end; k++ {
		t := &e.n.Turns[k]
		e.turnExtra(t.Extra, k)
		if len(t.Parts) == 0 {
			e.emptied(k, 0)
		}
		e.assistantParts(t.Parts, k, &back)
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
		e.back(&back)
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
func (e *chatEncoder) assistantParts(parts []content.Part, turn int, back *echo) {
	calls := hasCall(parts)
	apart := len(e.texts) > 0 // an empty line is due before the next text
	for j, p := range parts {
		at := place{turn: turn, part: j}
		if content.IsNil(p) {
			e.fault(content.CodeValue, at, "", "there is no part")
			continue
		}
		switch p := p.(type) {
		case *content.Text:
			if e.said(p, at, apart) {
				apart = false
			}
		case *content.ToolUse:
			e.extra(p.Extra, at)
			e.signed(p, at, back)
			e.calls = append(e.calls, call{p, at})
			apart = len(e.texts) > 0
		case *content.Thinking:
			e.extra(p.Extra, at)
			if !calls || !e.thought(p, back) {
				e.lose(lostThought, at)
			}
		case *content.Image, *content.Document, *content.Media:
			e.lose(lostByAssistant, at)
		default:
			e.vendors(p, at)
		}
	}
}

func hasCall(parts []content.Part) bool {
	for _, p := range parts {
		if _, ok := p.(*content.ToolUse); ok {
			return true
		}
	}
	return false
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

// signed looks for thoughts that a call brings along.
func (e *chatEncoder) signed(p *content.ToolUse, at place, back *echo) {
	if p.Cache != nil {
		e.lose(lostCache, at)
	}
	if p.Signature.Format == ChatFormat {
		if list, ok := seal.Split(ChatFormat, p.Signature.Data); ok && len(back.text) == 0 && back.lists == [2]string{} {
			for _, t := range list {
				e.thought(t.Thinking, back)
			}
			return
		}
	}
	e.signature(p.Signature, at)
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
		if len(back.text) > 0 {
			back.text = append(back.text, "\n\n")
		}
		back.text = append(back.text, p.Text)
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
	if b.sealed != "" && !e.to.refused.has(fieldReasoning) {
		e.sent |= fieldReasoning
		e.member(sealedName, b.sealed)
	}
	for i, list := range b.lists {
		if list != "" && !e.to.refused.has(fieldReasoning) {
			e.sent |= fieldReasoning
			e.w.Name(echoLists[i])
			e.w.Raw("[" + list + "]")
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
		b.sealed, some, whole = b.sealed+s, true, false
	}
	for i, name := range echoLists {
		for _, v := range doc.Root().Get(name).Elems() {
			if b.lists[i] != "" {
				b.lists[i] += ","
			}
			b.lists[i] += v.Raw()
			some = true
		}
	}
	return some, whole
}

// callID returns the id that a call is told by.
func (e *chatEncoder) callID(c *call) string {
	id := c.part.ID
	if !e.to.dialect.ShortIDs && !e.to.refused.shortIDs || len(id) == shortID && wordRule.Fits(id) {
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
	input := p.Input
	switch {
	case strings.TrimLeft(input, " \t\r\n") == "":
		input = "{}"
	case strings.TrimLeft(input, " \t\r\n")[0] != '{':
		e.fault(content.CodeType, c.at, ".input", "must be a JSON object")
	}
	e.member("arguments", input)
	w.EndObject()
	w.EndObject()
}
