package anthropic

import (
	"cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/absent"
	"github.com/polywire/polywire/internal/adapter"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/lower"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
)

// defaultLimit is the default of max_tokens, which includes thinking.
const defaultLimit = 32000

// A targetKey identifies a target. There are few, whatever models clients ask for.
type targetKey struct {
	family    family
	limit     int64 // the model's maximum; 0 means unknown
	learned   adapter.Learned
	native    bool
	byModel   bool // not all of the format
	continues bool
}

// target returns what a model accepts. A client of the format may use all of the format,
// because it knows the model.
func (c *Client) target(model string, n *upstream.Request) *lower.Target {
	return c.targetOf(model, n, !isNative(n.Header))
}

// targetOf returns what the format accepts and, if byModel is set, a model.
func (c *Client) targetOf(model string, n *upstream.Request, byModel bool) *lower.Target {
	base := messages.BaseTarget(n)
	key := targetKey{native: isNative(n.Header), byModel: byModel, continues: base.Conversation.Continues}
	if byModel {
		key.family, key.learned = familyOf(model), c.learned.Get(model)
		key.limit = key.learned.MaxOutput(c.maxOutput(model))
	}
	return c.targets.Get(key, func() (*lower.Target, targetKey) { return c.newTarget(messages.BaseTarget(n), key), key })
}

// newTarget returns the target of a key. t is that of the format.
func (c *Client) newTarget(t lower.Target, key targetKey) *lower.Target {
	t.Names = &lower.NameRules{
		Name:  lower.Charset{MaxBytes: 128, Punctuation: "_-"},
		ID:    lower.Charset{Punctuation: "_-"},
		AnyID: key.continues,
	}
	t.Files.Keep, t.Files.AnyID = false, key.native && (c.cloud == nil || !c.cloud.NoFiles)
	if t.Cloud = c.cloud; t.Cloud != nil {
		own := t.Tools.Vendor
		t.Tools.Vendor = func(tool *content.Tool) (content.Tool, []lower.MemberLoss) {
			if x, losses := own(tool); c.cloud.HasTool(x.Kind) {
				return x, losses
			}
			return content.Tool{}, nil
		}
	}
	if t.Cloud != nil && t.Cloud.NoLinks {
		t.Files.ImageLinks, t.Files.DocumentLinks = false, false
	}
	modes := *t.Thinking.Modes
	modes.StepThinking = true
	t.Thinking.Modes = &modes
	if key.byModel {
		modes.Model, t.Thinking.Default = key.family.modes(), key.family.defaultMode()
		modes.Model.Refused = key.learned.Refused
		key.family.limitTarget(&t)
		t.Members.Headers = t.Members.Headers && key.native
		if t.Cloud != nil && t.Cloud.NoFiles {
			t.Files.IDPrefix = ""
		}
		if c.cacheMarks {
			t.Marks.Least = key.family.minCached()
		}
		t.Limit = lower.LimitRules{Default: cmp.Or(c.maxTokens, defaultLimit), Max: key.limit}
	}
	return &t
}

// limitTarget limits t to what models of the family accept.
func (f family) limitTarget(t *lower.Target) {
	if !f.hasSystemTurns() {
		t.Conversation.SystemTurns = lower.SystemNowhere
	}
	t.Conversation.UserFirst = !f.hasAssistantFirst()
	t.Conversation.UserLast = f.isKnown() && !f.hasPrefill()
	t.Files.IDPrefix = "file_"
	t.Tools.DeclareCalls = true
	t.Tools.StrictLimit = lower.StrictLimit{Functions: 20, Optional: 24, Unions: 16}
	if !f.hasStrictTools() {
		t.Tools.Strict = lower.StrictNone
	}
	t.Choice.Optional = !f.hasForcedTools()
	if own := t.Tools.Vendor; !f.hasToolSearch() {
		t.Tools.Vendor = func(tool *content.Tool) (content.Tool, []lower.MemberLoss) {
			if foreign.SearchesTools(tool) {
				return content.Tool{}, nil
			}
			return own(tool)
		}
	}
	for _, n := range []*lower.Number{&t.Sampling.Temperature, &t.Sampling.TopP, &t.Sampling.TopK} {
		n.NotThinking = true
		n.Off = f.isKnown() && !f.hasSampling()
	}
	t.Sampling.One = f.isKnown() && f.hasOneSampler()
}

// defaultMode returns the mode of a request without a thinking member, or "" if it is unknown.
func (f family) defaultMode() upstream.ThinkingMode {
	if !f.isKnown() {
		return ""
	}
	return absent.Claude(f).Defaults(messages.Format).Thinking
}

// modes returns how a model of the family thinks.
func (f family) modes() *lower.ModelModes {
	return &lower.ModelModes{
		Known:    f.isKnown(),
		Never:    !f.hasThinking(),
		Budgets:  f.hasBudgets(),
		Adaptive: f.isAdaptive(),
		Off:      f.hasThinkingOff(),
		Between:  f.hasBetweenTools(),
		Efforts:  f.hasEffort(),
		HighOff:  f.is("opus", 50),
	}
}
