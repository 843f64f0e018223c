package upstream

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/loss"
)

// What an answer of any vendor loses on its way through this package.
var (
	lostBlock = &loss.Rule{Feature: loss.ResponseMembers, Severity: content.LossHint,
		Reason: "something about a block that was left out is left out too"}
	lostEvent = &loss.Rule{Feature: loss.ResponseMembers, Severity: content.LossHint,
		Reason: "an event that only its vendor knows has no place in a whole answer"}
	lostPiece = &loss.Rule{Feature: loss.ResponseMembers, Severity: content.LossHint,
		Reason: "a piece of a part that only its vendor knows has no place in a whole answer"}
	lostMembers = &loss.Rule{Feature: loss.ResponseMembers, Severity: content.LossHint,
		Reason: "members of an event have no place in the part that it is about"}
)

// answerLosses is the table of all of it.
var answerLosses = []*loss.Rule{lostBlock, lostEvent, lostPiece, lostMembers}
