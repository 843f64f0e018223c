package handler

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"slices"
	"time"

	"github.com/polywire/polywire/content"
)

// A File is one that a request names and does not hold.
type File struct {
	Source content.Source // a *content.URL or *content.File, not nil

	// Path is where the source stands, in the format's own words.
	Path string

	// Check judges what was found. Faults have paths in the format's own words;
	// Path is put in for an empty one.
	Check func(b content.Blob) error
}

var errFilesLate error = &content.Violation{Code: content.CodeLimit, Text: "the files of the request took too long together"}

// A finding is what became of one source.
type finding struct {
	place int
	blob  content.Blob
	err   error
}

// load finds the files of a request before the upstream is called, and checks
// them. It reports all faults at once.
func (x *exchange) load(ctx context.Context, l *loader, call *Call) error {
	files := x.needed(call.Files)
	if len(files) == 0 {
		return nil
	}
	sources, place := distinct(files)
	found := x.findAll(ctx, l, sources)
	if err := context.Cause(ctx); err != nil {
		return err
	}
	alone := slices.ContainsFunc(found, func(f finding) bool { return errors.Is(f.err, l.alone) })
	var bad []File
	var errs []error
	for i, f := range files {
		got := &found[place[i]]
		err := got.err
		_, link := f.Source.(*content.URL)
		switch {
		case alone && errors.Is(err, l.both):
			err = nil // one file is too large for all: it is the one to be told
		case err == nil:
			call.Request.Wire = nil // or an adapter would send the link
			err = f.Check(got.blob)
		case !errors.Is(err, content.ErrUnresolved):
			x.hearFile(ctx, f, err)
		case link:
			_, err = call.Request.Load(ctx, f.Source) // in its words
		default:
			err = nil // for the upstream to know
		}
		if err != nil {
			bad, errs = append(bad, f), append(errs, err)
		}
	}
	return unavailable(bad, errs)
}

// needed returns the files that are to be found before the upstream is called.
func (x *exchange) needed(files []File) []File {
	s := &x.s.serving
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

// distinct returns the sources of files, each once, and for each file which of
// them is its.
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

// findAll finds sources, several at a time. It comes back in time whatever a
// resolver of the host's does: one that ignores its context is left behind.
func (x *exchange) findAll(ctx context.Context, l *loader, sources []content.Source) []finding {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(errDone)
	ctx, cancel := context.WithTimeoutCause(ctx, x.s.serving.FileLimits.Time, errFilesLate)
	defer cancel()
	jobs := make(chan int, len(sources))
	for i := range sources {
		jobs <- i
	}
	close(jobs)
	results := make(chan finding, len(sources))
	for range min(cap(l.room), len(sources)) {
		go func() {
			for i := range jobs {
				b, err := l.load(ctx, sources[i])
				if errors.Is(err, l.alone) || errors.Is(err, l.both) {
					stop(l.both) // the others would be refused as well
				}
				results <- finding{i, b, err}
			}
		}()
	}
	return gather(ctx, results, len(sources), x.s.serving.Timeouts.Grace)
}

// gather takes n results, but waits for none longer than grace after ctx has
// ended.
func gather(ctx context.Context, results <-chan finding, n int, grace time.Duration) []finding {
	found := make([]finding, n)
	for i := range found {
		found[i].err = errFilesLate
	}
	ended := ctx.Done()
	var late <-chan time.Time
	for left := n; left > 0; {
		select {
		case r := <-results:
			found[r.place] = r
			left--
		case <-ended:
			ended = nil
			t := time.NewTimer(grace)
			defer t.Stop()
			late = t.C
		case <-late:
			return found
		}
	}
	return found
}

// hearFile tells the host's log why a file cannot be had, where the client is
// not told all of it.
func (x *exchange) hearFile(ctx context.Context, f File, err error) {
	var e *content.Violation
	if errors.As(err, &e) {
		err = e.Err
	}
	if err != nil {
		level := slog.LevelDebug // mostly it is what the client named
		if errors.Is(err, fs.ErrPermission) {
			level = slog.LevelWarn // the host's store
		}
		x.say(ctx, level, "file cannot be had", slog.String("file", f.Path), slog.String("cause", textOf(err)))
	}
}
