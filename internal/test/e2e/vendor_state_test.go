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

// threads are the forms of the thread member. null means no thread.
var threads = []string{
	`{"type":"create"}`, `{"type":"continue","previous_message_id":"msg_1"}`,
	`{"type":"continue"}`, `{"type":"other"}`, `{}`, `"create"`, `true`,
}

// continued is a turn of a thread. The thread contains the tool call of the
// result, and the tools.
const continued = `"thread":{"type":"continue","previous_message_id":"msg_1"},` +
	`"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"RE1"}]}]`

// wraps are the ways in which a host can wrap an upstream.
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
	{"failover", func(u upstream.Upstream) upstream.Upstream {
		return upstream.Failover([]upstream.Upstream{u, echo.New()}, nil)
	}},
	{"tap", func(u upstream.Upstream) upstream.Upstream {
		return upstream.Tap(u, func(_ context.Context, _ *upstream.Request, next upstream.Sink) (upstream.Sink, func(error)) {
			return next, nil
		})
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

// checkThreadRefused checks the error that makes SDKs send the whole
// conversation: messages.md §10.
func checkThreadRefused(t *testing.T, a *response) {
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
		t.Errorf("status %d %s", a.Status, clip(a.Body))
	}
}

// TestThread has clients whose vendor stores the conversation. Only an upstream
// of that vendor may respond to a turn of it.
func TestThread(t *testing.T) {
	f := endpointNamed("messages")
	for _, b := range adapters {
		for _, w := range wraps {
			t.Run(b.name+"/"+w.name, func(t *testing.T) {
				up, vendor := b.start(t, vendor{trust: true})
				g := newGateway(f, w.wrap(up), upstream.HandlerOptions{})
				for _, m := range []mode{whole, sse, count} {
					if b.format != f.name {
						for _, thread := range threads {
							checkThreadRefused(t, g.do(threadRequest(b.model, `"thread":`+thread+`,`+askedT1, m), m))
						}
						checkThreadRefused(t, g.do(threadRequest(b.model, continued, m), m))
						continue
					}
					if m == count {
						continue // the vendor's own format has no threads
					}
					a := g.do(threadRequest(b.model, continued, m), m)
					body := string(vendor.Last().Body)
					if a.Status != http.StatusOK || !strings.Contains(body, `"thread":{"type":"continue","previous_message_id":"msg_1"}`) ||
						!strings.Contains(body, `"tool_use_id":"toolu_1"`) || strings.Contains(w.name, "edit") != strings.Contains(body, "ED1") {
						t.Errorf("%s: status %d %s\nsent %s", m, a.Status, clip(a.Body), clip(body))
					}
				}
				if n := len(vendor.Requests()); b.format != f.name && n > 0 {
					t.Errorf("the vendor got %d requests", n)
				}
				if a := g.do(threadRequest(b.model, `"thread":null,`+askedT1, whole), whole); a.Status != http.StatusOK {
					t.Errorf("null: status %d %s", a.Status, clip(a.Body))
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
					checkThreadRefused(t, g.do(threadRequest("m", `"thread":`+thread+`,`+askedT1, m), m))
				}
			}
		})
	}
}

// TestThreadRoutes selects the upstream by model or by what upstreams can
// represent: the selected one rejects the thread.
func TestThreadRoutes(t *testing.T) {
	f := endpointNamed("messages")
	claude, _ := adapterNamed(t, toClaude).start(t, vendor{trust: true})
	chat, _ := adapterNamed(t, toChat).start(t, vendor{trust: true})
	mux := new(upstream.Mux)
	mux.Handle("claude-*", claude)
	mux.Handle("gpt-*", chat)
	g := newGateway(f, mux, upstream.HandlerOptions{})
	if a := g.do(threadRequest("claude-sonnet-4-5", continued, whole), whole); a.Status != http.StatusOK {
		t.Errorf("status %d %s", a.Status, clip(a.Body))
	}
	checkThreadRefused(t, g.do(threadRequest("gpt-4.1", continued, whole), whole))
	if a := g.do(threadRequest("nothing", continued, whole), whole); a.Status != http.StatusNotFound {
		t.Errorf("unknown model: status %d %s", a.Status, clip(a.Body))
	}
	// First skips an upstream that cannot represent the request.
	g = newGateway(f, upstream.First(chat, claude), upstream.HandlerOptions{})
	if a := g.do(threadRequest("claude-sonnet-4-5", continued, whole), whole); a.Status != http.StatusOK {
		t.Errorf("first: status %d %s", a.Status, clip(a.Body))
	}
}

// TestVendorState has generateContent clients refer to state that only their
// vendor stores. In another format the request is rejected with the name of the
// member; in the same format it is forwarded.
func TestVendorState(t *testing.T) {
	f := endpointNamed("generatecontent")
	for _, b := range adapters {
		up, vendor := b.start(t, vendor{trust: true})
		for _, w := range wraps {
			if strings.Contains(w.name, "edit") {
				continue // cachedContent excludes system text
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
								t.Errorf("%s: status %d %s\nsent %s", m, a.Status, clip(a.Body), clip(string(vendor.Last().Body)))
							}
							continue
						}
						if a.Status != http.StatusBadRequest || !strings.Contains(a.Body, tt.path) || !strings.Contains(a.Body, "conversation state at another vendor") {
							t.Errorf("%s: status %d %s", m, a.Status, clip(a.Body))
						}
					}
					if n := len(vendor.Requests()) - before; b.format != f.name && n > 0 {
						t.Errorf("the vendor got %d requests", n)
					}
				})
			}
		}
	}
}

// TestSummary has clients whose conversation begins with the vendor's summary
// of earlier turns. Other models receive its text, without which they cannot
// respond.
func TestSummary(t *testing.T) {
	f := endpointNamed("messages")
	const rest = `{"role":"user","content":"T1"}]`
	for _, b := range adapters {
		t.Run(b.name, func(t *testing.T) {
			up, vendor := b.start(t, vendor{trust: true})
			g := newGateway(f, up, upstream.HandlerOptions{})
			for _, role := range []string{"user", "assistant"} {
				ask := func(block string, m mode) *response {
					r := messagesRequest(b.model, `"messages":[{"role":"user","content":"T0"},{"role":"`+role+`","content":[`+block+`]},`+rest, m)
					r.Header.Set("Anthropic-Beta", "compact-2026-09-04")
					return g.do(r, m)
				}
				if b.format == f.name {
					continue // is forwarded with the document
				}
				a := ask(`{"type":"compaction","content":"SU1"}`, whole)
				if a.Status != http.StatusOK || !strings.Contains(string(vendor.Last().Body), "SU1") {
					t.Errorf("%s: status %d %s\nsent %s", role, a.Status, clip(a.Body), clip(string(vendor.Last().Body)))
				}
				for _, m := range []mode{whole, count} {
					a := ask(`{"type":"compaction","content":null,"encrypted_content":"AAAA"}`, m)
					if a.Status != http.StatusBadRequest || !strings.Contains(a.Body, "messages.1.content.0") || !strings.Contains(a.Body, "encrypted") {
						t.Errorf("%s: encrypted: status %d %s", role, a.Status, clip(a.Body))
					}
				}
			}
		})
	}
}
