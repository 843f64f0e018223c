package front

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/polywire/polywire/content"
)

// fetcher takes a second for each source, and counts.
type fetcher struct {
	mu            sync.Mutex
	calls         int
	now, together int
	size          int
}

func (f *fetcher) Resolve(ctx context.Context, s content.Source) (content.Blob, error) {
	f.mu.Lock()
	f.calls++
	f.now++
	f.together = max(f.together, f.now)
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		f.now--
		f.mu.Unlock()
	}()
	select {
	case <-time.After(time.Second):
	case <-ctx.Done():
		return content.Blob{}, ctx.Err()
	}
	if u, ok := s.(*content.URL); ok && u.URL == "bad" {
		return content.Blob{}, errors.New("bad")
	}
	return content.Blob{MediaType: "text/plain", Data: make([]byte, f.size)}, nil
}

func TestLoaderShares(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fetcher{size: 1}
		l := newLoader(t.Context(), f)
		hasty, cancel := context.WithTimeout(t.Context(), time.Second/2)
		defer cancel()
		var wg sync.WaitGroup
		var failed error
		wg.Go(func() { _, failed = l.Resolve(hasty, &content.URL{URL: "a"}) })
		synctest.Wait()
		for range 3 {
			wg.Go(func() {
				if b, err := l.Resolve(t.Context(), &content.URL{URL: "a"}); err != nil || len(b.Data) != 1 {
					t.Errorf("%v, %v", b, err)
				}
			})
		}
		wg.Wait()
		if !errors.Is(failed, context.DeadlineExceeded) {
			t.Errorf("the hasty one: %v", failed)
		}
		if f.calls != 2 {
			t.Errorf("%d fetches, want 2: one that was broken off, one for all others", f.calls)
		}
		_, _ = l.Resolve(t.Context(), &content.File{ID: "a"})
		if f.calls != 3 {
			t.Errorf("%d fetches, want 3: a file is no link", f.calls)
		}
		for range 2 {
			if _, err := l.Resolve(t.Context(), &content.URL{URL: "bad"}); err == nil {
				t.Error("no error")
			}
		}
		if f.calls != 4 {
			t.Errorf("%d fetches, want 4: failures are remembered too", f.calls)
		}
	})
}

func TestLoaderBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fetcher{size: loadedBytes / 20}
		request, end := context.WithCancelCause(t.Context())
		l := newLoader(request, f)
		var wg sync.WaitGroup
		var mu sync.Mutex
		refused := 0
		for i := range 24 {
			wg.Go(func() {
				_, err := l.Resolve(context.Background(), &content.URL{URL: fmt.Sprint(i)})
				if e := new(content.Error); errors.As(err, &e) && e.Code == content.CodeLimit {
					mu.Lock()
					refused++
					mu.Unlock()
				} else if err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if f.together != 8 || refused != 4 {
			t.Errorf("%d at once, %d refused; want 8 and 4", f.together, refused)
		}
		why := errors.New("the request is over")
		time.AfterFunc(time.Second/4, func() { end(why) })
		start := time.Now()
		if _, err := l.Resolve(context.Background(), &content.URL{URL: "late"}); !errors.Is(err, why) || time.Since(start) > time.Second/2 {
			t.Errorf("%v after %v", err, time.Since(start))
		}
	})
}

func TestNoResolver(t *testing.T) {
	if l := newLoader(t.Context(), nil); l != nil {
		t.Errorf("got %v; the request must know that there is none", l)
	}
}
