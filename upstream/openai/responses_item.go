package openai

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/upstream"
)

// added reads the beginning of an item.
func (d *resDecoder) added(v jsonwire.Value) error {
	item, output := v.Get("item"), resIndex(v.Get("output_index"))
	k := resKindOf(item)
	if k == resOther || d.same(output, k, item, true) != nil {
		return nil // it is told when it is whole, or was told before
	}
	if err := resCheckItem(k, item); err != nil {
		return codec.BadGateway(err)
	}
	it, err := d.begin(output, k)
	if err != nil {
		return err
	}
	d.meet(it, item)
	d.replaced()
	return nil
}

// meet takes what is known of an item from its beginning.
func (d *resDecoder) meet(it *resItem, item jsonwire.Value) {
	it.id = resDigestOf(item.Get("id").Str())
	switch it.kind {
	case resMessage:
		it.sig = phaseSignature(item)
	case resReasoning:
		it.whole = item.Get("encrypted_content").Str() != ""
	case resCall:
		it.held = resArguments(item.Get("arguments"))
		it.call = resDigestOf(item.Get("call_id").Str())
		d.openCall(it, item, "")
	}
}

// callExtras are the members of a call that go back to the vendor as they came.
var callExtras = [...]string{"namespace", "async", "caller"}

// openCall opens the block of a call, if its name is known.
func (d *resDecoder) openCall(it *resItem, item jsonwire.Value, input string) {
	name := item.Get("name").Str()
	if name == "" {
		return
	}
	p := &content.ToolUse{ID: item.Get("call_id").Str(), Name: name, Input: input}
	if p.ID == "" {
		p.ID = item.Get("id").Str()
	}
	if p.ID == "" {
		p.ID = d.newID()
	}
	p.ID, it.given = d.unique(p.ID)
	var w jsonwire.Writer
	for _, m := range callExtras {
		if x := item.Get(m); x.Kind() > jsonwire.Null {
			if w.Len() == 0 {
				w.BeginObject()
			}
			w.Name(m)
			w.Raw(x.Raw())
		}
	}
	if w.Len() > 0 {
		w.EndObject()
		p.Extra = &content.Extra{Format: ResponsesFormat, JSON: w.Text()}
	}
	it.block = d.opened(p)
	d.called, d.visible = true, true
}

// unique returns the id of a call, or another one if a call before it has it,
// and its digest.
func (d *resDecoder) unique(id string) (string, uint64) {
	n, taken := d.calls(id)
	if taken {
		id += "_" + strconv.Itoa(n+1)
		if _, taken = d.calls(id); taken {
			id = d.newID()
		}
	}
	return id, resDigestOf(id)
}

// calls returns how many calls have been told, and whether one has an id.
func (d *resDecoder) calls(id string) (n int, taken bool) {
	sum := resDigestOf(id)
	for i := range d.items {
		if given := d.items[i].given; given != 0 {
			n++
			taken = taken || given == sum
		}
	}
	return n, taken
}

// phaseSignature returns the signature of the texts of a message.
func phaseSignature(item jsonwire.Value) content.Signature {
	switch phase := item.Get("phase").Str(); phase {
	case "commentary", "final_answer":
		return content.Signature{Format: ResponsesFormat, Data: `{"phase":"` + phase + `"}`}
	}
	return content.Signature{}
}

// same returns the item that an item of the server's is, however far it is told;
// nil if it is another one.
func (d *resDecoder) same(output int64, k resKind, item jsonwire.Value, begins bool) *resItem {
	id, call := resDigestOf(item.Get("id").Str()), uint64(0)
	if k == resCall {
		call = resDigestOf(item.Get("call_id").Str())
	}
	var open *resItem
	for i := len(d.items) - 1; i >= 0; i-- {
		it := &d.items[i]
		switch {
		case it.kind != k:
		case call != 0 && it.call != 0:
			switch {
			case call != it.call:
			case it.repeats(output, id):
				return it
			case !it.over && !begins && open == nil:
				open = it // indices cannot be relied on
			}
		case id != 0 && it.id == id:
			return it
		case id == 0 && it.id == 0 && output >= 0 && it.output == output:
			return it
		}
	}
	return open
}

// repeats reports whether a call with the same call_id is this one: some servers
// give the same to all, but hardly the same index and id of the item too.
func (it *resItem) repeats(output int64, id uint64) bool {
	if it.output >= 0 && output >= 0 && it.output != output {
		return false
	}
	return !it.over || id == 0 || it.id == 0 || it.id == id
}

// finished reads an item that is whole.
func (d *resDecoder) finished(v jsonwire.Value) error {
	item, output := v.Get("item"), resIndex(v.Get("output_index"))
	k := resKindOf(item)
	it := d.same(output, k, item, false)
	if it == nil {
		// Some servers give an item another id each time.
		if open := d.find(output, k); open != nil && !(k == resCall && open.call != 0 && item.Get("call_id").Str() != "") {
			it = open
		}
	}
	if it != nil && it.over {
		return nil
	}
	return d.whole(it, output, item)
}

// whole tells all of an item that was not told before. it is nil if none was.
func (d *resDecoder) whole(it *resItem, output int64, item jsonwire.Value) error {
	k := resKindOf(item)
	if err := resCheckItem(k, item); err != nil {
		return codec.BadGateway(err)
	}
	fresh := it == nil
	if fresh {
		var err error
		if it, err = d.begin(output, k); err != nil {
			return err
		}
		it.id = resDigestOf(item.Get("id").Str())
	}
	switch k {
	case resMessage:
		d.wholeMessage(it, item)
	case resReasoning:
		d.wholeReasoning(it, item)
	case resCall:
		d.wholeCall(it, item)
	default:
		d.wholeOther(item)
	}
	d.end(it)
	d.replaced()
	return nil
}

// resCheckItem returns an error if an item is not an object, or if what it says
// is of the wrong type.
func resCheckItem(k resKind, item jsonwire.Value) error {
	if err := cmp.Or(
		codec.Expect("openai: an item", item, codec.Objects),
		codec.Expect("openai: the type of an item", item.Get("type"), codec.Texts|codec.Optional),
	); err != nil {
		return err
	}
	switch k {
	case resMessage:
		list := item.Get("content")
		if err := cmp.Or(
			codec.Expect("openai: role", item.Get("role"), codec.Texts|codec.Optional),
			codec.Expect("openai: content", list, codec.Lists|codec.Texts|codec.Optional),
		); err != nil {
			return err
		}
		for _, x := range list.Elems() {
			if err := cmp.Or(
				codec.Expect("openai: a part of content", x, codec.Objects),
				codec.Expect("openai: the text of a part", x.Get("text"), codec.Texts|codec.Optional),
				codec.Expect("openai: the refusal of a part", x.Get("refusal"), codec.Texts|codec.Optional),
			); err != nil {
				return err
			}
		}
	case resReasoning:
		for _, name := range [...]string{"summary", "content"} {
			for _, x := range item.Get(name).Elems() {
				if err := codec.Expect("openai: the text of a thinking part", x.Get("text"), codec.Texts|codec.Optional); err != nil {
					return err
				}
			}
			if err := codec.Expect("openai: the content or summary of an item", item.Get(name), codec.Lists|codec.Optional); err != nil {
				return err
			}
		}
	case resCall:
		return codec.Expect("openai: the name of a call", item.Get("name"), codec.Texts|codec.Optional)
	}
	return nil
}

// wholeMessage tells a message.
func (d *resDecoder) wholeMessage(it *resItem, item jsonwire.Value) {
	if s := phaseSignature(item); s != it.sig {
		it.sig = s
		if it.block >= 0 && !it.signed && s.Data != "" {
			it.signed = true
			d.add(upstream.Event{Kind: upstream.EventSignature, Block: it.block, Signature: &s})
		}
	}
	list := item.Get("content")
	if list.Kind() == jsonwire.String {
		d.reconcile(it, 0, list.Str())
		return
	}
	for i, x := range list.Elems() {
		part := int64(i)
		switch t := x.Get("type"); {
		case t.Is("refusal"):
			d.refused = true
			d.reconcile(it, part, x.Get("refusal").Str())
		case t.Is("output_text"), t.Is("text"), !t.Exists():
			d.reconcile(it, part, x.Get("text").Str())
			d.citations(it, part, x.Get("annotations"))
		}
	}
}

// citations tells those of a part that were not told before.
func (d *resDecoder) citations(it *resItem, part int64, list jsonwire.Value) {
	if part < it.part {
		return
	}
	for i, x := range list.Elems() {
		if i >= it.cites {
			d.cite(it, x)
		}
	}
	it.cites = max(it.cites, list.Len())
}

// cite tells one citation.
func (d *resDecoder) cite(it *resItem, v jsonwire.Value) {
	if it.block < 0 {
		d.lose(lostCitation, d.here(-1))
		return
	}
	c := &content.Citation{Title: v.Get("title").Str(), URL: v.Get("url").Str(), FileID: v.Get("file_id").Str()}
	switch kind := v.Get("type"); {
	case kind.Is("url_citation"):
		c.Kind = content.CiteWeb
	default:
		if c.Title == "" {
			c.Title = v.Get("filename").Str()
		}
		c.Extra = &content.Extra{Format: ResponsesFormat, JSON: v.Raw()}
		if v.Kind() != jsonwire.Object {
			c.Extra = nil
		}
	}
	d.add(upstream.Event{Kind: upstream.EventCitation, Block: it.block, Citation: c})
}

// wholeReasoning tells a thought, and what lets the vendor know it again.
func (d *resDecoder) wholeReasoning(it *resItem, item jsonwire.Value) {
	list, member := item.Get("summary"), "summary_text"
	if it.some && it.raw || !it.some && !resSays(list) {
		list, member = item.Get("content"), "reasoning_text"
	}
	for i, x := range list.Elems() {
		if x.Get("type").Is(member) || !x.Get("type").Exists() {
			d.reconcile(it, int64(i), x.Get("text").Str())
		}
	}
	data, fits := carriedItem(item)
	switch {
	case !fits:
		d.lose(lostDetails, d.here(it.block))
	case data == "":
	case it.block >= 0:
		d.add(upstream.Event{Kind: upstream.EventSignature, Block: it.block,
			Signature: &content.Signature{Format: ResponsesFormat, Data: data}})
	default:
		d.carried(data)
	}
}

// carried tells an item that only the vendor understands.
func (d *resDecoder) carried(data string) {
	d.put(&content.Thinking{Redacted: content.Signature{Format: ResponsesFormat, Data: data}})
}

// resSays reports whether a list of texts says anything.
func resSays(list jsonwire.Value) bool {
	for _, x := range list.Elems() {
		if x.Get("text").Str() != "" {
			return true
		}
	}
	return false
}

// wholeCall tells a call.
func (d *resDecoder) wholeCall(it *resItem, item jsonwire.Value) {
	args := resArguments(item.Get("arguments"))
	if it.call == 0 {
		it.call = resDigestOf(item.Get("call_id").Str())
	}
	it.held = ""
	if it.block >= 0 {
		d.input(it, args)
		return
	}
	if d.openCall(it, item, args); it.block < 0 {
		d.nameless = true
		d.lose(lostNameless, d.here(-1))
	}
}

// input adds what the whole arguments of a call have beyond the pieces.
func (d *resDecoder) input(it *resItem, whole string) {
	switch {
	case len(whole) > it.size && resDigest(resNoDigest, whole[:it.size]) == it.sum:
		d.add(upstream.Event{Kind: upstream.EventInput, Block: it.block, Text: whole[it.size:]})
		it.sum, it.size = resDigest(resNoDigest, whole), len(whole)
	case whole != "" && (len(whole) != it.size || resDigest(resNoDigest, whole) != it.sum):
		d.lose(resLateItem, d.here(it.block))
	}
}

// resArguments returns those of a call, which some servers do not tell as a string.
func resArguments(v jsonwire.Value) string {
	switch v.Kind() {
	case jsonwire.String:
		return v.Str()
	case jsonwire.None, jsonwire.Null:
		return ""
	}
	return strings.TrimSpace(v.Raw())
}
