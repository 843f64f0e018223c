package content

import (
	"errors"
	"fmt"
	"strings"
)

// A Code says, for programs, what is wrong with a document.
type Code string

const (
	CodeSyntax      Code = "syntax"      // not the JSON that was expected, or no JSON at all
	CodeLimit       Code = "limit"       // more of something than is allowed
	CodeMissing     Code = "missing"     // a member that must be there is not
	CodeType        Code = "type"        // a value of the wrong JSON type
	CodeValue       Code = "value"       // a value that is not allowed here
	CodeRange       Code = "range"       // a number or length out of bounds
	CodeUnknown     Code = "unknown"     // a member or kind that is not known
	CodeConflict    Code = "conflict"    // two things that exclude each other
	CodeOrder       Code = "order"       // something in the wrong place
	CodePairing     Code = "pairing"     // a call without its result, or a result without its call
	CodeMedia       Code = "media"       // a file that is not what it is said to be
	CodeUnsupported Code = "unsupported" // legal, but not available here
)

// An Violation says what is wrong with a document, and where.
type Violation struct {
	Code Code
	Path string // in the format's own style, "messages.2.content.0.source"; empty for the whole document
	Text string // for people; it goes into the reply

	// Err is the cause, nil if there is nothing more to know. It may hold what
	// clients must not see: it is for the host's log and goes nowhere else.
	Err error
}

// Unwrap returns the cause.
func (e *Violation) Unwrap() error { return e.Err }

// Error returns the path and the text, and never the cause.
func (e *Violation) Error() string {
	if e.Path == "" {
		return e.Text
	}
	return e.Path + ": " + e.Text
}

// MaxViolations is how many faults of one document are kept; the rest is counted.
const MaxViolations = 100

// ViolationList collects what is wrong with a document, up to [MaxViolations] of them.
// The zero Faults is ready to use. It is not safe for concurrent use.
type ViolationList struct {
	list []*Violation
	more int
}

// Add notes a fault.
func (f *ViolationList) Add(code Code, path, text string) {
	if len(f.list) >= MaxViolations {
		f.more++
		return
	}
	f.list = append(f.list, &Violation{Code: code, Path: path, Text: text})
}

// Len returns the number of faults so far.
func (f *ViolationList) Len() int { return len(f.list) + f.more }

// Err returns the faults as one error, or nil if there are none. Its text is
// all of theirs, one a line; [errors.As] finds the first; [Violations] lists
// them.
func (f *ViolationList) Err() error {
	if len(f.list) == 0 {
		return nil
	}
	return &faultList{list: f.list, more: f.more}
}

type faultList struct {
	list []*Violation
	more int
}

func (l *faultList) Error() string {
	var b strings.Builder
	for i, e := range l.list {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(e.Error())
	}
	if l.more > 0 {
		fmt.Fprintf(&b, "\nand %d more", l.more)
	}
	return b.String()
}

func (l *faultList) Unwrap() []error {
	errs := make([]error, len(l.list))
	for i, e := range l.list {
		errs[i] = e
	}
	return errs
}

// Violations lists every [*Violation] in err, in the order of the document, and
// says how many more there were than the list holds ([MaxViolations] at most). It
// returns nothing for an error that holds none.
func Violations(err error) (list []*Violation, more int) {
	switch e := err.(type) {
	case nil:
		return nil, 0
	case *faultList:
		return e.list, e.more
	case *Violation:
		return []*Violation{e}, 0
	case interface{ Unwrap() []error }:
		for _, err := range e.Unwrap() {
			l, m := Violations(err)
			list, more = append(list, l...), more+m
		}
		if over := len(list) - MaxViolations; over > 0 {
			list, more = list[:MaxViolations], more+over
		}
		return list, more
	}
	return Violations(errors.Unwrap(err))
}

// AtPath puts path in front of the paths of all faults in err. An error that
// holds none is returned as it is.
func AtPath(err error, path string) error {
	return MapPaths(err, func(p string) string {
		if p == "" {
			return path
		}
		return path + "." + p
	})
}

// MapPaths returns err with the path of every fault in it rewritten. An error
// that holds none is returned as it is.
func MapPaths(err error, f func(path string) string) error {
	list, more := Violations(err)
	if len(list) == 0 {
		return err
	}
	mapped := make([]*Violation, len(list))
	for i, e := range list {
		mapped[i] = &Violation{Code: e.Code, Path: f(e.Path), Text: e.Text, Err: e.Err}
	}
	if len(mapped) == 1 && more == 0 {
		return mapped[0]
	}
	return &faultList{list: mapped, more: more}
}
