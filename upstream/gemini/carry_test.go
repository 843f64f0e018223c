package gemini_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/polywire/polywire/internal/test/fake"
	vendorfake "github.com/polywire/polywire/internal/test/fake/gemini"
	"github.com/polywire/polywire/internal/test/lossplaces"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/gemini"
)

// keepers are the ways in which clients of Messages keep a response: the form of a
// block in the next request, or nil.
var keepers = map[string]func(block map[string]any) map[string]any{
	"everything": func(b map[string]any) map[string]any { return b },
	"text and calls": func(b map[string]any) map[string]any {
		if b["type"] == "thinking" || b["type"] == "redacted_thinking" {
			return nil
		}
		return b
	},
	"thinking without signature": func(b map[string]any) map[string]any {
		if b["type"] == "redacted_thinking" {
			return nil
		}
		delete(b, "signature")
		return b
	},
	"thinking with an empty signature": func(b map[string]any) map[string]any {
		if b["type"] == "thinking" {
			b["signature"] = ""
		}
		return b
	},
}

// A carrier runs conversations whose turns alternate between its handlers.
type carrier struct {
	t        *testing.T
	vendor   *vendorfake.Server
	handlers []http.Handler
	turn     int
	lost     []string
	ids      []string // of all calls, as the client gets them
}

func newCarrier(t *testing.T, o vendorfake.Options) *carrier {
	c := &carrier{t: t, vendor: vendorfake.New(t, o)}
	for range 2 {
		up, err := gemini.New(&gemini.Options{BaseURL: c.vendor.URL, Key: "host-key"})
		if err != nil {
			t.Fatal(err)
		}
		c.handlers = append(c.handlers, messages.NewHandler(up, &messages.Options{HandlerOptions: upstream.HandlerOptions{
			OnDone: func(_ context.Context, r *upstream.Report) {
				c.lost = append(c.lost, lossplaces.Names(r.Losses)...)
			}}}))
	}
	return c
}

var validID = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)

// ask sends a conversation and adds to it what the client keeps of the response. It
// returns the ids of the tool calls.
func (c *carrier) ask(d *dialogue, thinking bool, keep func(map[string]any) map[string]any) (ids []string) {
	c.t.Helper()
	b := &bench{t: c.t, vendor: c.vendor, front: c.handlers[c.turn%len(c.handlers)]}
	c.turn++
	kept := []string{}
	for _, raw := range b.answer(d.body()).Content {
		block := read[map[string]any](c.t, string(raw))
		switch block["type"] {
		case "redacted_thinking":
			c.t.Errorf("turn %d: a block of redacted thinking: %s", c.turn, raw)
		case "thinking":
			if block["signature"] == "" || block["signature"] == nil {
				c.t.Errorf("turn %d: thinking without a signature: %s", c.turn, raw)
			}
		case "tool_use":
			id := block["id"].(string)
			if !validID.MatchString(id) {
				c.t.Errorf("turn %d: the id %q", c.turn, id)
			}
			ids = append(ids, id)
		}
		if !thinking && strings.HasSuffix(block["type"].(string), "thinking") {
			c.t.Errorf("turn %d: thinking that the request did not ask for: %s", c.turn, raw)
		}
		if block = keep(block); block != nil {
			if id, ok := block["id"].(string); ok {
				ids[len(ids)-1] = id // with which the client pairs its results
			}
			doc, _ := json.Marshal(block)
			kept = append(kept, string(doc))
		}
	}
	if len(kept) == 0 {
		kept = append(kept, text("-"))
	}
	c.ids = append(c.ids, ids...)
	d.turns = append(d.turns, `{"role":"assistant","content":[`+strings.Join(kept, ",")+`]}`)
	return ids
}

// carriedTalk is a loop of five steps with single and parallel tool calls, with and
// without texts.
func (c *carrier) carriedTalk(head string, thinking bool, keep func(map[string]any) map[string]any) {
	d := &dialogue{head: head + tools}
	d.user(text("What is the weather?"))
	for i, pieces := range [][]fake.Piece{
		{fake.Thinking("Ask both."), fake.Call("weather", `{"city":"Rome"}`), fake.Call("now", `{}`)},
		{fake.Thinking("One more."), fake.Call("now", `{"n":1}`)},
		{fake.Thinking("Say so."), fake.Text("Once more."), fake.Call("now", `{"n":2}`)},
		{fake.Call("now", `{"n":3}`)},
		{fake.Thinking("Done."), fake.Text("It is noon.")},
		{fake.Thinking("Again."), fake.Call("now", `{"n":4}`)},
		{fake.Text("It is still noon.")},
	} {
		c.vendor.Say(pieces...)
		ids := c.ask(d, thinking, keep)
		var results []string
		for _, id := range ids {
			results = append(results, result(id, `"x"`))
		}
		if i == 4 || len(ids) == 0 {
			results = append(results, text("And now?"))
		}
		d.user(results...)
	}
}

// TestCarriedBy runs tool loops over two processes with clients that return all of a
// response, only texts and tool calls, or thinking without signatures. The vendor
// receives its own signatures. If a client drops thinking blocks, one signature is
// lost, and no further one.
func TestCarriedBy(t *testing.T) {
	for name, keep := range keepers {
		for _, stream := range []bool{false, true} {
			for _, thinking := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/stream=%v/thinking=%v", name, stream, thinking), func(t *testing.T) {
					c := newCarrier(t, vendorfake.Options{KeepSignatures: true})
					head := fmt.Sprintf(`{"model":"gemini-3.8-flash","max_tokens":32000,"stream":%v,`, stream)
					if thinking {
						head += `"thinking":{"type":"enabled","budget_tokens":2048},`
					}
					c.carriedTalk(head, thinking, keep)
					if list := c.vendor.Refused(); len(list) > 0 {
						t.Fatalf("refused: %s\n%s", list[0].Message, list[0].Body)
					}
					body := string(c.vendor.Last().Body)
					wantBypass := 0
					if thinking && name != "everything" {
						wantBypass = 1
					}
					if n := strings.Count(body, `"thoughtSignature":"skip_thought_signature_validator"`); n != wantBypass {
						t.Errorf("%d calls with the bypass, want %d: %s", n, wantBypass, body)
					}
					if n := strings.Count(body, `"thoughtSignature":`); n != 5 {
						t.Errorf("%d signed calls, want 5: %s", n, body)
					}
					c.eachOnce(body)
					for _, r := range c.vendor.Requests() {
						if strings.Contains(string(r.Body), "toolu_pwsig") || strings.Contains(string(r.Body), "toolu_pwblk") || strings.Contains(string(r.Body), "pw1.") {
							t.Errorf("carried state leaves for the vendor: %s", r.Body)
						}
					}
					short := 0
					for _, id := range c.ids {
						if len(id) < 64 {
							short++
						}
					}
					// The second tool call of the first step has no signature. With
					// blocks, neither have those right after a thinking block.
					want := 1
					switch {
					case thinking && name == "everything" && stream:
						want = 1 + 3
					case thinking && name == "everything":
						want = 1 + 4
					case thinking:
						want = 1 + 1
					}
					if short != want {
						t.Errorf("%d of the ids are short, want %d: %q", short, want, c.ids)
					}
				})
			}
		}
	}
}

// eachOnce checks that no signature is sent twice, since the vendor bills each copy.
func (c *carrier) eachOnce(body string) {
	c.t.Helper()
	seen := map[string]bool{}
	for _, m := range regexp.MustCompile(`"thoughtSignature":"([^"]*)"`).FindAllStringSubmatch(body, -1) {
		if seen[m[1]] && m[1] != "skip_thought_signature_validator" {
			c.t.Errorf("the signature %s is sent twice: %s", m[1], body)
		}
		seen[m[1]] = true
	}
}

// TestAlteredIDs runs clients that truncate or change the ids of tool calls and
// results. The vendor receives its placeholder, which is reported, and refuses
// nothing.
func TestAlteredIDs(t *testing.T) {
	for name, alter := range map[string]func(string) string{
		"cut at 64":  func(s string) string { return s[:min(64, len(s))] },
		"cut at 40":  func(s string) string { return s[:min(40, len(s))] },
		"lower case": strings.ToLower,
		"altered":    func(s string) string { return strings.Replace(s, "a", "b", 3) },
		"replaced":   func(s string) string { return strings.NewReplacer("-", "_").Replace(s) + "x" },
	} {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/stream=%v", name, stream), func(t *testing.T) {
				c := newCarrier(t, vendorfake.Options{KeepSignatures: true})
				c.carriedTalk(fmt.Sprintf(`{"model":"gemini-3.8-flash","max_tokens":32000,"stream":%v,`, stream), false, func(b map[string]any) map[string]any {
					if id, ok := b["id"].(string); ok {
						b["id"] = alter(id)
					}
					return b
				})
				if list := c.vendor.Refused(); len(list) > 0 {
					t.Fatalf("refused: %s\n%s", list[0].Message, list[0].Body)
				}
			})
		}
	}
}
