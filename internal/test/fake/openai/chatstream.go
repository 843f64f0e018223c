package openai

import (
	"strconv"

	"github.com/polywire/polywire/internal/test/fake"
)

// chatStream returns the response as chunks, openai.md §3.2.
func (an *answer) chatStream() []fake.Step {
	w := chatWriter{an: an, q: an.ask.server.opts.Quirks}
	options := an.ask.doc.Get("stream_options")
	w.asked = options.True("include_usage")
	if _, isReply := firstPiece(an.pieces).(fake.Reply); w.q.FilterFirst && !isReply {
		w.raw(fake.Join("choices", "[]", "created", "0", "id", `""`, "model", `""`, "object", `""`,
			"prompt_filter_results", `[{"prompt_index":0,"content_filter_results":{"hate":{"filtered":false,"severity":"safe"}}}]`))
	}
	for i, p := range an.pieces {
		if w.failed {
			return w.steps
		}
		w.piece(p, an.splits[i])
	}
	if !w.failed {
		w.finish()
	}
	return w.steps
}

// filtered returns the results of Azure's filter for a response, or "".
func (s *Server) filtered() string {
	if s.opts.Azure == "" {
		return ""
	}
	return `{"hate":{"filtered":false,"severity":"safe"},"protected_material_text":{"detected":false,"filtered":false}}`
}

// firstPiece returns the first piece, or nil.
func firstPiece(pieces []fake.Piece) fake.Piece {
	if len(pieces) == 0 {
		return nil
	}
	return pieces[0]
}

type chatWriter struct {
	an              *answer
	q               Quirks
	steps           []fake.Step
	asked           bool // the request asks for usage
	started, failed bool
	calls           int
}

func (w *chatWriter) raw(data string) {
	if w.q.Comments {
		w.steps = append(w.steps, fake.Frame(": PROCESSING\n\n"))
	}
	w.steps = append(w.steps, fake.Frame(fake.SSE("", data)))
}

// chunk sends one choice.
func (w *chatWriter) chunk(delta, finish, usage string) {
	if w.q.FinishEmpty && finish == "null" {
		finish = `""`
	}
	choice := fake.Join("index", "0", "delta", delta, "logprobs", "null", "finish_reason", finish, "content_filter_results", w.an.ask.server.filtered())
	failure := ""
	if w.q.NullError {
		failure = "null"
	}
	members := append(w.an.meta("chat.completion.chunk"), "choices", "["+choice+"]", "usage", usage, "error", failure)
	w.raw(fake.Join(fake.With(members, w.an.outer)...))
}

// running returns the usage member of a chunk before the last.
func (w *chatWriter) running() string {
	switch {
	case w.q.UsageAlways:
		return w.an.usageJSON()
	case w.asked && w.an.usage != nil && !w.q.UsageAtFinish:
		return "null"
	}
	return ""
}

// delta sends members of a delta; the first delta has the role.
func (w *chatWriter) delta(members ...string) {
	if !w.started || w.q.RoleAlways {
		members = append([]string{"role", `"assistant"`}, members...)
	}
	w.started = true
	w.chunk(fake.Join(members...), "null", w.running())
}

func (w *chatWriter) piece(p fake.Piece, split int) {
	switch p := p.(type) {
	case fake.Text:
		w.text(string(p), split)
	case fake.Cited:
		w.text(p.Text, split)
		w.delta("annotations", list(p.Citations))
	case fake.Thinking:
		for _, s := range fake.Chunks(string(p), split, true) {
			if w.q.Reasoning != "" {
				w.delta(w.q.Reasoning, fake.Quote(s))
			}
		}
	case fake.ToolCall:
		w.call(p, split)
	case fake.Image:
		w.delta("images", list([]string{imageJSON(p)}))
	case fake.Raw:
		w.delta("tool_calls", list([]string{string(p)}))
	case fake.Ping:
		w.steps = append(w.steps, fake.Frame(": keep-alive\n\n"))
	case fake.Event:
		w.steps = append(w.steps, fake.Frame(fake.SSE(p.Name, p.Data)))
	case fake.Wire:
		w.steps = append(w.steps, fake.Frame(string(p)))
	case fake.Status:
		w.steps = append(w.steps, fake.Frame(fake.SSE("", fake.Join("error", statusRefusal(p).body()))))
		w.failed = true
	case fake.Disruption:
		w.steps = append(w.steps, fake.Step{Disruption: p})
	}
}

func (w *chatWriter) text(s string, split int) {
	if !w.started && !w.an.ask.server.opts.Local {
		w.delta("content", `""`, "refusal", "null")
	}
	for _, part := range fake.Chunks(s, split, true) {
		w.delta("content", w.an.contentJSON(part))
	}
}

// call sends a tool call: head and fragments, or one fragment with the quirk.
func (w *chatWriter) call(c fake.ToolCall, split int) {
	index := w.calls
	w.calls++
	whole := w.q.IndexZero || w.q.NoIndex || w.q.WholeArgs || w.q.ObjectArgs
	switch {
	case w.q.IndexZero:
		index = 0
	case w.q.NoIndex:
		index = -1
	}
	content := "null"
	if w.q.EmptyContent {
		content = `""`
	}
	if w.started || w.q.NoContent {
		content = ""
	}
	if whole {
		w.delta("content", content, "tool_calls", list([]string{w.an.callJSON(c, index, c.Args)}))
		return
	}
	w.delta("content", content, "tool_calls", list([]string{w.an.callJSON(c, index, "")}))
	for _, s := range fake.Chunks(c.Args, split, true) {
		frag := fake.Join("index", strconv.Itoa(index), "function", fake.Join("arguments", fake.Quote(s)))
		if w.q.RepeatIDs {
			frag = fake.Join("index", strconv.Itoa(index), "id", fake.Quote(c.ID), "type", `"function"`,
				"function", fake.Join("name", fake.Quote(c.Name), "arguments", fake.Quote(s)))
		}
		w.delta("tool_calls", list([]string{frag}))
	}
}

// finish sends the finish_reason, the usage and the end mark.
func (w *chatWriter) finish() {
	usage, delta := w.running(), "{}"
	if w.q.UsageAtFinish {
		usage = w.an.usageJSON()
	}
	if w.q.RoleAlways {
		delta = `{"role":"assistant","content":""}`
	}
	if len(w.an.ofMessages) > 0 {
		delta = fake.Join(fake.With(nil, w.an.ofMessages)...)
	}
	w.chunk(delta, w.an.finish(), usage)
	if w.q.DeltaAfterStop {
		w.chunk(`{"content":""}`, "null", w.running())
	}
	if w.asked && w.an.usage != nil && !w.q.UsageAtFinish && !w.q.UsageAlways {
		members := append(w.an.meta("chat.completion.chunk"), "choices", "[]", "usage", w.an.usageJSON())
		w.raw(fake.Join(fake.With(members, w.an.outer)...))
	}
	if !w.q.NoDone {
		w.steps = append(w.steps, fake.Frame("data: [DONE]\n\n"))
	}
}
