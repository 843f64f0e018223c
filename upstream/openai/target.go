package openai

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/lower"
	"github.com/polywire/polywire/internal/openaiformat"
	"github.com/polywire/polywire/internal/schema"
	"github.com/polywire/polywire/upstream"
)

// A target is the model and server for which a request is encoded.
type target struct {
	isOpenAI    bool
	family      family
	dialect     Dialect
	known       server
	refusals    refusals
	maxTokens   int64 // of a response; 0 means no known limit
	attribution bool  // of a coding agent is sent
}

// efforts returns the efforts that the model supports, as far as they are known.
func (t *target) efforts() []string {
	switch {
	case t.refusals.has(fieldEffort):
		return nil
	case t.dialect.Efforts != nil:
		return t.dialect.Efforts
	case t.family.known:
		return t.family.efforts
	case t.isOpenAI:
		return nil // unknown: a fine-tuned or renamed model
	}
	return defaultEfforts
}

// acceptsLinks reports whether images may be sent as URLs.
func (t *target) acceptsLinks() bool { return t.isOpenAI || t.dialect.Links }

// acceptsFiles reports whether PDFs may be sent.
func (t *target) acceptsFiles() bool { return t.isOpenAI || t.dialect.Files }

// thinkingMember returns the member that turns thinking on and off, or "".
func (t *target) thinkingMember() string {
	if name := t.dialect.Thinking; !t.isOpenAI && name != "-" {
		return name
	}
	return ""
}

// neverThinks reports whether the model is known not to think.
func (t *target) neverThinks() bool { return t.family.known && t.family.defaultEffort == "" }

// hasPhases reports whether messages of the assistant have a phase: a model that has been
// trained with it becomes worse without.
func (t *target) hasPhases() bool {
	switch {
	case t.refusals.has(fieldPhase):
		return false
	case t.family.known:
		return t.family.phases
	}
	return t.isOpenAI || t.known.phases
}

// target returns the target for a model, and for the server's name of it.
func (c *client) target(model, deployment string) target {
	t := target{isOpenAI: c.isOpenAI, family: familyOf(model), dialect: c.dialect, known: c.known, refusals: c.refusals.get(deployment), maxTokens: c.maxTokens(model), attribution: c.attribution}
	if c.format == ResponsesFormat {
		t.family = responsesFamilyOf(model)
	}
	return t
}

// lowerTarget returns what the target accepts, as data. The result does not change with t.
func (t target) lowerTarget(f content.Format) *lower.Target {
	x := &lower.Target{
		Format:   f,
		Names:    t.nameRules(f),
		Members:  lower.MemberRules{Foreign: foreignMembers},
		Tools:    lower.ToolRules{Schema: schema.JSONSchema, StrictSchema: schema.OpenAIStrict, Strict: lower.StrictEqual},
		Choice:   t.choiceRules(),
		Output:   lower.OutputRules{Objects: true, Schema: schema.JSONSchema, Strict: true, StrictSchema: schema.OpenAIStrict},
		Limit:    lower.LimitRules{Max: t.maxTokens},
		Thinking: lower.ThinkingRules{Dial: t.dial()},
		Sampling: t.samplingRules(),
		Identity: t.identityRules(),
	}
	if t.isOpenAI {
		x.Members.Foreign = foreignMembersOpenAI
	}
	if t.markMember(f) != "" {
		x.Members.Foreign = append(slices.Clip(x.Members.Foreign), lower.ForeignMember{Name: openaiformat.CacheControl, Mark: true})
	}
	if f == ResponsesFormat {
		t.setResponses(x)
		t.responsesConversation(x)
	} else {
		t.setChat(x)
		t.chatConversation(x)
	}
	return x
}

// setChat sets what only Chat Completions has.
func (t *target) setChat(x *lower.Target) {
	x.Members.Fields = chatMembers
	x.Tools.OnlyFunctions = true
	x.Members.NoUsage = t.refusals.has(fieldStreamOptions)
	if t.refusals.has(fieldDescription) {
		x.Tools.Description = maxDescription
	}
	if !t.isOpenAI {
		x.Output.Modalities = []string{"image"}
	}
	x.Thinking.Dial.Switch = t.thinkingMember()
	x.Thinking.Dial.SwitchRefused = t.refusals.has(fieldThinkingSwitch)
	switch {
	case t.refusals.toolsWithNone:
		x.Thinking.Dial.Tools = lower.DialToolsOff
	case t.isOpenAI:
		x.Thinking.Dial.Tools = [...]lower.DialTools{
			toolsAny: lower.DialToolsAny, toolsNoneOrOmitted: lower.DialToolsDefault,
			toolsWithNone: lower.DialToolsOff, toolsResponsesOnly: lower.DialToolsRejected,
		}[t.family.tools]
	}
	if t.isOpenAI {
		x.Thinking.Dial.Display = lower.DisplayHidden
	}
	x.Sampling.Candidates = true
	x.Sampling.TopK.Off = t.isOpenAI || t.refusals.has(fieldTopK)
	x.Sampling.Seed.Off = t.refusals.has(fieldSeed)
	x.Sampling.Stops = lower.Stops{Off: t.family.noStop || t.refusals.has(fieldStop), Max: maxStops}
	if !t.refusals.has(fieldLogprobs) && t.family.sampling != sampleNever {
		x.Sampling.Members = logprobs
	}
	if t.thinkingMember() == thinkingObject { // the server ignores them while the model thinks
		for _, n := range []*lower.Number{&x.Sampling.Temperature, &x.Sampling.TopP, &x.Sampling.Presence, &x.Sampling.Frequency} {
			n.NotThinking = true
		}
	}
}

// shape returns how documents for the target are written.
func (t *target) shape(f content.Format) openaiformat.Shape {
	s := openaiformat.Shape{
		SystemRole:  "system",
		MarkMember:  t.markMember(f),
		LimitMember: "max_tokens",
		SeedMember:  cmp.Or(t.known.seed, "seed"),
		ObjectForm:  t.refusals.has(fieldJSONObject),
		NoPadding:   t.isOpenAI && !t.refusals.has(fieldObfuscation),
		Usage:       !t.refusals.has(fieldStreamOptions),
		Prefix:      t.known.prefix,
		Thinking:    t.thinkingMember(),
		Returns:     t.forcedThinkingMember(),
		NoReturn:    t.refusals.has(fieldReasoning),
		Encrypted:   f == ResponsesFormat && !t.neverThinks() && !t.refusals.has(fieldReasoning),
		Phases:      t.hasPhases(),
	}
	s.JoinTexts = !t.isOpenAI && s.MarkMember == "" // a list must not become a string when its mark moves on
	if t.isOpenAI && t.family.developer && !t.refusals.has(fieldDeveloper) {
		s.SystemRole = roleDeveloper
	}
	if (t.isOpenAI || t.family.noMaxTokens) != t.refusals.has(fieldMaxTokens) {
		s.LimitMember = "max_completion_tokens"
	}
	return s
}

// roleDeveloper is the role of system text for newer models.
const roleDeveloper = "developer"

// setResponses sets what only the Responses API has.
func (t *target) setResponses(x *lower.Target) {
	x.Members.Fields, x.Members.State = responsesMembers, responsesState
	x.Members.Merged = responsesMerged
	x.Limit.Min = minTokens
	if t.isOpenAI {
		x.Tools.Results = !t.refusals.has(fieldOutputSchema)
		x.Tools.Vendor, x.Tools.FunctionsOnly = ownTool, hasFunctionChoice
	}
	x.Thinking.NotCarried = !t.neverThinks() && t.refusals.has(fieldReasoning)
	x.Thinking.Dial.Display = lower.DisplayWords
	if t.refusals.has(fieldSummary) {
		x.Thinking.Dial.Display = lower.DisplayRejects
	}
	x.Sampling.TopK.Off, x.Sampling.Seed.Off = true, true
	x.Sampling.Presence = lower.Number{Off: true, HasUsual: true}
	x.Sampling.Frequency = lower.Number{Off: true, HasUsual: true}
	x.Sampling.Stops.Cut = true
}

// responsesMerged are the members of which fields represent a part.
var responsesMerged = []lower.Merged{
	{Name: "reasoning", First: '{', Fields: []string{"effort", "summary"}},
	{Name: "text", First: '{', Fields: []string{"format"}},
	{Name: "include", First: '['},
}

// choiceRules returns the choices of tools that are accepted.
func (t *target) choiceRules() lower.ChoiceRules {
	return lower.ChoiceRules{
		Kind:     lower.ChoiceLists,
		Single:   !t.refusals.has(fieldToolChoice),
		Lists:    t.isOpenAI && !t.refusals.has(fieldToolChoice),
		Trust:    !t.isOpenAI,
		Parallel: !t.family.noParallel && !t.refusals.has(fieldParallel),
	}
}

// dial returns the efforts that are accepted.
func (t *target) dial() *lower.Dial {
	return &lower.Dial{
		Efforts:      t.efforts(),
		Refused:      t.refusals.has(fieldEffort),
		OffByDefault: t.family.defaultEffort == "none",
		Never:        t.neverThinks(),
	}
}

// samplingRules returns the parameters of sampling that both formats have.
func (t *target) samplingRules() lower.SamplingRules {
	known := t.isOpenAI || t.family.known // of other models the defaults are unknown
	number := func(f field, usual float64) lower.Number {
		return lower.Number{
			Off:         t.family.sampling == sampleNever || t.refusals.has(f),
			NotThinking: t.family.sampling == sampleWithNone,
			HasUsual:    known, Usual: usual,
		}
	}
	return lower.SamplingRules{
		Temperature: number(fieldTemperature, 1),
		TopP:        number(fieldTopP, 1),
		Presence:    number(fieldPresencePenalty, 0),
		Frequency:   number(fieldFrequencyPenalty, 0),
	}
}

// identityRules returns the user ids and service tiers that are accepted.
func (t *target) identityRules() lower.IdentityRules {
	if !t.isOpenAI {
		return lower.IdentityRules{Tiers: compatibleTiers}
	}
	r := lower.IdentityRules{Tiers: openAITiers}
	if !t.refusals.has(fieldUser) {
		r.UserBytes = maxUserID
	}
	return r
}

var (
	compatibleTiers = map[string]string{"unspecified": "", "auto": ""}

	openAITiers = map[string]string{
		"unspecified": "", "auto": "auto", "default": "default", "flex": "flex", "scale": "scale", "priority": "priority",
		"fast": "fast", "standard_only": "default", "standard": "default",
	}
)

// The members of generateContent that have another form here.
const (
	mediaResolution  = "generationConfig.mediaResolution"
	responseLogprobs = "generationConfig.responseLogprobs"
	topLogprobs      = "generationConfig.logprobs"
)

var (
	foreignMembers       = []lower.ForeignMember{{Name: mediaResolution, Detail: noDetail}, {Name: responseLogprobs}, {Name: topLogprobs}}
	foreignMembersOpenAI = []lower.ForeignMember{{Name: mediaResolution, Detail: defaultDetail}, {Name: responseLogprobs}, {Name: topLogprobs}}
)

func noDetail(*content.Extra) string { return "" }

// defaultDetail returns the member for the resolution of all files of a request.
func defaultDetail(x *content.Extra) string {
	return details[gjson.Get(x.JSON, mediaResolution).Str]
}

// logprobs returns the members that request log probabilities, or "".
func logprobs(x *content.Extra) string {
	top := gjson.Get(x.JSON, topLogprobs)
	n := int64(top.Num)
	if gjson.Get(x.JSON, responseLogprobs).Type != gjson.True ||
		top.Type != gjson.Null && (top.Type != gjson.Number || float64(n) != top.Num || n < 0 || n > maxTopLogprobs) {
		return ""
	}
	var w jsonwire.Writer
	w.BeginObject()
	w.Name("logprobs")
	w.Bool(true)
	if n > 0 {
		w.Name("top_logprobs")
		w.Int(n)
	}
	w.EndObject()
	return w.Text()
}

// hasFunctionChoice reports whether the tool choice of a tool's format is limited to
// functions.
func hasFunctionChoice(t *content.Tool) bool { return t.Format == "generatecontent" }

// ownTool returns OpenAI's built-in tool for the purpose of another vendor's tool, with
// the settings that exist here too.
func ownTool(t *content.Tool) (own content.Tool, losses []*loss.Rule) {
	kind := builtInKind(t.Kind)
	if kind == "" {
		return own, nil
	}
	var w jsonwire.Writer
	w.BeginObject()
	w.Name("type")
	w.String(kind)
	if kind == codeInterpreter {
		w.Name("container")
		w.Raw(`{"type":"auto"}`)
	}
	if doc, err := jsonwire.Parse(t.Raw, codec.UnlimitedJSON); err == nil {
		defer doc.Close()
		for name, x := range doc.Root().Members() {
			switch {
			case x.Kind() == jsonwire.Null:
			case kind == webSearch && name == "allowed_domains" && x.Len() > 0:
				w.Name("filters")
				w.BeginObject()
				w.Name(name)
				w.Raw(x.Raw())
				w.EndObject()
			case kind == webSearch && name == "user_location" && x.Get("type").Is("approximate"):
				w.Name(name)
				w.Raw(x.Raw())
			default:
				if r := foreign.ToolMember(name, x); r != nil {
					losses = append(losses, r)
				}
			}
		}
	}
	w.EndObject()
	return content.Tool{Name: t.Name, Kind: kind, Format: ResponsesFormat, Raw: w.Text()}, losses
}

// audioTypes returns the audio that the model hears. Of the models that are known, only those
// with audio in their names hear it.
func (t *target) audioTypes() map[string]string {
	if t.isOpenAI && t.family.known && !t.family.audio {
		return nil
	}
	return openaiformat.AudioTypes
}

// systemTurns returns where system turns may be.
func (t *target) systemTurns() lower.SystemTurns {
	if t.isOpenAI {
		return lower.SystemAnywhere
	}
	return lower.SystemNowhere
}

// markMember returns the member of parts that is a cache mark, or "" if there is none.
func (t *target) markMember(f content.Format) string {
	switch {
	case t.refusals.has(fieldCacheMark):
	case t.isOpenAI && t.family.cacheMarks:
		return openaiformat.Breakpoint
	case !t.isOpenAI && f == ChatFormat && t.dialect.CacheControl:
		return openaiformat.CacheControl
	}
	return ""
}

// cacheMarks returns where cache marks may be. OpenAI writes the latest ones of a request
// into its cache, as many as it allows, and does not reject others.
func (t *target) cacheMarks(f content.Format) lower.Marks {
	m := lower.Marks{System: true, User: true}
	switch t.markMember(f) {
	case "":
		return lower.Marks{}
	case openaiformat.Breakpoint:
		m.Times = breakpointTimes
	case openaiformat.CacheControl:
		m.TextsOnly, m.Times = true, cacheControlTimes
	}
	if t.refusals.has(fieldCacheTime) {
		m.Times = nil
	}
	return m
}

// The lifetimes of cache marks. OpenAI's are the least ones, of which 30m is the default.
var (
	breakpointTimes   = map[string]string{"5m": "", "1h": "12h", "30m": "30m", "12h": "12h"}
	cacheControlTimes = map[string]string{"5m": "5m", "1h": "1h"}
)

// chatConversation sets what Chat Completions accepts in conversations.
func (t *target) chatConversation(to *lower.Target) {
	marks := t.cacheMarks(ChatFormat)
	to.Conversation = lower.Conversation{
		SystemTurns: t.systemTurns(), TextsFirst: true, Prefill: t.known.prefix,
		AnswerResults: t.dialect.StrictRoles, UserFirst: t.dialect.StrictRoles,
		Attribution: t.attribution,
	}
	to.Files = lower.Files{
		TextOnly: t.dialect.TextOnly, Note: t.dialect.DescribeUnreadable,
		ImageLinks: t.acceptsLinks(), Audio: t.audioTypes(),
		Name: func(title, _ string) string {
			if title == "" {
				return "document.pdf"
			}
			return title
		},
		Details: lower.Details{Of: t.detailOf(ChatFormat)},
	}
	if t.isOpenAI {
		to.Files.Images = openaiformat.ImageTypes
	} else {
		to.Conversation.JoinUser = lower.JoinAlways
	}
	if t.acceptsFiles() {
		to.Files.Documents = []string{openaiformat.TypePDF}
	}
	to.Results = lower.Results{OneText: true, Marks: marks.User, MarkLast: true}
	to.Marks = marks
	to.Thoughts = lower.Thoughts{Carried: true, WithCalls: true, Recall: t.recallChat}
	if member := t.forcedThinkingMember(); member != "" && member != "-" {
		if !t.refusals.has(fieldReasoning) {
			to.Thoughts.Unsigned = lower.UnsignedAny
		}
		to.Thoughts.Missing = lower.ThinkingEmpty
		if t.refusals.thinkingMember != "" {
			to.Thoughts.Missing = lower.ThinkingMissing
		}
	}
}

// forcedThinkingMember returns the member that all messages with tool calls must have,
// "-" for none, or "" if it depends on the thinking.
func (t *target) forcedThinkingMember() string {
	if name := t.dialect.Reasoning; name != "" {
		return name
	}
	return t.refusals.thinkingMember
}

// recallChat returns which thinking can be returned in Chat Completions. The signature of
// thinking is the name of its member, or an object of members to send unchanged.
func (t *target) recallChat(*upstream.Request) func(content.Part) *loss.Rule {
	member := t.forcedThinkingMember()
	none := t.isOpenAI && member == "" || member == "-" || t.refusals.has(fieldReasoning)
	return func(p content.Part) *loss.Rule {
		thinking, ok := p.(*content.Thinking)
		if !ok || none {
			return lower.Thinking
		}
		data := thinking.Signature.Data
		if thinking.Redacted.Data != "" {
			data = thinking.Redacted.Data
		}
		switch {
		case member != "", isThinkingMember(data):
			return nil
		case strings.HasPrefix(data, "{"):
			if added, _ := new(replay).addObject(data); added {
				return nil
			}
		}
		return lower.Thinking
	}
}

// details maps resolutions of generateContent to members of files.
var details = map[string]string{"MEDIA_RESOLUTION_LOW": `{"detail":"low"}`, "MEDIA_RESOLUTION_HIGH": `{"detail":"high"}`}

// detailOf returns the function that translates the resolution of a file.
func (t *target) detailOf(f content.Format) func(*content.Extra) (string, bool) {
	return func(x *content.Extra) (json string, rest bool) {
		if x.Format == f || x.Format == "" {
			level := gjson.Get(x.JSON, "detail")
			if level.Str == "" {
				return "", true
			}
			return `{"detail":` + level.Raw + `}`, codec.MemberCount(x.JSON) > 1
		}
		resolution := gjson.Get(x.JSON, "mediaResolution")
		json = details[resolution.Get("level").Str]
		if json == "" || !t.isOpenAI {
			return "", true
		}
		return json, codec.MemberCount(x.JSON) > 1 || codec.MemberCount(resolution.Raw) > 1
	}
}

// responsesConversation sets what Responses accepts in conversations.
func (t *target) responsesConversation(to *lower.Target) {
	marks := t.cacheMarks(ResponsesFormat)
	to.Conversation = lower.Conversation{SystemTurns: t.systemTurns(), MoveFiles: true, SentenceTurn: t.isOpenAI, Attribution: t.attribution}
	to.Files = lower.Files{
		TextOnly: t.dialect.TextOnly, Note: t.dialect.DescribeUnreadable,
		Images: openaiformat.ImageTypes, ImageLinks: t.acceptsLinks(), DocumentLinks: t.isOpenAI,
		Name: func(title, mediaType string) string {
			if title == "" {
				title = "document"
			}
			if suffix := openaiformat.Extension(mediaType); !strings.HasSuffix(strings.ToLower(title), suffix) {
				title += suffix
			}
			return title
		},
		Details: lower.Details{Documents: true, Of: t.detailOf(ResponsesFormat)},
	}
	switch {
	case t.isOpenAI:
		to.Files.Documents, to.Files.IDPrefix = openaiformat.DocumentTypes, "file-"
	case t.acceptsFiles():
		to.Files.Documents = openaiformat.DocumentTypes[:1]
	}
	to.Results = lower.Results{AsTheyCame: true, OneText: !t.isOpenAI, Files: true, Marks: marks.User, MarkLast: true}
	to.Marks = marks
	to.Own = lower.Own{Calls: true, Vendor: true, VendorAssistant: true}
	to.Thoughts = lower.Thoughts{
		Carried: true, Named: true,
		NotLast: func(t *content.Thinking, _ bool) bool { return gjson.Get(itemOf(t), "type").Str == "reasoning" },
		ItemID:  func(t *content.Thinking) string { return gjson.Get(itemOf(t), "id").Str },
		Recall: func(n *upstream.Request) func(content.Part) *loss.Rule {
			r := itemRecall{tools: n.Tools, refused: t.refusals.dropThinking || t.refusals.has(fieldReasoning)}
			return r.rule
		},
	}
}

// isThinkingMember reports whether thinking may be returned in a member. The name comes
// from a client and must not be that of another member.
func isThinkingMember(name string) bool {
	switch name {
	case "reasoning_content", "reasoning", "reasoning_text":
		return true
	}
	return false
}

// chatMembers are the members that the encoder writes. Extra members do not replace
// them.
var chatMembers = []string{
	"model", "messages", "stream", "stream_options", "tools", "tool_choice", "parallel_tool_calls", "functions",
	"function_call", "reasoning_effort", "max_tokens", "max_completion_tokens", "n", "temperature", "top_p", "top_k",
	"presence_penalty", "frequency_penalty", "seed", "stop", "response_format", "modalities", "safety_identifier",
	"service_tier", "store",
}

// responsesMembers are the members that the encoder writes. Extra members do not
// replace them.
var responsesMembers = []string{
	"model", "instructions", "input", "tools", "tool_choice", "parallel_tool_calls", "reasoning", "text",
	"max_output_tokens", "temperature", "top_p", "store", "include", "safety_identifier", "service_tier", "stream",
	"stream_options",
}

// responsesState are the members without which the model would not see the conversation, or
// with which the server would not return the response. Nothing is stored: see [Responses].
var responsesState = []string{"previous_response_id", "conversation", "background"}

// maxStops is the limit of stop sequences.
const maxStops = 4

// maxTopLogprobs is the limit of top_logprobs.
const maxTopLogprobs = 20

// maxUserID is the limit of safety_identifier in bytes.
const maxUserID = 128

// minTokens is OpenAI's smallest limit of output tokens.
const minTokens = 16

// builtInKind returns OpenAI's built-in tool for the purpose of another vendor's tool,
// or "". The kinds of other vendors have a version at the end.
func builtInKind(kind string) string {
	for _, b := range []struct{ prefix, kind string }{
		{"web_search", webSearch}, {"googleSearch", webSearch},
		{"code_execution", codeInterpreter}, {"codeExecution", codeInterpreter},
	} {
		if strings.HasPrefix(kind, b.prefix) {
			return b.kind
		}
	}
	return ""
}

const (
	webSearch       = "web_search"
	codeInterpreter = "code_interpreter"
)

// nameRules returns which names of tools and ids of tool calls are valid. Compatible
// servers may need their own ids back unchanged.
func (t *target) nameRules(f content.Format) *lower.NameRules {
	r := &lower.NameRules{
		Name: lower.Charset{MaxBytes: 64, Punctuation: "_-"},
		ID:   lower.Charset{Punctuation: "_-.:/|+=@#"},
	}
	switch {
	case f == ChatFormat && (t.dialect.ShortIDs || t.refusals.shortIDs):
		r.ID = lower.Charset{Length: 9}
	case !t.isOpenAI:
	case f == ChatFormat:
		r.ID.MaxBytes = 40
	default:
		r.ID.MaxBytes = 64
	}
	return r
}
