package crosstest

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
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
			} else if _, _, body := messages.EncodeError(r, err); !refused(body) {
				t.Errorf("%s: %s", name, body)
			}
		}
	}

	// A server of the format receives the request, and of several only such a server.
	calls := 0
	own := ownFormat{generate(func(w *upstream.Writer) error {
		calls++
		return w.Text("ab")
	})}
	for i, up := range []upstream.Upstream{own, edited(own), upstream.Failover([]upstream.Upstream{never, edited(own)}, nil)} {
		if status, body, _ := messagesClient("thread", thread, false).written(t, up); status != http.StatusOK || calls != i+1 {
			t.Errorf("upstream %d: %d calls, %d %s", i, calls, status, body)
		}
	}
}

// TestEventWriter checks that an event writer sends the events of a stream, each in one call.
func TestEventWriter(t *testing.T) {
	sources := recordings(t, unchanged)
	for _, r := range replies {
		sources = append(sources, source{r.name, r.up, ""})
	}
	sources = append(sources, source{"late failure", generate(func(w *upstream.Writer) error {
		_ = w.Text("ab")
		return &upstream.Error{Code: upstream.CodeOverloaded}
	}), ""}, source{"failure", generate(func(*upstream.Writer) error { return &upstream.Error{Code: upstream.CodeOverloaded} }), ""})
	for _, tt := range []struct {
		client *codecClient
		frame  func(name, data string) string
		writer func(func(name, data string) error, *upstream.Request) upstream.StreamWriter
	}{
		{messagesClient("messages", askThinking, true), func(name, data string) string { return "event: " + name + "\ndata: " + data + "\n\n" },
			messages.NewEventWriter},
		{generateClient("events", "gemini-3-pro", "streamGenerateContent?alt=sse"), func(name, data string) string { return name + "data: " + data + "\r\n\r\n" },
			generatecontent.NewEventWriter},
	} {
		c := tt.client
		for _, s := range sources {
			r, _, err := c.decode(c.body)
			if err != nil {
				t.Fatal(err)
			}
			var want strings.Builder
			w := c.writer(&want, r)
			failed := w.End(upstream.Run(t.Context(), s.up, r, w))

			var got strings.Builder
			ew := tt.writer(func(name, data string) error {
				if !gjson.Valid(data) || strings.ContainsAny(data, "\r\n") || gjson.Get(data, "type").Str != name {
					t.Errorf("%s, %s: event %q with the data %q", c.name, s.name, name, data)
				}
				got.WriteString(tt.frame(name, data))
				return nil
			}, r)
			if err := ew.End(upstream.Run(t.Context(), s.up, r, ew)); (err == nil) != (failed == nil) {
				t.Errorf("%s, %s: End returned %v, want %v", c.name, s.name, err, failed)
			}
			wantText := randomIDs.ReplaceAllString(want.String(), `"${1}ID"`)
			if failed != nil && c.format == generatecontent.Format { // a stream of bytes has the error in two forms
				first, second, _ := strings.Cut(wantText, `{"error":`)
				_, second, _ = strings.Cut(second, "\r\n\r\n")
				wantText = first + second
			}
			if diff := cmp.Diff(wantText, randomIDs.ReplaceAllString(got.String(), `"${1}ID"`)); diff != "" {
				t.Errorf("%s, %s: (-stream +events):\n%s", c.name, s.name, diff)
			}
			if diff := cmp.Diff(lossTexts(w.Losses()), lossTexts(ew.Losses())); diff != "" {
				t.Errorf("%s, %s: losses (-stream +events):\n%s", c.name, s.name, diff)
			}
		}

		// Keep-alives are events of Messages. generateContent has none.
		var sent []string
		w := tt.writer(func(name, data string) error { sent = append(sent, name+data); return nil }, nil)
		if err := w.Ping(); err != nil {
			t.Error(err)
		}
		if want := map[content.Format][]string{messages.Format: {`ping{"type":"ping"}`}}[c.format]; !slices.Equal(sent, want) {
			t.Errorf("%s: Ping sent %q, want %q", c.name, sent, want)
		}

		// An error of send ends the response.
		broken, calls := errors.New("broken"), 0
		w = tt.writer(func(string, string) error { calls++; return broken }, nil)
		err := upstream.Run(t.Context(), generate(func(w *upstream.Writer) error { return w.Text("ab") }), &upstream.Request{}, w)
		if err != broken || w.End(err) != broken || calls != 1 {
			t.Errorf("%s: Run returned %v after %d calls of send", c.name, err, calls)
		}
	}
}

// TestWrites checks how many times a StreamWriter writes, and in which order.
func TestWrites(t *testing.T) {
	failure := &upstream.Error{Code: upstream.CodeOverloaded}
	text := func(w upstream.StreamWriter) {
		_ = w.Send([]upstream.Event{{Kind: upstream.EventOpen, Part: &content.Text{}}, {Kind: upstream.EventText, Text: "ab"}})
	}
	ping := func(w upstream.StreamWriter) { _ = w.Ping() }
	stream, array := "streamGenerateContent?alt=sse", "streamGenerateContent?alt=json"
	for _, tt := range []struct {
		client *codecClient
		before func(upstream.StreamWriter)
		err    error
		want   []string // beginnings of what End writes
	}{
		{messagesClient("", askPlain, true), text, nil, []string{"event: message_delta"}},
		{messagesClient("", askPlain, true), text, failure, []string{"event: error"}},
		{messagesClient("", askPlain, true), ping, failure, []string{"event: error"}},
		{generateClient("", "m", stream), text, nil, []string{`data: {"candidates"`}},
		{generateClient("", "m", stream), text, failure, []string{`data: {"candidates"`, `{"error"`, `data: {"error"`}},
		{generateClient("", "m", stream), ping, failure, []string{`{"error"`, `{"error"`}}, // the first completes the event
		{generateClient("", "m", array), text, nil, []string{",\r\n{"}},
		{generateClient("", "m", array), text, failure, []string{",\r\n{\"candidates\"", ",\r\n{\"error\""}},
	} {
		var writes []string
		w := tt.client.writer(writerFunc(func(b []byte) (int, error) {
			writes = append(writes, string(b))
			return len(b), nil
		}), nil)
		tt.before(w)
		n := len(writes)
		_ = w.End(tt.err)
		writes = writes[n:]
		if !slices.EqualFunc(writes, tt.want, strings.HasPrefix) {
			t.Errorf("%s, %v: End wrote %q, want %q", tt.client.path, tt.err, writes, tt.want)
		}
	}
}
