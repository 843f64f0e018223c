package conformance

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/test/fake"
	"github.com/polywire/polywire/internal/test/lossplaces"
	"github.com/polywire/polywire/upstream"
)

var pdf64 = base64.StdEncoding.EncodeToString([]byte("%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n"))

// A step is one response of a vendor in the story.
type step struct {
	user  string // text of the user's turn before it; empty: tool results
	say   []fake.Piece
	text  string   // text that the client must receive
	calls []string // names and arguments
}

// story returns ten responses with parallel tool calls, thinking with text,
// without text and redacted, a PDF, a failing tool, and texts in between.
func story() []step {
	return []step{
		{"Weather and time in Rome?", []fake.Piece{
			fake.Thinking("Two tools for that."), fake.Text("Let me look both up."),
			fake.Call("weather", `{"city":"Rome"}`), fake.Call("time", `{"tz":"Europe/Rome"}`),
		}, "Let me look both up.", []string{`weather {"city":"Rome"}`, `time {"tz":"Europe/Rome"}`}},
		{"", []fake.Piece{fake.Thinking(""), fake.Call("read", `{"path":"a.pdf"}`)}, "", []string{`read {"path":"a.pdf"}`}},
		{"", []fake.Piece{fake.Thinking("That is all."), fake.Text("Sunny, half past nine; the report says 42.")},
			"Sunny, half past nine; the report says 42.", nil},
		{"And in Oslo?", []fake.Piece{fake.Redacted("hidden"), fake.Call("weather", `{"city":"Oslo"}`)},
			"", []string{`weather {"city":"Oslo"}`}},
		{"", []fake.Piece{fake.Text("Snow.")}, "Snow.", nil},
		{"Grüße 🏳️‍🌈!", []fake.Piece{fake.Text("Ebenso ☃, und länger als ein Stück.")}, "Ebenso ☃, und länger als ein Stück.", nil},
		{"All three now.", []fake.Piece{
			fake.Thinking("Three at once."), fake.Call("weather", `{"city":"Bergen"}`),
			fake.Call("weather", `{"city":"Rome"}`), fake.Call("time", `{}`),
		}, "", []string{`weather {"city":"Bergen"}`, `weather {"city":"Rome"}`, `time {}`}},
		{"", []fake.Piece{fake.Thinking("One failed."), fake.Text("Once more."), fake.Call("weather", `{"city":"Bergen"}`)},
			"Once more.", []string{`weather {"city":"Bergen"}`}},
		{"", []fake.Piece{fake.Call("time", `{"tz":"UTC"}`)}, "", []string{`time {"tz":"UTC"}`}},
		{"", []fake.Piece{fake.Thinking("Done."), fake.Text("Rain.")}, "Rain.", nil},
	}
}

// An outcome is the result of a tool call.
type outcome struct {
	id, name, text string
	failed, pdf    bool
}

// toolbox is the tools of the story: name and the only property.
var toolbox = [][2]string{{"weather", "city"}, {"time", "tz"}, {"read", "path"}}

func schemaOf(property string) obj {
	return obj{"type": "object", "properties": obj{property: obj{"type": "string"}}}
}

// outcomes returns the results of tool calls. If there are three calls, one
// fails.
func outcomes(ids, names []string) (list []outcome) {
	for i, id := range ids {
		list = append(list, outcome{
			id: id, name: names[i], text: fmt.Sprintf("result %d of %s", i, names[i]),
			failed: i == 0 && len(ids) == 3, pdf: names[i] == "read",
		})
	}
	return list
}

// wants checks what a client received of a response.
func (s step) wants(t *testing.T, turn int, text string, calls []string) {
	t.Helper()
	if text != s.text {
		t.Errorf("turn %d: text %q, want %q", turn, text, s.text)
	}
	if diff := cmp.Diff(s.calls, calls); diff != "" {
		t.Errorf("turn %d: tool calls (-want +got):\n%s", turn, diff)
	}
}

// checkNoLostThinking checks that no loss of thinking is reported.
func (v vendor) checkNoLostThinking(t *testing.T, turn int, r *upstream.Report) {
	t.Helper()
	if v.name == "local" {
		return // the vendor requires thinking with each call, but sent some without
	}
	for _, l := range lossplaces.Of(r.Losses) {
		if l.Severity != content.LossHint && strings.HasPrefix(l.Path, "turns.") && strings.Contains(l.Reason, "think") {
			t.Errorf("turn %d: reported as lost although the client keeps everything: %+v", turn, l)
		}
	}
}
