package crosstest

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// A stream whose files take long has signs of life meanwhile, and a failure
// after those is told by the stream.
func TestStreamWhileFetching(t *testing.T) {
	onBoth(t, func(t *testing.T, s side) {
		for _, tt := range []struct {
			name string
			blob content.Blob
			want string
		}{
			{"found", content.Blob{Data: []byte(pdfFile)}, `"ok"`},
			{"of another type", content.Blob{Data: []byte("GIF89a")}, `"error":`},
		} {
			t.Run(tt.name, func(t *testing.T) {
				alive := make(chan struct{}) // the client has seen a sign of life: headers at least
				found := resolve(func(ctx context.Context, _ content.Source) (content.Blob, error) {
					select {
					case <-alive:
						return tt.blob, nil
					case <-ctx.Done():
						return content.Blob{}, context.Cause(ctx)
					}
				})
				front := httptest.NewServer(s.handler(&model{}, upstream.HandlerOptions{Links: found, Timeouts: upstream.Timeouts{KeepAlive: 20 * time.Millisecond}}))
				defer front.Close()
				path := strings.Replace(s.path, ":generateContent", ":streamGenerateContent", 1) + "?alt=sse"
				body := strings.Replace(s.body(links()[:1], false), `"max_tokens":9`, `"max_tokens":9,"stream":true`, 1)
				r, err := http.NewRequestWithContext(t.Context(), "POST", front.URL+path, strings.NewReader(body))
				if err != nil {
					t.Fatal(err)
				}
				r.Header.Set("Anthropic-Version", "2023-06-01")
				r.Close = true
				resp, err := http.DefaultClient.Do(r)
				if err != nil {
					t.Fatal(err)
				}
				defer resp.Body.Close()
				close(alive)
				answer, err := io.ReadAll(resp.Body)
				if err != nil || resp.StatusCode != 200 || !strings.Contains(string(answer), tt.want) {
					t.Errorf("%d %s: %v, want %s", resp.StatusCode, answer, err, tt.want)
				}
			})
		}
	})
}
