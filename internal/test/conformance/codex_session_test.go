package conformance

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/polywire/polywire/internal/test/fake"
	openairesponses "github.com/polywire/polywire/upstream/openai/responses"
)

// codexConfigs are the ways to configure Codex.
var codexConfigs = map[string]string{"provider": codexProvider, "built-in": codexBuiltIn}

// TestCodexWebSocket checks that Codex uses HTTP after its first attempt to open a WebSocket.
func TestCodexWebSocket(t *testing.T) {
	for name, config := range map[string]string{"provider": codexProvider + "supports_websockets = true\n", "built-in": codexBuiltIn} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			up, f := vendors[0].startForCodex(t)
			f.Always(fake.Text("Hello: 42."))
			var upgrades atomic.Int32
			opts := &openairesponses.Options{}
			s := newServer(&opts.HandlerOptions)
			h := openairesponses.NewHandler(up, opts)
			s.start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Upgrade") != "" {
					upgrades.Add(1)
				}
				h.ServeHTTP(w, r)
			}))
			runCodex(t, config, s.url, "some-model", "Say it.").mustSay(t, "Hello: 42.")
			if n := upgrades.Load(); n != 1 {
				t.Errorf("%d attempts to open a WebSocket, want 1", n)
			}
		})
	}
}

// checkCodex checks what the vendor received: no request was rejected, but for the limit of descriptions
// that the adapter learns, and none has state of this module.
func (v vendor) checkCodex(t *testing.T, f *fake.Server) {
	t.Helper()
	if n := f.Left(); n != 0 {
		t.Errorf("%d unused responses", n)
	}
	var wrong complaints
	for _, q := range f.Requests() {
		noState(&wrong, string(q.Body), false)
		if !q.Accepted() && !strings.Contains(q.Message, "description': expected at most 1024 characters") {
			t.Errorf("%s rejected a request by rule %s: %s", v.name, q.Rule, q.Message)
		}
	}
	for _, w := range wrong {
		t.Error(w)
	}
}

// TestCodexCompaction checks that Codex continues a conversation after it has asked for its
// summary, as it does when the context is full: with its own provider by an item, with another one by
// a message of the user.
func TestCodexCompaction(t *testing.T) {
	everyVendor(t, func(t *testing.T, v vendor) {
		t.Parallel()
		for name, config := range codexConfigs {
			t.Run(name, func(t *testing.T) {
				up, f := v.startForCodex(t)
				const summary = "Summary: one note was written."
				f.Say(fake.Usage{Input: 90_000, Output: 5}, fake.Thinking("Hm."), fake.Call("exec_command", `{"cmd":"echo Hello > note.txt; echo one"}`))
				f.Say(fake.Text(summary))
				f.Say(fake.Text("Done: 42."))
				r := runCodex(t, "model_auto_compact_token_limit = 80000\n"+config, serveResponses(t, up, nil).url, "some-model", "Do it.")
				r.mustSay(t, "Done: 42.")
				if last := string(f.Last().Body); !strings.Contains(last, summary) {
					t.Errorf("the vendor did not receive the summary: %.3000s", last[max(0, len(last)-3000):])
				}
				v.checkCodex(t, f)
			})
		}
	})
}

// TestCodexSession checks a session of two tasks with ten responses: all that the vendor signed
// comes back to it.
func TestCodexSession(t *testing.T) {
	everyVendor(t, func(t *testing.T, v vendor) {
		t.Parallel()
		up, f := v.startForCodex(t)
		s := serveResponses(t, up, nil)
		for i := range 10 {
			thought := fake.Thinking(fmt.Sprintf("Thought %d.", i))
			switch i {
			case 5, 9:
				f.Say(thought, fake.Text(fmt.Sprintf("Done: %d.", i)))
			default:
				f.Say(thought, fake.Text("Next."), fake.Call("exec_command", fmt.Sprintf(`{"cmd":"echo step %d"}`, i)))
			}
		}
		r := runCodex(t, codexProvider, s.url, "some-model", "Do it.")
		r.mustSay(t, "Done: 5.")
		r.again(t, "And that.")
		r.mustSay(t, "Done: 9.")
		body := string(f.Last().Body)
		for i := range 9 {
			if want := fmt.Sprintf("step %d\\n", i); i != 5 && !strings.Contains(body, want) {
				t.Errorf("the last request has no %q", want)
			}
		}
		want := 9 // of the earlier responses
		if v.name == "gemini" {
			want = 8 // those of calls; it does not need the signature of a text, for which Responses has no place
		}
		if v.mark != nil {
			if n := len(v.mark.FindAllString(body, -1)); n != want {
				t.Errorf("the last request has %d signatures, want %d", n, want)
			}
		}
		v.checkCodex(t, f)
	})
}

// TestCodexAgents checks that Codex finds the tools for sub-agents by a search of its own, starts a
// sub-agent, which has a conversation with the same model, and waits for its response.
func TestCodexAgents(t *testing.T) {
	everyVendor(t, func(t *testing.T, v vendor) {
		t.Parallel()
		up, f := v.startForCodex(t)
		agent := regexp.MustCompile(`agent_id[\\": ]+([0-9a-f-]{36})`)
		var calls []string // of the main agent
		f.Answer(func(q fake.Request) []fake.Piece {
			body := string(q.Body)
			call := func(namespace, name, args string) []fake.Piece {
				calls = append(calls, name)
				return []fake.Piece{fake.Thinking("Hm."), codexToolCall{namespace, name, args}.inFormOf(v, body, len(calls))}
			}
			id := agent.FindStringSubmatch(body)
			switch {
			case !strings.Contains(body, "Delegate it."):
				return []fake.Piece{fake.Text("The agent says 7.")}
			case slices.Contains(calls, "wait_agent") && strings.Contains(body, "The agent says 7."):
				return []fake.Piece{fake.Text("Done: 42.")}
			case id != nil:
				return call("multi_agent_v1", "wait_agent", `{"targets":["`+id[1]+`"]}`)
			case len(calls) == 1:
				return call("multi_agent_v1", "spawn_agent", `{"message":"Say it."}`)
			}
			return call("", "tool_search", `{"query":"spawn agent"}`)
		})
		s := serveResponses(t, up, nil)
		runCodex(t, codexProvider, s.url, "gpt-5.5", "Delegate it.").mustSay(t, "Done: 42.")
		if got := strings.Join(calls, " "); got != "tool_search spawn_agent wait_agent" {
			t.Errorf("the calls were %s", got)
		}
		v.checkCodex(t, f)
	})
}

// A codexToolCall is a call of a function of Codex, which may be in a namespace.
type codexToolCall struct{ namespace, name, args string }

// inFormOf returns the call as the vendor makes it for the tools of a request.
func (c codexToolCall) inFormOf(v vendor, body string, n int) fake.Piece {
	id := fmt.Sprintf(`"id":"fc_%d","status":"completed","call_id":"call_%[1]d"`, n)
	switch {
	case v.name == "responses" && c.namespace == "":
		return fake.Raw(`{"type":"tool_search_call","execution":"client",` + id + `,"arguments":` + c.args + `}`)
	case v.name == "responses":
		return fake.Raw(`{"type":"function_call","namespace":"` + c.namespace + `","name":"` + c.name + `",` + id + `,"arguments":` + fake.Quote(c.args) + `}`)
	}
	name := regexp.MustCompile(`"name": ?"([a-zA-Z0-9_-]*` + c.name + `)"`).FindStringSubmatch(body)
	if name == nil {
		return fake.Text("The request has no tool " + c.name)
	}
	return fake.Call(name[1], c.args)
}
