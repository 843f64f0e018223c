package formattest

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/partfield"
	"github.com/polywire/polywire/upstream"
)

// A FrameReader reads the response of a server frame by frame, as the readers
// of the formats do.
type FrameReader interface {
	Next() (*upstream.Frame, error)
}

// Replay returns an upstream that sends the frames of r once, as an adapter
// does.
func Replay(r FrameReader) upstream.Upstream {
	return upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		for {
			f, err := r.Next()
			if err == io.EOF {
				return nil
			}
			if err != nil {
				return err
			}
			if err := w.Frame(f); err != nil {
				return err
			}
		}
	})
}

// Frames returns an upstream that sends the given frames.
func Frames(list ...*upstream.Frame) upstream.Upstream {
	return upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		for _, f := range list {
			if err := w.Frame(f); err != nil {
				return err
			}
		}
		return nil
	})
}

// Edited returns an upstream that passes each list of events of up through
// edit. If edit is nil, it returns up.
func Edited(up upstream.Upstream, edit func([]upstream.Event) []upstream.Event) upstream.Upstream {
	if edit == nil {
		return up
	}
	return upstream.Tap(up, func(_ context.Context, _ *upstream.Request, to upstream.Sink) (upstream.Sink, func(error)) {
		return upstream.SinkFunc(func(es []upstream.Event) error {
			if es = edit(es); len(es) == 0 {
				return nil
			}
			return to.Send(es)
		}), nil
	})
}

// Drain reads a stream to its end and fails the test if that is not io.EOF.
func Drain(tb testing.TB, r FrameReader) {
	tb.Helper()
	for {
		if _, err := r.Next(); err != nil {
			if err != io.EOF {
				tb.Fatal(err)
			}
			return
		}
	}
}

// ended wraps the error with which a stream ended, io.EOF included, to
// distinguish it from an error of the Writer.
type ended struct{ error }

// CheckFrames checks that the frames of a reader are valid and that a Writer accepts
// each of them. It calls before and after, which may be nil, around each Frame
// call.
func CheckFrames(t *testing.T, r FrameReader, before, after func(*upstream.Frame)) {
	t.Helper()
	u := upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		for {
			f, err := r.Next()
			if err != nil {
				return ended{err}
			}
			checkFrame(t, f)
			if before != nil {
				before(f)
			}
			if err := w.Frame(f); err != nil {
				return err
			}
			if after != nil {
				after(f)
			}
		}
	})
	reply, err := upstream.Collect(t.Context(), u, &upstream.Request{})
	if !errors.As(err, &ended{}) {
		t.Fatalf("the Writer returned %v", err)
	}
	n := reply.Usage
	if min(n.Input, n.CacheRead, n.CacheWrite, n.CacheWrite1h, n.Output, n.Thinking, n.Prompt(), n.Completion()) < 0 {
		t.Errorf("negative usage: %+v", n)
	}
}

// CheckWhole checks in the same way the result of reading a whole response: a
// frame, or an [upstream.Error].
func CheckWhole(t *testing.T, f *upstream.Frame, err error) {
	t.Helper()
	if err != nil {
		if !errors.As(err, new(*upstream.Error)) {
			t.Fatalf("got an error of type %T, want *upstream.Error", err)
		}
		return
	}
	checkFrame(t, f)
	if !json.Valid([]byte(f.Data)) {
		t.Errorf("invalid JSON as data: %q", f.Data)
	}
	if _, err := upstream.Collect(t.Context(), Frames(f), &upstream.Request{}); err != nil {
		t.Errorf("the Writer returned %v", err)
	}
}

// checkFrame checks that a frame has events and that its raw JSON is valid.
func checkFrame(t *testing.T, f *upstream.Frame) {
	t.Helper()
	if len(f.Events) == 0 {
		t.Errorf("frame without events: %q", f.Data)
	}
	for _, e := range f.Events {
		for _, x := range extras(e) {
			if x != nil && (!json.Valid([]byte(x.JSON)) || x.JSON[0] != '{') {
				t.Errorf("got %s, want a JSON object, in %+v", x.JSON, e)
			}
		}
		if e.Stop != nil && e.Stop.Details != "" && !json.Valid([]byte(e.Stop.Details)) {
			t.Errorf("invalid JSON as details: %s", e.Stop.Details)
		}
	}
}

// extras returns the extra members that an event keeps.
func extras(e upstream.Event) []*content.Extra {
	list := []*content.Extra{e.Extra}
	if e.Start != nil {
		list = append(list, e.Start.Extra)
	}
	if e.Usage != nil {
		list = append(list, e.Usage.Extra)
	}
	if e.Stop != nil {
		list = append(list, e.Stop.Extra)
	}
	return append(list, partfield.ExtraOf(e.Part))
}

// Causes returns the texts of err and of the error that it wraps.
func Causes(err error) string {
	if inner := errors.Unwrap(err); inner != nil {
		return err.Error() + ": " + inner.Error()
	}
	return err.Error()
}

// Violations returns the violations in err, one string each: code, path, text.
func Violations(err error) (list []string) {
	all, _ := content.Violations(err)
	for _, e := range all {
		list = append(list, string(e.Code)+" "+e.Path+": "+e.Text)
	}
	return list
}

// Value decodes a JSON document and keeps numbers as they are spelled.
func Value(tb testing.TB, doc string) (v any) {
	tb.Helper()
	d := json.NewDecoder(strings.NewReader(doc))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		tb.Fatalf("%v in %s", err, doc)
	}
	return v
}

// File returns the content of a file.
func File(tb testing.TB, path string) string {
	tb.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return string(b)
}
