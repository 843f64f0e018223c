package anthropic

import (
	"fmt"
	"slices"

	"github.com/polywire/polywire/internal/test/fake"
)

var topRules = []rule{
	{"model", "§1.1 [report]", 404, func(a *ask) string {
		if known := a.server.opts.Models; known != nil && !slices.Contains(known, a.model.name) {
			return "model: " + a.model.name
		}
		return ""
	}},
	{"max_tokens", "§2.1 [report]", 0, func(a *ask) string {
		n, _ := a.doc.Num("max_tokens")
		if limit := a.server.opts.MaxTokens; int(n) > limit {
			return fmt.Sprintf("max_tokens: %d > %d, which is the maximum allowed number of output tokens for %s", int(n), limit, a.model.name)
		}
		return ""
	}},
	{"prewarm", "§2.1 [docs]", 0, func(a *ask) string {
		n, set := a.doc.Num("max_tokens")
		if set && n == 0 && (a.doc.True("stream") || a.thinking() == "enabled" || a.forced() || a.doc.Get("output_config").Get("format") != nil) {
			return "max_tokens: 0 cannot be used with stream, thinking, output_config.format or a forced tool_choice"
		}
		return ""
	}},
	{"stop_sequences", "§2.1 [report]", 0, func(a *ask) string {
		for _, s := range a.doc.List("stop_sequences") {
			if fake.Blank(s.Str) {
				return "stop_sequences: each stop sequence must contain non-whitespace"
			}
		}
		return ""
	}},
	{"sampling-version", "§1.2 [docs]", 0, func(a *ask) string {
		for _, name := range []string{"temperature", "top_p", "top_k"} {
			if a.latest() && a.doc.Has(name) {
				return name + ": Extra inputs are not permitted"
			}
		}
		return ""
	}},
	{"sampling-unset", "§2.1 [report]", 0, func(a *ask) string {
		if p, ok := a.doc.Num("top_p"); ok && p == -1 && a.model.version >= 41 {
			return "`top_p` cannot be set to -1 for this model."
		}
		return ""
	}},
	{"sampling-model", "§2.1 [docs][report]", 0, samplingModel},
	{"sampling-both", "agents.md §2", 0, func(a *ask) string {
		if a.model.oneSampler() && a.doc.Has("temperature") && a.doc.Has("top_p") {
			return "`temperature` and `top_p` cannot both be specified for this model. Please use only one."
		}
		return ""
	}},
	{"output_format", "§2.2", 0, func(a *ask) string {
		if a.doc.Get("output_format") != nil && a.doc.Get("output_config").Get("format") != nil {
			return "output_format: cannot be used with output_config.format"
		}
		return ""
	}},
	{"compaction", "§2.2", 0, func(a *ask) string {
		if a.doc.Get("compaction") != nil && a.doc.Get("context_management") != nil {
			return "compaction: cannot be used with context_management"
		}
		return ""
	}},
	{"fallbacks", "§2.2, §7", 0, func(a *ask) string {
		if a.doc.Get("fallbacks") != nil && a.doc.Get("fallback_credit_token") != nil {
			return "fallback_credit_token: cannot be used with fallbacks"
		}
		var seen []string
		for _, f := range a.doc.List("fallbacks") {
			if slices.Contains(seen, f.Text("model")) && f.Kind == fake.Object {
				return "fallbacks: models must be distinct"
			}
			seen = append(seen, f.Text("model"))
		}
		return ""
	}},
	{"count", "§2.7 [docs]", 0, countRule},
	{"cache-count", "§2.3 [report]", 0, func(a *ask) string {
		if n := len(a.marks()); n > 4 {
			return fmt.Sprintf("A maximum of 4 blocks with cache_control may be provided. Found %d.", n)
		}
		return ""
	}},
	{"cache-order", "§2.3 [report]", 0, func(a *ask) string {
		short := false
		for _, m := range a.marks() {
			if m.ttl == "1h" && short {
				return m.at + ".cache_control.ephemeral.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks are processed in the following order: `tools`, `system`, `messages`."
			}
			short = short || m.ttl != "1h"
		}
		return ""
	}},
	{"cache-top", "§2.1 [docs]", 0, func(a *ask) string {
		top := a.doc.Get("cache_control")
		if top == nil || len(a.turns) == 0 {
			return ""
		}
		last := a.turns[len(a.turns)-1].blocks
		if len(last) == 0 {
			return ""
		}
		if own := last[len(last)-1].Get("cache_control"); own != nil && ttl(own) != ttl(top) {
			return "cache_control: the last block is already marked with another ttl"
		}
		return ""
	}},
	{"cache-deferred", "§2.3 [docs]", 0, func(a *ask) string {
		for i, t := range a.tools() {
			if t.Get("cache_control") != nil && t.True("defer_loading") {
				return fmt.Sprintf("tools.%d: cache_control cannot be set for a tool with defer_loading", i)
			}
		}
		return ""
	}},
}

// samplingModel rejects sampling settings that newer models do not support.
func samplingModel(a *ask) string {
	if !a.model.noSampling() {
		return ""
	}
	if t, ok := a.doc.Num("temperature"); ok && t != 1 {
		return "`temperature` is deprecated for this model."
	}
	if p, ok := a.doc.Num("top_p"); ok && p < 0.99 {
		return "`top_p` is deprecated for this model."
	}
	if a.doc.Has("top_k") {
		return "`top_k` is deprecated for this model."
	}
	return ""
}

// countRule rejects what count_tokens does not support.
func countRule(a *ask) string {
	if !a.count {
		return ""
	}
	for i, t := range a.tools() {
		if isServerTool(t) {
			return fmt.Sprintf("tools.%d: server tools are not supported by count_tokens", i)
		}
	}
	if a.doc.Get("mcp_servers") != nil {
		return "mcp_servers: not supported by count_tokens"
	}
	return a.allBlocks(func(at string, n *fake.Node) string {
		if kind := n.Get("source").Text("type"); kind == "url" || kind == "file" {
			return at + ".source: " + kind + " sources are not supported by count_tokens"
		}
		return ""
	})
}

// A mark is a cache_control member.
type mark struct{ at, ttl string }

func ttl(n *fake.Node) string {
	if s := n.Text("ttl"); s != "" {
		return s
	}
	return "5m"
}

// marks returns the cache_control members in the order in which the vendor
// reads them.
func (a *ask) marks() []mark {
	var all []mark
	add := func(at string, n *fake.Node) string {
		if c := n.Get("cache_control"); c != nil {
			all = append(all, mark{at, ttl(c)})
		}
		return ""
	}
	for i, t := range a.tools() {
		add(fmt.Sprintf("tools.%d", i), t)
	}
	if sys := a.doc.Get("system"); sys != nil && sys.Kind == fake.Array {
		for i, b := range sys.Items {
			add(fmt.Sprintf("system.%d", i), b)
		}
	}
	a.allBlocks(add)
	if c := a.doc.Get("cache_control"); c != nil {
		all = append(all, mark{"cache_control", ttl(c)})
	}
	return all
}
