package anthropic_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/internal/test/leak"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream/anthropic"
)

func TestMain(m *testing.M) { os.Exit(leak.Main(m)) }

// seen is the last request that the vendor received.
type seen struct {
	Path, Query, Body, Key, Version string
	Beta                            []string
	Cookie, Trace                   string
}

// vendor starts a server that responds to each request with the same text, and
// returns a client for it. The seen holds the last request.
func vendor(t *testing.T, kind, answer string, o anthropic.Options) (*anthropic.Client, *seen) {
	t.Helper()
	got := new(seen)
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		*got = seen{r.URL.Path, r.URL.RawQuery, string(body), r.Header.Get("X-Api-Key"), r.Header.Get("Anthropic-Version"),
			r.Header.Values("Anthropic-Beta"), r.Header.Get("Cookie"), r.Header.Get("X-Trace")}
		w.Header().Set("Content-Type", kind)
		w.Header().Set("Anthropic-Ratelimit-Tokens-Remaining", "7")
		w.Header().Set("X-Internal", "secret")
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(ts.Close)
	o.BaseURL, o.HTTPClient = ts.URL, ts.Client()
	c, err := anthropic.New(&o)
	if err != nil {
		t.Fatal(err)
	}
	return c, got
}

// ask sends a body through a handler to the client and returns the response.
func ask(t *testing.T, c *anthropic.Client, path, body string, header http.Header) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("Anthropic-Version", "2023-06-01")
	r.Header.Set("Content-Type", "application/json")
	for name, values := range header {
		r.Header[name] = values
	}
	w := httptest.NewRecorder()
	messages.NewHandler(c, nil).ServeHTTP(w, r)
	return w
}

const asked = `{"stream": true, "model":"claude-x","max_tokens":100,"x_new":{"b":1,"a":2},
 "messages":[{"role":"user","content":"hi"}]}`

const stream = `event: message_start
data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-y","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":3,"output_tokens":1},"x":1}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hel"},"x":[ ]}

event: x_event
data: {"type":"x_event","z":0}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":5}}

event: message_stop
data: {"type":"message_stop"}

`

// TestVerbatim checks that only the name of the model changes between a handler
// and a client of one format, and that of the client's headers only the version
// and the betas are sent.
func TestVerbatim(t *testing.T) {
	c, got := vendor(t, "text/event-stream", stream, anthropic.Options{
		Key:       "host-key",
		MapModel:  func(string) string { return "claude-\"y\"" },
		AllowBeta: func(b string) bool { return b != "dropped" },
	})
	w := ask(t, c, "/v1/messages?beta=true", asked, http.Header{
		"Anthropic-Beta": {"one,dropped", "two"}, "X-Api-Key": {"client-key"}, "Cookie": {"a=b"}, "X-Trace": {"1"},
	})
	want := seen{"/v1/messages", "beta=true", strings.Replace(asked, `"claude-x"`, `"claude-\"y\""`, 1),
		"host-key", "2023-06-01", []string{"one,two"}, "", ""}
	if diff := cmp.Diff(want, *got); diff != "" {
		t.Errorf("sent (-want +got):\n%s", diff)
	}
	_, rest, _ := strings.Cut(stream, "\n\n")
	begin, answered, _ := strings.Cut(w.Body.String(), "\n\n")
	if diff := cmp.Diff(rest, answered); diff != "" {
		t.Errorf("answered (-want +got):\n%s", diff)
	}
	if !strings.Contains(begin, `"model":"claude-x"`) || !strings.Contains(begin, `"x":1`) {
		t.Errorf("agents drop their thoughts if the model has another name than they asked for: %s", begin)
	}
	if w.Header().Get("Anthropic-Ratelimit-Tokens-Remaining") != "7" || w.Header().Get("X-Internal") != "" {
		t.Errorf("headers: %v", w.Header())
	}
}

// TestVerbatimStream checks that a stream has the vendor's bytes if the client
// requested the model by its name, even if the response has another name.
func TestVerbatimStream(t *testing.T) {
	c, _ := vendor(t, "text/event-stream", stream, anthropic.Options{})
	if diff := cmp.Diff(stream, ask(t, c, "/v1/messages", asked, nil).Body.String()); diff != "" {
		t.Errorf("answered (-want +got):\n%s", diff)
	}
}

const reply = `{"id":"msg_1","type":"message","role":"assistant","model":"claude-y","content":[{"type":"text","text":"Hi","x":1}],
 "stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":3,"output_tokens":1},"z":{"b":1}}`

func TestVerbatimReply(t *testing.T) {
	const body = `{"model":"claude-x","max_tokens":100,"messages":[{"role":"user","content":"hi"}]}`
	c, got := vendor(t, "application/json", reply, anthropic.Options{})
	if w := ask(t, c, "/v1/messages", body, nil); w.Body.String() != reply || w.Code != http.StatusOK {
		t.Errorf("answered %d %s", w.Code, w.Body)
	}
	want := seen{"/v1/messages", "", body, "", "2023-06-01", nil, "", ""}
	if diff := cmp.Diff(want, *got); diff != "" {
		t.Errorf("sent (-want +got):\n%s", diff)
	}
}

func TestCount(t *testing.T) {
	const body = `{"model":"claude-x","messages":[{"role":"user","content":"hi"}]}`
	c, got := vendor(t, "application/json", `{"input_tokens":12}`, anthropic.Options{})
	w := ask(t, c, "/v1/messages/count_tokens", body, nil)
	if got.Path != "/v1/messages/count_tokens" || got.Body != body {
		t.Errorf("sent %s %s", got.Path, got.Body)
	}
	if w.Body.String() != `{"input_tokens":12}` {
		t.Errorf("answered %d %s", w.Code, w.Body)
	}
}
