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

// addLoss adds a loss to the report and reports whether it is new. The caller holds the
// token.
func (x *exchange) addLoss(l content.Loss) (isNew bool) {
	isNew = x.losses.add(l)
	x.report.Losses = x.losses.list
	return isNew
}

// A lossList collects the losses of a request and its response. The zero value is empty.
type lossList struct {
	list     []content.Loss
	known    map[content.Loss]struct{} // the losses in list
	searched [content.LossDropped]int  // by severity: how many losses at the end of the full list replaceLessSevere has examined
}

// maxLosses bounds the losses in a list.
const maxLosses = 1000

// add adds a loss and reports whether it is new. A loss is in the list once, even if
// several pieces of a response or both the upstream and the encoder find it. If the list
// is full, a loss replaces a less severe one or is omitted.
func (x *lossList) add(l content.Loss) (isNew bool) {
	if _, twice := x.known[l]; twice {
		return false
	}
	if len(x.list) < maxLosses {
		x.list = append(x.list, l)
	} else if !x.replaceLessSevere(l) {
		return true
	}
	if x.known == nil {
		x.known = make(map[content.Loss]struct{})
	}
	x.known[l] = struct{}{}
	return true
}

// replaceLessSevere replaces the last loss of lower severity in the full list and
// reports whether there was one. It does not replace a loss that counts further
// places.
func (x *lossList) replaceLessSevere(l content.Loss) bool {
	for s := content.LossHint; s < l.Severity; s++ {
		for x.searched[s] < len(x.list) {
			x.searched[s]++
			old := &x.list[len(x.list)-x.searched[s]]
			if old.Severity == s && old.More == 0 {
				delete(x.known, *old)
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
		path := cmp.Or(headerText(x.path(l.Path)), wholeDocument)
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
