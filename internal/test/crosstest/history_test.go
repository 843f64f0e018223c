package crosstest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/anthropic"
	"github.com/polywire/polywire/upstream/gemini"
	"github.com/polywire/polywire/upstream/openai"
)

// These tests return responses as clients do: in the next request, with results of the tool
// calls. A handler accepts what it has written, and so does the other format what an
// adapter makes of it. A streamed and a whole response are the same history. The responses
// are those of hosts and of Taps, in any order that an upstream.Writer accepts.

// oddParts returns parts with which a block of a response may open. The bytes of their files are
// of the declared type, which a handler checks in requests only.
func oddParts() []content.Part {
	none, other := content.Signature{}, content.Signature{Format: "other", Data: "c2ln"}
	own, foreign := claudeSig("c2ln"), googleSig("c2ln")
	inMessages, inGenerate := &content.Extra{Format: messages.Format, JSON: `{"x":1}`}, &content.Extra{Format: generatecontent.Format, JSON: `{"x":1}`}
	web := content.Citation{Kind: content.CiteWeb, URL: "https://a.example", Title: "A", Text: "a"}
	page := content.Citation{Kind: content.CitePages, Text: "a", Start: 1, End: 2}
	list := []content.Part{
		&content.Text{}, &content.Text{Text: "a"}, &content.Text{Text: " \n"}, &content.Text{Cache: new(content.Cache)},
		&content.Text{Citations: []content.Citation{web}}, &content.Text{Citations: []content.Citation{page, {}}}, &content.Text{Text: "b", Citations: []content.Citation{web}},
		&content.Text{Extra: inMessages}, &content.Text{Extra: inGenerate}, &content.Text{Extra: &content.Extra{Format: messages.Format, JSON: "}"}},
		&content.Unknown{Format: messages.Format, Raw: `{"type":"newer"}`}, &content.Unknown{Format: messages.Format, Raw: `{}`}, &content.Unknown{Format: messages.Format, Raw: `{"type":"text","text":""}`},
		&content.Unknown{Format: messages.Format, Raw: `{"type":7}`}, &content.Unknown{Format: messages.Format, Raw: `{"type":"tool_use"}`}, &content.Unknown{},
		&content.Unknown{Format: generatecontent.Format, Raw: `{"newer":{}}`}, &content.Unknown{Format: generatecontent.Format, Raw: `{}`},
		&content.Unknown{Format: generatecontent.Format, Raw: `{"text":1}`}, &content.Unknown{Format: generatecontent.Format, Raw: `{"functionCall":{}}`},
		&content.Image{}, &content.Image{Source: &content.Base64{MediaType: "image/png", Data: pngData}}, &content.Image{Source: &content.Base64{}},
		&content.Document{}, &content.Document{Source: &content.PlainText{}}, &content.Document{Source: &content.PlainText{Text: "a"}, Title: "A"},
		&content.Document{Source: &content.Base64{MediaType: "application/pdf", Data: ""}},
		&content.Media{Source: &content.Base64{MediaType: "audio/wav", Data: "UklGRgAAAABXQVZF"}}, &content.SearchResult{}, &content.ToolResult{ID: "a"},
	}
	for _, sig := range []content.Signature{none, own, foreign, other, {Format: messages.Format}, claudeSig(" "), {Data: "c2ln"}} {
		list = append(list, &content.Text{Signature: sig}, &content.Text{Text: "c", Signature: sig}, &content.Thinking{Signature: sig}, &content.Thinking{Text: "t", Signature: sig},
			&content.Thinking{Redacted: sig}, &content.ToolUse{ID: "s", Name: "f", Input: "{}", Signature: sig})
	}
	for _, id := range []string{"", "a", "an id, é", "toolu_pw1", "toolu_pw1_x", "toolu_pwblk_a", strings.Repeat("i", 300)} {
		list = append(list, &content.ToolUse{ID: id, Name: "f"}, &content.ToolUse{ID: id, Name: "f", Input: `{"a":1}`})
		list = append(list, &content.ServerToolUse{Format: messages.Format, Kind: "server_tool_use", ID: id, Name: "web_search", Input: `{"query":"a"}`},
			&content.ServerToolResult{Format: messages.Format, Kind: "web_search_tool_result", ID: id, Content: "[]"})
	}
	for _, name := range []string{"", "a name", "é.b/c", strings.Repeat("n", 300)} {
		list = append(list, &content.ToolUse{ID: "n", Name: name}, &content.ServerToolUse{Format: messages.Format, ID: "srvtoolu_1", Name: name})
	}
	for _, input := range []string{"", "null", " ", "[]", "x", ` {"b":2} `, `{"a":1,"a":2}`} {
		list = append(list, &content.ToolUse{ID: "j", Name: "f", Input: input}, &content.ServerToolUse{Format: messages.Format, Kind: "mcp_tool_use", ID: "mcptoolu_1", Name: "m", Input: input},
			&content.ServerToolUse{Format: generatecontent.Format, Kind: "executableCode", ID: "e", Name: "codeExecution", Input: input},
			&content.ServerToolUse{Format: generatecontent.Format, Kind: "toolCall", Input: input},
			&content.ServerToolResult{Format: messages.Format, Kind: "web_search_tool_result", ID: "srvtoolu_1", Content: input},
			&content.ServerToolResult{Format: generatecontent.Format, Kind: "codeExecutionResult", Content: input},
			&content.ServerToolResult{Format: "other", Kind: "x", Content: input})
	}
	return list
}

// An eventScript makes the events of a response from bytes.
type eventScript struct {
	data   []byte
	vendor content.Format
	parts  []content.Part
	open   []*oddBlock
	ended  []*oddBlock
	next   int
}

type oddBlock struct {
	number int
	part   content.Part
}

// pick returns a number below n.
func (s *eventScript) pick(n int) int {
	if len(s.data) == 0 {
		return 0
	}
	b := s.data[0]
	s.data = s.data[1:]
	return int(b) % n
}

func oneOf[T any](s *eventScript, list ...T) T { return list[s.pick(len(list))] }

// events returns the batches of events.
func (s *eventScript) events() (batches [][]upstream.Event) {
	s.parts = oddParts()
	s.vendor = oneOf(s, messages.Format, generatecontent.Format)
	batch := []upstream.Event{}
	for len(s.data) > 0 {
		if e, ok := s.event(); ok {
			batch = append(batch, e)
		}
		if s.pick(3) == 0 {
			batches, batch = append(batches, batch), nil
		}
	}
	return append(batches, batch)
}

func (s *eventScript) event() (e upstream.Event, ok bool) {
	kind := s.pick(14)
	switch kind {
	case 0, 1, 2, 3, 4:
		b := &oddBlock{number: s.next, part: s.parts[s.pick(len(s.parts))]}
		if f := stateOf(b.part).Format; f != s.vendor && (f == messages.Format || f == generatecontent.Format) {
			b.part = &content.Text{} // a response has the state of one vendor
		}
		s.next++
		s.open = append(s.open, b)
		return upstream.Event{Kind: upstream.EventOpen, Block: b.number, Part: b.part}, true
	case 12:
		return upstream.Event{Kind: upstream.EventUsage, Usage: &content.Usage{Input: 3, Output: 1}}, true
	case 13:
		reason := oneOf(s, content.StopEnd, content.StopToolUse, content.StopMaxTokens, content.StopPause, content.StopSafety, "new")
		return upstream.Event{Kind: upstream.EventStop, Stop: &upstream.Stop{Reason: reason}}, true
	case 8, 9:
		list := append(slices.Clone(s.open), s.ended[max(0, len(s.ended)-2):]...)
		if len(list) == 0 {
			return e, false
		}
		b := list[s.pick(len(list))]
		sig := oneOf(s, content.Signature{Format: s.vendor, Data: "c2ln"}, content.Signature{Format: s.vendor, Data: "c2ln"}, content.Signature{Format: "other", Data: "c2ln"}, content.Signature{})
		return upstream.Event{Kind: upstream.EventSignature, Block: b.number, Signature: &sig}, true
	}
	if len(s.open) == 0 {
		return e, false
	}
	at := s.pick(len(s.open))
	b := s.open[at]
	e = upstream.Event{Block: b.number}
	_, isText := b.part.(*content.Text)
	if _, isThinking := b.part.(*content.Thinking); kind < 8 && (isText || isThinking) {
		e.Kind, e.Text = upstream.EventText, oneOf(s, "a", "", " ", "b\n", "\xc3", "\xa9")
		return e, true
	}
	switch b.part.(type) {
	case *content.ToolUse, *content.ServerToolUse:
		if kind < 8 {
			e.Kind, e.Text = upstream.EventInput, oneOf(s, "{}", "", "{", `"k":1}`, "[]", "null", "x", " ")
			return e, true
		}
	}
	switch {
	case isText && kind < 11:
		e.Kind, e.Citation = upstream.EventCitation, &content.Citation{Kind: oneOf(s, content.CiteWeb, content.CiteChars, "new"), URL: "https://a.example", Text: "a", End: 1}
	default:
		e.Kind = upstream.EventClose
		s.open = slices.Delete(s.open, at, at+1)
		s.ended = append(s.ended, b)
	}
	return e, true
}

// A historyClient is a client that returns responses.
type historyClient struct {
	name   string
	format wireFormat
	model  string // in the path
	body   string // with a %s for the turns
	hides  bool   // thinking that the request did not ask for
}

const historyTools = `"tools":[{"name":"f","input_schema":{"type":"object"}}],`

var historyClients = []historyClient{
	{"messages", formatOf(messages.Format), "", `{"model":"m","max_tokens":9000,` + historyTools + `"messages":[%s]}`, true},
	{"messages, thinking", formatOf(messages.Format), "", `{"model":"m","max_tokens":9000,"thinking":{"type":"adaptive"},` + historyTools + `"messages":[%s]}`, false},
	{"generatecontent", formatOf(generatecontent.Format), "m", `{"tools":[{"functionDeclarations":[{"name":"f"}]}],"contents":[%s]}`, false},
	{"generatecontent, thoughts", formatOf(generatecontent.Format), "gemini-3-pro", `{"generationConfig":{"thinkingConfig":{"includeThoughts":true}},"tools":[{"functionDeclarations":[{"name":"f"}]}],"contents":[%s]}`, false},
}

// mode returns the request with turns.
func (c *historyClient) mode(m mode, turns []string) mode {
	m.body = fmt.Sprintf(c.body, strings.Join(turns, ","))
	if c.model == "" && m.stream {
		m.body = `{"stream":true,` + m.body[1:]
	}
	m.path = strings.Replace(m.path, "models/m:", "models/"+c.model+":", 1)
	return m
}

// ask sends a request. h is the handler of up.
func (c *historyClient) ask(t *testing.T, up upstream.Upstream, m mode) *answer {
	t.Helper()
	h := c.format.handler(up, upstream.HandlerOptions{Logger: slog.New(slog.DiscardHandler)})
	w := httptest.NewRecorder()
	h.ServeHTTP(w, m.request())
	return c.format.receive(t, m, w.Result())
}

// adapters are the clients of all vendors. They encode requests only.
var adapters = sync.OnceValue(func() map[string]upstream.Upstream {
	const url = "http://127.0.0.1:9"
	toMessages, err1 := anthropic.New(&anthropic.Options{Key: "k", BaseURL: url})
	toGenerate, err2 := gemini.New(&gemini.Options{Key: "k", BaseURL: url})
	toChat, err3 := openai.New(&openai.Options{Key: "k", BaseURL: url})
	toResponses, err4 := openai.NewResponses(&openai.Options{Key: "k", BaseURL: url})
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		panic(err)
	}
	return map[string]upstream.Upstream{"messages": toMessages, "generatecontent": toGenerate, "chat": toChat, "responses": toResponses}
})

// hasStrangeArguments reports whether the arguments of a tool call do not begin with a brace. A
// stream of Messages sends such a call when it is known to be valid, and cannot take back one
// that it has begun.
func hasStrangeArguments(batches [][]upstream.Event) bool {
	arguments := map[int]string{}
	for _, batch := range batches {
		for i := range batch {
			switch e := &batch[i]; e.Kind {
			case upstream.EventOpen:
				switch p := e.Part.(type) {
				case *content.ToolUse:
					arguments[e.Block] = p.Input
				case *content.ServerToolUse:
					arguments[e.Block] = p.Input
				}
			case upstream.EventInput:
				arguments[e.Block] += e.Text
			}
		}
	}
	for _, a := range arguments {
		if a = strings.TrimSpace(a); a != "" && !json.Valid([]byte(a)) || a != "" && a[0] != '{' {
			return true
		}
	}
	return false
}

// checkHistory sends the events to all clients, and returns their responses in the next
// requests.
func checkHistory(t *testing.T, batches [][]upstream.Event) {
	t.Helper()
	up := generate(func(w *upstream.Writer) error {
		for _, batch := range batches {
			if err := w.Send(slices.Clone(batch)); err != nil {
				return err
			}
		}
		return nil
	})
	if _, err := upstream.Collect(t.Context(), up, nil); err != nil {
		t.Fatalf("the script is invalid: %v", err)
	}
	checkReturns(t, up, hasStrangeArguments(batches))
}

// checkFrames makes a stream of each vendor of the events, and sends it to all clients, as
// it is and as a Tap changes it.
func checkFrames(t *testing.T, batches [][]upstream.Event) {
	t.Helper()
	for i := range codecClients() {
		c := codecClients()[i]
		if !c.streamed || c.name == "array" || c.name == "history" {
			continue
		}
		var stream strings.Builder
		r, _, err := c.decode(c.body)
		if err != nil {
			t.Fatal(err)
		}
		w := c.writer(&stream, r)
		for _, batch := range batches {
			_ = w.Send(slices.Clone(batch))
		}
		if err := w.End(nil); err != nil {
			t.Fatal(err)
		}
		format := formatOf(c.format)
		vendor := upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
			return w.Frames(format.reader(strings.NewReader(stream.String()), content.Limits{}))
		})
		if _, err := upstream.Collect(t.Context(), vendor, nil); err != nil {
			continue // a vendor sends no such stream
		}
		checkReturns(t, vendor, true)
		for how := range 4 {
			checkReturns(t, upstream.Tap(vendor, func(_ context.Context, _ *upstream.Request, to upstream.Sink) (upstream.Sink, func(error)) {
				return upstream.SinkFunc(func(events []upstream.Event) error { return to.Send(tapped(how, events)) }), nil
			}), true)
		}
	}
}

// tapped returns events as a Tap changes them.
func tapped(how int, events []upstream.Event) (list []upstream.Event) {
	for i := range events {
		e := events[i]
		isOpen, ofBlock := e.Kind == upstream.EventOpen, e.Kind >= upstream.EventOpen && e.Kind <= upstream.EventClose
		switch {
		case how == 0 && e.Kind == upstream.EventText: // a redaction
			e.Text = ""
		case how == 1 && isOpen:
			if call, ok := e.Part.(*content.ToolUse); ok {
				renamed := *call
				renamed.ID, renamed.Name = "", "f"
				e.Part = &renamed
			}
		case how == 2 && ofBlock && e.Block%2 == 0: // the block is dropped
			continue
		case how == 3 && isOpen: // texts are replaced
			if text, ok := e.Part.(*content.Text); ok && e.Block%2 == 0 {
				e.Part = &content.Text{Citations: text.Citations, Signature: text.Signature}
			}
		}
		list = append(list, e)
	}
	return list
}

// checkReturns sends the response of up to all clients, and returns it in the next requests. If
// unordered is true, a stream may have another order than a whole response.
func checkReturns(t *testing.T, up upstream.Upstream, unordered bool) {
	t.Helper()
	for i := range historyClients {
		c := &historyClients[i]
		user := c.format.userTurn("go")
		var first []string
		for k, m := range c.format.modes {
			m = c.mode(m, []string{user})
			a := c.ask(t, up, m)
			if a.word != "" {
				t.Errorf("%s, %s: %s", c.name, m.name, a.body)
				continue
			}
			pieces := c.format.pieces(t, m, a)
			broken := unordered && c.format.format == messages.Format
			for _, list := range pieces { // clients treat arguments that are not valid as empty
				for _, p := range list {
					if _, ok := p["input"].(map[string]any); p["input"] != nil && !ok {
						p["input"] = map[string]any{}
					}
				}
			}
			parts := outlineOf(c.format, pieces)
			if c.hides { // a stream sends thinking only when its signature shows that it is of the client's vendor
				parts = slices.DeleteFunc(parts, func(p string) bool { return strings.HasPrefix(p, "thinking: ") })
			}
			if k == 0 {
				first = parts
			} else if diff := cmp.Diff(first, parts); diff != "" && !broken {
				t.Errorf("%s: %s and %s differ (-want +got):\n%s", c.name, c.format.modes[0].name, m.name, diff)
			}
			c.checkReturned(t, m, user, pieces)
		}
	}
}

// outlineOf returns what clients show and run of a response: texts, which they join, thinking
// and tool calls, in order. Where state of other vendors travels, and empty texts, may differ.
func outlineOf(s wireFormat, pieces [][]map[string]any) []string {
	list := []string{}
	add := func(kind, text string) {
		if text == "" {
			return
		}
		if n := len(list); n > 0 && strings.HasPrefix(list[n-1], kind) && s.format == generatecontent.Format {
			list[n-1] += text
			return
		}
		list = append(list, kind+text)
	}
	for _, piece := range pieces {
		for _, p := range piece {
			text, _ := p["text"].(string)
			switch kind := fmt.Sprint(p["type"]); {
			case kind == "redacted_thinking" || p["thinking"] == "":
			case p["thinking"] != nil:
				add("thinking: ", p["thinking"].(string))
			case p["thought"] == true:
				add("thinking: ", text)
			case p["text"] != nil:
				add("text: ", text)
			case p["functionCall"] != nil:
				list = append(list, fmt.Sprint("call: ", p["functionCall"]))
			case kind == "tool_use":
				list = append(list, fmt.Sprint("call: ", p["name"], p["input"]))
			default:
				c := maps.Clone(p)
				delete(c, "thoughtSignature")
				list = append(list, fmt.Sprint(c))
			}
		}
	}
	return list
}

// checkReturned returns a response to its handler, with results of its tool calls, and to all
// vendors.
func (c *historyClient) checkReturned(t *testing.T, m mode, user string, pieces [][]map[string]any) {
	t.Helper()
	all := returning{keep: everything}
	turns := append([]string{user}, all.history(c.format, pieces)...)
	if len(turns) == 1 {
		return
	}
	var results []string
	for _, list := range pieces {
		for _, p := range list {
			if call, ok := p["functionCall"].(map[string]any); ok {
				id := ""
				if call["id"] != nil {
					id = fmt.Sprintf(`"id":%q,`, call["id"])
				}
				results = append(results, fmt.Sprintf(`{"functionResponse":{%s"name":%q,"response":{"output":"1"}}}`, id, call["name"]))
			} else if p["type"] == "tool_use" {
				results = append(results, fmt.Sprintf(`{"type":"tool_result","tool_use_id":%q,"content":"1"}`, p["id"]))
			}
		}
	}
	if len(results) == 0 {
		results = []string{fmt.Sprintf(c.format.text, "more")}
	}
	turns = append(turns, fmt.Sprintf(c.format.turn, strings.Join(results, ",")))
	var asked *upstream.Request
	again := c.mode(c.format.modes[0], turns)
	a := c.ask(t, upstream.Func(func(_ context.Context, r *upstream.Request, w *upstream.Writer) error {
		asked = r
		return w.Text("ok")
	}), again)
	if strings.Contains(a.message, "was found without a corresponding") {
		return // the result of a built-in tool, which only the host can write
	}
	if a.status != http.StatusOK {
		t.Errorf("%s, %s: the handler refuses its response: %s\n%s", c.name, m.name, a.message, again.body)
		return
	}
	for name, up := range adapters() {
		doc, err := upstream.EncodeRequest(t.Context(), up, asked)
		if err != nil && strings.Contains(err.Error(), "accepts no audio or video") {
			continue // the request fails, because the model cannot read the conversation
		}
		if err != nil {
			t.Errorf("%s, %s: to %s: %v\n%s", c.name, m.name, name, err, again.body)
			continue
		}
		switch doc.Format {
		case messages.Format:
			_, _, err = messages.DecodeRequest([]byte(doc.Document), nil)
		case generatecontent.Format:
			_, _, err = generatecontent.DecodeRequest([]byte(doc.Document), nil)
		}
		if err != nil {
			t.Errorf("%s, %s: %s refuses what its adapter sends: %v\n%s\n%s", c.name, m.name, name, err, again.body, doc.Document)
		}
	}
}

// historyRows are responses that have been refused, or that a stream had in another order.
var historyRows = map[string][]upstream.Event{
	"empty text":                       {opened(0, &content.Text{}), closed(0)},
	"emptied text between calls":       {opened(0, &content.ToolUse{ID: "a", Name: "f"}), closed(0), opened(1, &content.Text{}), delta(1, ""), closed(1), opened(2, &content.ToolUse{ID: "b", Name: "f"}), closed(2)},
	"text that is only cited":          {opened(0, &content.Text{Citations: []content.Citation{{Kind: content.CiteWeb, URL: "https://a.example"}}}), closed(0)},
	"text that is only signed":         {opened(0, &content.Text{}), signedBlock(0, googleSig("c2ln")), closed(0)},
	"call that is left open":           {opened(0, &content.ToolUse{ID: "a", Name: "f"}), {Kind: upstream.EventInput, Text: "{}"}, opened(1, &content.Text{}), delta(1, "after"), closed(1)},
	"call that is left open and empty": {opened(0, &content.ToolUse{ID: "a", Name: "f"}), opened(1, &content.Text{}), delta(1, "after"), closed(1)},
}

func TestReturnedResponses(t *testing.T) {
	for name, events := range historyRows {
		t.Run(name, func(t *testing.T) { checkHistory(t, [][]upstream.Event{events}) })
		t.Run(name+", each event", func(t *testing.T) { checkHistory(t, slices.Collect(slices.Chunk(events, 1))) })
	}
	for i := range oddParts() {
		t.Run(fmt.Sprint("part ", i), func(t *testing.T) {
			checkHistory(t, [][]upstream.Event{{opened(0, oddParts()[i]), closed(0)}})
			checkFrames(t, [][]upstream.Event{{opened(0, oddParts()[i]), closed(0)}})
			checkHistory(t, [][]upstream.Event{{opened(0, oddParts()[i])}, {closed(0)}})
			checkHistory(t, [][]upstream.Event{{opened(0, oddParts()[i])}, {opened(1, &content.Text{}), delta(1, "after"), closed(1)}})
		})
	}
	for seed := range uint64(150) {
		random := rand.New(rand.NewPCG(seed, 1))
		data := make([]byte, 10+random.IntN(60))
		for i := range data {
			data[i] = byte(random.Uint32())
		}
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			checkHistory(t, (&eventScript{data: slices.Clone(data)}).events())
			if seed < 40 {
				checkFrames(t, (&eventScript{data: data}).events())
			}
		})
	}
}

func FuzzReturnedResponses(f *testing.F) {
	f.Add([]byte("an event for each pair of bytes"))
	f.Fuzz(func(t *testing.T, data []byte) {
		switch batches := (&eventScript{data: slices.Clone(data)}).events(); {
		case len(data) > 100:
		case len(data)%4 == 0:
			checkFrames(t, batches) // slow
		default:
			checkHistory(t, batches)
		}
	})
}
