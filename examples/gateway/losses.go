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

// summary says in one line what got lost, the worst first: settings by name,
// what is found in many places by where that is, and hints by their number, as
// in "dropped top_k; degraded tools 3, turns 1; hint 12". Each place is told to
// the client in a header, as far as there is room; a host that wants all of
// them uses OnLoss.
func summary(losses []content.Loss) string {
	var words []string
	for s := content.LossDropped; s > content.LossHint; s-- {
		if list := places(losses, s); list != "" {
			words = append(words, s.String()+" "+list)
		}
	}
	hints := 0
	for _, l := range losses {
		if l.Severity == content.LossHint {
			hints++
		}
	}
	if hints > 0 {
		words = append(words, fmt.Sprintf("hint %d", hints))
	}
	return strings.Join(words, "; ")
}

// mostReasons bounds the lines of one request.
const mostReasons = 100

// explain logs what got lost and why, a line for each loss; a hint that holds in
// many places has one line.
func explain(ctx context.Context, logger *slog.Logger, r *upstream.Report) {
	list := content.FoldHints(r.Losses)
	for i, l := range list {
		if i == mostReasons {
			logger.LogAttrs(ctx, slog.LevelInfo, "more losses", slog.String("request", r.ID), slog.Int("number", len(list)-i))
			return
		}
		logger.LogAttrs(ctx, slog.LevelInfo, "loss", slog.String("request", r.ID), slog.String("what", l.String()))
	}
}

// mostPlaces bounds the line.
const mostPlaces = 12

// places says where the losses of a severity are.
func places(losses []content.Loss, s content.Severity) string {
	var names []string
	counts := map[string]int{}
	for _, l := range losses {
		if l.Severity != s {
			continue
		}
		name, many := place(l.Path)
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
		if many {
			counts[name]++
		}
	}
	more := len(names) - mostPlaces
	names = names[:min(len(names), mostPlaces)]
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

// place returns what a path is counted under, or the path itself if there is one
// of its kind in a request.
func place(path string) (name string, many bool) {
	first, rest, _ := strings.Cut(path, ".")
	switch first {
	case "system", "turns", "tools":
		return first, rest != ""
	case "", "parts", "candidates":
		return "answer", true
	}
	return path, false
}
