package handler

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/upstream"
)

// TestNewPanics checks that New reports invalid options with their names.
func TestNewPanics(t *testing.T) {
	for field, s := range map[string]upstream.HandlerOptions{
		"Timeouts.Body":         {Timeouts: upstream.Timeouts{Body: -1}},
		"Timeouts.FirstByte":    {Timeouts: upstream.Timeouts{FirstByte: 30}}, // nanoseconds: the unit was forgotten
		"Timeouts.Idle":         {Timeouts: upstream.Timeouts{Idle: -time.Second}},
		"Timeouts.Total":        {Timeouts: upstream.Timeouts{Total: 1000 * time.Hour}},
		"Timeouts.Write":        {Timeouts: upstream.Timeouts{Write: 1}},
		"Timeouts.KeepAlive":    {Timeouts: upstream.Timeouts{KeepAlive: 1}},
		"Timeouts.Grace":        {Timeouts: upstream.Timeouts{Grace: -1}},
		"Limits.Body":           {Limits: content.Limits{Body: -1}},
		"Limits.Depth":          {Limits: content.Limits{Depth: 1 << 30}},
		"Limits.Values":         {Limits: content.Limits{Values: -5}},
		"Limits.Files":          {Limits: content.Limits{Files: -1}},
		"Limits.FileBytes":      {Limits: content.Limits{FileBytes: 1 << 40}},
		"Limits.ImageSide":      {Limits: content.Limits{ImageSide: -1}},
		"Limits.ImagePixels":    {Limits: content.Limits{ImagePixels: -1}},
		"RejectLoss":            {RejectLoss: 9},
		"Budget.Bytes":          {Budget: &upstream.Budget{Bytes: -1}},
		"FileLimits.PerRequest": {FileLimits: upstream.FileLimits{PerRequest: -1}},
		"FileLimits.PerHandler": {FileLimits: upstream.FileLimits{PerHandler: -1}},
		"FileLimits.Bytes":      {FileLimits: upstream.FileLimits{Bytes: -1}},
		"FileLimits.Time":       {FileLimits: upstream.FileLimits{Time: 1}},
		"Budget.Requests":       {Budget: &upstream.Budget{Requests: -1}},
	} {
		t.Run(field, func(t *testing.T) {
			defer func() {
				if s, _ := recover().(string); !strings.HasPrefix(s, "x: NewHandler: "+field+" ") {
					t.Errorf("panic %q", s)
				}
			}()
			New("x: NewHandler", upstream.Func(nil), s, 1, nil)
		})
	}
	defer func() {
		if s, _ := recover().(string); s != "x: NewHandler: nil Upstream" {
			t.Errorf("panic %q", s)
		}
	}()
	New("x: NewHandler", nil, upstream.HandlerOptions{}, 1, nil)
}

func TestMediaType(t *testing.T) {
	for _, tt := range []struct {
		lines []string
		ok    bool
		ascii bool
	}{
		{nil, true, false},
		{[]string{"application/json"}, true, false},
		{[]string{"APPLICATION/json ; charset=Utf-8"}, true, false},
		{[]string{"application/json; charset=iso-8859-1"}, true, true},
		{[]string{"application/json", "application/json"}, false, false},
		{[]string{""}, false, false},
		{[]string{"application/jsonp"}, false, false},
		{[]string{"application/problem+json"}, false, false},
		{[]string{"application/json, text/html"}, false, false},
		{[]string{"application/json; charset=utf-7"}, false, false},
	} {
		ascii, err := checkContentType(http.Header{"Content-Type": tt.lines})
		if (err == nil) != tt.ok || ascii != tt.ascii {
			t.Errorf("%q: %v, %v", tt.lines, ascii, err)
		}
	}
}

// addLoss adds a loss and reports whether something of it is new.
func addLoss(x *exchange, l content.Loss) bool {
	x.s.options.OnLoss = func(context.Context, []content.Loss) {}
	var news loss.List
	x.addLosses([]content.Loss{l}, &news)
	return len(news.All) > 0
}

func TestLossHeaderIsBounded(t *testing.T) {
	x := &exchange{s: &Handler{protocol: plainPaths{}}}
	for i := range 500 {
		addLoss(x, content.Loss{Path: fmt.Sprintf("turns.%d.parts.0;\r\nX, y", i), Severity: content.LossDropped, Reason: fmt.Sprint(i)})
	}
	h := http.Header{}
	x.setLossHeader(h)
	v := h.Get("Polywire-Loss")
	if len(v) > maxLossHeader || !strings.HasSuffix(v, " more") || strings.ContainsAny(v, "\r\n") {
		t.Errorf("%d bytes: %q", len(v), v)
	}
	if !strings.HasPrefix(v, "dropped turns.0.parts.0???X??y; dropped turns.1.") {
		t.Errorf("begins with %q", v[:60])
	}
	named := strings.Count(v, "dropped")
	if want := fmt.Sprintf("; and %d more", 500-named); !strings.HasSuffix(v, want) || named < 100 {
		t.Errorf("%d named: %q", named, v[len(v)-40:])
	}
}

// TestLossHeader checks that the most severe losses come first, and that each reason appears
// once, with the number of its places.
func TestLossHeader(t *testing.T) {
	hint := func(path string) content.Loss {
		return content.Loss{Path: path, Severity: content.LossHint, Reason: "left out"}
	}
	x := &exchange{s: &Handler{protocol: plainPaths{}}}
	for _, l := range []content.Loss{
		hint("turns.1.parts.0"), hint("turns.3.parts.0"), hint("turns.5.parts.0"),
		{Path: "turns.7.parts.0", Severity: content.LossHint, Reason: "a cache mark"},
		{Path: "turns.7.parts.0", Severity: content.LossDegraded, Reason: "a failed tool"},
		{Path: "top_k", Severity: content.LossDropped, Reason: "no top_k"},
		{Path: "tools.0.input", Severity: content.LossDegraded, Reason: "one", Also: []string{"tools.1.input"}, More: 2},
	} {
		if !addLoss(x, l) || addLoss(x, l) {
			t.Errorf("%v is not noted once", l)
		}
	}
	if len(x.report.Losses) != 5 {
		t.Errorf("the report has %v", x.report.Losses)
	}
	h := http.Header{}
	x.setLossHeader(h)
	const want = "dropped top_k; degraded turns.7.parts.0; degraded tools.0.input, tools.1.input (4 places); hint turns.1.parts.0 (3 places); hint turns.7.parts.0"
	if got := h.Get("Polywire-Loss"); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestLossHeaderPath checks that a loss of the whole document has a name in the
// header.
func TestLossHeaderPath(t *testing.T) {
	x := &exchange{s: &Handler{protocol: plainPaths{}}}
	addLoss(x, content.Loss{Severity: content.LossDropped, Reason: "a"})
	addLoss(x, content.Loss{Path: "top_k", Severity: content.LossHint, Reason: "b"})
	h := http.Header{}
	x.setLossHeader(h)
	const want = "dropped document; hint top_k"
	if got := h.Get("Polywire-Loss"); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestLossHeaderPaths checks that only the paths of losses that fit into the header
// are converted: each may require a scan of the document.
func TestLossHeaderPaths(t *testing.T) {
	calls := 0
	x := &exchange{s: &Handler{protocol: countedPaths{calls: &calls}}}
	for i := range 1000 {
		addLoss(x, content.Loss{Path: fmt.Sprintf("tools.%d", i), Severity: content.LossDropped, Reason: fmt.Sprint(i)})
	}
	h := http.Header{}
	x.setLossHeader(h)
	v := h.Get("Polywire-Loss")
	named := strings.Count(v, "dropped")
	if want := fmt.Sprintf("; and %d more", 1000-named); calls != named+1 || !strings.HasSuffix(v, want) {
		t.Errorf("%d paths for %d losses: …%s", calls, named, v[len(v)-20:])
	}
}

type countedPaths struct {
	Protocol
	calls *int
}

func (d countedPaths) WirePath(p string) string { *d.calls++; return p }

type plainPaths struct{ Protocol }

func (plainPaths) WirePath(p string) string { return p }

// TestTextOfIsBounded checks that long error texts of other servers do not fill the
// log.
func TestTextOfIsBounded(t *testing.T) {
	text := textOf(errors.New("malformed response \"" + strings.Repeat("\n", 64<<10)))
	if len(text) > maxText || strings.Contains(text, "\n") || !strings.HasPrefix(text, "malformed response") {
		t.Errorf("%d bytes: %.50q", len(text), text)
	}
}
