package crosstest

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/polywire/polywire/upstream"
)

// A heldUpstream responds when it is released.
type heldUpstream struct {
	budget  *upstream.Budget
	inside  atomic.Int32
	max     atomic.Int64 // peak bytes of the budget
	release chan struct{}
}

func (h *heldUpstream) Generate(ctx context.Context, _ *upstream.Request, w *upstream.Writer) error {
	h.inside.Add(1)
	_, bytes := h.budget.InFlight()
	h.max.Store(max(h.max.Load(), bytes))
	select {
	case <-h.release:
	case <-ctx.Done():
		return ctx.Err()
	}
	return w.Text("ok")
}

// TestLargeBodiesTogether sends eight large requests at once, four of each
// format, with a budget for three. Three requests succeed; the others are
// rejected at once, before memory is allocated for them. The budget is released
// at the end.
func TestLargeBodiesTogether(t *testing.T) {
	const clients, room = 8, 3
	budget := &upstream.Budget{Bytes: 100 << 20}
	up := &heldUpstream{budget: budget, release: make(chan struct{})}
	mux := http.NewServeMux()
	for _, s := range wireFormats {
		mux.Handle("POST "+s.path, s.handler(up, upstream.HandlerOptions{Budget: budget}))
	}
	server := httptest.NewServer(mux)
	defer server.Close()
	bodies := pdfBodies()

	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var refused, answered atomic.Int32
	var all sync.WaitGroup
	turned := make(chan struct{}, clients)
	for i := range clients {
		all.Go(func() {
			s := wireFormats[i%len(wireFormats)]
			res, answer := send(t, server.URL+s.path, bodies[s.format], once)
			want := s.failure(upstream.CodeOverloaded)
			switch {
			case res.StatusCode == http.StatusOK:
				answered.Add(1)
			case res.StatusCode != want.status || !strings.Contains(answer, want.word) || res.Header.Get("Retry-After") != "1" ||
				res.Header.Get("Content-Type") != "application/json":
				t.Errorf("%s: %d %v %.300s", s.name, res.StatusCode, res.Header, answer)
			default:
				refused.Add(1)
			}
			turned <- struct{}{}
		})
	}
	for range clients - room {
		<-turned
	}
	if refused.Load() != clients-room {
		t.Errorf("%d requests rejected while %d are in progress", refused.Load(), up.inside.Load())
	}
	close(up.release)
	all.Wait()
	runtime.ReadMemStats(&after)
	if answered.Load() != room || up.max.Load() > budget.Bytes {
		t.Errorf("%d responses, peak of %d bytes in the budget", answered.Load(), up.max.Load())
	}
	if took := int64(after.TotalAlloc - before.TotalAlloc); took > budget.Bytes+16<<20 {
		t.Errorf("%d MB allocated with a budget of %d MB", took>>20, budget.Bytes>>20)
	}
	checkBudgetEmpty(t, budget)
	for _, s := range wireFormats { // the budget is free again
		if res, answer := send(t, server.URL+s.path, bodies[s.format], once); res.StatusCode != http.StatusOK {
			t.Errorf("%s: %d %.300s", s.name, res.StatusCode, answer)
		}
	}
	checkBudgetEmpty(t, budget)
}

// checkBudgetEmpty checks that the budget is released. The release may come
// shortly after the last byte of a response.
func checkBudgetEmpty(t *testing.T, b *upstream.Budget) {
	t.Helper()
	for end := time.Now().Add(5 * time.Second); ; time.Sleep(time.Millisecond) {
		n, bytes := b.InFlight()
		if n == 0 && bytes == 0 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%d requests and %d bytes are left in the budget", n, bytes)
		}
	}
}

// A slowBody returns its beginning and then blocks.
type slowBody struct {
	beginning io.Reader
	begun     func() // called when the rest is read
	over      chan struct{}
	once      sync.Once
}

func (b *slowBody) Read(p []byte) (int, error) {
	if n, err := b.beginning.Read(p); err == nil {
		return n, nil
	}
	b.once.Do(b.begun)
	<-b.over
	return 0, io.ErrUnexpectedEOF
}

// TestDeclaredBodyLengths checks that a client that declares a large body and
// sends little allocates no memory outside the budget.
func TestDeclaredBodyLengths(t *testing.T) {
	eachFormat(t, func(t *testing.T, s wireFormat) {
		const clients, promised, sent = 20, 32 << 20, 300 << 10
		budget := &upstream.Budget{Bytes: 100 << 20}
		h := s.handler(&model{}, upstream.HandlerOptions{Budget: budget})
		beginning := strings.Repeat(" ", sent)
		over := make(chan struct{})
		var settled, all sync.WaitGroup
		settled.Add(clients)
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		var refused atomic.Int32
		for range clients {
			all.Go(func() {
				body := &slowBody{beginning: strings.NewReader(beginning), begun: settled.Done, over: over}
				r := httptest.NewRequestWithContext(t.Context(), "POST", s.path, body)
				r.Header.Set("Anthropic-Version", "2023-06-01")
				r.ContentLength = promised
				w := httptest.NewRecorder()
				h.ServeHTTP(w, r)
				if w.Code == s.failure(upstream.CodeOverloaded).status {
					refused.Add(1)
					body.once.Do(settled.Done)
				}
			})
		}
		settled.Wait()
		runtime.GC()
		runtime.ReadMemStats(&after)
		if held := int64(after.HeapAlloc) - int64(before.HeapAlloc); held > budget.Bytes+16<<20 {
			t.Errorf("%d MB in use with a budget of %d MB and clients that sent %d KB each", held>>20, budget.Bytes>>20, sent>>10)
		}
		close(over)
		all.Wait()
		if n := refused.Load(); n != clients-3 {
			t.Errorf("%d of %d clients are rejected", n, clients)
		}
		checkBudgetEmpty(t, budget)
	})
}
