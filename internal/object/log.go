package object

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/violation"
)

// A Log collects the violations of a document. Beyond [content.MaxViolations] it only counts
// them. The reporter of a format embeds it.
type Log struct {
	Path       codec.Path // of the value that is read or checked
	Violations violation.List

	// Strict has the violations of strict validation only: unknown names and values. Nil means
	// that they are not recorded.
	Strict *violation.List
}

// Violation adds a violation at the member name of the object at the path, or at the value at
// the path if name is empty.
func (l *Log) Violation(code content.Code, name, text string) { l.ViolationAs(code, "", name, text) }

// ViolationAs is Violation with the vendor's own code.
func (l *Log) ViolationAs(code content.Code, vendor, name, text string) {
	if !l.Full(code) {
		l.Violations.AddAs(code, vendor, l.At(name), text)
	}
}

// Full reports whether the list is full. If so, it counts a violation with this code, for which
// no text is then needed.
func (l *Log) Full(code content.Code) bool { return isFull(&l.Violations, code) }

// AddStrict adds a violation of strict validation. It calls text only if it needs the text.
func (l *Log) AddStrict(code content.Code, name string, text func() string) {
	if l.Strict != nil && !isFull(l.Strict, code) {
		l.Strict.Add(code, l.At(name), text())
	}
}

// At returns the path of the member name of the object at the path, or the path if name is empty.
func (l *Log) At(name string) string {
	if name == "" {
		return l.Path.At()
	}
	return l.Path.At(name)
}

// IsOver reports whether violations are only counted, not listed.
func (l *Log) IsOver() bool { return l.Violations.Len() > content.MaxViolations }

func isFull(list *violation.List, code content.Code) bool {
	if list.Len() < content.MaxViolations {
		return false
	}
	list.Add(code, "", "")
	return true
}
