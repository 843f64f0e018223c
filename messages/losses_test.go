package messages

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/lower"
	"github.com/polywire/polywire/internal/response"
	"github.com/polywire/polywire/internal/test/lossplaces"
	"github.com/polywire/polywire/internal/test/losstable"
	"github.com/polywire/polywire/upstream"
)

var (
	aliens    = &content.Extra{Format: "alien", JSON: `{"a":1}`}
	alienSign = content.Signature{Format: "alien", Data: "d"}
	said1     = &content.Text{Text: "t"}
)

// dialog returns a request whose turns alternate, beginning with the user.
func dialog(turns ...[]content.Part) *upstream.Request {
	n := &upstream.Request{}
	for i, p := range turns {
		role := content.RoleUser
		if i%2 == 1 {
			role = content.RoleAssistant
		}
		n.Turns = append(n.Turns, content.Turn{Role: role, Parts: p})
	}
	return n
}

func partsOf(p ...content.Part) []content.Part { return p }

// withAssistant returns a conversation with an assistant turn of the parts p.
func withAssistant(p ...content.Part) *upstream.Request {
	return dialog(partsOf(said1), p, partsOf(said1))
}

type lossCase struct {
	name string
	n    *upstream.Request
	want []string // "severity path"
}

func settingLosses() []lossCase {
	one, zero, half, hot, minus := int64(1), 0.0, 0.5, 1.5, int64(-1)
	with := func(change func(n *upstream.Request)) *upstream.Request {
		n := dialog(partsOf(said1))
		change(n)
		return n
	}
	tool := func(t ...content.Tool) *upstream.Request {
		return with(func(n *upstream.Request) { n.Tools = t })
	}
	choice := func(c content.ToolChoice, names ...string) *upstream.Request {
		return with(func(n *upstream.Request) {
			n.Choice = c
			for _, s := range names {
				n.Tools = append(n.Tools, content.Tool{Name: s})
			}
		})
	}
	think := func(t upstream.Thinking) *upstream.Request {
		return with(func(n *upstream.Request) { n.Thinking = t })
	}
	out := func(o upstream.Output) *upstream.Request {
		return with(func(n *upstream.Request) { n.Output = o })
	}
	json := content.Schema{JSON: `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`}
	search := content.Tool{Kind: "googleSearch", Format: "generatecontent", Raw: "{}"}
	return []lossCase{
		{"nothing", dialog(partsOf(said1)), nil},
		{"seed", with(func(n *upstream.Request) { n.Seed = &one }), []string{"dropped seed"}},
		{"penalties", with(func(n *upstream.Request) { n.PresencePenalty, n.FrequencyPenalty = &half, &half }),
			[]string{"dropped presence_penalty", "dropped frequency_penalty"}},
		{"no penalties", with(func(n *upstream.Request) { n.PresencePenalty, n.FrequencyPenalty = &zero, &zero }), nil},
		{"candidates", with(func(n *upstream.Request) { n.Candidates = 2 }), []string{"dropped candidates"}},
		{"one candidate", with(func(n *upstream.Request) { n.Candidates = 1 }), nil},
		{"image output", out(upstream.Output{Modalities: []string{"text", "image"}, AspectRatio: "1:1", ImageSize: "2K"}),
			[]string{"dropped output.aspect_ratio", "dropped output.image_size", "dropped output.modalities"}},
		{"hot", with(func(n *upstream.Request) { n.Temperature = &hot }), []string{"degraded temperature"}},
		{"invalid sampling parameters", with(func(n *upstream.Request) { n.TopP, n.TopK = &hot, &minus }), []string{"dropped top_p", "dropped top_k"}},
		{"blank stop sequence", with(func(n *upstream.Request) { n.StopSequences = []string{"a", "\n", ""} }), []string{"hint stop_sequences", "dropped stop_sequences"}},
		{"long user id", with(func(n *upstream.Request) { n.UserID = strings.Repeat("ü", 513) }), []string{"hint user_id"}},
		{"user", with(func(n *upstream.Request) { n.UserID = strings.Repeat("ü", 512) }), nil},
		{"tier", with(func(n *upstream.Request) { n.ServiceTier = "flex" }), []string{"hint service_tier"}},
		{"no tier", with(func(n *upstream.Request) { n.ServiceTier = "unspecified" }), nil},
		{"extra", with(func(n *upstream.Request) { n.Extra = aliens }), []string{"dropped extra.a"}},
		{"extra members with an effect", with(func(n *upstream.Request) {
			n.Extra = &content.Extra{Format: "generatecontent", JSON: `{"safetySettings":[{}],"cachedContent":"c","generationConfig":{"responseLogprobs":true}}`}
		}), []string{"degraded extra.safetySettings", "dropped extra.cachedContent", "dropped extra.generationConfig.responseLogprobs", "violation extra.cachedContent"}},
		{"extra members without an effect", with(func(n *upstream.Request) {
			n.Extra = &content.Extra{Format: "generatecontent", JSON: `{"labels":{"a":"b"}}`}
		}),
			[]string{"hint extra.labels"}},
		{"extra members with unusual names", with(func(n *upstream.Request) { n.Extra = &content.Extra{Format: "alien", JSON: `{"b":1,"a b":2,"c":3}`} }),
			[]string{"dropped extra.b", "dropped extra.c", "dropped extra"}},

		{"JSON without schema", out(upstream.Output{MediaType: "application/json"}), []string{"degraded output.media_type"}},
		{"enum output", out(upstream.Output{MediaType: "text/x.enum", Schema: json}), []string{"dropped output.media_type"}},
		{"enum of words", with(func(n *upstream.Request) {
			n.Output = upstream.Output{MediaType: "text/x.enum", Schema: content.Schema{JSON: `{"type":"STRING","enum":["a","b c"]}`, OpenAPI: true}}
			n.Turns[0].Parts = partsOf(&content.SearchResult{Source: "s", Title: "t", Parts: partsOf(said1), Citations: true})
		}), []string{"degraded output.media_type"}},
		{"enum of words with line breaks", out(upstream.Output{MediaType: "text/x.enum", Schema: content.Schema{JSON: `{"type":"string","enum":["a","b\nc"]}`}}),
			[]string{"dropped output.media_type"}},
		{"OpenAPI response schema", out(upstream.Output{MediaType: "application/json",
			Schema: content.Schema{JSON: `{"type":"STRING"}`, OpenAPI: true}}), nil},
		{"response schema with unsupported keywords", out(upstream.Output{MediaType: "application/json",
			Schema: content.Schema{JSON: `{"type":"STRING"}`}}), []string{"hint output.schema"}},
		{"response schema true", out(upstream.Output{MediaType: "application/json", Schema: content.Schema{JSON: "true"}}),
			[]string{"hint output.schema"}},
		{"response schema false", out(upstream.Output{MediaType: "application/json", Schema: content.Schema{JSON: "false"}}),
			[]string{"dropped output.schema"}},
		{"schema with bounds", out(upstream.Output{MediaType: "application/json",
			Schema: content.Schema{JSON: `{"type":"string","minLength":3}`}}), []string{"degraded output.schema.minLength"}},
		{"citations with a response schema", with(func(n *upstream.Request) {
			n.Output = upstream.Output{MediaType: "application/json", Schema: json}
			n.Turns[0].Parts = partsOf(&content.Document{Source: &content.PlainText{Text: "x"}, Citations: true},
				&content.SearchResult{Source: "s", Title: "t", Parts: partsOf(said1), Citations: true})
		}), []string{"degraded turns.0.parts.0.citations", "degraded turns.0.parts.1.citations"}},

		{"effort", think(upstream.Thinking{Effort: "xhigh"}), nil},
		{"minimal effort", think(upstream.Thinking{Effort: "minimal"}), []string{"degraded thinking.effort"}},
		{"unknown effort", think(upstream.Thinking{Effort: "odd"}), []string{"dropped thinking.effort"}},
		{"unknown thinking mode", think(upstream.Thinking{Mode: "odd"}), []string{"dropped thinking.mode"}},
		{"full display", think(upstream.Thinking{Mode: upstream.ThinkingAuto, Display: "full"}), []string{"degraded thinking.display"}},
		{"display without a mode", think(upstream.Thinking{Mode: upstream.ThinkingOff, Display: "summarized"}), []string{"hint thinking.display"}},
		{"display without thinking", think(upstream.Thinking{Mode: upstream.ThinkingOff, Display: "omitted"}), nil},
		{"omitted display without a mode", think(upstream.Thinking{Display: "omitted"}), nil},
		{"omitted display between tools", think(upstream.Thinking{Mode: upstream.ThinkingBetweenTools, Display: "omitted"}),
			[]string{"hint thinking.display"}},
		{"budget and display alone", think(upstream.Thinking{Budget: &one, Display: "full"}),
			[]string{"dropped thinking.budget", "hint thinking.display"}},

		{"validated", choice(content.ToolChoice{Mode: content.ChoiceValidated}, "a"), nil},
		{"validated, without a strict schema", with(func(n *upstream.Request) {
			n.Choice.Mode = content.ChoiceValidated
			n.Tools = []content.Tool{{Name: "a", Input: content.Schema{JSON: `{"type":"object","properties":{"n":{"type":"integer","minimum":1}}}`}}}
		}), []string{"degraded tools.0.input"}},
		{"unknown choice", choice(content.ToolChoice{Mode: "odd"}, "a"), []string{"dropped choice.mode"}},
		{"two names", choice(content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"a", "b"}}, "a", "b", "c"),
			[]string{"degraded choice.names"}},
		{"choices that do not limit a search", with(func(n *upstream.Request) {
			n.Tools, n.Choice.Mode = []content.Tool{search, {Name: "a"}, {Name: "b"}}, content.ChoiceAny
		}), []string{"degraded choice.mode", "degraded tools.0"}},
		{"no functions with a search", with(func(n *upstream.Request) {
			n.Tools, n.Choice.Mode = []content.Tool{search, {Name: "a"}}, content.ChoiceNone
		}), []string{"degraded choice.mode", "degraded tools.0"}},
		{"one name", choice(content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"a"}}, "a", "b"), nil},
		{"all names", choice(content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"a", "b"}}, "a", "b"), nil},
		{"validated without tools", choice(content.ToolChoice{Mode: content.ChoiceValidated}), []string{"hint choice.mode"}},
		{"no tools", choice(content.ToolChoice{Mode: content.ChoiceAny}), []string{"hint choice.mode"}},
		{"foreign tool", tool(content.Tool{Kind: "googleMaps", Format: "alien", Raw: "{}"}), []string{"dropped tools.0"}},
		{"replaced tools", tool(content.Tool{Kind: "googleSearch", Format: "alien", Raw: "{}"},
			content.Tool{Kind: "codeExecution", Format: "alien", Raw: "{}"}, content.Tool{Name: "web_fetch"},
			content.Tool{Kind: "urlContext", Format: "alien", Raw: "{}"}),
			[]string{"degraded tools.0", "degraded tools.1", "dropped tools.3"}},
		{"one tool twice", tool(search, search, content.Tool{Kind: "googleSearch", Format: "generatecontent", Raw: `{"timeRangeFilter":{}}`}),
			[]string{"degraded tools.0", "degraded tools.1", "degraded tools.2"}},
		{"tool with the name of a built-in tool", tool(search, content.Tool{Kind: "web_search_20250305", Format: Format, Name: "web_search", Raw: "{}"}),
			[]string{"degraded tools.0"}},
		{"tool", tool(content.Tool{Name: "n"}, content.Tool{Name: "m", Extra: aliens,
			Input: content.Schema{JSON: `{"type":"OBJECT"}`, OpenAPI: true}, Output: content.Schema{JSON: "{}"}}),
			[]string{"dropped tools.1.extra.a", "hint tools.1.output"}},
		{"schema with unsupported keywords", tool(content.Tool{Name: "n", Input: content.Schema{JSON: `{"type":"OBJECT","properties":{}}`}}),
			[]string{"hint tools.0.input"}},
		{"root alternatives", tool(content.Tool{Name: "n", Input: content.Schema{
			JSON: `{"anyOf":[{"type":"object","properties":{"a":{}}},{"type":"object","properties":{"b":{}}}]}`}}),
			[]string{"degraded tools.0.input.anyOf"}},
	}
}

func partLosses() []lossCase {
	jpeg := "/9j/4AAQSkZJRgABAQAA"
	img := func(s content.Source) *content.Image { return &content.Image{Source: s} }
	doc := func(kind string) *content.Document {
		return &content.Document{Source: &content.Base64{MediaType: kind, Data: "aGk="}}
	}
	carried := content.Signature{Format: Format, Data: envelope.EncodeThinking([]*content.Thinking{
		{Text: "why", Signature: content.Signature{Format: Format, Data: "sig"}}})}
	call := &content.ToolUse{ID: "i", Name: "n"}
	named := func(extra string) *content.Image {
		return img(&content.Base64{MediaType: "image/jpeg", Data: jpeg, Extra: &content.Extra{Format: "generatecontent", JSON: extra}})
	}
	return []lossCase{
		{"sound", dialog(partsOf(&content.Media{}, said1)), []string{"violation turns.0.parts.0"}},
		{"audio in a document", dialog(partsOf(&content.Document{Source: &content.Parts{Parts: partsOf(&content.Media{}, said1)}})),
			[]string{"violation turns.0.parts.0.source.parts.0"}},
		{"image types", dialog(partsOf(img(&content.Base64{MediaType: "image/bmp", Data: "aGk="}), img(&content.Base64{MediaType: "image/png", Data: jpeg}))),
			[]string{"hint turns.0.parts.1.source.media_type", "violation turns.0.parts.0.source.media_type"}},
		{"document types", dialog(partsOf(doc("application/msword"), doc("text/csv"), doc("text/plain"), doc("application/pdf"),
			&content.Document{Source: &content.PlainText{Text: "x", MediaType: "text/html"}}, doc("application/x-python-code"))),
			[]string{"hint turns.0.parts.1.source.media_type", "hint turns.0.parts.2.source",
				"hint turns.0.parts.4.source.media_type", "hint turns.0.parts.5.source.media_type", "violation turns.0.parts.0.source.media_type"}},
		{"long title", dialog(partsOf(&content.Document{Source: &content.PlainText{Text: "x"}, Title: strings.Repeat("t", 501)})),
			[]string{"hint turns.0.parts.0.title"}},
		{"media types of URLs", dialog(partsOf(img(&content.URL{URL: "u", MediaType: "image/png"}),
			&content.Document{Source: &content.File{ID: "f", MediaType: "application/pdf"}})),
			[]string{"hint turns.0.parts.0.source.media_type", "hint turns.0.parts.1.source.media_type"}},
		{"image of the assistant", withAssistant(said1, &content.Image{Source: &content.File{ID: "f"}, Signature: alienSign}),
			[]string{"hint turns.1.parts.1.signature", "degraded turns.1.parts.1"}},
		{"image of the assistant in the last turn", dialog(partsOf(said1), partsOf(said1, img(&content.File{ID: "f"}))),
			[]string{"dropped turns.1.parts.1"}},
		{"signatures", withAssistant(&content.Text{Text: "t", Signature: alienSign, Extra: aliens}),
			[]string{"hint turns.1.parts.0.extra", "hint turns.1.parts.0.signature"}},
		{"thinking of another vendor", withAssistant(&content.Thinking{Text: "t", Signature: alienSign}, &content.Thinking{Redacted: alienSign},
			&content.Thinking{Text: "unsigned"}, said1),
			[]string{"hint turns.1.parts.0", "hint turns.1.parts.1", "hint turns.1.parts.2"}},
		{"carried thinking", withAssistant(&content.Thinking{Text: "wh"}, &content.Thinking{Text: "y"},
			&content.Text{Text: "t", Signature: carried}), nil},
		{"carried thinking at the end of a turn", withAssistant(&content.Text{Signature: carried}), []string{"hint turns.1"}},
		{"damaged state", withAssistant(&content.Text{Text: "t", Signature: content.Signature{Format: Format, Data: "odd"}}),
			[]string{"dropped turns.1.parts.0.signature"}},
		{"foreign parts", withAssistant(&content.ServerToolUse{Format: "alien"}, &content.ServerToolResult{Format: "alien"},
			&content.Unknown{Format: "alien"}, said1),
			[]string{"dropped turns.1.parts.0", "dropped turns.1.parts.1", "dropped turns.1.parts.2"}},
		{"citations", withAssistant(&content.Text{Text: "t", Citations: []content.Citation{{Kind: content.CiteChars, Text: "c"},
			{Kind: content.CiteWeb, URL: "u"}, {Kind: "odd", Extra: aliens}}}),
			[]string{"hint turns.1.parts.0.citations.1", "hint turns.1.parts.0.citations.2", "hint turns.1.parts.0.citations.2.extra"}},
		{"object", dialog(partsOf(said1), partsOf(call), partsOf(&content.ToolResult{ID: "i", Object: `{"a":1}`})), nil},
		{"names of files", dialog(partsOf(said1), partsOf(call), partsOf(&content.ToolResult{ID: "i", Object: `{"$ref":"f"}`, Parts: partsOf(
			named(`{"displayName":"f"}`), named(`{"displayName":"f","odd":1}`), named(`{"odd":1}`))})),
			[]string{"hint turns.2.parts.0.parts.1.source.extra", "hint turns.2.parts.0.parts.2.source.extra"}},
		{"names without a reference", dialog(partsOf(said1), partsOf(call), partsOf(&content.ToolResult{ID: "i", Object: `{"a":"f"}`,
			Parts: partsOf(named(`{"displayName":"f"}`))})), []string{"hint turns.2.parts.0.parts.0.source.extra"}},
		{"audio in a result", dialog(partsOf(said1), partsOf(call), partsOf(&content.ToolResult{ID: "i", Parts: partsOf(said1, &content.Media{})})),
			[]string{"violation turns.2.parts.0.parts.1"}},
		{"late result", dialog(partsOf(said1), partsOf(call), partsOf(said1, &content.ToolResult{ID: "i"})), []string{"hint turns.2.parts.1"}},
		{"no result", dialog(partsOf(said1), partsOf(said1, call), partsOf(said1)), []string{"degraded turns.1.parts.1"}},
		{"no call", dialog(partsOf(&content.ToolResult{ID: "i", Parts: partsOf(said1)})), []string{"degraded turns.0.parts.0"}},
		{"empty texts", dialog(partsOf(&content.Text{}, said1, &content.Text{Text: " \n", Cache: &content.Cache{}})),
			[]string{"hint turns.0.parts.0", "hint turns.0.parts.2", "hint turns.0.parts.2.cache"}},
		{"empty turn", dialog(partsOf(said1), partsOf(said1), nil), []string{"hint turns.2", "degraded turns.2"}},
		{"white space at the end", dialog(partsOf(said1), partsOf(&content.Text{Text: "So \n"})), []string{"hint turns.1"}},
	}
}

func turnLosses() []lossCase {
	in := func(roles string, parts ...content.Part) *upstream.Request {
		n := &upstream.Request{}
		for i, r := range strings.Fields(roles) {
			role := map[string]content.Role{"u": content.RoleUser, "a": content.RoleAssistant, "s": content.RoleSystem}[r]
			p := content.Part(said1)
			if i < len(parts) && parts[i] != nil {
				p = parts[i]
			}
			n.Turns = append(n.Turns, content.Turn{Role: role, Parts: partsOf(p)})
		}
		return n
	}
	call := func(id string) content.Part { return &content.ToolUse{ID: id, Name: "n"} }
	result := func(id string) content.Part { return &content.ToolResult{ID: id} }
	return []lossCase{
		{"system turns at accepted places", in("u s a u s"), nil},
		{"system turn at another place", in("u a s u"), []string{"degraded turns.2"}},
		{"system turn before the conversation", in("s u"), []string{"hint turns.0"}},
		{"assistant turn first", in("a u"), nil},
		{"assistant turn with parts of another vendor first", in("a u", &content.ServerToolUse{Format: "alien"}), []string{"dropped turns.0.parts.0"}},
		{"split texts", in("u a a u u"), nil},
		{"split calls", in("u a a u u", nil, call("1"), call("2"), result("2"), result("1")),
			[]string{"hint turns.2"}},
		{"files in system text", &upstream.Request{System: partsOf(said1, &content.Image{Source: &content.File{ID: "f"}}, &content.Media{}),
			Turns: in("u").Turns}, []string{"degraded system.1", "violation system.2"}},
	}
}

// TestRequestFromUpstreamLosses checks the path and severity of each loss. Content without
// which a response would be wrong is a violation; the losses are complete even then.
func TestRequestFromUpstreamLosses(t *testing.T) {
	for _, tt := range lossCases() {
		t.Run(tt.name, func(t *testing.T) {
			before := tt.n.Clone()
			r, list, err := RequestFromUpstream(tt.n)
			var got []string
			got = append(got, lossplaces.Names(list)...)
			violations, _ := content.Violations(err)
			for _, e := range violations {
				got = append(got, "violation "+e.Path)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, tt.n); diff != "" {
				t.Errorf("the source was changed (-before +after):\n%s", diff)
			}
			if _, err := r.AppendJSON(nil); err != nil {
				t.Errorf("the converted request cannot be encoded: %v", err)
			}
		})
	}
}

func lossCases() []lossCase {
	return slices.Concat(settingLosses(), partLosses(), turnLosses())
}

// readLossesOf returns the losses of a stream.
func readLossesOf(t *testing.T, stream string) (lost []content.Loss) {
	t.Helper()
	events, err := decodeStream(strings.NewReader(stream))
	if err != io.EOF {
		t.Fatalf("%v in\n%s", err, stream)
	}
	for _, e := range events {
		if e.Kind == upstream.EventLoss {
			lost = append(lost, *e.Loss)
		}
	}
	return lost
}

// Each loss of a response that is read is in the table and reported once, and each rule of the
// table is tested.
func TestReadLosses(t *testing.T) {
	many := new(strings.Builder)
	for i := range 200 {
		fmt.Fprintf(many, `"n%d":1,`, i)
	}
	twice := line(lineText0) + line(lineText0)
	call := func(input string) string {
		return strings.NewReplacer(line(lineOpen1), line(strings.Replace(lineOpen1, `"input":{}`, `"input":`+input, 1)), line(lineIn1), "").Replace(changed())
	}
	met := map[*loss.Rule]bool{}
	for name, tt := range map[string]struct {
		stream string
		rule   *loss.Rule
		path   string
	}{
		"not Unicode":               {changed(line(lineText0), strings.ReplaceAll(twice, `"hi"`, `"h\ud83d"`)), codec.ResponseNotUnicode, "parts"},
		"no reason":                 {changed(`"delta":{"stop_reason":"tool_use","stop_sequence":null},`, ""), codec.ResponseNoReason, "stop"},
		"arguments as a string":     {call(`"{\"a\":1}"`), codec.ResponseStringInput, "parts.1"},
		"member of the wrong type":  {changed(`"name":"f"`, `"name":"f","cache_control":5`), codec.ResponseWrongType, "parts.1"},
		"many counts":               {changed(`"usage":{`, `"usage":{`+many.String()), codec.ResponseManyCounts, "usage"},
		"message_stop with members": {changed(line(lineEnd), line(`message_stop {"type":"message_stop","a":1}`)), lossStopMembers, "message_stop"},
		"events without names":      {changed(line(lineText0), "data: {\"a\":1}\n\n"+line(lineText0)+"data: {\"a\":2}\n\n"), lossMisplacedEvent, "events"},
	} {
		want := []content.Loss{tt.rule.At(tt.path)}
		if diff := cmp.Diff(want, readLossesOf(t, tt.stream)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		met[tt.rule] = true
	}
	for _, r := range readLosses {
		if !met[r] {
			t.Errorf("no test reports: %s", r.Reason)
		}
	}
}

// TestLossTable checks the tables that the page of losses is made from.
func TestLossTable(t *testing.T) {
	losstable.Check(t, "messages-answer", responseLosses...)
	losstable.Check(t, "messages-front", lower.HeaderNotSent, lower.RequiredHeaderNotSent)
	losstable.Check(t, "messages-read", readLosses...)
}

func TestRequestPath(t *testing.T) {
	r := new(Request)
	for neutral, want := range map[string]string{
		"turns.3.parts.1":               "messages.3.content.1",
		"turns.3.parts.1.parts.0":       "messages.3.content.1.content.0",
		"system.0":                      "system.0",
		"tools.2.input":                 "tools.2.input_schema",
		"thinking.budget":               "thinking.budget_tokens",
		"user_id":                       "metadata.user_id",
		"top_k":                         "top_k",
		"parts.2":                       "content.2",
		"turns.0.parts.1.source.part_x": "messages.0.content.1.source.part_x",

		// The arguments of a tool call are not a schema. Names inside a schema are the client's.
		"turns.0.parts.1.input":              "messages.0.content.1.input",
		"tools.2.input.properties.parts.not": "tools.2.input_schema.properties.parts.not",
		"output.schema.properties.cache":     "output_config.format.schema.properties.cache",
		"output":                             "output_config",
		"turns.3.parts.1.parts.0.cache":      "messages.3.content.1.content.0.cache_control",
		"system.0.cache":                     "system.0.cache_control",
		"tools.1.cache":                      "tools.1.cache_control",
		"system.0.cache.extra.scope":         "system.0.cache_control.scope",
		"choice.names":                       "tool_choice.name",
		"choice.no_parallel":                 "tool_choice.disable_parallel_tool_use",
		"extra.thread":                       "thread",
		"extra":                              "extra",
		"turns.3.extra":                      "messages.3",
		"turns.3.extra.output_config":        "messages.3.output_config",
		"tools.0.extra.allowed_callers":      "tools.0.allowed_callers",
		"parts.2.citations.0":                "content.2.citations.0",
		"candidates.1.parts.0":               "candidates.1.content.0",
		"stop":                               "stop_reason",
		"thinking.display":                   "thinking.display",
	} {
		if got := r.Path(neutral); got != want {
			t.Errorf("%s: got %s, want %s", neutral, got, want)
		}
	}
}

// responseLosses lists the losses of responses that are sent.
var responseLosses = []*loss.Rule{
	envelope.UnknownFormat, envelope.TooLarge, envelope.TooLate, envelope.TwoVendors, lossTextSignature, response.LossUncarriedState, response.LossFinishedThinking, response.LossHiddenThinking,
	lossResponseImage, lossResponseDocument, lossResponseMedia, lossResponseTool, lossResponsePart, lossUnreturnable, lossServerResult, response.LossCallName, response.LossCallArguments, response.LossSentCall, response.LossCutCall, response.LossServerArguments, response.LossFreeform, response.LossNamespace, response.LossRefusal, response.LossCitedPlace, response.LossCallID, lossResponseCitation, lossEmptyText,
	lossResponseCandidates, lossStopReason, response.LossStopDetails, lossCounts,
	lossResponseCache, lossEventMembers, response.LossManyMembers, lossUnknownEvent, lossUnknownDelta,
	foreign.SourcesLoss, foreign.FilesOfCode, foreign.EntryPointLoss, foreign.QueriesLoss, foreign.LogprobsLoss, foreign.ResumeLoss, foreign.ResponseLoss,
}

// readLosses lists the losses of responses that are read.
var readLosses = []*loss.Rule{lossStopMembers, lossMisplacedEvent,
	codec.ResponseNotUnicode, codec.ResponseNoReason, codec.ResponseStringInput, codec.ResponseWrongType, codec.ResponseManyCounts}
