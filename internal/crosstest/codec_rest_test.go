package crosstest

import (
	"context"
	"net/http"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/echo"
	"github.com/polywire/polywire/upstream/openai"
)

// ownFormat is an upstream that sends requests in the format of Messages.
type ownFormat struct{ upstream.Upstream }

func (ownFormat) FormatOf(context.Context, *upstream.Request) (content.Format, error) {
	return messages.Format, nil
}

// TestThreadWithoutHTTP has requests that continue a conversation that their vendor stores.
// Programs without HTTP refuse them as handlers do.
func TestThreadWithoutHTTP(t *testing.T) {
	const thread = `"thread":{"type":"continue","previous_message_id":"msg_1"},` + askPlain
	chat, err := openai.New(&openai.Options{BaseURL: "http://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	never := generate(func(*upstream.Writer) error {
		t.Error("an upstream of another format was called")
		return nil
	})
	edited := func(up upstream.Upstream) upstream.Upstream {
		return upstream.Edit(up, func(_ context.Context, r *upstream.Request) (*upstream.Request, error) { return r.Clone(), nil })
	}
	refused := func(body []byte) bool {
		return gjson.GetBytes(body, "error.details.error_code").String() == "thread_unsupported_request"
	}
	for name, up := range map[string]upstream.Upstream{
		"function": never, "echo": echo.New(), "openai": chat, "edit": edited(never),
		"failover": upstream.Failover([]upstream.Upstream{chat, never}, nil),
	} {
		for _, streamed := range []bool{false, true} {
			c := messagesClient("thread", thread, streamed)
			c.compare(t, up)
			if status, body, _ := c.written(t, up); status != http.StatusBadRequest || !refused([]byte(body)) {
				t.Errorf("%s: %d %s", name, status, body)
			}
		}
		r, _, err := messages.DecodeRequest([]byte(`{"model":"m","max_tokens":9,`+thread+`}`), nil)
		if err != nil {
			t.Fatal(err)
		}
		_, counted := upstream.CountTokens(t.Context(), up, r)
		_, encoded := upstream.EncodeRequest(t.Context(), up, r)
		for _, err := range []error{counted, encoded} {
			if err == nil {
				t.Errorf("%s: no error", name)
			} else if _, body := messages.EncodeError(r, err); !refused(body) {
				t.Errorf("%s: %s", name, body)
			}
		}
	}

	// A server of the format receives the request, and of several only such a server.
	calls := 0
	ours := ownFormat{generate(func(w *upstream.Writer) error {
		calls++
		return w.Text("a")
	})}
	for i, up := range []upstream.Upstream{ours, edited(ours), upstream.Failover([]upstream.Upstream{never, edited(ours)}, nil)} {
		if status, body, _ := messagesClient("thread", thread, false).written(t, up); status != http.StatusOK || calls != i+1 {
			t.Errorf("upstream %d: %d calls, %d %s", i, calls, status, body)
		}
	}
}
