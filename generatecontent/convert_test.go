package generatecontent

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/lower"
	"github.com/polywire/polywire/internal/snapshot"
	"github.com/polywire/polywire/internal/test/lossplaces"
	"github.com/polywire/polywire/upstream"
)

func TestUpstreamNeutral(t *testing.T) {
	r, err := ParseRequest([]byte(`{"model":"m","contents":[{"parts":[{"text":"a"}],"x":1}],"systemInstruction":{"role":"user","parts":[{"text":"s"}]},` +
		`"toolConfig":{"functionCallingConfig":{"mode":"VALIDATED","allowedFunctionNames":["f"]},"includeServerSideToolInvocations":true},` +
		`"generationConfig":{"temperature":0.5,"topP":0.25,"topK":3,"candidateCount":2,"maxOutputTokens":9,"stopSequences":["e"],"seed":7,` +
		`"presencePenalty":0.5,"frequencyPenalty":0.25,"responseMimeType":"application/json","responseSchema":{"type":"STRING"},` +
		`"responseModalities":["TEXT","IMAGE"],"imageConfig":{"aspectRatio":"1:1","imageSize":"2K"},` +
		`"thinkingConfig":{"includeThoughts":false,"thinkingBudget":1024},"mediaResolution":"MEDIA_RESOLUTION_LOW"},"serviceTier":"flex","store":false,"y":1}`))
	if err != nil {
		t.Fatal(err)
	}
	temperature, topP, low, half := 0.5, 0.25, 0.25, 0.5
	topK, maxTokens, seed, budget := int64(3), int64(9), int64(7), int64(1024)
	want := &upstream.Request{
		Model:     "m",
		System:    []content.Part{&content.Text{Text: "s"}},
		Turns:     []content.Turn{{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: "a"}}, Extra: extra(`{"x":1}`)}},
		Choice:    content.ToolChoice{Mode: content.ChoiceValidated, Names: []string{"f"}},
		MaxTokens: &maxTokens, Temperature: &temperature, TopP: &topP, TopK: &topK, Seed: &seed, PresencePenalty: &half, FrequencyPenalty: &low,
		StopSequences: []string{"e"}, Candidates: 2, ServiceTier: "flex",
		Thinking: upstream.Thinking{Mode: upstream.ThinkingBudget, Budget: &budget, Display: "omitted"},
		Output: upstream.Output{Modalities: []string{"text", "image"}, MediaType: "application/json",
			Schema: content.Schema{JSON: `{"type":"STRING"}`, OpenAPI: true}, AspectRatio: "1:1", ImageSize: "2K"},
		Defaults: upstream.Defaults{Format: Format, Display: "omitted"},
		Extra:    extra(`{"toolConfig":{"includeServerSideToolInvocations":true},"generationConfig":{"mediaResolution":"MEDIA_RESOLUTION_LOW"},"store":false,"y":1}`),
	}
	if diff := cmp.Diff(want, r.Upstream()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if r.Upstream().Turns[0].Parts[0] != r.Contents[0].Parts[0] {
		t.Error("the parts are copies")
	}
}

func TestThinkingRoundTrip(t *testing.T) {
	for _, tt := range []struct {
		config string
		want   upstream.Thinking
	}{
		{`{"thinkingBudget":-1}`, upstream.Thinking{Mode: upstream.ThinkingAuto, Display: "omitted"}},
		{`{"thinkingBudget":0}`, upstream.Thinking{Mode: upstream.ThinkingOff}},
		{`{"thinkingBudget":2048}`, upstream.Thinking{Mode: upstream.ThinkingBudget, Budget: ptrTo[int64](2048), Display: "omitted"}},
		{`{"thinkingBudget":2048,"includeThoughts":false}`, upstream.Thinking{Mode: upstream.ThinkingBudget, Budget: ptrTo[int64](2048), Display: "omitted"}},
		{`{"thinkingLevel":"MINIMAL"}`, upstream.Thinking{Effort: "minimal", Display: "omitted"}},
		{`{"thinkingLevel":"MINIMAL","includeThoughts":false}`, upstream.Thinking{Effort: "minimal", Display: "omitted"}},
		{`{"thinkingLevel":"HIGH","includeThoughts":true}`, upstream.Thinking{Effort: "high", Display: "summarized"}},
	} {
		r, err := ParseRequest([]byte(`{"contents":[` + ask + `],"generationConfig":{"thinkingConfig":` + tt.config + `}}`))
		if err != nil {
			t.Fatal(err)
		}
		n := r.Upstream()
		if diff := cmp.Diff(tt.want, n.Thinking); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.config, diff)
		}
		back, losses, err := RequestFromUpstream(n)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(r, back, ignoreOrigin); diff != "" || losses != nil {
			t.Errorf("%s: %v (-want +got):\n%s", tt.config, losses, diff)
		}
	}
}

// TestTextFormats checks the conversion of responseFormat next to the older members,
// and its losses in another format.
func TestTextFormats(t *testing.T) {
	const format = `"responseFormat":{"text":{"mimeType":"APPLICATION_JSON","schema":{"type":"object"}}}`
	object := content.Schema{JSON: `{"type":"object"}`}
	for _, tt := range []struct {
		config string
		want   upstream.Output
		lost   []string
	}{
		{format, upstream.Output{MediaType: "application/json", Schema: object}, nil},
		{format + `,"responseMimeType":"application/json","responseJsonSchema":{"type":"object"}`, upstream.Output{MediaType: "application/json", Schema: object}, nil},
		{format + `,"responseMimeType":"text/plain"`, upstream.Output{MediaType: "text/plain"}, []string{"dropped extra.generationConfig.responseFormat.text"}},
		{format + `,"responseMimeType":"application/json"`, upstream.Output{MediaType: "application/json"}, []string{"dropped extra.generationConfig.responseFormat.text"}},
		{`"responseFormat":{"image":{"mimeType":"IMAGE_JPEG"}}`, upstream.Output{}, []string{"dropped extra.generationConfig.responseFormat.image"}},
	} {
		r, err := ParseRequest([]byte(`{"contents":[` + ask + `],"generationConfig":{` + tt.config + `}}`))
		if err != nil {
			t.Fatal(err)
		}
		n := r.Upstream()
		if diff := cmp.Diff(tt.want, n.Output); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.config, diff)
		}
		var lost []string
		for tail, rule := range foreign.Members(n.Extra, foreign.Request) {
			lost = append(lost, rule.Severity.String()+" extra."+tail)
		}
		if diff := cmp.Diff(tt.lost, lost); diff != "" {
			t.Errorf("%s, losses (-want +got):\n%s", tt.config, diff)
		}
		if back, losses, err := RequestFromUpstream(n); err != nil || losses != nil || back.GenerationConfig.ResponseFormat != r.GenerationConfig.ResponseFormat {
			t.Errorf("%s: converted back: %+v, with %v", tt.config, back.GenerationConfig, losses)
		}
	}
}

// TestRequestFromUpstream converts a request of another format and checks the losses.
func TestRequestFromUpstream(t *testing.T) {
	text := func(s string) content.Part { return &content.Text{Text: s} }
	const other = "messages"
	n := &upstream.Request{
		Model: "m", UserID: "u", ServiceTier: "scale",
		System: []content.Part{&content.Text{Text: "s", Cache: &content.Cache{}}},
		Turns: []content.Turn{
			{Role: content.RoleUser, Parts: []content.Part{text("q"),
				&content.Image{Source: &content.URL{URL: "https://a.example/x.PNG?q=1"}},
				&content.Document{Title: "T", Source: &content.PlainText{Text: "hi"}},
				&content.Document{Source: &content.Parts{Parts: []content.Part{text("one"), text("two")}}},
				&content.Image{Source: &content.File{ID: "file_1"}},
				&content.SearchResult{Source: "src", Title: "t", Parts: []content.Part{text("found")}}}},
			{Role: content.RoleAssistant, Parts: []content.Part{
				&content.Thinking{Text: "h", Signature: content.Signature{Format: other, Data: "x"}},
				&content.Thinking{Redacted: content.Signature{Format: other, Data: "x"}},
				&content.ToolUse{ID: "1", Name: "f", Input: `{"a":1}`}, &content.ToolUse{ID: "2", Name: "g"},
				&content.ServerToolUse{Format: other, Kind: "server_tool_use"}}},
			{Role: content.RoleUser, Parts: []content.Part{&content.ToolResult{ID: "1", Parts: []content.Part{
				&content.Image{Source: &content.Base64{MediaType: "image/png", Data: "AAAA"}}, text("a"), text("b")}}}},
			{Role: content.RoleUser, Parts: []content.Part{&content.ToolResult{ID: "2", Error: true}}},
			{Role: content.RoleSystem, Parts: []content.Part{text("be brief")}},
		},
		Tools: []content.Tool{{Name: "f", Input: content.Schema{JSON: `{"type":"object","properties":{"a":{"type":"integer"}}}`}, Strict: new(true)},
			{Kind: "web_search", Format: other, Name: "w"}, {Name: "g"}},
		Choice:   content.ToolChoice{Mode: content.ChoiceAny, NoParallel: true},
		Thinking: upstream.Thinking{Mode: upstream.ThinkingAuto, Effort: "max", Display: "full"},
		Output:   upstream.Output{Schema: content.Schema{JSON: `{}`}},
		Extra:    &content.Extra{Format: other, JSON: `{"speed":"fast"}`},
	}
	r, losses, err := RequestFromUpstream(n)
	if err != nil {
		t.Fatal(err)
	}
	got, err := r.AppendJSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"model":"m","contents":[{"role":"user","parts":[{"text":"q"},{"fileData":{"mimeType":"image/png","fileUri":"https://a.example/x.PNG?q=1"}},{"text":"Document: T"},` +
		`{"inlineData":{"mimeType":"text/plain","data":"aGk="}},{"text":"one"},{"text":"two"},{"text":"Search result: t\nSource: src"},{"text":"found"}]},` +
		`{"role":"model","parts":[{"functionCall":{"id":"1","name":"f","args":{"a":1}}},{"functionCall":{"id":"2","name":"g"}}]},` +
		`{"role":"user","parts":[{"functionResponse":{"id":"1","name":"f","response":{"output":"a\n\nb"},"parts":[{"inlineData":{"mimeType":"image/png","data":"AAAA"}}]}},` +
		`{"functionResponse":{"id":"2","name":"g","response":{"error":""}}}]},{"role":"user","parts":[{"text":"be brief"}]}],` +
		`"systemInstruction":{"parts":[{"text":"s"}]},"tools":[{"functionDeclarations":[{"name":"f","parametersJsonSchema":{"type":"object","properties":{"a":{"type":"integer"}}}},{"name":"g"}]},{"googleSearch":{}}],` +
		`"toolConfig":{"functionCallingConfig":{"mode":"ANY"},"includeServerSideToolInvocations":true},"generationConfig":{"responseMimeType":"application/json","responseJsonSchema":{},` +
		`"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"HIGH"}}}`
	if diff := sameJSON(t, want, string(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var lost []string
	lost = append(lost, lossplaces.Names(losses)...)
	wantLost := []string{
		"hint extra.speed", "hint output.media_type", "degraded choice.mode", "degraded choice.no_parallel", "degraded thinking.effort",
		"degraded thinking.display", "hint user_id", "hint service_tier", "hint system.0.cache", "degraded turns.0.parts.1.source.media_type", "degraded turns.0.parts.2",
		"degraded turns.0.parts.3.source", "dropped turns.0.parts.4.source", "degraded turns.0.parts.5",
		"hint turns.1.parts.0", "hint turns.1.parts.1", "dropped turns.1.parts.4", "hint turns.2.parts.0",
		"degraded turns.4", "degraded tools.1",
	}
	if diff := cmp.Diff(wantLost, lost); diff != "" {
		t.Errorf("losses (-want +got):\n%s", diff)
	}
	if n.Turns[2].Parts[0].(*content.ToolResult).Name != "" || len(n.Turns) != 5 || len(n.Turns[2].Parts) != 1 {
		t.Error("the neutral request was changed")
	}
}

// TestDecodeRequest checks that a decoded request has its document until it is changed.
// A request that a caller converts has none.
func TestDecodeRequest(t *testing.T) {
	const doc = `{"model": "m" ,"contents":[` + ask + `],"generation_config":{"topK":1.0},"tools":[{"googleSearch":{}}],"labels":{"a":"b"}}`
	n, _, err := DecodeRequest([]byte(doc), nil)
	if err != nil {
		t.Fatal(err)
	}
	n.Model, n.Stream = "other", true
	w := snapshot.DocumentOf(n, Format)
	if w == nil || w.Body != doc || len(w.Spans) != 1 || w.Body[w.Spans[0].From:w.Spans[0].To] != `"m"` {
		t.Errorf("Wire is %+v", w)
	}
	n.Turns[0].Parts[0].(*content.Text).Text = "b"
	if snapshot.DocumentOf(n, Format) != nil {
		t.Error("a changed request has its old document")
	}
	r, err := ParseRequest([]byte(doc))
	if err != nil {
		t.Fatal(err)
	}
	if snapshot.DocumentOf(r.Upstream(), Format) != nil {
		t.Error("a parsed request has its document")
	}
}

func TestDecodeRequestWithoutDocument(t *testing.T) {
	carried, _ := envelope.EncodeBase64(other, envelope.KindPart, "sig")
	for name, tt := range map[string]struct {
		doc  string
		opts *ValidateOptions
	}{
		"signature of another vendor": {`{"contents":[` + ask + `,{"role":"model","parts":[{"text":"a","thoughtSignature":"` + carried + `"}]}]}`, nil},
		"nested in a count":           {`{"generateContentRequest":{"contents":[` + ask + `]}}`, &ValidateOptions{Count: true}},
	} {
		n, _, err := DecodeRequest([]byte(tt.doc), tt.opts)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := upstream.WireOf(n, Format); ok || len(n.Turns) == 0 {
			t.Errorf("%s: got %+v", name, n)
		}
	}
}

func TestDecodeRequestViolations(t *testing.T) {
	const doc = `{"contents":[{"role":"user","parts":[]}],"generationConfig":{"topK":"many","temperature":3},"x":1}`
	for name, tt := range map[string]struct {
		opts *ValidateOptions
		want []string
	}{
		"defaults": {nil, []string{"generation_config.top_k", "contents[0].parts", "generation_config.temperature"}},
		"strict":   {&ValidateOptions{Strict: true}, []string{"generation_config.top_k", "", "contents[0].parts", "generation_config.temperature"}},
		"limits":   {&ValidateOptions{Limits: content.Limits{Depth: 1}}, []string{""}},
	} {
		n, _, err := DecodeRequest([]byte(doc), tt.opts)
		list, _ := content.Violations(err)
		var got []string
		for _, v := range list {
			got = append(got, v.Path)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" || n != nil {
			t.Errorf("%s: got %v (-want +got):\n%s", name, n, diff)
		}
	}
}

// TestChangedResultText checks that a result whose text was changed loses its old object.
func TestChangedResultText(t *testing.T) {
	r, err := ParseRequest([]byte(`{"contents":[{"parts":[{"functionResponse":{"name":"f","response":{"secret":1}}}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Contents[0].Parts[0].(*content.ToolResult).Parts = []content.Part{plainText("***")}
	got, err := r.AppendJSON(nil)
	if want := `{"contents":[{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"***"}}}]}]}`; err != nil || string(got) != want {
		t.Errorf("got %s, %v", got, err)
	}
}

func TestWirePath(t *testing.T) {
	r, err := ParseRequest([]byte(`{"systemInstruction":{"parts":[{},{"text":"s"}]},"contents":[` + ask + `,{"role":"model","parts":[{"text":"a"},{},{"text":""},{"text":"b"}]}],` +
		`"tools":[{"googleSearch":{},"functionDeclarations":[{"name":"a"},{"name":"b"}]},{"functionDeclarations":[{"name":"c"}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	for neutral, want := range map[string]string{
		"turns":                   "contents",
		"turns.1":                 "contents[1]",
		"turns.1.parts.0":         "contents[1].parts[0]",
		"turns.1.parts.1":         "contents[1].parts[3]",
		"turns.0.parts.0.parts.1": "contents[0].parts[0].parts[1]",
		"system.0":                "system_instruction.parts[1]",
		"tools.0":                 "tools[0].google_search",
		"tools.2.strict":          "tools[0].function_declarations[1].strict",
		"tools.3":                 "tools[1].function_declarations[0]",
		"tools.9":                 "tools[9]",
		"top_k":                   "generation_config.top_k",
		"service_tier":            "service_tier",
		"choice.mode":             "tool_config.function_calling_config.mode",
	} {
		if got := r.wirePath(neutral); got != want {
			t.Errorf("wirePath(%q) = %q, want %q", neutral, got, want)
		}
	}
	made := &Request{Tools: []content.Tool{{Name: "a"}, {Name: "b"}, {Kind: "googleSearch"}, {Name: "c"}}}
	if got := made.wirePath("tools.3"); got != "tools[2].function_declarations[0]" {
		t.Errorf("of a constructed request: %q", got)
	}
}

const foreignFormat = "messages"

func foreignExtra(members string) *content.Extra {
	return &content.Extra{Format: foreignFormat, JSON: members}
}

func userRequest(parts ...content.Part) *upstream.Request {
	return &upstream.Request{Turns: []content.Turn{{Role: content.RoleUser, Parts: parts}}}
}

func requestOf(turns ...content.Turn) *upstream.Request { return &upstream.Request{Turns: turns} }

func userTurn(parts ...content.Part) content.Turn {
	return content.Turn{Role: content.RoleUser, Parts: parts}
}

func replies(parts ...content.Part) content.Turn {
	return content.Turn{Role: content.RoleAssistant, Parts: parts}
}

func ownMark(data string) content.Signature { return content.Signature{Format: Format, Data: data} }

func ptrTo[T any](v T) *T { return &v }

var (
	picture = &content.Base64{MediaType: "image/png", Data: "AAAA"}
	aCall   = &content.ToolUse{ID: "1", Name: "f", Input: `{"a":1}`}
	another = &content.ToolUse{ID: "2", Name: "g"}
	aTool   = []content.Tool{{Name: "f"}}
	pngData = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAAB"
)

// A mapping is a neutral request, the converted members at a path of the document (by
// default "contents"), and the losses.
type mapping struct {
	name   string
	target func(*lower.Target)
	from   *upstream.Request
	want   string   // the document
	lost   []string // severity and path
	rules  []*loss.Rule

	refused string // the path of a violation
}

var mappings = slices.Concat(turnMappings, partMappings, toolMappings, settingMappings)

// TestMappings converts neutral requests to this format.
func TestMappings(t *testing.T) {
	for _, tt := range mappings {
		t.Run(tt.name, func(t *testing.T) {
			n := tt.from
			if len(n.Turns) == 0 {
				c := *n
				c.Turns = userRequest(plainText("q")).Turns
				n = &c
			}
			before := n.Clone()
			r, losses, err := lowered(n, tt.target)
			if list, _ := content.Violations(err); tt.refused == "" && err != nil || tt.refused != "" && (len(list) != 1 || list[0].Path != tt.refused) {
				t.Fatal(err)
			}
			got, err := r.AppendJSON(nil)
			if err != nil {
				t.Fatal(err)
			}
			want := tt.want
			if !strings.HasPrefix(want, `{"contents"`) {
				want = `{"contents":[{"role":"user","parts":[{"text":"q"}]}]` + want + `}`
			}
			if diff := sameJSON(t, want, string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			lost := lossplaces.Names(lower.Losses(losses))
			var rules []*loss.Rule
			for _, l := range lossplaces.Of(lower.Losses(losses)) {
				i := slices.IndexFunc(losses, func(r lower.Report) bool { return r.Rule.Of(l) })
				rules = append(rules, losses[i].Rule)
			}
			if diff := cmp.Diff(tt.lost, lost); diff != "" {
				t.Errorf("losses (-want +got):\n%s", diff)
			}
			if tt.rules != nil && !slices.Equal(tt.rules, rules) {
				t.Errorf("the reasons are %+v", lower.Losses(losses))
			}
			if diff := cmp.Diff(before, n.Clone()); diff != "" {
				t.Errorf("the request was changed (-before +after):\n%s", diff)
			}
		})
	}
}

// lowered returns a request in this format, for the base target as f changes it.
func lowered(n *upstream.Request, f func(*lower.Target)) (*Request, []lower.Report, error) {
	target := BaseTarget()
	if f != nil {
		f(&target)
	}
	to, losses, err := lower.Lower(n, &target, false)
	return LoweredRequest(to), losses, err
}

// Servers and models that do not accept the whole format.
func filesApart(t *lower.Target)   { t.Results.Files = false }
func signedCalls(t *lower.Target)  { t.Calls.Signature = PlaceholderSignature }
func filesLoaded(t *lower.Target)  { t.Files.Keep = false }
func noMixedTools(t *lower.Target) { t.Tools.VendorAlone = true }

// A conversationMaker generates conversations of clients of other formats.
type conversationMaker struct {
	*rand.Rand
	calls int
}

func (r *conversationMaker) some() int { return r.IntN(3) }

// part returns a part for any role.
func (r *conversationMaker) part() content.Part {
	switch r.IntN(6) {
	case 0:
		return &content.Image{Source: &content.Base64{MediaType: "image/png",
			Data: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="}}
	case 1:
		return &content.Document{Title: "T", Source: &content.PlainText{Text: "d"}}
	case 2:
		return plainText("")
	}
	return plainText("t" + strconv.Itoa(r.IntN(1000)))
}

// thought returns a part of another vendor, or one without a vendor.
func (r *conversationMaker) thought() content.Part {
	switch r.IntN(4) {
	case 0:
		return &content.Thinking{Text: "x", Signature: content.Signature{Format: foreignFormat, Data: "s"}}
	case 1:
		return &content.Thinking{Text: "x", Signature: ownMark("YQ==")}
	case 2:
		return &content.Thinking{Redacted: content.Signature{Format: foreignFormat, Data: "s"}}
	}
	return &content.Thinking{}
}

// step returns a turn of the model and the results of its tool calls.
func (r *conversationMaker) step() (turns []content.Turn) {
	var modelParts, results []content.Part
	for range r.some() {
		modelParts = append(modelParts, r.thought(), r.part())
	}
	for range r.some() {
		r.calls++
		id := strconv.Itoa(r.calls % 5)
		modelParts = append(modelParts, r.thought(), &content.ToolUse{ID: id, Name: "f" + id})
		result := &content.ToolResult{ID: id, Error: r.IntN(4) == 0}
		for range r.some() {
			result.Parts = append(result.Parts, r.part())
		}
		results = append(results, result)
	}
	if len(results) == 0 || r.IntN(3) == 0 {
		results = append(results, plainText("go on"), r.part())
	}
	return []content.Turn{{Role: content.RoleAssistant, Parts: modelParts}, {Role: content.RoleUser, Parts: results}}
}

// TestStablePrefixes checks that the converted beginning of a conversation does not
// change when the conversation grows, and that it is valid.
func TestStablePrefixes(t *testing.T) {
	targets := []func(*lower.Target){nil, func(t *lower.Target) { filesApart(t); signedCalls(t) }, func(t *lower.Target) { signedCalls(t); filesLoaded(t) }}
	for seed := range uint64(300) {
		r := &conversationMaker{Rand: rand.New(rand.NewPCG(seed, 7))}
		n := &upstream.Request{Turns: []content.Turn{asked}}
		target, before := targets[seed%3], ""
		for range 6 {
			n.Turns = append(n.Turns, r.step()...)
			if r.IntN(4) == 0 {
				n.Turns = append(n.Turns, content.Turn{Role: content.RoleSystem, Parts: []content.Part{plainText("s")}})
			}
			q, _, err := lowered(n, target)
			if err != nil {
				t.Fatal(err)
			}
			b, err := (&Request{Contents: q.Contents}).AppendJSON(nil)
			if err != nil {
				t.Fatal(err)
			}
			is := strings.TrimSuffix(string(b), "]}")
			if !strings.HasPrefix(is, before) {
				t.Fatalf("seed %d has another beginning:\n%s\n%s", seed, before, is)
			}
			before = is
			if err := q.Validate(&ValidateOptions{}); err != nil {
				t.Fatalf("seed %d: %v\n%s", seed, err, is)
			}
		}
	}
}

func thinking(t upstream.Thinking) *upstream.Request { return &upstream.Request{Thinking: t} }

func configured(config string) string { return `,"generationConfig":` + config }

func thinkingConfigJSON(config string) string { return configured(`{"thinkingConfig":` + config + `}`) }

// settingMappings convert settings other than tools.
var settingMappings = []mapping{
	{name: "sampling", from: &upstream.Request{MaxTokens: ptrTo[int64](9), Temperature: ptrTo(0.5), TopP: ptrTo(0.25), TopK: ptrTo[int64](3), Seed: ptrTo[int64](7),
		PresencePenalty: ptrTo(1.5), FrequencyPenalty: ptrTo(-2.0), StopSequences: []string{"e"}, Candidates: 2},
		want: configured(`{"temperature":0.5,"topP":0.25,"topK":3,"candidateCount":2,"maxOutputTokens":9,"stopSequences":["e"],"presencePenalty":1.5,"frequencyPenalty":-2,"seed":7}`)},
	{name: "sampling out of bounds", from: &upstream.Request{MaxTokens: ptrTo[int64](1 << 40), Temperature: ptrTo(2.5), TopP: ptrTo(1.5), TopK: ptrTo[int64](0), Seed: ptrTo[int64](1 << 40),
		PresencePenalty: ptrTo(2.0), FrequencyPenalty: ptrTo(-3.0)},
		want:  configured(`{"maxOutputTokens":2147483647}`),
		lost:  []string{"degraded max_tokens", "dropped temperature", "dropped top_p", "dropped top_k", "dropped presence_penalty", "dropped frequency_penalty", "dropped seed"},
		rules: []*loss.Rule{lower.LimitLowered, lower.Temperature, lower.TopP, lower.TopK, lower.Penalties, lower.Penalties, lower.Seed}},
	{name: "stop sequences", from: &upstream.Request{StopSequences: []string{"a", "", "b", "c", "d", "e", "f"}},
		want: configured(`{"stopSequences":["a","b","c","d","e"]}`), lost: []string{"hint stop_sequences", "dropped stop_sequences"}, rules: []*loss.Rule{lower.StopEmpty, lower.StopsOverLimit}},

	{name: "thinking off", from: thinking(upstream.Thinking{Mode: upstream.ThinkingOff}), want: thinkingConfigJSON(`{"thinkingBudget":0}`)},
	{name: "budget", from: thinking(upstream.Thinking{Mode: upstream.ThinkingBudget, Budget: ptrTo[int64](2048)}), want: thinkingConfigJSON(`{"thinkingBudget":2048}`)},
	{name: "missing budget", from: thinking(upstream.Thinking{Mode: upstream.ThinkingBudget}), want: thinkingConfigJSON(`{"thinkingBudget":-1}`),
		lost: []string{"hint thinking.budget"}, rules: []*loss.Rule{lower.BudgetMissing}},
	{name: "budget and effort", from: thinking(upstream.Thinking{Mode: upstream.ThinkingBudget, Budget: ptrTo[int64](2048), Effort: "low"}), want: thinkingConfigJSON(`{"thinkingBudget":2048}`),
		lost: []string{"degraded thinking.effort"}, rules: []*loss.Rule{lower.EffortBudget}},
	{name: "budget and unsupported effort", from: thinking(upstream.Thinking{Mode: upstream.ThinkingBudget, Budget: ptrTo[int64](2048), Effort: "xhigh"}), want: thinkingConfigJSON(`{"thinkingBudget":2048}`),
		lost: []string{"degraded thinking.effort"}, rules: []*loss.Rule{lower.EffortBudget}},
	{name: "effort with thinking off", from: thinking(upstream.Thinking{Mode: upstream.ThinkingOff, Effort: "max"}), want: thinkingConfigJSON(`{"thinkingBudget":0}`),
		lost: []string{"degraded thinking.effort"}, rules: []*loss.Rule{lower.EffortOff}},
	{name: "adaptive with unsupported effort", from: thinking(upstream.Thinking{Mode: upstream.ThinkingAuto, Effort: "max"}), want: thinkingConfigJSON(`{"thinkingLevel":"HIGH"}`),
		lost: []string{"degraded thinking.effort"}, rules: []*loss.Rule{lower.EffortNearest}},
	{name: "adaptive", from: thinking(upstream.Thinking{Mode: upstream.ThinkingAuto}), want: thinkingConfigJSON(`{"thinkingBudget":-1}`)},
	{name: "adaptive with effort", from: thinking(upstream.Thinking{Mode: upstream.ThinkingAuto, Effort: "medium", Display: "summarized"}),
		want: thinkingConfigJSON(`{"includeThoughts":true,"thinkingLevel":"MEDIUM"}`)},
	{name: "highest effort", from: thinking(upstream.Thinking{Effort: "max", Display: "full"}), want: thinkingConfigJSON(`{"includeThoughts":true,"thinkingLevel":"HIGH"}`),
		lost: []string{"degraded thinking.effort", "degraded thinking.display"}, rules: []*loss.Rule{lower.EffortNearest, lower.DisplaySummary}},
	{name: "display of updates", from: thinking(upstream.Thinking{Mode: upstream.ThinkingAuto, Display: "updates"}), want: thinkingConfigJSON(`{"includeThoughts":true,"thinkingBudget":-1}`),
		lost: []string{"degraded thinking.display"}, rules: []*loss.Rule{lower.DisplaySummary}},
	{name: "unknown values", from: thinking(upstream.Thinking{Mode: "x", Effort: "y", Display: "z"}),
		lost: []string{"dropped thinking.mode", "dropped thinking.effort", "hint thinking.display"}, rules: []*loss.Rule{lower.ModeUnknown, lower.EffortUnknown, lower.DisplayUnknown}},
	{name: "thinking between tools", from: thinking(upstream.Thinking{Mode: upstream.ThinkingBetweenTools, Display: "omitted"}), want: thinkingConfigJSON(`{"includeThoughts":false,"thinkingBudget":-1}`),
		lost: []string{"degraded thinking.mode"}, rules: []*loss.Rule{lower.ModeBetween}},
	{name: "budget without mode", from: thinking(upstream.Thinking{Budget: ptrTo[int64](5)}), lost: []string{"dropped thinking.budget"}, rules: []*loss.Rule{lower.BudgetAlone}},

	{name: "response schema", from: &upstream.Request{Output: upstream.Output{Schema: content.Schema{JSON: `{"type":"OBJECT","properties":{"a":{"const":1}}}`}}},
		want: configured(`{"responseMimeType":"application/json","responseJsonSchema":{"type":"object","properties":{"a":{"enum":[1]}}}}`),
		lost: []string{"hint output.media_type"}, rules: []*loss.Rule{lower.OutputTypeAdded}},
	{name: "other output", from: &upstream.Request{Output: upstream.Output{MediaType: "text/html", Modalities: []string{"text", "smell"}, AspectRatio: "17:9", ImageSize: "9K", Extra: foreignExtra(`{"x":1}`)}},
		want: configured(`{"responseModalities":["TEXT"]}`),
		lost: []string{"dropped output.extra.x", "dropped output.aspect_ratio", "dropped output.image_size", "dropped output.modalities", "dropped output.media_type"}},
	{name: "images", from: &upstream.Request{Output: upstream.Output{Modalities: []string{"text", "image"}, AspectRatio: "16:9", ImageSize: "2K"}},
		want: configured(`{"responseModalities":["TEXT","IMAGE"],"imageConfig":{"aspectRatio":"16:9","imageSize":"2K"}}`)},
	{name: "automatic service tier", from: &upstream.Request{ServiceTier: "auto"}},
	{name: "user id and service tier", from: &upstream.Request{UserID: "u", ServiceTier: "scale"}, lost: []string{"hint user_id", "hint service_tier"}, rules: []*loss.Rule{lower.User, lower.ServiceTier}},
	{name: "service tier with another name", from: &upstream.Request{ServiceTier: "standard_only"}, want: `,"serviceTier":"standard"`},
	{name: "members of another format", from: &upstream.Request{Extra: foreignExtra(`{"context_management":{}}`)}, lost: []string{"hint extra.context_management"}},
	{name: "schema also in extra members", from: &upstream.Request{Extra: foreignExtra(`{"output_format":{"type":"json_schema","schema":{}},"output_config":{"format":{"type":"json_schema"},"task_budget":{"type":"tokens","total":20000}}}`)},
		lost: []string{"dropped extra.output_config.task_budget"}, rules: []*loss.Rule{foreign.SettingLoss}},
	{name: "members of another format that change the response", from: &upstream.Request{Extra: foreignExtra(`{"thread":{"type":"create"},"compaction":{"type":"summarize"},"fallbacks":"default"}`)},
		lost:  []string{"dropped extra.thread", "dropped extra.compaction", "degraded extra.fallbacks"},
		rules: []*loss.Rule{foreign.StateLoss, foreign.SettingLoss, foreign.InfluenceLoss}, refused: "extra.thread"},
	{name: "place of processing", from: &upstream.Request{Extra: foreignExtra(`{"inference_geo":"eu"}`)},
		lost: []string{"dropped extra.inference_geo"}, rules: []*loss.Rule{foreign.LocationLoss}},
	{name: "safety settings of another format", from: &upstream.Request{Extra: &content.Extra{Format: "openai-chat", JSON: `{"moderation":{"model":"m"}}`}},
		lost: []string{"degraded extra.moderation"}, rules: []*loss.Rule{foreign.SafetyLoss}},
}

func withTools(tools ...content.Tool) *upstream.Request { return &upstream.Request{Tools: tools} }

func choosing(c content.ToolChoice, tools ...content.Tool) *upstream.Request {
	return &upstream.Request{Tools: tools, Choice: c}
}

func vendorTool(kind, raw string) content.Tool {
	return content.Tool{Kind: kind, Format: foreignFormat, Name: "x", Raw: raw}
}

// aSearch is a built-in tool of another vendor.
var aSearch = content.Tool{Kind: "web_search_20250305", Format: foreignFormat, Name: "web_search", Raw: `{}`}

// besideSearch are functions and a search, and which of the functions to call.
func besideSearch(functions, config string) string {
	return `,"tools":[{"functionDeclarations":[` + functions + `]},{"googleSearch":{}}],"toolConfig":{"functionCallingConfig":` + config + `,"includeServerSideToolInvocations":true}`
}

const (
	wants     = `{"type":"object","properties":{"type":{"type":"string"},"n":{"type":["integer","null"]}},"required":["n"],"additionalProperties":false}`
	declaredF = `,"tools":[{"functionDeclarations":[{"name":"f"}]}]`
)

func calling(config string) string {
	return declaredF + `,"toolConfig":{"functionCallingConfig":` + config + `}`
}

// toolMappings convert tools and tool choices.
var toolMappings = []mapping{
	{name: "no tools", from: withTools()},
	{name: "schemas", from: withTools(content.Tool{Name: "f", Description: "d", Input: content.Schema{JSON: wants}, Output: content.Schema{JSON: `{"type":"string"}`}},
		content.Tool{Name: "g", Input: content.Schema{JSON: `{"type":"OBJECT","properties":{"a":{"type":"STRING"}}}`, OpenAPI: true}},
		content.Tool{Name: "h", Input: content.Schema{JSON: `{"type":"object","properties":{}}`}}),
		want: `,"tools":[{"functionDeclarations":[{"name":"f","description":"d","parametersJsonSchema":` + wants + `,"responseJsonSchema":{"type":"string"}},` +
			`{"name":"g","parameters":{"type":"OBJECT","properties":{"a":{"type":"STRING"}}}},{"name":"h"}]}]`},
	{name: "upper case types in a schema", from: withTools(content.Tool{Name: "f", Input: content.Schema{JSON: `{"type":"OBJECT","properties":{"a":{"type":"STRING"}}}`}}),
		want: `,"tools":[{"functionDeclarations":[{"name":"f","parametersJsonSchema":{"type":"object","properties":{"a":{"type":"string"}}}}]}]`},
	{name: "unsupported schema keyword", from: withTools(content.Tool{Name: "f", Input: content.Schema{JSON: `{"type":"object","properties":{"a":{"type":"string","minLength":1}}}`}}),
		want: `,"tools":[{"functionDeclarations":[{"name":"f","parametersJsonSchema":{"type":"object","properties":{"a":{"type":"string","minLength":1}}}}]}]`,
		lost: []string{"degraded tools.0.input.properties.a.minLength"}},
	{name: "tool with cache mark and extra members", from: withTools(content.Tool{Name: "f", Strict: new(true), Cache: &content.Cache{}, Extra: foreignExtra(`{"eager_input_streaming":true,"allowed_callers":["code_execution_20250825"],"x":1}`)}),
		want: calling(`{"mode":"VALIDATED"}`), lost: []string{"degraded tools.0.extra.allowed_callers", "dropped tools.0.extra.x", "hint tools.0.extra", "hint tools.0.cache"},
		rules: []*loss.Rule{foreign.InfluenceLoss, foreign.UnknownLoss, foreign.MembersLoss, lower.ToolCache}},
	{name: "built-in tools", from: withTools(vendorTool("web_search_20250305", `{"type":"web_search_20250305","name":"web_search","max_uses":8}`), content.Tool{Name: "f"},
		vendorTool("web_fetch_20250910", `{}`), vendorTool("code_execution_20250825", `{"type":"x","name":"y"}`), vendorTool("web_search", `{}`), vendorTool("mcp_toolset", `{}`)),
		want:  `,"tools":[{"functionDeclarations":[{"name":"f"}]},{"googleSearch":{}},{"urlContext":{}},{"codeExecution":{}}],"toolConfig":{"includeServerSideToolInvocations":true}`,
		lost:  []string{"degraded tools.0", "dropped tools.0.max_uses", "degraded tools.2", "degraded tools.3", "degraded tools.4", "dropped tools.5"},
		rules: []*loss.Rule{lower.ToolMapped, foreign.ToolRestrictions, lower.ToolMapped, lower.ToolMapped, lower.ToolTwice, lower.ToolVendor}},
	{name: "tool that the client runs", from: withTools(content.Tool{Kind: "bash_20250124", Name: "bash", Format: foreignFormat, Raw: `{"type":"bash_20250124","name":"bash"}`}),
		want: `,"tools":[{"functionDeclarations":[{"name":"bash","description":"Runs a command in a persistent bash session on the user's machine and returns its output. Restart the session if it no longer responds.",` +
			`"parametersJsonSchema":{"type":"object","properties":{"command":{"type":"string","description":"The command to run. Required unless restart is true."},"restart":{"type":"boolean","description":"True to restart the session instead of running a command."}}}}]}]`,
		lost: []string{"degraded tools.0"}, rules: []*loss.Rule{foreign.ToolAsFunction}},
	{name: "settings of a built-in tool", from: withTools(vendorTool("web_search_20260318", `{"type":"x","user_location":{"type":"approximate"},"allowed_callers":["direct"],"max_uses":null,"strict":true}`),
		vendorTool("web_fetch_20260318", `{"allowed_callers":["code_execution_20260120"]}`), vendorTool("code_execution_20250825", `{"allowed_callers":["direct"],"blocked_domains":["a.example"],"citations":{"enabled":true}}`)),
		want:  `,"tools":[{"googleSearch":{}},{"urlContext":{}},{"codeExecution":{}}]`,
		lost:  []string{"degraded tools.0", "degraded tools.0.user_location", "degraded tools.1", "degraded tools.1.allowed_callers", "degraded tools.2", "degraded tools.2.citations", "dropped tools.2.blocked_domains"},
		rules: []*loss.Rule{lower.ToolMapped, foreign.ToolSettings, lower.ToolMapped, foreign.ToolSettings, lower.ToolMapped, foreign.ToolSettings, foreign.ToolRestrictions}},
	{name: "any tool, with a built-in tool", from: choosing(content.ToolChoice{Mode: content.ChoiceAny}, content.Tool{Name: "f"}, vendorTool("code_execution_20250825", `{}`)),
		want: `,"tools":[{"functionDeclarations":[{"name":"f"}]},{"codeExecution":{}}],"toolConfig":{"functionCallingConfig":{"mode":"ANY"},"includeServerSideToolInvocations":true}`,
		lost: []string{"degraded choice.mode", "degraded tools.1"}, rules: []*loss.Rule{lower.ChoiceBuiltIn, lower.ToolMapped}},
	{name: "one required function, with a built-in tool", from: choosing(content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"f"}}, content.Tool{Name: "f"}, vendorTool("code_execution_20250825", `{}`)),
		want: calling(`{"mode":"ANY","allowedFunctionNames":["f"]}`)},
	{name: "one allowed function, with a built-in tool", from: choosing(content.ToolChoice{Mode: content.ChoiceAuto, Names: []string{"f"}}, content.Tool{Name: "f"}, aSearch, vendorTool("mcp_toolset", `{}`)),
		want: calling(`{"mode":"VALIDATED","allowedFunctionNames":["f"]}`), lost: []string{"hint choice.names", "dropped tools.2"}, rules: []*loss.Rule{lower.ChoiceNamesValidate, lower.ToolVendor}},
	{name: "one allowed function without mode, with a built-in tool", from: choosing(content.ToolChoice{Names: []string{"f"}}, content.Tool{Name: "f"}, aSearch),
		want: calling(`{"mode":"VALIDATED","allowedFunctionNames":["f"]}`), lost: []string{"hint choice.names"}, rules: []*loss.Rule{lower.ChoiceNamesValidate}},
	{name: "one validated function, with a built-in tool", from: choosing(content.ToolChoice{Mode: content.ChoiceValidated, Names: []string{"f"}}, content.Tool{Name: "f"}, aSearch),
		want: calling(`{"mode":"VALIDATED","allowedFunctionNames":["f"]}`)},
	{name: "one allowed function, with a built-in tool that cannot be mixed", target: noMixedTools, from: choosing(content.ToolChoice{Mode: content.ChoiceAuto, Names: []string{"f"}}, content.Tool{Name: "f"}, aSearch),
		want: calling(`{"mode":"VALIDATED","allowedFunctionNames":["f"]}`), lost: []string{"hint choice.names"}},
	{name: "one allowed function, with a tool of this vendor", from: choosing(content.ToolChoice{Mode: content.ChoiceValidated, Names: []string{"f"}}, content.Tool{Kind: "googleSearch", Format: Format, Raw: "{}"}, content.Tool{Name: "f"}),
		want: `,"tools":[{"googleSearch":{}},{"functionDeclarations":[{"name":"f"}]}],"toolConfig":{"functionCallingConfig":{"mode":"VALIDATED","allowedFunctionNames":["f"]}}`},
	{name: "allowed function and built-in tool", from: choosing(content.ToolChoice{Mode: content.ChoiceAuto, Names: []string{"f", "web_search"}}, aSearch, content.Tool{Name: "f"}, content.Tool{Name: "g"}),
		want: besideSearch(`{"name":"f"},{"name":"g"}`, `{"mode":"VALIDATED","allowedFunctionNames":["f"]}`), lost: []string{"hint choice.names", "degraded tools.0"}, rules: []*loss.Rule{lower.ChoiceNamesValidate, lower.ToolMapped}},
	{name: "required function or built-in tool", from: choosing(content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"f", "web_search"}}, aSearch, content.Tool{Name: "f"}),
		want: besideSearch(`{"name":"f"}`, `{"mode":"ANY","allowedFunctionNames":["f"]}`), lost: []string{"degraded choice.mode", "degraded tools.0"}, rules: []*loss.Rule{lower.ChoiceBuiltIn, lower.ToolMapped}},
	{name: "one allowed built-in tool", from: choosing(content.ToolChoice{Mode: content.ChoiceAuto, Names: []string{"web_search"}}, aSearch, content.Tool{Name: "f"}),
		want: besideSearch(`{"name":"f"}`, `{"mode":"NONE"}`), lost: []string{"degraded tools.0"}, rules: []*loss.Rule{lower.ToolMapped}},
	{name: "one required built-in tool", from: choosing(content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"web_search"}}, aSearch, content.Tool{Name: "f"}),
		want: besideSearch(`{"name":"f"}`, `{"mode":"NONE"}`), lost: []string{"degraded choice.mode", "degraded tools.0"}, rules: []*loss.Rule{lower.ChoiceBuiltIn, lower.ToolMapped}},
	{name: "tool named by its kind", from: choosing(content.ToolChoice{Mode: content.ChoiceAuto, Names: []string{"code_interpreter"}}, aSearch, content.Tool{Kind: "code_interpreter", Format: foreignFormat, Raw: `{}`}),
		want: `,"tools":[{"codeExecution":{}}]`, lost: []string{"degraded tools.1"}, rules: []*loss.Rule{lower.ToolMapped}},
	{name: "unknown names, with a built-in tool", from: choosing(content.ToolChoice{Mode: content.ChoiceAuto, Names: []string{"x"}}, aSearch, content.Tool{Name: "f"}),
		want: besideSearch(`{"name":"f"}`, `{"mode":"AUTO"}`), lost: []string{"dropped choice.names", "degraded tools.0"}, rules: []*loss.Rule{lower.ChoiceNamesUnknown, lower.ToolMapped}},
	{name: "built-in tools only", from: choosing(content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"web_search"}}, aSearch),
		want: `,"tools":[{"googleSearch":{}}]`, lost: []string{"degraded choice.mode", "degraded tools.0"}, rules: []*loss.Rule{lower.ChoiceBuiltIn, lower.ToolMapped}},
	{name: "none, with another vendor's tool", from: choosing(content.ToolChoice{Mode: content.ChoiceNone}, vendorTool("web_search_20250305", `{"max_uses":8}`), content.Tool{Name: "f", Cache: &content.Cache{}}),
		want: calling(`{"mode":"NONE"}`), lost: []string{"hint tools.1.cache"}, rules: []*loss.Rule{lower.ToolCache}},
	{name: "none, with this vendor's tool", from: choosing(content.ToolChoice{Mode: content.ChoiceNone}, content.Tool{Kind: "googleSearch", Format: Format, Raw: "{}"}, content.Tool{Name: "f"}),
		want: `,"tools":[{"googleSearch":{}},{"functionDeclarations":[{"name":"f"}]}],"toolConfig":{"functionCallingConfig":{"mode":"NONE"}}`},
	{name: "none, with another vendor's tools only", from: choosing(content.ToolChoice{Mode: content.ChoiceNone}, vendorTool("web_search_20250305", `{}`))},
	{name: "none, with tools that cannot be mixed", target: noMixedTools, from: choosing(content.ToolChoice{Mode: content.ChoiceNone}, vendorTool("web_search", `{}`), content.Tool{Name: "f"}),
		want: calling(`{"mode":"NONE"}`)},
	{name: "built-in tools that cannot be mixed with functions", target: noMixedTools, from: withTools(vendorTool("web_search_20250305", `{}`), content.Tool{Name: "f"}),
		want: declaredF, lost: []string{"dropped tools.0"}, rules: []*loss.Rule{lower.ToolWithOthers}},

	{name: "auto", from: choosing(content.ToolChoice{Mode: content.ChoiceAuto}, aTool...), want: calling(`{"mode":"AUTO"}`)},
	{name: "any", from: choosing(content.ToolChoice{Mode: content.ChoiceAny}, aTool...), want: calling(`{"mode":"ANY"}`)},
	{name: "none", from: choosing(content.ToolChoice{Mode: content.ChoiceNone}, aTool...), want: calling(`{"mode":"NONE"}`)},
	{name: "one tool", from: choosing(content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"f"}, NoParallel: true}, aTool...),
		want: calling(`{"mode":"ANY","allowedFunctionNames":["f"]}`), lost: []string{"degraded choice.no_parallel"}, rules: []*loss.Rule{lower.ChoiceParallel}},
	{name: "allowed names", from: choosing(content.ToolChoice{Mode: content.ChoiceAuto, Names: []string{"f"}}, aTool...),
		want: calling(`{"mode":"VALIDATED","allowedFunctionNames":["f"]}`), lost: []string{"hint choice.names"}, rules: []*loss.Rule{lower.ChoiceNamesValidate}},
	{name: "unknown names of functions", from: choosing(content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"f", "x"}}, aTool...),
		want: calling(`{"mode":"ANY","allowedFunctionNames":["f"]}`), lost: []string{"dropped choice.names"}, rules: []*loss.Rule{lower.ChoiceNamesUnknown}},
	{name: "only unknown names of functions", from: choosing(content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"x"}}, aTool...),
		want: declaredF, lost: []string{"dropped choice.names"}},
	{name: "names with mode none", from: choosing(content.ToolChoice{Mode: content.ChoiceNone, Names: []string{"f"}}, aTool...),
		want: calling(`{"mode":"NONE"}`), lost: []string{"hint choice.names"}, rules: []*loss.Rule{lower.ChoiceNamesForbids}},
	{name: "choice without tools", from: choosing(content.ToolChoice{Mode: content.ChoiceAny, NoParallel: true}),
		lost: []string{"hint choice.mode"}, rules: []*loss.Rule{lower.ChoiceNoTools}},
	{name: "unknown choice", from: choosing(content.ToolChoice{Mode: "x", Extra: foreignExtra(`{"x":1}`)}, aTool...),
		want: declaredF, lost: []string{"dropped choice.extra.x", "dropped choice.mode"}, rules: []*loss.Rule{foreign.UnknownLoss, lower.ChoiceUnknown}},
}

// A request from a neutral one that was parsed can be changed: its JSON texts are checked
// when it is written.
func TestChangedRequestFromUpstream(t *testing.T) {
	const body = `{"contents":[{"parts":[{"text":"Hi."}]}],"tools":[{"functionDeclarations":[{"name":"f","parametersJsonSchema":{"type":"object"}}]}]}`
	n, _, err := DecodeRequest([]byte(body), nil)
	if err != nil {
		t.Fatal(err)
	}
	r, _, err := RequestFromUpstream(n)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Body(); err != nil {
		t.Errorf("unchanged: %v", err)
	}
	r.Tools[0].Input.JSON = `{"type":"object"},"x":{`
	if _, err := r.Body(); err == nil {
		t.Error("invalid JSON in a schema: no error")
	}
}
