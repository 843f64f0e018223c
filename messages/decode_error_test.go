package messages

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/formattest"
	"github.com/polywire/polywire/upstream"
)

func errorJSON(kind, message string) string {
	return `{"type":"error","error":{"type":"` + kind + `","message":"` + message + `"},"request_id":"req_9"}`
}

// failed is the part of an error that goes out.
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
		after  string // in seconds, or "7/1500" with milliseconds too
		body   string
		want   failed
	}{
		{"milliseconds", 429, "/1500", "", failed{upstream.CodeRateLimit, "", 1500 * time.Millisecond}},
		{"milliseconds count more", 529, "7/1500", "", failed{upstream.CodeOverloaded, "", 1500 * time.Millisecond}},
		{"milliseconds of another kind", 429, "7/soon", "", failed{upstream.CodeRateLimit, "", 7 * time.Second}},
		{"invalid", 400, "", errorJSON("invalid_request_error", "messages.1: Field required"), failed{upstream.CodeInvalid, "messages.1: Field required", 0}},
		{"example", 400, "", example(t, "E26.json"), failed{upstream.CodeInvalid, "messages.1.content.0.tool_result.tool_use_id: Field required", 0}},
		{"example with a code", 400, "", example(t, "E27.json"), failed{upstream.CodeInvalid, `messages.2.content.0.tool.name: tool "sql" is not defined here`, 0}},
		{"key", 401, "", errorJSON("authentication_error", "invalid x-api-key"), failed{upstream.CodeBadGateway, "", 0}},
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
		{"HTML", 400, "", html, failed{upstream.CodeInvalid, "", 0}},
		{"empty", 429, "1", "", failed{upstream.CodeRateLimit, "", time.Second}},
		{"JSON of another make", 404, "", `{"message":"internal words"}`, failed{upstream.CodeNotFound, "", 0}},
		{"error is a string", 400, "", `{"error":"internal words"}`, failed{upstream.CodeInvalid, "", 0}},
		{"no message", 400, "", `{"error":{"type":"invalid_request_error"}}`, failed{upstream.CodeInvalid, "", 0}},
		{"message of the wrong type", 400, "", `{"error":{"message":[1]}}`, failed{upstream.CodeInvalid, "", 0}},
		{"key trouble under another status", 400, "", errorJSON("authentication_error", "x"), failed{upstream.CodeBadGateway, "", 0}},
		{"redirect", 302, "", html, failed{upstream.CodeBadGateway, "", 0}},
		{"no status", 0, "", "", failed{upstream.CodeBadGateway, "", 0}},
		{"several lines", 400, "", errorJSON("invalid_request_error", `a\r\nb\tc`), failed{upstream.CodeInvalid, "a b c", 0}},
		{"secrets", 400, "", errorJSON("invalid_request_error", `got sk-ant-api03-abcdefgh from https://u:p@a.example/f?sig=1`), failed{upstream.CodeInvalid, "got [removed] from https://a.example/f", 0}},
		{"half a surrogate pair", 400, "", errorJSON("invalid_request_error", `a\ud800`), failed{upstream.CodeInvalid, "a\uFFFD", 0}},
		{"an hour", 429, "3600", "", failed{upstream.CodeRateLimit, "", time.Hour}},
		{"a week", 429, "604800", "", failed{upstream.CodeRateLimit, "", 7 * 24 * time.Hour}},
		{"half a second", 429, "0.5", "", failed{upstream.CodeRateLimit, "", time.Second / 2}},
		{"a date", 429, "Fri, 31 Dec 1999 23:59:59 GMT", "", failed{upstream.CodeRateLimit, "", 0}},
		{"negative", 429, "-5", "", failed{upstream.CodeRateLimit, "", 0}},
		{"not finite", 429, "inf", "", failed{upstream.CodeRateLimit, "", 0}},
		{"digits without end", 429, strings.Repeat("0", 1000) + "1", "", failed{upstream.CodeRateLimit, "", time.Second}},
		{"not where it does not belong", 400, "7", "", failed{upstream.CodeInvalid, "", 0}},
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
	if e := DecodeError(400, nil, []byte(strings.Repeat("[", 10<<20))); e.Code != upstream.CodeInvalid {
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
		{"authentication_error", failed{upstream.CodeBadGateway, "", 0}},
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
			_, inReply := DecodeResponse(data, content.Limits{})
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

func TestDecodeReplyErrors(t *testing.T) {
	tests := []struct{ name, body string }{
		{"empty", ""},
		{"HTML", "<html>"},
		{"cut", `{"type":"message","content":[`},
		{"no object", `[1]`},
		{"no message", `{"input_tokens":5}`},
		{"error without details", `{"type":"error"}`},
		{"a block that is no object", `{"content":[5]}`},
		{"a duplicate member", `{"content":[],"content":[]}`},
		{"too deep", `{"content":` + strings.Repeat("[", 300) + strings.Repeat("]", 300) + `}`},
		{"trailing text", `{"content":[]} x`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, err := DecodeResponse(tt.body, content.Limits{})
			var e *upstream.Error
			if f != nil || !errors.As(err, &e) || e.Code != upstream.CodeBadGateway || e.Text != "" || e.Err == nil {
				t.Errorf("got %v and %v", f, err)
			}
		})
	}
	body := example(t, "E02.json")
	if _, err := DecodeResponse(body, content.Limits{Body: int64(len(body)) - 1}); err == nil {
		t.Error("a reply over the limit was taken")
	}
	if _, err := DecodeResponse(body, content.Limits{Body: int64(len(body))}); err != nil {
		t.Error(err)
	}
}

func TestDecodeReplyDeviations(t *testing.T) {
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
		{"half a surrogate pair", `{"content":[{"type":"text","text":"h\ud800i"}],"stop_reason":"end_turn","usage":{}}`,
			outcome{Text: "h\uFFFDi", Stop: content.StopEnd, Losses: 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, err := DecodeResponse(tt.body, content.Limits{})
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
