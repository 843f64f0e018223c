package conformance

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/internal/test/fake"
	openairesponses "github.com/polywire/polywire/upstream/openai/responses"
)

// TestChatbot runs the route of AI SDK's chatbot template, which refers to stored items: three tasks with
// tools and reasoning. The thinking of all responses comes back to the vendor that signed it.
func TestChatbot(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip(noNode)
	}
	everyVendor(t, func(t *testing.T, v vendor) {
		up, f := v.startForCodex(t)
		f.Answer(func(q fake.Request) []fake.Piece {
			body := string(q.Body)
			for _, s := range []struct {
				sign string
				say  []fake.Piece
			}{
				{"Write a title.", []fake.Piece{fake.Text("A title")}},
				{"Write about the topic.", []fake.Piece{fake.Text("A document")}},
				{"Bye.", []fake.Piece{fake.Thinking("Five."), fake.Text("Bye, too.")}},
				{"The document was created.", []fake.Piece{fake.Thinking("Four."), fake.Text("Written.")}},
				{"Write it.", []fake.Piece{fake.Thinking("Three."), fake.Call("createDocument", `{"title":"It"}`)}},
				{"21", []fake.Piece{fake.Thinking("Two."), fake.Text("Warm.")}},
				{"Weather?", []fake.Piece{fake.Thinking("One."), fake.Text("Looking."), fake.Call("getWeather", `{"city":"Rome"}`)}},
			} {
				if strings.Contains(body, s.sign) {
					return s.say
				}
			}
			return []fake.Piece{fake.Text("What?")}
		})
		s := serveResponses(t, up, &openairesponses.Options{Store: openairesponses.NewMemoryStore(1 << 24)})
		cmd := exec.CommandContext(t.Context(), node, "ts/chatbot.mjs", s.url, key, "Weather?", "Write it.", "Bye.")
		var errs bytes.Buffer
		cmd.Stderr = &errs
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %s", err, errs.Bytes())
		}
		want := `step-start, reasoning One., text Looking., tool-getWeather {"temperature":21}, step-start, reasoning Two., text Warm.
A title
step-start, reasoning Three., tool-createDocument {"content":"The document was created."}, step-start, reasoning Four., text Written.
A document
step-start, reasoning Five., text Bye, too.

`
		if v.name == "chat" { // its model does not think
			for _, s := range []string{"One", "Two", "Three", "Four", "Five"} {
				want = strings.ReplaceAll(want, "reasoning "+s+"., ", "")
			}
		}
		if diff := cmp.Diff(want, string(out)); diff != "" {
			t.Error(diff)
		}
		// Gemini does not need the signature of a text, for which Responses has no place.
		if n := map[string]int{"anthropic": 4, "gemini": 2, "responses": 4}[v.name]; v.mark != nil {
			if got := len(v.mark.FindAllString(string(f.Last().Body), -1)); got != n {
				t.Errorf("the last request has %d signatures, want %d: %s", got, n, f.Last().Body)
			}
		}
		v.checkCodex(t, f)
	})
}
