package openai

import (
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
)

// The members of lists of thoughts that go back as they came.
const (
	detailsName = "reasoning_details"
	blocksName  = "thinking_blocks"
	sealedName  = "encrypted_content" // a text, beside that of the thought
)

// A thought is what has come of thoughts and has not been signed yet.
type thought struct {
	member  string // where the text stood; empty if the server wants nothing back
	details []detail
	blocks  []detail
	sealed  string
	size    int
}

// mostDetails bounds the bytes of lists of thoughts.
const mostDetails = 1 << 20

// A detail is one element of a list, put together from its deltas.
type detail struct {
	kind   string
	index  int64
	names  []string
	values []string // JSON
	text   string   // the name of the member that deltas append to
	said   strings.Builder
	signed bool
}

// thinks takes the thoughts of a choice. Servers say a thought in several
// members at once: it is shown once.
func (d *chatDecoder) thinks(a *chatAnswer, s *said) {
	if secret := s.sealed.Str(); secret != "" {
		if a.size += len(secret); a.size > mostDetails {
			d.lose(lostDetails, "parts")
			a.sealed = ""
		} else {
			a.sealed += secret
		}
	}
	text, member := "", ""
	for i, v := range s.reasoning {
		if text = v.Str(); text != "" {
			member = reasoningNames[i]
			break
		}
	}
	for _, v := range s.reasoning {
		if !(codec.Texts | codec.Optional).Has(v.Kind()) && (v.Len() > 0 || v.Kind() < jsonwire.Array) {
			d.lose(lostPiece, "")
		}
	}
	shown := text != ""
	for _, list := range [...]struct {
		v  jsonwire.Value
		to *[]detail
	}{{s.details, &a.details}, {s.blocks, &a.blocks}} {
		if list.v.Len() == 0 {
			continue
		}
		more := d.list(a, list.v, list.to, s.whole)
		if !shown {
			text += more
		}
		shown = shown || more != ""
	}
	if text == "" {
		return
	}
	d.delta(a, blockThinking, text)
	if member != "" {
		a.member = member
	}
}

// list adds the elements of a list, each of them whole or a delta, and returns
// their text.
func (d *chatDecoder) list(a *chatAnswer, v jsonwire.Value, to *[]detail, whole bool) string {
	text := ""
	for _, x := range v.Elems() {
		if x.Kind() != jsonwire.Object {
			continue
		}
		a.size += len(x.Raw())
		for _, name := range textNames {
			text += x.Get(name).Str()
		}
		if a.size > mostDetails {
			d.lose(lostDetails, "parts")
			a.details, a.blocks = nil, nil
			continue
		}
		*to = addDetail(*to, x, whole)
	}
	return text
}

// textNames are the members that deltas append to.
var textNames = [...]string{"text", "summary", "thinking"}

// addDetail adds an element, or the delta of the last one: that has its type and
// index, and a text. Without an index a text behind a signature is another one's.
func addDetail(list []detail, v jsonwire.Value, whole bool) []detail {
	kind, index, text := v.Get("type").Str(), int64(-1), ""
	if n, ok := v.Get("index").Int(); ok {
		index = n
	}
	for _, name := range textNames {
		if v.Get(name).Kind() == jsonwire.String {
			text = name
		}
	}
	n := len(list) - 1
	if whole || n < 0 || list[n].kind != kind || list[n].index != index || list[n].text == "" ||
		index < 0 && list[n].signed && v.Get(list[n].text).Str() != "" {
		list = append(list, detail{kind: strings.Clone(kind), index: index, text: text})
	}
	list[len(list)-1].merge(v)
	return list
}

// merge takes the members of an element. Texts are appended, all others count
// as they came last.
func (x *detail) merge(v jsonwire.Value) {
	for name, m := range v.Members() {
		switch name {
		case x.text:
			x.said.WriteString(m.Str())
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

// take returns the signature of the thought that ends, empty if it has none.
func (t *thought) take() string {
	data := t.member
	if t.some() {
		var w jsonwire.Writer
		w.BeginObject()
		if t.sealed != "" {
			w.Name(sealedName)
			w.String(t.sealed)
		}
		writeDetails(&w, detailsName, t.details)
		writeDetails(&w, blocksName, t.blocks)
		w.EndObject()
		data = w.Text()
	}
	*t = thought{size: t.size}
	return data
}

// some reports whether there is more to a thought than its text.
func (t *thought) some() bool { return len(t.details)+len(t.blocks)+len(t.sealed) > 0 }

func writeDetails(w *jsonwire.Writer, name string, list []detail) {
	if len(list) == 0 {
		return
	}
	w.Name(name)
	w.BeginArray()
	for i := range list {
		x := &list[i]
		w.BeginObject()
		for k, member := range x.names {
			w.Name(member)
			if member == x.text {
				w.String(x.said.String())
			} else {
				w.Raw(x.values[k])
			}
		}
		w.EndObject()
	}
	w.EndArray()
}

// flushThought tells what came of thoughts without a text to show.
func (d *chatDecoder) flushThought(a *chatAnswer) {
	if a.open == blockThinking || !a.some() {
		return
	}
	a.mused = true
	d.part(a, &content.Thinking{Redacted: content.Signature{Format: ChatFormat, Data: a.thought.take()}})
}

// Tags around thoughts in a text.
const (
	tagOpen  = "<think>"
	tagClose = "</think>"
)

// A tagged follows a text that may begin with a thought between tags.
type tagged struct {
	kind  ThinkTags
	state tagState
	held  string // may be the beginning of a tag
	trim  bool   // blanks are left out until there is something else
}

type tagState uint8

const (
	tagBegin  tagState = iota
	tagInside          // the thought
	tagBehind          // plain text
)

// untag tells the thought and the text in s.
func (d *chatDecoder) untag(a *chatAnswer, s string) {
	t := &a.tagged
	s = t.held + s
	t.held = ""
	if t.state == tagBegin {
		if s = t.enter(s); s == "" {
			return
		}
	}
	if t.state == tagInside {
		thought, rest, over := strings.Cut(s, tagClose)
		if !over {
			n := partial(s, tagClose)
			thought, t.held = s[:len(s)-n], s[len(s)-n:]
		}
		d.delta(a, blockThinking, t.trimmed(thought))
		if !over {
			return
		}
		t.state, t.trim, s = tagBehind, true, rest
	}
	d.delta(a, blockText, t.trimmed(s))
}

// enter decides how a text begins. It holds back what does not tell yet.
func (t *tagged) enter(s string) string {
	begin := strings.TrimLeft(s, " \t\r\n")
	switch rest, found := strings.CutPrefix(begin, tagOpen); {
	case found:
		t.state, t.trim = tagInside, true
		return rest
	case strings.HasPrefix(tagOpen, begin):
		t.held = s
		return ""
	case t.kind == ThinkTagsOpen:
		t.state, t.trim = tagInside, true
	default:
		t.state = tagBehind
	}
	return s
}

func (t *tagged) trimmed(s string) string {
	if t.trim {
		s = strings.TrimLeft(s, " \t\r\n")
		t.trim = s == ""
	}
	return s
}

// partial returns how long the end of s is that may be the beginning of a tag.
func partial(s, tag string) int {
	for n := min(len(s), len(tag)-1); n > 0; n-- {
		if strings.HasSuffix(s, tag[:n]) {
			return n
		}
	}
	return 0
}

// flushTags tells what was held back.
func (d *chatDecoder) flushTags(a *chatAnswer) {
	t := &a.tagged
	kind := blockText
	if t.state == tagInside {
		kind = blockThinking
	}
	d.delta(a, kind, t.held)
	t.held = ""
}
