package main

import (
	"encoding/json"
	"fmt"
	"strings"
)

// writers write a reply as the stream of a vendor's server.
var writers = map[format]func(*reply) string{
	formatMessages: writeMessages,
	formatGemini:   writeGemini,
	formatChat:     writeChat,
	formatOllama:   writeOllama,
}

// quote returns s as a JSON string.
func quote(s string) string {
	b, _ := json.Marshal(s) // a string cannot fail
	return string(b)
}

func writeMessages(r *reply) string {
	var b strings.Builder
	event := func(name, data string) { fmt.Fprintf(&b, "event: %s\ndata: {\"type\":%q%s}\n\n", name, name, data) }
	event("message_start", fmt.Sprintf(`,"message":{"id":"msg_01","type":"message","role":"assistant","model":"claude-sonnet-4-5",`+
		`"content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":%d,"output_tokens":1}}`, r.input))
	index := 0
	if len(r.pieces) > 0 {
		event("content_block_start", `,"index":0,"content_block":{"type":"text","text":""}`)
		for _, p := range r.pieces {
			event("content_block_delta", `,"index":0,"delta":{"type":"text_delta","text":`+quote(p)+`}`)
		}
		event("content_block_stop", `,"index":0`)
		index++
	}
	for _, c := range r.calls {
		event("content_block_start", fmt.Sprintf(`,"index":%d,"content_block":{"type":"tool_use","id":%q,"name":%q,"input":{}}`, index, c.id, c.name))
		for _, a := range c.arguments {
			event("content_block_delta", fmt.Sprintf(`,"index":%d,"delta":{"type":"input_json_delta","partial_json":%s}`, index, quote(a)))
		}
		event("content_block_stop", fmt.Sprintf(`,"index":%d`, index))
		index++
	}
	reason := map[stop]string{stopEnd: "end_turn", stopTools: "tool_use", stopLimit: "max_tokens"}[r.stop]
	event("message_delta", fmt.Sprintf(`,"delta":{"stop_reason":%q,"stop_sequence":null},"usage":{"output_tokens":%d}`, reason, r.output))
	event("message_stop", "")
	return b.String()
}

func writeGemini(r *reply) string {
	var parts []string
	for _, p := range r.pieces {
		parts = append(parts, `{"text":`+quote(p)+`}`)
	}
	for _, c := range r.calls {
		parts = append(parts, fmt.Sprintf(`{"functionCall":{"id":%q,"name":%q,"args":%s}}`, c.id, c.name, c.joined()))
	}
	reason := map[stop]string{stopEnd: "STOP", stopTools: "STOP", stopLimit: "MAX_TOKENS"}[r.stop]
	var b strings.Builder
	for i, p := range parts {
		end, tokens := "", int64(i+1)
		if i == len(parts)-1 {
			end, tokens = fmt.Sprintf(`,"finishReason":%q`, reason), r.output
		}
		fmt.Fprintf(&b, `data: {"candidates":[{"content":{"parts":[%s],"role":"model"}%s,"index":0}],"usageMetadata":{"promptTokenCount":%d,`+
			`"candidatesTokenCount":%d,"totalTokenCount":%d},"modelVersion":"gemini-2.5-pro","responseId":"r-1"}`+"\r\n\r\n", p, end, r.input, tokens, r.input+tokens)
	}
	return b.String()
}

func writeChat(r *reply) string {
	var b strings.Builder
	const head = `data: {"id":"chatcmpl-AbCdEfGh","object":"chat.completion.chunk","created":1795219200,"model":"gpt-4.1","service_tier":"default","system_fingerprint":"fp_1234567890","choices":`
	chunk := func(delta, finish string) {
		fmt.Fprintf(&b, head+`[{"index":0,"delta":%s,"logprobs":null,"finish_reason":%s}],"usage":null}`+"\n\n", delta, finish)
	}
	content := `""`
	if len(r.pieces) == 0 {
		content = "null"
	}
	chunk(`{"role":"assistant","content":`+content+`,"refusal":null}`, "null")
	for _, p := range r.pieces {
		chunk(`{"content":`+quote(p)+`}`, "null")
	}
	for i, c := range r.calls {
		chunk(fmt.Sprintf(`{"tool_calls":[{"index":%d,"id":%q,"type":"function","function":{"name":%q,"arguments":""}}]}`, i, c.id, c.name), "null")
		for _, a := range c.arguments {
			chunk(fmt.Sprintf(`{"tool_calls":[{"index":%d,"function":{"arguments":%s}}]}`, i, quote(a)), "null")
		}
	}
	chunk("{}", quote(map[stop]string{stopEnd: "stop", stopTools: "tool_calls", stopLimit: "length"}[r.stop]))
	fmt.Fprintf(&b, head+`[],"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}}`+"\n\n", r.input, r.output, r.input+r.output)
	b.WriteString("data: [DONE]\n\n")
	return b.String()
}

// writeOllama writes one document per line. Ollama sends whole tool calls.
func writeOllama(r *reply) string {
	var b strings.Builder
	const head = `{"model":"m","created_at":"2026-11-01T00:00:00Z","message":{"role":"assistant","content":`
	for _, p := range r.pieces {
		b.WriteString(head + quote(p) + `},"done":false}` + "\n")
	}
	for _, c := range r.calls {
		fmt.Fprintf(&b, head+`"","tool_calls":[{"id":%q,"function":{"name":%q,"arguments":%s}}]},"done":false}`+"\n", c.id, c.name, c.joined())
	}
	reason := map[stop]string{stopEnd: "stop", stopTools: "stop", stopLimit: "length"}[r.stop]
	fmt.Fprintf(&b, head+`""},"done":true,"done_reason":%q,"prompt_eval_count":%d,"eval_count":%d}`+"\n", reason, r.input, r.output)
	return b.String()
}
