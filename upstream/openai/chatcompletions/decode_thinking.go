package chatcompletions

import (
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/openaiformat"
)

// The members that return thinking unchanged.
const (
	detailsName   = "reasoning_details"
	blocksName    = "thinking_blocks"
	encryptedName = "encrypted_content" // a string, sent in addition to the text
)

// A decodedState is received thinking that is not signed yet.
type decodedState struct {
	member    string // the member of the text, or "" if the server does not need it back
	details   []decodedDetail
	blocks    []decodedDetail
	encrypted string
	size      int
}

// maxDecodedDetails bounds the size of thinking lists in bytes.
const maxDecodedDetails = 1 << 20

// A decodedDetail is an element of a thinking list, merged from its deltas.
type decodedDetail struct {
	kind       string
	index      int64
	names      []string
	values     []string // raw JSON
	textMember string   // the member to which deltas append
	text       strings.Builder
	signed     bool
}

// readThinking reads the thinking of a choice. Servers send the same thinking in
// several members; it is shown once.
func (d *responseDecoder) readThinking(cand *decodedChoice, s *decodedMembers) {
	if encrypted := s.encrypted.Str(); encrypted != "" {
		if cand.size += len(encrypted); cand.size > maxDecodedDetails {
			d.addLoss(openaiformat.LossThinkingState, "parts")
			cand.encrypted = ""
		} else {
			cand.encrypted += encrypted
		}
	}
	text, member := "", ""
	for i, v := range s.reasoning {
		if text = v.Str(); text != "" {
			member = reasoningMembers[i]
			break
		}
	}
	for _, v := range s.reasoning {
		if text == "" && v.Len() > 0 {
			text = d.textOf(v) // without a member to return it in
		}
	}
	for _, v := range s.reasoning {
		if !(codec.Texts | codec.Lists | codec.Objects | codec.Optional).Has(v.Kind()) {
			d.addLoss(lossDecodedPart, "")
		}
	}
	shown := text != ""
	for _, list := range [...]struct {
		v  jsonwire.Value
		to *[]decodedDetail
	}{{s.details, &cand.details}, {s.blocks, &cand.blocks}} {
		if list.v.Len() == 0 {
			continue
		}
		more := d.readDetails(cand, list.v, list.to, s.complete)
		if !shown {
			text += more
		}
		shown = shown || more != ""
	}
	if text == "" {
		return
	}
	d.addDelta(cand, decodedThinking, text)
	if member != "" {
		cand.member = member
	}
}

// readDetails adds the elements of a list, complete or deltas, and returns their text.
func (d *responseDecoder) readDetails(cand *decodedChoice, v jsonwire.Value, to *[]decodedDetail, complete bool) string {
	text := ""
	for _, x := range v.Elems() {
		if x.Kind() != jsonwire.Object {
			continue
		}
		cand.size += len(x.Raw())
		for _, name := range detailTexts {
			text += x.Get(name).Str()
		}
		if cand.size > maxDecodedDetails {
			d.addLoss(openaiformat.LossThinkingState, "parts")
			cand.details, cand.blocks = nil, nil
			continue
		}
		*to = addDetail(*to, x, complete)
	}
	return text
}

// detailTexts are the members to which deltas append.
var detailTexts = [...]string{"text", "summary", "thinking"}

// addDetail adds an element, or merges it with the last one if that has the same type,
// index and text member. Without an index, a text after a signature begins another
// element.
func addDetail(list []decodedDetail, v jsonwire.Value, complete bool) []decodedDetail {
	kind, index, text := v.Get("type").Str(), int64(-1), ""
	if n, ok := v.Get("index").Int(); ok {
		index = n
	}
	for _, name := range detailTexts {
		if v.Get(name).Kind() == jsonwire.String {
			text = name
		}
	}
	n := len(list) - 1
	if complete || n < 0 || list[n].kind != kind || list[n].index != index || list[n].textMember == "" ||
		index < 0 && list[n].signed && v.Get(list[n].textMember).Str() != "" {
		list = append(list, decodedDetail{kind: strings.Clone(kind), index: index, textMember: text})
	}
	list[len(list)-1].merge(v)
	return list
}

// merge merges the members of a delta. Texts are appended; for other members the last
// value wins.
func (x *decodedDetail) merge(v jsonwire.Value) {
	for name, m := range v.Members() {
		switch name {
		case x.textMember:
			x.text.WriteString(m.Str())
		case "signature":
			x.signed = x.signed || m.Str() != ""
		}
		at := -1
		for i := range x.names {
			if x.names[i] == name {
				at = i
			}
		}
		switch {
		case at < 0:
			x.names = append(x.names, strings.Clone(name))
			x.values = append(x.values, strings.Clone(m.Raw()))
		case m.Kind() != jsonwire.Null:
			x.values[at] = strings.Clone(m.Raw())
		}
	}
}

// takeSignature returns the signature of the thinking that ends, or "", and resets t.
func (t *decodedState) takeSignature() string {
	data := t.member
	if t.hasState() {
		var w jsonwire.Writer
		w.BeginObject()
		w.OptMember(encryptedName, t.encrypted)
		writeDetails(&w, detailsName, t.details)
		writeDetails(&w, blocksName, t.blocks)
		w.EndObject()
		data = w.Text()
	}
	*t = decodedState{size: t.size}
	return data
}

// hasState reports whether there is more than text.
func (t *decodedState) hasState() bool { return len(t.details)+len(t.blocks)+len(t.encrypted) > 0 }

func writeDetails(w *jsonwire.Writer, name string, list []decodedDetail) {
	if len(list) == 0 {
		return
	}
	w.Array(name)
	for i := range list {
		x := &list[i]
		w.BeginObject()
		for k, member := range x.names {
			w.Name(member)
			if member == x.textMember {
				w.String(x.text.String())
			} else {
				w.Raw(x.values[k])
			}
		}
		w.EndObject()
	}
	w.EndArray()
}

// flushThinking adds a redacted block for thinking without text.
func (d *responseDecoder) flushThinking(cand *decodedChoice) {
	if cand.openKind == decodedThinking || !cand.hasState() {
		return
	}
	cand.hasThinking = true
	d.addPart(cand, &content.Thinking{Redacted: content.Signature{Format: Format, Data: cand.decodedState.takeSignature()}})
}

// The tags around thinking in text.
const (
	tagOpen  = "<think>"
	tagClose = "</think>"
)

// A tagParser splits text that may begin with thinking between tags.
type tagParser struct {
	mode    ThinkTags
	state   tagState
	pending string // possibly the beginning of a tag
	trim    bool   // skip blanks before the next text
}

type tagState uint8

const (
	tagStart  tagState = iota
	tagInside          // in thinking
	tagAfter           // in text
)

// splitTags adds the thinking and the text in s.
func (d *responseDecoder) splitTags(cand *decodedChoice, s string) {
	t := &cand.tags
	s = t.pending + s
	t.pending = ""
	if t.state == tagStart {
		if s = t.start(s); s == "" {
			return
		}
	}
	if t.state == tagInside {
		thinking, rest, closed := strings.Cut(s, tagClose)
		if !closed {
			n := partialTag(s, tagClose)
			thinking, t.pending = s[:len(s)-n], s[len(s)-n:]
		}
		d.addDelta(cand, decodedThinking, t.trimBlanks(thinking))
		if !closed {
			return
		}
		t.state, t.trim, s = tagAfter, true, rest
	}
	d.addDelta(cand, decodedText, t.trimBlanks(s))
}

// start determines how the text begins. It holds back text that is not decided yet.
func (t *tagParser) start(s string) string {
	begin := strings.TrimLeft(s, " \t\r\n")
	switch rest, found := strings.CutPrefix(begin, tagOpen); {
	case found:
		t.state, t.trim = tagInside, true
		return rest
	case strings.HasPrefix(tagOpen, begin):
		t.pending = s
		return ""
	case t.mode == ThinkTagsOpen:
		t.state, t.trim = tagInside, true
	default:
		t.state = tagAfter
	}
	return s
}

func (t *tagParser) trimBlanks(s string) string {
	if t.trim {
		s = strings.TrimLeft(s, " \t\r\n")
		t.trim = s == ""
	}
	return s
}

// partialTag returns the length of the longest suffix of s that may begin a tag.
func partialTag(s, tag string) int {
	for n := min(len(s), len(tag)-1); n > 0; n-- {
		if strings.HasSuffix(s, tag[:n]) {
			return n
		}
	}
	return 0
}

// flushTags adds the text that was held back.
func (d *responseDecoder) flushTags(cand *decodedChoice) {
	t := &cand.tags
	kind := decodedText
	if t.state == tagInside {
		kind = decodedThinking
	}
	d.addDelta(cand, kind, t.pending)
	t.pending = ""
}
