package messages

import (
	"math"
	"strconv"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
)

// Known values of settings. The types are closed; of the others only Strict refuses
// unknown ones. The lists are never changed.
var (
	serviceTiers  = []string{"auto", "standard_only"}
	speeds        = []string{"standard", "fast"}
	effortNames   = []string{"low", "medium", "high", "xhigh", "max"}
	thinkingTypes = []string{"adaptive", "enabled", "disabled", "between_tools"}
	displays      = []string{"summarized", "omitted", "updates"}
	choiceTypes   = []string{"auto", "any", "tool", "none"}
	ttls          = []string{"5m", "1h"}
)

// settings checks the top level but for tools, system and messages.
func (v *validator) settings() {
	r := v.r
	if m := r.Metadata; m != nil {
		v.atMost(m.UserID, 512, "metadata", "user_id")
		v.extraAt(m.Extra, nil, "metadata")
	}
	for i, s := range r.StopSequences {
		if isBlank(s) && !r.violated("stop_sequences."+strconv.Itoa(i)) {
			v.whole(content.CodeValue, "stop_sequences", "each stop sequence must contain non-whitespace")
			break
		}
	}
	v.sampling()
	v.toolChoice()
	v.thinking()
	v.outputConfig()
	v.oneOf(r.ServiceTier, serviceTiers, "service_tier")
	v.oneOf(r.Speed, speeds, "speed")
	v.extra(r.Extra, nil)
	if v.opts.Count && v.opts.Strict {
		v.countOnly()
	}
}

// countOnly reports members that count_tokens does not have.
func (v *validator) countOnly() {
	r := v.r
	for _, m := range []struct {
		name string
		has  bool
	}{
		{"max_tokens", r.MaxTokens != nil}, {"stream", r.Stream}, {"metadata", r.Metadata != nil},
		{"stop_sequences", len(r.StopSequences) > 0}, {"temperature", r.Temperature != nil},
		{"top_p", r.TopP != nil}, {"top_k", r.TopK != nil}, {"service_tier", r.ServiceTier != ""},
		{"inference_geo", r.InferenceGeo != ""}, {"container", r.Container != ""},
		{"diagnostics", r.Diagnostics != ""}, {"thread", r.Thread != ""}, {"fallbacks", r.Fallbacks != ""},
		{"fallback_credit_token", r.FallbackCreditToken != ""},
	} {
		if m.has {
			v.whole(content.CodeUnknown, m.name, textExtra)
		}
	}
}

func (v *validator) sampling() {
	r := v.r
	if v.is2026() {
		for _, m := range []struct {
			name string
			has  bool
		}{{"temperature", r.Temperature != nil}, {"top_p", r.TopP != nil}, {"top_k", r.TopK != nil}} {
			if m.has {
				v.whole(content.CodeUnknown, m.name, textExtra)
			}
		}
		return
	}
	v.fraction(r.Temperature, "temperature")
	v.fraction(r.TopP, "top_p")
	if r.TopK != nil && *r.TopK < 0 {
		v.whole(content.CodeRange, "top_k", textAtLeast(0))
	}
	if t := r.Thinking; t == nil || t.Type != "enabled" && t.Type != "adaptive" {
		return
	}
	if t := r.Temperature; t != nil && *t != 1 {
		v.whole(content.CodeConflict, "", "`temperature` may only be set to 1 when thinking is enabled or in adaptive mode")
	}
	if p := r.TopP; p != nil && !(*p >= 0.95) { // older models take these
		v.whole(content.CodeConflict, "", "`top_p` must be unset when thinking is enabled.")
	}
	if r.TopK != nil {
		v.whole(content.CodeConflict, "", "`top_k` must be unset when thinking is enabled.")
	}
}

// fraction checks a number from 0 to 1.
func (v *validator) fraction(f *float64, name string) {
	switch {
	case f == nil:
	case math.IsNaN(*f), math.IsInf(*f, 0):
		v.whole(content.CodeRange, name, textFinite)
	case *f < 0:
		v.whole(content.CodeRange, name, textAtLeast(0))
	case *f > 1:
		v.whole(content.CodeRange, name, textUpTo(1))
	}
}

func (v *validator) toolChoice() {
	c := v.r.ToolChoice
	if c == nil {
		return
	}
	v.path.Push("tool_choice")
	defer v.path.Truncate(0)
	if !v.unionTag(c.Type, choiceTypes) {
		return
	}
	v.path.Push(c.Type)
	switch {
	case c.Type == "tool":
		if v.need(c.Name, "name") && !v.defines(c.Name) && !v.r.unreadable("tools") {
			v.violation(content.CodeValue, "Tool '"+codec.Clip(c.Name)+"' not found in provided tools", "name")
		}
	case c.Name != "":
		v.violation(content.CodeUnknown, textExtra, "name")
	}
	if c.Type == "none" && c.DisableParallelToolUse {
		v.violation(content.CodeUnknown, textExtra, "disable_parallel_tool_use")
	}
	v.extra(c.Extra, nil)
	if !v.hasTools() {
		v.whole(content.CodeConflict, "", "tool_choice may only be specified while providing tools.")
	}
	if t := v.r.Thinking; t != nil && t.Type == "enabled" && v.r.forced() {
		v.whole(content.CodeConflict, "", "Thinking may not be enabled when tool_choice forces tool use.")
	}
}

// unionTag checks the tag of the object that the path is at.
func (v *validator) unionTag(tag string, known []string) bool {
	if tag == "" {
		v.violation(content.CodeMissing, textRequired, "type")
		return false
	}
	for _, k := range known {
		if k == tag {
			return true
		}
	}
	v.violation(content.CodeValue, quoteTag(tag, quoteTags(known)))
	return false
}

func (v *validator) thinking() {
	t := v.r.Thinking
	if t == nil {
		return
	}
	v.path.Push("thinking")
	defer v.path.Truncate(0)
	if !v.unionTag(t.Type, thinkingTypes) {
		return
	}
	v.path.Push(t.Type)
	if t.Type == "enabled" {
		v.budget(t.BudgetTokens)
	} else if t.BudgetTokens != nil {
		v.violation(content.CodeUnknown, textExtra, "budget_tokens")
	}
	if t.Type == "enabled" || t.Type == "adaptive" {
		v.oneOf(t.Display, displays, "display")
		v.extra(t.Extra, thinkingFields)
		return
	}
	if t.Display != "" {
		v.violation(content.CodeUnknown, textExtra, "display")
	}
	v.extra(t.Extra, nil)
}

func (v *validator) budget(n *int64) {
	switch most := v.r.MaxTokens; {
	case n == nil:
		v.violation(content.CodeMissing, textRequired, "budget_tokens")
	case *n < 1024:
		v.violation(content.CodeRange, textAtLeast(1024), "budget_tokens")
	case most != nil && *most > 0 && *n >= *most && !v.beta(betaInterleaved):
		v.whole(content.CodeConflict, "", "`max_tokens` must be greater than `thinking.budget_tokens`.")
	}
}

func (v *validator) outputConfig() {
	r := v.r
	if f := r.OutputFormat; f != nil {
		v.path.Push("output_format")
		v.outputFormat(f)
		v.path.Truncate(0)
	}
	c := r.OutputConfig
	if c != nil {
		v.path.Push("output_config")
		v.oneOf(c.Effort, effortNames, "effort")
		if c.Format != nil {
			v.path.Push("format")
			v.outputFormat(c.Format)
			v.path.Pop()
		}
		v.extra(c.Extra, outputConfigFields)
		v.path.Truncate(0)
	}
	if r.OutputFormat != nil && c != nil && c.Format != nil {
		v.whole(content.CodeConflict, "output_format", "`output_format` and `output_config.format` may not both be given")
	}
	if r.format() != nil && v.cited {
		path := "output_config.format"
		if c == nil || c.Format == nil {
			path = "output_format"
		}
		v.whole(content.CodeConflict, path, "Citations may not be enabled together with an output format")
	}
}

func (v *validator) outputFormat(f *OutputFormat) {
	if f.Type == "" {
		v.violation(content.CodeMissing, textRequired, "type")
	} else if f.Type != "json_schema" {
		v.violation(content.CodeValue, "Input should be 'json_schema'", "type")
	}
	if f.Schema == "" {
		v.violation(content.CodeMissing, textRequired, "schema")
	} else if v.object(f.Schema, "schema") {
		v.closed(f.Schema, "schema")
	}
	v.extra(f.Extra, nil)
}

// raws checks the members that stay JSON text.
func (v *validator) raws() {
	r := v.r
	if len(r.Container)|len(r.Diagnostics)|len(r.MCPServers)|len(r.ContextManagement)|len(r.Compaction)|len(r.Thread)|
		len(r.Fallbacks)|len(r.FallbackCreditToken)|len(r.BillingPolicy) == 0 {
		return // as nearly always
	}
	v.judgeRaw(r.Container, containerShape, "container")
	v.judgeRaw(r.Diagnostics, diagnosticsShape, "diagnostics")
	v.judgeRaw(r.MCPServers, mcpServersShape, "mcp_servers")
	v.judgeRaw(r.ContextManagement, managementShape, "context_management")
	v.judgeRaw(r.Compaction, compactionShape, "compaction")
	v.judgeRaw(r.Thread, threadShape, "thread")
	v.judgeRaw(r.Fallbacks, fallbacksShape, "fallbacks")
	v.judgeRaw(r.FallbackCreditToken, creditShape, "fallback_credit_token")
	v.judgeRaw(r.BillingPolicy, billingShape, "billing_policy")
	if r.Compaction != "" && r.ContextManagement != "" {
		v.whole(content.CodeConflict, "compaction", "`compaction` may not be given together with `context_management`")
	}
	if r.FallbackCreditToken != "" && r.Fallbacks != "" {
		v.whole(content.CodeConflict, "fallback_credit_token", "`fallback_credit_token` may not be given together with `fallbacks`")
	}
}
