package main

import (
	"fmt"
	"strings"

	"github.com/polywire/polywire/internal/test/workload"
)

// A format is a wire format.
type format string

const (
	formatMessages format = "Messages"
	formatGemini   format = "Gemini"
	formatChat     format = "Chat Completions"
	formatOllama   format = "Ollama chat"
)

// A route is what a task translates.
type route struct {
	from, to format
	stream   bool
}

// A task is one document or stream to translate.
type task struct {
	route
	workload string
	inputs   map[format]func() []byte // the same content in several formats
	reply    *reply                   // what the stream contains
}

// name returns the name of the task in tables.
func (t *task) name() string { return fmt.Sprintf("%s, %s to %s", t.workload, t.from, t.to) }

// requests are the bodies of package workload.
var requests = []struct {
	name               string
	messages, generate func() string
}{
	{"small", workload.Small, workload.GenerateSmall},
	{"chat", workload.Chat, workload.GenerateChat},
	{"agent", workload.Agent, workload.GenerateAgent},
	{"image", workload.Image, workload.GenerateImage},
	{"pdf", workload.PDF, workload.GeneratePDF},
}

// tasks returns all tasks: each request on each route, then the streams.
func tasks() (list []*task) {
	for _, r := range []route{
		{from: formatMessages, to: formatGemini},
		{from: formatMessages, to: formatChat},
		{from: formatGemini, to: formatMessages},
		{from: formatGemini, to: formatChat},
	} {
		for _, w := range requests {
			body := w.messages
			if r.from == formatGemini {
				body = w.generate
			}
			list = append(list, &task{route: r, workload: w.name, inputs: map[format]func() []byte{
				r.from: func() []byte { return []byte(body()) },
			}})
		}
	}
	for _, s := range []struct {
		name     string
		from, to format
		reply    *reply
	}{
		{"1,000 text deltas", formatChat, formatMessages, textReply(1000)},
		{"200 tool deltas", formatChat, formatMessages, toolReply(4, 50)},
		{"300 text chunks", formatGemini, formatMessages, textReply(300)},
		{"20 tool calls", formatGemini, formatMessages, toolReply(20, 1)},
		{"1,000 text deltas", formatMessages, formatGemini, textReply(1000)},
		{"200 tool deltas", formatMessages, formatGemini, toolReply(4, 50)},
	} {
		t := &task{route: route{s.from, s.to, true}, workload: s.name, reply: s.reply, inputs: map[format]func() []byte{}}
		formats := []format{s.from}
		if len(s.reply.calls) == 0 { // Ollama has no deltas of tool calls
			formats = append(formats, formatOllama)
		}
		for _, from := range formats {
			t.inputs[from] = func() []byte { return []byte(writers[from](s.reply)) }
		}
		list = append(list, t)
	}
	return list
}

// A reply is the content of a response: text or tool calls, in pieces.
type reply struct {
	pieces        []string
	calls         []replyCall
	stop          stop
	input, output int64 // tokens
	overlap       bool  // a block of the stream begins before another one has ended
}

// A replyCall is a tool call of a reply. Its arguments are JSON when put together.
type replyCall struct {
	id, name  string
	arguments []string
}

func (c *replyCall) joined() string { return strings.Join(c.arguments, "") }

// A stop is the reason why a response ended.
type stop string

const (
	stopEnd   stop = "end"
	stopTools stop = "tools"
	stopLimit stop = "limit"
)

// textReply returns a response of n pieces of text, of which every tenth has escapes.
func textReply(n int) *reply {
	r := &reply{stop: stopEnd, input: 321, output: int64(2 * n)}
	for i := range n {
		piece := fmt.Sprintf(" word%d and more", i)
		if i%10 == 0 {
			piece += ".\n\"Next\""
		}
		r.pieces = append(r.pieces, piece)
	}
	return r
}

// toolReply returns a response with tool calls whose arguments arrive in n pieces each.
func toolReply(calls, n int) *reply {
	r := &reply{stop: stopTools, input: 321, output: int64(calls * n)}
	for c := range calls {
		call := replyCall{id: fmt.Sprintf("call_%d", c), name: fmt.Sprintf("tool_%d", c)}
		for i := range n {
			piece := fmt.Sprintf(`"line %d of the file",`, i)
			if i == 0 {
				piece = `{"path":"/src/part.go","lines":[` + piece
			}
			if i == n-1 {
				piece = strings.TrimSuffix(piece, ",") + `]}`
			}
			call.arguments = append(call.arguments, piece)
		}
		r.calls = append(r.calls, call)
	}
	return r
}
