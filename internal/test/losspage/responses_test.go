package losspage_test

import (
	"context"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/test/losspage"
	"github.com/polywire/polywire/internal/test/lossplaces"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/openai/chatcompletions"
	"github.com/polywire/polywire/upstream/openai/responses"
)

const (
	other = content.Format("elsewhere")
	third = content.Format("third")
	m     = messages.Format
	g     = generatecontent.Format
	png   = "iVBORw0KGgo="
)

func file(kind, data string) *content.Base64 { return &content.Base64{MediaType: kind, Data: data} }

func members(f content.Format, json string) *content.Extra {
	return &content.Extra{Format: f, JSON: json}
}

func signed(f content.Format, data string) content.Signature {
	return content.Signature{Format: f, Data: data}
}

// parts are parts of responses with losses in at least one format.
var parts = []content.Part{
	&content.Image{Source: file("image/png", png), Cache: &content.Cache{}, Extra: members(other, `{"a":1}`)},
	&content.Image{Source: file("", png)},
	&content.Image{Source: file("", "AAAA")},
	&content.Image{Source: file("image/png", "!")},
	&content.Image{Source: &content.File{ID: "f"}},
	&content.Document{Source: file("application/pdf", "JVBERi0="), Title: "A"},
	&content.Media{Source: file("audio/wav", "UklGRgAAAABXQVZF")},
	&content.ServerToolUse{Format: other, ID: "s", Name: "search", Input: "{}"},
	&content.ServerToolResult{Format: m, Kind: "web_search_tool_result", ID: "s", Content: "{"},
	&content.SearchResult{},
	&content.Unknown{Format: g, Kind: "odd", Raw: "{"},
	&content.Text{Text: "a", Cache: &content.Cache{}, Extra: members(other, `{"a":1}`)},
	&content.Text{Text: "a", Signature: content.Signature{Data: "unknown"}},
	&content.Text{Text: "a", Signature: signed(g, "!")},
	&content.Text{Text: "a", Signature: signed(other, strings.Repeat("x", envelope.MaxSize+1))},
	&content.Thinking{Text: "a", Signature: signed(other, strings.Repeat("x", envelope.MaxSize+1))},
	&content.Thinking{Text: "a", Signature: signed(other, "x")},
	&content.Text{Text: "a", Citations: []content.Citation{{Kind: "odd"}}},
	&content.Text{Text: "a", Citations: []content.Citation{{Kind: content.CiteWeb, URL: "https://example.com", Text: "b"}}},
	&content.Text{Text: "a", Citations: make([]content.Citation, 1001)},
	&content.Text{Citations: []content.Citation{{Kind: content.CiteWeb, URL: "https://example.com"}}},
	&content.ToolUse{ID: "c", Name: "t", Input: "[1]"},
	&content.ToolUse{ID: "c", Name: "t", Namespace: "n", Freeform: true, Text: "a"},
	&content.Text{Text: "a", Refusal: true},
	&content.Text{Text: "a", Citations: []content.Citation{{Kind: content.CiteWeb, URL: "https://example.com", End: 1}}},
	&content.ServerToolUse{Format: m, Kind: "server_tool_use", ID: "s", Name: "web_search", Input: "[1]"},
	&content.ServerToolUse{Format: m, Kind: "mcp_tool_use", ID: "s", Name: "without a server"},
}

// stops are stop reasons with losses.
var stops = []upstream.Stop{
	{Reason: content.StopMalformedCall, Format: other, RawReason: "ODD", Details: `{"a":1}`},
	{Reason: content.StopOther, Sequence: "x"},
	{Reason: content.StopContext},
	{Reason: content.StopSequence, Sequence: "x"},
}

// events are streams with losses that cannot be expressed by whole parts.
var events = [][]upstream.Event{
	{ // second candidate
		{Kind: upstream.EventOpen, Part: &content.Text{}}, {Kind: upstream.EventText, Text: "a"}, {Kind: upstream.EventClose},
		{Kind: upstream.EventOpen, Block: 1, Candidate: 1, Part: &content.Text{}}, {Kind: upstream.EventClose, Block: 1, Candidate: 1}},
	{ // unknown members
		{Kind: upstream.EventOpen, Part: &content.Text{}, Extra: members(other, `{"a":1}`)},
		{Kind: upstream.EventText, Text: "a", Extra: members(other, `{"a":1}`)},
		{Kind: upstream.EventBlockExtra, Text: "odd", Extra: members(other, `{"a":1}`)},
		{Kind: upstream.EventClose},
		{Kind: upstream.EventExtra, Text: "odd", Extra: members(other, `{"a":1}`)},
		{Kind: upstream.EventExtra, Extra: members(g, `{"content":{}}`)},
		{Kind: upstream.EventExtra, Extra: members(m, `{"a":"`+strings.Repeat("x", 256<<10)+`"}`)}},
	{ // requested members, and members that the next request needs
		{Kind: upstream.EventExtra, Extra: members(g, `{"logprobsResult":{"a":1},"citationMetadata":{"a":1},"continuationToken":"eA=="}`)}},
	{
		{Kind: upstream.EventExtra, Extra: members(m, `{"container":{"id":"c"}}`)}},
	{
		{Kind: upstream.EventExtra, Extra: members("openai-chat", `{"logprobs":{"content":[1]}}`)}},
	{ // citations in two forms
		{Kind: upstream.EventOpen, Part: &content.Text{}}, {Kind: upstream.EventText, Text: "a"},
		{Kind: upstream.EventCitation, Citation: &content.Citation{Kind: content.CiteWeb, URL: "https://example.com"}},
		{Kind: upstream.EventClose},
		{Kind: upstream.EventExtra, Extra: members(g, `{"groundingMetadata":{"a":1,"webSearchQueries":["q"],"searchEntryPoint":{"b":1}}}`)}},
	{ // delayed signatures
		{Kind: upstream.EventOpen, Part: &content.Thinking{}}, {Kind: upstream.EventText, Text: "a"}, {Kind: upstream.EventClose},
		{Kind: upstream.EventOpen, Block: 1, Part: &content.Image{Source: file("image/png", png)}}, {Kind: upstream.EventClose, Block: 1},
		{Kind: upstream.EventOpen, Block: 2, Part: &content.ToolUse{ID: "c", Name: "t", Input: "{}"}}, {Kind: upstream.EventClose, Block: 2},
		{Kind: upstream.EventSignature, Signature: &content.Signature{Format: other, Data: "x"}},
		{Kind: upstream.EventSignature, Block: 1, Signature: &content.Signature{Format: g, Data: "AAAA"}}},
	{ // signed thinking before nothing
		{Kind: upstream.EventOpen, Part: &content.Thinking{Text: "a", Signature: signed(g, "AAAA")}}, {Kind: upstream.EventClose}},
	{ // signed thinking of a finished turn
		{Kind: upstream.EventStart, Start: &upstream.Start{Model: "deepseek-reasoner"}},
		{Kind: upstream.EventOpen, Part: &content.Thinking{Text: "a", Signature: signed(other, "x")}}, {Kind: upstream.EventClose},
		{Kind: upstream.EventStop, Stop: &upstream.Stop{Reason: content.StopEnd}}},
	{
		{Kind: upstream.EventExtra, Extra: members(g, `{"logprobsResult":{"chosenCandidates":[{"token":"a","tokenId":1,"logProbability":-1}]}}`)}},
	{ // files of code, which one vendor reports with the output, another in a list
		{Kind: upstream.EventOpen, Part: &content.ServerToolUse{Format: m, Kind: "server_tool_use", ID: "s", Name: "code_execution", Input: `{"code":"a"}`}}, {Kind: upstream.EventClose},
		{Kind: upstream.EventOpen, Block: 1, Part: &content.ServerToolResult{Format: m, Kind: "code_execution_tool_result", ID: "s", Content: `{"content":[{"file_id":"f"}]}`}}, {Kind: upstream.EventClose, Block: 1}},
	{
		{Kind: upstream.EventOpen, Part: &content.ServerToolUse{Format: responses.Format, Kind: "code_interpreter_call", ID: "s", Input: `{"code":"a"}`}}, {Kind: upstream.EventClose},
		{Kind: upstream.EventOpen, Block: 1, Part: &content.ServerToolResult{Format: responses.Format, Kind: "code_interpreter_call", ID: "s", Content: `[{"type":"image"}]`}}, {Kind: upstream.EventClose, Block: 1}},
	{ // tool call without a name
		{Kind: upstream.EventOpen, Part: &content.ToolUse{ID: "c"}}},
	{ // malformed tool call in a stream
		{Kind: upstream.EventOpen, Part: &content.ToolUse{ID: "c", Name: "t"}}, {Kind: upstream.EventInput, Text: "{x"}},
	{ // tool call that ends before its arguments
		{Kind: upstream.EventOpen, Part: &content.ToolUse{ID: "c", Name: "t"}}, {Kind: upstream.EventClose},
		{Kind: upstream.EventStop, Stop: &upstream.Stop{Reason: content.StopMaxTokens}}},
	{ // two tool calls with the same id
		{Kind: upstream.EventOpen, Part: &content.ToolUse{ID: "c", Name: "t", Input: "{}"}}, {Kind: upstream.EventClose},
		{Kind: upstream.EventOpen, Block: 1, Part: &content.ToolUse{ID: "c", Name: "t", Input: "{}"}}, {Kind: upstream.EventClose, Block: 1}},
	{ // empty text with a signature
		{Kind: upstream.EventOpen, Part: &content.Text{}}, {Kind: upstream.EventText, Text: "a"}, {Kind: upstream.EventClose},
		{Kind: upstream.EventOpen, Block: 1, Part: &content.Text{Signature: signed(other, "x")}}, {Kind: upstream.EventClose, Block: 1}},
	{ // signature without a format
		{Kind: upstream.EventOpen, Part: &content.Thinking{Text: "a"}},
		{Kind: upstream.EventSignature, Signature: &content.Signature{Data: "x"}}, {Kind: upstream.EventClose}},
	{ // text after a tool call
		{Kind: upstream.EventOpen, Part: &content.ToolUse{ID: "c", Name: "t", Input: "{}"}}, {Kind: upstream.EventClose},
		{Kind: upstream.EventOpen, Block: 1, Part: &content.Text{Text: "a"}}, {Kind: upstream.EventClose, Block: 1}},
	{ // members that chunks of Chat Completions have
		{Kind: upstream.EventExtra, Extra: members("openai-chat", `{"created":1}`)}},
	{ // more members than are kept
		{Kind: upstream.EventExtra, Extra: members("openai-chat", `{"a":"`+strings.Repeat("x", 256<<10)+`"}`)},
		{Kind: upstream.EventExtra, Extra: members("openai-chat", `{"b":1}`)}},
	{ // more text than the last event of Responses repeats
		{Kind: upstream.EventOpen, Part: &content.Text{}}, {Kind: upstream.EventText, Text: strings.Repeat("x", 8<<20)}, {Kind: upstream.EventClose}},
	{ // thinking of two vendors
		{Kind: upstream.EventOpen, Part: &content.Thinking{Signature: signed(other, "x")}}, {Kind: upstream.EventClose},
		{Kind: upstream.EventOpen, Block: 1, Part: &content.Thinking{Signature: signed(third, "x")}}, {Kind: upstream.EventClose, Block: 1},
		{Kind: upstream.EventOpen, Block: 2, Part: &content.ToolUse{ID: "c", Name: "t", Input: "{}"}}, {Kind: upstream.EventClose, Block: 2}},
}

// responseUpstreams returns upstreams that respond with one part, stop reason or
// stream each.
func responseUpstreams() (all []upstream.Upstream) {
	var choices, cited []upstream.Event
	for i := range 129 {
		choices = append(choices, upstream.Event{Kind: upstream.EventOpen, Block: i, Candidate: i, Part: &content.Text{Text: "a"}},
			upstream.Event{Kind: upstream.EventClose, Block: i, Candidate: i})
	}
	cited = append(cited, upstream.Event{Kind: upstream.EventOpen, Part: &content.Text{Text: "a"}})
	for range 1001 {
		cited = append(cited, upstream.Event{Kind: upstream.EventCitation, Citation: &content.Citation{Kind: content.CiteWeb, URL: "https://example.com"}})
	}
	events := append(events, choices, append(cited, upstream.Event{Kind: upstream.EventClose}))
	add := func(f func(w *upstream.Writer) error) {
		all = append(all, upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error { return f(w) }))
	}
	for _, p := range parts {
		add(func(w *upstream.Writer) error { return w.Part(p) })
	}
	for _, s := range stops {
		add(func(w *upstream.Writer) error { return w.Stop(s) })
	}
	for _, list := range events {
		add(func(w *upstream.Writer) error { return w.Send(slices.Clone(list)) })
	}
	add(func(w *upstream.Writer) error {
		return w.Usage(content.Usage{CacheWrite: 1, Extra: members(other, `{"a":1}`)})
	})
	add(func(w *upstream.Writer) error { // arguments for a call that began in a chunk of the vendor
		f := &upstream.Frame{Format: generatecontent.Format, Data: `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"t"}}]}}]}`,
			Events: []upstream.Event{{Kind: upstream.EventStart, Start: new(upstream.Start)}, {Kind: upstream.EventOpen, Part: &content.ToolUse{Name: "t"}}}}
		if err := w.Frame(f); err != nil {
			return err
		}
		return w.Send([]upstream.Event{{Kind: upstream.EventInput, Text: `{"a":1}`}})
	})
	return all
}

// TestResponseLosses checks that each handler reports exactly the response losses of
// its table.
func TestResponseLosses(t *testing.T) {
	for table, c := range clients {
		rules, err := losspage.Rules(table)
		if err != nil {
			t.Fatal(err)
		}
		missing := map[string]bool{}
		for _, r := range rules {
			missing[r.Severity.String()+" "+r.Reason] = true
		}
		known := maps.Clone(missing)
		common, err := losspage.Rules("upstream", "front-answer") // losses that every handler can report
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range common {
			known[r.Severity.String()+" "+r.Reason] = true
		}
		for _, newHandler := range append(c.otherwise, c.newHandler) {
			for _, up := range responseUpstreams() {
				for _, r := range c.requests() {
					for _, l := range lossplaces.Of(lossesOf(t, newHandler, up, r)) {
						loss := l.Severity.String() + " " + l.Reason
						if !known[loss] {
							t.Errorf("%s does not have %s (at %q)", table, loss, l.Path)
						}
						delete(missing, loss)
					}
				}
			}
		}
		for loss := range missing {
			t.Errorf("%s: nothing reports %s", table, loss)
		}
	}
}

// lossesOf returns the losses that a handler reports for a response.
func lossesOf(t *testing.T, newHandler func(upstream.Upstream, upstream.HandlerOptions) http.Handler, up upstream.Upstream, r *http.Request) []content.Loss {
	t.Helper()
	var losses []content.Loss
	serving := upstream.HandlerOptions{OnDone: func(_ context.Context, r *upstream.Report) {
		losses = r.Losses
		if r.Err != nil {
			t.Errorf("the response failed: %v", r.Err)
		}
	}}
	newHandler(up, serving).ServeHTTP(httptest.NewRecorder(), r)
	return losses
}

// A client is a format of clients.
type client struct {
	newHandler func(upstream.Upstream, upstream.HandlerOptions) http.Handler
	otherwise  []func(upstream.Upstream, upstream.HandlerOptions) http.Handler // with other options
	paths      []string
	header     map[string]string // of requests
	bodies     []string
}

// clients are the formats of clients by the table of their losses.
var clients = map[string]client{
	"messages-answer": {
		newHandler: func(up upstream.Upstream, s upstream.HandlerOptions) http.Handler {
			return messages.NewHandler(up, &messages.Options{HandlerOptions: s})
		},
		paths:  []string{"/v1/messages"},
		header: map[string]string{"anthropic-version": "2023-06-01"},
		bodies: streamed(`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"Hi."}]`, ``, `,"thinking":{"type":"adaptive"}`),
	},
	"generatecontent-answer": {
		newHandler: func(up upstream.Upstream, s upstream.HandlerOptions) http.Handler {
			return generatecontent.NewHandler(up, &generatecontent.Options{HandlerOptions: s})
		},
		paths:  []string{"/v1beta/models/m:generateContent", "/v1beta/models/m:streamGenerateContent?alt=sse"},
		bodies: []string{`{"contents":[{"parts":[{"text":"Hi."}]}]}`},
	},
	"openai-chat-answer": {
		newHandler: func(up upstream.Upstream, s upstream.HandlerOptions) http.Handler {
			return chatcompletions.NewHandler(up, &chatcompletions.Options{HandlerOptions: s})
		},
		otherwise: []func(upstream.Upstream, upstream.HandlerOptions) http.Handler{
			func(up upstream.Upstream, s upstream.HandlerOptions) http.Handler {
				return chatcompletions.NewHandler(up, &chatcompletions.Options{HandlerOptions: s, HideReasoning: true})
			},
		},
		paths: []string{"/v1/chat/completions"},
		bodies: streamed(`{"model":"m","messages":[{"role":"user","content":"Hi."}]`, ``,
			`,"functions":[{"name":"t"}]`, `,"n":2`),
	},
	"openai-responses-answer": {
		newHandler: func(up upstream.Upstream, s upstream.HandlerOptions) http.Handler {
			return responses.NewHandler(up, &responses.Options{HandlerOptions: s})
		},
		otherwise: []func(upstream.Upstream, upstream.HandlerOptions) http.Handler{
			func(up upstream.Upstream, s upstream.HandlerOptions) http.Handler {
				return responses.NewHandler(up, &responses.Options{HandlerOptions: s, Store: responses.NewMemoryStore(100)})
			},
			func(up upstream.Upstream, s upstream.HandlerOptions) http.Handler {
				return responses.NewHandler(up, &responses.Options{HandlerOptions: s, OpenResponses: true})
			},
		},
		paths: []string{"/v1/responses"},
		bodies: streamed(`{"model":"m"`, `,"input":"Hi."`, `,"input":[{"role":"user","content":"Hi."},{"type":"compaction_trigger"}]`,
			`,"input":"Hi.","include":["reasoning.encrypted_content"],"reasoning":{"summary":"auto"}`,
			`,"input":"Hi.","tools":[{"type":"function","name":"a"}],"tool_choice":{"type":"allowed_tools","mode":"auto","tools":[{"type":"function","name":"a"}]}`),
	},
}

// streamed returns bodies that begin with begin and have each of the members, for a whole and
// for a streamed response.
func streamed(begin string, members ...string) (bodies []string) {
	for _, m := range members {
		bodies = append(bodies, begin+m+`}`, begin+m+`,"stream":true}`)
	}
	return bodies
}

// requests returns requests for whole and for streamed responses.
func (c *client) requests() (list []*http.Request) {
	for _, path := range c.paths {
		for _, body := range c.bodies {
			r := httptest.NewRequest("POST", path, strings.NewReader(body))
			for name, value := range c.header {
				r.Header.Set(name, value)
			}
			list = append(list, r)
		}
	}
	return list
}
