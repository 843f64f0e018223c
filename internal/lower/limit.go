package lower

import "github.com/polywire/polywire/content"

// LimitRules describes the limits of output tokens that a target accepts.
type LimitRules struct {
	Max     int64 // of the model; 0 means unknown
	Min     int64 // of the server
	Default int64 // for requests without a limit; 0 means that none is sent
	Zero    bool  // a request for no output is accepted
}

// limit lowers the limit of output tokens.
func (l *lowering) limit() {
	rules := &l.t.Limit
	switch n := l.n.MaxTokens; {
	case n == nil && rules.Default == 0:
	case n == nil:
		limit := rules.Default
		if rules.Max > 0 {
			limit = min(limit, rules.Max)
		}
		l.to.MaxTokens = &limit
	case *n < 0 && rules.Zero:
		l.refuse(content.CodeValue, At("max_tokens"), "must not be negative")
	case *n <= 0 && !rules.Zero:
		l.refuse(content.CodeUnsupported, At("max_tokens"), "must be at least 1; the server does not accept a request for no output")
	case rules.Max > 0 && *n > rules.Max:
		l.lose(LimitLowered, At("max_tokens"))
		l.to.MaxTokens = new(rules.Max)
	case *n < rules.Min && *n > 0:
		l.lose(LimitRaised, At("max_tokens"))
		l.to.MaxTokens = new(rules.Min)
	}
}
