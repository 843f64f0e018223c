package handler

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/polywire/polywire/content"
)

// addLoss adds a loss to the report and reports whether it is new. A loss is
// reported once, even if several pieces of a response or both the upstream and the
// handler find it. The caller holds the token.
func (x *exchange) addLoss(l content.Loss) (isNew bool) {
	if _, twice := x.losses[l]; twice {
		return false
	}
	if len(x.report.Losses) < maxLosses {
		x.report.Losses = append(x.report.Losses, l)
	} else if !x.replaceLessSevere(l) {
		return true
	}
	if x.losses == nil {
		x.losses = make(map[content.Loss]struct{})
	}
	x.losses[l] = struct{}{}
	return true
}

// maxLosses bounds the losses in a report.
const maxLosses = 1000

// replaceLessSevere replaces the last loss of lower severity in the full list and
// reports whether there was one. It does not replace a loss that counts further
// places.
func (x *exchange) replaceLessSevere(l content.Loss) bool {
	list := x.report.Losses
	for s := content.LossHint; s < l.Severity; s++ {
		for x.searched[s] < len(list) {
			x.searched[s]++
			old := &list[len(list)-x.searched[s]]
			if old.Severity == s && old.More == 0 {
				delete(x.losses, *old)
				*old = l
				return true
			}
		}
	}
	return false
}

// callOnLoss calls the host's OnLoss.
func (x *exchange) callOnLoss(ctx context.Context, losses []content.Loss) {
	if f := x.s.options.OnLoss; f != nil && len(losses) > 0 {
		x.guard(ctx, "OnLoss", func() { f(ctx, losses) })
	}
}

// wholeDocument represents the empty path, which is that of the whole request or
// response.
const wholeDocument = "document"

// maxLossHeader bounds the header with losses, in bytes.
const maxLossHeader = 4 << 10

// setLossHeader sets a header with the losses known so far, most severe first:
// "Polywire-Loss: dropped top_k; hint messages.0.content.1; and 3 more". Each path
// appears once. The number at the end counts losses that do not fit and further
// places of folded hints.
func (x *exchange) setLossHeader(h http.Header) {
	losses := content.FoldHints(x.report.Losses)
	if len(losses) == 0 {
		return
	}
	slices.SortStableFunc(losses, func(a, b content.Loss) int { return cmp.Compare(b.Severity, a.Severity) })
	var b strings.Builder
	seen := make(map[string]bool)
	more, full := 0, false
	for _, l := range losses {
		more += l.More
		if full { // converting a path may require a scan of the whole document
			more++
			continue
		}
		path := headerText(x.path(l.Path))
		if path == "" {
			path = wholeDocument
		}
		if seen[path] {
			continue
		}
		item := l.Severity.String() + " " + path
		if b.Len()+len("; ")+len(item)+countSize > maxLossHeader {
			more++
			full = true
			continue
		}
		seen[path] = true
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

// countSize is the maximum length of the count at the end.
const countSize = len("; and 9223372036854775807 more")

// headerText replaces characters that are invalid in the header or separate its
// items.
func headerText(s string) string {
	return strings.Map(func(r rune) rune {
		if r <= ' ' || r >= 0x7f || r == ';' {
			return '?'
		}
		return r
	}, s)
}
