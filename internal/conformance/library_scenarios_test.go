package conformance

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/internal/fake"
)

// A libraryScenario is a prompt to a library over a vendor.
type libraryScenario struct {
	name string
	skip func(l library, v vendor) bool // reports that the scenario does not apply
	call libraryCall
	say  [][]fake.Piece // the vendor's responses

	text     string
	thinking string // if the vendor sends it
	calls    []string
	streamed bool   // streams only
	fails    bool   // the library reports an error
	message  string // part of the error text
	sent     string // part of the last request to the vendor
	counted  bool   // the counts of a whole response are exact
	limited  bool   // the limit of the response is not above the model's
}

// manyChunks is a text that a stream sends in many chunks, so that counting the
// request for each chunk is visible.
var manyChunks = strings.Repeat("One more chunk. ", 40) + "42."

var libraryCounts = fake.Usage{Input: 37, Output: 5}

// libraryLoop returns a loop of two rounds, the first with parallel tool calls.
func libraryLoop(thinking bool) [][]fake.Piece {
	var think []fake.Piece
	if thinking {
		think = []fake.Piece{fake.Thinking("Two rounds for that.")}
	}
	return [][]fake.Piece{
		slices.Concat(think, []fake.Piece{fake.Text("Looking."), fake.Call("weather", `{"city":"Rome"}`), fake.Call("weather", `{"city":"Oslo"}`)}),
		slices.Concat(think, []fake.Piece{fake.Call("time", `{"tz":"UTC"}`)}),
		{fake.Text("Done: 42.")},
	}
}

var loopCalls = []string{`weather {"city":"Rome"}`, `weather {"city":"Oslo"}`, `time {"tz":"UTC"}`}

var libraryScenarios = []libraryScenario{
	{
		name: "text", say: [][]fake.Piece{{libraryCounts, fake.Text(manyChunks)}},
		text: manyChunks, counted: true,
	},
	{
		name: "thinking", call: libraryCall{Think: true},
		say:  [][]fake.Piece{{libraryCounts, fake.Thinking("Let me think."), fake.Text("Found: 42.")}},
		text: "Found: 42.", thinking: "Let me think.", counted: true,
	},
	{
		name: "thinking level", skip: func(l library, _ vendor) bool { return !l.levels }, call: libraryCall{Level: true},
		say:  [][]fake.Piece{{fake.Thinking("Let me think."), fake.Text("Found: 42.")}},
		text: "Found: 42.", thinking: "Let me think.",
	},
	{
		name: "tools", call: libraryCall{Tools: true}, say: libraryLoop(false),
		text: "Done: 42.", calls: loopCalls, sent: "result 3 of time",
	},
	{
		name: "tools of a thinking model", call: libraryCall{Tools: true},
		skip: func(_ library, v vendor) bool { return v.name == "local" }, // the server requires its thinking with each call
		say:  libraryLoop(true),
		text: "Done: 42.", calls: loopCalls, sent: "result 3 of time",
	},
	{
		name: "tools with thinking", call: libraryCall{Tools: true, Think: true}, say: libraryLoop(true),
		skip: func(_ library, v vendor) bool { return v.name == "local" }, // the server requires thinking that some libraries drop
		text: "Done: 42.", calls: loopCalls, sent: "result 3 of time",
	},
	{
		name: "image", call: libraryCall{Image: png64}, say: [][]fake.Piece{{fake.Text("A picture: 42.")}},
		text: "A picture: 42.", sent: png64,
	},
	{
		name: "the library's own limit", skip: func(l library, v vendor) bool { return !l.limit || v.name == l.own() },
		call: libraryCall{MaxTokens: -1}, say: [][]fake.Piece{{fake.Text("Hello: 42.")}},
		text: "Hello: 42.", limited: true,
	},
	{
		name: "bad request", say: [][]fake.Piece{{fake.Status{Code: 400, Message: "The fake refuses this."}}},
		fails: true, message: "The fake refuses this.",
	},
	{
		name: "too many requests", say: [][]fake.Piece{{fake.Status{Code: 429, Message: "The fake is busy."}}},
		fails: true, message: "The fake is busy.",
	},
	{
		name: "error within the response", say: [][]fake.Piece{{fake.Text("This response is ended by an error"), fake.Status{Code: 500, Message: "The fake broke."}}},
		streamed: true, fails: true,
	},
	{
		name: "connection cut within the response", say: [][]fake.Piece{{fake.Text("This response is cut in the middle"), fake.Cut{}}},
		streamed: true, fails: true,
	},
}

// TestLibraries runs each scenario with each library over each vendor, plain
// and streamed.
func TestLibraries(t *testing.T) {
	for _, l := range libraries {
		t.Run(l.name, func(t *testing.T) {
			for _, v := range vendors {
				t.Run(v.name, func(t *testing.T) {
					for _, s := range libraryScenarios {
						if s.skip != nil && s.skip(l, v) {
							continue
						}
						for _, stream := range []bool{false, true} {
							if s.streamed && !stream {
								continue
							}
							name := strings.ReplaceAll(s.name, " ", "-") + map[bool]string{true: "-stream"}[stream]
							t.Run(name, func(t *testing.T) { s.test(t, l, v, stream) })
						}
					}
				})
			}
		})
	}
}

func (s libraryScenario) test(t *testing.T, l library, v vendor, stream bool) {
	server, f := l.serve(t, v)
	for _, pieces := range s.say {
		if s.fails {
			f.Always(pieces...) // Genkit Go retries
		} else {
			f.Say(pieces...)
		}
	}
	c := s.call
	c.BaseURL, c.Key, c.Stream, c.Prompt = server.url, key, stream, "What is it?"
	switch {
	case c.MaxTokens < 0:
		c.MaxTokens = 0
	case c.MaxTokens == 0:
		c.MaxTokens = 4096
	}
	r, err := l.run(t, c)
	for _, q := range f.Refused() {
		t.Errorf("%s rejected a request by rule %s: %s", v.name, q.Rule, q.Message)
	}
	if s.fails {
		if err == nil {
			t.Fatalf("the library returned no error and the text %q", r.Text)
		}
		if !strings.Contains(err.Error(), s.message) {
			t.Errorf("the library returned error %v, want %q", err, s.message)
		}
		return
	}
	if err != nil {
		t.Fatalf("%v\nsent: %.2000s", err, f.Last().Body)
	}
	s.check(t, v, r, stream)
	if n := f.Left(); n != 0 {
		t.Errorf("%d unused responses", n)
	}
	for _, q := range f.Requests() {
		noState(t, string(q.Body))
	}
	last := string(f.Last().Body)
	if !strings.Contains(last, s.sent) || !strings.Contains(last, "What is it?") {
		t.Errorf("the last request does not contain %.50q or the prompt: %.2000s", s.sent, last)
	}
	if s.limited {
		wantLimit(t, v, last)
	}
}

// check checks what the library returned.
func (s libraryScenario) check(t *testing.T, v vendor, r *libraryReply, stream bool) {
	t.Helper()
	if r.Text != s.text {
		t.Errorf("text %q, want %q", r.Text, s.text)
	}
	if s.thinking != "" && v.name != "chat" && r.Thinking != s.thinking {
		t.Errorf("thinking %q, want %q", r.Thinking, s.thinking)
	}
	slices.Sort(r.Calls) // parallel calls may run in any order
	want := slices.Sorted(slices.Values(s.calls))
	if diff := cmp.Diff(want, r.Calls); diff != "" && len(want)+len(r.Calls) > 0 {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if len(r.Warnings) > 0 {
		t.Errorf("unexpected warnings of the library: %q", r.Warnings)
	}
	// Some libraries read the tokens of a stream's request from an estimated
	// count.
	switch {
	case s.counted && !stream && (r.Input != 37 || r.Output != 5):
		t.Errorf("%d and %d tokens, want 37 and 5", r.Input, r.Output)
	case s.counted && stream && (r.Input < 1 || r.Input > 200):
		t.Errorf("%d tokens of the request, want about 37", r.Input)
	}
}

// envelopes are prefixes of values for clients only, in plain text and in
// base64.
var envelopes = []string{"pw1.", "cHcxL", "pwsig_", "skip_thought_signature_validator", "c2tpcF90aG91Z2h0"}

// noState checks that a request to a vendor contains no carried state, and no
// replacement for a signature.
func noState(t *testing.T, body string) {
	t.Helper()
	for _, e := range envelopes {
		if strings.Contains(body, e) {
			t.Errorf("a request to the vendor contains %q: %.2000s", e, body)
		}
	}
}

var limitMember = regexp.MustCompile(`"(?:max_tokens|max_completion_tokens|max_output_tokens|maxOutputTokens)":(\d+)`)

// wantLimit checks that a request's output limit does not exceed the model's.
func wantLimit(t *testing.T, v vendor, body string) {
	t.Helper()
	limit, known := map[string]int{"gemini": 65536, "chat": 32768, "responses": 128000}[v.name]
	m := limitMember.FindStringSubmatch(body)
	if !known || m == nil {
		return
	}
	if n, err := strconv.Atoi(m[1]); err != nil || n > limit {
		t.Errorf("a limit of %s tokens, want at most %d", m[1], limit)
	}
}
