package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/examples/internal/format"
	"github.com/polywire/polywire/upstream"
)

// maxSteps is the maximum number of events of a stream.
const maxSteps = 10_000

// A streamResult is the answer for /api/stream.
type streamResult struct {
	Steps []*step  `json:"steps"`
	Error string   `json:"error,omitempty"`
	End   []string `json:"end"` // text at the end, for each target
}

// A step is an event of the vendor and what becomes of it.
type step struct {
	span
	Events  []event       `json:"events"`
	Outputs []string      `json:"outputs"` // text that the event appends, for each target
	Losses  []*streamLoss `json:"losses"`
}

// A streamLoss is a loss of a step.
type streamLoss struct {
	loss
	Target int `json:"target"` // index of the target, or -1 for a loss of decoding
}

// translateStream translates a streamed response to all targets, event by event.
func translateStream(r *http.Request, t *task) (*streamResult, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	in, err := newEventSource(t.Text)
	if err != nil {
		return nil, err
	}
	s := &streamTranslation{in: in, result: &streamResult{Steps: in.steps, End: []string{}}, path: t.source.Client.Path, known: map[lossKey]*streamLoss{}}
	for i := range t.Targets {
		s.targets = append(s.targets, newStreamTarget(t.Targets[i].format))
	}
	for _, st := range in.steps {
		st.Outputs = make([]string, len(t.Targets))
	}
	err = upstream.Run(r.Context(), upstream.Replay(t.source.NewStreamReader(in)), t.source.AnyRequest(""), s)
	if err != nil {
		s.result.Error = errorText(err)
	}
	s.end(err)
	return s.result, nil
}

// An eventSource is the text of a stream. Each Read returns one event, so the event that a
// reader has read last is known.
type eventSource struct {
	chunks []string
	steps  []*step // one for each chunk
	next   int     // first chunk that is not read to its end
	last   *step   // of the chunk that was read last
}

// newEventSource splits a stream into its events, each with the empty lines after it.
func newEventSource(text string) (*eventSource, error) {
	s := &eventSource{}
	offsets := newUTF16Offsets(text)
	for from := 0; from < len(text); {
		if len(s.chunks) == maxSteps {
			return nil, fmt.Errorf("text: the stream has more than %d events", maxSteps)
		}
		to := from + eventLen(text[from:])
		s.chunks = append(s.chunks, text[from:to])
		s.steps = append(s.steps, &step{span: offsets.span(span{from, to}), Events: []event{}, Losses: []*streamLoss{}})
		from = to
	}
	if s.steps == nil {
		s.steps = []*step{}
	}
	return s, nil
}

// eventLen returns the length of the event at the begin of a stream, with the empty lines
// after it.
func eventLen(text string) int {
	content, empty := false, false // lines of these kinds were read; empty ones after content
	for i := 0; i < len(text); {
		end := lineLen(text[i:])
		if strings.Trim(text[i:i+end], "\r\n") != "" {
			if empty {
				return i
			}
			content = true
		} else if content {
			empty = true
		}
		i += end
	}
	return len(text)
}

// lineLen returns the length of the first line, with its end.
func lineLen(text string) int {
	i := strings.IndexAny(text, "\r\n")
	switch {
	case i < 0:
		return len(text)
	case strings.HasPrefix(text[i:], "\r\n"):
		return i + 2
	}
	return i + 1
}

// Read implements [io.Reader].
func (s *eventSource) Read(p []byte) (int, error) {
	if s.next == len(s.chunks) {
		return 0, io.EOF
	}
	c := &s.chunks[s.next]
	s.last = s.steps[s.next]
	n := copy(p, *c)
	if *c = (*c)[n:]; *c == "" {
		s.next++
	}
	return n, nil
}

// A streamTranslation is the [upstream.Sink] of the decoded events.
type streamTranslation struct {
	in      *eventSource
	targets []*streamTarget
	result  *streamResult
	path    func(string) string // of losses of decoding
	known   map[lossKey]*streamLoss
}

// A lossKey identifies a place of a loss that is already reported.
type lossKey struct {
	target       int // as in a streamLoss
	reason, path string
}

// A streamTarget writes the stream for the clients of a format.
type streamTarget struct {
	client *format.Client
	out    bytes.Buffer
	w      upstream.StreamWriter
	err    error // of Send
}

func newStreamTarget(f *format.Format) *streamTarget {
	t := &streamTarget{client: &f.Client}
	t.w = f.Client.NewStreamWriter(&t.out, f.AnyRequest(""))
	return t
}

// take returns the text that was written since the last call.
func (t *streamTarget) take() string {
	text := t.out.String()
	t.out.Reset()
	return text
}

// Send implements [upstream.Sink].
func (s *streamTranslation) Send(events []upstream.Event) error {
	st := s.in.last
	if st == nil { // nothing was read, so the stream is empty
		return errors.New("the stream has no event")
	}
	st.Events = append(st.Events, newEvents(events)...)
	for i := range events {
		if l := events[i].Loss; l != nil {
			s.addLosses(st, []content.Loss{*l}, s.path, -1)
		}
	}
	for i, t := range s.targets {
		if t.err == nil {
			t.err = t.w.Send(slices.Clone(events)) // which may change them
		}
		st.Outputs[i] += t.take()
		s.addLosses(st, t.w.Losses(), t.client.Path, i)
	}
	return nil
}

// addLosses adds the places of losses that are new at a step.
func (s *streamTranslation) addLosses(st *step, found []content.Loss, path func(string) string, target int) {
	for _, l := range newLosses(found, path, func(l *loss) { l.Input = &st.span }) {
		key := lossKey{target, l.Reason, l.Neutral}
		if old := s.known[key]; old != nil {
			old.More = l.More
		} else if s.known[lossKey{-1, l.Reason, l.Neutral}] == nil {
			s.known[key] = &streamLoss{l, target}
			st.Losses = append(st.Losses, s.known[key])
		}
	}
}

// end writes the end of the stream for all targets. err is the error of the stream, or nil.
func (s *streamTranslation) end(err error) {
	for i, t := range s.targets {
		failed := t.w.End(errors.Join(err, t.err))
		if s.result.Error == "" && failed != nil {
			s.result.Error = errorText(failed)
		}
		s.result.End = append(s.result.End, t.take())
		if st := s.in.last; st != nil {
			s.addLosses(st, t.w.Losses(), t.client.Path, i)
		}
	}
}
