package responses

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// Fragments of the streams in these tests.
const (
	resCreated  = `{"type":"response.created","response":{"id":"resp_1","model":"m","status":"in_progress","output":[]}}`
	resAddMsg   = `{"type":"response.output_item.added","output_index":0,"item":{"id":"msg_1","type":"message","role":"assistant","status":"in_progress","content":[]}}`
	resHi       = `{"type":"response.output_text.delta","item_id":"msg_1","output_index":0,"content_index":0,"delta":"hi"}`
	resMsgDone  = `{"type":"response.output_item.done","output_index":0,"item":{"id":"msg_1","type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"hi","annotations":[]}]}}`
	resAddCall  = `{"type":"response.output_item.added","output_index":0,"item":{"id":"fc_1","type":"function_call","call_id":"call_1","name":"f","arguments":""}}`
	resArg      = `{"type":"response.function_call_arguments.delta","item_id":"fc_1","output_index":0,"delta":"{\"x\":"}`
	resArgs     = `{"type":"response.function_call_arguments.delta","item_id":"fc_1","output_index":0,"delta":"1}"}`
	resArgsDone = `{"type":"response.function_call_arguments.done","item_id":"fc_1","output_index":0,"arguments":"{\"x\":1}"}`
	resCallDone = `{"type":"response.output_item.done","output_index":0,"item":{"id":"fc_1","type":"function_call","call_id":"call_1","name":"f","arguments":"{\"x\":1}"}}`
	resEnd      = `{"type":"response.completed","response":{"status":"completed","output":null}}`
)

func thinkingDelta(delta string) string {
	return `{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":0,"delta":"` + delta + `"}`
}

func completedWith(output string) string {
	return `{"type":"response.completed","response":{"status":"completed","output":[` + output + `]}}`
}

// another returns an event with another index.
func another(event string, changes ...string) string {
	return strings.NewReplacer(append([]string{`"output_index":0`, `"output_index":1`}, changes...)...).Replace(event)
}

// A responsesQuirk is a nonstandard stream and the response that it means.
type responsesQuirk struct {
	name   string
	events []string
	parts  []content.Part
	reason content.StopReason
}

const resSum = content.StopEnd

// responsesCall is the tool call in the fragments.
var responsesCall = useOf("call_1", "f", `{"x":1}`)

// responsesTextQuirks are about texts.
var responsesTextQuirks = []responsesQuirk{
	{"OpenAI", []string{resCreated, resAddMsg, resHi, resMsgDone, resEnd}, partsOf(textOf("hi")), resSum},
	{"no item added", []string{resAddMsg, resHi, resMsgDone, resEnd}, partsOf(textOf("hi")), resSum},
	{"deltas without an item", []string{resHi, resHi, resEnd}, partsOf(textOf("hihi")), resSum},
	{"only the item", []string{resMsgDone, resEnd}, partsOf(textOf("hi")), resSum},
	{"missing item done", []string{resAddMsg, resHi, resEnd}, partsOf(textOf("hi")), resSum},
	{"more in complete item", []string{resAddMsg, resHi, strings.Replace(resMsgDone, `"hi"`, `"hi you"`, 1), resEnd}, partsOf(textOf("hi you")), resSum},
	{"more in text.done", []string{resAddMsg, resHi, `{"type":"response.output_text.done","output_index":0,"content_index":0,"text":"hi you"}`, resEnd}, partsOf(textOf("hi you")), resSum},
	{"other text in complete item", []string{resAddMsg, resHi, strings.Replace(resMsgDone, `"hi"`, `"ho there"`, 1), resEnd}, partsOf(textOf("hi")), resSum},
	{"repeated items", []string{resAddMsg, resAddMsg, resHi, resMsgDone, resMsgDone, resEnd}, partsOf(textOf("hi")), resSum},
	{"item with changing ids", []string{resAddMsg, strings.ReplaceAll(resHi, "msg_1", "msg_2"), strings.ReplaceAll(resMsgDone, "msg_1", "msg_3"), resEnd}, partsOf(textOf("hi")), resSum},
	{"text.done after item", []string{resAddMsg, resHi, resMsgDone, `{"type":"response.output_text.done","output_index":0,"content_index":0,"text":"hi"}`, resEnd}, partsOf(textOf("hi")), resSum},
	{"everything in last event", []string{resCreated, completedWith(`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"hi"}]},{"type":"function_call","call_id":"call_1","name":"f","arguments":"{\"x\":1}"}`)},
		partsOf(textOf("hi"), responsesCall), content.StopToolUse},
	{"last event repeats", []string{resAddMsg, resHi, resMsgDone, completedWith(`{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"output_text","text":"hi"}]}`)}, partsOf(textOf("hi")), resSum},
	{"last event adds text", []string{resAddMsg, resHi, completedWith(`{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"output_text","text":"hi you"}]},{"type":"function_call","call_id":"call_1","name":"f","arguments":"{\"x\":1}"}`)},
		partsOf(textOf("hi you"), responsesCall), content.StopToolUse},
	{"empty output in last event", []string{resAddMsg, resHi, resMsgDone, completedWith("")}, partsOf(textOf("hi")), resSum},
	{"no index", []string{strings.Replace(resAddMsg, `"output_index":0,`, "", 1), `{"type":"response.output_text.delta","delta":"hi"}`, `{"type":"response.output_text.delta","delta":"!"}`, resEnd}, partsOf(textOf("hi!")), resSum},
	{"repeated sequence numbers", []string{strings.Replace(resHi, `"delta"`, `"sequence_number":1,"delta"`, 1), strings.Replace(resHi, `"delta"`, `"sequence_number":1,"delta"`, 1), resEnd}, partsOf(textOf("hihi")), resSum},
	{"two parts", []string{resAddMsg, resHi, strings.Replace(resHi, `"content_index":0`, `"content_index":1`, 1), resEnd}, partsOf(textOf("hi"), textOf("hi")), resSum},
	{"two messages", []string{resAddMsg, resHi, resMsgDone, another(resAddMsg, "msg_1", "msg_2"), another(resHi), resEnd}, partsOf(textOf("hi"), textOf("hi")), resSum},
	{"interleaved texts", []string{resAddMsg, resHi, another(resAddMsg, "msg_1", "msg_2"), another(resHi), resHi, resEnd}, partsOf(textOf("hi"), textOf("hi"), textOf("hi")), resSum},
	{"refusal", []string{resAddMsg, `{"type":"response.refusal.delta","output_index":0,"content_index":0,"delta":"I cannot"}`, `{"type":"response.refusal.done","output_index":0,"content_index":0,"refusal":"I cannot."}`, resEnd}, partsOf(&content.Text{Text: "I cannot.", Refusal: true}), content.StopRefusal},
	{"refusal in last event", []string{completedWith(`{"type":"message","role":"assistant","content":[{"type":"refusal","refusal":"No."}]}`)}, partsOf(&content.Text{Text: "No.", Refusal: true}), content.StopRefusal},
}

// twoCalls are two tool calls with one id from the server.
var twoCalls = partsOf(responsesCall, useOf("call_1_2", "f", `{"x":2}`))

// callsWithOneID returns tool calls of a complete response that share an id.
func callsWithOneID(arguments ...string) string {
	var list []string
	for _, s := range arguments {
		list = append(list, `{"type":"function_call","call_id":"call_1","name":"f","arguments":"`+s+`"}`)
	}
	return strings.Join(list, ",")
}

// responsesCallQuirks are about tool calls.
var responsesCallQuirks = []responsesQuirk{
	{"no text", []string{resAddMsg, another(resAddCall), another(resArg), another(resArgs), another(resCallDone), resEnd}, partsOf(responsesCall), content.StopToolUse},
	{"text and call with same index", []string{resAddMsg, resHi, resMsgDone, resAddCall, resArg, resArgs, resCallDone, completedWith(`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"hi"}]},{"type":"function_call","call_id":"call_1","name":"f","arguments":"{\"x\":1}"}`)},
		partsOf(textOf("hi"), responsesCall), content.StopToolUse},
	{"text and call with same index, no ends", []string{resAddMsg, resHi, resAddCall, resArg, resArgs, resEnd}, partsOf(textOf("hi"), responsesCall), content.StopToolUse},
	{"arguments only in done", []string{resAddCall, resArgsDone, resEnd}, partsOf(responsesCall), content.StopToolUse},
	{"arguments only in item", []string{resAddCall, resCallDone, resEnd}, partsOf(responsesCall), content.StopToolUse},
	{"arguments only in item added", []string{strings.Replace(resAddCall, `"arguments":""`, `"arguments":"{\"x\":1}"`, 1), resEnd}, partsOf(responsesCall), content.StopToolUse},
	{"arguments everywhere", []string{strings.Replace(resAddCall, `"arguments":""`, `"arguments":"{\"x\":1}"`, 1), resArg, resArgs, resArgsDone, resCallDone, resEnd}, partsOf(responsesCall), content.StopToolUse},
	{"arguments as object", []string{resAddCall, strings.Replace(resCallDone, `"{\"x\":1}"`, `{"x":1}`, 1), resEnd}, partsOf(responsesCall), content.StopToolUse},
	{"late name", []string{strings.Replace(resAddCall, `"name":"f",`, "", 1), resArg, resArgs, resCallDone, resEnd}, partsOf(responsesCall), content.StopToolUse},
	{"no call_id", []string{strings.Replace(resCallDone, `"call_id":"call_1",`, "", 1), resEnd}, partsOf(useOf("fc_1", "f", `{"x":1}`)), content.StopToolUse},
	{"no ids", []string{strings.NewReplacer(`"call_id":"call_1",`, "", `"id":"fc_1",`, "").Replace(resCallDone), resEnd}, partsOf(useOf("made", "f", `{"x":1}`)), content.StopToolUse},
	{"interleaved parallel calls", []string{resAddCall, another(resAddCall, "_1", "_2"), resArg, another(resArg), another(resArgs), resArgs, another(resCallDone, "_1", "_2"), resCallDone, resEnd},
		partsOf(responsesCall, useOf("call_2", "f", `{"x":1}`)), content.StopToolUse},
	{"repeated call", []string{resAddCall, resCallDone, resAddCall, resCallDone, completedWith(`{"type":"function_call","call_id":"call_1","name":"f","arguments":"{\"x\":1}"}`)}, partsOf(responsesCall), content.StopToolUse},
	{"same call_id", []string{resAddCall, resArg, resArgs, resCallDone, another(resAddCall, "fc_1", "fc_2"), another(resArg), another(resArgs, `1}`, `2}`), another(resCallDone, "fc_1", "fc_2", `:1}`, `:2}`),
		completedWith(callsWithOneID(`{\"x\":1}`, `{\"x\":2}`))}, twoCalls, content.StopToolUse},
	{"same call_id, no item ids", []string{resAddCall, resArg, resArgs, resCallDone, another(resAddCall), another(resArg), another(resArgs, `1}`, `2}`), another(resCallDone, `:1}`, `:2}`), resEnd}, twoCalls, content.StopToolUse},
	{"same call_id, interleaved", []string{resAddCall, another(resAddCall, "fc_1", "fc_2"), resArg, another(resArg), another(resArgs, `1}`, `2}`), resArgs, another(resCallDone, "fc_1", "fc_2", `:1}`, `:2}`), resCallDone, resEnd}, twoCalls, content.StopToolUse},
	{"same call_id and index", []string{resAddCall, resArg, resArgs, resCallDone, strings.Replace(resAddCall, "fc_1", "fc_2", 1), resArg, strings.Replace(resArgs, `1}`, `2}`, 1), strings.NewReplacer("fc_1", "fc_2", `:1}`, `:2}`).Replace(resCallDone), resEnd}, twoCalls, content.StopToolUse},
	{"same call_id, items only", []string{resCallDone, another(resCallDone, `:1}`, `:2}`), resEnd}, twoCalls, content.StopToolUse},
	{"same call_id, last event only", []string{completedWith(callsWithOneID(`{\"x\":1}`, `{\"x\":2}`))}, twoCalls, content.StopToolUse},
	{"same call_id, equal calls", []string{resAddCall, resCallDone, resAddCall, resCallDone, completedWith(callsWithOneID(`{\"x\":1}`, `{\"x\":2}`))}, twoCalls, content.StopToolUse},
	{"same call_id, other index when done", []string{resAddCall, resArg, resArgs, another(resCallDone), completedWith(callsWithOneID(`{\"x\":1}`))}, partsOf(responsesCall), content.StopToolUse},
	{"same call_id, and one like a generated id", []string{completedWith(strings.Replace(callsWithOneID("{}", "{}", "{}"), "call_1", "call_1_3", 1))}, partsOf(useOf("call_1_3", "f", "{}"), useOf("call_1", "f", "{}"), useOf("made", "f", "{}")), content.StopToolUse},
}

// responsesThinkingQuirks are about thinking.
var responsesThinkingQuirks = []responsesQuirk{
	{"raw thinking", []string{`{"type":"response.reasoning_text.delta","output_index":0,"content_index":0,"delta":"hm"}`, another(resHi), resEnd}, partsOf(&content.Thinking{Text: "hm"}, textOf("hi")), resSum},
	{"raw thinking and summary", []string{thinkingDelta("hm"), `{"type":"response.reasoning_text.delta","output_index":0,"content_index":0,"delta":"hmm"}`, another(resHi), resEnd}, partsOf(&content.Thinking{Text: "hm"}, textOf("hi")), resSum},
	{"summaries in parts", []string{thinkingDelta("a"), strings.Replace(thinkingDelta("b"), `"summary_index":0`, `"summary_index":1`, 1), another(resHi), resEnd}, partsOf(&content.Thinking{Text: "a\n\nb"}, textOf("hi")), resSum},
	{"summary only in item", []string{`{"type":"response.output_item.done","output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"a"},{"type":"summary_text","text":"b"}]}}`, another(resHi), resEnd},
		partsOf(&content.Thinking{Text: "a\n\nb"}, textOf("hi")), resSum},
	{"encrypted thinking only", []string{`{"type":"response.output_item.done","output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[]}}`, another(resHi), resEnd}, partsOf(textOf("hi")), resSum},
	{"late end of encrypted thinking", []string{`{"type":"response.output_item.added","output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"part"}}`, thinkingDelta("hm"), another(resHi),
		`{"type":"response.output_item.done","output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"x"}}`, resEnd},
		partsOf(&content.Thinking{Text: "hm", Signature: itemSignature(`{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"x"}`)}, textOf("hi")), resSum},
	{"thinking in last event", []string{thinkingDelta("hm"), completedWith(`{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"x"},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"hi"}]}`)},
		partsOf(&content.Thinking{Text: "hm", Signature: itemSignature(`{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"x"}`)}, textOf("hi")), resSum},
	{"encrypted and raw thinking", []string{completedWith(`{"id":"rs_1","type":"reasoning","status":"completed","summary":[],"content":[{"type":"reasoning_text","text":"hm"}],"encrypted_content":"x"},{"type":"message","content":[{"type":"output_text","text":"hi"}]}`)},
		partsOf(&content.Thinking{Text: "hm", Signature: itemSignature(`{"type":"reasoning","id":"rs_1","summary":[],"content":[{"type":"reasoning_text","text":"hm"}],"encrypted_content":"x"}`)}, textOf("hi")), resSum},
}

// responsesOtherQuirks are about everything else.
var responsesOtherQuirks = []responsesQuirk{
	{"unknown events", []string{`{"type":"response.new.event","x":1}`, `{"type":"keepalive"}`, `{"x":1}`, `1`, resHi, `{"type":"response.web_search_call.searching","output_index":3}`, resEnd}, partsOf(textOf("hi")), resSum},
	{"progress of built-in tools", []string{`{"type":"response.queued","response":{"id":"resp_1","model":"m","status":"queued"}}`, resAddMsg,
		`{"type":"response.file_search_call.in_progress","output_index":1}`, `{"type":"response.code_interpreter_call.interpreting","output_index":1}`, `{"type":"response.code_interpreter_call_code.delta","output_index":1,"delta":"1+1"}`,
		`{"type":"response.image_generation_call.partial_image","output_index":1,"partial_image_b64":"AAAA","partial_image_index":0}`, `{"type":"response.mcp_list_tools.completed","output_index":1}`, `{"type":"response.mcp_call_arguments.delta","output_index":1,"delta":"{}"}`,
		`{"type":"response.custom_tool_call_input.delta","output_index":1,"delta":"x"}`, `{"type":"response.shell_call_command.delta","output_index":1,"delta":"ls"}`, `{"type":"response.compaction.compacting"}`, `{"type":"response.audio.delta","delta":"AAAA"}`,
		`{"type":"response.reasoning_summary_part.added","output_index":1,"summary_index":0,"part":{"type":"summary_text","text":""}}`, `{"type":"response.content_part.added","output_index":0,"content_index":0,"part":{"type":"output_text","text":""}}`, resHi, resMsgDone, resEnd},
		partsOf(textOf("hi")), resSum},
	{"message without type", []string{completedWith(`{"role":"assistant","content":"hi"}`)}, partsOf(textOf("hi")), resSum},
	{"call with namespace", []string{strings.Replace(resAddCall, `"name"`, `"namespace":"n","async":true,"caller":null,"name"`, 1), resArg, resArgs, resEnd},
		partsOf(&content.ToolUse{ID: "call_1", Name: "f", Namespace: "n", Input: `{"x":1}`, Extra: &content.Extra{Format: Format, JSON: `{"namespace":"n","async":true}`}}), content.StopToolUse},
	{"file search", []string{completedWith(`{"id":"fs_1","type":"file_search_call","status":"completed","queries":["a"],"results":[{"file_id":"f"}]},{"type":"message","content":[{"type":"output_text","text":"hi"}]}`)},
		partsOf(&content.ServerToolUse{Format: Format, Kind: "file_search_call", ID: "fs_1", Name: "file_search", Input: `{"queries":["a"]}`},
			&content.ServerToolResult{Format: Format, Kind: "file_search_call", ID: "fs_1", Content: `[{"file_id":"f"}]`},
			redactedPart(`{"id":"fs_1","type":"file_search_call","status":"completed","queries":["a"],"results":[{"file_id":"f"}]}`), textOf("hi")), resSum},
	{"MCP call", []string{completedWith(`{"id":"mcp_1","type":"mcp_call","server_label":"s","name":"g","arguments":"{\"a\":1}","output":"b","error":null},{"type":"message","content":[{"type":"output_text","text":"hi"}]}`)},
		partsOf(&content.ServerToolUse{Format: Format, Kind: "mcp_call", ID: "mcp_1", Name: "g", Input: `{"a":1}`},
			&content.ServerToolResult{Format: Format, Kind: "mcp_call", ID: "mcp_1", Content: `"b"`},
			redactedPart(`{"id":"mcp_1","type":"mcp_call","server_label":"s","name":"g","arguments":"{\"a\":1}","output":"b","error":null}`), textOf("hi")), resSum},
	{"added tools", []string{completedWith(`{"type":"additional_tools","role":"developer","tools":[]},{"type":"message","content":[{"type":"output_text","text":"hi"}]}`)},
		partsOf(&content.Unknown{Format: Format, Kind: "additional_tools", Raw: `{"type":"additional_tools","role":"developer","tools":[]}`}, textOf("hi")), resSum},
	{"call without name", []string{completedWith(`{"type":"function_call","call_id":"c","arguments":"{}"}`)}, nil, content.StopMalformedCall},
	{"custom call", []string{completedWith(`{"type":"custom_tool_call","call_id":"c","name":"g","input":"x"},{"type":"message","content":[{"type":"output_text","text":"hi"}]}`)},
		partsOf(&content.ToolUse{ID: "c", Name: "g", Freeform: true, Text: "x"}, textOf("hi")), content.StopToolUse},
	{"custom call in pieces", []string{`{"type":"response.output_item.added","output_index":0,"item":{"type":"custom_tool_call","id":"ctc_1","call_id":"c","namespace":"n","name":"g","input":""}}`,
		`{"type":"response.custom_tool_call_input.delta","item_id":"ctc_1","output_index":0,"sequence_number":3,"delta":"{\"ls"}`, `{"type":"response.custom_tool_call_input.delta","output_index":0,"delta":" -l"}`,
		`{"type":"response.custom_tool_call_input.done","item_id":"ctc_1","output_index":0,"input":"{\"ls -l"}`,
		`{"type":"response.output_item.done","output_index":0,"item":{"type":"custom_tool_call","id":"ctc_1","call_id":"c","namespace":"n","name":"g","input":"{\"ls -l"}}`, resEnd},
		partsOf(&content.ToolUse{ID: "c", Name: "g", Namespace: "n", Freeform: true, Text: `{"ls -l`, Extra: &content.Extra{Format: Format, JSON: `{"namespace":"n"}`}}), content.StopToolUse},
	{"custom call without deltas", []string{`{"type":"response.output_item.added","output_index":0,"item":{"type":"custom_tool_call","id":"ctc_1","call_id":"c","name":"g","input":""}}`,
		`{"type":"response.output_item.done","output_index":0,"item":{"type":"custom_tool_call","id":"ctc_1","call_id":"c","name":"g","input":"ls"}}`, resEnd},
		partsOf(&content.ToolUse{ID: "c", Name: "g", Freeform: true, Text: "ls"}), content.StopToolUse},
	{"refusal beside a text", []string{completedWith(`{"type":"message","content":[{"type":"output_text","text":"hi"},{"type":"refusal","refusal":"no"}]}`)},
		partsOf(textOf("hi"), &content.Text{Text: "no", Refusal: true}), content.StopRefusal},
	{"citation of a place in the text", []string{completedWith(`{"type":"message","content":[{"type":"output_text","text":"hi","annotations":[{"type":"url_citation","url":"https://a.example/","title":"A","start_index":1,"end_index":2}]}]}`)},
		partsOf(&content.Text{Text: "hi", Citations: []content.Citation{{Kind: content.CiteWeb, URL: "https://a.example/", Title: "A", Start: 1, End: 2}}}), resSum},
	{"response as one event", []string{`{"id":"resp_1","object":"response","status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"hi"}]}]}`}, partsOf(textOf("hi")), resSum},
	{"unknown item", []string{`{"type":"response.output_item.done","output_index":0,"item":{"id":"x","type":"new_call","y":1}}`, another(resHi), resEnd},
		partsOf(&content.Unknown{Format: Format, Kind: "new_call", Raw: `{"id":"x","type":"new_call","y":1}`}, textOf("hi")), resSum},
	{"repeated citation", []string{resAddMsg, resHi, `{"type":"response.output_text.annotation.added","output_index":0,"content_index":0,"annotation_index":0,"annotation":{"type":"file_citation","file_id":"file-1","filename":"a.txt","index":1}}`,
		strings.Replace(resMsgDone, `"annotations":[]`, `"annotations":[{"type":"file_citation","file_id":"file-1","filename":"a.txt","index":1}]`, 1), resEnd},
		partsOf(&content.Text{Text: "hi", Citations: []content.Citation{{Title: "a.txt", FileID: "file-1", Extra: &content.Extra{Format: Format, JSON: `{"type":"file_citation","file_id":"file-1","filename":"a.txt","index":1}`}}}}), resSum},
	{"incomplete by filter", []string{resHi, `{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"content_filter"}}}`}, partsOf(textOf("hi")), content.StopSafety},
	{"incomplete, steered", []string{resHi, `{"type":"response.incomplete","response":{"incomplete_details":{"reason":"steered"}}}`}, partsOf(textOf("hi")), content.StopOther},
	{"incomplete within call", []string{resAddCall, resArg, `{"type":"response.incomplete","response":{"incomplete_details":{"reason":"max_output_tokens"}}}`}, partsOf(useOf("call_1", "f", `{"x":`)), content.StopMaxTokens},
	{"compaction", []string{`{"type":"response.output_item.done","output_index":0,"item":{"id":"cmp_1","type":"compaction","encrypted_content":"x"}}`, another(resHi), resEnd},
		partsOf(redactedPart(`{"id":"cmp_1","type":"compaction","encrypted_content":"x"}`), textOf("hi")), resSum},
	{"code interpreter that failed", []string{`{"type":"response.output_item.done","output_index":0,"item":{"id":"ci_1","type":"code_interpreter_call","status":"failed","code":"1/0","container_id":"c","outputs":null}}`, another(resHi), resEnd},
		partsOf(&content.ServerToolUse{Format: Format, Kind: "code_interpreter_call", ID: "ci_1", Name: "code_interpreter", Input: `{"code":"1/0"}`},
			&content.ServerToolResult{Format: Format, Kind: "code_interpreter_call", ID: "ci_1", Content: `{"status":"failed","outputs":null}`},
			redactedPart(`{"id":"ci_1","type":"code_interpreter_call","status":"failed","code":"1/0","container_id":"c","outputs":null}`), textOf("hi")), resSum},
	{"code interpreter of xAI", []string{`{"type":"response.output_item.done","output_index":0,"item":{"id":"ci_1","type":"code_interpreter_call","name":"code_execution","arguments":"{\"code\":\"1+1\"}"}}`, another(resHi), resEnd},
		partsOf(&content.ServerToolUse{Format: Format, Kind: "code_interpreter_call", ID: "ci_1", Name: "code_interpreter", Input: `{"code":"1+1"}`},
			redactedPart(`{"id":"ci_1","type":"code_interpreter_call","name":"code_execution","arguments":"{\"code\":\"1+1\"}"}`), textOf("hi")), resSum},
	{"code interpreter", []string{`{"type":"response.output_item.done","output_index":0,"item":{"id":"ci_1","type":"code_interpreter_call","code":"1+1","container_id":"c","outputs":[{"type":"logs","logs":"2"}]}}`, another(resHi), resEnd},
		partsOf(&content.ServerToolUse{Format: Format, Kind: "code_interpreter_call", ID: "ci_1", Name: "code_interpreter", Input: `{"code":"1+1"}`},
			&content.ServerToolResult{Format: Format, Kind: "code_interpreter_call", ID: "ci_1", Content: `[{"type":"logs","logs":"2"}]`},
			redactedPart(`{"id":"ci_1","type":"code_interpreter_call","code":"1+1","container_id":"c","outputs":[{"type":"logs","logs":"2"}]}`), textOf("hi")), resSum},
}

// TestResponsesQuirks checks nonstandard streams, and events that are repeated, late or
// missing.
func TestResponsesQuirks(t *testing.T) {
	for _, tt := range slices.Concat(responsesTextQuirks, responsesCallQuirks, responsesThinkingQuirks, responsesOtherQuirks) {
		t.Run(tt.name, func(t *testing.T) {
			got, err := readResponses(t, strings.NewReader(events(tt.events...)))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.parts, got.Parts); diff != "" || got.Stop.Reason != tt.reason {
				t.Errorf("stop %s, want %s; parts (-want +got):\n%s", got.Stop.Reason, tt.reason, diff)
			}
		})
	}
}

// TestResponsesFailures checks streams that are not complete responses.
func TestResponsesFailures(t *testing.T) {
	tests := []struct {
		name, stream string
		code         upstream.Code
		text         string
	}{
		{"empty", "", upstream.CodeBadGateway, ""},
		{"no end", events(resCreated, resAddMsg, resHi, resMsgDone), upstream.CodeBadGateway, ""},
		{"only [DONE]", events(resAddMsg, resHi, resMsgDone, "[DONE]"), upstream.CodeBadGateway, ""},
		{"not JSON", events(`{"type":`), upstream.CodeBadGateway, ""},
		{"duplicate members", events(`{"type":"response.output_text.delta","delta":"a","delta":"b"}`), upstream.CodeBadGateway, ""},
		{"failed", events(resCreated, `{"type":"response.failed","response":{"status":"failed","error":{"code":"server_error","message":"Oh no."}}}`), upstream.CodeUnavailable, ""},
		{"failed without error", events(`{"type":"response.failed","response":{"status":"failed","error":null}}`), upstream.CodeUnavailable, ""},
		{"cancelled", events(`{"type":"response.cancelled","response":{"status":"cancelled"}}`), upstream.CodeUnavailable, ""},
		{"rate limit", events(`{"type":"response.failed","response":{"error":{"code":"rate_limit_exceeded","message":"Please try again in 2.5s."}}}`), upstream.CodeRateLimit, "Please try again in 2.5s."},
		{"invalid image", events(`{"type":"response.failed","response":{"error":{"code":"invalid_image_format","message":"The image is broken."}}}`), upstream.CodeInvalid, "The image is broken."},
		{"error", events(resHi, `{"type":"error","code":"context_length_exceeded","message":"Your input exceeds the context window of this model.","param":"input"}`), upstream.CodeInvalid, "Your input exceeds the context window of this model."},
		{"nested error", events(`{"type":"error","error":{"type":"insufficient_quota","code":"insufficient_quota","message":"No credit."}}`), upstream.CodeQuota, "No credit."},
		{"error without type", events(`{"error":{"message":"Bad.","type":"invalid_request_error"}}`), upstream.CodeInvalid, "Bad."},
		{"error of unknown type", events(`{"type":"trouble","error":{"message":"Bad.","type":"invalid_request_error"}}`), upstream.CodeInvalid, "Bad."},
		{"legacy error", events(`{"object":"error","message":"Too long.","type":"BadRequestError","code":400}`), upstream.CodeInvalid, "Too long."},
		{"event named error", "event: error\ndata: {\"message\":\"Oh no.\"}\n\n", upstream.CodeUnavailable, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := readResponses(t, strings.NewReader(tt.stream))
			var e *upstream.Error
			if !errors.As(err, &e) || e.Code != tt.code || e.Text != tt.text {
				t.Errorf("%v: %#v, want %s %q", err, e, tt.code, tt.text)
			}
		})
	}
	for _, tt := range []struct {
		body string
		code upstream.Code
	}{
		{"", upstream.CodeBadGateway}, {"<html>", upstream.CodeBadGateway}, {"1", upstream.CodeBadGateway}, {"{}", upstream.CodeBadGateway},
		{`{"status":"in_progress","output":[]}`, upstream.CodeBadGateway}, {`{"error":"model not found"}`, upstream.CodeUnavailable},
		{example(t, "E22.json"), upstream.CodeUnavailable}, {`[{"error":{"code":400,"message":"Bad."}}]`, upstream.CodeInvalid},
		{`{"object":"error","message":"There is no model x.","type":"NotFoundError","code":404}`, upstream.CodeNotFound},
	} {
		_, err := completeResponses(t, tt.body)
		var e *upstream.Error
		if !errors.As(err, &e) || e.Code != tt.code {
			t.Errorf("%s: %v, want %s", tt.body, err, tt.code)
		}
	}
}

// TestResponsesShuffled drops, repeats and moves the events of a stream. The result is
// a response or an error of the server, never an internal error.
func TestResponsesShuffled(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	whole := strings.Split(strings.TrimSpace(example(t, "E24.sse")+example(t, "E25.sse")), "\n\n")
	for range 2000 {
		list := slices.Clone(whole)
		for range 1 + random.IntN(6) {
			i, j := random.IntN(len(list)), random.IntN(len(list))
			switch random.IntN(3) {
			case 0:
				list = slices.Delete(list, i, i+1)
			case 1:
				list = slices.Insert(list, j, list[i])
			case 2:
				list[i], list[j] = list[j], list[i]
			}
		}
		stream := strings.Join(list, "\n\n")
		_, err := readResponses(t, strings.NewReader(stream))
		var e *upstream.Error
		if err != nil && !errors.As(err, &e) {
			t.Fatalf("%v of\n%s", err, stream)
		}
	}
}
