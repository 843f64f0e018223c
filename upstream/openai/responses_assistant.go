package openai

import (
	"slices"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
)

// A resAt is a part of an assistant's turn, and where it stood.
type resAt struct {
	content.Part
	at   place
	item string // if it is an item that a signature stands for
}

// assistantTurns writes the items of turns of the assistant in a row, of which the
// first has an index. They are one answer: clients keep each piece of a stream as
// a turn of its own.
func (e *resEncoder) assistantTurns(run []content.Turn, first int) {
	for i := range run {
		e.turnExtra(run[i].Extra, first+i)
		if len(run[i].Parts) == 0 {
			e.emptied(first+i, 0)
		}
	}
	e.recall(run, first)
	for k := range e.parts {
		e.assistantPart(&e.parts[k])
	}
	e.flushTexts()
	clear(e.parts)
	e.parts = e.parts[:0]
}

func (e *resEncoder) assistantPart(p *resAt) {
	at := p.at
	if p.item != "" {
		e.carry(p.item, at, false)
		return
	}
	if content.IsNil(p.Part) {
		e.fault(content.CodeValue, at, "", "there is no part")
		return
	}
	switch q := p.Part.(type) {
	case *content.Text:
		e.said(q, at)
	case *content.ToolUse:
		e.call(q, at)
	case *content.Thinking:
		e.thought(q, at)
	case *content.Image:
		e.made(q, at)
	case *content.Document, *content.Media:
		e.givenFile(q, at)
	case *content.Unknown:
		if q.Format != ResponsesFormat {
			e.lose(lostVendorPart, at)
		} else if !e.carried.has(q.Raw) {
			e.carry(q.Raw, at, true)
		}
	case *content.ServerToolUse:
		if q.Format != ResponsesFormat || !e.holds(q.ID) {
			e.lose(lostVendorPart, at)
		}
	case *content.ServerToolResult:
		if q.Format != ResponsesFormat || !e.holds(q.ID) {
			e.lose(lostVendorPart, at)
		}
	default:
		e.vendors(p.Part, at)
	}
}

// holds reports whether an item of the vendor's with an id comes back in the
// turns at hand.
func (e *resEncoder) holds(id string) bool {
	if len(e.ids.list) == 0 {
		for _, item := range e.carried.list {
			_ = e.item.Parse(item, jsonwire.Limits{}) // what is broken has no id
			e.ids.add(e.item.Root().Get("id").Str())
			e.item.Close()
		}
	}
	return id != "" && e.ids.has(id)
}

// said keeps a text until its message is whole. Texts that follow one another
// are one text: clients keep the pieces of a stream as they came. A phase may
// stand on all of its message, or on an empty text behind it.
func (e *resEncoder) said(p *content.Text, at place) {
	e.extra(p.Extra, at)
	phase := ""
	signed := p.Signature.Format == ResponsesFormat && p.Signature.Data != ""
	if signed && p.Signature.Data[0] == '{' {
		phase = e.phaseOf(p.Signature.Data)
	} else {
		e.signature(p.Signature, at)
	}
	if len(p.Citations) > 0 {
		e.lose(resCitations, at)
	}
	if p.Cache != nil {
		e.lose(lostCache, at)
	}
	switch {
	case p.Text != "":
		if e.phase != phase {
			e.flushTexts()
		}
		e.texts, e.phase = append(e.texts, p.Text), phase
	case phase != "":
		if e.phase == "" {
			e.phase = phase
		}
		e.flushTexts()
	case !signed:
		e.lose(lostEmptyText, at)
	}
}

// flushTexts writes the texts at hand as a message.
func (e *resEncoder) flushTexts() {
	phase := e.phase
	e.phase = ""
	if len(e.texts) == 0 {
		return
	}
	e.follow()
	w := e.w
	w.BeginObject()
	e.member("type", "message")
	e.member("role", "assistant")
	w.Name("content")
	w.Joined(e.texts...)
	if phase != "" {
		e.member("phase", phase)
	}
	w.EndObject()
	clear(e.texts)
	e.texts = e.texts[:0]
}

// call writes a call.
func (e *resEncoder) call(p *content.ToolUse, at place) {
	e.flushTexts()
	e.follow()
	if p.Extra != nil && p.Extra.Format != ResponsesFormat { // of the own some are sent
		e.extra(p.Extra, at)
	}
	e.signature(p.Signature, at)
	if p.Cache != nil {
		e.lose(resToolCache, at)
	}
	w := e.w
	w.BeginObject()
	e.member("type", "function_call")
	e.member("call_id", p.ID)
	e.member("name", p.Name)
	e.member("arguments", e.callInput(p.Input, at))
	if x := codec.Own(p.Extra, ResponsesFormat); x != nil {
		_ = w.MembersExcept(x.JSON, func(name string) bool { return !slices.Contains(callExtras[:], name) }) // what is no JSON has no members
	}
	w.EndObject()
	e.open = append(e.open, call{p, at})
}

// thought keeps one of this vendor's until what it belongs to is written.
func (e *resEncoder) thought(p *content.Thinking, at place) {
	e.extra(p.Extra, at)
	s := p.Redacted
	if s.Data == "" {
		s = p.Signature
	}
	if s.Format == ResponsesFormat {
		e.carry(s.Data, at, false)
		return
	}
	if rest, ok := strings.CutPrefix(e.shown, p.Text); ok && s.Data == "" && p.Text != "" {
		e.shown = rest
		return // it comes back sealed
	}
	e.lose(resForeignThought, at)
}

// made writes an image that the model made: as the vendor's own item if it is
// one, else as the user's.
func (e *resEncoder) made(p *content.Image, at place) {
	e.flushTexts()
	e.extra(p.Extra, at)
	s, b := p.Signature, (*content.Base64)(nil)
	if s.Format == ResponsesFormat {
		b, _ = p.Source.(*content.Base64)
	}
	if b == nil || e.item.Parse(s.Data, jsonwire.Limits{}) != nil {
		e.givenFile(p, at)
		return
	}
	defer e.item.Close()
	root := e.item.Root()
	if !root.Get("type").Is("image_generation_call") {
		e.givenFile(p, at)
		return
	}
	e.follow()
	w := e.w
	w.BeginObject()
	e.member("type", "image_generation_call")
	e.member("id", root.Get("id").Str())
	e.member("status", "completed")
	e.member("result", standard(b.Data))
	w.EndObject()
}

// givenFile tells a file of an earlier answer as the user's.
func (e *resEncoder) givenFile(p content.Part, at place) {
	e.flushTexts()
	e.loose()
	e.lose(resByAssistant, at)
	e.part(p, at)
	e.message("user")
}
