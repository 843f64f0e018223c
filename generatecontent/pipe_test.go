package generatecontent

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/upstream"
)

// A pipeServer is a server of this format in a bubble.
type pipeServer struct{ *formattest.Server }

// inBubble runs f with a server for up.
func inBubble(t *testing.T, up upstream.Upstream, o Options, f func(t *testing.T, p *pipeServer)) {
	t.Helper()
	formattest.Bubble(t, NewHandler(up, &o), func(t *testing.T, s *formattest.Server) { f(t, &pipeServer{s}) })
}

// send sends a request with a small body.
func (p *pipeServer) send(ctx context.Context, t *testing.T, path string, edits ...func(*http.Request)) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, "POST", "http://pipe"+path, strings.NewReader(smallBody))
	if err != nil {
		t.Fatal(err)
	}
	for _, edit := range edits {
		edit(r)
	}
	res, err := p.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// asksForThoughts replaces the body of a request by one that asks for thought parts.
func asksForThoughts(r *http.Request) {
	r.Body = io.NopCloser(strings.NewReader(thoughtsBody))
	r.ContentLength = int64(len(thoughtsBody))
}

const thoughtsBody = `{"contents":[{"role":"user","parts":[{"text":"Hi"}]}],"generationConfig":{"thinkingConfig":{"includeThoughts":true}}}`

// A read is what one read of a body has brought, and when.
type read struct {
	after time.Duration
	data  string
}

// reads reads a body to its end, piece by piece. The last read is broken if the connection
// broke.
func reads(t *testing.T, res *http.Response, start time.Time) (list []read) {
	t.Helper()
	defer res.Body.Close()
	buf := make([]byte, 64<<10)
	for {
		n, err := res.Body.Read(buf)
		if n > 0 {
			list = append(list, read{time.Since(start), string(buf[:n])})
		}
		if err == io.EOF {
			return list
		}
		if err == io.ErrUnexpectedEOF {
			return append(list, read{time.Since(start), broken})
		}
		if err != nil {
			t.Fatalf("%v after %v", err, list)
		}
	}
}

// broken is the data of a read that failed because the connection broke.
const broken = "broken"

func joinedReads(list []read) string {
	var b strings.Builder
	for _, r := range list {
		if r.data != broken {
			b.WriteString(r.data)
		}
	}
	return b.String()
}
