package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	rowPlain = `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"Hi <b>"}]}`
	rowLossy = `{"model":"m","max_tokens":9,"top_k":5,"messages":[{"role":"user","content":"Hi"}]}`
	rowWrong = `{"model":"m","max_tokens":9,"messages":[]}`
)

func runRows(t *testing.T, in string, args ...string) (status int, out, log string) {
	t.Helper()
	var stdout, stderr strings.Builder
	status = run(t.Context(), append([]string{"-jsonl", "-from", "messages", "-to", "openai"}, args...), strings.NewReader(in), &stdout, &stderr)
	return status, stdout.String(), stderr.String()
}

func TestRows(t *testing.T) {
	status, out, log := runRows(t, rowPlain+"\n"+rowLossy+"\n"+rowWrong+"\n\n"+rowPlain)
	want := []string{
		`{"row":1,"request":{"model":"m",`, `{"row":2,"request":{"model":"m",`, `{"row":3,"errors":[{"path":"messages","text":"`, `{"row":4,"errors":[`, `{"row":5,"request":{`, "",
	}
	got := strings.Split(out, "\n")
	for i := range min(len(got), len(want)) {
		got[i] = got[i][:min(len(got[i]), len(want[i]))]
	}
	if diff := cmp.Diff(want, got); diff != "" || status != done {
		t.Errorf("status %d (-want +got):\n%s", status, diff)
	}
	if !strings.Contains(out, `"losses":[{"path":"top_k","severity":"dropped","text":"`) || !strings.Contains(out, "Hi <b>") {
		t.Errorf("got %s", out)
	}
	if log != "translate: 5 rows: 1 with losses, 2 failed; 0 are of an earlier run\n" {
		t.Errorf("log: %s", log)
	}
	if _, _, log := runRows(t, rowLossy+"\n"+rowPlain+"\n"+rowLossy, "-summary"); !strings.HasSuffix(log, "\n2 rows: dropped: the server does not accept this top_k, or any; the model's default applies\n") {
		t.Errorf("summary: %s", log)
	}
	if _, out, _ := runRows(t, rowLossy, "-refuse", "dropped"); !strings.Contains(out, `"losses":[{"path":"top_k"`) || !strings.Contains(out, `"errors":[{"text":"refused: 1 of 1`) || strings.Contains(out, `"request"`) {
		t.Errorf("refused: %s", out)
	}
}

// TestResume checks that a second run continues after the complete rows of the first.
func TestResume(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rows.jsonl")
	in := strings.Repeat(rowLossy+"\n", 2500)
	_, whole, log := runRows(t, in)
	if strings.Count(log, "\n") != 3 || !strings.HasPrefix(log, "translate: 1000 rows: 1000 with losses, 0 failed;") {
		t.Errorf("log: %s", log)
	}
	for _, kept := range []int{0, 1, strings.Index(whole, "\n") + 1, len(whole) / 2, len(whole) - 1, len(whole)} {
		if err := os.WriteFile(file, []byte(whole[:kept]), 0o600); err != nil {
			t.Fatal(err)
		}
		status, out, log := runRows(t, in, "-output", file)
		got, err := os.ReadFile(file)
		if err != nil || string(got) != whole || status != done || out != "" {
			t.Errorf("%d bytes kept: status %d, %v, %d bytes, want %d; %s", kept, status, err, len(got), len(whole), log)
		}
	}
}

func TestRowFlags(t *testing.T) {
	for _, args := range [][]string{{"-reply"}, {"-stream"}} {
		if status, _, _ := runRows(t, "", args...); status != usage {
			t.Errorf("%v: status %d", args, status)
		}
	}
	if status := run(t.Context(), []string{"-from", "messages", "-to", "openai", "-output", "x"}, strings.NewReader(""), new(strings.Builder), new(strings.Builder)); status != usage {
		t.Errorf("-output without -jsonl: status %d", status)
	}
	if status, _, log := runRows(t, rowPlain, "-output", t.TempDir()); status != failed {
		t.Errorf("a directory as output: status %d, %s", status, log)
	}
}
