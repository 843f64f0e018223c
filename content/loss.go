package content

import (
	"iter"
	"strconv"
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
// form, with all places where it happened. No place is reported twice for one reason.
type Loss struct {
	// Path is the neutral path of the first place.
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

	// Also has the paths of further places with the same severity and reason, at most
	// 999. It is read-only.
	Also []string

	// More is the number of places after those of Also.
	More int
}

// Places returns an iterator over Path and Also.
func (l Loss) Places() iter.Seq[string] {
	return func(yield func(string) bool) {
		if !yield(l.Path) {
			return
		}
		for _, p := range l.Also {
			if !yield(p) {
				return
			}
		}
	}
}

// Count returns the number of places, those of More included.
func (l Loss) Count() int { return 1 + len(l.Also) + l.More }

// String returns the loss in one line, such as "hint turns.1.parts.0, and in 3 more
// places: …".
func (l Loss) String() string {
	where := l.Severity.String()
	if l.Path != "" {
		where += " " + l.Path
	}
	switch more := l.Count() - 1; {
	case more == 1:
		where += ", and in another place"
	case more > 1:
		where += ", and in " + strconv.Itoa(more) + " more places"
	}
	return where + ": " + l.Reason
}
