package openai

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
)

// callQuirks are calls of servers that give several of them the same id, or the
// same index, or neither.
var callQuirks = []struct {
	name   string
	chunks []string
	parts  []content.Part
}{
	{"one id and index", []string{frag(`"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":1}"}`), frag(`"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":2}"}`), toolStop},
		partsOf(useOf("a", "f", `{"x":1}`), useOf("a_2", "f", `{"x":2}`))},
	{"one id and index, in pieces", []string{
		frag(`"index":0,"id":"a","function":{"name":"f","arguments":""}`), frag(`"index":0,"function":{"arguments":"{\"x\":"}`), frag(`"index":0,"function":{"arguments":"1"}`), frag(`"index":0,"function":{"arguments":"}"}`),
		frag(`"index":0,"id":"a","function":{"name":"f","arguments":""}`), frag(`"index":0,"function":{"arguments":"{\"x\":"}`), frag(`"index":0,"function":{"arguments":"2"}`), frag(`"index":0,"function":{"arguments":"}"}`), toolStop},
		partsOf(useOf("a", "f", `{"x":1}`), useOf("a_2", "f", `{"x":2}`))},
	{"one id and index, in pieces that all say it", []string{
		frag(`"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":"}`), frag(`"index":0,"id":"a","function":{"name":"f","arguments":"1}"}`),
		frag(`"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":"}`), frag(`"index":0,"id":"a","function":{"name":"f","arguments":"2}"}`), toolStop},
		partsOf(useOf("a", "f", `{"x":1}`), useOf("a_2", "f", `{"x":2}`))},
	{"one id and index, another name", []string{frag(`"index":0,"id":"a","function":{"name":"f","arguments":""}`), frag(`"index":0,"id":"a","function":{"name":"g","arguments":""}`), frag(`"index":0,"function":{"arguments":"{}"}`), toolStop},
		partsOf(useOf("a", "f", ""), useOf("a_2", "g", "{}"))},
	{"one id and index, a longer name", []string{frag(`"index":0,"id":"a","function":{"name":"f","arguments":"{}"}`), frag(`"index":0,"id":"a","function":{"name":"f2","arguments":""}`), frag(`"index":0,"function":{"arguments":"{\"x\":2}"}`), toolStop},
		partsOf(useOf("a", "f", "{}"), useOf("a_2", "f2", `{"x":2}`))},
	{"one id, in turns", []string{
		frag(`"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":"}`), frag(`"index":1,"id":"a","function":{"name":"f","arguments":"{\"x\":"}`),
		frag(`"index":1,"function":{"arguments":"2}"}`), frag(`"index":0,"function":{"arguments":"1}"}`), toolStop},
		partsOf(useOf("a", "f", `{"x":1}`), useOf("a_2", "f", `{"x":2}`))},
	{"said once more", []string{frag(`"index":0,"id":"a","function":{"name":"f","arguments":"{}"}`), frag(`"index":0,"id":"a","function":{"name":"f","arguments":""}`), frag(`"index":0,"id":"a","function":{"name":"f","arguments":" "}`), toolStop},
		partsOf(useOf("a", "f", "{} "))},
	{"said once more before another", []string{frag(`"index":0,"id":"a","function":{"name":"f","arguments":"{}"}`), frag(`"index":0,"id":"a","function":{"name":"f","arguments":""}`), frag(`"index":0,"id":"b","function":{"arguments":"{\"x\":2}"}`), frag(`"index":0,"function":{"name":"g"}`), toolStop},
		partsOf(useOf("a", "f", "{}"), useOf("b", "g", `{"x":2}`))},
	{"neither ids nor arguments", []string{frag(`"function":{"name":"f","arguments":""}`), frag(`"function":{"name":"g","arguments":""}`), toolStop},
		partsOf(useOf("made", "f", ""), useOf("made_2", "g", ""))},
	{"in pieces, then whole", []string{chunkOf(`{"reasoning_content":"hm"}`), hi, frag(`"index":0,"id":"a","function":{"name":"f","arguments":"{}"}`),
		`{"choices":[{"index":0,"message":{"role":"assistant","content":"hi","reasoning_content":"hm","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`, done},
		partsOf(thoughtOf("hm", "reasoning_content"), sayText("hi"), useOf("a", "f", "{}"))},
	{"a role, then whole", []string{chunkOf(`{"role":"assistant","content":""}`), wholeCalls(`{"id":"a","function":{"name":"f","arguments":"{}"}}`)}, partsOf(useOf("a", "f", "{}"))},
	{"whole, one id", []string{wholeCalls(`{"id":"a","type":"function","function":{"name":"f","arguments":"{\"x\":1}"}},{"id":"a","type":"function","function":{"name":"f","arguments":"{\"x\":1}"}},{"id":"a","type":"function","function":{"name":"g","arguments":"{}"}}`)},
		partsOf(useOf("a", "f", `{"x":1}`), useOf("a_2", "f", `{"x":1}`), useOf("a_3", "g", "{}"))},
	{"whole, one id, no arguments", []string{wholeCalls(`{"index":0,"id":"a","function":{"name":"f","arguments":""}},{"index":0,"id":"a","function":{"name":"f"}},{"index":1,"id":"a","function":{"name":"f","arguments":"{}"}}`)},
		partsOf(useOf("a", "f", ""), useOf("a_2", "f", ""), useOf("a_3", "f", "{}"))},
	{"whole, empty ids", []string{wholeCalls(`{"id":"","function":{"name":"f","arguments":""}},{"id":"","function":{"name":"f","arguments":{"x":2}}},{"function":{"name":"f","arguments":null}},{}`)},
		partsOf(useOf("made", "f", ""), useOf("made_2", "f", `{"x":2}`), useOf("made_3", "f", ""))},
	{"whole, indices without order", []string{wholeCalls(`{"index":1,"id":"b","function":{"name":"f","arguments":""}},{"index":0,"id":"a","function":{"name":"g","arguments":"{}"}}`)},
		partsOf(useOf("b", "f", ""), useOf("a", "g", "{}"))},
}

// wholeCalls is an answer that is no stream.
func wholeCalls(list string) string {
	return `{"id":"x1","model":"m1","choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[` + list + `]},"finish_reason":"tool_calls"}]}`
}

// TestCallQuirks checks that each call has arguments and an id of its own.
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
