package handler

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// A fetcher takes a second for each source and counts its calls.
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
	return content.Blob{MediaType: "application/x", Data: make([]byte, f.size)}, nil
}

// newTestLoader returns a loader whose sources are all resolved by f.
func newTestLoader(ctx context.Context, f content.Resolver, s upstream.HandlerOptions) *loader {
	s.Resolver, s.Links = f, f
	server := newHandler("", s, 1, nil)
	return &loader{s: server, request: func() context.Context { return ctx }, reserve: server.options.Budget.Reserve}
}

func TestLoaderShares(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fetcher{size: 1}
		l := newTestLoader(t.Context(), f, upstream.HandlerOptions{})
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
			t.Errorf("%d fetches, want 3: a file is not a link", f.calls)
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

// count resolves n sources at once and returns how often each error occurred.
func (f *fetcher) count(l *loader, n int) map[error]int {
	var wg sync.WaitGroup
	errs := make([]error, n)
	for i := range n {
		wg.Go(func() { _, errs[i] = l.Resolve(context.Background(), &content.URL{URL: fmt.Sprint(i)}) })
	}
	wg.Wait()
	got := make(map[error]int)
	for _, err := range errs {
		if fail := new(Failure); errors.As(err, &fail) {
			err = errTest // each is another
		} else if errors.Is(err, l.s.errFiles) {
			err = errTogether
		}
		got[err]++
	}
	return got
}

var (
	errTest     = errors.New("overloaded")
	errTogether = errors.New("too large together")
)

func TestLoaderBounds(t *testing.T) {
	for _, tt := range []struct {
		name      string
		serving   upstream.HandlerOptions
		wantAtOne int
		wantGood  int
		wantErr   error
	}{
		{"defaults", upstream.HandlerOptions{}, 8, 20, errTogether},
		{"in a request", upstream.HandlerOptions{FileLimits: upstream.FileLimits{PerRequest: 3}}, 3, 20, errTogether},
		{"in a handler", upstream.HandlerOptions{FileLimits: upstream.FileLimits{PerHandler: 2}}, 2, 20, errTogether},
		{"bytes", upstream.HandlerOptions{FileLimits: upstream.FileLimits{Bytes: 32 << 20}}, 8, 10, errTogether},
		{"budget", upstream.HandlerOptions{Budget: &upstream.Budget{Bytes: 16 << 20}}, 8, 5, errTest},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fetcher{size: 64 << 20 / 20}
				l := newTestLoader(t.Context(), f, tt.serving)
				got := f.count(l, 24)
				if f.together != tt.wantAtOne || got[nil] != tt.wantGood || got[tt.wantErr] != 24-tt.wantGood {
					t.Errorf("%d at once, %v; want %d and %d good ones", f.together, got, tt.wantAtOne, tt.wantGood)
				}
			})
		})
	}
}

func TestLoaderEndsWithRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		request, end := context.WithCancelCause(t.Context())
		l := newTestLoader(request, &fetcher{size: 1}, upstream.HandlerOptions{})
		why := errors.New("the request is over")
		time.AfterFunc(time.Second/4, func() { end(why) })
		start := time.Now()
		if _, err := l.Resolve(context.Background(), &content.URL{URL: "late"}); !errors.Is(err, why) || time.Since(start) > time.Second/2 {
			t.Errorf("%v after %v", err, time.Since(start))
		}
	})
}

// TestLoaderNames checks that media types come from the source, or else from the
// data.
func TestLoaderNames(t *testing.T) {
	l := newTestLoader(t.Context(), blobs{
		"a": {Data: []byte("%PDF-1.7")},
		"b": {Data: []byte("x"), MediaType: "text/plain; charset=utf-8"},
		"c": {Data: []byte("%PDF-1.7"), MediaType: "text/html"},
	}, upstream.HandlerOptions{})
	for _, tt := range []struct {
		src  content.Source
		want string
	}{
		{&content.URL{URL: "a"}, "application/pdf"},
		{&content.File{ID: "b"}, "text/plain"},
		{&content.File{ID: "b", MediaType: "text/csv"}, "text/csv"},
	} {
		if b, err := l.Resolve(t.Context(), tt.src); err != nil || b.MediaType != tt.want {
			t.Errorf("%+v: %q, %v; want %q", tt.src, b.MediaType, err, tt.want)
		}
	}
	for _, src := range []content.Source{&content.URL{URL: "c"}, &content.URL{URL: "a", MediaType: "image/png"}} {
		var e *content.Violation
		if _, err := l.Resolve(t.Context(), src); !errors.As(err, &e) || e.Code != content.CodeMedia {
			t.Errorf("%+v: %v, want a media violation", src, err)
		}
	}
}

// blobs are resolved by their keys.
type blobs map[string]content.Blob

func (b blobs) Resolve(_ context.Context, s content.Source) (content.Blob, error) {
	blob, ok := b[sourceKey(s)[len("file "):]]
	if _, link := s.(*content.URL); link {
		blob, ok = b[sourceKey(s)[len("url "):]]
	}
	if !ok {
		return blob, content.ErrUnresolved
	}
	return blob, nil
}

func TestNoResolver(t *testing.T) {
	l := newTestLoader(t.Context(), nil, upstream.HandlerOptions{})
	l.s.options.Resolver = nil
	if _, err := l.Resolve(t.Context(), &content.File{ID: "a"}); !errors.Is(err, content.ErrUnresolved) {
		t.Errorf("got %v; the upstream must know that there is none", err)
	}
}

// A late resolver returns a file just when its caller leaves.
type late struct{ leave context.CancelFunc }

func (f late) Resolve(context.Context, content.Source) (content.Blob, error) {
	f.leave()
	return content.Blob{Data: []byte("hello")}, nil
}

// TestLoaderKeepsWhatCame checks that a file that arrives as its caller leaves is
// counted once and is available to the next caller.
func TestLoaderKeepsWhatCame(t *testing.T) {
	ctx, leave := context.WithCancel(t.Context())
	l := newTestLoader(t.Context(), late{leave}, upstream.HandlerOptions{FileLimits: upstream.FileLimits{Bytes: 5}})
	_, _ = l.Resolve(ctx, &content.File{ID: "a"})
	if b, err := l.Resolve(t.Context(), &content.File{ID: "a"}); err != nil || string(b.Data) != "hello" {
		t.Errorf("%q, %v", b.Data, err)
	}
}
