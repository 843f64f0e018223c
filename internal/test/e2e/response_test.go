package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/polywire/polywire/internal/test/lossplaces"
	"github.com/polywire/polywire/upstream"
)

// A response is what a client receives, read by this package's own readers.
type response struct {
	Status  int
	Header  http.Header
	Body    string
	Aborted bool // the connection was cut
	Report  *upstream.Report

	Elements []element
	Stop     string // as the client's format names it
	Detail   string
	Model    string
	ID       string
	Usage    map[string]int
	Tokens   int  // result of a token count
	Whole    bool // the response ended as the format requires
	Err      *failure
	Broken   string // first violation of the format, if any

	// Turn is what a client adds to its history: content blocks of Messages, or
	// contents of generateContent (one for each chunk).
	Turn []json.RawMessage
}

// An element is one part of a response.
type element struct {
	Kind string // text, thinking, redacted, call, image, or the wire's word
	Text string
	Sig  string
	ID   string
	Name string
	Args string // canonical JSON
}

// A failure is an error in the client's format.
type failure struct {
	Code    int // an HTTP status in the body; 0 if there is none
	Type    string
	Message string
	Retry   string
}

// broken records the first violation of the format.
func (a *response) broken(format string, args ...any) {
	if a.Broken == "" {
		a.Broken = fmt.Sprintf(format, args...)
	}
}

// text joins the texts of all elements of one kind.
func (a *response) text(kind string) string {
	var b strings.Builder
	for _, s := range a.Elements {
		if s.Kind == kind {
			b.WriteString(s.Text)
		}
	}
	return b.String()
}

func (a *response) calls() (list []element) {
	for _, s := range a.Elements {
		if s.Kind == "call" {
			list = append(list, s)
		}
	}
	return list
}

// losses returns the losses of the report as "severity path", without
// duplicates.
func (a *response) losses() []string {
	var list []string
	seen := map[string]bool{}
	if a.Report == nil {
		return nil
	}
	for _, l := range lossplaces.Of(a.Report.Losses) {
		s := l.Severity.String() + " " + l.Path
		if !seen[s] {
			seen[s] = true
			list = append(list, s)
		}
	}
	return list
}

// canonical returns JSON with sorted keys for comparison.
func canonical(raw []byte) string {
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return "invalid JSON: " + string(raw)
	}
	b, _ := json.Marshal(v)
	return string(b)
}
