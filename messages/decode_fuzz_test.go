package messages

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// errReader marks what the reader, not the Writer, failed with.
type errReader struct{ err error }

func (e errReader) Error() string { return e.err.Error() }

func FuzzStreamReader(f *testing.F) {
	for _, name := range []string{"E21", "E22", "E23", "E24", "E25"} {
		f.Add(example(f, name+".sse"), byte(7))
	}
	f.Add(long, byte(1))
	f.Add(changed(`"index":1,`, "", `"input":{}`, `"input":"{}"`, `"text":"hi"`, `"text":"\ud800"`), byte(3))
	f.Add(line(lineStart)+line(lineDelta)+line(lineDelta)+line(lineEnd), byte(0))
	f.Add(line(lineStart)+"data: {\"a\":1}\n\n"+line(lineEnd), byte(1))
	f.Fuzz(func(t *testing.T, stream string, size byte) {
		want, wantErr := decodeStream(strings.NewReader(stream))
		for name, src := range map[string]io.Reader{
			"bytes":  iotest.OneByteReader(strings.NewReader(stream)),
			"pieces": &sized{strings.NewReader(stream), int(size) + 1},
		} {
			got, err := decodeStream(src)
			if diff := cmp.Diff(want, got); diff != "" || errText(err) != errText(wantErr) {
				t.Fatalf("%s: error %v, want %v; events (-want +got):\n%s", name, err, wantErr, diff)
			}
		}
		var failed *upstream.Error
		if wantErr != io.EOF && !errors.As(wantErr, &failed) {
			t.Fatalf("the error is a %T", wantErr)
		}

		// The Writer refuses nothing that the reader gives.
		u := upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
			r := NewStreamReader(strings.NewReader(stream), content.Limits{})
			for {
				f, err := r.Next()
				if err != nil {
					return errReader{err}
				}
				if len(f.Events) == 0 {
					t.Error("a frame without events")
				}
				if f.Format == Format && (f.Name == "" || strings.ContainsAny(f.Name, "\r\n") || !json.Valid([]byte(f.Data))) {
					t.Errorf("a frame that cannot be sent: %q %q", f.Name, f.Data)
				}
				for _, e := range f.Events {
					checkJSON(t, e)
				}
				if err := w.Frame(f); err != nil {
					return err
				}
			}
		})
		reply, err := upstream.Collect(t.Context(), u, &upstream.Request{})
		var reading errReader
		if !errors.As(err, &reading) {
			t.Fatalf("the Writer refused: %v", err)
		}
		if reply.Usage.Prompt() < 0 || reply.Usage.Answer() < 0 || reply.Usage.Output < 0 {
			t.Errorf("negative usage: %+v", reply.Usage)
		}
		if wantErr != io.EOF {
			return
		}

		// What the server's side makes of it is a stream that passes unchanged.
		once, err := relay(t, stream)
		if err != nil {
			t.Fatal(err)
		}
		twice, err := relay(t, once)
		if diff := cmp.Diff(once, twice); diff != "" || err != nil {
			t.Errorf("relayed again: error %v (-once +twice):\n%s", err, diff)
		}
	})
}

// checkJSON checks what is passed on as raw JSON.
func checkJSON(t *testing.T, e upstream.Event) {
	for _, x := range []*content.Extra{e.Extra, extraOfStart(e.Start), extraOfUsage(e.Usage), extraOfStop(e.Stop)} {
		if x != nil && (!json.Valid([]byte(x.JSON)) || x.JSON[0] != '{') {
			t.Errorf("the Extra is no object: %s", x.JSON)
		}
	}
	if e.Stop != nil && e.Stop.Details != "" && !json.Valid([]byte(e.Stop.Details)) {
		t.Errorf("the details are no JSON: %s", e.Stop.Details)
	}
}

func extraOfStart(s *upstream.Start) *content.Extra {
	if s == nil {
		return nil
	}
	return s.Extra
}

func extraOfUsage(u *content.Usage) *content.Extra {
	if u == nil {
		return nil
	}
	return u.Extra
}

func extraOfStop(s *upstream.Stop) *content.Extra {
	if s == nil {
		return nil
	}
	return s.Extra
}

func errText(err error) string {
	if inner := errors.Unwrap(err); inner != nil {
		return err.Error() + ": " + inner.Error()
	}
	return err.Error()
}

// sized reads at most n bytes at a time.
type sized struct {
	r io.Reader
	n int
}

func (s *sized) Read(p []byte) (int, error) { return s.r.Read(p[:min(len(p), s.n)]) }

func FuzzDecodeReply(f *testing.F) {
	for _, name := range []string{"E02", "E04", "E07", "E10", "E12", "E17", "E18", "E19", "E26"} {
		f.Add(example(f, name+".json"))
	}
	f.Add(`{"content":"x"}`)
	f.Fuzz(func(t *testing.T, body string) {
		frame, err := DecodeReply(body, content.Limits{})
		var failed *upstream.Error
		if err != nil {
			if !errors.As(err, &failed) {
				t.Fatalf("the error is a %T", err)
			}
			return
		}
		if !json.Valid([]byte(frame.Data)) {
			t.Errorf("the data is no JSON")
		}
		for _, e := range frame.Events {
			checkJSON(t, e)
		}
		if _, err := upstream.Collect(t.Context(), answering(frame), &upstream.Request{}); err != nil {
			t.Errorf("the Writer refused: %v", err)
		}
	})
}

func FuzzDecodeError(f *testing.F) {
	f.Add(400, "5", envelope("invalid_request_error", "x"))
	f.Add(429, "1e9", "<html>")
	f.Fuzz(func(t *testing.T, status int, after, body string) {
		e := DecodeError(status, map[string][]string{"Retry-After": {after}, "Request-Id": {after}}, []byte(body))
		if len(e.Text) > 2<<10 || strings.ContainsAny(e.Text, "\r\n") || e.RetryAfter < 0 || e.RetryAfter.Hours() > 1 {
			t.Errorf("got %q, %v", e.Text, e.RetryAfter)
		}
		if cause := e.Err.Error(); strings.ContainsAny(cause, "\r\n") {
			t.Errorf("the cause has several lines: %q", cause)
		}
	})
}
