package handler

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/content/fetch"
	"github.com/polywire/polywire/internal/document"
	"github.com/polywire/polywire/internal/media"
	"github.com/polywire/polywire/internal/partfield"
	"github.com/polywire/polywire/internal/violation"
	"github.com/polywire/polywire/upstream"
)

// A File is a file that a request references by link or id.
type File struct {
	Source content.Source // a *content.URL or *content.File, not nil

	// Path is the wire path of the source.
	Path string

	// Check validates the loaded file. Violations have wire paths; an empty path
	// becomes Path.
	Check func(b content.Blob) error
}

var errFilesTimeout error = &content.Violation{Code: content.CodeLimit, Text: "the files of the request could not be loaded in time"}

// A loadResult is the result of loading one source.
type loadResult struct {
	place int
	blob  content.Blob
	err   error
}

// loadFiles loads and checks the files of a request before the upstream is called.
// It reports all violations at once.
func (x *exchange) loadFiles(ctx context.Context, l *loader, op *Operation) error {
	files := x.filesToLoad(op.Files)
	if len(files) == 0 {
		return nil
	}
	sources, place := distinct(files)
	found := x.loadAll(ctx, l, sources)
	if err := context.Cause(ctx); err != nil {
		return err
	}
	alone := slices.ContainsFunc(found, func(f loadResult) bool { return errors.Is(f.err, x.s.errFile) }) // one pass
	var bad []File
	var errs []error
	for i, f := range files {
		got := &found[place[i]]
		err := got.err
		_, link := f.Source.(*content.URL)
		switch {
		case alone && errors.Is(err, x.s.errFiles):
			err = nil // only the file that alone exceeds the limit is reported
		case err == nil:
			op.Request.Wire = document.Of(op.Request.Wire).Paths().Wire() // otherwise an adapter would send the link
			err = f.Check(got.blob)
		case !errors.Is(err, content.ErrUnresolved):
			x.logFileError(ctx, f, err)
		case link:
			_, err = op.Request.Load(ctx, f.Source) // for the text of its error
		default:
			err = nil // the upstream may resolve the id
		}
		if err != nil {
			bad, errs = append(bad, f), append(errs, err)
		}
	}
	return filesError(bad, errs)
}

// filesToLoad returns the files that the handler loads itself.
func (x *exchange) filesToLoad(files []File) []File {
	s := &x.s.options
	if !s.ForwardLinks && s.Resolver != nil {
		return files
	}
	var list []File
	for _, f := range files {
		if _, link := f.Source.(*content.URL); link && !s.ForwardLinks || !link && s.Resolver != nil {
			list = append(list, f)
		}
	}
	return list
}

// distinct returns the distinct sources of files, and for each file the index of its
// source.
func distinct(files []File) (sources []content.Source, place []int) {
	seen := make(map[string]int, len(files))
	place = make([]int, len(files))
	for i, f := range files {
		key := sourceKey(f.Source)
		n, ok := seen[key]
		if !ok {
			n = len(sources)
			seen[key] = n
			sources = append(sources, f.Source)
		}
		place[i] = n
	}
	return sources, place
}

// loadAll loads sources, several at a time. It returns in time even if a resolver of
// the host ignores its context.
func (x *exchange) loadAll(ctx context.Context, l *loader, sources []content.Source) []loadResult {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(errDone)
	ctx, cancel := context.WithTimeoutCause(ctx, x.s.options.FileLimits.Time, errFilesTimeout)
	defer cancel()
	jobs := make(chan int, len(sources))
	for i := range sources {
		jobs <- i
	}
	close(jobs)
	results := make(chan loadResult, len(sources))
	for range min(x.s.options.FileLimits.PerRequest, len(sources)) {
		go func() {
			for i := range jobs {
				b, err := l.load(ctx, sources[i])
				if errors.Is(err, x.s.errFile) || errors.Is(err, x.s.errFiles) {
					stop(x.s.errFiles) // the others would fail, too
				}
				results <- loadResult{i, b, err}
			}
		}()
	}
	return awaitResults(ctx, results, len(sources), x.s.options.Timeouts.Grace)
}

// awaitResults receives n results. After the end of ctx it waits for no more than
// grace.
func awaitResults(ctx context.Context, results <-chan loadResult, n int, grace time.Duration) []loadResult {
	found := make([]loadResult, n)
	for i := range found {
		found[i].err = errFilesTimeout
	}
	ended := ctx.Done()
	var deadline <-chan time.Time
	for left := n; left > 0; {
		select {
		case r := <-results:
			found[r.place] = r
			left--
		case <-ended:
			ended = nil
			t := time.NewTimer(grace)
			defer t.Stop()
			deadline = t.C
		case <-deadline:
			return found
		}
	}
	return found
}

// logFileError logs why a file could not be loaded if the client does not receive
// the cause.
func (x *exchange) logFileError(ctx context.Context, f File, err error) {
	var e *content.Violation
	if errors.As(err, &e) {
		err = e.Err
	}
	if err != nil {
		level := slog.LevelDebug // usually the client's mistake
		if errors.Is(err, fs.ErrPermission) {
			level = slog.LevelWarn // a problem of the host's store
		}
		x.logLine(ctx, level, "file could not be loaded", slog.String("file", f.Path), slog.String("cause", textOf(err)))
	}
}

// A loader is the resolver of one request. It calls the host's resolver once for
// each source, bounds the number of concurrent calls, and caches the results. It
// starts no goroutine.
type loader struct {
	s       *Handler
	request func() context.Context // ends with the request; behind a function, since it leads to the key of the client
	reserve func(int64) bool       // reserves bytes of the budget

	mu       sync.Mutex
	entries  map[string]*entry // nil before the first source
	slots    chan struct{}     // limits the concurrent calls of the request; nil before the first source
	bytes    int64             // loaded so far, or received of files that are being loaded
	reserved int64             // bytes of the budget: at least bytes
}

// An entry is the cached result for one source. The holder of lock may use it.
type entry struct {
	lock chan struct{}
	done bool
	blob content.Blob
	err  error
}

// Resolve returns the data of src with the media type that src declares, or else
// with the detected one.
func (l *loader) Resolve(ctx context.Context, src content.Source) (content.Blob, error) {
	b, err := l.load(ctx, src)
	if err != nil {
		return b, err
	}
	r := media.CheckLoaded(b.Data, b.MediaType, partfield.MediaTypeOf(src), media.Limits{})
	if r.Violation != 0 { // not checked before: the file is not one of Operation.Files
		return content.Blob{}, &content.Violation{Code: content.CodeMedia, Text: "the file " + r.Violation.String()}
	}
	b.MediaType = r.Declared
	return b, nil
}

// load returns the data of src without checking it.
func (l *loader) load(ctx context.Context, src content.Source) (content.Blob, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(l.request(), func() { cancel(context.Cause(l.request())) })()
	s := l.entry(sourceKey(src))
	if s == nil {
		return content.Blob{}, content.ErrUnresolved
	}
	select {
	case s.lock <- struct{}{}: // one caller resolves, the others wait
	case <-ctx.Done():
		return content.Blob{}, context.Cause(ctx)
	}
	defer func() { <-s.lock }()
	if s.done {
		return s.blob, s.err
	}
	blob, err := l.resolve(ctx, src)
	if err != nil && ctx.Err() != nil {
		// The end of this caller's context does not concern the next caller, which
		// tries again.
		return content.Blob{}, context.Cause(ctx)
	}
	s.done, s.blob, s.err = true, blob, err
	return blob, err
}

// sourceKey returns the cache key of a source, or "" for a source that contains its
// data.
func sourceKey(src content.Source) string {
	switch src := src.(type) {
	case *content.URL:
		return "url " + src.URL
	case *content.File:
		return "file " + src.ID
	}
	return ""
}

// entry returns the cache entry for a key, or nil for "".
func (l *loader) entry(key string) *entry {
	if key == "" {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.entries == nil {
		l.entries, l.slots = make(map[string]*entry), make(chan struct{}, l.s.options.FileLimits.PerRequest)
	}
	s := l.entries[key]
	if s == nil {
		s = &entry{lock: make(chan struct{}, 1)}
		l.entries[key] = s
	}
	return s
}

// resolve calls the host's resolver when the limits of concurrent calls permit it.
func (l *loader) resolve(ctx context.Context, src content.Source) (blob content.Blob, err error) {
	next := l.s.options.Resolver
	if _, link := src.(*content.URL); link {
		next = l.s.options.Links
	}
	if next == nil {
		return content.Blob{}, content.ErrUnresolved
	}
	for _, room := range [...]chan struct{}{l.slots, l.s.loadSlots} {
		select {
		case room <- struct{}{}:
			defer func() { <-room }()
		case <-ctx.Done():
			return content.Blob{}, context.Cause(ctx)
		}
	}
	defer func() {
		// An upstream may call this on its own goroutine, where a panic would end
		// the process.
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
		err = m.refused // overrides the resolver's error
	case errors.Is(err, fetch.ErrBusy):
		err = overloaded()
	}
	if err != nil {
		m.discard()
		return content.Blob{}, err
	}
	return blob, nil
}

// metered is a resolver that reports how many bytes of a file have arrived.
type metered interface {
	Metered(arrived func(bytes int64) error) content.Resolver
}

// A meter counts the bytes of one file.
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

// discard subtracts a file that could not be loaded. Its reserved bytes remain for
// the next file.
func (m *meter) discard() {
	m.l.mu.Lock()
	defer m.l.mu.Unlock()
	m.l.bytes -= m.bytes
}

// count adds n bytes of a file that has file bytes now. It returns an error if a
// limit is exceeded.
func (l *loader) count(n, file int64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch limit := l.s.options.FileLimits.Bytes; {
	case file > limit:
		return l.s.errFile
	case n > limit-l.bytes:
		return l.s.errFiles
	}
	if more := l.bytes + n - l.reserved; more > 0 {
		if !l.reserve(more) {
			return overloaded()
		}
		l.reserved += more
	}
	l.bytes += n
	return nil
}

// checkLinks validates the links of files before any file is loaded. It uses the
// Check method of the host's resolver if there is one, and otherwise the default
// check if links may be forwarded.
func (s *Handler) checkLinks(files []File) error {
	check := fetch.Check // of the default resolver
	if c, ok := s.options.Links.(interface{ Check(link string) error }); ok {
		check = c.Check
	} else if !s.options.ForwardLinks {
		return nil
	}
	var bad []File
	var errs []error
	for _, f := range files {
		if u, link := f.Source.(*content.URL); link {
			if err := check(u.URL); err != nil {
				bad, errs = append(bad, f), append(errs, err)
			}
		}
	}
	return filesError(bad, errs)
}

// filesError returns one error for files that could not be loaded: the violations of
// the request, or else an error of the handler or the host.
func filesError(files []File, errs []error) error {
	var violations violation.List
	for i, err := range errs {
		switch e := clientError(err).(type) {
		case *Failure, *upstream.Error: // not a violation of the request
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
				violations.Add(v.Code, path, v.Text)
			}
		}
	}
	if err := violations.Err(); err != nil {
		list, more := content.Violations(err)
		return &Failure{Code: upstream.CodeInvalid, Violations: list, More: more, Err: errors.Join(errs...)}
	}
	return errors.Join(errs...)
}
