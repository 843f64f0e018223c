package chatcompletions

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/openaiformat"
)

// Losses of responses of servers.
var (
	lossDecodedPart = &loss.Rule{Feature: loss.ResponseUnknown, Severity: content.LossDropped,
		Reason: "a part of unknown kind was dropped"}
	lossDecodedInput = &loss.Rule{Feature: loss.ResponseArguments, Severity: content.LossDegraded,
		Reason: "arguments after the end of a tool call were omitted"}
	lossDecodedFile = &loss.Rule{Feature: loss.ResponseFile, Severity: content.LossDropped,
		Reason: "a file that cannot be decoded was dropped"}
	lossDecodedTools = &loss.Rule{Feature: loss.ResponseVendorPart, Severity: content.LossDropped,
		Reason: "calls of the server's built-in tools and their results were dropped"}
	lossDecodedSignature = &loss.Rule{Feature: loss.ResponseSignature, Severity: content.LossHint,
		Reason: "the signature of a message was omitted"}
)

// decodeLosses lists the losses of responses of servers.
var decodeLosses = []*loss.Rule{
	openaiformat.LossEmptyResponse, openaiformat.LossCharacters, openaiformat.LossThinkingState, openaiformat.LossCitation,
	lossDecodedPart, lossDecodedInput, openaiformat.LossNamelessCall, lossDecodedFile,
	lossDecodedTools, lossDecodedSignature, openaiformat.LossJSONText,
}
