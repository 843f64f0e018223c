package chatcompletions

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

// DecodeResponse decodes the body of a successful response that is not streamed. The response
// has its Frame, which is Complete, contains all events, and can be passed to
// [upstream.Writer.Frame]. A body that is a stream of events is decoded too.
//
// DecodeResponse uses three limits of lim, or of the defaults if lim is nil: Body (default 64 MiB), Depth and Values. Unpaired
// surrogates and invalid UTF-8 become U+FFFD, which is reported as a loss. Members that the
// format does not have are skipped, and so are log probabilities. The deviations that
// [StreamReader] describes are accepted.
//
// The error is an [*upstream.Error]: the error in the body, or else one with
// [upstream.CodeBadGateway].
func DecodeResponse(body []byte, lim *content.Limits) (*upstream.Response, error) {
	limits := codec.LimitsOf(lim)
	if err := codec.CheckBody("chatcompletions", len(body), limits); err != nil {
		return nil, err
	}
	f, err := DecodeFrame(string(body), limits, DecodeOptions{Verbatim: true})
	if err != nil {
		return nil, err
	}
	return f.Response()
}

// decodeStreamText decodes a stream that is a text.
func decodeStreamText(text string, lim content.Limits, o DecodeOptions) (*upstream.Frame, error) {
	r := NewStreamReaderWith(strings.NewReader(text), lim, o)
	all := &upstream.Frame{Format: Format}
	for {
		f, err := r.Next()
		if err == io.EOF {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		all.Events = append(all.Events, f.Events...)
	}
}

// A responseDecoder decodes chunks into events. A complete response is decoded as one
// chunk.
type responseDecoder struct {
	complete bool // the chunk is a complete response
	options  DecodeOptions
	doc      jsonwire.Doc
	limits   jsonwire.Limits
	events   []upstream.Event
	template chunkTemplate

	started    bool
	id, model  string
	next       int // number of the next block
	candidates []decodedChoice
	usage      content.Usage
	usageChunk codec.Chunk[content.Usage]
	hasUsage   bool // there was a usage, not only a fallback
	reported   loss.List
	newID      func() string

	// altered reports that the events differ from what a client of the format would read in the
	// chunks, so that it must not receive these.
	altered bool
}

// A decodedChoice is the state of one choice.
type decodedChoice struct {
	index       int
	openKind    decodedKind
	block       int
	hasContent  bool // other than thinking
	hasThinking bool
	hasDeltas   bool
	tags        tagParser
	decodedState
	calls        []*decodedCall
	images       []string
	finishReason string
	isFinished   bool // there was a finish_reason
	namelessCall bool // a call was dropped because it has no name
	refused      bool
	filtered     bool // Azure's filter removed content
	stopSequence string
}

type decodedKind uint8

const (
	decodedNone decodedKind = iota
	decodedText
	decodedRefusal
	decodedThinking
)

const (
	maxDecodedChoices = 128
	maxDecodedCalls   = 1024
	maxDecodedImages  = 256
)

func (d *responseDecoder) init(lim content.Limits, o DecodeOptions) {
	d.limits = jsonwire.Limits{Depth: lim.Depth, Values: lim.Values, AllowInvalidUTF8: true}
	d.options, d.newID = o, openaiformat.NewCallID
	d.altered = !o.Verbatim || o.ThinkTags != ThinkTagsOff
}

// reset removes the events of the previous chunk.
func (d *responseDecoder) reset() {
	clear(d.events)
	d.events = d.events[:0]
}

// add adds an event. Before the first, it adds a start event with the id and model.
func (d *responseDecoder) add(e upstream.Event) {
	if !d.started {
		d.started = true
		d.events = append(d.events, upstream.Event{Kind: upstream.EventStart, Start: &upstream.Start{ID: d.id, Model: d.model}})
	}
	d.events = append(d.events, e)
}

// addLoss adds a loss, once per response.
func (d *responseDecoder) addLoss(r *loss.Rule, path string) {
	if l := d.reported.New(r, path); l != nil {
		d.add(upstream.Event{Kind: upstream.EventLoss, Loss: l})
	}
}

// readChunk decodes one chunk or a complete response.
func (d *responseDecoder) readChunk(data string, failed bool) error {
	if err := d.doc.Parse(data, d.limits); err != nil {
		return codec.BadGateway(err)
	}
	defer d.doc.Close()
	root := d.doc.Root()
	if root.Kind() != jsonwire.Object {
		if root.Kind() == jsonwire.Array && root.Len() > 0 {
			return decodeError(root)
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
		return decodeError(root)
	}
	if root.Get("object").Is("error") {
		return decodeError(root)
	}
	if err := cmp.Or(
		codec.Expect("openai: choices", choices, codec.Lists|codec.Optional),
		codec.Expect("openai: usage", usage, codec.Objects|codec.Optional),
	); err != nil {
		return codec.BadGateway(err)
	}
	if d.doc.Replacements() > 0 {
		d.altered = true
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
func (d *responseDecoder) setOnce(to *string, v jsonwire.Value) {
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
func (d *responseDecoder) readUsage(usage, fallback jsonwire.Value) {
	u, ok := openaiformat.Usage(usage, d.options.ApartThinking)
	switch {
	case ok:
		d.hasUsage = true
	case d.hasUsage:
		return
	default:
		if u, ok = openaiformat.Usage(fallback, d.options.ApartThinking); !ok || u.Prompt()+u.Completion() == 0 {
			u, ok = openaiformat.TimingsUsage(fallback)
		}
	}
	if !ok || sameCounts(u, d.usage) {
		return
	}
	d.usage = u
	to := d.usageChunk.New(1)
	*to = u
	d.add(upstream.Event{Kind: upstream.EventUsage, Usage: to})
}

func sameCounts(a, b content.Usage) bool {
	return a.Input == b.Input && a.CacheRead == b.CacheRead && a.CacheWrite == b.CacheWrite && a.Output == b.Output && a.Thinking == b.Thinking
}

// candidate returns the candidate of a choice. It adds new ones.
func (d *responseDecoder) candidate(index int) (*decodedChoice, error) {
	for i := range d.candidates {
		if d.candidates[i].index == index {
			return &d.candidates[i], nil
		}
	}
	if len(d.candidates) >= maxDecodedChoices || index >= maxDecodedChoices {
		return nil, codec.BadGateway(errors.New("openai: the response has too many choices"))
	}
	if !d.complete && (index > 0 || len(d.candidates) > 0) {
		d.altered = true // one choice may end before another
	}
	d.candidates = append(d.candidates, decodedChoice{index: index, tags: tagParser{mode: d.options.ThinkTags}})
	return &d.candidates[len(d.candidates)-1], nil
}

// isFinished reports whether a candidate has a finish_reason.
func (d *responseDecoder) isFinished() bool {
	for i := range d.candidates {
		if d.candidates[i].isFinished {
			return true
		}
	}
	return false
}

// finish ends all candidates. It returns [io.EOF] if the response is complete.
func (d *responseDecoder) finish() error {
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
			Reason: reason, Sequence: cand.stopSequence, Format: Format, RawReason: cand.finishReason,
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
func (cand *decodedChoice) stopReason() (reason content.StopReason, failed bool) {
	reason, failed = decodeStopReason(cand.finishReason)
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

// decodedMembers are the members of a choice with its delta or message.
type decodedMembers struct {
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
func (d *responseDecoder) readChoice(v jsonwire.Value) error {
	var s decodedMembers
	index := 0
	var delta, message, text, logprobs jsonwire.Value
	for name, x := range v.Members() {
		switch name {
		case "index":
			if n, ok := x.Int(); ok && n > 0 {
				index = int(min(n, maxDecodedChoices))
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
		return decodeError(s.err)
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
	d.altered = d.altered || s.complete != d.complete // a message in a stream
	s.content = text
	if err := s.read(delta); err != nil {
		return codec.BadGateway(err)
	}
	if d.options.Logprobs && logprobs.Get("content").Len()+logprobs.Get("refusal").Len() > 0 {
		d.add(upstream.Event{Kind: upstream.EventExtra, Candidate: cand.index, Extra: &content.Extra{
			Format: Format, JSON: `{"logprobs":` + logprobs.Raw() + `}`,
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
func (cand *decodedChoice) isEmpty() bool {
	return !cand.hasContent && !cand.hasThinking && len(cand.calls) == 0
}

// isOnlyMessage reports whether the message of the last chunk is the response, because all
// deltas were empty. After other deltas, a message repeats them.
func (cand *decodedChoice) isOnlyMessage(delta, message, finish jsonwire.Value) bool {
	return finish.Str() != "" && cand.isEmpty() && isEmptyDelta(delta) && !isEmptyDelta(message)
}

// isEmptyDelta reports whether a delta or message has no members but the role.
func isEmptyDelta(v jsonwire.Value) bool {
	for name, x := range v.Members() {
		if name != "role" && (x.Str() != "" || x.Len() > 0) {
			return false
		}
	}
	return true
}

// read reads the members of a delta or message.
func (s *decodedMembers) read(v jsonwire.Value) error {
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
func (cand *decodedChoice) readFinish(s *decodedMembers, idle bool) {
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
func (d *responseDecoder) addChoice(cand *decodedChoice, s *decodedMembers) error {
	d.readThinking(cand, s)
	if err := d.addContent(cand, s.content); err != nil {
		return codec.BadGateway(err)
	}
	if text := d.textOf(s.refusal); text != "" {
		cand.refused = true
		d.addDelta(cand, decodedRefusal, text)
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
		d.altered = true
		if err := d.addFragment(cand, jsonwire.Value{}, s.function, s.complete); err != nil {
			return err
		}
	}
	if s.executed.Len() > 0 {
		d.addLoss(lossDecodedTools, "executed_tools")
	}
	if s.signed.Len() > 0 || s.signed.Str() != "" {
		d.addLoss(lossDecodedSignature, "extra_content")
	}
	if s.audio.Kind() == jsonwire.Object {
		d.addText(cand, s.audio.Get("transcript").Str())
		if s.audio.Get("data").Str() != "" {
			d.addLoss(lossDecodedFile, "parts")
		}
	}
	return nil
}

// addContent adds content: a string or a list of parts.
func (d *responseDecoder) addContent(cand *decodedChoice, v jsonwire.Value) error {
	if v.Kind() == jsonwire.String {
		d.addText(cand, v.Str())
		return nil
	}
	if v.Kind() != jsonwire.Array && codec.IsSet(v) || v.Kind() == jsonwire.Array && !isContentList(v) {
		d.addDelta(cand, decodedText, d.textOf(v))
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
			d.addDelta(cand, decodedRefusal, d.textOf(p.Get("refusal")))
		case "thinking", "reasoning":
			d.addListedThinking(cand, p)
		case "image_url", "image":
			d.addImage(cand, p)
		default:
			d.addLoss(lossDecodedPart, "parts")
		}
	}
	return nil
}

// isContentList reports whether a list has parts of content, and is not itself the JSON that the
// request asks for.
func isContentList(list jsonwire.Value) bool {
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
func (d *responseDecoder) textOf(v jsonwire.Value) string {
	if v.Kind() != jsonwire.String && codec.IsSet(v) {
		d.altered = true
		d.addLoss(openaiformat.LossJSONText, "parts")
	}
	return openaiformat.Text(v)
}

// addListedThinking adds a thinking part in a list of content. Its text is a string or
// a list of texts.
func (d *responseDecoder) addListedThinking(cand *decodedChoice, p jsonwire.Value) {
	for _, name := range [...]string{"thinking", "text"} {
		v := p.Get(name)
		d.addDelta(cand, decodedThinking, v.Str())
		for _, t := range v.Elems() {
			d.addDelta(cand, decodedThinking, t.Get("text").Str())
		}
	}
}

// addText adds text that may contain thinking between tags.
func (d *responseDecoder) addText(cand *decodedChoice, s string) {
	if s == "" {
		return
	}
	if cand.tags.mode == ThinkTagsOff {
		d.addDelta(cand, decodedText, s)
		return
	}
	d.splitTags(cand, s)
}

// addDelta adds text to the open block of a kind, or opens one.
func (d *responseDecoder) addDelta(cand *decodedChoice, kind decodedKind, s string) {
	if s == "" {
		return
	}
	if cand.openKind != kind {
		d.openBlock(cand, kind)
	}
	d.add(upstream.Event{Kind: upstream.EventText, Block: cand.block, Candidate: cand.index, Text: s})
}

func (d *responseDecoder) openBlock(cand *decodedChoice, kind decodedKind) {
	d.closeBlock(cand)
	d.closeCalls(cand, false)
	var p content.Part = new(content.Thinking)
	if cand.hasThinking = cand.hasThinking || kind == decodedThinking; kind != decodedThinking {
		d.flushThinking(cand)
		p, cand.hasContent = &content.Text{Refusal: kind == decodedRefusal}, true
	}
	cand.openKind, cand.block = kind, d.openPart(cand, p)
}

// openPart opens a block and returns its number.
func (d *responseDecoder) openPart(cand *decodedChoice, p content.Part) int {
	n := d.next
	d.next++
	d.add(upstream.Event{Kind: upstream.EventOpen, Block: n, Candidate: cand.index, Part: p})
	return n
}

// closeBlock closes the open text or thinking block. The signature of thinking holds
// what the server needs to get it back.
func (d *responseDecoder) closeBlock(cand *decodedChoice) {
	if cand.openKind == decodedNone {
		return
	}
	if cand.openKind == decodedThinking {
		if data := cand.decodedState.takeSignature(); data != "" {
			d.add(upstream.Event{Kind: upstream.EventSignature, Block: cand.block, Candidate: cand.index,
				Signature: &content.Signature{Format: Format, Data: data}})
		}
	}
	d.add(upstream.Event{Kind: upstream.EventClose, Block: cand.block, Candidate: cand.index})
	cand.openKind = decodedNone
}

// addPart adds a complete part.
func (d *responseDecoder) addPart(cand *decodedChoice, p content.Part) {
	n := d.openPart(cand, p)
	d.add(upstream.Event{Kind: upstream.EventClose, Block: n, Candidate: cand.index})
}

// addImage adds a generated image. Servers may repeat one.
func (d *responseDecoder) addImage(cand *decodedChoice, v jsonwire.Value) {
	link := v.Get("image_url")
	url := cmp.Or(link.Str(), link.Get("url").Str())
	for _, known := range cand.images {
		if known == url {
			return
		}
	}
	s := openaiformat.Source(url)
	if s == nil || len(cand.images) >= maxDecodedImages {
		d.addLoss(lossDecodedFile, "parts")
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
func (d *responseDecoder) addCitation(cand *decodedChoice, v jsonwire.Value) {
	x := v.Get("url_citation")
	if x.Kind() != jsonwire.Object {
		return
	}
	if cand.openKind != decodedText {
		d.addLoss(openaiformat.LossCitation, "parts")
		return
	}
	c := &content.Citation{Kind: content.CiteWeb, URL: strings.Clone(x.Get("url").Str()), Title: strings.Clone(x.Get("title").Str())}
	c.Start, c.End = openaiformat.CitedRange(x)
	d.add(upstream.Event{Kind: upstream.EventCitation, Block: cand.block, Candidate: cand.index, Citation: c})
}

// decodeStopReason converts a finish_reason. failed reports that the server failed. Unknown
// values mean a normal end.
func decodeStopReason(finish string) (reason content.StopReason, failed bool) {
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
