package openai

import (
	"cmp"
	"slices"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/lower"
	"github.com/polywire/polywire/internal/openaiformat"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/openai/chatcompletions"
	"github.com/polywire/polywire/upstream/openai/responses"
)

// A target is the model and server for which a request is encoded.
type target struct {
	isOpenAI    bool
	isAzure     bool
	family      family
	dialect     Dialect
	known       server
	refusals    refusals
	maxTokens   int64 // of a response; 0 means no known limit
	attribution bool  // of a coding agent is sent
}

// efforts returns the efforts that the model supports, as far as they are known.
func (t *target) efforts() []string { return t.refusals.values.Refused.Without(t.listedEfforts()) }

// listedEfforts returns the efforts that the model supports as far as tables show. Others may be in
// the list: a server refuses them.
func (t *target) listedEfforts() []string {
	switch {
	case t.refusals.has(fieldEffort):
		return nil
	case t.dialect.Efforts != nil:
		return t.dialect.Efforts
	case t.family.known:
		return t.family.efforts
	case t.isOpenAI:
		return lower.Efforts // a new model, or one that is fine-tuned or renamed
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

// hasCustomTools reports whether a model of the vendor has free-form tools and a verbosity. Both
// came with GPT-5.
func (t *target) hasCustomTools() bool { return t.family.custom || !t.family.known }

// hasToolSearch reports whether a model of the vendor can search deferred tools, and conversations
// can add tools. That came with GPT-5.4, as phases did.
func (t *target) hasToolSearch() bool { return t.family.phases }

// ownToolWithoutSearch is responses.OwnTool for models that cannot search deferred tools.
func ownToolWithoutSearch(tool *content.Tool) (content.Tool, []lower.MemberLoss) {
	own, losses := responses.OwnTool(tool)
	if own.Kind == responses.ToolSearch {
		return content.Tool{}, nil
	}
	return own, losses
}

// target returns the target for a model, and for the server's name of it.
func (c *client) target(model, deployment string) target {
	t := target{isOpenAI: c.isOpenAI, isAzure: c.isAzure, family: familyOf(model), dialect: c.dialect, known: c.known, refusals: c.refusals.Get(deployment), maxTokens: c.maxTokens(model), attribution: c.attribution}
	if c.format == ResponsesFormat {
		t.family = responsesFamilyOf(model)
	}
	return t
}

// lowerTarget returns what the target accepts, as data. The result does not change with t.
func (t target) lowerTarget(f content.Format) *lower.Target {
	var x *lower.Target
	if f == ResponsesFormat {
		x = responses.BaseTarget()
		t.setResponses(x)
		t.responsesConversation(x)
	} else {
		x = chatcompletions.BaseTarget()
		t.setChat(x)
		t.chatConversation(x)
	}
	x.Names = t.nameRules(f)
	x.Choice = t.choiceRules()
	x.Limit.Max = t.refusals.values.MaxOutput(t.maxTokens)
	x.Identity = t.identityRules()
	x.Conversation.SystemTurns, x.Conversation.Attribution = t.systemTurns(), t.attribution
	x.Files.TextOnly, x.Files.Note = t.dialect.TextOnly, t.dialect.DescribeUnreadable
	x.Files.ImageLinks = t.acceptsLinks()
	x.Files.Details.Of = openaiformat.DetailOf(f, otherFormat(f), t.isOpenAI)
	x.Marks = t.cacheMarks(f)
	x.Results.Marks = x.Marks.User
	x.Tools.Marks = t.markMember(f) == openaiformat.CacheControl
	if t.isOpenAI {
		x.Refusals = true
		x.Tools.Freeform = t.hasCustomTools()
		x.Output.Verbosity = t.hasCustomTools() && !t.refusals.has(fieldVerbosity)
		x.Members.Foreign = slices.Concat(openaiformat.VendorForeignMembers, sharedMembers(f))
	}
	if t.markMember(f) != "" {
		x.Members.Foreign = append(slices.Clip(x.Members.Foreign), lower.ForeignMember{Name: openaiformat.CacheControl, Mark: true})
	}
	return x
}

// otherFormat returns the vendor's other format.
func otherFormat(f content.Format) content.Format {
	if f == ChatFormat {
		return ResponsesFormat
	}
	return ChatFormat
}

// sharedMembers returns the members of the vendor's other format that its servers have in a
// format, too. Chat Completions accepts metadata only with store, and has fewer
// prompt_cache_options.
func sharedMembers(f content.Format) []lower.ForeignMember {
	from := otherFormat(f)
	names, list := []string{openaiformat.CacheKeyName, "prompt_cache_retention", "user"}, []lower.ForeignMember(nil)
	if f == ResponsesFormat {
		names = append(names, "prompt_cache_options", "metadata")
		list = append(list, openaiformat.VerbosityMember("verbosity", from))
	}
	for _, name := range names {
		list = append(list, openaiformat.CopiedMember(name, from, f))
	}
	return list
}

// setChat sets what only Chat Completions has.
func (t *target) setChat(x *lower.Target) {
	x.Members.NoUsage = t.refusals.has(fieldStreamOptions)
	if t.refusals.has(fieldDescription) {
		x.Tools.Description = chatcompletions.MaxDescription
	}
	if !t.isOpenAI {
		x.Output.Modalities = []string{"image"}
	}
	t.setDial(x, ChatFormat)
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
	t.setSampling(&x.Sampling)
	x.Sampling.TopK.Off = t.isOpenAI || t.refusals.has(fieldTopK)
	x.Sampling.Seed.Off = t.refusals.has(fieldSeed)
	x.Sampling.Stops.Off = t.family.noStop || t.refusals.has(fieldStop)
	if t.thinkingMember() == chatcompletions.ThinkingObject { // the server ignores them while the model thinks
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
	if t.isOpenAI {
		x.Tools.Results = !t.refusals.has(fieldOutputSchema)
		x.Tools.Vendor, x.Tools.FunctionsOnly = responses.OwnTool, responses.HasFunctionChoice
		x.Tools.Additions = t.hasToolSearch() && !t.isAzure
		if !t.hasToolSearch() {
			x.Tools.Vendor = ownToolWithoutSearch
		}
	}
	t.setDial(x, ResponsesFormat)
	x.Thinking.NotCarried = !t.neverThinks() && t.refusals.has(fieldReasoning)
	x.Thinking.Dial.Display = lower.DisplayWords
	if t.refusals.has(fieldSummary) {
		x.Thinking.Dial.Display = lower.DisplayRejects
	}
	t.setSampling(&x.Sampling)
	x.Sampling.TopK.Off, x.Sampling.Seed.Off = true, true
	x.Sampling.Presence = lower.Number{Off: true, HasUsual: true}
	x.Sampling.Frequency = lower.Number{Off: true, HasUsual: true}
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

// setDial sets the efforts that are accepted.
func (t *target) setDial(x *lower.Target, f content.Format) {
	x.Thinking.Dial = &lower.Dial{
		Efforts: t.efforts(),
		Refused: t.refusals.has(fieldEffort),
		Never:   t.neverThinks(),
	}
	switch {
	case t.neverThinks(), t.family.defaultEffort == "none":
		x.Thinking.Default = upstream.ThinkingOff
	case t.family.known, f == ChatFormat && t.thinkingMember() != "":
		x.Thinking.Default = upstream.ThinkingAuto
	}
}

// setSampling sets the parameters of sampling that both formats have.
func (t *target) setSampling(r *lower.SamplingRules) {
	known := t.isOpenAI || t.family.known // of other models the defaults are unknown
	number := func(f field, usual float64) lower.Number {
		return lower.Number{
			Off:         t.family.sampling == sampleNever || t.refusals.has(f),
			NotThinking: t.family.sampling == sampleWithNone,
			HasUsual:    known, Usual: usual,
		}
	}
	r.Temperature = number(fieldTemperature, 1)
	r.TopP = number(fieldTopP, 1)
	r.Presence = number(fieldPresencePenalty, 0)
	r.Frequency = number(fieldFrequencyPenalty, 0)
	if t.refusals.has(fieldLogprobs) || t.family.sampling == sampleNever {
		r.Logprobs = nil
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
func (t *target) chatConversation(x *lower.Target) {
	x.Conversation.Prefill = t.known.prefix
	x.Conversation.AnswerResults, x.Conversation.UserFirst = t.dialect.StrictRoles, t.dialect.StrictRoles
	x.Files.Audio = t.audioTypes()
	if t.isOpenAI {
		x.Files.Images = openaiformat.ImageTypes
	} else {
		x.Conversation.JoinUser = lower.JoinAlways
	}
	if t.acceptsFiles() {
		x.Files.Documents = []string{openaiformat.TypePDF}
	}
	x.Thoughts.Recall = t.recallChat
	member := t.forcedThinkingMember()
	switch {
	case t.refusals.has(fieldReasoning), member == "-":
	case member != "":
		x.Thoughts.Unsigned = lower.UnsignedAny
	case !t.isOpenAI:
		x.Thoughts.Unsigned = lower.UnsignedOnly // the client returns only its text
	}
	if member != "" && member != "-" {
		x.Thoughts.Missing = lower.ThinkingEmpty
		if t.refusals.thinkingMember != "" {
			x.Thoughts.Missing = lower.ThinkingMissing
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

// recallChat returns which thinking can be returned in Chat Completions.
func (t *target) recallChat(*upstream.Request) func(content.Part) *loss.Rule {
	member := t.forcedThinkingMember()
	if t.isOpenAI && member == "" || member == "-" || t.refusals.has(fieldReasoning) {
		return func(content.Part) *loss.Rule { return lower.Thinking }
	}
	return chatcompletions.RecallThinking(member)
}

// responsesConversation sets what Responses accepts in conversations.
func (t *target) responsesConversation(x *lower.Target) {
	x.Conversation.SentenceTurn = t.isOpenAI
	x.Files.DocumentLinks = t.isOpenAI
	x.Files.Details.Documents = true
	switch {
	case t.isOpenAI:
		x.Files.Documents, x.Files.IDPrefix = openaiformat.DocumentTypes, "file-"
	case t.acceptsFiles():
		x.Files.Documents = openaiformat.DocumentTypes[:1]
	}
	x.Results.OneText = !t.isOpenAI
	refused := t.refusals.dropThinking || t.refusals.has(fieldReasoning)
	x.Thoughts.Recall = func(n *upstream.Request) func(content.Part) *loss.Rule {
		return responses.RecallItems(n, refused)
	}
}

// maxUserID is the limit of safety_identifier in bytes.
const maxUserID = 128

// nameRules returns which names of tools and ids of tool calls are valid. Compatible
// servers may need their own ids back unchanged.
func (t *target) nameRules(f content.Format) *lower.NameRules {
	r := &lower.NameRules{
		Name: lower.Charset{MaxBytes: 64, Punctuation: "_-"},
		ID:   lower.Charset{Punctuation: "_-.:/|+=@#"},
	}
	r.Namespaces = t.isOpenAI && f == ResponsesFormat
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
