package responses

import (
	"testing"

	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/response"
	"github.com/polywire/polywire/internal/test/losstable"
)

func TestClientLossTable(t *testing.T) {
	losstable.Check(t, "openai-responses-answer", clientLosses...)
}

// clientLosses lists the losses of responses that are sent.
var clientLosses = []*loss.Rule{
	envelope.UnknownFormat, envelope.TooLarge, envelope.TooLate, envelope.TwoVendors, lossSentSignature, response.LossUncarriedState, response.LossFinishedThinking, response.LossHiddenThinking,
	lossSentImage, lossOpenImage, lossSentFile, lossSentTool, lossSentPart, response.LossCallName, response.LossCallArguments, lossSentArguments, response.LossCutCall,
	lossNotAllowed, response.LossCallID, lossSentCitation, lossCitedText, lossSentCandidates, lossSentStop, response.LossStopDetails, lossSentSequence, lossSentCounts,
	lossSentCache, lossSentMembers, lossSentEvent, lossKeptOutput, lossNoSummary, lossNotStored,
	foreign.SourcesLoss, foreign.FilesOfCode, foreign.EntryPointLoss, foreign.QueriesLoss, foreign.LogprobsLoss, foreign.TokensLoss, foreign.ResumeLoss, foreign.ResponseLoss,
}
