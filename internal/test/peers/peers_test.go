package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestPolywire checks that Polywire has every route and keeps all content.
func TestPolywire(t *testing.T) {
	p := polywire()
	for _, k := range tasks() {
		t.Run(k.name(), func(t *testing.T) {
			if testing.Short() && k.workload == "pdf" {
				t.Skip("large")
			}
			tr, ok := p.routes[k.route]
			if !ok {
				t.Fatal("no such route")
			}
			input := k.inputs[k.from]()
			var e entry
			e.check(k, &tr, input, input)
			if e.err != nil || len(e.gaps) > 0 {
				t.Errorf("%v %s", e.err, phrases(e.gaps))
			}
		})
	}
}

// TestPeers checks that the other projects translate a small request or a stream of each
// route that they have.
func TestPeers(t *testing.T) {
	for _, p := range contestants()[1:] {
		found := 0
		for _, k := range tasks() {
			tr, ok := p.routes[k.route]
			if !ok || k.inputs[tr.source(k.route)] == nil || !k.stream && k.workload != "small" {
				continue
			}
			found++
			var e entry
			if e.check(k, &tr, k.inputs[k.from](), k.inputs[tr.source(k.route)]()); e.err != nil {
				t.Errorf("%s: %s: %v", p.name, k.name(), e.err)
			}
		}
		if found == 0 {
			t.Errorf("%s has no route", p.name)
		}
	}
}

// results are results of each kind: complete, incomplete, in another format, failed, absent.
func results() []*result {
	names := []string{"Polywire", "A", "B", "C", "D"}
	first := &entry{time: time.Millisecond, allocs: 12, bytes: 3456}
	return []*result{{
		task: &task{workload: "small", route: route{from: formatMessages, to: formatGemini}}, names: names,
		entries: []*entry{
			first,
			{time: 2500 * time.Microsecond, allocs: 1234, bytes: 5_000_000},
			{time: 500 * time.Microsecond, gaps: []gap{{"files", 1, 2}}},
			{time: 40 * time.Millisecond, other: true, notes: []gap{{"signatures", 3, 3}}},
			nil,
		},
	}, {
		task: &task{workload: "text", route: route{formatChat, formatMessages, true}}, names: names,
		entries: []*entry{first, {err: errors.New("panic: a|b\nc")}, nil, nil, nil},
	}}
}

func TestReport(t *testing.T) {
	text := report(results(), "About.")
	for _, want := range []string{
		"About.\n\n", "as a multiple of Polywire's: requests 2.5 to 2.5 times.\n",
		"| small, Messages to Gemini | 1.00 ms | 2.5 | (0.5) | 40\\* | |\n",
		"| small, Messages to Gemini | 12, 3.46 KB | 1,234, 5.00 MB | (0, 0 B) | 0, 0 B\\* | |\n",
		"| text, Chat Completions to Messages | 1.00 ms | fails | | | |\n",
		"| A | text, Chat Completions to Messages | fails: panic: a\\|b c |\n",
		"| B | small, Messages to Gemini | drops 1 of 2 files |\n",
		"| C | small, Messages to Gemini | drops 3 of 3 signatures |\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the report does not contain %q:\n%s", want, text)
		}
	}
}

func TestPlot(t *testing.T) {
	picture := plot(results())
	if err := xml.Unmarshal([]byte(picture), new(struct{})); err != nil {
		t.Errorf("the drawing is not XML: %v", err)
	}
	for want, n := range map[string]int{
		"small, Messages to Gemini</text>":                        1,
		"text, Chat Completions to Messages</text>":               1,
		`r="5" fill="` + colors[0] + `" stroke="` + colors[0]:     1, // complete
		`r="5" fill="white" stroke="` + colors[1]:                 1, // incomplete
		`r="5" fill="white" stroke="` + colors[2]:                 1, // another format
		`stroke="` + colors[3] + `" stroke-width`:                 0, // absent
		`<rect width="860" height="` + "152" + `" fill="white"/>`: 1,
	} {
		if got := strings.Count(picture, want); got != n {
			t.Errorf("%q occurs %d times, want %d:\n%s", want, got, n, picture)
		}
	}
}

// A contestant that panics or fails does not end the run.
func TestFailures(t *testing.T) {
	k := &task{workload: "w", route: route{from: formatMessages, to: formatGemini},
		inputs: map[format]func() []byte{formatMessages: func() []byte { return []byte("{}") }}}
	with := func(f func([]byte, io.Writer) error) *contestant {
		return &contestant{name: "x", routes: map[route]translator{k.route: {translate: f}}}
	}
	calls := 0
	c := config{rounds: 1, time: time.Nanosecond}
	r := c.compare(k, []*contestant{
		with(func([]byte, io.Writer) error { panic("no") }),
		with(func([]byte, io.Writer) error { return io.ErrUnexpectedEOF }),
		with(func(_ []byte, w io.Writer) error {
			if calls++; calls > 2 {
				return io.ErrClosedPipe
			}
			_, err := io.WriteString(w, "{}")
			return err
		}),
		with(func(_ []byte, w io.Writer) error { _, err := io.WriteString(w, "{"); return err }),
	})
	for i, want := range []string{"panic: no", "unexpected EOF", "io: read/write on closed pipe"} {
		if err := r.entries[i].err; err == nil || err.Error() != want {
			t.Errorf("entry %d: error %v, want %s", i, err, want)
		}
	}
	if e := r.entries[3]; e.complete() || !strings.Contains(phrases(e.gaps), "invalid") {
		t.Errorf("invalid output: %v %s", e.err, phrases(e.gaps))
	}
}

func TestRun(t *testing.T) {
	dir := t.TempDir()
	svg, page := filepath.Join(dir, "peers.svg"), filepath.Join(dir, "page.md")
	if err := os.WriteFile(page, []byte("before\n"+beginMark+"\nold\n"+endMark+"\nafter\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := run([]string{"-rounds", "1", "-time", "1ns", "-only", "small, Messages", "-svg", svg, "-update", page}, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if want := "before\n" + beginMark + "\n\n" + out.String() + "\n" + endMark + "\nafter\n"; string(got) != want {
		t.Errorf("the page is\n%s\nwant\n%s", got, want)
	}
	if picture, err := os.ReadFile(svg); err != nil || !strings.HasPrefix(string(picture), "<svg ") {
		t.Errorf("the drawing is %q, %v", picture, err)
	}
	if n := strings.Count(out.String(), "| small, Messages to "); n < 4 {
		t.Errorf("%d rows:\n%s", n, out.String())
	}
}

func TestInvalidFlags(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(page, []byte("no marks"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{"-rounds 0", "-time 0", "extra", "-nonsense", "-only nothing-has-this-name",
		"-rounds 1 -time 1ns -only small -update " + page} {
		if err := run(strings.Fields(args), io.Discard, io.Discard); err == nil {
			t.Errorf("%s: no error", args)
		}
	}
}
