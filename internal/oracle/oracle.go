// Package oracle has the encoders of responses as they were, and makes responses from
// bytes, to compare them with the encoders as they are.
package oracle

import (
	"context"
	"slices"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

var formats = []content.Format{"messages", "generatecontent", "openai-responses", "openai-chat", ""}

var texts = []string{"a", "", " \n", "é漢", "\xf0\x9f", "\x98\x80", "\u2028x", "line\r\nbreak", "\"q\\", "Hello there. ", "\ufeff", "<&>"}

var inputs = []string{`{"a":`, `1}`, `{}`, " ", "", "null", "[1]", "x", `{"b":[1,2]}`, "{", "}", `{"s":"\`, `u0041"}`, "\t"}

var reasons = []content.StopReason{"", content.StopEnd, content.StopToolUse, content.StopMaxTokens, content.StopSequence, content.StopPause,
	content.StopRefusal, content.StopSafety, content.StopRecitation, content.StopContext, content.StopMalformedCall, content.StopCompaction, "odd"}

type made struct {
	b    []byte
	open []opened
	next int
	late []int // closed blocks

	batch []upstream.Event
	start bool
}

type opened struct {
	n, candidate int
	part         content.Part
}

func (m *made) byte() int {
	if len(m.b) == 0 {
		return 0
	}
	c := m.b[0]
	m.b = m.b[1:]
	return int(c)
}

func pick[T any](m *made, list []T) T { return list[m.byte()%len(list)] }

func (m *made) extra() *content.Extra {
	if m.byte()%5 != 0 {
		return nil
	}
	return &content.Extra{Format: pick(m, formats), JSON: pick(m, []string{`{"z":1}`, `{"z":[1, "\n"],"y":null}`, `{}`, `x`, `{"text":"t","type":"u","index":3}`,
		`{"container":{"id":"c"}}`, `{"promptFeedback":{"blockReason":"SAFETY"}}`, `{"safetyRatings":[1]}`, `{"groundingMetadata":{"groundingChunks":[{"web":{"uri":"https://a.example/"}}]}}`,
		`{"logprobs":{"content":[{"token":"a","logprob":-1}]}}`, `{"modelStatus":{"a":1}}`})}
}

func (m *made) signature() content.Signature {
	return content.Signature{Format: pick(m, formats), Data: pick(m, []string{"c2ln", "", "c2lnMg==", "odd!", "AAAA"})}
}

func (m *made) citation() content.Citation {
	return pick(m, []content.Citation{
		{Kind: content.CiteChars, Text: "T", Title: "D", End: 3}, {Kind: content.CiteWeb, URL: "https://a.example/", Title: "A"},
		{Kind: content.CitePages, Text: "p", Start: 1, End: 2}, {}, {Kind: content.CiteSearchResult, URL: "w/x", Title: "H"},
		{Kind: content.CiteWeb, URL: "https://b.example/", Extra: &content.Extra{Format: "generatecontent", JSON: `{"segment":{"startIndex":0,"endIndex":1}}`}},
		{Extra: &content.Extra{Format: "messages", JSON: `{"type":"new_location"}`}},
	})
}

func (m *made) part() content.Part {
	id := pick(m, []string{"", "id1", "id2", "toolu_pw1", "id|3", "toolu_x"})
	switch m.byte() % 16 {
	case 0, 1:
		return &content.Text{}
	case 2:
		return &content.Text{Text: pick(m, texts), Signature: m.signature()}
	case 3:
		return &content.Text{Text: pick(m, texts), Citations: []content.Citation{m.citation()}, Extra: m.extra()}
	case 4, 5:
		return &content.Thinking{}
	case 6:
		return &content.Thinking{Text: pick(m, texts), Signature: m.signature(), Extra: m.extra()}
	case 7:
		r := m.signature()
		if r.Data == "" {
			r = content.Signature{}
		}
		return &content.Thinking{Redacted: r, Extra: m.extra()}
	case 8, 9:
		return &content.ToolUse{ID: id, Name: pick(m, []string{"f", "g", ""})}
	case 10:
		return &content.ToolUse{ID: id, Name: "f", Input: pick(m, inputs), Signature: m.signature(), Extra: m.extra()}
	case 11:
		return &content.ServerToolUse{Format: pick(m, formats), Kind: pick(m, []string{"", "server_tool_use", "mcp_tool_use", "executableCode"}), ID: id, Name: "web_search", Input: pick(m, inputs), Signature: m.signature()}
	case 12:
		return &content.ServerToolResult{Format: pick(m, formats), Kind: pick(m, []string{"", "web_search_tool_result", "codeExecutionResult"}), ID: id, Content: pick(m, []string{"", "[]", "x", `{"a":1}`}), Signature: m.signature()}
	case 13:
		return &content.Unknown{Format: pick(m, formats), Kind: "k", Raw: pick(m, []string{`{"type":"k","v":1}`, "x", `{"videoMetadata":{}}`, "{\n}"})}
	case 14:
		return &content.Image{Source: &content.Base64{MediaType: "image/png", Data: "iVBORw0KGgo="}, Signature: m.signature()}
	}
	return &content.Document{Title: "t", Source: &content.URL{URL: "https://a.example/d"}, Cache: &content.Cache{}}
}

func (m *made) add(e upstream.Event) { m.batch = append(m.batch, e) }

// some returns an open block for which ok is true, or nil.
func (m *made) some(ok func(content.Part) bool) *opened {
	if len(m.open) == 0 {
		return nil
	}
	from := m.byte()
	for i := range m.open {
		if o := &m.open[(from+i)%len(m.open)]; ok(o.part) {
			return o
		}
	}
	return nil
}

func all(content.Part) bool { return true }

func signable(p content.Part) bool {
	t, ok := p.(*content.Thinking)
	return !ok || t.Redacted.Data == ""
}

func isText(p content.Part) bool {
	switch p := p.(type) {
	case *content.Text:
		return true
	case *content.Thinking:
		return p.Redacted.Data == ""
	}
	return false
}

func isCall(p content.Part) bool {
	switch p.(type) {
	case *content.ToolUse, *content.ServerToolUse:
		return true
	}
	return false
}

// step adds an event. only is the format of the signatures that it adds, or "".
func (m *made) step() {
	switch op := m.byte() % 32; op {
	case 0, 1, 2, 3, 4, 5, 6, 7:
		p := m.part()
		o := opened{m.next, 0, p}
		if m.byte()%12 == 0 {
			o.candidate = 1 + m.byte()%2
		}
		m.next++
		m.open = append(m.open, o)
		m.add(upstream.Event{Kind: upstream.EventOpen, Block: o.n, Candidate: o.candidate, Part: p, Extra: m.extra()})
	case 8, 9, 10, 11, 12:
		if o := m.some(isText); o != nil {
			m.add(upstream.Event{Kind: upstream.EventText, Block: o.n, Candidate: o.candidate, Text: pick(m, texts), Extra: m.extra()})
		}
	case 13, 14, 15, 16:
		if o := m.some(isCall); o != nil {
			m.add(upstream.Event{Kind: upstream.EventInput, Block: o.n, Candidate: o.candidate, Text: pick(m, inputs), Extra: m.extra()})
		}
	case 17, 18:
		if o := m.some(signable); o != nil {
			s := m.signature()
			m.add(upstream.Event{Kind: upstream.EventSignature, Block: o.n, Candidate: o.candidate, Signature: &s, Extra: m.extra()})
		}
	case 19:
		if len(m.late) > 0 {
			o := m.late[m.byte()%len(m.late)]
			s := m.signature()
			m.add(upstream.Event{Kind: upstream.EventSignature, Block: o & 0xffff, Candidate: o >> 16, Signature: &s, Extra: m.extra()})
		}
	case 20:
		if o := m.some(func(p content.Part) bool { _, ok := p.(*content.Text); return ok }); o != nil {
			c := m.citation()
			m.add(upstream.Event{Kind: upstream.EventCitation, Block: o.n, Candidate: o.candidate, Citation: &c, Extra: m.extra()})
		}
	case 21:
		if o := m.some(all); o != nil {
			m.add(upstream.Event{Kind: upstream.EventBlockExtra, Block: o.n, Candidate: o.candidate, Text: pick(m, []string{"", "content_block_delta", "odd"}), Extra: m.extra()})
		}
	case 22, 23, 24, 25:
		if o := m.some(all); o != nil {
			if signable(o.part) {
				m.late = append(m.late, o.n|o.candidate<<16)
			}
			if len(m.late) > 4 {
				m.late = m.late[1:]
			}
			m.add(upstream.Event{Kind: upstream.EventClose, Block: o.n, Candidate: o.candidate, Extra: m.extra()})
			n := o.n
			m.open = slices.DeleteFunc(m.open, func(o opened) bool { return o.n == n })
		}
	case 26:
		u := content.Usage{Input: int64(m.byte() % 3), Output: int64(m.byte() % 3), CacheRead: int64(m.byte() % 2), Thinking: int64(m.byte() % 2)}
		m.add(upstream.Event{Kind: upstream.EventUsage, Usage: &u, Extra: m.extra()})
	case 27:
		s := upstream.Stop{Reason: pick(m, reasons), Sequence: pick(m, []string{"", "END"}), Message: pick(m, []string{"", "", "why"})}
		if m.byte()%3 == 0 {
			s.Format = pick(m, formats)
			s.RawReason = pick(m, []string{"", "STOP", "end_turn", "tool_use", "SAFETY", "max_tokens"})
			s.Details = pick(m, []string{"", `{"promptFeedback":{"blockReason":"SAFETY"}}`, `{"finishMessage":"m"}`, `{"type":"refusal"}`})
			s.Extra = m.extra()
		}
		m.add(upstream.Event{Kind: upstream.EventStop, Stop: &s, Candidate: m.byte() / 250, Extra: m.extra()})
	case 28:
		m.add(upstream.Event{Kind: upstream.EventExtra, Text: pick(m, []string{"", "", "odd_event", "ping"}), Candidate: m.byte() / 250, Extra: m.extra()})
	default:
		m.add(upstream.Event{}) // a cut
	}
}

// Responses returns a response that the bytes describe, as events in batches.
func Batches(b []byte) [][]upstream.Event {
	m := &made{b: b}
	up := upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		if m.byte()%2 == 0 {
			m.add(upstream.Event{Kind: upstream.EventStart, Start: &upstream.Start{ID: pick(m, []string{"", "vendor1"}), Model: pick(m, []string{"", "real"}), Extra: m.extra()}})
		}
		division := m.byte() % 4
		flush := func() error {
			list := m.batch
			m.batch = nil
			if len(list) == 0 {
				return nil
			}
			switch how := m.byte() % 4; how {
			case 0, 1:
				f := &upstream.Frame{Format: pick(m, formats), Name: pick(m, []string{"content_block_delta", "odd", "message_delta", "ping", ""}),
					Data: pick(m, []string{`{"candidates":[{}]}`, "{\n\"type\":\"x\"}", `{"type":"content_block_delta"}`}), Complete: m.byte()%20 == 0, Events: list}
				if m.byte()%10 == 0 {
					f.Preceding = []string{`{"before":1}`}
				}
				return w.Frame(f)
			}
			return w.Send(list)
		}
		for len(m.b) > 0 {
			n := len(m.batch)
			m.step()
			if len(m.batch) > n && m.batch[n].Kind == 0 {
				m.batch = m.batch[:n]
				if division != 3 {
					if err := flush(); err != nil {
						return err
					}
				}
			} else if division == 0 {
				if err := flush(); err != nil {
					return err
				}
			}
		}
		return flush()
	})
	var list [][]upstream.Event
	_ = upstream.Run(context.Background(), up, &upstream.Request{}, upstream.SinkFunc(func(events []upstream.Event) error {
		list = append(list, slices.Clone(events))
		return nil
	}))
	return list
}
