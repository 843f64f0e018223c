package main

import (
	"encoding/xml"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestMain runs the proxy if the test binary was started with -proxy.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "-proxy" {
		main()
		return
	}
	os.Exit(m.Run())
}

// TestRun measures each scenario once, and checks that the tables and the drawing contain
// it.
func TestRun(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the gateway")
	}
	svg := filepath.Join(t.TempDir(), "relay.svg")
	var out strings.Builder
	if err := run(t.Context(), []string{"-rounds", "1", "-time", "1ns", "-svg", svg}, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	rows := map[string][]string{} // cells by the name of the scenario
	for line := range strings.Lines(out.String()) {
		if cells := strings.Split(line, " | "); len(cells) > 1 {
			rows[strings.TrimPrefix(cells[0], "| ")] = cells[1:]
		}
	}
	picture, err := os.ReadFile(svg)
	if err != nil {
		t.Fatal(err)
	}
	checkXML(t, string(picture))
	list := scenarios()
	for _, s := range list {
		row := rows[s.name]
		if len(row) < 6 || !strings.Contains(string(picture), ">"+s.name+"<") {
			t.Errorf("%s is missing in the table or the drawing", s.name)
			continue
		}
		for i, cell := range row {
			if strings.Contains(cell, "–") && runtime.GOOS == "linux" || strings.Contains(cell, "NaN") || strings.HasPrefix(cell, "0") {
				t.Errorf("%s: cell %d is unknown: %q", s.name, i, cell)
			}
		}
	}
	if want := len(list) + 4; len(rows) > want { // two heads and two lines below them
		t.Errorf("%d rows, want at most %d:\n%s", len(rows), want, out.String())
	}
}

func checkXML(t *testing.T, s string) {
	t.Helper()
	if err := xml.Unmarshal([]byte(s), new(struct{})); err != nil {
		t.Errorf("the drawing is not XML: %v", err)
	}
}

// A stream that breaks off is an error in both formats of clients.
func TestArrivals(t *testing.T) {
	for _, tt := range []struct {
		name string
		load load
		wire wire
	}{
		{"Messages", messagesLoad("{}", messagesModel, flood, 1), wires["/v1/messages"]},
		{"generateContent", generateLoad("{}", geminiModel, flood, 1), wires["/v1beta/models/"]},
	} {
		begin, end := strings.Join(tt.wire.begin, ""), strings.Join(tt.wire.end, "")
		events := begin + tt.wire.event(1, mark+"1.") + tt.wire.event(2, mark+"2.")
		if list, err := tt.load.arrivals(strings.NewReader(events + end)); err != nil || len(list) != 2 {
			t.Errorf("%s, complete stream: %v %v", tt.name, list, err)
		}
		if _, err := tt.load.arrivals(strings.NewReader(events)); err == nil {
			t.Errorf("%s, truncated stream: no error", tt.name)
		}
	}
}

// Ratios are medians of the rounds' ratios. A ratio that exceeds its goal is marked.
func TestTables(t *testing.T) {
	relayed := &result{scenario: scenario{name: "relayed", goal: goals{p50: 1.2}}}
	translated := &result{scenario: scenario{name: "translated", load: load{events: 9}, same: new(load), goal: goals{p50: 1.5, cpu: 1.5}}}
	for i := range time.Duration(3) {
		relayed.add(sample{500, (1200 + i) * time.Microsecond, 3 * time.Millisecond}, sample{1000, 1000 * time.Microsecond, time.Millisecond})
		translated.add(sample{100, 140 * time.Microsecond, 0}, sample{100, 100 * time.Microsecond, 0})
	}
	relayed.peak = 30 << 20
	var out strings.Builder
	tables(&out, []*result{relayed, translated})
	want := `| gateway / ReverseProxy | p50 | ratio | CPU | ratio | rate | ratio | peak memory |
| --- | --- | --- | --- | --- | --- | --- | --- |
| relayed | 1.201ms / 1ms | **1.20** (goal 1.2: missed) | 3ms / 1ms | **3.00** | 500 / 1000 requests/s | **0.50** | 30 MB / – |

| translation / same format | p50 | ratio | CPU | ratio | rate | ratio |
| --- | --- | --- | --- | --- | --- | --- |
| translated | 140µs / 100µs | **1.40** | – | – | 100 / 100 events/s | **1.00** |
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
	checkXML(t, plot([]*result{relayed, translated}))
	// Three bars, because one CPU time is unknown; the white background is a rectangle, too.
	if n := strings.Count(plot([]*result{relayed, translated}), "<rect"); n != 4 {
		t.Errorf("%d rectangles, want 4", n)
	}
}

func TestInvalidFlags(t *testing.T) {
	for _, args := range []string{"-rounds 0", "-time 0", "-only nonsense", "extra", "-nonsense"} {
		if err := run(t.Context(), strings.Fields(args), io.Discard, io.Discard); err == nil {
			t.Errorf("%s: no error", args)
		}
	}
}

// A string that a relay does not send is found; words of the formats, and arguments that are a
// string in one format and an object in another, are not.
func TestLost(t *testing.T) {
	const sent = `{"model":"m","stream":false,"messages":[{"role":"user","content":"one"},{"role":"assistant","tool_calls":[{"type":"function","function":{"arguments":"{\"a\":\"two\"}"}}]}]}`
	for received, want := range map[string]string{
		sent: "",
		`{"turns":[{"by":"you","text":"one"},{"call":{"a":"two"}}]}`: "",
		`{"turns":[{"by":"you","text":"one"}]}`:                      "two",
	} {
		v := startVendor()
		relay := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			res, err := http.Post(v.URL+"/v1/chat/completions", "application/json", strings.NewReader(received))
			if err != nil {
				t.Error(err)
				return
			}
			res.Body.Close()
		}))
		lost, err := v.lost(t.Context(), &load{path: "/v1/chat/completions", body: sent}, &process{url: relay.URL})
		if err != nil || lost != want {
			t.Errorf("%s: %q %v, want %q", received, lost, err, want)
		}
		relay.Close()
		v.Close()
	}
}
