package generatecontent

import (
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/handler"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/upstream"
)

// Response is the body of a whole answer, or of one piece of a streamed one.
// Members that are empty are left out, as the vendor does.
type Response struct {
	// Candidates are the answers, usually one. There is none where the prompt
	// was blocked.
	Candidates []Candidate

	PromptFeedback string // JSON text of an object; empty: none

	// Usage counts exclusively, as everywhere; the wire's sums are made of it.
	Usage content.Usage

	ModelVersion string // that answered
	ResponseID   string

	Extra *content.Extra
}

// Candidate is one answer.
type Candidate struct {
	// Parts holds what the model said. The free JSON in it has to be valid.
	Parts []content.Part

	FinishReason  string // in the format's words
	FinishMessage string // for people
	Index         int

	// Extra holds the other members, such as "groundingMetadata".
	Extra *content.Extra
}

// ResponseFromUpstream returns the answer that says what r says, and what it cannot say.
// Paths of losses are neutral. r is left as it is; its parts may be shared.
//
// Where r names no id or model, they are empty: the caller fills them in. A
// call that has no name, or whose arguments are not a JSON object, because they
// were cut or the model wrote them so, is left out; this is reported, and where
// the answer would end in the ordinary way, it says so. Arguments that are nothing
// but white space, or null, are none. A call without any that is the last part of
// an answer that was cut is left out too, and so are texts that say nothing. Signatures and inline data in another spelling of
// base64 are rewritten to the standard one.
//
// Members of r.Extra that belong to the response (promptFeedback, modelStatus,
// createTime, turnToken) stand there, all others in the first candidate. Where
// promptFeedback says that the prompt was blocked, and there is no part, there
// is no candidate.
func ResponseFromUpstream(r *upstream.Response) (*Response, []content.Loss) {
	return responseOf(r, false)
}

// responseOf is ResponseFromUpstream for clients that expect the first call to be signed, or
// not.
func responseOf(r *upstream.Response, signs bool) (*Response, []content.Loss) {
	var lost []content.Loss
	note := func(path string, r *loss.Rule) {
		lost = append(lost, r.At(path))
	}
	a := answer{start: r.Start, usage: r.Usage, signs: signs && r.Stop.Format != Format}
	a.unsaid(a.members.Add(r.Start.Extra, Format), r.Start.Extra, "", note)
	all := append([]upstream.Candidate{{Parts: r.Parts, Stop: r.Stop, Extra: r.Extra}}, r.MoreCandidates...)
	list := make([]Candidate, len(all))
	some := false
	for i := range all {
		k := a.at(i)
		some = some || len(all[i].Parts) > 0
		list[i].Parts = a.parts(all[i].Parts, all[i].Stop.Reason, k, note)
		a.extra(all[i].Extra, k, note)
		a.candidates[k].stop = all[i].Stop
		a.feedback(&all[i].Stop)
	}
	res := &Response{PromptFeedback: a.members.Take("promptFeedback")}
	if some || !blocked(res.PromptFeedback) {
		for i := range list {
			a.end(i, &list[i], note)
		}
		res.Candidates = list
	}
	a.rest(res, note)
	return res, loss.Unique(lost)
}

// parts returns those of one answer that can be said.
func (a *answer) parts(parts []content.Part, ended content.StopReason, k int, note noter) []content.Part {
	var list []content.Part
	thoughts := envelope.Pending{ClientFormat: Format}
	room := envelope.MaxSize
	carried := func() content.Signature {
		return takeState(&thoughts, &room, func(n int, r *loss.Rule) {
			note(answerPath(a.candidates[k].index, n), r)
		})
	}
	for i, p := range parts {
		if t, ok := p.(*content.Thinking); ok && t != nil {
			thoughts.Add(i, t, &room)
		}
		path := answerPath(a.candidates[k].index, i)
		if i == len(parts)-1 && codec.NotStarted(p, ended) {
			note(path, unsaidCut)
			break
		}
		p = forAnswer(p, func(r *loss.Rule) {
			note(path, r)
			a.candidates[k].broken = a.candidates[k].broken || unmade(r)
		})
		switch q := p.(type) {
		case nil:
		case *content.Text:
			thoughts.CopyTextSignature(i, envelope.SignatureOf(parts[i]), &room)
		case *content.ToolUse: // a copy
			a.candidates[k].calls++
			if q.Signature.Data == "" {
				if q.Signature = carried(); q.Signature.Data == "" {
					q.Signature = a.unsignedCall(k)
				}
			} else {
				list = signLast(list, &thoughts, carried)
				thoughts.DropCopies(&room)
			}
		}
		if p != nil {
			list = append(list, p)
		}
		if t, ok := parts[i].(*content.Text); ok && t != nil && len(t.Citations) > 0 {
			lost := once(func(r *loss.Rule) { note(path, r) })
			a.candidates[k].grounds.cited(t.Citations, segment{len(list) - 1, 0, width(t.Text)}, t.Text, lost)
		}
	}
	return signLast(list, &thoughts, carried)
}

// signLast has the end of an answer carry what is left of the thoughts: its last
// text, as the vendor signs whole answers. An empty one, as in streams, makes
// clients drop the turn from their history, and so it is only made where the
// last part is none, or signed.
func signLast(list []content.Part, thoughts *envelope.Pending, carried func() content.Signature) []content.Part {
	if !thoughts.NeedsCarrier() {
		return list
	}
	sig := carried()
	if sig.Data == "" {
		return list
	}
	i := len(list) - 1
	for i >= 0 && isThought(list[i]) {
		i--
	}
	if i >= 0 {
		if t, ok := list[i].(*content.Text); ok && t.Signature.Data == "" {
			signed := *t
			signed.Signature = sig
			list[i] = &signed
			return list
		}
	}
	return append(list, &content.Text{Signature: sig})
}

func isThought(p content.Part) bool {
	_, ok := p.(*content.Thinking)
	return ok
}

// answerPath is where a part is, neutrally.
func answerPath(candidate, part int) string {
	return candidatePath(candidate, "parts."+strconv.Itoa(part))
}

// candidatePath is where something of a candidate is, neutrally.
func candidatePath(candidate int, path string) string {
	if candidate > 0 {
		path = strings.TrimSuffix("candidates."+strconv.Itoa(candidate)+"."+path, ".")
	}
	return path
}

// A noter notes a loss.
type noter func(path string, r *loss.Rule)

// An answer is what is known of one besides its parts.
type answer struct {
	start      upstream.Start
	usage      content.Usage
	members    handler.Members // of the response
	candidates []candidate     // in the order in which they came
	signs      bool            // clients expect that the first call is signed, and the vendor is another one
}

// A candidate is what is known of one of the answers.
type candidate struct {
	index int
	ending
	members handler.Members
	grounds grounds
	likely  logprobs
}

// at returns the place of the candidate with an index.
func (a *answer) at(index int) int {
	for k := range a.candidates {
		if a.candidates[k].index == index {
			return k
		}
	}
	a.candidates = append(a.candidates, candidate{index: index})
	return len(a.candidates) - 1
}

// extra takes members of the answer, which belong to the response or to one
// of its candidates.
func (a *answer) extra(x *content.Extra, k int, note noter) {
	var all handler.Members
	index := a.candidates[k].index
	x = a.candidates[k].likely.own(x)
	a.unsaid(all.Add(x, Format), x, candidatePath(index, ""), note)
	for _, m := range all {
		switch m.Name {
		case "promptFeedback", "modelStatus", "createTime", "turnToken":
			a.members.Set(m.Name, m.JSON)
		case "content", "finishMessage", "responseId", "modelVersion": // of a candidate that goes on, or another answer
			note(candidatePath(index, m.Name), unsaidPlace)
		default:
			a.candidates[k].members.Set(m.Name, m.JSON)
		}
	}
}

// unsaid tells what is lost of members, if they are another format's.
func (a *answer) unsaid(foreign bool, x *content.Extra, path string, note noter) {
	if !foreign {
		return
	}
	for at, r := range codec.Unsupported(x, path) {
		note(at, r)
	}
}

// feedback takes what the vendor said about a prompt that was blocked. It is
// the reason to stop then.
func (a *answer) feedback(s *upstream.Stop) {
	if s.Format != Format || !strings.Contains(s.Details, "promptFeedback") {
		return
	}
	var m handler.Members
	m.Add(&content.Extra{Format: Format, JSON: s.Details}, Format)
	if json := m.Take("promptFeedback"); json != "" {
		a.members.Set("promptFeedback", json)
	}
}

// end says why the answer at a place ends, and what else is known of it.
func (a *answer) end(k int, to *Candidate, note noter) {
	from := &a.candidates[k]
	path := candidatePath(from.index, "stop")
	to.Index = from.index
	to.FinishReason, to.FinishMessage = from.words(func(r *loss.Rule) { note(path, r) })
	a.unsaid(from.members.Add(from.stop.Extra, Format), from.stop.Extra, candidatePath(from.index, ""), note)
	if from.stop.Format == Format {
		from.members.Add(&content.Extra{Format: Format, JSON: from.stop.Details}, Format)
	}
	from.members.Take("finishMessage")
	from.members.Take("promptFeedback")
	if s := from.likely.average(); s != "" {
		from.members.Set("avgLogprobs", s)
	}
	from.ground(note)
	to.Extra = from.members.Extra(Format)
}

// rest says what the whole response has.
func (a *answer) rest(to *Response, note noter) {
	to.Usage, to.ModelVersion, to.ResponseID = a.usage, a.start.Model, a.start.ID
	a.lostCounts(note)
	to.Extra = a.members.Extra(Format)
}

// lostCounts reports what usage cannot say.
func (a *answer) lostCounts(note noter) {
	u := &a.usage
	if u.CacheWrite != 0 || u.CacheWrite1h != 0 || codec.HasCounts(u.Extra, Format) {
		note("usage", unsaidCounts)
	}
}

// blocked reports whether a feedback says that the prompt was blocked.
func blocked(feedback string) bool {
	if feedback == "" {
		return false
	}
	doc, err := jsonwire.Parse(feedback, jsonwire.Limits{})
	if err != nil {
		return false
	}
	defer doc.Close()
	return doc.Root().Get("blockReason").Str() != ""
}

// AppendJSON appends the answer as a JSON document. A part that is nil, or that
// an answer cannot hold, is a [*content.Violation]; [ResponseFromUpstream] leaves none.
func (r *Response) AppendJSON(dst []byte) ([]byte, error) {
	var w jsonwire.Writer
	if err := r.write(&w); err != nil {
		return dst, err
	}
	return codec.Append(dst, &w)
}

// write writes the answer.
func (r *Response) write(w *jsonwire.Writer) error {
	e := newEncoder(w)
	w.BeginObject()
	if len(r.Candidates) > 0 {
		w.Name("candidates")
		w.BeginArray()
		e.Path.Push("candidates")
		for i := range r.Candidates {
			e.Path.PushIndex(i)
			e.candidate(&r.Candidates[i])
			e.Path.Pop()
		}
		e.Path.Pop()
		w.EndArray()
	}
	if r.PromptFeedback != "" {
		e.Raw("promptFeedback", r.PromptFeedback)
	}
	if counted(&r.Usage) {
		w.Name("usageMetadata")
		w.Raw(string(appendUsage(nil, &r.Usage)))
	}
	if r.ModelVersion != "" {
		e.Must("modelVersion", r.ModelVersion)
	}
	if r.ResponseID != "" {
		e.Must("responseId", r.ResponseID)
	}
	e.Encoder.Extra(r.Extra, Format, responseMember)
	w.EndObject()
	return e.Violations.Err()
}

func (e *encoder) candidate(c *Candidate) {
	e.W.BeginObject()
	e.Begin("content")
	e.parts(c.Parts)
	e.Must("role", "model")
	e.End()
	if c.FinishReason != "" {
		e.Must("finishReason", c.FinishReason)
	}
	if c.FinishMessage != "" {
		e.Must("finishMessage", c.FinishMessage)
	}
	e.W.Name("index")
	e.W.Int(int64(c.Index))
	e.Encoder.Extra(c.Extra, Format, candidateMember)
	e.W.EndObject()
}

// responseMember reports whether name is a member that has a field.
func responseMember(name string) bool {
	switch name {
	case "candidates", "promptFeedback", "usageMetadata", "modelVersion", "responseId":
		return true
	}
	return false
}

// candidateMember reports whether name is a member that has a field.
func candidateMember(name string) bool {
	switch name {
	case "content", "finishReason", "finishMessage", "index":
		return true
	}
	return false
}
