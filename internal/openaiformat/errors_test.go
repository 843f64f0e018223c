package openaiformat

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/upstream"
)

const quota = upstream.CodeQuota

// errorResponses are error responses of known servers.
var errorResponses = []struct {
	name   string
	status int
	header http.Header
	body   string
	code   upstream.Code
	text   string
	wait   time.Duration
}{
	{"parameter", 400, nil, `{"error":{"message":"Unsupported parameter: 'max_tokens'.","type":"invalid_request_error","param":"max_tokens","code":"unsupported_parameter"}}`, upstream.CodeInvalid, "Unsupported parameter: 'max_tokens'.", 0},
	{"invalid key", 401, nil, `{"error":{"message":"Incorrect API key provided: sk-x***y.","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}`, upstream.CodeBadGateway, codec.KeyRefusedText, 0},
	{"forbidden key", 403, nil, `{"error":{"message":"No.","type":"permission_error"}}`, upstream.CodeBadGateway, "", 0},
	{"unknown model", 404, nil, `{"error":{"message":"The model 'gpt-9' does not exist.","type":"invalid_request_error","code":"model_not_found"}}`, upstream.CodeNotFound, "The model 'gpt-9' does not exist.", 0},
	{"model of another project", 403, nil, `{"error":{"message":"No access to gpt-9.","code":"model_not_found"}}`, upstream.CodeNotFound, "No access to gpt-9.", 0},
	{"no credit", 429, http.Header{"Retry-After": {"7"}}, `{"error":{"message":"Your credit balance is used up.","type":"insufficient_quota","code":"credit_balance_exhausted"}}`, quota, "Your credit balance is used up.", 0},
	{"older code for it", 429, nil, `{"error":{"message":"Quota.","type":"insufficient_quota","code":null}}`, quota, "Quota.", 0},
	{"payment required", 402, nil, `{"error":{"message":"Insufficient Balance","code":"x"}}`, quota, "", 0},
	{"key, status 400", 400, nil, `{"code":"invalid-argument","error":"Incorrect API key provided. You can obtain an API key from https://console.x.ai."}`, upstream.CodeBadGateway, codec.KeyRefusedText, 0},
	{"key, in text only", 400, nil, `{"error":"Incorrect API key provided: xa***ab."}`, upstream.CodeBadGateway, codec.KeyRefusedText, 0},
	{"no access", 403, nil, `{"error":{"message":"Access denied due to invalid subscription key or wrong API endpoint.","code":"403"}}`, upstream.CodeBadGateway, codec.KeyRefusedText, 0},
	{"tool about keys", 400, nil, `{"error":{"message":"Invalid schema for function 'f': 'api_key' is required","param":"tools[0].parameters","code":"invalid_function_parameters"}}`, upstream.CodeInvalid, "Invalid schema for function 'f': 'api_key' is required", 0},
	{"weekly limit", 429, http.Header{"Retry-After": {"604800"}}, `{"error":{"message":"Weekly limit."}}`, upstream.CodeRateLimit, "Weekly limit.", 7 * 24 * time.Hour},
	{"limit of two hours in text", 429, nil, `{"error":{"message":"Please try again in 2h1m0s."}}`, upstream.CodeRateLimit, "Please try again in 2h1m0s.", 121 * time.Minute},
	{"rate limit", 429, nil, `{"error":{"message":"Rate limit reached. Please try again in 1.2s.","type":"tokens","code":"rate_limit_exceeded"}}`, upstream.CodeRateLimit, "Rate limit reached. Please try again in 1.2s.", 1200 * time.Millisecond},
	{"rate limit with header", 429, http.Header{"Retry-After": {"7"}}, `{"error":{"message":"Slow.","type":"requests"}}`, upstream.CodeRateLimit, "Slow.", 7 * time.Second},
	{"retry-after-ms", 429, http.Header{"Retry-After": {"7"}, "Retry-After-Ms": {"250"}}, `{"error":{"message":"Slow.","type":"requests"}}`, upstream.CodeRateLimit, "Slow.", 250 * time.Millisecond},
	{"date", 503, http.Header{"Date": {"Sat, 21 Nov 2026 07:00:00 GMT"}, "Retry-After": {"Sat, 21 Nov 2026 07:00:30 GMT"}}, ``, upstream.CodeUnavailable, "", 30 * time.Second},
	{"final rate limit", 429, http.Header{"X-Should-Retry": {"false"}, "Retry-After": {"7"}}, `{"error":{"message":"Slow.","type":"requests"}}`, quota, "Slow.", 0},
	{"overload", 503, nil, `{"error":{"message":"The model is overloaded.","type":"service_unavailable_error","code":"server_is_overloaded"}}`, upstream.CodeOverloaded, "", 0},
	{"final overload", 503, http.Header{"X-Should-Retry": {"false"}, "Retry-After": {"7"}}, `{"error":{"message":"No.","type":"service_unavailable_error"}}`, upstream.CodeBadGateway, "", 0},
	{"overload by type", 500, http.Header{"Retry-After": {"7"}}, `{"error":{"message":"No.","type":"service_unavailable_error"}}`, upstream.CodeOverloaded, "", 7 * time.Second},
	{"no capacity", 498, nil, `{"error":{"message":"No.","code":"capacity_exceeded"}}`, upstream.CodeOverloaded, "", 0},
	{"too early", 425, nil, ``, upstream.CodeOverloaded, "", 0},
	{"conflict", 409, nil, `{"error":{"message":"Again."}}`, upstream.CodeConflict, "", 0},
	{"timeout", 408, nil, `{"error":{"message":"Again."}}`, upstream.CodeTimeout, "", 0},
	{"proxy timeout", 524, nil, `<html>`, upstream.CodeUnavailable, "", 0},
	{"invalid path", 404, nil, `{"error":{"message":"Invalid URL (POST /v1/v1/chat/completions)","type":"invalid_request_error","param":null,"code":null}}`, upstream.CodeBadGateway, "", 0},
	{"invalid path, Groq", 404, nil, `{"error":{"message":"Unknown request URL: POST /v1/chat/completions. Please check the URL for typos.","type":"invalid_request_error","code":"unknown_url"}}`, upstream.CodeBadGateway, "", 0},
	{"invalid path, Kong", 404, nil, `{"message":"no Route matched with those values"}`, upstream.CodeBadGateway, "", 0},
	{"invalid path, text", 404, nil, `404 page not found`, upstream.CodeBadGateway, "", 0},
	{"not a chat model", 404, nil, `{"error":{"message":"This is not a chat model and thus not supported in the v1/chat/completions endpoint.","type":"invalid_request_error","param":"model","code":null}}`, upstream.CodeNotFound, "This is not a chat model and thus not supported in the v1/chat/completions endpoint.", 0},
	{"proxy", 400, nil, `<html>nginx</html>`, upstream.CodeBadGateway, "", 0},
	{"redirect", 307, nil, `{"detail":"moved"}`, upstream.CodeBadGateway, "", 0},
	{"context exceeded", 400, nil, `{"error":{"message":"This model's maximum context length is 8 tokens.","type":"invalid_request_error","code":"context_length_exceeded"}}`, upstream.CodeInvalid, "This model's maximum context length is 8 tokens.", 0},
	{"context exceeded, llama.cpp", 500, nil, `{"error":{"code":500,"message":"the request exceeds the available context size, n_ctx","type":"server_error"}}`, upstream.CodeInvalid, "the request exceeds the available context size, n_ctx", 0},
	{"filter", 400, nil, `{"error":{"message":"The response was filtered.","type":null,"param":"prompt","code":"content_filter","status":400}}`, upstream.CodeInvalid, "The response was filtered.", 0},
	{"failed tool call", 400, nil, `{"error":{"message":"Failed to call a function.","type":"invalid_request_error","code":"tool_use_failed","failed_generation":"x"}}`, upstream.CodeInternal, "Failed to call a function.", 0},
	{"failed JSON", 400, nil, `{"error":{"message":"Failed to generate JSON.","type":"invalid_request_error","code":"json_validate_failed","failed_generation":""}}`, upstream.CodeInternal, "Failed to generate JSON.", 0},
	{"failed parsing", 400, nil, `{"error":{"message":"Parsing failed.","type":"invalid_request_error","code":"output_parse_failed"}}`, upstream.CodeInternal, "Parsing failed.", 0},
	{"failed tool call without a code", 400, nil, `{"error":{"message":"Tool call validation failed: parameters for tool f did not match schema: errors: [missing properties: 'name']","type":"invalid_request_error"}}`,
		upstream.CodeInternal, "Tool call validation failed: parameters for tool f did not match schema: errors: [missing properties: 'name']", 0},
	{"schema of a tool", 400, nil, `{"error":{"message":"tools.0.function.parameters did not match schema","type":"invalid_request_error"}}`, upstream.CodeInvalid, "tools.0.function.parameters did not match schema", 0},
	{"vLLM", 400, nil, `{"error":{"message":"max_tokens must be at least 1, got 0.","type":"BadRequestError","param":"max_tokens","code":400}}`, upstream.CodeInvalid, "max_tokens must be at least 1, got 0.", 0},
	{"old vLLM", 404, nil, `{"object":"error","message":"The model x does not exist.","type":"NotFoundError","param":null,"code":404}`, upstream.CodeNotFound, "The model x does not exist.", 0},
	{"Ollama", 404, nil, `{"error":"model 'x' not found"}`, upstream.CodeNotFound, "model 'x' not found", 0},
	{"FastAPI", 422, nil, `{"detail":[{"loc":["body","messages"],"msg":"Field required","type":"missing"}]}`, upstream.CodeInvalid, "messages: Field required", 0},
	{"FastAPI's other form", 404, nil, `{"detail":"Not Found"}`, upstream.CodeBadGateway, "", 0},
	{"OpenRouter", 429, nil, `{"error":{"code":429,"message":"Provider returned error","metadata":{"provider_name":"Acme","raw":"slow down"}},"user_id":"u"}`, upstream.CodeRateLimit, "Provider returned error: slow down", 0},
	{"list", 400, nil, `[{"error":{"code":400,"message":"Bad.","status":"INVALID_ARGUMENT"}}]`, upstream.CodeInvalid, "Bad.", 0},
	{"list under another name", 400, nil, `{"errors":[{"message":"Bad.","code":400}]}`, upstream.CodeInvalid, "Bad.", 0},
	{"list of texts", 404, nil, `{"errors":["No model x."]}`, upstream.CodeNotFound, "No model x.", 0},
	{"quota by text", 429, nil, `{"error":{"message":"You exceeded your current quota, please check your plan and billing details."}}`, quota, "You exceeded your current quota, please check your plan and billing details.", 0},
	{"quota text with Retry-After", 429, http.Header{"Retry-After": {"7"}}, `{"error":{"message":"Insufficient quota."}}`, upstream.CodeRateLimit, "Insufficient quota.", 7 * time.Second},
	{"quota text with retry time", 429, nil, `[{"error":{"code":429,"message":"Quota exceeded. Check your billing details. Please retry in 34.5s."}}]`, upstream.CodeRateLimit, "Quota exceeded. Check your billing details. Please retry in 34.5s.", 0},
	{"quota per minute", 429, nil, `{"error":{"message":"Quota exceeded for requests per minute."}}`, upstream.CodeRateLimit, "Quota exceeded for requests per minute.", 0},
	{"larger than rate limit", 413, nil, `{"error":{"message":"Too large on tokens per minute: Limit 6, Requested 7.","type":"tokens","code":"rate_limit_exceeded"}}`, upstream.CodeTooLarge, "Too large on tokens per minute: Limit 6, Requested 7.", 0},
	{"too fast", 429, http.Header{"Retry-After": {"3"}}, `{"error":{"message":"Slow down.","type":"requests","code":"slow_down"}}`, upstream.CodeRateLimit, "Slow down.", 3 * time.Second},
	{"older overload", 503, nil, `{"error":{"message":"Slow down.","type":"server_error","code":"slow_down"}}`, upstream.CodeOverloaded, "", 0},
	{"input too long", 400, nil, `{"error":{"message":"Input is too long for requested model."}}`, upstream.CodeInvalid, "Input is too long for requested model.", 0},
	{"string too long", 400, nil, `{"error":{"message":"Invalid 'metadata': string too long.","code":"string_above_max_length"}}`, upstream.CodeInvalid, "Invalid 'metadata': string too long.", 0},
	{"flagged prompt", 403, nil, `{"error":{"code":403,"message":"The input was flagged","metadata":{"reasons":["violence"],"provider_name":"Acme"}}}`, upstream.CodeInvalid, "The input was flagged", 0},
	{"country", 403, nil, `{"error":{"message":"Not in your country.","type":"request_forbidden","code":"unsupported_country_region_territory"}}`, upstream.CodeBadGateway, "", 0},
	{"HTML page", 502, nil, `<html>secret</html>`, upstream.CodeUnavailable, "", 0},
	{"nothing", 500, nil, ``, upstream.CodeUnavailable, "", 0},
	{"organization in text", 429, nil, `{"error":{"message":"Rate limit reached for gpt-4o in organization org-H9rAbcDefGhiJklMnopQrstU on tokens per min","type":"tokens","code":"rate_limit_exceeded"}}`,
		upstream.CodeRateLimit, "Rate limit reached for gpt-4o in organization [removed] on tokens per min", 0},
	{"key in text", 400, nil, `{"error":{"message":"The key sk-abcdefghijklmnopqrstuvwxyz0123456789 is odd."}}`, upstream.CodeInvalid, "The key [removed] is odd.", 0},
}

func TestDecodeError(t *testing.T) {
	for _, test := range errorResponses {
		t.Run(test.name, func(t *testing.T) {
			e := DecodeError("openai-chat", test.status, test.header, []byte(test.body))
			got := upstream.Error{Code: e.Code, Text: e.Text, RetryAfter: e.RetryAfter, KeyRefused: e.KeyRefused}
			want := upstream.Error{Code: test.code, Text: test.text, RetryAfter: test.wait, KeyRefused: test.text == codec.KeyRefusedText}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			var f *VendorError
			if !errors.As(e, &f) || strings.Contains(f.Error(), "secret") || strings.Contains(f.Error(), "sk-a") {
				t.Errorf("the cause: %v", e.Err)
			}
		})
	}
}
