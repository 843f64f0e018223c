package generatecontent

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/handler"
	"github.com/polywire/polywire/upstream"
)

// writtenError returns an error as clients read it.
func writtenError(t *testing.T, f *handler.Failure) (status int, envelope map[string]any) {
	t.Helper()
	status, doc := (&dialect{body: 99}).Error("", f)
	m, err := decodeObject(doc)
	if err != nil {
		t.Fatalf("%v\n%s", err, doc)
	}
	if !strings.HasPrefix(string(doc), `{"error":{"code":`+fmt.Sprint(status)+`,`) {
		t.Errorf("the code is not the first member, as a number: %s", doc)
	}
	return status, m["error"].(map[string]any)
}

// TestErrorCodes checks that every code has a matching status, name and message.
func TestErrorCodes(t *testing.T) {
	for code, want := range map[upstream.Code]string{
		upstream.CodeInvalid:         "400 INVALID_ARGUMENT",
		upstream.CodeUnauthenticated: "401 UNAUTHENTICATED",
		upstream.CodeBilling:         "402 RESOURCE_EXHAUSTED",
		upstream.CodePermission:      "403 PERMISSION_DENIED",
		upstream.CodeNotFound:        "404 NOT_FOUND",
		upstream.CodeMethod:          "405 UNIMPLEMENTED",
		upstream.CodeConflict:        "409 ABORTED",
		upstream.CodeTooLarge:        "400 INVALID_ARGUMENT",
		upstream.CodeRateLimit:       "429 RESOURCE_EXHAUSTED",
		upstream.CodeQuota:           "429 RESOURCE_EXHAUSTED",
		upstream.CodeInternal:        "500 INTERNAL",
		upstream.CodeUnavailable:     "503 UNAVAILABLE",
		upstream.CodeTimeout:         "504 DEADLINE_EXCEEDED",
		upstream.CodeOverloaded:      "503 UNAVAILABLE",
		upstream.CodeUnsupported:     "400 FAILED_PRECONDITION",
		upstream.CodeBadGateway:      "502 UNAVAILABLE",
		"unknown code":               "500 INTERNAL",
	} {
		status, e := writtenError(t, handler.FailureOf(&upstream.Error{Code: code, Err: errors.New("secret")}))
		text, _ := e["message"].(string)
		if got := fmt.Sprint(status, " ", e["status"]); got != want || text == "" || strings.Contains(text, "secret") {
			t.Errorf("%s: got %s %q, want %s", code, got, text, want)
		}
		_, e = writtenError(t, handler.FailureOf(&upstream.Error{Code: code, Text: "said"}))
		if e["message"] != "said" && code != "" {
			t.Errorf("%s: the upstream's text became %q", code, e["message"])
		}
	}
}

func TestErrorViolations(t *testing.T) {
	var many content.ViolationList
	for i := range 150 {
		many.Add(content.CodeValue, fmt.Sprintf("contents[%d].role", i), strings.Repeat("x", 300))
	}
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
	_, e := writtenError(t, handler.FailureOf(many.Err()))
	if text := e["message"].(string); len(text) > 17<<10 || !strings.HasSuffix(text, " more\n") {
		t.Errorf("%d bytes that end in %q", len(text), text[len(text)-20:])
	}
	_, e = writtenError(t, handler.FailureOf(&content.Violation{Code: content.CodeSyntax, Text: strings.Repeat("é", 5000)}))
	if text := e["message"].(string); len(text) > 2<<10 || !utf8.ValidString(text) {
		t.Errorf("%d bytes, valid: %v", len(text), utf8.ValidString(text))
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
	_, e = writtenError(t, &handler.Failure{Code: upstream.CodeTooLarge})
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
