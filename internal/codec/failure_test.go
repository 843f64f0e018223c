package codec

import (
	"errors"
	"math"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/upstream"
)

func TestModelUnloaded(t *testing.T) {
	for text, want := range map[string]bool{
		"No models loaded. Please load a model in the developer page or use the `lms load` command.": true,
		"Model is not loaded": true,
		"model 'x' not found": false,
		"":                    false,
	} {
		for _, code := range []upstream.Code{upstream.CodeNotFound, upstream.CodeInvalid} {
			if got := IsModelUnloaded(&upstream.Error{Code: code, Text: text}); got != want {
				t.Errorf("%q: got %v", text, got)
			}
		}
	}
}

func TestStatusCode(t *testing.T) {
	want := map[int]upstream.Code{
		400: upstream.CodeInvalid, 401: upstream.CodeBadGateway, 402: upstream.CodeBadGateway, 403: upstream.CodeBadGateway,
		404: upstream.CodeNotFound, 408: upstream.CodeTimeout, 409: upstream.CodeConflict, 413: upstream.CodeTooLarge,
		422: upstream.CodeInvalid, 429: upstream.CodeRateLimit, 500: upstream.CodeUnavailable, 502: upstream.CodeUnavailable,
		503: upstream.CodeUnavailable, 504: upstream.CodeTimeout, 529: upstream.CodeOverloaded, 599: upstream.CodeUnavailable,
		0: upstream.CodeBadGateway, 200: upstream.CodeBadGateway, 302: upstream.CodeBadGateway, 600: upstream.CodeBadGateway,
	}
	got := make(map[int]upstream.Code)
	for status := range want {
		got[status] = StatusCode(status)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestRetryAfter(t *testing.T) {
	const made = "Sat, 21 Nov 2026 07:00:00 GMT"
	for _, tt := range []struct {
		after, ms, date string
		want            time.Duration
	}{
		{"", "", "", 0}, {"7", "", "", 7 * time.Second}, {" 1.5 ", "", "", 1500 * time.Millisecond}, {"3600", "", "", time.Hour}, {"604800", "", "", 7 * 24 * time.Hour}, {"0.5", "", "", time.Second / 2},
		{"-1", "", "", 0}, {"1e2", "", "", 0}, {"1.2.3", "", "", 0}, {strings.Repeat("0", 20) + "1", "", "", time.Second}, {strings.Repeat("9", 400), "", "", math.MaxInt64}, {"9223372037", "", "", math.MaxInt64}, {"inf", "", "", 0}, {"soon", "", "", 0},

		{"", "1500", "", 1500 * time.Millisecond}, {"7", "0.5", "", time.Millisecond / 2}, {"", "3600000", "", time.Hour},
		{"7", "604800000", "", 7 * 24 * time.Hour}, {"7", "-1", "", 7 * time.Second}, {"7", "soon", "", 7 * time.Second},

		{"Sat, 21 Nov 2026 07:00:30 GMT", "", made, 30 * time.Second}, {" Saturday, 21-Nov-26 07:00:30 GMT", "", made, 30 * time.Second},
		{"Sat, 21 Nov 2026 08:00:00 GMT", "", made, time.Hour}, {"Sat, 28 Nov 2026 07:00:00 GMT", "", made, 7 * 24 * time.Hour},
		{made, "", made, 0}, {"Wed, 21 Oct 2026 07:28:00 GMT", "", made, 0}, {"Fri, 31 Dec 9999 23:59:59 GMT", "", made, math.MaxInt64},
		{"Sat, 21 Nov 2026 07:00:30 GMT", "250", made, 250 * time.Millisecond},
	} {
		h := http.Header{"Retry-After": {tt.after}, "Retry-After-Ms": {tt.ms}, "Date": {tt.date}}
		if got := RetryAfter(h); got != tt.want {
			t.Errorf("%+v: got %v", tt, got)
		}
	}
	if got := RetryAfter(nil); got != 0 {
		t.Errorf("no headers: got %v", got)
	}
}

// TestRetryAfterNow checks dates in responses that have no Date header.
func TestRetryAfterNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for ahead, want := range map[time.Duration]time.Duration{
			90 * time.Second: 90 * time.Second, time.Hour: time.Hour, 7 * 24 * time.Hour: 7 * 24 * time.Hour, 0: 0, -time.Second: 0,
		} {
			h := http.Header{"Retry-After": {time.Now().Add(ahead).UTC().Format(http.TimeFormat)}}
			for _, date := range []string{"", "yesterday"} {
				h.Set("Date", date)
				if got := RetryAfter(h); got != want {
					t.Errorf("%v ahead, made %q: got %v", ahead, date, got)
				}
			}
		}
	})
}

func TestErrorBody(t *testing.T) {
	for _, tt := range []struct {
		name, body string
		want       bool
	}{
		{"a document", `{"a":1}`, true},
		{"nothing", "", false},
		{"a page", "<html>", false},
		{"broken", `{"a":`, false},
		{"too long", `{"a":"` + strings.Repeat("x", 1<<20) + `"}`, false},
	} {
		got := false
		ErrorBody([]byte(tt.body), func(v jsonwire.Value) { got = v.Get("a").Exists() })
		if got != tt.want {
			t.Errorf("%s: taken %v", tt.name, got)
		}
	}
}

func TestBadGateway(t *testing.T) {
	cause := errors.New("why")
	if e := BadGateway(cause); e.Code != upstream.CodeBadGateway || e.Text != "" || !errors.Is(e, cause) {
		t.Errorf("BadGateway = %+v", e)
	}
}

// TestKeyRefused checks how vendors refuse a key, as far as it was recorded or is
// documented, and errors that only resemble that.
func TestKeyRefused(t *testing.T) {
	for _, tt := range []struct {
		status      int
		codes       string
		place, text string
		want        bool
	}{
		{401, "", "", "", true},
		{401, "invalid_request_error", "", "You didn't provide an API key.", true},
		{400, "invalid-argument", "", "Incorrect API key provided. You can obtain an API key from https://console.x.ai.", true},
		{400, "", "", "Incorrect API key provided: xa***ab. You can obtain an API key from https://console.x.ai.", true},
		{400, "INVALID_ARGUMENT API_KEY_INVALID", "", "API key not valid. Please pass a valid API key.", true},
		{400, "INVALID_ARGUMENT", "", "API key expired. Please renew the API key.", true},
		{400, "invalid_request_error", "", "x-api-key header is required: provide an API key", true},
		{400, "invalid_api_key", "", "", true}, {404, "invalid_api_key", "", "", true}, {422, "Invalid-Api-Key", "", "", true},
		{400, "authentication_error", "", "Authentication Fails (no such user)", true},
		{400, "", "", "Authentication Fails, Your api key: ****-key is invalid", true},
		{403, "PERMISSION_DENIED", "", "Your API key was reported as leaked. Please use another API key.", true},
		{403, "PERMISSION_DENIED", "", "Method doesn't allow unregistered callers (callers without established identity).", true},
		{403, "permission_error", "", "Your API key does not have permission to use the specified resource", true},
		{403, "", "", "Access denied due to invalid subscription key or wrong API endpoint.", true},
		{403, "CONSUMER_SUSPENDED", "", "Consumer 'api_key:x' has been suspended.", true},
		{0, "authentication_error", "", "", true}, {0, "", "", "Invalid API Key", true},

		{400, "invalid_request_error", "", "tools.0.custom.input_schema.properties.api_key: Field required", false},
		{400, "invalid_function_parameters", "tools[0].parameters", "Invalid schema for function 'f': 'api_key' is not allowed", false},
		{400, "", "tools[0]", "Missing 'api_key'", false},
		{400, "INVALID_ARGUMENT", "", "* GenerateContentRequest.tools[0].function_declarations[0].name: invalid api_key", false},
		{400, "invalid_request_error", "", "Authentication error while communicating with the MCP server. Please check your authorization token.", false},
		{400, "invalid_request_error", "", "Error while downloading https://example.com/a.png: 401 Unauthorized", false},
		{400, "", "", "The API key parameter of your function is fine. The image is invalid", false},
		{404, "model_not_found", "", "The model `x` does not exist or you do not have access to it.", false},
		{429, "429", "", "temporarily rate-limited upstream. Please retry shortly, or add your own key to accumulate your rate limits", false},
		{429, "", "", "Rate limit of your API key exceeded", false}, {503, "", "", "the API key service is down: invalid", false},
		{403, "permission_error", "", "Not billable", false}, {403, "", "", "User location is not supported", false},
		{400, "", "", "", false}, {0, "overloaded_error", "", "Overloaded", false},
	} {
		if got := KeyRefused(tt.status, strings.Fields(tt.codes), tt.place, tt.text); got != tt.want {
			t.Errorf("%d %s %q: got %v", tt.status, tt.codes, tt.text, got)
		}
	}
}

func TestOverflow(t *testing.T) {
	for _, tt := range []struct {
		text          string
		tokens, limit int64
	}{
		{"prompt is too long: 210000 tokens > 200000 maximum", 210000, 200000},
		{"The input token count (1048577) exceeds the maximum number of tokens allowed (1048576).", 1048577, 1048576},
		{"This model's maximum prompt length is 131072 but the request contains 537812 tokens.", 537812, 131072},
		{"Input tokens exceed the configured limit of 272,000 tokens. Your messages resulted in 300,012 tokens.", 300012, 272000},
		{"claude-3-5-20240620 takes 200000 tokens, these are 210000.", 210000, 200000},
		{"maximum context length is 128000, you requested 130000 (129000 + 1000)", 0, 0},
		{"too long", 0, 0}, {"", 0, 0}, {"8 > 9", 0, 0}, {"99999999999999999999999 > 200000", 0, 0}, {"200000 and 200000", 0, 0},
	} {
		tokens, limit, ok := Overflow(tt.text)
		if tokens != tt.tokens || limit != tt.limit || ok != (tt.limit > 0) {
			t.Errorf("%q: got %d, %d, %v", tt.text, tokens, limit, ok)
		}
	}
	for _, text := range []string{"", "Invalid 'metadata': string too long.", "max_tokens: 9 > 8", "tools.0: too many", "Request exceeds the maximum size"} {
		if IsPromptTooLong(text) {
			t.Errorf("%q is taken for a prompt that is too long", text)
		}
	}
}
