package crosstest

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/internal/test/lossplaces"
	"github.com/polywire/polywire/upstream"
)

// A finishedResponse is a response of one vendor, whole and streamed, and the
// expected document in the other format.
type finishedResponse struct {
	name   string
	whole  string // the document
	stream string // events, or the rest of one; empty: an event with the document
	want   []string
	not    []string
	losses []string // "severity path", sorted
}

// An outcome is what the clients of a format receive of a finished response.
type outcome struct{ want, not, losses []string }

// message returns a whole Messages response.
func message(blocks, end, usage string) string {
	return `{"type":"message","id":"m","role":"assistant","model":"x","content":[` + blocks + `],` + end + `,"usage":{"input_tokens":5,"output_tokens":1` + usage + `}}`
}

// events returns a streamed Messages response.
func events(blocks, end, usage string) string {
	return event("message_start", `"message":{"id":"m","type":"message","role":"assistant","model":"x","content":[],"stop_reason":null,"usage":{"input_tokens":5,"output_tokens":1`+usage+`}}`) +
		blocks + event("message_delta", `"delta":{`+end+`},"usage":{"output_tokens":1}`) + event("message_stop", "")
}

func event(name, members string) string {
	if members != "" {
		members = "," + members
	}
	return "event: " + name + "\ndata: {\"type\":\"" + name + "\"" + members + "}\n\n"
}

func block(start string, deltas ...string) string {
	s := event("content_block_start", `"index":0,"content_block":`+start)
	for _, d := range deltas {
		s += event("content_block_delta", `"index":0,"delta":`+d)
	}
	return s + event("content_block_stop", `"index":0`)
}

const (
	textBlock = `{"type":"text","text":"Hi."}`
	toolUse   = `"stop_reason":"tool_use"`
	endTurn   = `"stop_reason":"end_turn"`
	pages     = `{"type":"page_location","cited_text":"a","document_index":0,"document_title":"T","start_page_number":1,"end_page_number":2}`
	unknown   = `{"type":"zork_location"}`
	refusal   = `"stop_reason":"refusal","stop_details":{"type":"refusal","category":"bio","explanation":"EXPL"}`
	plainly   = `"stop_reason":"refusal","stop_details":{"type":"refusal","category":null,"explanation":null}`
	moreNews  = `"container":{"id":"c"},"diagnostics":{"cache_miss_reason":{"type":"unavailable"}},"context_management":{"applied_edits":[{"type":"clear"}]},`
)

var ofMessages = []finishedResponse{
	{name: "dropped and degraded citations",
		whole: message(`{"type":"text","text":"Hi.","citations":[`+pages+`,`+unknown+`]}`, endTurn, ""),
		stream: events(block(`{"type":"text","text":""}`, `{"type":"text_delta","text":"Hi."}`,
			`{"type":"citations_delta","citation":`+pages+`}`, `{"type":"citations_delta","citation":`+unknown+`}`), endTurn, ""),
		want: []string{`"retrievedContext"`}, losses: []string{"degraded parts.0", "dropped parts.0"}},
	{name: "arguments other than an object",
		whole:  message(`{"type":"tool_use","id":"t","name":"f","input":"str"}`, toolUse, ""),
		stream: events(block(`{"type":"tool_use","id":"t","name":"f","input":"str"}`), toolUse, ""),
		want:   []string{`"finishReason":"MALFORMED_FUNCTION_CALL"`}, not: []string{"functionCall\""}, losses: []string{"dropped parts.0"}},
	{name: "tool call without a name",
		whole:  message(`{"type":"tool_use","id":"t","name":"","input":{"a":1}}`, endTurn, ""),
		stream: events(block(`{"type":"tool_use","id":"t","name":"","input":{}}`, `{"type":"input_json_delta","partial_json":"{\"a\":1}"}`), endTurn, ""),
		want:   []string{`"finishReason":"MALFORMED_FUNCTION_CALL"`}, not: []string{"functionCall\""}, losses: []string{"dropped parts.0"}},
	{name: "refusal with an explanation", whole: message(textBlock, refusal, ""), stream: events(block(textBlock), refusal, ""),
		want: []string{`"finishMessage":"EXPL"`}, losses: []string{"degraded stop", "hint stop"}},
	{name: "refusal without an explanation", whole: message(textBlock, plainly, ""), stream: events(block(textBlock), plainly, ""),
		want: []string{`"finishMessage":"The model declined to answer."`}, losses: []string{"degraded stop"}},
	{name: "service tier", whole: message(textBlock, endTurn, `,"service_tier":"priority"`), stream: events(block(textBlock), endTurn, `,"service_tier":"priority"`),
		want: []string{`"serviceTier":"priority"`}},
	{name: "default values", whole: message(textBlock, endTurn, `,"service_tier":"standard","inference_geo":"global","speed":"standard","server_tool_use":null`),
		stream: events(block(textBlock), endTurn, `,"service_tier":"standard","inference_geo":"global","speed":"standard"`),
		want:   []string{`"serviceTier":"standard"`}},
	{name: "extra members of usage", whole: message(textBlock, endTurn, `,"service_tier":"batch"`), stream: events(block(textBlock), endTurn, `,"speed":"fast"`), not: []string{"batch"},
		losses: []string{"hint usage"}},
	{name: "direct caller", whole: message(`{"type":"tool_use","id":"t","name":"f","input":{},"caller":{"type":"direct"}}`, toolUse, ""),
		stream: events(block(`{"type":"tool_use","id":"t","name":"f","input":{},"caller":{"type":"direct"}}`), toolUse, ""), want: []string{`"functionCall"`}},
	{name: "extra members of the message", whole: strings.Replace(message(textBlock, endTurn, ""), `"role"`, moreNews+`"role"`, 1),
		losses: []string{"dropped container", "hint context_management", "hint diagnostics"}},
	{name: "unknown event and delta",
		stream: events(block(`{"type":"text","text":"Hi."}`, `{"type":"odd_delta","a":1}`)+event("odd_event", `"a":1`), endTurn, ""),
		losses: []string{"hint odd_event", "hint parts.0"}},
}

// candidate returns a generateContent response, whole and as a stream.
func candidate(name, parts, members string, want, losses []string) finishedResponse {
	body := `{"candidates":[{"content":{"role":"model","parts":[` + parts + `]},"index":0` + members + `}],"usageMetadata":{"promptTokenCount":5},"modelVersion":"x","responseId":"r"}`
	return finishedResponse{name: name, whole: body, stream: "data: " + body + "\n\n", want: want, losses: losses}
}

func grounded(chunk, support string) string {
	return `,"finishReason":"STOP","groundingMetadata":{"groundingChunks":[` + chunk + `],"groundingSupports":[` + support + `]}`
}

const (
	web     = `{"web":{"uri":"https://a.example/","title":"A"}}`
	stop    = `,"finishReason":"STOP"`
	greeted = `{"text":"Größe ist da."}`
)

var ofGeneration = []finishedResponse{
	candidate("citation metadata", said2, stop+`,"citationMetadata":{"citationSources":[{"startIndex":0,"endIndex":3,"uri":"https://example.org/c","license":"mit"}]}`,
		nil, []string{"dropped citationMetadata"}),
	candidate("URL context metadata", said2, stop+`,"urlContextMetadata":{"urlMetadata":[{"retrievedUrl":"https://example.org/"}]}`,
		nil, []string{"dropped urlContextMetadata"}),
	candidate("likelihoods", said2, stop+`,"avgLogprobs":-0.5,"logprobsResult":{"chosenCandidates":[{"token":"Hi"}]}`,
		nil, []string{"dropped logprobsResult", "hint avgLogprobs"}),
	candidate("safety ratings and finish message", said2, stop+`,"finishMessage":"M","safetyRatings":[{"category":"C","probability":"LOW"}]`,
		nil, []string{"hint stop"}),
	candidate("filter with an explanation", said2, `,"finishReason":"SAFETY","finishMessage":"M"`,
		[]string{`"explanation":"M"`}, nil),
	candidate("continuation", said2, `,"finishReason":"CONTINUATION","continuationToken":"dG9rZW4="`,
		[]string{`"pause_turn"`}, []string{"dropped continuationToken"}),
	candidate("cited sources", greeted, grounded(web, `{"segment":{"startIndex":8,"endIndex":12,"text":"ist "},"groundingChunkIndices":[0]}`),
		[]string{`"url":"https://a.example/"`}, []string{"hint parts.0"}),
	candidate("citation of missing text", greeted, grounded(web, `{"segment":{"startIndex":7,"endIndex":11,"text":"ist "},"groundingChunkIndices":[0]}`),
		nil, []string{"dropped groundingMetadata"}),
	candidate("sources without cited text", greeted, grounded(web, ""), nil, []string{"dropped groundingMetadata"}),
	candidate("sources without links", greeted, grounded(`{"retrievedContext":{"uri":"gs://b/o","title":"T"}}`, `{"segment":{"endIndex":7},"groundingChunkIndices":[0]}`),
		nil, []string{"dropped groundingMetadata"}),
	candidate("search queries", greeted, stop+`,"groundingMetadata":{"webSearchQueries":["q"]}`, nil, []string{"hint groundingMetadata.webSearchQueries"}),
	candidate("arguments other than an object", `{"functionCall":{"name":"f","args":[1]}}`, stop, []string{`"max_tokens"`}, []string{"degraded stop", "dropped parts.0"}),
	{name: "blocked prompt", whole: `{"promptFeedback":{"blockReason":"SAFETY"},"usageMetadata":{"promptTokenCount":5}}`, stream: "data: {\"promptFeedback\":{\"blockReason\":\"SAFETY\"},\"usageMetadata\":{\"promptTokenCount\":5}}\n\n",
		want: []string{`"stop_reason":"refusal"`}, losses: []string{"hint stop"}},
	{name: "service tier", whole: `{"candidates":[{"content":{"parts":[{"text":"Hi."}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":1,"serviceTier":"priority","trafficType":"ON_DEMAND"}}`,
		want: []string{`"service_tier":"priority"`}},
}

const said2 = `{"text":"Hi."}`

// TestAnswersBetweenFormats checks that a loss of a response is reported at the
// same path whether the response is streamed or not, and that content that the
// client requested is not reported as a hint.
func TestAnswersBetweenFormats(t *testing.T) {
	eachMode(t, func(t *testing.T, s wireFormat, m mode) {
		for _, vendor := range s.others() {
			for _, a := range vendor.finished {
				t.Run(a.name, func(t *testing.T) { a.check(t, vendor, s, m) })
			}
		}
	})
}

// from returns an upstream that sends the response of a vendor: the stream if the client
// requests one, else the whole response.
func (a *finishedResponse) from(vendor wireFormat) upstream.Upstream {
	return upstream.Func(func(c context.Context, r *upstream.Request, w *upstream.Writer) error {
		if a.whole == "" || r.Stream && a.stream != "" {
			return formattest.Replay(vendor.reader(strings.NewReader(a.stream), content.Limits{})).Generate(c, r, w)
		}
		f, err := vendor.decode(a.whole, content.Limits{})
		if err != nil {
			return err
		}
		return w.Frame(f)
	})
}

func (a *finishedResponse) check(t *testing.T, vendor, s wireFormat, m mode) {
	var report *upstream.Report
	h := s.handler(a.from(vendor), upstream.HandlerOptions{OnDone: func(_ context.Context, r *upstream.Report) { report = r }})
	got := s.ask(t, h, m)
	if got.word != "" {
		t.Fatalf("%v\n%s", report.Err, got.body)
	}
	o := outcome{a.want, a.not, a.losses}
	if s.outcomes != nil {
		var ok bool
		if o, ok = s.outcomes[a.name]; !ok {
			t.Fatal("no outcome")
		}
	}
	for _, text := range o.want {
		if !strings.Contains(got.body, text) {
			t.Errorf("no %s in\n%s", text, got.body)
		}
	}
	for _, text := range o.not {
		if strings.Contains(got.body, text) {
			t.Errorf("%s in\n%s", text, got.body)
		}
	}
	var losses []string
	losses = append(losses, lossplaces.Names(report.Losses)...)
	slices.Sort(losses)
	if diff := cmp.Diff(o.losses, losses); diff != "" {
		t.Errorf("losses (-want +got):\n%s%v", diff, report.Losses)
	}
}
