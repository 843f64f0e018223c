package codec

import (
	"slices"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// A body shorter than SealFrom need not be sealed: most of them go nowhere, and
// to parse one again costs less than sealing all.
const SealFrom = 2 << 10

// Sealed is what a request said in neutral words when it was parsed. It shares
// parts and lists with the format's own request, so upstream's comparison sees
// whatever has been changed in place.
type Sealed struct {
	request upstream.Request
	wire    upstream.Wire
}

// Seal remembers n, which was parsed from the document in w. It copies neither;
// what n points at must be what later requests point at too.
func Seal(n *upstream.Request, w upstream.Wire) *Sealed {
	s := &Sealed{request: *n, wire: w}
	s.request.Remember(&s.wire)
	return s
}

// Same reports whether n says what the sealed request said, but for Model and
// Stream. Lists that were copied count as changed.
func (s *Sealed) Same(n *upstream.Request) bool {
	if upstream.WireOf(&s.request, s.wire.Format) == nil {
		return false
	}
	o := &s.request
	return sameList(n.System, o.System) && sameList(n.Turns, o.Turns) && sameList(n.Tools, o.Tools) &&
		sameSampling(n, o) &&
		n.Choice.Mode == o.Choice.Mode && n.Choice.NoParallel == o.Choice.NoParallel &&
		slices.Equal(n.Choice.Names, o.Choice.Names) && sameExtra(n.Choice.Extra, o.Choice.Extra) &&
		sameThinking(&n.Thinking, &o.Thinking) && sameOutput(&n.Output, &o.Output) &&
		n.UserID == o.UserID && n.ServiceTier == o.ServiceTier && sameExtra(n.Extra, o.Extra)
}

// sameList reports whether two lists are the same memory.
func sameList[T any](a, b []T) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

func sameExtra(a, b *content.Extra) bool { return a == b || a != nil && b != nil && *a == *b }

func sameSampling(a, b *upstream.Request) bool {
	return a.MaxTokens == b.MaxTokens && a.Temperature == b.Temperature && a.TopP == b.TopP && a.TopK == b.TopK &&
		a.Seed == b.Seed && a.PresencePenalty == b.PresencePenalty && a.FrequencyPenalty == b.FrequencyPenalty &&
		a.Candidates == b.Candidates && slices.Equal(a.StopSequences, b.StopSequences)
}

func sameThinking(a, b *upstream.Thinking) bool {
	return a.Mode == b.Mode && a.Budget == b.Budget && a.Effort == b.Effort && a.Display == b.Display &&
		sameExtra(a.Extra, b.Extra)
}

func sameOutput(a, b *upstream.Output) bool {
	return slices.Equal(a.Modalities, b.Modalities) && a.MediaType == b.MediaType && a.Schema == b.Schema &&
		a.AspectRatio == b.AspectRatio && a.ImageSize == b.ImageSize && sameExtra(a.Extra, b.Extra)
}
