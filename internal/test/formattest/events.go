package formattest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// Events makes a response from bytes: events in any order that an [upstream.Writer] accepts,
// with parts, signatures and members of several formats. Blocks overlap, texts and arguments
// are in pieces, and some are not valid.
func Events(b []byte) []upstream.Event {
	var list []upstream.Event
	up := upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		m := &maker{b: b, w: w}
		if m.byte()%2 == 0 {
			m.send(upstream.Event{Kind: upstream.EventStart,
				Start: &upstream.Start{ID: pick(m, []string{"", "vendor1"}), Model: pick(m, []string{"", "real"}), Extra: m.extra()}})
		}
		for len(m.b) > 0 && m.err == nil {
			m.step()
		}
		return m.err
	})
	err := upstream.Run(context.Background(), up, &upstream.Request{}, upstream.SinkFunc(func(events []upstream.Event) error {
		list = append(list, events...)
		return nil
	}))
	if err != nil {
		panic(err) // the order is not valid
	}
	return list
}

// Divide divides copies of events into batches, as bytes describe. If frame is not nil, it
// returns the frame with the events of a batch, or nil.
func Divide(events []upstream.Event, b []byte, frame func(events []upstream.Event) *upstream.Frame) [][]upstream.Event {
	var list [][]upstream.Event
	m := &maker{b: b}
	for len(events) > 0 {
		n := len(events)
		if len(m.b) > 0 {
			n = min(1+m.byte()%6, n)
		}
		batch := slices.Clone(events[:n])
		events = events[n:]
		if frame != nil && len(m.b) > 0 && m.byte()%4 != 0 {
			if f := frame(batch); f != nil {
				batch[0].Frame = f
				f.Events = batch
			}
		}
		list = append(list, batch)
	}
	return list
}

// Divisions returns divisions of events into batches, by name: one by one, as the bytes b divide
// them, and in frames of another format. If frame is not nil, they include one in which frame
// returns the frames, for three of four events.
func Divisions(events []upstream.Event, b []byte, frame func([]upstream.Event) *upstream.Frame) map[string][][]upstream.Event {
	all := map[string][][]upstream.Event{
		"one by one": Divide(events, make([]byte, len(events)), nil), // 0: one event
		"divided":    Divide(events, b, nil),
		"in frames of another format": Divide(events, b, func([]upstream.Event) *upstream.Frame {
			return &upstream.Frame{Format: "other", Name: "content_block_delta", Data: "{}"}
		}),
	}
	if frame != nil {
		var framed []byte
		for i := range events {
			framed = append(framed, 0, append(b, 1)[i%(len(b)+1)])
		}
		all["in frames"] = Divide(events, framed, frame)
	}
	return all
}

// RandomBytes returns bytes for [Events].
func RandomBytes(r *rand.Rand) []byte {
	b := make([]byte, r.IntN(200))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// DescribeEvents returns batches of events, one event on a line.
func DescribeEvents(batches [][]upstream.Event) string {
	var b strings.Builder
	for _, events := range batches {
		fmt.Fprintf(&b, "- frame: %v\n", upstream.FrameOf(events) != nil)
		for _, e := range events {
			fmt.Fprintf(&b, "  %v %d@%d %q %+v %+v %+v\n", e.Kind, e.Block, e.Candidate, e.Text, e.Part, e.Signature, e.Extra)
		}
	}
	return b.String()
}

// A maker makes a response.
type maker struct {
	b    []byte // what is not used yet; then 0
	w    *upstream.Writer
	err  error
	open []madeBlock
	next int
	late []madeBlock // closed last, for signatures
}

type madeBlock struct {
	number, candidate int
	part              content.Part
}

func (m *maker) byte() int {
	if len(m.b) == 0 {
		return 0
	}
	c := m.b[0]
	m.b = m.b[1:]
	return int(c)
}

func pick[T any](m *maker, list []T) T { return list[m.byte()%len(list)] }

func (m *maker) send(e upstream.Event) {
	if m.err == nil {
		m.err = m.w.Send([]upstream.Event{e})
	}
}

var (
	madeFormats = []content.Format{"messages", "generatecontent", "openai-responses", "openai-chat", ""}
	madeTexts   = []string{"a", "", " \n", "é漢", "\xf0\x9f", "\x98\x80", "\u2028x", "line\r\nbreak", "\"q\\", "Hello there. ", "\ufeff", "<&>"}
	madeInputs  = []string{`{"a":`, `1}`, `{}`, " ", "", "null", "[1]", "x", `{"b":[1,2]}`, "{", "}", `{"s":"\`, `u0041"}`, "\t"}
	madeReasons = []content.StopReason{"", content.StopEnd, content.StopToolUse, content.StopMaxTokens, content.StopSequence, content.StopPause,
		content.StopRefusal, content.StopSafety, content.StopRecitation, content.StopContext, content.StopMalformedCall, content.StopCompaction, "unknown"}
	madeMembers = []string{`{"z":1}`, `{"z":[1, "\n"],"y":null}`, `{}`, `x`, `{"text":"t","type":"u","index":3}`,
		`{"container":{"id":"c"}}`, `{"promptFeedback":{"blockReason":"SAFETY"}}`, `{"safetyRatings":[1]}`,
		`{"groundingMetadata":{"groundingChunks":[{"web":{"uri":"https://a.example/"}}]}}`,
		`{"logprobs":{"content":[{"token":"a","logprob":-1}]}}`, `{"modelStatus":{"a":1}}`}
	madeCitations = []content.Citation{
		{Kind: content.CiteChars, Text: "T", Title: "D", End: 3}, {Kind: content.CiteWeb, URL: "https://a.example/", Title: "A"},
		{Kind: content.CitePages, Text: "p", Start: 1, End: 2}, {}, {Kind: content.CiteSearchResult, URL: "w/x", Title: "H"},
		{Kind: content.CiteWeb, URL: "https://b.example/", Extra: &content.Extra{Format: "generatecontent", JSON: `{"segment":{"startIndex":0,"endIndex":1}}`}},
		{Extra: &content.Extra{Format: "messages", JSON: `{"type":"new_location"}`}},
	}
)

func (m *maker) extra() *content.Extra {
	if m.byte()%5 != 1 {
		return nil
	}
	return &content.Extra{Format: pick(m, madeFormats), JSON: pick(m, madeMembers)}
}

func (m *maker) signature() content.Signature {
	return content.Signature{Format: pick(m, madeFormats), Data: pick(m, []string{"c2ln", "", "c2lnMg==", "x!", "AAAA"})}
}

func (m *maker) part() content.Part {
	id := pick(m, []string{"", "id1", "id2", "toolu_pw1", "id|3", "toolu_x"})
	switch m.byte() % 16 {
	case 0, 1:
		return &content.Text{}
	case 2:
		return &content.Text{Text: pick(m, madeTexts), Signature: m.signature()}
	case 3:
		return &content.Text{Text: pick(m, madeTexts), Citations: []content.Citation{pick(m, madeCitations)}, Extra: m.extra()}
	case 4, 5:
		return &content.Thinking{}
	case 6:
		return &content.Thinking{Text: pick(m, madeTexts), Signature: m.signature(), Extra: m.extra()}
	case 7:
		r := m.signature()
		if r.Data == "" {
			r = content.Signature{}
		}
		return &content.Thinking{Redacted: r, Extra: m.extra()}
	case 8, 9:
		return &content.ToolUse{ID: id, Name: pick(m, []string{"f", "g", ""})}
	case 10:
		return &content.ToolUse{ID: id, Name: "f", Input: pick(m, madeInputs), Signature: m.signature(), Extra: m.extra()}
	case 11:
		return &content.ServerToolUse{Format: pick(m, madeFormats), Kind: pick(m, []string{"", "server_tool_use", "mcp_tool_use", "executableCode"}),
			ID: id, Name: "web_search", Input: pick(m, madeInputs), Signature: m.signature()}
	case 12:
		return &content.ServerToolResult{Format: pick(m, madeFormats), Kind: pick(m, []string{"", "web_search_tool_result", "codeExecutionResult"}),
			ID: id, Content: pick(m, []string{"", "[]", "x", `{"a":1}`}), Signature: m.signature()}
	case 13:
		return &content.Unknown{Format: pick(m, madeFormats), Kind: "k", Raw: pick(m, []string{`{"type":"k","v":1}`, "x", `{"videoMetadata":{}}`, "{\n}"})}
	case 14:
		return &content.Image{Source: &content.Base64{MediaType: "image/png", Data: "iVBORw0KGgo="}, Signature: m.signature()}
	}
	return &content.Document{Title: "t", Source: &content.URL{URL: "https://a.example/d"}, Cache: &content.Cache{}}
}

// some sends an event of an open block for which ok is true, if there is one.
func (m *maker) some(e upstream.Event, ok func(content.Part) bool) {
	from := m.byte()
	for i := range m.open {
		b := &m.open[(from+i)%len(m.open)]
		if !ok(b.part) {
			continue
		}
		e.Block, e.Candidate = b.number, b.candidate
		m.send(e)
		if e.Kind == upstream.EventClose {
			m.late = append(m.late, *b)
			m.late = m.late[max(len(m.late)-4, 0):]
			m.open = slices.DeleteFunc(m.open, func(o madeBlock) bool { return o.number == e.Block })
		}
		return
	}
}

func isAny(content.Part) bool { return true }

func isSignable(p content.Part) bool {
	t, ok := p.(*content.Thinking)
	return !ok || t.Redacted.Data == ""
}

func isText(p content.Part) bool {
	_, ok := p.(*content.Text)
	return ok
}

func isTextOrThinking(p content.Part) bool {
	t, ok := p.(*content.Thinking)
	return isText(p) || ok && t.Redacted.Data == ""
}

func isToolCall(p content.Part) bool {
	switch p.(type) {
	case *content.ToolUse, *content.ServerToolUse:
		return true
	}
	return false
}

// step sends an event.
func (m *maker) step() {
	switch m.byte() % 29 {
	case 0, 1, 2, 3, 4, 5, 6, 7:
		b := madeBlock{number: m.next, part: m.part()}
		if m.byte()%12 == 1 {
			b.candidate = 1 + m.byte()%2
		}
		m.next++
		m.open = append(m.open, b)
		m.send(upstream.Event{Kind: upstream.EventOpen, Block: b.number, Candidate: b.candidate, Part: b.part, Extra: m.extra()})
	case 8, 9, 10, 11, 12:
		m.some(upstream.Event{Kind: upstream.EventText, Text: pick(m, madeTexts), Extra: m.extra()}, isTextOrThinking)
	case 13, 14, 15, 16:
		m.some(upstream.Event{Kind: upstream.EventInput, Text: pick(m, madeInputs), Extra: m.extra()}, isToolCall)
	case 17, 18:
		s := m.signature()
		m.some(upstream.Event{Kind: upstream.EventSignature, Signature: &s, Extra: m.extra()}, isSignable)
	case 19:
		if len(m.late) > 0 {
			s, b := m.signature(), pick(m, m.late)
			if isSignable(b.part) {
				m.send(upstream.Event{Kind: upstream.EventSignature, Block: b.number, Candidate: b.candidate, Signature: &s, Extra: m.extra()})
			}
		}
	case 20:
		c := pick(m, madeCitations)
		m.some(upstream.Event{Kind: upstream.EventCitation, Citation: &c, Extra: m.extra()}, isText)
	case 21:
		e := upstream.Event{Kind: upstream.EventBlockExtra, Text: pick(m, []string{"", "content_block_delta", "unknown"}), Extra: m.extra()}
		if e.Text == "content_block_delta" {
			e.Extra = &content.Extra{Format: pick(m, madeFormats), JSON: `{"delta":{"type":"mood_delta","m":1}}`}
		}
		m.some(e, isAny)
	case 22, 23, 24, 25:
		m.some(upstream.Event{Kind: upstream.EventClose, Extra: m.extra()}, isAny)
	case 26:
		u := content.Usage{Input: int64(m.byte() % 3), Output: int64(m.byte() % 3), CacheRead: int64(m.byte() % 2), Thinking: int64(m.byte() % 2)}
		m.send(upstream.Event{Kind: upstream.EventUsage, Usage: &u, Extra: m.extra()})
	case 27:
		s := upstream.Stop{Reason: pick(m, madeReasons), Sequence: pick(m, []string{"", "END"}), Message: pick(m, []string{"", "", "why"})}
		if m.byte()%3 == 1 {
			s.Format = pick(m, madeFormats)
			s.RawReason = pick(m, []string{"", "STOP", "end_turn", "tool_use", "SAFETY", "max_tokens"})
			s.Details = pick(m, []string{"", `{"promptFeedback":{"blockReason":"SAFETY"}}`, `{"finishMessage":"m"}`, `{"type":"refusal"}`})
			s.Extra = m.extra()
		}
		m.send(upstream.Event{Kind: upstream.EventStop, Stop: &s, Candidate: m.byte() / 250, Extra: m.extra()})
	case 28:
		e := upstream.Event{Kind: upstream.EventExtra, Candidate: m.byte() / 250, Extra: m.extra()}
		if m.byte()%4 == 1 {
			e.Text = "unknown_event"
			e.Extra = &content.Extra{Format: pick(m, madeFormats), JSON: `{"type":"unknown_event","u":1}`}
		}
		m.send(e)
	}
}
