package lower

import (
	"slices"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/schema"
)

// A StrictLimit is the most that the strict functions of a request may have. The zero value means
// no limit.
type StrictLimit struct {
	Functions int
	Optional  int // properties that are not required
	Unions    int // schemas of several types
}

// allows reports whether a further function with a schema may be strict, and counts it if so.
func (x *StrictLimit) allows(limit StrictLimit, input string) bool {
	if limit == (StrictLimit{}) {
		return true
	}
	optional, unions := schema.Choices(input)
	n := StrictLimit{x.Functions + 1, x.Optional + optional, x.Unions + unions}
	if n.Functions > limit.Functions || n.Optional > limit.Optional || n.Unions > limit.Unions {
		return false
	}
	*x = n
	return true
}

// strict lowers the arguments of a function that must satisfy their schema, in place. It reports
// whether the schema is lowered, too.
func (l *lowering) strict(t *content.Tool, at Path) (done bool) {
	switch l.t.Tools.Strict {
	case StrictNone:
		l.lose(ToolStrict, at.Member("strict"))
		t.Strict = nil
	case StrictChoice:
		l.to.Choice.Mode, t.Strict = validatedChoice(l.to.Choice.Mode), nil
	case StrictEqual:
		if done = l.equalStrict(t, at.Member("input")); !done {
			l.lose(ToolStrict, at.Member("input"))
			t.Strict = &notStrict
		}
	case StrictAlways:
		if !l.strictUse.allows(l.t.Tools.StrictLimit, t.Input.JSON) {
			l.lose(ToolStrict, at.Member("input"))
			t.Strict = nil
		}
	}
	return done
}

// validatedChoice returns the tool choice that validates arguments. A required call is validated
// anyway.
func validatedChoice(mode content.ChoiceMode) content.ChoiceMode {
	if mode == "" || mode == content.ChoiceAuto {
		return content.ChoiceValidated
	}
	return mode
}

// equalStrict gives a function a strict schema that means the same, and reports whether there is
// one.
func (l *lowering) equalStrict(t *content.Tool, at Path) bool {
	d := l.t.Tools.StrictSchema
	if schema.Fits(d, t.Input) {
		return true
	}
	input, losses := l.schemas.Input(d, t.Input)
	if input == "" || slices.ContainsFunc(losses, changesModel) { // one pass
		return false
	}
	l.schemaLosses(losses, at)
	t.Input = content.Schema{JSON: input}
	return true
}

// validated makes a function strict, because the tool choice of the client validates arguments. It
// reports whether it is.
func (l *lowering) validated(t *content.Tool, at Path) bool {
	if was := t.Input; !l.equalStrict(t, at) || !l.strictUse.allows(l.t.Tools.StrictLimit, t.Input.JSON) {
		t.Input = was
		l.lose(ToolStrict, at)
		return false
	}
	t.Strict = new(true)
	return true
}
