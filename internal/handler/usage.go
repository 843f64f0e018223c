package handler

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/upstream"
)

// lostCounts is the loss of a response without usage.
var lostCounts = &loss.Rule{Feature: loss.ResponseUsage, Severity: content.LossDegraded,
	Reason: "the server did not report how many tokens were used: the counts are estimates"}

// A tally is what is known of the tokens of a response.
type tally struct {
	format   content.Format // the handler's
	reported bool           // there were counts
	framed   bool           // the response came from a server, not from a host's own Upstream
	foreign  bool           // some of it came in another format, or not quite in the handler's
	written  int64          // bytes of text, thinking and arguments
}

// add adds events that arrived together. It allocates nothing.
func (t *tally) add(events []upstream.Event) {
	if len(events) > 0 && events[0].Frame != nil {
		t.framed = true
		t.foreign = t.foreign || events[0].Frame.Format != t.format
	}
	for i := range events {
		switch e := &events[i]; e.Kind {
		case upstream.EventText, upstream.EventInput:
			t.written += int64(len(e.Text))
		case upstream.EventOpen:
			t.opened(e.Part)
		case upstream.EventUsage:
			t.reported = true // zeros are counts, too
		}
	}
}

func (t *tally) opened(p content.Part) {
	if content.IsNil(p) {
		return
	}
	switch p := p.(type) {
	case *content.Text:
		t.written += int64(len(p.Text))
	case *content.Thinking:
		t.written += int64(len(p.Text))
	case *content.ToolUse:
		t.written += int64(len(p.Input))
	}
}

// bytesPerToken is about that of English text and of JSON.
const bytesPerToken = 4

// estimate returns estimated counts for a request and its response.
func (t *tally) estimate(r *upstream.Request) content.Usage {
	return content.Usage{
		Input: upstream.EstimateTokens(r), Output: (t.written + bytesPerToken - 1) / bytesPerToken, Estimated: true,
	}
}

// unreported puts an estimate into the report if the upstream has responded and
// not reported any counts. If the response is whole and comes from a server, the
// client gets the estimate too, but not in a document that passes as the vendor
// wrote it. An Upstream of the host's own decides for itself what clients get.
func (x *exchange) unreported(s *sink, whole bool) {
	if s.tally.reported || !s.first || s.call.Request == nil {
		return
	}
	u := s.tally.estimate(s.call.Request)
	x.report.Usage = u
	if !whole || !s.tally.framed || !s.tally.foreign {
		return
	}
	s.lose([]content.Loss{lostCounts.At("usage")})
	events := []upstream.Event{{Kind: upstream.EventUsage, Usage: &u}}
	if s.call.Stream == nil {
		s.err = s.collect.Send(events)
		return
	}
	s.buf = s.call.Stream.Events(s.pending(), events)
	s.held = len(s.buf)
	s.lose(s.call.Stream.Lost())
}
