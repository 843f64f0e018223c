package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/examples/internal/format"
)

// file returns a file of testdata.
func file(t *testing.T, path ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(append([]string{"testdata"}, path...)...))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// translate runs the command.
func translate(t *testing.T, args, in string) (code int, out, log string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = run(t.Context(), strings.Fields(args), strings.NewReader(in), &stdout, &stderr)
	return code, stdout.String(), stderr.String()
}

const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="

// wanted are gjson paths and values of the requests in testdata, by target format.
var wanted = map[string][][2]string{
	"messages": {
		{"max_tokens", "500"}, {"top_k", "5"}, {"stop_sequences.0", "END"},
		{"system|@flatten|@tostr", "Be brief."},
		{"tools.0.name", "depth_at"}, {"tools.0.input_schema.required.0", "buoy"},
		{`messages.1.content.#(type=="tool_use").input.buoy`, "B7"},
		{`messages.2.content.#(type=="tool_result").tool_use_id`, "toolu_1"},
		{`messages.2.content.#(type=="text").text`, "And what is this?"},
		{`messages.2.content.#(type=="image").source.data`, pixel},
	},
	"generatecontent": {
		{"generationConfig.maxOutputTokens", "500"}, {"generationConfig.topK", "5"}, {"generationConfig.stopSequences.0", "END"},
		{"systemInstruction.parts.0.text", "Be brief."},
		{"tools.0.functionDeclarations.0.name", "depth_at"},
		{"contents.0.parts.0.text", "Depth at B7?"},
		{`contents.1.parts.#(functionCall.name=="depth_at").functionCall.args.buoy`, "B7"},
		{`contents.2.parts.#(functionResponse.name=="depth_at").functionResponse.id`, "toolu_1"},
		{`contents.@reverse.0.parts.#(text=="And what is this?").text`, "And what is this?"},
		{`contents.@reverse.0.parts.#(inlineData.mimeType=="image/png").inlineData.data`, pixel},
	},
	"openai": {
		{"model", "gpt-5.2"}, {"max_completion_tokens", "500"}, {"top_k", ""},
		{"messages.0.content|@flatten|@tostr", "Be brief."},
		{"tools.0.function.name", "depth_at"}, {"tools.0.function.parameters.required.0", "buoy"},
		{`messages.#(role=="assistant").tool_calls.0.function.arguments`, `{"buoy": "B7"}`},
		{`messages.#(role=="tool").tool_call_id`, "toolu_1"},
		{`messages.#(role=="tool").content`, "12 m"},
		{`messages.@reverse.0.content.#(type=="image_url").image_url.url`, "data:image/png;base64," + pixel},
	},
	"openai-responses": {
		{"model", "gpt-5.2"}, {"max_output_tokens", "500"}, {"top_k", ""}, {"store", "false"},
		{"tools.0.name", "depth_at"}, {"tools.0.parameters.required.0", "buoy"},
		{`input.#(type=="function_call").arguments`, `{"buoy": "B7"}`},
		{`input.#(type=="function_call_output").call_id`, "toolu_1"},
		{`input.@reverse.0.content.#(type=="input_image").image_url`, "data:image/png;base64," + pixel},
	},
}

// missingMembers are settings that requests of a format cannot have, as parts of the paths in wanted.
var missingMembers = map[string][]string{
	"openai":           {"top_k", "topK"},
	"openai-responses": {"top_k", "topK", "stop_sequences", "stopSequences"},
}

// lost are the losses of the requests in testdata, by source and target format.
var lost = map[string]map[string]string{
	"messages":        {"openai": "dropped top_k: ", "openai-responses": "dropped top_k: "},
	"generatecontent": {"openai": "dropped generation_config.top_k: ", "openai-responses": "dropped generation_config.top_k: "},
}

func TestRequests(t *testing.T) {
	for _, from := range format.Names() {
		for _, to := range format.Names() {
			t.Run(from+" to "+to, func(t *testing.T) {
				args := "-from " + from + " -to " + to
				if from == "generatecontent" && to != from {
					args += " -model gpt-5.2"
				}
				in := file(t, "request", from+".json")
				code, out, log := translate(t, args, in)
				if code != done {
					t.Fatalf("exit code %d\n%s", code, log)
				}
				if from == to && (out != in || log != "") {
					t.Errorf("the same format was changed:\n%s\n%s", out, log)
				}
				if !gjson.Valid(out) {
					t.Fatalf("not JSON: %s", out)
				}
				for _, w := range wanted[to] {
					if slices.ContainsFunc(missingMembers[from], func(name string) bool { return strings.Contains(w[0], name) }) {
						continue
					}
					if got := find(out, w[0]); got != w[1] {
						t.Errorf("%s is %q, want %q, in\n%s", w[0], got, w[1], out)
					}
				}
				want := lost[from][to]
				if !strings.Contains("\n"+log, "\n"+want) || want == "" && strings.Contains(log, "dropped") {
					t.Errorf("losses %q, want a line with %q", log, want)
				}
				if len(wanted[to]) == 0 {
					t.Error("wanted has no values for this format")
				}
			})
		}
	}
}

// find returns the value at a path, which may be a text in a list of parts.
func find(doc, path string) string {
	path, lists := strings.CutSuffix(path, "|@flatten|@tostr")
	v := gjson.Get(doc, path)
	if lists && v.IsArray() {
		v = v.Get("0.text")
	}
	return v.String()
}

// A summary is the content of a recording in testdata.
type summary struct {
	Thinking, Text, Call, Input, Stop string
	Prompt, Completion                int64
}

func TestResponses(t *testing.T) {
	for _, kind := range []struct{ name, extension string }{{"reply", ".json"}, {"stream", ".txt"}} {
		for _, from := range format.Names() {
			for _, to := range format.Names() {
				t.Run(kind.name+" from "+from+" to "+to, func(t *testing.T) {
					in := file(t, kind.name, from+kind.extension)
					code, out, log := translate(t, "-"+kind.name+" -from "+from+" -to "+to, in)
					if code != done || strings.Contains(log, "dropped") {
						t.Fatalf("exit code %d\n%s", code, log)
					}
					if from == to && out != in {
						t.Errorf("the same format was changed:\n%s", out)
					}
					want := summary{"Look it up.", "Checking.", "depth_at", `{"buoy":"B7"}`, "tool_use", 40, 30}
					switch to {
					case "generatecontent":
						want.Stop = "STOP"
					case "openai":
						want.Stop = "tool_calls"
					case "openai-responses":
						want.Stop = "completed"
					}
					if diff := cmp.Diff(want, readers[to](out)); diff != "" {
						t.Errorf("(-want +got):\n%s\n%s", diff, out)
					}
				})
			}
		}
	}
}

// readers read a whole or streamed response like a client of the format.
var readers = map[string]func(string) summary{
	"messages": readMessages, "generatecontent": readGenerateContent, "openai": readChatCompletions, "openai-responses": readResponses,
}

// pieces returns the documents of a response: one, or one for each event of a stream.
func pieces(out string) (list []gjson.Result) {
	if gjson.Valid(out) {
		return []gjson.Result{gjson.Parse(out)}
	}
	for line := range strings.Lines(out) {
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			list = append(list, gjson.Parse(data))
		}
	}
	return list
}

func readMessages(out string) (s summary) {
	block := func(b gjson.Result) {
		s.Thinking += b.Get("thinking").String()
		s.Text += b.Get("text").String()
		if b.Get("type").String() == "tool_use" {
			s.Call = b.Get("name").String()
		}
		if in := b.Get("input").Raw; in != "{}" { // of a stream
			s.Input += in
		}
	}
	count := func(u gjson.Result) {
		if n := u.Get("input_tokens"); n.Exists() {
			s.Prompt = n.Int()
		}
		s.Completion = u.Get("output_tokens").Int()
	}
	for _, p := range pieces(out) {
		switch p.Get("type").String() {
		case "message":
			p.Get("content").ForEach(func(_, b gjson.Result) bool { block(b); return true })
			s.Stop = p.Get("stop_reason").String()
			count(p.Get("usage"))
		case "message_start":
			count(p.Get("message.usage"))
		case "content_block_start":
			block(p.Get("content_block"))
		case "content_block_delta":
			block(p.Get("delta"))
			s.Input += p.Get("delta.partial_json").String()
		case "message_delta":
			s.Stop = p.Get("delta.stop_reason").String()
			count(p.Get("usage"))
		}
	}
	return s
}

func readGenerateContent(out string) (s summary) {
	for _, p := range pieces(out) {
		p.Get("candidates.0.content.parts").ForEach(func(_, part gjson.Result) bool {
			if part.Get("thought").Bool() {
				s.Thinking += part.Get("text").String()
			} else {
				s.Text += part.Get("text").String()
			}
			if call := part.Get("functionCall"); call.Exists() {
				s.Call, s.Input = call.Get("name").String(), call.Get("args").Raw
			}
			return true
		})
		s.Stop += p.Get("candidates.0.finishReason").String()
		if u := p.Get("usageMetadata"); u.Exists() {
			s.Prompt = u.Get("promptTokenCount").Int()
			s.Completion = u.Get("candidatesTokenCount").Int() + u.Get("thoughtsTokenCount").Int()
		}
	}
	return s
}

func readChatCompletions(out string) (s summary) {
	for _, p := range pieces(out) {
		m := p.Get("choices.0.message")
		if !m.Exists() {
			m = p.Get("choices.0.delta")
		}
		s.Thinking += m.Get("reasoning_content").String()
		s.Text += m.Get("content").String()
		s.Call += m.Get("tool_calls.0.function.name").String()
		s.Input += m.Get("tool_calls.0.function.arguments").String()
		s.Stop += p.Get("choices.0.finish_reason").String()
		if u := p.Get("usage"); u.IsObject() {
			s.Prompt, s.Completion = u.Get("prompt_tokens").Int(), u.Get("completion_tokens").Int()
		}
	}
	return s
}

// readResponses reads the items at the end of a stream, as clients do that do not show it.
func readResponses(out string) (s summary) {
	for _, p := range pieces(out) {
		if p.Get("type").String() == "response.completed" {
			p = p.Get("response")
		}
		if p.Get("object").String() != "response" {
			continue
		}
		p.Get("output").ForEach(func(_, item gjson.Result) bool {
			switch item.Get("type").String() {
			case "reasoning":
				s.Thinking += item.Get("summary.0.text").String()
			case "message":
				s.Text += item.Get("content.0.text").String()
			case "function_call":
				s.Call, s.Input = item.Get("name").String(), item.Get("arguments").String()
			}
			return true
		})
		s.Stop = p.Get("status").String()
		s.Prompt, s.Completion = p.Get("usage.input_tokens").Int(), p.Get("usage.output_tokens").Int()
	}
	return s
}
