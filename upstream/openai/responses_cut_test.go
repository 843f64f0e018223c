package openai

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// stopCases are texts in pieces, and what is left of them.
var stopCases = []struct {
	name   string
	pieces []string
	stops  []string
	parts  []content.Part
	stop   string
}{
	{"in one piece", []string{"a STOP b"}, []string{"STOP"}, partsOf(sayText("a ")), "STOP"},
	{"in two", []string{"a ST", "OP b"}, []string{"STOP"}, partsOf(sayText("a ")), "STOP"},
	{"in many", []string{"a ", "S", "T", "O", "P", " b"}, []string{"STOP"}, partsOf(sayText("a ")), "STOP"},
	{"a beginning that is none", []string{"a ST", "ART"}, []string{"STOP"}, partsOf(sayText("a START")), ""},
	{"a beginning at the end", []string{"a STO"}, []string{"STOP"}, partsOf(sayText("a STO")), ""},
	{"a beginning twice", []string{"aab", "aabaac"}, []string{"aabaac"}, partsOf(sayText("aab")), "aabaac"},
	{"the first of two", []string{"one two"}, []string{"two", "one"}, nil, "one"},
	{"none", []string{"a"}, []string{""}, partsOf(sayText("a")), ""},
	{"not in a part behind", []string{"a", "STOP", "b"}, []string{"STOP"}, partsOf(sayText("a")), "STOP"},
}

// TestResponsesStops cuts answers at stop sequences, wherever these are split.
func TestResponsesStops(t *testing.T) {
	for _, tt := range stopCases {
		t.Run(tt.name, func(t *testing.T) {
			want := content.StopEnd
			if tt.stop != "" {
				want = content.StopSequence
			}
			check := func(form string, r *upstream.Response, err error) {
				if err != nil {
					t.Fatalf("%s: %v", form, err)
				}
				got := slices.DeleteFunc(r.Parts, func(p content.Part) bool { x, ok := p.(*content.Text); return ok && x.Text == "" })
				if diff := cmp.Diff(tt.parts, append([]content.Part(nil), got...)); diff != "" || r.Stop.Reason != want || r.Stop.Sequence != tt.stop {
					t.Errorf("%s: %s %q (-want +got):\n%s", form, r.Stop.Reason, r.Stop.Sequence, diff)
				}
			}
			list := []string{resCreated, resAddMsg}
			for _, s := range tt.pieces {
				list = append(list, strings.Replace(resHi, `"hi"`, `"`+s+`"`, 1))
			}
			r, err := readResponses(t, strings.NewReader(events(append(list, resEnd)...)), tt.stops...)
			check("stream", r, err)

			const call = `{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}`
			r, err = wholeResponses(t, `{"status":"completed","usage":{"input_tokens":3,"output_tokens":4},"output":[{"type":"message","content":[{"type":"output_text","text":"`+
				strings.Join(tt.pieces, "")+`"}]},`+call+`]}`, tt.stops...)
			if err == nil && r.Usage.Output != 4 {
				t.Errorf("usage %+v", r.Usage)
			}
			if err == nil && tt.stop == "" { // the call behind the text is told, too
				if n := len(r.Parts) - 1; r.Stop.Reason != content.StopToolUse || n < 0 || !cmp.Equal(r.Parts[n], content.Part(useOf("c", "f", "{}"))) {
					t.Errorf("%s with %v", r.Stop.Reason, r.Parts)
				} else {
					r.Parts, r.Stop.Reason = r.Parts[:n], content.StopEnd
				}
			}
			check("whole", r, err)
		})
	}
}

// TestResponsesQuick checks that the quick way reads what the other does.
func TestResponsesQuick(t *testing.T) {
	for _, s := range []string{example(t, "E24.sse"), example(t, "E25.sse"), resStream(3, resAddMsg, resTextDelta), resStream(3, resAddCall, resInputDelta), resStream(3, resCreated, resSlowDelta)} {
		want, err := readResponses(t, strings.NewReader(strings.ReplaceAll(s, `{"type":"response.`, `{ "type":"response.`)))
		if err != nil {
			t.Fatal(err)
		}
		got, err := readResponses(t, strings.NewReader(s))
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	}
	for data, want := range map[string]bool{
		resTextDelta: true,
		strings.Replace(resTextDelta, `\n`, `\"\\\\`, 1):                           true,
		strings.Replace(resTextDelta, `"logprobs":[]`, `"logprobs":[1]`, 1):        false,
		strings.Replace(resTextDelta, `"logprobs":[]`, `"delta":"x"`, 1):           false,
		strings.Replace(resTextDelta, `"logprobs":[]`, `"x":1`, 1):                 false,
		strings.Replace(resTextDelta, `\n`, `\x`, 1):                               false,
		strings.Replace(resTextDelta, `"output_index":0`, `"output_index":1`, 1):   false,
		strings.Replace(resTextDelta, `"output_index":0`, `"output_index":01`, 1):  false,
		strings.Replace(resTextDelta, `"content_index":0`, `"content_index":1`, 1): false,
		strings.Replace(resTextDelta, `"xY2k"`, `"x\u0000"`, 1):                    false,
		strings.TrimSuffix(resTextDelta, "}"):                                      false,
		resTextDelta + " ":                                                         false,
		strings.Replace(resTextDelta, `,"delta":" word and\n more"`, ``, 1):        false,
		strings.Replace(resTextDelta, `" word and\n more"`, `" word`, 1):           false,
	} {
		var d resDecoder
		d.init(content.Limits{})
		d.items = []resItem{{kind: resMessage, output: 0, part: 0, block: 0, size: 1, sum: resNoDigest}}
		if got := d.quick(data); got != want {
			t.Errorf("quick(%s) = %v", data, got)
		}
	}
}
