package generatecontent

import (
	"slices"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/seal"
)

// What another vendor needs back goes out sealed as thoughtSignature. The one
// place from where every client gives it back is a call, and some give back
// nothing else of what was thought. So the thoughts of another vendor go out
// whole in the signature of the next call, or in that of a text at the end of an
// answer without one; the client still sees them as thoughts. What is promised
// of this is said at [seal.Thought].

// foreign reports whether a signature is one of another format, which is
// sealed.
func foreign(s content.Signature) bool { return seal.Foreign(s, Format) }

// sealed returns the signature that carries a foreign one, the zero one if it
// cannot be sealed.
func sealed(s content.Signature, lost lose) content.Signature {
	data, ok := seal.SealBase64(s.Format, seal.Own, s.Data)
	if !ok {
		lost(seal.TooLarge)
		return content.Signature{}
	}
	return content.Signature{Format: Format, Data: data}
}

// thoughts are those of a candidate that may have to be carried by what comes
// behind them.
type thoughts struct {
	list  []thought
	told  since // where the answer is
	large int   // the number of a signed part with which they became too many, and 1: none is kept then
}

// A since is how far an answer is behind its last call, or behind the text that
// carries the thoughts before it.
type since struct {
	text  int // bytes
	files int // parts that are neither texts, thoughts nor calls
}

// A thought may turn out to be signed by another vendor.
type thought struct {
	in, n int // the number of its event, and which part of the candidate's it is
	at    since
	open  bool
	over  bool // it is too large
	cost  int  // bytes that are kept, about
	text  []byte
	part  content.Thinking // all but the text
}

// signature returns what makes a thought of use to its vendor.
func (t *thought) signature() content.Signature {
	if t.part.Redacted.Data != "" {
		return t.part.Redacted
	}
	return t.part.Signature
}

// size is what counts of a thought against seal.MaxSize.
func (t *thought) size() int {
	n := len(t.text) + len(t.part.Signature.Data) + len(t.part.Redacted.Data)
	if t.part.Extra != nil {
		n += len(t.part.Extra.JSON)
	}
	return n
}

// thoughtCost is what a thought is counted as besides its bytes. room counts
// what is kept of all candidates, for answers that never end.
const thoughtCost = 256

// add keeps a thought, but for its text. It returns nil if there is no room.
func (t *thoughts) add(in, n int, p *content.Thinking, room *int) *thought {
	if t.large > 0 {
		return nil
	}
	one := thought{in: in, n: n, at: t.told, open: true, part: *p}
	one.part.Text, one.part.Signature = "", content.Signature{}
	if x := one.part.Extra; x != nil && (x.Format == Format || !jsonwire.ValidObject(x.JSON)) {
		one.part.Extra = nil // it is told with the text, or no good
	}
	one.keep(thoughtCost+one.size(), room)
	t.list = append(t.list, one)
	last := &t.list[len(t.list)-1]
	if t.sign(last, p.Signature, room); t.large > 0 {
		return nil
	}
	return last
}

// sign keeps the signature of a thought; the last one counts.
func (t *thoughts) sign(one *thought, sig content.Signature, room *int) {
	more := len(sig.Data) - len(one.part.Signature.Data)
	one.part.Signature = sig
	one.keep(more, room)
	t.bound(one, room)
}

// bound keeps no thoughts any longer if one that has to be carried is too large:
// all of them are carried or none.
func (t *thoughts) bound(one *thought, room *int) {
	if !one.over || !foreign(one.signature()) {
		return
	}
	t.large = one.n + 1
	for i := range t.list {
		*room += t.list[i].cost
	}
	t.list = nil
}

// whole keeps a thought that is whole, if it is to be carried.
func (t *thoughts) whole(n int, p *content.Thinking, room *int) {
	if !foreign(p.Signature) && !foreign(p.Redacted) {
		return
	}
	if one := t.add(-1, n, p, room); one != nil {
		one.open = false
		one.write(p.Text, room)
	}
}

// find returns the thought of a block; nil if it is not kept.
func (t *thoughts) find(in int) *thought {
	for i := len(t.list) - 1; i >= 0; i-- {
		if t.list[i].in == in {
			return &t.list[i]
		}
	}
	return nil
}

// write keeps more of a thought's text. room is what may be kept besides.
func (t *thought) write(text string, room *int) {
	if t.keep(len(text), room); !t.over {
		t.text = append(t.text, text...)
	}
}

// keep counts so many bytes that are to be kept. Where there is no room nothing
// of the thought is.
func (t *thought) keep(n int, room *int) {
	if t.over {
		return
	}
	t.cost, *room = t.cost+n, *room-n
	if *room < 0 {
		*room += t.cost
		t.over, t.cost, t.text, t.part.Extra = true, 0, nil, nil
	}
}

// pending reports whether there is anything to be carried.
func (t *thoughts) pending() bool {
	if t.large > 0 {
		return true
	}
	for i := range t.list {
		if foreign(t.list[i].signature()) {
			return true
		}
	}
	return false
}

// drop forgets a thought that nobody has signed.
func (t *thoughts) drop(in int, room *int) {
	for i := range slices.Backward(t.list) {
		if one := &t.list[i]; one.in == in {
			if !foreign(one.signature()) {
				*room += one.cost
				t.list = slices.Delete(t.list, i, i+1)
			}
			return
		}
	}
}

// passed counts a part that was told and is no text: a call, to which all
// places behind it refer, or a file.
func (t *thoughts) passed(p content.Part) {
	switch p.(type) {
	case *content.Thinking:
	case *content.ToolUse:
		t.begin()
	default:
		t.told.files++
	}
}

// begin has all places that follow refer to this one.
func (t *thoughts) begin() {
	t.told = since{}
	for i := range t.list {
		t.list[i].at = since{}
	}
}

// take returns the signature that carries all thoughts that are closed. They
// are forgotten then. All of them are carried or none: to their vendor, a list
// with gaps is worth less than nothing. lost gets the part that a loss is about.
func (t *thoughts) take(room *int, lost func(n int, r *loss.Rule)) content.Signature {
	var list []seal.Thought
	var whose content.Format
	size, large, rest := 0, t.large-1, t.list[:0]
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
		case !foreign(sig):
			continue
		case whose != "" && sig.Format != whose:
			lost(one.n, seal.TwoVendors)
			continue
		}
		whose = sig.Format
		if size += one.size(); one.over || size > seal.MaxSize {
			large = one.n
		}
		p := one.part
		p.Text = string(one.text)
		list = append(list, seal.Thought{Thinking: &p, First: one.at == since{},
			Back: t.told.text - one.at.text, Past: t.told.files - one.at.files})
	}
	clear(t.list[len(rest):])
	t.list = rest
	if len(list) == 0 && large < 0 {
		return content.Signature{}
	}
	if large < 0 {
		if data, ok := seal.SealBase64(whose, seal.Thoughts, seal.Join(list)); ok {
			return content.Signature{Format: Format, Data: data}
		}
		large = 0 // with all the escapes
	}
	lost(large, seal.TooLarge)
	return content.Signature{}
}

// thinks begins a thought.
func (s *stream) thinks(dst []byte, b *streamed, p *content.Thinking) []byte {
	lost := func(r *loss.Rule) { s.lose(b, r) }
	if p.Redacted.Data != "" && !foreign(p.Redacted) {
		lost(seal.Nobodys)
		return dst
	}
	s.said[b.k].thoughts.add(b.in, b.n, p, &s.room)
	if p.Redacted.Data != "" {
		return dst
	}
	b.kind = thoughtBlock
	c := *p
	plainly(&c, lost)
	b.extra, b.signature = c.Extra, c.Signature
	return s.piece(dst, b, c.Text, nil)
}

// plainly leaves of a thought what this format can say of it in the open.
func plainly(p *content.Thinking, lost lose) {
	if foreign(p.Signature) {
		p.Signature = content.Signature{}
		if p.Extra != nil && p.Extra.Format != Format {
			p.Extra = nil // it goes with the signature
		}
	}
	hints(nil, &p.Extra, &p.Signature, lost)
}

// keep keeps what was said of a thought.
func (s *stream) keep(b *streamed, text string) {
	t := &s.said[b.k].thoughts
	if one := t.find(b.in); one != nil {
		one.write(text, &s.room)
		t.bound(one, &s.room)
	}
}

// signThought keeps the signature of a thought, and reports whether that is
// all there is to be done with it.
func (s *stream) signThought(b *streamed, sig content.Signature) bool {
	t := &s.said[b.k].thoughts
	switch one := t.find(b.in); {
	case one != nil:
		t.sign(one, sig, &s.room)
	case foreign(sig) && t.large == 0:
		s.note(answerPath(s.candidates[b.k].index, b.n), seal.TooLate)
	}
	return foreign(sig)
}

// carried returns the signature that carries the thoughts before it.
func (s *stream) carried(k int) content.Signature {
	return s.said[k].thoughts.take(&s.room, func(n int, r *loss.Rule) {
		s.note(answerPath(s.candidates[k].index, n), r)
	})
}

// appendCarrier appends an empty text that carries the thoughts before it, if
// there are any.
func (s *stream) appendCarrier(dst []byte, k int) []byte {
	if !s.said[k].thoughts.pending() {
		return dst
	}
	sig := s.carried(k)
	if sig.Data == "" {
		return dst
	}
	dst = append(s.part(dst, k), `{"text":"","thoughtSignature":`...)
	s.said[k].told++
	s.said[k].kind = noBlock
	s.said[k].thoughts.begin()
	return append(jsonwire.AppendString(dst, sig.Data), '}')
}

// unseal opens what other vendors need back. It returns the turns themselves if
// there is nothing of it.
func unseal(turns []content.Turn) (list []content.Turn, changed bool, lost []content.Loss) {
	return seal.Turns(turns, func(p content.Part) (content.Part, bool) {
		sig := seal.Of(p)
		if sig.Format != Format || !seal.SealedBase64(sig.Data) {
			return p, false
		}
		e, ok := seal.OpenBase64(sig.Data)
		if !ok || e.Kind != seal.Own && e.Kind != seal.Thoughts {
			return seal.With(p, seal.Broken(sig)), true
		}
		return seal.With(p, content.Signature{Format: e.Format, Data: e.Data}), false
	})
}
