package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/internal/fake"
	"github.com/polywire/polywire/upstream"
)

// A step is one answer of the vendor in a conversation.
type step struct {
	user   string // what the user says before it; empty: results of calls are sent
	pieces []fake.Piece
	text   string // what the client has to read
	calls  []string
}

// conversation is ten turns with parallel calls, thinking with text and
// without, redacted thinking, a PDF, and texts between all that.
func conversation() []step {
	return []step{
		{"What is the weather in Rome, and the time?", []fake.Piece{fake.Thinking("Two tools for that."), fake.Text("Let me look both up."),
			fake.Call("get_weather", `{"city":"Rome"}`), fake.Call("get_time", `{"tz":"Europe/Rome"}`)},
			"Let me look both up.", []string{`get_weather {"city":"Rome"}`, `get_time {"tz":"Europe/Rome"}`}},
		{"", []fake.Piece{fake.Thinking(""), fake.Call("read_file", `{"path":"a.pdf"}`)}, "", []string{`read_file {"path":"a.pdf"}`}},
		{"", []fake.Piece{fake.Thinking("That is all I need."), fake.Text("Sunny, half past nine, and the report says 42.")}, "Sunny, half past nine, and the report says 42.", nil},
		{"And in Oslo?", []fake.Piece{fake.Redacted("hidden"), fake.Call("get_weather", `{"city":"Oslo"}`)}, "", []string{`get_weather {"city":"Oslo"}`}},
		{"", []fake.Piece{fake.Text("Snow in Oslo.")}, "Snow in Oslo.", nil},
		{"Grüße 🏳️‍🌈!", []fake.Piece{fake.Text("Ebenso ☃, und viel länger als ein Stück.")}, "Ebenso ☃, und viel länger als ein Stück.", nil},
		{"All three now.", []fake.Piece{fake.Thinking("Three at once."), fake.Call("get_weather", `{"city":"Bergen"}`), fake.Call("get_weather", `{"city":"Rome"}`), fake.Call("get_time", `{}`)},
			"", []string{`get_weather {"city":"Bergen"}`, `get_weather {"city":"Rome"}`, `get_time {}`}},
		{"", []fake.Piece{fake.Thinking("One failed: again."), fake.Text("Once more."), fake.Call("get_weather", `{"city":"Bergen"}`)}, "Once more.", []string{`get_weather {"city":"Bergen"}`}},
		{"", []fake.Piece{fake.Call("get_time", `{"tz":"UTC"}`)}, "", []string{`get_time {"tz":"UTC"}`}},
		{"", []fake.Piece{fake.Thinking("Done."), fake.Text("Rain in Bergen.")}, "Rain in Bergen.", nil},
	}
}

func clients() map[string]func() client {
	return map[string]func() client{
		"agent":   func() client { return &messagesClient{how: sse, minds: true} },
		"sdk":     func() client { return &messagesClient{how: whole} },
		"cli":     func() client { return &generateClient{how: sse, keep: keepAsCLI} },
		"go chat": func() client { return &generateClient{how: sse, keep: keepAsGoChat} },
		"ts chat": func() client { return &generateClient{how: sse, keep: keepAsTSChat} },
		"rest":    func() client { return &generateClient{how: whole, keep: keepAsTSChat} },
		"array":   func() client { return &generateClient{how: array, keep: keepAsCLI} },
	}
}

// A talk is a conversation that is going on. Each of its turns goes to the
// instance that via chooses.
type talk struct {
	client client
	via    func(turn int) (*gateway, back, *fake.Server)
	think  bool
	ids    bool // calls have ids of their own, whoever makes them
	losses []string
}

// hold has a whole conversation.
func (k *talk) hold(t *testing.T, steps []step) {
	t.Helper()
	var calls []said
	for i, s := range steps {
		g, b, vendor := k.via(i)
		if s.user != "" {
			k.client.say(s.user)
		} else {
			k.client.results(outcomes(calls))
		}
		if k.ids {
			identify(i, s.pieces)
		}
		vendor.Say(s.pieces...)
		a := g.ask(b.model, k.client.members(k.think), k.client.mode())
		if a.Status != http.StatusOK || a.Broken != "" || !a.Whole || a.Err != nil {
			t.Fatalf("turn %d: answered %d, broken %q, error %+v\n%s\nsent: %s", i, a.Status, a.Broken, a.Err, clip(a.Body), clip(string(vendor.Last().Body)))
		}
		if got := a.text("text"); got != s.text {
			t.Errorf("turn %d: the client reads %q, want %q", i, got, s.text)
		}
		calls = a.calls()
		var got []string
		for _, c := range calls {
			got = append(got, c.Name+" "+c.Args)
		}
		if diff := cmp.Diff(s.calls, got); diff != "" {
			t.Errorf("turn %d: calls (-want +got):\n%s", i, diff)
		}
		for _, l := range a.Report.Losses {
			k.losses = append(k.losses, fmt.Sprintf("%d: %s %s: %s", i, l.Severity, l.Path, l.Reason))
		}
		k.client.take(a)
	}
}

// identify gives calls ids, since fakes of different vendors make the same.
func identify(turn int, pieces []fake.Piece) {
	for i, p := range pieces {
		if c, ok := p.(fake.ToolCall); ok {
			c.ID = fmt.Sprintf("call_%d_%d", turn, i)
			pieces[i] = c
		}
	}
}

// outcomes are what the tools of the conversation bring.
func outcomes(calls []said) []outcome {
	var list []outcome
	for i, c := range calls {
		o := outcome{call: c, text: fmt.Sprintf("result %d of %s", i, c.Name), failed: strings.Contains(c.Args, "Bergen") && len(calls) > 1}
		if c.Name == "read_file" {
			o.pdf = testPDF
		}
		list = append(list, o)
	}
	return list
}

// TestConversations has every kind of client talk to every vendor, over two
// instances in turn that share nothing. The vendors refuse what lacks a
// signature that they gave, or has it elsewhere.
func TestConversations(t *testing.T) {
	for name, newClient := range clients() {
		for _, b := range backs {
			t.Run(name+"→"+b.name, func(t *testing.T) {
				t.Parallel()
				c := newClient()
				if b.format == c.front() && strings.HasSuffix(name, " chat") {
					t.Skip("the bytes pass, with empty texts that the fake refuses as some models do")
				}
				up, vendor := b.start(t, vendor{keep: true, forbid: secrets})
				f := frontNamed(c.front())
				two := []*gateway{newGateway(f, up, upstream.HandlerOptions{}), newGateway(f, up, upstream.HandlerOptions{})}
				k := talk{client: c, think: true, via: func(i int) (*gateway, back, *fake.Server) { return two[i%2], b, vendor }}
				k.hold(t, conversation())
				growing(t, vendor.Requests())
				noLostThought(t, k.losses)
				if b.format != c.front() {
					hears(t, b, vendor, conversation())
				}
				if name == "array" || b.format == c.front() {
					return
				}
				remembers(t, b, vendor)
			})
		}
	}
}

// conversed names by vendor the member that holds the conversation.
func conversed(body string) string {
	for _, name := range []string{"messages", "contents", "input"} {
		if v := gjson.Get(body, name); v.IsArray() {
			return v.Raw
		}
	}
	return ""
}

// growing checks that each request begins as the one before it, byte for byte,
// so that caches of prompts hold.
func growing(t *testing.T, requests []fake.Request) {
	t.Helper()
	before := ""
	for i, r := range requests {
		now := conversed(string(r.Body))
		if now == "" {
			t.Fatalf("request %d holds no conversation: %s", i, clip(string(r.Body)))
		}
		if begin := strings.TrimSuffix(before, "]"); !strings.HasPrefix(now, begin) {
			n := 0
			for n < len(begin) && n < len(now) && begin[n] == now[n] {
				n++
			}
			t.Errorf("request %d does not begin as the one before: they part at %d\nbefore: …%s\nnow:    …%s", i, n,
				clip(begin[max(0, n-80):min(len(begin), n+200)]), clip(now[max(0, n-80):min(len(now), n+200)]))
		}
		before = now
	}
}

// noLostThought checks that nothing is reported as lost where nothing was.
func noLostThought(t *testing.T, losses []string) {
	t.Helper()
	for _, l := range losses {
		if !strings.Contains(l, " hint ") && strings.Contains(l, "thought") {
			t.Errorf("turn %s: reported although the client keeps everything", l)
		}
	}
}

// remembers checks that the last request holds every thought that the vendor
// signed before a call.
func remembers(t *testing.T, b back, vendor *fake.Server) {
	t.Helper()
	body := string(vendor.Last().Body)
	want := map[string]int{toClaude: 5, toGemini: 6, toResp: 5}[b.name]
	var got int
	switch b.name {
	case toClaude:
		got = strings.Count(body, `"type":"thinking"`) + strings.Count(body, `"type":"redacted_thinking"`)
	case toGemini:
		got = strings.Count(body, `"thoughtSignature":`)
	case toResp:
		got = strings.Count(body, `"encrypted_content":`)
	}
	if got < want {
		t.Errorf("the last request holds %d signed thoughts, want %d or more: %s", got, want, clip(body))
	}
}

// TestSwitch changes the vendor in the middle of a conversation and back, at
// points where no call is open. Nothing that one signed may reach the other,
// and what the first signed comes back to it.
func TestSwitch(t *testing.T) {
	for _, pair := range [][2]string{{toClaude, toGemini}, {toGemini, toClaude}, {toClaude, toResp}, {toResp, toGemini}, {toGemini, toChat}} {
		all := clients()
		all["agent without thinking"] = all["agent"]
		if pair[0] != toClaude && pair[1] != toClaude { // which refuses such clients
			all["sdk that drops thinking"] = func() client { return &messagesClient{how: whole, forgets: true} }
		}
		for name, newClient := range all {
			t.Run(name+"→"+pair[0]+"→"+pair[1], func(t *testing.T) {
				t.Parallel()
				b := []back{backNamed(t, pair[0]), backNamed(t, pair[1])}
				c := newClient()
				if pair[0] == toGemini && strings.HasSuffix(name, " chat") {
					t.Skip("the bytes pass, with empty texts that the fake refuses as some models do")
				}
				var gates []*gateway
				var vendors []*fake.Server
				for i := range b {
					up, v := b[i].start(t, vendor{keep: true, mixed: true, forbid: secrets})
					gates, vendors = append(gates, newGateway(frontNamed(c.front()), up, upstream.HandlerOptions{})), append(vendors, v)
				}
				k := talk{client: c, think: name != "agent without thinking", ids: true, via: func(i int) (*gateway, back, *fake.Server) {
					n := 0
					if i >= 3 && i < 6 {
						n = 1
					}
					return gates[n], b[n], vendors[n]
				}}
				k.hold(t, conversation())
				for i, v := range vendors {
					for _, r := range v.Requests() {
						if body := string(r.Body); strings.Contains(body, "pw1.") || strings.Contains(body, "cHcxL") ||
							strings.Contains(body, "toolu_pwsig") || strings.Contains(body, "toolu_pwblk") {
							t.Errorf("%s got an envelope: %s", b[i].name, clip(string(r.Body)))
						}
					}
				}
			})
		}
	}
}

// TestForgetful has clients that drop thoughts: the vendor must not refuse them,
// and what they lost is reported.
func TestForgetful(t *testing.T) {
	forgetful := map[string]func() client{
		"agent": func() client { return &messagesClient{how: sse, forgets: true} },
		"words": func() client { return &generateClient{how: sse, keep: keepWords} },
	}
	for name, newClient := range forgetful {
		for _, b := range backs {
			if b.name == toChat {
				continue // it never has thoughts to lose
			}
			t.Run(name+"→"+b.name, func(t *testing.T) {
				t.Parallel()
				c := newClient()
				if b.format == c.front() {
					t.Skip("the bytes pass: the vendor says what is wrong")
				}
				up, vendor := b.start(t, vendor{})
				g := newGateway(frontNamed(c.front()), up, upstream.HandlerOptions{})
				k := talk{client: c, think: true, via: func(int) (*gateway, back, *fake.Server) { return g, b, vendor }}
				k.hold(t, conversation())
				if b.name != toResp && !slices.ContainsFunc(k.losses, func(l string) bool {
					return strings.Contains(l, " degraded turns.") || strings.Contains(l, " degraded thinking")
				}) {
					t.Errorf("no report of what the client lost: %q", k.losses)
				}
			})
		}
	}
}
