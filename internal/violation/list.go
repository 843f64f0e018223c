// Package violation collects the violations of a document.
package violation

import "github.com/polywire/polywire/content"

// A List collects the violations of a document, at most content.MaxViolations. The zero
// value is an empty list. It is not safe for concurrent use.
type List struct {
	list []*content.Violation
	more int
}

// Add appends a violation, or counts it if the list is full.
func (l *List) Add(code content.Code, path, text string) {
	if len(l.list) >= content.MaxViolations {
		l.more++
		return
	}
	l.list = append(l.list, &content.Violation{Code: code, Path: path, Text: text})
}

// AddAll appends the violations of other.
func (l *List) AddAll(other *List) {
	for _, v := range other.list {
		l.Add(v.Code, v.Path, v.Text)
	}
	l.more += other.more
}

// Len returns the number of violations added.
func (l *List) Len() int { return len(l.list) + l.more }

// Err returns the violations as one error, or nil if there are none.
func (l *List) Err() error { return content.JoinViolations(l.list, l.more) }
