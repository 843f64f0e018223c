package oracle

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/handler"
	"github.com/polywire/polywire/upstream"
)

// Streams returns the first difference of two encoders over a response, or "".
func Streams(was, is handler.Encoder, batches [][]upstream.Event, end *handler.Failure, ping int) string {
	var lostWas, lostIs []content.Loss
	for i, events := range batches {
		if ping > 0 && i%ping == 0 {
			if a, b := was.Ping(nil), is.Ping(nil); !bytes.Equal(a, b) {
				return fmt.Sprintf("ping %d:\nwas %q\nis  %q", i, a, b)
			}
		}
		a, b := was.Events(nil, slices.Clone(events)), is.Events(nil, slices.Clone(events))
		lostWas, lostIs = append(lostWas, was.Losses()...), append(lostIs, is.Losses()...)
		if !bytes.Equal(a, b) {
			return fmt.Sprintf("batch %d:\nwas %s\nis  %s\n%s", i, a, b, Describe(batches[:i+1]))
		}
		x, y := was.(handler.FallibleEncoder).Err(), is.(handler.FallibleEncoder).Err()
		if (x == nil) != (y == nil) {
			return fmt.Sprintf("batch %d: was %v, is %v", i, x, y)
		}
		if x != nil {
			return ""
		}
	}
	a, b := was.End(nil, end), is.End(nil, end)
	lostWas, lostIs = append(lostWas, was.Losses()...), append(lostIs, is.Losses()...)
	if !bytes.Equal(a, b) {
		return fmt.Sprintf("end:\nwas %s\nis  %s\n%s", a, b, Describe(batches))
	}
	if d := Losses(lostWas, lostIs); d != "" && (is.ContentType() != "text/event-stream; charset=utf-8" || !others(batches)) {
		return d + Describe(batches)
	}
	return ""
}

// Losses returns the difference of two lists of losses, in any order, or "". Hints at a place
// that both report do not count.
func Losses(was, is []content.Loss) string {
	at := func(list []content.Loss, path string, not content.Loss) bool {
		return slices.ContainsFunc(list, func(l content.Loss) bool { return l.Path == path && l != not })
	}
	dropped := func(list []content.Loss, path string) bool {
		return slices.ContainsFunc(list, func(l content.Loss) bool { return l.Path == path && l.Severity == content.LossDropped })
	}
	text := func(list []content.Loss) []string {
		var s []string
		for _, l := range list {
			if l.Severity == content.LossHint && at(was, l.Path, l) && at(is, l.Path, l) || l.Severity < content.LossDropped && (dropped(was, l.Path) && dropped(is, l.Path) || strings.Contains(l.Reason, "too late")) {
				continue
			}
			if l.Severity == content.LossHint && strings.HasPrefix(l.Path, "parts") {
				l.Reason = ""
			}
			s = append(s, l.String())
		}
		slices.Sort(s)
		return slices.Compact(s)
	}
	a, b := text(was), text(is)
	if !slices.Equal(a, b) {
		return fmt.Sprintf("losses:\nwas %s\nis  %s\n", strings.Join(a, "\n    "), strings.Join(b, "\n    "))
	}
	return ""
}

// Describe returns the events, one per line.
func Describe(batches [][]upstream.Event) string {
	var b strings.Builder
	for _, events := range batches {
		if f := upstream.FrameOf(events); f != nil {
			fmt.Fprintf(&b, "- frame %s %q %s\n", f.Format, f.Name, f.Data)
		} else {
			b.WriteString("-\n")
		}
		for _, e := range events {
			fmt.Fprintf(&b, "  %v block %d cand %d text %q part %T", e.Kind, e.Block, e.Candidate, e.Text, e.Part)
			if e.Part != nil {
				fmt.Fprintf(&b, " %+v", e.Part)
			}
			if e.Signature != nil {
				fmt.Fprintf(&b, " sig %+v", *e.Signature)
			}
			if e.Stop != nil {
				fmt.Fprintf(&b, " stop %+v", *e.Stop)
			}
			if e.Usage != nil {
				fmt.Fprintf(&b, " usage %+v", *e.Usage)
			}
			if e.Citation != nil {
				fmt.Fprintf(&b, " cite %+v", *e.Citation)
			}
			if e.Extra != nil {
				fmt.Fprintf(&b, " extra %+v", *e.Extra)
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

func others(batches [][]upstream.Event) bool {
	for _, b := range batches {
		for _, e := range b {
			if e.Candidate != 0 {
				return true
			}
		}
	}
	return false
}
