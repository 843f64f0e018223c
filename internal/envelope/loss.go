package envelope

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/loss"
)

// The losses of carried state. Handlers report Damaged and NotReturned for requests and the
// others for responses.
var (
	Damaged = &loss.Rule{Feature: loss.LostThinking, Severity: content.LossDropped,
		Reason: "the client did not return the carried signature as it was sent; the signature was dropped"}
	NotReturned = &loss.Rule{Feature: loss.LostThinking, Severity: content.LossDegraded,
		Reason: "the client returned the tool call without the thinking that carried its state; the state is lost"}
	UnknownFormat = &loss.Rule{Feature: loss.ResponseSignature, Severity: content.LossHint,
		Reason: "the signature has an unknown format, or the part cannot have one; the signature was dropped"}
	TooLarge = &loss.Rule{Feature: loss.ResponseSignature, Severity: content.LossDegraded,
		Reason: "the signature of another format is too large to be carried; the signature was dropped"}
	TooLate = &loss.Rule{Feature: loss.ResponseSignature, Severity: content.LossDegraded,
		Reason: "the signature of another format came too late to be carried; the signature was dropped"}
	TwoVendors = &loss.Rule{Feature: loss.ResponseSignature, Severity: content.LossDegraded,
		Reason: "a response cannot carry thinking of two vendors; the thinking of the second vendor was dropped"}
)
