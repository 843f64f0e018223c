package chatcompletions

import (
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/object"
	"github.com/polywire/polywire/internal/test/formattest"
)

// These tests follow the tables in objects.go. A new member of a table is tested without a change
// here.

var generator = &formattest.Generator{Style: codec.Bracketed, Sample: sampleOf, Needs: needs}

// samples are values of members that the tables do not describe, or that rules restrict.
var samples = map[*object.Type]map[string]string{
	requestType: {
		"model": `"m"`, "messages": `[{"role":"user","content":"hi"}]`, "stop": `"s"`, "n": "1", "tools": `[{"type":"function","function":{"name":"f"}}]`,
		"functions": `[{"name":"f"}]`, "tool_choice": `"auto"`, "function_call": `"auto"`, "response_format": `{"type":"text"}`, "top_k": "1",
		"stream_options": "null", "top_logprobs": "null", "modalities": `["text"]`, "max_tokens": "1", "max_completion_tokens": "1",
		"temperature": "1", "top_p": "1", "presence_penalty": "1", "frequency_penalty": "1",
	},
	messageType: {
		"role": `"user"`, "content": `"hi"`, "tool_call_id": "null", "tool_calls": "null", "function_call": "null", "refusal": "null",
		"reasoning_content": "null", "reasoning": "null", "annotations": "[]",
	},
	imageType: {"image_url": `{"url":"https://example.com/a.png"}`},
	fileType:  {"file": `{"file_id":"1"}`},
	audioType: {"input_audio": `{"data":"AAAA","format":"wav"}`},
	toolType:  {"function": `{"name":"f"}`, "custom": `{"name":"f"}`},
	toolCallType: {
		"type": `"function"`, "id": `"1"`, "function": `{"name":"f","arguments":"{}"}`, "custom": `{"name":"f","input":""}`, "index": "0",
	},
	imageURLType:       {"url": `"https://example.com/a.png"`},
	fileObjectType:     {"file_data": `"data:application/pdf;base64,JVBERi0xLjQK"`, "filename": `"f.pdf"`},
	inputAudioType:     {"data": `"AAAA"`},
	customType:         {"format": `{"type":"text"}`, "name": `"f"`},
	functionType:       {"name": `"f"`, "parameters": `{"type":"object"}`},
	calledFunctionType: {"arguments": `"{}"`},
	inputFormatType:    {"grammar": `{"syntax":"lark","definition":"d"}`},
	formatType:         {"json_schema": `{"schema":{}}`},
	jsonSchemaType:     {"name": `"n"`, "schema": `{"type":"object"}`},
	choiceType:         {"type": `"function"`, "function": `{"name":"f"}`, "custom": `{"name":"f"}`, "allowed_tools": `{"mode":"auto","tools":[]}`},
	allowedToolsType:   {"mode": `"auto"`, "tools": `[]`},
}

func sampleOf(f *object.Field, _ *object.Value) string {
	for t, list := range samples {
		if f != nil && t.Find(f.Name) == f {
			return list[f.Name]
		}
	}
	return ""
}

// needs reports whether an object with a tag must have a member that its table does not require.
func needs(f *object.Field, tag string) bool {
	switch f {
	case requestType.Find("model"), messageType.Find("content"), choiceType.Find("type"), choiceType.Find("function"),
		toolCallType.Find("function"):
		return true
	case toolType.Find("function"):
		return tag == "function"
	case toolType.Find("custom"):
		return tag == "custom"
	case inputFormatType.Find("grammar"):
		return tag == "grammar"
	}
	return false
}

// TestObjectsWrongValues checks that a wrong value is reported once, at its path and with its code.
func TestObjectsWrongValues(t *testing.T) {
	const (
		head = `{"model":"m","messages":[{"role":"user","content":"hi"}],`
		user = `{"model":"m","messages":[{"role":"user","content":[`
		call = `{"model":"m","messages":[{"role":"assistant","tool_calls":[`
		done = `]},{"role":"tool","tool_call_id":"1","content":""}]}`
	)
	part := []any{"messages", 0, "content", 0}
	in := func(path []any, more ...any) []any { return append(path[:len(path):len(path)], more...) }
	n := 0
	for _, o := range []struct {
		format string
		of     *object.Type
		tag    string
		path   []any
	}{
		{"%s", requestType, "", nil},
		{`{"model":"m","messages":[%s]}`, messageType, "", []any{"messages", 0}},
		{user + "%s]}]}", textType, "text", part},
		{user + "%s]}]}", imageType, "image_url", part},
		{user + `{"type":"image_url","image_url":%s}]}]}`, imageURLType, "", in(part, "image_url")},
		{user + `%s]}]}`, fileType, "file", part},
		{user + `{"type":"file","file":%s}]}]}`, fileObjectType, "", in(part, "file")},
		{user + `%s]}]}`, audioType, "input_audio", part},
		{user + `{"type":"input_audio","input_audio":%s}]}]}`, inputAudioType, "", in(part, "input_audio")},
		{user + `{"type":"text","text":"a","prompt_cache_breakpoint":%s}]}]}`, cacheType, "", in(part, breakpoint)},
		{user + `{"type":"text","text":"a","cache_control":%s}]}]}`, controlType, "", in(part, "cache_control")},
		{call + "%s" + done, toolCallType, "", []any{"messages", 0, "tool_calls", 0}},
		{call + `{"id":"1","type":"function","function":%s}` + done, calledFunctionType, "", []any{"messages", 0, "tool_calls", 0, "function"}},
		{call + `{"id":"1","type":"custom","custom":%s}` + done, calledCustomType, "", []any{"messages", 0, "tool_calls", 0, "custom"}},
		{head + `"tools":[%s]}`, toolType, "function", []any{"tools", 0}},
		{head + `"tools":[{"type":"function","function":%s}]}`, functionType, "", []any{"tools", 0, "function"}},
		{head + `"functions":[%s]}`, functionType, "", []any{"functions", 0}},
		{head + `"tools":[{"type":"custom","custom":%s}]}`, customType, "", []any{"tools", 0, "custom"}},
		{head + `"tools":[{"type":"custom","custom":{"name":"f","format":%s}}]}`, inputFormatType, "grammar", []any{"tools", 0, "custom", "format"}},
		{head + `"tools":[{"type":"custom","custom":{"name":"f","format":{"type":"grammar","grammar":%s}}}]}`, grammarType, "", []any{"tools", 0, "custom", "format", "grammar"}},
		{head + `"response_format":{"type":"json_schema","json_schema":%s}}`, jsonSchemaType, "", []any{"response_format", "json_schema"}},
		{head + `"stream":true,"stream_options":%s}`, streamOptionsType, "", []any{"stream_options"}},
		{head + `"tools":[{"type":"function","function":{"name":"f"}}],"tool_choice":{"type":"function","function":%s}}`, nameRefType, "", []any{"tool_choice", "function"}},
		{head + `"tools":[{"type":"function","function":{"name":"f"}}],"tool_choice":{"type":"allowed_tools","allowed_tools":%s}}`, allowedToolsType, "", []any{"tool_choice", "allowed_tools"}},
	} {
		root := formattest.Object{Type: o.of, Path: formattest.Path(o.path...), Tag: o.tag, In: formattest.Document(o.format)}
		for w := range generator.Wrongs(root) {
			n++
			for _, strict := range []bool{false, true} {
				opts := &ValidateOptions{Strict: strict}
				_, _, base := DecodeRequest([]byte(w.Base), opts)
				_, _, err := DecodeRequest([]byte(w.Sent), opts)
				got := added(base, err)
				if w.Strict && !strict && len(got) == 0 {
					continue
				}
				if w.Strict && !strict || len(got) != 1 || got[0].Path != w.Path || got[0].Code != w.Code {
					t.Errorf("%s: strict %v: want %s %s, got %v\n%s", w.Name, strict, w.Code, w.Path, got, w.Sent)
				}
			}
		}
	}
	t.Logf("%d wrong values", n)
}

// added returns the violations of a document that its base does not have.
func added(base, err error) (list []*content.Violation) {
	had := map[content.Violation]bool{}
	old, _ := content.Violations(base)
	for _, v := range old {
		had[*v] = true
	}
	all, _ := content.Violations(err)
	for _, v := range all {
		if !had[*v] {
			list = append(list, v)
		}
	}
	return list
}
