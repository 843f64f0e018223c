package openai

import (
	"slices"
	"strings"

	"github.com/polywire/polywire/internal/adapter"
)

// A family is what is known of the vendor's models by their names: see §2.2 of
// the rules that were collected of them.
type family struct {
	known bool

	// efforts are those that it takes; byDefault is what it does without one,
	// empty if it does not reason.
	efforts   []string
	byDefault string

	sampling  sampling
	noStop    bool // stop sequences are refused
	noLimit   bool // max_tokens is refused: it is max_completion_tokens
	serial    bool // parallel_tool_calls is refused
	developer bool // system text has the role developer
	marks     bool // prompt_cache_breakpoint is known
	tools     toolRule
}

// A sampling says when temperature and its like may be sent.
type sampling uint8

const (
	sampleAlways   sampling = iota
	sampleWithNone          // with the effort none only
	sampleNever
)

// A toolRule says how tools are taken on chat completions.
type toolRule uint8

const (
	toolsAny       toolRule = iota
	toolsOmitted            // with the effort none, or without one
	toolsNone               // with the effort none, which has to be said
	toolsElsewhere          // over responses only
)

// efforts from the least to the most.
var ranks = []string{"none", "minimal", "low", "medium", "high", "xhigh", "max"}

// rank returns the place of an effort, or -1.
func rank(effort string) int { return slices.Index(ranks, effort) }

// familyOf returns what is known of a model. Gateways put the name of the
// vendor in front.
func familyOf(model string) family {
	name := strings.ToLower(model[strings.LastIndexByte(model, '/')+1:])
	if strings.HasSuffix(name, "-chat-latest") {
		return family{known: true}
	}
	for _, r := range families {
		for _, p := range r.prefixes {
			if rest, ok := strings.CutPrefix(name, p); ok && (rest == "" || rest[0] == '-' || rest[0] == ':') {
				return r.family
			}
		}
	}
	return family{}
}

func upTo(first, last string) []string { return ranks[rank(first) : rank(last)+1] }

// without none and minimal, with and without them: what families take.
var (
	lowToHigh  = upTo("low", "high")
	minToHigh  = upTo("minimal", "high")
	lowToXHigh = upTo("low", "xhigh")
	noneToHigh = append([]string{"none"}, lowToHigh...)
	noneToX    = append([]string{"none"}, lowToXHigh...)
)

// families is searched from the top: longer names stand before their prefixes.
var families = []struct {
	prefixes []string
	family
}{
	{[]string{"gpt-3.5", "gpt-3.5-turbo", "gpt-4o", "gpt-4.1", "gpt-4.5", "gpt-4", "chatgpt-4o",
		"gpt-5-chat", "gpt-5.1-chat", "gpt-5.2-chat", "gpt-5.4-chat"}, family{known: true}},
	{[]string{"o1", "o3", "o4-mini", "o3-mini", "o1-mini"}, family{known: true, efforts: lowToHigh, byDefault: "medium",
		sampling: sampleNever, noStop: true, noLimit: true, serial: true, developer: true}},
	{[]string{"gpt-5.1"}, family{known: true, efforts: noneToHigh, byDefault: "none",
		sampling: sampleWithNone, noStop: true, noLimit: true, developer: true}},
	{[]string{"gpt-5.2"}, family{known: true, efforts: noneToX, byDefault: "none",
		sampling: sampleWithNone, noStop: true, noLimit: true, developer: true}},
	{[]string{"gpt-5.4", "gpt-5.5"}, family{known: true, efforts: noneToX, byDefault: "none",
		sampling: sampleWithNone, noStop: true, noLimit: true, developer: true, tools: toolsOmitted}},
	{[]string{"gpt-5.6"}, family{known: true, efforts: noneToX, byDefault: "medium",
		sampling: sampleWithNone, noStop: true, noLimit: true, developer: true, marks: true, tools: toolsNone}},
	{[]string{"gpt-5"}, family{known: true, efforts: minToHigh, byDefault: "medium",
		sampling: sampleNever, noStop: true, noLimit: true, developer: true}},
	{[]string{"gpt-6-astra"}, family{known: true, efforts: upTo("low", "max"), byDefault: "medium",
		sampling: sampleNever, noStop: true, noLimit: true, developer: true, marks: true, tools: toolsElsewhere}},
	{[]string{"gpt-6.1-sol"}, family{known: true, efforts: lowToXHigh, byDefault: "medium",
		sampling: sampleNever, noStop: true, noLimit: true, developer: true, marks: true, tools: toolsElsewhere}},
	{[]string{"gpt-6.1-terra"}, family{known: true, efforts: noneToX, byDefault: "medium",
		sampling: sampleWithNone, noStop: true, noLimit: true, developer: true, marks: true, tools: toolsNone}},
	{[]string{"gpt-6.2"}, family{known: true, efforts: lowToXHigh, byDefault: "medium",
		sampling: sampleNever, noStop: true, noLimit: true, developer: true, marks: true, tools: toolsElsewhere}},
	{[]string{"gpt-6", "gpt-6.1"}, family{known: true, efforts: noneToX, byDefault: "medium",
		sampling: sampleWithNone, noStop: true, noLimit: true, developer: true, marks: true, tools: toolsNone}},
}

// outputLimits are those of the vendor's models.
var outputLimits = adapter.OutputLimits{
	"gpt-3.5": 4096, "gpt-3.5-turbo": 4096,
	"gpt-4": 8192, "gpt-4-turbo": 4096, "gpt-4-1106-preview": 4096, "gpt-4-0125-preview": 4096, "gpt-4-vision-preview": 4096,
	"gpt-4.1": 32768, "gpt-4.5": 16384,
	"gpt-4o": 16384, "gpt-4o-2024-05-13": 4096, "chatgpt-4o": 16384,
	"o1": 100000, "o1-mini": 65536, "o1-preview": 32768, "o3": 100000, "o3-mini": 100000, "o4-mini": 100000,
	"gpt-5": 128000, "gpt-5-chat": 16384, "gpt-5.1-chat": 16384, "gpt-5.2-chat": 16384,
}

// most returns how many tokens a response of a model can have, 0 if that is not
// known.
func (c *client) most(model string) int64 {
	n, ok := c.limits.Of(model)
	if !ok {
		n, _ = outputLimits.Of(model)
	}
	return n
}

// limit returns how many tokens the response may have, as the model accepts it.
func (e *encoder) limit() *int64 {
	n, lowered := adapter.Lower(e.n.MaxTokens, e.to.most)
	if lowered {
		e.log.Add(lostLimit, "max_tokens")
	}
	return n
}

// unknownEfforts are what models of other makers are sent.
var unknownEfforts = noneToHigh

// nearest returns the effort of a list that is closest to the one that is
// wanted, the smaller of two; empty if the list is. Thinking is not turned off
// or on by it where it can be helped.
func nearest(list []string, want string) string {
	best, distance := "", 3*len(ranks)
	for _, e := range list {
		d := rank(e) - rank(want)
		if d < 0 {
			d = -d
		}
		if (e == "none") != (want == "none") {
			d += len(ranks) // the last resort
		}
		if d < distance || d == distance && rank(e) < rank(best) {
			best, distance = e, d
		}
	}
	return best
}

// effortOfBudget returns the effort that stands for a number of tokens.
func effortOfBudget(tokens int64) string {
	switch {
	case tokens <= 1024:
		return "low"
	case tokens <= 8192:
		return "medium"
	case tokens <= 24576:
		return "high"
	}
	return "xhigh"
}
