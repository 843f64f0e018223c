package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/internal/test/fake"
	"github.com/polywire/polywire/upstream"
)

// A renumberingClient uses generateContent and replaces or omits the ids of
// tool calls, which the SDKs ignore.
type renumberingClient struct {
	*generateClient
	calls, answers func(n int, id string) string // return the id for the nth of a turn
	backwards      bool                          // results are sent in reverse order of functions
}

func (c *renumberingClient) keep(a *response) {
	from, n := len(c.contents), 0
	c.generateClient.keep(a)
	for i := from; i < len(c.contents); i++ {
		parts := partsOf([]json.RawMessage{json.RawMessage(c.contents[i])})
		for _, p := range parts {
			var call map[string]json.RawMessage
			if json.Unmarshal(p["functionCall"], &call) != nil {
				continue
			}
			var id string
			_ = json.Unmarshal(call["id"], &id)
			delete(call, "id")
			if id = c.calls(n, id); id != "" {
				call["id"] = json.RawMessage(quote(id))
			}
			n++
			p["functionCall"], _ = json.Marshal(call)
		}
		c.contents[i] = modelTurn(parts)
	}
}

func (c *renumberingClient) results(list []outcome) {
	for i := range list {
		list[i].call.ID = c.answers(i, list[i].call.ID)
	}
	if last := len(list) - 1; c.backwards && list[0].call.Name != list[last].call.Name {
		list = append([]outcome{list[last]}, list[:last]...)
	}
	c.generateClient.results(list)
}

func originalID(_ int, id string) string { return id }
func noID(int, string) string            { return "" }
func equalID(int, string) string         { return "call_0" }
func madeUpID(n int, _ string) string    { return fmt.Sprintf("made_%d", n) }

// sequentialID returns ids like those that adapters make up.
func sequentialID(n int, _ string) string { return fmt.Sprintf("call_%d", n+1) }

func everySecondID(n int, id string) string {
	if n%2 == 0 {
		return ""
	}
	return id
}

// renumberingClients are clients by their handling of the ids of calls and
// results.
func renumberingClients() map[string]*renumberingClient {
	return map[string]*renumberingClient{
		"results without ids":            {calls: originalID, answers: noID},
		"results without ids, reversed":  {calls: originalID, answers: noID, backwards: true},
		"no ids":                         {calls: noID, answers: noID},
		"no ids, reversed":               {calls: noID, answers: noID, backwards: true},
		"results with other ids":         {calls: originalID, answers: madeUpID},
		"ids in results only":            {calls: noID, answers: madeUpID, backwards: true},
		"sequential ids in results only": {calls: noID, answers: sequentialID},
		"some results without ids":       {calls: originalID, answers: everySecondID},
		"some tool calls without ids":    {calls: everySecondID, answers: everySecondID},
		"equal ids":                      {calls: equalID, answers: equalID},
		"same ids in each turn":          {calls: sequentialID, answers: sequentialID, backwards: true},
		"equal ids in results only":      {calls: noID, answers: equalID},
	}
}

// TestRenumberedIDs runs each renumbering client against each vendor: each
// result must stay with its tool call, and each request must begin with the
// bytes of the previous one.
func TestRenumberedIDs(t *testing.T) {
	for name, c := range renumberingClients() {
		for _, b := range adapters {
			t.Run(name+"→"+b.name, func(t *testing.T) {
				t.Parallel()
				if strings.HasPrefix(name, "results with other ids") && b.name == toGemini {
					t.Skip("the bytes are forwarded; the vendor validates them")
				}
				mine := *c // each conversation has its own client
				mine.generateClient = &generateClient{how: whole, keepTurns: keepAsCLI}
				up, v := b.start(t, vendor{forbid: secrets})
				g := newGateway(endpointNamed(mine.format()), up, upstream.HandlerOptions{})
				k := session{client: &mine, think: true, via: func(int) (*gateway, adapter, *fake.Server) { return g, b, v }}
				k.run(t, conversation())
				checkPairing(t, &k, v)
			})
		}
	}
}

// TestEqualIDs runs each client against vendors whose tool calls all have the
// same id, within a response and across responses. Clients of Messages must
// receive distinct ids, since they cannot answer a tool call otherwise.
func TestEqualIDs(t *testing.T) {
	for name, newClient := range clients() {
		for _, b := range adapters {
			t.Run(name+"→"+b.name, func(t *testing.T) {
				t.Parallel()
				c := newClient()
				if b.format == c.format() {
					t.Skip("the bytes are forwarded")
				}
				up, v := b.start(t, vendor{forbid: secrets})
				steps := conversation()
				for _, s := range steps {
					for i, p := range s.pieces {
						if call, ok := p.(fake.ToolCall); ok {
							call.ID = "call_0"
							s.pieces[i] = call
						}
					}
				}
				g := newGateway(endpointNamed(c.format()), up, upstream.HandlerOptions{})
				k := session{client: c, think: true, via: func(int) (*gateway, adapter, *fake.Server) { return g, b, v }}
				k.run(t, steps)
				checkPairing(t, &k, v)
				if m, ok := c.(*messagesClient); ok {
					checkDistinctIDs(t, m)
				}
			})
		}
	}
}

// checkDistinctIDs checks that the client received no id twice.
func checkDistinctIDs(t *testing.T, c *messagesClient) {
	t.Helper()
	seen := map[string]bool{}
	for _, turn := range c.history {
		for _, block := range gjson.Get(turn, "content").Array() {
			if id := block.Get("id").Str; block.Get("type").Str == "tool_use" {
				if seen[id] || id == "" {
					t.Errorf("two tool calls have the id %q", id)
				}
				seen[id] = true
			}
		}
	}
	if len(seen) < 9 {
		t.Errorf("the client received %d tool calls", len(seen))
	}
}

// checkPairing checks that each result reached the vendor with its tool call,
// and that each request begins with the previous one.
func checkPairing(t *testing.T, k *session, v *fake.Server) {
	t.Helper()
	for _, l := range k.losses {
		if strings.Contains(l, "no call") || strings.Contains(l, "no result") {
			t.Errorf("turn %s", l)
		}
	}
	checkPrefixes(t, v.Requests())
	body := string(v.Last().Body)
	calls := pairedCalls(t, body)
	if len(calls) != 9 {
		t.Errorf("the vendor received %d tool calls, want 9: %s", len(calls), clip(body))
	}
	for _, c := range calls {
		if want := fmt.Sprintf("result %d of %s", c.at, c.name); !strings.Contains(c.result, want) {
			t.Errorf("the call of %s has the result %s, want %q", c.name, c.result, want)
		}
	}
}

// A pairedCall is a tool call and its result as a vendor reads them.
type pairedCall struct {
	id, name string
	at       int // index in the calls of its turn
	result   string
}

// A pairer pairs tool calls and results as vendors do.
type pairer struct {
	t     *testing.T
	list  []pairedCall
	step  int  // start of the latest turn's calls in list
	begun bool // the latest turn has results
}

func (p *pairer) call(id, name string) {
	if p.begun {
		p.step, p.begun = len(p.list), false
	}
	p.list = append(p.list, pairedCall{id: id, name: name, at: len(p.list) - p.step})
}

// result records the result of the call with the id. If no call has it, it
// takes the first call with the name where vendors pair by name.
func (p *pairer) result(id, name, text string) {
	p.begun = true
	var to *pairedCall
	for i := len(p.list) - 1; i >= p.step; i-- {
		c := &p.list[i]
		if c.result == "" && id != "" && c.id == id {
			to = c
		}
	}
	for i := len(p.list) - 1; i >= p.step && (to == nil || to.id != id || id == "") && name != ""; i-- {
		if c := &p.list[i]; c.result == "" && c.name == name {
			to = c
		}
	}
	if to == nil {
		p.t.Errorf("result %s: no tool call has the id %q", text, id)
		return
	}
	to.result = text
}

// pairedCalls reads the tool calls in a request of any vendor.
func pairedCalls(t *testing.T, body string) []pairedCall {
	p := pairer{t: t}
	for _, m := range gjson.Get(body, "messages").Array() {
		for _, b := range m.Get("content").Array() {
			switch b.Get("type").Str {
			case "tool_use":
				p.call(b.Get("id").Str, b.Get("name").Str)
			case "tool_result":
				p.result(b.Get("tool_use_id").Str, "", b.Get("content").Raw)
			}
		}
		for _, c := range m.Get("tool_calls").Array() {
			p.call(c.Get("id").Str, c.Get("function.name").Str)
		}
		if m.Get("role").Str == "tool" {
			p.result(m.Get("tool_call_id").Str, "", m.Get("content").Raw)
		}
	}
	for _, c := range gjson.Get(body, "input").Array() {
		switch c.Get("type").Str {
		case "function_call":
			p.call(c.Get("call_id").Str, c.Get("name").Str)
		case "function_call_output":
			p.result(c.Get("call_id").Str, "", c.Get("output").Raw)
		}
	}
	seen := map[string]bool{}
	for _, c := range p.list {
		if seen[c.id] {
			t.Errorf("two tool calls have the id %q", c.id)
		}
		seen[c.id] = true
	}
	for _, m := range gjson.Get(body, "contents").Array() {
		for _, x := range m.Get("parts").Array() {
			if c := x.Get("functionCall"); c.Exists() {
				p.call(c.Get("id").Str, c.Get("name").Str)
			}
			if r := x.Get("functionResponse"); r.Exists() {
				p.result(r.Get("id").Str, r.Get("name").Str, r.Get("response").Raw)
			}
		}
	}
	return p.list
}
