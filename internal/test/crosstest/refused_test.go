package crosstest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/document"
	"github.com/polywire/polywire/internal/snapshot"
	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
)

// header returns an edit that sets a header.
func header(name string, values ...string) func(*http.Request) {
	return func(r *http.Request) { r.Header[http.CanonicalHeaderKey(name)] = values }
}

// toPath returns an edit that sets the path and query.
func toPath(path string) func(*http.Request) {
	return func(r *http.Request) { r.URL = newRequest("POST", path, "").URL; r.RequestURI = path }
}

// A refused request is one that the handler of a format refuses.
type refused struct {
	name   string
	edit   func(*http.Request)
	body   string // that of the format if empty
	code   upstream.Code
	text   string // the beginning of the message
	detail string // a part of the details; empty if there are none
}

// Refused requests of one format, with the texts of its vendor.
var refusedMessages = []refused{
	{name: "path", edit: toPath("/v1/nothing"), code: upstream.CodeNotFound, text: "there is nothing at this path; this handler serves POST /v1/messages"},
	{name: "path below", edit: toPath("/v1/messages/"), code: upstream.CodeNotFound, text: "there is nothing at this path"},
	{name: "batches", edit: toPath("/v1/messages/batches"), code: upstream.CodeNotFound,
		text: "batches: this part of the API is not supported; this handler serves POST /v1/messages"},
	{name: "files", edit: toPath("/v1/files/file_1/content"), code: upstream.CodeNotFound, text: "files: "},
	{name: "get", edit: func(r *http.Request) { r.Method = "GET" }, code: upstream.CodeMethod, text: "Method not allowed; use POST"},
	{name: "options", edit: func(r *http.Request) { r.Method = "OPTIONS" }, code: upstream.CodeMethod, text: "Method not allowed; use POST"},
	{name: "post to the models", edit: toPath("/v1/models"), code: upstream.CodeMethod, text: "Method not allowed; use GET"},
	{name: "no version", edit: func(r *http.Request) { r.Header.Del("anthropic-version") }, code: upstream.CodeInvalid, text: "anthropic-version: header is required"},
	{name: "unknown version", edit: header("anthropic-version", "2024-01-01"), code: upstream.CodeInvalid, text: "anthropic-version: "},
	{name: "two versions", edit: header("anthropic-version", "2023-06-01", "2026-10-21"), code: upstream.CodeInvalid, text: "anthropic-version: "},
	{name: "many betas", edit: header("anthropic-beta", strings.Repeat("a, ", 64), "b"), code: upstream.CodeInvalid, text: "anthropic-beta: has 65 values; the maximum is 64"},
	{name: "beta with a control character", edit: header("anthropic-beta", "a,b\x80"), code: upstream.CodeInvalid, text: "anthropic-beta: a value must have only visible ASCII characters"},
	{name: "long beta", edit: header("anthropic-beta", "a,"+strings.Repeat("b", 129)), code: upstream.CodeInvalid, text: "anthropic-beta: a value has 129 bytes; the maximum is 128"},
	{name: "form", edit: header("content-type", "application/x-www-form-urlencoded"), code: upstream.CodeInvalid, text: "content-type: must be application/json"},
	{name: "text", edit: header("content-type", "text/plain"), code: upstream.CodeInvalid, text: "content-type: must be application/json"},
	{name: "invalid content type", edit: header("content-type", "application/json; charset"), code: upstream.CodeInvalid, text: "content-type: "},
	{name: "charset", edit: header("content-type", "application/json; charset=utf-16"), code: upstream.CodeInvalid, text: "content-type: ", detail: "error_code:unsupported_charset"},
	{name: "latin-1", edit: header("content-type", "application/json; charset=iso-8859-1"), body: strings.Replace(smallMessages, "Hi", "é", 1), code: upstream.CodeInvalid,
		text: "content-type: ", detail: "error_code:unsupported_charset"},
	{name: "gzip", edit: header("content-encoding", "gzip"), code: upstream.CodeInvalid, text: "content-encoding: ", detail: "error_code:request_body_encoding_unsupported"},
	{name: "too long", edit: func(r *http.Request) { r.ContentLength = 32<<20 + 1 }, code: upstream.CodeTooLarge, text: "Request exceeds the maximum size of 33554432 bytes"},
	{name: "invalid JSON", body: `{"model":`, code: upstream.CodeInvalid, text: "The request body is not valid JSON: "},
	{name: "empty", body: ` `, code: upstream.CodeInvalid, text: "The request body is not valid JSON: "},
	{name: "deep", body: `{"model":"m","max_tokens":1,"messages":[],"x":` + strings.Repeat("[", 300) + strings.Repeat("]", 300) + `}`, code: upstream.CodeInvalid},
	{name: "duplicate name", body: `{"model":"a","model":"b"}`, code: upstream.CodeInvalid},
	{name: "long model", body: strings.Replace(smallMessages, `"model":"`, `"model":"`+strings.Repeat("m", 1024), 1), code: upstream.CodeInvalid, text: "model: String should have at most 1024 bytes"},
	{name: "wrong type", body: strings.Replace(smallMessages, "64", `"64"`, 1), code: upstream.CodeInvalid, text: "max_tokens: "},
	{name: "stream of wrong type", body: strings.Replace(smallMessages, `{`, `{"stream":"yes",`, 1), code: upstream.CodeInvalid, text: "stream: "},
}

const (
	generatePath = "/v1beta/models/m:generateContent"
	badModel     = "* GenerateContentRequest.model: "
	violated     = "BadRequest" // details
)

var refusedGenerate = []refused{
	{name: "path", edit: toPath("/v1beta/nothing"), code: upstream.CodeNotFound, text: "there is nothing at this path; this handler serves"},
	{name: "embedding", edit: toPath("/v1beta/models/m:embedContent"), code: upstream.CodeNotFound, text: "embedContent: this part of the API is not supported; "},
	{name: "files", edit: toPath("/v1beta/files/f1"), code: upstream.CodeNotFound, text: "files: this part of the API is not supported"},
	{name: "upload", edit: toPath("/upload/v1beta/files"), code: upstream.CodeNotFound, text: "files: "},
	{name: "batches", edit: toPath("/v1beta/batches/b1"), code: upstream.CodeNotFound, text: "batches: "},
	{name: "caches", edit: toPath("/v1beta/cachedContents"), code: upstream.CodeNotFound, text: "cachedContents: "},
	{name: "unknown method", edit: toPath("/v1beta/models/m:dance"), code: upstream.CodeNotFound, text: "there is no method dance"},
	{name: "v9", edit: toPath("/v9/models/m:generateContent"), code: upstream.CodeNotFound, text: "there is no version v9"},
	{name: "get", edit: func(r *http.Request) { r.Method = "GET" }, code: upstream.CodeMethod, text: "This HTTP method is not allowed here. Please use POST."},
	{name: "post to a model", edit: toPath("/v1beta/models/m"), code: upstream.CodeMethod},
	{name: "alt", edit: toPath(generatePath + "?alt=proto"), code: upstream.CodeInvalid, text: "alt: "},
	{name: "alt with an unknown parameter", edit: toPath(generatePath + "?alt=json%3Benum-encoding%3Dx"), code: upstream.CodeInvalid, text: "alt: "},
	{name: "two alts", edit: toPath(generatePath + "?alt=json&$alt=sse"), code: upstream.CodeInvalid, text: "alt and $alt differ"},
	{name: "timeout", edit: header("x-server-timeout", "soon"), code: upstream.CodeInvalid, text: "x-server-timeout: "},
	{name: "invalid timeout", edit: header("x-server-timeout", "NaN"), code: upstream.CodeInvalid, text: "x-server-timeout: "},
	{name: "no model", edit: toPath("/v1beta/models/:generateContent"), code: upstream.CodeInvalid, text: badModel + "unexpected model name format\n", detail: violated},
	{name: "model with path steps", edit: toPath("/v1beta/models/%2e%2e/x:generateContent"), code: upstream.CodeInvalid, text: badModel, detail: violated},
	{name: "long model", edit: toPath("/v1beta/models/" + strings.Repeat("m", 1025) + ":generateContent"), code: upstream.CodeInvalid,
		text: badModel + "a model name must not be longer than 1024 bytes\n", detail: violated},
	{name: "long model in the body", body: strings.Replace(smallGenerate, "{", `{"model":"`+strings.Repeat("m", 1025)+`",`, 1), code: upstream.CodeInvalid,
		text: badModel + "a model name must not be longer than 1024 bytes\n", detail: violated},
	{name: "another model", body: strings.Replace(smallGenerate, "{", `{"model":"models/n",`, 1), code: upstream.CodeInvalid, text: badModel + "the model in the body", detail: violated},
	{name: "form", edit: header("content-type", "application/x-www-form-urlencoded"), code: upstream.CodeInvalid, text: "Content-Type must be application/json"},
	{name: "charset", edit: header("content-type", "application/json; charset=utf-16"), code: upstream.CodeInvalid, text: "The charset"},
	{name: "gzip", edit: header("content-encoding", "gzip"), code: upstream.CodeInvalid, text: "Compressed"},
	{name: "too long", edit: func(r *http.Request) { r.ContentLength = 100<<20 + 1 }, code: upstream.CodeTooLarge, text: "Request payload size exceeds the limit: 104857600 bytes."},
	{name: "broken", body: `{"contents":`, code: upstream.CodeInvalid, text: "Invalid JSON payload received. ", detail: violated},
	{name: "empty", body: ` `, code: upstream.CodeInvalid, text: "* GenerateContentRequest.contents: contents is not specified\n", detail: violated},
	{name: "not an object", body: `[]`, code: upstream.CodeInvalid, text: "Invalid JSON payload received. The request must be an object.", detail: violated},
	{name: "too deep", body: strings.Repeat("[", 300), code: upstream.CodeInvalid, text: "Invalid JSON payload received. ", detail: violated},
	{name: "no contents", body: `{}`, code: upstream.CodeInvalid, text: "* GenerateContentRequest.contents: contents is not specified\n", detail: violated},
	{name: "two members", body: `{"contents":[{"parts":[{"text":"a","inlineData":{}}]}]}`, code: upstream.CodeInvalid, detail: violated,
		text: "Invalid value at 'contents[0].parts[0]' (oneof), oneof field 'data' is already set. Cannot set 'inlineData'"},
}

func (tt *refused) request(s wireFormat) *http.Request {
	body := tt.body
	if body == "" {
		body = s.modes[0].body
	}
	r := newRequest("POST", s.path, body)
	if s.format != messages.Format {
		r.Header.Del("Anthropic-Version") // which marks requests about models as those of Messages
	}
	if tt.edit != nil {
		tt.edit(r)
	}
	return r
}

// TestRefusedRequests checks the status and the body of refused requests. They do not reach
// the upstream, and Match accepts those whose path the handler serves.
func TestRefusedRequests(t *testing.T) {
	eachFormat(t, func(t *testing.T, s wireFormat) {
		for _, tt := range s.refused {
			t.Run(tt.name, func(t *testing.T) {
				m, done := &model{}, 0
				h := s.handler(m, upstream.HandlerOptions{OnDone: func(_ context.Context, r *upstream.Report) {
					done++
					if r.Status != s.failure(tt.code).status || r.Code != tt.code || r.Path == "" || strings.Contains(r.Path, "?") {
						t.Errorf("report: %+v", r)
					}
				}})
				r := tt.request(s)
				a := s.serve(t, h, mode{}, r)
				a.wants(t, s.failure(tt.code), tt.text)
				if !strings.Contains(a.details, tt.detail) || tt.detail == "" && a.details != "" {
					t.Errorf("details %s, want %s", a.details, tt.detail)
				}
				if calls := m.calls.Load(); calls != 0 || done != 1 {
					t.Errorf("called %d times, done %d times", calls, done)
				}
				allow := a.header.Get("Allow")
				if (tt.code == upstream.CodeMethod) != (allow == "GET" || allow == "POST") || allow == r.Method {
					t.Errorf("Allow: %q", allow)
				}
				if h.Match(r) == (tt.code == upstream.CodeNotFound) {
					t.Errorf("Match returned %v", h.Match(r))
				}
			})
		}
	})
}

// TestMatch checks that handlers of both formats can share the paths of models: a header
// distinguishes their clients.
func TestMatch(t *testing.T) {
	for path, want := range map[string]map[string][2]bool{ // without the header anthropic-version, and with it
		"/v1/messages":                           {"messages": {true, true}},
		"/a/messages":                            {"messages": {true, true}},
		"/v1/messages/count_tokens":              {"messages": {true, true}},
		"/v1/models":                             {"messages": {false, true}, "chatcompletions": {true, false}, "responses": {true, false}},
		"/v1/models/a/b":                         {"messages": {false, true}, "chatcompletions": {true, false}, "responses": {true, false}},
		"/v1/models/my/files":                    {"messages": {false, true}, "chatcompletions": {true, false}, "responses": {true, false}},
		"/v1/chat/completions":                   {"chatcompletions": {true, true}},
		"/openai/deployments/m/chat/completions": {"chatcompletions": {true, true}},
		"/v1/responses":                          {"responses": {true, true}},
		"/v1/responses/input_tokens":             {"responses": {true, true}},
		"/v1/responses/compact":                  {"responses": {true, true}},
		"/v1/responses/resp_1":                   {},
		"/v1/xresponses":                         {},
		"/v1/xchat/completions":                  {},
		"/v1beta/models/m:generateContent":       {"generatecontent": {true, true}, "chatcompletions": {true, false}, "responses": {true, false}}, // a model may have this name
		"/v1/models/m:streamGenerateContent":     {"generatecontent": {true, true}, "chatcompletions": {true, false}, "responses": {true, false}},
		"/v1/models?key=k":                       {"messages": {false, true}, "generatecontent": {true, false}},
		"/v1beta/models":                         {"messages": {false, true}, "generatecontent": {true, true}, "chatcompletions": {true, false}, "responses": {true, false}},
		"/v1/files":                              {},
		"/":                                      {},
	} {
		eachFormat(t, func(t *testing.T, s wireFormat) {
			h := s.handler(hello, upstream.HandlerOptions{})
			r := httptest.NewRequest("GET", path, nil)
			got := [2]bool{h.Match(r)}
			r.Header.Set("anthropic-version", "2026-10-21")
			if got[1] = h.Match(r); got != want[s.name] {
				t.Errorf("Match(%s) = %v, want %v", path, got, want[s.name])
			}
		})
	}
}

// TestServedRequests checks unusual requests that the handler accepts.
func TestServedRequests(t *testing.T) {
	query := func(q string) func(*http.Request) {
		return func(r *http.Request) { r.URL.RawQuery = strings.TrimPrefix(r.URL.RawQuery+"&"+q, "&") }
	}
	all := map[string]func(*http.Request){
		"unchanged":      func(*http.Request) {},
		"no type":        func(r *http.Request) { r.Header.Del("Content-Type") },
		"charset":        header("Content-Type", "application/json; charset=UTF-8"),
		"ascii":          header("Content-Type", `Application/JSON;charset="US-ASCII"`),
		"identity":       header("Content-Encoding", "identity"),
		"unknown length": func(r *http.Request) { r.ContentLength = -1 },
		"accept":         header("Accept", "text/html"),
		"different keys without Authenticate": func(r *http.Request) {
			header("X-Api-Key", "a")(r)
			header("X-Goog-Api-Key", "c")(r)
			header("Authorization", "Bearer b")(r)
			query("key=d")(r)
		},
		"beta query":         query("beta=true"),
		"unknown parameters": query("prettyPrint=false&x=1&fields=candidates"),
	}
	eachMode(t, func(t *testing.T, s wireFormat, m mode) {
		for _, edits := range []map[string]func(*http.Request){all, s.served} {
			for name, edit := range edits {
				r := m.request()
				edit(r)
				a := s.serve(t, s.handler(hello, upstream.HandlerOptions{}), m, r)
				if a.word != "" || !strings.Contains(a.body, "Hello") {
					t.Errorf("%s: %d %s", name, a.status, a.body)
				}
			}
		}
	})
}

// TestResponseHeaders checks the headers of a response: those of the vendor that the format
// knows, and losses at the places of the client's document.
func TestResponseHeaders(t *testing.T) {
	up := upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		_ = w.Loss([]content.Loss{
			{Path: "turns.0.parts.0", Severity: content.LossDegraded, Reason: "r"}, {Path: "top_k", Severity: content.LossDropped, Reason: "r"}})
		_ = w.Start(upstream.Start{Header: []upstream.HeaderField{
			{Name: "anthropic-ratelimit-requests-limit", Value: "5"}, {Name: "x-gemini-service-tier", Value: "flex"}, {Name: "x-ratelimit-limit-requests", Value: "6"},
			{Name: "Set-Cookie", Value: "a=b"}, {Name: "Content-Type", Value: "text/html"}}})
		return w.Part(&content.Text{Text: "Hello.", Cache: &content.Cache{}})
	})
	eachMode(t, func(t *testing.T, s wireFormat, m mode) {
		want := http.Header{"Content-Type": {"application/json"}}
		if m.stream {
			want.Set("Cache-Control", "no-cache")
			want.Set("X-Accel-Buffering", "no")
		}
		if m.name == "streamed" {
			want.Set("Content-Type", s.events)
		}
		want.Set(s.own[0], s.own[1])
		want.Set("Polywire-Loss", s.errorText("losses"))
		if !m.stream { // a stream sends its headers with its first event
			want.Set("Polywire-Loss", want.Get("Polywire-Loss")+s.errorText("losses of a whole response"))
		}
		// An empty first part is not counted in neutral paths.
		m.body = strings.Replace(m.body, `"parts":[`, `"parts":[{},`, 1)
		got := s.ask(t, s.handler(up, upstream.HandlerOptions{}), m).header
		got.Del(s.id)
		got.Del("Content-Length")
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// TestUpstreamRequest checks the request that the upstream receives: it keeps the client's
// document.
func TestUpstreamRequest(t *testing.T) {
	eachMode(t, func(t *testing.T, s wireFormat, m mode) {
		if s.name == "generatecontent" {
			m.body = strings.Replace(m.body, "{", `{"model":"models/m",`, 1)
		}
		var got *upstream.Request
		s.ask(t, s.handler(upstream.Func(func(_ context.Context, r *upstream.Request, w *upstream.Writer) error {
			got = r
			return w.Text("a")
		}), upstream.HandlerOptions{}), m)
		wire := snapshot.DocumentOf(got, s.format)
		if got.Model != "m" || got.Stream != m.stream || wire == nil || wire.Body != m.body {
			t.Errorf("model %q, stream %v, wire %v", got.Model, got.Stream, wire)
		}
	})
}

// A carrier is a way to send a key.
type carrier struct {
	name   string
	header []string // "Name: value"
	query  string
	want   int // index of the error, 0 if the key is accepted
}

// marked is a key that must not appear in any output or argument.
const marked = "marked-key-7f3c"

const noKey, badKey, twoKeys = 1, 2, 3

// keyErrors are the errors for keys, by the constants above.
var keyErrors = map[string][4]struct {
	failure
	text string
}{
	"chatcompletions": keysOfOpenAI, "responses": keysOfOpenAI,
	"messages": {{}, {failure{401, "authentication_error", ""}, "x-api-key header is required"}, {failure{401, "authentication_error", ""}, "invalid x-api-key"},
		{failure{401, "authentication_error", ""}, "authorization and x-api-key hold different keys; send one"}},
	"generatecontent": {{}, {failure{403, "PERMISSION_DENIED", ""}, "Method doesn't allow unregistered callers"},
		{failure{400, "INVALID_ARGUMENT", ""}, "API key not valid. Please pass a valid API key."},
		{failure{400, "INVALID_ARGUMENT", ""}, "x-goog-api-key, key and Authorization hold different API keys"}},
}

// carriers are the ways to send a key to both formats, with KEY for the format's header.
var carriers = []carrier{
	{"bearer", []string{"Authorization: Bearer " + marked}, "", 0},
	{"bearer in lower case", []string{"Authorization: bearer " + marked}, "", 0},
	{"bearer in upper case", []string{"Authorization: BEARER " + marked}, "", 0},
	{"bearer with spaces", []string{"Authorization:   Bearer    " + marked + "  "}, "", 0},
	{"header", []string{"KEY: " + marked}, "", 0},
	{"spaces around", []string{"KEY:    " + marked + " "}, "", 0},
	{"same key in both", []string{"KEY: " + marked, "authorization: Bearer " + marked}, "", 0},
	{"same key twice", []string{"KEY: " + marked, "KEY: " + marked}, "", 0},
	{"one is empty", []string{"KEY:", "authorization: Bearer " + marked}, "", 0},
	{"the other is empty", []string{"KEY: " + marked, "authorization: Bearer"}, "", 0},
	{"basic ignored", []string{"authorization: Basic " + marked, "KEY: " + marked}, "", 0},
	{"none", nil, "", noKey},
	{"empty", []string{"KEY:", "authorization: Bearer "}, "", noKey},
	{"basic", []string{"Authorization: Basic " + marked}, "", noKey},
	{"bare", []string{"Authorization: " + marked}, "", noKey},
	{"scheme and key in one", []string{"Authorization: Bearer" + marked}, "", noKey},
	{"tab", []string{"Authorization: Bearer\t" + marked}, "", noKey},
	{"another header", []string{"OTHER: " + marked, "x_api_key: " + marked}, "", noKey},
	{"cookie", []string{"Cookie: KEY=" + marked}, "", noKey},
	{"wrong", []string{"KEY: " + marked + "x"}, "", badKey},
	{"shorter", []string{"KEY: " + marked[:len(marked)-1]}, "", badKey},
	{"other case", []string{"KEY: " + strings.ToUpper(marked)}, "", badKey},
	{"space within", []string{"KEY: " + marked + " " + marked}, "", badKey},
	{"comma", []string{"KEY: " + marked + "," + marked}, "", badKey},
	{"quoted", []string{`KEY: "` + marked + `"`}, "", badKey},
	{"scheme in the header", []string{"KEY: Bearer " + marked}, "", badKey},
	{"two schemes", []string{"authorization: Bearer Bearer " + marked}, "", badKey},
	{"two that differ", []string{"KEY: " + marked, "authorization: Bearer other"}, "", twoKeys},
	{"two that differ, the other way", []string{"KEY: other", "authorization: Bearer " + marked}, "", twoKeys},
	{"two good ones that differ", []string{"KEY: " + marked, "authorization: Bearer another"}, "", twoKeys},
	{"two lines that differ", []string{"KEY: " + marked, "KEY: other"}, "", twoKeys},
	{"two bearers that differ", []string{"authorization: Bearer " + marked, "authorization: Bearer other"}, "", twoKeys},
	{"two wrong ones that differ", []string{"KEY: one", "authorization: Bearer other"}, "", twoKeys},
}

// queries are the ways to send a key in the query, which only generateContent has.
var queries = []carrier{
	{"query", nil, "key=" + marked, 0},
	{"token in the query", nil, "access_token=" + marked, 0},
	{"all equal", []string{"KEY: " + marked, "Authorization: Bearer " + marked}, "key=" + marked, 0},
	{"empty in the query", []string{"KEY:"}, "key=", noKey},
	{"wrong in the query", nil, "key=" + marked[:4], badKey},
	{"conflict with the query", []string{"KEY: " + marked}, "key=other", twoKeys},
	{"twice in the query", nil, "key=other&key=" + marked, twoKeys},
}

// TestKeys sends keys in every way over a connection. If the key is invalid, the body never
// arrives, and the handler must not wait for it. Only Authenticate gets the key.
func TestKeys(t *testing.T) {
	eachFormat(t, func(t *testing.T, s wireFormat) {
		list := carriers
		if s.queryKey {
			list = append(list[:len(list):len(list)], queries...)
		}
		for _, tt := range list {
			for _, path := range s.paths() {
				m := s.modes[0]
				if path == s.count {
					m = mode{path: path, body: m.body}
				}
				t.Run(tt.name+" "+m.path, func(t *testing.T) { s.checkKey(t, tt, m) })
			}
		}
	})
}

func (s wireFormat) checkKey(t *testing.T, tt carrier, m mode) {
	var seen spy
	o, done := reporting()
	o.Authenticate = upstream.Keys("another", marked)
	o.Logger = slog.New(slog.NewJSONHandler(&seen, &slog.HandlerOptions{Level: slog.LevelDebug}))
	o.OnLoss = func(c context.Context, ls []content.Loss) { seen.see(c, ls) }
	c := dial(t, s.onLoopback(t, &seen, o, startHTTP1))
	query := tt.query
	if !s.queryKey {
		query = "key=" + marked // is not a way to send one
	}
	head := strings.Join(append(tt.header, fmt.Sprint("Content-Length: ", len(m.body))), "\r\n")
	head = strings.NewReplacer("KEY", s.key, "OTHER", strings.Join(s.wrongs, ": "+marked+"\r\n")).Replace(head)
	m.path += "?" + query
	c.write(t, m.head(head))
	if tt.want == 0 {
		c.write(t, m.body)
	} else if err := c.CloseWrite(); err != nil { // otherwise the server waits for the body
		t.Error(err)
	}
	a := c.answer(t, s, m)
	r := await(t, "report", done)
	if f := keyErrors[s.name][tt.want]; tt.want == 0 {
		if a.status != 200 && m.name == "whole" || r.Code == upstream.CodeUnauthenticated {
			t.Errorf("%d %s", a.status, a.body)
		}
	} else {
		a.wants(t, f.failure, f.text)
		if strings.Contains(a.details, "reason:API_KEY_INVALID") != (s.keyDetail && tt.want != noKey) {
			t.Errorf("details: %s", a.details)
		}
		if r.Status != f.status || r.Code != upstream.CodeUnauthenticated || seen.calls > 0 {
			t.Errorf("report %+v, %d calls", r, seen.calls)
		}
		c.closed(t)
	}
	seen.see(r, a.body, a.header)
	for e := r.Err; e != nil; e = errors.Unwrap(e) {
		seen.see(e.Error())
	}
	if got := strings.ToLower(seen.String()); strings.Contains(got, marked[:10]) {
		t.Errorf("output contains the key: %s", got)
	}
}

// A spy is an upstream that records all values that it and the hooks get, including
// unexported fields.
type spy struct {
	bytes.Buffer
	calls int
}

func (s *spy) Generate(_ context.Context, r *upstream.Request, w *upstream.Writer) error {
	s.calls++
	s.see(r)
	_ = w.Loss([]content.Loss{{Path: "top_k", Severity: content.LossHint}})
	return w.Text("Hello.")
}

func (s *spy) CountTokens(_ context.Context, r *upstream.Request) (upstream.TokenCount, error) {
	s.calls++
	s.see(r)
	return upstream.TokenCount{Tokens: 1}, nil
}

func (s *spy) see(values ...any) {
	for _, v := range values {
		if _, ok := v.(context.Context); !ok { // the context of the server refers to the whole server
			s.walk(reflect.ValueOf(v), map[uintptr]bool{})
		}
	}
}

// walk records every string that is reachable from v.
func (s *spy) walk(v reflect.Value, been map[uintptr]bool) {
	switch v.Kind() {
	case reflect.String:
		fmt.Fprintln(s, v.String())
	case reflect.Pointer:
		if !v.IsNil() && !been[v.Pointer()] {
			been[v.Pointer()] = true
			s.walk(v.Elem(), been)
		}
	case reflect.Interface:
		if !v.IsNil() {
			s.walk(v.Elem(), been)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			s.walk(v.Field(i), been)
		}
	case reflect.Slice, reflect.Array:
		if v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8 {
			fmt.Fprintf(s, "%s\n", v.Bytes())
			return
		}
		for i := range v.Len() {
			s.walk(v.Index(i), been)
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			s.walk(it.Key(), been)
			s.walk(it.Value(), been)
		}
	}
}

// TestSpy checks that the spy finds keys.
func TestSpy(t *testing.T) {
	var s spy
	r := &upstream.Request{Wire: &document.Document{Body: marked}, Header: []upstream.HeaderField{{Value: marked}}}
	s.see(r)
	if !strings.Contains(s.String(), marked) {
		t.Errorf("found %q", s.String())
	}
	s = spy{}
	s.see(http.Header{"X": {marked}})
	if !strings.Contains(s.String(), marked) {
		t.Errorf("found %q", s.String())
	}
}

// TestKeyFirst checks that the handler validates only the path and the method before the
// key, and does not read the body.
func TestKeyFirst(t *testing.T) {
	eachFormat(t, func(t *testing.T, s wireFormat) {
		budget := &upstream.Budget{Requests: 1}
		if !budget.Enter() {
			t.Fatal("the budget rejects the first request")
		}
		o := upstream.HandlerOptions{Authenticate: upstream.Keys(marked), Budget: budget}
		for _, tt := range s.refused {
			r := tt.request(s)
			body := &formattest.Counter{Reader: r.Body}
			r.Body = io.NopCloser(body)
			want := keyErrors[s.name][noKey].failure
			if tt.code == upstream.CodeNotFound || tt.code == upstream.CodeMethod {
				want = s.failure(tt.code)
			}
			a := s.serve(t, s.handler(hello, o), mode{}, r)
			a.wants(t, want, "")
			if body.N != 0 {
				t.Errorf("%s: %d bytes of the body were read", tt.name, body.N)
			}
		}
	})
}

// TestAuthenticate checks the errors of Authenticate, and that its context reaches the
// upstream and the hooks.
func TestAuthenticate(t *testing.T) {
	type tenant struct{}
	fails := func(err error) func(context.Context, *http.Request, string) (context.Context, error) {
		return func(context.Context, *http.Request, string) (context.Context, error) { return nil, err }
	}
	for _, tt := range []struct {
		name string
		auth func(context.Context, *http.Request, string) (context.Context, error)
		code upstream.Code
		text string
	}{
		{"permission", fails(&upstream.Error{Code: upstream.CodePermission, Text: "not yours"}), upstream.CodePermission, "not yours"},
		{"own text", fails(&upstream.Error{Code: upstream.CodeUnauthenticated, Text: "your key has expired"}), upstream.CodeUnauthenticated, "your key has expired"},
		{"broken", fails(errors.New("secret")), upstream.CodeInternal, ""},
		{"panic", func(context.Context, *http.Request, string) (context.Context, error) { panic("secret") }, upstream.CodeInternal, ""},
		{"context", func(c context.Context, _ *http.Request, key string) (context.Context, error) {
			return context.WithValue(c, tenant{}, key), nil
		}, "", ""},
	} {
		eachMode(t, func(t *testing.T, s wireFormat, m mode) {
			var mu sync.Mutex
			var seen []any
			see := func(c context.Context) {
				mu.Lock()
				defer mu.Unlock()
				seen = append(seen, c.Value(tenant{}))
			}
			h := s.handler(upstream.Func(func(c context.Context, _ *upstream.Request, w *upstream.Writer) error {
				see(c)
				return w.Loss([]content.Loss{{Path: "top_k", Severity: content.LossDropped}})
			}), upstream.HandlerOptions{
				Authenticate: tt.auth,
				OnLoss:       func(c context.Context, _ []content.Loss) { see(c) },
				OnDone:       func(c context.Context, _ *upstream.Report) { see(c) },
			})
			r := m.request()
			r.Header.Set("Authorization", "Bearer k")
			a := s.serve(t, h, m, r)
			if tt.code != "" {
				want := s.failure(tt.code)
				if tt.code == upstream.CodeUnauthenticated {
					want = keyErrors[s.name][badKey].failure
				}
				a.wants(t, want, tt.text)
				if strings.Contains(a.body, "secret") {
					t.Errorf("%s: %s", tt.name, a.body)
				}
				return
			}
			if diff := cmp.Diff([]any{"k", "k", "k"}, seen); diff != "" || a.status != 200 {
				t.Errorf("%d; contexts of Generate, OnLoss, OnDone:\n%s", a.status, diff)
			}
		})
	}
}
