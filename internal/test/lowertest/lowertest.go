// Package lowertest checks targets of package lower: what holds for every request and
// every target.
package lowertest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/internal/lower"
	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
)

// Requests calls f with requests of both formats: those in the test data of their
// packages and, if there are any, the recorded ones. root is the root of the repository.
func Requests(t *testing.T, root string, f func(name string, n *upstream.Request)) {
	t.Helper()
	count := 0
	add := func(name, format, body string) {
		n := parse(format, body)
		if n != nil {
			count++
			f(name, n)
		}
	}
	for _, format := range []string{"messages", "generatecontent"} {
		files, err := filepath.Glob(filepath.Join(root, format, "testdata", "*.json"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			body, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			add(filepath.Base(file), format, string(body))
		}
		for _, r := range formattest.Records(t, format) {
			if strings.HasPrefix(r.Request, "{") {
				add(r.ID, format, r.Request)
			}
		}
	}
	if count < 30 {
		t.Fatalf("only %d requests", count)
	}
}

// parse returns the neutral form of a document, or nil if it is not valid.
func parse(format, body string) *upstream.Request {
	if format == "messages" {
		if r, err := messages.ParseRequest([]byte(body)); err == nil {
			return r.Upstream()
		}
		return nil
	}
	if r, err := generatecontent.ParseRequest([]byte(body)); err == nil {
		return r.Upstream()
	}
	return nil
}

// Twice checks that lowering what was lowered loses nothing and changes nothing.
func Twice(t *testing.T, n *upstream.Request, target *lower.Target) {
	t.Helper()
	once, _, err := lower.Lower(n, target, false)
	if err != nil {
		return // the request is refused
	}
	twice, losses, err := lower.Lower(&once.Request, target, false)
	if err != nil {
		t.Errorf("lowered, the request is refused: %v", err)
	}
	for _, l := range losses {
		if !l.Rule.Always {
			t.Errorf("lost once more: %s: %s", l.Paths, l.Rule.Reason)
		}
	}
	twice.Cut = once.Cut     // the reader of the response has them
	twice.Load = once.Load   // also for files that are dropped
	twice.Added = once.Added // the tools have left the request
	if d := cmp.Diff(once, twice, cmp.Comparer(func(a, b *lower.Names) bool { return true }), cmp.Comparer(func(a, b content.Resolver) bool { return true })); d != "" {
		t.Errorf("changed once more (-once +twice):\n%s", d)
	}
}

// Fuzz calls Twice with changed requests. The first byte of the selection chooses one of the
// targets, the rest what is changed.
func Fuzz(f *testing.F, targets []*lower.Target) {
	base := parse("messages", `{"model":"m","max_tokens":5000,"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"a"},{"role":"user","content":"r"}]}`)
	for i := range targets {
		for _, changes := range []string{"", "\x00\x01\x00\x05\x01\x02", "\x00\x08\x01\x00\x08\x00\x02", "\x01\x06\x01\x01\x03", "\x00\x0b\x03\x02\x04", "\x00\x0e\x01\x01\x00\x0d\x02\x01"} {
			f.Add(string(rune(i)) + changes)
		}
	}
	f.Fuzz(func(t *testing.T, selection string) {
		if selection == "" || len(selection) > 200 {
			return
		}
		Twice(t, Change(base, selection[1:]), targets[int(selection[0])%len(targets)])
	})
}
