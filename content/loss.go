package content

import (
	"strconv"
	"strings"
)

// A Severity is how much a [Loss] matters. Larger values are more severe. The zero
// Severity means no loss.
type Severity uint8

const (
	// LossHint means that the meaning is kept. The form is equivalent, or the loss
	// concerns only cost, caching, bookkeeping or earlier thinking. The wording of the
	// response may differ.
	LossHint Severity = iota + 1

	// LossDegraded means that the meaning is kept in another form, such as an image
	// that is moved out of a tool result, or in a weaker one, such as another amount of
	// thinking.
	LossDegraded
	// LossDropped means that something is omitted, such as a sampling parameter that
	// the server does not support.
	LossDropped
)

// String returns "hint", "degraded" or "dropped", and "none" for any other value.
func (s Severity) String() string {
	switch s {
	case LossHint:
		return "hint"
	case LossDegraded:
		return "degraded"
	case LossDropped:
		return "dropped"
	}
	return "none"
}

// A Loss reports something that another format cannot represent, or only in another
// form. No place is reported twice for one reason.
type Loss struct {
	// Path is the neutral path of the place.
	//
	// In a request it is a path such as "turns.3.parts.1", "system.0", "tools.2" or
	// "top_k".
	//
	// In a response it is the part, "parts.2", numbered in the order of the response
	// ("parts" if the part is unknown); "stop" for the stop reason; "usage"; or the
	// vendor's name of a member or event, such as "logprobsResult" ("members" or
	// "events" if it has no usable name). Candidates after the first have a prefix:
	// "candidates.1.parts.0". Path is never empty in a response, and it is the same for
	// streamed and whole responses.
	//
	// Handlers report paths to clients in the client's format.
	Path string

	Severity Severity

	// Reason is a sentence for people. It contains no content and no secret.
	Reason string

	// More is the number of further places with the same loss. It is 0 except in
	// results of [FoldHints] and in the last of 1,000 losses with the same reason.
	More int
}

// String returns the loss in one line, such as "hint turns.1.parts.0, and in 3 more
// places: …".
func (l Loss) String() string {
	where := l.Severity.String()
	if l.Path != "" {
		where += " " + l.Path
	}
	switch {
	case l.More == 1:
		where += ", and in another place"
	case l.More > 1:
		where += ", and in " + strconv.Itoa(l.More) + " more places"
	}
	return where + ": " + l.Reason
}

// FoldHints shortens a list of losses for people. It combines hints with the same
// reason in turns, system, tools and parts into the first one, whose More counts the
// others. It keeps all other losses: degraded and dropped ones, and those of settings.
// It keeps the order and does not change losses.
func FoldHints(losses []Loss) []Loss {
	list := make([]Loss, 0, len(losses))
	first := map[string]int{} // by reason
	for _, l := range losses {
		if l.Severity == LossHint && isListPath(l.Path) {
			if i, ok := first[l.Reason]; ok {
				list[i].More += 1 + l.More
				continue
			}
			first[l.Reason] = len(list)
		}
		list = append(list, l)
	}
	return list
}

// isListPath reports whether path is in a list that may have many elements.
func isListPath(path string) bool {
	if rest, ok := strings.CutPrefix(path, "candidates."); ok {
		_, path, _ = strings.Cut(rest, ".")
	}
	switch first, _, _ := strings.Cut(path, "."); first {
	case "turns", "system", "tools", "parts":
		return true
	}
	return false
}
