package generatecontent

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/handler"
	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/internal/test/lossplaces"
	"github.com/polywire/polywire/upstream"
)

// FuzzEvents makes responses of any valid order of events, and divides them into batches. The
// stream follows the grammar, and neither the division nor frames of the format that are
// forwarded change what the client receives. A whole response has the same content.
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
	for n := range 3000 {
		if checkEvents(t, formattest.RandomBytes(r), formattest.RandomBytes(r), uint8(n)); t.Failed() {
			return
		}
	}
}

// checkEvents checks the response that bytes describe.
func checkEvents(t *testing.T, made, division []byte, how uint8) {
	t.Helper()
	events := formattest.Events(made)
	form, client := framing(how%2), expectation{expectSigned: how%4 >= 2, hideThinking: how%8 >= 4}
	encoded := func(name string, batches [][]upstream.Event) received {
		t.Helper()
		s := newStream(form, "resp", "m")
		s.blocks.expectation = client
		var out []byte
		for _, b := range batches {
			out = s.Events(s.Ping(out), b)
		}
		failure := &handler.Failure{Code: upstream.CodeOverloaded}
		failed := s.Repeat(s.End(slices.Clone(out), failure), failure)
		if h, err := receive(form, string(failed)); err != nil || h.Failure == nil {
			t.Fatalf("%s, failed: %v\n%s", name, err, failed)
		}
		out = s.End(out, nil)
		h, err := receive(form, string(out))
		if err != nil {
			t.Fatalf("%s: %v\n%s\n%s", name, err, out, formattest.DescribeEvents(batches))
		}
		m, err := h.Whole()
		if err != nil {
			t.Fatalf("%s: %v\n%s\n%s", name, err, out, formattest.DescribeEvents(batches))
		}
		if err := s.Err(); err != nil {
			t.Fatal(err)
		}
		return receivedFrom(m, s.Losses())
	}
	compare := func(name string, want, got received, batches [][]upstream.Event) {
		t.Helper()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%s (-at once +divided):\n%s\n%s", name, diff, formattest.DescribeEvents(batches))
		}
	}
	want := encoded("at once", formattest.Divide(events, nil, nil))
	frames := framesOf(events)
	if client.hideThinking {
		frames = nil // they show thinking: the vendor decides
	}
	for name, batches := range formattest.Divisions(events, division, frames) {
		compare(name, want, encoded(name, batches), batches)
	}

	var c upstream.Collector
	if err := c.Send(slices.Clone(events)); err != nil {
		t.Fatal(err)
	}
	collected := c.Response()
	if client.hideThinking && collected.Stop.Format == Format {
		return // the vendor's thinking is shown; only frames show a stream that it is the vendor's
	}
	res, lost := convertResponse(collected, client)
	doc, err := res.AppendJSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := formattest.DecodeObject(doc)
	if err != nil {
		t.Fatalf("%v\n%s", err, doc)
	}
	got := receivedFrom(formattest.NormalResponse(m), lost)
	want.sort()
	got.sort()
	compare("whole", want, got, [][]upstream.Event{events})
}

// A received response is what a client has of it, whatever its division was, by candidate.
type received map[string]*receivedCandidate

type receivedCandidate struct {
	Text, Thinking string   // joined
	Parts          []string // other parts, sorted
	Lost           []string // sorted paths of parts that were dropped or are broken
}

// sort sorts the characters of texts: in a stream, pieces of blocks that overlap have the order
// of their events. It removes candidates without content: a whole response has a candidate for
// every index.
func (r received) sort() {
	for _, c := range r {
		for _, s := range [...]*string{&c.Text, &c.Thinking} {
			list := []rune(*s)
			slices.Sort(list)
			*s = string(list)
		}
	}
}

func receivedFrom(res map[string]any, lost []content.Loss) received {
	all := received{}
	at := func(index string) *receivedCandidate {
		if all[index] == nil {
			all[index] = new(receivedCandidate)
		}
		return all[index]
	}
	candidates, _ := res["candidates"].([]any)
	for _, v := range candidates {
		v := v.(map[string]any)
		c := at(fmt.Sprint(v["index"]))
		parts, _ := v["content"].(map[string]any)["parts"].([]any)
		for _, p := range parts {
			p := p.(map[string]any)
			text, isText := p["text"].(string)
			switch {
			case p["thought"] == true:
				c.Thinking += text
			case isText:
				c.Text += text
			default:
				for _, member := range [...]string{"functionCall", "inlineData", "fileData", "executableCode", "codeExecutionResult"} {
					if v, ok := p[member]; ok {
						c.Parts = append(c.Parts, fmt.Sprint(member, v))
					}
				}
			}
		}
		slices.Sort(c.Parts)
	}
	for _, l := range lossplaces.Of(lost) {
		index, path := "0", l.Path
		if rest, ok := strings.CutPrefix(path, "candidates."); ok {
			index, path, _ = strings.Cut(rest, ".")
		}
		switch l.Reason {
		case foreign.LogprobsLoss.Reason, foreign.SourcesLoss.Reason, foreign.ResumeLoss.Reason,
			lossCitationSource.Reason, lossEmptyCited.Reason, lossCitations.Reason, lossSignatureData.Reason:
			continue // of members, citations and signatures, not of parts
		}
		if l.Severity == content.LossDropped && strings.HasPrefix(path, "parts.") {
			c := at(index)
			c.Lost = append(c.Lost, path)
		}
	}
	for index, c := range all {
		slices.Sort(c.Lost)
		c.Lost = slices.Compact(c.Lost)
		if cmp.Equal(c, new(receivedCandidate)) { // a whole response has a candidate for every index
			delete(all, index)
		}
	}
	return all
}

// framesOf returns a function that returns the chunk of this format for a start or a piece of a
// text, or nil for other events.
func framesOf(events []upstream.Event) func([]upstream.Event) *upstream.Frame {
	parts := map[int]content.Part{}
	for i := range events {
		if e := &events[i]; e.Kind == upstream.EventOpen {
			parts[e.Block] = e.Part
		}
	}
	chunk := func(candidate int, parts string) *upstream.Frame {
		return &upstream.Frame{Format: Format, Data: fmt.Sprintf(
			`{"candidates":[{"content":{"role":"model","parts":[%s]},"index":%d}],"modelVersion":%q,"responseId":%q}`, parts, candidate, startModel(events), startID(events))}
	}
	return func(batch []upstream.Event) *upstream.Frame {
		e := &batch[0]
		if len(batch) > 1 || e.Extra != nil || !utf8.ValidString(e.Text) {
			return nil
		}
		switch e.Kind {
		case upstream.EventStart:
			return chunk(0, `{"text":""}`)
		case upstream.EventText:
			text, _ := json.Marshal(e.Text)
			if _, thinking := parts[e.Block].(*content.Thinking); thinking {
				return chunk(e.Candidate, fmt.Sprintf(`{"text":%s,"thought":true}`, text))
			}
			return chunk(e.Candidate, fmt.Sprintf(`{"text":%s}`, text))
		case upstream.EventOpen:
			if cmp.Equal(e.Part, content.Part(new(content.Text))) {
				return chunk(e.Candidate, `{"text":""}`)
			}
		}
		return nil
	}
}

func startID(events []upstream.Event) string {
	if s := events[0].Start; s != nil && s.ID != "" {
		return s.ID
	}
	return "resp"
}

func startModel(events []upstream.Event) string {
	if s := events[0].Start; s != nil && s.Model != "" {
		return s.Model
	}
	return "m"
}
