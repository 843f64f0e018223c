package anthropic

var thinkingRules = []rule{
	{"thinking-mode", "§2.5 [docs][report]", 0, func(a *ask) string {
		if mode := a.thinking(); mode != "" {
			return a.model.thinks(mode)
		}
		return ""
	}},
	{"thinking-budget", "§2.5 [report], §7", 0, func(a *ask) string {
		budget, set := a.doc.Get("thinking").Num("budget_tokens")
		limit, _ := a.doc.Num("max_tokens")
		if set && !a.count && budget >= limit && !a.betas("interleaved-thinking-2025-05-14") {
			return "`max_tokens` must be greater than `thinking.budget_tokens`."
		}
		return ""
	}},
	{"thinking-forced", "§2.5 [report]", 0, func(a *ask) string {
		if a.thinking() == "enabled" && a.forced() {
			return "Thinking may not be enabled when tool_choice forces tool use."
		}
		return ""
	}},
	{"thinking-effort", "§2.5 [docs]", 0, func(a *ask) string {
		if e := a.effort(); a.model.is("opus", 50) && a.thinking() == "disabled" && (e == "xhigh" || e == "max") {
			return `"thinking.type.disabled" is not supported with effort ` + e + "."
		}
		return ""
	}},
	{"thinking-temperature", "§2.5 [report]", 0, func(a *ask) string {
		if t, set := a.doc.Num("temperature"); set && t != 1 && a.reasons() {
			return "`temperature` may only be set to 1 when thinking is enabled or in adaptive mode"
		}
		return ""
	}},
	{"thinking-top_p", "§2.5 [docs][report]", 0, func(a *ask) string {
		if p, set := a.doc.Num("top_p"); set && p >= 0 && p < 0.95 && a.reasons() {
			return "`top_p` must be unset when thinking is enabled."
		}
		return ""
	}},
	{"thinking-top_k", "agents.md §2", 0, func(a *ask) string {
		if k, set := a.doc.Num("top_k"); set && k >= 0 && a.reasons() {
			return "`top_k` must be unset when thinking is enabled."
		}
		return ""
	}},
}

// mayThink reports whether the response may have thinking blocks: models before
// 4.6 think only if the request enables it.
func (a *ask) mayThink() bool {
	return a.reasons() || a.thinking() == "" && (a.model.version == 0 || a.model.version >= 46)
}

// reasons reports whether the request selects a thinking mode.
func (a *ask) reasons() bool { return a.thinking() == "enabled" || a.thinking() == "adaptive" }
