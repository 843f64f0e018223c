package messages

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/upstream"
)

var (
	aliens    = &content.Extra{Format: "alien", JSON: `{"a":1}`}
	alienSign = content.Signature{Format: "alien", Data: "d"}
	said1     = &content.Text{Text: "t"}
)

// dialog returns a request of turns that begin with the user and take turns.
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

func some(p ...content.Part) []content.Part { return p }

// amid returns a conversation in which the assistant has said p.
func amid(p ...content.Part) *upstream.Request {
	return dialog(some(said1), p, some(said1))
}

type lossCase struct {
	name string
	n    *upstream.Request
	want []string // "severity path"
}

func settingLosses() []lossCase {
	one, zero, half, hot, minus := int64(1), 0.0, 0.5, 1.5, int64(-1)
	with := func(change func(n *upstream.Request)) *upstream.Request {
		n := dialog(some(said1))
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
		{"nothing", dialog(some(said1)), nil},
		{"seed", with(func(n *upstream.Request) { n.Seed = &one }), []string{"dropped seed"}},
		{"penalties", with(func(n *upstream.Request) { n.PresencePenalty, n.FrequencyPenalty = &half, &half }),
			[]string{"dropped presence_penalty", "dropped frequency_penalty"}},
		{"no penalties", with(func(n *upstream.Request) { n.PresencePenalty, n.FrequencyPenalty = &zero, &zero }), nil},
		{"candidates", with(func(n *upstream.Request) { n.Candidates = 2 }), []string{"dropped candidates"}},
		{"one candidate", with(func(n *upstream.Request) { n.Candidates = 1 }), nil},
		{"image output", out(upstream.Output{Modalities: []string{"text", "image"}, AspectRatio: "1:1", ImageSize: "2K"}),
			[]string{"dropped output.aspect_ratio", "dropped output.image_size", "dropped output.modalities"}},
		{"hot", with(func(n *upstream.Request) { n.Temperature = &hot }), []string{"degraded temperature"}},
		{"odd sampling", with(func(n *upstream.Request) { n.TopP, n.TopK = &hot, &minus }), []string{"dropped top_p", "dropped top_k"}},
		{"blank stop", with(func(n *upstream.Request) { n.StopSequences = []string{"a", "\n", ""} }), []string{"dropped stop_sequences"}},
		{"long user", with(func(n *upstream.Request) { n.UserID = strings.Repeat("ü", 513) }), []string{"hint user_id"}},
		{"user", with(func(n *upstream.Request) { n.UserID = strings.Repeat("ü", 512) }), nil},
		{"tier", with(func(n *upstream.Request) { n.ServiceTier = "flex" }), []string{"hint service_tier"}},
		{"no tier", with(func(n *upstream.Request) { n.ServiceTier = "unspecified" }), nil},
		{"extra", with(func(n *upstream.Request) { n.Extra = aliens }), []string{"dropped extra.a"}},
		{"what matters of extra", with(func(n *upstream.Request) {
			n.Extra = &content.Extra{Format: "generatecontent", JSON: `{"safetySettings":[{}],"cachedContent":"c","generationConfig":{"responseLogprobs":true}}`}
		}), []string{"degraded extra.safetySettings", "dropped extra.cachedContent", "dropped extra.generationConfig.responseLogprobs"}},
		{"harmless extra", with(func(n *upstream.Request) {
			n.Extra = &content.Extra{Format: "generatecontent", JSON: `{"labels":{"a":"b"}}`}
		}),
			[]string{"hint extra.labels"}},
		{"extra that cannot be named", with(func(n *upstream.Request) { n.Extra = &content.Extra{Format: "alien", JSON: `{"b":1,"a b":2,"c":3}`} }),
			[]string{"dropped extra.b", "dropped extra.c", "dropped extra"}},

		{"JSON without schema", out(upstream.Output{MediaType: "application/json"}), []string{"dropped output.media_type"}},
		{"enum output", out(upstream.Output{MediaType: "text/x.enum", Schema: json}), []string{"dropped output.media_type"}},
		{"one of a few words", with(func(n *upstream.Request) {
			n.Output = upstream.Output{MediaType: "text/x.enum", Schema: content.Schema{JSON: `{"type":"STRING","enum":["a","b c"]}`, OpenAPI: true}}
			n.Turns[0].Parts = some(&content.SearchResult{Source: "s", Title: "t", Parts: some(said1), Citations: true})
		}), []string{"degraded output.media_type"}},
		{"words of several lines", out(upstream.Output{MediaType: "text/x.enum", Schema: content.Schema{JSON: `{"type":"string","enum":["a","b\nc"]}`}}),
			[]string{"dropped output.media_type"}},
		{"OpenAPI answer", out(upstream.Output{MediaType: "application/json",
			Schema: content.Schema{JSON: `{"type":"STRING"}`, OpenAPI: true}}), nil},
		{"words of an answer", out(upstream.Output{MediaType: "application/json",
			Schema: content.Schema{JSON: `{"type":"STRING"}`}}), []string{"hint output.schema"}},
		{"an answer that may be anything", out(upstream.Output{MediaType: "application/json", Schema: content.Schema{JSON: "true"}}),
			[]string{"hint output.schema"}},
		{"an answer that may be nothing", out(upstream.Output{MediaType: "application/json", Schema: content.Schema{JSON: "false"}}),
			[]string{"dropped output.schema"}},
		{"schema with bounds", out(upstream.Output{MediaType: "application/json",
			Schema: content.Schema{JSON: `{"type":"string","minLength":3}`}}), []string{"degraded output.schema.minLength"}},
		{"citing by a schema", with(func(n *upstream.Request) {
			n.Output = upstream.Output{MediaType: "application/json", Schema: json}
			n.Turns[0].Parts = some(&content.Document{Source: &content.PlainText{Text: "x"}, Citations: true},
				&content.SearchResult{Source: "s", Title: "t", Parts: some(said1), Citations: true})
		}), []string{"degraded turns.0.parts.0.citations", "degraded turns.0.parts.1.citations"}},

		{"effort", think(upstream.Thinking{Effort: "xhigh"}), nil},
		{"least effort", think(upstream.Thinking{Effort: "minimal"}), []string{"degraded thinking.effort"}},
		{"odd effort", think(upstream.Thinking{Effort: "odd"}), []string{"dropped thinking.effort"}},
		{"odd mode", think(upstream.Thinking{Mode: "odd"}), []string{"dropped thinking.mode"}},
		{"full display", think(upstream.Thinking{Mode: upstream.ThinkingAuto, Display: "full"}), []string{"degraded thinking.display"}},
		{"display of nothing", think(upstream.Thinking{Mode: upstream.ThinkingOff, Display: "summarized"}), []string{"hint thinking.display"}},
		{"nothing to display", think(upstream.Thinking{Mode: upstream.ThinkingOff, Display: "omitted"}), nil},
		{"nothing to display by default", think(upstream.Thinking{Display: "omitted"}), nil},
		{"notes that are not to be displayed", think(upstream.Thinking{Mode: upstream.ThinkingBetweenTools, Display: "omitted"}),
			[]string{"hint thinking.display"}},
		{"budget and display alone", think(upstream.Thinking{Budget: &one, Display: "full"}),
			[]string{"dropped thinking.budget", "hint thinking.display"}},

		{"validated", choice(content.ToolChoice{Mode: content.ChoiceValidated}, "a"), []string{"degraded choice.mode"}},
		{"odd choice", choice(content.ToolChoice{Mode: "odd"}, "a"), []string{"dropped choice.mode"}},
		{"two names", choice(content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"a", "b"}}, "a", "b", "c"),
			[]string{"degraded choice.names"}},
		{"choices that do not bind a search", with(func(n *upstream.Request) {
			n.Tools, n.Choice.Mode = []content.Tool{search, {Name: "a"}, {Name: "b"}}, content.ChoiceAny
		}), []string{"degraded tools.0", "degraded choice.mode"}},
		{"no functions beside a search", with(func(n *upstream.Request) {
			n.Tools, n.Choice.Mode = []content.Tool{search, {Name: "a"}}, content.ChoiceNone
		}), []string{"degraded choice.mode", "degraded tools.0"}},
		{"one name", choice(content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"a"}}, "a", "b"), nil},
		{"all names", choice(content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"a", "b"}}, "a", "b"), nil},
		{"validated without tools", choice(content.ToolChoice{Mode: content.ChoiceValidated}), []string{"hint choice"}},
		{"no tools", choice(content.ToolChoice{Mode: content.ChoiceAny}), []string{"hint choice"}},
		{"foreign tool", tool(content.Tool{Kind: "googleMaps", Format: "alien", Raw: "{}"}), []string{"dropped tools.0"}},
		{"like tools", tool(content.Tool{Kind: "googleSearch", Format: "alien", Raw: "{}"},
			content.Tool{Kind: "codeExecution", Format: "alien", Raw: "{}"}, content.Tool{Name: "web_fetch"},
			content.Tool{Kind: "urlContext", Format: "alien", Raw: "{}"}),
			[]string{"degraded tools.0", "degraded tools.1", "dropped tools.3"}},
		{"one tool twice", tool(search, search, content.Tool{Kind: "googleSearch", Format: "generatecontent", Raw: `{"timeRangeFilter":{}}`}),
			[]string{"degraded tools.0", "hint tools.1", "dropped tools.2"}},
		{"a tool beside this vendor's own", tool(search, content.Tool{Kind: "web_search_20250305", Format: Format, Name: "web_search", Raw: "{}"}),
			[]string{"dropped tools.0"}},
		{"tool", tool(content.Tool{Name: "n"}, content.Tool{Name: "m", Extra: aliens,
			Input: content.Schema{JSON: `{"type":"OBJECT"}`, OpenAPI: true}, Output: content.Schema{JSON: "{}"}}),
			[]string{"dropped tools.1.extra.a", "hint tools.1.output"}},
		{"words of a schema", tool(content.Tool{Name: "n", Input: content.Schema{JSON: `{"type":"OBJECT","properties":{}}`}}),
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
	carried := content.Signature{Format: Format, Data: envelope.EncodeThinking([]envelope.State{
		{Thinking: &content.Thinking{Text: "why", Signature: content.Signature{Format: Format, Data: "sig"}}}})}
	call := &content.ToolUse{ID: "i", Name: "n"}
	named := func(extra string) *content.Image {
		return img(&content.Base64{MediaType: "image/jpeg", Data: jpeg, Extra: &content.Extra{Format: "generatecontent", JSON: extra}})
	}
	return []lossCase{
		{"sound", dialog(some(&content.Media{}, said1)), []string{"dropped turns.0.parts.0"}},
		{"sound in a document", dialog(some(&content.Document{Source: &content.Parts{Parts: some(&content.Media{}, said1)}})),
			[]string{"dropped turns.0.parts.0.source.parts.0"}},
		{"image types", dialog(some(img(&content.Base64{MediaType: "image/bmp", Data: "aGk="}), img(&content.Base64{MediaType: "image/png", Data: jpeg}))),
			[]string{"dropped turns.0.parts.0", "hint turns.0.parts.1.source.media_type"}},
		{"document types", dialog(some(doc("application/msword"), doc("text/csv"), doc("text/plain"), doc("application/pdf"),
			&content.Document{Source: &content.PlainText{Text: "x", MediaType: "text/html"}}, doc("application/x-python-code"))),
			[]string{"dropped turns.0.parts.0", "hint turns.0.parts.1.source.media_type", "hint turns.0.parts.2.source",
				"hint turns.0.parts.4.source.media_type", "hint turns.0.parts.5.source.media_type"}},
		{"long title", dialog(some(&content.Document{Source: &content.PlainText{Text: "x"}, Title: strings.Repeat("t", 501)})),
			[]string{"hint turns.0.parts.0.title"}},
		{"media types of links", dialog(some(img(&content.URL{URL: "u", MediaType: "image/png"}),
			&content.Document{Source: &content.File{ID: "f", MediaType: "application/pdf"}})),
			[]string{"hint turns.0.parts.0.source.media_type", "hint turns.0.parts.1.source.media_type"}},
		{"image of a model", amid(said1, &content.Image{Source: &content.File{ID: "f"}, Signature: alienSign}),
			[]string{"hint turns.1.parts.1.signature", "degraded turns.1.parts.1"}},
		{"image of a model that nobody follows", dialog(some(said1), some(said1, img(&content.File{ID: "f"}))),
			[]string{"degraded turns.1.parts.1", "dropped turns.1.parts.1"}},
		{"signatures", amid(&content.Text{Text: "t", Signature: alienSign, Extra: aliens}),
			[]string{"hint turns.1.parts.0.signature", "hint turns.1.parts.0.extra"}},
		{"foreign thoughts", amid(&content.Thinking{Text: "t", Signature: alienSign}, &content.Thinking{Redacted: alienSign},
			&content.Thinking{Text: "unsigned"}, said1),
			[]string{"hint turns.1.parts.0", "hint turns.1.parts.1", "hint turns.1.parts.2"}},
		{"a thought that is carried", amid(&content.Thinking{Text: "wh"}, &content.Thinking{Text: "y"},
			&content.Text{Text: "t", Signature: carried}), nil},
		{"carried thinking at the end of a turn", amid(&content.Text{Signature: carried}), []string{"hint turns.1.parts.0"}},
		{"damaged state", amid(&content.Text{Text: "t", Signature: content.Signature{Format: Format, Data: "odd"}}),
			[]string{"degraded turns.1.parts.0.signature"}},
		{"foreign parts", amid(&content.ServerToolUse{Format: "alien"}, &content.ServerToolResult{Format: "alien"},
			&content.Unknown{Format: "alien"}, said1),
			[]string{"dropped turns.1.parts.0", "dropped turns.1.parts.1", "dropped turns.1.parts.2"}},
		{"citations", amid(&content.Text{Text: "t", Citations: []content.Citation{{Kind: content.CiteChars, Text: "c"},
			{Kind: content.CiteWeb, URL: "u"}, {Kind: "odd", Extra: aliens}}}),
			[]string{"hint turns.1.parts.0.citations.1", "hint turns.1.parts.0.citations.2.extra", "hint turns.1.parts.0.citations.2"}},
		{"object", dialog(some(said1), some(call), some(&content.ToolResult{ID: "i", Object: `{"a":1}`})), []string{"hint turns.2.parts.0"}},
		{"names of files", dialog(some(said1), some(call), some(&content.ToolResult{ID: "i", Object: `{"$ref":"f"}`, Parts: some(
			named(`{"displayName":"f"}`), named(`{"displayName":"f","odd":1}`), named(`{"odd":1}`))})),
			[]string{"hint turns.2.parts.0.parts.1.source.extra", "hint turns.2.parts.0.parts.2.source.extra"}},
		{"names that nothing points at", dialog(some(said1), some(call), some(&content.ToolResult{ID: "i", Object: `{"a":"f"}`,
			Parts: some(named(`{"displayName":"f"}`))})), []string{"hint turns.2.parts.0.parts.0.source.extra"}},
		{"sound in a result", dialog(some(said1), some(call), some(&content.ToolResult{ID: "i", Parts: some(said1, &content.Media{})})),
			[]string{"dropped turns.2.parts.0.parts.1"}},
		{"late result", dialog(some(said1), some(call), some(said1, &content.ToolResult{ID: "i"})), []string{"hint turns.2"}},
		{"no result", dialog(some(said1), some(said1, call), some(said1)), []string{"degraded turns.1.parts.1"}},
		{"no call", dialog(some(&content.ToolResult{ID: "i", Parts: some(said1)})), []string{"degraded turns.0.parts.0"}},
		{"empty texts", dialog(some(&content.Text{}, said1, &content.Text{Text: " \n", Cache: &content.Cache{}})),
			[]string{"hint turns.0.parts.0", "hint turns.0.parts.2", "hint turns.0.parts.2.cache"}},
		{"empty turn", dialog(some(said1), some(said1), nil), []string{"hint turns.2"}},
		{"space at the end", dialog(some(said1), some(&content.Text{Text: "So \n"})), []string{"hint turns.1"}},
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
			n.Turns = append(n.Turns, content.Turn{Role: role, Parts: some(p)})
		}
		return n
	}
	call := func(id string) content.Part { return &content.ToolUse{ID: id, Name: "n"} }
	result := func(id string) content.Part { return &content.ToolResult{ID: id} }
	return []lossCase{
		{"system turns with a place", in("u s a u s"), nil},
		{"a system turn without one", in("u a s u"), []string{"degraded turns.2"}},
		{"a system turn before others", in("s u"), []string{"hint turns.0"}},
		{"the assistant begins", in("a u"), nil},
		{"the assistant begins with what nobody else knows", in("a u", &content.ServerToolUse{Format: "alien"}), []string{"dropped turns.0.parts.0"}},
		{"split texts", in("u a a u u"), nil},
		{"split calls", in("u a a u u", nil, call("1"), call("2"), result("2"), result("1")),
			[]string{"hint turns.2", "hint turns.4"}},
		{"files in system text", &upstream.Request{System: some(said1, &content.Image{Source: &content.File{ID: "f"}}, &content.Media{}),
			Turns: in("u").Turns}, []string{"degraded system.1", "dropped system.2"}},
	}
}

// TestRequestOfLosses checks path and severity of each loss, and that every
// rule of the table is met.
func TestRequestOfLosses(t *testing.T) {
	met := make([]bool, len(requestLosses))
	shared := []*loss.Rule{codec.ForeignSignature, codec.ForeignPart, codec.ForeignTool}
	shared = append(shared, codec.ForeignRules...)
	for _, tt := range append(append(settingLosses(), partLosses()...), turnLosses()...) {
		t.Run(tt.name, func(t *testing.T) {
			before := tt.n.Clone()
			r, list := RequestFromUpstream(tt.n)
			var got []string
			for _, l := range list {
				got = append(got, l.Severity.String()+" "+l.Path)
				known := strings.Contains(l.Path, ".input.") || strings.HasPrefix(l.Path, "output.schema.") // told by internal/schema
				for i := range requestLosses {
					if requestLosses[i].Of(l) {
						known, met[i] = true, true
					}
				}
				for _, rule := range shared {
					known = known || rule.Of(l)
				}
				if !known {
					t.Errorf("%v is of no table", l)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, tt.n); diff != "" {
				t.Errorf("the source was changed (-before +after):\n%s", diff)
			}
			if _, err := r.AppendJSON(nil); err != nil {
				t.Errorf("what is left cannot be encoded: %v", err)
			}
		})
	}
	for i, ok := range met {
		if !ok {
			t.Errorf("rule %d is never met: %v", i, requestLosses[i])
		}
	}
	for i := range requestLosses {
		if r := &requestLosses[i]; r.Feature == "" || r.Severity == 0 || r.Reason == "" {
			t.Errorf("rule %d is not whole: %v", i, r)
		}
	}
}
