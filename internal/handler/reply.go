package handler

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// succeed ends an answer well.
func (x *exchange) succeed(ctx context.Context, s *sink) {
	if s.call.Stream != nil {
		s.buf = s.call.Stream.End(s.pending(), nil)
		s.lose(s.call.Stream.Lost())
		s.flush()
		if s.err != nil {
			x.explain(ctx, x.left(ctx, s.err))
		}
	} else if err := x.reply(s); err != nil {
		x.explain(ctx, x.left(ctx, err))
	}
	x.hearLoss(ctx, s.lost)
}

// reply writes a whole answer.
func (x *exchange) reply(s *sink) error {
	var from io.WriterTo
	var size int
	if s.whole != "" {
		from, size = strings.NewReader(s.whole), len(s.whole)
	} else {
		reply := s.collect.Response()
		s.lose(reply.Losses[s.told:]) // those that were found in collecting
		doc, lost := s.call.Response(reply)
		s.lose(lost)
		from, size = doc, doc.Len()
	}
	return x.document(from, size)
}

// document writes JSON as the whole answer.
func (x *exchange) document(from io.WriterTo, size int) error {
	h := x.w.Header()
	x.s.dialect.Header(h, x.id)
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(size))
	x.lossHeader(h)
	x.header(http.StatusOK)
	n, err := from.WriteTo(&pieces{x})
	x.report.BytesOut += n
	x.wrote(err)
	if err != nil {
		return &goneError{err}
	}
	return nil
}

// pieces writes in pieces, each with a deadline of its own: a long answer may
// take long as long as it moves.
type pieces struct{ x *exchange }

const replyPiece = 64 << 10

func (p *pieces) Write(b []byte) (n int, err error) {
	for n < len(b) && err == nil {
		p.x.deadline(time.Now().Add(p.x.s.serving.Timeouts.Write))
		var k int
		k, err = p.x.w.Write(b[n:min(len(b), n+replyPiece)])
		n += k
	}
	return n, err
}

func (p *pieces) WriteString(s string) (n int, err error) {
	for n < len(s) && err == nil {
		p.x.deadline(time.Now().Add(p.x.s.serving.Timeouts.Write))
		var k int
		k, err = io.WriteString(p.x.w, s[n:min(len(s), n+replyPiece)])
		n += k
	}
	return n, err
}

// hearLoss calls the host's OnLoss.
func (x *exchange) hearLoss(ctx context.Context, lost []content.Loss) {
	if f := x.s.serving.OnLoss; f != nil && len(lost) > 0 {
		x.guard(ctx, "OnLoss", func() { f(ctx, lost) })
	}
}

// wholeDocument is in the place of an empty path, which is that of the whole
// request or response.
const wholeDocument = "document"

// maxLossHeader bounds the header that tells losses.
const maxLossHeader = 4 << 10

// lossHeader says what was lost as far as it is known now, the worst first:
// "Polywire-Loss: dropped top_k; hint messages.0.content.1; and 3 more". A path
// stands there once, and the count is of what is not named: other places of the
// same hints, and what there is no room for.
func (x *exchange) lossHeader(h http.Header) {
	losses := content.FoldHints(x.report.Losses)
	if len(losses) == 0 {
		return
	}
	slices.SortStableFunc(losses, func(a, b content.Loss) int { return cmp.Compare(b.Severity, a.Severity) })
	var b strings.Builder
	told := make(map[string]bool)
	more, full := 0, false
	for _, l := range losses {
		more += l.More
		if full { // the format's path of a place may cost a look at the whole document
			more++
			continue
		}
		path := headerText(x.path(l.Path))
		if path == "" {
			path = wholeDocument
		}
		if told[path] {
			continue
		}
		item := l.Severity.String() + " " + path
		if b.Len()+len("; ")+len(item)+roomForCount > maxLossHeader {
			more++
			full = true
			continue
		}
		told[path] = true
		if b.Len() > 0 {
			b.WriteString("; ")
		}
		b.WriteString(item)
	}
	if more > 0 {
		fmt.Fprintf(&b, "; and %d more", more)
	}
	h.Set("Polywire-Loss", b.String())
}

// roomForCount is what the count at the end takes at most.
const roomForCount = len("; and 9223372036854775807 more")

// headerText replaces what may not stand in the header, or would look like the
// next item.
func headerText(s string) string {
	return strings.Map(func(r rune) rune {
		if r <= ' ' || r >= 0x7f || r == ';' {
			return '?'
		}
		return r
	}, s)
}

// mapPaths tells the paths of faults in the format's words, where faults are
// what err says.
func mapPaths(err error, path func(string) string) error {
	switch e := outermost(err).(type) {
	case nil, *Failure, *upstream.Error:
		return err
	default:
		return content.MapPaths(e, path)
	}
}
