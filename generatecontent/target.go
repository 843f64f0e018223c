package generatecontent

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/lower"
	"github.com/polywire/polywire/upstream"
)

// BaseTarget is for the packages below upstream. It returns what every server of the format
// accepts.
func BaseTarget() lower.Target { return baseTarget }

// baseTarget is what every server of the format accepts.
var baseTarget = withSettings(conversationTarget)

// conversationTarget is what the format accepts in conversations.
var conversationTarget = lower.Target{
	Format:       Format,
	Conversation: lower.Conversation{JoinUser: lower.JoinResults, EmptyTexts: true, AssistantFiles: true, Prefill: true},
	Calls:        lower.Calls{NoInput: true},
	Results: lower.Results{
		AsTheyCame: true, TextFirst: true, Files: true, Objects: true, Names: true, Errors: true,
	},
	Thoughts: lower.Thoughts{Unsigned: lower.UnsignedOnly, Recall: func(*upstream.Request) func(content.Part) *loss.Rule { return mayReturn }},
	Files:    lower.Files{Alike: true, Keep: true, IDs: []string{"files/", "gs://", "https://generativelanguage.googleapis.com/"}},
	Own:      lower.Own{Parts: true, Calls: true, Turns: true, Vendor: true},
}

// mayReturn reports thinking that is not visible, which the format does not have.
func mayReturn(p content.Part) *loss.Rule {
	if t, ok := p.(*content.Thinking); ok && t.Redacted.Data != "" {
		return lower.Thinking
	}
	return nil
}
