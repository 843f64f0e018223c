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

// TestStreamWhileFetching checks that a stream sends keep-alives while files
// are fetched, and that a later failure is an error in the stream.
func TestStreamWhileFetching(t *testing.T) {
	eachFormat(t, func(t *testing.T, s wireFormat) {
		for _, tt := range []struct {
			name string
			blob content.Blob
			want string
		}{
			{"found", content.Blob{Data: []byte(pdfFile)}, `"ok`},
			{"other media type", content.Blob{Data: []byte("GIF89a")}, `"error":`},
		} {
			t.Run(tt.name, func(t *testing.T) {
				alive := make(chan struct{}) // closed when the client has received headers
				found := resolverFunc(func(ctx context.Context, _ content.Source) (content.Blob, error) {
					select {
					case <-alive:
						return tt.blob, nil
					case <-ctx.Done():
						return content.Blob{}, context.Cause(ctx)
					}
				})
				front := httptest.NewServer(s.handler(&model{}, upstream.HandlerOptions{Links: found, Timeouts: upstream.Timeouts{KeepAlive: 20 * time.Millisecond}}))
				defer front.Close()
				path, body := s.streamed(s.path, s.body(links()[:1], false))
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
					t.Errorf("status %d %s: %v, want %s", resp.StatusCode, answer, err, tt.want)
				}
			})
		}
	})
}
