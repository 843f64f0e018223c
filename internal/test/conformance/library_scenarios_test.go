package conformance

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/internal/test/fake"
)

// A libraryScenario is a prompt to a library over a vendor.
type libraryScenario struct {
	name string
	skip func(l library, v vendor) bool // reports that the scenario does not apply
	call libraryCall
	say  [][]fake.Piece // the vendor's responses

	text     string
	thinking string // if the vendor sends it
	object   string // the response's object in JSON, which say does not have
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
		name: "thinking", skip: func(l library, _ vendor) bool { return l.mute }, call: libraryCall{Think: true},
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
		// The local server requires thinking that some libraries drop.
		skip: func(l library, v vendor) bool { return l.mute || v.name == "local" },
		text: "Done: 42.", calls: loopCalls, sent: "result 3 of time",
	},
	{
		name: "object", call: libraryCall{Object: true}, object: `{"city":"Rome","days":[1,2,3]}`,
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

// test runs the scenario over the vendor. If the library is known to fail, it must
// still fail, and fail without Polywire, too.
func (s libraryScenario) test(t *testing.T, l library, v vendor, stream bool) {
	server, f := l.serve(t, v)
	wrong := s.run(t, l, v, server.url, key, stream, f)
	if e := exceptionOf(l, s, v); e == nil || !stream {
		for _, w := range wrong {
			t.Error(w)
		}
	} else if len(wrong) == 0 {
		t.Errorf("the exception %q is not needed", e.reason)
	} else if direct := l.vendor(t); len(s.run(t, l, v, direct.URL, vendorKey, stream, direct)) == 0 {
		t.Errorf("the exception %q holds only through the gateway: %s", e.reason, wrong)
	}
}

// run runs the scenario with a server, behind which f is the vendor. It returns
// what is wrong.
func (s libraryScenario) run(t *testing.T, l library, v vendor, url, key string, stream bool, f *fake.Server) (wrong complaints) {
	say := s.say
	if s.object != "" {
		say = [][]fake.Piece{{fake.Text(s.object)}}
		if l.answer != "" {
			say = [][]fake.Piece{{fake.Call(l.answer, s.object)}}
		}
	}
	for _, pieces := range say {
		if s.fails {
			f.Always(pieces...) // Genkit Go retries
		} else {
			f.Say(pieces...)
		}
	}
	c := s.call
	c.BaseURL, c.Key, c.Stream, c.Prompt = url, key, stream, "What is it?"
	switch {
	case c.MaxTokens < 0:
		c.MaxTokens = 0
	case c.MaxTokens == 0:
		c.MaxTokens = 4096
	}
	r, err := l.run(t, c)
	for _, q := range f.Refused() {
		wrong.add("%s rejected a request by rule %s: %s", v.name, q.Rule, q.Message)
	}
	if s.fails {
		if err == nil {
			wrong.add("the library returned no error and the text %q", r.Text)
		} else if !strings.Contains(err.Error(), s.message) {
			wrong.add("the library returned error %v, want %q", err, s.message)
		}
		return wrong
	}
	if err != nil {
		wrong.add("%v\nsent: %.2000s", err, f.Last().Body)
		return wrong
	}
	s.check(&wrong, l, v, r, stream)
	if n := f.Left(); n != 0 {
		wrong.add("%d unused responses", n)
	}
	for _, q := range f.Requests() {
		noState(&wrong, string(q.Body), l.unsigned && v.name == l.own())
	}
	last := string(f.Last().Body)
	if !strings.Contains(last, s.sent) || !strings.Contains(last, "What is it?") {
		wrong.add("the last request does not contain %.50q or the prompt: %.2000s", s.sent, last)
	}
	if s.limited {
		wantLimit(&wrong, v, last)
	}
	return wrong
}

// complaints are what is wrong in a run of a scenario.
type complaints []string

func (c *complaints) add(format string, args ...any) { *c = append(*c, fmt.Sprintf(format, args...)) }

// An exception is what a library does wrong with its own vendor, too.
type exception struct {
	library  string
	scenario string
	vendor   string // empty: each
	reason   string
}

// exceptions are for streams; whole responses have none.
var exceptions = []exception{
	{"langchain-1-of-2026-messages", "object", "", "it parses the first chunk of a tool call, which is empty"},
	{"langchain-1-of-2026-responses", "object", "responses", "it parses the beginning of a message with a phase, which is empty"},
	{"langchain-0.3-of-2025-responses", "object", "responses", "it parses the list of parts of a message with a phase, in place of their text"},
	{"generative-ai-0.24-of-2025", "tools", "gemini", emptyEnd},
	{"generative-ai-0.24-of-2025", "tools of a thinking model", "gemini", emptyEnd},
}

const emptyEnd = "its chat drops a turn with an empty text, with which streams of Gemini 3 end"

func exceptionOf(l library, s libraryScenario, v vendor) *exception {
	for i, e := range exceptions {
		if e.library == l.name && e.scenario == s.name && (e.vendor == "" || e.vendor == v.name) {
			return &exceptions[i]
		}
	}
	return nil
}

// check checks what the library returned.
func (s libraryScenario) check(wrong *complaints, l library, v vendor, r *libraryReply, stream bool) {
	if s.object == "" && r.Text != s.text {
		wrong.add("text %q, want %q", r.Text, s.text)
	}
	// Requests of Chat Completions do not ask for thinking, which two vendors then do not show.
	unasked := l.format == chatFormat && (v.name == "gemini" || v.name == "responses")
	if s.thinking != "" && v.name != "chat" && !l.hides && !unasked && r.Thinking != s.thinking {
		wrong.add("thinking %q, want %q", r.Thinking, s.thinking)
	}
	slices.Sort(r.Calls) // parallel calls may run in any order
	want := slices.Sorted(slices.Values(s.calls))
	if diff := cmp.Diff(want, r.Calls); diff != "" && len(want)+len(r.Calls) > 0 {
		wrong.add("calls (-want +got):\n%s", diff)
	}
	if len(r.Warnings) > 0 {
		wrong.add("unexpected warnings of the library: %q", r.Warnings)
	}
	if s.object != "" {
		got, err := json.Marshal(r.Object)
		if err != nil || string(got) != s.object {
			wrong.add("object %s, want %s", got, s.object)
		}
	}
	// Some libraries read the tokens of a stream's request from an estimated
	// count.
	switch {
	case s.counted && !stream && (r.Input != 37 || r.Output != 5):
		wrong.add("%d and %d tokens, want 37 and 5", r.Input, r.Output)
	case s.counted && stream && (r.Input < 1 || r.Input > 200):
		wrong.add("%d tokens of the request, want about 37", r.Input)
	}
}

// envelopes are prefixes of values for clients only, in plain text and in
// base64.
var envelopes = []string{"pw1.", "cHcxL", "pwsig_", "skip_thought_signature_validator", "c2tpcF90aG91Z2h0"}

// noState checks that a request to a vendor contains no carried state, and no
// replacement for a signature unless the client dropped it.
func noState(wrong *complaints, body string, replaced bool) {
	for _, e := range envelopes {
		if strings.Contains(body, e) && !(replaced && e == "skip_thought_signature_validator") {
			wrong.add("a request to the vendor contains %q: %.2000s", e, body)
		}
	}
}

var limitMember = regexp.MustCompile(`"(?:max_tokens|max_completion_tokens|max_output_tokens|maxOutputTokens)":(\d+)`)

// wantLimit checks that a request's output limit does not exceed the model's.
func wantLimit(wrong *complaints, v vendor, body string) {
	limit, known := map[string]int{"gemini": 65536, "chat": 32768, "responses": 128000}[v.name]
	m := limitMember.FindStringSubmatch(body)
	if !known || m == nil {
		return
	}
	if n, err := strconv.Atoi(m[1]); err != nil || n > limit {
		wrong.add("a limit of %s tokens, want at most %d", m[1], limit)
	}
}
