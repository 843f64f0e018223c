package responses

import (
	"cmp"
	"strings"
	"unicode/utf8"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/handler"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/openaiformat"
	"github.com/polywire/polywire/internal/response"
	"github.com/polywire/polywire/upstream"
)

// The events of a stream are those of the vendor, and no others: clients refuse unknown ones.
//
//	response.created  response.in_progress  item*  end  [DONE]
//	end      = response.completed | response.incomplete | error response.failed
//	message  = output_item.added  part*  output_item.done
//	part     = content_part.added  delta*  annotation.added*  output_text.done (or refusal.done)  content_part.done
//	reasoning= output_item.added  (summary_part.added  summary_text.delta*  summary_text.done  summary_part.done)?  output_item.done
//	call     = output_item.added  delta*  arguments.done (or input.done)  output_item.done
//
// Items may overlap. Each event is written as a whole.

// ContentType implements [handler.Encoder].
func (s *encoder) ContentType() string { return "text/event-stream; charset=utf-8" }

// Ping appends a comment, which clients ignore.
func (s *encoder) Ping(dst []byte) []byte {
	if s.messages {
		return dst
	}
	return append(dst, ": keepalive\n\n"...)
}

// Events implements [handler.Encoder].
func (s *encoder) Events(dst []byte, events []upstream.Event) []byte {
	s.dst = dst
	s.renamed(events)
	if s.ended {
		events = nil // nothing follows the end of the vendor's response
	}
	if s.forwarding && !s.forwards(events) && response.HasContent(events) {
		s.stopForwarding()
	}
	s.Engine.Events(events)
	if s.started && !s.begun && !s.forwarding {
		s.start() // after the whole batch, which may contain the usage
	}
	return s.take()
}

// take returns the bytes of the current call.
func (s *encoder) take() []byte {
	dst := s.dst
	s.dst = nil
	return dst
}

// End implements [handler.Encoder].
func (s *encoder) End(dst []byte, f *handler.Failure) []byte {
	s.dst = dst
	if s.ended {
		s.dst = append(s.dst, "data: [DONE]\n\n"...)
		return s.take()
	}
	if s.forwarding {
		s.stopForwarding()
	}
	s.start()
	if f == nil {
		if s.finish(); s.compacting {
			f = s.endSummary()
		}
	}
	if f != nil {
		s.fail(f)
	} else {
		status, _ := s.status()
		s.reportEnd()
		s.saveResponse(status)
		s.responseEvent("response."+status, status, nil)
	}
	if !s.messages {
		s.dst = append(s.dst, "data: [DONE]\n\n"...)
	}
	return s.take()
}

// fail writes a failure: as an error, which most clients report, and as a failed response, for
// those that ignore the error. Recorded errors of the vendor are nested, and clients such as
// openai-go and AI SDK 5 read only these. The vendor's documentation has the same members in the
// event itself.
func (s *encoder) fail(f *handler.Failure) {
	e := openaiformat.NewServerError(Format, f)
	e.Code = cmp.Or(e.Code, e.Type)
	s.event("error")
	s.dst = jsonwire.AppendString(append(s.dst, `,"error":{"type":`...), e.Type)
	s.appendError(&e)
	s.dst = append(s.dst, '}')
	if !s.settings.openResponses {
		s.appendError(&e)
	}
	s.endEvent()
	if e.Status/100 == 4 && !isFailedCode(e.Code) {
		e.Code = "invalid_prompt" // Codex repeats the request for codes that it does not know
	}
	s.responseEvent("response.failed", "failed", &e)
}

// isFailedCode reports whether a code of an error of the client, or of its account, is one that
// clients know in a failed response.
func isFailedCode(code string) bool {
	switch code {
	case "context_length_exceeded", "insufficient_quota", "rate_limit_exceeded":
		return true
	}
	return false
}

// appendError appends the members of an error that both forms have.
func (s *encoder) appendError(e *openaiformat.ServerError) {
	s.dst = jsonwire.AppendString(append(s.dst, `,"code":`...), e.Code)
	s.dst = jsonwire.AppendString(append(s.dst, `,"message":`...), e.Message)
	s.dst = appendNullable(append(s.dst, `,"param":`...), e.Param)
}

// Broken implements [response.Stream].
func (s *encoder) Broken(b *sentBlock) { b.State.broken = true }

// Other implements [response.Stream].
func (s *encoder) Other(b *sentBlock, e *upstream.Event) {
	switch {
	case e.Kind == upstream.EventBlockExtra:
		if b != nil {
			s.Lose(b, lossSentEvent)
		}
		return
	case e.Kind == upstream.EventExtra && e.Text != "":
		s.LoseAt(loss.EventPath(e.Text), lossSentEvent)
		return
	case e.Kind == upstream.EventStart:
		s.started = true
		s.addMembers(e.Start.Extra)
	case e.Kind == upstream.EventUsage:
		s.counted = true
	}
	s.addMembers(e.Extra)
}

// addMembers takes the members of a response without a field. It reports those that are dropped.
func (s *encoder) addMembers(x *content.Extra) {
	if x != nil && x.Format != Format {
		x = s.TakeLogprobs(0, x)
	}
	switch {
	case x == nil:
		return
	case x.Format != Format:
		s.sources.Name(x)
		shown := s.knowsSearch && !s.settings.openResponses
		if shown {
			s.search.Add(x)
		}
		for path, r := range foreign.ResponseMembers(x, "") {
			if r != foreign.QueriesLoss || !shown {
				s.LoseAt(path, r)
			}
		}
		return
	}
	doc, err := jsonwire.Parse(x.JSON, jsonwire.Limits{})
	if err != nil {
		return
	}
	defer doc.Close()
	for name, v := range doc.Root().Members() {
		switch {
		case name == "service_tier":
			s.tier = strings.Clone(v.Raw())
		case !s.lost:
			s.lost = true
			s.LoseAt("members", lossSentMembers)
		}
	}
}

// start writes the first two events, once.
func (s *encoder) start() {
	if s.begun || s.whole {
		return
	}
	s.begun = true
	s.responseEvent("response.created", "in_progress", nil)
	s.responseEvent("response.in_progress", "in_progress", nil)
}

// responseEvent writes an event with the response.
func (s *encoder) responseEvent(name, status string, failed *openaiformat.ServerError) {
	s.event(name)
	s.dst = s.appendResponse(append(s.dst, `,"response":`...), status, failed)
	s.endEvent()
}

// event begins an event.
func (s *encoder) event(name string) {
	s.dst = append(append(s.dst, "event: "...), name...)
	s.dst = append(append(s.dst, "\ndata: {\"type\":\""...), name...)
	s.dst = jsonwire.AppendInt(append(s.dst, `","sequence_number":`...), s.number)
	s.number++
}

func (s *encoder) endEvent() { s.dst = append(s.dst, "}\n\n"...) }

// itemEvent begins an event about an item.
func (s *encoder) itemEvent(name string, it *item) {
	s.event(name)
	s.dst = appendItemID(s.dst, it)
}

// appendItemID appends the members that identify an item, each after a comma.
func appendItemID(dst []byte, it *item) []byte {
	dst = jsonwire.AppendString(append(dst, `,"item_id":`...), it.id)
	return jsonwire.AppendInt(append(dst, `,"output_index":`...), int64(it.index))
}

// itemAdded writes the beginning of an item, or the item if it is complete.
func (s *encoder) itemAdded(it *item) { s.itemObject("response.output_item.added", it) }

// itemDone writes the end of an item, and drops its JSON if the last event does not repeat it.
func (s *encoder) itemDone(it *item) {
	if s.itemObject("response.output_item.done", it); s.dropped {
		it.json = nil
	}
}

// itemObject writes an event with an item.
func (s *encoder) itemObject(name string, it *item) {
	if s.whole {
		return
	}
	s.event(name)
	s.dst = append(jsonwire.AppendInt(append(s.dst, `,"output_index":`...), int64(it.index)), `,"item":`...)
	if it.json != nil {
		s.dst = append(s.dst, it.json...)
	} else {
		s.dst = appendItem(s.dst, it, "in_progress", false)
	}
	s.endEvent()
}

// The events of deltas, up to their numbers.
const (
	textDelta     = "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"sequence_number\":"
	refusalDelta  = "event: response.refusal.delta\ndata: {\"type\":\"response.refusal.delta\",\"sequence_number\":"
	summaryDelta  = "event: response.reasoning_summary_text.delta\ndata: {\"type\":\"response.reasoning_summary_text.delta\",\"sequence_number\":"
	functionDelta = "event: response.function_call_arguments.delta\ndata: {\"type\":\"response.function_call_arguments.delta\",\"sequence_number\":"
	customDelta   = "event: response.custom_tool_call_input.delta\ndata: {\"type\":\"response.custom_tool_call_input.delta\",\"sequence_number\":"
)

// maxDelta limits the text of a delta, because some clients limit the length of a line.
const maxDelta = 1 << 20

// writeDelta writes text of an item, in as many deltas as necessary. The first has the log
// probabilities of the text. A delta that follows another one of the item begins as that did, apart
// from the number. Writing it allocates nothing.
func (s *encoder) writeDelta(it *item, text string, logprobs []byte) {
	if s.whole || it.kind == searchItem {
		return
	}
	if it.delta == nil {
		s.beginDeltas(it)
	}
	rest := ""
	if cut := maxDelta; len(text) > cut {
		for !utf8.RuneStart(text[cut]) && cut > maxDelta-utf8.UTFMax {
			cut--
		}
		text, rest = text[:cut], text[cut:]
	}
	if it.number != s.number && (it.number != s.number-1 || !increment(it.delta[:it.numberEnd])) {
		s.prepareDeltas(it)
	}
	it.number = s.number
	s.number++
	dst, tail := jsonwire.AppendString(append(s.dst, it.delta...), text), "}\n\n"
	switch {
	case len(logprobs) > 0:
		dst, tail = append(append(dst, `,"logprobs":[`...), logprobs...), "]}\n\n"
	case it.kind == messageItem && !it.isRefusal:
		tail = `,"logprobs":[]}` + "\n\n"
	}
	s.dst = append(dst, tail...)
	if rest != "" {
		s.writeDelta(it, rest, nil)
	}
}

// beginDeltas prepares the deltas of an item or a part. A summary begins with its first text.
func (s *encoder) beginDeltas(it *item) {
	if it.kind == reasoningItem {
		s.itemEvent("response.reasoning_summary_part.added", it)
		s.dst = append(s.dst, `,"summary_index":0,"part":{"type":"summary_text","text":""}`...)
		s.endEvent()
	}
	s.prepareDeltas(it)
}

// prepareDeltas sets the beginning of the next delta of an item or a part.
func (s *encoder) prepareDeltas(it *item) {
	head := textDelta
	switch {
	case it.kind == reasoningItem:
		head = summaryDelta
	case it.kind == functionItem:
		head = functionDelta
	case it.kind == customItem:
		head = customDelta
	case it.isRefusal:
		head = refusalDelta
	}
	it.number = s.number
	it.delta = jsonwire.AppendInt(append(it.delta[:0], head...), s.number)
	it.numberEnd = len(it.delta)
	it.delta = appendItemID(it.delta, it)
	switch it.kind {
	case messageItem:
		it.delta = jsonwire.AppendInt(append(it.delta, `,"content_index":`...), int64(it.count-1))
	case reasoningItem:
		it.delta = append(it.delta, `,"summary_index":0`...)
	}
	it.delta = append(it.delta, `,"delta":`...)
}

// increment adds one to the number at the end of b. It returns false if that needs another digit.
func increment(b []byte) bool {
	for i := len(b) - 1; b[i] >= '0' && b[i] <= '9'; i-- {
		if b[i] < '9' {
			b[i]++
			return true
		}
		b[i] = '0'
	}
	return false
}

// contentEvent begins an event about the open part of a message, whose index is at.
func (s *encoder) contentEvent(name string, it *item, at int) {
	s.itemEvent(name, it)
	s.dst = jsonwire.AppendInt(append(s.dst, `,"content_index":`...), int64(at))
}

// partAdded writes the beginning of a part of a message.
func (s *encoder) partAdded(it *item) {
	it.delta = nil
	if s.whole {
		return
	}
	s.contentEvent("response.content_part.added", it, it.count)
	s.dst = appendPart(append(s.dst, `,"part":`...), it, "")
	s.endEvent()
}

// annotationAdded writes an annotation of the open part of a message.
func (s *encoder) annotationAdded(it *item, json []byte) {
	if s.whole {
		return
	}
	s.contentEvent("response.output_text.annotation.added", it, it.count-1)
	s.dst = jsonwire.AppendInt(append(s.dst, `,"annotation_index":`...), int64(it.cited))
	s.dst = append(append(s.dst, `,"annotation":`...), json...)
	s.endEvent()
}

// textDone writes the whole text of the open part of a message.
func (s *encoder) textDone(it *item) {
	switch {
	case s.whole:
		return
	case it.isRefusal:
		s.contentEvent("response.refusal.done", it, it.count-1)
		s.dst = jsonwire.AppendString(append(s.dst, `,"refusal":`...), it.text.String())
	default:
		s.contentEvent("response.output_text.done", it, it.count-1)
		s.dst = jsonwire.AppendString(append(s.dst, `,"text":`...), it.text.String())
		s.dst = append(append(append(s.dst, `,"logprobs":[`...), it.logprobs...), ']')
	}
	s.endEvent()
}

// partDone writes the end of a part of a message.
func (s *encoder) partDone(it *item, json []byte) {
	if s.whole {
		return
	}
	s.contentEvent("response.content_part.done", it, it.count-1)
	s.dst = append(append(s.dst, `,"part":`...), json...)
	s.endEvent()
}

// summaryDone writes the end of the summary of a reasoning item.
func (s *encoder) summaryDone(it *item) {
	if s.whole {
		return
	}
	s.itemEvent("response.reasoning_summary_text.done", it)
	s.dst = jsonwire.AppendString(append(s.dst, `,"summary_index":0,"text":`...), it.text.String())
	s.endEvent()
	s.itemEvent("response.reasoning_summary_part.done", it)
	s.dst = jsonwire.AppendString(append(s.dst, `,"summary_index":0,"part":{"type":"summary_text","text":`...), it.text.String())
	s.dst = append(s.dst, '}')
	s.endEvent()
}

// argumentsDone writes the whole arguments of a tool call.
func (s *encoder) argumentsDone(it *item) {
	if s.whole || it.kind == searchItem {
		return
	}
	name, member := "response.function_call_arguments.done", `,"arguments":`
	if it.kind == customItem {
		name, member = "response.custom_tool_call_input.done", `,"input":`
	}
	s.itemEvent(name, it)
	s.dst = jsonwire.AppendString(append(s.dst, member...), it.text.String())
	s.endEvent()
}

var _ response.Stream[sentState] = (*encoder)(nil)
