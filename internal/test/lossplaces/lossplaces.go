// Package lossplaces lists losses by their places, for tests that expect a list of them.
package lossplaces

import (
	"slices"
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
)

// Of returns losses with one place each. Those of a request come first, in the order of their places:
// settings, system text, turns, tools.
func Of(losses []content.Loss) []content.Loss {
	type place struct {
		loss  content.Loss
		steps []int
	}
	var places []place
	for _, l := range losses {
		for path := range l.Places() {
			places = append(places, place{content.Loss{Path: path, Severity: l.Severity, Reason: l.Reason}, steps(path)})
		}
		places[len(places)-1].loss.More = l.More
	}
	slices.SortStableFunc(places, func(a, b place) int { return slices.Compare(a.steps, b.steps) })
	var list []content.Loss
	for _, p := range places {
		list = append(list, p.loss)
	}
	return list
}

var lists = []string{"system", "turns", "parts", "citations", "tools"}

// steps returns the lists and indexes that a path of a request goes through.
func steps(path string) (list []int) {
	if path == "stop" || path == "usage" || strings.HasPrefix(path, "parts.") || strings.HasPrefix(path, "candidates.") {
		return []int{len(lists)} // of the response
	}
	words := strings.Split(strings.ReplaceAll(path, "source.parts", "parts"), ".")
	for len(words) > 1 {
		rank := slices.Index(lists, words[0])
		index, err := strconv.Atoi(words[1])
		if rank < 0 || err != nil {
			break
		}
		list, words = append(list, rank, index), words[2:]
	}
	return list
}

// Names returns the severities and paths of losses, such as "dropped top_k", in the same order.
func Names(losses []content.Loss) (list []string) {
	for _, l := range Of(losses) {
		list = append(list, l.Severity.String()+" "+l.Path)
	}
	return list
}

// Has reports whether a loss of one place is among losses.
func Has(losses []content.Loss, one content.Loss) bool {
	return slices.ContainsFunc(losses, func(l content.Loss) bool {
		for path := range l.Places() {
			if path == one.Path && l.Severity == one.Severity && l.Reason == one.Reason {
				return true
			}
		}
		return false
	})
}
