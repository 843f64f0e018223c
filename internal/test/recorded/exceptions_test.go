package recorded

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/polywire/polywire/internal/test/outside"
)

// ownExceptions are failures that are not defects of Polywire and that known.txt,
// which comes with the recordings, does not list. Each reason names the vendor's
// document that Polywire follows.
var ownExceptions = []struct{ id, check, reason string }{
	{"m-3e8fc2148d", "6m", "generateContent's mode ANY, which the tool choice becomes, guarantees that arguments match their schema"},
}

// exceptions are the reasons of all exceptions by record and number of the check.
var exceptions = sync.OnceValue(func() map[[2]string]string {
	list := make(map[[2]string]string)
	text, err := os.ReadFile(filepath.Join(os.Getenv(outside.Recordings), "known.txt"))
	if err != nil {
		return list // corpus reports a folder that is not there
	}
	last := ""
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) < 3 || fields[0] == "#" {
			continue
		}
		reason := strings.Join(fields[2:], " ")
		if reason == "the same" {
			reason = last
		}
		last = reason
		list[[2]string{fields[0], fields[1]}] = reason
	}
	for _, e := range ownExceptions {
		list[[2]string{e.id, e.check}] = e.reason
	}
	return list
})

// exception returns why a check of a record may fail, or "". Check 4t compares
// what check 4 does, so it has the same exceptions.
func exception(id, check string) string {
	number, _, _ := strings.Cut(check, " ")
	if reason := exceptions()[[2]string{id, number}]; reason != "" || number != "4t" {
		return reason
	}
	return exceptions()[[2]string{id, "4"}]
}

func TestExceptionsHaveReasons(t *testing.T) {
	corpus(t)
	for k, reason := range exceptions() {
		if len(strings.Fields(reason)) < 3 {
			t.Errorf("the exception %v has no reason: %q", k, reason)
		}
	}
}
