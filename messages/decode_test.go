package messages

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/formattest"
	"github.com/polywire/polywire/upstream"
)

// example returns one of the examples of answers under testdata/decode.
func example(t testing.TB, name string) string { return formattest.File(t, "testdata/decode/"+name) }

// decodeStream returns the events of all frames of a stream, and the error
// behind them.
func decodeStream(src io.Reader) ([]upstream.Event, error) {
	r := NewStreamReader(src, content.Limits{})
	var all []upstream.Event
	for {
		f, err := r.Next()
		if err != nil {
			return all, err
		}
		all = append(all, f.Events...)
	}
}

// What follows makes the events that tests expect.

func evStart(id, model, extra string) upstream.Event {
	return upstream.Event{Kind: upstream.EventStart, Start: &upstream.Start{ID: id, Model: model, Extra: mkExtra(extra)}}
}

func evOpen(n int, p content.Part) upstream.Event {
	return upstream.Event{Kind: upstream.EventOpen, Block: n, Part: p}
}

// textApart moves the text of blocks that open into events of their own, which
// is where texts always are.
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
			f, err := DecodeResponse(body, content.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if !f.Complete || f.Format != Format || f.Data != body {
				t.Errorf("the frame is not the reply: whole %v, format %q, %d of %d bytes", f.Complete, f.Format, len(f.Data), len(body))
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

// same are answers told in both ways. What usage a stream begins with does not
// matter.
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
	{"calls side by side", "E07.json", `message_start {"type":"message_start","message":{"id":"msg_01Tools","type":"message","role":"assistant","model":"claude-sonnet-5","content":[],"stop_reason":null,"usage":{"input_tokens":410,"output_tokens":1}}}
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

// sseOf makes a stream of lines that are a name and data.
func sseOf(lines string) string {
	var b strings.Builder
	for line := range strings.Lines(lines) {
		name, data, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		b.WriteString("event: " + name + "\ndata: " + data + "\n\n")
	}
	return b.String()
}

func TestReplyAndStreamAreEqual(t *testing.T) {
	for _, tt := range same {
		t.Run(tt.name, func(t *testing.T) {
			f, err := DecodeResponse(example(t, tt.reply), content.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			var whole, pieces upstream.Collector
			if err := whole.Send(f.Events); err != nil {
				t.Fatal(err)
			}
			r := NewStreamReader(strings.NewReader(sseOf(tt.stream)), content.Limits{})
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
