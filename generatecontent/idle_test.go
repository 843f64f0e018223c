package generatecontent

import (
	"context"
	"net/http"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/polywire/polywire/upstream"
)

// TestIdleStreamCost checks what a stream holds that waits for its upstream,
// and that nothing of it is left.
func TestIdleStreamCost(t *testing.T) {
	const streams = 100
	var begun, over sync.WaitGroup
	begun.Add(streams)
	h := NewHandler(upstream.Func(func(c context.Context, _ *upstream.Request, w *upstream.Writer) error {
		err := w.Text("a")
		begun.Done()
		<-c.Done()
		return err
	}), nil)
	measure := func() (bytes uint64, goroutines int) {
		runtime.GC()
		runtime.GC() // once more for what pools hold
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc + m.StackInuse, runtime.NumGoroutine()
	}
	before, routines := measure()
	ctx, cancel := context.WithCancel(t.Context())
	for range streams {
		over.Go(func() {
			h.ServeHTTP(&nullWriter{header: http.Header{}}, post(eventsPath, smallBody).WithContext(ctx))
		})
	}
	begun.Wait()
	after, more := measure()
	if each := (after - before) / streams; after > before && each > 64<<10 {
		t.Errorf("an idle stream takes %d bytes", each)
	}
	if each := float64(more-routines) / streams; each > 3 {
		t.Errorf("an idle stream takes %v goroutines", each)
	}
	cancel()
	over.Wait()
	// What ends needs a moment, more so under the race detector.
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if runtime.NumGoroutine() <= routines {
			return
		}
	}
	t.Errorf("%d goroutines are left over", runtime.NumGoroutine()-routines)
}
