package conformance

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/fake"
	"github.com/polywire/polywire/upstream"
)

var pdf64 = base64.StdEncoding.EncodeToString([]byte("%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n"))

// A step is one answer of a vendor in a story.
type step struct {
	user  string // what the user says before it; empty: the results of calls
	say   []fake.Piece
	text  string   // what the client has to make of it
	calls []string // names and arguments
}

// story is a conversation of ten turns with parallel calls, thinking with text,
// without and redacted, a PDF, a tool that fails, and texts between all that.
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

// An outcome is what a call brought.
type outcome struct {
	id, name, text string
	failed, pdf    bool
}

// toolbox are the tools of the story, name and the schema's one property.
var toolbox = [][2]string{{"weather", "city"}, {"time", "tz"}, {"read", "path"}}

func schemaOf(property string) obj {
	return obj{"type": "object", "properties": obj{property: obj{"type": "string"}}}
}

// outcomes makes the results of calls, of which one fails if there are three.
func outcomes(ids, names []string) (list []outcome) {
	for i, id := range ids {
		list = append(list, outcome{
			id: id, name: names[i], text: fmt.Sprintf("result %d of %s", i, names[i]),
			failed: i == 0 && len(ids) == 3, pdf: names[i] == "read",
		})
	}
	return list
}

// wants checks what a client made of an answer.
func (s step) wants(t *testing.T, turn int, text string, calls []string) {
	t.Helper()
	if text != s.text {
		t.Errorf("turn %d: the client reads %q, want %q", turn, text, s.text)
	}
	if diff := cmp.Diff(s.calls, calls); diff != "" {
		t.Errorf("turn %d: calls (-want +got):\n%s", turn, diff)
	}
}

// nothingLost checks that no thought is reported as lost.
func (v vendor) nothingLost(t *testing.T, turn int, r *upstream.Report) {
	t.Helper()
	if v.name == "local" {
		return // it wants a thought with each call, and gave none with some
	}
	for _, l := range r.Losses {
		if l.Severity != content.LossHint && strings.Contains(l.Reason, "thought") {
			t.Errorf("turn %d: reported as lost although the client keeps everything: %+v", turn, l)
		}
	}
}
