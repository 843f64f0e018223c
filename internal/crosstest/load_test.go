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

	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/upstream"
)

// overload is how a format says that there is no room.
func (s side) overload() (status int, word string) {
	if s.format == generatecontent.Format {
		return http.StatusServiceUnavailable, `"UNAVAILABLE"`
	}
	return 529, `"overloaded_error"`
}

// A held upstream answers once it is told to.
type held struct {
	budget  *upstream.Budget
	inside  atomic.Int32
	most    atomic.Int64 // bytes of the budget
	release chan struct{}
}

func (h *held) Generate(ctx context.Context, _ *upstream.Request, w *upstream.Writer) error {
	h.inside.Add(1)
	_, bytes := h.budget.InFlight()
	h.most.Store(max(h.most.Load(), bytes))
	select {
	case <-h.release:
	case <-ctx.Done():
		return ctx.Err()
	}
	return w.Text("ok")
}

// Eight large requests at once, four of each format, meet a budget that has
// room for three: these are answered, the others are refused at once and before
// memory was taken for them, and what was taken comes back.
func TestLargeBodiesTogether(t *testing.T) {
	const clients, room = 8, 3
	budget := &upstream.Budget{Bytes: 100 << 20}
	up := &held{budget: budget, release: make(chan struct{})}
	mux := http.NewServeMux()
	for _, s := range sides {
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
			s := sides[i%len(sides)]
			status, answer, header := sendLarge(t, server.URL+s.path, bodies[s.format])
			want, word := s.overload()
			switch {
			case status == http.StatusOK:
				answered.Add(1)
			case status != want || !strings.Contains(answer, word) || header.Get("Retry-After") != "1" ||
				header.Get("Content-Type") != "application/json":
				t.Errorf("%s: %d %v %.300s", s.name, status, header, answer)
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
		t.Errorf("%d requests are refused while %d are inside", refused.Load(), up.inside.Load())
	}
	close(up.release)
	all.Wait()
	runtime.ReadMemStats(&after)
	if answered.Load() != room || up.most.Load() > budget.Bytes {
		t.Errorf("%d are answered, with %d bytes in flight", answered.Load(), up.most.Load())
	}
	if took := int64(after.TotalAlloc - before.TotalAlloc); took > budget.Bytes+16<<20 {
		t.Errorf("%d MB are allocated for a budget of %d", took>>20, budget.Bytes>>20)
	}
	emptied(t, budget)
	for _, s := range sides { // there is room again
		if status, answer, _ := sendLarge(t, server.URL+s.path, bodies[s.format]); status != http.StatusOK {
			t.Errorf("%s: %d %.300s", s.name, status, answer)
		}
	}
	emptied(t, budget)
}

// emptied checks that nothing stays in the budget. What is given back after
// the last byte of an answer gets the time for it.
func emptied(t *testing.T, b *upstream.Budget) {
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

func sendLarge(t *testing.T, url, body string) (int, string, http.Header) {
	r, err := http.NewRequestWithContext(t.Context(), "POST", url, strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return 0, "", nil
	}
	r.Header.Set("Anthropic-Version", "2023-06-01")
	r.Close = true
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Error(err)
		return 0, "", nil
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Error(err)
	}
	return resp.StatusCode, string(answer), resp.Header
}

// A slowBody brings its beginning, and the rest never.
type slowBody struct {
	beginning io.Reader
	begun     func() // is called when the rest is waited for
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

// Who promises much and sends little takes no memory that is not in the budget.
func TestPromisedBodies(t *testing.T) {
	onBoth(t, func(t *testing.T, s side) {
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
				if want, _ := s.overload(); w.Code == want {
					refused.Add(1)
					body.once.Do(settled.Done)
				}
			})
		}
		settled.Wait()
		runtime.GC()
		runtime.ReadMemStats(&after)
		if held := int64(after.HeapAlloc) - int64(before.HeapAlloc); held > budget.Bytes+16<<20 {
			t.Errorf("%d MB are held for a budget of %d, by clients that sent %d KB each", held>>20, budget.Bytes>>20, sent>>10)
		}
		close(over)
		all.Wait()
		if n := refused.Load(); n != clients-3 {
			t.Errorf("%d clients of %d are refused", n, clients)
		}
		emptied(t, budget)
	})
}
