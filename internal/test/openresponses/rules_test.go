package openresponses

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/internal/test/fake"
	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/upstream/openai/responses"
)

// A scenario is a response of a vendor, and the items that the client gets.
type scenario struct {
	name    string
	members string // of the request, besides its input and tools
	say     []fake.Piece
	only    string // the vendor that can send it; empty: all
	encoded bool   // not in front of a server of the format: its server gets the members as they are
	status  string // of the response; empty: "completed"
	want    []string
}

const (
	thinks  = `"reasoning":{"effort":"low","summary":"auto"},`
	returns = `"include":["reasoning.encrypted_content"],` + thinks
)

var long = strings.Repeat("Zürich ☃ ", 200)

var scenarios = []scenario{
	{name: "text", say: []fake.Piece{fake.Text("Hello there.")}, want: []string{"message | Hello there."}},
	{name: "long text in small pieces", say: []fake.Piece{fake.Split(3), fake.Text(long)}, want: []string{"message | " + long}},
	{name: "text with escapes", say: []fake.Piece{fake.Split(1), fake.Text("a\"\\\n\u2028<>&☃")}, want: []string{"message | a\"\\\n\u2028<>&☃"}},
	{name: "two calls after a text", say: []fake.Piece{fake.Text("Both."), fake.Call("get_weather", `{"location":"Rome"}`), fake.Call("get_weather", `{"location":"Oslo"}`)},
		want: []string{"message | Both.", `function_call get_weather({"location":"Rome"})`, `function_call get_weather({"location":"Oslo"})`}},
	{name: "arguments in small pieces", say: []fake.Piece{fake.Split(1), fake.Call("get_weather", `{"location":"\u00e9 \"☃\""}`)}},
	{name: "a call without arguments", say: []fake.Piece{fake.Call("get_weather", `{}`)}, want: []string{"function_call get_weather({})"}},
	{name: "a summary of the reasoning", members: thinks, say: []fake.Piece{fake.Thinking("Let me think."), fake.Text("Done.")}},
	{name: "reasoning that is returned", members: returns, say: []fake.Piece{fake.Thinking("Let me think."), fake.Text("Done."), fake.Call("get_weather", `{"location":"Rome"}`)}},
	{name: "reasoning without text", members: returns, say: []fake.Piece{fake.Thinking(""), fake.Redacted("hidden"), fake.Text("Done.")}},
	{name: "usage", say: []fake.Piece{fake.Usage{Input: 100, Output: 20, CacheRead: 40}, fake.Text("Done.")}, want: []string{"message | Done."}},
	{name: "no usage", say: []fake.Piece{fake.NoUsage{}, fake.Text("Done.")}, want: []string{"message | Done."}},
	{name: "keep-alives", say: []fake.Piece{fake.Ping{}, fake.Text("Done."), fake.Ping{}}},
	{name: "another model", say: []fake.Piece{fake.Model("other-1"), fake.Text("Done.")}, want: []string{"message | Done."}},
	{name: "all settings", say: []fake.Piece{fake.Text("Done.")}, members: `"instructions":"Be brief.","max_output_tokens":100,"metadata":{"a":"b"},` +
		`"tool_choice":{"type":"allowed_tools","mode":"auto","tools":[{"type":"function","name":"get_weather"}]},"parallel_tool_calls":false,"max_tool_calls":3,` +
		`"text":{"format":{"type":"json_schema","name":"n","schema":{"type":"object","properties":{},"required":[],"additionalProperties":false},"strict":true},"verbosity":"medium"},` +
		`"store":false,"background":false,"truncation":"disabled","service_tier":"default","safety_identifier":"s","prompt_cache_key":"k","previous_response_id":null,` +
		`"stream_options":{"include_obfuscation":false},"include":[],`, want: []string{"message | Done."}},
	{name: "null members", encoded: true, say: []fake.Piece{fake.Text("Done.")}, members: `"instructions":null,"max_output_tokens":null,"metadata":null,"tool_choice":null,` +
		`"parallel_tool_calls":null,"max_tool_calls":null,"text":null,"temperature":null,"top_p":null,"presence_penalty":null,"frequency_penalty":null,"reasoning":null,` +
		`"safety_identifier":null,"prompt_cache_key":null,"previous_response_id":null,"stream_options":null,"top_logprobs":null,`, want: []string{"message | Done."}},

	{name: "output limit", only: "anthropic", say: []fake.Piece{fake.Text("Do"), fake.Stop{Reason: "max_tokens"}}, status: "incomplete", want: []string{"message incomplete | Do"}},
	{name: "refusal", only: "anthropic", say: []fake.Piece{fake.Text("No"), fake.Stop{Reason: "refusal"}}, status: "incomplete", want: []string{"message incomplete | No"}},
	{name: "output limit", only: "gemini", say: []fake.Piece{fake.Text("Do"), fake.Stop{Reason: "MAX_TOKENS"}}, status: "incomplete", want: []string{"message incomplete | Do"}},
	{name: "blocked prompt", only: "gemini", say: []fake.Piece{fake.Blocked("PROHIBITED_CONTENT")}, status: "incomplete"},
	{name: "image", only: "gemini", say: []fake.Piece{fake.Text("Here: "), fake.Image{MIME: "image/png", Data: dot}, fake.Text("Done.")}},
	{name: "output limit", only: "chat", say: []fake.Piece{fake.Text("Do"), fake.Stop{Reason: "length"}}, status: "incomplete", want: []string{"message incomplete | Do"}},
	{name: "filtered", only: "chat", say: []fake.Piece{fake.Text("Do"), fake.Stop{Reason: "content_filter"}}, status: "incomplete", want: []string{"message incomplete | Do"}},
	{name: "output limit", only: "responses", say: []fake.Piece{fake.Text("Do"), fake.Stop{Reason: "max_output_tokens"}}, status: "incomplete", want: []string{"message incomplete | Do"}},
	{name: "citation", only: "responses", say: []fake.Piece{fake.Cited{Text: "Rome is sunny.", Citations: []string{
		`{"type":"url_citation","url":"https://example.com/","title":"T","start_index":0,"end_index":4}`}}},
		want: []string{"message | Rome is sunny. [url_citation 0-4 https://example.com/ T]"}},
}

// body returns the members of a request for a scenario.
func (s *scenario) body(stream bool) string {
	body := s.members + `"input":[` + user("Hello?") + `],` + tool
	if stream {
		body += `,"stream":true`
	}
	return body
}

// TestRules reads the responses of all scenarios, whole and streamed, with the contract and with
// the strict reader of streams.
func TestRules(t *testing.T) {
	eachVendor(t, responses.Options{OpenResponses: true}, func(t *testing.T, g *gateway) {
		for _, s := range scenarios {
			if s.only != "" && !strings.HasSuffix(t.Name(), "/"+s.only) || s.encoded && strings.HasSuffix(t.Name(), "/responses") {
				continue
			}
			t.Run(s.name, func(t *testing.T) {
				g.Say(s.say...)
				g.Say(s.say...)
				whole := g.post(t, s.body(false))
				streamed := g.post(t, s.body(true))
				for _, r := range []*reply{whole, streamed} {
					if r.status != 200 {
						t.Fatalf("%d %s\n%s", r.status, r.body, g.Last().Body)
					}
					s.check(t, r)
				}
				if diff := cmp.Diff(formattest.ItemsOf(whole.object), formattest.ItemsOf(streamed.object)); diff != "" {
					t.Errorf("the stream has other items (-whole +streamed):\n%s", diff)
				}
			})
		}
	})
}

// idOf is the form of ids: a prefix and a random part.
var idOf = regexp.MustCompile(`^[a-z]+_[A-Za-z0-9]+(_[0-9]+)?$`)

func (s *scenario) check(t *testing.T, r *reply) {
	t.Helper()
	v := r.object
	status := s.status
	if status == "" {
		status = "completed"
	}
	if got := v.Get("status").Str; got != status {
		t.Errorf("status %q, want %q", got, status)
	}
	items := formattest.ItemsOf(v)
	if s.want != nil && !cmp.Equal(s.want, items) {
		t.Errorf("items:\n%s", cmp.Diff(s.want, items))
	}
	// An item that is incomplete is the last one, and the response is incomplete.
	list := v.Get("output").Array()
	for i, x := range list {
		if st := x.Get("status").Str; st != "completed" && (st != "incomplete" || i != len(list)-1 || status != "incomplete") {
			t.Errorf("item %d has the status %q", i, st)
		}
		if id := x.Get("id").Str; !idOf.MatchString(id) {
			t.Errorf("the id of item %d is %q", i, id)
		}
		if call := x.Get("call_id"); x.Get("type").Str == "function_call" && call.Str == "" {
			t.Errorf("item %d has no call_id", i)
		}
	}
	if !strings.HasPrefix(v.Get("id").Str, "resp_") {
		t.Errorf("id %q", v.Get("id").Str)
	}
	if (v.Get("completed_at").Type == gjson.Null) == (status == "completed") || (v.Get("incomplete_details.reason").Str == "") == (status == "incomplete") {
		t.Errorf("completed_at %s, incomplete_details %s", v.Get("completed_at").Raw, v.Get("incomplete_details").Raw)
	}
	u := v.Get("usage")
	if u.Get("total_tokens").Int() != u.Get("input_tokens").Int()+u.Get("output_tokens").Int() ||
		u.Get("input_tokens_details.cached_tokens").Int() > u.Get("input_tokens").Int() ||
		u.Get("output_tokens_details.reasoning_tokens").Int() > u.Get("output_tokens").Int() {
		t.Errorf("usage %s", u.Raw)
	}
	if s.members == returns && !slices.ContainsFunc(list, func(x gjson.Result) bool { return x.Get("encrypted_content").Str != "" }) {
		t.Logf("no state of reasoning: %s", r.body) // Chat Completions has none
	}
}

// TestEcho tests that the response repeats the settings that were used.
func TestEcho(t *testing.T) {
	eachVendor(t, responses.Options{OpenResponses: true}, func(t *testing.T, g *gateway) {
		for _, s := range scenarios {
			if s.name != "all settings" {
				continue
			}
			v := g.post(t, s.body(false)).object
			for name, want := range map[string]string{
				"instructions": `"Be brief."`, "max_output_tokens": "100", "metadata": `{"a":"b"}`, "parallel_tool_calls": "false", "max_tool_calls": "3",
				"tool_choice": `{"type":"allowed_tools","mode":"auto","tools":[{"type":"function","name":"get_weather"}]}`,
				"text":        `{"format":{"type":"json_schema","name":"n","description":null,"strict":true,"schema":null},"verbosity":"medium"}`,
				"store":       "false", "background": "false", "truncation": `"disabled"`, "safety_identifier": `"s"`, "prompt_cache_key": `"k"`, "previous_response_id": "null",
			} {
				if got := v.Get(name).Raw; got != want {
					t.Errorf("%s is %s, want %s", name, got, want)
				}
			}
		}
	})
}

// TestErrors tests errors: before a response as an error object, within a stream as the events
// "error" and "response.failed".
func TestErrors(t *testing.T) {
	eachVendor(t, responses.Options{OpenResponses: true}, func(t *testing.T, g *gateway) {
		for _, tt := range []struct {
			say    fake.Piece
			status int
		}{
			{fake.Status{Code: 400}, 400}, {fake.Status{Code: 429}, 429}, {fake.Status{Code: 500}, 500}, {fake.Status{Code: 503}, 503}, {fake.Cut{}, 502},
		} {
			for _, stream := range []bool{false, true} {
				g.Say(tt.say)
				r := g.post(t, (&scenario{}).body(stream))
				if r.status < tt.status/100*100 || r.status >= tt.status/100*100+100 || r.status == 429 != (tt.status == 429) {
					t.Errorf("%#v: status %d, want %d", tt.say, r.status, tt.status)
				}
			}
			g.Say(fake.Split(1), fake.Text("Hello"), tt.say)
			r := g.post(t, (&scenario{}).body(true))
			if r.stream == nil {
				t.Errorf("%#v: %d %s", tt.say, r.status, r.body)
				continue
			}
			e, failed := r.stream.Failed, r.object.Get("error")
			code := e.Get("code").Str
			if e.Get("type").Str == "invalid_request_error" {
				code = "invalid_prompt" // a code of failed responses, which have fewer
			}
			if r.object.Get("status").Str != "failed" || code != "" && code != failed.Get("code").Str || e.Get("message").Str != failed.Get("message").Str {
				t.Errorf("%#v: error %s, response %s", tt.say, e.Raw, failed.Raw)
			}
		}
		// Errors of the client.
		for _, tt := range []struct{ members, param, code string }{
			{`"input":[{"type":"message","role":"user","content":[{"type":"input_text"}]}]`, "input[0].content[0].text", "missing_required_parameter"},
			{`"input":"Hello","temperature":9`, "temperature", "decimal_above_max_value"},
			{`"input":"Hello","max_output_tokens":1`, "max_output_tokens", "integer_below_min_value"},
			{`"input":"Hello","background":true`, "background", "previous_response_not_found"},
			{`"input":"Hello","previous_response_id":"resp_1"`, "previous_response_id", "previous_response_not_found"},
			{`"input":[{"type":"item_reference","id":"msg_1"}]`, "input[0].id", "previous_response_not_found"},
		} {
			r := g.send(t, "POST", "/v1/responses", `{"model":"`+g.model+`",`+tt.members+`}`)
			if e := r.object.Get("error"); r.status != 400 || e.Get("param").Str != tt.param || e.Get("code").Str != tt.code {
				t.Errorf("%s: %d %s", tt.members, r.status, r.body)
			}
			g.checkError(t, r)
		}
		for _, tt := range []struct {
			method, path string
			status       int
		}{{"GET", "/v1/responses", 405}, {"GET", "/v1/responses/resp_1", 404}, {"POST", "/v1/responses/other", 404}} {
			r := g.send(t, tt.method, tt.path, "")
			if r.status != tt.status {
				t.Errorf("%s %s: %d", tt.method, tt.path, r.status)
			}
			g.checkError(t, r)
		}
	})
}

// TestAllowedTools tests that a call of a tool that is not allowed does not reach the client,
// whatever the vendor does.
func TestAllowedTools(t *testing.T) {
	eachVendor(t, responses.Options{OpenResponses: true}, func(t *testing.T, g *gateway) {
		for _, choice := range []string{`"none"`, `{"type":"allowed_tools","mode":"auto","tools":[{"type":"function","name":"other"}]}`} {
			for _, stream := range []bool{false, true} {
				g.Say(fake.Text("Hm."), fake.Call("get_weather", `{"location":"Rome"}`))
				s := scenario{members: `"tool_choice":` + choice + `,`}
				both := strings.Replace(tool, `"tools":[`, `"tools":[{"type":"function","name":"other","parameters":{"type":"object","properties":{}}},`, 1)
				r := g.post(t, strings.Replace(s.body(stream), tool, both, 1))
				if got := formattest.ItemsOf(r.object); !cmp.Equal(got, []string{"message | Hm."}) {
					t.Errorf("%s: %q\n%s", choice, got, r.body)
				}
			}
		}
	})
}

// differs matches what two responses to the same request never have in common.
var differs = regexp.MustCompile(`_[A-Z0-9]{26}|_at":[0-9]+|"(call_id|encrypted_content|id)":"([^"\\]|\\.)*"`)

// errorEvent returns the error event of a stream. Without the option it has the members of the error
// itself, too: some clients read them there.
func errorEvent(stream string) gjson.Result {
	_, rest, _ := strings.Cut(stream, "event: error\ndata: ")
	data, _, _ := strings.Cut(rest, "\n")
	return gjson.Parse(data)
}

// TestWithoutOption tests that the option changes nothing but the members for which the
// specification and OpenAI's own wire differ.
func TestWithoutOption(t *testing.T) {
	const schema = `"text":{"format":{"type":"json_schema","name":"n","schema":{"type":"object","properties":{},"required":[],"additionalProperties":false},"strict":true}},`
	for _, v := range vendors[:3] { // documents of the last one pass without the option
		t.Run(v.name, func(t *testing.T) {
			up, server, err := v.start(t)
			if err != nil {
				t.Fatal(err)
			}
			// exchange returns the responses with and without the option.
			exchange := func(say []fake.Piece, s *scenario, stream bool) (open, own *reply) {
				t.Helper()
				list := make([]*reply, 2)
				for i := range list {
					g := newGateway(t, up, server, v.model, responses.Options{OpenResponses: i == 0})
					g.Say(say...)
					list[i] = g.send(t, "POST", "/v1/responses", `{"model":"`+v.model+`",`+s.body(stream)+`}`)
				}
				return list[0], list[1]
			}
			for _, s := range scenarios {
				if s.only != "" && s.only != v.name || s.name == "all settings" || s.name == "image" {
					continue
				}
				for _, stream := range []bool{false, true} {
					open, own := exchange(s.say, &s, stream)
					if diff := cmp.Diff(differs.ReplaceAllString(open.body, ""), differs.ReplaceAllString(own.body, "")); diff != "" {
						t.Errorf("%s (-with the option +without):\n%s", s.name, diff)
					}
				}
			}

			open, own := exchange([]fake.Piece{fake.Split(1), fake.Text("Hello"), fake.Status{Code: 500}}, new(scenario), true)
			a, b := errorEvent(open.body), errorEvent(own.body)
			if !a.Get("error.message").Exists() || a.Get("message").Exists() || !b.Get("error.message").Exists() || !b.Get("message").Exists() {
				t.Errorf("the error is %s, without the option %s", a.Raw, b.Raw)
			}
			open, own = exchange([]fake.Piece{fake.Text("{}")}, &scenario{members: schema}, false)
			if a, b := open.object.Get("text.format.schema").Raw, own.object.Get("text.format.schema").Raw; a != "null" || !strings.Contains(b, "additionalProperties") {
				t.Errorf("the schema is %s, without the option %s: %s", a, b, own.body)
			}
			open, own = exchange([]fake.Piece{fake.Text("Hi")}, &scenario{members: `"reasoning":{"effort":"minimal"},`}, false)
			if a, b := open.object.Get("reasoning.effort").Raw, own.object.Get("reasoning.effort").Raw; a != "null" || b != `"minimal"` {
				t.Errorf("the effort is %s, without the option %s: %s", a, b, own.body)
			}
		})
	}
}
