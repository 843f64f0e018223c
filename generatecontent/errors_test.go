package generatecontent

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/handler"
	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/upstream"
)

// writtenError returns an error as clients read it.
func writtenError(t *testing.T, f *handler.Failure) (status int, envelope map[string]any) {
	t.Helper()
	status, doc := (&dialect{}).Error("", f)
	m, err := formattest.DecodeObject(doc)
	if err != nil {
		t.Fatalf("%v\n%s", err, doc)
	}
	if !strings.HasPrefix(string(doc), `{"error":{"code":`+fmt.Sprint(status)+`,`) {
		t.Errorf("the code is not the first member, as a number: %s", doc)
	}
	return status, m["error"].(map[string]any)
}

func TestErrorViolations(t *testing.T) {
	violation := func(field, text string) any {
		v := map[string]any{"description": text}
		if field != "" {
			v["field"] = field
		}
		return v
	}
	for _, tt := range []struct {
		name    string
		err     error
		message string
		want    []any
	}{
		{"of parsing", &content.Violation{Code: content.CodeType, Path: "contents[0]", Text: "Invalid value at 'contents[0]' (x)"},
			"Invalid value at 'contents[0]' (x)", []any{violation("contents[0]", "Invalid value at 'contents[0]' (x)")}},
		{"of a rule", &content.Violation{Code: content.CodeRange, Path: "generation_config.top_p", Text: "bad"},
			"* GenerateContentRequest.generation_config.top_p: bad\n", []any{violation("generation_config.top_p", "bad")}},
		{"invalid schema", &content.Violation{Code: content.CodeSyntax, Path: "tools[0]", Text: "bad"},
			"* GenerateContentRequest.tools[0]: bad\n", []any{violation("tools[0]", "bad")}},
		{"of the whole document", &content.Violation{Code: content.CodeConflict, Text: "bad"}, "* GenerateContentRequest: bad\n", []any{violation("", "bad")}},
		{"both", errors.Join(&content.Violation{Code: content.CodeUnknown, Text: "Unknown\nname"}, &content.Violation{Code: content.CodeMissing, Path: "contents", Text: "b"}),
			"Unknown name\n* GenerateContentRequest.contents: b\n", []any{violation("", "Unknown name"), violation("contents", "b")}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			status, e := writtenError(t, handler.FailureOf(tt.err))
			want := map[string]any{"code": e["code"], "status": "INVALID_ARGUMENT", "message": tt.message,
				"details": []any{map[string]any{"@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": tt.want}}}
			if diff := cmp.Diff(want, e); diff != "" || status != 400 {
				t.Errorf("%d (-want +got):\n%s", status, diff)
			}
		})
	}
}

func TestErrorDetails(t *testing.T) {
	status, e := writtenError(t, &handler.Failure{Code: upstream.CodeUnauthenticated, Detail: handler.DetailInvalidKey})
	want := []any{
		map[string]any{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID", "domain": "googleapis.com",
			"metadata": map[string]any{"service": "generativelanguage.googleapis.com"}},
		map[string]any{"@type": "type.googleapis.com/google.rpc.LocalizedMessage", "locale": "en-US",
			"message": "API key not valid. Please pass a valid API key."}}
	if diff := cmp.Diff(want, e["details"]); diff != "" || status != 400 {
		t.Errorf("%d (-want +got):\n%s", status, diff)
	}
	_, e = writtenError(t, &handler.Failure{Code: upstream.CodeUnauthenticated, Detail: handler.DetailInvalidKey, Text: "it has expired"})
	if e["message"] != "it has expired" {
		t.Errorf("the caller's text became %q", e["message"])
	}
	_, e = writtenError(t, &handler.Failure{Code: upstream.CodeTooLarge, Limit: 99})
	if e["message"] != "Request payload size exceeds the limit: 99 bytes." || e["details"] != nil {
		t.Errorf("%v", e)
	}
	// E08: clients recognize a quota that waiting does not refill.
	_, e = writtenError(t, &handler.Failure{Code: upstream.CodeQuota})
	if got := fmt.Sprint(e["details"]); !strings.Contains(got, "google.rpc.QuotaFailure") || !strings.Contains(got, "PerDay") {
		t.Errorf("a quota: %s", got)
	}
	if _, e = writtenError(t, &handler.Failure{Code: upstream.CodeRateLimit}); e["details"] != nil {
		t.Errorf("a rate: %v", e["details"])
	}
	for d, want := range map[time.Duration]string{31 * time.Second: "31s", 1500 * time.Millisecond: "1.5s", time.Hour: "3600s"} {
		_, e = writtenError(t, &handler.Failure{Code: upstream.CodeQuota, RetryAfter: d})
		if got := fmt.Sprint(e["details"]); !strings.Contains(got, "retryDelay:"+want+"]") {
			t.Errorf("%v: %s", d, got)
		}
	}
}

// A failed holds the fields of an error that clients see.
type failed struct {
	Code  upstream.Code
	Text  string
	After time.Duration
}

// status returns an error envelope. more has the members after the message.
func status(code, name, message, more string) string {
	return `{"error":{"code":` + code + `,"message":"` + message + `","status":"` + name + `"` + more + `}}`
}

func info(reason string) string {
	return `,"details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"` + reason + `","domain":"googleapis.com"}]`
}

func delay(s string) string {
	return `,"details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"` + s + `"}]`
}

const markup = "<html><body>https://secret-host/?key=1</body></html>"

func TestDecodeError(t *testing.T) {
	const tooMuch = "You exceeded your current quota, please check your plan and billing details."
	overloaded := failed{upstream.CodeOverloaded, "", 0}
	host := failed{upstream.CodeBadGateway, "", 0}
	key := failed{upstream.CodeBadGateway, codec.KeyRefusedText, 0}
	file := func(n string) string { return answerFile(t, n+".json") }
	tests := []struct {
		name   string
		status int
		after  string
		body   string
		want   failed
	}{
		{"E01", 400, "", file("E01"), failed{upstream.CodeInvalid, `Invalid JSON payload received. Unknown name "foo": Cannot find field. Invalid JSON payload received. Unknown name "additionalProperties" at 'tools[0].function_declarations[0].parameters': Cannot find field.`, 0}},
		{"E02", 400, "", file("E02"), failed{upstream.CodeInvalid, `Invalid value at 'safety_settings[0].threshold' (type.googleapis.com/google.ai.generativelanguage.v1beta.SafetySetting.HarmBlockThreshold), "SOME"`, 0}},
		{"E03", 400, "", file("E03"), failed{upstream.CodeInvalid, "* GenerateContentRequest.contents: contents is not specified", 0}},
		{"E04", 400, "", file("E04"), key},
		{"E05", 403, "", file("E05"), key},
		{"E06", 404, "", file("E06"), failed{upstream.CodeNotFound, "models/nope is not found for API version v1beta, or is not supported for generateContent. Call ListModels to see the list of available models and their supported methods.", 0}},
		{"E07", 429, "", file("E07"), failed{upstream.CodeRateLimit, tooMuch + " Please retry in 31.2s.", 31 * time.Second}},
		{"E08", 429, "60", file("E08"), failed{upstream.CodeQuota, tooMuch, 0}},
		{"E09", 402, "", file("E09"), host},
		{"E10", 503, "", file("E10"), overloaded},
		{"E11", 500, "", file("E11"), failed{upstream.CodeUnavailable, "", 0}},
		{"E12", 400, "", file("E12"), failed{upstream.CodeInvalid, "Function call `get_weather` in the 2. content block is missing a `thought_signature`.", 0}},
		{"E13", 400, "", file("E13"), failed{upstream.CodeInvalid, "Invalid value at 'contents[0].parts[0]' (oneof), oneof field 'data' is already set. Cannot set 'text'", 0}},
		{"E14", 504, "", file("E14"), failed{upstream.CodeTimeout, "", 0}},
		{"in a list", 429, "", "[" + file("E07") + "]", failed{upstream.CodeRateLimit, tooMuch + " Please retry in 31.2s.", 31 * time.Second}},
		{"HTML", 400, "", markup, host},
		{"HTML, not found", 404, "", markup, host},
		{"wrong URL", 404, "", status("404", "NOT_FOUND", "Requested URL /v1beta/x was not found.", ""), host},
		{"cache", 404, "", status("404", "NOT_FOUND", "CachedContent x not found.", ""), failed{upstream.CodeNotFound, "CachedContent x not found.", 0}},
		{"HTML, too large", 413, "", markup, host},
		{"HTML, wrong method", 405, "", markup, host},
		{"HTML, not implemented", 501, "", markup, failed{upstream.CodeUnavailable, "", 0}},
		{"HTML, gateway", 502, "3", markup, failed{upstream.CodeUnavailable, "", 3 * time.Second}},
		{"empty", 429, "1", "", failed{upstream.CodeRateLimit, "", time.Second}},
		{"an empty list", 400, "", "[]", host},
		{"JSON of another make", 404, "", `{"message":"internal words"}`, host},
		{"error is a string", 400, "", `{"error":"internal words"}`, host},
		{"message of the wrong type", 400, "", `{"error":{"message":[1]}}`, failed{upstream.CodeInvalid, "", 0}},
		{"string code", 400, "", status(`"400"`, "INVALID_ARGUMENT", "x", ""), failed{upstream.CodeInvalid, "x", 0}},
		{"unauthenticated", 401, "", status("401", "UNAUTHENTICATED", "internal words", ""), key},
		{"refused under 400", 400, "", status("400", "UNAUTHENTICATED", "internal words", ""), key},
		{"place", 400, "", status("400", "FAILED_PRECONDITION", "User location is not supported for the API use.", ""), host},
		{"expired key", 400, "", status("400", "INVALID_ARGUMENT", "API key expired.", info("API_KEY_EXPIRED")), key},
		{"another reason", 400, "", status("400", "INVALID_ARGUMENT", "x", info("BAD_THING")), failed{upstream.CodeInvalid, "x", 0}},
		{"conflict", 409, "", status("409", "ABORTED", "internal words", ""), failed{upstream.CodeConflict, "", 0}},
		{"too large", 413, "", status("413", "INVALID_ARGUMENT", "too large", ""), failed{upstream.CodeTooLarge, "too large", 0}},
		{"unprocessable", 422, "", status("422", "INVALID_ARGUMENT", "x", ""), failed{upstream.CodeInvalid, "x", 0}},
		{"cancelled", 499, "", status("499", "CANCELLED", "internal words", ""), failed{upstream.CodeUnavailable, "", 0}},
		{"not implemented", 501, "", status("501", "UNIMPLEMENTED", "internal words", ""), failed{upstream.CodeUnsupported, "", 0}},
		{"request time-out", 408, "", "", failed{upstream.CodeTimeout, "", 0}},
		{"redirect", 302, "", markup, host},
		{"no status", 0, "", "", host},
		{"delay of the words", 429, "9", status("429", "RESOURCE_EXHAUSTED", "Slow. Please retry in 44.2s.", ""), failed{upstream.CodeRateLimit, "Slow. Please retry in 44.2s.", 44200 * time.Millisecond}},
		{"delay in minutes", 429, "", status("429", "RESOURCE_EXHAUSTED", "Please retry in 1m2s", ""), failed{upstream.CodeRateLimit, "Please retry in 1m2s", 62 * time.Second}},
		{"delay in milliseconds", 429, "", status("429", "RESOURCE_EXHAUSTED", "Please retry in 500ms.", ""), failed{upstream.CodeRateLimit, "Please retry in 500ms.", time.Second / 2}},
		{"delay of no time", 429, "9", status("429", "RESOURCE_EXHAUSTED", "Please retry in a while", ""), failed{upstream.CodeRateLimit, "Please retry in a while", 9 * time.Second}},
		{"an hour", 429, "", status("429", "RESOURCE_EXHAUSTED", "x", delay("3600s")), failed{upstream.CodeRateLimit, "x", time.Hour}},
		{"a week", 429, "", status("429", "RESOURCE_EXHAUSTED", "x", delay("604800s")), failed{upstream.CodeRateLimit, "x", 7 * 24 * time.Hour}},
		{"negative", 429, "-5", status("429", "RESOURCE_EXHAUSTED", "x", delay("-3s")), failed{upstream.CodeRateLimit, "x", 0}},
		{"a week in the header", 429, "604800", "", failed{upstream.CodeRateLimit, "", 7 * 24 * time.Hour}},
		{"header is a date", 429, "Fri, 31 Dec 1999 23:59:59 GMT", "", failed{upstream.CodeRateLimit, "", 0}},
		{"digits without end", 429, strings.Repeat("0", 1000) + "1", "", failed{upstream.CodeRateLimit, "", time.Second}},
		{"not where it does not belong", 400, "7", status("400", "INVALID_ARGUMENT", "x", delay("3s")), failed{upstream.CodeInvalid, "x", 0}},
		{"overloaded with a delay", 503, "", status("503", "UNAVAILABLE", "x", delay("3s")), failed{upstream.CodeOverloaded, "", 3 * time.Second}},
		{"a quota of nothing", 429, "5", status("429", "RESOURCE_EXHAUSTED", "Quota exceeded for metric: m, limit: 0, model: x", ""), failed{upstream.CodeQuota, "Quota exceeded for metric: m, limit: 0, model: x", 0}},
		{"a quota of something", 429, "5", status("429", "RESOURCE_EXHAUSTED", "Quota exceeded for metric: m, limit: 05", ""), failed{upstream.CodeRateLimit, "Quota exceeded for metric: m, limit: 05", 5 * time.Second}},
		{"several lines and secrets", 400, "", status("400", "INVALID_ARGUMENT", `a\r\nb https://u:p@a.example/f?key=1`, ""), failed{upstream.CodeInvalid, "a b https://a.example/f", 0}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := http.Header{}
			if tt.after != "" {
				h.Set("Retry-After", tt.after)
			}
			e := DecodeError(tt.status, h, []byte(tt.body))
			if diff := cmp.Diff(tt.want, failed{e.Code, e.Text, e.RetryAfter}); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			cause := errors.Unwrap(e).Error()
			for _, no := range []string{"secret-host", "u:p@", "key=1", "\n"} {
				if strings.Contains(cause, no) {
					t.Errorf("the cause holds %q: %s", no, cause)
				}
			}
		})
	}
	e := DecodeError(400, nil, []byte(status("400", "INVALID_ARGUMENT", strings.Repeat("long ", 10_000), "")))
	if len(e.Text) > 2<<10 || !strings.HasPrefix(e.Text, "long long") {
		t.Errorf("a text of %d bytes", len(e.Text))
	}
	if e := DecodeError(400, nil, []byte(strings.Repeat("[", 10<<20))); e.Code != upstream.CodeBadGateway {
		t.Errorf("deep nesting: %v", e)
	}
}

// Errors in a stream, or with status 200, have their code and name in the envelope.
func TestErrorsInAnswers(t *testing.T) {
	tests := []struct {
		name, body string
		want       failed
	}{
		{"400", status("400", "INVALID_ARGUMENT", "words", ""), failed{upstream.CodeInvalid, "words", 0}},
		{"400, key", status("400", "INVALID_ARGUMENT", "words", info("API_KEY_INVALID")), failed{upstream.CodeBadGateway, codec.KeyRefusedText, 0}},
		{"403", status("403", "PERMISSION_DENIED", "words", ""), failed{upstream.CodeBadGateway, "", 0}},
		{"404", status("404", "NOT_FOUND", "words", ""), failed{upstream.CodeNotFound, "words", 0}},
		{"429", status("429", "RESOURCE_EXHAUSTED", "words", delay("2s")), failed{upstream.CodeRateLimit, "words", 2 * time.Second}},
		{"500", status("500", "INTERNAL", "words", ""), failed{upstream.CodeUnavailable, "", 0}},
		{"503", status("503", "UNAVAILABLE", "words", ""), failed{upstream.CodeOverloaded, "", 0}},
		{"string code", status(`"503"`, "UNAVAILABLE", "words", ""), failed{upstream.CodeOverloaded, "", 0}},
		{"a number of gRPC's", status("14", "UNAVAILABLE", "words", ""), failed{upstream.CodeOverloaded, "", 0}},
		{"the number alone", `{"error":{"code":8,"message":"words"}}`, failed{upstream.CodeRateLimit, "words", 0}},
		{"the name alone", `{"error":{"message":"words","status":"DEADLINE_EXCEEDED"}}`, failed{upstream.CodeTimeout, "", 0}},
		{"the name in lower case", `{"error":{"message":"words","status":"not_found"}}`, failed{upstream.CodeNotFound, "words", 0}},
		{"nothing", `{"error":{}}`, failed{upstream.CodeBadGateway, "", 0}},
		{"nonsense", `{"error":{"code":200,"status":"FINE"}}`, failed{upstream.CodeBadGateway, "", 0}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, inEvents := readEvents(strings.NewReader("data: " + tt.body + "\n\n"))
			_, bare := readEvents(strings.NewReader(streamOf(`{"text":"a"}`) + tt.body))
			_, inArray := readEvents(strings.NewReader("[" + tt.body + "]"))
			_, inReply := DecodeFrame(tt.body, content.Limits{})
			_, inCount := DecodeCount([]byte(tt.body))
			_, _, inList := DecodeModels([]byte(tt.body))
			for where, err := range map[string]error{"events": inEvents, "bare": bare, "array": inArray, "reply": inReply, "count": inCount, "list": inList} {
				var e *upstream.Error
				if !errors.As(err, &e) {
					t.Fatalf("%s: %v", where, err)
				}
				if diff := cmp.Diff(tt.want, failed{e.Code, e.Text, e.RetryAfter}); diff != "" {
					t.Errorf("%s (-want +got):\n%s", where, diff)
				}
			}
		})
	}
}

func TestDecodeReplyErrors(t *testing.T) {
	for name, body := range map[string]string{
		"empty": "", "HTML": markup, "cut": `{"candidates":[{"content":{"parts":[`, "a list": `[{"candidates":[{"finishReason":"STOP"}]}]`,
		"a number": "5", "nothing": "{}", "no candidate": `{"candidates":[],"usageMetadata":{"promptTokenCount":1}}`,
		"feedback that blocks nothing": `{"promptFeedback":{"safetyRatings":[]}}`, "error null": `{"error":null}`,
		"error is a string": `{"error":"x"}`, "a duplicate member": `{"candidates":[{"finishReason":"STOP","finishReason":"STOP"}]}`,
		"too deep": `{"x":` + strings.Repeat("[", 300) + strings.Repeat("]", 300) + `}`, "trailing text": `{"candidates":[{"finishReason":"STOP"}]} x`,
	} {
		f, err := DecodeFrame(body, content.Limits{})
		var e *upstream.Error
		if f != nil || !errors.As(err, &e) || e.Code != upstream.CodeBadGateway || e.Text != "" || e.Err == nil {
			t.Errorf("%s: got %v and %v", name, f, err)
		}
	}
	body := answerFile(t, "A01.json")
	if _, err := DecodeFrame(body, content.Limits{Body: int64(len(body)) - 1}); err == nil {
		t.Error("a reply over the limit was taken")
	}
	f, err := DecodeFrame(strings.Replace(body, `"finishReason":"STOP",`, "", 1), content.Limits{Body: int64(len(body))})
	if err != nil || f.Format == Format {
		t.Fatalf("no reason to stop: %v, %v", f, err)
	}
	if diff := cmp.Diff(losing("stop", content.LossDegraded, "the response has no stop reason; a normal end was assumed"), f.Events[len(f.Events)-1]); diff != "" {
		t.Errorf("no reason to stop (-want +got):\n%s", diff)
	}
}
