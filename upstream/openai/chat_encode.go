package openai

import "slices"

// chatNames are the members that are written here, which members of the
// request's Extra do not replace.
var chatNames = []string{
	"model", "messages", "stream", "stream_options", "tools", "tool_choice", "parallel_tool_calls", "functions",
	"function_call", "reasoning_effort", "max_tokens", "max_completion_tokens", "n", "temperature", "top_p", "top_k",
	"presence_penalty", "frequency_penalty", "seed", "stop", "response_format", "modalities", "safety_identifier",
	"service_tier", "store",
}

// logprobsNames are written if the request asks for them in another format; else
// members of the Extra may be them.
var logprobsNames = []string{"logprobs", "top_logprobs"}

// written reports whether a member is written from elsewhere.
func (e *chatEncoder) written(name string) bool {
	return slices.Contains(chatNames, name) || e.sent&fieldLogprobs != 0 && slices.Contains(logprobsNames, name) || e.turn != "" && name == e.to.thinks()
}

// A chatEncoder writes a request in the format of chat completions, in one
// walk, and notes what is lost by that.
type chatEncoder struct {
	encoder
	results map[string]*result
	calls   []call
	turn    string // "enabled" or "disabled": what thinking is turned to
	renamed bool   // an id was, and that is reported
	empty   bool   // a thought that is gone was, and that is reported
}

// encode writes the document.
func (e *chatEncoder) encode() {
	w, n := e.w, e.n
	w.BeginObject()
	w.Name("model")
	w.String(e.to.model)
	e.foreignMembers(n.Extra)
	e.effort = e.thinking()
	e.output()
	w.Name("messages")
	w.BeginArray()
	e.messages()
	w.EndArray()
	if n.Stream {
		w.Name("stream")
		w.Bool(true)
		e.streamOptions()
	}
	if e.tools() {
		e.choice()
	} else {
		e.noChoice()
	}
	if e.effort != "" {
		e.sent |= fieldEffort
		w.Name("reasoning_effort")
		w.String(e.effort)
	}
	e.thinkingSwitch()
	e.limits()
	e.sampling()
	e.format()
	e.identity()
	e.more(n.Extra, e.written)
	w.EndObject()
}

func (e *chatEncoder) streamOptions() {
	if e.to.refused.has(fieldStreamOptions) {
		e.log.Add(lostUsage, "stream")
		return
	}
	e.sent |= fieldStreamOptions
	e.w.Name("stream_options")
	e.w.BeginObject()
	e.w.Name("include_usage")
	e.w.Bool(true)
	e.noPadding()
	e.w.EndObject()
}

// noPadding asks for events without padding, which helps nobody here, and hides
// that they are alike. Some that follow the vendor's rules do not know of it.
func (e *encoder) noPadding() {
	if e.to.vendor && !e.to.refused.has(fieldPadding) {
		e.sent |= fieldPadding
		e.w.Name("include_obfuscation")
		e.w.Bool(false)
	}
}
