package e2e

import (
	"encoding/base64"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/test/race"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
)

// hostileShapes are requests that repeat an element n times. Each aims at code
// that looks back, or at all elements of a kind.
var hostileShapes = []struct {
	name  string
	front content.Format
	body  func(n int) string
}{
	{"results in separate turns", messages.Format, func(n int) string {
		return messagesOf(callsOf(n) + `]},` + times(n, `{"role":"user","content":[`+aResult+`]}`))
	}},
	{"results in reverse order", messages.Format, func(n int) string {
		results := strings.Split(times(n, aResult), ",\n")
		slices.Reverse(results)
		return messagesOf(callsOf(n) + `]},{"role":"user","content":[` + strings.Join(results, ",") + `]}`)
	}},
	{"assistant turns in pieces", messages.Format, func(n int) string {
		return messagesOf(times(n, `{"role":"assistant","content":"a"}`) + `,` + callsOf(1) + `]},{"role":"user","content":[` + times(1, aResult) + `]}`)
	}},
	{"system turns", messages.Format, func(n int) string {
		return messagesOf(times(n, `{"role":"system","content":"s"}`))
	}},
	{"tool names", messages.Format, func(n int) string {
		return `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"}],"tools":[` +
			times(n, `{"name":"a#`+strings.Repeat("x", 100)+`","input_schema":{"type":"object"}}`) + `]}`
	}},
	{"tool calls with one id", generatecontent.Format, func(n int) string {
		return contentsOf(times(n, `{"functionCall":{"id":"x","name":"f","args":{}}}`), times(n, `{"functionResponse":{"id":"x","name":"f","response":{}}}`))
	}},
	{"tool calls without ids", generatecontent.Format, func(n int) string {
		return contentsOf(times(n, `{"functionCall":{"name":"f","args":{}}}`), times(n, `{"functionResponse":{"name":"f","response":{}}}`))
	}},
	{"tool calls without ids, results in reverse order", generatecontent.Format, func(n int) string {
		results := strings.Split(times(n, `{"functionResponse":{"name":"f#","response":{}}}`), ",\n")
		slices.Reverse(results)
		return contentsOf(times(n, `{"functionCall":{"name":"f#","args":{}}}`), strings.Join(results, ","))
	}},
	{"one wide step and many narrow steps", messages.Format, func(n int) string {
		return messagesOf(callsOf(n) + `]},{"role":"user","content":[` + times(n, aResult) + `]},` + times(n,
			`{"role":"assistant","content":[{"type":"tool_use","id":"u#","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"u#"}]}`))
	}},
	{"vendor's items", messages.Format, func(n int) string {
		data, _ := envelope.Encode("openai-responses", envelope.KindPart, `{"type":"reasoning","id":"r","summary":[],"encrypted_content":"e"}`)
		return messagesOf(`{"role":"assistant","content":[` + times(n, `{"type":"redacted_thinking","data":"`+strings.ReplaceAll(data, `"`, `\"`)+`"}`) + `,` + strings.TrimPrefix(callsOf(1), `{"role":"assistant","content":[`) + `]},{"role":"user","content":[` + times(1, aResult) + `]}`)
	}},
	{"vendor's items in tool calls", generatecontent.Format, func(n int) string {
		var modelParts []string
		for i := range n {
			data, _ := envelope.EncodeBase64("openai-responses", envelope.KindThinking, fmt.Sprintf(`[{"redacted":"{\"type\":\"web_search_call\",\"id\":\"w%07d\"}"}]`, i))
			modelParts = append(modelParts, fmt.Sprintf(`{"functionCall":{"id":"x%d","name":"f","args":{}},"thoughtSignature":"%s"}`, i, data))
		}
		return contentsOf(strings.Join(modelParts, ","), times(n, `{"functionResponse":{"id":"x#","name":"f","response":{}}}`))
	}},
	{"repeated echoes", messages.Format, func(n int) string {
		data, _ := envelope.Encode("openai-chat", envelope.KindPart, `{"reasoning_details":[`+strings.ReplaceAll(times(n, "#"), "\n", "")+`]}`)
		return messagesOf(`{"role":"assistant","content":[{"type":"thinking","thinking":"a","signature":"` + strings.ReplaceAll(data, `"`, `\"`) + `"},` +
			strings.TrimPrefix(callsOf(1), `{"role":"assistant","content":[`) + `]},{"role":"user","content":[` + times(1, aResult) + `]}`)
	}},
	{"allowed tool names", generatecontent.Format, func(n int) string {
		return `{"contents":[{"role":"user","parts":[{"text":"a"}]}],"tools":[{"functionDeclarations":[` + times(n, `{"name":"f é#"}`) +
			`]}],"toolConfig":{"functionCallingConfig":{"mode":"VALIDATED","allowedFunctionNames":[` + times(n, `"f é#"`) + `]}}}`
	}},
	{"vendors' tools", messages.Format, func(n int) string {
		return `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"}],"tools":[` +
			times(n, `{"type":"web_search_20990101","name":"w#"},{"type":"bash_20990101","name":"b#"}`) + `]}`
	}},
	{"white space", generatecontent.Format, func(n int) string {
		return contentsOf(`{"text":"a"},`+times(n, `{"text":"`+strings.Repeat(" ", 50)+`"}`), `{"text":"b"}`)
	}},
	{"carried thinking", generatecontent.Format, func(n int) string {
		data, _ := envelope.EncodeBase64(messages.Format, envelope.KindThinking, `[{"text":"t","signature":"s"}]`)
		return contentsOf(times(n, `{"text":"abc","thoughtSignature":"`+data+`"}`), `{"text":"b"}`)
	}},
	{"thinking carried by one tool call", generatecontent.Format, func(n int) string {
		list := strings.ReplaceAll(times(n, `{"text":"t","signature":"s#"}`), "\n", "")
		data, _ := envelope.Encode(messages.Format, envelope.KindThinking, "["+list+"]")
		return contentsOf(times(n, `{"text":"abc"}`)+`,{"functionCall":{"id":"x","name":"f","args":{}},"thoughtSignature":"`+
			base64.StdEncoding.EncodeToString([]byte(data))+`"}`, `{"functionResponse":{"id":"x","name":"f","response":{}}}`)
	}},
}

const aResult = `{"type":"tool_result","tool_use_id":"t#","content":"r"}`

// times repeats a list element and replaces each # by its index.
func times(n int, s string) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteString(",\n")
		}
		b.WriteString(strings.ReplaceAll(s, "#", fmt.Sprint(i)))
	}
	return b.String()
}

func callsOf(n int) string {
	return `{"role":"assistant","content":[` + times(n, `{"type":"tool_use","id":"t#","name":"f","input":{}}`)
}

func messagesOf(turns string) string {
	return `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"},` + turns + `],"tools":[{"name":"f","input_schema":{"type":"object"}}]}`
}

func contentsOf(modelParts, answer string) string {
	return `{"contents":[{"role":"user","parts":[{"text":"a"}]},{"role":"model","parts":[` + modelParts + `]},{"role":"user","parts":[` + answer + `]}]}`
}

// TestHostileIsLinear checks that the cost of a request grows linearly with its
// size, for each vendor. Quadratic code that does not allocate shows as a test
// that takes minutes.
func TestHostileIsLinear(t *testing.T) {
	if race.Enabled {
		t.Skip("slow test of memory use")
	}
	for _, h := range hostileShapes {
		for name, up := range map[string]upstream.Upstream{
			"anthropic": anthropicAt(t, "http://localhost", nil), "gemini": geminiAt(t, "http://localhost", nil),
			"chat": chatAt(t, "http://localhost", nil), "responses": responsesAt(t, "http://localhost", nil),
		} {
			const n = 2000
			var cost [2]uint64
			for i := range cost {
				cost[i] = preflightCost(t, up, h.front, h.body(n<<i))
			}
			if cost[1] > 2*cost[0]+cost[0]/2+5<<20 {
				t.Errorf("%s to %s: %d bytes, but %d for twice as many elements", h.name, name, cost[0], cost[1])
			}
		}
	}
}

// preflightCost returns the minimum number of bytes allocated to encode a
// request.
func preflightCost(t *testing.T, up upstream.Upstream, front content.Format, body string) uint64 {
	var req *upstream.Request
	if front == messages.Format {
		r, err := messages.ParseRequest([]byte(body))
		if err != nil {
			t.Fatal(err)
		}
		req = r.Upstream()
	} else {
		r, err := generatecontent.ParseRequest([]byte(body))
		if err != nil {
			t.Fatal(err)
		}
		req = r.Upstream().WithModel("m")
	}
	least := ^uint64(0)
	for range 2 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := upstream.Preflight(t.Context(), up, req); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		least = min(least, after.TotalAlloc-before.TotalAlloc)
	}
	return least
}
