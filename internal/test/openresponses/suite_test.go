package openresponses

import (
	"strings"
	"testing"

	"github.com/polywire/polywire/internal/test/fake"
	"github.com/polywire/polywire/upstream/openai/responses"
)

const (
	// dot is a PNG of one pixel.
	dot  = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
	tool = `"tools":[{"type":"function","name":"get_weather","description":"The weather of a city.","parameters":{"type":"object",` +
		`"properties":{"location":{"type":"string"}},"required":["location"]}}]`
)

func user(text string) string { return `{"type":"message","role":"user","content":"` + text + `"}` }
func assistant(text string) string {
	return `{"type":"message","role":"assistant","content":"` + text + `"}`
}

// A suiteCase is a case of the specification's acceptance tests.
type suiteCase struct {
	name    string
	members string // of the request
	say     []fake.Piece
	sees    []string // that the vendor gets
	item    string   // the type of the first item
}

// suite has the cases with a request for a response. The others are in TestSuiteCompact and, as
// it has no request, in TestContract.
var suite = []suiteCase{
	{"basic-response", `"input":[` + user("Say hello in exactly 3 words.") + `]`, []fake.Piece{fake.Text("Hello to you")},
		[]string{"exactly 3 words"}, "message"},
	{"assistant-phase", `"input":[` + user("Plan first.") + `,{"type":"message","role":"assistant","phase":"commentary","content":[{"type":"output_text","text":"I look."}]},` +
		`{"type":"message","role":"assistant","phase":"final_answer","content":[{"type":"output_text","text":"It is done."}]},` + user("Go on.") + `]`,
		[]fake.Piece{fake.Text("On.")}, []string{"I look.", "It is done."}, "message"},
	{"streaming-response", `"stream":true,"input":[` + user("Count from 1 to 5.") + `]`, []fake.Piece{fake.Text("1, 2, 3, 4, 5")},
		[]string{"Count from 1"}, "message"},
	{"system-prompt", `"input":[{"type":"message","role":"system","content":"You are a pirate."},` + user("Say hello.") + `]`, []fake.Piece{fake.Text("Ahoy")},
		[]string{"You are a pirate."}, "message"},
	{"tool-calling", `"input":[` + user("The weather in San Francisco?") + `],` + tool, []fake.Piece{fake.Call("get_weather", `{"location":"San Francisco"}`)},
		[]string{"The weather of a city.", "location"}, "function_call"},
	{"image-input", `"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"Which color?"},{"type":"input_image","image_url":"data:image/png;base64,` + dot + `"}]}]`,
		[]fake.Piece{fake.Text("Red.")}, []string{dot[:20]}, "message"},
	{"multi-turn", `"input":[` + user("My name is Alice.") + `,` + assistant("Hello Alice!") + `,` + user("My name?") + `]`, []fake.Piece{fake.Text("Alice.")},
		[]string{"My name is Alice.", "Hello Alice!"}, "message"},
	// These are on branches of the acceptance tests.
	{"tool-calling-streaming", `"stream":true,"input":[` + user("The weather in Rome?") + `],` + tool, []fake.Piece{fake.Call("get_weather", `{"location":"Rome"}`)},
		[]string{"get_weather"}, "function_call"},
	{"function-call-roundtrip", `"input":[` + user("The weather in Rome?") + `,{"type":"function_call","call_id":"call_1","name":"get_weather","arguments":"{\"location\":\"Rome\"}"},` +
		`{"type":"function_call_output","call_id":"call_1","output":"Sunny, 25 degrees"}],` + tool, []fake.Piece{fake.Text("It is sunny.")},
		[]string{"Sunny, 25 degrees"}, "message"},
}

// TestSuite has the rows of the acceptance tests over all vendors, and asserts more than they do.
func TestSuite(t *testing.T) {
	eachVendor(t, responses.Options{OpenResponses: true}, func(t *testing.T, g *gateway) {
		for _, c := range suite {
			t.Run(c.name, func(t *testing.T) {
				g.Say(c.say...)
				r := g.post(t, c.members)
				if r.status != 200 || r.object.Get("status").Str != "completed" || r.object.Get("output.0.type").Str != c.item {
					t.Fatalf("%d %s", r.status, r.body)
				}
				if stream := strings.Contains(c.members, `"stream":true`); stream != (r.stream != nil) {
					t.Errorf("stream is %v", !stream)
				}
				sent := string(g.Last().Body)
				for _, text := range c.sees {
					if !strings.Contains(sent, text) {
						t.Errorf("the vendor did not get %q: %s", text, sent)
					}
				}
			})
		}
	})
}

// TestSuiteCompact has the rows about compaction: compact-response and compact-missing-model.
func TestSuiteCompact(t *testing.T) {
	eachVendor(t, responses.Options{OpenResponses: true}, func(t *testing.T, g *gateway) {
		g.Say(fake.Text("They greeted each other."))
		body := `{"model":"` + g.model + `","input":[` + user("Hello.") + `,` + assistant("Hello!") + `]}`
		if err := g.contract.validate("CompactResponseMethodPublicBody", body); err != nil {
			t.Fatal(err)
		}
		r := g.send(t, "POST", "/v1/responses/compact", body)
		if err := g.contract.validate("CompactResource", r.body); err != nil || r.status != 200 {
			t.Fatal(r.status, err)
		}
		if got := r.object.Get("output.#.type").Raw; got != `["compaction"]` {
			t.Errorf("the output has %s", got)
		}
		// The window is the base of the next input.
		window := strings.TrimSuffix(r.object.Get("output").Raw, "]") + "," + user("Go on.") + "]"
		g.Say(fake.Text("On."))
		if r = g.post(t, `"input":`+window); r.status != 200 || !strings.Contains(string(g.Last().Body), "They greeted each other.") {
			t.Errorf("%d %s", r.status, g.Last().Body)
		}

		r = g.send(t, "POST", "/v1/responses/compact", `{"input":"Hello."}`)
		if r.status != 400 || r.object.Get("error.param").Str != "model" {
			t.Errorf("without a model: %d %s", r.status, r.body)
		}
		g.checkError(t, r)
	})
}

// TestSuiteWebSocket has the rows of the acceptance tests that open a WebSocket first. The
// specification allows a server without one. Status 426 makes clients use HTTP.
func TestSuiteWebSocket(t *testing.T) {
	eachVendor(t, responses.Options{OpenResponses: true}, func(t *testing.T, g *gateway) {
		for _, name := range []string{
			"websocket-response", "websocket-sequential-responses", "websocket-continuation", "websocket-reconnect-store-false-recovery",
			"websocket-previous-response-not-found", "websocket-failed-continuation-evicts-cache", "websocket-compact-new-chain",
		} {
			t.Run(name, func(t *testing.T) {
				r := g.send(t, "GET", "/v1/responses", "", "Connection", "Upgrade", "Upgrade", "websocket", "Sec-WebSocket-Version", "13", "Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==")
				if r.status != 426 {
					t.Errorf("status %d: %s", r.status, r.body)
				}
				g.checkError(t, r)
			})
		}
		if n := len(g.Requests()); n != 0 {
			t.Errorf("the vendor got %d requests", n)
		}
	})
}
