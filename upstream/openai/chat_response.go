package openai

import (
	"cmp"
	"errors"
	"io"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/openaiformat"
	"github.com/polywire/polywire/upstream"
)

// A chatDecoder decodes chunks into events. A complete response is decoded as one
// chunk.
type chatDecoder struct {
	complete bool // the chunk is a complete response
	options  chatOptions
	doc      jsonwire.Doc
	limits   jsonwire.Limits
	events   []upstream.Event
	template chunkTemplate

	started    bool
	id, model  string
	next       int // number of the next block
	candidates []chatCandidate
	usage      content.Usage
	usageChunk codec.Chunk[content.Usage]
	hasUsage   bool // there was a usage, not only a fallback
	reported   map[*loss.Rule]bool
	newID      func() string
}

// chatOptions are what the decoding of a response depends on besides the response.
type chatOptions struct {
	tags     ThinkTags
	logprobs bool // the request asks for log probabilities; otherwise they are ignored

	// apart reports that the server bills thinking in addition to the completion, also if
	// its total does not include thinking.
	apart bool
}

// A chatCandidate is the state of one choice.
type chatCandidate struct {
	index       int
	openKind    blockKind
	block       int
	hasContent  bool // other than thinking
	hasThinking bool
	hasDeltas   bool
	tags        tagParser
	thinkingState
	calls        []*chatCall
	images       []string
	finishReason string
	isFinished   bool // there was a finish_reason
	namelessCall bool // a call was dropped because it has no name
	refused      bool
	filtered     bool // Azure's filter removed content
	stopSequence string
}

type blockKind uint8

const (
	blockNone blockKind = iota
	blockText
	blockThinking
)

const (
	maxCandidates = 128
	maxCalls      = 1024
	maxImages     = 256
)

func (d *chatDecoder) init(lim content.Limits, tags ThinkTags) {
	d.limits = jsonwire.Limits{Depth: lim.Depth, Values: lim.Values, AllowInvalidUTF8: true}
	d.options.tags, d.newID = tags, openaiformat.NewCallID
}

// reset removes the events of the previous chunk.
func (d *chatDecoder) reset() {
	clear(d.events)
	d.events = d.events[:0]
}

// add adds an event. Before the first, it adds a start event with the id and model.
func (d *chatDecoder) add(e upstream.Event) {
	if !d.started {
		d.started = true
		d.events = append(d.events, upstream.Event{Kind: upstream.EventStart, Start: &upstream.Start{ID: d.id, Model: d.model}})
	}
	d.events = append(d.events, e)
}

// addLoss adds a loss, once per response.
func (d *chatDecoder) addLoss(r *loss.Rule, path string) {
	if d.reported[r] {
		return
	}
	if d.reported == nil {
		d.reported = make(map[*loss.Rule]bool)
	}
	d.reported[r] = true
	l := r.At(path)
	d.add(upstream.Event{Kind: upstream.EventLoss, Loss: &l})
}

// readChunk decodes one chunk or a complete response.
func (d *chatDecoder) readChunk(data string, failed bool) error {
	if err := d.doc.Parse(data, d.limits); err != nil {
		return codec.BadGateway(err)
	}
	defer d.doc.Close()
	root := d.doc.Root()
	if root.Kind() != jsonwire.Object {
		if root.Kind() == jsonwire.Array && root.Len() > 0 {
			return decodeErrorObject(root)
		}
		return codec.BadGateway(errors.New("openai: the chunk is not a JSON object"))
	}
	var choices, usage, fallback jsonwire.Value
	for name, v := range root.Members() {
		switch name {
		case "error":
			failed = failed || codec.IsOn(v)
		case "id":
			d.setOnce(&d.id, v)
		case "model":
			d.setOnce(&d.model, v)
		case "choices":
			choices = v
		case "usage":
			usage = v
		case "x_groq":
			fallback = v.Get("usage")
		case "timings":
			fallback = v
		}
	}
	if failed {
		return decodeErrorObject(root)
	}
	if root.Get("object").Is("error") {
		return decodeErrorObject(root)
	}
	if err := cmp.Or(
		codec.Expect("openai: choices", choices, codec.Lists|codec.Optional),
		codec.Expect("openai: usage", usage, codec.Objects|codec.Optional),
	); err != nil {
		return codec.BadGateway(err)
	}
	if d.doc.Replacements() > 0 {
		d.addLoss(openaiformat.LossCharacters, "parts")
	}
	for _, v := range choices.Elems() {
		if err := d.readChoice(v); err != nil {
			return err
		}
	}
	d.readUsage(usage, fallback)
	d.learnTemplate(data, choices)
	return nil
}

// setOnce sets the id or the model to the value in the first chunk that has it.
func (d *chatDecoder) setOnce(to *string, v jsonwire.Value) {
	if *to != "" || d.started {
		return
	}
	switch v.Kind() {
	case jsonwire.String:
		*to = strings.Clone(v.Str())
	case jsonwire.Number:
		*to = strings.Clone(v.Raw())
	}
}

// readUsage adds a usage event if the counts have changed.
func (d *chatDecoder) readUsage(usage, fallback jsonwire.Value) {
	u, ok := openaiformat.Usage(usage, d.options.apart)
	switch {
	case ok:
		d.hasUsage = true
	case d.hasUsage:
		return
	default:
		if u, ok = openaiformat.Usage(fallback, d.options.apart); !ok || u.Prompt()+u.Completion() == 0 {
			u, ok = openaiformat.TimingsUsage(fallback)
		}
	}
	if !ok || sameUsage(u, d.usage) {
		return
	}
	d.usage = u
	to := d.usageChunk.New(1)
	*to = u
	d.add(upstream.Event{Kind: upstream.EventUsage, Usage: to})
}

func sameUsage(a, b content.Usage) bool {
	return a.Input == b.Input && a.CacheRead == b.CacheRead && a.CacheWrite == b.CacheWrite && a.Output == b.Output && a.Thinking == b.Thinking
}

// candidate returns the candidate of a choice. It adds new ones.
func (d *chatDecoder) candidate(index int) (*chatCandidate, error) {
	for i := range d.candidates {
		if d.candidates[i].index == index {
			return &d.candidates[i], nil
		}
	}
	if len(d.candidates) >= maxCandidates || index >= maxCandidates {
		return nil, codec.BadGateway(errors.New("openai: the response has too many choices"))
	}
	d.candidates = append(d.candidates, chatCandidate{index: index, tags: tagParser{mode: d.options.tags}})
	return &d.candidates[len(d.candidates)-1], nil
}

// isFinished reports whether a candidate has a finish_reason.
func (d *chatDecoder) isFinished() bool {
	for i := range d.candidates {
		if d.candidates[i].isFinished {
			return true
		}
	}
	return false
}

// finish ends all candidates. It returns [io.EOF] if the response is complete.
func (d *chatDecoder) finish() error {
	noContent, hasThinking := true, false
	for i := range d.candidates {
		cand := &d.candidates[i]
		d.flushTags(cand)
		d.closeBlock(cand)
		d.closeCalls(cand, true)
		d.flushThinking(cand)
		reason, failed := cand.stopReason()
		if failed {
			return &upstream.Error{Code: upstream.CodeUnavailable, Err: errors.New("openai: the response ended with finish_reason " + codec.Clip(cand.finishReason))}
		}
		hasThinking = hasThinking || cand.hasThinking
		noContent = noContent && !cand.hasContent && reason == content.StopEnd
		d.add(upstream.Event{Kind: upstream.EventStop, Candidate: cand.index, Stop: &upstream.Stop{
			Reason: reason, Sequence: cand.stopSequence, Format: ChatFormat, RawReason: cand.finishReason,
		}})
	}
	if noContent {
		if d.usage.Completion() == 0 && !hasThinking {
			return codec.BadGateway(errors.New("openai: the response is empty"))
		}
		d.addLoss(openaiformat.LossEmptyResponse, "parts")
	}
	return io.EOF
}

// stopReason returns the stop reason of a candidate.
func (cand *chatCandidate) stopReason() (reason content.StopReason, failed bool) {
	reason, failed = toStopReason(cand.finishReason)
	n, _ := cand.countCalls("")
	hasCalls := n > 0
	switch {
	case reason == content.StopEnd && hasCalls:
		reason = content.StopToolUse
	case reason == content.StopToolUse && !hasCalls:
		reason = content.StopEnd
	}
	switch {
	case reason == content.StopEnd && cand.filtered:
		reason = content.StopSafety
	case reason == content.StopEnd && cand.refused:
		reason = content.StopRefusal
	case cand.namelessCall && (reason == content.StopEnd || reason == content.StopToolUse): // even if there are other calls
		reason = content.StopMalformedCall
	case reason == content.StopEnd && cand.stopSequence != "":
		reason = content.StopSequence
	}
	return reason, failed
}

// choiceMembers are the members of a choice with its delta or message.
type choiceMembers struct {
	content, refusal       jsonwire.Value
	reasoning              [3]jsonwire.Value // in the order of reasoningMembers
	details, blocks        jsonwire.Value
	images, annotations    jsonwire.Value
	calls, function, audio jsonwire.Value
	finish, sequence, err  jsonwire.Value
	encrypted, filter      jsonwire.Value
	executed, signed       jsonwire.Value // only reported as losses
	complete               bool           // its tool calls are complete
}

// reasoningMembers are the members that contain thinking. The first with text counts.
var reasoningMembers = [3]string{"reasoning_content", "reasoning", "reasoning_text"}

// readChoice decodes an element of choices.
func (d *chatDecoder) readChoice(v jsonwire.Value) error {
	var s choiceMembers
	index := 0
	var delta, message, text, logprobs jsonwire.Value
	for name, x := range v.Members() {
		switch name {
		case "index":
			if n, ok := x.Int(); ok && n > 0 {
				index = int(min(n, maxCandidates))
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
			s.err = x
		case "content_filter_results":
			s.filter = x
		}
	}
	if codec.IsOn(s.err) {
		return decodeErrorObject(s.err)
	}
	if err := cmp.Or(
		codec.Expect("openai: a choice", v, codec.Objects),
		codec.Expect("openai: delta", delta, codec.Objects|codec.Optional),
		codec.Expect("openai: message", message, codec.Objects|codec.Optional),
		codec.Expect("openai: text", text, codec.Texts|codec.Optional),
		codec.Expect("openai: finish_reason", s.finish, codec.Texts|codec.Numbers|codec.Optional),
	); err != nil {
		return codec.BadGateway(err)
	}
	cand, err := d.candidate(index)
	if err != nil {
		return err
	}
	switch {
	case d.complete && message.Kind() == jsonwire.Object:
		// The message is the response. Some servers also send an empty delta.
		delta, s.complete = message, true
	case delta.Kind() == jsonwire.Object && !cand.isOnlyMessage(delta, message, s.finish):
		cand.hasDeltas = true
	case cand.hasDeltas && !cand.isEmpty():
		// Some servers repeat the response at the end of a stream.
	default:
		delta, s.complete = message, true
	}
	s.content = text
	if err := s.read(delta); err != nil {
		return codec.BadGateway(err)
	}
	if d.options.logprobs && logprobs.Get("content").Len()+logprobs.Get("refusal").Len() > 0 {
		d.add(upstream.Event{Kind: upstream.EventExtra, Candidate: cand.index, Extra: &content.Extra{
			Format: ChatFormat, JSON: `{"logprobs":` + logprobs.Raw() + `}`,
		}})
	}
	before := len(d.events)
	if err := d.addChoice(cand, &s); err != nil {
		return err
	}
	cand.readFinish(&s, len(d.events) == before && s.calls.Len() == 0)
	return nil
}

// isEmpty reports whether a candidate has no text, thinking or tool calls yet.
func (cand *chatCandidate) isEmpty() bool {
	return !cand.hasContent && !cand.hasThinking && len(cand.calls) == 0
}

// isOnlyMessage reports whether the message of the last chunk is the response, because all
// deltas were empty. After other deltas, a message repeats them.
func (cand *chatCandidate) isOnlyMessage(delta, message, finish jsonwire.Value) bool {
	return finish.Str() != "" && cand.isEmpty() && isEmptyMessage(delta) && !isEmptyMessage(message)
}

// isEmptyMessage reports whether a delta or message has no members but the role.
func isEmptyMessage(v jsonwire.Value) bool {
	for name, x := range v.Members() {
		if name != "role" && (x.Str() != "" || x.Len() > 0) {
			return false
		}
	}
	return true
}

// read reads the members of a delta or message.
func (s *choiceMembers) read(v jsonwire.Value) error {
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
		case encryptedName:
			s.encrypted = x
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
		case "executed_tools": // Groq
			s.executed = x
		case "extra_content", "thought_signature": // Google
			s.signed = x
		}
	}
	// Other members are extensions of single servers, with different meanings.
	return cmp.Or(
		codec.Expect("openai: role", role, codec.Texts|codec.Optional),
		codec.Expect("openai: content", s.content, openaiformat.TextKinds|codec.Optional),
		codec.Expect("openai: refusal", s.refusal, openaiformat.TextKinds|codec.Optional),
		codec.Expect("openai: tool_calls", s.calls, codec.Lists|codec.Optional),
		codec.Expect("openai: function_call", s.function, codec.Objects|codec.Optional),
	)
}

// readFinish records the finish_reason. The first one counts. Some servers send an
// empty one with every chunk. An empty one ends the response only if its chunk is idle
// and follows content, and any other finish_reason overrides it.
func (cand *chatCandidate) readFinish(s *choiceMembers, idle bool) {
	for _, v := range s.filter.Members() {
		cand.filtered = cand.filtered || v.Get("filtered").Kind() == jsonwire.True
	}
	switch reason := openaiformat.Scalar(s.finish); {
	case cand.finishReason != "":
	case reason != "":
		cand.isFinished, cand.finishReason = true, strings.Clone(reason)
	case s.finish.Kind() == jsonwire.String && idle:
		cand.isFinished = cand.isFinished || !cand.isEmpty()
	}
	if s.sequence.Kind() == jsonwire.String && cand.finishReason == "stop" {
		cand.stopSequence = strings.Clone(s.sequence.Str())
	}
}

// addChoice adds the events of a choice.
func (d *chatDecoder) addChoice(cand *chatCandidate, s *choiceMembers) error {
	d.readThinking(cand, s)
	if err := d.addContent(cand, s.content); err != nil {
		return codec.BadGateway(err)
	}
	if text := d.textOf(s.refusal); text != "" {
		cand.refused = true
		d.addDelta(cand, blockText, text)
	}
	for _, v := range s.annotations.Elems() {
		d.addCitation(cand, v) // before other content closes the text
	}
	for _, v := range s.images.Elems() {
		d.addImage(cand, v)
	}
	for _, v := range s.calls.Elems() {
		if err := d.addFragment(cand, v, v.Get("function"), s.complete); err != nil {
			return err
		}
	}
	if s.function.Kind() == jsonwire.Object {
		if err := d.addFragment(cand, jsonwire.Value{}, s.function, s.complete); err != nil {
			return err
		}
	}
	if s.executed.Len() > 0 {
		d.addLoss(lossExecutedTools, "executed_tools")
	}
	if s.signed.Len() > 0 || s.signed.Str() != "" {
		d.addLoss(lossMessageSignature, "extra_content")
	}
	if s.audio.Kind() == jsonwire.Object {
		d.addText(cand, s.audio.Get("transcript").Str())
		if s.audio.Get("data").Str() != "" {
			d.addLoss(lossResponseFile, "parts")
		}
	}
	return nil
}

// addContent adds content: a string or a list of parts.
func (d *chatDecoder) addContent(cand *chatCandidate, v jsonwire.Value) error {
	if v.Kind() == jsonwire.String {
		d.addText(cand, v.Str())
		return nil
	}
	if v.Kind() != jsonwire.Array && codec.IsSet(v) || v.Kind() == jsonwire.Array && !isParts(v) {
		d.addDelta(cand, blockText, d.textOf(v))
		return nil
	}
	for _, p := range v.Elems() {
		if p.Kind() == jsonwire.String {
			d.addText(cand, p.Str())
			continue
		}
		if err := cmp.Or(
			codec.Expect("openai: a part of content", p, codec.Objects),
			codec.Expect("openai: the text of a part", p.Get("text"), openaiformat.TextKinds|codec.Optional),
		); err != nil {
			return err
		}
		switch kind := p.Get("type").Str(); kind {
		case "text", "output_text", "":
			d.addText(cand, d.textOf(p.Get("text")))
		case "refusal":
			cand.refused = true
			d.addDelta(cand, blockText, d.textOf(p.Get("refusal")))
		case "thinking", "reasoning":
			d.addListedThinking(cand, p)
		case "image_url", "image":
			d.addImage(cand, p)
		default:
			d.addLoss(lossUnknownPiece, "parts")
		}
	}
	return nil
}

// isParts reports whether a list has parts of content, and is not itself the JSON that the
// request asks for.
func isParts(list jsonwire.Value) bool {
	for _, p := range list.Elems() {
		if p.Kind() == jsonwire.String || p.Get("type").Kind() == jsonwire.String {
			continue
		}
		if p.Kind() != jsonwire.Object || p.Len() > 0 && !p.Get("text").Exists() && !p.Get("thinking").Exists() {
			return false
		}
	}
	return true
}

// textOf returns a text. It reports one that is not a string.
func (d *chatDecoder) textOf(v jsonwire.Value) string {
	if v.Kind() != jsonwire.String && codec.IsSet(v) {
		d.addLoss(openaiformat.LossJSONText, "parts")
	}
	return openaiformat.Text(v)
}

// addListedThinking adds a thinking part in a list of content. Its text is a string or
// a list of texts.
func (d *chatDecoder) addListedThinking(cand *chatCandidate, p jsonwire.Value) {
	for _, name := range [...]string{"thinking", "text"} {
		v := p.Get(name)
		d.addDelta(cand, blockThinking, v.Str())
		for _, t := range v.Elems() {
			d.addDelta(cand, blockThinking, t.Get("text").Str())
		}
	}
}

// addText adds text that may contain thinking between tags.
func (d *chatDecoder) addText(cand *chatCandidate, s string) {
	if s == "" {
		return
	}
	if cand.tags.mode == ThinkTagsOff {
		d.addDelta(cand, blockText, s)
		return
	}
	d.splitTags(cand, s)
}

// addDelta adds text to the open block of a kind, or opens one.
func (d *chatDecoder) addDelta(cand *chatCandidate, kind blockKind, s string) {
	if s == "" {
		return
	}
	if cand.openKind != kind {
		d.openBlock(cand, kind)
	}
	d.add(upstream.Event{Kind: upstream.EventText, Block: cand.block, Candidate: cand.index, Text: s})
}

func (d *chatDecoder) openBlock(cand *chatCandidate, kind blockKind) {
	d.closeBlock(cand)
	d.closeCalls(cand, false)
	var p content.Part = new(content.Thinking)
	if cand.hasThinking = cand.hasThinking || kind == blockThinking; kind == blockText {
		d.flushThinking(cand)
		p, cand.hasContent = new(content.Text), true
	}
	cand.openKind, cand.block = kind, d.openPart(cand, p)
}

// openPart opens a block and returns its number.
func (d *chatDecoder) openPart(cand *chatCandidate, p content.Part) int {
	n := d.next
	d.next++
	d.add(upstream.Event{Kind: upstream.EventOpen, Block: n, Candidate: cand.index, Part: p})
	return n
}

// closeBlock closes the open text or thinking block. The signature of thinking holds
// what the server needs to get it back.
func (d *chatDecoder) closeBlock(cand *chatCandidate) {
	if cand.openKind == blockNone {
		return
	}
	if cand.openKind == blockThinking {
		if data := cand.thinkingState.takeSignature(); data != "" {
			d.add(upstream.Event{Kind: upstream.EventSignature, Block: cand.block, Candidate: cand.index,
				Signature: &content.Signature{Format: ChatFormat, Data: data}})
		}
	}
	d.add(upstream.Event{Kind: upstream.EventClose, Block: cand.block, Candidate: cand.index})
	cand.openKind = blockNone
}

// addPart adds a complete part.
func (d *chatDecoder) addPart(cand *chatCandidate, p content.Part) {
	n := d.openPart(cand, p)
	d.add(upstream.Event{Kind: upstream.EventClose, Block: n, Candidate: cand.index})
}

// addImage adds a generated image. Servers may repeat one.
func (d *chatDecoder) addImage(cand *chatCandidate, v jsonwire.Value) {
	link := v.Get("image_url")
	url := link.Str()
	if url == "" {
		url = link.Get("url").Str()
	}
	for _, known := range cand.images {
		if known == url {
			return
		}
	}
	s := openaiformat.Source(url)
	if s == nil || len(cand.images) >= maxImages {
		d.addLoss(lossResponseFile, "parts")
		return
	}
	cand.images = append(cand.images, url)
	d.closeBlock(cand)
	d.closeCalls(cand, false)
	d.flushThinking(cand)
	cand.hasContent = true
	d.addPart(cand, &content.Image{Source: s})
}

// addCitation adds a citation to the open text.
func (d *chatDecoder) addCitation(cand *chatCandidate, v jsonwire.Value) {
	x := v.Get("url_citation")
	if x.Kind() != jsonwire.Object {
		return
	}
	if cand.openKind != blockText {
		d.addLoss(openaiformat.LossCitation, "parts")
		return
	}
	d.add(upstream.Event{Kind: upstream.EventCitation, Block: cand.block, Candidate: cand.index, Citation: &content.Citation{
		Kind: content.CiteWeb, URL: strings.Clone(x.Get("url").Str()), Title: strings.Clone(x.Get("title").Str()),
	}})
}

// toStopReason converts a finish_reason. failed reports that the server failed. Unknown
// values mean a normal end.
func toStopReason(finish string) (reason content.StopReason, failed bool) {
	switch finish {
	case "length", "max_tokens", "max_output_tokens", "model_length":
		return content.StopMaxTokens, false
	case "tool_calls", "function_call", "tool_use":
		return content.StopToolUse, false
	case "content_filter":
		return content.StopSafety, false
	case "refusal":
		return content.StopRefusal, false
	case "error", "insufficient_system_resource", "abort":
		return "", true
	}
	return content.StopEnd, false
}
