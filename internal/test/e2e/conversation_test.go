package e2e

import (
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/internal/test/fake"
	"github.com/polywire/polywire/internal/test/lossplaces"
	"github.com/polywire/polywire/internal/test/race"
	"github.com/polywire/polywire/upstream"
)

// A step is one response of the vendor in a conversation.
type step struct {
	user   string // text of the user's turn before it; empty: tool results are sent
	pieces []fake.Piece
	text   string // text that the client must receive
	calls  []string
}

// conversation returns ten responses with parallel tool calls, thinking with
// and without text, redacted thinking, a PDF, and texts in between.
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
	all := openAIClients()
	maps.Copy(all, map[string]func() client{
		"agent":   func() client { return &messagesClient{how: sse, dropsOtherModels: true} },
		"sdk":     func() client { return &messagesClient{how: whole} },
		"cli":     func() client { return &generateClient{how: sse, keepTurns: keepAsCLI} },
		"go chat": func() client { return &generateClient{how: sse, keepTurns: keepAsGoChat} },
		"ts chat": func() client { return &generateClient{how: sse, keepTurns: keepAsTSChat} },
		"rest":    func() client { return &generateClient{how: whole, keepTurns: keepAsTSChat} },
		"array":   func() client { return &generateClient{how: array, keepTurns: keepAsCLI} },
	})
	return all
}

// A session is a conversation in progress. Each of its turns goes to the
// instance that via returns.
type session struct {
	client client
	via    func(turn int) (*gateway, adapter, *fake.Server)
	think  bool
	ids    bool // the ids of tool calls are distinct across vendors
	losses []string
}

// run sends all steps of a conversation.
func (k *session) run(t *testing.T, steps []step) {
	t.Helper()
	var calls []element
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
			t.Fatalf("turn %d: status %d, broken %q, error %+v\n%s\nsent: %s", i, a.Status, a.Broken, a.Err, clip(a.Body), clip(string(vendor.Last().Body)))
		}
		if got := a.text("text"); got != s.text {
			t.Errorf("turn %d: text %q, want %q", i, got, s.text)
		}
		calls = a.calls()
		var got []string
		for _, c := range calls {
			got = append(got, c.Name+" "+c.Args)
		}
		if diff := cmp.Diff(s.calls, got); diff != "" {
			t.Errorf("turn %d: tool calls (-want +got):\n%s", i, diff)
		}
		for _, l := range lossplaces.Of(a.Report.Losses) {
			k.losses = append(k.losses, fmt.Sprintf("%d: %s %s: %s", i, l.Severity, l.Path, l.Reason))
		}
		k.client.keep(a)
	}
}

// identify sets the ids of tool calls, since the fakes of different vendors
// make the same ids.
func identify(turn int, pieces []fake.Piece) {
	for i, p := range pieces {
		if c, ok := p.(fake.ToolCall); ok {
			c.ID = fmt.Sprintf("call_%d_%d", turn, i)
			pieces[i] = c
		}
	}
}

// outcomes returns the results of tool calls in the conversation.
func outcomes(calls []element) []outcome {
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

// TestConversations runs a conversation between each client and each vendor
// over two instances in turn that share no state. The vendors reject a request
// in which a signature of theirs is missing or misplaced.
func TestConversations(t *testing.T) {
	for name, newClient := range clients() {
		for _, b := range adapters {
			t.Run(name+"→"+b.name, func(t *testing.T) {
				t.Parallel()
				converse(t, name, newClient(), b)
			})
		}
	}
}

// TestClouds is TestConversations with models at clouds.
func TestClouds(t *testing.T) {
	if race.Enabled {
		t.Skip("clouds differ from their vendors in documents and paths, not in goroutines")
	}
	for name, newClient := range clients() {
		for cloud, b := range clouds {
			t.Run(name+"→"+cloud, func(t *testing.T) {
				t.Parallel()
				converse(t, name, newClient(), b)
			})
		}
	}
}

// converse runs a conversation between a client of a name and a vendor.
func converse(t *testing.T, name string, c client, b adapter) {
	if b.format == c.format() && strings.HasSuffix(name, " chat") {
		t.Skip("the bytes are forwarded; the fake rejects empty texts like some models")
	}
	up, vendor := b.start(t, vendor{keep: true, forbid: secrets})
	f := endpointNamed(c.format())
	two := []*gateway{newGateway(f, up, upstream.HandlerOptions{}), newGateway(f, up, upstream.HandlerOptions{})}
	k := session{client: c, think: thinks(c, b), via: func(i int) (*gateway, adapter, *fake.Server) { return two[i%2], b, vendor }}
	k.run(t, conversation())
	checkPrefixes(t, vendor.Requests())
	checkThinkingNotReported(t, k.losses)
	if b.format != c.format() {
		checkMessages(t, b, vendor, conversation())
	}
	if name == "array" || b.format == c.format() {
		return
	}
	checkThinkingSent(t, b, vendor)
}

// thinks reports whether a client can ask the model of an adapter for thinking. The vendor rejects
// documents that ask a model without thinking for it.
func thinks(c client, b adapter) bool { return b.name != toChat || b.format != c.format() }

// conversationMember returns the name of the member that contains the
// conversation.
func conversationMember(body string) string {
	for _, name := range []string{"messages", "contents", "input"} {
		if v := gjson.Get(body, name); v.IsArray() {
			return v.Raw
		}
	}
	return ""
}

// checkPrefixes checks that each request begins with the bytes of the previous
// one, which prompt caches need.
func checkPrefixes(t *testing.T, requests []fake.Request) {
	t.Helper()
	before := ""
	for i, r := range requests {
		now := conversationMember(string(r.Body))
		if now == "" {
			t.Fatalf("request %d has no conversation: %s", i, clip(string(r.Body)))
		}
		if begin := strings.TrimSuffix(before, "]"); !strings.HasPrefix(now, begin) {
			n := 0
			for n < len(begin) && n < len(now) && begin[n] == now[n] {
				n++
			}
			t.Errorf("request %d does not begin with the previous one: they differ at %d\nprevious: …%s\nrequest:  …%s", i, n,
				clip(begin[max(0, n-80):min(len(begin), n+200)]), clip(now[max(0, n-80):min(len(now), n+200)]))
		}
		before = now
	}
}

// thinkingLoss matches a loss of earlier thinking or of its signature.
var thinkingLoss = regexp.MustCompile(` (?:degraded|dropped) turns\..*(?:thinking|signature|state that the server needs)`)

// checkThinkingNotReported checks that no loss of thinking is reported, since
// none was dropped.
func checkThinkingNotReported(t *testing.T, losses []string) {
	t.Helper()
	for _, l := range losses {
		if thinkingLoss.MatchString(l) {
			t.Errorf("turn %s: unexpected loss: the client keeps everything", l)
		}
	}
}

// checkThinkingSent checks that the last request contains all thinking that the
// vendor signed before a tool call.
func checkThinkingSent(t *testing.T, b adapter, vendor *fake.Server) {
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
		t.Errorf("the last request has %d signed thinking parts, want at least %d: %s", got, want, clip(body))
	}
}

// TestSwitch changes the vendor in the middle of a conversation and back, where
// no tool call is open. Nothing that one vendor signed may reach the other, and
// everything that the first signed must return to it.
func TestSwitch(t *testing.T) {
	for _, pair := range [][2]string{{toClaude, toGemini}, {toGemini, toClaude}, {toClaude, toResp}, {toResp, toGemini}, {toGemini, toChat}} {
		all := clients()
		all["agent without thinking"] = all["agent"]
		if pair[0] != toClaude && pair[1] != toClaude { // Claude rejects such clients
			all["sdk that drops thinking"] = func() client { return &messagesClient{how: whole, dropsThinking: true} }
		}
		for name, newClient := range all {
			t.Run(name+"→"+pair[0]+"→"+pair[1], func(t *testing.T) {
				t.Parallel()
				b := []adapter{adapterNamed(t, pair[0]), adapterNamed(t, pair[1])}
				c := newClient()
				if pair[0] == toGemini && strings.HasSuffix(name, " chat") {
					t.Skip("the bytes are forwarded; the fake rejects empty texts like some models")
				}
				var gates []*gateway
				var vendors []*fake.Server
				for i := range b {
					up, v := b[i].start(t, vendor{keep: true, mixed: true, forbid: secrets})
					gates, vendors = append(gates, newGateway(endpointNamed(c.format()), up, upstream.HandlerOptions{})), append(vendors, v)
				}
				k := session{client: c, think: name != "agent without thinking", ids: true, via: func(i int) (*gateway, adapter, *fake.Server) {
					n := 0
					if i >= 3 && i < 6 {
						n = 1
					}
					return gates[n], b[n], vendors[n]
				}}
				k.run(t, conversation())
				if isOpenAIClient(c) && !slices.ContainsFunc(k.losses, func(l string) bool {
					return l[0] >= '3' && l[0] < '6' && (strings.Contains(l, "thinking") || strings.Contains(l, "signature"))
				}) {
					t.Errorf("the state that the second vendor does not get is not reported: %q", k.losses)
				}
				for i, v := range vendors {
					for _, r := range v.Requests() {
						if body := string(r.Body); strings.Contains(body, "pw1.") || strings.Contains(body, "cHcxL") ||
							strings.Contains(body, "toolu_pwsig") || strings.Contains(body, "toolu_pwblk") {
							t.Errorf("%s received an envelope: %s", b[i].name, clip(string(r.Body)))
						}
					}
				}
			})
		}
	}
}

// TestThinkingDropped has clients that drop thinking: the vendor must accept
// their requests, and the missing thinking is reported.
func TestThinkingDropped(t *testing.T) {
	forgetful := map[string]func() client{
		"agent": func() client { return &messagesClient{how: sse, dropsThinking: true} },
		"words": func() client { return &generateClient{how: sse, keepTurns: keepAsTextOnly} },
		"items": func() client { return &responsesClient{how: []mode{whole, sse}, include: true, drops: "reasoning"} },
	}
	for name, newClient := range forgetful {
		for _, b := range adapters {
			if b.name == toChat {
				continue // it never receives thinking
			}
			t.Run(name+"→"+b.name, func(t *testing.T) {
				t.Parallel()
				c := newClient()
				if b.format == c.format() {
					t.Skip("the bytes are forwarded; the vendor validates them")
				}
				up, vendor := b.start(t, vendor{})
				g := newGateway(endpointNamed(c.format()), up, upstream.HandlerOptions{})
				k := session{client: c, think: true, via: func(int) (*gateway, adapter, *fake.Server) { return g, b, vendor }}
				k.run(t, conversation())
				if b.name != toResp && !slices.ContainsFunc(k.losses, func(l string) bool {
					return strings.Contains(l, " degraded turns.") || strings.Contains(l, " degraded thinking")
				}) {
					t.Errorf("the losses of the client are not reported: %q", k.losses)
				}
			})
		}
	}
}
