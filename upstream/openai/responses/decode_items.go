package responses

import (
	"cmp"
	"strconv"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/openaiformat"
	"github.com/polywire/polywire/upstream"
)

// itemAdded decodes the beginning of an item.
func (d *responseDecoder) itemAdded(v jsonwire.Value) error {
	item, output := v.Get("item"), decodeIndex(v.Get("output_index"))
	k := decodedKindOf(item)
	if k == decodedOther || d.sameItem(output, k, item, true) != nil {
		return nil // added when it is complete, or a duplicate
	}
	if err := checkDecodedItem(k, item); err != nil {
		return codec.BadGateway(err)
	}
	it, err := d.beginItem(output, k)
	if err != nil {
		return err
	}
	d.startItem(it, item)
	d.reportReplaced()
	return nil
}

// startItem reads what the beginning of an item contains.
func (d *responseDecoder) startItem(it *decodedItem, item jsonwire.Value) {
	it.id = digestOf(item.Get("id").Str())
	switch it.kind {
	case decodedReasoning:
		it.awaitsState = item.Get("encrypted_content").Str() != ""
	case decodedCall:
		it.pending = inputOf(item)
		it.call = digestOf(openaiformat.Scalar(item.Get("call_id")))
		d.openCall(it, item, "")
	}
}

// inputOf returns the arguments of a call, or the input of a free-form tool.
func inputOf(item jsonwire.Value) string {
	if item.Get("type").Is(typeCustomCall) {
		return openaiformat.Text(item.Get("input"))
	}
	return openaiformat.Text(item.Get("arguments"))
}

// decodedCallMembers are the members of a tool call that are returned to the server
// unchanged. The namespace is among them for clients without namespaces: the server also adds one
// to calls of tools that it has found for the model.
var decodedCallMembers = [...]string{"namespace", "async", "caller"}

// openCall opens the block of a tool call if its name is known.
func (d *responseDecoder) openCall(it *decodedItem, item jsonwire.Value, input string) {
	name := openaiformat.Scalar(item.Get("name"))
	if name == "" {
		return
	}
	p := &content.ToolUse{ID: openaiformat.Scalar(item.Get("call_id")), Name: name, Namespace: item.Get("namespace").Str()}
	if p.Freeform = item.Get("type").Is(typeCustomCall); p.Freeform {
		p.Text = input
	} else {
		p.Input = input
	}
	p.ID = cmp.Or(p.ID, item.Get("id").Str())
	if p.ID == "" {
		p.ID = d.newID()
	}
	p.ID, it.sentID = d.uniqueID(p.ID)
	var w jsonwire.Writer
	for _, m := range decodedCallMembers {
		if x := item.Get(m); codec.IsSet(x) {
			if w.Len() == 0 {
				w.BeginObject()
			}
			w.RawMember(m, x.Raw())
		}
	}
	if w.Len() > 0 {
		w.EndObject()
		p.Extra = &content.Extra{Format: Format, JSON: w.Text()}
	}
	it.block = d.openPart(p)
	d.hasCall, d.hasContent = true, true
}

// uniqueID returns id, or another id if a previous tool call has it, and its digest.
func (d *responseDecoder) uniqueID(id string) (string, uint64) {
	n, taken := d.countCalls(id)
	if taken {
		id += "_" + strconv.Itoa(n+1)
		if _, taken = d.countCalls(id); taken {
			id = d.newID()
		}
	}
	return id, digestOf(id)
}

// countCalls returns the number of blocks of tool calls, and whether one has an id.
func (d *responseDecoder) countCalls(id string) (n int, taken bool) {
	sum := digestOf(id)
	for i := range d.items {
		if sentID := d.items[i].sentID; sentID != 0 {
			n++
			taken = taken || sentID == sum
		}
	}
	return n, taken
}

// sameItem returns the known item that an event repeats or completes, or nil. isStart
// reports that the event begins an item.
func (d *responseDecoder) sameItem(output int64, k decodedKind, item jsonwire.Value, isStart bool) *decodedItem {
	id, call := digestOf(item.Get("id").Str()), uint64(0)
	if k == decodedCall {
		call = digestOf(openaiformat.Scalar(item.Get("call_id")))
	}
	var open *decodedItem
	for i := len(d.items) - 1; i >= 0; i-- {
		it := &d.items[i]
		switch {
		case it.kind != k:
		case call != 0 && it.call != 0:
			switch {
			case call != it.call:
			case it.isRepeatedBy(output, id):
				return it
			case !it.done && !isStart && open == nil:
				open = it // the index is not reliable
			}
		case id != 0 && it.id == id:
			return it
		case id == 0 && it.id == 0 && output >= 0 && it.index == output:
			return it
		}
	}
	return open
}

// isRepeatedBy reports whether an item with the same call_id is a duplicate. Some
// servers give all calls the same call_id, but hardly also the same index and item id.
func (it *decodedItem) isRepeatedBy(output int64, id uint64) bool {
	if it.index >= 0 && output >= 0 && it.index != output {
		return false
	}
	return !it.done || id == 0 || it.id == 0 || it.id == id
}

// itemDone decodes a complete item.
func (d *responseDecoder) itemDone(v jsonwire.Value) error {
	item, output := v.Get("item"), decodeIndex(v.Get("output_index"))
	k := decodedKindOf(item)
	it := d.sameItem(output, k, item, false)
	if it == nil {
		// Some servers send an item with another id each time.
		if open := d.findOpen(output, k); open != nil && !(k == decodedCall && open.call != 0 && openaiformat.Scalar(item.Get("call_id")) != "") {
			it = open
		}
	}
	if it != nil && it.done {
		return nil
	}
	return d.completeItem(it, output, item)
}

// completeItem adds the rest of an item. it is nil if the item is new.
func (d *responseDecoder) completeItem(it *decodedItem, output int64, item jsonwire.Value) error {
	k := decodedKindOf(item)
	if err := checkDecodedItem(k, item); err != nil {
		return codec.BadGateway(err)
	}
	isNew := it == nil
	if isNew {
		var err error
		if it, err = d.beginItem(output, k); err != nil {
			return err
		}
		it.id = digestOf(item.Get("id").Str())
	}
	switch k {
	case decodedMessage:
		d.completeMessage(it, item)
	case decodedReasoning:
		d.completeReasoning(it, item)
	case decodedCall:
		d.completeCall(it, item)
	default:
		d.completeOther(item)
	}
	d.endItem(it)
	d.reportReplaced()
	return nil
}

// checkDecodedItem returns an error if item is not an object, or has a member of the wrong
// type.
func checkDecodedItem(k decodedKind, item jsonwire.Value) error {
	if err := cmp.Or(
		codec.Expect("openai: an item", item, codec.Objects),
		codec.Expect("openai: the type of an item", item.Get("type"), codec.Texts|codec.Optional),
	); err != nil {
		return err
	}
	switch k {
	case decodedMessage:
		list := item.Get("content")
		if err := cmp.Or(
			codec.Expect("openai: role", item.Get("role"), codec.Texts|codec.Optional),
			codec.Expect("openai: content", list, openaiformat.TextKinds|codec.Optional),
		); err != nil {
			return err
		}
		for _, x := range list.Elems() {
			if err := cmp.Or(
				codec.Expect("openai: a part of content", x, codec.Objects),
				codec.Expect("openai: the text of a part", x.Get("text"), openaiformat.TextKinds|codec.Optional),
				codec.Expect("openai: the refusal of a part", x.Get("refusal"), openaiformat.TextKinds|codec.Optional),
			); err != nil {
				return err
			}
		}
	case decodedReasoning:
		for _, name := range [...]string{"summary", "content"} {
			for _, x := range item.Get(name).Elems() {
				if err := codec.Expect("openai: the text of a thinking part", x.Get("text"), openaiformat.TextKinds|codec.Optional); err != nil {
					return err
				}
			}
			if err := codec.Expect("openai: the content or summary of an item", item.Get(name), codec.Lists|codec.Optional); err != nil {
				return err
			}
		}
	case decodedCall:
		return codec.Expect("openai: the name of a tool call", item.Get("name"), codec.Texts|codec.Numbers|codec.Optional)
	}
	return nil
}

// completeMessage adds the rest of a message.
func (d *responseDecoder) completeMessage(it *decodedItem, item jsonwire.Value) {
	for _, phase := range [...]string{commentary, finalAnswer} {
		if item.Get("phase").Is(phase) {
			it.phase = phase
		}
	}
	list := item.Get("content")
	if list.Kind() != jsonwire.Array && codec.IsSet(list) {
		d.reconcile(it, 0, d.textOf(list))
		return
	}
	for i, x := range list.Elems() {
		part := int64(i)
		switch t := x.Get("type"); {
		case t.Is("refusal"):
			d.refused, it.isRefusal = true, true
			d.reconcile(it, part, d.textOf(x.Get("refusal")))
		case t.Is("output_text"), t.Is("text"), !t.Exists():
			it.isRefusal = false
			before := len(d.events)
			d.reconcile(it, part, d.textOf(x.Get("text")))
			if n := len(d.events); x.Get("logprobs").Len() > 0 && !it.hasLogprobs && n > before && d.events[n-1].Kind == upstream.EventText {
				d.events[n-1].Extra = logprobsExtra(x.Get("logprobs"))
			}
			d.addCitations(it, part, x.Get("annotations"))
		}
	}
}

// addCitations adds the new citations of a part.
func (d *responseDecoder) addCitations(it *decodedItem, part int64, list jsonwire.Value) {
	if part < it.part {
		return
	}
	for i, x := range list.Elems() {
		if i >= it.citations {
			d.addCitation(it, x)
		}
	}
	it.citations = max(it.citations, list.Len())
}

// addCitation adds a citation.
func (d *responseDecoder) addCitation(it *decodedItem, v jsonwire.Value) {
	if it.block < 0 {
		d.addLoss(openaiformat.LossCitation, d.blockPath(-1))
		return
	}
	c := &content.Citation{Title: v.Get("title").Str(), URL: v.Get("url").Str(), FileID: v.Get("file_id").Str()}
	switch kind := v.Get("type"); {
	case kind.Is("url_citation"):
		c.Kind = content.CiteWeb
		c.Start, c.End = openaiformat.CitedRange(v)
	default:
		c.Title = cmp.Or(c.Title, v.Get("filename").Str())
		c.Extra = &content.Extra{Format: Format, JSON: v.Raw()}
		if v.Kind() != jsonwire.Object {
			c.Extra = nil
		}
	}
	d.add(upstream.Event{Kind: upstream.EventCitation, Block: it.block, Citation: c})
}

// completeReasoning adds the rest of the thinking and the state that identifies it to
// the server.
func (d *responseDecoder) completeReasoning(it *decodedItem, item jsonwire.Value) {
	list, member := item.Get("summary"), "summary_text"
	if it.hasText && it.isRaw || !it.hasText && !hasDecodedText(list) {
		list, member = item.Get("content"), "reasoning_text"
	}
	for i, x := range list.Elems() {
		if x.Get("type").Is(member) || !x.Get("type").Exists() {
			d.reconcile(it, int64(i), d.textOf(x.Get("text")))
		}
	}
	data, fits := carriedItem(item)
	switch {
	case !fits:
		d.addLoss(openaiformat.LossThinkingState, d.blockPath(it.block))
	case data == "":
	case it.block >= 0:
		d.add(upstream.Event{Kind: upstream.EventSignature, Block: it.block,
			Signature: &content.Signature{Format: Format, Data: data}})
	default:
		d.addCarried(data)
	}
}

// addCarried adds an item that only the server can read.
func (d *responseDecoder) addCarried(data string) {
	d.addPart(&content.Thinking{Redacted: content.Signature{Format: Format, Data: data}})
}

// hasDecodedText reports whether a list of texts contains text.
func hasDecodedText(list jsonwire.Value) bool {
	for _, x := range list.Elems() {
		if openaiformat.Text(x.Get("text")) != "" {
			return true
		}
	}
	return false
}

// completeCall adds the rest of a tool call.
func (d *responseDecoder) completeCall(it *decodedItem, item jsonwire.Value) {
	args := inputOf(item)
	if it.call == 0 {
		it.call = digestOf(openaiformat.Scalar(item.Get("call_id")))
	}
	it.pending = ""
	if it.block >= 0 {
		d.completeInput(it, args)
		return
	}
	if d.openCall(it, item, args); it.block < 0 {
		d.namelessCall = true
		d.addLoss(openaiformat.LossNamelessCall, d.blockPath(-1))
	}
}

// completeInput adds the rest of the arguments after their deltas.
func (d *responseDecoder) completeInput(it *decodedItem, full string) {
	switch {
	case len(full) > it.size && appendDigest(digestSeed, full[:it.size]) == it.sum:
		d.add(upstream.Event{Kind: upstream.EventInput, Block: it.block, Text: full[it.size:]})
		it.sum, it.size = appendDigest(digestSeed, full), len(full)
	case full != "" && (len(full) != it.size || appendDigest(digestSeed, full) != it.sum):
		d.addLoss(lossDecodedText, d.blockPath(it.block))
	}
}

// carriedItem returns an item in the form in which the server accepts it back, or "" if
// it does not. fits is false if the item is too large to be carried.
func carriedItem(item jsonwire.Value) (data string, fits bool) {
	if !item.Get("type").Is("reasoning") {
		return item.Raw(), len(item.Raw()) <= envelope.MaxSize
	}
	id, secret := item.Get("id"), item.Get("encrypted_content")
	if id.Str() == "" || secret.Str() == "" {
		return "", true // the server could not identify it
	}
	data = acceptedReasoning(item)
	return data, len(data) <= envelope.MaxSize
}

// completeOther adds the item of a built-in tool, or of an unknown kind.
func (d *responseDecoder) completeOther(item jsonwire.Value) {
	if item.Kind() != jsonwire.Object {
		return
	}
	kind := item.Get("type").Str()
	d.clientItem = d.clientItem || isClientItem(kind)
	switch kind {
	case "image_generation_call":
		d.addImage(item)
		return
	case "web_search_call":
		d.addToolUse(item, kind, "web_search", item.Get("action").Raw())
		if item.Get("status").Is("failed") {
			d.addToolResult(item, kind, `{"status":"failed"}`)
		}
	case "file_search_call":
		d.addToolUse(item, kind, "file_search", objectWith("queries", item.Get("queries")))
		d.addToolResult(item, kind, item.Get("results").Raw())
	case "code_interpreter_call":
		input := item.Get("arguments").Str() // of xAI
		if input == "" {
			input = objectWith("code", item.Get("code"))
		}
		d.addToolUse(item, kind, "code_interpreter", input)
		switch status := item.Get("status"); status.Str() {
		case "failed", "incomplete":
			d.addToolResult(item, kind, `{"status":`+status.Raw()+`,"outputs":`+cmp.Or(item.Get("outputs").Raw(), "null")+`}`)
		default:
			d.addToolResult(item, kind, item.Get("outputs").Raw())
		}
	case "mcp_call":
		d.addToolUse(item, kind, openaiformat.Scalar(item.Get("name")), item.Get("arguments").Str())
		d.addToolResult(item, kind, item.Get("output").Raw())
	case "compaction":
	default:
		d.addPart(&content.Unknown{Format: Format, Kind: kind, Raw: item.Raw()})
	}
	if _, isCarried := itemTools[kind]; !isCarried {
		d.addLoss(lossDecodedItem, d.blockPath(-1))
		return
	}
	if data, fits := carriedItem(item); fits {
		d.addCarried(data)
	} else {
		d.addLoss(openaiformat.LossThinkingState, d.blockPath(-1))
	}
}

// addToolUse adds the call of a built-in tool.
func (d *responseDecoder) addToolUse(item jsonwire.Value, kind, name, input string) {
	if !jsonwire.ValidObject(input) {
		input = ""
	}
	d.addPart(&content.ServerToolUse{Format: Format, Kind: kind, ID: item.Get("id").Str(), Name: name, Input: input})
}

// addToolResult adds the result of a built-in tool, which is JSON text, if there is one.
func (d *responseDecoder) addToolResult(item jsonwire.Value, kind, result string) {
	if result != "" && result != "null" {
		d.addPart(&content.ServerToolResult{Format: Format, Kind: kind, ID: item.Get("id").Str(), Content: result})
	}
}

// objectWith returns an object with one member, or {} if v is missing or null.
func objectWith(name string, v jsonwire.Value) string {
	if !codec.IsSet(v) {
		return "{}"
	}
	return `{"` + name + `":` + v.Raw() + `}`
}

// addImage adds a generated image.
func (d *responseDecoder) addImage(item jsonwire.Value) {
	data := item.Get("result").Str()
	if jsonwire.CheckBase64(data) != 0 {
		d.addLoss(lossDecodedImage, d.blockPath(-1))
		return
	}
	kind := "image/png"
	switch f := item.Get("output_format").Str(); f {
	case "jpeg", "webp", "png":
		kind = "image/" + f
	}
	d.hasContent = true
	p := &content.Image{Source: &content.Base64{MediaType: kind, Data: data}}
	if id := item.Get("id"); id.Str() != "" {
		p.Signature = content.Signature{Format: Format, Data: `{"type":"image_generation_call","id":` + id.Raw() + `}`}
	}
	d.addPart(p)
}
