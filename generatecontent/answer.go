package generatecontent

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
// What it returns can be written.
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
	case *content.Image:
		c := *p
		hints(&c.Cache, &c.Extra, &c.Signature, lost)
		if c.Source = answerSource(p.Source, lost); c.Source == nil {
			return nil
		}
		return writable(&c, lost)
	case *content.Media:
		c := *p
		hints(&c.Cache, &c.Extra, &c.Signature, lost)
		if c.Source = answerSource(p.Source, lost); c.Source == nil {
			return nil
		}
		return writable(&c, lost)
	case *content.Document:
		return answerDocument(p, lost)
	case *content.ServerToolUse:
		if p.Format == Format {
			c := *p
			hints(&c.Cache, &c.Extra, &c.Signature, lost)
			return writable(&c, lost)
		}
	case *content.ServerToolResult:
		if p.Format == Format {
			c := *p
			hints(&c.Cache, &c.Extra, &c.Signature, lost)
			return writable(&c, lost)
		}
	case *content.Unknown:
		if p.Format == Format {
			return writable(p, lost)
		}
	}
	lost(unsayable(p))
	return nil
}

// writable returns p if it can be written, else nil.
func writable(p content.Part, lost lose) content.Part {
	var w jsonwire.Writer
	e := newEncoder(&w)
	e.part(p)
	if e.Violations.Len() > 0 {
		lost(unsaidBroken)
		return nil
	}
	return p
}

// answerText leaves texts alone that have nothing but text. One that says
// nothing is nil.
func answerText(p *content.Text, lost lose) content.Part {
	if p.Cache == nil && p.Extra == nil && p.Signature == (content.Signature{}) && len(p.Citations) == 0 {
		if p.Text == "" {
			return nil
		}
		return p
	}
	c := *p
	hints(&c.Cache, &c.Extra, &c.Signature, lost)
	c.Citations = nil // the candidate tells them
	if c.Text == "" && c.Extra == nil && c.Signature.Data == "" {
		return nil
	}
	return &c
}

// answerThinking returns nil for a thought that says nothing. What another
// vendor has signed is for the caller to carry.
func answerThinking(p *content.Thinking, lost lose) content.Part {
	if p.Redacted.Data != "" {
		if !isForeign(p.Redacted) {
			lost(envelope.UnknownFormat)
		}
		return nil
	}
	c := *p
	c.Redacted = content.Signature{} // of which nothing is redacted
	visibleOnly(&c, lost)
	if c.Text == "" && c.Extra == nil && c.Signature.Data == "" {
		return nil
	}
	return &c
}

// answerCall leaves out a call that is broken: see [unmade].
func answerCall(p *content.ToolUse, lost lose) content.Part {
	c := *p
	hints(&c.Cache, &c.Extra, &c.Signature, lost)
	input, ok := codec.Arguments(p.Input)
	switch {
	case p.Name == "":
		lost(unsaidName)
		return nil
	case !ok:
		lost(unsaidInput)
		return nil
	}
	if c.Input = input; input == "" {
		c.Input = "{}"
	}
	return &c
}

// unmade reports whether a rule tells of a call that the model did not fully
// make: one that has no name, which nobody could run, or whose arguments are no
// object. Clients would run it with others.
func unmade(r *loss.Rule) bool { return r == unsaidName || r == unsaidInput }

func answerDocument(p *content.Document, lost lose) content.Part {
	c := *p
	hints(&c.Cache, &c.Extra, &c.Signature, lost)
	if c.Title != "" || c.Context != "" || c.Citations {
		c.Title, c.Context, c.Citations = "", "", false
		lost(unsaidTitle)
	}
	if c.Source = answerSource(p.Source, lost); c.Source == nil {
		return nil
	}
	return writable(&c, lost)
}

// answerSource returns a source that clients can read: data in the standard
// alphabet, padded, and of a type that is said.
func answerSource(s content.Source, lost lose) content.Source {
	switch s := s.(type) {
	case *content.Base64:
		if s == nil {
			break
		}
		return answerData(s, lost)
	case *content.PlainText:
		if s != nil {
			return s
		}
	case *content.URL:
		if s != nil && s.URL != "" {
			return s
		}
	case *content.File:
		if s != nil && strings.Contains(s.ID, "://") {
			return s
		}
	}
	lost(unsaidFile)
	return nil
}

func answerData(s *content.Base64, lost lose) content.Source {
	c := *s
	if c.Extra != nil && (c.Extra.Format != Format || !jsonwire.ValidObject(c.Extra.JSON)) {
		codec.UnsupportedOfPart(c.Extra, lost)
		c.Extra = nil
	}
	if jsonwire.CheckBase64(c.Data) != 0 {
		if jsonwire.CheckLenientBase64(c.Data) != 0 {
			lost(unsaidData)
			return nil
		}
		c.Data = standardBase64(c.Data)
	}
	if c.MediaType == "" {
		lead := make([]byte, content.SniffLen)
		n, _ := c.DecodePrefix(lead) // of good data
		c.MediaType = content.DetectMediaType(lead[:n])
		if c.MediaType == "" {
			lost(unsaidType)
			return nil
		}
		lost(unsaidGuessed)
	}
	return &c
}

// hints drops what has no effect on the answer and no place in it.
func hints(cache **content.Cache, extra **content.Extra, sig *content.Signature, lost lose) {
	if cache != nil && *cache != nil {
		*cache = nil
		lost(unsaidCache)
	}
	if x := *extra; x != nil && (x.Format != Format || !jsonwire.ValidObject(x.JSON)) {
		codec.UnsupportedOfPart(x, lost)
		*extra = nil
	}
	*sig = answerSignature(*sig, lost)
}

// answerSignature returns a signature as clients can read it. That of another
// format is sealed.
func answerSignature(sig content.Signature, lost lose) content.Signature {
	switch {
	case sig.Data == "":
	case isForeign(sig):
		return encodeSignature(sig, lost)
	case sig.Format != Format:
		lost(envelope.UnknownFormat)
	case jsonwire.CheckBase64(sig.Data) == 0:
		return sig
	case jsonwire.CheckLenientBase64(sig.Data) == 0:
		sig.Data = standardBase64(sig.Data)
		return sig
	default:
		lost(unsaidSignature)
	}
	return content.Signature{}
}

// appendMembers appends the members that x has besides those of a text.
func appendMembers(dst []byte, scratch *jsonwire.Writer, x *content.Extra) []byte {
	if x == nil || x.Format != Format {
		return dst
	}
	scratch.Reset()
	scratch.BeginObject()
	_ = scratch.MembersExcept(x.JSON, textMember) // what is no JSON has no members
	scratch.EndObject()
	if b := scratch.Bytes(); len(b) > len("{}") {
		from := len(dst)
		dst = appendOneLine(dst, b)
		dst[from] = ','
		dst = dst[:len(dst)-1]
	}
	return dst
}

// textMember reports whether a part with a text cannot have the member, or has
// it in a field of its own.
var textMember = partFields.has(1<<fThought | 1<<fSignature | (1<<partData - 1))

// appendOneLine appends JSON without line breaks.
func appendOneLine(dst, json []byte) []byte {
	for _, c := range json {
		if c == '\n' || c == '\r' {
			return jsonwire.AppendCompact(dst, string(json))
		}
	}
	return append(dst, json...)
}
