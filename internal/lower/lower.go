// Package lower makes a neutral request representable in a target: a format, and what a
// vendor and its model change in it. Everything that the target cannot represent is
// replaced or dropped here, and reported as a loss. Encoders write the result as it is and
// report nothing.
//
// A [Target] is data. The plain target of a format is in the format's package, and those of
// vendors and models are beside their adapters.
//
// # The conversation
//
// The result has system text and turns. Consecutive assistant turns are one turn where the
// target needs that. A user turn after tool calls begins with the results of all calls, then
// what these could not hold, then the rest.
//
// What becomes of a turn does not depend on later turns, except at the end of the
// conversation: a growing conversation keeps its beginning, which prompt caches require.
//
// # Losses
//
// What is reported is gone: lowering the result again loses nothing. Each rule is reported
// once at a place. Losses have the order of their places: settings, system text, turns,
// tools.
package lower

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/document"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/snapshot"
	"github.com/polywire/polywire/internal/violation"
	"github.com/polywire/polywire/upstream"
)

// A Request is a request that its target can represent as it stands.
type Request struct {
	upstream.Request // Wire is nil

	Names *Names // the way back of names of tools: see [NewRestorer]

	// Parsed reports that all JSON texts come from a parsed document or were made by
	// lowering it, so that they are valid.
	Parsed bool

	Literals []jsonwire.Literal // strings of the document from which the request was parsed

	Effort string   // of thinking, as it is to be sent; empty: none is sent
	Switch Switch   // of thinking
	Object bool     // the response is any JSON object
	Cut    []string // stop sequences that the server does not have; the reader of the response cuts at them

	// Added are tools that the request adds within the conversation, by the id of the tool result
	// that they follow.
	Added map[string][]content.Tool

	// Load is set if files must be fetched: they are links or ids that the target
	// does not accept. The request is then inlined and lowered again. Stored is set if
	// there are ids that the target accepts: the files may be stored elsewhere, too.
	Load, Stored bool
}

// Lower returns n as the target accepts it, and the losses. It does not change n; the
// result shares with it what is unchanged. loaded reports that links and ids of files have
// been replaced where possible, so that those that are left cannot be fetched.
//
// The error lists violations: content without which the response would be wrong. The
// losses are complete even with an error.
func Lower(n *upstream.Request, t *Target, loaded bool) (*Request, []Report, error) {
	l := lowering{t: t, n: n, to: &Request{Request: *n, Parsed: snapshot.IsUnchanged(n)}, loaded: loaded}
	l.schemas.Cache = t.Schemas
	if d := document.Of(n.Wire); d != nil {
		l.to.Literals = d.Literals
	}
	if t.Cloud != nil {
		l.restrict()
	}
	l.named = l.n
	l.rename()
	l.to.Wire = nil
	l.run()
	return l.to, l.log.sorted(), l.violations.Err()
}

// A lowering is one run of [Lower].
type lowering struct {
	t      *Target
	n      *upstream.Request // the original with valid names; only read
	adding map[int]string    // the keys of Request.Added, by the place of the tool
	named  *upstream.Request // the same with its own names
	to     *Request          // the result; shares lists and parts with n until they change
	loaded bool

	log        log
	violations violation.List

	conversation
	settings
}

// restrict removes what the cloud service does not accept of the vendor's format.
func (l *lowering) restrict() {
	n, losses := l.t.Cloud.restricted(l.n)
	l.n, l.to.Request = n, *n
	for _, x := range losses {
		l.lose(x.Rule, x.Path)
		if x.Rule == CloudState {
			l.refuse(content.CodeUnsupported, x.Path, x.Rule.Reason)
		}
	}
}

// rename converts names and ids to those that the target accepts. All passes work on the
// result, in which each tool result has the id of its call.
func (l *lowering) rename() {
	rules := l.t.Names
	if rules == nil {
		rules = anyName
	}
	n, names, losses := renamed(l.n, rules)
	if n == l.n {
		return
	}
	l.n, l.to.Request, l.to.Names = n, *n, names
	for _, x := range losses {
		l.lose(x.Rule, x.Path)
	}
}

// run runs the passes. Each needs what those before it have made:
//
//	members, output  may add sentences to the system text, and set defaults for files
//	conversation     system text and turns, from the original turns
//	tools            may need the calls of the conversation
//	choice           the tools that are left
//	limit, thinking  tools, choice, limit, and thinking that is missing from the turns
//	sampling         thinking
//	markCaches       everything that is in the prompt
func (l *lowering) run() {
	l.members()
	l.output()
	l.lowerConversation()
	l.markLast(l.atEnd)
	l.tools()
	l.choice()
	l.limit()
	l.thinking()
	l.sampling()
	l.identity()
	l.markCaches()
}

// lose reports the loss of r at a path.
func (l *lowering) lose(r *loss.Rule, at Path) {
	if l.silent {
		r, at = ThinkingByDefault, At("thinking")
	}
	l.log.add(r, at)
}

// refuse adds a violation.
func (l *lowering) refuse(code content.Code, at Path, text string) {
	l.violations.Add(code, at.String(), text)
}
