package envelope

import (
	"slices"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
)

// A Pending is the thinking of one response that the next tool call may have to
// carry; see [Thought]. Parts are identified by numbers of the caller's choice,
// negative ones excepted.
type Pending struct {
	// Own is the format of the client, whose signatures need no carrier.
	Own content.Format

	// Bare leaves the text of thinking out where the signature holds it, too.
	Bare bool

	list  []pending
	told  since // where the response is
	large int   // the number of a signed part with which they became too many, and 1: none is kept then
}

// A since is how far a response is behind its last call, or behind the text that
// carries the thinking before it.
type since struct {
	text  int // bytes
	files int // parts that are neither texts, thinking nor calls
}

// A pending thought may turn out to be signed by another vendor.
type pending struct {
	in, n  int // the number of its event, and which part of the response it is
	at     since
	open   bool
	ofText bool // it is the signature of a text
	copied bool // the client has it with its text, too
	over   bool // it is too large
	cost   int  // bytes that are kept, about
	text   []byte
	part   content.Thinking // all but the text
}

// signature returns what makes thinking of use to its vendor.
func (t *pending) signature() content.Signature {
	if t.part.Redacted.Data != "" {
		return t.part.Redacted
	}
	return t.part.Signature
}

// size is what counts of a thought against MaxSize.
func (t *pending) size() int {
	n := len(t.text) + len(t.part.Signature.Data) + len(t.part.Redacted.Data)
	if t.part.Extra != nil {
		n += len(t.part.Extra.JSON)
	}
	return n
}

// thoughtCost is what a thought is counted as besides its bytes. room counts
// what is kept of all candidates, for responses that never end.
const thoughtCost = 256

// Add keeps thinking that opens, the event's number being in and the part's
// number n. Its text follows with Write. It returns false if there is no room.
func (t *Pending) Add(in, n int, p *content.Thinking, room *int) bool {
	if t.large > 0 {
		return false
	}
	one := pending{in: in, n: n, at: t.told, open: true, part: *p}
	one.part.Text, one.part.Signature = "", content.Signature{}
	if x := one.part.Extra; x != nil && (x.Format == t.Own || !jsonwire.ValidObject(x.JSON)) {
		one.part.Extra = nil // it is sent with the text, or not valid
	}
	one.keep(thoughtCost+one.size(), room)
	t.list = append(t.list, one)
	t.sign(&t.list[len(t.list)-1], p.Signature, room)
	return t.large == 0
}

// AddText keeps the signature of a text that ends here.
func (t *Pending) AddText(n int, sig content.Signature, room *int) {
	if t.Add(-1, n, &content.Thinking{Signature: sig}, room) {
		last := &t.list[len(t.list)-1]
		last.open, last.ofText = false, true
	}
}

// CopyText keeps a copy of the signature of a text that ends here. The client
// receives the signature with the text; the next call carries it for clients that
// return the signatures of calls only. Without room no copy is kept.
func (t *Pending) CopyText(n int, sig content.Signature, room *int) {
	if !Foreign(sig, t.Own) || !CarriesThinking(sig.Format) || *room < thoughtCost+len(sig.Data) {
		return
	}
	t.AddText(n, sig, room)
	if t.large == 0 {
		t.list[len(t.list)-1].copied = true
	}
}

// DropCopies forgets the copies of signatures before a call that does not carry
// them.
func (t *Pending) DropCopies(room *int) {
	t.list = slices.DeleteFunc(t.list, func(one pending) bool {
		if one.copied {
			*room += one.cost
		}
		return one.copied
	})
}

// Whole keeps thinking that is whole, if it is to be carried.
func (t *Pending) Whole(n int, p *content.Thinking, room *int) {
	if !Foreign(p.Signature, t.Own) && !Foreign(p.Redacted, t.Own) {
		return
	}
	if t.Add(-1, n, p, room) {
		one := &t.list[len(t.list)-1]
		one.open = false
		one.write(p.Text, room)
		t.bound(one, room)
	}
}

// Write keeps more of the text of a block. room is what may be kept besides.
func (t *Pending) Write(in int, text string, room *int) {
	if one := t.find(in); one != nil {
		one.write(text, room)
		t.bound(one, room)
	}
}

// Sign keeps the signature of a block; the last one counts. It returns false if
// the signature is too late for the block to be carried.
func (t *Pending) Sign(in int, sig content.Signature, room *int) bool {
	if one := t.find(in); one != nil {
		t.sign(one, sig, room)
		return true
	}
	return t.large > 0
}

// Close notes that a block is whole.
func (t *Pending) Close(in int) {
	if one := t.find(in); one != nil {
		one.open = false
	}
}

// sign keeps the signature of a thought; the last one counts.
func (t *Pending) sign(one *pending, sig content.Signature, room *int) {
	more := len(sig.Data) - len(one.part.Signature.Data)
	one.part.Signature = sig
	one.keep(more, room)
	t.bound(one, room)
}

// bound keeps no thinking any longer if one that has to be carried is too large:
// all of it is carried or nothing.
func (t *Pending) bound(one *pending, room *int) {
	if !one.over || !Foreign(one.signature(), t.Own) {
		return
	}
	t.large = one.n + 1
	for i := range t.list {
		*room += t.list[i].cost
	}
	t.list = nil
}

// find returns the thought of a block; nil if it is not kept.
func (t *Pending) find(in int) *pending {
	for i := len(t.list) - 1; i >= 0; i-- {
		if t.list[i].in == in {
			return &t.list[i]
		}
	}
	return nil
}

// write keeps more of the text.
func (t *pending) write(text string, room *int) {
	if t.keep(len(text), room); !t.over {
		t.text = append(t.text, text...)
	}
}

// keep counts so many bytes that are to be kept. Where there is no room nothing
// of the thought is.
func (t *pending) keep(n int, room *int) {
	if t.over {
		return
	}
	t.cost, *room = t.cost+n, *room-n
	if *room < 0 {
		*room += t.cost
		t.over, t.cost, t.text, t.part.Extra = true, 0, nil, nil
	}
}

// Any reports whether there is anything to be carried that the client does not
// have otherwise.
func (t *Pending) Any() bool {
	if t.large > 0 {
		return true
	}
	for i := range t.list {
		if one := &t.list[i]; !one.copied && Foreign(one.signature(), t.Own) {
			return true
		}
	}
	return false
}

// Withdraw forgets a block of thinking that needs no carrier after all, and
// returns its text. It returns false if the text has not been kept.
func (t *Pending) Withdraw(in int, room *int) (text string, ok bool) {
	i := slices.IndexFunc(t.list, func(one pending) bool { return one.in == in })
	if i < 0 || t.list[i].over {
		return "", false
	}
	text = string(t.list[i].text)
	*room += t.list[i].cost
	t.list = slices.Delete(t.list, i, i+1)
	return text, true
}

// Settle forgets all blocks that are closed and that no vendor has signed, and
// calls dropped with the number of each.
func (t *Pending) Settle(room *int, dropped func(n int)) {
	t.list = slices.DeleteFunc(t.list, func(one pending) bool {
		if one.open || Foreign(one.signature(), t.Own) {
			return false
		}
		*room += one.cost
		dropped(one.n)
		return true
	})
}

// Drop forgets a block that no vendor has signed.
func (t *Pending) Drop(in int, room *int) {
	for i := range slices.Backward(t.list) {
		if one := &t.list[i]; one.in == in {
			if !Foreign(one.signature(), t.Own) {
				*room += one.cost
				t.list = slices.Delete(t.list, i, i+1)
			}
			return
		}
	}
}

// Text counts bytes of text that the client gets.
func (t *Pending) Text(n int) { t.told.text += n }

// Passed counts a part that the client gets and that is not a text: a call, to
// which all places behind it refer, or a file.
func (t *Pending) Passed(p content.Part) {
	switch p.(type) {
	case *content.Thinking:
	case *content.ToolUse:
		t.Begin()
	default:
		t.told.files++
	}
}

// Begin has all places that follow refer to this one.
func (t *Pending) Begin() {
	t.told = since{}
	for i := range t.list {
		t.list[i].at = since{}
	}
}

// Empty reports whether nothing is kept at all.
func (t *Pending) Empty() bool { return len(t.list) == 0 }

// Rest calls lost for each part that nothing has carried. p is nil for the
// signature of a text.
func (t *Pending) Rest(lost func(n int, p *content.Thinking)) {
	for i := range t.list {
		switch one := &t.list[i]; {
		case one.copied || !Foreign(one.signature(), t.Own):
		case one.ofText:
			lost(one.n, nil)
		default:
			lost(one.n, &one.part)
		}
	}
	t.list = nil
}

// Large returns the number of a part that is too large to be carried, with which
// nothing is kept until the next call.
func (t *Pending) Large() (n int, ok bool) { return t.large - 1, t.large > 0 }

// Take returns what carries all thinking that is closed, as encode makes it of
// the format and of what [Join] returns; encode returns false for what is too
// large. The thinking is forgotten then. All of it is carried or nothing: to its
// vendor, a list with gaps is worth less than nothing. lost gets the part that a
// loss is about.
func (t *Pending) Take(room *int, encode func(f content.Format, data string) (string, bool), lost func(n int, r *loss.Rule)) string {
	var list []Thought
	var whose content.Format
	first, size, large, rest := 0, 0, t.large-1, t.list[:0]
	t.large = 0
	for i := range t.list {
		one := &t.list[i]
		if one.open {
			rest = append(rest, *one)
			continue
		}
		*room += one.cost
		sig := one.signature()
		switch {
		case !Foreign(sig, t.Own):
			continue
		case whose != "" && sig.Format != whose:
			lost(one.n, TwoVendors)
			continue
		case whose == "":
			first = one.n
		}
		whose = sig.Format
		if size += one.size(); one.over || size > MaxSize {
			large = one.n
		}
		p := one.part
		if !t.Bare || !holdsText(sig) {
			p.Text = string(one.text)
		}
		list = append(list, Thought{Thinking: &p, First: !one.ofText && one.at == since{}, OfText: one.ofText,
			Back: t.told.text - one.at.text, Past: t.told.files - one.at.files})
	}
	clear(t.list[len(rest):])
	t.list = rest
	if len(list) == 0 && large < 0 {
		return ""
	}
	if large < 0 {
		if data, ok := encode(whose, Join(list)); ok {
			return data
		}
		large = first // with all the escapes
	}
	lost(large, TooLarge)
	return ""
}

// holdsText reports whether a signature of thinking holds the text as well: the
// items of Responses do.
func holdsText(sig content.Signature) bool {
	return sig.Format == "openai-responses" && len(sig.Data) > 0 && sig.Data[0] == '{'
}

// CarriesThinking reports whether the calls of a format carry the thinking before
// them: those of content generation have signatures of their own.
func CarriesThinking(f content.Format) bool { return f != "generatecontent" }

// Kept returns how many parts are kept, and about how many bytes they take.
func (t *Pending) Kept() (parts, bytes int) {
	for i := range t.list {
		bytes += t.list[i].size() + thoughtCost
	}
	return len(t.list), bytes
}
