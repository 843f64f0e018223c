package lower

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/schema"
)

// A Target describes what a format, a server and a model accept. The zero value accepts
// nothing but text. A Target may be used by many calls at once and must not change.
type Target struct {
	Format content.Format

	Schemas *schema.Cache // keeps translations of schemas; may be nil

	Cloud *Cloud // nil: the server has all of the vendor's format

	Names *NameRules // nil keeps all names and ids, except namespaces

	Conversation Conversation // how turns are arranged
	Files        Files
	Calls        Calls
	Results      Results
	Thoughts     Thoughts
	Marks        Marks
	Own          Own

	Refusals bool // texts of the assistant may be marked as refusals

	// Citation reports whether the target has a form for a citation of an earlier
	// response. Nil means that it has none.
	Citation func(c *content.Citation) bool

	Members  MemberRules
	Tools    ToolRules
	Choice   ChoiceRules
	Output   OutputRules
	Limit    LimitRules
	Thinking ThinkingRules
	Sampling SamplingRules
	Identity IdentityRules
}
