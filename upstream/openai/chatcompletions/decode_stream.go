package chatcompletions

import (
	"strings"

	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/upstream"
)

// A chunkTemplate is the constant part of chunks that contain just one fragment of
// text, of thinking, or of a tool call's arguments. Nearly all chunks do, and
// consecutive ones differ in the fragment only.
type chunkTemplate struct {
	prefix, suffix string // before and after the fragment; prefix is empty if there is no template
	candidate      int    // index in candidates
	member         string // of the text, for thinking
	call           int    // index in calls, for arguments
	kind           templateKind
}

type templateKind uint8

const (
	templateText templateKind = iota
	templateThinking
	templateInput
)

// maxTemplate is the size of the largest chunk that becomes a template.
const maxTemplate = 4 << 10

// learnTemplate makes a template of the current chunk if all it does is to continue an
// open block.
func (d *responseDecoder) learnTemplate(data string, choices jsonwire.Value) {
	if len(d.events) != 1 || len(data) > maxTemplate || d.doc.Replacements() > 0 || choices.Len() != 1 || d.options.ThinkTags != ThinkTagsOff {
		return
	}
	e := &d.events[0]
	var choice, delta, at jsonwire.Value
	for _, v := range choices.Elems() {
		choice = v
	}
	// All other members are the same in the next chunk, and had no effect here.
	if delta = choice.Get("delta"); delta.Kind() != jsonwire.Object || choice.Get("finish_reason").Str() != "" {
		return
	}
	m := chunkTemplate{}
	for i := range d.candidates {
		if d.candidates[i].index == e.Candidate {
			m.candidate = i
		}
	}
	switch cand := &d.candidates[m.candidate]; {
	case e.Kind == upstream.EventText && cand.openKind == decodedText:
		at = delta.Get("content")
	case e.Kind == upstream.EventText && cand.openKind == decodedThinking:
		m.kind = templateThinking
		for _, name := range reasoningMembers {
			if v := delta.Get(name); v.Str() != "" && !at.Exists() {
				at, m.member = v, name
			}
		}
	case e.Kind == upstream.EventInput:
		m.kind = templateInput
		at, m.call = d.findInput(cand, delta, e.Block)
	}
	if at.Kind() != jsonwire.String || at.Str() != e.Text || strings.Count(data, at.Raw()) != 1 {
		return // ambiguous: another member has the same text
	}
	if delta.Get(detailsName).Len()+delta.Get(blocksName).Len()+len(delta.Get(encryptedName).Str()) > 0 {
		return // these accumulate even if they are equal
	}
	m.prefix, m.suffix = data[:at.Offset()], data[at.End():]
	d.template = m
}

// findInput returns the arguments in a delta and the index of their tool call.
func (d *responseDecoder) findInput(cand *decodedChoice, delta jsonwire.Value, block int) (at jsonwire.Value, call int) {
	list := delta.Get("tool_calls")
	if list.Len() != 1 {
		return at, 0
	}
	for _, v := range list.Elems() {
		f := v.Get("function")
		if v.Get("id").Str() == "" && f.Get("name").Str() == "" {
			at = f.Get("arguments")
		}
	}
	for i := range cand.calls {
		if cand.calls[i].block == block {
			call = i
		}
	}
	return at, call
}

// readTemplate decodes a chunk that matches the template, and reports whether it does.
// The result is that of readChunk, several times faster: only the fragment is parsed.
// If it is one string, the chunk is valid JSON and has no other content.
func (d *responseDecoder) readTemplate(data string) bool {
	m := &d.template
	rest, ok := strings.CutPrefix(data, m.prefix)
	if !ok || m.prefix == "" {
		return false
	}
	if rest, ok = strings.CutSuffix(rest, m.suffix); !ok || len(rest) < 2 || rest[0] != '"' {
		return false
	}
	cand := &d.candidates[m.candidate]
	if !cand.continues(m) || d.doc.Parse(rest, jsonwire.Limits{}) != nil {
		return false
	}
	s := d.doc.Root().Str()
	if s == "" {
		return false // another member may have content instead
	}
	switch m.kind {
	case templateInput:
		d.addInput(cand, cand.calls[m.call], s)
	case templateThinking:
		d.addDelta(cand, decodedThinking, s)
	default:
		d.addDelta(cand, decodedText, s)
	}
	return true
}

// matchesTemplate reports whether a chunk seems to match the template and has content.
func (d *responseDecoder) matchesTemplate(data string) bool {
	m := &d.template
	return m.prefix != "" && len(data) > len(m.prefix)+len(m.suffix)+2 && strings.HasPrefix(data, m.prefix) &&
		strings.HasSuffix(data, m.suffix) && d.candidates[m.candidate].continues(m)
}

// continues reports whether the block of the template is still open.
func (cand *decodedChoice) continues(m *chunkTemplate) bool {
	switch m.kind {
	case templateInput:
		// Only the last call with an index accepts arguments.
		c := cand.calls[m.call]
		return !c.closed && !c.namedLate && c.block >= 0 && cand.callAt(c.index) == c
	case templateThinking:
		return cand.openKind == decodedThinking && cand.member == m.member
	}
	return cand.openKind == decodedText
}
