package messages

import (
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
)

// lose notes one loss; the path is known to whoever hands it out.
type lose func(r *loss.Rule)

// forAnswer returns p as an answer in this format can say it, nil if it cannot
// at all. p is left as it is: what has to be changed is changed in a copy.
func forAnswer(p content.Part, lost lose) content.Part {
	if content.IsNil(p) {
		lost(unsayable(nil))
		return nil
	}
	switch p := p.(type) {
	case *content.Text:
		return answerText(p, lost)
	case *content.Thinking:
		return answerThinking(p, lost)
	case *content.ToolUse:
		return answerCall(p, lost)
	case *content.ServerToolUse:
		if p.Format != Format {
			break
		}
		c := *p
		hints(&c.Cache, &c.Extra, &c.Signature, lost)
		input, ok := codec.Arguments(p.Input)
		if c.Input = input; !ok {
			c.Input = ""
			lost(unsaidQuery)
		}
		if c.Kind == "" {
			c.Kind = "server_tool_use"
		}
		return &c
	case *content.ServerToolResult:
		if p.Format != Format || p.Kind == "" {
			break
		}
		if p.Content != "" && jsonwire.Valid(p.Content, jsonwire.Limits{}) != nil {
			lost(unsaidResult)
			return nil
		}
		c := *p
		hints(&c.Cache, &c.Extra, &c.Signature, lost)
		return &c
	case *content.Unknown:
		if p.Format == Format && jsonwire.ValidObject(p.Raw) {
			return p
		}
	}
	lost(unsayable(p))
	return nil
}

// answerText leaves texts alone that have nothing but text.
func answerText(p *content.Text, lost lose) content.Part {
	if p.Cache == nil && p.Extra == nil && p.Signature == (content.Signature{}) && len(p.Citations) == 0 {
		return p
	}
	c := *p
	hints(&c.Cache, &c.Extra, &c.Signature, lost)
	c.Citations = nil
	for i := range p.Citations {
		if answerCitation(&p.Citations[i], lost) {
			c.Citations = append(c.Citations, p.Citations[i])
		}
	}
	return &c
}

func answerThinking(p *content.Thinking, lost lose) content.Part {
	c := *p
	var none content.Signature
	hints(nil, &c.Extra, &none, lost)
	if p.Redacted.Data != "" {
		c.Signature = none
		if isOptional(p.Redacted) { // of a vendor that has no such blocks
			lost(envelope.UnknownFormat)
			return nil
		}
		if isForeign(p.Redacted) {
			c.Redacted = content.Signature{Format: Format, Data: encodeEnvelope(p.Redacted, envelope.KindPart, lost)}
		} else if p.Redacted.Format != Format {
			lost(envelope.UnknownFormat)
			return nil
		}
		if c.Redacted.Data == "" {
			return nil
		}
		return &c
	}
	if isForeign(p.Signature) {
		c.Signature = content.Signature{Format: Format, Data: encodeEnvelope(p.Signature, envelope.KindPart, lost)}
	} else if p.Signature.Format != Format {
		hints(nil, nil, &c.Signature, lost)
	}
	return &c
}

// hints drops what has no effect on the answer and no place in it. A signature
// of another format is for the caller to carry.
func hints(cache **content.Cache, extra **content.Extra, sig *content.Signature, lost lose) {
	if cache != nil && *cache != nil {
		*cache = nil
		lost(unsaidCache)
	}
	if extra != nil && *extra != nil && (*extra).Format != Format {
		codec.UnsupportedOfPart(*extra, lost)
		*extra = nil
	}
	if sig != nil && sig.Data != "" && !isForeign(*sig) {
		lost(envelope.UnknownFormat)
	}
	if sig != nil {
		*sig = content.Signature{}
	}
}

// answerCall leaves out a call that is broken: see [unmade].
func answerCall(p *content.ToolUse, lost lose) content.Part {
	c := *p
	hints(&c.Cache, &c.Extra, &c.Signature, lost)
	input, ok := codec.Arguments(p.Input)
	c.Input = input
	switch {
	case p.Name == "":
		lost(unsaidName)
		return nil
	case !ok:
		lost(unsaidInput)
		return nil
	}
	return &c
}

// unmade reports whether a rule tells of a call that the model did not fully
// make: one that has no name, which nobody could run, or whose arguments are no
// object. Clients would run it with none, or fail.
func unmade(r *loss.Rule) bool { return r == unsaidName || r == unsaidInput }

func answerCitation(c *content.Citation, lost lose) bool {
	if citeFormOf("", c.Kind) != nil {
		if c.Extra != nil && c.Extra.Format != Format {
			lost(codec.UnsupportedMembers)
		}
		return true
	}
	if c.Kind == "" && c.Extra != nil && c.Extra.Format == Format && jsonwire.ValidObject(c.Extra.JSON) {
		return true // of a kind that this version does not know
	}
	lost(unsaidCitation)
	return false
}

// writeBlock writes a block of an answer. A start is how a streamed block
// begins: text, citations, arguments and the signature follow in deltas. It
// reports whether there is such a block.
func writeBlock(w *jsonwire.Writer, p content.Part, start bool) bool {
	switch p := p.(type) {
	case *content.Unknown:
		w.Raw(p.Raw)
	case *content.Text:
		writeText(w, p, start)
	case *content.Thinking:
		writeThinking(w, p, start)
	case *content.ToolUse:
		writeCall(w, "tool_use", p.ID, p.Name, unless(start, p.Input), p.Extra)
	case *content.ServerToolUse:
		writeCall(w, p.Kind, p.ID, p.Name, unless(start, p.Input), p.Extra)
	case *content.ServerToolResult:
		beginBlock(w, p.Kind)
		w.Name("tool_use_id")
		w.String(p.ID)
		if strings.HasPrefix(p.Kind, "web_") {
			writeCaller(w, p.Extra)
		}
		if p.Content != "" {
			w.Name("content")
			w.Raw(p.Content)
		}
		endBlock(w, p.Extra, &serverToolResNames)
	default:
		return false
	}
	return true
}

func writeText(w *jsonwire.Writer, p *content.Text, start bool) {
	beginBlock(w, "text")
	w.Name("text")
	w.String(unless(start, p.Text))
	w.Name("citations")
	if start || len(p.Citations) == 0 {
		w.Null()
	} else {
		w.BeginArray()
		for i := range p.Citations {
			writeCitation(w, &p.Citations[i])
		}
		w.EndArray()
	}
	endBlock(w, p.Extra, &textNames)
}

func writeThinking(w *jsonwire.Writer, p *content.Thinking, start bool) {
	if p.Redacted.Data != "" {
		beginBlock(w, "redacted_thinking")
		w.Name("data")
		w.String(p.Redacted.Data)
		endBlock(w, p.Extra, &redactedNames)
		return
	}
	beginBlock(w, "thinking")
	w.Name("thinking")
	w.String(unless(start, p.Text))
	w.Name("signature")
	w.String(unless(start, p.Signature.Data))
	endBlock(w, p.Extra, &thinkingBlockNames)
}

func unless(start bool, s string) string {
	if start {
		return ""
	}
	return s
}

func writeCall(w *jsonwire.Writer, kind, id, name, input string, extra *content.Extra) {
	beginBlock(w, kind)
	w.Name("id")
	w.String(id)
	w.Name("name")
	w.String(name)
	w.Name("input")
	if input == "" {
		input = "{}" // to the letter: clients take nothing else for a beginning
	}
	w.Raw(input)
	if kind != "mcp_tool_use" {
		writeCaller(w, extra)
	}
	endBlock(w, extra, &toolUseNames)
}

// writeCaller writes who has called a tool, if the members do not say it.
func writeCaller(w *jsonwire.Writer, extra *content.Extra) {
	if !hasMember(extra, "caller") {
		w.Name("caller")
		w.Raw(`{"type":"direct"}`)
	}
}

func beginBlock(w *jsonwire.Writer, kind string) {
	w.BeginObject()
	w.Name("type")
	w.String(kind)
}

func endBlock(w *jsonwire.Writer, extra *content.Extra, n *codec.Names) {
	if extra != nil {
		_ = w.MembersExcept(extra.JSON, n.Has) // what is no JSON has no members
	}
	w.EndObject()
}

func hasMember(extra *content.Extra, name string) bool {
	if extra == nil {
		return false
	}
	d, err := jsonwire.Parse(extra.JSON, jsonwire.Limits{})
	if err != nil {
		return false
	}
	defer d.Close()
	return d.Root().Get(name).Exists()
}

// writeCitation writes a citation of an answer, which is sayable. Unlike those
// of requests, those of documents always have a file_id.
func writeCitation(w *jsonwire.Writer, c *content.Citation) {
	f := citeFormOf("", c.Kind)
	if f == nil {
		w.Raw(c.Extra.JSON)
		return
	}
	beginBlock(w, f.tag)
	w.Name("cited_text")
	w.String(c.Text)
	if f.url != "" {
		w.Name(f.url)
		w.String(c.URL)
	}
	if f.file {
		writeIndex(w, f.index, c.Index)
	}
	w.Name(f.title)
	nullable(w, c.Title)
	if f.file {
		w.Name("file_id")
		nullable(w, c.FileID)
	} else {
		writeIndex(w, f.index, c.Index)
	}
	writeIndex(w, f.start, c.Start)
	writeIndex(w, f.end, c.End)
	extra := c.Extra
	if extra != nil && extra.Format != Format {
		extra = nil
	}
	if f.kind == content.CiteWeb && !hasMember(extra, "encrypted_index") {
		w.Name("encrypted_index")
		w.String("")
	}
	endBlock(w, extra, f.names)
}

func writeIndex(w *jsonwire.Writer, name string, n int64) {
	if name != "" {
		w.Name(name)
		w.Int(n)
	}
}

// nullable writes s, or null if there is none.
func nullable(w *jsonwire.Writer, s string) {
	if s == "" {
		w.Null()
		return
	}
	w.String(s)
}
