package openai

import (
	"cmp"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/upstream"
)

// A said is what a choice says: the members of a delta or of a message.
type said struct {
	content, refusal          jsonwire.Value
	reasoning                 [3]jsonwire.Value // the members of reasoningNames
	details, blocks           jsonwire.Value
	images, annotations       jsonwire.Value
	calls, function, audio    jsonwire.Value
	finish, sequence, problem jsonwire.Value
	sealed, filter            jsonwire.Value
	executed, signed          jsonwire.Value // reported as losses
	whole                     bool           // its calls are, each of them
}

// reasoningNames are the members that thoughts stand in, the first counts.
var reasoningNames = [3]string{"reasoning_content", "reasoning", "reasoning_text"}

// choice reads one element of choices.
func (d *chatDecoder) choice(v jsonwire.Value) error {
	var s said
	index := 0
	var delta, message, text, logprobs jsonwire.Value
	for name, x := range v.Members() {
		switch name {
		case "index":
			if n, ok := x.Int(); ok && n > 0 {
				index = int(min(n, mostAnswers))
			}
		case "delta":
			delta = x
		case "message":
			message = x
		case "text":
			text = x
		case "finish_reason":
			s.finish = x
		case "stop_reason":
			s.sequence = x
		case "logprobs":
			logprobs = x
		case "error":
			s.problem = x
		case "content_filter_results":
			s.filter = x
		}
	}
	if s.problem.Kind() > jsonwire.False {
		return failure(s.problem)
	}
	if err := cmp.Or(
		codec.Expect("openai: a choice", v, codec.Objects),
		codec.Expect("openai: delta", delta, codec.Objects|codec.Optional),
		codec.Expect("openai: message", message, codec.Objects|codec.Optional),
		codec.Expect("openai: text", text, codec.Texts|codec.Optional),
		codec.Expect("openai: finish_reason", s.finish, codec.Texts|codec.Optional),
	); err != nil {
		return codec.BadGateway(err)
	}
	a, err := d.answer(index)
	if err != nil {
		return err
	}
	switch {
	case d.whole && message.Kind() == jsonwire.Object:
		// A whole response is its message. Some servers put an empty delta beside it.
		delta, s.whole = message, true
	case delta.Kind() == jsonwire.Object && (isEmpty(message) || !a.silent() || s.finish.Str() == "" || !isEmpty(delta)):
		// A message beside deltas repeats them, unless none of them had anything.
		a.pieces = true
	case a.pieces && !a.silent():
		// Some servers say it all again at the end of a stream.
	default:
		delta, s.whole = message, true
	}
	s.content = text
	if err := s.read(delta); err != nil {
		return codec.BadGateway(err)
	}
	if d.logprobs && logprobs.Get("content").Len()+logprobs.Get("refusal").Len() > 0 {
		d.add(upstream.Event{Kind: upstream.EventExtra, Candidate: a.index, Extra: &content.Extra{
			Format: ChatFormat, JSON: `{"logprobs":` + logprobs.Raw() + `}`,
		}})
	}
	before := len(d.events)
	if err := d.says(a, &s); err != nil {
		return err
	}
	a.end(&s, len(d.events) == before && s.calls.Len() == 0)
	return nil
}

// silent reports whether there was no text, thinking or tool call yet.
func (a *chatAnswer) silent() bool { return !a.said && !a.mused && len(a.calls) == 0 }

// isEmpty reports whether a delta or a message has nothing but its role.
func isEmpty(v jsonwire.Value) bool {
	for name, x := range v.Members() {
		if name != "role" && (x.Str() != "" || x.Len() > 0) {
			return false
		}
	}
	return true
}

// read reads the members of a delta or of a message.
func (s *said) read(v jsonwire.Value) error {
	var role jsonwire.Value
	for name, x := range v.Members() {
		switch name {
		case "role":
			role = x
		case "content":
			s.content = x
		case "refusal":
			s.refusal = x
		case "reasoning_content":
			s.reasoning[0] = x
		case "reasoning":
			s.reasoning[1] = x
		case "reasoning_text":
			s.reasoning[2] = x
		case "reasoning_details":
			s.details = x
		case "thinking_blocks":
			s.blocks = x
		case sealedName:
			s.sealed = x
		case "images":
			s.images = x
		case "annotations":
			s.annotations = x
		case "tool_calls":
			s.calls = x
		case "function_call":
			s.function = x
		case "audio":
			s.audio = x
		case "executed_tools": // of Groq
			s.executed = x
		case "extra_content", "thought_signature": // of Google
			s.signed = x
		}
	}
	// Other members are extensions of single servers, which mean different things by them.
	return cmp.Or(
		codec.Expect("openai: role", role, codec.Texts|codec.Optional),
		codec.Expect("openai: content", s.content, codec.Texts|codec.Lists|codec.Optional),
		codec.Expect("openai: refusal", s.refusal, codec.Texts|codec.Optional),
		codec.Expect("openai: tool_calls", s.calls, codec.Lists|codec.Optional),
		codec.Expect("openai: function_call", s.function, codec.Objects|codec.Optional),
	)
}

// end takes why the answer ended. The first reason counts. Some servers give
// every chunk an empty one: that is an end only if the chunk is idle, behind
// others that said something, and any other reason counts more.
func (a *chatAnswer) end(s *said, idle bool) {
	for _, v := range s.filter.Members() {
		a.filtered = a.filtered || v.Get("filtered").Kind() == jsonwire.True
	}
	switch word := s.finish.Str(); {
	case a.finish != "":
	case word != "":
		a.ended, a.finish = true, strings.Clone(word)
	case s.finish.Kind() == jsonwire.String && idle:
		a.ended = a.ended || !a.silent()
	}
	if s.sequence.Kind() == jsonwire.String && a.finish == "stop" {
		a.sequence = strings.Clone(s.sequence.Str())
	}
}

// says turns what a choice says into events.
func (d *chatDecoder) says(a *chatAnswer, s *said) error {
	d.thinks(a, s)
	if err := d.content(a, s.content); err != nil {
		return codec.BadGateway(err)
	}
	if text := s.refusal.Str(); text != "" {
		a.refused = true
		d.delta(a, blockText, text)
	}
	for _, v := range s.annotations.Elems() {
		d.cite(a, v) // before anything else ends the text that they are about
	}
	for _, v := range s.images.Elems() {
		d.image(a, v)
	}
	for _, v := range s.calls.Elems() {
		if err := d.fragment(a, v, v.Get("function"), s.whole); err != nil {
			return err
		}
	}
	if s.function.Kind() == jsonwire.Object {
		if err := d.fragment(a, jsonwire.Value{}, s.function, s.whole); err != nil {
			return err
		}
	}
	if s.executed.Len() > 0 {
		d.lose(lostExecuted, "executed_tools")
	}
	if s.signed.Len() > 0 || s.signed.Str() != "" {
		d.lose(lostSigned, "extra_content")
	}
	if s.audio.Kind() == jsonwire.Object {
		d.text(a, s.audio.Get("transcript").Str())
		if s.audio.Get("data").Str() != "" {
			d.lose(lostFile, "parts")
		}
	}
	return nil
}

// content takes text: a string, or a list of parts.
func (d *chatDecoder) content(a *chatAnswer, v jsonwire.Value) error {
	if v.Kind() == jsonwire.String {
		d.text(a, v.Str())
		return nil
	}
	for _, p := range v.Elems() {
		if p.Kind() == jsonwire.String {
			d.text(a, p.Str())
			continue
		}
		if err := cmp.Or(
			codec.Expect("openai: a part of content", p, codec.Objects),
			codec.Expect("openai: the text of a part", p.Get("text"), codec.Texts|codec.Optional),
		); err != nil {
			return err
		}
		switch kind := p.Get("type").Str(); kind {
		case "text", "output_text", "":
			d.text(a, p.Get("text").Str())
		case "refusal":
			a.refused = true
			d.delta(a, blockText, p.Get("refusal").Str())
		case "thinking", "reasoning":
			d.listThought(a, p)
		case "image_url", "image":
			d.image(a, p)
		default:
			d.lose(lostPiece, "parts")
		}
	}
	return nil
}

// listThought takes a thought that stands in a list of content: as a text, or
// as a list of them.
func (d *chatDecoder) listThought(a *chatAnswer, p jsonwire.Value) {
	for _, name := range [...]string{"thinking", "text"} {
		v := p.Get(name)
		d.delta(a, blockThinking, v.Str())
		for _, t := range v.Elems() {
			d.delta(a, blockThinking, t.Get("text").Str())
		}
	}
}

// text takes text that may have thoughts in it.
func (d *chatDecoder) text(a *chatAnswer, s string) {
	if s == "" {
		return
	}
	if a.tagged.kind == ThinkTagsOff {
		d.delta(a, blockText, s)
		return
	}
	d.untag(a, s)
}

// delta adds to the block of a kind, or opens one.
func (d *chatDecoder) delta(a *chatAnswer, kind blockKind, s string) {
	if s == "" {
		return
	}
	if a.open != kind {
		d.openText(a, kind)
	}
	d.add(upstream.Event{Kind: upstream.EventText, Block: a.block, Candidate: a.index, Text: s})
}

func (d *chatDecoder) openText(a *chatAnswer, kind blockKind) {
	d.closeText(a)
	d.closeCalls(a, false)
	var p content.Part = new(content.Thinking)
	if a.mused = a.mused || kind == blockThinking; kind == blockText {
		d.flushThought(a)
		p, a.said = new(content.Text), true
	}
	a.open, a.block = kind, d.opened(a, p)
}

// opened opens a block and returns its number.
func (d *chatDecoder) opened(a *chatAnswer, p content.Part) int {
	n := d.next
	d.next++
	d.add(upstream.Event{Kind: upstream.EventOpen, Block: n, Candidate: a.index, Part: p})
	return n
}

// closeText closes the open text or thought. A thought is signed with what
// brings it back to its server.
func (d *chatDecoder) closeText(a *chatAnswer) {
	if a.open == blockNone {
		return
	}
	if a.open == blockThinking {
		if data := a.thought.take(); data != "" {
			d.add(upstream.Event{Kind: upstream.EventSignature, Block: a.block, Candidate: a.index,
				Signature: &content.Signature{Format: ChatFormat, Data: data}})
		}
	}
	d.add(upstream.Event{Kind: upstream.EventClose, Block: a.block, Candidate: a.index})
	a.open = blockNone
}

// part adds a whole part.
func (d *chatDecoder) part(a *chatAnswer, p content.Part) {
	n := d.opened(a, p)
	d.add(upstream.Event{Kind: upstream.EventClose, Block: n, Candidate: a.index})
}

// image adds an image that was made. Servers may say one again.
func (d *chatDecoder) image(a *chatAnswer, v jsonwire.Value) {
	link := v.Get("image_url")
	url := link.Str()
	if url == "" {
		url = link.Get("url").Str()
	}
	for _, known := range a.images {
		if known == url {
			return
		}
	}
	s := imageSource(url)
	if s == nil || len(a.images) >= mostImages {
		d.lose(lostFile, "parts")
		return
	}
	a.images = append(a.images, url)
	d.closeText(a)
	d.closeCalls(a, false)
	d.flushThought(a)
	a.said = true
	d.part(a, &content.Image{Source: s})
}

// imageSource reads a data URL, or a link; nil if it is neither.
func imageSource(url string) content.Source {
	rest, ok := strings.CutPrefix(url, "data:")
	if !ok {
		if web(url) {
			return &content.URL{URL: url}
		}
		return nil
	}
	head, data, ok := strings.Cut(rest, ",")
	kind, encoded := strings.CutSuffix(head, ";base64")
	if !ok || !encoded || content.Base64Any.Check(data) != "" {
		return nil
	}
	kind, _, _ = strings.Cut(kind, ";")
	return &content.Base64{MediaType: kind, Data: data}
}

// cite adds a citation to the open text.
func (d *chatDecoder) cite(a *chatAnswer, v jsonwire.Value) {
	x := v.Get("url_citation")
	if x.Kind() != jsonwire.Object {
		return
	}
	if a.open != blockText {
		d.lose(lostCitation, "parts")
		return
	}
	d.add(upstream.Event{Kind: upstream.EventCitation, Block: a.block, Candidate: a.index, Citation: &content.Citation{
		Kind: content.CiteWeb, URL: strings.Clone(x.Get("url").Str()), Title: strings.Clone(x.Get("title").Str()),
	}})
}
