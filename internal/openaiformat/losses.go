package openaiformat

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/loss"
)

// Losses of responses that both formats have.
var (
	LossEmptyResponse = &loss.Rule{Feature: loss.ResponseText, Severity: content.LossDegraded,
		Reason: "the response has no content that can be shown; the client receives none"}
	LossCharacters = &loss.Rule{Feature: loss.ResponseText, Severity: content.LossHint,
		Reason: "invalid UTF-8 was replaced by U+FFFD"}
	LossJSONText = &loss.Rule{Feature: loss.ResponseText, Severity: content.LossHint,
		Reason: "the server sent a JSON value where the format has a text; the text is its JSON"}
	LossThinkingState = &loss.Rule{Feature: loss.ResponseSignature, Severity: content.LossHint,
		Reason: "the state that returns thinking to the server is too large; later requests omit it"}
	LossCitation = &loss.Rule{Feature: loss.ResponseCitations, Severity: content.LossHint,
		Reason: "a citation outside of a text was omitted"}
	LossNamelessCall = &loss.Rule{Feature: loss.ResponseCall, Severity: content.LossDropped,
		Reason: "a tool call without a name was dropped"}
)
