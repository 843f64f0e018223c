package e2e

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/test/fake"
	"github.com/polywire/polywire/upstream"
)

// ownAdapter returns the adapter whose vendor has the format of an endpoint.
func ownAdapter(t testing.TB, f endpoint) adapter {
	t.Helper()
	for _, b := range adapters {
		if b.format == f.name {
			return b
		}
	}
	t.Fatalf("no adapter of %s", f.name)
	return adapter{}
}

// unusual is a request with spaces, unknown members, numbers in unusual spellings and an
// order of members that no encoder has.
var unusual = map[string]string{
	"chatcompletions": `"metadata":{"k":"v"},  "temperature":1.0e0,"store":true,"messages" : [{"content":"Hi \u00e9 ☃","role":"user"},` +
		`{"role":"assistant","content":null,"refusal":null,"tool_calls":[{"type":"function","id":"c1","function":{"arguments":"{ \"a\": 1.50 }","name":"f"}}]},` +
		`{"role":"tool","tool_call_id":"c1","content":"x"}],"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{"z":{},"a":{}}}}}]`,
	"responses": `"metadata":{"k":"v"},  "truncation":"disabled","store":true,"input" : [{"content":"Hi \u00e9 ☃","role":"user"},` +
		`{"type":"function_call","name":"f","id":"fc_1","call_id":"c1","arguments":"{ \"a\": 1.50 }"},` +
		`{"output":"x","call_id":"c1","type":"function_call_output"}],"tools":[{"name":"f","type":"function","parameters":{"type":"object","properties":{"z":{},"a":{}}}}]`,
}

// TestSameBytes checks that the bytes of requests and responses pass between a client and a server
// of one format, except for the model. Streams of Responses are encoded anew.
func TestSameBytes(t *testing.T) {
	pieces := []fake.Piece{fake.Model("dated-model-1"), fake.Usage{Input: 7, Output: 3}, fake.Text("Düne ☃."), fake.Call("f", `{ "a": 1.50 }`)}
	for _, f := range openAIEndpoints {
		for _, m := range f.modes {
			if f.name == "responses" && m == sse {
				continue
			}
			for _, host := range []string{"", "hosts-name"} {
				t.Run(f.name+" "+string(m)+" "+host, func(t *testing.T) {
					b := ownAdapter(t, f)
					_, vendor := b.start(t, vendor{trust: true, forbid: secrets})
					tr := &tape{inner: httpClient(t).Transport}
					up := b.at(t, vendorURL(vendor, b), &http.Client{Transport: tr})
					asked := b.model
					if host != "" {
						asked, up = host, as(up, b.model)
					}
					vendor.Say(pieces...)
					a := newGateway(f, up, upstream.HandlerOptions{}).ask(asked, unusual[f.name], m)
					if a.Status != http.StatusOK || !a.Whole || a.Model != asked {
						t.Fatalf("status %d, broken %q, model %q: %s", a.Status, a.Broken, a.Model, clip(a.Body))
					}
					if diff := cmp.Diff(strings.ReplaceAll(string(tr.wire.bytes), `"dated-model-1"`, quote(asked)), a.Body); diff != "" {
						t.Errorf("response (-sent +got):\n%s", diff)
					}
					want := bodyOf(f, b.model, unusual[f.name], m)
					if diff := cmp.Diff(want, string(vendor.Last().Body)); diff != "" {
						t.Errorf("request (-sent +got):\n%s", diff)
					}
					if u := a.Report.Usage; u.Prompt() != 7 || u.Completion() != 3 || len(a.Report.Losses) > 0 {
						t.Errorf("usage %+v, losses %v", u, a.Report.Losses)
					}
				})
			}
		}
	}
}

// as sends requests to a model of another name.
func as(up upstream.Upstream, model string) upstream.Upstream {
	return upstream.Edit(up, func(_ context.Context, r *upstream.Request) (*upstream.Request, error) {
		return r.WithModel(model), nil
	})
}

// bodyOf returns the document of a request.
func bodyOf(f endpoint, model, members string, m mode) string {
	body, _ := io.ReadAll(f.request(model, members, m).Body)
	return string(body)
}

// TestUnrequestedUsage checks that the report has the usage of a stream whose client did not ask for
// it, and that the client does not receive it.
func TestUnrequestedUsage(t *testing.T) {
	f := endpointNamed("chatcompletions")
	for _, b := range adapters {
		up, vendor := b.start(t, vendor{trust: true})
		for _, options := range []string{"", `"stream_options":{},`, `"stream_options":null,`, `"stream_options":{"include_usage":false},`} {
			vendor.Say(fake.Usage{Input: 7, Output: 3}, fake.Text("Hi"))
			r := openAIRequest("/v1/chat/completions", `{"stream":true,`+options+`"model":"`+b.model+`","messages":[{"role":"user","content":"Hi"}]}`)
			a := newGateway(f, up, upstream.HandlerOptions{}).do(r, sse)
			if !a.Whole || a.text("text") != "Hi" || len(a.Usage) > 0 {
				t.Errorf("%s: status %d, broken %q, usage %v: %s", b.name, a.Status, a.Broken, a.Usage, clip(a.Body))
			}
			if u := a.Report.Usage; u.Prompt() != 7 || u.Completion() != 3 {
				t.Errorf("%s %s: report %+v", b.name, options, u)
			}
		}
	}
}

// hostile are members that a handler rejects, whatever the server accepts.
var hostile = map[string]map[string]string{
	"chatcompletions": {
		"duplicate member":            `"messages":[{"role":"user","content":"A"}],"messages":[{"role":"user","content":"B"}]`,
		"duplicate model":             `"model":"other","messages":[{"role":"user","content":"A"}]`,
		"duplicate member of a part":  `"messages":[{"role":"user","role":"system","content":"A"}]`,
		"escaped duplicate":           `"messages":[{"role":"user","content":"A","cont\u0065nt":"B"}]`,
		"no JSON":                     `"messages":[`,
		"invalid UTF-8":               "\"messages\":[{\"role\":\"user\",\"content\":\"\xff\"}]",
		"depth":                       `"messages":[{"role":"user","content":"A"}],"x":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000),
		"no messages":                 `"messages":[]`,
		"wrong type":                  `"messages":{"role":"user"}`,
		"lenient base64":              `"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo"}}]}]`,
		"label that does not match":   `"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,` + testPDF + `"}}]}]`,
		"link to a file of the host":  `"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"file:///etc/passwd"}}]}]`,
		"result without a call":       `"messages":[{"role":"user","content":"A"},{"role":"tool","tool_call_id":"x","content":"B"}]`,
		"limit that is not a number":  `"max_completion_tokens":"all","messages":[{"role":"user","content":"A"}]`,
		"negative limit":              `"max_completion_tokens":-1,"messages":[{"role":"user","content":"A"}]`,
		"stream that is not a switch": `"stream":"yes","messages":[{"role":"user","content":"A"}]`,
	},
	"responses": {
		"duplicate member":           `"input":"A","input":"B"`,
		"duplicate model":            `"model":"other","input":"A"`,
		"escaped duplicate":          `"input":[{"role":"user","content":"A","cont\u0065nt":"B"}]`,
		"no JSON":                    `"input":[`,
		"invalid UTF-8":              "\"input\":\"\xff\"",
		"depth":                      `"input":"A","x":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000),
		"wrong type":                 `"input":{"role":"user"}`,
		"lenient base64":             `"input":[{"role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,iVBORw0KGgo"}]}]`,
		"label that does not match":  `"input":[{"role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,` + testPDF + `"}]}]`,
		"file in an output":          `"input":[{"role":"user","content":"A"},{"type":"function_call","call_id":"c","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":[{"type":"input_image","image_url":"data:image/png;base64,AAA"}]}]`,
		"stored state":               `"previous_response_id":"resp_1","input":"A"`,
		"conversation":               `"conversation":"conv_1","input":"A"`,
		"background":                 `"background":true,"input":"A"`,
		"prompt of the vendor":       `"prompt":{"id":"pmpt_1"},"input":"A"`,
		"item of the vendor":         `"input":[{"type":"item_reference","id":"msg_1"}]`,
		"output without a call":      `"input":[{"role":"user","content":"A"},{"type":"function_call_output","call_id":"c","output":"B"}]`,
		"limit that is not a number": `"max_output_tokens":"all","input":"A"`,
	},
}

// TestHostileBodies sends bodies that must be rejected in front of a server of the same format, to
// which valid bodies pass as they are, and of another: the errors are the same, and no vendor gets a
// request.
func TestHostileBodies(t *testing.T) {
	for _, f := range openAIEndpoints {
		own := ownAdapter(t, f)
		other := adapterNamed(t, toClaude)
		var gates []*gateway
		var vendors []*fake.Server
		for _, b := range []adapter{own, other} {
			up, v := b.start(t, vendor{})
			gates, vendors = append(gates, newGateway(f, up, upstream.HandlerOptions{})), append(vendors, v)
		}
		for name, members := range hostile[f.name] {
			t.Run(f.name+" "+name, func(t *testing.T) {
				for _, m := range f.modes {
					if m == sse && strings.Contains(members, `"stream"`) {
						continue
					}
					first := gates[0].ask("m", members, m)
					second := gates[1].ask("m", members, m)
					for _, a := range []*response{first, second} {
						if a.Status != http.StatusBadRequest || a.Err == nil || a.Broken != "" {
							t.Errorf("%s: status %d, broken %q: %s", m, a.Status, a.Broken, clip(a.Body))
						}
					}
					if diff := cmp.Diff(second.Body, first.Body); diff != "" {
						t.Errorf("%s: the error in front of a server of the same format (-other +same):\n%s", m, diff)
					}
				}
				for i, v := range vendors {
					if n := len(v.Requests()); n > 0 {
						t.Errorf("vendor %d got %d requests: %s", i, n, clip(string(v.Last().Body)))
					}
				}
			})
		}
	}
}

// TestRedaction checks that a server of the client's format does not get what a middleware of the
// host has removed, in a copy of the request or in place.
func TestRedaction(t *testing.T) {
	const secret = "4111-1111"
	redact := func(r *upstream.Request) {
		for _, turn := range r.Turns {
			for _, p := range turn.Parts {
				if text, ok := p.(*content.Text); ok {
					text.Text = strings.ReplaceAll(text.Text, secret, "[card]")
				}
			}
		}
	}
	ways := map[string]func(*upstream.Request) *upstream.Request{
		"copy":     func(r *upstream.Request) *upstream.Request { r = r.Clone(); redact(r); return r },
		"in place": func(r *upstream.Request) *upstream.Request { redact(r); return r },
	}
	for _, f := range openAIEndpoints {
		for name, way := range ways {
			b := ownAdapter(t, f)
			up, vendor := b.start(t, vendor{forbid: []string{secret}})
			edited := upstream.Edit(up, func(_ context.Context, r *upstream.Request) (*upstream.Request, error) { return way(r), nil })
			g := newGateway(f, edited, upstream.HandlerOptions{})
			for _, m := range f.modes {
				c := f.client()
				c.say("My card is " + secret + ".")
				if a := g.ask(b.model, c.members(false), m); a.Status != http.StatusOK || !strings.Contains(string(vendor.Last().Body), "[card]") {
					t.Errorf("%s, %s, %s: status %d %s\nsent %s", f.name, name, m, a.Status, clip(a.Body), clip(string(vendor.Last().Body)))
				}
			}
		}
	}
}
