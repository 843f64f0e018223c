package openai

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

// The pieces of the streams of these tests.
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

func resThink(delta string) string {
	return `{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":0,"delta":"` + delta + `"}`
}

func resEnding(output string) string {
	return `{"type":"response.completed","response":{"status":"completed","output":[` + output + `]}}`
}

// another returns an event about another index.
func another(event string, changes ...string) string {
	return strings.NewReplacer(append([]string{`"output_index":0`, `"output_index":1`}, changes...)...).Replace(event)
}

// A resQuirk is what a server does, and what it means.
type resQuirk struct {
	name   string
	events []string
	parts  []content.Part
	reason content.StopReason
}

const resSum = content.StopEnd

// resUse is the call that the pieces make.
var resUse = useOf("call_1", "f", `{"x":1}`)

// resTextQuirks are about how texts come.
var resTextQuirks = []resQuirk{
	{"the vendor's own", []string{resCreated, resAddMsg, resHi, resMsgDone, resEnd}, partsOf(sayText("hi")), resSum},
	{"no beginning", []string{resAddMsg, resHi, resMsgDone, resEnd}, partsOf(sayText("hi")), resSum},
	{"deltas without an item", []string{resHi, resHi, resEnd}, partsOf(sayText("hihi")), resSum},
	{"the item only", []string{resMsgDone, resEnd}, partsOf(sayText("hi")), resSum},
	{"an end that is missing", []string{resAddMsg, resHi, resEnd}, partsOf(sayText("hi")), resSum},
	{"more in the whole text", []string{resAddMsg, resHi, strings.Replace(resMsgDone, `"hi"`, `"hi you"`, 1), resEnd}, partsOf(sayText("hi you")), resSum},
	{"more in text.done", []string{resAddMsg, resHi, `{"type":"response.output_text.done","output_index":0,"content_index":0,"text":"hi you"}`, resEnd}, partsOf(sayText("hi you")), resSum},
	{"other text in the end", []string{resAddMsg, resHi, strings.Replace(resMsgDone, `"hi"`, `"ho there"`, 1), resEnd}, partsOf(sayText("hi")), resSum},
	{"items twice", []string{resAddMsg, resAddMsg, resHi, resMsgDone, resMsgDone, resEnd}, partsOf(sayText("hi")), resSum},
	{"an item with new ids", []string{resAddMsg, strings.ReplaceAll(resHi, "msg_1", "msg_2"), strings.ReplaceAll(resMsgDone, "msg_1", "msg_3"), resEnd}, partsOf(sayText("hi")), resSum},
	{"text.done behind the item", []string{resAddMsg, resHi, resMsgDone, `{"type":"response.output_text.done","output_index":0,"content_index":0,"text":"hi"}`, resEnd}, partsOf(sayText("hi")), resSum},
	{"everything in the end", []string{resCreated, resEnding(`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"hi"}]},{"type":"function_call","call_id":"call_1","name":"f","arguments":"{\"x\":1}"}`)},
		partsOf(sayText("hi"), resUse), content.StopToolUse},
	{"the end tells again", []string{resAddMsg, resHi, resMsgDone, resEnding(`{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"output_text","text":"hi"}]}`)}, partsOf(sayText("hi")), resSum},
	{"the end tells more", []string{resAddMsg, resHi, resEnding(`{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"output_text","text":"hi you"}]},{"type":"function_call","call_id":"call_1","name":"f","arguments":"{\"x\":1}"}`)},
		partsOf(sayText("hi you"), resUse), content.StopToolUse},
	{"an empty output in the end", []string{resAddMsg, resHi, resMsgDone, resEnding("")}, partsOf(sayText("hi")), resSum},
	{"no index", []string{strings.Replace(resAddMsg, `"output_index":0,`, "", 1), `{"type":"response.output_text.delta","delta":"hi"}`, `{"type":"response.output_text.delta","delta":"!"}`, resEnd}, partsOf(sayText("hi!")), resSum},
	{"numbers that repeat", []string{strings.Replace(resHi, `"delta"`, `"sequence_number":1,"delta"`, 1), strings.Replace(resHi, `"delta"`, `"sequence_number":1,"delta"`, 1), resEnd}, partsOf(sayText("hihi")), resSum},
	{"two parts", []string{resAddMsg, resHi, strings.Replace(resHi, `"content_index":0`, `"content_index":1`, 1), resEnd}, partsOf(sayText("hi"), sayText("hi")), resSum},
	{"two messages", []string{resAddMsg, resHi, resMsgDone, another(resAddMsg, "msg_1", "msg_2"), another(resHi), resEnd}, partsOf(sayText("hi"), sayText("hi")), resSum},
	{"texts in turns", []string{resAddMsg, resHi, another(resAddMsg, "msg_1", "msg_2"), another(resHi), resHi, resEnd}, partsOf(sayText("hi"), sayText("hi"), sayText("hi")), resSum},
	{"a refusal", []string{resAddMsg, `{"type":"response.refusal.delta","output_index":0,"content_index":0,"delta":"I cannot"}`, `{"type":"response.refusal.done","output_index":0,"content_index":0,"refusal":"I cannot."}`, resEnd}, partsOf(sayText("I cannot.")), content.StopRefusal},
	{"a refusal in the end", []string{resEnding(`{"type":"message","role":"assistant","content":[{"type":"refusal","refusal":"No."}]}`)}, partsOf(sayText("No.")), content.StopRefusal},
}

// resTwo are two calls to which the server gave one id.
var resTwo = partsOf(resUse, useOf("call_1_2", "f", `{"x":2}`))

// resOneID lists calls in a whole answer that all have one id.
func resOneID(arguments ...string) string {
	var list []string
	for _, s := range arguments {
		list = append(list, `{"type":"function_call","call_id":"call_1","name":"f","arguments":"`+s+`"}`)
	}
	return strings.Join(list, ",")
}

// resCallQuirks are about how calls come.
var resCallQuirks = []resQuirk{
	{"no text", []string{resAddMsg, another(resAddCall), another(resArg), another(resArgs), another(resCallDone), resEnd}, partsOf(resUse), content.StopToolUse},
	{"text and call at one index", []string{resAddMsg, resHi, resMsgDone, resAddCall, resArg, resArgs, resCallDone, resEnding(`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"hi"}]},{"type":"function_call","call_id":"call_1","name":"f","arguments":"{\"x\":1}"}`)},
		partsOf(sayText("hi"), resUse), content.StopToolUse},
	{"the same without ends", []string{resAddMsg, resHi, resAddCall, resArg, resArgs, resEnd}, partsOf(sayText("hi"), resUse), content.StopToolUse},
	{"arguments in done only", []string{resAddCall, resArgsDone, resEnd}, partsOf(resUse), content.StopToolUse},
	{"arguments in the item only", []string{resAddCall, resCallDone, resEnd}, partsOf(resUse), content.StopToolUse},
	{"arguments in the beginning only", []string{strings.Replace(resAddCall, `"arguments":""`, `"arguments":"{\"x\":1}"`, 1), resEnd}, partsOf(resUse), content.StopToolUse},
	{"arguments in every place", []string{strings.Replace(resAddCall, `"arguments":""`, `"arguments":"{\"x\":1}"`, 1), resArg, resArgs, resArgsDone, resCallDone, resEnd}, partsOf(resUse), content.StopToolUse},
	{"arguments that are an object", []string{resAddCall, strings.Replace(resCallDone, `"{\"x\":1}"`, `{"x":1}`, 1), resEnd}, partsOf(resUse), content.StopToolUse},
	{"a name that comes late", []string{strings.Replace(resAddCall, `"name":"f",`, "", 1), resArg, resArgs, resCallDone, resEnd}, partsOf(resUse), content.StopToolUse},
	{"no call_id", []string{strings.Replace(resCallDone, `"call_id":"call_1",`, "", 1), resEnd}, partsOf(useOf("fc_1", "f", `{"x":1}`)), content.StopToolUse},
	{"no id at all", []string{strings.NewReplacer(`"call_id":"call_1",`, "", `"id":"fc_1",`, "").Replace(resCallDone), resEnd}, partsOf(useOf("made", "f", `{"x":1}`)), content.StopToolUse},
	{"parallel calls side by side", []string{resAddCall, another(resAddCall, "_1", "_2"), resArg, another(resArg), another(resArgs), resArgs, another(resCallDone, "_1", "_2"), resCallDone, resEnd},
		partsOf(resUse, useOf("call_2", "f", `{"x":1}`)), content.StopToolUse},
	{"a call twice", []string{resAddCall, resCallDone, resAddCall, resCallDone, resEnding(`{"type":"function_call","call_id":"call_1","name":"f","arguments":"{\"x\":1}"}`)}, partsOf(resUse), content.StopToolUse},
	{"one call_id", []string{resAddCall, resArg, resArgs, resCallDone, another(resAddCall, "fc_1", "fc_2"), another(resArg), another(resArgs, `1}`, `2}`), another(resCallDone, "fc_1", "fc_2", `:1}`, `:2}`),
		resEnding(resOneID(`{\"x\":1}`, `{\"x\":2}`))}, resTwo, content.StopToolUse},
	{"one call_id, and no other id", []string{resAddCall, resArg, resArgs, resCallDone, another(resAddCall), another(resArg), another(resArgs, `1}`, `2}`), another(resCallDone, `:1}`, `:2}`), resEnd}, resTwo, content.StopToolUse},
	{"one call_id, side by side", []string{resAddCall, another(resAddCall, "fc_1", "fc_2"), resArg, another(resArg), another(resArgs, `1}`, `2}`), resArgs, another(resCallDone, "fc_1", "fc_2", `:1}`, `:2}`), resCallDone, resEnd}, resTwo, content.StopToolUse},
	{"one call_id and index", []string{resAddCall, resArg, resArgs, resCallDone, strings.Replace(resAddCall, "fc_1", "fc_2", 1), resArg, strings.Replace(resArgs, `1}`, `2}`, 1), strings.NewReplacer("fc_1", "fc_2", `:1}`, `:2}`).Replace(resCallDone), resEnd}, resTwo, content.StopToolUse},
	{"one call_id, in items only", []string{resCallDone, another(resCallDone, `:1}`, `:2}`), resEnd}, resTwo, content.StopToolUse},
	{"one call_id, in the end only", []string{resEnding(resOneID(`{\"x\":1}`, `{\"x\":2}`))}, resTwo, content.StopToolUse},
	{"one call_id, all alike", []string{resAddCall, resCallDone, resAddCall, resCallDone, resEnding(resOneID(`{\"x\":1}`, `{\"x\":2}`))}, resTwo, content.StopToolUse},
	{"one call_id, another index at its end", []string{resAddCall, resArg, resArgs, another(resCallDone), resEnding(resOneID(`{\"x\":1}`))}, partsOf(resUse), content.StopToolUse},
	{"one call_id, and one that looks made", []string{resEnding(strings.Replace(resOneID("{}", "{}", "{}"), "call_1", "call_1_3", 1))}, partsOf(useOf("call_1_3", "f", "{}"), useOf("call_1", "f", "{}"), useOf("made", "f", "{}")), content.StopToolUse},
}

// resThoughtQuirks are about how thoughts come.
var resThoughtQuirks = []resQuirk{
	{"thoughts as they are", []string{`{"type":"response.reasoning_text.delta","output_index":0,"content_index":0,"delta":"hm"}`, another(resHi), resEnd}, partsOf(&content.Thinking{Text: "hm"}, sayText("hi")), resSum},
	{"thoughts of both kinds", []string{resThink("hm"), `{"type":"response.reasoning_text.delta","output_index":0,"content_index":0,"delta":"hmm"}`, another(resHi), resEnd}, partsOf(&content.Thinking{Text: "hm"}, sayText("hi")), resSum},
	{"summaries in parts", []string{resThink("a"), strings.Replace(resThink("b"), `"summary_index":0`, `"summary_index":1`, 1), another(resHi), resEnd}, partsOf(&content.Thinking{Text: "a\n\nb"}, sayText("hi")), resSum},
	{"a summary in the item only", []string{`{"type":"response.output_item.done","output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"a"},{"type":"summary_text","text":"b"}]}}`, another(resHi), resEnd},
		partsOf(&content.Thinking{Text: "a\n\nb"}, sayText("hi")), resSum},
	{"a thought that is not told", []string{`{"type":"response.output_item.done","output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[]}}`, another(resHi), resEnd}, partsOf(sayText("hi")), resSum},
	{"an encrypted thought that is over late", []string{`{"type":"response.output_item.added","output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"part"}}`, resThink("hm"), another(resHi),
		`{"type":"response.output_item.done","output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"x"}}`, resEnd},
		partsOf(&content.Thinking{Text: "hm", Signature: itemSignature(`{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"x"}`)}, sayText("hi")), resSum},
	{"a thought told in the end", []string{resThink("hm"), resEnding(`{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"x"},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"hi"}]}`)},
		partsOf(&content.Thinking{Text: "hm", Signature: itemSignature(`{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"x"}`)}, sayText("hi")), resSum},
	{"an encrypted thought with the thought itself", []string{resEnding(`{"id":"rs_1","type":"reasoning","status":"completed","summary":[],"content":[{"type":"reasoning_text","text":"hm"}],"encrypted_content":"x"},{"type":"message","content":[{"type":"output_text","text":"hi"}]}`)},
		partsOf(&content.Thinking{Text: "hm", Signature: itemSignature(`{"type":"reasoning","id":"rs_1","summary":[],"content":[{"type":"reasoning_text","text":"hm"}],"encrypted_content":"x"}`)}, sayText("hi")), resSum},
	{"a phase that comes late", []string{resAddMsg, resHi, strings.Replace(resMsgDone, `"status"`, `"phase":"final_answer","status"`, 1), resEnd}, partsOf(phased("hi", "final_answer")), resSum},
}

// resOtherQuirks are about all else.
var resOtherQuirks = []resQuirk{
	{"events that nobody knows", []string{`{"type":"response.new.event","x":1}`, `{"type":"keepalive"}`, `{"x":1}`, `1`, resHi, `{"type":"response.web_search_call.searching","output_index":3}`, resEnd}, partsOf(sayText("hi")), resSum},
	{"progress of the server's own tools", []string{`{"type":"response.queued","response":{"id":"resp_1","model":"m","status":"queued"}}`, resAddMsg,
		`{"type":"response.file_search_call.in_progress","output_index":1}`, `{"type":"response.code_interpreter_call.interpreting","output_index":1}`, `{"type":"response.code_interpreter_call_code.delta","output_index":1,"delta":"1+1"}`,
		`{"type":"response.image_generation_call.partial_image","output_index":1,"partial_image_b64":"AAAA","partial_image_index":0}`, `{"type":"response.mcp_list_tools.completed","output_index":1}`, `{"type":"response.mcp_call_arguments.delta","output_index":1,"delta":"{}"}`,
		`{"type":"response.custom_tool_call_input.delta","output_index":1,"delta":"x"}`, `{"type":"response.shell_call_command.delta","output_index":1,"delta":"ls"}`, `{"type":"response.compaction.compacting"}`, `{"type":"response.audio.delta","delta":"AAAA"}`,
		`{"type":"response.reasoning_summary_part.added","output_index":1,"summary_index":0,"part":{"type":"summary_text","text":""}}`, `{"type":"response.content_part.added","output_index":0,"content_index":0,"part":{"type":"output_text","text":""}}`, resHi, resMsgDone, resEnd},
		partsOf(sayText("hi")), resSum},
	{"a message without a type", []string{resEnding(`{"role":"assistant","content":"hi"}`)}, partsOf(sayText("hi")), resSum},
	{"a call with a namespace", []string{strings.Replace(resAddCall, `"name"`, `"namespace":"n","async":true,"caller":null,"name"`, 1), resArg, resArgs, resEnd},
		partsOf(&content.ToolUse{ID: "call_1", Name: "f", Input: `{"x":1}`, Extra: &content.Extra{Format: ResponsesFormat, JSON: `{"namespace":"n","async":true}`}}), content.StopToolUse},
	{"files that were searched", []string{resEnding(`{"id":"fs_1","type":"file_search_call","status":"completed","queries":["a"],"results":[{"file_id":"f"}]},{"type":"message","content":[{"type":"output_text","text":"hi"}]}`)},
		partsOf(&content.ServerToolUse{Format: ResponsesFormat, Kind: "file_search_call", ID: "fs_1", Name: "file_search", Input: `{"queries":["a"]}`},
			&content.ServerToolResult{Format: ResponsesFormat, Kind: "file_search_call", ID: "fs_1", Content: `[{"file_id":"f"}]`},
			hidden(`{"id":"fs_1","type":"file_search_call","status":"completed","queries":["a"],"results":[{"file_id":"f"}]}`), sayText("hi")), resSum},
	{"a tool of another server", []string{resEnding(`{"id":"mcp_1","type":"mcp_call","server_label":"s","name":"g","arguments":"{\"a\":1}","output":"b","error":null},{"type":"message","content":[{"type":"output_text","text":"hi"}]}`)},
		partsOf(&content.ServerToolUse{Format: ResponsesFormat, Kind: "mcp_call", ID: "mcp_1", Name: "g", Input: `{"a":1}`},
			&content.ServerToolResult{Format: ResponsesFormat, Kind: "mcp_call", ID: "mcp_1", Content: `"b"`},
			hidden(`{"id":"mcp_1","type":"mcp_call","server_label":"s","name":"g","arguments":"{\"a\":1}","output":"b","error":null}`), sayText("hi")), resSum},
	{"tools that were added", []string{resEnding(`{"type":"additional_tools","role":"developer","tools":[]},{"type":"message","content":[{"type":"output_text","text":"hi"}]}`)},
		partsOf(&content.Unknown{Format: ResponsesFormat, Kind: "additional_tools", Raw: `{"type":"additional_tools","role":"developer","tools":[]}`}, sayText("hi")), resSum},
	{"a call without a name", []string{resEnding(`{"type":"function_call","call_id":"c","arguments":"{}"}`)}, nil, content.StopMalformedCall},
	{"a call of another kind", []string{resEnding(`{"type":"custom_tool_call","call_id":"c","name":"g","input":"x"},{"type":"message","content":[{"type":"output_text","text":"hi"}]}`)},
		partsOf(&content.Unknown{Format: ResponsesFormat, Kind: "custom_tool_call", Raw: `{"type":"custom_tool_call","call_id":"c","name":"g","input":"x"}`}, sayText("hi")), resSum},
	{"an answer as one event", []string{`{"id":"resp_1","object":"response","status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"hi"}]}]}`}, partsOf(sayText("hi")), resSum},
	{"an item that nobody knows", []string{`{"type":"response.output_item.done","output_index":0,"item":{"id":"x","type":"new_call","y":1}}`, another(resHi), resEnd},
		partsOf(&content.Unknown{Format: ResponsesFormat, Kind: "new_call", Raw: `{"id":"x","type":"new_call","y":1}`}, sayText("hi")), resSum},
	{"a citation twice", []string{resAddMsg, resHi, `{"type":"response.output_text.annotation.added","output_index":0,"content_index":0,"annotation_index":0,"annotation":{"type":"file_citation","file_id":"file-1","filename":"a.txt","index":1}}`,
		strings.Replace(resMsgDone, `"annotations":[]`, `"annotations":[{"type":"file_citation","file_id":"file-1","filename":"a.txt","index":1}]`, 1), resEnd},
		partsOf(&content.Text{Text: "hi", Citations: []content.Citation{{Title: "a.txt", FileID: "file-1", Extra: &content.Extra{Format: ResponsesFormat, JSON: `{"type":"file_citation","file_id":"file-1","filename":"a.txt","index":1}`}}}}), resSum},
	{"incomplete by a filter", []string{resHi, `{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"content_filter"}}}`}, partsOf(sayText("hi")), content.StopSafety},
	{"incomplete, steered", []string{resHi, `{"type":"response.incomplete","response":{"incomplete_details":{"reason":"steered"}}}`}, partsOf(sayText("hi")), content.StopOther},
	{"incomplete amid a call", []string{resAddCall, resArg, `{"type":"response.incomplete","response":{"incomplete_details":{"reason":"max_output_tokens"}}}`}, partsOf(useOf("call_1", "f", `{"x":`)), content.StopMaxTokens},
	{"a compaction", []string{`{"type":"response.output_item.done","output_index":0,"item":{"id":"cmp_1","type":"compaction","encrypted_content":"x"}}`, another(resHi), resEnd},
		partsOf(hidden(`{"id":"cmp_1","type":"compaction","encrypted_content":"x"}`), sayText("hi")), resSum},
	{"code that was run", []string{`{"type":"response.output_item.done","output_index":0,"item":{"id":"ci_1","type":"code_interpreter_call","code":"1+1","container_id":"c","outputs":[{"type":"logs","logs":"2"}]}}`, another(resHi), resEnd},
		partsOf(&content.ServerToolUse{Format: ResponsesFormat, Kind: "code_interpreter_call", ID: "ci_1", Name: "code_interpreter", Input: `{"code":"1+1"}`},
			&content.ServerToolResult{Format: ResponsesFormat, Kind: "code_interpreter_call", ID: "ci_1", Content: `[{"type":"logs","logs":"2"}]`},
			hidden(`{"id":"ci_1","type":"code_interpreter_call","code":"1+1","container_id":"c","outputs":[{"type":"logs","logs":"2"}]}`), sayText("hi")), resSum},
}

// TestResponsesQuirks holds the reader to the rules for what compatible servers
// do, and for events that come twice, late or not at all.
func TestResponsesQuirks(t *testing.T) {
	for _, tt := range slices.Concat(resTextQuirks, resCallQuirks, resThoughtQuirks, resOtherQuirks) {
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

// TestResponsesFailures checks what is no whole answer.
func TestResponsesFailures(t *testing.T) {
	tests := []struct {
		name, stream string
		code         upstream.Code
		text         string
	}{
		{"nothing at all", "", upstream.CodeBadGateway, ""},
		{"no end", events(resCreated, resAddMsg, resHi, resMsgDone), upstream.CodeBadGateway, ""},
		{"an end mark is no end", events(resAddMsg, resHi, resMsgDone, done), upstream.CodeBadGateway, ""},
		{"no JSON", events(`{"type":`), upstream.CodeBadGateway, ""},
		{"members twice", events(`{"type":"response.output_text.delta","delta":"a","delta":"b"}`), upstream.CodeBadGateway, ""},
		{"failed", events(resCreated, `{"type":"response.failed","response":{"status":"failed","error":{"code":"server_error","message":"Oh no."}}}`), upstream.CodeUnavailable, ""},
		{"failed for nothing", events(`{"type":"response.failed","response":{"status":"failed","error":null}}`), upstream.CodeUnavailable, ""},
		{"cancelled", events(`{"type":"response.cancelled","response":{"status":"cancelled"}}`), upstream.CodeUnavailable, ""},
		{"limits of rates", events(`{"type":"response.failed","response":{"error":{"code":"rate_limit_exceeded","message":"Please try again in 2.5s."}}}`), upstream.CodeRateLimit, "Please try again in 2.5s."},
		{"a bad image", events(`{"type":"response.failed","response":{"error":{"code":"invalid_image_format","message":"The image is broken."}}}`), upstream.CodeInvalid, "The image is broken."},
		{"an error", events(resHi, `{"type":"error","code":"context_length_exceeded","message":"Your input exceeds the context window of this model.","param":"input"}`), upstream.CodeInvalid, "Your input exceeds the context window of this model."},
		{"an error inside", events(`{"type":"error","error":{"type":"insufficient_quota","code":"insufficient_quota","message":"No credit."}}`), upstream.CodeQuota, "No credit."},
		{"an error without a type", events(`{"error":{"message":"Bad.","type":"invalid_request_error"}}`), upstream.CodeInvalid, "Bad."},
		{"an error of an unknown type", events(`{"type":"trouble","error":{"message":"Bad.","type":"invalid_request_error"}}`), upstream.CodeInvalid, "Bad."},
		{"an old error", events(`{"object":"error","message":"Too long.","type":"BadRequestError","code":400}`), upstream.CodeInvalid, "Too long."},
		{"an event named error", "event: error\ndata: {\"message\":\"Oh no.\"}\n\n", upstream.CodeUnavailable, ""},
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
		_, err := wholeResponses(t, tt.body)
		var e *upstream.Error
		if !errors.As(err, &e) || e.Code != tt.code {
			t.Errorf("%s: %v, want %s", tt.body, err, tt.code)
		}
	}
}

// TestResponsesShuffled drops, doubles and moves the events of a stream. Whatever
// comes of it is an answer or an error of the server's, never one of ours.
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
