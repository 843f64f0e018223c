package anthropic

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/polywire/polywire/internal/test/fake"
)

// A reply is a response of the script in the vendor's format.
type reply struct {
	id, model                    string
	parts                        []part
	reason, sequence, details    string
	usage                        *fake.Usage
	message, usageMembers, delta []fake.Member
}

// A part is one step of a response: blocks with interleaved events, or another
// piece.
type part struct {
	blocks []rendered
	other  fake.Piece
}

// A rendered block is a content block, whole and streamed.
type rendered struct {
	whole, start string
	deltas       []string
}

// reply returns the response of a turn to the request a.
func (s *Server) reply(a *ask, id uint32, turn []fake.Piece) *reply {
	r := &reply{
		id: fmt.Sprintf("msg_%08d", id), model: a.model.name, reason: "end_turn",
		usage: &fake.Usage{Input: 10, Output: 5},
	}
	b := builder{server: s, answer: id, split: int(fake.Default), omit: a.omitsThinking()}
	if !a.mayThink() {
		turn = slices.DeleteFunc(slices.Clone(turn), func(p fake.Piece) bool {
			switch p.(type) {
			case fake.Thinking, fake.Redacted:
				return true
			}
			return false
		})
	}
	b.seals = seals(id, turn)
	for _, p := range turn {
		switch p := p.(type) {
		case fake.Stop:
			r.reason, r.sequence, r.details = p.Reason, p.Sequence, p.Details
			b.stopped = true
		case fake.Usage:
			r.usage = &p
		case fake.NoUsage:
			r.usage = nil
		case fake.Model:
			r.model = string(p)
		case fake.Split:
			b.split = int(p)
		case fake.Member:
			r.member(p)
		case fake.Together:
			var group part
			for _, inner := range p {
				group.blocks = append(group.blocks, b.block(inner))
			}
			r.parts = append(r.parts, group)
		case fake.Text, fake.Thinking, fake.Redacted, fake.ToolCall, fake.Cited, fake.Image, fake.Raw:
			r.parts = append(r.parts, part{blocks: []rendered{b.block(p)}})
		default:
			r.parts = append(r.parts, part{other: p})
		}
	}
	if b.called && !b.stopped {
		r.reason = "tool_use"
	}
	return r
}

func (r *reply) member(m fake.Member) {
	switch m.On {
	case "usage":
		r.usageMembers = append(r.usageMembers, m)
	case "message_delta":
		r.delta = append(r.delta, m)
	default:
		r.message = append(r.message, m)
	}
}

// omitsThinking reports whether the vendor omits the text of thinking,
// messages.md §2.5.
func (a *ask) omitsThinking() bool {
	switch a.doc.Get("thinking").Text("display") {
	case "omitted":
		return true
	case "summarized":
		return false
	}
	return a.model.version > 46
}

// seals numbers the runs of thinking in a turn.
func seals(id uint32, turn []fake.Piece) []seal {
	var all []seal
	run := 0
	finish := func() {
		for i := range run {
			all[len(all)-run+i].total = uint16(run)
		}
		run = 0
	}
	for _, p := range turn {
		switch p.(type) {
		case fake.Thinking, fake.Redacted:
			all = append(all, seal{answer: id, pos: uint16(run)})
			run++
		case fake.Text, fake.ToolCall, fake.Cited, fake.Image, fake.Raw, fake.Together:
			finish()
		}
	}
	finish()
	return all
}

// A builder renders the blocks of one response.
type builder struct {
	server          *Server
	answer          uint32
	calls           int
	split           int
	omit            bool
	called, stopped bool
	seals           []seal
	signatures      []string
}

func (b *builder) seal() seal {
	if len(b.seals) == 0 { // within Together, where runs are not counted
		return seal{answer: b.answer, total: 1}
	}
	s := b.seals[0]
	b.seals = b.seals[1:]
	return s
}

func (b *builder) block(p fake.Piece) rendered {
	q := fake.Quote
	switch p := p.(type) {
	case fake.Text:
		return b.text(string(p), nil)
	case fake.Cited:
		return b.text(p.Text, p.Citations)
	case fake.Thinking:
		return b.thinking(string(p))
	case fake.Redacted:
		data := b.seal().sign("redacted", "")
		b.signatures = append(b.signatures, data)
		w := fake.Join("type", q("redacted_thinking"), "data", q(data))
		return rendered{whole: w, start: w}
	case fake.ToolCall:
		return b.call(p)
	case fake.Image:
		w := fake.Join("type", q("image"), "source", fake.Join("type", q("base64"), "media_type", q(p.MIME), "data", q(p.Data)))
		return rendered{whole: w, start: w}
	case fake.Raw:
		return rendered{whole: string(p), start: string(p)}
	default:
		panic(fmt.Sprintf("fake: %T is not a content block", p))
	}
}

func (b *builder) text(text string, citations []string) rendered {
	q := fake.Quote
	list := "" // absent
	if citations != nil {
		list = "[" + strings.Join(citations, ",") + "]"
	}
	r := rendered{whole: fake.Join("type", q("text"), "text", q(text), "citations", list)}
	r.start = fake.Join("type", q("text"), "text", q(""))
	for _, c := range citations {
		r.deltas = append(r.deltas, fake.Join("type", q("citations_delta"), "citation", c))
	}
	for _, s := range fake.Chunks(text, b.split, true) {
		r.deltas = append(r.deltas, fake.Join("type", q("text_delta"), "text", q(s)))
	}
	return r
}

func (b *builder) thinking(text string) rendered {
	q := fake.Quote
	if b.omit {
		text = ""
	}
	signature := b.seal().sign("thinking", text)
	b.signatures = append(b.signatures, signature)
	r := rendered{
		whole: fake.Join("type", q("thinking"), "thinking", q(text), "signature", q(signature)),
		start: fake.Join("type", q("thinking"), "thinking", q(""), "signature", q("")),
	}
	for _, s := range fake.Chunks(text, b.split, true) {
		r.deltas = append(r.deltas, fake.Join("type", q("thinking_delta"), "thinking", q(s)))
	}
	r.deltas = append(r.deltas, fake.Join("type", q("signature_delta"), "signature", q(signature)))
	return r
}

func (b *builder) call(c fake.ToolCall) rendered {
	q := fake.Quote
	if c.ID == "" {
		c.ID = fmt.Sprintf("toolu_%08d_%d", b.answer, b.calls)
		b.calls++
	}
	if c.Args == "" {
		c.Args = "{}"
	}
	b.called = true
	b.server.thought.note(c.ID, b.signatures)
	block := func(input string) string {
		return fake.Join("type", q("tool_use"), "id", q(c.ID), "name", q(c.Name), "input", input, "caller", `{"type":"direct"}`)
	}
	r := rendered{whole: block(c.Args), start: block("{}")}
	if c.Args == "{}" {
		return r
	}
	for _, s := range append([]string{""}, fake.Chunks(c.Args, b.split, true)...) {
		r.deltas = append(r.deltas, fake.Join("type", q("input_json_delta"), "partial_json", q(s)))
	}
	return r
}

// The places of usage, which differ in its members.
const (
	wholeUsage = iota
	startUsage // message_start
	endUsage   // message_delta
)

// usageJSON returns the usage, messages.md §4.4.
func (r *reply) usageJSON(place int) string {
	if r.usage == nil {
		return ""
	}
	u := *r.usage
	n := strconv.Itoa
	members := []string{"input_tokens", n(u.Input + u.ToolPrompt), "cache_creation_input_tokens", n(u.CacheWrite), "cache_read_input_tokens", n(u.CacheRead)}
	if place != endUsage {
		members = append(members, "cache_creation", fake.Join("ephemeral_5m_input_tokens", n(u.CacheWrite), "ephemeral_1h_input_tokens", "0"))
	}
	if place == startUsage {
		members = append(members, "output_tokens", "1")
	} else {
		members = append(members, "output_tokens", n(u.Output+u.Thinking), "output_tokens_details", fake.Join("thinking_tokens", n(u.Thinking)))
	}
	if place != endUsage {
		members = append(members, "service_tier", `"standard"`, "inference_geo", `"global"`)
	}
	return fake.Join(fake.With(members, r.usageMembers)...)
}

// document returns the message, messages.md §4.1.
func (r *reply) document(content, reason, sequence, details, usage string) string {
	q := fake.Quote
	members := []string{
		"id", q(r.id), "type", q("message"), "role", q("assistant"), "model", q(r.model), "content", content,
		"stop_reason", reason, "stop_sequence", sequence, "stop_details", details,
		"usage", usage,
	}
	return fake.Join(fake.With(members, r.message)...)
}

// whole returns the response as one document.
func (s *Server) whole(a *ask, id uint32, turn []fake.Piece) []fake.Step {
	r := s.reply(a, id, turn)
	var blocks []string
	for _, p := range r.parts {
		for _, b := range p.blocks {
			blocks = append(blocks, b.whole)
		}
	}
	r.message = append(r.message, r.delta...)
	return fake.WholeSteps(turn, r.document("["+strings.Join(blocks, ",")+"]",
		fake.QuoteOr(r.reason, "null"), fake.QuoteOr(r.sequence, "null"), cmp.Or(r.details, "null"), r.usageJSON(wholeUsage)))
}
