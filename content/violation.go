package content

import (
	"errors"
	"fmt"
	"strings"
)

// A Code classifies a [Violation].
type Code string

const (
	CodeSyntax      Code = "syntax"      // not JSON, or JSON that cannot be read
	CodeLimit       Code = "limit"       // a limit is exceeded
	CodeMissing     Code = "missing"     // a required member is missing
	CodeType        Code = "type"        // a value has the wrong JSON type
	CodeValue       Code = "value"       // a value is not allowed here
	CodeRange       Code = "range"       // a number or length is out of range
	CodeUnknown     Code = "unknown"     // a member or kind is unknown
	CodeConflict    Code = "conflict"    // two values exclude each other
	CodeOrder       Code = "order"       // a value is in the wrong place
	CodePairing     Code = "pairing"     // a tool call without its result, or a result without its tool call
	CodeMedia       Code = "media"       // a file is not of its declared type, or is invalid
	CodeUnsupported Code = "unsupported" // valid, but not supported here
)

// A Violation is an error in a request document. Handlers send it to the client as an
// invalid request.
type Violation struct {
	Code Code
	Path string // place in the document, such as "messages.2.content.0.source"; empty for the whole document
	Text string // sent to the client

	// Vendor is the vendor's own code of the violation, such as "integer_below_min_value", for
	// formats that send one. Empty means that it follows from Code.
	Vendor string

	// Err is the cause, or nil. It is for the log of the host and is never sent to the
	// client.
	Err error
}

// Unwrap returns v.Err.
func (v *Violation) Unwrap() error { return v.Err }

// Error returns the path and the text, without the cause.
func (v *Violation) Error() string {
	if v.Path == "" {
		return v.Text
	}
	return v.Path + ": " + v.Text
}

// MaxViolations is the maximum number of violations that this module reports for a
// document. Further ones are only counted.
const MaxViolations = 100

// JoinViolations returns one error for violations, or nil if list is empty. more is the
// number of further violations that are only counted. A single violation is returned
// itself. The text of the error has a line for each violation. [errors.As] finds the first
// one, and [Violations] returns all. The error keeps list.
func JoinViolations(list []*Violation, more int) error {
	switch {
	case len(list) == 0:
		return nil
	case len(list) == 1 && more == 0:
		return list[0]
	}
	return &violationError{list: list, more: more}
}

type violationError struct {
	list []*Violation
	more int
}

func (l *violationError) Error() string {
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

func (l *violationError) Unwrap() []error {
	errs := make([]error, len(l.list))
	for i, e := range l.list {
		errs[i] = e
	}
	return errs
}

// Violations returns every [*Violation] in err, at most [MaxViolations], in the order
// in which they were added. more is the number of further violations. If err contains
// none, the list is nil.
func Violations(err error) (list []*Violation, more int) {
	switch e := err.(type) {
	case nil:
		return nil, 0
	case *violationError:
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

// AtPath returns err with path prepended to the path of each [*Violation] in it. If err
// contains none, AtPath returns err.
func AtPath(err error, path string) error {
	return MapPaths(err, func(inner string) string {
		if inner == "" {
			return path
		}
		return path + "." + inner
	})
}

// MapPaths returns err with f of the path of each [*Violation] in it. If err contains none,
// MapPaths returns err, which may be nil. The violations of err are not changed, and other errors
// in it are left out. With the method Path of an upstream.Request the paths become those of the
// client's document.
func MapPaths(err error, f func(path string) string) error {
	list, more := Violations(err)
	if len(list) == 0 {
		return err
	}
	mapped := make([]*Violation, len(list))
	for i, v := range list {
		c := *v
		c.Path = f(v.Path)
		mapped[i] = &c
	}
	return JoinViolations(mapped, more)
}
