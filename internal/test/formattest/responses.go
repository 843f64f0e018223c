package formattest

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"
)

// This file reads streams of Responses like a strict client, without the code of the format.

// A ResponseStream is what a client has read of a stream. [ResponseStream.Read] checks the order
// of events, their numbers and ids, and the sums of deltas.
type ResponseStream struct {
	MayOmitOutput bool // the last event may have no output

	Types  []string        // of the events, without "response.", in order; deltas in a row once
	Final  gjson.Result    // the response of the last event
	Failed gjson.Result    // the error event, or its error if it is nested
	Items  []*ResponseItem // in the order in which they began
	Pings  int

	number int64
	ended  bool
	ofAny  bool // a server may have sent it: see [ReadSent]
}

// A ResponseItem is an item of a [ResponseStream].
type ResponseItem struct {
	Kind, ID string
	Done     gjson.Result // the complete item

	isDone        bool
	mayLackStatus bool
	parts         []*readPart // of a message or of a summary
	arguments     readPart
}

// A readPart is a text in pieces.
type readPart struct {
	kind        string
	text        strings.Builder
	annotations []string
	logprobs    []string
	textDone    bool
	done        bool
}

// ResponseMembers are the members that a response must have, by OpenAI's SDKs or Open Responses.
var ResponseMembers = strings.Fields("id object created_at completed_at status incomplete_details model previous_response_id instructions " +
	"output error tools tool_choice truncation parallel_tool_calls text top_p presence_penalty frequency_penalty top_logprobs temperature " +
	"reasoning usage max_output_tokens max_tool_calls store background service_tier metadata safety_identifier prompt_cache_key user")

// ReadResponses reads a whole stream. It returns an error if the stream breaks the grammar.
func ReadResponses(stream string) (*ResponseStream, error) {
	r := new(ResponseStream)
	return r, r.Read(stream)
}

// ReadSent reads a whole stream that a handler sent from a path of Chat Completions or Responses. Its
// events may be those of a server, which may have other members.
func ReadSent(path, stream string) error {
	switch {
	case strings.HasSuffix(path, "/chat/completions"):
		return (&Chat{choices: make(map[int]*chatChoice), ofAny: true}).read(stream)
	case strings.HasSuffix(path, "/responses"):
		return (&ResponseStream{ofAny: true}).Read(stream)
	}
	return nil
}

// Read reads a whole stream. It returns an error if the stream breaks the grammar.
func (r *ResponseStream) Read(data string) error {
	if !strings.HasSuffix(data, "\n\n") {
		return fmt.Errorf("no empty line at the end")
	}
	blocks := strings.Split(strings.TrimSuffix(data, "\n\n"), "\n\n")
	for i, block := range blocks {
		switch {
		case strings.HasPrefix(block, ":"):
			if r.Pings++; strings.Contains(block, "\n") {
				return fmt.Errorf("not a comment: %s", block)
			}
			continue
		case block == "data: [DONE]":
			if !r.ended || i != len(blocks)-1 {
				return fmt.Errorf("[DONE] is not at the end")
			}
			continue
		case r.ended:
			return fmt.Errorf("an event after the end: %s", block)
		}
		name, rest, _ := strings.Cut(strings.TrimPrefix(block, "event: "), "\n")
		body, ok := strings.CutPrefix(rest, "data: ")
		if !ok || strings.Contains(body, "\n") || !json.Valid([]byte(body)) {
			return fmt.Errorf("not an event: %s", block)
		}
		v := gjson.Parse(body)
		if got := v.Get("type").Str; got != name {
			return fmt.Errorf("type %q in the event %q", got, name)
		}
		if n := v.Get("sequence_number"); !n.Exists() || n.Int() != r.number {
			return fmt.Errorf("sequence_number %s, want %d", n.Raw, r.number)
		}
		r.number++
		short := strings.TrimPrefix(name, "response.")
		if err := r.event(short, v); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if n := len(r.Types); n == 0 || r.Types[n-1] != short || !strings.HasSuffix(short, ".delta") {
			r.Types = append(r.Types, short)
		}
	}
	if !r.ended || blocks[len(blocks)-1] != "data: [DONE]" {
		return fmt.Errorf("no end")
	}
	return nil
}

// event reads one event.
func (r *ResponseStream) event(name string, v gjson.Result) error {
	switch {
	case r.number == 1 && name != "created", r.number == 2 && name != "in_progress",
		r.number > 2 && (name == "created" || name == "in_progress"):
		return fmt.Errorf("event %d", r.number)
	case r.Failed.Exists() && name != "failed":
		return fmt.Errorf("after an error")
	}
	switch name {
	case "created", "in_progress", "completed", "incomplete", "failed":
		return r.response(name, v.Get("response"))
	case "error":
		if v.Get("error").Exists() {
			r.Failed = v.Get("error")
		} else {
			r.Failed = v
		}
		for _, m := range []string{"code", "message", "param"} {
			if !r.Failed.Get(m).Exists() {
				return fmt.Errorf("no %s", m)
			}
		}
		return nil
	case "output_item.added":
		return r.added(v)
	}
	at := v.Get("output_index")
	if !at.Exists() || at.Int() >= int64(len(r.Items)) {
		return fmt.Errorf("output_index %s", at.Raw)
	}
	it := r.Items[at.Int()]
	if it.isDone {
		return fmt.Errorf("the item is done")
	}
	if name == "output_item.done" {
		return it.end(v.Get("item"))
	}
	if id := v.Get("item_id").Str; id != it.ID {
		return fmt.Errorf("item_id %q, want %q", id, it.ID)
	}
	return it.event(name, v)
}

// response reads an event with a response.
func (r *ResponseStream) response(name string, v gjson.Result) error {
	for _, m := range ResponseMembers {
		if !v.Get(m).Exists() && (!r.ofAny || v.Get("completed_at").Exists()) {
			return fmt.Errorf("the response has no %s", m)
		}
	}
	want := name
	if name == "created" {
		want = "in_progress"
	}
	if got := v.Get("status").Str; got != want {
		return fmt.Errorf("status %q", got)
	}
	if want == "in_progress" {
		if got := v.Get("output").Raw; got != "[]" {
			return fmt.Errorf("output %s", got)
		}
		return nil
	}
	if id := v.Get("id").Str; !strings.HasPrefix(id, "resp_") {
		return fmt.Errorf("id %q", id)
	}
	r.ended, r.Final = true, v
	if r.Failed.Exists() != (name == "failed") || v.Get("error").IsObject() != (name == "failed") {
		return fmt.Errorf("an error in one of two places")
	}
	var done []string
	for i, it := range r.Items {
		if it.isDone {
			done = append(done, it.Done.Raw)
		} else if name != "failed" {
			return fmt.Errorf("item %d is not done", i)
		}
	}
	var output []string
	for _, x := range v.Get("output").Array() {
		output = append(output, x.Raw)
	}
	if r.MayOmitOutput && len(output) == 0 {
		return nil
	}
	if diff := cmp.Diff(done, output); diff != "" {
		return fmt.Errorf("the output differs from the items that were done (-items +output):\n%s", diff)
	}
	return nil
}

// added reads the beginning of an item.
func (r *ResponseStream) added(v gjson.Result) error {
	x := v.Get("item")
	it := &ResponseItem{Kind: x.Get("type").Str, ID: x.Get("id").Str}
	if at := v.Get("output_index"); !at.Exists() || at.Int() != int64(len(r.Items)) {
		return fmt.Errorf("output_index %s, want %d", at.Raw, len(r.Items))
	}
	for _, o := range r.Items {
		if o.ID == it.ID {
			return fmt.Errorf("two items %q", it.ID)
		}
	}
	empty, known := map[string]string{"message": "content", "reasoning": "summary", "function_call": "arguments", "custom_tool_call": "input", "tool_search_call": "arguments"}[it.Kind]
	switch {
	case it.ID == "":
		return fmt.Errorf("no id")
	case r.ofAny && it.Kind == "reasoning": // a server may write its state anew
		it.mayLackStatus = true
	case r.ofAny && x.Get("status").Str == "completed":
		it.Done = x
	case !known, (it.Kind == "reasoning" || it.Kind == "tool_search_call") && x.Get("status").Str != "in_progress":
		it.Done = x // is complete
	case x.Get("status").Str != "in_progress":
		return fmt.Errorf("status %s", x.Get("status").Raw)
	case x.Get(empty).Raw != "[]" && x.Get(empty).Raw != `""` && x.Get(empty).Raw != "{}":
		return fmt.Errorf("%s is not empty: %s", empty, x.Raw)
	case it.Kind == "function_call" && (x.Get("name").Str == "" || x.Get("call_id").Str == ""):
		return fmt.Errorf("no name or call_id: %s", x.Raw)
	}
	r.Items = append(r.Items, it)
	return nil
}

// event reads an event of the content of an item.
func (it *ResponseItem) event(name string, v gjson.Result) error {
	kinds := map[string]string{"content_part": "message", "output_text": "message", "refusal": "message", "reasoning_summary_part": "reasoning",
		"reasoning_summary_text": "reasoning", "function_call_arguments": "function_call", "custom_tool_call_input": "custom_tool_call"}
	object, verb, _ := strings.Cut(name, ".")
	if kinds[object] != it.Kind {
		return fmt.Errorf("in an item of type %q", it.Kind)
	}
	p := &it.arguments
	if it.Kind == "message" || it.Kind == "reasoning" {
		at := v.Get("content_index")
		if it.Kind == "reasoning" {
			at = v.Get("summary_index")
		}
		if !at.Exists() || at.Int() > int64(len(it.parts)) {
			return fmt.Errorf("index %s", at.Raw)
		}
		if strings.HasSuffix(object, "_part") && verb == "added" {
			if n := len(it.parts); at.Int() != int64(n) || n > 0 && !it.parts[n-1].done {
				return fmt.Errorf("part %d", at.Int())
			}
			x := v.Get("part")
			if x.Get("text").Str+x.Get("refusal").Str != "" {
				return fmt.Errorf("the part has text")
			}
			it.parts = append(it.parts, &readPart{kind: x.Get("type").Str})
			return nil
		}
		if at.Int() == int64(len(it.parts)) {
			return fmt.Errorf("the part has not begun")
		}
		p = it.parts[at.Int()]
		if p.done {
			return fmt.Errorf("the part is done")
		}
	}
	switch verb {
	case "delta":
		if p.textDone || !v.Get("delta").Exists() || v.Get("delta").Str == "" {
			return fmt.Errorf("a delta without text, or after its end")
		}
		p.text.WriteString(v.Get("delta").Str)
		p.logprobs = append(p.logprobs, elements(v.Get("logprobs"))...)
	case "annotation.added":
		if n := v.Get("annotation_index").Int(); p.textDone || n != int64(len(p.annotations)) {
			return fmt.Errorf("annotation %d", n)
		}
		p.annotations = append(p.annotations, v.Get("annotation").Raw)
	case "done":
		if strings.HasSuffix(object, "_part") {
			p.done = true
			return p.check(v.Get("part"))
		}
		member := map[string]string{"refusal": "refusal", "function_call_arguments": "arguments", "custom_tool_call_input": "input"}[object]
		if member == "" {
			member = "text"
		}
		if p.textDone || !v.Get(member).Exists() || v.Get(member).Str != p.text.String() {
			return fmt.Errorf("%s is %s, want %q", member, v.Get(member).Raw, p.text.String())
		}
		if object == "output_text" && !cmp.Equal(elements(v.Get("logprobs")), p.logprobs) {
			return fmt.Errorf("logprobs %s, want %q", v.Get("logprobs").Raw, p.logprobs)
		}
		p.textDone = true
	default:
		return fmt.Errorf("unknown")
	}
	return nil
}

// check compares a complete part with its deltas.
func (p *readPart) check(v gjson.Result) error {
	text := v.Get("text").Str + v.Get("refusal").Str
	if !p.textDone || text != p.text.String() || v.Get("type").Str != p.kind ||
		!cmp.Equal(elements(v.Get("annotations")), p.annotations) || !cmp.Equal(elements(v.Get("logprobs")), p.logprobs) {
		return fmt.Errorf("the part %s is not the sum of its events: %q, %q, %q", v.Raw, p.text.String(), p.annotations, p.logprobs)
	}
	return nil
}

// elements returns the JSON of the elements of a list.
func elements(v gjson.Result) (list []string) {
	for _, x := range v.Array() {
		list = append(list, x.Raw)
	}
	return list
}

// end reads a complete item.
func (it *ResponseItem) end(v gjson.Result) error {
	complete := it.Done
	it.isDone, it.Done = true, v
	if complete.Exists() {
		if complete.Raw != v.Raw {
			return fmt.Errorf("the item was complete when it was added, and has changed: %s", v.Raw)
		}
		return nil
	}
	if v.Get("id").Str != it.ID || v.Get("type").Str != it.Kind {
		return fmt.Errorf("another item: %s", v.Raw)
	}
	list := v.Get("content").Array()
	switch it.Kind {
	case "reasoning":
		list = v.Get("summary").Array()
	case "function_call", "custom_tool_call":
		if got := v.Get("arguments").Str + v.Get("input").Str; !it.arguments.textDone || got != it.arguments.text.String() {
			return fmt.Errorf("arguments %q, want %q", got, it.arguments.text.String())
		}
	case "message":
	default:
		return nil
	}
	if s := v.Get("status").Str; s != "completed" && s != "incomplete" && (s != "" || !it.mayLackStatus) {
		return fmt.Errorf("status %q", s)
	}
	if len(list) != len(it.parts) {
		return fmt.Errorf("%d parts, want %d", len(list), len(it.parts))
	}
	for i, x := range list {
		if !it.parts[i].done {
			return fmt.Errorf("part %d is not done", i)
		}
		if err := it.parts[i].check(x); err != nil {
			return err
		}
	}
	return nil
}

// ItemsOf returns the items of a response, without what all items have.
func ItemsOf(response gjson.Result) (list []string) {
	for _, x := range response.Get("output").Array() {
		s := x.Get("type").Str
		if st := x.Get("status").Str; st != "completed" {
			s += " " + st
		}
		for _, p := range append(x.Get("content").Array(), x.Get("summary").Array()...) {
			s += " | "
			if p.Get("type").Str == "refusal" {
				s += "refusal "
			}
			s += p.Get("text").Str + p.Get("refusal").Str
			for _, a := range p.Get("annotations").Array() {
				s += fmt.Sprintf(" [%s %d-%d %s %s]", a.Get("type").Str, a.Get("start_index").Int(), a.Get("end_index").Int(), a.Get("url").Str, a.Get("title").Str)
			}
		}
		if x.Get("encrypted_content").Exists() {
			s += " | state"
		}
		if name := x.Get("name").Str; name != "" {
			if ns := x.Get("namespace").Str; ns != "" {
				name = ns + "." + name
			}
			s += fmt.Sprintf(" %s(%s%s)", name, x.Get("arguments").Str, x.Get("input").Str)
		}
		list = append(list, s)
	}
	return list
}
