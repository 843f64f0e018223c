package messages

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/upstream"
)

// example returns an example of a response in testdata/decode.
func example(t testing.TB, name string) string { return formattest.File(t, "testdata/decode/"+name) }

// decodeStream returns the events of all frames of a stream, and its last error.
func decodeStream(src io.Reader) ([]upstream.Event, error) {
	r := NewStreamReader(src, nil)
	var all []upstream.Event
	for {
		f, err := r.Next()
		if err != nil {
			return all, err
		}
		all = append(all, f.Events...)
	}
}

// Constructors of expected events.

func evStart(id, model, extra string) upstream.Event {
	return upstream.Event{Kind: upstream.EventStart, Start: &upstream.Start{ID: id, Model: model, Extra: mkExtra(extra)}}
}

func evOpen(n int, p content.Part) upstream.Event {
	return upstream.Event{Kind: upstream.EventOpen, Block: n, Part: p}
}

// textApart moves the text of opening blocks into separate events, as the decoder does.
func textApart(events []upstream.Event) (out []upstream.Event) {
	for _, e := range events {
		text := ""
		switch p := e.Part.(type) {
		case *content.Text:
			text, p.Text = p.Text, ""
		case *content.Thinking:
			text, p.Text = p.Text, ""
		}
		if out = append(out, e); text != "" {
			out = append(out, evText(e.Block, text))
		}
	}
	return out
}

func evClose(n int) upstream.Event { return upstream.Event{Kind: upstream.EventClose, Block: n} }

func evText(n int, s string) upstream.Event {
	return upstream.Event{Kind: upstream.EventText, Block: n, Text: s}
}

func evInput(n int, s string) upstream.Event {
	return upstream.Event{Kind: upstream.EventInput, Block: n, Text: s}
}

func evCite(n int, c content.Citation) upstream.Event {
	return upstream.Event{Kind: upstream.EventCitation, Block: n, Citation: &c}
}

func evSign(n int, data string) upstream.Event {
	s := sigOf(data)
	return upstream.Event{Kind: upstream.EventSignature, Block: n, Signature: &s}
}

func evUsage(u content.Usage, extra string) upstream.Event {
	u.Extra = mkExtra(extra)
	return upstream.Event{Kind: upstream.EventUsage, Usage: &u}
}

func evStop(r content.StopReason, word string) upstream.Event {
	return upstream.Event{Kind: upstream.EventStop, Stop: &upstream.Stop{Reason: r, Format: Format, RawReason: word}}
}

func evWhole(k upstream.EventKind, name, json string) upstream.Event {
	return upstream.Event{Kind: k, Text: name, Extra: mkExtra(json)}
}

func mkExtra(json string) *content.Extra {
	if json == "" {
		return nil
	}
	return &content.Extra{Format: Format, JSON: json}
}

func sigOf(data string) content.Signature { return content.Signature{Format: Format, Data: data} }

func TestDecodeResponse(t *testing.T) {
	stopWith := func(e upstream.Event, f func(*upstream.Stop)) upstream.Event {
		f(e.Stop)
		return e
	}
	tests := []struct {
		file string
		want []upstream.Event
	}{
		{"E02", []upstream.Event{
			evStart("msg_01Qy7LmPz4", "claude-sonnet-5", ""),
			evUsage(content.Usage{Input: 15, Output: 8}, `{"service_tier":"standard","inference_geo":"global","speed":"standard"}`),
			evOpen(0, &content.Text{Text: "97 is prime."}), evClose(0),
			evStop(content.StopEnd, "end_turn"),
		}},
		{"E04", []upstream.Event{
			evStart("msg_01StopSeq", "claude-haiku-4-5-20251001", ""),
			evUsage(content.Usage{Input: 21, Output: 4}, ""),
			evOpen(0, &content.Text{Text: "Jupiter"}), evClose(0),
			stopWith(evStop(content.StopSequence, "stop_sequence"), func(s *upstream.Stop) { s.Sequence = "</answer>" }),
		}},
		{"E07", []upstream.Event{
			evStart("msg_01Tools", "claude-sonnet-5", ""),
			evUsage(content.Usage{Input: 410, Output: 96}, ""),
			evOpen(0, &content.Text{Text: "Checking both parts."}), evClose(0),
			evOpen(1, &content.ToolUse{ID: "toolu_01A", Name: "stock_level", Input: `{"part":"P-100"}`}), evClose(1),
			evOpen(2, &content.ToolUse{ID: "toolu_01B", Name: "stock_level", Input: `{"part":"P-200"}`}), evClose(2),
			evStop(content.StopToolUse, "tool_use"),
		}},
		{"E10", []upstream.Event{
			evStart("msg_01Cite", "claude-opus-5-5", ""),
			evUsage(content.Usage{Input: 640, Output: 31}, ""),
			evOpen(0, &content.Text{Text: "They nest early", Citations: []content.Citation{
				{Kind: content.CiteChars, Text: "Herons nest early.", Title: "Notes", End: 18}}}), evClose(0),
			evOpen(1, &content.Text{Text: " and eat fish.", Citations: []content.Citation{
				{Kind: content.CiteSearchResult, Text: "Herons eat fish.", URL: "wiki/herons", Title: "Herons", End: 1}}}), evClose(1),
			evStop(content.StopEnd, "end_turn"),
		}},
		{"E12", []upstream.Event{
			evStart("msg_01Think", "claude-opus-5-5", ""),
			evUsage(content.Usage{Input: 60, Output: 14, Thinking: 41}, ""),
			evOpen(0, &content.Thinking{Text: "13 x 17 = 221.", Signature: sigOf("U0lHTkFUVVJF")}), evClose(0),
			evOpen(1, &content.Thinking{Redacted: sigOf("T1BBUVVF")}), evClose(1),
			evOpen(2, &content.Text{Text: `{"ok":true}`}), evClose(2),
			evStop(content.StopEnd, "end_turn"),
		}},
		{"E17", []upstream.Event{
			evStart("msg_01Mcp", "claude-opus-5-5", ""),
			evUsage(content.Usage{Input: 900, Output: 40}, `{"iterations":[{"type":"message","model":"claude-opus-5-5","input_tokens":900,"output_tokens":40,"cache_read_input_tokens":0,"cache_creation_input_tokens":0,"cache_creation":null}]}`),
			evOpen(0, &content.ServerToolUse{Format: Format, Kind: "mcp_tool_use", ID: "mcptoolu_01", Name: "free", Input: `{"day":"fri"}`, Extra: mkExtra(`{"server_name":"cal"}`)}), evClose(0),
			evOpen(1, &content.ServerToolResult{Format: Format, Kind: "mcp_tool_result", ID: "mcptoolu_01", Content: `[{"type":"text","text":"all day","citations":null}]`, Extra: mkExtra(`{"is_error":false}`)}), evClose(1),
			evOpen(2, &content.Text{Text: "Yes, all day."}), evClose(2),
			stopWith(evStop(content.StopEnd, "end_turn"), func(s *upstream.Stop) {
				s.Extra = mkExtra(`{"context_management":{"applied_edits":[{"type":"clear_tool_uses_20250919","cleared_tool_uses":3,"cleared_input_tokens":9000}]}}`)
			}),
		}},
		{"E18", []upstream.Event{
			evStart("msg_01Srv", "claude-sonnet-5", ""),
			evUsage(content.Usage{Input: 2100, Output: 120}, `{"server_tool_use":{"web_search_requests":1,"web_fetch_requests":0}}`),
			evOpen(0, &content.ServerToolUse{Format: Format, Kind: "server_tool_use", ID: "srvtoolu_01A", Name: "web_search", Input: `{"query":"tide table"}`}), evClose(0),
			evOpen(1, &content.ServerToolResult{Format: Format, Kind: "web_search_tool_result", ID: "srvtoolu_01A", Content: `{"type":"web_search_tool_result_error","error_code":"unavailable"}`}), evClose(1),
			evOpen(2, &content.ServerToolUse{Format: Format, Kind: "server_tool_use", ID: "srvtoolu_01B", Name: "bash_code_execution", Input: `{"command":"date"}`}), evClose(2),
			evOpen(3, &content.ServerToolResult{Format: Format, Kind: "bash_code_execution_tool_result", ID: "srvtoolu_01B", Content: `{"type":"bash_code_execution_result","stdout":"Tue\n","stderr":"","return_code":0,"content":[]}`}), evClose(3),
			evOpen(4, &content.Text{Text: "It is Tuesday."}), evClose(4),
			stopWith(evStop(content.StopPause, "pause_turn"), func(s *upstream.Stop) {
				s.Extra = mkExtra(`{"container":{"id":"container_01","expires_at":"2026-11-30T10:00:00Z","skills":null}}`)
			}),
		}},
		{"E19", []upstream.Event{
			evStart("msg_01Ref", "claude-opus-5-5", ""),
			evUsage(content.Usage{Input: 88}, ""),
			stopWith(evStop(content.StopRefusal, "refusal"), func(s *upstream.Stop) {
				s.Message, s.Details = "Declined.", `{"type":"refusal","category":"cyber","explanation":"Declined."}`
			}),
		}},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			body := example(t, tt.file+".json")
			f, err := DecodeFrame(body, content.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if !f.Complete || f.Format != Format || f.Data != body {
				t.Errorf("the frame is not the response: complete %v, format %q, %d of %d bytes", f.Complete, f.Format, len(f.Data), len(body))
			}
			if diff := cmp.Diff(textApart(tt.want), f.Events); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}

func TestStreamReader(t *testing.T) {
	iterations := `{"iterations":[{"type":"message","model":"claude-fable-5","input_tokens":55,"output_tokens":0,"cache_read_input_tokens":0,"cache_creation_input_tokens":0,"cache_creation":null},{"type":"fallback_message","model":"claude-opus-4-8","input_tokens":50,"output_tokens":4,"cache_read_input_tokens":0,"cache_creation_input_tokens":0,"cache_creation":null}]}`
	tests := []struct {
		file string
		want []upstream.Event
		code upstream.Code // of the error, if not io.EOF
	}{
		{"E21", []upstream.Event{
			evStart("msg_02A", "claude-sonnet-5", ""), evUsage(content.Usage{Input: 12, Output: 1}, `{"service_tier":"standard"}`),
			evOpen(0, &content.Text{}), evText(0, "Ahoy"), evText(0, " there."), evClose(0),
			evUsage(content.Usage{Input: 12, Output: 7}, `{"service_tier":"standard"}`), evStop(content.StopEnd, "end_turn"),
		}, ""},
		{"E22", []upstream.Event{
			evStart("msg_02B", "claude-opus-5", ""), evUsage(content.Usage{Input: 300, Output: 3}, ""),
			evOpen(0, &content.Thinking{}), evText(0, "Need the stock and the time."), evSign(0, "U0lH"), evClose(0),
			evOpen(1, &content.ToolUse{ID: "toolu_03A", Name: "stock_level"}),
			evInput(1, ""), evInput(1, `{"part": "P-`), evInput(1, `100"}`), evClose(1),
			evOpen(2, &content.ToolUse{ID: "toolu_03B", Name: "clock"}), evClose(2),
			evUsage(content.Usage{Input: 300, Output: 49, Thinking: 22}, ""), evStop(content.StopToolUse, "tool_use"),
		}, ""},
		{"E23", []upstream.Event{
			evStart("msg_02D", "claude-sonnet-5", ""), evUsage(content.Usage{Input: 900, Output: 2}, ""),
			evOpen(0, &content.ServerToolUse{Format: Format, Kind: "server_tool_use", ID: "srvtoolu_05", Name: "web_search"}),
			evInput(0, `{"query":"lighthouse height"}`), evClose(0),
			evOpen(1, &content.ServerToolResult{Format: Format, Kind: "web_search_tool_result", ID: "srvtoolu_05",
				Content: `[{"type":"web_search_result","url":"https://lights.example/a","title":"Lights","encrypted_content":"RU5D","page_age":null}]`}),
			evClose(1),
			evOpen(2, &content.Text{}),
			evCite(2, content.Citation{Kind: content.CiteWeb, Text: "It stands 41 m tall.", URL: "https://lights.example/a", Title: "Lights", Extra: mkExtra(`{"encrypted_index":"SURY"}`)}),
			evText(2, "41 metres."), evClose(2),
			evUsage(content.Usage{Input: 2400, Output: 60}, `{"server_tool_use":{"web_search_requests":1,"web_fetch_requests":0}}`),
			evStop(content.StopEnd, "end_turn"),
		}, ""},
		{"E24", []upstream.Event{
			evStart("msg_02E", "claude-sonnet-5", ""), evUsage(content.Usage{Input: 12, Output: 1}, ""),
			evOpen(0, &content.Text{}), evText(0, "Well"),
		}, upstream.CodeOverloaded},
		{"E25", []upstream.Event{
			evStart("msg_02F", "claude-fable-5", ""), evUsage(content.Usage{Input: 50, Output: 1}, ""),
			evOpen(0, &content.Unknown{Format: Format, Kind: "fallback", Raw: `{"type":"fallback","from":{"model":"claude-fable-5"},"to":{"model":"claude-opus-4-8"},"trigger":{"type":"refusal","category":null}}`}),
			evClose(0), evOpen(1, &content.Text{}), evText(1, "Sure."), evClose(1),
			evUsage(content.Usage{Input: 50, Output: 4}, iterations), evStop(content.StopEnd, "end_turn"),
		}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			got, err := decodeStream(strings.NewReader(example(t, tt.file+".sse")))
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
			var failed *upstream.Error
			switch {
			case tt.code == "" && err != io.EOF:
				t.Errorf("got the error %v", err)
			case tt.code != "" && (!errors.As(err, &failed) || failed.Code != tt.code):
				t.Errorf("got the error %v, want one with %s", err, tt.code)
			}
		})
	}
}

// same lists responses that are tested whole and streamed. The usage at the start of a stream
// is ignored.
var same = []struct{ name, reply, stream string }{
	{"text", "E02.json", `message_start {"type":"message_start","message":{"id":"msg_01Qy7LmPz4","type":"message","role":"assistant","model":"claude-sonnet-5","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":15,"output_tokens":1,"service_tier":"standard","inference_geo":"global","speed":"standard"}}}
content_block_start {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"","citations":null}}
content_block_delta {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"97 is"}}
content_block_delta {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" prime."}}
content_block_stop {"type":"content_block_stop","index":0}
message_delta {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null,"stop_details":null,"container":null},"usage":{"output_tokens":8,"output_tokens_details":{"thinking_tokens":0}}}
message_stop {"type":"message_stop"}`},
	{"thinking", "E12.json", `message_start {"type":"message_start","message":{"id":"msg_01Think","type":"message","role":"assistant","model":"claude-opus-5-5","content":[],"stop_reason":null,"usage":{"input_tokens":60,"output_tokens":1}}}
content_block_start {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}
content_block_delta {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"13 x 17 = 221."}}
content_block_delta {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"U0lHTkFUVVJF"}}
content_block_stop {"type":"content_block_stop","index":0}
content_block_start {"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"T1BBUVVF"}}
content_block_stop {"type":"content_block_stop","index":1}
content_block_start {"type":"content_block_start","index":2,"content_block":{"type":"text","text":""}}
content_block_delta {"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"{\"ok\":true}"}}
content_block_stop {"type":"content_block_stop","index":2}
message_delta {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":55,"output_tokens_details":{"thinking_tokens":41}}}
message_stop {"type":"message_stop"}`},
	{"parallel calls", "E07.json", `message_start {"type":"message_start","message":{"id":"msg_01Tools","type":"message","role":"assistant","model":"claude-sonnet-5","content":[],"stop_reason":null,"usage":{"input_tokens":410,"output_tokens":1}}}
content_block_start {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"Checking both parts."}}
content_block_start {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_01A","name":"stock_level","input":{},"caller":{"type":"direct"}}}
content_block_start {"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"toolu_01B","name":"stock_level","input":{},"caller":{"type":"direct"}}}
content_block_delta {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"part\":"}}
content_block_delta {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"part\":\"P-1"}}
content_block_stop {"type":"content_block_stop","index":0}
content_block_delta {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"\"P-200\"}"}}
content_block_stop {"type":"content_block_stop","index":2}
content_block_delta {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"00\"}"}}
content_block_stop {"type":"content_block_stop","index":1}
message_delta {"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":96}}
message_stop {"type":"message_stop"}`},
	{"citations", "E10.json", `message_start {"type":"message_start","message":{"id":"msg_01Cite","type":"message","role":"assistant","model":"claude-opus-5-5","content":[],"stop_reason":null,"usage":{"input_tokens":640,"output_tokens":1}}}
content_block_start {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"","citations":[]}}
content_block_delta {"type":"content_block_delta","index":0,"delta":{"type":"citations_delta","citation":{"type":"char_location","cited_text":"Herons nest early.","document_index":0,"document_title":"Notes","file_id":null,"start_char_index":0,"end_char_index":18}}}
content_block_delta {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"They nest early"}}
content_block_stop {"type":"content_block_stop","index":0}
content_block_start {"type":"content_block_start","index":1,"content_block":{"type":"text","text":"","citations":[{"type":"search_result_location","cited_text":"Herons eat fish.","source":"wiki/herons","title":"Herons","search_result_index":0,"start_block_index":0,"end_block_index":1}]}}
content_block_delta {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":" and eat fish."}}
content_block_stop {"type":"content_block_stop","index":1}
message_delta {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":31}}
message_stop {"type":"message_stop"}`},
	{"built-in tools", "E17.json", `message_start {"type":"message_start","message":{"id":"msg_01Mcp","type":"message","role":"assistant","model":"claude-opus-5-5","content":[],"stop_reason":null,"usage":{"input_tokens":900,"output_tokens":1}}}
content_block_start {"type":"content_block_start","index":0,"content_block":{"type":"mcp_tool_use","id":"mcptoolu_01","name":"free","server_name":"cal","input":{}}}
content_block_delta {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"day\":\"fri\"}"}}
content_block_stop {"type":"content_block_stop","index":0}
content_block_start {"type":"content_block_start","index":1,"content_block":{"type":"mcp_tool_result","tool_use_id":"mcptoolu_01","is_error":false,"content":[{"type":"text","text":"all day","citations":null}]}}
content_block_stop {"type":"content_block_stop","index":1}
content_block_start {"type":"content_block_start","index":2,"content_block":{"type":"text","text":"Yes, all day."}}
content_block_stop {"type":"content_block_stop","index":2}
message_delta {"type":"message_delta","context_management":{"applied_edits":[{"type":"clear_tool_uses_20250919","cleared_tool_uses":3,"cleared_input_tokens":9000}]},"delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":40,"iterations":[{"type":"message","model":"claude-opus-5-5","input_tokens":900,"output_tokens":40,"cache_read_input_tokens":0,"cache_creation_input_tokens":0,"cache_creation":null}]}}
message_stop {"type":"message_stop"}`},
}

// sseOf returns a stream of lines that are pairs of a name and data.
func sseOf(lines string) string {
	var b strings.Builder
	for line := range strings.Lines(lines) {
		name, data, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		b.WriteString("event: " + name + "\ndata: " + data + "\n\n")
	}
	return b.String()
}

func TestResponseEqualsStream(t *testing.T) {
	for _, tt := range same {
		t.Run(tt.name, func(t *testing.T) {
			f, err := DecodeFrame(example(t, tt.reply), content.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			var whole, pieces upstream.Collector
			if err := whole.Send(f.Events); err != nil {
				t.Fatal(err)
			}
			r := NewStreamReader(strings.NewReader(sseOf(tt.stream)), nil)
			for {
				f, err := r.Next()
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				if err := pieces.Send(f.Events); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(whole.Response(), pieces.Response()); diff != "" {
				t.Errorf("(-reply +stream):\n%s", diff)
			}
		})
	}
}

func errorJSON(kind, message string) string {
	return `{"type":"error","error":{"type":"` + kind + `","message":"` + message + `"},"request_id":"req_9"}`
}

// failed is the part of an error that clients see.
type failed struct {
	Code  upstream.Code
	Text  string
	After time.Duration
}

func TestDecodeError(t *testing.T) {
	const html = "<html><body>secret-host.internal</body></html>"
	tests := []struct {
		name   string
		status int
		after  string // in seconds, or as "7/1500" also in milliseconds
		body   string
		want   failed
	}{
		{"milliseconds", 429, "/1500", "", failed{upstream.CodeRateLimit, "", 1500 * time.Millisecond}},
		{"milliseconds take precedence", 529, "7/1500", "", failed{upstream.CodeOverloaded, "", 1500 * time.Millisecond}},
		{"invalid milliseconds", 429, "7/soon", "", failed{upstream.CodeRateLimit, "", 7 * time.Second}},
		{"invalid", 400, "", errorJSON("invalid_request_error", "messages.1: Field required"), failed{upstream.CodeInvalid, "messages.1: Field required", 0}},
		{"example", 400, "", example(t, "E26.json"), failed{upstream.CodeInvalid, "messages.1.content.0.tool_result.tool_use_id: Field required", 0}},
		{"example with a code", 400, "", example(t, "E27.json"), failed{upstream.CodeInvalid, `messages.2.content.0.tool.name: tool "sql" is not defined here`, 0}},
		{"key", 401, "", errorJSON("authentication_error", "invalid x-api-key"), failed{upstream.CodeBadGateway, codec.KeyRefusedText, 0}},
		{"billing", 402, "", errorJSON("billing_error", "pay"), failed{upstream.CodeBadGateway, "", 0}},
		{"permission", 403, "", errorJSON("permission_error", "no"), failed{upstream.CodeBadGateway, "", 0}},
		{"not found", 404, "", errorJSON("not_found_error", "model: claude-nope"), failed{upstream.CodeNotFound, "model: claude-nope", 0}},
		{"method", 405, "", errorJSON("invalid_request_error", "x"), failed{upstream.CodeBadGateway, "", 0}},
		{"slow", 408, "", errorJSON("timeout_error", "x"), failed{upstream.CodeTimeout, "", 0}},
		{"conflict", 409, "", errorJSON("conflict_error", "x"), failed{upstream.CodeConflict, "", 0}},
		{"too large", 413, "", errorJSON("request_too_large", "Request exceeds the maximum size"), failed{upstream.CodeTooLarge, "Request exceeds the maximum size", 0}},
		{"media type", 415, "", errorJSON("invalid_request_error", "x"), failed{upstream.CodeBadGateway, "", 0}},
		{"unprocessable", 422, "", errorJSON("invalid_request_error", "x"), failed{upstream.CodeInvalid, "x", 0}},
		{"rate", 429, "7", errorJSON("rate_limit_error", "slow down"), failed{upstream.CodeRateLimit, "slow down", 7 * time.Second}},
		{"spend limit", 429, "", `{"type":"error","error":{"type":"rate_limit_error","message":"spent","details":{"error_code":"enforced_spend_limit_reached"}}}`, failed{upstream.CodeQuota, "spent", 0}},
		{"internal", 500, "", errorJSON("api_error", "stack trace"), failed{upstream.CodeUnavailable, "", 0}},
		{"gateway", 502, "", html, failed{upstream.CodeUnavailable, "", 0}},
		{"unavailable", 503, "3", "", failed{upstream.CodeUnavailable, "", 3 * time.Second}},
		{"gateway time-out", 504, "", errorJSON("timeout_error", "x"), failed{upstream.CodeTimeout, "", 0}},
		{"overloaded", 529, "2", errorJSON("overloaded_error", "Overloaded"), failed{upstream.CodeOverloaded, "", 2 * time.Second}},
		{"HTML", 400, "", html, failed{upstream.CodeBadGateway, "", 0}},
		{"empty", 429, "1", "", failed{upstream.CodeRateLimit, "", time.Second}},
		{"JSON without an error object", 404, "", `{"message":"internal words"}`, failed{upstream.CodeBadGateway, "", 0}},
		{"error is a string", 400, "", `{"error":"internal words"}`, failed{upstream.CodeBadGateway, "", 0}},
		{"no message", 400, "", `{"error":{"type":"invalid_request_error"}}`, failed{upstream.CodeInvalid, "", 0}},
		{"message of the wrong type", 400, "", `{"error":{"message":[1]}}`, failed{upstream.CodeInvalid, "", 0}},
		{"rejected key with another status", 400, "", errorJSON("authentication_error", "x"), failed{upstream.CodeBadGateway, codec.KeyRefusedText, 0}},
		{"redirect", 302, "", html, failed{upstream.CodeBadGateway, "", 0}},
		{"no status", 0, "", "", failed{upstream.CodeBadGateway, "", 0}},
		{"several lines", 400, "", errorJSON("invalid_request_error", `a\r\nb\tc`), failed{upstream.CodeInvalid, "a b c", 0}},
		{"secrets", 400, "", errorJSON("invalid_request_error", `got sk-ant-api03-abcdefgh from https://u:p@a.example/f?sig=1`), failed{upstream.CodeInvalid, "got [removed] from https://a.example/f", 0}},
		{"unpaired surrogate", 400, "", errorJSON("invalid_request_error", `a\ud800`), failed{upstream.CodeInvalid, "a\uFFFD", 0}},
		{"an hour", 429, "3600", "", failed{upstream.CodeRateLimit, "", time.Hour}},
		{"a week", 429, "604800", "", failed{upstream.CodeRateLimit, "", 7 * 24 * time.Hour}},
		{"half a second", 429, "0.5", "", failed{upstream.CodeRateLimit, "", time.Second / 2}},
		{"a date", 429, "Fri, 31 Dec 1999 23:59:59 GMT", "", failed{upstream.CodeRateLimit, "", 0}},
		{"negative", 429, "-5", "", failed{upstream.CodeRateLimit, "", 0}},
		{"not finite", 429, "inf", "", failed{upstream.CodeRateLimit, "", 0}},
		{"very many digits", 429, strings.Repeat("0", 1000) + "1", "", failed{upstream.CodeRateLimit, "", time.Second}},
		{"not with other statuses", 400, "7", errorJSON("invalid_request_error", "x"), failed{upstream.CodeInvalid, "x", 0}},
		{"wrong URL", 404, "", errorJSON("not_found_error", "Not Found"), failed{upstream.CodeBadGateway, "", 0}},
		{"file", 404, "", errorJSON("not_found_error", "File `file_x` not found."), failed{upstream.CodeNotFound, "File `file_x` not found.", 0}},
		{"proxy with a smaller limit", 413, "", html, failed{upstream.CodeBadGateway, "", 0}},
		{"proxy with a login", 407, "", html, failed{upstream.CodeBadGateway, "", 0}},
		{"proxy with a rate limit", 429, "", html, failed{upstream.CodeRateLimit, "", 0}},
		{"port with TLS", 400, "", "Client sent an HTTP request to an HTTPS server.", failed{upstream.CodeBadGateway, "", 0}},
		{"another HTTP version", 426, "", "", failed{upstream.CodeBadGateway, "", 0}},
		{"another host", 421, "", errorJSON("invalid_request_error", "x"), failed{upstream.CodeBadGateway, "", 0}},
		{"long header", 431, "", "", failed{upstream.CodeBadGateway, "", 0}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := http.Header{"Request-Id": {"req_1"}}
			if seconds, ms, ok := strings.Cut(tt.after, "/"); seconds != "" || ok {
				h.Set("Retry-After", seconds)
				h.Set("Retry-After-Ms", ms)
			}
			e := DecodeError(tt.status, h, []byte(tt.body))
			if diff := cmp.Diff(tt.want, failed{e.Code, e.Text, e.RetryAfter}); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			cause := errors.Unwrap(e).Error()
			for _, no := range []string{"secret-host", "sk-ant", "u:p@", "sig=", "\n", "internal words"} {
				if strings.Contains(cause, no) {
					t.Errorf("the cause holds %q: %s", no, cause)
				}
			}
			if !strings.Contains(cause, "req_1") {
				t.Errorf("the cause does not name the request: %s", cause)
			}
		})
	}
	e := DecodeError(400, nil, []byte(errorJSON("invalid_request_error", strings.Repeat("long ", 10_000))))
	if len(e.Text) > 2<<10 || !strings.HasPrefix(e.Text, "long long") {
		t.Errorf("a text of %d bytes", len(e.Text))
	}
	if e := DecodeError(400, nil, []byte(strings.Repeat("[", 10<<20))); e.Code != upstream.CodeBadGateway {
		t.Errorf("deep nesting: %v", e)
	}
}

func TestStreamErrors(t *testing.T) {
	tests := []struct {
		kind string
		want failed
	}{
		{"invalid_request_error", failed{upstream.CodeInvalid, "words", 0}},
		{"not_found_error", failed{upstream.CodeNotFound, "words", 0}},
		{"request_too_large", failed{upstream.CodeTooLarge, "words", 0}},
		{"rate_limit_error", failed{upstream.CodeRateLimit, "words", 0}},
		{"authentication_error", failed{upstream.CodeBadGateway, codec.KeyRefusedText, 0}},
		{"billing_error", failed{upstream.CodeBadGateway, "", 0}},
		{"permission_error", failed{upstream.CodeBadGateway, "", 0}},
		{"conflict_error", failed{upstream.CodeConflict, "", 0}},
		{"api_error", failed{upstream.CodeUnavailable, "", 0}},
		{"timeout_error", failed{upstream.CodeTimeout, "", 0}},
		{"overloaded_error", failed{upstream.CodeOverloaded, "", 0}},
		{"new_error", failed{upstream.CodeBadGateway, "", 0}},
		{"", failed{upstream.CodeBadGateway, "", 0}},
	}
	for _, tt := range tests {
		t.Run(tt.kind, func(t *testing.T) {
			data := errorJSON(tt.kind, "words")
			_, inStream := decodeStream(strings.NewReader(line(lineStart) + line("error "+data)))
			_, inReply := DecodeFrame(data, content.Limits{})
			for where, err := range map[string]error{"stream": inStream, "reply": inReply} {
				var e *upstream.Error
				if !errors.As(err, &e) {
					t.Fatalf("%s: %v", where, err)
				}
				if diff := cmp.Diff(tt.want, failed{e.Code, e.Text, e.RetryAfter}); diff != "" {
					t.Errorf("%s (-want +got):\n%s", where, diff)
				}
				if cause := errors.Unwrap(e).Error(); !strings.Contains(cause, tt.kind) || !strings.Contains(cause, "req_9") {
					t.Errorf("%s: the cause is %s", where, cause)
				}
			}
		})
	}
}

func TestDecodeResponseErrors(t *testing.T) {
	tests := []struct{ name, body string }{
		{"empty", ""},
		{"HTML", "<html>"},
		{"cut", `{"type":"message","content":[`},
		{"not an object", `[1]`},
		{"no message", `{"input_tokens":5}`},
		{"error without details", `{"type":"error"}`},
		{"block that is not an object", `{"content":[5]}`},
		{"duplicate member", `{"content":[],"content":[]}`},
		{"nesting over the limit", `{"content":` + strings.Repeat("[", 300) + strings.Repeat("]", 300) + `}`},
		{"trailing text", `{"content":[]} x`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, err := DecodeFrame(tt.body, content.Limits{})
			var e *upstream.Error
			if f != nil || !errors.As(err, &e) || e.Code != upstream.CodeBadGateway || e.Text != "" || e.Err == nil {
				t.Errorf("got %v and %v", f, err)
			}
		})
	}
	body := example(t, "E02.json")
	if _, err := DecodeFrame(body, content.Limits{Body: int64(len(body)) - 1}); err == nil {
		t.Error("a response over the limit was accepted")
	}
	if _, err := DecodeFrame(body, content.Limits{Body: int64(len(body))}); err != nil {
		t.Error(err)
	}
}

func TestDecodeResponseDeviations(t *testing.T) {
	tests := []struct {
		name, body string
		want       outcome
	}{
		{"text as content", `{"content":"hi","stop_reason":"end_turn"}`, outcome{Text: "hi", Stop: content.StopEnd}},
		{"no stop reason", `{"content":[{"type":"text","text":"hi"}],"usage":{"input_tokens":1,"output_tokens":2}}`,
			outcome{Text: "hi", Stop: content.StopEnd, Usage: content.Usage{Input: 1, Output: 2}, Losses: 1}},
		{"input as text", `{"content":[{"type":"tool_use","id":"t","name":"f","input":"{\"a\":1}"}],"stop_reason":"tool_use"}`,
			outcome{Input: `{"a":1}`, Stop: content.StopToolUse, Losses: 1}},
		{"no input", `{"content":[{"type":"tool_use","id":"t","name":"f"}],"stop_reason":"tool_use"}`, outcome{Stop: content.StopToolUse}},
		{"unpaired surrogate", `{"content":[{"type":"text","text":"h\ud800i"}],"stop_reason":"end_turn","usage":{}}`,
			outcome{Text: "h\uFFFDi", Stop: content.StopEnd, Losses: 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, err := DecodeFrame(tt.body, content.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if repaired := strings.Contains(tt.body, `\ud800`); (f.Format == Format) != repaired {
				t.Errorf("the frame has the format %q", f.Format)
			}
			reply, err := upstream.Collect(t.Context(), formattest.Frames(f), &upstream.Request{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, summary(reply)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestDecodeCount(t *testing.T) {
	tests := []struct {
		body string
		want upstream.TokenCount
		ok   bool
	}{
		{`{"input_tokens":57}`, upstream.TokenCount{Tokens: 57}, true},
		{example(t, "E30.json"), upstream.TokenCount{Tokens: 57, Extra: mkExtra(`{"context_management":{"original_input_tokens":57}}`)}, true},
		{`{"input_tokens":0,"context_management":null}`, upstream.TokenCount{}, true},
		{`{}`, upstream.TokenCount{}, false},
		{`{"input_tokens":-1}`, upstream.TokenCount{}, false},
		{`{"input_tokens":"5"}`, upstream.TokenCount{}, false},
		{`[]`, upstream.TokenCount{}, false},
		{``, upstream.TokenCount{}, false},
	}
	for _, tt := range tests {
		got, err := DecodeCount([]byte(tt.body))
		if diff := cmp.Diff(tt.want, got); diff != "" || (err == nil) != tt.ok {
			t.Errorf("%s: error %v (-want +got):\n%s", tt.body, err, diff)
		}
		var e *upstream.Error
		if err != nil && (!errors.As(err, &e) || e.Code != upstream.CodeBadGateway || e.Text != "") {
			t.Errorf("%s: got the error %v", tt.body, err)
		}
	}
}

func TestDecodeModels(t *testing.T) {
	opus := upstream.Model{
		ID: "claude-opus-5-5", Name: "Claude Opus 5.5", Created: time.Date(2026, 9, 1, 0, 0, 0, 0, time.UTC),
		MaxInput: 1000000, MaxOutput: 128000, Extra: mkExtra(`{"lifecycle":"active","line":"opus"}`),
	}
	tests := []struct {
		name, body string
		want       []upstream.Model
		next       string
		ok         bool
	}{
		{"page", example(t, "E31.json"), []upstream.Model{opus}, "", true},
		{"empty", `{"data":[],"has_more":false,"first_id":null,"last_id":null}`, []upstream.Model{}, "", true},
		{"more", `{"data":[{"id":"a"}],"has_more":true,"last_id":"a"}`, []upstream.Model{{ID: "a"}}, "a", true},
		{"more without last", `{"data":[{"id":"a"}],"has_more":true,"last_id":null}`, []upstream.Model{{ID: "a"}}, "", true},
		{"no has_more", `{"data":[{"id":"a"}],"last_id":"a"}`, []upstream.Model{{ID: "a"}}, "", true},
		{"thinking", `{"data":[{"id":"a","created_at":"x","max_tokens":null,"capabilities":{"thinking":{"supported":true}}}]}`,
			[]upstream.Model{{ID: "a", Thinking: true, Extra: mkExtra(`{"capabilities":{"thinking":{"supported":true}}}`)}}, "", true},
		{"no id", `{"data":[{"display_name":"a"}]}`, nil, "", false},
		{"no list", `{"data":{}}`, nil, "", false},
		{"invalid JSON", `<html>`, nil, "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, next, err := DecodeModels([]byte(tt.body))
			if diff := cmp.Diff(tt.want, got); diff != "" || (err == nil) != tt.ok || next != tt.next {
				t.Errorf("error %v, next %q (-want +got):\n%s", err, next, diff)
			}
			var e *upstream.Error
			if err != nil && (!errors.As(err, &e) || e.Code != upstream.CodeBadGateway) {
				t.Errorf("got the error %v", err)
			}
		})
	}
}

// TestDecodeErrorCode decodes errors of Azure's gateway, which have a code and no type.
func TestDecodeErrorCode(t *testing.T) {
	for body, want := range map[string]string{
		`{"error":{"code":"DeploymentNotFound","message":"No such deployment."}}`: "the upstream failed with status 404 (DeploymentNotFound): No such deployment.",
		`{"error":{"message":"No such deployment."}}`:                             "the upstream failed with status 404: No such deployment.",
		`{"error":{"code":404,"message":"No such deployment."}}`:                  "the upstream failed with status 404: No such deployment.",
	} {
		e := DecodeError(http.StatusNotFound, nil, []byte(body))
		if e.Code != upstream.CodeNotFound || e.Text != "No such deployment." || e.Err.Error() != want {
			t.Errorf("%s: %s, %q, %q", body, e.Code, e.Text, e.Err)
		}
	}
}
