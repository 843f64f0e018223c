package handler

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/loss"
)

// addLosses adds losses to the report, and what is new to news, if the host wants to know it. The
// caller holds the token.
func (x *exchange) addLosses(losses []content.Loss, news *loss.List) {
	for i := range losses {
		if l, isNew := x.losses.Add(losses[i]); isNew && x.s.options.OnLoss != nil {
			news.Add(l)
		}
	}
	x.report.Losses = x.losses.All
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

// setLossHeader sets a header with the losses known so far, one item for each reason, most
// severe first: "Polywire-Loss: dropped top_k, seed; hint messages.0.content.1 (40 places); and 3
// more". An item has the first places, and the number of all places if it does not name them all.
// The number at the end counts reasons that do not fit.
func (x *exchange) setLossHeader(h http.Header) {
	if len(x.losses.All) == 0 {
		return
	}
	losses := slices.Clone(x.losses.All)
	slices.SortStableFunc(losses, func(a, b content.Loss) int { return cmp.Compare(b.Severity, a.Severity) })
	b := make([]byte, 0, 512)
	for i := range losses {
		l := &losses[i]
		item := b
		if i > 0 {
			item = append(item, "; "...)
		}
		item = append(item, l.Severity.String()...)
		named, all := 0, l.Count()
		for path := range l.Places() {
			if named == maxNamed || named > 0 && l.Severity == content.LossHint {
				break
			}
			if named++; named > 1 {
				item = append(item, ',')
			}
			item = append(append(item, ' '), headerText(cmp.Or(x.path(path), wholeDocument))...)
		}
		if all > named {
			item = fmt.Appendf(item, " (%d places)", all)
		}
		if len(item)+countSize > maxLossHeader { // converting a path may require a scan of the whole document
			b = fmt.Appendf(b, "; and %d more", len(losses)-i)
			break
		}
		b = item
	}
	h.Set("Polywire-Loss", string(b))
}

// maxNamed bounds the places that the header names for a reason. Of hints it names the first.
const maxNamed = 4

// countSize is the maximum length of the count at the end.
const countSize = len("; and 9223372036854775807 more")

// headerText replaces characters that are invalid in the header or separate its
// items.
func headerText(s string) string {
	return strings.Map(func(r rune) rune {
		if r <= ' ' || r >= 0x7f || r == ';' || r == ',' {
			return '?'
		}
		return r
	}, s)
}
