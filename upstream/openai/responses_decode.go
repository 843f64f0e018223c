package openai

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/upstream"
)

// A resDecoder turns an answer into events. It holds what is known from one
// event of a stream to the next.
type resDecoder struct {
	doc    jsonwire.Doc
	limits jsonwire.Limits
	newID  func() string    // of a call that has none
	events []upstream.Event // of the document at hand

	told  bool // something was given out: it is too late for a Start
	begun bool // there was a Start

	items   []resItem // in the order in which they began
	next    int       // the number of the next block
	refused bool      // there was a refusal
	called  bool      // there was a call
	visible bool      // there was something but thoughts

	nameless bool // there was a call that cannot be told
}

// A resItem is an item of the answer. One that is over only tells duplicates
// from others.
type resItem struct {
	kind   resKind
	output int64  // its index; -1 if it has none
	id     uint64 // digest of its id, 0 if it has none
	call   uint64 // digest of the id of a call, and
	given  uint64 // of the one that it is told by
	over   bool
	met    bool // it has been found in the whole answer

	block  int    // that is open; -1: none
	part   int64  // which of its parts the rest is about
	size   int    // of the text of the part so far, and
	sum    uint64 // a digest of that
	some   bool   // there was some text, of any part
	raw    bool   // it is a thought itself, not its summary
	whole  bool   // the item will come whole, for its sake the block stays open
	cites  int    // of the part so far
	sig    content.Signature
	held   string // arguments that came with the beginning
	signed bool
}

// A resKind is what an item is.
type resKind uint8

const (
	resOther resKind = iota
	resMessage
	resReasoning
	resCall
)

func resKindOf(v jsonwire.Value) resKind {
	switch t := v.Get("type"); {
	case t.Is("message"):
		return resMessage
	case t.Is("reasoning"):
		return resReasoning
	case t.Is("function_call"):
		return resCall
	case !t.Exists() && v.Get("role").Is("assistant"):
		return resMessage
	}
	return resOther
}

// mostItems bounds the items of an answer.
const mostItems = 4096

// resDigest is FNV-1a, continued from sum; it begins with resNoDigest.
func resDigest(sum uint64, s string) uint64 {
	for i := range len(s) {
		sum = (sum ^ uint64(s[i])) * 1099511628211
	}
	return sum
}

const resNoDigest = 14695981039346656037

func resDigestOf(s string) uint64 {
	if s == "" {
		return 0
	}
	return resDigest(resNoDigest, s)
}

func (d *resDecoder) init(lim content.Limits) {
	d.limits = jsonwire.Limits{Depth: lim.Depth, Values: lim.Values, Lenient: true}
	d.newID = newCallID
}

// parse begins a new document.
func (d *resDecoder) parse(data string) error {
	clear(d.events)
	d.events = d.events[:0]
	if err := d.doc.Parse(data, d.limits); err != nil {
		return codec.BadGateway(fmt.Errorf("openai: the answer is not JSON as it should be: %w", err))
	}
	return nil
}

// replaced tells that a text was repaired.
func (d *resDecoder) replaced() {
	if d.doc.Replaced() > 0 && len(d.events) > 0 {
		d.lose(lostCharacters, "parts")
	}
}

func (d *resDecoder) add(e upstream.Event) { d.events = append(d.events, e) }

func (d *resDecoder) lose(r *loss.Rule, path string) {
	l := r.At(path)
	d.add(upstream.Event{Kind: upstream.EventLoss, Loss: &l})
}

// here is the path of the block that began last, or begins next.
func (d *resDecoder) here(block int) string {
	if block < 0 {
		block = d.next
	}
	return "parts." + strconv.Itoa(block)
}

// start tells what is known of an answer when it begins.
func (d *resDecoder) start(response jsonwire.Value) {
	if d.told || d.begun || response.Kind() != jsonwire.Object {
		return
	}
	d.begun = true
	d.add(upstream.Event{Kind: upstream.EventStart, Start: &upstream.Start{
		ID: response.Get("id").Str(), Model: response.Get("model").Str(),
	}})
}

// resIndex reads an index; -1 stands for none.
func resIndex(v jsonwire.Value) int64 {
	if n, ok := v.Int(); ok && n >= 0 && n <= math.MaxInt32 {
		return n
	}
	return -1
}

// find returns the item of a kind at an index that is not over; of those
// without an index, the last. It returns nil if there is none.
func (d *resDecoder) find(output int64, k resKind) *resItem {
	for i := len(d.items) - 1; i >= 0; i-- {
		if it := &d.items[i]; !it.over && it.kind == k && (output < 0 || it.output < 0 || it.output == output) {
			return it
		}
	}
	return nil
}

// begin notes an item that begins.
func (d *resDecoder) begin(output int64, k resKind) (*resItem, error) {
	if len(d.items) >= mostItems {
		return nil, codec.BadGateway(errors.New("openai: the answer has too many items"))
	}
	for i := range d.items {
		it := &d.items[i]
		switch {
		case it.over:
		case output >= 0 && it.output == output:
			d.end(it) // its end was left out
		case it.kind == resMessage, it.kind == resReasoning && !it.whole:
			d.close(it) // of two texts the older one has been told
		}
	}
	d.items = append(d.items, resItem{kind: k, output: output, block: -1, part: -1, sum: resNoDigest})
	return &d.items[len(d.items)-1], nil
}

// close closes the block of an item, if one is open.
func (d *resDecoder) close(it *resItem) {
	if it.block >= 0 {
		d.add(upstream.Event{Kind: upstream.EventClose, Block: it.block})
		it.block = -1
	}
}

// end ends an item without more to be told of it.
func (d *resDecoder) end(it *resItem) {
	if it.kind == resCall && it.block >= 0 && it.size == 0 && it.held != "" {
		d.add(upstream.Event{Kind: upstream.EventInput, Block: it.block, Text: it.held})
	}
	d.close(it)
	it.over, it.held = true, ""
}

// opened opens a block with a part.
func (d *resDecoder) opened(p content.Part) int {
	n := d.next
	d.next++
	d.add(upstream.Event{Kind: upstream.EventOpen, Block: n, Part: p})
	return n
}

// put tells a part that is whole.
func (d *resDecoder) put(p content.Part) {
	d.add(upstream.Event{Kind: upstream.EventClose, Block: d.opened(p)})
}

// text adds text to one part of a message or of a thought.
func (d *resDecoder) text(it *resItem, part int64, s string) {
	if part != it.part {
		if it.kind == resMessage {
			d.close(it)
		}
		it.part, it.size, it.sum, it.cites = part, 0, resNoDigest, 0
	}
	if s == "" {
		return
	}
	if it.block < 0 {
		it.block = d.opened(d.textPart(it))
	}
	if it.kind == resReasoning && it.some && it.size == 0 {
		d.add(upstream.Event{Kind: upstream.EventText, Block: it.block, Text: "\n\n"})
	}
	it.some = true
	d.visible = d.visible || it.kind == resMessage
	it.size += len(s)
	it.sum = resDigest(it.sum, s)
	d.add(upstream.Event{Kind: upstream.EventText, Block: it.block, Text: s})
}

// textPart returns what a block of an item opens with.
func (d *resDecoder) textPart(it *resItem) content.Part {
	if it.kind == resReasoning {
		return &content.Thinking{}
	}
	t := &content.Text{Signature: it.sig}
	it.signed = it.sig.Data != ""
	return t
}

// reconcile adds what the whole text of a part has beyond what was told of it.
func (d *resDecoder) reconcile(it *resItem, part int64, whole string) {
	switch {
	case part < it.part:
	case part > it.part:
		d.text(it, part, whole)
	case len(whole) > it.size && resDigest(resNoDigest, whole[:it.size]) == it.sum:
		d.text(it, part, whole[it.size:])
	case len(whole) != it.size || resDigest(resNoDigest, whole) != it.sum:
		d.lose(resLateItem, d.here(it.block))
	}
}
