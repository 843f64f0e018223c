package main

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// summary returns losses in one line, the most severe first, such as "dropped top_k;
// degraded tools 3, turns 1; hint 12". Settings appear by name, other places by where
// they are and their number, and hints by number only.
func summary(losses []content.Loss) string {
	var items []string
	for s := content.LossDropped; s > content.LossHint; s-- {
		if list := places(losses, s); list != "" {
			items = append(items, s.String()+" "+list)
		}
	}
	hints := 0
	for _, l := range losses {
		if l.Severity == content.LossHint {
			hints += l.Count()
		}
	}
	if hints > 0 {
		items = append(items, fmt.Sprintf("hint %d", hints))
	}
	return strings.Join(items, "; ")
}

// maxReasons bounds the loss lines of one request.
const maxReasons = 100

// logLosses logs each loss with its reason. If the request was rejected because of its losses,
// the lines say so: nothing was dropped.
func logLosses(ctx context.Context, logger *slog.Logger, r *upstream.Report, rejected bool) {
	message := "loss"
	if rejected {
		message = "loss of a rejected request"
	}
	for i, l := range r.Losses {
		if i == maxReasons {
			logger.LogAttrs(ctx, slog.LevelInfo, "more losses", slog.String("request", r.ID), slog.Int("number", len(r.Losses)-i))
			return
		}
		logger.LogAttrs(ctx, slog.LevelInfo, message, slog.String("request", r.ID), slog.String("what", l.String()))
	}
}

// maxPlaces bounds the places in a summary.
const maxPlaces = 12

// places returns the places of the losses with severity s.
func places(losses []content.Loss, s content.Severity) string {
	var names []string
	counts := map[string]int{}
	for _, l := range losses {
		if l.Severity != s {
			continue
		}
		for path := range l.Places() {
			name, many := place(path)
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
			if many {
				counts[name]++
			}
		}
	}
	more := len(names) - maxPlaces
	names = names[:min(len(names), maxPlaces)]
	for i, name := range names {
		if n := counts[name]; n > 0 {
			names[i] = fmt.Sprint(name, " ", n)
		}
	}
	if more > 0 {
		names = append(names, fmt.Sprint(more, " more"))
	}
	return strings.Join(names, ", ")
}

// place returns the name of the group that a path is counted in. A path that a request
// has only once is its own group, and many is false.
func place(path string) (name string, many bool) {
	first, rest, _ := strings.Cut(path, ".")
	switch first {
	case "system", "turns", "tools":
		return first, rest != ""
	case "", "parts", "candidates":
		return "response", true
	}
	return path, false
}
