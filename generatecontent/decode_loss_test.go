package generatecontent

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/upstream"
)

// TestDecodeLosses checks that every loss of decoding is in decodeLosses and is reported
// once, and that every rule in decodeLosses occurs.
func TestDecodeLosses(t *testing.T) {
	parts := func(s string) string {
		return `{"candidates":[{"content":{"role":"model","parts":[` + s + `]},"finishReason":"STOP","index":0}]}`
	}
	var many strings.Builder
	for i := range 20 {
		fmt.Fprintf(&many, `"n%d":"%s",`, i, strings.Repeat("x", 4<<10))
	}
	const begins = `{"functionCall":{"name":"f","id":"c","willContinue":true}}`
	piece := func(path string) string {
		return `{"functionCall":{"partialArgs":[{"jsonPath":"` + path + `","stringValue":"x","willContinue":true}],"willContinue":true}}`
	}
	met := map[*loss.Rule]bool{}
	for name, tt := range map[string]struct {
		stream string // a response if it is one document
		rule   *loss.Rule
		path   string
	}{
		"not Unicode":                {streamOf(`{"text":"a\ud800"}`, `{"text":"b\ud800"}`), codec.ResponseNotUnicode, "parts"},
		"no reason":                  {`{"candidates":[{"content":{"parts":[{"text":"a"}]}}]}`, codec.ResponseNoReason, "stop"},
		"arguments as a string":      {parts(`{"functionCall":{"name":"f","args":"{\"a\":1}"}}`), codec.ResponseStringInput, "parts.0"},
		"a member of the wrong type": {parts(`{"text":"a"},{"functionCall":{"name":"f","id":5}}`), codec.ResponseWrongType, "parts.1"},
		"many counts":                {strings.Replace(parts(`{"text":"a"}`), `{`, `{"usageMetadata":{`+many.String()+`"promptTokenCount":1},`, 1), codec.ResponseManyCounts, "usage"},
		"no place":                   {streamOf(begins, piece("$.a.b[0]"), piece("$.a"), piece("$.a"), `{"functionCall":{}}`), lossArgumentPiece, "parts.0"},
		"cut arguments":              {strings.Replace(streamOf(begins, piece("$.a")), "STOP", "MAX_TOKENS", 1), lossCutArguments, "parts.0"},
		"no count":                   {strings.Replace(parts(`{"text":"a"}`), `{`, `{"usageMetadata":{"promptTokenCount":"many","candidatesTokenCount":{}},`, 1), lossTokenCount, "usage"},
	} {
		want := []content.Loss{tt.rule.At(tt.path)}
		if diff := cmp.Diff(want, lossesOf(t, tt.stream)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		met[tt.rule] = true
	}
	for _, r := range decodeLosses {
		if !met[r] {
			t.Errorf("no test case reports: %s", r.Reason)
		}
	}
}

// lossesOf returns the losses of a stream or response.
func lossesOf(t *testing.T, s string) (lost []content.Loss) {
	t.Helper()
	var events []upstream.Event
	if strings.HasPrefix(s, "{") {
		f, err := DecodeFrame(s, content.Limits{})
		if err != nil {
			t.Fatalf("%v in\n%s", err, s)
		}
		events = f.Events
	} else {
		var err error
		if events, err = readEvents(strings.NewReader(s)); err != io.EOF && err != nil {
			t.Fatalf("%v in\n%s", err, s)
		}
	}
	for _, e := range events {
		if e.Kind == upstream.EventLoss {
			lost = append(lost, *e.Loss)
		}
	}
	return lost
}
