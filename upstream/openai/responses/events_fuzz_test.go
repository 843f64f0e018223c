package responses

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/handler"
	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/internal/test/lossplaces"
	"github.com/polywire/polywire/upstream"
)

// FuzzEvents makes responses of any valid order of events, and divides them into batches. The
// stream follows the grammar, and the division does not change what the client receives. A whole
// response has the same content.
func FuzzEvents(f *testing.F) {
	r := rand.New(rand.NewPCG(3, 4))
	for how := range uint8(8) {
		f.Add(formattest.RandomBytes(r), formattest.RandomBytes(r), how)
	}
	f.Fuzz(func(t *testing.T, response, division []byte, how uint8) {
		if len(response) <= 400 {
			checkEvents(t, response, division, how)
		}
	})
}

// TestEvents is FuzzEvents with the same responses each time.
func TestEvents(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 1000 {
		if checkEvents(t, formattest.RandomBytes(r), formattest.RandomBytes(r), uint8(n)); t.Failed() {
			return
		}
	}
}

// checkEvents checks the response that bytes describe.
func checkEvents(t *testing.T, made, division []byte, how uint8) {
	t.Helper()
	events := formattest.Events(made)
	x := expectation{hideThinking: how%3 == 1, returnsItems: how%3 == 2}
	receive := func(name string, batches [][]upstream.Event) received {
		t.Helper()
		s := testStream(x)
		var out []byte
		for _, b := range batches {
			out = s.Events(out, b)
		}
		failed := testStream(x)
		var cut []byte
		for _, b := range batches {
			cut = failed.Events(cut, slices.Clone(b))
		}
		r := new(formattest.ResponseStream)
		if err := r.Read(string(failed.End(cut, &handler.Failure{Code: upstream.CodeOverloaded}))); err != nil {
			t.Fatalf("%s, failed: %v\n%s", name, err, formattest.DescribeEvents(batches))
		}
		out = s.End(out, nil)
		r = new(formattest.ResponseStream)
		if err := r.Read(string(out)); err != nil {
			t.Fatalf("%s: %v\n%s\n%s", name, err, out, formattest.DescribeEvents(batches))
		}
		return receivedFrom(t, r.Final, s.Losses())
	}
	want := receive("at once", formattest.Divide(events, nil, nil))
	compare := func(name string, got received, batches [][]upstream.Event) {
		t.Helper()
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(received{})); diff != "" {
			t.Fatalf("%s (-at once +divided):\n%s\n%s", name, diff, formattest.DescribeEvents(batches))
		}
	}
	for name, batches := range formattest.Divisions(events, division, nil) {
		compare(name, receive(name, batches), batches)
	}

	var c upstream.Collector
	if err := c.Send(slices.Clone(events)); err != nil {
		t.Fatal(err)
	}
	s := newWhole(nil)
	s.expectation = x
	w, lost := s.convertResponse(c.Response())
	if !gjson.Valid(w.Text()) {
		t.Fatalf("not valid: %s", w.Text())
	}
	compare("whole", receivedFrom(t, gjson.Parse(w.Text()), lost), [][]upstream.Event{events})
}

// A received response is what a client has of it, whatever its division was.
type received struct {
	text, thinking string   // in order
	calls          []string // sorted: calls that may be broken begin later
	others         []string // sorted
	lost           []string // sorted paths of parts that were dropped or are broken
	status         string
}

func receivedFrom(t *testing.T, v gjson.Result, lost []content.Loss) (r received) {
	t.Helper()
	ids := make(map[string]bool)
	for _, x := range v.Get("output").Array() {
		switch kind := x.Get("type").Str; kind {
		case "message":
			for _, p := range x.Get("content").Array() {
				r.text += p.Get("text").Str + p.Get("refusal").Str
			}
		case "reasoning":
			for _, p := range x.Get("summary").Array() {
				r.thinking += p.Get("text").Str
			}
		case "function_call", "custom_tool_call":
			if id := x.Get("call_id").Str; ids[id] || id == "" {
				t.Errorf("two calls, or one without an id: %q", id)
			} else {
				ids[id] = true
			}
			if x.Get("status").Str == "completed" { // broken calls are items only in a stream
				r.calls = append(r.calls, x.Get("name").Str+x.Get("arguments").Str+x.Get("input").Str)
			}
		default:
			r.others = append(r.others, fmt.Sprint(kind, x.Get("result").Str))
		}
	}
	for _, l := range lossplaces.Of(lost) {
		members := l.Reason == foreign.LogprobsLoss.Reason || l.Reason == foreign.SourcesLoss.Reason || l.Reason == foreign.ResumeLoss.Reason
		if l.Severity == content.LossDropped && strings.HasPrefix(l.Path, "parts.") && !members {
			r.lost = append(r.lost, l.Path)
		}
	}
	slices.Sort(r.lost)
	r.lost = slices.Compact(r.lost)
	slices.Sort(r.calls)
	slices.Sort(r.others)
	r.status = v.Get("status").Str + v.Get("incomplete_details.reason").Str
	return r
}
