package handler

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// A loader is the resolver of one request: it asks the host's once for each
// source, for a bounded number of them at once, and remembers the answers. It
// starts no goroutine.
type loader struct {
	files content.Resolver // nil if there is none
	links content.Resolver
	bind  func(context.Context) (context.Context, context.CancelFunc) // ends with the request too
	room  chan struct{}                                               // of the request
	all   chan struct{}                                               // of the handler
	take  func(int64) bool                                            // of the budget
	most  int64                                                       // bytes of all files
	alone error                                                       // that a file has more
	both  error                                                       // that several have more

	mu    sync.Mutex
	slots map[string]*slot
	bytes int64 // of what was found, or has arrived of it
	held  int64 // taken of the budget: as many at least
}

// A slot is what is known of one source. Whoever holds its turn may use it.
type slot struct {
	turn chan struct{}
	done bool
	blob content.Blob
	err  error
}

// newLoader returns a loader for the request that ends with ctx.
func (s *Server) newLoader(ctx context.Context, take func(int64) bool) *loader {
	return &loader{
		files: s.serving.Resolver,
		links: s.serving.Links,
		room:  make(chan struct{}, s.serving.FileLimits.PerRequest),
		all:   s.loads,
		take:  take,
		most:  s.serving.FileLimits.Bytes,
		alone: tooLarge("the file is too large: at most %d bytes are allowed for all files of a request", s.serving.FileLimits.Bytes),
		both:  tooLarge("the files of the request are too large together: at most %d bytes are allowed", s.serving.FileLimits.Bytes),
		slots: make(map[string]*slot),
		bind: func(caller context.Context) (context.Context, context.CancelFunc) {
			both, cancel := context.WithCancelCause(caller)
			stop := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
			return both, func() { stop(); cancel(nil) }
		},
	}
}

// Resolve returns the bytes behind src, and the type that they have: as the
// source says, if it does.
func (l *loader) Resolve(ctx context.Context, src content.Source) (content.Blob, error) {
	b, err := l.load(ctx, src)
	if err != nil {
		return b, err
	}
	said := ""
	switch src := src.(type) {
	case *content.URL:
		said = src.MediaType
	case *content.File:
		said = src.MediaType
	}
	r := content.CheckBlob(b, said, content.Limits{})
	if r.Violation != 0 { // of a file that nobody has checked: it was not the request's
		return content.Blob{}, &content.Violation{Code: content.CodeMedia, Text: "the file " + r.Violation.String()}
	}
	b.MediaType = r.Declared
	return b, nil
}

// load returns the bytes behind src, as they came.
func (l *loader) load(ctx context.Context, src content.Source) (content.Blob, error) {
	ctx, cancel := l.bind(ctx)
	defer cancel()
	s := l.slot(sourceKey(src))
	if s == nil {
		return content.Blob{}, content.ErrUnresolved
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
	if err != nil && ctx.Err() != nil {
		// That this caller had to go is nobody else's affair: the next one
		// tries again.
		return content.Blob{}, context.Cause(ctx)
	}
	s.done, s.blob, s.err = true, blob, err
	return blob, err
}

// sourceKey returns what tells sources apart; empty for those that hold what
// they are about.
func sourceKey(src content.Source) string {
	switch src := src.(type) {
	case *content.URL:
		return "url " + src.URL
	case *content.File:
		return "file " + src.ID
	}
	return ""
}

// slot returns the place of a source, nil for no source.
func (l *loader) slot(key string) *slot {
	if key == "" {
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
	next := l.files
	if _, link := src.(*content.URL); link {
		next = l.links
	}
	if next == nil {
		return content.Blob{}, content.ErrUnresolved
	}
	for _, room := range [...]chan struct{}{l.room, l.all} {
		select {
		case room <- struct{}{}:
			defer func() { <-room }()
		case <-ctx.Done():
			return content.Blob{}, context.Cause(ctx)
		}
	}
	defer func() {
		// An upstream may ask from a goroutine of its own, where a panic would
		// end the process.
		if v := recover(); v != nil {
			blob, err = content.Blob{}, fmt.Errorf("Resolver: %w", newPanic(v))
		}
	}()
	m := meter{l: l}
	if f, ok := next.(metered); ok {
		next = f.Metered(m.arrived)
	}
	blob, err = next.Resolve(ctx, src)
	if err == nil {
		err = m.arrived(int64(len(blob.Data)) - m.bytes)
	}
	switch {
	case m.refused != nil:
		err = m.refused // whatever the resolver made of it
	case isBusy(err):
		err = overloaded()
	}
	if err != nil {
		m.forget()
		return content.Blob{}, err
	}
	return blob, nil
}

// metered is a resolver that tells how much of a file has arrived.
type metered interface {
	Metered(arrived func(bytes int64) error) content.Resolver
}

// A meter counts one file.
type meter struct {
	l       *loader
	bytes   int64
	refused error
}

func (m *meter) arrived(n int64) error {
	if m.refused == nil {
		m.refused = m.l.count(n, m.bytes+n)
	}
	if m.refused == nil {
		m.bytes += n
	}
	return m.refused
}

// forget counts a file no more that did not come in the end. The next one has
// what was taken of the budget for it.
func (m *meter) forget() {
	m.l.mu.Lock()
	defer m.l.mu.Unlock()
	m.l.bytes -= m.bytes
}

// count notes what was loaded of a file that has so much now. The error says that
// it is too much.
func (l *loader) count(n, file int64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case file > l.most:
		return l.alone
	case n > l.most-l.bytes:
		return l.both
	}
	if more := l.bytes + n - l.held; more > 0 {
		if !l.take(more) {
			return overloaded()
		}
		l.held += more
	}
	l.bytes += n
	return nil
}

func tooLarge(format string, limit int64) error {
	return &content.Violation{Code: content.CodeLimit, Text: fmt.Sprintf(format, limit)}
}

// checkTexts judges the texts of all links before anything is fetched: by the
// host's Resolver if that can, or by default if they may be passed on.
func (s *Server) checkTexts(files []File) error {
	check := checkLink
	if c, ok := s.serving.Links.(interface{ Check(link string) error }); ok {
		check = c.Check
	} else if !s.serving.ForwardLinks {
		return nil
	}
	var faults []File
	var errs []error
	for _, f := range files {
		if u, link := f.Source.(*content.URL); link {
			if err := check(u.URL); err != nil {
				faults, errs = append(faults, f), append(errs, err)
			}
		}
	}
	return unavailable(faults, errs)
}

// unavailable returns one error for files that cannot be had: what is wrong
// with the request, if anything is, or else that something is wrong here.
func unavailable(files []File, errs []error) error {
	var faults content.ViolationList
	for i, err := range errs {
		switch e := outermost(err).(type) {
		case *Failure, *upstream.Error: // ours or the host's, and no fault of the request
			return e
		case nil:
			continue
		default:
			list, _ := content.Violations(e)
			for _, v := range list {
				path := v.Path
				if path == "" {
					path = files[i].Path
				}
				faults.Add(v.Code, path, v.Text)
			}
		}
	}
	if err := faults.Err(); err != nil {
		list, more := content.Violations(err)
		return &Failure{Code: upstream.CodeInvalid, Violations: list, More: more, Err: errors.Join(errs...)}
	}
	return errors.Join(errs...)
}
