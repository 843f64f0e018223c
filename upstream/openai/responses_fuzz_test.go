package openai

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/formattest"
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

func FuzzResponsesReader(f *testing.F) {
	for _, name := range []string{"E24.sse", "E25.sse", "E26.sse"} {
		f.Add(example(f, name), 7)
	}
	f.Add(events(resCreated, resAddMsg, resHi, resAddCall, resArg, resArgs, resCallDone, resThink("hm"), resMsgDone, resEnd), 3)
	f.Add(events(another(resAddCall), resAddCall, another(resArg), resArgsDone, resEnding(`{"type":"image_generation_call","id":"i","result":"AAAA"}`)), 1)
	for _, s := range formattest.RecordedSeeds(f, "openai-responses", (*formattest.Record).Stream) {
		f.Add(s, 15)
	}
	f.Fuzz(func(t *testing.T, stream string, size int) {
		want, wantErr := resEvents(strings.NewReader(stream))
		for name, src := range map[string]io.Reader{
			"bytes":  iotest.OneByteReader(strings.NewReader(stream)),
			"pieces": formattest.Pieces(strings.NewReader(stream), size&63+1),
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
		formattest.Taken(t, newResReader(strings.NewReader(stream), content.Limits{}), nil, nil)
	})
}

func FuzzResponsesReply(f *testing.F) {
	for _, name := range []string{"E20.json", "E21.json", "E22.json", "E23.json"} {
		f.Add(example(f, name))
	}
	for _, s := range formattest.RecordedSeeds(f, "openai-responses", (*formattest.Record).Whole) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		frame, err := decodeResponses(text, content.Limits{})
		formattest.TakenWhole(t, frame, err)
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
