package record

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/script"
)

// A Player is an Upstream that responds with the exchanges of a recording. It is safe for
// concurrent use.
type Player struct {
	// Timing makes the Player write each event as long after the request as it was recorded. By
	// default it writes them at once. Set it before the first request.
	Timing bool

	exchanges []*exchange

	mu sync.Mutex // of exchange.played
}

// An exchange is a recorded request and its response.
type exchange struct {
	request []line
	events  []timedEvent
	err     error // of Generate
	played  bool
}

type timedEvent struct {
	upstream.Event
	after time.Duration
}

// NewPlayer reads a recording from r, to its end. It returns an error, with the number of the
// line, if it is not one, or if its last exchange is incomplete.
func NewPlayer(r io.Reader) (*Player, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	p, n := new(Player), 0
	var open *exchange
	for text := range strings.Lines(string(text)) {
		n++
		if strings.TrimSpace(text) == "" {
			continue
		}
		f, err := readLine(text)
		if err == nil && open == nil && !f.has("request") {
			err = errors.New("want the beginning of a request, {\"request\":…}")
		}
		if err != nil {
			return nil, fmt.Errorf("record: line %d: %w", n, err)
		}
		switch {
		case f.has("request"):
			open = new(exchange)
		case f.has("event"):
			var e timedEvent
			var milliseconds int64
			f.event(&e.Event)
			f.number("ms", &milliseconds)
			e.after = time.Duration(milliseconds) * time.Millisecond
			open.events = append(open.events, e)
		case f.has("end"):
			e := new(upstream.Error)
			if f.end(e); e.Code != "" {
				open.err = e
			}
			p.exchanges, open = append(p.exchanges, open), nil
		default:
			for path, v := range f.in {
				open.request = append(open.request, line{path, v.Raw()})
			}
		}
		if f.err != nil {
			return nil, fmt.Errorf("record: line %d: %w", n, f.err)
		}
	}
	if open != nil {
		return nil, fmt.Errorf("record: line %d: the last exchange has no end", n)
	}
	return p, nil
}

// readLine reads an object.
func readLine(text string) (*fields, error) {
	doc, err := jsonwire.Parse(text, jsonwire.Limits{})
	if err != nil {
		return nil, err
	}
	return &fields{in: maps.Collect(doc.Root().Members())}, nil // the values refer to doc, which is not closed
}

// Generate responds with the response to an equal request. Several recordings of equal requests
// are played in their order, the last one again and again. If no request is equal, Generate
// returns a [*content.Violation] at the first place that differs from the request that is most
// similar.
func (p *Player) Generate(ctx context.Context, r *upstream.Request, w *upstream.Writer) error {
	x, err := p.find(r)
	if err != nil {
		return err
	}
	began := time.Now()
	for _, e := range x.events {
		if p.Timing {
			if err := script.Wait(e.after-time.Since(began))(ctx, r, w); err != nil {
				return err
			}
		}
		if err := w.Send([]upstream.Event{e.Event}); err != nil {
			return err
		}
	}
	return x.err
}

// find returns the exchange for r.
func (p *Player) find(r *upstream.Request) (*exchange, error) {
	lines, err := requestLines(r)
	if err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	var equal *exchange
	nearest := &content.Violation{Code: content.CodeValue, Text: "there is no recording of this request: the recording is empty"}
	best, bestText := -1, 0
	p.mu.Lock()
	defer p.mu.Unlock()
	for n, x := range p.exchanges {
		same, path, was, is := difference(x.request, lines)
		if path == "" {
			if equal = x; !x.played {
				break
			}
		} else if text := common(was, is); same > best || same == best && text > bestText {
			best, bestText = same, text
			nearest.Path = place(r, path)
			nearest.Text = fmt.Sprintf("there is no recording of this request: here it has %s, and the most similar one, number %d, has %s",
				excerpt(is, was), n+1, excerpt(was, is))
		}
	}
	if equal == nil {
		return nil, nearest
	}
	equal.played = true
	return equal, nil
}
