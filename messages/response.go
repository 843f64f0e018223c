package messages

import (
	"slices"
	"strconv"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/handler"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/upstream"
)

// Response is the body of a whole answer, fields in the order of the wire. Its
// members "type" and "role", which are always the same, have no field.
type Response struct {
	ID    string
	Model string // that answered

	// Content holds what the model said. The free JSON in it has to be valid.
	Content []content.Part

	StopReason   string // in the format's words; empty: null
	StopSequence string // empty: null
	StopDetails  string // JSON text of an object; empty: null
	Container    string // JSON text of an object; empty: null
	Diagnostics  string // JSON text of an object; empty: null

	// Usage counts exclusively, as everywhere; the wire's sums are made of it.
	Usage content.Usage

	Extra *content.Extra
}

// ResponseFromUpstream returns the answer that says what r says, and what it cannot say.
// Paths of losses are neutral. r is left as it is; its parts may be shared.
//
// Where r names no id or model, they are empty: the caller fills them in. A
// call that has no name, or whose arguments are not a JSON object, because they
// were cut or the model wrote them so, is left out; this is reported, and where
// the answer would end in the ordinary way, it says "malformed_tool_use".
// Arguments that are nothing but white space, or null, are none. A call without
// any that is the last part of an answer that was cut is left out too.
//
// A call without an id, or with that of a call before it, gets one: "toolu_pw"
// and a number, which no other call of the answer has. An id of an odd alphabet
// stays what it is, since clients give it back as it was and the upstream wants
// to know it again. Signatures of calls of other formats, and thinking before
// calls, are in the ids of calls: see the package documentation.
func ResponseFromUpstream(r *upstream.Response) (*Response, []content.Loss) {
	return responseOf(r, nil, placement{})
}

// responseOf is ResponseFromUpstream for an answer to a conversation, whose calls have
// other ids than the answer's, and that decides where state goes.
func responseOf(r *upstream.Response, turns []content.Turn, where placement) (*Response, []content.Loss) {
	var lost []content.Loss
	a := answer{start: r.Start, stop: r.Stop, usage: r.Usage}
	note := func(path string, r *loss.Rule) {
		lost = append(lost, r.At(path))
	}
	a.take(r.Extra, note)
	list := blockList{placement: where, list: make([]content.Part, 0, len(r.Parts)), ids: idMaker{turns: turns}, note: note,
		pending: envelope.Pending{ClientFormat: Format, OmitText: true}, room: envelope.MaxIDSize, own: r.Stop.Format == Format}
	for i, from := range r.Parts {
		lose := func(r *loss.Rule) {
			note(partPath(i), r)
			a.broken = a.broken || unmade(r)
		}
		if i == len(r.Parts)-1 && codec.NotStarted(from, r.Stop.Reason) {
			lose(unsaidCut)
			break
		}
		if p := forAnswer(from, lose); p != nil {
			if t, ok := p.(*content.Text); ok {
				a.cited(t.Citations)
			}
			list.add(i, from, p, lose)
		}
	}
	a.calls = list.calls
	parts, unsaid := list.end()
	lost = append(lost, unsaid...)
	if len(r.MoreCandidates) > 0 {
		note("candidates", unsaidCandidates)
	}
	res := a.response(note)
	res.Content = parts
	return res, loss.Unique(lost)
}

// AppendJSON appends the answer as a JSON document. Every member that the
// format requires is there, as null where nothing is known. A part that is nil,
// or that an answer has no block for, is a [*content.Violation]; [ResponseFromUpstream] leaves
// none.
func (r *Response) AppendJSON(dst []byte) ([]byte, error) {
	var w jsonwire.Writer
	if err := r.write(&w); err != nil {
		return dst, err
	}
	return codec.Append(dst, &w)
}

// write writes the answer.
func (r *Response) write(w *jsonwire.Writer) error {
	var faults content.ViolationList
	w.BeginObject()
	w.Name("id")
	w.String(r.ID)
	w.Name("type")
	w.String("message")
	w.Name("role")
	w.String("assistant")
	w.Name("model")
	w.String(r.Model)
	w.Name("content")
	w.BeginArray()
	for i, p := range r.Content {
		if content.IsNil(p) || !writeBlock(w, p, false) {
			faults.Add(content.CodeUnsupported, "content."+strconv.Itoa(i), "an answer has no such block")
		}
	}
	w.EndArray()
	r.writeStop(w)
	w.Name("container")
	rawOrNull(w, r.Container)
	w.Name("diagnostics")
	rawOrNull(w, r.Diagnostics)
	w.Name("usage")
	writeUsage(w, &r.Usage)
	if r.Extra != nil && r.Extra.Format == Format {
		_ = w.MembersExcept(r.Extra.JSON, messageMember)
	}
	w.EndObject()
	return faults.Err()
}

func (r *Response) writeStop(w *jsonwire.Writer) {
	w.Name("stop_reason")
	nullable(w, r.StopReason)
	w.Name("stop_sequence")
	nullable(w, r.StopSequence)
	w.Name("stop_details")
	rawOrNull(w, r.StopDetails)
}

func rawOrNull(w *jsonwire.Writer, json string) {
	if json == "" {
		w.Null()
		return
	}
	w.Raw(json)
}

// messageMember reports whether name is a member that has a field.
func messageMember(name string) bool {
	switch name {
	case "id", "type", "role", "model", "content", "stop_reason", "stop_sequence", "stop_details",
		"container", "diagnostics", "usage":
		return true
	}
	return false
}

// An answer is what is known of one beside its blocks.
type answer struct {
	start upstream.Start
	stop  upstream.Stop
	usage content.Usage
	more  handler.Members // that have no field

	sources codec.Sources
	calls   int  // blocks that are calls
	broken  bool // one was left out, or should have been
}

// response says it in the format's words, without the blocks.
func (a *answer) response(lost func(path string, r *loss.Rule)) *Response {
	r := &Response{ID: a.start.ID, Model: a.start.Model, Usage: a.usage}
	r.StopReason, r.StopSequence, r.StopDetails = a.stopWords(lost)
	if codec.HasCounts(a.usage.Extra, Format) || slices.ContainsFunc(a.usage.Modalities, apart) {
		lost("usage", unsaidCounts)
	}
	for path, r := range a.sources.Lost() {
		lost(path, r)
	}
	var m handler.Members
	for _, x := range [...]*content.Extra{a.start.Extra, a.more.Extra(Format), a.stop.Extra} {
		if m.Add(x, Format) {
			unsaidMembers(x, lost)
		}
	}
	r.Container, r.Diagnostics = m.Take("container"), m.Take("diagnostics")
	r.Extra = restOf(m)
	return r
}

// take takes members of the answer that have no field, or tells of those of
// another format.
func (a *answer) take(x *content.Extra, lost func(path string, r *loss.Rule)) {
	if a.more.Add(x, Format) {
		a.sources.Name(x)
		unsaidMembers(x, lost)
	}
}

// unsaidMembers tells what is lost of an answer's members of another format.
func unsaidMembers(x *content.Extra, lost func(path string, r *loss.Rule)) {
	for path, r := range codec.Unsupported(x, "") {
		lost(path, r)
	}
}

// cited notes citations that are told.
func (a *answer) cited(list []content.Citation) {
	for i := range list {
		a.sources.Cite(&list[i])
	}
}

// restOf returns members of an answer that have no field.
func restOf(m handler.Members) *content.Extra {
	return slices.DeleteFunc(m, func(x handler.Member) bool { return messageMember(x.Name) }).Extra(Format)
}

// apart reports whether a count says more than the sum of what it counts, which
// is of text as a rule.
func apart(m content.ModalityCount) bool { return m.Tokens != 0 && m.Modality != "text" }
