package gemini_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/test/fake"
	vendorfake "github.com/polywire/polywire/internal/test/fake/gemini"
	"github.com/polywire/polywire/internal/test/lossplaces"
	"github.com/polywire/polywire/internal/test/workload"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/gemini"
)

// A bench is a Messages handler with a client of the vendor.
type bench struct {
	t      *testing.T
	vendor *vendorfake.Server
	front  http.Handler
	report *upstream.Report
}

func newBench(t *testing.T, o vendorfake.Options) *bench {
	t.Helper()
	b := &bench{t: t, vendor: vendorfake.New(t, o)}
	c, err := gemini.New(&gemini.Options{BaseURL: b.vendor.URL, Key: "host-key"})
	if err != nil {
		t.Fatal(err)
	}
	b.front = messages.NewHandler(c, &messages.Options{HandlerOptions: upstream.HandlerOptions{
		OnDone: func(_ context.Context, r *upstream.Report) { b.report = r },
	}})
	return b
}

// post sends a body to the handler and returns the response.
func (b *bench) post(path, body string) *httptest.ResponseRecorder {
	b.t.Helper()
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Api-Key", "client-key")
	r.Header.Set("Anthropic-Version", "2023-06-01")
	w := httptest.NewRecorder()
	b.front.ServeHTTP(w, r)
	return w
}

// answer sends a body and returns the message of the response, streamed or not. The
// response must be complete.
func (b *bench) answer(body string) message {
	b.t.Helper()
	w := b.post("/v1/messages", body)
	if w.Code != http.StatusOK {
		b.t.Fatalf("status %d: %s\nthe vendor was sent %s", w.Code, w.Body, b.vendor.Last().Body)
	}
	if strings.HasPrefix(w.Header().Get("Content-Type"), "text/event-stream") {
		return joined(b.t, w.Body.String())
	}
	return read[message](b.t, w.Body.String())
}

func read[T any](t *testing.T, doc string) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(doc), &v); err != nil {
		t.Fatalf("%v in %s", err, doc)
	}
	return v
}

// A message is a response as clients read it.
type message struct {
	Content    []json.RawMessage `json:"content"`
	StopReason string            `json:"stop_reason"`
	Usage      struct {
		Input  int `json:"input_tokens"`
		Output int `json:"output_tokens"`
	} `json:"usage"`
}

// joined collects a stream as clients do.
func joined(t *testing.T, stream string) message {
	t.Helper()
	var m message
	var blocks []map[string]any
	var input []string
	for event := range strings.SplitSeq(strings.TrimSpace(stream), "\n\n") {
		_, data, _ := strings.Cut(event, "\ndata: ")
		e := read[struct {
			Type    string         `json:"type"`
			Block   map[string]any `json:"content_block"`
			Index   int            `json:"index"`
			Message message        `json:"message"`
			Delta   map[string]any `json:"delta"`
			Usage   json.RawMessage
		}](t, data)
		switch e.Type {
		case "error":
			t.Fatalf("the stream has an error: %s", data)
		case "content_block_start":
			blocks, input = append(blocks, e.Block), append(input, "")
		case "content_block_delta":
			for name, v := range e.Delta {
				switch s, _ := v.(string); name {
				case "type":
				case "partial_json":
					input[e.Index] += s
				default:
					was, _ := blocks[e.Index][name].(string)
					blocks[e.Index][name] = was + s
				}
			}
		case "message_delta":
			m.StopReason, _ = e.Delta["stop_reason"].(string)
			if err := json.Unmarshal(e.Usage, &m.Usage); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i, b := range blocks {
		if input[i] != "" {
			b["input"] = json.RawMessage(input[i])
		}
		raw, err := json.Marshal(b)
		if err != nil {
			t.Fatal(err)
		}
		m.Content = append(m.Content, raw)
	}
	return m
}

// A dialogue is the conversation of a Messages client that keeps everything.
type dialogue struct {
	head  string // what stands in front of the messages
	turns []string
}

func (d *dialogue) user(blocks ...string) {
	d.turns = append(d.turns, `{"role":"user","content":[`+strings.Join(blocks, ",")+`]}`)
}

func (d *dialogue) body() string { return d.head + `"messages":[` + strings.Join(d.turns, ",") + `]}` }

// ask sends the conversation and adds the response to it.
func (d *dialogue) ask(b *bench) message {
	b.t.Helper()
	m := b.answer(d.body())
	var list []string
	for _, c := range m.Content {
		list = append(list, string(c))
	}
	d.turns = append(d.turns, `{"role":"assistant","content":[`+strings.Join(list, ",")+`]}`)
	return m
}

// calls returns the ids of the tool calls in a response.
func (m message) calls(t *testing.T) (ids []string) {
	for _, raw := range m.Content {
		if c := read[struct{ Type, ID string }](t, string(raw)); c.Type == "tool_use" {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

func text(s string) string { return `{"type":"text","text":` + strconv.Quote(s) + `}` }

func result(id, content string) string {
	return `{"type":"tool_result","tool_use_id":"` + id + `","content":` + content + `}`
}

const (
	pixel  = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="
	pdf    = "JVBERi0xLjcKJeLjz9MK"
	anImg  = `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + pixel + `"}}`
	aPaper = `{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"` + pdf + `"}}`
	tools  = `"tools":[{"name":"weather","description":"d","input_schema":{"$schema":"http://json-schema.org/draft-07/schema#","type":"object",` +
		`"properties":{"city":{"type":"string"},"const":{"const":1}},"required":["city"],"additionalProperties":false}},` +
		`{"name":"now","input_schema":{"type":"object"}}],`
)

// TestLongConversation runs an agent with a Messages client for many turns:
// thinking, parallel tool calls, files in results, in all families, streamed and
// plain. The fake refuses signatures that are missing, damaged or misplaced.
func TestLongConversation(t *testing.T) {
	for _, model := range []string{"gemini-3.8-flash", "gemini-3.1-pro-preview", "gemini-2.5-flash", "gemini-2.5-pro", "gemini-flash-latest"} {
		for _, stream := range []bool{false, true} {
			t.Run(model+" "+strconv.FormatBool(stream), func(t *testing.T) {
				b := newBench(t, vendorfake.Options{Key: "host-key", Forbid: []string{"client-key"}, NoDummies: true, KeepSignatures: true})
				d := &dialogue{head: `{"model":"` + model + `","max_tokens":32000,"stream":` + strconv.FormatBool(stream) +
					`,"thinking":{"type":"enabled","budget_tokens":2048},"system":"Be brief.",` + tools}
				d.user(text("What is the weather?"), anImg)
				for range 3 {
					b.vendor.Say(fake.Thinking("Ask both."), fake.Text("Looking."), fake.Call("weather", `{"city":"Rome"}`), fake.Call("now", `{}`))
					ids := d.ask(b).calls(t)
					if len(ids) != 2 {
						t.Fatalf("calls are %q", ids)
					}
					d.user(result(ids[1], `[`+anImg+`,`+text("noon")+`]`), result(ids[0], `"sunny"`), aPaper, text("Go on."))
					b.vendor.Say(fake.Thinking("One more."), fake.Call("now", `{}`))
					ids = d.ask(b).calls(t)
					d.user(`{"type":"tool_result","tool_use_id":"` + ids[0] + `","is_error":true}`)
					b.vendor.Say(fake.Thinking("That is all."), fake.Text("It is sunny."))
					m := d.ask(b)
					if m.StopReason != "end_turn" || m.Usage.Output == 0 {
						t.Errorf("ended with %+v", m)
					}
					d.user(text("And now?"))
				}
				checkPrefixes(t, b)
				if list := b.vendor.Refused(); len(list) > 0 {
					t.Errorf("refused: %+v", list)
				}
			})
		}
	}
}

// checkPrefixes checks that the contents of each request begin with those of the one
// before it.
func checkPrefixes(t *testing.T, b *bench) {
	t.Helper()
	before := ""
	for i, r := range b.vendor.Requests() {
		contents := string(read[struct{ Contents json.RawMessage }](t, string(r.Body)).Contents)
		contents = strings.TrimSuffix(contents, "]")
		if !strings.HasPrefix(contents, before) {
			t.Errorf("request %d begins anew:\n%s\n%s", i, before, contents)
		}
		before = contents
	}
}

// TestTextSignature checks that the signature of a text, which the vendor does not
// require, is dropped with a hint: clients that did not enable thinking cannot read
// a block with it.
func TestTextSignature(t *testing.T) {
	for _, stream := range []string{"false", "true"} {
		for _, thinking := range []string{"", `"thinking":{"type":"adaptive"},`} {
			b := newBench(t, vendorfake.Options{KeepSignatures: true})
			d := &dialogue{head: `{"model":"gemini-3.8-flash","max_tokens":100,"stream":` + stream + `,` + thinking + tools}
			d.user(text("q"))
			b.vendor.Say(fake.Text("a"))
			if m := d.ask(b); len(m.Content) != 1 || !strings.Contains(string(m.Content[0]), `"text":"a"`) {
				t.Errorf("the response is %s", m.Content)
			}
			if diff := cmp.Diff([]string{"hint"}, severities(b.report)); diff != "" {
				t.Errorf("losses (-want +got):\n%s", diff)
			}
			d.user(text("again"))
			d.ask(b)
			if strings.Contains(string(b.vendor.Last().Body), "thoughtSignature") || len(b.vendor.Refused()) > 0 {
				t.Errorf("the next request is %s", b.vendor.Last().Body)
			}
		}
	}
}

func severities(r *upstream.Report) (list []string) {
	for _, l := range lossplaces.Of(r.Losses) {
		if strings.HasPrefix(l.Path, "parts.") {
			list = append(list, l.Severity.String())
		}
	}
	return list
}

// TestVendorSwitch continues a conversation of another vendor. Its thinking is
// dropped, and missing signatures are replaced by the vendor's placeholder, the same
// in each turn.
func TestVendorSwitch(t *testing.T) {
	for _, model := range []string{"gemini-3.8-flash", "gemini-2.5-flash"} {
		b := newBench(t, vendorfake.Options{})
		d := &dialogue{head: `{"model":"` + model + `","max_tokens":100,` + tools}
		d.user(text("q"))
		d.turns = append(d.turns, `{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"c2ln"},`+
			`{"type":"tool_use","id":"toolu_1","name":"now","input":{}}]}`)
		d.user(result("toolu_1", `"noon"`))
		b.vendor.Say(fake.Thinking("t"), fake.Call("now", "{}"))
		ids := d.ask(b).calls(t)
		var lost []string
		for _, l := range lossplaces.Of(b.report.Losses) {
			if l.Severity > content.LossHint {
				lost = append(lost, l.Severity.String()+" "+l.Path)
			}
		}
		want := []string{"degraded turns.1.parts.1.signature"}
		if model == "gemini-2.5-flash" {
			want = nil
		}
		if diff := cmp.Diff(want, lost); diff != "" {
			t.Errorf("%s: losses (-want +got):\n%s", model, diff)
		}
		d.user(result(ids[0], `"one"`))
		b.vendor.Say(fake.Text("So it is one."))
		d.ask(b)
		d.user(text("and now?"))
		b.vendor.Say(fake.Text("Two."))
		d.ask(b)
		checkPrefixes(t, b)
	}
}

// TestCountAndModels counts tokens and lists models through the handler.
func TestCountAndModels(t *testing.T) {
	b := newBench(t, vendorfake.Options{TotalTokens: 77, Models: []string{"gemini-3.8-flash"}})
	w := b.post("/v1/messages/count_tokens", `{"model":"gemini-3.8-flash","system":"s",`+tools+`"messages":[{"role":"user","content":"q"}]}`)
	if strings.TrimSpace(w.Body.String()) != `{"input_tokens":77}` {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	last := b.vendor.Last()
	for _, want := range []string{`"generateContentRequest":{"model":"models/gemini-3.8-flash"`, `"systemInstruction"`, `"functionDeclarations"`} {
		if !strings.Contains(string(last.Body), want) || last.Rule != "" {
			t.Errorf("no %s in %s", want, last.Body)
		}
	}
	sent := len(b.vendor.Requests())
	w = b.post("/v1/messages/count_tokens", `{"model":"gemini-3.8-flash","messages":[{"role":"user","content":[`+
		`{"type":"image","source":{"type":"url","url":"https://example.com/a.png"}}]}]}`)
	if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"input_tokens":`) || len(b.vendor.Requests()) != sent {
		t.Errorf("a link: %d %s", w.Code, w.Body)
	}
	for name, source := range map[string]string{"a link": `{"type":"image","source":{"type":"url","url":"https://example.com/a.png"}}`, "counted": `{"type":"text","text":"q"}`} {
		w := b.post("/v1/messages/count_tokens", `{"model":"gemini-3.8-flash","tools":[{"type":"bash_20250124","name":"bash"}],"messages":[{"role":"user","content":[`+
			source+`,{"type":"container_upload","file_id":"f"}]}]}`)
		if diff := cmp.Diff([]string{"hint thinking", "dropped turns.0.parts.1", "degraded tools.0"}, lostOf(b.report)); diff != "" {
			t.Errorf("%s: losses (-want +got):\n%s", name, diff)
		}
		if got, want := w.Header().Get("Polywire-Loss"), "dropped messages.0.content.1; degraded tools.0; hint thinking"; got != want {
			t.Errorf("%s: the header has %q, want %q", name, got, want)
		}
	}
	r := httptest.NewRequest(http.MethodGet, "/v1/models", nil)
	r.Header.Set("Anthropic-Version", "2023-06-01")
	list := httptest.NewRecorder()
	b.front.ServeHTTP(list, r)
	if list.Code != http.StatusOK || !strings.Contains(list.Body.String(), `"id":"gemini-3.8-flash"`) {
		t.Errorf("%d %s", list.Code, list.Body)
	}
}

// TestAgent sends requests of a command-line agent, with tools of all kinds,
// thinking of another vendor and cache marks.
func TestAgent(t *testing.T) {
	for _, model := range []string{"gemini-3.8-flash", "gemini-2.5-pro"} {
		b := newBench(t, vendorfake.Options{Key: "host-key"})
		m := b.answer(strings.Replace(workload.Agent(), "claude-opus-5-5", model, 1))
		if m.StopReason != "end_turn" {
			t.Errorf("%s: %+v", model, m)
		}
	}
}

func lostOf(r *upstream.Report) []string { return lossplaces.Names(r.Losses) }

// TestWebSearch sends the request of an agent that searches the web.
func TestWebSearch(t *testing.T) {
	b := newBench(t, vendorfake.Options{})
	m := b.answer(`{"model":"gemini-3.8-flash","max_tokens":100,"stream":true,"tools":[{"type":"web_search_20250305","name":"web_search","max_uses":8}],` +
		`"tool_choice":{"type":"tool","name":"web_search"},"messages":[{"role":"user","content":"search"}]}`)
	lost := lostOf(b.report)
	if diff := cmp.Diff([]string{"degraded choice.mode", "hint thinking", "degraded tools.0", "dropped tools.0.max_uses"}, lost[:min(4, len(lost))]); diff != "" || m.StopReason != "end_turn" {
		t.Errorf("%+v, losses (-want +got):\n%s", m, diff)
	}
	if body := string(b.vendor.Last().Body); !strings.Contains(body, `"tools":[{"googleSearch":{}}]`) || strings.Contains(body, "toolConfig") {
		t.Errorf("sent %s", body)
	}
}

// TestWebCitations checks that the vendor's sources become citations.
func TestWebCitations(t *testing.T) {
	const grounds = `{"groundingChunks":[{"web":{"uri":"https://a.example/","title":"A"}}],` +
		`"groundingSupports":[{"segment":{"startIndex":0,"endIndex":6,"text":"Herons"},"groundingChunkIndices":[0]}]}`
	for _, mode := range []string{"true", "false"} {
		b := newBench(t, vendorfake.Options{})
		b.vendor.Say(fake.Text("Herons"), vendorfake.Grounding(grounds))
		w := b.post("/v1/messages", `{"model":"gemini-3.8-flash","max_tokens":100,"stream":`+mode+`,"messages":[{"role":"user","content":"a"}]}`)
		const want = `{"type":"web_search_result_location","cited_text":"","url":"https://a.example/","title":"A","encrypted_index":""}`
		if got := w.Body.String(); strings.Count(got, want) != 1 {
			t.Errorf("stream %s: %s", mode, got)
		}
	}
}
