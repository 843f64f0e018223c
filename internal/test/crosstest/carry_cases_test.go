package crosstest

import (
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/partfield"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
)

// A carriedResponse is a response of a vendor with state.
type carriedResponse struct {
	name string
	up   upstream.Upstream
	// Of a Messages vendor: the losses as "severity path", and the parts that it does not
	// receive again.
	losses []string
	gone   []int
}

func (r *carriedResponse) lossy() bool { return len(r.losses) > 0 }

// googleSig and claudeSig are signatures of the vendors.
func googleSig(data string) content.Signature {
	return content.Signature{Format: generatecontent.Format, Data: data}
}

func claudeSig(data string) content.Signature {
	return content.Signature{Format: messages.Format, Data: data}
}

func opened(block int, p content.Part) upstream.Event {
	return upstream.Event{Kind: upstream.EventOpen, Block: block, Part: p}
}

func closed(block int) upstream.Event { return upstream.Event{Kind: upstream.EventClose, Block: block} }

func delta(block int, text string) upstream.Event {
	return upstream.Event{Kind: upstream.EventText, Block: block, Text: text}
}

func signedBlock(block int, s content.Signature) upstream.Event {
	return upstream.Event{Kind: upstream.EventSignature, Block: block, Signature: &s}
}

// sends returns an upstream that sends all events at once.
func sends(events ...upstream.Event) upstream.Func {
	return generate(func(w *upstream.Writer) error { return w.Send(events) })
}

const pngData = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="

// generateResponses are responses of a generateContent vendor.
var generateResponses = []carriedResponse{
	{name: "thought and call", up: generate(func(w *upstream.Writer) error {
		_ = w.Thinking("Let me")
		_ = w.Thinking(" see.")
		_ = w.Part(&content.ToolUse{ID: "a", Name: "look", Input: `{"k":1}`, Signature: googleSig("CiQBc2lnLWE=")})
		return w.Part(&content.ToolUse{ID: "b", Name: "look", Input: `{}`})
	})},
	{name: "every part signed", up: generate(func(w *upstream.Writer) error {
		_ = w.Thinking("é漢\n")
		_ = w.Signature(googleSig("_-8"))
		_ = w.Text("Hello.")
		_ = w.Text(", you")
		_ = w.Signature(googleSig("+/8="))
		_ = w.Part(&content.Thinking{Signature: googleSig("b21pdHRlZA==")})
		_ = w.Part(&content.Thinking{Redacted: googleSig("b3BhcXVl")})
		_ = w.Part(&content.Text{Signature: googleSig("ZW1wdHk=")})
		c := w.ToolCall("a", "look")
		_ = w.Signature(googleSig("aW4icXVvdGVz"))
		_ = c.Input(`{"q":`)
		_ = c.Input(`"x"}`)
		return c.Close()
	})},
	{name: "signed after the end", up: sends(opened(0, &content.Thinking{}), delta(0, "Hm"), closed(0), signedBlock(0, googleSig("bGF0ZQ==")),
		opened(1, &content.ToolUse{ID: "a", Name: "f"}), closed(1), opened(2, &content.Text{}), delta(2, "Done"), closed(2),
		signedBlock(2, googleSig("dGV4dA==")), opened(3, &content.ToolUse{ID: "b", Name: "f"}), closed(3))},
	{name: "side by side", up: sends(opened(0, &content.ToolUse{ID: "a", Name: "f"}), signedBlock(0, googleSig("Zmlyc3Q=")),
		opened(1, &content.ToolUse{ID: "b", Name: "f", Signature: googleSig("b3Blbg==")}),
		upstream.Event{Kind: upstream.EventInput, Block: 0, Text: "{}"}, upstream.Event{Kind: upstream.EventInput, Block: 1, Text: `{"a":1}`}, closed(0), closed(1))},
	{name: "long", up: generate(func(w *upstream.Writer) error {
		_ = w.Part(&content.ToolUse{ID: "a", Name: "f", Signature: googleSig(strings.Repeat("QUJD", 16_000))})
		return w.Text("x")
	})},
	{name: "too long", up: generate(func(w *upstream.Writer) error {
		_ = w.Part(&content.Thinking{Text: "a", Signature: googleSig(strings.Repeat("Q", envelope.MaxSize+1))})
		_ = w.Part(&content.Thinking{Redacted: googleSig(strings.Repeat("Q", envelope.MaxSize+1))})
		_ = w.Part(&content.ToolUse{ID: "a", Name: "f", Signature: googleSig(strings.Repeat("Q", envelope.MaxSize+1))})
		return w.Text("x")
	})},
	{name: "without format", up: generate(func(w *upstream.Writer) error {
		_ = w.Part(&content.ToolUse{ID: "a", Name: "f", Signature: content.Signature{Data: "x"}})
		_ = w.Part(&content.Text{Text: "t", Signature: claudeSig("x")})
		return w.Part(&content.Thinking{Redacted: content.Signature{Data: "x"}})
	})},
	{name: "an image that is dropped", up: generate(func(w *upstream.Writer) error {
		_ = w.Part(&content.Image{Source: &content.URL{URL: "https://a.example"}, Signature: googleSig("aW1n")})
		return w.Part(&content.ToolUse{ID: "a", Name: "f", Signature: googleSig("Zg==")})
	})},
}

// messagesResponses are responses of a Messages vendor.
var messagesResponses = []carriedResponse{
	{name: "thought, text, calls", up: generate(func(w *upstream.Writer) error {
		_ = w.Thinking("Let me")
		_ = w.Thinking(" \"see\"\né\u2028.")
		_ = w.Signature(claudeSig("EqQBCk+/=="))
		_ = w.Text("Both ")
		_ = w.Text("漢.")
		_ = w.Part(&content.ToolUse{ID: "a", Name: "look", Input: `{"k":1}`})
		return w.Part(&content.ToolUse{ID: "b", Name: "look", Input: `{}`})
	})},
	{name: "interleaved", up: generate(func(w *upstream.Writer) error {
		_ = w.Thinking("one")
		_ = w.Signature(claudeSig("1"))
		_ = w.Part(&content.Thinking{Redacted: claudeSig("hidden")})
		_ = w.Text("first")
		_ = w.Part(&content.Thinking{Signature: claudeSig("2")})
		_ = w.Text("second")
		_ = w.Part(&content.ToolUse{ID: "a", Name: "f", Input: `{}`})
		_ = w.Thinking("three")
		_ = w.Signature(claudeSig("3"))
		c, d := w.ToolCall("b", "f"), w.ToolCall("c", "f")
		_ = c.Input(`{"a":`)
		_ = d.Input(`{}`)
		_ = c.Input(`1}`)
		_ = c.Close()
		_ = d.Close()
		_ = w.Part(&content.Thinking{Text: "four", Signature: claudeSig("4")})
		return w.Text("end")
	})},
	{name: "without a call", up: generate(func(w *upstream.Writer) error {
		_ = w.Thinking("Hm")
		_ = w.Signature(claudeSig("sig"))
		_ = w.Text("Hello.")
		return w.Stop(upstream.Stop{Reason: content.StopEnd})
	})},
	{name: "nothing but a thought", up: generate(func(w *upstream.Writer) error {
		_ = w.Part(&content.Thinking{Signature: claudeSig("sig")})
		return w.Stop(upstream.Stop{Reason: content.StopMaxTokens})
	})},
	{name: "unsigned, and signed by the vendor of the clients", up: generate(func(w *upstream.Writer) error {
		_ = w.Thinking("unsigned")
		_ = w.Part(&content.Text{Text: "a"})
		_ = w.Part(&content.Thinking{Text: "own", Signature: googleSig("c2ln")})
		return w.Part(&content.ToolUse{ID: "a", Name: "f", Input: `{}`})
	})},
	{name: "signed late", up: sends(opened(0, &content.Thinking{}), delta(0, "Hm"), closed(0), opened(1, &content.Text{}), delta(1, "Hi"),
		signedBlock(0, claudeSig("late")), closed(1), opened(2, &content.ToolUse{ID: "a", Name: "f"}), closed(2))},
	{name: "long", up: generate(func(w *upstream.Writer) error {
		for range 200 {
			_ = w.Thinking(strings.Repeat("all work ", 100))
		}
		_ = w.Signature(claudeSig(strings.Repeat("QUJD", 50_000)))
		return w.Part(&content.ToolUse{ID: "a", Name: "f", Input: `{}`})
	})},
	{name: "too long", up: generate(func(w *upstream.Writer) error {
		_ = w.Part(&content.Thinking{Text: "small", Signature: claudeSig("1")})
		for range 5 {
			_ = w.Thinking(strings.Repeat("x", 1<<20))
		}
		_ = w.Signature(claudeSig("2"))
		_ = w.Part(&content.ToolUse{ID: "a", Name: "f", Input: `{}`})
		_ = w.Part(&content.Thinking{Text: "again", Signature: claudeSig("3")})
		_ = w.Part(&content.ToolUse{ID: "b", Name: "f", Input: `{}`})
		return w.Part(&content.Text{Text: "t", Signature: claudeSig(strings.Repeat("x", envelope.MaxSize+1))})
	}), losses: []string{"degraded parts.1", "degraded parts.5"}, gone: []int{0, 1}},
	{name: "of two vendors", up: generate(func(w *upstream.Writer) error {
		_ = w.Part(&content.Thinking{Text: "one", Signature: claudeSig("1")})
		_ = w.Part(&content.Thinking{Text: "two", Signature: content.Signature{Format: "third", Data: "2"}})
		return w.Part(&content.ToolUse{ID: "a", Name: "f", Input: `{}`})
	}), losses: []string{"degraded parts.1"}},
	{name: "unknown format", up: generate(func(w *upstream.Writer) error {
		_ = w.Part(&content.Thinking{Text: "one", Signature: content.Signature{Data: "1"}})
		_ = w.Part(&content.Thinking{Redacted: content.Signature{Data: "1"}})
		return w.Part(&content.ToolUse{ID: "a", Name: "f", Input: `{}`, Signature: content.Signature{Data: "1"}})
	}), losses: []string{"hint parts.0", "hint parts.1", "hint parts.2"}},
}

// script are the operations of a scripted vendor. Other bytes select one of them.
const script = "xXySt LeclkmnrRCdiqspuUT"

// scripted returns a vendor of the format that runs ops. One of generateContent signs any
// part, once and before the next part opens; thinking of a third vendor may be between them.
// One of Messages signs all thinking and nothing else.
func scripted(vendor content.Format, ops []byte, data string) upstream.Func {
	return generate(func(w *upstream.Writer) error {
		s := &scriptRun{w: w, vendor: vendor, data: data}
		for i, op := range ops {
			if strings.IndexByte(script, op) < 0 {
				op = script[int(op)%len(script)]
			}
			s.do(op, i)
		}
		return nil
	})
}

// A scriptRun is a response of a scripted vendor.
type scriptRun struct {
	w      *upstream.Writer
	vendor content.Format
	data   string
	n      int
	calls  []*upstream.ToolCallWriter
	fed    *upstream.ToolCallWriter // has arguments
	kind   byte                     // kind of the last block, for its deltas
	some   bool                     // a block is open
	last   bool                     // the block is signed
}

func (s *scriptRun) claude() bool { return s.vendor == messages.Format }

func (s *scriptRun) sig() content.Signature {
	s.n++
	return content.Signature{Format: s.vendor, Data: base64.StdEncoding.EncodeToString(fmt.Append(nil, s.n, s.data))}
}

// part writes a whole part.
func (s *scriptRun) part(p content.Part, signed bool) {
	if _, thinking := p.(*content.Thinking); s.claude() && partfield.SignatureOf(p).Data == "" {
		signed = thinking
	}
	if signed {
		p = partfield.WithSignature(p, s.sig())
	}
	_ = s.w.Part(p)
	s.kind, s.some, s.last = 0, true, signed
}

// piece writes a piece of a text or of thinking.
func (s *scriptRun) piece(kind byte) {
	if s.kind != kind {
		s.kind, s.some, s.last = kind, true, false
	}
}

func (s *scriptRun) id(i int) string {
	if s.claude() {
		return fmt.Sprint("c", i)
	}
	return "" // generateContent does not require ids
}

func (s *scriptRun) do(op byte, i int) {
	foreign := content.Signature{Format: thirdVendor}
	switch op {
	case 'x':
		_ = s.w.Thinking(fmt.Sprint("hm", i))
		s.piece('x')
		if s.claude() {
			_ = s.w.Thinking(" é" + s.data)
			_ = s.w.Signature(s.sig())
			s.kind = 0
		}
	case 'X':
		s.part(&content.Thinking{}, true)
	case 't', ' ', 'u':
		_ = s.w.Text(map[byte]string{'t': fmt.Sprint("t", i), ' ': " \n", 'u': "é漢\U0001F600"}[op])
		s.piece('t')
	case 'y', 'S':
		s.part(&content.Thinking{Text: "y"}, op == 'S')
	case 'r', 'R':
		switch {
		case s.claude() && op == 'r':
			_ = s.w.Part(&content.Thinking{Redacted: s.sig()})
		case s.claude():
			_ = s.w.Part(&content.Thinking{Text: "new", Signature: s.sig(), Extra: &content.Extra{Format: messages.Format, JSON: `{"z":1,"a":[2]}`}})
		case op == 'r':
			foreign.Data = s.sig().Data
			_ = s.w.Part(&content.Thinking{Redacted: foreign})
		default:
			foreign.Data = s.sig().Data
			_ = s.w.Part(&content.Thinking{Text: "R", Signature: foreign})
		}
		s.kind, s.some, s.last = 0, true, true
	case 'L', 'l', 'T':
		s.part(&content.Text{Text: map[byte]string{'L': "l", 'l': "\t", 'T': "T"}[op]}, op == 'T')
	case 'e':
		if !s.claude() {
			s.part(&content.Text{}, true)
		}
	case 'c', 'C':
		s.part(&content.ToolUse{ID: s.id(i), Name: "f", Input: "{}"}, op == 'C')
	case 'k':
		s.part(&content.ServerToolUse{ID: "k", Name: "web_search", Kind: "server_tool_use", Input: `{}`, Format: s.vendor}, false)
		if s.claude() {
			_ = s.w.Part(&content.ServerToolResult{Format: s.vendor, Kind: "web_search_tool_result", ID: "k", Content: `[]`})
		}
	case 'm', 'n':
		s.part(&content.Image{Source: &content.Base64{MediaType: "image/png", Data: pngData}}, op == 'm')
	case 'd':
		if s.claude() { // calls side by side
			c, d := s.w.ToolCall(s.id(i), "f"), s.w.ToolCall(s.id(i)+"d", "f")
			_ = c.Input(`{"a":`)
			_ = d.Input(`{}`)
			_ = c.Input(`1}`)
			_ = c.Close()
			_ = d.Close()
			s.kind = 0
			break
		}
		s.calls = append(s.calls, s.w.ToolCall(s.id(i), "f"))
		s.kind, s.some, s.last = 'd', true, false
	case 'i':
		if n := len(s.calls); n > 0 && s.fed != s.calls[n-1] {
			s.fed = s.calls[n-1]
			_ = s.fed.Input("{}")
		}
	case 'q':
		if len(s.calls) > 0 {
			_ = s.calls[0].Close() // later calls receive their arguments afterwards
			s.calls = s.calls[1:]
		}
	case 's':
		if s.some && !s.last && !s.claude() {
			_ = s.w.Signature(s.sig())
			s.last = true
			if s.kind == 'x' {
				s.kind = 0
			}
		}
	case 'p':
		if !s.claude() { // which stops at the end
			_ = s.w.Stop(upstream.Stop{Reason: content.StopEnd})
		}
	case 'U':
		_ = s.w.Usage(content.Usage{Output: int64(i)})
	}
}
