package responses

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/openaiformat"
	"github.com/polywire/polywire/upstream"
)

// endOfResponse is the error with which the last event is decoded.
var endOfResponse = io.EOF

// DecodeResponse decodes the body of a successful response that is not streamed. The response
// has its Frame, which is Complete, contains all events, and can be passed to
// [upstream.Writer.Frame].
//
// DecodeResponse uses three limits of lim, or of the defaults if lim is nil: Body (default 64 MiB), Depth and Values. Unpaired
// surrogates and invalid UTF-8 become U+FFFD, which is reported as a loss. Unknown members are
// skipped; the items of built-in tools and unknown items are kept for the server.
//
// The error is an [*upstream.Error]: the error in the body, or that of a response that failed, or
// else one with [upstream.CodeBadGateway].
func DecodeResponse(body []byte, lim *content.Limits) (*upstream.Response, error) {
	limits := codec.LimitsOf(lim)
	if err := codec.CheckBody("responses", len(body), limits); err != nil {
		return nil, err
	}
	f, err := DecodeFrame(string(body), limits, DecodeOptions{Verbatim: true})
	if err != nil {
		return nil, err
	}
	return f.Response()
}

// decodeDocument decodes a complete response.
func decodeDocument(body string, lim content.Limits) (*upstream.Frame, error) {
	var d responseDecoder
	d.init(lim)
	defer d.doc.Close()
	if err := d.parse(body); err != nil {
		return nil, err
	}
	root := d.doc.Root()
	switch {
	case root.Kind() != jsonwire.Object:
		if root.Kind() == jsonwire.Array && root.Len() > 0 {
			return nil, decodeError(root)
		}
		return nil, codec.BadGateway(errors.New("openai: the document is not a response object"))
	case codec.IsSet(root.Get("error")) && !root.Get("status").Exists(), root.Get("object").Is("error"):
		return nil, decodeError(root)
	case root.Get("output").Kind() != jsonwire.Array && !root.Get("status").Exists():
		return nil, codec.BadGateway(errors.New("openai: the document is not a response object"))
	}
	if err := d.readEnd("completed", root); err != endOfResponse {
		return nil, err
	}
	return &upstream.Frame{Format: Format, Data: d.doc.Source(), Complete: true, Events: d.events}, nil
}

// A responseDecoder decodes a response into events. It keeps the state between the
// events of a stream.
type responseDecoder struct {
	doc    jsonwire.Doc
	limits jsonwire.Limits
	newID  func() string    // for a call without an id
	events []upstream.Event // of the current document

	emitted bool // events were returned: it is too late for a start event
	started bool // there was a start event

	items      []decodedItem // in the order in which they began
	next       int           // number of the next block
	refused    bool
	hasCall    bool
	clientItem bool // an item is a call of a built-in tool that the client runs
	hasContent bool // other than thinking

	namelessCall bool // a call was dropped because it has no name
}

// An decodedItem is the state of an item of the response. Finished items remain, to
// detect duplicates.
type decodedItem struct {
	kind    decodedKind
	index   int64  // output_index, or -1
	id      uint64 // digest of the item's id, or 0
	call    uint64 // digest of the call_id, or 0
	sentID  uint64 // digest of the id of the opened block, or 0
	done    bool
	matched bool // found in the complete response

	block       int    // open block, or -1
	part        int64  // current part, to which the following fields belong
	size        int    // bytes of the part's text
	sum         uint64 // digest of the part's text
	hasText     bool   // in any part
	isRaw       bool   // the text is the thinking itself, not its summary
	isRefusal   bool   // the text is a refusal
	awaitsState bool   // the block stays open for the state in the complete item
	citations   int    // number of the part's citations
	hasLogprobs bool   // a delta had log probabilities
	pending     string // arguments at the beginning of the item
	phase       string // of a message: commentary, finalAnswer or ""
}

// An decodedKind is the kind of an output item.
type decodedKind uint8

const (
	decodedOther decodedKind = iota
	decodedMessage
	decodedReasoning
	decodedCall
)

func decodedKindOf(v jsonwire.Value) decodedKind {
	switch t := v.Get("type"); {
	case t.Is("message"):
		return decodedMessage
	case t.Is("reasoning"):
		return decodedReasoning
	case t.Is("function_call"), t.Is(typeCustomCall):
		return decodedCall
	case !t.Exists() && v.Get("role").Is("assistant"):
		return decodedMessage
	}
	return decodedOther
}

// maxDecodedItems bounds the items of a response.
const maxDecodedItems = 4096

// appendDigest continues an FNV-1a digest. The first sum is digestSeed.
func appendDigest(sum uint64, s string) uint64 {
	for i := range len(s) {
		sum = (sum ^ uint64(s[i])) * 1099511628211
	}
	return sum
}

const digestSeed = 14695981039346656037

func digestOf(s string) uint64 {
	if s == "" {
		return 0
	}
	return appendDigest(digestSeed, s)
}

func (d *responseDecoder) init(lim content.Limits) {
	d.limits = jsonwire.Limits{Depth: lim.Depth, Values: lim.Values, AllowInvalidUTF8: true}
	d.newID = openaiformat.NewCallID
}

// parse parses the next document.
func (d *responseDecoder) parse(data string) error {
	clear(d.events)
	d.events = d.events[:0]
	if err := d.doc.Parse(data, d.limits); err != nil {
		return codec.BadGateway(fmt.Errorf("openai: invalid JSON in the response: %w", err))
	}
	return nil
}

// reportReplaced adds a loss if invalid UTF-8 was replaced.
func (d *responseDecoder) reportReplaced() {
	if d.doc.Replacements() > 0 && len(d.events) > 0 {
		d.addLoss(openaiformat.LossCharacters, "parts")
	}
}

// textOf returns a text. It reports one that is not a string.
func (d *responseDecoder) textOf(v jsonwire.Value) string {
	if v.Kind() != jsonwire.String && codec.IsSet(v) {
		d.addLoss(openaiformat.LossJSONText, d.blockPath(-1))
	}
	return openaiformat.Text(v)
}

func (d *responseDecoder) add(e upstream.Event) { d.events = append(d.events, e) }

func (d *responseDecoder) addLoss(r *loss.Rule, path string) {
	d.add(upstream.Event{Kind: upstream.EventLoss, Loss: new(r.At(path))})
}

// blockPath returns the path of a block, or of the next block if block is negative.
func (d *responseDecoder) blockPath(block int) string {
	if block < 0 {
		block = d.next
	}
	return "parts." + strconv.Itoa(block)
}

// start adds the start event, once.
func (d *responseDecoder) start(response jsonwire.Value) {
	if d.emitted || d.started || response.Kind() != jsonwire.Object {
		return
	}
	d.started = true
	d.add(upstream.Event{Kind: upstream.EventStart, Start: &upstream.Start{
		ID: response.Get("id").Str(), Model: response.Get("model").Str(),
	}})
}

// decodeIndex returns an index, or -1.
func decodeIndex(v jsonwire.Value) int64 {
	if n, ok := v.Int(); ok && n >= 0 && n <= math.MaxInt32 {
		return n
	}
	return -1
}

// findOpen returns the last unfinished item of a kind that has the index, or that lacks
// an index. It returns nil if there is none.
func (d *responseDecoder) findOpen(output int64, k decodedKind) *decodedItem {
	for i := len(d.items) - 1; i >= 0; i-- {
		if it := &d.items[i]; !it.done && it.kind == k && (output < 0 || it.index < 0 || it.index == output) {
			return it
		}
	}
	return nil
}

// beginItem adds an item.
func (d *responseDecoder) beginItem(output int64, k decodedKind) (*decodedItem, error) {
	if len(d.items) >= maxDecodedItems {
		return nil, codec.BadGateway(errors.New("openai: the response has too many items"))
	}
	for i := range d.items {
		it := &d.items[i]
		switch {
		case it.done:
		case output >= 0 && it.index == output:
			d.endItem(it) // the server omitted its end
		case it.kind == decodedMessage, it.kind == decodedReasoning && !it.awaitsState:
			d.closeBlock(it) // a new text ends the previous one
		}
	}
	d.items = append(d.items, decodedItem{kind: k, index: output, block: -1, part: -1, sum: digestSeed})
	return &d.items[len(d.items)-1], nil
}

// closeBlock closes the block of an item if one is open.
func (d *responseDecoder) closeBlock(it *decodedItem) {
	if it.block >= 0 {
		d.add(upstream.Event{Kind: upstream.EventClose, Block: it.block})
		it.block = -1
	}
}

// endItem finishes an item.
func (d *responseDecoder) endItem(it *decodedItem) {
	if it.kind == decodedCall && it.block >= 0 && it.size == 0 && it.pending != "" {
		d.add(upstream.Event{Kind: upstream.EventInput, Block: it.block, Text: it.pending})
	}
	d.closeBlock(it)
	it.done, it.pending = true, ""
}

// openPart opens a block and returns its number.
func (d *responseDecoder) openPart(p content.Part) int {
	n := d.next
	d.next++
	d.add(upstream.Event{Kind: upstream.EventOpen, Block: n, Part: p})
	return n
}

// addPart adds a complete part.
func (d *responseDecoder) addPart(p content.Part) {
	d.add(upstream.Event{Kind: upstream.EventClose, Block: d.openPart(p)})
}

// addText adds text to a part of a message or reasoning item.
func (d *responseDecoder) addText(it *decodedItem, part int64, s string) {
	if part != it.part {
		if it.kind == decodedMessage {
			d.closeBlock(it)
		}
		it.part, it.size, it.sum, it.citations = part, 0, digestSeed, 0
	}
	if s == "" {
		return
	}
	if it.block < 0 {
		it.block = d.openPart(d.textPart(it))
	}
	if it.kind == decodedReasoning && it.hasText && it.size == 0 {
		d.add(upstream.Event{Kind: upstream.EventText, Block: it.block, Text: "\n\n"})
	}
	it.hasText = true
	d.hasContent = d.hasContent || it.kind == decodedMessage
	it.size += len(s)
	it.sum = appendDigest(it.sum, s)
	d.add(upstream.Event{Kind: upstream.EventText, Block: it.block, Text: s})
}

// textPart returns the part that opens the block of an item.
func (d *responseDecoder) textPart(it *decodedItem) content.Part {
	if it.kind == decodedReasoning {
		return &content.Thinking{}
	}
	return &content.Text{Refusal: it.isRefusal}
}

// reconcile adds the rest of a part's text after its deltas.
func (d *responseDecoder) reconcile(it *decodedItem, part int64, full string) {
	switch {
	case part < it.part:
	case part > it.part:
		d.addText(it, part, full)
	case len(full) > it.size && appendDigest(digestSeed, full[:it.size]) == it.sum:
		d.addText(it, part, full[it.size:])
	case len(full) != it.size || appendDigest(digestSeed, full) != it.sum:
		d.addLoss(lossDecodedText, d.blockPath(it.block))
	}
}

// itemOfPart returns the item and the part to which an event belongs. It begins the
// item if its beginning is missing. For arguments of an unknown call, it returns nil.
func (d *responseDecoder) itemOfPart(kind string, v jsonwire.Value) (it *decodedItem, part int64, err error) {
	k, at := decodedMessage, "content_index"
	switch kind[:10] {
	case "reasoning_":
		k = decodedReasoning
		if kind[10] == 's' {
			at = "summary_index"
		}
	case "function_c", "custom_too":
		k = decodedCall
	}
	output := decodeIndex(v.Get("output_index"))
	if it = d.findOpen(output, k); it == nil && k != decodedCall {
		it, err = d.beginItem(output, k)
	}
	return it, max(decodeIndex(v.Get(at)), 0), err
}

// readDelta decodes a delta of text or arguments.
func (d *responseDecoder) readDelta(kind string, v jsonwire.Value) error {
	piece := d.textOf(v.Get("delta"))
	if piece == "" {
		return nil
	}
	it, part, err := d.itemOfPart(kind, v)
	if err != nil || it == nil {
		return err // the complete call will follow
	}
	switch kind {
	case "function_call_arguments.delta", "custom_tool_call_input.delta":
		d.addInput(it, piece)
	case "reasoning_text.delta", "reasoning_summary_text.delta":
		raw := kind == "reasoning_text.delta"
		if it.hasText && it.isRaw != raw {
			return nil // text and summary are alternatives
		}
		it.isRaw = raw
		d.addText(it, part, piece)
	default:
		it.isRefusal = kind == "refusal.delta"
		d.refused = d.refused || it.isRefusal
		d.addText(it, part, piece)
		if list := v.Get("logprobs"); list.Len() > 0 {
			it.hasLogprobs = true
			d.events[len(d.events)-1].Extra = logprobsExtra(list)
		}
	}
	d.reportReplaced()
	return nil
}

// logprobsExtra returns the log probabilities of a text.
func logprobsExtra(list jsonwire.Value) *content.Extra {
	return &content.Extra{Format: Format, JSON: `{"logprobs":` + list.Raw() + `}`}
}

// addInput adds arguments to an open call.
func (d *responseDecoder) addInput(it *decodedItem, piece string) {
	if it.block >= 0 {
		it.size += len(piece)
		it.sum = appendDigest(it.sum, piece)
		d.add(upstream.Event{Kind: upstream.EventInput, Block: it.block, Text: piece})
	}
}

// readDone decodes a complete text or complete arguments. It does not close the block,
// since the complete item follows.
func (d *responseDecoder) readDone(kind string, v jsonwire.Value) error {
	member := "text"
	switch kind {
	case "refusal.done":
		member = "refusal"
	case "function_call_arguments.done", "custom_tool_call_input.done":
		if member = "arguments"; kind == "custom_tool_call_input.done" {
			member = "input"
		}
		if it := d.findOpen(decodeIndex(v.Get("output_index")), decodedCall); it != nil && it.block >= 0 {
			d.completeInput(it, openaiformat.Text(v.Get(member)))
		}
		d.reportReplaced()
		return nil
	}
	full := openaiformat.Text(v.Get(member))
	if full == "" {
		return nil
	}
	if d.findOpen(decodeIndex(v.Get("output_index")), decodedMessage) == nil && kind[:10] != "reasoning_" && d.isMessageDone(v) {
		return nil
	}
	it, part, err := d.itemOfPart(kind, v)
	if err != nil {
		return err
	}
	raw := kind == "reasoning_text.done"
	if it.kind == decodedReasoning && it.hasText && it.isRaw != raw {
		return nil
	}
	it.isRaw, it.isRefusal = raw, member == "refusal"
	d.refused = d.refused || it.isRefusal
	d.reconcile(it, part, full)
	d.reportReplaced()
	return nil
}

// isMessageDone reports whether the message of an event is finished.
func (d *responseDecoder) isMessageDone(v jsonwire.Value) bool {
	output := decodeIndex(v.Get("output_index"))
	for i := range d.items {
		if it := &d.items[i]; it.done && it.kind == decodedMessage && it.index == output {
			return true
		}
	}
	return false
}

// readAnnotation decodes a citation.
func (d *responseDecoder) readAnnotation(v jsonwire.Value) {
	it := d.findOpen(decodeIndex(v.Get("output_index")), decodedMessage)
	if it == nil {
		return
	}
	// A lower index repeats a citation. Without an index it is new.
	if n := decodeIndex(v.Get("annotation_index")); n >= 0 && n < int64(it.citations) {
		return
	}
	it.citations++
	d.addCitation(it, v.Get("annotation"))
	d.reportReplaced()
}

// readEnd decodes the end of a response. kind is the type of the event, if it has one.
func (d *responseDecoder) readEnd(kind string, response jsonwire.Value) error {
	if err := cmp.Or(
		codec.Expect("openai: the response", response, codec.Objects),
		codec.Expect("openai: status", response.Get("status"), codec.Texts|codec.Optional),
		codec.Expect("openai: output", response.Get("output"), codec.Lists|codec.Optional),
		codec.Expect("openai: usage", response.Get("usage"), codec.Objects|codec.Optional),
		codec.Expect("openai: incomplete_details", response.Get("incomplete_details"), codec.Objects|codec.Optional),
	); err != nil {
		return codec.BadGateway(err)
	}
	d.start(response)
	if s := response.Get("status").Str(); s != "" {
		kind = s
	}
	failed := response.Get("error")
	switch {
	case kind == "failed", kind == "cancelled", codec.IsOn(failed):
		switch failed.Kind() {
		case jsonwire.Object:
			return decodeError(failed)
		case jsonwire.String:
			return decodeError(response)
		}
		return &upstream.Error{Code: upstream.CodeUnavailable, Err: fmt.Errorf("openai: the response has the status %s", codec.Clip(kind))}
	case kind == "in_progress", kind == "queued":
		return codec.BadGateway(errors.New("openai: the response is not complete"))
	}
	if err := d.readRemaining(response.Get("output")); err != nil {
		return err
	}
	for i := range d.items {
		if !d.items[i].done {
			d.endItem(&d.items[i])
		}
	}
	d.checkPhases()
	if u, ok := openaiformat.Usage(response.Get("usage"), false); ok {
		d.add(upstream.Event{Kind: upstream.EventUsage, Usage: &u})
	}
	stop := d.toStop(kind, response.Get("incomplete_details"))
	if !d.hasContent && stop.Reason == content.StopEnd {
		d.addLoss(openaiformat.LossEmptyResponse, "parts")
	}
	d.add(upstream.Event{Kind: upstream.EventStop, Stop: stop})
	d.reportReplaced()
	return endOfResponse
}

// checkPhases reports a phase that differs from the one with which the message returns.
// Consecutive messages return as one.
func (d *responseDecoder) checkPhases() {
	phase, found := finalAnswer, false // found: a later item is a message
	if d.hasCall || d.clientItem {
		phase = commentary
	}
	for i := range slices.Backward(d.items) {
		switch it := &d.items[i]; {
		case it.kind != decodedMessage:
			if found {
				phase = commentary
			}
		case it.hasText:
			if found = true; it.phase != "" && it.phase != phase {
				d.addLoss(lossDecodedPhase, "parts")
				return
			}
		}
	}
}

// readRemaining adds the items of a complete response that were not streamed. It
// matches items by kind and order, since indexes are not reliable.
func (d *responseDecoder) readRemaining(output jsonwire.Value) error {
	for i, item := range output.Elems() {
		it := d.matchItem(decodedKindOf(item), item)
		if it != nil {
			it.matched = true
			if it.done {
				continue
			}
		}
		if err := d.completeItem(it, int64(i), item); err != nil {
			return err
		}
		if it == nil {
			d.items[len(d.items)-1].matched = true
		}
	}
	return nil
}

// matchItem returns the first unmatched item of a kind, for a tool call one with the
// same call_id. It returns nil if there is none.
func (d *responseDecoder) matchItem(k decodedKind, item jsonwire.Value) *decodedItem {
	call := uint64(0)
	if k == decodedCall {
		call = digestOf(item.Get("call_id").Str())
	}
	for i := range d.items {
		it := &d.items[i]
		if it.kind == k && !it.matched && (call == 0 || it.call == 0 || it.call == call) {
			return it
		}
	}
	return nil
}

// toStop returns the stop event.
func (d *responseDecoder) toStop(kind string, details jsonwire.Value) *upstream.Stop {
	s := &upstream.Stop{Reason: content.StopEnd, Format: Format, RawReason: kind}
	if kind == "incomplete" {
		s.RawReason = details.Get("reason").Str()
		if details.Kind() == jsonwire.Object {
			s.Details = details.Raw()
		}
		switch s.RawReason {
		case "max_output_tokens", "max_tokens":
			s.Reason = content.StopMaxTokens
		case "content_filter":
			s.Reason = content.StopSafety
		default:
			s.Reason = content.StopOther
		}
		return s
	}
	switch {
	case d.hasCall && !d.namelessCall:
		s.Reason = content.StopToolUse
	case d.refused:
		s.Reason, s.RawReason = content.StopRefusal, "refusal"
	case d.namelessCall:
		s.Reason = content.StopMalformedCall
	}
	return s
}
