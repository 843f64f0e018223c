package otelwire_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/echo"
	otelwire "github.com/polywire/polywire/upstream/otel"
	"github.com/polywire/polywire/upstream/script"
)

// post sends a streamed request with a text to a server and returns the response.
func post(ctx context.Context, t *testing.T, url, text string) *http.Response {
	t.Helper()
	body := `{"model":"demo","max_tokens":99,"stream":true,"messages":[{"role":"user","content":"` + text + `"}]}`
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/v1/messages", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("anthropic-version", "2023-06-01")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// ended waits for the span of a request, which ends after its response.
func (r *recorder) ended(t *testing.T) sdktrace.ReadOnlySpan {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); len(r.spans.Ended()) == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("no span has ended")
		}
	}
	return r.span(t, "chat demo")
}

// TestHandler checks requests that a handler serves: one that succeeds, one whose client
// leaves, one that the handler's timeout ends, and one that fails in the stream.
func TestHandler(t *testing.T) {
	for _, tt := range []struct {
		name   string
		up     upstream.Upstream
		leave  bool
		code   any
		status codes.Code
	}{
		{"success", echo.New(), false, nil, codes.Unset},
		{"client left", script.Reply{script.Say("One "), script.Wait(time.Hour)}, true, "canceled", codes.Unset},
		{"timeout of the handler", script.Reply{script.Wait(time.Hour)}, false, "timeout", codes.Error},
		{"error in the stream", script.Reply{script.Say("One "), script.Fail(&upstream.Error{Code: upstream.CodeOverloaded})}, false, "overloaded", codes.Error},
		{"invalid", script.Reply{script.Fail(&upstream.Error{Code: upstream.CodeInvalid})}, false, "invalid", codes.Error},
	} {
		rec := newRecorder()
		var o messages.Options
		if tt.code == "timeout" {
			o.Timeouts.FirstByte = 10 * time.Millisecond
		}
		s := httptest.NewServer(messages.NewHandler(rec.wrap(tt.up, otelwire.Options{}), &o))
		ctx, cancel := context.WithCancel(t.Context())
		res := post(ctx, t, s.URL, "Hello.")
		body := bufio.NewReader(res.Body)
		if tt.leave {
			for line := ""; !strings.Contains(line, "content_block_delta"); {
				var err error
				if line, err = body.ReadString('\n'); err != nil {
					t.Fatal(err)
				}
			}
			cancel()
		} else if _, err := io.Copy(io.Discard, body); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: %v", tt.name, err)
		}
		_ = res.Body.Close()
		span := rec.ended(t)
		a := attributes(span.Attributes())
		if a["error.type"] != tt.code || span.Status().Code != tt.status {
			t.Errorf("%s: error.type %v and status %v, want %v and %v", tt.name, a["error.type"], span.Status().Code, tt.code, tt.status)
		}
		if id := res.Header.Get("request-id"); id == "" || a["polywire.request.id"] != id {
			t.Errorf("%s: polywire.request.id is %v, want %q", tt.name, a["polywire.request.id"], id)
		}
		if tokens := rec.points(t, "gen_ai.client.token.usage"); (len(tokens) > 0) != (tt.code != "invalid" && tt.code != "timeout") {
			t.Errorf("%s: tokens %v", tt.name, tokens)
		}
		cancel()
		s.Close()
		http.DefaultClient.CloseIdleConnections()
	}
}
