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

// read reads a stream to its end. Without moulds nothing is read the quick way.
func read(src io.Reader, moulds bool) ([]upstream.Event, error) {
	r := newChatReader(src, content.Limits{Body: 1 << 20}, ThinkTagsOff)
	r.newID = func() string { return "made" }
	var all []upstream.Event
	for {
		f, err := r.Next()
		if err != nil {
			return all, err
		}
		for _, e := range f.Events {
			e.Frame = nil
			all = append(all, e)
		}
		if !moulds {
			r.mould = mould{}
		}
	}
}

func FuzzChatReader(f *testing.F) {
	for _, s := range fuzzSeeds {
		f.Add(s)
	}
	for _, s := range formattest.RecordedSeeds(f, "openai-chat", (*formattest.Record).Stream) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, stream string) {
		want, werr := read(strings.NewReader(stream), true)
		for name, src := range map[string]io.Reader{
			"by bytes": iotest.OneByteReader(strings.NewReader(stream)),
			"halves":   iotest.HalfReader(strings.NewReader(stream)),
			"slowly":   strings.NewReader(stream),
		} {
			got, err := read(src, name != "slowly")
			if (err == io.EOF) != (werr == io.EOF) {
				t.Fatalf("%s: %v, want %v", name, err, werr)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("%s (-want +got):\n%s", name, diff)
			}
		}
		var e *upstream.Error
		if werr != io.EOF && !errors.As(werr, &e) {
			t.Fatalf("the error is %v", werr)
		}
		// What the reader says has to be in the order that a Writer takes.
		if _, err := collectChat(t, strings.NewReader(stream), ThinkTagsLeading); err != nil && !errors.As(err, &e) {
			t.Fatalf("the events are not in order: %v", err)
		}
	})
}

var fuzzSeeds = []string{
	events(chunkOf(`{"content":"a"}`), chunkOf(`{"content":"b"}`), chunkOf(`{"content":"\n"}`), stopped, done),
	events(chunkOf(`{"reasoning_content":"a"}`), chunkOf(`{"reasoning_content":"b"}`), chunkOf(`{"content":"c"}`), chunkOf(`{"content":"d"}`), stopped),
	events(frag(`"index":0,"id":"a","function":{"name":"f","arguments":""}`), frag(`"index":0,"function":{"arguments":"{\"x\":"}`), frag(`"index":0,"function":{"arguments":"1"}`), frag(`"index":0,"function":{"arguments":"}"}`), toolStop, done),
	events(callQuirks[1].chunks...), events(callQuirks[2].chunks...),
	events(frag(`"index":0,"function":{"name":"f","arguments":"{}"}`), frag(`"index":0,"function":{"name":"f","arguments":"{}"}`), toolStop),
	events(chunkOf(`{"reasoning":"a","reasoning_details":[{"type":"reasoning.text","text":"a","index":0}]}`), chunkOf(`{"reasoning":"b","reasoning_details":[{"type":"reasoning.text","text":"b","index":0}]}`), stopped),
	events(`{"choices":[{"index":1,"delta":{"content":"x"}},{"index":0,"delta":{"content":"y"}}]}`, stopped, `{"choices":[{"index":1,"delta":{},"finish_reason":"stop"}]}`),
	events(chunkOf(`{"refusal":"n","content":""}`), chunkOf(`{"refusal":"n","content":"x"}`), stopped),
	events(chunkOf(`{"reasoning":"a","reasoning_details":[{"type":"x","data":"y"}]}`), chunkOf(`{"reasoning":"b","reasoning_details":[{"type":"x","data":"y"}]}`), stopped),
	events(unsure(`{"content":"a"}`), unsure(`{"content":"b"}`), unsure(`{"content":""}`), unsure(`{"content":"c"}`), unsure(`{}`)),
	events(chunkOf(`{"thinking_blocks":[{"type":"thinking","thinking":"a","signature":"s"}]}`), chunkOf(`{"thinking_blocks":[{"type":"thinking","thinking":"a"}]}`), chunkOf(`{"thinking_blocks":[{"type":"thinking","thinking":"a"}]}`), stopped),
	events(`{"error":{"message":"no"}}`), "\n\n{\"choices\":[{\"message\":{\"content\":\"a\"}}]}", ": x\n\ndata:[DONE]", "<html>",
}

// TestCut checks that a stream that was cut before its finish_reason never
// looks whole, wherever that was.
func TestCut(t *testing.T) {
	stream := fuzzSeeds[2]
	last := strings.Index(stream, `{"choices":[{"index":0,"delta":{},"finish_reason"`)
	for i := range stream {
		_, err := read(strings.NewReader(stream[:i]), true)
		if err == io.EOF && i < last+len(toolStop) {
			t.Errorf("cut at %d, it looks whole:\n%s", i, stream[:i])
		}
	}
	for _, end := range []int{last, last + len(toolStop) + len("\n\n")} {
		_, err := read(io.MultiReader(strings.NewReader(stream[:end]), iotest.ErrReader(io.ErrUnexpectedEOF)), true)
		if (err == io.EOF) != (end > last) {
			t.Errorf("the connection breaks at %d: %v", end, err)
		}
	}
}
