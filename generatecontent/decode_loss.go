package generatecontent

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/loss"
)

// What is lost when an answer in this format is read, beside what codec knows.
var (
	readLostPiece = &loss.Rule{Feature: loss.ResponseArguments, Severity: content.LossDropped,
		Reason: "an argument of the call has no place among the others: the call is not whole"}
	readCutCall = &loss.Rule{Feature: loss.ResponseArguments, Severity: content.LossDegraded,
		Reason: "the answer ended within the arguments of the call: it is not whole"}
	readNoCount = &loss.Rule{Feature: loss.ResponseUsage, Severity: content.LossHint,
		Reason: "a count of tokens is not a number and is left out"}
)

// readLosses is the table of all of it.
var readLosses = append([]*loss.Rule{readLostPiece, readCutCall, readNoCount}, codec.ResponseLosses...)
