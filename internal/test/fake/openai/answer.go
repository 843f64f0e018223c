package openai

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/polywire/polywire/internal/test/fake"
)

// An answer is a turn of the script in the vendor's format.
type answer struct {
	ask                          *ask
	id                           uint32
	model                        string
	stop                         *fake.Stop
	usage                        *fake.Usage
	pieces                       []fake.Piece // in order, without the settings
	splits                       []int
	calls                        int
	outer, usageOnly, ofMessages []fake.Member
}

const created = "1795219200"

func (s *Server) answer(a *ask, id uint32, turn []fake.Piece) *answer {
	an := &answer{ask: a, id: id, model: a.model.name, usage: &fake.Usage{Input: 10, Output: 5}}
	split := int(fake.Default)
	for _, p := range turn {
		switch p := p.(type) {
		case fake.Stop:
			an.stop = &p
		case fake.Usage:
			an.usage = &p
		case fake.NoUsage:
			an.usage = nil
		case fake.Model:
			an.model = string(p)
		case fake.Split:
			split = int(p)
		case fake.Blocked:
		case fake.Member:
			an.member(p)
		case fake.Together:
			for _, inner := range p {
				an.add(inner, split)
			}
		default:
			an.add(p, split)
		}
	}
	if a.server.opts.Quirks.UsageNever {
		an.usage = nil
	}
	return an
}

func (an *answer) add(p fake.Piece, split int) {
	if c, ok := p.(fake.ToolCall); ok {
		if c.ID == "" {
			c.ID = fmt.Sprintf("call_%08d_%d", an.id, an.calls)
		}
		if c.Args == "" {
			c.Args = "{}"
		}
		an.calls++
		p = c
	}
	an.pieces = append(an.pieces, p)
	an.splits = append(an.splits, split)
}

func (an *answer) member(m fake.Member) {
	switch m.On {
	case "usage":
		an.usageOnly = append(an.usageOnly, m)
	case "message":
		an.ofMessages = append(an.ofMessages, m)
	default:
		an.outer = append(an.outer, m)
	}
}

// usageJSON returns the usage, openai.md §3.1 for Chat and §5.1 for Responses.
func (an *answer) usageJSON() string {
	if an.usage == nil {
		return ""
	}
	u := *an.usage
	n := strconv.Itoa
	in, out := u.Input+u.CacheRead+u.CacheWrite+u.ToolPrompt, u.Output+u.Thinking
	inner := fake.Join("cached_tokens", n(u.CacheRead), "cache_write_tokens", n(u.CacheWrite))
	outer := fake.Join("reasoning_tokens", n(u.Thinking))
	names := []string{"input_tokens", "input_tokens_details", "output_tokens", "output_tokens_details"}
	if an.ask.chat {
		names = []string{"prompt_tokens", "prompt_tokens_details", "completion_tokens", "completion_tokens_details"}
	}
	members := []string{names[0], n(in), names[2], n(out), "total_tokens", n(in + out), names[1], inner, names[3], outer}
	return fake.Join(fake.With(members, an.usageOnly)...)
}

// finish returns the finish_reason of Chat.
func (an *answer) finish() string {
	q := an.ask.server.opts.Quirks
	switch {
	case q.NoFinish:
		return "null"
	case an.stop != nil:
		return fake.QuoteOr(an.stop.Reason, "null")
	case an.calls > 0 && !q.FinishStop:
		return `"tool_calls"`
	}
	return `"stop"`
}

// meta returns the members that all chunks have.
func (an *answer) meta(object string) []string {
	if an.ask.server.opts.Quirks.NoMeta {
		return nil
	}
	return []string{
		"id", fake.Quote(fmt.Sprintf("chatcmpl-%08d", an.id)), "object", fake.Quote(object), "created", created, "model", fake.Quote(an.model),
	}
}

// callJSON returns a tool call of Chat. It omits a negative index.
func (an *answer) callJSON(c fake.ToolCall, index int, args string) string {
	q := an.ask.server.opts.Quirks
	id, at := fake.Quote(c.ID), ""
	if q.NoIDs {
		id = ""
	}
	if index >= 0 {
		at = strconv.Itoa(index)
	}
	arguments := fake.Quote(args)
	if q.ObjectArgs && args == c.Args {
		arguments = args
	}
	return fake.Join("index", at, "id", id, "type", `"function"`, "function", fake.Join("name", fake.Quote(c.Name), "arguments", arguments))
}

// contentJSON returns text in the server's form.
func (an *answer) contentJSON(s string) string {
	if an.ask.server.opts.Quirks.ContentList {
		return "[" + fake.Join("type", `"text"`, "text", fake.Quote(s)) + "]"
	}
	return fake.Quote(s)
}

func imageJSON(p fake.Image) string {
	return fake.Join("type", `"image_url"`, "image_url", fake.Join("url", fake.Quote("data:"+p.MIME+";base64,"+p.Data)))
}

// chatWhole returns a chat.completion, openai.md §3.1.
func (an *answer) chatWhole() string {
	q := an.ask.server.opts.Quirks
	var text, thinking strings.Builder
	var calls, notes, images []string
	for _, p := range an.pieces {
		switch p := p.(type) {
		case fake.Text:
			text.WriteString(string(p))
		case fake.Cited:
			text.WriteString(p.Text)
			notes = append(notes, p.Citations...)
		case fake.Thinking:
			thinking.WriteString(string(p))
		case fake.ToolCall:
			calls = append(calls, an.callJSON(p, -1, p.Args))
		case fake.Raw:
			calls = append(calls, string(p))
		case fake.Image:
			images = append(images, imageJSON(p))
		}
	}
	content := an.contentJSON(text.String())
	if text.Len() == 0 && len(calls) > 0 {
		content = "null"
		if q.EmptyContent {
			content = `""`
		}
		if q.NoContent {
			content = ""
		}
	}
	members := []string{"role", `"assistant"`, "content", content, "refusal", "null"}
	if q.Reasoning != "" && thinking.Len() > 0 {
		members = append(members, q.Reasoning, fake.Quote(thinking.String()))
	}
	members = append(members, "tool_calls", list(calls), "annotations", list(notes), "images", list(images))
	choice := fake.Join("index", "0", "message", fake.Join(fake.With(members, an.ofMessages)...), "logprobs", "null", "finish_reason", an.finish(), "content_filter_results", an.ask.server.filtered())
	return fake.Join(fake.With(append(an.meta("chat.completion"), "choices", "["+choice+"]", "usage", an.usageJSON()), an.outer)...)
}

// list returns a JSON array, or "" if it is empty.
func list(items []string) string {
	if len(items) == 0 {
		return ""
	}
	return "[" + strings.Join(items, ",") + "]"
}
