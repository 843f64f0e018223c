package front

import (
	"context"
	"fmt"
	"sync"

	"github.com/polywire/polywire/content"
)

const (
	loadsAtOnce = 8
	loadedBytes = 64 << 20 // of all files of a request
)

// A loader is the resolver of one request: it asks the host's once for each
// source, for a bounded number of them at once, and remembers the answers. It
// starts no goroutine.
type loader struct {
	next content.Resolver
	bind func(context.Context) (context.Context, context.CancelFunc) // ends with the request too
	room chan struct{}

	mu    sync.Mutex
	slots map[string]*slot
	bytes int64
}

// A slot is what is known of one source. Whoever holds its turn may use it.
type slot struct {
	turn chan struct{}
	done bool
	blob content.Blob
	err  error
}

// newLoader returns a loader for the request that ends with ctx, or nil if the
// host has no resolver.
func newLoader(ctx context.Context, next content.Resolver) content.Resolver {
	if next == nil {
		return nil
	}
	return &loader{
		next:  next,
		room:  make(chan struct{}, loadsAtOnce),
		slots: make(map[string]*slot),
		bind: func(caller context.Context) (context.Context, context.CancelFunc) {
			both, cancel := context.WithCancelCause(caller)
			stop := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
			return both, func() { stop(); cancel(nil) }
		},
	}
}

// Resolve returns the bytes behind src.
func (l *loader) Resolve(ctx context.Context, src content.Source) (content.Blob, error) {
	ctx, cancel := l.bind(ctx)
	defer cancel()
	s := l.slot(src)
	if s == nil {
		return l.ask(ctx, src)
	}
	select {
	case s.turn <- struct{}{}: // one fetches, the others wait
	case <-ctx.Done():
		return content.Blob{}, context.Cause(ctx)
	}
	defer func() { <-s.turn }()
	if s.done {
		return s.blob, s.err
	}
	blob, err := l.ask(ctx, src)
	if ctx.Err() != nil {
		// That this caller had to go is nobody else's affair: the next one
		// tries again.
		return content.Blob{}, context.Cause(ctx)
	}
	s.done, s.blob, s.err = true, blob, err
	return blob, err
}

// slot returns the place of src, nil for a source of a kind not known here.
func (l *loader) slot(src content.Source) *slot {
	var key string
	switch src := src.(type) {
	case *content.URL:
		key = "url " + src.URL
	case *content.File:
		key = "file " + src.ID
	default:
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.slots[key]
	if s == nil {
		s = &slot{turn: make(chan struct{}, 1)}
		l.slots[key] = s
	}
	return s
}

// ask asks the host's resolver when there is room.
func (l *loader) ask(ctx context.Context, src content.Source) (blob content.Blob, err error) {
	select {
	case l.room <- struct{}{}:
	case <-ctx.Done():
		return content.Blob{}, context.Cause(ctx)
	}
	defer func() {
		<-l.room
		// An upstream may ask from a goroutine of its own, where a panic would
		// end the process.
		if v := recover(); v != nil {
			blob, err = content.Blob{}, fmt.Errorf("Resolver: %w", newPanic(v))
		}
	}()
	blob, err = l.next.Resolve(ctx, src)
	if err == nil && !l.count(len(blob.Data)) {
		return content.Blob{}, &content.Error{Code: content.CodeLimit, Text: "the files of the request are too large together"}
	}
	return blob, err
}

// count notes what was loaded, and reports whether it is within bounds.
func (l *loader) count(n int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.bytes += int64(n)
	return l.bytes <= loadedBytes
}
