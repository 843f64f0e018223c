package content

// A Severity says how much a [Loss] matters. The zero Severity is none.
type Severity uint8

const (
	LossHint     Severity = iota + 1 // no effect on the answer, such as a cache mark
	LossDegraded                     // said in another way, such as an image moved out of a tool result
	LossDropped                      // meaning lost, such as a sampling parameter
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
// another, or only in another form.
type Loss struct {
	// Path is neutral, such as "turns.3.parts.1", "system.0", "tools.2" or
	// "top_k" for requests and "parts.2" for answers. Fronts tell it in their
	// own words.
	Path string

	Severity Severity

	// Reason is a sentence for people. It holds no content and no secret.
	Reason string
}
