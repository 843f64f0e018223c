package chatcompletions

import (
	"github.com/polywire/polywire/internal/loss"
)

// Losses of responses of servers.
var (
	lossDecodedPart      = loss.Dropped(loss.ResponseUnknown, "a part of unknown kind was dropped")
	lossDecodedInput     = loss.Degraded(loss.ResponseArguments, "arguments after the end of a tool call were omitted")
	lossDecodedFile      = loss.Dropped(loss.ResponseFile, "a file that cannot be decoded was dropped")
	lossDecodedTools     = loss.Dropped(loss.ResponseVendorPart, "calls of the server's built-in tools and their results were dropped")
	lossDecodedSignature = loss.Hint(loss.ResponseSignature, "the signature of a message was omitted")
)
