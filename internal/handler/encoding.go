package handler

import (
	"crypto/rand"
	"slices"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/partfield"
	"github.com/polywire/polywire/upstream"
)

// NewRequestID returns a random id of a request.
func NewRequestID() string { return "req_" + rand.Text() }

// An encoding is what a response has besides its connection: the encoder of its stream,
// and what its events report. A [StreamWriter] and the handlers use it.
type encoding struct {
	request   *upstream.Request    // nil if unknown
	stream    Encoder              // nil for a whole response
	addLosses func([]content.Loss) // of the events and of the encoder
	tally     tally
	started   bool // the upstream has sent more than losses
}

// record records events before they are encoded.
func (c *encoding) record(events []upstream.Event) {
	c.tally.addFrame(events)
	for i := range events {
		switch e := &events[i]; e.Kind {
		case upstream.EventLoss:
			c.addLosses([]content.Loss{*e.Loss})
			continue
		case upstream.EventStart:
			if c.request != nil {
				e.Start = asRequested(c.request, e.Start)
			}
		case upstream.EventText, upstream.EventInput:
			c.tally.written += int64(len(e.Text))
		case upstream.EventOpen:
			c.tally.addPart(e.Part)
		case upstream.EventUsage:
			c.tally.reported = true // even if all counts are zero
		}
		c.started = true
	}
}

// asRequested returns s or, if the client is to receive the model that r requested, a copy
// without the Model. Formats insert the requested model where there is none.
func asRequested(r *upstream.Request, s *upstream.Start) *upstream.Start {
	if !s.ModelAsRequested || s.Model == "" || r.Model == "" {
		return s
	}
	c := *s
	c.Model = ""
	return &c
}

// AsReceived makes events those of their frame if they differ from it only in the model of the
// start, which is that of the request: see asRequested. It returns the model in the frame, or "" if
// it has changed nothing.
func AsReceived(events []upstream.Event) (model string) {
	if len(events) == 0 || events[0].Kind != upstream.EventStart || events[0].Frame == nil {
		return ""
	}
	f := *events[0].Frame
	if len(f.Events) != len(events) || f.Events[0].Kind != upstream.EventStart || events[0].Start.Model != "" {
		return ""
	}
	received := f.Events[0].Start
	if received == events[0].Start || !received.ModelAsRequested {
		return ""
	}
	for i := 1; i < len(events); i++ {
		if events[i] != f.Events[i] {
			return ""
		}
	}
	f.Events = events
	events[0].Frame = &f
	return received.Model
}

// events appends the wire form of events of a stream. What it appends is valid even with
// an error.
func (c *encoding) events(dst []byte, events []upstream.Event) ([]byte, error) {
	dst = c.stream.Events(dst, events)
	c.addLosses(c.stream.Losses())
	if f, ok := c.stream.(FallibleEncoder); ok {
		return dst, f.Err()
	}
	return dst, nil
}

// end appends the normal end of a stream.
func (c *encoding) end(dst []byte) []byte {
	dst = c.stream.End(dst, nil)
	c.addLosses(c.stream.Losses())
	return dst
}

// estimate returns an estimate of the usage if the upstream responded without usage, and
// nil otherwise. If the response is complete, it also returns the events that send the
// estimate to the client. There are none for an Upstream of the host, whose clients
// receive the usage that it reports, and for the vendor's own documents.
func (c *encoding) estimate(complete bool) (u *content.Usage, events []upstream.Event) {
	if c.tally.reported || !c.started || c.request == nil {
		return nil, nil
	}
	u = c.tally.estimate(c.request)
	if complete && c.tally.fromServer && c.tally.foreign {
		c.addLosses([]content.Loss{lossEstimatedUsage.At("usage")})
		events = []upstream.Event{{Kind: upstream.EventUsage, Usage: u}}
	}
	return u, events
}

// EncodeResponse returns what encode makes of a whole response to r, which may be nil, and the
// losses. resp gets the requested model and an estimate of the usage if necessary, as the
// handler of format f would send it.
func EncodeResponse(f content.Format, r *upstream.Request, resp *upstream.Response,
	encode func(*upstream.Request, *upstream.Response) (*jsonwire.Writer, []content.Loss)) ([]byte, []content.Loss) {
	resp, estimated := wholeResponse(f, r, resp)
	w, losses := encode(r, resp)
	return w.Bytes(), append(estimated, losses...)
}

// wholeResponse returns the response to r in format f: resp or, if necessary, a copy that
// has the requested model and an estimate of the usage. The loss is that of the estimate.
func wholeResponse(f content.Format, r *upstream.Request, resp *upstream.Response) (*upstream.Response, []content.Loss) {
	if r == nil || resp == nil {
		return resp, nil
	}
	own := *resp
	own.Start = *asRequested(r, &resp.Start)
	if !slices.ContainsFunc(resp.NoUsageFrom, func(from content.Format) bool { return from != f }) { // bounded by the host
		return &own, nil
	}
	var t tally
	t.addParts(resp.Parts)
	for i := range resp.MoreCandidates {
		t.addParts(resp.MoreCandidates[i].Parts)
	}
	own.Usage, own.NoUsageFrom = *t.estimate(r), nil
	return &own, []content.Loss{lossEstimatedUsage.At("usage")}
}

// lossEstimatedUsage is the loss of a response without usage.
var lossEstimatedUsage = loss.Degraded(loss.ResponseUsage, "the upstream reported no token usage; the counts are estimates")

// A tally counts the tokens of a response.
type tally struct {
	format     content.Format // of the handler
	reported   bool           // the upstream reported usage
	fromServer bool           // the response came from a server, not from the host's own Upstream
	foreign    bool           // part of the response came in another format
	written    int64          // bytes of text, thinking and arguments
}

// addFrame records where events that arrived together came from.
func (t *tally) addFrame(events []upstream.Event) {
	if len(events) > 0 && events[0].Frame != nil {
		t.fromServer = true
		t.foreign = t.foreign || events[0].Frame.Format != t.format
	}
}

func (t *tally) addParts(parts []content.Part) {
	for _, p := range parts {
		t.addPart(p)
	}
}

func (t *tally) addPart(p content.Part) {
	f := partfield.Of(p)
	for _, s := range [...]*string{f.Written(), f.Argument()} {
		if s != nil {
			t.written += int64(len(*s))
		}
	}
}

// bytesPerToken is the average of English text and JSON.
const bytesPerToken = 4

// estimate returns estimated counts for a request and its response.
func (t *tally) estimate(r *upstream.Request) *content.Usage {
	return &content.Usage{
		Input: upstream.EstimateTokens(r), Output: (t.written + bytesPerToken - 1) / bytesPerToken, Estimated: true,
	}
}
