package e2e

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/echo"
)

// threads are the forms of the member. A value of null is no thread.
var threads = []string{
	`{"type":"create"}`, `{"type":"continue","previous_message_id":"msg_1"}`,
	`{"type":"continue"}`, `{"type":"other"}`, `{}`, `"create"`, `true`,
}

// continued is a turn of a thread: the call of the result is in the thread, and
// so are the tools.
const continued = `"thread":{"type":"continue","previous_message_id":"msg_1"},` +
	`"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"RE1"}]}]`

// wraps are the ways in which a host can put something in front of an upstream.
var wraps = []struct {
	name string
	wrap func(upstream.Upstream) upstream.Upstream
}{
	{"alone", func(u upstream.Upstream) upstream.Upstream { return u }},
	{"mux", func(u upstream.Upstream) upstream.Upstream {
		m := new(upstream.Mux)
		m.Handle("other-*", echo.New())
		m.HandleAs("*", u, "*")
		return m
	}},
	{"first", func(u upstream.Upstream) upstream.Upstream { return upstream.First(u) }},
	{"tap", func(u upstream.Upstream) upstream.Upstream {
		return upstream.Tap(u, func(_ context.Context, _ *upstream.Request, next upstream.Sink) upstream.Sink { return next })
	}},
	{"edit that changes the request", func(u upstream.Upstream) upstream.Upstream {
		return upstream.Edit(u, func(_ context.Context, r *upstream.Request) (*upstream.Request, error) {
			r = r.Clone()
			r.System = append(r.System, &content.Text{Text: "ED1"})
			return r, nil
		})
	}},
}

func threadRequest(model, members string, m mode) *http.Request {
	r := messagesRequest(model, members, m)
	r.Header.Set("Anthropic-Beta", "message-threads-2026-08-12")
	return r
}

// refusesThread checks the error by which SDKs know that they have to send the
// whole conversation: messages.md §10.
func refusesThread(t *testing.T, a *answer) {
	t.Helper()
	var got struct {
		Error struct {
			Type    string
			Details struct {
				Code string `json:"error_code"`
			}
		}
	}
	if err := json.Unmarshal([]byte(a.Body), &got); err != nil || a.Status != http.StatusBadRequest ||
		got.Error.Type != "invalid_request_error" || got.Error.Details.Code != "thread_unsupported_request" {
		t.Errorf("answered %d %s", a.Status, clip(a.Body))
	}
}

// TestThread has clients whose vendor keeps the conversation. No other upstream
// than that vendor's answers a turn of it.
func TestThread(t *testing.T) {
	f := frontNamed("messages")
	for _, b := range backs {
		for _, w := range wraps {
			t.Run(b.name+"/"+w.name, func(t *testing.T) {
				up, vendor := b.start(t, vendor{trust: true})
				g := newGateway(f, w.wrap(up), upstream.HandlerOptions{})
				for _, m := range []mode{whole, sse, count} {
					if b.format != f.name {
						for _, thread := range threads {
							refusesThread(t, g.do(threadRequest(b.model, `"thread":`+thread+`,`+askedT1, m), m))
						}
						refusesThread(t, g.do(threadRequest(b.model, continued, m), m))
						continue
					}
					if m == count {
						continue // the vendor's own has no threads
					}
					a := g.do(threadRequest(b.model, continued, m), m)
					body := string(vendor.Last().Body)
					if a.Status != http.StatusOK || !strings.Contains(body, `"thread":{"type":"continue","previous_message_id":"msg_1"}`) ||
						!strings.Contains(body, `"tool_use_id":"toolu_1"`) || strings.Contains(w.name, "edit") != strings.Contains(body, "ED1") {
						t.Errorf("%s: answered %d %s\nsent %s", m, a.Status, clip(a.Body), clip(body))
					}
				}
				if n := len(vendor.Requests()); b.format != f.name && n > 0 {
					t.Errorf("the vendor was asked %d times", n)
				}
				if a := g.do(threadRequest(b.model, `"thread":null,`+askedT1, whole), whole); a.Status != http.StatusOK {
					t.Errorf("null: answered %d %s", a.Status, clip(a.Body))
				}
			})
		}
	}
	hosts := upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error { return w.Text("hi") })
	for name, up := range map[string]upstream.Upstream{"echo": echo.New(), "function": hosts} {
		t.Run(name, func(t *testing.T) {
			g := newGateway(f, up, upstream.HandlerOptions{})
			for _, m := range []mode{whole, sse, count} {
				for _, thread := range threads {
					refusesThread(t, g.do(threadRequest("m", `"thread":`+thread+`,`+askedT1, m), m))
				}
			}
		})
	}
}

// TestThreadRoutes has the model, or what upstreams can represent, decide who
// answers: the thread is refused by who would answer.
func TestThreadRoutes(t *testing.T) {
	f := frontNamed("messages")
	claude, _ := backNamed(t, toClaude).start(t, vendor{trust: true})
	chat, _ := backNamed(t, toChat).start(t, vendor{trust: true})
	mux := new(upstream.Mux)
	mux.Handle("claude-*", claude)
	mux.Handle("gpt-*", chat)
	g := newGateway(f, mux, upstream.HandlerOptions{})
	if a := g.do(threadRequest("claude-sonnet-4-5", continued, whole), whole); a.Status != http.StatusOK {
		t.Errorf("answered %d %s", a.Status, clip(a.Body))
	}
	refusesThread(t, g.do(threadRequest("gpt-4.1", continued, whole), whole))
	if a := g.do(threadRequest("nothing", continued, whole), whole); a.Status != http.StatusNotFound {
		t.Errorf("no such model: answered %d %s", a.Status, clip(a.Body))
	}
	// First passes over an upstream that cannot answer.
	g = newGateway(f, upstream.First(chat, claude), upstream.HandlerOptions{})
	if a := g.do(threadRequest("claude-sonnet-4-5", continued, whole), whole); a.Status != http.StatusOK {
		t.Errorf("first: answered %d %s", a.Status, clip(a.Body))
	}
}

// TestKept has clients of content generation name state that only their vendor
// keeps. Over another format the request is refused with the member's name, in
// the same format it passes.
func TestKept(t *testing.T) {
	f := frontNamed("generatecontent")
	for _, b := range backs {
		up, vendor := b.start(t, vendor{trust: true})
		for _, w := range wraps {
			if strings.Contains(w.name, "edit") {
				continue // cachedContent goes with no system text
			}
			for _, tt := range []struct{ member, path string }{
				{`"cachedContent":"cachedContents/a"`, "cached_content"}, {`"continuationToken":"AAAA"`, "continuation_token"},
			} {
				t.Run(b.name+"/"+w.name+"/"+tt.path, func(t *testing.T) {
					g := newGateway(f, w.wrap(up), upstream.HandlerOptions{})
					before := len(vendor.Requests())
					for _, m := range []mode{whole, sse, array, count} {
						a := g.ask(b.model, tt.member+","+askedG1, m)
						if b.format == f.name {
							if a.Status != http.StatusOK || !strings.Contains(string(vendor.Last().Body), tt.member) {
								t.Errorf("%s: answered %d %s\nsent %s", m, a.Status, clip(a.Body), clip(string(vendor.Last().Body)))
							}
							continue
						}
						if a.Status != http.StatusBadRequest || !strings.Contains(a.Body, tt.path) || !strings.Contains(a.Body, "conversation state at another vendor") {
							t.Errorf("%s: answered %d %s", m, a.Status, clip(a.Body))
						}
					}
					if n := len(vendor.Requests()) - before; b.format != f.name && n > 0 {
						t.Errorf("the vendor was asked %d times", n)
					}
				})
			}
		}
	}
}

// TestSummary has clients whose conversation begins with the vendor's own summary
// of what was said before. Other models get its text; they cannot answer without
// it.
func TestSummary(t *testing.T) {
	f := frontNamed("messages")
	const rest = `{"role":"user","content":"T1"}]`
	for _, b := range backs {
		t.Run(b.name, func(t *testing.T) {
			up, vendor := b.start(t, vendor{trust: true})
			g := newGateway(f, up, upstream.HandlerOptions{})
			for _, role := range []string{"user", "assistant"} {
				ask := func(block string, m mode) *answer {
					r := messagesRequest(b.model, `"messages":[{"role":"user","content":"T0"},{"role":"`+role+`","content":[`+block+`]},`+rest, m)
					r.Header.Set("Anthropic-Beta", "compact-2026-09-04")
					return g.do(r, m)
				}
				if b.format == f.name {
					continue // passes with the document
				}
				a := ask(`{"type":"compaction","content":"SU1"}`, whole)
				if a.Status != http.StatusOK || !strings.Contains(string(vendor.Last().Body), "SU1") {
					t.Errorf("%s: answered %d %s\nsent %s", role, a.Status, clip(a.Body), clip(string(vendor.Last().Body)))
				}
				for _, m := range []mode{whole, count} {
					a := ask(`{"type":"compaction","content":null,"encrypted_content":"AAAA"}`, m)
					if a.Status != http.StatusBadRequest || !strings.Contains(a.Body, "messages.1.content.0") || !strings.Contains(a.Body, "encrypted") {
						t.Errorf("%s: encrypted: answered %d %s", role, a.Status, clip(a.Body))
					}
				}
			}
		})
	}
}
