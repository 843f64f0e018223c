package responses

import (
	"encoding/json"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/test/formattest"
)

// FuzzParse compares the parser with encoding/json: it parses valid JSON only, each item has its
// type, and the texts and arguments of the neutral request are those of the document.
func FuzzParse(f *testing.F) {
	for _, body := range codexBodies {
		f.Add(body)
	}
	for _, tt := range violationTests {
		f.Add(tt.body)
	}
	for _, tt := range memberTests {
		f.Add(with(`"` + tt.name + `":` + tt.value))
	}
	for _, body := range formattest.RecordedSeeds(f, "openai-responses", func(r *formattest.Record) string { return r.Request }) {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		r, err := parseRequest(body, content.Limits{})
		if r == nil {
			if err == nil {
				t.Fatal("neither a request nor an error")
			}
			return
		}
		if !json.Valid([]byte(body)) {
			t.Fatal("encoding/json refuses what was parsed")
		}
		err = r.Validate(nil)
		for _, v := range violationsOf(err) {
			if v.Text == "" || v.Code == "" {
				t.Fatalf("a violation without a text or a code: %+v", v)
			}
		}
		n, _ := r.withDocument(nil) // what could be read must not break anything
		checkPaths(t, r, len(n.Turns))
		if err != nil {
			return
		}
		var doc struct {
			Input []struct {
				Arguments *string
				CallID    string `json:"call_id"`
				Role      string
			}
		}
		if json.Unmarshal([]byte(body), &doc) != nil {
			return // the input is a string, or members have other types in items that are kept
		}
		if len(doc.Input) != len(r.Input) {
			t.Fatalf("%d items, want %d", len(r.Input), len(doc.Input))
		}
		for i, item := range r.Input {
			if item.Type == "" {
				t.Fatalf("item %d has no type", i)
			}
			if call, ok := one(item.Parts).(*content.ToolUse); ok && item.Type == typeFunctionCall {
				if want := doc.Input[i]; want.Arguments == nil || call.Input != *want.Arguments || call.ID != want.CallID {
					t.Fatalf("item %d is %+v, want %+v", i, call, want)
				}
			}
		}
		parts := 0
		for i := range n.Turns {
			parts += len(n.Turns[i].Parts)
		}
		system := len(n.System)
		if r.Instructions != "" {
			system--
		}
		for _, item := range r.Input {
			parts -= len(item.Parts)
		}
		if parts+system != 0 {
			t.Fatalf("%d parts more than the items have", parts+system)
		}
		_ = n.Clone()
	})
}

func violationsOf(err error) []*content.Violation {
	list, _ := content.Violations(err)
	return list
}

func one(parts []content.Part) content.Part {
	if len(parts) == 1 {
		return parts[0]
	}
	return nil
}

// checkPaths converts paths of all kinds.
func checkPaths(t *testing.T, r *Request, turns int) {
	for _, path := range []string{"turns.0", "turns.0.parts.0", "turns.1.parts.1.parts.0.source", "system.0", "tools.0.input", "turns.99.parts.99"} {
		if turns > 0 && r.Path(path) == "" {
			t.Fatalf("%s has no path", path)
		}
	}
}
