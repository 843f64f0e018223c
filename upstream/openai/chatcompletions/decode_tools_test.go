package chatcompletions

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
)

// callQuirks are tool calls with equal or missing ids and indexes.
var callQuirks = []struct {
	name   string
	chunks []string
	parts  []content.Part
}{
	{"same id and index", []string{fragmentOf(`"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":1}"}`), fragmentOf(`"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":2}"}`), toolStop},
		partsOf(useOf("a", "f", `{"x":1}`), useOf("a_2", "f", `{"x":2}`))},
	{"same id and index, fragments", []string{
		fragmentOf(`"index":0,"id":"a","function":{"name":"f","arguments":""}`), fragmentOf(`"index":0,"function":{"arguments":"{\"x\":"}`), fragmentOf(`"index":0,"function":{"arguments":"1"}`), fragmentOf(`"index":0,"function":{"arguments":"}"}`),
		fragmentOf(`"index":0,"id":"a","function":{"name":"f","arguments":""}`), fragmentOf(`"index":0,"function":{"arguments":"{\"x\":"}`), fragmentOf(`"index":0,"function":{"arguments":"2"}`), fragmentOf(`"index":0,"function":{"arguments":"}"}`), toolStop},
		partsOf(useOf("a", "f", `{"x":1}`), useOf("a_2", "f", `{"x":2}`))},
	{"same id and index in every fragment", []string{
		fragmentOf(`"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":"}`), fragmentOf(`"index":0,"id":"a","function":{"name":"f","arguments":"1}"}`),
		fragmentOf(`"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":"}`), fragmentOf(`"index":0,"id":"a","function":{"name":"f","arguments":"2}"}`), toolStop},
		partsOf(useOf("a", "f", `{"x":1}`), useOf("a_2", "f", `{"x":2}`))},
	{"same id and index, other name", []string{fragmentOf(`"index":0,"id":"a","function":{"name":"f","arguments":""}`), fragmentOf(`"index":0,"id":"a","function":{"name":"g","arguments":""}`), fragmentOf(`"index":0,"function":{"arguments":"{}"}`), toolStop},
		partsOf(useOf("a", "f", ""), useOf("a_2", "g", "{}"))},
	{"same id and index, longer name", []string{fragmentOf(`"index":0,"id":"a","function":{"name":"f","arguments":"{}"}`), fragmentOf(`"index":0,"id":"a","function":{"name":"f2","arguments":""}`), fragmentOf(`"index":0,"function":{"arguments":"{\"x\":2}"}`), toolStop},
		partsOf(useOf("a", "f", "{}"), useOf("a_2", "f2", `{"x":2}`))},
	{"same id, interleaved", []string{
		fragmentOf(`"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":"}`), fragmentOf(`"index":1,"id":"a","function":{"name":"f","arguments":"{\"x\":"}`),
		fragmentOf(`"index":1,"function":{"arguments":"2}"}`), fragmentOf(`"index":0,"function":{"arguments":"1}"}`), toolStop},
		partsOf(useOf("a", "f", `{"x":1}`), useOf("a_2", "f", `{"x":2}`))},
	{"interleaved before the id is known", []string{
		fragmentOf(`"index":0,"function":{"name":"f","arguments":"{\"x\":"}`), fragmentOf(`"index":1,"id":"b","function":{"name":"g","arguments":"{\"x\":"}`),
		fragmentOf(`"index":0,"function":{"arguments":"1}"}`), fragmentOf(`"index":1,"function":{"arguments":"2}"}`), fragmentOf(`"index":0,"id":"a","function":{}`), toolStop},
		partsOf(useOf("b", "g", `{"x":2}`), useOf("a", "f", `{"x":1}`))},
	{"repeated name", []string{fragmentOf(`"index":0,"id":"a","function":{"name":"f","arguments":"{}"}`), fragmentOf(`"index":0,"id":"a","function":{"name":"f","arguments":""}`), fragmentOf(`"index":0,"id":"a","function":{"name":"f","arguments":" "}`), toolStop},
		partsOf(useOf("a", "f", "{} "))},
	{"repeated name before another call", []string{fragmentOf(`"index":0,"id":"a","function":{"name":"f","arguments":"{}"}`), fragmentOf(`"index":0,"id":"a","function":{"name":"f","arguments":""}`), fragmentOf(`"index":0,"id":"b","function":{"arguments":"{\"x\":2}"}`), fragmentOf(`"index":0,"function":{"name":"g"}`), toolStop},
		partsOf(useOf("a", "f", "{}"), useOf("b", "g", `{"x":2}`))},
	{"no ids, no arguments", []string{fragmentOf(`"function":{"name":"f","arguments":""}`), fragmentOf(`"function":{"name":"g","arguments":""}`), toolStop},
		partsOf(useOf("made", "f", ""), useOf("made_2", "g", ""))},
	{"fragments, then complete", []string{chunkOf(`{"reasoning_content":"hm"}`), hi, fragmentOf(`"index":0,"id":"a","function":{"name":"f","arguments":"{}"}`),
		`{"choices":[{"index":0,"message":{"role":"assistant","content":"hi","reasoning_content":"hm","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`, done},
		partsOf(thinkingPart("hm", "reasoning_content"), textOf("hi"), useOf("a", "f", "{}"))},
	{"role, then complete", []string{chunkOf(`{"role":"assistant","content":""}`), completeCalls(`{"id":"a","function":{"name":"f","arguments":"{}"}}`)}, partsOf(useOf("a", "f", "{}"))},
	{"complete, same id", []string{completeCalls(`{"id":"a","type":"function","function":{"name":"f","arguments":"{\"x\":1}"}},{"id":"a","type":"function","function":{"name":"f","arguments":"{\"x\":1}"}},{"id":"a","type":"function","function":{"name":"g","arguments":"{}"}}`)},
		partsOf(useOf("a", "f", `{"x":1}`), useOf("a_2", "f", `{"x":1}`), useOf("a_3", "g", "{}"))},
	{"complete, same id, no arguments", []string{completeCalls(`{"index":0,"id":"a","function":{"name":"f","arguments":""}},{"index":0,"id":"a","function":{"name":"f"}},{"index":1,"id":"a","function":{"name":"f","arguments":"{}"}}`)},
		partsOf(useOf("a", "f", ""), useOf("a_2", "f", ""), useOf("a_3", "f", "{}"))},
	{"complete, empty ids", []string{completeCalls(`{"id":"","function":{"name":"f","arguments":""}},{"id":"","function":{"name":"f","arguments":{"x":2}}},{"function":{"name":"f","arguments":null}},{}`)},
		partsOf(useOf("made", "f", ""), useOf("made_2", "f", `{"x":2}`), useOf("made_3", "f", ""))},
	{"complete, unordered indexes", []string{completeCalls(`{"index":1,"id":"b","function":{"name":"f","arguments":""}},{"index":0,"id":"a","function":{"name":"g","arguments":"{}"}}`)},
		partsOf(useOf("b", "f", ""), useOf("a", "g", "{}"))},
}

// completeCalls returns a complete response with tool calls.
func completeCalls(list string) string {
	return `{"id":"x1","model":"m1","choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[` + list + `]},"finish_reason":"tool_calls"}]}`
}

// TestCallQuirks checks that each tool call has its own arguments and id.
func TestCallQuirks(t *testing.T) {
	for _, test := range callQuirks {
		t.Run(test.name, func(t *testing.T) {
			got, err := collectChat(t, strings.NewReader(events(test.chunks...)), ThinkTagsOff)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.parts, got.Parts); diff != "" || got.Stop.Reason != content.StopToolUse {
				t.Errorf("stop %s; parts (-want +got):\n%s", got.Stop.Reason, diff)
			}
		})
	}
}
