package schema

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/loss"
)

// An effect is the change to the set of values that a schema accepts.
type effect uint8

const (
	sameValues effect = iota // accepts the same values
	widens                   // accepts more values
	narrows                  // accepts fewer values
	changes                  // may accept more, fewer or other values
)

// A reason identifies why a translation differs from its source.
type reason uint8

const (
	rNone reason = iota
	rAnnotation
	rClosedAdded
	rNoMembers
	rOneOf
	rAlternatives
	rConstraint
	rIgnored
	rExclusive
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
	rForbidden
	rNotJSON
	rMoreHints
	rMoreDegraded
	rMoreDropped
)

// reasons defines the severity, the effect and the text of each reason. A hint does
// not change what a model does. Degraded means that a constraint is weaker or
// represented in another way. Dropped means that a part of the structure is missing.
var reasons = [...]struct {
	severity content.Severity
	effect   effect
	text     string
}{
	rAnnotation:   {content.LossHint, sameValues, "the target does not support this annotation; it was dropped"},
	rClosedAdded:  {content.LossHint, narrows, "strict schemas must forbid properties that are not listed; additionalProperties false was added"},
	rNoMembers:    {content.LossHint, narrows, "the schema allows any arguments; it was dropped, and the target receives a tool without arguments"},
	rOneOf:        {content.LossDegraded, widens, "the target cannot require exactly one alternative; at least one must match"},
	rAlternatives: {content.LossDegraded, widens, "the target does not accept conditional alternatives next to properties; the alternatives were dropped"},
	rConstraint:   {content.LossDegraded, widens, "the target does not support this constraint; it was dropped, and values may violate it"},
	rIgnored:      {content.LossDegraded, widens, "the target ignores this constraint; it is sent, but values may violate it"},
	rExclusive:    {content.LossDegraded, widens, "the target does not support exclusive bounds; the bound itself is allowed"},
	rFalse:        {content.LossDegraded, widens, "the target does not support the schema false; any value is allowed"},
	rRecursion:    {content.LossDegraded, widens, "the schema is recursive; it was expanded to a limited depth, and deeper values are unconstrained"},
	rConflict:     {content.LossDegraded, changes, "combined schemas cannot be represented as one schema; the first was kept"},
	rMalformed:    {content.LossDegraded, changes, "the value is not valid for this keyword; the keyword was dropped"},
	rRootUnion:    {content.LossDegraded, widens, "the target does not accept alternatives at the root; they were merged into one object with all their properties"},
	rRootOpen:     {content.LossDegraded, changes, "the target does not accept alternatives at the root; they were merged into one object, although some allow unlisted properties"},
	rOptional:     {content.LossDegraded, changes, "strict schemas require every property; this optional property may be null instead"},
	rUntyped:      {content.LossDegraded, sameValues, "strict schemas require a type; this schema is sent without one"},
	rMembers:      {content.LossDropped, widens, "the target cannot describe properties that are not listed; their schema was dropped"},
	rCondition:    {content.LossDropped, widens, "the target does not support this condition; it was dropped"},
	rIgnoredPart:  {content.LossDropped, widens, "the target ignores this part of the schema; it is sent but has no effect"},
	rSecondUnion:  {content.LossDropped, widens, "the target accepts one set of alternatives; the first was kept"},
	rRef:          {content.LossDropped, widens, "the reference cannot be resolved within this schema; it was dropped"},
	rTooLarge:     {content.LossDropped, widens, "the expanded schema is too large; the rest is unconstrained"},
	rRootType:     {content.LossDropped, changes, "the target requires an object at the root; other types were dropped"},
	rForbidden:    {content.LossDropped, narrows, "strict schemas allow listed properties only; the unlisted properties of this schema are forbidden"},
	rNotJSON:      {content.LossDropped, changes, "the schema is neither a JSON object nor a boolean; it was dropped"},
	rMoreHints:    {content.LossHint, changes, textMore},
	rMoreDegraded: {content.LossDegraded, changes, textMore},
	rMoreDropped:  {content.LossDropped, changes, textMore},
}

// textMore is reported with the highest severity of the losses that are not listed.
const textMore = "the schema has further losses, which are not listed"

// moreReason returns the reason for losses that are not listed, by their highest severity.
func moreReason(worst content.Severity) reason { return rMoreHints + reason(worst-content.LossHint) }

// A ruleTable has the rule of each reason.
type ruleTable [len(reasons)]loss.Rule

// The rules of losses in the schemas of arguments and of responses. They are read-only.
var argumentRules, responseRules = newRules(loss.ToolSchema), newRules(loss.OutputSchema)

func newRules(feature string) (t ruleTable) {
	for i, r := range reasons {
		t[i] = loss.Rule{Feature: feature, Severity: r.severity, Reason: r.text}
	}
	for _, i := range []reason{rOneOf, rIgnored, rIgnoredPart, rUntyped, rMoreHints, rMoreDegraded, rMoreDropped} {
		t[i].Always = true // the keyword may be sent
	}
	return t
}
