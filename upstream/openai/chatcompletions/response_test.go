package chatcompletions

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/handler"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/internal/test/lossplaces"
	"github.com/polywire/polywire/upstream"
)

func TestWholeResponse(t *testing.T) {
	for _, tt := range []struct {
		name string
		resp *upstream.Response
		want string // after the model
	}{
		{"text", &upstream.Response{Start: upstream.Start{ID: "r1", Model: "m"}, Parts: []content.Part{&content.Text{Text: "Hi"}},
			Stop: upstream.Stop{Reason: content.StopEnd}, Usage: content.Usage{Input: 2, Output: 1}},
			`"choices":[{"index":0,"message":{"role":"assistant","content":"Hi","refusal":null,"annotations":[]},"logprobs":null,"finish_reason":"stop"}],` +
				`"usage":{"prompt_tokens":2,"completion_tokens":1,"total_tokens":3,"prompt_tokens_details":{"cached_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}},"system_fingerprint":null}`},
		{"everything", &upstream.Response{Start: upstream.Start{ID: "r1", Model: "m"}, Parts: []content.Part{
			&content.Thinking{Text: "hm"}, &content.Text{Text: "See "},
			&content.Text{Text: "this", Citations: []content.Citation{{Kind: content.CiteWeb, URL: "https://a.example/", Title: "A"}}},
			&content.ToolUse{ID: "c1", Name: "f", Input: `{"a":1}`}, &content.ToolUse{ID: "c2", Name: "p", Freeform: true, Text: "x\n"},
			&content.ToolUse{ID: "c3", Name: "g"}, &content.Text{Text: "No", Refusal: true}},
			Stop:  upstream.Stop{Reason: content.StopToolUse},
			Extra: &content.Extra{Format: Format, JSON: `{"logprobs":{"content":[]},"service_tier":"default"}`}},
			`"choices":[{"index":0,"message":{"role":"assistant","content":"See this","reasoning_content":"hm","tool_calls":[` +
				`{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}},{"id":"c2","type":"custom","custom":{"name":"p","input":"x\n"}},` +
				`{"id":"c3","type":"function","function":{"name":"g","arguments":"{}"}}],"refusal":"No",` +
				`"annotations":[{"type":"url_citation","url_citation":{"start_index":4,"end_index":8,"url":"https://a.example/","title":"A"}}]},"logprobs":{"content":[]},"finish_reason":"tool_calls"}],` +
				`"usage":{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0,"prompt_tokens_details":{"cached_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}},"service_tier":"default","system_fingerprint":null}`},
		{"choices", &upstream.Response{Start: upstream.Start{ID: "r1", Model: "m"}, Parts: []content.Part{&content.Text{Text: "a"}},
			MoreCandidates: []upstream.Candidate{{Parts: []content.Part{&content.Text{Text: "b"}}, Stop: upstream.Stop{Reason: content.StopMaxTokens}}}},
			`"choices":[{"index":0,"message":{"role":"assistant","content":"a","refusal":null,"annotations":[]},"logprobs":null,"finish_reason":"stop"},` +
				`{"index":1,"message":{"role":"assistant","content":"b","refusal":null,"annotations":[]},"logprobs":null,"finish_reason":"length"}],` +
				`"usage":{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0,"prompt_tokens_details":{"cached_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}},"system_fingerprint":null}`},
		{"nothing", nil,
			`"choices":[{"index":0,"message":{"role":"assistant","content":null,"refusal":null,"annotations":[]},"logprobs":null,"finish_reason":"stop"}],` +
				`"usage":{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0,"prompt_tokens_details":{"cached_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}},"system_fingerprint":null}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			doc, _ := convertResponse(tt.resp, nil, expectation{}, responseHead{id: "r1", model: "m", created: 7})
			if diff := cmp.Diff(`{"id":"r1","object":"chat.completion","created":7,"model":"m",`+tt.want, doc.Text()); diff != "" {
				t.Errorf("document (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRecordedResponses encodes the responses of servers of the format again. Clients receive
// the same texts, tool calls and finish_reason.
func TestRecordedResponses(t *testing.T) {
	for _, r := range formattest.Records(t, "openai-chat") {
		if r.Status != 200 || r.Host != "api.openai.com" {
			continue
		}
		doc := r.Whole()
		if doc == "" {
			continue
		}
		want, err := formattest.DecodeObject([]byte(doc))
		if err != nil || !strings.Contains(doc, `"finish_reason"`) || strings.Contains(doc, `"transcript"`) {
			continue // another format, or audio, whose transcript becomes the text
		}
		f, err := DecodeFrame(doc, content.Limits{}, DecodeOptions{Verbatim: true})
		if err != nil {
			continue
		}
		resp, err := f.Response()
		if err != nil {
			t.Fatal(err)
		}
		client := expectation{functions: strings.Contains(r.Request, `"functions"`)}
		w, _ := convertResponse(resp, nil, client, responseHead{created: 7})
		got, err := formattest.DecodeObject(w.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(sameChoices(want), sameChoices(got)); diff != "" {
			t.Errorf("%s (-recorded +encoded):\n%s", r.ID, diff)
		}
	}
}

// sameChoices returns what encoding a decoded response must not change.
func sameChoices(doc map[string]any) (list []any) {
	choices, _ := doc["choices"].([]any)
	for _, x := range choices {
		c := x.(map[string]any)
		m := c["message"].(map[string]any)
		delete(m, "annotations") // their bounds
		delete(m, "audio")
		list = append(list, formattest.NormalChatMessage(m), c["finish_reason"])
	}
	u, _ := doc["usage"].(map[string]any)
	return append(list, u["prompt_tokens"], u["completion_tokens"])
}

// FuzzEvents makes responses of any valid order of events, and divides them into batches. The
// stream follows the grammar, and the division does not change what the client receives. A whole
// response has the same content.
func FuzzEvents(f *testing.F) {
	r := rand.New(rand.NewPCG(3, 4))
	for how := range uint8(4) {
		f.Add(formattest.RandomBytes(r), formattest.RandomBytes(r), how)
	}
	f.Fuzz(func(t *testing.T, response, division []byte, how uint8) {
		if len(response) <= 400 {
			checkEvents(t, response, division, how)
		}
	})
}

// TestEvents is FuzzEvents with the same responses each time.
func TestEvents(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 2000 {
		if checkEvents(t, formattest.RandomBytes(r), formattest.RandomBytes(r), uint8(n)); t.Failed() {
			return
		}
	}
}

// checkEvents checks the response that bytes describe.
func checkEvents(t *testing.T, made, division []byte, how uint8) {
	t.Helper()
	events := formattest.Events(made)
	client := expectation{hideReasoning: how%2 == 1}
	receive := func(name string, batches [][]upstream.Event) received {
		t.Helper()
		s := newStream("r1", "m", 7, nil)
		s.blocks.expectation, s.includeUsage = client, how%4 > 1
		var out []byte
		for _, b := range batches {
			out = s.Events(out, b)
		}
		failed := s.End(slices.Clone(out), &handler.Failure{Code: upstream.CodeOverloaded})
		if a, err := formattest.ReadChat(string(failed)); err != nil || a.Failure == nil {
			t.Fatalf("%s, failed: %v\n%s", name, err, failed)
		}
		out = s.End(out, nil)
		a, err := formattest.ReadChat(string(out))
		if err != nil {
			t.Fatalf("%s: %v\n%s\n%s", name, err, out, formattest.DescribeEvents(batches))
		}
		return receivedFrom(a.Object, checkListed(t, s.Losses()))
	}
	want := receive("at once", formattest.Divide(events, nil, nil))
	for name, batches := range formattest.Divisions(events, division, nil) {
		if diff := cmp.Diff(want, receive(name, batches)); diff != "" {
			t.Fatalf("%s (-at once +divided):\n%s\n%s", name, diff, formattest.DescribeEvents(batches))
		}
	}
	var c upstream.Collector
	if err := c.Send(slices.Clone(events)); err != nil {
		t.Fatal(err)
	}
	doc, lost := convertResponse(c.Response(), nil, client, responseHead{created: 7})
	m, err := formattest.DecodeObject(doc.Bytes())
	if err != nil {
		t.Fatalf("%v\n%s", err, doc.Text())
	}
	for _, x := range m["choices"].([]any) {
		formattest.NormalChatMessage(x.(map[string]any)["message"].(map[string]any))
	}
	if diff := cmp.Diff(want, receivedFrom(m, checkListed(t, lost))); diff != "" {
		t.Fatalf("(-streamed +whole):\n%s\n%s", diff, formattest.DescribeEvents([][]upstream.Event{events}))
	}
}

// checkListed checks that responseLosses has all losses.
func checkListed(t *testing.T, lost []content.Loss) []content.Loss {
	t.Helper()
	for _, l := range lost {
		if !slices.ContainsFunc(responseLosses, func(r *loss.Rule) bool { return r.Reason == l.Reason }) {
			t.Errorf("responseLosses lacks %q", l.Reason)
		}
	}
	return lost
}

// A received response is what a client has of it, whatever its division was.
type received struct {
	Choices []receivedChoice
	Lost    []string // sorted paths of parts that were dropped or are broken
}

type receivedChoice struct {
	Content, Reasoning, Refusal, Finish string
	Calls                               []string // sorted: calls that may be broken begin later
}

func receivedFrom(doc map[string]any, lost []content.Loss) (r received) {
	list, _ := doc["choices"].([]any)
	for _, x := range list {
		c := x.(map[string]any)
		m := c["message"].(map[string]any)
		text := func(name string) string {
			s, _ := m[name].(string)
			return s
		}
		got := receivedChoice{Content: text("content"), Reasoning: text("reasoning_content"), Refusal: text("refusal"), Finish: fmt.Sprint(c["finish_reason"])}
		got.Calls = formattest.ValidChatCalls(m)
		sort.Strings(got.Calls)
		r.Choices = append(r.Choices, got)
	}
	for n := len(r.Choices); n > 1 && cmp.Equal(r.Choices[n-1], receivedChoice{Finish: "stop"}); n-- {
		r.Choices = r.Choices[:n-1] // events without content may add a choice
	}
	for _, l := range lossplaces.Of(lost) {
		members := l.Reason == foreign.LogprobsLoss.Reason || l.Reason == foreign.ResumeLoss.Reason
		if !members && l.Severity == content.LossDropped && strings.Contains(l.Path, "parts.") && !slices.Contains(r.Lost, l.Path) {
			r.Lost = append(r.Lost, l.Path)
		}
	}
	sort.Strings(r.Lost)
	return r
}
