package generatecontent

import (
	"fmt"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/upstream"
)

// An answered is what is known of one candidate from one piece to the next.
type answered struct {
	open     int  // the block that texts are added to, -1 if there is none
	last     int  // the block that opened last, -1 if there is none
	text     bool // the last is a text or a thought
	thought  bool // it is a thought
	signed   bool // the last has a signature
	closedAt int  // how many blocks were closed when the last was
	blocks   int  // that were opened

	call     *pieces // a call whose arguments are coming
	calls    bool    // there was a call of one of the caller's tools
	finished bool    // there was a reason to stop, and no part behind it
	extra    *content.Extra

	sources sources
	at      textPlace   // of the text that is open, or was last
	said    int         // blocks that were opened; of a whole reply, which part is read
	pending []support   // of the document at hand
	first   bool        // of a stream: it is the first that says anything, so that its parts are the answer's
	nth     int         // which of its parts is read
	pieces  []textPlace // of a stream, if anything is pending: its parts in the text that is open
	kept    []byte      // of a stream, the text that is open, up to mostText
}

// candidates reads the candidates of an answer or of a piece of one.
func (d *decoder) candidates(v jsonwire.Value) error {
	switch v.Kind() {
	case jsonwire.Array:
		if d.whole {
			d.room(v)
		}
		for i, x := range v.Elems() {
			if err := d.candidate(i, x, v.Len() > 1); err != nil {
				return err
			}
		}
	case jsonwire.Object: // one for a list
		d.odd = true
		return d.candidate(0, v, false)
	case jsonwire.None:
	default:
		return fmt.Errorf("generatecontent: the candidates are a %s", v.Kind())
	}
	return nil
}

// room makes room for the events of a whole reply, of which there may be very
// many.
func (d *decoder) room(v jsonwire.Value) {
	n := 8
	for _, x := range v.Elems() {
		n += 3*x.Get("content").Get("parts").Len() + 4
	}
	d.events = append(make([]upstream.Event, 0, n), d.events...)
}

func (d *decoder) candidate(place int, v jsonwire.Value, several bool) error {
	if v.Kind() != jsonwire.Object {
		return fmt.Errorf("generatecontent: candidate %d is no object", place)
	}
	var m [candidateTyped]jsonwire.Value
	more := d.members(v, candidateFields, m[:])
	if err := codec.Expect("generatecontent: finishReason", m[fCandReason], codec.Texts|codec.Numbers|codec.Optional); err != nil {
		return err
	}
	i, err := d.index(m[fCandIndex], place, several)
	if err != nil {
		return err
	}
	var supports []support
	if more {
		supports = d.grounded(i, spelled(v, candidateFields, fCandGrounding))
	}
	c := &d.answers[i]
	c.pending = supports // each text tells its own
	c.first, c.nth = !d.whole && c.blocks == 0, 0
	// Values are kept by number: parts may add to the list.
	inner, err := d.content(i, m[fCandContent])
	if err != nil {
		return err
	}
	d.citeOpen(i)
	c.pending, c.pieces = nil, nil // the document is not held on to
	word := d.reason(m[fCandReason])
	if word != "" {
		d.endCall(i, word == "STOP")
		d.closeText(i)
	}
	loose := word == "" && (m[fCandMessage].Exists() || m[fCandRatings].Exists())
	if more || inner || loose {
		d.besides(i, v, m[fCandContent], word == "")
	}
	if word != "" {
		d.stop(i, word, &m)
	}
	return nil
}

// index returns which candidate is meant. 0 may be left out.
func (d *decoder) index(v jsonwire.Value, place int, several bool) (int, error) {
	i := 0
	if v.Exists() {
		n, ok := wholeNumber(v, 32)
		if !ok || n < 0 || n >= mostAnswers {
			return 0, fmt.Errorf("generatecontent: a candidate has the index %s", codec.Clip(v.Raw()))
		}
		d.odd = d.odd || v.Kind() != jsonwire.Number
		i = int(n)
	} else if several && place > 0 {
		d.odd = true // clients would take it for the first
		i = place
	}
	if i >= mostAnswers {
		return 0, fmt.Errorf("generatecontent: the answer has more than %d candidates", mostAnswers)
	}
	for len(d.answers) <= i {
		d.answers = append(d.answers, answered{open: -1, last: -1, finished: len(d.answers) < i})
	}
	return i, nil
}

// content reads what a candidate says, and reports whether it has members that
// are not known.
func (d *decoder) content(i int, v jsonwire.Value) (more bool, err error) {
	switch v.Kind() {
	case jsonwire.Object:
	case jsonwire.None:
		return false, nil
	default:
		return false, fmt.Errorf("generatecontent: the content of candidate %d is no object", i)
	}
	for name, x := range v.Members() {
		switch k := contentFields.find(name); {
		case k < 0:
			more = true
		case name != contentFields.camel[k]: // both are one word
		case x.Kind() == jsonwire.Null:
		case k == fRole:
			if err := codec.Expect("generatecontent: role", x, codec.Texts); err != nil {
				return false, err
			}
		case x.Kind() == jsonwire.Array:
			for k, y := range x.Elems() {
				d.answers[i].nth = k
				if d.whole {
					d.answers[i].said = k
				}
				if err := d.part(i, y); err != nil {
					return false, err
				}
			}
		default: // one for a list
			d.odd = true
			if err := d.part(i, x); err != nil {
				return false, err
			}
		}
	}
	return more, nil
}

// besides tells what a candidate has besides its content and its end: what
// stands at the end if it does not end, too.
func (d *decoder) besides(i int, v, inner jsonwire.Value, loose bool) {
	b := d.parser.extras.Begin()
	for name, x := range v.Members() {
		k := candidateFields.find(name)
		if k >= 0 {
			name = candidateFields.camel[k]
		}
		switch {
		case k >= 0 && x.Kind() == jsonwire.Null:
		case k == fCandMessage && loose, k == fCandRatings && loose, k < 0, k >= candidateTyped:
			b = codec.AppendMember(b, name, x.Raw())
		case k == fCandContent:
			b = appendInner(b, inner)
		}
	}
	if len(b) == 1 {
		return
	}
	c := &d.answers[i]
	c.extra = d.extra(b, c.extra)
	d.add(upstream.Event{Kind: upstream.EventExtra, Candidate: i, Extra: c.extra})
}

// appendInner appends the members of a content that are not known, as an
// object of the same name.
func appendInner(b []byte, v jsonwire.Value) []byte {
	some := false
	for name, x := range v.Members() {
		if contentFields.find(name) >= 0 {
			continue
		}
		if !some {
			some = true
			b = append(codec.AppendName(b, "content"), '{')
		}
		b = codec.AppendMember(b, name, x.Raw())
	}
	if some {
		b = append(b, '}')
	}
	return b
}

// reason reads the word for why a candidate ended, "" if it has not.
func (d *decoder) reason(v jsonwire.Value) string {
	if !v.Exists() {
		return ""
	}
	word := v.Str()
	if v.Kind() != jsonwire.String {
		if word = finishReasons.read(v); word == "" {
			d.odd = true
			word = codec.Clip(v.Raw()) // it did end
		}
	}
	if upper := strings.ToUpper(word); upper != word {
		d.odd = true
		word = upper
	}
	if word == "FINISH_REASON_UNSPECIFIED" {
		return ""
	}
	return word
}

// stop tells why a candidate ended.
func (d *decoder) stop(i int, word string, m *[candidateTyped]jsonwire.Value) {
	c := &d.answers[i]
	c.finished = true
	s := &upstream.Stop{Reason: stopReason(word), Format: Format, RawReason: word}
	if s.Reason == content.StopEnd && c.calls {
		s.Reason = content.StopToolUse // there is no word for it
	}
	usual := s.Reason == content.StopToolUse && m[fCandMessage].Is(callMessage)
	b := d.parser.extras.Begin()
	for _, k := range [...]int{fCandMessage, fCandRatings} {
		if m[k].Exists() && !(usual && k == fCandMessage) {
			b = codec.AppendMember(b, candidateFields.camel[k], m[k].Raw())
		}
	}
	if x := d.parser.newExtra(b); x != nil {
		s.Details = x.JSON
	}
	if !usual {
		s.Message = m[fCandMessage].Str()
	}
	d.add(upstream.Event{Kind: upstream.EventStop, Candidate: i, Stop: s})
}

// callMessage is the vendor's message beside every call. It says nothing that the
// reason does not.
const callMessage = "Model generated function call(s)."

// The enums of responses, by the numbers that servers send if they are asked for
// numbers. Above 5 the numbers of finish reasons are those of the Gemini API.
var (
	finishReasons = closed("FinishReason", "FINISH_REASON_UNSPECIFIED", "STOP", "MAX_TOKENS", "SAFETY", "RECITATION", "OTHER",
		"LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MALFORMED_FUNCTION_CALL", "IMAGE_SAFETY", "UNEXPECTED_TOOL_CALL",
		"TOO_MANY_TOOL_CALLS")
	blockReasons = closed("BlockReason", "BLOCK_REASON_UNSPECIFIED", "SAFETY", "OTHER", "BLOCKLIST", "PROHIBITED_CONTENT", "IMAGE_SAFETY")
	modalities   = &enum{name: "Modality", numbered: 6, open: true,
		values: []string{"MODALITY_UNSPECIFIED", "TEXT", "IMAGE", "VIDEO", "AUDIO", "DOCUMENT"}}
)

// stopReason returns the neutral reason of a finishReason. OTHER, ESCALATION and
// MISSING_THOUGHT_SIGNATURE have none: they are [content.StopOther], as unknown
// words are.
func stopReason(word string) content.StopReason {
	switch word {
	case "STOP":
		return content.StopEnd
	case "MAX_TOKENS":
		return content.StopMaxTokens
	case "SAFETY", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MODEL_ARMOR", "JAILBREAK", "PUP_LIMITED_DISABLED",
		"IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT":
		return content.StopSafety
	case "LANGUAGE", "NO_IMAGE", "IMAGE_OTHER":
		return content.StopRefusal // the model does not give what was asked for
	case "RECITATION", "IMAGE_RECITATION":
		return content.StopRecitation
	case "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "MALFORMED_RESPONSE":
		return content.StopMalformedCall
	case "CONTINUATION", "TOO_MANY_TOOL_CALLS": // the request may be sent again with what there is
		return content.StopPause
	}
	return content.StopOther
}

// blockReason returns why a prompt was blocked, "" if it was not.
func (d *decoder) blockReason(v jsonwire.Value) string {
	if v.Kind() != jsonwire.Object {
		return ""
	}
	var m [1]jsonwire.Value
	d.members(v, feedbackFields, m[:])
	x := m[fFeedbackReason]
	word := x.Str()
	if x.Exists() && x.Kind() != jsonwire.String {
		if word = blockReasons.read(x); word == "" {
			d.odd = true
			word = codec.Clip(x.Raw())
		}
	}
	if strings.EqualFold(word, "BLOCK_REASON_UNSPECIFIED") || strings.EqualFold(word, "BLOCKED_REASON_UNSPECIFIED") {
		return ""
	}
	return word
}

// block tells that the prompt was blocked.
func (d *decoder) block(word string, feedback jsonwire.Value) {
	d.blocked = true
	b := codec.AppendMember(d.parser.extras.Begin(), replyFields.camel[fReplyFeedback], feedback.Raw())
	d.add(upstream.Event{Kind: upstream.EventStop, Stop: &upstream.Stop{
		Reason: content.StopSafety, Format: Format, RawReason: word, Details: d.parser.newExtra(b).JSON,
		Message: feedback.Get("blockReasonMessage").Str(),
	}})
}
