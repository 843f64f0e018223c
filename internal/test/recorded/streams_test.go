package recorded

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/openai/chatcompletions"
	"github.com/polywire/polywire/upstream/openai/responses"
)

// TestOpenAIStreams checks that the streams of OpenAI's formats follow their grammars, for each
// recorded response of any vendor, encoded anew. Readers without code of the formats read them.
func TestOpenAIStreams(t *testing.T) {
	o := upstream.HandlerOptions{Logger: slog.New(slog.DiscardHandler)}
	eachRecord(t, generated, func(t *testing.T, r *record) {
		up, _, release, err := replay(r)
		if err != nil {
			t.Fatal(err)
		}
		defer release()
		up = reencoded(up, r.streamed())
		for _, to := range []struct {
			name, path, body string
			handler          http.Handler
			read             func(stream string) error
		}{
			{"Chat Completions", "/v1/chat/completions", `{"model":"m","stream":true,"stream_options":{"include_usage":true},"reasoning_effort":"high","messages":[{"role":"user","content":"?"}]}`,
				chatcompletions.NewHandler(up, &chatcompletions.Options{HandlerOptions: o}), func(stream string) error {
					_, err := formattest.ReadChat(stream)
					return err
				}},
			{"Responses", "/v1/responses", `{"model":"m","stream":true,"store":false,"include":["reasoning.encrypted_content"],"reasoning":{"summary":"auto"},"input":"?"}`,
				responses.NewHandler(up, &responses.Options{HandlerOptions: o}), func(stream string) error { return new(formattest.ResponseStream).Read(stream) }},
		} {
			check(t, r, "4g grammar of "+to.name, func() error {
				w := httptest.NewRecorder()
				q := httptest.NewRequest(http.MethodPost, to.path, strings.NewReader(to.body))
				q.Header.Set("Content-Type", "application/json")
				if to.handler.ServeHTTP(w, q); w.Code != http.StatusOK {
					return nil // the response of the vendor is an error
				}
				if err := to.read(w.Body.String()); err != nil {
					return fmt.Errorf("%w\n%s", err, clip(w.Body.String(), 3000))
				}
				return nil
			})
		}
	})
}
