package generatecontent

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/upstream"
)

const (
	mostReply = 64 << 20 // bytes of a whole reply, if nothing else is said
	mostInput = 32 << 20 // bytes of the arguments of a call that comes in pieces
)

// DecodeResponse reads the body of a successful answer that is no stream. The
// frame is Whole and holds the events that say what the answer says: its
// start, the usage, each part opened and closed, the reasons to stop, and
// losses. It is ready for [upstream.Writer.Frame]. What the events hold is told
// at [StreamReader]; other than there, each part is a block of its own.
//
// Of lim count Body (0 means 64 MiB), Depth and Values; see [ParseRequest] for
// what a document must be. Unlike there, half surrogate pairs and bytes that
// are not UTF-8 become U+FFFD, which is a loss, and what deviates from the
// format is read as far as it makes sense.
//
// The error is an [*upstream.Error]: the body's own if it is an error
// envelope, which some servers send with status 200, else one with
// [upstream.CodeBadGateway].
func DecodeResponse(body string, lim content.Limits) (*upstream.Frame, error) {
	if most := cmp.Or(max(lim.Body, 0), mostReply); int64(len(body)) > most {
		return nil, codec.BadGateway(fmt.Errorf("generatecontent: the answer has %d bytes, %d are allowed", len(body), most))
	}
	d := newDecoder(lim)
	d.whole = true
	defer d.doc.Close()
	if err := d.read(body); err != nil {
		return nil, err
	}
	if len(d.answers) == 0 && !d.blocked {
		return nil, codec.BadGateway(errors.New("generatecontent: the answer has no candidate"))
	}
	for i := range d.answers {
		d.endCall(i, false) // of a reply that gives no reason to end
	}
	for i := range d.answers {
		if !d.answers[i].finished && !d.blocked {
			d.odd = true // command-line agents need one
			d.lose(codec.ResponseNoReason, candidatePath(i, "stop"))
			break
		}
	}
	f := &upstream.Frame{Complete: true}
	d.fill(f)
	return f, nil
}

// A decoder turns answers, or the pieces of one, into events. It holds what is
// known from one piece of a stream to the next.
type decoder struct {
	doc    jsonwire.Doc
	limits jsonwire.Limits
	parser parser // reads parts; its violations are looked at part by part
	origin origin
	inner  jsonwire.Limits // of a usage taken alone
	whole  bool            // a whole reply is read, not a stream

	source    string           // the document at hand
	events    []upstream.Event // that it was turned into
	odd       bool             // it deviates from the format: clients should not see it as it is
	parts     int              // that it has
	plainText jsonwire.Value   // the last text of these
	mould     mould
	begun     bool       // the Start was told
	blocked   bool       // the prompt was
	answers   []answered // by candidate
	opens     int        // blocks so far
	closings  int        // of these, how many are closed
	counts    counts
	told      []toldMember
	lost      loss.Reported
}

// A toldMember is a member of the whole answer that was told already: vendors
// repeat theirs in each piece.
type toldMember struct{ name, raw string }

// What is remembered of these.
const (
	mostTold    = 32
	longestTold = 1 << 10
)

const (
	// mostAnswers bounds the candidates; real answers have at most 8.
	mostAnswers = 128
	// mostClosed is how many blocks may have been closed since one that can
	// still be signed: the Writer knows the last four.
	mostClosed = 3
)

func newDecoder(lim content.Limits) *decoder {
	const depth = 256 // the default
	return &decoder{
		limits: jsonwire.Limits{Depth: lim.Depth, Values: lim.Values, AllowInvalidUTF8: true},
		inner:  jsonwire.Limits{Depth: cmp.Or(max(lim.Depth, 0), depth) - 1, Values: lim.Values},
		parser: parser{size: 1, version: "v1beta", path: codec.Path{Style: codec.Bracketed}},
	}
}

// The fields of an answer. What comes behind the typed ones is kept.
const (
	fReplyCandidates = iota
	fReplyUsage
	fReplyModel
	fReplyID
	fReplyFeedback
	fReplyError
	replyTyped
)

const (
	fCandContent = iota
	fCandReason
	fCandIndex
	fCandMessage
	fCandRatings
	candidateTyped
)

const fCandGrounding = candidateTyped + 1

const fFeedbackReason = 0

var (
	replyFields = object("GenerateContentResponse",
		value("candidates"), value("usageMetadata"), text("modelVersion"), text("responseId"), value("promptFeedback"), value("error"),
		value("modelStatus"), instant("createTime"), text("turnToken"))
	candidateFields = object("Candidate",
		value("content"), text("finishReason"), int32s("index"), text("finishMessage"), value("safetyRatings"),
		value("citationMetadata"), value("groundingMetadata"), value("urlContextMetadata"), number("avgLogprobs"),
		value("logprobsResult"), int32s("tokenCount"), value("groundingAttributions"), data("continuationToken"))
	feedbackFields = object("PromptFeedback", text("blockReason"))
)

// read reads one document, an answer or a piece of one. What it says is in the
// events then, of which there may be none.
func (d *decoder) read(data string) error {
	if d.quick(data) {
		return nil
	}
	clear(d.events)
	d.events, d.odd, d.parts, d.plainText = d.events[:0], false, 0, jsonwire.Value{}
	d.parser.origin = &d.origin
	if err := d.doc.Parse(data, d.limits); err != nil {
		return codec.BadGateway(fmt.Errorf("generatecontent: the answer is not JSON as it should be: %w", err))
	}
	root := d.doc.Root()
	d.source = d.doc.Source()
	if root.Kind() == jsonwire.Array { // as errors come where a stream is an array
		for _, v := range root.Elems() {
			root = v
			break
		}
		if root.Get("error").Kind() != jsonwire.Object {
			return codec.BadGateway(errors.New("generatecontent: the answer is a list"))
		}
	}
	if root.Kind() != jsonwire.Object {
		return codec.BadGateway(errors.New("generatecontent: the answer is no object"))
	}
	var m [replyTyped]jsonwire.Value
	more := d.members(root, replyFields, m[:])
	if m[fReplyError].Exists() {
		return d.failure(root)
	}
	if err := d.answer(root, &m, more); err != nil {
		return codec.BadGateway(err)
	}
	d.learn(data, m[fReplyUsage])
	return nil
}

// members puts the values of the first fields of m where into has them, and
// reports whether v has other members. Null is no value.
func (d *decoder) members(v jsonwire.Value, m *message, into []jsonwire.Value) (more bool) {
	for name, x := range v.Members() {
		i := m.find(name)
		switch {
		case x.Kind() == jsonwire.Null && i >= 0:
		case i < 0 || i >= len(into):
			more = true
		case into[i].Exists():
			d.odd = true // in both spellings
		default:
			into[i] = x
			d.odd = d.odd || name != m.camel[i] // clients know no other
		}
	}
	return more
}

// answer reads an answer or a piece of one.
func (d *decoder) answer(root jsonwire.Value, m *[replyTyped]jsonwire.Value, more bool) error {
	if err := cmp.Or(
		codec.Expect("generatecontent: usageMetadata", m[fReplyUsage], codec.Objects|codec.Optional),
		codec.Expect("generatecontent: promptFeedback", m[fReplyFeedback], codec.Objects|codec.Optional),
	); err != nil {
		return err
	}
	first := !d.begun
	if first && root.Len() == 0 {
		return nil
	}
	reason := d.blockReason(m[fReplyFeedback])
	if first {
		d.begun = true
		s := &upstream.Start{ID: d.word(m[fReplyID]), Model: d.word(m[fReplyModel])}
		d.add(upstream.Event{Kind: upstream.EventStart, Start: s})
		s.Extra = d.news(root, reason == "", true)
		d.usage(m[fReplyUsage])
	}
	if err := d.candidates(m[fReplyCandidates]); err != nil {
		return err
	}
	if reason != "" {
		d.block(reason, m[fReplyFeedback])
	}
	if first {
		return nil
	}
	if more || d.changed("responseId", m[fReplyID]) || d.changed("modelVersion", m[fReplyModel]) || m[fReplyFeedback].Exists() {
		if x := d.news(root, reason == "", false); x != nil {
			d.add(upstream.Event{Kind: upstream.EventExtra, Extra: x})
		}
	}
	d.usage(m[fReplyUsage])
	return nil
}

// news returns the members of the whole answer that have no field, and that
// were not told before.
func (d *decoder) news(root jsonwire.Value, feedback, first bool) *content.Extra {
	b := d.parser.extras.Begin()
	for name, x := range root.Members() {
		i := replyFields.find(name)
		if i >= 0 {
			name = replyFields.camel[i]
		}
		typed := false
		switch {
		case i >= 0 && x.Kind() == jsonwire.Null:
			continue
		case i == fReplyID, i == fReplyModel:
			typed = first
		case i == fReplyFeedback && feedback:
		case i >= 0 && i < replyTyped:
			continue
		}
		if d.tell(name, x.Raw()) && !typed {
			b = codec.AppendMember(b, name, x.Raw())
		}
	}
	return d.parser.newExtra(b)
}

// tell reports whether a member of the whole answer is new, and remembers it.
func (d *decoder) tell(name, raw string) bool {
	for i := range d.told {
		if t := &d.told[i]; t.name == name {
			same := t.raw == raw
			if t.raw = raw; len(raw) > longestTold {
				t.raw = "" // no JSON: it is new next time too
			}
			return !same
		}
	}
	if len(d.told) < mostTold && len(raw) <= longestTold && len(name) <= longestTold {
		d.told = append(d.told, toldMember{name, raw})
	}
	return true
}

// changed reports whether a member is there and was not told.
func (d *decoder) changed(name string, v jsonwire.Value) bool {
	if !v.Exists() {
		return false
	}
	for i := range d.told {
		if d.told[i].name == name {
			return d.told[i].raw != v.Raw()
		}
	}
	return true
}

// word reads a string that may be missing.
func (d *decoder) word(v jsonwire.Value) string {
	switch v.Kind() {
	case jsonwire.String, jsonwire.None:
	default:
		d.odd = true
	}
	return v.Str()
}

// fill fills f with the document at hand and its events.
func (d *decoder) fill(f *upstream.Frame) {
	if d.doc.Replacements() > 0 {
		d.lose(codec.ResponseNotUnicode, "parts")
	}
	f.Format, f.Data, f.Events = Format, d.source, d.events
	if d.odd {
		f.Format = ""
	}
}

func (d *decoder) add(e upstream.Event) { d.events = append(d.events, e) }

// lose tells what a rule has met at path.
func (d *decoder) lose(r *loss.Rule, path string) {
	if l := d.lost.New(r, path); l != nil {
		d.add(upstream.Event{Kind: upstream.EventLoss, Loss: l})
	}
}

// extra returns the Extra that b, an object without its end, is: last, if that
// is the same.
func (d *decoder) extra(b []byte, last *content.Extra) *content.Extra {
	if last != nil && len(last.JSON) == len(b)+1 && last.JSON[:len(b)] == string(b) {
		return last
	}
	return d.parser.newExtra(b)
}
