package generatecontent

import (
	"math"
	"slices"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/schema"
	"github.com/polywire/polywire/upstream"
)

// A Target says what the server that a request is for takes, as far as the
// servers and models of this format differ. The zero value is a server that
// takes all that the format can say.
type Target struct {
	// ClosedSchemas says that schemas have to be in the format's own closed
	// dialect: "parameters" instead of "parametersJsonSchema".
	ClosedSchemas bool

	// FilesAfterResults says that results hold no files: they stand behind the result
	// instead, in the same turn.
	FilesAfterResults bool

	// SignedCalls says that the first call of each step needs a signature. Where
	// there is none the value goes that the vendor has for this.
	SignedCalls bool

	// NoMixedTools says that the vendor's own tools cannot stand beside
	// functions. Those that came in this format stay where they are.
	NoMixedTools bool

	// FilesInlined says that the request is filled by [upstream.Request.Inline] before
	// it is sent: what the format lacks for files that are put in then is no
	// loss.
	FilesInlined bool
}

// RequestFromUpstream says a neutral request in this format, and reports what the format
// cannot say. The result shares parts and lists with n; where something had to
// be changed, it was copied first. Without losses the way from a [Request] to
// its neutral form and back gives an equal request, but for configurations with
// nothing in them and for the spelling of schemas.
//
// Names of tools and ids of calls are not changed; whether they fit the
// format's rules is for [Request.Validate] or whoever maps them.
//
// What one turn of a conversation becomes does not depend on the turns behind
// it, so vendors find the beginning of a conversation in their caches again. A
// system text that only holds until the user speaks again is left out from then
// on, which is no loss.
func RequestFromUpstream(n *upstream.Request) (*Request, []content.Loss) {
	return RequestForTarget(n, Target{})
}

// RequestForTarget is RequestFromUpstream for a server that takes less.
func RequestForTarget(n *upstream.Request, t Target) (*Request, []content.Loss) {
	c := converter{Losses: codec.Losses{Format: Format}, target: t, from: n, to: fragment(n.Extra)}
	r := c.to
	c.Foreign(n.Extra, "extra")
	r.Model = n.Model
	c.system()
	c.path.Push("turns")
	r.Contents = c.turns(n.Turns)
	c.path.Pop()
	r.Tools = c.tools(n.Tools)
	c.choice()
	c.config()
	c.tier()
	if n.UserID != "" {
		c.Report(userName, "user_id")
	}
	return r, loss.Unique(c.Losses.Losses)
}

// fragment reads back what leftover has made. Whoever writes an Extra by hand
// can have anything in it; what is no good is left zero.
func fragment(x *content.Extra) *Request {
	w := &whole{}
	if doc := codec.Open(x, Format); doc != nil {
		defer doc.Close()
		p := parser{origin: &w.origin, size: 1}
		if doc.Root().Kind() == jsonwire.Object {
			p.request(doc.Root(), w)
		}
	}
	return &w.request
}

type converter struct {
	codec.Losses
	target    Target
	schemas   schema.Spare
	mapped    bool            // there is a tool of the vendor's in place of another's
	chosen    map[string]bool // the names of the choice
	chooses   bool            // one of these is a tool's
	functions bool            // there are some
	from      *upstream.Request
	to        *Request
	path      codec.Path

	empty   bool               // the turn has nothing but empty texts, of which the first stays
	calls   []*content.ToolUse // of the step whose results come next
	results int                // of these, how many have come
	byID    map[string]string  // the names of these, by their ids; by need
	at      int                // the turn at hand
	names   map[string]string  // of calls, by their ids; by need,
	named   int                // of the turns before this one
	current int                // the turn in which the current one of the conversation begins
	answers int                // the last turn of the assistant, -1 if there is none
	rowEnd  int                // behind the turns that the assistant has in a row at hand
	calling bool               // whether there is a call in one of these
}

// lost notes a loss at the path, or at a member there.
func (c *converter) lost(r *loss.Rule, names ...string) { c.Report(r, c.path.At(names...)) }

// foreign notes members of another format.
func (c *converter) foreign(x *content.Extra) {
	if x != nil && x.Format != Format {
		c.Foreign(x, c.path.At("extra"))
	}
}

// cache notes a mark, of which the format has none.
func (c *converter) cache(m *content.Cache) {
	if m != nil {
		c.lost(cacheMark, "cache")
	}
}

// system converts the system parts, which can only be texts.
func (c *converter) system() {
	c.path.Push("system")
	parts, _ := c.parts(c.from.System, content.RoleSystem)
	c.path.Pop()
	if s := c.to.SystemInstruction; s != nil {
		s.Parts = parts
	} else if len(parts) > 0 {
		c.to.SystemInstruction = &Instruction{Parts: parts}
	}
}

func (c *converter) config() {
	g := c.to.GenerationConfig
	if g == nil {
		g = &GenerationConfig{}
	}
	g.CandidateCount = int64(c.from.Candidates)
	c.sampling(g)
	c.stops(g)
	c.output(g)
	if g.ThinkingConfig == nil || !g.ThinkingConfig.says(&c.from.Thinking) {
		g.ThinkingConfig = c.thinking()
	}
	if c.to.GenerationConfig == nil && g.some() {
		c.to.GenerationConfig = g
	}
}

// some reports whether a configuration says anything that RequestFromUpstream sets.
func (c *GenerationConfig) some() bool {
	return c.MaxOutputTokens != nil || c.Temperature != nil || c.TopP != nil || c.TopK != nil || c.Seed != nil ||
		c.PresencePenalty != nil || c.FrequencyPenalty != nil || len(c.StopSequences) > 0 || c.CandidateCount != 0 ||
		c.ResponseMimeType != "" || c.ResponseSchema != "" || c.ResponseJSONSchema != "" ||
		len(c.ResponseModalities) > 0 || c.ImageConfig != nil || c.ThinkingConfig != nil
}

// sampling sets the numbers that the format takes. Those out of its range are
// left out: what would be the next best is not for us to say.
func (c *converter) sampling(g *GenerationConfig) {
	const low, high = -1 << 31, 1<<31 - 1
	below2 := math.Nextafter(2, 0) // "up to 2" does not take in 2
	n := c.from
	g.MaxOutputTokens = inRange(c, n.MaxTokens, low, high, maxTokensRange, "max_tokens")
	g.Temperature = inRange(c, n.Temperature, 0, 2, temperatureRange, "temperature")
	g.TopP = inRange(c, n.TopP, 0, 1, topPRange, "top_p")
	g.TopK = inRange(c, n.TopK, 1, high, topKRange, "top_k")
	g.Seed = inRange(c, n.Seed, low, high, seedRange, "seed")
	g.PresencePenalty = inRange(c, n.PresencePenalty, -2, below2, penaltyRange, "presence_penalty")
	g.FrequencyPenalty = inRange(c, n.FrequencyPenalty, -2, below2, penaltyRange, "frequency_penalty")
}

// inRange returns n if it is within bounds, else nil.
func inRange[T int64 | float64](c *converter, n *T, low, high T, r *loss.Rule, path string) *T {
	if n == nil || *n >= low && *n <= high {
		return n
	}
	c.Report(r, path)
	return nil
}

func (c *converter) stops(g *GenerationConfig) {
	list := c.from.StopSequences
	if slices.Contains(list, "") {
		c.Report(stopEmpty, "stop_sequences")
		list = slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s == "" })
	}
	if len(list) > maxStops {
		c.Report(stopMany, "stop_sequences")
		list = list[:maxStops:maxStops]
	}
	g.StopSequences = list
}

// tiers are what other formats call the tiers of this one.
var tiers = map[string]string{"standard_only": "standard", "default": "standard"}

func (c *converter) tier() {
	t := c.from.ServiceTier
	if own := tiers[t]; own != "" {
		t = own
	}
	if t == "auto" { // it leaves the choice to the vendor, as no word does
		return
	}
	if t != "" && !slices.Contains(serviceTier.values, t) {
		c.Report(tierUnknown, "service_tier")
		return
	}
	c.to.ServiceTier = t
}
