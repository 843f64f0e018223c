package schema

import "github.com/polywire/polywire/content"

// An effect is what a loss does to the set of values that a schema accepts.
type effect uint8

const (
	same    effect = iota // the same values
	widens                // all that it accepted, and more
	narrows               // some that it accepted, and no others
	changes               // neither is sure
)

// A reason is why a translation does not say quite what its source says.
type reason uint8

const (
	rNone reason = iota
	rAnnotation
	rSeveralExamples
	rBesideUnion
	rClosed
	rInferred
	rAdded
	rNoMembers
	rOneOf
	rAlternatives
	rConstraint
	rIgnored
	rExclusive
	rTuple
	rOpenTuple
	rEnum
	rFreeForm
	rFalse
	rRecursion
	rConflict
	rMalformed
	rRootUnion
	rRootOpen
	rOptional
	rUntyped
	rMembers
	rCondition
	rIgnoredPart
	rSecondUnion
	rRef
	rTooLarge
	rRootType
	rShut
	rNotJSON
	rMore
)

// reasons says for each reason how much it matters, what it does, and what
// people are told. Hint: nobody would notice. Degraded: a bound is weaker or
// said in another way, and the shape stands. Dropped: part of the shape is gone.
var reasons = [...]struct {
	severity content.Severity
	effect   effect
	text     string
}{
	rAnnotation:      {content.LossHint, same, "this note has no place in the target's schemas"},
	rSeveralExamples: {content.LossHint, same, "the target takes one example: the first is kept"},
	rBesideUnion:     {content.LossHint, same, "the target has no place for it beside alternatives"},
	rClosed:          {content.LossHint, widens, "members that are not listed cannot be forbidden there"},
	rInferred:        {content.LossHint, narrows, "the target needs a type: it was taken from the other keywords"},
	rAdded:           {content.LossHint, narrows, "strict schemas allow listed members only"},
	rNoMembers:       {content.LossHint, narrows, "a schema that allows anything is omitted: to the target the tool has no arguments"},
	rOneOf:           {content.LossDegraded, widens, "exactly one of the alternatives became at least one"},
	rAlternatives:    {content.LossDegraded, widens, "the alternatives add conditions that the target cannot say beside the members; they are left out"},
	rConstraint:      {content.LossDegraded, widens, "the target has no such constraint"},
	rIgnored:         {content.LossDegraded, widens, "the target does not look at this constraint"},
	rExclusive:       {content.LossDegraded, widens, "the bound itself became allowed"},
	rTuple:           {content.LossDegraded, widens, "the elements of a tuple became alternatives for every element"},
	rOpenTuple:       {content.LossDegraded, changes, "the elements of a tuple that may go on became alternatives for every element"},
	rEnum:            {content.LossDegraded, widens, "the target enumerates strings only: the values are named in the description"},
	rFreeForm:        {content.LossDegraded, widens, "the target knows listed members only, and this object lists none"},
	rFalse:           {content.LossDegraded, widens, "the target cannot say that nothing is allowed here"},
	rRecursion:       {content.LossDegraded, widens, "a schema that contains itself was unrolled, and is open from here on"},
	rConflict:        {content.LossDegraded, changes, "schemas that must hold together cannot be said as one: the first is kept"},
	rMalformed:       {content.LossDegraded, changes, "the value does not fit its keyword and was left out"},
	rRootUnion:       {content.LossDegraded, widens, "alternatives at the root became one object with all their members"},
	rRootOpen:        {content.LossDegraded, changes, "alternatives at the root, some open to any member, became one object with all their members"},
	rOptional:        {content.LossDegraded, changes, "strict schemas require every member: this optional one may be null instead"},
	rUntyped:         {content.LossDegraded, same, "strict schemas need a type here, and this one has none"},
	rMembers:         {content.LossDropped, widens, "the target cannot describe members by anything but their name"},
	rCondition:       {content.LossDropped, widens, "the target has no conditions of this kind"},
	rIgnoredPart:     {content.LossDropped, widens, "the target does not look at this part of the schema"},
	rSecondUnion:     {content.LossDropped, widens, "the target takes one set of alternatives: the first is kept"},
	rRef:             {content.LossDropped, widens, "the reference leads nowhere in this schema"},
	rTooLarge:        {content.LossDropped, widens, "the schema becomes too large when it is written out; the rest is open"},
	rRootType:        {content.LossDropped, changes, "the root is an object there; what else this schema allows is left out"},
	rShut:            {content.LossDropped, narrows, "strict schemas allow listed members only; these are forbidden now"},
	rNotJSON:         {content.LossDropped, changes, "the schema is neither an object nor a boolean"},
	rMore:            {0, changes, "more was lost than is listed"}, // as severe as the worst of it
}
