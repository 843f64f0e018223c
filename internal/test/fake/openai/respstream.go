package openai

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/polywire/polywire/internal/test/fake"
)

// An output is an output item and its events.
type output struct {
	id, start, done string
	events          []event
}

type event struct {
	name    string
	members []string
}

// sub adds an event of a part of the item, with the item's id.
func (o *output) sub(name string, members ...string) {
	o.events = append(o.events, event{name, append([]string{"item_id", fake.Quote(o.id)}, members...)})
}

func (an *answer) output(i int, p fake.Piece, split int) output {
	id := func(prefix string) string { return fmt.Sprintf("%s_%08d_%d", prefix, an.id, i) }
	switch p := p.(type) {
	case fake.Text:
		return messageOutput(id("msg"), string(p), nil, split)
	case fake.Cited:
		return messageOutput(id("msg"), p.Text, p.Citations, split)
	case fake.Thinking:
		return reasoningOutput(id("rs"), string(p), an.ask.doc.Get("reasoning").Get("summary") != nil, split)
	case fake.Redacted:
		return reasoningOutput(id("rs"), "", false, split)
	case fake.ToolCall:
		return callOutput(id("fc"), p, split)
	case fake.Image:
		done := fake.Join("id", fake.Quote(id("ig")), "type", `"image_generation_call"`, "status", `"completed"`, "result", fake.Quote(p.Data), "output_format", fake.Quote(strings.TrimPrefix(p.MIME, "image/")))
		return output{id: id("ig"), start: fake.Join("id", fake.Quote(id("ig")), "type", `"image_generation_call"`, "status", `"in_progress"`, "result", "null"), done: done}
	case fake.Raw:
		return output{start: string(p), done: string(p)}
	default:
		panic(fmt.Sprintf("fake: %T is not an output item", p))
	}
}

func messageOutput(id, text string, notes []string, split int) output {
	o := output{id: id}
	annotations := "[" + strings.Join(notes, ",") + "]"
	part := func(s, a string) string {
		return fake.Join("type", `"output_text"`, "text", fake.Quote(s), "annotations", a, "logprobs", "[]")
	}
	message := func(status, content string) string {
		return fake.Join("id", fake.Quote(id), "type", `"message"`, "role", `"assistant"`, "status", fake.Quote(status), "content", content)
	}
	o.start, o.done = message("in_progress", "[]"), message("completed", "["+part(text, annotations)+"]")
	o.sub("response.content_part.added", "content_index", "0", "part", part("", "[]"))
	for _, s := range fake.Chunks(text, split, true) {
		o.sub("response.output_text.delta", "content_index", "0", "delta", fake.Quote(s), "logprobs", "[]", "obfuscation", `"x8K"`)
	}
	for i, n := range notes {
		o.sub("response.output_text.annotation.added", "content_index", "0", "annotation_index", strconv.Itoa(i), "annotation", n)
	}
	o.sub("response.output_text.done", "content_index", "0", "text", fake.Quote(text), "logprobs", "[]")
	o.sub("response.content_part.done", "content_index", "0", "part", part(text, annotations))
	return o
}

func reasoningOutput(id, text string, summary bool, split int) output {
	o := output{id: id}
	part := func(s string) string { return fake.Join("type", `"summary_text"`, "text", fake.Quote(s)) }
	item := func(parts, content string) string {
		return fake.Join("id", fake.Quote(id), "type", `"reasoning"`, "summary", parts, "encrypted_content", fake.Quote(content))
	}
	o.start, o.done = item("[]", "gAAApart"), item("[]", seal(id))
	if !summary || text == "" {
		return o
	}
	o.done = item("["+part(text)+"]", seal(id))
	o.sub("response.reasoning_summary_part.added", "summary_index", "0", "part", part(""))
	for _, s := range fake.Chunks(text, split, true) {
		o.sub("response.reasoning_summary_text.delta", "summary_index", "0", "delta", fake.Quote(s))
	}
	o.sub("response.reasoning_summary_text.done", "summary_index", "0", "text", fake.Quote(text))
	o.sub("response.reasoning_summary_part.done", "summary_index", "0", "part", part(text))
	return o
}

func callOutput(id string, c fake.ToolCall, split int) output {
	o := output{id: id}
	item := func(status, args string) string {
		return fake.Join("id", fake.Quote(id), "type", `"function_call"`, "status", fake.Quote(status), "call_id", fake.Quote(c.ID), "name", fake.Quote(c.Name), "arguments", fake.Quote(args))
	}
	o.start, o.done = item("in_progress", ""), item("completed", c.Args)
	for _, s := range fake.Chunks(c.Args, split, true) {
		o.sub("response.function_call_arguments.delta", "delta", fake.Quote(s))
	}
	o.sub("response.function_call_arguments.done", "arguments", fake.Quote(c.Args))
	return o
}

// isItem reports whether a piece becomes an output item.
func isItem(p fake.Piece) bool {
	switch p.(type) {
	case fake.Text, fake.Cited, fake.Thinking, fake.Redacted, fake.ToolCall, fake.Image, fake.Raw:
		return true
	}
	return false
}

// document returns a response, openai.md §5.1. A stop with the reason "failed"
// has the error code in Sequence and its message in Details; any other reason
// but "completed" is the reason why the response is incomplete.
func (an *answer) document(status, items string, usage bool) string {
	incomplete, failure, counts := "null", "null", "null"
	if an.stop != nil && status == "incomplete" {
		incomplete = fake.Join("reason", fake.Quote(an.stop.Reason))
	}
	if an.stop != nil && status == "failed" {
		failure = fake.Join("code", fake.Quote(an.stop.Sequence), "message", fake.Quote(an.stop.Details))
	}
	if usage && an.usage != nil && status != "failed" {
		counts = an.usageJSON()
	}
	members := []string{
		"id", fake.Quote(fmt.Sprintf("resp_%08d", an.id)), "object", `"response"`, "created_at", created, "status", fake.Quote(status),
		"error", failure, "incomplete_details", incomplete, "instructions", "null", "metadata", "{}", "model", fake.Quote(an.model),
		"output", items, "parallel_tool_calls", "true", "temperature", "1", "tool_choice", `"auto"`, "tools", "[]", "top_p", "1", "usage", counts,
	}
	return fake.Join(fake.With(members, an.outer)...)
}

// status returns the status at the end of the response.
func (an *answer) status() string {
	switch {
	case an.stop == nil || an.stop.Reason == "completed":
		return "completed"
	case an.stop.Reason == "failed":
		return "failed"
	}
	return "incomplete"
}

func (an *answer) responseWhole() string {
	var items []string
	for i, p := range an.pieces {
		if isItem(p) {
			items = append(items, an.output(i, p, an.splits[i]).done)
		}
	}
	return an.document(an.status(), "["+strings.Join(items, ",")+"]", true)
}

// responseStream returns the response as events, openai.md §5.2.
func (an *answer) responseStream() []fake.Step {
	var steps []fake.Step
	sequence, index := 0, 0
	var done []string
	send := func(name string, members ...string) {
		all := append([]string{"type", fake.Quote(name), "sequence_number", strconv.Itoa(sequence)}, members...)
		sequence++
		steps = append(steps, fake.Frame(fake.SSE(name, fake.Join(all...))))
	}
	open := func() {
		if sequence == 0 {
			send("response.created", "response", an.document("in_progress", "[]", false))
			send("response.in_progress", "response", an.document("in_progress", "[]", false))
		}
	}
	for i, p := range an.pieces {
		if isItem(p) {
			open()
			o, at := an.output(i, p, an.splits[i]), strconv.Itoa(index)
			send("response.output_item.added", "output_index", at, "item", o.start)
			for _, e := range o.events {
				send(e.name, append([]string{"output_index", at}, e.members...)...)
			}
			send("response.output_item.done", "output_index", at, "item", o.done)
			done = append(done, o.done)
			index++
			continue
		}
		switch p := p.(type) {
		case fake.Ping:
			steps = append(steps, fake.Frame(": keep-alive\n\n"))
		case fake.Event:
			steps = append(steps, fake.Frame(fake.SSE(p.Name, p.Data)))
		case fake.Wire:
			steps = append(steps, fake.Frame(string(p)))
		case fake.Status:
			r := statusRefusal(p)
			send("error", "code", fake.QuoteOr(r.code, "null"), "message", fake.Quote(r.message), "param", fake.QuoteOr(r.param, "null"))
			return steps
		case fake.Disruption:
			steps = append(steps, fake.Step{Disruption: p})
		}
	}
	open()
	send("response."+an.status(), "response", an.document(an.status(), "["+strings.Join(done, ",")+"]", true))
	return steps
}
