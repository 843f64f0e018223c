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
	"github.com/polywire/polywire/upstream"
)

// A FrameReader reads the answer of a server, as the readers of the formats do.
type FrameReader interface {
	Next() (*upstream.Frame, error)
}

// Replay answers once with the frames of a stream, as an adapter does.
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

// Frames answers with the given frames.
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

// Edited answers as up does, with every list of events as edit leaves it.
// Without edit it is up.
func Edited(up upstream.Upstream, edit func([]upstream.Event) []upstream.Event) upstream.Upstream {
	if edit == nil {
		return up
	}
	return upstream.Tap(up, func(_ context.Context, _ *upstream.Request, to upstream.Sink) upstream.Sink {
		return upstream.SinkFunc(func(es []upstream.Event) error {
			if es = edit(es); len(es) == 0 {
				return nil
			}
			return to.Send(es)
		})
	})
}

// Drain reads a stream to its end, which must be a good one.
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

// ended marks that a stream ended, well or not, and the Writer did not fail.
type ended struct{ error }

// Taken checks that the frames of a reader are sound, and that the Writer refuses
// none of them. The hooks may be nil; they look at each frame in front of the
// Writer, and behind it.
func Taken(t *testing.T, r FrameReader, before, after func(*upstream.Frame)) {
	t.Helper()
	u := upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		for {
			f, err := r.Next()
			if err != nil {
				return ended{err}
			}
			sound(t, f)
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
		t.Fatalf("the Writer refused: %v", err)
	}
	n := reply.Usage
	if min(n.Input, n.CacheRead, n.CacheWrite, n.CacheWrite1h, n.Output, n.Thinking, n.Prompt(), n.Completion()) < 0 {
		t.Errorf("negative usage: %+v", n)
	}
}

// TakenWhole checks in the same way what was made of an answer in one piece:
// a frame, or an error that says how the server failed.
func TakenWhole(t *testing.T, f *upstream.Frame, err error) {
	t.Helper()
	if err != nil {
		if !errors.As(err, new(*upstream.Error)) {
			t.Fatalf("the error is a %T", err)
		}
		return
	}
	sound(t, f)
	if !json.Valid([]byte(f.Data)) {
		t.Errorf("the data is no JSON: %q", f.Data)
	}
	if _, err := upstream.Collect(t.Context(), Frames(f), &upstream.Request{}); err != nil {
		t.Errorf("the Writer refused: %v", err)
	}
}

// sound checks that a frame says something, and that what is passed on as raw
// JSON is JSON.
func sound(t *testing.T, f *upstream.Frame) {
	t.Helper()
	if len(f.Events) == 0 {
		t.Errorf("a frame without events: %q", f.Data)
	}
	for _, e := range f.Events {
		for _, x := range extras(e) {
			if x != nil && (!json.Valid([]byte(x.JSON)) || x.JSON[0] != '{') {
				t.Errorf("no object: %s in %+v", x.JSON, e)
			}
		}
		if e.Stop != nil && e.Stop.Details != "" && !json.Valid([]byte(e.Stop.Details)) {
			t.Errorf("the details are no JSON: %s", e.Stop.Details)
		}
	}
}

// extras returns what an event keeps that was not modelled.
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
	switch p := e.Part.(type) {
	case *content.Text:
		list = append(list, p.Extra)
	case *content.Thinking:
		list = append(list, p.Extra)
	case *content.ToolUse:
		list = append(list, p.Extra)
	case *content.ServerToolUse:
		list = append(list, p.Extra)
	case *content.ServerToolResult:
		list = append(list, p.Extra)
	}
	return list
}

// Causes returns what an error says, and what the error in it does.
func Causes(err error) string {
	if inner := errors.Unwrap(err); inner != nil {
		return err.Error() + ": " + inner.Error()
	}
	return err.Error()
}

// Faults returns the faults of err, one a line: code, path, text.
func Faults(err error) (list []string) {
	all, _ := content.Violations(err)
	for _, e := range all {
		list = append(list, string(e.Code)+" "+e.Path+": "+e.Text)
	}
	return list
}

// Value returns what a JSON document says. Numbers count as they are spelled.
func Value(tb testing.TB, doc string) (v any) {
	tb.Helper()
	d := json.NewDecoder(strings.NewReader(doc))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		tb.Fatalf("%v in %s", err, doc)
	}
	return v
}

// File returns what a file holds.
func File(tb testing.TB, path string) string {
	tb.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return string(b)
}
