package generatecontent

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// A streamOutcome summarizes a decoded stream.
type streamOutcome struct {
	Text, Input string
	Stop        content.StopReason
	Losses      int
	Odd         bool // a frame deviates from the format
}

// decodeOutcome reads a stream to its end.
func decodeOutcome(stream string) (o streamOutcome, err error) {
	r := NewStreamReader(strings.NewReader(stream), nil)
	for {
		f, err := r.Next()
		if err != nil {
			return o, err
		}
		o.Odd = o.Odd || f.Format != Format
		for _, e := range f.Events {
			o.add(e)
		}
	}
}

func (o *streamOutcome) add(e upstream.Event) {
	switch e.Kind {
	case upstream.EventText:
		o.Text += e.Text
	case upstream.EventInput:
		o.Input += e.Text
	case upstream.EventStop:
		o.Stop = e.Stop.Reason
	case upstream.EventLoss:
		o.Losses++
	case upstream.EventOpen:
		switch p := e.Part.(type) {
		case *content.Text:
			o.Text += p.Text
		case *content.ToolUse:
			o.Input += p.Input
		}
	}
}

// TestStreamFramings checks the framings that servers send.
func TestStreamFramings(t *testing.T) {
	one, two := `{"candidates":[{"content":{"parts":[{"text":"a"}]}}]}`, `{"candidates":[{"content":{"parts":[{"text":"b"}]},"finishReason":"STOP"}]}`
	ok := streamOutcome{Text: "ab", Stop: content.StopEnd}
	tests := []struct {
		name, stream string
		whole        bool
	}{
		{"LF", "data: " + one + "\n\ndata: " + two + "\n\n", true},
		{"CRLF", "data: " + one + "\r\n\r\ndata: " + two + "\r\n\r\n", true},
		{"CR", "data: " + one + "\r\rdata: " + two + "\r\r", true},
		{"mixed", "data: " + one + "\n\ndata: " + two + "\r\n\r\n", true},
		{"no space", "data:" + one + "\n\ndata:" + two + "\n\n", true},
		{"white space before the JSON", "data:   \t" + one + "\r\n\r\ndata:  " + two + "\r\n\r\n", true},
		{"missing blank line at the end", "data: " + one + "\n\ndata: " + two, false},
		{"missing second line end", "data: " + one + "\n\ndata: " + two + "\n", false},
		{"stray line ends", "\n\r\ndata: " + one + "\n\n\n\n\r\ndata: " + two + "\n\n\n", true},
		{"line breaks in the JSON", "data: " + strings.Replace(one, ":[", ":[\n", 1) + "\n\ndata: " + two + "\n\n", false},
		{"several data lines", "data: " + strings.Replace(one, ":[", ":[\ndata: ", 1) + "\n\ndata: " + two + "\n\n", true},
		{"comments", ": hello\n\ndata: " + one + "\n: ping\n\n:\n\ndata: " + two + "\n\n", true},
		{"event and id", "event: x\nid: 1\nretry: 5\ndata: " + one + "\n\nid: 2\ndata: " + two + "\n\n", true},
		{"DONE", "data: " + one + "\n\ndata: " + two + "\n\ndata: [DONE]\n\n", true},
		{"DONE too early", "data: " + one + "\n\ndata: [DONE]\n\n", false},
		{"byte order mark", "\uFEFFdata: " + one + "\n\ndata: " + two + "\n\n", true},
		{"an empty object", "data: {}\n\ndata: " + one + "\n\ndata: {}\n\ndata: " + two + "\n\n", true},
		{"array", "[" + one + "," + two + "]", true},
		{"array with line ends", "[" + one + "\r\n,\r\n" + two + "\r\n]\r\n", true},
		{"array without commas", "[" + one + "\n" + two + "]", true},
		{"array after byte order mark and spaces", "\uFEFF \r\n\t[ " + one + " , " + two + " ]", true},
		{"text after array", "[" + one + "," + two + "] x", true},
		{"array of arrays", "[[" + one + "," + two + "]]", false},
		{"array of a string", `["a",` + one + "," + two + "]", false},
		{"empty array", "[]", false},
		{"empty", "", false},
		{"HTML", "<html>\n<body>data: x</body></html>\n\n", false},
		{"invalid JSON", "data: hello\n\n", false},
		{"array as data", "data: [" + two + "]\n\n", false},
		{"a number as data", "data: 5\n\n", false},
		{"no candidate", "data: {\"usageMetadata\":{\"promptTokenCount\":3}}\n\n", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := decodeOutcome(tt.stream)
			var failed *upstream.Error
			switch {
			case tt.whole && (err != io.EOF || got != ok):
				t.Errorf("got %+v, %v", got, err)
			case !tt.whole && (!errors.As(err, &failed) || failed.Code != upstream.CodeBadGateway):
				t.Errorf("got the error %v", err)
			}
		})
	}
}

// TestDeviations checks members that deviate from the format.
func TestDeviations(t *testing.T) {
	wrong := func(losses int, text, input string) streamOutcome {
		o := streamOutcome{Text: text, Input: input, Stop: content.StopEnd, Losses: losses, Odd: true}
		if input != "" {
			o.Stop = content.StopToolUse
		}
		return o
	}
	call := func(s string) string {
		return `{"content":{"parts":[{"functionCall":` + s + `}]},"finishReason":"STOP"}`
	}
	parts := func(s string) string { return `{"content":{"parts":` + s + `},"finishReason":"STOP"}` }
	tests := []struct {
		name, candidate string
		want            streamOutcome
	}{
		{"none", parts(`[{"text":"a"}]`), streamOutcome{Text: "a", Stop: content.StopEnd}},
		{"null members", `{"content":{"parts":[{"text":"a","thought":null,"thoughtSignature":null}],"role":null},"finishReason":"STOP","index":null,"safetyRatings":null}`, streamOutcome{Text: "a", Stop: content.StopEnd}},
		{"no role", parts(`[{"text":"a"}]`), streamOutcome{Text: "a", Stop: content.StopEnd}},
		{"snake_case", `{"content":{"parts":[{"text":"a"}]},"finish_reason":"STOP"}`, wrong(0, "a", "")},
		{"snake_case in a part", parts(`[{"text":"a","thought_signature":"czE="}]`), wrong(0, "a", "")},
		{"snake_case call", parts(`[{"function_call":{"name":"f","args":{"a":1}}}]`), wrong(0, "", `{"a":1}`)},
		{"part in place of an array", parts(`{"text":"a"}`), wrong(0, "a", "")},
		{"a string index", `{"index":"0","content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}`, wrong(0, "a", "")},
		{"reason in lower case", `{"content":{"parts":[{"text":"a"}]},"finishReason":"stop"}`, wrong(0, "a", "")},
		{"numeric reason", `{"content":{"parts":[{"text":"a"}]},"finishReason":1}`, streamOutcome{Text: "a", Stop: content.StopEnd}},
		{"numeric reason of a limit", `{"content":{"parts":[{"text":"a"}]},"finishReason":2}`, streamOutcome{Text: "a", Stop: content.StopMaxTokens}},
		{"unknown numeric reason", `{"content":{"parts":[{"text":"a"}]},"finishReason":77}`, streamOutcome{Text: "a", Stop: content.StopOther, Odd: true}},
		{"numeric enum in a part", parts(`[{"text":"a"},{"codeExecutionResult":{"outcome":1}}]`), wrong(0, "a", "")},
		{"a new enum in a part", parts(`[{"text":"a"},{"codeExecutionResult":{"outcome":"OUTCOME_NEW"}}]`), streamOutcome{Text: "a", Stop: content.StopEnd}},
		{"arguments as a string", call(`{"name":"f","args":"{\"a\":1}"}`), wrong(1, "", `{"a":1}`)},
		{"arguments as an empty string", call(`{"name":"f","args":""}`), streamOutcome{Input: "{}", Stop: content.StopToolUse, Odd: true}},
		{"arguments as another string", call(`{"name":"f","args":"[1]"}`), streamOutcome{Input: `"[1]"`, Stop: content.StopToolUse, Odd: true}}, // the client's encoder drops it
		{"arguments as a list", call(`{"name":"f","args":[1]}`), streamOutcome{Input: "[1]", Stop: content.StopToolUse, Odd: true}},
		{"null arguments", call(`{"name":"f","args":null}`), streamOutcome{Input: "{}", Stop: content.StopToolUse, Odd: true}},
		{"no arguments", call(`{"name":"f"}`), streamOutcome{Input: "{}", Stop: content.StopToolUse}},
		{"URL-safe signature", parts(`[{"text":"a","thoughtSignature":"_-8"}]`), wrong(0, "a", "")},
		{"broken signature", parts(`[{"text":"a","thoughtSignature":"?"}]`), wrong(1, "a", "")},
		{"unpadded signature of a call", parts(`[{"functionCall":{"name":"f","args":{"a":1}},"thoughtSignature":"czE"}]`), wrong(0, "", `{"a":1}`)},
		{"unpadded file", parts(`[{"text":"a"},{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgo"}}]`), wrong(0, "a", "")},
		{"broken file", parts(`[{"text":"a"},{"inlineData":{"mimeType":"image/png","data":"?"}}]`), wrong(1, "a", "")},
		{"thought as a string", parts(`[{"text":"a","thought":"true"}]`), wrong(1, "a", "")},
		{"a part of two kinds", parts(`[{"text":"a","functionCall":{"name":"f"}}]`), wrong(1, "a", "")},
		{"unpaired surrogate", parts(`[{"text":"a\ud800"}]`), streamOutcome{Text: "a\uFFFD", Stop: content.StopEnd, Losses: 1}},
		{"invalid UTF-8", parts("[{\"text\":\"a\xff\"}]"), streamOutcome{Text: "a\uFFFD", Stop: content.StopEnd, Losses: 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			body := `{"candidates":[` + tt.candidate + `]}`
			for form, stream := range map[string]string{"events": "data: " + body + "\n\n", "array": "[" + body + "]"} {
				got, err := decodeOutcome(stream)
				if diff := cmp.Diff(tt.want, got); diff != "" || err != io.EOF {
					t.Errorf("%s: %v (-want +got):\n%s", form, err, diff)
				}
			}
			f, err := DecodeFrame(body, content.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			got := streamOutcome{Odd: f.Format != Format}
			for _, e := range f.Events {
				got.add(e)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("reply (-want +got):\n%s", diff)
			}
		})
	}
	for _, candidates := range []string{"5", `"x"`, `[5]`, `[{"content":"a"}]`, `[{"content":[1]}]`} {
		_, err := decodeOutcome(`data: {"candidates":` + candidates + "}\n\n")
		var failed *upstream.Error
		if !errors.As(err, &failed) || failed.Code != upstream.CodeBadGateway {
			t.Errorf("candidates %s: %v", candidates, err)
		}
	}
	if got, err := decodeOutcome(`data: {"candidates":{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}}` + "\n\n"); err != io.EOF || got != wrong(0, "a", "") {
		t.Errorf("one candidate for a list: %+v, %v", got, err)
	}
}

// TestArgumentsInPieces checks that pieces of arguments are joined, and that incomplete
// arguments are not an object.
func TestArgumentsInPieces(t *testing.T) {
	part := func(more, pieces string) string {
		return `{"functionCall":{` + more + `"partialArgs":[` + pieces + `],"willContinue":true}}`
	}
	piece := func(path, value string) string { return fmt.Sprintf(`{"jsonPath":%q,%s}`, path, value) }
	const begin, end = `{"functionCall":{"name":"f","id":"c","willContinue":true}}`, `{"functionCall":{}}`
	tests := []struct {
		name   string
		pieces []string
		want   streamOutcome
	}{
		{"none", []string{begin, end}, streamOutcome{Input: "{}"}},
		{"all kinds", []string{begin, part("", piece("$.s", `"stringValue":"é\"","willContinue":true`)+","+piece("$.s", `"stringValue":""`)), part("", piece("$.n", `"numberValue":1.50`)+","+piece("$.b", `"boolValue":false`)+","+piece("$.z", `"nullValue":null`)), end},
			streamOutcome{Input: `{"s":"é\"","n":1.50,"b":false,"z":null}`}},
		{"deep", []string{begin, part("", piece("$.a.b[0].c", `"numberValue":1`)+","+piece("$.a.b[1]['d e']", `"stringValue":"x"`)+","+piece(`$["a"].f`, `"boolValue":true`)), end},
			streamOutcome{Input: `{"a":{"b":[{"c":1},{"d e":"x"}],"f":true}}`}},
		{"all at once", []string{`{"functionCall":{"name":"f","partialArgs":[` + piece("$.a", `"numberValue":1`) + `]}}`}, streamOutcome{Input: `{"a":1}`}},
		{"second call within the first", []string{begin, part("", piece("$.a", `"numberValue":1`)), `{"functionCall":{"name":"g","args":{"b":2}}}`}, streamOutcome{Input: `{"a":1}{"b":2}`}},
		{"text within the call", []string{begin, part("", piece("$.a", `"numberValue":1`)), `{"text":"x"}`}, streamOutcome{Input: `{"a":1}`, Text: "x"}},
		{"response ends within the call", []string{begin, part("", piece("$.a", `"numberValue":1`))}, streamOutcome{Input: `{"a":1}`}},
		{"bad paths", []string{begin, part("", piece("a", `"numberValue":1`)+","+piece("$", `"numberValue":1`)+","+piece("$.", `"numberValue":1`)+","+piece("$[5]", `"numberValue":1`)+","+piece("$['x", `"numberValue":1`)+
			","+piece("$.a", `"numberValue":1`)+","+piece("$.a.b", `"numberValue":1`)+","+piece("$["+strings.Repeat("0][", 200)+"0]", `"numberValue":1`)), end}, streamOutcome{Input: `{"a":1`, Losses: 1, Odd: true}},
		{"an unknown value", []string{begin, part("", piece("$.a", `"dateValue":1`)), end}, streamOutcome{Input: `{"a":null`, Losses: 1, Odd: true}},
		{"only values with invalid paths", []string{begin, part("", piece("a", `"numberValue":1`)), end}, streamOutcome{Input: `{`, Losses: 1, Odd: true}},
		{"unfinished string", []string{begin, part("", piece("$.a", `"stringValue":"x","willContinue":true`)), end}, streamOutcome{Input: `{"a":"x"`, Losses: 1, Odd: true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.want.Stop = content.StopToolUse
			got, err := decodeOutcome(streamOf(tt.pieces...))
			if diff := cmp.Diff(tt.want, got); diff != "" || err != io.EOF {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
	for pieces, want := range map[string]string{
		"":                               `{`,
		piece("$.a", `"numberValue":1`):  `{"a":1`,
		piece("$.a", `"stringValue":""`): `{"a":""`,
		piece("$.a", `"stringValue":"x","willContinue":true`): `{"a":"x"`,
	} {
		cut := strings.Replace(streamOf(begin, part("", pieces)), "STOP", "MAX_TOKENS", 1)
		if got, err := decodeOutcome(cut); err != io.EOF || got != (streamOutcome{Input: want, Stop: content.StopMaxTokens, Losses: 1, Odd: true}) {
			t.Errorf("cut arguments %s: %+v, %v", pieces, got, err)
		}
	}
	var many strings.Builder
	for i := range 100 {
		many.WriteString(piece(fmt.Sprintf("$.m%d", i), `"stringValue":"a"`) + "," + piece(fmt.Sprintf("$.m%d", i/2), `"stringValue":"b"`) + ",")
	}
	got, err := decodeOutcome(streamOf(begin, part("", many.String()+piece("$.m0", `"stringValue":"c"`)), end))
	if err != io.EOF || !strings.HasPrefix(got.Input, `{"m0":"abbc","m1":"abb","m2":"abb"`) || strings.Count(got.Input, ":") != 100 {
		t.Errorf("many arguments: %+v, %v", got, err)
	}
}
