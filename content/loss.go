package content

import (
	"strconv"
	"strings"
)

// A Severity says how much a [Loss] matters. The zero Severity is none.
type Severity uint8

const (
	// LossHint: what is asked and answered is still said, in an equivalent form
	// or without what belongs to cost, caching, bookkeeping or the way to an
	// answer, such as a cache mark or an earlier thought. Answers may differ in
	// their words, as they do from one model to another.
	LossHint Severity = iota + 1

	LossDegraded // said in another way, such as an image moved out of a tool result
	LossDropped  // meaning lost, such as a sampling parameter
)

// String returns "hint", "degraded" or "dropped".
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

// A Loss reports that something did not survive on its way from one format to
// another, or only in another form. Reports are made place by place, and say
// nothing of a place twice.
type Loss struct {
	// Path is neutral, such as "turns.3.parts.1", "system.0", "tools.2" or
	// "top_k" for requests. For answers it is the part, numbered as it comes,
	// "parts.2" ("parts" if it is not known which), "stop" for why the answer
	// ended, "usage", or the vendor's own name for any other member or event,
	// such as "logprobsResult" ("members" and "events" for those that cannot be
	// named), with "candidates.1." in front for answers but the first. It is
	// never empty for answers, and the same for streamed and whole ones. Fronts
	// tell it in their own words.
	Path string

	Severity Severity

	// Reason is a sentence for people. It holds no content and no secret.
	Reason string

	// More is how many other places the same holds in: 0 but in what
	// [FoldHints] returns, and in the last of a thousand reports of one thing.
	More int
}

// String returns the loss in one line, such as "hint turns.1.parts.0, and in 3
// more places: the thought is another vendor's and is left out".
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

// FoldHints returns losses for people to read: the same hint, which may hold
// throughout a conversation, once, at the first of its places in turns, system,
// tools and parts, with the number of the others in More. Whatever is degraded or
// dropped keeps a loss for each place, and so does every setting. The order
// stays; losses is left as it is.
func FoldHints(losses []Loss) []Loss {
	list := make([]Loss, 0, len(losses))
	first := map[string]int{} // by reason
	for _, l := range losses {
		if l.Severity == LossHint && repeats(l.Path) {
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

// repeats reports whether a neutral path is of those that there may be many of.
func repeats(path string) bool {
	if rest, ok := strings.CutPrefix(path, "candidates."); ok {
		_, path, _ = strings.Cut(rest, ".")
	}
	switch first, _, _ := strings.Cut(path, "."); first {
	case "turns", "system", "tools", "parts":
		return true
	}
	return false
}
