package e2e

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/echo"
)

// A sentError is an error that a vendor sends.
type sentError struct {
	status int
	header http.Header // rate limit headers
	object string      // the error object
}

// A constant server responds to all requests alike.
type constant struct {
	sentError
	format string
	late   bool // the error comes in the middle of a stream
}

func (c *constant) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for _, h := range []http.Header{c.header, {
		"Request-Id": {"req_vendor"}, "Set-Cookie": {"a=b"}, "Anthropic-Organization-Id": {"org"}, "Trailer": {"X-T"}, "Content-Type": {"application/json"},
	}} {
		maps.Copy(w.Header(), h)
	}
	status, body := c.status, `{"error":`+c.object+`}`
	if c.format == "messages" {
		body = `{"type":"error","error":` + c.object + `,"request_id":"req_vendor"}`
	}
	if c.late {
		w.Header().Set("Content-Type", "text/event-stream")
		for path, begin := range beginnings {
			if strings.HasSuffix(r.URL.Path, path) {
				body = begin + "event: error\ndata: " + body + "\n\n"
			}
		}
		status = 200
	}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}

// week is the headers of a limit that lasts for days.
var week = http.Header{
	"Retry-After": {"302400"}, "X-Should-Retry": {"true"}, "Anthropic-Ratelimit-Unified-7d-Reset": {"1795651200"},
	"Anthropic-Ratelimit-Unified-Status": {"rejected"}, "Anthropic-Priority-Input-Tokens-Limit": {"9"},
}

// messagesErrors are errors of messages.md §6, generateErrors of
// generatecontent.md §7. Clients of the same format receive them unchanged.
var (
	messagesErrors = map[string]sentError{
		"deleted thread":           {404, nil, `{"type":"not_found_error","message":"No such thread.","details":{"error_code":"thread_not_found"}}`},
		"thread error with a list": {400, nil, `{"message":"Not with a thread","type":"invalid_request_error","details":{"error_code":"thread_unsupported_request","unsupported":["a",1.50,null]},"other":true}`},
		"prompt too long":          {400, nil, `{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}`},
		"message of several lines": {400, nil, `{"type":"invalid_request_error","message":"a\n  b\tc   d"}`},
		"id in the message":        {400, nil, `{"type":"invalid_request_error","message":"messages.2.content.0: unexpected tool_use_id toolu_bdrk_01XbYwPq7LmN8RsT3UvW5ZaBc"}`},
		"billing error":            {402, nil, `{"type":"billing_error","message":"Pay first","details":{"error_code":"linked_organization_spend_limit_reached"}}`},
		"permission error":         {403, nil, `{"type":"permission_error","message":"Not billable","details":{"error_code":"user_profile_not_billable"}}`},
		"weekly limit":             {429, week, `{"type":"rate_limit_error","message":"This request would exceed your account's rate limit"}`},
		"spend limit":              {429, nil, `{"type":"rate_limit_error","message":"spent","details":{"error_code":"contract_spend_limit_reached"}}`},
		"internal error":           {500, nil, `{"type":"api_error","message":"Internal server error"}`},
		"customer key error":       {503, http.Header{"Retry-After": {"1.5"}}, `{"type":"api_error","message":"Key store","details":{"error_code":"cmek_key_unreachable"}}`},
		"overload":                 {529, http.Header{"Retry-After-Ms": {"1500"}}, `{"type":"overloaded_error","message":"Overloaded: all of it"}`},
		"unusual status":           {422, nil, `{"type":"invalid_request_error","message":"No"}`},
		"unknown type":             {418, nil, `{"type":"teapot_error","message":"Short and stout"}`},
	}
	generateErrors = map[string]sentError{
		"invalid argument":     {400, nil, `{"code":400,"message":"* GenerateContentRequest.contents: contents is not specified\n","status":"INVALID_ARGUMENT"}`},
		"field violation":      {400, nil, `{"code":400,"message":"x","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":"contents","description":"x"}]}]}`},
		"prompt too long":      {400, nil, `{"code":400,"message":"The input token count (1048577) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}`},
		"unsupported location": {400, nil, `{"code":400,"message":"User location is not supported for the API use.","status":"FAILED_PRECONDITION"}`},
		"credits":              {402, nil, `{"code":402,"message":"Your prepayment credits are depleted.","status":"RESOURCE_EXHAUSTED"}`},
		"permission error":     {403, nil, `{"code":403,"message":"Generative Language API has not been used in project 12 before","status":"PERMISSION_DENIED","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"SERVICE_DISABLED","domain":"googleapis.com","metadata":{"service":"x"}}]}`},
		"unknown model":        {404, nil, `{"code":404,"message":"models/x is not found for API version v1beta","status":"NOT_FOUND"}`},
		"daily quota":          {429, http.Header{"Retry-After": {"3"}}, `{"code":429,"message":"You exceeded your current quota.\n* Quota exceeded for metric: m, limit: 20\nPlease retry in 44.2s.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"GenerateRequestsPerDayPerProjectPerModel"}]},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"44.2s"}]}`},
		"internal error":       {500, nil, `{"code":500,"message":"An internal error has occurred: shard 7","status":"INTERNAL"}`},
		"overload":             {503, nil, `{"code":503,"message":"This model is currently experiencing high demand.","status":"UNAVAILABLE"}`},
		"deadline exceeded":    {504, nil, `{"code":504,"message":"Too slow.","status":"DEADLINE_EXCEEDED"}`},
	}
)

// TestSameFormatErrors checks that clients of a vendor's own format receive its
// errors unchanged on all paths, except for the ids, which are the host's.
func TestSameFormatErrors(t *testing.T) {
	for _, f := range endpoints {
		list, back := messagesErrors, "anthropic"
		if f.name != "messages" {
			list, back = generateErrors, "gemini"
		}
		for name, sent := range list {
			t.Run(f.name+": "+name, func(t *testing.T) {
				for _, late := range []bool{false, true} {
					s := httptest.NewServer(&constant{sent, f.name, late})
					up := adapterNamed(t, back).at(t, s.URL, s.Client())
					h := f.handler(up, upstream.HandlerOptions{Logger: slog.New(slog.DiscardHandler)})
					requests := map[mode]*http.Request{}
					for _, m := range append(f.modes, count) {
						if late && m != sse && m != array {
							continue
						}
						requests[m] = f.request("m", (&vendorResponse{}).request(f), m)
					}
					if !late {
						r := httptest.NewRequest(http.MethodGet, map[string]string{"messages": "/v1/models", "generatecontent": "/v1beta/models"}[f.name], nil)
						r.Header.Set("Anthropic-Version", "2023-06-01")
						requests["models"] = r
					}
					for m, r := range requests {
						w := httptest.NewRecorder()
						h.ServeHTTP(w, r)
						checkSame(t, f, m, &sent, late, w)
					}
					s.Close()
				}
			})
		}
	}
}

func checkSame(t *testing.T, f endpoint, m mode, sent *sentError, late bool, w *httptest.ResponseRecorder) {
	t.Helper()
	doc := w.Body.String()
	switch {
	case late && m == sse:
		// A generateContent stream may send the error twice, in two forms.
		doc = doc[max(strings.LastIndex(doc, `{"type":"error"`), strings.LastIndex(doc, `{"error":`)):]
	case late:
		var all []json.RawMessage
		if err := json.Unmarshal([]byte(doc), &all); err != nil || len(all) == 0 {
			t.Errorf("%s: %v: %s", m, err, doc)
			return
		}
		doc = string(all[len(all)-1])
	case m == array:
		doc = strings.TrimSuffix(strings.TrimPrefix(doc, "["), "]")
	}
	var envelope struct {
		Error   json.RawMessage
		Request string `json:"request_id"`
	}
	if err := json.Unmarshal([]byte(doc), &envelope); err != nil {
		t.Errorf("%s, late %v: %v: %s", m, late, err, w.Body)
		return
	}
	if diff := cmp.Diff(sent.object, string(envelope.Error)); diff != "" {
		t.Errorf("%s, late %v: error (-sent +got):\n%s", m, late, diff)
	}
	if f.name == "messages" && (envelope.Request == "req_vendor" || !late && envelope.Request != w.Header().Get("Request-Id")) {
		t.Errorf("%s: request_id %q, header %q", m, envelope.Request, w.Header().Get("Request-Id"))
	}
	want := make(http.Header)
	if !late {
		maps.Copy(want, sent.header)
	}
	got := w.Header().Clone()
	if id := got.Get("Upstream-Request-Id"); f.name == "messages" && id != "req_vendor" {
		t.Errorf("%s, late %v: the vendor's request id is %q", m, late, id)
	}
	for _, name := range []string{"Content-Type", "Content-Length", "Request-Id", "X-Request-Id", "Upstream-Request-Id", "Connection", "Cache-Control", "X-Accel-Buffering"} {
		got.Del(name)
	}
	if late {
		for name := range sent.header {
			got.Del(name) // headers of the response itself
		}
	} else if w.Code != sent.status {
		t.Errorf("%s: status %d, want %d", m, w.Code, sent.status)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s, late %v: headers (-sent +got):\n%s", m, late, diff)
	}
}

// TestHostKeyRefused checks that a client of the vendor's own format is not
// reported as the cause if the vendor rejects the host's key, and that a Failover does
// not hide it.
func TestHostKeyRefused(t *testing.T) {
	for _, f := range endpoints {
		list, back := map[string]sentError{
			"invalid key":            {401, nil, `{"type":"authentication_error","message":"invalid x-api-key"}`},
			"invalid key by message": {401, nil, `{"type":"invalid_request_error","message":"Who is it?"}`},
			"400 by its type":        {400, nil, `{"type":"authentication_error","message":"No"}`},
			"400 by its message":     {400, nil, `{"type":"invalid_request_error","message":"Incorrect API key provided"}`},
			"403 by its message":     {403, nil, `{"type":"permission_error","message":"Your API key does not have permission to use the specified resource"}`},
		}, "anthropic"
		if f.name != "messages" {
			list, back = map[string]sentError{
				"invalid key":            {400, nil, `{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID"}]}`},
				"invalid key by message": {400, nil, `{"code":400,"message":"API key expired. Please renew the API key.","status":"INVALID_ARGUMENT"}`},
				"missing token":          {401, nil, `{"code":401,"message":"Request had invalid authentication credentials.","status":"UNAUTHENTICATED"}`},
				"leaked key":             {403, nil, `{"code":403,"message":"Your API key was reported as leaked. Please use another API key.","status":"PERMISSION_DENIED"}`},
				"missing key":            {403, nil, `{"code":403,"message":"Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other form of API consumer identity to call this API.","status":"PERMISSION_DENIED"}`},
				"blocked key":            {403, nil, `{"code":403,"message":"Requests to this API are blocked.","status":"PERMISSION_DENIED","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_SERVICE_BLOCKED"}]}`},
				"unsupported token":      {401, nil, `{"code":401,"message":"x","status":"UNAUTHENTICATED","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"ACCESS_TOKEN_TYPE_UNSUPPORTED"}]}`},
			}, "gemini"
		}
		for name, sent := range list {
			t.Run(f.name+": "+name, func(t *testing.T) {
				s := httptest.NewServer(&constant{sent, f.name, false})
				defer s.Close()
				var seen bytes.Buffer
				up := adapterNamed(t, back).at(t, s.URL, s.Client())
				opts := upstream.HandlerOptions{Logger: slog.New(slog.NewTextHandler(&seen, nil))}
				handlers := []http.Handler{f.handler(up, opts), f.handler(upstream.Failover([]upstream.Upstream{up, echo.New()}, nil), opts)}
				var object struct{ Message string }
				if err := json.Unmarshal([]byte(sent.object), &object); err != nil {
					t.Fatal(err)
				}
				for i, h := range handlers {
					for _, m := range append(f.modes, count) {
						seen.Reset()
						w := httptest.NewRecorder()
						h.ServeHTTP(w, f.request("m", (&vendorResponse{}).request(f), m))
						if w.Code != 502 || strings.Contains(w.Body.String(), object.Message) || !strings.Contains(seen.String(), object.Message) {
							t.Errorf("handler %d, %s: %d %s\nlogged %s", i, m, w.Code, w.Body, seen.String())
						}
					}
				}
			})
		}
	}
}

// TestErrorDetailsOfHosts checks how handlers treat details that a host sets in
// its own errors or leaves in a vendor's error that it changes.
func TestErrorDetailsOfHosts(t *testing.T) {
	rates := []upstream.HeaderField{{Name: "retry-after", Value: "9"}, {Name: "X-Ratelimit-Left", Value: "0"}, {Name: "Set-Cookie", Value: "a=b"}, {Name: "Connection", Value: "close"}, {Name: "Request-Id", Value: "x"}}
	for _, tt := range []struct {
		name            string
		err             upstream.Error
		status          int
		want            string
		retry, rateLeft string
	}{
		{"details only", upstream.Error{Code: upstream.CodeNotFound, Text: "No such thread", Details: &content.Extra{Format: messages.Format, JSON: "{\"error_code\":\n\"thread_not_found\"}"}, Header: rates},
			404, `{"type":"not_found_error","message":"No such thread","details":{"error_code":"thread_not_found"}}`, "9", "0"},
		{"of another format", upstream.Error{Code: upstream.CodeNotFound, Details: &content.Extra{Format: generatecontent.Format, JSON: `{"message":"hidden"}`}, Status: 418, Header: rates},
			404, `{"type":"not_found_error","message":"Not found"}`, "9", ""},
		{"not an object", upstream.Error{Code: upstream.CodeNotFound, Details: &content.Extra{Format: messages.Format, JSON: `[1`}},
			404, `{"type":"not_found_error","message":"Not found"}`, "", ""},
		{"changed text", upstream.Error{Code: upstream.CodeOverloaded, Text: "Come back later", Status: 529, Details: &content.Extra{Format: messages.Format, JSON: `{"type":"overloaded_error","message":"acme","details":{"a":1}}`}},
			529, `{"type":"overloaded_error","message":"Come back later","details":{"a":1}}`, "", ""},
		{"changed code", upstream.Error{Code: upstream.CodeRateLimit, Text: "x", RetryAfter: 4e9, Header: rates, Status: 400, Details: &content.Extra{Format: messages.Format, JSON: `{"type":"invalid_request_error","message":"x"}`}},
			429, `{"type":"rate_limit_error","message":"x"}`, "4", "0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := endpointNamed("messages")
			w := httptest.NewRecorder()
			messages.NewHandler(upstream.Func(nil), nil).WriteError(w, f.request("m", "", whole), &tt.err)
			var envelope struct{ Error json.RawMessage }
			if err := json.Unmarshal(w.Body.Bytes(), &envelope); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(envelope.Error)); diff != "" || w.Code != tt.status {
				t.Errorf("status %d, want %d; error (-want +got):\n%s", w.Code, tt.status, diff)
			}
			h := w.Header()
			if h.Get("Retry-After") != tt.retry || h.Get("X-Ratelimit-Left") != tt.rateLeft || h.Get("Set-Cookie") != "" || h.Get("Request-Id") == "x" {
				t.Errorf("headers %v", h)
			}
		})
	}
}

// TestErrorDetailOfHosts checks that a host can set one of the generateContent
// details, which replaces the handler's own.
func TestErrorDetailOfHosts(t *testing.T) {
	const detail = `{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"SPENT","domain":"host.example"}`
	err := &upstream.Error{Code: upstream.CodeRateLimit, Text: "The budget is spent", Details: &content.Extra{Format: generatecontent.Format, JSON: detail}}
	f := endpointNamed("generatecontent")
	w := httptest.NewRecorder()
	generatecontent.NewHandler(upstream.Func(nil), nil).WriteError(w, f.request("m", "", whole), err)
	want := `{"error":{"code":429,"message":"The budget is spent","status":"RESOURCE_EXHAUSTED","details":[` + detail + `]}}`
	if diff := cmp.Diff(want, w.Body.String()); diff != "" || w.Code != http.StatusTooManyRequests {
		t.Errorf("status %d (-want +got):\n%s", w.Code, diff)
	}
}
