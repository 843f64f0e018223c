package generatecontent

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/internal/test/race"
	"github.com/polywire/polywire/upstream"
)

// answerFile returns an example response in testdata/decode.
func answerFile(t testing.TB, name string) string { return formattest.File(t, "testdata/decode/"+name) }

// readFrames returns the events of each frame of a stream, and the final error.
func readFrames(src io.Reader) (frames [][]upstream.Event, err error) {
	r := NewStreamReader(src, nil)
	for {
		f, err := r.Next()
		if err != nil {
			return frames, err
		}
		frames = append(frames, slices.Clone(f.Events))
	}
}

// readEvents returns the events of all frames of a stream.
func readEvents(src io.Reader) ([]upstream.Event, error) {
	frames, err := readFrames(src)
	return slices.Concat(frames...), err
}

// The following functions return the events that tests expect.

type list = []upstream.Event

func start(id, model, extra string) upstream.Event {
	return upstream.Event{Kind: upstream.EventStart, Start: &upstream.Start{ID: id, Model: model, Extra: extraWith(extra)}}
}

func usage(u content.Usage) upstream.Event {
	return upstream.Event{Kind: upstream.EventUsage, Usage: &u}
}

func opening(n int, p content.Part) upstream.Event {
	return upstream.Event{Kind: upstream.EventOpen, Block: n, Part: p}
}

func closing(n int) upstream.Event { return upstream.Event{Kind: upstream.EventClose, Block: n} }

// wholePart returns the events of a part that opens complete. Texts have a separate event;
// see upstream.Event.
func wholePart(n int, p content.Part) list {
	text := ""
	switch q := p.(type) {
	case *content.Text:
		c := *q
		text, c.Text, p = c.Text, "", &c
	case *content.Thinking:
		c := *q
		text, c.Text, p = c.Text, "", &c
	}
	if text == "" {
		return list{opening(n, p), closing(n)}
	}
	return list{opening(n, p), words(n, text), closing(n)}
}

func words(n int, s string) upstream.Event {
	return upstream.Event{Kind: upstream.EventText, Block: n, Text: s}
}

func signing(n int, data string) upstream.Event {
	s := vendorMark(data)
	return upstream.Event{Kind: upstream.EventSignature, Block: n, Signature: &s}
}

func stopping(r content.StopReason, word, details string) upstream.Event {
	return upstream.Event{Kind: upstream.EventStop, Stop: &upstream.Stop{
		Reason: r, Format: Format, RawReason: word, Details: details, Message: gjson.Get(details, "finishMessage").Str}}
}

func besides(json string) upstream.Event {
	return upstream.Event{Kind: upstream.EventExtra, Extra: extraWith(json)}
}

func losing(path string, s content.Severity, reason string) upstream.Event {
	return upstream.Event{Kind: upstream.EventLoss, Loss: &content.Loss{Path: path, Severity: s, Reason: reason}}
}

func extraWith(json string) *content.Extra {
	if json == "" {
		return nil
	}
	return &content.Extra{Format: Format, JSON: json}
}

func vendorMark(data string) content.Signature { return content.Signature{Format: Format, Data: data} }

func split(of, modality string, n int64) []content.ModalityCount {
	return []content.ModalityCount{{Kind: of, Modality: modality, Tokens: n}}
}

// membersOf returns an object with some members of the first candidate.
func membersOf(body string, names ...string) string {
	var b strings.Builder
	for i, name := range names {
		b.WriteString(map[bool]string{true: "{", false: ","}[i == 0] + `"` + name + `":` + gjson.Get(body, "candidates.0."+name).Raw)
	}
	return b.String() + "}"
}

func TestDecodeResponse(t *testing.T) {
	grounded, scored, fetched := answerFile(t, "A18.json"), answerFile(t, "A21.json"), answerFile(t, "A20.json")
	end := stopping(content.StopEnd, "STOP", "")
	const flash, old, image = "gemini-3.8-flash", "gemini-2.5-flash", "gemini-3.1-flash-image"
	tests := []struct {
		file string
		head list
		body list
		tail list
	}{
		{"A01", list{start("r-0001", flash, ""), usage(content.Usage{Input: 7, Output: 3, Modalities: split("prompt", "text", 7)})},
			wholePart(0, &content.Text{Text: "The Loire."}), list{end}},
		{"A06", list{start("r-0006", flash, ""), usage(content.Usage{Input: 61, Output: 30, Thinking: 44})},
			slices.Concat(
				wholePart(0, &content.ToolUse{ID: "fc-1", Name: "get_weather", Input: `{"city":"Lima","unit":"C"}`, Signature: vendorMark("CiQBc2lnLWE=")}),
				wholePart(1, &content.ToolUse{ID: "fc-2", Name: "get_weather", Input: `{"city":"Quito","unit":"C"}`})),
			list{stopping(content.StopToolUse, "STOP", "")}},
		{"A13", list{start("r-0013", flash, ""), usage(content.Usage{Input: 9, Output: 6, Thinking: 25, Extra: extraWith(`{"serviceTier":"standard"}`)})},
			wholePart(0, &content.Text{Text: `{"stars":4}`, Signature: vendorMark("CiQBc2lnLWM=")}), list{end}},
		{"A14", list{start("r-0014", old, ""), usage(content.Usage{Input: 6, Output: 3, Thinking: 58})},
			slices.Concat(wholePart(0, &content.Thinking{Text: "Split 23 into 20 and 3."}), wholePart(1, &content.Text{Text: "391"})), list{end}},
		{"A15", list{start("r-0015", image, ""), usage(content.Usage{Input: 8, Output: 1295, Modalities: split("output", "image", 1290)})},
			slices.Concat(wholePart(0, &content.Text{Text: "Here is the boat."}), wholePart(1, &content.Image{
				Source: &content.Base64{MediaType: "image/jpeg", Data: "/9j/4AAQSkZJRg=="}, Signature: vendorMark("CiQBc2lnLWQ=")})), list{end}},
		{"A15b", list{start("r-015b", image, ""), usage(content.Usage{Input: 8})}, nil,
			list{stopping(content.StopSafety, "IMAGE_SAFETY", `{"finishMessage":"The image was filtered."}`)}},
		{"A16", list{start("r-0016", "gemini-2.5-flash-preview-tts", ""), usage(content.Usage{Input: 9, Output: 40, Modalities: split("output", "audio", 40)})},
			wholePart(0, &content.Media{Source: &content.Base64{MediaType: "audio/L16;codec=pcm;rate=24000", Data: "AAABAAIAAwA="}}), list{end}},
		{"A17", list{start("r-0017", flash, ""), usage(content.Usage{Input: 80, ToolPrompt: 510, Output: 22, Thinking: 70})},
			slices.Concat(
				wholePart(0, &content.ServerToolUse{Format: Format, Kind: "toolCall", ID: "t1", Name: "GOOGLE_SEARCH_WEB", Input: `{"queries":["match result"]}`, Signature: vendorMark("CiQBc2lnLWU=")}),
				wholePart(1, &content.ServerToolResult{Format: Format, Kind: "toolResponse", ID: "t1", Content: `{"toolType":"GOOGLE_SEARCH_WEB","response":{"search_suggestions":"<div></div>"}}`}),
				wholePart(2, &content.ToolUse{ID: "fc-3", Name: "save_note", Input: `{"t":"Team A 2:1"}`, Signature: vendorMark("CiQBc2lnLWY=")})),
			list{stopping(content.StopToolUse, "STOP", "")}},
		{"A18", list{start("r-0018", old, ""), usage(content.Usage{Input: 10, Output: 9})},
			list{
				{Kind: upstream.EventOpen, Part: &content.Text{}}, {Kind: upstream.EventText, Text: "The bridge opened in 1937."},
				{Kind: upstream.EventCitation, Citation: &content.Citation{Kind: content.CiteWeb, URL: "https://example.org/bridge", Title: "example.org",
					Extra: extraWith(`{"segment":{"startIndex":0,"endIndex":26}}`)}},
				{Kind: upstream.EventClose},
			}, list{besides(membersOf(grounded, "groundingMetadata")), end}},
		{"A19", list{start("r-0019", old, ""), usage(content.Usage{Input: 12, ToolPrompt: 31, Output: 20})},
			slices.Concat(
				wholePart(0, &content.ServerToolUse{Format: Format, Kind: "executableCode", ID: "e1", Name: "codeExecution", Input: `{"language":"PYTHON","code":"print(sum(range(5)))"}`}),
				wholePart(1, &content.ServerToolResult{Format: Format, Kind: "codeExecutionResult", ID: "e1", Content: `{"outcome":"OUTCOME_OK","output":"10\n"}`}),
				wholePart(2, &content.Text{Text: "The sum is 10."})), list{end}},
		{"A20", list{start("r-0020", old, ""), usage(content.Usage{Input: 11, ToolPrompt: 900, Output: 7})},
			wholePart(0, &content.Text{Text: "The page lists three rules."}), list{besides(membersOf(fetched, "urlContextMetadata")), end}},
		{"A21", list{start("r-0021", old, ""), besides(membersOf(scored, "logprobsResult", "avgLogprobs"))},
			wholePart(0, &content.Text{Text: "Yes"}), list{besides(membersOf(scored, "citationMetadata")), end}},
		{"A22", list{start("r-0022", flash, ""), usage(content.Usage{Input: 14})}, nil,
			list{{Kind: upstream.EventStop, Stop: &upstream.Stop{Reason: content.StopSafety, Format: Format,
				RawReason: "PROHIBITED_CONTENT", Details: `{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"}}`}}}},
		{"A23", list{start("r-0023", flash, ""), usage(content.Usage{Input: 14})}, nil,
			list{stopping(content.StopSafety, "SAFETY", `{"safetyRatings":[{"category":"HARM_CATEGORY_DANGEROUS_CONTENT","probability":"HIGH","blocked":true}]}`)}},
		{"A24", list{start("r-0024", flash, ""), usage(content.Usage{Input: 20, Thinking: 60})}, nil, list{stopping(content.StopMaxTokens, "MAX_TOKENS", "")}},
		{"A25", list{start("r-0025", flash, ""), usage(content.Usage{Input: 20, Output: 65536})},
			wholePart(0, &content.Text{Text: "Chapter 1 …"}), list{besides(`{"continuationToken":"dG9rZW4tMQ=="}`), stopping(content.StopPause, "CONTINUATION", "")}},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			body := answerFile(t, tt.file+".json")
			f, err := DecodeFrame(body, content.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if f.Format != Format || f.Data != body || !f.Complete || f.Name != "" {
				t.Errorf("the frame is %q %q, whole %v", f.Format, f.Data, f.Complete)
			}
			if diff := cmp.Diff(slices.Concat(tt.head, tt.body, tt.tail), f.Events); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}

// A frame is an expected frame of a stream.
type frame struct {
	odd    bool // it deviates from the format
	events list
}

func TestStreamReader(t *testing.T) {
	const flash = "gemini-3.8-flash"
	tests := []struct {
		file string
		want []frame
	}{
		{"S01.sse", []frame{
			{events: list{start("r-s01", flash, ""), usage(content.Usage{Input: 5, Output: 1}), opening(0, &content.Text{}), words(0, "Once")}},
			{events: list{words(0, " upon a time."), closing(0), stopping(content.StopEnd, "STOP", ""), usage(content.Usage{Input: 5, Output: 5})}}}},
		{"S02.sse", []frame{
			{events: list{start("r-s02", flash, ""), opening(0, &content.Thinking{}), words(0, "I should look it up.")}},
			{events: list{closing(0), opening(1, &content.ToolUse{ID: "fc-7", Name: "get_weather", Input: `{"city":"Lima"}`, Signature: vendorMark("CiQBc2lnLWc=")}), closing(1)}},
			{events: list{stopping(content.StopToolUse, "STOP", ""), usage(content.Usage{Input: 60, Output: 15, Thinking: 40})}}}},
		{"S03.sse", []frame{
			{events: list{start("r-s03", flash, ""), opening(0, &content.Text{}), words(0, "391")}},
			{events: list{signing(0, "CiQBc2lnLWg="), closing(0), stopping(content.StopEnd, "STOP", ""), usage(content.Usage{Input: 6, Output: 3, Thinking: 50})}}}},
		{"S04.sse", []frame{
			{events: list{start("r-s04", "gemini-3.1-flash-image", ""), opening(0, &content.Image{Source: &content.Base64{MediaType: "image/png", Data: "iVBORw0KGgo="}}), closing(0)}},
			{events: list{stopping(content.StopEnd, "STOP", ""), usage(content.Usage{Input: 8, Output: 1290})}}}},
		{"S05.sse", []frame{
			{events: list{start("r-s05", flash, ""), usage(content.Usage{Input: 12}), {Kind: upstream.EventStop, Stop: &upstream.Stop{
				Reason: content.StopSafety, Format: Format, RawReason: "SAFETY", Details: `{"promptFeedback":{"blockReason":"SAFETY"}}`}}}}}},
		{"S07.array", []frame{
			{events: list{start("r-s07", flash, ""), opening(0, &content.Text{}), words(0, "Once")}},
			{events: list{words(0, " more."), closing(0), stopping(content.StopEnd, "STOP", ""), usage(content.Usage{Input: 5, Output: 3})}}}},
		{"S08.sse", []frame{
			{events: list{start("r-s08", "", `{"createTime":"2026-11-21T09:00:00.120Z"}`), opening(0, &content.ToolUse{Name: "get_weather", Signature: vendorMark("CiQBc2lnLWk=")}),
				{Kind: upstream.EventInput, Text: `{"city":"Lima"}`}, closing(0), stopping(content.StopToolUse, "STOP", ""),
				usage(content.Usage{Input: 36, Output: 12, Extra: extraWith(`{"trafficType":"ON_DEMAND"}`)})}}}},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			stream := answerFile(t, tt.file)
			r := NewStreamReader(strings.NewReader(stream), nil)
			for i, want := range tt.want {
				f, err := r.Next()
				if err != nil {
					t.Fatalf("frame %d: %v", i, err)
				}
				if diff := cmp.Diff(want.events, f.Events); diff != "" {
					t.Errorf("frame %d (-want +got):\n%s", i, diff)
				}
				if odd := f.Format != Format; odd != want.odd || f.Complete || f.Name != "" || !gjson.Valid(f.Data) || !strings.Contains(stream, f.Data) {
					t.Errorf("frame %d: format %q, data %q", i, f.Format, f.Data)
				}
			}
			for range 2 {
				if f, err := r.Next(); err != io.EOF {
					t.Errorf("behind the last: %v, %v", f, err)
				}
			}
		})
	}
}

// TestWrongTypes checks that a response, or a chunk of one, is an error if a
// required member has the wrong type.
func TestWrongTypes(t *testing.T) {
	const (
		body = `{"candidates":[{"content":{"role":"model","parts":[{"text":"a"},{"functionCall":{"name":"f","args":{}}},` +
			`{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgo="}}]},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":3}}`
		blocked = `{"promptFeedback":{"blockReason":"SAFETY"}}`
		parts   = "candidates.0.content.parts"
	)
	list := []formattest.Needed{
		{body, "", "object"}, {body, "candidates", "null array object"}, {body, "candidates.0", "object"},
		{body, "candidates.0.content", "null object"}, {body, "candidates.0.content.role", "null string"},
		{body, parts, "null array object"}, {body, parts + ".0", "object"}, {body, parts + ".0.text", "null string"},
		{body, parts + ".1.functionCall", "null object"}, {body, parts + ".1.functionCall.name", "null string"},
		{body, parts + ".2.inlineData", "null object"},
		{body, "candidates.0.finishReason", "null string number"}, {body, "usageMetadata", "null object"},
		{blocked, "promptFeedback", "null object"},
	}
	for _, s := range []string{body, blocked} {
		if _, err := DecodeFrame(s, content.Limits{}); err != nil {
			t.Fatal(err)
		}
	}
	formattest.WrongKinds(t, list, func(t *testing.T, _ formattest.Needed, broken string) {
		_, err := DecodeFrame(broken, content.Limits{})
		check := func(form string, err error) {
			t.Helper()
			var e *upstream.Error
			if err == io.EOF || !errors.As(err, &e) || e.Code != upstream.CodeBadGateway {
				t.Errorf("%s: got the error %v of %s", form, err, broken)
			}
		}
		check("whole", err)
		const last = `{"candidates":[{"finishReason":"STOP"}]}`
		_, err = decodeOutcome("data: " + broken + "\n\ndata: " + last + "\n\n")
		check("events", err)
		_, err = decodeOutcome("[" + broken + "," + last + "]")
		check("array", err)
	})
}

// TestFunctionCallMessage checks that the vendor's finishMessage for tool calls is omitted,
// and that every other finishMessage is kept.
func TestFunctionCallMessage(t *testing.T) {
	const call, text = `{"functionCall":{"name":"f","args":{}}}`, `{"text":"a"}`
	for _, tt := range []struct{ part, reason, members, message, details string }{
		{call, "STOP", `,"finishMessage":"Model generated function call(s)."`, "", ""},
		{call, "STOP", `,"finishMessage":"Model generated function call(s).","safetyRatings":[1]`, "", `{"safetyRatings":[1]}`},
		{call, "STOP", `,"finishMessage":"Enough."`, "Enough.", `{"finishMessage":"Enough."}`},
		{text, "STOP", `,"finishMessage":"Model generated function call(s)."`, "Model generated function call(s).", `{"finishMessage":"Model generated function call(s)."}`},
		{call, "MAX_TOKENS", `,"finishMessage":"Model generated function call(s)."`, "Model generated function call(s).", `{"finishMessage":"Model generated function call(s)."}`},
	} {
		f, err := DecodeFrame(fmt.Sprintf(`{"candidates":[{"content":{"role":"model","parts":[%s]},"finishReason":%q%s,"index":0}]}`, tt.part, tt.reason, tt.members), content.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		var got *upstream.Stop
		for _, e := range f.Events {
			if e.Kind == upstream.EventStop {
				got = e.Stop
			}
		}
		if got == nil || got.Message != tt.message || got.Details != tt.details {
			t.Errorf("%s%s: got %+v", tt.reason, tt.members, got)
		}
	}
}

// TestStreamReaderStart checks that reading a response allocates a few times besides its
// texts, for any number of chunks.
func TestStreamReaderStart(t *testing.T) {
	if race.Enabled {
		t.Skip("allocations cannot be counted under the race detector")
	}
	for name, usage := range map[string]func(int) string{"no usage": noUsage, "running usage": running} {
		for _, pieces := range []int{30, 300} {
			events, _ := chunks(pieces, usage)
			stream := strings.Join(events, "")
			if n := testing.AllocsPerRun(20, func() { drain(t, stream) }); n > 36 {
				t.Errorf("%s: %d pieces took %v allocations", name, pieces, n)
			} else {
				t.Logf("%s: %d pieces took %v allocations", name, pieces, n)
			}
		}
	}
}
