// Package violation collects the violations of a document.
package violation

import "github.com/polywire/polywire/content"

// A List collects the violations of a document, at most content.MaxViolations. The zero
// value is an empty list. It is not safe for concurrent use.
type List struct{ all *violations } // nil: none; most documents have none

type violations struct {
	list []*content.Violation
	more int // violations that are not in list
}

// Add appends a violation, or counts it if the list is full.
func (l *List) Add(code content.Code, path, text string) { l.AddAs(code, "", path, text) }

// AddAs is Add for a violation for which the vendor has a code of its own.
func (l *List) AddAs(code content.Code, vendor, path, text string) {
	if l.all == nil {
		l.all = new(violations)
	}
	if len(l.all.list) >= content.MaxViolations {
		l.all.more++
		return
	}
	l.all.list = append(l.all.list, &content.Violation{Code: code, Path: path, Text: text, Vendor: vendor})
}

// Len returns the number of violations added.
func (l *List) Len() int {
	if l.all == nil {
		return 0
	}
	return len(l.all.list) + l.all.more
}

// Err returns the violations as one error, or nil if there are none.
func (l *List) Err() error {
	if l.all == nil {
		return nil
	}
	return content.JoinViolations(l.all.list, l.all.more)
}
