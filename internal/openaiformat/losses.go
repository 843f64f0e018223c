package openaiformat

import (
	"github.com/polywire/polywire/internal/loss"
)

// Losses of responses that both formats have.
var (
	LossEmptyResponse = loss.Degraded(loss.ResponseText, "the response has no content that can be shown; the client receives none")
	LossCharacters    = loss.Hint(loss.ResponseText, "invalid UTF-8 was replaced by U+FFFD")
	LossJSONText      = loss.Hint(loss.ResponseText, "the server sent a JSON value where the format has a text; the text is its JSON")
	LossThinkingState = loss.Hint(loss.ResponseSignature, "the state that returns thinking to the server is too large; later requests omit it")
	LossCitation      = loss.Hint(loss.ResponseCitations, "a citation outside of a text was omitted")
	LossNamelessCall  = loss.Dropped(loss.ResponseCall, "a tool call without a name was dropped")
)
