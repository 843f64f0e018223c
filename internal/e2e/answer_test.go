package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/polywire/polywire/upstream"
)

// An answer is what a client got, read by this package's own readers.
type answer struct {
	Status  int
	Header  http.Header
	Body    string
	Aborted bool // the connection was cut
	Report  *upstream.Report

	Said   []said
	Stop   string // in the front's words
	Detail string
	Model  string
	ID     string
	Usage  map[string]int
	Tokens int  // of a count
	Whole  bool // the format's own end was there
	Err    *failure
	Broken string // how it offends against the format; empty: not at all

	// Turn is what a client keeps for its history: content blocks of Messages,
	// contents of generateContent (one for each chunk).
	Turn []json.RawMessage
}

// said is one thing that an answer holds.
type said struct {
	Kind string // text, thinking, redacted, call, image, or the wire's word
	Text string
	Sig  string
	ID   string
	Name string
	Args string // canonical JSON
}

// A failure is an error in the front's own form.
type failure struct {
	Code    int // an HTTP status in the body; 0 if there is none
	Type    string
	Message string
	Retry   string
}

// broken notes the first offence against the format.
func (a *answer) broken(format string, args ...any) {
	if a.Broken == "" {
		a.Broken = fmt.Sprintf(format, args...)
	}
}

// text joins everything of one kind.
func (a *answer) text(kind string) string {
	var b strings.Builder
	for _, s := range a.Said {
		if s.Kind == kind {
			b.WriteString(s.Text)
		}
	}
	return b.String()
}

func (a *answer) calls() (list []said) {
	for _, s := range a.Said {
		if s.Kind == "call" {
			list = append(list, s)
		}
	}
	return list
}

// losses are those of the report, "severity path" each, without repetition.
func (a *answer) losses() []string {
	var list []string
	seen := map[string]bool{}
	if a.Report == nil {
		return nil
	}
	for _, l := range a.Report.Losses {
		s := l.Severity.String() + " " + l.Path
		if !seen[s] {
			seen[s] = true
			list = append(list, s)
		}
	}
	return list
}

// canonical writes JSON with its keys in order, so that it can be compared.
func canonical(raw []byte) string {
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return "no JSON: " + string(raw)
	}
	b, _ := json.Marshal(v)
	return string(b)
}
