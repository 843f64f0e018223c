// Package loss keeps what a codec can lose in one table, which is the source
// of its reports, of their tests and of the page that shows them.
package loss

import "github.com/polywire/polywire/content"

// A Rule is one thing that a codec cannot say, or only in another way.
type Rule struct {
	// Feature is what is lost, in words that all codecs share, so that a
	// matrix has one row for it: see the constants of this package.
	Feature string

	Severity content.Severity

	// Reason is the sentence of the report: see [content.Loss].
	Reason string
}

// At returns the loss of what stands at a neutral path.
func (r *Rule) At(path string) content.Loss {
	return content.Loss{Path: path, Severity: r.Severity, Reason: r.Reason}
}

// Of reports whether a loss was reported by the rule.
func (r *Rule) Of(l content.Loss) bool { return l.Severity == r.Severity && l.Reason == r.Reason }

// A Log collects losses, each path and rule once.
type Log struct{ Losses []content.Loss }

// Add notes that a rule has met what stands at path.
func (l *Log) Add(r *Rule, path string) {
	l.Losses = append(l.Losses, r.At(path))
}
