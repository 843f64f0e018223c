package e2e

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/anthropic"
	"github.com/polywire/polywire/upstream/gemini"
	"github.com/polywire/polywire/upstream/openai"
)

// Keys without a known prefix or form.
const (
	shapelessKey    = "host+key/for=tests"
	transportKey    = "from the transport of the host"
	shapelessHeader = "tenant+secret/of=tests"
)

// keyForms are the encodings in which a server may quote a value.
func keyForms(v string) map[string]string {
	var unicode strings.Builder
	for _, r := range v {
		fmt.Fprintf(&unicode, `\u%04x`, r)
	}
	return map[string]string{
		"plain": v, "in capitals": strings.ToUpper(v), "for URLs": url.QueryEscape(v), "escaped twice": unicode.String(),
		"in base64": base64.StdEncoding.EncodeToString([]byte(v)), "in base64 with its scheme": base64.RawURLEncoding.EncodeToString([]byte("Bearer " + v)),
		"in hexadecimal": hex.EncodeToString([]byte(v)),
	}
}

// An adding transport adds a key that adapters do not know, like an OAuth
// transport.
type adding struct{ to http.RoundTripper }

func (a adding) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("X-Gateway-Token", transportKey)
	return a.to.RoundTrip(r)
}

// quoting is a server that quotes a text everywhere in its error, in the form
// of any vendor.
type quoting struct {
	quote string // quoted text
	how   string // name in failures
}

// failures are the ways in which a server can fail, and the status of each. If
// the status is 200, the error is the body or in the stream.
var failures = map[string]int{"400": 400, "401": 401, "403": 403, "404": 404, "429": 429, "503": 503, "whole": 200, "stream": 200, "late": 200, "broken": 200}

// beginnings are the first events of streams, by path.
var beginnings = map[string]string{
	"/messages": "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"type\":\"message\",\"role\":\"assistant\",\"content\":[],\"model\":\"m\",\"stop_reason\":null,\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}}\n\n" +
		"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n" +
		"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Hi\"}}\n\n",
	"/chat/completions": "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"}}]}\n\n",
	"/responses": "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"id\":\"r\",\"model\":\"m\"}}\n\n" +
		"event: response.output_item.added\ndata: {\"type\":\"response.output_item.added\",\"output_index\":0,\"item\":{\"type\":\"message\",\"id\":\"i\",\"role\":\"assistant\",\"content\":[]}}\n\n" +
		"event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"output_index\":0,\"item_id\":\"i\",\"delta\":\"Hi\"}\n\n",
	":streamGenerateContent": "data: {\"candidates\":[{\"index\":0,\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"Hi\"}]}}]}\n\n",
}

func (q *quoting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	message, _ := json.Marshal("it is about " + q.quote + ", and what is long is cut: " + strings.Repeat("many words ", 190) + q.quote)
	id, _ := json.Marshal(q.quote)
	// All members of the vendors' error envelopes in one.
	envelope := `{"type":"error","error":{"type":"invalid_request_error","message":` + string(message) + `,"code":400,"status":"INVALID_ARGUMENT","param":` + string(id) +
		`,"metadata":{"raw":` + string(message) + `},"innererror":{"code":` + string(id) + `},"details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":` + string(id) + `,"metadata":{"message":` + string(message) + `}}]},"request_id":` + string(id) + `}`
	if strings.HasSuffix(r.URL.Path, "/messages") || strings.HasSuffix(r.URL.Path, "count_tokens") {
		envelope = `{"type":"error","error":{"type":"invalid_request_error","message":` + string(message) + `,"details":{"error_code":` + string(id) + `,"x":[` + string(message) + `]}},"request_id":` + string(id) + `}`
	}
	for _, name := range []string{"Request-Id", "X-Request-Id", "Anthropic-Ratelimit-Said", "X-Ratelimit-Said", "X-Gemini-Service-Tier", "Retry-After", "Server-Timing"} {
		w.Header().Set(name, q.quote)
	}
	w.Header().Set("Content-Type", "application/json")
	streams := strings.Contains(r.Header.Get("Accept"), "event-stream")
	if streams && failures[q.how] == 200 && q.how != "whole" {
		w.Header().Set("Content-Type", "text/event-stream")
	}
	w.WriteHeader(failures[q.how])
	body := envelope
	if q.how == "broken" {
		body = `{"type":` + string(id) + `,"content":"` + q.quote
	}
	if streams && failures[q.how] == 200 && q.how != "whole" {
		if q.how == "late" {
			for path, begin := range beginnings {
				if strings.HasSuffix(r.URL.Path, path) {
					_, _ = io.WriteString(w, begin)
				}
			}
		}
		body = "event: error\ndata: " + body + "\n\n"
	}
	_, _ = io.WriteString(w, body)
}

// TestHostKeysAreRemoved checks that no key sent with a request reaches the
// client or the log, wherever and in whichever encoding the server quotes it.
func TestHostKeysAreRemoved(t *testing.T) {
	keys := func(context.Context) (string, error) { return shapelessKey, nil }
	headers := http.Header{"X-Portkey-Api-Key": {shapelessHeader}}
	for name, start := range map[string]func(base string, c *http.Client) (upstream.Upstream, error){
		"anthropic": func(base string, c *http.Client) (upstream.Upstream, error) {
			return anthropic.New(&anthropic.Options{BaseURL: base, Key: shapelessKey, Header: headers, HTTPClient: c})
		},
		"anthropic, bearer token": func(base string, c *http.Client) (upstream.Upstream, error) {
			return anthropic.New(&anthropic.Options{BaseURL: base, KeyFunc: keys, Bearer: true, Header: headers, HTTPClient: c})
		},
		"gemini": func(base string, c *http.Client) (upstream.Upstream, error) {
			return gemini.New(&gemini.Options{BaseURL: base, KeyFunc: keys, Header: headers, HTTPClient: c})
		},
		"gemini, key in the URL": func(base string, c *http.Client) (upstream.Upstream, error) {
			return gemini.New(&gemini.Options{BaseURL: base + "?key=" + url.QueryEscape(shapelessKey), Header: headers, HTTPClient: c})
		},
		"chat": func(base string, c *http.Client) (upstream.Upstream, error) {
			return openai.New(&openai.Options{BaseURL: base, Key: shapelessKey, Header: headers, HTTPClient: c})
		},
		"chat, extra header": func(base string, c *http.Client) (upstream.Upstream, error) {
			return openai.New(&openai.Options{BaseURL: base, Key: shapelessKey, KeyHeader: "X-Who", Header: headers, HTTPClient: c})
		},
		"responses": func(base string, c *http.Client) (upstream.Upstream, error) {
			return openai.NewResponses(&openai.Options{BaseURL: base, KeyFunc: keys, Header: headers, HTTPClient: c})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var vendor quoting
			s := httptest.NewServer(&vendor)
			defer s.Close()
			c := s.Client()
			c.Transport = adding{c.Transport}
			up, err := start(s.URL, c)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range endpoints {
				var seen bytes.Buffer
				h := f.handler(up, upstream.HandlerOptions{
					Logger: slog.New(slog.NewJSONHandler(&seen, &slog.HandlerOptions{Level: slog.LevelDebug})),
					OnDone: func(_ context.Context, r *upstream.Report) { fmt.Fprintf(&seen, "%v %+v\n", r.Err, r.Stop) },
				})
				list := httptest.NewRequest(http.MethodGet, map[string]string{"messages": "/v1/models", "generatecontent": "/v1beta/models"}[f.name], nil)
				list.Header.Set("Anthropic-Version", "2023-06-01")
				for _, key := range []string{shapelessKey, shapelessHeader, transportKey} {
					for form, quote := range keyForms(key) {
						for how := range failures {
							if (form != "plain" || key != shapelessKey) && how != "400" && how != "late" {
								continue
							}
							vendor.quote, vendor.how = quote, how
							requests := []*http.Request{list.Clone(t.Context())}
							for _, m := range append(f.modes, count) {
								if form != "plain" && m != whole && m != sse {
									continue
								}
								requests = append(requests, f.request("m", (&vendorResponse{}).request(f), m))
							}
							for _, r := range requests {
								seen.Reset()
								w := httptest.NewRecorder()
								h.ServeHTTP(w, r)
								all := fmt.Sprint(w.Header(), w.Body.String(), seen.String())
								for _, bare := range []string{all, strings.ReplaceAll(all, `\\`, `\`), strings.ReplaceAll(all, `\/`, `/`)} {
									low := strings.ToLower(bare)
									for _, v := range keyForms(key) {
										v = strings.ToLower(v)
										if strings.Contains(low, v) || strings.Contains(low, v[:len(v)-4]) {
											t.Fatalf("%s, %s, %q %s: %q is not removed: %s", f.name, r.URL.Path, key, form+", "+how, v, all)
										}
									}
								}
							}
						}
					}
				}
			}
		})
	}
}
