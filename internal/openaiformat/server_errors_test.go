package openaiformat

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/handler"
	"github.com/polywire/polywire/upstream"
)

const chat, responses content.Format = "openai-chat", "openai-responses"

func TestServerErrors(t *testing.T) {
	vendor := func(status int, text string) error { return DecodeError(chat, status, nil, []byte(text)) }
	changed := func(status int, body string, change func(*upstream.Error)) error {
		e := DecodeError(chat, status, nil, []byte(body))
		change(e)
		return e
	}
	const unknownModel = `{"code":"model_not_found","message":"The model ` + "`gpt-9`" + ` does not exist or you do not have access to it.","param":null,"type":"invalid_request_error"}`
	tests := []struct {
		name   string
		err    error
		status int
		want   string
	}{
		{"missing member", &content.Violation{Code: content.CodeMissing, Path: "messages[0].role", Text: "is missing"}, 400,
			`{"message":"Missing required parameter: 'messages[0].role'.","type":"invalid_request_error","param":"messages[0].role","code":"missing_required_parameter"}`},
		{"wrong type", &content.Violation{Code: content.CodeType, Path: "n", Text: "expected an integer, but got a string instead."}, 400,
			`{"message":"Invalid type for 'n': expected an integer, but got a string instead.","type":"invalid_request_error","param":"n","code":"invalid_type"}`},
		{"complete text", &content.Violation{Code: content.CodeValue, Path: "messages[0].role",
			Text: "Unsupported value: 'messages[0].role' does not support 'system' with this model.", Vendor: "unsupported_value"}, 400,
			`{"message":"Unsupported value: 'messages[0].role' does not support 'system' with this model.","type":"invalid_request_error","param":"messages[0].role","code":"unsupported_value"}`},
		{"several violations", content.JoinViolations([]*content.Violation{
			{Code: content.CodeUnknown, Path: "x", Text: "unknown"}, {Code: content.CodeOrder, Path: "messages[1]", Text: "misplaced."}}, 3), 400,
			`{"message":"Unknown parameter: 'x'.\nInvalid 'messages[1]': misplaced.\nand 3 more","type":"invalid_request_error","param":"x","code":"unknown_parameter"}`},
		{"whole document", &content.Violation{Code: content.CodeSyntax, Text: "We could not parse the JSON body of your request."}, 400,
			`{"message":"We could not parse the JSON body of your request.","type":"invalid_request_error","param":null,"code":null}`},
		{"long prompt", &upstream.Error{Code: upstream.CodeInvalid, Text: "prompt is too long: 300 tokens > 200 maximum"}, 400,
			`{"message":"prompt is too long: 300 tokens > 200 maximum","type":"invalid_request_error","param":null,"code":"context_length_exceeded"}`},
		{"not supported", &upstream.Error{Code: upstream.CodeUnsupported, Text: "no audio"}, 400,
			`{"message":"no audio","type":"invalid_request_error","param":null,"code":"unsupported_parameter"}`},
		{"no key", &handler.Failure{Code: upstream.CodeUnauthenticated, Detail: handler.DetailMissingKey}, 401,
			`{"message":"You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY).","type":"invalid_request_error","param":null,"code":null}`},
		{"wrong key", &handler.Failure{Code: upstream.CodeUnauthenticated, Detail: handler.DetailInvalidKey}, 401,
			`{"message":"Incorrect API key provided.","type":"invalid_request_error","param":null,"code":"invalid_api_key"}`},
		{"payment", &upstream.Error{Code: upstream.CodeBilling}, 402,
			`{"message":"A payment is required.","type":"insufficient_quota","param":null,"code":"billing_hard_limit_reached"}`},
		{"permission", &upstream.Error{Code: upstream.CodePermission, Text: "no"}, 403,
			`{"message":"no","type":"invalid_request_error","param":null,"code":"insufficient_permissions"}`},
		{"unknown model", &upstream.Error{Code: upstream.CodeNotFound, Text: "no model x"}, 404,
			`{"message":"no model x","type":"invalid_request_error","param":null,"code":"model_not_found"}`},
		{"method", &handler.Failure{Code: upstream.CodeMethod, Allow: "POST"}, 405,
			`{"message":"This HTTP method is not allowed here. Please use POST.","type":"invalid_request_error","param":null,"code":"method_not_supported"}`},
		{"conflict", &upstream.Error{Code: upstream.CodeConflict, Text: "c"}, 409,
			`{"message":"c","type":"invalid_request_error","param":null,"code":"conflict"}`},
		{"large body", &handler.Failure{Code: upstream.CodeTooLarge, Limit: 100}, 413,
			`{"message":"The request exceeds the maximum size of 100 bytes.","type":"invalid_request_error","param":null,"code":"request_too_large"}`},
		{"rate limit", &upstream.Error{Code: upstream.CodeRateLimit, Text: "slow"}, 429,
			`{"message":"slow","type":"rate_limit_error","param":null,"code":"rate_limit_exceeded"}`},
		{"quota", &upstream.Error{Code: upstream.CodeQuota, Text: "spent"}, 429,
			`{"message":"spent","type":"insufficient_quota","param":null,"code":"insufficient_quota"}`},
		{"internal", errors.New("secret"), 500,
			`{"message":"The server had an error while processing your request.","type":"server_error","param":null,"code":null}`},
		{"bad gateway", &upstream.Error{Code: upstream.CodeBadGateway}, 502,
			`{"message":"The upstream returned an invalid or incomplete response.","type":"server_error","param":null,"code":"bad_gateway"}`},
		{"unavailable", &upstream.Error{Code: upstream.CodeUnavailable}, 503,
			`{"message":"The service is unavailable. Please try again later.","type":"server_error","param":null,"code":"service_unavailable"}`},
		{"overloaded", &upstream.Error{Code: upstream.CodeOverloaded}, 503,
			`{"message":"The server is overloaded. Please try again later.","type":"service_unavailable_error","param":null,"code":"server_is_overloaded"}`},
		{"deadline", context.DeadlineExceeded, 504,
			`{"message":"The request took too long.","type":"server_error","param":null,"code":"timeout"}`},

		{"vendor", vendor(404, `{"error":`+unknownModel+`}`), 404, unknownModel},
		{"vendor with a member of its own", vendor(400, `{"error":{"message":"Tool choice is required, but model did not call a tool","type":"invalid_request_error","code":"tool_use_failed","failed_generation":"maybe"}}`), 400,
			`{"message":"Tool choice is required, but model did not call a tool","type":"invalid_request_error","code":"tool_use_failed","failed_generation":"maybe"}`},
		{"vendor with a number as code", vendor(429, `{"error":{"message":"Provider returned error","code":429}}`), 429,
			`{"message":"Provider returned error","code":429}`},
		{"vendor with another text", changed(404, `{"error":`+unknownModel+`}`, func(e *upstream.Error) { e.Text = "no such model" }), 404,
			`{"message":"no such model","type":"invalid_request_error","param":null,"code":"model_not_found"}`},
		{"vendor with another code", changed(429, `{"error":{"message":"m","type":"tokens","param":null,"code":"rate_limit_exceeded"}}`,
			func(e *upstream.Error) { e.Code, e.Text = upstream.CodeOverloaded, "" }), 503,
			`{"message":"The server is overloaded. Please try again later.","type":"service_unavailable_error","param":null,"code":"server_is_overloaded"}`},
		{"event of the other format", &upstream.Error{Code: upstream.CodeInvalid, Text: "Your input exceeds the context window of this model.",
			Details: &content.Extra{Format: responses, JSON: `{"type":"error","sequence_number":4,"code":"context_length_exceeded","message":"Your input exceeds the context window of this model.","param":"input"}`}}, 400,
			`{"message":"Your input exceeds the context window of this model.","type":"invalid_request_error","param":"input","code":"context_length_exceeded"}`},
		{"failed response of the other format", &upstream.Error{Code: upstream.CodeUnavailable,
			Details: &content.Extra{Format: responses, JSON: `{"code":"server_error","message":"Sorry."}`}}, 503,
			`{"message":"Sorry.","type":"server_error","param":null,"code":"server_error"}`},
		{"another vendor", &upstream.Error{Code: upstream.CodeNotFound, Text: "x", Status: 404,
			Details: &content.Extra{Format: "messages", JSON: `{"type":"not_found_error","message":"x"}`}}, 404,
			`{"message":"x","type":"invalid_request_error","param":null,"code":"model_not_found"}`},
		{"details of the host", &upstream.Error{Code: upstream.CodeInvalid, Text: "x",
			Details: &content.Extra{Format: chat, JSON: `{"code":"previous_response_not_found","param":"store"}`}}, 400,
			`{"message":"x","type":"invalid_request_error","param":"store","code":"previous_response_not_found"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := NewServerError(chat, handler.FailureOf(tt.err))
			if diff := cmp.Diff(tt.want, string(e.AppendObject(nil))); diff != "" {
				t.Errorf("error object (-want +got):\n%s", diff)
			}
			if e.Status != tt.status {
				t.Errorf("status = %d, want %d", e.Status, tt.status)
			}
		})
	}
}

// The fields of an error are set, too, if its object is the vendor's: events of Responses have
// the fields only.
func TestServerErrorFields(t *testing.T) {
	err := DecodeError(chat, 400, nil, []byte(`{"error":{"message":"This model's maximum context length is 5 tokens.","type":"invalid_request_error","param":"messages","code":"x"}}`))
	got := NewServerError(responses, handler.FailureOf(err))
	want := ServerError{Status: 400, Message: "This model's maximum context length is 5 tokens.", Type: "invalid_request_error", Param: "messages", Code: "context_length_exceeded"}
	got.vendor, got.rest = "", ""
	if got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestKeys(t *testing.T) {
	r := &http.Request{Header: http.Header{"Authorization": {"Bearer a", "Basic b"}, "Api-Key": {"c"}}}
	if diff := cmp.Diff([]string{"c", "a"}, Headers{}.Keys(r)); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
}

func TestModels(t *testing.T) {
	list := []upstream.Model{
		{ID: "a", Created: time.Unix(1700000000, 0)},
		{ID: "o/b", Extra: &content.Extra{Format: chat, JSON: `{"owned_by":"me","id":"z","shutdown_date":null}`}},
		{ID: "c", Extra: &content.Extra{Format: "messages", JSON: `{"x":1}`}},
	}
	w, err := writeModels(chat, list)
	const want = `{"object":"list","data":[{"id":"a","object":"model","created":1700000000,"owned_by":"system"},` +
		`{"id":"o/b","object":"model","created":0,"owned_by":"me","shutdown_date":null},` +
		`{"id":"c","object":"model","created":0,"owned_by":"system"}]}`
	if err != nil || w.Text() != want {
		t.Errorf("list: %v\ngot  %s\nwant %s", err, w.Text(), want)
	}
	w, err = writeModelOf(responses, list, "o/b")
	if want := `{"id":"o/b","object":"model","created":0,"owned_by":"me","shutdown_date":null}`; err != nil || w.Text() != want {
		t.Errorf("model: %v\ngot  %s\nwant %s", err, w.Text(), want)
	}
	_, err = writeModelOf(chat, list, "d")
	e := NewServerError(chat, handler.FailureOf(err))
	if e.Status != 404 || e.Code != "model_not_found" || e.Message != "The model 'd' does not exist or you do not have access to it." {
		t.Errorf("unknown model: %+v", e)
	}
}
