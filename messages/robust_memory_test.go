package messages

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/test/race"
	"github.com/polywire/polywire/internal/test/workload"
	"github.com/polywire/polywire/upstream"
)

// childBody is the name of a file with the body for a child process.
const childBody = "POLYWIRE_TEST_BODY"

// TestChild runs in the child process of inChild. It parses and validates a body
// like a handler, and prints the memory that the operating system provided.
func TestChild(t *testing.T) {
	file := os.Getenv(childBody)
	if file == "" {
		t.Skip("is run by other tests")
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	body := readString(t, file)
	var n *upstream.Request
	r, err := parseRequest(body, content.Limits{}, nil)
	if r != nil {
		rules := &ValidateOptions{}
		if violations := r.Validate(rules); violations != nil {
			err = violations
		}
		n, _ = r.withDocument(rules.header())
	}
	runtime.ReadMemStats(&after)
	list, _ := content.Violations(err)
	t.Logf("violations=%d bytes=%d", len(list), after.Sys-before.Sys)
	runtime.KeepAlive(body)
	runtime.KeepAlive(r)
	runtime.KeepAlive(n)
}

// readString reads a file without copying it.
func readString(t *testing.T, file string) string {
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.Grow(int(info.Size()))
	piece := make([]byte, 64<<10)
	for {
		n, err := f.Read(piece)
		b.Write(piece[:n])
		if err != nil {
			return b.String()
		}
	}
}

// inChild parses a body in a child process. It returns the number of violations
// and the bytes of memory that were needed. A crash fails the test.
func inChild(t *testing.T, body string) (violations, bytes int) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "body")
	if err := os.WriteFile(file, []byte(body), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestChild$", "-test.v")
	cmd.Env = append(os.Environ(), childBody+"="+file)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("the child: %v\n%.2000s", err, out)
	}
	_, rest, found := strings.Cut(string(out), "violations=")
	numbers := strings.FieldsFunc(rest, func(r rune) bool { return r < '0' || r > '9' })
	if !found || len(numbers) < 2 {
		t.Fatalf("output of the child: %.2000s", out)
	}
	violations, err = strconv.Atoi(numbers[0])
	bytes, err2 := strconv.Atoi(numbers[1])
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	return violations, bytes
}

// The deepest bodies do not overflow the stack, which cannot be recovered.
func TestDeepestBody(t *testing.T) {
	const all = maxBody
	for _, tt := range []struct {
		name, body string
		good       bool
	}{
		{"arrays", strings.Repeat("[", all), false},
		{"objects", strings.Repeat(`{"a":`, all/5), false},
		{"closed", strings.Repeat("[", all/2) + strings.Repeat("]", all/2), false},
		{"in a request", withInput(strings.Repeat("[", all/2) + strings.Repeat("]", all/2)), false},
		{"results in results", `{"model":"m","max_tokens":9,"messages":[` + userHead + strings.Repeat(
			`[{"type":"tool_result","tool_use_id":"a","content":`, 125) + `"x"` + strings.Repeat("}]", 125) + "}]}", false},
		{"documents in documents", `{"model":"m","max_tokens":9,"messages":[` + userHead + strings.Repeat(
			`[{"type":"document","source":{"type":"content","content":`, 80) + `"x"` + strings.Repeat("}}]", 80) + "}]}", false},
		{"the deepest that is good", withInput(strings.Repeat("[", 249) + strings.Repeat("]", 249)), true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if violations, _ := inChild(t, tt.body); (violations == 0) != tt.good {
				t.Errorf("%d violations", violations)
			}
		})
	}
}

// Bodies of all shapes, at the limits, need at most 4 times their size plus 64 MiB
// of memory.
func TestMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	if race.Enabled {
		t.Skip("the race detector takes memory of its own")
	}
	for _, tt := range []struct {
		name string
		body string
	}{
		{"turns", withTurns(userHead+`"x"}`, 333_000)},
		{"turns with violations", withTurns(`{"role":"x","content":5}`, 333_000)},
		{"no turns", withTurns(`1`, 999_000)},
		{"text blocks", withBlocks(many(`{"type":"text","text":"x"}`, 333_000))},
		{"unknown blocks", withBlocks(many(`{"type":"y"}`, 499_000))},
		{"marks", withBlocks(many(`{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}`, 199_000))},
		{"extras", withBlocks(many(`{"type":"text","text":"x","y":1}`, 249_000))},
		{"members", `{"model":"m","max_tokens":9,"messages":[` + userHead + `"x"}],` + numbered(`"#":1`, 999_000) + `}`},
		{"numbers", withInput(`[` + many("1", 999_000) + `]`)},
		{"objects", withInput(`[` + many("{}", 999_000) + `]`)},
		{"strings", withInput(`[` + many(`""`, 999_000) + `]`)},
		{"stop sequences", `{"model":"m","max_tokens":9,"stop_sequences":[` + many(`"x"`, 999_000) + `],"messages":[` + userHead + `"x"}]}`},
		{"deep", withInput(`[` + many(strings.Repeat("[", 240)+strings.Repeat("]", 240), 4_100) + `]`)},
		{"calls", withCalls(70_000)},
		{"long", withBlocks(`{"type":"text","text":"` + strings.Repeat("x", maxBody-200) + `"}`)},
		{"long, escaped", withBlocks(`{"type":"text","text":"` + strings.Repeat(`\n`, maxBody/2-100) + `"}`)},
		{"long names", withInput(`{` + numbered(`"`+strings.Repeat("n", 3000)+`#":1`, 10_000) + `}`)},
		{"pdf", workload.PDF()},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, got := inChild(t, tt.body)
			if limit := 4*len(tt.body) + 64<<20; got > limit {
				t.Errorf("%d MB for a body of %d MB, at most %d", got>>20, len(tt.body)>>20, limit>>20)
			} else {
				t.Logf("%d MB for a body of %d MB, limit %d", got>>20, len(tt.body)>>20, limit>>20)
			}
		})
	}
}

func withTurns(turn string, n int) string {
	return `{"model":"m","max_tokens":9,"messages":[` + many(turn, n) + `]}`
}
