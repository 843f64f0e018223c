package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/internal/fake"
	"github.com/polywire/polywire/upstream"
)

// An oddClient speaks generateContent with ids of its own, or none: the SDKs
// never look at them.
type oddClient struct {
	*generateClient
	calls, answers func(n int, id string) string // the id that the nth of a turn gets
	backwards      bool                          // results of other functions come first
}

func (c *oddClient) take(a *answer) {
	from, n := len(c.contents), 0
	c.generateClient.take(a)
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

func (c *oddClient) results(list []outcome) {
	for i := range list {
		list[i].call.ID = c.answers(i, list[i].call.ID)
	}
	if last := len(list) - 1; c.backwards && list[0].call.Name != list[last].call.Name {
		list = append([]outcome{list[last]}, list[:last]...)
	}
	c.generateClient.results(list)
}

func kept(_ int, id string) string { return id }
func none(int, string) string      { return "" }
func equal(int, string) string     { return "call_0" }
func made(n int, _ string) string  { return fmt.Sprintf("made_%d", n) }

// ours are like those that an adapter makes up.
func ours(n int, _ string) string { return fmt.Sprintf("call_%d", n+1) }

func someOf(n int, id string) string {
	if n%2 == 0 {
		return ""
	}
	return id
}

// oddClients by what they do with the ids of calls and results.
func oddClients() map[string]*oddClient {
	return map[string]*oddClient{
		"results have none":            {calls: kept, answers: none},
		"results have none, backwards": {calls: kept, answers: none, backwards: true},
		"none at all":                  {calls: none, answers: none},
		"none at all, backwards":       {calls: none, answers: none, backwards: true},
		"results have others":          {calls: kept, answers: made},
		"only results have some":       {calls: none, answers: made, backwards: true},
		"only results have ours":       {calls: none, answers: ours},
		"some results have none":       {calls: kept, answers: someOf},
		"some calls have none":         {calls: someOf, answers: someOf},
		"all are equal":                {calls: equal, answers: equal},
		"each turn has the same":       {calls: ours, answers: ours, backwards: true},
		"results equal ours":           {calls: none, answers: equal},
	}
}

// TestOddIDs has clients that keep no ids, or make their own, talk to every
// vendor: each result must stay with its call, and what they have said once
// must be told in the same bytes each time.
func TestOddIDs(t *testing.T) {
	for name, c := range oddClients() {
		for _, b := range backs {
			t.Run(name+"→"+b.name, func(t *testing.T) {
				t.Parallel()
				if strings.HasPrefix(name, "results have others") && b.name == toGemini {
					t.Skip("the bytes pass: the vendor says what is wrong")
				}
				mine := *c // each conversation has its own
				mine.generateClient = &generateClient{how: whole, keep: keepAsCLI}
				up, v := b.start(t, vendor{forbid: secrets})
				g := newGateway(frontNamed(mine.front()), up, upstream.HandlerOptions{})
				k := talk{client: &mine, think: true, via: func(int) (*gateway, back, *fake.Server) { return g, b, v }}
				k.hold(t, conversation())
				paired(t, &k, v)
			})
		}
	}
}

// TestEqualIDs has every kind of client talk to vendors whose calls all have the
// same id, in an answer and in all of them. Clients of Messages get others: they
// can answer no call without one of its own.
func TestEqualIDs(t *testing.T) {
	for name, newClient := range clients() {
		for _, b := range backs {
			t.Run(name+"→"+b.name, func(t *testing.T) {
				t.Parallel()
				c := newClient()
				if b.format == c.front() {
					t.Skip("the bytes pass")
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
				g := newGateway(frontNamed(c.front()), up, upstream.HandlerOptions{})
				k := talk{client: c, think: true, via: func(int) (*gateway, back, *fake.Server) { return g, b, v }}
				k.hold(t, steps)
				paired(t, &k, v)
				if m, ok := c.(*messagesClient); ok {
					distinctIDs(t, m)
				}
			})
		}
	}
}

// distinctIDs checks that the client has been told no id twice.
func distinctIDs(t *testing.T, c *messagesClient) {
	t.Helper()
	seen := map[string]bool{}
	for _, turn := range c.history {
		for _, block := range gjson.Get(turn, "content").Array() {
			if id := block.Get("id").Str; block.Get("type").Str == "tool_use" {
				if seen[id] || id == "" {
					t.Errorf("two calls have the id %q", id)
				}
				seen[id] = true
			}
		}
	}
	if len(seen) < 9 {
		t.Errorf("the client has seen %d calls", len(seen))
	}
}

// paired checks that each result has reached the vendor with its call, in
// requests that each begin as the one before.
func paired(t *testing.T, k *talk, v *fake.Server) {
	t.Helper()
	for _, l := range k.losses {
		if strings.Contains(l, "no call") || strings.Contains(l, "no result") {
			t.Errorf("turn %s", l)
		}
	}
	growing(t, v.Requests())
	body := string(v.Last().Body)
	calls := exchanges(t, body)
	if len(calls) != 9 {
		t.Errorf("the vendor is told of %d calls, want 9: %s", len(calls), clip(body))
	}
	for _, c := range calls {
		if want := fmt.Sprintf("result %d of %s", c.at, c.name); !strings.Contains(c.result, want) {
			t.Errorf("a call of %s has the result %s, want %q", c.name, c.result, want)
		}
	}
}

// An exchange is a call and its result, as a vendor reads them.
type exchange struct {
	id, name string
	at       int // among the calls of its turn
	result   string
}

// A pairer reads a conversation as vendors do.
type pairer struct {
	t     *testing.T
	list  []exchange
	step  int  // list[step:] are the calls of the latest turn
	begun bool // it has results
}

func (p *pairer) call(id, name string) {
	if p.begun {
		p.step, p.begun = len(p.list), false
	}
	p.list = append(p.list, exchange{id: id, name: name, at: len(p.list) - p.step})
}

// result notes a result of the call with an id; if there is none, of the first
// with a name, where the vendor goes by that.
func (p *pairer) result(id, name, text string) {
	p.begun = true
	var to *exchange
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
		p.t.Errorf("the result %s belongs to no call with the id %q", text, id)
		return
	}
	to.result = text
}

// exchanges reads a request of any vendor.
func exchanges(t *testing.T, body string) []exchange {
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
			t.Errorf("two calls have the id %q", c.id)
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
