package openai

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/adapter"
	"github.com/polywire/polywire/internal/lower"
	"github.com/polywire/polywire/upstream/openai/chatcompletions"
)

// A ServerKind selects the rules that a server follows.
type ServerKind uint8

const (
	// ServerByHost means ServerOpenAI for the hosts of OpenAI and Azure, and
	// ServerCompatible for all others.
	ServerByHost ServerKind = iota

	// ServerOpenAI rejects members that it does not know, and has rules for each model
	// family.
	ServerOpenAI

	// ServerCompatible ignores members that it does not know. It supports max_tokens,
	// the role "system" for the first message only, and images as base64.
	ServerCompatible

	// ServerAzure is ServerOpenAI for Azure at a host that does not show it, such as a
	// gateway. It changes the default of Options.KeyHeader.
	ServerAzure
)

// ThinkTags selects the meaning of <think> and </think> in response text.
type ThinkTags = chatcompletions.ThinkTags

const (
	// ThinkTagsOff keeps them as text.
	ThinkTagsOff = chatcompletions.ThinkTagsOff

	// ThinkTagsLeading converts the text between them to thinking if the response
	// begins with <think>.
	ThinkTagsLeading = chatcompletions.ThinkTagsLeading

	// ThinkTagsOpen is for chat templates that end with <think>: a response begins with
	// thinking, and its text begins after </think>. For requests that turn thinking off
	// it means ThinkTagsLeading.
	ThinkTagsOpen = chatcompletions.ThinkTagsOpen
)

// A Dialect describes how a server differs from others, where its responses do not show
// it.
type Dialect struct {
	// Kind selects the rules of the server. The zero value is ServerByHost.
	Kind ServerKind

	// Efforts lists the values of reasoning_effort that the models support, in any
	// order, out of "none", "minimal", "low", "medium", "high", "xhigh" and "max". Nil
	// means the efforts that OpenAI documents for a model of that name. For other
	// names, nil means "none", "low", "medium" and "high" on compatible servers, and
	// all of them on OpenAI's and Azure's. DeepSeek's own host has another
	// default. With an empty list that is not nil, no effort is sent. If the server rejects an
	// effort, the request is sent again with the nearest other one.
	Efforts []string

	// Reasoning is the member of assistant messages that returns earlier thinking to
	// the server: "reasoning_content", "reasoning", or "-" for none. If Reasoning is
	// empty, only compatible servers receive earlier thinking: the thinking before tool
	// calls, in the member that the server used for it, or in reasoning_content if the client
	// returned only the text. If Reasoning names a member,
	// all messages with tool calls have that member.
	Reasoning string

	// ThinkTags is for servers that leave thinking in the text. Chat Completions only.
	ThinkTags ThinkTags

	// Thinking is the member that turns thinking on and off on a compatible server, in
	// addition to the effort. "thinking" is DeepSeek's, whose models ignore sampling
	// parameters while they think. "chat_template_kwargs" is for chat templates that
	// use enable_thinking or thinking, as vLLM passes them on. "-" means none. Empty
	// means "thinking" for DeepSeek's own host and none for all others. Chat
	// Completions only.
	Thinking string

	// ShortIDs limits the ids of tool calls to nine letters and digits. It is set for
	// Mistral's own host. If another server rejects an id for that reason, the request
	// is sent again with short ids. Chat Completions only.
	ShortIDs bool

	// StrictRoles is for servers and chat templates that reject turns of one role in a
	// row, and user text directly behind tool results, where it sends a sentence of the
	// assistant between them. A conversation begins with the user. Chat Completions only.
	StrictRoles bool

	// TextOnly specifies that the models read only text. A request with any other file
	// fails with an error that has the path of the part.
	TextOnly bool

	// Files specifies that a compatible server accepts PDFs, and Links that it fetches
	// images by URL. OpenAI's servers do both.
	Files, Links bool

	// CacheControl specifies that a compatible server accepts the cache marks of Messages,
	// as "cache_control" in the texts of all messages. The content of messages with several
	// texts, and of tool messages, is then a list. It is set for OpenRouter's own host. Chat
	// Completions only.
	CacheControl bool

	// DescribeUnreadable replaces each file that the server does not accept with a
	// sentence that the file cannot be read, and reports the file as dropped. An agent
	// with a PDF in its history can then continue, and find another way to read the
	// file. By default such a file is an error.
	DescribeUnreadable bool
}

// problems returns the errors of d, one line each.
func (d *Dialect) problems() []string {
	var problems []string
	for _, e := range d.Efforts {
		if !slices.Contains(lower.Efforts, e) { // bounded by Efforts
			problems = append(problems, fmt.Sprintf("Dialect.Efforts: %q is not an effort; want one of %s", e, strings.Join(lower.Efforts, ", ")))
		}
	}
	switch d.Reasoning {
	case "", "-", "reasoning_content", "reasoning":
	default:
		problems = append(problems, fmt.Sprintf("Dialect.Reasoning: %q is not supported; want reasoning_content, reasoning or -", d.Reasoning))
	}
	switch d.Thinking {
	case "", "-", chatcompletions.ThinkingObject, chatcompletions.TemplateArguments:
	default:
		problems = append(problems, fmt.Sprintf("Dialect.Thinking: %q is not supported; want thinking, chat_template_kwargs or -", d.Thinking))
	}
	if d.Kind > ServerAzure {
		problems = append(problems, fmt.Sprintf("Dialect.Kind: %d is not a ServerKind", d.Kind))
	}
	if d.ThinkTags > ThinkTagsOpen {
		problems = append(problems, fmt.Sprintf("Dialect.ThinkTags: %d is not valid", d.ThinkTags))
	}
	return problems
}

// A server is what a known server of Chat Completions differs in from others.
type server struct {
	defaults Dialect // for fields of the caller's Dialect that are not set
	seed     string  // the member "seed" has this name; "" means its own
	apart    bool    // thinking above the completion tokens is billed in addition to them; see openaiformat.Usage
	prefix   bool    // the member "prefix" marks the beginning of a response, which the model continues

	phases    bool             // messages of the assistant in Responses have a phase
	cacheKeys []content.Format // of requests that may have the member prompt_cache_key
}

// servers are the known servers, by host. Another server needs an entry only. What they do
// for prompt caches is from their documentation of November 2026.
var servers = map[string]server{
	"api.deepseek.com": {defaults: Dialect{Thinking: chatcompletions.ThinkingObject, Efforts: []string{"none", "low", "high", "max"}}, phases: true},
	"api.mistral.ai": {defaults: Dialect{ShortIDs: true, Efforts: []string{"none", "high"}}, seed: "random_seed", prefix: true,
		cacheKeys: []content.Format{ChatFormat}},
	"api.x.ai":             {cacheKeys: []content.Format{ResponsesFormat}, apart: true},
	"openrouter.ai":        {defaults: Dialect{CacheControl: true}},
	"ai-gateway.vercel.sh": {apart: true},
}

// setDefaults sets the options that the caller has not set.
func (d *Dialect) setDefaults(own *Dialect) {
	d.Thinking = cmp.Or(d.Thinking, own.Thinking)
	if d.Efforts == nil {
		d.Efforts = own.Efforts
	}
	d.ShortIDs = d.ShortIDs || own.ShortIDs
	d.CacheControl = d.CacheControl || own.CacheControl
}

// A family holds the rules of one family of OpenAI's models, found by the model name.
type family struct {
	known bool

	// efforts are the supported values of reasoning_effort. defaultEffort applies
	// without one; it is empty if the models do not think.
	efforts       []string
	defaultEffort string

	sampling    samplingRule
	noStop      bool // stop is rejected
	noMaxTokens bool // max_tokens is rejected in favor of max_completion_tokens
	noParallel  bool // parallel_tool_calls is rejected
	developer   bool // system text has the role developer
	cacheMarks  bool // prompt_cache_breakpoint is supported
	audio       bool // input_audio is supported
	phases      bool // messages of the assistant have a phase
	custom      bool // custom tools and a verbosity are supported
	tools       toolRule
}

// A samplingRule specifies when sampling parameters are accepted.
type samplingRule uint8

const (
	sampleAlways   samplingRule = iota
	sampleWithNone              // only with the effort none
	sampleNever
)

// A toolRule specifies when Chat Completions accepts tools.
type toolRule uint8

const (
	toolsAny           toolRule = iota
	toolsNoneOrOmitted          // with the effort none, or without an effort
	toolsWithNone               // only with an explicit effort none
	toolsResponsesOnly          // only in the Responses API
)

// familyOf returns the rules of a model. The name may have the prefix of a gateway,
// such as "openai/".
func familyOf(model string) family {
	name := strings.ToLower(model[strings.LastIndexByte(model, '/')+1:])
	if strings.HasSuffix(name, "-chat-latest") {
		return family{known: true}
	}
	for _, r := range families {
		for _, p := range r.prefixes {
			if rest, ok := strings.CutPrefix(name, p); ok && (rest == "" || rest[0] == '-' || rest[0] == ':') {
				f := r.family
				f.audio = strings.Contains(rest, "audio")
				return f
			}
		}
	}
	return family{}
}

func effortRange(first, last string) []string {
	return lower.Efforts[slices.Index(lower.Efforts, first) : slices.Index(lower.Efforts, last)+1] // bounded by Efforts
}

// Common ranges of efforts.
var (
	lowToHigh   = effortRange("low", "high")
	minToHigh   = effortRange("minimal", "high")
	lowToXHigh  = effortRange("low", "xhigh")
	noneToHigh  = append([]string{"none"}, lowToHigh...)
	noneToXHigh = append([]string{"none"}, lowToXHigh...)
	noneToMax   = append([]string{"none"}, effortRange("low", "max")...)
)

// families is searched from the top: longer names come before their prefixes.
var families = []struct {
	prefixes []string
	family
}{
	{[]string{"gpt-3.5", "gpt-3.5-turbo", "gpt-4o", "gpt-4.1", "gpt-4.5", "gpt-4", "chatgpt-4o",
		"gpt-5-chat", "gpt-5.1-chat", "gpt-5.2-chat", "gpt-5.4-chat"}, family{known: true}},
	{[]string{"o1", "o3", "o4-mini", "o3-mini", "o1-mini"}, family{known: true, efforts: lowToHigh, defaultEffort: "medium",
		sampling: sampleNever, noStop: true, noMaxTokens: true, noParallel: true, developer: true}},
	{[]string{"gpt-5.1"}, family{known: true, efforts: noneToHigh, defaultEffort: "none",
		sampling: sampleWithNone, noStop: true, noMaxTokens: true, developer: true, custom: true}},
	{[]string{"gpt-5.2"}, family{known: true, efforts: noneToXHigh, defaultEffort: "none",
		sampling: sampleWithNone, noStop: true, noMaxTokens: true, developer: true, custom: true}},
	{[]string{"gpt-5.4", "gpt-5.5"}, family{known: true, efforts: noneToXHigh, defaultEffort: "none",
		sampling: sampleWithNone, noStop: true, noMaxTokens: true, developer: true, custom: true, phases: true, tools: toolsNoneOrOmitted}},
	{[]string{"gpt-5.6"}, family{known: true, efforts: noneToMax, defaultEffort: "medium",
		sampling: sampleWithNone, noStop: true, noMaxTokens: true, developer: true, custom: true, phases: true, cacheMarks: true, tools: toolsWithNone}},
	{[]string{"gpt-5"}, family{known: true, efforts: minToHigh, defaultEffort: "medium",
		sampling: sampleNever, noStop: true, noMaxTokens: true, developer: true, custom: true}},
	{[]string{"gpt-6-astra"}, family{known: true, efforts: effortRange("low", "max"), defaultEffort: "medium",
		sampling: sampleNever, noStop: true, noMaxTokens: true, developer: true, custom: true, phases: true, cacheMarks: true, tools: toolsResponsesOnly}},
	{[]string{"gpt-6.1-sol"}, family{known: true, efforts: lowToXHigh, defaultEffort: "medium",
		sampling: sampleNever, noStop: true, noMaxTokens: true, developer: true, custom: true, phases: true, cacheMarks: true, tools: toolsResponsesOnly}},
	{[]string{"gpt-6.2"}, family{known: true, efforts: lowToXHigh, defaultEffort: "medium",
		sampling: sampleNever, noStop: true, noMaxTokens: true, developer: true, custom: true, phases: true, cacheMarks: true, tools: toolsResponsesOnly}},
	{[]string{"gpt-6", "gpt-6.1"}, family{known: true, efforts: noneToMax, defaultEffort: "medium",
		sampling: sampleWithNone, noStop: true, noMaxTokens: true, developer: true, custom: true, phases: true, cacheMarks: true, tools: toolsWithNone}},
}

// knownOutputLimits are the limits of OpenAI's models.
var knownOutputLimits = adapter.OutputLimits{
	"gpt-3.5": 4096, "gpt-3.5-turbo": 4096,
	"gpt-4": 8192, "gpt-4-turbo": 4096, "gpt-4-1106-preview": 4096, "gpt-4-0125-preview": 4096, "gpt-4-vision-preview": 4096,
	"gpt-4.1": 32768, "gpt-4.5": 16384,
	"gpt-4o": 16384, "gpt-4o-2024-05-13": 4096, "chatgpt-4o": 16384,
	"o1": 100000, "o1-mini": 65536, "o1-preview": 32768, "o3": 100000, "o3-mini": 100000, "o4-mini": 100000,
	"gpt-5": 128000, "gpt-5-chat": 16384, "gpt-5.1-chat": 16384, "gpt-5.2-chat": 16384,
}

// maxTokens returns the limit of output tokens of a model, or 0 if it is unknown.
func (c *client) maxTokens(model string) int64 {
	n, ok := c.limits.Lookup(model)
	if !ok {
		n, _ = knownOutputLimits.Lookup(model)
	}
	return n
}

// defaultEfforts are the efforts of models of other vendors.
var defaultEfforts = noneToHigh

// responsesFamilyOf is familyOf for the Responses API, which accepts more efforts.
func responsesFamilyOf(model string) family {
	f := familyOf(model)
	switch name := strings.ToLower(model[strings.LastIndexByte(model, '/')+1:]); {
	case strings.HasPrefix(name, "gpt-6.1-sol"), strings.HasPrefix(name, "gpt-6.2"):
		f.efforts = effortRange("low", "max")
	case strings.HasPrefix(name, "gpt-5-pro"):
		f.efforts, f.defaultEffort = []string{"high"}, "high"
	}
	return f
}
