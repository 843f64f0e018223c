package responses

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/callid"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/openaiformat"
	"github.com/polywire/polywire/internal/partfield"
	"github.com/polywire/polywire/internal/response"
	"github.com/polywire/polywire/upstream"
)

// An encoder encodes the blocks of a response, streamed or whole, as items. It implements
// [response.Format], and for a stream [response.Stream] and [handler.Encoder]. A whole response
// is a stream whose events are not written: see [encoder.event].
//
// The last event of a stream repeats all items. So the encoder keeps the text of open items and
// the JSON of complete ones, at most [maxKept] bytes in a stream.
type encoder struct {
	response.Engine[sentState]
	expectation
	forwarder

	whole    bool     // no events are written
	maxKept  int      // bytes of kept items of a stream
	messages bool     // for a connection that carries messages: no keep-alives and no [DONE]
	settings settings // of the request, which responses repeat
	session  *session // stores the response; nil if nothing is stored

	id, model string
	created   int64            // Unix time
	now       func() time.Time // for the time of the end

	ids     callid.Namer
	tier    string // service_tier of the response, as JSON text
	lost    bool   // other members of the response are reported
	sources foreign.Sources
	search  foreign.Search // in members of a response of another format

	items      []*item                    // in the order in which they began; nil once they were dropped
	next       int                        // index of the next item
	message    *item                      // message that the next text continues; nil if another item has begun
	kept       int                        // bytes of items
	dropped    bool                       // items were dropped, because they exceeded maxKept
	newestOpen int                        // number of the block that opened last
	running    map[string]*foreign.Hosted // calls of other vendors' tools without a result, by id
	shown      string                     // the last item that was a part of its own
	inItems    bool                       // items before the next tool call carry state
	refused    bool                       // there is a refusal
	denied     bool                       // a tool call that the request does not allow was dropped

	logprobs []byte // of the next text, as elements of a list

	compacting bool // the text is a summary, which one item holds: see compact.go
	summary    codec.Builder

	started bool  // an EventStart was received
	begun   bool  // response.created is written
	counted bool  // usage was received
	number  int64 // sequence_number of the next event
	dst     []byte
}

// A sentBlock is a block of a response for a client.
type sentBlock = response.Block[sentState]

// A sentState is what an [encoder] keeps of it.
type sentState struct {
	item      *item
	hidden    bool              // thinking that is not sent
	broken    bool              // a tool call that began and turned out not to be valid
	signature content.Signature // of thinking that is sent
	toCarry   content.Signature // of a tool call
}

// An item is an item of the output.
type item struct {
	index int
	kind  itemType
	id    string

	callID, name, namespace string // of a call
	extra                   string // members of a call without a field, each after a comma

	parts     []byte        // complete parts of a message
	count     int           // parts that began
	text      codec.Builder // of the open part, the summary, or the arguments
	delta     []byte        // the last delta up to its text; nil before the first
	number    int64         // of that delta
	numberEnd int           // where that number ends in it
	isRefusal bool          // of the open part

	logprobs    []byte // of the open part, as elements of a list
	annotations []byte // of the open part
	cited       int    // annotations of the open part
	later       []content.Citation

	json  []byte // of the complete item; nil until then, and once it was dropped
	block int    // of the response, with which the item began
	state string // encrypted_content of the stored item, which the client does not receive
}

// An itemType is the type of an item that has text.
type itemType uint8

const (
	messageItem itemType = iota
	reasoningItem
	functionItem
	customItem
	searchItem // a search for tools that the client runs: it has no deltas
	otherItem  // complete when it begins
)

// itemNames are the types on the wire.
var itemNames = [...]string{messageItem: typeMessage, reasoningItem: typeReasoning, functionItem: typeFunctionCall, customItem: typeCustomCall, searchItem: typeSearchCall}

// idPrefixes are the beginnings of ids of items.
var idPrefixes = [...]string{messageItem: "msg_", reasoningItem: "rs_", functionItem: "fc_", customItem: "ctc_", searchItem: "tsc_", otherItem: "item_"}

const (
	maxKept    = 8 << 20 // bytes of kept items of a stream
	maxRunning = 100     // calls of other vendors' tools without a result
	itemCost   = 512     // bytes that count against maxKept for each item, besides its JSON

	// callPrefix is the prefix of call_ids that a response has in place of missing and
	// repeated ones.
	callPrefix = "call_pw"
)

// init sets up s for a response to the conversation in turns.
func (s *encoder) init(turns []content.Turn) {
	var stream response.Stream[sentState]
	if !s.whole {
		stream = s
	}
	s.Init(s, stream, Format, 1, envelope.MaxIDSize, response.Rules{
		Candidates: lossSentCandidates, EventMembers: lossSentMembers, SentCall: lossSentArguments,
		Freeform: true, Namespaces: true, Refusals: true})
	s.Candidates[s.Candidate(0)].State = envelope.Pending{OmitText: true} // carries the state of every format
	s.maxKept = maxKept
	s.ids, s.newestOpen = callid.NewNamer(callPrefix, turns), -1
}

// OpenBlock implements [response.Format], as the other exported methods do.
func (s *encoder) OpenBlock(b *sentBlock, rest []upstream.Event) response.When {
	s.start()
	s.DropUnsigned(0, s.hideThinking)
	s.newestOpen = b.Number
	report := s.LossesOf(b)
	if s.compacting {
		if b.Kind == response.Text || isCompaction(b.Part) {
			return response.Now
		}
		return response.Never
	}
	if partfield.CacheOf(b.Part) != nil {
		report(lossSentCache)
	}
	switch p := b.Part.(type) { // other kinds have no item; they are dropped and reported
	case *content.Thinking:
		return s.openThinking(b, p)
	case *content.Text:
		s.losePartMembers(b, s.TakeLogprobs(0, p.Extra))
		if p.Signature.Data != "" {
			report(lossSentSignature)
		}
		if p.Text == "" {
			return response.Filled
		}
		return response.Now
	case *content.ToolUse: // a copy
		b.State.toCarry = s.TakeSignature(b, p.Signature, rest)
		switch {
		case p.Name == "":
			report(response.LossCallName)
			s.MarkBroken(b)
			return response.Never
		case !s.allows(p):
			s.denied = true
			report(lossNotAllowed)
			return response.Never
		case p.Freeform:
			return response.AtEnd
		}
		return response.Runnable
	case *content.Image:
		src, ok := p.Source.(*content.Base64)
		switch {
		case !ok || src == nil:
			report(lossSentImage)
		case s.settings.openResponses && p.Signature.Format != Format: // otherwise the request has the tool
			report(lossOpenImage)
		default:
			s.losePartMembers(b, p.Extra)
			return response.Now
		}
	case *content.Unknown:
		if p.Format == Format && jsonwire.ValidObject(p.Raw) {
			s.shown = p.Raw
			return response.Now
		}
		report(lossSentPart)
	case *content.ServerToolUse:
		return s.openHosted(b, p.Format, p.Extra)
	case *content.ServerToolResult:
		return s.openHosted(b, p.Format, p.Extra)
	case *content.Document, *content.Media:
		report(lossSentFile)
	default:
		report(lossSentPart)
	}
	return response.Never
}

// BeginBlock first ends the reasoning items that were open to late signatures.
func (s *encoder) BeginBlock(b *sentBlock) {
	s.FinishClosed()
	switch p := b.Part.(type) { // other kinds never begin
	case *content.Text:
		if s.compacting {
			s.addSummary(p.Text)
			break
		}
		s.beginPart(b, s.message, p)
		if p.Text != "" {
			s.WriteText(b, p.Text, nil)
		}
		for i := range p.Citations {
			s.cite(b, &p.Citations[i])
		}
	case *content.Thinking:
		if p.Redacted.Format == Format && jsonwire.ValidObject(p.Redacted.Data) {
			s.addItem(b, p.Redacted.Data)
			break
		}
		s.beginReasoning(b)
		if p.Text != "" {
			s.WriteText(b, p.Text, nil)
		}
	case *content.ToolUse: // a copy
		s.beginCall(b, p)
	case *content.Image:
		s.addItem(b, s.imageItem(p))
	case *content.Unknown:
		s.addItem(b, p.Raw)
	case *content.ServerToolUse, *content.ServerToolResult:
		s.addHosted(b)
	}
}

// openHosted opens a call of a server's tool, or its result. Those of this format follow as a whole
// item. One item holds those of other formats, which is written with the result.
func (s *encoder) openHosted(b *sentBlock, of content.Format, x *content.Extra) response.When {
	h := foreign.HostedIn(b.Part, b.Arguments(), Format)
	switch {
	case h != nil && !s.settings.openResponses && (h.Call && len(s.running) < maxRunning || s.running[h.ID] != nil):
		s.losePartMembers(b, x)
		return response.AtEnd
	case of != Format:
		s.Lose(b, lossSentTool)
	}
	return response.Never
}

// addHosted keeps a call of another vendor's tool, or adds the item that holds it and its result.
func (s *encoder) addHosted(b *sentBlock) {
	h := foreign.HostedIn(b.Part, b.Arguments(), Format)
	if h.Call {
		if s.running == nil {
			s.running = make(map[string]*foreign.Hosted)
		}
		s.running[h.ID] = h
		return
	}
	call := s.running[h.ID]
	delete(s.running, h.ID)
	if h.Files {
		s.Lose(b, foreign.FilesOfCode)
	}
	s.addItem(b, s.hostedItem(call, h))
}

// addSearches adds the searches in members of a response, which come at its end. In a whole response they
// are before the other items, as the vendor has them. The first one has all sources: see
// [foreign.Search].
func (s *encoder) addSearches() {
	n := len(s.items)
	for i, q := range s.search.Queries {
		result := foreign.Hosted{}
		if i == 0 {
			result.Found = s.search.Found
		}
		s.addItem(new(sentBlock), s.hostedItem(&foreign.Hosted{Search: true, Input: q}, &result))
	}
	for _, f := range s.search.Found {
		s.sources.Cite(&content.Citation{URL: f.URL})
	}
	if s.whole {
		s.items = slices.Concat(s.items[n:], s.items[:n])
	}
}

// hostedItem returns the item of a call and its result.
func (s *encoder) hostedItem(call, result *foreign.Hosted) string {
	prefix, kind := "ci_", "code_interpreter_call"
	if call.Search {
		prefix, kind = "ws_", "web_search_call"
	}
	var w jsonwire.Writer
	w.BeginObject()
	w.Member("id", s.nextID(prefix))
	w.Member("type", kind)
	status := "completed"
	if result.Failed {
		status = "failed"
	}
	w.Member("status", status)
	if call.Search {
		w.Object("action")
		w.Member("type", "search")
		w.Member("query", call.Input)
		w.Array("sources")
		for _, f := range result.Found {
			w.BeginObject()
			w.Member("type", "url")
			w.Member("url", f.URL)
			w.EndObject()
		}
		w.EndArray()
		w.EndObject()
	} else {
		w.Member("code", call.Input)
		w.Member("container_id", "")
		w.Array("outputs")
		if result.Output != "" {
			w.BeginObject()
			w.Member("type", "logs")
			w.Member("logs", result.Output)
			w.EndObject()
		}
		w.EndArray()
	}
	w.EndObject()
	return w.Text()
}

// nextID returns the id of the item that begins next.
func (s *encoder) nextID(prefix string) string {
	return prefix + strings.TrimPrefix(s.id, responsePrefix) + "_" + string(jsonwire.AppendInt(nil, int64(s.next)))
}

// newItem begins an item. It ends the message that waits for more texts.
func (s *encoder) newItem(b *sentBlock, k itemType) *item {
	s.endMessage("completed")
	it := &item{index: s.next, kind: k, block: b.Index}
	it.id = s.nextID(idPrefixes[k])
	s.begin(it)
	b.State.item = it
	return it
}

// begin counts and keeps an item that begins.
func (s *encoder) begin(it *item) {
	s.next++
	if !s.dropped {
		s.items = append(s.items, it)
	}
	s.keep(itemCost)
}

// beginPart begins a part of a message: of a new one if it is nil.
func (s *encoder) beginPart(b *sentBlock, it *item, t *content.Text) {
	if it == nil {
		it = s.newItem(b, messageItem)
		s.itemAdded(it)
	}
	s.message, b.State.item = nil, it
	it.isRefusal = t.Refusal
	s.refused = s.refused || t.Refusal
	s.partAdded(it)
	it.count++
}

// beginReasoning begins a reasoning item.
func (s *encoder) beginReasoning(b *sentBlock) {
	it := s.newItem(b, reasoningItem)
	s.itemAdded(it)
}

// beginCall begins the item of a tool call.
func (s *encoder) beginCall(b *sentBlock, t *content.ToolUse) {
	k := functionItem
	switch {
	case t.Freeform:
		k = customItem
	case s.searches && t.Name == ToolSearch && t.Namespace == "":
		k = searchItem
	}
	it := s.newItem(b, k)
	s.nameCall(b, t)
	it.callID, it.name, it.namespace = t.ID, t.Name, t.Namespace
	if t.Extra != nil {
		it.extra = s.callMembers(b, t.Extra)
	}
	s.itemAdded(it)
}

// callMembers returns the members of a call without a field, each after a comma.
func (s *encoder) callMembers(b *sentBlock, x *content.Extra) string {
	var list response.Members
	if list.Add(x, Format) {
		s.losePartMembers(b, x)
		return ""
	}
	var dst []byte
	for _, m := range list {
		switch m.Name {
		case "type", "id", "call_id", "name", "arguments", "input", "status":
			continue
		case "namespace":
			if b.State.item.namespace != "" {
				continue
			}
		}
		dst = codec.AppendNext(dst, m.Name, m.JSON)
	}
	return string(dst)
}

// imageItem returns the item of an image, as the vendor's tool for images makes it.
func (s *encoder) imageItem(p *content.Image) string {
	src := p.Source.(*content.Base64)
	id := ""
	if p.Signature.Format == Format {
		id = gjson.Get(p.Signature.Data, "id").Str
	}
	if id == "" {
		id = s.nextID("ig_")
	}
	var w jsonwire.Writer
	w.BeginObject()
	w.Member("id", id)
	w.Member("type", "image_generation_call")
	w.Member("status", "completed")
	if _, kind, ok := strings.Cut(src.MediaType, "/"); ok {
		w.Member("output_format", kind)
	}
	w.Member("result", src.Data)
	w.EndObject()
	return w.Text()
}

// addItem adds an item that is complete. It gets an id if it has none, and a status if Open
// Responses demands one.
func (s *encoder) addItem(b *sentBlock, json string) {
	it := s.newItem(b, otherItem)
	it.json = append(it.json, '{')
	if gjson.Get(json, "id").Str == "" {
		it.json = append(jsonwire.AppendString(append(it.json, `"id":`...), it.id), ',')
	}
	if s.settings.openResponses && gjson.Get(json, "status").Str == "" {
		it.json = append(it.json, `"status":"completed",`...)
	}
	rest := jsonwire.AppendCompact(nil, json)[1:]
	if rest[0] == '}' && len(it.json) > 1 {
		it.json = it.json[:len(it.json)-1] // the comma
	}
	it.json = append(it.json, rest...)
	s.keep(len(it.json))
	s.itemAdded(it)
	s.itemDone(it)
}

// WriteText continues an item. e is nil at the end of arguments.
func (s *encoder) WriteText(b *sentBlock, text string, e *upstream.Event) {
	if e != nil && e.Extra != nil {
		s.losePartMembers(b, s.TakeLogprobs(0, e.Extra))
	}
	switch {
	case text == "":
		return
	case s.compacting:
		s.addSummary(text)
		return
	}
	// Each invalid byte becomes U+FFFD, so that deltas add up to the whole text. After a text that
	// ends in ASCII, they do so without this.
	if text[len(text)-1] >= utf8.RuneSelf && !utf8.ValidString(text) {
		text = string([]rune(text))
	}
	it := b.State.item
	if it.text.Len() > 0 && it.text.Len()+len(text) > s.maxKept && !s.whole {
		it = s.split(b)
	}
	it.text.Add(text)
	s.keep(len(text))
	if it.kind != messageItem || it.isRefusal || len(s.logprobs) == 0 {
		s.writeDelta(it, text, nil)
		return
	}
	list := s.logprobs
	s.logprobs = nil
	s.writeDelta(it, text, list)
	if len(it.logprobs) > 0 {
		it.logprobs = append(it.logprobs, ',')
	}
	it.logprobs = append(it.logprobs, list...)
}

// split continues a text or thinking in a new item, because the text of an item is limited.
func (s *encoder) split(b *sentBlock) *item {
	it := b.State.item
	switch it.kind {
	case messageItem:
		t := &content.Text{Refusal: it.isRefusal}
		s.endPart(it)
		s.endItem(it, "completed")
		s.beginPart(b, nil, t)
	case reasoningItem:
		s.endReasoning(it, "")
		s.beginReasoning(b)
	}
	return b.State.item
}

// keep counts n more bytes of kept items. If a stream has too many, it drops the complete ones.
func (s *encoder) keep(n int) {
	if s.kept += n; s.kept > s.maxKept && !s.whole && !s.dropped {
		s.drop()
	}
}

// drop drops the complete items and keeps none from now on.
func (s *encoder) drop() {
	s.dropped, s.items = true, nil
	s.LoseAt("parts", lossKeptOutput)
}

// Kept implements [handler.KeepingEncoder].
func (s *encoder) Kept() int64 { return int64(min(s.kept, s.maxKept)) }

// Cite adds a citation to a text.
func (s *encoder) Cite(b *sentBlock, e *upstream.Event) {
	if b.Kind != response.Text || s.compacting {
		return
	}
	if e.Extra != nil {
		s.losePartMembers(b, e.Extra)
	}
	if !b.Begun { // it is written with the start of the text
		t := *b.Part.(*content.Text)
		t.Citations = append(slices.Clip(t.Citations), *e.Citation)
		b.Part = &t
		return
	}
	s.cite(b, e.Citation)
}

// cite adds a citation to the open part of a message. One without a place in the text is about
// the whole text, so it is written at the end.
func (s *encoder) cite(b *sentBlock, c *content.Citation) {
	it, report := b.State.item, s.LossesOf(b)
	own := c.Extra != nil && c.Extra.Format == Format && jsonwire.ValidObject(c.Extra.JSON)
	isLink := c.Kind == content.CiteWeb || c.Kind == content.CiteSearchResult && openaiformat.IsWebURL(c.URL)
	size := len(it.annotations) + itemCost*len(it.later) // the text of an item is limited elsewhere
	if it.isRefusal || !own && (!isLink || c.URL == "") || size > s.maxKept && !s.whole {
		report(lossSentCitation)
		return
	}
	s.sources.Cite(c)
	if own && gjson.Get(c.Extra.JSON, "type").Exists() {
		s.annotate(it, jsonwire.AppendCompact(nil, c.Extra.JSON))
		return
	}
	if c.Text != "" {
		report(lossCitedText)
	}
	if c.Extra != nil {
		s.losePartMembers(b, c.Extra)
	}
	if c.Kind == content.CiteSearchResult || c.Start == 0 && c.End == 0 {
		later := *c
		later.Start, later.End = 0, 0
		it.later = append(it.later, later)
		s.keep(len(c.URL) + len(c.Title) + itemCost)
		return
	}
	s.annotate(it, urlCitation(c, c.Start, c.End))
}

// urlCitation returns an annotation for a link.
func urlCitation(c *content.Citation, start, end int64) []byte {
	dst := jsonwire.AppendInt([]byte(`{"type":"url_citation","start_index":`), start)
	dst = jsonwire.AppendInt(append(dst, `,"end_index":`...), end)
	dst = jsonwire.AppendString(append(dst, `,"url":`...), c.URL)
	return append(jsonwire.AppendString(append(dst, `,"title":`...), c.Title), '}')
}

// annotate adds an annotation to the open part of a message.
func (s *encoder) annotate(it *item, json []byte) {
	s.annotationAdded(it, json)
	if it.cited++; it.cited > 1 {
		it.annotations = append(it.annotations, ',')
	}
	it.annotations = append(it.annotations, json...)
	s.keep(len(json))
}

// CloseBlock keeps thinking open until the next block begins, because its signature may come
// late, and a free-form call at the end of the response, which may have been cut.
func (s *encoder) CloseBlock(b *sentBlock) (later bool) {
	if t, ok := b.Part.(*content.ToolUse); ok && t.Freeform {
		return b.Number == s.newestOpen && b.IsWaiting()
	}
	return b.Begun && b.Kind == response.Thinking
}

// EndBlock ends the part or the item of a block.
func (s *encoder) EndBlock(b *sentBlock, rest string) {
	if !b.Begun { // a text without text
		if t := b.Part.(*content.Text); len(t.Citations) > 0 {
			s.Lose(b, lossSentCitation)
		}
		return
	}
	if rest != "" {
		s.WriteText(b, rest, nil)
	}
	if s.compacting {
		return
	}
	it := b.State.item
	if it == nil {
		return // a call whose result follows
	}
	switch it.kind { // others are complete
	case messageItem:
		s.endPart(it)
		if it.index == s.next-1 && len(it.parts) < s.maxKept {
			s.message = it
		} else {
			s.endItem(it, "completed")
		}
	case reasoningItem:
		t := content.Thinking{}
		if s.returnsItems {
			t.Signature = b.State.signature
			if p, ok := b.Part.(*content.Thinking); ok {
				t.Redacted = p.Redacted
			}
		}
		s.endReasoning(it, encodeReasoning(&t, s.LossesOf(b)))
	case functionItem, customItem, searchItem:
		s.endCall(b, it)
	}
}

// endPart ends the open part of a message.
func (s *encoder) endPart(it *item) {
	for i := range it.later {
		s.annotate(it, urlCitation(&it.later[i], 0, int64(utf8.RuneCountInString(it.text.String()))))
	}
	s.textDone(it)
	from := len(it.parts)
	if it.count > 1 {
		it.parts = append(it.parts, ',')
		from++
	}
	it.parts = appendPart(it.parts, it, it.text.String())
	s.partDone(it, it.parts[from:])
	s.keep(-it.text.Len() - len(it.annotations) - len(it.logprobs) + len(it.parts) - from)
	it.text, it.annotations, it.cited, it.later, it.logprobs = codec.Builder{}, nil, 0, nil, nil
}

// endMessage ends the message that waits for more texts, if there is one.
func (s *encoder) endMessage(status string) {
	if it := s.message; it != nil {
		s.message = nil
		s.endItem(it, status)
	}
}

// endReasoning ends a reasoning item.
func (s *encoder) endReasoning(it *item, state string) {
	if it.text.Len() > 0 {
		s.summaryDone(it)
	}
	s.inItems = s.inItems || state != ""
	if state == "" && s.returnsItems {
		state = envelope.Unsigned // clients drop items without one
	}
	it.extra = state
	s.keep(len(state))
	s.endItem(it, "completed")
}

// endCall ends the item of a tool call.
func (s *encoder) endCall(b *sentBlock, it *item) {
	switch {
	case it.kind == customItem:
		s.WriteText(b, b.Arguments(), nil)
	case it.text.Len() == 0:
		s.WriteText(b, "{}", nil)
	}
	s.argumentsDone(it)
	status := "completed"
	if b.State.broken {
		status = "incomplete"
	}
	s.endItem(it, status)
}

// endItem completes an item.
func (s *encoder) endItem(it *item, status string) {
	it.json = appendItem(nil, it, status, true)
	s.keep(len(it.json) - it.text.Len() - len(it.parts))
	it.text, it.parts, it.delta = codec.Builder{}, nil, nil
	s.itemDone(it)
}

func (s *encoder) Forget(*sentBlock) {}

// keepState keeps the state of the thinking of a block, which no call carries, for the stored item.
func (s *encoder) keepState(block int, t *content.Thinking) bool {
	if s.session == nil || !s.settings.store {
		return false
	}
	for _, it := range slices.Backward(s.items) {
		if it.kind == reasoningItem && it.block == block && it.json != nil {
			it.state = encodeReasoning(t, func(r *loss.Rule) { s.LoseAt(s.Path(0, block), r) })
			s.keep(len(it.state))
			return it.state != ""
		}
	}
	return false
}

// finish completes all items at the end of the response.
func (s *encoder) finish() {
	s.FinishQueued(0)
	s.FinishLastCall(0, s.Candidates[0].Stop.Reason)
	s.FinishClosed()
	s.DropUnsigned(0, s.hideThinking)
	s.DropPending(0, s.hideThinking, s.keepState)
	if len(s.logprobs) > 0 {
		s.LoseAt("logprobs", foreign.LogprobsLoss)
	}
	if len(s.running) > 0 {
		s.LoseAt("parts", lossSentTool)
	}
	last := "completed"
	if s.message != nil && s.message.index == s.next-1 {
		if status, _ := s.status(); status == "incomplete" {
			last = status
		}
	}
	s.endMessage(last)
	s.addSearches()
}

// AddLogprobs implements [response.LogprobFormat]. Log probabilities are with their text: in each delta,
// and in the complete part.
func (s *encoder) AddLogprobs(_ int, list []foreign.Logprob) {
	before := len(s.logprobs)
	s.logprobs = openaiformat.AppendLogprobs(s.logprobs, list)
	s.keep(len(s.logprobs) - before)
}

// losePartMembers reports the members of a part, or of an event about it: they are dropped.
func (s *encoder) losePartMembers(b *sentBlock, x *content.Extra) {
	switch {
	case x == nil:
	case x.Format == Format:
		s.Lose(b, lossSentMembers)
	default:
		foreign.ResponseMembersOfPart(x, s.LossesOf(b))
	}
}

// isReasoningItem reports whether the state of a server of this format is a reasoning item.
func isReasoningItem(json string) bool { return gjson.Get(json, "type").Str == "reasoning" }
