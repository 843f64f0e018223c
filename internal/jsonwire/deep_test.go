package jsonwire

import (
	"errors"
	"os"
	"os/exec"
	"runtime/debug"
	"strings"
	"testing"
)

const deepChild = "JSONWIRE_TEST_DEEP"

// TestDeep parses the deepest accepted and the deepest possible documents in a child
// process, on a stack too small for recursion. A stack overflow ends the process, so
// a test cannot recover from it.
func TestDeep(t *testing.T) {
	if os.Getenv(deepChild) != "" {
		debug.SetMaxStack(64 << 10)
		done := make(chan struct{})
		go func() { // with a fresh stack
			defer close(done)
			deepDocuments(t)
		}()
		<-done
		return
	}
	if testing.Short() {
		t.Skip("starts a process")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Skip(err)
	}
	cmd := exec.Command(exe, "-test.run=^TestDeep$", "-test.v")
	cmd.Env = append(os.Environ(), deepChild+"=1")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "all documents done") {
		t.Errorf("the child process: %v\n%.2000s", err, out)
	}
}

func deepDocuments(t *testing.T) {
	const depth = 1 << 25
	reason := func(src string, lim Limits) Reason {
		var e *SyntaxError
		if err := Valid(src, lim); errors.As(err, &e) {
			return e.Reason
		}
		return 0
	}
	check := func(what string, got, want Reason) {
		if got != want {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	arrays := strings.Repeat("[", depth)
	objects := strings.Repeat(`{"":`, depth/4)
	for _, lim := range []Limits{{}, {AllowInvalidUTF8: true}, {Depth: 1 << 18, Values: 1 << 20}} {
		check("arrays", reason(arrays, lim), TooDeep)
		check("objects", reason(objects, lim), TooDeep)
		check("escaped names", reason(strings.Repeat(`{"\u0061":`, depth/16), lim), TooDeep)
		check("after a violation", reason("[\"\\ud800\xff\","+arrays, lim), map[bool]Reason{true: TooDeep, false: LoneSurrogate}[lim.AllowInvalidUTF8])
	}
	check("the deepest permitted", reason(nested(256, "{}")[1:], Limits{}), Trailing)
	check("the deepest permitted", reason(nested(255, "{}"), Limits{}), 0)
	deep := nested(1<<18, "")
	check("a great limit", reason(deep, Limits{Depth: 1 << 18}), 0)
	AppendCompact(nil, arrays)
	AppendCompact(nil, objects)
	var w Writer
	if err := w.MembersExcept(`{"a":`+deep+`}`, func(string) bool { return false }); err != nil {
		t.Error(err)
	}
	w.Members(objects)
	if IsObject(arrays) {
		t.Error("arrays are taken for an object")
	}
	t.Log("all documents done")
}
