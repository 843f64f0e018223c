package main

import (
	"encoding/xml"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestMain runs the proxy if the test binary was started with -proxy.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "-proxy" {
		main()
		return
	}
	os.Exit(m.Run())
}

// TestRun measures each scenario once, and checks that the table and the drawing contain
// it.
func TestRun(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the gateway")
	}
	svg := filepath.Join(t.TempDir(), "relay.svg")
	var out strings.Builder
	if err := run(t.Context(), []string{"-rounds", "1", "-time", "1ns", "-svg", svg, "-only", "connection"}, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if want := 2 + len(scenarios()); len(lines) != want {
		t.Errorf("%d lines, want %d:\n%s", len(lines), want, out.String())
	}
	picture, err := os.ReadFile(svg)
	if err != nil {
		t.Fatal(err)
	}
	if err := xml.Unmarshal(picture, new(struct{})); err != nil {
		t.Errorf("the drawing is not XML: %v", err)
	}
	for _, s := range scenarios() {
		if !strings.Contains(out.String(), "| "+s.name+" |") || !strings.Contains(string(picture), s.name) {
			t.Errorf("%s is missing", s.name)
		}
	}
}

// A stream that breaks off is an error.
func TestArrivals(t *testing.T) {
	const event = "data: {\"text\":\"" + mark + "1\"}\n\n"
	if list, err := arrivals(strings.NewReader(event + "event: message_stop\ndata: {}\n\n")); err != nil || len(list) != 1 {
		t.Errorf("complete stream: %v %v", list, err)
	}
	if _, err := arrivals(strings.NewReader(event)); err == nil {
		t.Error("truncated stream: no error")
	}
}

func TestInvalidFlags(t *testing.T) {
	for _, args := range []string{"-rounds 0", "-time 0", "extra", "-nonsense"} {
		if err := run(t.Context(), strings.Fields(args), io.Discard, io.Discard); err == nil {
			t.Errorf("%s: no error", args)
		}
	}
}
