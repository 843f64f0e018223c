package openai

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// resEvents reads a stream to its end.
func resEvents(src io.Reader) (list []upstream.Event, err error) {
	r := newResReader(src, content.Limits{})
	r.newID = func() string { return "made" }
	for {
		f, err := r.Next()
		if err != nil {
			return list, err
		}
		list = append(list, f.Events...)
	}
}

// resReaderError marks what the reader, not the Writer, failed with.
type resReaderError struct{ error }

func FuzzResponsesReader(f *testing.F) {
	for _, name := range []string{"E24.sse", "E25.sse", "E26.sse"} {
		f.Add(resFile(f, name), 7)
	}
	f.Add(events(resCreated, resAddMsg, resHi, resAddCall, resArg, resArgs, resCallDone, resThink("hm"), resMsgDone, resEnd), 3)
	f.Add(events(another(resAddCall), resAddCall, another(resArg), resArgsDone, resEnding(`{"type":"image_generation_call","id":"i","result":"AAAA"}`)), 1)
	f.Fuzz(func(t *testing.T, stream string, size int) {
		want, wantErr := resEvents(strings.NewReader(stream))
		for name, src := range map[string]io.Reader{
			"bytes":  iotest.OneByteReader(strings.NewReader(stream)),
			"pieces": &inPieces{strings.NewReader(stream), size&63 + 1},
		} {
			got, err := resEvents(src)
			if diff := cmp.Diff(want, got); diff != "" || wantErr.Error() != err.Error() {
				t.Fatalf("%s: error %v, want %v; events (-want +got):\n%s", name, err, wantErr, diff)
			}
		}
		var failed *upstream.Error
		if wantErr != io.EOF && !errors.As(wantErr, &failed) {
			t.Fatalf("the error is a %T", wantErr)
		}
		// The Writer refuses nothing that the reader gives.
		up := upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
			r := newResReader(strings.NewReader(stream), content.Limits{})
			for {
				f, err := r.Next()
				if err != nil {
					return resReaderError{err}
				}
				if err := w.Frame(f); err != nil {
					return err
				}
			}
		})
		reply, err := upstream.Collect(t.Context(), up, &upstream.Request{})
		var reading resReaderError
		if !errors.As(err, &reading) {
			t.Fatalf("the Writer refused: %v", err)
		}
		if u := reply.Usage; u.Input < 0 || u.Output < 0 || u.Thinking < 0 || u.CacheRead < 0 || u.CacheWrite < 0 {
			t.Errorf("negative usage: %+v", u)
		}
	})
}

// inPieces reads at most n bytes at a time.
type inPieces struct {
	r io.Reader
	n int
}

func (p *inPieces) Read(b []byte) (int, error) { return p.r.Read(b[:min(len(b), p.n)]) }

func FuzzResponsesReply(f *testing.F) {
	for _, name := range []string{"E20.json", "E21.json", "E22.json", "E23.json"} {
		f.Add(resFile(f, name))
	}
	f.Fuzz(func(t *testing.T, text string) {
		frame, err := decodeResponses(text, content.Limits{})
		var failed *upstream.Error
		if err != nil {
			if !errors.As(err, &failed) {
				t.Fatalf("the error is a %T", err)
			}
			return
		}
		up := upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error { return w.Frame(frame) })
		if _, err := upstream.Collect(t.Context(), up, &upstream.Request{}); err != nil {
			t.Fatalf("the Writer refused: %v", err)
		}
	})
}

// FuzzResponsesCarried gives the encoder what a client may make of the state
// that it was given to keep.
func FuzzResponsesCarried(f *testing.F) {
	f.Add(think1, `[{"redacted":"{}","back":3}]`, "text")
	f.Add(`{"type":"web_search_call"}`, `[{"signature":"`+`{\"type\":\"reasoning\"}`+`"}]`, "é")
	f.Add("n{\"phase\":\"commentary\"}", "", "")
	f.Fuzz(func(t *testing.T, item, list, text string) {
		n := answered(hidden(item), sayText(text), &content.Thinking{Text: text, Signature: itemSignature(item)},
			&content.ToolUse{ID: "c", Name: "f", Signature: itemSignature(list)}, &content.Text{Text: text, Signature: itemSignature(list)},
			&content.Image{Source: &content.Base64{MediaType: "image/png", Data: "iVBORw0KGgo="}, Signature: itemSignature(item)})
		bodyOf(t, n, KindVendor) // it is JSON
	})
}
